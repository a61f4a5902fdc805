"""The two upper limits from samples.

Every sample that counts is judged by a rule that was made and chosen on earlier ones, so that
nothing has to be paid for trying and choosing.
Source: Narcissus theory 6.2, 6.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from narcissus.channels.ahead import Predicted, cuts, predict_ahead, some
from narcissus.channels.estimators import portfolio
from narcissus.channels.lower_limits import ranked, shared_out
from narcissus.channels.pairs import Pair, choose_pair, only
from narcissus.channels.pooled import pooled_high
from narcissus.channels.rounds import rounds_high
from narcissus.channels.samples import Codes, Samples
from narcissus.observer import Observer
from narcissus.results import Estimate

UNLIKE = 4
"""Ratio of two numbers of samples above which rounds of one of either would waste too many."""


def evenly(secret: Codes, random: np.random.Generator) -> Codes:
    """Order samples at random, so that each secret's are spread alike; blind to outputs."""
    grouped, rank = ranked(secret, random)
    place = (rank + 0.5) / np.bincount(secret)[secret[grouped]]
    return grouped[np.argsort(place, kind="stable")]


def upper(hits: float, trials: float, alpha: float) -> float:
    """Return the one-sided Clopper-Pearson upper limit."""
    return 1.0 if hits >= trials else float(special.betainccinv(hits + 1, trials - hits, alpha))


def risk_high(data: Samples, found: Predicted, side: float) -> Estimate:
    """Limit the Bayes risk from above by how often samples were predicted wrongly.

    The limit counts all of them, those that were predicted from few samples too; the estimate is
    the error at the end. Secrets are drawn from the prior that is meant.
    """
    size, wrong = len(found.tested), int(found.wrong.sum())
    high = upper(wrong, size, side)
    return Estimate(
        min(found.error, high),
        None,
        high,
        0.0,
        data.size,
        "Bayes risk",
        f"Clopper-Pearson on {size} samples, each predicted from earlier ones",
    )


def guess_error(data: Samples, found: Predicted) -> float:
    each = np.bincount(data.secret[found.tested])
    return 1 - float(each.max() / each.sum())


@dataclass(frozen=True)
class SecurityHigh:
    """An upper limit of `beta*`, and what it was found by."""

    limit: Estimate  # The estimate with its upper limit; it has no lower one yet
    pair: Pair  # The two secrets, or those of the family that seemed easiest to tell apart
    pairs: int  # How many pairs were limited together
    # Miss and false hit of each estimator on the pair, where they were compared
    alternatives: dict[str, float]


def security_high(
    data: Samples,
    wanted: Any,
    random: np.random.Generator,
    side: float,
    observer: Observer,
    known: Pair | None = None,
) -> SecurityHigh:
    """Limit `beta*` from above by how often two secrets were taken for one another.

    Numbers of samples per secret may be fixed or random: outputs alone are judged. With more than
    two secrets and no pair ``known`` beforehand, earlier samples choose a pair, and many pairs that
    are limited by their mean; what seems to be the better way has most of ``side``, and the smaller
    limit counts.
    """
    order = evenly(data.secret, random)
    if known is not None or len(data.names) == 2:
        return _of_pair(data, wanted, order, known or (0, 1), 0, side, observer)
    many = pooled_high(data, portfolio(wanted, data), order, side, observer)
    used = len(order) // 2
    pair = choose_pair(data, wanted, order[:used], observer)
    one = _of_pair(data, wanted, order, pair, used, side if many is None else many.left, observer)
    if many is None or one.limit.high is None or one.limit.high <= many.high:
        return one
    method = f"empirical Bernstein, {many.samples} samples, each judged by earlier ones"
    limit = _limit(data, many.value, many.high, method)
    return SecurityHigh(limit, many.pair, many.pairs, one.alternatives)


def _of_pair(
    data: Samples, wanted: Any, order: Codes, pair: Pair, used: int, side: float, observer: Observer
) -> SecurityHigh:
    """Limit it by a pair that was chosen on the first ``used`` samples."""
    two, mine = only(data, pair, order)
    mine, spent = some(two, mine), len(only(data, pair, order[:used])[1])
    tried = portfolio(wanted, two)
    each = np.bincount(two.secret, minlength=2)
    if each.max() > UNLIKE * each.min():
        first = spent or len(mine) // 4
        ends = [first // 2, first, len(mine)]
        found = predict_ahead(two, tried, mine, ends, observer, evenly=True)
        high = _apart(two, found, side)
        method = "two Clopper-Pearson limits"
    else:
        mine, spare = _in_rounds(two, mine, spent)
        known = cuts(two, tried, mine, known=spare) if spent else cuts(two, tried, mine[spare:])
        ends = _whole_rounds(known, spare, shifted=not spent)
        found = predict_ahead(two, tried, mine, ends, observer, evenly=True)
        rounds, total = len(found.tested) // 2, int(found.wrong.sum())
        high = rounds_high(total, rounds, side)
        method = "rounds of one sample of either"
    method = f"{method}, {len(found.tested)} samples, each judged by earlier ones"
    alternatives = {name: 2 * error for name, error in found.errors.items()}
    return SecurityHigh(_limit(data, 2 * found.error, high, method), pair, 1, alternatives)


def _limit(data: Samples, value: float, high: float, method: str) -> Estimate:
    high = min(1.0, high)
    return Estimate(min(high, value), None, high, 0.0, data.size, "Bayes security", method)


def _in_rounds(two: Samples, order: Codes, spent: int) -> tuple[Codes, int]:
    """Put one sample of either secret after the other; those without a partner come first."""
    rest = order[spent:]
    sides = [rest[two.secret[rest] == side] for side in (0, 1)]
    rounds = min(len(side) for side in sides)
    spare = [side[: len(side) - rounds] for side in sides]
    both = np.stack([side[len(side) - rounds :] for side in sides], axis=1).ravel()
    made = np.concatenate([order[:spent], *spare, both])
    return made, len(made) - len(both)


def _whole_rounds(ends: list[int], spare: int, *, shifted: bool) -> list[int]:
    moved = [end + spare if shifted else end for end in ends]
    return sorted({end if end < spare else spare + (end - spare + 1) // 2 * 2 for end in moved})


def _apart(two: Samples, found: Predicted, side: float) -> float:
    """Limit misses and false hits each by itself, where one rule judged them all."""
    of_b = two.secret[found.tested] == 1
    parts = [(int(found.wrong[of].sum()), int(of.sum())) for of in (~of_b, of_b)]
    allowed = shared_out(side, parts[0][1], parts[1][1])
    return sum(upper(*part, alpha) for part, alpha in zip(parts, allowed, strict=True))
