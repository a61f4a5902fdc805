"""Known columns of rows near a row, before and after it, that tell its secret are an order."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.table.held_out import scored
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.near_rows import near_features
from narcissus.kinds.table.row_order import NEAR, order_attempts, ordered_rows
from narcissus.observer import SILENT
from narcissus.study import load_study

ROWS = 600


def copied(own, other, secret):
    return other


def different(own, other, secret):
    return (own != other).astype(int)


def summed(own, other, secret):
    return (own + other) % 3


def of_secret(own, other, secret):
    """Return what the other row's secret and the row's known column tell together."""
    return (own + secret) % 3


def of_both(own, other, secret):
    """Return what the other row's secret and its known column tell together."""
    return (other + secret) % 3


def people(rule, distance, seed=3, rows=ROWS):
    """Return rows of which each one's secret follows from its column `a` and another row's `b`."""
    rng = np.random.default_rng([seed, 10 + distance])
    frame = pd.DataFrame({
        "a": rng.integers(0, 3, rows),
        "b": rng.integers(0, 3, rows),
        "sex": rng.integers(0, 2, rows),
        "region": rng.integers(0, 6, rows),
    })  # fmt: skip
    secret = rng.integers(0, 3, rows)
    places = range(rows) if distance < 0 else range(rows - 1, -1, -1)
    for row in places:
        if 0 <= row + distance < rows:
            other = row + distance
            secret[row] = rule(frame.a[row], frame.b[other], secret[other])
    return frame.assign(ill=secret)


def experiment_of(frame, unknown=("ill",)):
    study = load_study({
        "data": {"frame": frame},
        "threat": {"unknown": list(unknown)},
        "prior": {"name": "independent"},
        "mechanism": {"k": 2, "epsilon": 0.05},
        "attacks": {"prior": {}},
    })  # fmt: skip
    with study.code.in_use():
        return prepare(study.settings, study.folder, 2, SILENT)


def guess_near(experiment):
    """Return how often the last rows are guessed by known columns of those near them."""
    ordered = ordered_rows(experiment)
    attempt = next(order_attempts(ordered, experiment))
    assert attempt.guesses.by == NEAR
    [guess] = scored(experiment, (attempt.guesses,))
    return guess


@pytest.mark.parametrize("distance", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize("rule", [copied, different, summed, of_secret, of_both])
def test_a_secret_that_follows_from_a_row_near_is_guessed(rule, distance):
    """A study of `ill[i] = q[i + 1]` was *met*, though every secret follows from a known column."""
    guess = guess_near(experiment_of(people(rule, distance)))
    assert guess.refutes
    assert guess.share > 0.95


@pytest.mark.repeats(6, 200)
def test_rows_that_are_independent_are_guessed_no_better_than_the_prior_allows(repeats):
    """With chance .0005 each: of 200 worlds two or more do with .005."""
    worlds = (people(copied, ROWS + 1, seed, 200) for seed in range(repeats))
    assert sum(guess_near(experiment_of(frame)).refutes for frame in worlds) < 2


@pytest.mark.parametrize("unknown", [("ill", "sex"), ("ill",)])
def test_features_see_no_secret_of_the_row_or_of_a_later_row(unknown):
    frame = people(of_both, 1)
    known = frame[[name for name in frame if name not in unknown]].to_numpy()
    secrets = frame[list(unknown)].to_numpy()
    sizes = 1 + secrets.max(axis=0)
    classes = secrets[:300, 0]
    features = np.column_stack(near_features(secrets, known, classes))
    rng = np.random.default_rng(4)
    for at in (300, 451, 599):
        other = secrets.copy()
        other[at:] = (other[at:] + rng.integers(1, sizes, other[at:].shape)) % sizes
        again = np.column_stack(near_features(other, known, classes))
        assert (again[: at + 1] == features[: at + 1]).all()
    later = known.copy()
    later[451:] = later[451:][::-1]
    assert (np.column_stack(near_features(secrets, later, classes)) != features).any()
