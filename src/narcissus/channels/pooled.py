"""An upper limit of `beta*` from many pairs at once, where no single one has samples enough.

`beta*` is at most the mean over any family of pairs of miss and false hit. The family, its events
and the estimator behind them are chosen block by block, from earlier samples only.

Source: Narcissus theory 6.9; Howard et al. 2021 (empirical Bernstein, after Fan et al. 2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from narcissus.channels.estimators import Estimator
from narcissus.channels.families import PairFamily, bet, cost, families
from narcissus.channels.pairs import Pair
from narcissus.channels.samples import Codes, Samples
from narcissus.observer import Observer

BEGIN = 8
"""One part in so many is learned from before anything counts; twice that where it is little."""
LITTLE_EACH = 50
"""Samples of each secret that are little to learn from."""
GROWTH = 2.0
"""How much more is known at each block than at the one before."""
LITTLE = 0.1
"""Share of the chance to be wrong of the way that promises less: one pair, or many."""
KEPT = 3
"""Estimators that are tried again at later blocks."""


@dataclass
class Ledger:
    """What was bet on samples so far, and what it says of `beta*`.

    Notes
    -----
    A sample of secret s in a block loses ``g`` in [0, w_s]. With ``c = max_s w_s / n_s`` let
    ``X = g / (n_s c)``, in [0, 1]; the means of X in the block sum to ``beta* / c`` or more. For
    any prediction x in [0, 1] and bet l, all fixed before the block,
    ``exp(l (E X - X) - psi(l) (X - x)^2)`` has mean at most 1, so that the product over all
    samples exceeds ``1 / alpha`` with chance alpha at most.
    """

    staked: float = 0.0
    lost: float = 0.0
    charged: float = 0.0
    samples: int = 0
    latest: float = 1.0

    def add(self, data: Samples, family: PairFamily, block: Codes, later: int, room: float) -> None:
        """Bet on a block of which nothing but the secrets has been looked at."""
        each = np.bincount(data.secret[block], minlength=len(data.names))[family.candidates]
        most = family.most
        largest = float((most / each).max())
        after = each * np.float64(later / len(block))
        boldness = bet(family.spread, most, after, room)[0]
        own, weight, lost = family.losses(data, block)
        unit = 1 / (each[own] * largest)
        loss = unit * lost
        off = loss - unit * family.expected[own]
        self.staked += boldness / largest
        self.lost += boldness * float(weight @ loss)
        self.charged += cost(boldness) * float(weight @ off**2)
        self.samples += len(block)
        self.latest = largest * float(weight @ loss)  # the mean loss, of this block

    def high(self, alpha: float) -> float:
        """Give the upper limit."""
        return (self.lost + self.charged + math.log(1 / alpha)) / self.staked


@dataclass(frozen=True)
class Pooled:
    """An upper limit from a family of pairs.

    Attributes
    ----------
    high, value
        The limit, and the mean loss.
    pairs, pair
        How many pairs the last family has, and the one that seemed easiest to tell apart.
    samples
        How many counted.
    left
        What of the chance to be wrong is left for the limit of a single pair.
    """

    high: float
    value: float
    pairs: int
    pair: Pair
    samples: int
    left: float


def pooled_high(
    data: Samples, tried: Sequence[Estimator], order: Codes, alpha: float, observer: Observer
) -> Pooled | None:
    """Limit `beta*` from above by a family of pairs; None if secrets are too rare for it.

    Parameters
    ----------
    order
        Numbers of all samples, each secret's spread alike, in an order blind to outputs.
    alpha
        Chance that the limit is too low, in (0, 1). One pair at most has `LITTLE` of it where the
        first part of the samples says that many do better, all but that where it does not.

    Returns
    -------
    Pooled or None
        The limit and what of ``alpha`` is left for the limit of a single pair.
    """
    first = len(order) // BEGIN
    ends = [max(first, min(2 * first, LITTLE_EACH * len(data.names)))]
    while ends[-1] * GROWTH < len(order) * 0.8:
        ends.append(math.ceil(ends[-1] * GROWTH))
    ledger, own = Ledger(), alpha
    family: PairFamily | None = None
    later = len(order) - ends[0]
    for low, high in pairwise([*ends, len(order)]):
        block = order[low:high]
        found = families(data, tried, order[:low], block, later, alpha)
        if not found:
            break
        if not ledger.samples:
            own = alpha * (LITTLE if found[0].pairs == 1 else 1 - LITTLE)
        family = found[0].learned(data, order[:low])
        tried = [other.estimator for other in found[:KEPT]]
        ledger.add(data, family, block, later, math.log(1 / own))
        observer.advance()
    if family is None:
        return None
    return Pooled(
        min(1.0, ledger.high(own)), min(1.0, ledger.latest), family.pairs, family.first,
        ledger.samples, alpha - own,
    )  # fmt: skip
