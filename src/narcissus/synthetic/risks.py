"""What is asked of a file, and what came of it: a risk, its secret, and for whom it came true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.files import MOST_CODES, GivenFiles

RiskName = Literal["inference", "singling out", "linkability"]
RISKS: tuple[RiskName, ...] = ("inference", "singling out", "linkability")
"""The three risks that anonymisation must rule out (Article 29 Working Party 2014, Opinion 05)."""


@dataclass(frozen=True)
class FileThreat:
    """What the attacker is after.

    Attributes
    ----------
    unknown
        Columns to guess, one by one and together; the attacker knows all other columns.
    linked
        Two sets of columns to link; None tries random divisions of all columns.
    people
        Most people of each file that are tried, drawn at random.
    """

    unknown: tuple[str, ...]
    linked: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    people: int = 10_000

    def secrets(self, files: GivenFiles) -> dict[str, tuple[int, ...]]:
        """Give the columns of each secret by its name.

        Raises
        ------
        InputError
            A column does not exist, is named twice or has too many values, or none is known.
        """
        table = files.table
        columns = tuple(table.index(name) for name in self.unknown)
        if not columns or len(set(columns)) < len(columns):
            raise InputError("`unknown` must name at least one column, and none twice")
        if len(columns) == table.columns:
            raise InputError("`unknown` names every column: the attacker must know at least one")
        for name, j in zip(self.unknown, columns, strict=True):
            if table.sizes[j] > MOST_CODES:
                raise InputError(
                    f"the unknown column `{name}` has {table.sizes[j]:,} values, more than "
                    f"{MOST_CODES}: to guess one of them exactly is not the question; give it bins"
                )
        secrets = {name: (j,) for name, j in zip(self.unknown, columns, strict=True)}
        return secrets if len(columns) == 1 else {**secrets, " and ".join(self.unknown): columns}

    def division(self, files: GivenFiles) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Give the positions of the two sets of columns to link.

        Raises
        ------
        InputError
            A column does not exist, or the sets are empty or share a column.
        """
        if self.linked is None:
            return None
        one, other = (tuple(files.table.index(name) for name in names) for names in self.linked)
        if not one or not other or set(one) & set(other):
            raise InputError("`linked` must be two sets of columns that share none, neither empty")
        return one, other


@dataclass(frozen=True)
class Risk:
    """One risk, and for whom it came true.

    Attributes
    ----------
    risk
        Its name.
    secret
        What is guessed; empty where it is no guess.
    attack
        The attack that was chosen.
    tried
        For each attack, how often it succeeded on the people that it was chosen on, of the real
        data and of the control; None where there is no control.
    real, control
        Whether it succeeded, for each person scored; ``control`` is None where there is none.
    guess
        The best guess without the release; empty where it is no guess.
    guessed_real, guessed_control
        Whether that was right, for each person scored.
    facts
        Numbers that belong to the attack, by what they are.
    """

    risk: RiskName
    secret: str
    attack: str
    tried: Mapping[str, tuple[float, float | None]]
    real: NDArray[np.bool_]
    control: NDArray[np.bool_] | None
    guess: str = ""
    guessed_real: NDArray[np.bool_] | None = None
    guessed_control: NDArray[np.bool_] | None = None
    facts: Mapping[str, int] = field(default_factory=dict[str, int])

    def counts(
        self, real: NDArray[np.bool_] | None = None, control: NDArray[np.bool_] | None = None
    ) -> TwoSamples | None:
        """Give the successes of both sides, of those people only where a mask is given.

        None where one side has nobody.
        """
        if self.control is None:
            return None
        ours = self.real if real is None else self.real[real]
        theirs = self.control if control is None else self.control[control]
        if not ours.size or not theirs.size:
            return None
        return TwoSamples(int(ours.sum()), ours.size, int(theirs.sum()), theirs.size)
