"""Synonym rates: do synonymous links join patches of the same part, as the paper claims?

A patch means the part with most ink in it. The synonym rate of a proximity is the share of its links (each patch's
two neighbours) that join patches of the same part. Neighbours trivially share ink, so the rate is also taken among
far pairs only, whose patches overlap by less than a quarter. Chance is what random links are expected to give on
the same sketches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from gra2seq.errors import UserError, unknown_name
from gra2seq.model import Model
from gra2seq.nn.links import LINKS, Nodes
from gra2seq.sketch.canvas import Canvas, draw
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.patches import Centres, window
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Doubles, Ints, Sketch

NEIGHBOURS = 2  # eq. 2
FAR = 0.25  # patches that share less than this share of their area
ALL = "all"  # the row over all categories
BATCH = 64  # sketches that are encoded together
PROXIMITIES = ("synonymous", "temporal", "spatial", "random")  # those that are compared


@dataclass(frozen=True)
class SynonymRates:
    """Shares are None where there is nothing to count."""

    rate: float | None
    rate_far: float | None
    edges: int  # links, each counted from the patch that chose it
    edges_far: int
    chance: float | None
    chance_far: float | None


def patch_parts(sketch: Sketch, centres: Centres, canvas: Canvas) -> tuple[str, ...]:
    """The part with most ink in each patch around the centres (n, 2); of equal ones the part drawn first."""
    if not sketch.parts:
        raise UserError(f"sketch {sketch.key!r} has no part labels: take doodles, or drawings with a label a stroke")
    names = tuple(dict.fromkeys(sketch.parts))
    if len(names) == 1:
        return names * len(centres)
    ink = np.empty((len(names), len(centres)), np.int64)
    for row, name in zip(ink, names, strict=True):
        strokes = [stroke for stroke, part in zip(sketch.strokes, sketch.parts, strict=True) if part == name]
        pixels = draw(Damage(Sketch.from_polylines(strokes), Region(), sketch.box), canvas)
        row[:] = [cv2.countNonZero(pixels[window(centre, canvas)]) for centre in centres]
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
    weights[weights == 0] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    best = np.argsort(-weights, axis=1, kind="stable")[:, :NEIGHBOURS]
    node = np.repeat(np.arange(len(weights)), best.shape[1])
    other = best.ravel()
    pairs: Ints = np.stack([node, other], axis=1)[np.isfinite(weights[node, other])]
    return pairs


@dataclass(frozen=True)
class Meanings:
    """Which patches of a sketch mean the same, and which lie far apart: what the links of any proximity meet."""

    same: NDArray[np.bool_]  # (n, n)
    far: NDArray[np.bool_]  # (n, n)
    chance: Doubles  # (3,) share of all pairs that is the same, far, both

    @staticmethod
    def of(label: Sequence[str], shared: NDArray[Any]) -> Meanings:
        """From the part that each patch means, and the shares (n, n) of their areas that patches have in common."""
        count = len(label)
        number = {name: i for i, name in enumerate(dict.fromkeys(label))}
        names = np.array([number[name] for name in label], np.int64)
        same = names[:, None] == names[None, :]
        far = shared < FAR
        apart = ~np.eye(count, dtype=bool)
        pairs = [np.count_nonzero(which & apart) for which in (same, far, same & far)]
        return Meanings(same, far, np.array(pairs) / max(count * (count - 1), 1))

    def count(self, weights: NDArray[Any]) -> Doubles:
        """(7,) links; those of the same, far, both; and as many random links are expected to be the same, far, both."""
        pairs = chosen_pairs(weights)
        node, other = pairs[:, 0], pairs[:, 1]
        same, far = self.same[node, other], self.far[node, other]
        found = [np.count_nonzero(which) for which in (same, far, same & far)]
        return np.array([len(pairs), *found, *(len(pairs) * self.chance)])


def pooled(counts: Sequence[Doubles]) -> SynonymRates:
    """Over several sketches: every link counts the same. Every sketch has as many random links as it has links."""
    total, same, far, same_far, *chance = sum(counts, np.zeros(7)).tolist()
    return SynonymRates(
        rate=_share(same, total),
        rate_far=_share(same_far, far),
        edges=int(total),
        edges_far=int(far),
        chance=_share(chance[0], total),
        chance_far=_share(chance[2], chance[1]),
    )


def synonyms(
    model: Model,
    sketches: Sequence[Sketch],
    links: Sequence[str] = PROXIMITIES,
    progress: Callable[[int], object] | None = None,
) -> list[dict[str, Any]]:
    """Rows of synonym rates: for each proximity one over all sketches, then one a category.

    `progress` receives how many sketches are done.
    """
    unknown = [name for name in links if name not in PROXIMITIES]  # the others link many at equal weight
    if unknown:
        raise unknown_name("link rule", unknown[0], PROXIMITIES)
    if len(sketches) == 0:
        raise UserError("there is no sketch to measure: the split is empty, choose another")
    counts: dict[str, list[Doubles]] = {name: [] for name in links}
    members: dict[str, list[int]] = {}
    for number, (sketch, meanings, adjacencies) in enumerate(_measured(model, sketches, links)):
        members.setdefault(sketch.category, []).append(number)
        for name, adjacency in adjacencies.items():
            counts[name].append(meanings.count(adjacency))
        if progress is not None:
            progress(number + 1)
    rows = []
    for name in links:
        for category, chosen in [(ALL, list(range(len(sketches)))), *sorted(members.items())]:
            found = pooled([counts[name][number] for number in chosen])
            rows.append({"links": name, "category": category, **vars(found)})
    return rows


def _measured(
    model: Model, sketches: Sequence[Sketch], links: Sequence[str]
) -> Iterator[tuple[Sketch, Meanings, dict[str, NDArray[Any]]]]:
    """Each sketch, what its patches mean, and the adjacency (n, n) of its patches by each link rule."""
    canvas = model.preparation.canvas
    for start in range(0, len(sketches), BATCH):
        batch = [sketches[number] for number in range(start, min(start + BATCH, len(sketches)))]
        for number, sketch in enumerate(batch, start):
            if not sketch.parts:
                raise UserError(
                    f"sketch {number} ({sketch.key or 'no key'}) has no part labels: synonym rates need a part for "
                    "every stroke; take doodles, or drawings whose strokes have a third list of labels"
                )
        nodes = _nodes(model, batch, start)
        with torch.inference_mode():
            adjacencies = {name: LINKS[name](nodes).cpu().numpy() for name in links}  # (B, N, N) each
        places = nodes.centres.cpu().numpy() * canvas.padded  # pixels of the padded canvas
        for row, (sketch, valid) in enumerate(zip(batch, nodes.valid.cpu().numpy(), strict=True)):
            centres = np.rint(places[row][valid]).astype(np.int32)
            meanings = Meanings.of(patch_parts(sketch, centres, canvas), overlap(centres, canvas))
            yield sketch, meanings, {name: every[row][valid][:, valid] for name, every in adjacencies.items()}


def _nodes(model: Model, sketches: Sequence[Sketch], first: int) -> Nodes:
    """The patches of a batch of sketches, with the random numbers of random links: they serve every link rule."""
    nodes = model.graphs([Damage.none(sketch) for sketch in sketches], "random").nodes
    wrong = torch.nonzero(~torch.isfinite(nodes.features).flatten(1).all(dim=1))
    if len(wrong):
        number = int(wrong[0])
        raise UserError(
            f"patches of sketch {first + number} ({sketches[number].key or 'no key'}) hold NaN or infinite numbers: "
            "the model has diverged; take an earlier checkpoint or train again with a lower learning rate"
        )
    return nodes


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
