"""Files and functions stay short. (ruff counts parameters, import-linter checks the layers.)"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "gra2seq"
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
