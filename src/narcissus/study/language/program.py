"""The program of a study of a language model: run in the sandbox on the model folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from narcissus._files import read_bytes
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.canaries import PlantedCanary
from narcissus.extraction.documents import Division
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import DataSet
from narcissus.extraction.language_models import HasModels, ModelsUnderStudy
from narcissus.extraction.sandbox import Limits
from narcissus.study.extraction_work import check
from narcissus.study.kinds import RunOptions
from narcissus.study.language.attacking import texts_of
from narcissus.study.language.schema import LanguageStudy

_STREAM = 5
_MIB = 2**20


def refuse_program(part: HasModels) -> None:
    """Refuse a program for a model that is no folder.

    Raises
    ------
    InputError
        The model is in memory only.
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
