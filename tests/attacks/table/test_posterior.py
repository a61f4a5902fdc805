"""Posterior attacks against enumeration and against each other."""

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import (
    GibbsSampling,
    MeanField,
    PriorGuess,
    Simulated,
    View,
)
from narcissus.attacks.table.base import view_of
from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise, LaplaceNoise, Microdata
from narcissus.success import ColumnsRight

TINY = [
    pytest.param(6, (2, 3, 2), (0,), 2, id="one unknown"),
    pytest.param(7, (2, 2, 3), (1,), 1, id="one unknown, k 1"),
    pytest.param(4, (2, 3, 2), (0, 2), 2, id="two unknown"),
]


def noisy_view(worlds, rng, noise, *, people, sizes, unknown, k, **rest):
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k, **rest)
    release = worlds.release(targets, noise, secrets, rng).cells
    return View(targets, noise, release), secrets


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", [GaussianNoise(0.8), LaplaceNoise(0.6)])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), TINY)
def test_gibbs_against_enumeration(worlds, people, sizes, unknown, k, noise):
    """Every marginal of the posterior within 0.03: sampling error, seeded."""
    rng = np.random.default_rng(20)
    view, _ = noisy_view(worlds, rng, noise, people=people, sizes=sizes, unknown=unknown, k=k)
    exact = worlds.posterior(view.targets, noise, view.release)
    found = GibbsSampling(sweeps=8000, chains=40).beliefs(view, rng=np.random.default_rng(1))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - exact).max() < 0.03
    # The test would notice: the prior is far from the posterior.
    assert np.abs(view.targets.prior - exact).max() > 0.12


@pytest.mark.parametrize("scale", [40.0, 12.0, 5.0])
@pytest.mark.parametrize(("sizes", "unknown"), [((2, 4, 3, 3, 2), (0,)), ((2, 4, 3, 3, 2), (1, 4))])
def test_mean_field_against_gibbs(worlds, sizes, unknown, scale):
    """Hits of 25 worlds of 60 people: no difference that a paired test sees at 1e-6."""
    noise = GaussianNoise(scale)
    gap = []
    close = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        view, secrets = noisy_view(
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
    view, _ = noisy_view(worlds, rng, noise, people=20, sizes=(2, 3), unknown=(1,), k=2)
    for attack in (MeanField(), GibbsSampling(sweeps=400)):
        np.testing.assert_allclose(attack.beliefs(view, rng=rng), view.targets.prior, atol=1e-4)


def test_impossible_values_stay_impossible(worlds):
    rng = np.random.default_rng(6)
    for noise in (GaussianNoise(3.0), LaplaceNoise(3.0)):
        view, _ = noisy_view(worlds, rng, noise, people=20, sizes=(2, 4), unknown=(1,), k=2)
        view.targets.prior[:, 2] = 0
        view.targets.prior[:] /= view.targets.prior.sum(axis=1, keepdims=True)
        for attack in (MeanField(), GibbsSampling(sweeps=40)):
            assert (attack.beliefs(view, rng=rng)[:, 2] == 0).all()


def test_the_decision_follows_the_criterion(worlds):
    """Within one place of {0, 1, 2}, the middle always counts: everybody is right."""
    rng = np.random.default_rng(7)
    noise = GaussianNoise(3.0)
    view, secrets = noisy_view(
        worlds, rng, noise, people=10, sizes=(2, 3), unknown=(1,), k=2,
        success=ColumnsRight((3,), (1,)),
    )  # fmt: skip
    for attack in (PriorGuess(), MeanField(), GibbsSampling(sweeps=8)):
        assert view.targets.success.score(secrets, attack.guess(view, rng=rng)).all()


def simulated(worlds, kind, seed, number=2):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        targets, secrets = worlds.world(
            rng, people=60, sizes=(2, 3, 2, 3, 3), unknown=(0,), k=3, concentration=2.0
        )
        if kind == "counts":
            release = worlds.release(targets, GaussianNoise(2.0), secrets, rng)
        elif kind == "rows":
            release = Microdata(worlds.complete(targets, secrets))
        else:
            release = worlds.protect(targets, worlds.rules[kind], secrets, rng)
        found.append(Simulated(targets, release, secrets))
    return found


@pytest.mark.parametrize("kind", ["rows", "rounded", "withheld", "random"])
def test_other_releases_are_read_without_training_and_better_with(worlds, kind):
    """Far above the prior at once; what is learned is no worse on the releases learned from."""
    before = simulated(worlds, kind, 8, 6)
    rng = np.random.default_rng(0)
    trained = MeanField().train(before, rng)

    def share(attack):
        guesses = [attack.guess(view_of(s.targets, s.release), rng=rng) for s in before]
        return np.mean([g == s.secrets for g, s in zip(guesses, before, strict=True)])

    prior, untrained, ours = (share(attack) for attack in (PriorGuess(), MeanField(), trained))
    assert ours >= untrained > prior + 0.05
    assert trained.overlap is not None
    assert (trained.scale is not None) == (kind == "rows")


def test_training_leaves_what_was_given_and_noisy_counts_as_they_are(worlds):
    rng = np.random.default_rng(0)
    assert MeanField().train(simulated(worlds, "counts", 9), rng) == MeanField()
    assert MeanField().train([], rng) == MeanField()
    rows = simulated(worlds, "rows", 9)
    given = MeanField(overlap=3.0, scale=4.0)
    assert given.train(rows, rng) == given
    assert MeanField(scale=4.0).train(rows, rng).scale == 4.0
    assert MeanField(overlap=3.0).train(rows, rng).overlap == 3.0


def test_it_learns_from_so_many_people_and_no_more(worlds, monkeypatch):
    """The first releases are enough: others change nothing."""
    monkeypatch.setattr("narcissus.attacks.table.posterior.ENOUGH", 120)
    rng = np.random.default_rng(0)
    first, other = simulated(worlds, "rounded", 10), simulated(worlds, "rounded", 11, 4)
    assert MeanField().train([*first, *other], rng) == MeanField().train(first, rng)


@pytest.mark.parametrize("wrong", [{"overlap": 0.5}, {"scale": 0.0}, {"scale": -1.0}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        MeanField(**wrong)
