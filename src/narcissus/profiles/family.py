"""Every distribution of a family written out; a statement for all is one for the worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from narcissus.errors import TooLargeError
from narcissus.game import Game
from narcissus.game.rules import is_own
from narcissus.profiles.write_out import LIMIT, WORK, require_true, written
from narcissus.profiles.written import Best, WrittenOut

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
