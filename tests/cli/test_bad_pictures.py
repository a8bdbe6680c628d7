"""Pictures that hold no drawing or cannot be read, at the command line: a sentence, exit code 2, nothing written."""

from __future__ import annotations

import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image

from gra2seq import read, write
from gra2seq.data.doodles import doodle
from gra2seq.sketch.render import render


def png(pixels, **options):
    stream = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(np.asarray(pixels))
    image.save(stream, "png", **options)
    return stream.getvalue()


def bomb(side):
    """A PNG that states side x side pixels of one bit, all white, in little space."""
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    body = zlib.compress(b"\xff" * (side * (side // 8 + 1)))
    chunks = [(b"IHDR", head), (b"IDAT", body), (b"IEND", b"")]
    parts = [struct.pack(">I", len(d)) + kind + d + struct.pack(">I", zlib.crc32(kind + d)) for kind, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def page(size=256):
    return render(doodle("cat", seed=1), size, 3.0)


def clouds():
    """A photo of the sky: soft light and dark at several scales."""
    random = np.random.default_rng(0)
    scales = (cv2.resize(random.standard_normal((3 * 2**n, 4 * 2**n)), (640, 480)) / 2**n for n in range(1, 6))
    sky = sum(scales, np.zeros((480, 640)))
    return np.rint(255 * (sky - sky.min()) / np.ptp(sky)).astype(np.uint8)


BAD = {
    "clouds": (lambda: png(clouds()), "no line drawing"),
    "white": (lambda: png(np.full((200, 200), 255, np.uint8)), "shows no drawing"),
    "black": (lambda: png(np.zeros((200, 200), np.uint8)), "black all over"),
    "100-megapixel": (lambda: bomb(10_000), "100 million"),
    "bomb": (lambda: bomb(20_000), "million"),
    "truncated": (lambda: png(page())[:700], "cut off"),
    "text": (lambda: b"no picture", "not a PNG or JPEG"),
}


@pytest.mark.parametrize("command", ["heal", "encode", "convert"])
@pytest.mark.parametrize("kind", BAD)
def test_bad_picture_is_one_sentence_and_nothing_is_written(call, tmp_path, kind, command):
    make, words = BAD[kind]
    source = tmp_path / "photo.png"
    source.write_bytes(make())
    out = tmp_path / ("codes.npy" if command == "encode" else "out.svg")
    code, _, err = call(*(["data", "convert"] if command == "convert" else [command]), source, "-o", out)
    assert (code, words in " ".join(err.split())) == (2, True), err
    assert [path.name for path in tmp_path.iterdir()] == ["photo.png"]


def odd(kind):
    grey = page()
    if kind == "palette":
        return png(Image.fromarray(grey).convert("P"))
    if kind == "16 bits":
        return png(Image.fromarray(grey.astype(np.uint16) * 257))
    if kind == "animated":
        return png(Image.fromarray(grey), save_all=True, append_images=[Image.new("L", grey.shape[::-1], 255)])
    turned, exif = Image.fromarray(np.rot90(grey)), Image.Exif()
    exif[0x0112] = 6  # shown after a quarter turn clockwise
    return png(turned, exif=exif)


@pytest.mark.filterwarnings("default")  # shown, as users see them
@pytest.mark.parametrize("kind", ["palette", "16 bits", "animated", "rotated"])
def test_odd_picture_is_read_as_the_plain_one(call, tmp_path, kind):
    for name, data in (("plain", png(page())), ("odd", odd(kind))):
        (tmp_path / f"{name}.png").write_bytes(data)
        code, _, err = call("data", "convert", tmp_path / f"{name}.png", "-o", tmp_path / f"{name}.ndjson")
        assert code == 0, err
    if kind == "animated":
        assert "only its first frame" in " ".join(err.split())
        assert "tracing.py" not in err
    plain, other = read(tmp_path / "plain.ndjson")[0], read(tmp_path / "odd.ndjson")[0]
    assert [len(stroke) for stroke in other.strokes] == [len(stroke) for stroke in plain.strokes]
    np.testing.assert_allclose(other.points, plain.points, atol=1.0)


def test_missing_and_doubled_shards_are_refused(call, tmp_path, tiny_run):
    source = tmp_path / "drawn.ndjson"
    write(source, [doodle("cat", seed=number) for number in range(4)] * 600)
    for shard in ("1/2", "2/2"):
        assert call("encode", source, "-m", tiny_run, "-o", tmp_path / "codes.npy", "--shard", shard, "-q")[0] == 0
    first, second = sorted(tmp_path.glob("codes-*.npy"))
    for shards in ([first], [first, first], [first, second, second]):
        code, _, err = call("index", *shards, "-o", tmp_path / "gallery")
        assert (code, "shard" in err) == (2, True), err
        assert not (tmp_path / "gallery").exists()
    assert call("index", second, first, "-o", tmp_path / "gallery")[0] == 0
