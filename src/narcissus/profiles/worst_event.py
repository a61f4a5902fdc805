"""The two data sets and the event that are the best evidence against differential privacy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import non_negative
from narcissus.channels import channel
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import through_channel
from narcissus.results import Grade, Result
from narcissus.success.relations import OneOfPair
from narcissus.worlds import Finite, Pairs


@dataclass(frozen=True)
class WorstEvent(Result):
    """Where a mechanism is least private at an epsilon, and what that breaks.

    Attributes
    ----------
    epsilon
        Of the privacy.
    pair
        Numbers of the data sets ``S_0`` and ``S_1``.
    event, opposite
        Numbers of the releases that are more than ``e^epsilon`` times as likely for ``S_0`` as for
        ``S_1``, and the other way round.
    delta
        ``Pr[event | S_0] - e^epsilon Pr[event | S_1]``, the largest of all pairs and events: the
        mechanism is (epsilon, delta')-differentially private if and only if ``delta' >= delta``.
    over_pair
        The largest gain of any attacker over the pair at ``epsilon``, whatever counts as success:
        the mechanism is not (epsilon, delta')-resilient for smaller ``delta'``. At least
        ``delta / 2``.
    uniform_epsilon, over_uniform_pair
        The same where the data set is one of the two by a fair coin, at the epsilon
        ``ln(2 / (1 + e^-epsilon))``: at least ``delta / (2 (1 + e^epsilon))``.

    Notes
    -----
    Source: Cohen et al. 2024, Theorems A.4 and E.1; Narcissus theory 2.1.
    """

    epsilon: float
    pair: tuple[int, int]
    event: tuple[int, ...]
    opposite: tuple[int, ...]
    delta: float
    over_pair: float
    uniform_epsilon: float
    over_uniform_pair: float
    rows: NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def grade(self) -> Grade:
        """Always 'proved': computed exactly from the channel."""
        return "proved"

    def game(self, *, uniform: bool = False) -> Game:
        """Return the game in which the best attacker has that gain, over either pair."""
        world = Finite([[0], [1]]) if uniform else Pairs([[[0], [1]]])
        return Game(world, through_channel(self.rows.tolist()), OneOfPair(2))

    def study(self, *, uniform: bool = False, names: tuple[str, str] | None = None) -> str:
        """Write the game as a study file, whose statement is the theorem's.

        ``narcissus audit`` plays it and ``narcissus profile`` computes its exact profile.

        Parameters
        ----------
        uniform
            Whether the data set is one of the two by a fair coin (Theorem E.1), and drawn anew for
            the baseline, instead of the other one of the pair (Theorem A.4).
        names
            Names of the two data sets; None: their numbers.
        """
        zero, one = names or (f"data set {self.pair[0]}", f"data set {self.pair[1]}")
        theorem = "E.1 (2)" if uniform else "A.4 (2)"
        world = 'finite"\ndata = [[0], [1]]' if uniform else 'pairs"\npairs = [[[0], [1]]]'
        epsilon = self.uniform_epsilon if uniform else self.epsilon
        promised = self.delta / (2 * (1 + math.exp(self.epsilon)) if uniform else 2)
        low = promised * (1 - 1e-9)  # just below, so that rounding does not decide
        return f"""kind = "game"
title = "Two neighbours can be told apart"
about = "The mechanism is not ({self.epsilon:g}, delta)-private for any delta below {self.delta:g}."
source = "Cohen et al. 2024, Theorem {theorem}"
expected = "violates"

[world]
# 0 stands for {zero}
# 1 stands for {one}
name = "{world}

[mechanism]
# the chances of every release, for either
name = "through-channel"
matrix = {self.rows.tolist()!r}

[success]
name = "one-of-pair"
number = 2

[[attack]]
name = "bayes"
epsilon = {epsilon!r}

[statement]
name = "{"narcissus" if uniform else "pairs"}"
epsilon = {epsilon!r}
delta = {low!r}
"""


def worst_event(
    matrix: Any, epsilon: float, *, neighbours: Iterable[tuple[int, int]] | None = None
) -> WorstEvent:
    """Find the neighbouring data sets and the event that are the best evidence against privacy.

    Parameters
    ----------
    matrix
        The mechanism as a channel: a row for each data set, a column for each release.
    epsilon
        Of the privacy, at least 0.
    neighbours
        Pairs of row numbers that are neighbours, in any order; None: all pairs are.

    Raises
    ------
    InputError
        There are no neighbours, or a pair names no row.

    Examples
    --------
    Randomized response with epsilon 1 is not (0.5, delta)-private below delta 0.287:

    >>> from narcissus.channels import KaryRandomizedResponse
    >>> found = worst_event(KaryRandomizedResponse(2, 1.0).channel(), 0.5)
    >>> found.pair, found.event, round(found.delta, 4), round(found.over_pair, 4)
    ((0, 1), (0,), 0.2876, 0.2876)
    """
    epsilon = non_negative("epsilon", epsilon)
    rows = channel(matrix).dense
    given = permutations(range(len(rows)), 2) if neighbours is None else neighbours
    ordered = [pair for a, b in given for pair in ((a, b), (b, a))]
    if not ordered or any(a == b or not {a, b} <= set(range(len(rows))) for a, b in ordered):
        raise InputError(
            f"`neighbours` must be pairs of two different rows, 0 to {len(rows) - 1}, "
            f"got {ordered[::2][:4]}"
        )
    factor = math.exp(epsilon)

    def excess(pair: tuple[int, int]) -> NDArray[np.float64]:
        return np.maximum(rows[pair[0]] - factor * rows[pair[1]], 0.0)

    pair = max(ordered, key=lambda one: float(excess(one).sum()))
    there, back = excess(pair), excess((pair[1], pair[0]))
    both = math.fsum([*there, *back])
    return WorstEvent(
        epsilon=epsilon,
        pair=pair,
        event=tuple(np.flatnonzero(there).tolist()),
        opposite=tuple(np.flatnonzero(back).tolist()),
        delta=math.fsum(there),
        over_pair=both / 2,
        uniform_epsilon=math.log(2) - math.log1p(math.exp(-epsilon)),
        over_uniform_pair=both / (2 * (1 + factor)),
        rows=rows[list(pair)],
    )
