"""The paper's Tables 3 and 4 by one call: random links against synonymous ones, clustering off against on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.folder import load
from gra2seq.evaluation.protocol import Progress, check_terms, evaluate
from gra2seq.evaluation.judge import Judge
from gra2seq.evaluation.tables import NO_CLUSTERS, RANDOM_LINKS
from gra2seq.options import Options
from gra2seq.training import manifest
from gra2seq.training.checkpoint import CONFIG
from gra2seq.training.loop import Watch, train
from gra2seq.training.side_by_side import Planned, ShowAll, show_nobody, side_by_side

# What each variant changes, and nothing else: same data, seed and budget.
VARIANTS: dict[str, dict[str, Any]] = {
    "synonymous links, clustering": {},
    "random links": {"links": "random"},
    "no clustering": {"clusters": 0},
}

# Their lines in the paper's Tables 3 and 4.
PAPER_NAMES = dict(zip(VARIANTS, ("SP-gra2seq", RANDOM_LINKS, NO_CLUSTERS), strict=True))

EQUAL = ("max_steps", "validate_every")  # how long it learns, and of how many weights the best are taken

Show = Callable[[Options], AbstractContextManager[Watch]]


class OtherBudget(UserError):
    """A run that is there has seen another number of sketches than it is to be compared at."""


def ablate(
    options: Options,
    show: Show,
    *,
    masks: Sequence[float] = (0.0, 0.1, 0.3),
    seeds: Sequence[int] = (0,),
    judge: Judge | None = None,
    counting: Callable[[], AbstractContextManager[Progress | None]] = nullcontext,
    jobs: int = 1,
    show_all: ShowAll = show_nobody,
) -> list[dict[str, Any]]:
    """Train every variant in a folder of its own below `options.run` (or go on, or reuse), judge all alike.

    With several `jobs` so many are trained at once.
    """
    if options.model != "sp-gra2seq":
        raise UserError(
            f"the ablations are of sp-gra2seq; {options.model} has no synonymous links and clusters to lose"
        )
    if options.links != "synonymous" or not options.clusters:
        raise UserError("the ablations take synonymous links and clusters away one by one: begin with both")
    check_budget(options)
    dataset = open_dataset(options.data, name=options.dataset or None)
    check_terms(dataset, masks, judge)
    variants = {title: _variant(options, title, changes) for title, changes in VARIANTS.items()}
    for variant in variants.values():
        begun(variant)  # before hours of training: none has another budget
    if jobs > 1:
        with show_all() as watch_all:
            plans = {title: Planned(variant, begun(variant)) for title, variant in variants.items()}
            failed = side_by_side(plans, jobs, watch_all)
        if failed:
            raise UserError("; ".join(f"{title}: {error}" for title, error in failed.items()))
    rows = []
    for title, variant in variants.items():
        with show(variant) as watch:
            train(variant, resume=begun(variant), watch=watch)
        if manifest.rank() != 0:  # of several processes one judges
            continue
        run = Path(variant.run)
        with counting() as progress:
            rows += evaluate(
                load(run),
                dataset,
                name=title,
                masks=masks,
                seeds=seeds,
                judge=judge,
                folder=run / "kept",
                progress=progress,
            )
    return rows


def _variant(options: Options, title: str, changes: dict[str, Any]) -> Options:
    return replace(options, run=str(Path(options.run) / title.replace(",", "").replace(" ", "-")), **changes)


def check_budget(options: Options) -> None:
    """Those that are compared see the same number of sketches."""
    if options.max_minutes or options.patience:
        raise UserError("max_minutes and patience would give each run another number of sketches: leave them 0")
    if options.start:
        raise UserError("start gives each run what another has learnt of the other's sketches: leave it out")


def begun(options: Options) -> bool:
    """There is such a run already, to go on with or to reuse; one with another budget is no such run."""
    config = Path(options.run) / CONFIG
    if not config.exists():
        return False
    for name in EQUAL:
        now = getattr(options, name)
        other = [before[name] for before in manifest.options_of_stretches(Path(options.run)) if before[name] != now]
        if other:
            raise OtherBudget(f"{options.run} was trained with {name}={other[0]}, not {now}: choose another run=…")
    return True
