"""Training digits read out of an over-parametrised classifier, and none out of a noisy one."""

import numpy as np
import pytest
from scipy import optimize

from narcissus.errors import InputError, StoreError
from narcissus.extraction.classifier import TwoLayerNet, noisy_guarantee, train_classifier
from narcissus.extraction.files import DataSet
from narcissus.extraction.kkt import kkt_loss, kkt_reconstruct
from narcissus.extraction.neuron_pairs import neuron_pairs
from narcissus.extraction.ranking import lead_over_shadows
from narcissus.extraction.relations import Close

CLOSE = 0.85  # normalised cross-correlation of a recognisable digit


@pytest.fixture(scope="module")
def world():
    data = pytest.importorskip("sklearn.datasets").load_digits()
    rows, labels = data.data / 8 - 1, np.where(data.target % 2 == 0, 1.0, -1.0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    chosen = np.concatenate([order[labels[order] > 0][:20], order[labels[order] < 0][:20]])
    mean = rows.mean(axis=0)
    rest = np.setdiff1d(order, chosen)
    shadows = [rows[rng.choice(rest, 40, replace=False)] - mean for _ in range(19)]
    return rows[chosen] - mean, labels[chosen], shadows


def count(rows, points):
    if not len(points):
        return 0
    return int(Close(1, correlation=CLOSE).reconstructed(rows, points).sum())


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


def test_pairs_of_neurons_give_points_exactly():
    """At an exact point of the conditions the closed form is exact."""
    rng = np.random.default_rng(3)
    # Points with inner products just below -1: then every set of points is where some neuron is on.
    gram = np.full((3, 3), -1.05) + 6 * np.eye(3)
    points = np.linalg.cholesky(gram) @ np.linalg.qr(rng.normal(size=(6, 3)))[0].T
    multipliers, v = np.array([0.7, 0.4, 0.5]), rng.uniform(0.5, 1.5, 8)
    on = np.array([[(j >> i) & 1 for i in range(3)] for j in range(8)])
    both = np.concatenate([points, np.ones((3, 1))], axis=1)
    first = v[:, None] * ((on * multipliers) @ both)
    net = TwoLayerNet(first[:, :-1], first[:, -1], v)
    assert (on.astype(bool) == (points @ net.W.T + net.b > 0).T).all()  # it is such a point
    found = neuron_pairs(net, box=10, keep=50)
    apart = np.linalg.norm(points[:, None] - found[None], axis=2).min(axis=1)
    assert apart.max() < 1e-9


def test_gradient():
    rng = np.random.default_rng(4)
    net = TwoLayerNet(rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=7))
    labels = np.array([1.0, -1, 1, -1])

    def split(flat):
        return flat[:12].reshape(4, 3), flat[12:]

    def loss(flat):
        return kkt_loss(net, *split(flat), labels, steepness=3.0)[0]

    def gradient(flat):
        _, by_points, by_roots = kkt_loss(net, *split(flat), labels, steepness=3.0)
        return np.concatenate([by_points.ravel(), by_roots])

    for _ in range(5):
        assert optimize.check_grad(loss, gradient, rng.normal(size=16)) < 1e-3


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


def test_bad_input():
    with pytest.raises(InputError, match="labels"):
        train_classifier(np.zeros((3, 2)), [1, 1, 1])
    with pytest.raises(InputError, match="finite"):
        train_classifier([[np.nan], [1]], [1, -1])
