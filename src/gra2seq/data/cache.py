"""Stores in the user's cache folder: made once, verified, and safe when several processes want the same one."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from gra2seq.data.store import Store
from gra2seq.data.store_format import CONTENT_VERSION, VERSION
from gra2seq.data.store_writer import Progress, write_store
from gra2seq.errors import UserError
from gra2seq.formats.record import Record

VERIFY_BYTES = 500_000_000  # of a cached store: read and compared with its checksums in about 0.2 s

LOGGER = logging.getLogger(__name__)


def default_cache() -> Path:
    """`$XDG_CACHE_HOME/gra2seq`, by default `~/.cache/gra2seq`"""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gra2seq"


def cached_store(
    cache: Path,
    title: str,
    key: list[Any],
    records: Callable[[], Iterable[Record]],
    progress: Progress | None,
) -> Store:
    """The store made of `records`, made only if the cache has no sound one with this key."""
    digest = hashlib.sha256(json.dumps([VERSION, CONTENT_VERSION, *key]).encode()).hexdigest()[:16]
    target = cache / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', title)[:40]}-{digest}.store"
    with suppress(UserError):
        return _open_cached(target)
    with _locked(target):
        if target.exists():  # made by another process meanwhile, or damaged: then it is only a copy
            try:
                return _open_cached(target)
            except UserError:
                LOGGER.warning("the cached store %s cannot be used and is rebuilt", target)
                shutil.rmtree(target, ignore_errors=True)
        return write_store(target, records(), progress=progress)


def _open_cached(path: Path) -> Store:
    """A store of the cache; verified at once if that is quick, so that a damaged one is rebuilt before it is used."""
    store = Store.open(path)
    if store.nbytes <= VERIFY_BYTES:
        store.verify_blocks()
    return store


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Of two processes that want the same store, the second waits. A killed one holds no lock."""
    lock = FileLock(target.with_suffix(".lock"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise UserError(
            f"cannot write to the cache {target.parent} ({error.strerror}): "
            "set XDG_CACHE_HOME to a place you may write to"
        ) from error
    try:
        yield
    finally:
        lock.release()
