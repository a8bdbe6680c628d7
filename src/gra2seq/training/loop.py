"""The training loop: prepare, forward, backward, clip, step; now and then validate, draw and save.

Models know no optimiser, device or path; the loop knows of models only their objective. Every step is a pure function
of the configuration and the step before, so a run that is killed and resumed goes on as if nothing had happened.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from gra2seq.config.run import RunConfig
from gra2seq.config.systems import CLASSIFIER
from gra2seq.data.batch_order import Schedule, Share, Steps, stream
from gra2seq.data.batches import Batch
from gra2seq.data.datasets import Dataset, open_dataset
from gra2seq.errors import UserError
from gra2seq.folder import model_folder
from gra2seq.models import model_files
from gra2seq.models.registry import build_network, preparation_of
from gra2seq.system.atomic_files import readable_os_errors
from gra2seq.system.memory import keep_freed_memory
from gra2seq.training import checkpoint, manifest
from gra2seq.training.average import Average
from gra2seq.training.checkpoint import Progress
from gra2seq.training.devices import fabric_of
from gra2seq.training.logs import Logs
from gra2seq.training.objectives import OBJECTIVES
from gra2seq.training.optimise import BETAS, EPSILON, check_finite, clip, learning_rate
from gra2seq.training.perceptual_reader import NO_READER, load_reader
from gra2seq.training.report import Clock, Report, StepCallback, is_finished, reached_limit, seconds_left
from gra2seq.training.run_lock import lock_run
from gra2seq.training.stopping import Stopping
from gra2seq.training.validation import Validation

TEST = "test.json"  # figures of a classifier on the whole test split


class Stopped(Exception):
    """The user asked for it (Ctrl-C, SIGTERM); the checkpoint is written."""


def train(config: RunConfig, *, resume: bool = False, on_step: StepCallback | None = None) -> Path:
    """Train a model; returns the folder of the run, which `gra2seq.load` opens. `on_step` receives a report a step."""
    keep_freed_memory()
    if config.threads:
        torch.set_num_threads(config.threads)
    run = Path(config.run)
    if manifest.rank() == 0:
        _check_folder(run, resume)
    dataset = open_dataset(config.data, name=config.dataset or None)
    if len(dataset.train) == 0:
        raise UserError(f"{dataset.name} has no sketch in its train split: nothing to learn from")
    fabric = fabric_of(config)
    leads = fabric.node_rank == 0 and fabric.local_rank == 0  # before the launch, whatever started the processes
    with lock_run(run) if leads else nullcontext():
        if leads:  # again: another training may have ended there while the data were made ready
            _check_folder(run, resume)
        fabric.launch()
        return Trainer(config, dataset, fabric, resume, on_step if fabric.is_global_zero else None).run_all()


def _check_folder(run: Path, resume: bool) -> None:
    """There is a run to resume, or room for a new one."""
    if resume and not (run / model_files.CONFIG).exists():
        raise UserError(f"{run} holds no run: nothing to resume; leave --resume out to start")
    if not resume and any((run / name).exists() for name in (model_files.LAST, model_files.WEIGHTS)):
        raise UserError(f"{run} holds a model already: go on with --resume, or choose another folder with run=…")


class Trainer:
    """One process of a training: its network, optimiser, data and place in the run."""

    def __init__(
        self, config: RunConfig, dataset: Dataset, fabric: Fabric, resume: bool, on_step: StepCallback | None
    ) -> None:
        self.config, self.training, self.fabric, self.on_step = config, config.training, fabric, on_step
        self.run, self.state = Path(config.run), Progress()
        torch.manual_seed(config.seed)
        self.network = build_network(config.model, dataset.categories)
        if resume and fabric.is_global_zero and (note := checkpoint.recover_last(self.run)):
            self._note(note)
        fabric.barrier()  # the last checkpoint is sound, or replaced by the one before it
        begun = resume and (self.run / model_files.LAST).exists()  # else it was stopped before its first checkpoint
        self.dataset = self._start_from(dataset, begun)
        if self.training.reader not in ("", NO_READER) and not begun:  # else it is in the checkpoint
            load_reader(self.network, self.training.reader)
        self.bare_objective = OBJECTIVES[self.training.objective](self.network)
        self.average = Average(self.network, self.training.average) if self.training.average else None
        if resume:
            manifest.check_same_run(self.run, config, self.dataset)
        elif fabric.is_global_zero:
            with readable_os_errors(self.run):
                self.run.mkdir(parents=True, exist_ok=True)
        optimizer = torch.optim.Adam(
            self.network.parameters(), lr=self.training.learning_rate, betas=BETAS, eps=EPSILON, fused=True
        )
        self.objective, self.optimizer = fabric.setup(self.bare_objective, optimizer)
        if begun:  # now that the weights are on their device: Adam's moments belong beside them
            self.state = checkpoint.load_run(self.run, self.network, optimizer, self.average)
        self.raw_optimizer = optimizer
        fabric.barrier()  # all have read before one writes
        if fabric.is_global_zero:
            self._write_manifest(resume)
        fabric.barrier()

    def _start_from(self, dataset: Dataset, begun: bool) -> Dataset:
        """Begin with another model's weights, if the configuration says so; offsets keep that model's unit."""
        if not self.config.start:
            return dataset
        other = self.run if begun else model_folder(self.config.start)
        if not begun:
            if self.training.objective != "reconstruct":
                manifest.check_same_model(other, self.config)
            fresh, unused = model_files.start_from(other / model_files.WEIGHTS, self.network)
            parts = [f"{how}: {', '.join(names)}" for how, names in (("new", fresh), ("unused", unused)) if names]
            self._note("; ".join([f"begins with the weights of {self.config.start}", *parts]))
        return replace(dataset, unit=model_files.scale_of(other))

    def _write_manifest(self, resume: bool) -> None:
        about = manifest.describe(self.config, self.dataset)
        if self.training.objective != "reconstruct" and not resume:  # it stays the other model, whatever it learns from
            about["categories"] = model_files.categories_of(model_folder(self.config.start))
        elif self.training.objective != "reconstruct":
            about["categories"] = model_files.categories_of(self.run)
        model_files.write_json(self.run / model_files.CONFIG, about)
        if not (self.state.finished and is_finished(self.training, self.state)):  # else there is nothing to do
            manifest.write(self.run, self.config, self.dataset, resumed_at=self.state.step if resume else None)

    def run_all(self) -> Path:
        """The remaining steps; returns the folder of the run."""
        with Stopping() as stopping, Logs(self.run, self.state.step, writing=self.fabric.is_global_zero) as self.logs:
            self._steps(stopping)
        kept = (self.run / model_files.WEIGHTS).exists()
        classifier = self.config.model.name == CLASSIFIER
        if self.fabric.is_global_zero and kept and self.state.finished and classifier and len(self.dataset.test):
            model_files.load_weights(self.run / model_files.WEIGHTS, self.network)
            test = Validation(self.config, self.dataset, self.bare_objective, self.dataset.test, len(self.dataset.test))
            figures = {**test.losses(), "sketches": len(test.indices), "categories": list(self.dataset.categories)}
            model_files.write_json(self.run / TEST, figures)  # its accuracy is the ceiling of every Rec it gives
        self.fabric.barrier()
        if self.fabric.is_global_zero and self.state.finished and not kept:  # behind the barrier: nobody waits for one
            raise UserError(
                f"{self.run}: no validation gave a finite loss, so no weights were kept: lower learning_rate"
            )
        return self.run

    def _steps(self, stopping: Stopping) -> None:
        """Every step from where the run is to its end, to a stop that was asked for, or until patience is exhausted."""
        steps, schedule = self._data()
        judged_on = self.dataset.valid if len(self.dataset.valid) else self.dataset.train
        self.validation = (
            Validation(self.config, self.dataset, self.bare_objective, judged_on, self.training.validate_sketches)
            if self.fabric.is_global_zero
            else None
        )
        state, training = self.state, self.training
        if state.finished and is_finished(training, state):
            self._note(f"the run is finished at step {state.step} ({reached_limit(training, state)})")
            return
        if state.step >= training.max_steps:  # it was stopped beyond what is now its end
            state.finished = True
            self._validate()
            self._save()
            return
        self.objective.train()
        clock, started, before = Clock(training.batch), time.perf_counter(), state.seconds
        for step, batch in self._numbered(steps):
            values, names = self._step(step, batch, learning_rate(training, schedule, step), stopping)
            stop_now = values.pop("stop") > 0
            state.step, state.seconds = step + 1, before + time.perf_counter() - started
            speed = clock.tick()
            self.logs.step(state.step, {**values, "sketches_per_second": speed})

            last = state.step >= training.max_steps or self._time_is_up()
            valid, stale = None, False
            if state.step % training.validate_every == 0 or last:
                valid, stale = self._validate()
                clock.marks.clear()
                state.seconds = before + time.perf_counter() - started

            state.finished = last or stale
            if state.step % training.save_every == 0 or valid is not None or state.finished or stop_now:
                self._save()
            self._report(values, names, speed, valid)

            if state.finished:
                if stale and not last:
                    self._note(f"no better for {state.stale} validations: stopped early")
                return
            if stop_now:
                raise Stopped(f"stopped at step {state.step}, nothing is lost: --resume goes on from there")

    def _step(self, step: int, batch: Batch, rate: float, stopping: Stopping) -> tuple[dict[str, float], list[str]]:
        """One step; returns all figures of the global batch, and the names of the loss terms among them."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        terms, figures = self.objective(batch.to(self.fabric.device))
        loss = torch.stack(list(terms.values())).sum()
        stop = torch.tensor(float(stopping.requested), device=loss.device)  # of any process, for all
        values = _global_means(self.fabric, {"loss": loss, **terms, **figures, "stop": stop})
        rank = self.fabric.global_rank
        check_finite({name: values[name] for name in ("loss", *terms)}, step, batch, self.run, rank)
        self.fabric.backward(loss)
        norm = clip(self.network, self.training.clip, self.training.clip_at)
        check_finite({"gradient": norm}, step, batch, self.run, rank)  # the same for all: gradients are averaged
        self.optimizer.step()
        if self.average is not None:
            self.average.update_(step + 1)
        return {**values, "gradient": norm, "learning_rate": rate}, list(terms)

    def _data(self) -> tuple[Steps, Schedule]:
        most = self.config.preparation.max_points
        counts = np.asarray(self.dataset.store.point_counts[self.dataset.train], np.int64)
        short = self.dataset.train[counts <= most]
        if len(short) == 0:
            raise UserError(f"every training sketch has more than max_points={most} points: raise it")
        if len(short) < len(self.dataset.train):
            self._note(f"{len(self.dataset.train) - len(short)} sketches of over {most} points are left out")
        if len(short) < self.training.batch:
            self._note(f"{len(short)} sketches do not fill a batch of {self.training.batch}: they are repeated")
        preparation = preparation_of(self.config, self.dataset.scale, self.dataset.categories)
        schedule = Schedule(len(short), self.training.batch, self.config.seed)
        share = Share(self.fabric.global_rank, self.fabric.world_size)
        return Steps(self.dataset.store, short, preparation, schedule, share), schedule

    def _numbered(self, steps: Steps) -> Iterator[tuple[int, Batch]]:
        start, stop = self.state.step, self.training.max_steps
        batches = stream(steps, start, stop, self.config.workers)
        try:
            yield from zip(range(start, stop), batches, strict=True)
        except BaseException as error:  # its frames hold the workers, which would be waited for at exit
            traceback.clear_frames(error.__traceback__)
            raise
        finally:
            del batches

    def _averaged(self) -> AbstractContextManager[None]:
        return self.average.used() if self.average is not None else nullcontext()

    def _validate(self) -> tuple[float | None, bool]:
        """The validation loss, where this process measures it, and whether patience is exhausted, for all alike."""
        valid, stop = None, torch.zeros((), dtype=torch.int64)
        if self.validation is not None:
            with self._averaged():
                valid = self.validation(self.network, self.state, self.logs, self.run)
            stop += int(bool(self.training.patience) and self.state.stale >= self.training.patience)
        stop = self.fabric.broadcast(stop)
        self.objective.train()
        return valid, bool(stop)

    def _save(self) -> None:
        if self.fabric.is_global_zero:
            checkpoint.save_run(self.run, self.network, self.raw_optimizer, self.state, self.average)

    def _time_is_up(self) -> bool:
        """Process 0's clock decides for all."""
        limit = 60 * self.training.max_minutes
        return bool(limit) and bool(self.fabric.broadcast(self.state.seconds >= limit))

    def _report(self, values: dict[str, float], names: list[str], speed: float, valid: float | None) -> None:
        if self.on_step is not None:
            left = seconds_left(self.training, self.state, speed)
            terms = {name: values[name] for name in names}
            self.on_step(Report(self.state.step, self.training.max_steps, values["loss"], terms, speed, left, valid))

    def _note(self, text: str) -> None:
        if self.on_step is not None:
            self.on_step(Report.of_note(self.state.step, self.training.max_steps, text))


def _global_means(fabric: Fabric, values: dict[str, Tensor]) -> dict[str, float]:
    """Means over the processes: figures of the global batch."""
    table = torch.stack([value.detach().float() for value in values.values()])
    if fabric.world_size > 1:
        table = torch.as_tensor(fabric.all_reduce(table, reduce_op="mean"))
    return dict(zip(values, table.tolist(), strict=True))
