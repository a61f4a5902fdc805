"""Rows from a plain function of the user's: a data frame of people in, one of rows out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._pandas import pd
from narcissus._validation import arity
from narcissus.errors import InputError
from narcissus.mechanisms.marginals import Codes
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.declared import DeclaredRows
from narcissus.worlds.finite import asked


@dataclass(frozen=True)
class OwnSynthesizer(DeclaredRows):
    """Rows that a function of your own makes of the people.

    Parameters
    ----------
    function
        ``function(frame)`` or ``function(frame, rng)``: a data frame of the people, a categorical
        column of texts each, to a data frame of rows in the same columns, with values that are in
        the data. Its coins must come from ``rng``, or the run cannot be repeated.
    epsilon
        Privacy level that the function is declared to keep; nothing is declared if left out.
    delta
        Of the declared level; 0 if left out.
    adjacency
        Which neighbours the declared level is about; converted to a replaced record.
    deterministic
        Whether it is meant to give the same rows for the same people; otherwise two equal releases
        are taken for a fixed seed, and refused.
    """

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """The function by its name."""
        return f"the function `{getattr(self.function, '__name__', repr(self.function))}`"

    def maker(self, columns: Columns) -> Callable[[Codes, np.random.Generator], Codes]:
        """Call the function with a data frame."""
        return _Caller(self.function, columns, self.name)


@dataclass(frozen=True)
class _Caller:
    function: Callable[..., Any]
    columns: Columns
    name: str

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        arguments = (self.columns.frame(codes), rng)[: arity(self.function, 2)]
        found = asked("mechanism", self.function, *arguments)
        if not isinstance(found, pd.DataFrame):
            raise InputError(f"{self.name} must give a data frame, got {type(found).__name__}")
        return rows_of(found, self.columns, of=f"what {self.name} gives")


def rows_of(frame: pd.DataFrame, columns: Columns, *, of: str) -> Codes:
    """Return released rows as value numbers, shape (rows, d); none at all are refused."""
    rows = columns.codes(frame, of=of)
    if len(rows) == 0:
        raise InputError(f"{of} has no rows")
    return rows
