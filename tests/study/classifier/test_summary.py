"""Counts, limits and chances are what they say, where the network knows nothing of the images."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.extraction.images import ImageLayout
from narcissus.study.classifier.kind import ReconstructedPoints, summarised
from narcissus.study.classifier.material import ImageSides

NET = SimpleNamespace(describe=lambda: "9-1", parameters=9, classes=None)


def sides(rng, trained=10, fresh=40):
    rows = rng.normal(size=(trained + fresh, 9))
    none, zeros = np.zeros((0, 9)), np.zeros(9)
    return ImageSides(
        rows[:trained], None, rows[trained:], none, np.zeros(0, dtype=int), 3.0, zeros, 1.0,
        ImageLayout(3, 3),
    )  # fmt: skip


@pytest.fixture
def settings(load):
    return load(success={"correlation": 0.6}, threshold=None).settings


def test_limits_are_those_of_the_counts(settings):
    rng = np.random.default_rng(1)
    about = sides(rng)
    pooled = [rng.normal(size=(5, 9)) for _ in range(4)]
    found = summarised(settings, NET, 3, about, ReconstructedPoints(pooled, about.trained[:4]))
    blind, informed = found.attacks
    alike = np.corrcoef(np.concatenate([about.fresh, pooled[0]]))[:40, 40:] >= 0.6
    count = int(alike.any(axis=1).sum())
    assert found.claims == 2
    expected = clopper_pearson(count, 40, confidence=each_confidence(0.95, 2))
    assert (blind.fresh.low, blind.fresh.high) == (expected.low, expected.high)
    assert blind.gain.low == blind.share - expected.high
    assert [len(found.attacks), len(blind.shadows), blind.points] == [2, 3, 5]
    # whose guesses are the images themselves
    assert (informed.recovered, informed.named, informed.share) == (4, 4, 1.0)
    assert informed.chance == pytest.approx(4 / (4 * 41))
    own = np.corrcoef(np.concatenate([about.fresh, about.trained[:4]]))[:40, 40:]
    taken = own[np.arange(40), np.arange(40) % 4] >= 0.6
    assert informed.fresh.value == taken.mean()


def test_shown_are_the_best_first_beside_the_nearest_fresh_one(settings):
    rng = np.random.default_rng(2)
    about = sides(rng)
    points = np.stack([about.trained[3] + rng.normal(0, 0.2, 9), about.trained[7] * 2 + 1])
    found = summarised(settings, NET, 0, about, ReconstructedPoints([points], None))
    [blind] = found.attacks
    first, second = blind.shown
    assert first.correlation == pytest.approx(1)
    assert 0.9 < second.correlation < 1
    nearest = np.corrcoef(np.concatenate([points[1:], about.fresh]))[0, 1:]
    assert first.fresh_correlation == pytest.approx(nearest.max())
    other = replace(about, fresh=about.fresh[[int(nearest.argmax())]])
    again = summarised(settings, NET, 0, other, ReconstructedPoints([points], None))
    assert again.attacks[0].shown[0].fresh == first.fresh


def test_no_point_is_no_reconstruction(settings):
    about = sides(np.random.default_rng(3))
    made = ReconstructedPoints([np.zeros((0, 9))], None)
    [blind] = summarised(settings, NET, 0, about, made).attacks
    assert (blind.recovered, blind.fresh.value, blind.shown, blind.chance) == (0, 0.0, (), 1.0)


def test_chances_are_no_smaller_than_they_may_be(settings):
    """Points that know nothing: as small a p-value as 0.1 comes at most once in ten times."""
    chances, repeats = [], 300
    rng = np.random.default_rng(4)
    study = settings.model_copy(update={"pictures": 0})
    for _ in range(repeats):
        about = sides(rng)
        pooled = [rng.normal(size=(12, 9)) for _ in range(10)]
        guessed = rng.normal(size=(5, 9))
        found = summarised(study, NET, 9, about, ReconstructedPoints(pooled, guessed))
        blind, informed = found.attacks
        chances.append((blind.chance, informed.chance, blind.shadow_chance))
    for level in (0.1, 0.3):
        share = (np.array(chances) <= level).mean(axis=0)
        assert (share <= level + 4 * np.sqrt(level / repeats)).all(), share
