"""Where an encoding keeps finished blocks until its codes are complete: a hidden folder beside them.

`.codes.npy.part/` holds the header of the job, a file for each finished block, and at the end `complete/` with the
three files that are then renamed to their places, the header last. A process that is killed at any moment leaves
either this folder, from which `--resume` goes on, or complete codes.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from filelock import FileLock, Timeout

from gra2seq.errors import UserError
from gra2seq.search.block_files import BlockTask
from gra2seq.search.codes import Codes, CodesWriter, Header, companions
from gra2seq.system.atomic_files import atomic_folder, atomic_write, readable_os_errors

JOB, COMPLETE, LOCK = "job.json", "complete", "lock"


class Existing(Enum):
    """What becomes of codes, or of unfinished work, that are found at the place of new ones."""

    REFUSE = "refuse"
    RESUME = "resume"
    REPLACE = "replace"


@dataclass(frozen=True)
class WorkFolder:
    """The work folder of one codes file."""

    out: Path  # codes.npy

    @property
    def path(self) -> Path:
        return self.out.with_name(f".{self.out.name}.part")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, made if need be, for this process only; an empty one is removed again."""
        with readable_os_errors(self.out):
            self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / LOCK, fallback_to_soft=False)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise UserError(f"another process is writing {self.out}: wait for it, or choose another name") from error
        except (OSError, NotImplementedError):  # the file system has no locks
            pass
        try:
            yield
        finally:
            useful = self.path.is_dir() and any(path.name not in (JOB, LOCK) for path in self.path.iterdir())
            if not useful:
                shutil.rmtree(self.path, ignore_errors=True)
            lock.release()

    def begin(self, header: Header, existing: Existing) -> bool:
        """Prepare for a job. Returns whether its codes are complete already."""
        if existing is Existing.REPLACE:
            self._clear()
        elif (self.path / COMPLETE).is_dir():  # killed between two renames
            self._publish()
        if (self.path / JOB).exists():
            if existing is not Existing.RESUME:
                raise UserError(f"{self.out} was begun before: go on with --resume, or start again with --force")
            _check_same(self.out, Header.read(self.path / JOB), header)
            return False
        if existing is not Existing.REPLACE and any(path.exists() for path in (self.out, *companions(self.out))):
            if existing is not Existing.RESUME:
                raise UserError(f"{self.out} exists already: choose another name, or overwrite it with --force")
            _check_same(self.out, Codes.open(self.out).header, header)
            return True
        with atomic_write(self.path / JOB) as temporary:
            header.write(temporary)
        return False

    def finish(self, header: Header, task: BlockTask, blocks: Sequence[int]) -> None:
        """Join the blocks and give the files their names."""
        with atomic_folder(self.path / COMPLETE) as folder:
            _join(header, task, blocks, folder / self.out.name)
        self._publish()

    def _publish(self) -> None:
        """Rename the complete files, the header last; after a kill this is called again."""
        complete = self.path / COMPLETE
        keys, about = companions(self.out)
        with readable_os_errors(self.out):
            if (complete / about.name).exists():
                about.unlink(missing_ok=True)  # of codes that are replaced
            for target in (keys, self.out, about):
                if (complete / target.name).exists():
                    os.replace(complete / target.name, target)
        self._clear()

    def _clear(self) -> None:
        """Remove all work, `complete` last, which says that nothing else is needed."""
        with readable_os_errors(self.out):
            for path in sorted(self.path.iterdir(), key=lambda path: path.name == COMPLETE):
                if path.name != LOCK:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _join(header: Header, task: BlockTask, blocks: Sequence[int], out: Path) -> None:
    """Write codes, keys and header from the files of blocks, in the memory of one block."""
    keys_path, about = companions(out)
    size, keys_sum = 0, 0
    with CodesWriter(out, header.rows, header.code, header.dtype) as writer, keys_path.open("wb") as file:
        for block in blocks:
            codes, keys = task.read(block, header.code)
            writer.append(codes)
            file.write(keys)
            size, keys_sum = size + len(keys), zlib.crc32(keys, keys_sum)
    replace(header, chunks=tuple(writer.checksums), keys=(size, keys_sum)).write(about)


def _check_same(out: Path, before: Header, now: Header) -> None:
    """Raise UserError unless an encoding that was begun is the one that is asked for now."""
    before = before.without_checksums()
    names = {
        "model": "another model",
        "sources": "other drawings",
        "shard": "another shard",
        "dtype": "another --dtype",
        "precision": "another --precision",
        "lost": "another --hole or --frame",
        "block": "another version of gra2seq",
    }
    for name, words in names.items():
        if getattr(before, name) != getattr(now, name):
            raise UserError(f"{out} was begun with {words}: choose another name, or start again with --force")
