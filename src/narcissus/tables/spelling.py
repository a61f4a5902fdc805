"""Spelling: one value for what files write in several ways, by declared rules.

* Blanks around a text are left out.
* A column is of **numbers** if at least half of its different values are; the others are codes.
  "9", "9.0", "09" and 9 are one number. Whole numbers keep all their digits. Thousands may be set
  apart by blanks, apostrophes, or the mark that is not the decimal one. The decimal mark is the
  point, unless more values are numbers with a comma. A comma that always is before three
  digits sets thousands apart, if numbers without it have three digits at most. A sign of a
  currency, or of percent, is left out where a column has one sign only: "$1,234" is 1234, "12%"
  is 12, "($5)" is -5. Where the first file has numbers, one unit behind all numbers of another is
  left out: "66.5 kg" is 66.5.
* A column is of **truth values** if it holds only true and false, in any case, and perhaps 1 and 0.
* A column is of **dates** if at least half of its different values are: 2020-03-31, 31.3.2020,
  31 March 2020 or Mar 31, 2020 (months in English), and 3/31/2020 or 31/3/2020, of which all
  together settle whether the month or the day comes first.
* Any other column is of **texts**.

The first file decides the kind of a column; every other file is read as that kind.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._validation import one_of, some_of
from narcissus._visible import cell, values_shown
from narcissus.errors import ColumnError, InputError
from narcissus.tables.bins import SettledBins, number_label

ReadAs = Literal["text", "numbers", "decimal-comma", "day-first", "month-first"]
"""How a column is read where its values do not say, or say it wrongly."""
Value = int | float | str
"""A number, or the text of anything else."""
Kind = Literal["numbers", "truth values", "dates", "texts"]

LABELS: Any = "as they are"
"""Values that were read before."""
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_GROUPED = (
    r"[+-]?(?:[1-9]\d{{0,2}}(?P<gap>[{0}'’ \u00a0\u2009\u202f])\d{{3}}(?:(?P=gap)\d{{3}})*"
    r"|\d+)?(?:{1}\d*)?(?:[eE][+-]?\d+)?"
)
_MARKED = {
    ".": re.compile(_GROUPED.format(",", r"\.")),
    ",": re.compile(_GROUPED.format(r"\.", ",")),
}
_GAPS = str.maketrans("", "", "'’ \u00a0\u2009\u202f")
_TRUTH: dict[str | float, str] = {"true": "True", "false": "False", 1: "True", 0: "False"}
_TIME = r"(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?))?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d\d?)\2(\d\d?){_TIME}")
_YEAR_LAST = re.compile(rf"(\d\d?)([-/.])(\d\d?)\2(\d{{4}}){_TIME}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_NAMED = re.compile(rf"(\d\d?)(?:st|nd|rd|th)?[-/. ]*{_MONTH}[-/., ]*(\d{{4}}){_TIME}", re.I)
_MONTH_NAMED = re.compile(rf"{_MONTH}[-/. ]*(\d\d?)(?:st|nd|rd|th)?[-/, ]+(\d{{4}}){_TIME}", re.I)
_YEAR_NAMED = re.compile(rf"(\d{{4}})[-/. ]*{_MONTH}[-/. ]*(\d\d?){_TIME}", re.I)
_WEEKDAY = re.compile(r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? +", re.I)
_MIDNIGHT = re.compile(r"00:00(:00(\.0+)?)?")
_SIGNS = "$€£¥₹₽₩₪₺₴₫฿₱₦%‰"
_SIGNED = re.compile(rf"(\()?([+-]?)([{_SIGNS}]?)\s*([^{_SIGNS}()]+?)\s*([{_SIGNS}]?)(?(1)\))")
_IN_UNITS = re.compile(r"([+-]?\d[\d.,]*)\s*((?![eE]\d)[^\W\d_]{1,6}[²³]?|°[CF]?)")
_THOUSANDS = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d{1,3})")
_ZEROS = re.compile(r"0\d")
_NO_FRACTION = re.compile(r"\.0+(?!\d)")
_LONGEST_DATE = 60  # letters, with a weekday and a time
_UNSETTLED = "day or month first"
_MOST_DIGITS = 1e38  # of 128 bits; beyond, whole numbers are floating ones


@dataclass(frozen=True)
class Spelled:
    kind: Kind
    values: list[Value]  # the number or text behind each value found, in their order

    @property
    def codes(self) -> list[str]:
        """The texts among numbers and dates that are neither, sorted."""
        if self.kind == "dates":
            return sorted({str(v) for v in self.values if not _YEAR_FIRST.fullmatch(str(v))})
        return sorted({v for v in self.values if isinstance(v, str)})


@dataclass(frozen=True)
class ColumnReading:
    kind: Kind
    codes: tuple[str, ...] = ()  # the texts among its numbers or dates
    # a value as the file writes it and as it was read, where they differ; else empty
    respelt: tuple[str, str] | None = None
    settled: SettledBins | None = None  # the bins of its numbers, if any


def spelled(
    name: str,
    found: Sequence[Any],
    read_as: ReadAs | None = None,
    like: Spelled | None = None,
    kind: Kind | None = None,
) -> Spelled:
    """Read the different, non-missing values of a column.

    ``read_as`` declares how; ``like``, the same column of the first file, or ``kind`` fixes the
    kind. Raises `InputError` where two readings are possible that differ; the message says how to
    settle it.
    """
    if read_as == LABELS:
        numbers = any(not isinstance(value, str) for value in found)
        return Spelled("numbers" if numbers else "texts", list(found))
    if read_as is not None:
        one_of("read_as", read_as, get_args(ReadAs))
    written = [_cleaned(value) for value in found]
    raw = written if read_as == "text" else _without_sign(written)
    if like is not None and like.kind == "numbers" and read_as != "text":
        raw = _without_unit(raw)
    kind = like.kind if like is not None else kind or _kind(raw, read_as)
    reference = set(like.values) if like is not None else set[Value]()
    if kind == "numbers":
        return Spelled(kind, _numbers(name, raw, read_as, reference))
    if kind == "truth values":
        return Spelled(kind, [_truth(value) for value in raw])
    if kind == "dates":
        return Spelled(kind, _dates(name, raw, read_as, reference))
    texts = [_text(value) for value in written]
    return Spelled(kind, _known_texts(texts, set() if read_as == "text" else reference))


def exact(value: Any) -> int | float:
    """Convert a number, or its plain text, without loss: whole ones to integers of any size."""
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return math.inf if value > 0 else -math.inf  # as the same digits in a text
    number = float(value)
    if abs(number) < 2**53:
        return int(number) if number.is_integer() else number
    if not abs(number) < _MOST_DIGITS:
        return number
    whole = value if isinstance(value, int) else Decimal(str(value))
    return int(whole) if whole == int(whole) else number


def number_in(value: Any, mark: str = ".") -> int | float | None:
    """Return the number that a value or its text means, or None; ``mark`` is the decimal mark."""
    if isinstance(value, str):
        text = value.replace("\u2212", "-")
        if mark == "." and _PLAIN.fullmatch(text):
            return exact(text)
        if not any(c.isdigit() for c in text) or not _MARKED[mark].fullmatch(text):
            return None
        text = text.translate(_GAPS).replace("," if mark == "." else ".", "").replace(",", ".")
        return exact(text) if _PLAIN.fullmatch(text) else None
    is_truth = isinstance(value, bool | np.bool_)
    if is_truth or not isinstance(value, int | float | Decimal | np.number):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return exact(value) if isinstance(value, int | float | Decimal) else None


def _cleaned(value: Any) -> Any:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value.strip().removeprefix("\ufeff") if isinstance(value, str) else value


def _without_sign(written: Sequence[Any]) -> Sequence[Any]:
    """Leave out the sign of a currency, or of percent, if numbers have one and no other."""
    bare = list(written)
    signs: set[str] = set()
    for place, text in enumerate(written):
        # a stranger's million blanks would be tried in many ways
        match = _SIGNED.fullmatch(text) if isinstance(text, str) and len(text) <= 40 else None
        if match is None or bool(match[3]) == bool(match[5]):
            continue
        minus = "-" if match[1] else match[2]
        if any(number_in(minus + match[4], mark) is not None for mark in (".", ",")):
            bare[place] = minus + match[4]
            signs.add(match[3] or match[5])
    return bare if len(signs) == 1 else written


def _without_unit(written: Sequence[Any]) -> Sequence[Any]:
    """Leave out the unit behind numbers, such as that of "66.5 kg", if they have one and no other.

    All texts must be numbers then.
    """
    bare = list(written)
    units: set[str] = set()
    for place, text in enumerate(written):
        match = _IN_UNITS.fullmatch(text) if isinstance(text, str) and len(text) <= 40 else None
        if match is not None:
            bare[place] = match[1]
            units.add(match[2])
    are_numbers = all(any(number_in(v, m) is not None for m in (".", ",")) for v in bare)
    return bare if len(units) == 1 and are_numbers else written


def _kind(raw: Sequence[Any], read_as: ReadAs | None) -> Kind:
    if read_as is not None:
        is_dates = read_as in ("day-first", "month-first")
        return "texts" if read_as == "text" else "dates" if is_dates else "numbers"
    truths = [_truth(value) in ("True", "False") for value in raw]
    if all(truths) and any(number_in(value) is None for value in raw):
        return "truth values"
    dates = sum(bool(_day(v, "day-first") or _day(v, "month-first")) for v in raw)
    if 2 * dates >= max(1, len(raw)):
        return "dates"
    numbers = sum(number_in(v) is not None or number_in(v, ",") is not None for v in raw)
    return "numbers" if 2 * numbers >= max(1, len(raw)) else "texts"


def _truth(value: Any) -> str:
    """Return "True" or "False" for a truth value, and any other value as a text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    number = number_in(value)
    if number is None:
        return _TRUTH.get(str(value).casefold(), _text(value))
    return _TRUTH.get(number, _text(value))


def _text(value: Any) -> str:
    number = None if isinstance(value, str) else number_in(value)
    return str(value) if number is None else number_label(number)


def _known_texts(texts: list[str], reference: set[Value]) -> list[Value]:
    """Replace a number that the first file lacks by the text that it means there."""
    meant: dict[int | float, list[Value]] = {}
    for known in reference:
        if (number := number_in(known)) is not None:
            meant.setdefault(number, []).append(known)
    values: list[Value] = []
    for text in texts:
        number = None if text in reference else number_in(text)
        same = meant.get(number, []) if number is not None else []
        values.append(same[0] if len(same) == 1 else text)
    return values


def _numbers(
    name: str, raw: Sequence[Any], read_as: ReadAs | None, reference: set[Value]
) -> list[Value]:
    """Read numbers and codes, with the decimal mark that makes most of them numbers."""
    if reference and reference - {0, 1} == set() and {_truth(v) for v in raw} <= {"True", "False"}:
        return [int(_truth(value) == "True") for value in raw]
    ways = [_one_way(partial(number_in, mark=mark), raw) for mark in (".", ",")]
    has_comma = any(isinstance(value, str) and "," in value for value in raw)
    counts = [sum(not isinstance(v, str) for v in way) for way in ways]
    if not has_comma:
        return ways[int(counts[1] > counts[0])]
    if read_as in ("numbers", "decimal-comma"):
        return ways[read_as == "decimal-comma"]
    if counts[0] != counts[1]:
        return ways[int(counts[1] > counts[0])]
    if not reference and _sets_thousands_apart(raw):
        return ways[0]
    return _settled(name, raw, ways, reference, ("numbers", "decimal-comma"))


def _sets_thousands_apart(raw: Sequence[Any]) -> bool:
    """Check whether commas can set thousands apart: where all numbers have them, either is one."""
    numbers = [text for text in map(_text, raw) if number_in(text) is not None]
    return all(_THOUSANDS.fullmatch(text) for text in numbers)


def _one_way(read: Any, raw: Sequence[Any]) -> list[Value]:
    numbers = [read(value) for value in raw]
    return [_text(v) if number is None else number for v, number in zip(raw, numbers, strict=True)]


def _settled(
    name: str,
    raw: Sequence[Any],
    ways: Sequence[list[Value]],
    reference: set[Value],
    names: tuple[ReadAs, ReadAs],
) -> list[Value]:
    """Choose between two ways to read the same, by the values of the first file."""
    differ = [place for place, pair in enumerate(zip(*ways, strict=True)) if pair[0] != pair[1]]
    known = [value for value in reference if not isinstance(value, str)]
    low, high = min(known, default=math.inf), max(known, default=-math.inf)
    for fits in (reference.__contains__, lambda v: not isinstance(v, str) and low <= v <= high):
        hits = [sum(map(fits, (way[place] for place in differ))) for way in ways]
        if not differ or hits[0] != hits[1]:
            return ways[int(hits[1] > hits[0])]
    place = differ[0]
    meant = " or ".join(label_of(way[place]) for way in ways) if values_shown() else "either"
    raise InputError(
        f"column `{name}`: {cell(_text(raw[place]))} may be {meant}, and no other value "
        f"settles it: {remedy(name, *names)}"
    )


def remedy(name: str, *ways: str) -> str:
    """Name the options and the key that settle how a column is read, and how to leave it out."""
    commands = " or ".join(f"--read-as {name}={way}" for way in ways)
    keys = " or ".join(f'read_as = {{"{name}" = "{way}"}}' for way in ways)
    return (
        f"say how to read it ({commands}; in a study, under [data], {keys}), or {leave_out(name)}"
    )


def leave_out(name: str) -> str:
    """Name how to leave a column out, in a study and by an option."""
    way = name or '""'
    return f'leave it out (in a study, drop = ["{name}"]; for `init` and `synth`, --drop {way})'


def leave_all_out(names: Sequence[str]) -> str:
    """Name how to leave columns out, in a study and by one option."""
    keys = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    option = shlex.quote(",".join(names))
    return f"leave them out (for `init` and `synth`, --drop {option}; in a study, drop = [{keys}])"


HOW_MISSING = (
    "leave those rows out (in a study, missing = 'drop'; for `synth`, --missing drop), make them a "
    "separate value (missing = 'category'; --missing category), or drop the column"
)


def how_to_bin(name: str, *ways: str) -> str:
    """Name the options and the key that bin a column, each way as ``width=5``, and --drop."""
    commands = " or ".join(f"--bins {name}={way.removeprefix('width=')}" for way in ways)
    keys = " or ".join(way.replace("=", " = ") for way in ways)
    return (
        f'bin it (in a study, under [data.bins], "{name}" = {{ {keys} }}; for `synth`, `measure` '
        f"and `rules`, {commands}),"
        f" or {leave_out(name)}"
    )


def label_of(value: Value) -> str:
    return value if isinstance(value, str) else number_label(value)


def _day(value: Any, first: str) -> str:
    """Return a date as 2020-03-31, with the time if it is not midnight; "" for no date."""
    if isinstance(value, date | np.datetime64):  # a datetime is a date
        value = str(value)
    if not isinstance(value, str):
        return ""
    if match := _YEAR_FIRST.fullmatch(value):
        year, _, month, day, time = match.groups()
    elif match := _YEAR_LAST.fullmatch(value):
        day, mark, month, year, time = match.groups()
        if mark != "." and first == _UNSETTLED:
            return f"{int(day)}/{int(month)}/{year} {time or ''}".rstrip()
        if mark != "." and first == "month-first":
            day, month = month, day
    elif (named := _with_month_named(value)) is not None:
        year, month, day, time = named
    else:
        return ""
    try:
        iso_date = date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
    if time is None or _MIDNIGHT.fullmatch(time):
        return iso_date
    return f"{iso_date} {time}:00" if len(time) == 5 else f"{iso_date} {_NO_FRACTION.sub('', time)}"


def _with_month_named(text: str) -> tuple[str, str, str, str | None] | None:
    """Return year, month, day and time of a date with an English month, such as 13 Nov 2008."""
    if len(text) > _LONGEST_DATE:
        return None
    text = _WEEKDAY.sub("", text, count=1) if text[:1].isalpha() else text
    if match := _DAY_NAMED.fullmatch(text):
        day, month, year, time = match.groups()
    elif match := _MONTH_NAMED.fullmatch(text):
        month, day, year, time = match.groups()
    elif match := _YEAR_NAMED.fullmatch(text):
        year, month, day, time = match.groups()
    else:
        return None
    return year, str(_MONTHS.index(month[:3].lower()) + 1), day, time


def _dates(
    name: str, raw: Sequence[Any], read_as: ReadAs | None, reference: set[Value]
) -> list[Value]:
    """Read dates and codes, day or month first as the column settles it."""
    orders: tuple[ReadAs, ReadAs] = ("day-first", "month-first")
    *ways, open_ = (
        _one_way(lambda v, o=order: _day(v, o) or None, raw) for order in (*orders, _UNSETTLED)
    )
    if read_as in orders:
        return ways[orders.index(read_as)]
    counts = [sum(bool(_day(value, order)) for value in raw) for order in orders]
    if counts[0] != counts[1]:
        return ways[int(counts[1] > counts[0])]
    if not reference or (reference.issuperset(open_) and ways[0] != ways[1]):
        return open_ if ways[0] != ways[1] else ways[0]
    return _settled(name, raw, ways, reference, orders)


def respelt(found: Sequence[Any], values: Sequence[Value]) -> tuple[str, str] | None:
    """Return a text that is not written as it is read, and what it is read as.

    One that begins with zeros if there is any, since these may mean something; else the shortest.
    """
    pairs = zip(found, map(label_of, values), strict=True)
    differ = [(raw, value) for raw, value in pairs if isinstance(raw, str) and raw != value]
    return min(differ, key=lambda p: (not _ZEROS.match(p[0]), len(p[0]), p[0]), default=None)


def described(readings: Mapping[str, ColumnReading]) -> str:
    """Describe in a line which columns were read as what; each kind once."""
    groups: dict[str, list[str]] = {}
    for name, reading in readings.items():
        beside = " with codes" if reading.codes else ""
        text = f"{name} ({_named(reading.codes)})" if beside else name
        groups.setdefault(reading.kind + beside, []).append(text)
    return "; ".join(f"{kind}: {some_of(names)}" for kind, names in groups.items())


def respellings(readings: Mapping[str, ColumnReading]) -> str:
    """Describe in a line how a file writes what is read otherwise; "" where it does not.

    Records contain this text, so only the form of a value appears: 9 for a digit, a for a letter.
    """
    spellings = {name: r.respelt for name, r in readings.items() if r.respelt is not None}
    form = str if values_shown() else _form
    each = [(form(raw), form(value), name) for name, (raw, value) in spellings.items()]
    shown = [f"{raw!r} is read as {value} ({name})" for raw, value, name in each]
    remainder = f", and the like in {len(shown) - 5} more columns" if len(shown) > 5 else ""
    text = "".join(raw + value for raw, value, _ in each[:5])
    masked = "" if values_shown() else _legend(text)
    return ", ".join(shown[:5]) + remainder + (f"; {masked}" if masked else "")


_MEANT = re.compile(r"(?<![\d.,])0+(?=\d)|(?<=[.,])0+(?!\d)")
"""Zeros before or after a number, which the form of a value shows: they may mean something."""


def _form(text: str) -> str:
    """Return the form of a value: 9 for a digit, also for a zero within, and a for a letter.

    >>> _form("12304"), _form("007 b"), _form("-10.0"), _form("0.10")
    ('99999', '009 a', '-99.0', '9.99')
    """
    kept = {place for run in _MEANT.finditer(text) for place in range(*run.span())}
    digits = [
        "9" if sign.isdecimal() and place not in kept else sign for place, sign in enumerate(text)
    ]
    return re.sub(r"[^\W\d_]", "a", "".join(digits))


def _legend(form: str) -> str:
    """Describe the signs of forms; empty where there are none."""
    signs = [f"{sign} is any {what}" for sign, what in (("9", "digit"), ("a", "letter"))]
    return " and ".join(text for text in signs if text[0] in form)


def _named(codes: Sequence[str]) -> str:
    """Name codes among numbers where these are few words; many, or numbered ones, are of people."""
    if values_shown() or (len(codes) <= MOST_CODES and not any(map(_has_digit, codes))):
        return ", ".join(codes[:MOST_CODES])
    return f"{len(codes):,} of them"


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


NAMED = 10
"""Fewest people whose value is named in a message."""
MOST_CODES = 5
"""Most codes among the numbers of a column that are named."""


def examples(
    values: Iterable[Value], most: int = 3, *, people: Mapping[Value, int] | None = None
) -> str:
    """Quote a few values of columns that do not fit, so that a user can mend them.

    people: Counts by value, of people. Of what fewer than `NAMED` have, the form appears: 9 for a
    digit, a for a letter. None: the values are of no people.
    """
    forms: set[str] = set()

    def shown(value: Value) -> str:
        label = label_of(value)
        if people is None or values_shown() or people.get(value, 0) >= NAMED:
            return repr(label)
        forms.add(form := repr(_form(label)))
        return form

    each = list(islice(dict.fromkeys(map(shown, values)), most + 1))
    masked = _legend("".join(forms.intersection(each[:most])))
    listed = ", ".join(each[:most]) + (" and others" if len(each) > most else "")
    return listed + (f" ({masked})" if masked else "")


FEW = 30
"""Numbers of a column up to which each is a value, and not a place on a scale."""
FEWEST = 5
"""People below whom nothing is said."""
HARDLY = 0.5
"""Share of the people from which on values that the other file does not have stop the run."""
OUTSIDE = 0.9
"""The same of the first file's numbers that lie outside those of the other."""
SOME = 0.05
"""Share from which on they are told."""
OVERLAP_ERROR = 1e-3
"""Chance of refusing a column of two samples of one population, over all columns of two files."""


def require_overlap(
    column: str,
    names: tuple[str, str],
    first: Mapping[Value, int],
    other: Mapping[Value, int],
    *,
    binned: bool = False,
    error: float = OVERLAP_ERROR,
) -> str:
    """Refuse a column whose values hardly overlap between two files; return a remark, or "".

    The commonest shared value is left out of both files: a code such as "N" may be all that two
    files of different spelling have in common. Texts, codes and up to `FEW` different numbers are
    compared one by one, texts with allowance for values that are new in any sample (Good 1953: as
    many people as have a value alone in the first file), then by their form. Other numbers,
    ``binned`` ones, and those with fractions that most people have alone are compared by range. A
    column is refused only where so little overlap has a chance of at most ``error`` between two
    samples of these sizes from one population.
    ``names`` are what the message calls the files; ``first`` and ``other`` count people by value.

    Raises InputError: the values hardly overlap.
    """
    ours, people = dict(first), dict(other)
    if shared := [value for value in people if value in first]:
        common = max(shared, key=lambda value: (people[value], str(value)))
        del ours[common], people[common]
    total = sum(people.values())
    if total < FEWEST:
        return ""
    numbers = [value for value in ours if not isinstance(value, str)]
    by_place = len(numbers) > FEW or (binned and len(numbers) > 0) or _are_measured(ours)
    low, high = (min(numbers), max(numbers)) if by_place else (math.inf, -math.inf)
    strange = [
        value
        for value in sorted(people, key=lambda value: (-people[value], str(value)))
        if value not in ours and (isinstance(value, str) or not low <= value <= high)
    ]
    missed = sum(people[value] for value in strange) / total
    # As many have a new value as are the only person with theirs (Good 1953).
    alone = sum(times == 1 for times in ours.values()) / max(1, sum(ours.values()))
    new = 0.0 if by_place else alone
    here, there = names
    each = error / 4  # of four tests
    if missed > min(HARDLY + new, (1 + OUTSIDE) / 2):
        chances = [_chance_of_new(first, other, strange)]
        if by_place:
            texts = [value for value in strange if isinstance(value, str)]
            chances = [_chance_of_range(ours, people), _chance_of_new(first, other, texts)]
        if min(chances) <= each or _forms_differ(ours, people, each):
            raise _unlike(column, names, missed, strange, (first, other))
    beyond = _outside(ours, people) if by_place else 0.0
    if beyond > OUTSIDE and _chance_of_range(people, ours) <= each:
        raise _unlike(column, names, beyond, sorted(people, key=str), (first, other), reverse=True)
    if missed <= SOME + new:
        return ""
    return (
        f"`{column}`: of the people of the {there} file with another value than its commonest, "
        f"{missed:.0%} have one that is missing in the {here} file, such as "
        f"{examples(strange, people=other)}"
    )


def _are_measured(people: Mapping[Value, int]) -> bool:
    """Check whether numbers are measurements, most of them one person's: no other has the same."""
    numbers = _numbers_of(people)
    is_whole = all(float(value).is_integer() for value in numbers)
    return not is_whole and 2 * len(numbers) > sum(numbers.values())


def _numbers_of(people: Mapping[Value, int]) -> dict[float, int]:
    return {value: times for value, times in people.items() if not isinstance(value, str)}


def _outside(first: Mapping[Value, int], other: Mapping[Value, int]) -> float:
    """Return the share of the first file's numbers that lie outside the other's."""
    ours, numbers = _numbers_of(first), _numbers_of(other)
    if not numbers:
        return 0.0
    low, high = min(numbers), max(numbers)
    outside = sum(times for value, times in ours.items() if not low <= value <= high)
    return outside / sum(ours.values())


def _chance_of_range(first: Mapping[Value, int], other: Mapping[Value, int]) -> float:
    """Return the chance that so many numbers of a sample lie outside the range of another.

    Both are of one population. Of n and m numbers, j lie outside the range of the n with chance
    ``(j + 1) C(n + m - 2 - j, n - 2) / C(n + m, n)``, since all orders are alike; ties only lower
    it (Wilks 1942).
    """
    n, m = (sum(_numbers_of(people).values()) for people in (first, other))
    if n < 2 or not m:
        return 1.0
    many = np.arange(round(_outside(other, first) * m), m + 1)
    ways = _log_ways(n + m - 2 - many, n - 2) - _log_ways(np.array(n + m), n)
    return min(1.0, float((np.exp(ways) * (many + 1)).sum()))


def _log_ways(total: NDArray[np.int64], taken: int) -> NDArray[np.float64]:
    log_orders = scipy.special.gammaln(total + 1) - scipy.special.gammaln(total - taken + 1)
    return np.asarray(log_orders - scipy.special.gammaln(taken + 1))


_TILTS = np.geomspace(1e-6, 30, 120)


def _chance_of_new(
    first: Mapping[Value, int], other: Mapping[Value, int], strange: Sequence[Value]
) -> float:
    """Bound the chance that so many people of a sample have values that another lacks.

    Both are of one population. Which people the first sample takes is a draw without replacement
    from all; that it takes nobody with a value is negatively associated over values (Joag-Dev and
    Proschan 1983), so Chernoff's bound of independent events holds. Values of one person are new
    in any sample: once they count, and once not.
    """
    n, m = sum(first.values()), sum(other.values())
    pooled = {value: first.get(value, 0) + other.get(value, 0) for value in {**first, **other}}
    chances = [1.0]
    for fewest in (1, 2):
        many = sum(other[value] for value in strange if other[value] >= fewest)
        sizes = np.array([times for times in pooled.values() if fewest <= times <= m])
        if many:
            counts, values = np.unique(sizes, return_counts=True)
            absent = np.exp(_log_ways(n + m - counts, n) - _log_ways(np.array(n + m), n))
            tilts = _TILTS / counts.max()
            terms = np.log1p(absent * np.expm1(tilts[:, None] * counts)) @ values
            chances.append(2 * float(np.exp((terms - tilts * many).min())))
    return min(chances)


_RUNS = ((re.compile(r"\d+"), "9"), (re.compile(r"[^\W\d_]+"), "a"), (re.compile(r"\s+"), " "))


def _forms_differ(first: Mapping[Value, int], other: Mapping[Value, int], error: float) -> bool:
    """Whether texts that few people share are even of other forms: digits, letters, signs."""
    ours, theirs = Counter[Value](), Counter[Value]()
    for forms, people in ((ours, first), (theirs, other)):
        for value, times in people.items():
            if isinstance(value, str):
                form = value
                for run, sign in _RUNS:
                    form = run.sub(sign, form)
                forms[form] += times
    strange = [form for form in theirs if form not in ours]
    missed = sum(theirs[form] for form in strange)
    if not ours or missed <= HARDLY * sum(theirs.values()):
        return False
    return _chance_of_new(ours, theirs, strange) <= error


def _unlike(
    column: str,
    names: tuple[str, str],
    missed: float,
    strange: Sequence[Value],
    people: tuple[Mapping[Value, int], Mapping[Value, int]],
    *,
    reverse: bool = False,
) -> InputError:
    here, there = names if not reverse else names[::-1]
    apart = set(strange)
    first, other = people
    rest = [value for value in sorted(first, key=str) if value not in apart] or list(first)
    kinds = f"{_kinds(rest)} in the {names[0]} file, {_kinds(strange)} in the {names[1]} file"
    values = (
        f"{examples(rest, people=first)} in the {names[0]} file, "
        f"{examples(strange, people=other)} in the {names[1]} file"
    )

    def describe(columns: Sequence[str]) -> str:
        shown = some_of([f"`{name}`" for name in columns], 3)
        return (
            f"{len(columns):,} columns are {kinds}, and their values hardly overlap: {shown}. "
            f"In `{column}` they are {values}. Write them alike; or {leave_all_out(columns)}"
        )

    return ColumnError(
        f"column `{column}` is {kinds}, and their values hardly overlap: {values}. Apart from the "
        f"commonest shared value, {missed:.0%} of the people of the {there} file have one that the "
        f"{here} file does not reach. Write them alike; or {remedy(column, 'text', 'numbers')}",
        column,
        f"values: {kinds}",
        describe,
    )


def _kinds(values: Sequence[Value]) -> str:
    kinds = {isinstance(value, str) for value in values}
    return "numbers and text" if len(kinds) == 2 else "text" if True in kinds else "numbers"
