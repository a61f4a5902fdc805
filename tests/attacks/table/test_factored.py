"""Attacks without a list of joint values, held against those that have one."""

import numpy as np
import pytest

from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    NearestRecord,
    PriorGuess,
    RelaxedProjection,
    factored_attack,
)
from narcissus.attacks.table.ceiling import insider_chances
from narcissus.attacks.table.factored import FactoredCeiling, FactoredGibbs, FactoredGuess
from narcissus.attacks.table.rap import FactoredProjection
from narcissus.errors import InputError
from narcissus.knowledge.columns import FactoredInsider, Insider
from narcissus.mechanisms import GaussianNoise, LaplaceNoise
from narcissus.success import ColumnShare, ColumnsRight

from .conftest import factored_of, release, world

SIZES, UNKNOWN, SHAPE = (3, 4, 3, 2), (1, 2, 3), (4, 3, 2)
CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnsRight(SHAPE, at_least=2),
    ColumnsRight(SHAPE, (1.0, 0.0, 0.0)),
    ColumnShare(SHAPE),
]


def joint_guess(success, guess):
    return np.ravel_multi_index(tuple(np.moveaxis(guess, -1, 0)), success.guess_shape)


@pytest.mark.parametrize("noise", [GaussianNoise(1.0), LaplaceNoise(0.8)])
@pytest.mark.parametrize("success", CRITERIA)
def test_the_ceiling_decides_nearly_as_well_as_the_exact_one(success, noise):
    """By the exact chance of its guesses; and never better."""
    rng = np.random.default_rng(0)
    targets, secrets = world(
        rng, people=30, sizes=SIZES, unknown=UNKNOWN, k=2, success=success, concentration=0.5
    )
    counts = release(targets, noise, secrets, rng)
    exact = insider_chances(counts, Insider(targets, secrets))
    told = FactoredInsider(factored_of(targets), targets.queries.split(secrets))
    [guess] = FactoredCeiling(sweeps=100).attempt([counts], [told], rng)
    reached = exact[np.arange(30), joint_guess(success, guess)]
    assert (reached <= exact.max(axis=1) + 1e-12).all()
    assert reached.mean() > exact.max(axis=1).mean() - 0.01
    assert reached.mean() > exact[np.arange(30), targets.best_guess].mean() + 0.02


@pytest.mark.parametrize("success", CRITERIA)
def test_the_posterior_is_as_good_as_that_of_joint_values(success):
    """In five releases, by the exact chances given all other secrets."""
    rng = np.random.default_rng(1)
    gained, lost = [], []
    for _ in range(5):
        targets, secrets = world(
            rng, people=20, sizes=SIZES, unknown=UNKNOWN, k=2, success=success, concentration=0.5
        )
        counts = release(targets, GaussianNoise(2.0), secrets, rng)
        exact = insider_chances(counts, Insider(targets, secrets))
        people = np.arange(20)
        [joint] = GibbsSampling(sweeps=160).attempt([counts], [targets], rng)
        [guess] = FactoredGibbs().attempt([counts], [factored_of(targets)], rng)
        own = exact[people, joint_guess(success, guess)].mean()
        lost.append(exact[people, joint].mean() - own)
        gained.append(own - exact[people, targets.best_guess].mean())
    assert abs(np.mean(lost)) < 0.03
    assert np.mean(gained) > 0.05


@pytest.mark.parametrize("success", CRITERIA)
def test_under_much_noise_it_guesses_as_the_prior_does(success):
    """Never worse than the prior, where the release says nothing."""
    rng = np.random.default_rng(2)
    targets, secrets = world(
        rng, people=40, sizes=SIZES, unknown=UNKNOWN, k=2, success=success, concentration=0.5
    )
    counts = release(targets, GaussianNoise(1e4), secrets, rng)
    factored = factored_of(targets)
    [guess] = FactoredGibbs().attempt([counts], [factored], rng)
    [prior] = FactoredGuess().attempt([counts], [factored], rng)
    assert factored.chance(guess).mean() > factored.chance(prior).mean() - 0.01


def test_which_attacks_have_a_form_without_joint_values():
    assert factored_attack(PriorGuess()) == FactoredGuess()
    assert factored_attack(MeanField()) == FactoredGibbs()
    assert factored_attack(GibbsSampling(200, 8, 0.3)) == FactoredGibbs(25, 8, 0.3)
    assert factored_attack(Ceiling()) == FactoredCeiling()
    assert factored_attack(RelaxedProjection()) == FactoredProjection(RelaxedProjection())
    assert factored_attack(NearestRecord()) is None


def test_options_out_of_range_are_refused():
    for bad in ({"sweeps": 0}, {"chains": 0}, {"burn": 1.0}):
        with pytest.raises(InputError):
            FactoredGibbs(**bad)
