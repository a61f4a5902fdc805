"""What published tables tell: hidden counts and people for certain, and whose secrets they tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Self

from pydantic import Field, model_validator

from narcissus.counts.posterior import How, Prior
from narcissus.rows import (
    Count,
    Fact,
    Level,
    Positive,
    Quantity,
    StudyResult,
    StudyRow,
    Unaccounted,
)

DETERMINED, GAIN, SHARE, CERTAIN = "people determined", "gain", "secrets named", "secrets certain"
EXPECTED, HIDDEN = "secrets named, expected", "people of a hidden cell"
GROUPS, GROUP = "small groups known", "people of a known group"
FOR_SURE = {"question": "certainty"}
THESE = {"question": "these tables"}
GAME = {"question": "people left out"}


class LimitedGroup(Fact):
    """The people of a cell, or a group that no cell prints, as all tables together limit them."""

    table: str = Field(description="The file.")
    labels: Mapping[str, str] = Field(description="By dimension; none: all people.")
    printed: str = Field("", description="In the table.")
    people: Quantity

    @property
    def name(self) -> str:
        return ", ".join(f"{name} = {label}" for name, label in self.labels.items()) or "all"

    def row(self, of: str) -> StudyRow:
        at, name = {"table": self.table}, self.name
        return StudyRow(role="measure", of=of, name=name, quantity=self.people, at=at, about=self)


class HiddenCells(Fact):
    """The cells whose counts the publisher meant to hide."""

    total: Count
    determined: Count = Field(description="Those whose count follows from the tables.")
    undecided: Count = Field(0, description="Those of which it was not settled whether it does.")
    narrowest: tuple[LimitedGroup, ...] = Field((), description="The first of them.")

    @model_validator(mode="after")
    def _parts_of_a_whole(self) -> Self:
        if max(self.determined + self.undecided, len(self.narrowest)) > self.total:
            raise ValueError("more cells are described than are hidden")
        return self


class SmallGroups(Fact):
    """How many groups of few people are known."""

    below: Positive = Field(description="Groups of fewer people are small.")
    known: Quantity


class ExpectedShare(Fact):
    """The share of people whose secret an attacker expects to name, if the prior is true."""

    prior: Prior
    read: How
    named: Quantity

    def row(self) -> StudyRow:
        return StudyRow(
            role="measure",
            of=EXPECTED,
            name=self.prior,
            quantity=self.named,
            at=THESE,
            about=self,
        )


class TablesAttack(Fact):
    """The shares of people whose secret an attacker names, who holds a prior."""

    prior: Prior
    read: How = Field(description="How the published tables were read.")
    published: Quantity = Field(description="Of all people, from the published tables.")
    members: Quantity = Field(description="Of people in the tables of the game.")
    left_out: Quantity = Field(description="Of people whom these leave out.")
    gain: Quantity = Field(description="Of people in the tables, beyond people left out.")
    readings: Mapping[How, Positive] = Field(description="Tables of the game, by how it read them.")

    def rows(self) -> Iterator[StudyRow]:
        row, base = partial(StudyRow, name=self.prior, about=self), self.left_out.value
        yield row(role="attack", of=SHARE, quantity=self.published, at=THESE)
        yield row(role="attack", of=SHARE, quantity=self.members, baseline=base, at=GAME)
        yield row(role="fresh", of=SHARE, quantity=self.left_out, at=GAME)
        yield row(role="excess", of=GAIN, quantity=self.gain, at=GAME)


class PlayedTables(Fact):
    """The game: tables that leave some people out, and what attackers name from them."""

    people: Positive = Field(description="In all.")
    left_out: Positive = Field(description="Of each table.")
    trials: Positive = Field(description="Tables.")
    confidence: Level = Field(0.95, description="Of all limits together.")
    attacks: tuple[TablesAttack, ...] = Field(min_length=1)
    guess: Quantity = Field(description="Share of people who have the most frequent secret.")
    ceiling: Quantity = Field(
        description="Share that no attacker with the same columns names from the published tables."
    )
    certain: Quantity = Field(description="Share whose secret the published tables leave no doubt.")

    @model_validator(mode="after")
    def _everybody_and_every_table(self) -> Self:
        if self.left_out >= self.people:
            raise ValueError("more people are left out than there are")
        if any(sum(attack.readings.values()) != self.trials for attack in self.attacks):
            raise ValueError("an attack read more or fewer tables than were played")
        return self

    def rows(self) -> Iterator[StudyRow]:
        for attack in self.attacks:
            yield from attack.rows()
        guess, ceiling = "most frequent secret", "same known columns"
        yield StudyRow(role="guess", of="guess", name=guess, quantity=self.guess, at=THESE)
        yield StudyRow(role="bound", of=SHARE, name=ceiling, quantity=self.ceiling, at=THESE)
        yield StudyRow(role="measure", of=CERTAIN, quantity=self.certain, at=THESE)


class TablesResult(StudyResult):
    """What the tables tell, and how they were understood."""

    tables: Positive
    cells: Positive
    determined: Quantity = Field(description="People all of whose labels follow from the tables.")
    hidden: HiddenCells
    small_groups: SmallGroups | None = Field(
        default=None, description="Null: nothing says which groups are small."
    )
    groups: tuple[LimitedGroup, ...] = Field(
        default=(), description="The first small groups that are known and that no mark hides."
    )
    data_sets: Count | None = Field(description="Consistent ones, as far as counted.")
    all_counted: bool
    notes: tuple[str, ...]
    layout: tuple[str, ...] = Field(default=(), description="How the tables were understood.")
    unaccounted: tuple[Unaccounted, ...] = Field(
        default=(), description="What was not understood, and what the user may declare."
    )
    declared: tuple[str, ...] = Field(
        default=(), description="What the user declares of the data, a clause each."
    )
    implied: tuple[str, ...] = Field(
        default=(), description="What a verdict in favour assumes that nobody declares."
    )
    secret: str | None = Field(None, description="What the attacker wants; null: nothing.")
    known: tuple[str, ...] = ()
    expected: tuple[ExpectedShare, ...] = Field(
        default=(), description="Without people's records, what attackers expect."
    )
    game: PlayedTables | None = Field(None, description="Null: no records are at hand.")

    @model_validator(mode="after")
    def _is_of_a_secret(self) -> Self:
        if (self.secret is not None) != ((self.game is not None) + bool(self.expected)):
            raise ValueError("a secret goes with a game or with what attackers expect")
        return self

    @property
    def leaves_statistics_out(self) -> bool:
        """Whether an attacker read the counts alone, where means, medians or totals are printed."""
        attacks = () if self.game is None else self.game.attacks
        readings = [attack.read for attack in (*self.expected, *attacks)]
        readings += [how for attack in attacks for how in attack.readings]
        return "counts alone" in readings

    def rows(self) -> Iterator[StudyRow]:
        yield StudyRow(role="measure", of=DETERMINED, quantity=self.determined, at=FOR_SURE)
        yield from (cell.row(HIDDEN) for cell in self.hidden.narrowest)
        if self.small_groups is not None:
            known = self.small_groups.known
            yield StudyRow(role="measure", of=GROUPS, quantity=known, at=FOR_SURE)
        yield from (group.row(GROUP) for group in self.groups)
        yield from () if self.game is None else self.game.rows()
        yield from (share.row() for share in self.expected)
