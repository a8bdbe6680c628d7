"""The speed of this machine, part by part, and how far it is from the peak of its matrix products."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from gra2seq.bench import search
from gra2seq.config import parse_config
from gra2seq.config.systems import SYSTEMS
from gra2seq.data.batch_order import Schedule, Share, Steps
from gra2seq.data.batches import Batch, Preparation, generator
from gra2seq.data.datasets import Dataset, open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.data.store_writer import write_store
from gra2seq.data.views import PatchView, Seen
from gra2seq.errors import UserError, unknown_name
from gra2seq.evaluation.retrieval import ranks
from gra2seq.folder import untrained
from gra2seq.formats.files import write
from gra2seq.formats.record import Record
from gra2seq.models.registry import build, preparation_of
from gra2seq.models.sketch_model import SketchModel, rows_that_count
from gra2seq.nn.patch_cnn import PatchCNN
from gra2seq.sketch.canvas import draw
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.memory import keep_freed_memory, peak_memory
from gra2seq.training.loop import train
from gra2seq.training.report import Report

ON_REQUEST = ("search", "tracing")  # take long, or measure quality too
PARTS = ("encoder", "preparation", "training", "systems", "drawing", "healing", "retrieval", "growth", *ON_REQUEST)
PLACES = ("data/quickdraw", "../shared/quickdraw")  # where real drawings are looked for, from the working folder
SAMPLE = 4096  # drawings the figures are measured on
GROWTH = (1_000, 100_000)
STEPS = {"paper": 8, "small": 24, "systems": 8}  # timed training steps, after two to warm up
HEALED = 1_000  # drawings, by the command line
CODES = 100_000  # of a gallery that is searched


def measure(source: str | None, *, only: Sequence[str] = (), report: Callable[[str], None]) -> dict[str, Any]:
    """All parts, or those of `only`; each ratio comes from one run."""
    from gra2seq.bench import tracing

    unknown = [name for name in only if name not in PARTS]
    if unknown:
        raise unknown_name("part", unknown[0], PARTS)
    keep_freed_memory()
    source = source or next((place for place in PLACES if Path(place).is_dir()), "doodles:4000")
    capability = torch.backends.cpu.get_cpu_capability()
    figures: dict[str, Any] = {"data": source, "threads": torch.get_num_threads(), "cpu_capability": capability}
    figures["peak_gflops"] = peak = peak_gflops()
    report(f"matrix-product peak: {peak:.0f} GFLOP/s with {torch.get_num_threads()} threads")
    dataset = open_dataset(source)
    sample = generator(0).permutation(dataset.train)[:SAMPLE]
    sketches = [dataset.store[int(index)] for index in sample]
    sketches = [sketch for sketch in sketches if len(sketch) <= 250]
    figures["mean_points"] = float(np.mean([len(sketch) for sketch in sketches]))
    measured: dict[str, Callable[[], Any]] = {
        "encoder": lambda: encoder(sketches[:64]),
        "preparation": lambda: preparation(sketches, dataset.scale),
        "training": lambda: {preset: training(preset, source, dataset, peak) for preset in ("paper", "small")},
        "systems": lambda: systems(sketches, dataset),
        "drawing": lambda: drawing(sketches[:256]),
        "healing": lambda: healing(sketches[:HEALED]),
        "retrieval": lambda: _in_a_process("_retrieve"),
        "growth": growth,
        "search": lambda: {way: _in_a_process("search.run", way, str(rows)) for way, rows in search.SIZES.items()},
        "tracing": lambda: tracing.run(source, report=report),
    }
    for name in PARTS:
        if name in only or (not only and name not in ON_REQUEST):
            figures[name] = measured[name]()
            report(f"{name}: {figures[name]}")
    return figures


def peak_gflops() -> float:
    """The best of several large single-precision matrix products."""
    size = 2048
    a, b = torch.randn(2, size, size)
    return max(2e-9 * size**3 / _seconds(lambda: torch.mm(a, b)) for _ in range(8))


def encoder(sketches: list[Sketch]) -> dict[str, float]:
    """The patch CNN forward and backward: distinct blocks against plain convolutions, sketches a second."""
    cnn = PatchCNN()
    blocks = PatchView()(_seen(sketches)).blocks
    pixels = _pixels(sketches)

    def distinct() -> None:
        _backward(cnn, cnn(blocks))

    def plain() -> None:
        _backward(cnn, cnn.plain(pixels))

    distinct()
    fast = float(np.median([_seconds(distinct) for _ in range(7)]))
    _backward(cnn, cnn.plain(_pixels(sketches[:4])))  # warm up
    slow = _seconds(plain)
    count, few = len(sketches), sketches[:8]
    return {
        "plain": count / slow,
        "distinct": count / fast,
        "ratio": slow / fast,
        "max_relative_difference": encoder_difference(cnn, few),
        "plain_float32_difference": encoder_difference(cnn, few, fast=False),
    }


def _seen(sketches: Sequence[Sketch]) -> Seen:
    return Seen([Damage.none(sketch) for sketch in sketches], gradient=True)


def _pixels(sketches: Sequence[Sketch]) -> Tensor:
    """(n, patch, patch) all views of the sketches, one after the other."""
    view = PatchView()
    cut = [view.cut(damage, draw(damage, view.canvas))[0] for damage in _seen(sketches).damages]
    return torch.from_numpy(np.concatenate(cut))


def encoder_difference(cnn: PatchCNN, sketches: list[Sketch], fast: bool = True) -> float:
    """Largest difference from plain convolutions in double precision, of the features and of every gradient.

    Relative to the largest entry of each. Double precision, because plain convolutions in single precision are
    themselves further from the truth than the distinct blocks are (`fast=False` measures how far).
    """
    pixels = _pixels(sketches)
    features = cnn(PatchView()(_seen(sketches)).blocks) if fast else cnn.plain(pixels)
    ours = [features.detach().double(), *_backward(cnn, features)]
    twin = PatchCNN(blank=cnn.blank, ink=cnn.ink).double()
    twin.load_state_dict(cnn.state_dict())
    features = twin.plain(pixels)
    truth = [features.detach(), *_backward(twin, features)]
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(ours, truth, strict=True))


def _backward(cnn: nn.Module, features: Tensor) -> list[Tensor]:
    cnn.zero_grad(set_to_none=True)
    features.square().sum().backward()  # type: ignore[no-untyped-call]
    return [parameter.grad.double() for parameter in cnn.parameters() if parameter.grad is not None]


def preparation(sketches: list[Sketch], scale: float, batch: int = 64) -> dict[str, float]:
    """Raster, patches, masking, block numbering and rows on one core."""
    threads, cv_threads = torch.get_num_threads(), cv2.getNumThreads()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    steps = _steps_over(sketches, preparation_of(parse_config({"preset": "small"}), scale), batch)
    try:
        steps[0]
        count = min(len(sketches) // batch, 16)
        rates = []
        for start in range(0, max(count, 1), 4):
            parts = range(start, min(start + 4, max(count, 1)))
            rates.append(batch * len(parts) / _seconds(lambda parts=parts: [steps[i] for i in parts]))  # type: ignore[misc]
    finally:
        torch.set_num_threads(threads)
        cv2.setNumThreads(cv_threads)
    return {"sketches_per_second": float(np.median(rates))}


def training(preset: str, source: str, dataset: Dataset, peak: float) -> dict[str, float]:
    """The real loop with its preparation and logs, as `gra2seq train` runs it, without validation in between."""
    steps = STEPS[preset]
    config = parse_config({"preset": preset, "data": source})
    batch = config.training.batch
    seconds = float(_in_a_process("_time_training", preset, source, str(steps))) / steps
    counts = np.asarray(dataset.store.point_counts[dataset.train], np.int64)
    short = dataset.train[counts <= config.preparation.max_points]
    schedule = Schedule(len(short), batch, config.seed)
    prepared = Steps(dataset.store, short, preparation_of(config, dataset.scale), schedule, Share())
    network = build(config.model)
    work = float(np.mean([step_flops(prepared[step], network) for step in range(2, 2 + min(steps, 6))]))
    return {
        "sketches_per_second": batch / seconds,
        "share_of_peak": work / seconds / 1e9 / peak,
        "gflops_per_sketch": work / batch / 1e9,
    }


def _time_training(preset: str, source: str, steps: str) -> float:
    """Seconds of some steps, after two to warm up. The last step also validates: it is not timed."""
    count = int(steps)
    marks: list[float] = []

    def on_step(report: Report) -> None:
        if not report.note:
            marks.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        quiet = {"validate_every": 10**9, "save_every": 10**9, "validate_sketches": 16, "gallery": 0}
        training = {"max_steps": count + 3, **quiet}
        run = f"{folder}/run"
        train(parse_config({"preset": preset, "data": source, "run": run, "training": training}), on_step=on_step)
    return marks[1 + count] - marks[1]


def systems(sketches: list[Sketch], dataset: Dataset, preset: str = "small") -> dict[str, Any]:
    """Training steps of every system on batches prepared before: sketches a second, and their ratio to SP-gra2seq's."""
    rates = {name: _steps_a_second(name, preset, sketches, dataset) for name in SYSTEMS}
    ours = rates["sp-gra2seq"]
    return {"sketches_per_second": rates, "ratio": {name: rate / ours for name, rate in rates.items()}}


def _steps_a_second(name: str, preset: str, sketches: list[Sketch], dataset: Dataset) -> float:
    config = parse_config({"preset": preset, "model": {"name": name}})
    size = config.training.batch
    prepared = _steps_over(sketches, preparation_of(config, dataset.scale, dataset.categories), size)
    batches = [prepared[step % prepared.schedule.steps_per_epoch] for step in range(2 + STEPS["systems"])]
    network = build(config.model, len(dataset.categories)).train()
    optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def learn(some: Sequence[Batch]) -> None:
        for batch in some:
            optimizer.zero_grad(set_to_none=True)
            torch.stack(list(network(batch)[0].values())).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    learn(batches[:2])
    return size * STEPS["systems"] / _seconds(lambda: learn(batches[2:]))


def _retrieve() -> dict[str, float]:
    """Ret of `CODES` codes, each searched among all: seconds, and the largest memory."""
    random = generator(0)
    gallery = random.standard_normal((CODES, parse_config({}).model.code), np.float32)
    queries = gallery + 0.5 * random.standard_normal(gallery.shape, np.float32)
    seconds = _seconds(lambda: ranks(queries, gallery, most=50))
    return {"codes": CODES, "seconds": seconds, "rss_mb": peak_memory()}


def healing(sketches: list[Sketch]) -> dict[str, float]:
    """`gra2seq heal` with the model in the package, 10 % masked, as it is called: of one sketch, and of all."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, len(sketches)):
            source, out = Path(folder, f"drawn-{count}.ndjson"), Path(folder, f"healed-{count}.ndjson")
            write(source, sketches[:count])
            words = ["heal", str(source), "--limit", str(count), "--mask-prob", "0.1", "-o", str(out)]
            start = time.perf_counter()
            subprocess.run([sys.executable, "-m", "gra2seq.cli", *words], capture_output=True, check=True)
            seconds[count] = time.perf_counter() - start
    first, all_ = seconds[1], seconds[len(sketches)]
    return {
        "sketches": len(sketches),
        "seconds": all_,
        "sketches_per_second": len(sketches) / all_,
        "seconds_of_one": first,
        "sketches_per_second_after_the_first": (len(sketches) - 1) / max(all_ - first, 1e-9),
    }


def _in_a_process(function: str, *words: str, **environment: str) -> Any:
    """The result of a function of this file that runs in a new process, with fresh memory and threads."""
    code = f"import json, sys; from gra2seq import bench; print(json.dumps(bench.{function}(*sys.argv[1:])))"
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise UserError(f"the benchmark of {function} failed: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])


def step_flops(batch: Batch, network: SketchModel) -> float:
    """Multiplications and additions of the matrix products of one training step that cannot be left out."""
    products = 0.0
    assert batch.targets is not None
    rows = int(rows_that_count(batch.targets.rows).sum())  # padding can be left out
    patches = batch.views["patches"]
    for name, weight in network.named_parameters():
        if "embed.weights" in name:
            level = int(name.rsplit(".", 1)[1]) - 1
            if level >= 0:
                products += len(patches.blocks.levels[level].children) * weight.shape[0] * weight.shape[1]
        elif name == "decoder.lstm.weight_ih_l0":  # the code's share is computed once a sketch, not once a row
            code = network.decoder.start.in_features
            products += (rows * (weight.shape[1] - code) + len(batch) * code) * len(weight)
        elif "lstm.weight" in name or "decoder.out.weight" in name:
            products += rows * weight.numel()
        elif "mix" in name and weight.dim() == 2:
            products += len(batch) * (patches.valid.shape[1] + 1) * weight.numel()
        elif weight.dim() == 2:
            products += len(batch) * weight.numel()
    return 6 * products  # forward, gradient of the input, gradient of the weight; two operations each


def drawing(sketches: list[Sketch]) -> dict[str, float]:
    """The paper preset draws a batch of codes to the lengths of real drawings."""
    model = untrained(parse_config({"preset": "paper"}))
    codes = generator(0).standard_normal((len(sketches), model.preparation.code)).astype(np.float32)
    lengths = np.array([len(sketch) for sketch in sketches])
    model.draw_codes(codes[:8], lengths=lengths[:8])
    seconds = float(np.median([_seconds(lambda: model.draw_codes(codes, lengths=lengths)) for _ in range(3)]))
    return {"sketches_per_second": len(sketches) / seconds, "batch": float(len(sketches))}


def growth() -> dict[str, Any]:
    """The data path for 1,000 and for 100,000 doodles: write a store, schedule an epoch, prepare and encode all.

    With the tiny preset, so that a step whose cost grows faster than the data would show; each in a process of
    its own, for its memory. A ratio of 1 is linear time and flat memory.
    """
    small, large = rows = [_in_a_process("_grow", str(count), OMP_NUM_THREADS="1") for count in GROWTH]
    seconds_ratio = large["seconds"] / small["seconds"] * GROWTH[0] / GROWTH[1]
    return {"seconds_ratio": seconds_ratio, "rss_ratio": large["rss_mb"] / small["rss_mb"], "runs": rows}


def _grow(sketches: str) -> dict[str, float]:
    count = int(sketches)
    model = untrained(parse_config({"preset": "tiny"}))
    model.encode(list(doodles(32, seed=1)))  # warm up
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = write_store(Path(folder) / "s.store", (Record("train", sketch) for sketch in doodles(count)))
        steps = _steps_over(store, model.preparation, 64)
        with torch.inference_mode():
            for step in range(steps.schedule.steps_per_epoch):
                model.network.encode(steps[step])
    seconds = time.perf_counter() - start
    return {"sketches": count, "seconds": seconds, "rss_mb": peak_memory()}


def _steps_over(sketches: Sequence[Sketch], preparation: Preparation, batch: int) -> Steps:
    return Steps(sketches, np.arange(len(sketches)), preparation, Schedule(len(sketches), batch, 0), Share())


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
