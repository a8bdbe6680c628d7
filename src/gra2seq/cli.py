"""The command line: arguments -> one call. What a user did wrong is one line and exit code 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.sketch.masking import Hole
    from gra2seq.sketch.strokes import Sketch

app = typer.Typer(
    help="Sketches as graphs of patches: train, redraw, heal, look at links.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
data = typer.Typer(help="Look at drawings, convert them, fetch the paper's data sets.", no_args_is_help=True)
app.add_typer(data, name="data")
say = Console(stderr=True, highlight=False, soft_wrap=True)

Files = Annotated[list[Path], typer.Argument(help="Drawings: .ndjson[.gz], .npz, .svg, .json")]
ModelFolder = Annotated[Path, typer.Option("--model", "-m", help="Folder of a run or of weights.")]
Temperature = Annotated[float, typer.Option(help="0 draws the likeliest line, 1 the full variety.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed draws the same sketch.")]
Out = Annotated[Path, typer.Option("--out", "-o", help=".svg, .png, .ndjson, .json or .npz")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
Limit = Annotated[int, typer.Option(min=1, help="Take at most so many sketches of all files.")]


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …, e.g. run=runs/mine max_steps=1000")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run in run=… stopped.")] = False,
    devices: Annotated[int | None, typer.Option(min=1, help="Processes (on the CPU) or GPUs.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train a model."""
    from gra2seq.options import read_options
    from gra2seq.training.loop import train as run_training
    from gra2seq.training.progress import show

    more = [f"devices={devices}"] if devices is not None else []
    options = read_options(config, [*(changes or []), *more])
    with show(say, options) as watch:
        run = run_training(options, resume=resume, watch=watch)
    _answer(as_json, {"run": str(run)}, f"The model is in {run}")


@app.command()
def redraw(
    files: Files,
    model: ModelFolder,
    out: Out,
    temperature: Temperature = 0.24,
    seed: Seed = 0,
    limit: Limit = 1000,
    as_json: AsJson = False,
) -> None:
    """Draw sketches again from their codes."""
    _draw_again(files, model, out, 0.0, [], 1, temperature, seed, limit, as_json)


@app.command()
def heal(
    files: Files,
    model: ModelFolder,
    out: Out,
    mask_prob: Annotated[float, typer.Option(help="Probability that a patch is wiped before healing.")] = 0.0,
    hole: Annotated[
        list[str] | None, typer.Option(help="Rub out x,y,width,height (drawing's units); repeatable.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Healed versions of each sketch.")] = 1,
    temperature: Temperature = 0.24,
    seed: Seed = 0,
    limit: Limit = 1000,
    as_json: AsJson = False,
) -> None:
    """Draw damaged sketches whole again. With --mask-prob or --hole the damage is done first."""
    holes = [_hole(text) for text in hole or []]
    _draw_again(files, model, out, mask_prob, holes, samples, temperature, seed, limit, as_json)


@app.command()
def graph(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", help=".png, .svg or .pdf")],
    model: ModelFolder,
    links: Annotated[
        list[str] | None,
        typer.Option(help="synonymous, temporal, spatial, random; repeatable. Default: the first three."),
    ] = None,
    limit: Limit = 6,
    as_json: AsJson = False,
) -> None:
    """A picture of sketches with their patches and links, by any proximity."""
    from gra2seq.judging.figures import draw_links
    from gra2seq.model import load

    sketches = _read(files, limit)
    draw_links(load(model), sketches, tuple(links or ("temporal", "spatial", "synonymous")), out)
    _answer(as_json, {"sketches": len(sketches), "out": str(out)}, f"The picture is in {out}")


@app.command()
def bench(
    only: Annotated[
        list[str] | None, typer.Option(help="One part: encoder, preparation, training, drawing, growth.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--data", help="Files or store; else real drawings if found, or doodles.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure this machine: how fast each part is, and how far from the matrix-product peak."""
    from gra2seq.bench import measure

    figures = measure(source, only=tuple(only or ()), say=say.print)
    print(json.dumps(figures) if as_json else json.dumps(figures, indent=2))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this installation has, and whether the main parts work."""
    from gra2seq.doctor import examine

    findings = examine()
    if as_json:
        print(json.dumps(findings))
    else:
        for name, value in findings.items():
            say.print(f"{name:>22}  {value}")
    if not findings["healthy"]:
        raise typer.Exit(1)


@data.command()
def info(
    files: Annotated[list[Path], typer.Argument(help="Drawing files or stores.")],
    sheet: Annotated[Path | None, typer.Option(help="Write a contact sheet (PNG).")] = None,
    labels: Annotated[bool, typer.Option(help="The third list of a stroke is its part label.")] = False,
    as_json: AsJson = False,
) -> None:
    """Counts, lengths and a contact sheet of drawings."""
    from gra2seq.data.info import describe, in_words

    found = describe(files, contact_sheet=sheet, labels=labels)
    print(json.dumps(found) if as_json else in_words(found))


@data.command()
def convert(
    files: Annotated[list[Path], typer.Argument(help="Drawing files or stores.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A file of another format, or NAME.store")],
    simplify: Annotated[bool | None, typer.Option(help="QuickDraw's simplification; SVG always has it.")] = None,
    labels: Annotated[bool, typer.Option(help="The third list of a stroke is its part label.")] = False,
    as_json: AsJson = False,
) -> None:
    """Between all formats, and into the memory-mapped store."""
    from gra2seq.data.info import convert as run_conversion

    count = run_conversion(files, out, simplify=simplify, labels=labels)
    _answer(as_json, {"sketches": count, "out": str(out)}, f"{count} sketches are in {out}")


@data.command()
def download(
    names: Annotated[list[str], typer.Argument(help="DS1, DS2, DS3 or categories.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where to.")] = Path("data"),
    base: Annotated[str | None, typer.Option(help="Another address than the official one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch sketch-rnn's .npz files of the paper's data sets (Google, CC BY 4.0); goes on where it was cut."""
    from gra2seq.data.download import OFFICIAL_BASE
    from gra2seq.data.download import download as fetch
    from gra2seq.training.progress import bytes_bar

    with bytes_bar(say) as progress:
        paths = fetch(names, folder, base=base or OFFICIAL_BASE, progress=progress)
    _answer(as_json, {"files": [str(path) for path in paths]}, f"{len(paths)} files are in {folder}")


def _draw_again(
    files: list[Path],
    model: Path,
    out: Path,
    mask_prob: float,
    holes: list[Hole],
    samples: int,
    temperature: float,
    seed: int,
    limit: int,
    as_json: bool,
) -> None:
    from gra2seq.model import load
    from gra2seq.sketch.files import check_target, write

    check_target(out)  # before the work, not after it
    sketches = _read(files, limit)
    healed = load(model).heal(
        sketches, mask_prob=mask_prob, holes=holes, samples=samples, temperature=temperature, seed=seed
    )
    written = write(out, [("", sketch) for sketch in healed])
    answer = {"sketches": len(sketches), "drawn": len(healed), "files": [str(path) for path in written]}
    _answer(as_json, answer, f"{len(healed)} drawings are in {', '.join(map(str, written[:3]))}")


def _read(paths: list[Path], limit: int) -> list[Sketch]:
    from gra2seq.sketch.files import read

    sketches: list[Sketch] = []
    for path in paths:
        for _, sketch in read(path):
            if len(sketches) == limit:
                say.print(f"only the first {limit} sketches are taken: raise --limit for more")
                return sketches
            sketches.append(sketch)
    if not sketches:
        raise UserError(f"there is no sketch in {', '.join(map(str, paths))}")
    return sketches


def _hole(text: str) -> Hole:
    try:
        x, y, width, height = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--hole {text!r} must be four numbers x,y,width,height, e.g. 10,20,60,60") from None
    return x, y, width, height


def _answer(as_json: bool, value: dict[str, Any], words: str) -> None:
    if as_json:
        print(json.dumps(value))
    else:
        say.print(words)


def main() -> None:
    """Entry point: errors a user can mend are one line and exit code 2; a Ctrl-C is 130."""
    try:
        app()
    except UserError as error:
        say.print(f"gra2seq: {error}", style="red", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        say.print("stopped; `--resume` goes on from the last checkpoint of a training")
        sys.exit(130)


if __name__ == "__main__":
    main()
