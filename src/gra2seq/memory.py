"""Large arrays come and go at every step; by default glibc hands them back to the system and takes them anew.

Every page is then zeroed again before it is used, which costs about a tenth of a training step (docs/decisions.md).
"""

from __future__ import annotations

import ctypes
import platform

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4  # glibc's malloc.h
KEPT = 2**31 - 1  # bytes at the end of the heap that are not handed back
STEP = 64 * 2**20  # bytes by which the heap grows


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next step. A programme calls it, a library does not."""
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(name, value) == 1 for name, value in ((MMAP_MAX, 0), (TRIM_THRESHOLD, KEPT), (TOP_PAD, STEP)))
