"""Commands that train several systems or variants alike and evaluate them: the paper's Tables 1 to 4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gra2seq.cli.common import AsJson, app, messages
from gra2seq.cli.evaluate import JudgeRun, Masks, Seeds, judge_of

if TYPE_CHECKING:
    from gra2seq.config import RunConfig
    from gra2seq.evaluation.equal_terms import Display
    from gra2seq.evaluation.protocol import Terms

EvaluatedSet = Annotated[
    str | None,
    typer.Option("--set", help="Evaluate on this named set of the data: OPEN8, … Default: the set of the training."),
]
Jobs = Annotated[int, typer.Option(min=1, help="Train this many at once, each on its share of the cores.")]
Draw = Annotated[str, typer.Option(help="What a drawing sees: only its code, or the visible ink too (guided).")]


def _display() -> Display:
    """Progress of trainings and evaluations on the terminal."""
    from gra2seq.evaluation.equal_terms import Display
    from gra2seq.training.progress import counting, show, show_all

    return Display(
        lambda config: show(messages.console, config),
        lambda: show_all(messages.console),
        lambda: counting(messages.console),
        lambda text: messages.print(text, style="bold"),
    )


def _terms(mask: list[float] | None, seeds: int, judge: Path | None, name: str | None) -> Terms:
    from gra2seq.evaluation.protocol import Terms

    return Terms(masks=mask or Terms.masks, seeds=range(seeds), judge=judge_of(judge), dataset=name)


@app.command()
def ablate(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …; run=FOLDER holds the runs")] = None,
    train_seeds: Annotated[int, typer.Option(min=1, help="Number of training seeds.")] = 1,
    other_train_seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number for the variants without links or clustering. Default: --train-seeds."),
    ] = None,
    name: EvaluatedSet = None,
    mask: Masks = None,
    seeds: Seeds = 1,
    judge: JudgeRun = None,
    draw: Draw = "code",
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Links and clustering on against off: the paper's Tables 3 and 4.

    Synonymous links are compared with random ones and none.
    """
    from gra2seq.config import read_config
    from gra2seq.evaluation import ablate as ablation
    from gra2seq.training.loop import Stopped
    from gra2seq.training.manifest import rank

    base = read_config(config, changes or [])
    terms = _terms(mask, seeds, judge, name)
    try:
        results = ablation.ablate(
            base,
            terms,
            train_seeds=train_seeds,
            other_train_seeds=other_train_seeds,
            draw=draw,
            jobs=jobs,
            display=_display(),
        )
    except Stopped as stop:
        messages.print(f"{stop} (the same command goes on)")
        raise typer.Exit(130) from None
    if rank() != 0:  # of several processes only the first prints
        return
    ablation.write_ablation(results, Path(base.run))
    print(json.dumps(ablation.as_json(results), allow_nan=False) if as_json else ablation.in_words(results))


@app.command()
def compare(
    config: Annotated[Path, typer.Argument(help="A YAML file of configs/: data, preset, budget.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …; run=FOLDER holds a run a system")] = None,
    systems: Annotated[list[str] | None, typer.Option(help="--systems sketch-rnn song …; default: all eleven")] = None,
    name: EvaluatedSet = None,
    mask: Masks = None,
    seeds: Seeds = 1,
    judge: JudgeRun = None,
    draw: Draw = "code",
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Train and evaluate all systems alike: the paper's Tables 1 and 2.

    Our figures stand beside the paper's.
    """
    from gra2seq.config import read_config
    from gra2seq.config.systems import SYSTEMS
    from gra2seq.evaluation import comparison_files as files
    from gra2seq.evaluation.compare import compare as run_comparison
    from gra2seq.training.loop import Stopped
    from gra2seq.training.manifest import rank

    base = read_config(config, changes or [])
    terms, folder = _terms(mask, seeds, judge, name), Path(base.run)

    def config_of(name: str) -> RunConfig:
        return read_config(config, [*(changes or []), f"model={name}", f"run={folder / name}"])

    try:
        results = run_comparison(
            config_of,
            systems or list(SYSTEMS),
            terms,
            draw=draw,
            jobs=jobs,
            display=_display(),
            done=lambda results: files.write_comparison(results, folder) if rank() == 0 else None,
        )
    except Stopped as stop:
        messages.print(f"{stop} (the same command goes on)")
        raise typer.Exit(130) from None
    if rank() != 0:
        return
    failed = [one.system for one in results if one.error]
    results = files.with_earlier(results, folder)
    print(json.dumps(files.as_json(results), allow_nan=False) if as_json else files.comparison(results))
    _write_pictures([one.system for one in results if not one.error], base, terms, draw)
    if failed:
        raise typer.Exit(1)


def _write_pictures(systems: list[str], base: RunConfig, terms: Terms, draw: str) -> None:
    """The wall of healed drawings and the learning curves of the systems that are trained."""
    from gra2seq.evaluation import comparison_files as files
    from gra2seq.evaluation.equal_terms import evaluated_dataset
    from gra2seq.evaluation.redrawing import drawing_mode
    from gra2seq.folder import load

    if not systems:
        return
    folder = Path(base.run)
    drawing = drawing_mode(base.drawing, draw)
    models = {name: load(folder / name).with_drawing(drawing) for name in systems}
    files.write_wall(models, evaluated_dataset(base, terms), folder / files.WALL)
    files.draw_curves({name: folder / name for name in systems}, base.training.batch, folder / files.CURVES)
