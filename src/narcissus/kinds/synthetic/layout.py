"""Lay out the report on a synthetic file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headings, Layout
from narcissus.kinds.synthetic.decisions import (
    copies_of,
    grade_of,
    verdict_of,
)
from narcissus.kinds.synthetic.measures import measured_section
from narcissus.kinds.synthetic.result import SyntheticResult
from narcissus.kinds.synthetic.screen import declared, glance_of
from narcissus.kinds.synthetic.sections import (
    describe_copies,
    describe_groups,
    describe_method,
    describe_people,
    describe_risk,
)
from narcissus.kinds.synthetic.verdict import verdict_text
from narcissus.report.about import Answered, RealFigure, Subject
from narcissus.report.first_screen import Glance, holds_if
from narcissus.report.format import number, percent
from narcissus.report.gives_away import VERDICT, groups_of_people
from narcissus.report.page import Section
from narcissus.results import Grade, NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record
from narcissus.synthetic.assessment import RISKS
from narcissus.synthetic.copies import COPIES


class SyntheticLayout(Layout):
    not_covered = (
        "The mechanism: this is about one file. A mechanism may reveal everybody in some files and "
        "nobody in this one. So one file never shows that a mechanism is safe, however many people "
        "it has.",
        "Other attackers: one who knows more, tries other attacks, or holds other files.",
        "What the file teaches about everybody, in the data or not. It is reported next to the "
        "guess without the release, and counts as no excess.",
        "Groups that the control has nobody of, and households that are on both sides.",
    )

    headings: ClassVar[Headings] = {
        ("attack", "copied"): "People whose record appears in the file",
        ("attack", "risk"): "{name}, in the data",
        ("excess", "excess"): "{name}, beyond the control",
        ("guess", "guess"): "{name}, by the best guess without the file",
        ("measure", "count"): "{name}",
    }

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "A given synthetic file"

    def subtitle(self, case: StudyJudgement) -> str:
        return "Are people in the data hit more often than people who are not?"

    def verdict(self, case: StudyJudgement) -> str:
        """Describe the verdict in a short paragraph; it never says that a risk is met."""
        condition = holds_if(case.status, declared(case.result))
        return f"{verdict_text(case)} {condition}".rstrip()

    def assessed(self, case: StudyJudgement) -> list[str]:
        lines = [f"{risk.name}, by {len(risk.tried)} attacks" for risk in case.result.risks]
        return ["what appears in the file, row by row", *lines]

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        result: SyntheticResult = case.result
        is_shared = result.copies.is_shared
        if result.unlike is None:
            yield NotAssessed(
                "what is due to the release beyond copies",
                "there is no control, and the file was made from the people of the real data",
                "set people aside at random before the file is made, and give them as the control",
            )
        elif result.copies.refutes_control:
            yield NotAssessed(
                "what is due to the release beyond copies",
                f"people of the control appear in the {'data' if is_shared else 'file'}, so the "
                "control is none",
                "take people whose records nothing was made from",
            )
        elif result.unlike.is_shown:
            yield NotAssessed(
                "what is due to the release",
                "the control differs from the real data in more than chance allows",
                "take the control at random from the people that the data were taken from; "
                "where people or households have several rows, name their column as the `unit`",
            )
        yield from [
            NotAssessed(
                f"an excess of {risk.name}",
                "with so few people not even a hit on everybody would have shown it",
                "give more people on both sides",
            )
            for risk in result.risks
            for excess in [risk.everybody.excess]
            if excess is not None and excess.detectable is None
        ]
        absent = {group.group for group in result.groups if group.control is None}
        if absent and result.unlike is not None:
            yield NotAssessed(
                f"the excess in {', '.join(sorted(absent))}",
                "nobody of them was scored in the control",
                "give more people of these groups in the control",
            )

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any]:
        """Return the verdict on each risk."""
        verdicts = {risk.name: verdict_of(case, risk) for risk in case.result.risks}
        if (copied := copies_of(case)) is not None:
            verdicts[COPIES] = copied.status
        return {"verdict": "" if row.at["group"] else verdicts.get(row.name, "")}

    def glance(self, case: StudyJudgement) -> Glance:
        return glance_of(case)

    def deciding(self, case: StudyJudgement) -> list[StudyRow]:
        """Return the rows about everybody, those of the risk that decided first."""
        row = case.decided_by
        rows = case.findings.select({"group": ""})
        return sorted(rows, key=lambda each: row is None or each.name != row.name)

    def grade(self, case: StudyJudgement, row: StudyRow) -> Grade:
        """Return no grade for a share that nothing is compared with."""
        if row.of != "risk":
            return row.quantity.grade
        return grade_of(case, next(risk for risk in case.result.risks if risk.name == row.name))

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: SyntheticResult = case.result
        groups = list(describe_groups(result))
        return [
            Section("Who was asked about", [describe_people(record, result)]),
            Section("What appears in the file", list(describe_copies(result))),
            *(
                Section(name[0].upper() + name[1:], list(describe_risk(case, name, record.grade)))
                for name in RISKS
            ),
            *([Section("Groups", groups)] if groups else []),
            *measured_section(result.measures),
            Section("Method", [describe_method(result)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        files = case.result.files
        return Subject(
            f"A synthetic file of {number(files.synthetic)} rows, made from data about "
            f"{number(files.real_people or files.real)} people.",
            bool(case.result.groups),
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        """Return each risk: of several secrets the one with the largest excess."""
        replies: dict[str, Answered] = {}
        result: SyntheticResult = case.result
        for risk in sorted(result.risks, key=lambda risk: risk.everybody.low):  # the worst is last
            real, control = risk.everybody.real, risk.everybody.control
            text = f"{risk.name}: {percent(real.value)} of people in the data"
            question = risk.risk.removesuffix(" by a value")
            if control is None:
                replies[question] = Answered(f"{text}, and no control", "not assessed")
                continue
            text += f", {percent(control.value)} of others: {verdict_of(case, risk)}"
            replies[question] = Answered(text, grade_of(case, risk))
        return replies

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        result: SyntheticResult = case.result
        files = result.files
        counted = ("criteria*", "result.risks*", "result.cl*", "result.group_confidence")
        real_figures = [
            RealFigure(
                "Shares, excesses, limits and the verdict",
                f"Counts over {files.real_scored:,} people of the data and "
                f"{files.control_scored:,} of the control. A reader who knows of all but one "
                "whether they were hit learns it of the last.",
                (*VERDICT, *counted),
            ),
            RealFigure("Numbers of rows", "All files, exact.", ("result.files*",)),
            RealFigure(
                "What appears in the file", "Exact counts.", ("result.cop*", "result.counts*")
            ),
            RealFigure(
                "Names of columns and values", "As the files have them.", ("assessed*", "title")
            ),
        ]
        if result.measures:
            how = "Counts and shares over all people of the data, exact."
            real_figures.append(
                RealFigure("Measures of disclosure control", how, ("result.measures*",))
            )
        if result.unlike is not None:
            how = (
                "The column and value that differ most, and their shares in the data and the "
                "control."
            )
            real_figures.append(RealFigure("Data compared with control", how, ("result.unlike*",)))
        if result.groups or result.merged is not None:
            how = f"Names, sizes and shares over real people. {groups_of_people(result.merged)}"
            real_figures.append(RealFigure("Groups", how, ("result.merged*",)))
        return real_figures


LAYOUT = SyntheticLayout()
