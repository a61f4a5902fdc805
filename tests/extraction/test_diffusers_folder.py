"""Folders of diffusers: what is refused before it is read, and a small pipeline that is read."""

import importlib
import json
import sys
import warnings

import numpy as np
import pytest

from narcissus.errors import InputError, MissingExtraError, TooLargeError
from narcissus.extraction.diffusers_folder import (
    DiffusersGenerator,
    LocalDiffusion,
    check_diffusers_folder,
)
from narcissus.observer import SILENT

INDEX = {
    "_class_name": "DDIMPipeline",
    "_diffusers_version": "0.42.1",
    "scheduler": ["diffusers", "DDIMScheduler"],
    "unet": ["diffusers", "UNet2DModel"],
}


@pytest.fixture
def written(tmp_path):
    """A folder as diffusers leaves it, with weights that nobody reads."""
    folder = tmp_path / "model"
    for name in ("scheduler", "unet"):
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text("{}")
    (folder / "model_index.json").write_text(json.dumps(INDEX))
    (folder / "unet" / "diffusion_pytorch_model.safetensors").write_bytes(b"\0" * 16)
    return folder


def test_a_folder_as_diffusers_leaves_it_is_accepted(written):
    assert check_diffusers_folder(written) == 16
    index = INDEX | {"safety_checker": [None, None], "requires_safety_checker": False}
    (written / "model_index.json").write_text(json.dumps(index))
    assert check_diffusers_folder(written) == 16


def test_pickled_weights_are_refused(written):
    weights = written / "unet" / "diffusion_pytorch_model.safetensors"
    weights.rename(weights.with_suffix(".bin"))
    with pytest.raises(InputError, match=r"pickle.*safe_serialization=True"):
        check_diffusers_folder(written)
    (written / "unet" / "diffusion_pytorch_model.bin").unlink()
    with pytest.raises(InputError, match="has no weights"):
        check_diffusers_folder(written)
    weights.write_bytes(b"\x80\x04\x95" + b"\0" * 16)
    with pytest.raises(InputError, match="pickle"):
        check_diffusers_folder(written)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (INDEX | {"unet": ["my_module", "UNet"]}, "'unet' is of 'my_module'"),
        (INDEX | {"_class_name": ["pipeline", "Mine"]}, "_class_name"),
        (INDEX | {"../unet": ["diffusers", "UNet2DModel"]}, "is not"),
        (INDEX | {"unet": ["diffusers"]}, "is not"),
        ([INDEX], "object in JSON"),
    ],
)
def test_code_of_others_is_refused(written, index, said):
    (written / "model_index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match=said):
        check_diffusers_folder(written)


def test_a_program_in_the_folder_is_refused(written):
    (written / "unet" / "mine.py").write_text("print('run')")
    with pytest.raises(InputError, match=r"code of its own \(unet/mine\.py\)"):
        check_diffusers_folder(written)


def test_what_is_no_folder_of_a_model(written, tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        check_diffusers_folder(tmp_path / "none")
    with pytest.raises(InputError, match=r"model_index\.json"):
        check_diffusers_folder(written / "unet")
    with (written / "unet" / "config.json").open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(TooLargeError, match=r"config\.json"):
        check_diffusers_folder(written)


@pytest.mark.parametrize("name", ["torch", "diffusers"])
def test_without_the_libraries_the_extra_is_named(written, monkeypatch, name):
    if name == "diffusers":
        pytest.importorskip("torch", reason="torch is no part of the test environment")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"`{name}`.*narcissus\[images\]"):
        LocalDiffusion("model", folder=str(written.parent))


@pytest.fixture(scope="module")
def diffusers():
    """The library, whose import warns of what others have deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("diffusers")


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_is_read_and_sampled(diffusers, tmp_path):
    import torch

    torch.manual_seed(0)
    levels = {"down_block_types": ("DownBlock2D",) * 2, "up_block_types": ("UpBlock2D",) * 2}
    unet = diffusers.UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, block_out_channels=(8, 16),
        layers_per_block=1, norm_num_groups=4, **levels,
    )  # fmt: skip
    pipeline = diffusers.DDIMPipeline(unet=unet, scheduler=diffusers.DDIMScheduler())
    pipeline.save_pretrained(tmp_path / "model")
    part = LocalDiffusion("model", steps=3, device="cpu", batch=2, folder=str(tmp_path))
    trained = type("Images", (), {"shape": (8, 8, 1)})
    found = part.models(trained, [], tmp_path, entropy=1, observer=SILENT)
    assert found.parameters == sum(one.numel() for one in unet.parameters())
    rows = found.model.sample(3, rng=1)
    assert rows.shape == (3, 64)
    assert (rows.min() >= 0) & (rows.max() <= 1)
    assert (rows == found.model.sample(3, caption="any", rng=1)).all()
    assert (rows != found.model.sample(3, rng=2)).any()
    # larger images are averaged down to those that they are compared with
    half = DiffusersGenerator(tmp_path / "model", (4, 4, 1), steps=3, device="cpu", batch=2)
    blocks = rows.reshape(3, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(3, 16)
    np.testing.assert_allclose(half.sample(3, rng=1), blocks)
    with pytest.raises(InputError, match="8 x 8 pixels and 1 channels"):
        DiffusersGenerator(tmp_path / "model", (5, 5, 1), steps=1, device="cpu").sample(1, rng=1)
