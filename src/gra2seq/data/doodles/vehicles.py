"""Things that drive and fly. Each is drawn facing right in one of a few ways."""

from __future__ import annotations

from gra2seq.data.doodles.curves import Point
from gra2seq.data.doodles.hand import Hand

# Bus and car


def _wheels(pen: Hand, places: list[float], y: float, r: float) -> None:
    hub = pen.random()
    for x in places:
        pen.oval("wheel", x, y, r)
        if hub < 0.33:
            pen.oval("hub", x, y, r * pen.between(0.35, 0.55))
        elif hub < 0.48:
            pen.dot("hub", x, y, 0.15 * r)


def bus(pen: Hand) -> None:
    pen.pose(tilt=5)
    if pen.maybe(0.12):
        _bus_front(pen)
        return
    double = pen.maybe(0.15)
    top = pen.between(10, 40) if double else pen.between(62, 85)
    floor, nose = pen.between(182, 198), pen.random()
    window_top, window_bottom = (
        top + pen.between(12, 22),
        top + (floor - top) * (0.38 if double else pen.between(0.45, 0.58)),
    )
    if nose < 0.2 and not double:  # a school bus with a bonnet
        hood = top + 0.52 * (floor - top)
        pen.shape("body", (10, top), (10, floor), (248, floor), (246, hood + 6), (212, hood), (205, top))
        right = 205.0
    else:
        pen.box("body", 8, top, 247, floor, rounded=pen.pick(0, 8, 14))
        right = 247.0
    pen.then()
    r = pen.between(17, 25)
    places = [pen.between(48, 64), pen.between(188, 206)]
    if pen.maybe(0.12):
        places.insert(1, places[0] + 2.2 * r)
    _wheels(pen, places, floor + pen.between(-3, 6), r)
    pen.then()
    left = 22.0
    door = pen.maybe(0.6)
    if door:
        wide = pen.between(24, 32)
        pen.line(
            "door",
            (right - 14 - wide, floor),
            (right - 14 - wide, window_top),
            (right - 14, window_top),
            (right - 14, floor),
        )
        if pen.maybe(0.4):
            pen.line("door", (right - 14 - 0.5 * wide, window_top), (right - 14 - 0.5 * wide, floor))
        right -= wide + 12
        pen.then()
    count = pen.pick(3, 3, 4, 4, 5, 6) if not double else pen.whole(3, 4)
    pitch = (right - 10 - left) / count
    if pen.maybe(0.15) and not double:  # one long pane, divided
        pen.box("window", left, window_top, right - 14, window_bottom)
        for number in range(1, count):
            x = left + pitch * number
            pen.line("window", (x, window_top), (x, window_bottom))
    else:
        gap = pen.between(0.18, 0.32) * pitch
        rows = [(window_top, window_bottom)]
        if double:
            rows = [
                (window_top, top + 0.36 * (floor - top)),
                (top + 0.5 * (floor - top), top + 0.72 * (floor - top)),
            ]
        for high, low in rows:
            for number in range(count):
                x = left + pitch * number
                pen.box("window", x, high + pen.between(-2, 2), x + pitch - gap, low + pen.between(-2, 2))
    pen.then()
    if pen.maybe(0.3):
        height = window_bottom + pen.between(8, 16)
        pen.line("stripe", (10, height), (right - 12, height))
    if pen.maybe(0.35):
        pen.dot("light", 240, floor - 22, 5)


def _bus_front(pen: Hand) -> None:
    top = pen.between(10, 30)
    pen.box("body", 45, top, 210, 212, rounded=pen.pick(0, 12, 18))
    pen.then()
    pen.box("window", 60, top + pen.between(28, 40), 195, 118)
    if pen.maybe(0.4):
        pen.line("window", (128, top + 34), (128, 118))
    pen.then()
    for x in (75, 180):
        pen.oval("light", x, 168, pen.between(10, 15))
    pen.then()
    for x in (62, 168):
        pen.line("wheel", (x, 212), (x, 238), (x + 26, 238), (x + 26, 212))
    pen.then()
    if pen.maybe(0.6):
        pen.line("bumper", (46, 192), (209, 192))
    if pen.maybe(0.6):
        for x, out in ((45, -22), (210, 22)):
            pen.line("mirror", (x, 62), (x + out, 62), (x + out, 88), (x, 84))
    if pen.maybe(0.4):
        pen.box("sign", 90, top + 8, 166, top + 24)


def car(pen: Hand) -> None:
    pen.pose(tilt=6)
    way = pen.random()
    floor, belt = pen.between(172, 182), pen.between(118, 130)
    roof = belt - pen.between(38, 55)
    back, front = pen.between(55, 75), pen.between(182, 205)  # where the cabin meets the body
    a, b = back + pen.between(8, 25), front - pen.between(18, 38)
    wheels = [pen.between(58, 72), pen.between(182, 200)]
    r = pen.between(19, 27)
    if way < 0.4:  # one outline
        ends: tuple[Point, ...] = (
            (8, floor),
            (10, belt + 8),
            (back, belt),
            (a, roof),
            (b, roof),
            (front, belt),
            (242, belt + 12),
            (248, floor),
        )
        if pen.maybe(0.35):  # with arches over the wheels
            w = r + 5
            arches: list[tuple[Point, ...]] = []
            for x in reversed(wheels):
                arches += [
                    ((x + w, floor),),
                    (
                        (x + 0.7 * w, floor - 0.7 * w),
                        (x, floor - w),
                        (x - 0.7 * w, floor - 0.7 * w),
                        (x - w, floor),
                    ),
                ]
            pen.trace("body", (ends[0], ends[1]), *[(end,) for end in ends[2:]], *arches, ((10, floor),))
        else:
            pen.shape("body", *ends)
    elif way < 0.75:  # a box and a cabin on it
        pen.box("body", 10, belt, 246, floor, rounded=pen.pick(0, 10, 16))
        pen.then()
        pen.line("roof", (back, belt), (a, roof), (b, roof), (front, belt))
    else:  # round
        pen.trace(
            "body",
            (
                (8, floor),
                (12, belt + 18),
                (back - 15, belt),
                (a, roof + 8),
                (0.5 * (a + b), roof - 6),
                (b + 5, roof + 10),
                (front, belt),
                (238, belt + 18),
                (246, floor),
            ),
            ((8, floor),),
        )
    pen.then()
    _wheels(pen, wheels, floor + pen.between(-4, 5), r)
    pen.then()
    style, middle, sill = pen.whole(0, 4), 0.5 * (a + b) + pen.between(-8, 8), belt - 2
    inset = 9
    if style == 0:
        pen.shape(
            "window",
            (a + 3, roof + inset),
            (back + inset + 6, sill),
            (front - inset - 6, sill),
            (b - 3, roof + inset),
        )
        if pen.maybe(0.6):
            pen.line("window", (middle, roof + inset), (middle, sill))
    elif style < 4:
        pen.shape(
            "window",
            (a + 3, roof + inset),
            (back + inset + 6, sill),
            (middle - 5, sill),
            (middle - 5, roof + inset),
        )
        pen.shape(
            "window",
            (middle + 5, roof + inset),
            (middle + 5, sill),
            (front - inset - 6, sill),
            (b - 3, roof + inset),
        )
    else:
        pen.line("window", (middle, roof), (middle, sill))
    pen.then()
    if pen.maybe(0.45):
        x = middle - pen.between(0, 4)
        pen.line("door", (x, belt), (x, floor - 6))
        if pen.maybe(0.5):
            pen.line("door", (b + 10, belt + 4), (b + 8, floor - 6))
    if pen.maybe(0.45):
        pen.line("handle", (middle - 26, belt + 14), (middle - 14, belt + 14))
    pen.then()
    if pen.maybe(0.55):
        pen.oval("light", 236, belt + 24, 6, 8)
    if pen.maybe(0.3):
        pen.box("light", 9, belt + 16, 18, belt + 28)
    if pen.maybe(0.12):
        pen.curve("smoke", (4, floor - 6), (-12, floor - 16), (-22, floor - 6), (-36, floor - 18))


# Airplane


def airplane(pen: Hand) -> None:
    if pen.maybe(0.4):
        _airplane_above(pen)
        return
    pen.pose(tilt=pen.pick(12, 30, 45))
    h, y = pen.between(20, 32), 128.0
    if pen.maybe(0.7):
        pen.trace(
            "body",
            (
                (22, y - h * 0.7),
                (100, y - h),
                (190, y - h),
                (228, y - 0.6 * h),
                (248, y + 4),
                (225, y + 0.75 * h),
                (180, y + h),
                (110, y + h),
            ),
            ((22, y - h * 0.2), (22, y - h * 0.7)),
        )
    else:
        pen.oval("body", 132, y, 116, h)
    pen.then()
    wing, sweep = pen.between(55, 85), pen.between(30, 62)
    style = pen.whole(0, 2)
    if style < 2:  # near wing below, far wing above
        pen.line("wing", (152, y + 6), (118 - sweep + 26, y + wing), (96 - sweep + 26, y + wing), (108, y + 6))
        if style == 0:
            pen.line(
                "wing",
                (150, y - h),
                (118 - 0.7 * sweep + 20, y - h - 0.6 * wing),
                (98 - 0.7 * sweep + 20, y - h - 0.6 * wing),
                (112, y - h),
            )
    else:
        pen.petal("wing", 148, y + 5, 180 - pen.between(25, 45), 1.1 * wing, 13)
    pen.then()
    fin = pen.between(30, 48)
    pen.line("tail", (62, y - 0.85 * h), (24, y - h - fin), (6, y - h - fin), (22, y - 0.6 * h))
    if pen.maybe(0.5):
        pen.line("tail", (52, y), (14, y + 22), (4, y + 20), (28, y - 2))
    pen.then()
    count = pen.pick(0, 3, 3, 4, 5)
    square = pen.maybe(0.3)
    for number in range(count):
        x = 82 + 108 * (number + 0.5) / count
        if square:
            pen.box("window", x - 5, y - 0.5 * h - 5, x + 5, y - 0.5 * h + 5)
        else:
            pen.oval("window", x, y - 0.45 * h, pen.between(4, 6))
    pen.then()
    if pen.maybe(0.7):
        pen.curve("cockpit", (206, y - 0.85 * h), (204, y - 0.2 * h), (238, y - 0.2 * h))


def _airplane_above(pen: Hand) -> None:
    pen.pose(tilt=pen.pick(20, 100))
    w, nose = pen.between(11, 17), pen.between(5, 18)
    span, back, chord = pen.between(92, 118), pen.between(20, 62), pen.between(24, 38)
    root, tail = pen.between(92, 110), pen.between(34, 50)
    one = pen.maybe(0.45)

    def half(side: int) -> list[tuple[Point, ...]]:
        x = 128 + side * w
        return [
            ((128, nose), (x - side * 2, nose + 28), (x, root)),
            ((128 + side * span, root + back),),
            ((128 + side * span, root + back + 0.5 * chord),),
            ((x, root + chord + 14),),
            ((128 + side * 0.7 * w, 205),),
            ((128 + side * tail, 232),),
            ((128 + side * tail, 244),),
            ((128, 232),),
        ]

    if one:  # the outline, a half at a time
        for side in (-1, 1):
            pen.trace("body", *half(side))
    else:
        pen.loop(
            "body",
            (128, nose),
            (128 - w, nose + 40),
            (128 - w, 150),
            (128 - 0.5 * w, 225),
            (128, 240),
            (128 + 0.5 * w, 225),
            (128 + w, 150),
            (128 + w, nose + 40),
        )
        pen.then()
        for side in (-1, 1):
            x = 128 + side * w
            pen.line(
                "wing",
                (x, root),
                (128 + side * span, root + back),
                (128 + side * span, root + back + 0.5 * chord),
                (x, root + chord + 10),
            )
        pen.then()
        for side in (-1, 1):
            x = 128 + side * 0.7 * w
            pen.line("tail", (x, 205), (128 + side * tail, 228), (128 + side * tail, 240), (x, 226))
    pen.then()
    if pen.maybe(0.4):
        pen.curve("cockpit", (128 - 0.7 * w, nose + 30), (128, nose + 22), (128 + 0.7 * w, nose + 30))
    if pen.maybe(0.4):
        for side in (-1, 1):
            x, y = 128 + side * 0.5 * span, root + 0.5 * back
            pen.line("engine", (x - 6, y), (x - 6, y - 14), (x + 6, y - 14), (x + 6, y))
    if pen.maybe(0.3):
        for number in range(pen.whole(2, 4)):
            pen.dot("window", 128, nose + 50 + 26 * number, 4)
