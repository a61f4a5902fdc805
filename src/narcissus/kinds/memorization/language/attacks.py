"""Attack a model and documents that it never saw: what it prints, and how it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.language_models import LanguageModel, ModelsUnderStudy
from narcissus.extraction.ngram import RankedSamples, rank_samples
from narcissus.extraction.recovered import (
    BoolArray,
    Division,
    PrintedStretches,
    TextDocument,
    completed_documents,
    long_enough,
    printed_stretches,
    prompt_ends,
)
from narcissus.kinds.memorization.language.schema import CompletionSection, GenerationSection
from narcissus.rows import Count, Fact, Positive


class RankedBy(Fact):
    """The best texts by one score: how many hold a stretch of a document."""

    score: str
    texts: Positive
    trained: Count = Field(description="Hold a rare stretch of a document trained on.")
    fresh: Count = Field(description="Hold a rare stretch of a fresh document.")


@dataclass(frozen=True)
class AttackedDocuments:
    """What one attack did."""

    # name, rule: What it is called, and when a document counts
    name: Literal["generation", "completion"]
    rule: str
    # trained, fresh: The documents that it could have recovered, by side
    trained: Sequence[TextDocument]
    fresh: Sequence[TextDocument]
    # recovered, recovered_fresh: Whether it did, in their order
    recovered: BoolArray
    recovered_fresh: BoolArray
    # Whether the same attack on the reference model recovered those trained on
    by_reference: BoolArray | None
    ranked: tuple[RankedBy, ...] = ()  # The best texts by score, where it ranked any
    # By shadow model, whether the same attack on it recovered those trained on
    by_shadows: tuple[BoolArray, ...] = ()


def texts_of(documents: Sequence[TextDocument]) -> list[str]:
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

    models, division, section: what is attacked, its documents, and how.
    entropy: of the samples.
    mine: documents planted besides, which count among those that may hold a stretch.
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
    """Prompt the model with the beginning of each document and compare what follows, verbatim.

    None where `prompt` is counted in tokens and no document trained on is long enough.
    Raises InputError: no document trained on has a `prefix` of so many characters, and what follows
        it.
    """

    def long(documents: Sequence[TextDocument]) -> tuple[list[TextDocument], list[int]]:
        """Return the documents that are long enough, and the characters of each that are known."""
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
