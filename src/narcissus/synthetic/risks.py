"""Threats to a file and their results: a risk, its secret, and for whom it came true."""

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
    """The attacker's targets.

    unknown: columns to guess, one by one and together; the attacker knows all other columns.
    linked: two sets of columns to link; None tries random divisions of all columns.
    people: most people to try from each file, drawn at random.
    """

    unknown: tuple[str, ...]
    linked: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    people: int = 10_000

    def secrets(self, files: GivenFiles) -> dict[str, tuple[int, ...]]:
        """Return the columns of each secret by its name.

        Raises InputError: a column does not exist, is named twice or has too many values, or none
            is known.
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
        """Return the positions of the two sets of columns to link.

        Raises InputError: a column does not exist, or the sets are empty or share a column.
        """
        if self.linked is None:
            return None
        one, other = (tuple(files.table.index(name) for name in names) for names in self.linked)
        if not one or not other or set(one) & set(other):
            raise InputError("`linked` must be two sets of columns that share none, neither empty")
        return one, other


@dataclass(frozen=True)
class Risk:
    """One risk, and for whom it came true."""

    risk: RiskName  # its name
    secret: str  # the guessed secret; empty if nothing is guessed
    attack: str  # the chosen attack
    # for each attack, its success on the people that it was chosen on, of the real data and
    # of the control; None without a control
    tried: Mapping[str, tuple[float, float | None]]
    # real, control: whether it succeeded, for each scored person; ``control`` is None without
    # a control
    real: NDArray[np.bool_]
    control: NDArray[np.bool_] | None
    guess: str = ""  # the best guess without the release; empty if nothing is guessed
    # guessed_real, guessed_control: whether that was right, for each scored person
    guessed_real: NDArray[np.bool_] | None = None
    guessed_control: NDArray[np.bool_] | None = None
    # numbers about the attack, by their meaning
    facts: Mapping[str, int] = field(default_factory=dict[str, int])

    def counts(
        self, real: NDArray[np.bool_] | None = None, control: NDArray[np.bool_] | None = None
    ) -> TwoSamples | None:
        """Return the successes of both sides, within the masks if given; None if one side has
        nobody.
        """
        if self.control is None:
            return None
        ours = self.real if real is None else self.real[real]
        theirs = self.control if control is None else self.control[control]
        if not ours.size or not theirs.size:
            return None
        return TwoSamples(int(ours.sum()), ours.size, int(theirs.sum()), theirs.size)
