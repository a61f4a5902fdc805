"""A small game written out: the exact resilience of a mechanism, against every attacker at once.

For a release ``y`` (with what the attacker was told) and an attempt ``z``, let
``s(y, z) = Pr[R(S, z) = 1, M(S) = y]`` and ``b(y, z) = Pr[M(S) = y, R(T, z) = 1]``. The mechanism
is (epsilon, delta)-resilient against all attackers if and only if

    delta >= delta(epsilon) = sum_y max(0, max_z [ s(y, z) - e^epsilon b(y, z) ]),

since the best attacker picks the best attempt for each release, or none. For a family, every
distribution is written out; a statement for all is one for the worst.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.game.rules import is_own
from narcissus.knowledge import refine
from narcissus.mechanisms.base import is_interactive
from narcissus.profiles.conversations import WrittenConversations, conversations
from narcissus.profiles.written import Best, WrittenOut
from narcissus.worlds.base import Enumeration

LIMIT = 20_000_000
"""Largest number of (data set, release) pairs that is written out."""

WORK = 20_000_000_000
"""Largest number of (data set, release, guess) triples that is gone through."""


def write_out(
    game: Game, *, limit: int = LIMIT, work: int = WORK, abstain: bool = True
) -> WrittenOut:
    """Write a small game out.

    Parameters
    ----------
    game
        World, mechanism and relation must be ones that can be written out, and the world one
        distribution (for a family, write the members out).
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
    """Refuse a relation that holds for no data set and no attempt in any of the games."""
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
        return WrittenConversations(
            game, enumeration, channel, guesses, count, abstain, places, tree
        )
    return WrittenOut(game, enumeration, channel, guesses, count, abstain, places)


def _enumerate(game: Game, limit: int) -> tuple[Enumeration, int | None]:
    """Write out the data sets, up to their order where release and attempt do not depend on it.

    In that case also return how many records in front are told apart.
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
    """Format a count, which may have thousands of digits."""
    return f"{size:,}" if size < 10**15 else f"about 10^{math.log10(size):.0f}"


def _fits(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise TooLargeError(
            f"the exact answer would write out {what}, {amount(size)} pairs; at most {limit:,} "
            "are. Make the world smaller, or ask for an estimate by sampling (`sampled_profile`; "
            "on the command line, `--sample`)"
        )


ROUNDING = 1e-12
"""Rounding allowed where an exact delta is compared with the one of a statement."""

_SAID = {
    "world": "the user's world `{}` draws what it lists, as often as it says",
    "mechanism": "the user's mechanism `{}` releases as its channel says",
    "relation": "the user's relation `{}` lists every attempt worth making",
    "looser": "the user's relation `{}` lists every attempt worth making",
    "side": "the user's side information `{}` depends on the data set alone",
}


def number(delta: float, spec: str = ".6g") -> str:
    """Format an exact delta; 0 may stand for a lost positive one, and is not written as 0.

    Chances below 1e-308 are lost, and so is a gain that is the difference of two numbers equal in
    all digits: `ROUNDING` exceeds both.
    """
    return format(delta, spec) if delta else f"<{ROUNDING:g}"


def _name(part: Any) -> str:
    function = getattr(part, "function", part)
    return getattr(function, "__name__", type(function).__name__)


@dataclass(frozen=True)
class Worst:
    """The distribution of a family on which some attacker has the largest gap."""

    member: str  # its name; empty where there is only one distribution
    exact: WrittenOut  # its game, written out
    best: Best  # its best attacker


@dataclass(frozen=True)
class WrittenFamily:
    """The games of all distributions of a family, written out, or of a single distribution."""

    members: dict[str, WrittenOut]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answers assume about parts of the user's own."""
        found = [
            text.format(_name(part))
            for name, text in _SAID.items()
            for part in (getattr(one.game, name) for one in self.members.values())
            if is_own(part)
        ]
        if any(not one.abstain and not one.additive for one in self.members.values()):
            found.append("every attacker makes an attempt, as `abstain` says")
        return tuple(dict.fromkeys(found))

    def worst(self, epsilons: Sequence[float]) -> list[Worst]:
        """Find the worst distribution at each epsilon; the first among equals.

        At ``-math.inf`` the baseline counts for nothing: the success is the largest there is.
        """
        found: list[Worst] = []
        for name, exact in self.members.items():
            for place, best in enumerate(exact.sweep(epsilons)):
                one = Worst(name, exact, best)
                if place == len(found):
                    found.append(one)
                elif best.delta > found[place].best.delta:
                    found[place] = one
        return found

    def sizes(self) -> dict[str, int]:
        """Count what was written out: all data sets, most releases and guesses of a member."""
        members = self.members.values()
        return {
            "data_sets": sum(len(exact.enumeration.data) for exact in members),
            "releases": max(int(exact.channel.matrix.shape[1]) for exact in members),
            "guesses": max(exact.count for exact in members),
        }

    def delta(self, epsilon: float) -> float:
        """Compute the smallest delta with which the mechanism is resilient for every member."""
        return max(exact.delta(epsilon) for exact in self.members.values())

    def epsilon(self, delta: float) -> float:
        """Compute the smallest epsilon with delta enough for every member; infinite if none is."""
        return max(exact.epsilon(delta) for exact in self.members.values())


def write_out_family(
    game: Game, *, limit: int = LIMIT, work: int = WORK, abstain: bool = True
) -> WrittenFamily:
    """Write out the game of every distribution of its world.

    Parameters
    ----------
    game, abstain
        As for `write_out`, except that the world may be a family.
    limit, work
        As for `write_out`, for all distributions together.

    Raises
    ------
    TooLargeError
        One of them, or all together, are too large.
    """
    members: dict[str, WrittenOut] = {}
    games = game.members()
    pairs = 0
    for name, member in games.items():
        members[name] = written(member, limit=limit, work=work // len(games), abstain=abstain)
        pairs += members[name].pairs
        if pairs > limit:
            raise TooLargeError(
                f"the first {len(members)} of {len(games)} distributions of the family "
                f"make more than {limit:,} pairs of data set and release; make the family smaller"
            )
    require_true(members.values())
    return WrittenFamily(members)
