"""What a model gives back of what it was trained on, in words and on a page: of three kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from narcissus._outwards import lower
from narcissus.kinds.layout import Headline, Layout, dots
from narcissus.kinds.memorization.engine import Counted, groups_of
from narcissus.membership.reported import is_void, void_text
from narcissus.report.about import Answered, RealFigure, Subject
from narcissus.report.first_screen import (
    NO_GROUP,
    NO_GROUPS,
    Glance,
    seeks,
    surely_largest,
    voided,
)
from narcissus.report.format import MISSING, between_points, limits, number, percent
from narcissus.report.gives_away import FOUND, VERDICT, merged_words
from narcissus.report.page import Cell, Facts, Figure, Grid, Page, Range, Row, Section, Text
from narcissus.report.reach import MORE_OF_100, Reach
from narcissus.results import Grade
from narcissus.rows import SLACK, Quantity, StudyJudgement, StudyRow
from narcissus.study.record import Record


@dataclass(frozen=True)
class CountedLine:
    """A group as a row of a table.

    ``beside`` is what a model that was not trained on them gives, None where that is no question;
    ``more`` are cells after the gain.
    """

    label: str
    group: Counted
    beside: tuple[Quantity | None] | None = None
    more: Sequence[Cell] = ()

    def headline(self, unit: str) -> Headline:
        group, fresh, gain = self.group, self.group.fresh, self.group.limits_of_gain
        if fresh is None or gain is None:
            return self.label, percent(group.share), f"no fresh {unit}", "not assessed"
        text = f"never seen {percent(fresh.value)}; gain {between_points(*gain)} points"
        return self.label, percent(group.share), text, "sampled"

    def cells(self) -> list[Cell]:
        group, gain = self.group, self.group.limits_of_gain
        cells: list[Cell] = [self.label, group.total, group.recovered, group.share]
        for estimate in (group.fresh, *(self.beside or ())):
            cells += (
                [None, MISSING]
                if estimate is None
                else [estimate.value, limits(estimate.low, estimate.high)]
            )
        return [*cells, MISSING if gain is None else between_points(*gain), *self.more]


class MemorizationLayout(Layout):
    counted: ClassVar[str] = "recovered"
    """What counts of a group are called."""
    unit: ClassVar[str] = "images"
    outliers: ClassVar[str] = "images"
    """Which of them may count."""
    untitled: ClassVar[str] = ""
    asked: ClassVar[str] = ""
    released: ClassVar[str] = ""

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or self.untitled

    def verdict(self, case: StudyJudgement) -> str:
        return void_text(case.detail.blind) or super().verdict(case)

    def page(self, record: Record, case: StudyJudgement) -> Page:
        page, blind = super().page(record, case), case.detail.blind
        if blind:
            section = Section("Without the model", [Text([str(line) for line in blind])])
            page = replace(page, sections=[*page.sections, section])
        if not is_void(blind):
            return page
        numbers = [(*line[:3], "not assessed") for line in page.verdict.numbers]
        top = replace(page.verdict, numbers=numbers, evidence_against=[])
        return replace(page, verdict=top)

    def subtitle(self, case: StudyJudgement) -> str:
        return self.asked

    def groups(self, case: StudyJudgement) -> dict[str, list[Counted]]:
        """Return the groups of each attack, all first."""
        groups, level = groups_of(case, self.counted), case.detail.claim_confidence
        beside = [
            comparison
            for attack_groups in groups.values()
            for group in attack_groups
            for comparison in group.beside.values()
        ]
        if any(abs((row.quantity.confidence or 0.0) - level) > SLACK for row in beside):
            raise ValueError("a limit is of another level than that of all claims")
        return groups

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        """Leave out a gain that is not known."""
        return {} if row.of not in ("gain", "quality") or row.quantity.high is not None else None

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        """Return what is recovered of a model's training data, whole records."""
        if is_void(case.detail.blind):
            return {}
        numbers = self.numbers(record, case)
        reached = [f"{label}: {value}" for label, value, _, grade in numbers if grade == "sampled"]
        text = f"whole records, {'; '.join(reached)}"
        return {"inference": Answered(text, "sampled")} if reached else {}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        detail, unit = case.detail, self.unit
        real_figures = [
            RealFigure(
                "Shares, gains, limits and the verdict",
                f"Counts over the {unit} that the model was trained on, and over fresh ones.",
                (*VERDICT, "assessed*", "title", *FOUND),
            ),
            RealFigure(f"Numbers of {unit}", f"{detail.trained:,} trained on, exact.", ()),
        ]
        groups = [group for attack_groups in self.groups(case).values() for group in attack_groups]
        if any("copies" in group.count.at for group in groups):
            few = ""
            if min(group.total for group in groups) < 10:
                few = " Some are of fewer than 10, and so about each of them."
            if detail.how_merged is not None:
                few = f" {merged_words(detail.how_merged, unit)}"
            how = f"Counts of {unit} by their number of copies.{few}"
            real_figures.append(RealFigure("Groups by copies", how, ()))
        if detail.shown:
            real_figures.append(RealFigure("Pictures", "Training images, as they are.", ()))
        return real_figures

    def facts(self, rows: Sequence[tuple[str, str]], record: Record, case: StudyJudgement) -> Facts:
        """Add to facts what the person who approves the release accepts, and why."""
        limit = most_gain(case)
        accepted = [("Accepted", f"a gain of {percent(limit, 'down')} of {self.outliers}")]
        reason = (record.study.get("threshold") or {}).get("reason")
        why = [("Why", str(reason))] if reason else []
        return Facts([*rows, *(accepted if limit is not None else []), *why])

    def best(self, case: StudyJudgement) -> tuple[str, list[Counted]]:
        """Return the attack that gains most over fresh ones, its groups; the first of equals."""
        return max(self.groups(case).items(), key=lambda one: gain_of(one[1][0]))

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        detail = case.detail
        text = f"{self.released.format(detail)}, trained on {number(detail.trained)} {self.unit}."
        return Subject(text)

    knows: ClassVar[str] = "how the model was trained"
    """What every attack knows."""
    does: ClassVar[str] = "gives back"
    """What an attack or a model does, after its name."""

    def glance(self, case: StudyJudgement) -> Glance:
        """Word the group that decided: all documents or images, or some of them."""
        if is_void(case.detail.blind):
            return voided(self.outliers, f"other attacks, {self.outliers} of another source")
        unit = self.outliers
        name, groups, group = self._decided(case)
        of = f"{unit} with {group.words(unit)}" if group.copies else unit
        does = f"{self.subject_of_attack(name)} {self.does}"
        without = Reach(f"There is no comparison: the model saw every one of these {of}.")
        if (fresh := group.beside.get("fresh")) is not None:
            text = f"{does} {{}} {unit} that the model never saw."
            without = Reach(text, fresh.quantity, fresh, _observed(fresh.quantity))
        shown = ["No gain is shown."] if group.shown_gain <= 0 else []
        return Glance(
            unit=of,
            without=without,
            with_it=Reach.of(f"{does} {{}} {of} that it was trained on.", group.count),
            most=None,
            unlimited="Another attack might reach all of them: nothing here limits every attacker.",
            hardest=self._hardest(groups),
            unseen=f"other attacks, {unit} of another source",
            accepted="" if most_gain(case) is None else f"{{}} than of fresh {unit}",
            view=MORE_OF_100,
            interval="The gain",
            added=group.gain.quantity if group.gain.is_known else NOTHING,
            notes=shown,
            about=self.about(case),
        )

    def about(self, case: StudyJudgement) -> str:
        """Name the secret, what is known and what is released."""
        released = self.released.format(case.detail)
        model = f"{released[:1].lower()}{released[1:]}"
        return seeks(self.knows, f"the {self.unit} that it was trained on", model)

    def _decided(self, case: StudyJudgement) -> tuple[str, list[Counted], Counted]:
        """Return the attack, its groups and the group of the row that decided."""
        row = case.decided_by
        for name, groups in self.groups(case).items():
            for group in groups:
                if row is not None and group.gain == row:
                    return name, groups, group
        name, groups = self.best(case)
        return name, groups, groups[0]

    def subject_of_attack(self, name: str) -> str:
        """Name who does it, as the subject of a sentence."""
        return f"The attack {name}"

    def _hardest(self, groups: Sequence[Counted]) -> str:
        _, *parts = groups
        if not parts:
            return NO_GROUPS
        place = surely_largest([part.limits_of_gain for part in parts])
        if place is None or parts[place].shown_gain <= 0:
            return NO_GROUP
        worst = parts[place]
        beside = "0" if worst.fresh is None else _of(_observed(worst.fresh))
        return (
            f"Hit hardest: {self.outliers} with {worst.words(self.outliers)}. "
            f"{worst.recovered:,} of {worst.total:,} come back, and {beside} of those never seen."
        )

    def limits_together(self, case: StudyJudgement) -> str:
        detail = case.detail
        return (
            f"{detail.claims} limits hold together at level {detail.confidence:g}, each at "
            f"{detail.claim_confidence:.6g} (Bonferroni)."
        )

    def shares_figure(
        self,
        title: str,
        description: str,
        caption: str,
        columns: Sequence[str],
        lines: Sequence[CountedLine],
        name: str,
    ) -> Figure:
        """Draw for each line a dot and, for fresh ones, an open square, over the table."""
        unit = self.unit
        rows = [
            Row(line.label, fresh and fresh.value, Range(line.group.share))
            for line in lines
            for fresh in [line.group.fresh]
        ]
        draw = dots(rows, without=f"fresh {unit}, by the same rule", with_it=f"{unit} trained on")
        grades: list[Grade] = [
            "not assessed" if line.group.fresh is None else "sampled" for line in lines
        ]
        shares = ("From ", "By shadow")
        percents = ("Share", "Never seen", *(c for c in columns if c.startswith(shares)))
        table = Grid(caption, columns, [line.cells() for line in lines], grades, percents)
        return Figure(title, description, draw, table, (7.2, 1.3 + 0.45 * len(lines)), name)


NOTHING = Quantity(value=None, grade="not assessed")
"""A gain that is not known."""


def gain_of(group: Counted) -> float:
    """Return the gain of a group, below every other one where it is not known."""
    gain = group.gain.quantity.value
    return -1.0 if gain is None else gain


def _observed(fresh: Quantity) -> tuple[int, int] | None:
    """Return how many fresh ones came back, of how many."""
    if fresh.trials is None or fresh.value is None:
        return None
    return round(fresh.value * fresh.trials), fresh.trials


def _of(counted: tuple[int, int] | None) -> str:
    return "an unknown part" if counted is None else f"{counted[0]:,} of {counted[1]:,}"


def most_gain(case: StudyJudgement) -> float | None:
    """Return the gain that is accepted; None where that is not asked."""
    limit = case.each[0].at_most
    return None if limit is None or limit >= 1 else limit


def worst_of(groups: Sequence[Counted]) -> Counted:
    """Return the group with the largest gain for certain; all where others are equal."""
    return max(groups, key=lambda one: one.shown_gain)


def gain_text(low: float) -> str:
    return f"a gain of at least {lower(100 * low, places=1)} points"
