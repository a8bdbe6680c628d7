"""Manners of the commands that draw: streams, detection, existing files, errors for programs, motion."""

import inspect
import io
import json
import sys

import cv2
import numpy as np
import pytest
from PIL import Image

from gra2seq.cli.heal import heal
from gra2seq.cli.streams import sniffed_suffix
from gra2seq.config.drawing import HEALING_SAMPLES
from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.formats.files import read, write
from gra2seq.sketch.damage import lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><g stroke="black" fill="none">{}</g></svg>'
CIRCLE = SVG.format('<circle cx="100" cy="100" r="80"/>')
HOLE = ("--hole", "60,0,60,60")
BOX = (100.0, 60.0, 80.0, 80.0)  # x, y, width, height


def ruled() -> Sketch:
    """Lines in both directions, so that an erased box cuts several on each of its sides."""
    down = [[(x, 0), (x + 20, 255)] for x in range(10, 250, 23)]
    across = [[(0, y), (255, y - 15)] for y in range(20, 250, 27)]
    return Sketch.from_polylines([*down, *across])


@pytest.fixture
def damaged(tmp_path):
    path = tmp_path / "ruled.svg"
    write(path, lose(ruled(), Region.of_boxes([BOX])).visible)
    return path


@pytest.fixture
def pipe(call, monkeypatch):
    """`call` with bytes on standard input."""

    def run(data, *words):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return call(*words)

    return run


def test_damage_is_detected_shown_and_healed(call, tmp_path, tiny_run, damaged):
    preview, healed = tmp_path / "found.png", tmp_path / "healed.svg"
    code, out, err = call("heal", damaged, "--model", tiny_run, "--preview", preview, "-o", healed, "--json")
    assert code == 0, err
    assert "damage was found at" in err
    (found,) = json.loads(out)["found"]
    np.testing.assert_allclose(found, BOX, atol=1e-3)
    assert 'class="gra2seq-healed"' in healed.read_text()
    assert damaged.read_text().split("</g>")[0] in healed.read_text(), "no visible line is changed"
    pixels = cv2.imread(str(preview))
    tinted = (pixels[..., 2].astype(int) - pixels[..., 0] > 40).mean()
    assert 0.04 < tinted < 0.12
    assert (pixels.max(axis=2) < 60).any()


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize("name", ["intact.svg", "intact.ndjson"])
def test_intact_drawing_is_copied_and_said_so(call, tmp_path, name):
    source, target = tmp_path / name, tmp_path / f"out{name[6:]}"
    write(source, doodle("cat", 1))
    code, out, err = call("heal", source, "-o", target, "--json")
    assert code == 0, err
    assert "no damage was found" in err
    assert json.loads(out)["found"] == [None]
    assert target.read_bytes() == source.read_bytes()
    code, _, err = call("heal", source, "-o", target, "--force", "--quiet")
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("no_model")
def test_preview_is_a_png_of_detected_damage(call, tmp_path, damaged):
    for words, message in (
        (["--preview", tmp_path / "a.jpg"], "must end in .png"),
        (["--preview", tmp_path / "a.png", *HOLE], "--preview shows detected damage"),
    ):
        code, _, err = call("heal", damaged, *words)
        assert code == 2
        assert message in " ".join(err.split())


def test_stdin_to_stdout_keeps_the_format(pipe, tiny_run):
    code, out, err = pipe(CIRCLE.encode(), "heal", "-", *HOLE, "--model", tiny_run, "--quiet")
    assert (code, err) == (0, "")
    assert out.startswith("<svg")
    assert "gra2seq-healed" in out
    line = json.dumps({"word": "cat", "drawing": [[[0, 100, 200], [0, 90, 0]]]})
    code, out, err = pipe(line.encode(), "complete", "-", "--model", tiny_run, "--samples", 2)
    assert code == 0, err
    assert [json.loads(row)["word"] for row in out.splitlines()] == ["cat", "cat"]


def test_format_is_chosen_for_stdout_and_default_names(pipe, call, tmp_path, tiny_run):
    words = ("redraw", "-", "--model", tiny_run, "-q")
    code, out, err = pipe(CIRCLE.encode(), *words, "--format", "ndjson")
    assert (code, err) == (0, "")
    assert "drawing" in json.loads(out)
    (tmp_path / "a.svg").write_text(CIRCLE)
    code, _, err = call("redraw", tmp_path / "a.svg", "--model", tiny_run, "--format", "json")
    assert code == 0, err
    assert len(read(tmp_path / "a-redrawn.json")) == 1
    code, _, err = call("redraw", tmp_path / "a.svg", "--format", "docx")
    assert code == 2
    assert "unknown kind of file" in err


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (b"<svg/>", ".svg"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><svg/>', ".svg"),
        (b'{"drawing": []}\n{"drawing": []}', ".ndjson"),
        (b'[\n{"drawing": []}\n]', ".json"),
        (b"[[[0, 1], [2, 3]]]", ".json"),
        (b"\x89PNG\r\n", ".png"),
        (b"\xff\xd8\xff\xe0", ".jpg"),
        (b"PK\x03\x04", ".npz"),
        (b"\x1f\x8b\x08", ".ndjson.gz"),
    ],
)
def test_format_of_stdin_is_recognised(data, suffix):
    assert sniffed_suffix(data) == suffix


@pytest.mark.usefixtures("no_model")
def test_several_svgs_for_stdout_are_refused_before_the_work(pipe):
    line = b'{"word": "cat", "drawing": [[[0, 90], [0, 40]]]}\n'
    code, _, err = pipe(line * 2, "redraw", "-", "--format", "svg")
    assert (code, "standard output takes one SVG" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(("data", "problem"), [(b"<svg", "it is not SVG"), (b'{"drawing": []}\n', "sketch is empty")])
def test_errors_call_standard_input_by_its_name(pipe, data, problem):
    code, _, err = pipe(data, "heal", "-", *HOLE)
    words = " ".join(err.split())
    assert (code, problem in words) == (2, True)
    assert words.startswith("gra2seq: standard input")
    assert "tmp" not in words


def test_empty_stdin_is_an_error(pipe):
    with pytest.raises(UserError, match="empty"):
        sniffed_suffix(b" \n")
    code, out, err = pipe(b"", "redraw", "-")
    assert (code, out) == (2, "")
    assert "standard input is empty" in err


@pytest.mark.usefixtures("no_model")
def test_errors_are_json_for_programs(call, pipe, tmp_path):
    for words in (
        ["heal", tmp_path / "missing.svg", *HOLE, "--json"],
        ["heal", tmp_path / "missing.svg", "--samples", "many", "--json"],
        ["redraw", "--json"],
        ["complete", tmp_path / "missing.svg", "--no-such-option", "--json"],
    ):
        code, out, err = call(*words)
        assert (code, err) == (2, ""), words
        assert set(json.loads(out)) == {"error"}
    code, out, _ = pipe(CIRCLE.encode(), "redraw", "-", "--json")
    assert code == 2
    assert "both go to standard output" in json.loads(out)["error"]


@pytest.mark.usefixtures("no_model")
def test_inputs_and_existing_files_are_not_overwritten(call, tmp_path):
    source = tmp_path / "a.svg"
    source.write_text(CIRCLE)
    (tmp_path / "b-2.svg").write_text("mine")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.svg").write_text(CIRCLE)
    for words, message in (
        (["-o", source, "--force"], "is an input"),
        (["--out-dir", tmp_path, "--force"], "is an input"),
        (["-o", tmp_path / "b.svg", "--samples", 2], "b-2.svg is there already"),
        ([tmp_path / "sub" / "a.svg", "--out-dir", tmp_path / "new"], "same name"),
        (["-o", tmp_path / "b.svg", "--out-dir", tmp_path / "new"], "not both"),
    ):
        code, _, err = call("heal", source, *words, *HOLE)
        assert code == 2, words
        assert message in " ".join(err.split())
    assert (tmp_path / "b-2.svg").read_text() == "mine"
    assert source.read_text() == CIRCLE
    assert not (tmp_path / "new").exists()


def test_heal_redraw_and_complete_write_motion(call, tmp_path, tiny_run):
    source = tmp_path / "a.svg"
    source.write_text(CIRCLE)
    words = ("--model", tiny_run, "--seconds", 1, "--quiet")
    for command in (["heal", source, *HOLE], ["redraw", source], ["complete", source]):
        for target in (tmp_path / f"{command[0]}.gif", tmp_path / f"{command[0]}.svg"):
            code, _, err = call(*command, *words, "--samples", 4, "-o", target)
            assert (code, err) == (0, ""), command
        with Image.open(tmp_path / f"{command[0]}.gif") as image:
            assert image.size == (480, 480)
            assert image.is_animated
        text = (tmp_path / f"{command[0]}.svg").read_text()
        assert "@keyframes" in text
        assert ("#b8b8b8" in text) == (command[0] in ("heal", "complete")), "what stays is grey"


@pytest.mark.usefixtures("no_model")
def test_motion_needs_a_format_that_moves(call, tmp_path):
    (tmp_path / "a.svg").write_text(CIRCLE)
    for words, message in ((["-o", tmp_path / "b.png"], "for .gif and .svg"), (["--samples", 101], "1 to 100")):
        code, _, err = call("heal", tmp_path / "a.svg", *HOLE, "--animate", *words)
        assert code == 2
        assert message in " ".join(err.split())


def test_the_command_and_the_library_take_as_many_samples():
    assert inspect.signature(heal).parameters["infill"].default == HEALING_SAMPLES


def test_a_mask_picture_covers_the_picture_or_the_frame(call, tmp_path, tiny_run):
    """Other files than SVG have no page: of several drawings no single box could be taken for it."""
    line = Sketch.from_polylines([[(0, 50), (200, 50)]])
    write(tmp_path / "lines.ndjson", [line, line.with_points(line.points * 0.5)])
    mask = np.full((50, 100), 255, np.uint8)
    mask[:, 40:60] = 0
    cv2.imwrite(str(tmp_path / "mask.png"), mask)
    words = ["heal", tmp_path / "lines.ndjson", "--erase", tmp_path / "mask.png", "--model", tiny_run]
    code, _, err = call(*words)
    assert (code, "give --frame" in " ".join(err.split())) == (2, True)
    code, _, err = call(*words, "--frame", "0,0,200,100", "-o", tmp_path / "healed.ndjson")
    assert code == 0, err
    first, second = read(tmp_path / "healed.ndjson")
    np.testing.assert_allclose(first.strokes[0][-1], (80, 50), atol=3)
    np.testing.assert_allclose(second.strokes[0], [(0, 25), (80, 25)], atol=3)
    picture = np.full((100, 400), 255, np.uint8)
    cv2.line(picture, (20, 50), (380, 50), 0, 4)
    cv2.imwrite(str(tmp_path / "line.png"), picture)
    words[1] = tmp_path / "line.png"
    code, _, err = call(*words, "-o", tmp_path / "line.ndjson")
    assert code == 0, err
    (healed,) = read(tmp_path / "line.ndjson")
    assert min(abs(stroke[:, 0] - 160).min() for stroke in healed.strokes) < 5


def test_commands_say_what_the_user_would_wonder_about(call, tmp_path, tiny_run, monkeypatch):
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
    filled, lines = tmp_path / "filled.svg", tmp_path / "lines.svg"
    filled.write_text(f'{head}<path d="M10 10H90V90H10Z"/></svg>')
    lines.write_text(f'{head}<path d="M10 10H90V90" stroke="black" fill="none"/></svg>')
    words = ["--model", tiny_run, "--out-dir", tmp_path / "out"]
    code, _, err = call("heal", filled, "--hole", "50,50,20,50", *words)
    assert code == 0, err
    assert "touches filled shapes only" in err
    code, _, err = call("heal", lines, tmp_path / "missing.svg", "--hole", "50,50,20,50", *words)
    assert (code, "missing.svg does not exist" in " ".join(err.split())) == (2, True)
    assert not (tmp_path / "out/lines.svg").exists()
    code, _, err = call("heal", lines, "--hole", "0,0,200,200", *words)
    assert (code, "lines.svg: the sketch has no stroke outside" in " ".join(err.split())) == (2, True)
    monkeypatch.setattr("gra2seq.healing.documents.new_lines", lambda *_: [[]])
    code, _, err = call("complete", lines, *words)
    assert code == 0, err
    assert "lines.svg: the model added no line" in " ".join(err.split())
