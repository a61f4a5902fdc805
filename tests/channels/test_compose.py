"""The worst of all pairs after many uses, against the channel written out."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse, stats

from narcissus import channels as ch
from narcissus.channels import compose as module
from narcissus.channels.compose import Binomial, middle_term, worst_after
from narcissus.errors import InputError, TooLargeError

from .conftest import refused


def held(uses, tolerance=1e-6):
    whole = ch.parallel(*(ch.repeat(c, k) for c, k in uses))
    truth = ch.beta_star(whole)
    found = worst_after(uses, tolerance)
    assert found.overlap.low <= truth.value * (1 + 1e-11)
    assert truth.value <= found.overlap.high * (1 + 1e-11)
    return found, truth, whole


@pytest.mark.parametrize("seed", range(6))
def test_the_worst_pair_is_found(seed):
    rng = np.random.default_rng(seed)
    a = ch.channel(rng.dirichlet(np.full(3, 0.5), 7))
    b = ch.channel(rng.dirichlet(np.ones(2), 7))
    found, _, whole = held([(a, 4), (b, 3)])
    assert found.overlap.gap <= 1e-6
    pair = whole.dense[list(found.pair)]
    assert np.minimum(*pair).sum() <= found.overlap.high * (1 + 1e-11)


def test_alike_pairs_are_computed_once(monkeypatch):
    asked = []
    right = module.overlap_after
    monkeypatch.setattr(module, "overlap_after", lambda laws, t: asked.append(1) or right(laws, t))
    worst_after([(ch.KaryRandomizedResponse(30, 1).channel(), 12)])
    assert len(asked) <= 2


def test_pairs_that_nobody_looked_at_keep_their_limit(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 0)
    c = ch.channel(np.random.default_rng(3).dirichlet(np.full(4, 3.0), 9))
    found, _, _ = held([(c, 2)])
    assert found.overlap.gap > 1e-6


def test_what_is_told_for_certain_or_nearly_so():
    """A pair with nothing in common, and one that a million uses leave less than any number."""
    apart = worst_after([(ch.channel([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), 3)])
    assert (apart.overlap.low, apart.overlap.high) == (0, 0)
    nearly = worst_after([(ch.KaryRandomizedResponse(10, 1).channel(), 1_000_000)])
    assert nearly.overlap.low == 0 < nearly.overlap.high < 1e-300


def rows(seed, n=4, m=3):
    return np.random.default_rng(seed).dirichlet(np.ones(m), n)


@pytest.mark.states("Chatzikokolakis et al. 2023", "section IV-A")
def test_parallel_is_the_product():
    a, b = rows(0), rows(1, m=5)
    both = ch.parallel(ch.channel(a, outputs="xyz"), ch.channel(b, outputs="pqrst"))
    assert both.shape == (4, 15)
    assert both.outputs[6] == "y|q"
    assert np.allclose(both.matrix[2], np.outer(a[2], b[2]).ravel(), rtol=1e-15)


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_repeated_use_by_counts_leaks_what_sequences_leak(times):
    a = rows(2)
    a[1] = [0.5, 0.5, 0]  # an output that one secret never gives
    sequences, counts = ch.parallel(*[a] * times), ch.repeat(a, times)
    assert counts.shape[1] <= sequences.shape[1]
    assert np.allclose(counts.matrix.sum(axis=1), 1, rtol=1e-12)
    prior = np.random.default_rng(3).dirichlet(np.ones(4))
    for measure in (ch.bayes_risk, ch.shannon_leakage):
        assert measure(counts, prior) == pytest.approx(measure(sequences, prior), rel=1e-10)
    assert ch.beta_star(counts).value == pytest.approx(ch.beta_star(sequences).value, rel=1e-11)


def test_explosions_are_refused_with_the_size_and_limited_from_both_sides():
    c = ch.KaryRandomizedResponse(30, 1).channel()
    refused("GiB", ch.parallel, *[c] * 6, error=TooLargeError)
    refused("entries", ch.repeat, c, 12, error=TooLargeError)
    one = ch.beta_star(c).value
    bound = ch.repeated_security(c, 12)
    assert not bound.exact
    assert one**12 < bound.beta_star <= bound.beta_star_at_most
    assert bound.gap < 1e-10
    assert "at most" in str(bound)
    assert ch.parallel_security(*[c] * 12).beta_star == pytest.approx(bound.beta_star, rel=1e-9)
    exact = ch.repeated_security(c, 2)
    assert exact.exact
    assert exact.beta_star == exact.beta_star_at_most >= one**2
    assert exact.gap == 0
    assert ch.repeated_security(c, 2, most=1).beta_star == pytest.approx(exact.beta_star, rel=1e-9)


def test_noise_on_the_same_numbers():
    together = ch.mixed_security([(ch.Gaussian(1, 2.0), 16), (ch.Gaussian(1, 4.0), 4)])
    assert together.beta_star == pytest.approx(ch.Gaussian(4.25**0.5, 1).beta_star, rel=1e-14)
    with_laplace = ch.mixed_security([(ch.Gaussian(1, 2.0), 16), (ch.Laplace(1, 4.0), 4)])
    assert with_laplace.beta_star_at_most < ch.Gaussian(2.0, 1.0).beta_star
    assert with_laplace.gap < 2e-6
    with pytest.raises(InputError, match="composes with its like only"):
        ch.mixed_security([(ch.Laplace(1, 4.0), 1), (rows(1), 2)])
    with pytest.raises(InputError, match="as many `points`"):
        ch.mixed_security([(ch.Laplace(1, 4.0), 1), (ch.Laplace(1, 4.0, 3), 2)])
    refused("at least one", ch.mixed_security, [])


@pytest.mark.states("Chatzikokolakis et al. 2023", "section IV-B")
def test_cascade():
    a, b = rows(5), rows(6, n=3, m=6)
    made = ch.cascade(a, b)
    assert np.allclose(made.matrix, a @ b)
    thin = ch.cascade(sparse.csr_array(a), sparse.csr_array(b))
    assert thin.is_sparse
    assert np.allclose(thin.dense, a @ b)
    assert np.allclose(ch.cascade(sparse.csr_array(a), b).matrix, a @ b)
    refused("3 outputs and the second takes 4", ch.cascade, a, rows(7))
    assert ch.cascade_security([0.2, 0.5], [3.0, 2.0]).beta_star == 0.5


def test_parallel_needs_the_same_secrets():
    refused("4 and 3 secrets", ch.parallel, rows(0), rows(0, n=3))
    with pytest.raises(InputError, match="'s1' in one has the place of 'a'"):
        ch.parallel(rows(0), ch.channel(rows(0), secrets="abcd"))
    refused("at least one", ch.parallel)


ROWS = [[0.9, 0.1], [0.3, 0.7]]
OTHER = [[0.8, 0.2], [0.35, 0.65]]


def test_each_number_of_outputs_is_that_of_the_repeated_channel():
    found = ch.security_over_uses([(ROWS, 30)], points=5)
    assert [one.outputs for one in found] == [1, 2, 5, 13, 30]
    for one in found:
        truth = ch.repeated_security(ROWS, one.outputs).beta_star
        assert one.security.beta_star == pytest.approx(truth, rel=1e-9)


def test_the_outputs_of_the_second_source_come_after_those_of_the_first():
    found = {
        o.outputs: o.security for o in ch.security_over_uses([(ROWS, 2), (OTHER, 6)], points=9)
    }
    assert found[1].beta_star == pytest.approx(ch.beta_star(ROWS).value)
    both = ch.parallel(ch.repeat(ROWS, 2), OTHER)
    assert found[3].beta_star == pytest.approx(ch.beta_star(both).value)
    assert max(found) == 8


def test_refusals():
    refused("at least one", ch.security_over_uses, [])
    refused("points", ch.security_over_uses, [(ROWS, 2)], points=1)


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
    refused("people", ch.shuffled_security, ch.KaryRandomizedResponse(4, 1.0), 0)
