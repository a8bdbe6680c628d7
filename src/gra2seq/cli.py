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
    from gra2seq.model import Model
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
RunFolder = Annotated[Path | None, typer.Argument(help="Folder of a run; without it an untrained model is judged.")]
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
    from gra2seq.training.loop import Stopped
    from gra2seq.training.loop import train as run_training
    from gra2seq.training.manifest import rank
    from gra2seq.training.progress import show

    more = [f"devices={devices}"] if devices is not None else []
    options = read_options(config, [*(changes or []), *more])
    try:
        with show(say, options) as watch:
            run = run_training(options, resume=resume, watch=watch)
    except Stopped as stop:
        say.print(str(stop))
        raise typer.Exit(130) from None
    if rank() == 0:  # of several processes one answers
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
def figures(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    source: Annotated[list[str] | None, typer.Option("--data", help="Files, a folder or a store of drawings.")] = None,
    name: Annotated[str | None, typer.Option("--set", help="A named set of the data: DS1-small, OPEN8, …")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the figures.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", help="png, svg or pdf")] = "png",
    count: Annotated[int, typer.Option(min=3, help="Test sketches behind the map and the clusters.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Links, masks, healed sketches, clusters and a map of the codes, as one would put into a paper."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.judging.figures import draw_all
    from gra2seq.model import load

    written = draw_all(load(run), open_dataset(_sources(source), name=name), out, form, count)
    answer = {"figures": [str(path) for path in written]}
    _answer(as_json, answer, f"{len(written)} figures are in {out}")


@app.command()
def evaluate(
    run: RunFolder = None,
    source: Annotated[list[str] | None, typer.Option("--data", help="Files, a folder or a store of drawings.")] = None,
    name: Annotated[str | None, typer.Option("--set", help="A named set of the data: DS1-small, OPEN8, …")] = None,
    split: Annotated[str, typer.Option(help="train, valid or test")] = "test",
    mask: Annotated[
        list[float] | None, typer.Option(help="Probabilities that a patch is wiped: --mask 0 0.1 0.3")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Draw everything so often, with seeds 0, 1, …")] = 1,
    judge: Annotated[Path | None, typer.Option(help="Run of a sketch-a-net on the same categories, for Rec.")] = None,
    direction: Annotated[str, typer.Option(help="Who asks in Ret: redrawn or original.")] = "redrawn",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for tables and galleries; default: evaluation/ in the run."),
    ] = None,
    preset: Annotated[str, typer.Option(help="Without a run: an untrained model of this preset.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Without a run: of its weights.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Rec, Ret and Chamfer distance of a model: the rows of the paper's Tables 1 and 2."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.judging import evaluate as judging
    from gra2seq.judging.judge import load_judge
    from gra2seq.judging.tables import to_markdown
    from gra2seq.training.progress import counting

    dataset = open_dataset(_sources(source), name=name)
    model, title = _model_or_fresh(run, preset, seed, dataset.scale)
    folder = out or (run / "evaluation" if run else None)
    masks = mask or [0.0, 0.1, 0.3]
    with counting(say) as progress:
        rows = judging.evaluate(
            model,
            dataset,
            name=title,
            split=split,
            masks=masks,
            seeds=range(seeds),
            judge=load_judge(judge) if judge else None,
            direction=direction,
            keep=folder / "kept" if folder else None,
            progress=progress,
        )
        if folder:
            stem = f"{dataset.name}-{split}"
            judging.write_tables(rows, folder, stem)
            judging.write_galleries(model, dataset, folder, stem, split=split, masks=masks, progress=progress)
    if folder:
        say.print(f"The tables and galleries are in {folder}")
    print(json.dumps({"rows": rows}) if as_json else to_markdown(rows))


@app.command()
def ablate(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …; run=FOLDER holds a run a variant")] = None,
    mask: Annotated[
        list[float] | None, typer.Option(help="Probabilities that a patch is wiped: --mask 0 0.1 0.3")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Draw everything so often, with seeds 0, 1, …")] = 1,
    judge: Annotated[Path | None, typer.Option(help="Run of a sketch-a-net on the same categories, for Rec.")] = None,
    as_json: AsJson = False,
) -> None:
    """Random links against synonymous ones, clustering off against on: the paper's Tables 3 and 4."""
    from gra2seq.judging.ablate import ablate as run_ablation
    from gra2seq.judging.evaluate import write_tables
    from gra2seq.judging.judge import load_judge
    from gra2seq.judging.tables import to_markdown
    from gra2seq.options import read_options
    from gra2seq.training.loop import Stopped
    from gra2seq.training.progress import show

    options = read_options(config, changes or [])
    try:
        rows = run_ablation(
            options,
            lambda variant: show(say, variant),
            masks=mask or [0.0, 0.1, 0.3],
            seeds=range(seeds),
            judge=load_judge(judge) if judge else None,
        )
    except Stopped as stop:
        say.print(f"{stop} (the same command goes on)")
        raise typer.Exit(130) from None
    write_tables(rows, Path(options.run), "ablation")
    print(json.dumps({"rows": rows}) if as_json else to_markdown(rows))


@app.command()
def compare(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/: data, preset, budget.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …; run=FOLDER holds a run a system")] = None,
    systems: Annotated[list[str] | None, typer.Option(help="--systems sketch-rnn song …; default: all nine")] = None,
    mask: Annotated[
        list[float] | None, typer.Option(help="Probabilities that a patch is wiped: --mask 0 0.1 0.3")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Draw everything so often, with seeds 0, 1, …")] = 1,
    judge: Annotated[Path | None, typer.Option(help="Run of a sketch-a-net on the same categories, for Rec.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train and judge all systems alike: the paper's Tables 1 and 2, with ours and its figures side by side."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.judging import compare as comparing
    from gra2seq.judging.judge import load_judge
    from gra2seq.model import load
    from gra2seq.options import SYSTEMS, Options, read_options
    from gra2seq.training.loop import Stopped
    from gra2seq.training.progress import counting, show

    whole = read_options(config, changes or [])
    folder = Path(whole.run)

    def options_of(name: str) -> Options:
        return read_options(config, [*(changes or []), f"model={name}", f"run={folder / name}"])

    try:
        with counting(say) as progress:
            found = comparing.compare(
                options_of,
                systems or list(SYSTEMS),
                lambda options: show(say, options),
                masks=mask or [0.0, 0.1, 0.3],
                seeds=range(seeds),
                judge=load_judge(judge) if judge else None,
                progress=progress,
                report=lambda text: say.print(text, style="red", markup=False),
            )
    except Stopped as stop:
        say.print(f"{stop} (the same command goes on)")
        raise typer.Exit(130) from None
    comparing.write_comparison(found, folder)
    done = {one.system: folder / one.system for one in found if not one.error}
    if done:
        dataset = open_dataset(whole.data, name=whole.dataset or None)
        comparing.write_wall({name: load(run) for name, run in done.items()}, dataset, folder / "healed.png")
        comparing.draw_curves(done, whole.batch, folder / "curves.png")
    print(json.dumps(comparing.as_json(found)) if as_json else comparing.comparison(found))
    if len(done) < len(found):
        raise typer.Exit(1)


@app.command()
def models(
    preset: Annotated[str, typer.Option(help="Sizes of which preset.")] = "paper", as_json: AsJson = False
) -> None:
    """The systems by name: who made them, what they see, how large they are."""
    from rich.table import Table

    from gra2seq.models import build
    from gra2seq.options import SYSTEMS, options

    rows: list[dict[str, Any]] = []
    for name, system in SYSTEMS.items():
        network = build(options({"model": name, "preset": preset}))
        size = sum(parameter.numel() for parameter in network.parameters())
        rows.append({"model": name, "made_by": system.made_by, "sees": list(system.sees), "parameters": size})
    if as_json:
        print(json.dumps({"models": rows}))
        return
    table = Table("model", "made by", "sees", "parameters", box=None)
    for row in rows:
        table.add_row(row["model"], row["made_by"], ", ".join(row["sees"]), f"{row['parameters'] / 1e6:.2f} M")
    Console().print(table)


@app.command()
def synonyms(
    run: RunFolder = None,
    source: Annotated[
        list[str] | None, typer.Option("--data", help="Drawings with part labels, or doodles:1000.")
    ] = None,
    links: Annotated[list[str] | None, typer.Option(help="Proximities; default: all four.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many sketches of each file.")] = 1000,
    most: Annotated[
        int | None, typer.Option(min=1, help="At most so many in all, spread evenly over those of --limit.")
    ] = None,
    preset: Annotated[str, typer.Option(help="Without a run: an untrained model of this preset.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Without a run: of its weights.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Do links join patches that show the same part? The share of links that do, against chance."""
    from gra2seq.data.info import labelled
    from gra2seq.judging.evaluate import spread
    from gra2seq.judging.synonyms import PROXIMITIES
    from gra2seq.judging.synonyms import synonyms as count
    from gra2seq.memory import keep_freed_memory
    from gra2seq.training.progress import counting

    keep_freed_memory()
    sketches = labelled(_sources(source), limit)
    if most is not None:
        sketches = [sketches[number] for number in spread(len(sketches), most)]
    model, _ = _model_or_fresh(run, preset, seed, 30.0)
    with counting(say) as progress:
        rows = count(
            model, sketches, tuple(links or PROXIMITIES), lambda done: progress("sketches", done, len(sketches))
        )
    if as_json:
        print(json.dumps({"rows": rows}))
    else:
        for row in rows:
            rates = "  ".join(f"{name} {_share(row[name])}" for name in ("rate", "rate_far", "chance", "chance_far"))
            print(f"{row['category']:>24}  {row['links']:<11} {rates}  {row['edges']} links")


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

    count, written = run_conversion(files, out, simplify=simplify, labels=labels)
    answer = {"sketches": count, "out": str(out), "files": [str(path) for path in written]}
    _answer(as_json, answer, f"{count} sketches are in {', '.join(map(str, written[:3]))}")


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


def _sources(source: list[str] | None) -> str | list[str]:
    if not source:
        raise UserError("say what to judge it on: --data FILES, a folder, a store, or doodles:1000")
    return source[0] if len(source) == 1 else source


def _model_or_fresh(run: Path | None, preset: str, seed: int, scale: float) -> tuple[Model, str]:
    from gra2seq.model import load, untrained
    from gra2seq.options import options

    if run is not None:
        model = load(run)
        return model, model.options.model
    chosen = options({"preset": preset, "seed": seed})
    return untrained(chosen, scale), f"{chosen.model} (untrained {preset}, seed {seed})"


def _share(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.3f}"


def _spread(words: list[str], options: tuple[str, ...] = ("--mask", "--data", "--links", "--systems")) -> list[str]:
    """`--mask 0 0.1 0.3` as `--mask 0 --mask 0.1 --mask 0.3`: several values behind one option."""
    spread: list[str] = []
    current = ""
    for word in words:
        if word.startswith("-"):
            current = word if word in options else ""
        elif current and spread[-1] != current:
            spread.append(current)
        spread.append(word)
    return spread


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
    from gra2seq.data.info import records_of

    sketches: list[Sketch] = []
    for path in paths:
        for _, sketch in records_of(path):
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
        app(_spread(sys.argv[1:]))
    except UserError as error:
        say.print(f"gra2seq: {error}", style="red", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
