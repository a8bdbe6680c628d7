"""Command line: run it from the root of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does, so that tests and command import alike

from fuzz.runner import main

if __name__ == "__main__":
    sys.exit(main())
