"""Commands that ask how good a model is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gra2seq.cli.common import (
    AsJson,
    Keep,
    RunFolder,
    Steer,
    Tries,
    Untrained,
    Well,
    app,
    model_or_fresh,
    say,
    sources,
)
from gra2seq.system.atomic_files import check_folder

Masks = Annotated[list[float] | None, typer.Option(help="Probabilities that a patch is wiped: --mask 0 0.1 0.3")]
Seeds = Annotated[int, typer.Option(min=1, help="Draw everything so often, with seeds 0, 1, …")]
JudgeRun = Annotated[Path | None, typer.Option(help="Run of a sketch-a-net on the same categories, for Rec.")]
Jobs = Annotated[int, typer.Option(min=1, help="Train so many at once, each on its share of the cores.")]


@app.command()
def evaluate(
    run: RunFolder = None,
    source: Annotated[list[str] | None, typer.Option("--data", help="Files, a folder or a store of drawings.")] = None,
    name: Annotated[str | None, typer.Option("--set", help="A named set of the data: DS1-small, OPEN8, …")] = None,
    split: Annotated[str, typer.Option(help="train, valid or test")] = "test",
    mask: Masks = None,
    hole: Annotated[
        list[float] | None,
        typer.Option(help="Instead of masks: rub out a square of this share of the longer side, anywhere; repeatable."),
    ] = None,
    seeds: Seeds = 1,
    judge: JudgeRun = None,
    tries: Tries = None,
    well: Well = None,
    steer: Steer = None,
    keep: Keep = None,
    pen_temperature: Annotated[
        float | None, typer.Option(min=0, help="At least so warm is the pen. Default: the model's.")
    ] = None,
    direction: Annotated[str, typer.Option(help="Who asks in Ret: redrawn or original.")] = "redrawn",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for tables and galleries; default: evaluation/ in the run."),
    ] = None,
    gallery: Annotated[int, typer.Option(min=1, help="Sketches of the galleries, evenly spread over the split.")] = 10,
    fresh: Untrained = False,
    preset: Annotated[str, typer.Option(help="Without a run: an untrained model of this preset.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Without a run: of its weights.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Rec, Ret and Chamfer distance of a model: the rows of the paper's Tables 1 and 2."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.evaluation import evaluate as judging
    from gra2seq.evaluation.galleries import write_galleries
    from gra2seq.evaluation.judge import load_judge
    from gra2seq.evaluation.tables import to_markdown
    from gra2seq.options import as_dict, options
    from gra2seq.training.progress import counting

    dataset = open_dataset(sources(source), name=name)
    model, title = model_or_fresh(run, preset, seed, dataset.scale, fresh)
    drawing = {"tries": tries, "well": well, "steer": steer, "keep": keep, "least_pen_temperature": pen_temperature}
    changes = {name: value for name, value in drawing.items() if value is not None}
    model.options = options({**as_dict(model.options), **changes})
    folder = out or (run / ("evaluation-untrained" if fresh else "evaluation") if run and run.is_dir() else None)
    if folder:
        check_folder(folder)
    masks, holes = mask or ([] if hole else [0.0, 0.1, 0.3]), hole or []
    with counting(say) as progress:
        rows = judging.evaluate(
            model,
            dataset,
            name=title,
            split=split,
            masks=masks,
            holes=holes,
            seeds=range(seeds),
            judge=load_judge(judge) if judge else None,
            direction=direction,
            folder=folder / "kept" if folder else None,
            progress=progress,
        )
        if folder:
            stem = "-".join([dataset.name, split, *([] if direction == "redrawn" else ["original-queries"])])
            stem += "-holes" if holes else ""
            stem += "".join(f"-{name}-{value}" for name, value in changes.items())  # not the model's own way
            judging.write_tables(rows, folder, stem)
            write_galleries(
                model, dataset, folder, stem, split=split, masks=masks, holes=holes, most=gallery, progress=progress
            )
    if folder:
        say.print(f"The tables and galleries are in {folder}")
    print(json.dumps({"rows": rows}) if as_json else to_markdown(rows))


@app.command()
def ablate(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …; run=FOLDER holds a run a variant")] = None,
    mask: Masks = None,
    seeds: Seeds = 1,
    judge: JudgeRun = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Random links against synonymous ones, clustering off against on: the paper's Tables 3 and 4."""
    from gra2seq.evaluation.ablate import PAPER_NAMES
    from gra2seq.evaluation.ablate import ablate as run_ablation
    from gra2seq.evaluation.protocol import write_tables
    from gra2seq.evaluation.judge import load_judge
    from gra2seq.evaluation.tables import beside_paper
    from gra2seq.options import read_options
    from gra2seq.training.loop import Stopped
    from gra2seq.training.manifest import rank
    from gra2seq.training.progress import counting, show, show_all

    options = read_options(config, changes or [])
    try:
        rows = run_ablation(
            options,
            lambda variant: show(say, variant),
            masks=mask or [0.0, 0.1, 0.3],
            seeds=range(seeds),
            judge=load_judge(judge) if judge else None,
            counting=lambda: counting(say),
            jobs=jobs,
            show_all=lambda: show_all(say),
        )
    except Stopped as stop:
        say.print(f"{stop} (the same command goes on)")
        raise typer.Exit(130) from None
    if rank() != 0:  # of several processes one answers
        return
    write_tables(rows, Path(options.run), "ablation")
    print(json.dumps({"rows": rows}) if as_json else beside_paper(rows, PAPER_NAMES))


@app.command()
def compare(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/: data, preset, budget.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …; run=FOLDER holds a run a system")] = None,
    systems: Annotated[list[str] | None, typer.Option(help="--systems sketch-rnn song …; default: all nine")] = None,
    mask: Masks = None,
    seeds: Seeds = 1,
    judge: JudgeRun = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Train and judge all systems alike: the paper's Tables 1 and 2, with ours and its figures side by side."""
    from gra2seq.data.datasets import open_dataset
    from gra2seq.folder import load
    from gra2seq.evaluation import compare as comparing
    from gra2seq.evaluation.judge import load_judge
    from gra2seq.options import SYSTEMS, Options, read_options
    from gra2seq.training.loop import Stopped
    from gra2seq.training.manifest import rank
    from gra2seq.training.progress import counting, show, show_all

    whole = read_options(config, changes or [])
    folder = Path(whole.run)

    def options_of(name: str) -> Options:
        return read_options(config, [*(changes or []), f"model={name}", f"run={folder / name}"])

    try:
        found = comparing.compare(
            options_of,
            systems or list(SYSTEMS),
            lambda options: show(say, options),
            masks=mask or [0.0, 0.1, 0.3],
            seeds=range(seeds),
            judge=load_judge(judge) if judge else None,
            counting=lambda: counting(say),
            jobs=jobs,
            show_all=lambda: show_all(say),
            report=lambda text: say.print(text, style="bold"),
            done=lambda found: comparing.write_comparison(found, folder) if rank() == 0 else None,
        )
    except Stopped as stop:
        say.print(f"{stop} (the same command goes on)")
        raise typer.Exit(130) from None
    if rank() != 0:
        return
    failed = [one.system for one in found if one.error]
    found = comparing.with_earlier(found, folder)
    print(json.dumps(comparing.as_json(found), allow_nan=False) if as_json else comparing.comparison(found))
    finished = {one.system: folder / one.system for one in found if not one.error}
    if finished:
        dataset = open_dataset(whole.data, name=whole.dataset or None)
        comparing.write_wall({name: load(run) for name, run in finished.items()}, dataset, folder / comparing.WALL)
        comparing.draw_curves(finished, whole.batch, folder / comparing.CURVES)
    if failed:
        raise typer.Exit(1)


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
    fresh: Untrained = False,
    preset: Annotated[str, typer.Option(help="Without a run: an untrained model of this preset.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Without a run: of its weights.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Do links join patches that show the same part? The share of links that do, against chance."""
    from gra2seq.data.info import labelled
    from gra2seq.evaluation.galleries import spread
    from gra2seq.evaluation.synonyms import PROXIMITIES
    from gra2seq.evaluation.synonyms import synonyms as count
    from gra2seq.training.progress import counting

    sketches = labelled(sources(source), limit)
    if most is not None:
        sketches = [sketches[number] for number in spread(len(sketches), most)]
    say.print(f"{len(sketches)} sketches are counted (--limit {limit} of each source)")
    model, _ = model_or_fresh(run, preset, seed, 30.0, fresh)
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


def _share(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.3f}"
