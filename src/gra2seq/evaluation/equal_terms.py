"""What compared models have in common: data, budget, judge, and every option that is not a system's own."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gra2seq.config import RunConfig, parse_config
from gra2seq.config.presets import PRESETS
from gra2seq.config.systems import SYSTEMS
from gra2seq.data.datasets import Dataset, open_dataset
from gra2seq.errors import UserError
from gra2seq.evaluation.judging import Progress
from gra2seq.evaluation.protocol import Terms
from gra2seq.evaluation.redrawing import drawing_mode
from gra2seq.models.model_files import CONFIG
from gra2seq.models.registry import check_model
from gra2seq.training import manifest
from gra2seq.training.report import StepCallback
from gra2seq.training.side_by_side import ShowAll, show_nothing

BUDGET = "budget"  # value of `free` of options that must be alike, though a run may be resumed with another one

Show = Callable[[RunConfig], AbstractContextManager[StepCallback]]


def _silent(_config: RunConfig) -> AbstractContextManager[StepCallback]:
    return nullcontext(lambda _report: None)


@dataclass(frozen=True)
class Display:
    """How trainings and evaluations report their progress. The default is silent."""

    training: Show = _silent  # one training
    trainings: ShowAll = show_nothing  # several at once
    counting: Callable[[], AbstractContextManager[Progress | None]] = nullcontext  # an evaluation
    message: Callable[[str], None] = lambda _text: None


class OtherBudget(UserError):
    """A run that is there has seen another number of sketches than it is to be compared at."""


@dataclass(frozen=True)
class Option:
    """A value of a configuration, with the metadata of its field."""

    value: Any
    metadata: Mapping[str, Any]

    @property
    def compared(self) -> bool:
        """Whether it changes what is learnt or drawn, so that models with another value are not comparable."""
        return self.budget or not self.metadata["free"]

    @property
    def budget(self) -> bool:
        """Whether it says how long a model learns."""
        return bool(self.metadata["free"] == BUDGET)


def options_of(config: RunConfig) -> dict[str, Option]:
    """Every option of a configuration, by its dotted name."""
    found: dict[str, Option] = {}
    sections = {"": config, **{name: getattr(config, name) for name in ("model", "preparation", "drawing", "training")}}
    for section, part in sections.items():
        for field in dataclasses.fields(part):
            if field.metadata:
                found[f"{section}.{field.name}".lstrip(".")] = Option(getattr(part, field.name), field.metadata)
    return found


def own_options(name: str) -> dict[str, Any]:
    """The options that make a system what it is, by dotted name."""
    return {
        f"{section}.{option}": value
        for section, values in SYSTEMS[name].defaults.items()
        for option, value in values.items()
    }


def check_equal(configs: Mapping[str, RunConfig]) -> None:
    """Every system has its own options as they are, and all others as every other system has them."""
    first, *_ = configs
    for name, config in configs.items():
        check_budget(config)
        preset = {f"{section}.{key}" for section, values in PRESETS[config.preset].items() for key in values}
        values = options_of(config)
        changed = [key for key, own in own_options(name).items() if key not in preset and values[key].value != own]
        if changed:
            raise UserError(f"{', '.join(changed)} makes {name} what it is: leave it out of the configuration")
        check_model(config.model)
        here, there = _shared(config), _shared(configs[first])
        for key in here:
            if here[key] != there[key]:
                raise UserError(
                    f"{key} is {there[key]!r} for {first} and {here[key]!r} for {name}: give all systems the same"
                )


def _shared(config: RunConfig) -> dict[str, Any]:
    """The options that all systems have alike: those that are compared and no system's own."""
    own = {"model.name", *(key for name in SYSTEMS for key in own_options(name))}
    return {
        key: list(option.value) if isinstance(option.value, tuple) else option.value
        for key, option in options_of(config).items()
        if option.compared and key not in own
    }


def digest(configs: Mapping[str, RunConfig], terms: Terms, draw: str) -> str:
    """A short name of all that is alike in a comparison: data, damage, seeds, judge, drawing and shared options.

    An option with its default value does not count, so that new options change no names.
    """
    first = next(iter(configs.values()))
    dataset = evaluated_dataset(first, terms)
    first = dataclasses.replace(first, drawing=drawing_mode(first.drawing, draw))
    default = _shared(RunConfig())
    shared = {key: value for key, value in _shared(first).items() if value != default.get(key)}
    changed: dict[str, str] = {}  # options of a system's own that the preset does not explain
    for name, config in configs.items():
        usual = options_of(parse_config({"preset": config.preset, "model": {"name": name}}))
        own = {key for other in SYSTEMS for key in own_options(other)}
        values = options_of(config)
        changed |= {f"{name} {key}": str(values[key].value) for key in own if values[key].value != usual[key].value}
    about = [dataset.store.hash, dataset.name, terms.split, terms.direction, sorted(set(terms.masks))]
    what = [*about, sorted(set(terms.squares)), sorted(set(terms.seeds)), draw, shared, changed]
    found = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
    for tensor in terms.judge.network.state_dict().values() if terms.judge else ():
        found.update(tensor.cpu().numpy().tobytes())
    return found.hexdigest()[:16]


def evaluated_dataset(config: RunConfig, terms: Terms) -> Dataset:
    """The data that models are evaluated on: a named set of the terms, or what they are trained on."""
    trained = open_dataset(config.data, name=config.dataset or None)
    if terms.dataset is None:
        return trained
    found = open_dataset(config.data, name=terms.dataset)
    unseen = [category for category in found.categories if category not in trained.categories]
    if unseen:
        raise UserError(f"{found.name} holds {unseen[0]}, which is not in the training data, {trained.name}")
    return found


def check_budget(config: RunConfig) -> None:
    """Models that are compared see the same number of sketches."""
    if config.training.max_minutes or config.training.patience:
        raise UserError("max_minutes and patience would give each run another number of sketches: leave them 0")
    if config.start:
        raise UserError("start would give each run what another model has learnt from other sketches: leave it out")


def begun(config: RunConfig) -> bool:
    """Whether there is such a run already, to resume or to reuse; one with another budget is an error."""
    run = Path(config.run)
    if not (run / CONFIG).exists():
        return False
    budget = {key: option.value for key, option in options_of(config).items() if option.budget}
    for before in manifest.configs_of_stretches(run):
        for key, now in budget.items():
            section, name = key.split(".")
            then = before[section][name]
            if then != now:
                raise OtherBudget(f"{run} was trained with {name}={then}, not {now}: choose another run=…")
    return True
