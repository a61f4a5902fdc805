"""Rules judged ahead: each block of samples by a rule made and chosen on the blocks before.

A rule that is fixed before it sees a sample errs there with at least the chance of the best rule,
whatever came before; a gain's mean is at most the g-vulnerability, a log score's at most the mutual
information. Blocks grow, so that few fits do.

For any prior, labels are drawn from it without a look at outputs, and each uses up one sample of
its secret; a label whose samples are used up counts as the worst for whatever is limited. So limits
hold whether the numbers per secret were fixed or random, and a rare secret costs its share.

Source: Narcissus theory 6.8, 6.15.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats, first_largest
from narcissus._validation import distribution
from narcissus.channels.estimators import WIDE, Classifier, Estimator, Forest, Guess, Scorer
from narcissus.channels.samples import Codes, Matrix, Samples, hardly_repeat
from narcissus.errors import InputError
from narcissus.observer import Observer

if TYPE_CHECKING:
    from narcissus.channels.channel import PriorLike

COMPARE_ON = 20_000
"""Samples of a block on which estimators are compared; more would not change the choice."""
ENOUGH = 4  # Samples for each distinct output from which on predictions count
CLEARLY = 4.0  # Standard errors behind the best at which an estimator is tried no longer
MOST_CONTINUOUS = 500_000
"""Samples of continuous outputs that are used; each costs a search of neighbours."""
FOLDS = 4, 32  # Parts of the samples of which each is predicted from all others
PART = 1 / 64  # Of all samples that such a part should have at most, unless learning takes long
GROWTH = 1.25
"""How much more is known at each block than at the one before, where learning is counting."""


@dataclass(frozen=True)
class Predicted:
    """Blocks of samples, each predicted from the earlier ones."""

    tested: Codes  # Numbers of the samples that count, in their order
    wrong: NDArray[np.bool_]  # Whether each was predicted wrongly, shape (tested,)
    errors: dict[str, float]  # Error of each estimator tried, where they were compared
    chosen: str  # Name of the estimator that had been best lately at the end
    # Its error on the samples, or the last of them, each part predicted from all others: what the
    # best rule does once it has learned from nearly all
    error: float


def some(data: Samples, order: Codes) -> Codes:
    """Leave out what would cost too much: of continuous outputs with many samples, the last."""
    # Nothing may decide on a sample's use but those before it, and none of these counts.
    looked_at = min(len(order), MOST_CONTINUOUS // 5) // 16
    if not hardly_repeat(data.output[order[:looked_at]]):
        return order
    is_wide = data.points is not None and data.points.shape[1] > WIDE
    return order[: MOST_CONTINUOUS // 5 if is_wide else MOST_CONTINUOUS]


def cuts(data: Samples, tried: list[Estimator], order: Codes, *, known: int = 0) -> list[int]:
    """Return where blocks end: the first is learned from, the second chooses, the others count.

    ``known`` samples do not count in any case.
    """
    size = len(order)
    first, growth = known or max(size // 16, min(12, size // 8)), GROWTH
    if any(isinstance(estimator, Classifier) for estimator in tried):
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
    ends = [first // 2, first]
    while ends[-1] * growth < size * 0.9:
        ends.append(int(np.ceil(ends[-1] * growth)))
    return [*ends, size]


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

    def weights(some: Codes) -> Matrix:
        each = np.bincount(data.secret[some])[data.secret[some]]
        return np.ones(len(some)) / (each if evenly else 1)

    errors, trials, seen = np.zeros(len(tried)), np.full(len(tried), 1e-12), 0
    live, rates, wrong = list(range(len(tried))), errors, np.zeros(len(order), dtype=bool)
    lately = np.zeros((2, len(tried)))
    for low, high in pairwise(ends):
        past, block = order[:low], order[low:high]
        common = block[:COMPARE_ON]
        best = min(live, key=lambda number: errors[number] / trials[number])
        weight = weights(common)
        lately /= 2
        for number in live:
            mine = block if number == best else common
            lost = _lost(data, tried[number], past, mine, evenly=evenly)
            if number == best:
                wrong[low:high] = lost
            errors[number] += weight @ lost[: len(common)]
            trials[number] += weight.sum()
            lately[:, number] += weight @ lost[: len(common)], weight.sum()
        seen += len(common)
        rates = errors / trials
        # Those that are clearly worse cost time and win no more.
        lowest_rate = float(rates[live].min())
        room = CLEARLY * (np.sqrt(lowest_rate * (1 - lowest_rate) / seen) + 1 / seen)
        live = [number for number in live if rates[number] <= lowest_rate + room]
        observer.advance()
    # In the end: each part of the samples predicted from all others.
    last = min(live, key=lambda number: lately[0, number] / max(lately[1, number], 1e-12))
    low, size = min(ends[-2], max(ends[0], ends[-1] // 2)), ends[-1]
    few, many = FOLDS
    is_wide = data.points is not None and data.points.shape[1] > WIDE
    is_quick = not (is_wide or isinstance(tried[last], Classifier | Forest))
    if is_quick and not evenly:  # The first half may have chosen the two secrets.
        low = max(0, min(low, size - COMPARE_ON))
    high = min(size, low + COMPARE_ON)
    if is_quick:
        few = int(np.clip(np.ceil((high - low) / (PART * size)), few, many))
    edges = np.linspace(low, high, min(few, high - low) + 1).astype(int).tolist()
    folds = [
        _lost(data, tried[last], np.r_[order[:a], order[b:size]], order[a:b], evenly=evenly)
        for a, b in pairwise(edges)
    ]
    weight = weights(order[low:high])
    return Predicted(
        order[ends[1] :],
        wrong[ends[1] :],
        {estimator.name: float(rate) for estimator, rate in zip(tried, rates, strict=True)},
        tried[last].name,
        float(weight @ np.concatenate(folds) / weight.sum()),
    )


def _lost(
    data: Samples, one: Estimator, past: Codes, block: Codes, *, evenly: bool
) -> NDArray[np.bool_]:
    """Return which samples of a block an estimator that learned from the past gets wrong."""
    each = data.each(past)
    scorer = (one if np.count_nonzero(each) > 1 else Guess()).fit(data, past)
    outputs, place = np.unique(data.output[block], return_inverse=True)
    guesses: list[Any] = [np.zeros(0, dtype=np.intp)]
    for part in chunks(outputs, len(data.names)):
        scores = scorer(part)
        guesses.append(first_largest(scores / np.maximum(1.0, each) if evenly else scores))
    wrong: NDArray[np.bool_] = np.concatenate(guesses)[place.ravel()] != data.secret[block]
    return wrong


def chunks(outputs: Codes, secrets: int) -> Iterator[Codes]:
    """Yield the outputs in parts whose scores fit in memory."""
    step = max(1, min(2**16, 2**21 // secrets))
    for low in range(0, len(outputs), step):
        yield outputs[low : low + step]


EXHAUSTED = -1
NONE: Codes = np.arange(0)


@dataclass(frozen=True, eq=False)
class Draws:
    """Samples in the order of labels drawn from a prior."""

    spare: Codes  # Numbers of samples that were not drawn: for learning
    labels: Codes  # The labels, shape (draws,)
    # Number of the sample that each label uses up; `EXHAUSTED` where there is none left
    drawn: Codes

    def scarce(self, secrets: int) -> NDArray[np.bool_]:
        """Return which secrets lack samples for more than a tenth of their labels."""
        demand = np.bincount(self.labels, minlength=secrets)
        lacking = np.bincount(self.labels[self.drawn == EXHAUSTED], minlength=secrets)
        return lacking > 0.1 * demand


def how_many(each: Codes, prior: Floats, most: int) -> int:
    """Return how many labels to draw, from the numbers of samples alone.

    So many that the room of a limit, ``1 / sqrt(draws)``, and the share of labels that will have no
    sample are together least.
    """
    sizes = np.unique(np.geomspace(1, max(1, most), 200).astype(np.int64))[:, None]
    wanted = sizes * prior
    spread = np.sqrt(wanted * (1 - prior)) + 1e-12
    away = (each - wanted) / spread
    density = np.exp(-np.minimum(away**2, 1_400) / 2) / np.sqrt(2 * np.pi)
    lacking = (spread * (density - away * special.ndtr(-away))).sum(axis=1) / sizes[:, 0]
    return int(sizes[np.argmin(lacking + 1 / np.sqrt(sizes[:, 0])), 0])


def draw(
    data: Samples, prior: Floats, rng: np.random.Generator, *, most: int, aside: Codes = NONE
) -> Draws:
    """Draw labels from a prior, shape (secrets,), and use up samples.

    most: labels at most.
    aside: numbers of samples that are not drawn: those by which the prior was chosen.
    """
    free = np.ones(data.size, dtype=bool)
    free[aside] = False
    each = data.each(free)
    labels = rng.choice(len(prior), how_many(each, prior, min(most, data.size)), p=prior)
    order = rng.permutation(data.size)
    order = order[free[order]]
    order = order[np.argsort(data.secret[order], kind="stable")]
    starts = np.cumsum(each) - each
    place = np.argsort(labels, kind="stable")
    demand = np.bincount(labels, minlength=len(each))
    rank = np.empty(len(labels), dtype=np.intp)
    rank[place] = np.arange(len(labels)) - np.repeat(np.cumsum(demand) - demand, demand)
    has = rank < each[labels]
    drawn = np.full(len(labels), EXHAUSTED, dtype=np.intp)
    drawn[has] = order[(starts[labels] + rank)[has]]
    unused = np.ones(data.size, dtype=bool)
    unused[drawn[has]] = False
    return Draws(rng.permutation(np.flatnonzero(unused)), labels, drawn)


def with_prior(data: Samples, prior: PriorLike) -> tuple[Samples, Floats]:
    """Return samples and prior over the same secrets, also those without samples.

    prior: by name, or in the order of the secrets.
    """
    if not isinstance(prior, Mapping):
        weights = distribution("prior", prior)
        if len(weights) != len(data.names):
            raise InputError(
                f"`prior` has {len(weights)} probabilities for {len(data.names)} secrets; give "
                "them by name if some have no samples"
            )
        return data, weights
    chances = {str(name): float(chance) for name, chance in prior.items()}
    unnamed = [name for name in data.names if name not in chances]
    if unnamed:
        raise InputError(f"`prior` lacks the secret {unnamed[0]!r}, which has samples")
    sampled = set(data.names)
    names = (*data.names, *(name for name in chances if name not in sampled))
    return replace(data, names=names), distribution("prior", [chances[name] for name in names])


MIXED = (1.0, 0.98, 0.9, 0.6, 0.25, 0.05, 0.01)
"""Shares of the prior in a belief: from none of the evidence to nearly all of it."""


class Payoff(Protocol):
    """What is earned by believing, once the secret is known."""

    def __call__(self, beliefs: Floats, secret: Codes) -> Floats: ...

    def without(self, label: Codes) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Gained:
    """The gain of the guess that seems best; ``gain`` has shape (guesses, secrets)."""

    gain: Floats

    def __call__(self, beliefs: Floats, secret: Codes) -> Floats:
        return self.gain[first_largest(beliefs @ self.gain.T), secret][None]

    def without(self, label: Codes) -> Floats:
        return np.full(len(label), float(self.gain.min()))


@dataclass(frozen=True, eq=False)
class LogScore:
    """``ln(q(s|o) / pi_s)`` for beliefs q mixed with the prior in several shares.

    Secrets that are ``scarce``, shape (secrets,), are believed as before whatever the output.
    """

    prior: Floats
    scarce: NDArray[np.bool_]

    def __call__(self, beliefs: Floats, secret: Codes) -> Floats:
        share = np.array(MIXED)[:, None]
        rest = np.maximum((beliefs * ~self.scarce).sum(axis=1), 1e-300)
        mine = beliefs[np.arange(len(secret)), secret] / rest
        odds = mine * float(self.prior[~self.scarce].sum()) / self.prior[secret]
        return np.where(self.scarce[secret], 0.0, np.log(share + (1 - share) * odds))

    def without(self, label: Codes) -> Floats:
        return np.where(self.scarce[label], 0.0, np.log(min(MIXED)))


@dataclass(frozen=True, eq=False)
class Paid:
    """What was earned on the samples that count, and by which estimator in the end."""

    values: Floats
    chosen: str


def paid_ahead(
    data: Samples,
    tried: list[Estimator],
    draws: Draws,
    payoffs: Sequence[Payoff],
    prior: Floats,
    observer: Observer,
    ends: list[int] | None = None,
) -> list[Paid]:
    """Play each block by what earned most on the blocks before, for each payoff by itself.

    ends: where blocks end, of the spare samples and the drawn; None takes what suits the samples.
        What was drawn before the second does not count.
    """
    order = np.concatenate([draws.spare, draws.drawn])
    labels = np.concatenate([data.secret[draws.spare], draws.labels])
    ends = _ends(data, tried, order, len(draws.spare)) if ends is None else ends
    start = max(ends[1], len(draws.spare))
    # What was not drawn has the secrets of which there are many: compared as if drawn.
    spare = labels[: len(draws.spare)]
    each = np.maximum(1, np.bincount(spare, minlength=len(prior)))
    as_drawn = np.ones(len(order))
    as_drawn[: len(spare)] = (prior * len(spare) / each)[spare]
    values = np.stack([payoff.without(labels) for payoff in payoffs])
    earned: list[dict[tuple[int, int], float]] = [{} for _ in payoffs]
    observer.start("blocks of samples", len(ends) - 1)
    for low, high in pairwise(ends):
        block = low + np.flatnonzero(order[low:high] != EXHAUSTED)
        past = order[:low][order[:low] != EXHAUSTED]
        best = [max(e, key=e.__getitem__, default=(0, 0)) for e in earned]
        for number, estimator in enumerate(tried):
            mine = block if any(b[0] == number for b in best) else block[:COMPARE_ON]
            if not len(mine):
                continue
            fitted = estimator if len(past) and np.ptp(data.secret[past]) > 0 else Guess()
            scorer = (
                fitted.fit(data, past)
                if len(past)
                else lambda outputs: np.ones((len(outputs), len(prior)))
            )
            share = np.maximum(1.0, np.bincount(data.secret[past], minlength=len(prior)))
            gains = _earned(data, scorer, order[mine], labels[mine], payoffs, prior / share)
            for place, rows in enumerate(gains):
                compared = rows[:, :COMPARE_ON] @ as_drawn[mine[:COMPARE_ON]]
                for variant, value in enumerate(compared):
                    key = (number, variant)
                    earned[place][key] = earned[place].get(key, 0.0) + float(value)
                if best[place][0] == number:
                    values[place, mine] = rows[best[place][1]]
        observer.advance()
    observer.finish()
    final = [max(e, key=e.__getitem__, default=(0, 0))[0] for e in earned]
    return [Paid(values[i, start:], tried[final[i]].name) for i in range(len(payoffs))]


def _earned(
    data: Samples,
    scorer: Scorer,
    block: Codes,
    labels: Codes,
    payoffs: Sequence[Payoff],
    weights: Floats,
) -> list[Floats]:
    """Return what each payoff's variants earn on a block, shape (variants, block)."""
    parts: list[list[Floats]] = [[] for _ in payoffs]
    done = 0
    for part in chunks(block, len(weights)):
        outputs, place = np.unique(data.output[part], return_inverse=True)
        beliefs = scorer(outputs) * weights
        beliefs /= np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300)
        secret = labels[done : done + len(part)]
        done += len(part)
        for pieces, payoff in zip(parts, payoffs, strict=True):
            pieces.append(payoff(beliefs[place.ravel()], secret))
    return [np.concatenate(pieces, axis=1) for pieces in parts]


def _ends(data: Samples, tried: list[Estimator], order: Codes, spare: int) -> list[int]:
    size = len(order)
    known = max(spare, size // 16, min(12, size // 2))
    real = order[order != EXHAUSTED]
    while known < size // 3:
        seen = data.output[real[:known]]
        if hardly_repeat(seen) or known >= ENOUGH * len(np.unique(seen)):
            break
        known = min(size // 3, 2 * known)
    # Where none is left another stands in: nothing but the order is looked at.
    shown = np.where(order == EXHAUSTED, real[0], order)
    return cuts(data, tried, shown, known=known)
