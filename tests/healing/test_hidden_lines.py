"""What lies in the lost region of an SVG has no part in how it is healed, at the command line neither."""

import cv2
import numpy as np
import pytest

import gra2seq
from gra2seq.data.doodles import doodle
from gra2seq.drawing.merge import open_ends
from gra2seq.errors import UserError
from gra2seq.formats.photo_ink import without_region
from gra2seq.formats.svg.document import SvgDocument
from gra2seq.healing.documents import HealRequest, heal_document
from gra2seq.sketch.damage import lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.render import render

HOLE = (100.5, 60.25, 160.0, 80.0)
LOST = Region.of_boxes([HOLE])
# A circle beside the hole, a curve that runs into it, a polyline; hidden: many blue lines that reach far to the right.
VISIBLE = (
    '<circle cx="50" cy="70" r="40"/><path d="M110 30 C150 0 190 60 150 90 S120 130 180 160" stroke="red"/>'
    '<polyline points="20,110 80,110 80,140 120,150"/>'
)
HIDDEN = "".join(f'<path d="M{130 + 9 * n} 70 l10 5 l-4 9" stroke="blue"/>' for n in range(12))
PAGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 260 170"><g fill="none" stroke="black" stroke-width="3">'
    "{}</g></svg>"
)
WAYS = [{"keep_lines": True, "infill": 3}, {"keep_lines": True, "infill": 0}, {"keep_lines": False, "infill": 0}]
FRAMES = [None, (0.0, 0.0, 260.0, 170.0)]


@pytest.fixture
def pages(tmp_path):
    """A whole drawing, the same without the lines in the hole, and with others in it."""
    whole = SvgDocument.read(PAGE.format(VISIBLE + HIDDEN))
    cut = whole.cut(list(LOST.rings))
    other = SvgDocument.read(PAGE.format(VISIBLE + '<line x1="140" y1="80" x2="160" y2="120" stroke="green"/>'))
    texts = [one.text() for one in (whole, cut, other)]
    assert len(set(texts)) == 3
    paths = [tmp_path / name for name in ("whole.svg", "cut.svg", "other.svg")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("way", WAYS)
def test_a_curved_document_is_healed_like_one_in_which_the_lines_are_missing(tiny_run, pages, way, frame):
    model = gra2seq.load(tiny_run)
    request = HealRequest(LOST, frame, drawing=model.changed_drawing(None, {"seed": 1, "temperature": 0.5, **way}))
    first, *others = (heal_document(model, SvgDocument.read(path), request)[0].to_bytes() for path in pages)
    assert others == [first, first]


@pytest.mark.parametrize("suffix", [".svg", ".ndjson"])
def test_the_command_heals_a_file_in_which_lines_are_missing_already(call, tiny_run, tmp_path, pages, suffix):
    """Written as points, curves are simplified: that must not know of the hidden lines either."""
    answers = []
    for path in pages:
        target = tmp_path / f"{path.stem}-answer{suffix}"
        hole = ",".join(map(str, HOLE))
        code, _, err = call("heal", path, "--hole", hole, "--infill", 3, "--model", tiny_run, "-o", target)
        assert code == 0, err
        answers.append(target.read_bytes())
    assert answers[1:] == answers[:1] * 2


def test_read_without_a_region_does_not_know_what_is_in_it(pages):
    first, *others = (gra2seq.read(path, lost=LOST)[0] for path in pages)
    assert others == [first, first]
    assert gra2seq.read(pages[0])[0] != gra2seq.read(pages[1])[0]
    points = first.points.astype(np.float64)
    assert not (LOST.contains(points) & (LOST.distance(points) > 0.5)).any()


@pytest.fixture(params=["clean", "light on dark", "photo"])
def pictures(request, tmp_path):
    """A picture of a drawing, the same with scribbles in the hole, and with nothing there."""
    grey = render(doodle("bus", seed=3), 512).astype(np.float64)
    random = np.random.default_rng(1)
    if request.param == "photo":
        light = np.linspace(0.6, 1, 512)[None] * np.linspace(1, 0.8, 512)[:, None]
        grey = (grey * light * 0.9 + 20 + random.normal(0, 2, grey.shape)).clip(0, 255)
    elif request.param == "light on dark":
        grey = 255 - grey
    paths = [tmp_path / name for name in ("whole.png", "scribbles.png", "grey.png")]
    for path, inside in zip(
        paths, (grey, random.integers(0, 255, (512, 512)), np.full((512, 512), 128.0)), strict=True
    ):
        pixels = grey.copy()
        pixels[120:300, 150:350] = inside[120:300, 150:350]
        cv2.imwrite(str(path), np.rint(pixels).astype(np.uint8))
    return paths


def test_pictures_are_traced_without_what_lies_in_the_hole(call, tiny_run, tmp_path, pictures):
    answers = []
    for path in pictures:
        target = tmp_path / f"{path.stem}.ndjson"
        words = ["--hole", "150,120,200,180", "--infill", 3, "--model", tiny_run, "-o", target]
        code, _, err = call("heal", path, *words)
        assert code == 0, err
        answers.append(target.read_bytes())
    assert answers[1:] == answers[:1] * 2


def test_lines_of_a_picture_end_at_the_hole_as_if_the_whole_had_been_cut(pictures):
    """Thinning shortens a line that was cut: it is led on to the border, where it must go on."""
    region = Region.of_boxes([(150, 120, 200, 180)])
    (cut,), (whole,) = gra2seq.read(pictures[0], lost=region), gra2seq.read(pictures[0])
    found, expected = open_ends(lose(cut, region)), open_ends(lose(whole, region))
    near = np.hypot(*(found[:, None] - expected).T).min(axis=1)
    assert len(expected) >= 4
    assert (near < 8).all()  # lines are 6 px wide, and meet the border at an angle


@pytest.mark.parametrize("size", [16, 40])
def test_of_a_small_picture_nothing_in_the_hole_is_seen_either(size):
    """So small that no square of the page lies outside of the hole."""
    pixels = np.full((size, size), 200, np.uint8)
    pixels[2, :] = 0
    hole = Region.of_boxes([(0, size // 4, size, size)])
    pages = []
    for value in (0, 255):
        pixels[size // 4 :] = value
        pages.append(without_region(pixels, hole))
    np.testing.assert_array_equal(*pages)
    assert (pages[0][size // 4 :] == 200).all()
    with pytest.raises(UserError, match="covers all of the picture"):
        without_region(pixels, Region.of_boxes([(0, 0, size, size)]))


def test_encode_and_graph_take_holes_and_frames(call, tiny_run, tmp_path, pages):
    """As `Model.encode` does, in the file's own units and without a trace of what is hidden."""
    hole, codes = ",".join(map(str, HOLE)), []
    for path in pages:
        out = tmp_path / f"{path.stem}.npy"
        words = ["--hole", hole, "--frame", "0,0,260,170", "--dtype", "float32", "--jobs", 1, "-q"]
        code, _, err = call("encode", path, "-o", out, "--model", tiny_run, *words)
        assert code == 0, err
        codes.append(np.load(out)[0])
        code, _, err = call("graph", path, "--hole", hole, "--model", tiny_run, "-o", tmp_path / f"{path.stem}.png")
        assert code == 0, err
    np.testing.assert_array_equal(codes[1:], codes[:1] * 2)
    model = gra2seq.load(tiny_run)
    sketches = gra2seq.read(pages[0], lost=LOST)
    np.testing.assert_allclose(model.encode(sketches, holes=[HOLE], frame=FRAMES[1])[0], codes[0], atol=1e-5)
    assert np.abs(model.encode(sketches, frame=FRAMES[1])[0] - codes[0]).max() > 1e-3
    shown = [(tmp_path / f"{path.stem}.png").read_bytes() for path in pages]
    assert shown[1:] == shown[:1] * 2
    code, _, err = call("encode", pages[0], "-o", tmp_path / "whole.npy", "--model", tiny_run, *words[4:6], "--resume")
    assert (code, "another --hole" in err) == (2, True)
