"""The kind as a whole: what it finds, that it goes on where it stopped, what it refuses."""

import pickle

import numpy as np
import pytest

import narcissus
from narcissus.errors import InputError, LongWorkError, StoreError, StudyError
from narcissus.study.classifier.kind import AttacksNetworks

from .conftest import GIVEN


def test_training_images_are_found_and_hardly_a_fresh_one(audit):
    results = audit.record.results
    assert (audit.record.status, results.status) == ("exceeded", "exceeded")
    assert (results.network, results.fitted, results.trained) == ("64-40-10", 1.0, 12)
    blind, informed = results.attacks
    assert blind.recovered >= 4
    assert blind.gain.low > 0.2
    assert blind.chance < 1e-4
    assert max(blind.shadows) < blind.recovered
    assert blind.shadow_chance == pytest.approx(1 / 3)
    assert informed.images == 3
    assert informed.named >= 1


def test_another_seed_gives_other_numbers(audit, load):
    other = narcissus.run(load(run={"seed": 5}, informed=False)).record
    assert other.results.attacks[0] != audit.record.results.attacks[0]


def test_a_network_that_was_stopped_early_gives_little_away(load):
    """After one step nothing has been learnt: the limits of the gain hold zero."""
    found = narcissus.run(load(training={"steps": 1}, informed=False)).record
    assert found.status in ("inconclusive", "too few trials")
    [blind] = found.results.attacks
    assert blind.gain.low <= 0
    assert blind.chance > 0.01
    assert found.results.fitted < 1
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
    assert resumed.record.results == audit.record.results
    again.clear()
    # more targets play those alone
    narcissus.run(load(informed={"targets": 4}), folder=tmp_path, engine="serial")
    assert again == ["informed/3"]
    with pytest.raises(StoreError, match="training"):
        narcissus.run(load(training={"steps": 9}), folder=tmp_path)


def test_a_network_of_ones_own(load):
    found = narcissus.run(load(GIVEN, weights={"shadows": ["shadow.npz", "other.npz"]})).record
    assert found.status == "no threshold"
    blind, informed = found.results.attacks
    assert not found.results.by_chance
    assert found.results.fitted is None
    assert blind.recovered > max(blind.shadows)
    assert blind.gain.low > 0
    assert blind.shadow_chance == pytest.approx(1 / 3)
    assert blind.shown == informed.shown == ()  # single images only where they are asked for
    assert any("same way" in text for text in found.assumptions)
    assert "network" in found.provenance.digests


def test_without_shadows_that_is_said(load):
    found = narcissus.run(load(GIVEN, informed=False)).record
    assert found.results.attacks[0].shadow_chance is None
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
    with pytest.raises(InputError, match="pictures"):
        narcissus.run(load(), internal=tmp_path / "own.csv")


def test_images_of_one_class_are_refused_before_training(load, folder):
    images = np.random.default_rng(0).normal(size=(60, 3, 3))
    np.savez(folder / "alike.npz", images=images, labels=np.zeros(60))
    with pytest.raises(InputError, match="one class"):
        narcissus.run(load(data={"images": "alike.npz"}))
