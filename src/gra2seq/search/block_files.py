"""A block of drawings encoded and kept in a file of its own, until all blocks are joined.

The same function runs in this process, in worker processes and on other machines; because a block is always encoded
in the same batches by one thread, the codes are the same bit for bit whoever makes them.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.search.drawings import Drawings, place_of
from gra2seq.search.keys import Key
from gra2seq.sketch.damage import damages_of
from gra2seq.system.atomic_files import atomic_write

if TYPE_CHECKING:
    from gra2seq.model import Model

_BLOCK_NAME = re.compile(r"block-(\d{8})\.npz")


@dataclass(frozen=True)
class BlockTask:
    """What a worker must know to encode any block of a job. It can be sent to other processes."""

    drawings: Drawings
    folder: Path  # where block files go
    size: int  # drawings a block
    dtype: str

    def file(self, block: int) -> Path:
        return self.folder / f"block-{block:08d}.npz"

    def numbers(self, block: int) -> range:
        """Of the block's drawings."""
        return range(block * self.size, min((block + 1) * self.size, len(self.drawings)))

    def encode(self, model: Model, block: int) -> None:
        """Encode one block and write its file, completely or not at all."""
        numbers = self.numbers(block)
        damages = damages_of([self.drawings.damaged(number) for number in numbers])
        codes = model.encode(damages)
        with np.errstate(over="ignore"):
            rounded = codes.astype(self.dtype)
        wrong = np.flatnonzero(~np.isfinite(rounded).all(axis=1))
        if len(wrong):
            raise UserError(
                f"the code of drawing {numbers[int(wrong[0])]} is not finite as {self.dtype}: "
                "use --dtype float32, or another model if it has diverged"
            )
        places = [place_of(number, self.drawings.sources) for number in numbers]
        shown = [damage.visible for damage in damages]
        lines = [Key(*place, one.category, one.key).line() for place, one in zip(places, shown, strict=True)]
        keys = np.frombuffer(b"".join(lines), np.uint8)
        with atomic_write(self.file(block)) as temporary, temporary.open("wb") as file:
            np.savez(file, codes=rounded, keys=keys)

    def done(self) -> set[int]:
        """Blocks that have a file."""
        matches = (_BLOCK_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return {int(match[1]) for match in matches if match}

    def read(self, block: int, code: int) -> tuple[NDArray[Any], bytes]:
        """Codes and key lines of a block; the archive's own checksums are compared."""
        path = self.file(block)
        try:
            with np.load(path, allow_pickle=False) as archive:
                codes, keys = archive["codes"], archive["keys"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise UserError(f"{path} is damaged ({error}): remove it and go on with --resume") from error
        if codes.shape != (len(self.numbers(block)), code) or codes.dtype != np.dtype(self.dtype):
            raise UserError(f"{path} is not of this encoding: remove it and go on with --resume")
        return codes, keys.tobytes()
