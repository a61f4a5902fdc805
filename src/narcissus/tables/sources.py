"""Sources of tables: which kind a source is, its columns, and what of it is refused."""

from __future__ import annotations

import atexit
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from narcissus._files import LARGEST, PACKED, file_size, no_such_file, unpacked_name
from narcissus._optional import optional
from narcissus._pandas import is_frame, pd
from narcissus._scratch import scratch_folder
from narcissus._validation import did_you_mean
from narcissus.errors import InputError, TooLargeError, refuse
from narcissus.tables.formats import (
    ARROW,
    JSON,
    JSON_LINES,
    SHEETS,
    STATISTICS,
    as_frame,
    is_frame_file,
    read_frame,
    require_columns,
)
from narcissus.tables.spelling import leave_out
from narcissus.tables.table import unknown_column
from narcissus.tables.tally import RawColumn

TableSource: TypeAlias = "Path | str | pd.DataFrame | Mapping[Any, Any] | Any"
"""A file, "statsmodels:NAME", "-", a data frame of any library, or a dictionary of columns."""
MAX_BYTES = LARGEST
"""Most bytes of a table that is held whole, unpacked."""
MOST_CELLS = 250_000_000  # each is held in 8 bytes
_TEXT = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_PACKAGED = re.compile(r"\w{2,}:\w+")


def located(source: Any) -> tuple[str, pd.DataFrame | Path, list[str]]:
    """Return the name of a source for messages, its data frame or path, and how it was read."""
    if isinstance(source, str) and source.startswith("statsmodels:"):
        return source, packaged(source), []
    if not isinstance(source, str | Path):
        frame = as_frame(source)
        if is_frame(frame):
            return "the data frame", frame, []
        raise InputError(
            "`source` must be a path, 'statsmodels:NAME' or a data frame (of pandas, polars, "
            f"pyarrow, DuckDB, or a dictionary of columns), got {type(source).__name__}"
        )
    path = Path(source)
    if path.name == "-" and not path.exists():  # a study puts its folder before it
        path = _standard_input()
    _check_file(path)
    remarks: list[str] = []
    content = read_frame(path, remarks) if is_frame_file(path) else path
    return str(path), content, remarks


@cache
def _standard_input() -> Path:
    """Write standard input to a file of this process: it is read more than once."""
    folder = _HELD.enter_context(scratch_folder())  # until the process ends
    data, left = sys.stdin.buffer.read(8), LARGEST
    suffix = next((s for mark, s in _MAGIC.items() if data.startswith(mark)), ".csv")
    path = folder / f"standard-input{suffix}"
    with path.open("wb") as file:
        while data:
            left -= file.write(data)
            if left < 0:
                raise TooLargeError(f"standard input has more than {LARGEST:,} bytes: name a file")
            data = sys.stdin.buffer.read(2**20)
    return path


_HELD = ExitStack()
atexit.register(_HELD.close)
_MAGIC = {
    b"PAR1": ".parquet",
    b"\x1f\x8b": ".csv.gz",
    b"\xfd7zXZ": ".csv.xz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
    b"PK": ".xlsx",
    b"{": ".json",
    b"[": ".json",
}
"""How files begin, and what they are then called."""


def is_parquet(path: Path) -> bool:
    """Distinguish Parquet from text and sheets by the name; refuse names of neither."""
    if path.name.lower().endswith(_PARQUET):
        return True
    if path.name.lower().endswith(SHEETS) or unpacked_name(path).endswith(_TEXT):
        return False
    others = (*_PARQUET, *SHEETS, *STATISTICS, *ARROW)
    raise InputError(
        f"cannot tell what kind of table {path} is: its name must end in "
        f"{', '.join((*_TEXT, JSON, *JSON_LINES))} (packed: also {', '.join(PACKED)}), "
        f"{', '.join(others)}"
    )


def _check_file(path: Path) -> None:
    try:
        if not path.exists():
            folder = path.parent
            if not folder.is_dir():
                raise InputError(f"no such file: {path}; there is no folder {folder} either")
            if _PACKAGED.fullmatch(path.name):
                raise InputError(
                    f"there is neither a file nor a packaged table {path}: packaged tables are "
                    "written 'statsmodels:NAME', without a folder"
                )
            near = did_you_mean(path.name, (p.name for p in islice(folder.iterdir(), 10_000)))
            raise no_such_file(path, near)
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a table")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if file_size(path, largest=2**63) == 0:
        raise InputError(f"{path} is empty: a header and rows are needed")


def too_many_rows(name: str, max_rows: int, rows: int | None = None) -> TooLargeError:
    amount = f"{rows:,} rows" if rows is not None else "more rows"
    return TooLargeError(
        f"{name} has {amount}; at most {max_rows:,} are read: give a sample of the rows, "
        "or raise `max_rows`"
    )


def kept_columns(
    names: Sequence[str], choose: Sequence[str] | None, drop: Sequence[str]
) -> list[int]:
    """Return the positions of the columns to keep, after checking all names."""
    known = set(names)
    option_names = (*(choose or ()), *filter(None, drop))  # those without a name, if any
    refuse([InputError(unknown_column(name, names)) for name in option_names if name not in known])
    columns = [n for n in (names if choose is None else choose) if n not in drop]
    if not columns:
        raise InputError("no column is left: `drop` takes all of them away")
    place = {name: j for j, name in enumerate(names)}
    return [place[name] for name in columns]


def has_index(names: Sequence[str]) -> bool:
    """Check whether only the first column has no name: an index that was saved with the table.

    pandas calls it "Unnamed: 0" when it reads it again.
    """
    return len(names) > 1 and names[0] in ("", "Unnamed: 0") and "" not in names[1:]


def check_names(source: str, names: Sequence[str], drop: Sequence[str] = ()) -> None:
    """Refuse columns without a name, unless they are dropped, or with the same one."""
    for position, name in enumerate(names, start=1):
        if not name and "" not in drop:
            raise InputError(
                f"{source}: column {position} has no name (an index that was written along?): "
                "name it, write the table without it, or " + leave_out("")
            )
    require_columns(source, len(names))
    if repeated := [name for name, times in Counter(names).items() if times > 1 and name]:
        raise InputError(
            f"{source}: several columns are called {', '.join(f'`{n}`' for n in repeated)}: "
            "give every column a different name"
        )


def chooser(
    name: str, choose: Sequence[str] | None, drop: Sequence[str], *, unnamed: bool = False
) -> Callable[[list[str]], list[int]]:
    """Return a function that checks the names of all columns and returns the kept positions.

    unnamed: Keep columns without a name as well.
    """

    def chosen(names: list[str]) -> list[int]:
        if unnamed:
            check_names(name, names, [*drop, ""])
            return [j for j, each in enumerate(names) if each not in drop]
        left = [*drop, names[0]] if choose is None and has_index(names) else drop
        check_names(name, names, left)
        return kept_columns(names, choose, left)

    return chosen


def frame_columns(
    source: str,
    frame: pd.DataFrame,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    *,
    unnamed: bool = False,
) -> list[int]:
    """Return the positions of the columns of a data frame to keep, after checking it."""
    names = [str(column) for column in frame.columns]
    if not names:
        raise InputError(f"{source} is empty: a header and rows are needed")
    places = chooser(source, choose, drop, unnamed=unnamed)(names)
    if len(frame) == 0:
        raise InputError(f"{source} holds no rows")
    return places


def factorized(source: str, frame: pd.DataFrame, kept: Sequence[int]) -> list[RawColumn]:
    columns: list[RawColumn] = []
    for j in kept:
        name = str(frame.columns[j])
        try:
            codes, distinct = pd.factorize(frame.iloc[:, j], use_na_sentinel=True)
        except TypeError as error:
            raise InputError(
                f"{source}: column `{name}` holds values that are neither numbers nor text "
                f"({error}): drop it"
            ) from error
        values: list[Any] = np.asarray(distinct, dtype=object).tolist()
        if getattr(distinct, "dtype", None) in (np.float32, np.float16):
            values = [float(str(value)) for value in np.asarray(distinct)]  # 0.1, not 0.10000000149
        if (codes < 0).any():
            codes = np.where(codes < 0, len(values), codes)
            values.append(None)
        columns.append(RawColumn(name, values, codes.astype(np.int64)))
    return columns


def parquet_columns(
    name: str,
    frame: pd.DataFrame,
    wanted: Sequence[str],
    choose: Sequence[str] | None,
    *,
    unnamed: bool = False,
) -> list[int]:
    """Return the positions of the kept columns in a frame read from a Parquet file.

    The index that pandas stored is not a column, unless it is chosen: then the error says so.
    """
    place = {str(column): j for j, column in enumerate(frame.columns)}
    for column in wanted if choose is not None else ():
        if column not in place:
            raise InputError(unknown_column(column, place))
    places = [place[column] for column in wanted if column in place]
    chosen = None if unnamed else [str(frame.columns[j]) for j in places]
    return frame_columns(name, frame, chosen, (), unnamed=unnamed)


def index_names(frame: pd.DataFrame) -> list[str]:
    """Return the names of the levels of an index that is more than the numbers of the rows."""
    index = frame.index
    if isinstance(index, pd.RangeIndex):
        return []
    known = {str(column) for column in frame.columns}
    names = [None if name is None else str(name) for name in index.names]
    return [
        f"__index_level_{level}__" if name is None or name in known else name
        for level, name in enumerate(names)
    ]


def with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a data frame with the levels of its index as its last columns."""
    names = index_names(frame)
    levels = {
        name: pd.Series(np.asarray(frame.index.get_level_values(level), dtype=object))
        for level, name in enumerate(names)
    }
    plain = frame.reset_index(drop=True)
    return plain if not names else pd.concat([plain, pd.DataFrame(levels)], axis=1)


def packaged(source: str) -> pd.DataFrame:
    datasets = optional("statsmodels.datasets", extra="examples", purpose=f"The table {source}")
    name = source.partition(":")[2]
    public = (n for n in sorted(dir(datasets)) if not n.startswith("_"))
    known = [n for n in public if hasattr(getattr(datasets, n), "load_pandas")]
    if name not in known:
        hint = did_you_mean(name, known) or f"; it has {', '.join(known)}"
        raise InputError(f"statsmodels has no table `{name}`{hint}")
    return getattr(datasets, name).load_pandas().data
