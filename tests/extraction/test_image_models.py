"""The model that needs no extra: it is fitted to its own images, and so are its shadows."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.captioned_images import counted_images
from narcissus.extraction.image_models import MixtureTraining
from narcissus.observer import SILENT


def test_what_comes_often_is_printed_again_and_only_by_the_model_that_saw_it(tmp_path):
    rng = np.random.default_rng(1)
    images, others = (counted_images(rng.uniform(size=(20, 4, 4))) for _ in range(2))
    images = images.repeated(np.where(np.arange(20) == 0, 40, 1))
    part = MixtureTraining(components=3)
    found = part.models(images, [others] * 2, tmp_path, entropy=5, observer=SILENT)
    assert found.folder is None
    assert len(found.shadows) == 2
    assert found.parameters == 3 * 18
    assert part.seconds(images) > 0

    def closest(model):
        rows = model.sample(100, caption="any", rng=2)
        assert rows.shape == (100, 16)
        assert (rows.min() >= 0) & (rows.max() <= 1)
        return np.sqrt(((rows - images.rows[0]) ** 2).mean(axis=1)).min()

    assert closest(found.model) < 0.03
    assert min(map(closest, found.shadows)) > 0.1
    again = part.models(images, [], tmp_path, entropy=5, observer=SILENT)
    assert (again.model.sample(3, rng=1) == found.model.sample(3, rng=1)).all()


def test_no_component_is_refused():
    with pytest.raises(InputError, match="components"):
        MixtureTraining(components=0)
