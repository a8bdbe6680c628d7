"""Every system on equal terms: same data, same number of sketches seen, same damage, same judge.

Each system has a folder of its own below the run and is trained, resumed or reused there; one that fails is reported,
and the others go on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gra2seq.data.datasets import Dataset, open_dataset
from gra2seq.errors import UserError
from gra2seq.judging.ablate import Show
from gra2seq.judging.evaluate import Progress, evaluate, stored_draws
from gra2seq.judging.figures import save_figure
from gra2seq.judging.judge import Judge
from gra2seq.judging.tables import paper_row, summary
from gra2seq.model import Model, load
from gra2seq.options import SYSTEMS, Options
from gra2seq.sketch.picture import Picture, contact_sheet, write_png
from gra2seq.sketch.strokes import Sketch
from gra2seq.training.checkpoint import CONFIG, LAST, read_progress
from gra2seq.training.gallery import damaged_picture
from gra2seq.training.loop import read_metrics, train
from gra2seq.whole import whole_file

BESIDE = "DS3"  # the paper's figures that stand beside data that the paper does not have: eight categories too
SHOWN = 10  # sketches of the wall


@dataclass(frozen=True)
class Compared:
    """A system that took part: its figures, its size and what it cost, or why it failed."""

    system: str
    rows: list[dict[str, Any]]
    parameters: int = 0
    seconds: float = 0.0  # of training
    sketches: int = 0  # seen in training
    error: str = ""

    @property
    def rate(self) -> float:
        return self.sketches / self.seconds if self.seconds else 0.0


def compare(
    options_of: Callable[[str], Options],
    systems: Sequence[str],
    show: Show,
    *,
    masks: Sequence[float] = (0.0, 0.1, 0.3),
    seeds: Sequence[int] = (0,),
    judge: Judge | None = None,
    progress: Progress | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> list[Compared]:
    """Train and judge each system; `options_of` gives its options, whose `run` is its folder."""
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise UserError(f"unknown system {', '.join(unknown)}: one of {', '.join(SYSTEMS)}")
    found = []
    for name in systems:
        options = options_of(name)
        run = Path(options.run)
        try:
            dataset = open_dataset(options.data, name=options.dataset or None)
            with show(options) as watch:
                train(options, resume=(run / CONFIG).exists(), watch=watch)
            model = load(run)
            rows = evaluate(
                model, dataset, name=name, masks=masks, seeds=seeds, judge=judge, keep=run / "kept", progress=progress
            )
        except (UserError, RuntimeError, MemoryError) as error:
            report(f"{name} failed: {error}")
            found.append(Compared(name, [], error=str(error)))
            continue
        trained = read_progress(run / LAST)
        size = sum(parameter.numel() for parameter in model.network.parameters())
        seen = int(trained["step"]) * options.batch
        found.append(Compared(name, rows, size, float(trained["seconds"]), seen))
    return found


def comparison(found: Sequence[Compared]) -> str:
    """Tables 1 and 2 of the paper in Markdown, its figures beside ours, and what each system costs."""
    rows = summary([row for system in found for row in system.rows])
    lines = []
    for mask in dict.fromkeys(row["mask"] for row in rows):
        there = [row for row in rows if row["mask"] == mask]
        data = there[0]["data"]
        beside = data.removesuffix("-small") if data.removesuffix("-small") in ("DS1", "DS2", "DS3") else BESIDE
        lines += [
            f"Masked: {100 * mask:g} %. Ours on {data} ({', '.join(there[0]['categories'])}; gallery "
            f"{there[0]['gallery']}), the paper's on {beside} (gallery of 2,500 a category).",
            "",
            "| system | Rec % | Ret@1 % | Ret@10 % | Ret@50 % | Chamfer x 100 | paper: Rec % | Ret@1 % | Ret@10 % | "
            "Ret@50 % |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for row in there:
            paper = paper_row(row["model"], beside, mask)
            theirs = [None] * 4 if paper is None else [paper["rec"], *paper["ret"].values()]
            ours = [row[name] for name in ("rec", "ret_1", "ret_10", "ret_50", "chamfer")]
            cells = ["–" if value is None else f"{100 * value:.2f}" for value in (*ours, *theirs)]
            lines.append(f"| {row['model']} | {' | '.join(cells)} |")
        lines.append("")
    lines += [
        "| system | sees | parameters | sketches seen | training | sketches/s |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for system in found:
        sees = ", ".join(SYSTEMS[system.system].sees)
        if system.error:
            lines.append(f"| {system.system} | {sees} | failed: {system.error} | | | |")
            continue
        lines.append(
            f"| {system.system} | {sees} | {system.parameters / 1e6:.2f} M | {system.sketches:,} | "
            f"{system.seconds / 60:.1f} min | {system.rate:.0f} |"
        )
    return "\n".join(lines) + "\n"


def as_json(found: Sequence[Compared]) -> dict[str, Any]:
    systems = [
        {
            "model": one.system,
            "parameters": one.parameters,
            "seconds": one.seconds,
            "sketches_seen": one.sketches,
            "sketches_per_second": one.rate,
            "error": one.error,
        }
        for one in found
    ]
    return {"rows": [row for one in found for row in one.rows], "systems": systems}


def write_comparison(found: Sequence[Compared], folder: Path) -> None:
    """comparison.md and comparison.json."""
    for name, text in (("md", comparison(found)), ("json", json.dumps(as_json(found), indent=1))):
        with whole_file(folder / f"comparison.{name}") as temporary:
            temporary.write_text(text)


def write_wall(models: dict[str, Model], dataset: Dataset, path: Path, mask: float = 0.1, split: str = "test") -> None:
    """The same damaged sketches, evenly spread over the split, healed by every system: a row a sketch."""
    indices = getattr(dataset, split)
    chosen = np.unique(np.linspace(0, len(indices) - 1, min(SHOWN, len(indices))).astype(int))
    sketches = [dataset.store[int(i)] for i in indices[chosen]]
    columns: list[list[Sketch | Picture | None]] = [list(sketches)]
    for model in models.values():
        draws = stored_draws(dataset, split, len(indices), model.recipe.nodes).numbers[chosen]
        if len(columns) == 1:
            columns.append([damaged_picture(s, model.recipe, d, mask) for s, d in zip(sketches, draws, strict=True)])
        columns.append(list(model.heal(sketches, mask_prob=mask, draws=draws)))
    rows = [list(row) for row in zip(*columns, strict=True)]
    write_png(path, contact_sheet(rows, size=128, titles=("original", "damaged", *models)))


def draw_curves(runs: dict[str, Path], batch: int, path: Path) -> None:
    """What each system says of drawings it did not learn from, against the sketches it has seen."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, run in runs.items():
        points = [(row["step"] * batch, row["offset"] + row["pen"]) for row in read_metrics(run, "valid.jsonl")]
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    axes.set_xlabel("sketches seen")
    axes.set_ylabel("minus log-likelihood of a sketch of the valid split")
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)
