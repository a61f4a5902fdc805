"""A small game written out: the exact resilience of a mechanism, against every attacker at once.

For a release ``y`` (with what the attacker was told) and an attempt ``z``, let
``s(y, z) = Pr[R(S, z) = 1, M(S) = y]`` and ``b(y, z) = Pr[M(S) = y, R(T, z) = 1]``. The mechanism
is (epsilon, delta)-resilient against all attackers if and only if

    delta >= delta(epsilon) = sum_y max(0, max_z [ s(y, z) - e^epsilon b(y, z) ]),

since the best attacker picks the best attempt for each release, or none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._validation import non_negative, probability
from narcissus.attacks.bayes import BestPredicate, Lookup
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.knowledge import refine
from narcissus.mechanisms.base import ReleaseChannel, is_interactive
from narcissus.profiles.best import Best, Guesses
from narcissus.success.relations.base import table
from narcissus.success.singling_out import SAME
from narcissus.worlds.base import Enumeration
from narcissus.worlds.batches import key_of
from narcissus.worlds.finite import Finite

LIMIT = 20_000_000
"""Largest number of (data set, release) pairs that is written out."""

WORK = 20_000_000_000
"""Largest number of (data set, release, guess) triples that is gone through."""

_CHUNK = 8_000_000
_KEPT = 10_000_000


@dataclass(frozen=True)
class WrittenOut:
    """A game with all its data sets, releases and guesses.

    Attributes
    ----------
    game
        The game.
    enumeration
        All data sets, split by what the attacker is told.
    channel
        All releases, with their probability for each data set.
    guesses
        All attempts worth making.
    count
        How many those are.
    abstain
        Whether an attacker may make no attempt; membership predicates always may.
    places
        Records in front that are told apart, where data sets are written out up to the order of
        all others and attempts are about those in front; None: all data sets are.
    """

    game: Game
    enumeration: Enumeration
    channel: ReleaseChannel
    guesses: Any
    count: int
    abstain: bool = True
    places: int | None = None

    @property
    def additive(self) -> bool:
        """Whether attempts are put together from the guesses (membership predicates)."""
        return bool(getattr(self.game.relation, "additive", False))

    @property
    def pairs(self) -> int:
        """Number of (data set, release) pairs with a probability above 0."""
        return int(self.channel.matrix.nnz)

    @cached_property
    def told(self) -> list[int]:
        """What may be told, as indices."""
        return [int(k) for k in np.unique(self.enumeration.known)]

    @cached_property
    def fixed(self) -> NDArray[np.float64]:
        """``Pr[R(T, z) = 1]`` of each guess made without looking, shape (guesses,)."""
        world = self.enumeration
        mean = world.weight @ world.fresh
        looser = self.game.looser or self.game.relation
        parts = [table(looser, world.data, self.guesses, part) @ mean for part in self.parts()]
        return np.concatenate(parts)

    def parts(self) -> Iterator[NDArray[np.int64]]:
        """Go through the numbers of all guesses, as many at a time as are held at once."""
        wide = max(len(self.enumeration.data), self.channel.matrix.shape[1])
        step = max(1, _CHUNK // wide)
        for start in range(0, self.count, step):
            yield np.arange(start, min(self.count, start + step))

    def blocks(self) -> Iterable[Guesses]:
        """Go through all guesses, some at a time; kept for another time where they are few."""
        if self.count * self.channel.matrix.shape[1] * len(self.told) <= _KEPT:
            return self._kept
        return self._blocks()

    @cached_property
    def _kept(self) -> list[Guesses]:
        return list(self._blocks())

    def _blocks(self) -> Iterator[Guesses]:
        world, matrix = self.enumeration, self.channel.matrix
        game = self.game
        groups = [(k, np.flatnonzero(world.known == k)) for k in self.told]
        joint: dict[int, Any] = {
            k: sparse.diags_array(world.weight[v] @ world.sample[v]) @ matrix for k, v in groups
        }
        if matrix.nnz > 0.1 * matrix.shape[0] * matrix.shape[1]:
            joint = {k: part.toarray() for k, part in joint.items()}  # BLAS is much faster
        released = {k: (world.weight[v, None] * world.sample[v]) @ matrix for k, v in groups}
        for part in self.parts():
            holds = table(game.relation, world.data, self.guesses, part)
            again = (
                holds if game.looser is None else table(game.looser, world.data, self.guesses, part)
            )
            for k, v in groups:
                success = np.asarray(holds @ joint[k])
                baseline = (again @ world.fresh[v].T) @ np.asarray(released[k])
                yield Guesses(k, part, success, baseline)

    def sweep(self, epsilons: Sequence[float]) -> list[Best]:
        """Give the best attacker at each epsilon, any real numbers, in one pass.

        Membership predicates are put together record by record: there the maximum over guesses
        becomes a sum of what is positive.
        """
        width = self.channel.matrix.shape[1]
        may = self.abstain or self.additive
        found = [Best.nothing(epsilon, self.told, width, abstain=may) for epsilon in epsilons]
        for block in self.blocks():
            for best in found:
                best.add(block, additive=self.additive)
        return found

    def deltas(self, epsilons: Sequence[float]) -> NDArray[np.float64]:
        """Give ``delta(epsilon)`` at each epsilon, any real numbers."""
        return np.asarray([best.delta for best in self.sweep(epsilons)])

    def delta(self, epsilon: float) -> float:
        """Give ``delta(epsilon)``: the smallest delta with which the mechanism is resilient."""
        return float(self.deltas([non_negative("epsilon", epsilon)])[0])

    def epsilon(self, delta: float) -> float:
        """Give the smallest epsilon with ``delta(epsilon) <= delta``; infinite if there is none."""
        probability("delta", delta)
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2 * high
            if high > 700:
                return math.inf
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high

    def best(self, epsilon: float) -> list[tuple[int, int, int, float]]:
        """Give the best attempt for each release: (told, release, guess or -1, what it gains)."""
        best = self.sweep([epsilon])[0]
        return [
            (k, y, int(best.guess[k][y]), float(best.gain[k][y]))
            for k in self.told
            for y in range(len(best.gain[k]))
        ]

    def attacker(self, epsilon: float) -> Any:
        """Give the best attacker against resilience at an epsilon, ready to play.

        Raises
        ------
        InputError
            It is told all of ``Nature``, which is more than a number.
        """
        if getattr(self.game.side, "whole", False) and not isinstance(self.game.world, Finite):
            raise InputError(
                "the best attacker who is told `nature` cannot be played here; ask for the exact "
                "answer alone, which is about that attacker"
            )
        keys = [key_of(release) for release in self.channel.releases]
        told = {k: key_of(self.enumeration.labels[k]) for k in self.told}
        if not self.additive:
            entries = self.best(epsilon)
            return Lookup(self.guesses, {(told[k], keys[y]): z for k, y, z, _ in entries if z >= 0})
        factor = math.exp(epsilon)
        masks: dict[Any, NDArray[np.bool_]] = {}
        for block in self.blocks():
            gains = block.success > factor * block.baseline
            for y, key in enumerate(keys):
                mask = masks.setdefault((told[block.told], key), np.zeros(self.count, dtype=bool))
                mask[block.guesses] = gains[:, y]
        return BestPredicate(self.guesses, masks)

    def rates(self, epsilon: float) -> tuple[float, float]:
        """Give exact success and baseline of the attacker with the largest gap at an epsilon.

        At ``-math.inf`` the baseline counts for nothing: the success is the largest there is.
        """
        best = self.sweep([epsilon])[0]
        return best.rates

    def robust(self, epsilon: float) -> tuple[float, float]:
        """Give the exact least ``delta`` of the fixed baseline at an epsilon, and that baseline.

        Cohen et al. 2024, Definition 1.4: best success with the release, less ``e^epsilon`` times
        the best fixed guess.
        """
        best = float(self.fixed.max(initial=0.0))
        top: dict[int, NDArray[np.float64]] = {}
        for block in self.blocks():
            now = top.setdefault(block.told, np.zeros(block.success.shape[1]))
            np.maximum(now, block.success.max(axis=0), out=now)
        success = math.fsum(float(x) for values in top.values() for x in values)
        return max(0.0, success - math.exp(epsilon) * best), best

    def beyond(self, tau: float) -> float:
        """Give the exact least ``epsilon`` of the threshold baseline ``tau`` (Definition 1.5)."""
        return self.light(self.fixed, tau)

    def light(self, weights: NDArray[np.float64], limit: float) -> float:
        """Give the best success of attempts whose weight is at most a limit."""
        top: dict[int, NDArray[np.float64]] = {}
        for block in self.blocks():
            allowed = weights[block.guesses] <= limit * (1 + SAME)
            if not allowed.any():
                continue
            now = top.setdefault(block.told, np.zeros(block.success.shape[1]))
            np.maximum(now, block.success[allowed].max(axis=0), out=now)
        return math.fsum(float(x) for values in top.values() for x in values)


def write_out(
    game: Game, *, limit: int = LIMIT, work: int = WORK, abstain: bool = True
) -> WrittenOut:
    """Write a small game out.

    Parameters
    ----------
    game
        World, mechanism and relation must be ones that can be written out; the world must be one
        distribution (of a family, write the members out).
    limit
        Largest number of (data set, release) pairs.
    work
        Largest number of (data set, release, guess) triples.
    abstain
        Whether an attacker may make no attempt.

    Raises
    ------
    TooLargeError
        The game is too large; the message says how large it would be.
    InputError
        A part of the game cannot be written out at all, or the relation never holds.
    """
    exact = written(game.single("an exact answer"), limit=limit, work=work, abstain=abstain)
    require_true([exact])
    return exact


def require_true(written: Iterable[WrittenOut]) -> None:
    """Refuse a relation that holds for no data set and no attempt of any of some games."""
    name = ""
    for exact in written:
        if any(block.success.any() or block.baseline.any() for block in exact.blocks()):
            return
        name = type(exact.game.relation).__name__
    raise InputError(f"the relation {name} holds for no data set and no attempt: it is never true")


def written(game: Game, *, limit: int, work: int, abstain: bool) -> WrittenOut:
    """Write a game out, whether or not its relation ever holds; see `write_out`."""
    talks = is_interactive(game.mechanism)
    needs = {
        "world": "enumerate",
        "mechanism": "advance" if talks else "channel",
        "relation": "guesses",
    }
    for name, method in needs.items():
        part = getattr(game, name)
        if not hasattr(part, method):
            raise InputError(
                f"the {name} {type(part).__name__} cannot be written out for an exact answer; "
                "play the game instead"
            )
    if game.surprisal is not None and game.side is not None:
        raise InputError("surprisal has no exact answer here; play the game instead")
    enumeration, places = _enumerate(game, limit)
    outcomes = getattr(game.mechanism, "outcomes", None)
    each = 1 if outcomes is None else outcomes((*np.shape(enumeration.data), 1)[1])
    _fits(
        len(enumeration.data) * each,
        limit,
        f"{len(enumeration.data):,} data sets with up to {amount(each)} releases each",
    )
    enumeration = refine(enumeration, game.side)
    tree = None
    if talks:
        from narcissus.profiles.conversations import conversations

        tree = conversations(game.mechanism, enumeration.data, limit)
        channel = tree.channel
    else:
        channel = game.mechanism.channel(enumeration.data)
    guesses = (
        game.relation.guesses(enumeration.data, lumped=True)
        if places is not None
        else game.relation.guesses(enumeration.data)
    )
    count = len(guesses)
    told = len(np.unique(enumeration.known))
    if count * max(4 * channel.matrix.shape[1], int(channel.matrix.nnz)) * told > work:
        raise TooLargeError(
            f"an exact answer would go through {count:,} guesses for each of "
            f"{channel.matrix.shape[1]:,} releases and {channel.matrix.nnz:,} pairs of data set "
            "and release; play the game instead"
        )
    if tree is not None:
        from narcissus.profiles.conversations import WrittenConversations

        return WrittenConversations(
            game, enumeration, channel, guesses, count, abstain, places, tree
        )
    return WrittenOut(game, enumeration, channel, guesses, count, abstain, places)


def _enumerate(game: Game, limit: int) -> tuple[Enumeration, int | None]:
    """Write out the data sets, up to their order where release and attempt do not see it.

    Then with how many records in front are told apart.
    """
    places = getattr(game.relation, "coordinates", None)
    if (
        places is not None
        and game.side is None
        and game.looser is None
        and getattr(game.mechanism, "exchangeable", False)
        and hasattr(game.world, "lumped")
        and places <= 30  # before the power is taken, which has as many bits
        and 2**places * game.world.n * game.world.n <= 400_000_000
    ):
        enumeration = game.world.lumped(places)
        if enumeration is not None:
            return enumeration, places
    size = game.world.count()
    _fits(size, limit, f"{amount(size)} data sets")
    return game.world.enumerate(), None


def amount(size: int) -> str:
    """Write a number of things, which may have thousands of digits."""
    return f"{size:,}" if size < 10**15 else f"about 10^{math.log10(size):.0f}"


def _fits(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise TooLargeError(
            f"the exact answer would write out {what}, {amount(size)} pairs; at most {limit:,} "
            "are. Make the world smaller, or ask for an estimate by sampling (`sampled_profile`; "
            "on the command line, `--sample`)"
        )
