"""The kind "image-model": train or read a model of images, ask it, hold it against fresh images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._files import file_digest, files_digest
from narcissus._random import child
from narcissus.extraction.image_models import HasImageModels
from narcissus.observer import Observer
from narcissus.study.image.attacking import attacked
from narcissus.study.image.schema import ImageStudy
from narcissus.study.image.summary import summarised
from narcissus.study.image.words import (
    NOT_COVERED,
    assessed,
    assumptions,
    not_assessed,
    verdict_words,
)
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.results.image import ImageResults
from narcissus.study.work import agree

_DIVISION, _TRAINING = 0, 3  # keys of random streams; 1 and 2 are the attack's


class ImageKind:
    """The kind "image-model"."""

    model: type[BaseModel] = ImageStudy
    results: TypeAdapter[Any] = TypeAdapter(ImageResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse missing files, folders that are no models, missing packages."""
        settings: ImageStudy = study
        part: HasImageModels = settings.model.build()
        settings.relation.build()
        part.check(settings.division(folder, part, child(0, _DIVISION)).trained)

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Train, ask, summarise."""
        settings: ImageStudy = study
        options.refuse_policy_and_records("models of images")
        part: HasImageModels = settings.model.build()
        division = settings.division(folder, part, child(options.entropy, _DIVISION))
        shadow = division.shadow
        shadows = [] if shadow is None else [shadow] * settings.data.shadows
        agree(
            sum(part.seconds(one) for one in (division.trained, *shadows)),
            f"training {part.words()}, and {len(shadows)} shadow models",
            hours=options.hours,
            observer=options.observer,
        )
        with options.place() as place:
            models = part.models(
                division.trained,
                shadows,
                place,
                entropy=int(child(options.entropy, _TRAINING).integers(2**63)),
                observer=options.observer,
            )
            options.observer.note("asking for every caption")
            found = attacked(settings, models, division, options.entropy)
            results = summarised(settings, part.words(), models, division, found)
            weights: dict[str, str] = {}
            if models.folder is not None:
                weights["model"] = files_digest(models.folder.rglob("*.safetensors"))
        return Outcome(
            title=settings.title or "A model of images",
            status=results.status,
            verdict=verdict_words(results),
            grade=results.grade,
            assumptions=assumptions(division),
            results=results,
            assessed=assessed(results),
            not_assessed=not_assessed(results),
            not_covered=NOT_COVERED,
            digests={"images": file_digest(folder / settings.data.images), **weights},
        )


KIND = ImageKind()
