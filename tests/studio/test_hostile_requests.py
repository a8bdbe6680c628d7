"""Requests nobody should send: none may break the server, and each gets an answer of its own."""

from __future__ import annotations

import json
import socket
import time

import httpx
import numpy as np
import pytest

from gra2seq.studio.limits import MAX_COORDINATE

PATHS = ("heal", "complete", "redraw", "encode", "graph", "search", "guess", "morph", "read")
ODD = [
    None, True, -1, 0, 1e308, 10**30, 0.5, "", "x", "\ud800", [], [[]], [[[]]], {}, {"a": 1}, [None], [[[0, 0]]],
    [[[0, 0], [0, 0]]], [[[MAX_COORDINATE, 0], [-MAX_COORDINATE, 1]]], [[[1e-30, 0], [0, 1e-30]]], [[["0", "1"]]],
    [[[0, 0, 0]]], {"boxes": [[0, 0, 1e-9, 1e-9]]}, {"erasers": [{"path": [[0, 0]], "radius": 1e-9}]},
    {"erasers": [{"path": [[0, 0], [1e6, 1e6]], "radius": 1e6}]}, {"polygons": [[[0, 0], [0, 0], [0, 0]]]},
    {"polygons": [[[0, 0], [1, 1], [2, 2]]]},
]  # fmt: skip
MALFORMED = [
    b"", b"{", b"[" * 50_000, b'{"strokes": [[[NaN, 1]]]}', b'{"strokes": [[[1e999, 1]]]}', b"\xff\xfe", b"null", b"0",
    b'{"strokes": ' + b"9" * 5000 + b"}", b'{"strokes": [], "strokes": []}',
    b'{"svg": "<svg><path d=\\"M0 0\\"/></svg>"}',
    b'{"svg": "<!DOCTYPE a [<!ENTITY b \\"c\\">]><svg>&b;</svg>"}', b'{"svg": "\\u0000"}',
]  # fmt: skip


def strokes(random: np.random.Generator) -> list[list[list[float]]]:
    """A drawing that is right, of any size and place."""
    size, place = 10.0 ** random.integers(-3, 6), random.uniform(-1, 1, 2) * 10.0 ** random.integers(0, 5)
    every = [random.uniform(0, size, (random.integers(1, 12), 2)) + place for _ in range(random.integers(1, 6))]
    return [stroke.tolist() for stroke in every]


def mutant(random: np.random.Generator) -> dict[str, object]:
    """A request with one or two fields that are wrong, or right and unusual."""
    body: dict[str, object] = {"strokes": strokes(random), "samples": int(random.integers(1, 4))}
    x, y = body["strokes"][0][0]
    size = 10.0 ** random.integers(-3, 5)
    body["region"] = {
        "boxes": [[x, y, size, size]] if random.random() < 0.4 else [],
        "erasers": [{"path": body["strokes"][0], "radius": size}] if random.random() < 0.4 else [],
        "polygons": [strokes(random)[0] * 3] if random.random() < 0.4 else [],
    }
    names = ["strokes", "region", "frame", "samples", "seed", "temperature", "links", "drawings", "steps", "svg"]
    for name in random.choice(names, int(random.integers(0, 3))):
        body[str(name)] = ODD[random.integers(len(ODD))]
    return body


def sound(response: httpx.Response) -> None:
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert set(response.json()) == {"error"}
    else:
        assert '"error"' not in response.text.splitlines()[-1] or "terminal" not in response.text


def send(client: httpx.Client, path: str, body: object) -> httpx.Response:
    return client.post(f"/api/{path}", content=json.dumps(body), headers={"content-type": "application/json"})


@pytest.mark.parametrize("path", PATHS)
def test_malformed_bodies_are_refused(client, path):
    for body in MALFORMED:
        response = client.post(f"/api/{path}", content=body, headers={"content-type": "application/json"})
        assert response.status_code < 500, (body[:50], response.text)


@pytest.mark.parametrize("seed", range(6))
def test_mutants_never_break_the_server(client, seed):
    random = np.random.default_rng(seed)
    for _ in range(25):
        path = PATHS[random.integers(len(PATHS))]
        body = mutant(random)
        if path == "morph":
            body = {"drawings": [strokes(random), strokes(random)], "steps": body.get("steps", 2), "extra": 1}
            body.pop("extra") if random.random() < 0.8 else None
        elif path in ("encode", "graph", "search", "guess"):
            body = {name: body[name] for name in ("strokes", "region", "frame") if name in body}
        sound(send(client, path, body))
    assert client.get("/api/health").json()["status"] == "ready"


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-300, 1e-40, 1e-12])
def test_sizes_next_to_nothing_never_break_the_server(client, tiny):
    body = {"strokes": [[[0, 0], [50, 80], [90, 10]]], "region": {"boxes": [[20, 20, 30, 30]]}}
    bodies = [
        {"strokes": [[[0, 0], [tiny, tiny], [0, tiny]]]},
        {"frame": [0, 0, tiny, tiny]},
        {"frame": [0, 0, tiny, 90]},
        {"region": {"boxes": [[0, 0, tiny, tiny]]}},
        {"region": {"polygons": [[[0, 0], [tiny, 50], [50, tiny], [0, 2 * tiny]]]}},
        {"region": {"polygons": [[[0, 0], [tiny, 0], [tiny, tiny]]]}},
        {"region": {"erasers": [{"path": [[0, 0]], "radius": tiny}]}},
        {"region": {"erasers": [{"path": [[0, 0], [1e6, 1e6]], "radius": tiny}]}},
        {"region": {"erasers": [{"path": [[MAX_COORDINATE, MAX_COORDINATE]], "radius": tiny}]}},
    ]
    for change in bodies:
        for path in ("encode", "heal"):
            sound(send(client, path, {**body, **change, **({"samples": 1} if path == "heal" else {})}))


def test_a_client_that_hangs_up_does_not_disturb_others(client, cat):
    address = client.base_url.host, client.base_url.port
    body = json.dumps({"strokes": cat, "region": {"boxes": [[10, 80, 60, 60]]}}).encode()
    head = f"POST /api/heal HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nContent-Type: application/json\r\n"
    for cut in (len(body), len(body) // 2):
        with socket.create_connection(address) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:cut])
    began = time.monotonic()
    assert client.get("/api/health").status_code == 200
    assert send(client, "encode", {"strokes": cat}).status_code == 200
    assert time.monotonic() - began < 20


def test_the_answer_to_a_refused_request_arrives(client):
    """The whole of a large request is read before it is refused: else the connection is reset under the client."""
    for _ in range(5):
        response = client.post(
            "/api/heal", content=b"x" * 10_000_000, headers={"content-type": "text/plain", "connection": "close"}
        )
        assert response.status_code == 413
