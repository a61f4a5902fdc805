"""Exact profiles of small worlds, estimates for large ones, smallest parameters, memorization."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._pandas import pd
from narcissus._random import RandomSource, child, entropy_of
from narcissus._validation import fraction, integer, non_negative, probability
from narcissus.errors import InputError, TooLargeError
from narcissus.evidence import mean_limits
from narcissus.game import Game, play
from narcissus.game.executor import Executor, Serial, soon
from narcissus.profiles.write_out import (
    LIMIT,
    WrittenFamily,
    WrittenOut,
    amount,
    number,
    write_out,
    write_out_family,
)
from narcissus.results import Estimate, Grade, Result
from narcissus.success.relations.base import take
from narcissus.success.statements import Resilience
from narcissus.worlds.base import (
    Batch,
    Draw,
    Enumeration,
    World,
    distinct,
    gather,
    key_of,
    members,
    stacked,
)
from narcissus.worlds.finite import Finite


@dataclass(frozen=True)
class Bayes:
    """The best attacker of a world that can be written out.

    epsilon: The ``epsilon`` of the statement under attack.
    limit: Largest number of (data set, release) pairs to write out.
    """

    epsilon: float = 0.0
    limit: int = 2_000_000

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        integer("limit", self.limit, low=1)

    def prepare(self, game: Any) -> Any:
        """Write the game out and return its best attacker."""
        return write_out(game, limit=self.limit).attacker(self.epsilon)

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        """Refuse: the attacker must be prepared for a game first."""
        raise TypeError("call `prepare(game)` first; it gives the attack to play")


EPSILONS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
"""Where a profile is computed by default."""

TOGETHER = 100
"""Values of a parameter whose games are made, and shared out, at a time."""


@dataclass(frozen=True)
class Profile(Result):
    """``delta(epsilon)``: the least delta with which a mechanism resists every attacker."""

    epsilon: tuple[float, ...]  # where it was computed
    delta: tuple[float, ...]  # the exact profile there
    success: tuple[float, ...]  # of the attacker with the largest gap
    baseline: tuple[float, ...]  # own baseline of that attacker
    best_success: float  # the largest success of any attacker, whatever its baseline
    # for each epsilon the worst distribution of the family; "" where there is only one
    member: tuple[str, ...]
    data_sets: int  # number written out, of all members together
    releases: int  # the most of one member
    guesses: int  # the most of one member
    # the game written out, of the worst distribution at the first epsilon
    exact: WrittenOut = field(repr=False, compare=False)
    family: WrittenFamily = field(repr=False, compare=False)  # the games of all distributions

    @property
    def grade(self) -> Grade:
        """'proved', for every attacker and distribution; 'proved if' with `assumptions`."""
        return "proved if" if self.assumptions else "proved"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return self.family.assumptions

    def delta_at(self, epsilon: float) -> float:
        """Compute ``delta(epsilon)`` at any epsilon."""
        return self.family.delta(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Compute the smallest epsilon whose delta is at most ``delta``."""
        return self.family.epsilon(delta)

    def attacker(self, epsilon: float = 0.0) -> Any:
        """Return the best attacker at an epsilon, ready to play on each distribution."""
        if len(self.family.members) > 1:
            return Bayes(epsilon, LIMIT)
        return self.exact.attacker(epsilon)

    def to_frame(self) -> pd.DataFrame:
        """Return the profile as a data frame, a row for each epsilon."""
        return pd.DataFrame(self.curve())

    def curve(self) -> list[dict[str, Any]]:
        """Return rows: epsilon, delta, the attacker's success and baseline, the worst member."""
        return [
            {"epsilon": e, "delta": d, "success": s, "baseline": b, **({"member": m} if m else {})}
            for e, d, s, b, m in self._rows()
        ]

    def _rows(self) -> Iterable[tuple[float, float, float, float, str]]:
        return zip(self.epsilon, self.delta, self.success, self.baseline, self.member, strict=True)

    def table(self, epsilon: float = 0.0, *, rows: int = 20) -> list[dict[str, Any]]:
        """Return the releases at which the best attacker gains most, with its attempt at each.

        The attempt of a membership attacker is the list of records that it claims are in.
        """
        exact = self.exact
        releases, labels = exact.channel.releases, exact.enumeration.labels
        entries = sorted(exact.best(epsilon), key=lambda entry: -entry[3])[:rows]
        masks = exact.attacker(epsilon).table if exact.additive else {}
        table_rows: list[dict[str, Any]] = []
        for k, y, z, gain in entries:
            attempt = None
            if exact.additive:
                attempt = exact.guesses.support[masks[key_of(labels[k]), key_of(releases[y])]]
            elif z >= 0:
                batch = take(exact.guesses, np.array([z]))
                # of a predicate the records that satisfy it
                is_predicate = hasattr(batch, "holds")
                attempt = batch.support[batch.holds[0]] if is_predicate else batch[0]
            side_information = {} if labels[k] is None else {"told": _shown(labels[k])}
            row = {
                "release": _shown(releases[y]),
                **side_information,
                "attempt": _shown(attempt),
                "gain": gain,
            }
            table_rows.append(row)
        return table_rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "epsilon": list(self.epsilon),
            "delta": list(self.delta),
            "attacker": {
                "success": list(self.success),
                "baseline": list(self.baseline),
                "best_success": self.best_success,
                "at_epsilon": self.epsilon[0],
                "table": self.table(self.epsilon[0]),
            },
            "data_sets": self.data_sets,
            "releases": self.releases,
            "guesses": self.guesses,
            "members": len(self.family.members),
            "worst": list(self.member),
            "method": "exact",
            "proved": not self.assumptions,
            "assumptions": list(self.assumptions),
        }

    def __str__(self) -> str:
        count = len(self.family.members)
        each = f" and for each of {count:,} distributions" if count > 1 else ""
        lines = [
            f"{self.grade.upper()}, against every attacker{each}: {self.data_sets:,} data sets, "
            f"{self.releases:,} releases, {self.guesses:,} guesses",
            f"{'epsilon':>9}  {'delta':>12}  {'its success':>12}  {'its baseline':>12}",
        ]
        lines += [
            f"{e:9.4g}  {number(d):>12}  {s:12.6g}  {b:12.6g}" + (f"  {m}" if m else "")
            for e, d, s, b, m in self._rows()
        ]
        lines.append(f"largest success of any attacker, at any baseline: {self.best_success:.6g}")
        lines += [f"proved if {text}" for text in self.assumptions]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw the profile and return the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure().add_subplot()
        ax.plot(self.epsilon, self.delta, marker="o")
        ax.set_xlabel("epsilon")
        ax.set_ylabel("delta")
        return ax


def _shown(value: Any) -> Any:
    """Convert a release or an attempt to what JSON can hold."""
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

    Source: Narcissus theory 2. Of a family of distributions, delta is the largest over them.

    game: A `Game`, or a study of the kind "game" from `narcissus.load_study`. One that is too large
        is refused; `sampled_profile` estimates it instead.
    epsilon: Where to compute ``delta``; at least 0.
    limit: Largest number of (data set, release) pairs to write out.
    abstain: Whether an attacker may make no attempt; by default as the study says, otherwise true.

    >>> from narcissus import Game
    >>> from narcissus.mechanisms import CountingQuery
    >>> from narcissus.worlds import Bits
    >>> from narcissus.success.relations import Pinned
    >>> game = Game(Bits(100, 0.0021534), CountingQuery(), Pinned(1))
    >>> round(profile(game, 1.0).delta[0], 8)
    0.00101828
    """
    if abstain is None:
        settings = getattr(getattr(game, "settings", None), "exact", None)
        abstain = bool(getattr(settings, "abstain", True))
    game = game_of(game)
    points = tuple(non_negative("epsilon", point) for point in _listed(epsilon))
    if not points:
        raise InputError("`epsilon` must hold at least one number")
    family = write_out_family(game, limit=limit, abstain=abstain)
    *worst, likeliest = family.worst([*points, -math.inf])
    return Profile(
        epsilon=points,
        delta=tuple(case.best.delta for case in worst),
        success=tuple(case.best.rates[0] for case in worst),
        baseline=tuple(case.best.rates[1] for case in worst),
        best_success=likeliest.best.rates[0],
        member=tuple(case.member for case in worst),
        **family.sizes(),
        exact=worst[0].exact,
        family=family,
    )


def _listed(epsilon: float | Iterable[float]) -> list[float]:
    return [epsilon] if isinstance(epsilon, int | float) else list(epsilon)


def game_of(game: Any) -> Game:
    if isinstance(game, Game):
        return game
    build = getattr(getattr(game, "settings", None), "build", None)
    if build is None:
        raise InputError(f"`game` must be a Game or a study of the kind 'game', got {game!r}")
    with game.code.in_use():  # parts of the user's own run as far as the study is allowed to
        return build().game


@dataclass(frozen=True)
class Smallest(Result):
    """The smallest value of a mechanism's parameter that meets a target."""

    value: float | None  # None if none of the values tried meets the target
    delta: float  # exact worst ``delta(epsilon)`` at that value (at the last one, if none meets it)
    tried: int  # number of values tried
    assumptions: tuple[str, ...] = ()  # what the answer assumes about parts of the user's own
    undecided: int = 0  # earlier values where rates between the examined ones remain open

    @property
    def grade(self) -> Grade:
        return "proved if" if self.assumptions else "proved"


def smallest(
    games: Callable[[float], Game | Sequence[Game]],
    values: Iterable[float],
    *,
    epsilon: float,
    delta: float,
    limit: int = LIMIT,
    executor: Executor | None = None,
) -> Smallest:
    """Find the first value of a parameter with which a mechanism is resilient, exactly.

    Source: Narcissus theory 2. `Cohen et al. 2025, Appendix A` publishes a cut that suffices for
    the counting query; the smallest one is far smaller.

    games: Maps a value to its game, or to several that must all be resilient (one for each prior).
    values: Values to try, in order.
    epsilon, delta: Target.
    limit: Largest number of (data set, release) pairs of a game.
    executor: Writes the games out, where that takes long; None is this process.
    """
    non_negative("epsilon", epsilon)
    probability("delta", delta)
    tried, worst, assumed = 0, math.inf, dict[str, None]()
    left = iter(values)
    while together := list(islice(left, TOGETHER)):
        made: list[Sequence[Game]] = []
        refused: InputError | None = None  # it matters only if no earlier value is enough
        for value in together:
            try:
                candidates = games(value)
            except InputError as error:
                refused = error
                break
            made.append([candidates] if isinstance(candidates, Game) else candidates)
        keys = [str(place) for place in range(len(made))]
        judge = partial(_judged, made, epsilon, delta, limit)
        with closing(soon(executor or Serial(), judge, keys)) as looking:
            for value, (worst, assumptions) in zip(together, looking, strict=False):
                tried += 1
                assumed |= dict.fromkeys(assumptions)
                if worst <= delta:
                    return Smallest(value, worst, tried, tuple(assumed))
        if refused is not None:
            raise refused
    if not tried:
        raise InputError("`values` must hold at least one value")
    return Smallest(None, worst, tried, tuple(assumed))


def _judged(
    games: Sequence[Sequence[Game]], epsilon: float, delta: float, limit: int, key: str
) -> tuple[float, tuple[str, ...]]:
    """Compute the worst delta, with its assumptions, of the games of the value at a position."""
    worst, assumed = 0.0, dict[str, None]()
    for game in games[int(key)]:
        family = write_out_family(game, limit=limit)
        assumed |= dict.fromkeys(family.assumptions)
        worst = max(worst, family.delta(epsilon))
        if worst > delta:
            break
    return worst, tuple(assumed)


def memorized_information(world: Any, mechanism: Any, *, limit: int = LIMIT) -> float:
    """Compute ``I(S; M(S) | Nature)`` in bits, exactly, for at most ``limit`` data sets.

    Source: Brown et al. 2021; Kaplan et al. 2025, Definition 1.1.

    The parity release of ``n`` rows of ``d`` bits memorizes ``n d / 2`` bits (Example 1.3):

    >>> from narcissus.mechanisms import Parity
    >>> from narcissus.worlds import Uniform
    >>> round(float(memorized_information(Uniform(2, 4), Parity())), 12)
    4.0
    """
    if "" not in members(world):
        raise InputError("memorized information is of one distribution, and the world is a family")
    size = world.count()
    if size > limit:
        raise TooLargeError(
            f"the world has {amount(size)} data sets; memorized information is computed for at "
            f"most {limit:,}"
        )
    written = world.enumerate()
    matrix = mechanism.channel(written.data).matrix
    # I(S; Y | v) = sum_s P(s|v) sum_y C(y|s) log2( C(y|s) / P(y|v) )
    total = 0.0
    coo = sparse.coo_array(matrix)
    keep = coo.data > 0
    rows, columns, values = coo.row[keep], coo.col[keep], coo.data[keep]
    for weight, sample in zip(written.weight, written.sample, strict=True):
        released = np.asarray(sample @ matrix)
        mass = sample[rows] * values
        used = mass > 0
        ratio = values[used] / released[columns[used]]
        total += weight * float(mass[used] @ np.log2(ratio))
    return total


MOST_DRAWS = 1_000_000
"""Most data sets from which an attacker learns."""


@dataclass(frozen=True)
class _Sampled:
    """A world of data sets drawn from another one, all equally likely."""

    sets: Any
    # where the draw decides on the fresh data set as well: numbers of both, and their share
    pairs: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None

    def count(self) -> int:
        return len(self.sets)

    def enumerate(self) -> Enumeration:
        if self.pairs is None or self.weight is None:
            return Finite(self.sets).enumerate()
        each, none = np.eye(len(self.sets)), np.zeros(len(self.pairs), dtype=np.int64)
        released, other = self.pairs.T
        return Enumeration(self.sets, self.weight, each[released], each[other], none)

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
    executor: Executor | None = None,
) -> list[Estimate]:
    """Estimate the profile of a large game from below, by sampling releases.

    The best attacker of a world of ``draws`` sampled data sets is learned, then played against
    fresh ones. Its gain, ``success - e^epsilon baseline``, is at most ``delta(epsilon)``, so the
    lower limits hold for the profile. A better attacker may exist: ``high`` is None.

    game: Mechanism and relation can be written out for the sampled data sets; families and side
        information are not sampled.
    trials: Trials for each epsilon.
    confidence: Level of each lower limit.
    limit: Largest number of (data set, release) pairs to learn from.
    executor: Plays the games, where that takes long; None is this process.
    """
    game = game_of(game).single("a profile by sampling")
    if game.side is not None:
        raise InputError("the profile with side information is not sampled; play the game instead")
    points = _listed(epsilon)
    integer("draws", draws, low=2, high=MOST_DRAWS)
    level = fraction("confidence", confidence)
    entropy = entropy_of(rng)
    some = _some(game.world, draws, child(entropy, 0), limit)
    learned = write_out(replace(game, world=some), limit=limit)
    job = partial(_played, game, learned, points, trials, level, entropy)
    keys = [str(number) for number in range(len(points))]
    return list(soon(executor or Serial(), job, keys))


def _some(world: World, draws: int, rng: np.random.Generator, limit: int) -> _Sampled:
    """Draw data sets, with their fresh ones where the draw decides on both."""
    drawn = world.draw(draws, rng)
    fresh = None if drawn.nature is None else world.fresh(drawn, rng)
    # the same again, whatever is drawn: then it belongs to the draw
    if fresh is None or any(
        key_of(a) != key_of(b) for a, b in zip(fresh, world.fresh(drawn, rng), strict=True)
    ):
        return _Sampled(distinct(drawn.data)[0])
    sets, number = distinct(stacked([*drawn.data, *fresh]))
    pairs, often = np.unique(number.reshape(2, -1).T, axis=0, return_counts=True)
    if len(sets) * len(pairs) > limit:
        raise TooLargeError(
            f"{draws:,} draws are {len(pairs):,} pairs of {len(sets):,} data sets, too many to "
            f"learn from together (at most {limit:,} of both multiplied): sample fewer"
        )
    return _Sampled(sets, pairs, often / draws)


def _played(
    game: Game,
    learned: WrittenOut,
    points: Sequence[float],
    trials: int,
    level: float,
    entropy: int,
    key: str,
) -> Estimate:
    """Play the attacker learned for the epsilon at a position."""
    point = points[int(key)]
    attack, statement = learned.attacker(point), Resilience(point)
    seed = int(child(entropy, 1, int(key)).integers(2**62))
    run = play(game, attack, statement, trials=trials, stop=False, rng=seed)
    scores = run.attackers[0].scores
    factor = math.exp(point)
    gain = scores.success - factor * scores.baseline
    limits = mean_limits((gain + factor) / (1 + factor), confidence=2 * level - 1)
    assert limits.low is not None
    return Estimate(
        max(0.0, float(gain.mean())),
        max(0.0, limits.low * (1 + factor) - factor),
        None,
        level,
        trials,
        quantity=f"delta at epsilon {point:g}",
        method="learned attacker, played; betting",
        why="a better attacker may exist: there is no upper limit",
    )
