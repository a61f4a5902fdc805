"""From what the attack gave to numbers with limits, all of which hold at once, and pictures."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import distance

from narcissus.evidence import clopper_pearson, each_confidence, mean_limits
from narcissus.extraction.captioned_images import DividedImages
from narcissus.extraction.image_models import ImageModelsUnderStudy
from narcissus.extraction.recovered import recovered_documents
from narcissus.extraction.reproduced import BoolArray, FloatArray
from narcissus.results import Estimate
from narcissus.study.image.attacking import AttackedImages
from narcissus.study.image.schema import ImageStudy
from narcissus.study.results.base import SampledShare
from narcissus.study.results.image import ImageGroup, ImageResults, ShownAttempt
from narcissus.study.results.recovered import GainOverFresh

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
    groups = _groups(trained.copies[found.outliers])
    by_copies = study.duplicates is None  # else chance gave copies: every fresh image is alike
    claims = 0
    for copies in groups:
        ours, theirs = _masks(division, found, copies, by_copies=by_copies)
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
        groups=tuple(
            _group(division, found, copies, each, by_copies=by_copies) for copies in groups
        ),
        shown_shape=(height // smaller, width // smaller, channels),
        pictures=tuple(_pictures(study.pictures, division, found, smaller)),
        most_gain=None if study.threshold is None else study.threshold.gain,
        grade="sampled",
    )
    return ImageResults(**dict(results), status=results.status_by_numbers)


def _groups(copies: NDArray[np.int64]) -> list[int]:
    """Give the numbers of copies that are told apart; 0 is all outliers."""
    several = np.unique(copies).tolist()
    return [0, *(several if len(several) > 1 else [])]


def _masks(
    division: DividedImages, found: AttackedImages, copies: int, *, by_copies: bool
) -> tuple[BoolArray, BoolArray]:
    """Say which images trained on are in a group, and which fresh ones it is held against."""
    ours, theirs = division.trained.copies, division.fresh.copies
    held = theirs == copies if by_copies and copies else np.ones_like(theirs, dtype=np.bool_)
    mine = ours == copies if copies else np.ones_like(ours, dtype=np.bool_)
    return mine, found.fresh_outliers & held


def _group(
    division: DividedImages, found: AttackedImages, copies: int, each: float, *, by_copies: bool
) -> ImageGroup:
    ours, theirs = _masks(division, found, copies, by_copies=by_copies)
    counted = recovered_documents(
        found.reproduced[ours & found.outliers], found.reproduced_fresh[theirs], confidence=each
    )
    shadows = _by_shadows(found.by_shadows[ours & found.shadow_outliers], found.shadow_models, each)
    return ImageGroup(
        copies=copies,
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
    """Give an image as bytes in base64, shrunk by a whole number."""
    height, width, channels = (image.shape[0] // smaller, image.shape[1] // smaller, image.shape[2])
    cut = image[: height * smaller, : width * smaller]
    blocks = cut.reshape(height, smaller, width, smaller, channels).mean(axis=(1, 3))
    raw = (255 * np.clip(blocks, 0, 1)).round().astype(np.uint8).tobytes()
    return base64.b64encode(raw).decode("ascii")
