"""Rows of an evaluation as CSV, JSON, Markdown and LaTeX, in the form of the paper's tables.

A row is a dict with "model", "data", "categories", "mask", "seed", "sketches", "gallery", "direction", "rec",
"ceiling", "ret" ({"1", "10", "50"}) and "chamfer". Shares lie between 0 and 1; None where there was no judge.
What `OPTIONAL` names may be there too, and "rec_by_category" ({category: share}), which only JSON, CSV and Markdown
show.
CSV and JSON keep rows and shares, for programs; Markdown and LaTeX give per cent, mean and deviation over the seeds.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gra2seq.errors import UserError
from gra2seq.evaluation.published import HARDEST, KS, SETS, TEST_SKETCHES, paper_row

Row = Mapping[str, Any]

# what rows of another model or setting differ in; all else of a row is measured
SETTING = (
    "model", "data", "categories", "mask", "square", "complete", "sketches", "gallery", "direction",
    "sees", "repaired", "ink_predicted", "kept", "best_of", "good_enough", "candidates",
)  # fmt: skip
SEEDS = ("seed", "train_seed")  # of the drawings, and of the training
# instead of masks the side of a lost square, or the share of the points that is handed in; what a drawing sees
# (redrawing.DRAWING); codes repaired; lost ink predicted; visible lines kept;
# drawings of each code; how near a first one must lie to be kept; pen moves compared at every step
OPTIONAL = (
    "square", "complete", "sees", "repaired", "ink_predicted", "kept", "best_of", "good_enough", "candidates",
    "train_seed",
)  # fmt: skip
MEASURES = ("rec", "ceiling", *(f"ret_{k}" for k in KS), "chamfer")
# of lost regions, where the visible lines stay; "diversity": the mean Chamfer distance between the samples of a region,
# over that between two drawings of the category there
REGION = {
    "ends_met": "Open ends met %", "region_chamfer": "Chamfer there x 100", "lines_outside": "Lines outside",
    "diversity": "Diversity",
}  # fmt: skip
COLUMNS = (*SETTING[:6], *SEEDS, *SETTING[6:], *MEASURES)
BY_CATEGORY = "rec_by_category"
WAYS = {  # redrawing.DRAWING, in words
    "code": "drawn from the code only",
    "guided": "guided by the visible ink",
    "infill": "the visible strokes given, the lost region sampled",
}
DASH = "–"


def flat(row: Row) -> dict[str, Any]:
    """One column a number: "ret" becomes "ret_1", "ret_10", "ret_50"."""
    needed = [name for name in COLUMNS if name not in OPTIONAL and not name.startswith("ret_")]
    missing = [name for name in (*needed, "ret") if name not in row]
    if missing:
        raise UserError(f"a row of an evaluation lacks {', '.join(missing)}")
    columns = {name: row.get(name) for name in COLUMNS}
    columns |= {f"ret_{k}": row["ret"].get(k) for k in KS} | {name: row.get(name) for name in REGION}
    shares = {name: row.get(name) or 0.0 for name in ("square", "complete")}
    return {**columns, **shares, "categories": tuple(row["categories"])}


def summary(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A row a setting, in order of appearance, with the mean of each measure over the seeds under its name.

    Its standard deviation (of the sample, n - 1) stands under "…_std", None with a single value: over the training
    seeds if there are several, over the drawings' seeds otherwise. "seeds" and "train_seeds" list them;
    "rec_by_category" holds the mean of each category, or None.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        columns = {**flat(row), BY_CATEGORY: row.get(BY_CATEGORY) or {}}
        groups.setdefault(tuple(columns[name] for name in SETTING), []).append(columns)
    found = []
    for setting, members in groups.items():
        merged: dict[str, Any] = dict(zip(SETTING, setting, strict=True))
        merged["seeds"], merged["train_seeds"] = (
            list(dict.fromkeys(row[name] for row in members if row[name] is not None)) for name in SEEDS
        )
        for name in (*MEASURES, *REGION):
            values = _values(members, name)
            merged[name] = float(np.mean(values)) if values else None
            merged[f"{name}_std"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
        shares = [row[BY_CATEGORY] for row in members if row[BY_CATEGORY]]
        known = _categories(members)
        merged[BY_CATEGORY] = {c: float(np.mean([rec[c] for rec in shares if c in rec])) for c in known} or None
        found.append(merged)
    return found


def _of_regions(found: Sequence[Row]) -> str:
    """A table of how well lost regions were healed, and what its last column means."""
    healed = [row for row in found if any(row[name] is not None for name in REGION)]
    if not healed:
        return ""
    lines = [["Lost regions", "Model", *REGION.values()], ["---", "---", *["---:"] * len(REGION)]]
    for row in healed:
        shares = [percent(row, name, "±") for name in ("ends_met", "region_chamfer")]
        rest = [DASH if row[name] is None else f"{row[name]:.3g}" for name in ("lines_outside", "diversity")]
        lines.append([damage(row), row["model"], *shares, *rest])
    meaning = "Diversity: distance between the samples of a region, over that between two drawings of the category.\n"
    return "\n" + grid(lines) + (meaning if any(row["diversity"] is not None for row in healed) else "")


def _values(members: Sequence[Row], name: str) -> list[float]:
    """A measure of each training, as the mean over its drawings; of a single training, of each seed of the drawings."""
    by_training: dict[Any, list[float]] = {}
    for row in members:
        if row[name] is not None:
            by_training.setdefault(row["train_seed"], []).append(row[name])
    if len(by_training) == 1:
        return next(iter(by_training.values()))
    return [float(np.mean(values)) for values in by_training.values()]


def to_csv(rows: Sequence[Row]) -> str:
    """A line a row and seed; shares from 0 to 1; categories joined by "; ", what is not known is empty.

    Rec of a category stands under "rec_" and its name, behind all else.
    """
    text = io.StringIO()
    region = REGION if any(row.get(name) is not None for row in rows for name in REGION) else ()
    names = (*COLUMNS, *region, *(f"rec_{c}" for c in _categories(rows)))
    writer = csv.DictWriter(text, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        shares = {f"rec_{category}": rec for category, rec in (row.get(BY_CATEGORY) or {}).items()}
        writer.writerow({**flat(row), "categories": "; ".join(row["categories"]), **shares})
    return text.getvalue()


def to_json(rows: Sequence[Row]) -> str:
    """{"rows": as they are, "summary": means and deviations}"""
    whole = {"rows": [dict(row) for row in rows], "summary": summary(rows)}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_markdown(rows: Sequence[Row]) -> str:
    """A line a setting, in per cent (Chamfer in hundredths of the longer side), and what the names of data mean.

    Lost regions that were healed have a table of their own; with a judge another one gives Rec a category, a column a
    setting.
    """
    found = summary(rows)
    head = ["Damage", "Model", "Data", "Sees", "Rec %", "Ceiling %", *(f"Ret@{k} %" for k in KS), "Chamfer x 100"]
    head += ["Sketches", "Gallery", "Queries", "Seeds"]
    lines = [head, ["---", "---", "---", "---", *["---:"] * 8, "---", "---"]]
    for row in found:
        about = [damage(row), row["model"], row["data"], sees(row), *(percent(row, name, "±") for name in MEASURES)]
        about += [_known(row[name]) for name in ("sketches", "gallery", "direction")]
        lines.append([*about, _numbers(row["seeds"])])
    text = grid(lines) + "\n" + "".join(f"{line}.\n" for line in _legend(found))
    text += _of_regions(found)
    judged = [row for row in found if row[BY_CATEGORY]]
    if not judged:
        return text
    lines = [["Rec %", *(f"{row['data']}, {row['model']}, {damage(row)}" for row in judged)]]
    lines.append(["---", *["---:"] * len(judged)])
    for category in _categories(judged):
        shares = [row[BY_CATEGORY].get(category) for row in judged]
        lines.append([category, *(DASH if share is None else f"{100 * share:.2f}" for share in shares)])
    return text + "\n" + grid(lines)


def beside_paper(rows: Sequence[Row], names: Mapping[str, str] | None = None) -> str:
    """Ours and the paper's figures side by side in Markdown, a table a mask. `names`: what the paper calls a model."""
    found = [row for row in summary(rows) if not row["square"] and not row["complete"]]  # the paper has none
    lines = []
    for mask in dict.fromkeys(row["mask"] for row in found):
        there = [row for row in found if row["mask"] == mask]
        data = there[0]["data"].removesuffix("-small")
        beside = data if data in SETS else HARDEST
        lines += [f"Masked: {_mask(mask)}; the paper's on {beside}, in a gallery of {TEST_SKETCHES:,} a category.", ""]
        head = ["Model", "Rec %", *(f"Ret@{k} %" for k in KS), "Chamfer x 100"]
        table = [[*head, "paper: Rec %", *(f"Ret@{k} %" for k in KS)], ["---", *["---:"] * 9]]
        for row in there:
            paper = paper_row((names or {}).get(row["model"], row["model"]), beside, mask)
            theirs = [None] * 4 if paper is None else [paper["rec"], *paper["ret"].values()]
            ours = [percent(row, name, "±") for name in MEASURES if name != "ceiling"]
            table.append([row["model"], *ours, *(DASH if share is None else f"{100 * share:.2f}" for share in theirs)])
        lines += [grid(table)]
    return "\n".join([*lines, *(f"{line}." for line in _legend(found))]) + "\n"


def to_latex(rows: Sequence[Row]) -> str:
    """The paper's Tables 1 and 2: a line a mask and model, data sets side by side, the best figure of each mask bold.

    Needs no package. What the paper's tables do not say (ceiling, gallery, …) stands in the caption.
    """
    found = summary(rows)
    data = list(dict.fromkeys(row["data"] for row in found))
    shown = [name for name in MEASURES if name != "ceiling"]
    cells = {(_in_latex(row), row["model"], row["data"]): row for row in found}
    if len(cells) < len(found):
        raise UserError("a model, data set and mask has several rows of one seed or other sizes: make a table of each")
    lines = ["\\begin{table*}[t]", "\\centering", "\\begin{tabular}{rl" + "crrrr" * len(data) + "}", "\\hline"]
    lines.append("Mask & Model" + "".join(f" & \\multicolumn{{5}}{{c}}{{{_tex(name)}}}" for name in data) + " \\\\")
    lines.append(f"\\cline{{3-{2 + 5 * len(data)}}}")
    lines.append(" & " + " & $Rec$ & \\multicolumn{3}{c}{$Ret$ (top-)} & Chamfer" * len(data) + " \\\\")
    lines.append(" & " + " & & 1 & 10 & 50 & $\\times 100$" * len(data) + " \\\\")
    for kind in dict.fromkeys(_in_latex(row) for row in found):
        lines.append("\\hline")
        models = list(dict.fromkeys(row["model"] for row in found if _in_latex(row) == kind))
        for number, model in enumerate(models):
            line = [_tex(kind) if number == 0 else "", _tex(model)]
            for name in data:
                row = cells.get((kind, model, name))
                rivals = [cells[key] for key in cells if key[0] == kind and key[2] == name]
                line += [_figure(row, measure, rivals) for measure in shown]
            lines.append(" & ".join(line) + " \\\\")
    about = " ".join(f"{_tex(line)}." for line in _legend(found))
    lines += ["\\hline", "\\end{tabular}"]
    lines.append(f"\\caption{{Sketch synthesis (mask 0\\,\\%) and healing performance (\\%). {about}}}")
    return "\n".join([*lines, "\\end{table*}"]) + "\n"


FORMATS = {".csv": to_csv, ".json": to_json, ".md": to_markdown, ".tex": to_latex}


def _categories(rows: Sequence[Row]) -> list[str]:
    """Those that some row has a Rec of, in order of appearance."""
    return list(dict.fromkeys(category for row in rows for category in row.get(BY_CATEGORY) or ()))


def grid(lines: Sequence[Sequence[Any]]) -> str:
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def percent(row: Row, name: str, plus_minus: str) -> str:
    value, deviation = row[name], row[f"{name}_std"]
    if value is None:
        return DASH
    return f"{100 * value:.2f}" + ("" if deviation is None else f" {plus_minus} {100 * deviation:.2f}")


def _figure(row: Row | None, name: str, rivals: Sequence[Row]) -> str:
    """A LaTeX cell; bold if it is the best of several, as printed."""
    if row is None or row[name] is None:
        return "--"
    text = percent(row, name, "$\\pm$")
    values = [round(100 * rival[name], 2) for rival in rivals if rival[name] is not None]
    best = min(values) if name == "chamfer" else max(values)
    return f"\\textbf{{{text}}}" if len(values) > 1 and round(100 * row[name], 2) == best else text


def _mask(mask: float) -> str:
    return f"{100 * mask:g} %"


def _in_latex(row: Row) -> str:
    return damage(row).removeprefix("mask ")


def damage(row: Row) -> str:
    """What was done to the sketches, in words."""
    if row.get("complete"):
        return f"first {100 * row['complete']:g} %"
    return f"square {row['square']:g}" if row["square"] else f"mask {_mask(row['mask'])}"


def sees(row: Row) -> str:
    """What a drawing sees, and what was done beside: `code`, `guided`, `code, repaired`, …"""
    words = {"repaired": "repaired", "ink_predicted": "ink predicted", "kept": "lines kept"}
    more = [word for name, word in words.items() if row[name]]
    return ", ".join([_known(row["sees"]), *more])


def _known(value: Any) -> str:
    return DASH if value is None else str(value)


def _numbers(seeds: Sequence[Any]) -> str:
    return ", ".join(map(str, seeds)) or DASH


def _legend(found: Sequence[Row]) -> list[str]:
    """What a name of data means, and on what its figures rest: names mean other lists in other papers."""
    lines = []
    for row in found:
        ceiling = "" if row["ceiling"] is None else f", ceiling of Rec {100 * row['ceiling']:.2f} %"
        trained = f", trained with seeds {_numbers(row['train_seeds'])}" if len(row["train_seeds"]) > 1 else ""
        lines.append(
            f"{row['data']} ({', '.join(row['categories'])}): {_known(row['sketches'])} sketches in a gallery of "
            f"{_known(row['gallery'])}{_way_of_drawing(row)}, the {_known(row['direction'])} sketch queries, "
            f"seeds {_numbers(row['seeds'])}{trained}{ceiling}"
        )
    return list(dict.fromkeys(lines))


def _way_of_drawing(row: Row) -> str:
    words = [] if row["sees"] is None else [WAYS.get(row["sees"], row["sees"])]
    if (row["best_of"] or 1) > 1:
        near = f" unless the first lies within {row['good_enough']:g} of the longer side" if row["good_enough"] else ""
        by = " by their own codes" if row["sees"] == "code" else ""
        words.append(f"the best of {row['best_of']} drawings each{by}{near}")
    if (row["candidates"] or 1) > 1:
        words.append(f"the best of {row['candidates']} pen moves at every step")
    words += ["codes repaired"] if row["repaired"] else []
    words += ["lost ink predicted"] if row["ink_predicted"] else []
    words += ["visible lines kept, only the lost region is drawn"] if row["kept"] else []
    return "".join(f", {word}" for word in words)


_SPECIAL = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", DASH: "--"}
_SPECIAL.update({character: f"\\{character}" for character in "&%$#_{}"})


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
