"""Rows of an evaluation as CSV, JSON, Markdown and LaTeX, in the form of the paper's tables; and the paper's figures.

A row is a dict with "model", "data", "categories", "mask", "seed", "sketches", "gallery", "direction", "rec",
"ceiling", "ret" ({"1", "10", "50"}) and "chamfer". Shares lie between 0 and 1; None where there was no judge.
"hole" (instead of a mask), "tries", "well", "steer", "keep" may be there too, and "rec_by_category" ({category:
share}), which only JSON, CSV and Markdown show.
CSV and JSON keep rows and shares, for programs; Markdown and LaTeX give per cent, mean and deviation over the seeds.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gra2seq.data.datasets import NAMED
from gra2seq.errors import UserError

Row = Mapping[str, Any]

KS = ("1", "10", "50")
# all but the seed
SETTING = ("model", "data", "categories", "mask", "hole", "sketches", "gallery", "direction",
           "tries", "well", "steer", "keep")  # fmt: skip
# side of a square that was rubbed out; drawings of each code; how near a first one must lie to be kept; moves a step of
# a pen that sees what is left; whether lines that are left stay
OPTIONAL = ("hole", "tries", "well", "steer", "keep")
COLUMNS = (*SETTING[:5], "seed", *SETTING[5:], "rec", "ceiling", "ret", "chamfer")
BY_CATEGORY = "rec_by_category"
DASH = "–"
TEST_SKETCHES = 2500  # a category, in the paper's data sets
BESIDE = "DS3"  # the paper's hardest set: its figures stand beside data that the paper does not have


def flat(row: Row) -> dict[str, Any]:
    """One column a number: "ret" becomes "ret_1", "ret_10", "ret_50"."""
    missing = [name for name in COLUMNS if name not in row and name not in OPTIONAL]
    if missing:
        raise UserError(f"a row of an evaluation lacks {', '.join(missing)}")
    columns: dict[str, Any] = {name: row.get(name) for name in COLUMNS if name != "ret"}
    columns["hole"] = row.get("hole") or 0.0
    columns["categories"] = tuple(row["categories"])
    chamfer = columns.pop("chamfer")
    return {**columns, **{f"ret_{k}": row["ret"].get(k) for k in KS}, "chamfer": chamfer}


MEASURES = ("rec", "ceiling", *(f"ret_{k}" for k in KS), "chamfer")


def summary(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A row a setting, in order of appearance: "seeds" [..], and each measure's mean under its name, its standard
    deviation over the seeds (of the sample, n - 1) under "…_std": None with a single seed. "rec_by_category" holds
    the mean of each category, or None."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        columns = {**flat(row), BY_CATEGORY: row.get(BY_CATEGORY) or {}}
        groups.setdefault(tuple(columns[name] for name in SETTING), []).append(columns)
    found = []
    for setting, members in groups.items():
        merged: dict[str, Any] = dict(zip(SETTING, setting, strict=True))
        merged["seeds"] = [row["seed"] for row in members]
        for name in MEASURES:
            values = [row[name] for row in members if row[name] is not None]
            merged[name] = float(np.mean(values)) if values else None
            merged[f"{name}_std"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
        told = [row[BY_CATEGORY] for row in members if row[BY_CATEGORY]]
        known = _categories(members)
        merged[BY_CATEGORY] = {c: float(np.mean([rec[c] for rec in told if c in rec])) for c in known} or None
        found.append(merged)
    return found


def to_csv(rows: Sequence[Row]) -> str:
    """A line a row and seed; shares from 0 to 1; categories joined by "; ", what is not known is empty.

    Rec of a category stands under "rec_" and its name, behind all else.
    """
    text = io.StringIO()
    names = (*(name for name in COLUMNS if name not in ("rec", "ceiling", "ret", "chamfer")), *MEASURES)
    writer = csv.DictWriter(text, (*names, *(f"rec_{c}" for c in _categories(rows))), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        told = {f"rec_{category}": rec for category, rec in (row.get(BY_CATEGORY) or {}).items()}
        writer.writerow({**flat(row), "categories": "; ".join(row["categories"]), **told})
    return text.getvalue()


def to_json(rows: Sequence[Row]) -> str:
    """{"rows": as they are, "summary": means and deviations}"""
    whole = {"rows": [dict(row) for row in rows], "summary": summary(rows)}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_markdown(rows: Sequence[Row]) -> str:
    """A line a setting, in per cent (Chamfer in hundredths of the longer side), and what the names of data mean.

    With a judge a second table gives Rec a category, a column a setting.
    """
    found = summary(rows)
    head = ["Mask", "Model", "Data", "Rec %", "Ceiling %", *(f"Ret@{k} %" for k in KS), "Chamfer x 100"]
    head += ["Sketches", "Gallery", "Queries", "Seeds"]
    lines = [head, ["---:", "---", "---", *["---:"] * 8, "---", "---"]]
    for row in found:
        about = [_harm(row), row["model"], row["data"], *(_percent(row, name, "±") for name in MEASURES)]
        about += [_known(row[name]) for name in ("sketches", "gallery", "direction")]
        lines.append([*about, _seeds(row["seeds"])])
    text = _grid(lines) + "\n" + "".join(f"{line}.\n" for line in _legend(found))
    told = [row for row in found if row[BY_CATEGORY]]
    if not told:
        return text
    lines = [["Rec %", *(f"{row['data']}, {row['model']}, {_harm(row, 'mask ')}" for row in told)]]
    lines.append(["---", *["---:"] * len(told)])
    for category in _categories(told):
        shares = [row[BY_CATEGORY].get(category) for row in told]
        lines.append([category, *(DASH if share is None else f"{100 * share:.2f}" for share in shares)])
    return text + "\n" + _grid(lines)


def beside_paper(rows: Sequence[Row], names: Mapping[str, str] | None = None) -> str:
    """Ours and the paper's figures side by side in Markdown, a table a mask. `names`: what the paper calls a model."""
    found = [row for row in summary(rows) if not row["hole"]]  # the paper has none
    lines = []
    for mask in dict.fromkeys(row["mask"] for row in found):
        there = [row for row in found if row["mask"] == mask]
        data = there[0]["data"].removesuffix("-small")
        beside = data if data in ("DS1", "DS2", "DS3") else BESIDE
        lines += [f"Masked: {_mask(mask)}; the paper's on {beside}, in a gallery of {TEST_SKETCHES:,} a category.", ""]
        head = ["Model", "Rec %", *(f"Ret@{k} %" for k in KS), "Chamfer x 100"]
        table = [[*head, "paper: Rec %", *(f"Ret@{k} %" for k in KS)], ["---", *["---:"] * 9]]
        for row in there:
            paper = paper_row((names or {}).get(row["model"], row["model"]), beside, mask)
            theirs = [None] * 4 if paper is None else [paper["rec"], *paper["ret"].values()]
            ours = [_percent(row, name, "±") for name in MEASURES if name != "ceiling"]
            table.append([row["model"], *ours, *(DASH if share is None else f"{100 * share:.2f}" for share in theirs)])
        lines += [_grid(table)]
    return "\n".join([*lines, *(f"{line}." for line in _legend(found))]) + "\n"


def to_latex(rows: Sequence[Row]) -> str:
    """The paper's Tables 1 and 2: a line a mask and model, data sets side by side, the best figure of each mask bold.

    Needs no package. What the paper's tables do not say (ceiling, gallery, …) stands in the caption.
    """
    found = summary(rows)
    data = list(dict.fromkeys(row["data"] for row in found))
    shown = [name for name in MEASURES if name != "ceiling"]
    cells = {(_harm(row), row["model"], row["data"]): row for row in found}
    if len(cells) < len(found):
        raise UserError("a model, data set and mask has several rows of one seed or other sizes: make a table of each")
    lines = ["\\begin{table*}[t]", "\\centering", "\\begin{tabular}{rl" + "crrrr" * len(data) + "}", "\\hline"]
    lines.append("Mask & Model" + "".join(f" & \\multicolumn{{5}}{{c}}{{{_tex(name)}}}" for name in data) + " \\\\")
    lines.append(f"\\cline{{3-{2 + 5 * len(data)}}}")
    lines.append(" & " + " & $Rec$ & \\multicolumn{3}{c}{$Ret$ (top-)} & Chamfer" * len(data) + " \\\\")
    lines.append(" & " + " & & 1 & 10 & 50 & $\\times 100$" * len(data) + " \\\\")
    for harm in dict.fromkeys(_harm(row) for row in found):
        lines.append("\\hline")
        models = list(dict.fromkeys(row["model"] for row in found if _harm(row) == harm))
        for number, model in enumerate(models):
            line = [_tex(harm) if number == 0 else "", _tex(model)]
            for name in data:
                row = cells.get((harm, model, name))
                rivals = [cells[key] for key in cells if key[0] == harm and key[2] == name]
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


def _grid(lines: Sequence[Sequence[Any]]) -> str:
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _percent(row: Row, name: str, plus_minus: str) -> str:
    value, deviation = row[name], row[f"{name}_std"]
    if value is None:
        return DASH
    return f"{100 * value:.2f}" + ("" if deviation is None else f" {plus_minus} {100 * deviation:.2f}")


def _figure(row: Row | None, name: str, rivals: Sequence[Row]) -> str:
    """A LaTeX cell; bold if it is the best of several, as printed."""
    if row is None or row[name] is None:
        return "--"
    text = _percent(row, name, "$\\pm$")
    values = [round(100 * rival[name], 2) for rival in rivals if rival[name] is not None]
    best = min(values) if name == "chamfer" else max(values)
    return f"\\textbf{{{text}}}" if len(values) > 1 and round(100 * row[name], 2) == best else text


def _mask(mask: float) -> str:
    return f"{100 * mask:g} %"


def _harm(row: Row, word: str = "") -> str:
    return f"hole {row['hole']:g}" if row["hole"] else word + _mask(row["mask"])


def _known(value: Any) -> str:
    return DASH if value is None else str(value)


def _seeds(seeds: Sequence[Any]) -> str:
    return ", ".join(str(seed) for seed in seeds if seed is not None) or DASH


def _legend(found: Sequence[Row]) -> list[str]:
    """What a name of data means, and on what its figures rest: names mean other lists in other papers."""
    lines = []
    for row in found:
        size = f"{_known(row['sketches'])} sketches in a gallery of {_known(row['gallery'])}"
        if (row["tries"] or 1) > 1:
            size += f", the best of {row['tries']} drawings each"
            size += f" unless the first lies within {row['well']:g} of the longer side" if row["well"] else ""
        if (row["steer"] or 1) > 1:
            size += f", the pen sees what is left and makes the best of {row['steer']} moves at every step"
        if row["keep"]:
            size += ", only what was lost is drawn"
        ceiling = "" if row["ceiling"] is None else f", ceiling of Rec {100 * row['ceiling']:.2f} %"
        lines.append(
            f"{row['data']} ({', '.join(row['categories'])}): {size}, the {_known(row['direction'])} sketch "
            f"queries, seeds {_seeds(row['seeds'])}{ceiling}"
        )
    return list(dict.fromkeys(lines))


_SPECIAL = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", DASH: "--"}
_SPECIAL.update({character: f"\\{character}" for character in "&%$#_{}"})


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


# The paper's own figures, in per cent: Rec, Ret top-1, 10, 50 on DS1, then DS2, then DS3.
RANDOM_LINKS, NO_CLUSTERS = "SP-gra2seq, random links", "SP-gra2seq, no clustering"
PAPER: dict[tuple[float, str], tuple[float, ...]] = {
    # Table 1
    (0.0, "sketch-rnn"): (50.33, 0.38, 2.84, 9.33, 46.28, 10.93, 23.73, 48.38, 57.64, 3.72, 13.42, 26.14),
    (0.0, "sketch-pix2seq"): (83.99, 13.45, 30.12, 49.99, 85.46, 50.94, 71.38, 80.15, 79.13, 22.92, 47.55, 58.19),
    (0.0, "Song et al."): (91.77, 16.41, 36.43, 52.22, 86.98, 58.84, 76.84, 80.06, 83.28, 25.47, 43.39, 56.16),
    (0.0, "RPCL-pix2seq"): (93.18, 17.86, 38.87, 55.30, 88.73, 53.19, 71.60, 87.91, 81.80, 28.80, 59.05, 77.52),
    (0.0, "SketchHealer"): (91.04, 58.80, 82.15, 91.33, 94.04, 87.54, 96.19, 98.26, 87.03, 68.52, 82.37, 86.57),
    (0.0, "SketchHealer 2.0"): (93.13, 57.19, 84.54, 90.26, 90.94, 87.37, 94.59, 97.60, 87.37, 50.67, 76.11, 82.42),
    (0.0, "SketchLattice"): (75.91, 6.55, 14.01, 26.72, 71.80, 6.91, 14.76, 28.82, 62.21, 5.90, 10.36, 19.39),
    (0.0, "SketchLattice+"): (95.18, 72.74, 91.60, 97.14, 94.30, 90.56, 97.78, 99.27, 89.49, 87.27, 96.82, 98.98),
    (0.0, "SP-gra2seq"): (95.91, 94.88, 99.11, 99.72, 94.85, 90.83, 98.29, 99.08, 89.83, 94.05, 98.72, 99.57),
    # Table 2
    (0.1, "SketchHealer"): (70.38, 14.25, 27.91, 45.51, 70.56, 35.22, 55.86, 66.24, 60.91, 15.10, 37.89, 53.10),
    (0.1, "SketchHealer 2.0"): (90.18, 19.45, 41.51, 59.94, 87.07, 39.40, 64.01, 81.20, 76.45, 15.55, 39.99, 61.67),
    (0.1, "SketchLattice"): (54.18, 1.09, 5.48, 14.00, 52.97, 1.34, 6.86, 17.41, 44.14, 0.71, 4.19, 11.36),
    (0.1, "SketchLattice+"): (89.98, 19.86, 43.59, 63.70, 90.52, 46.98, 70.21, 83.12, 78.28, 22.56, 44.89, 62.11),
    (0.1, "SP-gra2seq"): (92.90, 41.24, 65.74, 80.16, 91.24, 50.42, 73.35, 85.18, 83.38, 40.20, 63.40, 77.52),
    (0.3, "SketchHealer"): (59.00, 0.23, 3.48, 10.76, 61.26, 7.98, 19.04, 35.03, 48.90, 0.43, 7.36, 15.79),
    (0.3, "SketchHealer 2.0"): (79.05, 4.66, 14.54, 28.44, 75.08, 10.05, 24.51, 39.57, 60.74, 3.75, 11.66, 22.36),
    (0.3, "SketchLattice"): (32.03, 0.08, 2.05, 5.96, 31.73, 0.88, 3.64, 9.25, 23.06, 0.41, 2.41, 5.96),
    (0.3, "SketchLattice+"): (70.91, 1.02, 5.26, 14.28, 81.76, 10.43, 26.44, 42.90, 67.31, 2.75, 11.13, 23.68),
    (0.3, "SP-gra2seq"): (84.85, 12.87, 29.39, 45.58, 82.85, 12.19, 29.37, 46.53, 71.07, 5.65, 17.40, 32.90),
    # Table 3
    (0.0, RANDOM_LINKS): (95.50, 66.79, 87.81, 95.01, 90.23, 31.56, 61.80, 80.22, 86.90, 56.88, 80.57, 90.64),
    (0.1, RANDOM_LINKS): (91.57, 38.91, 64.67, 79.52, 87.35, 18.53, 42.98, 63.13, 82.63, 32.22, 56.32, 72.01),
    (0.3, RANDOM_LINKS): (84.67, 11.34, 27.75, 44.38, 76.93, 6.42, 19.04, 35.05, 69.65, 8.92, 22.33, 36.92),
    # Table 4
    (0.0, NO_CLUSTERS): (94.51, 80.90, 95.09, 98.19, 85.84, 41.00, 71.80, 87.31, 83.93, 57.50, 83.52, 93.45),
    (0.1, NO_CLUSTERS): (92.55, 40.69, 65.64, 79.69, 90.08, 41.08, 66.21, 80.72, 83.84, 39.03, 62.23, 76.74),
    (0.3, NO_CLUSTERS): (82.18, 10.93, 26.52, 42.02, 77.20, 10.80, 25.61, 45.56, 70.35, 4.72, 15.05, 29.47),
}


def paper_row(model: str, dataset: str, mask: float) -> dict[str, Any] | None:
    """The paper's figures as a row, or None where it has none. `model` as in `PAPER`, or the name of a system here.

    The ablations are `RANDOM_LINKS` (Table 3) and `NO_CLUSTERS` (Table 4); sp-gra2seq is the other line of both.
    """
    names = {_plain(name): name for _, name in PAPER}
    names.update({_plain(other): names[_plain(name)] for other, name in _ALSO.items()})
    name = names.get(_plain(model), "")
    figures = PAPER.get((round(float(mask), 6), name))
    if figures is None or dataset not in ("DS1", "DS2", "DS3"):
        return None
    number = int(dataset[2]) - 1
    rec, *ret = (round(figure / 100, 6) for figure in figures[4 * number : 4 * number + 4])
    categories = NAMED[dataset].categories or ()
    sketches = TEST_SKETCHES * len(categories)
    return {
        "model": name,
        "data": dataset,
        "categories": list(categories),
        "mask": float(mask),
        "seed": None,
        "sketches": sketches,
        "gallery": sketches,
        "direction": "redrawn",
        "rec": rec,
        "ceiling": None,
        "ret": dict(zip(KS, ret, strict=True)),
        "chamfer": None,
    }


_ALSO = {"song": "Song et al.", "sketch-healer-2": "SketchHealer 2.0", "sketch-lattice-plus": "SketchLattice+"}


def _plain(name: str) -> str:
    """sketch-healer and SketchHealer are one name."""
    return re.sub(r"[^a-z0-9+]", "", name.lower())
