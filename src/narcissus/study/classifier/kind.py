"""The kind "classifier": train or read a network, reconstruct, hold it against fresh images."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter

from narcissus._files import file_digest
from narcissus._random import child
from narcissus._version import __version__
from narcissus.evidence import each_confidence
from narcissus.extraction.classifier import DenseNet
from narcissus.extraction.images import nearest_points
from narcissus.extraction.kkt import KktSearch, informed_reconstruct
from narcissus.extraction.ngram import lead_over_shadows
from narcissus.extraction.recovered import recovered_documents
from narcissus.extraction.relations import normalised
from narcissus.observer import Observer
from narcissus.study.classifier.material import (
    ImageSides,
    TrainsNetworks,
    given_networks,
    net_of_arrays,
    sides_of,
)
from narcissus.study.classifier.schema import (
    ClassifierStudy,
    InformedSection,
    ReconstructionSection,
)
from narcissus.study.classifier.words import (
    NOT_COVERED,
    assessed,
    assumptions,
    not_assessed,
    verdict_words,
)
from narcissus.study.engines import executor_of
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.pool import play_all
from narcissus.study.results.base import SampledShare
from narcissus.study.results.classifier import (
    ClassifierResults,
    ImageAttack,
    ShownReconstruction,
)
from narcissus.study.results.recovered import GainOverFresh
from narcissus.study.store import Payload, TrialStore
from narcissus.study.work import agree


@dataclass(frozen=True, eq=False)
class ReconstructedPoints:
    """What the attacks made."""

    # Points by network, the audited one first, shapes (points, d); none where not played
    pooled: Sequence[FloatArray]
    # The informed attacker's, one for each of the first training images; none where not
    # played
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
    return [int(i) for i in np.argsort(-correlations, kind="stable")[:count]]


def _shown(
    sides: ImageSides, pairs: Sequence[tuple[int, FloatArray]]
) -> tuple[ShownReconstruction, ...]:
    """Return each point beside its training image and the fresh image that it is most like."""
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


FloatArray = NDArray[np.float64]

_ATTACK = 2  # key of random streams
_CLOSED = "closed"  # what is read off in closed form


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
        """Take what a study says."""
        return cls(nets, sides, study.reconstruction or None, study.informed or None, entropy)

    @property
    def points(self) -> int:
        said = None if self.reconstruction is None else self.reconstruction.points
        return said or 2 * len(self.sides.trained)

    @property
    def targets(self) -> int:
        """Images that the informed attack is played on."""
        return 0 if self.informed is None else min(self.informed.targets, len(self.sides.trained))

    @property
    def keys(self) -> list[str]:
        """All pieces."""
        starts = 0 if self.reconstruction is None else self.reconstruction.starts
        pieces = [_CLOSED, *map(str, range(starts))] if self.reconstruction is not None else []
        return [
            *(f"points/{net}/{piece}" for net in range(len(self.nets)) for piece in pieces),
            *(f"informed/{target}" for target in range(self.targets)),
        ]

    def __call__(self, key: str) -> Payload:
        """Play one piece."""
        attack, _, rest = key.partition("/")
        return {"points": self._informed(int(rest)) if attack == "informed" else self._piece(rest)}

    def _piece(self, rest: str) -> FloatArray:
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

    def _informed(self, target: int) -> FloatArray:
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

    def pooled(self, found: Mapping[str, Payload], net: int) -> FloatArray:
        """Return all points that were reconstructed from one network, shape (points, d)."""
        prefix = f"points/{net}/"
        parts = [found[key]["points"] for key in self.keys if key.startswith(prefix)]
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])

    def guessed(self, found: Mapping[str, Payload]) -> FloatArray:
        """Return the informed attacker's points, shape (targets, d)."""
        return np.array(
            [found[f"informed/{target}"]["points"] for target in range(self.targets)],
            dtype=np.float64,
        )


_TRAINED = 5e-10  # seconds for an image, a number of the network and a step
_EXPLAINED = 2e-9  # the same of a search


class ClassifierKind:
    """The kind "classifier"."""

    model: type[BaseModel] = ClassifierStudy
    results: TypeAdapter[Any] = TypeAdapter(ClassifierResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse files that are missing or not usable, and images that do not fit the network."""
        settings: ClassifierStudy = study
        sides = sides_of(settings, folder, 0)
        if settings.weights is not None:
            given_networks(settings.weights, folder, sides.layout)

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Train, attack, summarise."""
        settings: ClassifierStudy = study
        options.refuse_policy_and_records("classifiers", "see `pictures`")
        sides = sides_of(settings, folder, options.entropy)
        digests = {name: file_digest(folder / path) for name, path in _files(settings).items()}
        given = list[DenseNet]()
        if settings.weights is not None:
            given = given_networks(settings.weights, folder, sides.layout)
        _agree(settings, sides, given, options)
        nets, made = _played(settings, sides, given, digests, options)
        results = summarised(settings, nets[0], len(nets) - 1, sides, made)
        return Outcome(
            title=settings.title or "A classifier",
            status=results.status,
            verdict=verdict_words(results),
            grade=results.grade,
            assumptions=assumptions(settings),
            results=results,
            assessed=assessed(results),
            not_assessed=not_assessed(settings, results),
            not_covered=NOT_COVERED,
            digests=digests,
        )


KIND = ClassifierKind()


def _played(
    study: ClassifierStudy,
    sides: ImageSides,
    nets: list[DenseNet],
    digests: dict[str, str],
    options: RunOptions,
) -> tuple[list[DenseNet], ReconstructedPoints]:
    """Play what the store does not hold; the numbers depend on the study and the seed alone."""
    with ExitStack() as stack:
        store = None
        if options.folder is not None:
            store = stack.enter_context(
                TrialStore(
                    options.folder,
                    _identity(study, digests, options.entropy),
                    restart=options.restart,
                    observer=options.observer,
                )
            )
        executor = stack.enter_context(
            executor_of(options, study.run, workers=study.run.workers or 1)
        )

        def play(
            job: Callable[[str], Payload], keys: Sequence[str], what: str
        ) -> dict[str, Payload]:
            return play_all(
                job, keys, store=store, executor=executor, what=what, observer=options.observer
            )

        if study.training is not None:
            trains = TrainsNetworks(study.training, sides, options.entropy)
            trained = play(trains, trains.keys, "training networks")
            nets = [net_of_arrays(trained[key]) for key in trains.keys]
        attacks = AttacksNetworks.of(study, nets, sides, options.entropy)
        found = play(attacks, attacks.keys, "reconstructions")
        return nets, ReconstructedPoints(
            [attacks.pooled(found, net) for net in range(len(nets))]
            if study.reconstruction
            else [],
            attacks.guessed(found) if study.informed else None,
        )


def _identity(study: ClassifierStudy, digests: dict[str, str], entropy: int) -> dict[str, object]:
    """Describe what pieces depend on: how many starts, targets and shadows can be raised later."""
    settings = study.model_dump(mode="json")
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
        "files": digests,
        "seed": str(entropy),
        "version": __version__,
    }


def _files(study: ClassifierStudy) -> dict[str, Path]:
    found = {"images": study.data.images}
    if study.data.fresh is not None:
        found["fresh images"] = study.data.fresh
    if study.weights is not None:
        found["network"] = study.weights.file
        found |= {f"shadow {i}": path for i, path in enumerate(study.weights.shadows, 1)}
    return found


def _agree(
    study: ClassifierStudy, sides: ImageSides, given: Sequence[DenseNet], options: RunOptions
) -> None:
    """Report how long it takes, by the numbers of the network and what is done with each."""
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
        size, kinds, nets = given[0].parameters, max(2, given[0].outputs), len(given)
    work = [f"{nets} networks of {size:,} numbers"]
    if (one := study.reconstruction) is not False:
        points = one.points or 2 * n
        seconds += _EXPLAINED * nets * one.starts * 2 * one.steps * points * size
        work.append(f"{nets * one.starts} searches for {points:,} points")
    if (other := study.informed) is not False:
        targets = min(other.targets, n)
        seconds += _EXPLAINED * targets * kinds * 2 * other.steps * n * size
        work.append(f"{targets * kinds} searches for one")
    agree(seconds, ", ".join(work), hours=options.hours, observer=options.observer)
