"""The paper's claim, measured: do synonymous links join patches that mean the same?

A patch means the part with most ink in it. The synonym rate of a proximity is the share of its links (each patch's
two neighbours) that join patches of the same part. Neighbours trivially share ink, so the rate is also taken among
far pairs alone, whose patches overlap by less than a quarter. Chance is what random links are expected to give on
the same sketches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.model import Model
from gra2seq.nn.proximity import LINKS
from gra2seq.sketch.canvas import Canvas, Walk, draw, pen_walk
from gra2seq.sketch.patches import NODES, centres, window
from gra2seq.sketch.strokes import Doubles, Ints, Sketch

NEIGHBOURS = 2  # eq. 2
FAR = 0.25  # patches that share less than this share of their area
ALL = "all"  # the row over all categories


@dataclass(frozen=True)
class SynonymRates:
    """Shares are None where there is nothing to count."""

    rate: float | None
    rate_far: float | None
    edges: int  # links, each counted from the patch that chose it
    edges_far: int
    chance: float | None
    chance_far: float | None


def patch_parts(sketch: Sketch, canvas: Canvas, nodes: int = NODES) -> tuple[str, ...]:
    """The part with most ink in each patch, in the order of `centres`; of equal ones the part drawn first."""
    if not sketch.parts:
        raise UserError(f"sketch {sketch.key!r} has no part labels: take doodles, or drawings with a label a stroke")
    walk = pen_walk(sketch, canvas)
    at = centres(walk, nodes)
    strokes, names = walk.strokes, tuple(dict.fromkeys(sketch.parts))
    ink = np.zeros((len(names), len(at)), np.int64)
    for row, name in zip(ink, names, strict=True):
        own = [stroke for stroke, part in zip(strokes, sketch.parts, strict=True) if part == name]
        alone = Walk(np.concatenate(own), np.array([len(stroke) for stroke in own], np.int64), canvas)
        pixels = draw(alone)
        row[:] = [cv2.countNonZero(pixels[window(centre, canvas)]) for centre in at]
    return tuple(names[best] for best in ink.argmax(axis=0))


def overlap(centres: NDArray[Any], canvas: Canvas) -> Doubles:
    """(n, n) share of the patch's area that two patches have in common."""
    at = np.asarray(centres, np.float64).reshape(-1, 2)
    away = np.abs(at[:, None] - at[None, :])  # (n, n, 2)
    shares: Doubles = np.clip(1 - away / canvas.patch, 0, None).prod(axis=-1)
    return shares


def chosen_pairs(links: NDArray[Any]) -> Ints:
    """(edges, 2) from weights (n, n): of each node the two other nodes with the largest weights that are not 0.

    The proximities of eq. 2 have no more than two in a row, whatever their sign; random links have all of them.
    """
    weights = np.array(links, np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise UserError(f"links must be weights (n, n) or whole-numbered pairs (edges, 2), got shape {weights.shape}")
    weights[weights == 0] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    best = np.argsort(-weights, axis=1, kind="stable")[:, :NEIGHBOURS]
    node = np.repeat(np.arange(len(weights)), best.shape[1])
    pairs = np.column_stack([node, best.ravel()])
    return pairs[np.isfinite(weights[pairs[:, 0], pairs[:, 1]])].astype(np.int64)


def rates(
    links: Sequence[NDArray[Any]], labels: Sequence[Sequence[str]], overlaps: Sequence[NDArray[Any]]
) -> SynonymRates:
    """Over several sketches, pooled: every link counts the same. The three belong together sketch by sketch.

    `links` are weights (n, n), or pairs (edges, 2) of whole numbers. A random link joins any two patches of its
    sketch alike, and every sketch has as many random links as it has links, which gives `chance`; `chance_far` is
    the same among the far ones of the random links.
    """
    total, same_total, far_total, same_far_total = 0, 0, 0, 0
    expected = np.zeros(3)  # of random links: same, far, same and far
    for link, label, shared in zip(links, labels, overlaps, strict=True):
        link = np.asarray(link)
        pairs = link.reshape(-1, 2).astype(np.int64) if link.dtype.kind in "iu" else chosen_pairs(link)
        names = np.asarray(label, dtype=np.str_)
        count = len(names)
        shared = np.asarray(shared)
        if shared.shape != (count, count) or (len(pairs) and not 0 <= pairs.min() <= pairs.max() < count):
            raise UserError(f"links and overlaps of a sketch must be those of its {count} labelled patches")
        same = names[:, None] == names[None, :]
        far = shared < FAR
        node, other = pairs[:, 0], pairs[:, 1]
        if (node == other).any():
            raise UserError("a patch cannot be its own neighbour: leave self-links out")
        total += len(pairs)
        same_total += int(same[node, other].sum())
        far_total += int(far[node, other].sum())
        same_far_total += int((same & far)[node, other].sum())
        if len(pairs):
            apart = ~np.eye(count, dtype=bool)
            expected += [len(pairs) * which[apart].mean() for which in (same, far, same & far)]
    return SynonymRates(
        rate=_share(same_total, total),
        rate_far=_share(same_far_total, far_total),
        edges=total,
        edges_far=far_total,
        chance=_share(expected[0], total),
        chance_far=_share(expected[2], expected[1]),
    )


def synonyms(
    model: Model,
    sketches: Sequence[Sketch],
    links: Sequence[str] = ("synonymous", "temporal", "spatial", "random"),
    progress: Callable[[int], object] | None = None,
) -> list[dict[str, Any]]:
    """Rows of synonym rates: for each proximity one over all sketches, then one a category.

    `progress` hears how many sketches are done.
    """
    unknown = [name for name in links if name not in LINKS]
    if unknown:
        raise UserError(f"unknown links {unknown[0]!r}: one of {', '.join(LINKS)}")
    if len(sketches) == 0:
        raise UserError("there is no sketch to measure: the split is empty, choose another")
    pairs: dict[str, list[Ints]] = {name: [] for name in links}
    labels: list[tuple[str, ...]] = []
    overlaps: list[Doubles] = []
    members: dict[str, list[int]] = {}
    for number in range(len(sketches)):
        sketch = sketches[number]
        if not sketch.parts:
            raise UserError(
                f"sketch {number} ({sketch.key or 'no key'}) has no part labels: synonym rates need a part for every "
                "stroke; take doodles, or drawings whose strokes have a third list of labels"
            )
        members.setdefault(sketch.category, []).append(number)
        # Asked for random links the nodes carry their numbers as well, so one look serves every proximity.
        nodes = model.graph(sketch, "random").nodes
        valid = nodes.valid[0].cpu().numpy()
        labels.append(patch_parts(sketch, model.recipe.canvas, len(valid)))
        overlaps.append(overlap(nodes.centres[0].cpu().numpy()[valid], model.recipe.canvas))
        for name in links:
            with torch.inference_mode():
                adjacency = LINKS[name](nodes)[0].cpu().numpy()
            pairs[name].append(chosen_pairs(adjacency[np.ix_(valid, valid)]))
        if progress is not None:
            progress(number + 1)
    rows = []
    for name in links:
        for category, chosen in [(ALL, list(range(len(sketches)))), *sorted(members.items())]:
            found = rates([pairs[name][i] for i in chosen], [labels[i] for i in chosen], [overlaps[i] for i in chosen])
            rows.append({"links": name, "category": category, **vars(found)})
    return rows


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
