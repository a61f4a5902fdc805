"""The page of a refinement: which of two channels tells more, and the witness of each direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from narcissus.channels import Channel
from narcissus.report.leakage import pictures
from narcissus.report.leakage.sheet import Asked, assessed, graded, method, sheet
from narcissus.report.page import Block, Grid, Page, Section, Text
from narcissus.results import GRADES, Grade, NotAssessed


class Witness(Protocol):
    """What tells whether a second channel is a first one, post-processed."""

    @property
    def holds(self) -> bool: ...

    @property
    def grade(self) -> Grade:
        """How far that can be trusted."""
        ...

    @property
    def gain(self) -> Any:
        """Where it is not: a gain, a row a guess, a column a secret; None where it is."""
        ...

    @property
    def first(self) -> Any:
        """The best expected gain with the first channel."""
        ...

    @property
    def second(self) -> Any: ...


@dataclass(frozen=True)
class Direction:
    """One direction of a comparison.

    Attributes
    ----------
    first, second
        Names of the channels.
    found
        From `narcissus.channels.refines`, for these two in this order.
    by
        The post-processing to draw; None to draw none.
    """

    first: str
    second: str
    found: Witness | NotAssessed
    by: Channel | None = None

    @property
    def words(self) -> str:
        """Describe what was found."""
        a, b = self.first, self.second
        if isinstance(self.found, NotAssessed):
            return f"Whether {b} is {a}, post-processed, was not decided."
        if not self.found.holds:
            return (
                f"{b} is not {a}, post-processed: with some aim an attacker gets "
                f"{float(self.found.second):.6g} with {b} and {float(self.found.first):.6g} with "
                f"{a}."
            )
        near = " but for the solver's tolerance" if self.found.grade == "approximate" else ""
        return f"{b} is {a}, post-processed{near}: nobody learns more from {b}, whatever the aim."


def refinement_page(directions: Sequence[Direction], secrets: Sequence[str], asked: Asked) -> Page:
    """Show whether one of two channels is the other, post-processed, with the witnesses.

    Parameters
    ----------
    directions
        One, or both.
    secrets
        Of the channels, in their order.
    asked
        Where it comes from.
    """
    graded_as = [one.found.grade for one in directions]
    weakest = GRADES[max(map(GRADES.index, graded_as))]
    sections = [
        Section(f"From {one.first} to {one.second}", _witness(one, secrets, place))
        for place, one in enumerate(directions, 1)
    ]
    how = method(
        "A linear program looks for the post-processing; where there is none its multipliers are a "
        "gain that says so, under the uniform prior (Narcissus theory 6.6)."
    )
    first, second = directions[0].first, directions[0].second
    return sheet(
        assessed(" ".join(one.words for one in directions), weakest),
        [*sections, how],
        asked,
        title=f"Which tells more: {first} or {second}?",
        subtitle="Refinement: for every prior and every aim of an attacker",
        not_assessed=[one.found for one in directions if isinstance(one.found, NotAssessed)],
        not_covered=(),
    )


def _witness(one: Direction, secrets: Sequence[str], place: int) -> list[Block]:
    """Draw the post-processing, or give the gain."""
    blocks: list[Block] = [Text([one.words])]
    if isinstance(one.found, NotAssessed):
        return blocks
    if one.found.holds and one.by is not None:
        title = f"How {one.first} is made into {one.second}"
        drawn = pictures.rows_of(one.by, title, ("output", "new output"), f"witness-{place}")
        return [*blocks, *([] if drawn is None else [drawn])]
    if one.found.gain is not None:
        rows = [[f"guess {i}", *map(float, row)] for i, row in enumerate(one.found.gain, 1)]
        grades = graded("proved", rows)
        title = "What each guess gains for each secret: an aim that tells the two apart"
        folded = len(rows) > 20
        blocks.append(Grid(title, ("Guess", *secrets), rows, grades=grades, folded=folded))
    return blocks
