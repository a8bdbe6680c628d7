"""Start the studio on a port of this machine."""

from __future__ import annotations

import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

from gra2seq.errors import UserError

HOST = "127.0.0.1"
PORT = 8017
BACKLOG = 128


def serve(
    *,
    port: int = PORT,
    model: str | Path | None = None,
    gallery: str | None = None,
    browser: bool = True,
    host: str = HOST,
    report: Callable[[str], None] = print,
) -> None:
    """Serve the studio until it is interrupted; port 0 takes any that is free."""
    try:
        import uvicorn

        from gra2seq.studio.app import create_app
    except ImportError as error:
        raise UserError(f"the studio needs {error.name}: pip install 'gra2seq[studio]'") from error
    from gra2seq.studio.engine import Engine

    with bound_socket(host, port) as listening:
        port = listening.getsockname()[1]
        names = (host, "localhost", HOST) if host == HOST else (host,)
        hosts = [f"{name}:{port}" for name in names] + ([*names] if port == 80 else [])
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(Engine(model, gallery), hosts),
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=2,
            )
        )
        address = f"http://{host}:{port}/"
        report(f"The studio is at {address} (Ctrl-C ends it)")
        if browser:
            threading.Thread(target=_open_when_up, args=(server, address), daemon=True).start()
        server.run(sockets=[listening])


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket at an address, or an error that says what to do."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{host}:{port} cannot be used ({reason}): choose another --port") from error
    return bound


def _open_when_up(server: object, address: str) -> None:
    while not getattr(server, "started", False):
        time.sleep(0.05)
    webbrowser.open(address)
