"""Initial weights by He's rule (Kaiming): a layer with ReLU keeps the size of its signal."""

from __future__ import annotations

from torch import Tensor, nn


def init_he(*weights: Tensor) -> None:
    """Normal numbers with a variance of 2 over the layer's inputs. torch's default is 2.4 times smaller."""
    for weight in weights:
        nn.init.kaiming_normal_(weight, nonlinearity="relu")


def init_he_layers(network: nn.Module) -> None:
    """The same for every convolution and linear layer with a bias; biases start at 0."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear) and layer.bias is not None:
            init_he(layer.weight)
            nn.init.zeros_(layer.bias)
