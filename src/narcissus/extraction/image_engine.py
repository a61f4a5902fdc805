"""What computes with a model of images, one batch at a time.

It is in the process of a stranger's model (`narcissus.extraction.model_process`), or in this
one for a model on a GPU.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import is_ours, reason_of
from narcissus._optional import optional
from narcissus.errors import InputError
from narcissus.extraction.model_engine import silent
from narcissus.extraction.model_weights import weights_of


class ImageEngine:
    """A pipeline of diffusers, read from a folder whose files were checked.

    place: the checked folder.
    path: the folder that was named, for messages.
    device: "cpu", "cuda", ...
    """

    def __init__(self, place: Path, path: str, device: str) -> None:
        self._torch, diffusers, transformers = image_libraries()
        try:
            with silent(diffusers), silent(transformers):
                self.pipeline: Any = diffusers.DiffusionPipeline.from_pretrained(
                    str(place),
                    use_safetensors=True,
                    local_files_only=True,
                    trust_remote_code=False,
                )
        except Exception as error:  # whatever the library meets in a broken folder
            if is_ours(error, OSError):
                raise
            raise InputError(
                f"cannot read the diffusion model in {path}: {reason_of(error)}"
            ) from error
        for name, part in self.pipeline.components.items():
            if isinstance(part, diffusers.ModelMixin):
                _require_weights(place / name, Path(path) / name, part)
        if hasattr(self.pipeline, "safety_checker"):
            self.pipeline.safety_checker = None  # whoever has the folder leaves it out
        self.pipeline.to(device)
        self.pipeline.set_progress_bar_config(disable=True)
        self._takes_captions = hasattr(self.pipeline, "tokenizer")

    @property
    def parameters(self) -> int:
        """Number of parameters, all parts together."""
        parts = (part for part in self.pipeline.components.values() if part is not None)
        with_numbers = [part for part in parts if hasattr(part, "parameters")]
        return sum(
            int(parameter.numel()) for part in with_numbers for parameter in part.parameters()
        )

    def draw(self, seed: int, size: int, caption: str, steps: int) -> NDArray[Any]:
        """Return ``size`` images for a caption, shape (size, height, width[, channels])."""
        noise = self._torch.Generator(device="cpu").manual_seed(seed)
        arguments: dict[str, Any] = (
            {"prompt": [caption] * size} if self._takes_captions else {"batch_size": size}
        )
        images = self.pipeline(
            **arguments, generator=noise, num_inference_steps=steps, output_type="np"
        ).images
        return np.asarray(images, dtype=np.float64)


def _require_weights(place: Path, path: Path, part: Any) -> None:
    """Refuse a part of which the folder lacks weights: diffusers would draw them at random."""
    safetensors = optional("safetensors", extra="images", purpose="A diffusion model in a folder")
    weight_count = 0  # by their number, since diffusers reads some under older names
    for file in weights_of(place):
        with safetensors.safe_open(str(file), "pt") as weights:
            names: list[str] = weights.keys()
            weight_count += sum(
                math.prod(weights.get_slice(tensor).get_shape()) for tensor in names
            )
    if (missing := sum(int(tensor.numel()) for tensor in part.parameters()) - weight_count) > 0:
        raise InputError(
            f"the model in {path} lacks {missing:,} of its weights: save the pipeline whole, "
            "with `save_pretrained`"
        )


def image_libraries() -> tuple[Any, Any, Any]:
    purpose = "A diffusion model in a folder"
    return (
        optional("torch", extra="images", purpose=purpose),
        optional("diffusers", extra="images", purpose=purpose),
        optional("transformers", extra="images", purpose=purpose),
    )
