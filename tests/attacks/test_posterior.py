"""Posterior attacks against enumeration, against each other, and below the ceiling."""

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    PriorGuess,
    RelaxedProjection,
    View,
)
from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise, LaplaceNoise, NoisyMarginals, NoNoise
from narcissus.success import ColumnsRight

TINY = [
    pytest.param(6, (2, 3, 2), (0,), 2, id="one unknown"),
    pytest.param(7, (2, 2, 3), (1,), 1, id="one unknown, k 1"),
    pytest.param(4, (2, 3, 2), (0, 2), 2, id="two unknown"),
]


def view_of(worlds, rng, noise, *, people, sizes, unknown, k, **rest):
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k, **rest)
    release = NoisyMarginals(targets.queries, noise).release(
        worlds.complete(targets, secrets), rng=rng
    )
    return View(targets, noise, release), secrets


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", [GaussianNoise(0.8), LaplaceNoise(0.6)])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), TINY)
def test_gibbs_against_enumeration(worlds, people, sizes, unknown, k, noise):
    """Every marginal of the posterior within 0.03: sampling error, seeded."""
    rng = np.random.default_rng(20)
    view, _ = view_of(worlds, rng, noise, people=people, sizes=sizes, unknown=unknown, k=k)
    exact = worlds.posterior(view.targets, noise, view.release)
    found = GibbsSampling(sweeps=8000, chains=40).beliefs(view, rng=np.random.default_rng(1))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - exact).max() < 0.03
    # The test would notice: the prior is far from the posterior.
    assert np.abs(view.targets.prior - exact).max() > 0.12


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", [GaussianNoise(1.2), LaplaceNoise(1.2), NoNoise()])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), TINY)
def test_ceiling_against_enumeration(worlds, people, sizes, unknown, k, noise):
    """The ceiling's beliefs are the exact conditionals given all other secrets."""
    rng = np.random.default_rng(21)
    view, secrets = view_of(worlds, rng, noise, people=people, sizes=sizes, unknown=unknown, k=k)
    targets = view.targets
    told = View(targets, noise, view.release, secrets)
    found = Ceiling().beliefs(told, rng=rng)
    for i in range(people):
        logs = []
        for value in range(targets.prior.shape[1]):
            other = secrets.copy()
            other[i] = value
            if noise.scale == 0:
                same = targets.queries.counts(worlds.complete(targets, other)) == view.release
                log = 0.0 if same.all() else -np.inf
            else:
                log = worlds.log_density(targets, noise, view.release, other)
            logs.append(log + targets.log_prior[i, value])
        expected = np.exp(np.array(logs) - max(logs))
        np.testing.assert_allclose(found[i], expected / expected.sum(), atol=1e-9)


def test_ceiling_must_be_told(worlds):
    rng = np.random.default_rng(0)
    view, _ = view_of(worlds, rng, GaussianNoise(1.0), people=3, sizes=(2, 2), unknown=(0,), k=1)
    with pytest.raises(InputError, match="secrets"):
        Ceiling().guess(view, rng=rng)


def test_ceiling_survives_a_prior_that_rules_out_the_truth(worlds):
    """Real rows may be impossible under a prior; exact counts then have the last word."""
    rng = np.random.default_rng(4)
    view, secrets = view_of(worlds, rng, NoNoise(), people=5, sizes=(3, 2), unknown=(0,), k=2)
    view.targets.prior[np.arange(5), secrets] = 0
    view.targets.prior[:] /= view.targets.prior.sum(axis=1, keepdims=True)
    told = View(view.targets, view.noise, view.release, secrets)
    np.testing.assert_array_equal(Ceiling().guess(told, rng=rng), secrets)


@pytest.mark.parametrize("scale", [40.0, 12.0, 5.0])
@pytest.mark.parametrize(("sizes", "unknown"), [((2, 4, 3, 3, 2), (0,)), ((2, 4, 3, 3, 2), (1, 4))])
def test_mean_field_against_gibbs(worlds, sizes, unknown, scale):
    """Hits of 25 worlds of 60 people: no difference that a paired test sees at 1e-6."""
    noise = GaussianNoise(scale)
    gap = []
    close = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        view, secrets = view_of(
            worlds, rng, noise, people=60, sizes=sizes, unknown=unknown, k=3, concentration=2.0
        )
        mean_field = MeanField().beliefs(view, rng=rng)
        gibbs = GibbsSampling(sweeps=160).beliefs(view, rng=rng)
        close.append(np.abs(mean_field - gibbs).mean())
        hits = [(b.argmax(axis=1) == secrets).mean() for b in (mean_field, gibbs)]
        gap.append(hits[0] - hits[1])
    gap = np.array(gap)
    if gap.std() > 0:
        assert stats.ttest_1samp(gap, 0).pvalue > 1e-6
    # Beliefs, not only hits: far nearer to each other than to the prior.
    assert np.mean(close) < 0.05


def test_no_information_leaves_the_prior(worlds):
    rng = np.random.default_rng(5)
    noise = GaussianNoise(1e7)
    view, _ = view_of(worlds, rng, noise, people=20, sizes=(2, 3), unknown=(1,), k=2)
    for attack in (MeanField(), GibbsSampling(sweeps=400)):
        np.testing.assert_allclose(attack.beliefs(view, rng=rng), view.targets.prior, atol=1e-4)


def test_impossible_values_stay_impossible(worlds):
    rng = np.random.default_rng(6)
    for noise in (GaussianNoise(3.0), LaplaceNoise(3.0)):
        view, _ = view_of(worlds, rng, noise, people=20, sizes=(2, 4), unknown=(1,), k=2)
        view.targets.prior[:, 2] = 0
        view.targets.prior[:] /= view.targets.prior.sum(axis=1, keepdims=True)
        for attack in (MeanField(), GibbsSampling(sweeps=40)):
            assert (attack.beliefs(view, rng=rng)[:, 2] == 0).all()


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.coverage_claim
@pytest.mark.parametrize("noise", [GaussianNoise(4.0), LaplaceNoise(4.0), NoNoise()])
@pytest.mark.parametrize(
    ("unknown", "success"),
    [
        ((0,), None),
        ((1, 2), ColumnsRight((3, 2), (1, 0), 1)),
        ((3,), ColumnsRight((5,), (1,))),
    ],
)
def test_no_attack_is_above_the_ceiling(worlds, unknown, success, noise):
    """60 worlds each; paired test of the mean gap, false alarm 1e-6 for each attack."""
    attacks = [
        PriorGuess(),
        MeanField(),
        GibbsSampling(sweeps=40),
        RelaxedProjection(steps=30),
        RelaxedProjection(start="prior", steps=30),
    ]
    worlds_played = 60
    gaps = np.zeros((worlds_played, len(attacks)))
    for seed in range(worlds_played):
        rng = np.random.default_rng([77, seed])
        view, secrets = view_of(
            worlds, rng, noise, people=15, sizes=(2, 3, 2, 5), unknown=unknown, k=2,
            success=success,
        )  # fmt: skip
        told = View(view.targets, noise, view.release, secrets)
        score = view.targets.success.score
        top = score(secrets, Ceiling().guess(told, rng=rng)).mean()
        for place, attack in enumerate(attacks):
            gaps[seed, place] = top - score(secrets, attack.guess(view, rng=rng)).mean()
    for gap in gaps.T:
        if gap.std() > 0:
            assert stats.ttest_1samp(gap, 0, alternative="less").pvalue > 1e-6
    if success is None:  # where there is much to gain, it is gained
        assert gaps[:, 1].mean() < gaps[:, 0].mean()
        assert gaps[:, 2].mean() < gaps[:, 3].mean()


def test_the_decision_follows_the_criterion(worlds):
    """Within one place of {0, 1, 2}, the middle always counts: everybody is right."""
    rng = np.random.default_rng(7)
    noise = GaussianNoise(3.0)
    view, secrets = view_of(
        worlds, rng, noise, people=10, sizes=(2, 3), unknown=(1,), k=2,
        success=ColumnsRight((3,), (1,)),
    )  # fmt: skip
    for attack in (PriorGuess(), MeanField(), GibbsSampling(sweeps=8)):
        assert view.targets.success.score(secrets, attack.guess(view, rng=rng)).all()
