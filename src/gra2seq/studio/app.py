"""The HTTP service: every address, what goes in, what comes out. `create_app` makes the ASGI application."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from random import Random
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

import gra2seq
from gra2seq.data.doodles import CATEGORIES, doodle
from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Floats
from gra2seq.studio import schemas
from gra2seq.studio.batching import answers
from gra2seq.studio.engine import Drawn, DrawRequest, Engine, plain_strokes
from gra2seq.studio.errors import add_error_handlers, error_line
from gra2seq.studio.graphs import graph_answer
from gra2seq.studio.guard import Guard
from gra2seq.studio.guess_name import Guesser
from gra2seq.studio.known_drawings import Gallery
from gra2seq.studio.limits import MAX_SEED, BusyError
from gra2seq.studio.pages import static_files

NDJSON = "application/x-ndjson"
LINES: dict[int | str, dict[str, Any]] = {
    200: {"description": "One JSON object a line: number, strokes, first_new, provisional.", "content": {NDJSON: {}}}
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "content": {"application/json": {"example": {"error": "one sentence"}}}}
    for status, what in {
        413: "larger than the limits",
        422: "not a drawing, or nothing that can be drawn",
        503: "the model is loading or busy; see Retry-After",
    }.items()
}

router = APIRouter(prefix="/api", responses=REFUSALS)


def create_app(engine: Engine, hosts: Sequence[str]) -> Guard:
    """The service and the page, for requests that name one of `hosts` ("127.0.0.1:8000")."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        engine.start()
        yield
        await run_in_threadpool(engine.close)

    app = FastAPI(
        title="gra2seq studio",
        version=gra2seq.__version__,
        description="Sketches as graphs of patches: heal, finish, compare.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.engine, app.state.boot = engine, secrets.token_hex(8)
    app.include_router(router)
    add_error_handlers(app)
    pages = static_files()
    for name, (content, kind) in pages.items():
        app.get(f"/static/{name}", include_in_schema=False)(_page(content, kind))
    app.get("/", include_in_schema=False)(_page(*pages["index.html"]))
    app.get("/api/docs", include_in_schema=False)(_page(*pages["docs.html"]))
    app.get("/favicon.ico", include_in_schema=False)(_page(*pages["icon.svg"]))
    return Guard(app, hosts)


def _page(content: bytes, kind: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=kind)


@router.get("/health")
async def health(request: Request) -> dict[str, Any]:
    """Whether the model is there. `boot` changes when the server was restarted."""
    engine = _engine(request)
    gallery = engine.gallery
    about = engine.model if engine.status == "ready" else None
    return {
        "status": engine.status,
        "error": engine.error,
        "gallery_error": engine.gallery_error,
        "boot": request.app.state.boot,
        "version": gra2seq.__version__,
        "model": about.config.model.name if about else "",
        "temperature": about.drawing.temperature if about else None,
        "gallery": None
        if gallery is None
        else {"name": gallery.name, "drawings": len(gallery.sketches), "encoded": len(gallery.codes)},
    }


@router.post("/heal", responses=LINES)
async def heal(body: schemas.HealIn, request: Request) -> Response:
    """Draw again what was erased, in `samples` different ways; the visible strokes stay as they are.

    A first drawing may come early and be marked as provisional.
    """
    return await _draw("heal", body, request)


@router.post("/complete", responses=LINES)
async def complete(body: schemas.DrawIn, request: Request) -> Response:
    """Go on where the pen has stopped, in `samples` different ways; the visible strokes stay as they are."""
    return await _draw("complete", body, request)


@router.post("/redraw", responses=LINES)
async def redraw(body: schemas.DrawIn, request: Request) -> Response:
    """Draw the whole drawing anew from its code, where it lies."""
    return await _draw("redraw", body, request)


@router.post("/morph", responses=LINES)
async def morph(body: schemas.MorphIn, request: Request) -> Response:
    """The drawings between two, or a sheet of 4 x 4 between four."""
    engine = _engine(request)
    sketches = await run_in_threadpool(body.sketches)
    _ = engine.model
    wanted = DrawRequest("morph", sketches, body.steps, body.seed, body.temperature)
    return await _stream(answers(engine.draw, wanted.key, wanted, request.is_disconnected))


@router.post("/encode")
async def encode(body: schemas.DamagedIn, request: Request) -> dict[str, list[float]]:
    """The code of a drawing: near codes are like drawings."""
    code = await _code(body, request)
    return {"code": [round(float(number), 6) for number in code]}


@router.post("/graph")
async def graph(body: schemas.GraphIn, request: Request) -> dict[str, Any]:
    """The patches of a drawing, their links and likeness, their clusters and what else lies in these."""
    engine = _engine(request)
    _ = engine.model
    damage = await run_in_threadpool(body.damage)
    found = await _only(answers(engine.look, body.links, damage, request.is_disconnected))
    atlas = engine.gallery.atlas if engine.gallery else None
    return await run_in_threadpool(graph_answer, found, atlas)


@router.post("/search")
async def search(body: schemas.SearchIn, request: Request) -> dict[str, Any]:
    """The nearest drawings of the gallery, by their codes."""
    gallery = _gallery(request)
    numbers, distances = gallery.nearest(await _code(body, request), body.count)
    results = [
        {"name": one.category, "distance": round(float(distance), 4), "strokes": plain_strokes(one)}
        for one, distance in zip((gallery.sketches[n] for n in numbers), distances, strict=True)
    ]
    return {"gallery": gallery.name, "drawings": len(gallery.codes), "results": results}


@router.post("/guess")
async def guess(body: schemas.DamagedIn, request: Request) -> dict[str, Any]:
    """Up to five names with their shares, by the nearest drawings of the gallery.

    `unlike`: the drawing is like none of them, for the `reasons` that are given.
    """
    gallery = _gallery(request)
    engine = _engine(request)
    damage = await run_in_threadpool(body.damage)
    code, signs = await _only(answers(engine.look, "guess", damage, request.is_disconnected))
    guesser = await run_in_threadpool(_guesser, request.app, gallery)
    found = guesser.guess(code, signs)
    return {
        "unlike": found.unlike,
        "reasons": found.reasons,
        "names": [{"name": name, "share": round(share, 4)} for name, share in found.names],
        "distance": round(found.distance, 4),
    }


@router.get("/doodle")
async def surprise(
    seed: Annotated[int | None, Query(ge=0, le=MAX_SEED)] = None,
    category: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """A drawing by rule: of a category or any, the same for the same seed."""
    seed = secrets.randbelow(2**32) if seed is None else seed
    drawn = doodle(Random(seed).choice(CATEGORIES) if category is None else category, seed)
    return {"name": drawn.category, "seed": seed, "strokes": plain_strokes(drawn)}


@router.post("/read")
async def read(body: schemas.ReadIn) -> dict[str, Any]:
    """The strokes of an SVG file, or traced from a picture. A drawing with very many points is simplified."""
    sketch = await run_in_threadpool(body.sketch)
    return {"strokes": plain_strokes(sketch)}


async def _draw(kind: str, body: schemas.DrawIn, request: Request) -> Response:
    engine = _engine(request)
    _ = engine.model
    damage = await run_in_threadpool(body.damage)
    if kind != "heal":  # what was erased stays so
        damage = Damage(damage.visible, frame=damage.frame, page=body.page, framed=damage.framed)
    wanted = DrawRequest(kind, damage, body.samples, body.seed, body.temperature)
    return await _stream(answers(engine.draw, wanted.key, wanted, request.is_disconnected))


async def _stream(drawings: AsyncIterator[Drawn]) -> Response:
    """A line for each drawing. What fails before the first one has an HTTP status; later, a last line says so."""
    began = time.perf_counter()
    first = await anext(drawings, None)
    if first is None:
        return Response(status_code=204)  # the client has gone

    async def lines() -> AsyncIterator[str]:
        yield _line(asdict(first))
        try:
            async for drawing in drawings:
                yield _line(asdict(drawing))
            yield _line({"done": True, "seconds": round(time.perf_counter() - began, 3)})
        except Exception as error:  # the status is sent already: the last line says so
            yield _line(error_line(error))

    return StreamingResponse(lines(), media_type=NDJSON)


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


async def _only(found: AsyncIterator[Any]) -> Any:
    """The one answer to a job."""
    async for answer in found:
        return answer
    raise BusyError("the request was given up")


async def _code(body: schemas.DamagedIn, request: Request) -> Floats:
    engine = _engine(request)
    _ = engine.model
    damage = await run_in_threadpool(body.damage)
    code: Floats = await _only(answers(engine.look, "encode", damage, request.is_disconnected))
    return code


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _gallery(request: Request) -> Gallery:
    engine = _engine(request)
    gallery = engine.gallery
    if engine.gallery_error:
        raise UserError(f"there is no gallery: {engine.gallery_error}")
    if gallery is None or not len(gallery.codes):
        raise BusyError("the gallery is being encoded: try again in a few seconds")
    return gallery


def _guesser(app: FastAPI, gallery: Gallery) -> Guesser:
    """Made anew when more of the gallery is encoded."""
    known: Guesser | None = getattr(app.state, "guesser", None)
    codes, signs = gallery.codes, gallery.signs
    count = min(len(codes), len(signs))  # the two grow one after the other
    if known is None or len(known.codes) != count:
        names = [sketch.category for sketch in gallery.sketches[:count]]
        known = Guesser(codes[:count], names, signs[:count])
        app.state.guesser = known
    return known
