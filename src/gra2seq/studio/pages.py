"""The page's own files. All are read when the server starts: no path of a request reaches the file system."""

from __future__ import annotations

from importlib.resources import files

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def static_files() -> dict[str, tuple[bytes, str]]:
    """Content and type of each file by its name."""
    found = {}
    for file in files("gra2seq.studio").joinpath("static").iterdir():
        kind = TYPES.get(file.name[file.name.rfind(".") :])
        if kind and file.is_file():
            found[file.name] = (file.read_bytes(), kind)
    return found
