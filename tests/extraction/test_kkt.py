"""Training digits read out of an over-parametrised classifier, and none out of a noisy one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from narcissus.errors import InputError, StoreError
from narcissus.extraction.classifier import (
    DenseNet,
    TrainedClassifier,
    TwoLayerNet,
    noisy_guarantee,
    train_classifier,
    train_dense,
)
from narcissus.extraction.files import DataSet, Pool
from narcissus.extraction.kkt import (
    KktAttack,
    by_roots,
    coefficients,
    informed_reconstruct,
    kkt_reconstruct,
    neuron_pairs,
    single_neurons,
    unexplained,
)
from narcissus.extraction.ngram import lead_over_shadows
from narcissus.extraction.relations import Close
from narcissus.game import Game, play

from .test_classifier import made, random_net

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


@pytest.mark.nightly
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


def net_of(weight, bias):
    return DenseNet((np.array(weight), np.ones((3, len(bias)))), (np.array(bias), np.zeros(3)))


def test_a_neuron_of_one_point_is_that_point_and_what_more_say_comes_first():
    points = np.random.default_rng(1).uniform(-1, 1, (2, 5))
    factors = [(0, 2.0), (1, 0.5), (1, 3.0)]
    weight = [a * points[i] for i, a in factors]
    net = net_of(weight, [a for _, a in factors])
    found = single_neurons(net, box=1, keep=5)
    assert np.allclose(found, points[[1, 0]])
    assert np.allclose(single_neurons(net, box=1, keep=1), points[1:])


def test_what_is_outside_the_box_inactive_or_without_a_bias_is_no_point():
    point = np.array([0.5, -0.5, 0.2])
    net = net_of([point, -point, 9 * point], [0.0, -1.0, 1.0])
    assert single_neurons(net, box=1, keep=5).shape == (0, 3)
    assert len(single_neurons(net, box=5, keep=5)) == 1


M = 4
NETS = {
    **{"-".join(map(str, s)): random_net(*s)
       for s in [(3, 7, 1), (3, 6, 4), (3, 6, 5, 4), (3, 6, 5, 4, 1)]},
    "convolutions": made(scale=0.7),
}  # fmt: skip


@pytest.mark.parametrize("name", NETS)
def test_it_is_the_distance_to_the_sum_of_gradients(name):
    """With a step for the sigmoid: gradients of sum <c, f(x)> by the kernels, numerically."""
    net, rng = NETS[name], np.random.default_rng(1)
    points, c = rng.normal(size=(M, net.inputs)), rng.normal(size=(M, net.outputs))

    def slope(layer, place):
        found = []
        for sign in (1, -1):
            kernels, first = [w.copy() for w in net.kernels], net.channel_biases[0].copy()
            (first if layer < 0 else kernels[layer])[place] += sign * 1e-6
            moved = DenseNet(tuple(kernels), (first, *net.channel_biases[1:]), net.sharing)
            found.append(float((moved(points) * c).sum()))
        return (found[0] - found[1]) / 2e-6

    expected = sum(
        (part[place] - slope(layer, place)) ** 2
        for layer, part in [*enumerate(net.kernels), (-1, net.channel_biases[0])]
        for place in np.ndindex(part.shape)
    )
    assert unexplained(net, points, c, steepness=1e9)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", NETS)
def test_gradient(name):
    net, rng = NETS[name], np.random.default_rng(2)
    classes = np.arange(M) % max(2, net.outputs)

    def both(flat):
        points, roots = np.split(flat, [M * net.inputs])
        points, roots = points.reshape(M, -1), roots.reshape(M, -1)
        c = coefficients(roots, classes)
        loss, by_points, by_c = unexplained(net, points, c, steepness=3.0)
        return loss, np.concatenate([by_points.ravel(), by_roots(by_c, roots, classes).ravel()])

    for _ in range(3):
        flat = rng.normal(size=M * (net.inputs + net.outputs))
        scale = np.linalg.norm(both(flat)[1])
        error = optimize.check_grad(lambda f: both(f)[0], lambda f: both(f)[1], flat)
        assert error < 1e-5 * scale


def test_coefficients_of_several_classes_sum_to_nothing_and_favour_their_own():
    rng = np.random.default_rng(3)
    classes = np.array([0, 2, 1])
    c = coefficients(rng.normal(size=(3, 3)), classes)
    assert np.allclose(c.sum(axis=1), 0)
    own = c[np.arange(3), classes]
    assert (own > 0).all()
    assert ((c <= 0).sum(axis=1) == 2).all()
    assert coefficients(np.array([[2.0], [3.0]]), np.array([1, 0])).tolist() == [[4], [-9]]


@pytest.mark.parametrize("kinds", [2, 4])
@pytest.mark.one_in(2)
def test_the_point_is_found_where_the_network_was_trained_on_it(kinds):
    rng = np.random.default_rng(1)
    rows, classes = rng.uniform(-1, 1, (6, 8)), np.arange(6) % kinds

    def guess(net, target):
        known, theirs = np.delete(rows, target, 0), np.delete(classes, target)
        return informed_reconstruct(net, known, theirs, box=1, steps=200)

    net = train_dense(rows, classes, hidden=(60,), steps=2000, rng=2)
    found = guess(net, 1)
    assert np.corrcoef(found.point, rows[1])[0, 1] > 0.95
    assert found.of_class == classes[1]
    assert found.loss < 0.1
    keep = np.arange(6) != 1
    without = train_dense(rows[keep], classes[keep], hidden=(60,), steps=2000, kinds=kinds, rng=2)
    assert np.corrcoef(guess(without, 1).point, rows[1])[0, 1] < 0.9


def test_what_does_not_fit_is_refused():
    net = train_dense([[0.0, 1], [1, 0]], [0, 1], hidden=(3,), steps=5, rng=1)
    with pytest.raises(InputError, match="known"):
        informed_reconstruct(net, np.zeros((2, 3)), np.array([0, 1]), box=1)
    with pytest.raises(InputError, match="box"):
        informed_reconstruct(net, np.zeros((2, 2)), np.array([0, 1]), box=0)
