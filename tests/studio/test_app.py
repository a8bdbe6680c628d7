from __future__ import annotations

import base64
import json
import threading

import cv2
import httpx
import numpy as np
import pytest

from gra2seq.studio import limits

HOLE = {"boxes": [[10, 80, 60, 60]]}  # on the outline of the head: lines end at its border


def drawings(response):
    assert response.status_code == 200, response.text
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert lines[-1]["done"]
    return lines[:-1]


def heal(client, strokes, **options):
    body = {"strokes": strokes, "region": HOLE, "samples": 3, "seed": 1, **options}
    return [one for one in drawings(client.post("/api/heal", json=body)) if not one["provisional"]]


def test_heal_keeps_the_visible_strokes_and_adds_new_ones_inside_the_region(client, cat):
    for one in heal(client, cat, temperature=1.0):
        given, new = one["strokes"][: one["first_new"]], one["strokes"][one["first_new"] :]
        assert given[0][0] == cat[0][0]
        x, y, width, height = HOLE["boxes"][0]
        points = np.array([point for stroke in new for point in stroke]).reshape(-1, 2)
        assert len(points)
        slack = 0.02 * 255
        assert ((points >= (x - slack, y - slack)) & (points <= (x + width + slack, y + height + slack))).all()


def test_untouched_strokes_come_back_exactly(client, cat):
    healed = heal(client, cat)[0]["strokes"]
    untouched = [stroke for stroke in cat if all(x > 80 for x, _ in stroke)]
    assert untouched
    assert all(stroke in healed for stroke in untouched)


def test_a_provisional_drawing_comes_first_and_is_replaced(client, cat):
    body = {"strokes": cat, "region": HOLE, "samples": 2}
    lines = drawings(client.post("/api/heal", json=body))
    assert [one["provisional"] for one in lines] == [True, False, False]
    assert [one["number"] for one in lines] == [0, 0, 1]


def test_the_first_drawing_arrives_before_the_others_are_made(running, model, cat):
    arrived, was_in_time = threading.Event(), []

    class Gated:
        """The model, which makes further drawings only after the first one has arrived."""

        def __getattr__(self, name):
            return getattr(model, name)

        def infills_each(self, damages, samples, drawings):
            if samples != [1]:
                was_in_time.append(arrived.wait(30))
            return model.infills_each(damages, samples, drawings)

    running.engine.use(Gated())
    body = {"strokes": cat, "region": HOLE, "samples": 9}
    with httpx.stream("POST", f"{running.address}api/heal", json=body, timeout=60, trust_env=False) as response:
        lines = response.iter_lines()
        assert json.loads(next(lines))["provisional"]
        arrived.set()
        assert len(list(lines)) == 9 + 1
    assert was_in_time == [True]


def test_same_seed_gives_same_drawings_and_another_seed_others(client, cat):
    def finished(seed):
        body = {"strokes": cat[:3], "samples": 3, "seed": seed, "temperature": 1.0}
        return drawings(client.post("/api/complete", json=body))

    assert finished(1) == finished(1)
    assert finished(1) != finished(2)
    assert heal(client, cat) == heal(client, cat)


def test_complete_keeps_all_strokes(client, cat):
    body = {"strokes": cat[:3], "samples": 2, "temperature": 1.0}
    for one in drawings(client.post("/api/complete", json=body)):
        assert one["strokes"][:3] == cat[:3]
        assert one["first_new"] == 3


def test_complete_without_the_region_goes_on_from_what_is_visible(client, cat):
    body = {"strokes": cat, "region": HOLE, "samples": 1}
    (one,) = drawings(client.post("/api/complete", json=body))
    inside = [(x, y) for s in one["strokes"][: one["first_new"]] for x, y in s if 11 < x < 69 and 81 < y < 139]
    assert not inside


def test_redraw_draws_everything_anew(client, cat):
    for one in drawings(client.post("/api/redraw", json={"strokes": cat, "samples": 2})):
        assert one["first_new"] == 0


@pytest.mark.parametrize(("count", "expected"), [(2, 5), (4, 16)])
def test_morph_gives_steps_between_two_and_a_sheet_between_four(client, cat, count, expected):
    body = {"drawings": [cat, cat[:2], cat[1:], cat[:4]][:count], "steps": 5}
    assert len(drawings(client.post("/api/morph", json=body))) == expected


def test_encode_gives_one_number_for_each_dimension(client, cat, model):
    code = client.post("/api/encode", json={"strokes": cat}).json()["code"]
    assert len(code) == model.preparation.code


def test_graph_has_patches_links_and_cosines(client, cat):
    graph = client.post("/api/graph", json={"strokes": cat, "links": "temporal"}).json()
    count = len(graph["patches"])
    assert count > 1
    assert np.shape(graph["cosines"]) == (count, count)
    assert all(0 <= start < stop < count and weight > 0 for start, stop, weight in graph["links"])


def test_search_finds_a_drawing_of_the_gallery_itself(client):
    from gra2seq.data.doodles import doodles
    from gra2seq.studio.engine import plain_strokes

    own = plain_strokes(next(iter(doodles(1))))
    results = client.post("/api/search", json={"strokes": own, "count": 3}).json()["results"]
    assert len(results) == 3
    assert results[0]["strokes"] == own
    assert results[0]["distance"] == pytest.approx(0, abs=1e-3)


def test_guess_gives_shares_that_do_not_exceed_one(client, cat):
    guess = client.post("/api/guess", json={"strokes": cat}).json()
    shares = [entry["share"] for entry in guess["names"]]
    assert 1 <= len(shares) <= 5
    assert sum(shares) <= 1.001
    assert shares == sorted(shares, reverse=True)


def test_the_same_seed_gives_the_same_doodle(client):
    first, again = (client.get("/api/doodle", params={"seed": 7}).json() for _ in range(2))
    assert first == again


def test_svg_is_read(client):
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><path fill="none" stroke="black" d="M10 20L30 40L50 20"/></svg>'
    assert client.post("/api/read", json={"svg": svg}).json() == {"strokes": [[[10, 20], [30, 40], [50, 20]]]}


def test_a_picture_is_traced(client):
    pixels = np.full((200, 200), 255, np.uint8)
    cv2.line(pixels, (30, 100), (170, 100), 0, 5)
    picture = base64.b64encode(cv2.imencode(".png", pixels)[1].tobytes()).decode()
    (stroke,) = client.post("/api/read", json={"picture": picture}).json()["strokes"]
    assert sorted((stroke[0][0], stroke[-1][0])) == pytest.approx([30, 170], abs=5)


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("heal", {"strokes": []}, 422, "empty"),
        ("heal", {"strokes": [[[0, 0], [9, 9]]]}, 422, "nothing was erased"),
        ("heal", {"strokes": [[[1, 1], [9, 9]]], "region": {"boxes": [[0, 0, 50, 50]]}}, 422, "no stroke outside"),
        ("heal", {"strokes": [[[0, 0], [9, 9]]], "samples": 25}, 422, "samples"),
        ("heal", {"strokes": [[[0, 0], [9, 9]]], "frame": [50, 50, 10, 10]}, 422, "does not contain"),
        ("heal", {"strokes": [[[0, 0], [9, 9]]], "sample": 2}, 422, "sample"),
        ("heal", {"strokes": [[[0, 0]]] * (limits.MAX_STROKES + 1)}, 413, "strokes"),
        ("heal", {"strokes": [[[0, 0]] * (limits.MAX_POINTS + 1)]}, 413, "points"),
        ("graph", {"strokes": [[[0, 0], [9, 9]]], "links": "random"}, 422, "links"),
        ("morph", {"drawings": [[[[0, 0], [9, 9]]]] * 3}, 422, "two or four"),
        ("encode", {"strokes": [[[1e7, 0]]]}, 422, "strokes.0.0.0"),
        ("encode", {"strokes": [[[0, 0, 0]]]}, 422, "strokes.0.0"),
        ("read", {"svg": "<svg"}, 422, "SVG"),
        ("read", {"picture": "AAAA"}, 422, "picture"),
        ("read", {}, 422, "either"),
    ],
)
def test_bad_requests_get_one_sentence(client, path, body, status, words):
    response = client.post(f"/api/{path}", json=body)
    assert response.status_code == status, response.text
    assert words in response.json()["error"]
    assert "\n" not in response.json()["error"]


def test_a_body_beyond_the_limit_is_refused(client):
    huge = b'{"strokes": [' + b" " * limits.MAX_BODY + b"]}"
    json_type = {"content-type": "application/json"}
    assert client.post("/api/heal", content=huge, headers=json_type).status_code == 413

    def chunks():
        yield from (huge[start : start + 100_000] for start in range(0, len(huge), 100_000))

    assert client.post("/api/heal", content=chunks(), headers=json_type).status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_other_hosts_and_other_pages_are_refused(client, headers, status):
    assert client.get("/api/health", headers=headers).status_code == status


def test_the_page_itself_is_answered(client):
    own = str(client.base_url).rstrip("/")
    headers = {"origin": own, "sec-fetch-site": "same-origin"}
    assert client.get("/api/health", headers=headers).status_code == 200


def test_forms_of_other_pages_are_refused(client):
    response = client.post("/api/heal", content=b"{}", headers={"content-type": "text/plain"})
    assert response.status_code == 415


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/app.py", "/etc/passwd"]
)
def test_no_path_reaches_the_file_system(client, path):
    assert client.get(path).status_code == 404


def test_every_answer_has_a_strict_policy(client):
    for path in ("/", "/api/health", "/static/main.js", "/nowhere", "/api/docs"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_page_loads_nothing_from_elsewhere_and_is_light():
    from gra2seq.studio.pages import static_files

    files = static_files()
    assert sum(len(content) for content, _ in files.values()) < 150_000
    for name, (content, _) in files.items():
        outside = content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"http://" not in outside, name
        assert b"https://" not in outside, name


def test_documented_addresses_are_those_of_the_issue(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    wanted = ["heal", "complete", "redraw", "encode", "graph", "morph", "search", "guess", "health"]
    assert {f"/api/{name}" for name in wanted} <= set(paths)
