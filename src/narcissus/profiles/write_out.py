"""A small game written out: the exact resilience of a mechanism, against every attacker at once.

For a release ``y`` (with what the attacker was told) and an attempt ``z``, let
``s(y, z) = Pr[R(S, z) = 1, M(S) = y]`` and ``b(y, z) = Pr[M(S) = y, R(T, z) = 1]``. The mechanism
is (epsilon, delta)-resilient against all attackers if and only if

    delta >= delta(epsilon) = sum_y max(0, max_z [ s(y, z) - e^epsilon b(y, z) ]),

since the best attacker picks the best attempt for each release, or none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.knowledge import refine
from narcissus.mechanisms.base import is_interactive
from narcissus.profiles.conversations import WrittenConversations, conversations
from narcissus.profiles.written import WrittenOut
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
