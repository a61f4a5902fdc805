"""The kind as a whole: what it finds, that it repeats itself, what it refuses."""

import json
import sys

import numpy as np
import pytest

import narcissus
from narcissus.errors import InputError, MissingExtraError, StudyError
from narcissus.study.kinds import RunOptions
from narcissus.study.reading import read_record


def test_what_came_often_is_given_back_and_nothing_of_fresh_images(audit):
    results = audit.record.results
    assert (results.status, audit.record.status) == ("exceeded", "exceeded")
    assert results.by_chance
    assert (results.trained, results.fresh, results.shadow_models) == (30, 30, 2)
    assert results.trained_copies == 24 + 3 * 10 + 3 * 30
    assert [group.copies for group in results.groups] == [0, 1, 10, 30]
    assert results.groups[-1].reproduced == results.groups[-1].images
    assert results.groups[1].reproduced == 0
    assert results.worst.gain.low > 0.05
    for group in results.groups:
        assert group.fresh.value == 0
        assert group.shadows.value == 0
        assert group.fresh.trials == results.fresh_outliers  # chance repeats: all are alike


def test_the_same_seed_gives_the_same_numbers(audit, load):
    again = narcissus.run(load())
    assert again.record.results == audit.record.results
    other = narcissus.run(load(run={"seed": 5}))
    assert other.record.results != audit.record.results


def test_the_record_is_read_again(audit, tmp_path):
    audit.save(tmp_path)
    assert read_record(tmp_path / "record.json").results == audit.record.results


def test_a_model_that_learnt_nothing_by_heart_shows_no_gain(load):
    found = narcissus.run(load(model={"name": "mixture", "components": 1})).record
    assert found.status == "inconclusive"
    for group in found.results.groups:
        assert group.gain.low <= 0 <= group.gain.high


def test_what_is_left_out_is_not_there(load):
    data = {"images": "images.npy", "shadows": 0}
    found = narcissus.run(load(data=data, duplicates=None, threshold=None, pictures=0)).record
    results = found.results
    assert (results.trained, results.fresh, results.shadow_models) == (45, 45, 0)
    assert (results.captions, results.pictures, len(results.groups)) == (1, (), 1)
    assert found.status == "no threshold"
    assert any("shadow model" in one.reason for one in found.not_assessed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": {"images": "none.npy"}}, r"none\.npy"),
        ({"data": {"images": "captions.txt"}}, r"\.npy"),
        ({"data": {"images": "images.npy", "fresh": "images.npy"}}, "model in a folder"),
        ({"model": {"name": "unit"}}, "unet"),
        ({"relation": {"close": 0.3, "unique": 0.2}}, "below `unique`"),
        ({"duplicates": {"each": 20, "copies": [2, 3]}}, "make `each` smaller"),
        ({"duplicates": {"copies": [1]}}, "copies"),
        ({"threshold": {}}, "gain"),
        ({"atempts": {}}, "atempts"),
    ],
)
def test_what_cannot_be_played_is_refused(load, changes, said):
    with pytest.raises((InputError, StudyError), match=said):
        load(**changes)


def test_where_no_image_is_unlike_the_others_it_is_said(load):
    with pytest.raises(InputError, match=r"make `relation\.unique` smaller"):
        narcissus.run(load(relation={"close": 0.1, "unique": 0.9}))


@pytest.mark.parametrize("option", ["policy", "internal"])
def test_options_of_other_kinds_are_refused(load, option, tmp_path):
    study = load()
    options = RunOptions(1, observer=None, **{option: tmp_path / "x"})
    kind = narcissus.study.kinds.study_kind("image-model")
    with pytest.raises(InputError, match="models of images"):
        kind.play(study.settings, tmp_path, options)


@pytest.mark.parametrize("name", ["unet", "folder"])
def test_without_torch_the_extra_is_named_when_the_study_is_loaded(
    load, tmp_path, monkeypatch, name
):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "model" / "unet").mkdir(parents=True)
    index = {"_class_name": "DDPMPipeline", "unet": ["diffusers", "UNet2DModel"]}
    (tmp_path / "model" / "model_index.json").write_text(json.dumps(index))
    (tmp_path / "model" / "unet" / "model.safetensors").write_bytes(b"\0" * 16)
    model = {"name": name, **({"model": "model"} if name == "folder" else {})}
    with pytest.raises((MissingExtraError, StudyError), match=r"narcissus\[images\]"):
        load(model=model)


def test_sides_of_images_that_no_network_takes_are_refused_before_training(load, tmp_path):
    pytest.importorskip("torch", reason="torch is no part of the test environment")
    np.save(tmp_path / "odd.npy", np.random.default_rng(1).uniform(size=(30, 5, 5)))
    with pytest.raises((InputError, StudyError), match="multiples of 4"):
        load(data={"images": "odd.npy"}, model={"name": "unet"})
