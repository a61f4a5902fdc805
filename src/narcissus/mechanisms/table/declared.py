"""Rows from somebody else's generator, with the guarantee that its user declares."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from narcissus._validation import non_negative, probability
from narcissus.errors import InputError
from narcissus.guarantees import Adjacency, ApproximateDP, Guarantee, PureDP, as_replace_one
from narcissus.mechanisms.marginals import Codes
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.rows import PreparedRows


@dataclass(frozen=True, kw_only=True)
class DeclaredRows(TableMechanism):
    """Rows that code of the user's makes; what is proved of them holds if the declaration does.

    A subclass gives ``name`` and ``maker``.
    """

    # epsilon, delta: Level that the generator is declared to keep; without epsilon it is
    # declared none
    epsilon: float | None = None
    delta: float | None = None
    adjacency: Adjacency = "replace-one"  # Which neighbours the level is about
    deterministic: bool = False  # Whether it is meant to give the same rows for the same people

    def __post_init__(self) -> None:
        """Refuse a declaration that says nothing, or that nothing deterministic can keep."""
        if self.epsilon is None:
            if self.delta is not None:
                raise InputError("`delta` is declared with an `epsilon`: give both or neither")
            return
        non_negative("epsilon", self.epsilon)
        if self.delta is not None:
            probability("delta", self.delta)
        if self.deterministic:
            raise InputError(
                "`deterministic` rows that depend on the people keep no `epsilon`: leave one out"
            )

    @property
    @abstractmethod
    def name(self) -> str:
        """What the generator is called, with its kind: 'the program `python synth.py`'."""

    @abstractmethod
    def maker(self, columns: Columns) -> Callable[[Codes, np.random.Generator], Codes]:
        """Return what makes rows of rows, for a table of these columns."""

    @property
    def label(self) -> str:
        """The declared level; without one the name."""
        return self.name if self.epsilon is None else f"ε = {self.epsilon:g}"

    @property
    def title(self) -> str:
        """What is released, as a title begins."""
        return f"Rows of {self.name}"

    @property
    def strength(self) -> float | None:
        """The inverse of the declared level."""
        if self.epsilon is None:
            return None
        return np.inf if self.epsilon == 0 else 1 / self.epsilon

    @property
    def declared(self) -> Guarantee | None:
        """What is declared, about one person's record replaced."""
        if self.epsilon is None:
            return None
        if not self.delta:
            return as_replace_one(PureDP(self.epsilon, adjacency=self.adjacency))
        return as_replace_one(ApproximateDP(self.epsilon, self.delta, adjacency=self.adjacency))

    def prepare(self, columns: Columns) -> PreparedRows:
        """Take the declaration as it is, and say that it is assumed."""
        guarantee = self.declared
        return PreparedRows.of(
            columns,
            self.maker(columns),
            guarantee,
            assumes=() if guarantee is None else (self._assumed(guarantee),),
            must_vary=not self.deterministic,
        )

    def _assumed(self, guarantee: Guarantee) -> str:
        return f"{self.name} keeps what was declared of it, {guarantee.describe()}"
