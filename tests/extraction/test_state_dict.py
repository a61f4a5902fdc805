"""Weights by a declared architecture: read from two formats, and nothing guessed."""

import json
import struct

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.state_dict import read_dense_net

from .test_dense_net import random_net

LAYERS = ["a", "b"]


def state(net):
    return {
        f"{name}.{part}": value
        for name, weight, bias in zip(LAYERS, net.weights, net.biases, strict=True)
        for part, value in (("weight", weight), ("bias", bias))
    }


@pytest.fixture
def saved(tmp_path):
    def save(name="net.npz", **changes):
        arrays = state(random_net(3, 4, 2)) | {k.replace("_", "."): v for k, v in changes.items()}
        np.savez(tmp_path / name, **{k: v for k, v in arrays.items() if v is not None})
        return tmp_path / name

    return save


def test_npz_and_safetensors_give_the_same_network(saved, tmp_path):
    net = random_net(3, 4, 2)
    header, body = {}, b""
    for name, value in state(net).items():
        data = value.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(value.shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    (tmp_path / "net.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
    rows = np.random.default_rng(1).normal(size=(5, 3))
    assert np.array_equal(read_dense_net(saved(), LAYERS, inputs=3)(rows), net(rows))
    found = read_dense_net(tmp_path / "net.safetensors", LAYERS)
    assert np.allclose(found(rows), net(rows), atol=1e-5)


def test_a_missing_bias_is_none_and_transposed_weights_are_turned(saved):
    net = random_net(3, 4, 2)
    found = read_dense_net(saved(b_bias=None), LAYERS)
    assert not found.biases[1].any()
    turned = saved(a_weight=net.weights[0].T, b_weight=net.weights[1].T)
    assert np.array_equal(
        read_dense_net(turned, LAYERS, transposed=True).weights[0], net.weights[0]
    )
    with pytest.raises(InputError, match="`transposed` what is meant"):
        read_dense_net(turned, LAYERS, inputs=3)
    with pytest.raises(InputError, match="`transposed` what is meant"):
        read_dense_net(saved(b_weight=net.weights[1].T), LAYERS)


@pytest.mark.parametrize(
    ("changes", "layers", "said"),
    [
        ({}, ["a", "c"], "no array `c.weight`.*did you mean `a.weight`|`b.weight`"),
        ({}, ["a"], "at least two"),
        ({}, ["a", "a"], "each once"),
        ({"a_weight": np.full((4, 3), np.nan)}, LAYERS, "12 values that are not finite"),
        ({"a_weight": np.zeros((4, 3))}, LAYERS, "all zero"),
        ({"a_weight": np.ones((4, 5))}, LAYERS, "an image has 3 numbers"),
        ({"b_weight": np.ones((2, 9))}, LAYERS, "behind 4 numbers"),
        ({"a_bias": np.ones(9)}, LAYERS, "4 outputs"),
        ({"bn_mean": np.ones(4)}, LAYERS, "`bn.mean` as well"),
    ],
)
def test_what_does_not_fit_is_refused(saved, changes, layers, said):
    with pytest.raises(InputError, match=said):
        read_dense_net(saved(**changes), layers, inputs=3)


def test_pickles_other_files_and_activations_are_refused(saved, tmp_path):
    (tmp_path / "net.pth").write_bytes(b"PK")
    with pytest.raises(InputError, match="pickle"):
        read_dense_net(tmp_path / "net.pth", LAYERS)
    (tmp_path / "net.h5").write_bytes(b"hdf5 or so")
    with pytest.raises(InputError, match=r"safetensors or \.npz"):
        read_dense_net(tmp_path / "net.h5", LAYERS)
    with pytest.raises(InputError, match="relu"):
        read_dense_net(saved(), LAYERS, activation="gelu")
