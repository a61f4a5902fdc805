"""From reconstructions to numbers with limits, all of which hold at once, and to pictures."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import each_confidence
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.images import nearest_points
from narcissus.extraction.ranking import lead_over_shadows
from narcissus.extraction.recovered import recovered_documents
from narcissus.extraction.relations.rows import normalised
from narcissus.study.classifier.material import ImageSides
from narcissus.study.classifier.schema import ClassifierStudy
from narcissus.study.results.base import SampledShare
from narcissus.study.results.classifier import (
    ClassifierResults,
    ImageAttack,
    ShownReconstruction,
)
from narcissus.study.results.recovered import GainOverFresh

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReconstructedPoints:
    """What the attacks made.

    Attributes
    ----------
    pooled
        Points by network, the audited one first, shapes (points, d); none where not played.
    guessed
        The informed attacker's, one for each of the first training images; none where not played.
    """

    pooled: Sequence[FloatArray]
    guessed: FloatArray | None


def summarised(
    study: ClassifierStudy,
    net: DenseNet,
    shadows: int,
    sides: ImageSides,
    made: ReconstructedPoints,
) -> ClassifierResults:
    """Make the limits, each for all of them together (Bonferroni), and the status."""
    claims = bool(made.pooled) + (made.guessed is not None)
    each = each_confidence(study.run.confidence, claims)
    attacks: list[ImageAttack] = []
    if made.pooled:
        attacks.append(_reconstruction(study, sides, made.pooled, each))
    if made.guessed is not None:
        attacks.append(_informed(study, sides, made.guessed, each))
    fitted = None
    if sides.classes is not None:
        fitted = float((net.classes(sides.trained) == sides.classes).mean())
    results = ClassifierResults.model_construct(
        network=net.describe(),
        parameters=net.parameters,
        fitted=fitted,
        trained=len(sides.trained),
        fresh=len(sides.fresh),
        image=sides.layout.describe(),
        shadows=shadows,
        by_chance=study.training is not None,
        correlation=study.success.correlation,
        box=sides.box,
        confidence=study.run.confidence,
        claims=claims,
        claim_confidence=each,
        attacks=tuple(attacks),
        most_gain=None if study.threshold is None else study.threshold.gain,
        grade="sampled",
    )
    return ClassifierResults(**dict(results), status=results.status_by_numbers)


def _reconstruction(
    study: ClassifierStudy, sides: ImageSides, pooled: Sequence[FloatArray], each: float
) -> ImageAttack:
    """Count the training images, and the fresh ones, to which some point is close."""
    least, points = study.success.correlation, pooled[0]
    nearest = nearest_points(sides.trained, points)
    fresh = nearest_points(sides.fresh, points).correlation >= least
    beside = [int((nearest_points(sides.trained, other).correlation >= least).sum())
              for other in pooled[1:]]  # fmt: skip
    found = recovered_documents(nearest.correlation >= least, fresh, confidence=each)
    assert found.chance is not None
    best = _best(nearest.correlation, study.pictures) if len(points) else []
    return _attack(
        nearest.correlation >= least,
        fresh,
        each,
        name="reconstruction",
        rule=f"one of the reconstructions has a normalised cross-correlation of {least:g} or more "
        "with it",
        points=len(points),
        chance=found.chance,
        chance_by="Fisher's exact test of training images against fresh ones",
        named=None,
        shadows=tuple(beside),
        shadow_chance=lead_over_shadows(found.recovered, beside) if beside else None,
        shown=_shown(sides, [(i, points[nearest.point[i]]) for i in best]),
    )


def _informed(
    study: ClassifierStudy, sides: ImageSides, guessed: FloatArray, each: float
) -> ImageAttack:
    """Hold each guess against the image that it is of, and against fresh ones."""
    least, count, fresh = study.success.correlation, len(guessed), len(sides.fresh)
    alike = normalised(sides.trained[:count]) * normalised(guessed)
    own = np.clip(alike.sum(axis=1), -1.0, 1.0)
    # each fresh image is held against one of the guesses, so that they are independent
    turn = np.arange(fresh) % count
    theirs = (normalised(sides.fresh) * normalised(guessed)[turn]).sum(axis=1) >= least
    named = int((own > nearest_points(guessed, sides.fresh).correlation).sum())
    return _attack(
        own >= least,
        theirs,
        each,
        name="informed",
        rule=f"the reconstruction of the image that was left out has a normalised "
        f"cross-correlation of {least:g} or more with it",
        points=count,
        chance=min(1.0, count / (named * (fresh + 1))) if named else 1.0,
        chance_by=f"Markov's inequality: one image is nearest of {fresh + 1:,} by chance once in "
        f"{fresh + 1:,}, however the images depend on each other",
        named=named,
        shadows=(),
        shadow_chance=None,
        shown=_shown(sides, [(i, guessed[i]) for i in _best(own, study.pictures)]),
    )


def _attack(
    recovered: NDArray[np.bool_], fresh: NDArray[np.bool_], each: float, **said: object
) -> ImageAttack:
    found = recovered_documents(recovered, fresh, confidence=each)
    assert found.fresh is not None
    share = SampledShare.of(found.fresh).model_copy(
        update={"quantity": "an image that the network never saw is reconstructed"}
    )
    return ImageAttack.model_validate(
        {
            "images": found.documents,
            "recovered": found.recovered,
            "share": found.share,
            "fresh": share,
            "gain": GainOverFresh.of(found.gain),
            **said,
        }
    )


def _best(correlations: FloatArray, count: int) -> list[int]:
    """Give the numbers of the best, the best first."""
    return [int(i) for i in np.argsort(-correlations, kind="stable")[:count]]


def _shown(
    sides: ImageSides, pairs: Sequence[tuple[int, FloatArray]]
) -> tuple[ShownReconstruction, ...]:
    """Give each point beside its training image and the fresh image that it is most like."""
    if not pairs:
        return ()
    points = np.array([point for _, point in pairs])
    fresh = nearest_points(points, sides.fresh)
    own = (normalised(sides.trained[[i for i, _ in pairs]]) * normalised(points)).sum(axis=1)

    def file(row: FloatArray) -> str:
        return base64.b64encode(sides.shown(row)).decode()

    return tuple(
        ShownReconstruction(
            reconstruction=file(point),
            training=file(sides.trained[image]),
            fresh=file(sides.fresh[fresh.point[place]]),
            correlation=float(np.clip(own[place], -1, 1)),
            fresh_correlation=float(fresh.correlation[place]),
        )
        for place, (image, point) in enumerate(pairs)
    )
