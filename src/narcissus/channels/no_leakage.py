"""Tests of "nothing leaks": by permuted secrets, or by betting, which may stop at any sample.

If nothing leaks, each way to hand the secrets to the outputs is as likely as the true one. Several
statistics look for several kinds of leak; which of them stands out most is compared with the same
for permuted secrets. In betting the odds are the prior's and earlier samples teach the beliefs: if
nothing leaks the capital stays one on average, so that it ever reaches x with chance at most 1/x.

Source: Phipson and Smyth 2010 (the p-value); Ville 1939; Narcissus theory 6.16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import spatial, special

from narcissus._outwards import upper
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.channels.estimators import portfolio
from narcissus.channels.prequential import Draws, LogScore, paid_ahead, with_prior
from narcissus.channels.samples import Codes, Matrix, SampledResult, Samples, samples
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer

if TYPE_CHECKING:
    from narcissus.channels.channel import PriorLike


@dataclass(frozen=True, eq=False)
class Handed:
    """The secrets handed to the outputs in one way."""

    secret: Codes  # Of the samples that are taken one by one
    # How often each secret comes with each output among the others, shape (secrets, outputs)
    table: Matrix


Statistic = Callable[[Handed], float]
"""From the secrets as they are handed out to a number that a leak makes large."""

PRODUCTS = 20  # Columns up to which products of two are tried: masked values show there
NEIGHBOURS = 5
MOST_POINTS = 20_000
"""Samples among which neighbours are sought; others are left out of that statistic."""
WIDEST = 200  # Columns of which each is ranked; of more, those that vary most
FULL = 4
"""Samples for each cell of the table of counts, on average, from which on it is drawn itself."""


@dataclass(frozen=True)
class NoLeakageTest(SampledResult):
    """Whether outputs depend on the secret."""

    p_value: float  # Chance of evidence as strong as this where nothing leaks, at most
    strongest: str  # What stood out most
    # The p-value of each kind of evidence by itself; the smallest of them is no p-value
    alone: dict[str, float]
    permutations: int  # How many; no p-value is below ``1 / (permutations + 1)``
    samples: int
    secrets: int

    def __str__(self) -> str:
        head = f"ESTIMATED: no leakage: p = {upper(self.p_value, 4)} ({self.samples} samples of "
        head += f"{self.secrets} secrets, {self.permutations} permutations)"
        if self.p_value <= 0.05:
            verdict = f"the outputs depend on the secret; most of all by {self.strongest}"
        else:
            verdict = "no dependence was found, though there may be some: see the "
            verdict += "lower limit of Bayes security"
        return f"{head}\n  {verdict}"


def no_leakage_test(
    secrets: Any,
    outputs: Any,
    *,
    permutations: int = 999,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> NoLeakageTest:
    """Test whether outputs depend on the secret, whatever they are.

    secrets, outputs: As in `narcissus.channels.estimate`; one column or several, discrete or
        continuous.

    The p-value ``(b + 1) / (permutations + 1)`` is exact for a number of samples that was fixed
    beforehand, if samples are independent (numbers per secret fixed or random). Samples of one
    secret taken all at the same time differ by whatever drifts meanwhile: mix them.

    It finds shifts and spreads of single columns (ranks, so that heavy tails do no harm), of
    products of two (masked values), and differences of any kind in repeating outputs or, by
    neighbours, in a handful of columns.

    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=300)
    >>> no_leakage_test(secret, rng.normal(size=300) * (1 + secret), rng=1).p_value <= 0.01
    True
    """
    many = integer("permutations", permutations, low=19)
    data, random = samples(secrets, outputs, fewest=1), generator(rng)
    singly = _one_by_one(data, random)
    statistics = dict(_statistics(data, singly, random))
    values = np.empty((len(statistics), many + 1))
    observer.start("permutations", many + 1)
    for turn, handed in enumerate(islice(_handed(data, singly, random), many + 1)):
        values[:, turn] = [statistic(handed) for statistic in statistics.values()]
        observer.advance()
    observer.finish()
    values = np.round(values, 9)  # one value, summed in another order, is one value
    # How many are at least as large: ranks from the top, ties in nobody's favour.
    alone = scipy.stats.rankdata(-values, method="max", axis=1) / (many + 1)
    # Of those that are alike in this the one that lies farthest out: as symmetric, and finer.
    spread = np.maximum(values.std(axis=1, keepdims=True), 1e-12)
    far = ((values - values.mean(axis=1, keepdims=True)) / spread).max(axis=0)
    best = alone.min(axis=0)
    as_strong = (best < best[0]) | ((best == best[0]) & (far >= far[0]))
    names = list(statistics)
    by_itself = dict(zip(names, alone[:, 0].tolist(), strict=True))
    strongest = names[int(alone[:, 0].argmin())]
    size, count = data.size, len(data.names)
    return NoLeakageTest(float(as_strong.mean()), strongest, by_itself, many, size, count)


def _one_by_one(data: Samples, random: np.random.Generator) -> Codes:
    """Choose the samples whose secrets are permuted one by one: all, or those with neighbours.

    Of many samples with few outputs the table of counts is drawn as a whole.
    """
    if data.size < max(MOST_POINTS, FULL * len(data.names) * data.distinct):
        return np.arange(data.size)
    alone = data.points is None or data.points.shape[1] == 1
    return random.permutation(data.size)[: 0 if alone else MOST_POINTS]


def _handed(data: Samples, singly: Codes, random: np.random.Generator) -> Iterator[Handed]:
    """Yield the secrets as they are, then handed out at random again and again.

    With the numbers of each secret and of each output given, the table of counts has the law that
    permuted secrets give it (Patefield 1981).
    """
    each, outputs = np.bincount(data.secret), np.bincount(data.output)
    is_all = len(singly) == data.size
    shape = (len(each), 0 if is_all else len(outputs))
    others = np.ones(data.size, dtype=bool)
    others[singly] = False
    table = np.zeros(shape)
    np.add.at(table, (data.secret[others], data.output[others]), 1)
    yield Handed(data.secret[singly], table)
    left = outputs - np.bincount(data.output[singly], minlength=len(outputs))
    while is_all:
        yield Handed(random.permutation(data.secret), table)
    while True:
        mine = random.multivariate_hypergeometric(each, len(singly))
        drawn = scipy.stats.random_table(each - mine, left).rvs(random_state=random).astype(float)
        yield Handed(random.permutation(np.repeat(np.arange(len(each)), mine)), drawn)


def _statistics(
    data: Samples, singly: Codes, random: np.random.Generator
) -> Iterator[tuple[str, Statistic]]:
    if not data.continuous:
        yield "which outputs come how often", _counts(data, singly)
    if data.points is None:
        return
    points = data.points
    spread = points[data.output].std(axis=0)
    points = points[:, np.sort(np.argsort(-spread, kind="stable")[:WIDEST])]
    middle = points - np.median(points[data.output], axis=0)
    yield "the level of a column", _groups(data, singly, points)
    yield "the spread of a column", _groups(data, singly, np.abs(middle))
    if 2 <= points.shape[1] <= PRODUCTS:
        pairs = combinations(range(points.shape[1]), 2)
        products = np.stack([middle[:, i] * middle[:, j] for i, j in pairs], axis=1)
        yield "a product of two columns", _groups(data, singly, products)
    if data.continuous or points.shape[1] > 1:
        yield "neighbours", _neighbours(points[data.output[singly]], random)


def _counts(data: Samples, singly: Codes) -> Statistic:
    output, distinct = data.output[singly], data.distinct

    def statistic(handed: Handed) -> float:
        if handed.table.size:
            single_counts = np.bincount(
                handed.secret * distinct + output, minlength=handed.table.size
            )
            counts = handed.table.ravel() + single_counts
        else:
            counts = replace(data, secret=handed.secret).counts().data
        return float(special.xlogy(counts, counts).sum())

    return statistic


def _groups(data: Samples, singly: Codes, features: Matrix) -> Statistic:
    """Return the largest Kruskal-Wallis statistic of any feature of the outputs."""
    ranks = scipy.stats.rankdata(features[data.output], axis=0)
    ranks -= ranks.mean(axis=0)
    ranks /= np.maximum(ranks.std(axis=0), 1e-12)
    single_ranks = np.ascontiguousarray(ranks[singly].T)
    of_output = np.zeros_like(features)
    of_output[data.output] = ranks
    each = np.bincount(data.secret)

    def statistic(handed: Handed) -> float:
        sums = np.stack([np.bincount(handed.secret, row, len(each)) for row in single_ranks])
        if handed.table.size:
            sums = sums + (handed.table @ of_output).T
        return float((sums**2 / each).sum(axis=1).max())

    return statistic


def _neighbours(points: Matrix, random: np.random.Generator) -> Statistic:
    some = random.permutation(len(points))[:MOST_POINTS]
    spread = points.std(axis=0)
    scaled = points[some] / np.where(spread > 0, spread, 1.0)
    count = min(NEIGHBOURS + 1, len(some))
    near = np.asarray(spatial.cKDTree(scaled).query(scaled, k=count)[1]).reshape(len(some), -1)

    def statistic(handed: Handed) -> float:
        mine: NDArray[np.intp] = handed.secret[some]
        return float((mine[near] == mine[:, None]).sum())

    return statistic


FIRST = 32
GROWTH = 1.25  # Blocks end at samples that do not depend on how many there will be


@dataclass(frozen=True)
class LeakageEvidence(SampledResult):
    """How much betting on secrets has won."""

    log_capital: float  # Natural log of the largest capital so far, at least 0
    samples: int

    @property
    def p_value(self) -> float:
        """A p-value of "nothing leaks" that holds whenever one stops."""
        return math.exp(-min(self.log_capital, 700.0))

    def __str__(self) -> str:
        verdict = "no dependence was found, though there may be some"
        if self.p_value <= 0.05:
            verdict = "the outputs depend on the secret"
        return (
            f"ESTIMATED: no leakage: p = {upper(self.p_value, 4)} ({self.samples} samples, by "
            f"betting; holds whenever one stops)\n  {verdict}"
        )


def evidence_of_leakage(
    secrets: Any,
    outputs: Any,
    prior: PriorLike,
    *,
    estimators: Any = None,
    observer: Observer = SILENT,
) -> LeakageEvidence:
    """Bet on each sample's secret, in the order in which samples came.

    secrets, outputs, estimators, observer: As in `narcissus.channels.estimate`.
    prior: Probability of each secret by name, or in the order of the sorted secrets: that from
        which they were drawn, each by itself.

    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=300)
    >>> evidence_of_leakage(secret, secret ^ (rng.random(300) < 0.3), [0.5, 0.5]).p_value < 0.001
    True
    """
    # Also those that never came: to leave them out would be to know it beforehand.
    data, weights = with_prior(samples(secrets, outputs, fewest=1), prior)
    if not (weights[data.secret] > 0).all():
        raise InputError("`prior` must be above 0 for every secret that has samples")
    ends = [0, 0, FIRST]
    while ends[-1] < data.size:
        ends.append(math.ceil(ends[-1] * GROWTH))
    ends = [min(end, data.size) for end in ends]
    draws = Draws(np.arange(0), data.secret, np.arange(data.size))
    tried = portfolio(estimators, data)
    score = LogScore(np.maximum(weights, 1e-300), np.zeros(len(weights), dtype=bool))
    (paid,) = paid_ahead(data, tried, draws, [score], weights, observer, ends)
    return LeakageEvidence(max(0.0, float(np.cumsum(paid.values).max())), data.size)
