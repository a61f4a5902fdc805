"""Let a model with access to a work, and models without, go on with its passages.

What comes back of the work is counted, for each model. What a model says by chance is sampled: by
the works of independent authors, each of which is one trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from narcissus._files import files_digest
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import next_limit
from narcissus.extraction.language_models import HasModels
from narcissus.extraction.recovered import TextDocument, read_documents
from narcissus.kinds.engine import Done, Files, Kind, PreparedWork
from narcissus.kinds.memorization.engine import model_not_assessed
from narcissus.kinds.memorization.language.attacks import keeping
from narcissus.rows import (
    Count,
    Fact,
    Findings,
    Level,
    Positive,
    Quantity,
    Role,
    StudyCriterion,
    StudyResult,
    StudyRow,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, SeededRun
from narcissus_papers.copyright import works
from narcissus_papers.copyright.works import Alike, Passage, WrittenWork


class WorkFiles(FileSection):
    """The texts (UTF-8, paragraphs separated by blank lines); paths are relative to the file."""

    work: Path = Field(description="The work that is said to be copied.")
    independent: Path = Field(
        description="Folder with works by other authors, a .txt file each, that no model has seen."
    )
    other: Path | None = Field(
        None, description="What the models were trained on besides, with access and without."
    )
    copies: int = Field(1, ge=1, le=10_000, description="Of the work, for a model trained here.")


class SimilaritySection(FileSection):
    """What the attacker knows of a passage, and when it comes back."""

    prompt: int = Field(20, ge=1, le=200, description="Words of a passage that are known.")
    window: int = Field(30, ge=1, le=200, description="Words of it that follow.")
    words: int = Field(
        Alike.words,
        ge=1,
        le=200,
        description="A passage comes back if the model says so many of these in a row.",
    )
    edits: float | None = Field(
        Alike.edits,
        ge=0,
        lt=1,
        description="Or if all of them are said with at most so many edits for each character.",
    )
    most: int = Field(
        500, ge=1, le=10**6, description="Passages of a work that are tried, evenly spread."
    )
    shown: int = Field(3, ge=0, le=100, description="Passages that the report shows.")


class CopyrightThreshold(Approval):
    """What is accepted."""

    gain: float = Field(
        ge=0, lt=1, description="Share of passages that come back by access alone, at most."
    )


class CopyrightRun(SeededRun):
    """How it is run."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Of all limits of the study together.")


class CopyrightStudy(FileSection):
    """A work, a model that had access to it, and one that had not: what comes back of the work."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    data: WorkFiles
    model: Annotated[Part, PartSection("language-model")] = Field(
        description="The model with access: trained here on the work, and another one without it; "
        "or in a folder, with a model without access as `reference`, and more as `shadows`."
    )
    similarity: SimilaritySection = SimilaritySection()  # pyright: ignore[reportCallIssue]
    threshold: CopyrightThreshold | None = None
    run: CopyrightRun = CopyrightRun()  # pyright: ignore[reportCallIssue] (has defaults)


WITH, WITHOUT, INDEPENDENT, GAIN = (
    "passages with access",
    "passages without access",
    "passages of independent works",
    "gain",
)


class Returned(Fact):
    """Passages of a work that a model went on with."""

    name: str = Field(description="Of the work, or of the model.")
    passages: Positive
    returned: Count

    @model_validator(mode="after")
    def _no_more(self) -> Returned:
        if self.returned > self.passages:
            raise ValueError("more passages came back than were tried")
        return self

    @property
    def share(self) -> float:
        return self.returned / self.passages

    def row(self, role: Role, of: str) -> StudyRow:
        counted = self.returned, self.passages
        quantity = Quantity(value=self.share, grade="counted", counted=counted)
        return StudyRow(role=role, of=of, name=self.name, quantity=quantity, about=self)


class CopyrightResult(StudyResult):
    """The texts and models, and all that was counted; the rows follow from it."""

    model: str
    trains: bool = Field(description="Whether the models were trained here.")
    copies: Positive
    prompt: Positive
    window: Positive
    words: Positive
    edits: float | None
    left_out: Count = Field(description="Passages of the work that other texts hold, too.")
    with_access: Returned
    without: tuple[Returned, ...] = Field(min_length=1, description="By models without access.")
    unrelated: Count = Field(description="Passages whose continuation is as near to another one.")
    longest: Count = Field(description="Words in a row that came back, at most.")
    independent: tuple[Returned, ...] = Field(min_length=1, description="By the one with access.")
    shown: tuple[tuple[int, str, str, str], ...] = Field(
        (), description="Words in a row that came back, the passage, with access and without."
    )
    confidence: Level

    def rows(self) -> Iterator[StudyRow]:
        """Yield what follows from what was counted.

        The gain is over what comes back without access, or of independent works, whichever is more.
        For certain it is over the most that an independent work may have: by that limit a work that
        no model saw shows a gain with a chance of 1 - confidence, however works differ.
        """
        share = self.with_access.share
        chance = next_limit([work.share for work in self.independent], confidence=self.confidence)
        without = max(work.share for work in self.without)
        yield self.with_access.row("attack", WITH)
        yield from (work.row("fresh", WITHOUT) for work in self.without)
        yield StudyRow(role="fresh", of=INDEPENDENT, quantity=Quantity.of(chance))
        low = None if chance.high is None else share - max(without, chance.high)
        gain = Quantity(
            value=share - max(without, chance.value),
            low=low,
            high=share - without,
            grade="sampled",
            confidence=self.confidence,
            trials=chance.trials,
            why=chance.why,
        )
        yield StudyRow(role="excess", of=GAIN, quantity=gain)

    @property
    def chance(self) -> float:
        """Chance that a work which no model saw stands as high among the others, at most."""
        above = sum(work.share >= self.with_access.share for work in self.independent)
        return (1 + above) / (1 + len(self.independent))


@dataclass(frozen=True, eq=False)
class CopyrightWork(PreparedWork[CopyrightStudy]):
    """Texts that were read, and models to be made."""

    part: HasModels = field(kw_only=True)
    work: WrittenWork = field(kw_only=True)
    independent: Sequence[WrittenWork] = field(kw_only=True)
    other: tuple[TextDocument, ...] = field(kw_only=True)

    @property
    def seen(self) -> list[TextDocument]:
        """What a model with access is trained on."""
        copies = self.study.data.copies
        return [*self.other, *(TextDocument(text, copies) for text in self.work.paragraphs)]


class CopyrightKind(Kind[CopyrightStudy, CopyrightWork]):
    """The kind "copyright"."""

    model = CopyrightStudy
    result = CopyrightResult
    layout = "narcissus_papers.copyright.layout:LAYOUT"

    def prepare(self, study: CopyrightStudy, folder: Path, options: RunOptions) -> CopyrightWork:
        part, files, rule = study.model.build(), study.data, study.similarity
        part.check()
        lacks = ""
        if rule.words > rule.window:
            lacks = f"`similarity.words` must be at most `window`, {rule.window}, got {rule.words}"
        elif part.trains and files.other is None:
            lacks = "a model that is trained here needs `data.other`: texts that both models see"
        elif not part.trains and study.model.options.get("reference") is None:
            lacks = (
                "a model in a folder needs `model.reference`: a model that had no access to the "
                "work, to compare with"
            )
        if lacks:
            raise InputError(lacks)
        work = works.read_work(folder / files.work, known=rule.prompt, window=rule.window)
        others = works.read_works(folder / files.independent, known=rule.prompt, window=rule.window)
        other = () if files.other is None else read_documents(folder / files.other, "paragraph")
        _refuse_the_work_among(work, others, other, files)
        digests = {"independent": files_digest(works.paths_of(folder / files.independent))}
        return CopyrightWork(
            study,
            folder,
            options.entropy,
            digests,
            part=part,
            work=work,
            independent=others,
            other=other,
        )

    def files(self, study: CopyrightStudy) -> Files:
        return {"work": study.data.work, "other": study.data.other}

    def cost(self, work: CopyrightWork, options: RunOptions) -> tuple[float, str]:
        seconds = work.part.seconds(work.seen) + work.part.seconds(work.other)
        return seconds, f"training {work.part.words()}, with access and without"

    def measure(self, work: CopyrightWork, done: Done, options: RunOptions) -> Findings:
        study, rule = work.study, work.study.similarity
        texts = [work.work, *work.independent]
        common = works.common_runs(texts, (source.text for source in work.other), rule.words)
        alike = Alike(rule.words, rule.edits, common)
        passages, *others = [_spread(alike.own(source), rule.most) for source in texts]
        if not passages or not any(others):
            raise InputError(
                "every passage of the work, or of all independent ones, is made of words that "
                "other texts hold, too, so that none could show access: raise `similarity.words`"
            )

        def returned(name: str, said: list[str], some: Sequence[Passage]) -> Returned:
            came = [alike.holds(*pair) for pair in zip(said, some, strict=True)]
            return Returned(name=name, passages=len(some), returned=sum(came))

        with options.place() as place, self.stored(options, {"batches of": "copyright"}) as store:
            made = work.part.models(
                work.seen,
                work.other,
                place,
                entropy=int(child(work.entropy, 0).integers(2**63)),
                observer=options.observer,
            )
            texts = [passage.text for passage in passages]
            made = keeping(made, store, options.observer, [texts])
            assert made.reference is not None  # as `prepare` has seen to
            options.observer.note("going on with passages")
            continuations, beside = (
                works.gone_on(source, passages) for source in (made.model, made.reference)
            )
            without = [beside, *(works.gone_on(read(), passages) for read in made.shadows)]
            independent = [
                returned(source.name, works.gone_on(made.model, some), some)
                for source, some in zip(work.independent, others, strict=True)
                if some
            ]
        pairs = list(zip(continuations, passages, strict=True))
        runs = [alike.words_in_a_row(*source) if alike.holds(*source) else 0 for source in pairs]
        best = sorted(range(len(runs)), key=lambda i: (-runs[i], i))[: rule.shown]
        shifted = [*passages[1:], *passages[:1]]
        result = CopyrightResult(
            model=work.part.words(),
            trains=work.part.trains,
            copies=study.data.copies,
            prompt=rule.prompt,
            window=rule.window,
            words=rule.words,
            edits=rule.edits,
            left_out=len(work.work.passages) - len(alike.own(work.work)),
            with_access=returned(work.work.name, continuations, passages),
            without=tuple(
                returned(f"model {place + 1} without access", source, passages)
                for place, source in enumerate(without)
            ),
            unrelated=returned("", continuations, shifted).returned if len(passages) > 1 else 0,
            longest=max(runs),
            independent=tuple(independent),
            confidence=study.run.confidence,
            shown=tuple(
                (runs[i], passages[i].text, continuations[i], beside[i]) for i in best if runs[i]
            ),
        )
        work.not_assessed.extend(
            model_not_assessed(trains=work.part.trains, limits_memory=work.part.limits_memory)
        )
        limit = None if study.threshold is None else study.threshold.gain
        return self.found((StudyCriterion(of=GAIN, at_most=limit),), result)

    def premises(self, result: CopyrightResult) -> tuple[str, ...]:
        assumptions = [
            "independent works, and this one to a model without access, are draws of one kind"
        ]
        if not result.trains:
            assumptions += [
                "the other models never saw the work",
                "no model saw an independent work",
            ]
        return tuple(assumptions)

    def is_of_people(self, study: Mapping[str, object]) -> bool:
        return True

    def to_show(self, result: CopyrightResult) -> CopyrightResult:
        return result.model_copy(update={"shown": ()})


KIND = CopyrightKind()


def _spread(passages: Sequence[Passage], most: int) -> list[Passage]:
    """Choose so many at most, evenly spread."""
    places = np.linspace(0, len(passages) - 1, min(most, len(passages)))
    return [passages[i] for i in np.unique(places.astype(int))]


def _refuse_the_work_among(
    work: WrittenWork, works: Sequence[WrittenWork], other: Sequence[TextDocument], given: WorkFiles
) -> None:
    """Refuse a comparison with the work itself: nothing could come back by access alone."""
    long_paragraphs = {text for text in work.paragraphs if len(text.split()) >= 10}
    other_works = {
        f"{given.independent / document.name}.txt": document.paragraphs for document in works
    }
    for name, texts in {
        **other_works,
        str(given.other): [document.text for document in other],
    }.items():
        if both := long_paragraphs.intersection(texts):
            places = [number for number, text in enumerate(work.paragraphs, 1) if text in both]
            raise InputError(
                f"{name} holds paragraph {places[0]:,} of the work: leave it out there, for what "
                "is compared must be without the work"
            )
