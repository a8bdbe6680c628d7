"""A studio that tests can start and stop."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from gra2seq.model import Model
from gra2seq.studio.engine import Engine
from gra2seq.studio.server import HOST, bound_socket, server_of


class RunningStudio:
    """A studio on a port of its own, in a thread, that can be stopped and started again."""

    def __init__(self, model: Model | None, port: int = 0, model_folder: Path | None = None) -> None:
        self.model, self.port, self.model_folder = model, port, model_folder
        self.start()

    def start(self) -> None:
        listening = bound_socket(HOST, self.port)
        self.port = listening.getsockname()[1]
        self.engine = Engine(self.model_folder)
        if self.model is not None:
            self.engine.use(self.model)
        self.server = server_of(self.engine, HOST, self.port)
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        while not self.server.started:
            time.sleep(0.02)

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/"
