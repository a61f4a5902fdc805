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
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.game.rules import is_own
from narcissus.mechanisms import through_channel
from narcissus.profiles.write_out import LIMIT, ROUNDING, amount
from narcissus.results import Grade, Result
from narcissus.success.relations import OneOfPair
from narcissus.success.relations.base import take
from narcissus.worlds import Finite, Pairs, RandomNeighbours
from narcissus.worlds.base import LISTED


@dataclass(frozen=True)
class WorstEvent(Result):
    """Where a mechanism is least private at an epsilon, and what that breaks.

    Source: Cohen et al. 2024, Theorems A.4 and E.1; Narcissus theory 2.1.
    """

    epsilon: float  # of the privacy
    pair: tuple[int, int]  # numbers of the data sets ``S_0`` and ``S_1``
    # numbers of the releases more than ``e^epsilon`` times as likely for ``S_0`` as for ``S_1``
    event: tuple[int, ...]
    opposite: tuple[int, ...]  # and the other way round
    # ``Pr[event | S_0] - e^epsilon Pr[event | S_1]``, the largest of all pairs and events: the
    # mechanism is (epsilon, delta')-differentially private if and only if ``delta' >= delta``
    delta: float
    # largest gain of any attacker over the pair at ``epsilon``, whatever counts as success: the
    # mechanism is not (epsilon, delta')-resilient for smaller ``delta'``; at least ``delta / 2``
    over_pair: float
    # the same where the data set is one of the two by a fair coin, at the epsilon
    # ``ln(2 / (1 + e^-epsilon))``: at least ``delta / (2 (1 + e^epsilon))``
    uniform_epsilon: float
    over_uniform_pair: float
    rows: NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def grade(self) -> Grade:
        return "proved"

    def game(self, *, uniform: bool = False) -> Game:
        """Return the game in which the best attacker has that gain, over either pair."""
        world = Finite([[0], [1]]) if uniform else Pairs([[[0], [1]]])
        return Game(world, through_channel(self.rows.tolist()), OneOfPair(2))

    def study(self, *, uniform: bool = False, names: tuple[str, str] | None = None) -> str:
        """Write the game as a study file, whose statement is the theorem's.

        uniform: Whether the data set is one of the two by a fair coin (Theorem E.1), and drawn anew
            for the baseline, instead of the other one of the pair (Theorem A.4).
        names: Of the two data sets; None: their numbers.
        """
        zero, other = names or (f"data set {self.pair[0]}", f"data set {self.pair[1]}")
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
# 1 stands for {other}
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

    matrix: The mechanism as a channel: a row for each data set, a column for each release.
    epsilon: Of the privacy, at least 0.
    neighbours: Pairs of row numbers that are neighbours, in any order; None: all pairs are.

    Randomized response with epsilon 1 is not (0.5, delta)-private below delta 0.287:

    >>> from narcissus.channels import KaryRandomizedResponse
    >>> found = worst_event(KaryRandomizedResponse(2, 1.0).channel(), 0.5)
    >>> found.pair, found.event, round(found.delta, 4), round(found.over_pair, 4)
    ((0, 1), (0,), 0.2876, 0.2876)
    """
    epsilon = non_negative("epsilon", epsilon)
    rows = channel(matrix).dense
    pairs = permutations(range(len(rows)), 2) if neighbours is None else neighbours
    ordered = [pair for a, b in pairs for pair in ((a, b), (b, a))]
    if not ordered or any(a == b or not {a, b} <= set(range(len(rows))) for a, b in ordered):
        raise InputError(
            f"`neighbours` must be pairs of two different rows, 0 to {len(rows) - 1}, "
            f"got {ordered[::2][:4]}"
        )
    factor = math.exp(epsilon)

    def excess(pair: tuple[int, int]) -> NDArray[np.float64]:
        return np.maximum(rows[pair[0]] - factor * rows[pair[1]], 0.0)

    pair = max(ordered, key=lambda candidate: float(excess(candidate).sum()))
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


Numbers = list[tuple[int, int]]

_SHOWN = 8


@dataclass(frozen=True)
class WorstNeighbours(Result):
    """The two neighbouring data sets of a game where its mechanism is least private."""

    event: WorstEvent  # pair, event, and what it breaks, by numbers
    data: tuple[Any, Any]  # both data sets
    releases: tuple[Any, ...]  # every release of the event
    pairs: int  # number of pairs of neighbours
    assumptions: tuple[str, ...] = ()  # what the answer assumes about parts of the user's own

    @property
    def grade(self) -> Grade:
        return "proved if" if self.assumptions else "proved"

    @property
    def private(self) -> bool:
        """Whether only rounding contradicts (epsilon, 0)-differential privacy."""
        return self.event.delta <= ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        event = self.event
        return {
            "epsilon": event.epsilon,
            "delta": event.delta,
            "data": [point.tolist() for point in self.data],
            "event": [_plain(point) for point in self.releases],
            "pairs": self.pairs,
            "over_pair": event.over_pair,
            "over_pair_at_least": event.delta / 2,
            "uniform_epsilon": event.uniform_epsilon,
            "over_uniform_pair": event.over_uniform_pair,
            "over_uniform_pair_at_least": event.delta / (2 * (1 + math.exp(event.epsilon))),
            "proved": not self.assumptions,
            "assumptions": list(self.assumptions),
        }

    def __str__(self) -> str:
        event, fields = self.event, self.to_dict()
        if self.private:
            return (
                f"{self.grade.upper()}: ({event.epsilon:g}, 0)-differentially private over "
                f"{self.pairs:,} pairs of neighbours, but for rounding (delta below {ROUNDING:g})"
            )
        shown = ", ".join(str(release) for release in fields["event"][:_SHOWN])
        rest = f" and {len(self.releases) - _SHOWN:,} more" if len(self.releases) > _SHOWN else ""
        lines = [
            f"{self.grade.upper()}: not ({event.epsilon:g}, delta)-differentially private for any "
            f"delta below {event.delta:.6g}, the most over {self.pairs:,} pairs of neighbours",
            f"  data sets  {fields['data'][0]}",
            f"         and {fields['data'][1]}",
            f"  event      the release is {shown}{rest}",
            f"over this pair an attacker gains {event.over_pair:.6g} at epsilon {event.epsilon:g}, "
            f"at least delta / 2 = {fields['over_pair_at_least']:.6g} (Theorem A.4)",
            f"of a fair coin between them, {event.over_uniform_pair:.6g} at epsilon "
            f"{event.uniform_epsilon:.6g}, at least delta / (2 (1 + e^epsilon)) = "
            f"{fields['over_uniform_pair_at_least']:.6g} (Theorem E.1)",
        ]
        return "\n".join([*lines, *(f"proved if {text}" for text in self.assumptions)])


def worst_neighbours(game: Game, epsilon: float, *, limit: int = LIMIT) -> WorstNeighbours:
    """Find the neighbours and the event that are the best evidence that a mechanism is not private.

    Neighbours are the pairs of a world of pairs; of any other, all data sets that differ in one
    record; for a family, those of every member.

    Source: Cohen et al. 2024, Theorems A.4 (2) and E.1 (2).

    epsilon: Of the privacy, at least 0.
    limit: Largest number of (data set, release) pairs to write out.

    >>> from narcissus.mechanisms import CountingQuery
    >>> from narcissus.success.relations import Prefix
    >>> from narcissus.worlds import Bits
    >>> found = worst_neighbours(Game(Bits(3), CountingQuery(), Prefix()), 1.0)
    >>> found.pairs, found.event.delta
    (12, 1.0)
    """
    if not hasattr(game.mechanism, "channel"):
        raise InputError(
            f"the mechanism {type(game.mechanism).__name__} cannot be written out, and its privacy "
            "is computed from that alone"
        )
    data, neighbours = _all_of(game)
    written = game.mechanism.channel(data)
    size = len(data) * int(written.matrix.shape[1])
    if size > limit:
        raise TooLargeError(
            f"the mechanism's channel has {size:,} entries, at most {limit:,} are looked at; make "
            "the world smaller"
        )
    event = worst_event(written.matrix.toarray(), epsilon, neighbours=neighbours)
    premise = f"the user's mechanism `{type(game.mechanism).__name__}` releases as its channel says"
    return WorstNeighbours(
        event,
        (data[event.pair[0]], data[event.pair[1]]),
        tuple(take(written.releases, np.asarray(event.event, dtype=np.int64))),
        len(neighbours),
        (premise,) if is_own(game.mechanism) else (),
    )


def _all_of(game: Game) -> tuple[NDArray[Any], Numbers]:
    """Return all data sets of a game, and neighbours as pairs of their numbers."""
    sets: list[NDArray[Any]] = []
    neighbours: Numbers = []
    start = 0
    for member in game.members().values():
        data, pairs = _neighbours(member.world)
        sets.append(data)
        neighbours += [(start + a, start + b) for a, b in pairs]
        start += len(data)
    if not neighbours:
        raise InputError("no two data sets of the world differ in exactly one record")
    data, number = np.unique(np.concatenate(sets), axis=0, return_inverse=True)
    number = number.reshape(-1)
    return data, sorted({(int(number[a]), int(number[b])) for a, b in neighbours})


def _neighbours(world: Any) -> tuple[NDArray[Any], Numbers]:
    world = world.pairs if isinstance(world, RandomNeighbours) else world
    if isinstance(world, Pairs):
        data = world.sets.reshape(-1, *world.sets.shape[2:])
        pairs = [(k, k + 1) for k in range(0, len(data), 2)]
        return data, [(a, b) for a, b in pairs if _apart(data[a], data[b : b + 1])[0] == 1]
    if not hasattr(world, "enumerate"):
        raise InputError(f"the world {type(world).__name__} cannot be written out")
    if world.count() > LISTED:
        raise TooLargeError(
            f"the world has {amount(world.count())} data sets, and neighbours are looked for among "
            f"{LISTED:,} at most; make it smaller, or list them in a world of `pairs`"
        )
    data = np.unique(np.asarray(world.enumerate().data), axis=0)
    near = ((a, np.flatnonzero(_apart(row, data) == 1)) for a, row in enumerate(data))
    return data, [(a, int(b)) for a, others in near for b in others if a < b]


def _plain(release: Any) -> Any:
    value = release.tolist() if isinstance(release, np.ndarray | np.generic) else release
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, list | int | float | str | bool) else str(value)


def _apart(one: NDArray[Any], others: NDArray[Any]) -> NDArray[np.int64]:
    return (one != others).reshape(*others.shape[:2], -1).any(axis=2).sum(axis=1)
