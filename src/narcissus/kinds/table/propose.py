"""A proposed study of a table: columns to drop, bins, unknown columns, the release.

Every proposal has its reason, printed next to it in the file. Names and values suggest what a
column may be, never what it is: the owner of the data decides. No reason quotes a value that few
people have: a study is passed on more freely than its table.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from numpy.typing import NDArray

from narcissus._visible import visible
from narcissus.errors import InputError
from narcissus.kinds.table.found import OtherPrior
from narcissus.kinds.table.meanings import Meaning, meaning_of
from narcissus.kinds.table.twins import CERTAIN, Twins, weak
from narcissus.tables import Bins
from narcissus.tables import names as said
from narcissus.tables.bins import number_label
from narcissus.tables.coding import coding_of, round_width
from narcissus.tables.parts import ColumnSketch, TableSketch, share_of_most
from narcissus.tables.spelling import spelled
from narcissus.tables.table import unknown_column
from narcissus.tables.tally import ValueTally

FEW = 30  # values of a column up to which it is taken as it is
MOST_LABELS = 200  # values of a column that `read_table` takes
NEARLY_ALL = 0.9  # different values for each person from which on a text identifies people
MOST_CODES = 10  # texts among numbers that are taken for codes
COMMON = 20  # values that stay where rare ones are made one
MOST_OTHERS = 0.5  # share of the people in that one above which a column is not guessed
SEVERAL = 3  # people from whom on a value is written into a study
SEVERAL_ROWS = "has a person several rows?"
"""Begins a caution about a column that numbers people, each several times."""
CROWD = 0.01  # share of the people from which on a value is no rare one
OFTEN = 10  # people with a value from which on a comment may name it
LONG = 8  # digits from which on numbers all as long look like those of a card or a telephone
MOST_UNKNOWN = 3  # columns that are proposed to be unknown at once
MOST_VALUES = 1_000  # joint values of the columns that are proposed to be unknown
SURE = 0.8  # share of the most common value above which there is hardly anything to reconstruct
MOST_CELLS = 200_000  # of all tables together: what a first audit plays in minutes
MOST_TABLES = 300
LARGEST_K = 3
MOST_IN_A_GROUP = 10  # values of a column whose values are looked at one by one
TARGETS = 100
EPSILON = (1.0, 3.0, 10.0)
BY_VALUES: dict[Meaning, str] = {
    "weight": "looks like a weight of a survey: positive numbers with the mean or digits of one",
    "free text": "free text: several words, and nearly everybody has another",
    "group": "looks like the number of a household: equal values appear in neighbouring rows",
}
"""Why a column is left out that its values tell."""
ASKED = "as you asked"  # the reason of what was not proposed

Way = dict[str, float | int | list[str | float]]

_DATE = re.compile(r"\d{4}-\d\d?-\d\d?\b.*|\d\d?[./]\d\d?[./]\d{2,4}\b.*|\d{4}/\d\d?/\d\d?\b.*")


@dataclass(frozen=True)
class ColumnProposal:
    """The proposal for a column: leave it out, bin it, or take it as it is, with the reason."""

    name: str
    labels: int  # number of values it then has, the missing one included
    guess: float  # share of the people that have the most common one
    missing: int  # number of people without a value, of those looked at
    bins: Way  # as in a study file; None takes the column as it is
    reason: str = ""  # for the bins
    drop: str = ""  # the reason to leave it out, or nothing
    # values that look like codes for a missing one, not in ``bins.codes``, with their people
    missing_like: tuple[tuple[str, int], ...] = ()
    kind: str = ""  # what its values are: numbers, truth values, dates or texts
    values: int = 0  # number of different ones, before binning
    is_code: bool = False  # its values name a person, a group or a time, and are no secret
    each: float = 0.0  # rows with the same value, on average, of an identifier that repeats
    others: float = 0.0  # share of the people whose values the bins make one, "(other)"

    @property
    def is_lost(self) -> bool:
        """Whether most people are in one bin of others, so nothing is asked of their values."""
        return self.others > MOST_OTHERS


def propose_column(column: ColumnSketch, *, wanted: bool = False) -> ColumnProposal:
    """Propose what to do with a column.

    The proposal was tried: it is what `read_table` would make of the values seen. A ``wanted``
    column is kept if it can be, however much it looks like an identifier.
    """
    labels, guess, kind, others = 0, 1.0, "", 0.0
    bins: Way = {}
    reason, tally = "", column.tally
    try:
        read = spelled(column.name, tally.values)
        kind, tally = read.kind, tally.meaning(read.values).merged()
        drop = "" if wanted else _identifies(column, tally)
        bins, reason = ({}, "") if drop else _bins(column, tally, wanted=wanted)
    except InputError as error:
        drop = _shortly(str(error), column.name)
    if not drop:
        try:
            made = Bins(**bins) if bins else None  # pyright: ignore[reportArgumentType]
            coding = coding_of(column.tally, made, MOST_LABELS)
            people = np.bincount(coding.codes[:-1], weights=column.tally.counts)
            mode_count = max(float(people.max()), column.tally.missing)
            labels, guess = len(coding.labels), mode_count / column.tally.rows
            if common := bins.get("common"):
                assert isinstance(common, int)
                kept = sum(sorted(tally.counts, reverse=True)[:common])
                others = 1 - kept / max(1, sum(tally.counts))
        except InputError as error:
            drop = _shortly(str(error), column.name)
    different, is_named = len(tally.values), said.numbers_people(column.name)
    each = column.people / different if is_named and different > 2 else 0.0
    return ColumnProposal(
        column.name,
        labels,
        guess,
        column.tally.missing,
        bins,
        reason,
        drop,
        _missing_like(tally, bins),
        kind,
        different,
        is_named or _names_groups(column, tally),
        each if each >= 1 / NEARLY_ALL else 0.0,
        others,
    )


def _shortly(message: str, name: str) -> str:
    """Take the error out of a reader's message, without the column and the remedy."""
    text = message.removeprefix(f"column `{name}` ").removeprefix("has ")
    return re.split(r": drop|; drop|: replace|, so there| \(most are|: bin it|: keep", text)[0]


def _identifies(column: ColumnSketch, tally: ValueTally) -> str:
    values, people = tally.values, column.people
    different = len(values)
    if different < 3:
        return ""
    share = different / people
    shown = f"{different:,} values among {people:,} people"
    numbers = np.array([float(value) for value in values if not isinstance(value, str)])
    has_fractions = bool((numbers != np.floor(numbers)).any())
    if has_fractions and len(numbers) == different:  # a measurement, whatever it is called
        return ""
    with_digits = sum(any(c.isdigit() for c in str(value)) for value in values)
    is_of_people = said.numbers_people(column.name) and 2 * with_digits > different
    if is_of_people and share < 1 / 2:
        return f"looks like an identifier by its name, of several rows a person: {shown}"
    is_named = is_of_people or said.says(column.name, said.IDENTIFIES)
    if is_named and (share >= 0.5 or different > MOST_LABELS):
        return f"looks like an identifier by its name: {shown}"
    if share < NEARLY_ALL:
        return ""
    looks = "" if 2 * len(numbers) > different else "nearly everybody has another text"
    if len(numbers) == different:
        is_time = said.says(column.name, said.TIME)
        looks = _counts_people(numbers, in_order=share == 1 and not is_time)
    return looks and f"{looks}: {shown}"


def _names_groups(column: ColumnSketch, tally: ValueTally) -> bool:
    """Whether values are codes of groups or times, by the name or by the order they appear in.

    Tables are often sorted by who was asked: then values appear in their order. Measurements
    hardly do.
    """
    if any(said.says(column.name, meaning) for meaning in (said.CODES, said.PLACE, said.TIME)):
        return True
    values, different = tally.values, len(tally.values)
    if different <= MOST_CODES or 2 * different > column.people:
        return False
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        return len(texts) == different and values == sorted(values)
    return _rises(np.array(values, dtype=np.float64), different * 2)


def _rises(numbers: NDArray[np.float64], span: float) -> bool:
    """Whether whole numbers rise in the order they appear in, none far from the next."""
    whole = bool((numbers == np.floor(numbers)).all())
    return whole and bool((np.diff(numbers) > 0).all()) and numbers[-1] - numbers[0] <= span


def _counts_people(numbers: NDArray[np.float64], *, in_order: bool) -> str:
    if not np.isfinite(numbers).all() or (numbers != np.floor(numbers)).any():
        return ""
    if len(numbers) > FEW and numbers.max() - numbers.min() < len(numbers) / NEARLY_ALL:
        return "numbers people one after the other"
    if in_order and len(numbers) > FEW and _rises(numbers, 20 * len(numbers)):
        return "rises from row to row, as a row's number does"
    lengths = {len(number_label(abs(number))) for number in numbers.tolist()}
    if len(lengths) == 1 and lengths.pop() >= LONG:
        return "long numbers, nearly all different, such as of cards or telephones"
    return ""


def _bins(column: ColumnSketch, tally: ValueTally, *, wanted: bool) -> tuple[Way, str]:
    numeric = [i for i, value in enumerate(tally.values) if not isinstance(value, str)]
    texts = [i for i, value in enumerate(tally.values) if isinstance(value, str)]
    if len(tally.values) <= FEW and not texts:
        return {}, ""
    numbers = np.array([float(tally.values[i]) for i in numeric])
    # counted from 1 in the order of the rows, and each several times
    counted = not texts and min(numbers) in (0, 1) and 2 * len(numbers) <= column.people
    counted = counted and _rises(numbers, len(numbers)) and not said.says(column.name, said.TIME)
    named_so = any(
        said.says(column.name, meaning) for meaning in (said.CODES, said.PLACE, said.PERSON)
    )
    are_names = (named_so or counted) and bool((numbers == np.floor(numbers)).all())
    lonely = [i for i in texts if tally.counts[i] < SEVERAL and not _is_code(tally.values[i])]
    if numeric and len(numeric) > FEW and len(texts) <= MOST_CODES and not are_names and not lonely:
        counts = np.array([tally.counts[i] for i in numeric])
        return _number_bins(numbers, counts, [str(tally.values[i]) for i in texts])
    if len(tally.values) <= FEW:
        return {}, ""
    return _common(column, tally, are_names=are_names, wanted=wanted)


def _is_code(text: str) -> bool:
    """Whether a text among numbers is a code, such as N or n.a., and no person's own answer."""
    return _spelt(text) in said.MISSING_LIKE or (len(text) <= 3 and not any(map(str.isdigit, text)))


def _common(
    column: ColumnSketch, tally: ValueTally, *, are_names: bool, wanted: bool
) -> tuple[Way, str]:
    crowd = max(CROWD * column.people, SEVERAL)
    many = sum(times >= crowd for times in tally.counts)
    why = f"{len(tally.values):,} values, of which {many:,} are those of one person in a hundred"
    if are_names:
        why += "; the numbers are names of something, without distances"
    dates = sum(_DATE.fullmatch(str(value)) is not None for value in tally.values)
    if 2 * dates > len(tally.values):
        why += "; they look like dates: a column with the year alone would keep more"
    if not many and not wanted:
        raise InputError(why.replace("of which 0 are those", "none of which is that"))
    common = min(COMMON, many or COMMON)
    stay = "the most common one stays" if common == 1 else f"the {common} most common stay"
    return {"common": common}, f"{why}: {stay}, all others become (other)"


def _number_bins(
    numbers: NDArray[np.float64], counts: NDArray[np.int64], texts: Sequence[str]
) -> tuple[Way, str]:
    codes: list[str | float] = [*sorted(texts), *_isolated(numbers, counts)]
    is_plain = ~np.isin(numbers, [code for code in codes if not isinstance(code, str)])
    values, place = np.unique(numbers[is_plain], return_inverse=True)
    people = np.bincount(place, weights=counts[is_plain])
    beside: Way = {"codes": codes} if codes else {}
    among = ""
    if texts:
        among = "; texts among the numbers (`codes`) stay separate values"
    if len(codes) > len(texts):
        among += "; what lies far from all others looks like a code for a missing value"
    if not len(values) or not np.isfinite(values).all():
        return {}, ""
    many = f"{len(values):,} different numbers"
    mode = float(values[np.argmax(people)])
    if share_of_most(people.tolist()) >= 0.5 and mode == values[0]:
        return {"above": mode, **beside}, (
            f"{many}, and at least every second person has the lowest: that, or more{among}"
        )
    if len(values) <= FEW and not codes:
        return {}, ""
    width = round_width(values)
    binned = np.bincount(np.floor((values - values[0]) / width).astype(int), weights=people)
    if share_of_most(binned.tolist()) > 0.5:
        return {"quantiles": 5, **beside}, (
            f"{many}, most of them close together: five groups of nearly equal size{among}"
        )
    whole = int(width) if width == int(width) else width
    return {"width": whole, **beside}, f"{many}: about ten bins of a round width{among}"


def _isolated(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> list[str | float]:
    """Return numbers that look like codes for a missing value.

    Written as such codes are, held by several people, and negative where no others are, or further
    above all others than these are from each other.
    """
    codes: list[float] = []
    looks = [number_label(number) in said.MISSING_LIKE for number in numbers.tolist()]
    rest = numbers[~np.array(looks, dtype=bool)]
    if not rest.size:
        return []
    span = rest.max() - rest.min()
    for number, times, is_like in zip(numbers.tolist(), counts.tolist(), looks, strict=True):
        is_below = number < 0 <= rest.min()
        if is_like and times >= OFTEN and (is_below or number - rest.max() > span):
            codes.append(int(number))
    return sorted(set(codes))  # pyright: ignore[reportReturnType]


def _missing_like(tally: ValueTally, bins: Way) -> tuple[tuple[str, int], ...]:
    if "codes" in bins:
        return ()
    pairs = [
        (value, times)
        for value, times in zip(tally.values, tally.counts, strict=True)
        if isinstance(value, str) and times >= OFTEN and _spelt(value) in said.MISSING_LIKE
    ]
    return tuple(sorted(pairs))


def _spelt(text: str) -> str:
    return re.sub(r"[\s']+", "_", text.lower().replace("'", ""))


@dataclass(frozen=True)
class Proposal:
    """A study of a table."""

    sketch: TableSketch
    columns: tuple[ColumnProposal, ...]  # those kept, with their bins, in the table's order
    drop: Mapping[str, str]  # those left out, by name, with the reason
    unknown: tuple[str, ...]
    unknown_reason: str
    secret: tuple[str, ...]  # more that look like secrets, taken as known to the attacker
    public: tuple[str, ...]  # that look like public knowledge
    groups: tuple[str, ...]
    k: int  # columns of each released table
    tables: int
    cells: int
    epsilon: tuple[float, ...]
    delta: float
    cautions: tuple[str, ...]  # why an audit of it would show little, a sentence each
    seen: tuple[ColumnProposal, ...]  # all that were looked at, in the table's order
    prior: OtherPrior | None = None  # in place of the usual one, which the table refutes


def propose(
    sketch: TableSketch,
    *,
    unknown: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    wanted: Sequence[str] = (),
    known: Sequence[str] = (),
    epsilon: Sequence[float] = EPSILON,
    stand_in: bool = True,
) -> Proposal:
    """Propose a study that can be played as it is.

    ``drop`` are columns to leave out besides those proposed, and those left out of the sketch;
    ``unknown`` are the columns to be reconstructed, None proposes them; ``wanted`` are others that
    are kept if they can be; ``known`` are never proposed to be unknown. ``stand_in``: whether a
    column may serve where none looks secret.

    UnsureError: No column is asked for, none looks secret, and none may serve.
    """
    drop = [*sketch.left_out, *drop]
    _check_choice(sketch, unknown, drop)
    left_out = (
        {"": "no name: an index that was written along, or name it"} if sketch.unnamed else {}
    )
    left_out |= dict.fromkeys(drop, ASKED)
    wanted_names = {*(unknown or ()), *wanted}
    each = [
        propose_column(column, wanted=column.name in wanted_names)
        for column in sketch.columns
        if column.name not in left_out
    ]
    meanings = {column.name: meaning_of(column) for column in sketch.head}
    left_out |= {
        column.name: BY_VALUES[meaning]
        for column in each
        if (meaning := meanings.get(column.name, "")) in BY_VALUES
        and column.name not in wanted_names
    }
    left_out |= {column.name: column.drop for column in each if column.drop}
    columns = [column for column in each if column.name not in left_out]
    _require_usable(sketch, columns, left_out, unknown or ())
    lost = [column for column in columns if column.is_lost and column.name not in wanted]
    twins = Twins(sketch.head)
    diagnoses = [name for name, meaning in meanings.items() if meaning == "diagnosis"]
    secrets = [c for c in lost if c.name in diagnoses or said.says(c.name, said.SECRET)]
    if unknown is None:
        free = _free(columns, lost, known)
        chosen, reason = _unknown(free, twins, diagnoses, stand_in=stand_in)
    else:
        _refuse_lost([column for column in lost if column.name in unknown])
        chosen, reason = tuple(unknown), ASKED
    revealers = _revealers(columns, chosen, wanted, twins)
    left_out |= revealers
    columns = [column for column in columns if column.name not in revealers]
    k, tables, cells = _size(columns, chosen)
    rest = [column for column in columns if column.name not in chosen]
    rows = sketch.all_rows or sketch.rows
    return Proposal(
        sketch=sketch,
        columns=tuple(columns),
        drop=left_out,
        unknown=chosen,
        unknown_reason=reason,
        secret=tuple(c.name for c in rest if said.says(c.name, said.SECRET)),
        public=tuple(c.name for c in rest if said.says(c.name, said.PUBLIC)),
        groups=tuple(
            c.name for c in rest if said.says(c.name, said.GROUPS) and c.labels <= MOST_IN_A_GROUP
        )[:2],
        k=k,
        tables=tables,
        cells=cells,
        epsilon=tuple(epsilon),
        delta=min(1e-5, float(f"1e-{len(str(rows))}")),
        cautions=(
            *_cautions(sketch.rows, columns, chosen, each),
            *(f"{_shown(c.name)} is not guessed: {_of_lost(c)}" for c in secrets),
        ),
        seen=tuple(each),
    )


def _check_choice(sketch: TableSketch, unknown: Sequence[str] | None, drop: Sequence[str]) -> None:
    """Refuse columns that are not there, and a choice that leaves nothing to attack."""
    if unknown is not None and not unknown:
        raise InputError("no column is to be unknown: name one that the attacker is after")
    for name in (*(unknown or ()), *drop):
        if name not in (*sketch.names, *sketch.left_out):
            raise InputError(unknown_column(name, sketch.names))
    if both := [name for name in unknown or () if name in drop]:
        raise InputError(f"`{both[0]}` is to be unknown and to be left out: decide for one")


def _revealers(
    columns: Sequence[ColumnProposal], chosen: Sequence[str], wanted: Sequence[str], twins: Twins
) -> dict[str, str]:
    """Return columns that determine an unknown one, each with the reason to leave it out."""
    return {
        column.name: f"determines {_shown(name)}: who knows the one knows the other"
        for column in columns
        if column.name not in (*chosen, *wanted)
        for name in chosen
        if twins.tells(column.name, name)
    }


def _cautions(
    rows: int,
    kept: Sequence[ColumnProposal],
    unknown: Sequence[str],
    each: Sequence[ColumnProposal],
) -> Iterator[str]:
    for field in (field for field in each if field.each):
        yield (
            f"{SEVERAL_ROWS} {_shown(field.name)} has {field.values:,} values, each in "
            f"{field.each:.1f} rows on average. The audit takes a row for a person: name it as the "
            "`unit` to keep one row of each, or read its numbers as those of rows"
        )
    guess = {c.name: (c.guess, "") for c in kept if c.name in unknown}
    bins = {c.name: c.bins for c in kept}
    yield from weak(rows, len(kept) - len(unknown), guess, bins)


def _free(
    columns: Sequence[ColumnProposal], lost: Sequence[ColumnProposal], known: Sequence[str]
) -> list[ColumnProposal]:
    """Return the columns of which one may be unknown.

    InputError: There is none.
    """
    candidates = [column for column in columns if column.name not in known]
    if not candidates:
        raise InputError(
            "`known` names every column that could be guessed: leave one out of it, or name "
            "what the attacker is after with `--unknown COLUMN`"
        )
    free = [column for column in candidates if column not in lost]
    _refuse_lost([] if free else lost)
    return free


def _refuse_lost(lost: Sequence[ColumnProposal]) -> None:
    for column in lost:
        raise InputError(f"`{column.name}` cannot be unknown: {_of_lost(column)}")


def _of_lost(column: ColumnProposal) -> str:
    """Say that a column has too many values to be guessed, and what to do."""
    return (
        f"it has {column.values:,} values, and {100 * column.others:.0f} of 100 people have one "
        "that few others have; write groups of its values into a column of all files, and name "
        "that one, `--unknown COLUMN`, or bin it yourself"
    )


def _require_usable(
    sketch: TableSketch,
    kept: Sequence[ColumnProposal],
    left_out: Mapping[str, str],
    unknown: Sequence[str],
) -> None:
    for name in unknown:
        if name in left_out:
            raise InputError(f"`{name}` cannot be unknown: {left_out[name]}")
    if not kept:
        shown = [f"`{name}`: {why}" for name, why in list(left_out.items())[:3]]
        rest = f"; and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        raise InputError(
            f"no column of {sketch.source or 'the data frame'} can be audited: {'; '.join(shown)}"
            f"{rest}"
        )


class UnsureError(InputError):
    """No column looks like what an attacker is after: the user must name it."""


def _unknown(
    kept: Sequence[ColumnProposal], twins: Twins, diagnoses: Sequence[str], *, stand_in: bool
) -> tuple[tuple[str, ...], str]:
    """Choose the attacker's goal by the columns' names and values; return the reason too."""
    no_codes = [c for c in kept if not c.is_code] or list(kept)
    uncertain = [c for c in no_codes if c.guess < CERTAIN] or no_codes
    if candidates := [c for c in kept if c.name in diagnoses]:
        return tuple(
            c.name for c in _few(candidates, kept)
        ), "its values look like codes of diagnoses"
    meanings = [(said.SECRET, "the name says something that people keep to themselves")]
    if stand_in:
        reason = "no name says a secret; this one says an outcome, which it often is"
        meanings.append((said.OUTCOME, reason))
    for meaning, reason in meanings:
        candidates: list[ColumnProposal] = []
        for column in uncertain:
            if said.says(column.name, meaning) and not any(
                twins.tells(candidate.name, column.name) or twins.tells(column.name, candidate.name)
                for candidate in candidates
            ):
                candidates.append(column)
        if candidates:
            return tuple(c.name for c in _few(candidates, kept)), reason
    private = [c for c in uncertain if not said.says(c.name, said.PUBLIC)] or uncertain
    if not stand_in:
        raise UnsureError(
            "no column says that it is a secret, so nothing is played: name what the attacker is "
            f"after by --unknown COLUMN, with COLUMN of {_choices(private)}"
        )
    open_ = [c for c in private if c.guess <= SURE] or private
    open_ = [c for c in open_ if c.kind != "texts" or c.values <= FEW] or open_
    few = [c for c in open_ if c.labels <= MOST_IN_A_GROUP] or open_
    stand_ins = (
        c for c in reversed(few) if not any(twins.tells(k.name, c.name) for k in kept if k != c)
    )
    return (next(stand_ins, few[-1]).name,), (
        "no name says a secret: a column of few values, none of which most people have, is a "
        "stand-in, choose yourself"
    )


def _choices(columns: Sequence[ColumnProposal]) -> str:
    """List columns as a shell takes their names."""
    names = [visible(c.name if c.name.isalnum() else shlex.quote(c.name)) for c in columns]
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest


def _few(found: Sequence[ColumnProposal], kept: Sequence[ColumnProposal]) -> list[ColumnProposal]:
    chosen: list[ColumnProposal] = []
    values = 1
    for column in found:
        values *= column.labels
        is_known = len(kept) > len(chosen) + 1
        if chosen and (values > MOST_VALUES or len(chosen) == MOST_UNKNOWN or not is_known):
            break
        chosen.append(column)
    return chosen


def _size(kept: Sequence[ColumnProposal], unknown: Sequence[str]) -> tuple[int, int, int]:
    sizes = [column.labels for column in kept]
    known = [column.labels for column in kept if column.name not in unknown]
    size = (1, 0, 0)
    for k in range(1, min(LARGEST_K, len(kept)) + 1):
        tables = _products([1] * len(sizes), k) - _products([1] * len(known), k)
        cells = _products(sizes, k) - _products(known, k)
        if k > 1 and (tables > MOST_TABLES or cells > MOST_CELLS):
            break
        size = (k, tables, cells)
    return size


def _products(sizes: Sequence[int], k: int) -> int:
    """Sum the products of all choices of k sizes (the elementary symmetric polynomial)."""
    sums = [1, *[0] * k]
    for size in sizes:
        for chosen in range(k, 0, -1):
            sums[chosen] += size * sums[chosen - 1]
    return sums[k]


_WIDTH = 100
_SHOWN = 12  # names in a comment
_FEW_SHOWN = 3
_HEAD = ("column", "kind", "values", "missing", "proposal", "why")
_NAME = 24  # letters of a name beside its row in the table of columns
_LEAST_ROOM = 24  # letters of a line of a reason


def draft(proposal: Proposal, path: str, *, preset: str = "") -> str:
    """Return the text of a study file; ``path`` of the table is relative to its folder.

    preset: Who set the threshold that is written; empty writes none.
    """
    sketch, columns = proposal.sketch, proposal.columns
    rows = f"all {sketch.rows:,} rows"
    if not sketch.is_whole:
        there = "" if sketch.all_rows is None else f" of {sketch.all_rows:,}"
        rows = f"the first {sketch.rows:,} rows{there}, and not the rest"
    if sketch.remarks:
        rows += f" ({'; '.join(sketch.remarks)})"
    gaps = _empty_cells(columns)
    made = Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    made.filters |= {"toml": _toml, "key": _key, "shown": _shown, "named": named}
    made.filters["comment"] = _comment
    template = files("narcissus.kinds.table") / "draft.toml.jinja"
    return made.from_string(template.read_text(encoding="utf-8")).render(
        vars(proposal),
        path=path,
        preset=preset,
        rows=rows,
        # cells of a kept column are empty, or may be where nobody looked
        may_be_missing=not sketch.is_whole or gaps,
        empty=f"Empty cells: {gaps}" if gaps else "No cell that was looked at is empty",
        declared=[name for name, why in proposal.drop.items() if why == ASKED or not name],
        aside={name: why for name, why in proposal.drop.items() if why != ASKED and name},
        known=[column.name for column in columns if column.name not in proposal.unknown],
        table=understood(proposal),
        targets=TARGETS,
        has_noise=any(map(math.isfinite, proposal.epsilon)),  # exact counts guarantee nothing
    )


def named(names: Iterable[str]) -> str:
    listed = list(names)
    rest = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(map(_shown, listed[:_SHOWN])) + rest


def _shown(name: str) -> str:
    """Quote a name so that it stays on its line, whatever it holds."""
    return f"`{name}`" if name.isprintable() and name else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{_key(name)} = {_toml(member)}" for name, member in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, float):
        return (f"{value:g}" if float(f"{value:g}") == value else repr(value)).replace("e-0", "e-")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    is_plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_plain else _toml(name)


def _comment(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(text.strip("\n"), _WIDTH - 2 - len(indent), break_on_hyphens=False)
    return "".join(f"{indent}# {line}\n" for line in lines)


def understood(proposal: Proposal) -> list[str]:
    """Return a table of the columns as they were read: what is proposed, and why.

    A long name has its own line, and a long reason goes on below.
    """
    rows: list[tuple[str, ...]] = [_HEAD]
    for candidate in proposal.seen:
        ways = ", ".join(
            f"{way} {value}" for way, value in candidate.bins.items() if way != "codes"
        )
        role = ", ".join(filter(None, ["known", ways]))
        why = candidate.reason.rpartition(": ")[2]  # the counts before it stand beside it
        if candidate.name in proposal.unknown:
            role, why = role.replace("known", "unknown"), proposal.unknown_reason
        elif candidate.name in proposal.drop:
            role, why = "left out", proposal.drop[candidate.name].partition(":")[0]
        counts = (
            f"{candidate.values:,}" if candidate.values else "",
            f"{candidate.missing:,}" if candidate.missing else "",
        )
        rows.append((_shown(candidate.name), candidate.kind, *counts, role, why))
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    widths[0] = max(len(row[0]) for row in rows if len(row[0]) <= _NAME)
    lines: list[str] = []
    for name, *row, why in rows:
        if len(name) > _NAME:
            lines.append(name)
        cells = [
            cell.rjust(w) if head in ("values", "missing") else cell.ljust(w)
            for cell, w, head in zip(
                ["" if len(name) > _NAME else name, *row], widths, _HEAD, strict=False
            )
        ]
        start = "".join(f"{cell}  " for cell in cells)
        room = max(_LEAST_ROOM, _WIDTH - 2 - len(start))
        first, *more = textwrap.wrap(why, room) or [""]
        lines += [f"{start}{first}".rstrip(), *(f"{'':{len(start)}}{part}" for part in more)]
    return lines


def _empty_cells(columns: Sequence[ColumnProposal]) -> str:
    """Count the empty cells of columns; no text where there are none."""
    gaps = [column for column in columns if column.missing]
    cells = ", ".join(f"{column.missing:,} in {_shown(column.name)}" for column in gaps[:_SHOWN])
    rest = f" and {len(gaps) - _SHOWN} more columns" if len(gaps) > _SHOWN else ""
    return f"{cells}{rest}"


def brief(proposal: Proposal) -> list[str]:
    """Return five lines on what was understood, and one for each caution."""
    sketch, columns = proposal.sketch, proposal.columns
    ways = {column.name: " in bins" for column in columns if column.bins}
    known = [column.name for column in columns if column.name not in proposal.unknown]
    shown = [f"{_shown(name)}{ways.get(name, '')}" for name in known[:_SHOWN]]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    left = [f"{_shown(name)} ({why.partition(':')[0]})" for name, why in proposal.drop.items()]
    rest = f" and {len(left) - _FEW_SHOWN} more" if len(left) > _FEW_SHOWN else ""
    levels = ", ".join(f"{level:g}" for level in proposal.epsilon)
    gaps = _empty_cells(columns)
    wide = "one column" if proposal.k == 1 else f"{proposal.k} columns"
    return [
        f"rows: {sketch.rows:,}{'' if sketch.is_whole else ' of more'}, taken for people; "
        f"columns: {len(columns) + len(proposal.drop)}",
        f"the attacker seeks: {named(proposal.unknown)} ({proposal.unknown_reason})",
        f"and knows: {', '.join(shown)}{more}" if known else "and knows: nothing else",
        f"left out: {'; '.join(left[:_FEW_SHOWN])}{rest}" if left else "left out: no column",
        f"released, as an example: noisy counts of every table of {wide} that shows what is "
        f"sought, at \u03b5 = {levels}",
        *(f"read: {text}" for text in sketch.remarks),
        *([f"empty cells, taken for a separate value: {gaps}"] if gaps else []),
        *_warnings(proposal),
    ]


def summary(proposal: Proposal) -> list[str]:
    """Summarise the proposal for the command line, a line each."""
    lines = [*understood(proposal), ""]
    lines += [f"read: {text}" for text in proposal.sketch.remarks]
    lines.append(f"unknown: {named(proposal.unknown)} ({proposal.unknown_reason})")
    for heading, names in (
        ("left out", list(proposal.drop)),
        ("looks secret too", proposal.secret),
        ("looks public", proposal.public),
    ):
        if names:
            lines.append(f"{heading}: {named(names)}")
    return [*lines, *_warnings(proposal)]


def _warnings(proposal: Proposal) -> Iterator[str]:
    """Yield why the proposal may be of no use, a line each."""
    columns = proposal.sketch.columns
    same = [column.name for column in columns if column.name in map(str, column.tally.values)]
    if 2 * len(same) > len(columns) > 1:
        yield (
            f"no header? {named(same)} are values of their columns as well: the first line must "
            "hold the columns' names, and not a person"
        )
    yield from (f"caution: {text}." for text in proposal.cautions)
