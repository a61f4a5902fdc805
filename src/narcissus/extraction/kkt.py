"""Reconstruct training points of a classifier from the conditions that its weights satisfy.

Unknowns are points ``x_i``, multipliers ``lambda_i >= 0`` and labels; what is minimised is how far
the weights are from ``sum_i lambda_i y_i grad f(x_i)``. Departing from theory 10: the network has
two layers; multipliers are squares instead of penalised; L-BFGS takes the place of momentum SGD
(some hundred times fewer steps, in double precision on a CPU); the sigmoid that stands for the
derivative of the ReLU gets steeper in stages; and the first start is not random but read off pairs
of neurons (`neuron_pairs`).

Source: Cohen et al. 2024, D.3 (after Haim et al. 2022); Narcissus theory 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from narcissus._random import RandomSource, child, entropy_of
from narcissus._validation import integer, positive
from narcissus.errors import StoreError
from narcissus.extraction.classifier import TwoLayerNet
from narcissus.extraction.neuron_pairs import neuron_pairs
from narcissus.extraction.relations.rows import printed
from narcissus.observer import SILENT, Observer

FloatArray = NDArray[np.float64]

_STEEPNESS = (20.0, 100.0)
_NORM = 10.0  # the weights are scaled to it, so that steps and tolerances mean the same everywhere


@dataclass(frozen=True)
class KktReconstruction:
    """Points that explain the weights of a classifier.

    Attributes
    ----------
    points
        All starts pooled, shape (points, d).
    multipliers
        Their weight in the explanation, shape (points,), from the start each belongs to.
    losses
        Squared distance of the weights to the explanation of each start, relative to theirs.
    """

    points: FloatArray
    multipliers: FloatArray
    losses: tuple[float, ...]


def kkt_loss(
    net: TwoLayerNet, points: FloatArray, roots: FloatArray, labels: FloatArray, *, steepness: float
) -> tuple[float, FloatArray, FloatArray]:
    """Give the squared distance of the weights to their explanation, and its gradient.

    Parameters
    ----------
    net
        The classifier.
    points, roots, labels
        ``x_i`` of shape (m, d); ``sqrt(lambda_i)`` and ``y_i`` of shape (m,).
    steepness
        Of the sigmoid that stands for the derivative of the ReLU.

    Returns
    -------
    loss, gradient by points, gradient by roots
    """
    c = roots**2 * labels
    z = points @ net.W.T + net.b
    gate = special.expit(steepness * z)
    weighted = c[:, None] * gate * net.v
    error_w = weighted.T @ points - net.W
    error_b = weighted.sum(axis=0) - net.b
    relu = np.maximum(z, 0.0)
    error_v = c @ relu - net.v
    loss = float((error_w**2).sum() + (error_b**2).sum() + (error_v**2).sum())
    along = points @ error_w.T + error_b
    by_c = 2 * ((gate * net.v * along).sum(axis=1) + relu @ error_v)
    slope = steepness * gate * (1 - gate)
    by_z = 2 * c[:, None] * (net.v * along * slope + error_v * (z > 0))
    by_points = 2 * weighted @ error_w + by_z @ net.W
    return loss, by_points, 2 * by_c * labels * roots


@dataclass(frozen=True)
class _Problem:
    """What all starts share."""

    net: TwoLayerNet
    box: float
    points: int
    steps: int


def _explain(
    problem: _Problem, start: FloatArray, labels: FloatArray, random: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """Improve one start by L-BFGS, the sigmoid steeper in each stage."""
    m, d = start.shape
    net, box, steps = problem.net, problem.box, problem.steps

    def objective(flat: FloatArray, steepness: float) -> tuple[float, FloatArray]:
        points, roots = flat[: m * d].reshape(m, d), flat[m * d :]
        loss, by_points, by_roots = kkt_loss(net, points, roots, labels, steepness=steepness)
        outside = np.maximum(np.abs(points) - box, 0.0)
        loss += float((outside**2).sum())
        by_points += 2 * outside * np.sign(points)
        return loss, np.concatenate([by_points.ravel(), by_roots])

    flat = np.concatenate([start.ravel(), random.uniform(0.1, 0.5, m)])
    loss = np.inf
    for steepness in _STEEPNESS:
        found = optimize.minimize(
            objective,
            flat,
            args=(steepness,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20},
        )
        flat, loss = np.asarray(found.x, dtype=np.float64), float(found.fun)
    return flat[: m * d].reshape(m, d), flat[m * d :] ** 2, loss / _NORM**2


def kkt_reconstruct(
    net: TwoLayerNet,
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
        Points of each start; about twice as many as there are training points.
    starts
        0: only what pairs of neurons give. 1: improved from there. More: from noise.
    steps
        Steps of L-BFGS in each of two stages.
    folder
        Where every finished start is kept, so that an interrupted run continues.
    rng
        Draws the starts.
    observer
        Hears of progress.

    Raises
    ------
    StoreError
        The folder holds starts of another network or another seed.
    """
    positive("box", box)
    m = integer("points", points, low=2)
    starts, steps = integer("starts", starts, low=0), integer("steps", steps, low=1)
    # A fresh seed could not be continued: without one, the folder says which it was.
    store = None if folder is None else Path(folder)
    entropy = _entropy(rng, store)
    scaled = net.scaled(_NORM)
    problem = _Problem(scaled, box, m, steps)
    pairs = neuron_pairs(scaled, box=box, keep=m, rng=child(entropy, 0))
    pool, weights, losses = [pairs], [np.zeros(pairs.shape[0])], []
    observer.start("reconstruct from the weights", starts)
    for number in range(starts):
        kept = None if store is None else _load(store, number, scaled, m)
        if kept is None:
            random = child(entropy, 1, number)
            start, labels = _start(problem, pairs, number, random)
            kept = _explain(problem, start, labels, random)
            if store is not None:
                _save(store, number, scaled, kept)
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
        Rows that are looked for.
    starts
        0: only what pairs of neurons give; 1: improved from there; more: from noise.
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
        """Print the points of each classifier."""
        m, starts, steps = self.points, self.starts, self.steps
        return [
            printed(
                kkt_reconstruct(
                    net, box=self.box, points=m, starts=starts, steps=steps, rng=rng
                ).points
            )
            for net in release
        ]


def _start(
    problem: _Problem, pairs: FloatArray, number: int, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Give where a start begins: the first at the neuron pairs' points, the others at noise."""
    m, net, box = problem.points, problem.net, problem.box
    labels = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    start = random.normal(0.0, box * (0.1, 0.25)[number % 2], (m, net.W.shape[1]))
    if number == 0:
        start[: pairs.shape[0]] = pairs
        labels[: pairs.shape[0]] = np.where(net(pairs) >= 0, 1.0, -1.0)
    return start, labels


def _entropy(rng: RandomSource, store: Path | None) -> int:
    """Give the seed of the run; an unseeded one continues with the seed of the folder."""
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


def _fingerprint(net: TwoLayerNet) -> FloatArray:
    return np.array([net.W.sum(), np.abs(net.W).sum(), net.v.sum(), net.W.shape[0]])


def _save(
    store: Path, number: int, net: TwoLayerNet,
    kept: tuple[FloatArray, FloatArray, float],
) -> None:  # fmt: skip
    partial, final = store / f".start-{number}.npz", store / f"start-{number}.npz"
    np.savez(partial, points=kept[0], multipliers=kept[1], loss=kept[2], net=_fingerprint(net))
    partial.replace(final)


def _load(
    store: Path, number: int, net: TwoLayerNet, m: int
) -> tuple[FloatArray, FloatArray, float] | None:
    path = store / f"start-{number}.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as kept:
        if not np.array_equal(kept["net"], _fingerprint(net)) or kept["points"].shape[0] != m:
            raise StoreError(f"{store} belongs to another network; choose another folder")
        return kept["points"], kept["multipliers"], float(kept["loss"])
