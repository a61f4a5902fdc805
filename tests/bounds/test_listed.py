"""The optimum from the likeliest values, against the whole prior, rationals and exact programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.bounds import (
    THEOREMS,
    ListedPriors,
    at_most,
    best,
    bounds_on,
    domination,
    exact_match_optimum,
    interpolation,
    listed_optimum,
    optimum,
    optimum_by_listing,
    ranked_optimum,
    ranked_tails,
    threat_of_likeliest,
    threat_of_ranked,
)
from narcissus.bounds.threat import SINGLE, _ends
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP
from narcissus.priors import Zipf

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
    prior = drawn(seed)
    k = max(1, int((prior >= np.exp(-epsilon) * prior[0]).sum()))
    exact = exact_match_optimum(prior, epsilon)[0]
    assert listed_optimum(cut(prior, k), PureDP(epsilon))[0] == pytest.approx(exact, abs=1e-12)


def test_the_cut_formula_in_rationals():
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
    head = np.array([0.3, 0.2])
    for values in (3, 5, 25):
        tau = 0.5 / values
        whole = np.append(head, np.full(values, tau))
        found = listed_optimum(ListedPriors([head], [tau]), guarantee)[0]
        assert found == pytest.approx(optimum(whole, guarantee)[0], abs=1e-9)


def zipf(size: int, power: float) -> np.ndarray:
    mass = np.arange(1, size + 1) ** -power
    return mass / mass.sum()


class Lister:
    """Lists from whole priors, and notes what it was asked."""

    def __init__(self, priors: list[np.ndarray]) -> None:
        self.priors, self.asked = priors, []

    def __call__(self, rows, most, least) -> ListedPriors:
        masses, unlisted = np.zeros((rows.size, most)), np.zeros(rows.size)
        for i, (row, floor) in enumerate(zip(rows, least, strict=True)):
            prior = self.priors[row]
            k = max(1, min(most, int((prior >= floor).sum())))
            masses[i, :k] = prior[:k]
            unlisted[i] = prior[k] if k < prior.size else 0.0
            self.asked.append((int(row), most, k, float(floor)))
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
    truth = np.array([optimum(prior, guarantee)[0] for prior in priors])
    assert (truth - 2e-7 <= found.value).all()
    assert (found.value <= truth + 2e-4).all()


def test_where_the_list_is_cut_the_limit_holds_and_says_that_it_is_open():
    priors = [zipf(50_000, 0.3), zipf(4, 1.0)]
    lister = Lister(priors)
    found = optimum_by_listing(lister, 2, PureDP(9.0), most=3000)
    truth = [exact_match_optimum(prior, 9.0)[0] for prior in priors]
    assert found.value[0] > truth[0] + 1e-6
    assert found.left_open[0] >= found.value[0] - truth[0]
    assert found.value[1] == pytest.approx(truth[1], rel=1e-12)
    assert found.left_open[1] == 0
    # each is listed again only as long as something is open, eight times as far
    assert [asked[:2] for asked in lister.asked] == [(0, 1024), (1, 1024), (0, 3000)]
    lister = Lister([zipf(10**5, 0.3)])
    optimum_by_listing(lister, 1, PureDP(2.0))
    assert [asked[1] for asked in lister.asked] == [1024, 8192, 65536, 524288][: len(lister.asked)]
    assert lister.asked[-1][2] < 10**5


def test_what_is_worth_listing_of_a_target_depends_on_that_target_alone():
    guarantee = GaussianDP(1.5)
    priors = [zipf(40_000, 0.5), zipf(30_000, 0.9), np.array([0.97, 0.03])]
    together = Lister(priors)
    found = optimum_by_listing(together, 3, guarantee, tolerance=1e-7)
    for row, prior in enumerate(priors):
        alone = Lister([prior])
        single = optimum_by_listing(alone, 1, guarantee, tolerance=1e-7)
        assert found.value[row] == pytest.approx(single.value[0], abs=1e-12)
        mine = [asked[1:] for asked in together.asked if asked[0] == row]
        assert mine == [asked[1:] for asked in alone.asked]
        # a fixed share of the likeliest value, where it was asked for
        floors = [floor / prior[0] for *_, floor in mine if floor > 0]
        assert np.allclose(floors, floors[:1], rtol=1e-12)
        assert floors or row == 2


def test_the_theorem_answers_for_likeliest_values_alone():
    priors = ListedPriors([[0.5, 0.3]], [0.1])
    said = THEOREMS["one-target-optimum-listed"].bound(threat_of_likeliest(priors), PureDP(3.0))
    assert said.value == listed_optimum(priors, PureDP(3.0))[0] == pytest.approx(0.870049, abs=1e-6)
    assert any("the 2 likeliest values" in line and "0.1" in line for line in said.assumptions)
    with pytest.raises(InputError, match="tolerance"):
        optimum_by_listing(Lister([zipf(3, 1.0)]), 1, GaussianDP(1.0), tolerance=0)
    with pytest.raises(InputError, match="most"):
        optimum_by_listing(Lister([zipf(3, 1.0)]), 1, GaussianDP(1.0), most=0)
    for call in (lambda g: listed_optimum(priors, g), lambda g: ranked_optimum(Zipf(1.0, 5), g)):
        with pytest.raises(InputError, match="replace-one"):
            call(PureDP(1.0, adjacency="add-remove"))
    with pytest.raises(InputError, match="replace-one"):
        ranked_tails(Zipf(1.0, 5), PureDP(1.0, adjacency="add-remove"), 3)


HERE = pytest.mark.states("Narcissus theory", "4.11")


@HERE
@pytest.mark.parametrize("s", [0.0, 0.6, 1.0, 1.1, 2.5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 997])
def test_it_is_the_optimum_of_the_listed_masses(n, s):
    mass = np.arange(1, n + 1, dtype=float) ** -s
    mass /= mass.sum()
    for epsilon in (0.0, 0.3, 1.0, 4.0, 800.0):
        for guarantee in (PureDP(epsilon), ApproximateDP(epsilon, 0.01)):
            found = ranked_optimum(Zipf(s, n), guarantee)
            assert found == pytest.approx(float(optimum(mass, guarantee)[0]), rel=1e-11)


@HERE
@pytest.mark.parametrize(
    ("s", "values"),
    [
        (1.2, (0.1903575179, 0.3143734043, 0.4655825961, 0.7537626232)),
        (1.1, (0.1149739262, 0.1997231331, 0.3129060511, 0.5809093074)),
    ],
)
def test_a_billion_passwords(s, values):
    found = [ranked_optimum(Zipf(s, 10**9), ApproximateDP(e, 1e-5)) for e in (1.0, 3.0, 5.0, 10.0)]
    assert found == pytest.approx(values, abs=6e-11)


# Narcissus theory 4.11: upper limits by multipliers, and what a mechanism reaches
BILLION = {
    1.1: (
        (0.1072453620, 0.1120717134, 0.1276847266, 0.2028338998),
        (0.1072454, 0.111411, 0.123042, 0.178573),
    ),
    1.2: (
        (0.1814196498, 0.1875748988, 0.2086950794, 0.3087350968),
        (0.1814196, 0.1869184, 0.2035669, 0.2812846),
    ),
}


def reached(law, mu):
    """Publish |Lambda|, Lambda ~ N(mu^2 / 2, mu^2), then the pure mechanism of that epsilon."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    edges = np.sort(np.append(np.linspace(-8.0, 8.0, 200), -mu / 2))  # Lambda changes its sign
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half + half * nodes).ravel()
    each = [ranked_optimum(law, PureDP(float(abs(mu**2 / 2 + mu * x)))) for x in z]
    return float((half * weights).ravel() @ (stats.norm.pdf(z) * each))


@HERE
@pytest.mark.parametrize("s", [1.1, 1.2])
def test_a_billion_passwords_under_gaussian_dp(s):
    law = Zipf(s, 10**9)
    for epsilon, above, below in zip((1.0, 3.0, 5.0, 10.0), *BILLION[s], strict=True):
        guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
        found = ranked_optimum(law, guarantee)
        assert found == pytest.approx(above, abs=2e-10)
        floor = reached(law, guarantee.mu)
        assert floor == pytest.approx(below, abs=1.5e-6)  # the quadrature's error
        assert floor <= found
        # less than what the one point (epsilon, delta) of the same curve proves
        assert found < ranked_optimum(law, ApproximateDP(epsilon, 1e-5))


@HERE
@pytest.mark.parametrize("guarantee", [GaussianDP(1.0), GaussianDP(4.0), RenyiDP(4.0, 0.5)])
@pytest.mark.parametrize(("s", "n"), [(0.4, 30_000), (1.0, 9_001), (2.0, 4_097)])
def test_in_groups_it_is_the_optimum_of_all_masses(guarantee, s, n):
    mass = np.arange(1, n + 1, dtype=float) ** -s
    truth = float(optimum(mass / mass.sum(), guarantee)[0])
    found = ranked_optimum(Zipf(s, n), guarantee)
    assert truth - 2e-9 <= found <= truth * (1 + 1e-6)


@pytest.mark.parametrize("guarantee", [PureDP(2.0), ApproximateDP(2.0, 1e-3), GaussianDP(1.0)])
def test_a_tail_by_rank_is_that_of_the_listed_masses(guarantee):
    law, n = Zipf(1.1, 40), 12
    mass = np.arange(1, 41, dtype=float) ** -1.1
    mass /= mass.sum()
    tails = ranked_tails(law, guarantee, n)
    assert tails.shape == (n + 2,)
    assert (tails[0], tails[-1]) == (1.0, 0.0)
    for v in (3, 6, 9):
        by_list = domination(mass, guarantee, v, repeats=[n]).value
        assert tails[v] <= by_list * (1 + 1e-9)
        if isinstance(guarantee, PureDP):
            assert tails[v] == pytest.approx(by_list, rel=1e-9)
        else:
            # listed, each point may be chosen anew; never above by more than rounding
            assert tails[v] >= interpolation(mass, guarantee, v, repeats=[n]).value * (1 - 1e-9)


@pytest.mark.parametrize("n", [1, SINGLE, SINGLE + 1, SINGLE + 21, SINGLE + 39, 4999, 10**6])
def test_ranks_are_grouped_to_the_last_and_no_group_is_smaller_than_the_others(n):
    ends = _ends(n)
    sizes = np.diff(ends)
    assert (ends[0], ends[-1]) == (0, n)
    assert (sizes[:SINGLE] == 1).all()
    assert (sizes[SINGLE:] >= min(20, n - SINGLE)).all()
    starts = np.array(ends[SINGLE:-1])
    assert (sizes[SINGLE:-1] <= 0.005 * starts[:-1] + 1).all()


def test_a_threat_by_rank_is_answered_by_all_commands_alike():
    few = threat_of_ranked(Zipf(1.1, 10), targets=3)
    assert len(few.values) == 10
    assert len(threat_of_ranked(Zipf(1.1, 1000)).values) == 1000
    assert threat_of_ranked(Zipf(1.1, 1001)).values is None
    found = best(bounds_on(few, ApproximateDP(3.0, 1e-5)))
    assert found.value == pytest.approx(0.694906, abs=5e-7)
    assert any("Zipf's law with exponent 1.1 over 10 values" in said for said in found.assumptions)
    many = threat_of_ranked(Zipf(1.1, 10**9), targets=20)
    assert many.values is None
    assert many.known
    assert many.exact_match
    guarantee = GaussianDP(1.0)
    success = best(bounds_on(many, guarantee))
    assert success.id == "one-target-optimum-ranked"
    assert success.value == ranked_optimum(Zipf(1.1, 10**9), guarantee)
    number = int(at_most(many, guarantee, 0.95).value)
    tails = ranked_tails(Zipf(1.1, 10**9), guarantee, 20)
    assert tails[number + 1] <= 0.05 < tails[number]
    # no more than the bound from the best guess alone
    assert best(bounds_on(many, guarantee, 12)).value <= best(
        bounds_on(threat_of_ranked(Zipf(1.1, 1000), targets=20), guarantee, 12)
    ).value * (1 + 1e-9)
