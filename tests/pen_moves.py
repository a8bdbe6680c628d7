"""Pen moves as tests think of them: by their Gaussians and pens, not by a network's numbers."""

import torch

from gra2seq.nn.mixture import PenMove


def pen_move(logits, mean, log_std, tilt, pen):
    """logits (…, M), mean (…, M, 2), log_std (…, M, 2), tilt (…, M), pen (…, 3)"""
    parts = [pen, logits, *mean.unbind(dim=-1), *log_std.unbind(dim=-1), tilt]
    return PenMove(torch.cat([part.to(mean.dtype) for part in parts], dim=-1))


def many(move, count):
    return PenMove(move.raw.expand(count, *move.raw.shape), move.least_log_std)
