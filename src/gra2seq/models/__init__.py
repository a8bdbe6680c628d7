"""Bricks laid: a file a system, a short builder each."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from gra2seq.errors import UserError
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.models.sketch_model import SketchModel
from gra2seq.models.sp_gra2seq import sp_gra2seq
from gra2seq.options import JUDGE, Options

MODELS: dict[str, Callable[[Options], SketchModel]] = {"sp-gra2seq": sp_gra2seq}


def build(options: Options) -> SketchModel:
    """A network that draws, with fresh weights."""
    if options.model not in MODELS:
        raise UserError(f"unknown model {options.model!r}: one of {', '.join([*MODELS, JUDGE])}")
    return MODELS[options.model](options)


def network_of(options: Options, categories: tuple[str, ...]) -> nn.Module:
    """The network of a run: one that draws, or the judge that tells categories."""
    return SketchANet(len(categories)) if options.model == JUDGE else build(options)
