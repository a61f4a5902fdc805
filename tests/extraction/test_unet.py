"""The U-Net: settings, what it predicts, how it is sampled, saved and read."""

import json

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.unet import UNet, UNetSettings, words_in

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
