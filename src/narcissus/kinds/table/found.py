"""What an audit of a table found: a tree of settings, and the rows that it yields.

Rows of a setting have its label at ``setting``. What people lose is at ``by`` and ``group``:
"everyone"; "column" and an unknown column; what a group is by, and the group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from narcissus._validation import repeated
from narcissus.results import Grade
from narcissus.rows import (
    SLACK,
    Count,
    Fact,
    Level,
    Number,
    Positive,
    Quantity,
    Role,
    Share,
    StudyCriterion,
    StudyResult,
    StudyRow,
    Unaccounted,
)
from narcissus.study.merging import MergedGroups

GUESS = "best guess without the release"
EVERYONE = {"by": "everyone", "group": "everyone"}
IN_FRAME = ("guess", "attack", "ceiling", "bound", "bound on targets")
"""Measures of rows that the frame shows."""
EQUAL = "a row with equal known columns"
DECLARED = "the total variation that was declared"
OF_TABLE = "the prior is right about the people of the table"
INDEPENDENT = "the secrets of the people are independent given their known columns"
LIMITS = ("share", "advantage", "gain", "targets")

ExcessRole = Literal["attack", "ceiling", "bound"]


class HitCounts(Fact):
    """How many targets were recovered in how many trials."""

    targets: tuple[Count, ...]
    trials: tuple[Positive, ...]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.targets) != len(self.trials):
            raise ValueError("there is not one number of trials for each number of targets")
        return self


def known(number: float | None) -> float:
    """Return a number that must be there."""
    if number is None:
        raise ValueError("a number or a limit is missing")
    return number


def _row(label: str, role: Role, of: str, name: str, quantity: Quantity, **more: Any) -> StudyRow:
    at = {"setting": label, **more.pop("by", {})}
    return StudyRow(role=role, of=of, name=name, quantity=quantity, at=at, **more)


class Limited(Fact):
    """A share with its limits."""

    quantity: Quantity

    @model_validator(mode="after")
    def _is_limited(self) -> Self:
        if not 0 <= self.low <= self.share + SLACK or not self.share <= self.high + SLACK:
            raise ValueError("a share is not within its limits")
        return self

    @property
    def share(self) -> float:
        return known(self.quantity.value)

    @property
    def low(self) -> float:
        return known(self.quantity.low)

    @property
    def high(self) -> float:
        return known(self.quantity.high)


class PriorOff(Fact):
    """What guesses without the release score on real people, next to what the prior says."""

    by_the_prior: float
    off: Quantity = Field(description="The score, less what the prior says.")
    chance_off: float | None = Field(
        default=None, description="How far off chance may be, where all people are counted."
    )

    def row(self, label: str, name: str) -> StudyRow:
        return _row(label, "refuted", "prior", name, self.off, about=self)


class HeldOutGuess(Fact):
    """What somebody else guesses from the known columns, of rows whose secrets were not seen."""

    by: str
    group: str = Field(default="", description="The group that the rows are of; empty for all.")
    people: Positive
    share: Share
    prior_share: Share
    at_most: float = Field(
        description="What the prior, if it is right, allows anybody, with this confidence."
    )
    confidence: Level

    @property
    def refutes(self) -> bool:
        return self.share > self.at_most

    @property
    def of_group(self) -> str:
        """The group in words that follow a noun; empty for all people."""
        return f" of the group “{self.group}”" if self.group else ""

    def row(self, label: str) -> StudyRow:
        quantity = Quantity(value=self.share, grade="sampled", confidence=self.confidence)
        of = f"held-out guess{self.of_group}"
        return _row(label, "refuted", of, self.by, quantity, about=self)


class GuessFound(Limited):
    """What the best guess without the release gets right."""

    is_best_found: bool = Field(default=False, description="Whether a better one may exist.")
    at_most: float | None = Field(default=None, description="What no better one exceeds.")
    by_the_prior: PriorOff | None = None
    columns: Mapping[str, float] = Field(
        default={}, description="What the best guess of each unknown column alone gets."
    )

    def row(self, label: str) -> StudyRow:
        return _row(label, "guess", "guess", GUESS, self.quantity, by=EVERYONE, about=self)

    def rows(self, label: str) -> Iterator[StudyRow]:
        yield self.row(label)
        if self.by_the_prior is not None:
            yield self.by_the_prior.row(label, GUESS)
        for column, share in self.columns.items():
            quantity, by = Quantity(value=share, grade="sampled"), of_column(column)
            yield _row(label, "guess", "guess of a column alone", GUESS, quantity, by=by)


def of_column(column: str) -> dict[str, str]:
    return {"by": "column", "group": column}


class Decoy(Limited):
    """What an attack scores on a release of other secrets."""

    test: PriorOff


class ColumnRecovered(Limited):
    """What an attack recovered of one unknown column."""

    baseline: float


class SearchLeft(Fact):
    """In how many releases a search stuck, and how far from all counts on average."""

    stuck: Count
    residual: float


class BelowGuess(Fact):
    """How an attack can recover less than the guess, where it did."""

    guess: float
    why: str


class PlayedAttack(Limited):
    """What an attack, or the ceiling, recovered of everybody."""

    title: str
    uses: str
    method: str
    is_estimated: bool = Field(
        default=False,
        description="Of a ceiling: whether sampling decides, so that attackers may be above.",
    )
    low_joint: float = Field(description="Lower limit of its share at the joint level.")
    narrowest: tuple[float, float] | None = Field(
        default=None, description="Tightest limits that any valid method could set."
    )
    median: Quantity | None = None
    without: Quantity = Field(description="What the same attempts score without the release.")
    baseline_exact: bool
    gain: Quantity
    gain_low_joint: float
    gain_low_apart: float | None = None
    advantage: Quantity
    decoy: Decoy | None = None
    search: SearchLeft | None = None
    below: BelowGuess | None = None
    distribution: HitCounts | None = None
    columns: Mapping[str, ColumnRecovered] = {}

    @property
    def baseline(self) -> float:
        return known(self.without.value)

    @property
    def trials(self) -> int:
        return self.quantity.trials or 0

    @property
    def sure_gain(self) -> float:
        """What the release surely adds to what the attack gets without it."""
        lows = self.gain_low_joint, self.gain_low_apart
        return max(low for low in lows if low is not None)

    def row(self, label: str, of: str, name: str) -> StudyRow:
        more: Any = {"baseline": self.baseline, "by": EVERYONE, "about": self}
        return _row(label, "attack", of, name, self.quantity, **more)

    def rows(self, label: str, of: str, name: str) -> Iterator[StudyRow]:
        """Yield what it recovered of everybody, and how that compares with its baseline."""
        yield self.row(label, of, name)
        yield _row(label, "gain", "gain", name, self.gain, about=self)
        yield _row(label, "gain", "advantage", name, self.advantage, about=self)
        if self.decoy is not None:
            yield _row(label, "fresh", "decoy", name, self.decoy.quantity, by=EVERYONE)
            yield self.decoy.test.row(label, name)


class GroupChance(Fact):
    """What an attack gets of a group without its release, and the release adds to that."""

    share: float
    gain: float
    gain_low: float


class GroupAttack(Limited):
    """What an attack recovered of a group."""

    baseline: float
    over_guess: Quantity = Field(description="More than the best guess of the same people.")
    people: Positive | None = None
    by_chance: GroupChance | None = None

    @model_validator(mode="after")
    def _is_less(self) -> Self:
        if self.sure_gain > known(self.over_guess.value):
            raise ValueError("what a release surely adds is more than what it adds")
        return self

    @property
    def chance(self) -> float | None:
        """What it gets of the group without its release."""
        return None if self.by_chance is None else self.by_chance.share

    @property
    def sure_gain(self) -> float:
        """What the release surely adds: to the best guess, and to the attack by itself."""
        low = known(self.over_guess.low)
        return low if self.by_chance is None else min(low, self.by_chance.gain_low)

    @property
    def most_gain(self) -> float:
        """What the release adds at most."""
        return known(self.over_guess.high)


class GroupFound(Fact):
    """How a group of people fares."""

    by: str
    group: str
    by_secret: bool | None = Field(description="Whether membership is hidden; null: not recorded.")
    share_of_people: float
    guess: Limited
    attacks: Mapping[str, GroupAttack]
    ceiling: GroupAttack | None = None

    def guess_row(self, label: str) -> StudyRow:
        by, quantity = {"by": self.by, "group": self.group}, self.guess.quantity
        return _row(label, "guess", "guess", GUESS, quantity, by=by, about=self)

    def row(self, label: str, of: str, name: str, one: GroupAttack) -> StudyRow:
        by = {"by": self.by, "group": self.group}
        more: Any = {"by": by, "baseline": one.baseline, "about": one}
        return _row(label, "attack", of, name, one.quantity, **more)

    def rows(self, label: str) -> Iterator[StudyRow]:
        yield self.guess_row(label)
        for of, name, one in _with_ceiling(self.attacks, self.ceiling):
            yield self.row(label, of, name, one)


AttackT = TypeVar("AttackT", bound=Limited)


def _with_ceiling(
    attacks: Mapping[str, AttackT], ceiling: AttackT | None
) -> Iterator[tuple[str, str, AttackT]]:
    """Yield attacks with what their rows are of, and their names; the ceiling comes last."""
    yield from (("attack", name, attack) for name, attack in attacks.items())
    if ceiling is not None:
        yield "ceiling", "ceiling", ceiling


class TableBound(Fact):
    """What no attacker exceeds: a share, or a number of targets with some confidence."""

    quantity: Quantity
    theorem: str
    name: str
    guarantee: str
    people: Positive | None = Field(default=None, description="Null: it limits a mean share.")
    of_population: int | float | None = None
    reached: int | None = Field(default=None, description="What some mechanism reaches.")
    for_comparison: bool = False

    @model_validator(mode="after")
    def _holds(self) -> Self:
        grade, given = self.grade, self.takes_as_given
        if grade not in ("proved if" if given else "proved", "not assessed"):
            raise ValueError("its grade is another than what it assumes allows")
        if max(self.at_most, self.of_population or 0) > self.of:
            raise ValueError("it limits more than there are")
        if self.counts and self.reached is not None and self.reached > self.at_most:
            raise ValueError("more is reached than none exceeds")
        return self

    @property
    def is_share(self) -> bool:
        return self.people is None

    @property
    def of(self) -> int:
        return self.people or 1

    @property
    def at_most(self) -> float:
        value = known(self.quantity.value)
        return value if self.is_share else int(value)

    @property
    def id(self) -> str:
        return self.quantity.id

    @property
    def grade(self) -> Grade:
        return self.quantity.grade

    @property
    def confidence(self) -> float:
        return self.quantity.confidence or 0.0

    @property
    def assumptions(self) -> tuple[str, ...]:
        return self.quantity.assumptions

    @property
    def takes_as_given(self) -> tuple[str, ...]:
        return self.quantity.takes_as_given

    @property
    def counts(self) -> bool:
        """Whether it may be leaned on: it follows from a guarantee, and is not only compared."""
        return self.grade != "not assessed" and not self.for_comparison

    def row(self, label: str) -> StudyRow:
        of = "bound" if self.is_share else "bound on targets"
        return _row(label, "bound", of, self.theorem, self.quantity, by=EVERYONE, about=self)


class Excess(Fact):
    """One number, less what is accepted: positive is beyond it."""

    role: ExcessRole
    name: str
    of: str = Field(description="Which limit of the threshold.")
    group: str = Field(description="The group that it is about; empty for everybody.")
    quantity: Quantity
    trials: Positive | None = Field(
        default=None, description="That would tell its sign; null: none would."
    )
    low_apart: float | None = Field(
        default=None,
        description="Another lower limit, of what is recovered alone, less an upper one of what "
        "is guessed.",
    )

    @property
    def value(self) -> float:
        return known(self.quantity.value)

    @property
    def low(self) -> float | None:
        return self.quantity.low

    @property
    def high(self) -> float | None:
        return self.quantity.high

    @property
    def at_least(self) -> float | None:
        """The larger of its lower limits: each fails with half of the error."""
        return max((x for x in (self.low, self.low_apart) if x is not None), default=None)

    def row(self, label: str) -> StudyRow:
        by = {"by": self.role, "group": self.group}
        return _row(label, "excess", self.of, self.name, self.quantity, by=by, about=self)


class NoiseDetail(Fact):
    """The noise on each cell; a scale of 0 is none."""

    kind: str
    scale: Number


class PrecisionDetail(Fact):
    """How near the limits came that a study asks to be near, as half their distance."""

    aimed: Share
    reached: Share
    look: Positive
    most: Positive

    @property
    def is_reached(self) -> bool:
        return self.reached <= self.aimed


class DecisionDetail(Fact):
    """How a run ended that plays until its verdict is decided."""

    ended: Literal["decided", "beyond trials", "budget", "most"]
    """What ended it: the verdict, that trials do not decide it, the time given, all looks."""
    look: Positive
    """The look at the limits, from 1, at which it ended."""
    part: Share
    """Part of the error for which every limit of this look is computed."""


class SettingFound(Fact):
    """One setting: what was measured and what is proved, before it is judged."""

    label: str
    epsilon: Number | None = None
    delta: Share | None = None
    mu: Number | None = None
    released: str = ""
    strength: Number | None = None
    """Grows with protection, within a sweep; null: nothing orders it."""
    noise: NoiseDetail | None = None
    marginals: Count
    cells: Count
    people: Positive
    trials: Positive
    confidence: Level
    joint: Level
    """Level of each lower limit of an attack, so that all of them hold jointly."""
    precision: PrecisionDetail | DecisionDetail | None = None
    given: tuple[str, ...] = ()
    """What baselines and the ceiling assume."""
    near: tuple[str, ...] = ()
    """What bounds assume in its place, where the prior is not taken as it is."""
    declared: tuple[str, ...] = ()
    """What bounds assume besides."""
    prior_is_exact: bool
    everybody: bool = False
    """Whether the people are the whole table."""
    are_real: bool = False
    """Whether the people are rows of the table."""
    is_declared: bool = False
    """Whether what the release guarantees is the user's word alone."""
    share_of_columns: bool = False
    """Whether shares are of people's unknown columns, not of people."""
    guess: GuessFound
    held_out: tuple[HeldOutGuess, ...] = ()
    best: str | None = Field(default=None, description="The attack with most evidence.")
    attacks: Mapping[str, PlayedAttack]
    ceiling: PlayedAttack | None = None
    groups: tuple[GroupFound, ...] = ()
    bounds: tuple[TableBound, ...] = ()
    declared_gain: Quantity | None = Field(
        default=None,
        description="The most that a declared guarantee lets a release add to an attack.",
    )
    excesses: tuple[Excess, ...] = ()
    merged: MergedGroups | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        """Refuse numbers that cannot be of one setting."""
        if self.best not in (self.attacks or (None,)):
            raise ValueError("its best attack is none of those that were played")
        for _, _, attack in self._played():
            counted = attack.distribution
            if (counted is None) != self.share_of_columns or attack.trials > self.trials:
                raise ValueError("an attack was played in other trials, or otherwise counted")
            if counted is not None and (
                max(counted.targets) > self.people or sum(counted.trials) != attack.trials
            ):
                raise ValueError("counts are of other people or trials than those played")
        return self

    def _played(self) -> Iterator[tuple[str, str, PlayedAttack]]:
        return _with_ceiling(self.attacks, self.ceiling)

    def rows(self) -> Iterator[StudyRow]:
        """Yield what is guessed and recovered of all, of columns and of groups, and its limits."""
        label = self.label
        yield from self.guess.rows(label)
        yield from (test.row(label) for test in self.held_out)
        for of, name, attack in self._played():
            yield from attack.rows(label, of, name)
        for column in [] if self.best_attack is None else self.best_attack.columns:
            for of, name, attack in self._played():
                if (one := attack.columns.get(column)) is not None:
                    more: Any = {"by": of_column(column), "baseline": one.baseline}
                    yield _row(label, "attack", of, name, one.quantity, **more)
        for group in self.groups:
            yield from group.rows(label)
        yield from (bound.row(label) for bound in self.bounds)
        if self.declared_gain is not None:
            yield _row(label, "bound", "gain declared", DECLARED, self.declared_gain)
        yield from (excess.row(label) for excess in self.excesses)

    @property
    def best_attack(self) -> PlayedAttack | None:
        """The attack with most evidence."""
        return None if self.best is None else self.attacks[self.best]

    @property
    def is_prior_refuted(self) -> bool:
        """Whether people of the table are guessed better than the prior allows."""
        return any(guess.refutes for guess in self.held_out)

    @property
    def prior_tests(self) -> Mapping[str, PriorOff]:
        """What guesses without the release, and attacks on a decoy, say of the prior."""
        tests = {name: attack.decoy.test for name, attack in self.attacks.items() if attack.decoy}
        guessed = self.guess.by_the_prior
        return tests if guessed is None else {GUESS: guessed, **tests}

    @property
    def whose(self) -> str:
        """Of what shares are, after 'of these' and before 'on average'."""
        return "people's unknown columns" if self.share_of_columns else "people"

    @property
    def proved_if(self) -> str:
        """What the bounds assume, in a few words; empty for nothing."""
        premises = [] if self.prior_is_exact else ["the prior is right"]
        premises = ["the true prior is near the given one"] if self.near else premises
        premises += ["what was declared holds"] if self.is_declared else []
        return " and ".join(premises)

    @property
    def is_ceiling_estimated(self) -> bool:
        """Whether the ceiling is an estimate, that attackers may be above."""
        return self.ceiling is not None and self.ceiling.is_estimated

    @property
    def noiseless(self) -> bool:
        """Whether exact counts are released."""
        return self.noise is not None and self.noise.scale == 0

    @property
    def protection(self) -> float:
        """Grows with protection, within a sweep; 0 where nothing orders the settings."""
        if self.strength is not None:
            return self.strength
        return 0.0 if self.noise is None else self.noise.scale

    @property
    def is_limited(self) -> bool:
        """Whether there is a guarantee that could limit an attacker."""
        return any(bound.counts for bound in self.bounds)

    @property
    def share_bound(self) -> TableBound | None:
        """The least that is proved of the mean share."""
        bounds = [b for b in self.bounds if b.is_share and b.counts]
        return min(bounds, key=lambda b: b.at_most, default=None)

    @property
    def count_bound(self) -> TableBound | None:
        """The least that is proved of the count, at the highest level."""
        bounds = [b for b in self.bounds if not b.is_share and b.counts]
        return min(bounds, key=lambda b: (-b.confidence, b.at_most), default=None)


class CountedAttack(Fact):
    """What an attack recovered of the people of a release that was made, and from a decoy."""

    name: str
    recovered: Number
    from_decoy: Number


class OwnRelease(Fact):
    """What is recovered from a release that was made, about real people: counted, not sampled."""

    path: str
    digest: str
    people: Positive
    guessed: Number
    by_the_prior: Number
    """What the guess should get, if the prior is right."""
    attacks: tuple[CountedAttack, ...]

    @model_validator(mode="after")
    def _within(self) -> Self:
        counts = [n for a in self.attacks for n in (a.recovered, a.from_decoy)]
        if max([self.guessed, *counts]) > self.people:
            raise ValueError(f"more are recovered than the {self.people} people")
        return self


class OtherPrior(Fact):
    """Another prior of the package, tried on the rows that refute the study's own."""

    name: str
    options: str
    """As a study file writes them, with commas between."""
    passes: bool


class TableResult(StudyResult):
    """An audit of a table."""

    settings: tuple[SettingFound, ...]
    other_priors: tuple[OtherPrior, ...] = ()
    """Tried where the study's own is refuted, up to the first that passes."""
    unaccounted: tuple[Unaccounted, ...] = ()
    examined: tuple[str, ...] = ()
    """Columns that are left out, were examined and tell nothing more of the secret."""
    behind_bins: tuple[str, ...] = ()
    """Known columns in bins whose exact values were examined and tell nothing more of it."""
    order_examined: bool = False
    """Whether the order of the rows was examined and tells nothing more of it."""
    decided_at: str | None = None
    """Label of the setting that the threshold is about; null: all."""
    reason: str = ""
    origin: str = ""
    own_release: OwnRelease | None = None
    unit: str | None = None
    """Column that names each row's person or household, of whom one row is audited."""

    def rows(self) -> Iterator[StudyRow]:
        for setting in self.settings:
            yield from setting.rows()


@dataclass(frozen=True)
class Accepted:
    """What was accepted, of a study or a policy."""

    share: float | None = None
    advantage: float | None = None
    gain: float | None = None
    targets: int | None = None
    worst_group: float | None = None
    decided_at: str | None = None
    reason: str = ""
    origin: str = ""

    @classmethod
    def of(cls, criteria: Sequence[StudyCriterion], result: TableResult) -> Self | None:
        """Read the criteria of one setting; None where nothing was accepted."""
        limits: dict[str, Any] = {
            "worst_group" if "group" in criterion.at else criterion.of: criterion.at_most
            for criterion in criteria
            if criterion.at_most is not None
        }
        if not limits:
            return None
        if "targets" in limits:
            limits["targets"] = int(limits["targets"])
        return cls(
            **limits, decided_at=result.decided_at, reason=result.reason, origin=result.origin
        )

    def criteria(self, label: str) -> Iterator[StudyCriterion]:
        decides = self.decided_at in (None, label)
        limits = {name: limit for name in LIMITS if (limit := getattr(self, name)) is not None}
        at: dict[str, str] = {"setting": label}
        for name, limit in limits.items():
            yield StudyCriterion(of=name, label=label, at=at, at_most=limit, decides=decides)
        if self.worst_group is not None:
            yield StudyCriterion(
                of=next(iter(limits)),
                label=label,
                at={**at, "group": "each"},
                at_most=self.worst_group,
                decides=decides,
            )


def distinct_labels(labels: Sequence[str]) -> list[str]:
    """Add a number to labels that several settings have, as rows are found by them."""
    shared, seen = set(repeated(labels)), Counter[str]()
    distinct: list[str] = []
    for label in labels:
        seen[label] += 1
        distinct.append(f"{label} ({seen[label]})" if label in shared else label)
    return distinct
