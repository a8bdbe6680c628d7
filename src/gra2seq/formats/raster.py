"""PNG and JPEG files as grey pictures, upright and on white, whatever they hold: palette, 16 bit, alpha, EXIF rotation.

A file is not trusted: the size that its header states is checked before a pixel is decoded.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from gra2seq.errors import UserError
from gra2seq.system.input_files import read_bytes

Grey = NDArray[np.uint8]  # (height, width), 0 black to 255 white

MAX_BYTES = 100_000_000  # of a file
MAX_PIXELS = 64_000_000  # a phone's largest pictures have 50 million
MIN_SIDE = 8  # px; nobody draws on less
FORMATS = ("PNG", "JPEG")
BAND_PIXELS = 1_000_000  # that are computed with at a time
MAX_DEFLATE = 1032  # bytes that deflate makes of one at most
MODE_BITS = {"LA": 16, "RGB": 24, "RGBA": 32, "I;16": 16}  # of a pixel in a PNG; others may have a single one
MIN_JPEG_SHARE = 1 / 512  # bytes a pixel: at least a bit for each block of 64
LIGHT = 200  # mean grey of what is opaque, from which on it is taken for light ink on a dark page

# What Pillow raises while it reads a damaged file.
_DAMAGED = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, struct.error, zlib.error)


@dataclass(frozen=True)
class Picture:
    """A decoded picture and its name in messages."""

    grey: Grey
    name: str
    remark: str = ""  # what the user should know about how it was read


def read_grey(source: str | Path | bytes) -> Picture:
    """Decode a PNG or JPEG, given as a path or as the bytes of the file."""
    name = "the picture" if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else read_bytes(source, MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise UserError(f"{name} is larger than {MAX_BYTES / 1e6:.0f} MB: scale it down or compress it")
    with _open(data, name) as image:
        _check_size(image, name, len(data))
        animated = image.format == "PNG" and getattr(image, "n_frames", 1) > 1
        try:
            image.seek(0)
            image.load()
            grey = _grey(_upright(image))
        except _DAMAGED as error:
            raise UserError(f"{name} is damaged or cut off ({error}): save or copy it again") from error
    return Picture(grey, name, f"{name} is animated: only its first frame is read" if animated else "")


def read_mask(path: str | Path) -> NDArray[np.bool_]:
    """(height, width) which pixels are painted: the opaque or, without transparency, those darker than the page."""
    data = read_bytes(path, MAX_BYTES)
    with _open(data, str(path)) as image:
        _check_size(image, str(path), len(data))
        try:
            image.load()
            upright = _upright(image)
            opacity = np.asarray(upright.convert("RGBA").getchannel("A"))
            if opacity.min() < 255:
                return opacity >= 128
            grey = _grey(upright)
        except _DAMAGED as error:
            raise UserError(f"{path} is damaged or cut off ({error}): save or copy it again") from error
    painted: NDArray[np.bool_] = grey < grey.max() / 2
    return painted


def _open(data: bytes, name: str) -> Image.Image:
    """The picture with its header read and nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's remarks on odd headers; on size `_check_size` says more
            return Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        most = f"at most {MAX_PIXELS // 10**6} million pixels are read"
        raise UserError(f"{name} states a size of hundreds of millions of pixels; {most}: scale it down") from error
    except UnidentifiedImageError as error:
        raise UserError(f"{name} is not a PNG or JPEG picture, or it is damaged: save it again as one") from error
    except _DAMAGED as error:
        raise UserError(f"{name} is damaged ({error}): save or copy it again") from error


def _check_size(image: Image.Image, name: str, file_size: int) -> None:
    """Refuse pictures that are too large or too small, and files that cannot hold the pixels that they state."""
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise UserError(
            f"{name} has {width} x {height} pixels, {width * height / 1e6:.0f} million; "
            f"at most {MAX_PIXELS // 10**6} million are read: scale it down"
        )
    if min(width, height) < MIN_SIDE:
        raise UserError(f"{name} has {width} x {height} pixels: a drawing needs at least {MIN_SIDE} each way")
    share = MODE_BITS.get(image.mode, 1) / 8 / MAX_DEFLATE if image.format == "PNG" else MIN_JPEG_SHARE
    if width * height * share > file_size:
        raise UserError(f"{name} is cut off: {width} x {height} pixels do not fit into it; save or copy it again")


def _upright(image: Image.Image) -> Image.Image:
    """Turned as EXIF says; a damaged EXIF block says nothing."""
    try:
        return ImageOps.exif_transpose(image)
    except _DAMAGED:
        return image


def _grey(image: Image.Image) -> Grey:
    """One value a pixel. What is transparent shows a white page, or a black one behind light ink."""
    if image.mode.startswith("I") or image.mode == "F":  # 16 or 32 bits
        values = np.asarray(image)
        white = 65535.0 if values.max() > 4095 else max(float(values.max()), 1.0)  # some scanners use 10 or 12 bits
        return _by_bands(values, lambda band: band * (255 / white))
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        both = np.asarray(image.convert("RGBA").convert("LA"))  # (height, width, 2) ink and opacity
        opaque = both[..., 1].sum(dtype=np.int64) / 255
        inked = sum(float((band[..., 0] * (band[..., 1] / 255)).sum()) for band in _bands(both))
        light = inked / max(opaque, 1.0) >= LIGHT and opaque < 0.5 * both[..., 1].size
        page = 0.0 if light else 255.0
        return _by_bands(both, lambda band: page + (band[..., 0] - page) * (band[..., 1] / 255))
    return np.asarray(image.convert("L"), np.uint8)


def _by_bands(values: NDArray[Any], grey: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Grey:
    """A grey picture, computed a few rows at a time: a large picture as float64 would need gigabytes."""
    return np.concatenate([np.rint(grey(band)).clip(0, 255).astype(np.uint8) for band in _bands(values)])


def _bands(values: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    rows = max(1, BAND_PIXELS // values.shape[1])
    return (values[start : start + rows].astype(np.float64) for start in range(0, len(values), rows))
