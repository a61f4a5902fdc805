"""The weights of a network from a file of named arrays, by a declared architecture.

PyTorch calls such a file a state dict. Nothing is guessed: each dense layer is named, in order, and
an array that belongs to no layer is refused, since the network would be another one.
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
from narcissus.extraction.conv_net import AveragePooling, Layer, Shape, conv_net
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.files import refuse_pickle

ACTIVATIONS = ("relu",)
"""What may stand between two layers."""

_SUFFIXES = frozenset({".npz", ".safetensors"})


def read_dense_net(
    path: Path | str,
    layers: Sequence[Layer],
    *,
    activation: str = "relu",
    transposed: bool = False,
    inputs: int | None = None,
    image: Shape | None = None,
) -> DenseNet:
    """Read a network of dense layers, or of convolutions, average pooling and dense layers.

    Parameters
    ----------
    path
        A ``.safetensors`` or ``.npz`` file. Pickles (``.pt``, ``.pth``) are refused.
    layers
        From input to output. ``"fc1"`` names a dense layer with the arrays ``fc1.weight`` and, if
        present, ``fc1.bias``; the name of a `Convolution` works alike.
    activation
        Between two layers, one of `ACTIVATIONS`.
    transposed
        Whether weights are (inputs, outputs), as in Keras, instead of (outputs, inputs).
    inputs
        Numbers in a row, to be checked.
    image
        Channels, height and width of an image, which convolutions and pooling need.

    Raises
    ------
    InputError
        An array is missing (the nearest is named), left over, of the wrong shape, or not finite.
    """
    path = Path(path)
    refuse_pickle(path)
    one_of("activation", activation, ACTIVATIONS)
    if path.suffix not in _SUFFIXES:
        raise InputError(f"{path} is not read as weights: save them as .safetensors or .npz")
    names = [one if isinstance(one, str) else one.name for one in layers
             if not isinstance(one, AveragePooling)]  # fmt: skip
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError("`layers` must name at least two layers, each once, from input to output")
    arrays = arrays_of(path)
    weights = [_named(arrays, f"{name}.weight", path) for name in names]
    _refuse_left(arrays, names, path)
    if any(not isinstance(one, str) for one in layers):
        if image is None or transposed:
            raise InputError("convolutions need `image`, and weights that are not `transposed`")
        given = [_bias(arrays, name, len(one), path)
                 for name, one in zip(names, weights, strict=True)]  # fmt: skip
        return conv_net(layers, weights, given, image)
    if transposed:
        weights = [weight.T for weight in weights]
    if inputs is not None and weights[0].shape[1:] != (inputs,):
        _refuse_inputs(path, names[0], weights[0], inputs)
    biases = list[NDArray[np.float64]]()
    for place, (name, weight) in enumerate(zip(names, weights, strict=True)):
        before = weights[place - 1].shape[0] if place else weight.shape[-1]
        if weight.ndim != 2 or weight.shape[1] != before:
            raise InputError(
                f"{path}: `{name}.weight` has the shape {weight.shape}, and a dense layer behind "
                f"{before} numbers has (outputs, {before})"
                + ("; is `transposed` what is meant?" if weight.shape[:1] == (before,) else "")
            )
        biases.append(_bias(arrays, name, weight.shape[0], path))
    return DenseNet(tuple(np.ascontiguousarray(weight) for weight in weights), tuple(biases))


def _bias(
    arrays: Mapping[str, NDArray[Any]], layer: str, outputs: int, path: Path
) -> NDArray[np.float64]:
    """Return the bias of a layer; 0 if there is none."""
    name = f"{layer}.bias"
    found = _named(arrays, name, path) if name in arrays else np.zeros(outputs)
    if found.shape != (outputs,):
        raise InputError(
            f"{path}: `{name}` has the shape {found.shape}, and the layer has {outputs} outputs"
        )
    return found


def _refuse_left(arrays: Mapping[str, NDArray[Any]], names: Sequence[str], path: Path) -> None:
    """Refuse arrays of undeclared layers."""
    used = {f"{name}.{part}" for name in names for part in ("weight", "bias")}
    left = sorted(set(arrays) - used)
    if not left:
        return
    hint = ""
    if any(name.endswith((".running_mean", ".running_var")) for name in left):
        hint = (
            "; batch normalisation is not homogeneous in its weights, so that the conditions "
            "which are read off do not hold: nothing here attacks such a network"
        )
    raise InputError(
        f"{path} holds {', '.join(f'`{name}`' for name in left[:5])} as well, which `layers` does "
        "not name: only networks of dense layers, convolutions and average pooling with ReLUs "
        f"between them are read{hint}"
    )


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
