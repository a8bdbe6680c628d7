"""Every system on equal terms: same data, same number of sketches seen, same damage, same judge.

Each system has a folder of its own below the run and is trained, resumed or reused there; one that fails is reported,
and the others go on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gra2seq.data.datasets import Dataset, open_dataset
from gra2seq.errors import UserError
from gra2seq.folder import load
from gra2seq.evaluation.ablate import EQUAL, OtherBudget, Show, begun, check_budget
from gra2seq.evaluation.protocol import Progress, check_terms, evaluate, stored_draws
from gra2seq.evaluation.figures import save_figure
from gra2seq.evaluation.galleries import SHOWN, spread
from gra2seq.evaluation.judge import Judge
from gra2seq.evaluation.sheet import write_sheet
from gra2seq.evaluation.tables import DASH, FORMATS, beside_paper
from gra2seq.model import Model
from gra2seq.models import trained_size
from gra2seq.options import IN_USE, PRESETS, SYSTEMS, Options, as_dict
from gra2seq.options import options as checked
from gra2seq.sketch.render import Picture
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write, readable_os_errors
from gra2seq.training.checkpoint import LAST, WEIGHTS, read_progress
from gra2seq.training.gallery import damaged_picture
from gra2seq.training.loop import Stopped, read_metrics, train
from gra2seq.training.manifest import FREE, options_of_stretches, rank
from gra2seq.training.side_by_side import Planned, ShowAll, show_nobody, side_by_side, why_failed

NAME = "comparison"  # of the files with what was found
WALL, CURVES = "healed", "curves"  # and of its pictures
# What programs read of a system: name here -> name there.
IN_JSON = {
    "system": "model",
    "parameters": "parameters",
    "seconds": "seconds",
    "sketches": "sketches_seen",
    "judged_at": "sketches_seen_by_judged_weights",
    "rate": "sketches_per_second",
    "threads": "threads",
    "jobs": "jobs",
    "terms": "terms",
    "error": "error",
}


@dataclass(frozen=True)
class Compared:
    """A system that took part: its figures, its size and what it cost, or why it failed."""

    system: str
    rows: list[dict[str, Any]]
    parameters: int = 0  # that are trained
    seconds: float = 0.0  # of training, validations and galleries with it
    sketches: int = 0  # seen in training
    judged_at: int = 0  # sketches seen by the weights that are judged: the best of the validation split
    rate: float | None = None  # sketches a second while it learns; None after too few steps to tell
    threads: str = ""  # that computed, "all" where there was one for each core
    jobs: int = 1  # trained at once: time and rate are then those of a share of the cores
    terms: str = ""  # a digest of all that is alike for the systems of one comparison
    error: str = ""


def compare(
    options_of: Callable[[str], Options],
    systems: Sequence[str],
    show: Show,
    *,
    masks: Sequence[float] = (0.0, 0.1, 0.3),
    seeds: Sequence[int] = (0,),
    judge: Judge | None = None,
    counting: Callable[[], AbstractContextManager[Progress | None]] = nullcontext,
    report: Callable[[str], None] = lambda _: None,
    done: Callable[[list[Compared]], None] = lambda _: None,
    jobs: int = 1,
    show_all: ShowAll = show_nobody,
) -> list[Compared]:
    """Train and judge each system; `options_of` gives its options, whose `run` is its folder.

    `done` is told what there is after every system, so that nothing is lost when the rest does not come. With several
    `jobs` so many are trained at once, and judged when all are trained.
    """
    chosen = _checked(options_of, systems, masks, judge)
    terms = _terms(chosen, masks, seeds, judge)
    failed = _train_all(chosen, jobs, show_all) if jobs > 1 else {}
    found: list[Compared] = []
    for name, options in chosen.items():
        report(f"{name} ({len(found) + 1} of {len(chosen)})")
        try:
            if name in failed:
                raise UserError(failed[name])
            one = _one(name, options, show, masks, seeds, judge, counting)
            found.append(replace(one, jobs=jobs, terms=terms))
        except (Stopped, KeyboardInterrupt):
            raise
        except Exception as error:  # whatever it is, it is this system's: the others go on
            why = why_failed(error, Path(options.run))
            report(f"{name} failed: {why}")
            found.append(Compared(name, [], terms=terms, error=why))
        done(found)
    return found


def _train_all(chosen: dict[str, Options], jobs: int, show_all: ShowAll) -> dict[str, str]:
    plans, failed = {}, {}
    for name, options in chosen.items():
        try:
            plans[name] = Planned(options, begun(options))
        except Exception as error:  # whatever it is, it is this system's: the others go on
            failed[name] = why_failed(error, Path(options.run))
    with show_all() as watch:
        return failed | side_by_side(plans, jobs, watch)


def _one(
    name: str,
    options: Options,
    show: Show,
    masks: Sequence[float],
    seeds: Sequence[int],
    judge: Judge | None,
    counting: Callable[[], AbstractContextManager[Progress | None]],
) -> Compared:
    run = Path(options.run)
    dataset = open_dataset(options.data, name=options.dataset or None)
    with show(options) as watch:
        train(options, resume=begun(options), watch=watch)
    if rank() != 0:  # of several processes one judges
        return Compared(name, [])
    model, trained = load(run), read_progress(run / LAST)
    with counting() as progress:
        rows = evaluate(
            model, dataset, name=name, masks=masks, seeds=seeds, judge=judge, folder=run / "kept", progress=progress
        )
    rates = [row["sketches_per_second"] for row in read_metrics(run)]
    steady = [rate for rate in rates if rate is not None and np.isfinite(rate)]
    return Compared(
        name,
        rows,
        parameters=trained_size(model.network),
        seconds=float(trained["seconds"]),
        sketches=int(trained["step"]) * options.batch,
        judged_at=int(read_progress(run / WEIGHTS)["step"]) * options.batch,
        rate=float(np.median(steady)) if steady else None,
        threads=", ".join(dict.fromkeys(str(before["threads"] or "all") for before in options_of_stretches(run))),
    )


def _checked(
    options_of: Callable[[str], Options], systems: Sequence[str], masks: Sequence[float], judge: Judge | None
) -> dict[str, Options]:
    """What can be known before hours of training: names, data, masks, judge, and that the terms are equal."""
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise UserError(f"unknown system {', '.join(unknown)}: one of {', '.join(SYSTEMS)}")
    chosen = {name: options_of(name) for name in dict.fromkeys(systems)}
    for name, options in chosen.items():
        check_budget(options)
        if options.snap != 1:
            raise UserError("snap moves the patches of each system by another share of their side: leave it 1")
        own = {key: value for key, value in SYSTEMS[name].sizes.items() if key not in PRESETS[options.preset]}
        lost = [key for key, value in own.items() if getattr(options, key) != value]
        if lost:
            raise UserError(f"{', '.join(lost)} makes {name} what it is: leave it out of the configuration")
        try:
            begun(options)
        except OtherBudget:
            raise
        except UserError:
            pass  # its folder is damaged: this system's failure, told when it is its turn
    first = next(iter(chosen.values()))
    check_terms(open_dataset(first.data, name=first.dataset or None), masks, judge)
    return chosen


def _terms(chosen: dict[str, Options], masks: Sequence[float], seeds: Sequence[int], judge: Judge | None) -> str:
    """A digest of what must be alike: data, masks, seeds, judge, and every option that is no system's own."""
    sizes = {size for system in SYSTEMS.values() for size in system.sizes}
    own = {"model", *FREE.difference(EQUAL, IN_USE), *sizes}
    first = next(iter(chosen.values()))
    dataset = open_dataset(first.data, name=first.dataset or None)
    default = as_dict(Options())  # what is as it is by default says nothing: new options change no terms
    shared = {name: value for name, value in as_dict(first).items() if name not in own and value != default[name]}
    usual = {name: checked({"preset": first.preset, "model": name}) for name in chosen}
    changed = {
        f"{name} {size}": str(getattr(one, size))
        for name, one in chosen.items()
        for size in sizes
        if getattr(one, size) != getattr(usual[name], size)
    }
    what = [dataset.store.hash, dataset.name, sorted(set(masks)), sorted(set(seeds)), shared, changed]
    about = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
    for tensor in judge.network.state_dict().values() if judge else ():
        about.update(tensor.cpu().numpy().tobytes())
    return about.hexdigest()[:16]


def with_earlier(found: Sequence[Compared], folder: Path) -> list[Compared]:
    """And what is known of other systems from earlier commands of the same terms, all in the order of the tables."""
    known = {one.system: one for one in found}
    terms = {one.terms for one in found}
    for name in (NAME, *(f"{NAME}-{term}" for term in terms)):
        for one in _read(folder / f"{name}.json"):
            if one.terms in terms and not one.error and (folder / one.system / WEIGHTS).exists():
                known.setdefault(one.system, one)
    return [known[name] for name in SYSTEMS if name in known]


def _read(path: Path) -> list[Compared]:
    """What a command has written; nothing if there is none, or if it is of another version: it is written anew."""
    try:
        before = json.loads(path.read_text())
        return [
            Compared(
                rows=[row for row in before["rows"] if row["model"] == told["model"]],
                **{name: told[said] for name, said in IN_JSON.items()},
            )
            for told in before["systems"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _set_aside(folder: Path, terms: str) -> None:
    """A comparison of other terms keeps its figures and pictures, under names that say whose they are."""
    others = {one.terms for one in _read(folder / f"{NAME}.json") if one.rows} - {terms}
    for other in sorted(others)[:1]:
        for file in [file for name in (NAME, WALL, CURVES) for file in folder.glob(f"{name}.*")]:
            with readable_os_errors(file):
                file.replace(file.with_name(f"{file.stem}-{other}{file.suffix}"))


def comparison(found: Sequence[Compared]) -> str:
    """Tables 1 and 2 of the paper in Markdown, its figures beside ours, and what each system costs."""
    rows = [row for system in found for row in system.rows]
    lines = [beside_paper(rows)] if rows else []
    lines += [
        "| system | sees | parameters | sketches seen | by those judged | time, all in all | sketches/s | threads |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for system in found:
        sees = ", ".join(SYSTEMS[system.system].sees)
        if system.error:
            why = system.error.splitlines()[0].replace("|", "\\|")
            lines.append(f"| {system.system} | {sees} | failed: {why} | | | | | |")
            continue
        lines.append(
            f"| {system.system} | {sees} | {system.parameters / 1e6:.2f} M | {system.sketches:,} | "
            f"{system.judged_at:,} | {system.seconds / 60:.1f} min | {_whole(system.rate)} | {system.threads} |"
        )
    at_once = max((system.jobs for system in found), default=1)
    if at_once > 1:
        lines += [
            "",
            f"With --jobs {at_once}: times and rates of what was trained now are those of a share of the cores.",
        ]
    return "\n".join(lines) + "\n"


def _whole(rate: float | None) -> str:
    return DASH if rate is None else f"{rate:.0f}"


def as_json(found: Sequence[Compared]) -> dict[str, Any]:
    systems = [{said: getattr(one, name) for name, said in IN_JSON.items()} for one in found]
    return {"rows": [row for one in found for row in one.rows], "systems": systems}


def write_comparison(found: Sequence[Compared], folder: Path) -> None:
    """comparison.md, .json, and the rows as .csv and .tex; systems of earlier commands in this folder stay in them.

    Those of other terms (another budget, other masks, another judge) go on in files of their own.
    """
    _set_aside(folder, found[0].terms)
    found = with_earlier(found, folder)
    rows = [row for one in found for row in one.rows]
    texts = {".md": comparison(found), ".json": json.dumps(as_json(found), indent=1, allow_nan=False)}
    texts.update({suffix: FORMATS[suffix](rows) for suffix in (".csv", ".tex") if rows})
    for suffix, text in texts.items():
        with atomic_write(folder / f"{NAME}{suffix}") as temporary:
            temporary.write_text(text)


def write_wall(models: dict[str, Model], dataset: Dataset, path: Path, mask: float = 0.1, split: str = "test") -> None:
    """The same damaged sketches, evenly spread over the split, healed by every system: a row a sketch."""
    indices = getattr(dataset, split)
    chosen = spread(len(indices), SHOWN)
    sketches = [dataset.store[int(i)] for i in indices[chosen]]
    columns: list[list[Sketch | Picture | None]] = [list(sketches)]
    for model in models.values():
        draws = stored_draws(dataset, split, len(indices), model.recipe.nodes).numbers[chosen]
        if len(columns) == 1:
            columns.append([damaged_picture(s, model.recipe, d, mask) for s, d in zip(sketches, draws, strict=True)])
        columns.append(list(model.heal(sketches, mask_prob=mask, draws=draws)))
    rows = [list(row) for row in zip(*columns, strict=True)]
    write_sheet(path, rows, ("original", "damaged", *models))


def draw_curves(runs: dict[str, Path], batch: int, path: Path) -> None:
    """What each system says of drawings it did not learn from, against the sketches it has seen."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, run in runs.items():
        said = [row for row in read_metrics(run, "valid.jsonl") if None not in (row["offset"], row["pen"])]
        points = [(row["step"] * batch, row["offset"] + row["pen"]) for row in said]
        axes.plot(*zip(*points, strict=True) if points else ((), ()), marker="o", markersize=3, label=name)
    axes.set_xlabel("sketches seen")
    axes.set_ylabel("minus log-likelihood of a sketch of the valid split")
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    for suffix in (".png", ".svg"):
        save_figure(figure, path.with_name(path.name + suffix))
