"""A game written out, and every prior near the one that is given: the worst found, and a limit.

The prior ``P`` of the data set, and of fresh ones, is within a factor or a distance of the given
``D``. Any near prior is a lower limit: of one attacker the gain is followed along its slope. For an
upper one the own baseline is taken out, as its least value or to first order about ``D``. A sum
over releases of the largest of linear functions ``<c_yz, P>`` is left, and for any ``u_y(x)``

    max_P sum_y max_z <c_yz, P>  <=  sum_y max_z max_P <c_yz - u_y, P>  +  max_P <sum_y u_y, P>,

where each ``max_P`` on the right has a formula. ``u`` follows subgradients from the ``c`` of the
best attacker; each on the way is a limit.

Source: Narcissus theory 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from narcissus._arrays import Floats
from narcissus.bounds.threat import Nearby
from narcissus.profiles.write_out import WrittenConversations, WrittenOut
from narcissus.success.relations.base import table
from narcissus.worlds.finite import Finite

LARGEST = 1_000_000  # triples of data set, release and guess: about a minute
STEPS = 40


def why_not_near(exact: WrittenOut) -> str:
    """Return why near priors are not looked at in a game, or an empty text."""
    game, world = exact.game, exact.enumeration
    triples = len(world.data) * exact.channel.matrix.shape[1] * (exact.count + 1)
    single = len(world.weight) == 1 and np.array_equal(world.sample, world.fresh)
    reasons = {
        "the mechanism is talked with": isinstance(exact, WrittenConversations),
        "attempts are predicates, which are put together from guesses": exact.additive,
        "what the attacker is told besides depends on the prior": game.side or game.kept,
        "the world is no single prior from which the fresh data are drawn as well": not single,
        "its data sets are written out up to the order of records, on which a near prior may "
        "depend (list them in a world `finite`)": exact.places is not None,
        f"it has {triples:,} triples of data set, release and guess, and at most {LARGEST:,} are "
        "gone through": triples > LARGEST,
    }
    return next((text for text, holds in reasons.items() if holds), "")


@dataclass(frozen=True)
class NearPriors:
    """A game at every near prior, at one epsilon; ``fixed``: against the best fixed guess."""

    exact: WrittenOut
    nearby: Nearby
    epsilon: float
    fixed: bool = False

    @cached_property
    def prior(self) -> Floats:
        weights = self.exact.enumeration.sample[0]
        return weights / weights.sum()

    def _towards(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the largest mean of values (..., X) over near priors, and the prior that has it.

        The prior keeps the length of its values: the mean is that of the prior as it is returned.
        """
        best = self.nearby.towards(np.broadcast_to(self.prior, values.shape), values)
        return (best * values).sum(axis=-1), best

    @cached_property
    def _channel(self) -> Floats:
        return self.exact.channel.matrix.toarray()

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """Which guesses hold for which data sets, released and fresh, shape (Z, X); last: none."""
        game, every = self.exact.game, np.arange(self.exact.count)
        data, nothing = self.exact.enumeration.data, np.zeros(len(self.prior))
        holds, again = (
            np.vstack(
                [table(relation, data, self.exact.guesses, every), *[nothing] * self.exact.abstain]
            )
            for relation in (game.relation, game.looser or game.relation)
        )
        return holds, again

    @property
    def _factor(self) -> float:
        """What the own baseline is taken times."""
        return 0.0 if self.fixed else math.exp(self.epsilon)

    def _gain(self, prior: Floats) -> tuple[float, Floats]:
        """Return the gain of the best attacker at a prior, and its slope, shape (X,)."""
        holds, again = self._tables
        mean, released = again @ prior, prior @ self._channel
        gains = (holds * prior) @ self._channel - self._factor * mean[:, None] * released
        best = gains.argmax(axis=0)
        slope = (self._channel * (holds[best].T - self._factor * mean[best])).sum(axis=1)
        slope -= self._factor * released @ again[best]
        gain = float(gains.max(axis=0).sum())
        if self.fixed:
            guess = int(mean.argmax())
            gain -= math.exp(self.epsilon) * float(mean[guess])
            slope -= math.exp(self.epsilon) * again[guess]
        return gain, slope

    @cached_property
    def worst(self) -> tuple[float, Floats]:
        """The largest gain found at any near prior, and that prior."""
        maximum = self._gain(self.prior)[0], self.prior
        some, columns = self._tables[0][:STEPS], self._channel.T[:STEPS]
        both = (columns[:, None, :] * some).reshape(-1, len(self.prior))[: 4 * STEPS]
        drawn = np.random.default_rng(0).normal(size=(2 * STEPS, len(self.prior)))
        starts = self._towards(np.vstack([some, -some, columns, -columns, both, drawn]))[1]
        # a vertex where nothing is worth an attempt has no slope: begin on the way to it, too
        for start in (self.prior, *starts, *(starts + self.prior) / 2):
            at, (gain, slope) = start, self._gain(start)
            for _ in range(STEPS):
                if gain > maximum[0] + 1e-12:
                    maximum = gain, at
                end = self._towards(slope)[1]
                tried = [at + share * (end - at) for share in (1.0, 0.5, 0.2, 0.05, 0.01)]
                every = [self._gain(point) for point in tried]
                best = max(range(len(tried)), key=lambda place: every[place][0])
                if every[best][0] <= gain + 1e-9:
                    break
                at, (gain, slope) = tried[best], every[best]
        return maximum

    @cached_property
    def member(self) -> WrittenOut:
        """The game at the worst prior found."""
        exact, prior = self.exact, self.worst[1]
        world = replace(exact.enumeration, sample=prior[None], fresh=prior[None])
        game = replace(exact.game, world=Finite(exact.enumeration.data, prior.tolist()))
        return replace(exact, game=game, enumeration=world)

    @cached_property
    def at_most(self) -> float:
        """A delta that is enough at every near prior."""
        return max(0.0, self.worst[0], min(1.0, *(self._limit(*part) for part in self._parts())))

    def _parts(self) -> Iterator[tuple[Floats, Floats, float]]:
        """Yield ways to take out the baseline: of each release and guess, of all, and the rest."""
        holds, again = self._tables
        channel, prior, mean = self._channel.T[:, None, :], self.prior, again @ self.prior
        if self.fixed:  # the best guess has at least the mean of any of them
            best = np.argsort(-mean, kind="stable")
            for count in dict.fromkeys([1, 2, 4, int((again.sum(axis=1) > 0).sum())]):
                baseline = math.exp(self.epsilon) * again[best[:count]].mean(axis=0)
                yield channel * holds, -baseline, 0.0
            return
        lower_limits, upper_limits, none = (
            -self._towards(-again)[0],
            self._towards(again)[0],
            np.zeros(len(prior)),
        )
        yield channel * (holds - self._factor * lower_limits[:, None]), none, 0.0
        factor = self.nearby.factor
        apart = (factor - 1) / (factor + 1) if factor else self.nearby.distance or 0.0
        through = max(0.0, 1.0 - float(self._channel.min(axis=0).sum()))
        span = float((upper_limits - mean).max() + (mean - lower_limits).max())
        released = (prior @ self._channel)[:, None, None]
        first = channel * (holds - self._factor * mean[:, None])
        first -= self._factor * released * (again - mean[:, None])
        yield first, none, self._factor * apart * through * span

    def _limit(self, each: Floats, of_all: Floats, rest: float) -> float:
        """Bound the gain at every near prior; ``each`` (Y, Z, X), ``of_all`` (X,)."""
        rows, bound = np.arange(len(each)), math.inf
        at = (self.prior, self.worst[1])
        best = [each[rows, (each @ prior).argmax(axis=1)] for prior in at]
        for start in (np.zeros_like(best[0]), *best):
            shifted = start
            for _ in range(STEPS):
                means, priors = self._towards(each - shifted[:, None, :])
                last, common = self._towards(shifted.sum(axis=0) + of_all)
                total = float(means.max(axis=1).sum() + last) + rest
                bound = min(bound, total)
                slope = common - priors[rows, means.argmax(axis=1)]
                size = float((slope**2).sum())
                if size <= 1e-18 or total <= self.worst[0]:
                    break
                shifted = shifted - (total - self.worst[0]) / size * slope
        return bound
