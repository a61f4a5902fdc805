"""The mean share of columns, against the best of all mechanisms for columns that depend."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import THEOREMS, Question, column_shares, optimum, threat, threat_of_columns
from narcissus.bounds.exact import _solve
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP


def best_share(joint: np.ndarray, guarantee) -> float:
    """The best mean share of columns by any mechanism and attacker: a program over all."""
    values = np.array(list(np.ndindex(joint.shape)))
    share = (values[:, None] == values[None]).mean(axis=2)
    points = guarantee.tangents()
    worlds = [(x,) for x in range(len(values))]
    gain = joint.reshape(-1, 1) * share
    return _solve(worlds, gain, points, guarantee.profile(points)).value


def marginals(joint: np.ndarray) -> list[np.ndarray]:
    axes = range(joint.ndim)
    return [joint.sum(axis=tuple(a for a in axes if a != c)) for c in axes]


@pytest.mark.parametrize("guarantee", [PureDP(0.7), PureDP(2.0), ApproximateDP(0.5, 0.05)])
def test_no_mechanism_gets_more_of_columns_that_depend(guarantee):
    rng = np.random.default_rng(1)
    for _ in range(12):
        joint = rng.dirichlet(np.full(6, rng.choice([0.2, 1.0, 5.0]))).reshape(2, 3)
        limit = column_shares([m[None] for m in marginals(joint)], guarantee)[0]
        assert limit >= best_share(joint, guarantee) - 1e-6


def test_it_is_reached_where_the_columns_are_copies():
    """Three copies of one coin are known together or not at all."""
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0], joint[1, 1, 1] = 0.6, 0.4
    for guarantee in (PureDP(1.0), ApproximateDP(0.3, 0.1)):
        limit = column_shares([m[None] for m in marginals(joint)], guarantee)[0]
        assert limit == pytest.approx(best_share(joint, guarantee), abs=1e-5)


def test_it_says_nothing_of_many_columns_at_once():
    """Copies of a coin are all right far more often than the shares would have it if apart."""
    epsilon, columns = 1.0, 12
    limit = column_shares([[[0.5, 0.5]]] * columns, PureDP(epsilon))[0]
    all_right = optimum([0.5, 0.5], PureDP(epsilon))[0]  # of the coin of which all are copies
    assert all_right > limit**columns * 30
    theorem = THEOREMS["column-shares"]
    assert "nothing is said" in theorem.says
    with pytest.raises(InputError, match="mean share"):
        Question(threat_of_columns([[0.5, 0.5]]), PureDP(1.0), 2)


def test_many_people_at_once_are_each_alone():
    rng = np.random.default_rng(2)
    columns = [rng.dirichlet(np.ones(size), 5) for size in (2, 4, 3)]
    for guarantee in (PureDP(1.0), GaussianDP(0.7)):
        found = column_shares(columns, guarantee)
        for person in range(5):
            alone = [optimum(rows[person], guarantee)[0] for rows in columns]
            assert found[person] == pytest.approx(np.mean(alone), abs=1e-12)
    with pytest.raises(InputError, match="columns"):
        column_shares([], PureDP(1.0))


def test_the_theorem_is_about_columns_alone():
    theorem = THEOREMS["column-shares"]
    danger = threat_of_columns([[0.7, 0.3], [0.2, 0.5, 0.3]])
    assert danger.prior == pytest.approx(0.6)
    said = theorem.bound(danger, PureDP(1.0))
    assert said.value == column_shares([[[0.7, 0.3]], [[0.2, 0.5, 0.3]]], PureDP(1.0))[0]
    assert said.quantity == "mean share of 2 columns of one target"
    assert any("each column's distribution" in line for line in said.assumptions)
    lacking = THEOREMS["one-target"].bound(danger, PureDP(1.0))
    assert "a question about the success" in lacking.reason
    assert "a question about the columns" in theorem.bound(threat(prior=0.5), PureDP(1.0)).reason
