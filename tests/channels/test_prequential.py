"""Samples predicted from earlier ones: nothing is looked at too early, and little is lost."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import prequential
from narcissus.channels.estimators import Frequentist, Guess, Nearest, portfolio
from narcissus.channels.limits import upper
from narcissus.channels.prequential import (
    EXHAUSTED,
    MIXED,
    Draws,
    Gained,
    LogScore,
    draw,
    how_many,
    paid_ahead,
    with_prior,
)
from narcissus.channels.samples import samples
from narcissus.observer import SILENT

from .conftest import refused


def drawn(rng, rows, prior, size):
    secret = rng.choice(len(rows), size=size, p=prior)
    cumulative = np.cumsum(rows, axis=1)
    return secret, (rng.random(size)[:, None] > cumulative[secret]).sum(axis=1)


def predicted(data, order, tried):
    found = prequential.cuts(data, tried, order)
    return prequential.predict_ahead(data, tried, order, found, SILENT)


@pytest.mark.states("Narcissus theory", "6.8")
@pytest.mark.parametrize("block", [3, 5])
def test_what_comes_later_changes_nothing(block):
    rng = np.random.default_rng(2)
    secret, output = drawn(rng, rng.dirichlet(np.ones(5), 3), None, 600)
    tried = [Frequentist(), Nearest("log"), Guess()]
    order = np.arange(600)
    data = samples(secret, output)
    ends = prequential.cuts(data, tried, order)
    before = predicted(data, order, tried)
    # Everything from this block on is another secret's: what was said before must stand.
    changed = secret.copy()
    changed[ends[block] :] = (changed[ends[block] :] + 1) % 3
    after = predicted(samples(changed, output), order, tried)
    kept = ends[block] - ends[1]
    assert np.array_equal(before.wrong[:kept], after.wrong[:kept])
    assert not np.array_equal(before.wrong[kept:], after.wrong[kept:])
    assert np.array_equal(before.tested, order[ends[1] :])


@pytest.mark.parametrize("evenly", [False, True])
def test_nothing_is_predicted_by_one_who_has_seen_it(evenly):
    rng = np.random.default_rng(5)
    data = samples(rng.integers(2, size=1_000), np.arange(1_000))
    found = prequential.predict_ahead(
        data, [Frequentist()], np.arange(1_000), [30, 60, 250, 1_000], SILENT, evenly=evenly
    )
    assert 0.4 < found.wrong.mean() < 0.6  # outputs never repeat: seen ones would be all right


@pytest.mark.parametrize("most", [600, 1_800])
@pytest.mark.parametrize(("evenly", "is_slow"), [(False, False), (True, False), (False, True)])
def test_the_error_is_that_of_all_samples_but_those_that_may_have_chosen_a_pair(
    monkeypatch, most, evenly, is_slow
):
    """The first half is coins and the second shows the secret: the rule is right there alone."""
    monkeypatch.setattr(prequential, "COMPARE_ON", most)
    if is_slow:
        monkeypatch.setattr(prequential, "Forest", Nearest)
    rng = np.random.default_rng(4)
    output = rng.permutation(np.arange(900) % 2)
    secret = np.where(np.arange(900) < 450, rng.integers(2, size=900), output)
    found = prequential.predict_ahead(
        samples(secret, output), [Nearest("one")], np.arange(900), [30, 60, 450, 900], SILENT,
        evenly=evenly,
    )  # fmt: skip
    first = 450 if evenly or is_slow else max(0, 900 - most)
    assert found.error == pytest.approx((secret != output)[first:].mean())


@pytest.mark.states("Narcissus theory", "6.8")
@pytest.mark.parametrize(
    ("rows", "prior", "size", "most"),
    [
        ([[0.75, 0.25], [0.25, 0.75]], None, 200, 1.1),
        ([[0.75, 0.25], [0.25, 0.75]], None, 2_000, 1.1),
        ([[0.75, 0.25], [0.25, 0.75]], None, 20_000, 1.1),
        ([[0.98, 0.02], [0.02, 0.98]], None, 2_000, 1.1),
        ([[5, 1, 4, 2, 3, 5], [1, 6, 1, 1, 7, 4]], [0.96, 0.04], 2_000, 1.2),
    ],
)
def test_limits_are_nearly_as_narrow_as_with_the_rule_known(rows, prior, size, most):
    rng = np.random.default_rng(1)
    rows = np.array(rows, dtype=float) / np.sum(rows, axis=1, keepdims=True)
    even, prior = prior is None, np.array([0.5, 0.5] if prior is None else prior)
    rule = (prior[:, None] * rows).argmax(axis=0)
    likelier = rows.argmax(axis=0)
    widths = []
    for _ in range({200: 60, 2_000: 16, 20_000: 2}[size]):
        secret, output = drawn(rng, rows, prior, size)
        if even:  # as many of either
            secret = rng.permutation(np.arange(size) % 2)
            output = np.where(rng.random(size) < rows[0, 1], 1 - secret, secret)
        found = ch.estimate(secret, output, rng=rng, kind="discrete", estimators="frequentist")
        errors = int((rule[output] != secret).sum())
        oracle = upper(errors, size, 0.025) - (1 - upper(size - errors, size, 0.025))
        risk, security = found.bayes_risk, found.beta_star
        of_pair = 2 * oracle if even else apart(likelier, secret, output)
        widths.append((risk.high - risk.low, oracle, security.high - security.low, of_pair))
    risk, oracle, security, of_pair = np.mean(widths, axis=0)
    assert risk <= most * oracle
    assert security <= most * of_pair


def apart(rule, secret, output):
    """Give the width of two limits each for misses and false hits of a rule that is known."""
    width = 0.0
    for own in (0, 1):
        size, wrong = int((secret == own).sum()), int((rule[output] != own)[secret == own].sum())
        width += upper(wrong, size, 0.0125) - (1 - upper(size - wrong, size, 0.0125))
    return width


def test_the_best_candidate_in_hindsight_is_not_what_counts():
    """Of many guesses at nothing the luckiest errs too seldom; the one chosen ahead does not."""
    rng = np.random.default_rng(3)

    class Coin:
        def __init__(self, seed):
            self.seed = seed
            self.name = str(seed)

        def fit(self, data, _chosen):
            said = np.random.default_rng(self.seed).integers(2, size=data.distinct)
            return lambda outputs: np.eye(2)[said[outputs]]

    limits, lucky = [], []
    for _ in range(200):
        secret, output = rng.integers(2, size=200), np.arange(200)
        tried = [Coin(seed) for seed in rng.integers(2**32, size=8)]
        data = samples(secret, output)
        order = rng.permutation(200)
        found = prequential.predict_ahead(data, tried, order, [6, 12, 40, 200], SILENT)
        limits.append(upper(found.wrong.sum(), len(found.tested), 0.1))
        lucky.append(upper(min(found.errors.values()) * 194, 194, 0.1))
    assert np.mean(np.array(limits) < 0.5) <= 0.17  # .1 but for a chance of 1e-3
    assert np.mean(np.array(lucky) < 0.5) > 0.3


def test_the_blocks():
    rng = np.random.default_rng(0)
    data = samples(rng.integers(2, size=4_000), rng.integers(3, size=4_000))
    order = np.arange(4_000)
    ends = prequential.cuts(data, portfolio(None, data), order)
    assert ends[1] == 250
    assert ends[-1] == 4_000
    assert max(np.diff(ends[1:]) / np.array(ends[1:-1])) < 0.5
    real = samples(data.secret, rng.normal(size=4_000))
    assert prequential.cuts(real, portfolio(None, real), order) == [250, 500, 1_000, 2_000, 4_000]


def test_continuous_outputs_are_used_up_to_a_number(monkeypatch):
    monkeypatch.setattr(prequential, "MOST_CONTINUOUS", 1_000)
    rng = np.random.default_rng(0)
    order = np.arange(4_000)
    real = samples(rng.integers(2, size=4_000), rng.normal(size=4_000))
    assert np.array_equal(prequential.some(real, order), order[:1_000])
    wide = samples(real.secret, rng.normal(size=(4_000, 11)))
    assert len(prequential.some(wide, order)) == 200
    few = samples(real.secret, rng.integers(3, size=4_000))
    assert prequential.some(few, order) is order


def test_each_sample_is_used_once_for_a_label_of_its_own():
    rng = np.random.default_rng(0)
    data = samples(rng.permutation(np.repeat([0, 1], [992, 8])), rng.normal(size=1000), fewest=1)
    data, prior = with_prior(data, {"0": 0.97, "1": 0.02, "2": 0.01})
    found = draw(data, prior, rng, most=1000)
    used = found.drawn[found.drawn != EXHAUSTED]
    assert np.array_equal(np.sort(np.r_[used, found.spare]), np.arange(1000))
    assert (data.secret[used] == found.labels[found.drawn != EXHAUSTED]).all()
    each = np.bincount(data.secret, minlength=3)
    lacking = np.bincount(found.labels[found.drawn == EXHAUSTED], minlength=3)
    assert (lacking == np.maximum(0, np.bincount(found.labels) - each)).all()
    assert lacking[1] > 0
    assert lacking[2] > 0


def test_samples_that_are_set_aside_are_not_drawn():
    rng, aside = np.random.default_rng(2), np.arange(0, 200, 3)
    data = samples(np.repeat([0, 1], 100), np.zeros(200))
    found = draw(data, np.array([0.5, 0.5]), rng, most=200, aside=aside)
    assert np.isin(aside, found.spare).all()
    assert not np.isin(aside, found.drawn).any()
    assert len(np.unique(found.drawn[found.drawn != EXHAUSTED])) > 90


def test_scarce_are_those_that_lack_samples_for_more_than_a_tenth_of_their_labels():
    labels = np.repeat([0, 1, 2], 20)
    found = np.arange(60)
    found[[19, 37, 38, 39]] = EXHAUSTED
    assert Draws(np.arange(0), labels, found).scarce(4).tolist() == [False, True, False, False]


def test_labels_are_drawn_from_the_prior_whatever_the_samples():
    rng = np.random.default_rng(1)
    data = samples(np.repeat([0, 1], [900, 100]), np.zeros(1000))
    labels = np.concatenate(
        [draw(data, np.array([0.7, 0.3]), rng, most=1000).labels for _ in range(50)]
    )
    assert labels.mean() == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / len(labels)))


def test_so_many_labels_that_few_lack_a_sample_or_that_it_costs_less_than_it_gives():
    assert 800 < how_many(np.array([500, 500]), np.array([0.5, 0.5]), 1000) < 1000
    assert how_many(np.array([900, 100]), np.array([0.5, 0.5]), 1000) < 300
    each, prior = np.array([1000] * 99 + [10]), np.full(100, 0.01)
    assert how_many(each, prior, 100_000) > 50_000  # one rare secret is not worth the others


def test_a_prior_may_name_secrets_without_samples_but_not_fewer():
    data = samples(["a", "b"] * 20, [0, 1] * 20)
    wider, weights = with_prior(data, {"b": 0.5, "a": 0.3, "c": 0.2})
    assert wider.names == ("a", "b", "c")
    assert weights.tolist() == [0.3, 0.5, 0.2]
    refused("lacks the secret 'b'", with_prior, data, {"a": 1.0})
    refused("3 probabilities for 2 secrets", with_prior, data, [0.3, 0.3, 0.4])


ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
PRIOR = np.array([0.3, 0.7])


def drawn_with_prior(size, seed=0):
    rng = np.random.default_rng(seed)
    secret = rng.integers(2, size=size)
    shown = (rng.random(size)[:, None] > ROWS.cumsum(axis=1)[secret]).sum(axis=1)
    data = samples(secret, shown)
    return data, draw(data, PRIOR, rng, most=size)


def test_what_is_earned_comes_near_the_best_of_any_rule():
    data, draws = drawn_with_prior(20_000)
    gain = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    score = LogScore(PRIOR, np.zeros(2, dtype=bool))
    payoffs = [Gained(np.eye(2)), Gained(gain), score]
    paid = paid_ahead(data, portfolio(None, data), draws, payoffs, PRIOR, SILENT)
    best = [
        ch.bayes_vulnerability(ROWS, PRIOR),
        ch.g_vulnerability(ROWS, gain, PRIOR),
        ch.shannon_leakage(ROWS, PRIOR) * np.log(2),
    ]
    for found, most in zip(paid, best, strict=True):
        error = found.values.std() / np.sqrt(len(found.values))
        assert most - 6 * error - 0.01 < found.values.mean() < most + 5 * error


def test_a_rule_does_not_see_the_sample_it_is_paid_for():
    """Outputs that never repeat: whoever learned from its own sample would be right always."""
    rng = np.random.default_rng(4)
    data = samples(rng.integers(2, size=1000), np.arange(1000).astype(str))
    half = np.array([0.5, 0.5])
    draws = draw(data, half, rng, most=1000)
    score = LogScore(half, np.zeros(2, dtype=bool))
    payoffs = [Gained(np.eye(2)), score]
    right, told = paid_ahead(data, portfolio(None, data), draws, payoffs, half, SILENT)
    assert right.values.mean() == pytest.approx(0.5, abs=0.1)
    assert told.values.mean() <= 0.01


def test_labels_without_samples_earn_the_least():
    data = samples(np.repeat([0, 1], 50), np.repeat([0, 1], 50))
    draws = Draws(np.arange(0), np.array([0, 1] * 60), np.full(120, EXHAUSTED))
    draws.drawn[:100] = np.stack([np.arange(50), np.arange(50, 100)], axis=1).ravel()
    half = np.array([0.5, 0.5])
    payoffs = [Gained(np.eye(2)), LogScore(half, np.zeros(2, dtype=bool))]
    right, told = paid_ahead(data, portfolio(None, data), draws, payoffs, half, SILENT)
    assert (right.values[-20:] == 0).all()
    assert (right.values[-40:-20] == 1).all()
    assert told.values[-20:] == pytest.approx(np.log(min(MIXED)))


def test_scarce_secrets_are_believed_as_before():
    prior, beliefs = np.array([0.5, 0.3, 0.2]), np.array([[0.8, 0.1, 0.1]])
    score = LogScore(prior, np.array([False, False, True]))
    assert (score(beliefs, np.array([2])) == 0).all()
    spent = sum(np.exp(score(beliefs, np.array([s]))) * prior[s] for s in range(3))
    assert spent == pytest.approx(1.0)  # a distribution, whatever the share
    assert score.without(np.array([2, 0])).tolist() == [0.0, np.log(min(MIXED))]
