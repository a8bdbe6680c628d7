"""Configurations for tests: options by their short names, as on the command line."""

from __future__ import annotations

from typing import Any

from gra2seq.config import RunConfig, parse_config
from gra2seq.config.parse import SECTION_OF, TOP, merge

QUICK = {"preset": "tiny", "data": "doodles:200", "workers": 0, "threads": 1, "gallery": 0, "validate_sketches": 20}


def by_section(**options: Any) -> dict[str, Any]:
    """Options by section, as `parse_config` takes them; `model` is the name of a system."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name == "model":
            placed: dict[str, Any] = {"model": {"name": value}}
        elif name in TOP or name not in SECTION_OF:
            placed = {name: value}
        else:
            placed = {SECTION_OF[name]: {name: value}}
        values = merge(values, placed)
    return values


def config_of(**options: Any) -> RunConfig:
    return parse_config(by_section(**options))


def tiny(model: str = "sp-gra2seq", preset: str = "tiny", **options: Any) -> RunConfig:
    """A system with everything little, or with the sizes of another preset."""
    return config_of(preset=preset, model=model, **options)


def quick(**options: Any) -> RunConfig:
    """A training of seconds."""
    return config_of(**{**QUICK, **options})
