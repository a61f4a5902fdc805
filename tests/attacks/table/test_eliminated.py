"""The ceiling by elimination, held against the posterior of all joint values."""

from dataclasses import replace

import numpy as np
import pytest

from narcissus.attacks.table import eliminated
from narcissus.attacks.table.ceiling import insider_beliefs, insider_chances
from narcissus.attacks.table.eliminated import EliminatedCeiling, posterior_factors, work
from narcissus.attacks.table.factored import FactoredCeiling
from narcissus.errors import TooLargeError
from narcissus.knowledge.columns import FactoredInsider, Insider
from narcissus.mechanisms import GaussianNoise, LaplaceNoise
from narcissus.mechanisms.noise import NoNoise
from narcissus.mechanisms.patterns import Grouping
from narcissus.success import ColumnShare, ColumnsRight

from .conftest import factored_of, release, world

SIZES, UNKNOWN, SHAPE = (3, 4, 3, 2), (1, 2, 3), (4, 3, 2)
CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnShare(SHAPE),
    ColumnShare(SHAPE, (1.0, 0.0, 0.0)),
]
COARSE = ((0, 4), (0, 1), (2,), (0, 1, 3)), (Grouping(of=1, groups=(0, 1, 1, 0)),)
NOISES = [GaussianNoise(1.0), LaplaceNoise(0.8), NoNoise()]


def both(noise, success, tables, seed=0, people=30):
    rng = np.random.default_rng(seed)
    targets, secrets = world(
        rng, people=people, sizes=SIZES, unknown=UNKNOWN, k=tables, success=success,
        concentration=0.5,
    )  # fmt: skip
    counts = release(targets, noise, secrets, rng)
    told = FactoredInsider(factored_of(targets), targets.queries.split(secrets))
    return counts, Insider(targets, secrets), told


@pytest.mark.parametrize("tables", [1, 3, COARSE])
@pytest.mark.parametrize("noise", NOISES)
def test_its_factors_are_the_posterior_of_joint_values(noise, tables, monkeypatch):
    """For each person, every joint value; some people at a time."""
    counts, insider, told = both(noise, ColumnsRight(SHAPE), tables)
    expected = insider_beliefs(counts, insider)
    monkeypatch.setattr(eliminated, "HELD", 500)
    parts = list(posterior_factors(counts, told))
    assert len(parts) > 1
    every = np.stack(np.unravel_index(np.arange(24), SHAPE), axis=1)
    found = np.concatenate([
        np.stack([f.log_weights(np.tile(x, (f.people, 1))) for x in every], axis=1)
        for f in parts
    ])  # fmt: skip
    found = np.exp(found - found.max(axis=1, keepdims=True))
    assert found / found.sum(axis=1, keepdims=True) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("success", CRITERIA)
def test_nobody_who_knows_all_other_secrets_decides_better(noise, success):
    """By the exact chances of all guesses; and sampling may fall short of it."""
    counts, insider, told = both(noise, success, 2, seed=1)
    chances = insider_chances(counts, insider)
    rng = np.random.default_rng(2)
    reached = []
    for ceiling in (EliminatedCeiling(), FactoredCeiling(sweeps=3, chains=1)):
        [guess] = ceiling.attempt([counts], [told], rng)
        joint = np.ravel_multi_index(tuple(guess.T), success.guess_shape)
        reached.append(chances[np.arange(30), joint])
    assert reached[0] == pytest.approx(chances.max(axis=1), abs=1e-9)
    if noise.scale > 0:
        assert reached[1].mean() < reached[0].mean() - 1e-6


def test_nobodys_own_secret_is_used():
    """Another value of one person, counted as such: the release is all that tells."""
    counts, _, told = both(GaussianNoise(1.0), ColumnsRight(SHAPE), 2)
    other = told.secrets.copy()
    other[0] = (other[0] + 1) % np.array(SHAPE)
    [guess] = EliminatedCeiling().attempt([counts], [told], None)
    [again] = EliminatedCeiling().attempt(
        [counts], [FactoredInsider(told.targets, other.astype(np.int32))], None
    )
    assert (guess[0] == again[0]).all()
    assert (guess != again).any()  # the others are told of it


def test_a_prior_that_rules_out_exact_counts_gives_way_to_them():
    counts, _, told = both(NoNoise(), ColumnsRight(SHAPE), 3)
    table = told.targets.factors.tables[0].copy()
    table[(np.arange(30), *told.secrets.T)] = -np.inf
    factors = replace(told.targets.factors, tables=(table,))
    wrong = replace(told, targets=replace(told.targets, factors=factors))
    [guess] = EliminatedCeiling().attempt([counts], [wrong], None)
    assert (guess == told.secrets).all()  # three-way tables tell everything but the order


def test_work_is_that_of_the_widest_ties():
    """One-way tables leave the prior's own ties; three-way tables tie all columns."""
    _, _, told = both(GaussianNoise(1.0), ColumnsRight(SHAPE), 1)
    tables = np.zeros((30, 4)), np.zeros((30, 3, 2))
    loose = replace(told.targets.factors, scopes=((0,), (1, 2)), tables=tables)
    targets = replace(told.targets, factors=loose)
    assert work(targets) == 30 * (4 + 6 + 2)
    assert work(told.targets) == 30 * (24 + 6 + 2)


def test_too_wide_ties_are_refused(monkeypatch):
    from narcissus.priors import elimination

    _, _, told = both(GaussianNoise(1.0), ColumnsRight(SHAPE), 3)
    monkeypatch.setattr(elimination, "MAX_CLIQUE", 23)
    with pytest.raises(TooLargeError):
        work(told.targets)
