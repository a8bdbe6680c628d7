"""Cat and pig. Each is drawn facing right in one of a few ways; the hand poses it."""

from __future__ import annotations

from gra2seq.data.doodles.curves import rim
from gra2seq.data.doodles.hand import Hand
from gra2seq.data.doodles.legs import leg_spots, legs, under

# Cat


def _cat_ears(pen: Hand, x: float, y: float, rx: float, ry: float) -> None:
    spread, breadth, tall = pen.between(36, 50), pen.between(15, 22), pen.between(1.35, 1.7)
    inner = rx > 60 and pen.maybe(0.2)
    for side in (-1, 1):
        middle = -90 + side * spread
        tip = rim(x, y, rx * tall, ry * tall, middle + side * pen.between(-8, 4))
        outer_end, inner_end = (rim(x, y, rx, ry, middle + side * turn) for turn in (breadth, -breadth))
        pen.line("ear", inner_end, tip, outer_end)
        if inner:
            pen.line(
                "ear",
                *[(0.55 * a + 0.45 * tip[0], 0.55 * b + 0.45 * tip[1]) for a, b in (inner_end, tip, outer_end)],
            )


def _cat_head(pen: Hand, x: float, y: float, r: float) -> None:
    rx, ry = r * pen.between(0.95, 1.2), r * pen.between(0.8, 1.0)
    if pen.maybe(0.3):  # head and ears in one stroke
        spread, tall = pen.between(38, 52), pen.between(1.35, 1.6)
        around = tuple(rim(x, y, rx, ry, angle) for angle in (-22, 10, 45, 90, 135, 170, 202))
        left, right = (rim(x, y, rx * tall, ry * tall, -90 + side * spread) for side in (-1, 1))
        low_left, low_right = (rim(x, y, 0.95 * rx, 0.85 * ry, -90 + side * 18) for side in (-1, 1))
        pen.trace("head", around, (left,), (low_left,), (low_right,), (right,), (around[0],))
    else:
        pen.oval("head", x, y, rx, ry)
        pen.then()
        _cat_ears(pen, x, y, rx, ry)
    pen.then()
    apart, high = pen.between(0.34, 0.46) * rx, y - pen.between(0.1, 0.3) * ry
    slit = r > 60 and pen.maybe(0.2)
    for side in (-1, 1):
        pen.eye(x + side * apart, high, 0.15 * r)
        if slit:
            pen.line("pupil", (x + side * apart, high - 0.12 * r), (x + side * apart, high + 0.12 * r))
    if r < 35 and pen.maybe(0.4):
        return
    pen.then()
    nose, n = y + pen.between(0.08, 0.22) * ry, 0.1 * r
    if pen.maybe(0.65) and r > 35:
        pen.shape("nose", (x - n, nose), (x, nose + 1.2 * n), (x + n, nose))
    else:
        pen.dot("nose", x, nose + 0.5 * n, 0.6 * n)
    mouth, m = nose + 1.2 * n, 0.2 * r
    style = pen.whole(0, 3)
    if style == 0:
        pen.trace(
            "mouth",
            ((x - 1.6 * m, mouth + 0.6 * m), (x - 0.8 * m, mouth + 1.3 * m), (x, mouth)),
            ((x + 0.8 * m, mouth + 1.3 * m), (x + 1.6 * m, mouth + 0.6 * m)),
        )
    elif style == 1:
        pen.line("mouth", (x, mouth), (x, mouth + m))
        pen.arc("mouth", x, mouth + 0.6 * m, 1.4 * m, 0.9 * m, 165, -150)
    elif style == 2:
        pen.smile(x, mouth + 0.8 * m, 1.3 * m)
    pen.then()
    if pen.maybe(0.85):
        count = pen.pick(2, 2, 3)
        fan, near, far = pen.between(8, 22), pen.between(0.3, 0.55) * rx, pen.between(0.95, 1.5) * rx
        for side in (-1, 1):
            for number in range(count):
                turn = (number - 0.5 * (count - 1)) * fan
                begin = (x + side * near, nose + n + 0.35 * turn * r / 60)
                pen.line("whisker", begin, (x + side * far, nose + n + turn * r / 60 * 1.3 + pen.between(-4, 4)))


def cat(pen: Hand) -> None:
    way = pen.random()
    if way < 0.5:
        pen.pose(tilt=14)
        _cat_head(pen, 128, 128, 95)
        if pen.maybe(0.12):
            pen.then()
            pen.line("body", (90, 215), (80, 262))
            pen.line("body", (166, 215), (176, 262))
    elif way < 0.75:  # sitting, seen from the front
        pen.pose(tilt=8)
        r, hip = pen.between(42, 54), pen.between(42, 60)
        _cat_head(pen, 128, 60, r)
        pen.then()
        top, floor = 60 + 0.85 * r, pen.between(205, 235)
        pear = pen.maybe(0.5)  # else an oval
        if pear:
            pen.curve(
                "body",
                (108, top),
                (128 - hip, 0.35 * top + 0.65 * floor),
                (128 - 0.75 * hip, floor),
                (128, floor + 4),
                (128 + 0.75 * hip, floor),
                (128 + hip, 0.35 * top + 0.65 * floor),
                (148, top),
            )
        else:
            pen.oval("body", 128, 0.5 * (top + floor), 0.8 * hip, 0.5 * (floor - top) + 3)
        pen.then()
        side = 128 + (0.85 if pear else 0.45) * hip
        end = pen.between(-60, 25)
        pen.curve(
            "tail",
            (side, floor - 15),
            (side + 28, floor - 10),
            (side + 42, floor - 45),
            (side + 38 + 0.3 * end, floor - 75 + end),
        )
        if pen.maybe(0.6):
            pen.then()
            for x in (116, 140):
                pen.line("leg", (x, floor - pen.between(45, 60)), (x, floor))
            if pen.maybe(0.4):
                for x in (112, 144):
                    pen.arc("paw", x, floor, 11, 9, 180, 180)
    else:  # standing, from the side
        pen.pose(tilt=8)
        rx, ry = pen.between(58, 75), pen.between(27, 36)
        _cat_head(pen, 198, 92, pen.between(34, 42))
        pen.then()
        pen.oval("body", 120, 142, rx, ry)
        pen.then()
        legs(pen, under(120, 142, rx, ry, leg_spots(pen)), pen.between(200, 222), 13, pen.whole(0, 2))
        pen.then()
        back = 120 - 0.95 * rx
        if pen.maybe(0.6):
            pen.curve("tail", (back, 132), (back - 25, 112), (back - 18, 75), (back - 32, 50))
        else:
            pen.curve("tail", (back, 135), (back - 28, 145), (back - 42, 120), (back - 60, 118))


# Pig


def _snout(pen: Hand, x: float, y: float, rx: float, ry: float) -> None:
    pen.oval("snout", x, y, rx, ry)
    apart = pen.between(0.3, 0.45) * rx
    for side in (-1, 1):
        if pen.dot_style == 3:
            pen.line("nostril", (x + side * apart, y - 0.35 * ry), (x + side * apart, y + 0.35 * ry))
        else:
            pen.dot("nostril", x + side * apart, y, 0.16 * rx)


def _pig_face(pen: Hand, x: float, y: float, r: float) -> None:
    rx, ry = r * pen.between(0.95, 1.2), r * pen.between(0.88, 1.02)
    pen.oval("head", x, y, rx, ry)
    pen.then()
    _snout(pen, x, y + pen.between(0.1, 0.25) * ry, pen.between(0.3, 0.42) * r, pen.between(0.22, 0.3) * r)
    pen.then()
    apart, high = pen.between(0.35, 0.5) * rx, y - pen.between(0.25, 0.4) * ry
    for side in (-1, 1):
        pen.eye(x + side * apart, high, 0.12 * r)
    pen.then()
    style, spread = pen.whole(0, 2), pen.between(38, 50)
    for side in (-1, 1):
        middle = -90 + side * spread
        a, b = (rim(x, y, rx, ry, middle + side * turn) for turn in (-16, 18))
        if style == 0:
            pen.line("ear", a, rim(x, y, 1.4 * rx, 1.4 * ry, middle + 3 * side), b)
        elif style == 1:  # folded over
            pen.curve(
                "ear",
                a,
                rim(x, y, 1.3 * rx, 1.3 * ry, middle - 4 * side),
                rim(x, y, 1.25 * rx, 1.1 * ry, middle + 22 * side),
            )
            pen.line("ear", rim(x, y, 1.25 * rx, 1.1 * ry, middle + 22 * side), b)
        else:
            pen.curve(
                "ear",
                a,
                rim(x, y, 1.32 * rx, 1.32 * ry, middle - 8 * side),
                rim(x, y, 1.32 * rx, 1.32 * ry, middle + 10 * side),
                b,
            )
    pen.then()
    if pen.maybe(0.65):
        pen.smile(x, y + 0.62 * ry, pen.between(0.2, 0.4) * r)


def _curly_tail(pen: Hand, x: float, y: float) -> None:
    """A pig's tail, to the left of (x, y)."""
    s = pen.between(0.8, 1.4)
    if pen.maybe(0.65):
        pen.curve(
            "tail",
            (x, y),
            (x - 14 * s, y - 2),
            (x - 20 * s, y - 14 * s),
            (x - 10 * s, y - 16 * s),
            (x - 12 * s, y - 2 * s),
            (x - 28 * s, y - 6 * s),
        )
    else:
        pen.line("tail", (x, y), (x - 8 * s, y - 9 * s), (x - 13 * s, y + 2), (x - 22 * s, y - 9 * s))


def pig(pen: Hand) -> None:
    way = pen.random()
    if way < 0.42:
        pen.pose(tilt=12)
        _pig_face(pen, 128, 128, 95)
        return
    if way < 0.58:  # sitting, from the front
        pen.pose(tilt=8)
        _pig_face(pen, 128, 75, 52)
        pen.then()
        rx, ry = pen.between(58, 75), pen.between(50, 65)
        pen.oval("body", 128, 118 + ry, rx, ry)
        pen.then()
        legs(pen, under(128, 118 + ry, rx, ry, (-0.45, 0.45)), 118 + 2 * ry + pen.between(12, 25), 22, 2)
        if pen.maybe(0.5):
            pen.then()
            _curly_tail(pen, 130 - rx, 130 + ry)
        return
    pen.pose(mirrored=0.6, tilt=8)
    rx, ry = pen.between(72, 90), pen.between(48, 60)
    pen.oval("body", 110, 125, rx, ry)
    pen.then()
    front = 110 + rx
    if pen.maybe(0.7):
        r = pen.between(34, 42)
        x, y = front + pen.between(-5, 12), pen.between(100, 118)
        pen.oval("head", x, y, r)
        pen.then()
        if pen.maybe(0.5):
            _snout(pen, x + 0.45 * r, y + 0.2 * r, 0.38 * r, 0.32 * r)
            pen.eye(x - 0.25 * r, y - 0.25 * r, 0.14 * r)
            pen.eye(x + 0.35 * r, y - 0.35 * r, 0.14 * r)
        else:  # in profile
            pen.line(
                "snout",
                (x + 0.85 * r, y - 0.3 * r),
                (x + 1.35 * r, y - 0.22 * r),
                (x + 1.35 * r, y + 0.3 * r),
                (x + 0.85 * r, y + 0.35 * r),
            )
            pen.eye(x + 0.2 * r, y - 0.25 * r, 0.16 * r)
            pen.arc("mouth", x + 0.5 * r, y + 0.35 * r, 0.35 * r, 0.25 * r, 150, -110)
        pen.then()
        pen.line("ear", (x - 0.55 * r, y - 0.75 * r), (x - 0.45 * r, y - 1.4 * r), (x + 0.05 * r, y - 0.95 * r))
        if pen.maybe(0.6):
            pen.line("ear", (x + 0.2 * r, y - 0.92 * r), (x + 0.6 * r, y - 1.35 * r), (x + 0.7 * r, y - 0.65 * r))
    else:  # all one oval, the snout put on
        pen.line("snout", (front - 4, 105), (front + 16, 103), (front + 17, 132), (front - 3, 136))
        pen.eye(front - 26, 100, 6)
        pen.then()
        pen.line("ear", (front - 52, 125 - 0.8 * ry), (front - 38, 125 - 1.4 * ry), (front - 22, 125 - 0.66 * ry))
        if pen.maybe(0.6):
            pen.arc("mouth", front - 12, 138, 14, 8, 150, -130)
    pen.then()
    legs(pen, under(110, 125, rx, ry, leg_spots(pen)), 125 + ry + pen.between(25, 42), 17, pen.whole(0, 2))
    pen.then()
    _curly_tail(pen, 112 - rx, 115)
