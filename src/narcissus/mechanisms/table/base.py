"""What a mechanism of a table study is told, what it offers, and what it releases.

`narcissus.mechanisms.Counts` are cells with independent noise. `ProtectedCounts` are cells that
were rounded or withheld. `Microdata` are rows; they can be counted. Anything else is an object
that only the user's own attacks can read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus._arrays import Floats
from narcissus._pandas import pd
from narcissus._validation import repeated
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.noise import Noise
from narcissus.mechanisms.queries import Codes, MarginalQueries, TableQueries
from narcissus.tables.coding import codes_by_labels
from narcissus.tables.sources import has_index

DEFAULT_DELTA = 1e-5
HIGHEST_EPSILON = 1e9


@dataclass(frozen=True)
class Columns:
    """The columns of a table, which everybody knows."""

    names: tuple[str, ...]  # All different
    labels: tuple[tuple[str, ...], ...]  # Of each column's values
    ordered: tuple[bool, ...]  # Whether a column's values have an order
    unknown: tuple[int, ...]  # Positions of the columns that the attacker does not know

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(len(labels) for labels in self.labels)

    def k_way(self, k: int) -> MarginalQueries:
        """Lay out all tables of ``k`` columns that touch an unknown one; of fewer if need be."""
        return MarginalQueries(self.sizes, self.unknown, min(k, len(self.names)))

    def frame(self, codes: NDArray[np.integer]) -> pd.DataFrame:
        """Return people, shape (n, d), as a frame of labels, one categorical column each."""
        parts = [
            pd.Series(pd.Categorical(np.array(labels)[codes[:, c]], list(labels)), name=name)
            for c, (name, labels) in enumerate(zip(self.names, self.labels, strict=True))
        ]
        return pd.concat(parts, axis=1)

    def codes(self, frame: pd.DataFrame, *, of: str) -> Codes:
        """Return the rows of a data frame as value numbers, shape (rows, d).

        The frame must have every column, in any order, with values that are those of the labels,
        however they are written (`narcissus.tables.spelling`); names are compared by their text. A
        first column without a name is an index, and left out. Errors name what is missing in the
        table or in the frame, and whose rows these are, ``of``: 'the release'.
        """
        names = [str(name) for name in frame.columns]
        if has_index(names):
            frame, names = frame.iloc[:, 1:], names[1:]
        if missing := [name for name in self.names if name not in names]:
            raise InputError(f"{of} lacks the columns {', '.join(map(repr, missing))}")
        if strange := [name for name in names if name not in self.names]:
            raise InputError(
                f"{of} has columns that were not in the data: {', '.join(map(repr, strange))}"
            )
        if twice := sorted(repeated(names)):
            raise InputError(f"{of} has the columns {', '.join(map(repr, twice))} twice")
        named = frame.set_axis(names, axis=1)
        return np.stack(
            [self._column(named[name], c, of=of) for c, name in enumerate(self.names)], axis=1
        )

    def _column(self, values: pd.Series, column: int, *, of: str) -> Codes:
        name, labels = self.names[column], self.labels[column]
        place, distinct = pd.factorize(values)
        label_codes = np.append(codes_by_labels(name, list(distinct), labels), np.int32(-1))
        numbers = label_codes[place]  # the last is that of a missing value
        if (numbers < 0).any():
            strange: Sequence[str] = sorted({str(value) for value in values[numbers < 0]})
            raise InputError(
                f"column '{name}' of {of} has values that were not in the data: "
                f"{', '.join(map(repr, strange[:5]))}" + (" ..." if len(strange) > 5 else "")
            )
        return numbers


class CellRule(Protocol):
    """How a published cell depends on its true count; everybody knows the rule."""

    @property
    def title(self) -> str:
        """What was done to each cell, such as 'rounded to multiples of 5'."""
        ...

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
        """Return the log chance of published values given true counts, broadcast.

        Cells are NaN where withheld, counts whole numbers of at least 0. It is minus infinity
        where the count cannot have led to the value.
        """
        ...


@dataclass(frozen=True, eq=False)
class ProtectedCounts:
    """A release of counts, each cell changed by itself by a known rule, without added noise."""

    queries: TableQueries
    rule: CellRule  # How each cell depends on its count
    cells: Floats  # The published values, shape (cells,); NaN where withheld; not to be written to
    # Whether the rule is the exact chance of each cell, independent of the others; otherwise it
    # only says which counts a cell may have
    cellwise: bool = True


@dataclass(frozen=True, eq=False)
class Microdata:
    """A release of rows, in the columns of the table."""

    rows: Codes  # Value numbers of every column, shape (m, d); not to be written to

    def counts(self, queries: TableQueries, people: int) -> Floats:
        """Return the cells of tables of so many people, counted from the rows, shape (cells,)."""
        return queries.counts(self.rows) * (people / max(1, len(self.rows)))


class Prepared(Protocol):
    """A mechanism that knows the columns of its table: everything that a game asks of it."""

    @property
    def queries(self) -> TableQueries:
        """The tables that it releases, or that its rows are counted into."""
        ...

    @property
    def releases(self) -> type:
        """What it releases: `Counts`, `ProtectedCounts`, `Microdata`, or `object`."""
        ...

    @property
    def guarantee(self) -> Guarantee | None:
        """What it guarantees when one person's record is replaced; None for nothing."""
        ...

    @property
    def assumes(self) -> tuple[str, ...]:
        """What must hold for the guarantee to do so: what a user declared, and nobody checked."""
        ...

    @property
    def must_vary(self) -> bool:
        """Whether two equal releases of the same people show a fixed seed of a user's generator."""
        ...

    @property
    def noise(self) -> Noise | None:
        """The independent noise on every cell; None where there are no such cells."""
        ...

    @property
    def cellwise(self) -> bool:
        """Whether each cell depends on its own count alone, by a known density or rule.

        Then what an attacker knows who is told everybody else's secrets can be computed: the
        ceiling, and the exact chance of every guess.
        """
        ...

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[Any]:
        """Release each data set; ``data`` are value numbers, shape (trials, n, d)."""
        ...


class TableMechanism(ABC):
    """What is planned to be released of a table: a `[mechanism]` of a table study."""

    @property
    @abstractmethod
    def label(self) -> str:
        """A name for tables and figures, such as 'ε = 1' or 'base 5'."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is released, in words that a title can begin with: 'Rounded 3-way tables'."""

    @property
    def strength(self) -> float | None:
        """Grows with protection, to order the levels of a sweep; None where nothing is known."""
        return None

    @abstractmethod
    def prepare(self, columns: Columns) -> Prepared:
        """Return the mechanism for a table of these columns; refuse what it cannot release."""

    def point(self, guarantee: Guarantee) -> tuple[float | None, float]:
        """Return one point (epsilon, delta) of the guarantee, to compare; None if it has none."""
        return epsilon_at(guarantee, DEFAULT_DELTA), DEFAULT_DELTA


class Named(TableMechanism):
    """A mechanism whose names are templates of its options, and which one of them may order."""

    names: ClassVar[tuple[str, str]]
    """Label and title, formatted with the mechanism as ``self``."""
    ordered_by: ClassVar[str] = ""
    """The option that grows with protection."""

    @property
    def label(self) -> str:
        return self.names[0].format(self=self)

    @property
    def title(self) -> str:
        return self.names[1].format(self=self)

    @property
    def strength(self) -> float | None:
        return float(getattr(self, self.ordered_by)) if self.ordered_by else None


def epsilon_at(guarantee: Guarantee, delta: float) -> float | None:
    """Return the epsilon at which the profile reaches ``delta``; None where it never does."""
    if not 0 < delta < float(guarantee.profile(0.0)):
        return None
    high = 1.0
    while float(guarantee.profile(high)) > delta:
        high *= 2
        if high > HIGHEST_EPSILON:  # as of (epsilon, delta) with a larger delta
            return None
    return float(optimize.brentq(lambda e: float(guarantee.profile(e)) - delta, 0.0, high))
