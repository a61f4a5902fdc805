"""What a study of a classifier is about: its images by side, and its networks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.classifier import DenseNet, read_dense_net, train_dense
from narcissus.extraction.images import ImageLayout, LabelledImages
from narcissus.kinds.memorization.classifier.schema import (
    ClassifierStudy,
    TrainingSection,
    WeightsSection,
)

Classes = NDArray[np.intp]

_DIVISION, _TRAINING = 0, 1  # keys of random streams


@dataclass(frozen=True, eq=False)
class ImageSides:
    """Images by what they are for, as the network takes them."""

    # trained, classes: Those that the network was trained on, in an order by chance, and
    # their classes; None where the network is given, which says itself what it takes them for
    trained: Floats
    classes: Classes | None
    fresh: Floats  # Those that no network here has seen, in an order by chance
    # others, other_classes: Those that shadow networks are trained on; none where networks
    # are given
    others: Floats
    other_classes: Classes
    box: float  # Largest absolute value of any of them
    offset: Floats  # What was subtracted: an image as it is shown is ``row * scale + offset``
    scale: float  # What they were divided by
    layout: ImageLayout  # How a row is an image

    def shown(self, row: Floats) -> bytes:
        """Return a row as a PNG file, as it was before the offset was subtracted."""
        return self.layout.png(row * self.scale + self.offset)


def sides_of(study: ClassifierStudy, folder: Path, entropy: int) -> ImageSides:
    """Read the images, and divide them by chance where the network is trained here.
    Raises InputError: a file cannot be used, there are too few images, or one is on two sides.
    """
    data = study.data
    shape = tuple(data.shape)
    found = LabelledImages.read(folder / data.images, shape)
    random = child(entropy, _DIVISION)
    if study.training is not None:
        return _divided(study, study.training, found, random)
    assert data.fresh is not None
    fresh = LabelledImages.read(folder / data.fresh, shape)
    if fresh.layout != found.layout:
        raise InputError(
            f"images trained on have {found.layout.describe()}, fresh ones "
            f"{fresh.layout.describe()}"
        )
    both = int((np.isin(_keys(fresh.rows), _keys(found.rows))).sum())
    if both:
        raise InputError(
            f"{both:,} of the images in {data.fresh} are in {data.images} as well: fresh images "
            "must be ones that the network was not trained on"
        )
    first, then = random.permutation(len(found.rows)), random.permutation(len(fresh.rows))
    nothing = np.zeros((0, found.rows.shape[1]))
    return _scaled(
        study,
        (found.rows[first], fresh.rows[then], nothing),
        (None, np.zeros(0, dtype=np.intp)),
        np.zeros(found.rows.shape[1]),
        found.layout,
    )


def _divided(
    study: ClassifierStudy,
    training: TrainingSection,
    found: LabelledImages,
    random: np.random.Generator,
) -> ImageSides:
    """Take images to train on by chance, and share the others between shadows and fresh ones."""
    if found.classes is None:
        raise InputError(f"{study.data.images} has no array `labels`, which [training] needs")
    _, places = np.unique(_keys(found.rows), return_index=True)  # copies count as one
    places = np.sort(places)
    n = training.images
    if len(places) < 3 * n:
        raise InputError(
            f"{study.data.images} has {len(places):,} different images: to train on {n:,} takes "
            f"{3 * n:,}, since as many must stay fresh and as many train the shadow networks"
        )
    order = random.permutation(places)
    middle = n + (len(order) - n) // 2
    trained, others, fresh = order[:n], order[n:middle], order[middle:]
    _, classes = np.unique(found.classes, return_inverse=True)
    rows = found.rows
    offset = np.zeros(rows.shape[1])
    if study.data.offset == "mean":
        offset = rows[others].mean(axis=0)
    return _scaled(
        study,
        (rows[trained], rows[fresh], rows[others]),
        (classes[trained], classes[others]),
        offset,
        found.layout,
    )


def _scaled(
    study: ClassifierStudy,
    sides: tuple[Floats, Floats, Floats],
    classes: tuple[Classes | None, Classes],
    offset: Floats,
    layout: ImageLayout,
) -> ImageSides:
    if study.data.offset != "mean":
        offset = offset + study.data.offset
    trained, fresh, others = ((rows - offset) / study.data.scale for rows in sides)
    box = study.box or max(float(np.abs(s).max(initial=0.0)) for s in (trained, fresh, others))
    if box == 0:
        raise InputError(f"all images of {study.data.images} are 0")
    return ImageSides(
        trained, classes[0], fresh, others, classes[1], box, offset, study.data.scale, layout
    )


def _keys(rows: Floats) -> NDArray[np.str_]:
    """Make the text of each row unique."""
    return np.array([hashlib.sha256(row.tobytes()).hexdigest() for row in rows])


@dataclass(frozen=True, eq=False)
class TrainsNetworks:
    """Trains the network of a study, ``network/0``, and its shadows, ``network/1``, ..."""

    training: TrainingSection
    sides: ImageSides
    entropy: int

    def __post_init__(self) -> None:
        """Refuse images that are all of one class."""
        assert self.sides.classes is not None
        if np.unique(self.sides.classes).size < 2:
            raise InputError(
                f"the {self.training.images} images that chance took are all of one class: take "
                "more, or another seed"
            )

    @property
    def keys(self) -> list[str]:
        return [f"network/{number}" for number in range(self.training.shadows + 1)]

    def __call__(self, key: str) -> dict[str, NDArray[np.generic]]:
        number, sides, training = int(key.partition("/")[2]), self.sides, self.training
        random = child(self.entropy, _TRAINING, number)
        rows, classes = sides.trained, sides.classes
        assert classes is not None
        kinds = int(max(classes.max(), sides.other_classes.max())) + 1
        if number:
            chosen = _two_classes(sides.other_classes, len(rows), random)
            rows, classes = sides.others[chosen], sides.other_classes[chosen]
        return arrays_of_net(
            train_dense(
                rows,
                classes,
                hidden=tuple(training.hidden),
                steps=training.steps,
                learning_rate=training.learning_rate,
                start=training.start,
                kinds=kinds,
                rng=random,
            )
        )


def _two_classes(classes: Classes, n: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Draw images of two classes or more, as those of the network itself are."""
    if np.unique(classes).size < 2:
        raise InputError("all images that shadow networks can be trained on are of one class")
    while True:
        chosen = random.choice(classes.size, n, replace=False)
        if np.unique(classes[chosen]).size >= 2:
            return chosen


def arrays_of_net(net: DenseNet) -> dict[str, NDArray[np.generic]]:
    return {
        **{f"weight_{i}": weight for i, weight in enumerate(net.weights)},
        **{f"bias_{i}": bias for i, bias in enumerate(net.biases)},
    }


def net_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> DenseNet:
    layers = range(sum(name.startswith("weight_") for name in arrays))
    return DenseNet(
        tuple(arrays[f"weight_{i}"] for i in layers), tuple(arrays[f"bias_{i}"] for i in layers)
    )


def given_networks(weights: WeightsSection, folder: Path, layout: ImageLayout) -> list[DenseNet]:
    """Read the network of a study and its shadows.
    Raises InputError: a file cannot be used, or a shadow has another architecture.
    """
    files: Sequence[Path] = [weights.file, *weights.shadows]
    layers = [one if isinstance(one, str) else one.build() for one in weights.layers]
    is_dense = all(isinstance(one, str) for one in layers)
    if layout.channels > 1 and not (layout.channels_first or is_dense):
        raise InputError(
            "convolutions take images as (3, height, width): save yours in this order, as the "
            "network takes them"
        )
    nets = [
        read_dense_net(
            folder / file,
            layers,
            activation=weights.activation,
            transposed=weights.transposed,
            inputs=layout.size,
            image=(layout.channels, layout.height, layout.width),
        )
        for file in files
    ]
    for file, net in zip(files, nets, strict=True):
        if net.describe() != nets[0].describe():
            raise InputError(
                f"the shadow network {file} has the layers {net.describe()}, and the network "
                f"itself {nets[0].describe()}"
            )
        if net is not nets[0] and np.array_equal(net.weights[0], nets[0].weights[0]):
            raise InputError(f"the shadow network {file} is the network itself")
    return nets
