"""Commands that draw with a model: heal, redraw, complete, morph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gra2seq.cli.common import (
    AsJson,
    BestOf,
    Candidates,
    Files,
    Force,
    Frame,
    GoodEnough,
    Limit,
    ModelFolder,
    Out,
    Polyline,
    Quiet,
    Samples,
    Seed,
    Temperature,
    app,
    box_of,
    note,
    read_drawings,
    reply,
    say,
)
from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.formats.svg.document import SvgDocument
    from gra2seq.healing.documents import HealRequest
    from gra2seq.model import Model
    from gra2seq.sketch.region import Region

Jobs = Annotated[
    int | None, typer.Option(min=1, help="Draw in so many processes. Default: more than one for many drawings.")
]
OutDir = Annotated[Path | None, typer.Option("--out-dir", help="Folder for the answers; names stay.")]


@app.command()
def heal(
    files: Files,
    out: Out = None,
    out_dir: OutDir = None,
    hole: Annotated[list[str] | None, typer.Option(help="Lost region x,y,width,height; repeatable.")] = None,
    erase: Annotated[Path | None, typer.Option(help="Lost region as a .svg shape, or a .png mask of the page.")] = None,
    end_missing: Annotated[bool, typer.Option("--missing-end", help="The end of the drawing is missing.")] = False,
    frame: Frame = None,
    mask_prob: Annotated[
        float, typer.Option(help="Hide patches with this probability first, as the paper does.")
    ] = 0.0,
    keep_lines: Annotated[bool, typer.Option("--keep-lines/--no-keep-lines", help="Your lines stay, or not.")] = True,
    samples: Samples = 1,
    model: ModelFolder = None,
    temperature: Temperature = None,
    best_of: BestOf = None,
    good_enough: GoodEnough = None,
    candidates: Candidates = None,
    infill: Annotated[int, typer.Option(min=0, help="Samples of the lost region; the best are kept.")] = 24,
    seed: Seed = 0,
    polyline: Polyline = False,
    force: Force = False,
    limit: Limit = 1000,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw what is missing of damaged drawings; your own lines stay."""
    options = {"temperature": temperature, "best_of": best_of, "good_enough": good_enough, "candidates": candidates}
    options |= {"seed": seed, "keep_lines": keep_lines, "infill": infill if keep_lines and not mask_prob else 0}
    if not (hole or erase or end_missing or mask_prob):
        raise UserError("say what is lost: --hole x,y,width,height, --erase MASK, --missing-end (or --mask-prob)")
    job = _Job(files, out, out_dir, "healed", model, force, limit, quiet, as_json)
    if mask_prob:
        job.sketches(options | {"mask_prob": mask_prob, "samples": samples}, jobs)
        return
    for path in files:
        lost = _lost_region(path, hole or [], erase)
        job.requests(path, options, lost, box_of(frame, "--frame"), end_missing, samples, not polyline)
    job.finish()


@app.command()
def redraw(
    files: Files,
    out: Out = None,
    out_dir: OutDir = None,
    samples: Samples = 1,
    model: ModelFolder = None,
    temperature: Temperature = None,
    best_of: BestOf = None,
    good_enough: GoodEnough = None,
    candidates: Candidates = None,
    seed: Seed = 0,
    polyline: Polyline = False,
    force: Force = False,
    limit: Limit = 1000,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw sketches again from their codes, every line anew."""
    from gra2seq.sketch.region import Region

    options = {"temperature": temperature, "best_of": best_of, "good_enough": good_enough, "candidates": candidates}
    options |= {"seed": seed, "keep_lines": False, "infill": 0}
    job = _Job(files, out, out_dir, "redrawn", model, force, limit, quiet, as_json)
    if all(path.suffix.lower() == ".svg" for path in files):
        for path in files:
            job.requests(path, options, Region(), None, False, samples, not polyline)
        job.finish()
    else:
        job.sketches(options | {"samples": samples}, jobs)


@app.command()
def complete(
    files: Files,
    out: Out = None,
    out_dir: OutDir = None,
    frame: Frame = None,
    samples: Samples = 1,
    model: ModelFolder = None,
    temperature: Temperature = None,
    seed: Seed = 0,
    polyline: Polyline = False,
    force: Force = False,
    limit: Limit = 1000,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Go on where the pen has stopped: finish drawings that were begun."""
    from gra2seq.sketch.region import Region

    options = {"temperature": temperature, "seed": seed, "keep_lines": True, "infill": samples}
    job = _Job(files, out, out_dir, "completed", model, force, limit, quiet, as_json)
    for path in files:
        job.requests(path, options, Region(), box_of(frame, "--frame"), True, samples, not polyline)
    job.finish()


@app.command()
def morph(
    first: Annotated[Path, typer.Argument(help="A drawing.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    out: Annotated[Path, typer.Option("--out", "-o", help=".svg, .png, .ndjson, .json or .npz")],
    steps: Annotated[int, typer.Option(min=2, max=1000, help="Drawings on the way, with both ends.")] = 9,
    model: ModelFolder = None,
    temperature: Temperature = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Drawings on the way from one to another: their codes are blended."""
    from gra2seq.folder import load
    from gra2seq.formats.files import check_target, write

    check_target(out, steps)
    _check_free(out, [first, second], force)
    (_, one), *_ = read_drawings([first], 1)
    (_, other), *_ = read_drawings([second], 1)
    drawn = load(model).morph(one, other, steps, temperature=temperature, seed=seed)
    written = write(out, drawn)
    reply(as_json, {"drawn": len(drawn), "files": [str(path) for path in written]}, f"{len(drawn)} drawings: {out}")


class _Job:
    """One command on some files: reads, draws, and writes each answer where it belongs."""

    def __init__(
        self,
        files: list[Path],
        out: Path | None,
        out_dir: Path | None,
        word: str,
        model: Path | None,
        force: bool,
        limit: int,
        quiet: bool,
        as_json: bool,
    ) -> None:
        if out and out_dir:
            raise UserError("give --out for one file, or --out-dir for many, not both")
        if len(files) > 1 and not out_dir and not out:
            raise UserError("several files become one with -o FILE, or stay apart with --out-dir FOLDER")
        self.files, self.out, self.out_dir, self.word = files, out, out_dir, word
        self.model_path, self.force, self.limit, self.quiet, self.as_json = model, force, limit, quiet, as_json
        self.written: list[Path] = []
        self.drawn = self.read = 0
        self._model: Model | None = None
        self.collected: list[Any] = []  # drawings of several files that go to one
        for path in files:
            self.target(path)  # before the work: an answer that cannot be written is an error now

    def target(self, path: Path) -> Path:
        """Where the answer to a file goes."""
        from gra2seq.formats.files import beside, check_target

        target = self.out_dir / path.name if self.out_dir else self.out or beside(path, self.word)
        check_target(target)
        _check_free(target, self.files, self.force)
        return target

    @property
    def model(self) -> Model:
        from gra2seq.folder import load

        self._model = self._model or load(self.model_path)
        return self._model

    def requests(
        self,
        path: Path,
        options: dict[str, Any],
        lost: Region,
        frame: tuple[float, float, float, float] | None,
        end_missing: bool,
        samples: int,
        curves: bool,
    ) -> None:
        """Heal or complete the drawings of one file."""
        from gra2seq.formats.files import check_target
        from gra2seq.healing.documents import HealRequest, check_visible

        target = self.target(path)
        document = path.suffix.lower() == ".svg" and target.suffix.lower() == ".svg"
        records = [] if document else read_drawings([path], self.limit)
        if not document:  # before the model is loaded
            check_target(target, len(records) * samples, [split for split, _ in records])
        request = HealRequest(lost, frame, end_missing, samples, self.model.changed_drawing(None, options), curves)
        if document:
            self._documents(path, target, request)
            return
        for text in check_visible([sketch for _, sketch in records], request):
            note(self.quiet, text)
        damages = [request.damage(sketch) for _, sketch in records]
        healed = self.model.heal_damages(damages, samples=samples, drawing=request.drawing)
        splits = [split for split, _ in records for _ in range(samples)]
        self._write(target, list(zip(splits, healed, strict=True)), len(records))

    def _documents(self, path: Path, target: Path, request: HealRequest) -> None:
        """An SVG stays the user's document."""
        from gra2seq.formats.svg.document import SvgDocument
        from gra2seq.healing.documents import check_visible, heal_document

        document = SvgDocument.read(path)
        for text in [*document.notes, *check_visible([document.sketch], request)]:
            note(self.quiet, f"{path.name}: {text}")
        healed = heal_document(self.model, document, request)
        self.written += write_documents(target, healed)
        self.drawn, self.read = self.drawn + len(healed), self.read + 1

    def sketches(self, options: dict[str, Any], jobs: int | None) -> None:
        """Many drawings at once, shared among processes."""
        from gra2seq.formats.files import check_target
        from gra2seq.healing.parallel import ParallelHealer, jobs_for
        from gra2seq.training.progress import counting

        target = self.target(self.files[0])
        records = read_drawings(self.files, self.limit)
        sketches = [sketch for _, sketch in records]
        samples = options.get("samples", 1)
        check_target(target, len(sketches) * samples, [split for split, _ in records])
        jobs = jobs or jobs_for(len(sketches) * samples)
        with ParallelHealer(self.model_path, sketches, jobs, **options) as healer, counting(say) as progress:
            healed = healer.heal(self.model, lambda done, total: progress("drawings", done, total))
        self._write(target, [(records[n // samples][0], one) for n, one in enumerate(healed)], len(records))
        self.finish()

    def _write(self, target: Path, records: Sequence[Any], read: int) -> None:
        self.drawn, self.read = self.drawn + len(records), self.read + read
        if self.out and len(self.files) > 1:
            self.collected += records
            return
        from gra2seq.formats.files import write
        from gra2seq.formats.record import Record

        self.written += write(target, [Record(*record) for record in records])

    def finish(self) -> None:
        """Write what several files share, and answer."""
        if self.collected and self.out:
            from gra2seq.formats.files import write
            from gra2seq.formats.record import Record

            self.written += write(self.out, [Record(*record) for record in self.collected])
        answer = {"sketches": self.read, "drawn": self.drawn, "files": [str(path) for path in self.written]}
        words = f"{self.drawn} drawings are in {', '.join(map(str, self.written[:3]))}"
        if self.as_json or not self.quiet:
            reply(self.as_json, answer, words)


def write_documents(target: Path, documents: Sequence[SvgDocument]) -> list[Path]:
    """One document under its name, several with numbers; each is written completely or not at all."""
    from gra2seq.system.atomic_files import atomic_write

    paths = [target]
    if len(documents) > 1:
        paths = [target.with_name(f"{target.stem}-{number}{target.suffix}") for number in range(1, len(documents) + 1)]
    for path, document in zip(paths, documents, strict=True):
        with atomic_write(path) as temporary:
            temporary.write_bytes(document.to_bytes())
    return paths


def _check_free(target: Path, inputs: Sequence[Path], force: bool) -> None:
    """Never overwrite an input, nor an existing file without --force."""
    if any(target.exists() and path.exists() and target.samefile(path) for path in inputs):
        raise UserError(f"{target} is an input: choose another name with -o")
    if target.exists() and not force:
        raise UserError(f"{target} is there already: choose another name with -o, or give --force")


def _lost_region(path: Path, holes: list[str], erase: Path | None) -> Region:
    from gra2seq.sketch.region import Region

    boxes = [box for text in holes if (box := box_of(text, "--hole"))]
    lost = Region.of_boxes(boxes)
    if erase is None:
        return lost
    from gra2seq.healing.documents import erased_region

    return lost | erased_region(erase, _page(path))


def _page(path: Path) -> tuple[float, float, float, float]:
    """The page of an SVG in its own units; the box of other drawings."""
    if path.suffix.lower() == ".svg":
        from gra2seq.formats.svg.document import SvgDocument

        return SvgDocument.read(path).page
    (_, sketch), *_ = read_drawings([path], 1)
    return sketch.box
