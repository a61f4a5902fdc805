"""Differentially private synthetic rows: a maximum spanning tree of columns, from noisy tables.

After McKenna, Miklau and Sheldon 2021 (MST), small: measure every column, choose a tree by the
exponential mechanism, measure its pairs, sample from the tree. What follows depends on what was
measured alone.

Privacy, when one person's record is replaced (n is public). Let the whole release be mu-GDP.

*Measuring.* A replaced record takes one from a cell of a table and adds one to another: sqrt(2) in
L2 at most, sqrt(2 t) for t tables. Normal noise of deviation s on all of their cells is GDP with
mu = sqrt(2 t) / s (Dong, Roth and Su 2022, Theorem 1).

*Choosing.* The score of a pair is the L1 distance of its table from one that is computed of what
was measured before: two cells of the pair's table move by one each, so the score moves by at most
2, up or down. With probabilities proportional to exp(w score / 4) the log of the ratio of any
outcome's probabilities then lies in [t - w, t] for some t. A likelihood ratio in such an interval
has mean 1, so it is less spread (in convex order) than the one with the two ends alone as values:
by Blackwell the choice reveals no more than one of two coins, with chances expit(l) and
expit(l - w) for some l. Two coins are GDP with mu = g(l) - g(l - w), where g(l) =
Phi^-1(expit(l)). The slope of g at Phi(x) is Phi(x) Phi(-x) / phi(x), which falls with |x|: its
derivative is -k/phi with k = (Phi(x) - Phi(-x)) phi(x) - x Phi(x) Phi(-x), where k is 0 at 0 and
at infinity and k' = 2 phi^2 - Phi(x) Phi(-x) is first positive and then negative. So the largest
mu is at l = w / 2: one choice is GDP with mu = 2 Phi^-1(expit(w / 2)), whatever the data.

*Together* their mu^2 add up, each part being chosen after the others or not (Dong, Roth and Su
2022, Corollary 3.3). That is more exact than zCDP for the tables; a choice costs .39 w^2 of mu^2
instead of .25.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._options import Level
from narcissus._validation import between
from narcissus.guarantees import GaussianDP
from narcissus.mechanisms.marginals import Codes, Floats
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.planned import DEFAULT_DELTA, HIGHEST, LOWEST
from narcissus.mechanisms.table.rows import PreparedRows

Edge = tuple[int, int]


@dataclass(frozen=True)
class TreeSynthesizer(TableMechanism):
    """Synthetic rows of a tree of columns that was measured with noise, as MST does.

    Parameters
    ----------
    epsilon
        Privacy level of the whole release; `inf` is no noise and no guarantee.
    delta
        Of the level, in (0, 1).
    """

    epsilon: Level
    delta: float = DEFAULT_DELTA

    def __post_init__(self) -> None:
        if not math.isinf(between("epsilon", self.epsilon, 0, math.inf, open_low=True)):
            between("epsilon", self.epsilon, LOWEST, HIGHEST)
        between("delta", self.delta, 0, 1, open_low=True, open_high=True)

    @property
    def label(self) -> str:
        """The level, or that there is no noise."""
        return "no noise" if math.isinf(self.epsilon) else f"ε = {self.epsilon:g}"

    @property
    def title(self) -> str:
        """What is released, as a title begins."""
        return "Rows of a noisy spanning tree"

    @property
    def strength(self) -> float:
        """The inverse of the level."""
        return 1 / self.epsilon

    def prepare(self, columns: Columns) -> PreparedRows:
        """Share the level among the steps of any table."""
        if math.isinf(self.epsilon):
            return PreparedRows.of(columns, NoisyTree(columns.sizes))
        level = GaussianDP.from_epsilon_delta(self.epsilon, self.delta)
        tree = NoisyTree.of_mu(columns.sizes, level.mu)
        return PreparedRows.of(columns, tree, GaussianDP(tree.mu))


@dataclass(frozen=True)
class NoisyTree:
    """Makes rows of rows."""

    sizes: tuple[int, ...]  # How many values each column has
    # single, double: Standard deviation of the noise on tables of one column and of two
    single: float = 0.0
    double: float = 0.0
    # Of the choice of each edge: its log odds are ``width / 4`` times the score
    width: float = math.inf

    @classmethod
    def of_mu(cls, sizes: tuple[int, ...], mu: float) -> NoisyTree:
        """Share mu^2 equally among columns, choices and pairs, as far as there are any."""
        d = len(sizes)
        share = mu / math.sqrt(min(d, 3))
        if d == 1:
            return cls(sizes, single=math.sqrt(2) / share)
        # Of two columns there is one tree: nothing is chosen.
        half = share / math.sqrt(d - 1) / 2
        width = 2 * float(special.log_ndtr(half) - special.log_ndtr(-half))
        return cls(sizes, math.sqrt(2 * d) / share, math.sqrt(2 * (d - 1)) / share, width)

    @property
    def mu(self) -> float:
        """The Gaussian DP of all steps together."""
        d = len(self.sizes)
        squares = 2 * d / self.single**2
        if d > 1:
            squares += 2 * (d - 1) / self.double**2
        if d > 2:
            choice = 2 * float(special.ndtri_exp(special.log_expit(-self.width / 2)))
            squares += (d - 1) * choice**2
        return math.sqrt(squares)

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Measure the columns, choose the tree, measure its pairs, sample as many rows."""
        n, d = codes.shape
        shares = [self._measured(codes, (c,), self.single, rng) / n for c in range(d)]
        released = np.empty((n, d), dtype=np.int32)
        released[:, 0] = _drawn(shares[0][None], np.zeros(n, dtype=np.int32), rng)
        for parent, child in outwards(self.choose(codes, shares, rng)):
            pair = self._measured(codes, (parent, child), self.double, rng)
            seen = pair.sum(axis=1, keepdims=True) > 0
            rows = np.where(seen, pair, shares[child])
            released[:, child] = _drawn(rows, released[:, parent], rng)
        return released

    def choose(self, codes: Codes, shares: list[Floats], rng: np.random.Generator) -> list[Edge]:
        """Choose the edges of a spanning tree, each by the exponential mechanism.

        codes: the people, shape (n, d).
        shares: how frequent each value of each column is, as measured.
        rng: source of the choices.
        """
        d = len(self.sizes)
        pairs = list(combinations(range(d), 2))
        scores = np.array([self.score(codes, pair, shares) for pair in pairs])
        part = list(range(d))  # the tree that each column is in so far
        edges: list[Edge] = []
        while len(edges) < d - 1:
            free = [e for e, (a, b) in enumerate(pairs) if part[a] != part[b]]
            odds = scores[free]
            if not math.isinf(self.width):
                odds = self.width / 4 * odds + rng.gumbel(size=len(free))
            a, b = pairs[free[int(np.argmax(odds))]]
            edges.append((a, b))
            part = [part[a] if one == part[b] else one for one in part]
        return edges

    def score(self, codes: Codes, pair: Edge, shares: list[Floats]) -> float:
        """Return the L1 distance of a pair's table from that of independent columns."""
        expected = len(codes) * np.outer(shares[pair[0]], shares[pair[1]])
        return float(np.abs(self._counts(codes, pair) - expected).sum())

    def _counts(self, codes: Codes, columns: tuple[int, ...]) -> NDArray[np.int64]:
        shape = tuple(self.sizes[c] for c in columns)
        cells = np.ravel_multi_index(tuple(codes[:, c] for c in columns), shape)
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    def _measured(
        self, codes: Codes, columns: tuple[int, ...], scale: float, rng: np.random.Generator
    ) -> Floats:
        """Return a table with noise, as the nearest one without negative cells that sums to n."""
        counts = self._counts(codes, columns)
        noisy = counts + scale * rng.standard_normal(counts.shape)
        return on_simplex(noisy.ravel(), len(codes)).reshape(counts.shape)


def outwards(edges: list[Edge]) -> Iterator[Edge]:
    """Yield the edges of a tree as (parent, child), from column 0 on."""
    left, reached = list(edges), [0]
    for parent in reached:
        for edge in [e for e in left if parent in e]:
            left.remove(edge)
            child = edge[1] if edge[0] == parent else edge[0]
            reached.append(child)
            yield parent, child


def on_simplex(values: Floats, total: float) -> Floats:
    """Return the nearest vector without negative entries that sums to ``total``.

    Source: Held, Wolfe and Crowder 1974.
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def _drawn(weights: Floats, which: Codes, rng: np.random.Generator) -> Codes:
    """Draw a value for each person from the row of ``weights`` that it is told."""
    ends = np.cumsum(weights, axis=1)
    ends /= ends[:, -1:]
    return (ends[which] <= rng.random(len(which))[:, None]).sum(axis=1).astype(np.int32)
