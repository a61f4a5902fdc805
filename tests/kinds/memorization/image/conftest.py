"""A small study of a model that needs no extra, and a way to change it."""

import numpy as np
import pytest

import narcissus


def study_of(folder, **changes):
    """Write images, and give the study as a dictionary."""
    rng = np.random.default_rng(1)
    np.save(folder / "images.npy", rng.integers(0, 256, (90, 4, 4), dtype=np.uint8))
    (folder / "captions.txt").write_text("".join(f"word {i % 2}\n" for i in range(90)))
    return {
        "kind": "image-model",
        "data": {"images": "images.npy", "captions": "captions.txt", "shadows": 2},
        "model": {"name": "mixture", "components": 8},
        "duplicates": {"each": 3, "copies": [10, 30]},
        "relation": {"close": 0.06, "unique": 0.2},
        "attempts": {"samples": 100, "keep": 10},
        "pictures": 5,
        "threshold": {"gain": 0.05},
        "groups": {"least_group": 1},
        "run": {"seed": 4},
        **changes,
    }


@pytest.fixture
def load(tmp_path):
    """Give the function that loads the study with changes."""

    def of(**changes):
        return narcissus.load_study(study_of(tmp_path, **changes), folder=tmp_path)

    return of


@pytest.fixture(scope="session")
def audit(tmp_path_factory):
    """The study, played."""
    folder = tmp_path_factory.mktemp("image")
    return narcissus.run(narcissus.load_study(study_of(folder), folder=folder))
