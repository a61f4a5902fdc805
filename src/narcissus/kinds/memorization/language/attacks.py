"""Attack a model and documents that it never saw: what it prints, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narcissus._arrays import BoolArray, Floats
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.kept import Keeps
from narcissus.extraction.language_models import (
    HuggingFaceGenerator,
    LanguageModel,
    ModelsUnderStudy,
)
from narcissus.extraction.ngram import RankedSamples, rank_samples
from narcissus.extraction.recovered import (
    Division,
    PrintedStretches,
    TextDocument,
    begin_texts,
    continuations,
    discovery,
    long_enough,
    nearly,
    printed_stretches,
    prompt_ends,
    write_again,
)
from narcissus.kinds.memorization.language.schema import (
    CompletionSection,
    DiscoverySection,
    GenerationSection,
)
from narcissus.observer import Observer
from narcissus.results import NotAssessed
from narcissus.rows import Count, Fact, Positive

_AT_ONCE = 2**20
"""Characters of a folder's texts that are searched at a time."""


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
    name: str
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
    # Of those trained on, whose continuations are as near to another document's text
    unrelated: int | None = None
    # Of those trained on, whose beginning and what follows it the context does not hold
    beyond_context: int = 0
    # Of those trained on, whose prompt has other tokens than as many as the study asks for
    shorter_prompts: int = 0


def is_misread(worse: Sequence[NDArray[np.bool_]], *, confidence: float) -> bool:
    """Return whether most documents of both sides are worse than a guess, beyond chance.

    worse: of each side, shape (documents,).
    """
    counts = sum(int(part.sum()) for part in worse), sum(map(len, worse))
    low = clopper_pearson(*counts, confidence=confidence).low
    return low is not None and low > 0.5 and all(part.mean() > 0.5 for part in worse)


PLAINLY = 1.0
"""Nats that a token costs above a uniform guess where a model is not read as it was trained; a
model that was never trained stays below."""


def losses_remark(
    model: LanguageModel, sides: tuple[Sequence[str], Sequence[str]], *, confidence: float
) -> list[NotAssessed]:
    """Refuse a model of others that is plainly not read as it was trained, by what texts cost it.

    A remark is returned where most texts of both sides cost about as much as a uniform guess.

    sides: documents that the model was trained on, and fresh ones.
    Raises InputError: a token of most documents, of both sides, costs more than a uniform guess and
        `PLAINLY`, beyond chance (Clopper-Pearson).
    """
    if not isinstance(model, HuggingFaceGenerator):
        return []
    losses = [model.losses_above_uniform(side) for side in sides]
    worse = [part > PLAINLY for part in losses]
    if is_misread(worse, confidence=confidence):
        counts = sum(int(part.sum()) for part in worse), sum(map(len, worse))
        above = float(np.median(np.concatenate(losses)))
        raise InputError(
            f"not assessed: the model is not read as it was trained. A token of {counts[0]:,} of "
            f"{counts[1]:,} documents costs it more than a uniform guess over its vocabulary "
            f"would, by {above:.2g} nats at the median. Its tokenizer, or its "
            "configuration (heads, positions, scaling), is not that of its weights: use the folder "
            "as it was saved after the training"
        )
    if all(float(np.median(part)) > 0 for part in losses):
        return [
            NotAssessed(
                "a model that has learnt to predict these documents",
                "a token of most documents costs this model as much as a uniform guess would, so "
                "it is untrained, or is read by another tokenizer",
                "make sure that weights, tokenizer and configuration are of one training",
            )
        ]
    return []


def keeping(
    models: ModelsUnderStudy,
    store: Keeps | None,
    observer: Observer,
    texts: Sequence[Sequence[str]],
) -> ModelsUnderStudy:
    """Let models on a device show what they do, and keep each batch as it ends.

    texts: of each group of documents; a model whose tokenizer loses those of a group is refused.
        What is before each text is chosen by the first two, those trained on and fresh ones.
    """

    def kept(model: LanguageModel) -> LanguageModel:
        if isinstance(model, HuggingFaceGenerator):
            model.observer, model.store = observer, store
            for group in texts:
                model.require_texts(group)
            model.choose_start(texts[0], texts[1])
        return model

    return replace(
        models,
        model=kept(models.model),
        reference=None if models.reference is None else kept(models.reference),
        shadows=tuple([lambda read=read: kept(read()) for read in models.shadows]),
    )


def texts_of(documents: Sequence[TextDocument]) -> list[str]:
    return [document.text for document in documents]


def generated(
    models: ModelsUnderStudy,
    division: Division,
    section: GenerationSection,
    *,
    entropy: int,
    mine: Sequence[str] = (),
) -> AttackedDocuments | None:
    """Sample the model, rank what it printed, and see which documents the best texts hold.

    None where no document trained on has a stretch of that length in what its tokens say.

    models, division, section: what is attacked, its documents, and how.
    entropy: of the samples.
    mine: documents planted besides, which count among those that may hold a stretch.
    """
    sides = [texts_of(division.trained), texts_of(division.fresh), texts_of(division.reference)]
    sides.append(list(mine))

    def held(model: LanguageModel, texts: Sequence[str]) -> PrintedStretches:
        written = [[write_again(model, text) for text in side] for side in sides]
        return printed_stretches(texts, written, window=section.window, k=section.k)

    def is_long(documents: Sequence[TextDocument]) -> BoolArray:
        places = long_enough(models.model, texts_of(documents), prefix=0, window=section.window)
        flags = np.zeros(len(documents), dtype=np.bool_)
        flags[places] = True
        return flags

    long, long_fresh = is_long(division.trained), is_long(division.fresh)
    if not long.any():
        return None

    def best_of(model: LanguageModel, other: LanguageModel | None, key: int) -> RankedSamples:
        return rank_samples(
            model,
            other=other,
            samples=section.samples,
            length=section.length,
            rng=child(entropy, 1, key),
        )

    ranked = best_of(models.model, models.reference, 0)
    stretches = held(models.model, ranked.top(section.top))
    recovered, recovered_fresh, *_ = stretches.documents()
    by_reference = None
    if models.reference is not None:
        # a model that never saw the documents, attacked in the same way
        theirs = best_of(models.reference, models.model, 1).top(section.top)
        by_reference = held(models.reference, theirs).documents()[0][long]

    def printed_by(shadow: LanguageModel, key: int) -> BoolArray:
        texts = best_of(shadow, models.reference, key).top(section.top)
        return held(shadow, texts).documents()[0][long]

    by_shadows = tuple(printed_by(read(), 2 + place) for place, read in enumerate(models.shadows))
    return AttackedDocuments(
        "generation",
        f"{_stretch(section.window, section.k)}, is in one of the {section.top} best of "
        f"{section.samples:,} samples by one of the scores",
        [division.trained[i] for i in np.flatnonzero(long)],
        [division.fresh[i] for i in np.flatnonzero(long_fresh)],
        recovered[long],
        recovered_fresh[long_fresh],
        by_reference,
        tuple(_ranked(ranked.top(section.top, name), name, stretches) for name in ranked.scores),
        by_shadows,
    )


def read_in_folder(
    division: Division,
    texts: Sequence[str],
    *,
    window: int,
    k: int = 1,
    mine: Sequence[str] = (),
) -> AttackedDocuments | None:
    """See which documents the texts of a model's folder hold.

    None where no document trained on is as long as a stretch.

    texts: of the folder, white space joined.
    window, k: as for what a model prints.
    mine: documents planted besides.
    """
    groups = (texts_of(division.trained), texts_of(division.fresh), texts_of(division.reference))
    sides = [[" ".join(text.split()) for text in side] for side in (*groups, mine)]
    long, long_fresh = (
        np.array([len(text) >= window for text in side], dtype=np.bool_) for side in sides[:2]
    )
    if not long.any():
        return None
    printed, printed_fresh = np.zeros_like(long), np.zeros_like(long_fresh)
    for batch in _batches(texts):
        trained, fresh, *_ = printed_stretches(batch, sides, window=window, k=k).documents()
        printed, printed_fresh = printed | trained, printed_fresh | fresh
    return AttackedDocuments(
        "reading",
        f"{_stretch(window, k)}, is in a text of the model's folder",
        [division.trained[i] for i in np.flatnonzero(long)],
        [division.fresh[i] for i in np.flatnonzero(long_fresh)],
        printed[long],
        printed_fresh[long_fresh],
        None,
    )


def _stretch(window: int, k: int) -> str:
    """Name the stretch of a document by which it counts as recovered."""
    each = "document" if k == 1 else "documents"
    return f"a stretch of {window} characters of it, which at most {k} {each} of all sides hold"


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts, about as many characters of them at a time."""
    batch: list[str] = []
    for text in texts:
        if batch and sum(map(len, batch)) + len(text) > _AT_ONCE:
            yield batch
            batch = []
        batch.append(text)
    yield batch


def _ranked(texts: Sequence[str], name: str, found: PrintedStretches) -> RankedBy:
    """Count the texts that hold something, by side."""
    sides = [found.sides(text) for text in texts]
    trained, fresh = (sum(side in text_sides for text_sides in sides) for side in (0, 1))
    return RankedBy(score=name, texts=len(texts), trained=trained, fresh=fresh)


@dataclass
class Side:
    """The documents of a side that can be continued."""

    documents: list[TextDocument] = field(default_factory=list[TextDocument])
    ends: list[int] = field(default_factory=list[int])  # characters of each that are known
    beyond_context: int = 0  # long enough, but too long for the context
    shorter_prompts: int = 0  # whose prompt has other tokens than as many as is asked


def _long_enough(
    model: LanguageModel,
    documents: Sequence[TextDocument],
    section: CompletionSection,
    prompt: int | None,
) -> Side:
    """Return the documents that can be continued, and the characters of each that are known."""
    texts = texts_of(documents)
    ends = (
        [section.prefix] * len(texts)
        if section.prefix is not None
        else prompt_ends(model, texts, prompt=prompt or 50)
    )
    places = long_enough(model, texts, prefix=ends, window=section.window)
    beginnings = begin_texts(
        model,
        [texts[i] for i in places],
        prefix=[ends[i] for i in places],
        window=section.window,
        prompt=prompt,
    )
    side = Side()
    for i, beginning in zip(places, beginnings, strict=True):
        if not beginning.fits(model.context):
            side.beyond_context += 1
            continue
        side.documents.append(documents[i])
        side.ends.append(ends[i])
        side.shorter_prompts += prompt is not None and len(beginning.prompt) != prompt
    return side


def completed(
    models: ModelsUnderStudy, division: Division, section: CompletionSection
) -> list[AttackedDocuments]:
    """Prompt the model with the beginning of each document and compare what follows.

    Verbatim first, then nearly so where the section asks for it. None where `prompt` is counted in
    tokens and no document trained on is long enough.
    Raises InputError: no document trained on has a `prefix` of so many characters, and what follows
        it; or the context of the model holds none of them.
    """
    prompt = None if section.prefix is not None else section.prompt or 50
    trained, fresh = (
        _long_enough(models.model, side, section, prompt)
        for side in (division.trained, division.fresh)
    )
    if not trained.documents and trained.beyond_context:
        raise InputError(
            f"the model reads {models.model.context:,} tokens at a time, which hold no document's "
            f"beginning and the {section.window} characters after it: make `prompt`, `prefix` or "
            "`window` of [completion] smaller, or write `completion = false`"
        )
    if not trained.documents:
        if section.prefix is None:
            return []
        raise InputError(
            f"no document has {section.prefix + section.window} characters, which [completion] "
            "needs: make `prefix` or `window` smaller, or write `completion = false`"
        )

    def by(model: LanguageModel, side: Side) -> Continued:
        # a model with other tokens is given the same characters, as far as its tokens reach
        answers = continuations(
            model,
            texts_of(side.documents),
            prefix=side.ends,
            window=section.window,
            prompt=prompt,
        )
        after = [(answer.written, answer.expected) for answer in answers]
        return model, np.array([answer.is_verbatim for answer in answers], dtype=np.bool_), after

    def near(found: Continued, shift: int = 0) -> BoolArray:
        model, _, after = found
        attempts, true = [attempt for attempt, _ in after], [attempt for _, attempt in after]
        true = [*true[shift:], *true[:shift]]
        return nearly(model, attempts, true, edits=section.edits, tokens=section.tokens)

    known = f"{section.prompt} tokens" if section.prefix is None else f"{section.prefix} characters"
    description = f"given its first {known}, the model goes on with the next {section.window}"
    unit = " characters" if section.prefix is None else ""
    rules: list[Rule[Continued]] = [("completion", description + unit, lambda answers: answers[1])]
    if section.edits is not None or section.tokens is not None:
        how = [] if section.edits is None else [f"at most {section.edits:g} edits a character"]
        if section.tokens is not None:
            how.append(f"at least {section.tokens:.3g} of the tokens at their places")
        rules.append(
            (
                "near-verbatim completion",
                f"{description} characters or nearly: {' or '.join(how)}",
                near,
            )
        )
        rules.append(("unrelated", "", lambda answers: near(answers, 1)))
    sides = (trained, trained.documents), (fresh, fresh.documents)
    verbatim, *nearby = _attacked(models, *sides, by, rules)
    is_several = len(trained.documents) > 1
    others = [int(attempt.recovered.sum()) for attempt in nearby[1:] if is_several]
    unrelated = [replace(attempt, unrelated=others[0]) for attempt in nearby[:1] if others]
    played = [verbatim, *(unrelated or nearby[:1])]
    return [
        replace(
            attempt,
            beyond_context=trained.beyond_context,
            shorter_prompts=trained.shorter_prompts,
        )
        for attempt in played
    ]


Continued = tuple[LanguageModel, BoolArray, list[tuple[str, str]]]
"""A model, which texts it continues verbatim, and what it says next to what follows in them."""
SideT = TypeVar("SideT")
AnswerT = TypeVar("AnswerT")
Rule = tuple[str, str, Callable[[AnswerT], BoolArray]]
"""Name and words of an attack, and which documents it recovers by what was found."""


def _attacked(
    models: ModelsUnderStudy,
    trained: tuple[SideT, Sequence[TextDocument]],
    fresh: tuple[SideT, Sequence[TextDocument]],
    by: Callable[[LanguageModel, SideT], AnswerT],
    rules: Sequence[Rule[AnswerT]],
) -> list[AttackedDocuments]:
    """Ask each model once about the documents of a side, and judge what it said by each rule."""

    def judged(model: LanguageModel, side: SideT) -> list[BoolArray]:
        answer = by(model, side)
        return [rule(answer) for _, _, rule in rules]

    ours, theirs = judged(models.model, trained[0]), judged(models.model, fresh[0])
    reference = None if models.reference is None else judged(models.reference, trained[0])
    shadows = [judged(read(), trained[0]) for read in models.shadows]  # none of them is held
    return [
        AttackedDocuments(
            name,
            words,
            trained[1],
            fresh[1],
            ours[i],
            theirs[i],
            None if reference is None else reference[i],
            by_shadows=tuple(shadow[i] for shadow in shadows),
        )
        for i, (name, words, _) in enumerate(rules)
    ]


def discovered(
    models: ModelsUnderStudy, division: Division, section: DiscoverySection
) -> list[AttackedDocuments]:
    """Return, for each number of samples, the documents that one of them would go on with.

    Raises InputError: no document trained on has as many tokens as are known and must agree.
    """
    need = section.prompt + section.window

    def long(documents: Sequence[TextDocument]) -> list[TextDocument]:
        return [
            document for document in documents if len(models.model.encode(document.text)) >= need
        ]

    trained, fresh = long(division.trained), long(division.fresh)
    if not trained:
        raise InputError(
            f"no document has {need} tokens, which [discovery] needs: make `prompt` or `window` "
            "smaller"
        )

    def by(model: LanguageModel, side: Sequence[TextDocument]) -> Floats:
        tokens = [model.encode(text)[:need] for text in texts_of(side)]
        if tokens != [models.model.encode(text)[:need] for text in texts_of(side)]:
            raise InputError(
                "[discovery] compares tokens, and the reference or a shadow model has another "
                "tokenizer than the model: leave one of them out"
            )
        known = [document[: section.prompt] for document in tokens]
        following = [document[section.prompt :] for document in tokens]
        return model.log_chances(
            known, following, temperature=section.temperature, top_k=section.top_k
        )

    among = "" if section.top_k is None else f", among the {section.top_k:,} likeliest tokens"
    return _attacked(
        models,
        (trained, trained),
        (fresh, fresh),
        by,
        [
            (
                f"discovery n={n}",
                f"given its first {section.prompt} tokens, one of {n:,} samples goes on with its "
                "next "
                f"{section.window} tokens with a chance of {section.p:g} or more (temperature "
                f"{section.temperature:g}{among})",
                lambda chances, n=n: discovery(chances, n) >= section.p,
            )
            for n in dict.fromkeys(section.n)
        ],
    )
