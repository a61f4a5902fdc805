"""The own term: how far people's own part in the cells has moved what is said about them.

The beliefs of a saddle point (`narcissus.attacks.table.dual`) count everybody's own value among
what the cells say. Take one person out: by linear response the cells' ``theta`` moves by
``H^-1 a`` for a person with cells ``a``, where ``H = variance + cov(counts)`` has the second
derivatives. What remains is, for value ``v`` of a person who is believed to have ``q``,

    log belief = log prior + a_v . theta - E_v / 2 + constant,
    E_v = (a_v - a_q)' H~^-1 (a_v - a_q),        a_q = sum of a_v over q,

with ``H~`` without the person (the adaptive TAP equations of Opper and Winther 2001, with the
linear response of theory F3; naive mean field has ``H = variance``, which takes out too much).
``E`` is computed, not tuned: from the whole matrix where it is small, and else from its diagonal,
corrected by the effective number of the cells' counts, which a few random probes estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from narcissus.attacks.table.base import Floats
from narcissus.attacks.table.gathers import Gathers

if TYPE_CHECKING:
    from narcissus.attacks.table.dual import Beliefs, Dual

WHOLE = 512
"""Types times values up to which the whole matrix is inverted."""

PROBED = 2_000
"""People over whom probes average; at least one probe, at most four."""

MOST_PROBES = 4

STEPS = 25
"""Most steps of a conjugate gradient."""

CLOSE = 1e-2
"""Share by which a further step must raise what a probe gives."""

CERTAIN = 1e-9
"""Free counts below which everybody's value is known, and nothing is left to correct."""


def add_own_terms(dual: Dual, beliefs: Beliefs) -> float:
    """Have shares add to the log belief of each value what takes out people's own part.

    Gives by how much that moves people, in nats and on average.
    """
    shares = dual.shares
    factor = 1.0
    if shares.size <= WHOLE:
        shares.tell("respond", dual.variance, True)
    else:
        diagonal = dual.variance + beliefs.variance
        shares.tell("respond", diagonal, False)
        as_diagonal = float((beliefs.variance / diagonal).sum())
        if as_diagonal >= CERTAIN:
            factor = _free(dual, diagonal) / as_diagonal
    return sum(shares.tell("correct", factor)) / float(shares.people)


def by_the_whole(gathers: Gathers, q: Floats, variance: Floats) -> Floats:
    """Give ``E`` by inverting ``H`` in the space of types and values (Woodbury's identity)."""
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
    """Give the covariance of one person's value, shape (types, values, values)."""
    return q[:, :, None] * np.eye(q.shape[1]) - q[:, :, None] * q[:, None, :]


def by_the_diagonal(gathers: Gathers, beliefs: Floats, diagonal: Floats) -> Floats:
    """Give ``E`` by the diagonal of ``H``, which leaves out that tables repeat each other."""
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


def _free(dual: Dual, diagonal: Floats) -> float:
    """Estimate ``trace(H^-1 cov(counts))``, the effective number of free counts."""
    probes = min(MOST_PROBES, -(-PROBED // dual.shares.people))
    return sum(_form(dual, diagonal) for _ in range(probes)) / probes


def _form(dual: Dual, diagonal: Floats) -> float:
    """Give ``b' H^-1 b`` for a random ``b`` with the covariance of the counts.

    Conjugate gradients, preconditioned by the diagonal; the form grows with each step (Hestenes
    and Stiefel 1952).
    """
    rest = dual.probe()
    step = rest / diagonal
    size = float(rest @ step)
    total = 0.0
    for _ in range(STEPS):
        curved = dual.curve(step)
        length = size / max(float(step @ curved), 1e-300)
        total += length * size
        rest = rest - length * curved
        if length * size <= CLOSE * total:
            break
        scaled = rest / diagonal
        before, size = size, float(rest @ scaled)
        step = scaled + (size / before) * step
    return total
