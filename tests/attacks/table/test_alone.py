"""People in releases of their own: closed forms, and the chances that a shared release gives."""

import numpy as np
import pytest
from scipy import special, stats

from narcissus.attacks.table import Targets
from narcissus.attacks.table.alone import beliefs_alone, first
from narcissus.mechanisms import MarginalQueries
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, NoNoise
from narcissus.success.table import ColumnsRight

SIZES, UNKNOWN = (2, 3, 2, 2), (2,)


def targets_of(chance, people, sizes=SIZES, unknown=UNKNOWN):
    """People of whom a value has the same chances each; two-way tables."""
    queries = MarginalQueries(sizes, unknown, 2)
    codes = np.zeros((people, len(sizes)), dtype=np.int32)
    shape = tuple(sizes[c] for c in unknown)
    return Targets(queries, codes, np.tile(chance, (people, 1)), ColumnsRight(shape))


@pytest.mark.parametrize("scale", [0.7, 2.0, 6.0])
def test_two_values_under_gaussian_noise_have_their_closed_form(scale):
    """Three tables: two normal distributions sqrt(6) / scale apart; z-tests at 1e-6."""
    p, people = 0.7, 40_000
    found = beliefs_alone(targets_of([p, 1 - p], people), GaussianNoise(scale), rng(1))
    d = np.sqrt(2 * 3) / scale
    cut = np.log(p / (1 - p)) / d
    right = p * stats.norm.cdf(d / 2 + cut) + (1 - p) * stats.norm.cdf(d / 2 - cut)
    largest = found.max(axis=1)
    assert abs(largest.mean() - right) < 4.9 * largest.std() / people**0.5
    # the release moves a chance, but not on average
    assert abs(found[:, 0].mean() - p) < 4.9 * found[:, 0].std() / people**0.5
    assert found.sum(axis=1) == pytest.approx(1)


def test_laplace_noise_moves_odds_no_further_than_its_epsilon():
    noise = LaplaceNoise(2.0)
    found = beliefs_alone(targets_of([0.5, 0.5], 3000), noise, rng(2))
    odds = np.abs(special.logit(found[:, 0]))
    assert odds.max() <= noise.guarantee(3).epsilon + 1e-9
    assert odds.max() > 0.9 * noise.guarantee(3).epsilon


def test_without_noise_everything_is_seen():
    found = beliefs_alone(targets_of([0.2, 0.8], 2000), NoNoise(), rng(3))
    assert (found.max(axis=1) == 1).all()
    assert found[:, 0].mean() == pytest.approx(0.2, abs=0.045)  # 5 standard errors


def test_several_unknown_columns_share_their_tables():
    """Without noise each value is told from each: all tables with an unknown column are seen."""
    chance = np.array([0.1, 0.2, 0.3, 0.4])
    targets = targets_of(chance, 4000, unknown=(2, 3))
    found = beliefs_alone(targets, NoNoise(), rng(4))
    assert found.mean(axis=0) == pytest.approx(chance, abs=0.04)
    noisy = beliefs_alone(targets, GaussianNoise(1.0), rng(5))
    assert noisy.mean(axis=0) == pytest.approx(chance, abs=0.04)
    assert 0.4 < noisy.max(axis=1).mean() < 1


def test_people_with_the_same_knowns_have_noise_of_their_own():
    """Sharing a release, such people would see the very same noise."""
    found = beliefs_alone(targets_of([0.5, 0.5], 4000), GaussianNoise(1.0), rng(6))[:, 0]
    pairs = np.corrcoef(found[::2], found[1::2])[0, 1]
    assert abs(pairs) < 4.9 / 2000**0.5
    assert len(np.unique(found)) == 4000


def test_first_takes_some_of_the_people():
    some = first(targets_of([0.3, 0.7], 10), slice(4))
    assert (some.people, some.chances.shape) == (4, (4, 2))


def rng(seed):
    return np.random.default_rng(seed)
