"""Reconstruct training points of a classifier from the conditions that its weights satisfy.

Unknowns are points ``x_i``, multipliers and classes; the distance of the weights from their
`explanation` by the points is minimised. Departing from theory 10: multipliers are squares instead
of penalised; L-BFGS replaces momentum SGD (some hundred times fewer steps, in double precision on a
CPU); the sigmoid that replaces the derivative of the ReLU gets steeper in stages; and the first
start is not random but computed from the weights in closed form (`first_points`).

Source: Cohen et al. 2024, D.3 (after Haim et al. 2022); for several classes Buzaglo et al. 2023;
Narcissus theory 10.

Training points from single neurons of the first layer: for any depth and any number of classes.

At a Karush-Kuhn-Tucker point the weights and the bias of a neuron of the first layer are
``(w_j, b_j) = sum_i a_ij (x_i, 1)`` over the training points at which it is active. A neuron active
at a single point has that point as ``w_j / b_j``. These neurons cannot be identified from outside,
so all quotients in the box are candidates, and the most frequent come first.

Source: Narcissus (own result), from the conditions of theory 10 **[new]**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus._random import RandomSource, child, entropy_of, generator
from narcissus._validation import integer, positive
from narcissus.errors import StoreError
from narcissus.extraction.classifier import TwoLayerNet
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.explanation import by_roots, coefficients, unexplained
from narcissus.extraction.neuron_pairs import most_confirmed, neuron_pairs
from narcissus.extraction.relations.rows import printed
from narcissus.observer import SILENT, Observer


def single_neurons(
    net: DenseNet, *, box: float, keep: int, sample: int = 4000, rng: RandomSource = None
) -> NDArray[np.float64]:
    """Read candidates for training points from the neurons of the first layer.

    At most ``keep`` are returned, shape (at most keep, d), the most confirmed first; ``sample`` of
    them are compared. Entries lie within ``box``, and the neuron is active at its point.
    """
    positive("box", box)
    keep = integer("keep", keep, low=1)
    w, b = net.weights[0], net.biases[0]
    some = np.abs(b) > 1e-9 * np.abs(w).max(initial=0.0)
    w, b = w[some], b[some]
    points = w / b[:, None]
    good = (np.abs(points) <= box).all(axis=1) & ((w * points).sum(axis=1) + b > 0)
    points = points[good]
    if points.shape[0] > sample:
        chosen = generator(rng).choice(points.shape[0], sample, replace=False)
        points = points[np.sort(chosen)]
    return most_confirmed(points, keep)


FloatArray = NDArray[np.float64]

STEEPNESS = (20.0, 100.0)
"""Of the sigmoid that stands for the derivative of the ReLU, by stage."""

_NORM = 10.0  # the weights are scaled to it, so that steps and tolerances mean the same everywhere


@dataclass(frozen=True)
class KktReconstruction:
    """Points that explain the weights of a classifier."""

    points: FloatArray  # all starts pooled, shape (points, d)
    multipliers: FloatArray  # their weights in the explanations of their starts, shape (points,)
    # relative squared distance of the weights to each start's explanation
    losses: tuple[float, ...]


@dataclass(frozen=True)
class KktSearch:
    """A search, from several starts, for the points that explain a network's weights."""

    net: DenseNet  # scaled to a fixed norm
    box: float  # largest absolute value of an entry of a training point
    points: int  # in each start
    steps: int  # of L-BFGS in each of two stages

    def __post_init__(self) -> None:
        positive("box", self.box)
        integer("points", self.points, low=2)
        integer("steps", self.steps, low=1)
        object.__setattr__(self, "net", self.net.scaled(_NORM))

    def first_points(self, rng: RandomSource) -> FloatArray:
        """Return the points from the weights in closed form, shape (at most ``points``, d).

        From pairs of neurons for a network of two layers and two classes, otherwise from single
        neurons of the first layer. Neurons that share their weights (`ConvNet`) give none.
        """
        net = self.net
        if not net.has_own_weights:
            return np.zeros((0, net.inputs))
        if len(net.weights) == 2 and net.outputs <= 2:
            v = net.weights[1]
            two = TwoLayerNet(net.weights[0], net.biases[0], v[0] if len(v) == 1 else v[1] - v[0])
            return neuron_pairs(two, box=self.box, keep=self.points, rng=rng)
        return single_neurons(net, box=self.box, keep=self.points, rng=rng)

    def start(
        self, number: int, first: FloatArray, random: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, float]:
        """Improve one start: number 0 begins at the first points, the others at noise.

        Returns points (points, d), multipliers (points,), and the loss relative to the weights.
        """
        m, net = self.points, self.net
        kinds = max(2, net.outputs)
        classes = (kinds - 1 - np.arange(m)) % kinds
        start = random.normal(0.0, self.box * (0.1, 0.25)[number % 2], (m, net.inputs))
        if number == 0:
            start[: first.shape[0]] = first
            classes[: first.shape[0]] = net.classes(first)
        return self._explain(start, classes, random)

    def _explain(
        self, start: FloatArray, classes: NDArray[np.intp], random: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, float]:
        """Improve one start by L-BFGS, the sigmoid steeper in each stage."""
        m, d = start.shape
        net, box, steps = self.net, self.box, self.steps

        def objective(flat: FloatArray, steepness: float) -> tuple[float, FloatArray]:
            points, roots = flat[: m * d].reshape(m, d), flat[m * d :].reshape(m, -1)
            c = coefficients(roots, classes)
            loss, by_points, by_c = unexplained(net, points, c, steepness=steepness)
            outside = np.maximum(np.abs(points) - box, 0.0)
            loss += float((outside**2).sum())
            by_points += 2 * outside * np.sign(points)
            return loss, np.concatenate([by_points.ravel(), by_roots(by_c, roots, classes).ravel()])

        flat = np.concatenate([start.ravel(), random.uniform(0.1, 0.5, m * net.outputs)])
        loss = np.inf
        for steepness in STEEPNESS:
            found = optimize.minimize(
                objective,
                flat,
                args=(steepness,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20},
            )
            flat, loss = np.asarray(found.x, dtype=np.float64), float(found.fun)
        c = coefficients(flat[m * d :].reshape(m, -1), classes)
        return flat[: m * d].reshape(m, d), np.abs(c).max(axis=1), loss / _NORM**2


def kkt_reconstruct(
    net: DenseNet | TwoLayerNet,
    *,
    box: float,
    points: int = 80,
    starts: int = 4,
    steps: int = 1000,
    folder: Path | str | None = None,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> KktReconstruction:
    """Reconstruct training points, from several starts, pooled.

    Parameters
    ----------
    net
        The released classifier; nothing else is used.
    box
        Largest absolute value of an entry of a training point.
    points
        Points of each start; about twice the number of training points.
    starts
        0: only the closed form. 1: improved from there. More: from noise.
    steps
        Steps of L-BFGS in each of two stages.
    folder
        Keeps every finished start, so that an interrupted run continues.
    rng
        Draws the starts.
    observer
        Receives progress.

    Raises
    ------
    StoreError
        The folder holds starts of another network or another seed.
    """
    search = KktSearch(net.dense if isinstance(net, TwoLayerNet) else net, box, points, steps)
    starts = integer("starts", starts, low=0)
    # A fresh seed could not be continued: without one, the folder says which it was.
    store = None if folder is None else Path(folder)
    entropy = _entropy(rng, store)
    first = search.first_points(child(entropy, 0))
    pool, weights, losses = [first], [np.zeros(first.shape[0])], []
    observer.start("reconstruct from the weights", starts)
    for number in range(starts):
        kept = None if store is None else _load(store, number, search)
        if kept is None:
            kept = search.start(number, first, child(entropy, 1, number))
            if store is not None:
                _save(store, number, search.net, kept)
        pool.append(kept[0])
        weights.append(kept[1])
        losses.append(kept[2])
        observer.advance()
    observer.finish()
    return KktReconstruction(np.concatenate(pool), np.concatenate(weights), tuple(losses))


@dataclass(frozen=True)
class KktAttack:
    """Print the points that explain the weights of a classifier, for the relation `Close`.

    Parameters
    ----------
    box
        Largest absolute value of an entry of a row.
    points
        Rows to search for.
    starts
        0: only the points from pairs of neurons; 1: improved from there; more: from noise.
    steps
        Steps of each search.
    """

    box: float
    points: int = 80
    starts: int = 4
    steps: int = 1000

    def attempt(
        self, release: Sequence[TwoLayerNet], known: Any, rng: np.random.Generator
    ) -> list[bytes]:
        m, starts, steps = self.points, self.starts, self.steps
        return [
            printed(
                kkt_reconstruct(
                    net, box=self.box, points=m, starts=starts, steps=steps, rng=rng
                ).points
            )
            for net in release
        ]


def _entropy(rng: RandomSource, store: Path | None) -> int:
    """Return the seed of the run; an unseeded one continues with the folder's seed."""
    note = None if store is None else store / "seed"
    if rng is None and note is not None and note.exists():
        return int(note.read_text())
    entropy = entropy_of(rng)
    if note is not None and store is not None:
        store.mkdir(parents=True, exist_ok=True)
        if not note.exists():
            note.write_text(str(entropy))
        elif int(note.read_text()) != entropy:
            raise StoreError(f"{store} holds a run with another seed; choose another folder")
    return entropy


def _fingerprint(net: DenseNet) -> FloatArray:
    first, last = net.weights[0], net.weights[-1]
    return np.array([first.sum(), np.abs(first).sum(), last.sum(), first.shape[0]])


def _save(
    store: Path, number: int, net: DenseNet,
    kept: tuple[FloatArray, FloatArray, float],
) -> None:  # fmt: skip
    partial, final = store / f".start-{number}.npz", store / f"start-{number}.npz"
    np.savez(partial, points=kept[0], multipliers=kept[1], loss=kept[2], net=_fingerprint(net))
    partial.replace(final)


def _load(
    store: Path, number: int, search: KktSearch
) -> tuple[FloatArray, FloatArray, float] | None:
    path = store / f"start-{number}.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as kept:
        if not np.array_equal(kept["net"], _fingerprint(search.net)) or (
            kept["points"].shape[0] != search.points
        ):
            raise StoreError(f"{store} belongs to another network; choose another folder")
        return kept["points"], kept["multipliers"], float(kept["loss"])
