"""Small pictures to start from, and PNG files whose checksums are right whatever was changed in them."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
from PIL import Image

from gra2seq.formats.raster import MAX_PIXELS

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_TOKENS = (b"IHDR", b"PLTE", b"IDAT", b"tRNS", b"acTL", b"eXIf", b"iCCP", b"zTXt", b"IEND", b"\x00\x00\x00\x0d")
JPG_TOKENS = (
    b"\xff\xd8",
    b"\xff\xd9",
    b"\xff\xc0",
    b"\xff\xc4",
    b"\xff\xda",
    b"\xff\xdb",
    b"\xff\xe1",
    b"Exif\x00\x00",
)


def page() -> np.ndarray:
    """White, with a few dark lines."""
    grey = np.full((40, 60), 255, np.uint8)
    grey[5:8, 5:40] = grey[5:35, 20:23] = 0
    return grey


def encoded(image: Image.Image, kind: str) -> bytes:
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


def pngs() -> list[bytes]:
    grey = Image.fromarray(page())
    deep = Image.fromarray(page().astype(np.uint16) * 257)
    return [*(encoded(grey.convert(mode), "PNG") for mode in ("L", "RGBA", "P", "1")), encoded(deep, "PNG")]


def jpgs() -> list[bytes]:
    grey = Image.fromarray(page())
    return [encoded(grey, "JPEG"), encoded(grey.convert("RGB"), "JPEG"), encoded(grey.convert("CMYK"), "JPEG")]


def unpacked_size(content: bytes) -> int:
    """Bytes of the pixels that the header states, if it can be read and the picture is not refused for its size."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(content))
            size = image.size[0] * image.size[1]
            return size * len(image.getbands()) if size <= MAX_PIXELS else 0
    except Exception:  # whatever Pillow raises: then nothing is unpacked
        return 0


def with_png_checksums(content: bytes) -> bytes:
    """The file with the checksum of every chunk made right, as far as chunks can be told apart."""
    if not content.startswith(SIGNATURE):
        return content
    parts, place = [SIGNATURE], len(SIGNATURE)
    while place + 12 <= len(content):
        (size,) = struct.unpack(">I", content[place : place + 4])
        if place + 12 + size > len(content):
            break
        body = content[place + 4 : place + 8 + size]
        parts += [content[place : place + 4], body, struct.pack(">I", zlib.crc32(body))]
        place += 12 + size
    return b"".join([*parts, content[place:]])
