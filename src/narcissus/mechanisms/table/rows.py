"""Mechanisms that release rows: from functions that make rows of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats
from narcissus._options import Level
from narcissus._validation import between, did_you_mean, probability
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, Guarantee
from narcissus.guarantees.base import EXACT_NOISE, NOTHING_ELSE
from narcissus.mechanisms.queries import Codes, TableQueries
from narcissus.mechanisms.table.base import DEFAULT_DELTA, Columns, Microdata, Named, TableMechanism
from narcissus.mechanisms.table.noisy import HIGHEST, LOWEST

READ_AS = 3
"""Columns of the tables that released rows are counted into, where the table has as many."""

Edge = tuple[int, int]
Maker = Callable[[Codes, np.random.Generator], Codes]
"""From value numbers, shape (n, d), and a generator to released ones, shape (m, d)."""


@dataclass(frozen=True)
class PreparedRows:
    """A mechanism that turns the rows of a data set into released rows."""

    queries: TableQueries  # Tables that the rows are counted into, to be read as counts
    make: Maker
    guarantee: Guarantee | None = None  # What it guarantees; None for nothing
    # What must hold for the guarantee to do so, each a phrase that can be refuted
    assumes: tuple[str, ...] = ()
    # Whether two equal releases of the same people show a fixed seed; see `require_varied`
    must_vary: bool = False
    fixed: bool = False  # Whether two releases of the same people have the same rows, in any order
    releases = Microdata
    noise = None
    cellwise = False

    @classmethod
    def of(
        cls,
        columns: Columns,
        make: Maker,
        guarantee: Guarantee | None = None,
        *,
        assumes: tuple[str, ...] = (),
        must_vary: bool = False,
    ) -> PreparedRows:
        """Read the rows as all tables of three columns that touch an unknown one."""
        return cls(columns.k_way(READ_AS), make, guarantee, assumes, must_vary)

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[Microdata]:
        released: list[Microdata] = []
        for codes in data:
            rows = np.ascontiguousarray(self.make(codes.astype(np.int32), rng), dtype=np.int32)
            rows.setflags(write=False)
            released.append(Microdata(rows))
        return released


@dataclass(frozen=True)
class PublishedRows(Named):
    """The rows themselves in random order, without names: nothing is guaranteed."""

    names = ("the rows", "The rows themselves")

    def prepare(self, columns: Columns) -> PreparedRows:
        return replace(PreparedRows.of(columns, _shuffled), fixed=True)


def _shuffled(codes: Codes, rng: np.random.Generator) -> Codes:
    return rng.permutation(codes)


@dataclass(frozen=True)
class Bootstrap(Named):
    """As many rows as there are people, drawn from theirs with replacement.

    Each person is in it at least once with probability ``1 - (1 - 1/n)^n``, about .632; nothing
    is guaranteed.
    """

    names = ("bootstrap", "Rows drawn with replacement")

    def prepare(self, columns: Columns) -> PreparedRows:
        return PreparedRows.of(columns, _redrawn)


def _redrawn(codes: Codes, rng: np.random.Generator) -> Codes:
    return codes[rng.integers(len(codes), size=len(codes))]


@dataclass(frozen=True)
class Swapping(Named):
    """Rows in which a share of the people have exchanged values with another person.

    As in statistical offices: people are paired at random with somebody who agrees with them on
    the columns of ``match``, and a share of them exchange their values of ``columns`` within
    their pair; a pair may have the same values. Fewer are swapped where too few agree. Rows are
    released in random order. Nothing is guaranteed: most people's rows are released as they are.

    rate: Share of the people who are swapped, in [0, 1]; rounded to whole pairs. A list is a sweep.
    columns: Whose values are exchanged; the unknown columns if left out.
    match: Columns on which the two people of a pair agree.
    """

    rate: Level
    columns: Sequence[str] | None = None
    match: Sequence[str] = ()
    names = ("rate {self.rate:g}", "Swapped rows")
    ordered_by = "rate"

    def __post_init__(self) -> None:
        probability("rate", self.rate)
        if self.columns is not None and not self.columns:
            raise InputError("`columns` must name at least one column, or be left out")
        if both := sorted(set(self.columns or ()) & set(self.match)):
            raise InputError(f"`match` and `columns` both name `{both[0]}`, which would not change")

    def prepare(self, columns: Columns) -> PreparedRows:
        swapped = list(columns.unknown)
        if self.columns is not None:
            swapped = _numbers(columns, "columns", self.columns)
        match = _numbers(columns, "match", self.match)
        if both := sorted(set(swapped) & set(match)):
            raise InputError(
                f"`match` names `{columns.names[both[0]]}`, which is unknown and thus swapped: "
                "name other `columns`, or leave it out"
            )
        make = partial(swap, rate=float(self.rate), swapped=swapped, match=match)
        return PreparedRows.of(columns, make)


def _numbers(columns: Columns, option: str, names: Sequence[str]) -> list[int]:
    for name in names:
        if name not in columns.names:
            hint = did_you_mean(name, columns.names)
            raise InputError(f"`{option}` names `{name}`, which is no column of the table{hint}")
    return [columns.names.index(name) for name in names]


def swap(
    rows: Codes,
    rng: np.random.Generator,
    *,
    rate: float,
    swapped: Sequence[int],
    match: Sequence[int],
) -> Codes:
    """Swap values of columns between pairs of rows that agree on others; shuffle all, (n, d)."""
    rows = rng.permutation(rows)
    first, second = _pairs(rows[:, match])
    wanted = min(int(np.floor(rate * len(rows) / 2 + 0.5)), first.size)
    chosen = rng.permutation(first.size)[:wanted]
    index, other = first[chosen][:, None], second[chosen][:, None]
    result = rows.copy()
    result[index, swapped], result[other, swapped] = rows[other, swapped], rows[index, swapped]
    return rng.permutation(result)  # whom a row stands beside tells nothing


def _pairs(keys: Codes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair rows of equal keys, neighbours within each; the last of an odd number is left over."""
    if keys.shape[1]:
        _, group = np.unique(keys, axis=0, return_inverse=True)
        group = np.ravel(group)
    else:
        group = np.zeros(len(keys), dtype=np.intp)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group) if len(keys) else np.zeros(0, dtype=np.intp)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if sizes.size else sizes
    place = np.arange(len(keys)) - np.repeat(starts, sizes)
    leads = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    return order[leads], order[leads + 1]


@dataclass(frozen=True)
class GaussianCopula(Named):
    """Rows sampled anew from a Gaussian copula that was fitted to the people.

    Each value becomes the normal score of the middle of its ranks; the correlations of the scores
    are those of the copula, and each column keeps its frequencies. Values of a column without
    order are ranked by how frequent they are, the most frequent first (of equally frequent ones
    the earlier label): a different ranking would keep other dependences. Nothing is guaranteed.

    Source: Nelsen 2006, chapter 3.1, for the family; Patki, Wedge and Veeramachaneni 2016 (the
    Synthetic Data Vault) for this use of it.
    """

    names = ("copula", "Rows of a Gaussian copula")

    def prepare(self, columns: Columns) -> PreparedRows:
        return PreparedRows.of(columns, _CopulaSampler(columns.sizes, columns.ordered))


@dataclass(frozen=True)
class _CopulaSampler:
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Fit the copula, and sample as many rows from it."""
        n, d = codes.shape
        margins = [self._margin(codes[:, c], c) for c in range(d)]
        scores = np.stack([normal[codes[:, c]] for c, (_, _, normal) in enumerate(margins)], axis=1)
        normals = rng.standard_normal((n, d)) @ _root(scores)
        ranks = special.ndtr(normals)
        return np.stack(
            [
                values[np.minimum(np.searchsorted(ends, ranks[:, c], "right"), len(values) - 1)]
                for c, (values, ends, _) in enumerate(margins)
            ],
            axis=1,
        )

    def _margin(self, column: Codes, c: int) -> tuple[Codes, Floats, Floats]:
        """Return the values that occur in their ranking, where each ends, and scores by value."""
        counts = np.bincount(column, minlength=self.sizes[c])
        ranking = np.arange(len(counts)) if self.ordered[c] else np.argsort(-counts, kind="stable")
        ranking = ranking[counts[ranking] > 0]
        shares = counts[ranking] / counts.sum()
        ends = np.cumsum(shares)
        scores = np.zeros(len(counts))
        scores[ranking] = special.ndtri(ends - shares / 2)
        return ranking.astype(np.int32), ends, scores


def _root(scores: Floats) -> Floats:
    """Return a square root of the scores' correlations, (d, d); a constant column has none."""
    centred = scores - scores.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    varies = lengths > 1e-12 * np.sqrt(len(scores))
    unit = np.where(varies, centred / np.where(varies, lengths, 1.0), 0.0)
    correlations = unit.T @ unit
    np.fill_diagonal(correlations, 1.0)
    values, vectors = np.linalg.eigh(correlations)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


_AS_THE_TREE = (
    "the number of people is public, and the tree is measured and chosen as it is described here",
    EXACT_NOISE,
    NOTHING_ELSE,
)


@dataclass(frozen=True)
class TreeSynthesizer(TableMechanism):
    """Synthetic rows of a tree of columns that was measured with noise, as MST does.

    epsilon: Privacy level of the whole release; `inf` is no noise and no guarantee.
    delta: Of the level, in (0, 1).
    """

    epsilon: Level
    delta: float = DEFAULT_DELTA

    def __post_init__(self) -> None:
        if not math.isinf(between("epsilon", self.epsilon, 0, math.inf, open_low=True)):
            between("epsilon", self.epsilon, LOWEST, HIGHEST)
        between("delta", self.delta, 0, 1, open_low=True, open_high=True)

    @property
    def label(self) -> str:
        return "no noise" if math.isinf(self.epsilon) else f"ε = {self.epsilon:g}"

    @property
    def title(self) -> str:
        return "Rows of a noisy spanning tree"

    @property
    def strength(self) -> float:
        return 1 / self.epsilon

    def prepare(self, columns: Columns) -> PreparedRows:
        if math.isinf(self.epsilon):
            return PreparedRows.of(columns, NoisyTree(columns.sizes))
        level = GaussianDP.from_epsilon_delta(self.epsilon, self.delta)
        tree = NoisyTree.of_mu(columns.sizes, level.mu)
        return PreparedRows.of(columns, tree, GaussianDP(tree.mu, program=_AS_THE_TREE))


@dataclass(frozen=True)
class NoisyTree:
    """A maximum spanning tree of columns, from noisy tables.

    After McKenna, Miklau and Sheldon 2021 (MST), small: measure every column, choose a tree by the
    exponential mechanism, measure its pairs, sample from the tree. What follows depends on what was
    measured alone.

    Privacy, when one person's record is replaced (n is public). Let the whole release be mu-GDP.

    *Measuring.* A replaced record takes one from a cell of a table and adds one to another: sqrt(2)
    in L2 at most, sqrt(2 t) for t tables. Normal noise of deviation s on all of their cells is GDP
    with mu = sqrt(2 t) / s (Dong, Roth and Su 2022, Theorem 1).

    *Choosing.* The score of a pair is the L1 distance of its table from one that is computed of
    what was measured before: two cells of the pair's table move by one each, so the score moves by
    at most 2, up or down. With probabilities proportional to exp(w score / 4) the log of the ratio
    of any outcome's probabilities then lies in [t - w, t] for some t. A likelihood ratio in such an
    interval has mean 1, so it is less spread (in convex order) than the one with the two ends alone
    as values: by Blackwell the choice reveals no more than one of two coins, with chances expit(l)
    and expit(l - w) for some l. Two coins are GDP with mu = g(l) - g(l - w), where g(l) =
    Phi^-1(expit(l)). The slope of g at Phi(x) is Phi(x) Phi(-x) / phi(x), which falls with |x|: its
    derivative is -k/phi with k = (Phi(x) - Phi(-x)) phi(x) - x Phi(x) Phi(-x), where k is 0 at 0
    and at infinity and k' = 2 phi^2 - Phi(x) Phi(-x) is first positive and then negative. So the
    largest mu is at l = w / 2: one choice is GDP with mu = 2 Phi^-1(expit(w / 2)), whatever the
    data.

    *Together* their mu^2 add up, each part being chosen after the others or not (Dong, Roth and Su
    2022, Corollary 3.3). That is more exact than zCDP for the tables; a choice costs .39 w^2 of
    mu^2 instead of .25.
    """

    sizes: tuple[int, ...]  # How many values each column has
    single: float = 0.0  # Standard deviation of the noise on tables of one column
    double: float = 0.0  # Of the noise on tables of two
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

        ``shares`` are the measured frequencies of each column's values.
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
            part = [part[a] if tree == part[b] else tree for tree in part]
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
