"""Priors of a secret with few enough values to be written out, likeliest first or as listed.

A model that is trained on a secret holds a number for each of its values, so distributions over
very many values (nine digits) are scaled down, as published.

Source: Swanberg et al. 2025, sections 5.1 and 5.2.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._files import open_text, parsing
from narcissus._options import BesideStudy, FilledIn
from narcissus._validation import distribution, integer
from narcissus._visible import cell
from narcissus.errors import InputError
from narcissus.priors.zipf import Zipf

FloatArray = NDArray[np.float64]

MOST = 10_000
"""Most values of a secret."""
_LARGEST = 2**26  # bytes of a list of names
_SHIPPED = Path(__file__).with_name("first_names.csv")
_PII = (0.525, 0.15, 0.09, 0.065, 0.05, 0.04, 0.03, 0.02, 0.017, 0.013)


@dataclass(frozen=True)
class SecretPrior:
    """The distribution of a secret over at least two values."""

    chances: tuple[float, ...]  # probability of each value; they sum to 1
    values: tuple[str, ...] = ()  # texts of the values, one each; empty where they are only numbers
    words: str = "listed"  # description for a reader, such as "Zipf, s = 1.1"

    def __post_init__(self) -> None:
        distribution("chances", self.chances)
        integer("number of values", len(self.chances), low=2, high=MOST)
        if self.values and len(set(self.values)) != len(self.chances):
            raise InputError(
                f"`values` must be {len(self.chances)} different texts, one for each of `chances`"
            )

    @classmethod
    def weighed(cls, weights: ArrayLike, values: Sequence[str], words: str) -> Self:
        """Build one from weights that need not sum to 1."""
        found = np.asarray(weights, dtype=np.float64)
        return cls(tuple((found / found.sum()).tolist()), tuple(values), words)

    @property
    def weights(self) -> FloatArray:
        """The probabilities as an array, shape (values,)."""
        return np.asarray(self.chances, dtype=np.float64)

    @property
    def guess(self) -> float:
        """Success of naming the likeliest value without any release."""
        return max(self.chances)


def uniform_secret(n: int = 10) -> SecretPrior:
    """Draw each value with the same probability, as canaries are commonly planted.

    Parameters
    ----------
    n
        Number of values.
    """
    count = integer("n", n, low=2, high=MOST)
    return SecretPrior.weighed(np.ones(count), (), f"uniform over {count}")


def zipf_secret(s: float = 1.1, n: int = 10) -> SecretPrior:
    """Draw by Zipf's law, as popular passwords are.

    Parameters
    ----------
    s
        Exponent, at least 0.
    n
        Number of values.
    """
    law = Zipf(s, integer("n", n, low=2, high=MOST))
    chances = [law.probability(rank) for rank in range(1, n + 1)]
    return SecretPrior.weighed(chances, (), f"Zipf over {n}, s = {s:g}")


def names_secret(
    file: Annotated[str | None, BesideStudy()] = None,
    n: int | None = None,
    folder: Annotated[str, FilledIn()] = ".",
) -> SecretPrior:
    """Draw a name by its frequency in a file, or in the 100 first names of the US census of 1990.

    Parameters
    ----------
    file
        A name a line, repeated as often as it occurs, or `name,weight`. Left out: the 50 commonest
        first names each of women and men, with equal numbers of both.
    n
        Keep only this many, the commonest, with shares scaled up to 1; all if left out.
    """
    path = _SHIPPED if file is None else Path(folder) / file
    weights = _read_names(path)
    order = sorted(weights, key=lambda name: -weights[name])
    kept = order if n is None else order[: integer("n", n, low=2, high=MOST)]
    if not 2 <= len(kept) <= MOST:
        raise InputError(
            f"{path.name} has {len(kept):,} different names; a secret needs 2 to {MOST:,} values: "
            "keep the commonest with `n`"
        )
    said = f"{len(kept)} first names" if file is None else f"{len(kept)} names of {path.name}"
    return SecretPrior.weighed([weights[name] for name in kept], kept, said)


def pii_secret() -> SecretPrior:
    """Draw one of ten values as uneven as names in their context: .525 for the likeliest.

    The published prior over ten is not printed; this one has its likeliest value, and the others
    are assumed.
    """
    return SecretPrior.weighed(_PII, (), "PII-like over 10, assumed")


def listed_secret(chances: Sequence[float], values: Sequence[str] = ()) -> SecretPrior:
    """Draw by probabilities listed in the study.

    Parameters
    ----------
    chances
        Probability of each value; they sum to 1.
    values
        Different texts, one for each value; left out, the values are numbers.
    """
    return SecretPrior(tuple(chances), tuple(values), f"listed over {len(chances)}")


def read_values(path: Path) -> list[tuple[str, float]]:
    """Read a value a line, or ``value,weight``; a first line whose weight is a word is skipped."""
    with parsing(path, "a list of values, one a line"), open_text(path, largest=_LARGEST) as file:
        lines = [line for line in csv.reader(file) if line and line[0].strip()]
    found: list[tuple[str, float]] = []
    for number, line in enumerate(lines):
        try:
            weight = float(line[1]) if len(line) > 1 else 1.0
        except ValueError:
            weight = np.nan
        if number == 0 and len(line) > 1 and np.isnan(weight):
            continue
        if len(line) > 2 or not 0 < weight < np.inf:
            raise InputError(
                f"{path}: each line must be a value, or a value, a comma and a weight above 0; "
                f"line {number + 1} (blank ones left out) is {cell(','.join(line)[:80])}"
            )
        found.append((line[0].strip(), weight))
    return found


def _read_names(path: Path) -> dict[str, float]:
    weights: dict[str, float] = {}
    for name, weight in read_values(path):
        weights[name] = weights.get(name, 0.0) + weight
    return weights
