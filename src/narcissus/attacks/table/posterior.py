"""The posterior attack: prior times likelihood, by mean field or by Gibbs sampling.

Both approximate each person's posterior over the joint values of the unknown columns, and decide
by it (attack (b) of Narcissus theory 9). The mean field corrects for people's own part in the
counts (`narcissus.attacks.table.cavity`); Gibbs sampling starts from the plain one. Exact counts
have no density; there both look for values that agree with all of them. Rounded and withheld cells,
and released rows, which are counted, are read by `narcissus.attacks.table.propagation`.

**Likelihood**: how likely the release is, as a function of everybody's unknown columns. For people
with beliefs ``q`` (certainties are a case), both forms answer one question quickly: how would the
log likelihood change with each joint value of a person, the others left as they are? And both are
updated in place when somebody's beliefs change. `PairwiseLikelihood` keeps an ``n x n`` matrix for
each pattern: few people, Gaussian noise. In the closed form of Narcissus theory 9, extended to
several unknown columns and to any list of tables: with ``t_P`` the sum of the released cells of the
tables of pattern ``P`` that a person would fall into, and ``K_P`` the number of those tables in
which two people share a cell's known part (of k-way tables ``C(agreements, k - |P|)``),

    log likelihood = sum_P ( sum_i t_P(i, u_i) - 1/2 sum_ij K_P(i, j) [u_i = u_j on P] ) / sigma^2.

`CellLikelihood` keeps the residual of every cell that somebody could fall into: any number of
people, any noise.

**Exact counts**: without noise the release is a set of linear equations in zero-one unknowns. Three
steps, each of which keeps every assignment that agrees with the release:

1. **Propagation**: a cell that is empty rules its value out for all who could fall into it; a
   cell as full as it can be forces it. Repeated until nothing changes; usually that is all.
2. **Raking** (iterative proportional fitting): among beliefs that agree with the tables on
   average, those nearest to the prior.
3. **Witnesses**: whole-number solutions by integer programming, the first the likeliest, the
   others for randomly perturbed priors. A value that all of them agree on is taken as determined.
   Whatever the tables really determine is the same in every witness, so it is always recovered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus._arrays import Floats
from narcissus._validation import between, integer, positive
from narcissus.attacks.table.base import (
    ByBeliefs,
    Simulated,
    View,
    group_members,
    softmax,
    within_reach,
)
from narcissus.attacks.table.cavity import cavity_beliefs
from narcissus.attacks.table.propagation import (
    USUAL_SCALE,
    learned_overlap,
    learned_scale,
    propagated_beliefs,
    usual_overlap,
)
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import Counts, Microdata, ProtectedCounts
from narcissus.mechanisms.noise import GaussianNoise, Noise
from narcissus.mechanisms.queries import Pattern

Mask = NDArray[np.bool_]

PAIRWISE_LIMIT = 1500  # people; above, the n x n matrices no longer fit the cache

WITNESSES = 6
# Sizes of an integer program are its non-zero coefficients. Limits are counts, not seconds: the
# same numbers on every machine. Near them a program takes a few seconds.
MAX_SIZE = 50_000  # above, raking alone decides
NODE_BUDGET = 1_500_000  # nodes times size
SIZE_BUDGET = 60_000  # witnesses times size

ENOUGH = 4_000
"""People of simulated releases from whom the posterior learns."""

MOST = 10
"""Releases from which it learns: what it learns are two numbers."""


class Likelihood(Protocol):
    """The log likelihood around the present beliefs.

    Beliefs have the shape (people, chains, values): chains are independent copies that share
    the arithmetic (Gibbs chains, or one for mean field).
    """

    def clear(self, chains: int) -> None:
        """Set everybody's beliefs to nothing; `move` then adds them, block by block."""
        ...

    def start(self, beliefs: Floats) -> None:
        """Set everybody's beliefs, shape (n, chains, values)."""
        ...

    def fields(self, block: slice, beliefs: Floats) -> Floats:
        """Return the log likelihood of each joint value of the people in a block.

        Up to a constant for each person; ``beliefs`` are the block's own present ones, which are
        taken out. Shape (block, chains, values).
        """
        ...

    def move(self, block: slice, change: Floats) -> None:
        """Add ``change`` to the beliefs of the people in a block."""
        ...

    @property
    def coupling(self) -> float:
        """Mean influence of one person's beliefs on another's field: ``sum_P K_P / sigma^2``."""
        ...


class PairwiseLikelihood:
    """Gaussian noise and few people: one ``n x n`` matrix for each pattern."""

    def __init__(self, targets: Targets, noise: GaussianNoise, release: Floats) -> None:
        queries = targets.queries
        self._queries = queries
        precision = 1 / noise.scale**2
        self._linear: list[Floats] = []
        self._kernels: list[Floats] = []
        self._states: list[Floats] = []
        each = zip(queries.patterns, targets.bases, targets.shared, strict=True)
        for pattern, base, shared in each:
            cells = base[:, :, None] + np.arange(pattern.size)
            # A person's own count is not part of what they add: half of it stays (r - 1/2).
            self._linear.append((release[cells].sum(axis=1) - pattern.tables / 2) * precision)
            self._kernels.append(precision * shared.astype(np.float64))
        self._own = [pattern.tables * precision for pattern in queries.patterns]

    @property
    def coupling(self) -> float:
        """Mean over pairs of different people."""
        n = self._kernels[0].shape[0]
        total = sum(
            float(k.sum()) - n * diagonal
            for k, diagonal in zip(self._kernels, self._own, strict=True)
        )
        return total / max(1, n * (n - 1))

    def clear(self, chains: int) -> None:
        self._states = [
            np.zeros((linear.shape[0], chains, linear.shape[1])) for linear in self._linear
        ]

    def start(self, beliefs: Floats) -> None:
        self._states = []
        for pattern, kernel in zip(self._queries.patterns, self._kernels, strict=True):
            part = pattern.sum_to(beliefs)
            n = part.shape[0]
            self._states.append((kernel @ part.reshape(n, -1)).reshape(part.shape))

    def fields(self, block: slice, beliefs: Floats) -> Floats:
        parts = [
            self._linear[index][block, None, :]
            - self._states[index][block]
            + self._own[index] * pattern.sum_to(beliefs)
            for index, pattern in enumerate(self._queries.patterns)
        ]
        return self._queries.spread(parts)

    def move(self, block: slice, change: Floats) -> None:
        for index, kernel in enumerate(self._kernels):
            part = self._queries.patterns[index].sum_to(change)
            flat = kernel[:, block] @ part.reshape(part.shape[0], -1)
            state = self._states[index]
            state += flat.reshape(state.shape)


class CellLikelihood:
    """Any noise and any number of people: the residual of every cell within reach."""

    def __init__(self, targets: Targets, noise: Noise, release: Floats) -> None:
        queries = targets.queries
        self._noise = noise
        self._queries = queries
        self._bases: list[NDArray[np.int64]] = []
        values: list[Floats] = []
        start = 0
        # Only cells whose known part somebody has are kept, close together.
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            group, cells = within_reach(base, pattern.size)
            self._bases.append(start + group * pattern.size)
            values.append(release[cells].ravel())
            start += cells.size
        self._release = np.concatenate(values)
        self._residual = self._release[None]
        self._targets = targets

    @property
    def coupling(self) -> float:
        """Mean over pairs among the first 256 people."""
        few = self._targets.codes[:256]
        if len(few) < 2 or self._noise.scale == 0:
            return np.inf
        off = ~np.eye(len(few), dtype=bool)
        shared = self._targets.queries.shared(few)
        return sum(float(each[off].mean()) for each in shared) / self._noise.scale**2

    def _cells(self, index: int, block: slice) -> NDArray[np.int64]:
        """Cells of a block's people in the tables of a pattern: (block, tables, size)."""
        size = self._queries.patterns[index].size
        return self._bases[index][block][:, :, None] + np.arange(size)

    def clear(self, chains: int) -> None:
        self._residual = np.repeat(self._release[None], chains, axis=0)

    def start(self, beliefs: Floats) -> None:
        chains = beliefs.shape[1]
        self.clear(chains)
        for block in chunks(self._targets, chains):
            self.move(block, beliefs[block])

    def fields(self, block: slice, beliefs: Floats) -> Floats:
        parts: list[Floats] = []
        linear = isinstance(self._noise, GaussianNoise)
        for index, pattern in enumerate(self._queries.patterns):
            residual = self._residual[:, self._cells(index, block)]  # chains, block, tables, size
            shares = pattern.sum_to(beliefs).swapaxes(0, 1)  # chains, block, size
            if linear:
                total = residual.sum(axis=2) + pattern.tables * (shares - 0.5)
                field = total / self._noise.scale**2
            else:
                field = self._noise.gain(residual + shares[:, :, None]).sum(axis=2)
            parts.append(field.swapaxes(0, 1))
        return self._queries.spread(parts)

    def move(self, block: slice, change: Floats) -> None:
        alone = change.shape[0] == 1
        for index, pattern in enumerate(self._queries.patterns):
            part = pattern.sum_to(change).swapaxes(0, 1)
            cells = self._cells(index, block)
            if alone:  # the tables of one pattern have no cell in common
                self._residual[:, cells[0]] -= part[:, 0, None, :]
                continue
            for chain in range(change.shape[1]):
                residual = self._residual[chain]
                weights = np.broadcast_to(part[chain][:, None], cells.shape)
                if cells.size * 4 > residual.size:
                    residual -= np.bincount(
                        cells.ravel(), weights=weights.ravel(), minlength=residual.size
                    )
                else:
                    np.subtract.at(residual, cells.ravel(), weights.ravel())


def chunks(targets: Targets, chains: int = 1) -> list[slice]:
    """Split the people so that the cells of one chunk stay near 4 million."""
    width = chains * max(1, sum(p.tables * p.size for p in targets.queries.patterns))
    step = max(1, 4_000_000 // width)
    return [slice(a, min(a + step, targets.people)) for a in range(0, targets.people, step)]


def likelihood(targets: Targets, noise: Noise, release: Floats) -> Likelihood:
    """Choose the form that suits the number of people and the noise."""
    if isinstance(noise, GaussianNoise) and targets.people <= PAIRWISE_LIMIT:
        # Work for one person: n entries for each value of a pattern, or one for each value and
        # table, which costs some 16 times as much (gathers from memory instead of a product).
        patterns = targets.queries.patterns
        pairs = targets.people * sum(p.size for p in patterns)
        if pairs <= 16 * sum(p.tables * p.size for p in patterns):
            return PairwiseLikelihood(targets, noise, release)
    return CellLikelihood(targets, noise, release)


def consistent_beliefs(targets: Targets, release: Floats) -> Floats:
    """Return beliefs that agree with exact counts, shape (n, values); rows sum to one."""
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
        self.groups: list[NDArray[np.intp]] = []
        self.members: list[sparse.csr_array] = []
        for pattern, base in zip(self.patterns, targets.bases, strict=True):
            group, cells = within_reach(base, pattern.size)
            self.groups.append(group)
            self.members.append(group_members(group, len(cells)))
            self.counts.append(np.rint(release[cells]))

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
        """Return, for some people, how often each value occurs in whole-number solutions.

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
            incidence = sparse.csr_array(members[:, first])
            touched = np.flatnonzero(np.diff(incidence.indptr))
            rows.append(sparse.csr_array(sparse.kron(incidence[touched], self._selector(pattern))))
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
        solutions: list[Floats] = []
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
            solutions.append(np.rint(answer.x).reshape(len(kinds), values) / sizes[:, None])
        return np.mean(solutions, axis=0)[kind_of] if solutions else None

    def _selector(self, pattern: Pattern) -> sparse.csr_array:
        """Return the 0/1 matrix that sums joint values to a pattern's, shape (size, values)."""
        queries = self.targets.queries
        every = np.arange(queries.values)
        part = pattern.values(queries.split(every))
        ones = np.ones(every.size)
        return sparse.csr_array((ones, (part, every)), shape=(pattern.size, every.size))


@dataclass(frozen=True)
class MeanField(ByBeliefs):
    """Mean-field variational Bayes: everybody's beliefs independent, people's own part taken out.

    sweeps: At most so many passes over the people each time that the beliefs are solved for.
    tolerance: Stop when a pass wins less than this, in nats a person.
    overlap: Of any release but noisy counts: by what factor the variance of a count is widened
        because tables repeat each other, at least 1. Learned from simulated releases if left out.
    scale: Of released rows: the standard deviation of a cell when they are counted, in counts.
        Learned from simulated releases if left out.
    """

    sweeps: int = 40
    tolerance: float = 1e-6
    overlap: float | None = None
    scale: float | None = None
    title = "the posterior by mean-field variational Bayes"
    uses = "prior and release"
    reads = (Counts, ProtectedCounts, Microdata)
    learns_from = (ProtectedCounts, Microdata)

    def __post_init__(self) -> None:
        integer("sweeps", self.sweeps, low=1)
        positive("tolerance", self.tolerance)
        if self.overlap is not None:
            between("overlap", self.overlap, 1, np.inf)
        if self.scale is not None:
            positive("scale", self.scale)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> MeanField:
        """Return the attack with what is left out learned; noisy counts leave nothing to learn."""
        if not simulated or isinstance(simulated[0].release, Counts):
            return self
        some = simulated[: max(1, min(MOST, ENOUGH // max(1, simulated[0].targets.people)))]
        scale, overlap = self.scale, self.overlap
        if scale is None and isinstance(some[0].release, Microdata):
            scale = learned_scale(some)
        if overlap is None:
            overlap, _ = learned_overlap(some, scale or USUAL_SCALE)
        return replace(self, scale=scale, overlap=overlap)

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        targets = view.targets
        if view.noise is None:
            overlap = usual_overlap(targets) if self.overlap is None else self.overlap
            return propagated_beliefs(view, overlap, self.scale or USUAL_SCALE)
        if view.noise.scale == 0:
            return consistent_beliefs(targets, view.release)
        return cavity_beliefs(targets, view.noise, view.release, self.sweeps, self.tolerance)


def mean_field(targets: Targets, model: Likelihood, sweeps: int, tolerance: float) -> Floats:
    """Run the plain coordinate ascent, which takes out too much of people's own part.

    Shape (n, values). People are updated a block at a time; at low noise a block is one person.
    The likelihood enters with a growing weight over the first passes, so that early beliefs do not
    freeze the rest.
    """
    n = targets.people
    q = targets.prior[:, None, :].copy()
    model.start(q)
    coupling = model.coupling
    strength = coupling * n
    weights = np.geomspace(1 / strength, 1, 6)[:-1] if 1 < strength < np.inf else np.empty(0)
    for sweep in range(sweeps):
        weight = float(weights[sweep]) if sweep < weights.size else 1.0
        moved = 0.0
        for block in _blocks(n, weight * coupling):
            old = q[block]
            new = softmax(targets.log_prior[block, None] + weight * model.fields(block, old))
            change = new - old
            model.move(block, change)
            q[block] = new
            moved = max(moved, float(np.abs(change).max()))
        if sweep >= weights.size and moved < tolerance:
            break
    return q[:, 0]


def _blocks(n: int, coupling: float) -> list[slice]:
    """Split ``n`` people into blocks within which parallel updates are stable.

    A probability moves by at most a quarter of what its field moves, so that members whose
    couplings sum to two still contract by a half.
    """
    size = min(1 + int(min(2 / max(coupling, 1e-12), n)), n // 3 + 1)
    return [slice(a, min(a + size, n)) for a in range(0, n, size)]


@dataclass(frozen=True)
class GibbsSampling(ByBeliefs):
    """Gibbs sampling: draw each person's value in turn from its exact conditional.

    Several chains run side by side from draws of the mean field; beliefs are averages of the
    conditionals, not of the draws (Rao-Blackwell).

    sweeps: Passes over the people, all chains together.
    chains: Independent chains.
    burn: Share of each chain's passes that is thrown away, in [0, 1).
    """

    sweeps: int = 200
    chains: int = 8
    burn: float = 0.2
    title = "the posterior by Gibbs sampling"
    uses = "prior and release"

    def __post_init__(self) -> None:
        integer("sweeps", self.sweeps, low=1)
        integer("chains", self.chains, low=1)
        between("burn", self.burn, 0, 1, open_high=True)

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        assert view.noise is not None
        if view.noise.scale == 0:
            return consistent_beliefs(view.targets, view.release)
        targets, near = view.targets, view.noise
        n, values = targets.prior.shape
        if not isinstance(near, GaussianNoise):  # of the same variance, to start from
            near = GaussianNoise(float(np.sqrt(2)) * near.scale)
        start = mean_field(targets, likelihood(targets, near, view.release), 20, 1e-2)
        model = likelihood(targets, view.noise, view.release)
        ladder = start.cumsum(axis=1)
        state = np.stack(
            [(ladder < rng.random((n, 1))).sum(axis=1) for _ in range(self.chains)], axis=1
        )
        state = np.minimum(state, values - 1)
        every = np.arange(values)

        def certain(block: slice) -> Floats:
            return (state[block][:, :, None] == every).astype(np.float64)

        # Beliefs are built as they are needed: all at once they would not fit for many people.
        model.clear(self.chains)
        for block in chunks(targets, self.chains):
            model.move(block, certain(block))
        passes = -(-self.sweeps // self.chains)
        skipped = int(self.burn * passes)
        total = np.zeros((n, values))
        for sweep in range(passes):
            for i in range(n):
                block = slice(i, i + 1)
                old = certain(block)
                logits = (targets.log_prior[i] + model.fields(block, old))[0]
                state[i] = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
                model.move(block, certain(block) - old)
                if sweep >= skipped:
                    total[i] += softmax(logits).sum(axis=0)
        return total / total.sum(axis=1, keepdims=True)
