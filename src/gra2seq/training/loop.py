"""The one loop, in the open: prepare, forward, backward, clip, step; now and then validate, draw and save.

Models know no optimiser, device or path; this file knows of models only whether one draws or judges. Every step is a
pure function of the options and the step before, so a run that is killed and resumed goes on as if nothing had
happened.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from lightning_fabric.utilities.exceptions import MisconfigurationException
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.data.datasets import Dataset, open_dataset
from gra2seq.data.schedule import Schedule, Share, Steps, stream
from gra2seq.errors import UserError
from gra2seq.folder import model_folder
from gra2seq.models import network_of
from gra2seq.options import JUDGE, Options
from gra2seq.system.atomic_files import readable_os_errors
from gra2seq.system.json_files import read_json_lines
from gra2seq.system.memory import keep_freed_memory
from gra2seq.training import checkpoint, manifest
from gra2seq.training.average import Average
from gra2seq.training.checkpoint import Progress
from gra2seq.training.logs import Logs
from gra2seq.training.run_lock import lock_run
from gra2seq.training.stopping import Stopping
from gra2seq.training.validation import Validation

BETAS, EPSILON = (0.9, 0.999), 1e-8  # Adam's, as in the paper
TEST = "test.json"  # figures of a judge on the whole test split


class NotFinite(UserError):
    """A loss term or gradient that is NaN or infinite; the message names it, the step and the sketches of the batch."""


class Stopped(Exception):
    """The user asked for it (Ctrl-C, SIGTERM); the checkpoint is written."""


@dataclass(frozen=True)
class Report:
    """What the loop tells whoever watches, after every step."""

    step: int
    steps: int
    loss: float
    terms: dict[str, float]
    rate: float  # sketches a second, lately
    left: float  # seconds to the end
    valid: float | None = None
    note: str = ""


Watch = Callable[[Report], None]


@dataclass
class Clock:
    """Sketches a second over the last steps, and how long the rest will take."""

    batch: int
    marks: list[float] = field(default_factory=list)

    def tick(self) -> float:
        self.marks = [*self.marks[-50:], time.perf_counter()]
        if len(self.marks) < 2:
            return math.nan
        return self.batch * (len(self.marks) - 1) / max(self.marks[-1] - self.marks[0], 1e-9)


def train(options: Options, *, resume: bool = False, watch: Watch | None = None) -> Path:
    """Train a model; returns the folder of the run, which `gra2seq.load` opens."""
    keep_freed_memory()
    if options.threads:
        torch.set_num_threads(options.threads)
    run = Path(options.run)
    if manifest.rank() == 0:
        _check_folder(run, resume)
    if options.polish and not options.start:
        raise UserError("polish=true polishes the decoder of a trained model: say which with start=RUN, or shipped")
    if options.mend and not options.start:
        raise UserError("mend=true learns to mend the codes of a trained model: say which with start=RUN, or shipped")
    dataset = open_dataset(options.data, name=options.dataset or None)
    if len(dataset.train) == 0:
        raise UserError(f"{dataset.name} has no sketch in its train split: nothing to learn from")

    fabric = _fabric(options)
    if not _leads(fabric):
        return _train(options, run, dataset, fabric, resume, watch)
    with lock_run(run):
        _check_folder(run, resume)  # again: another training may have ended there while the data were made ready
        return _train(options, run, dataset, fabric, resume, watch)


def _check_folder(run: Path, resume: bool) -> None:
    """There is a run to go on with, or room for a new one."""
    if resume and not (run / checkpoint.CONFIG).exists():
        raise UserError(f"{run} holds no run: nothing to resume; leave --resume out to start")
    if not resume and any((run / name).exists() for name in (checkpoint.LAST, checkpoint.WEIGHTS)):
        raise UserError(f"{run} holds a model already: go on with --resume, or choose another folder with run=…")


def _fabric(options: Options) -> Fabric:
    try:
        return Fabric(
            accelerator=options.accelerator,
            devices=options.devices,
            num_nodes=options.num_nodes,
            precision=options.precision,  # type: ignore[arg-type]
            strategy="ddp" if options.devices * options.num_nodes > 1 else "auto",
        )
    except (ImportError, RuntimeError, ValueError, MisconfigurationException) as error:
        raise UserError(
            f"accelerator={options.accelerator} with devices={options.devices} is not to be had here "
            f"({str(error).strip().splitlines()[0]}): leave it auto, or give cpu"
        ) from error


def _leads(fabric: Fabric) -> bool:
    """Before the launch, whatever started the processes: only one of them will be number 0."""
    return fabric.node_rank == 0 and fabric.local_rank == 0


def _train(options: Options, run: Path, dataset: Dataset, fabric: Fabric, resume: bool, watch: Watch | None) -> Path:
    fabric.launch()
    torch.manual_seed(options.seed)
    network = network_of(options, dataset.categories)
    if resume and fabric.is_global_zero and (note := checkpoint.recover_last(run)) and watch is not None:
        watch(_note(Progress(), options, note))
    fabric.barrier()  # the last checkpoint is sound, or replaced by the one before it
    begun = resume and (run / checkpoint.LAST).exists()  # else it was stopped before its first checkpoint: step 0
    if options.start:
        other = run if begun else model_folder(options.start)
        if not begun:
            if options.mend or options.polish:
                manifest.check_same_model(other, options)
            _start(options, network, other, watch if fabric.is_global_zero else None)
        dataset = replace(dataset, unit=manifest.scale_of(other))  # its weights know offsets in this unit
    optimizer = torch.optim.Adam(network.parameters(), lr=options.learning_rate, betas=BETAS, eps=EPSILON, fused=True)

    state = Progress()
    average = Average(network, options.average) if options.average else None
    if resume:
        manifest.check_same_run(run, options, dataset)
    elif fabric.is_global_zero:
        with readable_os_errors(run):
            run.mkdir(parents=True, exist_ok=True)
    module, prepared = fabric.setup(network, optimizer)
    if begun:
        # Now that the weights are on their device: Adam's moments belong beside them.
        state = _progress(run, checkpoint.load_checkpoint(run / checkpoint.LAST, network, optimizer, average))
    fabric.barrier()  # all have read before one writes
    if fabric.is_global_zero:
        about = manifest.config(options, dataset)
        if options.mend:  # it is the other model, whatever it learns to mend from
            about["categories"] = manifest.categories_of(other)
        checkpoint.write_json(run / checkpoint.CONFIG, about)
    if fabric.is_global_zero and not (state.finished and is_finished(options, state)):  # else there is nothing to do
        manifest.write(run, options, dataset, resumed_at=state.step if resume else None)
    fabric.barrier()

    with Stopping() as stopping, Logs(run, state.step, writing=fabric.is_global_zero) as logs:
        _steps(fabric, module, network, prepared, average, options, dataset, state, logs, watch, stopping)
    kept = (run / checkpoint.WEIGHTS).exists()
    if fabric.is_global_zero and kept and state.finished and options.model == JUDGE and len(dataset.test):
        checkpoint.load_weights(run / checkpoint.WEIGHTS, network)
        test = Validation(options, dataset, network, dataset.test, most=len(dataset.test))
        figures = {**test.losses(), "sketches": len(test.indices), "categories": list(dataset.categories)}
        checkpoint.write_json(run / TEST, figures)  # its accuracy is the ceiling of every Rec it gives
    fabric.barrier()
    if fabric.is_global_zero and state.finished and not kept:  # behind the barrier: nobody waits for one who raised
        raise UserError(f"{run}: no validation gave a finite loss, so no weights were kept: lower learning_rate")
    return run


def _progress(run: Path, told: dict[str, Any]) -> Progress:
    try:
        return Progress(**told)
    except TypeError as error:
        raise UserError(f"{run / checkpoint.LAST} is of another version ({error}): train again with run=…") from error


def _start(options: Options, network: nn.Module, other: Path, watch: Watch | None) -> None:
    """Begin with another model's weights, and say what only one of the two has."""
    fresh, left = checkpoint.start_from(other / checkpoint.WEIGHTS, network)
    if watch is not None:
        told = [f"{how}: {', '.join(names)}" for how, names in (("new", fresh), ("left behind", left)) if names]
        watch(_note(Progress(), options, "; ".join([f"begins with the weights of {options.start}", *told])))


def _steps(
    fabric: Fabric,
    module: nn.Module,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average | None,
    options: Options,
    dataset: Dataset,
    state: Progress,
    logs: Logs,
    watch: Watch | None,
    stopping: Stopping,
) -> None:
    recipe = options.recipe(dataset.scale, dataset.categories)
    counts = np.asarray(dataset.store.point_counts[dataset.train], np.int64)
    short = dataset.train[counts <= options.max_points]
    if len(short) == 0:
        raise UserError(f"every training sketch has more than max_points={options.max_points} points: raise it")
    schedule = Schedule(len(short), options.batch, options.seed)
    share = Share(fabric.global_rank, fabric.world_size)
    steps = Steps(dataset.store, short, recipe, schedule, share)
    judged_on = dataset.valid if len(dataset.valid) else dataset.train
    validate = (
        Validation(options, dataset, network, judged_on, options.validate_sketches) if fabric.is_global_zero else None
    )
    run, clock = Path(options.run), Clock(options.batch)
    if len(short) < len(dataset.train) and watch is not None and fabric.is_global_zero:
        left_out = len(dataset.train) - len(short)
        watch(_note(state, options, f"{left_out} sketches of over {options.max_points} points are left out"))
    if len(short) < options.batch and watch is not None and fabric.is_global_zero:
        watch(_note(state, options, f"{len(short)} sketches do not fill a batch of {options.batch}: they are repeated"))

    if state.finished and is_finished(options, state):
        if watch is not None and fabric.is_global_zero:
            watch(_note(state, options, f"the run is finished at step {state.step} ({_limit(options, state)})"))
        return
    if state.step >= options.max_steps:  # it was stopped beyond what is now its end
        state.finished = True
        if validate is not None:
            with average.used() if average is not None else nullcontext():
                validate(state, logs, run)
            checkpoint.save_checkpoint(run / checkpoint.LAST, network, optimizer, vars(state), average)
        return
    module.train()
    started, before = time.perf_counter(), state.seconds
    for step, batch in _numbered(steps, state.step, options):
        rate = learning_rate(options, schedule, step)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        terms, figures = module(batch.to(fabric.device))
        loss = torch.stack(list(terms.values())).sum()
        asked = torch.tensor(float(stopping.asked), device=loss.device)  # one process is asked, all of them stop
        values = _global(fabric, {"loss": loss, **terms, **figures, "asked": asked})
        stop_now = values.pop("asked") > 0
        _guard({name: values[name] for name in ("loss", *terms)}, step, batch, run, fabric.global_rank)
        fabric.backward(loss)
        norm = clip(network, options.clip, options.clip_at)
        _guard({"gradient": norm}, step, batch, run, fabric.global_rank)  # the same for all: gradients are averaged
        optimizer.step()

        if average is not None:
            average.update_(step + 1)
        state.step, state.seconds = step + 1, before + time.perf_counter() - started
        speed = clock.tick()
        logs.step(state.step, {**values, "gradient": norm, "learning_rate": rate, "sketches_per_second": speed})
        last = state.step >= options.max_steps or _time_is_up(fabric, options, state)
        valid, stop = None, torch.zeros((), dtype=torch.int64)
        if state.step % options.validate_every == 0 or last:
            if validate is not None:
                with average.used() if average is not None else nullcontext():
                    valid = validate(state, logs, run)
                stop += int(bool(options.patience) and state.stale >= options.patience)
            stop = fabric.broadcast(stop)
            module.train()
            clock.marks.clear()
            state.seconds = before + time.perf_counter() - started
        state.finished = last or bool(stop)
        due = state.step % options.save_every == 0 or valid is not None or state.finished or stop_now
        if fabric.is_global_zero and due:
            checkpoint.save_checkpoint(run / checkpoint.LAST, network, optimizer, vars(state), average)
        if watch is not None and fabric.is_global_zero:
            remaining = seconds_left(options, state, speed)
            named = {name: values[name] for name in terms}
            watch(Report(state.step, options.max_steps, values["loss"], named, speed, remaining, valid))
        if state.finished:
            if stop and not last and watch is not None and fabric.is_global_zero:
                watch(_note(state, options, f"no better for {state.stale} validations: stopped early"))
            break
        if stop_now:
            raise Stopped(f"stopped at step {state.step}, nothing is lost: --resume goes on from there")


def is_finished(options: Options, state: Progress) -> bool:
    """By the limits of these options: a run that was finished goes on when they were moved."""
    out_of_time = bool(options.max_minutes) and state.seconds >= 60 * options.max_minutes
    return state.step >= options.max_steps or out_of_time or bool(options.patience and state.stale >= options.patience)


def _limit(options: Options, state: Progress) -> str:
    """The limit that ended it, for those who want to move it."""
    if state.step >= options.max_steps:
        return f"max_steps={options.max_steps}"
    if options.max_minutes and state.seconds >= 60 * options.max_minutes:
        return f"max_minutes={options.max_minutes:g}"
    return f"patience={options.patience}"


def _time_is_up(fabric: Fabric, options: Options, state: Progress) -> bool:
    """Process 0's clock decides for all."""
    if not options.max_minutes:
        return False
    return bool(fabric.broadcast(state.seconds >= 60 * options.max_minutes))


def seconds_left(options: Options, state: Progress, speed: float) -> float:
    """To the last step at this speed (sketches a second), or to the end of the time given."""
    steps = (options.max_steps - state.step) * options.batch / speed if speed > 0 else math.nan
    return min(steps, max(60 * options.max_minutes - state.seconds, 0.0)) if options.max_minutes else steps


def _numbered(steps: Steps, start: int, options: Options) -> Iterator[tuple[int, Batch]]:
    batches = stream(steps, start, options.max_steps, options.workers)
    try:
        yield from zip(range(start, options.max_steps), batches, strict=True)
    except BaseException as error:  # its frames hold the workers, which would be waited for when the programme ends
        traceback.clear_frames(error.__traceback__)
        raise
    finally:
        del batches


def _note(state: Progress, options: Options, text: str) -> Report:
    return Report(state.step, options.max_steps, math.nan, {}, math.nan, math.nan, note=text)


def learning_rate(options: Options, schedule: Schedule, step: int) -> float:
    """Rises through the warm-up, then falls: by `decay` an epoch, or along half a cosine to the last step."""
    least = min(options.least_learning_rate, options.learning_rate)
    if options.fall == "cosine":
        share = min(step / options.max_steps, 1.0)
        rate = least + (options.learning_rate - least) * 0.5 * (1 + math.cos(math.pi * share))
    else:
        rate = max(options.learning_rate * options.decay ** (step // schedule.steps_per_epoch), least)
    return rate * min((step + 1) / (options.warm_up + 1), 1.0)


def clip(network: nn.Module, how: str, at: float) -> float:
    """Clip gradients in place; returns their norm before. `variable-norm`: each variable's norm (released code)."""
    grads = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    norms = torch.stack(list(torch._foreach_norm(grads)))
    norm = torch.linalg.vector_norm(norms)
    if how == "variable-norm":
        torch._foreach_mul_(grads, list((at / norms.clamp(min=at)).unbind()))
    elif how == "norm":
        torch._foreach_mul_(grads, at / norm.clamp(min=at))
    elif how == "value":
        torch._foreach_clamp_min_(grads, -at)
        torch._foreach_clamp_max_(grads, at)
    return float(norm)


def _global(fabric: Fabric, values: dict[str, Tensor]) -> dict[str, float]:
    """Means over the processes: figures of the global batch."""
    table = torch.stack([value.detach().float() for value in values.values()])
    if fabric.world_size > 1:
        table = torch.as_tensor(fabric.all_reduce(table, reduce_op="mean"))
    return dict(zip(values, table.tolist(), strict=True))


def _guard(values: dict[str, float], step: int, batch: Batch, run: Path, rank: int) -> None:
    """What is not finite stops the run before it touches the weights, and says where to look."""
    bad = [name for name, value in values.items() if not math.isfinite(value)]
    if bad:
        names = ", ".join(batch.names[:8]) + (" …" if len(batch.names) > 8 else "")
        file = run / f"not-finite-step-{step + 1}{f'-process-{rank}' if rank else ''}.json"
        checkpoint.write_json(file, {"step": step + 1, "terms": bad, "sketches": list(batch.names)})
        raise NotFinite(
            f"step {step + 1}: {', '.join(bad)} is not finite on the batch of {names} (all in {file}); this step was "
            "not taken. Look at these drawings, or lower learning_rate, or set least_log_std"
        )


def read_metrics(run: Path, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl, or of another of its logs."""
    return read_json_lines(run / name)
