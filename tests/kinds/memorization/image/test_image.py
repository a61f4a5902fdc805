"""Studies of models of images: what they find, limits of all claims, pictures, words and page."""

import base64
import io
import json
import re
import sys

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

import narcissus
from narcissus.errors import InputError, MissingExtraError, StudyError
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.extraction.image_models import CaptionlessMixture
from narcissus.kinds.memorization.image.kind import KIND, ImageResult
from narcissus.kinds.memorization.image.layout import LAYOUT
from narcissus.observer import SILENT
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.study.kinds import RunOptions
from narcissus.study.reading import read_record


def worst_of(groups):
    """Return the group with the largest gain for certain."""
    return max(groups, key=lambda group: group.shown_gain)


def groups_of(record):
    return record.result.groups


def test_what_came_often_is_given_back_and_nothing_of_fresh_images(audit):
    record, result = audit.record, audit.record.result
    assert (record.status, result.by_chance) == ("exceeded", True)
    assert (result.trained, result.fresh, result.shadow_models) == (30, 30, 2)
    assert result.trained_copies == 24 + 3 * 10 + 3 * 30
    groups = groups_of(record)
    assert [group.copies for group in groups] == [(), (1,), (10,), (30,)]
    assert groups[-1].recovered == groups[-1].total
    assert groups[1].recovered == 0
    assert worst_of(groups).shown_gain > 0.05
    for group in groups:
        assert group.fresh.value == group.shadows.value == 0
        assert group.fresh.trials == result.fresh_outliers  # chance repeats: all are alike


def test_the_same_seed_gives_the_same_numbers_and_is_read_again(audit, load, tmp_path):
    assert narcissus.run(load()).results == audit.results
    assert narcissus.run(load(run={"seed": 5})).results != audit.results
    audit.save(tmp_path)
    assert read_record(tmp_path / "record.json") == audit.record


def test_a_model_that_learnt_nothing_by_heart_shows_no_gain(load):
    found = narcissus.run(load(model={"name": "mixture", "components": 1})).record
    assert found.status == "inconclusive"
    for group in groups_of(found):
        low, high = group.limits_of_gain
        assert low <= 0 <= high


def test_what_is_left_out_is_not_there(load):
    data = {"images": "images.npy", "shadows": 0}
    found = narcissus.run(load(data=data, duplicates=None, threshold=None, pictures=0)).record
    result = found.result
    assert (result.trained, result.fresh, result.shadow_models) == (45, 45, 0)
    assert (result.captions, result.pictures, len(groups_of(found))) == (1, (), 1)
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
    options = RunOptions(1, observer=SILENT, **{option: tmp_path / "x"})
    with pytest.raises(InputError, match=r"--policy|--records"):
        KIND.play(load().settings, tmp_path, options)


@pytest.mark.parametrize("name", ["unet", "folder"])
def test_without_torch_the_extra_is_named_when_the_study_is_loaded(
    load, tmp_path, monkeypatch, name
):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "model" / "unet").mkdir(parents=True)
    index = {"_class_name": "DDPMPipeline", "unet": ["diffusers", "UNet2DModel"]}
    (tmp_path / "model" / "model_index.json").write_text(json.dumps(index))
    (tmp_path / "model" / "unet" / "model.safetensors").write_bytes(b"\2" + b"\0" * 7 + b"{}")
    model = {"name": name, **({"model": "model"} if name == "folder" else {})}
    with pytest.raises((MissingExtraError, StudyError), match=r"diffusers>="):
        load(model=model)


def test_sides_of_images_that_no_network_takes_are_refused_before_training(load, tmp_path):
    pytest.importorskip("torch", reason="torch is no part of the test environment")
    np.save(tmp_path / "odd.npy", np.random.default_rng(1).uniform(size=(30, 5, 5)))
    with pytest.raises((InputError, StudyError), match="multiples of 4"):
        load(data={"images": "odd.npy"}, model={"name": "unet"})


def test_every_limit_is_a_claim_and_that_of_its_count(audit):
    limits = [row.quantity for row in audit.record.rows if row.quantity.confidence is not None]
    assert audit.record.result.claims == len(limits) == 8
    assert {one.confidence for one in limits} == {each_confidence(0.95, 8)}
    whole = groups_of(audit.record)[0]
    wanted = clopper_pearson(0, whole.fresh.trials, confidence=whole.fresh.confidence)
    assert (whole.fresh.low, whole.fresh.high) == (wanted.low, wanted.high)
    assert -1 < whole.limits_of_gain[0] <= whole.share - whole.fresh.high


def test_one_shadow_model_is_counted_and_several_are_averaged(audit, load, tmp_path):
    data = {"images": "images.npy", "captions": "captions.txt", "shadows": 1}
    one, several = (groups_of(r) for r in (narcissus.run(load(data=data)).record, audit.record))
    for groups, is_counted in ((one, True), (several, False)):
        for group in groups:
            found = group.shadows
            counted = clopper_pearson(0, found.trials, confidence=found.confidence)
            assert (found.high == counted.high) == is_counted


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
        "run": {"seed": 1},
    }
    record = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record
    _, *parts = groups_of(record)
    assert [group.copies for group in parts] == [(1,), (3,)]
    assert sum(group.fresh.trials for group in parts) == record.result.fresh_outliers


def test_pictures_are_of_every_number_of_copies_and_hold_the_pixels(audit):
    result = audit.record.result
    assert len(result.pictures) == 5
    assert {one.copies for one in result.pictures} == {1, 10, 30}
    assert result.shown_shape == (4, 4, 1)
    for one in result.pictures:
        rows = [
            np.frombuffer(base64.b64decode(text), dtype=np.uint8) / 255.0
            for text in (one.generated, one.trained, one.fresh)
        ]
        for row, distance in zip(rows[1:], (one.to_trained, one.to_fresh), strict=True):
            assert abs(np.sqrt(np.mean((rows[0] - row) ** 2)) - distance) < 0.5 / 255 + 1e-9
        assert one.reproduced == (one.copies == 30) or one.copies == 10
        assert one.to_fresh > result.close
    said = result.model_dump()
    for key, value in (("fresh", "AAAA"), ("generated", "no base64!")):
        pictures = ({**said["pictures"][0], key: value},)
        with pytest.raises(ValidationError, match="pixels"):
            ImageResult.model_validate({**said, "pictures": pictures})
    with pytest.raises(ValidationError, match="pixels"):
        ImageResult.model_validate({**said, "shown_shape": (4, 4, 3)})


def test_large_images_are_shrunk(load, tmp_path):
    rng = np.random.default_rng(1)
    np.save(tmp_path / "large.npy", np.kron(rng.uniform(size=(30, 25, 2)), np.ones((1, 4, 4))))
    data = {"images": "large.npy", "shadows": 0}
    study = load(data=data, duplicates=None, model={"name": "mixture", "components": 2},
                 relation={"close": 0.01, "unique": 0.02}, pictures=1,
                 attempts={"samples": 5, "keep": 1})  # fmt: skip
    result = narcissus.run(study).record.result
    assert (result.shape, result.shown_shape) == ((100, 8, 1), (33, 2, 1))


def test_groups_of_few_images_are_merged(load):
    audit = narcissus.run(load(duplicates={"each": 6, "copies": [10, 30]}, groups={}))
    groups = groups_of(audit.record)
    assert [(one.words("all"), one.total) for one in groups[1:]] == [
        ("1 copy", 18), ("10 or 30 copies", 12),
    ]  # fmt: skip
    shadows = [one.shadows for one in groups]
    assert min(one.trials for one in shadows if one) >= 10
    assert audit.record.result.merged.merged == {"number of copies": 2}
    assert "10 or 30 copies" in render_text(audit.record)
    assert set(audit.to_frame()["group"].dropna()) == {"10 or 30 copies"}


def test_the_verdict_names_counts_and_gain(audit):
    groups = groups_of(audit.record)
    whole, worst, said = groups[0], worst_of(groups), audit.verdict
    assert said == LAYOUT.verdict(KIND.judged(audit.record))
    case = KIND.judged(audit.record)
    shown = case.decided_by.about
    fresh = shown.fresh.trials
    assert f"gives back 0 of {fresh} {LAYOUT.outliers} that the model never saw" in said
    assert f"gives back {shown.recovered} of {shown.total} outliers" in said
    assert shown is worst or audit.status != "exceeded"
    # 2 of 10: chance alone may give as many
    assert whole.gain.value > 0 >= whole.shown_gain
    assert ("No gain is shown" in said) == (shown.shown_gain <= 0)
    if shown is worst:
        least = float(said.partition("The gain is +")[2].partition(" to ")[0])
        assert 100 * worst.shown_gain - 0.1001 <= least <= 100 * worst.shown_gain  # rounded down


def test_what_is_missing_is_named(audit):
    case = KIND.judged(audit.record)
    assert not list(LAYOUT.not_assessed(case))
    whole = case.result.groups[0].model_copy(update={"fresh": None, "shadows": None})
    lacking = case.result.model_copy(update={"groups": (whole,)})
    alone = KIND.conclude(KIND.found(case.findings.criteria, lacking))
    found = list(LAYOUT.not_assessed(alone))
    assert ["never saw" in found[0].quantity, "shadow" in found[1].quantity] == [True, True]
    assert alone.status == "too few trials"  # a share without fresh ones may be gain


@pytest.fixture(scope="module")
def kept(kept_audit):
    """The kept audit, with a caption that is no HTML, and a reason."""
    record = kept_audit("image-model").record
    first, *others = record.result.pictures
    named = first.model_copy(update={"caption": "a <image of> it"})
    result = record.result.model_copy(update={"pictures": (named, *others[:2])})
    study = {**record.study, "threshold": {"gain": 0.01, "reason": "so few"}}
    return narcissus.Audit(record.model_copy(update={"result": result, "study": study}))


def test_one_number_of_copies_over_the_threshold_is_enough(kept):
    """The status is that of the group with the largest gain, whatever the others hide."""
    groups, record = groups_of(kept.record), kept.record
    assert worst_of(groups).copies == (20,)
    assert groups[0].shown_gain < 0.2 < worst_of(groups).shown_gain
    for most, status in ((0.2, "exceeded"), (0.999, "too few trials")):
        criteria = (record.criteria[0].model_copy(update={"at_most": most}),)
        assert KIND.conclude(KIND.found(criteria, record.result)).status == status


def test_the_counts_have_their_picture_with_the_numbers_behind_it(kept):
    blocks = (b for s in page_of(kept.record, internal=True).sections for b in s.blocks)
    figures = {b.name: b for b in blocks if isinstance(b, Figure)}
    assert list(figures) == ["copies"]
    groups, table = groups_of(kept.record), figures["copies"].table
    assert [row[0] for row in table.rows] == ["all outliers", "1 copy", "5 copies", "20 copies"]
    assert [row[2] for row in table.rows] == [group.recovered for group in groups]
    shown = table.rows[0][5].rpartition("to")[2].strip().rstrip("%")
    high = groups[0].fresh.high
    assert high <= float(shown) / 100 < high + 0.0011  # rounded up
    assert set(table.grades) == {"sampled"}
    drawn = {round(float(x), 9) for line in kept.plot("copies").lines for x in line.get_xdata()}
    assert {round(group.share, 9) for group in groups} <= drawn


def test_a_page_allows_pictures_inside_it_only_where_it_has_some(kept):
    html = render_html(kept.record, internal=True)
    result = kept.record.result
    files = re.findall(r'<img src="data:image/png;base64,([^"]+)"', html)
    assert len(files) == html.count("<img") == 9
    one = result.pictures[1]
    for file, raw in zip(files[3:6], (one.generated, one.trained, one.fresh), strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(file))))
        assert pixels.tobytes() == base64.b64decode(raw)
    said = [f"<td>{one.to_trained:.3f}</td>", "<td>yes</td>" if one.reproduced else "<td>no</td>"]
    assert all(words in html for words in said)
    assert "a &lt;image of&gt; it" in html
    assert "of 4 outliers" in repr(kept)
    assert "so few" in html
    assert "default-src 'none'; img-src data:; style-src" in html
    assert "<script" not in html
    assert not re.findall(r'(?:href|src)="(?!data:image/png|#)', html)
    without = kept.record.model_copy(update={"result": KIND.to_show(result)})
    assert "img-src" not in render_html(without)
    assert "Pictures" not in [s.title for s in page_of(without).sections]


@pytest.mark.parametrize("stop", [0, 1, 3])
def test_a_study_that_was_interrupted_asks_for_no_caption_again(
    audit, load, tmp_path, monkeypatch, stop
):
    asked, sample = [], CaptionlessMixture.sample

    def watched(self, count, *, caption="", rng=None):
        if len(asked) >= limit:
            raise KeyboardInterrupt
        asked.append(caption)
        return sample(self, count, caption=caption, rng=rng)

    monkeypatch.setattr(CaptionlessMixture, "sample", watched)
    limit = stop
    with pytest.raises(KeyboardInterrupt):
        narcissus.run(load(), folder=tmp_path / "out")
    limit = 10**9
    found = narcissus.run(load(), folder=tmp_path / "out")
    assert found.results == audit.results
    assert sorted(asked) == ["word 0"] * 3 + ["word 1"] * 3  # of a model and two shadows
    limit = 0
    assert narcissus.run(load(), folder=tmp_path / "out").results == audit.results
    with pytest.raises(KeyboardInterrupt):  # other attempts are made anew
        narcissus.run(load(attempts={"samples": 99, "keep": 10}), folder=tmp_path / "out")
