"""Relation (b) on digits with one duplicated outlier."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.diffusion import (
    DensestAttack,
    MixtureDiffusion,
    TrainedDiffusion,
    densest_samples,
)
from narcissus.extraction.files import DataSet
from narcissus.extraction.pool import Pool
from narcissus.extraction.relations import Near
from narcissus.game import Game, play

RELATION = Near(radius=0.7, isolation=2.5)


@pytest.fixture(scope="module")
def digits():
    images = (
        pytest.importorskip("sklearn.datasets", reason="the extra `learn` is not installed")
        .load_digits()
        .data
        / 16
    )
    return images[:500]


def outlier(seed):
    return np.random.default_rng(seed).integers(0, 2, 64).astype(float)


def extracts_outlier(model, data, relation, *, rng):
    output = DensestAttack(relation.radius).attempt([model], None, np.random.default_rng(rng))
    return relation.holds([DataSet.of_rows(data)], output, None).item()


def test_a_duplicated_outlier_is_printed_again(digits):
    data = np.concatenate([digits, np.repeat(outlier(1)[None], 40, axis=0)])
    model = MixtureDiffusion(data, rng=0)
    assert extracts_outlier(model, data, RELATION, rng=1)
    # the same samples say nothing of data with another outlier (the shadow)
    shadow = np.concatenate([digits, np.repeat(outlier(2)[None], 40, axis=0)])
    assert not extracts_outlier(model, shadow, RELATION, rng=1)


def test_without_copies_it_is_not(digits):
    data = np.concatenate([digits, outlier(1)[None]])
    # one copy among 500, and fewer components: nothing is left for it alone
    model = MixtureDiffusion(data, components=10, rng=3)
    assert not extracts_outlier(model, data, RELATION, rng=1)


def test_extraction_from_a_generator_as_a_game():
    """Few points far apart, each with a component of its own: printed again, unlike fresh ones."""
    points = np.random.default_rng(1).uniform(-100, 100, (40, 3))
    game = Game(Pool(points, 4), TrainedDiffusion(components=4), Near(radius=0.5, isolation=2))
    one = play(game, DensestAttack(0.5, samples=50), trials=20, stop=False, rng=1).attackers[0]
    assert one.success.value >= 0.9
    assert one.baseline.value <= 0.5  # the same row is in a fresh draw of 4 of 40 once in ten


def test_samples_follow_the_mixture():
    """Means and spread of a mixture that is known."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-3, 0.5, (2000, 2)), rng.normal(3, 0.2, (1000, 2))])
    drawn = MixtureDiffusion(rows, components=2, steps=200, rng=0).sample(6000, rng=1)
    left = drawn[drawn[:, 0] < 0]
    assert abs(len(left) / 6000 - 2 / 3) < 0.04
    assert np.allclose(left.mean(axis=0), -3, atol=0.06)
    assert np.allclose(left.std(axis=0), 0.5, atol=0.06)
    assert np.allclose(drawn[drawn[:, 0] > 0].std(axis=0), 0.2, atol=0.04)


def test_densest_samples_are_apart():
    class Fixed:
        def sample(self, count, *, rng=None):
            return np.array([[0.0], [0.1], [5.0], [5.1], [5.2], [9.0]])

    found = densest_samples(Fixed(), samples=6, radius=1, keep=3)
    assert np.allclose(found[:, 0], [5.1, 0.05, 9.0])
    assert len(densest_samples(Fixed(), samples=6, radius=100, keep=3)) == 1


def test_bad_rows():
    with pytest.raises(InputError, match="rows"):
        MixtureDiffusion([1.0, 2.0])
