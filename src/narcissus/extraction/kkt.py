"""Training points of a classifier from the conditions that its weights satisfy.

A network trained to a very small loss is ``theta = sum_i grad <c_i, f(x_i)>``. With one output
``c_i = lambda_i y_i``; with several, ``-lambda_ij`` for each other class and their sum for the
class itself; all ``lambda >= 0``. Unknowns are points ``x_i``, multipliers and classes; the
distance of the weights from this explanation is minimised. Departing from theory 10: multipliers
are squares instead of penalised; L-BFGS replaces momentum SGD (some hundred times fewer steps, in
double precision on a CPU); the sigmoid that replaces the derivative of the ReLU gets steeper in
stages; and the first start is not random but read from the first layer in closed form:

* *Single neurons*, for any depth and number of classes: ``(w_j, b_j) = sum_i a_ij (x_i, 1)`` over
  the training points at which neuron j is active. One active at a single point has that point as
  ``w_j / b_j``.
* *Pairs of neurons*, for two layers: ``(w_j, b_j) = v_j sum_i c_i [j active at x_i] (x_i, 1)``. Two
  neurons whose activity differs at a single training point satisfy ``(w_j, b_j) / v_j - (w_k, b_k)
  / v_k = +-c_i (x_i, 1)``; dividing by the last entry gives the point.

Which neurons these are cannot be told from outside: others give scattered vectors, while true
points repeat, so candidates are ranked by how many others agree with them.

The informed attacker knows every training image but one. The residual of the weights, after the
known images have explained their part, is due to the last one; each class is tried for it.

Source: Cohen et al. 2024, D.3 (after Haim et al. 2022); for several classes Buzaglo et al. 2023;
Narcissus theory 10. The closed forms are own results **[new]**. The informed attacker is that of
Balle, Cherubin and Hayes 2022, who train a network on shadow models instead; known points held
fast **[new]**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from narcissus._arrays import Floats, pack
from narcissus._files import put_result
from narcissus._random import RandomSource, child, entropy_of, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError, StoreError
from narcissus.extraction.classifier import DenseNet, TwoLayerNet
from narcissus.extraction.files import arrays_of
from narcissus.extraction.relations import normalised, printed
from narcissus.observer import SILENT, Observer

_BLOCK = 16_384  # pairs looked at together
STEEPNESS = (20.0, 100.0)
"""Of the sigmoid that stands for the derivative of the ReLU, by stage."""
_NORM = 10.0  # the weights are scaled to it, so that steps and tolerances mean the same everywhere


def coefficients(roots: Floats, classes: NDArray[np.intp]) -> Floats:
    """Return ``c_i`` from the roots of the multipliers, both of shape (points, outputs).

    With one output, classes are 0 and 1. With several, the root of a point's class is unused.
    """
    squares = roots**2
    if roots.shape[1] == 1:
        return squares * (2.0 * classes[:, None] - 1)
    places = np.arange(classes.size)
    squares[places, classes] = 0.0
    multipliers = -squares
    multipliers[places, classes] = squares.sum(axis=1)
    return multipliers


def by_roots(by_c: Floats, roots: Floats, classes: NDArray[np.intp]) -> Floats:
    """Turn a gradient by the coefficients into one by the roots."""
    if roots.shape[1] == 1:
        return 2 * roots * by_c * (2.0 * classes[:, None] - 1)
    class_gradient = by_c[np.arange(classes.size), classes]
    return 2 * roots * (class_gradient[:, None] - by_c)  # 0 for the own class


def unexplained(
    net: DenseNet, points: Floats, c: Floats, *, steepness: float
) -> tuple[float, Floats, Floats]:
    """Return the squared distance of the weights to their explanation, and its gradients by points
    and by c.

    ``points`` has shape (m, d), ``c`` (m, outputs). Later layers' biases affect the outputs only.
    ``steepness`` belongs to the sigmoid that replaces the derivative of the ReLU.
    """
    last = len(net.weights) - 1
    layers, inner, gates = [points], list[Floats](), list[Floats]()
    for weight, bias in zip(net.weights[:-1], net.biases[:-1], strict=True):
        z = layers[-1] @ weight.T + bias
        inner.append(z)
        gates.append(special.expit(steepness * z))
        layers.append(np.maximum(z, 0.0))
    # derivatives of sum_i <c_i, f(x_i)> by the inputs of each layer's neurons
    ungated, back = dict[int, Floats](), {last: c}
    for i in reversed(range(last)):
        ungated[i] = back[i + 1] @ net.weights[i + 1]
        back[i] = ungated[i] * gates[i]
    residuals = [net.error(i, back[i].T @ layers[i]) for i in range(last + 1)]
    error_b, left_b = net.bias_error(back[0].sum(axis=0))
    errors, loss = [error for error, _ in residuals], sum(left for _, left in residuals) + left_b
    # and the derivative of sum <error, gradient> by all of them, forward and back again
    by_z = dict[int, Floats]()
    along = layers[0] @ errors[0].T + error_b
    for i in range(last):
        by_z[i] = along * ungated[i] * (steepness * gates[i] * (1 - gates[i]))
        along = layers[i + 1] @ errors[i + 1].T + (along * gates[i]) @ net.weights[i + 1].T
    by_layer = back[last] @ errors[last]
    for i in reversed(range(last)):
        through = by_z[i] + by_layer * (inner[i] > 0)
        by_layer = back[i] @ errors[i] + through @ net.weights[i]
    return loss, 2 * by_layer, 2 * along


def neuron_pairs(
    net: TwoLayerNet, *, box: float, keep: int, sample: int = 4000, rng: RandomSource = None
) -> Floats:
    """Read training points from pairs of neurons, shape (at most keep, d).

    The most confirmed come first; none where no pair gives a point in the box.

    box: largest absolute value of an entry of a training point.
    sample: most candidates to compare with each other; ``rng`` chooses them if there are more.
    """
    positive("box", box)
    active = np.abs(net.v) > 0.02 * np.abs(net.v).max()
    w, b, v = net.W[active], net.b[active], net.v[active]
    ratio = np.concatenate([w, b[:, None]], axis=1) / v[:, None]
    first, second = np.triu_indices(v.size, 1)
    step = ratio[first, -1] - ratio[second, -1]
    distinct = np.abs(step) > 1e-3 * np.abs(ratio[:, -1]).max()
    first, second, step = first[distinct], second[distinct], step[distinct]
    candidates = [np.zeros((0, net.W.shape[1]))]
    for begin in range(0, first.size, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        j, k = first[block], second[block]
        points = (ratio[j, :-1] - ratio[k, :-1]) / step[block, None]
        inside = (np.abs(points) <= box).all(axis=1)
        points, j, k = points[inside], j[inside], k[inside]
        # The point must be one at which the two neurons differ.
        on_j = np.einsum("pd,pd->p", points, w[j]) + b[j] > 0
        on_k = np.einsum("pd,pd->p", points, w[k]) + b[k] > 0
        candidates.append(points[on_j != on_k])
    return _most_confirmed(np.concatenate(candidates), keep, sample, rng)


def _most_confirmed(candidates: Floats, keep: int, sample: int, rng: RandomSource) -> Floats:
    """Take the candidate with the most others like it, average them, drop them, repeat."""
    keep = integer("keep", keep, low=1)
    if candidates.shape[0] > sample:
        chosen = generator(rng).choice(candidates.shape[0], sample, replace=False)
        candidates = candidates[np.sort(chosen)]
    unit = normalised(candidates).astype(np.float32)
    alike = unit @ unit.T > 0.95
    open_rows = np.ones(candidates.shape[0], dtype=np.bool_)
    votes = alike.sum(axis=1)
    taken: list[Floats] = []
    while len(taken) < keep and open_rows.any():
        best = int(np.where(open_rows, votes, -1).argmax())
        group = alike[best] & open_rows
        if not group.any():  # a flat candidate is not even like itself
            group = np.zeros_like(group)
            group[best] = True
        taken.append(candidates[group].mean(axis=0))
        open_rows &= ~group
        votes = votes - alike[:, group].sum(axis=1)
    return np.array(taken).reshape(-1, candidates.shape[1])


def single_neurons(
    net: DenseNet, *, box: float, keep: int, sample: int = 4000, rng: RandomSource = None
) -> Floats:
    """Read training points from single neurons of the first layer; otherwise as `neuron_pairs`."""
    positive("box", box)
    w, b = net.weights[0], net.biases[0]
    some = np.abs(b) > 1e-9 * np.abs(w).max(initial=0.0)
    w, b = w[some], b[some]
    points = w / b[:, None]
    good = (np.abs(points) <= box).all(axis=1) & ((w * points).sum(axis=1) + b > 0)
    return _most_confirmed(points[good], keep, sample, rng)


def _explained(
    net: DenseNet,
    start: Floats,
    roots: Floats,
    classes: NDArray[np.intp],
    *,
    box: float,
    steps: int,
    known: Floats | None = None,
) -> tuple[Floats, Floats, float]:
    """Improve points by L-BFGS, the sigmoid steeper in each stage.

    start: shape (m, d); ``known`` points, whose classes come first, stay as they are.
    Returns: the points, all multipliers, and the loss relative to the weights.
    """
    m, d = start.shape
    known_points = np.zeros((0, d)) if known is None else known

    def objective(flat: Floats, steepness: float) -> tuple[float, Floats]:
        points, roots = flat[: m * d].reshape(m, d), flat[m * d :].reshape(classes.size, -1)
        c, whole = coefficients(roots, classes), np.concatenate([known_points, points])
        loss, by_points, by_c = unexplained(net, whole, c, steepness=steepness)
        outside = np.maximum(np.abs(points) - box, 0.0)
        loss += float((outside**2).sum())
        slopes = by_points[len(known_points) :] + 2 * outside * np.sign(points)
        return loss, np.concatenate([slopes.ravel(), by_roots(by_c, roots, classes).ravel()])

    flat, loss = np.concatenate([start.ravel(), roots.ravel()]), np.inf
    for steepness in STEEPNESS:
        solution = optimize.minimize(
            objective,
            flat,
            args=(steepness,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20},
        )
        flat, loss = np.asarray(solution.x, dtype=np.float64), float(solution.fun)
    c = coefficients(flat[m * d :].reshape(classes.size, -1), classes)
    return flat[: m * d].reshape(m, d), np.abs(c).max(axis=1), loss / _NORM**2


@dataclass(frozen=True)
class KktReconstruction:
    """Points that explain the weights of a classifier."""

    points: Floats  # all starts pooled, shape (points, d)
    multipliers: Floats  # their weights in the explanations of their starts, shape (points,)
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

    def first_points(self, rng: RandomSource) -> Floats:
        """Return the points from the weights in closed form, shape (at most ``points``, d).

        From pairs of neurons for a network of two layers and two classes, otherwise from single
        neurons of the first layer. Neurons that share their weights give none.
        """
        net = self.net
        if net.sharing:
            return np.zeros((0, net.inputs))
        if len(net.weights) == 2 and net.outputs <= 2:
            v = net.weights[1]
            two = TwoLayerNet(net.weights[0], net.biases[0], v[0] if len(v) == 1 else v[1] - v[0])
            return neuron_pairs(two, box=self.box, keep=self.points, rng=rng)
        return single_neurons(net, box=self.box, keep=self.points, rng=rng)

    def start(
        self, number: int, first: Floats, random: np.random.Generator
    ) -> tuple[Floats, Floats, float]:
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
        roots = random.uniform(0.1, 0.5, m * net.outputs)
        return _explained(net, start, roots, classes, box=self.box, steps=self.steps)


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

    net: the released classifier; nothing else is used.
    box: largest absolute value of an entry of a training point.
    points: points of each start; about twice the number of training points.
    starts: 0: only the closed form. 1: improved from there. More: from noise.
    steps: steps of L-BFGS in each of two stages.
    folder: keeps every finished start, so that an interrupted run continues.
    Raises StoreError: the folder holds starts of another network or another seed.
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
        reconstruction = None if store is None else _load(store, number, search)
        if reconstruction is None:
            reconstruction = search.start(number, first, child(entropy, 1, number))
            if store is not None:
                _save(store, number, search.net, reconstruction)
        pool.append(reconstruction[0])
        weights.append(reconstruction[1])
        losses.append(reconstruction[2])
        observer.advance()
    observer.finish()
    return KktReconstruction(np.concatenate(pool), np.concatenate(weights), tuple(losses))


@dataclass(frozen=True)
class KktAttack:
    """Print the points that explain the weights of a classifier, for the relation `Close`.

    box: Largest absolute value of an entry of a row.
    points: Rows to search for.
    starts: 0: only the points from pairs of neurons; 1: improved from there; more: from noise.
    steps: Steps of each search.
    """

    box: float
    points: int = 80
    starts: int = 4
    steps: int = 1000

    def attempt(
        self, release: Sequence[TwoLayerNet], known: Any, rng: np.random.Generator
    ) -> list[bytes]:
        return [printed(kkt_reconstruct(net, **asdict(self), rng=rng).points) for net in release]


def _entropy(rng: RandomSource, store: Path | None) -> int:
    """Return the seed of the run; an unseeded one continues with the folder's seed."""
    if store is None:
        return entropy_of(rng)
    note = store / "seed"
    seed = int(note.read_text()) if note.exists() else None
    if rng is None and seed is not None:
        return seed
    entropy = entropy_of(rng)
    if seed is None:
        put_result(note, str(entropy))
    elif seed != entropy:
        raise StoreError(f"{store} holds a run with another seed; choose another folder")
    return entropy


def _fingerprint(net: DenseNet) -> Floats:
    first, last = net.weights[0], net.weights[-1]
    return np.array([first.sum(), np.abs(first).sum(), last.sum(), first.shape[0]])


def _save(store: Path, number: int, net: DenseNet, kept: tuple[Floats, Floats, float]) -> None:
    arrays = {"points": kept[0], "multipliers": kept[1], "loss": np.array(kept[2])}
    packed = pack(arrays | {"net": _fingerprint(net)})
    put_result(store / f"start-{number}.npz", packed)


def _load(store: Path, number: int, search: KktSearch) -> tuple[Floats, Floats, float] | None:
    path = store / f"start-{number}.npz"
    if not path.exists():
        return None
    arrays = arrays_of(path)
    if not np.array_equal(arrays["net"], _fingerprint(search.net)) or (
        arrays["points"].shape[0] != search.points
    ):
        raise StoreError(f"{store} belongs to another network; choose another folder")
    return arrays["points"], arrays["multipliers"], float(arrays["loss"])


@dataclass(frozen=True)
class InformedGuess:
    """The last training point, as the informed attacker reconstructs it."""

    point: Floats  # shape (d,)
    of_class: int  # the class that fits best
    # squared distance of the weights to their explanation, relative to their squared norm
    loss: float


def informed_reconstruct(
    net: DenseNet, known: Floats, classes: NDArray[np.intp], *, box: float, steps: int = 100
) -> InformedGuess:
    """Reconstruct the one unknown training point, as one of the class that fits best.

    known, classes: all other training points, shape (n - 1, d), and their classes.
    box: largest absolute value of an entry of a point.
    steps: steps of L-BFGS in each of two stages, for each class.
    """
    if known.ndim != 2 or known.shape[1] != net.inputs or classes.shape != known.shape[:1]:
        raise InputError(
            f"`known` must have the shape (n, {net.inputs}) and `classes` n values, "
            f"got {known.shape} and {classes.shape}"
        )
    positive("box", box)
    steps = integer("steps", steps, low=1)
    scaled, tried = net.scaled(_NORM), list[InformedGuess]()
    for guess in range(max(2, net.outputs)):
        alike = known[classes == guess]
        start = (
            (alike if len(alike) else known).mean(axis=0) if len(known) else np.zeros(net.inputs)
        )
        every = np.append(classes, guess)
        roots = np.full(every.size * net.outputs, 0.3)
        (point,), _, loss = _explained(
            scaled, start[None], roots, every, box=box, steps=steps, known=known
        )
        tried.append(InformedGuess(point, guess, loss))
    return min(tried, key=lambda one: one.loss)
