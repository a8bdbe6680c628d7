"""The documents are true: marked code blocks run, named commands exist, and the README stays short.

In a guide `<!-- runnable -->` before a block of Python or shell makes it run here, and `<!-- file: NAME -->` writes the
block to a file first. The blocks of one guide run in order, in one folder, and share their variables.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from gra2seq.cli import app, spread_values
from gra2seq.config.systems import SYSTEMS
from gra2seq.formats.registry import FORMATS
from gra2seq.models.registry import MODELS
from gra2seq.nn.links import LINKS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HISTORY = {"lab-log.md"}  # commands of earlier versions
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.name not in HISTORY)
README_LINES = 110
BLOCK = re.compile(
    r"^<!-- (?:runnable|file: (?P<name>\S+)) -->\n```(?P<language>\w+)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"(?:^|[`\s(])gra2seq +(?P<words>[a-z][a-z0-9-]*(?: +[a-z][a-z0-9-]*)?)", re.MULTILINE)
CONFIGURATION = re.compile(r"gra2seq (?:train|compare|ablate) ([a-z][a-z0-9-]+)(?=[ `\n])")
NOT_COMMANDS = {"is", "and", "can", "that", "import", "of", "to", "heals", "reads", "needs"}  # prose after the name
TRAININGS = ("train", "compare", "ablate")


@dataclass(frozen=True)
class Block:
    """A marked block of a guide."""

    language: str
    code: str
    file: str | None


def blocks_of(path: Path) -> list[Block]:
    return [Block(match["language"], match["code"], match["name"]) for match in BLOCK.finditer(path.read_text("utf-8"))]


SLOW = {"reproduce"}  # trains and compares
GUIDES = [path for path in [ROOT / "README.md", *PAGES] if blocks_of(path)]


@pytest.fixture(autouse=True)
def _registries_are_restored():
    """What a guide registers is gone after its test."""
    registries = (SYSTEMS, MODELS, LINKS, FORMATS)
    before = [dict(registry) for registry in registries]
    yield
    for registry, content in zip(registries, before, strict=True):
        registry.clear()
        registry.update(content)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the reader of a guide has it: the examples are there, and modules in it can be imported."""
    shutil.copytree(ROOT / "examples" / "drawings", tmp_path / "examples" / "drawings")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else []) for path in GUIDES],
    ids=[path.stem for path in GUIDES],
)
def test_marked_blocks_run(path: Path, workplace: Path) -> None:
    variables: dict[str, Any] = {}
    for block in blocks_of(path):
        if block.file:
            (workplace / block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.code, f"{path.name}", "exec"), variables)
        else:
            for line in block.code.splitlines():
                run_command(line)


def run_command(line: str) -> None:
    name, *words = shlex.split(line, comments=True)
    assert name == "gra2seq", f"only gra2seq commands are run: {line}"
    if words[0] in TRAININGS:
        words.append("workers=0")  # a process is not forked safely beside the threads of other tests
    result = CliRunner().invoke(app, spread_values(words), catch_exceptions=False)
    assert result.exit_code == 0, f"{line}\n{result.output}"


def test_enough_blocks_are_marked() -> None:
    assert {"heal", "data", "train", "reproduce", "extend", "quickstart", "README"} <= {path.stem for path in GUIDES}


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.stem)
def test_named_commands_exist(path: Path) -> None:
    known = known_commands()
    for match in COMMAND.finditer(path.read_text("utf-8")):
        words = match["words"].split()
        if words[0] in NOT_COMMANDS:
            continue
        name = " ".join(words[:2]) if words[0] == "data" and len(words) > 1 else words[0]
        assert name in known, f"{path.name} names `gra2seq {name}`, which is no command"


def known_commands() -> set[str]:
    root: Any = typer.main.get_command(app)
    found = set(root.commands)
    for name, command in root.commands.items():
        found |= {f"{name} {inner}" for inner in getattr(command, "commands", {})}
    return found


def test_named_configurations_exist() -> None:
    packaged = {path.stem for path in (ROOT / "src/gra2seq/configs").glob("*.yaml")}
    for path in [ROOT / "README.md", *PAGES]:
        for match in CONFIGURATION.finditer(path.read_text("utf-8")):
            assert match[1] in packaged, f"{path.name} names the configuration {match[1]}, which is not in the package"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= README_LINES


def test_readme_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text("utf-8")):
        assert target.startswith("http") or (ROOT / target).exists(), target
