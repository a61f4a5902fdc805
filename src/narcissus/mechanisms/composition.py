"""Several mechanisms on the same data, released together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from narcissus._options import OfRoom
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel
from narcissus.worlds.base import Batch, distinct


@dataclass(frozen=True)
class Parallel:
    """Release what each part releases, each with coins of its own, as a tuple for each trial.

    Parameters
    ----------
    parts
        The mechanisms, at least one.
    """

    parts: Sequence[Annotated[Any, OfRoom("mechanism")]]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("`parts` must hold at least one mechanism")

    @property
    def exchangeable(self) -> bool:
        """Whether every part depends on the number of ones only."""
        return all(getattr(part, "exchangeable", False) for part in self.parts)

    def release(self, data: Batch, rng: np.random.Generator) -> list[tuple[Any, ...]]:
        """Return the releases of all parts, a tuple for each trial."""
        return list(zip(*(part.release(data, rng) for part in self.parts), strict=True))

    def channel(self, data: Batch) -> ReleaseChannel:
        """Write the composition out: products of the parts' probabilities for each data set."""
        whole = [_channel(part, data) for part in self.parts]
        releases: list[tuple[Any, ...]] = []
        rows: list[int] = []
        chances: list[float] = []
        for index in range(len(data)):
            combined: list[tuple[tuple[Any, ...], float]] = [((), 1.0)]
            for channel in whole:
                start, end = channel.matrix.indptr[index], channel.matrix.indptr[index + 1]
                columns = channel.matrix.indices[start:end]
                values = channel.matrix.data[start:end]
                combined = [
                    ((*head, channel.releases[column]), chance * value)
                    for head, chance in combined
                    for column, value in zip(columns, values, strict=True)
                ]
            releases += [release for release, _ in combined]
            chances += [chance for _, chance in combined]
            rows += [index] * len(combined)
        kept, inverse = distinct(releases)
        shape = (len(data), len(kept))
        return ReleaseChannel(
            kept, sparse.coo_array((chances, (rows, inverse)), shape=shape).tocsr()
        )

    def outcomes(self, n: int) -> int:
        """Return how many releases a data set of ``n`` records can have at most."""
        count = 1
        for part in self.parts:
            count *= part.outcomes(n) if hasattr(part, "outcomes") else 1
        return count

    def privacy(self, data: Batch) -> tuple[float, float] | None:
        """Return (epsilon, delta) by basic composition; None where a part promises nothing."""
        promises = [p.privacy(data) if hasattr(p, "privacy") else None for p in self.parts]
        if any(promise is None for promise in promises):
            return None
        known = [promise for promise in promises if promise is not None]
        return sum(e for e, _ in known), sum(d for _, d in known)


def _channel(part: Any, data: Batch) -> ReleaseChannel:
    if not hasattr(part, "channel"):
        raise InputError(
            f"the mechanism {type(part).__name__} cannot be written out; play the study instead"
        )
    return part.channel(data)
