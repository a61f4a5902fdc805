"""Chains that draw column by column have the exact posterior, whatever the noise and the tables."""

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import GibbsSampling, View
from narcissus.attacks.table.ceiling import insider_beliefs
from narcissus.attacks.table.chains import Blankets, LonelyChains, schedule
from narcissus.attacks.table.factored import FactoredGibbs
from narcissus.attacks.table.places import ColumnSteps
from narcissus.knowledge.columns import Insider
from narcissus.mechanisms import GaussianNoise, LaplaceNoise
from narcissus.mechanisms.patterns import Grouping
from narcissus.priors.factors import Factors

from .conftest import factored_of, posterior, release, world

ALARM = 1e-6
COARSE = (((1, 2), (0, 3), (0, 2, 3), (1,)), (Grouping(2, (0, 1, 1)),))


def marginals(joint, shape):
    """Give each column's chances from those of the joint values."""
    table = joint.reshape(len(joint), *shape)
    axes = range(1, 1 + len(shape))
    return [table.sum(axis=tuple(a for a in axes if a != 1 + c)) for c in range(len(shape))]


def require_drawn_from(draws, chains, expected):
    """Test the mean over independent chains of how often each value was drawn, n x values tests."""
    n, _, columns = draws.shape
    by_chain = draws.reshape(n, -1, chains, columns)
    count = sum(e.size for e in expected)
    for c, chances in enumerate(expected):
        for value in range(chances.shape[1]):
            share = (by_chain[..., c] == value).mean(axis=1)
            spread = share.std(axis=1, ddof=1) / np.sqrt(chains) + 1e-9
            score = np.abs(share.mean(axis=1) - chances[:, value]) / spread
            assert (score < stats.t.isf(ALARM / count / 2, chains - 1)).all()


SMALL = {"people": 3, "sizes": (2, 2, 3, 2), "unknown": (2, 1), "concentration": 3.0}
"""Few people whose posterior has no far modes, between which finite chains would rarely go."""


@pytest.mark.parametrize("noise", [GaussianNoise(1.5), LaplaceNoise(1.3)])
@pytest.mark.parametrize("k", [1, 2, 3, COARSE])
def test_draws_have_the_exact_posterior(noise, k):
    rng = np.random.default_rng(4)
    targets, secrets = world(rng, k=k, **SMALL)
    counts = release(targets, noise, secrets, rng)
    attack = FactoredGibbs(sweeps=60, chains=200, burn=0.4)
    _, beliefs = attack.run(counts, factored_of(targets), rng)
    expected = marginals(posterior(targets, noise, counts.cells), (3, 2))
    require_drawn_from(beliefs.draws, 200, expected)
    for found, chances in zip(beliefs.marginals, expected, strict=True):
        assert np.abs(found - chances).max() < 0.02
        assert found.sum(axis=1) == pytest.approx(1.0)


def test_a_release_of_little_weight_is_not_the_posterior():
    """The test above finds an error of the size of the noise: half the precision fails it."""
    rng = np.random.default_rng(4)
    targets, secrets = world(rng, k=2, **SMALL)
    counts = release(targets, GaussianNoise(1.5), secrets, rng)
    _, beliefs = FactoredGibbs(60, 200, 0.4).run(counts, factored_of(targets), rng)
    wrong = marginals(posterior(targets, GaussianNoise(2.0), counts.cells), (3, 2))
    with pytest.raises(AssertionError):
        require_drawn_from(beliefs.draws, 200, wrong)


def test_it_agrees_with_the_sampler_of_joint_values():
    rng = np.random.default_rng(8)
    targets, secrets = world(
        rng, people=20, sizes=(3, 4, 3, 2), unknown=(1, 2, 3), k=2, concentration=3.0
    )
    noise = GaussianNoise(3.0)
    counts = release(targets, noise, secrets, rng)
    joint = GibbsSampling(1000, 20).beliefs(View(targets, noise, counts.cells), rng=rng)
    _, beliefs = FactoredGibbs(100, 20, 0.2).run(counts, factored_of(targets), rng)
    for found, other in zip(beliefs.marginals, marginals(joint, (4, 3, 2)), strict=True):
        assert np.abs(found - other).mean() < 0.01


@pytest.mark.parametrize("noise", [GaussianNoise(1.5), LaplaceNoise(1.3)])
def test_a_lonely_chain_has_the_posterior_of_whom_all_others_are_known(noise):
    rng = np.random.default_rng(9)
    targets, secrets = world(rng, k=2, **SMALL)
    counts = release(targets, noise, secrets, rng)
    factored = factored_of(targets)
    steps = ColumnSteps(targets.queries, targets.bases, counts.cells)
    truth = targets.queries.split(secrets)
    chains = LonelyChains(factored.factors, steps, noise, truth)
    tally = [np.zeros((3, s)) for s in (3, 2)]
    start = np.zeros((200, 2), dtype=int)
    draws = np.stack([chains.run(i, start, schedule(60, 0.4), rng, tally) for i in range(3)])
    exact = insider_beliefs(counts, Insider(targets, secrets))
    require_drawn_from(draws, 200, marginals(exact, (3, 2)))
    # the log likelihoods of single values, up to a constant for each person
    every = np.array([[a, b] for a in range(3) for b in range(2)])
    for i in range(3):
        logits = targets.log_prior[i] + chains.fields(i, every)[0]
        weights = np.exp(logits - logits.max())
        assert weights / weights.sum() == pytest.approx(exact[i])


def test_blankets_are_the_conditionals_of_the_factors():
    rng = np.random.default_rng(0)
    shape = (3, 2, 4)
    tables = (rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 3, 2, 4)), rng.normal(size=(5, 2)))
    shared = np.broadcast_to(rng.normal(size=(1, 4)), (5, 4))
    scopes = ((0, 2), (0, 1, 2), (1,), (2,))
    factors = Factors(shape, scopes, (*tables, shared), np.array([4, 0, 2, 4]))
    blankets = Blankets(factors)
    values = np.stack([rng.integers(0, s, 6) for s in shape], axis=1)
    for person, row in enumerate(factors.rows):
        alone = Factors(shape, scopes, factors.tables, np.full(6, row))
        for c, size in enumerate(shape):
            found = np.broadcast_to(blankets.logits(person, c, values), (6, size))
            for value in range(size):
                moved = values.copy()
                moved[:, c] = value
                expected = alone.log_weights(moved) - alone.log_weights(values)
                gained = found[:, value] - found[np.arange(6), values[:, c]]
                assert gained == pytest.approx(expected)


def test_the_weight_of_the_release_rises_to_one():
    weights = schedule(10, 0.4)
    assert weights[:2] == pytest.approx([0.01, 0.01 * 100**0.25])
    assert weights == sorted(weights)
    assert weights[4:] == [1.0] * 6
    assert schedule(3, 0.0) == [1.0] * 3
