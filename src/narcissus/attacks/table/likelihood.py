"""How likely the release is, as a function of everybody's unknown columns.

For people with beliefs ``q`` (certainties are a case), both forms answer one question quickly:
how would the log likelihood change with each joint value of a person, the others left as they
are? And both are updated in place when somebody's beliefs change.

`PairwiseLikelihood` keeps an ``n x n`` matrix for each pattern: few people, Gaussian noise. In the
closed form of Narcissus theory 9, extended to several unknown columns and to any list of tables:
with ``t_P`` the sum of the released cells of the tables of pattern ``P`` that a person would fall
into, and ``K_P`` the number of those tables in which two people share a cell's known part (of
k-way tables ``C(agreements, k - |P|)``),

    log likelihood = sum_P ( sum_i t_P(i, u_i) - 1/2 sum_ij K_P(i, j) [u_i = u_j on P] ) / sigma^2.

`CellLikelihood` keeps the residual of every cell that somebody could fall into: any number of
people, any noise.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import Targets
from narcissus.mechanisms.noise import GaussianNoise, Noise

Floats = NDArray[np.float64]
Block = slice

PAIRWISE_LIMIT = 1500  # people; above, the n x n matrices no longer fit the cache


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

    def fields(self, block: Block, beliefs: Floats) -> Floats:
        """Return the log likelihood of each joint value of the people in a block.

        Up to a constant for each person; ``beliefs`` are the block's own present ones, which are
        taken out. Shape (block, chains, values).
        """
        ...

    def move(self, block: Block, change: Floats) -> None:
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
            float(k.sum()) - n * own for k, own in zip(self._kernels, self._own, strict=True)
        )
        return total / max(1, n * (n - 1))

    def clear(self, chains: int) -> None:
        """Set everybody's beliefs to nothing."""
        self._states = [
            np.zeros((linear.shape[0], chains, linear.shape[1])) for linear in self._linear
        ]

    def start(self, beliefs: Floats) -> None:
        """Set everybody's beliefs."""
        self._states = []
        for pattern, kernel in zip(self._queries.patterns, self._kernels, strict=True):
            part = pattern.sum_to(beliefs)
            n = part.shape[0]
            self._states.append((kernel @ part.reshape(n, -1)).reshape(part.shape))

    def fields(self, block: Block, beliefs: Floats) -> Floats:
        """Return the log likelihood of each joint value of the people in a block."""
        parts = [
            self._linear[index][block, None, :]
            - self._states[index][block]
            + self._own[index] * pattern.sum_to(beliefs)
            for index, pattern in enumerate(self._queries.patterns)
        ]
        return self._queries.spread(parts)

    def move(self, block: Block, change: Floats) -> None:
        """Add ``change`` to the beliefs of the people in a block."""
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
            distinct, inverse = np.unique(base, return_inverse=True)
            self._bases.append(start + inverse.reshape(base.shape) * pattern.size)
            values.append(release[distinct[:, None] + np.arange(pattern.size)].ravel())
            start += distinct.size * pattern.size
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

    def _cells(self, index: int, block: Block) -> NDArray[np.int64]:
        """Cells of a block's people in the tables of a pattern: (block, tables, size)."""
        size = self._queries.patterns[index].size
        return self._bases[index][block][:, :, None] + np.arange(size)

    def clear(self, chains: int) -> None:
        """Set everybody's beliefs to nothing."""
        self._residual = np.repeat(self._release[None], chains, axis=0)

    def start(self, beliefs: Floats) -> None:
        """Set everybody's beliefs."""
        chains = beliefs.shape[1]
        self.clear(chains)
        for block in chunks(self._targets, chains):
            self.move(block, beliefs[block])

    def fields(self, block: Block, beliefs: Floats) -> Floats:
        """Return the log likelihood of each joint value of the people in a block."""
        parts: list[Floats] = []
        linear = isinstance(self._noise, GaussianNoise)
        for index, pattern in enumerate(self._queries.patterns):
            residual = self._residual[:, self._cells(index, block)]  # chains, block, tables, size
            own = pattern.sum_to(beliefs).swapaxes(0, 1)  # chains, block, size
            if linear:
                total = residual.sum(axis=2) + pattern.tables * (own - 0.5)
                field = total / self._noise.scale**2
            else:
                field = self._noise.gain(residual + own[:, :, None]).sum(axis=2)
            parts.append(field.swapaxes(0, 1))
        return self._queries.spread(parts)

    def move(self, block: Block, change: Floats) -> None:
        """Add ``change`` to the beliefs of the people in a block."""
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


def chunks(targets: Targets, chains: int = 1) -> list[Block]:
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
