"""What the commands share: the application, arguments that mean the same everywhere, and how they answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gra2seq.cli.terminal import Messages
from gra2seq.errors import UserError
from gra2seq.system.input_files import MAX_BYTES_VARIABLE

if TYPE_CHECKING:
    from gra2seq.formats.record import Record
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.model import Model
    from gra2seq.sketch.damage import Drawable

app = typer.Typer(
    help="Sketches as graphs of patches: train, redraw, heal, look at links.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich would take longer to import than everything else
    add_completion=False,
)
data = typer.Typer(
    help="Look at drawings, convert them, fetch the paper's data sets.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(data, name="data")
messages = Messages()
ENGINES = ("local", "ray")

Files = Annotated[
    list[Path], typer.Argument(help="Drawings: .svg, .ndjson[.gz], .npz, .json, .png, .jpg, or - for standard input")
]
ModelFolder = Annotated[
    Path | None, typer.Option("--model", "-m", help="Folder of a run or of weights. Default: the model in the package.")
]
Device = Annotated[str, typer.Option(help="Where the model computes: cpu, cuda, cuda:1, mps.")]
Precision = Annotated[
    str, typer.Option(help="Of the encoder's products: 32-true, bf16-mixed or 16-mixed. Drawings are made in 32 bits.")
]
EngineName = Annotated[str, typer.Option("--engine", help="local, or ray: on a Ray cluster.")]
Address = Annotated[
    str | None, typer.Option(help="Of the Ray cluster, HOST:PORT or auto. Default: one on this machine.")
]
Temperature = Annotated[
    float | None, typer.Option(min=0, help="0 draws the likeliest line, 1 the full variety. Default: the model's.")
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed draws the same sketch.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help=".svg, .gif, .png, .ndjson, .json, .npz, or - (stdout). Default: beside the file, -healed or so.",
    ),
]
OutDir = Annotated[Path | None, typer.Option("--out-dir", help="Folder for the answers; names stay.")]
Form = Annotated[
    str | None,
    typer.Option("--format", help="Format of answers without a name of their own: svg, gif, png, ndjson, json, npz."),
]
Animate = Annotated[bool, typer.Option("--animate", help="An .svg in motion, drawn at a hand's pace, as a .gif is.")]
Seconds = Annotated[
    float | None, typer.Option(help="Time that an animation takes, without its pause. Default: a hand's pace.")
]
BestOf = Annotated[
    int | None,
    typer.Option(
        min=1, help="Draw each this many times, keep the one nearest to the visible ink. Default: the model's."
    ),
]
GoodEnough = Annotated[
    float | None,
    typer.Option(
        min=0, help="Keep a first drawing nearer than this share of the longer side at once. Default: the model's."
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(min=1, help="Compare this many pen moves with the visible ink at every step. Default: the model's."),
]
KeepLines = Annotated[
    bool | None,
    typer.Option(
        "--keep-lines/--redraw-lines",
        help="Keep the visible lines and draw only the lost region, or draw all anew. Default: the model's.",
    ),
]
Repair = Annotated[
    bool | None,
    typer.Option("--repair/--no-repair", help="Repair the codes of damaged drawings. Default: the model's."),
]
PredictInk = Annotated[
    bool | None,
    typer.Option(
        "--predict-ink/--no-predict-ink",
        help="Compare with the ink that the model predicts in the lost region. Default: the model's.",
    ),
]
Samples = Annotated[int, typer.Option(min=1, max=10_000, help="Different drawings of each sketch.")]
Frame = Annotated[
    str | None, typer.Option(help="Box of the whole drawing, x,y,width,height. Default: guessed from what is visible.")
]
Hole = Annotated[list[str] | None, typer.Option("--hole", help="Lost region x,y,width,height; repeatable.")]
Polyline = Annotated[bool, typer.Option("--polyline", help="New lines of an SVG as polylines, not smooth curves.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
RunFolder = Annotated[
    Path | None, typer.Argument(help="Folder of a run, or `package`; without it an untrained model is evaluated.")
]
Untrained = Annotated[
    bool, typer.Option("--untrained", help="Evaluate the run's model before its training: same options, fresh weights.")
]
Limit = Annotated[int, typer.Option(min=1, help="Take at most this many sketches of all files.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from gra2seq import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[  # noqa: ARG001 (its callback answers)
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    modules: Annotated[
        list[str] | None,
        typer.Option(help="Import a Python module that registers models, links or formats; repeatable."),
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(min=1, help="Read files up to this size, decompressed, that you trust. Default: 256 MB."),
    ] = None,
) -> None:
    """Sketches as graphs of patches: heal, complete, redraw, compare, train."""
    if max_bytes is not None:
        os.environ[MAX_BYTES_VARIABLE] = str(max_bytes)  # worker processes inherit it
    if modules:
        from gra2seq.config.extensions import import_modules

        import_modules(modules)


def check_engine(name: str, address: str | None, device: str) -> None:
    """Raise UserError unless the engine of a command can be used: before long work."""
    from gra2seq.errors import unknown_name

    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if name == "ray":
        from gra2seq.system.ray_pool import check_usable

        if device != "cpu":
            raise UserError("--engine ray computes on the cores of the cluster: leave out --device")
        check_usable(address)
    elif address is not None:
        raise UserError("--address belongs to --engine ray: give both")


def reply(as_json: bool, value: dict[str, Any], words: str) -> None:
    if as_json:
        print(json.dumps(value))
    else:
        messages.print(words)


def note(quiet: bool, text: str) -> None:
    """Print a note, unless --quiet."""
    if not quiet:
        messages.print(text)


def are(count: int, what: str) -> str:
    """1 drawing is, 1,234 drawings are, for a sentence."""
    return f"1 {what} is" if count == 1 else f"{count:,} {what}{'es' if what.endswith('ch') else 's'} are"


def box_of(text: str | None, option: str) -> tuple[float, float, float, float] | None:
    """x,y,width,height of the command line."""
    if text is None:
        return None
    try:
        x, y, width, height = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"{option} {text!r} must be four numbers x,y,width,height, e.g. 10,20,60,60") from None
    return x, y, width, height


def boxes_of(holes: list[str] | None) -> list[tuple[float, float, float, float]]:
    """Every --hole of the command line."""
    return [box for text in holes or () if (box := box_of(text, "--hole"))]


def sources(source: list[str] | None) -> str | list[str]:
    if not source:
        raise UserError("no drawings to evaluate on: give --data FILES, a folder, a store, or doodles:1000")
    return source[0] if len(source) == 1 else source


def read_drawings(paths: list[Path], limit: int, quiet: bool = False) -> list[Record]:
    """With their splits, in the units of their files, as holes are given and answers laid over them."""
    from gra2seq.data.info import records_of

    records: list[Record] = []
    for path in paths:
        for record in records_of(path):
            if len(records) == limit:
                note(quiet, f"only the first {are(limit, 'sketch')} taken: raise --limit for more")
                return records
            records.append(record)
    if not records:
        raise UserError(f"there is no sketch in {', '.join(map(str, paths))}")
    return records


def read_damages(paths: list[Path], limit: int, holes: list[str] | None, frame: str | None) -> list[Drawable]:
    """Drawings of which the holes are lost: what lies in them has no part in how the files are read."""
    from gra2seq.healing.documents import visible_of
    from gra2seq.sketch.damage import lose
    from gra2seq.sketch.region import Region

    lost, box = Region.of_boxes(boxes_of(holes)), box_of(frame, "--frame")
    if not lost and box is None:
        return [sketch for _, sketch in read_drawings(paths, limit)]
    sketches = [sketch for path in paths for sketch in visible_of(path, lost, read_drawings([path], limit))]
    return [lose(sketch, lost, box) for sketch in sketches[:limit]]


def model_or_fresh(source: ModelSource, preset: str, seed: int, scale: float, fresh: bool = False) -> tuple[Model, str]:
    """The model of a run, or with `fresh` what its training started from; without a run one of the preset and seed."""
    from gra2seq.config import parse_config
    from gra2seq.folder import check_device, untrained
    from gra2seq.nn.precision import check_precision

    if source.path is not None:
        model = source.load()
        name = model.config.model.name
        if fresh:
            model = untrained(model.config, model.preparation.scale, model.categories).to(source.device)
            model.network.precision = source.precision
        return model, f"{name} (untrained)" if fresh else name
    config = parse_config({"preset": preset, "seed": seed})
    check_device(source.device)
    check_precision(source.precision)
    model = untrained(config, scale).to(source.device)
    model.network.precision = source.precision
    return model, f"{config.model.name} (untrained {preset}, seed {seed})"
