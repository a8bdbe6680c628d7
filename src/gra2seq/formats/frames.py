"""Drawings that follow each other as a film, there and back: an SVG that moves by itself, or a GIF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.bezier_fit import TOLERANCE, decimals, format_number, line_data
from gra2seq.formats.svg.elements import NAMESPACE
from gra2seq.sketch.strokes import Doubles, Sketch
from gra2seq.system.atomic_files import atomic_write

FILMS = (".svg", ".gif")
SIDE = 256  # px
MARGIN = 16  # px around the drawings
LINE_WIDTH = 3.0  # px
SECONDS = 0.12  # that a drawing is shown
HOLD = 7  # times as long for the first and the last


def write_film(path: Path, sketches: Sequence[Sketch]) -> list[Path]:
    """Write drawings that follow each other to a .svg or .gif; returns the file as a list, as `write` does."""
    if path.suffix.lower() not in FILMS:
        raise UserError(f"{path.name} is no film: name a file that ends in {' or '.join(FILMS)}")
    if not sketches:
        raise UserError("a film needs a drawing")
    placed = _on_one_page(sketches)
    with atomic_write(path) as temporary:
        if path.suffix.lower() == ".svg":
            temporary.write_text(film_svg(placed), encoding="utf-8")
        else:
            _write_gif(temporary, placed)
    return [path]


def film_svg(strokes: Sequence[Sequence[Doubles]]) -> str:
    """An SVG that shows one drawing after the other. Programs without animation show the last one."""
    order = _order(len(strokes))
    starts = np.cumsum([0.0, *(seconds for _, seconds in order)])
    rules, groups = [], []
    for number, lines in enumerate(strokes):
        shown = [(starts[slot], starts[slot + 1]) for slot, (which, _) in enumerate(order) if which == number]
        rules.append(_keyframes(number, np.array(shown) / starts[-1] * 100))
        data = "".join(line_data(line, SIDE * TOLERANCE, decimals(SIDE) - 1) for line in lines)
        hidden = "" if number == len(strokes) - 1 else ' visibility="hidden"'
        groups.append(f'<path class="f" style="animation-name:f{number}"{hidden} d="{data}"/>')
    play = f".f{{animation:{format_number(float(starts[-1]), 3)}s step-end infinite}}"
    pen = f'fill="none" stroke="#111111" stroke-width="{LINE_WIDTH:g}" stroke-linecap="round" stroke-linejoin="round"'
    style = ["<style>@media (prefers-reduced-motion: no-preference){", play, *rules, "}</style>"]
    head = f'<svg xmlns="{NAMESPACE}" width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}" role="img">'
    back = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, *style, back, f"<g {pen}>", *groups, "</g>", "</svg>", ""])


def _on_one_page(sketches: Sequence[Sketch]) -> list[list[Doubles]]:
    """The strokes of each drawing in pixels: all keep their place and size to each other."""
    points = np.concatenate([sketch.points for sketch in sketches]).astype(np.float64)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    scale = (SIDE - 2 * MARGIN) / (float(size.max()) or 1.0)
    shift = SIDE / 2 - (low + size / 2) * scale
    return [[stroke.astype(np.float64) * scale + shift for stroke in sketch.strokes] for sketch in sketches]


def _order(count: int) -> list[tuple[int, float]]:
    """Number and seconds of each picture, there and back."""
    numbers = [*range(count), *range(count - 2, 0, -1)]
    return [(number, SECONDS * (HOLD if number in (0, count - 1) else 1)) for number in numbers]


def _keyframes(number: int, shown: Doubles) -> str:
    """Visible in these parts of the loop, (n, 2) percent."""
    frames = ["0%{visibility:hidden}"] if shown[0, 0] > 0 else []
    for begin, end in shown.tolist():
        frames.append(f"{format_number(begin, 3)}%{{visibility:visible}}")
        if end < 100:
            frames.append(f"{format_number(end, 3)}%{{visibility:hidden}}")
    return f"@keyframes f{number}{{{''.join(frames)}}}"


def _write_gif(path: Path, strokes: Sequence[Sequence[Doubles]]) -> None:
    from PIL import Image

    pictures = [Image.fromarray(_picture(lines)) for lines in strokes]
    order = _order(len(pictures))
    first, *others = [pictures[number] for number, _ in order]
    milliseconds = [round(seconds * 1000) for _, seconds in order]
    first.save(path, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0)


def _picture(lines: Sequence[Doubles]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """(SIDE, SIDE) grey levels: drawn at four times the size and averaged, so that lines are smooth."""
    import cv2

    finer = 4
    canvas = np.full((SIDE * finer, SIDE * finer), 255, np.uint8)
    places = [np.rint(line * finer).astype(np.int32) for line in lines]
    cv2.polylines(canvas, places, False, 0, round(LINE_WIDTH * finer), cv2.LINE_AA)
    return np.asarray(cv2.resize(canvas, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)
