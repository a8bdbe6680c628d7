"""How fast one drawing is found among many codes, exactly and by IVF-PQ, and how much memory that takes.

    gra2seq bench --only search
    python -m gra2seq.bench.search exact 1000000
    python -m gra2seq.bench.search ivf-pq 10000000

Codes are synthetic, drawn around many centres as codes of drawings lie around those of their categories, and searched
from a memory-mapped file in half precision, as galleries are. Queries are other draws from the same mixture.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.search import ann, exact
from gra2seq.search.codes import map_array
from gra2seq.sketch.strokes import Floats
from gra2seq.system.memory import peak_memory

WIDTH = 128  # numbers of a code
CENTRES = 20_000
SPREAD = 0.5  # of the codes around their centre, in standard deviations of the centres
QUERIES = 100
K = 10
BLOCK = 1 << 16  # codes that are made at a time
SIZES = {"exact": 1_000_000, "ivf-pq": 10_000_000}


def run(method: str, number: int | str) -> dict[str, float]:
    """Figures of one method among so many codes; one query at a time. IVF-PQ takes the lists that `index` would."""
    rows = int(number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "codes.npy")
        queries = write_mixture(path, rows)
        codes = map_array(path, (rows, WIDTH), "float16")
        begun = time.perf_counter()
        norms = exact.squared_norms(codes)
        if method == "exact":
            exact.nearest(queries[:1], codes, norms, K)  # reads the file once
            return {"codes": rows, **_timed(lambda query: exact.nearest(query, codes, norms, K)[0], queries)}
        file = Path(folder, "index.faiss")
        tuning = ann.build(codes, norms, file)
        built = time.perf_counter() - begun
        index = ann.load(file, rows, WIDTH)
        true, _ = exact.nearest(queries, codes, norms, K)
        found, _ = ann.nearest(index, queries, codes, K, tuning.probes)
        shares = [len(set(own.tolist()) & set(other.tolist())) / K for own, other in zip(found, true, strict=True)]
        figures = _timed(lambda query: ann.nearest(index, query, codes, K, tuning.probes)[0], queries)
        index_figures = {"build_s": built, "lists": tuning.probes, "recall_at_10": float(np.mean(shares))}
        return {"codes": rows, **index_figures, **figures}


def write_mixture(path: Path, rows: int) -> Floats:
    """Write the codes of a mixture to an .npy file, part by part; returns (QUERIES, WIDTH) others."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((min(CENTRES, max(rows // 100, 2)), WIDTH), np.float32)

    def drawn(count: int) -> Floats:
        own = centres[random.integers(0, len(centres), count)]
        return own + np.float32(SPREAD) * random.standard_normal((count, WIDTH), np.float32)

    codes = np.lib.format.open_memmap(path, "w+", np.float16, (rows, WIDTH))
    for start in range(0, rows, BLOCK):
        codes[start : start + BLOCK] = drawn(min(BLOCK, rows - start))
    codes.flush()
    return drawn(QUERIES)


def _timed(find: Callable[[Floats], NDArray[Any]], queries: Floats) -> dict[str, float]:
    """Median time and processor time of a query, ms, and the largest memory of this process so far, MB."""
    seconds, cpu = [], []
    for query in queries:
        before = time.perf_counter(), time.process_time()
        find(query[None])
        seconds.append(time.perf_counter() - before[0])
        cpu.append(time.process_time() - before[1])
    return {"ms": 1e3 * float(np.median(seconds)), "cpu_ms": 1e3 * float(np.median(cpu)), "rss_mb": peak_memory()}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
