"""Start the studio on a port of this machine."""

from __future__ import annotations

import importlib.util
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gra2seq.errors import UserError
from gra2seq.healing.model_source import ModelSource

if TYPE_CHECKING:
    import uvicorn

    from gra2seq.studio.engine import Engine

HOST = "127.0.0.1"
PORT = 8017


def serve(
    *,
    port: int = PORT,
    model: ModelSource | str | Path | None = None,
    gallery: str | None = None,
    browser: bool = True,
    host: str = HOST,
    report: Callable[[str], None] = print,
) -> None:
    """Serve the studio until it is interrupted; port 0 takes any that is free."""
    for name in ("fastapi", "uvicorn"):
        if importlib.util.find_spec(name) is None:
            raise UserError(f"the studio needs {name}: pip install 'gra2seq[studio]'")
    from gra2seq.studio.engine import Engine

    with bound_socket(host, port) as listening:
        port = listening.getsockname()[1]
        server = server_of(Engine(model, gallery), host, port)
        address = f"http://{host}:{port}/"
        report(f"The studio is at {address} (Ctrl-C ends it)")
        if browser:
            threading.Thread(target=_open_when_up, args=(server, address), daemon=True).start()
        server.run(sockets=[listening])


def server_of(engine: Engine, host: str, port: int) -> uvicorn.Server:
    """A server for requests that name this host and port; `run(sockets=[...])` starts it."""
    import uvicorn

    from gra2seq.studio.app import create_app

    names = (HOST, "localhost") if host == HOST else (host,)
    hosts = [f"{name}:{port}" for name in names] + [name for name in names if port == 80]
    config = uvicorn.Config(
        create_app(engine, hosts),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=75,  # longer than clients keep an idle connection: none is closed as it is used again
    )
    return uvicorn.Server(config)


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


def _open_when_up(server: uvicorn.Server, address: str) -> None:
    while not server.started:
        time.sleep(0.05)
    webbrowser.open(address)
