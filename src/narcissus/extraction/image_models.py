"""Models of images under study, and which images they reproduce.

`MixtureDiffusion` leaks a duplicated outlier, as large diffusion models do, at the size of a test:
its denoiser is exact for a mixture of Gaussians fitted to the data, and sampling follows it from
noise. With few components it generalises, but an image with many copies gets a component to itself
and is printed again almost unchanged. A model in a local folder is in the format of the library
diffusers (extra `images`): nothing is downloaded and no code of the folder is run. Weights are read
from safetensors only, since the older formats are pickles, and every part must be of a class of
diffusers or transformers.

The attacker samples each caption many times and keeps the repeated outputs. An image counts as
reproduced if one of the attempts for its caption is close to it and it is unlike every other image
of the training data. *Fresh* images are compared with the same attempts by the same rule, as the
baseline of unseen images. Given the training data, the model and the initial noise, whether a fresh
image counts depends on this image alone. So limits of the fresh share hold however training images
depend on each other through the model.

Source: relation (b) of Cohen et al. 2024, D.3 (after Carlini et al. 2023); the baseline is
Narcissus theory 1 **[new]**.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.spatial import distance

from narcissus._arrays import BoolArray, Floats
from narcissus._files import files_below, parsing
from narcissus._options import BesideStudy, FilledIn
from narcissus._random import RandomSource, child, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.extraction.files import DataSet, refuse_links
from narcissus.extraction.image_engine import ImageEngine, image_libraries
from narcissus.extraction.images import CaptionedImages
from narcissus.extraction.kept import Keeps, Kept, in_batches, key_of
from narcissus.extraction.model_contents import (
    HasModelFolder,
    Unpublished,
    other_files,
    require_same_names,
)
from narcissus.extraction.model_engine import device_of
from narcissus.extraction.model_folders import (
    ModelFiles,
    read_model_files,
    staged,
)
from narcissus.extraction.model_process import ImageProcess, limits_memory, memory_limit
from narcissus.extraction.model_trial import laid_out
from narcissus.extraction.model_weights import settings_of, weights_of
from narcissus.extraction.relations import nearest_other, printed
from narcissus.observer import SILENT, Observer

Attempts = Mapping[str, Floats]
"""By caption: rows that were kept, shape (kept, pixels of an image)."""
INDEX = "model_index.json"
_LIBRARIES = {"diffusers", "transformers", "stable_diffusion"}  # the last: a module of diffusers


class ImageGenerator(Protocol):
    """A generative model of images (or of any rows of numbers), as the attack needs it."""

    def sample(self, count: int, *, rng: RandomSource = None) -> Floats:
        """Draw rows, shape (count, columns)."""
        ...


class MixtureDiffusion:
    """A diffusion model with the exact denoiser of a mixture of spherical Gaussians.

    rows: training data, shape (n, d).
    components: Gaussians of the mixture.
    floor: least standard deviation of a component.
    iterations: rounds of expectation maximisation.
    """

    def __init__(
        self,
        rows: ArrayLike,
        *,
        components: int = 30,
        floor: float = 0.02,
        steps: int = 60,
        iterations: int = 60,
        rng: RandomSource = None,
    ) -> None:
        data = np.asarray(rows, dtype=np.float64)
        if data.ndim != 2 or data.shape[0] < 2:
            raise InputError(f"`rows` must have the shape (n, d) with n > 1, got {data.shape}")
        components = integer("components", components, low=1, high=data.shape[0])
        self.floor = positive("floor", floor)
        self.steps = integer("steps", steps, low=2)
        self._fit(data, components, iterations, generator(rng))

    def _fit(
        self, data: Floats, components: int, iterations: int, random: np.random.Generator
    ) -> None:
        """Fit by expectation maximisation from far-apart starts (k-means++)."""
        n, d = data.shape
        chosen = [int(random.integers(n))]
        for _ in range(components - 1):
            nearest = distance.cdist(data, data[chosen], "sqeuclidean").min(axis=1)
            total = nearest.sum()
            chance = nearest / total if total > 0 else np.full(n, 1 / n)
            chosen.append(int(random.choice(n, p=chance)))
        self.means = data[chosen].copy()
        spread = max(float(data.var(axis=0).mean()), self.floor**2)
        self.variances = np.full(components, spread)
        self.weights = np.full(components, 1 / components)
        for _ in range(iterations):
            share = self._responsibilities(data, 0.0)
            mass = share.sum(axis=0) + 1e-9
            self.weights = mass / mass.sum()
            self.means = share.T @ data / mass[:, None]
            squares = distance.cdist(data, self.means, "sqeuclidean")
            self.variances = np.maximum((share * squares).sum(axis=0) / (d * mass), self.floor**2)

    def _responsibilities(self, rows: Floats, noise: float) -> Floats:
        """Return the posterior of each component given rows with noise of that deviation."""
        variance = self.variances + noise**2
        squares = distance.cdist(rows, self.means, "sqeuclidean")
        logs = (
            np.log(self.weights + 1e-300)
            - 0.5 * rows.shape[1] * np.log(variance)
            - squares / (2 * variance)
        )
        return special.softmax(logs, axis=1)

    def denoise(self, rows: Floats, noise: float) -> Floats:
        """Return the mean of the clean row given a noisy one."""
        share = self._responsibilities(rows, noise)
        keep = self.variances / (self.variances + noise**2)
        return (share * keep).sum(axis=1, keepdims=True) * rows + (share * (1 - keep)) @ self.means

    def sample(self, count: int, *, rng: RandomSource = None) -> Floats:
        """Draw rows, from noise down to none, shape (count, d)."""
        random = generator(rng)
        count = integer("count", count, low=1)
        highest = 10 * math.sqrt(float(self.variances.max()) + float(self.means.var()))
        levels = np.geomspace(highest, self.floor, self.steps)
        rows = random.normal(0.0, highest, (count, self.means.shape[1]))
        for level, lower in pairwise(levels.tolist()):
            clean = self.denoise(rows, level)
            # Ancestral sampling: towards the clean row, with fresh noise of the right size.
            ratio = (lower / level) ** 2
            rows = clean + ratio * (rows - clean)
            rows += random.normal(0.0, lower * math.sqrt(1 - ratio), rows.shape)
        return self.denoise(rows, float(levels[-1]))


def densest_samples(
    model: ImageGenerator,
    *,
    samples: int = 500,
    radius: float,
    keep: int = 1,
    rng: RandomSource = None,
) -> Floats:
    """Attack a generator that is only sampled: find the outputs that it repeats.

    The samples with the most others within ``radius`` (L2) come first, none within ``radius`` of
    one already taken: a model that generalises spreads its samples, one that memorises repeats
    itself. Returns at most ``keep`` rows, each the mean of its neighbourhood.
    """
    drawn = model.sample(integer("samples", samples, low=1), rng=rng)
    near = distance.cdist(drawn, drawn) < positive("radius", radius)
    centres: list[Floats] = []
    open_rows = np.ones(drawn.shape[0], dtype=np.bool_)
    while len(centres) < keep and open_rows.any():
        counts = np.where(open_rows, (near & open_rows).sum(axis=1), -1)
        best = int(counts.argmax())
        centres.append(drawn[near[best] & open_rows].mean(axis=0))
        open_rows &= ~near[best]
    return np.array(centres)


@dataclass(frozen=True)
class TrainedDiffusion:
    """The mechanism that releases a diffusion model of the rows of a data set.

    components: Gaussians of the model's mixture.
    """

    components: int = 30

    def release(self, data: Sequence[DataSet], rng: np.random.Generator) -> list[MixtureDiffusion]:
        return [
            MixtureDiffusion(data_set.rows, components=self.components, rng=rng)
            for data_set in data
        ]


@dataclass(frozen=True)
class DensestAttack:
    """Print the outputs that a generator repeats, for the relation `Near`.

    radius: Distance within which samples count as the same.
    samples: Rows drawn from the generator.
    """

    radius: float
    samples: int = 500

    def attempt(
        self, release: Sequence[ImageGenerator], known: Any, rng: np.random.Generator
    ) -> list[bytes]:
        return [
            printed(densest_samples(model, samples=self.samples, radius=self.radius, rng=rng))
            for model in release
        ]


@dataclass(frozen=True)
class ImageModelsUnderStudy:
    """A model of images, and shadows that were trained without its images."""

    model: CaptionedGenerator
    shadows: tuple[CaptionedGenerator, ...]
    parameters: int  # of the model
    folder: Path | None  # of the release; None for a model in memory only


class HasImageModels(HasModelFolder, Protocol):
    """A part `image-model`: the source of a study's models."""

    trains: ClassVar[bool] = True
    """Whether the models are trained here, so that the division of images is random."""

    def check(self, images: CaptionedImages) -> None:
        """Refuse an unusable part for such images, before any work."""

    def seconds(self, images: CaptionedImages) -> float:
        """Estimate the training time on such images, on one core."""
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
        """Make a model of images and one of each of ``shadows``, kept in ``place``.

        Those that an earlier run of the same study trained are taken again.
        """
        ...


class CaptionlessMixture(MixtureDiffusion):
    """A mixture of Gaussians that ignores captions."""

    @property
    def parameters(self) -> int:
        """Number of parameters: a mean, a width and a weight for each Gaussian."""
        return int(self.means.size + 2 * len(self.weights))

    def sample(self, count: int, *, caption: str = "", rng: RandomSource = None) -> Floats:
        return np.clip(super().sample(count, rng=rng), 0.0, 1.0)


@dataclass(frozen=True)
class MixtureTraining(HasImageModels):
    """A diffusion model whose denoiser is exact for a mixture of Gaussians; needs no extra.

    It takes no captions, and is fitted here to a part of the images.

    components: Gaussians of the model's mixture, at most one for each image.
    """

    components: int = 30

    def __post_init__(self) -> None:
        integer("components", self.components, low=1)

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
        mixtures: list[CaptionlessMixture] = []
        for number, images in enumerate((trained, *shadows)):
            rows, rng = np.repeat(images.rows, images.copies, axis=0), child(entropy, number)
            few = min(self.components, len(rows))
            mixtures.append(CaptionlessMixture(rows, components=few, rng=rng))
        return ImageModelsUnderStudy(mixtures[0], tuple(mixtures[1:]), mixtures[0].parameters, None)


class CaptionedGenerator(Protocol):
    """A model of images, as the attack needs it."""

    def sample(self, count: int, *, caption: str = "", rng: RandomSource = None) -> Floats:
        """Draw images for a caption as rows of pixels in [0, 1], shape (count, pixels)."""
        ...


def check_diffusers_folder(path: Path, unpublished: Sequence[str] = ()) -> int:
    """Refuse a folder whose model cannot be read safely; return the bytes of its weights.

    Safe means: `model_index.json`, weights in safetensors, and what
    `narcissus.extraction.model_folders` allows in configurations.

    unpublished: files and folders in it that are not published; they are not opened.
    """
    return sum(files.size for files in _pipeline_files(path, unpublished).values())


def _pipeline_files(path: Path, unpublished: Sequence[str] = ()) -> dict[str, ModelFiles]:
    declared = Unpublished(tuple(unpublished))
    if not path.is_dir():
        raise InputError(f"no such model folder: {path}")
    if not (path / INDEX).is_file():
        raise InputError(
            f"the folder {path} is no diffusion model: it has no {INDEX} (save the whole pipeline "
            "with `save_pretrained(folder)`)"
        )
    refuse_links(path, declared.holds)
    for file in files_below(path):
        if file.suffix != ".py" or declared.holds(file.relative_to(path).as_posix()):
            continue
        raise InputError(
            f"the model in {path} brings its own code ({file.relative_to(path)}), which is "
            "never run here: use a pipeline of classes that diffusers knows"
        )
    parts = {"": read_model_files(path, declared)}
    for name, entry in _parts(path, settings_of(path / INDEX)).items():
        library = entry[0]
        if library is not None and library not in _LIBRARIES:
            raise InputError(
                f"{path / INDEX}: the part {name!r} is of {library!r}, and only parts of diffusers "
                "and transformers are read: code of others is never run here"
            )
        if library is not None:
            with parsing(path / INDEX, "a configuration"):  # a name may be longer than a file's
                of_part = declared.below(name)
                _require_readable(path / name, of_part)
                parts[name] = read_model_files(path / name, of_part)
    if not any(files.weights for files in parts.values()):
        raise InputError(f"the model folder {path} has no weights: *.safetensors is needed")
    read = [file for name, files in parts.items() for file in files.read_from(path / name)]
    return parts | {"": replace(parts[""], others=other_files(path, read, declared))}


def _parts(path: Path, index: dict[str, Any]) -> dict[str, list[str | None]]:
    """Parts that an index names, each with its library and class."""
    if not isinstance(index.get("_class_name"), str):
        raise InputError(f"{path / INDEX} does not name a pipeline of diffusers as `_class_name`")
    parts = {name: entry for name, entry in index.items() if isinstance(entry, list)}
    for name, entry in parts.items():
        texts = all(isinstance(text, str | None) for text in entry)
        if len(entry) != 2 or not texts or "/" in name or "\0" in name or name.startswith("."):
            raise InputError(f"{path / INDEX}: the part {name!r} is not [library, class]")
    return parts


def _require_readable(part: Path, unpublished: Unpublished) -> None:
    """Refuse a part whose only weights may be pickles."""
    pickles = sorted(f for f in part.glob("*") if f.suffix in {".bin", ".pt", ".pth", ".ckpt"})
    if pickles and not weights_of(part, unpublished):
        raise InputError(
            f"{pickles[0]} is not read, since it may hold a pickle, which can run any program: "
            "save the pipeline with `save_pretrained(folder, safe_serialization=True)`"
        )


class DiffusersGenerator:
    """A pipeline of diffusers, asked for captions if it takes any.

    folder: as `save_pretrained` of a pipeline leaves it. It is read and run in a separate process,
        in the sandbox where there is one; on a GPU, which no sandbox reaches, in this process
        after a trial in the sandbox.
    shape: height, width and channels of the images to compare with; larger model images are
        averaged down by a whole number.
    device: "cpu", "cuda", ...; None takes a GPU if there is one.
    memory: MiB that the process may take, 1,024 at least; None: 8,192, and three times the model's
        weights. It limits models on the processor, on Linux.
    unpublished: files and folders in it that are not published; they are not opened.
    """

    def __init__(
        self,
        folder: Path | str,
        shape: tuple[int, int, int],
        *,
        steps: int = 50,
        device: str | None = None,
        batch: int = 16,
        memory: int | None = None,
        unpublished: Sequence[str] = (),
    ) -> None:
        folder = Path(folder)
        limit = memory_limit(memory)
        self._shape, self._folder = shape, folder
        self._steps = integer("steps", steps, low=1)
        self._batch = integer("batch", batch, low=1)
        files = _pipeline_files(folder, unpublished)
        torch, *_ = image_libraries()
        self.device = device_of(torch, device)
        files = laid_out(files, folder)
        self._engine: ImageProcess | ImageEngine
        if self.device == "cpu":
            self._engine = ImageProcess(files, folder, limit)
        else:
            with staged(files) as place:
                self._engine = ImageEngine(place, str(folder), self.device)

    @property
    def parameters(self) -> int:
        """Number of parameters, all parts together."""
        return self._engine.parameters

    def sample(self, count: int, *, caption: str = "", rng: RandomSource = None) -> Floats:
        """Draw images for a caption as rows of pixels in [0, 1], shape (count, pixels)."""
        random = generator(rng)
        batches: list[Floats] = []
        for begin in range(0, integer("count", count, low=1), self._batch):
            size = min(self._batch, count - begin)
            seed = int(random.integers(2**63))
            images = self._engine.draw(seed, size, caption, self._steps)
            batches.append(self._fitted(images).reshape(size, -1))
        return np.concatenate(batches)

    def _fitted(self, images: NDArray[np.float64]) -> NDArray[np.float64]:
        """Average images down to the shape of the comparison."""
        height, width, channels = self._shape
        if not np.isfinite(images).all():
            raise InputError(
                f"the model in {self._folder} gives pixels that are no numbers: its weights are "
                "damaged, or too large for their type"
            )
        pixels = images[..., None] if images.ndim == 3 else images
        n, high, wide, of = pixels.shape
        if of == 3 and channels == 1:
            pixels, of = pixels.mean(axis=3, keepdims=True), 1
        times = high // height
        if of != channels or times < 1 or (high, wide) != (times * height, times * width):
            raise InputError(
                f"the model in {self._folder} gives images of {high} x {wide} pixels and {of} "
                f"channels, which do not fit images of {height} x {width} and {channels}: scale "
                "the images of the study to those of the model, or down by a whole number"
            )
        blocks = pixels.reshape(n, height, times, width, times, channels)
        return np.clip(blocks.mean(axis=(2, 4)), 0.0, 1.0)


class LocalDiffusion(HasImageModels):
    """A diffusion model in a local folder, however it was trained (extra `images`).

    model: Folder with `model_index.json` and parts in safetensors, as `save_pretrained` of a
        pipeline of diffusers leaves it. Nothing is downloaded, pickled weights are refused, and no
        code of the folder is run.
    steps: Steps from noise to an image.
    device: "cpu", "cuda", ...; by default a GPU if there is one.
    batch: Images at a time.
    memory: MiB that the model's process may take, 1,024 at least; by default 8,192, and three times
        its weights. It limits models on the processor, on Linux; elsewhere what they take is not
        assessed.
    unpublished: Files and folders in `model` that are not published with it, as you declare, such
        as `["unet/diffusion_pytorch_model.bin", "onnx/"]`. They are not opened. Without a
        declaration, a folder is refused that holds more than a model, texts and pictures.
    """

    trains: ClassVar[bool] = False

    def __init__(
        self,
        model: Annotated[str, BesideStudy()],
        steps: int = 50,
        device: str | None = None,
        batch: int = 16,
        memory: int | None = None,
        unpublished: list[str] | None = None,
        folder: Annotated[str, FilledIn()] = ".",
    ) -> None:
        self._unpublished = tuple(unpublished or ())
        self._folder = Path(folder) / model
        self._steps, self._batch = integer("steps", steps, low=1), integer("batch", batch, low=1)
        self._device, self._memory = device, memory
        memory_limit(memory)
        check_diffusers_folder(self._folder, self._unpublished)
        self._others, self._names = self._list_files()
        image_libraries()

    @property
    def limits_memory(self) -> bool:
        return limits_memory(self._device)

    @property
    def unpublished(self) -> tuple[str, ...]:
        return self._unpublished

    @property
    def others(self) -> tuple[str, ...]:
        return self._others

    def _list_files(self) -> tuple[tuple[str, ...], set[str]]:
        """Return the names of texts and pictures, and of all files that count."""
        parts = _pipeline_files(self._folder, self._unpublished)
        names = (
            Path(part, name).as_posix()
            for part, files in parts.items()
            for name in files.names(self._folder / part)
        )
        return parts[""].others, set(names)

    def require_same_files(self) -> None:
        require_same_names(self._folder, self._names, self._list_files()[1])

    def seconds(self, images: CaptionedImages) -> float:
        return 0.0

    def words(self) -> str:
        return f"the diffusion model in {self._folder.name}"

    def models(
        self,
        trained: CaptionedImages,
        shadows: Sequence[CaptionedImages],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ImageModelsUnderStudy:
        model = DiffusersGenerator(
            self._folder,
            trained.shape,
            steps=self._steps,
            device=self._device,
            batch=self._batch,
            memory=self._memory,
            unpublished=self._unpublished,
        )
        return ImageModelsUnderStudy(model, (), model.parameters, self._folder)


@dataclass(frozen=True)
class CloseUnlike:
    """When an image counts: an attempt is close, and the image is unlike all others.

    Distances are root mean square differences of a pixel: the L2 distance over the root of the
    number of pixels, which makes them independent of the images' size.

    close: distance of the image to an attempt, below this.
    unique: distance of the image to every other image of the training data, above this.
    """

    close: float
    unique: float

    def __post_init__(self) -> None:
        positive("close", self.close)
        positive("unique", self.unique)
        if self.close >= self.unique:
            raise InputError(
                f"`close` must be below `unique`, got {self.close:g} and {self.unique:g}"
            )


@dataclass(frozen=True)
class _OneCaption:
    """A model restricted to one caption."""

    model: CaptionedGenerator
    caption: str

    def sample(self, count: int, *, rng: RandomSource = None) -> Floats:
        return self.model.sample(count, caption=self.caption, rng=rng)


def attempts_of(
    model: CaptionedGenerator,
    captions: Iterable[str],
    relation: CloseUnlike,
    *,
    pixels: int,
    samples: int = 40,
    keep: int = 1,
    entropy: int = 0,
    store: Keeps | None = None,
    named: str = "",
    observer: Observer = SILENT,
) -> dict[str, Floats]:
    """Sample a model for each caption, and keep the outputs that repeat.

    The attempts for a caption depend on the model, the caption and ``entropy`` alone, on no other
    caption.

    relation: defines which samples are the same.
    samples, keep: images drawn for a caption, and attempts kept: the densest places, each the mean
        of its neighbourhood.
    entropy: of the samples' initial noise.
    store, named: where the attempts for a caption are kept as they end, and what the model is.
    observer: who is told how many captions are done.
    """
    every = sorted(set(captions))
    samples, keep = integer("samples", samples, low=1), integer("keep", keep, low=1)
    radius = relation.close * math.sqrt(pixels)

    def attempt(number: int) -> Kept:
        key = int.from_bytes(hashlib.sha256(every[number].encode()).digest()[:4], "little")
        return {
            "attempts": densest_samples(
                _OneCaption(model, every[number]),
                samples=samples,
                radius=radius,
                keep=keep,
                rng=child(entropy, key),
            )
        }

    def fits(_: int, found: Kept) -> bool:
        rows = found["attempts"]
        return rows.dtype == np.float64 and rows.ndim == 2 and rows.shape[1] == pixels

    batches = [(key_of(named, samples, radius, keep, str(entropy), batch), 1) for batch in every]
    attempts = in_batches(
        store, batches, attempt, fits, what="ask for captions", observer=observer, shown=1
    )
    return {caption: batch["attempts"] for caption, batch in zip(every, attempts, strict=True)}


def nearest_attempt(images: CaptionedImages, attempts: Attempts) -> Floats:
    """Compute each image's distance to the attempts for its caption, shape (n,)."""
    distances = [
        distance.cdist(row[None], attempts[caption]).min()
        for row, caption in zip(images.rows, images.captions, strict=True)
    ]
    return np.array(distances) / math.sqrt(images.rows.shape[1])


def unlike_others(images: CaptionedImages, unique: float) -> BoolArray:
    """Check whether each image is unlike all others of the same data, shape (n,).

    Copies of an image, and the same image with another caption, are one image.
    """
    rows, same = np.unique(images.rows, axis=0, return_inverse=True)
    apart = nearest_other(rows, rows, np.arange(len(rows))) / math.sqrt(rows.shape[1])
    return (apart > unique)[same.ravel()]


def unlike_trained(
    images: CaptionedImages, trained: CaptionedImages, unique: float, rng: np.random.Generator
) -> BoolArray:
    """Check whether each image is unlike all training images but one, shape (n,).

    The one is drawn for each. A training image is compared with all except itself, and a fresh
    image in its place with equally many.
    """
    rows = np.unique(trained.rows, axis=0)
    left_out = rng.integers(len(rows), size=len(images))
    return nearest_other(images.rows, rows, left_out) / math.sqrt(rows.shape[1]) > unique
