"""Error rates and precision: closed forms, explicit tests of explicit pairs, and peers' numbers."""

from __future__ import annotations

import itertools
import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from narcissus.bounds import (
    Limit,
    ThreatToPeople,
    advantage,
    advantage_by_value,
    at_most,
    best,
    beta_star_of_rates,
    bounds_on,
    epsilon_by_value,
    largest_epsilon,
    largest_mu,
    precision,
    smallest_noise,
    threat,
    true_positive_rate,
    typical_priors,
)
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_asked,
    as_replace_one,
    dp_sgd,
    from_losses,
)

EVERY = [
    PureDP(0.8),
    ApproximateDP(0.8, 1e-3),
    GaussianDP(0.7),
    ZeroConcentratedDP(0.2),
    RenyiDP(4.0, 0.4),
    BayesSecurity(0.8),
    ProfileCurve((0.0, 0.5, 2.0), (0.2, 0.05, 1e-4)),
]


@pytest.mark.states("Dong, Roth and Su 2022", "Definition 2.3")
@given(st.floats(1e-3, 4), st.floats(1e-12, 1, exclude_max=True))
def test_of_a_gaussian_it_is_the_closed_form_rounded_outwards(mu, rate):
    truth = float(special.ndtr(special.ndtri(rate) + mu))
    found = true_positive_rate(GaussianDP(mu), rate).value
    assert truth <= found <= min(1.0, truth * (1 + 1e-11))


@pytest.mark.parametrize("known", EVERY)
def test_rates_lie_between_a_coin_and_certainty_and_rise(known):
    rates = [0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0]
    found = [true_positive_rate(known, rate).value for rate in rates]
    assert all(rate <= value <= 1 for rate, value in zip(rates, found, strict=True))
    assert found == sorted(found)
    sure = [precision(known, recall, 0.2).value for recall in (1e-6, 0.01, 0.3, 0.9)]
    assert sure == sorted(sure, reverse=True)
    assert all(0.2 <= value <= 1 for value in sure)
    assert precision(known, 0.3, 0.1).value < precision(known, 0.3, 0.4).value


@pytest.mark.states("Dong, Roth and Su 2022", "Definition 2.3")
@pytest.mark.states("Narcissus theory", "4.8")
@pytest.mark.parametrize("pair", [([0.9, 0.1], [0.5, 0.5]), ([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])])
@pytest.mark.parametrize("base_rate", [0.01, 0.5])
def test_no_test_of_a_pair_does_better_and_one_does_as_well(pair, base_rate):
    p, q = map(np.array, pair)
    epsilons = np.linspace(0, 3, 3001)
    sticks = [
        np.maximum(a[:, None] - np.exp(epsilons) * b[:, None], 0).sum(axis=0)
        for a, b in ((p, q), (q, p))
    ]
    known = ProfileCurve(tuple(epsilons.tolist()), tuple(np.maximum(*sticks).tolist()))
    tests = np.array(list(itertools.product((0.0, 1.0), repeat=p.size)))
    points = np.concatenate([np.stack([tests @ b, tests @ a], axis=1) for a, b in ((p, q), (q, p))])
    share = np.linspace(0, 1, 101)[:, None, None, None]
    mixed = share * points[:, None] + (1 - share) * points
    false, true = mixed.reshape(-1, 2).T
    called = base_rate * true + (1 - base_rate) * false
    sure = np.divide(base_rate * true, called, out=np.zeros_like(true), where=called > 0)
    reached = {rate: true[false <= rate + 1e-12].max() for rate in (0.05, 0.3, 0.7)}
    surest = {recall: sure[true >= recall - 1e-12].max() for recall in (0.05, 0.3, 0.7)}
    for rate, most in reached.items():
        found = true_positive_rate(known, rate).value
        assert most - 1e-9 <= found <= most + 0.01  # mixtures are tried on a grid
    for recall, most in surest.items():
        found = precision(known, recall, base_rate).value
        assert most - 1e-9 <= found <= most * 1.02


def test_randomised_response_reaches_its_rates_and_delta_makes_few_calls_sure():
    keep = 1 / (1 + np.exp(-1.0))
    for known in (PureDP(1.0), from_losses([1.0, -1.0], [keep, 1 - keep])):
        assert true_positive_rate(known, 1 - keep).value == pytest.approx(keep, abs=1e-9)
        for recall in (keep, 0.01):  # beyond it nothing is surer than the loss itself
            assert precision(known, recall, 0.5).value == pytest.approx(keep, abs=1e-9)
    known = ApproximateDP(0.0, 0.01)
    assert true_positive_rate(known, 0.0).value == pytest.approx(0.01)
    assert precision(known, 0.01, 1e-6).value == 1
    assert precision(known, 0.02, 0.5).value == pytest.approx(2 / 3)


def test_a_question_is_needed_and_rates_are_rates():
    added = GaussianDP(1.0, adjacency="add-remove")
    with pytest.raises(InputError, match="membership"):
        true_positive_rate(added, 0.1)
    inside = as_asked(added, "membership")
    assert true_positive_rate(inside, 0.1).value == true_positive_rate(GaussianDP(1), 0.1).value
    assert "in or out" in precision(inside, 0.1, 0.1).assumptions[0]
    for wrong in (0.0, 1.0):
        with pytest.raises(InputError, match="recall"):
            precision(inside, wrong, 0.5)
        with pytest.raises(InputError, match="base_rate"):
            precision(inside, 0.5, wrong)
    with pytest.raises(InputError, match="fpr"):
        true_positive_rate(inside, 1.1)


@pytest.mark.states("Swanberg et al. 2025", "section 4")
@pytest.mark.states("Narcissus theory", "4.8")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("danger", [threat(prior=0.2), threat(values=[0.6, 0.3, 0.1])])
def test_the_advantage_is_used_up(danger, delta):
    limit = Limit(advantage=0.1)

    def reached(guarantee):
        success = best(bounds_on(danger, guarantee, expensive=False)).value
        return advantage(success, danger.prior)

    epsilon = largest_epsilon(danger, limit, delta=delta)
    make = (lambda e: ApproximateDP(e, delta)) if delta else PureDP
    assert reached(make(epsilon)) <= 0.1 < reached(make(epsilon + 1e-6))
    mu = largest_mu(danger, limit)
    assert reached(GaussianDP(mu)) <= 0.1 < reached(GaussianDP(mu + 1e-5))


@pytest.mark.states("Narcissus theory", "4.8")
def test_the_number_of_targets_is_used_up():
    danger = threat(values=[0.5, 0.5], targets=40)
    limit = Limit(at_most=30, confidence=0.9)
    epsilon = largest_epsilon(danger, limit, delta=1e-7)
    assert at_most(danger, ApproximateDP(epsilon, 1e-7), 0.9).value == 30
    assert at_most(danger, ApproximateDP(epsilon + 0.01, 1e-7), 0.9).value == 31
    # both limits at once: the stricter one decides
    both = Limit(advantage=0.01, at_most=30, confidence=0.9)
    assert largest_epsilon(danger, both) < epsilon


@pytest.mark.parametrize("digits", [2, 4])
def test_the_noise_that_is_printed_is_itself_enough(digits):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    danger, limit = threat(values=[0.5, 0.5]), Limit(advantage=0.1)
    noise = smallest_noise(danger, limit, rate=0.1, steps=20, digits=digits, interval=1e-2)
    assert float(f"{noise:.{digits}g}") == noise
    one_less = noise - 10.0 ** (math.floor(math.log10(noise)) + 1 - digits)
    kept = [limit.kept(danger, dp_sgd(s, 0.1, 20, interval=1e-2)) for s in (noise, one_less)]
    assert kept == [True, False]


@pytest.mark.nightly  # the accountant takes a minute to see that hardly any noise is enough
def test_limits_that_ask_for_no_noise_or_for_more_than_there_is_are_refused():
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    with pytest.raises(InputError, match="asks for no noise"):
        smallest_noise(threat(prior=0.5), Limit(1.0), rate=0.5, steps=1, interval=0.1)
    with pytest.raises(InputError, match="not kept by any noise"):
        smallest_noise(threat(prior=0.5), Limit(0.0), rate=0.5, steps=1, interval=0.1)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_found_for_added_records_keeps_the_limit_once_converted(delta):
    danger, limit = threat(prior=0.2), Limit(0.1)
    whole = largest_epsilon(danger, limit, delta=delta)
    half = largest_epsilon(danger, limit, delta=delta, adjacency="add-remove")
    kind = {"adjacency": "add-remove"}
    once = ApproximateDP(half, delta, **kind) if delta else PureDP(half, **kind)
    assert limit.kept(danger, as_replace_one(once))
    assert half <= whole / 2 * (1 + 1e-8)
    if not delta:
        assert half == pytest.approx(whole / 2, rel=1e-8)
    mu = largest_mu(danger, limit, adjacency="add-remove")
    assert mu == pytest.approx(largest_mu(danger, limit) / 2, rel=1e-8)


def test_of_several_people_every_one_is_kept_and_the_count_is():
    rows = [[0.5, 0.3, 0.2], [0.9, 0.1, 0.0], [0.2, 0.4, 0.4]] * 10
    people, limit = ThreatToPeople(rows), Limit(0.05)
    alone = [largest_epsilon(threat(values=row), limit) for row in rows[:3]]
    assert largest_epsilon(people, limit) == pytest.approx(min(alone), rel=1e-6)
    count = Limit(at_most=22, confidence=0.9)
    epsilon = largest_epsilon(people, count, delta=1e-6)
    assert people.at_most(ApproximateDP(epsilon, 1e-6), 0.9).value <= 22
    assert people.at_most(ApproximateDP(epsilon + 0.02, 1e-6), 0.9).value > 22
    both = Limit(0.05, at_most=22, confidence=0.9)
    assert largest_epsilon(people, both, delta=1e-6) <= min(epsilon, min(alone) + 1e-6)
    assert Limit(at_most=30).kept(people, PureDP(50.0))


@pytest.mark.parametrize(
    ("values", "least", "median", "most"),
    [
        # counted by mass from the least likely: .1 .1 .2 | .3 .3
        ([0.3, 0.1, 0.3, 0.2, 0.1], 0.1, 0.3, 0.3),
        # the half ends with a value: it is that one
        ([0.26, 0.2, 0.24, 0.2, 0.1], 0.1, 0.2, 0.26),
        ([0.1] * 5 + [0.5], 0.1, 0.1, 0.5),
        ([0.0, 0.4, 0.0, 0.6], 0.4, 0.6, 0.6),
        ([1.0], 1.0, 1.0, 1.0),
        ([0.01] * 100, 0.01, 0.01, 0.01),
    ],
)
def test_half_of_all_targets_have_a_likelier_value_than_the_median(values, least, median, most):
    found = typical_priors(values)
    assert (found.least, found.median, found.most) == (least, median, most)
    likelier = sum(v for v in values if v > median)
    assert likelier <= 0.5 + 1e-12
    assert sum(v for v in values if v >= median) >= 0.5 - 1e-12


def test_each_typical_value_is_calibrated_alone():
    values, limit = [0.5, 0.2, 0.1, 0.1, 0.1], Limit(0.05)
    found = epsilon_by_value(values, limit, delta=1e-6)
    for epsilon, prior in zip(astuple(found), (0.1, 0.2, 0.5), strict=True):
        assert epsilon == largest_epsilon(threat(prior=prior), limit, delta=1e-6)
    gained = advantage_by_value(values, PureDP(1.0))
    for gain, prior in zip(astuple(gained), (0.1, 0.2, 0.5), strict=True):
        grown = math.e * prior / (1 + prior * (math.e - 1))
        assert gain == pytest.approx((grown - prior) / (1 - prior), rel=1e-12)


@pytest.mark.states("Narcissus theory", "4.8")
@pytest.mark.parametrize("prior", [1e-6, 0.1, 0.5])
@pytest.mark.parametrize("gain", [0.01, 0.5])
def test_under_pure_dp_the_largest_epsilon_has_a_closed_form(prior, gain):
    allowed = prior + gain * (1 - prior)
    truth = math.log(allowed / (1 - allowed)) - math.log(prior / (1 - prior))
    found = largest_epsilon(threat(prior=prior), Limit(gain))
    assert truth - 2e-9 * max(1, truth) <= found <= truth + 1e-12
    # Gaussian noise is searched alike, and a parameter above 10^4 is not told from it
    assert largest_mu(threat(prior=prior), Limit(1.0)) == 1e4


@pytest.mark.nightly
def test_a_limit_is_kept_by_formulas_first_and_by_programs_for_few_guesses():
    guarantee, few = GaussianDP(1.0), threat(prior=0.5, targets=100)
    count = int(at_most(few, guarantee, 0.95).value)
    assert best(bounds_on(few, guarantee, count + 1, expensive=False)).value > 0.05
    assert Limit(at_most=count).kept(few, guarantee)
    assert not Limit(at_most=count - 1).kept(few, guarantee)
    many = threat(prior=0.5, targets=101)
    count = int(at_most(many, guarantee, 0.95).value)
    assert not Limit(at_most=count).kept(many, guarantee)
    enough = next(
        v
        for v in range(102)
        if best(bounds_on(many, guarantee, v + 1, expensive=False)).value <= 0.05
    )
    assert Limit(at_most=enough).kept(many, guarantee)
    # both limits are to be kept
    assert not Limit(advantage=0.01, at_most=enough).kept(many, guarantee)
    assert not Limit(advantage=0.9, at_most=enough - 1).kept(many, guarantee)
    assert Limit(advantage=0.9, at_most=enough).kept(many, guarantee)


def test_impossible_limits_are_refused():
    tenth, ten, two = threat(prior=0.1), threat(prior=0.5, targets=10), Limit(at_most=2)
    for call, said in [
        (lambda: largest_epsilon(tenth, Limit(0.0), delta=1e-5), "delta"),
        (lambda: largest_mu(ten, two), "at_most"),
        (lambda: largest_epsilon(ten, two), "sees no release"),  # no delta is to blame
        (lambda: smallest_noise(ten, two, rate=0.1, steps=1), "sees no release"),
        (
            lambda: largest_mu(threat(values=[0.7, 0.3]), Limit(success=0.6)),
            "`success` is exceeded",
        ),
    ]:
        with pytest.raises(InputError, match=said):
            call()
    assert largest_epsilon(tenth, Limit(0.0)) < 1e-9
    assert largest_epsilon(tenth, Limit(1.0)) >= 1e4


PEER = {
    Limit(0.1): 1.4239435434341425,
    Limit(success=0.525): 2.6263226509094237,
    Limit(tpr=0.05, fpr=0.01): 0.7777948975563049,
}


"""Noise multipliers of riskcal 1.5.1 with dp-accounting 0.6.0, for 1000 steps at the rate 0.01:
``riskcal.calibration.dpsgd.find_noise_multiplier_for_advantage(advantage=.., sample_rate=0.01,
num_steps=1000, grid_step=1e-3, advantage_tol=1e-6)``, and ``find_noise_multiplier_for_err_rates(
alpha=fpr, beta=1 - tpr, .., beta_tol=1e-6)``. Success 0.525 at even odds is advantage 0.05."""


@pytest.mark.parametrize(("limit", "noise"), PEER.items())
@pytest.mark.one_in(3)
def test_the_least_noise_for_membership_is_the_peers(limit, noise):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    setting = {"rate": 0.01, "steps": 1000}
    found = smallest_noise(threat(values=[0.5, 0.5]), limit, secret="membership", **setting)
    assert noise * (1 - 1e-5) <= found <= noise * (1 + 1e-3)


@pytest.mark.parametrize(
    ("limit", "secret"),
    [
        (Limit(0.1), "value"),
        (Limit(0.1), "membership"),
        (Limit(success=0.6), "membership"),
        (Limit(tpr=0.2, fpr=0.05), "membership"),
        (Limit(precision=0.3, recall=0.2, base_rate=0.1), "membership"),
        (Limit(0.3, tpr=0.2, fpr=0.05), "value"),
    ],
)
@pytest.mark.one_in(3)
def test_the_least_noise_is_the_least(limit, secret):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    danger, setting = threat(values=[0.5, 0.5]), {"rate": 0.2, "steps": 10}
    noise = smallest_noise(danger, limit, secret=secret, interval=1e-2, **setting)

    def kept(sigma):
        return limit.kept(danger, dp_sgd(sigma, 0.2, 10, secret=secret, interval=1e-2))

    assert kept(noise)
    assert not kept(noise * (1 - 1e-3))
    assert kept(noise * 1.01)
    assert kept(noise * 2)


def test_error_rates_and_success_are_used_up():
    danger = threat(values=[0.7, 0.3])
    limit = Limit(tpr=0.3, fpr=0.1)
    epsilon = largest_epsilon(danger, limit)
    assert epsilon == pytest.approx(np.log(3), rel=1e-6)  # the likelihood ratio of the best test
    assert largest_epsilon(danger, limit, adjacency="add-remove") == pytest.approx(epsilon / 2)
    same = largest_epsilon(danger, limit, adjacency="add-remove", secret="membership")
    assert same == pytest.approx(epsilon)
    # precision of a likelihood ratio r: b r / (b r + 1 - b), whatever the recall that is small
    sure = Limit(precision=0.2, recall=0.01, base_rate=0.05)
    assert largest_epsilon(danger, sure) == pytest.approx(np.log(0.25 * 0.95 / 0.05), rel=1e-6)
    mu = largest_mu(danger, Limit(success=0.8))
    assert best(bounds_on(danger, GaussianDP(mu))).value == pytest.approx(0.8, abs=1e-6)
    people = ThreatToPeople([[0.7, 0.3], [0.5, 0.5]])
    assert largest_mu(people, Limit(success=0.8)) == pytest.approx(mu, rel=1e-5)
    assert largest_mu(people, limit) == pytest.approx(largest_mu(danger, limit))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tpr": 0.1}, "`fpr` is missing"),
        ({"precision": 0.1, "recall": 0.1}, "`base_rate` is missing"),
        ({"advantage": 0.1, "recall": 0.1}, "`precision` is missing"),
        ({"tpr": 0.1, "fpr": 0.1}, "`tpr` must be above `fpr` 0.1"),
        ({"tpr": 1.2, "fpr": 0.1}, "`tpr`"),
        ({"precision": 0.1, "recall": 0.1, "base_rate": 0.2}, "above `base_rate` 0.2"),
        ({"precision": 0.3, "recall": 1.0, "base_rate": 0.2}, "`recall`"),
        ({"success": 1.1}, "`success`"),
        ({"advantage": 1.5}, "`advantage`"),
        ({"advantage": -0.1}, "`advantage`"),
        ({"at_most": -1}, "`at_most`"),
        ({"at_most": 1.5}, "`at_most`"),
        ({"at_most": 1, "confidence": 1.0}, "`confidence`"),
        ({"at_most": 1, "confidence": -0.1}, "`confidence`"),
        ({}, "must be given"),
    ],
)
def test_limits_that_say_nothing_are_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        Limit(**wrong)
    assert Limit(at_most=0, confidence=0.0).advantage is None
    assert Limit(advantage=0.0).confidence == 0.95


@pytest.mark.states("Narcissus theory", "4.12")
def test_rates_and_bayes_security_are_exact_in_both_directions():
    """On random channels: no test is above, the best one is there, and two outputs reach both."""
    rng = np.random.default_rng(4)
    for outputs in (2, 3, 5):
        one, two = rng.dirichlet(np.ones(outputs), 2)
        security = 1 - float(np.abs(one - two).sum()) / 2
        tests = np.array(list(itertools.product([0, 1], repeat=outputs)))
        rates = np.column_stack([tests @ one, tests @ two])
        allowed = [true_positive_rate(BayesSecurity(security), min(1.0, f)).value for _, f in rates]
        assert (rates[:, 0] <= np.array(allowed) + 1e-12).all()
        shown = [beta_star_of_rates(min(1.0, t), min(1.0, f)).value for t, f in rates]
        assert min(shown) == pytest.approx(security, abs=1e-12)
    for tpr, fpr in rng.random((20, 2)):
        pair = np.array([[tpr, 1 - tpr], [fpr, 1 - fpr]])
        security = 1 - float(np.abs(pair[0] - pair[1]).sum()) / 2
        assert beta_star_of_rates(tpr, fpr).value == pytest.approx(security, abs=1e-12)
        most = true_positive_rate(BayesSecurity(security), min(tpr, fpr)).value
        assert most == pytest.approx(max(tpr, fpr), rel=1e-9)


def test_more_than_all_people_are_never_reconstructed():
    people = ThreatToPeople([[0.5, 0.5], [0.9, 0.1]])
    for number in (2, 3, 100):
        assert Limit(at_most=number).kept(people, GaussianDP(50.0))
    assert not Limit(at_most=1).kept(people, GaussianDP(50.0))
