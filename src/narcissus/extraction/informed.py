"""The informed attacker, who knows every training image but one, and the weights.

The residual of the weights, after the known images have explained their part, is due to the last
one. All multipliers are unknown, and so is the class: each class is tried, and the point with the
least residual is taken.

Source: the attacker of Balle, Cherubin and Hayes 2022; the attack is that of Haim et al. 2022 with
known points held fast **[new]**. Theirs trains a network on shadow models instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.explanation import by_roots, coefficients, unexplained
from narcissus.extraction.kkt import STEEPNESS

FloatArray = NDArray[np.float64]

_NORM = 10.0


@dataclass(frozen=True)
class InformedGuess:
    """The last training point, as the informed attacker reconstructs it."""

    point: FloatArray  # shape (d,)
    of_class: int  # the class that fits best
    # squared distance of the weights to their explanation, relative to their squared norm
    loss: float


def informed_reconstruct(
    net: DenseNet,
    known: FloatArray,
    classes: NDArray[np.intp],
    *,
    box: float,
    steps: int = 100,
) -> InformedGuess:
    """Reconstruct the one unknown training point.

    Parameters
    ----------
    net
        The released network.
    known, classes
        All other training points, shape (n - 1, d), and their classes.
    box
        Largest absolute value of an entry of a point.
    steps
        Steps of L-BFGS in each of two stages, for each class.
    """
    if known.ndim != 2 or known.shape[1] != net.inputs or classes.shape != known.shape[:1]:
        raise InputError(
            f"`known` must have the shape (n, {net.inputs}) and `classes` n values, "
            f"got {known.shape} and {classes.shape}"
        )
    positive("box", box)
    steps = integer("steps", steps, low=1)
    scaled = net.scaled(_NORM)
    tried = [
        _of_class(scaled, known, classes, guess, box, steps) for guess in range(max(2, net.outputs))
    ]
    return min(tried, key=lambda one: one.loss)


def _of_class(
    net: DenseNet,
    known: FloatArray,
    known_classes: NDArray[np.intp],
    guess: int,
    box: float,
    steps: int,
) -> InformedGuess:
    """Fit the last point as one of a class, from the mean of the known ones of that class."""
    classes = np.append(known_classes, guess)
    alike = known[known_classes == guess]
    d = known.shape[1]
    start = (alike if len(alike) else known).mean(axis=0) if len(known) else np.zeros(d)

    def objective(flat: FloatArray, steepness: float) -> tuple[float, FloatArray]:
        roots = flat[d:].reshape(classes.size, -1)
        points = np.concatenate([known, flat[None, :d]])
        c = coefficients(roots, classes)
        loss, by_points, by_c = unexplained(net, points, c, steepness=steepness)
        outside = np.maximum(np.abs(flat[:d]) - box, 0.0)
        loss += float((outside**2).sum())
        by_point = by_points[-1] + 2 * outside * np.sign(flat[:d])
        return loss, np.concatenate([by_point, by_roots(by_c, roots, classes).ravel()])

    flat, loss = np.concatenate([start, np.full(classes.size * net.outputs, 0.3)]), np.inf
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
    return InformedGuess(flat[:d], guess, loss / _NORM**2)
