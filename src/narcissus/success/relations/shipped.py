"""The relations of the package: about recovered rows, a string or a secret, and predicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._options import OfRoom
from narcissus._validation import between, integer, non_negative
from narcissus.bounds.binomial import lower_tail
from narcissus.errors import InputError
from narcissus.success.relations.base import distinct_rows, needs_rows
from narcissus.worlds.base import Array, Batch, all_tuples, distinct, gather
from narcissus.worlds.finite import Secret
from narcissus.worlds.products import Bits, MonaLisa, Records, Uniform

Held = NDArray[np.bool_]


@dataclass(frozen=True)
class Member:
    """Some record of the data set is the attempt, exactly."""

    targeted = True

    def matches(self, data: Array, attempt: Array) -> Held:
        """Check which records are the attempt, shape (trials, n)."""
        equal = data == np.asarray(attempt)[:, None]
        return equal if equal.ndim == 2 else np.asarray(equal.all(axis=tuple(range(2, equal.ndim))))

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts are records, shape (trials,) or (trials, d)."""
        return np.asarray(self.matches(data, attempt).any(axis=1))

    def guesses(self, data: Array) -> Array:
        """Return all records of the data sets."""
        return distinct_rows(data)

    def baseline(self, world: Any, attempt: Array) -> Floats | None:
        """Compute the exact chance for worlds of independent rows."""
        if isinstance(world, MonaLisa):
            trivial = (np.asarray(attempt) == 0).all(axis=1)
            chance = trivial * world.rate + (1 - world.rate) * 2.0**-world.d
        elif isinstance(world, Uniform):
            chance = np.full(len(attempt), float(world.levels) ** -world.d)
        elif isinstance(world, Records) and world.alike:
            hit = self.matches(
                np.broadcast_to(world.support, (len(attempt), *world.support.shape)), attempt
            )
            chance = (hit * world.table[0]).sum(axis=1)
        else:
            return None
        return -np.expm1(world.n * np.log1p(-np.minimum(chance, 1 - 1e-16)))

    def best(self, world: Any) -> float | None:
        """Compute the chance of the best fixed guess, where it has a formula."""
        if isinstance(world, MonaLisa | Uniform):  # the Mona Lisa; any row
            guess = np.zeros((1, world.d))
        elif isinstance(world, Records) and world.alike:
            guess = world.support[[int(world.table[0].argmax())]]
        else:
            return None
        chance = self.baseline(world, guess)
        return None if chance is None else float(chance[0])


@dataclass(frozen=True)
class Hamming:
    """Some row of bits differs from the attempt in at most ``gamma d`` places.

    Source: Kaplan et al. 2025, Definition 3.4. For data sets that are one string of bits, the
    string is the only row.

    gamma: Share of the places, in [0, 1].
    """

    gamma: float
    targeted = True

    def __post_init__(self) -> None:
        between("gamma", self.gamma, 0, 1)

    def matches(self, data: Array, attempt: Array) -> Held:
        """Check which rows are close, shape (trials, n)."""
        rows = data if data.ndim == 3 else data[:, None]
        distance = (rows != attempt[:, None]).sum(axis=2, dtype=np.int32)
        return distance <= self.gamma * rows.shape[2] + 1e-9

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts are rows of bits, shape (trials, d)."""
        return np.asarray(self.matches(data, attempt).any(axis=1))

    def guesses(self, data: Array) -> Array:
        """Return all rows of bits, whether or not a data set holds them."""
        width = data.shape[-1]
        if width > 16:
            raise InputError(
                f"rows of {width} bits make 2^{width} guesses, at most 2^16 are written out"
            )
        return all_tuples(2, width).astype(data.dtype)

    def baseline(self, world: Any, attempt: Array) -> Floats | None:
        """Compute the exact chance for uniform rows of bits, and for fair bits."""
        if isinstance(world, Bits) and (world.rates == 0.5).all():  # the string is the only row
            rows, places = 1, world.n
        elif isinstance(world, Uniform) and world.levels == 2:
            rows, places = world.n, world.d
        else:
            return None
        chance = float(lower_tail(places, int(self.gamma * places + 1e-9), 0.0))
        return np.full(len(attempt), -np.expm1(rows * np.log1p(-min(chance, 1 - 1e-16))))


def _distances(data: Array, attempt: Array) -> Floats:
    """Compute Euclidean distances from rows (trials, n, d) to attempts (trials, m, d)."""
    gap = data[:, :, None].astype(np.float64) - attempt[:, None].astype(np.float64)
    return np.sqrt((gap**2).sum(axis=3))


@dataclass(frozen=True)
class CloseAndUnique:
    """Some row within ``close`` of the attempt is farther than ``unique`` from all other rows.

    Source: Cohen et al. 2024, appendix D.3 (the criterion for diffusion models).

    close: Largest Euclidean distance of the row to the attempt.
    unique: The row's Euclidean distance to all other rows must be above this.
    """

    close: float
    unique: float

    def __post_init__(self) -> None:
        non_negative("close", self.close)
        non_negative("unique", self.unique)

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts are rows, shape (trials, d)."""
        rows = needs_rows("close-and-unique", data)
        near = _distances(rows, np.asarray(attempt)[:, None])[:, :, 0] <= self.close
        between_rows = _distances(rows, rows)
        places = np.arange(rows.shape[1])
        between_rows[:, places, places] = np.inf
        return (near & (between_rows.min(axis=2) > self.unique)).any(axis=1)


@dataclass(frozen=True)
class AtLeast:
    """At least ``count`` of the rows are within ``close`` of some guess of the list.

    Source: Cohen et al. 2024, appendix D.3 (the criterion for classifiers).

    count: Rows that must be found.
    close: Largest Euclidean distance; 0 requires the rows themselves.
    """

    count: int
    close: float = 0.0

    def __post_init__(self) -> None:
        integer("count", self.count, low=1)
        non_negative("close", self.close)

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> Held:
        """Score a batch; attempts are lists of rows, shape (trials, m, d) or a list of arrays."""
        rows = needs_rows("at-least", data)
        hits = np.zeros(len(rows), dtype=np.int64)
        for trial, guesses in enumerate(attempt):
            if not len(guesses):
                continue
            if self.close == 0:
                hit = (rows[trial][:, None] == np.asarray(guesses)[None]).all(axis=2)
            else:
                hit = _distances(rows[trial][None], np.asarray(guesses)[None])[0] <= self.close
            hits[trial] = hit.any(axis=1).sum()
        return hits >= self.count


@dataclass(frozen=True)
class AnyOf:
    """The attempt is a list of guesses, of which at least ``count`` satisfy another relation.

    relation: The relation for one guess.
    count: Guesses of the list that must satisfy it.
    """

    relation: Annotated[Any, OfRoom("relation")]
    count: int = 1

    def __post_init__(self) -> None:
        integer("count", self.count, low=1)

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> Held:
        """Score a batch; attempts have an axis of guesses after the one of trials."""
        lengths = [len(guesses) for guesses in attempt]
        hits = np.zeros(len(lengths), dtype=np.int64)
        for place in range(max(lengths, default=0)):
            has = np.array(
                [trial for trial, size in enumerate(lengths) if size > place], dtype=np.int64
            )
            guess = [attempt[trial][place] for trial in has]
            some = gather(data, has)
            batch = np.asarray(guess) if isinstance(data, np.ndarray) else guess
            hits[has] += self.relation.holds(some, batch, rng)
        return hits >= self.count


def _flat(data: Batch) -> Array:
    return np.asarray(data).reshape(len(data), -1)


@dataclass(frozen=True)
class Prefix:
    """The attempt is the first ``length`` entries of the data set, by default all.

    With half the length this is the relation ``z = x`` of Cohen et al. 2024, Example C.1.

    length: Entries to name.
    """

    length: int | None = None

    def __post_init__(self) -> None:
        if self.length is not None:
            integer("length", self.length, low=1)

    def _part(self, data: Array) -> Array:
        flat = _flat(data)
        if self.length is None:
            return flat
        integer("length", self.length, high=flat.shape[1])
        return flat[:, : self.length]

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts have shape (trials, length)."""
        part = self._part(data)
        return (part == np.asarray(attempt).reshape(part.shape)).all(axis=1)

    def guesses(self, data: Array) -> Array:
        """Return the distinct prefixes of data sets."""
        return distinct(self._part(data))[0]

    def baseline(self, world: Any, attempt: Array) -> Floats | None:
        """Compute the exact chance for independent bits."""
        if not isinstance(world, Bits):
            return None
        rates = world.rates[: self.length]
        return np.where(_flat(attempt) == 1, rates, 1 - rates).prod(axis=1)


@dataclass(frozen=True)
class Pinned:
    """The attempt names ``k`` distinct places of the data set and their entries.

    Cohen et al. 2024, Example 1.8; with ``k = 1``, the relation of the counting query of 000,
    Appendix A. An attempt is an array of two rows, places and entries.

    k: Places to name.
    """

    k: int = 1

    def __post_init__(self) -> None:
        integer("k", self.k, low=1)

    @property
    def coordinates(self) -> int:
        """Number of places in an attempt; all places are alike."""
        return self.k

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts have shape (trials, 2, k). Repeated places fail."""
        places, entries, repeats = self._read(attempt)
        true_entries = np.take_along_axis(data, places, axis=1)
        return (true_entries == entries).all(axis=1) & ~repeats

    def _read(self, attempt: Any) -> tuple[Array, Array, Held]:
        """Return the places, their entries, and whether a place is repeated, of each trial."""
        places, entries = np.asarray(attempt)[:, 0], np.asarray(attempt)[:, 1]
        ordered = np.sort(places, axis=1)
        repeats = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        return places.astype(np.int64), entries, repeats

    def guesses(self, data: Array, *, lumped: bool = False) -> Array:
        """Return all attempts; with ``lumped``, those at the first ``k`` places only."""
        n = data.shape[1]
        if self.k > n:
            raise InputError(f"`k` is {self.k}, and a data set has {n} places only")
        entries = np.unique(data)
        count = (1 if lumped else comb(n, self.k)) * len(entries) ** self.k
        if count > 1_000_000:
            raise InputError(
                f"{self.k} of {n} places make {count} guesses, at most 1000000 are written out"
            )
        chosen = [tuple(range(self.k))] if lumped else list(combinations(range(n), self.k))
        values = entries[all_tuples(len(entries), self.k)]
        places = np.repeat(np.asarray(chosen), len(values), axis=0)
        return np.stack([places, np.tile(values, (len(chosen), 1))], axis=1)

    def baseline(self, world: Any, attempt: Array) -> Floats | None:
        """Compute the exact chance for independent bits."""
        if not isinstance(world, Bits):
            return None
        places, entries, repeats = self._read(attempt)
        rates = world.rates[places]
        chance = np.where(entries == 1, rates, np.where(entries == 0, 1 - rates, 0.0))
        chance[repeats] = 0
        return chance.prod(axis=1)

    def best(self, world: Any) -> float | None:
        """Compute the chance of the best fixed guess for independent bits."""
        if not isinstance(world, Bits):
            return None
        return float(np.sort(np.maximum(world.rates, 1 - world.rates))[-self.k :].prod())


@dataclass(frozen=True)
class SameImage:
    """A function maps the attempt and the data set to the same image.

    Cohen et al. 2024, Theorem B.5: resilience for this relation is one-wayness.

    function: A mechanism that is a function, such as `narcissus.mechanisms.Sha256`.
    """

    function: Annotated[Any, OfRoom("mechanism")]

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts are inputs of the function, like the data."""
        image = self.function.release(data, rng)
        other = self.function.release(np.asarray(attempt).astype(data.dtype), rng)
        return np.asarray(_flat(image == other).all(axis=1))

    def guesses(self, data: Array) -> Array:
        """Return one input for each image."""
        images = self.function.release(data, np.random.default_rng(0))
        _, inverse = distinct(images)
        return data[np.unique(inverse, return_index=True)[1]]


@dataclass(frozen=True)
class FirstBit:
    """The attempt is the first entry of the data set (Cohen et al. 2024, Theorem B.8)."""

    def holds(self, data: Batch, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts have shape (trials,)."""
        first = _flat(data)[:, 0]
        return first == np.asarray(attempt).reshape(len(first))

    def guesses(self, data: Array) -> Array:
        return np.unique(_flat(data)[:, 0])


@dataclass(frozen=True)
class OneOfPair:
    """The relations ``R_1 .. R_5`` in the proof of Cohen et al. 2024, Theorem C.2.

    They distinguish two data sets, here by their first entry: ``zero`` for ``S_0``, otherwise
    ``S_1``. An attempt is 0 or 1 (the paper's ``z_1`` and ``z_2``).

    number: Which relation, 1 to 5.
    zero: First entry of ``S_0``.
    """

    number: int
    zero: float = 0

    def __post_init__(self) -> None:
        integer("number", self.number, low=1, high=5)

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> Held:
        """Score a batch; attempts have shape (trials,)."""
        first = _flat(data)[:, 0] == self.zero
        named = np.asarray(attempt).reshape(len(first)) == 0
        return {
            1: first & named,
            2: (first & named) | (~first & ~named),
            3: ~(~first & named),
            4: ~first & ~named,
            5: ~(first & ~named),
        }[self.number]

    def guesses(self, data: Array) -> Array:
        return np.array([0, 1])


@dataclass(frozen=True)
class NamesSecret:
    """The attempt is the number of the secret.

    secrets: Number of secrets; an attempt outside ``0 .. secrets - 1`` is an error.
    """

    secrets: int

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> Held:
        return data == self._numbers(attempt)

    def _numbers(self, attempt: Any) -> NDArray[np.int64]:
        guesses = np.asarray(attempt)
        is_number = guesses.ndim == 1 and guesses.dtype.kind in "iu"
        if not is_number or not ((guesses >= 0) & (guesses < self.secrets)).all():
            raise InputError(
                f"an attacker must give the number of a secret, 0 to {self.secrets - 1}"
            )
        return guesses

    def guesses(self, data: Array) -> Array:
        return np.arange(self.secrets)

    def best(self, world: Any) -> float | None:
        """Return the chance of the likeliest secret; None where there is no prior."""
        return float(world.chances.max()) if isinstance(world, Secret) else None

    def baseline(self, world: Any, attempt: Any) -> Floats | None:
        """Return the prior's chance of each guess, which is that against a fresh secret."""
        if not isinstance(world, Secret):
            return None
        return world.chances[self._numbers(attempt)]


@dataclass(frozen=True)
class TablePredicate:
    """Predicates given by the list of records that satisfy them."""

    support: Array  # the records, shape (k,) or (k, d)
    holds: Held  # whether each satisfies each predicate, shape (trials, k)
    exact = True

    def __call__(self, rows: Array) -> Held:
        truths = np.zeros(rows.shape[:2], dtype=bool)
        for place, value in enumerate(self.support):
            equal = rows == value
            equal = equal.all(axis=tuple(range(2, equal.ndim))) if equal.ndim > 2 else equal
            truths |= equal & self.holds[:, place, None]
        return truths

    def __len__(self) -> int:
        return len(self.holds)

    def take(self, index: Array) -> TablePredicate:
        return TablePredicate(self.support, self.holds[index])

    def weight(self, world: Any) -> Floats | None:
        law = getattr(world, "law", None)
        if law is None:
            return None
        chance = np.zeros(len(self.support))
        for value, probability in zip(law.values, law.chances, strict=True):
            chance[np.all((self.support == value).reshape(len(chance), -1), axis=1)] += probability
        return self.holds @ chance


@dataclass(frozen=True)
class FunctionPredicates:
    """Predicates from a user's attacker, one Python function a trial."""

    functions: Sequence[Callable[[Any], Any] | None]
    exact = False

    def __call__(self, rows: Array) -> Floats:
        """Call each function on each row; a predicate not made holds nowhere."""
        truths = np.zeros(rows.shape[:2])
        for trial, function in enumerate(self.functions):
            if function is not None:
                truths[trial] = [float(function(row)) for row in rows[trial]]
        return truths

    def __len__(self) -> int:
        return len(self.functions)


def as_predicates(attempt: Any) -> Any:
    """Convert attempts to predicates: an object that can be called on rows, or a list of functions.

    Called on rows (trials, m, ...) it returns where each trial's predicate holds, (trials, m). Its
    ``weight(world)``, if any, is the chance to hold for a record of the world, or an upper limit,
    shape (trials,); ``exact`` distinguishes the two.
    """
    if callable(attempt):
        return attempt
    if isinstance(attempt, list | tuple) and all(f is None or callable(f) for f in attempt):
        return FunctionPredicates(attempt)
    raise InputError(
        f"this relation needs attempts that are predicates on records, got {type(attempt).__name__}"
    )


@dataclass(frozen=True)
class Isolates:
    """The predicate holds for exactly one row (Cohen et al. 2024, Definitions 2.4 and 2.5)."""

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> Held:
        return as_predicates(attempt)(data).sum(axis=1) == 1

    def guesses(self, data: Array) -> TablePredicate:
        """Return all predicates on the records of the world."""
        support = distinct_rows(data)
        if len(support) > 12:
            raise InputError(
                f"{len(support)} records make 2^{len(support)} predicates, at most 2^12 are "
                "written out"
            )
        return TablePredicate(support, all_tuples(2, len(support)).astype(bool))

    def baseline(self, world: Any, attempt: Any) -> Floats | None:
        """Compute ``n w (1 - w)^(n - 1)`` where the weight ``w`` is known exactly."""
        predicates = as_predicates(attempt)
        if not getattr(predicates, "exact", False):
            return None
        weight = predicates.weight(world)
        return None if weight is None else world.n * weight * (1 - weight) ** (world.n - 1)


@dataclass(frozen=True)
class RandomRow:
    """The predicate holds for a row of the data set that is drawn at random.

    ``R_MI`` of Cohen et al. 2024, Definition 2.2: resilience at epsilon 0 is resilience to
    membership inference (Theorem 2.3).
    """

    additive = True  # the best predicate is put together row by row: exact profiles add up

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> Held:
        """Score a batch of predicates; probabilities are tossed for."""
        trials = np.arange(len(data))
        rows = data[trials, rng.integers(0, data.shape[1], len(data))]
        truths = as_predicates(attempt)(rows[:, None])[:, 0]
        return truths if truths.dtype == np.bool_ else rng.random(len(data)) < truths

    def probability(self, data: Array, attempt: Any) -> Floats:
        """Compute the share of rows for which each predicate holds."""
        return as_predicates(attempt)(data).mean(axis=1)

    def guesses(self, data: Array) -> TablePredicate:
        """Return the predicates that hold for one record only."""
        support, _ = distinct(distinct_rows(data))
        return TablePredicate(support, np.eye(len(support), dtype=bool))

    def baseline(self, world: Any, attempt: Any) -> Floats | None:
        """Return the weight where it is known exactly."""
        predicates = as_predicates(attempt)
        return predicates.weight(world) if getattr(predicates, "exact", False) else None
