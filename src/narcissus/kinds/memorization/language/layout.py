"""A language model, in words and as a page: documents recovered and told, canaries, a program."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from narcissus._outwards import upper
from narcissus.kinds.extraction.layout import evidence_sections, quality_glance
from narcissus.kinds.extraction.program import QUALITY, ProgramResult
from narcissus.kinds.layout import Headline, table
from narcissus.kinds.memorization.engine import ABOVE, TOLD, Counted, copies_text
from narcissus.kinds.memorization.language.kind import (
    CANARIES,
    DocumentAttack,
    LanguageDetail,
    beside_shadows,
    program_exceeds,
)
from narcissus.kinds.memorization.layout import (
    CountedLine,
    MemorizationLayout,
    gain_text,
    most_gain,
)
from narcissus.membership.reported import PRECISION
from narcissus.report.first_screen import Glance
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Section, Text
from narcissus.report.roc import limits_of, roc_figure
from narcissus.results import Grade, NotAssessed
from narcissus.rows import StudyJudgement, StudyRow
from narcissus.study.record import Record

ASKED = {
    "generation": "The attacker samples the model without any prompt and keeps the best texts. "
    "They are ranked by how much likelier the model finds them than it ought to (perplexity, zlib, "
    "the lower-cased text, the reference model).",
    "completion": "The attacker knows how a document begins, and lets the model go on.",
    "near-verbatim": "The attacker knows how a document begins, and lets the model go on.",
    "discovery": "The attacker knows how a document begins, and samples the model again and again. "
    "The chances follow exactly from the probabilities that the model gives to tokens.",
}
_HEADS = {
    "extraction": "The program is evidence of extraction",
    "no extraction": "The program is no extraction",
    "inconclusive": "Of the program nothing is shown",
}
Groups = Sequence[Counted]


class LanguageLayout(MemorizationLayout):
    untitled, released = "A language model", "A language model ({0.model})"
    asked = "What does a language model give away of the documents it was trained on?"
    unit = outliers = "documents"
    does = "recovers"
    not_covered = (
        "other attacks: another one may find more, and only a guarantee of the training (DP-SGD) "
        "limits every attacker",
        "documents of another source than those given, and what the model gives away of them",
        "a document that is close to one of another side: it counts as recovered on both",
    )

    def assessed(self, case: StudyJudgement) -> list[str]:
        detail: LanguageDetail = case.detail
        beside = " and of a model trained without them" if detail.has_reference else ""
        lines = [
            f"{attack.name}: documents recovered, beside those of {detail.fresh:,} fresh documents"
            f"{beside}"
            for attack in detail.attacks
        ]
        if scores := case.findings.select(of=ABOVE):
            lines.append(
                f"membership of documents, by {', '.join(attack.name for attack in scores)}"
            )
        if case.findings.select(of=CANARIES):
            lines.append("canaries, beside an exact baseline")
        if detail.program is not None:
            lines.append("a program, with and without the release, against complexity from above")
        return lines

    def left_open(self, study: Any, case: StudyJudgement) -> Iterator[NotAssessed]:
        detail: LanguageDetail = case.detail
        yield from _too_short(study, self.groups(case), detail.trained)
        rows = [row for row in case.findings.select(of=TOLD) if row.quantity.value is None]
        rates = study.membership.false_alarms if study.membership else ()
        for rate, why in {row.at["rate"]: row.quantity.why for row in rows}.items():
            if rate in rates:
                subject = f"documents told at a rate of false alarms of {100 * float(rate):g}%"
                yield NotAssessed(subject, why, "more fresh documents")
        yield from [
            NotAssessed(
                f"the baseline of {name} for documents "
                f"{f'of {group.words(self.unit)}' if group.copies else ''}".rstrip(),
                "no fresh document is like them",
                "more documents",
            )
            for name, groups in self.groups(case).items()
            for group in groups
            if group.fresh is None
        ]
        if not detail.has_reference:
            yield NotAssessed(
                "what a model that was trained without the documents gives away of them",
                "no reference model was given",
                "name one as `model.reference`: the same training without these documents",
            )
        if study.program is None:
            yield NotAssessed(
                "extraction against complexity (Cohen et al. 2024, Definition D.8)",
                "no program was given",
                "name one in [program]",
            )

    def glance(self, case: StudyJudgement) -> Glance:
        program: ProgramResult | None = case.detail.program
        row = case.decided_by
        if program is not None and row is not None and row.of == QUALITY:
            lines = [f"{_HEADS[program.verdict]}."]
            summary = quality_glance(program, undecided="", notes=lines)
            return replace(
                summary, hardest=self._hardest(self.best(case)[1]), about=self.about(case)
            )
        summary = super().glance(case)
        notes = [*summary.notes, *_canaries_said(case)]
        if program is not None:
            notes.append(f"{_HEADS[program.verdict]}.")
        return replace(summary, notes=notes)

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        lines = [
            CountedLine(f"Recovered by {name}", groups[0]).headline(self.unit)
            for name, groups in self.groups(case).items()
        ]
        if scores := case.findings.select(of=ABOVE):
            best = max(scores, key=lambda score: score.quantity.low or 0.0)
            between = limits(best.quantity.low, best.quantity.high)
            text = f"by {best.name}, {between}; 50% is chance"
            value = percent(best.value)
            lines.append(("Scores above a fresh document", value, text, "sampled"))
        for row in case.findings.select(of=CANARIES):
            copies = copies_text(int(row.at["copies"]), None)
            text = f"{row.facts['named']} of {row.facts['canaries']}; a guess names "
            text += f"{percent(row.baseline or 0.0)}, by chance at most {row.facts['by_chance']}"
            lines.append((f"Canaries named, {copies}", percent(row.value), text, "sampled"))
        program: ProgramResult | None = case.detail.program
        if program is not None:
            text = f"{program.verdict}; quality at most {upper(program.quality, 3)}"
            share = percent(program.success.value)
            lines.append(("The program succeeds", share, text, program.verdict_grade))
        return lines

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        limit = most_gain(case)
        against = [
            f"{name}: {gain_text(groups[0].shown_gain)}"
            for name, groups in self.groups(case).items()
            if limit is not None and groups[0].shown_gain > limit
        ]
        if any(program_exceeds(case.detail, judgement.criterion) for judgement in case.each[1:]):
            against.append(_program_words(case))
        # an attack that fails proves nothing: there is no evidence for
        return {"evidence_against": against}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        groups, program = self.groups(case), case.detail.program
        parts = [Section("What is released, and who attacks", [self._facts(record, case)])]
        parts += [
            Section(
                f"Documents recovered by {attack.name}", list(self._attack(case, attack, groups))
            )
            for attack in case.detail.attacks
        ]
        if case.findings.select(of=ABOVE):
            parts.append(Section("Membership", list(_membership(case))))
        if canaries := case.findings.select(of=CANARIES):
            parts.append(Section("Canaries", list(_canaries(canaries))))
        if program is not None:
            parts += evidence_sections(program, "The program: ")
        return [*parts, Section("Method", [self._method(case)])]

    def _facts(self, record: Record, case: StudyJudgement) -> Facts:
        detail: LanguageDetail = case.detail
        divided = (
            "by chance: a third trained on, a third fresh, a third for the reference model"
            if detail.by_chance
            else "as the study says"
        )
        rows = [
            ("Model", detail.model),
            ("Numbers in it", number(detail.parameters)),
            (
                "Trained on",
                f"{number(detail.trained)} different documents, "
                f"{number(detail.trained_copies)} with their copies",
            ),
            ("Fresh documents", f"{number(detail.fresh)}, which no model here has seen"),
            ("Which are which", divided),
            (
                "Reference model",
                "the same training, without the documents"
                if detail.by_chance
                else "given"
                if detail.has_reference
                else "none",
            ),
            ("The attacker has", "the model with all its weights, and fresh documents"),
        ]
        return self.facts(rows, record, case)

    def _attack(
        self, case: StudyJudgement, one: DocumentAttack, found: dict[str, list[Counted]]
    ) -> Iterator[Block]:
        groups = found[one.name]
        sentences = [f"{ASKED[one.name.partition(' ')[0]]} A document counts if {one.rule}."]
        if one.unrelated is not None:
            sentences.append(
                f"By the same rule, {one.unrelated:,} of {groups[0].total:,} continuations are "
                "near the text of another document, which is unrelated."
            )
        yield Text(sentences)
        yield self._picture(case, one, groups)
        if one.ranked:
            yield Grid(
                "The best texts by each score that hold a rare stretch of a document",
                ("Score", "Texts", "Of one trained on", "Of a fresh one"),
                [(r.score, r.texts, r.trained, r.fresh) for r in one.ranked],
            )

    def _picture(self, case: StudyJudgement, one: DocumentAttack, groups: Groups) -> Figure:
        shadows = ("From shadow models", "Their limits", "Share with as many")
        whole = groups[0]
        beside = "" if whole.fresh is None else f", {percent(whole.fresh.value)} of fresh ones"
        lines = [
            CountedLine(
                group.words(self.unit),
                group,
                (group.of("reference"),),
                [
                    f"{group.count.facts['chance']:.2g}" if group.fresh else MISSING,
                    *(_of_shadows(one.shadows[place], group, case) if one.shadows else []),
                ],
            )
            for place, group in enumerate(groups)
        ]
        return self.shares_figure(
            f"{one.name} recovers {percent(whole.share)} of documents{beside}",
            "For all documents, and for those with as many copies in the training text: a dot for "
            "the share recovered, an open square for that of documents the model never saw.",
            "Documents recovered, by copies in the training text",
            (
                "Documents",
                "Trained on",
                "Recovered",
                "Share",
                "Never seen",
                "Limits",
                "From the reference model",
                "Its limits",
                "Gain, points",
                "By chance",
                *(shadows if one.shadows else ()),
            ),
            lines,
            one.name,
        )

    def _method(self, case: StudyJudgement) -> Text:
        return Text(
            [
                "How many documents are recovered is a count for this model and what the attack "
                "printed. What it would recover anyway is sampled: fresh documents are independent "
                "of the model, so that limits of their share hold (Clopper and Pearson), however "
                "documents trained on depend on each other through the model. The gain is the "
                "first less the second; its limits hold for other documents trained on, too, as "
                "independent of each other as fresh ones. A stretch counts by how many documents "
                "of all sides hold it, so that the rule is the same for all of them; copies of a "
                "document count as one.",
                "Limits of a ROC curve hold at all thresholds at once, by exact chances that order "
                "statistics cross them, and the area under it is a mean over pairs, whose "
                "limits let both sides vary.",
                f"{self.limits_together(case)} Chances (p-values) are given one by one, as they "
                "are.",
            ]
        )


LAYOUT = LanguageLayout()


def _canaries_said(case: StudyJudgement) -> list[str]:
    """Say of planted canaries how many were named: of those that stand most often."""
    rows = case.findings.select(of=CANARIES)
    if not rows:
        return []
    row = max(rows, key=lambda one: (one.value, float(one.at["copies"])))
    copies = copies_text(int(row.at["copies"]), None)
    named, canaries = row.facts["named"], row.facts["canaries"]
    return [
        f"Of canaries with {copies}, {named} of {canaries} were named; a guess names "
        f"{percent(row.baseline or 0.0)}."
    ]


def _program_words(case: StudyJudgement) -> str:
    """Describe the outcome of the program, and what was accepted; '' where there is none."""
    program = case.detail.program
    if program is None:
        return ""
    quality = f"its quality is at most {upper(program.quality, 3)}"
    for judgement in case.each[1:]:
        quality += f", {judgement.at_most:g} is accepted"
    outcome = f"{_HEADS[program.verdict]}: {program.reasons[0]}"
    return f"{outcome}; {quality}." if program.verdict == "extraction" else f"{outcome}."


def _too_short(study: Any, groups: dict[str, list[Counted]], trained: int) -> Iterator[NotAssessed]:
    """Yield how many documents trained on are too short to be gone on with."""
    for attack, section in (("completion", study.completion), ("discovery", study.discovery)):
        if not section:
            continue
        known, option, unit = f"{section.prompt} tokens", "prompt", "characters"
        if attack == "discovery":
            unit = "tokens"
        elif section.prefix is not None:
            known, option = f"{section.prefix} characters", "prefix"
        counts = next((counts for name, counts in groups.items() if name.startswith(attack)), None)
        if short := trained - (counts[0].total if counts else 0):
            yield NotAssessed(
                f"{attack} of {short:,} of {trained:,} documents trained on",
                f"they have no {section.window} {unit} after their first {known}",
                f"a smaller `{option}` or `window` in [{attack}]",
            )


def _of_shadows(counts: Sequence[int], group: Counted, case: StudyJudgement) -> list[Cell]:
    level = case.detail.claim_confidence
    mean, as_many = beside_shadows(counts, group.recovered, group.total, level)
    return [mean.value, limits(mean.low, mean.high), limits(as_many.low, as_many.high)]


def _membership(case: StudyJudgement) -> Iterator[Block]:
    yield Text(
        [
            "Was this document in the training text? How many fresh documents are above a "
            "threshold is limited at all thresholds at once, and so is the share of documents "
            "trained on that are above it."
        ]
    )
    scores = case.findings.select(of=ABOVE)
    columns: dict[str, Any] = {
        "Score": "name",
        "Above a fresh one": "value",
        "Limits": lambda row: limits_of(row.quantity),
    }
    yield table(
        "How far each score tells documents trained on from fresh ones; 50% above is chance",
        scores,
        columns,
        percent=("Above a fresh one",),
    )
    rows = [row for row in case.findings.rows if row.of in (TOLD, PRECISION)]
    best = max(scores, key=lambda row: row.value)
    title = f"{best.name} tells documents trained on best"
    yield roc_figure(title, case.detail.curves, rows, key="rate")


def _canaries(found: Sequence[StudyRow]) -> Iterator[Block]:
    yield Text(
        [
            "Secrets drawn at random were planted in the training text. A model that never saw one "
            "finds every secret alike, so what it names is known exactly."
        ]
    )
    rows: list[list[Cell]] = [
        [
            row.at["copies"],
            row.facts["canaries"],
            row.facts["named"],
            f"1 of {number(float(row.facts['alternatives']) + 1)}",
            row.facts["by_chance"],
            f"{row.facts['chance']:.2g}",
            row.facts["completed"],
            f"{row.facts['exposure']:.1f} of {math.log2(float(row.facts['alternatives']) + 1):.1f}",
        ]
        for row in found
    ]
    grades: list[Grade] = ["sampled" for _ in rows]
    yield Grid(
        "Canaries by copies: whose secret is likelier than all others it was compared with, and "
        "whose secret the model prints",
        (
            "Copies",
            "Canaries",
            "Named",
            "Guess",
            "By chance at most",
            "Chance of as many",
            "Printed",
            "Exposure, bits",
        ),
        rows,
        grades=grades,
    )
