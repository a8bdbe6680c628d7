"""Memory of one process over many heals of the package's model: `python benchmarks/memory_growth.py --heals 1000`.

Prints JSON; exit code 1 if memory grew by more than 2 % after the first 50 heals.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from pathlib import Path

import torch

import gra2seq
from gra2seq.data.doodles import doodles

WARM_UP = 50  # heals until caches and allocators are filled
MAX_GROWTH = 0.02
HOLE = (60.0, 60.0, 70.0, 70.0)


def resident_bytes() -> int:
    """Memory of this process that is in use now (Linux)."""
    gc.collect()
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def measure(heals: int) -> dict[str, float]:
    """Resident memory after the warm-up and after all heals, of drawings that differ, and the growth between."""
    torch.set_num_threads(1)
    model, sketches = gra2seq.load(), list(doodles(WARM_UP, seed=0))
    before = 0
    for number in range(heals):
        model.heal(sketches[number % WARM_UP], holes=[HOLE], seed=number % 7)
        if number + 1 == WARM_UP:
            before = resident_bytes()
    after = resident_bytes()
    return {"heals": heals, "bytes_after_50": before, "bytes_at_end": after, "growth": round(after / before - 1, 4)}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--heals", type=int, default=1000)
    found = measure(max(arguments.parse_args().heals, WARM_UP + 1))
    print(json.dumps(found))
    return 1 if found["growth"] > MAX_GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
