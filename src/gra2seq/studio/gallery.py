"""The drawings that Find and Guess compare with: encoded once, in the background, and cached."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gra2seq.data.cache import default_cache
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.simplify import quickdraw_simplify
from gra2seq.sketch.strokes import Doubles, Floats, Ints, Sketch
from gra2seq.studio.atlas import PatchAtlas
from gra2seq.system.atomic_files import atomic_write

if TYPE_CHECKING:
    from gra2seq.model import Model

DOODLES = 150  # of the default gallery: ten of each category
MAX_DRAWINGS = 5_000  # of a store: taken evenly from all of it
BATCH = 16  # drawings that are encoded at a time, so that people who draw meanwhile hardly notice


@dataclass
class Gallery:
    """Drawings, and the codes of those that are encoded so far."""

    name: str
    sketches: list[Sketch]
    identity: str  # the same for the same drawings
    codes: Floats = field(default_factory=lambda: np.empty((0, 0), np.float32))  # (n, code), n grows
    atlas: PatchAtlas | None = None

    @staticmethod
    def open(source: str | None = None) -> Gallery:
        """The drawings of a store, file or folder; without one, doodles."""
        if source is None:
            return Gallery("doodles", list(doodles(DOODLES)), f"doodles {DOODLES}")
        from gra2seq.data.datasets import open_store

        store = open_store(source)
        if not len(store):
            raise UserError(f"{source} holds no drawings: choose another gallery")
        chosen = np.unique(np.linspace(0, len(store) - 1, min(len(store), MAX_DRAWINGS)).astype(np.int64))
        sketches = [quickdraw_simplify(store[int(number)]) for number in chosen]
        return Gallery(Path(source).name, sketches, f"{store.hash} {len(chosen)}")

    def encode(self, model: Model, closed: threading.Event) -> None:
        """Encode what is not in the cache, a few at a time, until done or closed; then collect patches."""
        cache = self._cache(model)
        codes = _cached_codes(cache, len(self.sketches), model.preparation.code)
        start = 0 if codes is None else len(codes)
        self.codes = np.empty((0, model.preparation.code), np.float32) if codes is None else codes
        while start < len(self.sketches):
            if closed.is_set():
                return
            part = self.sketches[start : start + BATCH]
            self.codes = np.concatenate([self.codes, model.encode(part)])
            start += len(part)
        if codes is None:
            with atomic_write(cache) as temporary:
                np.save(temporary, self.codes)
        self.atlas = PatchAtlas.of(model, self.sketches, closed)

    def nearest(self, code: Floats, count: int) -> tuple[Ints, Doubles]:
        """Numbers of the nearest drawings that are encoded, and their distances, the nearest first."""
        distance: Doubles = np.linalg.norm(self.codes.astype(np.float64) - code, axis=1)
        order = np.argsort(distance, kind="stable")[:count]
        return order, distance[order]

    def _cache(self, model: Model) -> Path:
        """A file whose name depends on the drawings and on what the model makes of one of them."""
        probe = model.encode(Damage.none(self.sketches[0]))
        digest = hashlib.sha256(self.identity.encode() + np.round(probe, 3).tobytes()).hexdigest()[:24]
        return default_cache() / "studio" / f"{digest}.npy"


def _cached_codes(path: Path, count: int, size: int) -> Floats | None:
    """Codes in the cache, if they are there and sound."""
    try:
        codes = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if codes.shape != (count, size) or codes.dtype != np.float32 or not np.isfinite(codes).all():
        return None
    return np.asarray(codes, np.float32)
