"""What tests share: a private cache, one tiny model trained once, and the command line."""

from __future__ import annotations

import sys

import pytest

from gra2seq.cli import main
from gra2seq.config import parse_config
from gra2seq.training.loop import train


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """No test reads or fills the user's own cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


TINY = {"preset": "tiny", "data": "doodles:200", "workers": 0, "threads": 1}


@pytest.fixture(scope="session", autouse=True)
def tests_go_on():
    """A command that is called here ends no process: Python looks for rings as ever, and finds what a test forgot."""
    patch = pytest.MonkeyPatch()
    for name in ("tune_garbage_collector", "skip_collection_at_exit"):
        patch.setattr(f"gra2seq.cli.{name}", lambda: None)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The folder of a tiny model after a few steps."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    training = {"max_steps": 6, "validate_every": 3, "gallery": 0}
    return train(parse_config({**TINY, "run": str(folder), "training": training}))


@pytest.fixture
def call(monkeypatch, capsys):
    """Run `gra2seq …`: exit code, standard output, standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["gra2seq", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code or 0, captured.out, captured.err

    return run
