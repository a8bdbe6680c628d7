"""Holes, erased regions and missing ends at the command line: in the units of the file, and nothing else changes."""

import json
import re

import cv2
import numpy as np

import gra2seq
from gra2seq.data.doodles import doodle
from gra2seq.formats.files import read, write

HOLE = ("--hole", "60,60,60,60")


def test_heal_with_a_hole_samples_and_several_files(call, tmp_path, tiny_run, cat):
    dog = tmp_path / "fish.svg"
    write(dog, [("", doodle("fish", 1))])
    words = ["--model", tiny_run, *HOLE, "--samples", 3, "-o", tmp_path / "out.ndjson"]
    assert call("heal", cat, dog, *words)[0] == 0
    first = (tmp_path / "out.ndjson").read_bytes()
    assert len(first.splitlines()) == 6
    code, _, err = call("heal", cat, dog, *words)
    assert code == 2
    assert "--force" in err
    assert call("heal", cat, dog, *words, "--force")[0] == 0
    assert (tmp_path / "out.ndjson").read_bytes() == first, "the same seed draws the same"
    assert call("heal", cat, dog, *words, "--seed", 1, "--force", "--no-keep-lines")[0] == 0
    assert (tmp_path / "out.ndjson").read_bytes() != first
    assert call("redraw", cat, "--model", tiny_run, "-o", tmp_path / "again.svg")[0] == 0


def test_hole_and_answer_are_in_the_units_of_the_file(call, tmp_path, tiny_run):
    """Two sizes of one drawing, with the hole at the same place of it: the same answer, each in its own units."""
    near = doodle("cat", 1)
    left, top, width, height = near.box
    answers = []
    for name, size, away in (("near", 1.0, 0.0), ("far", 4.0, 4096.0)):
        write(tmp_path / f"{name}.ndjson", [("", near.with_points(near.points * size + away))])
        hole = ",".join(str(v) for v in (left * size + away, top * size + away, width * size / 2, height * size / 2))
        out = tmp_path / f"{name}-out.ndjson"
        words = ("--model", tiny_run, "--hole", hole, "--seed", 1, "--no-keep-lines", "-o", out)
        assert call("heal", tmp_path / f"{name}.ndjson", *words)[0] == 0
        [drawn] = read(out)
        answers.append((drawn.points - away) / size)
    np.testing.assert_allclose(*answers, atol=0.5)


def test_redrawing_lies_where_the_original_lies(tiny_run):
    """In the drawer's own units and place, not in the model's."""
    model = gra2seq.load(tiny_run)
    sketch = doodle("bus", 0)
    far = sketch.with_points(sketch.points * 10 + 5000)
    near, moved = model.redraw([sketch])[0], model.redraw([far])[0]
    assert np.allclose(near.points * 10 + 5000, moved.points, rtol=1e-4, atol=0.5)


def test_healed_svg_keeps_page_elements_and_lines(call, tmp_path, tiny_run):
    cat, healed = tmp_path / "cat.svg", tmp_path / "healed.svg"
    cat.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 120 120" width="6cm">\n'
        '<!-- mine --><text x="3" y="5">Cat</text>\n'
        '<path id="top" d="M0 0 L100 0" stroke="teal" stroke-width="3" fill="none"/>\n'
        '<path id="side" d="M0 20 C 10 30 -10 50 0 60" stroke="red" fill="none"/>\n</svg>\n'
    )
    code, _, err = call("heal", cat, "--hole", "40,-10,20,20", "--model", tiny_run, "-o", healed)
    assert code == 0, err
    before, after = cat.read_text().splitlines(), healed.read_text().splitlines()
    assert after[0] == before[0]
    assert after[1] == before[1]
    assert before[3] in after
    assert any('id="top"' in line and "M0 0" in line and "40" in line for line in after)


def test_missing_end_is_completed_and_morph_is_drawn(call, tmp_path, tiny_run, cat):
    words = ("--model", tiny_run, "--samples", 2, "-o", tmp_path / "more.ndjson", "--json")
    code, out, err = call("complete", cat, *words)
    assert code == 0, err
    assert json.loads(out)["drawn"] == 2
    begun, *_ = read(cat)
    for done in read(tmp_path / "more.ndjson"):
        np.testing.assert_allclose(done.points[: len(begun)], begun.points)
    code, _, err = call("heal", cat, "--missing-end", "--model", tiny_run, "-o", tmp_path / "end.ndjson")
    assert code == 0, err
    code, out, err = call("morph", cat, cat, "--steps", 4, "--model", tiny_run, "-o", tmp_path / "m.png", "--json")
    assert code == 0, err
    assert json.loads(out)["drawn"] == 4


def test_erased_region_from_a_mask_picture(call, tmp_path, tiny_run):
    drawing, mask = tmp_path / "line.svg", tmp_path / "mask.png"
    drawing.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><path d="M10 50H190" stroke="black"/></svg>'
    )
    pixels = np.full((50, 100), 255, np.uint8)
    pixels[:, 40:60] = 0
    cv2.imwrite(str(mask), pixels)
    code, _, err = call("heal", drawing, "--erase", mask, "--model", tiny_run, "-o", tmp_path / "out.svg")
    assert code == 0, err
    first = re.search(r"M10 50[LH]([0-9.]+)", (tmp_path / "out.svg").read_text())
    assert first is not None
    assert abs(float(first.group(1)) - 80) < 3
