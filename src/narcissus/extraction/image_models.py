"""Models of images under study: trained here without the fresh images, or in a local folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, child
from narcissus._validation import integer
from narcissus.extraction.captioned_images import CaptionedImages
from narcissus.extraction.diffusion import MixtureDiffusion
from narcissus.extraction.reproduced import CaptionedGenerator
from narcissus.observer import Observer


@dataclass(frozen=True)
class ImageModelsUnderStudy:
    """A model of images, and others that were trained without its images.

    Attributes
    ----------
    model, shadows
        The models.
    parameters
        How many numbers the model has.
    folder
        Where it is as a release; None for a model that is in memory only.
    """

    model: CaptionedGenerator
    shadows: tuple[CaptionedGenerator, ...]
    parameters: int
    folder: Path | None


class HasImageModels(Protocol):
    """A part `image-model`: how the models of a study come about."""

    @property
    def trains(self) -> bool:
        """Whether the models are trained here, so that chance decides on which images."""
        ...

    def check(self, images: CaptionedImages) -> None:
        """Refuse what cannot be used for such images, before any work."""
        ...

    def seconds(self, images: CaptionedImages) -> float:
        """Estimate what training on such images takes."""
        ...

    def words(self) -> str:
        """Say what the model is, for a reader."""
        ...

    def models(
        self,
        trained: CaptionedImages,
        shadows: Sequence[CaptionedImages],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ImageModelsUnderStudy:
        """Give a model of images, and one of each of ``shadows``; ``place`` keeps them."""
        ...


class CaptionlessMixture:
    """A mixture of Gaussians behind the protocol: whatever the caption, it draws from all images.

    Parameters
    ----------
    model
        The mixture.
    """

    def __init__(self, model: MixtureDiffusion) -> None:
        self._model = model

    @property
    def parameters(self) -> int:
        """How many numbers it has: a mean, a width and a weight for each Gaussian."""
        return int(self._model.means.size + 2 * len(self._model.weights))

    def sample(
        self, count: int, *, caption: str = "", rng: RandomSource = None
    ) -> NDArray[np.float64]:
        """Draw images as rows of pixels, shape (count, pixels)."""
        return np.clip(self._model.sample(count, rng=rng), 0.0, 1.0)


@dataclass(frozen=True)
class MixtureTraining:
    """A diffusion model whose denoiser is exact for a mixture of Gaussians; needs no extra.

    It takes no captions, and is fitted here to a part of the images.

    Parameters
    ----------
    components
        Gaussians that the model is a mixture of, at most one for each image.
    """

    components: int = 30

    trains = True

    def __post_init__(self) -> None:
        integer("components", self.components, low=1)

    def check(self, images: CaptionedImages) -> None:
        """Take any images."""

    def seconds(self, images: CaptionedImages) -> float:
        """Count distances."""
        return 1e-7 * self.components * int(images.copies.sum()) * images.rows.shape[1]

    def words(self) -> str:
        """Say its size."""
        return f"a diffusion model of a mixture of {self.components} Gaussians, without captions"

    def models(
        self,
        trained: CaptionedImages,
        shadows: Sequence[CaptionedImages],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ImageModelsUnderStudy:
        """Fit all; they stay in memory."""

        def fitted(number: int, images: CaptionedImages) -> CaptionlessMixture:
            rows = np.repeat(images.rows, images.copies, axis=0)
            few = min(self.components, len(rows))
            return CaptionlessMixture(
                MixtureDiffusion(rows, components=few, rng=child(entropy, number))
            )

        model, *others = (fitted(i, images) for i, images in enumerate((trained, *shadows)))
        return ImageModelsUnderStudy(model, tuple(others), model.parameters, None)
