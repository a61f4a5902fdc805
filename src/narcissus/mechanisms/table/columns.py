"""What a mechanism is told of a table before it sees anybody: its columns and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._pandas import pd
from narcissus.errors import InputError
from narcissus.tables.coding import codes_by_labels
from narcissus.tables.sources import has_index

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Columns:
    """The columns of a table, which everybody knows.

    Attributes
    ----------
    names
        Names of the columns, all different.
    labels
        Labels of each column's values.
    ordered
        Whether a column's values have an order.
    unknown
        Positions of the columns that the attacker does not know.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    ordered: tuple[bool, ...]
    unknown: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(len(labels) for labels in self.labels)

    def frame(self, codes: NDArray[np.integer]) -> pd.DataFrame:
        """Return people as a data frame of labels, one categorical column each.

        Parameters
        ----------
        codes
            Value numbers, shape (n, d).
        """
        parts = [
            pd.Series(pd.Categorical(np.array(labels)[codes[:, c]], list(labels)), name=name)
            for c, (name, labels) in enumerate(zip(self.names, self.labels, strict=True))
        ]
        return pd.concat(parts, axis=1)

    def codes(self, frame: pd.DataFrame, *, of: str) -> Codes:
        """Return the rows of a data frame as value numbers, shape (rows, d).

        Parameters
        ----------
        frame
            Must have every column, in any order, with values that are those of the labels, however
            they are written (`narcissus.tables.spelling`); names are compared by their text. A
            first column without a name is an index, and left out.
        of
            Whose rows these are, for errors: 'the release'.

        Raises
        ------
        InputError
            A column or value is missing in the table or in the frame; each is named.
        """
        found = [str(name) for name in frame.columns]
        if has_index(found):
            frame, found = frame.iloc[:, 1:], found[1:]
        if missing := [name for name in self.names if name not in found]:
            raise InputError(f"{of} lacks the columns {', '.join(map(repr, missing))}")
        if strange := [name for name in found if name not in self.names]:
            raise InputError(
                f"{of} has columns that were not in the data: {', '.join(map(repr, strange))}"
            )
        if twice := sorted({name for name in found if found.count(name) > 1}):
            raise InputError(f"{of} has the columns {', '.join(map(repr, twice))} twice")
        named = frame.set_axis(found, axis=1)
        return np.stack(
            [self._column(named[name], c, of=of) for c, name in enumerate(self.names)], axis=1
        )

    def _column(self, values: pd.Series, column: int, *, of: str) -> Codes:
        name, labels = self.names[column], self.labels[column]
        place, distinct = pd.factorize(values)
        found = np.append(codes_by_labels(name, list(distinct), labels), np.int32(-1))
        numbers = found[place]  # the last is that of a missing value
        if (numbers < 0).any():
            strange: Sequence[str] = sorted({str(value) for value in values[numbers < 0]})
            raise InputError(
                f"column '{name}' of {of} has values that were not in the data: "
                f"{', '.join(map(repr, strange[:5]))}" + (" ..." if len(strange) > 5 else "")
            )
        return numbers
