"""RAP, the published attack: fit relaxed rows to the released marginals by gradient descent.

Dick et al. 2023 and Aydore et al. 2021, adapted to known columns as in Swanberg et al. 2025,
section 6.1: one-hot rows relaxed to softmax probabilities per unknown column, the known columns
frozen; each step draws queries with probability proportional to their absolute error and takes
an Adam step on the L2 norm of the drawn errors over their number; rounded at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, positive
from narcissus.attacks.table.base import Floats, Joint, ReleaseByRelease, View, softmax
from narcissus.attacks.table.relaxed import RelaxedTables
from narcissus.knowledge.columns import FactoredTargets, Targets
from narcissus.mechanisms.marginals import Counts
from narcissus.success.table import Codes


@dataclass(frozen=True)
class RelaxedProjection(ReleaseByRelease):
    """The published attack RAP: fit relaxed rows to the released tables by gradient descent.

    Attributes
    ----------
    start
        'random' (as published for reconstruction) or 'prior' (as published for known priors).
    steps
        Gradient steps, at least 1.
    queries
        Queries drawn in each step, at least 1.
    rate
        Adam's step size, above 0.
    starts
        Random starts; with several, each person's most frequent value wins, which ranks guesses
        by confidence as in the published attack.
    rounding
        'largest' entry of each block, or 'sample' from it.
    """

    start: Literal["random", "prior"] = "random"
    steps: int = 1000
    queries: int = 1024
    rate: float = 0.1
    starts: int = 1
    rounding: Literal["largest", "sample"] = "largest"

    def __post_init__(self) -> None:
        """Refuse numbers out of their ranges."""
        for name in ("steps", "queries", "starts"):
            integer(name, getattr(self, name), low=1)
        positive("rate", self.rate)

    @property
    def title(self) -> str:
        """Describe which start it has."""
        start = "from the prior" if self.start == "prior" else "at random"
        return f"RAP as published, started {start}"

    @property
    def uses(self) -> str:
        """The release, and the prior if it starts there."""
        return "prior and release" if self.start == "prior" else "release"

    def why_below(self, columns: int) -> str:
        """Describe how it can recover less than is guessed without the release."""
        start = (
            "it starts from the prior and leaves it: its steps do not grow smaller with the errors"
            if self.start == "prior"
            else "it starts at random and never looks at the prior"
        )
        why = (
            f"{start}, and what it descends is the distance from the released counts alone, which "
            "no prior holds back: where noise or other people weigh more in a count than the one "
            "who is asked about, the fit follows those"
        )
        if columns == 1:
            return why
        return (
            f"{why}; and each unknown column is rounded by itself, so that what ties their values "
            "together is lost"
        )

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Fit, round, and take the most frequent value over the starts."""
        return view.targets.success.join_guess(self.codes(view.targets, view.release, rng))

    def codes(
        self, targets: Targets | FactoredTargets, release: Floats, rng: np.random.Generator
    ) -> Codes:
        """Return the values that are guessed, column by column.

        Parameters
        ----------
        targets
            The people as known beforehand; no joint values are listed.
        release
            The released cells, shape (cells,), in counts.
        rng
            Of starts, draws of queries and rounding.

        Returns
        -------
        Shape (n, columns): of several starts each person's most frequent values, of equals the
        first in order.
        """
        model = RelaxedTables(targets, release)
        found: list[Codes] = []
        for _ in range(self.starts):
            blocks = self._fit(model, self._first(targets, rng), rng)
            picked = [self._round(block, rng) for block in blocks]
            found.append(np.stack(picked, axis=-1).astype(np.int32))
        if self.starts == 1:
            return found[0]
        return np.stack([_most_frequent(own) for own in np.stack(found, axis=1)])

    def _first(self, targets: Targets | FactoredTargets, rng: np.random.Generator) -> list[Floats]:
        """Return the first logits of each unknown column."""
        if self.start == "random":
            shape = targets.queries.unknown_shape
            return [rng.normal(size=(targets.people, size)) for size in shape]
        return [np.log(np.maximum(m, 1e-12)) for m in targets.marginals]

    def _fit(
        self, model: RelaxedTables, logits: list[Floats], rng: np.random.Generator
    ) -> list[Floats]:
        """Take the gradient steps; give the probabilities of each column."""
        # All columns in one array, so that Adam is three operations a step.
        edges = np.cumsum([0, *(block.shape[1] for block in logits)])
        flat = np.concatenate(logits, axis=1)
        first, second = np.zeros_like(flat), np.zeros_like(flat)
        spans = [slice(a, b) for a, b in pairwise(edges.tolist())]
        for step in range(1, self.steps + 1):
            blocks = [softmax(flat[:, span]) for span in spans]
            slopes = model.slopes(blocks, self.queries, rng)
            if slopes is None:  # every answer is met
                break
            gradient = np.concatenate(
                [
                    p * (g - (p * g).sum(axis=1, keepdims=True))
                    for p, g in zip(blocks, slopes, strict=True)
                ],
                axis=1,
            )
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            flat -= self.rate / (1 - 0.9**step) * first / scale
        return [softmax(flat[:, span]) for span in spans]

    def _round(self, block: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
        if self.rounding == "largest":
            return block.argmax(axis=1)
        drawn = (block.cumsum(axis=1) < rng.random((block.shape[0], 1))).sum(axis=1)
        return np.minimum(drawn, block.shape[1] - 1)


@dataclass(frozen=True)
class FactoredProjection:
    """RAP of any number of unknown columns: one softmax block for each, as ever, and no joint."""

    attack: RelaxedProjection  # How it descends
    informed = False
    reads = (Counts,)

    @property
    def title(self) -> str:
        """Describe which start it has."""
        return self.attack.title

    @property
    def uses(self) -> str:
        """The release, and the prior if it starts there."""
        return self.attack.uses

    def why_below(self, columns: int) -> str:
        """Describe how it can recover less than is guessed without the release."""
        return self.attack.why_below(columns)

    def attempt(
        self, release: Sequence[Counts], known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> Codes:
        """Fit and round, shape (trials, n, columns)."""
        pairs = zip(release, known, strict=True)
        return np.stack([self.attack.codes(told, counts.cells, rng) for counts, told in pairs])


def _most_frequent(rows: Codes) -> Codes:
    """Return the row that is there most often, of equals the first in order."""
    different, times = np.unique(rows, axis=0, return_counts=True)
    return different[int(times.argmax())]
