"""Names and numbers of people inside other values: in texts, in decimals, in other words.

A case number may be in brackets after a profession, or be the last digits of a measure. A name
may have its words in another order, or an initial for its first name. So the names of the data's
people are sought as words of all texts of the file, as further digits of its numbers, and as names
of the same words or of the same initial and surname. A code may be cut or written backwards, so
parts of codes are sought as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy

from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import BesideControl, Copies
from narcissus.synthetic.files import Raw, folded
from narcissus.tables.names import numbers_people
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

INSIDE_ERROR = 0.001
"""Error of telling that names of people are inside other values, of all places together."""
_NAMES = 0.9  # share of the people with a value of their own, of a column that names them
_RUNNING = 0.5  # share of the numbers between the least and the largest, of running numbers
_FEW = 2  # people whose names may stand anywhere
_FEWEST = 20  # people with a value
_SHORTEST = 5  # letters or digits of a name that is sought inside a text
_SHORTEST_DIGITS = 6  # digits of a number that is sought
_MOVES = tuple(by for by in range(-100, 101) if by)
_MOST_MOVED = 2_000  # numbers that are moved up and down
_FAVOURITE = 0.3  # share of the codes with one last digit
_SHORTEST_PART = 4  # letters or digits of a part of a code
_MOST_WORDS = 6  # of a name inside a text, a mark or a blank between each two
_LONGEST = 200  # letters of a value that are looked at
_MOST_DECIMALS = 4
_ENDS = 100  # by multiples of which a number keeps its last two digits
_STEPS = tuple(by for by in range(-10, 11) if by)
_SOME = 500  # values that are moved up and down
_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d+(?:[.,]\d+)*(?![\w])")
AS_NUMBERS = "as numbers in its texts"
IN_VALUES = "among its values"
_WORD = re.compile(r"[^\W_]+")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")  # as Python writes it


@dataclass(frozen=True)
class NamesInside(BesideControl):
    """People whose name or number is inside other values of the file."""

    column: str  # of the data, that names them
    within: str  # column of the file
    how: str
    people: int
    standing: int
    expected: float
    beside: TwoSamples | None

    @property
    def noun(self) -> str:
        """What is there: names, or values that nobody else has."""
        return f"values of `{self.column}`" if self.how in (AS_NUMBERS, IN_VALUES) else "names"

    def is_beyond(self, error: float) -> bool:
        """Check whether more are there than chance explains."""
        high = self.expected + 2 * np.sqrt(self.expected)
        return self.standing > max(float(_FEW), float(scipy.stats.poisson.isf(error, high)))


@dataclass(frozen=True)
class NamesOfSeveral:
    """Columns of the data that name or number people with several rows."""

    columns: tuple[str, ...] = ()
    there: tuple[NamesInside, ...] = ()  # of whom the file has more than coincidence explains
    running: tuple[str, ...] = ()  # of running numbers that the file has as well


def names_inside(raws: Mapping[str, Raw], same: Mapping[str, str]) -> tuple[NamesInside, ...]:
    """Return the names of people that are inside values of the file, where these are too many.

    same: Columns of the data that the file has, with their names in the file.
    """
    each = [*_counts(raws, same)]
    alone = {n: c for n, c in raws["synthetic"].items() if n not in same.values()}
    each += _values_in_texts(raws["real"], alone, raws.get("control", {}))
    error = INSIDE_ERROR / max(1, len(each))
    return tuple(names for names in each if names.is_beyond(error))


def _values_in_texts(
    real: Mapping[str, RawColumn], made: Mapping[str, RawColumn], control: Mapping[str, RawColumn]
) -> Iterator[NamesInside]:
    """Yield the people whose own number, which nobody else has, is in texts of the file.

    As many are expected as numbers of like digits are there: moved up and down by as round
    numbers, and by such as keep the last two digits.
    """
    texts = {name: numbers for name, column in made.items() if (numbers := _numbers_told(column))}
    for name, column in real.items() if texts else ():
        ours = _own_numbers(column)
        is_sought = any(map(_as_token, _names(column)))  # as names, whose digits are many
        if len(ours) < _FEWEST or is_sought:
            continue
        places = max(_places_of(number) for number in ours)
        if places > _MOST_DECIMALS:
            continue
        here = {_scaled(number, places) for number in ours}
        fresh = _own_numbers(control[name]) if name in control else set[float]()
        beside = {_scaled(number, places) for number in fresh}
        for within, numbers in texts.items():
            there = {_scaled(number, places) for number in numbers if _places_of(number) <= places}
            hit = len(here & there)
            samples = None
            if beside:
                samples = TwoSamples(hit, len(here), len(beside & there), len(beside))
            yield NamesInside(
                name,
                within,
                AS_NUMBERS,
                len(here),
                hit,
                max(_moved(here, there, ends) for ends in (1, _ENDS)) if hit > _FEW else float(hit),
                samples,
            )


def _moved(here: set[int], there: set[int], ends: int) -> float:
    """Return how many numbers would be there by chance: as many as are when moved."""
    numbers = sorted(here)
    some = numbers[:: max(1, len(numbers) // _SOME)]
    moved = sum(n + by * max(ends, _roundness(n)) in there for n in some for by in _STEPS)
    return moved / len(_STEPS) * len(numbers) / max(1, len(some))


def _roundness(number: int) -> int:
    """Return the largest of 1, 5, 10, 50, 100 and so on that divides a number."""
    step = 1
    while number and number % (10 * step) == 0:
        step *= 10
    return 5 * step if number and number % (5 * step) == 0 else step


def _own_numbers(column: RawColumn) -> set[float]:
    """Return the numbers of a column that one row has alone."""
    times = np.bincount(column.codes, minlength=len(column.distinct)).tolist()
    read = [[None if v is None else number_in(v, m) for v in column.distinct] for m in (".", ",")]
    numbers = min(read, key=lambda side: side.count(None))
    many: dict[float, int] = {}
    for number, count in zip(numbers, times, strict=True):
        if number is not None and count:
            many[float(number)] = many.get(float(number), 0) + count
    return {number for number, count in many.items() if count == 1 and np.isfinite(number)}


def _numbers_told(column: RawColumn) -> set[float]:
    """Return the numbers that are in texts of a column, read with a point and with a comma."""
    numbers: set[float] = set()
    for text in _values(column):
        if re.search(r"[^\W\d_]", text):
            each = (number_in(t, mark) for t in _NUMBER.findall(text) for mark in (".", ","))
            numbers |= {float(number) for number in each if number is not None}
    return numbers


def _places_of(number: float) -> int:
    """Return the decimals of a number as it is written."""
    text = f"{abs(number):.10f}".rstrip("0")
    return len(text) - text.index(".") - 1


def _scaled(number: float, places: int) -> int:
    return round(number * 10**places)


def _counts(raws: Mapping[str, Raw], same: Mapping[str, str]) -> Iterator[NamesInside]:
    real, made, control = raws["real"], raws["synthetic"], raws.get("control", {})
    named = {name: values for name, column in real.items() if (values := _names(column))}
    if not named:
        return
    of_data = {other: column for column, other in same.items()}
    tokens = {name: _tokens(column) for name, column in made.items()}
    digits = {
        name: _decimals(column, real.get(of_data.get(name, name))) for name, column in made.items()
    }
    for name, values in named.items():
        others = _values(control[name]) if name in control else {}
        here, beside = (
            {form for value in side if (form := _as_token(value))} for side in (values, others)
        )
        for within, there in tokens.items():
            if within != same.get(name):
                yield from _sought(name, within, "in its texts", (here, beside), there)
        numbers = ({form for form in side if form.isdecimal()} for side in (here, beside))
        ours, theirs = numbers
        for within, further in digits.items():
            if within != same.get(name):
                yield from _in_digits(name, within, (ours, theirs), further)
        if name in same:
            written = _values(made[same[name]])
            yield from _in_part(name, same[name], (values, others, written))
            for how, form_of in (("in another order", _sorted), ("by initials", _initials)):
                sides = values, others, written
                yield from _in_other_words(name, same[name], how, form_of, sides)


def names_put_back(raws: Mapping[str, Raw]) -> tuple[NamesInside, ...]:
    """Return the names of people that are values of columns of the file, or are inside these.

    raws: The data and the control with all columns; the file with those that were declared to say
        nothing about a person. A column that names people is no less of people for that.
    """
    real, made, control = raws["real"], raws["synthetic"], raws.get("control", {})
    each: list[NamesInside] = []
    for name, values in {n: _names(column) for n, column in real.items()}.items():
        others = _values(control[name]) if name in control else {}
        sides = {_as_token(text) for text in values}, {_as_token(text) for text in others}
        for within, column in made.items():
            there = _tokens(column) | {_as_token(text) for text in _values(column)}
            here, beside = (side - {""} for side in sides)
            each += _sought(name, within, "in its values", (here, beside), there)
    each += _values_in_texts(real, made, control)
    error = INSIDE_ERROR / max(1, len(each))
    each = [names for names in each if names.is_beyond(error)]
    each += names_of_several(raws).there
    named = {names.within for names in each}
    values = [v for v in _own_values(real, made, control) if v.within not in named]
    return (*each, *values)


def _own_values(
    real: Mapping[str, RawColumn], made: Mapping[str, RawColumn], control: Mapping[str, RawColumn]
) -> Iterator[NamesInside]:
    """Yield the people whose own values of a column, or of all columns, stand in the file there.

    Coincidences are limited as of equal rows, and of whole numbers as many as stand next to the
    people's. Running numbers tell nothing.
    """
    counts_off = {n for n, c in real.items() if _names(c) and _is_running(_plain_names(c))}
    columns = [name for name in made if name in real and name not in counts_off]
    sets = [(name,) for name in columns] + ([tuple(columns)] if len(columns) > 1 else [])
    for some in sets:
        ours, theirs, others = (
            Counter(zip(*(_cells(side[name]) for name in some), strict=True))
            if all(name in side for name in some)
            else Counter[tuple[str, ...]]()
            for side in (real, made, control)
        )
        own = {values for values, many in ours.items() if many == 1}
        if len(own) < _FEWEST:
            continue
        standing = len(own & theirs.keys())
        pairs = sum(many == 2 for many in ours.values())
        copies = Copies(ours.total(), len(own), standing, theirs.total(), pairs, 0, 0, 0.0)
        expected = copies.expected
        if len(some) == 1:
            sides = {text for (text,) in own if text.isdecimal()}, set[str]()
            moved = _sought(some[0], some[0], IN_VALUES, sides, {text for (text,) in theirs})
            expected = max([expected, *(names.expected for names in moved)])
        fresh = {values for values, many in others.items() if many == 1}
        beside = None
        if fresh:
            beside = TwoSamples(standing, len(own), len(fresh & theirs.keys()), len(fresh))
        names = NamesInside(
            *("`, `".join(some), some[0], IN_VALUES, len(own), standing, expected),
            beside,
        )
        error = INSIDE_ERROR / len(sets)
        if names.is_beyond(error) and standing > copies.most_coincidences(error):
            yield names


def _cells(column: RawColumn) -> list[str]:
    """Return the cells of a column, numbers as they are counted; empty where there is none."""
    texts: list[str] = []
    for value in column.distinct:
        number = None if value is None else number_in(value)
        text = "" if value is None else folded(str(value))
        texts.append(text if number is None else f"{number:.15g}")
    return [texts[code] for code in column.codes.tolist()]


def names_of_several(raws: Mapping[str, Raw], unit: str | None = None) -> NamesOfSeveral:
    """Return the names and numbers of people with several rows that the file has, by column.

    unit: Column that names each row's person, as the user says.

    Names are sought in every column of the file, without leading zeros and the letters around a
    number. Running numbers tell nothing: any file that numbers its people has these.
    """
    real, made, control = raws["real"], raws["synthetic"], raws.get("control", {})
    each: list[NamesInside] = []
    columns: list[str] = []
    running: list[str] = []
    for name, column in real.items():
        if (name != unit and not numbers_people(name)) or _names(column):
            continue
        here, beside = (_plain_names(side.get(name)) for side in (real, control))
        if len(here) < _FEWEST:
            continue
        columns.append(name)
        if _is_running(here):
            running += [name] if here & _plain_names(made.get(name)) else []
            continue
        sought = [
            names
            for within, values in made.items()
            for names in _sought(name, within, IN_VALUES, (here, beside), _plain_names(values))
        ]
        each += sorted(sought, key=lambda names: -names.standing)[:1]
    error = INSIDE_ERROR / max(1, len(each) * len(made))
    there = tuple(names for names in each if names.is_beyond(error))
    return NamesOfSeveral(tuple(columns), there, tuple(running))


def _plain_names(column: RawColumn | None) -> set[str]:
    """Return the values of a column without leading zeros, and without letters around a number."""
    names: set[str] = set()
    for text in _values(column) if column is not None else ():
        number = number_in(text)
        is_whole = number is not None and float(number).is_integer()
        match = re.fullmatch(r"\D*?0*(\d+)\D*", f"{number:.0f}" if is_whole else text)
        names.add(match[1] if match else "".join(_WORD.findall(text)))
    return names


def _is_running(names: set[str]) -> bool:
    """Check whether names are numbers of which most between the least and the largest are there."""
    if not all(name.isdecimal() for name in names):
        return False
    numbers = [int(name) for name in names]
    return len(numbers) >= _RUNNING * (max(numbers) - min(numbers) + 1)


def _names(column: RawColumn) -> dict[str, int]:
    """Return the values of a column that names people; none of another column."""
    if len(column.distinct) < max(_FEWEST, _NAMES * len(column.codes)):
        return {}
    values = _values(column)
    return values if len(values) >= max(_FEWEST, _NAMES * len(column.codes)) else {}


def _values(column: RawColumn) -> dict[str, int]:
    """Return the values of a column, with the rows that have each."""
    times = np.bincount(column.codes, minlength=len(column.distinct)).tolist()
    values: dict[str, int] = {}
    for value, many in zip(column.distinct, times, strict=True):
        if value is not None and many:
            text = folded(str(value))[:_LONGEST]
            values[text] = values.get(text, 0) + many
    return values


def _as_token(text: str) -> str:
    """Return a name as it may be in a text; nothing of a short one, or of a measure."""
    number = number_in(text)
    if number is not None and not isinstance(number, int):
        return ""
    plain = "".join(_WORD.findall(text))
    if number is None and not re.search(r"[^\W\d_]", plain):  # a date
        return ""
    return plain if len(plain) >= (_SHORTEST if number is None else _SHORTEST_DIGITS) else ""


def _tokens(column: RawColumn) -> set[str]:
    """Return the words of the texts of a column, alone and a few as one; of no number."""
    tokens: set[str] = set()
    for text in _values(column):
        if not re.search(r"[^\W\d_]", text):
            continue
        words = _WORD.findall(text)
        for size in range(1, _MOST_WORDS + 1):
            tokens |= {"".join(words[at : at + size]) for at in range(len(words) - size + 1)}
    return tokens


def _decimals(column: RawColumn, real: RawColumn | None) -> set[str]:
    """Return the digits after the point of numbers that have more of these than the data's."""
    known = max((len(_after_point(text)) for text in _values(real)), default=0) if real else 0
    further = (_after_point(text) for text in _values(column))
    return {text for text in further if len(text) > max(known, _SHORTEST_DIGITS - 1)}


def _after_point(text: str) -> str:
    match = re.fullmatch(r"[-+]?\d*[.,](\d+)", text.strip())
    return match[1] if match else ""


def _sought(
    name: str, within: str, how: str, sides: tuple[set[str], set[str]], there: set[str]
) -> Iterator[NamesInside]:
    here, others = sides
    if not there or not here:
        return
    hit = len(here & there)
    numbers = sorted(int(value) for value in here if value.isdecimal())
    some = numbers[:: max(1, len(numbers) // _MOST_MOVED)]
    written = {int(text) for text in there if _WHOLE_NUMBER.fullmatch(text)}
    moved = sum(number + by in written for number in some for by in _MOVES) / len(_MOVES)
    expected = moved * len(numbers) / max(1, len(some))
    names = NamesInside(name, within, how, len(here), hit, expected, None)
    beside = TwoSamples(hit, len(here), len(others & there), len(others)) if others else None
    yield replace(names, beside=beside)


def _in_digits(
    name: str, within: str, sides: tuple[set[str], set[str]], further: set[str]
) -> Iterator[NamesInside]:
    """Yield the numbers of people that end the further digits of the file's numbers."""
    lengths = {len(number) for side in sides for number in side}
    ends = {text[-size:] for text in further for size in lengths if len(text) >= size}
    yield from _sought(name, within, "in its further digits", sides, ends)


def _sorted(text: str) -> str:
    words = _WORD.findall(text)
    return " ".join(sorted(words)) if len(words) > 1 and not text.isdigit() else ""


def _initials(text: str) -> str:
    """Return initial and surname of a name, written as "Ann B. Lee", "Lee, Ann" or "A. Lee"."""
    surname, comma, first = text.partition(",")
    if comma:
        words, first_words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", surname), _WORD.findall(first)
    else:
        words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)
        words, first_words = words[-1:], words[:-1]
    if not words or not first_words or re.search(r"\d", text):
        return ""
    return f"{first_words[0][0]} {' '.join(words)}"


def _in_other_words(
    name: str,
    within: str,
    how: str,
    form_of: Callable[[str], str],
    sides: tuple[dict[str, int], dict[str, int], dict[str, int]],
) -> Iterator[NamesInside]:
    """Yield the people whose name is that of a row in other words, and of nobody else.

    As many are expected as people are alike so who have other names, and as rows are.
    """
    values, others, written = sides
    forms, there = ({text: form_of(text) for text in side} for side in (values, written))
    changed = {form for text, form in there.items() if form and text not in values}
    here = _alone(forms.values())
    if len(here) < _FEWEST or not changed:
        return
    fresh = _alone(form_of(text) for text in others)
    ratio = len(written) / max(1, len(values))
    expected = 2 * ratio * _pairs(form for form in forms.values() if form)
    hit = len(here & changed)
    beside = TwoSamples(hit, len(here), len(fresh & changed), len(fresh)) if fresh else None
    yield NamesInside(name, within, how, len(here), hit, max(expected, 1.0), beside)


def _in_part(
    name: str, within: str, sides: tuple[dict[str, int], dict[str, int], dict[str, int]]
) -> Iterator[NamesInside]:
    """Yield the people a part of whose code is a value of the file, and of nobody else's code.

    As many are expected as after the parts are moved up and down, or as people are alike so.
    """
    values, others, written = sides
    codes, fresh = ({code for text in side if (code := _code(text))} for side in (values, others))
    there = {code for text in written if text not in values and (code := _code(text))}
    if len(codes) < _FEWEST or not there or not _are_codes(codes):
        return
    lengths = Counter(map(len, there))
    for size in {lengths.most_common(1)[0][0], max(lengths)}:
        known = {code.zfill(size) if code.isdecimal() else code for code in there}
        known = {code for code in known if len(code) == size}
        for way in _parts(max(map(len, codes)), size):
            forms = [form for code in codes if len(form := way(code)) == size]
            here = _alone(forms)
            beside = _alone(way(code) for code in fresh)
            for names in _sought(name, within, "cut or reversed", (here, beside), known):
                alike = 2 * len(there) / len(codes) * _pairs(forms)
                yield replace(names, expected=max(names.expected, alike))


def _code(text: str) -> str:
    """Return the letters and digits of a code; nothing of a text without digits or of a measure."""
    number = number_in(text)
    if number is not None and not isinstance(number, int):
        return ""
    code = "".join(_WORD.findall(text if number is None else str(number)))
    return code if re.search(r"\d", code) else ""


def _are_codes(codes: Collection[str]) -> bool:
    """Check whether codes number people, and measure nothing: as long, and no end is a favourite.

    Amounts are rounded, and have fewer digits where they are small.
    """
    longest = Counter(map(len, codes)).most_common(1)[0]
    ends = Counter(code[-1] for code in codes).most_common(1)[0]
    is_text = any(not code.isdecimal() for code in codes)
    is_long = is_text or (longest[0] >= _SHORTEST_DIGITS and longest[1] >= _NAMES * len(codes))
    return is_long and ends[1] <= _FAVOURITE * len(codes)


def _parts(longest: int, size: int) -> Iterator[Callable[[str], str]]:
    """Yield ways to cut codes to so many letters, and to reverse them."""
    if size < _SHORTEST_PART:
        return
    for end in range(longest - size + 1):
        for step in (1, -1):
            if step < 0 or longest > size:
                yield (
                    lambda code, end=end, step=step: (
                        code[len(code) - size - end : len(code) - end][::step]
                        if len(code) >= size + end
                        else ""
                    )
                )


def _times(forms: Iterable[str]) -> dict[str, int]:
    times: dict[str, int] = {}
    for form in forms:
        times[form] = times.get(form, 0) + 1
    return times


def _alone(forms: Iterable[str]) -> set[str]:
    return {form for form, many in _times(forms).items() if form and many == 1}


def _pairs(forms: Iterable[str]) -> int:
    return sum(many == 2 for many in _times(forms).values())
