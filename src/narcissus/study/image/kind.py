"""The kind "image-model": train or read a model of images, ask it, hold it against fresh images."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter
from scipy.spatial import distance

from narcissus._files import file_digest, files_digest
from narcissus._outwards import lower, upper
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, each_confidence, mean_limits
from narcissus.extraction.image_models import (
    Attempts,
    BoolArray,
    CaptionedGenerator,
    CloseUnlike,
    FloatArray,
    HasImageModels,
    ImageModelsUnderStudy,
    attempts_of,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.extraction.images import CaptionedImages, DividedImages
from narcissus.extraction.recovered import recovered_documents
from narcissus.observer import Observer
from narcissus.results import Estimate, NotAssessed
from narcissus.study.image.schema import ImageStudy
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.merging import by_copies
from narcissus.study.results.base import SampledShare
from narcissus.study.results.image import ImageGroup, ImageResults, ShownAttempt
from narcissus.study.results.recovered import GainOverFresh, copies_text
from narcissus.study.work import agree

_ATTEMPTS, _LEFT_OUT = 1, 2  # keys of random streams


@dataclass(frozen=True)
class AttackedImages:
    """What the attack gave."""

    attempts: Attempts  # On the model, by caption
    # Of each image trained on to the attempts from its caption, shape (trained,)
    distances: FloatArray
    # outliers, fresh_outliers: Which images trained on, and which fresh ones, are unlike the
    # others
    outliers: BoolArray
    fresh_outliers: BoolArray
    # reproduced, reproduced_fresh: Which of them are close to an attempt besides
    reproduced: BoolArray
    reproduced_fresh: BoolArray
    shadow_outliers: BoolArray  # Which images trained on are unlike those of the shadow models
    # Share of shadow models that give each image trained on; 0 where it is not unlike theirs
    by_shadows: FloatArray
    shadow_models: int  # How many there are


def attacked(
    study: ImageStudy, models: ImageModelsUnderStudy, division: DividedImages, entropy: int
) -> AttackedImages:
    """Play the attack on the model and on its shadows, on the same noise.
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

    def asked(model: CaptionedGenerator, of: set[str]) -> Attempts:
        section = study.attempts
        pixels = trained.rows.shape[1]
        said = {"samples": section.samples, "keep": section.keep, "entropy": noise}
        return attempts_of(model, of, relation, pixels=pixels, **said)

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
            _close(trained, asked(one, set(trained.captions)), relation) for one in models.shadows
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


NOT_COVERED = [
    "other attacks (guidance, gradients, known parts of an image): that this one gives little says "
    "nothing about the next, and nothing here is proved about every attacker; a guarantee of the "
    "training would be (DP-SGD)",
    "images that are like others: they are no outliers by the relation, and never count",
    "likeness that a distance between pixels does not see: moved, mirrored or recoloured images, a "
    "face in another picture",
]


def verdict_words(results: ImageResults) -> str:
    whole = results.whole
    text = (
        f"The model gives back {whole.reproduced:,} of {whole.images:,} outliers that it was "
        f"trained on{_beside(whole)}."
    )
    worst = results.worst
    if worst.copies and worst.shown_gain > 0:
        copies = copies_text(worst.copies, worst.and_copies)
        text += (
            f" Of those with {copies}, it gives "
            f"back {worst.reproduced:,} of {worst.images:,}: at least "
            f"{lower(100 * worst.shown_gain, places=1)} points more than of fresh ones."
        )
    if results.most_gain is not None:
        text += f" {_threshold(results, results.most_gain)}"
    return text


def _gained(low: float) -> str:
    """Describe the lower limit of a gain; below 0 it shows none."""
    if low <= 0:
        return "no gain is shown"
    return f"a gain of at least {lower(100 * low, places=1)} points"


def _beside(group: ImageGroup) -> str:
    if group.fresh is None or group.gain is None:
        return ""
    return (
        f" ({100 * group.share:.1f}%), and {100 * group.fresh.value:.1f}% of those that it never "
        f"saw: {_gained(group.shown_gain)}"
    )


def _threshold(results: ImageResults, most: float) -> str:
    accepted = f"{upper(100 * most, places=1)} points are accepted"
    return {
        "exceeded": f"{accepted}.",
        "too few trials": f"{accepted}; more images would tell.",
        "inconclusive": f"{accepted}: these attempts do not show more, and prove no less.",
        "no threshold": "",
    }[results.status]


def assumptions(division: DividedImages) -> tuple[str, ...]:
    """Describe what the limits take as given."""
    found = ["images are independent draws of one source"]
    if not division.by_chance:
        found.append(
            "the fresh images are of the same source as those trained on, and the model was not "
            "trained on them"
        )
    return tuple(found)


def assessed(results: ImageResults) -> list[str]:
    beside = f"{results.fresh_outliers:,} fresh ones"
    if results.shadow_models:
        beside += ", and those of models trained without them"
    return [
        f"outliers given back on their captions, close and unique, beside {beside}",
    ]


def not_assessed(results: ImageResults) -> list[NotAssessed]:
    """Return what was asked and not answered, and what would answer it."""
    found: list[NotAssessed] = []
    for group in results.groups:
        of = f" of {copies_text(group.copies, group.and_copies)}" if group.copies else ""
        if group.fresh is None:
            found.append(
                NotAssessed(
                    f"what the model gives of outliers{of} that it never saw",
                    "no fresh image is like them",
                    "more fresh images, or let chance choose what is repeated: [duplicates]",
                )
            )
        if results.shadow_models and group.shadows is None:
            found.append(
                NotAssessed(
                    f"what shadow models give of outliers{of}",
                    "none of them is unlike the images of shadow models",
                    "more images, or a smaller `relation.unique`",
                )
            )
    if not results.shadow_models:
        found.append(
            NotAssessed(
                "what a model that was trained without the images gives of them",
                "there is no shadow model",
                "`data.shadows = 1`, for a model that is trained here",
            )
        )
    return found


LARGEST_PICTURE = 48
"""Most pixels of a side of a picture in a record; larger images are shrunk."""


def summarised(
    study: ImageStudy,
    words: str,
    models: ImageModelsUnderStudy,
    division: DividedImages,
    found: AttackedImages,
) -> ImageResults:
    """Make the limits, each for all of them together (Bonferroni), the pictures and the status."""
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
    each = each_confidence(study.run.confidence, max(1, claims))
    height, width, channels = trained.shape
    smaller = -(-max(height, width) // LARGEST_PICTURE)
    results = ImageResults.model_construct(
        model=words,
        parameters=models.parameters,
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
        claim_confidence=each,
        groups=tuple(_group(division, found, copies, each, alike=alike) for copies in groups),
        shown_shape=(height // smaller, width // smaller, channels),
        pictures=tuple(_pictures(study.pictures, division, found, smaller)),
        most_gain=None if study.threshold is None else study.threshold.gain,
        grade="sampled",
        merged=merged,
    )
    return ImageResults(**dict(results), status=results.status_by_numbers)


def _masks(
    division: DividedImages, found: AttackedImages, copies: tuple[int, ...], *, alike: bool
) -> tuple[BoolArray, BoolArray]:
    """Return which images trained on are in a group, and which fresh ones it is held against."""
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
    return ImageGroup(
        copies=copies[0] if copies else 0,
        and_copies=copies[1:] or None,
        images=counted.documents,
        reproduced=counted.recovered,
        share=counted.share,
        fresh=None if counted.fresh is None else SampledShare.of(counted.fresh),
        shadows=None if shadows is None else SampledShare.of(shadows),
        gain=GainOverFresh.of(counted.gain),
    )


def _by_shadows(shares: FloatArray, models: int, each: float) -> Estimate | None:
    """Limit the share that shadow models give of images that they never saw."""
    quantity = "a shadow model gives an image that it was not trained on"
    if not len(shares):
        return None
    if models == 1:
        return clopper_pearson(int(shares.sum()), len(shares), confidence=each, quantity=quantity)
    return mean_limits(shares, confidence=each, quantity=quantity)


def _pictures(
    count: int, division: DividedImages, found: AttackedImages, smaller: int
) -> Iterator[ShownAttempt]:
    """Show attempts beside the nearest images, the closest of each number of copies in turn."""
    trained, fresh = division.trained, division.fresh

    def shown(row: FloatArray) -> str:
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
        own = places[copies[places] == number]
        order = own[np.argsort(found.distances[own], kind="stable")]
        turns += [(turn, -number, place) for turn, place in enumerate(order.tolist())]
    chosen = [place for _, _, place in sorted(turns)[:count]]
    return sorted(chosen, key=lambda place: (-copies[place], found.distances[place]))


def _encoded(image: FloatArray, smaller: int) -> str:
    """Return an image as bytes in base64, shrunk by a whole number."""
    height, width, channels = (image.shape[0] // smaller, image.shape[1] // smaller, image.shape[2])
    cut = image[: height * smaller, : width * smaller]
    blocks = cut.reshape(height, smaller, width, smaller, channels).mean(axis=(1, 3))
    raw = (255 * np.clip(blocks, 0, 1)).round().astype(np.uint8).tobytes()
    return base64.b64encode(raw).decode("ascii")


_DIVISION, _TRAINING = 0, 3  # keys of random streams; 1 and 2 are the attack's


class ImageKind:
    """The kind "image-model"."""

    model: type[BaseModel] = ImageStudy
    results: TypeAdapter[Any] = TypeAdapter(ImageResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse missing files, folders that are no models, missing packages."""
        settings: ImageStudy = study
        part: HasImageModels = settings.model.build()
        settings.relation.build()
        part.check(settings.division(folder, part, child(0, _DIVISION)).trained)

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Train, ask, summarise."""
        settings: ImageStudy = study
        options.refuse_policy_and_records("models of images")
        part: HasImageModels = settings.model.build()
        division = settings.division(folder, part, child(options.entropy, _DIVISION))
        shadow = division.shadow
        shadows = [] if shadow is None else [shadow] * settings.data.shadows
        agree(
            sum(part.seconds(one) for one in (division.trained, *shadows)),
            f"training {part.words()}, and {len(shadows)} shadow models",
            hours=options.hours,
            observer=options.observer,
        )
        with options.place() as place:
            models = part.models(
                division.trained,
                shadows,
                place,
                entropy=int(child(options.entropy, _TRAINING).integers(2**63)),
                observer=options.observer,
            )
            options.observer.note("asking for every caption")
            found = attacked(settings, models, division, options.entropy)
            results = summarised(settings, part.words(), models, division, found)
            weights: dict[str, str] = {}
            if models.folder is not None:
                weights["model"] = files_digest(models.folder.rglob("*.safetensors"))
        return Outcome(
            title=settings.title or "A model of images",
            status=results.status,
            verdict=verdict_words(results),
            grade=results.grade,
            assumptions=assumptions(division),
            results=results,
            assessed=assessed(results),
            not_assessed=not_assessed(results),
            not_covered=NOT_COVERED,
            digests={"images": file_digest(folder / settings.data.images), **weights},
        )


KIND = ImageKind()
