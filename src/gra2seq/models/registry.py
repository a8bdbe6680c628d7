"""The systems by name: building a network, and what its drawings are prepared into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import nn

from gra2seq.config.model import HALVINGS, ModelConfig
from gra2seq.config.run import RunConfig
from gra2seq.config.systems import CLASSIFIER, PATCH_VIEWS, SYSTEMS, System, register_system
from gra2seq.data.batches import Preparation
from gra2seq.data.training_damage import DamageSpec
from gra2seq.data.views import (
    ClassifierView,
    ExtentView,
    LatticeView,
    LostView,
    PatchView,
    PictureView,
    StrokeView,
    View,
)
from gra2seq.errors import UserError, unknown_name
from gra2seq.models.dc_gra2seq import dc_gra2seq
from gra2seq.models.gra2seq_plus import gra2seq_plus
from gra2seq.models.rpcl_pix2seq import rpcl_pix2seq
from gra2seq.models.sketch_a_net import HIDDEN, SIDE, SketchANet
from gra2seq.models.sketch_healer import sketch_healer, sketch_healer_2, sketch_lattice_plus
from gra2seq.models.sketch_lattice import sketch_lattice
from gra2seq.models.sketch_model import SketchModel
from gra2seq.models.sketch_pix2seq import sketch_pix2seq
from gra2seq.models.sketch_rnn import sketch_rnn
from gra2seq.models.song import song
from gra2seq.models.sp_gra2seq import sp_gra2seq
from gra2seq.nn.ink_predictor import SIDE as INK_SIDE
from gra2seq.sketch.augment import Augmentation
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.lattice import CELLS

MODELS: dict[str, Callable[[ModelConfig], SketchModel]] = {
    "sketch-rnn": sketch_rnn,
    "sketch-pix2seq": sketch_pix2seq,
    "song": song,
    "rpcl-pix2seq": rpcl_pix2seq,
    "sketch-healer": sketch_healer,
    "sketch-healer-2": sketch_healer_2,
    "sketch-lattice": sketch_lattice,
    "sketch-lattice+": sketch_lattice_plus,
    "sp-gra2seq": sp_gra2seq,
    "dc-gra2seq": dc_gra2seq,
    "gra2seq-plus": gra2seq_plus,
}
PAINTERS = ("song", "rpcl-pix2seq")  # systems that also paint the picture
BIASED = ("dc-gra2seq",)  # systems whose patch CNN has biases: blank paper is not 0 to them
POINT_LINKS = ("within-reach", "spatial")  # lattice points have a place and nothing else to be linked by
DRAWING = "gra2seq-plus"  # the system with a picture branch, node positions and code repair


def register_model(name: str, build: Callable[[ModelConfig], SketchModel], system: System) -> None:
    """Make an own system known as `model=NAME`: how it is built, what it sees, and its default options."""
    register_system(name, system)
    MODELS[name] = build


def build(config: ModelConfig, categories: int = 1) -> SketchModel:
    """A network that draws, with fresh weights."""
    if config.name == CLASSIFIER:
        raise UserError(f"{CLASSIFIER} is a judge and draws nothing: give its folder as --judge")
    if config.name not in MODELS:
        raise unknown_name("model", config.name, [*MODELS, CLASSIFIER])
    check_model(config)
    if config.name == "rpcl-pix2seq" and not config.clusters:
        config = replace(config, clusters=2 * max(categories, 1))  # released code
    return MODELS[config.name](config)


def build_network(config: ModelConfig, categories: tuple[str, ...]) -> nn.Module:
    """The network of a run: one that draws, or the classifier of these categories."""
    return SketchANet(len(categories)) if config.name == CLASSIFIER else build(config, len(categories))


def trained_size(network: nn.Module) -> int:
    """Number of parameters that training moves."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)


def preparation_of(config: RunConfig, scale: float, categories: tuple[str, ...] = ()) -> Preparation:
    """How drawings are prepared for the model of a run."""
    if config.model.name == CLASSIFIER:
        return Preparation(
            {"picture": ClassifierView(SIDE)},
            scale,
            code=2 * HIDDEN,
            categories=categories,
            damage=DamageSpec((0, 0)),
            simplify=False,
        )
    chosen, training = config.preparation, config.training
    model = config.model
    return Preparation(
        _views(config, scale),
        scale,
        Canvas(chosen.side, chosen.pen, model.patch),
        model.code,
        categories,
        DamageSpec(
            (chosen.mask, chosen.mask if chosen.mask_to is None else chosen.mask_to),
            chosen.rectangle,
            chosen.eraser,
            chosen.end,
            (chosen.end_from, chosen.end_to),
            chosen.true_frame,
        ),
        Augmentation(chosen.stretch),
        jitter=chosen.jitter,
        prefix_noise=chosen.prefix_noise,
        own_prefixes=training.own_prefixes,
        given=chosen.given if model.given_input else 0.0,
        painted=_painted_side(config),
        ink_distance=training.objective == "predict-ink",
        growth=training.objective == "predict-frame",
        whole=training.objective == "repair-codes",
        gradient=training.objective == "reconstruct",
        gumbel=model.mixtures + 3 if model.name == "sketch-healer-2" else 0,
    )


def _painted_side(config: RunConfig) -> int:
    """Side of the picture of the intact drawing that training compares with; 0: none."""
    if config.training.objective == "predict-ink":
        return INK_SIDE
    return config.model.picture if config.model.name in PAINTERS else 0


def _views(config: RunConfig, scale: float) -> dict[str, View]:
    """What the encoder of the model sees, by name."""
    chosen, model = config.preparation, config.model
    canvas = Canvas(chosen.side, chosen.pen, model.patch)
    sees = SYSTEMS[model.name].sees if model.name in SYSTEMS else ("patches",)
    views: dict[str, View] = {}
    if set(PATCH_VIEWS) & set(sees):
        views["patches"] = PatchView(
            canvas,
            chosen.nodes,
            chosen.spread,
            chosen.dense,
            cells=CELLS if "lattice patches" in sees else 0,
            skip_blank=model.blank_value == 0 and model.name not in BIASED,
            random_links=model.links == "random",
        )
    if "lattice points" in sees:
        views["points"] = LatticeView(canvas)
    if "strokes" in sees:
        views["strokes"] = StrokeView(scale)
    if "picture" in sees or model.code_repair:
        views["picture"] = PictureView(model.picture, canvas)
    if model.code_repair:
        views["lost"] = LostView(model.picture, canvas)
    if config.training.objective == "predict-ink":  # in use they are made where they are needed
        views |= ink_views(canvas)
    if config.training.objective == "predict-frame":
        views["extent"] = ExtentView()
    return views


def ink_views(canvas: Canvas) -> dict[str, View]:
    """What ink prediction sees: the visible strokes and the lost region."""
    return {"visible_ink": PictureView(INK_SIDE, canvas), "lost_ink": LostView(INK_SIDE, canvas)}


def check_model(config: ModelConfig) -> None:
    """Raise a `UserError` for options that the system does not have."""
    sees = SYSTEMS[config.name].sees if config.name in SYSTEMS else ()
    default = ModelConfig()
    ours = ("node_position", "picture_branch", "relative_edges", "code_repair", "ink_prediction", "frame_prediction")
    for name in ours:
        if config.name in MODELS and config.name != DRAWING and getattr(config, name) != getattr(default, name):
            raise UserError(f"{name}={getattr(config, name)} is for {DRAWING}; {config.name} has none: leave it out")
    if config.name in PAINTERS and config.picture % HALVINGS:
        raise UserError(f"picture={config.picture} must be a multiple of {HALVINGS} for {config.name}: it is painted")
    if "lattice points" in sees and config.links not in POINT_LINKS:
        raise UserError(f"links={config.links} needs patches; {config.name} has {' or '.join(POINT_LINKS)}")
    if sees and not set(PATCH_VIEWS) & set(sees) and config.rounds != default.rounds:
        raise UserError(f"rounds={config.rounds} is for graphs of patches, which {config.name} has not")
