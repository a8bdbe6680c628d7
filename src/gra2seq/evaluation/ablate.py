"""The paper's Tables 3 and 4: what synonymous links and clustering bring, over several trainings and test sketches.

Every variant is trained with the same training seeds. A difference between two variants is that of the same test
sketches, so its bootstrap interval is paired: sketches are drawn again with replacement, each with its hits of both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gra2seq.config import RunConfig
from gra2seq.errors import UserError
from gra2seq.evaluation.bootstrap import paired_interval
from gra2seq.evaluation.equal_terms import Display, begun, check_budget, evaluated_dataset
from gra2seq.evaluation.protocol import Outcome, Terms, check_terms, outcomes, row_of, write_tables
from gra2seq.evaluation.published import NO_CLUSTERS, RANDOM_LINKS
from gra2seq.evaluation.redrawing import drawing_mode
from gra2seq.evaluation.tables import DASH, beside_paper, damage, grid
from gra2seq.folder import load
from gra2seq.sketch.strokes import Doubles
from gra2seq.system.atomic_files import atomic_write
from gra2seq.training import manifest
from gra2seq.training.loop import train
from gra2seq.training.side_by_side import Planned, side_by_side

FULL = "synonymous links, clustering"
# What each variant changes of the model, and nothing else: same data, seeds and budget.
VARIANTS: dict[str, dict[str, Any]] = {
    FULL: {},
    "random links": {"links": "random"},
    "no links": {"links": "none"},
    "no clustering": {"clusters": 0},
}
PAPER_NAMES = {FULL: "SP-gra2seq", "random links": RANDOM_LINKS, "no clustering": NO_CLUSTERS}  # in Tables 3 and 4
LINKS = (FULL, "random links")  # the pair that shows what synonymous links bring
SYSTEM = "sp-gra2seq"
NAME = "ablation"  # of the files with what was found
COMPARED = {"rec": "Rec", "ret_1": "Ret@1"}  # hits that are compared sketch by sketch


@dataclass(frozen=True)
class Difference:
    """How much larger a share of hits the full model has than a variant, over the same sketches and seeds."""

    variant: str
    mask: float
    square: float
    measure: str  # a name of `COMPARED`
    mean: float
    low: float  # bounds of the paired bootstrap interval over the test sketches
    high: float
    by_training: list[float]  # of each training seed
    deviation: float | None  # of these; None with one training


@dataclass
class Ablation:
    """Rows of all variants, and their differences to the full model."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


Hits = dict[tuple[str, float, float], dict[str, list[Doubles]]]  # (measure, mask, square): variant: (N,) a training


def ablate(
    config: RunConfig,
    terms: Terms | None = None,
    *,
    train_seeds: int = 1,
    other_train_seeds: int | None = None,
    draw: str = "code",
    jobs: int = 1,
    display: Display | None = None,
) -> Ablation:
    """Train every variant with every training seed in a folder of its own below `config.run` (or go on, or reuse).

    Training seeds are `config.seed`, the next, and so on: `train_seeds` of them for synonymous and random links,
    `other_train_seeds` for the other variants (default: as many). With several `jobs` so many are trained at once.
    """
    terms, display = terms or Terms(), display or Display()
    others = train_seeds if other_train_seeds is None else other_train_seeds
    _check(config, train_seeds, others)
    dataset = evaluated_dataset(config, terms)
    check_terms(dataset, terms)
    runs = dict(_runs(config, train_seeds, others))
    for run in runs.values():
        begun(run)  # before hours of training: none has another budget
    if jobs > 1:
        _train_at_once(runs, jobs, display)
    found, hits = Ablation(), Hits()
    for (variant, seed), run in runs.items():
        with display.training(run) as on_step:
            train(run, resume=begun(run), on_step=on_step)
        if manifest.rank() == 0:  # of several processes one judges
            with display.counting() as progress:
                model = load(run.run)
                model = model.with_drawing(drawing_mode(config.drawing, draw))
                results = list(outcomes(model, dataset, terms, Path(run.run) / "kept", progress))
            found.rows += [{**row_of(variant, model, dataset, terms, one), "train_seed": seed} for one in results]
            _add_hits(hits, variant, results)
    found.differences = [one for key, by_variant in hits.items() for one in _differences(key, by_variant)]
    return found


def _check(config: RunConfig, train_seeds: int, others: int) -> None:
    if config.model.name != SYSTEM:
        raise UserError(
            f"the ablations are of {SYSTEM}; {config.model.name} has no synonymous links and clusters to lose"
        )
    if config.model.links != "synonymous" or not config.model.clusters:
        raise UserError("the ablations take synonymous links and clusters away one by one: begin with both")
    if not 1 <= others <= train_seeds:
        raise UserError(f"{train_seeds} training seeds, {others} for other variants: 1 or more, the first not fewer")
    check_budget(config)


def _runs(config: RunConfig, train_seeds: int, others: int) -> Iterator[tuple[tuple[str, int], RunConfig]]:
    """Every variant with its training seeds, the variants of one seed after each other."""
    for seed in range(config.seed, config.seed + train_seeds):
        for variant, changes in VARIANTS.items():
            if variant not in LINKS and seed >= config.seed + others:
                continue
            folder = Path(config.run) / variant.replace(",", "").replace(" ", "-") / f"seed-{seed}"
            yield (variant, seed), replace(config, run=str(folder), seed=seed, model=replace(config.model, **changes))


def _train_at_once(runs: Mapping[tuple[str, int], RunConfig], jobs: int, display: Display) -> None:
    plans = {f"{variant}, seed {seed}": Planned(run, begun(run)) for (variant, seed), run in runs.items()}
    with display.trainings() as on_step:
        failed = side_by_side(plans, jobs, on_step)
    if failed:
        raise UserError("; ".join(f"{name}: {error}" for name, error in failed.items()))


def _add_hits(hits: Hits, variant: str, results: list[Outcome]) -> None:
    """Hits of one training: of each sketch the share over the seeds of the drawings."""
    for kind in dict.fromkeys(outcome.kind for outcome in results):
        own = [outcome for outcome in results if outcome.kind == kind]
        shares = {"ret_1": np.mean([one.found(1) for one in own], axis=0)}
        recognised = [one.recognised for one in own if one.recognised is not None]
        if recognised:
            shares["rec"] = np.mean(recognised, axis=0)
        for measure in COMPARED:
            if measure in shares:
                by_variant = hits.setdefault((measure, kind.mask, kind.square), {})
                by_variant.setdefault(variant, []).append(shares[measure])


def _differences(key: tuple[str, float, float], by_variant: Mapping[str, list[Doubles]]) -> Iterator[Difference]:
    measure, mask, square = key
    full = np.stack(by_variant[FULL])  # (trainings, N)
    for variant in by_variant:
        if variant != FULL:
            own = np.stack(by_variant[variant])
            apart = full[: len(own)] - own  # the training seeds that both have
            low, high = paired_interval(apart.mean(axis=0))
            by_training = apart.mean(axis=1).tolist()
            deviation = float(np.std(by_training, ddof=1)) if len(by_training) > 1 else None
            mean = float(apart.mean())
            yield Difference(variant, mask, square, measure, mean, low, high, by_training, deviation)


def in_words(found: Ablation) -> str:
    """Tables 3 and 4 beside the paper's figures, and the differences with their intervals, in Markdown."""
    if not found.differences:
        return beside_paper(found.rows, PAPER_NAMES)
    head = ["Damage", "Measure", f"{FULL}, less …", "Difference, points", "95 % interval", "over trainings"]
    lines = [head, ["---", "---", "---", "---:", "---:", "---:"]]
    for one in found.differences:
        deviation = DASH if one.deviation is None else f"± {100 * one.deviation:.2f}"
        interval = f"{100 * one.low:+.2f} to {100 * one.high:+.2f}"
        about = [damage(asdict(one)), COMPARED[one.measure], one.variant]
        lines.append([*about, f"{100 * one.mean:+.2f}", interval, deviation])
    note = (
        "Points are per cent of the test sketches. The interval is a paired bootstrap over the test sketches; "
        "the last column is the standard deviation of the difference over the training seeds.\n"
    )
    return beside_paper(found.rows, PAPER_NAMES) + "\n" + grid(lines) + "\n" + note


def as_json(found: Ablation) -> dict[str, Any]:
    return {"rows": found.rows, "differences": [asdict(one) for one in found.differences]}


def write_ablation(found: Ablation, folder: Path) -> None:
    """The rows in every format, and `ablation-beside-paper.md` and `ablation-differences.json`."""
    write_tables(found.rows, folder, NAME)
    differences = json.dumps(as_json(found)["differences"], indent=1, allow_nan=False) + "\n"
    for name, text in ((f"{NAME}-beside-paper.md", in_words(found)), (f"{NAME}-differences.json", differences)):
        with atomic_write(folder / name) as temporary:
            temporary.write_text(text)
