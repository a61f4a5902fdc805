"""A game written out, and every prior near the one that is given: the worst found, and a limit.

The prior ``P`` of the data set is within a factor or a distance of the given ``D``
(`narcissus.bounds.Nearby`), and fresh data sets have the same ``P``. With ``m`` the chances of
releases, an attacker names ``z`` after ``y``, or nothing, and gains

    sum_x P(x) sum_y m(y|x) ( R(x, z_y) - e^epsilon r_P(z_y) ),   r_P(z) = Pr_P[R(T, z)].

*From below.* Of one attacker the gain rises along its slope: to the near prior that is best for
it, then to the attacker that is best at this prior, and so on. Any near prior is a lower limit.

*From above.* Take ``r_P`` out in one of two ways: as its least value over near priors; or to first
order about ``D``, with a rest of at most ``e^epsilon`` times the distance of the priors, the share
of it that the mechanism lets through, and the span of ``r_P - r_D``. What is left is a sum over
releases of the largest of linear functions of ``P``, say ``<c_yz, P>``. For any ``u_y(x)``,

    max_P sum_y max_z <c_yz, P>  <=  sum_y max_z max_P <c_yz - u_y, P>  +  max_P <sum_y u_y, P>,

each of which is the largest mean of one function over near priors, and has a formula. ``u`` starts
at the ``c`` of the best attacker and follows subgradients; each ``u`` on the way is a limit.

For the fixed baseline the mean of ``R`` over some guesses is at most that of the best one.

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

LARGEST = 1_000_000
"""Most triples of data set, release and guess for which near priors are looked at: some seconds."""

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


def mean_at_most(nearby: Nearby, prior: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the largest mean of each row of values over near priors, and the prior that has it.

    ``prior`` has shape (X,), ``values`` (..., X); the result has shapes (...) and (..., X).
    """
    order = np.argsort(-values, axis=-1, kind="stable")
    falling = prior[order]
    if nearby.factor is not None:
        room = (nearby.factor - 1 / nearby.factor) * falling
        before = np.cumsum(room, axis=-1) - room
        found = falling / nearby.factor + np.clip(1 - 1 / nearby.factor - before, 0.0, room)
    else:
        moved = np.minimum(nearby.distance or 0.0, 1 - falling[..., :1])
        after = np.cumsum(falling[..., ::-1], axis=-1)[..., ::-1] - falling
        found = falling - np.clip(moved - after, 0.0, falling)
        found[..., :1] = falling[..., :1] + moved
    best = np.empty_like(found)
    np.put_along_axis(best, order, found, axis=-1)
    return (best * values).sum(axis=-1), best


@dataclass(frozen=True)
class NearPriors:
    """A game at every near prior, at one epsilon; ``fixed``: against the best fixed guess."""

    exact: WrittenOut
    nearby: Nearby
    epsilon: float
    fixed: bool = False

    @cached_property
    def prior(self) -> Floats:
        given = self.exact.enumeration.sample[0]
        return given / given.sum()

    @cached_property
    def _channel(self) -> Floats:
        return self.exact.channel.matrix.toarray()

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """Which guesses hold for which data sets, released and fresh, shape (Z, X); last: none."""
        game, data = self.exact.game, self.exact.enumeration.data
        every = np.arange(self.exact.count)
        both = (
            np.asarray(table(relation, data, self.exact.guesses, every), dtype=np.float64)
            for relation in (game.relation, game.looser or game.relation)
        )
        nothing = np.zeros((int(self.exact.abstain), len(data)))
        holds, again = (np.vstack([one, nothing]) for one in both)
        return holds, again

    @property
    def _factor(self) -> float:
        return 0.0 if self.fixed else math.exp(self.epsilon)

    def _gain(self, prior: Floats) -> tuple[float, Floats]:
        """Return the gain of the best attacker at a prior, and its slope, shape (X,)."""
        holds, again = self._tables
        mean = again @ prior
        gains = (holds * prior) @ self._channel
        gains -= self._factor * mean[:, None] * (prior @ self._channel)
        best = gains.argmax(axis=0)
        slope = (self._channel * (holds[best].T - self._factor * mean[best])).sum(axis=1)
        slope -= self._factor * (prior @ self._channel) @ again[best]
        gain = float(gains.max(axis=0).sum())
        if self.fixed:
            guess = int(mean.argmax())
            gain -= math.exp(self.epsilon) * float(mean[guess])
            slope -= math.exp(self.epsilon) * again[guess]
        return gain, slope

    @cached_property
    def worst(self) -> tuple[float, Floats]:
        """The largest gain found at any near prior, and that prior."""
        found = self._gain(self.prior)[0], self.prior
        some, columns = self._tables[0][:STEPS], self._channel.T[:STEPS]
        both = (columns[:, None, :] * some).reshape(-1, len(self.prior))[: 4 * STEPS]
        starts = np.vstack([some, -some, columns, -columns, both])
        for start in (self.prior, *mean_at_most(self.nearby, self.prior, starts)[1]):
            at, (gain, slope) = start, self._gain(start)
            for _ in range(STEPS):
                if gain > found[0] + 1e-12:
                    found = gain, at
                end = mean_at_most(self.nearby, self.prior, slope)[1]
                tried = [at + share * (end - at) for share in (1.0, 0.5, 0.2, 0.05, 0.01)]
                every = [self._gain(one) for one in tried]
                best = max(range(len(tried)), key=lambda place: every[place][0])
                if every[best][0] <= gain + 1e-9:
                    break
                at, (gain, slope) = tried[best], every[best]
        return found

    @property
    def is_worse(self) -> bool:
        """Whether another prior than the given one is the worst that was found."""
        return self.worst[1] is not self.prior

    @cached_property
    def member(self) -> WrittenOut:
        """The game at the worst prior found."""
        exact, prior = self.exact, self.worst[1]
        world = replace(exact.enumeration, sample=prior[None], fresh=prior[None])
        game = replace(exact.game, world=Finite(exact.enumeration.data, prior.tolist()))
        return replace(exact, game=game, enumeration=world)

    @property
    def least(self) -> float:
        """A delta that some near prior needs."""
        return max(0.0, self.worst[0])

    @cached_property
    def at_most(self) -> float:
        """A delta that is enough at every near prior."""
        limits = (self._limit(*parts) for parts in self._parts())
        return max(self.least, min(limits))

    def _parts(self) -> Iterator[tuple[Floats, Floats, float]]:
        """Yield ways to take out the baseline: of each release and guess, of all, and the rest."""
        holds, again = self._tables
        channel, prior = self._channel.T[:, None, :], self.prior
        if self.fixed:
            best = np.argsort(-(again @ prior), kind="stable")
            for count in dict.fromkeys([1, 2, 4, int((again.sum(axis=1) > 0).sum())]):
                baseline = again[best[:count]].mean(axis=0)
                yield channel * holds, -math.exp(self.epsilon) * baseline, 0.0
            return
        mean, none = again @ prior, np.zeros(len(prior))
        least, most = (sign * mean_at_most(self.nearby, prior, sign * again)[0] for sign in (-1, 1))
        yield channel * (holds - self._factor * least[:, None]), none, 0.0
        span = float((most - mean).max() + (mean - least).max())
        apart = self.nearby.distance
        if self.nearby.factor is not None:
            apart = (self.nearby.factor - 1) / (self.nearby.factor + 1)
        through = 1.0 - float(self._channel.min(axis=0).sum())
        first = channel * (holds - self._factor * mean[:, None])
        first -= self._factor * (prior @ self._channel)[:, None, None] * (again - mean[:, None])
        yield first, none, self._factor * (apart or 0.0) * max(through, 0.0) * span

    def _limit(self, each: Floats, of_all: Floats, rest: float) -> float:
        """Bound the gain at every near prior; ``each`` (Y, Z, X), ``of_all`` (X,)."""
        rows = np.arange(len(each))
        shift = each[rows, (each @ self.worst[1]).argmax(axis=1)]
        least = math.inf
        for start in (np.zeros_like(shift), shift):
            shifted = start
            for _ in range(STEPS):
                means, priors = mean_at_most(self.nearby, self.prior, each - shifted[:, None, :])
                last, common = mean_at_most(self.nearby, self.prior, shifted.sum(axis=0) + of_all)
                found = float(means.max(axis=1).sum() + last)
                least = min(least, found)
                slope = common - priors[rows, means.argmax(axis=1)]
                size = float((slope**2).sum())
                if size <= 1e-18 or found + rest <= self.worst[0]:
                    break
                shifted = shifted - (found + rest - self.worst[0]) / size * slope
        return least + rest
