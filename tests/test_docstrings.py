"""Each public name has an example in its docstring, and the example is true."""

from __future__ import annotations

import doctest

import pytest

import gra2seq

METHODS = {
    "Sketch": [f"{way}_{form}" for way in ("from", "to") for form in ("polylines", "stroke3", "quickdraw", "svg")],
    "Model": ["encode", "draw", "redraw", "heal", "complete", "morph", "graph"],
}
NAMES = [
    "read",
    "write",
    "load",
    "Sketch",
    "DrawingConfig",
    "Damage",
    "Region",
    "UserError",
    *(f"{owner}.{method}" for owner, methods in METHODS.items() for method in methods),
]


def public(name):
    value = gra2seq
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", NAMES)
def test_example_of_a_public_name_is_true(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = public(name).__doc__
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert test.examples, f"{name} has no example"
    output = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=output.append)
    assert not failed, "".join(output)


def test_all_public_names_are_exported():
    assert {name for name in NAMES if "." not in name} <= set(gra2seq.__all__)
    assert all(getattr(gra2seq, name) is not None for name in gra2seq.__all__)
