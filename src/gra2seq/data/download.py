"""Fetch sketch-rnn's QuickDraw files: resumed when cut off, complete when they bear their name.

Bytes go to `<category>.npz.part`, the server's name for this version of the file to `….part.version`. A later
run asks for the rest of that version only (Range and If-Range); a server that has another version, or that
knows no ranges, sends all of it, and the file is begun again. What a server sends is bounded by the size it announces
and by `max_bytes`, the time it takes by `timeout` (without a byte) and `max_seconds` (altogether).
"""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPMessage
from pathlib import Path
from threading import Timer
from typing import IO
from urllib.parse import quote, urlsplit

from gra2seq.data.datasets import NAMED, selection
from gra2seq.data.quickdraw_names import CATEGORIES
from gra2seq.errors import UserError, unknown_name

OFFICIAL_BASE = "https://storage.googleapis.com/quickdraw_dataset/sketchrnn"
BLOCK = 1 << 18  # bytes written at once
LONGEST_PAUSE = 30.0  # seconds
MAX_BYTES = 2_000_000_000  # of a file; the largest of QuickDraw's has a tenth of it
MAX_SECONDS = 6 * 3600.0  # for a file
ZIP_MAGIC = b"PK\x03\x04"  # an .npz is a zip file
AGAIN = "run it again: it goes on where it stopped"

DownloadProgress = Callable[[str, int, int], None]  # (category, bytes done, bytes in all)


@dataclass(frozen=True)
class Limits:
    """How long a server is waited for, and how much is taken from it."""

    timeout: float = 30.0  # seconds without a byte
    max_seconds: float = MAX_SECONDS  # for a file
    max_bytes: int = MAX_BYTES  # of a file
    retries: int = 5  # more failures in a row that brought nothing new
    pause: float = 1.0  # seconds after a failure, then twice as long and so on


def download(
    names: str | Iterable[str],
    folder: str | Path,
    base: str = OFFICIAL_BASE,
    *,
    progress: DownloadProgress | None = None,
    limits: Limits | None = None,
) -> list[Path]:
    """Fetch the files of named sets (DS1) or categories (cat) into `folder`; a file that is complete is kept."""
    limits = limits or Limits()
    _check_address(base)
    categories = expand([names] if isinstance(names, str) else names)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _disk_error(folder, error) from error
    paths = []
    for category in categories:
        url = f"{base.rstrip('/')}/{quote(category)}.npz"
        file = _File(category, url, folder / f"{category}.npz", limits, progress)
        file.fetch_with_retries()
        paths.append(file.path)
    return paths


def _check_address(base: str) -> None:
    try:
        parts = urlsplit(base)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        sound = False
    if not sound or re.search(r"[\x00-\x20\x7f]", base):
        raise UserError(f"{base!r} is not a base address: it must begin with http:// or https:// and name a host")


def expand(names: Iterable[str]) -> list[str]:
    """Categories of the sets and categories named, each once, in the order given."""
    found: dict[str, None] = {}
    sets = {name.casefold() for name in NAMED}
    for name in names:
        if name.casefold() in sets:
            found |= dict.fromkeys(selection(name).categories or CATEGORIES)
        elif name in CATEGORIES:
            found[name] = None
        else:
            raise unknown_name("set or category", name, (*NAMED, *CATEGORIES), "in QuickDraw")
    if not found:
        raise UserError("nothing to download: name a set such as DS1, or categories")
    return list(found)


class _Again(Exception):
    """A failure that may pass."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirects to other web addresses, and nothing else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if len(getattr(req, "redirect_dict", ())) >= self.max_redirections:
            raise UserError(f"{req.full_url} is redirected again and again: use another base address")
        _check_address(newurl)
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise UserError(f"{req.full_url} is redirected to an address without encryption: use another base address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> IO[bytes] | None:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except urllib.error.HTTPError as error:
            error.close()
            raise UserError(f"{req.full_url} is redirected in a circle or badly: use another base address") from error
        except UserError:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


@contextmanager
def _connections_until(seconds: float) -> Iterator[urllib.request.OpenerDirector]:
    """An opener whose connections are cut after so many seconds, whatever they wait for."""
    sockets: list[socket.socket] = []

    class Http(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    class Https(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    class HttpHandler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Http, req)

    class HttpsHandler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Https, req)

    def cut() -> None:
        for connection in sockets:
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)  # not TLS's own, which would talk to the server

    timer = Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield urllib.request.build_opener(HttpHandler, HttpsHandler, _Redirects)
    finally:
        timer.cancel()
        for connection in sockets:
            connection.close()


@dataclass
class _File:
    category: str
    url: str
    path: Path
    limits: Limits
    progress: DownloadProgress | None

    @property
    def part(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def version(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part.version")

    def have(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def fetch_with_retries(self) -> None:
        failures, furthest, deadline = 0, self.have(), time.monotonic() + self.limits.max_seconds
        while True:
            try:
                return self.fetch(deadline)
            except _Again as error:
                reason = error
            # Only what goes beyond the furthest point is progress: a server that always begins anew and is always
            # cut off does not keep us for ever.
            failures = 0 if self.have() > furthest else failures + 1
            furthest = max(furthest, self.have())
            if failures > self.limits.retries:
                raise UserError(
                    f"could not download {self.url}: {reason}. Check the network and the base address, then {AGAIN}"
                ) from reason
            pause = min(self.limits.pause * 2 ** max(failures - 1, 0), LONGEST_PAUSE)
            time.sleep(max(min(pause, deadline - time.monotonic()), 0.0))
            if time.monotonic() >= deadline:
                raise UserError(
                    f"{self.url} is not complete after {self.limits.max_seconds:.0f} seconds ({reason}): {AGAIN}"
                ) from reason

    def fetch(self, deadline: float) -> None:
        """One attempt."""
        have, version = self.have(), self._version()
        if not version:
            have = 0  # without a name for what we have, the rest might be that of another file
        headers = {"Range": f"bytes={have}-", "If-Range": version} if have else {}
        try:
            request = urllib.request.Request(self.url, headers=headers)
            with (
                _connections_until(deadline - time.monotonic()) as opener,
                opener.open(request, timeout=self.limits.timeout) as response,
            ):
                if time.monotonic() >= deadline:  # what came of the header is not all of it
                    raise _Again("the server is too slow")
                self._receive(response, have)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(error, have)
        except urllib.error.URLError as error:
            raise _Again(f"cannot reach {urlsplit(self.url).netloc} ({_brief(error.reason)})") from error
        except (http.client.HTTPException, OSError) as error:
            raise _Again(f"the connection broke ({_brief(error) or type(error).__name__})") from error
        except ValueError as error:  # an address that only the network code finds impossible
            raise UserError(f"{self.url} is not an address ({_brief(error)}): check the base address") from error

    def _receive(self, response: http.client.HTTPResponse, have: int) -> None:
        length = response.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,18}", length):
            raise UserError(f"{self.url}: the server does not say how long it is: use another base address")
        start, total = 0, int(length)
        if response.status == 206:
            start, total = _content_range(response.headers.get("Content-Range", ""))
            if start != have or start + int(length) != total:
                self._discard()
                raise _Again("the server sent another range than was asked for")
        elif self.path.is_file() and self.path.stat().st_size == total:
            self._discard()
            return
        self._check_room(start, total)
        try:
            self._write_version(response)
            file = self.part.open("ab" if start else "wb")
        except OSError as error:
            raise _disk_error(self.path, error) from error
        with file:
            done = start
            while block := response.read1(BLOCK):
                done += len(block)
                if done > total:  # chunks that do not add up to the length announced
                    self._discard()
                    raise UserError(f"{self.url}: the server sends more than it announced: use another base address")
                try:
                    file.write(block)
                    file.flush()
                except OSError as error:
                    raise _disk_error(self.path, error) from error
                if self.progress:
                    self.progress(self.category, done, total)
        self._finish(total)

    def _check_room(self, start: int, total: int) -> None:
        if total > self.limits.max_bytes:
            self._discard()
            raise UserError(
                f"{self.url} would have {total:,} bytes, more than {self.limits.max_bytes:,}: check the base address"
            )
        free = shutil.disk_usage(self.path.parent).free
        if total - start > free:
            raise UserError(f"{self.url} needs {total - start:,} bytes, and {free:,} are free: make room, then {AGAIN}")

    def _refused(self, error: urllib.error.HTTPError, have: int) -> None:
        if error.code == 404:
            raise UserError(f"{self.url} does not exist (404): check the base address") from error
        if error.code == 416:  # nothing after what we have: it was whole already, or does not belong to it
            _, total = _content_range(error.headers.get("Content-Range", ""))
            if have != total:
                self._discard()
                raise _Again("the part on disk did not fit the file and was thrown away") from error
            self._finish(total)
        elif error.code == 429 or error.code >= 500:
            raise _Again(f"the server answers {error.code} {_brief(error.reason)}") from error
        else:
            raise UserError(f"{self.url}: {error.code} {_brief(error.reason)}: check the base address") from error

    def _finish(self, total: int) -> None:
        have = self.have()
        if have != total:
            raise _Again(f"got {have} of {total} bytes")
        with self.part.open("rb") as file:
            magic = file.read(len(ZIP_MAGIC))
        if magic != ZIP_MAGIC:
            self._discard()
            raise UserError(f"{self.url} is not an .npz file: check the base address and the network")
        try:
            self.part.replace(self.path)
            self._discard()
        except OSError as error:
            raise _disk_error(self.path, error) from error

    def _version(self) -> str:
        return self.version.read_text(encoding="latin-1") if self.version.is_file() else ""

    def _write_version(self, response: http.client.HTTPResponse) -> None:
        """A strong ETag or a date: what If-Range takes."""
        etag = response.headers.get("ETag", "")
        name = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
        self.version.write_text(name, encoding="latin-1")

    def _discard(self) -> None:
        self.part.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)


def _brief(reason: object) -> str:
    """What a library or a server says, on one short line."""
    return " ".join(str(reason).split())[:100]


def _content_range(header: str) -> tuple[int, int]:
    """(first byte, length of the whole file), -1 for what it does not say."""
    match = re.fullmatch(r"bytes (?:([0-9]{1,18})-[0-9]{1,18}|\*)/([0-9]{1,18})", header.strip())
    return (int(match[1] or -1), int(match[2])) if match else (-1, -1)


def _disk_error(path: Path, error: OSError) -> UserError:
    return UserError(
        f"cannot write {path}: {error.strerror or error}. Free some space or choose another folder, then {AGAIN}"
    )
