"""The linear program behind the domination theorem, for any success.

Source: Narcissus theory 4.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus.bounds.linear_program import maximise

FloatArray = NDArray[np.float64]

_ROUNDS = 200


def dominate(
    prior: FloatArray, success: FloatArray, epsilons: FloatArray, deltas: FloatArray, rate: float
) -> tuple[float, float]:
    """Find a feasible ``(mu, theta)`` of small ``sum mu + rate * sum_k delta_k Theta_k``.

    Parameters
    ----------
    prior
        Shape (V,).
    success
        0/1 matrix, shape (V, Z).
    epsilons, deltas
        Points of the profile, shape (K,).
    rate
        Price of the work, at least 0.

    Returns
    -------
    o, work
        ``sum mu`` and ``sum_k delta_k Theta_k``. They belong to one pair that is feasible within
        rounding, whatever the solver's tolerance: its flows are repaired and ``mu`` recomputed.
    """
    inside = prior > 0
    prior, success = prior[inside], np.unique(success[inside], axis=1)
    values = prior.size
    pairs = np.array([(x, y) for x in range(values) for y in range(values) if x != y])
    if not pairs.size:
        return 1.0 if success.any() else 0.0, 0.0
    flows = _flows(prior, success, epsilons, deltas, rate=rate, pairs=pairs)
    if flows is None:
        return 1.0, 0.0
    shrink = np.exp(-epsilons)
    need = _repair(flows, prior, success, shrink, pairs)
    mu = np.maximum(need.max(axis=1), 0.0)
    if (mu > prior * (1 + 1e-13) + 1e-300).any():
        return 1.0, 0.0  # mu = prior, no flows: always feasible
    theta = flows.max(axis=2).sum(axis=1) * shrink
    return min(1.0, float(mu.sum())), float(deltas @ theta)


def _flows(
    prior: FloatArray,
    success: FloatArray,
    epsilons: FloatArray,
    deltas: FloatArray,
    *,
    rate: float,
    pairs: NDArray[np.int64],
) -> FloatArray | None:
    """Solve for the flows as they arrive, shape (K, pairs, Z); None if the solver finds none.

    Variables, all in [0, 1]: ``mu`` (V), ``theta`` (K x pairs), flows (K x pairs x Z). A flow is
    counted where it arrives, after its multiplication by ``exp(eps)``, so that it stays below 1.
    """
    values, guesses = success.shape
    count, k = pairs.shape[0], epsilons.size
    mu = np.arange(values)
    theta = values + np.arange(k * count).reshape(k, count, 1)
    flow = values + k * count + np.arange(k * count * guesses).reshape(k, count, guesses)
    need = np.arange(values * guesses).reshape(values, guesses)
    shared = need.size + np.arange(flow.size).reshape(flow.shape)
    within = need.size + flow.size + mu
    # D(x) [x in S] - mu_x - sum (out) e^-eps flow + sum (in) flow <= 0, one row a value and guess;
    # flow <= theta; mu <= D
    entries = [
        (need, mu[:, None], -1.0),
        (need[pairs[:, 0]], flow, -np.exp(-epsilons)[:, None, None]),
        (need[pairs[:, 1]], flow, 1.0),
        (shared, theta, -1.0),
        (shared, flow, 1.0),
        (within, mu, 1.0),
    ]
    each = [[part.ravel() for part in np.broadcast_arrays(*entry)] for entry in entries]
    row, column, entry = (np.concatenate(parts) for parts in zip(*each, strict=True))
    size = values + k * count + k * count * guesses
    gain = np.zeros(size)
    gain[:values] = -1.0
    gain[values : values + k * count] = -rate * np.repeat(deltas * np.exp(-epsilons), count)
    found = maximise(
        gain,
        sparse.csr_array((entry, (row, column)), shape=(need.size + flow.size + values, size)),
        np.concatenate([-(prior[:, None] * success).ravel(), np.zeros(flow.size), prior]),
        sparse.csr_array((0, size)),
        np.zeros(0),
    )
    if found is None:
        return None
    return np.maximum(found.x[values + k * count :].reshape(k, count, guesses), 0.0)


def _repair(
    flows: FloatArray,
    prior: FloatArray,
    success: FloatArray,
    shrink: FloatArray,
    pairs: NDArray[np.int64],
) -> FloatArray:
    """Cut inflows in place until no value needs more than its prior; give the needs, (V, Z).

    A cut takes from the sender only ``exp(-eps)`` of what it gives the receiver, so the
    violations die out.
    """
    into, outof = pairs[:, 1], pairs[:, 0]
    need = prior[:, None] * success
    for _ in range(_ROUNDS):
        received = np.zeros(success.shape)
        sent = np.zeros(success.shape)
        np.add.at(received, into, flows.sum(axis=0))
        np.add.at(sent, outof, np.einsum("k,kpz->pz", shrink, flows))
        need = prior[:, None] * success - sent + received
        over = np.maximum(need - prior[:, None], 0.0)
        if not over.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            keep = np.where(over > 0, np.clip(1.0 - over / received, 0.0, 1.0), 1.0)
        flows *= keep[into][None, :, :]
    return need
