"""`gra2seq studio`: the page to draw on."""

from __future__ import annotations

from typing import Annotated

import typer

from gra2seq.cli.common import Device, ModelFolder, Precision, app, messages


@app.command()
def studio(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0: any free one.")] = 8017,
    model: ModelFolder = None,
    gallery: Annotated[
        str | None,
        typer.Option(help="Drawings that Find and Guess compare with: a store, file or folder. Default: doodles."),
    ] = None,
    device: Device = "cpu",
    precision: Precision = "32-true",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """A page to draw on: heal, finish, see why, morph, find."""
    from gra2seq.healing.model_source import ModelSource
    from gra2seq.studio.server import serve

    source = ModelSource(model, device, precision)
    serve(port=port, model=source, gallery=gallery, browser=not no_browser, report=messages.print)
