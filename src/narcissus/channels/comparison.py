"""Which of two channels tells more, asked in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from narcissus.channels.rational_refinement import RationalRefinement, refines_exactly
from narcissus.channels.refinement import Refinement, refines
from narcissus.results import GRADES, Grade, NotAssessed, Result

Relation = Literal["equivalent", "first", "second", "incomparable", "not assessed"]
OneWay = Refinement | RationalRefinement | NotAssessed


@dataclass(frozen=True, eq=False)
class ChannelComparison(Result):
    """Which of two channels tells more, for every prior and every gain.

    Attributes
    ----------
    names
        Of the two channels.
    forwards
        Whether the second is the first one, post-processed; with the witness.
    backwards
        Whether the first is the second one, post-processed.
    """

    names: tuple[str, str]
    forwards: OneWay
    backwards: OneWay

    @property
    def relation(self) -> Relation:
        """What holds: "first" and "second" say which tells more."""
        if isinstance(self.forwards, NotAssessed) or isinstance(self.backwards, NotAssessed):
            return "not assessed"
        if self.forwards.holds:
            return "equivalent" if self.backwards.holds else "first"
        return "second" if self.backwards.holds else "incomparable"

    @property
    def grade(self) -> Grade:
        """The weaker of the two directions'."""
        return GRADES[max(GRADES.index(one.grade) for one in (self.forwards, self.backwards))]

    def to_dict(self) -> dict[str, Any]:
        """Return the relation, and both directions with their witnesses."""
        return {
            "names": list(self.names),
            "relation": self.relation,
            "grade": self.grade,
            "forwards": self.forwards.to_dict(),
            "backwards": self.backwards.to_dict(),
        }

    def __str__(self) -> str:
        a, b = self.names
        head = {
            "equivalent": f"{a} and {b} tell the same: each is the other, post-processed",
            "first": f"{a} tells more than {b}, to every attacker",
            "second": f"{b} tells more than {a}, to every attacker",
            "incomparable": f"{a} and {b} cannot be compared: some attackers learn more from one, "
            "others from the other",
            "not assessed": f"{a} and {b}: not decided",
        }[self.relation]
        return "\n".join(
            [head, *_said(self.forwards, a, b), *_said(self.backwards, b, a)],
        )


def _said(found: OneWay, first: str, second: str) -> list[str]:
    if isinstance(found, NotAssessed):
        return [f"  {first} to {second}: {found}"]
    if found.holds:
        near = f" within {found.gap:.1g} in sum" if isinstance(found, Refinement) else " exactly"
        return [f"  {second} is {first}, post-processed{near}"]
    told = f"{float(found.second):.6g} with {second}, {float(found.first):.6g} with {first}"
    return [
        f"  {second} is not {first}, post-processed: there is a gain of which an attacker gets "
        f"{told}"
    ]


def compare_channels(
    first: Any,
    second: Any,
    *,
    names: tuple[str, str] = ("the first", "the second"),
    exact: bool = False,
) -> ChannelComparison:
    """Return which of two channels tells more, with a witness for each direction.

    Parameters
    ----------
    first, second
        Channels over the same secrets.
    names
        For the texts.
    exact
        Whether the witnesses are checked in fractions; the channels are then what
        `rational_channel` takes.

    Raises
    ------
    InputError
        Other secrets.
    TooLargeError
        The linear program is too large.

    Notes
    -----
    Source: Narcissus theory 6.6.

    Examples
    --------
    >>> a = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
    >>> compare_channels(a, [[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]]).relation
    'incomparable'
    """
    ask = refines_exactly if exact else refines
    return ChannelComparison(names, ask(first, second), ask(second, first))
