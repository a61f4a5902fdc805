"""Fingerprinting: whoever correlates with the released average is in the data.

The score of a row ``x`` against an average ``y`` is ``sum_j (x_j - 1/2)(y_j - 1/2)``, as in the
attack of Dwork et al. 2015, or the raw inner product ``sum_j x_j y_j`` of Kaplan et al. 2025,
section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import first_largest
from narcissus._validation import between, integer, non_negative
from narcissus.errors import InputError
from narcissus.knowledge import Candidates
from narcissus.mechanisms.average import NoisyAverage
from narcissus.worlds.base import Array, Batch


@dataclass(frozen=True)
class ThresholdPredicates:
    """Predicates "this row scores above a threshold", one a trial."""

    weights: NDArray[np.float64]  # What each attribute counts, shape (trials, d)
    thresholds: NDArray[np.float64]  # Shape (trials,)
    exact = False

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Score rows of shape (trials, m, d)."""
        scores = np.einsum("tmd,td->tm", rows.astype(np.float64) - 0.5, self.weights)
        return scores > self.thresholds[:, None]

    def __len__(self) -> int:
        return len(self.thresholds)

    def take(self, index: Array) -> ThresholdPredicates:
        return ThresholdPredicates(self.weights[index], self.thresholds[index])


@dataclass(frozen=True)
class Fingerprint:
    """Return "in" of a row whose correlation with the released average is surprising for a
    stranger.

    A stranger's bit of column ``j`` is one with probability about ``y_j``. Members score higher
    by ``sum_j y_j (1 - y_j) / n``.

    Parameters
    ----------
    false_positives
        Share of strangers who are called "in", by the normal approximation of their scores.
    rows
        Rows of the average; taken from the world where not given.
    noise
        Variance of the noise on each attribute; taken from the mechanism where not given.
    """

    false_positives: float = 0.05
    rows: int | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        between("false_positives", self.false_positives, 0, 1, open_low=True, open_high=True)
        if self.rows is not None:
            integer("rows", self.rows, low=1)
        if self.noise is not None:
            non_negative("noise", self.noise)

    def prepare(self, game: Any) -> Fingerprint:
        """Take what is missing from the game."""
        rows = self.rows or integer("n", getattr(game.world, "n", None), low=1)
        scale = (
            1 / (game.mechanism.epsilon * rows) if isinstance(game.mechanism, NoisyAverage) else 0
        )
        noise = 2 * scale**2 if self.noise is None else self.noise
        return Fingerprint(self.false_positives, rows, noise)

    def attempt(
        self, release: Array, known: Batch, rng: np.random.Generator
    ) -> ThresholdPredicates:
        """Return predicates on rows."""
        average = np.clip(release, 0.0, 1.0)
        weights = average - 0.5
        variance = average * (1 - average)
        # The average's own error makes its square too large: by var / n, and by the noise.
        error = variance / max(1, (self.rows or 1) - 1) + (self.noise or 0.0)
        center = (weights * weights - error).sum(axis=1)
        spread = np.sqrt((weights**2 * variance).sum(axis=1))
        quantile = float(special.ndtri(1 - self.false_positives))
        return ThresholdPredicates(weights, center + quantile * spread)


def _candidates(game: Any, attack: str) -> None:
    if not isinstance(game.side, Candidates):
        raise InputError(
            f"the attack `{attack}` needs the side information `candidates` (of the world `tardos`)"
        )


def _larger(known: Array, scores: NDArray[np.float64]) -> Array:
    """Return the candidate with the larger score; the candidates are in random order."""
    return known[np.arange(len(known)), first_largest(scores)]


@dataclass(frozen=True)
class TwoCandidates:
    """Of two candidate rows, name the one with the larger inner product with the release.

    The attacker of Kaplan et al. 2025, section 4.2 (footnote 3). It wins more often than not once
    ``d`` is well above ``n ** 2``: where the second candidate is not in the data set, with chance
    about ``Phi(sqrt(d) / 6 / sqrt(v - 1/36))``, ``v = (3 n ** 2 + n + 1) / 30``, plus
    ``2 / (3 epsilon ** 2)`` for Laplace noise (Narcissus theory 8.4). The ones that both
    candidates and the release have in common are noise to it: see `TwoCandidatesCentred`.
    """

    def prepare(self, game: Any) -> TwoCandidates:
        """Refuse games in which no candidates are told."""
        _candidates(game, "two-candidates")
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Array:
        """Return rows, shape (trials, d)."""
        return _larger(known, np.einsum("tcd,td->tc", known.astype(np.float64), release))


@dataclass(frozen=True)
class TwoCandidatesCentred:
    """Of two candidate rows, name the one that correlates more with the release.

    Row and release are centred at 1/2 first, as in Dwork et al. 2015. The success is that of
    `TwoCandidates` with ``v = (n ** 2 + 2 n + 2) / 60``: larger, always.
    """

    def prepare(self, game: Any) -> TwoCandidatesCentred:
        """Refuse games in which no candidates are told."""
        _candidates(game, "two-candidates-centred")
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Array:
        """Return rows, shape (trials, d)."""
        rows = known.astype(np.float64) - 0.5
        return _larger(known, np.einsum("tcd,td->tc", rows, release - 0.5))
