"""What animals stand on."""

from __future__ import annotations

from collections.abc import Sequence

from gra2seq.data.doodles.curves import Point, half_height
from gra2seq.data.doodles.hand import Hand


def legs(pen: Hand, tops: Sequence[Point], ground: float, width: float, style: int) -> None:
    """Legs as sticks, as sticks with feet, as narrow U's or bent at the knee."""
    stride = pen.between(-5, 5)
    centre = 0.5 * (tops[0][0] + tops[-1][0])
    splay = pen.between(0.1, 0.35) if pen.maybe(0.2) else 0.0  # running
    for x, top in tops:
        bottom = ground + pen.between(-5, 5)
        foot = x + stride + pen.between(-4, 4) + splay * (x - centre)
        if style == 0:
            pen.line("leg", (x, top), (foot, bottom))
        elif style == 1:
            pen.line("leg", (x, top), (foot, bottom), (foot + 0.9 * width, bottom + pen.between(-2, 1)))
        elif style == 2:
            w = 0.5 * width
            pen.line("leg", (x - w, top), (foot - w, bottom), (foot + w, bottom), (x + w, top))
        else:
            w, knee = 0.5 * width, pen.between(-4, 4)
            middle = 0.5 * (top + bottom)
            pen.line(
                "leg",
                (x - 1.3 * w, top),
                (x - w + knee, middle),
                (foot - w, bottom),
                (foot + w, bottom),
                (x + 0.8 * w + knee, middle),
                (x + 1.3 * w, top),
            )


def under(x: float, y: float, rx: float, ry: float, spots: tuple[float, ...]) -> list[Point]:
    """Where legs leave an oval body; spots are shares of its half length."""
    return [(x + rx * spot, y + half_height(rx * spot, rx, ry)) for spot in spots]


def leg_spots(pen: Hand) -> tuple[float, ...]:
    if pen.maybe(0.15):
        return (-0.6, 0.6)
    gap = pen.between(0.22, 0.38)
    return (-0.78, -0.78 + gap, 0.78 - gap, 0.78)
