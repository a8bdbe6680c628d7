"""Large arrays come and go at every step; by default glibc hands them back to the system and takes them anew.

Every page is then zeroed again before it is used, which costs about a tenth of a training step (docs/decisions.md).
"""

from __future__ import annotations

import ctypes
import gc
import platform

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4  # glibc's malloc.h
KEPT = 2**31 - 1  # bytes at the end of the heap that are not handed back
STEP = 64 * 2**20  # bytes by which the heap grows
SELDOM = 100_000  # objects that are made between two looks for rings of them; Python 3.11 looks after 700


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next step. A programme calls it, a library does not."""
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(name, value) == 1 for name, value in ((MMAP_MAX, 0), (TRIM_THRESHOLD, KEPT), (TOP_PAD, STEP)))


def look_for_rings_seldom() -> None:
    """Let Python look seldom for objects that only hold each other: importing torch alone makes it look hundreds of
    times, at some hundred thousand objects that stay. A programme calls it, a library does not.
    """
    gc.set_threshold(SELDOM)


def end_at_once() -> None:
    """The programme ends: what it holds is given back as a whole, and not looked through once more."""
    gc.freeze()
