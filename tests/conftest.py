"""What tests share: a private cache, one tiny model trained once, and the command line."""

from __future__ import annotations

import os
import sys

import pytest
import torch
from hypothesis import settings

from gra2seq.cli import main
from gra2seq.data.doodles import doodle
from gra2seq.formats.files import write
from gra2seq.training.loop import train
from options_by_name import quick

# The same examples in every run, so that a change is judged by what it changed; new ones: HYPOTHESIS_PROFILE=default
settings.register_profile("repeatable", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """No test reads or fills the user's own cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def no_modules_of_other_tests(monkeypatch):
    """Processes that a test starts import no module that an earlier test had imported."""
    monkeypatch.setattr("gra2seq.config.extensions._imported", {})


@pytest.fixture(scope="session", autouse=True)
def tests_go_on():
    """Commands that tests call end no process, and garbage is collected as usual, so that leaks show."""
    patch = pytest.MonkeyPatch()
    for name in ("tune_garbage_collector", "skip_collection_at_exit"):
        patch.setattr(f"gra2seq.cli.{name}", lambda: None)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The folder of a tiny model after a few steps."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    return train(quick(run=str(folder), max_steps=6, validate_every=3, validate_sketches=40))


def _devices():
    """Where tensors can be on this machine."""
    found = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return [name for name, is_there in found.items() if is_there]


@pytest.fixture(params=_devices())
def device(request):
    """Every device of this machine in turn: cpu, and cuda or mps where there is one."""
    return request.param


@pytest.fixture
def cat(tmp_path):
    """A file with one drawing by rule."""
    path = tmp_path / "cat.ndjson"
    write(path, [("", doodle("cat", 1))])
    return path


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


@pytest.fixture
def no_model(monkeypatch):
    """A command that loads a model fails: what is wrong must be said before the work."""

    def load(*_):
        raise AssertionError("the work was begun")

    monkeypatch.setattr("gra2seq.folder.load", load)
