"""A study of a language model, as a page: documents recovered and told, canaries, a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from narcissus._outwards import upper
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.kinds.extraction import evidence_sections
from narcissus.report.kinds.recovered import Counted, copies_words, facts, shares_figure
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.language.words import attack_words, program_words
from narcissus.study.record import Record
from narcissus.study.results.language import (
    DocumentAttack,
    DocumentGroup,
    LanguageResults,
)

ASKED = {
    "generation": "The attacker samples the model without any prompt, ranks what it prints by how "
    "much likelier it finds a text than it ought to (perplexity, zlib, the lower-cased text, the "
    "reference model), and keeps the best.",
    "completion": "The attacker knows how a document begins, and lets the model go on.",
}


def page(record: Record) -> Page:
    """Turn the record of a study of a language model into a page."""
    results = cast("LanguageResults", record.results)
    program = results.program
    return Page(
        title=record.title,
        subtitle="What does a language model give away of the documents it was trained on?",
        verdict=_verdict(record, results),
        sections=[
            Section("What is released, and who attacks", [_facts(record, results)]),
            *(
                Section(f"Documents recovered by {one.name}", list(_attack(one)))
                for one in results.attacks
            ),
            *([Section("Membership", [*_membership(results)])] if results.membership else []),
            *([Section("Canaries", [*_canaries(results)])] if results.canaries else []),
            *([] if program is None else evidence_sections(program, "The program: ")),
            Section("Method", [_method(results)]),
        ],
    )


def _verdict(record: Record, results: LanguageResults) -> Verdict:
    numbers: list[tuple[str, str, str, Grade]] = []
    for one in results.attacks:
        numbers.append(_counted(one.whole, f"Recovered by {one.name}").headline("documents"))
    if results.membership:
        best = max(results.membership, key=lambda one: one.above.low or 0.0)
        between = limits(best.above.low, best.above.high)
        text = f"by {best.score}, {between}; 50% is chance"
        numbers.append(
            ("Scores above a fresh document", percent(best.above.value), text, "sampled")
        )
    if (program := results.program) is not None:
        text = f"{program.verdict}; quality at most {upper(program.quality, 3)}"
        numbers.append(
            ("The program succeeds", percent(program.success.value), text, program.verdict_grade)
        )
    most = results.most_gain
    against = [
        attack_words(one)
        for one in results.attacks
        if most is not None and one.whole.shown_gain > most
    ]
    against += [program_words(results)] if results.program_exceeds else []
    worst = results.best.worst
    of = copies_words(worst, "documents")
    return Verdict(
        status=record.status,
        headline=record.verdict,
        worst=(
            f"{of}: {percent(worst.share)} of them are recovered by {results.best.name}.",
            "not assessed" if worst.gain is None else "sampled",
        ),
        evidence_against=against,
        evidence_for=[],  # an attack that fails proves nothing
        numbers=numbers,
    )


def _facts(record: Record, results: LanguageResults) -> Facts:
    divided = (
        "by chance: a third trained on, a third fresh, a third for the reference model"
        if results.by_chance
        else "as the study says"
    )
    rows = [
        ("Model", results.model),
        ("Numbers in it", number(results.parameters)),
        (
            "Trained on",
            f"{number(results.trained)} different documents, "
            f"{number(results.trained_copies)} with their copies",
        ),
        ("Fresh documents", f"{number(results.fresh)}, which no model here has seen"),
        ("Which are which", divided),
        (
            "Reference model",
            "the same training, without the documents" if results.by_chance
            else "given" if results.has_reference else "none",
        ),
        ("The attacker has", "the model with all its weights, and fresh documents"),
    ]  # fmt: skip
    return facts(rows, record, results.most_gain, "documents")


def _counted(group: DocumentGroup, label: str = "") -> Counted:
    return Counted(
        label or copies_words(group, "documents"),
        group.documents,
        group.recovered,
        group.share,
        group.fresh,
        group.gain,
        (group.reference,),
        [MISSING if group.chance is None else f"{group.chance:.2g}", *_of_shadows(group)],
    )


def _attack(one: DocumentAttack) -> Iterator[Block]:
    yield Text([f"{ASKED[one.name]} A document counts if {one.rule}."])
    yield _picture(one)
    if one.ranked:
        yield Grid(
            "The best texts by each score that hold a rare stretch of a document",
            ("Score", "Texts", "Of one trained on", "Of a fresh one"),
            [(r.score, r.texts, r.trained, r.fresh) for r in one.ranked],
        )


def _picture(one: DocumentAttack) -> Figure:
    some = any(group.shadows is not None for group in one.groups)
    beside_shadows = ("From shadow models", "Their limits", "Share with as many") if some else ()
    whole = one.whole
    beside = "" if whole.fresh is None else f", {percent(whole.fresh.value)} of fresh ones"
    return shares_figure(
        f"{one.name} recovers {percent(whole.share)} of documents{beside}",
        "For all documents, and for those with as many copies in the training text: a dot for the "
        "share recovered, an open square for that of documents the model never saw.",
        "Documents recovered, by copies in the training text",
        ("Documents", "Trained on", "Recovered", "Share", "Never seen", "Limits",
         "From the reference model", "Its limits", "Gain, points", "By chance",
         *beside_shadows),
        [_counted(group) for group in one.groups],
        one.name,
        "documents",
    )  # fmt: skip


def _of_shadows(group: DocumentGroup) -> list[Cell]:
    """Return the cells of shadow models; none where there are none."""
    found = group.shadows
    if found is None:
        return []
    shown = (limits(one.low, one.high) for one in (found.mean, found.as_many))
    return [found.mean.value, *shown]


def _membership(results: LanguageResults) -> Iterator[Block]:
    yield Text(
        [
            "Was this document in the training text? A score is held against a threshold above "
            "which, at the level of a claim, at most so many fresh documents are; the share of "
            "documents trained on that are above it is a count."
        ]
    )
    rates = results.membership[0].rates
    rows: list[list[Cell]] = [
        [
            one.score,
            one.above.value,
            limits(one.above.low, one.above.high),
            *(rate.told for rate in one.rates),
        ]
        for one in results.membership
    ]
    told = [f"Told at {percent(rate.rate)} false alarms" for rate in rates]
    grades: list[Grade] = ["sampled" for _ in rows]
    yield Grid(
        "How far each score tells documents trained on from fresh ones; 50% above is chance",
        ("Score", "Above a fresh one", "Limits", *told),
        rows,
        grades=grades,
        percent=("Above a fresh one", *told),
    )


def _canaries(results: LanguageResults) -> Iterator[Block]:
    yield Text(
        [
            "Secrets drawn at random were planted in the training text. A model that never saw one "
            "finds every secret alike, so what it names is known exactly."
        ]
    )
    rows: list[list[Cell]] = [
        [
            one.copies,
            one.canaries,
            one.named,
            f"1 of {number(one.alternatives + 1)}",
            one.by_chance,
            f"{one.chance:.2g}",
            one.completed,
            f"{one.exposure:.1f} of {one.most_exposure:.1f}",
        ]
        for one in results.canaries
    ]
    grades: list[Grade] = ["sampled" for _ in rows]
    yield Grid(
        "Canaries by copies: whose secret is likelier than all others it was compared with, and "
        "whose secret the model prints",
        ("Copies", "Canaries", "Named", "Guess", "By chance at most", "Chance of as many",
         "Printed", "Exposure, bits"),
        rows,
        grades=grades,
    )  # fmt: skip


def _method(results: LanguageResults) -> Text:
    return Text(
        [
            "How many documents are recovered is a count for this model and what the attack "
            "printed. What it would recover anyway is sampled: fresh documents are independent of "
            "the model, so that limits of their share hold (Clopper and Pearson), however "
            "documents trained on depend on each other through the model. The gain is the first "
            "less the second. A stretch counts by how many documents of all sides hold it, so that "
            "the rule is the same for all of them; copies of a document count as one.",
            "The threshold of a score is a value in order of the fresh documents (Wilks), and the "
            "area under the ROC a mean over them, limited by betting.",
            f"{results.claims} limits hold together at level {results.confidence:g}, each at "
            f"{results.claim_confidence:.6g} (Bonferroni). Chances (p-values) are given one by "
            "one, as they are.",
        ]
    )
