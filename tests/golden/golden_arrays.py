"""Arrays of what the model in the package computes: scripts/record_golden.py records, test_golden.py compares."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gra2seq.config import DrawingConfig
from gra2seq.data.doodles import doodles
from gra2seq.drawing.sampler import first_row, sample_noise
from gra2seq.folder import PACKAGE_FOLDER
from gra2seq.model import Model
from gra2seq.nn.temperature import Temperature
from gra2seq.sketch.strokes import BOX, DOWN, Sketch
from stroke5 import to_stroke5

RECORDED = Path(__file__).with_name("package_model.npz")
ENCODED, DRAWN = 200, 50  # doodles
SEED = 25
HOLE = (0.35, 0.35, 0.3, 0.3)  # x, y, width, height as shares of a drawing's box
DRAWING = DrawingConfig(temperature=0.24, min_pen_temperature=0.75, seed=SEED)


def golden_sketches() -> list[Sketch]:
    return list(doodles(ENCODED, seed=SEED))


def weights_digest() -> str:
    """Which weights the arrays belong to."""
    return sha256((PACKAGE_FOLDER / "model.safetensors").read_bytes()).hexdigest()


def codes_of(model: Model) -> dict[str, np.ndarray[Any, Any]]:
    """Codes of undamaged doodles, and repaired codes of some with a hole in the middle."""
    sketches = golden_sketches()
    damaged = sketches[:DRAWN]
    return {
        "codes": model.encode(sketches),
        "damaged_codes": model.encode(damaged, holes=[[_hole(sketch)] for sketch in damaged]),
    }


def _hole(sketch: Sketch) -> tuple[float, float, float, float]:
    left, top, width, height = sketch.box
    x, y, share_x, share_y = HOLE
    return left + x * width, top + y * height, share_x * width, share_y * height


def drawings_of(model: Model, codes: np.ndarray[Any, Any]) -> list[Sketch]:
    """Drawings sampled freely from codes: each pen move is the input of the next."""
    return model.draw(codes[:DRAWN], drawing=DRAWING)


def drawing_arrays(drawings: list[Sketch]) -> dict[str, np.ndarray[Any, Any]]:
    """Points of all drawings, points of each stroke, and strokes of each drawing."""
    return {
        "points": np.concatenate([one.points for one in drawings]),
        "stroke_lengths": np.concatenate([one.lengths for one in drawings]),
        "strokes": np.array([len(one.lengths) for one in drawings]),
    }


def recorded_drawings(arrays: Any) -> list[Sketch]:
    """The inverse of `drawing_arrays`."""
    lengths = np.split(arrays["stroke_lengths"], np.cumsum(arrays["strokes"])[:-1])
    points = np.split(arrays["points"], np.cumsum([own.sum() for own in lengths])[:-1])
    return [Sketch(own, counts) for own, counts in zip(points, lengths, strict=True)]


@torch.inference_mode()
def next_rows(model: Model, codes: np.ndarray[Any, Any], drawings: list[Sketch]) -> tuple[torch.Tensor, torch.Tensor]:
    """The stroke-5 rows (B, T, 5) of drawings, and the row that the model draws after the rows before each one."""
    most = model.config.preparation.max_points
    rows = torch.from_numpy(np.stack([to_stroke5(one, most + 1) for one in drawings])).float()
    rows[..., :DOWN] /= model.preparation.scale
    linear = DRAWING.sigma_temperature == "linear"
    temperature = Temperature(DRAWING.temperature, DRAWING.min_pen_temperature, linear)
    places = torch.arange(len(drawings))
    noise = sample_noise(DRAWING.seed, places.numpy(), np.zeros(len(drawings), np.int64), most, 1)(places)
    state, row, drawn = model.network.decoder.first_state(torch.from_numpy(codes)), first_row(len(drawings), rows), []
    for step in range(max(map(len, drawings))):
        move, state = model.network.decoder.step(row, state)
        drawn.append(move.sample(temperature, noise=noise[:, step, 0]))
        row = rows[:, step]
    return rows[:, : len(drawn)], torch.stack(drawn, dim=1)


def normalised(sketch: Sketch) -> np.ndarray[Any, Any]:
    """Points in longer sides of a drawing, the unit of the tolerance."""
    return sketch.points / np.float32(BOX)
