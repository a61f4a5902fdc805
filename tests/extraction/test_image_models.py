"""The model that needs no extra: it is fitted to its own images, and so are its shadows."""

import importlib
import json
import sys
import warnings

import numpy as np
import pytest

from narcissus.errors import InputError, MissingExtraError, TooLargeError
from narcissus.extraction.files import DataSet, Pool
from narcissus.extraction.image_models import (
    CloseUnlike,
    DensestAttack,
    DiffusersGenerator,
    LocalDiffusion,
    MixtureDiffusion,
    MixtureTraining,
    TrainedDiffusion,
    attempts_of,
    check_diffusers_folder,
    densest_samples,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.extraction.images import counted_images
from narcissus.extraction.relations import Near
from narcissus.game import Game, play
from narcissus.observer import SILENT
from narcissus.success.relations import CloseAndUnique

NO_ARRAYS = (8).to_bytes(8, "little") + b"{}      "
"""Weights in safetensors without any."""


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
    (folder / "unet" / "diffusion_pytorch_model.safetensors").write_bytes(NO_ARRAYS)
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
    with pytest.raises(InputError, match=r"its own code \(unet/mine\.py\)"):
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
    with pytest.raises(MissingExtraError, match=rf"`{name}`.*diffusers>="):
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
    import safetensors.torch
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
    # what the library would draw at random, or pass on as no number
    file = tmp_path / "model" / "unet" / "diffusion_pytorch_model.safetensors"
    whole = safetensors.torch.load_file(file)
    for wrong, said in (
        (
            {name: one for name, one in whole.items() if name != "conv_in.weight"},
            r"asks for [\d,]+ parameters, and its weights hold",
        ),
        (whole | {"conv_in.weight": whole["conv_in.weight"] * torch.nan}, "pixels that are no num"),
    ):
        safetensors.torch.save_file(wrong, file, metadata={"format": "pt"})
        with pytest.raises(InputError, match=said):
            DiffusersGenerator(tmp_path / "model", (8, 8, 1), steps=2, device="cpu").sample(1)


def drawn(n, seed, captions=("a", "b")):
    rng = np.random.default_rng(seed)
    pixels = rng.uniform(size=(n, 3, 2))
    return counted_images(pixels, [captions[i % len(captions)] for i in range(n)])


class Prints:
    """A model that prints one image for each caption, with a little noise, and else noise."""

    def __init__(self, images):
        self.images = dict(zip(images.captions, images.rows, strict=True))
        self.asked = []

    def sample(self, count, *, caption="", rng=None):
        self.asked.append(caption)
        rows = rng.uniform(size=(count, 6))
        rows[: count // 2] = self.images[caption] + rng.normal(0, 0.01, (count // 2, 6))
        return np.clip(rows, 0, 1)


def test_what_a_model_prints_again_and_again_is_kept():
    images = drawn(2, 1)
    model = Prints(images)
    found = attempts_of(
        model, [*images.captions, "a"], CloseUnlike(0.05, 0.2), pixels=6, samples=40, entropy=3
    )
    assert model.asked == ["a", "b"]  # each caption once
    assert nearest_attempt(images, found).max() < 0.02
    # an attempt from another caption does not count
    swapped = {"a": found["b"], "b": found["a"]}
    assert nearest_attempt(images, swapped).min() > 0.05


def test_attempts_for_a_caption_depend_on_no_other_caption():
    images = drawn(2, 1)
    relation = CloseUnlike(0.05, 0.2)
    said = {"pixels": 6, "samples": 10, "keep": 3}
    one = attempts_of(Prints(images), ["b"], relation, entropy=3, **said)
    two = attempts_of(Prints(images), ["b", "a"], relation, entropy=3, **said)
    other = attempts_of(Prints(images), ["b"], relation, entropy=4, **said)
    assert (one["b"] == two["b"]).all()
    assert one["b"].shape != other["b"].shape or (one["b"] != other["b"]).any()


def test_unlike_others_is_the_definition_and_that_of_the_games():
    images = drawn(40, 2)
    root = np.sqrt(6)
    for unique in (0.1, 0.2, 0.3):
        wanted = [
            all(
                np.sqrt(np.mean((row - other) ** 2)) > unique
                for j, other in enumerate(images.rows)
                if j != i
            )
            for i, row in enumerate(images.rows)
        ]
        found = unlike_others(images, unique)
        assert found.tolist() == wanted
        relation = CloseAndUnique(0.01 * root, unique * root)
        data = np.repeat(images.rows[None], len(images), axis=0)
        assert relation.holds(data, images.rows, np.random.default_rng(0)).tolist() == wanted
    assert unlike_others(images, 0.2).any()
    assert not unlike_others(images, 0.2).all()


def test_copies_and_other_captions_of_an_image_are_the_same_image():
    pixels = np.zeros((3, 3, 2))
    pixels[2] = 1
    images = counted_images(np.concatenate([pixels, pixels[2:]]), ["a", "b", "c", "c"])
    assert images.copies.tolist() == [1, 1, 2]
    assert unlike_others(images, 0.5).tolist() == [True, True, True]


def test_fresh_images_are_held_against_all_but_one():
    trained = drawn(2, 3)
    fresh = counted_images(np.repeat(trained.pixels[:1], 400, axis=0) + np.linspace(
        0, 1e-6, 400)[:, None, None, None])  # fmt: skip
    # near the first: unlike the others only where it is the first that is left out
    share = unlike_trained(fresh, trained, 0.01, np.random.default_rng(0)).mean()
    assert abs(share - 0.5) < 6 * np.sqrt(0.25 / 400)


def test_fresh_images_are_as_often_outliers_as_those_trained_on():
    """The rule is the same for both: the difference of the shares has mean 0."""
    gaps = []
    for seed in range(150):
        images = drawn(40, 1000 + seed)
        trained, fresh = images.those(range(20)), images.those(range(20, 40))
        theirs = unlike_trained(fresh, trained, 0.2, np.random.default_rng(seed))
        gaps.append(unlike_others(trained, 0.2).mean() - theirs.mean())
    assert abs(np.mean(gaps)) < 5 * np.std(gaps) / np.sqrt(len(gaps))
    assert np.std(gaps) < 0.3


@pytest.mark.parametrize(("close", "unique"), [(0.2, 0.2), (0.0, 0.1), (-0.1, 0.1)])
def test_distances_out_of_order_are_refused(close, unique):
    with pytest.raises(InputError, match=r"close"):
        CloseUnlike(close, unique)
