"""What each column of a published table is, recognized by its values.

A column is a dimension only if rows need it: without it, two rows would be about the same people.
Columns that rows do not need are a code of another dimension, a larger group of its labels, a
percentage of the counts, flags, or they are not understood. A column that is not understood waits
for a declaration, since it may tell of hidden counts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations, compress, permutations
from math import comb, log
from typing import Literal

from narcissus._validation import did_you_mean
from narcissus._visible import visible
from narcissus.counts.codes import SecondLabels, are_ordered_by_counts, find_flag_signs
from narcissus.counts.marks import Rules, label_of, read_number
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

Role = Literal[
    "dimension",
    "count",
    "magnitude",
    "mean",
    "median",
    "mean or median",
    "total",
    "percent",
    "code",
    "group",
    "flags",
    "empty",
    "irrelevant",
    "counts beside totals",
    "not understood",
]
_SINGLE = re.compile(
    r"column (?P<name>`[^\n]*`) of (?P<file>[^\n]*)\n`(?P<option>--irrelevant [^`]*)`"
    r"(?P<rest>, or `--texts-tell-nothing` [^`]*)?"
)
"""Subject and declaration of a question that one option settles."""
Row = tuple[int, Sequence[str]]
"""A row of a file: its line, and its cells."""
MARGIN = "*"
FEWEST_CLASSES = 3
"""Labels, with a margin, that must correspond before a column without a name of codes is one."""
FEWEST_MEMBERS = 4
"""Labels of a dimension that must be in one group each before a column is asked about."""
ODDS = 1000.0
"""By which rows must be unlike a crossing of two dimensions before one holds groups of another."""
_CODE = re.compile(
    r"(.*[_ \-.])?(codes?|id|nr|no|key|kz|kennziffer|nuts\d?|iso\d?|lau\d?|fips|ags|ars|gss|label"
    r"|labels|name|names|bezeichnung|description|title)([_ \-.]?\d*)",
    re.I,
)
_PERCENT = re.compile(
    r".*(%|percent|per cent|\bpct\b|_pct|pct_|prozent|anteil|\bshare\b|_share|share_|\brates?\b"
    r"|_rates?\b|rate_|quote\b|ratio\b|proportion|pourcent|taux|porcent|tasa|percentuale"
    r"|per[ _]?1[., ]?000|promille).*",
    re.I,
)
_RATE = re.compile(
    r"\brates?\b|_rates?\b|rate_|quote\b|taux|tasa|per[ _]?1[., ]?000|promille", re.I
)
_FLAGS = re.compile(
    r"(obs|conf)?[ _]?(flags?|status|notes?|footnotes?|symbols?|marks?|signs?|quality|remarks?"
    r"|comments?|bemerkung(en)?|fussnoten?|zeichen)",
    re.I,
)
_STATISTIC = re.compile(
    r"(?:mean|average|avg\.?|median)(?: of)? (\w+)|(\w+) ?\((?:mean|average|median)\)"
    r"|durchschnittsalter|(?:mittleres|durchschnittliches|medianes) alter"
    r"|\u00e2ge (?:moyen|m\u00e9dian)|edad (?:media|mediana)|et\u00e0 (?:media|mediana)",
    re.I,
)
"""Names of columns of means and medians, with their variable; of other languages those of ages."""
_FLAG_VALUES = {
    *("", "a", "b", "c", "d", "e", "f", "g", "i", "l", "m", "n", "p", "q", "r", "s", "u", "v", "x"),
    *("z", "be", "bp", "de", "dp", "ep", "bu", "ok", "final", "provisional", "preliminary"),
    *("revised", "estimated", "normal", "published", "suppressed", "hidden", "confidential", "*"),
    *(".", "..", ":", "break", "not available", "available", "actual", "official", "-"),
}
"""Flags that tell nothing of a count: its source, or that it is hidden."""
DIFFERENT_FLAGS = "different next to hidden counts"
_REVISIONS = {"r", "e", "b", "revised", "estimated"}
"""Flags of a list in which p stands for provisional, and not for primary."""


@dataclass(frozen=True)
class ColumnUse:
    """What a column of a table was taken for.

    Options
    -------
    column: its name.
    role: what it is.
    detail: of which dimension or number, in words.
    """

    column: str
    role: Role
    detail: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON; ``detail`` is left out where there is none."""
        shown = {"column": self.column, "role": self.role}
        return shown | ({"detail": self.detail} if self.detail else {})


@dataclass(frozen=True)
class SecondName:
    """A column that names labels of another dimension once more, or groups of them.

    Options
    -------
    column, of: the column, and the dimension.
    labels: the label of the dimension behind each label of the column; for groups, the column's
        label behind each label of the dimension.
    is_group: whether each label of the column stands for several of the dimension.
    """

    column: str
    of: str
    labels: Mapping[str, str]
    is_group: bool


@dataclass(frozen=True, kw_only=True)
class DeclaredColumns:
    """Columns that the user declares, by name.

    Options
    -------
    count: holds the counts.
    dimension: dimensions.
    percent: percentages or rates of the counts.
    margins: of percentages, the dimensions of whose labels together they are of.
    group: groups of another dimension's labels.
    code: codes or names of another dimension's labels.
    irrelevant: tell nothing of the counts; they are not read.
    """

    count: tuple[str, ...] = ()
    dimension: tuple[str, ...] = ()
    percent: tuple[str, ...] = ()
    margins: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    group: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    irrelevant: tuple[str, ...] = ()

    def of_file(self, files: Set[str], names: Set[str]) -> DeclaredColumns:
        """Return what is declared of the columns of one file: ``FILE:COLUMN``, or of all files.

        Parameters
        ----------
        files: names of all files.
        names: of this file, alone and with its sheet.
        """
        each = (self.count, self.dimension, self.percent, self.group, self.code, self.irrelevant)
        split = [split_file(text, files) for texts in each for text in texts]
        special = {column.casefold() for file, column in split if file in names}

        def is_own(text: str) -> bool:
            file, column = split_file(text, files)
            return file in names if file is not None else column.casefold() not in special

        def own(texts: Iterable[str]) -> tuple[str, ...]:
            return tuple(split_file(text, files)[1] for text in texts if is_own(text))

        return DeclaredColumns(
            count=own(self.count),
            dimension=own(self.dimension),
            percent=own(self.percent),
            margins={
                split_file(k, files)[1]: some for k, some in self.margins.items() if is_own(k)
            },
            group=own(self.group),
            code=own(self.code),
            irrelevant=own(self.irrelevant),
        )


def split_file(text: str, files: Set[str]) -> tuple[str | None, str]:
    """Return file and column of ``FILE:COLUMN``; None: it is of all files."""
    file = next((name for name in files if text.startswith(f"{name}:")), None)
    return file, text if file is None else text[len(file) + 1 :].strip()


@dataclass(frozen=True)
class ReadColumns:
    """The columns of one table.

    Options
    -------
    dimensions: by place in the header, the name.
    percents: places of columns that seem to hold percentages.
    numbers: places of further columns of numbers, which may be what percentages are of.
    second_names: codes and groups of dimensions.
    uses: what each other column is.
    unaccounted: columns that were not understood.
    """

    dimensions: Mapping[int, str]
    percents: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    second_names: tuple[SecondName, ...] = ()
    uses: tuple[ColumnUse, ...] = ()
    unaccounted: tuple[Unaccounted, ...] = field(default=())


def is_percent_name(name: str) -> bool:
    """Return whether a column's name says that it holds percentages or rates."""
    return _PERCENT.fullmatch(name) is not None


def is_rate_name(name: str) -> bool:
    """Return whether a column's name says that it holds rates of a population."""
    return _RATE.search(name) is not None


def is_code_name(name: str) -> bool:
    """Return whether a column's name says that it holds codes or names of labels."""
    return _CODE.fullmatch(name) is not None


def is_flag_name(name: str) -> bool:
    """Return whether a column's name says that it holds flags or remarks."""
    return _FLAGS.fullmatch(name) is not None


def find_declared(header: Sequence[str], names: Sequence[str]) -> set[int]:
    """Return the places of declared columns in a header; those of other tables are left out."""
    wanted = {name.casefold() for name in names}
    return {at for at, name in enumerate(header) if name.casefold() in wanted}


def require_declared(
    headers: Mapping[str, Sequence[str]], declared: DeclaredColumns, files: Set[str]
) -> None:
    """Refuse a declared column that no table has, and one that is declared twice.

    Parameters
    ----------
    headers: of each table, its columns.
    declared: columns as ``FILE:COLUMN``, or of all files.
    files: names of all files.
    """
    options = {
        "count": declared.count,
        "dimension": declared.dimension,
        "percent": declared.percent,
        "group": declared.group,
        "code": declared.code,
        "irrelevant": declared.irrelevant,
    }
    places: dict[tuple[str | None, str], str] = {}
    for option, texts in options.items():
        for text in texts:
            file, name = split_file(text, files)
            known = {
                column
                for table, header in headers.items()
                if file is None or table == file or table.startswith(f"{file}#")
                for column in header
            }
            if name.casefold() not in {column.casefold() for column in known}:
                of = "no table has" if file is None else f"{visible(file)} does not have"
                raise InputError(
                    f"`--{option}`: {of} a column {visible(name)!r}{did_you_mean(name, known)}"
                )
            other = places.setdefault((file, name.casefold()), option)
            if other != option:
                raise InputError(
                    f"the column {visible(text)!r} is declared by `--{other}` and by "
                    f"`--{option}`: leave one out"
                )


def option_of(way: str, value: str) -> str:
    """Return an option as it is typed, in marks of code; a value with blanks is quoted."""
    is_plain = re.fullmatch(r"[\w.,:=%+\-/@]+", value) is not None
    return f"`--{way} {value}`" if is_plain else f'`--{way} "{value}"`'


def ask_for_column(file: str, name: str, reason: str, *ways: str) -> Unaccounted:
    """Return the question what a column is, with the options that answer it."""
    options = [option_of(way, name) for way in ways]
    return Unaccounted(
        subject=f"column `{visible(name)}` of {visible(file)}",
        reason=reason,
        declaration=visible(" or ".join(options)),
    )


def join_columns(questions: Iterable[Unaccounted]) -> list[Unaccounted]:
    """Return questions, each once; columns of a file that one option settles are one question."""
    joined: dict[object, list[Unaccounted]] = {}
    for question in dict.fromkeys(questions):
        match = _SINGLE.fullmatch(f"{question.subject}\n{question.declaration}")
        joined.setdefault(question if match is None else match["file"], []).append(question)
    return [some[0] if len(some) == 1 else _join(some) for some in joined.values()]


def _join(questions: Sequence[Unaccounted]) -> Unaccounted:
    """Return one question of several columns of a file."""
    texts = (f"{q.subject}\n{q.declaration}" for q in questions)
    matches = [match for text in texts if (match := _SINGLE.fullmatch(text))]
    options = dict.fromkeys(match["option"] for match in matches)
    return Unaccounted(
        subject=f"columns {', '.join(match['name'] for match in matches)} of {matches[0]['file']}",
        reason=" ".join(dict.fromkeys(question.reason for question in questions)),
        declaration=f"`{' '.join(options)}`"
        + next((match["rest"] for match in matches if match["rest"]), ""),
    )


class _ColumnTexts:
    """The columns of one table that are neither counts nor statistics."""

    def __init__(
        self,
        file: str,
        header: Sequence[str],
        rows: Sequence[Row],
        rules: Rules,
        counts: Sequence[int] = (),
    ) -> None:
        self.file, self.header, self.rows, self.rules = file, header, rows, rules
        self._counts = counts  # places of printed numbers
        self._labels: dict[int, list[str]] = {}

    def largest(self, at: int) -> dict[str, int | None]:
        """Return the largest printed count behind each label of a column."""
        counts: dict[str, int | None] = {}
        for label, (_, cells) in zip(self.labels(at), self.rows, strict=True):
            numbers = [read_number(cells[place], thousands_point=True) for place in self._counts]
            printed = [int(number) for number in numbers if number is not None]
            known = counts.setdefault(label, None)
            counts[label] = max([*printed, *([] if known is None else [known])], default=None)
        return counts

    def second_labels(self, at: int, of: int) -> SecondLabels:
        """Return a column's values as what may be codes or names of another column's labels."""
        labels, others = self.labels(at), self.labels(of)
        texts = dict.fromkeys(
            label
            for label, other in zip(labels, others, strict=True)
            if MARGIN not in (label, other)
        )
        totals = [
            text for text, other in zip(self.texts(at), others, strict=True) if other == MARGIN
        ]
        counts, behind = self.largest(at), defaultdict[str, list[int | None]](list)
        for label, numbers in zip(labels, zip(*self._printed(), strict=True), strict=False):
            behind[label] += numbers
        return SecondLabels(
            self.header[at],
            self.header[of],
            list(texts),
            [counts[text] for text in texts],
            totals[0] if totals else "",
            not self.are_apart([of]),
            [behind[text] for text in texts],
        )

    def printed(self, place: int) -> list[int | None]:
        """Return the printed count of each row in a column of counts; None: it is hidden."""
        numbers = [read_number(cells[place], thousands_point=True) for _, cells in self.rows]
        return [None if number is None else int(number) for number in numbers]

    def signs(self, at: int) -> str:
        """Return how flags of a column tell the printed counts next to them, in words."""
        flags = _flags(self, at)
        return next(filter(None, (find_flag_signs(flags, n) for n in self._printed())), "")

    def _printed(self) -> list[list[int | None]]:
        return [self.printed(place) for place in self._counts]

    def hides(self) -> list[bool]:
        """Return for each row whether it hides a count."""
        return [
            any(self.rules.suppressed(cells[at]) is not None for at in self._counts)
            for _, cells in self.rows
        ]

    def texts(self, at: int) -> list[str]:
        """Return the cells of a column."""
        return [cells[at] for _, cells in self.rows]

    def labels(self, at: int) -> list[str]:
        """Return the labels of a column; a margin, and an empty cell, is `MARGIN`."""
        if at not in self._labels:
            labels = map(label_of, self.texts(at))
            self._labels[at] = [
                MARGIN if not text or self.rules.is_total(text) else text for text in labels
            ]
        return self._labels[at]

    def is_empty(self, at: int) -> bool:
        return not any(self.texts(at))

    def is_constant(self, at: int) -> bool:
        return len(set(self.labels(at)) - {MARGIN}) <= 1 and not self.has_gaps(at)

    def has_gaps(self, at: int) -> bool:
        return not all(self.texts(at))

    def holds_numbers(self, at: int) -> bool:
        """Return whether a column holds numbers and marks, and a number at least."""
        texts = [text.removesuffix("%").strip() for text in self.texts(at) if text]
        numbers = [read_number(text.replace(",", ".")) is not None for text in texts]
        odd = [
            text
            for text, is_number in zip(texts, numbers, strict=True)
            if not is_number and not self.rules.is_value(text) and not self.rules.is_total(text)
        ]
        return any(numbers) and not odd

    def holds_fractions(self, at: int) -> bool:
        """Return whether a number of a column has decimals or a percent sign."""
        return self.holds_numbers(at) and any(
            re.fullmatch(r"[\d\s]*\d([.,]\d{1,2}|[.,]\d{4,})\s*%?|[\d.,\s]+%", text)
            for text in self.texts(at)
        )

    def holds_codes(self, at: int) -> bool:
        """Return whether numbers are codes: zeros lead, or they are 1, 2, 3 and so on."""
        texts = {text for text in self.texts(at) if text and not self.rules.is_total(text)}
        leading = any(re.fullmatch(r"0\d+", text) for text in texts)
        return leading or texts == set(map(str, range(1, len(texts) + 1)))

    def is_running_number(self, at: int, others: Sequence[int]) -> bool:
        """Return whether a column numbers the rows, which other columns tell apart.

        It tells no more than their order, unless that is the order of the counts.
        """
        texts = self.texts(at)
        if texts != list(map(str, range(1, len(texts) + 1))) or not self.are_apart(others):
            return False
        orders = [
            [number for _, cells in self.rows if (number := read_number(cells[k])) is not None]
            for k in self._counts
        ]
        return all(order not in (sorted(order), sorted(order)[::-1]) for order in orders)

    def are_apart(self, places: Sequence[int]) -> bool:
        """Return whether no two rows have the same labels in all of some columns."""
        keys = list(zip(*(self.labels(at) for at in places), strict=True))
        if not places:
            return len(self.rows) <= 1
        return len(set(keys)) == len(keys)


def read_columns(
    file: str,
    header: Sequence[str],
    rows: Sequence[Row],
    taken: Mapping[int, str],
    rules: Rules,
    declared: DeclaredColumns,
    variable: str = "",
) -> ReadColumns:
    """Recognize what the columns are that hold no counts and no statistics.

    Options
    -------
    file: name of the table, for questions.
    header, rows: all columns and rows.
    taken: columns that have a role, by place.
    rules: which words are margins and marks.
    declared: columns whose role the user declares.
    variable: a dimension of this name has ranges as labels, which are no parts of groups.
    """
    numbers_at = [at for at, role in taken.items() if role == "count"]
    table = _ColumnTexts(file, header, rows, rules, numbers_at)
    dropped = find_declared(header, declared.irrelevant) - set(taken)
    uses = [ColumnUse(header[at], "irrelevant", "declared") for at in sorted(dropped)]
    forced = find_declared(header, declared.dimension)
    percents = find_declared(header, declared.percent)
    places = [at for at in range(len(header)) if at not in taken and at not in dropped | percents]
    for at in list(places):
        if table.is_empty(at) and at not in forced and len(places) > 1:
            uses.append(ColumnUse(header[at], "empty"))
            places.remove(at)
        elif at not in forced and table.is_running_number(at, [k for k in places if k != at]):
            uses.append(ColumnUse(header[at], "irrelevant", "running number of rows"))
            places.remove(at)
    search = _SecondNames(table, places, declared, variable)
    second_names = search.names
    renamed = {second.column for second in second_names}
    uses += [_use_of(second) for second in second_names]
    places = [at for at in places if header[at] not in renamed]
    needed = _needed(table, places, forced)
    subjects = {question.subject for question in search.questions}
    spare = [at for at in places if at not in needed]
    unaccounted = search.questions
    numbers: list[int] = []
    for at in spare:
        if _is_percent(table, at):
            percents.add(at)
        elif _holds_flags(table, at) and (reason := _describe_telling_flags(table, at)):
            uses.append(ColumnUse(header[at], "not understood"))
            unaccounted.append(ask_for_column(file, header[at], reason, "irrelevant"))
        elif _holds_flags(table, at):
            are_apart = len(_hidden_flags(table, at)) > 1
            uses.append(ColumnUse(header[at], "flags", DIFFERENT_FLAGS if are_apart else ""))
        elif table.holds_numbers(at):
            numbers.append(at)
        else:
            uses.append(ColumnUse(header[at], "not understood"))
            question = _ask(table, at, needed)
            unaccounted += [question] * (question.subject not in subjects)
    return ReadColumns(
        {at: header[at] for at in needed},
        tuple(sorted(percents)),
        tuple(numbers),
        tuple(second_names),
        tuple(uses),
        tuple(unaccounted),
    )


def ask_for_numbers(file: str, name: str) -> Unaccounted:
    """Return the question what a further column of numbers is."""
    return ask_for_column(
        file,
        name,
        "The numbers may tell of hidden counts, and no sum of counts explains them.",
        "irrelevant",
    )


def _use_of(second: SecondName) -> ColumnUse:
    if second.is_group:
        return ColumnUse(second.column, "group", f"labels of {second.of} are parts of its labels")
    return ColumnUse(second.column, "code", f"labels of {second.of}")


def _is_percent(table: _ColumnTexts, at: int) -> bool:
    named = is_percent_name(table.header[at])
    return table.holds_numbers(at) and (named or table.holds_fractions(at))


def _holds_flags(table: _ColumnTexts, at: int) -> bool:
    values = {text.casefold().strip("[]()") for text in table.texts(at)}
    named = _FLAGS.fullmatch(table.header[at]) is not None
    return values <= _FLAG_VALUES and (named or ("" in values and len(values) < 4))


def _flags(table: _ColumnTexts, at: int) -> list[str]:
    return [text.casefold().strip("[]()") for text in table.texts(at)]


def _hidden_flags(table: _ColumnTexts, at: int) -> set[str]:
    return set(compress(_flags(table, at), table.hides()))


def _describe_telling_flags(table: _ColumnTexts, at: int) -> str:
    """Return why flags may tell hidden cells apart, as small ones and others; empty: they do not.

    Flags of other things, as revised, are next to printed numbers too, and do not follow these.
    """
    hidden = _hidden_flags(table, at)
    printed = set(compress(_flags(table, at), (not is_in for is_in in table.hides())))
    if len(hidden) < 2:
        return ""
    if hidden - printed - {""} - ({"p"} if printed & _REVISIONS else set()):
        return "Its flags tell hidden cells apart: some may be small, and others protect them."
    signs = table.signs(at)
    return f"Its flags tell hidden cells apart, and {signs}." if signs else ""


def ask_for_variable(file: str, name: str) -> Unaccounted | None:
    """Ask of which variable a column holds the mean or median; None: its name tells of none."""
    match = _STATISTIC.fullmatch(name.replace("_", " "))
    if match is None:
        return None
    about = (match[1] or match[2] or "age").casefold()
    example = option_of("variable", f"{about}={'0:125' if about == 'age' else 'LOW:HIGH'}")
    way = f"{example} with its range" if about == "age" else f"its least and largest, {example}"
    return Unaccounted(
        subject=f"column `{visible(name)}` of {visible(file)}",
        reason="A mean next to a hidden count tells of it, once the variable is known.",
        declaration=visible(f"{way}, or {option_of('irrelevant', name)} if it is of other people"),
    )


def _ask(table: _ColumnTexts, at: int, needed: Sequence[int]) -> Unaccounted:
    names = [table.header[other] for other in needed if _maps(table, other, at) is not None]
    if table.has_gaps(at) or not names:
        reason = "It was not understood, and may tell of hidden counts."
    else:
        reason = (
            f"Each label of {visible(names[0])} has one of its labels, so it may be a code or "
            "a group, tell of its counts, or other rows are left out."
        )
        return ask_for_column(
            table.file, table.header[at], reason, "irrelevant", "code", "dimension"
        )
    return ask_for_column(table.file, table.header[at], reason, "irrelevant", "dimension")


def _needed(table: _ColumnTexts, places: Sequence[int], forced: set[int]) -> list[int]:
    """Return the columns that tell rows apart, or whose only label is that of all rows.

    Percentages are tried first, then flags, numbers, what may be a measure, and labels from the
    last one on.
    """

    def rank(at: int) -> tuple[bool, bool, bool, bool, int]:
        numbers = table.holds_numbers(at) and not table.holds_codes(at)
        may_be_labels = table.second_labels(at, at).may_be_labels()
        is_other = _is_percent(table, at), _holds_flags(table, at)
        return (not is_other[0], not is_other[1], not numbers, may_be_labels, -at)

    columns = list(places)
    if not table.are_apart(columns):
        return columns  # two rows about the same people are refused where they stand
    for at in sorted(places, key=rank):
        is_spare = at not in forced and table.are_apart([k for k in columns if k != at])
        if is_spare and len(columns) > 1 and _may_leave(table, at):
            columns.remove(at)
    return columns


def _may_leave(table: _ColumnTexts, at: int) -> bool:
    """Return whether a column that tells no rows apart may be something else than a dimension.

    One label of all rows, as of a year, changes nothing: it stays a dimension.
    """
    is_odd = _is_percent(table, at) or _holds_flags(table, at) or table.has_gaps(at)
    named = _FLAGS.fullmatch(table.header[at]) is not None
    numbers = table.holds_numbers(at) and len(table.rows) > 1 and not table.is_constant(at)
    return is_odd or named or numbers or not table.is_constant(at)


def _maps(table: _ColumnTexts, source: int, target: int) -> dict[str, str] | None:
    """Return the label of one column behind each label of another; None: there are several."""
    pairs: dict[str, str] = {}
    for label, other in zip(table.labels(source), table.labels(target), strict=True):
        if pairs.setdefault(label, other) != other:
            return None
    return pairs


class _SecondNames:
    """Codes and groups among columns of labels, and columns that may be groups."""

    def __init__(
        self, table: _ColumnTexts, places: Sequence[int], declared: DeclaredColumns, variable: str
    ) -> None:
        self.table = table
        self.names: list[SecondName] = []
        self.questions: list[Unaccounted] = []
        self._forced = find_declared(table.header, declared.dimension)
        self._declared = find_declared(table.header, declared.group)
        self._codes = find_declared(table.header, declared.code)
        self._variable = find_declared(table.header, [variable])
        self._left = [at for at in places if at in self._codes or not _is_other(table, at)]
        for pair in combinations(list(self._left), 2):
            self._read_codes(*pair)
        for at, other in permutations(list(self._left), 2):
            self._read_groups(at, other)

    def _read_codes(self, at: int, other: int) -> None:
        table, second = self.table, _same_labels(self.table, at, other)
        if second is None or not {at, other} <= set(self._left) or second[0] in self._forced:
            return
        column, of = (other, at) if other in self._codes else second
        column, of = (at, other) if at in self._codes else (column, of)
        if column not in self._codes and not _are_alike(table, column, of):
            if table.second_labels(column, of).tell_counts():
                return  # no labels, which the other column could name
            column, of = of, column
            if column in self._forced or not _are_alike(table, column, of):
                return
        self._left.remove(column)
        pairs = {k: v for k, v in (_maps(table, column, of) or {}).items() if k != MARGIN}
        self.names.append(SecondName(table.header[column], table.header[of], pairs, is_group=False))

    def _read_groups(self, coarse: int, fine: int) -> None:
        table = self.table
        if not {coarse, fine} <= set(self._left) or coarse in self._forced:
            return
        pairs = None if fine in self._variable else _groups(table, fine, coarse)
        if pairs is None:
            return
        may_tell = are_ordered_by_counts(pairs, table.largest(fine))
        is_sure = _unlike_crossing(pairs) >= log(ODDS)
        if coarse in self._declared or (is_sure and not may_tell):
            self._left.remove(coarse)
            names = table.header[coarse], table.header[fine]
            self.names.append(SecondName(*names, pairs, is_group=True))
        elif len(pairs) >= FEWEST_MEMBERS and min(Counter(pairs.values()).values()) > 1:
            name, of = visible(table.header[coarse]), visible(table.header[fine])
            reason = f"Each label of `{of}` has one of its labels, so it may hold groups of them."
            if is_sure:
                reason = (
                    "Its labels are in the order of the printed counts, or those of one are all "
                    "hidden: they may be classes of size."
                )
            ways = ("group", "irrelevant" if is_sure else "dimension")
            question = ask_for_column(table.file, name, reason, *ways)
            self.questions.append(question)


def _are_alike(table: _ColumnTexts, code: int, of: int) -> bool:
    """Return whether a column holds codes, and the other one labels."""
    are_labels = table.second_labels(of, code).may_be_labels()
    return are_labels and table.second_labels(code, of).are_codes()


def _unlike_crossing(pairs: Mapping[str, str]) -> float:
    """Return the logarithm of how much rarer so few pairs are if two dimensions are crossed.

    Some cells of a crossing, drawn randomly, show each label once more rarely than this.
    """
    labels, groups = len(pairs), len(set(pairs.values()))
    return log(comb(labels * groups, labels)) - labels * log(groups)


def _is_other(table: _ColumnTexts, at: int) -> bool:
    """Return whether a column holds numbers that are no codes, percentages or flags."""
    if table.is_constant(at) or len(set(table.labels(at)) - {MARGIN}) < 2:
        return True
    if _FLAGS.fullmatch(table.header[at]):
        return True
    if _CODE.fullmatch(table.header[at]):
        return False
    if _holds_flags(table, at) and not table.are_apart([at]):
        return True
    return table.holds_numbers(at) and not table.holds_codes(at)


def _same_labels(table: _ColumnTexts, at: int, other: int) -> tuple[int, int] | None:
    """Return which of two columns is the code of which, where labels correspond one to one."""
    forth, back = _maps(table, at, other), _maps(table, other, at)
    if forth is None or back is None:
        return None
    has_name = any(_CODE.fullmatch(table.header[k]) for k in (at, other))
    if not has_name and len(forth) < FEWEST_CLASSES:
        return None
    margins = [MARGIN in table.labels(k) for k in (at, other)]
    if margins[0] != margins[1]:  # the names are those that tell which row is the total
        return (other, at) if margins[0] else (at, other)
    are_numbers = table.holds_numbers(at) and not table.holds_numbers(other)
    codes = re.search(r"(?i)code|id|nuts|iso|ags|fips|kz|nr\b", table.header[at]) is not None
    return (at, other) if are_numbers or codes else (other, at)


def _groups(table: _ColumnTexts, fine: int, coarse: int) -> dict[str, str] | None:
    """Return the group of each label, where a column holds groups of another column's labels.

    None where a label is in several groups, and where no group has two labels.
    """
    pairs: dict[str, str] = {}
    for label, group in zip(table.labels(fine), table.labels(coarse), strict=True):
        if label != MARGIN and (group == MARGIN or pairs.setdefault(label, group) != group):
            return None
    groups = list(pairs.values())
    return pairs if 1 < len(set(groups)) < len(groups) else None
