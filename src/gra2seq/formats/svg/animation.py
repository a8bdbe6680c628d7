"""Drawings that draw themselves: an SVG whose lines appear stroke by stroke.

The motion is CSS inside the file, so that it plays in a browser, in an <img> and in a README. Readers who ask their
system for less motion, and programs without animation, see the finished drawings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import ArrayLike

from gra2seq.errors import UserError
from gra2seq.formats.svg.bezier_fit import TOLERANCE, decimals, format_number, line_data
from gra2seq.formats.svg.elements import NAMESPACE
from gra2seq.formats.svg.writer import NOT_XML
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

MAX_CELLS = 100  # drawings in one grid
EVEN = 0.02  # of a stroke's length: keyframes are added until the pen is that near to where it should be
FINER = 10.0  # times as exact as new lines are those that the user drew: no deviation can be seen
APPEARS = 0.01  # percent of the loop in which a line becomes visible

Box = tuple[float, float, float, float]  # left, top, width, height


@dataclass(frozen=True)
class AnimationStyle:
    """How an animation looks; lengths are in pixels."""

    cell: float = 240.0  # side of the square that a drawing gets
    margin: float = 16.0  # around each drawing
    line_width: float = 3.0
    line: str = "#111111"
    visible: str = "#b8b8b8"  # lines that are there from the beginning
    background: str = "white"  # or "none"
    columns: int | None = None  # of the grid; by default it is nearly square
    pause: float = 2.0  # seconds between the finished drawing and the next round
    curves: bool = True  # smooth curves, or polylines


def animate(
    sketches: Sequence[Sketch | None],
    timelines: Sequence[ArrayLike],
    *,
    visible: Sequence[Sketch | None] | None = None,
    seconds: float | None = None,
    frame: Box | None = None,
    title: str = "",
    style: AnimationStyle | None = None,
) -> str:
    """An SVG in which drawings, side by side in a grid, appear at the pace of a hand, again and again.

    `timelines`: for each sketch the time of each of its points, (P,), not decreasing. `visible`: lines of each that
    stay from the beginning, in grey; a sketch of None adds nothing to them. `seconds`: when the last drawing is
    finished; by default as the times say. `frame`: the part of the drawings' plane that each cell shows; by default
    all that is drawn in it.
    """
    style = style or AnimationStyle()
    grey = list(visible) if visible is not None else [None] * len(sketches)
    times = _checked(sketches, timelines, grey)
    end = max(float(some.max(initial=0)) for some in times)
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise UserError(f"an animation cannot take {seconds} seconds: give a number above 0")
    drawn = seconds if seconds is not None else (end or 1.0)
    times = [some * (drawn / end) if end else some for some in times]
    columns = style.columns or math.ceil(math.sqrt(len(sketches)))
    width, height = columns * style.cell, math.ceil(len(sketches) / columns) * style.cell
    loop = drawn + style.pause
    frames: list[str] = []
    cells: list[str] = []
    for index, (sketch, some, still) in enumerate(zip(sketches, times, grey, strict=True)):
        corner = (index % columns * style.cell, index // columns * style.cell)
        cells.append(_cell(sketch, some / loop * 100, still, frame, corner, style, frames))
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    name = [f"<title>{escape(NOT_XML.sub('?', title))}</title>"] if title else []
    back = (
        [] if style.background == "none" else [f'<rect width="100%" height="100%" fill={quoteattr(style.background)}/>']
    )
    rows = [
        f'<svg xmlns="{NAMESPACE}" {size} role="img">',
        *name,
        _style_sheet(frames, loop),
        *back,
        *cells,
        "</svg>",
        "",
    ]
    return "\n".join(rows)


def _checked(
    sketches: Sequence[Sketch | None], timelines: Sequence[ArrayLike], grey: Sequence[Sketch | None]
) -> list[Doubles]:
    if not sketches or len(timelines) != len(sketches) or len(grey) != len(sketches):
        counts = f"{len(sketches)} drawings, {len(timelines)} timelines and {len(grey)} visible parts"
        raise UserError(
            f"an animation needs as many drawings as timelines and visible parts, and one at least: got {counts}"
        )
    times = [np.asarray(some, np.float64) for some in timelines]
    for index, (sketch, some, still) in enumerate(zip(sketches, times, grey, strict=True)):
        count = len(sketch) if sketch else 0
        if not (sketch or still):
            raise UserError(f"drawing {index} is empty: give it lines to draw, or visible ones")
        if some.shape != (count,):
            raise UserError(f"drawing {index} has {count} points, its timeline the shape {some.shape}")
        if not np.isfinite(some).all() or (some < 0).any() or (np.diff(some) < 0).any():
            raise UserError(f"the times of drawing {index} must be finite, 0 or more, and must not decrease")
    return times


def placement(
    lines: Sequence[Sketch | None], frame: Box | None, corner: tuple[float, float], style: AnimationStyle
) -> tuple[float, Doubles]:
    """Scale and shift that put the frame, or all the lines, into the middle of the cell with this top left corner."""
    points = np.concatenate([line.points for line in lines if line is not None]).astype(np.float64)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    if frame is not None:
        low, size = np.array(frame[:2], np.float64), np.array(frame[2:], np.float64)
    side = float(size.max()) or 1.0
    scale = (style.cell - 2 * style.margin) / side
    return scale, np.array(corner) + style.cell / 2 - (low + size / 2) * scale


def _cell(
    sketch: Sketch | None,
    percent: Doubles,
    still: Sketch | None,
    frame: Box | None,
    corner: tuple[float, float],
    style: AnimationStyle,
    frames: list[str],
) -> str:
    """One drawing of the grid; the keyframes of its strokes are added to `frames`."""
    scale, shift = placement([sketch, still], frame, corner, style)

    def data(stroke: Floats, finer: float = 1.0) -> str:
        tolerance = style.cell * TOLERANCE / finer if style.curves else 0.0
        return line_data(stroke.astype(np.float64) * scale + shift, tolerance, decimals(style.cell) - 1)

    pen = f'fill="none" stroke-width="{style.line_width:g}" stroke-linecap="round" stroke-linejoin="round"'
    rows = []
    if still is not None:
        lines = "".join(data(stroke, FINER) for stroke in still.strokes)
        rows.append(f'<path {pen} stroke={quoteattr(style.visible)} d="{lines}"/>')
    if sketch is None:
        return "\n".join(rows)
    rows.append(f"<g {pen} stroke={quoteattr(style.line)}>")
    for stroke, times in zip(sketch.strokes, np.split(percent, sketch.starts[1:]), strict=True):
        name = f"s{len(frames)}"
        long = bool((stroke != stroke[0]).any())
        frames.append(_keyframes(name, stroke, times, long))
        kind = 'class="line" pathLength="1"' if long else 'class="dot"'
        rows.append(f'<path {kind} style="animation-name:{name}" d="{data(stroke)}"/>')
    return "\n".join([*rows, "</g>"])


def _keyframes(name: str, stroke: Floats, percent: Doubles, long: bool) -> str:
    """Invisible until the first point, then drawn along with the times of the points, then finished."""
    begin = min(float(percent[0]), 100 - 2 * APPEARS)
    frames = [f"0%,{_percent(begin)}{{opacity:0}}{_percent(begin + APPEARS)}{{opacity:1}}"]
    if long:
        steps = np.hypot(*np.diff(stroke.astype(np.float64), axis=0).T)
        share = np.append(0, np.cumsum(steps)) / steps.sum()
        percent = np.clip(percent, begin + 2 * APPEARS * share, 100)  # a stroke that takes no time is drawn at once
        frames.append(f"0%,{_percent(begin)}{{stroke-dashoffset:1}}")
        for index in _bends(percent, share):
            frames.append(f"{_percent(percent[index])}{{stroke-dashoffset:{format_number(1 - share[index], 4)}}}")
        frames.append(f"{_percent(percent[-1])},100%{{stroke-dashoffset:0}}")
    return f"@keyframes {name}{{{''.join(frames)}}}"


def _percent(value: float) -> str:
    return f"{format_number(value, 3)}%"


def _bends(percent: Doubles, share: Doubles) -> list[int]:
    """The points between the first and the last where the pace changes so much that it is visible."""
    found: list[int] = []
    todo = [(0, len(share) - 1)]
    while todo:
        first, last = todo.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        even = np.interp(percent[inner], percent[[first, last]], share[[first, last]])
        away = np.abs(even - share[inner])
        if away.max() > EVEN:
            middle = first + 1 + int(away.argmax())
            found.append(middle)
            todo += [(first, middle), (middle, last)]
    return sorted(found)


def _style_sheet(frames: Sequence[str], loop: float) -> str:
    play = f"animation:{format_number(loop, 3)}s linear infinite"
    rules = [f".line{{stroke-dasharray:1;{play}}}", f".dot{{{play}}}", *frames]
    return "\n".join(["<style>@media (prefers-reduced-motion: no-preference){", *rules, "}</style>"])
