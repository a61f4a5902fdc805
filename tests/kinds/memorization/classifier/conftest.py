"""A small study of digits, a network of one's own as a file, and ways to change them."""

import copy
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus.extraction.classifier import train_dense

DIGITS = Path(__file__).parents[4] / "examples" / "classifiers" / "digits.npz"
TRAINED = {
    "kind": "classifier",
    "data": {"images": "digits.npz", "offset": "mean", "scale": 8.0},
    "training": {"images": 12, "hidden": [40], "steps": 1000, "shadows": 2},
    "reconstruction": {"starts": 1, "steps": 100},
    "informed": {"targets": 3, "steps": 50},
    "pictures": 2,
    "threshold": {"gain": 0.05},
    "run": {"seed": 4},
}
GIVEN = {
    "kind": "classifier",
    "data": {"images": "trained.npz", "fresh": "fresh.npz"},
    "weights": {"file": "net.npz", "layers": ["fc1", "fc2"]},
    "reconstruction": {"starts": 1, "steps": 100},
    "informed": {"targets": 2, "steps": 40},
    "run": {"seed": 4},
}


def digits():
    """The images that come with the project, centred, and their classes."""
    with np.load(DIGITS) as found:
        images, labels = found["images"] / 8 - 1, found["labels"].astype(int)
    return images - images.mean(axis=0), labels


def state_dict(net):
    """A network as PyTorch names its arrays."""
    return {
        "fc1.weight": net.weights[0],
        "fc1.bias": net.biases[0],
        "fc2.weight": net.weights[1],
    }


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with all files."""
    place = tmp_path_factory.mktemp("classifier")
    (place / "digits.npz").write_bytes(DIGITS.read_bytes())
    images, labels = digits()
    rows = images.reshape(len(images), -1)
    np.savez(place / "trained.npz", images=images[:12])
    np.savez(place / "fresh.npz", images=images[12:200])
    for name, begin in (("net", 0), ("shadow", 200), ("other", 212)):
        some = slice(begin, begin + 12)
        net = train_dense(rows[some], labels[some], hidden=(40,), steps=1000, kinds=10, rng=begin)
        np.savez(place / f"{name}.npz", **state_dict(net))
    return place


@pytest.fixture
def load(folder):
    """Give the function that loads one of the two studies with changes."""

    def of(base=TRAINED, **changes):
        study = copy.deepcopy(base)
        for name, value in changes.items():
            inner = isinstance(value, dict) and isinstance(study.get(name), dict)
            study[name] = study[name] | value if inner else value
        study = {name: value for name, value in study.items() if value is not None}
        return narcissus.load_study(study, folder=folder)

    return of


@pytest.fixture(scope="session")
def audit(folder):
    """The study of a network that is trained, played."""
    return narcissus.run(narcissus.load_study(TRAINED, folder=folder))
