from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

import gra2seq.cli.studio  # noqa: F401 (registers the command)
from gra2seq.cli.common import app
from gra2seq.errors import UserError
from gra2seq.healing.model_source import ModelSource
from gra2seq.studio.server import HOST, bound_socket, serve


def test_a_port_in_use_is_named():
    with bound_socket(HOST, 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(UserError, match=f"{port} cannot be used.*--port"):
            bound_socket(HOST, port)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UserError, match=r"pip install 'gra2seq\[studio\]'"):
        serve(port=0, browser=False)


def test_options_of_the_command_reach_the_server(monkeypatch, tmp_path):
    asked = {}
    monkeypatch.setattr("gra2seq.studio.server.serve", lambda **options: asked.update(options))
    words = ["studio", "--port", "0", "--model", str(tmp_path), "--gallery", "doodles:30", "--no-browser"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    asked.pop("report")
    assert asked == {"port": 0, "model": ModelSource(tmp_path), "gallery": "doodles:30", "browser": False}
