"""The frame that a begun drawing will most likely fill, by frame prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from gra2seq.data.batches import Preparation
from gra2seq.data.views import ExtentView, Seen
from gra2seq.models.codes import encode_damages
from gra2seq.models.sketch_model import SketchModel
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Box


def with_likely_frames(
    network: SketchModel, preparation: Preparation, damages: Sequence[Damage], repair: bool
) -> list[Damage]:
    """The damages; those of begun drawings have the frame that the finished drawing most likely fills.

    All are left as they are if the network has not learnt it.
    """
    every = list(damages)
    numbers = [number for number, damage in enumerate(every) if is_begun(damage)]
    if network.frame is None or not numbers:
        return every
    begun = [every[number] for number in numbers]
    device = next(network.parameters()).device
    codes = torch.from_numpy(encode_damages(network, preparation, begun, repair)).to(device)
    extent = ExtentView()(Seen([preparation.simplified(one) for one in begun])).to(device)
    with torch.inference_mode():
        growth = network.frame.growth(codes, extent).double().cpu()
    for number, damage, own in zip(numbers, begun, growth, strict=True):
        every[number] = replace(damage, frame=_grown(damage, (own * damage.side).tolist()))
    return every


def _grown(damage: Damage, growth: Sequence[float]) -> Box:
    """The frame, grown at its left, top, right and bottom, but not beyond the page."""
    x, y, width, height = damage.frame
    if damage.page is not None:
        page_x, page_y, page_width, page_height = damage.page
        room = (x - page_x, y - page_y, page_x + page_width - x - width, page_y + page_height - y - height)
        growth = [min(each, max(free, 0.0)) for each, free in zip(growth, room, strict=True)]
    left, top, right, bottom = growth
    return x - left, y - top, width + left + right, height + top + bottom


def is_begun(damage: Damage) -> bool:
    """Whether nothing is known of what is missing: no lost region, and no frame but the box of the visible strokes."""
    box = damage.visible.box
    return not damage.lost and not damage.framed and damage.frame == box and max(box[2:]) > 0
