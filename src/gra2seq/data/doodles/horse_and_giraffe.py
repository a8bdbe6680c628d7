"""Horse and giraffe. Each is drawn facing right in one of a few ways; the hand poses it."""

from __future__ import annotations

from collections.abc import Sequence

from gra2seq.data.doodles.curves import Point
from gra2seq.data.doodles.hand import Hand
from gra2seq.data.doodles.legs import leg_spots, legs, under

# Horse


def _mane(pen: Hand, top: Point, bottom: Point) -> None:
    if pen.maybe(0.7):
        pen.zigzag("mane", top, bottom, pen.whole(3, 6), -pen.between(9, 16))
    else:
        (x0, y0), (x1, y1) = top, bottom
        for share in (0.1, 0.35, 0.6, 0.85):
            x, y = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
            pen.line("mane", (x, y), (x - pen.between(10, 18), y + pen.between(-4, 8)))


def _horse_tail(pen: Hand, x: float, y: float) -> None:
    style, s = pen.whole(0, 2), pen.between(0.8, 1.25)
    if style == 0:
        pen.curve("tail", (x, y), (x - 18 * s, y + 5), (x - 25 * s, y + 40 * s), (x - 20 * s, y + 75 * s))
    elif style == 1:
        pen.trace(
            "tail",
            ((x, y), (x - 20 * s, y + 8), (x - 24 * s, y + 68 * s)),
            ((x - 10 * s, y + 40 * s), (x, y + 14)),
        )
    else:
        for bend in (0, 8, 16):
            pen.curve("tail", (x, y + 0.3 * bend), (x - 22 * s + bend, y + 15), (x - 24 * s + bend, y + 65 * s))


def _horse_head(pen: Hand) -> None:
    pen.pose(mirrored=0.6, tilt=12)
    ear, neck, jaw = pen.between(30, 52), pen.between(55, 85), pen.between(0, 14)
    pen.trace(
        "head",
        ((neck, 250), (neck + 8, 160), (112, 75)),
        ((120, ear),),
        ((134, 66),),
        ((176, 108), (214, 165)),
        ((222, 190), (202, 208), (180, 196 + 0.5 * jaw)),
        ((154, 168 + jaw), (146, 200), (neck + pen.between(85, 110), 250)),
    )
    pen.then()
    pen.eye(148, 104, 8)
    pen.dot("nostril", 208, 180, 4)
    if pen.maybe(0.6):
        pen.line("mouth", (208, 201), (184, 186))
    pen.then()
    if pen.maybe(0.5):
        pen.line("ear", (100, 82), (98, 42), (117, 66))
    _mane(pen, (110, 72), (neck + 4, 195))
    if pen.maybe(0.3):
        pen.then()
        pen.line("bridle", (180, 110), (158, 168))
        pen.line("bridle", (168, 138), (102, 128))


def horse(pen: Hand) -> None:
    pen.pose(mirrored=0.6, tilt=8)
    way = pen.random()
    if way < 0.22:
        _horse_head(pen)
        return
    ground, back = pen.between(222, 245), pen.between(108, 122)
    if way < 0.6:  # body and neck drawn around in one stroke
        up = pen.between(-12, 12)
        nose = pen.between(-8, 8)
        pen.trace(
            "body",
            ((34, back + 30), (45, back), (95, back + 6), (145, back - 2), (172, 72 + up), (190, 42 + up)),
            ((196, 24 + up),),
            ((206, 44 + up),),
            ((226, 64 + up), (245, 88 + up + nose)),
            ((240, 102 + up + nose), (226, 100 + up + nose)),
            ((202, 88 + up), (188, 125), (170, back + 56)),
            ((110, back + 54), (60, back + 58), (34, back + 30)),
        )
        pen.then()
        pen.eye(209, 58 + up, 5)
        tops = [(48.0, back + 54), (68.0, back + 57), (148.0, back + 56), (168.0, back + 56)]
        crest, withers, rump = (184.0, 44 + up), (148.0, back - 6), (36.0, back + 10)
    else:
        rx, ry = pen.between(62, 75), pen.between(30, 40)
        x, y = 105.0, back + 28
        pen.oval("body", x, y, rx, ry)
        pen.then()
        hx, hy = pen.between(205, 218), pen.between(50, 72)
        pen.line("neck", (x + 0.6 * rx, y - 0.75 * ry), (hx - 22, hy - 10))
        pen.line("neck", (x + 0.96 * rx, y - 0.1 * ry), (hx - 4, hy + 16))
        pen.then()
        lean, long = pen.between(20, 42), pen.between(30, 38)
        if pen.maybe(0.6):
            pen.oval("head", hx, hy, long, pen.between(14, 18), lean)
        else:
            pen.trace(
                "head",
                ((hx - 24, hy - 14), (hx, hy - 12), (hx + 32, hy + 12)),
                ((hx + 28, hy + 28), (hx + 12, hy + 26)),
                ((hx - 12, hy + 14),),
            )
        pen.eye(hx - 6, hy - 4, 5)
        if pen.maybe(0.5):
            pen.dot("nostril", hx + 22, hy + 15, 2.5)
        pen.then()
        pen.line("ear", (hx - 24, hy - 14), (hx - 20, hy - 34), (hx - 12, hy - 18))
        if pen.maybe(0.4):
            pen.line("ear", (hx - 14, hy - 18), (hx - 8, hy - 34), (hx - 4, hy - 15))
        tops = under(x, y, rx, ry, leg_spots(pen))
        crest, withers, rump = (
            (hx - 24, hy - 12),
            (x + 0.6 * rx, y - 0.75 * ry),
            (x - 0.97 * rx, y - 0.2 * ry),
        )
    pen.then()
    legs(pen, tops, ground, 14, pen.pick(0, 1, 1, 2, 2, 3))
    pen.then()
    if pen.maybe(0.85):
        _mane(pen, crest, withers)
    pen.then()
    _horse_tail(pen, *rump)
    if pen.maybe(0.15):
        pen.then()
        pen.arc("saddle", 105, back + 4, 22, 26, 180, -180)


# Giraffe


def _spots(pen: Hand, places: Sequence[Point], r: float) -> None:
    style = pen.pick(0, 1, 2, 2, 2)
    for x, y in places:
        x, y = x + pen.between(-5, 5), y + pen.between(-5, 5)
        size = r * pen.between(0.6, 1.3)
        if style == 0:
            pen.oval("spot", x, y, size)
        elif style == 1:
            pen.shape(
                "spot",
                (x - size, y - 0.6 * size),
                (x - 0.5 * size, y + size),
                (x + size, y + 0.4 * size),
                (x + 0.6 * size, y - size),
            )
        else:
            pen.dot("spot", x, y, 0.6 * size)


def _giraffe_head(pen: Hand) -> None:
    pen.pose(mirrored=0.6)
    pen.line("neck", (70, 255), (105, 88))
    pen.line("neck", (125, 255), (140, 105))
    pen.then()
    pen.trace(
        "head",
        ((100, 88), (105, 55), (135, 48), (165, 62), (200, 78)),
        ((208, 95), (190, 106), (140, 104), (112, 100), (100, 88)),
    )
    pen.then()
    pen.eye(136, 68, 7)
    pen.dot("nostril", 192, 86, 3)
    pen.curve("mouth", (200, 97), (185, 96), (172, 90))
    pen.then()
    for x in (112, 128):
        pen.line("horn", (x, 52), (x - 3, 20))
        pen.oval("horn", x - 3, 15, 5)
    pen.petal("ear", 104, 62, pen.between(190, 225), 34, 8, pointed=True)
    pen.then()
    _spots(pen, [(112, 130), (122, 165), (95, 185), (112, 215), (85, 235)][: pen.whole(3, 5)], 11)


def giraffe(pen: Hand) -> None:
    pen.pose(mirrored=0.6, tilt=6)
    way = pen.random()
    hx, hy = pen.between(172, 205), pen.between(28, 45)
    if way < 0.15:
        _giraffe_head(pen)
        return
    x, y, rx, ry = pen.between(78, 92), pen.between(142, 160), pen.between(46, 58), pen.between(22, 30)
    ground, thick = pen.between(235, 262), pen.between(7, 11)
    stick = way < 0.3
    if way < 0.65:
        pen.oval("body", x, y, rx, ry)
        pen.then()
        if stick:
            pen.line("neck", (x + 0.75 * rx, y - 0.6 * ry), (hx - 8, hy + 8))
        else:
            pen.line("neck", (x + 0.45 * rx, y - 0.85 * ry), (hx - 1.5 * thick, hy + 2))
            pen.line("neck", (x + 0.93 * rx, y - 0.3 * ry), (hx + 0.5 * thick, hy + 10))
        tops = under(x, y, rx, ry, leg_spots(pen))
    else:  # body and neck in one stroke, open where the head goes
        pen.trace(
            "body",
            (
                (hx - 1.6 * thick, hy + 2),
                (0.45 * hx + 0.55 * (x + 0.4 * rx) - 6, 0.45 * hy + 0.55 * y),
                (x + 0.3 * rx, y - ry),
            ),
            ((x - 0.5 * rx, y - 0.9 * ry), (x - rx, y), (x - 0.75 * rx, y + ry)),
            ((x + 0.8 * rx, y + ry),),
            ((x + 1.1 * rx, y - 0.1 * ry), (hx + 0.5 * thick, hy + 10)),
        )
        tops = [(x + share * rx, y + ry) for share in (-0.72, -0.45, 0.5, 0.78)]
    pen.then()
    lean = pen.between(5, 35)
    if pen.maybe(0.7):
        pen.oval("head", hx + 10, hy, pen.between(21, 27), pen.between(10, 13), lean)
    else:
        pen.trace(
            "head",
            ((hx - 14, hy + 4), (hx - 8, hy - 10), (hx + 12, hy - 5), (hx + 38, hy + 6)),
            ((hx + 36, hy + 15), (hx + 5, hy + 12)),
        )
    pen.dot("eye", hx + 4, hy - 3, 2.5)
    if pen.maybe(0.3):
        pen.line("mouth", (hx + 30, hy + 10), (hx + 16, hy + 7))
    pen.then()
    tall, tip = pen.between(12, 20), pen.maybe(0.5)
    for side in (-4, 5) if pen.maybe(0.85) else (0,):
        pen.line("horn", (hx + side, hy - 9), (hx + side - 3, hy - 9 - tall))
        if tip:
            pen.dot("horn", hx + side - 3, hy - 12 - tall, 3)
    if pen.maybe(0.3):
        pen.petal("ear", hx - 8, hy - 5, pen.between(190, 230), 18, 4, pointed=True)
    pen.then()
    legs(pen, tops, ground, 10, 0 if stick else pen.pick(0, 0, 1, 2))
    pen.then()
    rump = x - 0.97 * rx
    if pen.maybe(0.85):
        end = y + pen.between(25, 45)
        pen.curve("tail", (rump, y - 5), (rump - 10, y + 8), (rump - 12, end))
        if pen.maybe(0.4):
            pen.oval("tail", rump - 12, end + 6, 4, 7)
    pen.then()
    if pen.maybe(0.8):
        places = [
            (x - 0.5 * rx, y - 3),
            (x, y + 6),
            (x + 0.4 * rx, y - 6),
            (x - 0.15 * rx, y - 0.5 * ry),
            (x + 0.65 * rx, y + 5),
        ]
        if not stick:
            places += [
                (0.7 * (x + 0.7 * rx) + 0.3 * hx, 0.7 * (y - 10) + 0.3 * hy),
                (0.4 * (x + 0.7 * rx) + 0.6 * hx - 3, 0.4 * y + 0.6 * hy),
            ]
        _spots(pen, places[pen.whole(1, 4) :], 7)
