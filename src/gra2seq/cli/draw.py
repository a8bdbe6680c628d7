"""Commands that draw with a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gra2seq.cli.common import (
    AsJson,
    Files,
    Keep,
    Limit,
    ModelFolder,
    Out,
    Seed,
    Steer,
    Temperature,
    Tries,
    Well,
    app,
    read_drawings,
    reply,
    say,
    sources,
)
from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.sketch.canvas import Canvas
    from gra2seq.sketch.masking import Hole
    from gra2seq.sketch.strokes import Sketch

Jobs = Annotated[
    int | None, typer.Option(min=1, help="Draw in so many processes. Default: more than one for many drawings.")
]


@app.command()
def redraw(
    files: Files,
    out: Out = None,
    model: ModelFolder = None,
    temperature: Temperature = 0.24,
    tries: Tries = None,
    well: Well = None,
    steer: Steer = None,
    seed: Seed = 0,
    limit: Limit = 1000,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Draw sketches again from their codes."""
    target = out or _answer(files, "redrawn")
    how: dict[str, Any] = {"temperature": temperature, "tries": tries, "well": well, "steer": steer, "seed": seed}
    _draw_again(files, model, target, limit, jobs, as_json, **how)


@app.command()
def heal(
    files: Files,
    out: Out = None,
    model: ModelFolder = None,
    mask_prob: Annotated[float, typer.Option(help="Probability that a patch is wiped before healing.")] = 0.0,
    hole: Annotated[
        list[str] | None, typer.Option(help="Rub out x,y,width,height (drawing's units); repeatable.")
    ] = None,
    keep: Keep = None,
    samples: Annotated[int, typer.Option(min=1, help="Healed versions of each sketch.")] = 1,
    temperature: Temperature = 0.24,
    tries: Tries = None,
    well: Well = None,
    steer: Steer = None,
    seed: Seed = 0,
    limit: Limit = 1000,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Draw damaged sketches whole again: every line anew, or with --keep only what is missing.

    With --mask-prob or --hole the damage is done first.
    """
    holes = [_hole(text) for text in hole or []]
    target = out or _answer(files, "healed")
    _draw_again(
        files,
        model,
        target,
        limit,
        jobs,
        as_json,
        mask_prob=mask_prob,
        holes=holes,
        keep=keep,
        samples=samples,
        temperature=temperature,
        tries=tries,
        well=well,
        steer=steer,
        seed=seed,
    )


@app.command()
def graph(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", help=".png, .svg or .pdf")],
    model: ModelFolder = None,
    links: Annotated[
        list[str] | None,
        typer.Option(help="synonymous, temporal, spatial, random, synonymous-4; repeatable. Default: the first three."),
    ] = None,
    limit: Limit = 6,
    as_json: AsJson = False,
) -> None:
    """A picture of sketches with their patches and links, by any proximity."""
    from gra2seq.folder import load
    from gra2seq.evaluation.figures import draw_links

    sketches = [sketch for _, sketch in read_drawings(files, limit)]
    draw_links(load(model), sketches, tuple(links or ("temporal", "spatial", "synonymous")), out)
    reply(as_json, {"sketches": len(sketches), "out": str(out)}, f"The picture is in {out}")


@app.command()
def figures(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or shipped.")],
    source: Annotated[list[str] | None, typer.Option("--data", help="Files, a folder or a store of drawings.")] = None,
    name: Annotated[str | None, typer.Option("--set", help="A named set of the data: DS1-small, OPEN8, …")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the figures.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", help="png, svg or pdf")] = "png",
    count: Annotated[int, typer.Option(min=3, help="Test sketches behind the map and the clusters.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Links, masks, healed sketches, clusters and a map of the codes, as one would put into a paper."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.folder import load
    from gra2seq.evaluation.figures import draw_all

    written = draw_all(load(run), open_dataset(sources(source), name=name), out, form, count)
    answer = {"figures": [str(path) for path in written]}
    reply(as_json, answer, f"{len(written)} figures are in {out}")


def _draw_again(
    files: list[Path],
    model: Path | None,
    out: Path,
    limit: int,
    jobs: int | None,
    as_json: bool,
    *,
    holes: Sequence[Hole] = (),
    samples: int = 1,
    **how: Any,
) -> None:
    """`how` are further arguments of `Model.heal`."""
    from gra2seq.formats.files import check_target, write
    from gra2seq.formats.record import Record
    from gra2seq.shares import Shares, jobs_for
    from gra2seq.training.progress import counting

    check_target(out)  # before the work, not after it
    records = read_drawings(files, limit)
    check_target(out, len(records) * samples, [split for split, _ in records])
    sketches = [sketch for _, sketch in records]
    jobs = jobs or jobs_for(len(sketches) * samples)
    with Shares(model, sketches, jobs, holes=holes, samples=samples, **how) as shares:
        from gra2seq.folder import load  # and with it torch: now that the other processes are on their way

        drawer = load(model)
        _look_at_holes(sketches, drawer.recipe.canvas, holes)
        with counting(say) as progress:
            healed = shares.heal(drawer, lambda done, total: progress("drawings", done, total))
    written = write(out, [Record(records[number // samples].split, sketch) for number, sketch in enumerate(healed)])
    answer = {"sketches": len(sketches), "drawn": len(healed), "files": [str(path) for path in written]}
    reply(as_json, answer, f"{len(healed)} drawings are in {', '.join(map(str, written[:3]))}")


def _look_at_holes(sketches: list[Sketch], canvas: Canvas, holes: Sequence[Hole]) -> None:
    """A hole beside the drawing, or over all of it, is most likely in other units than the drawing."""
    from gra2seq.sketch.canvas import draw
    from gra2seq.sketch.masking import damage, wiped

    if not holes:
        return
    left = [(draw(lost.walk).sum(), wiped(lost).sum()) for lost in (damage(s, canvas, holes=holes) for s in sketches)]
    gone, whole = sum(after == 0 for _, after in left), sum(after == before for before, after in left)
    x, y, width, height = sketches[0].box
    where = f"the {'first ' if len(sketches) > 1 else ''}drawing lies at {x:g},{y:g},{width:g},{height:g}"
    if gone == len(sketches):
        raise UserError(f"--hole leaves nothing to heal from: {where}")
    for count, what in ((gone, "leaves nothing to heal from"), (whole, "touches no line")):
        if count:
            say.print(f"--hole {what} in {count} of {len(sketches)} drawings ({where})")


def _answer(files: list[Path], word: str) -> Path:
    from gra2seq.formats.files import beside

    if len(files) > 1:
        raise UserError("several files become one: say which with -o FILE")
    return beside(files[0], word)


def _hole(text: str) -> Hole:
    try:
        x, y, width, height = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--hole {text!r} must be four numbers x,y,width,height, e.g. 10,20,60,60") from None
    return x, y, width, height
