"""What the commands share: the application, arguments that mean the same everywhere, and how they answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gra2seq.cli.terminal import Messages
from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.formats.record import Record
    from gra2seq.model import Model

app = typer.Typer(
    help="Sketches as graphs of patches: train, redraw, heal, look at links.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
data = typer.Typer(help="Look at drawings, convert them, fetch the paper's data sets.", no_args_is_help=True)
app.add_typer(data, name="data")
say = Messages(stderr=True, highlight=False, soft_wrap=True, markup=False)  # a file's name may hold brackets

Files = Annotated[list[Path], typer.Argument(help="Drawings: .ndjson[.gz], .npz, .svg, .json")]
ModelFolder = Annotated[
    Path | None, typer.Option("--model", "-m", help="Folder of a run or of weights. Default: the model in the package.")
]
Temperature = Annotated[float, typer.Option(help="0 draws the likeliest line and pen, 1 the full variety.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed draws the same sketch.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help=".svg, .png, .ndjson, .json or .npz. Default: beside the file, -healed or so."),
]
Tries = Annotated[
    int | None,
    typer.Option(min=1, help="Draw each so often, keep the one that lies best on what is left. Default: the model's."),
]
Well = Annotated[
    float | None,
    typer.Option(
        min=0, help="Keep a first drawing that lies nearer than this share of the longer side. Default: the model's."
    ),
]
Steer = Annotated[
    int | None,
    typer.Option(
        min=1, help="A pen that sees what is left makes the best of so many moves; 1: blind. Default: the model's."
    ),
]
Keep = Annotated[
    bool | None,
    typer.Option(
        "--keep/--anew",
        help="Keep the lines that are left, draw only what is missing; or all anew. Default: the model's.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
RunFolder = Annotated[
    Path | None, typer.Argument(help="Folder of a run, or shipped; without it an untrained model is judged.")
]
Untrained = Annotated[
    bool, typer.Option("--untrained", help="Judge what the run's training started from: same options, fresh weights.")
]
Limit = Annotated[int, typer.Option(min=1, help="Take at most so many sketches of all files.")]


def reply(as_json: bool, value: dict[str, Any], words: str) -> None:
    if as_json:
        print(json.dumps(value))
    else:
        say.print(words)


def sources(source: list[str] | None) -> str | list[str]:
    if not source:
        raise UserError("say what to judge it on: --data FILES, a folder, a store, or doodles:1000")
    return source[0] if len(source) == 1 else source


def read_drawings(paths: list[Path], limit: int) -> list[Record]:
    """With their splits, in the units of their files, as holes are given and answers laid over them."""
    from gra2seq.data.info import records_of

    records: list[Record] = []
    for path in paths:
        for record in records_of(path):
            if len(records) == limit:
                say.print(f"only the first {limit} sketches are taken: raise --limit for more")
                return records
            records.append(record)
    if not records:
        raise UserError(f"there is no sketch in {', '.join(map(str, paths))}")
    return records


def model_or_fresh(run: Path | None, preset: str, seed: int, scale: float, fresh: bool = False) -> tuple[Model, str]:
    """The model of a run, or with `fresh` what its training started from; without a run one of the preset and seed."""
    from gra2seq.folder import load
    from gra2seq.model import untrained
    from gra2seq.options import options

    if run is not None:
        model = load(run)
        if fresh:
            model = untrained(model.options, model.recipe.scale, model.categories)
        return model, f"{model.options.model} (untrained)" if fresh else model.options.model
    chosen = options({"preset": preset, "seed": seed})
    return untrained(chosen, scale), f"{chosen.model} (untrained {preset}, seed {seed})"
