"""The kind "language-model": train or read a model, attack it, hold it against fresh documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._files import file_digest, files_digest, read_bytes
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.canaries import NamedCanaries, PlantedCanary, named_canaries
from narcissus.extraction.documents import Division
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import check_release
from narcissus.extraction.language_models import HasModels, ModelsUnderStudy
from narcissus.extraction.membership import membership_scores
from narcissus.extraction.sandbox import check_source
from narcissus.observer import Observer
from narcissus.study.extraction import extraction_results, program_not_assessed
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.language.attacking import completed, generated, texts_of
from narcissus.study.language.program import program_evidence, refuse_program
from narcissus.study.language.schema import LanguageStudy
from narcissus.study.language.summary import AttackedDocuments, FoundAboutModel, Scores, summarised
from narcissus.study.language.words import (
    NOT_COVERED,
    assessed,
    assumptions,
    not_assessed,
    verdict_words,
)
from narcissus.study.results.extraction import ExtractionResults
from narcissus.study.results.language import LanguageResults
from narcissus.study.work import agree

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
    """Give the digest of the weights of a model, all files of them."""
    check_release(folder, largest=2**50)
    return files_digest(folder.glob("*.safetensors"))
