"""Pen moves made from the parameters of their Gaussians and pens, not from a network's raw numbers."""

import torch

from gra2seq.nn.pen_move import PenMove


def pen_move(logits, mean, log_std, tilt, pen):
    """logits (…, M), mean (…, M, 2), log_std (…, M, 2), tilt (…, M), pen (…, 3)"""
    parts = [pen, logits, *mean.unbind(dim=-1), *log_std.unbind(dim=-1), tilt]
    return PenMove(torch.cat([part.to(mean.dtype) for part in parts], dim=-1))


def many(move, count):
    """The same move `count` times."""
    return PenMove(move.raw.expand(count, *move.raw.shape), move.min_log_std)
