"""Shuffled reports: by counting, for all values of the others, and published bounds."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.shuffled import Binomial, middle_term
from narcissus.errors import InputError


def histograms(values, k, p, q):
    """Give the law of how often each value is reported."""
    law = Counter({(0,) * k: 1.0})
    for value in values:
        new = Counter()
        for counts, mass in law.items():
            for said in range(k):
                more = (*counts[:said], counts[said] + 1, *counts[said + 1 :])
                new[more] += mass * (p if said == value else q)
        law = new
    return law


def by_counting(k, eps, people):
    """Give the least overlap over all values of the others, and over all pairs of the one's."""
    q = 1 / (math.exp(eps) + k - 1)
    found = []
    for others in itertools.combinations_with_replacement(range(k), people - 1):
        one, two = (histograms([v, *others], k, math.exp(eps) * q, q) for v in (0, 1))
        found.append(math.fsum(min(one[c], two[c]) for c in one))
    return min(found)


@pytest.mark.states("Narcissus theory", "6.17")
@pytest.mark.parametrize(("k", "people"), [(2, 1), (2, 4), (2, 5), (3, 3), (3, 4), (4, 4), (5, 3)])
@pytest.mark.parametrize("eps", [0.4, 2.5])
def test_by_counting_over_all_values_of_the_others(k, people, eps):
    found = ch.shuffled_security(ch.KaryRandomizedResponse(k, eps), people)
    worst = by_counting(k, eps, people)
    assert found.beta_star == pytest.approx(worst, rel=1e-12)
    assert found.beta_star <= worst * (1 + 1e-14)
    assert found.beta_star_at_most == pytest.approx(worst, rel=1e-12)
    assert found.beta_star_at_most >= worst * (1 - 1e-14)


@pytest.mark.states("Narcissus theory", "6.17")
def test_two_values_by_the_law_of_a_count():
    """The largest limit of all splits of the others is that of their binomials, convolved."""
    eps, people = 1.0, 60
    q = 1 / (1 + math.exp(eps))
    worst = 1.0
    for kept in range(people):
        laws = [
            np.convolve(
                stats.binom.pmf(np.arange(a + 1), a, 1 - q),
                stats.binom.pmf(np.arange(people - a + 1), people - a, q),
            )
            for a in (kept, kept + 1)
        ]
        worst = min(worst, float(np.minimum(*laws).sum()))
    found = ch.shuffled_security(ch.KaryRandomizedResponse(2, eps), people)
    assert found.beta_star == pytest.approx(worst, rel=1e-11)
    many = ch.shuffled_security(ch.KaryRandomizedResponse(2, eps), 5_000)
    assert 0 < many.gap < 2e-3  # beyond 2,000 people both limits hold
    few = ch.shuffled_security(ch.KaryRandomizedResponse(2, eps), 2_000)
    assert few.beta_star < many.beta_star
    assert few.gap < 1e-10


@pytest.mark.parametrize("people", [10**3, 10**5])
def test_published_amplification_is_looser(people):
    """Feldman, McMillan and Talwar 2021, theorem III.1: an epsilon for each delta."""
    eps = 1.0
    found = ch.shuffled_security(ch.KaryRandomizedResponse(10, eps), people)
    for delta in (1e-3, 1e-5, 1e-8):
        grow = math.exp(eps)
        if eps > math.log(people / (16 * math.log(2 / delta))):
            continue
        root = 8 * math.sqrt(grow * math.log(4 / delta)) / math.sqrt(people) + 8 * grow / people
        published = math.log1p((grow - 1) / (grow + 1) * root)
        assert ch.from_local_dp(published, delta).value <= found.beta_star


def test_an_accountant_of_dp_says_the_same():
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="needs the extra `accounting`"
    )
    eps, people = 1.0, 40
    q = 1 / (1 + math.exp(eps))
    upper, lower = (
        np.convolve(
            stats.binom.pmf(np.arange(a + 1), a, 1 - q),
            stats.binom.pmf(np.arange(people - a + 1), people - a, q),
        )
        for a in (13, 12)  # of all splits of 39 others this one hides least
    )
    theirs = pld.from_two_probability_mass_functions(
        dict(enumerate(np.log(lower))), dict(enumerate(np.log(upper))),
        value_discretization_interval=1e-4,
    ).get_delta_for_epsilon(0.0)  # fmt: skip
    found = ch.shuffled_security(ch.KaryRandomizedResponse(2, eps), people)
    assert 1 - found.beta_star == pytest.approx(theirs, abs=1e-4)
    assert 1 - found.beta_star >= 1 - float(np.minimum(lower, upper).sum()) - 1e-12


@pytest.mark.parametrize("people", [3, 10_000])
def test_reports_that_are_hardly_noisy_keep_limits_that_agree(people):
    found = ch.shuffled_security(ch.KaryRandomizedResponse(2, 50.0), people)
    flips = math.exp(-50.0) * people  # none happens but with this chance
    assert flips < found.beta_star <= found.beta_star_at_most
    assert found.beta_star < 3 * flips
    more = ch.shuffled_security(ch.KaryRandomizedResponse(10, 700.0), people)
    assert 0 < more.beta_star <= more.beta_star_at_most < 1e-290
    assert more.gap < 1e-9


def test_laws_and_largest_terms():
    for trials, chance in ((0, 0.3), (7, 0.9), (400, 0.01), (100_000, 0.2), (5, 1.0)):
        law = Binomial.of(trials, chance)
        place = law.first + np.arange(law.mass.size)
        assert law.mass == pytest.approx(
            stats.binom.pmf(place, trials, chance), rel=1e-9, abs=1e-250
        )
    for s in (0, 1, 2, 3, 598, 599, 600, 601, 5_000, 5_001):
        exact = Fraction(math.comb(s, s // 2), 2**s)
        assert middle_term(np.array([s]))[0] == pytest.approx(float(exact), rel=2e-15)


def test_more_people_hide_better_and_limits_are_checked():
    found = [
        ch.shuffled_security(ch.KaryRandomizedResponse(10, 1.0), 10**e).beta_star for e in range(7)
    ]
    assert (np.diff(found) > 0).all()
    assert found[0] == pytest.approx(ch.KaryRandomizedResponse(10, 1.0).beta_star, rel=1e-13)
    assert ch.shuffled_security(ch.KaryRandomizedResponse(4, 0.0), 9).beta_star_at_most == 1
    with pytest.raises(InputError, match="people"):
        ch.shuffled_security(ch.KaryRandomizedResponse(4, 1.0), 0)
