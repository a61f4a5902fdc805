"""The weights of a network from a file of named arrays, by an architecture that is declared.

PyTorch calls such a file a state dict. Nothing of it is guessed: each dense layer is named, in
order, and an array that no layer accounts for is refused, for the network would be another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import did_you_mean, one_of
from narcissus.errors import InputError
from narcissus.extraction.arrays import arrays_of
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.files import refuse_pickle

ACTIVATIONS = ("relu",)
"""What may stand between two layers."""

_SUFFIXES = frozenset({".npz", ".safetensors"})


def read_dense_net(
    path: Path,
    layers: Sequence[str],
    *,
    activation: str = "relu",
    transposed: bool = False,
    inputs: int | None = None,
) -> DenseNet:
    """Read a network of dense layers.

    Parameters
    ----------
    path
        A ``.safetensors`` or ``.npz`` file. Pickles (``.pt``, ``.pth``) are refused.
    layers
        Names of the dense layers from input to output: ``"fc1"`` stands for the arrays
        ``fc1.weight`` and, if it is there, ``fc1.bias``.
    activation
        What stands between two layers: `ACTIVATIONS`.
    transposed
        Whether weights are (inputs, outputs), as Keras keeps them, instead of (outputs, inputs).
    inputs
        Numbers in a row, to be checked.

    Raises
    ------
    InputError
        An array is missing (the nearest is named), left over, of the wrong shape, or not finite.
    """
    refuse_pickle(path)
    one_of("activation", activation, ACTIVATIONS)
    if path.suffix not in _SUFFIXES:
        raise InputError(f"{path} is not read as weights: save them as .safetensors or .npz")
    if len(layers) < 2 or len(set(layers)) < len(layers):
        raise InputError("`layers` must name at least two layers, each once, from input to output")
    arrays = arrays_of(path)
    weights = [_named(arrays, f"{name}.weight", path) for name in layers]
    if transposed:
        weights = [weight.T for weight in weights]
    if inputs is not None and weights[0].shape[1:] != (inputs,):
        _refuse_inputs(path, layers[0], weights[0], inputs)
    biases = list[NDArray[np.float64]]()
    for place, (name, weight) in enumerate(zip(layers, weights, strict=True)):
        before = weights[place - 1].shape[0] if place else weight.shape[-1]
        if weight.ndim != 2 or weight.shape[1] != before:
            raise InputError(
                f"{path}: `{name}.weight` has the shape {weight.shape}, and a dense layer behind "
                f"{before} numbers has (outputs, {before})"
                + ("; is `transposed` what is meant?" if weight.shape[:1] == (before,) else "")
            )
        bias = f"{name}.bias"
        found = _named(arrays, bias, path) if bias in arrays else np.zeros(weight.shape[0])
        if found.shape != (weight.shape[0],):
            raise InputError(
                f"{path}: `{bias}` has the shape {found.shape}, and the layer has "
                f"{weight.shape[0]} outputs"
            )
        biases.append(found)
    used = {f"{name}.{part}" for name in layers for part in ("weight", "bias")}
    if left := sorted(set(arrays) - used):
        raise InputError(
            f"{path} holds {', '.join(f'`{name}`' for name in left[:5])} as well, which `layers` "
            "does not name: only networks of dense layers with ReLUs between them are read"
        )
    return DenseNet(tuple(np.ascontiguousarray(weight) for weight in weights), tuple(biases))


def _named(arrays: Mapping[str, NDArray[Any]], name: str, path: Path) -> NDArray[np.float64]:
    if name not in arrays:
        raise InputError(
            f"{path} has no array `{name}`; it has {', '.join(sorted(arrays)[:12]) or 'none'}"
            f"{did_you_mean(name, arrays)}"
        )
    found = arrays[name].astype(np.float64)
    if not np.isfinite(found).all():
        raise InputError(
            f"{path}: `{name}` has {int((~np.isfinite(found)).sum()):,} values that are not finite "
            "(NaN or infinite): the network was not trained to an end"
        )
    if name.endswith(".weight") and not found.any():
        raise InputError(f"{path}: `{name}` is all zero")
    return found


def _refuse_inputs(path: Path, name: str, weight: NDArray[Any], inputs: int) -> None:
    hint = "; is `transposed` what is meant?" if weight.shape[:1] == (inputs,) else ""
    raise InputError(
        f"{path}: `{name}.weight` has the shape {weight.shape}, and an image has {inputs} numbers: "
        f"it should be (outputs, {inputs}){hint}"
    )
