"""Audits of a table in words and as a page: what is recovered at each setting, and its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headings, Layout
from narcissus.kinds.table.found import (
    IN_FRAME,
    TableBound,
    TableResult,
)
from narcissus.kinds.table.judgement import of_table
from narcissus.kinds.table.pictures import curves_picture
from narcissus.kinds.table.sections import (
    describe_groups,
    describe_method,
    describe_own,
    describe_results,
    describe_threat,
)
from narcissus.kinds.table.words import (
    best_name,
    every_attacker,
    glance,
    label_of,
    name_release,
    unresolved,
)
from narcissus.report.about import Answered, RealFigure, Subject
from narcissus.report.first_screen import Glance
from narcissus.report.format import number, percent
from narcissus.report.gives_away import FOUND, VERDICT, groups_of_people
from narcissus.report.page import Figure, Section
from narcissus.results import Grade, NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.plugins import GIVEN
from narcissus.study.record import Record

NOT_COVERED = (
    "Columns that the attacker is assumed not to know but might learn elsewhere: the threat model "
    "names what is known.",
    "Anything published besides this release: other tables, earlier or later releases of the same "
    "people.",
    "Attackers who know more about the joint distribution than the prior says.",
    "People whose secrets depend on each other given the known columns: families, copied records.",
    "How the bins and the columns were chosen, if that choice looked at the data.",
    "The computer that makes the release: floating-point and timing side channels.",
)


class TableLayout(Layout):
    not_covered = NOT_COVERED
    headings: ClassVar[Headings] = {
        ("guess", "guess"): "Guessed right without the release",
        ("attack", "attack"): "Recovered with it by the attack {name}",
        ("attack", "ceiling"): "Ceiling, for any attacker",
        ("bound", "bound"): "No attacker recovers more on average",
        ("bound", "bound on targets"): "No attacker recovers more in one release",
    }
    columns = ("setting", "epsilon", "mu", "scale", "by", "group", "trials")

    def title(self, study: Any, case: StudyJudgement) -> str:
        result: TableResult = case.result
        named = study.title or f"{result.settings[0].released} of {_source(study)}"
        return f"{named} (quick look)" if study.run.quick else named

    def assessed(self, case: StudyJudgement) -> list[str]:
        return []

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        return [*unresolved(of_table(case).each)]

    def glance(self, case: StudyJudgement) -> Glance:
        return glance(of_table(case))

    def lead(self, case: StudyJudgement) -> Figure | None:
        settings = of_table(case).each
        return curves_picture(settings) if len(settings) > 1 else None

    def where(self, case: StudyJudgement) -> str:
        return f": {of_table(case).worst.label}"

    def threshold(self, record: Record, case: StudyJudgement) -> Mapping[str, Any]:
        threshold = of_table(case).each[0].threshold
        return {} if threshold is None else vars(threshold)

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        bound = row.about if isinstance(row.about, TableBound) else None
        if row.of not in IN_FRAME or row.quantity.grade == "not assessed":
            return None
        if bound is not None and bound.for_comparison:
            return None
        settings = of_table(case).each
        setting = next(setting for setting in settings if setting.label == row.at["setting"])
        result, exact = setting.result, setting.result.noiseless
        levels = {"epsilon": result.epsilon, "mu": result.mu}
        noise = {
            **{name: math.inf if exact else level for name, level in levels.items()},
            "scale": None if result.noise is None else result.noise.scale,
            "trials": None,
        }
        if bound is not None:
            return {**noise, "grade": setting.grade_of(bound)}
        return {**noise, "confidence": result.confidence}

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        settings, setting = of_table(case).each, of_table(case).worst
        result = setting.result
        release = result.released
        if result.noise is not None or not release:
            exact = "exact" if setting.result.noiseless else "noisy"
            release = f"{number(result.marginals)} {exact} tables of counts ({label_of(setting)})"
        threat = record.study.get("threat") or {}
        secret = ", ".join(threat.get("unknown") or []) or "all that is not known"
        text = f"{release}, about {number(result.people)} people. The attacker is after: {secret}."
        if len(settings) > 1:
            text += f" {len(settings)} levels of protection were compared."
        groups = bool(setting.result.groups or result.merged)
        return Subject(text, groups, every_attacker(setting))

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        setting = of_table(case).worst
        replies: dict[str, Answered] = {}
        if (best := setting.result.best_attack) is not None:
            who = best_name(setting).removeprefix("the best attack")
            text = f"{percent(best.share)} recovered{who and ' by '}{who}, "
            text += f"{percent(setting.result.guess.share)} guessed without"
            replies["inference"] = Answered(f"{text} ({setting.label})", "sampled")
        for bound in (setting.result.share_bound, setting.result.count_bound):
            if bound is not None and bound.guarantee:
                grade = None if setting.result.is_declared else setting.grade_of(bound)
                replies["parameters"] = Answered(f"{bound.guarantee}, as described", grade)
                replies["unit"] = Answered(
                    "one row, replaced by another, taken for one person", None
                )
        return replies

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        threat, prior = record.study["threat"], record.study["prior"]
        first, own = of_table(case).each[0].result, case.result.own_release
        name = str(prior.get("name") or prior.get("kind") or "the prior")
        copies = " It is the rows themselves, so that people drawn are copies of them."
        how = f"{name}, made from the rows: every guess, limit and comparison depends on it."
        of_groups = "Names and shares over people drawn from the prior."
        if is_real := threat["people"] != "prior":
            of_groups = f"Names and shares over real people. {groups_of_people(first.merged)}"
        scored = (
            "Over people drawn from the prior: they depend on real rows through the prior alone."
        )
        subject = (
            "Shares, limits and the verdict"
            if is_real
            else "Shares, limits, bounds and the verdict"
        )
        have_groups = any(s.result.groups or s.result.merged for s in of_table(case).each)
        real_figures = [
            RealFigure("The prior", f"{how}{copies * (name == 'empirical')}", ()),
            RealFigure(
                subject, _scored(record, first.people) if is_real else scored, (*VERDICT, *FOUND)
            ),
            RealFigure(
                "Names and numbers of values, bins, cells",
                "As the rows have them; bins by quantiles or common values are made from the rows.",
                ("assessed*", "title"),
            ),
        ]
        if threat["people"] == "all":
            how = f"All rows of the table: {first.people:,}."
            real_figures.append(RealFigure("The number of people", how, ()))
        if first.held_out:
            how = "Scored on rows that the prior was not fitted to."
            real_figures.append(RealFigure("Guesses by other priors", how, ()))
        if have_groups:
            real_figures.append(RealFigure("Groups", of_groups, ()))
        if own is not None:
            how = (
                f"Counts over all {own.people:,} people of the data, exact: a reader who knows of "
                "all but one whether they were recovered learns it of the last."
            )
            name = "What is recovered from the release that was made"
            real_figures.append(RealFigure(name, how, ()))
        return real_figures

    def subtitle(self, case: StudyJudgement) -> str:
        settings, setting = of_table(case).each, of_table(case).worst
        people = number(setting.result.people)
        return f"{people} people in a release, {name_release(settings, setting)}"

    def deciding(self, case: StudyJudgement) -> Iterator[StudyRow]:
        """Yield the guess, the best attack, the ceiling and the bounds where it was decided."""
        result = of_table(case).worst.result
        parts = result.guess, result.best_attack, result.ceiling
        parts = (*parts, result.share_bound, result.count_bound)
        for row in result.rows():
            if row.about is not None and any(row.about is part for part in parts):
                yield row

    def grade(self, case: StudyJudgement, row: StudyRow) -> Grade:
        if isinstance(row.about, TableBound):
            return of_table(case).worst.grade_of(row.about)
        is_estimated = row.of == "ceiling" and of_table(case).worst.result.is_ceiling_estimated
        return "approximate" if is_estimated else row.quantity.grade

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        settings, setting = of_table(case).each, of_table(case).worst
        for level in settings:
            level.check()
        parts = [
            describe_threat(record, setting),
            describe_results(settings, setting),
            describe_groups(setting, is_sweep=len(settings) > 1),
            describe_own(case.result.own_release, in_part=setting.result.share_of_columns),
            describe_method(record, settings, setting),
        ]
        return [part for part in parts if part is not None]


LAYOUT = TableLayout()


def _source(study: Any) -> str:
    if study.data.table is not None and study.data.table.startswith(GIVEN):
        return "a data frame"
    return study.data.table or Path(str(study.data.path)).name


def _scored(record: Record, people: int) -> str:
    how = "whatever the guarantee of the release."
    if record.study["threat"]["people"] != "all":
        return f"Scored on real rows that are drawn, {how}"
    few = " These are so few that the shares are about each of them: do not show this page."
    return (
        f"Scored on all {people:,} people of the table, {how} The guess, and attacks without "
        "chance, are exact counts: a reader who knows of all but one of them whether they were "
        f"hit learns it of the last.{few * (people < 10)}"
    )
