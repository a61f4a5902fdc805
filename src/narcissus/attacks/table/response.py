"""How the cells move without one person: the linear response, whole or by its diagonal."""

from __future__ import annotations

import numpy as np

from narcissus.attacks.table.base import Floats
from narcissus.attacks.table.gathers import Gathers


def by_the_whole(gathers: Gathers, q: Floats, variance: Floats) -> Floats:
    """Return ``E`` by inverting ``H`` in the space of types and values (Woodbury's identity)."""
    types, values = q.shape
    every = gathers.queries.split(np.arange(values))
    coupling = np.zeros((types, values, types, values))
    precisions = gathers.parts(1 / variance)
    each = zip(gathers.patterns, gathers.incidence(), precisions, strict=True)
    for pattern, cells, precision in each:
        value_of = pattern.values(every)
        for value in range(pattern.size):
            has = (value_of == value).astype(np.float64)
            shared = ((cells * precision[:, value]) @ cells.T).toarray()
            coupling += shared[:, None, :, None] * np.multiply.outer(has, has)[:, None]
    flat = coupling.reshape(types * values, -1)
    spread = np.zeros((types, values, types, values))
    own = np.arange(types)
    spread[own, :, own] = gathers.types.people[:, None, None] * _covariances(q)
    response = np.linalg.solve(
        (np.eye(types * values) + spread.reshape(flat.shape) @ flat).T, flat
    ).reshape(coupling.shape)
    inner = response[own, :, own]
    centred = np.eye(values) - q[:, None, :]
    inner = centred @ inner @ centred.swapaxes(1, 2)
    # Take the person out of H: what is left is larger.
    without = np.linalg.solve(np.eye(values) - inner * q[:, None, :], inner)
    return np.einsum("tvv->tv", without)


def _covariances(q: Floats) -> Floats:
    """Return the covariance of one person's value, shape (types, values, values)."""
    return q[:, :, None] * np.eye(q.shape[1]) - q[:, :, None] * q[:, None, :]


def by_the_diagonal(gathers: Gathers, beliefs: Floats, diagonal: Floats) -> Floats:
    """Return ``E`` by the diagonal of ``H``, which leaves out that tables repeat each other."""
    raised = gathers.raised(1 / diagonal)
    terms = np.empty_like(beliefs)
    for block, where in enumerate(gathers.blocks):
        q = beliefs[where]
        parts = gathers.gathered(block, raised)
        sums = [pattern.sum_to(q) for pattern in gathers.patterns]
        pulled = gathers.queries.spread([a * b for a, b in zip(parts, sums, strict=True)])
        whole = gathers.queries.spread(parts)
        terms[where] = whole - 2 * pulled + (q * pulled).sum(axis=1, keepdims=True)
    return terms
