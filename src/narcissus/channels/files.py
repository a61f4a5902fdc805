"""Channels, priors and samples from CSV, Parquet and NumPy files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np

from narcissus._files import open_text, parsing
from narcissus._pandas import pd
from narcissus._parquet import read_parquet
from narcissus._validation import did_you_mean, distribution
from narcissus._visible import cell, unmarked
from narcissus.channels.array_files import NamedMatrix, is_array_file, read_matrix, read_row
from narcissus.channels.channel import ROW_SUM_TOLERANCE, Channel, channel
from narcissus.channels.rational import RationalChannel, fraction, rational_channel
from narcissus.errors import InputError

NAME_COLUMNS = ("", "secret", "secrets", "name", "index")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def _check_there(path: Path) -> None:
    """Refuse a name of no file, and name the nearest."""
    with parsing(path, "a file"):  # a name may be longer than the system takes
        if not path.exists():
            near = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
            raise InputError(f"no such file: {path}{did_you_mean(path.name, near)}")
        if path.is_dir():
            raise InputError(f"{path} is a folder; give a CSV, Parquet or NumPy file")


def _read(path: Path, **options: Any) -> pd.DataFrame:
    _check_there(path)
    if _is_parquet(path):
        frame = read_parquet(path)
        if frame.empty:
            raise InputError(f"{path} is empty")
        return frame
    with parsing(path, "a readable CSV"), open_text(path) as stream:
        try:
            return pd.read_csv(stream, **options)
        except pd.errors.EmptyDataError as error:
            raise InputError(f"{path} is empty") from error


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        pass
    try:
        return float(Fraction(text)) if "/" in text else None
    except (TypeError, ValueError, ArithmeticError):  # 1/0, or too large for a float
        return None


def read_channel(path: Path | str, *, tolerance: float = ROW_SUM_TOLERANCE) -> Channel:
    """Read a channel from a CSV, Parquet, npy or npz file.

    Parameters
    ----------
    path
        The file: a row per secret, a column per output. In CSV a first line that is not itself a
        row of probabilities names the outputs. A first column that is not numeric, or is called
        "secret" or nothing at all, names the secrets; a cell may be a fraction, such as 1/3. In
        Parquet likewise, by the columns' names. For NumPy's files, and sparse ones of SciPy, see
        `read_matrix`.
    tolerance
        Largest deviation of a row sum from one.

    Raises
    ------
    InputError
        The file is missing or unreadable, a cell is empty or no number (with its place), it holds
        Python objects, or the matrix is no channel.
    """
    path = Path(path)
    found = _named_matrix(path)
    try:
        return channel(
            found.matrix, secrets=found.secrets, outputs=found.outputs, tolerance=tolerance
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_rational(path: Path | str) -> RationalChannel:
    """Read a channel in fractions: ``1/3`` and ``0.1`` are what they say.

    Parameters
    ----------
    path
        As in `read_channel`. Numbers that a file holds in binary are taken as exactly these.

    Raises
    ------
    InputError
        As `read_channel`; and where a row does not sum to exactly one.
    """
    path = Path(path)
    if is_array_file(path):
        found = _named_matrix(path)
        kept = found.matrix
        cells: Any = (kept if isinstance(kept, np.ndarray) else kept.toarray()).tolist()
        secrets, outputs = found.secrets, found.outputs
    else:
        cells, secrets, outputs = _cells(path)
    try:
        return rational_channel(cells, secrets=secrets, outputs=outputs)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _named_matrix(path: Path) -> NamedMatrix:
    _check_there(path)
    if is_array_file(path):
        return read_matrix(path)
    cells, secrets, outputs = _cells(path)
    try:
        return NamedMatrix(cells.astype(np.float64), secrets, outputs)
    except (TypeError, ValueError):
        numbers = [[_number(v) for v in row] for row in cells]
    for i, row in enumerate(numbers):
        if None in row:
            j = row.index(None)
            value = cells[i, j]
            said = f"{path}: the cell of secret {(secrets[i] if secrets else i + 1)!r}, output "
            empty = value is None or str(value).strip() == ""
            what = "is empty" if empty else f"is {cell(value)}, not a number"
            raise InputError(f"{said}{(outputs[j] if outputs else j + 1)!r} {what}")
    return NamedMatrix(np.array(numbers, dtype=np.float64), secrets, outputs)


def _cells(path: Path) -> tuple[Any, list[str] | None, list[str] | None]:
    """Return the cells of a table that hold probabilities, and the names of secrets and outputs."""
    if _is_parquet(path):
        frame = _read(path)
        header: list[str] | None = [str(c) for c in frame.columns]
        if not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index()
            header = ["", *header]
        cells = frame.to_numpy(dtype=object)
    else:
        # Text first: a stray word must be reported with its place, not turn a column to text.
        raw = _read(path, header=None, dtype=str, keep_default_na=False, skipinitialspace=True)
        cells = raw.to_numpy(dtype=object)
        header = None
        start = str(cells[0, 0]).strip().lower()
        first = [_number(v) for v in cells[0]]
        numeric = first if first[0] is not None else first[1:]
        is_row = bool(numeric) and None not in numeric and start not in NAME_COLUMNS
        if [str(v).strip() for v in cells[0]] == ["0", "1"]:
            raise InputError(
                f"{path}: the first line `0,1` may be names of outputs or a row of probabilities; "
                "write the names as words, or the row as 0.0,1.0"
            )
        if not (is_row and abs(sum(cast(list[float], numeric)) - 1) <= 1e-6):
            header, cells = [unmarked(str(v).strip()) for v in cells[0]], cells[1:]
    if not len(cells):
        raise InputError(f"{path} has no rows of probabilities")
    named = (header is not None and header[0].lower() in NAME_COLUMNS) or any(
        _number(v) is None for v in cells[:, 0]
    )
    secrets = [unmarked(str(v).strip()) for v in cells[:, 0]] if named else None
    if named:
        cells = cells[:, 1:]
    outputs = None if header is None else header[1:] if named else header
    if cells.shape[1] == 0:
        raise InputError(f"{path} has no column of probabilities")
    return cells, secrets, outputs


def read_prior(path: Path | str) -> dict[str, float] | np.ndarray[Any, np.dtype[np.float64]]:
    """Read a prior from a CSV, Parquet or npy file.

    Two columns name the secrets and give their probabilities (a header is optional); one column
    gives the probabilities in the channel's order, as does an npy's array.

    Raises
    ------
    InputError
        The file is unreadable, a probability is no number, a secret stands twice, or the sum is
        not one.
    """
    path = Path(path)
    names, cells = _prior_cells(path)
    values = [_number(v) for v in cells]
    if None in values:
        place = values.index(None)
        raise InputError(f"{path}: probability {place + 1:,}: {cell(cells[place])} is not a number")
    try:
        checked = distribution("prior", cast(list[float], values))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return checked if names is None else dict(zip(names, checked.tolist(), strict=True))


def read_rational_prior(path: Path | str) -> dict[str, Fraction] | list[Fraction]:
    """Read a prior in fractions: ``1/3`` and ``0.1`` are what they say; see `read_prior`.

    Raises
    ------
    InputError
        The file is unreadable, a probability is no fraction, or a secret stands twice.
    """
    path = Path(path)
    names, cells = _prior_cells(path)
    try:
        values = [fraction(one) for one in cells]
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return values if names is None else dict(zip(names, values, strict=True))


def _prior_cells(path: Path) -> tuple[list[str] | None, list[Any]]:
    """Return the secrets' names, if a prior has them, and its probabilities as they stand there."""
    _check_there(path)
    if is_array_file(path):
        return None, read_row(path).tolist()
    if _is_parquet(path):
        cells = _read(path).to_numpy(dtype=object)
    else:
        raw = _read(path, header=None, dtype=str, keep_default_na=False, skipinitialspace=True)
        cells = raw.to_numpy(dtype=object)
        if _number(cells[0, -1]) is None:
            cells = cells[1:]
    if cells.shape[1] not in (1, 2) or not len(cells):
        raise InputError(
            f"{path} must have one column (probabilities) or two (secret, probability), "
            f"got {cells.shape[1]}"
        )
    if cells.shape[1] == 1:
        return None, cells[:, 0].tolist()
    names = [unmarked(str(v).strip()) for v in cells[:, 0]]
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise InputError(f"{path}: the secret {twice!r} stands there twice")
    return names, cells[:, 1].tolist()


def read_samples(
    path: Path | str, *, secret: str | None = None
) -> tuple[pd.Series[Any], pd.DataFrame, str]:
    """Read samples of secret and output from a CSV or Parquet file with a header.

    Parameters
    ----------
    path
        The file: a row per sample.
    secret
        The column of secrets; None takes the one called "secret", otherwise the first. All other
        columns are the output.

    Returns
    -------
    tuple
        The secrets, the outputs (a frame of one or more columns), and the secret column's name.

    Raises
    ------
    InputError
        The file is unreadable, has no such column, no output column, or missing values.
    """
    path = Path(path)
    frame = _read(path)
    frame.columns = [unmarked(str(name)) for name in frame.columns]
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise InputError(f"{path} has two columns of one name")
    for name in () if _is_parquet(path) else names:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            cells = frame[name]
            frame[name] = cells.map(lambda c: unmarked(c) if isinstance(c, str) else c)
    if not len(frame):
        raise InputError(f"{path} has no samples")
    if secret is None:
        secret = next((n for n in names if n.lower() == "secret"), names[0])
    elif secret not in names:
        raise InputError(
            f"{path} has no column {secret!r}{did_you_mean(secret, names)}; "
            f"columns: {', '.join(names[:20])}"
        )
    if len(names) < 2:
        raise InputError(f"{path} has the column {secret!r} alone; the output needs one at least")
    missing = frame.isna().any()
    if missing.any():
        column = str(missing.idxmax())
        row = int(frame[column].isna().to_numpy().argmax())
        raise InputError(
            f"{path}: column {column!r} has {int(frame[column].isna().sum())} missing values, the "
            f"first in sample {row + 1}; remove these samples or say what is missing by a value"
        )
    return frame[secret], frame.drop(columns=[secret]), secret
