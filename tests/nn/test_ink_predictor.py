"""Predicted ink against convolutions written out, and its two losses against sums."""

import math

import numpy as np
import torch

from gra2seq.nn.ink_predictor import SIDE, InkPredictor, PredictedInk, ink_losses


def predictor_and_inputs():
    torch.manual_seed(0)
    predictor = InkPredictor(code=6)
    predictor.norm.mean.normal_()
    predictor.norm.variance.uniform_(0.5, 2)
    visible, lost = torch.randint(0, 256, (2, 3, SIDE, SIDE), dtype=torch.uint8)
    return predictor.eval(), torch.randn(3, 6), visible, lost


def numbers(layer):
    return layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()


def slow_conv(x, layer, stride):
    """One output pixel after the other, of (channels, side, side) with an edge of zeros."""
    weight, bias = numbers(layer)
    size, padded = weight.shape[-1], np.pad(x, ((0, 0), (1, 1), (1, 1)))
    side = (padded.shape[1] - size) // stride + 1
    out = np.empty((len(weight), side, side))
    for row, column in np.ndindex(side, side):
        window = padded[:, row * stride : row * stride + size, column * stride : column * stride + size]
        out[:, row, column] = (weight * window).sum(axis=(1, 2, 3)) + bias
    return out


def slow_transposed(x, layer):
    """Each input pixel adds a 4 x 4 stamp, two pixels from that of its neighbour; the outermost pixels are cut off."""
    weight, bias = numbers(layer)
    side = x.shape[1]
    out = np.zeros((weight.shape[1], 2 * side + 2, 2 * side + 2))
    for row, column in np.ndindex(side, side):
        stamp = np.einsum("i,ioyx->oyx", x[:, row, column], weight)
        out[:, 2 * row : 2 * row + 4, 2 * column : 2 * column + 4] += stamp
    return out[:, 1:-1, 1:-1] + bias[:, None, None]


def slow_prediction(predictor, code, visible, lost):
    x = np.stack([visible, lost]).astype(np.float64) / 255
    passed = [x]
    for layer in predictor.down:
        passed.append(np.maximum(slow_conv(passed[-1], layer, stride=2), 0))
    normal = (code - predictor.norm.mean.numpy()) / np.sqrt(predictor.norm.variance.numpy() + 1e-5)
    weight, bias = numbers(predictor.from_code)
    deepest = passed.pop()
    x = np.maximum(deepest + (weight @ normal + bias).reshape(deepest.shape), 0)
    x = x + np.maximum(slow_conv(x, predictor.middle, stride=1), 0)
    for layer in predictor.up:
        x = np.concatenate([np.maximum(slow_transposed(x, layer), 0), passed.pop()])
    return slow_conv(x, predictor.last, stride=1)


def test_prediction_equals_convolutions_written_out():
    predictor, code, visible, lost = predictor_and_inputs()
    found = predictor(code, visible, lost)
    expected = slow_prediction(predictor, *(each[1].numpy() for each in (code, visible, lost)))
    for own, slow in zip(found, expected, strict=True):
        np.testing.assert_allclose(own[1].detach(), slow, rtol=1e-3, atol=1e-4)


def test_every_input_matters():
    predictor, *inputs = predictor_and_inputs()
    found = predictor(*inputs).logits
    for place in range(3):
        other = [each.clone() for each in inputs]
        other[place][0] = inputs[place][1]
        changed = predictor(*other).logits
        assert not torch.allclose(changed[0], found[0], atol=1e-4)
        assert torch.allclose(changed[1:], found[1:], atol=1e-5)


def test_losses_against_sums_over_all_pixels():
    torch.manual_seed(1)
    predicted = PredictedInk(torch.randn(2, 4, 4), torch.rand(2, 4, 4))
    ink, distance = torch.randint(0, 256, (2, 4, 4), dtype=torch.uint8), torch.rand(2, 4, 4)
    found = ink_losses(predicted, ink, distance)
    for number in range(2):
        entropy = error = 0.0
        for place in np.ndindex(4, 4):
            share = float(ink[number][place]) / 255
            sure = 1 / (1 + math.exp(-float(predicted.logits[number][place])))
            entropy -= share * math.log(sure) + (1 - share) * math.log(1 - sure)
            error += (float(predicted.distance[number][place]) - float(distance[number][place])) ** 2
        np.testing.assert_allclose(found["ink"][number], entropy, rtol=1e-5)
        np.testing.assert_allclose(found["distance"][number], error, rtol=1e-5)
