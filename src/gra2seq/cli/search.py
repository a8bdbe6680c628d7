"""Commands for very many drawings: encode them, index their codes, find the nearest."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gra2seq.cli.answers import check_not_input
from gra2seq.cli.common import (
    Address,
    AsJson,
    Device,
    Force,
    Frame,
    Hole,
    ModelFolder,
    Precision,
    Quiet,
    app,
    are,
    box_of,
    boxes_of,
    check_engine,
    messages,
    note,
    reply,
)
from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.search.encode import Engine
    from gra2seq.search.gallery import Gallery, Neighbours
    from gra2seq.sketch.strokes import Sketch


@app.command()
def encode(
    sources: Annotated[list[str], typer.Argument(help="Drawing files, folders, stores, or doodles:COUNT.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.npy; NAME.keys and NAME.json are put beside it.")],
    shard: Annotated[str, typer.Option(help="Encode part i of n: i/n. The part is put into the name.")] = "1/1",
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a killed command stopped.")] = False,
    hole: Hole = None,
    frame: Frame = None,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Name files that cannot be read, and leave them out.")
    ] = False,
    model: ModelFolder = None,
    dtype: Annotated[str, typer.Option(help="Of the codes: float16 or float32.")] = "float16",
    device: Device = "cpu",
    precision: Precision = "32-true",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes, or actors of Ray. Default: all cores.")] = None,
    engine: Annotated[str, typer.Option(help="local, or ray for a cluster that shares a disk.")] = "local",
    address: Address = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Codes of any number of drawings as a memory-mapped array; can be killed and resumed, shared among machines."""
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.search.drawings import LostPart, readable
    from gra2seq.search.encode import Layout, encode_to_file
    from gra2seq.search.work_folder import Existing
    from gra2seq.training.progress import counting

    if resume and force:
        raise UserError("--resume goes on and --force starts again: give one of them")
    existing = Existing.RESUME if resume else Existing.REPLACE if force else Existing.REFUSE
    lost = LostPart(tuple(boxes_of(hole)), box_of(frame, "--frame"))
    layout, source = Layout(_shard(shard), dtype, lost=lost), ModelSource(model, device, precision)
    where = _engine(engine, source, jobs, address)
    skipped: list[str] = []
    if skip_unreadable:
        sources, skipped = readable(sources, lambda text: note(quiet, text))
    began = time.monotonic()
    with counting(messages.console) as show:

        def progress(done: int, total: int) -> None:
            if not quiet:
                show("encoding", done, total)

        made = encode_to_file(
            sources, out, model=source, layout=layout, existing=existing, engine=where, progress=progress
        )
    seconds = time.monotonic() - began
    rate = made.new / seconds
    answer = {"out": str(made.out), "drawings": made.header.rows, "encoded_now": made.new, "code": made.header.code}
    answer |= {"dtype": dtype, "model": vars(made.header.model), "seconds": seconds, "per_second": rate}
    answer |= {"skipped": skipped}
    if as_json or not quiet:
        reply(as_json, answer, f"{are(made.header.rows, 'code')} in {made.out} ({made.new:,} new, {rate:.0f}/s)")


@app.command()
def index(
    codes: Annotated[list[Path], typer.Argument(help="The .npy files of `encode`: all shards of an encoding.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the gallery.")],
    method: Annotated[
        str, typer.Option(help="exact, ivf-pq (needs faiss), or auto: exact up to a million codes.")
    ] = "auto",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a gallery of codes, in which `find` looks for drawings."""
    from gra2seq.search.index import build_gallery

    gallery = build_gallery(codes, out, method, replace=force, report=lambda text: note(quiet, text))
    header = gallery.header
    answer: dict[str, Any] = {"gallery": str(out), "drawings": header.rows, "method": header.method}
    answer |= {"recall": header.tuning.recall if header.tuning else 1.0, "model": vars(header.model)}
    if as_json or not quiet:
        reply(as_json, answer, f"{are(header.rows, 'drawing')} in the gallery {out} (search: {header.method})")


@app.command()
def find(
    drawing: Annotated[Path, typer.Argument(help="A drawing, or a file of several.")],
    gallery: Annotated[Path, typer.Option("--gallery", "-g", help="Folder that `index` made.")],
    count: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many are found.")] = 9,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A sheet of them (.png).")] = None,
    model: ModelFolder = None,
    limit: Annotated[int, typer.Option(min=1, help="Take at most this many drawings of the file.")] = 10,
    device: Device = "cpu",
    precision: Precision = "32-true",
    as_json: AsJson = False,
) -> None:
    """The drawings of a gallery that are most like a drawing."""
    from itertools import islice

    from gra2seq.data.info import records_of
    from gra2seq.folder import load
    from gra2seq.formats.files import check_target, for_collection
    from gra2seq.search.gallery import Gallery

    if out is not None:
        if out.suffix.lower() != ".png":
            raise UserError(f"a sheet is written as .png: call it {out.stem}.png")
        check_target(out)
        check_not_input(out, [drawing])
    opened = Gallery.open(gallery)
    queries = [sketch for _, sketch in islice(records_of(drawing, simplify=for_collection(drawing, None)), limit)]
    if not queries:
        raise UserError(f"there is no sketch in {drawing}")
    loaded = load(model, device, precision=precision)
    opened.check_model(loaded)
    found = opened.find(loaded.encode(queries), count)
    if out is not None:
        _write_sheet(out, opened, queries, found)
    answer = [_described(opened, *row) for row in zip(found.numbers.tolist(), found.distances.tolist(), strict=True)]
    lines = [_line(one) for row in answer for one in row]
    reply(as_json, {"queries": len(queries), "found": answer, "out": str(out) if out else None}, "\n".join(lines))


def _described(gallery: Gallery, numbers: list[int], distances: list[float]) -> list[dict[str, Any]]:
    """What is known of the drawings that were found; an approximate search may find fewer than asked."""
    rows = []
    for number, distance in zip(numbers, distances, strict=True):
        if number >= 0:
            key = gallery.key(number)
            source = gallery.header.sources[key.source].paths[0]
            about = {"number": number, "distance": distance, "category": key.category, "key": key.key}
            rows.append(about | {"source": source, "number_in_source": key.number})
    return rows


def _line(found: dict[str, Any]) -> str:
    return (
        f"{found['distance']:8.3f}  {found['category'] or '-'}  {found['key'] or '-'}  "
        f"({found['source']}, drawing {found['number_in_source']})"
    )


def _write_sheet(out: Path, gallery: Gallery, queries: list[Sketch], found: Neighbours) -> None:
    from gra2seq.sketch.render import contact_sheet, write_png

    rows: list[list[Sketch | None]] = [
        [query, *(gallery.sketch(number) if number >= 0 else None for number in numbers)]
        for query, numbers in zip(queries, found.numbers.tolist(), strict=True)
    ]
    titles = ["looked for", *(str(place) for place in range(1, len(rows[0])))]
    write_png(out, contact_sheet(rows, titles=titles))


def _shard(text: str) -> Any:
    from gra2seq.search.codes import Shard

    return Shard.parse(text)


def _engine(name: str, model: ModelSource, jobs: int | None, address: str | None) -> Engine:
    check_engine(name, address, model.device)
    if name == "ray":
        from gra2seq.search.ray_engine import RayEngine

        return RayEngine(model, address, jobs)
    from gra2seq.search.encode import LocalEngine

    return LocalEngine(model, jobs)
