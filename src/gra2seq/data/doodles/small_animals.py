"""Small animals: with wings, fins or eight legs. Each is drawn in one of a few ways."""

from __future__ import annotations

from gra2seq.data.doodles.curves import Point, half_height, rim
from gra2seq.data.doodles.hand import Hand

# Bee


def _feelers(pen: Hand, x: float, y: float, angle: float, long: float) -> None:
    """Two feelers from (x, y), to both sides of the angle."""
    knob, fan, curl = pen.maybe(0.22), pen.between(14, 28), pen.between(4, 14)
    for side in (-1, 1):
        middle = rim(x, y, 0.6 * long, 0.6 * long, angle + side * fan * 0.6)
        end = rim(x, y, long, long, angle + side * (fan + curl))
        pen.curve("antenna", (x + side * 3, y), middle, end)
        if knob:
            pen.dot("antenna", *end, 3.5)


def _bee_above(pen: Hand) -> None:
    pen.pose(tilt=pen.pick(15, 15, 80))
    rx, ry = pen.between(30, 42), pen.between(58, 72)
    top = 145 - ry
    pen.oval("body", 128, 145, rx, ry)
    pen.then()
    pen.oval("head", 128, top - 16, pen.between(19, 25))
    if pen.maybe(0.6):
        for x in (120, 136):
            pen.dot("eye", x, top - 20, 3)
    pen.then()
    _feelers(pen, 128, top - 36, -90, pen.between(28, 42))
    pen.then()
    pairs, long = pen.whole(1, 2), pen.between(70, 95)
    for side in (0, 180):
        for number in range(pairs):
            turn = -22 + number * 42
            pen.petal(
                "wing",
                128 + (0.7 * rx if not side else -0.7 * rx),
                top + 32 + 14 * number,
                turn if not side else 180 - turn,
                long * (1 - 0.22 * number),
                pen.between(17, 24),
            )
    pen.then()
    count = pen.whole(2, 3)
    for number in range(count):
        dy = (-0.35 + 1.05 * (number + 0.5) / count) * ry
        half = half_height(dy, ry, rx)
        pen.curve("stripe", (128 - half, 145 + dy), (128, 145 + dy + 6), (128 + half, 145 + dy))
    pen.then()
    if pen.maybe(0.6):
        pen.line("stinger", (122, 144 + ry), (128, 162 + ry), (134, 144 + ry))


def bee(pen: Hand) -> None:
    if pen.maybe(0.25):
        _bee_above(pen)
        return
    pen.pose(tilt=pen.pick(10, 10, 35))
    rx, ry = pen.between(66, 84), pen.between(34, 50)
    x, y = 115.0, 150.0
    pen.oval("body", x, y, rx, ry)
    pen.then()
    count, bow = pen.pick(2, 2, 3, 3, 4), pen.between(-8, 10)
    apart = pen.maybe(0.65)
    for number in range(count):
        dx = (-0.72 + (1.45 if apart else 1.1) * (number + 0.5) / count) * rx
        half = half_height(dx, rx, ry)
        pen.curve("stripe", (x + dx, y - half), (x + dx + bow, y + pen.between(-5, 5)), (x + dx, y + half))
    pen.then()
    if apart:
        r = pen.between(25, 33)
        hx, hy = x + rx + 0.72 * r, y - pen.between(0, 14)
        pen.oval("head", hx, hy, r)
    else:
        r, hx, hy = 26.0, x + 0.72 * rx, y - 6
    pen.eye(hx + 0.3 * r, hy - 0.15 * r, 0.22 * r)
    if pen.maybe(0.35):
        pen.arc("mouth", hx + 0.3 * r, hy + 0.3 * r, 0.4 * r, 0.3 * r, 150, -130)
    pen.then()
    if pen.maybe(0.88):
        _feelers(pen, hx + 0.15 * r, hy - r, pen.between(-85, -60), pen.between(28, 45))
    pen.then()
    long, wide = pen.between(60, 90), pen.between(18, 28)
    first = pen.between(-125, -95)
    for number in range(pen.pick(1, 2, 2, 2)):
        pen.petal(
            "wing",
            x + 5 + 12 * number,
            y - 0.95 * ry,
            first + number * pen.between(25, 45),
            long * (1 - 0.15 * number),
            wide,
        )
    pen.then()
    if pen.maybe(0.75):
        tail = x - rx
        pen.line(
            "stinger",
            (tail + 4, y - 8),
            (tail - pen.between(14, 24), y + pen.between(-3, 5)),
            (tail + 4, y + 8),
        )
    if pen.maybe(0.35):
        pen.then()
        for dx in (-0.25, 0.1, 0.45):
            pen.line(
                "leg",
                (x + dx * rx, y + half_height(dx * rx, rx, ry)),
                (x + dx * rx + 3, y + ry + 14),
                (x + dx * rx + 9, y + ry + 18),
            )


# Butterfly


def butterfly(pen: Hand) -> None:
    pen.pose(tilt=pen.pick(10, 10, 50))
    long = pen.between(52, 72)
    if pen.maybe(0.7):
        pen.oval("body", 128, 135, pen.between(6, 11), long)
    else:
        pen.line("body", (128, 135 - long), (128, 135 + long))
    top = 135 - long
    if pen.maybe(0.35):
        r = pen.between(9, 13)
        pen.oval("head", 128, top - 0.8 * r, r)
        top -= 1.6 * r
    pen.then()
    style = pen.whole(0, 2)
    up, down = pen.between(0.85, 1.2), pen.between(0.75, 1.05)
    high, droop = pen.between(20, 60), pen.between(185, 220)
    for side in (-1, 1):

        def at(dx: float, y: float, side: int = side) -> Point:
            return 128 + side * dx, y

        if style == 0:  # upper and lower wing each for itself
            pen.trace(
                "wing",
                (
                    at(8, 115),
                    at(45, 0.6 * high + 25),
                    at(95 * up, high),
                    at(112 * up, high + 35),
                    at(85 * up, 125),
                    at(8, 135),
                ),
            )
            pen.trace(
                "wing",
                (
                    at(8, 140),
                    at(60 * down, 142),
                    at(88 * down, 165),
                    at(65 * down, droop),
                    at(35, droop - 12),
                    at(8, 158),
                ),
            )
        elif style == 1:  # both in one stroke
            pen.trace(
                "wing",
                (
                    at(7, 118),
                    at(45, 0.6 * high + 25),
                    at(100 * up, high),
                    at(108 * up, high + 50),
                    at(62, 138),
                ),
                (at(92 * down, 160), at(70 * down, droop), at(30, droop - 10), at(7, 155)),
            )
        else:
            pen.petal("wing", 128 + side * 6, 122, -90 + side * pen.between(48, 62), 118 * up, pen.between(30, 40))
            pen.petal("wing", 128 + side * 6, 145, 90 - side * pen.between(38, 55), 85 * down, pen.between(24, 32))
    pen.then()
    if pen.maybe(0.92):
        _feelers(pen, 128, top, -90, pen.between(35, 52))
    if pen.maybe(0.4):
        pen.then()
        r, pairs = pen.between(8, 16), pen.whole(1, 2)
        for side in (-1, 1):
            pen.oval("spot", 128 + side * 72 * up, high + 38, r)
            if pairs == 2:
                pen.oval("spot", 128 + side * 52 * down, 172, 0.8 * r)


# Fish


def fish(pen: Hand) -> None:
    pen.pose(mirrored=0.6, tilt=16)
    rx, ry = pen.between(72, 90), pen.between(38, 62)
    x, y = 145.0, 128.0
    nose = x + rx
    way = pen.random()
    tail, high = x - rx - pen.between(32, 50), pen.between(28, 48)
    if way < 0.45:  # body and tail in one stroke that crosses itself
        pen.trace(
            "body",
            (
                (tail, y + high),
                (x - rx, y),
                (x - 0.3 * rx, y - 0.85 * ry),
                (x + 0.45 * rx, y - 0.85 * ry),
                (nose, y),
            ),
            ((x + 0.45 * rx, y + 0.85 * ry), (x - 0.3 * rx, y + 0.85 * ry), (x - rx, y), (tail, y - high)),
            ((tail + pen.between(-6, 16), y), (tail, y + high)),
        )
    else:
        if way < 0.75:
            pen.oval("body", x, y, rx, ry)
        else:
            pen.trace(
                "body",
                ((x - rx, y), (x - 0.2 * rx, y - ry), (x + 0.6 * rx, y - 0.7 * ry), (nose, y)),
                ((x + 0.6 * rx, y + 0.7 * ry), (x - 0.2 * rx, y + ry), (x - rx, y)),
            )
        pen.then()
        root = x - 0.97 * rx
        if pen.maybe(0.55):
            pen.shape("tail", (root, y), (tail, y - high), (tail + pen.pick(0, 12), y), (tail, y + high))
        else:
            pen.petal("tail", root, y, 180 + pen.between(28, 45), 58, 13, pointed=True)
            pen.petal("tail", root, y, 180 - pen.between(28, 45), 58, 13, pointed=True)
    pen.then()
    pen.eye(x + pen.between(0.5, 0.66) * rx, y - pen.between(0.15, 0.35) * ry, pen.between(6, 10))
    pen.then()
    style = pen.whole(0, 3)
    if style == 0:
        pen.line("mouth", (nose - 2, y + 8), (nose - 24, y + 12))
    elif style < 3:
        pen.arc("mouth", nose - 14, y + 0.22 * ry, 18, 12, 150, -120)
    pen.then()
    if pen.maybe(0.6):
        pen.arc("gill", x + 0.2 * rx, y, 14, pen.between(0.5, 0.8) * ry, -75, 150)
    pen.then()
    if pen.maybe(0.65):
        pen.curve(
            "fin",
            (x + 0.25 * rx, y - 0.92 * ry),
            (x - 0.1 * rx, y - ry - pen.between(18, 30)),
            (x - 0.5 * rx, y - ry - 8),
            (x - 0.45 * rx, y - 0.85 * ry),
        )
    if pen.maybe(0.5):
        pen.line(
            "fin",
            (x + 0.1 * rx, y + 0.95 * ry),
            (x - 0.25 * rx, y + ry + pen.between(14, 26)),
            (x - 0.3 * rx, y + 0.9 * ry),
        )
    decor = pen.random()
    if decor > 0.6:
        pen.curve("fin", (x + 5, y + 5), (x - 26, y - 2), (x - 28, y + 20), (x + 2, y + 16))
    pen.then()
    if decor < 0.3:
        for dx, dy in ((-0.1, -0.35), (-0.1, 0.3), (-0.38, -0.1), (-0.38, 0.35), (-0.62, 0.05))[: pen.whole(3, 5)]:
            pen.arc("scale", x + dx * rx, y + dy * ry, 9, 11, -80, 160)
    elif decor < 0.5:
        for number in range(pen.whole(2, 3)):
            dx = (-0.02 - 0.28 * number) * rx
            half = 0.88 * half_height(dx, rx, ry)
            pen.curve("stripe", (x + dx, y - half), (x + dx + 7, y), (x + dx, y + half))
    if pen.maybe(0.3):
        pen.then()
        for number in range(pen.whole(2, 3)):
            pen.oval("bubble", nose + 14 + 8 * number, y - 8 - 24 * number, pen.between(4, 7))


# Spider


def spider(pen: Hand) -> None:
    rx, ry = pen.between(34, 54), pen.between(32, 50)
    x, y = 128.0, pen.between(130, 145)
    hanging = pen.maybe(0.25)
    pen.pose(tilt=8 if hanging else 20)
    two = pen.maybe(0.55)
    pen.oval("body", x, y, rx, ry)
    hx, hy, r = x, y, rx
    if two:
        r = pen.between(18, 28)
        hy = y + (ry + 0.75 * r) * pen.pick(-1, 1)
        pen.oval("head", hx, hy, r)
    pen.then()
    style, knee, far = pen.whole(0, 2), pen.between(34, 48), pen.between(95, 122)
    middle = 0.7 * y + 0.3 * hy if two else y
    for side in (-1, 1):
        for number, fall in enumerate((-72, -28, 22, 75)):
            # the root on the rim, the knee out and up, the foot further out and down
            root = (
                x + side * half_height((number - 1.5) * 0.42 * ry, ry, rx) * 0.95,
                y + (number - 1.5) * 0.42 * ry,
            )
            bend = (x + side * (rx + knee), middle + 0.62 * fall - 14)
            foot = (
                x + side * far * (1 if 0 < number < 3 else 0.86),
                middle + fall * 1.15 + pen.between(-6, 10),
            )
            if style == 0:
                pen.line("leg", root, bend, (foot[0], foot[1] + 22))
            elif style == 1:
                pen.curve("leg", root, bend, (foot[0], foot[1] + 18))
            else:
                pen.line("leg", root, foot)
    pen.then()
    if pen.maybe(0.8):
        e = 0.4 * r
        for side in (-1, 1):
            pen.eye(hx + side * e, hy - 0.1 * r, 0.2 * r)
        if pen.maybe(0.35):
            pen.smile(hx, hy + 0.45 * r, 0.4 * r)
        elif pen.maybe(0.3):
            for side in (-1, 1):
                pen.line("fang", (hx + side * 0.25 * r, hy + 0.6 * r), (hx + side * 0.18 * r, hy + 0.95 * r))
    if hanging:
        pen.then()
        pen.line("thread", (x, min(y - ry, hy - r)), (x + pen.between(-6, 6), pen.between(-60, 0)))
    elif pen.maybe(0.15) and two:
        pen.then()
        pen.line("mark", (x - 8, y - 12), (x + 8, y + 12))
        pen.line("mark", (x + 8, y - 12), (x - 8, y + 12))
