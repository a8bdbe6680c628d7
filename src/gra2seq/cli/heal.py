"""Commands that draw with a model: heal, redraw, complete, morph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gra2seq.cli.common import (
    Address,
    Animate,
    AsJson,
    BestOf,
    Candidates,
    Device,
    EngineName,
    Files,
    Force,
    Form,
    Frame,
    GoodEnough,
    Hole,
    Limit,
    ModelFolder,
    Out,
    OutDir,
    Polyline,
    Precision,
    Quiet,
    Samples,
    Seconds,
    Seed,
    Temperature,
    app,
    box_of,
    boxes_of,
    check_engine,
    read_drawings,
    reply,
)
from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.healing.ray_map import RayMap
    from gra2seq.sketch.region import Region

Jobs = Annotated[
    int | None, typer.Option(min=1, help="Draw in this many processes. Default: more than one for many drawings.")
]
ERASE = "Lost region: .svg shapes in the drawing's units, or a .png mask of the page (without a page: of --frame)."
Resume = Annotated[bool, typer.Option("--resume", help="Leave out files that are answered already.")]


@app.command()
def heal(
    files: Files,
    out: Out = None,
    out_dir: OutDir = None,
    form: Form = None,
    hole: Hole = None,
    erase: Annotated[Path | None, typer.Option(help=ERASE)] = None,
    end_missing: Annotated[bool, typer.Option("--missing-end", help="The end of the drawing is missing.")] = False,
    preview: Annotated[Path | None, typer.Option(help="A .png that shows the detected damage.")] = None,
    frame: Frame = None,
    mask_prob: Annotated[
        float, typer.Option(help="Hide patches with this probability first, as the paper does.")
    ] = 0.0,
    keep_lines: Annotated[bool, typer.Option("--keep-lines/--no-keep-lines", help="Your lines stay, or not.")] = True,
    samples: Samples = 1,
    model: ModelFolder = None,
    device: Device = "cpu",
    precision: Precision = "32-true",
    temperature: Temperature = None,
    best_of: BestOf = None,
    good_enough: GoodEnough = None,
    candidates: Candidates = None,
    infill: Annotated[int, typer.Option(min=0, help="Samples of the lost region; the best are kept.")] = 96,
    seed: Seed = 0,
    polyline: Polyline = False,
    animate: Animate = False,
    seconds: Seconds = None,
    force: Force = False,
    resume: Resume = False,
    limit: Limit = 1000,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw what is missing of damaged drawings; your own lines stay.

    Without --hole, --erase or --missing-end the damage is detected; a drawing without any stays as it is.
    """
    from gra2seq.cli.jobs import Job
    from gra2seq.cli.tasks import Output, Task
    from gra2seq.healing.model_source import ModelSource

    options = {"temperature": temperature, "best_of": best_of, "good_enough": good_enough, "candidates": candidates}
    options |= {"seed": seed, "keep_lines": keep_lines, "infill": infill if keep_lines and not mask_prob else 0}
    engine_map, detect = _ray_map(engine, address, jobs, device), not (hole or erase or end_missing or mask_prob)
    if preview and not detect:
        raise UserError("--preview shows detected damage: leave out --hole, --erase, --missing-end and --mask-prob")
    if mask_prob and (hole or erase or end_missing or frame):
        raise UserError("--mask-prob says what is lost: leave out --hole, --erase, --missing-end and --frame")
    output = Output("healed", out, out_dir, form, force, animate or bool(seconds), seconds, quiet, as_json, preview)
    with Job(files, output, ModelSource(model, device, precision), limit, samples if resume else 0) as job:
        if mask_prob:
            job.redraw_many(options | {"mask_prob": mask_prob}, samples, jobs, engine_map)
            return
        rest = (box_of(frame, "--frame"), end_missing, samples, not polyline)
        job.run(lambda path: Task(options, None if detect else _lost(path, hole, erase, frame), *rest), engine_map)


@app.command()
def redraw(
    files: Files,
    out: Out = None,
    out_dir: OutDir = None,
    form: Form = None,
    hole: Hole = None,
    frame: Frame = None,
    samples: Samples = 1,
    model: ModelFolder = None,
    device: Device = "cpu",
    precision: Precision = "32-true",
    temperature: Temperature = None,
    best_of: BestOf = None,
    good_enough: GoodEnough = None,
    candidates: Candidates = None,
    seed: Seed = 0,
    polyline: Polyline = False,
    animate: Animate = False,
    seconds: Seconds = None,
    force: Force = False,
    resume: Resume = False,
    limit: Limit = 1000,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw sketches again from their codes, every line anew; what lies in a hole is not looked at."""
    from gra2seq.cli.jobs import Job
    from gra2seq.cli.tasks import Output, Task
    from gra2seq.healing.model_source import ModelSource

    options = {"temperature": temperature, "best_of": best_of, "good_enough": good_enough, "candidates": candidates}
    options |= {"seed": seed, "keep_lines": False, "infill": 0}
    engine_map = _ray_map(engine, address, jobs, device)
    output = Output("redrawn", out, out_dir, form, force, animate or bool(seconds), seconds, quiet, as_json)
    with Job(files, output, ModelSource(model, device, precision), limit, samples if resume else 0) as job:
        if out_dir or hole or frame or all(path.suffix.lower() == ".svg" for path in job.files):
            task = Task(options, _boxes(hole), box_of(frame, "--frame"), samples=samples, curves=not polyline)
            job.run(lambda _: task, engine=engine_map)
        else:
            job.redraw_many(options | {"holes": ()}, samples, jobs, engine_map)


@app.command()
def complete(
    files: Files,
    out: Out = None,
    out_dir: OutDir = None,
    form: Form = None,
    frame: Frame = None,
    samples: Samples = 1,
    model: ModelFolder = None,
    device: Device = "cpu",
    precision: Precision = "32-true",
    temperature: Temperature = None,
    seed: Seed = 0,
    polyline: Polyline = False,
    animate: Animate = False,
    seconds: Seconds = None,
    force: Force = False,
    resume: Resume = False,
    limit: Limit = 1000,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Finish drawings that were begun; your own lines stay."""
    from gra2seq.cli.jobs import Job
    from gra2seq.cli.tasks import Output, Task
    from gra2seq.healing.model_source import ModelSource

    options = {"temperature": temperature, "seed": seed, "keep_lines": True, "infill": samples}
    task = Task(options, frame=box_of(frame, "--frame"), end_missing=True, samples=samples, curves=not polyline)
    output = Output("completed", out, out_dir, form, force, animate or bool(seconds), seconds, quiet, as_json)
    with Job(files, output, ModelSource(model, device, precision), limit, samples if resume else 0) as job:
        job.run(lambda _: task)


@app.command()
def morph(
    first: Annotated[Path, typer.Argument(help="A drawing.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help=".svg or .gif: a film; .png: a sheet; or .ndjson, .json, .npz")
    ],
    steps: Annotated[int, typer.Option(min=2, max=1000, help="Drawings on the way, with both ends.")] = 9,
    model: ModelFolder = None,
    device: Device = "cpu",
    precision: Precision = "32-true",
    temperature: Temperature = None,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw the way from one drawing to another, by blending codes."""
    from gra2seq.cli.answers import check_free
    from gra2seq.folder import load
    from gra2seq.formats.files import check_target, write
    from gra2seq.formats.frames import FILMS, write_film

    is_film = out.suffix.lower() in FILMS
    check_target(out.with_suffix(".svg") if is_film else out, 1 if is_film else steps)
    check_free(out, [first, second], force)
    (_, one), *_ = read_drawings([first], 1)
    (_, other), *_ = read_drawings([second], 1)
    drawn = load(model, device, precision=precision).morph(one, other, steps, temperature=temperature, seed=seed)
    written = write_film(out, drawn) if is_film else write(out, drawn)
    if as_json or not quiet:
        reply(as_json, {"drawn": len(drawn), "files": [str(path) for path in written]}, f"{len(drawn)} drawings: {out}")


def _ray_map(engine: str, address: str | None, jobs: int | None, device: str) -> RayMap | None:
    """Where drawings are made; None: in this process, or in several on this machine."""
    check_engine(engine, address, device)
    if engine == "local":
        return None
    from gra2seq.healing.ray_map import RayMap

    return RayMap(address, jobs)


def _boxes(holes: list[str] | None) -> Region:
    from gra2seq.sketch.region import Region

    return Region.of_boxes(boxes_of(holes))


def _lost(path: Path, holes: list[str] | None, erase: Path | None, frame: str | None) -> Region:
    lost = _boxes(holes)
    if erase is None:
        return lost
    from gra2seq.healing.documents import erased_region

    return lost | erased_region(erase, lambda: _page(path, frame))


def _page(path: Path, frame: str | None) -> tuple[float, float, float, float]:
    """What a mask picture covers: the page of an SVG, all of a picture, of other drawings the frame that is given."""
    if path.suffix.lower() == ".svg":
        from gra2seq.formats.svg.document import SvgDocument

        document = SvgDocument.read(path)
        return document.page or document.sketch.box
    from gra2seq.formats.files import is_traced

    if is_traced(path):
        from gra2seq.formats.raster import read_grey

        height, width = read_grey(path).grey.shape
        return 0.0, 0.0, width, height
    page = box_of(frame, "--frame")
    if page is None:
        raise UserError(
            f"{path} has no page that a mask picture could cover: give --frame x,y,width,height, the box of the whole "
            "drawing, which is then what the mask covers, or an .svg shape in the drawing's units"
        )
    return page
