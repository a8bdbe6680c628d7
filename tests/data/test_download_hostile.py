"""Servers that lie, stall or send elsewhere: one sentence, in bounded time, space and memory."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from gra2seq.data import download as module
from gra2seq.data.download import Limits, download
from gra2seq.errors import UserError

OK = b"HTTP/1.1 200 OK\r\n"
QUICK = Limits(timeout=2, max_seconds=5, retries=1, pause=0.001)


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The base address of a server that reads a request and lets `answer` write whatever it likes."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    connection.recv(65536)
                    answer(connection)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def error_of(answer: bytes | Callable[[socket.socket], None], folder: Path, limits: Limits = QUICK) -> str:
    def send(connection: socket.socket) -> None:
        connection.sendall(answer) if isinstance(answer, bytes) else answer(connection)

    started = time.monotonic()
    with server(send) as base, pytest.raises(UserError) as raised:
        download("cat", folder, base, limits=limits)
    assert time.monotonic() - started < 10
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500
    assert not (folder / "cat.npz").exists()
    return str(raised.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OK + b"Content-Length: 999999999999999\r\n\r\nPK", "would have 999,999,999,999,999 bytes, more than 2,000"),
        (OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nPK", "does not say how long it is"),
        (OK + b"Content-Length: -5\r\n\r\nPK", "does not say how long it is"),
        (OK + b"Content-Length: 100\r\n\r\nPK", "got 2 of 100 bytes"),
        (
            OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + b"5\r\nPKPKP\r\n" * 9,
            "more than it announced",
        ),
        (b"HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n", "did not fit the file"),
        (b"HTTP/1.1 416 No\r\nContent-Range: bytes */" + b"9" * 5000 + b"\r\n\r\n", "did not fit the file"),
        (b"HTTP/1.1 206 Part\r\nContent-Length: 2\r\nContent-Range: bytes 7-8/9\r\n\r\nPK", "another range"),
        (b"HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/cat.npz\r\n\r\n", "not a base address"),
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", "redirected in a circle or badly"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://a..b/cat.npz\r\n\r\n", "not a base address"),
        (b"HTTP/1.1 302 Found\r\n\r\n", "302"),
        (b"HTTP/1.1 307 Found\r\nLocation: /cat.npz\r\n\r\n", "redirected in a circle"),
        (b"HTTP/1.1 " + b"9" * 100_000 + b"\r\n\r\n", "the connection broke"),
        (OK + b"x: y\r\n" * 1000 + b"\r\n", "the connection broke"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the connection broke"),
        (b"", "the connection broke|cannot reach"),
    ],
    ids=range(17),
)
def test_inconsistent_sizes_are_refused_in_one_sentence(tmp_path: Path, answer: bytes, message: str) -> None:
    found = error_of(answer, tmp_path)
    assert any(part in found for part in message.split("|")), found


def test_redirects_without_end_are_given_up(tmp_path: Path) -> None:
    hops = 0

    def send(connection: socket.socket) -> None:
        nonlocal hops
        hops += 1
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /%d.npz\r\n\r\n" % hops)

    assert "redirected" in error_of(send, tmp_path)
    assert hops < 20


@pytest.mark.parametrize(
    "start", [b"", OK + b"x: ", OK + b"Content-Length: 100000\r\n\r\nPK"], ids=["", "header", "body"]
)
def test_dripping_server_is_left_at_the_deadline(tmp_path: Path, start: bytes) -> None:
    """A byte now and then keeps the idle timer quiet for ever."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(start)
        for _ in range(500):
            time.sleep(0.02)
            connection.sendall(b"H")

    found = error_of(drip, tmp_path, Limits(timeout=2, max_seconds=0.5, retries=1000, pause=0.001))
    assert "is not complete after 0 seconds" in found or "is not complete after 1 seconds" in found


def test_no_more_is_fetched_than_fits_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: full)
    assert "needs 5,000 bytes, and 1,000 are free" in error_of(OK + b"Content-Length: 5000\r\n\r\nPK", tmp_path)


@pytest.mark.parametrize(
    "base",
    ["", "cat", "ftp://host/", "file:///etc", "http://", "http://:80/", "http://a..b/", "http://[::1/", "http://h:x/",
     "http://h:99999999/", "http://ho st/", "http://h\n/", "http://" + "a" * 300 + "/", "javascript:alert(1)"],
)  # fmt: skip
def test_bad_addresses_are_refused_before_anything_is_asked(tmp_path: Path, base: str) -> None:
    with pytest.raises(UserError, match="is not a base address") as raised:
        download("cat", tmp_path / "new", base)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "new").exists()


def test_unknown_host_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot reach no-such-host\.invalid") as raised:
        download("cat", tmp_path, "http://no-such-host.invalid/", limits=Limits(retries=0, timeout=5))
    assert "\n" not in str(raised.value)
