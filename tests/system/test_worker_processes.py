"""Worker processes, also on systems without signal masks and priorities (Windows)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from threading import Event, Thread

import pytest

from gra2seq.data import batch_order
from gra2seq.system import processes


def double(number: int, connection: Connection) -> None:
    connection.send(2 * number)


@pytest.fixture(autouse=True)
def _signals_are_restored():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def wait_forever(_connection: Connection) -> None:
    time.sleep(600)


class SlowToPickle:
    """A message that is still being pickled when its worker is killed."""

    def __init__(self) -> None:
        self.begun = Event()

    def __reduce__(self):
        self.begun.set()
        time.sleep(0.3)
        return (str, ())


def test_worker_is_killed_in_silence_while_a_message_to_it_is_being_pickled(monkeypatch):
    raised = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: raised.append(arguments.exc_value))
    worker, message = processes.start_worker(wait_forever), SlowToPickle()
    worker.send(message)
    assert message.begun.wait(10)
    (thread,) = worker.sending
    worker.kill()
    thread.join(10)
    assert raised == []
    assert worker.connection.closed


@pytest.mark.parametrize("has_masks", [True, False])
def test_worker_answers_with_and_without_signal_masks(has_masks, monkeypatch):
    if not has_masks:
        monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    worker = processes.start_worker(double, 21)
    assert worker.connection.recv() == 42
    worker.process.join()
    assert worker.process.exitcode == 0


def test_worker_ignores_ctrl_c_where_signals_cannot_be_masked(monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    seen = []
    processes._run(lambda: seen.append(signal.getsignal(signal.SIGINT)))
    assert seen == [signal.SIG_IGN]


def test_batch_workers_start_without_priorities_and_alarms(monkeypatch):
    monkeypatch.delattr(os, "nice", raising=False)
    monkeypatch.delattr(signal, "SIGALRM", raising=False)
    threads = batch_order.cv2.getNumThreads()
    try:
        batch_order._start_worker(0)
    finally:
        batch_order.cv2.setNumThreads(threads)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_ctrl_c_is_delayed_though_another_thread_may_receive_it():
    unmasked, done = Event(), Event()

    def other_thread() -> None:  # has no mask: the system may hand it the signal of the process
        unmasked.set()
        done.wait(10)

    thread = Thread(target=other_thread)
    thread.start()
    unmasked.wait()
    reached = []

    def interrupted() -> None:
        with processes.ctrl_c_blocked(), processes.ctrl_c_blocked():
            for _ in range(10):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
            reached.append("the end")

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        done.set()
        thread.join()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself a Ctrl-C there")
@pytest.mark.parametrize("swallowed", ["pass", "raise ImportError('no module')"])
def test_ctrl_c_ends_an_import_that_catches_everything(swallowed):
    """In a process of its own: first as a terminal has it, then where Ctrl-C is ignored."""
    program = f"""
import os, signal
from gra2seq.system.processes import ctrl_c_kept

def library():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        {swallowed}

for handler in (signal.default_int_handler, signal.SIG_IGN):
    signal.signal(signal.SIGINT, handler)
    try:
        with ctrl_c_kept():
            library()
        print("went on")
    except KeyboardInterrupt:
        print("interrupted")
    assert signal.getsignal(signal.SIGINT) == handler
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["interrupted", "went on", ""]
