"""A diffusion model in a local folder in the format of the library diffusers (extra `images`).

Nothing is downloaded and no code of the folder is run: weights are read from safetensors only,
since the older formats are pickles, and every part must be of a class of diffusers or transformers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._files import file_size, parsing, read_bytes
from narcissus._optional import optional
from narcissus._options import BesideStudy, FilledIn
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.captioned_images import CaptionedImages
from narcissus.extraction.files import refuse_pickle
from narcissus.extraction.huggingface import LARGEST_TEXT, silent
from narcissus.extraction.image_models import ImageModelsUnderStudy
from narcissus.observer import Observer

INDEX = "model_index.json"
_LIBRARIES = {"diffusers", "transformers", "stable_diffusion"}  # the last: a module of diffusers
_TEXTS = {".json", ".txt", ".model"}


def check_diffusers_folder(path: Path) -> int:
    """Refuse a folder whose model cannot be read safely; return the bytes of its weights.

    Safe means: `model_index.json`, weights in safetensors or no pickles, no custom code, and
    configurations of at most 64 MiB.
    """
    if not path.is_dir():
        raise InputError(f"no such model folder: {path}")
    if not (path / INDEX).is_file():
        raise InputError(
            f"the folder {path} is no diffusion model: it has no {INDEX} (save the whole pipeline "
            "with `save_pretrained(folder)`)"
        )
    for file in path.rglob("*"):
        if file.suffix in _TEXTS:
            file_size(file, largest=LARGEST_TEXT)
        if file.suffix == ".py":
            raise InputError(
                f"the model in {path} brings code of its own ({file.relative_to(path)}), which is "
                "never run here: use a pipeline of classes that diffusers knows"
            )
    with parsing(path / INDEX, "a configuration"):
        index: Any = json.loads(read_bytes(path / INDEX, largest=LARGEST_TEXT))
    weights: list[Path] = []
    for name, entry in _parts(path, index).items():
        library = entry[0]
        if library is not None and library not in _LIBRARIES:
            raise InputError(
                f"{path / INDEX}: the part {name!r} is of {library!r}, and only parts of diffusers "
                "and transformers are read: code of others is never run here"
            )
        with parsing(path / INDEX, "a configuration"):  # a name may be longer than a file's
            weights += _weights(path / name)
    if not weights:
        raise InputError(f"the model folder {path} has no weights: *.safetensors is needed")
    return sum(file.stat().st_size for file in weights)


def _parts(path: Path, index: Any) -> dict[str, list[str | None]]:
    """Parts that an index names, each with its library and class."""
    if not isinstance(index, dict):
        raise InputError(f"{path / INDEX} is no configuration: it must be an object in JSON")
    given = cast("dict[str, Any]", index)
    if not isinstance(given.get("_class_name"), str):
        raise InputError(f"{path / INDEX} does not name a pipeline of diffusers as `_class_name`")
    parts = {name: entry for name, entry in given.items() if isinstance(entry, list)}
    for name, entry in parts.items():
        texts = all(isinstance(one, str | None) for one in entry)
        if len(entry) != 2 or not texts or "/" in name or "\0" in name or name.startswith("."):
            raise InputError(f"{path / INDEX}: the part {name!r} is not [library, class]")
    return parts


def _weights(part: Path) -> list[Path]:
    """Return the weights of a part; refuse a part whose only weights may be pickles."""
    found = sorted(part.glob("*.safetensors"))
    for file in found:
        refuse_pickle(file)
    pickles = sorted(f for f in part.glob("*") if f.suffix in {".bin", ".pt", ".pth", ".ckpt"})
    if pickles and not found:
        raise InputError(
            f"{pickles[0]} is not read, since it may hold a pickle, which can run any program: "
            "save the pipeline with `save_pretrained(folder, safe_serialization=True)`"
        )
    return found


class DiffusersGenerator:
    """A pipeline of diffusers, asked for captions if it takes any.

    Parameters
    ----------
    folder
        As `save_pretrained` of a pipeline leaves it.
    shape
        Height, width and channels of the images to compare with; larger model images are averaged
        down by a whole number.
    steps
        Steps from noise to an image.
    device
        "cpu", "cuda", ...; None takes a GPU if there is one.
    batch
        Images at a time.

    Raises
    ------
    InputError
        The folder cannot be read, or its images do not fit ``shape``.
    MissingExtraError
        torch or diffusers is not installed.
    """

    def __init__(
        self,
        folder: Path | str,
        shape: tuple[int, int, int],
        *,
        steps: int = 50,
        device: str | None = None,
        batch: int = 16,
    ) -> None:
        folder = Path(folder)
        check_diffusers_folder(folder)
        self._torch, diffusers, transformers = _libraries()
        try:
            with silent(diffusers), silent(transformers):
                self._pipeline: Any = diffusers.DiffusionPipeline.from_pretrained(
                    str(folder), use_safetensors=True, local_files_only=True,
                    trust_remote_code=False,
                )  # fmt: skip
        except Exception as error:  # whatever the library meets in a broken folder
            raise InputError(f"cannot read the diffusion model in {folder}: {error}") from error
        self.device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        if hasattr(self._pipeline, "safety_checker"):
            self._pipeline.safety_checker = None  # whoever has the folder leaves it out
        self._pipeline.to(self.device)
        self._pipeline.set_progress_bar_config(disable=True)
        self._takes_captions = hasattr(self._pipeline, "tokenizer")
        self._shape, self._folder = shape, folder
        self._steps = integer("steps", steps, low=1)
        self._batch = integer("batch", batch, low=1)

    @property
    def parameters(self) -> int:
        """Number of parameters, all parts together."""
        parts = (part for part in self._pipeline.components.values() if part is not None)
        with_numbers = [part for part in parts if hasattr(part, "parameters")]
        return sum(int(one.numel()) for part in with_numbers for one in part.parameters())

    def sample(
        self, count: int, *, caption: str = "", rng: RandomSource = None
    ) -> NDArray[np.float64]:
        """Draw images for a caption as rows of pixels in [0, 1], shape (count, pixels)."""
        torch, random = self._torch, generator(rng)
        found: list[NDArray[np.float64]] = []
        drawn = 0
        while drawn < integer("count", count, low=1):
            size = min(self._batch, count - drawn)
            noise = torch.Generator(device="cpu").manual_seed(int(random.integers(2**63)))
            asked: dict[str, Any] = (
                {"prompt": [caption] * size} if self._takes_captions else {"batch_size": size}
            )
            images = self._pipeline(
                **asked, generator=noise, num_inference_steps=self._steps, output_type="np"
            ).images
            found.append(self._fitted(np.asarray(images, dtype=np.float64)).reshape(size, -1))
            drawn += size
        return np.concatenate(found)

    def _fitted(self, images: NDArray[np.float64]) -> NDArray[np.float64]:
        """Average images down to the shape of the comparison."""
        height, width, channels = self._shape
        given = images[..., None] if images.ndim == 3 else images
        n, high, wide, of = given.shape
        if of == 3 and channels == 1:
            given, of = given.mean(axis=3, keepdims=True), 1
        times = high // height
        if of != channels or times < 1 or (high, wide) != (times * height, times * width):
            raise InputError(
                f"the model in {self._folder} gives images of {high} x {wide} pixels and {of} "
                f"channels, which do not fit images of {height} x {width} and {channels}: scale "
                "the images of the study to those of the model, or down by a whole number"
            )
        blocks = given.reshape(n, height, times, width, times, channels)
        return np.clip(blocks.mean(axis=(2, 4)), 0.0, 1.0)


def _libraries() -> tuple[Any, Any, Any]:
    purpose = "A diffusion model in a folder"
    return (
        optional("torch", extra="images", purpose=purpose),
        optional("diffusers", extra="images", purpose=purpose),
        optional("transformers", extra="images", purpose=purpose),
    )


class LocalDiffusion:
    """A diffusion model in a local folder, however it was trained (extra `images`).

    Parameters
    ----------
    model
        Folder with `model_index.json` and parts in safetensors, as `save_pretrained` of a pipeline
        of diffusers leaves it. Nothing is downloaded, pickled weights are refused, and no code of
        the folder is run.
    steps
        Steps from noise to an image.
    device
        "cpu", "cuda", ...; by default a GPU if there is one.
    batch
        Images at a time.

    Raises
    ------
    InputError
        The folder holds no diffusion model in safetensors.
    MissingExtraError
        torch or diffusers is not installed.
    """

    trains = False

    def __init__(
        self,
        model: Annotated[str, BesideStudy()],
        steps: int = 50,
        device: str | None = None,
        batch: int = 16,
        folder: Annotated[str, FilledIn()] = ".",
    ) -> None:
        self._folder = Path(folder) / model
        self._steps, self._batch = integer("steps", steps, low=1), integer("batch", batch, low=1)
        self._device = device
        check_diffusers_folder(self._folder)
        _libraries()

    def check(self, images: CaptionedImages) -> None:
        """Accept any images: the model's first image shows whether they fit."""

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
            self._folder, trained.shape, steps=self._steps, device=self._device, batch=self._batch
        )
        return ImageModelsUnderStudy(model, (), model.parameters, self._folder)
