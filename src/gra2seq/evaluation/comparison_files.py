"""A comparison as tables, as a wall of healed drawings and as learning curves, in the folder of its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gra2seq.config.systems import SYSTEMS
from gra2seq.data.datasets import Dataset
from gra2seq.evaluation.compare import Compared
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.figures import save_figure
from gra2seq.evaluation.pictures import SHOWN, damaged_pictures, spread
from gra2seq.evaluation.protocol import split_of, stored_noise
from gra2seq.evaluation.redrawing import redrawn
from gra2seq.evaluation.sheet import write_sheet
from gra2seq.evaluation.tables import DASH, FORMATS, beside_paper
from gra2seq.model import Model
from gra2seq.models.model_files import WEIGHTS
from gra2seq.sketch.render import Picture
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write, readable_os_errors
from gra2seq.training.logs import read_metrics

TABLES = "comparison"  # name of the files with the figures
WALL, CURVES = "healed", "curves"  # and of the pictures
# names of JSON where they are not those of `Compared`
JSON_NAMES = {
    "system": "model",
    "sketches": "sketches_seen",
    "judged_at": "sketches_seen_by_judged_weights",
    "rate": "sketches_per_second",
}
IN_JSON = {field.name: JSON_NAMES.get(field.name, field.name) for field in fields(Compared) if field.name != "rows"}


def comparison(found: Sequence[Compared]) -> str:
    """Tables 1 and 2 of the paper in Markdown, its figures beside ours, and what each system costs."""
    rows = [row for system in found for row in system.rows]
    lines = [beside_paper(rows)] if rows else []
    lines += [
        "| system | sees | parameters | sketches seen | by those judged | time in total | sketches/s | threads |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for system in found:
        sees = ", ".join(SYSTEMS[system.system].sees)
        if system.error:
            why = system.error.splitlines()[0].replace("|", "\\|")
            lines.append(f"| {system.system} | {sees} | failed: {why} | | | | | |")
            continue
        lines.append(
            f"| {system.system} | {sees} | {system.parameters / 1e6:.2f} M | {system.sketches:,} | "
            f"{system.judged_at:,} | {system.seconds / 60:.1f} min | {_rounded(system.rate)} | {system.threads} |"
        )
    return "\n".join([*lines, *_notes(found)]) + "\n"


def _notes(found: Sequence[Compared]) -> list[str]:
    notes = [
        f"{system.system} reads its drawings with "
        + ("random weights." if system.reader == "random" else f"the stroke encoder of the trained {system.reader}.")
        for system in found
        if system.reader and not system.error
    ]
    jobs = max((system.jobs for system in found), default=1)
    if jobs > 1:
        notes.append(f"With --jobs {jobs}: times and rates of what was trained now are those of a share of the cores.")
    return ["", *notes] if notes else []


def _rounded(rate: float | None) -> str:
    return DASH if rate is None else f"{rate:.0f}"


def as_json(found: Sequence[Compared]) -> dict[str, Any]:
    """Rows of all systems, and what each has cost."""
    systems = [{there: getattr(one, here) for here, there in IN_JSON.items()} for one in found]
    return {"rows": [row for one in found for row in one.rows], "systems": systems}


def write_comparison(found: Sequence[Compared], folder: Path) -> None:
    """comparison.md, .json, and the rows as .csv and .tex; systems of earlier commands in this folder stay in them.

    Those of other terms (another budget, other masks, another judge) are kept in files of their own.
    """
    _set_aside(folder, found[0].terms)
    found = with_earlier(found, folder)
    rows = [row for one in found for row in one.rows]
    texts = {".md": comparison(found), ".json": json.dumps(as_json(found), indent=1, allow_nan=False)}
    texts.update({suffix: FORMATS[suffix](rows) for suffix in (".csv", ".tex") if rows})
    for suffix, text in texts.items():
        with atomic_write(folder / f"{TABLES}{suffix}") as temporary:
            temporary.write_text(text)


def with_earlier(found: Sequence[Compared], folder: Path) -> list[Compared]:
    """With what is known of other systems from earlier commands on the same terms, in the order of the tables."""
    known = {one.system: one for one in found}
    terms = {one.terms for one in found}
    for name in (TABLES, *(f"{TABLES}-{term}" for term in terms)):
        for one in _read(folder / f"{name}.json"):
            if one.terms in terms and not one.error and (folder / one.system / WEIGHTS).exists():
                known.setdefault(one.system, one)
    return [known[name] for name in SYSTEMS if name in known]


def _read(path: Path) -> list[Compared]:
    """What a command has written; nothing if there is none, or if it is of another version: it is written anew."""
    try:
        before = json.loads(path.read_text())
        return [
            Compared(
                rows=[row for row in before["rows"] if row["model"] == system["model"]],
                **{here: system[there] for here, there in IN_JSON.items()},
            )
            for system in before["systems"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _set_aside(folder: Path, terms: str) -> None:
    """A comparison on other terms keeps its figures and pictures, under names that hold its terms."""
    others = {one.terms for one in _read(folder / f"{TABLES}.json") if one.rows} - {terms}
    for other in sorted(others)[:1]:
        for file in [file for name in (TABLES, WALL, CURVES) for file in folder.glob(f"{name}.*")]:
            with readable_os_errors(file):
                file.replace(file.with_name(f"{file.stem}-{other}{file.suffix}"))


def write_wall(models: Mapping[str, Model], dataset: Dataset, path: Path) -> None:
    """The same masked sketches, evenly spread over the test split, healed by every system: a row a sketch.

    Damage and drawings are those of seed 0 that were judged, if the models draw as they did then.
    """
    indices, kind = split_of(dataset, "test"), DamageKind(mask=0.1)
    places = spread(len(indices), SHOWN)
    sketches = [dataset.store[int(index)] for index in indices[places]]
    noise = stored_noise(dataset, "test", len(indices)).numbers[places]
    columns: list[list[Sketch | Picture | None]] = [list(sketches)]
    for model in models.values():
        if len(columns) == 1:
            columns.append(damaged_pictures(sketches, noise, kind, model.preparation.canvas))
        columns.append(list(redrawn(model, sketches, noise, kind, 0, places)))
    rows = [list(row) for row in zip(*columns, strict=True)]
    write_sheet(path, rows, ("original", "damaged", *models))


def draw_curves(runs: Mapping[str, Path], batch: int, path: Path) -> None:
    """The loss of each system on sketches it does not learn from, against the sketches it has seen."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, run in runs.items():
        rows = [row for row in read_metrics(run, "valid.jsonl") if None not in (row["offset"], row["pen"])]
        points = [(row["step"] * batch, row["offset"] + row["pen"]) for row in rows]
        axes.plot(*zip(*points, strict=True) if points else ((), ()), marker="o", markersize=3, label=name)
    axes.set_xlabel("sketches seen")
    axes.set_ylabel("negative log-likelihood of a sketch of the valid split")
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    for suffix in (".png", ".svg"):
        save_figure(figure, path.with_name(path.name + suffix))
