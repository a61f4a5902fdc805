"""A copyright case in words and as a page: what comes back with access, without, and by chance."""

from __future__ import annotations

from typing import Any

from narcissus._outwards import upper
from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headline, Layout
from narcissus.report.about import RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import between_points, number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Block, Facts, Grid, Section, Text
from narcissus.report.reach import MORE_OF_100, Reach
from narcissus.results import Grade, NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record
from narcissus_papers.copyright.kind import (
    GAIN,
    INDEPENDENT,
    WITH,
    WITHOUT,
    CopyrightResult,
    Returned,
)


class CopyrightLayout(Layout):
    """The words of a copyright case."""

    not_covered = (
        "Other prompts: a passage that stays away here may come back after another prompt.",
        "Likeness that words do not show: plot, characters, translation, style.",
        "The law: whether the work is protected, and whether a use is allowed.",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "A copyright case"

    def subtitle(self, case: StudyJudgement) -> str:
        return "Does the model give back passages of the work because it had access to it?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        detail: CopyrightResult = case.detail
        return [
            f"{number(detail.with_access.passages)} passages, with access and without: "
            f"{len(detail.without)} of such models",
            f"what comes back by chance, of {number(len(detail.independent))} works by independent "
            "authors",
        ]

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        quantity = _only(case, INDEPENDENT).quantity
        if quantity.high is not None:
            return []
        subject = "how much of a work comes back by chance, at most"
        return [NotAssessed(subject, quantity.why, "more works by independent authors")]

    def glance(self, case: StudyJudgement) -> Glance:
        detail: CopyrightResult = case.detail
        work, chance = detail.with_access, _only(case, INDEPENDENT).quantity
        unlimited = f"How much comes back by chance has no limit yet: {chance.why}."
        if chance.high is not None:
            most_of, level = percent(chance.high, "up"), f"{100 * detail.confidence:g}%"
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
            hardest=f"The longest stretch that comes back has {detail.longest:,} words in a row."
            if work.returned
            else "No passage comes back.",
            unseen="other prompts, likeness beyond words, what the law says of it",
            accepted="{} passages by access",
            view=MORE_OF_100,
            interval="What access adds",
            notes=[] if is_shown else ["No effect of access is shown."],
            about=seeks(
                f"the first {detail.prompt} words of a passage",
                f"the rest of {work.name}",
                detail.model,
            ),
        )

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        detail, level = case.detail, f"{100 * case.detail.confidence:g}%"
        chance, gain = _only(case, INDEPENDENT).quantity, _only(case, GAIN).quantity
        limit = chance.why if chance.high is None else f"at most {percent(chance.high, 'up')}"
        at_least = gain.why
        if gain.low is not None and gain.high is not None:
            at_least = f"{between_points(gain.low, gain.high)} points at level {level}"
        lines: list[Headline] = [
            ("With access", percent(detail.with_access.share), _of(detail.with_access), "counted"),
            *(
                ("Without access", percent(work.share), _of(work), "counted")
                for work in detail.without
            ),
            (
                "Works that no model saw",
                percent(chance.value),
                f"{limit} at level {level}",
                "sampled",
            ),
            ("What access adds", percent(gain.value), at_least, "sampled"),
        ]
        return lines

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        beside = max(work.returned for work in case.detail.without)
        text = f"{_of(case.detail.with_access)} come back with access, {beside:,} without"
        return {"evidence_against": [text] if case.status == "exceeded" else []}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        return [
            Section("What was asked", [_facts(case.detail)]),
            Section("Passages that come back", _counts(case)),
            Section("Passages side by side", _side_by_side(case.detail)),
            Section("How to read this", [_method(case.detail)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        return Subject(f"A model ({case.detail.model}) that had access to a work.")

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


def _of(one: Returned) -> str:
    return f"{one.returned:,} of {one.passages:,} passages"


def _rule(detail: CopyrightResult) -> str:
    edits = ""
    if detail.edits is not None:
        edits = f", or all of them with at most {detail.edits:g} edits a character"
    return f"the model says {detail.words} of the next {detail.window} words in a row{edits}"


def _facts(detail: CopyrightResult) -> Facts:
    access = "as its owner says; it is assumed that the other model never saw the work"
    if detail.trains:
        times = "once" if detail.copies == 1 else f"{detail.copies} times"
        access = f"trained here: one model sees the work {times}, the other never"
    return Facts(
        [
            ("Work", detail.with_access.name),
            ("Model", detail.model),
            ("Access", access),
            ("The attacker knows", f"the first {detail.prompt} words of a passage"),
            ("A passage comes back if", _rule(detail)),
            ("Left out", f"{number(detail.left_out)} passages of words that other texts hold, too"),
        ]
    )


def _counts(case: StudyJudgement) -> list[Block]:
    detail: CopyrightResult = case.detail
    lines = [("the work, with access", detail.with_access)]
    lines += [(f"the work, {work.name}", work) for work in detail.without]
    lines += [(f"{work.name}, which no model saw", work) for work in detail.independent]
    grades: list[Grade] = ["counted" for _ in lines]
    table = Grid(
        "Passages that come back, of each work and from each model",
        ("Work and model", "Passages", "Come back", "Share"),
        [(name, work.passages, work.returned, work.share) for name, work in lines],
        grades,
        ("Share",),
    )
    sentences = [
        f"By the same rule, {detail.unrelated:,} of {detail.with_access.passages:,} continuations "
        "match another passage of the work, which is unrelated.",
        "Had the model not seen the work, it would stand so high among the independent works with "
        f"a chance of at most {upper(detail.chance, 3)}.",
    ]
    return [table, Text(sentences)]


def _side_by_side(detail: CopyrightResult) -> list[Block]:
    if not detail.shown:
        return [Text(["No passage is shown here."])]
    columns = ("Words in a row", "The work", "With access, after its beginning", "Without access")
    return [Grid("The passages that come back in the longest stretches", columns, detail.shown)]


def _method(detail: CopyrightResult) -> Text:
    return Text(
        [
            "The work is cut into passages. Every model is given the beginning of each, and goes "
            "on "
            f"with what it finds likeliest. A passage comes back if {_rule(detail)}; case and "
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
