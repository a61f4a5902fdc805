"""A test of "nothing leaks": outputs that do not depend on the secret, by permuted secrets.

If nothing leaks, each way to hand the secrets to the outputs is as likely as the true one. Several
statistics look for several kinds of leak; which of them stands out most is compared with the same
for permuted secrets, so that trying several costs nothing in validity.

Source: Phipson and Smyth 2010 (the p-value); Narcissus theory 6.16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import spatial

from narcissus._outwards import upper
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.channels.samples import Codes, Matrix, Samples, samples
from narcissus.observer import SILENT, Observer
from narcissus.results import Grade, Result

Statistic = Callable[[Codes], float]
"""From the secret of each sample to a number that a leak makes large."""

PRODUCTS = 20
"""Columns up to which products of two are tried: masked values show there."""
NEIGHBOURS = 5
MOST_POINTS = 20_000
"""Samples among which neighbours are sought; others are left out of that statistic."""
WIDEST = 200
"""Columns of which each is ranked; of more, those that vary most."""


@dataclass(frozen=True)
class NoLeakageTest(Result):
    """Whether outputs depend on the secret.

    Attributes
    ----------
    p_value
        Chance of evidence as strong as this where nothing leaks, at most.
    strongest
        What stood out most.
    alone
        The p-value of each kind of evidence by itself; the smallest of them is no p-value.
    permutations
        How many; no p-value is below ``1 / (permutations + 1)``.
    samples, secrets
        How many.
    """

    p_value: float
    strongest: str
    alone: dict[str, float]
    permutations: int
    samples: int
    secrets: int

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    def __str__(self) -> str:
        head = f"SAMPLED: no leakage: p = {upper(self.p_value, 4)} ({self.samples} samples of "
        head += f"{self.secrets} secrets, {self.permutations} permutations)"
        if self.p_value <= 0.05:
            said = f"the outputs depend on the secret; most of all by {self.strongest}"
        else:
            said = "no dependence was found, which is no evidence that there is none: see the "
            said += "lower limit of Bayes security"
        return f"{head}\n  {said}"


def no_leakage_test(
    secrets: Any,
    outputs: Any,
    *,
    permutations: int = 999,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> NoLeakageTest:
    """Test whether outputs depend on the secret, whatever they are.

    Parameters
    ----------
    secrets, outputs
        As in `narcissus.channels.estimate`; one column or several, discrete or continuous.
    permutations
        Secrets are permuted so often.
    rng
        Permutes.
    observer
        Hears of progress.

    Notes
    -----
    The p-value ``(b + 1) / (permutations + 1)`` is exact for a number of samples that was fixed
    beforehand, if samples are independent (numbers per secret fixed or random). Samples of one
    secret taken all at once differ by whatever drifts meanwhile: mix them.

    It finds shifts and spreads of single columns (ranks, so that heavy tails do no harm), of
    products of two (masked values), and differences of any kind in repeating outputs or, by
    neighbours, in a handful of columns.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=300)
    >>> no_leakage_test(secret, rng.normal(size=300) * (1 + secret), rng=1).p_value <= 0.01
    True
    """
    many = integer("permutations", permutations, low=19)
    data, random = samples(secrets, outputs, fewest=1), generator(rng)
    found = dict(_statistics(data, random))
    values = np.empty((len(found), many + 1))
    observer.start("permutations", many + 1)
    for turn in range(many + 1):
        secret = data.secret if turn == 0 else random.permutation(data.secret)
        values[:, turn] = [one(secret) for one in found.values()]
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
    names = list(found)
    return NoLeakageTest(
        float(as_strong.mean()),
        names[int(alone[:, 0].argmin())],
        {name: float(p) for name, p in zip(names, alone[:, 0], strict=True)},
        many,
        data.size,
        len(data.names),
    )


def _statistics(data: Samples, random: np.random.Generator) -> Iterator[tuple[str, Statistic]]:
    if not data.continuous:
        yield "which outputs come how often", _counts(data)
    if data.points is None:
        return
    points = data.points[data.output]
    points = points[:, np.sort(np.argsort(-points.std(axis=0), kind="stable")[:WIDEST])]
    middle = points - np.median(points, axis=0)
    yield "the level of a column", _groups(points)
    yield "the spread of a column", _groups(np.abs(middle))
    if 2 <= points.shape[1] <= PRODUCTS:
        pairs = combinations(range(points.shape[1]), 2)
        yield (
            "a product of two columns",
            _groups(np.stack([middle[:, i] * middle[:, j] for i, j in pairs], axis=1)),
        )
    if data.continuous or points.shape[1] > 1:
        yield "neighbours", _neighbours(points, random)


def _counts(data: Samples) -> Statistic:
    """Give the log likelihood ratio of outputs by secret (up to what permutations leave alike)."""

    def statistic(secret: Codes) -> float:
        counts = replace(data, secret=secret).counts().data
        return float((counts * np.log(counts)).sum())

    return statistic


def _groups(features: Matrix) -> Statistic:
    """Give the largest Kruskal-Wallis statistic of any feature."""
    ranks = scipy.stats.rankdata(features, axis=0)
    ranks -= ranks.mean(axis=0)
    ranks /= np.maximum(ranks.std(axis=0), 1e-12)
    ranks = np.ascontiguousarray(ranks.T)

    def statistic(secret: Codes) -> float:
        each = np.maximum(1, np.bincount(secret))
        sums = np.stack([np.bincount(secret, weights=row) for row in ranks])
        return float((sums**2 / each).sum(axis=1).max())

    return statistic


def _neighbours(points: Matrix, random: np.random.Generator) -> Statistic:
    """Give how often near outputs have the same secret."""
    some = random.permutation(len(points))[:MOST_POINTS]
    spread = points.std(axis=0)
    scaled = points[some] / np.where(spread > 0, spread, 1.0)
    count = min(NEIGHBOURS + 1, len(some))
    near = np.asarray(spatial.cKDTree(scaled).query(scaled, k=count)[1]).reshape(len(some), -1)

    def statistic(secret: Codes) -> float:
        mine: NDArray[np.intp] = secret[some]
        return float((mine[near] == mine[:, None]).sum())

    return statistic
