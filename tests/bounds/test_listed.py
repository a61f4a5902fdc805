"""The optimum from the likeliest values, against the whole prior, rationals and exact programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.bounds import (
    THEOREMS,
    ListedPriors,
    exact_match_optimum,
    exact_optimum,
    listed_optimum,
    optimum,
    optimum_by_listing,
    threat_of_likeliest,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP

SLACK = 1e-6  # the solver's tolerance
KINDS = [GaussianDP(0.3), GaussianDP(2.0), ApproximateDP(0.5, 0.02), RenyiDP(4.0, 0.5)]


def drawn(seed: int) -> np.ndarray:
    """A prior of up to 200 values, from nearly uniform to nearly certain, likeliest first."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(int(rng.integers(2, 200)), rng.choice([0.05, 0.3, 1.0, 9.0])))
    ordered = np.sort(weights[weights > 0])[::-1]
    return ordered / ordered.sum()


def cut(prior: np.ndarray, k: int, loose: float = 0.0) -> ListedPriors:
    """The first ``k`` values; the limit of the others lies between the next and the last."""
    following = prior[k] if k < prior.size else 0.0
    return ListedPriors([prior[:k]], [following + loose * (prior[k - 1] - following)])


@given(st.integers(0, 10**6), st.floats(0, 8), st.floats(0, 1))
def test_it_is_never_below_the_optimum_of_the_whole_prior(seed, epsilon, loose):
    prior = drawn(seed)
    k = 1 + seed % prior.size
    loose = 0.0 if k == prior.size else loose
    exact = exact_match_optimum(prior, epsilon)[0]
    found = listed_optimum(cut(prior, k, loose), PureDP(epsilon))[0]
    assert found >= exact - 1e-12
    for guarantee in (GaussianDP(epsilon / 3 + 0.01), ApproximateDP(epsilon, 0.01)):
        found = listed_optimum(cut(prior, k, loose), guarantee)[0]
        # each searches its own best epsilon, and may miss it by so much
        assert found >= optimum(prior, guarantee)[0] - 2e-7


@given(st.integers(0, 10**6), st.floats(0, 8))
def test_values_below_what_matters_need_not_be_listed(seed, epsilon):
    """All above ``e^-eps p_1``: then it is the optimum, whatever is left out."""
    prior = drawn(seed)
    k = max(1, int((prior >= np.exp(-epsilon) * prior[0]).sum()))
    exact = exact_match_optimum(prior, epsilon)[0]
    assert listed_optimum(cut(prior, k), PureDP(epsilon))[0] == pytest.approx(exact, abs=1e-12)


def test_the_cut_formula_in_rationals():
    """``max(max f, e^eps / (e^eps + K + R / tau - 1))`` with an ``e^eps`` of 3."""
    for head, tau in [((5, 3), 1), ((4, 2, 2), 1), ((3, 3, 2, 1), 1), ((2,), 2), ((7, 1), 1)]:
        total = 12
        masses = [Fraction(h, total) for h in head]
        rest, limit = 1 - sum(masses), Fraction(tau, total)
        values = [3 * sum(masses[:k]) / (3 + k - 1) for k in range(1, len(head) + 1)]
        values.append(3 / (3 + len(head) + rest / limit - 1))
        priors = ListedPriors([[float(m) for m in masses]], [float(limit)])
        found = listed_optimum(priors, PureDP(float(np.log(3))))[0]
        assert found == pytest.approx(float(max(values)), abs=1e-14)


@pytest.mark.parametrize("guarantee", [PureDP(1.0), *KINDS])
def test_what_fits_the_rest_exactly_is_the_worst_prior(guarantee):
    """Where the rest fills whole values the limit is the optimum of a prior that there is."""
    head = np.array([0.3, 0.2])
    for values in (3, 5, 25):
        tau = 0.5 / values
        whole = np.append(head, np.full(values, tau))
        found = listed_optimum(ListedPriors([head], [tau]), guarantee)[0]
        assert found == pytest.approx(optimum(whole, guarantee)[0], abs=1e-9)


def test_it_is_above_the_best_of_all_mechanisms():
    rng = np.random.default_rng(4)
    for guarantee in (PureDP(1.0), ApproximateDP(0.4, 0.05), ApproximateDP(2.0, 0.01)):
        for _ in range(6):
            prior = np.sort(rng.dirichlet(np.ones(4)))[::-1]
            exact = exact_optimum(prior, guarantee).value
            for k in (1, 2, 3):
                assert listed_optimum(cut(prior, k), guarantee)[0] >= exact - SLACK


def zipf(size: int, power: float) -> np.ndarray:
    mass = np.arange(1, size + 1) ** -power
    return mass / mass.sum()


class Lister:
    """Lists from whole priors, and notes how often and how much it was asked."""

    def __init__(self, priors: list[np.ndarray]) -> None:
        self.priors, self.asked = priors, []

    def __call__(self, rows, most, least) -> ListedPriors:
        masses, unlisted = np.zeros((rows.size, most)), np.zeros(rows.size)
        for i, (row, floor) in enumerate(zip(rows, least, strict=True)):
            prior = self.priors[row]
            k = max(1, min(most, int((prior >= floor).sum())))
            masses[i, :k] = prior[:k]
            unlisted[i] = prior[k] if k < prior.size else 0.0
            self.asked.append((int(row), most, k))
        return ListedPriors(masses, unlisted)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0, 9.0])
def test_listing_by_need_gives_the_exact_optimum_under_pure_dp(epsilon):
    priors = [zipf(50_000, 1.2), zipf(30_000, 0.5), zipf(3, 1.0), np.full(20_000, 5e-5)]
    lister = Lister(priors)
    found = optimum_by_listing(lister, len(priors), PureDP(epsilon))
    truth = [exact_match_optimum(prior, epsilon)[0] for prior in priors]
    np.testing.assert_allclose(found.value, truth, rtol=1e-12)
    assert (found.left_open == 0).all()
    assert found.listed[2] == 3
    # the steep prior needs few of its values
    if epsilon == 1.0:
        assert found.listed[0] <= 1024


@pytest.mark.parametrize("guarantee", KINDS)
def test_listing_by_need_is_near_the_optimum_and_never_below(guarantee):
    priors = [zipf(50_000, 1.2), zipf(30_000, 0.5), zipf(3, 1.0)]
    found = optimum_by_listing(Lister(priors), len(priors), guarantee)
    for value, prior in zip(found.value, priors, strict=True):
        truth = optimum(prior, guarantee)[0]
        assert truth - 2e-7 <= value <= truth + 2e-4


def test_where_the_list_is_cut_the_limit_holds_and_says_that_it_is_open():
    priors = [zipf(50_000, 0.3), zipf(4, 1.0)]
    lister = Lister(priors)
    found = optimum_by_listing(lister, 2, PureDP(9.0), most=3000)
    truth = [exact_match_optimum(prior, 9.0)[0] for prior in priors]
    assert found.value[0] > truth[0] + 1e-6
    assert found.left_open[0] >= found.value[0] - truth[0]
    assert found.value[1] == pytest.approx(truth[1], rel=1e-12)
    assert found.left_open[1] == 0
    # each is listed again only as long as something is open
    assert [(row, most) for row, most, _ in lister.asked] == [(0, 1024), (1, 1024), (0, 3000)]


def test_listing_asks_again_for_what_still_matters_only():
    lister = Lister([zipf(10**5, 0.3)])
    optimum_by_listing(lister, 1, PureDP(2.0))
    assert [most for _, most, _ in lister.asked] == [1024, 8192, 65536, 524288][: len(lister.asked)]
    assert lister.asked[-1][2] < 10**5


def test_what_is_worth_listing_of_a_target_depends_on_that_target_alone():
    """Beside one that is nearly certain, one of many values is listed as far as it is alone."""

    class Noting(Lister):
        def __call__(self, rows, most, least):
            self.least = getattr(self, "least", [])
            self.least += [(int(row), float(floor)) for row, floor in zip(rows, least, strict=True)]
            return super().__call__(rows, most, least)

    guarantee = GaussianDP(1.5)
    priors = [zipf(40_000, 0.5), zipf(30_000, 0.9), np.array([0.97, 0.03])]
    together = Noting(priors)
    found = optimum_by_listing(together, 3, guarantee, tolerance=1e-7)
    again = [row for row, floor in together.least if floor > 0]
    assert 0 in again
    assert 1 in again
    for row, prior in enumerate(priors):
        alone = Noting([prior])
        single = optimum_by_listing(alone, 1, guarantee, tolerance=1e-7)
        assert [floor for k, floor in together.least if k == row] == [f for _, f in alone.least]
        assert found.value[row] == pytest.approx(single.value[0], abs=1e-12)
        assert found.listed[row] == single.listed[0]
        # a fixed share of the likeliest value, where it was asked for
        floors = [floor / prior[0] for k, floor in together.least if k == row and floor > 0]
        assert np.allclose(floors, floors[:1], rtol=1e-12)


def test_the_theorem_answers_for_likeliest_values_alone():
    theorem = THEOREMS["one-target-optimum-listed"]
    priors = ListedPriors([[0.5, 0.3]], [0.1])
    said = theorem.bound(threat_of_likeliest(priors), PureDP(3.0))
    assert said.value == listed_optimum(priors, PureDP(3.0))[0]
    assert any("the 2 likeliest values" in line and "0.1" in line for line in said.assumptions)
    assert "upper limit" in theorem.says
    with pytest.raises(InputError, match="tolerance"):
        optimum_by_listing(Lister([zipf(3, 1.0)]), 1, GaussianDP(1.0), tolerance=0)
    with pytest.raises(InputError, match="replace-one"):
        listed_optimum(priors, PureDP(1.0, adjacency="add-remove"))
