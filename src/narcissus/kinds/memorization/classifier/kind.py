"""Train or read a network, reconstruct its images, hold them against fresh ones."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from narcissus._arrays import Floats
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.classifier import DenseNet, read_dense_net, train_dense
from narcissus.extraction.images import ImageLayout, LabelledImages, nearest_points
from narcissus.extraction.kkt import KktSearch, informed_reconstruct
from narcissus.extraction.ngram import lead_over_shadows
from narcissus.extraction.recovered import recovered_documents
from narcissus.extraction.relations import normalised
from narcissus.kinds.engine import Done, Files, PreparedWork, Tasks
from narcissus.kinds.memorization.classifier.schema import (
    ClassifierStudy,
    InformedSection,
    ReconstructionSection,
    TrainingSection,
    WeightsSection,
)
from narcissus.kinds.memorization.engine import (
    CountedGroup,
    MemorizationKind,
    MemorizedResult,
    asks_points,
    level_of_each,
)
from narcissus.rows import Count, Fact, Findings, Quantity, Share, StudyRow
from narcissus.study.kinds import RunOptions
from narcissus.study.store import Payload

Png = Annotated[
    str, Field(pattern=r"^iVBORw0KGgo[A-Za-z0-9+/]+={0,2}$", description="A PNG file in base64.")
]
Correlation = Annotated[float, Field(ge=-1, le=1)]

NAMED, FROM_SHADOWS = "named", "from shadows"
_ATTACK = 2  # key of random streams
_CLOSED = "closed"  # what is read off in closed form
_TRAINED = 5e-10  # seconds for an image, a number of the network and a step
_EXPLAINED = 2e-9  # the same of a search


class ShownReconstruction(Fact):
    """A reconstruction next to the training image and the fresh image that it is most like."""

    reconstruction: Png
    training: Png
    fresh: Png
    correlation: Correlation = Field(description="Of the reconstruction with the training image.")
    fresh_correlation: Correlation = Field(description="The same with the fresh image.")


class ImageAttack(CountedGroup):
    """One attack that reconstructs training images, and how many it got."""

    name: Literal["reconstruction", "informed"]
    rule: str = Field(description="When an image counts as reconstructed.")
    points: Count = Field(description="Reconstructions that were made.")
    chance: Share = Field(
        description="That as many or more would be reconstructed, or named, if the network were "
        "independent of them, at most."
    )
    chance_by: str = Field(description="Why.")
    named: Count | None = Field(
        default=None,
        description="Left-out images that are more like their reconstruction than every fresh "
        "image; null: not asked.",
    )
    shadows: tuple[Count, ...] = Field(
        default=(),
        description="How many of these images the attack gets from each network trained without "
        "them.",
    )
    shown: tuple[ShownReconstruction, ...] = ()

    @property
    def lead(self) -> float | None:
        """The chance of such a lead over networks trained without these images."""
        return lead_over_shadows(self.recovered, self.shadows) if self.shadows else None

    @property
    def share_named(self) -> Quantity | None:
        """The share of left-out images that were named; None: not asked."""
        if self.named is None:
            return None
        return Quantity(value=self.named / self.total, grade="counted", trials=self.total)

    @property
    def from_shadows(self) -> Quantity | None:
        """The mean share that the attack gets from a shadow network; None: there are none."""
        if not self.shadows:
            return None
        mean, trials = sum(self.shadows) / len(self.shadows) / self.total, len(self.shadows)
        return Quantity(value=mean, grade="sampled", trials=trials)


class ClassifierResult(MemorizedResult):
    """What attacks reconstruct of a classifier's training images."""

    network: str = Field(description="Its layers: numbers in, neurons, outputs.")
    fitted: Share | None = Field(
        None, description="Share of training images that the network gets right; null: not known."
    )
    image: str = Field(description="Size and colour of an image, in words.")
    shadows: Count = Field(description="Networks trained without these images.")
    correlation: Share = Field(description="From which an image counts as reconstructed.")
    box: float = Field(ge=0, description="Largest absolute value of a pixel that is looked for.")
    attacks: tuple[ImageAttack, ...] = Field(min_length=1)

    @property
    def groups_by_attack(self) -> dict[str, tuple[ImageAttack]]:
        return {attack.name: (attack,) for attack in self.attacks}

    @property
    def shown(self) -> tuple[ShownReconstruction, ...]:
        return tuple(shown for attack in self.attacks for shown in attack.shown)

    @model_validator(mode="after")
    def _of_its_shadows(self) -> Self:
        if any(len(attack.shadows) not in (0, self.shadows) for attack in self.attacks):
            raise ValueError(f"there are {self.shadows} shadow networks")
        return self

    def all_rows(self) -> Iterator[StudyRow]:
        """Yield the counts of each attack, the images that it named, and what shadows give."""
        for attack in self.attacks:
            labels: dict[str, Any] = {"name": attack.name, "about": attack}
            yield from attack.rows(self.counted, attack.name)
            if (share := attack.share_named) is not None:
                guess = 1 / (self.fresh + 1)
                yield StudyRow(role="attack", of=NAMED, quantity=share, baseline=guess, **labels)
            if (share := attack.from_shadows) is not None:
                yield StudyRow(role="fresh", of=FROM_SHADOWS, quantity=share, **labels)


@dataclass(frozen=True, eq=False)
class ReconstructedPoints:
    """What the attacks made."""

    # Points by network, the audited one first, shapes (points, d); none where not played
    pooled: Sequence[Floats]
    # The informed attacker's, one for each of the first training images; none where not
    # played
    guessed: Floats | None


@dataclass(frozen=True, eq=False)
class ClassifierWork(PreparedWork[ClassifierStudy]):
    """Images by side, and the networks, those to be trained once they are."""

    sides: ImageSides = field(kw_only=True)
    nets: list[DenseNet] = field(default_factory=list[DenseNet])

    @property
    def attacks(self) -> AttacksNetworks:
        return AttacksNetworks.of(self.study, self.nets, self.sides, self.entropy)


class ClassifierKind(MemorizationKind[ClassifierStudy, ClassifierWork]):
    model = ClassifierStudy
    result = ClassifierResult
    layout = "narcissus.kinds.memorization.classifier.layout:LAYOUT"
    trained = "network"

    def prepare(self, study: ClassifierStudy, folder: Path, options: RunOptions) -> ClassifierWork:
        sides = sides_of(study, folder, options.entropy)
        nets = list[DenseNet]()
        if study.weights is not None:
            nets = given_networks(study.weights, folder, sides.layout)
        return ClassifierWork(study, folder, options.entropy, sides=sides, nets=nets)

    def files(self, study: ClassifierStudy) -> Files:
        weights = study.weights
        files: dict[str, Path | None] = {
            "images": study.data.images,
            "fresh images": study.data.fresh,
        }
        if weights is not None:
            files["network"] = weights.file
            files |= {f"shadow {i}": path for i, path in enumerate(weights.shadows, 1)}
        return files

    def tasks(self, work: ClassifierWork) -> Tasks:
        identity = _identity(work)

        def attacks() -> Tasks:
            return Tasks(work.attacks, work.attacks.keys, identity, "reconstructions")

        if work.study.training is None:
            return attacks()
        trains = TrainsNetworks(work.study.training, work.sides, work.entropy)

        def then(done: Done) -> Tasks:
            work.nets.extend(net_of_arrays(done[key]) for key in trains.keys)
            return attacks()

        return Tasks(trains, trains.keys, identity, "training networks", then)

    def measure(self, work: ClassifierWork, done: Done, options: RunOptions) -> Findings:
        study, attacks = work.study, work.attacks
        pooled: list[Floats] = []
        if study.reconstruction:
            pooled = [attacks.pooled(done, net) for net in range(len(work.nets))]
        made = ReconstructedPoints(pooled, attacks.guessed(done) if study.informed else None)
        return self.measured(study, work.nets[0], len(work.nets) - 1, work.sides, made)

    def measured(
        self,
        study: ClassifierStudy,
        net: DenseNet,
        shadows: int,
        sides: ImageSides,
        made: ReconstructedPoints,
    ) -> Findings:
        """Make the limits, each for all of them together (Bonferroni)."""
        fitted = None
        if sides.classes is not None:
            fitted = float((net.classes(sides.trained) == sides.classes).mean())
        by_chance = study.training is not None
        claims = bool(made.pooled) + (made.guessed is not None)
        claims += asks_points(sides.trained, sides.fresh, by_chance=by_chance)
        each = level_of_each(study.run.confidence, claims)
        attacks: list[ImageAttack] = []
        if made.pooled:
            attacks.append(_reconstruction(study, sides, made.pooled, each))
        if made.guessed is not None:
            attacks.append(_informed(study, sides, made.guessed, each))
        result = ClassifierResult(
            network=net.describe(),
            parameters=net.parameters,
            fitted=fitted,
            trained=len(sides.trained),
            fresh=len(sides.fresh),
            image=sides.layout.describe(),
            shadows=shadows,
            by_chance=by_chance,
            correlation=study.success.correlation,
            box=sides.box,
            confidence=study.run.confidence,
            claims=claims,
            blind=self.without_model(sides.trained, sides.fresh, by_chance=by_chance, each=each),
            attacks=tuple(attacks),
        )
        limit = None if study.threshold is None else study.threshold.gain
        return self.found(self.criteria(limit), result)

    def premises(self, result: ClassifierResult) -> tuple[str, ...]:
        assumptions = super().premises(result)
        if result.by_chance or not result.shadows:
            return assumptions
        text = "the shadow networks were trained in the same way, on other images of the source"
        return (*assumptions, text)

    def to_show(self, result: ClassifierResult) -> ClassifierResult:
        attacks = tuple(attack.model_copy(update={"shown": ()}) for attack in result.attacks)
        return result.model_copy(update={"attacks": attacks})

    def cost(self, work: ClassifierWork, options: RunOptions) -> tuple[float, str]:
        """Reckon by the numbers of the network, and what is done with each."""
        study, sides = work.study, work.sides
        n, d = sides.trained.shape
        seconds = 0.0
        if (training := study.training) is not None:
            assert sides.classes is not None
            kinds = int(max(sides.classes.max(), sides.other_classes.max())) + 1
            widths = [d, *training.hidden, 1 if kinds == 2 else kinds]
            size = sum(a * b for a, b in pairwise(widths))
            nets = 1 + training.shadows
            seconds += _TRAINED * nets * training.steps * n * size
        else:
            first, nets = work.nets[0], len(work.nets)
            size, kinds = first.parameters, max(2, first.outputs)
        parts = [f"{nets} networks of {size:,} numbers"]
        if (reconstruction := study.reconstruction) is not False:
            points = reconstruction.points or 2 * n
            seconds += (
                _EXPLAINED * nets * reconstruction.starts * 2 * reconstruction.steps * points * size
            )
            parts.append(f"{nets * reconstruction.starts} searches for {points:,} points")
        if (other := study.informed) is not False:
            targets = min(other.targets, n)
            seconds += _EXPLAINED * targets * kinds * 2 * other.steps * n * size
            parts.append(f"{targets * kinds} searches for one")
        return seconds, ", ".join(parts)


KIND = ClassifierKind()


def _reconstruction(
    study: ClassifierStudy, sides: ImageSides, pooled: Sequence[Floats], each: float
) -> ImageAttack:
    """Count the training images, and the fresh ones, to which some point is close."""
    limit, points = study.success.correlation, pooled[0]
    nearest = nearest_points(sides.trained, points)
    ours = nearest.correlation >= limit
    fresh = nearest_points(sides.fresh, points).correlation >= limit
    beside = [
        int((nearest_points(sides.trained, other).correlation >= limit).sum())
        for other in pooled[1:]
    ]
    counts = recovered_documents(ours, fresh, confidence=each)
    assert counts.chance is not None
    best = _best(nearest.correlation, study.pictures) if len(points) else []
    return ImageAttack.of(
        counts,
        name="reconstruction",
        rule=f"one of the reconstructions has a normalised cross-correlation of {limit:g} or more "
        "with it",
        points=len(points),
        chance=counts.chance,
        chance_by="Fisher's exact test of training images against fresh ones",
        shadows=tuple(beside),
        shown=_shown(sides, [(i, points[nearest.point[i]]) for i in best]),
    )


def _informed(
    study: ClassifierStudy, sides: ImageSides, guessed: Floats, each: float
) -> ImageAttack:
    """Hold each guess against the image that it is of, and against fresh ones."""
    limit, count, fresh = study.success.correlation, len(guessed), len(sides.fresh)
    alike = normalised(sides.trained[:count]) * normalised(guessed)
    correlations = np.clip(alike.sum(axis=1), -1.0, 1.0)
    # each fresh image is compared with one of the guesses, so that they are independent
    turn = np.arange(fresh) % count
    theirs = (normalised(sides.fresh) * normalised(guessed)[turn]).sum(axis=1) >= limit
    named = int((correlations > nearest_points(guessed, sides.fresh).correlation).sum())
    counts = recovered_documents(correlations >= limit, theirs, confidence=each)
    return ImageAttack.of(
        counts,
        name="informed",
        rule=f"the reconstruction of the image that was left out has a normalised "
        f"cross-correlation of {limit:g} or more with it",
        points=count,
        chance=min(1.0, count / (named * (fresh + 1))) if named else 1.0,
        chance_by=f"Markov's inequality: one image is nearest of {fresh + 1:,} by chance once in "
        f"{fresh + 1:,}, however the images depend on each other",
        named=named,
        shown=_shown(sides, [(i, guessed[i]) for i in _best(correlations, study.pictures)]),
    )


def _best(correlations: Floats, count: int) -> list[int]:
    return [int(i) for i in np.argsort(-correlations, kind="stable")[:count]]


def _shown(
    sides: ImageSides, pairs: Sequence[tuple[int, Floats]]
) -> tuple[ShownReconstruction, ...]:
    """Return each point next to its training image and the fresh image that it is most like."""
    if not pairs:
        return ()
    points = np.array([point for _, point in pairs])
    fresh = nearest_points(points, sides.fresh)
    correlations = (normalised(sides.trained[[i for i, _ in pairs]]) * normalised(points)).sum(
        axis=1
    )

    def file(row: Floats) -> str:
        return base64.b64encode(sides.shown(row)).decode()

    return tuple(
        ShownReconstruction(
            reconstruction=file(point),
            training=file(sides.trained[image]),
            fresh=file(sides.fresh[fresh.point[place]]),
            correlation=float(np.clip(correlations[place], -1, 1)),
            fresh_correlation=float(fresh.correlation[place]),
        )
        for place, (image, point) in enumerate(pairs)
    )


@dataclass(frozen=True, eq=False)
class AttacksNetworks:
    """Plays the attacks on the network of a study, and the first of them on its shadows.

    ``points/NET/closed`` and ``points/NET/START`` reconstruct, ``informed/TARGET`` reconstructs
    one image by all others.
    """

    nets: Sequence[DenseNet]
    sides: ImageSides
    reconstruction: ReconstructionSection | None
    informed: InformedSection | None
    entropy: int

    @classmethod
    def of(
        cls, study: ClassifierStudy, nets: Sequence[DenseNet], sides: ImageSides, entropy: int
    ) -> AttacksNetworks:
        return cls(nets, sides, study.reconstruction or None, study.informed or None, entropy)

    @property
    def points(self) -> int:
        point_count = None if self.reconstruction is None else self.reconstruction.points
        return point_count or 2 * len(self.sides.trained)

    @property
    def targets(self) -> int:
        """Images that the informed attack is played on."""
        return 0 if self.informed is None else min(self.informed.targets, len(self.sides.trained))

    @property
    def keys(self) -> list[str]:
        starts = 0 if self.reconstruction is None else self.reconstruction.starts
        pieces = [_CLOSED, *map(str, range(starts))] if self.reconstruction is not None else []
        return [
            *(f"points/{net}/{piece}" for net in range(len(self.nets)) for piece in pieces),
            *(f"informed/{target}" for target in range(self.targets)),
        ]

    def __call__(self, key: str) -> Payload:
        attack, _, rest = key.partition("/")
        return {"points": self._informed(int(rest)) if attack == "informed" else self._piece(rest)}

    def _piece(self, rest: str) -> Floats:
        net, _, piece = rest.partition("/")
        assert self.reconstruction is not None
        search = KktSearch(
            self.nets[int(net)], self.sides.box, self.points, self.reconstruction.steps
        )
        first = search.first_points(child(self.entropy, _ATTACK, int(net)))
        if piece == _CLOSED:
            return first
        random = child(self.entropy, _ATTACK, int(net), int(piece))
        return search.start(int(piece), first, random)[0]

    def _informed(self, target: int) -> Floats:
        assert self.informed is not None
        known = np.delete(self.sides.trained, target, axis=0)
        net, classes = self.nets[0], self.sides.classes
        return informed_reconstruct(
            net,
            known,
            net.classes(known) if classes is None else np.delete(classes, target),
            box=self.sides.box,
            steps=self.informed.steps,
        ).point

    def pooled(self, found: Mapping[str, Payload], net: int) -> Floats:
        """Return all points that were reconstructed from one network, shape (points, d)."""
        prefix = f"points/{net}/"
        parts = [found[key]["points"] for key in self.keys if key.startswith(prefix)]
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])

    def guessed(self, found: Mapping[str, Payload]) -> Floats:
        """Return the informed attacker's points, shape (targets, d)."""
        return np.array(
            [found[f"informed/{target}"]["points"] for target in range(self.targets)],
            dtype=np.float64,
        )


def _identity(work: ClassifierWork) -> dict[str, object]:
    """Describe what pieces depend on: how many starts, targets and shadows can be raised later."""
    settings = work.study.model_dump(mode="json")
    for section, key in (
        ("reconstruction", "starts"),
        ("informed", "targets"),
        ("training", "shadows"),
    ):
        if settings[section]:
            settings[section].pop(key)
    return {
        **{part: settings[part] for part in ("data", "training", "weights", "box")},
        "reconstruction": settings["reconstruction"],
        "informed": settings["informed"],
        "files": dict(work.digests),
        "seed": str(work.entropy),
    }


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
    images = LabelledImages.read(folder / data.images, shape)
    random = child(entropy, _DIVISION)
    if study.training is not None:
        return _divided(study, study.training, images, random)
    assert data.fresh is not None
    fresh = LabelledImages.read(folder / data.fresh, shape)
    if fresh.layout != images.layout:
        raise InputError(
            f"images trained on have {images.layout.describe()}, fresh ones "
            f"{fresh.layout.describe()}"
        )
    both = int((np.isin(_keys(fresh.rows), _keys(images.rows))).sum())
    if both:
        raise InputError(
            f"{both:,} of the images in {data.fresh} are in {data.images} as well: fresh images "
            "must be ones that the network was not trained on"
        )
    first, then = random.permutation(len(images.rows)), random.permutation(len(fresh.rows))
    nothing = np.zeros((0, images.rows.shape[1]))
    return _scaled(
        study,
        (images.rows[first], fresh.rows[then], nothing),
        (None, np.zeros(0, dtype=np.intp)),
        np.zeros(images.rows.shape[1]),
        images.layout,
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
    layers = [layer if isinstance(layer, str) else layer.build() for layer in weights.layers]
    is_dense = all(isinstance(layer, str) for layer in layers)
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
