"""Exact counts: what the tables determine, and beliefs about the rest.

Without noise the release is a set of linear equations in zero-one unknowns. Three steps, each of
which keeps every assignment that agrees with the release:

1. **Propagation**: a cell that is empty rules its value out for all who could fall into it; a
   cell as full as it can be forces it. Repeated until nothing changes; usually that is all.
2. **Raking** (iterative proportional fitting): among beliefs that agree with the tables on
   average, those nearest to the prior.
3. **Witnesses**: whole-number solutions by integer programming, the first the likeliest, the
   others for randomly perturbed priors. A value that all of them agree on is taken as determined.
   Whatever the tables really determine is the same in every witness, so it is always recovered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus.attacks.table.base import Floats
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms.patterns import Pattern

Mask = NDArray[np.bool_]

WITNESSES = 6
# Sizes of an integer program are its non-zero coefficients. Limits are counts, not seconds: the
# same numbers on every machine. Near them a program takes a few seconds.
MAX_SIZE = 50_000  # above, raking alone decides
NODE_BUDGET = 1_500_000  # nodes times size
SIZE_BUDGET = 60_000  # witnesses times size


def consistent_beliefs(targets: Targets, release: Floats) -> Floats:
    """Give beliefs that agree with exact counts, shape (n, values); rows sum to one."""
    system = _System(targets, release)
    allowed = system.propagate()
    beliefs = np.where(allowed, targets.prior, 0.0)
    # A prior that rules out what the release says (real rows) gives way to the release.
    empty = beliefs.sum(axis=1) == 0
    beliefs[empty] = allowed[empty]
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    open_people = np.flatnonzero(allowed.sum(axis=1) > 1)
    if open_people.size == 0:
        return beliefs
    beliefs = system.rake(beliefs, open_people)
    shares = system.witnesses(allowed, beliefs, open_people)
    if shares is not None:
        agreed = shares.max(axis=1) == 1.0
        beliefs[open_people[agreed]] = shares[agreed]
    return beliefs


class _System:
    """The equations: which people could fall into which cell, and the cell's count."""

    def __init__(self, targets: Targets, release: Floats) -> None:
        self.targets = targets
        self.patterns: tuple[Pattern, ...] = targets.queries.patterns
        self.shape = targets.queries.unknown_shape
        self.counts: list[Floats] = []
        self.groups: list[NDArray[np.int64]] = []
        self.members: list[sparse.csr_array] = []
        n = targets.people
        for pattern, base in zip(self.patterns, targets.bases, strict=True):
            distinct, inverse = np.unique(base, return_inverse=True)
            group = inverse.reshape(base.shape).astype(np.int64)
            people = np.repeat(np.arange(n), pattern.tables)
            self.groups.append(group)
            self.members.append(
                sparse.csr_array(
                    (np.ones(people.size), (group.ravel(), people)), shape=(distinct.size, n)
                )
            )
            self.counts.append(np.rint(release[distinct[:, None] + np.arange(pattern.size)]))

    def propagate(self) -> Mask:
        """Rule out what some cell excludes, until nothing changes; shape (n, values)."""
        # Zeros of the prior may be wrong about real rows: only the release rules values out.
        n = self.targets.people
        allowed = np.ones((n, self.targets.queries.values), dtype=bool)
        table = allowed.reshape(n, *self.shape)
        while True:
            before = int(allowed.sum())
            for index, members in enumerate(self.members):
                pattern = self.patterns[index]
                could = (pattern.sum_to(allowed.astype(np.float64)) > 0).astype(np.float64)
                must = could * (could.sum(axis=1)[:, None] == 1)
                count = self.counts[index]
                full = (members @ could) <= count + 0.5
                spent = (members @ must) >= count - 0.5
                # Somebody in a full cell must be there; somebody not forced into a spent one
                # cannot be there.
                forced = (members.T @ (full & (count > 0.5)).astype(np.float64) > 0) & (could > 0)
                barred = (members.T @ spent.astype(np.float64) > 0) & (must == 0)
                some = forced.any(axis=1, keepdims=True)
                keep = ~barred & np.where(some, forced, True)
                table &= pattern.spread(keep)
            if int(allowed.sum()) == before:
                return allowed

    def rake(self, beliefs: Floats, people: NDArray[np.intp], cycles: int = 60) -> Floats:
        """Scale the beliefs of some people until the tables agree on average."""
        rest = np.setdiff1d(np.arange(beliefs.shape[0]), people)
        result = beliefs.copy()
        q = beliefs[people]
        missing = []
        for index, members in enumerate(self.members):
            fixed = self.patterns[index].sum_to(beliefs[rest])
            missing.append(np.maximum(self.counts[index] - members[:, rest] @ fixed, 0.0))
        for _ in range(cycles):
            start = q.copy()
            for index, pattern in enumerate(self.patterns):
                group = self.groups[index][people]
                for t in range(pattern.tables):
                    names, inverse = np.unique(group[:, t], return_inverse=True)
                    part = pattern.sum_to(q)
                    sums = np.zeros((names.size, pattern.size))
                    np.add.at(sums, inverse, part)
                    ratio = missing[index][names] / np.maximum(sums, 1e-300)
                    q_table = q.reshape(q.shape[0], *self.shape)
                    q_table *= pattern.spread(np.minimum(ratio, 1e6)[inverse])
                    total = q.sum(axis=1, keepdims=True)
                    lost = total[:, 0] <= 0
                    q[lost] = start[lost]
                    q /= np.where(lost[:, None], q.sum(axis=1, keepdims=True), total)
            if np.abs(q - start).max() < 1e-5:
                break
        result[people] = q
        return result

    def witnesses(self, allowed: Mask, beliefs: Floats, people: NDArray[np.intp]) -> Floats | None:
        """Give, for some people, how often each value occurs in whole-number solutions.

        People with the same known columns are one unknown: a count for each value. None where
        the program would be too large or no solution was found within the node limit.
        """
        kinds, kind_of, sizes = np.unique(
            self.targets.codes[people][:, self.targets.queries.known],
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        kind_of = kind_of.ravel()
        values = allowed.shape[1]
        first = np.array([people[kind_of == g][0] for g in range(len(kinds))])
        rest = np.setdiff1d(np.arange(allowed.shape[0]), people)
        rows: list[sparse.csr_array] = [
            sparse.csr_array(sparse.kron(sparse.eye_array(len(kinds)), np.ones((1, values))))
        ]
        right: list[Floats] = [sizes.astype(np.float64)]
        for index, members in enumerate(self.members):
            pattern = self.patterns[index]
            fixed = pattern.sum_to(beliefs[rest])
            missing = self.counts[index] - np.rint(members[:, rest] @ fixed)
            held = sparse.csr_array(members[:, first])
            touched = np.flatnonzero(np.diff(held.indptr))
            rows.append(sparse.csr_array(sparse.kron(held[touched], self._selector(pattern))))
            right.append(missing[touched].ravel())
        matrix = sparse.vstack(rows)
        if matrix.nnz > MAX_SIZE:
            return None
        nodes = max(10, min(2_000, NODE_BUDGET // matrix.nnz))
        target = np.concatenate(right)
        cap = allowed[first] * sizes[:, None]
        constraint = LinearConstraint(matrix, target, target)
        weights = np.log(np.maximum(beliefs[first], 1e-12))
        rng = np.random.default_rng(0)  # perturbations are part of the method, not of the trial
        found: list[Floats] = []
        for number in range(max(2, min(WITNESSES, SIZE_BUDGET // matrix.nnz))):
            shift = rng.gumbel(size=weights.shape) if number else 0.0
            answer = milp(
                -(weights + shift).ravel(),
                integrality=np.ones(weights.size, dtype=np.int64),
                bounds=Bounds(0, cap.ravel()),
                constraints=constraint,
                options={"node_limit": nodes},
            )
            if answer.x is None:
                break
            found.append(np.rint(answer.x).reshape(len(kinds), values) / sizes[:, None])
        return np.mean(found, axis=0)[kind_of] if found else None

    def _selector(self, pattern: Pattern) -> sparse.csr_array:
        """Give the 0/1 matrix that sums joint values to a pattern's, shape (size, values)."""
        queries = self.targets.queries
        every = np.arange(queries.values)
        part = pattern.values(queries.split(every))
        ones = np.ones(every.size)
        return sparse.csr_array((ones, (part, every)), shape=(pattern.size, every.size))
