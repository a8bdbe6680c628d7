"""Plants and made things. Each is drawn in one of a few ways; the hand turns, mirrors and misplaces."""

from __future__ import annotations

from itertools import pairwise

from gra2seq.data.doodles.curves import Point, rim
from gra2seq.data.doodles.hand import Hand

# House


def house(pen: Hand) -> None:
    pen.pose(tilt=5)
    left, right = pen.between(30, 50), pen.between(200, 228)
    eaves, floor = pen.between(95, 125), pen.between(228, 245)
    ridge, over = eaves - pen.between(60, 95), pen.pick(0.0, 0.0, 12.0, 18.0)
    middle = 0.5 * (left + right)
    way = pen.random()
    if way < 0.25:  # wall and roof in one stroke
        pen.shape("wall", (left, eaves), (left, floor), (right, floor), (right, eaves), (middle, ridge))
        if pen.maybe(0.6):
            pen.line("roof", (left, eaves), (right, eaves))
    elif way < 0.75:
        pen.box("wall", left, eaves, right, floor)
        pen.then()
        if pen.maybe(0.4) or over:
            pen.shape("roof", (left - over, eaves), (middle, ridge), (right + over, eaves))
        else:
            pen.line("roof", (left, eaves), (middle, ridge), (right, eaves))
    else:  # seen from a corner
        corner = left + 0.42 * (right - left)
        peak = 0.5 * (left + corner)
        pen.shape("wall", (left, eaves), (left, floor), (corner, floor), (corner, eaves))
        pen.line("wall", (corner, floor), (right + 15, floor - 6), (right + 15, eaves))
        pen.then()
        pen.line("roof", (left, eaves), (peak, ridge), (corner, eaves), (right + 15, eaves - 4))
        pen.line("roof", (peak, ridge), (right - 18, ridge), (right + 15, eaves - 4))
        left, middle = corner - 0.0, 0.5 * (corner + right)
    pen.then()
    wide, tall = pen.between(15, 22), pen.between(52, 75)
    place = pen.pick(middle, middle, left + 42, right - 42)
    if way >= 0.75:
        place, wide = 0.55 * left + 0.45 * 35, 13.0
    if pen.maybe(0.85):
        pen.line(
            "door",
            (place - wide, floor),
            (place - wide, floor - tall),
            (place + wide, floor - tall),
            (place + wide, floor),
        )
    else:
        pen.trace(
            "door",
            ((place - wide, floor), (place - wide, floor - 0.7 * tall)),
            ((place, floor - tall - 8), (place + wide, floor - 0.7 * tall)),
            ((place + wide, floor),),
        )
    if pen.maybe(0.6):
        pen.dot("knob", place + 0.6 * wide, floor - 0.45 * tall, 2.5)
    pen.then()
    s, y = pen.between(15, 20), eaves + pen.between(30, 38)
    spots = [x for x in (left + 38, right - 38) if abs(x - place) > wide + s or floor - tall > y + s + 8]
    if way >= 0.75:
        spots = [left + 30, right - 18]
    if way >= 0.75:
        s = pen.between(11, 15)
    cross, shutters = pen.maybe(0.55), pen.maybe(0.08)
    for x in spots if pen.maybe(0.75) else spots[:1]:
        pen.box("window", x - s, y - s, x + s, y + s)
        if cross:
            pen.line("window", (x, y - s), (x, y + s))
            pen.line("window", (x - s, y), (x + s, y))
        if shutters:
            pen.box("shutter", x - 1.5 * s, y - s, x - s, y + s)
            pen.box("shutter", x + s, y - s, x + 1.5 * s, y + s)
    if way < 0.75 and pen.maybe(0.2):
        pen.oval("window", middle, 0.4 * ridge + 0.6 * eaves, pen.between(10, 15))
    pen.then()
    if pen.maybe(0.5):
        x = middle + (right - middle) * pen.between(0.35, 0.5)
        slope = ridge if way >= 0.75 else ridge + (eaves - ridge) * (x - middle) / (right + over - middle)
        step = 0 if way >= 0.75 else 24 * (eaves - ridge) / (right + over - middle)
        top = slope - pen.between(28, 42)
        pen.line("chimney", (x, slope), (x, top), (x + 24, top), (x + 24, slope + step))
        if pen.maybe(0.5):
            pen.then()
            pen.curve(
                "smoke",
                (x + 12, top - 4),
                (x + 24, top - 14),
                (x + 8, top - 26),
                (x + 22, top - 38),
                (x + 10, top - 50),
            )
    if pen.maybe(0.15):
        pen.line("ground", (5, floor), (252, floor + pen.between(-3, 3)))


# Umbrella


def umbrella(pen: Hand) -> None:
    pen.pose(tilt=pen.pick(10, 10, 55))
    rx, ry = pen.between(98, 118), pen.between(72, 105)
    x, rim_y = 128.0, 125.0
    count = pen.whole(3, 6)
    dip = pen.between(8, 20) * pen.pick(1, 1, 1, -0.9)
    edge = [(x - rx + 2 * rx * number / count, rim_y) for number in range(count + 1)]
    scallops: list[tuple[Point, ...]] = []
    for (x0, _), (x1, _) in pairwise(edge):
        scallops.append(((x0 + 0.3 * (x1 - x0), rim_y - dip), (x0 + 0.7 * (x1 - x0), rim_y - dip), (x1, rim_y)))
    way = pen.random()
    if way < 0.2:  # dome and edge in one stroke
        dome = tuple(rim(x, rim_y, rx, ry, angle) for angle in (0, -35, -90, -145, -180))
        pen.trace("canopy", dome, *scallops)
    else:
        if pen.maybe(0.75) or way > 0.8:
            pen.arc("canopy", x, rim_y, rx, ry, 180, 180)
        else:
            pen.line(
                "canopy",
                edge[0],
                (x - 0.55 * rx, rim_y - 0.65 * ry),
                (x, rim_y - ry),
                (x + 0.55 * rx, rim_y - 0.65 * ry),
                edge[-1],
            )
        pen.then()
        if way < 0.8:
            pen.trace("edge", (edge[0],), *scallops)
        else:
            pen.line("edge", edge[0], edge[-1])
    pen.then()
    end, hook, out = pen.between(215, 250), pen.between(11, 18), pen.pick(-1, 1)
    begin = rim_y - (0.9 * dip if count % 2 else 0)
    top = pen.pick(begin, begin, rim_y - ry)
    style = pen.whole(0, 4)
    crook: tuple[Point, ...] = (
        (x + 0.3 * out * hook, end + 0.8 * hook),
        (x + out * hook, end + 1.2 * hook),
        (x + 1.75 * out * hook, end + 0.7 * hook),
        (x + 2 * out * hook, end - 4),
    )
    if style < 3:
        pen.trace("handle", ((x, top), (x, end)), crook)
    elif style == 3:
        pen.line("pole", (x - 3, begin), (x - 3, end))
        pen.line("pole", (x + 4, begin), (x + 4, end))
        pen.curve("handle", (x, end), *crook)
    else:
        pen.line("pole", (x, top), (x, end + 10))
        pen.curve("handle", (x, end + 8), *crook)
    pen.then()
    if pen.maybe(0.6) or way > 0.8:
        for number in range(1, count):
            x0 = edge[number][0]
            lean = (x0 - x) * 0.6
            pen.curve("rib", (x, rim_y - ry), (x + lean, rim_y - 0.72 * ry), (x0, rim_y))
    pen.then()
    if pen.maybe(0.5):
        pen.line("tip", (x, rim_y - ry), (x, rim_y - ry - pen.between(10, 20)))
    if pen.maybe(0.15):
        for dx in (-80, -25, 30, 85):
            pen.line("rain", (x + dx, rim_y - ry - 25), (x + dx - 5, rim_y - ry - 40))


# Apple


def apple(pen: Hand) -> None:
    pen.pose(tilt=16)
    w, dent = pen.between(88, 108), pen.between(10, 22)
    top, bottom = 75.0, pen.between(225, 245)
    notch = pen.between(0, 10)
    way = pen.random()
    left_side: tuple[Point, ...] = (
        (128 - 0.4 * w, top - 6),
        (128 - 0.85 * w, top + 18),
        (128 - w, 0.55 * top + 0.45 * bottom),
        (128 - 0.72 * w, bottom - 28),
        (128 - 0.3 * w, bottom),
        (128, bottom - notch),
    )
    right_side: tuple[Point, ...] = tuple((256 - x, y) for x, y in left_side)
    middle: Point = (128, top + dent)
    if way < 0.2:  # bitten
        bite: tuple[Point, ...] = (
            (128 + 0.72 * w, top + 45),
            (128 + 0.62 * w, top + 72),
            (128 + 0.74 * w, top + 96),
            (128 + 0.97 * w, top + 100),
        )
        pen.trace(
            "body",
            (middle, right_side[0], (128 + 0.8 * w, top + 12), (128 + 0.92 * w, top + 32)),
            bite,
            ((128 + 0.75 * w, bottom - 28), right_side[4], (128, bottom - notch)),
        )
        pen.trace("body", (middle, *left_side))
    elif way < 0.85:
        pen.trace("body", (middle, *left_side), (*right_side[4::-1], middle))
    else:
        pen.oval("body", 128, 0.5 * (top + bottom), w, 0.5 * (bottom - top))
        middle = (128, top + 4)
    pen.then()
    x, y = middle
    bend, tall = pen.between(-16, 20), pen.between(34, 52)
    if pen.maybe(0.7):
        pen.curve("stem", (x, y), (x + 0.3 * bend, y - 0.6 * tall), (x + bend, y - tall))
    else:
        pen.line("stem", (x - 4, y), (x - 6 + bend, y - tall), (x + 4 + bend, y - tall), (x + 4, y))
    pen.then()
    if pen.maybe(0.8):
        pen.petal(
            "leaf",
            x + 3,
            y - 0.5 * tall,
            pen.between(-45, -5),
            pen.between(45, 72),
            pen.between(9, 16),
            pointed=True,
        )
        if pen.maybe(0.3):
            pen.line("leaf", (x + 6, y - 0.55 * tall), (x + 36, y - 0.55 * tall - 12))
    pen.then()
    if pen.maybe(0.4):
        pen.arc("shine", 128, 0.5 * (top + bottom), 0.72 * w, 0.62 * w, 195, pen.between(35, 60))
    if pen.maybe(0.25):
        pen.arc("dent", 128, y - 4, 22, 9, 170, -160)
    if pen.maybe(0.1):
        hole = (128 + 0.3 * w, 0.5 * (top + bottom) + 12)
        pen.oval("hole", *hole, 10, 8)
        pen.curve(
            "worm",
            hole,
            (hole[0] + 18, hole[1] - 18),
            (hole[0] + 40, hole[1] - 8),
            (hole[0] + 48, hole[1] - 28),
        )


# Flower


def flower(pen: Hand) -> None:
    pen.pose(tilt=12)
    x, y = 128.0, pen.between(75, 90)
    way = pen.random()
    r, long = pen.between(16, 28), pen.between(36, 50)
    count = pen.pick(5, 5, 6, 6, 7, 8)
    turn = pen.between(0, 90)
    foot = y + long
    if way < 0.42:  # petals one by one around the heart
        pen.oval("heart", x, y, r)
        pen.then()
        wide = 2.2 * (r + 0.5 * long) / count * pen.between(0.85, 1.1)
        style = pen.whole(0, 2)
        for number in range(count):
            angle = turn + 360 * number / count
            if style == 0:
                pen.petal("petal", *rim(x, y, r, r, angle), angle, long, wide)
            elif style == 1:
                pen.petal(
                    "petal",
                    *rim(x, y, 0.95 * r, 0.95 * r, angle),
                    angle,
                    1.15 * long,
                    0.8 * wide,
                    pointed=True,
                )
            else:
                half = 0.46 * 360 / count
                pen.curve(
                    "petal",
                    rim(x, y, r, r, angle - half),
                    rim(x, y, r + long, r + long, angle - 0.7 * half),
                    rim(x, y, r + long, r + long, angle + 0.7 * half),
                    rim(x, y, r, r, angle + half),
                )
        foot = y + r + 0.8 * long
    elif way < 0.72:  # a wavy edge in one stroke
        pen.oval("heart", x, y, r)
        pen.then()
        inner, outer = r + pen.between(4, 14), r + long
        runs: list[tuple[Point, ...]] = [(rim(x, y, inner, inner, turn),)]
        for number in range(count):
            angle = turn + 360 * number / count
            step = 360 / count
            runs.append(
                (
                    rim(x, y, outer, outer, angle + 0.22 * step),
                    rim(x, y, outer, outer, angle + 0.78 * step),
                    rim(x, y, inner, inner, angle + step),
                )
            )
        pen.trace("petal", *runs)
        foot = y + 0.85 * outer
    elif way < 0.88:  # tulip
        w, h = pen.between(34, 48), pen.between(60, 80)
        top = y - 0.5 * h
        pen.trace(
            "petal",
            ((x - w, top), (x - 1.05 * w, top + 0.6 * h), (x - 0.5 * w, top + 0.95 * h), (x, top + h)),
            ((x + 0.5 * w, top + 0.95 * h), (x + 1.05 * w, top + 0.6 * h), (x + w, top)),
            ((x + 0.5 * w, top + 0.35 * h),),
            ((x, top - 5),),
            ((x - 0.5 * w, top + 0.35 * h),),
            ((x - w, top),),
        )
        foot = top + h
    else:  # a daisy of single lines
        pen.oval("heart", x, y, 0.8 * r)
        pen.then()
        for number in range(2 * count):
            angle = turn + 180 * number / count
            pen.line("petal", rim(x, y, 0.85 * r, 0.85 * r, angle), rim(x, y, r + long, r + long, angle))
        foot = y + 0.8 * r
    if way < 0.88 and pen.maybe(0.12) and way < 0.72:  # a friendly one
        pen.dot("eye", x - 0.35 * r, y - 0.2 * r, 2.5)
        pen.dot("eye", x + 0.35 * r, y - 0.2 * r, 2.5)
        pen.arc("mouth", x, y + 0.1 * r, 0.5 * r, 0.4 * r, 150, -120)
    pen.then()
    ground, sway = pen.between(225, 262), pen.between(-22, 22)
    bend: Point = (x + sway, 0.5 * (foot + ground))
    end: Point = (x + pen.between(-10, 10), ground)
    if pen.maybe(0.75):
        pen.curve("stem", (x, foot), bend, end)
    else:
        pen.line("stem", (x - 4, foot), (end[0] - 4, ground))
        pen.line("stem", (x + 4, foot), (end[0] + 4, ground))
        bend = (0.5 * (x + end[0]), bend[1])
    pen.then()
    for side in (0, 180)[: pen.pick(0, 1, 2, 2)]:
        lift = pen.between(20, 45)
        height = bend[1] + pen.between(8, 30)
        pen.petal(
            "leaf",
            bend[0] - (bend[0] - end[0]) * 0.3,
            height,
            -lift if not side else 180 + lift,
            pen.between(38, 58),
            pen.between(9, 15),
            pointed=pen.maybe(0.7),
        )
    if pen.maybe(0.15):
        pen.then()
        pen.zigzag("grass", (end[0] - 50, ground), (end[0] + 50, ground), pen.whole(4, 6), 14)
