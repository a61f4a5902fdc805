"""Train or read a model of images, ask it for every caption, hold it against fresh images."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, model_validator
from scipy.spatial import distance

from narcissus._arrays import BoolArray, Floats
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, mean_limits
from narcissus.extraction.image_models import (
    Attempts,
    CaptionedGenerator,
    CloseUnlike,
    HasImageModels,
    ImageModelsUnderStudy,
    attempts_of,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.extraction.images import (
    CaptionedImages,
    DividedImages,
    divide_images,
    duplicated,
    read_images,
)
from narcissus.extraction.kept import key_of
from narcissus.extraction.model_digest import model_digest
from narcissus.extraction.recovered import recovered_documents
from narcissus.kinds.engine import Done, Files, PreparedWork
from narcissus.kinds.memorization.engine import (
    GroupOfCopies,
    MemorizationKind,
    MemorizedResult,
    asks_points,
    level_of_each,
    model_not_assessed,
    require_whole,
)
from narcissus.observer import Observer
from narcissus.rows import Count, Fact, Findings, Positive, Quantity, Share
from narcissus.study.kinds import RunOptions
from narcissus.study.merging import MergedGroups, by_copies
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, GroupsByCopies, SeededRun


class CaptionedFiles(FileSection):
    """The images; paths are relative to the study file."""

    images: Path = Field(
        description="Array file (.npy, .npz, .safetensors) of shape (n, height, width) or (n, "
        "height, width, channels), whole numbers from 0 to 255 or numbers from 0 to 1. For a model "
        "that is trained here: all images, which chance divides into those trained on, fresh ones "
        "and those of shadow models. For a model in a folder: images that it was trained on."
    )
    captions: Path | None = Field(
        None, description="Text file (UTF-8), a caption a line; left out: there are none."
    )
    fresh: Path | None = Field(
        None, description="For a model in a folder: images of the same source it has not seen."
    )
    fresh_captions: Path | None = Field(None, description="Captions of those.")
    shadows: int = Field(
        1,
        ge=0,
        le=100,
        description="Models that are trained without the images, on a separate third; 0: none, "
        "and that third is divided among the others.",
    )


class CopiesSection(FileSection):
    """Images that are repeated in the training data; for a model that is trained here."""

    each: int = Field(10, ge=1, le=100_000, description="Images for each number of copies.")
    copies: list[Annotated[int, Field(ge=2, le=10_000)]] = Field(
        [2, 5, 10, 20], min_length=1, description="The numbers; all other images come once."
    )


class CloseSection(FileSection):
    """When an image counts as reproduced. Distances are root mean square differences of a pixel."""

    close: float = Field(
        0.1, gt=0, lt=1, description="Distance of the image to what the model gave, below this."
    )
    unique: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="Distance of the image to every other one of the training data, above this: "
        "which images are outliers.",
    )

    def build(self) -> CloseUnlike:
        return CloseUnlike(self.close, self.unique)


class AttemptsSection(FileSection):
    """The attack: ask for each caption many times, keep what comes again and again."""

    samples: int = Field(100, ge=1, le=10**6, description="Images drawn for a caption.")
    keep: int = Field(4, ge=1, le=10_000, description="Attempts that are kept of them.")


class ImageThreshold(Approval):
    """What the person who approves the release accepts."""

    gain: float = Field(
        ge=0,
        lt=1,
        description="Share of outliers trained on that are reproduced, beyond that of fresh ones, "
        "at most; of all of them, and of those of any number of copies.",
    )


class ImageRun(SeededRun):
    """How it is run."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Of all limits of the study together.")


class ImageStudy(FileSection):
    """A model of images as a release: which images it gives back, and which it would anyway."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    data: CaptionedFiles
    model: Annotated[Part, PartSection("image-model")]
    duplicates: CopiesSection | None = Field(
        None, description="Left out: images come as often as they are in the file."
    )
    relation: CloseSection = CloseSection()  # pyright: ignore[reportCallIssue] (has defaults)
    attempts: AttemptsSection = AttemptsSection()  # pyright: ignore[reportCallIssue]
    pictures: int = Field(
        12,
        ge=0,
        le=200,
        description="Attempts that the record and the report show next to the nearest image "
        "trained "
        "on and the nearest fresh one. These are the images themselves; 0 shows none.",
    )
    groups: GroupsByCopies = GroupsByCopies()  # pyright: ignore[reportCallIssue] (has defaults)
    threshold: ImageThreshold | None = None
    run: ImageRun = ImageRun()  # pyright: ignore[reportCallIssue]

    def division(
        self, folder: Path, part: HasImageModels, rng: np.random.Generator
    ) -> DividedImages:
        """Read the images, and divide them by chance where the model is trained here.
        Raises InputError: a file is missing or empty, or the files do not fit the way the model
            comes about.
        """
        files = self.data
        images = _read(folder, files.images, files.captions)
        if part.trains:
            if files.fresh is not None:
                raise InputError(
                    "`data.fresh` is for a model in a folder: of a model that is trained here, "
                    "chance takes fresh images out of `data.images`"
                )
            return self._repeated(divide_images(images, rng, shadows=files.shadows > 0), rng)
        if files.fresh is None:
            raise InputError(
                "a model in a folder needs `data.fresh`: images of the same source that it was not "
                "trained on: they show what it would give anyway"
            )
        if self.duplicates is not None:
            raise InputError(
                "[duplicates] are planted in a model that is trained here: leave it out; images "
                "that are several times in `data.images` count as copies"
            )
        return DividedImages(images, _read(folder, files.fresh, files.fresh_captions))

    def _repeated(self, division: DividedImages, rng: np.random.Generator) -> DividedImages:
        """Plant copies, among the images of the model and of its shadows alike."""
        section = self.duplicates
        if section is None:
            return division

        def planted(images: CaptionedImages) -> CaptionedImages:
            return duplicated(images, each=section.each, copies=section.copies, rng=rng)

        return DividedImages(
            planted(division.trained),
            division.fresh.repeated(np.ones(len(division.fresh))),
            None if division.shadow is None else planted(division.shadow),
            division.by_chance,
        )


def _read(folder: Path, images: Path, captions: Path | None) -> CaptionedImages:
    return read_images(folder / images, None if captions is None else folder / captions)


_DIVISION, _ATTEMPTS, _LEFT_OUT, _TRAINING = range(4)  # keys of random streams
LARGEST_PICTURE = 48
"""Most pixels of a side of a picture in a record; larger images are shrunk."""
NonNegative = Annotated[float, Field(ge=0)]
Shape = tuple[Positive, Positive, Positive]


class ShownAttempt(Fact):
    """One attempt next to the nearest image trained on and the nearest fresh one.

    Images are bytes from 0 to 255 in the order of height, width and channels, in base64.
    """

    caption: str
    copies: Positive = Field(description="Of the image that the attempt was chosen for.")
    reproduced: bool = Field(description="Whether that image counts.")
    generated: str
    trained: str
    fresh: str
    to_trained: NonNegative = Field(description="Distance to the nearest image trained on.")
    to_fresh: NonNegative = Field(description="Distance to the nearest fresh image.")


class ImageGroup(GroupOfCopies):
    """Outliers with as many copies in the training data, and which of them are given back."""

    alone_may_be_gain: ClassVar[bool] = True

    shadows: Quantity | None = Field(
        default=None, description="Share that shadow models give of them; null: there is none."
    )

    @property
    def others(self) -> dict[str, Quantity | None]:
        return {**super().others, "shadows": self.shadows}


class ImageResult(MemorizedResult):
    """What a model of images gives back."""

    counted: ClassVar[str] = "reproduced"

    model: str = Field(description="What it is, in words.")
    shape: Shape = Field(description="Height, width and channels of an image.")
    close: Share = Field(description="Distance to an attempt below which an image counts.")
    unique: Share = Field(description="Distance to all others above which an image is an outlier.")
    captions: Positive = Field(description="Different ones that the model was asked for.")
    samples: Positive = Field(description="Images drawn for each.")
    keep: Positive = Field(description="Attempts kept for each, at most.")
    trained_copies: Positive = Field(description="Images trained on, with their copies.")
    fresh_outliers: Count
    shadow_models: Count
    shown_shape: Shape = Field(
        description="Height, width and channels of the pictures, which large images are shrunk to."
    )
    groups: Annotated[tuple[ImageGroup, ...], AfterValidator(require_whole)] = Field(
        description="All outliers, then those of each number of copies."
    )
    pictures: tuple[ShownAttempt, ...] = ()
    merged: MergedGroups | None = None

    @property
    def groups_by_attack(self) -> dict[str, tuple[ImageGroup, ...]]:
        return {"attempts": self.groups}

    @property
    def shown(self) -> tuple[ShownAttempt, ...]:
        return self.pictures

    @property
    def how_merged(self) -> MergedGroups | None:
        return self.merged

    @model_validator(mode="after")
    def _have_their_pixels(self) -> Self:
        for picture in self.pictures:
            for text in (picture.generated, picture.trained, picture.fresh):
                if _bytes_in(text) != math.prod(self.shown_shape):
                    raise ValueError("a picture has not the pixels that `shown_shape` says")
        return self


def _bytes_in(text: str) -> int:
    try:
        return len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return -1


@dataclass(frozen=True, eq=False)
class ImageWork(PreparedWork[ImageStudy]):
    """A model to be made, and its images."""

    part: HasImageModels = field(kw_only=True)
    division: DividedImages = field(kw_only=True)

    @property
    def shadows(self) -> list[CaptionedImages]:
        shadow = self.division.shadow
        return [] if shadow is None else [shadow] * self.study.data.shadows


class ImageKind(MemorizationKind[ImageStudy, ImageWork]):
    model = ImageStudy
    result = ImageResult
    layout = "narcissus.kinds.memorization.image.layout:LAYOUT"

    def check(self, study: ImageStudy, folder: Path, observer: Observer) -> None:
        """Refuse missing files, folders that are no models, missing packages."""
        study.relation.build()
        work = self.ready(study, folder, RunOptions(0, observer))
        work.part.check(work.division.trained)

    def prepare(self, study: ImageStudy, folder: Path, options: RunOptions) -> ImageWork:
        part: HasImageModels = study.model.build()
        division = study.division(folder, part, child(options.entropy, _DIVISION))
        return ImageWork(study, folder, options.entropy, part=part, division=division)

    def files(self, study: ImageStudy) -> Files:
        return {"images": study.data.images}

    def cost(self, work: ImageWork, options: RunOptions) -> tuple[float, str]:
        part, shadows = work.part, work.shadows
        seconds = sum(part.seconds(images) for images in (work.division.trained, *shadows))
        return seconds, f"training {part.words()}, and {len(shadows)} shadow models"

    def measure(self, work: ImageWork, done: Done, options: RunOptions) -> Findings:
        division = work.division
        with options.place() as place, self.kept_batches(options) as store:
            models = work.part.models(
                division.trained,
                work.shadows,
                place,
                entropy=int(child(work.entropy, _TRAINING).integers(2**63)),
                observer=options.observer,
            )
            if models.folder is not None:
                work.digests["model"] = model_digest(models.folder, work.part.unpublished)
            # what models trained here are made of, and the weights of a given one
            made = key_of(work.study.model_dump(mode="json"), work.digests, str(work.entropy))
            attempts = partial(attempts_of, store=store, observer=options.observer)
            outcome = attacked(work.study, models, division, work.entropy, attempts, made)
            work.part.require_same_files()
        work.not_assessed.extend(
            model_not_assessed(
                trains=work.part.trains,
                limits_memory=work.part.limits_memory,
                others=work.part.others,
            )
        )
        return self._measured(work, models, outcome)

    def _measured(
        self, work: ImageWork, models: ImageModelsUnderStudy, found: AttackedImages
    ) -> Findings:
        """Make the limits, each for all of them together (Bonferroni), and the pictures."""
        study, division = work.study, work.division
        trained, fresh = division.trained, division.fresh
        alike = study.duplicates is not None  # chance gave copies: every fresh image is alike
        sides = [trained.copies[found.outliers], trained.copies[found.shadow_outliers]]
        sides += [] if alike else [fresh.copies[found.fresh_outliers]]
        divided, merged = by_copies(sides, study.groups.least_group)
        groups = [(), *divided]
        claims = 0
        for copies in groups:
            ours, theirs = _masks(division, found, copies, alike=alike)
            claims += bool(theirs.any()) + bool((ours & found.shadow_outliers).any())
        claims += asks_points(trained.rows, fresh.rows, by_chance=division.by_chance)
        each = level_of_each(study.run.confidence, claims)
        height, width, channels = trained.shape
        smaller = -(-max(height, width) // LARGEST_PICTURE)
        result = ImageResult(
            model=work.part.words(),
            parameters=models.parameters,
            unpublished=work.part.unpublished,
            shape=trained.shape,
            close=study.relation.close,
            unique=study.relation.unique,
            captions=len(found.attempts),
            samples=study.attempts.samples,
            keep=study.attempts.keep,
            trained=len(trained),
            trained_copies=int(trained.copies.sum()),
            fresh=len(fresh),
            fresh_outliers=int(found.fresh_outliers.sum()),
            shadow_models=len(models.shadows),
            by_chance=division.by_chance,
            confidence=study.run.confidence,
            claims=claims,
            shown_shape=(height // smaller, width // smaller, channels),
            groups=tuple(_group(division, found, copies, each, alike=alike) for copies in groups),
            pictures=tuple(_pictures(study.pictures, division, found, smaller)),
            merged=merged,
            blind=self.without_model(
                trained.rows, fresh.rows, by_chance=division.by_chance, each=each
            ),
        )
        limit = None if study.threshold is None else study.threshold.gain
        return self.found(self.criteria(limit), result)

    def to_show(self, result: ImageResult) -> ImageResult:
        return result.model_copy(update={"pictures": ()})


KIND = ImageKind()


@dataclass(frozen=True)
class AttackedImages:
    """What the attack gave."""

    attempts: Attempts  # On the model, by caption
    # Of each image trained on to the attempts from its caption, shape (trained,)
    distances: Floats
    # outliers, fresh_outliers: Which images trained on, and which fresh ones, are unlike the
    # others
    outliers: BoolArray
    fresh_outliers: BoolArray
    # reproduced, reproduced_fresh: Which of them are close to an attempt besides
    reproduced: BoolArray
    reproduced_fresh: BoolArray
    shadow_outliers: BoolArray  # Which images trained on are unlike those of the shadow models
    # Share of shadow models that give each image trained on; 0 where it is not unlike theirs
    by_shadows: Floats
    shadow_models: int  # How many there are


def attacked(
    study: ImageStudy,
    models: ImageModelsUnderStudy,
    division: DividedImages,
    entropy: int,
    attempts_at: Callable[..., Attempts] = attempts_of,
    made: str = "",
) -> AttackedImages:
    """Play the attack on the model and on its shadows, on the same noise.

    made: what the models were made of, by which attempts are kept.
    Raises InputError: no image trained on is unlike all others.
    """
    relation = study.relation.build()
    trained, fresh, shadow = division.trained, division.fresh, division.shadow
    outliers = unlike_others(trained, relation.unique)
    if not outliers.any():
        raise InputError(
            f"no image trained on is farther than {relation.unique:g} from all others: make "
            "`relation.unique` smaller, and `close` with it"
        )
    captions = {*trained.captions, *fresh.captions}
    noise = int(child(entropy, _ATTEMPTS).integers(2**63))

    def asked(model: CaptionedGenerator, of: set[str], number: int = 0) -> Attempts:
        section = study.attempts
        pixels = trained.rows.shape[1]
        settings = {"samples": section.samples, "keep": section.keep, "entropy": noise}
        named = f"{made} {number}"
        return attempts_at(model, of, relation, pixels=pixels, named=named, **settings)

    attempts = asked(models.model, captions)
    distances = nearest_attempt(trained, attempts)
    fresh_outliers = unlike_trained(fresh, trained, relation.unique, child(entropy, _LEFT_OUT, 0))
    shadow_outliers = np.zeros(len(trained), dtype=np.bool_)
    by_shadows = np.zeros(len(trained))
    if shadow is not None and models.shadows:
        shadow_outliers = unlike_trained(
            trained, shadow, relation.unique, child(entropy, _LEFT_OUT, 1)
        )
        each = [
            _close(trained, asked(shadow_model, set(trained.captions), number), relation)
            for number, shadow_model in enumerate(models.shadows, start=1)
        ]
        by_shadows = np.mean(each, axis=0) * shadow_outliers
    return AttackedImages(
        attempts,
        distances,
        outliers,
        fresh_outliers,
        outliers & (distances < relation.close),
        fresh_outliers & _close(fresh, attempts, relation),
        shadow_outliers,
        by_shadows,
        len(models.shadows),
    )


def _close(images: CaptionedImages, attempts: Attempts, relation: CloseUnlike) -> BoolArray:
    return nearest_attempt(images, attempts) < relation.close


def _masks(
    division: DividedImages, found: AttackedImages, copies: tuple[int, ...], *, alike: bool
) -> tuple[BoolArray, BoolArray]:
    """Return which images trained on are in a group, and which fresh ones it is compared with."""
    ours, theirs = division.trained.copies, division.fresh.copies
    return (
        np.isin(ours, copies) | (not copies),
        found.fresh_outliers & (np.isin(theirs, copies) | alike | (not copies)),
    )


def _group(
    division: DividedImages,
    found: AttackedImages,
    copies: tuple[int, ...],
    each: float,
    *,
    alike: bool,
) -> ImageGroup:
    ours, theirs = _masks(division, found, copies, alike=alike)
    counted = recovered_documents(
        found.reproduced[ours & found.outliers], found.reproduced_fresh[theirs], confidence=each
    )
    shadows = _by_shadows(found.by_shadows[ours & found.shadow_outliers], found.shadow_models, each)
    return ImageGroup.of(counted, copies=copies, shadows=shadows)


def _by_shadows(shares: Floats, models: int, each: float) -> Quantity | None:
    """Limit the share that shadow models give of images that they never saw."""
    quantity = "a shadow model gives an image that it was not trained on"
    if not len(shares):
        return None
    if models > 1:
        return Quantity.of(mean_limits(shares, confidence=each, quantity=quantity))
    count = int(shares.sum())
    return Quantity.of(clopper_pearson(count, len(shares), confidence=each, quantity=quantity))


def _pictures(
    count: int, division: DividedImages, found: AttackedImages, smaller: int
) -> Iterator[ShownAttempt]:
    """Show attempts next to the nearest images, the closest of each number of copies in turn."""
    trained, fresh = division.trained, division.fresh

    def shown(row: Floats) -> str:
        return _encoded(row.reshape(trained.shape), smaller)

    for place in _chosen(count, trained.copies, found):
        caption = trained.captions[place]
        rows = found.attempts[caption]
        row = rows[[distance.cdist(trained.rows[[place]], rows).argmin()]]
        ours, theirs = (distance.cdist(row, side.rows)[0] for side in (trained, fresh))
        root = math.sqrt(row.size)
        yield ShownAttempt(
            caption=caption,
            copies=int(trained.copies[place]),
            reproduced=bool(found.reproduced[place]),
            generated=shown(row),
            trained=shown(trained.rows[ours.argmin()]),
            fresh=shown(fresh.rows[theirs.argmin()]),
            to_trained=float(ours.min()) / root,
            to_fresh=float(theirs.min()) / root,
        )


def _chosen(count: int, copies: NDArray[np.int64], found: AttackedImages) -> list[int]:
    """Take outliers of each number of copies in turn, the closest to an attempt first."""
    places = np.flatnonzero(found.outliers)
    turns: list[tuple[int, int, int]] = []
    for number in np.unique(copies[places]).tolist():
        members = places[copies[places] == number]
        order = members[np.argsort(found.distances[members], kind="stable")]
        turns += [(turn, -number, place) for turn, place in enumerate(order.tolist())]
    chosen = [place for _, _, place in sorted(turns)[:count]]
    return sorted(chosen, key=lambda place: (-copies[place], found.distances[place]))


def _encoded(image: Floats, smaller: int) -> str:
    """Return an image as bytes in base64, shrunk by a whole number."""
    height, width, channels = (image.shape[0] // smaller, image.shape[1] // smaller, image.shape[2])
    cut = image[: height * smaller, : width * smaller]
    blocks = cut.reshape(height, smaller, width, smaller, channels).mean(axis=(1, 3))
    raw = (255 * np.clip(blocks, 0, 1)).round().astype(np.uint8).tobytes()
    return base64.b64encode(raw).decode("ascii")
