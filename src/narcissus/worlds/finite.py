"""Listed worlds: data sets, pairs of them, secrets, people, families; and a user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from narcissus._options import OfRoom
from narcissus._validation import distribution, integer
from narcissus.errors import InputError, TooLargeError, raised_where
from narcissus.priors import RecordPrior
from narcissus.worlds.base import (
    LISTED,
    Array,
    Draw,
    Enumeration,
    Independent,
    WithoutNature,
    World,
    all_tuples,
    members,
    stacked,
    tuples,
)


def data_sets(name: str, data: Sequence[Any]) -> Array:
    """Return data sets of one shape as an array; a data set of one number has one record."""
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise InputError(f"`{name}` must be data sets of one shape, got {data!r}") from error
    if array.ndim < 1 or len(array) == 0 or array.dtype == object:
        raise InputError(f"`{name}` must be a list of data sets of one shape, got {data!r}")
    return array if array.ndim > 1 else array[:, None]


@dataclass(frozen=True)
class Finite:
    """A list of data sets with their probabilities, or a meta-prior over such lists.

    data: The data sets, each a list of records (all of one shape).
    probabilities: Probability of each data set; or, for a meta-prior, one such list for each
        ``Nature``. Empty: all alike.
    natures: Probability of each ``Nature``; empty: all alike.
    """

    data: Sequence[Any]
    probabilities: Sequence[float] | Sequence[Sequence[float]] = ()
    natures: Sequence[float] = ()

    def __post_init__(self) -> None:
        sets = data_sets("data", self.data)
        probabilities = np.asarray(self.probabilities, dtype=np.float64)
        if probabilities.size and probabilities.shape[-1] != len(sets):
            raise InputError(
                f"`probabilities` must have one number for each of {len(sets)} data sets, "
                f"got {probabilities.shape[-1]}"
            )
        for row in np.atleast_2d(probabilities) if probabilities.size else ():
            distribution("probabilities", row)
        if len(self.natures):
            distribution("natures", self.natures)
            if len(self.natures) != len(self.table):
                raise InputError(
                    f"`natures` must have one number for each of {len(self.table)} lists of "
                    f"`probabilities`, got {len(self.natures)}"
                )

    @cached_property
    def sets(self) -> Array:
        """The data sets, leading axis D."""
        return data_sets("data", self.data)

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Probability of each data set given ``Nature``, shape (V, D)."""
        probabilities = np.asarray(self.probabilities, dtype=np.float64)
        count = len(self.sets)
        return (
            np.atleast_2d(probabilities) if probabilities.size else np.full((1, count), 1 / count)
        )

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Probability of each ``Nature``, shape (V,)."""
        count = len(self.table)
        return np.asarray(self.natures) if len(self.natures) else np.full(count, 1 / count)

    @property
    def scope(self) -> str:
        if len(self.weight) == 1:
            return "this one distribution"
        return f"this prior, on average over the {len(self.weight)} natures"

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, and the index of their ``Nature``."""
        nature = rng.choice(len(self.weight), size=trials, p=self.weight)
        return Draw(self.sets[self._pick(nature, rng)], nature)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        return self.sets[self._pick(draw.nature, rng)]

    def _pick(self, nature: Array, rng: np.random.Generator) -> Array:
        steps = np.cumsum(self.table, axis=1)[:, :-1]
        return (rng.random(len(nature))[:, None] >= steps[nature]).sum(axis=1)

    def count(self) -> int:
        return len(self.sets)

    def enumerate(self) -> Enumeration:
        none = np.zeros(len(self.weight), dtype=np.int64)
        return Enumeration(self.sets, self.weight, self.table, self.table, none)


@dataclass(frozen=True, eq=False)
class Secret(WithoutNature):
    """One of the numbers ``0 .. k - 1``; a data set is the number itself.

    prior: Probability of each number, shape (k,).
    """

    prior: Sequence[float] | NDArray[np.float64]

    def __post_init__(self) -> None:
        distribution("prior", self.prior)

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The prior as an array, shape (k,)."""
        return np.asarray(self.prior, dtype=np.float64)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw secrets, shape (trials,)."""
        chances = self.chances / self.chances.sum()  # the sampler wants the sum exactly
        return Draw(rng.choice(chances.size, size=trials, p=chances))

    def count(self) -> int:
        return self.chances.size

    def enumerate(self) -> Enumeration:
        return Enumeration.of(np.arange(self.chances.size), self.chances)


@dataclass(frozen=True)
class Pairs:
    """The variant over pairs: of ``(S_0, S_1)`` a coin says which one is released.

    The other one takes the place of the fresh data set. Each pair is a separate distribution
    (003, Definition A.3), and several pairs are a family: what is said must hold for each of
    them. With ``probabilities`` they are one distribution, from which a pair is drawn: what is
    said then holds on average over the pairs, and may fail for any of them.

    Source: Cohen et al. 2024, Definitions A.2 and A.3.

    pairs: The pairs, each of two data sets of one shape.
    probabilities: Probability of each pair, where they are drawn; empty: each by itself.
    """

    pairs: Sequence[Any]
    probabilities: Sequence[float] = ()

    def __post_init__(self) -> None:
        sets = data_sets("pairs", self.pairs)
        if sets.ndim < 2 or sets.shape[1] != 2:
            raise InputError(f"`pairs` must hold two data sets each, got shape {sets.shape}")
        if len(self.probabilities):
            distribution("probabilities", self.probabilities)
            if len(self.probabilities) != len(sets):
                raise InputError(
                    f"`probabilities` must have one number for each of {len(sets)} pairs, "
                    f"got {len(self.probabilities)}"
                )

    @cached_property
    def sets(self) -> Array:
        """The pairs, shape (pairs, 2, records, ...)."""
        sets = data_sets("pairs", self.pairs)
        return sets if sets.ndim > 2 else sets[..., None]

    @cached_property
    def members(self) -> dict[str, World]:
        """Each pair by itself, by name; empty where there is one pair, or pairs are drawn."""
        if len(self.probabilities) or len(self.sets) == 1:
            return {}
        return {
            f"pair {number}, {_shown(pair[0])} and {_shown(pair[1])}": Pairs(pair[None])
            for number, pair in enumerate(self.sets, start=1)
        }

    @property
    def scope(self) -> str:
        if len(self.sets) == 1:
            return "this pair"
        return f"one distribution over {len(self.sets)} pairs, on average over them"

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Probability of each pair."""
        if self.members:
            raise InputError(
                "several pairs without `probabilities` are a family, one distribution each: "
                "nothing says how often to draw each; take one of `members`, or give "
                "`probabilities`"
            )
        return np.asarray(self.probabilities) if len(self.probabilities) else np.ones(1)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw the released data sets; ``nature`` holds the others."""
        pair = rng.choice(len(self.weight), size=trials, p=self.weight)
        coin = rng.integers(0, 2, trials)
        return Draw(self.sets[pair, coin], self.sets[pair, 1 - coin])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the other data set of each pair."""
        return draw.nature

    def count(self) -> int:
        return 2 * len(self.sets)

    def enumerate(self) -> Enumeration:
        """Write out every pair and coin as a ``Nature`` of one data set and its other."""
        if len(self.sets) > _DRAWN:
            raise TooLargeError(
                f"a distribution over {len(self.sets):,} pairs is not written out, at most "
                f"{_DRAWN:,} are; list fewer pairs, or play the game instead"
            )
        data = self.sets.reshape(-1, *self.sets.shape[2:])
        sample = np.eye(len(data))
        other = np.arange(len(data)) ^ 1
        none = np.zeros(len(data), dtype=np.int64)
        return Enumeration(data, np.repeat(self.weight / 2, 2), sample, sample[other], none)


_DRAWN = 2048  # pairs of one distribution, whose square is written out


def _shown(data: Array) -> str:
    """Write a data set in a line; a record of one number is that number."""
    flat = data[:, 0] if data.ndim == 2 and data.shape[1] == 1 else data
    text = str(flat.tolist())
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True)
class _AllNeighbours:
    """All pairs of data sets of ``n`` records that differ in one record.

    n: Records of a data set.
    values: A record has the values ``0 .. values - 1``.
    """

    n: int
    values: int = 2
    are_drawn: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _ = self.pairs

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, listed; all alike where they are drawn."""
        n = integer("n", self.n, low=1, high=10**7)
        if tuples(integer("values", self.values, low=2), n) > LISTED:
            raise InputError(
                f"{n} records of {self.values} values make more than {LISTED} data sets, the most "
                "that are listed; give the pairs you mean in a world of `pairs`"
            )
        neighbours: list[tuple[Array, Array]] = []
        for row in all_tuples(self.values, n):
            for place in range(n):
                for value in range(int(row[place]) + 1, self.values):
                    other = row.copy()
                    other[place] = value
                    neighbours.append((row, other))
        return Pairs(neighbours, [1 / len(neighbours)] * len(neighbours) if self.are_drawn else ())


@dataclass(frozen=True)
class Neighbours(_AllNeighbours):
    """All pairs of data sets of ``n`` records that differ in one record: each one by itself.

    The family of Cohen et al. 2024, Theorem A.4: what is said must hold for each pair.
    """

    @property
    def members(self) -> dict[str, World]:
        """Each pair by itself, by name."""
        return self.pairs.members or {"the only pair": self.pairs}


@dataclass(frozen=True)
class RandomNeighbours(_AllNeighbours):
    """One distribution over all pairs of `Neighbours`: each is drawn with the same probability.

    What is said of it holds on average over the pairs, and may fail for any of them.
    """

    are_drawn: ClassVar[bool] = True

    @property
    def scope(self) -> str:
        return self.pairs.scope

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        return self.pairs.draw(trials, rng)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        return draw.nature

    def count(self) -> int:
        """Return the number of data sets, each counted once for each pair."""
        return self.pairs.count()

    def enumerate(self) -> Enumeration:
        return self.pairs.enumerate()


@dataclass(frozen=True)
class NamedFamily:
    """Several worlds by name, each a separate distribution: a `Family` that was made, not listed.

    names: Their names, all different.
    parts: The worlds, as many, at least one.
    """

    names: Sequence[str]
    parts: Sequence[World]

    def __post_init__(self) -> None:
        if not self.parts or not len(self.names) == len(set(self.names)) == len(self.parts):
            raise InputError(
                f"a family must have at least one member, and each its own name: got "
                f"{len(self.parts)} members and {len(set(self.names))} names"
            )

    @cached_property
    def members(self) -> dict[str, World]:
        """The distributions by name."""
        return dict(zip(self.names, self.parts, strict=True))


@dataclass(frozen=True)
class Family:
    """Several worlds, each a separate distribution: the family F of a statement.

    Source: Cohen et al. 2024, Definition 1.6 ("for all D in F").

    parts: The worlds, at least one; a part that is a family itself adds its members.

    >>> from narcissus.worlds import Bits
    >>> list(Family([Bits(2, 0.1), Bits(2, 0.9)]).members)
    ['Bits(n=2, rate=0.1)', 'Bits(n=2, rate=0.9)']
    """

    parts: Sequence[Annotated[Any, OfRoom("world")]]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("`parts` must hold at least one world")

    @cached_property
    def members(self) -> dict[str, World]:
        """The distributions by name."""
        worlds: dict[str, World] = {}
        for place, part in enumerate(self.parts, start=1):
            for inner, world in members(part).items():
                name = inner or repr(world)
                name = f"{name[:80]}..." if len(name) > 80 else name
                # one that is named like another one is told apart by its place
                worlds[f"{name} (part {place})" if name in worlds else name] = world
        return worlds


def asked(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user's; if it raises, name it in an `InputError`."""
    try:
        return function(*arguments)
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise InputError(f"the {what} `{name}` raised {raised_where(error)}") from error


@dataclass(frozen=True)
class OwnWorld(WithoutNature):
    """A world given by ``function(rng) -> data set``; fresh data sets are drawn independently."""

    function: Callable[[np.random.Generator], Any]

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Call the function once a trial."""
        return Draw(stacked([asked("world", self.function, rng) for _ in range(trials)]))


@dataclass(frozen=True)
class People(Independent):
    """People drawn independently from the distribution of one record.

    A data set holds the value numbers of every column, shape (n, d), secrets included.
    """

    prior: RecordPrior
    n: int

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        return Draw(np.stack([self.prior.sample(self.n, rng=rng) for _ in range(trials)]))


@dataclass(frozen=True, eq=False)
class RealRows(WithoutNature):
    """Rows of a table, each at most once in a data set: nobody's prior is right about them.

    Where a data set has all rows, they are as in the table: nothing is drawn.
    """

    codes: Array  # the table as value numbers, shape (rows, d)
    n: int  # rows of a data set
    counts: NDArray[np.int64] | None = None  # people of the table like each of ``codes``; None: one

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        if self.n == self.people:
            whole = self.rows(self.numbers(rng))
            return Draw(np.broadcast_to(whole, (trials, *whole.shape)))
        return Draw(self.rows(np.stack([self.numbers(rng) for _ in range(trials)])))

    @property
    def people(self) -> int:
        """Number of people of the table, each as often as counted."""
        return len(self.codes) if self.counts is None else int(self.counts.sum())

    def numbers(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the people of one data set by their numbers in the table, shape (n,)."""
        if self.n == self.people:
            return np.arange(self.n)
        return rng.choice(self.people, size=self.n, replace=False)

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the rows of people given by their numbers, shape (..., d)."""
        if self.counts is not None:  # as if each stood there as often as it is counted
            numbers = np.searchsorted(np.cumsum(self.counts), numbers, side="right")
        return self.codes[numbers].astype(np.int32, copy=False)
