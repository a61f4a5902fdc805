"""Side information: what the attacker is told besides the release.

Each kind reveals ``K`` from ``(Nature, S)``, draws the fresh data set from ``Nature`` given ``K``,
and says how surprising a row still is once ``K`` is known (Kaplan et al. 2025, Definitions 4.1,
4.3 and 4.4). A kind that cannot be conditioned on in a world says so before any trial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.priors.worlds.base import Array, Batch, Draw, Enumeration, World
from narcissus.priors.worlds.products import Uniform
from narcissus.priors.worlds.tardos import Tardos, TardosNature


class SideInformation(Protocol):
    """What the attacker is told."""

    def check(self, world: World) -> None:
        """Refuse a world in which this cannot be told or conditioned on."""
        ...

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Batch:
        """Tell the attacker about each trial."""
        ...

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets from ``Nature`` given what was told."""
        ...


def _no_world(kind: str, world: World, works: str) -> InputError:
    return InputError(
        f"side information `{kind}` is not defined for the world {type(world).__name__}; "
        f"it works for {works}"
    )


@dataclass(frozen=True)
class KnownRows:
    """The attacker knows the first ``rows`` rows of the data set (Observation 4.2: all but one)."""

    rows: int

    def __post_init__(self) -> None:
        integer("rows", self.rows, low=1)

    def check(self, world: World) -> None:
        """Refuse worlds without conditional sampling, and more rows than there are."""
        n = getattr(world, "n", None)
        if not hasattr(world, "fresh_given_rows") or n is None:
            raise _no_world("rows", world, "worlds of rows: bits, records, uniform, tardos")
        integer("rows", self.rows, high=n)

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Array:
        """Give the known rows, shape (trials, rows, ...)."""
        return draw.data[:, : self.rows]

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets with the same first rows."""
        return world.fresh_given_rows(draw, self.rows, rng)

    def label(self, enumeration: Enumeration) -> Array:
        """Give what is told of each data set of a world that is written out."""
        return enumeration.data[:, : self.rows]

    def surprisal(self, world: Any, draw: Draw, known: Batch, index: Array) -> NDArray[np.float64]:
        """Nothing for a known row; what it was for the others, whose rest tells as much."""
        return np.where(index < self.rows, 0.0, world.surprisal(draw, index))


@dataclass(frozen=True)
class Candidates:
    """Two rows in random order: one of the data set, one of the population (section 4.2).

    The second one is in the data set too with probability ``n / N``, as in the paper. Rows are
    told apart by who they are, not by their bits: two people with equal rows (probability
    ``2 ** -Omega(d)``) count as two.
    """

    def check(self, world: World) -> None:
        """Refuse all worlds but the Tardos prior."""
        if not isinstance(world, Tardos):
            raise _no_world("candidates", world, "tardos")

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Give the two rows of each trial, shape (trials, 2, d)."""
        trials = np.arange(draw.trials)
        inside = draw.data[trials, rng.integers(0, world.n, draw.trials)]
        other = draw.data[trials, rng.integers(0, world.n, draw.trials)]
        outside = rng.random(draw.trials) >= world.n / world.N
        other[outside] = world.outsider(draw, rng)[outside]
        pair = np.stack([inside, other], axis=1)
        swap = rng.random(draw.trials) < 0.5
        pair[swap] = pair[swap, ::-1]
        return pair

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        """Draw fresh samples of the same population that could have led to the same pair.

        A sample with both rows is twice as likely to have done so as a sample with one of them;
        there are ``C(N-2, n-2)`` of the first kind and ``C(N-2, n-1)`` for each row of the
        second, so both are in with probability ``(n - 1) / (N - 1)``.
        """
        nature: TardosNature = draw.nature
        n, total = world.n, world.N
        result = np.empty_like(nature.rows)
        for trial in range(draw.trials):
            pair, rows, rates = known[trial], nature.rows[trial], nature.rates[trial]
            same = bool((pair[0] == pair[1]).all())
            if same:
                kept = pair[:1]
            elif total > 1 and rng.random() < (n - 1) / (total - 1):
                kept = pair
            else:
                kept = pair[rng.integers(0, 2)][None]
            sampled = rows[~(rows[:, None] == pair[None]).all(axis=2).any(axis=1)]
            # The population without the pair: `sampled` of it was drawn, the rest was not.
            rest, count = total - (1 if same else 2), n - len(kept)
            shared = (
                int(rng.hypergeometric(len(sampled), rest - len(sampled), count)) if count else 0
            )
            fresh = world._rows(sampled, rates, count, shared, rng)
            result[trial] = rng.permutation(np.concatenate([kept, fresh]))
        return result

    def surprisal(self, world: Any, draw: Draw, known: Batch, index: Array) -> NDArray[np.float64]:
        """Give ``h(x | K, the other rows)`` in bits.

        A candidate whose companion is not among the other rows is one of two equally likely
        rows: one bit. With the companion among them the last row is the candidate with
        probability ``2 / (N - n + 2)``. A row that is no candidate stays as surprising as it was.
        """
        trials = np.arange(draw.trials)
        row = draw.data[trials, index]
        named = (known == row[:, None]).all(axis=2)
        companion = np.where(named[:, 0, None], known[:, 1], known[:, 0])
        among = (draw.data == companion[:, None]).all(axis=2)
        among[trials, index] = False
        told = np.where(among.any(axis=1), math.log2((world.N - world.n + 2) / 2), 1.0)
        plain = world.surprisal(draw, index)
        return np.where(named.any(axis=1), np.minimum(told, plain), plain)


@dataclass(frozen=True)
class Hidden:
    """The attacker is told ``Nature`` itself (Example 1.5: the list of possible rows)."""

    def check(self, world: World) -> None:
        """Refuse worlds without a ``Nature``."""
        if world.draw(1, np.random.default_rng(0)).nature is None:
            raise _no_world("nature", world, "worlds with a meta-prior: superset, tardos, finite")

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Any:
        """Give ``Nature``; of the Tardos prior, the rates."""
        return draw.nature.rates if isinstance(draw.nature, TardosNature) else draw.nature

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets from the same ``Nature``: knowing it changes nothing."""
        return world.fresh(draw, rng)

    def surprisal(self, world: Any, draw: Draw, known: Batch, index: Array) -> NDArray[np.float64]:
        """Give ``h(x | rates)`` in bits under the Tardos prior."""
        if not isinstance(world, Tardos):
            raise _no_world("nature with surprisal", world, "tardos")
        row = draw.data[np.arange(draw.trials), index]
        with np.errstate(divide="ignore"):
            return -np.log2(np.where(row == 1, known, 1 - known)).sum(axis=1)


@dataclass(frozen=True)
class Hiding:
    """The rows of the data set hidden among random others (Example 1.4).

    Parameters
    ----------
    size
        Rows of the list, the ones of the data set included.
    """

    size: int

    def check(self, world: World) -> None:
        """Refuse all worlds but uniform rows, and lists shorter than the data set."""
        if not isinstance(world, Uniform):
            raise _no_world("superset", world, "uniform")
        integer("size", self.size, low=world.n)

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Give the list, shape (trials, size, d), in random order."""
        others = world.rows((draw.trials, self.size - world.n), rng)
        return rng.permuted(
            np.concatenate([draw.data, others], axis=1).view(f"V{draw.data.itemsize * world.d}"),
            axis=1,
        ).view(draw.data.dtype)

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        """Draw ``n`` rows of the list without repetition: given the list, all are alike."""
        order = np.argsort(rng.random((draw.trials, self.size)), axis=1)[:, : world.n]
        return known[np.arange(draw.trials)[:, None], order]


@dataclass(frozen=True)
class Told:
    """A function of the data set that the user wrote, ``K = function(data)``.

    Fresh data sets are drawn until they lead to the same ``K``. The function must not be random.

    Parameters
    ----------
    function
        Takes one data set, gives what is told (compared with ``==``).
    tries
        Fresh data sets to try for each trial.
    """

    function: Callable[[Any], Any]
    tries: int = 10_000

    def check(self, world: World) -> None:
        """Refuse a function that is random, or that no data set repeats."""
        draw = world.draw(1, np.random.default_rng(0))
        if not _same(self.function(draw.data[0]), self.function(draw.data[0])):
            raise InputError("side information must be a function of the data set, not random")

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> list[Any]:
        """Tell the attacker about each trial."""
        return [self.function(data) for data in draw.data]

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets until each leads to what was told."""
        result: list[Any] = [None] * draw.trials
        open_trials = list(range(draw.trials))
        for _ in range(self.tries):
            fresh = world.fresh(draw, rng)
            still: list[int] = []
            for trial in open_trials:
                if _same(self.function(fresh[trial]), known[trial]):
                    result[trial] = fresh[trial]
                else:
                    still.append(trial)
            open_trials = still
            if not still:
                return np.asarray(result) if isinstance(draw.data, np.ndarray) else result
        raise InputError(
            f"side information contradicts every fresh data set that was tried: none of "
            f"{self.tries} led to {known[open_trials[0]]!r}. Tell less, raise `tries`, or write a "
            "side information with its own `fresh`"
        )

    def label(self, enumeration: Enumeration) -> list[Any]:
        """Give what is told of each data set of a world that is written out."""
        return [self.function(data) for data in enumeration.data]


def _same(left: Any, right: Any) -> bool:
    return bool(np.array_equal(left, right))


def refine(enumeration: Enumeration, side: Any) -> Enumeration:
    """Split every ``Nature`` by what the attacker is told, for side information with ``label``.

    Raises
    ------
    InputError
        The kind of side information cannot be written out.
    """
    if side is None:
        return enumeration
    if isinstance(side, Hidden):
        count = len(enumeration.weight)
        return Enumeration(
            enumeration.data,
            enumeration.weight,
            enumeration.sample,
            enumeration.fresh,
            np.arange(count),
            list(np.arange(count)),
        )
    if not hasattr(side, "label"):
        raise InputError(
            f"the side information {type(side).__name__} cannot be written out for an exact "
            "answer; play the study instead"
        )
    told = side.label(enumeration)
    keys = [np.asarray(k).tobytes() if isinstance(k, np.ndarray) else repr(k) for k in told]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    group = np.asarray([numbers[key] for key in keys])
    labels = [told[keys.index(key)] for key in numbers]
    weight: list[float] = []
    sample: list[Array] = []
    fresh: list[Array] = []
    known: list[int] = []
    for nature, chance in enumerate(enumeration.weight):
        for number in range(len(numbers)):
            mask = group == number
            inside = enumeration.sample[nature] * mask
            total = inside.sum()
            if chance * total <= 0:
                continue
            other = enumeration.fresh[nature] * mask
            if other.sum() <= 0:
                raise InputError("side information contradicts every fresh data set")
            weight.append(chance * total)
            sample.append(inside / total)
            fresh.append(other / other.sum())
            known.append(number)
    return Enumeration(
        enumeration.data,
        np.asarray(weight),
        np.asarray(sample),
        np.asarray(fresh),
        np.asarray(known),
        labels,
    )
