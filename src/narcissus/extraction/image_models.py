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
    """A model of images, and shadows that were trained without its images."""

    model: CaptionedGenerator
    shadows: tuple[CaptionedGenerator, ...]
    parameters: int  # of the model
    folder: Path | None  # of the release; None for a model in memory only


class HasImageModels(Protocol):
    """A part `image-model`: the source of a study's models."""

    @property
    def trains(self) -> bool:
        """Whether the models are trained here, so that the division of images is random."""
        ...

    def check(self, images: CaptionedImages) -> None:
        """Refuse an unusable part for such images, before any work."""
        ...

    def seconds(self, images: CaptionedImages) -> float:
        """Estimate the training time on such images."""
        ...

    def words(self) -> str:
        """Describe the model for a reader."""
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
        """Make a model of images and one of each of ``shadows``, kept in ``place``."""
        ...


class CaptionlessMixture:
    """A mixture of Gaussians that ignores captions."""

    def __init__(self, model: MixtureDiffusion) -> None:
        self._model = model

    @property
    def parameters(self) -> int:
        """Number of parameters: a mean, a width and a weight for each Gaussian."""
        return int(self._model.means.size + 2 * len(self._model.weights))

    def sample(
        self, count: int, *, caption: str = "", rng: RandomSource = None
    ) -> NDArray[np.float64]:
        return np.clip(self._model.sample(count, rng=rng), 0.0, 1.0)


@dataclass(frozen=True)
class MixtureTraining:
    """A diffusion model whose denoiser is exact for a mixture of Gaussians; needs no extra.

    It takes no captions, and is fitted here to a part of the images.

    Parameters
    ----------
    components
        Gaussians of the model's mixture, at most one for each image.
    """

    components: int = 30

    trains = True

    def __post_init__(self) -> None:
        integer("components", self.components, low=1)

    def check(self, images: CaptionedImages) -> None:
        """Accept any images."""

    def seconds(self, images: CaptionedImages) -> float:
        return 1e-7 * self.components * int(images.copies.sum()) * images.rows.shape[1]

    def words(self) -> str:
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
        def fitted(number: int, images: CaptionedImages) -> CaptionlessMixture:
            rows = np.repeat(images.rows, images.copies, axis=0)
            few = min(self.components, len(rows))
            return CaptionlessMixture(
                MixtureDiffusion(rows, components=few, rng=child(entropy, number))
            )

        model, *others = (fitted(i, images) for i, images in enumerate((trained, *shadows)))
        return ImageModelsUnderStudy(model, tuple(others), model.parameters, None)
