"""The moving picture of the README: drawings lose a region, and the model in the package draws what is missing.

python examples/animation.py [--out docs/images/healing.svg]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gra2seq
from gra2seq.formats.svg.animation import AnimationStyle, animate
from gra2seq.sketch.damage import Damage, lose
from gra2seq.sketch.pace import timeline
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Doubles, Sketch
from gra2seq.system.atomic_files import atomic_write

DRAWINGS = Path(__file__).parent / "drawings"
HOLES = {  # file: lost region x, y, width, height, in the units of the file
    "cat": (185.0, 30.0, 70.0, 75.0),
    "flower": (195.0, 62.0, 45.0, 66.0),
    "sailboat": (180.0, 60.0, 60.0, 90.0),
}
SAMPLES = 48  # of each lost region, of which the best is shown


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("docs/images/healing.svg"))
    out: Path = arguments.parse_args().out

    model = gra2seq.load()
    damages = [lose(gra2seq.read(DRAWINGS / f"{name}.svg")[0], Region.of_boxes([hole])) for name, hole in HOLES.items()]
    drawing = model.changed_drawing(None, {"infill": SAMPLES, "seed": 0})
    added = [
        new_strokes(damage, results[0].lines)
        for damage, results in zip(damages, model.infills(damages, 1, drawing), strict=True)
    ]
    text = animate(
        added,
        [timeline(sketch) for sketch in added],
        visible=[damage.visible for damage in damages],
        title="Three drawings, each with a region lost, and the lines that the model draws there",
        style=AnimationStyle(columns=len(added)),
    )
    with atomic_write(out) as temporary:
        temporary.write_text(text, encoding="utf-8")


def new_strokes(damage: Damage, lines: tuple[Doubles, ...]) -> Sketch:
    """The lines of an infill, in the units of the drawing."""
    return Sketch.from_polylines([damage.denormalised(line) for line in lines])


if __name__ == "__main__":
    main()
