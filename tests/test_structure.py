"""Files and functions stay short, and docs/architecture.md is true. (ruff counts parameters.)"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gra2seq"
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text("utf-8")
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE_LINES, MAX_FUNCTION_LINES = 350, 60
# The rule of one doodle is a list of strokes in the order of drawing; in pieces it would be harder to follow.
MAX_DOODLE_LINES = 105


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_file_and_its_functions_are_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_FILE_LINES
    limit = MAX_DOODLE_LINES if path.parent.name == "doodles" else MAX_FUNCTION_LINES
    lines = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions(path)}
    assert {name: count for name, count in lines.items() if count > limit} == {}


def layers() -> list[set[str]]:
    """The packages of import-linter's contract, the lowest layer first."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    return [set(layer.split(" | ")) for layer in reversed(contract["layers"])]


def test_table_of_packages_is_in_the_order_of_the_import_contract() -> None:
    first_cells = re.findall(r"^\| (`[^|]+) \|", ARCHITECTURE, re.MULTILINE)
    rows = [
        {name.removesuffix("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", cell)} for cell in first_cells
    ]
    assert rows == layers()


def test_every_package_and_module_of_the_root_has_its_layer() -> None:
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__", "__main__"} == set().union(*layers())


def test_files_and_names_of_the_architecture_page_exist() -> None:
    for path in re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*/?(?:\.py)?)`", ARCHITECTURE):
        if "/" in path or path.endswith(".py"):
            assert (SOURCE / path).exists() or (ROOT / path).exists(), path
    source = "\n".join(path.read_text("utf-8") for path in FILES)
    for name in re.findall(r"`([A-Z][a-z]+[A-Za-z]*)`", ARCHITECTURE):
        assert re.search(rf"^(?:class|def) {name}\b|^{name}\b.* = ", source, re.MULTILINE), name


def test_no_module_imports_what_windows_lacks() -> None:
    """At its top: inside a function, where the system is known, it may."""
    for path in [*FILES, *sorted((ROOT / "tests").rglob("*.py"))]:
        for node in ast.parse(path.read_text("utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"resource", "fcntl", "pwd", "grp", "termios", "pty"} & set(names), path
