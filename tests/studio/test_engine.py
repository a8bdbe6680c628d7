from __future__ import annotations

import threading

import numpy as np
import pytest

from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch
from gra2seq.studio.batching import DONE, Job
from gra2seq.studio.engine import DrawRequest, Engine, coarse, plain_strokes
from gra2seq.studio.known_drawings import Gallery
from gra2seq.studio.limits import BusyError

HOLE = Region.of_boxes([(10.0, 80.0, 60.0, 60.0)])


@pytest.fixture
def engine(model):
    engine = Engine()
    engine.use(model)
    yield engine
    engine.close()


def drawn(engine, requests):
    """The answers to several requests that were made together."""
    every = [([], threading.Event()) for _ in requests]
    for (found, done), request in zip(every, requests, strict=True):
        engine.draw.submit(Job(request.key, request, lambda a, f=found, d=done: d.set() if a is DONE else f.append(a)))
    assert all(done.wait(60) for _, done in every)
    return [[one for one in found if not one.provisional] for found, _ in every]


def test_drawing_does_not_depend_on_its_batch(engine):
    """Other seeds, temperatures, numbers of samples and kinds do not matter."""
    requests = [
        DrawRequest(kind, lose(doodle("cat", number), HOLE), samples, seed, temperature)
        for number, (kind, samples, seed, temperature) in enumerate(
            [
                ("heal", 2, 0, 0.3),
                ("heal", 2, 5, 0.3),
                ("complete", 3, 0, 0.3),
                ("heal", 1, 0, 0.7),
                ("heal", 2, 0, 0.0),
            ]
        )
    ]
    assert len({request.key for request in requests}) == 1
    together = drawn(engine, requests)
    alone = [drawn(engine, [request])[0] for request in requests]
    for request, one, other in zip(requests, together, alone, strict=True):
        assert len(one) == request.samples
        assert [[len(stroke) for stroke in drawing.strokes] for drawing in one] == [
            [len(stroke) for stroke in drawing.strokes] for drawing in other
        ]


def test_another_seed_or_temperature_in_one_batch_draws_something_else(engine):
    damage = Damage.none(doodle("cat", 1))
    ways = [(0, 0.5), (0, 0.5), (1, 0.5), (0, 1.0)]
    first, same, seed, temperature = drawn(engine, [DrawRequest("complete", damage, 6, *way) for way in ways])
    assert [one.strokes for one in first] == [one.strokes for one in same]
    assert [one.strokes for one in first] != [one.strokes for one in seed]
    assert [one.strokes for one in first] != [one.strokes for one in temperature]


def test_work_for_a_disconnected_client_ends_after_the_provisional_drawing(engine):
    found, done = [], threading.Event()
    request = DrawRequest("heal", lose(doodle("cat", 1), HOLE), 3, 0, None)
    job = Job(request.key, request)

    def deliver(answer):
        if answer is DONE:
            done.set()
        else:
            found.append(answer)
            job.cancelled.set()

    job.deliver = deliver
    engine.draw.submit(job)
    assert done.wait(60)
    assert [one.provisional for one in found] == [True]


def test_coarse_keeps_the_ends_of_strokes_and_leaves_room_to_draw():
    turn = np.linspace(0, 12, 4000)
    dense = Sketch.from_polylines([np.stack([turn * 20, 100 * np.sin(turn * 9)], axis=1) + 7 * n for n in range(3)])
    simple = coarse(Damage.none(dense), 250)
    assert len(simple.visible) <= 150
    for before, after in zip(dense.strokes, simple.visible.strokes, strict=True):
        assert (before[[0, -1]] == after[[0, -1]]).all()


def test_plain_strokes_keep_what_can_be_seen_at_any_scale():
    for scale in (1e-4, 1.0, 1e5):
        sketch = Sketch(np.array([[0.1234, 0.5678], [0.9, 0.1]], np.float32) * np.float32(scale), np.array([2]))
        assert np.allclose(plain_strokes(sketch)[0], sketch.points, atol=2e-5 * scale)


def test_requests_before_the_model_is_loaded_are_answered_with_retry_later():
    engine = Engine()
    with pytest.raises(BusyError, match="loading"):
        _ = engine.model
    assert engine.status == "loading"
    engine.close()


def test_a_model_that_cannot_be_loaded_is_named(tmp_path):
    engine = Engine(tmp_path / "nothing")
    engine.start()
    engine.close()
    assert engine.status == "failed"
    assert "nothing" in engine.error


def test_without_its_gallery_the_studio_still_heals(model):
    engine = Engine(gallery="/nowhere")
    engine.use(model)
    engine.start()
    engine._loader.join()
    assert engine.status == "ready"
    assert "nowhere" in engine.gallery_error
    assert drawn(engine, [DrawRequest("heal", lose(doodle("cat", 1), HOLE), 1, 0, None)])[0]
    engine.close()


def test_codes_of_a_gallery_are_cached(model):
    first = Gallery.open("doodles:20")
    first.encode(model, threading.Event())
    second = Gallery.open("doodles:20")

    class Once:
        """The model, which may only encode the one drawing that names the cache."""

        def __init__(self):
            self.encoded = 0

        def __getattr__(self, name):
            return getattr(model, name)

        def encode(self, sketches):
            self.encoded += 1
            return model.encode(sketches)

    counting = Once()
    second.encode(counting, threading.Event())
    assert counting.encoded == 1
    assert (first.codes == second.codes).all()


def test_a_gallery_that_is_not_there_is_named():
    with pytest.raises(UserError, match="nowhere"):
        Gallery.open("/nowhere")
