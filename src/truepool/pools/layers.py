"""Dense layers, drawn by numpy: one seed starts alike on any torch and any device."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from truepool.arrays import FloatArray

Parameters: TypeAlias = dict[str, FloatArray]
"""What a network has learned, by name."""

Tensor: TypeAlias = Any
"""A torch tensor."""


def drawn(rng: np.random.Generator, name: str, sizes: Sequence[int]) -> Parameters:
    r"""Layers from each size to the next: slopes :math:`N(0, 2 / n)`, no shift.

    The variance is that of He et al. (2015), which keeps the size of what passes
    through layers with a ReLU.

    >>> layers = drawn(np.random.default_rng(0), "head", [3, 4, 1])
    >>> {name: values.shape for name, values in layers.items()}
    {'head.0': (3, 4), 'head.0+': (4,), 'head.1': (4, 1), 'head.1+': (1,)}
    """
    layers: Parameters = {}
    for place, (n, m) in enumerate(pairwise(sizes)):
        layers[f"{name}.{place}"] = rng.normal(scale=np.sqrt(2.0 / n), size=(n, m))
        layers[f"{name}.{place}+"] = np.zeros(m)
    return layers


def depth(layers: Mapping[str, Any], name: str) -> int:
    """How many layers of that name there are."""
    return sum(key.startswith(f"{name}.") for key in layers) // 2


def through(
    layers: Mapping[str, Tensor], name: str, x: Tensor, *, open_end: bool = False
) -> Tensor:
    """Pass (..., n) through the layers, a ReLU after each but an open end.

    A table goes through one matrix product, however many axes stand before the last.
    """
    deep = depth(layers, name)
    flat = x.reshape(-1, x.shape[-1])
    for place in range(deep):
        slope, shift = layers[f"{name}.{place}"], layers[f"{name}.{place}+"]
        flat = shift.addmm(flat, slope)
        if not (open_end and place == deep - 1):
            flat = flat.relu()
    return flat.reshape(*x.shape[:-1], flat.shape[-1])


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Tables side by side."""
    import torch

    return torch.cat(list(parts), dim=-1)
