"""What lies in the lost region of an SVG has no part in how it is healed, at the command line neither."""

import pytest

import gra2seq
from gra2seq.formats.svg.document import SvgDocument
from gra2seq.healing.documents import HealRequest, heal_document
from gra2seq.sketch.region import Region

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
