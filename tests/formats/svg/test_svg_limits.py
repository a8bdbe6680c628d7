"""Memory and time to read any SVG are bounded by its size: 64 MB + 40 times the file, 2 s + 1 s a MB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORKER = """
import resource, sys, time
from gra2seq.errors import UserError
from gra2seq.formats.svg import SvgDocument, read_svg

read = {"sketch": read_svg, "document": SvgDocument.read}[sys.argv[2]]
read(b'<svg><path d="M0 0h1c1 1 2 2 3 3"/><circle r="2"/></svg>')  # imports and allocations that come once
size = len(open(sys.argv[1], "rb").read())
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + 64 * 2**20 + 40 * size
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
start = time.process_time()
try:
    read(sys.argv[1])
except UserError:
    pass
taken = time.process_time() - start
sys.exit(f"{taken:.1f} s for {size} bytes" if taken > 2 + size / 1e6 else 0)
"""
HEAD = '<svg xmlns="http://www.w3.org/2000/svg">'
DOUBLING = "".join(f'<g id="p{n}"><use href="#p{n - 1}"/><use href="#p{n - 1}"/></g>' for n in range(1, 14))
SMALL = {
    "elements": '<path d="M0 0L1 1"/>' * 50_000,
    "most elements": '<path d="M0 0z" style="fill:red"/>' * 19_000,
    "circles": "<circle r='9'/>" * 19_000,
    "rectangles over the page": '<g fill="white">' + '<path d="M0 0H300V150H0z"/>' * 19_000 + "</g>",
    "doubling": f'<rect id="p0" width="50%" height="50%" rx="3" transform="rotate(3)"/>{DOUBLING}',
    "used path": f'<path id="a" d="M0 0{"h1" * 100_000}"/>' + '<use href="#a"/>' * 8,
    "steps": f'<path d="M0 0{"h1" * 999_000}"/>',
    "dots": f'<path d="M0 0{"z" * 900_000}"/>',
    "arcs": f'<path d="M0 0{"a1 1 0 011 1" * 60_000}"/>',
    "curves": f'<path d="M0 0{"c0 9 9 9 0 0" * 20_000}"/>',
    "selectors": f"<style>{'a,' * 900_000}a{{fill:red}}</style>",
}
LARGE = {
    "closed": '<path d="M0 0' + "z" * 48_000_000 + '"/>',
    "numbers": '<path d="M0 0L' + "11 " * 16_000_000 + '"/>',
    "polyline": '<polyline points="' + "11 " * 16_000_000 + '"/>',
    "classes": '<path class="' + "ab " * 16_000_000 + '" d="M0 0L1 1"/>',
    "quotes": "<style>" + '"\n' * 16_000_000 + '</style><path d="M0 0L1 1"/>',
    "one number": '<path d="M0 0L' + "1" * 20_000_000 + ' 1"/>',
}


def check(path: Path, content: str, form: str) -> None:
    path.write_text(f"{HEAD}{content}</svg>")
    done = subprocess.run([sys.executable, "-c", WORKER, str(path), form], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set as Linux does")


@pytest.mark.parametrize("name", SMALL)
def test_small_files_are_read_within_their_limits(tmp_path: Path, name: str) -> None:
    check(tmp_path / "hostile.svg", SMALL[name], "sketch")


@pytest.mark.parametrize("name", ["elements", "doubling", "steps"])
def test_documents_are_read_within_their_limits(tmp_path: Path, name: str) -> None:
    check(tmp_path / "hostile.svg", SMALL[name], "document")


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("form", ["sketch", "document"])
def test_large_files_are_read_within_their_limits(tmp_path: Path, name: str, form: str) -> None:
    check(tmp_path / "hostile.svg", LARGE[name], form)
