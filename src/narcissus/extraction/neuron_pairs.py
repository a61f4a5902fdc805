"""Training points from pairs of neurons: a closed form for two-layer networks **[new]**.

At a Karush-Kuhn-Tucker point every neuron has ``(w_j, b_j) = v_j sum_i c_i [j active at x_i]
(x_i, 1)``. Two neurons whose activity differs at a single training point therefore satisfy

    (w_j, b_j) / v_j - (w_k, b_k) / v_k  =  +-c_i (x_i, 1),

and dividing by the last entry gives the point itself, without optimisation. Pairs that differ at
several points give scattered vectors, while true points repeat. Candidates are ranked by how many
others agree with them.

Source: Narcissus (own result), from the conditions of theory 10.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.extraction.classifier import TwoLayerNet
from narcissus.extraction.relations.rows import normalised

FloatArray = NDArray[np.float64]

_BLOCK = 16_384  # pairs looked at together


def neuron_pairs(
    net: TwoLayerNet, *, box: float, keep: int, sample: int = 4000, rng: RandomSource = None
) -> FloatArray:
    """Read training points from pairs of neurons.

    Parameters
    ----------
    net
        The released classifier.
    box
        Largest absolute value of an entry of a training point.
    keep
        Most points to return.
    sample
        Most candidates to compare with each other.
    rng
        Chooses them if there are more.

    Returns
    -------
    array of shape (at most keep, d)
        The most confirmed first; empty where no pair gives a point in the box.
    """
    positive("box", box)
    keep = integer("keep", keep, low=1)
    active = np.abs(net.v) > 0.02 * np.abs(net.v).max()
    w, b, v = net.W[active], net.b[active], net.v[active]
    ratio = np.concatenate([w, b[:, None]], axis=1) / v[:, None]
    first, second = np.triu_indices(v.size, 1)
    step = ratio[first, -1] - ratio[second, -1]
    distinct = np.abs(step) > 1e-3 * np.abs(ratio[:, -1]).max()
    first, second, step = first[distinct], second[distinct], step[distinct]
    found: list[FloatArray] = []
    for begin in range(0, first.size, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        j, k = first[block], second[block]
        points = (ratio[j, :-1] - ratio[k, :-1]) / step[block, None]
        inside = (np.abs(points) <= box).all(axis=1)
        points, j, k = points[inside], j[inside], k[inside]
        # The point must be one at which the two neurons differ.
        on_j = np.einsum("pd,pd->p", points, w[j]) + b[j] > 0
        on_k = np.einsum("pd,pd->p", points, w[k]) + b[k] > 0
        found.append(points[on_j != on_k])
    candidates = np.concatenate(found) if found else np.zeros((0, net.W.shape[1]))
    if candidates.shape[0] > sample:
        chosen = generator(rng).choice(candidates.shape[0], sample, replace=False)
        candidates = candidates[np.sort(chosen)]
    return most_confirmed(candidates, keep)


def most_confirmed(candidates: FloatArray, keep: int) -> FloatArray:
    """Take the candidate with the most others like it, average them, drop them, repeat.

    Candidates have shape (n, d); at most ``keep`` points are returned.
    """
    unit = normalised(candidates).astype(np.float32)
    alike = unit @ unit.T > 0.95
    open_rows = np.ones(candidates.shape[0], dtype=np.bool_)
    votes = alike.sum(axis=1)
    taken: list[FloatArray] = []
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
