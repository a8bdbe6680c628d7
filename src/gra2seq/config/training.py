"""How a model is trained."""

from __future__ import annotations

from dataclasses import dataclass

from gra2seq.config.fields import option


@dataclass(frozen=True)
class TrainingConfig:
    """The defaults are the paper's: Adam, 1e-3 falling by 0.95 an epoch, batches of 256."""

    objective: str = option(
        "reconstruct",
        "reconstruct: all of the model; or only a part of it: its code repair, its ink prediction, "
        "its frame prediction, its decoder",
        choices=("reconstruct", "repair-codes", "predict-ink", "predict-frame", "finetune-decoder"),
    )  # fmt: skip
    batch: int = option(256, "drawings of a step, of all processes together", at_least=1, at_most=2**16)
    learning_rate: float = option(1e-3, "of Adam", above=0)
    lr_schedule: str = option("epochs", "falls by `decay` an epoch, along half a cosine, or by `decay` a step",
                              choices=("epochs", "cosine", "steps"))  # fmt: skip
    decay: float = option(0.95, "factor of the learning rate an epoch, or a step", above=0, at_most=1)
    min_learning_rate: float = option(1e-5, "below which it does not fall", at_least=0)
    warm_up: int = option(0, "steps in which the learning rate rises from 0", at_least=0)
    own_prefixes: float = option(
        0.0, "share of the rows before that the decoder draws itself in training", at_least=0, at_most=1
    )
    average: float = option(
        0.0, "keep a running mean of the weights; 0.999: over about a thousand steps", at_least=0, below=1
    )
    reader: str = option(
        "", "sketch-healer-2: folder of a trained sketch-rnn whose stroke encoder it reads with; none: random weights; "
        "empty: as none, but in `compare` the sketch-rnn trained beside it",
    )  # fmt: skip
    clip: str = option("variable-norm", "of gradients: each variable's norm, value (sketch-rnn), norm (all), none",
                       choices=("variable-norm", "value", "norm", "none"))  # fmt: skip
    clip_at: float = option(1.0, "gradients above this are clipped", above=0)
    max_steps: int = option(27_000, "about 20 epochs of 5 x 70,000 drawings", free="budget", at_least=1)
    max_minutes: float = option(
        0.0, "stop after so much training time, over all stretches; 0: no limit", free=True, at_least=0
    )
    patience: int = option(0, "validations without a better loss before it stops; 0: never", free=True, at_least=0)
    validate_every: int = option(500, "steps between validations", free="budget", at_least=1)
    validate_sketches: int = option(1_000, "drawings of the validation split", at_least=1)
    save_every: int = option(500, "steps between checkpoints", free=True, at_least=1)
    gallery: int = option(6, "drawings shown at each validation", free=True, at_least=0)
