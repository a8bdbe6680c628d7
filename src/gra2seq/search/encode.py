"""Encode any number of drawings: in blocks, by several processes, restartable. The codes depend on neither."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from os import _exit
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gra2seq.errors import UserError, unknown_name
from gra2seq.healing.model_source import ModelSource
from gra2seq.search.block_files import BlockTask
from gra2seq.search.codes import PRECISIONS, Header, ModelName, Shard
from gra2seq.search.drawings import Drawings, LostPart
from gra2seq.search.work_folder import Existing, WorkFolder
from gra2seq.system.atomic_files import check_folder
from gra2seq.system.memory import keep_freed_memory, tune_garbage_collector
from gra2seq.system.processes import Worker, available_cores, start_worker

if TYPE_CHECKING:
    from gra2seq.model import Model

BLOCK = 1024  # drawings that are encoded together and lost together if the process is killed: some seconds of work

Progress = Callable[[int, int], None]  # drawings encoded, of how many


class Engine(Protocol):
    """Encodes blocks somewhere and yields the number of each that has its file. May yield in any order."""

    def __call__(self, task: BlockTask, blocks: Sequence[int]) -> Iterator[int]: ...


@dataclass(frozen=True)
class Layout:
    """Which drawings are encoded, in which blocks, without what, and the type of their codes."""

    shard: Shard = field(default_factory=Shard)
    dtype: str = "float16"
    block: int = BLOCK
    lost: LostPart = field(default_factory=LostPart)

    def __post_init__(self) -> None:
        if self.dtype not in PRECISIONS:
            raise unknown_name("dtype", self.dtype, PRECISIONS)


@dataclass(frozen=True)
class Encoded:
    """What an encoding has made."""

    out: Path
    header: Header
    new: int  # drawings that were encoded now, not before


def encode_to_file(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    model: ModelSource | str | Path | None = None,
    layout: Layout | None = None,
    existing: Existing = Existing.REFUSE,
    engine: Engine | None = None,
    progress: Progress = lambda *_: None,
) -> Encoded:
    """Encode the drawings of files, folders or stores into `out` (.npy), with its keys and header beside it.

    The files appear complete or not at all. After a kill, `Existing.RESUME` goes on with what is missing. With a shard
    of several, its number is put into the name (codes-00002-of-00008.npy); the shards in order are the whole. `engine`
    says where the work is done, by default in one process on each core.
    """
    layout = layout or Layout()
    out = output_file(out, layout.shard)
    check_folder(out.parent)
    source = model if isinstance(model, ModelSource) else ModelSource(model)
    loaded = source.load()
    drawings = Drawings.open(sources, layout.lost)
    header, blocks = _plan(loaded, drawings, layout)
    work = WorkFolder(out)
    with work.locked():
        if work.begin(header, existing):
            progress(header.rows, header.rows)
            return Encoded(out, header, 0)
        task = BlockTask(drawings, work.path.absolute(), layout.block, layout.dtype)
        done = task.done().intersection(blocks)
        missing = [number for number in blocks if number not in done]
        counted = sum(len(task.numbers(number)) for number in done)
        new = header.rows - counted
        progress(counted, header.rows)
        for number in (engine or LocalEngine(source, loaded=loaded))(task, missing) if missing else ():
            counted += len(task.numbers(number))
            progress(counted, header.rows)
        work.finish(header, task, blocks)
    return Encoded(out, header, new)


def _plan(model: Model, drawings: Drawings, layout: Layout) -> tuple[Header, range]:
    """What the codes will be, and the blocks that they are made of."""
    shard, size = layout.shard, layout.block
    blocks = shard.blocks(-(-len(drawings) // size))
    if not blocks:
        raise UserError(f"shard {shard.number}/{shard.of} is empty: {len(drawings)} drawings need fewer shards")
    first, last = blocks[0] * size, min((blocks[-1] + 1) * size, len(drawings))
    name, code = ModelName.of(model), model.preparation.code
    rows, types = last - first, (layout.dtype, model.network.precision)
    return Header(name, drawings.sources, shard, size, first, rows, code, *types, lost=drawings.lost), blocks


def output_file(out: str | Path, shard: Shard) -> Path:
    """The file that is written: with several shards, each has its number in its name."""
    out = Path(out)
    if out.suffix != ".npy":
        raise UserError(f"codes are written as .npy: call it {out.name}.npy")
    if out.is_dir():
        raise UserError(f"{out} is a folder: name a file")
    return out if shard.of == 1 else out.with_name(f"{out.stem}-{shard.number:05d}-of-{shard.of:05d}.npy")


@dataclass(frozen=True)
class LocalEngine:
    """Encodes on this machine: in this process, or in several of one thread each."""

    model: ModelSource | str | Path | None = None
    jobs: int | None = None  # default: one for each core; on a GPU one
    loaded: Model | None = None  # the model, if it is here already

    @property
    def source(self) -> ModelSource:
        return self.model if isinstance(self.model, ModelSource) else ModelSource(self.model)

    def __call__(self, task: BlockTask, blocks: Sequence[int]) -> Iterator[int]:
        most = available_cores() if self.source.device == "cpu" else 1
        jobs = min(self.jobs or most, len(blocks))
        return self._alone(task, blocks) if jobs == 1 else self._together(task, blocks, jobs)

    def _alone(self, task: BlockTask, blocks: Sequence[int]) -> Iterator[int]:
        model = self.loaded or self.source.load()
        for block in blocks:
            with one_thread():
                task.encode(model, block)
            yield block

    def _together(self, task: BlockTask, blocks: Sequence[int], jobs: int) -> Iterator[int]:
        """Hand out one block after the other, the next to whoever is free."""
        waiting = list(reversed(blocks))
        workers: list[Worker] = []
        busy: dict[Connection, int] = {}
        try:
            for _ in range(jobs):
                workers.append(_started(self.source, task))
                busy[workers[-1].connection] = waiting.pop()
                workers[-1].send(busy[workers[-1].connection])
            by_connection = {worker.connection: worker for worker in workers}
            while busy:
                for connection in wait(list(busy)):
                    assert isinstance(connection, Connection)
                    yield _answer(by_connection[connection])
                    del busy[connection]
                    if waiting:
                        busy[connection] = waiting.pop()
                        by_connection[connection].send(busy[connection])
        finally:
            for worker in workers:
                worker.kill()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, as every worker does: the last bits of a sum depend on how it is shared."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _started(model: ModelSource, task: BlockTask) -> Worker:
    try:
        return start_worker(_work, model, task)
    except OSError as error:
        raise UserError(f"no process can be started ({error}): give --jobs 1") from error


def _answer(worker: Worker) -> int:
    try:
        message = worker.connection.recv()
    except (EOFError, OSError) as error:
        worker.process.join()
        raise UserError(
            f"a process ended with {worker.exit_reason}: go on with --resume, with fewer --jobs if it lacked memory"
        ) from error
    if isinstance(message, UserError):
        raise message
    return int(message)


def _work(model: ModelSource, task: BlockTask, connection: Connection) -> None:
    """A worker: receives numbers of blocks, and sends each back when its file is written."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    tune_garbage_collector()
    import torch

    torch.set_num_threads(1)
    with suppress(EOFError, ConnectionError):  # the command has ended
        try:
            loaded = model.load()
            while True:
                block: Any = connection.recv()
                task.encode(loaded, block)
                connection.send(block)
        except UserError as error:
            connection.send(error)


def _end_with_parent() -> None:
    """A command that is killed takes its workers along, so that none writes where the next one works."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        _exit(1)
