"""What is known of each system without building it: its authors, what it sees, and its own sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gra2seq.errors import UserError

CLASSIFIER = "sketch-a-net"  # the judge behind Rec; every other system draws


@dataclass(frozen=True)
class System:
    """A system of the tables. `defaults` are options, by section, in which it differs from the paper's."""

    authors: str
    sees: tuple[str, ...]  # names of views: patches, lattice patches, lattice points, picture, strokes
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


# 128 x 128 patches of a 512 canvas, pen of 12 pixels, one convolution less
_HEALER_CANVAS = {"side": 512, "pen": 12}
_HEALER_CHANNELS = (8, 32, 64, 128, 256, 512)
_HEALER: dict[str, dict[str, Any]] = {
    "preparation": _HEALER_CANVAS,
    "model": {"channels": _HEALER_CHANNELS, "links": "drawing-order", "normalise": "none"},
}
SYSTEMS: dict[str, System] = {
    "sketch-rnn": System("Ha and Eck, ICLR 2018", ("strokes",)),
    "sketch-pix2seq": System("Chen et al., 2017", ("picture",)),
    "song": System("Song et al., CVPR 2018", ("picture", "strokes")),
    "rpcl-pix2seq": System("Zang et al., 2021", ("picture",), {"model": {"clusters": 0}}),
    "sketch-healer": System("Su et al., BMVC 2020", ("patches",), _HEALER),
    "sketch-healer-2": System("Qi et al., 2022", ("patches",), _HEALER),
    "sketch-lattice": System("Qi et al., ICCV 2021", ("lattice points",), {"model": {"links": "within-reach"}}),
    "sketch-lattice+": System(
        "Zang et al., AAAI 2023",
        ("lattice patches",),
        {
            "preparation": _HEALER_CANVAS,
            "model": {"channels": _HEALER_CHANNELS, "links": "within-reach", "normalise": "none"},
        },
    ),
    "sp-gra2seq": System("Zang et al., AAAI 2023", ("patches",)),
    "dc-gra2seq": System(
        "DC-gra2seq, CVIU 2025",
        ("patches",),
        {"model": {"links": "nearest-cosine", "corner": 1.0, "normalise": "rows", "clusters": 0}},
    ),
    "gra2seq-plus": System(
        "this project",
        ("patches", "picture"),
        {
            "model": {"node_position": "canvas-and-order", "picture_branch": True},
            "preparation": {"spread": True, "dense": True},
        },
    ),
}
PATCH_VIEWS = ("patches", "lattice patches")


def register_system(name: str, system: System) -> None:
    """Make an own system known; its builder goes to `gra2seq.register_model`."""
    if name in SYSTEMS or name == CLASSIFIER:
        raise UserError(f"there is a system {name!r} already: choose another name")
    SYSTEMS[name] = system
