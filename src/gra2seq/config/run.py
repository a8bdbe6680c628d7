"""All options of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from gra2seq.config.drawing import DrawingConfig
from gra2seq.config.fields import option
from gra2seq.config.model import ModelConfig
from gra2seq.config.preparation import PreparationConfig
from gra2seq.config.training import TrainingConfig
from gra2seq.errors import UserError


@dataclass(frozen=True)
class RunConfig:
    """What is trained, on what, where to and on which devices; and the four kinds of options."""

    preset: str = option("paper", "what the other options start from")
    data: str = option("doodles", "a store, a file, a folder of files, or doodles[:COUNT[:SEED]]", free=True)
    dataset: str = option("", "a named set of that data (DS1, OPEN8, …), or all of it")
    run: str = option("runs/latest", "folder of the run", free=True)
    seed: int = option(0, "of the weights and of everything random in training", at_least=0, at_most=2**63 - 1)
    start: str = option("", "begin with the weights of another run, or of the model in the package (`package`)")
    modules: tuple[str, ...] = option((), "Python modules that register own models, link rules or formats")
    workers: int = option(1, "processes that prepare batches", at_least=0, at_most=1024, free=True)
    threads: int = option(
        0, "of each computing process; 0: as many as there are cores", at_least=0, at_most=1024, free=True
    )
    accelerator: str = option(
        "auto", "handed to Fabric", choices=("auto", "cpu", "cuda", "gpu", "mps", "tpu"), free=True
    )
    devices: int = option(1, "processes, or GPUs", at_least=1, at_most=4096, free=True)
    num_nodes: int = option(1, "machines", at_least=1, at_most=4096, free=True)
    precision: str = option(
        "32-true", "of training: single, or products in 16 bits (bfloat16)", choices=("32-true", "bf16-mixed")
    )
    model: ModelConfig = field(default_factory=ModelConfig)
    preparation: PreparationConfig = field(default_factory=PreparationConfig)
    drawing: DrawingConfig = field(default_factory=DrawingConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def check(self) -> None:
        """Conditions that involve several fields."""
        self.model.check()
        self.preparation.check()
        processes = self.devices * self.num_nodes
        if self.training.batch % processes:
            raise UserError(
                f"a batch of {self.training.batch} cannot be shared by {processes} processes: choose a multiple"
            )
        if not self.run:
            raise UserError("run is empty: give the folder of the run")
        if self.training.objective == "repair-codes" and not self.model.code_repair:
            raise UserError("objective=repair-codes trains the code repair, which code_repair=false leaves out")
        if self.training.objective == "predict-ink" and not self.model.ink_prediction:
            raise UserError("objective=predict-ink trains the ink prediction, which ink_prediction=false leaves out")
        if self.training.objective == "predict-frame" and not self.model.frame_prediction:
            raise UserError(
                "objective=predict-frame trains the frame prediction, which frame_prediction=false leaves out"
            )
        if self.training.objective != "reconstruct" and not self.start:
            raise UserError(
                f"objective={self.training.objective} needs a trained model: say which with start=RUN, or start=package"
            )
