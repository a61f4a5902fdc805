"""The attack on the model and its shadows, with models whose answers are known."""

import numpy as np
import pytest

from narcissus.extraction.image_models import ImageModelsUnderStudy
from narcissus.extraction.images import DividedImages, counted_images
from narcissus.kinds.memorization.image.kind import attacked


class Knows:
    """A model that prints the same image whatever it is asked."""

    def __init__(self, row):
        self.row = row

    def sample(self, count, *, caption="", rng=None):
        return np.repeat(self.row[None], count, axis=0)


@pytest.fixture
def division():
    rng = np.random.default_rng(2)
    trained, fresh, shadow = (counted_images(rng.uniform(size=(5, 4, 4))) for _ in range(3))
    pixels = trained.pixels.copy()
    pixels[1] = pixels[0] + 0.001 * (pixels[0] < 0.5)  # no outliers, these two
    return DividedImages(counted_images(pixels), fresh, shadow, by_chance=True)


def test_close_and_unique_is_asked_of_every_side(load, division):
    study = load().settings
    trained, fresh = division.trained, division.fresh

    def by(model, *shadows):
        models = ImageModelsUnderStudy(Knows(model), tuple(map(Knows, shadows)), 1, None)
        return attacked(study, models, division, 5)

    found = by(trained.rows[2], trained.rows[3], fresh.rows[0])
    assert found.outliers.tolist() == [False, False, True, True, True]
    assert found.reproduced.tolist() == [False, False, True, False, False]
    assert not found.reproduced_fresh.any()
    assert found.by_shadows.tolist() == [0, 0, 0, 0.5, 0]
    assert found.shadow_models == 2
    # close, not unique: it does not count
    assert not by(trained.rows[0]).reproduced.any()
    # a fresh image that the model gives counts on its side
    assert by(fresh.rows[4]).reproduced_fresh.tolist() == [False] * 4 + [True]


def test_an_image_like_those_of_the_shadow_models_is_no_outlier_for_them(load, division):
    study = load().settings
    shadow = counted_images(
        np.concatenate([division.shadow.pixels, division.trained.pixels[[3]] + 1e-4]).clip(0, 1)
    )
    twice = counted_images(np.concatenate([shadow.pixels, shadow.pixels[-1:] - 2e-4]).clip(0, 1))
    given = DividedImages(division.trained, division.fresh, twice, by_chance=True)
    row = division.trained.rows[3]
    models = ImageModelsUnderStudy(Knows(row), (Knows(row),), 1, None)
    found = attacked(study, models, given, 5)
    assert found.reproduced[3]
    assert not found.shadow_outliers[3]
    assert found.by_shadows[3] == 0
