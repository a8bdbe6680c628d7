"""Pages that are generated from the code when the site is built: the commands and the options of a run.

MkDocs calls `on_files` (see `hooks` in mkdocs.yml). `python docs/generate.py` prints both pages.
"""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from gra2seq.cli import app
from gra2seq.config.fields import BOUNDS
from gra2seq.config.parse import SECTIONS
from gra2seq.config.presets import PRESETS
from gra2seq.config.run import RunConfig
from gra2seq.config.systems import SYSTEMS

SECTION_TITLES = {
    "model": "what a network is",
    "preparation": "from strokes to what a network sees, and the damage of training",
    "drawing": "how a trained model draws",
    "training": "how a model is trained",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of the folder."""
    for path, page in (("reference/cli.md", commands_page()), ("reference/options.md", options_page())):
        files.append(File.generated(config, path, content=page))
    return files


def commands_page() -> str:
    """Every command with its arguments and options."""
    lines = [
        "# Commands",
        "",
        "`gra2seq COMMAND --help` prints the same. An error that you can correct is one line on standard error and",
        "exit code 2; Ctrl-C is exit code 130. With `--json` the answer is one JSON object on standard output.",
    ]
    for name, command in all_commands():
        usage = f"    gra2seq {name} {_usage(command)}"
        lines += ["", f"## gra2seq {name}", "", _plain(command.help or ""), "", usage, ""]
        lines += ["| argument or option | default | meaning |", "| --- | --- | --- |"]
        lines += [_parameter_row(parameter) for parameter in command.params if "--help" not in parameter.opts]
    return "\n".join(lines) + "\n"


def all_commands() -> list[tuple[str, Any]]:
    """Name and command of every command, those of groups as `group command`."""
    root: Any = typer.main.get_command(app)
    found: list[tuple[str, Any]] = []
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        found += [(f"{name} {own}", one) for own, one in inner.items()] if inner else [(name, command)]
    return found


def _usage(command: Any) -> str:
    words = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            word = parameter.name.upper() + (" ..." if parameter.nargs != 1 else "")
            words.append(word if parameter.required else f"[{word}]")
    return " ".join([*words, "[OPTIONS]"])


def _parameter_row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name, default = f"`{parameter.name.upper()}`", "required" if parameter.required else ""
    else:
        name = ", ".join(f"`{word}`" for word in [*parameter.opts, *parameter.secondary_opts])
        default = "required" if parameter.required else _default(parameter.default)
    return f"| {name} | {default} | {_plain(parameter.help or '')} |"


def _default(value: Any) -> str:
    if value is None or value is False or value == [] or callable(value):
        return ""
    return "yes" if value is True else f"`{value}`"


def options_page() -> str:
    """Every option of a run, by section, with default and bounds; then the presets and systems."""
    lines = [
        "# Options",
        "",
        "A configuration is a YAML file of what differs from a preset: top-level options, and the sections `model`,",
        "`preparation`, `drawing` and `training`. On the command line `name=value` changes one option; the section may",
        "be left out (`links=random` is `model.links=random`). An unknown name is an error that suggests the nearest.",
        "",
        "The defaults are those of the preset `paper`. *Free* options may be changed when a run is resumed.",
        "",
        "## Top level",
        "",
        *_option_table(RunConfig),
    ]
    for section, kind in SECTIONS.items():
        lines += ["", f"## {section}: {SECTION_TITLES[section]}", "", *_option_table(kind)]
    lines += ["", "## Presets", "", "What each preset changes of the defaults.", "", "| preset | section | options |"]
    lines += ["| --- | --- | --- |"]
    for preset, sections in PRESETS.items():
        rows = [f"| `{preset}` | {section} | {_settings(values)} |" for section, values in sections.items()]
        lines += rows or [f"| `{preset}` | | the defaults |"]
    lines += ["", "## Systems", "", "What each system (`model=NAME`) sees, and what it changes of the defaults.", ""]
    lines += ["| system | authors | sees | options |", "| --- | --- | --- | --- |"]
    for name, system in SYSTEMS.items():
        own = {key: value for values in system.defaults.values() for key, value in values.items()}
        lines.append(f"| `{name}` | {system.authors} | {', '.join(system.sees)} | {_settings(own)} |")
    return "\n".join(lines) + "\n"


def _settings(values: typing.Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={_value(value)}`" for name, value in values.items())


def _option_table(kind: type[Any]) -> list[str]:
    rows = ["| option | default | values | meaning |", "| --- | --- | --- | --- |"]
    for field in dataclasses.fields(kind):
        if field.name in SECTIONS:
            continue
        free = " *Free.*" if field.metadata.get("free") else ""
        meaning = _plain(field.metadata["help"]) + free
        rows.append(f"| `{field.name}` | `{_value(field.default)}` | {_values(field)} | {meaning} |")
    return rows


def _values(field: dataclasses.Field[Any]) -> str:
    if field.metadata.get("choices"):
        return ", ".join(f"`{choice}`" for choice in field.metadata["choices"])
    bounds = [f"{words} {field.metadata[name]:,}" for name, _, words in BOUNDS if name in field.metadata]
    return ", ".join(bounds)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(str, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value) or '""'


def _plain(text: str) -> str:
    """One line that is safe inside a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(commands_page())
    print(options_page())
