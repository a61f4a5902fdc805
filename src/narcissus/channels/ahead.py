"""Each block of samples is predicted from those before it, so that nearly all of them count.

Estimators learn, and are chosen among, on earlier blocks only: a rule that is fixed before it sees
a sample errs there with at least the chance of the best rule, whatever came before. Blocks grow,
so that few fits do.

Source: Narcissus theory 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.channels.estimators import WIDE, Classifier, Estimator, Guess, Scorer
from narcissus.channels.samples import Codes, Matrix, Samples, hardly_repeat
from narcissus.observer import Observer

COMPARE_ON = 20_000
"""Samples of a block on which estimators are compared; more would not change the choice."""
ENOUGH = 4
"""Samples for each distinct output from which on predictions count."""
CLEARLY = 4.0
"""Standard errors behind the best at which an estimator is tried no longer."""
MOST_CONTINUOUS = 500_000
"""Samples of continuous outputs that are used; each costs a search of neighbours."""
FOLDS = 4
"""Parts of the last block of which each is predicted from all other samples."""
GROWTH = 1.25
"""How much more is known at each block than at the one before, where learning is counting."""


@dataclass(frozen=True)
class Predicted:
    """Blocks of samples, each predicted from the earlier ones."""

    tested: Codes  # Numbers of the samples that count, in their order
    wrong: NDArray[np.bool_]  # Whether each was predicted wrongly, shape (tested,)
    errors: dict[str, float]  # Error of each estimator tried, where they were compared
    chosen: str  # Name of the estimator that had been best lately when the last block came
    # Its error on the last block, each part of it predicted from all other samples: what the
    # best rule does once it has learned from nearly all
    error: float


def some(data: Samples, order: Codes) -> Codes:
    """Leave out what would cost too much: of continuous outputs with many samples, the last."""
    # Nothing may decide on a sample's use but those before it, and none of these counts.
    looked_at = min(len(order), MOST_CONTINUOUS // 5) // 16
    if hardly_repeat(data.output[order[:looked_at]]):
        return order[: MOST_CONTINUOUS // 5 if _wide(data) else MOST_CONTINUOUS]
    return order


def cuts(data: Samples, tried: list[Estimator], order: Codes, *, known: int = 0) -> list[int]:
    """Return where blocks end: the first is learned from, the second chooses, the others count.

    ``known`` samples do not count in any case.
    """
    size = len(order)
    first, growth = known or max(size // 16, min(12, size // 8)), GROWTH
    if any(isinstance(one, Classifier) for one in tried):
        # Others' classifiers may be slow, and may not do with a handful of samples.
        return [known // 2, known, size] if known else [size // 4, size // 3, 2 * size // 3, size]
    if hardly_repeat(data.output[order[:first]]):
        first, growth = known or size // 8, 2.0
    else:
        # Begin to count where most outputs are known: what is not yet learned only adds errors.
        while not known and first < size // 3:
            if first >= ENOUGH * len(np.unique(data.output[order[:first]])):
                break
            first = min(size // 3, 2 * first)
    found = [first // 2, first]
    while found[-1] * growth < size * 0.9:
        found.append(int(np.ceil(found[-1] * growth)))
    return [*found, size]


def predict_ahead(
    data: Samples,
    tried: list[Estimator],
    order: Codes,
    ends: list[int],
    observer: Observer,
    *,
    evenly: bool = False,
) -> Predicted:
    """Predict each block's secrets by the estimator that did best on the blocks before.

    order: numbers of the samples, in an order that tells nothing of their outputs.
    ends: as `cuts` gives them.
    evenly: count each secret alike, however many samples it has.
    """
    errors, trials, seen = np.zeros(len(tried)), np.full(len(tried), 1e-12), 0
    live, rates, wrong = list(range(len(tried))), errors, np.zeros(len(order), dtype=bool)
    lately, last = np.zeros((2, len(tried))), 0
    for low, high in pairwise(ends):
        past, block = order[:low], order[low:high]
        share = np.maximum(1.0, np.bincount(data.secret[past], minlength=len(data.names)))
        both = len(np.unique(data.secret[past])) > 1
        common = block[:COMPARE_ON]
        best = min(live, key=lambda number: errors[number] / trials[number])
        last = min(live, key=lambda number: lately[0, number] / max(lately[1, number], 1e-12))
        weight = _weight(data, common, evenly=evenly)
        lately /= 2
        for number in live:
            scorer = (tried[number] if both else Guess()).fit(data, past)
            mine = block if number == best else common
            lost = _wrong(data, scorer, mine, share if evenly else None)
            if number == best:
                wrong[low:high] = lost
            errors[number] += weight @ lost[: len(common)]
            trials[number] += weight.sum()
            lately[:, number] += weight @ lost[: len(common)], weight.sum()
        seen += len(common)
        rates = errors / trials
        # Those that are clearly worse cost time and win no more.
        least = float(rates[live].min())
        room = CLEARLY * (np.sqrt(least * (1 - least) / seen) + 1 / seen)
        live = [number for number in live if rates[number] <= least + room]
        observer.advance()
    return Predicted(
        order[ends[1] :],
        wrong[ends[1] :],
        {one.name: float(rate) for one, rate in zip(tried, rates, strict=True)},
        tried[last].name,
        _in_the_end(data, tried[last], order, ends[-2:], evenly=evenly),
    )


def _in_the_end(
    data: Samples, one: Estimator, order: Codes, last: list[int], *, evenly: bool
) -> float:
    """Return error on the last block of an estimator chosen before it, learned from the rest."""
    low, high = last[0], min(last[1], last[0] + COMPARE_ON)
    lost = np.zeros(high - low, dtype=bool)
    edges = np.linspace(low, high, min(FOLDS, high - low) + 1).astype(int)
    for start, end in pairwise(edges.tolist()):
        rest = np.concatenate([order[:start], order[end : last[1]]])
        share = np.maximum(1.0, np.bincount(data.secret[rest], minlength=len(data.names)))
        both = len(np.unique(data.secret[rest])) > 1
        scorer = (one if both else Guess()).fit(data, rest)
        lost[start - low : end - low] = _wrong(
            data, scorer, order[start:end], share if evenly else None
        )
    weight = _weight(data, order[low:high], evenly=evenly)
    return float(weight @ lost / weight.sum())


def _weight(data: Samples, some: Codes, *, evenly: bool) -> Matrix:
    """Return what each of some samples counts: alike, or each secret alike."""
    weight = np.ones(len(some))
    if evenly:
        weight /= np.bincount(data.secret[some])[data.secret[some]]
    return weight


def chunks(outputs: Codes, secrets: int) -> Iterator[Codes]:
    """Yield the outputs in parts whose scores fit in memory."""
    step = max(1, min(2**16, 2**21 // secrets))
    for low in range(0, len(outputs), step):
        yield outputs[low : low + step]


def _wrong(data: Samples, scorer: Scorer, block: Codes, share: Matrix | None) -> NDArray[np.bool_]:
    outputs, place = np.unique(data.output[block], return_inverse=True)
    said: list[Any] = [np.zeros(0, dtype=np.intp)]
    for part in chunks(outputs, len(data.names)):
        scores = scorer(part)
        said.append(first_largest(scores if share is None else scores / share))
    wrong: NDArray[np.bool_] = np.concatenate(said)[place.ravel()] != data.secret[block]
    return wrong


def _wide(data: Samples) -> bool:
    return data.points is not None and data.points.shape[1] > WIDE
