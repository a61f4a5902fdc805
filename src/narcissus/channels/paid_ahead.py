"""What rules earn on samples that they have not seen: gains of guesses, logs of beliefs.

As in `ahead`, each block of samples is played by a rule made and chosen on earlier blocks; here it
may earn anything, for any prior. Whatever was chosen, a gain's mean is at most the g-vulnerability,
a log score's at most the mutual information.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.channels.ahead import COMPARE_ON, ENOUGH, chunks, cuts
from narcissus.channels.estimators import Estimator, Guess, Scorer
from narcissus.channels.prior_draws import EXHAUSTED, Draws
from narcissus.channels.samples import Codes, Samples, hardly_repeat
from narcissus.observer import Observer

Floats = NDArray[np.float64]

MIXED = (1.0, 0.98, 0.9, 0.6, 0.25, 0.05, 0.01)
"""Shares of the prior in a belief: from none of the evidence to nearly all of it."""


class Payoff(Protocol):
    """What is earned by believing, once the secret is known."""

    def __call__(self, beliefs: Floats, secret: Codes) -> Floats:
        """Return what each variant of the rule earns, shape (variants, samples)."""
        ...

    def without(self, label: Codes) -> Floats:
        """Return what is earned at least on labels without a sample, shape (labels,)."""
        ...


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

    @property
    def least(self) -> float:
        """The log of the smallest share of the prior."""
        return float(np.log(min(MIXED)))

    def __call__(self, beliefs: Floats, secret: Codes) -> Floats:
        """Score each share."""
        share = np.array(MIXED)[:, None]
        rest = np.maximum((beliefs * ~self.scarce).sum(axis=1), 1e-300)
        mine = beliefs[np.arange(len(secret)), secret] / rest
        odds = mine * float(self.prior[~self.scarce].sum()) / self.prior[secret]
        return np.where(self.scarce[secret], 0.0, np.log(share + (1 - share) * odds))

    def without(self, label: Codes) -> Floats:
        """Return what is earned at least on labels without a sample."""
        return np.where(self.scarce[label], 0.0, self.least)


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
        for number, one in enumerate(tried):
            mine = block if any(b[0] == number for b in best) else block[:COMPARE_ON]
            if not len(mine):
                continue
            fitted = one if len(past) and np.ptp(data.secret[past]) > 0 else Guess()
            scorer = fitted.fit(data, past) if len(past) else _nothing(len(prior))
            share = np.maximum(1.0, np.bincount(data.secret[past], minlength=len(prior)))
            got = _earned(data, scorer, order[mine], labels[mine], payoffs, prior / share)
            for place, rows in enumerate(got):
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
        for found, payoff in zip(parts, payoffs, strict=True):
            found.append(payoff(beliefs[place.ravel()], secret))
    return [np.concatenate(found, axis=1) for found in parts]


def _nothing(secrets: int) -> Scorer:
    return lambda outputs: np.ones((len(outputs), secrets))


def _ends(data: Samples, tried: list[Estimator], order: Codes, spare: int) -> list[int]:
    """Cut the samples into blocks; what is not drawn is learned from first."""
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
