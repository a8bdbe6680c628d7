"""What a person reads while a model learns: lines without a terminal, bars with one, each with its training's name."""

import io
import re

from rich.console import Console

from gra2seq.training.progress import counting, show, show_all
from gra2seq.training.report import Report
from options_by_name import config_of

REPORT = Report(step=5, steps=10, loss=3.5, terms={"pen": 1.25}, rate=40.0, left=75.0, valid=2.125)
NOTE = Report(step=5, steps=10, loss=0.0, terms={}, rate=0.0, left=0.0, note="a [note]")


def printed(terminal, tell):
    file = io.StringIO()
    tell(Console(file=file, force_terminal=terminal, width=200, _environ={"TERM": "xterm"}))
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())  # without colours


def one(console):
    with show(console, config_of(max_steps=10)) as on_step:
        on_step(REPORT)
        on_step(NOTE)


def two(console):
    with show_all(console) as on_step:
        for name in ("song", "sketch-rnn"):
            on_step(name, REPORT)
        on_step("song", NOTE)


def test_lines_say_step_loss_rate_and_time_left():
    line = "step 5/10 · loss 3.50 (pen 1.25) · 40 sketches/s · 1:15 left · valid 2.125"
    assert printed(False, one).splitlines() == [line, "a [note]"]
    assert printed(False, two).splitlines() == [f"song: {line}", f"sketch-rnn: {line}", "song: a [note]"]


def test_bars_say_the_same():
    for text, start in ((printed(True, one), ""), (printed(True, two), "song: ")):
        assert f"{start}step 5: validation loss" in text
        assert f"{start}a [note]" in text
        assert "40 sketches/s" in text
    assert "sketch-rnn" in printed(True, two)


def counted(console):
    with counting(console) as progress:
        for done in (0, 100, 300):
            progress("codes", done, 400)
        progress("galleries", 2, 2)


def test_what_is_counted_is_said_in_lines_now_and_then(monkeypatch):
    clock = iter([0.0, 0.0, 9.0, 20.0, 21.0])  # at the start, and at each call
    monkeypatch.setattr("gra2seq.training.progress.time.monotonic", lambda: next(clock))
    assert printed(False, counted).splitlines() == ["codes 300/400 · 15/s · 0:06 left", "galleries 2/2"]


def test_what_is_counted_is_a_bar_on_a_terminal():
    assert "300/400" in printed(True, counted)
