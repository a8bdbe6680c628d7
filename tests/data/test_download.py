from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest

from gra2seq.data.datasets import NAMED
from gra2seq.data.download import CATEGORIES, Limits, download, expand
from gra2seq.errors import UserError

CONTENT = b"PK\x03\x04" + bytes(range(256)) * 2000


@dataclass
class Server:
    """A server on this machine that misbehaves on request."""

    files: dict[str, bytes]
    etag: str | None = '"v1"'
    modified: str | None = None
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)  # how many bytes the next answers send before they break off
    statuses: list[int] = field(default_factory=list)  # of the next answers, instead of the file
    claim: int = 0  # bytes more than there are in Content-Length
    length: bool = True
    shift: int = 0  # of the range sent against the range asked for
    seen: list[tuple[str, str | None]] = field(default_factory=list)  # path and Range of every request
    base: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        name, wanted = unquote(request.path), request.headers.get("Range")
        self.seen.append((request.path, wanted))
        if self.statuses or name not in self.files:
            return request.send_error(self.statuses.pop(0) if self.statuses else 404)
        content, start, status = self.files[name], 0, 200
        if wanted and self.ranges and request.headers.get("If-Range") in (None, self.etag, self.modified):
            start, status = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) + self.shift, 206  # type: ignore[index]
        if start >= len(content):
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(content)}")
            request.send_header("Content-Length", "0")
            return request.end_headers()
        body = content[start:]
        request.send_response(status)
        if self.length:
            request.send_header("Content-Length", str(len(body) + self.claim))
        if status == 206:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        for header, value in (("ETag", self.etag), ("Last-Modified", self.modified)):
            if value:
                request.send_header(header, value)
        request.end_headers()
        request.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)
        return None


@pytest.fixture
def server() -> Iterator[Server]:
    ours = Server({"/sketches/cat.npz": CONTENT, "/sketches/The Great Wall of China.npz": CONTENT[:100]})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ours.answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            pass  # the client hung up, as it may

    with Quiet(("127.0.0.1", 0), Handler) as http:
        thread = Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        ours.base = f"http://127.0.0.1:{http.server_port}/sketches/"
        yield ours
        http.shutdown()
        thread.join()


def fetch(server: Server, folder: Path, name: str = "cat", **options: Any) -> Path:
    progress = options.pop("progress", None)
    limits = Limits(**{"pause": 0.001, "timeout": 5, "retries": 2} | options)
    [path] = download(name, folder, server.base, progress=progress, limits=limits)
    return path


def leave_part(folder: Path, content: bytes, version: str = '"v1"') -> None:
    (folder / "cat.npz.part").write_bytes(content)
    (folder / "cat.npz.part.version").write_text(version)


def assert_whole(folder: Path, content: bytes = CONTENT) -> None:
    assert [path.name for path in folder.iterdir()] == ["cat.npz"]
    assert (folder / "cat.npz").read_bytes() == content


def test_a_plain_download(server: Server, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = fetch(server, tmp_path / "new", progress=lambda *news: told.append(news))
    assert path == tmp_path / "new" / "cat.npz"
    assert_whole(tmp_path / "new")
    assert told[-1] == ("cat", len(CONTENT), len(CONTENT))
    assert server.seen == [("/sketches/cat.npz", None)]


def test_spaces_in_the_address(server: Server, tmp_path: Path) -> None:
    path = fetch(server, tmp_path, "The Great Wall of China")
    assert path.name == "The Great Wall of China.npz"
    assert server.seen[0][0] == "/sketches/The%20Great%20Wall%20of%20China.npz"


def test_complete_file_is_kept_and_one_of_another_size_is_replaced(server: Server, tmp_path: Path) -> None:
    before = fetch(server, tmp_path).stat().st_mtime_ns
    assert fetch(server, tmp_path).stat().st_mtime_ns == before
    server.files["/sketches/cat.npz"] = CONTENT + b"more"
    fetch(server, tmp_path)
    assert_whole(tmp_path, CONTENT + b"more")


def test_a_cut_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    server.cuts = [100_000, 50_000, 1]
    fetch(server, tmp_path)
    assert_whole(tmp_path)
    asked = [wanted for _, wanted in server.seen]
    assert asked == [None, "bytes=100000-", "bytes=150000-", "bytes=150001-"]


def test_progress_renews_patience(server: Server, tmp_path: Path) -> None:
    server.cuts = [10] * 8
    fetch(server, tmp_path, retries=0)
    assert_whole(tmp_path)


def test_a_later_run_goes_on(server: Server, tmp_path: Path) -> None:
    server.cuts = [100_000, 0, 0, 0]
    with pytest.raises(UserError, match=f"got 100000 of {len(CONTENT)} bytes"):
        fetch(server, tmp_path)
    assert not (tmp_path / "cat.npz").exists()
    fetch(server, tmp_path)
    assert_whole(tmp_path)
    assert server.seen[-1][1] == "bytes=100000-"


def test_a_date_names_the_version_too(server: Server, tmp_path: Path) -> None:
    server.etag, server.modified = 'W/"weak"', "Mon, 01 May 2017 00:00:00 GMT"
    server.cuts = [1000]
    fetch(server, tmp_path)
    assert_whole(tmp_path)
    assert server.seen[-1][1] == "bytes=1000-"


def test_a_server_that_names_no_version_is_not_resumed(server: Server, tmp_path: Path) -> None:
    server.etag = None
    server.cuts = [1000]
    fetch(server, tmp_path)
    assert_whole(tmp_path)
    assert server.seen[-1][1] is None


def test_a_server_without_ranges_begins_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.cuts = [100_000]
    fetch(server, tmp_path)
    assert_whole(tmp_path)


def test_a_server_that_always_cuts_and_knows_no_ranges_is_given_up(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.cuts = [100_000] * 99
    with pytest.raises(UserError, match="got 100000 of"):
        fetch(server, tmp_path)
    assert len(server.seen) == 4  # one that brought something, and three that brought nothing new


def test_a_file_that_changed_meanwhile_begins_again(server: Server, tmp_path: Path) -> None:
    leave_part(tmp_path, b"PK\x03\x04 of an older file", '"v0"')
    fetch(server, tmp_path)
    assert_whole(tmp_path)


def test_a_part_that_was_complete_already(server: Server, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT)
    fetch(server, tmp_path)
    assert_whole(tmp_path)


def test_a_part_that_is_too_long(server: Server, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT + b"!")
    fetch(server, tmp_path)
    assert_whole(tmp_path)


def test_a_range_that_was_not_asked_for(server: Server, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT[:1000])
    server.shift = 1
    fetch(server, tmp_path)
    assert_whole(tmp_path)


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429]
    fetch(server, tmp_path)
    assert_whole(tmp_path)
    server.statuses = [503] * 9
    with pytest.raises(UserError, match="503"):
        fetch(server, tmp_path)


@pytest.mark.parametrize(("status", "message"), [(404, "does not exist"), (403, "403 Forbidden")])
def test_a_refusal_is_final(server: Server, tmp_path: Path, status: int, message: str) -> None:
    server.statuses = [status]
    with pytest.raises(UserError, match=message):
        fetch(server, tmp_path)
    assert len(server.seen) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_length_that_is_never_reached(server: Server, tmp_path: Path) -> None:
    server.claim, server.etag = 10, None
    with pytest.raises(UserError, match=f"got {len(CONTENT)} of {len(CONTENT) + 10} bytes"):
        fetch(server, tmp_path)
    assert not (tmp_path / "cat.npz").exists()


def test_no_length(server: Server, tmp_path: Path) -> None:
    server.length = False
    with pytest.raises(UserError, match="does not say how long"):
        fetch(server, tmp_path)


def test_a_login_page_is_not_a_file(server: Server, tmp_path: Path) -> None:
    server.files["/sketches/cat.npz"] = b"<html>please sign in</html>"
    with pytest.raises(UserError, match=r"not an \.npz file"):
        fetch(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_network(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but nobody listens
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(UserError, match="cannot reach 127"):
            download("cat", tmp_path, base, limits=Limits(retries=1, pause=0.001))


def test_silent_server_is_given_up(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        base = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UserError, match="timed out"):
            download("cat", tmp_path, base, limits=Limits(retries=0, timeout=0.05))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cat.npz.part").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"No space left.*Free some space"):
        fetch(server, tmp_path)
    assert len(server.seen) == 1


def test_a_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot write"):
        fetch(server, tmp_path / "file" / "below")


def test_names_are_checked_before_anything_is_asked(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean giraffe"):
        download(["cat", "girafe"], tmp_path, server.base)
    with pytest.raises(UserError, match="nothing to download"):
        download([], tmp_path, server.base)
    with pytest.raises(UserError, match="must begin with http"):
        download("cat", tmp_path, "file:///etc")
    assert server.seen == []


def test_sets_are_expanded() -> None:
    assert expand(["ds1", "cat", "bee"]) == ["bee", "bus", "flower", "giraffe", "pig", "cat"]
    assert len(CATEGORIES) == len(set(CATEGORIES)) == len(expand(["ALL"])) == 345
    for chosen in NAMED.values():
        assert set(chosen.categories or ()) <= set(CATEGORIES)
