"""Commands that train models and look after the installation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gra2seq.cli.common import AsJson, app, messages, reply


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="A YAML file, or the name of a configuration in the package.")],
    changes: Annotated[list[str] | None, typer.Argument(help="name=value …, e.g. run=runs/mine max_steps=1000")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run in run=… stopped.")] = False,
    devices: Annotated[int | None, typer.Option(min=1, help="Processes (on the CPU) or GPUs.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train a model."""
    from gra2seq.config import read_config
    from gra2seq.training.loop import Stopped
    from gra2seq.training.loop import train as run_training
    from gra2seq.training.manifest import rank
    from gra2seq.training.progress import show

    more = [f"devices={devices}"] if devices is not None else []
    chosen = read_config(config, [*(changes or []), *more])
    try:
        with show(messages.console, chosen) as on_step:
            run = run_training(chosen, resume=resume, on_step=on_step)
    except Stopped as stop:
        messages.print(str(stop))
        raise typer.Exit(130) from None
    if rank() == 0:  # of several processes only the first prints
        reply(as_json, {"run": str(run)}, f"The model is in {run}")


@app.command()
def pack(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")],
    changes: Annotated[
        list[str] | None, typer.Argument(help="How it draws by default: best_of=8 good_enough=0.015 candidates=4 …")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a small folder to give away of the model of a run.

    It holds the weights in 16 bits and no paths.
    """
    from gra2seq.config.parse import read_changes
    from gra2seq.folder import pack as make_folder

    given = read_changes(changes or [])
    drawing = given.pop("drawing", {})
    folder = make_folder(run, out, {**drawing, **given})
    size = sum(file.stat().st_size for file in folder.iterdir())
    reply(as_json, {"model": str(folder), "bytes": size}, f"The model is in {folder} ({size / 1e6:.1f} MB)")


@app.command()
def models(
    preset: Annotated[str, typer.Option(help="Sizes of which preset.")] = "paper", as_json: AsJson = False
) -> None:
    """List the systems: who made them, what they see, their size."""
    from rich.console import Console
    from rich.table import Table

    from gra2seq.config import parse_config
    from gra2seq.config.systems import SYSTEMS
    from gra2seq.models.registry import build, trained_size

    rows: list[dict[str, Any]] = []
    for name, system in SYSTEMS.items():
        size = trained_size(build(parse_config({"model": name, "preset": preset}).model))
        rows.append({"model": name, "authors": system.authors, "sees": list(system.sees), "parameters": size})
    if as_json:
        print(json.dumps({"models": rows}))
        return
    table = Table("model", "authors", "sees", "parameters", box=None)
    for row in rows:
        table.add_row(row["model"], row["authors"], ", ".join(row["sees"]), f"{row['parameters'] / 1e6:.2f} M")
    Console().print(table)


@app.command()
def bench(
    only: Annotated[
        list[str] | None,
        typer.Option(help="encoder, preparation, training, systems, drawing, healing, retrieval, growth, tracing"),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--data", help="Files or store; else real drawings if found, or doodles.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast each part is on this machine.

    Speeds are compared with the peak of the matrix product.
    """
    from gra2seq.bench import measure

    figures = measure(source, only=tuple(only or ()), report=messages.print)
    print(json.dumps(figures) if as_json else json.dumps(figures, indent=2))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this installation has, and whether the main parts work."""
    from gra2seq.doctor import examine

    findings = examine()
    if as_json:
        print(json.dumps(findings))
    else:
        for name, value in findings.items():
            messages.print(f"{name:>22}  {value}")
    if not findings["healthy"]:
        raise typer.Exit(1)
