"""Pictures that mark an erased region, as a stranger may have made them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from formats.test_raster import png_header
from gra2seq.errors import UserError
from gra2seq.healing.documents import erased_region

PAGE = (0.0, 0.0, 100.0, 50.0)


def mask_png() -> bytes:
    pixels = np.full((50, 100), 255, np.uint8)
    pixels[10:20, 30:60] = 0
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def test_mask_is_the_painted_part(tmp_path: Path) -> None:
    path = tmp_path / "mask.png"
    path.write_bytes(mask_png())
    (ring,) = erased_region(path, PAGE).rings
    assert ring.min(axis=0).tolist() == [30, 10]
    assert ring.max(axis=0).tolist() == [59, 19]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (png_header(60_000, 60_000), "million pixels"),
        (png_header(9000, 9000), "at most 64 million are read"),
        (b"not a picture", "not a PNG or JPEG"),
        (mask_png()[:60], "damaged"),
        (b"", "not a PNG or JPEG"),
    ],
    ids=["bomb", "too large", "text", "cut", "empty"],
)
def test_bad_mask_is_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mask.png"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        erased_region(path, PAGE)
