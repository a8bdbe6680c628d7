"""Examples of docstrings are code in the API reference."""

import sys
from pathlib import Path

import pytest

griffe = pytest.importorskip("griffe")

FOLDER = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("One line.\n\n>>> 1 + 1\n2", "One line.\n\n```pycon\n>>> 1 + 1\n2\n```"),
        (
            "A.\n\n>>> a()\n[[1, 2]]\n\nB.\n\n>>> b",
            "A.\n\n```pycon\n>>> a()\n[[1, 2]]\n```\n\nB.\n\n```pycon\n>>> b\n```",
        ),
        ("Nothing to run: x >>> 1.", "Nothing to run: x >>> 1."),
    ],
)
def test_examples_get_a_fence(monkeypatch, docstring, expected):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "fence_examples", raising=False)
    from fence_examples import FenceExamples

    function = griffe.Function("f")
    function.docstring = griffe.Docstring(docstring)
    FenceExamples().on_object(obj=function)
    assert function.docstring.value == expected
