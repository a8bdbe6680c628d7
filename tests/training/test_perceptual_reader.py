"""The reader of sketch-healer-2 has the stroke encoder of a trained sketch-rnn, and stays as it is."""

import pytest
import torch
from safetensors.torch import load_file

from gra2seq.config import parse_config
from gra2seq.errors import UserError
from gra2seq.models.registry import build
from gra2seq.training.loop import train
from gra2seq.training.perceptual_reader import load_reader

TINY = {"preset": "tiny", "data": "doodles:150", "workers": 0, "threads": 1}


def config(folder, name="sketch-healer-2", model=None, **training):
    training = {"max_steps": 2, "validate_every": 2, "gallery": 0, "validate_sketches": 10, **training}
    return parse_config({**TINY, "run": str(folder), "model": {"name": name, **(model or {})}, "training": training})


@pytest.fixture(scope="module")
def sketch_rnn(tmp_path_factory):
    return train(config(tmp_path_factory.mktemp("runs") / "sketch-rnn", "sketch-rnn"))


def part(run, start):
    tensors = load_file(run / "model.safetensors")
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def test_reader_is_the_stroke_encoder_of_the_trained_sketch_rnn(sketch_rnn, tmp_path):
    run = train(config(tmp_path / "a", reader=str(sketch_rnn)))
    there, here = part(sketch_rnn, "encoder.read."), part(run, "extra.read.")
    assert here.keys() == there.keys()
    assert all(torch.equal(here[name], there[name]) for name in there), "and training did not move it"
    random = part(train(config(tmp_path / "b", reader="none")), "extra.read.")
    assert not all(torch.equal(random[name], there[name]) for name in there)


def test_resumed_run_does_not_need_the_reader_again(sketch_rnn, tmp_path):
    moved = tmp_path / "moved"
    moved.symlink_to(sketch_rnn)
    train(config(tmp_path / "a", reader=str(moved)))
    moved.unlink()
    run = train(config(tmp_path / "a", reader=str(moved), max_steps=3), resume=True)
    there, here = part(sketch_rnn, "encoder.read."), part(run, "extra.read.")
    assert all(torch.equal(here[name], there[name]) for name in there)


def test_reader_that_does_not_fit_is_refused(sketch_rnn, tiny_run, tmp_path):
    network = build(config(tmp_path).model)
    with pytest.raises(UserError, match="no such folder"):
        load_reader(network, tmp_path / "nowhere")
    with pytest.raises(UserError, match="holds sp-gra2seq, not a trained sketch-rnn"):
        load_reader(network, tiny_run)
    with pytest.raises(UserError, match="same stroke_hidden"):
        load_reader(build(config(tmp_path, model={"stroke_hidden": 8}).model), sketch_rnn)
    with pytest.raises(UserError, match="is for sketch-healer-2"):
        train(config(tmp_path / "a", "sketch-healer", reader=str(sketch_rnn)))
