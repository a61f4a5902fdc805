"""What an audit of a table found: the model of its detail, its rows, and one setting of both.

Rows of a setting have its label at ``setting``. What people lose stands at ``by`` and ``group``:
"everyone"; "column" and an unknown column; what a group is by, and the group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import model_validator

from narcissus._validation import repeated
from narcissus.results import Grade
from narcissus.rows import (
    Count,
    Fact,
    Level,
    Number,
    Place,
    Positive,
    Quantity,
    Role,
    Share,
    StudyCriterion,
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

Found = Mapping[str, Any]
"""Numbers by their names."""
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


class AttackDetail(Fact):
    """One attack, apart from its numbers."""

    name: str
    title: str
    uses: str
    method: str
    is_estimated: bool = False
    """Of a ceiling: whether it is what sampling decides, so that attackers may be above."""
    approximately: str = ""
    """Method of its approximate limits."""
    below: str = ""
    """How it can recover less than the guess, where it did."""
    distribution: HitCounts | None = None


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


class SettingDetail(Fact):
    """One setting, apart from its rows."""

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
    """Level of each lower limit of an attack, so that all of them hold at once."""
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
    best: str | None = None
    """The attack with most evidence."""
    attacks: tuple[AttackDetail, ...]
    ceiling: AttackDetail | None = None
    merged: MergedGroups | None = None


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


class TableDetail(Fact):
    """An audit of a table, apart from its rows."""

    settings: tuple[SettingDetail, ...]
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
    def of(cls, criteria: Sequence[StudyCriterion], detail: TableDetail) -> Self | None:
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
            **limits, decided_at=detail.decided_at, reason=detail.reason, origin=detail.origin
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


def _known(**values: Any) -> dict[str, Place]:
    return {key: value for key, value in values.items() if value is not None}


def _flat(name: str, found: Found | None) -> dict[str, Any]:
    return {} if found is None else {f"{name}_{key}": found[key] for key in ("low", "high")}


def _share(
    label: str,
    role: Role,
    of: str,
    name: str,
    found: Found,
    level: float,
    *,
    by: Mapping[str, str] = EVERYONE,
    trials: int | None = None,
    facts: Found | None = None,
) -> StudyRow:
    quantity = Quantity(
        value=found["share"],
        low=found["low"],
        high=found["high"],
        grade="sampled",
        confidence=level,
        trials=trials,
    )
    return StudyRow(
        role=role,
        of=of,
        name=name,
        quantity=quantity,
        baseline=found.get("baseline"),
        at={"setting": label, **by},
        facts=_known(**(facts or {})),
    )


def _prior_test(label: str, name: str, found: Found | None) -> Iterator[StudyRow]:
    """Yield what guesses without the release score on real people, less what the prior says."""
    if found is not None:
        yield StudyRow(
            role="refuted",
            of="prior",
            name=name,
            at={"setting": label},
            quantity=Quantity(
                value=found["off"],
                low=found["off_low"],
                high=found["off_high"],
                grade="sampled",
                confidence=found["confidence"],
            ),
            facts=_known(by_the_prior=found["by_the_prior"], chance_off=found.get("chance_off")),
        )


def guess_rows(label: str, found: Found, level: float) -> Iterator[StudyRow]:
    """Yield what the best guess without the release gets right, and what tests it."""
    facts = {
        "is_best_found": 1 if found.get("is_best_found") else None,
        "at_most": found.get("at_most"),
    }
    yield _share(label, "guess", "guess", GUESS, found, level, facts=facts)
    yield from _prior_test(label, GUESS, found["by_the_prior"])
    for column, share in (found.get("each_column") or {}).items():
        yield StudyRow(
            role="guess",
            of="guess of a column alone",
            name=GUESS,
            quantity=Quantity(value=share, grade="sampled"),
            at={"setting": label, "by": "column", "group": column},
        )
    for test in found.get("held_out") or ():
        yield StudyRow(
            role="refuted",
            of="held-out guess",
            name=test["by"],
            at={"setting": label},
            quantity=Quantity(value=test["share"], grade="sampled", confidence=test["confidence"]),
            facts={key: test[key] for key in ("people", "prior_share", "at_most")},
        )


def attack_detail(name: str, found: Found) -> AttackDetail:
    counts, rough, below = (found.get(k) for k in ("distribution", "approximate", "below"))
    return AttackDetail(
        name=name,
        title=found["title"],
        uses=found["uses"],
        method=found["method"],
        is_estimated=bool(found.get("is_estimated")),
        approximately="" if rough is None else rough["method"],
        below="" if below is None else below["why"],
        distribution=None
        if counts is None
        else HitCounts(targets=tuple(counts["targets"]), trials=tuple(counts["trials"])),
    )


def attack_rows(
    label: str, of: Literal["attack", "ceiling"], name: str, found: Found, level: float
) -> Iterator[StudyRow]:
    """Yield what an attack recovered of everybody, and how that compares with its baseline."""
    median, search, below = (found.get(k) for k in ("median", "search", "below"))
    facts = {
        "low_joint": found["low_joint"],
        "baseline_low": found["baseline_low"],
        "baseline_high": found["baseline_high"],
        "baseline_exact": int(found["baseline_exact"]),
        **_flat("approximate", found["approximate"]),
        **_flat("narrowest", found["narrowest"]),
        **_flat("median", median),
        "median": None if median is None else median["share"],
        "stuck": None if search is None else search["stuck"],
        "residual": None if search is None else search["residual"],
        "guess": None if below is None else below["guess"],
    }
    yield _share(label, "attack", of, name, found, level, trials=found["trials"], facts=facts)
    for measure, keys in (("gain", ("low_joint", "low_apart")), ("advantage", ())):
        yield StudyRow(
            role="gain",
            of=measure,
            name=name,
            at={"setting": label},
            quantity=Quantity(
                value=found[measure],
                low=found[f"{measure}_low"],
                high=found[f"{measure}_high"],
                grade="sampled",
                confidence=level,
            ),
            facts=_known(**{key: found.get(f"{measure}_{key}") for key in keys}),
        )
    if (decoy := found["decoy"]) is not None:
        yield _share(label, "fresh", "decoy", name, decoy, level)
        yield from _prior_test(label, name, decoy)


def column_rows(
    label: str, played: Mapping[str, Found], ceiling: Found | None, best: str | None, level: float
) -> Iterator[StudyRow]:
    """Yield what was recovered of each unknown column."""
    everyone = [("attack", name, numbers) for name, numbers in played.items()]
    everyone += [] if ceiling is None else [("ceiling", "ceiling", ceiling)]
    for column in [] if best is None else played[best]["columns"]:
        by = {"by": "column", "group": column}
        for of, name, numbers in everyone:
            if (share := numbers["columns"].get(column)) is not None:
                yield _share(label, "attack", of, name, share, level, by=by)


def group_rows(label: str, found: Found, level: float) -> Iterator[StudyRow]:
    """Yield what is guessed and recovered of a group of people."""
    by = {"by": found["by"], "group": found["group"]}
    hidden = found["by_secret"]
    facts: dict[str, Any] = {
        "share_of_people": found["share_of_people"],
        "told_by": None if hidden is None else "the secrets" if hidden else "known columns",
    }
    yield _share(label, "guess", "guess", GUESS, found["guess"], level, by=by, facts=facts)
    played = [("attack", name, numbers) for name, numbers in found["attacks"].items()]
    played += [] if found["ceiling"] is None else [("ceiling", "ceiling", found["ceiling"])]
    for of, name, numbers in played:
        chance = numbers.get("by_chance")
        keys = "over_guess", "over_guess_low", "over_guess_high", "people"
        facts = {key: numbers[key] for key in keys if numbers.get(key) is not None}
        if chance is not None:
            facts |= {f"chance_{key}": chance[key] for key in ("share", "gain", "gain_low")}
        yield _share(label, "attack", of, name, numbers, level, by=by, facts=facts)


def bound_row(label: str, found: Found) -> StudyRow:
    """Return what no attacker exceeds: a mean share, or a number of targets in one release."""
    is_share = found["limits"] == "share"
    population = found["share_of_population" if is_share else "at_most_of_population"]
    facts = {
        "by": found["name"],
        "guarantee": found["guarantee"],
        "of_population": population,
        "only": "for comparison" if found["for_comparison"] else None,
        "people": None if is_share else found["of"],
        "reached": found.get("reached"),
    }
    quantity = Quantity(
        value=found["share_at_most" if is_share else "at_most"],
        grade=found["grade"],
        confidence=None if is_share else found["confidence"],
        id=found.get("id", ""),
        assumptions=tuple(found["assumptions"]),
        takes_as_given=tuple(found["takes_as_given"]),
    )
    of = "bound" if is_share else "bound on targets"
    return StudyRow(
        role="bound",
        of=of,
        name=found["theorem"],
        quantity=quantity,
        facts=_known(**facts),
        at={"setting": label, **EVERYONE},
    )


def declared_row(label: str, gain: float, level: float) -> StudyRow:
    """Return the most that a declared guarantee lets a release add to an attack."""
    quantity = Quantity(value=gain, grade="sampled", confidence=level)
    at = {"setting": label}
    return StudyRow(role="bound", of="gain declared", name=DECLARED, quantity=quantity, at=at)


@dataclass(frozen=True)
class Excess:
    """One number, less what is accepted: positive is beyond it."""

    role: ExcessRole
    name: str
    of: str
    """Which limit of the threshold."""
    group: str
    """The group that it is about; empty for everybody."""
    value: float
    low: float | None
    high: float | None
    kind: Grade = "sampled"
    trials: int | None = None
    """That would tell its sign; None: none would."""
    low_apart: float | None = None
    """Another lower limit, of what is recovered alone, less an upper one of what is guessed."""

    @property
    def at_least(self) -> float | None:
        """The larger of its lower limits: each fails with half of the error."""
        return max((x for x in (self.low, self.low_apart) if x is not None), default=None)

    def row(self, label: str) -> StudyRow:
        return StudyRow(
            role="excess",
            of=self.of,
            name=self.name,
            quantity=Quantity(value=self.value, low=self.low, high=self.high, grade=self.kind),
            at={"setting": label, "by": self.role, "group": self.group},
            facts=_known(trials=self.trials, low_apart=self.low_apart),
        )

    @classmethod
    def of_row(cls, row: StudyRow) -> Self:
        numbers, by = row.quantity, row.at["by"]
        if by not in ("attack", "ceiling", "bound"):
            raise ValueError(f"an excess is of no {by}")
        known: Any = {key: row.facts.get(key) for key in ("trials", "low_apart")}
        return cls(
            by,
            row.name,
            row.of,
            str(row.at["group"]),
            row.value,
            numbers.low,
            numbers.high,
            numbers.grade,
            **known,
        )


class Limited:
    """A share with its limits."""

    def __init__(self, row: StudyRow) -> None:
        self.row = row
        quantity = row.quantity
        if quantity.low is None or quantity.high is None or quantity.value is None:
            raise ValueError("a share has no limits")
        self.share, self.low, self.high = quantity.value, quantity.low, quantity.high
        self.baseline: float = 0.0 if row.baseline is None else row.baseline

    def fact(self, name: str) -> float | None:
        number = self.row.facts.get(name)
        return number if isinstance(number, int | float) else None

    def number(self, name: str) -> float:
        if (fact := self.fact(name)) is None:
            raise ValueError(f"`{name}` is missing")
        return fact


class PlayedAttack(Limited):
    """What an attack, or the ceiling, recovered of everybody."""

    def __init__(
        self, about: AttackDetail, row: StudyRow, gain: StudyRow, columns: Mapping[str, Limited]
    ) -> None:
        super().__init__(row)
        self.about, self.columns = about, columns
        self.low_joint = self.fact("low_joint")
        self.gain = gain.value
        self.gain_low, self.gain_high = gain.quantity.low or 0.0, gain.quantity.high or 0.0
        lows = [gain.facts.get(key) for key in ("low_joint", "low_apart")]
        self.gain_low_joint = lows[0] if isinstance(lows[0], int | float) else None
        self.sure_gain = max((x for x in lows if isinstance(x, int | float)), default=-1.0)
        """What the release surely adds to what the attack gets without it."""

    @property
    def trials(self) -> int:
        return self.row.quantity.trials or 0

    @property
    def approximate(self) -> tuple[float, float] | None:
        low, high = self.fact("approximate_low"), self.fact("approximate_high")
        return None if low is None or high is None else (low, high)


class GroupAttack(Limited):
    """What an attack recovered of a group."""

    @property
    def chance(self) -> float | None:
        """What it gets of the group without its release."""
        return self.fact("chance_share")

    @property
    def sure_gain(self) -> float:
        """What the release surely adds: to the best guess, and to the attack by itself."""
        low, chance = self.number("over_guess_low"), self.fact("chance_gain_low")
        return low if chance is None else min(low, chance)

    @property
    def most_gain(self) -> float:
        """What the release adds at most."""
        return self.number("over_guess_high")


@dataclass(frozen=True)
class GroupFound:
    """How a group of people fares."""

    by: str
    group: str
    by_secret: bool | None
    """Whether membership is hidden; None: not recorded."""
    share_of_people: float
    guess: Limited
    attacks: Mapping[str, GroupAttack]
    ceiling: GroupAttack | None


class TableBound:
    """What no attacker exceeds: a share, or a number of targets with some confidence."""

    def __init__(self, row: StudyRow) -> None:
        quantity, facts = row.quantity, row.facts
        self.row = row
        self.is_share = row.of == "bound"
        self.at_most: float = row.value if self.is_share else int(row.value)
        self.theorem, self.id, self.name = row.name, quantity.id, str(facts["by"])
        self.guarantee = str(facts["guarantee"])
        self.grade: Grade = quantity.grade
        self.confidence = quantity.confidence or 0.0
        self.assumptions, self.takes_as_given = quantity.assumptions, quantity.takes_as_given
        self.for_comparison = "only" in facts
        self.of_population: Any = facts.get("of_population")
        self.reached: Any = facts.get("reached")
        self.of: Any = None if self.is_share else facts["people"]
        if self.grade not in ("proved if" if self.takes_as_given else "proved", "not assessed"):
            raise ValueError("its grade is another than what it assumes allows")

    @property
    def counts(self) -> bool:
        """Whether it may be leaned on: it follows from a guarantee, and is not only compared."""
        return self.grade != "not assessed" and not self.for_comparison


@dataclass(frozen=True)
class HeldOutGuess:
    """What somebody else guesses from the known columns, of rows whose secrets were not seen."""

    by: str
    people: int
    share: float
    prior_share: float
    at_most: float
    """What the prior, if it is right, allows anybody, with this confidence."""
    confidence: float

    @property
    def refutes(self) -> bool:
        return self.share > self.at_most


@dataclass(frozen=True, eq=False)
class SettingFound:
    """One setting: what was measured and what is proved, before it is judged."""

    detail: SettingDetail
    rows: Sequence[StudyRow]
    threshold: Accepted | None = None

    @property
    def label(self) -> str:
        return self.detail.label

    def _rows(self, role: Role, of: str, by: str | None = None) -> list[StudyRow]:
        return [
            row
            for row in self.rows
            if row.role == role and row.of == of and (by is None or row.at.get("by") == by)
        ]

    def _of_everyone(self, role: Role, of: str) -> dict[str, StudyRow]:
        rows = self._rows(role, of, None if role == "gain" else "everyone")
        return {row.name: row for row in rows if not _is_of_group(row)}

    @cached_property
    def guess(self) -> Limited:
        return Limited(self._of_everyone("guess", "guess")[GUESS])

    @cached_property
    def guess_of_columns(self) -> Mapping[str, float]:
        """What the best guess of each unknown column alone gets, where that is known."""
        rows = self._rows("guess", "guess of a column alone")
        return {str(row.at["group"]): row.value for row in rows}

    @cached_property
    def held_out(self) -> tuple[HeldOutGuess, ...]:
        guesses: list[HeldOutGuess] = []
        for row in self._rows("refuted", "held-out guess"):
            facts: Any = row.facts
            guesses.append(
                HeldOutGuess(
                    by=row.name, share=row.value, **facts, confidence=row.quantity.confidence or 0.0
                )
            )
        return tuple(guesses)

    @property
    def is_prior_refuted(self) -> bool:
        """Whether people of the table are guessed better than the prior allows."""
        return any(guess.refutes for guess in self.held_out)

    @cached_property
    def prior_tests(self) -> Mapping[str, StudyRow]:
        return {row.name: row for row in self._rows("refuted", "prior")}

    def _played(self, of: str, details: Sequence[AttackDetail]) -> dict[str, PlayedAttack]:
        rows, gains = self._of_everyone("attack", of), self._of_everyone("gain", "gain")
        columns: dict[str, dict[str, Limited]] = {}
        for row in self._rows("attack", of, "column"):
            if not _is_of_group(row):
                columns.setdefault(row.name, {})[str(row.at["group"])] = Limited(row)
        if {detail.name for detail in details} != rows.keys():
            raise ValueError("its attacks are not those that were played")
        return {
            detail.name: PlayedAttack(
                detail, rows[detail.name], gains[detail.name], columns.get(detail.name, {})
            )
            for detail in details
        }

    @cached_property
    def attacks(self) -> Mapping[str, PlayedAttack]:
        return self._played("attack", self.detail.attacks)

    @cached_property
    def ceiling(self) -> PlayedAttack | None:
        detail = self.detail.ceiling
        return next(
            iter(self._played("ceiling", [] if detail is None else [detail]).values()), None
        )

    @property
    def best(self) -> str | None:
        return self.detail.best

    @property
    def best_attack(self) -> PlayedAttack | None:
        """The attack with most evidence."""
        return None if self.best is None else self.attacks[self.best]

    @cached_property
    def groups(self) -> tuple[GroupFound, ...]:
        played: dict[tuple[Place, Place], dict[str, GroupAttack]] = {}
        for row in self.rows:
            if row.role == "attack" and _is_of_group(row):
                place = row.at["by"], row.at["group"]
                played.setdefault(place, {})[row.of + row.name] = GroupAttack(row)
        summaries: list[GroupFound] = []
        for row in self._rows("guess", "guess"):
            if _is_of_group(row):
                by, group = row.at["by"], row.at["group"]
                attacks, source = played.get((by, group), {}), row.facts.get("told_by")
                guess = Limited(row)
                summaries.append(
                    GroupFound(
                        str(by),
                        str(group),
                        None if source is None else source == "the secrets",
                        guess.number("share_of_people"),
                        guess,
                        {
                            attack.row.name: attack
                            for attack in attacks.values()
                            if attack.row.of == "attack"
                        },
                        attacks.get("ceilingceiling"),
                    )
                )
        return tuple(summaries)

    @cached_property
    def bounds(self) -> tuple[TableBound, ...]:
        measures = ("bound", "bound on targets")
        return tuple(TableBound(r) for r in self.rows if r.role == "bound" and r.of in measures)

    @cached_property
    def declared_gain(self) -> float | None:
        """The most that a declared guarantee lets a release add to an attack; None: none does."""
        return next((row.value for row in self._rows("bound", "gain declared")), None)

    @cached_property
    def excesses(self) -> tuple[Excess, ...]:
        return tuple(Excess.of_row(row) for row in self.rows if row.role == "excess")

    @property
    def whose(self) -> str:
        """Of what shares are, after 'of these' and before 'on average'."""
        return "people's unknown columns" if self.detail.share_of_columns else "people"

    @property
    def proved_if(self) -> str:
        """What the bounds assume, in a few words; empty for nothing."""
        premises = [] if self.detail.prior_is_exact else ["the prior is right"]
        premises = ["the true prior is near the given one"] if self.detail.near else premises
        premises += ["what was declared holds"] if self.detail.is_declared else []
        return " and ".join(premises)

    @property
    def given(self) -> tuple[str, ...]:
        return (*(self.detail.near or self.detail.given), *self.detail.declared)

    @property
    def is_ceiling_estimated(self) -> bool:
        """Whether the ceiling is an estimate, that attackers may be above."""
        return self.ceiling is not None and self.ceiling.about.is_estimated

    @property
    def noiseless(self) -> bool:
        """Whether exact counts are released."""
        return self.detail.noise is not None and self.detail.noise.scale == 0

    @property
    def protection(self) -> float:
        """Grows with protection, within a sweep; 0 where nothing orders the settings."""
        if self.detail.strength is not None:
            return self.detail.strength
        return 0.0 if self.detail.noise is None else self.detail.noise.scale

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

    def count_of_population(self, confidence: float) -> int | None:
        """Return the least limit of the count of others like those played; None where none is."""
        limits = [
            b.of_population
            for b in self.bounds
            if not b.is_share and b.counts and b.confidence == confidence
        ]
        return min((limit for limit in limits if limit is not None), default=None)

    def check(self) -> None:
        """Refuse rows that cannot be of one setting."""
        if not (self._is_counted() and self._is_bounded() and self._is_compared()):
            raise ValueError(f"the rows at {self.label} are not of one setting")

    def _is_counted(self) -> bool:
        detail, played = self.detail, [*self.attacks.values()]
        if (self.best is None) != (not played) or self.best not in (None, *self.attacks):
            return False
        played += [] if self.ceiling is None else [self.ceiling]
        counts = [(attack, attack.about.distribution) for attack in played]
        return all(
            (counted is None) == detail.share_of_columns
            and attack.trials <= detail.trials
            and (counted is None or max(counted.targets) <= detail.people)
            and (counted is None or sum(counted.trials) == attack.trials)
            for attack, counted in counts
        ) and all(
            attack.sure_gain <= attack.number("over_guess")
            for group in self.groups
            for attack in group.attacks.values()
        )

    def _is_bounded(self) -> bool:
        return all(
            max(bound.at_most, bound.of_population or 0) <= (bound.of or 1)
            and not (bound.counts and bound.reached is not None and bound.reached > bound.at_most)
            for bound in self.bounds
        )

    def _is_compared(self) -> bool:
        measures = [name for name in LIMITS if getattr(self.threshold, name, None) is not None]
        return all(
            {e.name for e in self.excesses if (e.role, e.of, e.group) == ("attack", of, "")}
            == {*self.attacks}
            for of in measures
        )


def _is_of_group(row: StudyRow) -> bool:
    return "over_guess" in row.facts or "share_of_people" in row.facts
