"""Bricks laid: a file a system, a short builder each."""

from __future__ import annotations

from collections.abc import Callable

from gra2seq.errors import UserError
from gra2seq.models.sketch_model import SketchModel
from gra2seq.models.sp_gra2seq import sp_gra2seq
from gra2seq.options import Options

MODELS: dict[str, Callable[[Options], SketchModel]] = {"sp-gra2seq": sp_gra2seq}


def build(options: Options) -> SketchModel:
    """The network of a run, with fresh weights."""
    if options.model not in MODELS:
        raise UserError(f"unknown model {options.model!r}: one of {', '.join(MODELS)}")
    return MODELS[options.model](options)
