"""A sheet of drawings and pictures with titles and labels, as PNG and as SVG, whose lines can be enlarged."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import cv2

from gra2seq.formats.svg.elements import NAMESPACE
from gra2seq.formats.svg.writer import NOT_XML, write_svg
from gra2seq.sketch.render import Picture, contact_sheet, write_png
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write

CELL, GAP = 160, 10  # in pixels

Cells = Sequence[Sequence[Sketch | Picture | None]]


def write_sheet(path: Path, rows: Cells, titles: Sequence[str], labels: Sequence[str] = ()) -> list[Path]:
    """Drawings and pictures in rows, a title over each column, a label before each row: `path` as PNG and as SVG."""
    titles, labels = ([NOT_XML.sub("?", word) for word in words] for words in (titles, labels))
    png, svg = (path.with_name(path.name + suffix) for suffix in (".png", ".svg"))
    write_png(png, contact_sheet(rows, CELL, titles, labels or None))
    with atomic_write(svg) as temporary:
        temporary.write_text(svg_sheet(rows, titles, labels), encoding="utf-8")
    return [png, svg]


def svg_sheet(rows: Cells, titles: Sequence[str], labels: Sequence[str]) -> str:
    """As `contact_sheet`, in lines that can be enlarged; pictures stay pictures."""
    step, left, top = CELL + GAP, CELL // 2 + GAP, 3 * GAP
    width, height = left + step * len(titles), top + step * len(rows)
    head = f'font-family="sans-serif" font-size="{CELL / 10:g}" text-anchor="middle" fill="dimgray"'
    lines = [f'<svg xmlns="{NAMESPACE}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {head}>']
    lines.append('<rect width="100%" height="100%" fill="white"/>')
    words = [(title, left + step * i + CELL // 2, 2 * GAP) for i, title in enumerate(titles)]
    words += [(label, left // 2, top + step * i + CELL // 2) for i, label in enumerate(labels)]
    lines += [f'<text x="{x}" y="{y}">{escape(word)}</text>' for word, x, y in words]
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            place = f'x="{left + step * column}" y="{top + step * number}" width="{CELL}" height="{CELL}"'
            if isinstance(cell, Sketch):
                lines.append(f"<svg {place}>\n{write_svg(cell)}</svg>")
            elif cell is not None:
                data = base64.b64encode(cv2.imencode(".png", cell)[1].tobytes()).decode()
                lines.append(f'<image {place} href="data:image/png;base64,{data}"/>')
    return "\n".join([*lines, "</svg>", ""])
