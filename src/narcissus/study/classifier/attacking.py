"""The attacks of a study of a classifier, piece by piece: each piece is a trial of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.informed import informed_reconstruct
from narcissus.extraction.kkt import KktSearch
from narcissus.study.classifier.material import ImageSides
from narcissus.study.classifier.schema import (
    ClassifierStudy,
    InformedSection,
    ReconstructionSection,
)
from narcissus.study.store import Payload

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
        """Points of a start."""
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
        """Give all points that were reconstructed from one network, shape (points, d)."""
        prefix = f"points/{net}/"
        parts = [found[key]["points"] for key in self.keys if key.startswith(prefix)]
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])

    def guessed(self, found: Mapping[str, Payload]) -> FloatArray:
        """Give the informed attacker's points, shape (targets, d)."""
        return np.array(
            [found[f"informed/{target}"]["points"] for target in range(self.targets)],
            dtype=np.float64,
        )
