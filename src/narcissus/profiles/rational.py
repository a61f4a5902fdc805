"""A small game in rational numbers, and the worst that an attacker could be told in it.

What is told, ``K``, has a chance ``w_k(v, S)`` for each ``Nature`` v and data set S. What the best
attacker gains where it is told ``k`` depends on ``w_k`` alone (Kaplan et al. 2025, Definitions 4.1,
4.4 and 4.11):

    F(w) = sum_y max(0, max_z sum_v P(v) [ s_v - e^epsilon a_v b_v / c_v ]),

with ``c_v`` the sum of ``P(S | v) w(v, S)`` over S, ``a_v`` its part where y is released, ``b_v``
that where ``R(S, z)`` holds, and ``s_v`` that where both do and the row counts. So delta is the sum
of ``F(w_k)`` over k, and the worst function of a finite set is the partition of that set with the
largest sum: ``F`` of all subsets is computed, and a table over them finds the partition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, non_negative, one_of
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.knowledge.base import Surprisals, tells
from narcissus.profiles.profile import game_of
from narcissus.profiles.write_out import WrittenConversations, written
from narcissus.results import Grade, Result
from narcissus.success.relations.base import matched, table
from narcissus.worlds.base import Enumeration, key_of

Rationals = NDArray[Any]
"""An array of `Fraction`."""
Seen = Literal["bag", "data", "nature"]

CELLS = 200_000  # guesses, data sets and releases; things told, natures and data sets
PARTS, STEPS = 20_000, 4_000_000  # subsets, and pairs of a subset and a part of it
WORK = 60_000_000  # subsets times cells, a microsecond each
ROOM, SIMPLE, ROOT = Fraction(1, 10**14), 10**6, 64  # largest denominators: of a chance, a share


def fraction_of(number: float) -> Fraction:
    """Return the simplest fraction within a relative 1e-14 of a number.

    >>> fraction_of(1 / 3), fraction_of(0.3 * 0.3 * 0.7)
    (Fraction(1, 3), Fraction(63, 1000))
    """
    exact, bound = Fraction(number), 1
    while abs((fraction := exact.limit_denominator(bound)) - exact) > abs(exact) * ROOM:
        bound *= 2
    return fraction


def _laws(name: str, chances: Any) -> Rationals:
    """Turn laws, along the last axis, to fractions; InputError where a sum is not 1."""
    values, inverse = np.unique(np.asarray(chances, dtype=np.float64), return_inverse=True)
    exact: Rationals = np.array([fraction_of(x) for x in values.tolist()] + [None])[inverse]
    exact = exact.reshape(np.shape(chances))
    for law in exact.reshape(-1, exact.shape[-1]):
        if sum(law) != 1 or max(chance.denominator for chance in law) > SIMPLE:
            some = ", ".join(str(chance)[:30] for chance in law[:6])
            raise InputError(
                f"{name} are no simple fractions that sum to 1: {some}; "
                f"rational numbers need denominators up to {SIMPLE:,}, as of 0.25 or 1/3"
            )
    return exact


@dataclass(frozen=True)
class RationalGame:
    """A game of one distribution in rational numbers: V natures, D data sets, G guesses."""

    game: Game
    world: Enumeration
    nature: Rationals  # chances, shape (V,)
    law: Rationals  # chance of each data set given ``Nature``, shape (V, D)
    channel: Rationals  # chance of each release for each data set, shape (D, Y)
    told: Rationals  # chance of each thing that the study tells, shape (K, V, D)
    holds: Rationals  # chance that a guess holds for the data, and for fresh data, (2, G, D)
    rows: NDArray[np.bool_] | None  # rows recovered, (2, G, D, n); None: surprisal is not asked for
    surprisals: Surprisals

    @cached_property
    def _whole(self) -> tuple[Rationals, Rationals, Rationals, Rationals, int]:
        """The first three chances and ``holds`` as whole numbers, and their common scale."""
        parts = (self.nature, self.law, self.channel, self.holds)
        scales = [_scale(array) for array in parts]
        nature, law, channel, holds = map(_ints, parts, scales)
        return nature, law, channel, holds, math.prod(scales)

    @cached_property
    def _plain(self) -> Rationals:
        return self.surprisals.chances(self.nature @ self.law)

    def _counted(self, which: int, weight: Rationals) -> Rationals:
        """Return where a guess holds for data (0) or fresh data (1) and counts, shape (G, D)."""
        criterion = self.game.kept if which == 0 else self.game.kept and self.game.kept.of_fresh
        nature, law, _, holds, _ = self._whole
        if criterion is None or self.rows is None:
            return holds[which]
        left = self.surprisals.chances(nature @ (law * weight) * Fraction(1))
        share, bits = fraction_of(criterion.share), fraction_of(criterion.bits)
        # h(x | K) >= share h(x) and h(x | K) >= bits, without logarithms
        counts = left**share.denominator <= self._plain**share.numerator
        counts &= left**bits.denominator * 2**bits.numerator <= 1
        hits = (self.rows[which] & counts.astype(np.bool_)).any(axis=2)
        return hits.astype(int).astype(object) * _scale(self.holds)

    def gain(self, weight: Rationals, factor: Fraction) -> Fraction:
        """Return ``F(w)`` for the chances of one value of ``K``, shape (V, D)."""
        nature, law, channel, _, scale = self._whole
        scale *= (weight_scale := _scale(weight))
        weight = _ints(weight, weight_scale)
        used = np.flatnonzero((weight != 0).any(axis=0))
        part = law[:, used] * weight[:, used]
        part, nature = part[seen := part.sum(axis=1) != 0], nature[seen]
        if not part.size:
            return Fraction(0)
        holds, again = (self._counted(which, weight)[:, used] for which in (0, 1))
        success = holds @ ((nature @ part)[:, None] * channel[used])
        sums = part.sum(axis=1)
        common = math.lcm(*sums)
        fresh = (again @ part.T * (nature * (common // sums))) @ (part @ channel[used])
        gains = (success * common * factor.denominator - factor.numerator * fresh).max(axis=0)
        total = sum(amount for amount in gains if amount > 0)
        return Fraction(total, scale * common * factor.denominator)

    def delta(self, epsilon: float = 0.0) -> Fraction:
        """Compute ``delta(epsilon)`` with what the study tells.

        Exact at epsilon 0; elsewhere ``e^epsilon`` is rounded down in its last digits, so that
        delta is never too small.
        """
        return sum(
            (self.gain(weight, factor_of(epsilon)) for weight in self.told), start=Fraction(0)
        )


def _scale(chances: Rationals) -> int:
    return math.lcm(*{Fraction(chance).denominator for chance in chances.ravel()})


def _ints(chances: Rationals, scale: int) -> Rationals:
    return np.asarray(np.frompyfunc(int, 1, 1)(chances * scale))


def factor_of(epsilon: float) -> Fraction:
    """Return ``e^epsilon`` as a fraction, rounded down; 1 at 0."""
    return max(Fraction(1), Fraction(math.exp(non_negative("epsilon", epsilon)) * (1 - 1e-15)))


def rational_game(game: Any) -> RationalGame:
    """Write a small game out in rational numbers, with every chance the simplest fraction.

    game: A `Game`, or a study of the kind "game", of one distribution that can be written out.
    InputError: a part cannot be written out, or its chances are no simple fractions.
    TooLargeError: it has more than `CELLS` cells.
    """
    game = game_of(game).single("an answer in rational numbers")
    for name in ("share", "bits", "fresh_share") if game.kept else ():
        threshold = getattr(game.kept, name) or 0
        if fraction_of(threshold).denominator > ROOT or threshold > 1000:
            raise InputError(
                f"for rational numbers `{name}` must be a fraction with a denominator of at most "
                f"{ROOT}, and at most 1,000: {threshold}"
            )
    exact = written(game, limit=CELLS, work=50 * CELLS, abstain=True)
    world = game.world.enumerate() if exact.places is None else None
    if world is None or exact.additive or isinstance(exact, WrittenConversations):
        raise InputError(
            "rational numbers are for releases without questions and relations about whole data "
            "sets or rows: leave them out for this study"
        )
    if not np.array_equal(world.sample, world.fresh):
        raise InputError("rational numbers are not for worlds of pairs: leave them out")
    (labels, side_law), (natures, sets) = tells(world, game.side), world.sample.shape
    cells = sets * (natures * len(labels) + exact.count * exact.channel.matrix.shape[1])
    if cells > CELLS:
        raise TooLargeError(
            f"in rational numbers this game has {cells:,} cells, and at most {CELLS:,} are "
            "computed: make the world smaller, or leave them out"
        )
    relations, numbers = (game.relation, game.looser or game.relation), np.arange(exact.count)
    holds = np.array(
        [table(relation, world.data, exact.guesses, numbers) for relation in relations]
    )
    rows = None
    if game.kept is not None:
        used = relations if game.kept.of_fresh else relations[:1] * 2
        rows = np.array(
            [
                [matched(relation, world.data, exact.guesses, k) for k in numbers]
                for relation in used
            ]
        )
    each = [side_law(k) + np.zeros((natures, sets)) for k in range(len(labels))]
    return RationalGame(
        game,
        world,
        nature=_laws("the chances of `Nature`", world.weight),
        law=_laws("the chances of the data sets", world.sample),
        channel=_laws("the chances of the releases", exact.channel.matrix.toarray()),
        told=_laws("the chances of what is told", np.stack(each, axis=-1)).transpose(2, 0, 1),
        holds=_laws("the chances of a guess", np.stack([holds, 1 - holds], axis=-1))[..., 0],
        rows=rows,
        surprisals=Surprisals(world, 1 if rows is None else rows.shape[3]),
    )


@dataclass(frozen=True)
class WorstTold(Result):
    """The worst function that tells an attacker one of a number of values."""

    size: int  # values, at most
    sees: Seen  # the data set, up to the order of its rows or not, or ``Nature`` and the data set
    coins: int  # sides of the fair coin that it sees as well; 1: none
    epsilon: float
    delta: Fraction  # the least delta for that function
    nothing: Fraction  # the same where nothing is told
    # for each nature, numbered from 1 (0: not seen), and data set the sides of the coin with which
    # each value is told
    told: tuple[tuple[int, Any, tuple[int, ...]], ...]
    functions: int  # how many there are up to the names of values: none is worse

    @property
    def grade(self) -> Grade:
        return "proved"

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "delta": str(self.delta), "nothing": str(self.nothing)}

    def __str__(self) -> str:
        seen = {"data": "the data set", "bag": "the bag of rows"}.get(self.sees, "Nature and data")
        seen += f" and a coin of {self.coins} sides" if self.coins > 1 else ""
        lines = [
            f"PROVED at epsilon {self.epsilon:g}: of {self.functions:,} functions of {seen} to "
            f"{self.size} values none needs a larger delta",
            f"delta with nothing told: {self.nothing} = {float(self.nothing):.6g}",
            f"delta with the worst:    {self.delta} = {float(self.delta):.6g}",
        ]
        for nature, data, sides in self.told:
            values = ", ".join(
                f"value {k + 1}" + f" ({c}/{self.coins})" * (self.coins > 1)
                for k, c in enumerate(sides)
                if c
            )
            lines.append(f"  {data}" + f" of nature {nature}" * (nature > 0) + f": {values}")
        return "\n".join(lines)


def worst_told(
    game: Any, size: int, *, epsilon: float = 0.0, sees: Seen = "data", coins: int = 1
) -> WorstTold:
    """Find the worst side information of at most ``size`` values, of all functions.

    Source: Kaplan et al. 2025, Definitions 4.1, 4.4 and 4.11 ("for every side information"), for
    functions of a finite set. What the game itself tells is left out.

    game: As for `rational_game`.
    size: Values that the attacker may be told, at least 2: one tells nothing.
    epsilon: Where delta is computed, at least 0.
    sees: What the function sees: ``data``, their ``bag`` of rows, or ``nature`` and the data.
    coins: Sides of a fair coin that the function sees as well; 1 for none.
    TooLargeError: there are too many functions.
    """
    one_of("sees", sees, ("bag", "data", "nature"))
    integer("coins", coins, low=1, high=100)
    if integer("size", size, low=1) == 1:
        raise InputError("one value tells nothing: the size says something from 2 on")
    exact, factor = rational_game(game), factor_of(epsilon)
    causes: dict[Any, list[tuple[int, int]]] = {}
    for v, s in np.argwhere(exact.nature[:, None] * exact.law > 0).tolist():
        case = exact.world.data[s]
        key = sorted(map(repr, map(key_of, case))) if sees == "bag" else [s]
        causes.setdefault((v + 1 if sees == "nature" else 0, *key), []).append((v, s))
    causes = dict(sorted(causes.items(), key=lambda case: (case[0][0], case[1][0][1])))
    size = min(size, len(causes) * coins)
    _fits(len(causes), size, coins, exact.holds[0].size * exact.channel.shape[1])

    def gain(amounts: Sequence[int]) -> Fraction:
        weight = np.full(exact.law.shape, Fraction(0), dtype=object)
        for places, amount in zip(causes.values(), amounts, strict=True):
            weight[tuple(zip(*places, strict=True))] = Fraction(amount, coins)
        return exact.gain(weight, factor)

    total, parts = _partition(gain, len(causes), size, coins)
    assignment = tuple(
        (key[0], np.asarray(exact.world.data[places[0][1]]).tolist(), tuple(p[k] for p in parts))
        for k, (key, places) in enumerate(causes.items())
    )
    ways = [1] + [0] * size  # partitions of all sides into each number of parts
    for _ in range(len(causes) * coins):
        ways = [0, *(ways[k - 1] + k * ways[k] for k in range(1, size + 1))]
    nothing = gain([coins] * len(causes))
    return WorstTold(size, sees, coins, epsilon, total, nothing, assignment, sum(ways))


def _fits(causes: int, size: int, coins: int, cells: int) -> None:
    limit = math.floor(math.log(min(PARTS, WORK / cells), coins + 1))
    if size > 2:
        limit = min(limit, math.floor(math.log(STEPS, math.comb(coins + 2, 2))))
    if causes > limit:
        raise TooLargeError(
            f"all functions to {size} values are looked at for at most {limit} things to see (data "
            f"sets, or pairs with `Nature`), and there are {causes}: let it see less, or make the "
            "world smaller"
        )


def _partition(
    gain: Callable[[Sequence[int]], Fraction], causes: int, size: int, coins: int
) -> tuple[Fraction, list[tuple[int, ...]]]:
    """Return the largest sum of gains over partitions of ``coins`` of each cause, and its parts."""
    vectors = list(product(range(coins + 1), repeat=causes))
    gains = [gain(term) for term in vectors]
    scale = math.lcm(*(term.denominator for term in gains))
    worth = [int(term * scale) for term in gains]
    full = len(vectors) - 1

    def first_parts(whole: int) -> list[int]:
        """Return the parts with some of the first cause that is there: a partition has one."""
        digits, numbers = vectors[whole], [0]
        first = next(k for k, digit in enumerate(digits) if digit)
        for k, digit in enumerate(digits):
            power, steps = (coins + 1) ** (causes - 1 - k), range(k == first, digit + 1)
            numbers = [term + step * power for term in numbers for step in steps]
        return numbers

    best, cuts = worth, list[dict[int, int]]()
    for layer in range(2, size + 1):
        now, cut = list(best), dict[int, int]()
        for whole in range(1, full + 1) if layer < size else (full,):
            for part in first_parts(whole):
                if (value := worth[part] + best[whole - part]) > now[whole]:
                    now[whole], cut[whole] = value, part
        best = now
        cuts.append(cut)
    chosen, left = list[int](), full
    for cut in reversed(cuts):
        if left in cut:
            chosen.append(cut[left])
            left -= cut[left]
    parts = [vectors[term] for term in (*chosen, left) if term]
    return Fraction(best[full], scale), parts
