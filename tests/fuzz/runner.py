"""Make mutants of a target's files, read each in a limited worker process, report what went wrong as JSON."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from formats.limits import Result, run_limited
from fuzz.mutate import mutant
from fuzz.targets import TARGETS, Target, seeds_of

UNWRAPPED = 0.2  # share of mutants whose container is damaged, where there is one
EXAMPLES = 20  # of each kind of failure in a report


def fuzz(name: str, count: int, seed: int = 0, keep: Path | None = None) -> dict[str, Any]:
    """Read `count` mutants; returns how they ended. Mutant n of a seed is always the same.

    `keep`: a folder for the mutants that ended in a raw exception or went over a limit.
    """
    target = TARGETS[name]
    seeds = seeds_of(name)
    report: dict[str, Any] = {"target": name, "count": count, "seed": seed, "done": 0, "refused": 0}
    failures: dict[str, list[dict[str, Any]]] = {"raw": [], "over": []}
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"mutant{target.suffix}"
        for number in range(count):
            content, size = make(target, seeds, random.Random(f"{name}-{seed}-{number}"))
            path.write_bytes(content)
            result = read_limited(target, path, size)
            if result.outcome in ("done", "refused"):
                report[result.outcome] += 1
            bad = "over" if not result.within_limits else "raw" if result.outcome == "raw" else ""
            if bad:
                failure = {"number": number, "message": result.message, "memory": result.memory}
                failures[bad].append({**failure, "seconds": round(result.seconds, 3)})
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{name}-{seed}-{number}{target.suffix}").write_bytes(content)
    counts = {f"{kind}_count": len(found) for kind, found in failures.items()}
    examples = {kind: found[:EXAMPLES] for kind, found in failures.items()}
    return {**report, **counts, **examples, "seconds": round(time.perf_counter() - started, 1)}


def read_limited(target: Target, path: Path, size: int) -> Result:
    """Let a target read a file under its limits."""
    size += target.extra_size
    if target.unpacked_size is not None:
        size += target.unpacked_size(path.read_bytes())
    if target.max_seconds is None:
        return run_limited(target.function, path, size=size)
    return run_limited(target.function, path, size=size, max_seconds=target.max_seconds)


def make(target: Target, seeds: list[bytes], rng: random.Random) -> tuple[bytes, int]:
    """A mutant and its size after decompression."""
    chosen = rng.choice(seeds)
    if target.wrap is None:
        content = mutant(rng, chosen, seeds, target.tokens)
        return content, len(content)
    if rng.random() < UNWRAPPED:
        content = mutant(rng, target.wrap(chosen), [target.wrap(other) for other in seeds])
        return content, len(content) + len(chosen)
    content = mutant(rng, chosen, seeds, target.tokens)
    return target.wrap(content), len(content)


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("--target", action="append", choices=sorted(TARGETS), help="repeatable; default: all")
    arguments.add_argument("--count", type=int, default=2000, help="mutants of each target")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--keep", type=Path, help="folder for the mutants that failed")
    chosen = arguments.parse_args()
    failed = 0
    for name in chosen.target or TARGETS:
        report = fuzz(name, chosen.count, chosen.seed, chosen.keep)
        print(json.dumps(report), flush=True)
        failed += report["raw_count"] + report["over_count"]
    if failed:
        print(f"{failed} mutants ended in a raw exception or went over a limit", file=sys.stderr)
    return 1 if failed else 0
