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

from narcissus.attacks.table.base import Floats

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


def _free(dual: Dual, diagonal: Floats) -> float:
    """Estimate ``trace(H^-1 cov(counts))``, the effective number of free counts."""
    probes = min(MOST_PROBES, -(-PROBED // dual.shares.people))
    return sum(_form(dual, diagonal) for _ in range(probes)) / probes


def _form(dual: Dual, diagonal: Floats) -> float:
    """Return ``b' H^-1 b`` for a random ``b`` with the covariance of the counts.

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
