"""Studies of classifiers: what they find, that they go on, limits of counts, words and page."""

import base64
import io
import pickle
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.image import imread
from pydantic import ValidationError

import narcissus
from narcissus.errors import InputError, LongWorkError, StoreError, StudyError
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.extraction.images import ImageLayout
from narcissus.kinds.memorization.classifier.kind import (
    KIND,
    AttacksNetworks,
    ClassifierResult,
    ImageSides,
    ReconstructedPoints,
)
from narcissus.kinds.memorization.classifier.layout import LAYOUT
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.report.format import percent

from .conftest import GIVEN


def test_training_images_are_found_and_hardly_a_fresh_one(audit):
    result = audit.record.result
    assert audit.record.status == "exceeded"
    assert (result.network, result.fitted, result.trained) == ("64-40-10", 1.0, 12)
    blind, informed = result.attacks
    assert blind.recovered >= 4
    assert blind.shown_gain > 0.1
    assert blind.chance < 1e-4
    assert max(blind.shadows) < blind.recovered
    assert blind.lead == pytest.approx(1 / 3)
    assert informed.total == 3
    assert informed.named >= 1


def test_another_seed_gives_other_numbers(audit, load):
    other = narcissus.run(load(run={"seed": 5}, informed=False)).record
    assert other.result.attacks[0] != audit.record.result.attacks[0]


def test_a_network_that_was_stopped_early_gives_little_away(load):
    """After one step nothing has been learnt: the limits of the gain hold zero."""
    found = narcissus.run(load(training={"steps": 1}, informed=False)).record
    assert found.status in ("inconclusive", "too few trials")
    [blind] = found.result.attacks
    assert blind.limits_of_gain[0] <= 0
    assert blind.chance > 0.01
    assert found.result.fitted < 1
    assert any("trained to the end" in one.quantity for one in found.not_assessed)


def test_a_run_that_was_stopped_goes_on(load, tmp_path, monkeypatch, audit):
    play, seen = AttacksNetworks.__call__, []

    def until_interrupted(self, key):
        seen.append(key)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return play(self, key)

    monkeypatch.setattr(AttacksNetworks, "__call__", until_interrupted)
    with pytest.raises(KeyboardInterrupt):
        narcissus.run(load(), folder=tmp_path, engine="serial")
    monkeypatch.undo()
    again = []

    def counted(self, key):
        again.append(key)
        return play(self, key)

    monkeypatch.setattr(AttacksNetworks, "__call__", counted)
    resumed = narcissus.run(load(), folder=tmp_path, engine="serial")
    assert not set(seen[:2]) & set(again)
    assert resumed.results == audit.results
    again.clear()
    # more targets play those alone
    narcissus.run(load(informed={"targets": 4}), folder=tmp_path, engine="serial")
    assert again == ["informed/3"]
    with pytest.raises(StoreError, match="training"):
        narcissus.run(load(training={"steps": 9}), folder=tmp_path)


def test_a_network_of_ones_own(load):
    found = narcissus.run(load(GIVEN, weights={"shadows": ["shadow.npz", "other.npz"]})).record
    assert found.status == "no threshold"
    blind, informed = found.result.attacks
    assert not found.result.by_chance
    assert found.result.fitted is None
    assert blind.recovered > max(blind.shadows)
    assert blind.shown_gain > 0
    assert blind.lead == pytest.approx(1 / 3)
    assert blind.shown == informed.shown == ()  # single images only where they are asked for
    assert any("same way" in text for text in found.assumptions)
    assert "network" in found.provenance.digests


def test_without_shadows_that_is_said(load):
    found = narcissus.run(load(GIVEN, informed=False)).record
    assert [attack.lead for attack in found.result.attacks] == [None]
    assert any("weights.shadows" in one.remedy for one in found.not_assessed)


def test_weights_that_are_a_pickle_are_refused(load, folder):
    (folder / "net.pt").write_bytes(pickle.dumps({"fc1.weight": 1}))
    with pytest.raises(InputError, match="pickle"):
        load(GIVEN, weights={"file": "net.pt"})


@pytest.mark.parametrize(
    ("base", "changes", "said"),
    [
        ("trained", {"data": {"images": "none.npz"}}, r"no such file.*none\.npz"),
        ("trained", {"training": {"images": 200}}, "600"),
        ("trained", {"weights": {"file": "net.npz", "layers": ["a", "b"]}}, r"\[weights\]"),
        ("trained", {"training": None}, r"\[training\]"),
        ("trained", {"reconstruction": False, "informed": False}, "informed"),
        ("trained", {"training": {"widths": [3]}}, "hidden|unknown key"),
        ("given", {"data": {"fresh": None}}, "fresh"),
        ("given", {"data": {"fresh": "trained.npz"}}, "12 of the images"),
        ("given", {"data": {"offset": "mean"}}, "subtract"),
        ("given", {"weights": {"layers": ["fc1", "fc3"]}}, "did you mean `fc2.weight`"),
        ("given", {"weights": {"activation": "rleu"}}, "did you mean `relu`"),
        ("given", {"weights": {"shadows": ["net.npz"]}}, "network itself"),
    ],
)
def test_what_cannot_be_played_is_refused_when_it_is_loaded(load, base, changes, said):
    args = [GIVEN] if base == "given" else []
    with pytest.raises((InputError, StudyError), match=said):
        load(*args, **changes)


def test_long_work_and_options_of_other_kinds_are_refused(load, tmp_path):
    with pytest.raises(LongWorkError, match="searches"):
        narcissus.run(load(reconstruction={"starts": 10_000, "steps": 10**6}), hours=0.1)
    with pytest.raises(InputError, match="--records"):
        narcissus.run(load(), internal=tmp_path / "own.csv")


def test_images_of_one_class_are_refused_before_training(load, folder):
    images = np.random.default_rng(0).normal(size=(60, 3, 3))
    np.savez(folder / "alike.npz", images=images, labels=np.zeros(60))
    with pytest.raises(InputError, match="one class"):
        narcissus.run(load(data={"images": "alike.npz"}))


NET = SimpleNamespace(describe=lambda: "9-1", parameters=9, classes=None)


def sides(rng, trained=10, fresh=40):
    rows = rng.normal(size=(trained + fresh, 9))
    none, zeros = np.zeros((0, 9)), np.zeros(9)
    return ImageSides(
        rows[:trained], None, rows[trained:], none, np.zeros(0, dtype=int), 3.0, zeros, 1.0,
        ImageLayout(3, 3),
    )  # fmt: skip


@pytest.fixture
def measured(load):
    """Give the function that limits what points come to: the attacks, as on a page."""
    settings = load(success={"correlation": 0.6}, threshold=None).settings

    def of(shadows, about, pooled, guessed=None, **changes):
        study = settings.model_copy(update=changes)
        made = ReconstructedPoints(pooled, guessed)
        return KIND.measured(study, NET, shadows, about, made).result.attacks

    return of


def test_limits_are_those_of_the_counts(measured):
    rng = np.random.default_rng(1)
    about = sides(rng)
    pooled = [rng.normal(size=(5, 9)) for _ in range(4)]
    blind, informed = measured(3, about, pooled, about.trained[:4])
    alike = np.corrcoef(np.concatenate([about.fresh, pooled[0]]))[:40, 40:] >= 0.6
    count = int(alike.any(axis=1).sum())
    expected = clopper_pearson(count, 40, confidence=each_confidence(0.95, 2))
    assert (blind.fresh.low, blind.fresh.high) == (expected.low, expected.high)
    assert blind.limits_of_gain[0] <= blind.share - expected.high
    assert [len(blind.shadows), blind.points] == [3, 5]
    # whose guesses are the images themselves
    assert (informed.recovered, informed.named, informed.share) == (4, 4, 1.0)
    assert informed.chance == pytest.approx(4 / (4 * 41))
    own = np.corrcoef(np.concatenate([about.fresh, about.trained[:4]]))[:40, 40:]
    taken = own[np.arange(40), np.arange(40) % 4] >= 0.6
    assert informed.fresh.value == taken.mean()


def test_shown_are_the_best_first_beside_the_nearest_fresh_one(measured):
    rng = np.random.default_rng(2)
    about = sides(rng)
    points = np.stack([about.trained[3] + rng.normal(0, 0.2, 9), about.trained[7] * 2 + 1])
    [blind] = measured(0, about, [points])
    first, second = blind.shown
    assert first.correlation == pytest.approx(1)
    assert 0.9 < second.correlation < 1
    nearest = np.corrcoef(np.concatenate([points[1:], about.fresh]))[0, 1:]
    assert first.fresh_correlation == pytest.approx(nearest.max())
    other = replace(about, fresh=about.fresh[[int(nearest.argmax())]])
    [again] = measured(0, other, [points])
    assert again.shown[0].fresh == first.fresh


def test_no_point_is_no_reconstruction(measured):
    [blind] = measured(0, sides(np.random.default_rng(3)), [np.zeros((0, 9))])
    assert (blind.recovered, blind.fresh.value, blind.shown, blind.chance) == (0, 0.0, (), 1.0)


def test_chances_are_no_smaller_than_they_may_be(measured):
    """Points that know nothing: as small a p-value as 0.1 comes at most once in ten times."""
    chances, repeats = [], 300
    rng = np.random.default_rng(4)
    for _ in range(repeats):
        about = sides(rng)
        pooled = [rng.normal(size=(12, 9)) for _ in range(10)]
        guessed = rng.normal(size=(5, 9))
        blind, informed = measured(9, about, pooled, guessed, pictures=0)
        chances.append((blind.chance, informed.chance, blind.lead))
    for level in (0.1, 0.3):
        share = (np.array(chances) <= level).mean(axis=0)
        assert (share <= level + 4 * np.sqrt(level / repeats)).all(), share


def test_the_verdict_has_the_counts_and_rounds_the_gain_down(audit):
    case, text = KIND.judged(audit.record), audit.verdict
    got = case.decided_by.about
    assert text == LAYOUT.verdict(case)
    assert f"gets {got.recovered} of {got.total} images that it was trained on" in text
    said = float(text.partition("The gain is +")[2].partition(" to ")[0])
    assert said <= 100 * got.shown_gain < said + 0.11
    assert "5 more of 100 than of fresh images" in text


def test_what_is_assessed_and_what_is_not(audit):
    case = KIND.judged(audit.record)
    assert [one.split()[0] for one in LAYOUT.assessed(case)] == ["reconstruction"] * 2
    assert not list(LAYOUT.not_assessed(case))
    worse = case.result.model_copy(update={"fitted": 0.5, "shadows": 0})
    case = KIND.conclude(replace(case.findings, result=worse))
    assert [one.remedy.split("`")[1] for one in LAYOUT.not_assessed(case)] == [
        "training.shadows",
        "training.steps",
    ]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("shadows",), 4, "shadow networks"),
        (("attacks", 0, "shown", 0, "training"), '"><script>', "pattern"),
        (("attacks", 0, "shown", 0, "training"), "aGFsbG8=", "pattern"),
        (("attacks", 0, "name"), "another", "reconstruction"),
    ],
)
def test_what_cannot_be_is_refused(kept, path, value, said):
    found = part = kept.record.result.model_dump(mode="json")
    *places, last = path
    for key in places:
        part = part[key]
    part[last] = value
    with pytest.raises(ValidationError, match=said):
        ClassifierResult.model_validate(found, strict=False)


@pytest.fixture(scope="module")
def kept(kept_audit):
    """The kept audit, each attack with all pictures of both."""
    record = kept_audit("classifier").record
    shown = tuple(shown for one in record.result.attacks for shown in one.shown)
    attacks = tuple(one.model_copy(update={"shown": shown}) for one in record.result.attacks)
    result = record.result.model_copy(update={"attacks": attacks})
    return narcissus.Audit(record.model_copy(update={"result": result}))


def test_images_stand_beside_each_other_and_can_be_read_by_others(kept):
    html = render_html(kept.record, internal=True)
    images = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="([^"]+)"', html)
    shown = [one for attack in kept.record.result.attacks for one in attack.shown]
    assert len(shown) == 4
    files = [file for one in shown for file in (one.reconstruction, one.training, one.fresh)]
    assert [file for file, _ in images] == files
    assert html.count("<img") == len(files)
    pixels = [np.asarray(imread(io.BytesIO(base64.b64decode(file)), "png")) for file in files]
    assert {one.shape for one in pixels} == {(8, 8)}
    told = [f"correlation {one.correlation:.2f} with" in alt
            for one, (_, alt) in zip(shown, images[1::3], strict=True)]  # fmt: skip
    assert all(told)
    assert [alt for _, alt in images[::3]] == ["Reconstruction 1", "Reconstruction 2"] * 2
    assert f"{shown[0].correlation:.2f} with the training image" in html
    assert "img-src data:" in html
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    assert "This page shows single images" in html


def test_without_pictures_and_shadows_there_are_none_and_it_says_so(kept):
    result = KIND.to_show(kept.record.result)
    attacks = tuple(one.model_copy(update={"shadows": ()}) for one in result.attacks)
    result = result.model_copy(update={"attacks": attacks, "shadows": 0})
    html = render_html(kept.record.model_copy(update={"result": result}), internal=True)
    assert "<img" not in html
    assert "img-src" not in html
    assert "holds aggregates only" in html
    assert "No image is shown" in html
    assert "networks trained without these images" not in html.split("Method")[0]


def test_numbers_are_those_of_the_record(kept):
    attacks = kept.record.result.attacks
    text = " ".join(render_text(kept.record, internal=True).split())
    assert all(percent(attack.share) in text for attack in attacks)
    blocks = (b for s in page_of(kept.record, internal=True).sections for b in s.blocks)
    [figure] = [b for b in blocks if isinstance(b, Figure)]
    assert [row[2] for row in figure.table.rows] == [attack.recovered for attack in attacks]
    drawn = {round(float(x), 9) for line in kept.plot("attacks").lines for x in line.get_xdata()}
    assert {round(attack.share, 9) for attack in attacks} <= drawn
    assert "of 8 images without" in repr(kept)
    assert "Reconstruction 1" not in text  # images are for the page
    assert f"{attacks[0].shown[0].correlation:.2f} with the training image" in text
