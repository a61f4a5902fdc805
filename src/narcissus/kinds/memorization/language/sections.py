"""A language model's page: what attacks recovered, scores of membership, canaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import table
from narcissus.kinds.memorization.columns import between, count_columns, gain_cell, value_of
from narcissus.kinds.memorization.engine import ABOVE, TOLD
from narcissus.kinds.memorization.language.kind import (
    CanaryGroup,
    DocumentAttack,
    DocumentGroup,
    LanguageResult,
)
from narcissus.kinds.memorization.layout import MemorizationLayout
from narcissus.membership.reported import PRECISION
from narcissus.report.format import MISSING, limits, limits_of, number, percent
from narcissus.report.page import Block, Cell, Figure, Text
from narcissus.report.roc import roc_figure
from narcissus.results import NotAssessed

ASKED = {
    "generation": "The attacker samples the model without any prompt and keeps the best texts. "
    "They are ranked by how much likelier the model finds them than it ought to (perplexity, zlib, "
    "the lower-cased text, the reference model).",
    "completion": "The attacker knows how a document begins, and lets the model go on.",
    "near-verbatim": "The attacker knows how a document begins, and lets the model go on.",
    "reading": "The attacker reads the settings, the tokenizer, the notes and all other texts in "
    "the model's folder as they are. Packed or coded texts are not unpacked.",
    "discovery": "The attacker knows how a document begins, and samples the model again and again. "
    "The chances follow exactly from the probabilities that the model gives to tokens.",
}


def attack_blocks(
    layout: MemorizationLayout, attack: DocumentAttack, result: LanguageResult
) -> Iterator[Block]:
    """Yield what an attack on documents recovered."""
    sentences = [f"{ASKED[attack.name.partition(' ')[0]]} A document counts if {attack.rule}."]
    if attack.unrelated is not None:
        sentences.append(
            f"By the same rule, {attack.unrelated:,} of {attack.groups[0].total:,} "
            "continuations are near the text of another document, which is unrelated."
        )
    if attack.shorter_prompts:
        sentences.append(
            f"For {attack.shorter_prompts:,} of them, up to three tokens fewer are known: as many "
            "as the study asks for end within a character."
        )
    yield Text(sentences)
    yield _picture(layout, attack, result)
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


def _picture(layout: MemorizationLayout, attack: DocumentAttack, result: LanguageResult) -> Figure:
    whole, level = attack.groups[0], result.claim_confidence
    beside = "" if whole.fresh is None else f", {percent(whole.fresh.value)} of fresh ones"
    columns: dict[str, Callable[[DocumentGroup], Cell]] = {
        "Documents": lambda group: group.words(layout.unit),
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
    return layout.shares_figure(
        f"{attack.name} recovers {percent(whole.share)} of documents{beside}",
        "For all documents, and for those with as many copies in the training text: a dot for "
        "the share recovered, an open square for that of documents the model never saw.",
        "Documents recovered, by copies in the training text",
        attack.name,
        attack.groups,
        columns,
    )


def membership_blocks(case: StudyJudgement) -> Iterator[Block]:
    """Yield how scores tell documents trained on from fresh ones."""
    result: LanguageResult = case.result
    yield Text(
        [
            "Was this document in the training text? How many fresh documents are above a "
            "threshold is limited at all thresholds at the same time, and so is the share of "
            "documents trained on that are above it."
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
    best = max(result.scores, key=lambda score: score.above.value or 0.0)
    title = f"{best.name} tells documents trained on best"
    yield roc_figure(title, [score.curve for score in result.scores], rows, key="rate")


def canary_blocks(groups: Sequence[CanaryGroup]) -> Iterator[Block]:
    """Yield how many planted secrets were named or printed."""
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


def too_short(study: Any, result: LanguageResult) -> Iterator[NotAssessed]:
    """Yield how many documents trained on are too short or too long to be gone on with."""
    trained = result.trained
    totals = {part.name: part.groups[0].total for part in result.attacks}
    if study.generation and (short := trained - totals.get("generation", 0)):
        yield NotAssessed(
            f"generation of {short:,} of {trained:,} documents trained on",
            f"their tokens say less than {study.generation.window} characters",
            "a smaller `window` in [generation]",
        )
    if not result.by_chance and (short := trained - totals.get("reading", 0)):
        yield NotAssessed(
            f"reading of {short:,} of {trained:,} documents trained on",
            f"they have less than {study.window} characters",
            "a smaller `window` in [generation] or [completion]",
        )
    for attack, section in (("completion", study.completion), ("discovery", study.discovery)):
        if not section:
            continue
        known, option, unit = f"{section.prompt} tokens", "prompt", "characters"
        if attack == "discovery":
            unit = "tokens"
        elif section.prefix is not None:
            known, option = f"{section.prefix} characters", "prefix"
        played = [part for part in result.attacks if part.name.startswith(attack)]
        total = played[0].groups[0].total if played else 0
        beyond = played[0].beyond_context if played else 0
        if beyond:
            yield NotAssessed(
                f"{attack} of {beyond:,} of {trained:,} documents trained on",
                f"the model's context does not hold their first {known} and {section.window} "
                f"{unit} after them",
                f"a smaller `{option}` or `window` in [{attack}]",
            )
        if short := trained - total - beyond:
            yield NotAssessed(
                f"{attack} of {short:,} of {trained:,} documents trained on",
                f"they have no {section.window} {unit} after their first {known}",
                f"a smaller `{option}` or `window` in [{attack}]",
            )
