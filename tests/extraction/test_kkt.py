"""Training digits read out of an over-parametrised classifier, and none out of a noisy one."""

from dataclasses import replace

import numpy as np
import pytest

from narcissus.errors import StoreError
from narcissus.extraction.classifier import TrainedClassifier, noisy_guarantee, train_classifier
from narcissus.extraction.files import DataSet
from narcissus.extraction.kkt import KktAttack, kkt_reconstruct
from narcissus.extraction.pool import Pool
from narcissus.extraction.ranking import lead_over_shadows
from narcissus.extraction.relations import Close
from narcissus.game import Game, play

CLOSE = 0.85  # normalised cross-correlation of a recognisable digit


@pytest.fixture(scope="module")
def digits():
    data = pytest.importorskip(
        "sklearn.datasets", reason="the extra `learn` is not installed"
    ).load_digits()
    rows, labels = data.data / 8 - 1, np.where(data.target % 2 == 0, 1.0, -1.0)
    return rows - rows.mean(axis=0), labels


@pytest.fixture(scope="module")
def world(digits):
    rows, labels = digits
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    chosen = np.concatenate([order[labels[order] > 0][:20], order[labels[order] < 0][:20]])
    rest = np.setdiff1d(order, chosen)
    shadows = [rows[rng.choice(rest, 40, replace=False)] for _ in range(19)]
    return rows[chosen], labels[chosen], shadows


def count(rows, points):
    if not len(points):
        return 0
    return int(Close(1, correlation=CLOSE).reconstructed(rows, points).sum())


@pytest.mark.nightly
@pytest.mark.states("Narcissus theory", "10")
def test_ten_training_digits_and_hardly_a_fresh_one(world):
    rows, labels, shadows = world
    net = train_classifier(rows, labels, width=400, rng=1)
    assert ((net(rows) * labels) > 0).all()
    found = kkt_reconstruct(net, box=2, points=80, starts=1, steps=300, rng=2)
    hits = count(rows, found.points)
    fresh = [count(shadow, found.points) for shadow in shadows]
    assert hits >= 10
    assert max(fresh) <= 2
    assert lead_over_shadows(hits, fresh) == 0.05
    # as a relation on printed output
    output = "\n".join(" ".join(f"{x:.3f}" for x in row) for row in found.points).encode()
    assert Close(10, correlation=CLOSE).counts(DataSet.of_rows(rows), output)
    assert not Close(10, correlation=CLOSE).counts(DataSet.of_rows(shadows[0]), output)


def test_strong_noise_leaves_nothing(world):
    rows, labels, shadows = world
    net = train_classifier(rows, labels, width=400, steps=200, noise=20.0, rng=1)
    assert noisy_guarantee(200, 20.0).mu < 1.5
    found = kkt_reconstruct(net, box=2, points=80, starts=1, steps=100, rng=2)
    hits = count(rows, found.points)
    assert hits == 0
    assert lead_over_shadows(hits, [count(s, found.points) for s in shadows]) > 0.05


def test_an_interrupted_run_continues(world, tmp_path):
    rows, labels, _ = world
    net = train_classifier(rows, labels, width=60, steps=500, rng=1)
    options = {"box": 2, "points": 20, "steps": 20, "folder": tmp_path}
    whole = kkt_reconstruct(net, **{**options, "folder": None}, starts=3, rng=5)
    kkt_reconstruct(net, **options, starts=2, rng=5)
    before = (tmp_path / "start-0.npz").stat().st_mtime_ns
    again = kkt_reconstruct(net, **options, starts=3)
    assert (tmp_path / "start-0.npz").stat().st_mtime_ns == before
    assert np.array_equal(again.points, whole.points)
    with pytest.raises(StoreError, match="another network"):
        kkt_reconstruct(net.scaled(1.0).__class__(net.W * 2, net.b, net.v), **options)
    with pytest.raises(StoreError, match="another seed"):
        kkt_reconstruct(net, **options, rng=6)


def test_digits_in_a_network_as_a_game(digits):
    """More than one digit of the data is read off its network, and of a fresh draw hardly one."""
    rows, labels = digits
    game = Game(Pool(rows, 12, labels), TrainedClassifier(150, 4000), Close(2, correlation=CLOSE))
    one = play(game, KktAttack(2, 24, starts=0), trials=3, stop=False, rng=1).attackers[0]
    assert one.failed == 0
    assert (one.success.value, one.baseline.value) == (1, 0)
    noisy = replace(game, mechanism=TrainedClassifier(150, 100, noise=20.0))
    assert (
        play(noisy, KktAttack(2, 24, starts=0), trials=3, stop=False, rng=1)
        .attackers[0]
        .success.value
        == 0
    )
