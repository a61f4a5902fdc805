"""A language model, in words and as a page: documents recovered and told, canaries, a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from narcissus._outwards import upper
from narcissus.kinds.extraction.layout import evidence_sections, quality_glance
from narcissus.kinds.extraction.program import QUALITY
from narcissus.kinds.layout import Headline, table
from narcissus.kinds.memorization.engine import ABOVE, TOLD, copies_text
from narcissus.kinds.memorization.language.kind import (
    CanaryGroup,
    DocumentAttack,
    DocumentGroup,
    LanguageResult,
    program_exceeds,
)
from narcissus.kinds.memorization.layout import (
    MemorizationLayout,
    between,
    count_columns,
    gain_cell,
    gain_text,
    headline,
    most_gain,
    value_of,
)
from narcissus.membership.reported import PRECISION
from narcissus.report.first_screen import Glance
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Cell, Facts, Figure, Section, Text
from narcissus.report.roc import limits_of, roc_figure
from narcissus.results import NotAssessed
from narcissus.rows import StudyJudgement
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
        detail: LanguageResult = case.detail
        beside = " and of a model trained without them" if detail.has_reference else ""
        lines = [
            f"{attack.name}: documents recovered, beside those of {detail.fresh:,} fresh documents"
            f"{beside}"
            for attack in detail.attacks
        ]
        if detail.scores:
            names = ", ".join(score.name for score in detail.scores)
            lines.append(f"membership of documents, by {names}")
        if detail.canaries:
            lines.append("canaries, beside an exact baseline")
        if detail.program is not None:
            lines.append("a program, with and without the release, against complexity from above")
        return lines

    def left_open(self, study: Any, case: StudyJudgement) -> Iterator[NotAssessed]:
        detail: LanguageResult = case.detail
        yield from _too_short(study, detail)
        told = (rate for score in detail.scores for rate in score.rates)
        unseen = {rate.rate: rate.told.why for rate in told if rate.told.value is None}
        asked = study.membership.false_alarms if study.membership else ()
        for rate, why in unseen.items():
            if rate in asked:
                subject = f"documents told at a rate of false alarms of {100 * rate:g}%"
                yield NotAssessed(subject, why, "more fresh documents")
        for name, groups in detail.groups_by_attack.items():
            for group in groups:
                if group.fresh is None:
                    of = "" if group.is_whole else f" of {group.words(self.unit)}"
                    subject = f"the baseline of {name} for documents{of}"
                    yield NotAssessed(subject, "no fresh document is like them", "more documents")
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
        detail: LanguageResult = case.detail
        program, row = detail.program, case.decided_by
        if program is not None and row is not None and row.of == QUALITY:
            lines = [f"{_HEADS[program.verdict]}."]
            summary = quality_glance(program, undecided="", notes=lines)
            hardest = self.hardest(self.best(detail)[1])
            return replace(summary, hardest=hardest, about=self.about(case))
        summary = super().glance(case)
        notes = [*summary.notes, *_canaries_named(detail.canaries)]
        if program is not None:
            notes.append(f"{_HEADS[program.verdict]}.")
        return replace(summary, notes=notes)

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        detail: LanguageResult = case.detail
        lines = [
            headline(f"Recovered by {attack.name}", attack.groups[0], self.unit)
            for attack in detail.attacks
        ]
        if scores := case.findings.select(of=ABOVE):  # limits that are void are not there
            best = max(scores, key=lambda row: row.quantity.low or 0.0)
            text = f"by {best.name}, {between(best.quantity)}; 50% is chance"
            lines.append(("Scores above a fresh document", percent(best.value), text, "sampled"))
        for group in detail.canaries:
            text = f"{group.named} of {group.canaries}; a guess names "
            text += f"{percent(group.guess)}, by chance at most {group.by_chance}"
            label = f"Canaries named, {copies_text([group.copies])}"
            lines.append((label, percent(group.share.value), text, "sampled"))
        if (program := detail.program) is not None:
            text = f"{program.verdict}; quality at most {upper(program.quality, 3)}"
            share = percent(program.success.value)
            lines.append(("The program succeeds", share, text, program.verdict_grade))
        return lines

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        limit = most_gain(case)
        against = [
            f"{name}: {gain_text(groups[0].shown_gain)}"
            for name, groups in case.detail.groups_by_attack.items()
            if limit is not None and groups[0].shown_gain > limit
        ]
        if any(program_exceeds(case.detail, judgement.criterion) for judgement in case.each[1:]):
            against.append(_program_words(case))
        # an attack that fails proves nothing: there is no evidence for
        return {"evidence_against": against}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        detail: LanguageResult = case.detail
        program = detail.program
        parts = [Section("What is released, and who attacks", [self._facts(record, case)])]
        parts += [
            Section(f"Documents recovered by {attack.name}", list(self._attack(attack, detail)))
            for attack in detail.attacks
        ]
        if detail.scores:
            parts.append(Section("Membership", list(_membership(case))))
        if detail.canaries:
            parts.append(Section("Canaries", list(_canaries(detail.canaries))))
        if program is not None:
            parts += evidence_sections(program, "The program: ")
        return [*parts, Section("Method", [self._method(case)])]

    def _facts(self, record: Record, case: StudyJudgement) -> Facts:
        detail: LanguageResult = case.detail
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

    def _attack(self, attack: DocumentAttack, detail: LanguageResult) -> Iterator[Block]:
        sentences = [f"{ASKED[attack.name.partition(' ')[0]]} A document counts if {attack.rule}."]
        if attack.unrelated is not None:
            sentences.append(
                f"By the same rule, {attack.unrelated:,} of {attack.groups[0].total:,} "
                "continuations are near the text of another document, which is unrelated."
            )
        yield Text(sentences)
        yield self._picture(attack, detail)
        if attack.ranked:
            yield table(
                "The best texts by each score that hold a rare stretch of a document",
                attack.ranked,
                {
                    "Score": "score",
                    "Texts": "texts",
                    "Of one trained on": "trained",
                    "Of a fresh one": "fresh",
                },
                graded=False,
            )

    def _picture(self, attack: DocumentAttack, detail: LanguageResult) -> Figure:
        whole, level = attack.groups[0], detail.claim_confidence
        beside = "" if whole.fresh is None else f", {percent(whole.fresh.value)} of fresh ones"
        columns: dict[str, Callable[[DocumentGroup], Cell]] = {
            "Documents": lambda group: group.words(self.unit),
            **count_columns("Recovered"),
            "From the reference model": lambda group: value_of(group.reference),
            "Its limits": lambda group: between(group.reference),
            "Gain, points": gain_cell,
            "By chance": lambda group: MISSING if group.chance is None else f"{group.chance:.2g}",
        }
        if whole.by_shadows:
            columns |= {
                "From shadow models": lambda group: group.beside_shadows(level)[0].value,
                "Their limits": lambda group: limits(*group.beside_shadows(level)[0].ends),
                "Share with as many": lambda group: limits(*group.beside_shadows(level)[1].ends),
            }
        return self.shares_figure(
            f"{attack.name} recovers {percent(whole.share)} of documents{beside}",
            "For all documents, and for those with as many copies in the training text: a dot for "
            "the share recovered, an open square for that of documents the model never saw.",
            "Documents recovered, by copies in the training text",
            attack.name,
            attack.groups,
            columns,
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


def _canaries_named(groups: Sequence[CanaryGroup]) -> list[str]:
    """Say of planted canaries how many were named: of those with most copies, if all are alike."""
    if not groups:
        return []
    group = max(groups, key=lambda group: (group.share.value, group.copies))
    return [
        f"Of canaries with {copies_text([group.copies])}, {group.named} of {group.canaries} were "
        f"named; a guess names {percent(group.guess)}."
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


def _too_short(study: Any, detail: LanguageResult) -> Iterator[NotAssessed]:
    """Yield how many documents trained on are too short to be gone on with."""
    trained = detail.trained
    for attack, section in (("completion", study.completion), ("discovery", study.discovery)):
        if not section:
            continue
        known, option, unit = f"{section.prompt} tokens", "prompt", "characters"
        if attack == "discovery":
            unit = "tokens"
        elif section.prefix is not None:
            known, option = f"{section.prefix} characters", "prefix"
        totals = [one.groups[0].total for one in detail.attacks if one.name.startswith(attack)]
        if short := trained - (totals[0] if totals else 0):
            yield NotAssessed(
                f"{attack} of {short:,} of {trained:,} documents trained on",
                f"they have no {section.window} {unit} after their first {known}",
                f"a smaller `{option}` or `window` in [{attack}]",
            )


def _membership(case: StudyJudgement) -> Iterator[Block]:
    detail: LanguageResult = case.detail
    yield Text(
        [
            "Was this document in the training text? How many fresh documents are above a "
            "threshold is limited at all thresholds at once, and so is the share of documents "
            "trained on that are above it."
        ]
    )
    yield table(
        "How far each score tells documents trained on from fresh ones; 50% above is chance",
        case.findings.select(of=ABOVE),
        {
            "Score": "name",
            "Above a fresh one": "value",
            "Limits": lambda row: limits_of(row.quantity),
        },
        percent=("Above a fresh one",),
    )
    rows = [row for row in case.findings.rows if row.of in (TOLD, PRECISION)]
    best = max(detail.scores, key=lambda score: score.above.value or 0.0)
    title = f"{best.name} tells documents trained on best"
    yield roc_figure(title, [score.curve for score in detail.scores], rows, key="rate")


def _canaries(groups: Sequence[CanaryGroup]) -> Iterator[Block]:
    yield Text(
        [
            "Secrets drawn at random were planted in the training text. A model that never saw one "
            "finds every secret alike, so what it names is known exactly."
        ]
    )
    yield table(
        "Canaries by copies: whose secret is likelier than all others it was compared with, and "
        "whose secret the model prints",
        groups,
        {
            "Copies": "copies",
            "Canaries": "canaries",
            "Named": "named",
            "Guess": lambda group: f"1 of {number(group.alternatives + 1)}",
            "By chance at most": "by_chance",
            "Chance of as many": lambda group: f"{group.chance:.2g}",
            "Printed": "completed",
            "Exposure, bits": lambda group: (
                f"{group.exposure:.1f} of {math.log2(group.alternatives + 1):.1f}"
            ),
        },
        graded=["sampled" for _ in groups],
    )
