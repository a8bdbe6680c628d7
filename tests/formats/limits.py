"""Run a reader on a file in a worker process with limits on memory and time.

`run_limited` measures what a call needs after all imports: peak memory and processor time. The rule for readers is at
most 64 MB + 40 times the decompressed size, never over 2 GiB, and at most 2 s + 1 s a MB.

One server process imports the package once and forks a child for every call, so that a call costs a few milliseconds.
The child limits its own address space and processor time; the kernel ends it, also inside of C code.

    result = run_limited("gra2seq.formats.files:read", path)
    assert result.within_limits, result
    assert result.outcome in ("done", "refused")
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MB = 1_000_000
BASE_MEMORY, MEMORY_PER_BYTE, MAX_MEMORY = 64 * MB, 40, 2 << 30  # bytes
BASE_SECONDS, SECONDS_PER_MB = 2.0, 1.0  # of processor time: the wall clock depends on what else runs
LOOP_SECONDS = 0.0055  # of `_loop_seconds` on a quiet core; a busy or slow one takes longer, and gets more time
SPARE = 256 * MB  # of address space beyond the limit: it is reserved generously, memory that is used is measured
PRELOADED = ("gra2seq.formats.files",)

supported = sys.platform == "linux"  # elsewhere address space cannot be limited, or peak memory not be reset


@dataclass(frozen=True)
class Result:
    """How a call ended and what it needed."""

    outcome: str  # "done", "refused" (UserError), "raw" (any other exception), "killed" (out of time, or crashed)
    message: str  # of the exception, or the signal
    memory: int  # peak, in bytes above that before the call
    seconds: float  # of processor time; if over the limit, divided by how much slower than a quiet core the machine is
    max_memory: int
    max_seconds: float

    @property
    def within_limits(self) -> bool:
        return self.outcome != "killed" and self.memory <= self.max_memory and self.seconds <= self.max_seconds


def run_limited(
    function: str | Callable[..., Any],
    path: str | Path,
    *,
    size: int | None = None,
    max_memory: int | None = None,
    max_seconds: float | None = None,
    **arguments: Any,
) -> Result:
    """Call `function(path, **arguments)` in a worker; an iterator it returns is consumed without being kept.

    `function` is "module:name" or a function that can be imported by its module and name. `size` is the decompressed
    size, by default that of the file, from which the limits follow unless they are given. Arguments must be JSON.
    """
    name = function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"
    size = os.path.getsize(path) if size is None else size
    if max_memory is None:
        max_memory = min(BASE_MEMORY + MEMORY_PER_BYTE * size, MAX_MEMORY)
    if max_seconds is None:
        max_seconds = BASE_SECONDS + SECONDS_PER_MB * size / MB
    job = {"function": name, "path": str(path), "arguments": arguments, "memory": max_memory, "seconds": max_seconds}
    answer = _server().ask(job)
    return Result(**answer, max_memory=max_memory, max_seconds=max_seconds)


class _Server:
    """The process that forks a child for every call."""

    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        atexit.register(self.close)

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@cache
def _server() -> _Server:
    return _Server()


def serve() -> None:
    """Answer jobs from standard input, a JSON line each, on standard output."""
    for module in PRELOADED:
        importlib.import_module(module)
    gc.freeze()  # so that a child does not copy pages only to mark objects
    for line in sys.stdin:
        job = json.loads(line)
        importlib.import_module(job["function"].partition(":")[0])  # imports are not part of what is measured
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            _run_child(job, writable)
        os.close(writable)
        with os.fdopen(readable, "rb") as pipe:
            answer = pipe.read()
        _, status, usage = os.wait4(child, 0)
        if os.WIFSIGNALED(status) or not answer:
            reason = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status >> 8}"
            seconds = usage.ru_utime + usage.ru_stime
            answer = json.dumps({"outcome": "killed", "message": reason, "memory": 0, "seconds": seconds}).encode()
        print(answer.decode(), flush=True)


def _run_child(job: dict[str, Any], writable: int) -> None:
    """Run one job with limits and end the process."""
    import resource

    from gra2seq.errors import UserError

    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _memory("VmRSS")
    space = _memory("VmSize") + job["memory"] + SPARE
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    signal.setitimer(signal.ITIMER_PROF, 4 * job["seconds"])  # ends the process; up to there it is measured
    signal.alarm(max(60, int(20 * job["seconds"])))
    outcome, message = "done", ""
    start = time.process_time()
    try:
        module, _, name = job["function"].partition(":")
        _consume(getattr(importlib.import_module(module), name)(Path(job["path"]), **job["arguments"]))
    except UserError as error:
        outcome, message = "refused", str(error)
    except BaseException as error:
        outcome, message = "raw", f"{type(error).__name__}: {error}"[:500]
    seconds = time.process_time() - start
    if seconds > job["seconds"]:
        seconds /= max(1.0, sum(_loop_seconds() for _ in range(5)) / 5 / LOOP_SECONDS)
    answer = {"outcome": outcome, "message": message, "memory": _memory("VmHWM") - before, "seconds": seconds}
    os.write(writable, json.dumps(answer).encode("utf-8", "backslashreplace"))
    os._exit(0)


def _loop_seconds() -> float:
    start = time.process_time()
    sum(number * number for number in range(100_000))
    return time.process_time() - start


def _consume(result: Any) -> None:
    if hasattr(result, "__next__"):
        for _ in result:
            pass


def _memory(name: str) -> int:
    """A figure of this process, in bytes."""
    with contextlib.closing(open("/proc/self/status")) as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{name}:"))


if __name__ == "__main__":
    serve()
