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
from gra2seq.sketch.damage import Damage, damages_of
from gra2seq.sketch.simplify import quickdraw_simplify
from gra2seq.sketch.strokes import Doubles, Floats, Ints, Sketch
from gra2seq.studio.atlas import PatchAtlas
from gra2seq.studio.signs import SIGNS, signs_of
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
    signs: Doubles = field(default_factory=lambda: np.empty((0, SIGNS)))  # (n, SIGNS) of the same drawings
    atlas: PatchAtlas | None = None

    @staticmethod
    def open(source: str | None = None) -> Gallery:
        """The drawings of a store, file, folder or gallery of `gra2seq index`; without one, doodles."""
        if source is None:
            return Gallery("doodles", list(doodles(DOODLES)), f"doodles {DOODLES}")
        from gra2seq.data.datasets import open_store
        from gra2seq.search.gallery import is_gallery

        if is_gallery(source):
            return _of_index(source)

        store = open_store(source)
        if not len(store):
            raise UserError(f"{source} holds no drawings: choose another gallery")
        chosen = _evenly(len(store))
        sketches = [quickdraw_simplify(store[int(number)]) for number in chosen]
        return Gallery(Path(source).name, sketches, f"{store.hash} {len(chosen)}")

    def encode(self, model: Model, closed: threading.Event) -> None:
        """Encode what is not in the cache, a few at a time, until done or closed; then collect patches."""
        cache = self._cache(model)
        size = model.preparation.code
        cached = _cached(cache, len(self.sketches), size + SIGNS)
        table = np.empty((0, size + SIGNS), np.float32) if cached is None else cached
        self.codes, self.signs = table[:, :size], table[:, size:].astype(np.float64)
        for start in range(len(table), len(self.sketches), BATCH):
            if closed.is_set():
                return
            part = self.sketches[start : start + BATCH]
            codes = model.encode(part)
            self.signs = np.concatenate([self.signs, signs_of(model, damages_of(part), codes)])
            self.codes = np.concatenate([self.codes, codes])
        if cached is None:
            with atomic_write(cache) as temporary:
                np.save(temporary, np.column_stack([self.codes, self.signs]).astype(np.float32))
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


def _of_index(source: str) -> Gallery:
    """The drawings of a gallery that `gra2seq index` made, read from where they were encoded."""
    from gra2seq.search.gallery import Gallery as SearchGallery

    gallery = SearchGallery.open(source)
    chosen = _evenly(len(gallery))
    sketches = [quickdraw_simplify(gallery.sketch(int(number))) for number in chosen]
    sources = " ".join(one.hash for one in gallery.header.sources)
    return Gallery(Path(source).name, sketches, f"{sources} {len(chosen)}")


def _evenly(count: int) -> Ints:
    """Numbers of the drawings that are taken of so many."""
    return np.unique(np.linspace(0, count - 1, min(count, MAX_DRAWINGS)).astype(np.int64))


def _cached(path: Path, count: int, size: int) -> Floats | None:
    """The table (count, size) of codes and signs in the cache, if it is there and sound."""
    try:
        table = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, IndexError, TypeError, SyntaxError, OverflowError, MemoryError):
        return None
    if table.shape != (count, size) or table.dtype != np.float32 or not np.isfinite(table).all():
        return None
    return np.asarray(table, np.float32)
