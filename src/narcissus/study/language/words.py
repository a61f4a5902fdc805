"""What a study of a language model says in words, and what it cannot say."""

from __future__ import annotations

from narcissus._outwards import lower, upper
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.recovered import Division
from narcissus.results import NotAssessed
from narcissus.study.extraction import program_assumptions
from narcissus.study.language.schema import LanguageStudy
from narcissus.study.results.language import DocumentAttack, DocumentGroup, LanguageResults
from narcissus.study.results.recovered import copies_text

NOT_COVERED = [
    "other attacks: that these recover little says nothing about the next, and nothing here is "
    "proved about every attacker; a guarantee of the training would be (DP-SGD)",
    "documents of another source than those given, and what the model gives away of them",
    "a document that is close to one of another side: it counts as recovered on both",
]


def verdict_words(results: LanguageResults) -> str:
    text = attack_words(results.best)
    if results.most_gain is not None:
        text += f" {_threshold(results)}"
    return f"{text} {program_words(results)}".strip()


def program_words(results: LanguageResults) -> str:
    """Describe what came of the program, and what was accepted; '' where there is none."""
    program = results.program
    if program is None:
        return ""
    head = {
        "extraction": "The program is evidence of extraction",
        "no extraction": "The program is no extraction",
        "inconclusive": "Of the program nothing is shown",
    }[program.verdict]
    quality = f"its quality is at most {upper(program.quality, 3)}"
    if results.most_quality is not None:
        quality += f", {results.most_quality:g} is accepted"
    said = f"{head}: {program.reasons[0]}"
    return f"{said}; {quality}." if program.verdict == "extraction" else f"{said}."


def attack_words(one: DocumentAttack) -> str:
    """Describe how many documents an attack recovered, and how many it would have anyway."""
    whole = one.whole
    return (
        f"{one.name} recovers {whole.recovered:,} of {whole.documents:,} documents that the model "
        f"was trained on{_beside(whole)}."
    )


def _beside(group: DocumentGroup) -> str:
    if group.fresh is None or group.gain is None:
        return ""
    shown = (
        f"a gain of at least {lower(100 * group.shown_gain, places=1)} points"
        if group.shown_gain > 0
        else "chance alone may give as much"
        if group.gain.low > 0
        else f"{group.fresh.trials:,} of those are too few to show a gain"
        if group.gain.value > 0
        else "no gain"
    )
    return (
        f" ({_share(group.share)}), and {_share(group.fresh.value)} of documents that it never saw:"
        f" {shown}"
    )


def _threshold(results: LanguageResults) -> str:
    most = results.most_gain or 0.0
    accepted = f"{upper(100 * most, places=1)} points are accepted"
    whole = results.best.whole
    gain = whole.gain
    if whole.shown_gain > most:
        return f"{accepted}."
    if gain is not None and gain.value > most:
        return f"{accepted}; more documents would tell."
    return f"{accepted}: these attacks do not show more, and prove no less."


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def assumptions(
    division: Division, evidence: ExtractionEvidence | None, *, has_shadows: bool = False
) -> tuple[str, ...]:
    """Describe what the limits take as given, those on a program among them."""
    found = ["documents are independent draws of one source"]
    if not division.by_chance:
        found.append(
            "the fresh documents are of the same source as those trained on, and the model was not "
            "trained on them"
        )
    if has_shadows:
        found.append(
            "shadow models were trained as the model was, each without these documents and "
            "independently of the others"
        )
    more = () if evidence is None else program_assumptions(evidence)
    return (*found, *more)


def assessed(results: LanguageResults) -> list[str]:
    beside = " and of a model trained without them" if results.has_reference else ""
    found = [
        f"{one.name}: documents recovered, beside those of {results.fresh:,} fresh documents"
        f"{beside}"
        for one in results.attacks
    ]
    if results.membership:
        names = ", ".join(one.score for one in results.membership)
        found.append(f"membership of documents, by {names}")
    if results.canaries:
        found.append("canaries, beside an exact baseline")
    if results.program is not None:
        found.append("a program, with and without the release, against complexity from above")
    return found


def not_assessed(study: LanguageStudy, results: LanguageResults) -> list[NotAssessed]:
    """Return what was asked and not answered, and what would answer it."""
    found = _too_short(study, results)
    rates = {
        rate.rate: rate.needed
        for one in results.membership
        for rate in one.rates
        if rate.told is None
    }
    for rate, needed in rates.items():
        found.append(
            NotAssessed(
                f"documents told at a rate of false alarms of {100 * rate:g}%",
                f"{results.fresh:,} fresh documents cannot show that there are no more",
                f"{needed:,} fresh documents or more",
            )
        )
    for one in results.attacks:
        for group in one.groups:
            if group.fresh is None:
                of = f"of {copies_text(group.copies, group.and_copies)}" if group.copies else ""
                found.append(
                    NotAssessed(
                        f"the baseline of {one.name} for documents {of}".rstrip(),
                        "no fresh document is like them",
                        "more documents",
                    )
                )
    if not results.has_reference:
        found.append(
            NotAssessed(
                "what a model that was trained without the documents gives away of them",
                "no reference model was given",
                "name one as `model.reference`: the same training without these documents",
            )
        )
    if results.program is None and study.program is None:
        found.append(
            NotAssessed(
                "extraction against complexity (Cohen et al. 2024, Definition D.8)",
                "no program was given",
                "name one in [program]",
            )
        )
    return found


def _too_short(study: LanguageStudy, results: LanguageResults) -> list[NotAssessed]:
    """Return how many documents trained on are too short to be completed."""
    section = study.completion
    if not section:
        return []
    known, option = (
        (f"{section.prompt} tokens", "prompt")
        if section.prefix is None
        else (f"{section.prefix} characters", "prefix")
    )
    played = [one.whole.documents for one in results.attacks if one.name == "completion"]
    short = results.trained - sum(played)
    if not short:
        return []
    return [
        NotAssessed(
            f"completion of {short:,} of {results.trained:,} documents trained on",
            f"they have no {section.window} characters after their first {known}",
            f"a smaller `{option}` or `window` in [completion]",
        )
    ]
