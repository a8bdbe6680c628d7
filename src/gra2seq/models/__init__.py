"""Bricks laid: a file a system, a short builder each."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from gra2seq.errors import UserError
from gra2seq.models.rpcl_pix2seq import rpcl_pix2seq
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.models.sketch_healer import sketch_healer, sketch_healer_2, sketch_lattice_plus
from gra2seq.models.sketch_lattice import sketch_lattice
from gra2seq.models.sketch_model import SketchModel
from gra2seq.models.sketch_pix2seq import sketch_pix2seq
from gra2seq.models.sketch_rnn import sketch_rnn
from gra2seq.models.song import song
from gra2seq.models.sp_gra2seq import sp_gra2seq
from gra2seq.options import JUDGE, Options

MODELS: dict[str, Callable[[Options], SketchModel]] = {
    "sketch-rnn": sketch_rnn,
    "sketch-pix2seq": sketch_pix2seq,
    "song": song,
    "rpcl-pix2seq": rpcl_pix2seq,
    "sketch-healer": sketch_healer,
    "sketch-healer-2": sketch_healer_2,
    "sketch-lattice": sketch_lattice,
    "sketch-lattice+": sketch_lattice_plus,
    "sp-gra2seq": sp_gra2seq,
}


def build(options: Options) -> SketchModel:
    """A network that draws, with fresh weights."""
    if options.model == JUDGE:
        raise UserError(f"{JUDGE} is a judge and draws nothing: give its folder as --judge")
    if options.model not in MODELS:
        raise UserError(f"unknown model {options.model!r}: one of {', '.join([*MODELS, JUDGE])}")
    return MODELS[options.model](options)


def network_of(options: Options, categories: tuple[str, ...]) -> nn.Module:
    """The network of a run: one that draws, or the judge that tells categories."""
    return SketchANet(len(categories)) if options.model == JUDGE else build(options)


def trained_size(network: nn.Module) -> int:
    """Numbers that training moves."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
