"""A small U-Net that denoises images conditioned on captions (PyTorch, extra `images`).

Three sizes of an image (whole, half, quarter), two residual blocks at each except the smallest, and
skip connections; the level of noise and the words of the caption scale and shift every block. A
caption is the set of its words that occur in the training captions.

Source: the denoiser follows Ho et al. 2020 and Ronneberger et al. 2015, the prediction of a
velocity Salimans and Ho 2022, sampling without fresh noise Song et al. 2021.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._arrays import Floats
from narcissus._files import parsing, read_bytes
from narcissus._json import read_json
from narcissus._optional import optional
from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.extraction.files import trained_once
from narcissus.extraction.image_models import HasImageModels, ImageModelsUnderStudy
from narcissus.extraction.images import CaptionedImages
from narcissus.extraction.model_engine import device_of
from narcissus.extraction.training import descend
from narcissus.observer import SILENT, Observer

WEIGHTS, SETTINGS = "model.safetensors", "unet.json"
_WAVES = 8  # frequencies by which the level of noise is told
_PURPOSE = "Training a U-Net"
_BATCH = 256  # images at a time
_STEP, _PIXEL = 6e-3, 6e-9  # seconds of a step, and of a pixel at width 1, on one core


def torch_of(purpose: str) -> Any:
    return optional("torch", extra="images", purpose=purpose)


@dataclass(frozen=True)
class UNetSettings:
    """Dimensions of a U-Net."""

    # height, width and channels of its images; height and width multiples of 4
    shape: tuple[int, int, int]
    width: int  # channels of its first layer, a multiple of 4
    words: tuple[str, ...]  # vocabulary of the captions
    steps: int  # from noise to an image

    def __post_init__(self) -> None:
        height, width, _ = self.shape
        if height % 4 or width % 4:
            raise InputError(
                f"a U-Net takes images whose sides are multiples of 4 pixels, got {height} x "
                f"{width}: cut or pad them"
            )
        if self.width < 4 or self.width % 4:
            raise InputError(f"`width` must be a multiple of 4, got {self.width}")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights, by its name."""
        w, channels = self.width, self.shape[2]
        condition_width = 4 * w
        array_shapes: dict[str, tuple[int, ...]] = {
            "words": (max(1, len(self.words)), condition_width),
            "noise.weight": (condition_width, 2 * _WAVES),
            "noise.bias": (condition_width,),
            "told.weight": (condition_width, condition_width),
            "told.bias": (condition_width,),
            **_convolution("first", channels, w),
            **_convolution("down1", w, 2 * w),
            **_convolution("down2", 2 * w, 2 * w),
            **_convolution("last", w, channels),
        }
        for name, before, after in self.blocks:
            array_shapes |= _convolution(f"{name}.one", before, after)
            array_shapes |= _convolution(f"{name}.two", after, after)
            array_shapes |= {
                f"{name}.told.weight": (2 * after, condition_width),
                f"{name}.told.bias": (2 * after,),
            }
            if before != after:
                array_shapes |= _convolution(f"{name}.past", before, after, 1)
        return array_shapes

    @property
    def blocks(self) -> list[tuple[str, int, int]]:
        """Residual blocks with their channels before and after."""
        w = self.width
        return [
            ("whole", w, w),
            ("half", 2 * w, 2 * w),
            ("quarter", 2 * w, 2 * w),
            ("half.up", 4 * w, 2 * w),
            ("whole.up", 3 * w, w),
        ]

    @property
    def parameters(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())


def _convolution(name: str, before: int, after: int, size: int = 3) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (after, before, size, size), f"{name}.bias": (after,)}


class UNet:
    """A U-Net with its weights."""

    def __init__(self, settings: UNetSettings, weights: Mapping[str, Any]) -> None:
        self.settings, self.weights = settings, dict(weights)
        self._torch = torch_of("A U-Net")

    @classmethod
    def initial(cls, settings: UNetSettings, rng: RandomSource = None) -> UNet:
        """Draw initial weights; the last layer starts from 0."""
        torch, random = torch_of("A U-Net"), generator(rng)
        weights: dict[str, Any] = {}
        for name, shape in settings.shapes.items():
            # what comes last in a block starts at 0: the block starts as nothing
            is_zero = name.endswith("bias") or name.split(".")[-2:][0] in ("two", "last")
            scale = 1.0 if name == "words" else math.sqrt(2 / math.prod(shape[1:]))
            drawn = random.normal(0.0, 0.0 if is_zero else scale, shape)
            weights[name] = torch.tensor(drawn, dtype=torch.float32)
        return cls(settings, weights)

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return self.settings.parameters

    @property
    def device(self) -> Any:
        """Device of its weights."""
        return self.weights["words"].device

    def to(self, device: str) -> UNet:
        """Copy it to another device."""
        moved = {name: tensor.to(device) for name, tensor in self.weights.items()}
        return UNet(self.settings, moved)

    def words_of(self, captions: Sequence[str]) -> Any:
        """Indicate each caption's words, a tensor of shape (captions, words)."""
        place = {word: i for i, word in enumerate(self.settings.words)}
        indicators = np.zeros((len(captions), max(1, len(place))), dtype=np.float32)
        for row, caption in enumerate(captions):
            for word in words_in(caption):
                if word in place:
                    indicators[row, place[word]] = 1
        return self._torch.tensor(indicators, device=self.device)

    def velocity(self, noisy: Any, angle: Any, words: Any) -> Any:
        """Predict ``cos(angle) noise - sin(angle) image``.

        noisy: ``cos(angle) image + sin(angle) noise``, shape (images, channels, height, width);
            pixels of images in [-1, 1].
        angle: from 0, no noise, to pi / 2, noise alone; shape (images,).
        """
        f = self._torch.nn.functional
        condition = self._told(angle, words)
        whole = self._block("whole", self._convolved("first", noisy), condition)
        half = self._block("half", self._convolved("down1", whole, stride=2), condition)
        quarter = self._block("quarter", self._convolved("down2", half, stride=2), condition)
        up = self._torch.cat([f.interpolate(quarter, scale_factor=2), half], 1)
        up = self._block("half.up", up, condition)
        up = self._torch.cat([f.interpolate(up, scale_factor=2), whole], 1)
        return self._convolved("last", f.silu(self._block("whole.up", up, condition)))

    def _told(self, angle: Any, words: Any) -> Any:
        torch, w = self._torch, self.weights
        waves = angle[:, None] * 2.0 ** torch.arange(_WAVES, device=angle.device)
        waves = torch.cat([waves.sin(), waves.cos()], 1)
        condition = waves @ w["noise.weight"].T + w["noise.bias"] + words @ w["words"]
        return torch.nn.functional.silu(
            torch.nn.functional.silu(condition) @ w["told.weight"].T + w["told.bias"]
        )

    def _convolved(self, name: str, images: Any, stride: int = 1) -> Any:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        around = weight.shape[2] // 2
        return self._torch.nn.functional.conv2d(images, weight, bias, stride, around)

    def _block(self, name: str, images: Any, told: Any) -> Any:
        f, w = self._torch.nn.functional, self.weights
        inner = self._convolved(f"{name}.one", f.silu(f.group_norm(images, 4)))
        scale, shift = (told @ w[f"{name}.told.weight"].T + w[f"{name}.told.bias"]).chunk(2, 1)
        inner = f.group_norm(inner, 4) * (1 + scale[:, :, None, None]) + shift[:, :, None, None]
        inner = self._convolved(f"{name}.two", f.silu(inner))
        past = f"{name}.past.weight" in w
        return inner + (self._convolved(f"{name}.past", images) if past else images)

    def sample(self, count: int, *, caption: str = "", rng: RandomSource = None) -> Floats:
        """Draw images with pixels in [0, 1], shape (count, height * width * channels)."""
        torch, random = self._torch, generator(rng)
        height, width, channels = self.settings.shape
        start = random.normal(size=(integer("count", count, low=1), channels, height, width))
        images: list[Floats] = []
        with torch.no_grad():
            for begin in range(0, count, _BATCH):
                noisy = torch.tensor(
                    start[begin : begin + _BATCH], dtype=torch.float32, device=self.device
                )
                words = self.words_of([caption]).expand(len(noisy), -1)
                clean = self._denoised(noisy, words).clamp(-1, 1).permute(0, 2, 3, 1)
                images.append(clean.reshape(len(noisy), -1).cpu().double().numpy() / 2 + 0.5)
        return np.concatenate(images)

    def _denoised(self, noisy: Any, words: Any) -> Any:
        """Follow the denoiser down, without fresh noise (DDIM)."""
        steps = self.settings.steps
        for step in range(steps):
            angle, lower = (math.pi / 2 * (1 - (step + i) / steps) for i in (0, 1))
            at = self._torch.full((len(noisy),), angle, device=self.device)
            velocity = self.velocity(noisy, at, words)
            clean = (math.cos(angle) * noisy - math.sin(angle) * velocity).clamp(-1, 1)
            noise = math.sin(angle) * noisy + math.cos(angle) * velocity
            noisy = math.cos(lower) * clean + math.sin(lower) * noise
        return noisy

    def save(self, folder: Path | str) -> None:
        """Write a folder: weights in safetensors, settings in JSON."""
        safe = optional("safetensors.torch", extra="images", purpose="Saving a U-Net")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SETTINGS).write_text(json.dumps(asdict(self.settings), indent=1) + "\n")
        on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in self.weights.items()}
        safe.save_file(on_cpu, str(folder / WEIGHTS))

    @classmethod
    def load(cls, folder: Path | str, device: str = "cpu") -> UNet:
        """Read a folder that `save` wrote; `InputError` if files are missing or do not fit."""
        folder = Path(folder)
        bad = (AttributeError, LookupError, TypeError, ValueError)  # JSON of another form
        with parsing(folder / SETTINGS, "the settings of a U-Net", *bad):
            fields: Any = read_json(read_bytes(folder / SETTINGS))
            fields |= {"shape": tuple(fields["shape"]), "words": tuple(fields["words"])}
            settings = UNetSettings(**fields)
        safe = optional("safetensors.torch", extra="images", purpose="Reading a U-Net")
        with parsing(folder / WEIGHTS, "a safetensors file"):
            weights = safe.load_file(str(folder / WEIGHTS), device=device)
        if {name: tuple(array.shape) for name, array in weights.items()} != settings.shapes:
            raise InputError(f"the weights in {folder} are not those of its {SETTINGS}")
        return cls(settings, weights)


def words_in(caption: str) -> list[str]:
    return caption.lower().split()


def vocabulary(captions: Iterable[str]) -> list[str]:
    return sorted({word for caption in set(captions) for word in words_in(caption)})


@dataclass(frozen=True)
class UNetTraining(HasImageModels):
    """A diffusion model with a small U-Net, trained here on a part of the images (extra `images`).

    width: Channels of its first layer, a multiple of 4.
    epochs: Passes over each copy of an image.
    batch: Images of a step.
    learning_rate: Of Adam, at its highest; it falls to a tenth along a cosine.
    steps: Steps from noise to an image.
    device: "cpu", "cuda", ...; by default a GPU if there is one.
    """

    width: int = 16
    epochs: int = 200
    batch: int = 32
    learning_rate: float = 2e-3
    steps: int = 20
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("width", "epochs", "batch", "steps"):
            integer(name, getattr(self, name), low=1)
        positive("learning_rate", self.learning_rate)
        self.settings((4, 4, 1))
        torch_of(_PURPOSE)

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
        height, width, _ = images.shape
        each = _STEP / self.batch + _PIXEL * self.width**2 * height * width
        return int(images.copies.sum()) * self.epochs * each

    def models(
        self,
        trained: CaptionedImages,
        shadows: Sequence[CaptionedImages],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ImageModelsUnderStudy:
        every = (trained, *shadows)
        words = vocabulary(caption for image_set in every for caption in image_set.captions)
        nets: list[UNet] = []

        def train(images: CaptionedImages, folder: Path, rng: RandomSource) -> None:
            self.train(images, words=words, rng=rng, observer=observer).save(folder)

        for number, images in enumerate(every):
            folder = place / ("model" if number == 0 else f"shadow-{number}")
            rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
            settings = {**asdict(self), "entropy": str(entropy), "images": _digest(images, words)}
            trained_once(folder, settings, partial(train, images, folder, rng))
            nets.append(UNet.load(folder, device_of(torch_of(_PURPOSE), self.device)))
        return ImageModelsUnderStudy(nets[0], tuple(nets[1:]), nets[0].parameters, place / "model")

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
        other machines round differently. ``words`` is the vocabulary of the captions; None: the
        words in them.
        """
        torch, random = torch_of(_PURPOSE), generator(rng)
        known = vocabulary(images.captions) if words is None else words
        net = UNet.initial(self.settings(images.shape, known), random).to(
            device_of(torch, self.device)
        )
        for tensor in net.weights.values():
            tensor.requires_grad_(True)
        pixels = torch.tensor(
            images.pixels.transpose(0, 3, 1, 2) * 2 - 1, dtype=torch.float32, device=net.device
        )
        indicators = net.words_of(images.captions)
        descend(
            torch,
            torch.optim.Adam(net.weights.values(), lr=self.learning_rate),
            lambda some: _loss(torch, net, pixels[some], indicators[some], random),
            np.repeat(np.arange(len(images)), images.copies),
            "a diffusion model",
            epochs=self.epochs,
            batch=self.batch,
            random=random,
            observer=observer,
        )
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
    digest = hashlib.sha256(images.pixels.tobytes())
    digest.update(images.copies.tobytes())
    digest.update(json.dumps([images.captions, list(words)]).encode())
    return digest.hexdigest()
