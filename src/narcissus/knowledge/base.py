"""Side information: what the attacker is told besides the release, in worlds of games.

Each kind reveals ``K`` from ``(Nature, S)``, draws the fresh data set from ``Nature`` given ``K``,
and, under the Tardos prior, computes how surprising a row still is once ``K`` is known (Kaplan et
al. 2025, Definitions 4.1, 4.3 and 4.4). A kind that cannot be conditioned on in a world refuses it
before any trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._validation import arity, distribution, integer
from narcissus.errors import InputError
from narcissus.worlds.base import (
    LISTED,
    Array,
    Batch,
    Draw,
    Enumerable,
    Enumeration,
    World,
    distinct,
    gather,
    is_derived,
    key_of,
)
from narcissus.worlds.finite import Finite
from narcissus.worlds.products import Uniform
from narcissus.worlds.tardos import Superset, Tardos, TardosNature, succession


class Knowledge(Protocol):
    """What the attacker is told: ``K``, which may depend on ``Nature``, the data set and coins."""

    def check(self, world: World) -> None:
        """Refuse a world in which this cannot be told or conditioned on."""
        ...

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Batch:
        """Return the attacker about each trial."""
        ...

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets from the trials' own ``Nature`` given what was told."""
        ...


@runtime_checkable
class KeepsSurprisal(Protocol):
    """Knowledge with the surprisal that a row keeps for those who have it."""

    def surprisal(self, world: Any, draw: Draw, known: Batch, index: Array) -> Floats:
        """Return ``h(x | K, the other rows)`` of row ``index`` of each trial, in bits."""
        ...


@runtime_checkable
class MoreKnowledge(Protocol):
    """What one attacker is told besides what the game tells everybody."""

    def add(self, draw: Draw, known: Batch) -> Batch:
        """Return what the game told about each trial, with what is told besides."""
        ...


def no_world(kind: str, world: World, works: str) -> InputError:
    """State that a kind of side information does not fit a world."""
    return InputError(
        f"side information `{kind}` is not defined for the world {type(world).__name__}; "
        f"it works for {works}"
    )


def tells(enumeration: Enumeration, side: Any) -> tuple[list[Any], Callable[[int], Array]]:
    """Return what may be told, and the chance of each by its number, shape (V or 1, D)."""
    if side is None:
        return [None], lambda number: np.ones((1, len(enumeration.data)))
    if getattr(side, "whole", False):
        numbers = np.arange(len(enumeration.weight))
        return list(numbers), lambda number: (numbers == number)[:, None]
    if hasattr(side, "kernel"):
        shares = side.kernel(enumeration)
        return list(np.arange(shares.shape[2])), lambda number: shares[:, :, number]
    if not hasattr(side, "label"):
        raise InputError(
            f"the side information {type(side).__name__} cannot be written out for an exact "
            "answer; play the study instead"
        )
    labels = side.label(enumeration)
    keys = [key_of(entry) for entry in labels]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    group = np.asarray([numbers[key] for key in keys])
    return [labels[keys.index(key)] for key in numbers], lambda number: (group == number)[None]


def refine(enumeration: Enumeration, side: Any) -> Enumeration:
    """Split every ``Nature`` by what the attacker is told.

    Side information that is all of ``Nature`` has a true ``whole``; a function of the data set
    alone has a method ``label``; a table of chances has a ``kernel``. Other kinds are refused.
    """
    if side is None:
        return enumeration
    if getattr(side, "whole", False):
        numbers = np.arange(len(enumeration.weight))
        return replace(enumeration, known=numbers, labels=list(numbers))
    labels, law = tells(enumeration, side)
    parts: list[tuple[float, Array, Array, int]] = []
    natures = zip(enumeration.weight, enumeration.sample, enumeration.fresh, strict=True)
    for nature, (chance, sample, fresh) in enumerate(natures):
        for number in range(len(labels)):
            share = law(number)[nature if hasattr(side, "kernel") else 0]
            inside, other = sample * share, fresh * share
            total = inside.sum()
            if chance * total <= 0:
                continue
            if other.sum() <= 0:
                raise InputError("side information contradicts every fresh data set")
            parts.append((chance * total, inside / total, other / other.sum(), number))
    weights, samples, freshes, numbers = zip(*parts, strict=True)
    return Enumeration(
        enumeration.data,
        np.array(weights, dtype=np.float64),
        np.array(samples, dtype=np.float64),
        np.array(freshes, dtype=np.float64),
        np.array(numbers, dtype=np.int64),
        labels,
    )


def _row_and_ones(draw: Draw, index: Array) -> tuple[Array, Array]:
    """Return row ``index`` of each trial, and the ones in each column of the other rows."""
    row = draw.data[np.arange(draw.trials), index]
    return row, draw.data.sum(axis=1, dtype=np.int64) - row


class _OfTardos:
    """Side information about the Tardos prior alone, named ``kind`` in messages."""

    kind: ClassVar[str]

    def check(self, world: World) -> None:
        """Refuse all worlds except the Tardos prior."""
        if not isinstance(world, Tardos):
            raise no_world(self.kind, world, "tardos")


def nature_of(world: Any, draw: Draw, rng: np.random.Generator) -> Any:
    """Return the ``Nature`` of each trial as an attacker may be told it."""
    return world.told(draw, rng) if hasattr(world, "told") else draw.nature


@dataclass(frozen=True)
class Hidden:
    """The attacker is told ``Nature`` itself.

    Of the world ``superset`` that is the list of possible rows (Kaplan et al. 2025, Example 1.5),
    of ``tardos`` the whole population (Definition 3.3), of ``finite`` the number of the list.
    """

    whole = True

    def check(self, world: World) -> None:
        """Refuse worlds without a ``Nature``; a pair is none, it holds the data set itself."""
        shipped = type(world).__module__.startswith("narcissus.")
        if not isinstance(world, Finite | Superset | Tardos) and (
            shipped or world.draw(1, np.random.default_rng(0)).nature is None
        ):
            raise no_world("nature", world, "worlds with a meta-prior: superset, tardos, finite")

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Any:
        return nature_of(world, draw, rng)

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets from the same ``Nature``: knowing it changes nothing."""
        return world.fresh(draw, rng)

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> Floats:
        """Return ``h(x | population, the other rows)`` in bits under the Tardos prior.

        The row is one of the ``N - n + 1`` people who are not the others.
        """
        if not isinstance(world, Tardos):
            raise no_world("nature with surprisal", world, "tardos")
        row = draw.data[np.arange(draw.trials), index][:, None]
        others = (draw.data == row).all(axis=2).sum(axis=1) - 1
        left = (known == row).all(axis=2).sum(axis=1) - others
        return np.log2((world.N - world.n + 1) / left)


@dataclass(frozen=True)
class Rates(_OfTardos):
    """The attacker is told the rates of the Tardos prior, but not the population."""

    kind: ClassVar[str] = "rates"

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Floats:
        return draw.nature.rates

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets of the same population: it determines the rates' information."""
        return world.fresh(draw, rng)

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> Floats:
        """Return ``h(x | rates)`` in bits; the other rows say nothing more."""
        row, _ = _row_and_ones(draw, index)
        with np.errstate(divide="ignore"):
            return -np.log2(np.where(row == 1, known, 1 - known)).sum(axis=1)


@dataclass(frozen=True)
class KnownRows:
    """The attacker knows the first ``rows`` rows of the data set (Observation 4.2: all but one).

    rows: Known rows.
    """

    rows: int

    def __post_init__(self) -> None:
        integer("rows", self.rows, low=1)

    def check(self, world: World) -> None:
        n = getattr(world, "n", None)
        if not hasattr(world, "fresh_given_rows") or n is None:
            raise no_world("rows", world, "bits, records, uniform, mona-lisa, tardos")
        made: Any = type(world)
        if is_derived(world) and _ours(made.fresh_given_rows) and not _ours(made.draw):
            raise InputError(
                f"the world {made.__name__} draws in its own way, and how fresh data sets with "
                "known rows are drawn is that of the world that it is derived from: give it its "
                "own `fresh_given_rows(draw, rows, rng)`"
            )
        integer("rows", self.rows, high=n)

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Array:
        return draw.data[:, : self.rows]

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        return world.fresh_given_rows(draw, self.rows, rng)

    def label(self, enumeration: Enumeration) -> Array:
        return enumeration.data[:, : self.rows]

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> Floats:
        """Return ``h(x | K, the other rows)`` in bits, under the Tardos prior.

        ``K`` is the first rows in their order; the other rows are a bag, in which nobody has a
        place. By Bayes' rule a row ``z`` with ``k`` copies among the known rows and ``s`` among
        the others has its weight by Laplace's rule times ``(s + 1) / (s + 1 - k)``; if the others
        lack a known row, the row is that one, and no surprise.
        """
        row, ones = _row_and_ones(draw, index)
        plain = succession(row[:, None], ones, world.n - 1)[:, 0]
        weights = np.exp2(succession(known, ones, world.n - 1))
        bits = np.zeros(draw.trials)
        for trial in range(draw.trials):
            others = Counter(record.tobytes() for record in draw.data[trial])
            key = row[trial].tobytes()
            others[key] -= 1
            names = [record.tobytes() for record in known[trial]]
            known_counts = Counter(names)
            if others[key] < known_counts[key]:
                continue
            # Each known row adds its weight over the copies of it that may be the missing one.
            spare = np.array([others[name] - known_counts[name] + 1 for name in names])
            total = np.log1p((weights[trial] / spare).sum()) / np.log(2)
            factor = np.log2((others[key] + 1) / (others[key] + 1 - known_counts[key]))
            bits[trial] = total - factor - plain[trial]
        return bits


def _ours(method: Any) -> bool:
    return method.__module__.startswith("narcissus.")


@dataclass(frozen=True)
class Hiding:
    """The rows of the data set hidden among random others (Kaplan et al. 2025, Example 1.4).

    size: Rows of the list, the ones of the data set included.
    """

    size: int

    def __post_init__(self) -> None:
        integer("size", self.size, low=1)

    def check(self, world: World) -> None:
        if not isinstance(world, Uniform):
            raise no_world("superset", world, "uniform")
        integer("size", self.size, low=world.n)

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the list, shape (trials, size, d), in random order."""
        others = world.rows((draw.trials, self.size - world.n), rng)
        rows = np.concatenate([draw.data, others], axis=1)
        order = np.argsort(rng.random((draw.trials, self.size)), axis=1)
        return rows[np.arange(draw.trials)[:, None], order]

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        """Draw ``n`` rows of the list without repetition: given the list, all are alike."""
        order = np.argsort(rng.random((draw.trials, self.size)), axis=1)[:, : world.n]
        return known[np.arange(draw.trials)[:, None], order]


@dataclass(frozen=True)
class Candidates(_OfTardos):
    """Two rows in random order: one of the data set, one of the population (section 4.2).

    Both are drawn uniformly, so the second is in the data set too with probability ``n / N``, and
    they are one and the same person with probability ``1 / N``, as in the paper. The attacker is
    told bits, not people: that two people have equal rows is taken into account throughout.
    """

    kind: ClassVar[str] = "candidates"

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the two rows of each trial, shape (trials, 2, d)."""
        nature: TardosNature = draw.nature
        pair = np.empty((draw.trials, 2, world.d), dtype=np.uint8)
        for trial, population in enumerate(nature.populations):
            pair[trial, 0] = draw.data[trial, rng.integers(0, world.n)]
            place = rng.integers(0, world.N, 1)
            rates = nature.rates[trial]
            # kept: the second row is in the population from now on
            pair[trial, 1] = world.rows_at(population, rates, place, rng, keep=True)[0]
        swap = rng.random(draw.trials) < 0.5
        pair[swap] = pair[swap, ::-1]
        return pair

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        """Draw fresh samples of the same population that could have led to the same pair.

        With ``T_x`` and ``C_x`` copies of a row ``x`` in a sample and in the population, a sample
        leads to the pair ``a, b`` with probability proportional to ``T_a C_b + T_b C_a``. Both
        terms weigh the same, so: a fair coin chooses ``a`` or ``b``, one of the people with that
        row is in, and ``n - 1`` of all others.
        """
        nature: TardosNature = draw.nature
        result = np.empty((draw.trials, world.n, world.d), dtype=np.uint8)
        coins = rng.integers(0, 2, draw.trials)
        for trial, population in enumerate(nature.populations):
            row, rates = known[trial, coins[trial]], nature.rates[trial]
            # People who were not looked at may have that row as well.
            unseen = world.N - len(population.seen)
            chance = float(np.where(row == 1, rates, 1 - rates).prod())
            copies = int(rng.binomial(unseen, chance)) if unseen else 0
            seen = np.concatenate([population.seen, np.repeat(row[None], copies, axis=0)])
            people = type(population)(seen, population.own)
            inside = int(rng.choice(np.flatnonzero((seen == row).all(axis=1))))
            others = rng.choice(world.N - 1, world.n - 1, replace=False)
            others += others >= inside
            rest = world.rows_at(people, rates, others, rng, unlike=row)
            result[trial] = rng.permutation(np.concatenate([row[None], rest]))
        return result

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> Floats:
        """Return ``h(x | K, the other rows)`` in bits.

        By Bayes' rule, ``P(x | K, others)`` is proportional to ``L(x | others) P(K | S)`` with
        ``S`` the others and ``x``, Laplace's rule ``L``, and for the pair ``a, b``

            P(K | S) ~ 2 S_a S_b + (N - n) (S_a L(b | S) + S_b L(a | S)),

        where ``S_a`` counts copies. All rows ``x`` but ``a`` and ``b`` have one weight times
        ``L``, and ``L`` is a martingale, so the sum over all rows has four terms.
        """
        pair = known[:, 0], known[:, 1]
        row, ones = _row_and_ones(draw, index)
        n, outside = world.n, _log(np.full(draw.trials, world.N - world.n))

        def chance(x: Array, *given: Array) -> Floats:
            """Return ``L(x | others, given)``, as a logarithm."""
            before = ones + sum(given, np.zeros_like(ones))
            return succession(x[:, None], before, n - 1 + len(given))[:, 0]

        def told(a: Array, b: Array, *given: Array) -> list[Floats]:
            """Return the terms of ``P(K | others, given)`` for counts ``a``, ``b`` of the pair."""
            return [
                1 + _log(a) + _log(b),
                outside + _log(a) + chance(pair[1], *given),
                outside + _log(b) + chance(pair[0], *given),
            ]

        same = np.stack([(row == candidate).all(axis=1) for candidate in pair])
        others = [
            (draw.data == candidate[:, None]).all(axis=2).sum(axis=1) - equal
            for candidate, equal in zip(pair, same, strict=True)
        ]
        twins = (pair[0] == pair[1]).all(axis=1)
        # what all rows would weigh together if none of them were a candidate ...
        terms = told(others[0], others[1])
        # ... and what each of the candidates adds, once if they are equal.
        for place, candidate in enumerate(pair):
            weight, other = others[place], others[1 - place]
            parts = [
                # 2 (weight + 1) (other + twins) - 2 weight other, never below 0
                1 + _log(np.where(twins, weight + other + 1, other)),
                outside + chance(pair[1 - place], candidate),
            ]
            parts.append(np.where(twins, outside + chance(candidate, candidate), -np.inf))
            added = chance(candidate) + _sum(parts)
            terms.append(np.where(twins & (place == 1), -np.inf, added))
        weight = _sum(told(others[0] + same[0], others[1] + same[1], row))
        return _sum(terms) - (chance(row) + weight)


def _log(count: Array) -> Floats:
    """Return logarithms (base 2) of counts, minus infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.log2(np.asarray(count, dtype=np.float64))


def _sum(terms: list[Floats]) -> Floats:
    """Add numbers that are given by their logarithms (base 2)."""
    return np.logaddexp2.reduce(np.stack(terms), axis=0)


@dataclass(frozen=True)
class OwnSideInformation:
    """A function that the user wrote: ``K = function(data)``.

    Fresh data sets ``T`` are drawn from the trial's own ``Nature``, which stays what it is, until
    ``K(T) = K``; the coins of a random ``K`` are tossed anew for every ``T``. This is sampling
    from ``Nature`` given ``K``, exactly, but it takes ``1 / Pr[K]`` draws: where ``tries`` draws
    do not find one, the game is refused rather than played with something else.

    function: ``function(data)``, ``function(data, rng)`` with coins, or ``function(data, rng,
        nature)`` that looks at ``Nature`` as well (of ``tardos`` the population, shape (N, d), of
        ``superset`` the list, of ``finite`` a number). What it gives is compared by value, so it
        must be discrete.
    tries: Fresh data sets to draw for each trial, at most.
    """

    function: Callable[..., Any]
    tries: int = 10_000

    def __post_init__(self) -> None:
        integer("tries", self.tries, low=1)

    @property
    def arguments(self) -> int:
        """Number of the arguments (data, rng, nature) that the function takes."""
        return arity(self.function, 3)

    def check(self, world: World) -> None:
        """Refuse a function that is random unannounced, and a ``Nature`` that is not there."""
        rng = np.random.default_rng(0)
        draw = world.draw(1, rng)
        if self.arguments == 3 and draw.nature is None:
            raise no_world("function of nature", world, "worlds with a meta-prior")
        first = draw.data[0]
        if self.arguments == 1 and key_of(self.function(first)) != key_of(self.function(first)):
            raise InputError(
                "side information must be a function of the data set, not random; one with coins "
                "takes the generator as its second argument"
            )

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> list[Any]:
        return self._ask(draw.data, self._natures(world, draw, rng), rng)

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets until each leads to what was told, at most ``tries`` of them."""
        result: list[Any] = [None] * draw.trials
        natures = self._natures(world, draw, rng)
        for start in range(0, draw.trials, _TOGETHER):
            left = np.arange(start, min(draw.trials, start + _TOGETHER))
            part = draw.take(left)
            again = getattr(world, "fresh_again", world.fresh)
            for _ in range(self.tries):
                fresh = again(part, rng)
                answers = self._ask(fresh, None if natures is None else gather(natures, left), rng)
                fits = [
                    key_of(answer) == key_of(known[trial])
                    for answer, trial in zip(answers, left, strict=True)
                ]
                for place in np.flatnonzero(fits):
                    result[left[place]] = fresh[place]
                still = np.flatnonzero(~np.array(fits, dtype=bool))
                left = left[still]
                if not left.size:
                    break
                if len(still) < len(fits):
                    part = part.take(still)
            if left.size:
                raise InputError(
                    f"side information contradicts every fresh data set that was tried: none of "
                    f"{self.tries} led to {known[left[0]]!r}. Tell less, raise `tries`, or write "
                    "a side information with its own `fresh`"
                )
        return np.asarray(result) if isinstance(draw.data, np.ndarray) else result

    def label(self, enumeration: Enumeration) -> list[Any]:
        if self.arguments > 1:
            raise InputError(
                "side information with coins, or that looks at `Nature`, cannot be written out "
                "for an exact answer; play the study instead"
            )
        return [self.function(data) for data in enumeration.data]

    def _natures(self, world: World, draw: Draw, rng: np.random.Generator) -> Any:
        return nature_of(world, draw, rng) if self.arguments == 3 else None

    def _ask(self, data: Batch, natures: Any, rng: np.random.Generator) -> list[Any]:
        if self.arguments == 1:
            return [self.function(data_set) for data_set in data]
        if self.arguments == 2:
            return [self.function(data_set, rng) for data_set in data]
        return [
            self.function(data_set, rng, nature)
            for data_set, nature in zip(data, natures, strict=True)
        ]


_TOGETHER = (
    16  # trials searched at a time: all rows that are looked at are kept until they are done
)


@dataclass(frozen=True)
class Listed:
    """A table of chances of what is told, for the world `finite`: 0 or 1 for a function.

    Source: Kaplan et al. 2025, Definition 4.1 (``K = SideInfo(Nature, S)``, with coins).

    chances: The chance of each of k values for each of D data sets, shape (D, k); or one such table
        for each of V natures, shape (V, D, k).
    """

    chances: Sequence[Any]

    def __post_init__(self) -> None:
        try:
            table = np.asarray(self.chances, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.zeros(0)
        if table.ndim not in (2, 3) or not table.size:
            raise InputError(
                "`chances` must be a list of numbers for each data set, all of one length, or such "
                f"a table for each nature; got {str(self.chances)[:80]}"
            )
        for row in table.reshape(-1, table.shape[-1]):
            distribution("chances", row)

    def check(self, world: World) -> None:
        if not isinstance(world, Finite):
            raise no_world("listed", world, "finite")
        shape = np.shape(self.chances)
        if shape[:-1] not in (world.table.shape[1:], world.table.shape):
            raise InputError(
                "`chances` must have a list for each of {1} data sets, or that for each of {0} "
                "natures; got shape {2}".format(*world.table.shape, shape)
            )
        if len(distinct(world.sets)[0]) < len(world.sets):
            raise InputError("side information `listed` needs data sets that are all different")

    def kernel(self, world: Enumeration) -> NDArray[np.float64]:
        """Return the chance of each value for each ``Nature`` and data set, shape (V, D, k)."""
        table = np.asarray(self.chances, dtype=np.float64)
        return np.broadcast_to(table, (len(world.weight), *table.shape[-2:]))

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw the number of the value that is told in each trial."""
        places = {key_of(data_set): place for place, data_set in enumerate(world.sets)}
        index = np.array([places[key_of(data_set)] for data_set in draw.data])
        return _drawn(self.kernel(world.enumerate())[draw.nature, index], rng)

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        chances = self.kernel(world.enumerate())[draw.nature, :, np.asarray(known)]
        return world.sets[_drawn(world.table[draw.nature] * chances, rng)]


def _drawn(weights: Array, rng: np.random.Generator) -> Array:
    """Draw a number by each row of weights, never one whose weight is 0."""
    steps = np.cumsum(weights, axis=1)
    return (rng.random(len(weights))[:, None] * steps[:, -1:] >= steps).sum(axis=1)


@dataclass(frozen=True)
class Surprisals:
    """The surprisal of each row of a world that is written out, with and without ``K``."""

    world: Enumeration  # split by what is told
    rows: int  # of a data set; 1: the data set as a whole is the row

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of each row with its bag of others, and of that bag, shape (2, D, n)."""
        seen: dict[Any, int] = {}
        indices = np.empty((2, len(self.world.data), self.rows), dtype=np.int64)
        for place, data_set in enumerate(self.world.data):
            keys = [key_of(row) for row in ([data_set] if self.rows == 1 else data_set)]
            for row, row_key in enumerate(keys):
                bag = tuple(sorted(map(repr, keys[:row] + keys[row + 1 :])))
                for kind, key in enumerate(((row_key, bag), bag)):
                    indices[kind, place, row] = seen.setdefault((kind, key), len(seen))
        return indices

    def chances(self, weight: Array) -> Array:
        """Return ``P(v = x | S minus v)`` of each row x, shape (D, n); 0 where it has no chance.

        ``weight`` holds the chance of each data set, or a multiple: floats or `Fraction`.

        Source: Kaplan et al. 2025, Definition 4.4, where ``v`` is a row of ``S`` at random.
        """
        sums = np.full(int(self.numbers.max()) + 1, weight[0] * 0, dtype=weight.dtype)
        for kind in self.numbers:
            np.add.at(sums, kind, np.broadcast_to(weight[:, None], kind.shape))
        part, whole = sums[self.numbers]
        return np.where(whole > 0, part, 0) / np.where(whole > 0, whole, 1)

    @cached_property
    def plain(self) -> Floats:
        """``h(x | the other rows)`` in bits, shape (D, n)."""
        return self._bits(self.world.weight @ self.world.sample)

    def told(self, number: int) -> Floats:
        """Return ``h(x | K, the other rows)`` in bits, where ``K`` has that number."""
        inside = self.world.known == number
        return self._bits(self.world.weight[inside] @ self.world.sample[inside])

    def _bits(self, weight: Floats) -> Floats:
        chances = self.chances(weight)
        return -np.log2(np.where(chances > 0, np.minimum(chances, 1.0), 1.0))

    @cached_property
    def _places(self) -> list[dict[Any, int]]:
        batches = (self.world.data, self.world.labels)
        return [{key_of(label): k for k, label in enumerate(each)} for each in batches]

    def of(self, data: Batch, known: Batch, place: int) -> tuple[Floats, Floats]:
        """Return both surprisals of row ``place`` of each trial, that with ``K`` first."""
        pairs = zip((data, known), self._places, strict=True)
        sets, heard = (np.array([where[key_of(x)] for x in each]) for each, where in pairs)
        surprisals = {number: self.told(number) for number in set(heard.tolist())}
        bits = [surprisals[k][s, place] for k, s in zip(heard.tolist(), sets, strict=True)]
        return np.array(bits), self.plain[sets, place]


def is_listed(world: Any, side: Any) -> bool:
    """Check whether a world, and what is told in it, can be written out."""
    has_law = getattr(side, "whole", False) or hasattr(side, "kernel") or hasattr(side, "label")
    return isinstance(world, Enumerable) and has_law and getattr(side, "arguments", 1) == 1


def listed(world: Any, side: Any, rows: int) -> Surprisals:
    """Write a world out with what is told; InputError for more than `LISTED` data sets."""
    if world.count() > LISTED:
        raise InputError(
            f"surprisal is computed by listing at most {LISTED:,} data sets, and the world "
            f"{type(world).__name__} has more: make it smaller, or use `tardos`"
        )
    return Surprisals(refine(world.enumerate(), side), rows)
