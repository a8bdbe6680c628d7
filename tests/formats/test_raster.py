"""Decoding PNG and JPEG: every kind of pixel, and every kind of bad file."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from formats import limits
from gra2seq.errors import UserError
from gra2seq.formats.raster import MAX_PIXELS, read_grey


@pytest.fixture
def page():
    """White with a black bar near the top left, so that turns and mirrors show."""
    grey = np.full((40, 60), 255, np.uint8)
    grey[5:8, 5:30] = 0
    return grey


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, kind, **options)
    return buffer.getvalue()


def png_header(width, height):
    """A PNG that states a size and holds next to nothing."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def test_grey_png_is_read_exactly_from_a_path_and_from_bytes(page, tmp_path):
    (tmp_path / "page.png").write_bytes(encoded(page))
    assert (read_grey(tmp_path / "page.png").grey == page).all()
    assert (read_grey(encoded(page)).grey == page).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK"])
def test_every_pixel_mode_gives_the_same_grey(page, mode):
    data = encoded(Image.fromarray(page).convert(mode), "TIFF" if mode == "CMYK" else "PNG")
    if mode == "CMYK":
        data = encoded(Image.fromarray(page).convert(mode), "JPEG", quality=95)
    grey = read_grey(data).grey
    assert grey[6, 15] < 40
    assert grey[30, 40] > 215


@pytest.mark.parametrize("bits", [10, 12, 16])
def test_16_bit_png_is_scaled_by_the_bits_it_uses(page, bits):
    deep = (page.astype(np.float64) / 255 * (2**bits - 1)).astype(np.uint16)
    assert (read_grey(encoded(deep)).grey == page).all()


def test_transparent_background_is_white_behind_dark_ink_and_black_behind_light_ink(page):
    for ink, background in ((0, 255), (255, 0)):
        rgba = np.zeros((*page.shape, 4), np.uint8)
        rgba[..., :3] = ink
        rgba[..., 3] = 255 - page
        grey = read_grey(encoded(rgba)).grey
        assert grey[6, 15] == ink
        assert grey[30, 40] == background


def test_exif_rotation_is_applied(page):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate by 90 degrees clockwise to see it upright
    grey = read_grey(encoded(page, "JPEG", quality=95, exif=exif)).grey
    assert grey.shape == (60, 40)
    assert grey[15, 33] < 60


def test_animated_png_gives_the_first_frame_and_a_remark(page):
    blank = Image.fromarray(np.full_like(page, 255))
    data = encoded(Image.fromarray(page), save_all=True, append_images=[blank, blank])
    picture = read_grey(data)
    assert (picture.grey == page).all()
    assert "first frame" in picture.remark
    assert not read_grey(encoded(page)).remark


@pytest.mark.skipif(not limits.supported, reason="memory cannot be limited here")
@pytest.mark.parametrize("mode", ["RGBA", "LA", "I;16", "P", "RGB"])
def test_large_pictures_need_bounded_memory(mode, tmp_path):
    """float64 values of all pixels at once were 40 bytes a pixel: over 2 GB for the largest pictures."""
    path = tmp_path / "large.png"
    Image.new(mode, (4000, 4000)).save(path)
    result = limits.run_limited("gra2seq.formats.raster:read_grey", path, size=16_000_000)
    assert result.outcome == "done", result
    assert result.memory < 20 * 16_000_000, result


def test_file_that_cannot_hold_its_pixels_is_refused():
    """Pillow reads a PNG whose data end early as if the rest were empty."""
    for data in (
        png_header(5000, 5000),
        encoded(np.zeros((50, 50), np.uint8), "JPEG").replace(b"\0\x32\0\x32", b"\x1f\0\x1f\0"),
    ):
        with pytest.raises(UserError, match="cut off"):
            read_grey(data)


@pytest.mark.parametrize("size", [(10_000, 10_000), (60_000, 60_000), (2**31 - 1, 2**31 - 1)])
def test_size_is_refused_by_the_header(size):
    with pytest.raises(UserError, match="scale it down"):
        read_grey(png_header(*size))


def test_jpeg_of_too_many_pixels_is_refused(page, monkeypatch):
    monkeypatch.setattr("gra2seq.formats.raster.MAX_PIXELS", 1000)
    with pytest.raises(UserError, match="60 x 40 pixels"):
        read_grey(encoded(page, "JPEG"))
    assert MAX_PIXELS < 100_000_000


def test_tiny_picture_is_refused():
    with pytest.raises(UserError, match="at least 8"):
        read_grey(encoded(np.zeros((4, 100), np.uint8)))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_truncated_file_is_refused_wherever_it_is_cut(kind):
    noise = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
    data = encoded(noise, kind)
    for cut in range(0, len(data) - 20, 37):
        with pytest.raises(UserError, match=r"damaged|not a PNG or JPEG"):
            read_grey(data[:cut])


def test_any_damaged_byte_gives_a_picture_or_a_user_error():
    rng = np.random.default_rng(0)
    for kind in ("PNG", "JPEG"):
        data = encoded(rng.integers(0, 256, (24, 24), dtype=np.uint8), kind)
        for _ in range(200):
            broken = bytearray(data)
            broken[rng.integers(len(data))] = rng.integers(256)
            with contextlib.suppress(UserError):
                assert read_grey(bytes(broken)).grey.ndim == 2


@pytest.mark.parametrize("data", [b"", b"GIF89a" + bytes(50), b"<svg/>", bytes(1000)])
def test_other_files_are_refused(data):
    with pytest.raises(UserError, match="not a PNG or JPEG"):
        read_grey(data)


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        read_grey(tmp_path / "none.png")
    with pytest.raises(UserError, match="folder"):
        read_grey(tmp_path)
