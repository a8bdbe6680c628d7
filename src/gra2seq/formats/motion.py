"""Drawings in motion: animated GIF and SVG files in which lines appear stroke by stroke, at the pace of a hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gra2seq.errors import UserError
from gra2seq.formats.svg.animation import MAX_CELLS, AnimationStyle, animate, placement
from gra2seq.sketch.pace import timeline
from gra2seq.sketch.strokes import Doubles, Sketch
from gra2seq.system.atomic_files import atomic_write

Pixels = NDArray[np.uint8]

MAX_WIDTH = 1200  # px of a GIF: its cells get smaller beyond this
FRAME_SECONDS = 0.08  # a GIF counts in hundredths; browsers slow down anything faster than two of them
MAX_FRAMES = 250  # of a GIF; a longer drawing gets fewer frames a second
FINER = 2  # lines are drawn at this many times the resolution and averaged
SUBPIXEL = 4  # fractional bits of OpenCV's coordinates
GREYS = 16  # levels of a GIF: enough for smooth edges, and files stay small
LINE_VALUE, VISIBLE_VALUE, BLANK_VALUE = 17, 184, 255  # grey levels: #111111, #b8b8b8 and white, as in an SVG


@dataclass(frozen=True)
class MotionCell:
    """One drawing of the grid: lines that are there from the beginning, in grey, and lines that are drawn."""

    drawn: Sketch | None
    visible: Sketch | None = None


def write_motion(path: str | Path, cells: Sequence[MotionCell], seconds: float | None = None) -> list[Path]:
    """Write drawings, side by side in a grid, as an animated .gif or .svg; returns the files made.

    All are drawn at the same time, at the pace of a hand or so that the last is finished after `seconds`.
    """
    path = Path(path)
    check_motion(path, len(cells), seconds)
    times = timelines(cells)
    if path.suffix.lower() == ".svg":
        text = animate([cell.drawn for cell in cells], times, visible=[cell.visible for cell in cells], seconds=seconds)
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return [path]
    end = max(float(some.max(initial=0)) for some in times) or 1.0
    total = seconds or end
    frames = [Image.fromarray(frame) for frame in _frames(cells, [some * (total / end) for some in times], total)]
    duration = [round(total / len(frames) * 100) * 10] * (len(frames) - 1) + [round(AnimationStyle().pause * 1000)]
    with atomic_write(path) as temporary:
        frames[0].save(
            temporary, format="GIF", save_all=True, append_images=frames[1:], duration=duration, loop=0, disposal=1
        )
    return [path]


def check_motion(path: Path, count: int, seconds: float | None) -> None:
    """Raise the error that `write_motion` would meet, before the work that makes the drawings."""
    if path.suffix.lower() not in (".gif", ".svg"):
        raise UserError(f"{path}: drawings in motion are .gif or .svg files")
    if not 1 <= count <= MAX_CELLS:
        raise UserError(f"{path}: an animation shows 1 to {MAX_CELLS} drawings, not {count}: choose fewer with --limit")
    if seconds is not None and not 0 < seconds <= 600:
        raise UserError(f"an animation cannot take {seconds:g} seconds: give a number above 0, at most 600")


def timelines(cells: Sequence[MotionCell]) -> list[Doubles]:
    """When each point of the drawn lines is reached, in seconds.

    A hand adds a small part to a drawing at the scale of the whole drawing, so the visible lines count for the scale
    and for the first move through the air, but not for the time.
    """
    every = []
    for cell in cells:
        if cell.drawn is None:
            every.append(np.empty(0))
            continue
        strokes = [*(cell.visible.strokes if cell.visible else []), *cell.drawn.strokes]
        times = timeline(Sketch.from_polylines(strokes))[-len(cell.drawn) :]
        every.append(times - times[0])
    return every


def _frames(cells: Sequence[MotionCell], times: Sequence[Doubles], total: float) -> Iterator[Pixels]:
    """The pictures of a GIF: one for every FRAME_SECONDS, the last one finished."""
    columns = math.ceil(math.sqrt(len(cells)))
    style = AnimationStyle()
    shrink = min(1.0, MAX_WIDTH / (columns * style.cell))
    style = replace(style, cell=style.cell * shrink, margin=style.margin * shrink, line_width=style.line_width * shrink)
    width, height = round(columns * style.cell), round(math.ceil(len(cells) / columns) * style.cell)
    canvas = np.full((height * FINER, width * FINER), BLANK_VALUE, np.uint8)
    thickness = max(1, round(style.line_width * FINER))
    placed: list[tuple[list[Doubles], list[Doubles]]] = []
    for index, (cell, some) in enumerate(zip(cells, times, strict=True)):
        corner = (index % columns * style.cell, index // columns * style.cell)
        scale, shift = placement([cell.drawn, cell.visible], None, corner, style)
        for still in cell.visible.strokes if cell.visible else []:
            _line(canvas, still * scale + shift, VISIBLE_VALUE, thickness)
        if cell.drawn is not None:
            strokes = [stroke * scale + shift for stroke in cell.drawn.strokes]
            placed.append((strokes, np.split(some, cell.drawn.starts[1:])))
    count = min(max(math.ceil(total / FRAME_SECONDS), 1), MAX_FRAMES)
    begin = -1.0
    for end in np.linspace(0, total, count + 1)[1:]:
        for strokes, reached in placed:
            for stroke, own in zip(strokes, reached, strict=True):
                if own[0] <= end and own[-1] > begin:
                    _line(canvas, _between(stroke, own, begin, float(end)), LINE_VALUE, thickness)
        yield _shown(canvas)
        begin = float(end)


def _between(stroke: Doubles, times: Doubles, begin: float, end: float) -> Doubles:
    """The part of a stroke that is drawn from one time to another."""
    inner = (times > begin) & (times < end)
    ends = np.array([max(begin, times[0]), min(end, times[-1])])
    first, last = np.stack([np.interp(ends, times, stroke[:, axis]) for axis in (0, 1)], axis=1)
    return np.concatenate([[first], stroke[inner], [last]])


def _line(canvas: Pixels, points: Doubles, value: int, thickness: int) -> None:
    fine = np.rint((points * FINER - 0.5) * (1 << SUBPIXEL)).astype(np.int32)
    if len(fine) == 1:  # a dot
        fine = np.repeat(fine, 2, axis=0)
    cv2.polylines(canvas, [fine], False, value, thickness, cv2.LINE_AA, SUBPIXEL)


def _shown(canvas: Pixels) -> Pixels:
    height, width = canvas.shape
    grey = cv2.resize(canvas, (width // FINER, height // FINER), interpolation=cv2.INTER_AREA)
    step = 255 / (GREYS - 1)
    return np.asarray(np.rint(np.rint(grey / step) * step), np.uint8)
