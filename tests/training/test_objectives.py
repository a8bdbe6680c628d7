"""Objectives: code repair and decoder finetuning move only their own part."""

import pytest
import torch

from gra2seq.data.batches import prepare_training
from gra2seq.data.doodles import doodles
from gra2seq.models.registry import build, preparation_of
from gra2seq.models.sketch_model import follow, negative_log_likelihood
from gra2seq.nn.ink_predictor import ink_losses
from gra2seq.training.objectives import OBJECTIVES, FinetuneDecoder, PredictFrame, PredictInk, Reconstruct, RepairCodes
from options_by_name import tiny

SKETCHES = list(doodles(8, seed=4))
DAMAGED = {"code_repair": True, "start": "package", "mask": 0.2, "mask_to": 0.4, "rectangle": 0.5}


def prepared(objective, **more):
    torch.manual_seed(0)
    config = tiny("gra2seq-plus", objective=objective, **{**DAMAGED, **more})
    network = build(config.model)
    torch.nn.init.normal_(network.repair.project.weight, std=0.1)
    batch = prepare_training(SKETCHES, preparation_of(config, 30.0), [(0, i) for i in range(8)])
    return OBJECTIVES[objective](network).train(), network, batch


def moved_by_a_step(objective, network, batch):
    """Names of the tensors that one step of Adam changes, statistics of batch norm included."""
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    sum(objective(batch)[0].values()).backward()
    optimizer.step()
    after = network.state_dict()
    moved = {name for name, tensor in before.items() if not torch.equal(tensor, after[name])}
    network.load_state_dict(before)
    return moved, set(before)


def test_reconstruct_is_the_networks_own_loss():
    objective, network, batch = prepared("reconstruct", code_repair=True)
    assert isinstance(objective, Reconstruct)
    torch.manual_seed(1)
    terms, _ = objective.eval()(batch)
    assert set(terms) == {"offset", "pen", "cluster"}
    moved, every = moved_by_a_step(objective.train(), network, batch)
    assert not any(name.startswith("repair.") for name in moved), "code repair has an objective of its own"
    assert {name for name in every if name.startswith("decoder.")} <= moved
    assert any(name.startswith("encoder.") for name in moved)


def test_repair_codes_moves_the_code_repair_only():
    objective, network, batch = prepared("repair-codes")
    assert isinstance(objective, RepairCodes)
    moved, every = moved_by_a_step(objective, network, batch)
    assert moved == {name for name in every if name.startswith("repair.")}


def test_the_repair_term_is_the_distance_to_the_code_of_the_intact_drawing():
    objective, network, batch = prepared("repair-codes")
    objective.eval()
    terms, figures = objective(batch)
    with torch.no_grad():
        damaged, whole = (network.encoder(one).mean for one in (batch, batch.whole))
        repaired = network.repair(damaged, batch.views["picture"], batch.views["lost"])
    assert terms["repair"].item() == pytest.approx((repaired - whole).square().sum(dim=1).mean().item(), rel=1e-5)
    assert figures["unrepaired"].item() == pytest.approx((damaged - whole).square().sum(dim=1).mean().item(), rel=1e-5)
    lost = batch.views["lost"].flatten(1).any(dim=1)
    assert ((repaired != damaged).any(dim=1) == lost).all()
    assert lost.any()


def test_finetune_decoder_moves_the_decoder_only():
    objective, network, batch = prepared("finetune-decoder")
    assert isinstance(objective, FinetuneDecoder)
    moved, every = moved_by_a_step(objective, network, batch)
    assert moved == {name for name in every if name.startswith("decoder.")}


def test_finetune_decoder_learns_from_codes_as_they_are_in_use():
    """Of damaged drawings, repaired and without noise."""
    objective, network, batch = prepared("finetune-decoder")
    terms, _ = objective(batch)
    code = network.eval().encode(batch)
    assert not torch.equal(code, network.encoder(batch).mean)
    expected = negative_log_likelihood(*follow(network.decoder, batch.targets, code))
    for name, each in expected.items():
        assert terms[name].item() == pytest.approx(each.mean().item(), rel=1e-5), name


INK = {"ink_prediction": True}


def test_predict_ink_moves_the_ink_prediction_only():
    objective, network, batch = prepared("predict-ink", **INK)
    assert isinstance(objective, PredictInk)
    moved, every = moved_by_a_step(objective, network, batch)
    assert moved == {name for name in every if name.startswith("ink.")}


def test_ink_is_predicted_from_the_code_the_visible_strokes_and_the_lost_region():
    objective, network, batch = prepared("predict-ink", **INK)
    terms, _ = objective.eval()(batch)
    found = network.ink(network.encode(batch), batch.views["visible_ink"], batch.views["lost_ink"])
    for name, each in ink_losses(found, batch.painted, batch.ink_distance).items():
        assert terms[name].item() == pytest.approx(each.mean().item(), rel=1e-5)


FRAME = {"frame_prediction": True, "rectangle": 0.0, "end": 1.0, "end_to": 0.9, "true_frame": 0.0}


def test_predict_frame_moves_the_frame_prediction_only():
    objective, network, batch = prepared("predict-frame", **FRAME)
    assert isinstance(objective, PredictFrame)
    torch.nn.init.normal_(network.frame.project.weight, std=0.1)
    moved, every = moved_by_a_step(objective, network, batch)
    assert moved == {name for name in every if name.startswith("frame.")}


def test_the_frame_term_is_the_distance_to_the_growth_of_the_visible_box():
    objective, network, batch = prepared("predict-frame", **FRAME)
    torch.nn.init.normal_(network.frame.project.weight, std=0.1)
    terms, figures = objective.eval()(batch)
    found = network.frame(network.encode(batch), batch.views["extent"])
    assert terms["frame"].item() == pytest.approx((found - batch.growth.log1p()).abs().sum(1).mean().item(), rel=1e-5)
    assert figures["unframed"].item() > 0, "a frame that is never larger than the visible box teaches nothing"


def test_frozen_parts_stay_in_evaluation_mode():
    for name, frozen in (
        ("repair-codes", ("encoder", "decoder")),
        ("finetune-decoder", ("encoder", "repair")),
        ("predict-ink", ("encoder", "repair")),
    ):
        objective, network, _ = prepared(name, ink_prediction=name == "predict-ink")
        for part in frozen:
            assert not any(module.training for module in getattr(network, part).modules()), (name, part)
        trained = {"repair-codes": network.repair, "finetune-decoder": network.decoder}.get(name, network.ink)
        assert trained.training
        assert not objective.eval().training
        assert objective.train().training
