"""The two upper limits from samples, and the choices that go before them.

The samples are split at random: on the first half estimators and pairs are tried and chosen, in
whatever way; on the second half the choice is certified, so that nothing has to be paid for it.
Source: Narcissus theory 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.channels.ahead import Predicted
from narcissus.channels.estimators import WIDE, Estimator, Guess, Scorer, portfolio
from narcissus.channels.samples import Codes, Matrix, Samples, hardly_repeat
from narcissus.observer import Observer
from narcissus.results import Estimate

CHOOSE_FROM = 20_000
"""Samples used to choose among estimators and pairs; more would not change the choice."""
CERTIFY_ON = 250_000
"""Held-out samples of continuous outputs that are classified; each costs a search of neighbours."""
MOST_CANDIDATES = 1_000
"""Secrets compared pair by pair; of more, those farthest from the average are taken."""
SHORTLIST = 6
"""Pairs for which estimators are trained anew, on the samples of these two secrets alone."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Split:
    """Numbers of samples, shuffled: ``train`` is ``choose`` and ``learn`` together.

    Random and blind to secrets and outputs, so that each part is itself a fair sample.
    ``continuous`` tells whether outputs hardly repeat among ``train``.
    """

    choose: Codes
    learn: Codes
    train: Codes
    test: Codes
    continuous: bool


def split_at_random(data: Samples, random: np.random.Generator) -> Split:
    """Split the samples: half to choose with, half to certify."""
    order = random.permutation(data.size)
    half = data.size // 2
    # Neighbours among many columns cost most: a quarter and a fifth of the work will do there.
    wide = data.points is not None and data.points.shape[1] > WIDE
    third = min(half // 3, CHOOSE_FROM // 4 if wide else CHOOSE_FROM)
    train, test = order[:half], order[half:]
    # Nothing about the test samples may decide how they are used: look at the others only.
    continuous = hardly_repeat(data.output[train])
    if continuous:
        test = test[: CERTIFY_ON // 5 if wide else CERTIFY_ON]
    return Split(order[:third], order[third:half], train, test, continuous)


def compare(
    data: Samples, tried: list[Estimator], split: Split, observer: Observer
) -> tuple[dict[str, float], list[tuple[Pair, Estimator]]]:
    """Give each estimator's error, and the pairs that seem easiest to tell apart, best first."""
    candidates = _candidates(data, split.learn)
    held = data.counts(split.choose)
    errors: dict[str, float] = {}
    best = np.full((len(candidates), len(candidates)), np.inf)
    by = np.zeros(best.shape, dtype=np.intp)
    for number, one in enumerate(tried):
        errors[one.name], lost = _try(data, one.fit(data, split.learn), split, held, candidates)
        promise = _promise(data, lost, split, candidates)
        better = promise < best
        best[better], by[better] = promise[better], number
        observer.advance()
    best[np.tril_indices(len(best))] = np.inf
    order = np.argsort(best, axis=None, kind="stable")[:SHORTLIST]
    pairs: list[tuple[Pair, Estimator]] = []
    for i, j in zip(*np.unravel_index(order, best.shape), strict=True):
        if np.isfinite(best[i, j]):
            pairs.append(((int(candidates[i]), int(candidates[j])), tried[by[i, j]]))
    return errors, pairs


def choose_pair(
    data: Samples, wanted: Any, split: Split, pairs: list[tuple[Pair, Estimator]]
) -> tuple[Estimator, Pair]:
    """Train on each pair of the shortlist alone, and take the pair and estimator that do best."""
    if len(data.names) == 2:
        return pairs[0][1], pairs[0][0]
    found: list[tuple[float, int, Estimator]] = []
    for number, (pair, _) in enumerate(pairs):
        two, part = _only(data, pair, split)
        if min(len(part.learn), len(part.choose)) == 0:
            continue
        held = two.counts(part.choose)
        for one in portfolio(wanted, two):
            _, lost = _try(two, one.fit(two, part.learn), part, held, np.arange(2))
            found.append((_promise(two, lost, part, np.arange(2))[0, 1], number, one))
    if not found:
        return Guess(), pairs[0][0]
    _, number, one = min(found, key=lambda f: f[:2])
    return one, pairs[number][0]


def _only(data: Samples, pair: Pair, split: Split) -> tuple[Samples, Split]:
    """Give the samples of two secrets, and the split of these."""
    a, b = pair
    mine = (data.secret == a) | (data.secret == b)
    place = np.cumsum(mine) - 1
    kept, output = np.unique(data.output[mine], return_inverse=True)
    points = None if data.points is None else data.points[kept]
    secret = (data.secret[mine] == b).astype(np.intp)
    two = Samples(secret, output, (data.names[a], data.names[b]), points, data.continuous)

    def part(chosen: Codes) -> Codes:
        return place[chosen[mine[chosen]]]

    return two, Split(
        part(split.choose),
        part(split.learn),
        part(split.train),
        part(split.test),
        split.continuous,
    )


def _candidates(data: Samples, learn: Codes) -> Codes:
    """Give the secrets whose pairs are compared: all, or those farthest from the average."""
    size = len(data.names)
    if size <= MOST_CANDIDATES:
        return np.arange(size)
    counts = data.counts(learn).tocoo()
    output, secret = counts.coords
    each = np.maximum(1.0, np.bincount(secret, weights=counts.data, minlength=size))
    average = np.bincount(output, weights=counts.data) / len(learn)
    overlap = np.bincount(
        secret, weights=np.minimum(counts.data / each[secret], average[output]), minlength=size
    )
    return np.sort(np.argsort(overlap + 1 / np.sqrt(each), kind="stable")[:MOST_CANDIDATES])


def _chunks(held: Any, secrets: int) -> Iterator[tuple[Codes, Any]]:
    """Yield the distinct outputs that occur among held-out samples, with their counts, in parts."""
    seen = np.flatnonzero(np.diff(held.indptr))
    step = max(1, min(2**16, 2**21 // secrets))
    for low in range(0, len(seen), step):
        outputs = seen[low : low + step]
        yield outputs, held[outputs].tocoo()


def _share(data: Samples, chosen: Codes) -> Matrix:
    """Give how often each secret occurs, at least 1."""
    return np.maximum(1.0, np.bincount(data.secret[chosen], minlength=len(data.names)))


def _try(
    data: Samples, scorer: Scorer, split: Split, held: Any, candidates: Codes
) -> tuple[float, Matrix]:
    """Give a scorer's error, and for pairs how often each secret loses to each other.

    One pass over the held-out samples serves all pairs: the secret ``a`` of a sample loses to
    ``b`` if ``b`` would have given the output with the higher estimated probability.
    """
    each = _share(data, split.learn)
    place = np.full(len(data.names), -1)
    place[candidates] = np.arange(len(candidates))
    right = 0.0
    lost = np.zeros((len(candidates), len(candidates)))
    for outputs, entries in _chunks(held, len(data.names)):
        scores = scorer(outputs)
        row, secret = entries.coords
        right += float(entries.data[scores.argmax(axis=1)[row] == secret].sum())
        likely = (scores / each)[:, candidates]
        ours = place[secret] >= 0
        row, own, weight = row[ours], place[secret[ours]], entries.data[ours]
        order = np.argsort(own, kind="stable")
        step = max(1, 2**22 // len(candidates))
        for low in range(0, len(order), step):
            part = order[low : low + step]
            mine, others = likely[row[part], own[part]][:, None], likely[row[part]]
            loses = ((others > mine) + 0.5 * (others == mine)) * weight[part, None]
            starts = np.flatnonzero(np.r_[True, np.diff(own[part]) > 0])
            lost[own[part][starts]] += np.add.reduceat(loses, starts, axis=0)
    return 1 - right / max(float(held.sum()), 1.0), lost


def _promise(data: Samples, lost: Matrix, split: Split, candidates: Codes) -> Matrix:
    """Give what certificate each pair promises, shape (candidates, candidates)."""
    size = len(data.names)
    tried = np.bincount(data.secret[split.choose], minlength=size)[candidates]
    later = np.bincount(data.secret[split.test], minlength=size)[candidates]
    rate = (lost + 0.5) / (tried[:, None] + 1)
    # Leave room for the limits, or rare secrets would win by chance.
    room = 2 * np.sqrt(rate * (1 - rate) / np.maximum(later, 1)[:, None])
    promise = np.where((later > 0)[:, None], rate + room, 1.0)
    return promise + promise.T


def upper(hits: float, trials: float, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson upper limit."""
    return 1.0 if hits >= trials else float(special.betainccinv(hits + 1, trials - hits, alpha))


def risk_high(data: Samples, found: Predicted, side: float) -> Estimate:
    """Limit the Bayes risk from above by how often samples were predicted wrongly.

    Secrets are drawn from the prior that is meant.
    """
    size, wrong = len(found.tested), int(found.wrong.sum())
    return Estimate(
        wrong / size,
        None,
        upper(wrong, size, side),
        0.0,
        data.size,
        "Bayes risk",
        f"Clopper-Pearson on {size} samples, each predicted from earlier ones",
    )


def guess_error(data: Samples, found: Predicted) -> float:
    """Give the error of the commonest secret, on the samples that were predicted."""
    each = np.bincount(data.secret[found.tested])
    return 1 - float(each.max() / each.sum())


def security_high(data: Samples, one: Estimator, pair: Pair, split: Split, side: float) -> Estimate:
    """On fresh samples, how often the chosen event misses ``a`` and hits ``b``."""
    none = Estimate(1.0, None, 1.0, 0.0, data.size, "Bayes security", "no pair told apart")
    two, part = (data, split) if len(data.names) == 2 else _only(data, pair, split)
    of_a = two.secret[part.test] == 0
    n_a, n_b = int(of_a.sum()), int((~of_a).sum())
    if isinstance(one, Guess) or not n_a or not n_b or len(np.unique(two.secret[part.train])) < 2:
        return none
    scorer = one.fit(two, part.train)
    each = _share(two, part.train)
    outputs, place = np.unique(two.output[part.test], return_inverse=True)
    event: NDArray[np.bool_] = np.zeros(len(outputs), dtype=bool)
    step = 2**16
    for low in range(0, len(outputs), step):
        likely = scorer(outputs[low : low + step]) / each
        event[low : low + step] = likely[:, 0] >= likely[:, 1]
    says_a = event[place.ravel()]
    misses, hits = int((~says_a & of_a).sum()), int((says_a & ~of_a).sum())
    high = upper(misses, n_a, side / 2) + upper(hits, n_b, side / 2)
    return Estimate(
        min(1.0, misses / n_a + hits / n_b),
        None,
        min(1.0, high),
        0.0,
        data.size,
        "Bayes security",
        f"two Clopper-Pearson limits on {n_a} and {n_b} held-out samples",
    )
