"""The best of several drawings: by the distance to visible ink, or by the code."""

import numpy as np

from gra2seq.drawing.best_of import BestOf
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import distance_to_visible
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import BOX, Sketch

LINE = Damage.none(Sketch.from_polylines([[[-0.5, 0], [0.5, 0]]]))


def off_by(share):
    """The line, drawn this share of its length beside its place."""
    return Sketch.from_polylines([[[-BOX / 2, share * BOX], [BOX / 2, share * BOX]]])


def test_the_nearest_to_the_visible_ink_is_kept():
    choice = BestOf(2, 3, [LINE, LINE], good_enough=0.0)
    assert list(choice.waiting) == [0, 1, 2, 3, 4, 5]
    for number, share in enumerate([0.2, 0.05, 0.1, 0.3, 0.3, 0.4]):
        assert choice.settled == number // 3
        choice.add(number, off_by(share))
    assert choice.settled == 2
    best = choice.best(lambda _: np.zeros(0))
    assert [distance_to_visible(one, LINE, BOX) for one in best] == [
        distance_to_visible(off_by(0.05), LINE, BOX),
        distance_to_visible(off_by(0.3), LINE, BOX),
    ]
    assert best[1] is choice.made[3], "of equal ones the first"


def test_a_first_drawing_that_is_good_enough_is_the_only_one():
    choice = BestOf(2, 3, [LINE, LINE], good_enough=0.1)
    assert list(choice.waiting) == [0, 3]
    choice.waiting.clear()
    choice.add(0, off_by(0.02))
    assert not choice.waiting
    assert choice.settled == 1
    choice.add(3, off_by(0.2))
    assert list(choice.waiting) == [4, 5]
    choice.add(4, off_by(0.15))
    choice.add(5, off_by(0.3))
    assert choice.settled == 2
    assert choice.best(lambda _: np.zeros(0)) == [choice.made[0], choice.made[4]]


def test_without_visible_ink_the_nearest_code_is_kept():
    choice = BestOf(2, 2, None, good_enough=0.5)
    for number in range(4):
        choice.add(number, off_by(number))
    assert choice.best(lambda _: np.array([3.0, 1.0, 2.0, 5.0])) == [choice.made[1], choice.made[2]]


def test_ink_in_the_lost_region_is_not_counted_against_a_drawing():
    lost = Damage(LINE.visible, Region(np.array([[-1.0, 0.2, 1.0, 1.0]])), LINE.frame)
    with_more = Sketch.from_polylines([*off_by(0.0).strokes, *off_by(0.4).strokes])
    for damage, expected in ((lost, 0), (LINE, 1)):
        choice = BestOf(1, 2, [damage], good_enough=0.0)
        choice.add(0, with_more)
        choice.add(1, off_by(0.0))
        assert choice.best(lambda _: np.zeros(0)) == [choice.made[expected]]
