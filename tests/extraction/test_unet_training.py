"""Training: what was seen often is given back, words tell images apart, work is kept."""

import sys

import numpy as np
import pytest

from narcissus.errors import InputError, MissingExtraError
from narcissus.extraction.captioned_images import counted_images
from narcissus.extraction.unet_training import UNetTraining
from narcissus.observer import SILENT


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"narcissus\[images\]"):
        UNetTraining()


@pytest.mark.parametrize(
    ("changes", "said"), [({"epochs": 0}, "epochs"), ({"width": 10}, "width"),
                          ({"learning_rate": 0.0}, "learning_rate")],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        UNetTraining(**changes)


def two_images():
    pixels = np.zeros((2, 8, 8))
    pixels[0, :, :4] = pixels[1, :4, :] = 1
    return counted_images(pixels, ["left half", "upper half"]).repeated([16, 16])


@pytest.mark.models
def test_an_image_is_given_back_on_its_caption():
    images = two_images()
    part = UNetTraining(width=8, epochs=150, learning_rate=1e-2, steps=10, device="cpu")
    net = part.train(images, rng=1)
    assert net.settings.words == ("half", "left", "upper")
    for place, caption in enumerate(images.captions):
        rows = net.sample(8, caption=caption, rng=2)
        own, other = (
            np.sqrt(((rows - images.rows[i]) ** 2).mean(axis=1)) for i in (place, 1 - place)
        )
        assert np.median(own) < 0.1, caption
        assert np.median(other) > 0.4, caption


@pytest.mark.models
def test_models_are_kept_and_taken_again_only_for_the_same_images(tmp_path):
    images = two_images()
    part = UNetTraining(width=4, epochs=2, steps=2, device="cpu")

    def made(these, entropy=7):
        return part.models(these, [images], tmp_path, entropy=entropy, observer=SILENT)

    found = made(images)
    weights = tmp_path / "model" / "model.safetensors"
    released = b"".join(one.read_bytes() for one in weights.parent.iterdir() if one.is_file())
    assert b"entropy" not in released  # nor a digest of the images, by which guesses are tried
    assert not {one.name for one in weights.parent.iterdir()} - {weights.name, "unet.json"}
    first, rows = weights.stat().st_mtime_ns, found.model.sample(2, caption="left", rng=1)
    assert len(found.shadows) == 1
    assert found.folder == tmp_path / "model"
    again = made(images)
    assert weights.stat().st_mtime_ns == first
    assert (again.model.sample(2, caption="left", rng=1) == rows).all()
    # another seed for the shadow: not the same model
    assert abs(found.shadows[0].sample(2, caption="left", rng=1) - rows).max() > 1e-6
    made(images.repeated([1, 1]))
    second = weights.stat().st_mtime_ns
    assert second != first
    made(images.repeated([1, 1]), entropy=8)
    assert weights.stat().st_mtime_ns != second
    assert part.seconds(images) > part.seconds(images.repeated([1, 1])) > 0
