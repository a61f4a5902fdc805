"""Channels, priors, samples, losses and gains in files: CSV, Parquet, NumPy, never a pickle."""

from __future__ import annotations

import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._archives import array_name, opened_archive
from narcissus._files import (
    LARGEST,
    BadContentError,
    csv_rows,
    no_such_file,
    open_text,
    parsing,
    pointed,
    put,
    read_bytes,
    separator,
)
from narcissus._pandas import pd
from narcissus._parquet import read_parquet
from narcissus._validation import did_you_mean, distribution, some_of
from narcissus._visible import cell, csv_text, heading, unmarked
from narcissus.channels.channel import (
    ROW_SUM_TOLERANCE,
    Channel,
    RationalChannel,
    channel,
    fraction,
    rational_channel,
)
from narcissus.errors import InputError, TooLargeError

SUFFIXES = {".npy", ".npz"}
NAMES = {"secrets", "outputs", "answers"}  # Arrays of an npz that hold names
SPARSE = {"format", "shape", "data"}  # What every file of `scipy.sparse.save_npz` holds


def _is_array(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """A matrix as a file holds it."""

    matrix: Any  # Two-dimensional, real; a NumPy array or a SciPy sparse array
    # secrets, outputs: Names of its rows and columns; None where the file has none
    secrets: list[str] | None = None
    outputs: list[str] | None = None


def read_matrix(path: Path) -> NamedMatrix:
    """Read a matrix from an npy or npz.

    An npz has one array, or one called ``matrix``, and names of its rows as ``secrets`` and of its
    columns as ``outputs`` (or ``answers``) if wished; or it is what `scipy.sparse.save_npz` wrote.
    """
    if path.suffix.lower() == ".npz" and path.is_file():
        with parsing(path, "a file of NumPy or SciPy arrays"), opened_archive(path):
            pass  # a list of members that is too long is refused before anything is read
    content = read_bytes(path)
    with parsing(path, "a file of NumPy or SciPy arrays"):
        if path.suffix.lower() == ".npy":
            with _loaded(path, content) as values:
                return NamedMatrix(_checked(path, path.name, values))
        with opened_archive(path, content, same=array_name, noun="array") as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise TooLargeError(
                f"{path} unpacks to {size:,} bytes; at most {LARGEST:,} of an array are read"
            )
        with _loaded(path, content) as arrays, arrays:
            if not set(arrays.files) >= SPARSE:
                name = _only_matrix(path, [key for key in arrays.files if key not in NAMES])
                columns = "answers" if "answers" in arrays.files else "outputs"
                values = _checked(path, name, _array(arrays, name))
                secrets, outputs = (_names(path, arrays, key) for key in ("secrets", columns))
                return NamedMatrix(values, secrets, outputs)
        matrix: Any = sparse.load_npz(io.BytesIO(content))
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # wrong places would be read beyond the end
        return NamedMatrix(sparse.csr_array(matrix))


@contextmanager
def _loaded(path: Path, content: bytes) -> Generator[Any]:
    """Load arrays, and refuse Python objects, since reading them can run a program."""
    try:
        if content[:1] == b"\x80":
            raise ValueError("Object arrays")
        yield np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        if not str(error).startswith("Object arrays"):
            raise
        raise InputError(
            f"{path} holds Python objects (a pickle), which are not read: reading them can run any "
            "program. Save numbers alone: np.save(path, np.asarray(matrix, dtype=float))"
        ) from error


def _only_matrix(path: Path, names: list[str]) -> str:
    if "matrix" in names or len(names) == 1:
        return "matrix" if "matrix" in names else names[0]
    has = f"has {', '.join(map(repr, names[:6]))}" if names else "has none"
    raise InputError(
        f"{path} must hold one matrix, or one called 'matrix'; it {has}"
        f"{did_you_mean('matrix', names)}"
    )


def _array(arrays: Any, name: str) -> Any:
    """Return a member of an archive; NumPy gives the bytes of one that is no array."""
    if not isinstance(values := arrays[name], np.ndarray):
        raise BadContentError(f"`{name}` is no array")
    return cast("Any", values)


def _names(path: Path, arrays: Any, name: str) -> list[str] | None:
    if name not in arrays.files:
        return None
    values = _array(arrays, name)
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        raise InputError(
            f"{path}: `{name}` must be a list of texts, got {values.dtype} of shape {values.shape}"
        )
    try:
        return [str(label) for label in values.tolist()]
    except SystemError as error:  # NumPy, of a number that no character has
        raise BadContentError(f"`{name}` holds what is no text") from error


@contextmanager
def _named(path: Path) -> Generator[None]:
    """Put the file's name before what is wrong with what it holds."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _checked(path: Path, name: str, values: Any) -> Any:
    if values.dtype.kind not in "biuf":
        raise InputError(f"{path}: {name!r} holds {values.dtype}, not real numbers")
    if values.ndim != 2:
        raise InputError(
            f"{path}: {name!r} has shape {values.shape}; a matrix has a row per secret and a "
            "column per output"
        )
    return values


NAME_COLUMNS = ("", "secret", "secrets", "name", "index")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def _check_there(path: Path) -> None:
    with parsing(path, "a file"):  # a name may be longer than the system takes
        if not path.exists():
            near = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
            raise no_such_file(path, did_you_mean(path.name, near))
        if path.is_dir():
            raise InputError(f"{path} is a folder; give a CSV, Parquet or NumPy file")


def _text_cells(path: Path) -> Any:
    """Read a CSV as text: a stray word is reported with its place, and makes no column text."""
    raw = _read(path, header=None, dtype=str, keep_default_na=False, skipinitialspace=True)
    return (raw.map(pointed) if separator(path) == ";" else raw).to_numpy(dtype=object)


def _read(path: Path, **options: Any) -> pd.DataFrame:
    _check_there(path)
    if _is_parquet(path):
        frame = read_parquet(path)
        if frame.empty:
            raise InputError(f"{path} is empty")
        return frame
    mark = separator(path)
    with parsing(path, "a readable CSV"), open_text(path) as stream:
        try:
            return pd.read_csv(stream, sep=mark, decimal="," if mark == ";" else ".", **options)
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
    """Read a channel from a CSV, Parquet, npy or npz file: a row per secret, a column per output.

    In CSV a first line that is not itself a row of probabilities names the outputs. A first column
    that is not numeric, or is called "secret" or nothing at all, names the secrets; a cell may be a
    fraction, such as 1/3. In Parquet likewise, by the columns' names. For NumPy's files, and sparse
    ones of SciPy, see `read_matrix`.

    tolerance: Largest deviation of a row sum from one.
    """
    path = Path(path)
    _check_there(path)
    if _is_array(path):
        named_matrix = read_matrix(path)
    else:
        cells, secrets, outputs = _cells(path)
        named_matrix = NamedMatrix(_floats(path, cells, secrets, outputs), secrets, outputs)
    with _named(path):
        return channel(
            named_matrix.matrix,
            secrets=named_matrix.secrets,
            outputs=named_matrix.outputs,
            tolerance=tolerance,
        )


def _floats(path: Path, cells: Any, secrets: list[str] | None, outputs: list[str] | None) -> Any:
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError):
        numbers = [[_number(v) for v in row] for row in cells]
    for i, row in enumerate(numbers):
        if None in row:
            j = row.index(None)
            value = cells[i, j]
            place = f"{path}: the cell of secret {(secrets[i] if secrets else i + 1)!r}, output "
            empty = value is None or str(value).strip() == ""
            fault = "is empty" if empty else f"is {cell(value)}, not a number"
            raise InputError(f"{place}{(outputs[j] if outputs else j + 1)!r} {fault}")
    return np.array(numbers, dtype=np.float64)


def read_rational(path: Path | str) -> RationalChannel:
    """Read a channel in fractions: ``1/3`` and ``0.1`` are what they say; see `read_channel`.

    Numbers that a file holds in binary are taken as exactly these.
    """
    path = Path(path)
    if _is_array(path):
        _check_there(path)
        named_matrix = read_matrix(path)
        matrix, secrets, outputs = named_matrix.matrix, named_matrix.secrets, named_matrix.outputs
        cells: Any = (matrix if isinstance(matrix, np.ndarray) else matrix.toarray()).tolist()
    else:
        cells, secrets, outputs = _cells(path)
    with _named(path):
        return rational_channel(cells, secrets=secrets, outputs=outputs)


def _cells(path: Path) -> tuple[Any, list[str] | None, list[str] | None]:
    """Return the cells of a table that hold probabilities, and the names of secrets and outputs."""
    header: list[str] | None = None
    if _is_parquet(path):
        frame = _read(path)
        header = [str(c) for c in frame.columns]
        if not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index()
            header = ["", *header]
        cells = frame.to_numpy(dtype=object)
    else:
        cells = _text_cells(path)
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
            header, cells = _plain(cells[0]), cells[1:]
    if not len(cells):
        raise InputError(f"{path} has no rows of probabilities")
    named = header is not None and header[0].lower() in NAME_COLUMNS
    secrets: list[str] | None = None
    if named or any(_number(v) is None for v in cells[:, 0]):
        secrets, cells = _plain(cells[:, 0]), cells[:, 1:]
        header = None if header is None else header[1:]
    if cells.shape[1] == 0:
        raise InputError(f"{path} has no column of probabilities")
    return cells, secrets, header


def _plain(names: Any) -> list[str]:
    return [unmarked(str(v).strip()) for v in names]


def read_prior(path: Path | str) -> dict[str, float] | np.ndarray[Any, np.dtype[np.float64]]:
    """Read a prior from a CSV, Parquet or npy file.

    Two columns name the secrets and give their probabilities (a header is optional); one column
    gives the probabilities in the channel's order, as does an npy's array.
    """
    path = Path(path)
    names, cells = _prior_cells(path)
    values = [_number(v) for v in cells]
    if None in values:
        place = values.index(None)
        raise InputError(f"{path}: probability {place + 1:,}: {cell(cells[place])} is not a number")
    with _named(path):
        checked = distribution("prior", cast(list[float], values))
    return checked if names is None else dict(zip(names, checked.tolist(), strict=True))


def read_rational_prior(path: Path | str) -> dict[str, Fraction] | list[Fraction]:
    """Read a prior in fractions: ``1/3`` and ``0.1`` are what they say; see `read_prior`."""
    path = Path(path)
    names, cells = _prior_cells(path)
    with _named(path):
        values = [fraction(number) for number in cells]
    return values if names is None else dict(zip(names, values, strict=True))


def _prior_cells(path: Path) -> tuple[list[str] | None, list[Any]]:
    _check_there(path)
    if _is_array(path):
        if path.suffix.lower() != ".npy":
            raise InputError(
                f"{path}: one row of numbers is read from an npy, a CSV or a Parquet file"
            )
        content = read_bytes(path)
        with parsing(path, "a file of a NumPy array"), _loaded(path, content) as values:
            return None, _checked(path, path.name, values[None])[0].tolist()
    if _is_parquet(path):
        cells = _read(path).to_numpy(dtype=object)
    else:
        cells = _text_cells(path)
        if _number(cells[0, -1]) is None:
            cells = cells[1:]
    if cells.shape[1] not in (1, 2) or not len(cells):
        raise InputError(
            f"{path} must have one column (probabilities) or two (secret, probability), "
            f"got {cells.shape[1]}"
        )
    if cells.shape[1] == 1:
        return None, cells[:, 0].tolist()
    names = _plain(cells[:, 0])
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise InputError(f"{path}: the secret {twice!r} appears there twice")
    return names, cells[:, 1].tolist()


def read_samples(
    path: Path | str, *, secret: str | None = None
) -> tuple[pd.Series[Any], pd.DataFrame, str]:
    """Read samples of secret and output from a CSV or Parquet file with a header.

    secret: The column of secrets; None takes the one called "secret", otherwise the first. All
        other columns are the output.

    Returns the secrets, the outputs (a frame of one or more columns), and that column's name.
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
            f"columns: {some_of(map(heading, map(str, names)))}"
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


OF_SECRETS = ("secret", "secrets")
OF_ANSWERS = ("answer", "answers", "guess", "guesses")
"""What the first cell of a file says that its rows are."""


def read_losses(
    path: Path | str, secrets: Sequence[str] | None = None
) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Read losses from a CSV: names of the answers first, then a row a secret, its name first.

    Or from an npy or npz with a matrix, as `read_channel` reads them, of answers in the columns.
    Where the first cell of a CSV is ``guess`` or ``answer`` its rows are the answers.

    secrets: Names of the secrets, where they are known: rows or columns of these names, or as many
        of an array without names, are the secrets.

    Returns losses, shape (secrets, answers), and the names of both, in the order of ``secrets``.
    """
    path = Path(path)
    if _is_array(path):
        losses, rows, columns, named = _of_arrays(path)
        first = "secret" if named else ""
        if secrets is not None and not named:
            tall, wide = (size == len(secrets) for size in losses.shape)
            rows = list(secrets) if tall else rows
            columns = list(secrets) if wide else columns
    else:
        losses, rows, columns, first = _of_text(path)
    if _rows_are_answers(path, losses, (rows, columns), first, secrets):
        losses, rows, columns = losses.T, columns, rows
    if secrets is None:
        return losses, rows, columns
    if sorted(rows) != sorted(secrets):
        raise InputError(
            f"{path} must have a row for each secret of the channel: {', '.join(secrets[:10])}"
        )
    place = {name: at for at, name in enumerate(rows)}
    return losses[[place[name] for name in secrets]], list(secrets), columns


def _rows_are_answers(
    path: Path,
    losses: NDArray[np.float64],
    names: tuple[list[str], list[str]],
    first: str,
    secrets: Sequence[str] | None,
) -> bool:
    """Return whether rows are answers: by the first cell, else by whose names are the secrets'."""
    if first in (*OF_SECRETS, *OF_ANSWERS):
        return first in OF_ANSWERS
    rows, columns = names
    known = sorted(rows if secrets is None else secrets)
    if sorted(columns) != known or sorted(rows) != known:
        return sorted(columns) == known
    place = {name: at for at, name in enumerate(columns)}
    turned = losses[:, [place[name] for name in rows]]
    if not np.array_equal(turned, turned.T):
        raise InputError(
            f"{path}: rows and columns may both be the secrets, and it makes a difference; write "
            "`secret` into the first cell of a CSV whose rows are the secrets, `guess` into that "
            "of one whose rows are what the attacker answers"
        )
    return False


def _of_text(path: Path) -> tuple[NDArray[np.float64], list[str], list[str], str]:
    rows = [_plain(row) for row in csv_rows(path) if row]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise InputError(
            f"{path} needs a line with the names of the answers and one at least with a secret's "
            "name and what each answer costs"
        )
    answers, secrets = rows[0][1:], [row[0] for row in rows[1:]]
    losses = np.empty((len(secrets), len(answers)))
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{path}, line {number}: {len(row)} cells where the first line has {len(rows[0])}"
            )
        for place, text in enumerate(row[1:]):
            try:
                losses[number - 2, place] = float(text)
            except ValueError:
                raise InputError(
                    f"{path}, line {number}: the loss of answer {answers[place]!r} is "
                    f"{cell(text)}, not a number"
                ) from None
    return losses, secrets, answers, rows[0][0].lower()


def _of_arrays(path: Path) -> tuple[NDArray[np.float64], list[str], list[str], bool]:
    named_matrix = read_matrix(path)
    losses = (
        named_matrix.matrix
        if isinstance(named_matrix.matrix, np.ndarray)
        else named_matrix.matrix.toarray()
    )
    n, m = losses.shape
    secrets = named_matrix.secrets or [f"s{i + 1}" for i in range(n)]
    answers = named_matrix.outputs or [f"a{i + 1}" for i in range(m)]
    if (len(secrets), len(answers)) != (n, m):
        raise InputError(
            f"{path} names {len(secrets)} secrets and {len(answers)} answers of a matrix of "
            f"{n} x {m}"
        )
    named = named_matrix.secrets is not None or named_matrix.outputs is not None
    return np.asarray(losses, dtype=np.float64), secrets, answers, named


def write_channel(path: Path | str, made: Any) -> None:
    """Write a channel as `read_channel` reads it: CSV in full precision, or npz by its name.

    made: A `RationalChannel`, whose fractions are kept, or what `channel` takes.
    """
    path = Path(path)
    made = made if isinstance(made, RationalChannel) else channel(made)
    if path.suffix.lower() != ".npz":
        rows = made.rows if isinstance(made, RationalChannel) else made.dense.tolist()
        put(path, _table("secret", made.secrets, made.outputs, rows))
        return
    if isinstance(made, RationalChannel):
        raise InputError(f"{path}: fractions are written to a CSV, since npz holds floats")
    packed = io.BytesIO()
    names: dict[str, Any] = {"secrets": np.array(made.secrets), "outputs": np.array(made.outputs)}
    np.savez_compressed(packed, matrix=made.dense, **names)
    put(path, packed.getvalue())


def write_gain(path: Path | str, gain: Any, secrets: Sequence[str]) -> None:
    """Write a gain as a CSV: a row per guess, a column per secret."""
    rows = np.asarray(gain).tolist()
    guesses = [f"g{i + 1}" for i in range(len(rows))]
    put(Path(path), _table("guess", guesses, secrets, rows))


def _table(corner: str, names: Sequence[str], columns: Sequence[str], rows: Any) -> str:
    cells = [
        [name, *(str(number) if isinstance(number, Fraction) else repr(number) for number in row)]
        for name, row in zip(names, rows, strict=True)
    ]
    return csv_text([[corner, *columns], *cells], exact=True)
