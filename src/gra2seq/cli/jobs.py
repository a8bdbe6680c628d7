"""One command on some drawings: reads them, draws, and writes each answer where it belongs."""

from __future__ import annotations

import re
import shutil
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gra2seq.cli.answers import check_free, document_paths, is_answered, is_document, listed, write_documents
from gra2seq.cli.common import are, messages, note, read_drawings, reply
from gra2seq.cli.streams import STREAM, save_stdin, send_to_stdout
from gra2seq.cli.tasks import Answer, Output, Task
from gra2seq.errors import UserError
from gra2seq.formats.files import beside, check_target, write
from gra2seq.formats.motion import MotionCell, check_motion, write_motion
from gra2seq.formats.record import Record
from gra2seq.formats.registry import suffix_of, writable_suffixes
from gra2seq.formats.svg.document import HEALED, SvgDocument
from gra2seq.healing.documents import Healed, HealRequest, check_visible, visible_of
from gra2seq.healing.drawing_items import DocumentItem, Drawer, Item, RedrawItem, SketchesItem, parts_of
from gra2seq.healing.ray_map import Map, local_map
from gra2seq.sketch.detection import find_damage
from gra2seq.sketch.region import Region
from gra2seq.sketch.render import region_sheet, write_png
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.input_files import open_input

if TYPE_CHECKING:
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.model import Model


ONE_SVG = "standard output takes one SVG: choose --format ndjson, or name a file with -o"


class Job:
    """A command that draws. Used as a context: leaving it without an error writes what is shared, and answers."""

    def __init__(
        self, files: Sequence[Path], output: Output, model: ModelSource, limit: int, resume_samples: int = 0
    ) -> None:
        """`resume_samples`: leave out files that have this many answers already; 0 does all files."""
        if len(files) > 1 and not output.out_dir and not output.out:
            raise UserError("several files become one with -o FILE, or stay apart with --out-dir FOLDER")
        self.output, self.source, self.limit = output, model, limit
        self.written: list[Path] = []
        self.found: list[list[float] | None] = []  # detected regions as x, y, width, height
        self.drawn = self.read = 0
        self._model: Model | None = None
        self._cells: list[MotionCell] = []  # drawings of several files that go into one
        self._records: list[Record] = []
        self._previews: list[tuple[Sketch, Region | None]] = []
        self._folder = TemporaryDirectory(prefix="gra2seq-")
        try:
            self.files = [save_stdin(self._temporary) if path == STREAM else path for path in files]
            if files.count(STREAM) > 1:
                raise UserError("standard input can be read once: give - once")
            for path in [path for path in self.files if not path.is_dir()]:  # a store is a folder
                with open_input(path):  # a missing file is reported now, not after the work for those before it
                    pass
            self.to_stdout = output.out == STREAM or (STREAM in files and not output.out and not output.out_dir)
            if self.to_stdout and output.as_json:
                raise UserError("--json and the drawing would both go to standard output: name a file with -o")
            self.inputs, self._is_shared = self.files, len(self.files) > 1 and not output.out_dir
            self.force = output.force or resume_samples > 0  # an incomplete set of answers is made again
            if resume_samples and not self.to_stdout:
                todo = [path for path in self.files if not is_answered(path, self._place(path), resume_samples)]
                note(output.quiet, f"{len(self.files) - len(todo)} of {len(self.files)} files are answered already")
                self.files = todo
                self._remove_leftovers()
            targets = [self.target(path) for path in self.files]  # before the work: what cannot be written is an error
            if output.out_dir and len(set(targets)) < len(targets):
                raise UserError("two files have the same name: their answers would overwrite each other in --out-dir")
            if output.preview:
                self._check_preview(output.preview)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Job:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
            elif isinstance(error, UserError) and str(self._temporary) in str(error):  # what came by a pipe has no name
                words = re.sub(rf"{re.escape(str(self._temporary))}[/\\]stdin[.a-z]*", "standard input", str(error))
                raise UserError(words) from error
        finally:
            self._folder.cleanup()

    def _remove_leftovers(self) -> None:
        """Remove what a killed command left, also where all files are answered and nothing is written."""
        from gra2seq.system.atomic_files import remove_leftovers

        for folder in {self._place(path).absolute().parent for path in self.inputs}:
            remove_leftovers(folder)

    @property
    def _temporary(self) -> Path:
        return Path(self._folder.name)

    @property
    def model(self) -> Model:
        self._model = self._model or self.source.load()
        return self._model

    def _place(self, path: Path) -> Path:
        """Where the answer to a file goes."""
        target = self.output.out
        if target is None or self.to_stdout:  # a name is made of that of the file
            default = beside(path, self.output.word)
            own = suffix_of(default, writable_suffixes())
            suffix = f".{self.output.form.removeprefix('.')}" if self.output.form else own
            name = default.name[: -len(own)]
            target = default.with_name(name + suffix)
            if self.to_stdout:
                target = self._temporary / f"stdout{suffix}"
            elif self.output.out_dir:
                target = self.output.out_dir / f"{name.removesuffix(f'-{self.output.word}')}{suffix}"
        return target

    def target(self, path: Path) -> Path:
        """Where the answer to a file goes, if it can be written there."""
        target = self._place(path)
        check_target(target)
        check_free(target, self.inputs, self.force)
        self.output.in_motion(target)
        return target

    def _check_preview(self, preview: Path) -> None:
        if preview.suffix.lower() != ".png":
            raise UserError(f"{preview}: the preview is a PNG, its name must end in .png")
        check_target(preview)
        check_free(preview, self.inputs, self.force)

    def run(self, task_of: Callable[[Path], Task], engine: Map | None = None) -> None:
        """Heal, complete or redraw the drawings of all files; an answer is written when it is complete."""
        answers: deque[Answer] = deque()

        def items() -> Iterator[Item]:
            for path in self.files:
                answers.append(self._begin(path, task_of(path)))
                yield from answers[-1].items

        draw = Drawer(self.model) if engine else self._draw
        for drawn in (engine or local_map)(draw, items()):
            answers[0].drawn.append(drawn)
            if len(answers[0].drawn) == len(answers[0].items):
                answer = answers.popleft()
                answer.finish([one for part in answer.drawn for one in part])

    def _draw(self, item: Item) -> list[Any]:
        """In this process; the model is loaded for the first drawing that needs it."""
        return item.draw(lambda: self.model)

    def _begin(self, path: Path, task: Task) -> Answer:
        """Read a file, and say what must be drawn for it."""
        target = self.target(path)
        if is_document(path, target) and not self.output.in_motion(target) and not self._is_shared:
            return self._begin_document(path, target, task)
        records = read_drawings([path], self.limit, self.output.quiet)
        sketches = [sketch for _, sketch in records]
        self._check_count(target, len(records) * task.samples, [split for split, _ in records])
        requests = self._requests(path, sketches, task)
        sketches = visible_of(path, task.lost or Region(), records)
        items = [SketchesItem(sketches[part], requests[part], task.samples) for part in parts_of(sketches)]

        def finish(healed: list[list[Healed]]) -> None:
            self._finish_sketches(path, target, records, healed, unchanged=not any(requests))

        return Answer(items, finish)

    def _finish_sketches(
        self, path: Path, target: Path, records: list[Record], healed: list[list[Healed]], unchanged: bool
    ) -> None:
        self.read += len(records)
        every = [one for own in healed for one in own]
        if kept := [one for one in every if one.visible is not None]:
            self._note_unchanged(path, [] if unchanged else [one.new is None for one in kept])
        if self.output.in_motion(target):
            self._animate(target, [MotionCell(one.new, one.visible) for one in every])
            return
        same_format = path.name.lower().endswith(suffix_of(target, writable_suffixes()))
        if unchanged and same_format and len(every) == len(records) < self.limit and not self._is_shared:
            self._copy(path, target, len(records))
            return
        splits = [split for (split, _), own in zip(records, healed, strict=True) for _ in own]
        self._write(target, [Record(split, one.whole) for split, one in zip(splits, every, strict=True)])

    def redraw_many(self, options: dict[str, Any], samples: int, jobs: int | None, engine: Map | None = None) -> None:
        """All drawings that go into one file at once, shared among processes or by an engine."""
        groups = [[path] for path in self.files] if self.output.out_dir else [self.files]
        for files in filter(None, groups):
            self._redraw_group(files, options | {"samples": samples}, jobs, engine)

    def _redraw_group(self, files: list[Path], options: dict[str, Any], jobs: int | None, engine: Map | None) -> None:
        from gra2seq.healing.parallel import ParallelHealer, jobs_for
        from gra2seq.training.progress import counting

        target, samples = self.target(files[0]), int(options["samples"])
        records = read_drawings(files, self.limit, self.output.quiet)
        sketches = [sketch for _, sketch in records]
        self._check_count(target, len(sketches) * samples, [split for split, _ in records])
        jobs = jobs or (jobs_for(len(sketches) * samples) if self.source.device == "cpu" else 1)
        healer = ParallelHealer(self.source, sketches, 1 if engine else jobs, **options)
        with healer, nullcontext(_no_count) if self.output.quiet else counting(messages.console) as count:
            if engine:
                healed = list[Sketch]()
                items = [RedrawItem(sketches[part], options) for part in parts_of(sketches)]
                for drawn in engine(Drawer(self.model), items):
                    healed += drawn
                    count("drawings", len(healed), len(sketches) * samples)
            else:
                healed = healer.heal(self.model, lambda done, total: count("drawings", done, total))
        self.read += len(records)
        if self.output.in_motion(target):
            self._animate(target, [MotionCell(one) for one in healed])
            return
        self._write(target, [Record(records[n // samples].split, one) for n, one in enumerate(healed)])

    def _begin_document(self, path: Path, target: Path, task: Task) -> Answer:
        """An SVG stays the user's document; without damage it is copied byte for byte."""
        for one in document_paths(target, task.samples):
            check_free(one, self.inputs, self.force)
        if self.to_stdout and task.samples > 1:
            raise UserError("standard output takes one SVG: ask for one sample, or name a file with -o")
        document = SvgDocument.read(path)
        for text in document.notes:
            note(self.output.quiet, f"{path.name}: {text}")
        (request,) = self._requests(path, [document.sketch], task, document.uncut)

        def finish(healed: list[SvgDocument]) -> None:
            if request and request.keeps_lines:
                before = document.text().count(HEALED)
                self._note_unchanged(path, [one.text().count(HEALED) == before for one in healed])
            self.written += write_documents(target, healed)
            self.drawn, self.read = self.drawn + len(healed), self.read + 1

        return Answer([DocumentItem(document, request, task.samples)], finish)

    def _note_unchanged(self, path: Path, unchanged: Sequence[bool]) -> None:
        """Say so where the model has added no line to what is visible."""
        if any(unchanged):
            which = "" if all(unchanged) else f" to {sum(unchanged)} of {len(unchanged)}"
            note(self.output.quiet, f"{path.name}: the model added no line{which}: it takes the drawing for finished")

    def _requests(
        self, path: Path, sketches: Sequence[Sketch], task: Task, uncut: Collection[int] = ()
    ) -> list[HealRequest | None]:
        """How each drawing is healed; None where detection finds no damage. Notes say what was found."""
        regions: list[Region | None] = [task.lost] * len(sketches)
        if task.lost is None:
            regions = self._detected(path, sketches)
        requests: list[HealRequest | None] = []
        for sketch, region in zip(sketches, regions, strict=True):
            if region is None:
                requests.append(None)
                continue
            drawing = self.model.changed_drawing(None, task.options)
            request = HealRequest(region, task.frame, task.end_missing, task.samples, drawing, task.curves)
            try:
                text = check_visible(sketch, request, uncut if request.keeps_lines else ())
            except UserError as error:
                raise UserError(f"{path.name}: {error}") from error
            if text and task.lost:
                note(self.output.quiet, f"{path.name}: {text}")
            requests.append(request)
        return requests

    def _detected(self, path: Path, sketches: Sequence[Sketch]) -> list[Region | None]:
        """The damaged region of each drawing, None where none is detected."""
        regions = [find_damage(sketch) for sketch in sketches]
        for number, region in enumerate(regions):
            name = path.name if len(regions) == 1 else f"{path.name}, drawing {number + 1}"
            if region is None:
                self.found.append(None)
                note(self.output.quiet, f"{name}: no damage was found, the drawing stays as it is (--hole says where)")
                continue
            left, top, right, bottom = region.bounds
            box = [left, top, right - left, bottom - top]
            self.found.append(box)
            where = ",".join(f"{value:.4g}" for value in box)
            note(self.output.quiet, f"{name}: damage was found at {where} (x,y,width,height)")
        self._previews += zip(sketches, regions, strict=True)
        return regions

    def _check_count(self, target: Path, count: int, splits: Sequence[str]) -> None:
        """Raise UserError if this many drawings cannot be written there; before the model is loaded."""
        if self.output.in_motion(target):
            check_motion(target, count, self.output.seconds)
        elif self.to_stdout and count > 1 and target.suffix == ".svg":
            raise UserError(ONE_SVG)
        else:
            check_target(target, count, splits)

    def _animate(self, target: Path, cells: Sequence[MotionCell]) -> None:
        self.drawn += len(cells)
        if self._is_shared:
            self._cells += cells
        else:
            self.written += write_motion(target, cells, self.output.seconds)

    def _copy(self, path: Path, target: Path, count: int) -> None:
        """Nothing is damaged: the answer is the input, byte for byte."""
        self.drawn += count
        with atomic_write(target) as temporary:
            shutil.copyfile(path, temporary)
        self.written.append(target)

    def _write(self, target: Path, records: Sequence[Record]) -> None:
        self.drawn += len(records)
        if self._is_shared:
            self._records += records
        else:
            self.written += write(target, records)

    def _finish(self) -> None:
        """Write what several files share, and answer."""
        target = self.target(self.files[0]) if self._cells or self._records else None
        if target and self._cells:
            self.written += write_motion(target, self._cells, self.output.seconds)
        elif target:
            self.written += write(target, self._records)
        if self.output.preview and self._previews:
            write_png(self.output.preview, region_sheet(self._previews))
        if self.to_stdout:
            if len(self.written) != 1:
                raise UserError(ONE_SVG)
            send_to_stdout(self.written[0])
            return
        answer: dict[str, Any] = {"sketches": self.read, "drawn": self.drawn, "files": list(map(str, self.written))}
        if self.found:
            answer["found"] = self.found
        words = (
            f"{are(self.drawn, 'drawing')} in {listed(self.written)}" if self.written else "nothing was left to draw"
        )
        if self.output.as_json or not self.output.quiet:
            reply(self.output.as_json, answer, words)


def _no_count(_what: str, _done: int, _total: int) -> None:
    """Show no progress."""
