"""Learning from own prefixes: positions add up, given points stay, and far points are not learnt from."""

from dataclasses import replace

import torch
from systems import SKETCHES, batch_for, network_of, tiny

from gra2seq.models.sketch_model import FARTHEST_PREFIX, own_prefixes, rows_that_count
from gra2seq.sketch.strokes import DOWN, END


def walk(targets):
    """The points that rows lead from and lead to, (B, T, 2) each."""
    start = targets.inputs[..., :2].cumsum(dim=1)
    return start, start + targets.rows[..., :2]


def prepared(**more):
    torch.manual_seed(0)
    config = tiny("gra2seq-plus", own_prefixes=1.0, **more)
    network, batch = network_of(config), batch_for(config)
    return network, batch, torch.randn(len(SKETCHES), 16)


def test_each_row_leads_from_the_decoders_own_point_to_the_true_next_one():
    network, batch, code = prepared()
    torch.nn.init.normal_(network.decoder.out.weight, std=0.05)
    targets, ours = batch.targets, own_prefixes(network.decoder, batch, code)
    assert torch.equal(ours.rows[..., DOWN:], targets.rows[..., DOWN:]), "the pen is the true one"
    real = targets.rows[..., END] == 0
    (start, stop), (true_start, true_stop) = walk(ours), walk(targets)
    assert torch.allclose(stop[real], true_stop[real], atol=1e-4)
    off = (start - true_start).norm(dim=-1)
    assert (off[:, 0] == 0).all()
    assert (off[real] > 1e-3).float().mean() > 0.2, "many points are the decoder's own"
    assert off.max() <= FARTHEST_PREFIX + 1e-4
    end = rows_that_count(targets.rows) - 1
    for number, last in enumerate(end.tolist()):
        assert torch.equal(ours.rows[number, last:, :2], targets.rows[number, last:, :2]), "END leads nowhere"


def test_the_points_are_those_that_the_decoder_samples():
    """Against a loop over rows, step by step, with the same noise."""
    network, batch, code = prepared()
    targets, ours = batch.targets, own_prefixes(network.decoder, batch, code)
    for number in range(3):
        state = network.decoder.first_state(code[number : number + 1])
        count = int(rows_that_count(targets.rows)[number])
        off = torch.zeros(count, 2)
        for t in range(count):
            move, state = network.decoder.step(targets.inputs[number, t : t + 1], state)
            drawn = move.sample(noise=batch.prefix_draws[number, t : t + 1, 1:])[0, :2]
            apart = drawn - targets.rows[number, t, :2]
            if batch.prefix_draws[number, t, 0] > 0 and apart.norm() < FARTHEST_PREFIX and t < count - 1:
                off[t] = apart
        found = (walk(ours)[0] - walk(targets)[0])[number, 1:count].detach()
        assert torch.allclose(found, off[: count - 1], atol=1e-4)


def test_without_draws_targets_stay_as_they_are():
    network, batch, code = prepared()
    assert own_prefixes(network.decoder, replace(batch, prefix_draws=None), code) is batch.targets
    none = torch.zeros_like(batch.prefix_draws)
    kept = own_prefixes(network.decoder, replace(batch, prefix_draws=none), code)
    assert torch.equal(kept.rows, batch.targets.rows)
    assert torch.equal(kept.inputs, batch.targets.inputs)


def test_given_points_are_not_exchanged():
    network, batch, code = prepared(given_input=True, given=1.0, rectangle=0.5, end=0.5)
    targets, ours = batch.targets, own_prefixes(network.decoder, batch, code)
    given = targets.given > 0
    assert given.any()
    assert torch.equal(ours.given, targets.given)
    off = (walk(ours)[0] - walk(targets)[0]).norm(dim=-1)
    assert off[given].max() < 1e-4
    real = targets.rows[..., END] == 0
    assert off[~given & real].max() > 1e-3


def test_a_share_of_the_rows_is_exchanged_in_training_only():
    config = tiny(own_prefixes=0.3)
    batch = batch_for(config)
    assert 0.2 < batch.prefix_draws[..., 0].mean() < 0.4
    assert batch_for(config, validation=True).prefix_draws is None
    assert batch_for(tiny()).prefix_draws is None


def test_the_decoder_learns_from_its_own_prefixes():
    """A gradient reaches it, but none through the points that it has drawn itself."""
    network, batch, code = prepared()
    ours = own_prefixes(network.decoder, batch, code.requires_grad_())
    assert not ours.rows.requires_grad
    assert not ours.inputs.requires_grad
    terms, _ = network.train()(batch)
    sum(terms.values()).backward()
    assert network.decoder.out.weight.grad.isfinite().all()
    assert network.decoder.out.weight.grad.any()
