"""Training of a small U-Net on some of the images (extra `images`)."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.extraction.captioned_images import CaptionedImages
from narcissus.extraction.image_models import ImageModelsUnderStudy
from narcissus.extraction.kept_training import keep, trained_already
from narcissus.extraction.unet import UNet, UNetSettings, torch_of, words_in
from narcissus.observer import SILENT, Observer

_STEP, _PIXEL = 6e-3, 6e-9  # seconds of a step, and of a pixel at width 1, on one core


@dataclass(frozen=True)
class UNetTraining:
    """A diffusion model with a small U-Net, trained here on a part of the images (extra `images`).

    Parameters
    ----------
    width
        Channels of its first layer, a multiple of 4.
    epochs
        Passes over each copy of an image.
    batch
        Images of a step.
    learning_rate
        Of Adam, at its highest; it falls to a tenth along a cosine.
    steps
        Steps from noise to an image.
    device
        "cpu", "cuda", ...; by default a GPU if there is one.

    Raises
    ------
    InputError
        A number is out of its range.
    MissingExtraError
        torch is not installed.
    """

    width: int = 16
    epochs: int = 200
    batch: int = 32
    learning_rate: float = 2e-3
    steps: int = 20
    device: str | None = None

    trains = True

    def __post_init__(self) -> None:
        for name in ("width", "epochs", "batch", "steps"):
            integer(name, getattr(self, name), low=1)
        positive("learning_rate", self.learning_rate)
        self.settings((4, 4, 1))
        torch_of("Training a U-Net")

    def check(self, images: CaptionedImages) -> None:
        """Refuse images whose sides do not fit."""
        self.settings(images.shape)

    def settings(self, shape: tuple[int, int, int], words: Sequence[str] = ()) -> UNetSettings:
        """Return the dimensions of a U-Net for such images."""
        return UNetSettings(shape, self.width, tuple(words), self.steps)

    def words(self) -> str:
        return (
            f"a diffusion model with a U-Net of width {self.width}, {self.epochs} epochs, "
            f"{self.steps} steps from noise to an image"
        )

    def seconds(self, images: CaptionedImages) -> float:
        """Estimate the training time on one core of a CPU."""
        height, width, _ = images.shape
        seen = int(images.copies.sum()) * self.epochs
        each = _STEP / self.batch + _PIXEL * self.width**2 * height * width
        return seen * each

    def models(
        self,
        trained: CaptionedImages,
        shadows: Sequence[CaptionedImages],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ImageModelsUnderStudy:
        """Train all, or take those of an earlier run of the same study."""
        captions = {caption for one in (trained, *shadows) for caption in one.captions}
        words = sorted({word for caption in captions for word in words_in(caption)})
        found: list[UNet] = []
        for number, images in enumerate((trained, *shadows)):
            folder = place / ("model" if number == 0 else f"shadow-{number}")
            said = {**asdict(self), "entropy": str(entropy), "images": _digest(images, words)}
            if not trained_already(folder, said):
                shutil.rmtree(folder, ignore_errors=True)
                rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
                self.train(images, words=words, rng=rng, observer=observer).save(folder)
                keep(folder, said)
            found.append(UNet.load(folder, self._on()))
        return ImageModelsUnderStudy(
            found[0], tuple(found[1:]), found[0].parameters, place / "model"
        )

    def _on(self) -> str:
        if self.device:
            return self.device
        return "cuda" if torch_of("Training a U-Net").cuda.is_available() else "cpu"

    def train(
        self,
        images: CaptionedImages,
        *,
        words: Sequence[str] | None = None,
        rng: RandomSource = None,
        observer: Observer = SILENT,
    ) -> UNet:
        """Train on images, each repeated by its copies.

        The same seed gives the same numbers on the same machine with the same number of threads;
        other machines round differently.

        Parameters
        ----------
        images
            Training images.
        words
            Vocabulary of the captions; None: the words in them.
        rng
            Draws the initial weights, the order of images, and noise.
        observer
            Receives every step.
        """
        torch, random = torch_of("Training a U-Net"), generator(rng)
        if words is None:
            words = sorted({word for caption in images.captions for word in words_in(caption)})
        net = UNet.initial(self.settings(images.shape, words), random).to(self._on())
        for tensor in net.weights.values():
            tensor.requires_grad_(True)
        pixels = torch.tensor(
            images.pixels.transpose(0, 3, 1, 2) * 2 - 1, dtype=torch.float32, device=net.device
        )
        told = net.words_of(images.captions)
        order = np.repeat(np.arange(len(images)), images.copies)
        batches = -(-len(order) // self.batch)
        optimiser = torch.optim.Adam(net.weights.values(), lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimiser, batches * self.epochs, eta_min=self.learning_rate / 10
        )
        observer.start("train a diffusion model", batches * self.epochs)
        for _ in range(self.epochs):
            shuffled = random.permutation(order)
            for begin in range(0, len(order), self.batch):
                chosen = shuffled[begin : begin + self.batch]
                loss = _loss(torch, net, pixels[chosen], told[chosen], random)
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(net.weights.values(), 1.0)
                optimiser.step()
                schedule.step()
                observer.advance()
        observer.finish()
        for tensor in net.weights.values():
            tensor.requires_grad_(False)
        return net


def _loss(torch: Any, net: UNet, clean: Any, words: Any, random: np.random.Generator) -> Any:
    """Return the mean square error of the velocity at random levels of noise."""

    def drawn(values: Any) -> Any:
        return torch.tensor(values, dtype=torch.float32, device=net.device)

    angle = drawn(random.uniform(0, math.pi / 2, len(clean)))
    noise = drawn(random.normal(size=tuple(clean.shape)))
    cos, sin = angle.cos()[:, None, None, None], angle.sin()[:, None, None, None]
    predicted = net.velocity(cos * clean + sin * noise, angle, words)
    return ((predicted - (cos * noise - sin * clean)) ** 2).mean()


def _digest(images: CaptionedImages, words: Sequence[str]) -> str:
    found = hashlib.sha256(images.pixels.tobytes())
    found.update(images.copies.tobytes())
    found.update(json.dumps([images.captions, list(words)]).encode())
    return found.hexdigest()
