"""A small study of an n-gram model, which needs no extra, and a way to change it."""

import numpy as np
import pytest

import narcissus

WORDS = ["boat", "cart", "door", "fish", "goat", "lamp", "nail", "rope", "sail", "tree"]


def letters(count, seed):
    """Lines with words that many share and a number of their own."""
    rng = np.random.default_rng(seed)
    return [
        f"{' '.join(rng.choice(WORDS, 4))} number {rng.integers(10**9):09d} ends"
        for _ in range(count)
    ]


def study_of(folder, **changes):
    """Write the documents, and give the study as a dictionary."""
    lines = letters(90, 1)
    (folder / "letters.txt").write_text("\n".join([*lines, *lines[:20] * 3]) + "\n")
    return {
        "kind": "language-model",
        "data": {"documents": "letters.txt"},
        "model": {"name": "ngram", "order": 10},
        "canaries": {"each": 5, "copies": [1, 3], "digits": 6, "alternatives": 19},
        "generation": {"samples": 200, "length": 60, "top": 40, "window": 25},
        "completion": {"prefix": 31, "window": 9},
        "membership": {"false_alarms": [0.3, 0.01]},
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
    folder = tmp_path_factory.mktemp("language")
    return narcissus.run(narcissus.load_study(study_of(folder), folder=folder))
