"""Ask a model of images and its shadows for every caption, and see which images come back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.captioned_images import CaptionedImages, DividedImages
from narcissus.extraction.image_models import ImageModelsUnderStudy
from narcissus.extraction.reproduced import (
    Attempts,
    BoolArray,
    CaptionedGenerator,
    CloseUnlike,
    FloatArray,
    attempts_of,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.study.image.schema import ImageStudy

_ATTEMPTS, _LEFT_OUT = 1, 2  # keys of random streams


@dataclass(frozen=True)
class AttackedImages:
    """What the attack gave.

    Attributes
    ----------
    attempts
        On the model, by caption.
    distances
        Of each image trained on to the attempts from its caption, shape (trained,).
    outliers, fresh_outliers
        Which images trained on, and which fresh ones, are unlike the others.
    reproduced, reproduced_fresh
        Which of them are close to an attempt besides.
    shadow_outliers
        Which images trained on are unlike those of the shadow models.
    by_shadows
        Share of shadow models that give each image trained on; 0 where it is not unlike theirs.
    shadow_models
        How many there are.
    """

    attempts: Attempts
    distances: FloatArray
    outliers: BoolArray
    fresh_outliers: BoolArray
    reproduced: BoolArray
    reproduced_fresh: BoolArray
    shadow_outliers: BoolArray
    by_shadows: FloatArray
    shadow_models: int


def attacked(
    study: ImageStudy, models: ImageModelsUnderStudy, division: DividedImages, entropy: int
) -> AttackedImages:
    """Play the attack on the model and on its shadows, on the same noise.

    Raises
    ------
    InputError
        No image trained on is unlike all others.
    """
    relation = study.relation.build()
    trained, fresh, shadow = division.trained, division.fresh, division.shadow
    outliers = unlike_others(trained, relation.unique)
    if not outliers.any():
        raise InputError(
            f"no image trained on is farther than {relation.unique:g} from all others: make "
            "`relation.unique` smaller, and `close` with it"
        )
    captions = {*trained.captions, *fresh.captions}
    noise = int(child(entropy, _ATTEMPTS).integers(2**63))

    def asked(model: CaptionedGenerator, of: set[str]) -> Attempts:
        section = study.attempts
        pixels = trained.rows.shape[1]
        said = {"samples": section.samples, "keep": section.keep, "entropy": noise}
        return attempts_of(model, of, relation, pixels=pixels, **said)

    attempts = asked(models.model, captions)
    distances = nearest_attempt(trained, attempts)
    fresh_outliers = unlike_trained(fresh, trained, relation.unique, child(entropy, _LEFT_OUT, 0))
    shadow_outliers = np.zeros(len(trained), dtype=np.bool_)
    by_shadows = np.zeros(len(trained))
    if shadow is not None and models.shadows:
        shadow_outliers = unlike_trained(
            trained, shadow, relation.unique, child(entropy, _LEFT_OUT, 1)
        )
        each = [
            _close(trained, asked(one, set(trained.captions)), relation) for one in models.shadows
        ]
        by_shadows = np.mean(each, axis=0) * shadow_outliers
    return AttackedImages(
        attempts,
        distances,
        outliers,
        fresh_outliers,
        outliers & (distances < relation.close),
        fresh_outliers & _close(fresh, attempts, relation),
        shadow_outliers,
        by_shadows,
        len(models.shadows),
    )


def _close(images: CaptionedImages, attempts: Attempts, relation: CloseUnlike) -> BoolArray:
    return nearest_attempt(images, attempts) < relation.close
