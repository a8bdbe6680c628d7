"""Record again what the model in the package computes, after it was replaced deliberately.

    python scripts/record_golden.py

Writes tests/golden/package_model.npz and prints how far the new arrays are from the old ones. A change of the code
that is no change of the method must not need this.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import gra2seq

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "golden"))

from golden_arrays import RECORDED, codes_of, drawing_arrays, drawings_of, weights_digest


def main() -> None:
    model = gra2seq.load()
    arrays = codes_of(model)
    if RECORDED.exists():
        with np.load(RECORDED) as before:
            for name, codes in arrays.items():
                print(f"{name}: largest difference to the last record {np.abs(codes - before[name]).max():.2e}")
    arrays |= drawing_arrays(drawings_of(model, arrays["codes"]))
    np.savez_compressed(RECORDED, weights=np.array(weights_digest()), **arrays)
    print(f"{RECORDED}: {RECORDED.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
