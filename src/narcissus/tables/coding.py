"""The codes of a column's labels, computed from its raw values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._visible import cell
from narcissus.errors import InputError
from narcissus.tables.bins import Bins, SettledBins, number_label
from narcissus.tables.spelling import (
    ColumnReading,
    ReadAs,
    Spelled,
    Value,
    how_to_bin,
    label_of,
    leave_out,
    number_in,
    respelt,
    spelled,
)
from narcissus.tables.tally import ValueTally

MISSING_LABEL = "(missing)"
OTHER_LABEL = "(other)"


@dataclass(frozen=True)
class Coding:
    labels: tuple[str, ...]  # in their natural order
    # shape (values + 1,): code of each tallied value, last of the missing one (-1 if none)
    codes: NDArray[np.int32]
    # the numbers behind the labels of an ordered column, else None
    values: NDArray[np.float64] | None
    spelled: Spelled | None = None  # how the values were read; None before that is known
    settled: SettledBins | None = None  # the bins of its numbers, if any


def coding_of(
    tally: ValueTally,
    bins: Bins | None,
    max_values: int,
    read_as: ReadAs | None = None,
    fewest: int = 2,
) -> Coding:
    """Assign every value of a column the code of a label.

    Raises `InputError` where there is no value, fewer than ``fewest`` labels (of 1 or 2), or more
    than ``max_values``, or where the bins do not go with the values. ``read_as`` declares how to
    read the values.
    """
    if not tally.values:
        raise InputError(f"column `{tally.name}` has no value at all: drop it")
    of_numbers = bins is not None and bins.common is None
    kind = "numbers" if of_numbers and read_as is None else None
    known = spelled(tally.name, tally.values, read_as, kind=kind)
    tally = tally.meaning(known.values)
    if bins is not None and bins.common is not None:
        coded = _coded_common(tally, bins.common, max_values)
    elif bins is not None and bins.codes:
        coded = _coded_with_codes(tally, bins, max_values)
    else:
        coded = _coded(tally, bins, max_values)
    labels, values = coded.labels, coded.values
    missing = -1
    if tally.missing:
        missing = len(labels)
        labels, values = (*labels, _another(MISSING_LABEL, labels)), None
    if fewest > 1 and not tally.missing and (coded.codes == coded.codes[0]).all():
        raise InputError(
            f"column `{tally.name}` has one value only ({cell(labels[coded.codes[0]])}), so there "
            f"is nothing to learn from it or about it: {leave_out(tally.name)}"
        )
    if len(labels) > max_values:
        raise InputError(
            f"column `{tally.name}` has {len(labels):,} bins, more than `max_values` = "
            f"{max_values}: take wider ones"
        )
    codes = np.append(coded.codes, np.int32(missing))
    return replace(coded, labels=labels, codes=codes, values=values, spelled=known)


def mixed(
    tally: ValueTally, coding: Coding, bins: Bins | None = None, *, of_files: bool = False
) -> str:
    """Return a warning that a column mostly of numbers is read as text, or ""; none with bins.

    It names a row where the column is from one file, not from several (``of_files``).
    """
    if bins is not None or coding.spelled is None or coding.spelled.kind != "numbers":
        return ""
    texts = [i for i, value in enumerate(coding.spelled.values) if isinstance(value, str)]
    if not texts:
        return ""
    place = min(texts, key=lambda i: str(tally.values[i]) if of_files else tally.first[i])
    where = "" if of_files else f" in row {tally.first[place] + 1:,}"
    strange = sum(tally.counts[i] for i in texts)
    return (
        f"most of its values are numbers, but {strange:,} of {tally.rows:,} cells are not "
        f"({cell(tally.values[place])}{where}). So all are categories, which have neither order "
        "nor distance"
    )


def reading_of(
    tally: ValueTally, spelled: Spelled | None, settled: SettledBins | None = None
) -> ColumnReading:
    assert spelled is not None
    codes = () if spelled.kind in ("texts", "truth values") else spelled.codes
    shown = respelt(tally.values, spelled.values)
    return ColumnReading(spelled.kind, tuple(codes), shown, settled)


def codes_by_labels(
    name: str, found: Sequence[Any], labels: Sequence[str], settled: SettledBins | None = None
) -> NDArray[np.int32]:
    """Map the different, non-missing values of another file or program to a table's codes.

    Spelling does not matter, and numbers are put into the column's bins if it has any. Shape
    (values,); -1 for a value that the table does not have.
    """
    codes = {label: code for code, label in enumerate(labels)}
    plain_labels = [label for label in labels if label.strip("()") not in ("missing", "other")]
    like = spelled(name, plain_labels, kind="numbers" if settled is not None else None)
    meant = zip(reversed(plain_labels), reversed(like.values), strict=True)
    place = {value: codes[label] for label, value in meant}
    read = spelled(name, found, like=like).values
    at = [
        codes.get(str(raw).strip(), place.get(value, -1))
        for raw, value in zip(found, read, strict=True)
    ]
    if settled is not None:
        for i, value in enumerate(read):
            if at[i] < 0 and not isinstance(value, str):
                at[i] = int(settled.place(np.array([value], dtype=np.float64))[0])
    return np.array(at, dtype=np.int32)


def _another(label: str, labels: Sequence[str]) -> str:
    while label in labels:
        label = f"({label})"
    return label


def _coded(tally: ValueTally, bins: Bins | None, max_values: int) -> Coding:
    numbers = _as_numbers(tally)
    if numbers is not None:
        return _coded_numbers(tally, numbers, bins, max_values)
    if bins is not None:
        raise InputError(
            f"`bins` names the column `{tally.name}`, which is not numbers{_culprits(tally)}; name "
            "the values that are none in `codes`, or keep the most common ones (common = 10)"
        )
    return _coded_text(tally, max_values)


def _coded_with_codes(tally: ValueTally, bins: Bins, max_values: int) -> Coding:
    """Bin the numbers of a column; each of `codes` stays a separate value."""
    named = {_meant(code) for code in bins.codes or ()}
    places = [i for i, value in enumerate(tally.values) if _meant(value) not in named]
    if not places:
        raise InputError(f"`bins` of column `{tally.name}`: every value is one of its `codes`")
    inner = _coded(tally.only(places), bins, max_values)
    labels, codes = inner.labels, np.full(len(tally.values), -1, dtype=np.int32)
    codes[places] = inner.codes
    left = np.flatnonzero(codes < 0)
    meanings = sorted({_meant(tally.values[i]) for i in left}, key=str)
    for meant in meanings:
        alike = [i for i in left if _meant(tally.values[i]) == meant]
        codes[alike] = len(labels)
        labels = (*labels, _another(label_of(meant), labels))
    return Coding(labels, codes, None if meanings else inner.values, settled=inner.settled)


def _coded_common(tally: ValueTally, common: int, max_values: int) -> Coding:
    people: Counter[Value] = Counter()
    for value, times in zip(tally.values, tally.counts, strict=True):
        people[value] += times
    if _as_numbers(tally) is None:
        _require_repeated(tally, len(people))
    top_values = sorted(sorted(people, key=lambda v: (-people[v], *_order(v)))[:common], key=_order)
    if len(top_values) == len(people):
        return _coded(tally, None, max_values)
    place = {value: code for code, value in enumerate(top_values)}
    labels = tuple(map(label_of, top_values))
    codes = np.array([place.get(value, len(top_values)) for value in tally.values], dtype=np.int32)
    return Coding((*labels, _another(OTHER_LABEL, labels)), codes, None)


def _meant(value: Any) -> Value:
    """Return what a value is compared by: a number, however it is written, or its text."""
    number = number_in(value)
    return str(value).strip() if number is None else number


def _as_numbers(tally: ValueTally) -> list[int | float] | None:
    numbers = [value for value in tally.values if not isinstance(value, str)]
    if len(numbers) < len(tally.values):
        return None
    if not np.isfinite(np.array(numbers, dtype=np.float64)).all():
        raise InputError(
            f"column `{tally.name}` holds infinite values: replace them, or drop the rows or the "
            "column"
        )
    return numbers


def _culprits(tally: ValueTally) -> str:
    """Name the values that keep a column from being numeric, or return ""."""
    strange = [
        (first, cell(value))
        for value, first in zip(tally.values, tally.first, strict=True)
        if isinstance(value, str)
    ]
    shown = [text for _, text in sorted(strange)]
    return f": it holds {', '.join(shown[:3])}{', ...' * (len(shown) > 3)}"


def _coded_text(tally: ValueTally, max_values: int) -> Coding:
    texts = sorted(set(tally.values), key=_order)
    place = {value: code for code, value in enumerate(texts)}
    _require_repeated(tally, len(texts))
    if len(texts) > max_values:
        hint = ""
        if 2 * sum(not isinstance(v, str) for v in tally.values) > len(tally.values):
            hint = f" (most are numbers, but not all{_culprits(tally)})"
        raise InputError(
            f"column `{tally.name}` has {len(texts):,} different texts, more than "
            f"`max_values` = {max_values}{hint}: {how_to_bin(tally.name, 'common=20')}; `common` "
            "keeps the most common ones, all others become one value"
        )
    codes = np.array([place[value] for value in tally.values], dtype=np.int32)
    return Coding(tuple(map(label_of, texts)), codes, None)


def _order(value: Value) -> tuple[bool, Value]:
    return isinstance(value, str), value


def _require_repeated(tally: ValueTally, texts: int) -> None:
    """Refuse a column in which everybody has a separate text."""
    if texts == tally.rows > 2:  # two people with two answers prove nothing
        raise InputError(
            f"column `{tally.name}` has another text in each of {texts:,} rows: it "
            "identifies people and has no distribution to learn; " + leave_out(tally.name)
        )


def _coded_numbers(
    tally: ValueTally, numbers: list[int | float], bins: Bins | None, max_values: int
) -> Coding:
    if bins is not None:
        floats = np.array(numbers, dtype=np.float64)
        try:
            settled = bins.settled(floats, np.array(tally.counts))
        except InputError as error:
            raise InputError(f"`bins` of column `{tally.name}`: {error}") from error
        order = np.arange(len(settled.labels), dtype=np.float64)
        return Coding(settled.labels, settled.place(floats), order, settled=settled)
    distinct = sorted(set(numbers))  # not as floats: whole numbers may have more digits
    values = np.array(distinct, dtype=np.float64)
    if len(distinct) > max_values:
        raise InputError(
            f"column `{tally.name}` has {len(values):,} different numbers, more than "
            f"`max_values` = {max_values}: "
            + how_to_bin(tally.name, f"width={number_label(round_width(values))}", "quantiles=5")
        )
    place = {value: code for code, value in enumerate(distinct)}
    codes = np.array([place[value] for value in numbers], dtype=np.int32)
    return Coding(tuple(map(number_label, distinct)), codes, values)


def round_width(values: NDArray[np.float64]) -> float:
    """Suggest a round bin width with about ten bins of rising numbers, at least two."""
    span = float(values[-1] - values[0])
    size = 10.0 ** np.floor(np.log10(span / 10))
    return float(size * min((1, 2, 5, 10), key=lambda m: abs(span / (m * size) - 10)))
