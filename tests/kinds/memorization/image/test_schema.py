"""How images are divided: by chance where a model is trained here, as given otherwise."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.kinds.memorization.image.kind import ImageStudy


class Given:
    """A model that somebody else has trained."""

    trains = False


def test_a_given_model_needs_fresh_images_and_takes_no_duplicates(load, tmp_path):
    study = load(duplicates=None).settings
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match=r"needs `data\.fresh`"):
        study.division(tmp_path, Given(), rng)
    np.save(tmp_path / "fresh.npy", np.zeros((1, 4, 4), dtype=np.uint8))
    both = {"images": "images.npy", "fresh": "fresh.npy"}
    given = study.model_copy(update={"data": study.data.model_validate(both)})
    found = given.division(tmp_path, Given(), rng)
    assert not found.by_chance
    assert (len(found.trained), len(found.fresh), found.shadow) == (90, 1, None)
    planted = given.model_copy(update={"duplicates": load().settings.duplicates})
    with pytest.raises(InputError, match="leave it out"):
        planted.division(tmp_path, Given(), rng)


def test_shadow_models_have_images_of_their_own_with_as_many_copies(load, tmp_path):
    study = load().settings
    assert isinstance(study, ImageStudy)
    found = study.division(tmp_path, study.model.build(), np.random.default_rng(1))
    for side in (found.trained, found.shadow):
        assert np.unique(side.copies, return_counts=True)[1].tolist() == [24, 3, 3]
    assert found.fresh.copies.tolist() == [1] * 30
