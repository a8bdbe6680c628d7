"""Commands that measure how good a model is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gra2seq.cli.common import (
    Address,
    AsJson,
    BestOf,
    Candidates,
    Device,
    EngineName,
    GoodEnough,
    KeepLines,
    Precision,
    PredictInk,
    Repair,
    RunFolder,
    Untrained,
    app,
    are,
    check_engine,
    messages,
    model_or_fresh,
    sources,
)
from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.config import DrawingConfig
    from gra2seq.data.datasets import Dataset
    from gra2seq.evaluation.protocol import Terms
    from gra2seq.healing.ray_map import Map
    from gra2seq.model import Model

Masks = Annotated[list[float] | None, typer.Option(help="Probabilities that a patch is masked: --mask 0 0.1 0.3")]
Squares = Annotated[
    list[float] | None,
    typer.Option(help="Instead of masks: a square of this share of the longer side is lost, anywhere; repeatable."),
]
Completions = Annotated[
    list[float] | None,
    typer.Option(help="Instead of masks: only this share of the points, the first ones, is handed in; repeatable."),
]
Samples = Annotated[int, typer.Option(min=1, help="Of each lost region, by infill: how much they differ is measured.")]
Seeds = Annotated[int, typer.Option(min=1, help="Draw everything this many times, with seeds 0, 1, …")]
JudgeRun = Annotated[
    Path | None, typer.Option(help="For Rec: run of a sketch-a-net on the same categories, or one by name: open8.")
]


@app.command()
def evaluate(
    run: RunFolder = None,
    source: Annotated[list[str] | None, typer.Option("--data", help="Files, a folder or a store of drawings.")] = None,
    name: Annotated[str | None, typer.Option("--set", help="A named set of the data: DS1-small, OPEN8, …")] = None,
    split: Annotated[str, typer.Option(help="train, valid or test")] = "test",
    mask: Masks = None,
    square: Squares = None,
    complete: Completions = None,
    samples: Samples = 1,
    seeds: Seeds = 1,
    judge: JudgeRun = None,
    draw: Annotated[
        str | None,
        typer.Option(help="What a drawing sees: code, guided (by the visible ink) or infill. Default: the model's."),
    ] = None,
    best_of: BestOf = None,
    good_enough: GoodEnough = None,
    candidates: Candidates = None,
    keep_lines: KeepLines = None,
    repair: Repair = None,
    predict_ink: PredictInk = None,
    pen_temperature: Annotated[
        float | None, typer.Option(min=0, help="Lowest temperature of the pen's states. Default: the model's.")
    ] = None,
    direction: Annotated[str, typer.Option(help="Which sketch queries in Ret: redrawn or original.")] = "redrawn",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="For tables and sheets. Default: evaluation/ in the run.")
    ] = None,
    sheet_size: Annotated[int, typer.Option(min=1, help="Sketches of a sheet, evenly spread over the split.")] = 10,
    fresh: Untrained = False,
    preset: Annotated[str, typer.Option(help="Without a run: an untrained model of this preset.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Without a run: of its weights.")] = 0,
    device: Device = "cpu",
    precision: Precision = "32-true",
    engine: EngineName = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Rec, Ret and Chamfer distance of a model: the rows of the paper's Tables 1 and 2."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.evaluation.protocol import Terms, file_stem
    from gra2seq.evaluation.tables import to_markdown
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.healing.ray_map import mapping

    check_engine(engine, address, device)
    dataset = open_dataset(sources(source), name=name)
    model, title = model_or_fresh(ModelSource(run, device, precision), preset, seed, dataset.scale, fresh)
    options: dict[str, Any] = {"draw": draw, "best_of": best_of, "good_enough": good_enough, "candidates": candidates}
    options |= {"keep_lines": keep_lines, "repair": repair, "predict_ink": predict_ink}
    options |= {"min_pen_temperature": pen_temperature}
    changes = {key: value for key, value in options.items() if value is not None}
    model = model.with_drawing(_drawing(model, **changes))
    folder = _evaluation_folder(out, run, fresh)
    masks = mask or ([] if square or complete else Terms.masks)
    judge_model = judge_of(judge, device)
    terms = Terms(split, masks, square or (), range(seeds), judge_model, direction, complete or (), samples)
    stem = file_stem(dataset.name, terms, changes)
    rows = _evaluated(model, title, dataset, terms, folder, stem, sheet_size, mapping(engine, address))
    print(json.dumps({"rows": rows}) if as_json else to_markdown(rows))


def _evaluated(
    model: Model,
    title: str,
    dataset: Dataset,
    terms: Terms,
    folder: Path | None,
    stem: str,
    sheet_size: int,
    engine: Map,
) -> list[dict[str, Any]]:
    """The rows of the table; with a folder, tables and sheets are written there."""
    from gra2seq.evaluation.pictures import write_galleries
    from gra2seq.evaluation.protocol import outcomes, row_of, write_tables
    from gra2seq.training.progress import counting

    with counting(messages.console) as progress:
        found = outcomes(model, dataset, terms, folder / "kept" if folder else None, progress, engine)
        rows = [row_of(title, model, dataset, terms, outcome) for outcome in found]
        if folder:
            write_tables(rows, folder, stem)
            write_galleries(model, dataset, folder, stem, terms, sheet_size, progress)
            messages.print(f"The tables and sheets are in {folder}")
    return rows


def _drawing(model: Model, draw: str | None = None, **changes: Any) -> DrawingConfig:
    """The way of drawing: the model's own or that of --draw, with single options changed."""
    from gra2seq.evaluation.redrawing import drawing_mode

    drawing = model.drawing if draw is None else drawing_mode(model.drawing, draw)
    drawing = model.changed_drawing(drawing, changes)
    if draw == "code" and drawing.candidates > 1:
        raise UserError("--draw code does not see the visible ink: leave out --candidates")
    return drawing


def _evaluation_folder(out: Path | None, run: Path | None, fresh: bool) -> Path | None:
    """Where tables and sheets go, checked before the work: --out, or a folder in the run."""
    from gra2seq.system.atomic_files import check_folder

    folder = out or (run / ("evaluation-untrained" if fresh else "evaluation") if run and run.is_dir() else None)
    if folder:
        check_folder(folder)
    return folder


def judge_of(path: Path | None, device: str = "cpu") -> Any:
    from gra2seq.evaluation.judge import load_judge

    return load_judge(path, device) if path else None


@app.command()
def synonyms(
    run: RunFolder = None,
    source: Annotated[
        list[str] | None, typer.Option("--data", help="Drawings with part labels, or doodles:1000.")
    ] = None,
    links: Annotated[list[str] | None, typer.Option(help="Link rules; default: all four.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many sketches of each file.")] = 1000,
    most: Annotated[
        int | None, typer.Option(min=1, help="At most this many in all, spread evenly over those of --limit.")
    ] = None,
    fresh: Untrained = False,
    preset: Annotated[str, typer.Option(help="Without a run: an untrained model of this preset.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Without a run: of its weights.")] = 0,
    as_json: AsJson = False,
) -> None:
    """The share of links that join patches of the same part.

    It is compared with the share that chance would give.
    """
    from gra2seq.data.info import labelled
    from gra2seq.evaluation.pictures import spread
    from gra2seq.evaluation.synonyms import PROXIMITIES
    from gra2seq.evaluation.synonyms import synonyms as count
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.training.progress import counting

    sketches = labelled(sources(source), limit)
    if most is not None:
        sketches = [sketches[number] for number in spread(len(sketches), most)]
    messages.print(f"{are(len(sketches), 'sketch')} counted (--limit {limit} of each source)")
    model, _ = model_or_fresh(ModelSource(run), preset, seed, 30.0, fresh)
    with counting(messages.console) as progress:
        rows = count(
            model, sketches, tuple(links or PROXIMITIES), lambda done: progress("sketches", done, len(sketches))
        )
    if as_json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        rates = "  ".join(f"{name} {_share(row[name])}" for name in ("rate", "rate_far", "chance", "chance_far"))
        print(f"{row['category']:>24}  {row['links']:<11} {rates}  {row['edges']} links")


def _share(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.3f}"
