"""Attackers who match rows with a release, or give predicates on rows: who is in, who is alone.

Fingerprinting: the score of a row ``x`` against an average ``y`` is ``sum_j (x_j - 1/2)(y_j -
1/2)``, as in the attack of Dwork et al. 2015, or the raw inner product ``sum_j x_j y_j`` of Kaplan
et al. 2025, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import first_largest
from narcissus._options import FilledIn
from narcissus._validation import between, integer, non_negative
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, OwnSideInformation, Rates
from narcissus.mechanisms import NoisyAverage
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Array, Batch
from narcissus.worlds.finite import Finite
from narcissus.worlds.products import Uniform


@dataclass(frozen=True)
class _PredicateOfEach:
    """One predicate a trial: the arrays of a subclass have an entry for each."""

    exact = False

    def _arrays(self) -> dict[str, Array]:
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if isinstance(value, np.ndarray)}

    def __len__(self) -> int:
        return len(next(iter(self._arrays().values())))

    def take(self, index: Array) -> Self:
        return replace(self, **{name: array[index] for name, array in self._arrays().items()})


@dataclass(frozen=True)
class ThresholdPredicates(_PredicateOfEach):
    """Predicates "this row scores above a threshold", one a trial."""

    weights: NDArray[np.float64]  # What each attribute counts, shape (trials, d)
    thresholds: NDArray[np.float64]  # Shape (trials,)

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Score rows of shape (trials, m, d)."""
        scores = np.einsum("tmd,td->tm", rows.astype(np.float64) - 0.5, self.weights)
        return scores > self.thresholds[:, None]


@dataclass(frozen=True)
class Fingerprint:
    """Answer "in" for a row whose correlation with the released average is surprising for a
    stranger.

    A stranger's bit of column ``j`` is one with probability about ``y_j``. Members score higher
    by ``sum_j y_j (1 - y_j) / n``.

    false_positives: Share of strangers who are called "in", by the normal approximation of their
        scores.
    rows: Rows of the average; taken from the world where not given.
    noise: Variance of the noise on each attribute; taken from the mechanism where not given.
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
        rows = self.rows or integer("n", getattr(game.world, "n", None), low=1)
        noisy = isinstance(game.mechanism, NoisyAverage)
        scale = 1 / (game.mechanism.epsilon * rows) if noisy else 0
        noise = 2 * scale**2 if self.noise is None else self.noise
        return Fingerprint(self.false_positives, rows, noise)

    def attempt(
        self, release: Array, known: Batch, rng: np.random.Generator
    ) -> ThresholdPredicates:
        average = np.clip(release, 0.0, 1.0)
        weights = average - 0.5
        variance = average * (1 - average)
        # The average's own error makes its square too large: by var / n, and by the noise.
        error = variance / max(1, (self.rows or 1) - 1) + (self.noise or 0.0)
        center = (weights * weights - error).sum(axis=1)
        spread = np.sqrt((weights**2 * variance).sum(axis=1))
        quantile = float(special.ndtri(1 - self.false_positives))
        return ThresholdPredicates(weights, center + quantile * spread)


class _LargerOfTwo:
    """Name the candidate with the larger score; the candidates are in random order."""

    part: str
    centre: float

    def prepare(self, game: Any) -> Self:
        if not isinstance(game.side, Candidates):
            raise InputError(
                f"the attack `{self.part}` needs the side information `candidates` (of the world "
                "`tardos`)"
            )
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Array:
        rows = known.astype(np.float64) - self.centre
        scores = np.einsum("tcd,td->tc", rows, release - self.centre)
        return known[np.arange(len(known)), first_largest(scores)]


@dataclass(frozen=True)
class TwoCandidates(_LargerOfTwo):
    """Name the one of two candidate rows with the larger inner product with the release.

    The attacker of Kaplan et al. 2025, section 4.2 (footnote 3). It wins more often than not once
    ``d`` is well above ``n ** 2``: where the second candidate is not in the data set, with chance
    about ``Phi(sqrt(d) / 6 / sqrt(v - 1/36))``, ``v = (3 n ** 2 + n + 1) / 30``, plus
    ``2 / (3 epsilon ** 2)`` for Laplace noise (Narcissus theory 8.4). The ones that both
    candidates and the release have in common are noise to it: see `TwoCandidatesCentred`.
    """

    part, centre = "two-candidates", 0.0


@dataclass(frozen=True)
class TwoCandidatesCentred(_LargerOfTwo):
    """Name the one of two candidate rows that correlates more with the release.

    Row and release are centred at 1/2 first, as in Dwork et al. 2015. The success is that of
    `TwoCandidates` with ``v = (n ** 2 + 2 n + 2) / 60``: larger, always.
    """

    part, centre = "two-candidates-centred", 0.5


def _require_told(game: Any, attack: str) -> None:
    if game.side is None:
        raise InputError(f"the attack `{attack}` needs side information: the rows that it knows")


@dataclass(frozen=True)
class Subtraction:
    """Subtract the known rows from the average: what is left is the last row.

    Kaplan et al. 2025, Observation 4.2; the attacker knows all rows but one.
    """

    def prepare(self, game: Any) -> Subtraction:
        _require_told(game, "subtraction")
        rows, n = getattr(game.side, "rows", None), getattr(game.world, "n", None)
        is_own = isinstance(game.side, OwnSideInformation)
        shipped = not is_own and type(game.side).__module__.startswith("narcissus.")
        if shipped and (rows is None or rows + 1 != n):
            raise InputError(
                "the attack `subtraction` needs all rows but one: the side information `rows` "
                + (f"with `rows` = {n - 1}" if n else "of a world with `n` rows")
            )
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Array:
        """Return the last rows, shape (trials, d)."""
        n = known.shape[1] + 1
        row = release * n - known.sum(axis=1, dtype=np.int64)
        return np.clip(np.rint(row), 0, 1).astype(np.uint8)


def fits(rows: Array, parities: Array) -> NDArray[np.bool_]:
    """Return which rows (trials, m, d) have the parities of a released row (trials, n, d / 2)."""
    row_parities = rows[..., 0::2] ^ rows[..., 1::2]
    result = np.zeros(rows.shape[:2], dtype=bool)
    for place in range(parities.shape[1]):
        result |= (row_parities == parities[:, place, None]).all(axis=2)
    return result


@dataclass(frozen=True)
class ParityPredicates(_PredicateOfEach):
    """Predicates "this row has the parities of a released row", one a trial."""

    parities: Array

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        return fits(rows, self.parities)


@dataclass(frozen=True)
class ParityMembership:
    """Answer "in" for a row whose parities were released (Kaplan et al. 2025, Example 1.3)."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> ParityPredicates:
        return ParityPredicates(release)


@dataclass(frozen=True)
class ParityGuess:
    """Name a row that has the parities of the first released row, its other bits at random."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        first = release[:, 0]
        row = np.empty((len(first), 2 * first.shape[1]), dtype=first.dtype)
        row[:, 0::2] = rng.integers(0, 2, first.shape, dtype=np.uint8)
        row[:, 1::2] = row[:, 0::2] ^ first
        return row


@dataclass(frozen=True)
class SupersetMatching:
    """Name one row of a known list whose parities were released, or all of them.

    Kaplan et al. 2025, Examples 1.4 and 1.5.

    every: Name all that fit, as a list of guesses, rather than the first.
    """

    every: bool = False

    def prepare(self, game: Any) -> SupersetMatching:
        _require_told(game, "superset-matching")
        number = isinstance(game.side, Hidden) and isinstance(game.world, Finite)
        if number or isinstance(game.side, Rates):
            raise InputError(
                "the attack `superset-matching` needs a list of rows: the side information "
                "`superset`, or `nature` of the worlds `superset` and `tardos`"
            )
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Any:
        """Return rows, shape (trials, d), or a list of rows for each trial."""
        match = fits(known, release)
        if self.every:
            return [rows[mask] for rows, mask in zip(known, match, strict=True)]
        row = known[np.arange(len(known)), match.argmax(axis=1)]
        return Attempts(row, np.asarray(match.any(axis=1)))


@dataclass(frozen=True)
class BucketPredicates(_PredicateOfEach):
    """Predicates "inside a box and in one bucket of a hash", one a trial."""

    low: Array  # Corners of the boxes, shape (trials, d)
    high: Array
    factors: NDArray[np.uint64]  # Multiply-shift hash of a row, 64-bit words: shape (trials, d)
    offsets: NDArray[np.uint64]  # Shape (trials,)
    buckets: int  # Number of buckets; the predicate takes bucket 0
    levels: int  # Values of an attribute

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Return where the predicates hold, for rows of shape (trials, m, d)."""
        inside = ((rows >= self.low[:, None]) & (rows <= self.high[:, None])).all(axis=2)
        # Products and sums wrap modulo 2 ** 64 on purpose; the high bits are the hash.
        words = (rows.astype(np.uint64) * self.factors[:, None]).sum(axis=2) + self.offsets[:, None]
        bucket = ((words >> np.uint64(32)) * np.uint64(self.buckets)) >> np.uint64(32)
        return inside & (bucket == 0)

    def weight(self, world: Any) -> NDArray[np.float64]:
        """Return the chance of each box for a uniform row: an upper limit of the predicate's."""
        sides = (self.high.astype(np.float64) - self.low + 1) / self.levels
        return np.exp(np.log(sides).sum(axis=1))


@dataclass(frozen=True)
class BucketHashing:
    """Single out by a bucket of a random hash, inside a published range where there is one.

    Without ranges this is the trivial attacker: with ``n`` buckets a bucket holds exactly one row
    with chance about ``1 / e``. Against k-anonymity, ``k`` buckets inside a group's range isolate
    about as often, at a weight that is astronomically smaller (Cohen and Nissim 2020).

    buckets: Number of buckets; ``k`` of the mechanism, or the number of rows, where not given.
    levels: Values of an attribute; the game fills it in from its world.
    """

    buckets: int | None = None
    levels: Annotated[int | None, FilledIn()] = None

    def __post_init__(self) -> None:
        if self.buckets is not None:
            integer("buckets", self.buckets, low=1)

    def prepare(self, game: Any) -> BucketHashing:
        if not isinstance(game.world, Uniform):
            raise InputError("the attack `bucket-hashing` needs a world of uniform rows")
        buckets = self.buckets or getattr(game.mechanism, "k", game.world.n)
        return BucketHashing(buckets, game.world.levels)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> BucketPredicates:
        """Return predicates; ranges are releases of shape (trials, groups, d, 2)."""
        assert self.buckets is not None
        assert self.levels is not None, "call `prepare` first"
        trials = len(release)
        if np.ndim(release) == 4:
            # The lightest group makes the worst predicate.
            widths = np.log(release[..., 1].astype(np.float64) - release[..., 0] + 1).sum(axis=2)
            group = release[np.arange(trials), first_largest(-widths)]
            low, high = group[..., 0], group[..., 1]
        else:
            d = np.asarray(release).shape[-1]
            low = np.zeros((trials, d), dtype=np.int64)
            high = np.full((trials, d), self.levels - 1)
        words = rng.integers(0, 2**64, low.shape, dtype=np.uint64)
        offsets = rng.integers(0, 2**64, trials, dtype=np.uint64)
        return BucketPredicates(low, high, words | np.uint64(1), offsets, self.buckets, self.levels)
