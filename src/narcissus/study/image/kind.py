"""The kind "image-model": train or read a model of images, ask it, hold it against fresh images."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._random import child
from narcissus.errors import InputError
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
        if options.policy is not None:
            raise InputError("`--policy` is not for studies of models of images: use [threshold]")
        if options.internal is not None:
            raise InputError("`--records` is not for studies of models of images")
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
        with _place(options.folder) as place:
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
            weights = {} if models.folder is None else {"model": _weights(models.folder)}
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
            digests={"images": _digest(folder / settings.data.images), **weights},
        )


KIND = ImageKind()


@contextmanager
def _place(folder: Path | None) -> Generator[Path]:
    """Give where models are kept: the results folder, or a temporary one."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def _weights(folder: Path) -> str:
    """Give the digest of the weights of a model, all files of them."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*.safetensors")):
        found.update(_digest(file).encode())
    return "sha256:" + found.hexdigest()
