"""Samples predicted from earlier ones: nothing is looked at too early, and little is lost."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import ahead
from narcissus.channels.estimators import Frequentist, Guess, Nearest, portfolio
from narcissus.channels.limits import upper
from narcissus.channels.samples import samples
from narcissus.observer import SILENT


def drawn(rng, rows, prior, size):
    secret = rng.choice(len(rows), size=size, p=prior)
    cumulative = np.cumsum(rows, axis=1)
    return secret, (rng.random(size)[:, None] > cumulative[secret]).sum(axis=1)


def predicted(data, order, tried):
    return ahead.predict_ahead(data, tried, order, ahead.cuts(data, tried, order), SILENT)


@pytest.mark.states("Narcissus theory", "6.8")
@pytest.mark.parametrize("block", [3, 5])
def test_what_comes_later_changes_nothing(block):
    rng = np.random.default_rng(2)
    secret, output = drawn(rng, rng.dirichlet(np.ones(5), 3), None, 600)
    tried = [Frequentist(), Nearest("log"), Guess()]
    order = np.arange(600)
    data = samples(secret, output)
    ends = ahead.cuts(data, tried, order)
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
    found = ahead.predict_ahead(
        data, [Frequentist()], np.arange(1_000), [30, 60, 250, 1_000], SILENT, evenly=evenly
    )
    assert 0.4 < found.wrong.mean() < 0.6  # outputs never repeat: seen ones would be all right


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
        found = ahead.predict_ahead(data, tried, rng.permutation(200), [6, 12, 40, 200], SILENT)
        limits.append(upper(found.wrong.sum(), len(found.tested), 0.1))
        lucky.append(upper(min(found.errors.values()) * 194, 194, 0.1))
    assert np.mean(np.array(limits) < 0.5) <= 0.17  # .1 but for a chance of 1e-3
    assert np.mean(np.array(lucky) < 0.5) > 0.3


def test_the_blocks():
    rng = np.random.default_rng(0)
    data = samples(rng.integers(2, size=4_000), rng.integers(3, size=4_000))
    order = np.arange(4_000)
    ends = ahead.cuts(data, portfolio(None, data), order)
    assert ends[1] == 250
    assert ends[-1] == 4_000
    assert max(np.diff(ends[1:]) / np.array(ends[1:-1])) < 0.5
    real = samples(data.secret, rng.normal(size=4_000))
    assert ahead.cuts(real, portfolio(None, real), order) == [250, 500, 1_000, 2_000, 4_000]


def test_continuous_outputs_are_used_up_to_a_number(monkeypatch):
    monkeypatch.setattr(ahead, "MOST_CONTINUOUS", 1_000)
    rng = np.random.default_rng(0)
    order = np.arange(4_000)
    real = samples(rng.integers(2, size=4_000), rng.normal(size=4_000))
    assert np.array_equal(ahead.some(real, order), order[:1_000])
    wide = samples(real.secret, rng.normal(size=(4_000, 11)))
    assert len(ahead.some(wide, order)) == 200
    few = samples(real.secret, rng.integers(3, size=4_000))
    assert ahead.some(few, order) is order
