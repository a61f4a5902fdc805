"""What those who decide ask of a record: what was released, who is hurt most, limits.

A kind whose records are rows answers itself; one that is not here says no more than its page does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from narcissus.report.about import EveryAttacker, Subject, shown
from narcissus.report.format import number, percent, points
from narcissus.study.record import Record
from narcissus.study.results.classifier import ClassifierResults
from narcissus.study.results.extraction import ExtractionResults
from narcissus.study.results.game import GameResults
from narcissus.study.results.image import ImageGroup, ImageResults
from narcissus.study.results.language import DocumentGroup, LanguageResults
from narcissus.study.results.recovered import copies_text


def subject_of(record: Record) -> Subject | None:
    """Return what a record is about; None for a kind that says nothing of it."""
    describe = _KINDS.get(type(record.results))
    if (layout := shown(record)) is not None:
        found = layout[0].subject(record, layout[1])
    elif describe is not None:
        found = describe(record.results, record)
    else:
        return None
    if record.contradictions:  # what rests on something that is refuted limits nobody
        limits = tuple(replace(one, grade="not assessed") for one in found.limits)
        return replace(found, limits=limits)
    return found


def _hit(name: str, group: DocumentGroup | ImageGroup, whole: object) -> str:
    """Describe which copies are given away most."""
    if group is whole or group.shown_gain <= 0:
        return ""
    return (
        f"Hardest hit: {name} with {copies_text(group.copies, group.and_copies)}: "
        f"{percent(group.share)} are given back, at least "
        f"{points(group.shown_gain, 'down')} points more than of those never "
        "seen (sampled)."
    )


def _language(results: LanguageResults, record: Record) -> Subject:
    text = f"A language model ({results.model}), trained on {number(results.trained)} documents."
    return Subject(text, _hit("documents", results.best.worst, results.best.whole))


def _image(results: ImageResults, record: Record) -> Subject:
    text = f"A model of images ({results.model}), trained on {number(results.trained)} images."
    return Subject(text, _hit("images", results.worst, results.whole))


def _classifier(results: ClassifierResults, record: Record) -> Subject:
    return Subject(
        f"A classifier with all its weights ({results.network}), trained on "
        f"{number(results.trained)} images."
    )


def _game(results: GameResults, record: Record) -> Subject:
    limits = [
        EveryAttacker(f"{bound.quantity}: {bound.at_most}.", bound.grade, bound.assumptions)
        for bound in results.proofs
        if bound.value < 1
    ]
    exact = results.exact
    if exact is not None and exact.holds and record.status == "met":
        limits.insert(0, EveryAttacker(f"{exact.words}.", exact.grade, exact.assumptions))
    most = None if exact is None or exact.cover is not None else exact.best_success
    if exact is not None and most is not None and most < 1:
        text = f"At most {percent(most, 'up')} of attempts fit the data"
        text += f", in each of {number(exact.members)} distributions" * (exact.members > 1)
        limits.append(EveryAttacker(f"{text}.", exact.grade, exact.assumptions))
    worst = "" if exact is None or not exact.member else f"The worst world: {exact.member}."
    return Subject(
        f"Nothing about real people. The statement that was tested: {results.statement.words}.",
        worst,
        limits=tuple(limits),
        no_ground="A game tests a statement in a world that is written down, not a release "
        "about people",
    )


def _extraction(results: ExtractionResults, record: Record) -> Subject:
    return Subject(
        "One release, given to one program that should print the data behind it.",
        no_ground="This weighs whether one program extracts one data set: another program may do "
        "better, and what is lost by people was not looked at",
    )


_KINDS: dict[type, Callable[..., Subject]] = {
    LanguageResults: _language,
    ImageResults: _image,
    ClassifierResults: _classifier,
    GameResults: _game,
    ExtractionResults: _extraction,
}
