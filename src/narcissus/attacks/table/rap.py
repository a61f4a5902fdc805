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
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._validation import integer, positive
from narcissus.attacks.table.base import Floats, Joint, ReleaseByRelease, View, softmax
from narcissus.knowledge.columns import Targets
from narcissus.knowledge.factored import FactoredTargets
from narcissus.mechanisms.marginals import Counts
from narcissus.mechanisms.patterns import Pattern
from narcissus.success.codes import Codes


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
        """Say which start it has."""
        start = "from the prior" if self.start == "prior" else "at random"
        return f"RAP as published, started {start}"

    @property
    def uses(self) -> str:
        """The release, and the prior if it starts there."""
        return "prior and release" if self.start == "prior" else "release"

    def why_below(self, columns: int) -> str:
        """Say how it can recover less than is guessed without the release."""
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
        """Give the values that are guessed, column by column.

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
        model = _RelaxedTables(targets, release)
        found: list[Codes] = []
        for _ in range(self.starts):
            blocks = self._fit(model, self._first(targets, rng), rng)
            picked = [self._round(block, rng) for block in blocks]
            found.append(np.stack(picked, axis=-1).astype(np.int32))
        if self.starts == 1:
            return found[0]
        return np.stack([_most_frequent(own) for own in np.stack(found, axis=1)])

    def _first(self, targets: Targets | FactoredTargets, rng: np.random.Generator) -> list[Floats]:
        """Give the first logits of each unknown column."""
        if self.start == "random":
            shape = targets.queries.unknown_shape
            return [rng.normal(size=(targets.people, size)) for size in shape]
        return [np.log(np.maximum(m, 1e-12)) for m in targets.marginals]

    def _fit(
        self, model: _RelaxedTables, logits: list[Floats], rng: np.random.Generator
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
    """RAP of any number of unknown columns: one softmax block for each, as ever, and no joint.

    Attributes
    ----------
    attack
        How it descends.
    """

    attack: RelaxedProjection
    informed = False
    reads = (Counts,)

    @property
    def title(self) -> str:
        """Say which start it has."""
        return self.attack.title

    @property
    def uses(self) -> str:
        """The release, and the prior if it starts there."""
        return self.attack.uses

    def why_below(self, columns: int) -> str:
        """Say how it can recover less than is guessed without the release."""
        return self.attack.why_below(columns)

    def attempt(
        self, release: Sequence[Counts], known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> Codes:
        """Fit and round, shape (trials, n, columns)."""
        pairs = zip(release, known, strict=True)
        return np.stack([self.attack.codes(told, counts.cells, rng) for counts, told in pairs])


def _most_frequent(rows: Codes) -> Codes:
    """Give the row that is there most often, of equals the first in order."""
    different, times = np.unique(rows, axis=0, return_counts=True)
    return different[int(times.argmax())]


class _RelaxedTables:
    """Answers of relaxed rows to the released queries, and the slope of the loss."""

    def __init__(self, targets: Targets | FactoredTargets, release: Floats) -> None:
        queries = targets.queries
        self._n = targets.people
        self._patterns = queries.patterns
        self._gather: list[Any] = []
        reached = np.zeros(queries.cells, dtype=bool)
        answers: list[Floats] = []
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            distinct, inverse = np.unique(base, return_inverse=True)
            people = np.repeat(np.arange(self._n), pattern.tables)
            matrix = sparse.csr_array(
                (np.ones(people.size), (inverse.ravel(), people)), shape=(distinct.size, self._n)
            )
            self._gather.append((matrix, sparse.csr_array(matrix.T)))
            cells = distinct[:, None] + np.arange(pattern.size)
            reached[cells] = True
            answers.append(release[cells] / self._n)
        self._answers = answers
        self._splits = np.cumsum([a.size for a in answers])[:-1]
        # Queries that no row can ever answer keep their error: they are drawn, as published,
        # and count in the norm, but pull at nothing. Their draws need no work a step.
        lost = np.abs(release[~reached]) / self._n
        self._lost = np.cumsum(lost)
        self._lost_squares = lost**2

    def slopes(
        self, blocks: list[Floats], drawn: int, rng: np.random.Generator
    ) -> list[Floats] | None:
        """Give the slope of the loss in each column's probabilities; None if it is zero."""
        errors = [
            matrix @ self._joint(blocks, pattern) / self._n - answer
            for pattern, (matrix, _), answer in zip(
                self._patterns, self._gather, self._answers, strict=True
            )
        ]
        flat = np.concatenate([e.ravel() for e in errors])
        weights = np.cumsum(np.abs(flat))
        lost_weight = float(self._lost[-1]) if self._lost.size else 0.0
        total = float(weights[-1]) + lost_weight
        if not total > 0:
            return None
        away = int(rng.binomial(drawn, lost_weight / total)) if lost_weight else 0
        hits = np.searchsorted(weights, rng.random(drawn - away) * weights[-1], side="right")
        times = np.bincount(np.minimum(hits, flat.size - 1), minlength=flat.size)
        square = float((times * flat**2).sum())
        if away:
            lost = np.searchsorted(self._lost, rng.random(away) * lost_weight, side="right")
            square += float(self._lost_squares[np.minimum(lost, self._lost.size - 1)].sum())
        if square == 0:
            return None
        pull = times * flat / (np.sqrt(square) * drawn * self._n)
        slopes = [np.zeros_like(block) for block in blocks]
        for part, error, pattern, (_, transposed) in zip(
            np.split(pull, self._splits), errors, self._patterns, self._gather, strict=True
        ):
            joint_slope = transposed @ part.reshape(error.shape)
            self._chain(slopes, blocks, pattern, joint_slope)
        return slopes

    def _factors(self, blocks: list[Floats], pattern: Pattern) -> list[Floats]:
        """Give the probabilities of each column of a pattern, or of its groups."""
        return [
            blocks[c] if grouping is None else blocks[c] @ grouping.members
            for c, grouping in zip(pattern.columns, pattern.groupings, strict=True)
        ]

    def _joint(self, blocks: list[Floats], pattern: Pattern) -> Floats:
        """Multiply the columns' probabilities: (n, size of the pattern)."""
        joint, *rest = self._factors(blocks, pattern)
        for factor in rest:
            joint = (joint[:, :, None] * factor[:, None, :]).reshape(self._n, -1)
        return joint

    def _chain(
        self,
        slopes: list[Floats],
        blocks: list[Floats],
        pattern: Pattern,
        joint_slope: Floats,
    ) -> None:
        """Add a pattern's slope to each of its columns: the product rule."""
        columns, factors = pattern.columns, self._factors(blocks, pattern)
        letters = "abcdefghijklmnop"[: len(columns)]
        table = joint_slope.reshape(self._n, *pattern.shape)
        for place, (c, grouping) in enumerate(zip(columns, pattern.groupings, strict=True)):
            slope = joint_slope
            if len(columns) > 1:
                others = [o for o in range(len(columns)) if o != place]
                script = ",".join([f"z{letters}", *(f"z{letters[o]}" for o in others)])
                slope = np.einsum(
                    f"{script}->z{letters[place]}", table, *(factors[o] for o in others)
                )
            slopes[c] += slope if grouping is None else slope @ grouping.members.T
