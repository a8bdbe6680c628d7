"""Infill decoding: the visible strokes are given to the decoder, and only what is missing is sampled.

The decoder runs along the visible pieces in their order. Where a piece ends at the lost region it goes on by sampling:
until it comes near another open end, snaps to it and follows that piece; or lifts the pen inside the region; or
reaches the region's border. In some samples it takes smooth bridges to facing ends instead. After all pieces it goes
on from starts of pieces that are still open, then samples further strokes inside the region, until it ends the drawing.
Many samples run in parallel lanes; `infill_choice` says which are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.config.drawing import DrawingConfig
from gra2seq.drawing.infill_scene import Scene
from gra2seq.drawing.sampler import first_row, temperature_of
from gra2seq.nn.pen_move import PenMove
from gra2seq.nn.stroke_decoder import State
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import DOWN, END, UP, Doubles, Sketch

Step = Callable[[Tensor, State, Tensor], tuple[PenMove, State]]

GIVEN, GAP, FREE, DONE = range(4)  # follows a piece; crosses a gap; draws further strokes; has ended
SNAP = 0.05  # longer sides: an open end this near to a sampled line is where it goes
SNAP_LEAVING = 0.15  # and this near, where the line is about to leave the region
MAX_GAP_ROWS = 40  # of one sampled line
RETRACED = 4  # points of a piece that lead the decoder back to its open start
MAX_BENDS = (9.0, 4.0, 0.0, 4.0)  # of lanes in turn: all bridges, the smooth ones, none
TEMPERATURES = (1.0, 2.0, 4.0)  # of lanes in turn, times the drawing's, in a lost region: samples that differ
CANDIDATES = 8  # of which the first that begins inside the region is taken


@dataclass
class Lane:
    """One sample of one damaged drawing, on its way."""

    scene: Scene
    drawing: DrawingConfig
    number: int  # of the drawing
    mode: int = GIVEN
    piece: int = 0  # that is followed
    place: int = 0  # of the next point on it
    direction: int = 1
    origin: int = -1  # open end that the line in a gap comes from
    visited: set[int] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)  # open ends that a line connects with another
    begun: set[int] = field(default_factory=set)  # open ends that a line goes out from
    max_bend: float = 0.0  # cost up to which bridges are taken instead of sampled lines
    bridge: list[NDArray[np.float32]] = field(default_factory=list)  # its points that are still to come
    line: list[NDArray[np.float32]] = field(default_factory=list)  # that is being sampled
    lines: list[Doubles] = field(default_factory=list)  # that were
    pen: NDArray[np.float32] = field(default_factory=lambda: np.zeros(2, np.float32))
    rows: int = 0
    gap_rows: int = 0

    def __post_init__(self) -> None:
        self.random = self._generator(0, 0)
        self.copied = False
        self.temperature = self.drawing.temperature

    def _generator(self, seed: int, sample: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64((seed, self.scene.number, sample)))

    def copies(self) -> list[Lane]:
        """`drawing.infill` lanes that continue from here, each with its own random numbers."""
        every = [copy(self) for _ in range(self.drawing.infill)]
        for sample, lane in enumerate(every):
            lane.visited, lane.joined, lane.begun = set(self.visited), set(self.joined), set(self.begun)
            lane.line, lane.max_bend = list(self.line), MAX_BENDS[sample % len(MAX_BENDS)]
            if self.scene.region:
                lane.temperature *= TEMPERATURES[sample // len(MAX_BENDS) % len(TEMPERATURES)]
            lane.lines, lane.copied, lane.random = list(self.lines), True, self._generator(self.drawing.seed, sample)
        return every

    @property
    def looks_at_samples(self) -> bool:
        """Whether the next row may depend on what is sampled: along pieces and bridges it does not."""
        if self.mode == GIVEN:
            return not self.scene.region
        return not self.bridge

    def move_to(self, goal: NDArray[np.floating]) -> NDArray[np.float32]:
        """Move the pen; returns the offset (2,)."""
        before, self.pen = self.pen, np.asarray(goal, np.float32)
        return self.pen - before

    def finish_line(self) -> None:
        if len(self.line) > 1:
            self.lines.append(np.array(self.line, np.float64))
        self.line = []

    def next_piece(self) -> None:
        """Follow the first piece that was not drawn yet; after the last one, go on from open starts, then freely."""
        for number in range(len(self.scene.pieces)):
            if number not in self.visited:
                self.follow(number, 0, 1)
                return
        for end, (piece, at_start) in enumerate(self.scene.owners):
            if end not in self.joined | self.begun:
                last = len(self.scene.pieces[piece]) - 1
                back = min(RETRACED, last)
                self.follow(piece, back if at_start else last - back, -1 if at_start else 1)
                return
        self.mode = FREE

    def take_bridge(self) -> None:
        """At an open end: cross the gap by its bridge, if it has one that is smooth enough for this lane."""
        bridge = self.scene.bridges.get(self.origin)
        if bridge and bridge.cost <= self.max_bend and bridge.other(self.origin) not in self.joined:
            points = bridge.leaving(self.origin)[1:] / self.scene.unit
            self.bridge = list(points.astype(np.float32))

    def follow(self, piece: int, place: int, direction: int) -> None:
        self.mode, self.piece, self.place, self.direction = GIVEN, piece, place, direction
        self.visited.add(piece)


@dataclass(frozen=True)
class InfillResult:
    """The new lines of one lane, in frame units."""

    lines: tuple[Doubles, ...]
    open_ends: int  # at the lost region that no line connects with another

    def reframed(self, damage: Damage, other: Damage) -> InfillResult:
        """The same lines, from the frame units of one damage to those of another."""
        if damage.frame == other.frame:
            return self
        return replace(self, lines=tuple(other.normalised(damage.denormalised(line)) for line in self.lines))


def healed_sketch(damage: Damage, result: InfillResult) -> Sketch:
    """The visible strokes as they are, then the sampled lines."""
    visible = damage.visible
    lines = [damage.denormalised(line) for line in result.lines]
    return Sketch.from_polylines([*visible.strokes, *lines], category=visible.category, key=visible.key)


def infill(
    step: Step,
    state: State,
    scenes: Sequence[Scene],
    drawings: Sequence[DrawingConfig],
    max_rows: int,
) -> list[list[InfillResult]]:
    """`drawings[i].infill` samples of each damaged drawing i, from the decoder's first states of their codes.

    Each drawing has a seed and a temperature of its own, and comes out the same in any company, to rounding. Up to the
    first gap all samples of a drawing are the same: there is one lane until then, which is then copied. Lanes that have
    drawn the same rows so far, as those do that take the same bridges, share a track: one row of the decoder's batch.
    """
    active = [Lane(*own, number) for number, own in enumerate(zip(scenes, drawings, strict=True))]
    results: list[list[InfillResult]] = [[] for _ in scenes]
    for lane in active:
        lane.next_piece()
    row, tracks = first_row(len(active), state[0]), np.arange(len(active))
    given = torch.ones(len(active), device=row.device)
    with torch.inference_mode():
        while active:
            move, state = step(row, state, given)
            moves = _sample(move, tracks, active)
            marks = [lane.mode == GIVEN for lane in active]
            rows = [_advance(lane, own, max_rows) for lane, own in zip(active, moves, strict=True)]
            branches = dict[tuple[int, bool, bytes], int]()  # track, mark and row -> the track from here on
            firsts, joined, following = list[int](), list[int](), list[Lane]()
            for place, lane in enumerate(active):
                if lane.mode == DONE:
                    results[lane.number] += [_result(lane)] * (1 if lane.copied else lane.drawing.infill)
                    continue
                copies = [lane] if lane.copied or lane.mode == GIVEN else lane.copies()
                track = branches.setdefault((int(tracks[place]), marks[place], rows[place].tobytes()), len(firsts))
                if track == len(firsts):
                    firsts.append(place)
                following += copies
                joined += [track] * len(copies)
            if not following:
                break
            chosen = tracks[firsts]
            active, tracks = following, np.array(joined)
            row = torch.from_numpy(np.stack([rows[place] for place in firsts])).to(row)
            given = torch.tensor([marks[place] for place in firsts]).to(given)
            if not np.array_equal(chosen, np.arange(len(state[0]))):
                state = tuple(part[torch.from_numpy(chosen).to(part.device)] for part in state)
    return results


def _sample(move: PenMove, tracks: NDArray[np.integer], lanes: Sequence[Lane]) -> NDArray[np.float32]:
    """(lanes, CANDIDATES, 5) sampled rows of all lanes at one step; those that no lane looks at are zero.

    Lanes of one temperature are sampled together. Every lane takes its random numbers at every step.
    """
    uniform, normal = np.empty((len(lanes), CANDIDATES, 2)), np.empty((len(lanes), CANDIDATES, 2))
    for lane, own_uniform, own_normal in zip(lanes, uniform, normal, strict=True):
        lane.random.random(out=own_uniform)
        lane.random.standard_normal(out=own_normal)
    noise = np.concatenate([uniform, normal], axis=-1, dtype=np.float32)
    rows = np.zeros((len(lanes), CANDIDATES, 5), np.float32)
    looking = np.array([lane.looks_at_samples for lane in lanes])
    temperatures = np.array([lane.temperature for lane in lanes])
    for temperature in np.unique(temperatures[looking]):
        own = np.flatnonzero(looking & (temperatures == temperature))
        part = PenMove(move.raw[torch.from_numpy(tracks[own]).to(move.raw.device)], move.min_log_std)
        drawing = replace(lanes[own[0]].drawing, temperature=float(temperature))
        given = torch.from_numpy(noise[own]).to(part.raw)
        sampled = part.candidates().sample(temperature_of(drawing), noise=given)
        rows[own] = sampled.expand(-1, CANDIDATES, -1).cpu().numpy()
    return rows


def _advance(lane: Lane, moves: NDArray[np.float32], max_rows: int) -> NDArray[np.float32]:
    """The next row (5,) of a lane, where it takes one of the sampled moves (CANDIDATES, 5) or follows a piece.

    After `max_rows` nothing is sampled any more, so that the rest of the pieces need not be followed either: a drawing
    of a million points would take minutes.
    """
    lane.rows += 1
    if lane.rows > max_rows:
        lane.finish_line()
        lane.mode = DONE
        return np.asarray(moves[0])
    if lane.mode == GIVEN:
        return _given_row(lane, moves[0])
    return _gap_row(lane, moves[0]) if lane.mode == GAP else _free_row(lane, moves)


def _given_row(lane: Lane, sampled: NDArray[np.float32]) -> NDArray[np.float32]:
    """One point further along the piece; at its end, into the gap or to the next piece.

    Without a region the end of the drawing is missing: whether its last stroke goes on is sampled.
    """
    scene = lane.scene
    points = scene.pieces[lane.piece]
    offset = lane.move_to(points[lane.place])
    lane.place += lane.direction
    if 0 <= lane.place < len(points):
        return _row(offset, DOWN)
    end = scene.end_of(lane.piece, lane.direction)
    if not scene.region and len(lane.visited) == len(scene.pieces) and sampled[DOWN] > 0:
        lane.mode, lane.gap_rows, lane.line = FREE, 0, [lane.pen]
        return _row(offset, DOWN)
    if end is None or end in lane.joined | lane.begun:
        lane.next_piece()
        return _row(offset, UP)
    lane.mode, lane.origin, lane.gap_rows = GAP, end, 0
    lane.line = [lane.pen]
    lane.begun.add(end)
    return _row(offset, DOWN)


def _gap_row(lane: Lane, sampled: NDArray[np.float32]) -> NDArray[np.float32]:
    """One sampled point further from an open end, towards another one."""
    scene, start = lane.scene, lane.pen
    if lane.gap_rows == 0:
        lane.take_bridge()
    lane.gap_rows += 1
    if lane.bridge:
        return _bridge_row(lane)
    goal = start + sampled[:2]
    inside, stop = scene.stays_inside(start, goal)
    end = scene.near_end(start, goal if inside else stop, lane.joined | {lane.origin}, SNAP if inside else SNAP_LEAVING)
    if end is not None:
        return _join(lane, end)
    offset = lane.move_to(goal if inside else stop)
    lane.line.append(lane.pen)
    if inside and sampled[DOWN] > 0 and lane.gap_rows < MAX_GAP_ROWS:
        return _row(offset, DOWN)
    lane.finish_line()
    lane.next_piece()
    return _row(offset, UP)


def _bridge_row(lane: Lane) -> NDArray[np.float32]:
    """One point further along a bridge."""
    point = lane.bridge.pop(0)
    if not lane.bridge:
        return _join(lane, lane.scene.bridges[lane.origin].other(lane.origin))
    lane.line.append(point)
    return _row(lane.move_to(point), DOWN)


def _join(lane: Lane, end: int) -> NDArray[np.float32]:
    """Go to an open end, and on along its piece if that was not drawn yet."""
    scene = lane.scene
    offset = lane.move_to(scene.ends[end])
    lane.line.append(lane.pen)
    lane.finish_line()
    lane.joined |= {end, lane.origin} - {-1}
    piece, at_start = scene.owner(end)
    length = len(scene.pieces[piece])
    if piece in lane.visited or length == 1:
        lane.visited.add(piece)
        lane.next_piece()
        return _row(offset, UP)
    lane.follow(piece, 1 if at_start else length - 2, 1 if at_start else -1)
    return _row(offset, DOWN)


def _free_row(lane: Lane, moves: NDArray[np.float32]) -> NDArray[np.float32]:
    """A further stroke inside of the region, or the end of the drawing."""
    scene, start = lane.scene, lane.pen
    if not lane.line:  # the pen is up: a new stroke begins, inside of the region
        if moves[0, END] > 0:
            lane.mode = DONE
            return np.asarray(moves[0])
        begin = next((one for one in moves if not one[END] and scene.contains(start + one[:2])), None)
        if begin is None:
            lane.mode = DONE
            return np.asarray(moves[0])
        offset = lane.move_to(start + begin[:2])
        if begin[DOWN] > 0:
            lane.line, lane.gap_rows = [lane.pen], 0
        return _row(offset, DOWN if begin[DOWN] > 0 else UP)
    lane.origin = -1
    row = _gap_row(lane, moves[0])
    if lane.mode == GIVEN:  # it met a piece that was drawn: the stroke ends there
        lane.mode = FREE
    return row


def _row(offset: NDArray[np.float32], pen: int) -> NDArray[np.float32]:
    row = np.zeros(5, np.float32)
    row[:2], row[pen] = offset, 1
    return row


def _result(lane: Lane) -> InfillResult:
    lines = tuple(line * lane.scene.unit for line in lane.lines)
    return InfillResult(lines, len(lane.scene.ends) - len(lane.joined))
