"""Icons of four public sets, each with a hole, healed in two ways and rated blind.

    python benchmarks/icons.py sheet --seed 1 --out docs/images/icons-1        # icons-1-a.png, icons-1-b.png
    python benchmarks/icons.py tally benchmarks/icons-1.json                   # prints good / acceptable / bad as JSON

`sheet` fetches the sets by npm (into --cache; nothing of them is committed), takes ten icons of each that are named
like a category of the model, loses a square of a third of the longer side of each, and heals it: `infill` is what
`gra2seq heal` does; `redrawn` draws the whole icon anew and pastes the part in the hole. The seed chooses icons, holes,
and which of the two is A and which B. On the sheets: what is visible, A, B; the lost square is tinted, new lines are
red. A person rates each as good (would keep it), acceptable (would mend it by hand) or bad, and writes
{"seed": 1, "rated_by": "…", "ratings": {"01A": "good", …}}. Only `tally` tells A and B apart, from the seed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

import gra2seq
from gra2seq.config import DrawingConfig
from gra2seq.formats.svg.document import SvgDocument
from gra2seq.healing.documents import HealRequest, heal_document
from gra2seq.model import Model
from gra2seq.sketch.damage import square_hole
from gra2seq.sketch.region import Region, pieces
from gra2seq.sketch.render import write_png
from gra2seq.sketch.strokes import Sketch

SETS = {  # package and version: where its icons are; all are drawn with strokes
    "lucide-static@1.62.0": "package/icons/",
    "@tabler/icons@3.51.0": "package/icons/outline/",
    "feather-icons@4.29.2": "package/dist/icons/",
    "iconoir@7.12.1": "package/icons/regular/",
}
EACH = 10  # icons of a set
SIDE = 1 / 3  # of the hole, of the longer side
LOST = (0.08, 0.5)  # share of the lines that a hole may hide
WAYS = ("infill", "redrawn")
SAMPLES = 24  # of `gra2seq heal`
RATINGS = ("good", "acceptable", "bad")
CELL, GAP = 150, 10  # px
COLUMNS, ROWS = 4, 5  # icons of a sheet
INK, NEW, TINT = (0, 0, 0), (60, 20, 220), (225, 225, 250)  # blue, green, red


@dataclass(frozen=True)
class Icon:
    """An icon and the lost square."""

    name: str
    document: SvgDocument
    lost: Region


def fetched(package: str, cache: Path) -> Path:
    """The package's file from the npm registry, in the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    stem = package.rsplit("@", 1)[0].strip("@").replace("/", "-")
    target = cache / f"{stem}-{package.rsplit('@', 1)[1]}.tgz"
    if not target.exists():
        subprocess.run(
            ["npm", "pack", package, "--silent"], cwd=cache, check=True, stdout=subprocess.DEVNULL, timeout=300
        )
    return target


def svgs(archive: Path, folder: str) -> dict[str, bytes]:
    """The SVG files of a folder of an npm package, by name."""
    with tarfile.open(archive) as files:
        members = [m for m in files.getmembers() if m.name.startswith(folder) and m.name.endswith(".svg")]
        return {
            Path(member.name).stem: file.read()
            for member in members
            if member.name.count("/") == folder.count("/") and (file := files.extractfile(member))
        }


def chosen_icons(categories: Sequence[str], seed: int, cache: Path) -> list[Icon]:
    """EACH icons of every set with a hole, in random order; no name is taken twice."""
    rng = np.random.default_rng((seed, 0))
    wanted = {category.lower().replace(" ", "-") for category in categories}
    icons: list[Icon] = []
    for package, folder in SETS.items():
        found = svgs(fetched(package, cache), folder)
        names = sorted(wanted & found.keys())
        fresh = [str(name) for name in rng.permutation(names) if name not in {icon.name for icon in icons}]
        holed = (icon for name in fresh if (icon := with_hole(name, found[name], rng)))
        icons += [icon for icon, _ in zip(holed, range(EACH), strict=False)]
    return [icons[number] for number in rng.permutation(len(icons))]


def with_hole(name: str, text: bytes, rng: np.random.Generator) -> Icon | None:
    """A random square that hides a share of the lines within LOST; None if none of 100 does."""
    document = SvgDocument.read(text)
    sketch = document.sketch
    whole = _length(sketch.strokes)
    for _ in range(100):
        lost = Region.of_boxes([square_hole(sketch, rng.random(2).tolist(), (SIDE, SIDE))])
        hidden = _length([piece.points for piece in pieces(sketch, lost, within=True)])
        if LOST[0] <= hidden / whole <= LOST[1]:
            return Icon(name, document, lost)
    return None


def _length(lines: Sequence[np.ndarray]) -> float:
    return float(sum(np.hypot(*np.diff(line, axis=0).T).sum() for line in lines))


def healed(model: Model, icon: Icon, way: str) -> tuple[Sketch, Sketch | None]:
    """What is visible, and the new lines, as read from the healed SVG."""
    options = {"keep_lines": True, "infill": SAMPLES if way == "infill" else 0}
    drawing: DrawingConfig = model.changed_drawing(None, options)
    cut = icon.document.cut(list(icon.lost.rings)).sketch
    (result,) = heal_document(model, icon.document, HealRequest(icon.lost, drawing=drawing))
    new = result.sketch.strokes[len(cut.lengths) :]
    return cut, Sketch.from_polylines(new) if new else None


def shuffled(count: int, seed: int) -> list[tuple[str, str]]:
    """Of each icon: which way is A and which is B."""
    swaps = np.random.default_rng((seed, 1)).random(count) < 0.5
    return [(WAYS[1], WAYS[0]) if swap else WAYS for swap in swaps]


def picture(icon: Icon, lines: Sequence[tuple[Sketch | None, tuple[int, int, int]]], label: str) -> np.ndarray:
    """A cell: the tinted square and coloured lines, at the scale of the whole icon."""
    left, top, width, height = icon.document.page
    scale, middle = CELL * 0.86 / max(width, height), np.array([left + width / 2, top + height / 2])
    fine = np.full((CELL * 4, CELL * 4, 3), 255, np.uint8)
    tinted = np.zeros(fine.shape[:2], np.uint8)
    icon.lost.moved(middle, scale * 4, CELL * 2).paint(tinted, 1)
    fine[tinted > 0] = TINT
    for sketch, colour in lines:
        for stroke in sketch.strokes if sketch else ():
            places = np.rint(((stroke - middle) * scale * 4 + CELL * 2) * 16).astype(np.int32)
            cv2.polylines(fine, [np.repeat(places, 2, axis=0)], False, colour, 14, cv2.LINE_AA, 4)
    small = cv2.resize(fine, (CELL, CELL), interpolation=cv2.INTER_AREA)
    cv2.putText(small, label, (3, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (120, 120, 120), 1, cv2.LINE_AA)
    return small


def blocks(model: Model, icons: Sequence[Icon], seed: int) -> Iterator[np.ndarray]:
    """Of each icon what is visible, A and B, side by side."""
    for number, (icon, ways) in enumerate(zip(icons, shuffled(len(icons), seed), strict=True), 1):
        cells = []
        for letter, way in zip("AB", ways, strict=True):
            cut, new = healed(model, icon, way)
            cells.append(picture(icon, [(cut, INK), (new, NEW)], f"{number:02d}{letter}"))
        yield np.concatenate([picture(icon, [(cut, INK)], icon.name), *cells], axis=1)


def sheets(every: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Blocks in columns and rows, as many sheets as it takes."""
    padded = [cv2.copyMakeBorder(one, GAP, GAP, GAP, GAP, cv2.BORDER_CONSTANT, value=(235, 235, 235)) for one in every]
    padded += [np.full_like(padded[0], 235)] * (-len(padded) % (COLUMNS * ROWS))
    rows = [np.concatenate(padded[at : at + COLUMNS], axis=1) for at in range(0, len(padded), COLUMNS)]
    return [np.concatenate(rows[at : at + ROWS]) for at in range(0, len(rows), ROWS)]


def tally(path: Path) -> dict[str, dict[str, int]]:
    """How often each way was rated good, acceptable and bad."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    ratings: dict[str, str] = stored["ratings"]
    counts = {way: Counter[str]() for way in WAYS}
    for number, ways in enumerate(shuffled(len(ratings) // 2, stored["seed"]), 1):
        for letter, way in zip("AB", ways, strict=True):
            counts[way][ratings[f"{number:02d}{letter}"]] += 1
    return {way: {rating: count[rating] for rating in RATINGS} for way, count in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sheet = commands.add_parser("sheet")
    sheet.add_argument("--seed", type=int, default=1)
    sheet.add_argument("--out", type=Path, required=True)
    sheet.add_argument("--cache", type=Path, default=Path("out/icons"))
    commands.add_parser("tally").add_argument("ratings", type=Path)
    words = parser.parse_args()
    if words.command == "tally":
        print(json.dumps(tally(words.ratings)))
        return
    model = gra2seq.load()
    icons = chosen_icons(model.categories, words.seed, words.cache)
    for letter, page in zip("abcdefgh", sheets(list(blocks(model, icons, words.seed))), strict=False):
        write_png(words.out.with_name(f"{words.out.name}-{letter}.png"), page)


if __name__ == "__main__":
    main()
