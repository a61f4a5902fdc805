"""A copyright case in words and as a page: what comes back with access, without, and by chance."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, ClassVar

from narcissus._outwards import upper
from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headings, Layout, numbers_table, table
from narcissus.report.about import RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Block, Facts, Section, Text
from narcissus.report.reach import MORE_OF_100, Reach
from narcissus.results import NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record
from narcissus_papers.copyright.kind import (
    GAIN,
    INDEPENDENT,
    WITH,
    WITHOUT,
    CopyrightResult,
)


class CopyrightLayout(Layout):
    """The words of a copyright case."""

    not_covered = (
        "Other prompts: a passage that stays away here may come back after another prompt.",
        "Likeness that words do not show: plot, characters, translation, style.",
        "The law: whether the work is protected, and whether a use is allowed.",
    )

    headings: ClassVar[Headings] = {
        ("attack", WITH): "With access",
        ("fresh", WITHOUT): "Without access, {name}",
        ("fresh", INDEPENDENT): "Works that no model saw",
        ("excess", GAIN): "What access adds",
    }

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "A copyright case"

    def subtitle(self, case: StudyJudgement) -> str:
        return "Does the model give back passages of the work because it had access to it?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        result: CopyrightResult = case.result
        return [
            f"{number(result.with_access.passages)} passages, with access and without: "
            f"{len(result.without)} of such models",
            f"what comes back by chance, of {number(len(result.independent))} works by independent "
            "authors",
        ]

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        quantity = _only(case, INDEPENDENT).quantity
        if quantity.high is not None:
            return []
        subject = "how much of a work comes back by chance, at most"
        return [NotAssessed(subject, quantity.why, "more works by independent authors")]

    def glance(self, case: StudyJudgement) -> Glance:
        result: CopyrightResult = case.result
        work, chance = result.with_access, _only(case, INDEPENDENT).quantity
        unlimited = f"How much comes back by chance has no limit yet: {chance.why}."
        if chance.high is not None:
            most_of, level = percent(chance.high, "up"), f"{100 * result.confidence:g}%"
            unlimited = f"By chance at most {most_of} of a work come back, with {level} confidence."
        gain = _only(case, GAIN).quantity
        is_shown = gain.low is not None and gain.low > 0
        return Glance(
            unit="passages",
            without=Reach.of(
                "Without access, {} passages of the work come back.", _only(case, WITHOUT)
            ),
            with_it=Reach.of("With access, {} passages come back.", _only(case, WITH)),
            most=None,
            unlimited=unlimited,
            hardest=f"The longest stretch that comes back has {result.longest:,} words in a row."
            if work.returned
            else "No passage comes back.",
            unseen="other prompts, likeness beyond words, what the law says of it",
            accepted="{} passages by access",
            view=MORE_OF_100,
            interval="What access adds",
            notes=[] if is_shown else ["No effect of access is shown."],
            about=seeks(
                f"the first {result.prompt} words of a passage",
                f"the rest of {work.name}",
                result.model,
            ),
        )

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        return [
            Section("What was asked", [_facts(case.result)]),
            Section("Passages that come back", _counts(case)),
            Section("Passages side by side", _side_by_side(case.result)),
            Section("How to read this", [_method(case.result)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        return Subject(f"A model ({case.result.model}) that had access to a work.")

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        how = "Counts over passages of the work, and some of the passages."
        return [
            RealFigure(
                "Shares, limits, passages and the verdict",
                how,
                (*VERDICT, "assessed*", "title", *FOUND),
            )
        ]


LAYOUT = CopyrightLayout()


def _only(case: StudyJudgement, of: str) -> StudyRow:
    """Return the row of a measure; of several the largest."""
    return max(case.findings.select(of=of), key=lambda row: row.value)


def _rule(result: CopyrightResult) -> str:
    edits = ""
    if result.edits is not None:
        edits = f", or all of them with at most {result.edits:g} edits a character"
    return f"the model says {result.words} of the next {result.window} words in a row{edits}"


def _facts(result: CopyrightResult) -> Facts:
    access = "as its owner says; it is assumed that the other model never saw the work"
    if result.trains:
        times = "once" if result.copies == 1 else f"{result.copies} times"
        access = f"trained here: one model sees the work {times}, the other never"
    return Facts(
        [
            ("Work", result.with_access.name),
            ("Model", result.model),
            ("Access", access),
            ("The attacker knows", f"the first {result.prompt} words of a passage"),
            ("A passage comes back if", _rule(result)),
            ("Left out", f"{number(result.left_out)} passages of words that other texts hold, too"),
        ]
    )


def _counts(case: StudyJudgement) -> list[Block]:
    result: CopyrightResult = case.result
    lines = [("the work, with access", result.with_access)]
    lines += [(f"the work, {work.name}", work) for work in result.without]
    lines += [(f"{work.name}, which no model saw", work) for work in result.independent]
    counts = table(
        "Passages that come back, of each work and from each model",
        lines,
        {
            "Work and model": lambda line: line[0],
            "Passages": lambda line: line[1].passages,
            "Come back": lambda line: line[1].returned,
            "Share": lambda line: line[1].share,
        },
        graded="counted",
        percent=("Share",),
    )
    access = numbers_table(
        f"What access adds, and what comes back by chance, at level {100 * result.confidence:g}%",
        [_only(case, GAIN), _only(case, INDEPENDENT)],
        CopyrightLayout.headings,
    )
    sentences = [
        f"By the same rule, {result.unrelated:,} of {result.with_access.passages:,} continuations "
        "match another passage of the work, which is unrelated.",
        "Had the model not seen the work, it would rank so high among the independent works with "
        f"a chance of at most {upper(result.chance, 3)}.",
    ]
    return [counts, access, Text(sentences)]


def _side_by_side(result: CopyrightResult) -> list[Block]:
    if not result.shown:
        return [Text(["No passage is shown here."])]
    columns = ("Words in a row", "The work", "With access, after its beginning", "Without access")
    return [
        table(
            "The passages that come back in the longest stretches",
            result.shown,
            {column: itemgetter(place) for place, column in enumerate(columns)},
            graded=False,
        )
    ]


def _method(result: CopyrightResult) -> Text:
    return Text(
        [
            "The work is cut into passages. Every model is given the beginning of each, and goes "
            "on "
            f"with what it finds likeliest. A passage comes back if {_rule(result)}; case and "
            "punctuation do not count. Words in a row that another text here holds, too, count for "
            "nobody: a common phrase shows no access.",
            "What comes back with access and without is counted: it is a fact about these models. "
            "By "
            "chance, a further work that no model saw has a larger share than the limit with a "
            "chance "
            "below 1 - level: each independent work is one trial, however long it is, and however "
            "works differ from each other (Wilks 1941).",
            "What access adds is the share with access, less the larger of the share without and "
            "that "
            "limit. If the model had no access, this report would show an effect of it with a "
            "chance "
            "below 1 - level (Cohen et al. 2024, Definition 1.6). It says nothing about the law.",
        ]
    )
