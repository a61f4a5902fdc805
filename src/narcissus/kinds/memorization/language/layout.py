"""A language model, in words and as a page: documents recovered and told, canaries, a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from narcissus.judgement import StudyJudgement
from narcissus.kinds.extraction.layout import evidence_sections, quality_glance
from narcissus.kinds.extraction.program import QUALITY
from narcissus.kinds.memorization.declarations import declared, left_out
from narcissus.kinds.memorization.engine import copies_text
from narcissus.kinds.memorization.language.kind import (
    CanaryGroup,
    LanguageResult,
)
from narcissus.kinds.memorization.language.sections import (
    attack_blocks,
    canary_blocks,
    membership_blocks,
    too_short,
)
from narcissus.kinds.memorization.layout import MemorizationLayout
from narcissus.report.first_screen import Glance
from narcissus.report.format import number, percent
from narcissus.report.page import Facts, Section, Text
from narcissus.results import NotAssessed
from narcissus.study.record import Record

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
        result: LanguageResult = case.result
        without = " and of a model trained without them"
        lines = [
            f"{attack.name}: documents recovered, compared with those of {result.fresh:,} fresh "
            f"documents{'' if attack.groups[0].reference is None else without}"
            for attack in result.attacks
        ]
        if result.scores:
            names = ", ".join(score.name for score in result.scores)
            lines.append(f"membership of documents, by {names}")
        if result.canaries:
            lines.append("canaries, compared with an exact baseline")
        if result.program is not None:
            lines.append("a program, with and without the release, against complexity from above")
        return lines

    def left_open(self, study: Any, case: StudyJudgement) -> Iterator[NotAssessed]:
        result: LanguageResult = case.result
        yield from too_short(study, result)
        rates = (rate for score in result.scores for rate in score.rates)
        unseen = {rate.rate: rate.told.why for rate in rates if rate.told.value is None}
        asked = study.membership.false_alarms if study.membership else ()
        for rate, why in unseen.items():
            if rate in asked:
                subject = f"documents told at a rate of false alarms of {100 * rate:g}%"
                yield NotAssessed(subject, why, "more fresh documents")
        for name, groups in result.groups_by_attack.items():
            for group in groups:
                if group.fresh is None:
                    of = "" if group.is_whole else f" of {group.words(self.unit)}"
                    subject = f"the baseline of {name} for documents{of}"
                    yield NotAssessed(subject, "no fresh document is like them", "more documents")
        if not result.has_reference:
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
        result: LanguageResult = case.result
        program, row = result.program, case.decided_by
        if program is not None and row is not None and row.of == QUALITY:
            lines = [f"{_HEADS[program.verdict]}."]
            summary = quality_glance(program, undecided="", notes=lines)
            hardest = self.hardest(self.best(result)[1])
            about, clauses = self.about(case), declared(result)
            return replace(summary, hardest=hardest, about=about, declared=clauses)
        summary = super().glance(case)
        notes = [*summary.notes, *_canaries_named(result.canaries)]
        if program is not None:
            notes.append(f"{_HEADS[program.verdict]}.")
        return replace(summary, notes=notes)

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: LanguageResult = case.result
        program = result.program
        parts = [Section("What is released, and who attacks", [self._facts(record, case)])]
        parts += [
            Section(f"Documents recovered by {attack.name}", [*attack_blocks(self, attack, result)])
            for attack in result.attacks
        ]
        if result.scores:
            parts.append(Section("Membership", list(membership_blocks(case))))
        if result.canaries:
            parts.append(Section("Canaries", list(canary_blocks(result.canaries))))
        if program is not None:
            parts += evidence_sections(program, "The program: ")
        return [*parts, Section("Method", [self._method(case)])]

    def _facts(self, record: Record, case: StudyJudgement) -> Facts:
        result: LanguageResult = case.result
        divided = (
            "by chance: a third trained on, a third fresh, a third for the reference model"
            if result.by_chance
            else "as the study says"
        )
        rows = [
            ("Model", result.model),
            ("Numbers in it", number(result.parameters)),
            *([("Before each text", result.start)] if result.start else []),
            (
                "Trained on",
                f"{number(result.trained)} different documents, "
                f"{number(result.trained_copies)} with their copies",
            ),
            ("Fresh documents", f"{number(result.fresh)}, which no model here has seen"),
            ("Which are which", divided),
            (
                "Reference model",
                "the same training, without the documents"
                if result.by_chance
                else "given"
                if result.has_reference
                else "none",
            ),
            ("The attacker has", "the model with all its weights, and fresh documents"),
            *left_out(result),
        ]
        return self.facts(rows, record, case)

    def _method(self, case: StudyJudgement) -> Text:
        return Text(
            [
                "How many documents are recovered is a count for this model and what the attack "
                "printed. The baseline is estimated: fresh documents are independent "
                "of the model, so that limits of their share hold (Clopper and Pearson), however "
                "documents trained on depend on each other through the model. The gain is the "
                "first less the second; its limits hold for other documents trained on, too, as "
                "independent of each other as fresh ones. A stretch counts by how many documents "
                "of all sides hold it, so that the rule is the same for all of them; copies of a "
                "document count as one.",
                "Limits of a ROC curve hold jointly at all thresholds, by exact chances that order "
                "statistics cross them. The area under it is a mean over pairs, whose "
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
        f"{group.named} of {group.canaries} canaries with {copies_text([group.copies])} were "
        f"named; a guess names {percent(group.guess)}."
    ]
