"""Ctrl-C and SIGTERM end a training between two steps, with its checkpoint written; a second Ctrl-C ends it at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """While it is entered, the first signal only sets `requested`."""

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python allows no handler
            self._before = {number: signal.signal(number, self._request) for number in SIGNALS}
        return self

    def _request(self, number: int, _frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:  # SIGTERM may arrive more than once, and after Ctrl-C
            self._restore()
            signal.raise_signal(number)
        self.requested = True

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()
