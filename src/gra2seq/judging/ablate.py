"""The paper's Tables 3 and 4 by one call: random links against synonymous ones, clustering off against on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from gra2seq.data.datasets import open_dataset
from gra2seq.judging.evaluate import Progress, evaluate
from gra2seq.judging.judge import Judge
from gra2seq.model import load
from gra2seq.options import Options
from gra2seq.training.checkpoint import CONFIG
from gra2seq.training.loop import Watch, train
from gra2seq.training.manifest import rank

# What each variant changes, and nothing else: same data, seed and budget.
VARIANTS: dict[str, dict[str, Any]] = {
    "synonymous links, clustering": {},
    "random links": {"links": "random"},
    "no clustering": {"clusters": 0},
}

Show = Callable[[Options], AbstractContextManager[Watch]]


def ablate(
    options: Options,
    show: Show,
    *,
    masks: Sequence[float] = (0.0, 0.1, 0.3),
    seeds: Sequence[int] = (0,),
    judge: Judge | None = None,
    counting: Callable[[], AbstractContextManager[Progress | None]] = nullcontext,
) -> list[dict[str, Any]]:
    """Train every variant in a folder of its own below `options.run` (or go on, or reuse), judge all alike."""
    dataset = open_dataset(options.data, name=options.dataset or None)
    rows = []
    for title, changes in VARIANTS.items():
        run = Path(options.run) / title.replace(",", "").replace(" ", "-")
        variant = replace(options, run=str(run), **changes)
        with show(variant) as watch:
            train(variant, resume=(run / CONFIG).exists(), watch=watch)
        if rank() != 0:  # of several processes one judges
            continue
        with counting() as progress:
            rows += evaluate(
                load(run),
                dataset,
                name=title,
                masks=masks,
                seeds=seeds,
                judge=judge,
                keep=run / "kept",
                progress=progress,
            )
    return rows
