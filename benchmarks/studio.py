"""How fast the studio answers, how it bears many people at once, and whether hostile requests can break it.

    python benchmarks/studio.py [--model DIR] [--rounds 40] [--people 16] [--seconds 60] [--hostile 10000]
                                [--gallery STORE --split test --drawings 700 [--only-guess]]

The studio runs in a process of its own; the load comes from this one, over loopback. Prints one JSON object. Figures
are those of a quiet machine only if nothing else runs on it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx
import numpy as np
from scribbles import KINDS, scribbles

from gra2seq.data.doodles import CATEGORIES, doodle
from gra2seq.sketch.damage import damages_of
from gra2seq.sketch.strokes import Sketch
from gra2seq.studio.pages import static_files

START = "import sys; from gra2seq.studio.server import serve; serve(port=0, browser=False, model=sys.argv[1] or None)"
STARTUP = 120.0  # seconds until the model must be there
WARM_UP = 10.0  # seconds of load after which memory must stay flat
HOLE = 0.35  # side of the erased square, in longer sides
PATHS = ("heal", "complete", "redraw", "encode", "graph", "search", "guess", "morph", "read")
ODD: list[Any] = [
    None, True, -1, 1e308, "x", "\ud800", [], [[]], [[[]]], {}, [[[0, 0]]], [[[0, 0], [0, 0]]], [[[1e6, 0], [-1e6, 1]]],
    [[["0", "1"]]], {"boxes": [[0, 0, 1e-9, 1e-9]]}, {"erasers": [{"path": [[0, 0]], "radius": 1e6}]}, 10**30,
]  # fmt: skip


@contextmanager
def studio(model: str) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Address and process of a running studio, and the seconds until its page and its model were there."""
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen([sys.executable, "-c", START, model], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        match = re.search(r"http://\S+", process.stdout.readline())
        if match is None:
            raise SystemExit("the studio did not start")
        address, seconds = match[0], {"page": 0.0, "model": 0.0, "gallery": 0.0}
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            client.get("/").raise_for_status()
            seconds["page"] = time.perf_counter() - began
            for name in ("model", "gallery"):
                while not _is_there(client, name):
                    if time.perf_counter() - began > STARTUP * 5:
                        raise SystemExit(f"the {name} was not ready in time")
                    time.sleep(0.1)
                seconds[name] = time.perf_counter() - began
        yield address, process.pid, {name: round(value, 2) for name, value in seconds.items()}
    finally:
        process.terminate()
        process.wait()


def _is_there(client: httpx.Client, what: str) -> bool:
    health = client.get("/api/health").json()
    if health["status"] == "failed":
        raise SystemExit(health["error"])
    gallery = health["gallery"]
    return health["status"] == "ready" if what == "model" else gallery and gallery["encoded"] == gallery["drawings"]


def request_of(number: int) -> dict[str, Any]:
    """A drawing of which a box is lost, always another one."""
    sketch = doodle(CATEGORIES[number % len(CATEGORIES)], 1000 + number)
    side = max(sketch.box[2:]) * HOLE
    x, y = sketch.points[len(sketch) // 2].tolist()
    strokes = [stroke.tolist() for stroke in sketch.strokes]
    return {"strokes": strokes, "region": {"boxes": [[x - side / 2, y - side / 2, side, side]]}, "frame": sketch.box}


def heal(client: httpx.Client, body: dict[str, Any]) -> tuple[float, float]:
    """Seconds until the first drawing and until all nine."""
    began, first = time.perf_counter(), 0.0
    with client.stream("POST", "/api/heal", json=body) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            first = first or time.perf_counter() - began
            if '"error"' in line:
                raise httpx.HTTPError(line)
    return first, time.perf_counter() - began


def one_at_a_time(address: str, rounds: int) -> dict[str, Any]:
    """Times of one person who heals again and again, in milliseconds; heals a second."""
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        for number in range(3):
            heal(client, request_of(number))
        began = time.perf_counter()
        times = np.array([heal(client, request_of(number)) for number in range(rounds)]) * 1000
        rate = rounds / (time.perf_counter() - began)
    middle, high = np.median(times, axis=0).round().tolist(), np.quantile(times, 0.95, axis=0).round().tolist()
    return {
        "first_ms": middle[0],
        "nine_ms": middle[1],
        "first_95_ms": high[0],
        "nine_95_ms": high[1],
        "per_second": rate,
    }


def many_at_once(address: str, pid: int, people: int, seconds: float) -> dict[str, Any]:
    """People who all heal without a pause: times, errors, heals a second, and memory after 10 s and at the end."""
    times: list[float] = []
    errors: list[str] = []
    numbers, stop = count(10_000), time.perf_counter() + seconds

    def person() -> None:
        with httpx.Client(base_url=address, trust_env=False, timeout=120) as client:
            while time.perf_counter() < stop:
                try:
                    times.append(heal(client, request_of(next(numbers)))[1])
                except httpx.HTTPError as error:
                    errors.append(str(error))

    threads = [threading.Thread(target=person) for _ in range(people)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(min(WARM_UP, seconds / 2))
    early = memory(pid)
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - began
    return {
        "people": people,
        "seconds": round(taken, 1),
        "healed": len(times),
        "errors": len(errors),
        "first_error": errors[0] if errors else "",
        "median_ms": round(float(np.median(times)) * 1000) if times else None,
        "per_second": len(times) / taken,
        "memory_mb": [round(early / 1e6), round(memory(pid) / 1e6)],
        "memory_growth": round(memory(pid) / early - 1, 4),
    }


def memory(pid: int) -> int:
    """Resident bytes of a process."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def body_for(path: str, number: int) -> dict[str, Any]:
    """A right request for an address."""
    body = request_of(number)
    if path == "morph":
        return {"drawings": [body["strokes"]] * 2, "steps": 2}
    if path == "read":
        return {"svg": '<svg xmlns="http://www.w3.org/2000/svg"><path stroke="red" d="M0 0L9 9"/></svg>'}
    return {**body, "samples": 1, "seed": number} if path in ("heal", "complete", "redraw") else body


def hostile(address: str, requests: int) -> dict[str, Any]:
    """Mutants of right requests: the number of answers of each status, and the slowest."""
    random, statuses, slowest = np.random.default_rng(0), Counter[int](), 0.0
    with httpx.Client(base_url=address, trust_env=False, timeout=120) as client:
        for number in range(requests):
            path = PATHS[random.integers(len(PATHS))]
            body = body_for(path, number)
            if random.random() < 0.7:
                body[str(random.choice(list(body)))] = ODD[random.integers(len(ODD))]
            content = json.dumps(body).encode()
            if random.random() < 0.2:
                content = content[: random.integers(len(content))]
            began = time.perf_counter()
            response = client.post(f"/api/{path}", content=content, headers={"content-type": "application/json"})
            slowest = max(slowest, time.perf_counter() - began)
            statuses[response.status_code] += 1
        alive = client.get("/api/health").json()["status"] == "ready"
    return {
        "requests": requests,
        "statuses": dict(sorted(statuses.items())),
        "slowest_s": round(slowest, 2),
        "alive": alive,
    }


def schemathesis(address: str, examples: int) -> dict[str, Any]:
    """Requests that are made from the OpenAPI document, by schemathesis."""
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{address}api/openapi.json", "--checks", "not_a_server_error",
        "--max-examples", str(examples), "--seed", "1", "--request-timeout", "120", "--no-color",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"examples": examples, "passed": done.returncode == 0, "says": done.stdout.strip().splitlines()[-1:]}


def only_hostile(model: str, requests: int, examples: int) -> int:
    """Print what hostile requests do to a studio; returns 1 if one had a status of 500 or more, or the server died."""
    with studio(model) as (address, _pid, _seconds):
        figures: dict[str, Any] = {
            "hostile": hostile(address, requests),
            "schemathesis": schemathesis(address, examples),
        }
        figures["hostile"]["alive"] = httpx.get(f"{address}api/health", trust_env=False).json()["status"] == "ready"
    print(json.dumps(figures, indent=2))
    refused = max(figures["hostile"]["statuses"]) >= 500
    return int(refused or not figures["hostile"]["alive"] or not figures["schemathesis"]["passed"])


def guessing(model_folder: str, gallery_source: str, split: str, count: int) -> dict[str, Any]:
    """Shares of right guesses and of "unlike" on drawings of a split of the gallery's source, and on scribbles.

    The scribbles of the test split are others than those of the validation split, which the rule was chosen on.
    """
    from gra2seq.data.datasets import open_dataset
    from gra2seq.folder import load
    from gra2seq.studio.guess_name import Guess, Guesser
    from gra2seq.studio.known_drawings import MAX_DRAWINGS
    from gra2seq.studio.signs import signs_of

    model, dataset = load(model_folder or None), open_dataset(gallery_source)
    random = np.random.default_rng(0)

    def some(indices: Any, most: int) -> list[Sketch]:
        return [dataset.store[int(n)] for n in random.permutation(indices)[:most]]

    def looked_at(sketches: list[Sketch]) -> tuple[Any, Any]:
        codes = model.encode(sketches)
        return codes, signs_of(model, damages_of(sketches), codes)

    def guesses_of(sketches: list[Sketch]) -> list[Guess]:
        return [guesser.guess(code, signs) for code, signs in zip(*looked_at(sketches), strict=True)]

    known, unseen = some(dataset.train, MAX_DRAWINGS), some(getattr(dataset, split), count)
    codes, signs = looked_at(known)
    guesser = Guesser(codes, [sketch.category for sketch in known], signs)
    guesses, scribbled = guesses_of(unseen), scribbles(count, seed=1 if split == "valid" else 2)
    kinds = np.array([sketch.category for sketch in scribbled])
    unlike = np.array([guess.unlike for guess in guesses_of(scribbled)])
    names = [[name for name, _ in guess.names] for guess in guesses]
    right = [(sketch.category in five[:1], sketch.category in five) for sketch, five in zip(unseen, names, strict=True)]
    first, five = np.mean(right, axis=0).round(4).tolist()
    return {
        "gallery": len(known),
        "split": split,
        "drawings": len(unseen),
        "top_1": first,
        "top_5": five,
        "unlike_drawings": round(float(np.mean([guess.unlike for guess in guesses])), 4),
        "unlike_scribbles": round(float(np.mean(unlike)), 4),
        "unlike_scribbles_by_kind": {kind: round(float(np.mean(unlike[kinds == kind])), 4) for kind in KINDS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--people", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hostile", type=int, default=5_000)
    parser.add_argument("--examples", type=int, default=500, help="of schemathesis, for each address; 0: none")
    parser.add_argument("--gallery", default="", help="drawings to measure guesses on; default: not measured")
    parser.add_argument("--split", default="test", choices=["valid", "test"], help="of the drawings to guess")
    parser.add_argument("--drawings", type=int, default=700, help="to guess, and as many scribbles")
    parser.add_argument(
        "--only-hostile", action="store_true", help="hostile requests alone; exit code 1 if one breaks it"
    )
    parser.add_argument("--only-guess", action="store_true", help="measure nothing but guesses")
    options = parser.parse_args()
    figures: dict[str, Any] = {"page_bytes": sum(len(content) for content, _ in static_files().values())}
    if options.only_guess:
        figures["guess"] = guessing(options.model, options.gallery, options.split, options.drawings)
        print(json.dumps(figures, indent=2))
        return
    if options.only_hostile:
        raise SystemExit(only_hostile(options.model, options.hostile, options.examples))
    with studio(options.model) as (address, pid, seconds):
        figures["seconds_until"] = seconds
        figures["one"] = one_at_a_time(address, options.rounds)
        figures["many"] = many_at_once(address, pid, options.people, options.seconds)
        figures["throughput_ratio"] = round(figures["many"]["per_second"] / figures["one"]["per_second"], 2)
        figures["hostile"] = hostile(address, options.hostile)
        if options.examples:
            figures["schemathesis"] = schemathesis(address, options.examples)
    if options.gallery:
        figures["guess"] = guessing(options.model, options.gallery, options.split, options.drawings)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
