"""Commands for drawings themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gra2seq.cli.answers import check_free, check_not_input
from gra2seq.cli.common import (
    AsJson,
    Force,
    are,
    data,
    messages,
    reply,
)
from gra2seq.errors import UserError, printable


@data.command()
def info(
    files: Annotated[list[Path], typer.Argument(help="Drawing files or stores.")],
    sheet: Annotated[Path | None, typer.Option(help="Write a contact sheet (.png).")] = None,
    labels: Annotated[bool, typer.Option(help="The third list of a stroke is its part label.")] = False,
    as_json: AsJson = False,
) -> None:
    """Counts, lengths and a contact sheet of drawings."""
    from gra2seq.data.info import describe, in_words

    if sheet is not None:
        check_not_input(sheet, files)
    found = describe(files, contact_sheet=sheet, labels=labels)
    print(json.dumps(found) if as_json else in_words(found))


@data.command()
def convert(
    files: Annotated[list[Path], typer.Argument(help="Drawing files or stores.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A file of another format, or NAME.store")],
    simplify: Annotated[bool | None, typer.Option(help="As QuickDraw does, in a box of 255. Default: SVG.")] = None,
    labels: Annotated[bool, typer.Option(help="The third list of a stroke is its part label.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Between all formats, and into the memory-mapped store."""
    from gra2seq.data.info import convert as run_conversion

    inputs = [*files, *(file for path in files if path.is_dir() for file in path.iterdir())]
    check_not_input(out, inputs)
    if out.is_file():
        check_free(out, inputs, force)
    count, written = run_conversion(files, out, simplify=simplify, labels=labels)
    answer = {"sketches": count, "out": str(out), "files": [str(path) for path in written]}
    reply(as_json, answer, f"{are(count, 'sketch')} in {', '.join(map(str, written[:3]))}")


@data.command()
def verify(
    stores: Annotated[list[Path], typer.Argument(help="Stores, as `gra2seq data convert` writes them.")],
    as_json: AsJson = False,
) -> None:
    """Read every byte of stores and compare it with their checksums; exit code 2 if one is damaged."""
    from gra2seq.data.store import Store

    found: list[dict[str, str | int]] = []
    for path in stores:
        try:
            store = Store.open(path)
            store.verify()
            found.append({"store": str(path), "sketches": len(store), "problem": ""})
        except UserError as error:
            found.append({"store": str(path), "sketches": 0, "problem": str(error)})
    damaged = [about for about in found if about["problem"]]
    lines = [printable(str(about["problem"] or f"{about['store']} is sound")) for about in found]
    reply(as_json, {"sound": not damaged, "stores": found}, "\n".join(lines))
    if damaged:
        raise typer.Exit(2)


@data.command()
def download(
    names: Annotated[list[str], typer.Argument(help="DS1, DS2, DS3 or categories.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where to.")] = Path("data"),
    base: Annotated[str | None, typer.Option(help="Another address than the official one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch sketch-rnn's .npz files of the paper's data sets (Google, CC BY 4.0); goes on where it was cut."""
    from gra2seq.data.download import OFFICIAL_BASE
    from gra2seq.data.download import download as fetch
    from gra2seq.training.progress import bytes_bar

    with bytes_bar(messages.console) as progress:
        paths = fetch(names, folder, base=base or OFFICIAL_BASE, progress=progress)
    reply(as_json, {"files": [str(path) for path in paths]}, f"{are(len(paths), 'file')} in {folder}")
