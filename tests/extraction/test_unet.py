"""The U-Net: settings, what it predicts, how it is sampled, saved and read."""

import json
import sys

import numpy as np
import pytest

from narcissus.errors import InputError, MissingExtraError
from narcissus.extraction.images import counted_images
from narcissus.extraction.unet import UNet, UNetSettings, UNetTraining, words_in
from narcissus.observer import SILENT

SETTINGS = UNetSettings((8, 4, 3), 8, ("blue", "disc"), 4)


@pytest.mark.parametrize(
    ("settings", "said"),
    [(((7, 8, 1), 8, (), 4), "multiples of 4"), (((8, 8, 1), 6, (), 4), "multiple of 4")],
)
def test_what_does_not_fit_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        UNetSettings(*settings)


def test_a_caption_is_its_words():
    assert words_in(" A blue  Disc") == ["a", "blue", "disc"]


@pytest.fixture(scope="module")
def net():
    pytest.importorskip("torch", reason="torch is no part of the test environment")
    found = UNet.initial(SETTINGS, 1)
    rng = np.random.default_rng(2)
    for name, tensor in found.weights.items():  # what starts at 0 would hide what it does
        found.weights[name] = tensor + tensor.new_tensor(rng.normal(0, 0.1, tensor.shape))
    return found


@pytest.mark.models
def test_images_for_a_caption(net):
    assert net.parameters == sum(one.numel() for one in net.weights.values())
    rows = net.sample(3, caption="a blue disc", rng=4)
    assert rows.shape == (3, 96)
    assert (rows.min() >= 0) & (rows.max() <= 1)
    assert (rows == net.sample(3, caption="disc blue blue", rng=4)).all()  # a set of words
    assert abs(rows - net.sample(3, caption="disc", rng=4)).max() > 1e-3
    assert abs(rows - net.sample(3, caption="a blue disc", rng=5)).max() > 1e-3


@pytest.mark.models
def test_one_that_starts_predicts_nothing():
    """The last layer starts at 0, so that the first loss is the variance of the velocity."""
    net = UNet.initial(SETTINGS, 1)
    import torch

    noisy = torch.ones((2, 3, 8, 4))
    assert net.velocity(noisy, torch.ones(2), net.words_of(["disc", ""])).abs().max() == 0


@pytest.mark.models
def test_sampling_inverts_noise_for_a_denoiser_that_knows_the_image(net, monkeypatch):
    """With the velocity of one known image, what is sampled is this image, from any noise."""
    import torch

    clean = torch.linspace(-1, 1, 96).reshape(1, 3, 8, 4)

    def exact(noisy, angle, words):
        cos, sin = angle.cos()[:, None, None, None], angle.sin()[:, None, None, None]
        return cos * (noisy - cos * clean) / sin - sin * clean

    monkeypatch.setattr(net, "velocity", exact)
    rows = net.sample(2, rng=1)
    wanted = clean.permute(0, 2, 3, 1).reshape(-1).numpy() / 2 + 0.5
    assert abs(rows - wanted).max() < 1e-5


@pytest.mark.models
def test_a_folder_gives_back_what_was_saved(net, tmp_path):
    net.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.safetensors", "unet.json"}
    again = UNet.load(tmp_path)
    assert (again.sample(2, caption="disc", rng=1) == net.sample(2, caption="disc", rng=1)).all()
    said = json.loads((tmp_path / "unet.json").read_text())
    (tmp_path / "unet.json").write_text(json.dumps({**said, "width": 12}))
    with pytest.raises(InputError, match="not those of its"):
        UNet.load(tmp_path)
    (tmp_path / "unet.json").unlink()
    with pytest.raises(InputError, match=r"unet\.json"):
        UNet.load(tmp_path)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"diffusers>="):
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
@pytest.mark.nightly
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
