"""A game with all its data sets, releases and guesses, and its best attacker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._arrays import TIE
from narcissus._validation import non_negative, probability
from narcissus.attacks.bayes import BestPredicate, Lookup
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms.base import ReleaseChannel
from narcissus.success.relations.base import table
from narcissus.success.singling_out import SAME
from narcissus.worlds.base import Enumeration, key_of
from narcissus.worlds.finite import Finite


@dataclass(frozen=True)
class Guesses:
    """A block of guesses against all releases, for one value of what the attacker is told."""

    told: int  # index of that value
    guesses: NDArray[np.int64]  # numbers of the guesses, shape (g,)
    success: NDArray[np.float64]  # s(y, z), shape (g, Y)
    baseline: NDArray[np.float64]  # b(y, z), shape (g, Y)


@dataclass(frozen=True)
class Best:
    """The attacker with the largest gap at an epsilon, updated block by block.

    ``gain``, ``success`` and ``baseline`` hold what each release adds to
    ``success - e^epsilon baseline`` and to its two terms, by what is told, each of shape (Y,).
    ``guess`` is the number of the best guess for each release, -1 for none; it has no meaning where
    attempts are put together from several guesses.
    """

    epsilon: float
    gain: dict[int, NDArray[np.float64]]
    success: dict[int, NDArray[np.float64]]
    baseline: dict[int, NDArray[np.float64]]
    guess: dict[int, NDArray[np.int64]]

    @classmethod
    def nothing(
        cls, epsilon: float, told: Sequence[int], width: int, *, abstain: bool = True
    ) -> Best:
        """Start with the attacker who makes no attempt, or who still has to make one."""
        start = 0.0 if abstain else -math.inf
        return cls(
            epsilon,
            {k: np.full(width, start) for k in told},
            {k: np.zeros(width) for k in told},
            {k: np.zeros(width) for k in told},
            {k: np.full(width, -1, dtype=np.int64) for k in told},
        )

    def add(self, block: Guesses, *, additive: bool) -> None:
        k, releases = block.told, np.arange(block.success.shape[1])
        factor = math.exp(self.epsilon)
        value = block.success - factor * block.baseline
        # What gains nothing but by rounding is not attempted, and of equals the first one is: which
        # attacker is shown hangs on no last digit. What is gained is the largest all the same.
        rounding = TIE * (block.success + factor * block.baseline)
        if additive:
            chosen = value > rounding
            self.gain[k][:] += np.maximum(value, 0).sum(axis=0)
            self.success[k][:] += np.where(chosen, block.success, 0).sum(axis=0)
            self.baseline[k][:] += np.where(chosen, block.baseline, 0).sum(axis=0)
            return
        held = self.success[k] - factor * self.baseline[k]
        held[np.isneginf(self.gain[k])] = -np.inf
        found = value.max(axis=0)
        top = np.argmax(value >= found - rounding, axis=0)
        better = np.flatnonzero(found > held + rounding[top, releases])
        chosen = top[better]
        np.maximum(self.gain[k], found, out=self.gain[k])
        self.success[k][better] = block.success[chosen, better]
        self.baseline[k][better] = block.baseline[chosen, better]
        self.guess[k][better] = block.guesses[chosen]

    def asking(self, leaves: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> Best:
        """Keep, of whole conversations, those to which the best questions lead."""
        kept = {k: leaves(gain) for k, gain in self.gain.items()}
        return Best(
            self.epsilon,
            {k: np.where(kept[k], one, 0.0) for k, one in self.gain.items()},
            {k: np.where(kept[k], one, 0.0) for k, one in self.success.items()},
            {k: np.where(kept[k], one, 0.0) for k, one in self.baseline.items()},
            {k: np.where(kept[k], one, -1) for k, one in self.guess.items()},
        )

    @property
    def delta(self) -> float:
        """Total gain of the attacker, at least 0."""
        return max(0.0, _total(self.gain))

    @property
    def rates(self) -> tuple[float, float]:
        """Return its success and its baseline."""
        return _total(self.success), _total(self.baseline)


def _total(parts: dict[int, NDArray[np.float64]]) -> float:
    """Sum without rounding: profiles may be as small as 1e-90."""
    return math.fsum(float(x) for part in parts.values() for x in part[part != 0])


_CHUNK = 8_000_000
_KEPT = 10_000_000


@dataclass(frozen=True)
class WrittenOut:
    """A game with all its data sets, releases and guesses."""

    game: Game
    enumeration: Enumeration  # all data sets, split by what the attacker is told
    channel: ReleaseChannel  # all releases, with their probability for each data set
    guesses: Any  # all attempts worth making
    count: int  # number of guesses
    # whether an attacker may make no attempt; membership predicates always may
    abstain: bool = True
    # records in front that are told apart, where data sets are written out up to the order of
    # all others; None: all
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
        """Indices of the values that the attacker may be told."""
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
        """Yield the numbers of all guesses, in blocks that fit into memory."""
        wide = max(len(self.enumeration.data), self.channel.matrix.shape[1])
        step = max(1, _CHUNK // wide)
        for start in range(0, self.count, step):
            yield np.arange(start, min(self.count, start + step))

    def blocks(self) -> Iterable[Guesses]:
        """Yield all guesses in blocks; a small game keeps them for the next call."""
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
        """Compute the best attacker at each epsilon, any real numbers, in one pass.

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
        """Compute ``delta(epsilon)`` at each epsilon, any real numbers."""
        return np.asarray([best.delta for best in self.sweep(epsilons)])

    def delta(self, epsilon: float) -> float:
        """Compute ``delta(epsilon)``, the smallest delta with which the mechanism is resilient."""
        return float(self.deltas([non_negative("epsilon", epsilon)])[0])

    def epsilon(self, delta: float) -> float:
        """Compute the smallest epsilon with ``delta(epsilon) <= delta``; infinite if none has."""
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
        """Return the best attempt for each release: (told, release, guess or -1, gain)."""
        best = self.sweep([epsilon])[0]
        return [
            (k, y, int(best.guess[k][y]), float(best.gain[k][y]))
            for k in self.told
            for y in range(len(best.gain[k]))
        ]

    def attacker(self, epsilon: float) -> Any:
        """Return the best attacker at an epsilon, ready to play.

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
        """Compute exact success and baseline of the attacker with the largest gap at an epsilon.

        At ``-math.inf`` the baseline counts for nothing: the success is the largest there is.
        """
        best = self.sweep([epsilon])[0]
        return best.rates

    def robust(self, epsilon: float) -> tuple[float, float]:
        """Compute the exact least ``delta`` of the fixed baseline at an epsilon, and that baseline.

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
        """Compute the exact least ``epsilon`` of the threshold baseline (Definition 1.5)."""
        return self.light(self.fixed, tau)

    def light(self, weights: NDArray[np.float64], limit: float) -> float:
        """Compute the best success of attempts whose weight is at most a limit."""
        top: dict[int, NDArray[np.float64]] = {}
        for block in self.blocks():
            allowed = weights[block.guesses] <= limit * (1 + SAME)
            if not allowed.any():
                continue
            now = top.setdefault(block.told, np.zeros(block.success.shape[1]))
            np.maximum(now, block.success[allowed].max(axis=0), out=now)
        return math.fsum(float(x) for values in top.values() for x in values)
