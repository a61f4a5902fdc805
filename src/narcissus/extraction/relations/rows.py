"""Outputs as rows of numbers: close to an isolated item, or to several items."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import distance

from narcissus._validation import between, integer, positive
from narcissus.errors import InputError
from narcissus.extraction.files import DataSet, parse_rows
from narcissus.extraction.relations.base import OutputRelation, text_of

Rows = NDArray[np.float64]


def printed(rows: Rows) -> bytes:
    """Print rows, one a line, to the last bit."""
    return "\n".join(" ".join(map(repr, row)) for row in rows.tolist()).encode()


def _output_rows(output: bytes, columns: int) -> Rows | None:
    text = text_of(output)
    rows = None if text is None else parse_rows(text)
    return rows if rows is not None and rows.shape[1] == columns else None


def _coarse(rows: Rows, radius: float) -> Iterator[bytes]:
    """Print rows as coarsely as ``radius`` may allow, as whole multiples of steps where possible.

    The steps halve from too coarse to fine; the caller keeps the valid outputs.
    """
    step = 4 * radius / math.sqrt(rows.shape[1])
    for _ in range(6):
        digits = max(0, math.ceil(-math.log10(step)) + 1)
        rounded = np.round(rows / step) * step
        yield (
            "\n".join(
                " ".join(f"{x:.{digits}f}".rstrip("0").rstrip(".") or "0" for x in row)
                for row in rounded
            )
            .replace("-0 ", "0 ")
            .encode()
        )
        step /= 2


def _first_that_counts(
    relation: OutputRelation, data: DataSet, rows: Rows, radius: float
) -> Iterator[bytes]:
    for output in _coarse(rows, radius):
        if relation.counts(data, output):
            yield output


@dataclass(frozen=True)
class Near(OutputRelation):
    """Relation (b), for diffusion models: close to an item that is far from all others.

    The first row of the output lies within ``radius`` of a row of the data whose distance to every
    other row is above ``isolation``. Departing from the paper, copies of the same row count as one
    row (``merge_copies``): otherwise a duplicated item, the very one that models memorise, could
    never count.

    Source: Cohen et al. 2024, D.3.

    Parameters
    ----------
    radius
        Largest L2 distance to the item.
    isolation
        Least distance of the item to all others.
    merge_copies
        Count copies of one row as one item.
    """

    radius: float
    isolation: float
    merge_copies: bool = True

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        positive("isolation", self.isolation)
        if self.radius >= self.isolation:
            raise InputError(
                f"`radius` must be below `isolation`, got {self.radius} and {self.isolation}"
            )

    def isolated(self, data: DataSet) -> Rows:
        """Return the rows of the data that are far from all others."""
        return _isolated(data, self.isolation, self.merge_copies)

    def counts(self, data: DataSet, output: bytes) -> bool:
        rows = _output_rows(output, data.rows.shape[1])
        isolated = self.isolated(data)
        if rows is None or not isolated.size:
            return False
        return bool((distance.cdist(rows[:1], isolated) < self.radius).any())

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield the isolated items that compress best, as coarsely as the radius allows."""
        isolated = self.isolated(data)
        for row in isolated[:64]:
            yield from _first_that_counts(self, data, row[None], self.radius)

    def describe(self) -> str:
        return (
            f"the output is within {self.radius:g} (L2) of an item of the data that is farther "
            f"than {self.isolation:g} from all others"
        )


@lru_cache(maxsize=32)
def _isolated(data: DataSet, isolation: float, merge_copies: bool) -> Rows:
    rows = np.unique(data.rows, axis=0) if merge_copies else data.rows
    if rows.shape[0] == 1:
        return rows
    keep = np.empty(rows.shape[0], dtype=np.bool_)
    for start in range(0, rows.shape[0], 1024):
        block = distance.cdist(rows[start : start + 1024], rows)
        block[np.arange(block.shape[0]), start + np.arange(block.shape[0])] = np.inf
        keep[start : start + 1024] = block.min(axis=1) > isolation
    return rows[keep]


@dataclass(frozen=True)
class Close(OutputRelation):
    """Relation (c), for classifiers: at least ``at_least`` rows have a close reconstruction.

    Close means an L2 distance below ``radius`` or, if ``correlation`` is given, a normalised
    cross-correlation of at least that.

    Source: Cohen et al. 2024, D.3.

    Parameters
    ----------
    at_least
        Items that must have a reconstruction.
    radius
        Largest L2 distance.
    correlation
        Or least normalised cross-correlation, in (0, 1].
    """

    at_least: int
    radius: float | None = None
    correlation: float | None = None

    def __post_init__(self) -> None:
        integer("at_least", self.at_least, low=1)
        if (self.radius is None) == (self.correlation is None):
            raise InputError("give one of `radius` and `correlation`")
        if self.radius is not None:
            positive("radius", self.radius)
        if self.correlation is not None:
            between("correlation", self.correlation, 0, 1, open_low=True)

    def reconstructed(self, data: Rows, rows: Rows) -> NDArray[np.bool_]:
        """Check whether each row of the data has a close row in the output, shape (n,)."""
        if self.radius is not None:
            return distance.cdist(data, rows).min(axis=1) < self.radius
        assert self.correlation is not None
        return (normalised(data) @ normalised(rows).T).max(axis=1) >= self.correlation

    def counts(self, data: DataSet, output: bytes) -> bool:
        rows = _output_rows(output, data.rows.shape[1])
        return rows is not None and int(self.reconstructed(data.rows, rows).sum()) >= self.at_least

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield the fewest rows that suffice, those that compress best, as coarsely as possible."""
        rows = data.rows
        if rows.shape[0] < self.at_least:
            return
        norms = np.linalg.norm(rows - rows.mean(axis=1, keepdims=True), axis=1)
        radius = self.radius
        if radius is None:
            assert self.correlation is not None
            radius = float(np.median(norms) * math.sqrt(2 * (1 - self.correlation)) + 1e-9)
        sizes = [len(zlib.compress(next(_coarse(row[None], radius)))) for row in rows]
        for pool in (np.argsort(sizes, kind="stable"), np.argsort(norms, kind="stable")):
            yield from _first_that_counts(self, data, rows[pool[: self.at_least]], radius)

    def describe(self) -> str:
        how = (
            f"within {self.radius:g} (L2)"
            if self.radius is not None
            else f"at a normalised cross-correlation of {self.correlation:g} or more"
        )
        return f"at least {self.at_least} item(s) of the data have a reconstruction {how}"


def normalised(rows: Rows) -> Rows:
    """Scale rows to mean 0 and length 1, for normalised cross-correlation; flat rows to 0."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.divide(centred, length, out=np.zeros_like(centred), where=length > 1e-12)
