"""What every bound for given priors takes, and what it refuses."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from narcissus.bounds import (
    ListedPriors,
    threat,
    threat_of_columns,
    threat_of_likeliest,
)
from narcissus.bounds.one_target import optimum
from narcissus.bounds.threat import likeliest_first, prior_rows, spread, success_matrix
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.priors import Zipf


def test_rows_sum_to_one_but_for_rounding():
    assert prior_rows("priors", [0.5, 0.5 + 0.9e-9]).shape == (1, 2)
    assert prior_rows("priors", [0.5, 0.5 - 0.9e-9]).shape == (1, 2)
    for wrong in (0.5 + 1.1e-9, 0.5 - 1.1e-9, 0.7):
        with pytest.raises(InputError, match=r"`chances` must sum to 1 .* in row 1"):
            prior_rows("chances", [[0.5, 0.5], [0.5, wrong], [0.1, 0.1]])
    with pytest.raises(InputError, match=r"got 0\.75 in row 0"):
        prior_rows("priors", [0.5, 0.25])


@pytest.mark.parametrize("wrong", [[], [[]], np.full((1, 2, 2), 0.5), [1.5, -0.5]])
def test_what_are_no_rows_of_distributions_is_refused(wrong):
    with pytest.raises(InputError, match="priors"):
        prior_rows("priors", wrong)


def test_a_guess_that_comes_twice_counts_once():
    found = success_matrix([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 0]], 3)
    assert sorted(map(tuple, found.T.tolist())) == [(0, 1, 0), (0, 1, 1), (1, 0, 1)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([1, 0], "one row for each of the 2 values"),
        ([[1, 0]], r"got shape \(1, 2\)"),
        ([[], []], r"got shape \(2, 0\)"),
        (np.ones((2, 1, 1)), "one column a guess"),
        ([[1, 0], [0, 0.5]], "only 0 and 1"),
    ],
)
def test_what_is_no_success_matrix_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        success_matrix(wrong, 2)


def test_rows_and_counts_are_sorted_together():
    rows, counts = likeliest_first(np.array([[0.1, 0.4, 0.0]]), [[6, 1, 0]])
    assert rows.tolist() == [[0.4, 0.1, 0.0]]
    assert counts.tolist() == [[1, 6, 0]]
    assert prior_rows("priors", [0.1, 0.4], [6, 1]).shape == (1, 2)
    with pytest.raises(InputError, match="sum to 1"):
        prior_rows("priors", [0.1, 0.4], [5, 1])


@pytest.mark.parametrize(
    ("wrong", "said"), [([1], "shape"), ([0.5, 1], "at least 1"), ([np.inf, 1], "finite")]
)
def test_what_are_no_counts_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        likeliest_first(np.array([[0.5, 0.5]]), wrong)


def test_the_rest_goes_to_as_many_values_as_it_fills():
    priors = ListedPriors([[0.5, 0.2, 0.0], [0.6, 0.3, 0.1]], [0.04, 0.0])
    masses, counts = priors.with_rest(priors.unlisted)
    np.testing.assert_allclose(masses, [[0.5, 0.2, 0, 0.04], [0.6, 0.3, 0.1, 0]], atol=1e-15)
    np.testing.assert_allclose(counts, [[1, 1, 0, 7.5], [1, 1, 1, 0]], rtol=1e-12)
    # less than one value is one value
    masses, counts = ListedPriors([[0.5, 0.4]], [0.3]).with_rest([0.3])
    np.testing.assert_allclose([masses[0], counts[0]], [[0.5, 0.4, 0.1], [1, 1, 1]])


@pytest.mark.parametrize(
    ("masses", "unlisted", "said"),
    [
        ([[0.5, 0.6]], [0.0], "sum to at most 1"),
        ([[0.5, 0.4]], [0.0], "to 1 where no value is left out"),
        ([[0.5, 0.2]], [0.3], "must not be above the smallest"),
        ([[0.5, 0.2]], [0.1, 0.1], "one number a target"),
        ([[0.5, -0.2]], [0.1], "probabilities"),
        ([[]], [0.1], "one row a target"),
    ],
)
def test_what_cannot_be_is_refused(masses, unlisted, said):
    with pytest.raises(InputError, match=said):
        ListedPriors(masses, unlisted)


MODULE = sys.modules["narcissus.bounds.threat"]  # the room has a function of that name


def listed(law):
    mass = np.arange(1, law.n + 1, dtype=float) ** -law.s
    return mass / mass.sum()


@pytest.mark.parametrize(
    "law", [Zipf(1.1, 10**9), Zipf(0.0, 10**12), Zipf(3.0, 10**15), Zipf(2.2, 4098), Zipf(1, 7)]
)
def test_mass_and_number_of_values_stay(law):
    masses, counts = spread(law)
    assert masses.shape == counts.shape
    assert masses.shape[1] < 20_000
    assert float((masses * counts).sum()) == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(masses[0]) <= 1e-12 * masses[0, :-1]).all()
    assert (counts >= 1).all()
    assert masses[0, 0] == pytest.approx(law.probability(1), rel=1e-9)
    if law.s < 2:  # beyond, what is left in the tail is rounding
        assert float(counts.sum()) == pytest.approx(law.n, rel=1e-6)


GUARANTEES = (PureDP(2.0), ApproximateDP(5.0, 0.01), GaussianDP(2.0))


@pytest.mark.parametrize("s", [0.3, 1.0, 1.7])
def test_coarse_groups_are_above_the_prior_and_fine_ones_come_near(monkeypatch, s):
    law = Zipf(s, 3000)
    true = {g: float(optimum(listed(law), g)[0]) for g in GUARANTEES}
    monkeypatch.setattr(MODULE, "SINGLE", 16)
    found = {}
    for growth in (2.0, 1.1):
        monkeypatch.setattr(MODULE, "_GROWTH", growth)
        masses, counts = spread.__wrapped__(law)
        assert 0.99 * law.n <= float(counts.sum()) <= law.n * (1 + 1e-9)
        for guarantee in GUARANTEES:
            found[growth, guarantee] = float(optimum(masses, guarantee, counts=counts)[0])
    for guarantee, truth in true.items():
        assert truth - 1e-8 <= found[1.1, guarantee] <= found[2.0, guarantee] + 1e-9
        assert found[1.1, guarantee] <= truth * (1 + 1e-2)
    assert found[2.0, GUARANTEES[2]] > true[GUARANTEES[2]] + 1e-6


@pytest.mark.parametrize("p", [1e-320, 1e-9, 1e-3, 0.07, 0.1, 1 / 3, 0.4, 0.5, 0.7, 1.0])
def test_the_worst_prior_is_a_corner_of_all_with_that_best_guess(p):
    danger = threat(prior=p, exact_match=True)
    assert danger.prior == p
    if danger.values is not None:
        row = np.array(danger.values)
        assert row.sum() == pytest.approx(1, abs=1e-12)
        assert row.max() <= p * (1 + 1e-12)
        assert (row == p).sum() >= row.size - 1
        assert row.size == math.ceil(1 / p - 1e-9)
        assert danger.inseparable == pytest.approx(float((row**2).sum()), abs=1e-12)
    else:
        assert danger.inseparable == pytest.approx(p, rel=1e-3, abs=1e-300)


def test_one_guess_for_each_value_is_exact_match_in_whatever_order():
    plain = threat(values=[0.5, 0.3, 0.2])
    assert threat(values=[0.5, 0.3, 0.2], success=np.eye(3)) == plain
    assert threat(values=[0.5, 0.3, 0.2], success=np.eye(3)[:, [2, 0, 1]]) == plain
    assert threat(values=[0.5, 0.3, 0.2], within=0) == plain
    assert not threat(values=[0.5, 0.3, 0.2], within=1).exact_match


def test_what_is_not_given_together_is_refused():
    for wrong, said in [
        ({}, "must be given, and not both"),
        ({"prior": 0.5, "values": [0.5, 0.5]}, "not both"),
        ({"prior": 0.5, "success": [[1.0], [0.0]]}, "need `values`"),
        ({"prior": 0.5, "within": 1}, "need `values`"),
        ({"prior": 0.5, "exact_match": True, "within": 0}, "need `values`"),
        ({"prior": 0.5, "exact_match": True, "inseparable": 0.5}, "leave it out"),
        ({"values": [0.5, 0.5], "exact_match": True}, "`exact_match` follows .* leave it out"),
        ({"values": [0.5, 0.5], "inseparable": 0.5}, "`inseparable` follows .* leave it out"),
        ({"values": [0.5, 0.5], "within": 1, "success": np.eye(2)}, "not both be given"),
        ({"values": [0.5, 0.5], "within": -1}, "within"),
        ({"values": [0.5, 0.6]}, "values"),
        ({"prior": 1.5}, "prior"),
        ({"prior": 0.5, "inseparable": -0.5}, "inseparable"),
        ({"prior": 0.5, "targets": 0}, "targets"),
        ({"prior": 0.5, "targets": 10**10 + 1}, "targets"),
        ({"prior": 0.5, "targets": 3, "guesses": 4}, "at most the 3 targets, got 4"),
        ({"prior": 0.5, "targets": 3, "guesses": -1}, "guesses"),
    ]:
        with pytest.raises(InputError, match=said):
            threat(**wrong)
    many = threat(prior=0.5, targets=10**10, guesses=0)
    assert (many.targets, many.guesses) == (10**10, 0)
    assert (threat(prior=0.5).targets, threat(values=[0.5, 0.5], targets=7).guesses) == (1, 7)
    for targets in (0, -1):
        with pytest.raises(InputError, match="targets"):
            threat_of_likeliest(ListedPriors([[0.5, 0.5]], [0.0]), targets=targets)


def test_what_is_known_is_said():
    best, worst, given = (
        threat(prior=0.3, inseparable=0.2),
        threat(prior=0.3, exact_match=True),
        threat(values=[0.7, 0.3], targets=2),
    )
    assert [t.known for t in (best, worst, given)] == [False, False, True]
    assert [t.exact_match for t in (best, worst, given)] == [False, True, True]
    assert (best.inseparable, best.values, best.success) == (0.2, None, None)
    assert threat(prior=0.3).inseparable == 0
    assert "as given" in given.about_prior
    assert worst.about_prior == "no value is likelier a priori than 0.3, and a guess must name it"
    assert [t.uniform for t in (best, worst, given)] == [False, False, False]
    assert threat(values=[0.2] * 5).uniform
    assert not threat(values=[0.2] * 5, within=1).uniform
    assert not threat(values=[1.0]).uniform  # one value is no choice
    assert threat(prior=0.2, exact_match=True).uniform


def brute(values, success) -> tuple[float, float]:
    """The best guess's success, and the chance that no guess is right for one draw alone."""
    size, guesses = len(values), range(len(success[0]))
    told = sum(
        values[x] * values[y]
        for x in range(size)
        for y in range(size)
        if any(success[x][z] and not success[y][z] for z in guesses)
    )
    return max(sum(values[x] * success[x][z] for x in range(size)) for z in guesses), 1 - told


def test_the_best_guess_and_kappa_follow_from_the_values():
    rng = np.random.default_rng(9)
    kept = 0
    for _ in range(60):
        size = int(rng.integers(1, 5))
        values = rng.dirichlet(np.ones(size))
        success = (rng.random((size, int(rng.integers(1, 5)))) < 0.5).astype(float)
        danger = threat(values=values, success=success, targets=3, guesses=2)
        prior, kappa = brute(values, success)
        assert danger.prior == pytest.approx(prior, abs=1e-15)
        assert danger.inseparable == pytest.approx(kappa, abs=1e-12)
        assert (danger.values, danger.targets, danger.guesses) == (tuple(values.tolist()), 3, 2)
        if danger.exact_match:
            assert danger.success is None
            once = np.unique(success, axis=1)  # a guess that comes twice counts once
            assert (once.sum(axis=0) == 1).all()
            assert (once.sum(axis=1) == 1).all()
        else:
            assert sorted(zip(*danger.success, strict=True)) == sorted(
                {tuple(guess) for guess in success.T.tolist()}
            )
        kept += danger.exact_match
    assert 0 < kept < 30


def test_near_means_at_most_so_many_places_away():
    values = [0.1, 0.2, 0.3, 0.4]
    for reach in range(4):
        near = [[float(abs(x - z) <= reach) for z in range(4)] for x in range(4)]
        told, given = threat(values=values, within=reach), threat(values=values, success=near)
        assert (told.prior, told.inseparable) == (given.prior, given.inseparable)
        assert told.exact_match is given.exact_match is (reach == 0)
        if reach:
            assert list(map(list, told.success)) == near
    assert threat(values=values, within=1).prior == pytest.approx(0.9)
    assert threat(values=values, within=3).prior == 1


def test_a_worst_prior_of_very_many_values_is_not_written_out():
    for values in (93, 99, 105, 210, 999):  # whole in spite of rounding
        danger = threat(prior=1 / values, exact_match=True)
        assert danger.uniform
        assert len(danger.values) == values
    assert threat(prior=1 / 1000, exact_match=True).values is None
    assert threat(prior=1 / 1000, exact_match=True).inseparable == pytest.approx(1e-3)
    rest = threat(prior=0.3, exact_match=True)
    assert rest.values == pytest.approx((0.3, 0.3, 0.3, 0.1))
    assert rest.inseparable == pytest.approx(0.28)
    for tiny in (1e-301, 0.0):
        none = threat(prior=tiny, exact_match=True)
        assert (none.values, none.inseparable) == (None, 0)


def test_the_worst_prior_of_the_likeliest_values_is_written_out_where_it_is_short():
    danger = threat_of_likeliest(ListedPriors([[0.5, 0.2, 0.0]], [0.125]), targets=3)
    assert danger.values == pytest.approx((0.5, 0.2, 0.125, 0.125, 0.05))
    assert danger.inseparable == pytest.approx(sum(p * p for p in danger.values))
    assert danger.likeliest == (0.5, 0.2)
    assert danger.targets == 3
    long = threat_of_likeliest(ListedPriors([[0.5, 0.2]], [1e-9]))
    assert long.values is None
    assert long.inseparable == pytest.approx(0.29)
    whole = threat_of_likeliest(ListedPriors([[0.3, 0.7]], [0.0]))
    assert whole.values == (0.7, 0.3)
    with pytest.raises(InputError, match="of one target, got 2"):
        threat_of_likeliest(ListedPriors([[1.0]] * 2, [0.0, 0.0]))


def test_a_threat_to_columns_has_the_mean_of_their_best_guesses():
    assert threat_of_columns([[0.5, 0.5], [0.9, 0.1]]).prior == pytest.approx(0.7)
    for wrong in ([], [[0.5, 0.6]]):
        with pytest.raises(InputError, match="columns"):
            threat_of_columns(wrong)
