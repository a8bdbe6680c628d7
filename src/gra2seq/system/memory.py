"""Allocator and garbage collector settings of the commands, and how much memory was used. Only programs set them.

By default glibc returns large freed arrays to the system and asks for them again at the next step; zeroing their
pages each time costs about a tenth of a training step (docs/decisions).
"""

from __future__ import annotations

import ctypes
import gc
import platform
from pathlib import Path

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4  # parameters of mallopt, from glibc's malloc.h
KEPT_BYTES = 2**31 - 1  # free bytes at the end of the heap that are not returned to the system
HEAP_STEP = 64 * 2**20  # bytes by which the heap grows
GC_THRESHOLD = 100_000  # allocations between two collections of the youngest generation; Python 3.11 has 700


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next step; False where there is no glibc."""
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    settings = ((MMAP_MAX, 0), (TRIM_THRESHOLD, KEPT_BYTES), (TOP_PAD, HEAP_STEP))
    return all(mallopt(name, value) == 1 for name, value in settings)


def tune_garbage_collector() -> None:
    """Collect cycles less often: importing torch triggers hundreds of collections that free nothing."""
    gc.set_threshold(GC_THRESHOLD)


def skip_collection_at_exit() -> None:
    """Exempt all living objects from the collection at exit: the system frees the memory anyway, and faster."""
    gc.freeze()


def peak_memory() -> float:
    """The largest resident size of this process so far, MB; getrusage would count what it was forked from."""
    if (status := Path("/proc/self/status")).exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
