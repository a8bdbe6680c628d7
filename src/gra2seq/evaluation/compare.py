"""Every system on equal terms: same data, same number of sketches seen, same damage, same judge.

Each system has a folder of its own below the run and is trained, resumed or reused there; one that fails is reported,
and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gra2seq.config import RunConfig
from gra2seq.config.systems import SYSTEMS
from gra2seq.errors import UserError, unknown_name
from gra2seq.evaluation.equal_terms import Display, OtherBudget, begun, check_equal, digest, evaluated_dataset
from gra2seq.evaluation.protocol import Terms, check_terms, outcomes, row_of
from gra2seq.evaluation.redrawing import drawing_mode
from gra2seq.folder import load
from gra2seq.models.model_files import CONFIG, LAST, WEIGHTS, read_progress
from gra2seq.models.registry import trained_size
from gra2seq.training import manifest
from gra2seq.training.logs import read_metrics
from gra2seq.training.loop import Stopped, train
from gra2seq.training.perceptual_reader import NO_READER, TRAINED
from gra2seq.training.side_by_side import Planned, side_by_side, why_failed

READS = "sketch-healer-2"  # the system that reads its drawings with another's stroke encoder


@dataclass(frozen=True)
class Compared:
    """A system that took part: its figures, its size and what it cost, or why it failed."""

    system: str
    rows: list[dict[str, Any]]
    parameters: int = 0  # that are trained
    seconds: float = 0.0  # of training, with validations and galleries
    sketches: int = 0  # seen in training
    judged_at: int = 0  # sketches seen by the weights that are judged: the best on the validation split
    rate: float | None = None  # sketches a second in training; None after too few steps to measure it
    threads: str = ""  # that computed, "all" where there was one for each core
    reader: str = ""  # of sketch-healer-2: whose stroke encoder it reads with, or "random"
    jobs: int = 1  # trainings at once: time and rate are then those of a share of the cores
    terms: str = ""  # a digest of all that is alike for the systems of one comparison
    error: str = ""


@dataclass(frozen=True)
class _Comparison:
    """Configurations by system, and how all are judged and shown."""

    configs: Mapping[str, RunConfig]
    terms: Terms
    draw: str
    display: Display

    def ready(self, name: str) -> RunConfig:
        """The configuration to train with, now that other systems may be there to read with."""
        config = self.configs[name]
        reader = ""
        if name == READS:
            reader = config.training.reader or self._reader_beside(Path(config.run))
        return replace(config, training=replace(config.training, reader="" if reader == NO_READER else reader))

    def _reader_beside(self, run: Path) -> str:
        """The folder of a finished sketch-rnn in the same comparison; of a run that has begun, what it began with."""
        if (run / CONFIG).exists():
            return str(manifest.configs_of_stretches(run)[-1]["training"]["reader"])
        beside = Path(self.configs[TRAINED].run) if TRAINED in self.configs else run.parent / TRAINED
        if is_finished(beside):
            return str(beside)
        self.display.message(f"{READS} reads with random weights: there is no finished {TRAINED} at {beside}")
        return ""

    def one(self, name: str) -> Compared:
        """Train a system, or go on, or reuse it, and judge it."""
        config = self.ready(name)
        run = Path(config.run)
        dataset = evaluated_dataset(config, self.terms)
        with self.display.training(config) as on_step:
            train(config, resume=begun(config), on_step=on_step)
        if manifest.rank() != 0:  # of several processes one judges
            return Compared(name, [])
        model = load(run)
        model = model.with_drawing(drawing_mode(config.drawing, self.draw))
        with self.display.counting() as progress:
            found = outcomes(model, dataset, self.terms, run / "kept", progress)
            rows = [row_of(name, model, dataset, self.terms, outcome) for outcome in found]
        return replace(_costs(config), rows=rows, parameters=trained_size(model.network))


def compare(
    config_of: Callable[[str], RunConfig],
    systems: Sequence[str],
    terms: Terms | None = None,
    *,
    draw: str = "code",
    jobs: int = 1,
    display: Display | None = None,
    done: Callable[[list[Compared]], None] = lambda _: None,
) -> list[Compared]:
    """Train and judge each system; `config_of` gives its configuration, whose `run` is its folder.

    `done` receives what there is after every system, so that nothing is lost if the rest fails. With several `jobs` so
    many are trained at once, and judged when all are trained. A system that reads with another's stroke encoder comes
    last.
    """
    terms, display = terms or Terms(), display or Display()
    configs = _checked(config_of, systems, terms)
    name_of_terms = digest(configs, terms, draw)
    comparison = _Comparison(configs, terms, draw, display)
    failed = _train_all(comparison, jobs) if jobs > 1 else {}
    found: list[Compared] = []
    for name in sorted(configs, key=lambda name: name == READS):
        display.message(f"{name} ({len(found) + 1} of {len(configs)})")
        try:
            if name in failed:
                raise UserError(failed[name])
            found.append(replace(comparison.one(name), jobs=jobs, terms=name_of_terms))
        except (Stopped, KeyboardInterrupt):
            raise
        except Exception as error:  # whatever it is, it is this system's: the others go on
            why = why_failed(error, Path(configs[name].run))
            display.message(f"{name} failed: {why}")
            found.append(Compared(name, [], terms=name_of_terms, error=why))
        done(found)
    return sorted(found, key=lambda one: list(configs).index(one.system))


def is_finished(run: Path) -> bool:
    """Whether a run has ended by its own limits and has weights to load."""
    try:
        return (run / WEIGHTS).exists() and bool(read_progress(run / LAST).get("finished"))
    except UserError:
        return False


def _train_all(comparison: _Comparison, jobs: int) -> dict[str, str]:
    """Train `jobs` systems at a time; returns what went wrong, by name.

    A system that reads with another's stroke encoder is trained after all others, when that one is finished.
    """
    failed: dict[str, str] = {}
    later = [name for name in comparison.configs if name == READS]
    for names in ([name for name in comparison.configs if name not in later], later):
        plans = {}
        for name in names:
            try:
                config = comparison.ready(name)
                plans[name] = Planned(config, begun(config))
            except Exception as error:  # whatever it is, it is this system's: the others go on
                failed[name] = why_failed(error, Path(comparison.configs[name].run))
        if plans:
            with comparison.display.trainings() as on_step:
                failed |= side_by_side(plans, jobs, on_step)
    return failed


def _costs(config: RunConfig) -> Compared:
    """What the training of a run has cost, as its logs say."""
    run, batch = Path(config.run), config.training.batch
    trained = read_progress(run / LAST)
    rates = [row["sketches_per_second"] for row in read_metrics(run)]
    steady = [rate for rate in rates if rate is not None and np.isfinite(rate)]
    stretches = manifest.configs_of_stretches(run)
    return Compared(
        config.model.name,
        [],
        seconds=float(trained["seconds"]),
        sketches=int(trained["step"]) * batch,
        judged_at=int(read_progress(run / WEIGHTS)["step"]) * batch,
        rate=float(np.median(steady)) if steady else None,
        threads=", ".join(dict.fromkeys(str(before["threads"] or "all") for before in stretches)),
        reader=(TRAINED if config.training.reader else "random") if config.model.name == READS else "",
    )


def _checked(config_of: Callable[[str], RunConfig], systems: Sequence[str], terms: Terms) -> dict[str, RunConfig]:
    """What can be known before hours of training: names, data, masks, judge, and that the terms are equal."""
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise unknown_name("system", unknown[0], SYSTEMS)
    if not systems:
        raise UserError(f"there is no system to compare: name some of {', '.join(SYSTEMS)}")
    configs = {name: config_of(name) for name in dict.fromkeys(systems)}
    check_equal(configs)
    for config in configs.values():
        try:
            begun(config)
        except OtherBudget:
            raise
        except UserError:
            pass  # its folder is damaged: this system's failure, reported in its turn
    check_terms(evaluated_dataset(next(iter(configs.values())), terms), terms)
    return configs
