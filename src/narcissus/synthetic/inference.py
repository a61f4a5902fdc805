"""Inference: guess what is unknown about a person from the rows of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.synthetic.files import GivenFiles
from narcissus.synthetic.keys import keys_of
from narcissus.synthetic.nearest import CLOSE, distances

Positions = NDArray[np.int64]
Wins = NDArray[np.bool_]


@dataclass(frozen=True)
class Inference:
    """Guess the joint value of some columns of a person who is known in others.

    Attributes
    ----------
    files
        The files.
    unknown
        Positions of the columns to guess; all must be right.
    known
        Positions of the columns that the attacker knows.
    """

    files: GivenFiles
    unknown: Sequence[int]
    known: Sequence[int]

    def attempts(self) -> dict[str, Callable[[Positions, Positions], Wins]]:
        """Give the attacks by name: of ``(people, rows)`` each says whom it guesses right."""
        return {
            "nearest record": partial(self._vote, neighbours=1),
            "ten nearest records": partial(self._vote, neighbours=10),
            "naive Bayes": self._bayes,
        }

    def _secrets(self, people: Positions, rows: Positions) -> tuple[Positions, Positions]:
        """Give the joint values of people and rows as numbers from 0."""
        codes = self.files.table.codes[np.concatenate([people, rows])]
        keys = keys_of(codes[:, list(self.unknown)])
        return keys[: len(people)], keys[len(people) :]

    def _vote(self, people: Positions, rows: Positions, *, neighbours: int) -> Wins:
        """Guess the most frequent value among the nearest rows, all that tie included."""
        truth, seen = self._secrets(people, rows)
        values, seen = np.unique(seen, return_inverse=True)
        ballots = np.zeros((len(rows), len(values)), np.float32)
        ballots[np.arange(len(rows)), seen] = 1
        # where votes tie, for the value that is more frequent in the file
        frequent = np.bincount(seen) / (2 * len(rows))
        guess = np.empty(len(people), np.int64)
        place = min(neighbours, len(rows)) - 1
        for block, apart in distances(self.files.table, people, rows, self.known):
            reach = np.partition(apart, place, axis=1)[:, [place]] if place else None
            reach = apart.min(axis=1, keepdims=True) if reach is None else reach
            votes = (apart <= reach + CLOSE).astype(np.float32) @ ballots
            guess[block] = (votes + frequent).argmax(axis=1)
        return values[guess] == truth

    def _bayes(self, people: Positions, rows: Positions) -> Wins:
        """Guess the most probable value if the known columns are independent given it."""
        truth, seen = self._secrets(people, rows)
        values, seen = np.unique(seen, return_inverse=True)
        times = np.bincount(seen)
        beliefs = np.tile(np.log(times), (len(people), 1))
        for column in self.known:
            codes = self.files.coarse[:, column]
            size = int(codes.max()) + 1
            counts = np.zeros((size, len(values)))
            np.add.at(counts, (codes[rows], seen), 1)
            # half a row is added to each cell (Krichevsky and Trofimov 1981)
            likely = np.log(counts + 0.5) - np.log(times + 0.5 * size)
            beliefs += likely[codes[people]]
        return values[first_largest(beliefs)] == truth
