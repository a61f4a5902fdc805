"""All limits hold at once, each at its share of the error; pictures are those that are shown."""

import base64

import numpy as np
import pytest

import narcissus
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.report import render_text


def test_every_limit_is_a_claim(audit):
    results = audit.record.results
    limits = [one for g in results.groups for one in (g.fresh, g.shadows) if one is not None]
    assert results.claims == len(limits) == 8
    assert results.claim_confidence == each_confidence(0.95, 8)
    assert {one.confidence for one in limits} == {results.claim_confidence}


def test_limits_are_those_of_the_counts(audit):
    whole = audit.record.results.whole
    fresh = whole.fresh
    wanted = clopper_pearson(0, fresh.trials, confidence=fresh.confidence)
    assert (fresh.low, fresh.high) == (wanted.low, wanted.high)
    assert whole.gain.low == pytest.approx(whole.share - fresh.high)


def test_one_shadow_model_is_counted_and_several_are_averaged(audit, load, tmp_path):
    assert all("bet" in g.shadows.method.lower() for g in audit.record.results.groups)
    data = {"images": "images.npy", "captions": "captions.txt", "shadows": 1}
    one = narcissus.run(load(data=data)).record.results
    assert all("clopper" in g.shadows.method.lower() for g in one.groups)


def test_images_that_come_several_times_are_held_against_fresh_ones_that_do(load, tmp_path):
    """Without [duplicates] it is not chance that repeats an image."""
    load()
    images = np.load(tmp_path / "images.npy")
    images = np.concatenate([images, images[:40], images[:40]])
    np.save(tmp_path / "images.npy", images)
    (tmp_path / "captions.txt").write_text("x\n" * len(images))
    study = {
        "kind": "image-model",
        "data": {"images": "images.npy"},
        "model": {"name": "mixture", "components": 2},
    }
    results = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record.results
    assert [group.copies for group in results.groups] == [0, 1, 3]
    parts = results.groups[1:]
    assert sum(group.fresh.trials for group in parts) == results.fresh_outliers


def test_pictures_are_of_every_number_of_copies_and_hold_the_pixels(audit):
    results = audit.record.results
    assert len(results.pictures) == 5
    assert {one.copies for one in results.pictures} == {1, 10, 30}
    assert results.shown_shape == (4, 4, 1)
    for one in results.pictures:
        rows = [
            np.frombuffer(base64.b64decode(text), dtype=np.uint8) / 255.0
            for text in (one.generated, one.trained, one.fresh)
        ]
        for row, distance in zip(rows[1:], (one.to_trained, one.to_fresh), strict=True):
            assert abs(np.sqrt(np.mean((rows[0] - row) ** 2)) - distance) < 0.5 / 255 + 1e-9
        assert one.reproduced == (one.copies == 30) or one.copies == 10
        assert one.to_fresh > results.close


def test_large_images_are_shrunk(load, tmp_path):
    rng = np.random.default_rng(1)
    np.save(tmp_path / "large.npy", np.kron(rng.uniform(size=(30, 25, 2)), np.ones((1, 4, 4))))
    data = {"images": "large.npy", "shadows": 0}
    study = load(data=data, duplicates=None, model={"name": "mixture", "components": 2},
                 relation={"close": 0.01, "unique": 0.02}, pictures=1,
                 attempts={"samples": 5, "keep": 1})  # fmt: skip
    results = narcissus.run(study).record.results
    assert (results.shape, results.shown_shape) == ((100, 8, 1), (33, 2, 1))


def test_groups_of_few_images_are_merged(load):
    audit = narcissus.run(load(duplicates={"each": 6, "copies": [10, 30]}, groups={}))
    results = audit.record.results
    groups = [(one.copies, one.and_copies, one.images) for one in results.groups[1:]]
    assert groups == [(1, None, 18), (10, (30,), 12)]
    assert min(one.shadows.trials for one in results.groups if one.shadows) >= 10
    assert results.merged.merged == {"number of copies": 2}
    assert "10 or 30 copies" in render_text(audit.record)
    assert set(audit.to_frame()["group"].dropna()) == {"10 or 30 copies"}
