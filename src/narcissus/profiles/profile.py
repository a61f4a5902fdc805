"""The resilience profile of a mechanism: exact for small worlds, sampled from below for others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from narcissus._random import RandomSource, child, entropy_of
from narcissus._validation import between, integer, non_negative, probability
from narcissus.errors import InputError
from narcissus.evidence import mean_limits
from narcissus.game import Game, play
from narcissus.priors.worlds.base import Draw
from narcissus.priors.worlds.batches import distinct, gather, key_of
from narcissus.priors.worlds.finite import Finite
from narcissus.profiles.write_out import LIMIT, WrittenOut, write_out
from narcissus.results import Estimate, Grade, Result
from narcissus.success.statements import Resilience

EPSILONS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
"""Where a profile is computed if nothing else is asked for."""


@dataclass(frozen=True)
class Profile(Result):
    """``delta(epsilon)``: with which delta a mechanism is resilient, against every attacker.

    Attributes
    ----------
    epsilon
        Where it was computed.
    delta
        The exact profile there.
    success, baseline
        Success of the best attacker for each epsilon, and its own baseline.
    data_sets, releases, guesses
        How many were written out.
    exact
        The game written out, for other epsilons and for the attacker.
    """

    epsilon: tuple[float, ...]
    delta: tuple[float, ...]
    success: tuple[float, ...]
    baseline: tuple[float, ...]
    data_sets: int
    releases: int
    guesses: int
    exact: WrittenOut = field(repr=False, compare=False)

    @property
    def grade(self) -> Grade:
        """'proved': every attacker is covered."""
        return "proved"

    def delta_at(self, epsilon: float) -> float:
        """Give ``delta(epsilon)`` at any epsilon."""
        return self.exact.delta(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Give the smallest epsilon that is resilient with ``delta``."""
        return self.exact.epsilon(delta)

    def attacker(self, epsilon: float = 0.0) -> Any:
        """Give the best attacker at an epsilon; it can be played."""
        return self.exact.attacker(epsilon)

    def to_frame(self) -> pd.DataFrame:
        """Give the profile as a data frame, a row for each epsilon."""
        return pd.DataFrame(self.curve())

    def curve(self) -> list[dict[str, float]]:
        """Give the profile as rows: epsilon, delta, success and baseline of the best attacker."""
        columns = (self.epsilon, self.delta, self.success, self.baseline)
        return [
            {"epsilon": e, "delta": d, "success": s, "baseline": b}
            for e, d, s, b in zip(*columns, strict=True)
        ]

    def table(self, epsilon: float = 0.0, *, rows: int = 20) -> list[dict[str, Any]]:
        """Give what the best attacker does: the releases that gain most, with its attempt.

        The attempt of a membership attacker is the list of records of which it says "in".
        """
        from narcissus.success.relations.base import take

        exact = self.exact
        releases, labels = exact.channel.releases, exact.enumeration.labels
        entries = sorted(exact.best(epsilon), key=lambda entry: -entry[3])[:rows]
        masks = exact.attacker(epsilon).table if exact.additive else {}
        found: list[dict[str, Any]] = []
        for k, y, z, gain in entries:
            if exact.additive:
                mask = masks[key_of(labels[k]), key_of(releases[y])]
                attempt = _shown(exact.guesses.support[mask])
            else:
                attempt = None if z < 0 else _shown(_one(take(exact.guesses, np.array([z]))))
            told = {} if labels[k] is None else {"told": _shown(labels[k])}
            found.append({"release": _shown(releases[y]), **told, "attempt": attempt, "gain": gain})
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give plain values that JSON can hold."""
        return {
            "epsilon": list(self.epsilon),
            "delta": list(self.delta),
            "attacker": {
                "success": list(self.success),
                "baseline": list(self.baseline),
                "at_epsilon": self.epsilon[0],
                "table": self.table(self.epsilon[0]),
            },
            "data_sets": self.data_sets,
            "releases": self.releases,
            "guesses": self.guesses,
            "method": "exact",
            "proved": True,
        }

    def __str__(self) -> str:
        lines = [
            f"PROVED, against every attacker: {self.data_sets:,} data sets, "
            f"{self.releases:,} releases, {self.guesses:,} guesses",
            f"{'epsilon':>9}  {'delta':>12}  {'best success':>12}  {'its baseline':>12}",
        ]
        lines += [
            f"{e:9.4g}  {d:12.6g}  {s:12.6g}  {b:12.6g}"
            for e, d, s, b in zip(
                self.epsilon, self.delta, self.success, self.baseline, strict=True
            )
        ]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw the profile; give the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure().add_subplot()
        ax.plot(self.epsilon, self.delta, marker="o")
        ax.set_xlabel("epsilon")
        ax.set_ylabel("delta")
        return ax


def _one(batch: Any) -> Any:
    if hasattr(batch, "holds"):  # a predicate: the records that satisfy it
        return batch.support[batch.holds[0]]
    return batch[0]


def _shown(value: Any) -> Any:
    """Give a release or an attempt as JSON can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        return _shown(value.tolist())
    if isinstance(value, list | tuple):
        return [_shown(part) for part in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else repr(value)


def profile(
    game: Any,
    epsilon: float | Iterable[float] = EPSILONS,
    *,
    limit: int = LIMIT,
    abstain: bool | None = None,
) -> Profile:
    """Compute the exact resilience profile of a small game.

    Parameters
    ----------
    game
        A `Game`, or a study of the kind "game" from `narcissus.load_study`.
    epsilon
        Where to compute ``delta``; at least 0.
    limit
        Largest number of (data set, release) pairs to write out.
    abstain
        Whether an attacker may make no attempt; by default as the study says, otherwise true.

    Raises
    ------
    TooLargeError
        The game is too large; `sampled_profile` gives an estimate instead.

    Notes
    -----
    Source: Narcissus theory 2.

    Examples
    --------
    >>> from narcissus import Game
    >>> from narcissus.mechanisms import CountingQuery
    >>> from narcissus.priors.worlds import Bits
    >>> from narcissus.success.relations import Pinned
    >>> game = Game(Bits(100, 0.0021534), CountingQuery(), Pinned(1))
    >>> round(profile(game, 1.0).delta[0], 8)
    0.00101828
    """
    if abstain is None:
        said = getattr(getattr(game, "settings", None), "exact", None)
        abstain = bool(getattr(said, "abstain", True))
    game = _game_of(game)
    points = [epsilon] if isinstance(epsilon, int | float) else list(epsilon)
    points = tuple(non_negative("epsilon", point) for point in points)
    if not points:
        raise InputError("`epsilon` must hold at least one number")
    exact = write_out(game, limit=limit, abstain=abstain)
    best = exact.sweep(points)
    return Profile(
        epsilon=points,
        delta=tuple(one.delta for one in best),
        success=tuple(one.rates[0] for one in best),
        baseline=tuple(one.rates[1] for one in best),
        data_sets=len(exact.enumeration.data),
        releases=int(exact.channel.matrix.shape[1]),
        guesses=exact.count,
        exact=exact,
    )


def _game_of(game: Any) -> Game:
    if isinstance(game, Game):
        return game
    build = getattr(getattr(game, "settings", None), "build", None)
    if build is None:
        raise InputError(f"`game` must be a Game or a study of the kind 'game', got {game!r}")
    with game.code.in_use():  # a study of one's own parts runs them as far as it was allowed to
        return build(game.folder).game


@dataclass(frozen=True)
class Smallest(Result):
    """The smallest value of a mechanism's parameter that meets a target.

    Attributes
    ----------
    value
        The value; None if none of those tried meets the target.
    delta
        Exact worst ``delta(epsilon)`` at that value (at the last one, if none meets it).
    tried
        How many values were tried.
    """

    value: float | None
    delta: float
    tried: int

    @property
    def grade(self) -> Grade:
        """'proved' for the games that were given."""
        return "proved"


def smallest(
    games: Callable[[float], Game | Sequence[Game]],
    values: Iterable[float],
    *,
    epsilon: float,
    delta: float,
    limit: int = LIMIT,
) -> Smallest:
    """Find the first value of a parameter with which a mechanism is resilient, exactly.

    Parameters
    ----------
    games
        Gives the game, or several that must all be resilient (such as one for each prior), for a
        value of the parameter.
    values
        Values to try, in order.
    epsilon, delta
        Target.
    limit
        Largest number of (data set, release) pairs of a game.

    Notes
    -----
    Source: Narcissus theory 2. `Cohen et al. 2025, Appendix A` publishes a cut that suffices for
    the counting query; the smallest one is far smaller.
    """
    non_negative("epsilon", epsilon)
    probability("delta", delta)
    worst, tried = math.inf, 0
    for value in values:
        tried += 1
        asked = games(value)
        worst = 0.0
        for game in [asked] if isinstance(asked, Game) else asked:
            worst = max(worst, write_out(game, limit=limit).delta(epsilon))
            if worst > delta:
                break
        if worst <= delta:
            return Smallest(value, worst, tried)
    if not tried:
        raise InputError("`values` must hold at least one value")
    return Smallest(None, worst, tried)


@dataclass(frozen=True)
class _Sampled:
    """A world of some data sets that were drawn from another one, all alike."""

    sets: Any

    def count(self) -> int:
        return len(self.sets)

    def enumerate(self) -> Any:
        return Finite(self.sets).enumerate()

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        return Draw(gather(self.sets, rng.integers(0, len(self.sets), trials)))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Any:
        return self.draw(draw.trials, rng).data


def sampled_profile(
    game: Any,
    epsilon: float | Iterable[float] = EPSILONS,
    *,
    draws: int = 2_000,
    trials: int = 10_000,
    confidence: float = 0.95,
    limit: int = LIMIT,
    rng: RandomSource = None,
) -> list[Estimate]:
    """Estimate the profile of a large game from below, by sampling releases.

    The best attacker of a world of ``draws`` sampled data sets is learned, then played against
    fresh ones: what it gains, ``success - e^epsilon baseline``, is at most ``delta(epsilon)``. So
    the lower limits hold for the profile; there is no upper limit, since a better attacker may
    exist, and ``high`` is None.

    Parameters
    ----------
    game
        Its world need not be small; mechanism and relation must be ones that can be written out
        for the data sets that are sampled. Worlds of pairs and side information are not sampled.
    epsilon
        Where to estimate.
    draws
        Data sets from which the attacker learns.
    trials
        Trials for each epsilon.
    confidence
        Level of each lower limit.
    limit
        Largest number of (data set, release) pairs to learn from.
    rng
        Seed.
    """
    game = _game_of(game)
    if game.side is not None:
        raise InputError("the profile with side information is not sampled; play the game instead")
    points = [epsilon] if isinstance(epsilon, int | float) else list(epsilon)
    integer("draws", draws, low=2)
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    entropy = entropy_of(rng)
    sets, _ = distinct(game.world.draw(draws, child(entropy, 0)).data)
    small = Game(_Sampled(sets), game.mechanism, game.relation, looser=game.looser)
    learned = write_out(small, limit=limit)
    estimates: list[Estimate] = []
    for number, point in enumerate(points):
        played = play(
            game,
            learned.attacker(point),
            Resilience(point),
            trials=trials,
            stop=False,
            rng=int(child(entropy, 1, number).integers(2**62)),
        )
        scores = played.attackers[0].scores
        factor = math.exp(point)
        gain = scores.success - factor * scores.baseline
        limits = mean_limits((gain + factor) / (1 + factor), confidence=2 * level - 1)
        assert limits.low is not None
        estimates.append(
            Estimate(
                max(0.0, float(gain.mean())),
                max(0.0, limits.low * (1 + factor) - factor),
                None,
                level,
                trials,
                quantity=f"delta at epsilon {point:g}",
                method="learned attacker, played; betting",
                why="a better attacker may exist: there is no upper limit",
            )
        )
    return estimates
