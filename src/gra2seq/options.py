"""All options of a run in one frozen value; presets; YAML files that hold only what differs."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gra2seq.data.batches import Recipe
from gra2seq.errors import UserError
from gra2seq.sketch.augment import Variety
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.lattice import CELLS, MOST_POINTS

MOST_OFFERS = 64  # moves to choose from: memory grows with them
IN_USE = ("tries", "well", "steer", "keep", "least_pen_temperature")  # how a trained model draws, not what it is
JUDGE = "sketch-a-net"  # the classifier behind Rec; every other model draws
JUDGE_SIDE = 225  # pixels of the pictures it sees
JUDGE_HIDDEN = 512  # of its two hidden layers; a random number for each drops it or not


@dataclass(frozen=True)
class Options:
    """The defaults are the paper's (preset `paper`)."""

    # what is trained, on what, where to
    model: str = "sp-gra2seq"
    preset: str = "paper"
    data: str = "doodles"  # a store, a file, a folder of files, or doodles[:COUNT[:SEED]]
    dataset: str = ""  # a named set of that data (DS1, OPEN8, …), or all of it
    run: str = "runs/latest"
    seed: int = 0
    start: str = ""  # begin with the weights of another run, or of the model in the package (shipped)

    # from strokes to patches (METHOD: canvas 640, pen 16, patches 256)
    side: int = 640
    pen: int = 16
    nodes: int = 20
    snap: int = 1  # pixels of a grid that patch centres are moved to; more is faster: overlapping patches share blocks
    spread: bool = False  # of more than `nodes` centres take some evenly along the pen's way, not the first ones
    paper: float = 0.0  # value of blank paper; released code: -1
    ink: float = 1.0
    max_points: int = 250  # longer sketches are left out of training
    mask: float = 0.1  # of the patches in training (released code)
    mask_to: float | None = None  # each sketch of training has a rate of its own, from `mask` up to this
    masking: str = "wipe-then-crop"
    holes: float = 0.0  # share of the sketches of training that lose a rectangle anywhere instead of patches
    stretch: float = 0.0  # in training each axis of a drawing grows or shrinks by up to this share
    turn: float = 0.0  # it is turned by up to so many degrees
    mirror: float = 0.0  # left and right change places with this probability
    drop: float = 0.0  # and points within its strokes are left out with this one
    shuffle: float = 0.0  # its strokes come in another order with this one
    jitter: float = 0.0  # pixels; 0.5 dequantises whole-numbered drawings

    # the network
    channels: tuple[int, ...] = (8, 32, 64, 128, 256, 512, 512)
    picture: int = 48  # side in pixels of what picture models see, and of what is painted
    glance: bool = False  # SP-gra2seq's code is told by the whole picture too, seen as picture models see it
    paint: float = 0.0  # weight of a term for painting the whole picture from SP-gra2seq's code, in training alone
    mend: bool = False  # its codes of damaged drawings are mended; this alone is learnt, of a trained model (`start`)
    polish: bool = False  # of a trained model the decoder alone learns on, from codes as they are in use: mended
    stroke_hidden: int = 256  # each way, of the LSTM that reads strokes
    embedding: int = 64  # of a lattice point's column, and of its row
    links: str = "synonymous"
    rounds: int = 1  # of messages; links are chosen anew from what nodes have become
    where: str = "untold"  # what a node is told besides its patch: canvas (where it lies), canvas-and-order (and when)
    corner: float = 0.5  # eq. 3; released code: 1
    normalise: str = "symmetric"  # eq. 4; released code: rows
    code: int = 128
    start_log_variance: float = 0.0  # of the code; -6 lets mu be heard from the start
    clusters: int = 50  # K; 30 for DS1; 0 switches clustering off
    cluster_rate: float = 0.05  # eta of eq. 5
    cluster_weight: float = 0.25  # lambda of eq. 6
    cluster_form: str = "euclidean"  # released code: squared; cosine: shrinking v does not lower it
    hidden: int = 1024  # LSTM
    mixtures: int = 20
    position: bool = False  # tell the decoder where the pen is, not only how it last moved
    layer_norm: bool = False  # in the LSTM, at every step
    least_log_std: float | None = None  # lower bound of log sigma, in scaled units
    least_pen_temperature: float = 0.0  # in use, of the pen's states: a cold pen draws rings without an end
    tries: int = 1  # drawings of a sketch in use, of which the one that lies best on what is left of it is kept
    well: float = 0.0  # longer sides: a first drawing that lies nearer to what is left is kept, no other is tried
    steer: int = 1  # moves that a pen in use is offered at every step, if it is to see what is left; 1: it does not
    keep: bool = False  # in use, of a damaged drawing: its own lines stay where nothing was lost

    # training
    batch: int = 256  # of all processes together
    learning_rate: float = 1e-3
    fall: str = "epochs"  # the learning rate falls by `decay` an epoch; cosine: along half a wave, to the last step
    decay: float = 0.95
    least_learning_rate: float = 1e-5
    warm_up: int = 0  # steps in which the learning rate rises from 0
    average: float = 0.0  # judge and keep a running mean of the weights; 0.999: over about a thousand steps
    clip: str = "variable-norm"  # or value (sketch-rnn), norm (all together), none
    clip_at: float = 1.0
    max_steps: int = 27_000  # about 20 epochs of 5 x 70,000 sketches
    max_minutes: float = 0.0  # stop after so much training time, over all stretches; 0: no limit
    validate_every: int = 500
    validate_sketches: int = 1_000
    patience: int = 0  # validations without a better loss before it stops; 0: never
    save_every: int = 500
    gallery: int = 6  # sketches drawn at each validation
    workers: int = 1  # processes that prepare batches
    threads: int = 0  # of each computing process; 0: as many as there are cores

    # devices, handed to Fabric
    accelerator: str = "auto"
    devices: int = 1
    num_nodes: int = 1
    precision: str = "32-true"

    @property
    def patch(self) -> int:
        """A halving a convolution, and one by pooling."""
        return int(2 ** (len(self.channels) + 1))

    def recipe(self, scale: float, categories: tuple[str, ...] = ()) -> Recipe:
        """How sketches are prepared for this model."""
        if self.model == JUDGE:
            return Recipe(
                scale=scale,
                nodes=self.nodes,
                code=2 * JUDGE_HIDDEN,
                patches=False,
                picture=JUDGE_SIDE,
                augment=True,
                categories=categories,
            )
        sees = SYSTEMS[self.model].sees if self.model in SYSTEMS else ("patches",)
        return Recipe(
            scale=scale,
            canvas=Canvas(self.side, self.pen, self.patch, self.snap, self.spread),
            nodes=self.nodes,
            code=self.code,
            mask=(self.mask, self.mask if self.mask_to is None else self.mask_to),
            masking=self.masking,
            holes=self.holes,
            jitter=self.jitter,
            variety=Variety(self.stretch, self.turn, self.mirror, self.drop, self.shuffle),
            random_links=self.links == "random",
            skip_blank=self.paper == 0,
            patches="patches" in sees or "lattice patches" in sees,
            cells=CELLS if "lattice patches" in sees else 0,
            points=MOST_POINTS if "lattice points" in sees else 0,
            strokes="strokes" in sees,
            picture=self.picture if "picture" in sees or self.glance or self.mend else 0,
            painted=self.picture if self.model in PAINTERS or self.paint else 0,
            mend=self.mend,
            polish=self.polish,
            wobble=self.mixtures + 3 if self.model == "sketch-healer-2" else 0,
        )


@dataclass(frozen=True)
class System:
    """A system of the paper's tables: who made it, what it sees, and its own sizes where they are not the paper's."""

    made_by: str
    sees: tuple[str, ...]
    sizes: Mapping[str, Any] = field(default_factory=dict)


# 128 x 128 patches of a 512 canvas, pen of 12 pixels, one convolution less
_HEALER = {"side": 512, "pen": 12, "channels": (8, 32, 64, 128, 256, 512)}
SYSTEMS = {
    "sketch-rnn": System("Ha and Eck, ICLR 2018", ("strokes",)),
    "sketch-pix2seq": System("Chen et al., 2017", ("picture",)),
    "song": System("Song et al., CVPR 2018", ("picture", "strokes")),
    "rpcl-pix2seq": System("Zang et al., 2021", ("picture",)),
    "sketch-healer": System("Su et al., BMVC 2020", ("patches",), {**_HEALER, "links": "drawing-order"}),
    "sketch-healer-2": System("Qi et al., 2022", ("patches",), {**_HEALER, "links": "drawing-order"}),
    "sketch-lattice": System("Qi et al., ICCV 2021", ("lattice points",), {"links": "within-reach"}),
    "sketch-lattice+": System("Zang et al., AAAI 2023", ("lattice patches",), {**_HEALER, "links": "within-reach"}),
    "sp-gra2seq": System("Zang et al., AAAI 2023", ("patches",)),
}

PAINTERS = ("song", "rpcl-pix2seq")  # of pictures
HALVINGS = 16  # a picture that is painted is halved four times first
POINT_LINKS = ("within-reach", "spatial")  # lattice points have a place and nothing else to be linked by

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    # what the authors' released code does where it differs from the paper (docs/differences.md)
    "released": {
        "paper": -1.0,
        "ink": 1.0,
        "corner": 1.0,
        "normalise": "rows",
        "cluster_rate": 0.25,
        "cluster_form": "squared",
    },
    # for a laptop: the same encoder, half the LSTM, small batches, what was measured to learn more an hour
    "small": {
        "hidden": 512,
        "position": True,
        "batch": 32,
        "learning_rate": 3e-3,
        "fall": "cosine",
        "warm_up": 100,
        "start_log_variance": -6.0,
        "jitter": 0.5,
        "cluster_form": "squared",
        "least_pen_temperature": 0.75,
        "max_steps": 10_000,
    },
    # for tests: everything there, everything little
    "tiny": {
        "side": 80,
        "pen": 2,
        "channels": (8, 16, 16, 16),
        "nodes": 8,
        "stroke_hidden": 16,
        "embedding": 8,
        "code": 16,
        "clusters": 5,
        "hidden": 32,
        "mixtures": 3,
        "batch": 16,
        "max_steps": 60,
        "validate_every": 20,
        "validate_sketches": 40,
        "save_every": 20,
        "gallery": 3,
    },
}

_CHOICES = {
    "links": ("synonymous", "synonymous-4", "temporal", "spatial", "random", "drawing-order", "within-reach"),
    "where": ("untold", "canvas", "canvas-and-order"),
    "normalise": ("symmetric", "rows"),
    "cluster_form": ("euclidean", "squared", "cosine"),
    "fall": ("epochs", "cosine"),
    "clip": ("variable-norm", "value", "norm", "none"),
    "masking": ("wipe-then-crop", "crop-by-turns"),
    "accelerator": ("auto", "cpu", "cuda", "gpu", "mps", "tpu"),
    "precision": ("32-true",),  # the exactness that is tested; mixed precision is not yet
}
_AT_LEAST_ONE = ("nodes", "snap", "code", "hidden", "stroke_hidden", "embedding", "picture", "mixtures", "tries",
                 "steer", "rounds", "batch", "side", "pen", "max_points", "devices", "num_nodes", "save_every",
                 "validate_every", "validate_sketches", "max_steps")  # fmt: skip
_AT_LEAST_ZERO = ("seed", "warm_up", "workers", "threads", "clusters", "gallery", "patience", "jitter", "turn",
                  "max_minutes", "paint", "cluster_rate", "cluster_weight", "least_learning_rate",
                  "least_pen_temperature", "well")  # fmt: skip
_AT_MOST = {"seed": 2**63 - 1, "threads": 1024, "workers": 1024, "batch": 2**16, "decay": 1, "cluster_rate": 1,
            "jitter": 255, "steer": MOST_OFFERS}  # fmt: skip
_ABOVE_ZERO = ("learning_rate", "decay", "clip_at")


def options(values: Mapping[str, Any]) -> Options:
    """Preset, then what is given. Unknown names, wrong types and impossible values are said clearly."""
    preset = values.get("preset", Options.preset)
    if not isinstance(preset, str) or preset not in PRESETS:
        raise UserError(f"unknown preset {preset!r}: one of {', '.join(PRESETS)}")
    known = {option.name: kind for option, kind in zip(fields(Options), _kinds(), strict=True)}
    system = SYSTEMS.get(str(values.get("model", Options.model)))
    merged = {**(system.sizes if system else {}), **PRESETS[preset], **values, "preset": preset}
    for name in merged:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            raise UserError(f"unknown option {name!r}{hint}")
    chosen = Options(**{name: _cast(name, value, known[name]) for name, value in merged.items()})
    for name, allowed in _CHOICES.items():
        if getattr(chosen, name) not in allowed:
            raise UserError(f"{name}={getattr(chosen, name)!r} is not one of {', '.join(allowed)}")
    for name in _AT_LEAST_ONE:
        if getattr(chosen, name) < 1:
            raise UserError(f"{name}={getattr(chosen, name)} must be at least 1")
    for name in _AT_LEAST_ZERO:
        if getattr(chosen, name) < 0:
            raise UserError(f"{name}={getattr(chosen, name)} must not be negative")
    for name, most in _AT_MOST.items():
        if getattr(chosen, name) > most:
            raise UserError(f"{name}={getattr(chosen, name)} must be at most {most}")
    for name in _ABOVE_ZERO:
        if not getattr(chosen, name) > 0:
            raise UserError(f"{name}={getattr(chosen, name)} must be more than 0")
    for option in fields(Options):
        value = getattr(chosen, option.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{option.name}={value} must be a finite number")
    processes = chosen.devices * chosen.num_nodes
    if chosen.batch % processes:
        raise UserError(f"a batch of {chosen.batch} cannot be shared by {processes} processes: choose a multiple")
    for name in ("mask", "stretch", "mirror", "drop", "shuffle", "average"):
        if not 0 <= getattr(chosen, name) < 1:
            raise UserError(f"{name}={getattr(chosen, name)} must be a share or probability from 0 to below 1")
    if not 0 <= chosen.holes <= 1:
        raise UserError(f"holes={chosen.holes} must be a share from 0 to 1")
    if chosen.mask_to is not None and not chosen.mask <= chosen.mask_to < 1:
        raise UserError(f"mask_to={chosen.mask_to} must be a probability from mask={chosen.mask} to below 1")
    if chosen.pen >= chosen.side:
        raise UserError(f"pen={chosen.pen} is as thick as the canvas of side={chosen.side}: make it thinner")
    if chosen.snap > chosen.patch:
        raise UserError(f"snap={chosen.snap} is wider than a patch of {chosen.patch} pixels: give less")
    if not chosen.run:
        raise UserError("run is empty: give the folder of the run")
    if len(chosen.channels) < 3 or min(chosen.channels) < 1:
        raise UserError("channels needs three or more convolutions of one or more channels: blocks are 8 x 8 at least")
    _check_system(chosen)
    return dataclasses.replace(chosen, run=_home(chosen.run), data=_home(chosen.data), start=_home(chosen.start))


def _check_system(chosen: Options) -> None:
    """What a system cannot be asked."""
    sees = SYSTEMS[chosen.model].sees if chosen.model in SYSTEMS else ()
    for name in ("paint", "glance", "mend", "polish"):
        if getattr(chosen, name) and chosen.model != Options.model:
            raise UserError(
                f"{name}={getattr(chosen, name)} is for {Options.model}; "
                f"{chosen.model} is as its authors made it: leave {name} out"
            )
    if chosen.polish and chosen.paint:
        raise UserError(
            f"paint={chosen.paint} is learnt by the encoder, which polish=true leaves as it is: give one of the two"
        )
    if chosen.mend and not chosen.polish and not (chosen.mask or chosen.mask_to or chosen.holes):
        raise UserError("mend=true learns from damage, and mask=0 does none: give mask, mask_to, or holes")
    if (chosen.model in PAINTERS or chosen.paint) and chosen.picture % HALVINGS:
        raise UserError(f"picture={chosen.picture} must be a multiple of {HALVINGS} for {chosen.model}: it is painted")
    if chosen.model == "rpcl-pix2seq" and chosen.clusters < 1:
        raise UserError("clusters=0 leaves rpcl-pix2seq without its mixture: give it 1 or more")
    if "lattice points" in sees and chosen.links not in POINT_LINKS:
        raise UserError(f"links={chosen.links} needs patches; {chosen.model} has {' or '.join(POINT_LINKS)}")
    if not {"patches", "lattice patches"} & set(sees) and chosen.where != Options.where:
        raise UserError(f"where={chosen.where} is for patches, which {chosen.model} has not: give where=untold")
    if not {"patches", "lattice patches"} & set(sees) and chosen.rounds != Options.rounds:
        raise UserError(f"rounds={chosen.rounds} is for graphs of patches, which {chosen.model} has not")
    if "lattice patches" in sees and chosen.where == "canvas-and-order":
        raise UserError(f"where={chosen.where} needs patches along the pen's way; {chosen.model} can have where=canvas")
    if sees and "patches" not in sees and chosen.masking != Options.masking:
        raise UserError(f"masking={chosen.masking} is for patches along the pen's way, which {chosen.model} has not")


def read_options(path: str | Path, changes: Sequence[str] = ()) -> Options:
    """A YAML file of what differs from the preset, then key=value changes of the command line."""
    import yaml  # here: who only draws reads none, and need not wait for it

    path = Path(path)
    if path.suffix.lower() in (".svg", ".npz", ".ndjson", ".gz"):
        raise UserError(f"{path} holds drawings: a configuration is a .yaml file, as those of configs/")
    try:
        values = yaml.safe_load(path.read_text()) or {}
    except OSError as error:
        raise UserError(f"cannot read the configuration {path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} must hold `name: value` lines")
    return options({**values, **read_changes(changes)})


def read_changes(changes: Sequence[str]) -> dict[str, Any]:
    """name=value of the command line, values as in YAML."""
    import yaml

    values = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise UserError(f"{change!r} is not of the form name=value")
        try:
            values[name] = yaml.safe_load(text) if text else ""
        except yaml.YAMLError as error:
            raise UserError(f"the value of {change!r} cannot be read: put it in quotes ({error})") from error
    return values


def _home(path: str) -> str:
    """~ is the user's home folder, also where the shell did not see it."""
    return str(Path(path).expanduser()) if path.startswith("~") else path


def as_dict(chosen: Options) -> dict[str, Any]:
    return {**dataclasses.asdict(chosen), "channels": list(chosen.channels)}


def _kinds() -> list[Any]:
    hints = typing.get_type_hints(Options)
    return [hints[option.name] for option in fields(Options)]


def _cast(name: str, value: Any, kind: Any) -> Any:
    """YAML's value as the option's type; 1 is a float where one is wanted, 1.5 is not a whole number."""
    try:
        if isinstance(kind, types.UnionType):
            return None if value is None else _cast(name, value, typing.get_args(kind)[0])
        if typing.get_origin(kind) is tuple:
            return tuple(_cast(name, item, int) for item in value)
        if kind is bool and isinstance(value, bool):
            return value
        if kind is bool or isinstance(value, bool) or value is None:
            raise ValueError
        if kind is int and float(value) != int(float(value)):
            raise ValueError
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        kinds = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        wanted = kinds.get(kind, "a list of whole numbers")
        raise UserError(f"option {name}={value!r} must be {wanted}") from None
