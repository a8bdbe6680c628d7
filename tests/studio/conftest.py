"""A studio with a tiny untrained model, called directly and over a socket."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import sync_playwright
from studio_server import RunningStudio
from visitor import CHROMIUM, NARROW, WIDE, Visitor

from gra2seq.config import parse_config
from gra2seq.data.doodles import doodle
from gra2seq.folder import untrained
from gra2seq.model import Model
from gra2seq.studio.engine import plain_strokes


@pytest.fixture(scope="session")
def model() -> Model:
    return untrained(parse_config({"preset": "tiny"}))


@pytest.fixture(scope="session")
def cat() -> list[list[list[float]]]:
    return plain_strokes(doodle("cat", 1))


@pytest.fixture(scope="session", autouse=True)
def studio_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Codes of galleries are not kept in the user's own cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def shared(model: Model) -> Iterator[RunningStudio]:
    """One studio for all tests that do not stop it."""
    studio = RunningStudio(model)
    yield studio
    studio.stop()


@pytest.fixture(scope="session")
def client(shared: RunningStudio) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared.address, timeout=60, trust_env=False) as client:
        wait_for_gallery(client)
        yield client


def wait_for_gallery(client: httpx.Client) -> None:
    for _ in range(600):
        gallery = client.get("/api/health").json()["gallery"]
        if gallery and gallery["encoded"] == gallery["drawings"]:
            return
        time.sleep(0.1)
    raise AssertionError("the gallery was not encoded within a minute")


@pytest.fixture
def running(model: Model) -> Iterator[RunningStudio]:
    """A studio of its own for a test that stops it."""
    studio = RunningStudio(model)
    yield studio
    studio.stop()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(params=[WIDE, NARROW], ids=["1280px", "375px"])
def visitor(browser, shared, client, request) -> Iterator[Visitor]:  # noqa: ARG001 (client waits for the gallery)
    visitor = Visitor(browser, shared.address, request.param)
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


@pytest.fixture
def wide(browser, shared, client) -> Iterator[Visitor]:  # noqa: ARG001
    visitor = Visitor(browser, shared.address, WIDE)
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []
