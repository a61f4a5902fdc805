"""The study file of a classifier.

The descriptions here are the documentation of the study file
(`narcissus init --schema classifier`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, field_validator, model_validator

from narcissus._options import MOST_WORKERS
from narcissus.extraction.classifier import AveragePooling, Convolution
from narcissus.study.sections import Approval, FileSection, PlayedRun

Whole = Annotated[int, Field(ge=1, le=10**6)]
Names = dict[str, object]


class ImageFiles(FileSection):
    """The images; paths are relative to the study file."""

    images: Path = Field(
        description="A .npz or .safetensors file with the array `images` (first axis images) and, "
        "for a network that is trained here, `labels`; or a .npy file. For [training]: all images, "
        "of which chance takes some to train on. For [weights]: those that the network was trained "
        "on."
    )
    fresh: Path | None = Field(
        None, description="For [weights]: images of the same source that it was not trained on."
    )
    shape: list[Whole] = Field(
        [],
        max_length=3,
        description="Of one image, where it is flat in the file: [height, width], "
        "[height, width, 3] or [3, height, width]; a square in grey needs none.",
    )
    offset: float | Literal["mean"] = Field(
        0.0,
        description="The network takes (image - offset) / scale. `mean`: the mean of images that "
        "are not trained on; only with [training].",
    )
    scale: float = Field(1.0, gt=0, description="See `offset`.")


class TrainingSection(FileSection):
    """A network that is trained here, to a very small loss."""

    images: int = Field(20, ge=2, le=10**5, description="How many it is trained on.")
    hidden: list[Whole] = Field([100], min_length=1, description="Neurons by hidden layer.")
    steps: int = Field(3000, ge=1, le=10**7, description="Steps of gradient descent.")
    learning_rate: float = Field(0.1, gt=0, description="Size of a step.")
    start: float = Field(
        0.02, gt=0, description="Standard deviation of the first weights of the first layer."
    )
    shadows: int = Field(
        19,
        ge=0,
        le=1000,
        description="Networks trained in the same way without these images, for comparison; with "
        "19 of them a p-value can be 5%.",
    )


class ConvolutionLayer(FileSection):
    """A convolution of a network that you have."""

    conv: str = Field(description="Its name: `conv1` stands for `conv1.weight`, `conv1.bias`.")
    stride: Whole = Field(1, description="The same both ways.")
    padding: int = Field(0, ge=0, le=1000, description="Zeros on each side.")

    def build(self) -> Convolution:
        return Convolution(self.conv, self.stride, self.padding)


class PoolingLayer(FileSection):
    """The means of squares that do not overlap, behind a ReLU."""

    average: Whole = Field(description="Pixels of a side.")

    def build(self) -> AveragePooling:
        return AveragePooling(self.average)


class WeightsSection(FileSection):
    """A network that you have."""

    file: Path = Field(description="A state dict as .safetensors or .npz; pickles are refused.")
    layers: list[str | ConvolutionLayer | PoolingLayer] = Field(
        min_length=2,
        description="From input to output, a ReLU behind each but the last: a dense layer by its "
        'name, `"fc1"` for the arrays `fc1.weight` and, if it is there, `fc1.bias`; '
        '`{ conv = "conv1", stride = 2, padding = 1 }`; `{ average = 2 }` for pooling.',
    )
    activation: str = Field("relu", description="The function between two layers.")
    transposed: bool = Field(
        False, description="Whether weights are (inputs, outputs), as Keras keeps them."
    )
    shadows: list[Path] = Field(
        [],
        description="Networks of the same architecture, trained in the same way on other images.",
    )

    @field_validator("layers", mode="before")
    @classmethod
    def _known(cls, layers: object) -> object:
        for layer in cast("list[object]", layers) if isinstance(layers, list) else ():
            if isinstance(layer, dict) and not {"conv", "average"} & set(cast("Names", layer)):
                raise ValueError(
                    f"{layer} is no layer that is read: a dense layer is its name, others are "
                    '{ conv = "NAME" } and { average = 2 }. Layers that are not homogeneous in '
                    "the weights, such as normalisation, break the conditions that are read off"
                )
        return layers


class SuccessSection(FileSection):
    """When an image counts as reconstructed."""

    correlation: float = Field(
        0.85,
        gt=0,
        le=1,
        description="Least normalised cross-correlation of the image with a reconstruction.",
    )


class ReconstructionSection(FileSection):
    """The attack that knows the weights alone."""

    points: int | None = Field(
        None,
        ge=2,
        le=10**5,
        description="Points of a start; twice the training images if left out.",
    )
    starts: int = Field(
        3, ge=0, le=10_000, description="Searches; 0 leaves what is read off in closed form."
    )
    steps: int = Field(300, ge=1, le=10**6, description="Of a search, in each of two stages.")


class InformedSection(FileSection):
    """The attack that knows all training images but one, and the weights."""

    targets: int = Field(
        10, ge=1, le=10**5, description="Training images that are left out, one at a time."
    )
    steps: int = Field(100, ge=1, le=10**6, description="Of a search, in each of two stages.")


class ClassifierThreshold(Approval):
    """What the person who approves the release accepts."""

    gain: float = Field(
        ge=0,
        lt=1,
        description="Share of training images that an attack reconstructs beyond fresh ones, at "
        "most.",
    )


class ClassifierRun(PlayedRun):
    """How it is run."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Of all limits of the study together.")
    workers: int | None = Field(
        default=None, ge=1, le=MOST_WORKERS, description="Processes; one if left out."
    )


class ClassifierStudy(FileSection):
    """A classifier as a release: training images that its weights give away, next to fresh ones.

    Attacks that the file does not name are played with their defaults; `false` leaves one out.
    """

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    source: str = Field("", description="Paper and number.")
    expected: str = Field("", description="What comes out.")
    data: ImageFiles
    training: TrainingSection | None = Field(None, description="This, or [weights].")
    weights: WeightsSection | None = Field(None, description="This, or [training].")
    success: SuccessSection = SuccessSection()  # pyright: ignore[reportCallIssue] (has defaults)
    reconstruction: ReconstructionSection | Literal[False] = ReconstructionSection()  # pyright: ignore[reportCallIssue]
    informed: InformedSection | Literal[False] = InformedSection()  # pyright: ignore[reportCallIssue]
    box: float | None = Field(
        None,
        gt=0,
        description="Largest absolute value that a pixel can have, as the network takes it; by the "
        "range of all images if left out.",
    )
    pictures: int = Field(
        0,
        ge=0,
        le=100,
        description="Reconstructions of each attack that the record and the report show, "
        "each next to a training image and a fresh one; 0 keeps single images out of both.",
    )
    threshold: ClassifierThreshold | None = None
    run: ClassifierRun = ClassifierRun()  # pyright: ignore[reportCallIssue] (has defaults)

    @model_validator(mode="after")
    def _fits(self) -> ClassifierStudy:
        if (self.training is None) == (self.weights is None):
            raise ValueError(
                "give [training], for a network that is trained here, or [weights], for one that "
                "you have"
            )
        if not (self.reconstruction or self.informed):
            raise ValueError("play `reconstruction`, `informed` or both")
        if self.training and self.data.fresh is not None:
            raise ValueError(
                "`data.fresh` is for a network that you have: for one that is trained here, chance "
                "takes fresh images out of `data.images`"
            )
        if self.weights and self.data.fresh is None:
            raise ValueError(
                "[weights] needs `data.fresh`: images of the same source that the network was not "
                "trained on: they show what it would give away anyway"
            )
        if self.weights and self.data.offset == "mean":
            raise ValueError(
                '`data.offset = "mean"` is for a network that is trained here: give the number '
                "that yours subtracts, or subtract the mean in the files"
            )
        return self
