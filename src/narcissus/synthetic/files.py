"""The files of an audit, read so that a value has the same code in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from narcissus._pandas import pd
from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.tables import Bins, Table, read_table
from narcissus.tables.coding import MISSING_LABEL
from narcissus.tables.read import MissingPolicy
from narcissus.tables.sources import open_source
from narcissus.tables.tally import RawColumn

Source: TypeAlias = "Path | str | pd.DataFrame | Table"

MOST_ROWS = 2_000_000
"""Most rows of one file."""
MOST_CODES = 200
"""Most values of a column that is to be guessed, or that is counted value by value."""


@dataclass(frozen=True)
class GivenFiles:
    """People who are in the data, a file made from them, and people who are not.

    Attributes
    ----------
    table
        The columns of all rows: those of ``real``, then ``synthetic``, then ``control``.
    real, synthetic, control
        How many rows each has; ``control`` is 0 where there is none.
    coarse
        Shape (rows, columns); the codes, but numbers with more than `MOST_CODES` values in 20
        groups of about equal size.
    """

    table: Table
    real: int
    synthetic: int
    control: int
    coarse: NDArray[np.int32]

    def rows(self, which: str) -> NDArray[np.int64]:
        """Give the positions of "real", "synthetic" or "control" in the table."""
        ends = np.cumsum([0, self.real, self.synthetic, self.control])
        at = ("real", "synthetic", "control").index(which)
        return np.arange(ends[at], ends[at + 1])

    def label(self, name: str, code: int) -> str:
        """Name a coarse value of a column: by its label, or a group of numbers by its ends."""
        column = self.table.index(name)
        codes = self.table.codes[self.coarse[:, column] == code, column]
        labels = self.table.labels[column]
        first, last = labels[codes.min()], labels[codes.max()]
        return first if first == last else f"{first} to {last}"


def read_files(
    real: Source,
    synthetic: Source,
    control: Source | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    bins: Mapping[str, Bins] | None = None,
    missing: MissingPolicy = "refuse",
) -> GivenFiles:
    """Read the files of an audit together.

    Columns of numbers stay numbers: attacks that look for the nearest record take their scaled
    distance, those that count take groups. ``bins`` are the same for all files, as in a table
    study; a column that is to be guessed needs them if it has more than 200 values. Quantiles are
    those of all rows together.

    Parameters
    ----------
    real
        The people that the synthetic file was made from: whatever `read_table` takes.
    synthetic
        The file that was made from them.
    control
        People of the same population who are not in the data; None where there are none.
    columns, drop, bins, missing
        As for `read_table`.

    Raises
    ------
    InputError
        A file cannot be used, the files differ in their columns or in what kind of values they
        hold, or the control is the real data.

    Examples
    --------
    >>> real = pd.DataFrame({"age": [30, 40, 50], "ill": ["no", "yes", "no"]})
    >>> read_files(real, real[::-1]).table.labels
    (('30', '40', '50'), ('no', 'yes'))
    """
    sources = {"real": real, "synthetic": synthetic, "control": control}
    frames = {
        name: _frame(name, source, columns, drop)
        for name, source in sources.items()
        if source is not None
    }
    _same_columns(frames)
    _same_kind(frames)
    if missing == "drop":
        frames = {name: _complete(name, frame) for name, frame in frames.items()}
    for name, frame in frames.items():
        gaps = [str(c) for c in frame.columns if frame[c].isna().any()]
        if missing == "refuse" and gaps:
            raise InputError(
                f"the {name} file has missing values in {_listed(gaps)}: leave those rows out with "
                "missing = 'drop', make them a value of their own with missing = 'category', or "
                "drop the column"
            )
    order = list(frames["real"].columns)
    together = pd.concat([f[order] for f in frames.values()], ignore_index=True)
    table = read_table(
        together,
        bins=bins,
        missing=missing,
        max_values=3 * MOST_ROWS,
        count_above=3 * MOST_ROWS,
    )
    sizes = {name: len(frame) for name, frame in frames.items()}
    found = GivenFiles(
        replace(table, values=tuple(map(_spaced, table.values, table.labels))),
        sizes["real"],
        sizes["synthetic"],
        sizes.get("control", 0),
        np.column_stack([_coarse(table, j) for j in range(table.columns)]).astype(np.int32),
    )
    _refuse_itself(found)
    return found


def _frame(
    name: str, source: Source, columns: Sequence[str] | None, drop: Sequence[str]
) -> pd.DataFrame:
    """Read a file as it stands, each cell a text, a number or None."""
    try:
        if isinstance(source, Table):
            kept = source.select(c for c in columns or source.names if c not in drop)
            raw = [
                RawColumn(n, list(labels), codes.astype(np.int64))
                for n, labels, codes in zip(kept.names, kept.labels, kept.codes.T, strict=True)
            ]
        else:
            raw = open_source(source, columns, drop, MOST_ROWS)[1]
    except InputError as error:
        raise type(error)(f"the {name} file: {error}") from error
    return pd.DataFrame({c.name: np.array([*c.distinct, None], object)[c.codes] for c in raw})


def _same_columns(frames: Mapping[str, pd.DataFrame]) -> None:
    """Refuse files whose columns differ, naming those that do."""
    known = list(map(str, frames["real"].columns))
    for name, frame in frames.items():
        there = list(map(str, frame.columns))
        lacking = [c for c in known if c not in there]
        strange = [c for c in there if c not in known]
        if lacking or strange:
            said = [f"lacks {_listed(lacking)}"] if lacking else []
            said += [f"has {_listed(strange)}, which the real file has not"] if strange else []
            near = did_you_mean(lacking[0], strange) if lacking and strange else ""
            raise InputError(
                f"the {name} file {' and '.join(said)}{near}: name the columns that all have with "
                "`columns`, or leave some out with `drop`"
            )


def _same_kind(frames: Mapping[str, pd.DataFrame]) -> None:
    """Refuse a column that is numbers in one file and text in another."""
    for column in frames["real"].columns:
        kinds = {
            name: bool(pd.to_numeric(values, errors="coerce").notna().all())
            for name, frame in frames.items()
            if len(values := frame[column].dropna())
        }
        if len(set(kinds.values())) > 1:
            said = [f"{'numbers' if is_number else 'text'} in the {name} file"
                    for name, is_number in kinds.items()]  # fmt: skip
            raise InputError(
                f"column `{column}` is {', '.join(said)}: write its values the same way in all"
            )


def _complete(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    kept = frame.dropna()
    if kept.empty:
        raise InputError(f"every row of the {name} file has a missing value: drop a column instead")
    return kept


def _spaced(
    values: NDArray[np.float64] | None, labels: tuple[str, ...]
) -> NDArray[np.float64] | None:
    """Scale numbers to [0, 1], so that the largest distance counts as much as another text."""
    if values is None or MISSING_LABEL in labels:
        return values
    return (values - values[0]) / (values[-1] - values[0])


def _coarse(table: Table, column: int) -> NDArray[np.int32]:
    """Give the codes of a column; numbers with many values in groups."""
    codes, values = table.codes[:, column], table.values[column]
    if values is None or len(values) <= MOST_CODES:
        return codes
    return Bins(quantiles=20).apply(values, np.bincount(codes, minlength=len(values)))[0][codes]


def _refuse_itself(files: GivenFiles) -> None:
    """Refuse a control that is the real data, or a part of it, in whatever order."""
    if not files.control:
        return
    codes = files.table.codes
    keys = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    size = int(keys.max()) + 1
    real = np.bincount(keys[files.rows("real")], minlength=size)
    control = np.bincount(keys[files.rows("control")], minlength=size)
    many = np.count_nonzero(control) > files.control / 2  # few different rows prove nothing
    if (real >= control).all() and (many or (real == control).all()):
        raise InputError(
            "every row of the control file stands in the real file too: the control must be people "
            "whose records were not used to make the synthetic file"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
