"""YAML files and command-line changes as a `RunConfig`: presets filled in, names and values checked."""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gra2seq.config.drawing import DrawingConfig
from gra2seq.config.extensions import check_imported, import_modules
from gra2seq.config.fields import check, convert
from gra2seq.config.model import ModelConfig
from gra2seq.config.preparation import PreparationConfig
from gra2seq.config.presets import PRESETS
from gra2seq.config.run import RunConfig
from gra2seq.config.systems import SYSTEMS
from gra2seq.config.training import TrainingConfig
from gra2seq.errors import UserError, unknown_name
from gra2seq.system.input_files import read_bytes

MAX_YAML_BYTES = 100_000
SECTIONS: dict[str, type[Any]] = {
    "model": ModelConfig,
    "preparation": PreparationConfig,
    "drawing": DrawingConfig,
    "training": TrainingConfig,
}
TOP = tuple(field.name for field in dataclasses.fields(RunConfig) if field.name not in SECTIONS)
# The short names of the command line: links=random is model.links=random.
SECTION_OF = {field.name: section for section, kind in SECTIONS.items() for field in dataclasses.fields(kind)}
AMBIGUOUS = {"name", "seed"}  # `model=NAME` and `seed=N` say what is meant


def parse_config(values: Mapping[str, Any], *, source: str | None = None) -> RunConfig:
    """A checked configuration: defaults of the system, then the preset, then what is given, by section.

    With `source`, the name of a file by someone else, the values are not trusted: its `modules` are not imported, but
    must be imported already.
    """
    preset = values.get("preset", RunConfig.preset)
    if not isinstance(preset, str) or preset not in PRESETS:
        raise unknown_name("preset", str(preset), PRESETS)
    modules = convert("modules", values.get("modules", ()), tuple[str, ...])
    if source is None:
        import_modules(modules)
    else:
        check_imported(modules, source)
    sections = {name: _section(name, values.get(name, {})) for name in SECTIONS}
    system = SYSTEMS.get(str(sections["model"].get("name", ModelConfig.name)))
    merged: dict[str, Any] = {}
    for name, kind in SECTIONS.items():
        defaults = dict(system.defaults.get(name, {})) if system else {}
        merged[name] = _build(kind, {**defaults, **PRESETS[preset].get(name, {}), **sections[name]}, name)
    top = {name: value for name, value in values.items() if name not in SECTIONS}
    config: RunConfig = _build(RunConfig, {**top, "preset": preset}, "", merged)
    config.check()
    return dataclasses.replace(
        config, run=_expand_home(config.run), data=_expand_home(config.data), start=_expand_home(config.start)
    )


def _section(name: str, values: Any) -> Mapping[str, Any]:
    if name == "model" and isinstance(values, str):
        return {"name": values}
    if not isinstance(values, Mapping):
        raise UserError(f"{name} must hold `option: value` lines, not {str(values)[:80]!r}")
    return values


def _build(kind: type[Any], values: Mapping[str, Any], section: str, fixed: Mapping[str, Any] | None = None) -> Any:
    """A checked configuration of one kind; `fixed` are values that are checked already."""
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.name not in SECTIONS}
    known = list(fields) if section else [*fields, *SECTIONS]
    checked = dict(fixed or {})
    for name, value in values.items():
        if name not in fields:
            raise UserError(unknown_option(str(name), known, section))
        checked[name] = convert(name, value, hints[name])
        check(name, checked[name], fields[name].metadata)
    return kind(**checked)


def unknown_option(name: str, known: Sequence[str], section: str) -> str:
    """The message for a name that is no option: the section that it belongs to, or the nearest option."""
    if name in SECTION_OF and SECTION_OF[name] != section:
        return f"option {name!r} belongs to the section {SECTION_OF[name]!r}: put it there"
    near = difflib.get_close_matches(name, [*known, *SECTION_OF], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
    return f"unknown option {name[:80]!r}{f' of {section}' if section else ''}{hint}"


def read_config(path: str | Path, changes: Sequence[str] = ()) -> RunConfig:
    """A YAML file of what differs from the preset, or the name of one in the package, then `name=value` changes."""
    import yaml  # here, because drawing does not need it

    path = find_config(path)
    if path.suffix.lower() in (".svg", ".npz", ".ndjson", ".gz"):
        raise UserError(f"{path} holds drawings: a configuration is a .yaml file, as those of configs/")
    try:
        text = read_bytes(path, MAX_YAML_BYTES, "a configuration holds a few lines").decode()
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise UserError(f"{path} refers to its own values (*name), which may grow without limit: write them out")
        values = yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, or no such date or number
        raise UserError(f"{path} is not valid YAML: {str(error)[:200]}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} must hold `name: value` lines")
    return parse_config(merge(values, read_changes(changes)))


def find_config(path: str | Path) -> Path:
    """The file of this path, or the configuration of the package with this name."""
    path = Path(path)
    if path.exists() or path.suffix or path.name != str(path):
        return path
    packaged = {file.stem: file for file in (Path(__file__).parent.parent / "configs").glob("*.yaml")}
    if path.name not in packaged:
        raise unknown_name("configuration", path.name, packaged, "in this folder or in the package")
    return packaged[path.name]


def read_changes(changes: Sequence[str]) -> dict[str, Any]:
    """`name=value` or `section.name=value` of the command line, values as in YAML."""
    import yaml

    values: dict[str, Any] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise UserError(f"{change[:80]!r} is not of the form name=value")
        try:
            value = yaml.safe_load(text) if text else ""
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise UserError(f"the value of {change[:80]!r} cannot be read: put it in quotes ({error})") from error
        values = merge(values, _placed(name, value))
    return values


def _placed(name: str, value: Any) -> dict[str, Any]:
    section, dot, rest = name.partition(".")
    if dot:
        if section not in SECTIONS:
            raise unknown_name("section", section, SECTIONS)
        return {section: {rest: value}}
    if name == "model":
        return {"model": {"name": value}}
    if name in TOP or name in AMBIGUOUS or name not in SECTION_OF:
        if name not in TOP:
            raise UserError(unknown_option(name, [*TOP, *SECTIONS], ""))
        return {name: value}
    return {SECTION_OF[name]: {name: value}}


def merge(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Two nested mappings, the second one's values first."""
    merged = dict(first)
    for name, value in then.items():
        before = merged.get(name)
        if name == "model" and isinstance(before, str):
            before = {"name": before}
        merged[name] = {**before, **value} if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return merged


def as_dict(config: Any) -> dict[str, Any]:
    """A configuration as plain values, for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in _plain(config).items()}


def _plain(config: Any) -> dict[str, Any]:
    return {
        field.name: as_dict(value) if dataclasses.is_dataclass(value) else value
        for field in dataclasses.fields(config)
        for value in [getattr(config, field.name)]
    }


def _expand_home(path: str) -> str:
    """~ is the user's home folder, also where the shell did not expand it."""
    return str(Path(path).expanduser()) if path.startswith("~") else path
