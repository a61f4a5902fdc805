"""Play the attacks on a language model: sample and rank, continue, score."""

from __future__ import annotations

from collections.abc import Sequence

from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.documents import Division, TextDocument
from narcissus.extraction.language_models import LanguageModel, ModelsUnderStudy
from narcissus.extraction.ranking import RankedSamples, rank_samples
from narcissus.extraction.recovered import (
    BoolArray,
    PrintedStretches,
    completed_documents,
    long_enough,
    printed_stretches,
    prompt_ends,
)
from narcissus.study.language.schema import CompletionSection, GenerationSection
from narcissus.study.language.summary import AttackedDocuments
from narcissus.study.results.language import RankedBy


def texts_of(documents: Sequence[TextDocument]) -> list[str]:
    """Give the texts of documents."""
    return [one.text for one in documents]


def generated(
    models: ModelsUnderStudy,
    division: Division,
    section: GenerationSection,
    *,
    entropy: int,
    mine: Sequence[str] = (),
) -> AttackedDocuments:
    """Sample the model, rank what it printed, and see which documents the best texts hold.

    Parameters
    ----------
    models, division, section
        What is attacked, its documents, and how.
    entropy
        Of the samples.
    mine
        Documents planted besides, which count among those that may hold a stretch.
    """
    sides = [texts_of(division.trained), texts_of(division.fresh), texts_of(division.reference)]
    sides.append(list(mine))

    def held(texts: Sequence[str]) -> PrintedStretches:
        return printed_stretches(texts, sides, window=section.window, k=section.k)

    def best_of(model: LanguageModel, other: LanguageModel | None, key: int) -> RankedSamples:
        return rank_samples(
            model,
            other=other,
            samples=section.samples,
            length=section.length,
            rng=child(entropy, 1, key),
        )

    ranked = best_of(models.model, models.reference, 0)
    found = held(ranked.top(section.top))
    recovered, recovered_fresh, *_ = found.documents()
    by_reference = None
    if models.reference is not None:
        # a model that never saw the documents, attacked in the same way
        theirs = best_of(models.reference, models.model, 1).top(section.top)
        by_reference = held(theirs).documents()[0]
    by_shadows = tuple(
        held(best_of(read(), models.reference, 2 + place).top(section.top)).documents()[0]
        for place, read in enumerate(models.shadows)
    )
    each = "document" if section.k == 1 else "documents"
    return AttackedDocuments(
        "generation",
        f"a stretch of {section.window} characters of it, which at most {section.k} {each} of all "
        f"sides hold, is in one of the {section.top} best of {section.samples:,} samples by one "
        "of the scores",
        division.trained,
        division.fresh,
        recovered,
        recovered_fresh,
        by_reference,
        tuple(_ranked(ranked.top(section.top, name), name, found) for name in ranked.scores),
        by_shadows,
    )


def _ranked(texts: Sequence[str], name: str, found: PrintedStretches) -> RankedBy:
    """Count the texts that hold something, by side."""
    sides = [found.sides(text) for text in texts]
    trained, fresh = (sum(side in one for one in sides) for side in (0, 1))
    return RankedBy(score=name, texts=len(texts), trained=trained, fresh=fresh)


def completed(
    models: ModelsUnderStudy, division: Division, section: CompletionSection
) -> AttackedDocuments | None:
    """Give the model the beginning of each document, and see whether it goes on word for word.

    None where `prompt` is counted in tokens and no document trained on is long enough.

    Raises
    ------
    InputError
        No document trained on has a `prefix` of so many characters, and what follows it.
    """

    def long(documents: Sequence[TextDocument]) -> tuple[list[TextDocument], list[int]]:
        """Give the documents that are long enough, and the characters of each that are known."""
        texts = texts_of(documents)
        ends = (
            prompt_ends(models.model, texts, prompt=section.prompt or 50)
            if section.prefix is None
            else [section.prefix] * len(texts)
        )
        kept = long_enough(texts, prefix=ends, window=section.window)
        return [documents[i] for i in kept], [ends[i] for i in kept]

    trained, fresh = long(division.trained), long(division.fresh)
    if not trained[0]:
        if section.prefix is None:
            return None
        raise InputError(
            f"no document has {section.prefix + section.window} characters, which [completion] "
            "needs: make `prefix` or `window` smaller, or write `completion = false`"
        )

    def by(model: LanguageModel, side: tuple[list[TextDocument], list[int]]) -> BoolArray:
        # a model with other tokens is given the same characters, as far as its tokens reach
        texts, known = texts_of(side[0]), side[1]
        return completed_documents(model, texts, prefix=known, window=section.window)

    return AttackedDocuments(
        "completion",
        f"given its first {section.prefix} characters, the model goes on with the next "
        f"{section.window}"
        if section.prefix is not None
        else f"given its first {section.prompt} tokens, the model goes on with the next "
        f"{section.window} characters",
        trained[0],
        fresh[0],
        by(models.model, trained),
        by(models.model, fresh),
        None if models.reference is None else by(models.reference, trained),
        by_shadows=tuple(by(read(), trained) for read in models.shadows),
    )
