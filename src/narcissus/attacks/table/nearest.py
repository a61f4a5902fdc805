"""The nearest record: who in the released rows looks like a person, and what they have.

Rows are compared by how many known columns differ (Hamming distance). All rows at the least
distance vote for their values; ties go to the prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import Floats, Joint, ReleaseByRelease, View
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import Microdata

BLOCK = 4_000_000  # pairs of a person and a row at a time
FURTHEST = 3
"""The largest distance at which matches are counted one by one."""


@dataclass(frozen=True, eq=False)
class Votes:
    """The values of the rows that are like a person."""

    # How many rows at each distance from 0 to `FURTHEST` have a value, shape (distances, n,
    # values)
    at: Floats
    nearest: Floats  # How many of the rows at the least distance have it, shape (n, values)


def votes_of(targets: Targets, rows: NDArray[np.int32]) -> Votes:
    """Count the values of the rows that are like each person."""
    queries = targets.queries
    known = list(queries.known)
    sizes = [queries.sizes[c] for c in known]
    people, others = (_indicators(x[:, known], sizes) for x in (targets.codes, rows))
    holds = _indicators(queries.joint(rows)[:, None], [queries.values])
    shape = (targets.people, queries.values)
    at, nearest = np.zeros((FURTHEST + 1, *shape)), np.zeros(shape)
    step = max(1, BLOCK // max(1, len(rows)))
    for a in range(0, targets.people if len(rows) else 0, step):
        block = slice(a, a + step)
        distance = len(known) - people[block] @ others.T
        for d in range(FURTHEST + 1):
            at[d, block] = (distance == d).astype(np.float32) @ holds
        least = distance.min(axis=1, keepdims=True)
        nearest[block] = (distance == least).astype(np.float32) @ holds
    return Votes(at, nearest)


def _indicators(codes: NDArray[np.integer], sizes: list[int]) -> NDArray[np.float32]:
    """Return a one for each value that a row has, shape (rows, sum of sizes)."""
    found = np.zeros((len(codes), sum(sizes)), dtype=np.float32)
    starts = np.cumsum([0, *sizes[:-1]])
    found[np.arange(len(codes))[:, None], codes + starts] = 1
    return found


@dataclass(frozen=True)
class NearestRecord(ReleaseByRelease):
    """The value that most of the released rows have that are most like the person."""

    title = "the nearest released record"
    uses = "prior and release"
    reads = (Microdata,)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Let the nearest rows vote."""
        votes = votes_of(view.targets, view.release.rows).nearest
        beliefs = votes + view.targets.prior / 2  # less than a vote: it decides ties alone
        return view.targets.success.decide(beliefs / beliefs.sum(axis=1, keepdims=True))
