"""The kind "language-model": train or read a model, attack it, hold it against fresh documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._files import file_digest, files_digest, read_bytes
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.language_models import HasModels, LanguageModel, ModelsUnderStudy
from narcissus.extraction.ngram import RankedSamples, rank_samples
from narcissus.extraction.recovered import (
    BoolArray,
    Division,
    NamedCanaries,
    PlantedCanary,
    PrintedStretches,
    TextDocument,
    completed_documents,
    long_enough,
    membership_scores,
    named_canaries,
    printed_stretches,
    prompt_ends,
)
from narcissus.extraction.sandbox import Limits, check_source
from narcissus.observer import Observer
from narcissus.study.extraction import extraction_results, program_not_assessed
from narcissus.study.extraction_work import check
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.language.schema import CompletionSection, GenerationSection, LanguageStudy
from narcissus.study.language.summary import AttackedDocuments, FoundAboutModel, Scores, summarised
from narcissus.study.language.words import (
    NOT_COVERED,
    assessed,
    assumptions,
    not_assessed,
    verdict_words,
)
from narcissus.study.results.extraction import ExtractionResults
from narcissus.study.results.language import LanguageResults, RankedBy
from narcissus.study.work import agree


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


_STREAM = 5
_MIB = 2**20


def refuse_program(part: HasModels) -> None:
    """Refuse a program for a model that is no folder.
    Raises InputError: the model is in memory only.
    """
    if part.in_memory:
        raise InputError(
            "[program] needs a model folder to be given: use the model `transformer` or `folder`"
        )


def program_evidence(
    study: LanguageStudy,
    models: ModelsUnderStudy,
    division: Division,
    planted: Sequence[PlantedCanary],
    folder: Path,
    options: RunOptions,
) -> ExtractionEvidence | None:
    """Run the program with the model, with stand-ins and the reference model, and weigh it.

    The shadow data are the fresh documents, with canaries whose secrets were never planted.
    """
    section = study.program
    if section is None or models.folder is None:
        return None
    random = child(options.entropy, _STREAM)
    others: list[str] = []
    if study.canaries is not None:
        secrets = study.canaries.plan().secrets(len(planted), random)
        others = [one.text(secret) for one, secret in zip(planted, secrets, strict=True)]
    data = [*texts_of(division.trained), *(one.text() for one in planted)]
    reference = models.reference_folder
    program, workers = read_bytes(folder / section.path), options.workers or study.run.workers
    limits = Limits(
        section.limits.seconds,
        section.limits.memory * _MIB,
        section.limits.output * _MIB,
        disk=section.limits.disk * _MIB,
    )
    programs = 2 + (reference is not None)
    check(program, models.folder, limits, section.runs * programs, workers=workers, options=options)
    return assess_extraction(
        DataSet("\n".join(data).encode(), "the documents trained on"),
        models.folder,
        program,
        section.relation.build(),
        runs=section.runs,
        margin=section.margin,
        shadows=[DataSet("\n".join([*texts_of(division.fresh), *others]).encode(), "fresh ones")],
        other_releases={} if reference is None else {"the reference model": reference},
        confidence=study.run.confidence,
        limits=limits,
        workers=workers,
        served=section.server,
        rng=random,
        observer=options.observer,
    )


_DIVISION, _CANARIES, _RANKS, _TRAINING = 0, 2, 3, 4  # keys of random streams; 1 is sampling's


class LanguageKind:
    """The kind "language-model"."""

    model: type[BaseModel] = LanguageStudy
    results: TypeAdapter[Any] = TypeAdapter(LanguageResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse missing files, folders that are no models, missing packages."""
        settings: LanguageStudy = study
        part: HasModels = settings.model.build()
        part.check()
        settings.division(folder, part, child(0, _DIVISION))
        if settings.program is not None:
            refuse_program(part)
            check_source(read_bytes(folder / settings.program.path), str(settings.program.path))

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Train, attack, summarise."""
        settings: LanguageStudy = study
        options.refuse_policy_and_records("language models")
        part: HasModels = settings.model.build()
        division = settings.division(folder, part, child(options.entropy, _DIVISION))
        planted = _planted(settings, options.entropy)
        documents = [*division.trained, *(one.document for one in planted)]
        agree(
            part.seconds(documents) + part.seconds(division.reference),
            f"training {part.words()}, and a reference model",
            hours=options.hours,
            observer=options.observer,
        )
        with options.place() as place:
            models = part.models(
                documents,
                division.reference,
                place,
                entropy=int(child(options.entropy, _TRAINING).integers(2**63)),
                observer=options.observer,
            )
            attacked = _attacked(settings, models, division, planted, options)
            scores = _scores(settings, models, division)
            evidence = program_evidence(settings, models, division, planted, folder, options)
            found = FoundAboutModel(
                part.words(),
                models.parameters,
                division,
                attacked,
                scores[0],
                scores[1],
                _canaries(settings, models, planted, options.entropy),
                _program(settings, evidence),
                models.reference is not None,
            )
            weights = {} if models.folder is None else {"model": _weights(models.folder)}
        results = summarised(settings, found)
        return Outcome(
            title=settings.title or "A language model",
            status=results.status,
            verdict=verdict_words(results),
            grade=results.grade,
            assumptions=assumptions(division, evidence, has_shadows=bool(models.shadows)),
            results=results,
            assessed=assessed(results),
            not_assessed=[
                *not_assessed(settings, results),
                *([] if evidence is None else program_not_assessed(evidence)),
            ],
            not_covered=NOT_COVERED,
            digests={"documents": file_digest(folder / settings.data.documents), **weights},
        )


KIND = LanguageKind()


def _planted(study: LanguageStudy, entropy: int) -> tuple[PlantedCanary, ...]:
    if study.canaries is None:
        return ()
    return study.canaries.plan().plant(child(entropy, _CANARIES))


def _attacked(
    study: LanguageStudy,
    models: ModelsUnderStudy,
    division: Division,
    planted: Sequence[PlantedCanary],
    options: RunOptions,
) -> list[AttackedDocuments]:
    # the first to be played, since it is quick to find that documents are too short for it
    known = completed(models, division, study.completion) if study.completion else None
    attacks: list[AttackedDocuments] = []
    if study.generation:
        options.observer.note("sampling and ranking")
        mine = [one.text() for one in planted]
        attacks.append(
            generated(models, division, study.generation, entropy=options.entropy, mine=mine)
        )
    if known is not None:
        attacks.append(known)
    if not attacks:
        raise InputError(
            "no document is long enough for [completion], the only attack: make `prompt` or "
            "`window` smaller, or play [generation]"
        )
    return attacks


def _scores(study: LanguageStudy, models: ModelsUnderStudy, division: Division) -> list[Scores]:
    """Score documents by side; nothing where it was not asked for."""
    if not study.membership:
        return [{}, {}]
    return [
        membership_scores(models.model, texts_of(side), models.reference)
        for side in (division.trained, division.fresh)
    ]


def _canaries(
    study: LanguageStudy,
    models: ModelsUnderStudy,
    planted: Sequence[PlantedCanary],
    entropy: int,
) -> tuple[NamedCanaries, ...]:
    if study.canaries is None:
        return ()
    return named_canaries(
        models.model,
        planted,
        study.canaries.plan(),
        alternatives=study.canaries.alternatives,
        completes=models.model,
        rng=child(entropy, _RANKS),
    )


def _program(study: LanguageStudy, evidence: ExtractionEvidence | None) -> ExtractionResults | None:
    if study.program is None or evidence is None:
        return None
    return extraction_results(evidence, study.program.relation.build())


def _weights(folder: Path) -> str:
    """Return the digest of the weights of a model, all files of them."""
    check_release(folder, largest=2**50)
    return files_digest(folder.glob("*.safetensors"))
