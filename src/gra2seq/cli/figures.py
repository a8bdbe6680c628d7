"""Commands that show what a model sees: graphs and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gra2seq.cli.answers import check_not_input
from gra2seq.cli.common import AsJson, Files, Frame, Hole, Limit, ModelFolder, app, are, read_damages, reply, sources


@app.command()
def graph(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", help=".png, .svg or .pdf")],
    model: ModelFolder = None,
    links: Annotated[
        list[str] | None,
        typer.Option(help="synonymous, temporal, spatial, random; repeatable. Default: the first three."),
    ] = None,
    hole: Hole = None,
    frame: Frame = None,
    limit: Limit = 6,
    as_json: AsJson = False,
) -> None:
    """Draw sketches with their patches and links, by any proximity."""
    from gra2seq.evaluation.figures import draw_links
    from gra2seq.folder import load

    check_not_input(out, files)
    sketches = read_damages(files, limit, hole, frame)
    draw_links(load(model), sketches, tuple(links or ("temporal", "spatial", "synonymous")), out)
    reply(as_json, {"sketches": len(sketches), "out": str(out)}, f"The picture is in {out}")


@app.command()
def figures(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or `package`.")],
    source: Annotated[list[str] | None, typer.Option("--data", help="Files, a folder or a store of drawings.")] = None,
    name: Annotated[str | None, typer.Option("--set", help="A named set of the data: DS1-small, OPEN8, …")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the figures.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", help="png, svg or pdf")] = "png",
    count: Annotated[int, typer.Option(min=3, help="Test sketches behind the map and the clusters.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Make the figures of a paper.

    They show links, masks, healed sketches, clusters and a map of the codes.
    """
    from gra2seq.data.datasets import open_dataset
    from gra2seq.evaluation.figures import draw_all
    from gra2seq.folder import load

    written = draw_all(load(run), open_dataset(sources(source), name=name), out, form, count)
    answer = {"figures": [str(path) for path in written]}
    reply(as_json, answer, f"{are(len(written), 'figure')} in {out}")
