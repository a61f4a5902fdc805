"""What a model gives back of what it was trained on, in words and on a page: of three kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headings, Layout, dots, observed, table
from narcissus.kinds.memorization.declarations import declared
from narcissus.kinds.memorization.engine import CountedGroup, GroupT, MemorizedResult
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
from narcissus.report.format import number, percent
from narcissus.report.gives_away import FOUND, VERDICT, merged_words
from narcissus.report.page import Cell, Facts, Figure, Page, Range, Row, Section, Text
from narcissus.report.reach import MORE_OF_100, Reach
from narcissus.results import Grade
from narcissus.rows import Quantity, StudyRow
from narcissus.study.record import Record


class MemorizationLayout(Layout):
    headings: ClassVar[Headings] = {
        ("attack", "recovered"): "Recovered by {name}",
        ("attack", "reproduced"): "Given back",
        ("fresh", "fresh"): "The same of those never seen",
        ("excess", "gain"): "Gain",
    }
    unit: ClassVar[str] = "images"
    outliers: ClassVar[str] = "images"
    """Which of them may count."""
    untitled: ClassVar[str] = ""
    asked: ClassVar[str] = ""
    released: ClassVar[str] = ""

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or self.untitled

    def verdict(self, case: StudyJudgement) -> str:
        return void_text(case.result.blind) or super().verdict(case)

    def page(self, record: Record, case: StudyJudgement) -> Page:
        page, blind = super().page(record, case), case.result.blind
        if blind:
            section = Section("Without the model", [Text([str(line) for line in blind])])
            page = replace(page, sections=[*page.sections, section])
        return page

    def deciding(self, case: StudyJudgement) -> Iterator[StudyRow]:
        """Yield the rows of all documents or images, then of the group that decided."""
        name, groups, group = self._decided(case)
        for each in dict.fromkeys([groups[0], group]):
            yield from each.rows(case.result.counted, name)

    def grade(self, case: StudyJudgement, row: StudyRow) -> Grade:
        return "not assessed" if is_void(case.result.blind) else row.quantity.grade

    def subtitle(self, case: StudyJudgement) -> str:
        return self.asked

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        """Leave out a gain that is not known."""
        return {} if row.of not in ("gain", "quality") or row.quantity.high is not None else None

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        """Return what is recovered of a model's training data, whole records."""
        if is_void(case.result.blind):
            return {}
        numbers = self.numbers(case)
        reached = [
            f"{label}: {value}" for label, value, _, grade in numbers if grade != "not assessed"
        ]
        text = f"whole records, {'; '.join(reached)}"
        return {"inference": Answered(text, "sampled")} if reached else {}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        result, unit = case.result, self.unit
        real_figures = [
            RealFigure(
                "Shares, gains, limits and the verdict",
                f"Counts over the {unit} that the model was trained on, and over fresh ones.",
                (*VERDICT, "assessed*", "title", *FOUND),
            ),
            RealFigure(f"Numbers of {unit}", f"{result.trained:,} trained on, exact.", ()),
        ]
        groups = [group for part in result.groups_by_attack.values() for group in part]
        if any("copies" in group.at for group in groups):
            few = ""
            if min(group.total for group in groups) < 10:
                few = " Some are of fewer than 10, and so about each of them."
            if result.how_merged is not None:
                few = f" {merged_words(result.how_merged, unit)}"
            how = f"Counts of {unit} by their number of copies.{few}"
            real_figures.append(RealFigure("Groups by copies", how, ()))
        if result.shown:
            real_figures.append(RealFigure("Pictures", "Training images, as they are.", ()))
        return real_figures

    def facts(self, rows: Sequence[tuple[str, str]], record: Record, case: StudyJudgement) -> Facts:
        """Add to facts what the person who approves the release accepts, and why."""
        limit = most_gain(case)
        accepted = [("Accepted", f"a gain of {percent(limit, 'down')} of {self.outliers}")]
        reason = (record.study.get("threshold") or {}).get("reason")
        why = [("Why", str(reason))] if reason else []
        return Facts([*rows, *(accepted if limit is not None else []), *why])

    def best(self, result: MemorizedResult) -> tuple[str, Sequence[CountedGroup]]:
        """Return the attack that gains most over fresh ones, its groups; the first of equals."""
        attacks = result.groups_by_attack.items()
        return max(attacks, key=lambda attack: _gain(attack[1][0]))

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        result = case.result
        text = f"{self.released.format(result)}, trained on {number(result.trained)} {self.unit}."
        return Subject(text)

    knows: ClassVar[str] = "how the model was trained"
    """What every attack knows."""
    does: ClassVar[str] = "gives back"
    """What an attack or a model does, after its name."""

    def glance(self, case: StudyJudgement) -> Glance:
        """Word the group that decided: all documents or images, or some of them."""
        if is_void(case.result.blind):
            return voided(self.outliers, f"other attacks, {self.outliers} of another source")
        unit = self.outliers
        name, groups, group = self._decided(case)
        of = unit if group.is_whole else f"{unit} with {group.words(unit)}"
        does = f"{self.subject_of_attack(name)} {self.does}"
        rows = {row.of: row for row in group.rows(case.result.counted, name)}
        without = Reach(f"There is no comparison: the model saw every one of these {of}.")
        if (fresh := group.fresh) is not None:
            text = f"{does} {{}} {unit} that the model never saw."
            without = Reach(text, fresh, rows["fresh"], observed(fresh))
        with_it = Reach.of(f"{does} {{}} {of} that it was trained on.", rows[case.result.counted])
        return Glance(
            unit=of,
            without=without,
            with_it=replace(with_it, counted=(group.recovered, group.total)),
            most=None,
            unlimited="Another attack might reach all of them: nothing here limits every attacker.",
            hardest=self.hardest(groups),
            unseen=f"other attacks, {unit} of another source",
            accepted="" if most_gain(case) is None else f"{{}} than of fresh {unit}",
            view=MORE_OF_100,
            interval="The gain",
            added=group.gain if rows["gain"].is_known else NOTHING,
            notes=["No gain is shown."] if group.shown_gain <= 0 else [],
            declared=declared(case.result),
            about=self.about(case),
        )

    def about(self, case: StudyJudgement) -> str:
        """Name the secret, what is known and what is released."""
        released = self.released.format(case.result)
        model = f"{released[:1].lower()}{released[1:]}"
        return seeks(self.knows, f"the {self.unit} that it was trained on", model)

    def _decided(self, case: StudyJudgement) -> tuple[str, Sequence[CountedGroup], CountedGroup]:
        """Return the attack, its groups and the group of the row that decided."""
        row = case.decided_by
        for name, groups in case.result.groups_by_attack.items():
            if row is not None and row.name == name and row.about in groups:
                return name, groups, row.about
        name, groups = self.best(case.result)
        return name, groups, groups[0]

    def subject_of_attack(self, name: str) -> str:
        """Name who does it, as the subject of a sentence."""
        return f"The attack {name}"

    def hardest(self, groups: Sequence[CountedGroup]) -> str:
        """Name the group of which most come back, if one is sure to be it."""
        _, *parts = groups
        if not parts:
            return NO_GROUPS
        place = surely_largest([part.limits_of_gain for part in parts])
        if place is None or parts[place].shown_gain <= 0:
            return NO_GROUP
        worst = parts[place]
        beside = "0" if worst.fresh is None else _of(observed(worst.fresh))
        return (
            f"Hit hardest: {self.outliers} with {worst.words(self.outliers)}. "
            f"{worst.recovered:,} of {worst.total:,} come back, and {beside} of those never seen."
        )

    def limits_together(self, case: StudyJudgement) -> str:
        result = case.result
        return (
            f"{result.claims} limits hold together at level {result.confidence:g}, each at "
            f"{result.claim_confidence:.6g} (Bonferroni)."
        )

    def shares_figure(
        self,
        title: str,
        description: str,
        caption: str,
        name: str,
        groups: Sequence[GroupT],
        columns: Mapping[str, Callable[[GroupT], Cell]],
    ) -> Figure:
        """Draw for each group a dot and, for fresh ones, an open square, over the table.

        columns: The first one labels the groups.
        """
        unit, label = self.unit, next(iter(columns.values()))
        rows = [
            Row(str(label(group)), group.fresh and group.fresh.value, Range(group.share))
            for group in groups
        ]
        draw = dots(rows, without=f"fresh {unit}, by the same rule", with_it=f"{unit} trained on")
        shares = ("From ", "By shadow")
        grid = table(
            caption,
            groups,
            columns,
            graded=["not assessed" if group.fresh is None else "sampled" for group in groups],
            percent=("Share", "Never seen", *(c for c in columns if c.startswith(shares))),
        )
        return Figure(title, description, draw, grid, (7.2, 1.3 + 0.45 * len(groups)), name)


NOTHING = Quantity(value=None, grade="not assessed")
"""A gain that is not known."""


def _gain(group: CountedGroup) -> float:
    """Return the gain of a group, below every other one where it is not known."""
    return -1.0 if group.gain.value is None else group.gain.value


def _of(counted: tuple[int, int] | None) -> str:
    return "an unknown part" if counted is None else f"{counted[0]:,} of {counted[1]:,}"


def most_gain(case: StudyJudgement) -> float | None:
    """Return the gain that is accepted; None where that is not asked."""
    limit = case.each[0].at_most
    return None if limit is None or limit >= 1 else limit
