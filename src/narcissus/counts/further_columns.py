"""Columns of a published table that are neither labels nor counts: percentages, rates, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from narcissus._visible import visible
from narcissus.counts.codes import find_count_signs
from narcissus.counts.column_sums import list_sums, may_be_part, read_counts
from narcissus.counts.columns import (
    ColumnUse,
    ask_for_numbers,
    ask_for_variable,
    is_percent_name,
    is_rate_name,
    option_of,
)
from narcissus.counts.marks import Meaning, Rules, read_number
from narcissus.counts.percents import PercentRead, read_shares, use_percents, use_rates
from narcissus.counts.reading import Cell, TableRead
from narcissus.counts.relations import are_means, find_pair, find_relation
from narcissus.errors import InputError
from narcissus.rows import Unaccounted


@dataclass
class WithShares:
    """The cells of a table with their percentages, and what its further columns are.

    Options
    -------
    cells: with their shares.
    narrowed: the same with narrower counts, and wholes that no cell prints, to see sums by.
    uses: what columns are.
    possible_parts: columns that are declared irrelevant, and may count some of the people.
    questions: of columns that were not understood.
    """

    cells: list[Cell]
    narrowed: list[Cell]
    uses: list[ColumnUse] = field(default_factory=list[ColumnUse])
    possible_parts: list[str] = field(default_factory=list[str])
    questions: list[Unaccounted] = field(default_factory=list[Unaccounted])

    def add(self, read: PercentRead) -> None:
        """Take the shares of a column; a cell keeps the one that it has."""
        many = len(self.cells)
        for at, cell in enumerate(read.cells):
            if self.cells[at].share is None:
                self.cells[at] = replace(self.cells[at], share=cell.share)
        for at, cell in enumerate(read.narrowed[:many]):
            self.narrowed[at] = replace(self.narrowed[at], count=cell.count)
        self.narrowed += read.narrowed[many:]


_LONG = (
    "a copy with a row for each part (its label, a mark for its count, its percentage) if they are "
    "of parts that no count shows"
)
_NO_OPTION = "the labels that its percentages are of, as `--percent COLUMN=LABEL,...`"


class FurtherColumns:
    """The columns of one table that are neither labels nor counts."""

    def __init__(
        self,
        table: TableRead,
        cells: Sequence[Cell],
        rules: Rules,
        others: Sequence[str],
        margins: Mapping[str, tuple[str, ...]],
        several: Set[str] = frozenset(),
        groups: Mapping[str, Set[str]] | None = None,
    ) -> None:
        self.table, self.rules, self.others = table, rules, others
        self.several = several  # columns that other tables have, too
        self.groups = groups  # of a dimension, labels that have others as their parts
        self.margins = {name.casefold(): margin for name, margin in margins.items()}
        self.found = WithShares(list(cells), list(cells))
        columns = table.columns
        self.texts = {
            table.header[at]: [row[at] for _, row in table.rows]
            for at in (*columns.percents, *columns.numbers)
        }
        self.used: set[str] = set()  # columns that rates are of

    def read(self) -> WithShares:
        """Recognize percentages and rates, and ask for what is left."""
        columns, header = self.table.columns, self.table.header
        for name, texts in self.table.percents_across.items():
            self._take(name, self._across(name, texts))
        for name in (header[at] for at in columns.percents):
            if name not in self.table.percents_across:
                self._take(name, self._of_rows(name, self.texts[name]))
        for name in (header[at] for at in columns.numbers):
            if name in self.used:
                self.found.uses.append(ColumnUse(name, "magnitude", "what rates are of"))
                continue
            self.found.uses.append(ColumnUse(name, "not understood"))
            question = ask_for_variable(self.table.file, name)
            self.found.questions.append(question or ask_for_numbers(self.table.file, name))
        self._require_no_sums()
        self.found.possible_parts = self._list_possible_parts()
        for name, (option, texts) in self.table.unread.items():
            self._require_unread(name, option, texts)
        return self.found

    def _of_rows(self, name: str, texts: Sequence[str]) -> PercentRead:
        """Read a column with a percentage for each row of the file."""
        if self.table.labels_across:
            return self._across(name, texts)
        return self._percents(name, texts)

    def _take(self, name: str, read: PercentRead) -> None:
        if read.is_used:
            self.found.add(read)
            self.found.uses.append(ColumnUse(name, "percent", read.of))
            return
        if not read.of and (question := ask_for_variable(self.table.file, name)):
            self.found.uses.append(ColumnUse(name, "mean or median"))
            self.found.questions.append(question)
            return
        self.found.uses.append(ColumnUse(name, "not understood", read.of))
        column = f"{self.table.file}:{name}" if name in self.several else name
        ways = [("percent", f"{column}={','.join(margin)}") for margin in read.margins[:3]]
        ways += (
            [("others", dimension) for dimension in read.ways]
            if isinstance(read, _AskForOthers)
            else []
        )
        options = [option_of(*way) for way in ways]
        # whoever declares percentages of these counts irrelevant declares something false
        is_of_counts = bool(read.of) or isinstance(read, _AskForOthers)
        options += (
            []
            if is_of_counts
            else [
                f"{option_of('irrelevant', column)} if they are not of these counts",
                *([_LONG] if "%" in name and name not in self.table.percents_across else []),
            ]
        )
        self.found.questions.append(
            Unaccounted(
                subject=f"column `{visible(name)}` of {visible(self.table.file)}",
                reason=read.why,
                declaration=visible(" or ".join(options or [_NO_OPTION])),
            )
        )

    def _percents(
        self, name: str, texts: Sequence[str], places: Sequence[int] | None = None
    ) -> PercentRead:
        """Read a column of percentages; ``places`` are the cells of its rows."""
        cells = self.found.cells
        places = range(len(cells)) if places is None else places
        if self.rules.unit is not None or len(places) != len(texts):
            return PercentRead(cells, cells, why="Its percentages may tell of hidden totals.")
        try:
            printed = dict(zip(places, read_shares(texts, self.rules), strict=True))
        except InputError as error:
            why = f"It was not read as percentages: {error}."
            return PercentRead(cells, cells, why=why)
        shares = [printed.get(at) for at in range(len(cells))]
        margin = self.margins.get(name.casefold(), ())
        is_named = is_percent_name(name)
        read = use_percents(
            cells,
            shares,
            self.rules,
            is_named=is_named,
            others=self.others,
            margin=margin,
            groups=self.groups,
        )
        if read.of or margin:
            return read
        if rates := use_rates(cells, shares, self.texts, self.rules):
            self.used.add(rates[1])
            return rates[0]
        if not read.margins and (open_to := self._with_others(cells, shares, name)):
            return open_to
        return read

    def _with_others(
        self, cells: Sequence[Cell], shares: Sequence[Any], name: str
    ) -> PercentRead | None:
        """Return the question of percentages whose whole has people with none of the labels."""
        names = dict.fromkeys(label for cell in cells for label in cell.labels)
        for dimension in () if is_rate_name(name) else names:  # rates are of other people
            read = use_percents(
                cells,
                shares,
                self.rules,
                is_named=is_percent_name(name),
                others=[dimension],
                groups=self.groups,
            )
            if read.is_used and read.of:
                why = f"They are percentages {read.of}, and of people with none of these labels."
                ways = (dimension,)
                return _AskForOthers(list(cells), list(cells), why=why, ways=ways)
        return None

    def _across(self, name: str, texts: Sequence[str]) -> PercentRead:
        """Read a column of percentages among the counts of a wide table: of which label it is."""
        labels = self.table.labels_across
        words = re.findall(r"\w+", name.casefold())
        named = [k for k, label in enumerate(labels) if label.casefold() in words]
        named = named or [
            k for k, label in enumerate(labels) if label.casefold() in name.casefold()
        ]
        reads = [
            self._percents(name, texts, range(at, len(self.table.cells), len(labels)))
            for at in named or range(len(labels))
        ]
        used = [read for read in reads if read.is_used]
        if len(used) == 1 or (used and named):
            return used[0]
        if used:
            why = "It is not settled of which column of counts its percentages are."
            return replace(used[0], why=why)
        return next((read for read in reads if read.of or read.margins), reads[0])

    def _find_sign(
        self,
        name: str,
        texts: Sequence[str],
        counts: Sequence[int | None],
        cells: Sequence[Cell],
    ) -> str:
        """Return how a column that is left out tells counts, alone or with another; or empty."""
        if sign := find_count_signs(texts, counts) or find_relation(texts, counts):
            return sign
        if are_means(texts, counts, [cell.labels for cell in cells]):
            return "those of sums are means of their parts, weighted by the counts"
        for other, (_, other_texts) in self.table.unread.items():
            if other > name and (sign := find_pair(texts, other_texts, counts)):
                return f"with `{visible(other)}`, {sign}"
        return ""

    def _counts(self) -> Iterator[tuple[str, list[Cell]]]:
        """Yield each column of counts, with its cells in the order of rows."""
        cells = self.found.cells
        names = list(dict.fromkeys(cell.column for cell in cells))
        for name in names:
            some = [cell for cell in cells if cell.column == name]
            if len(some) == len(self.table.rows):
                yield name, some

    def _unread_counts(self) -> dict[str, list[Meaning]]:
        """Return what the cells of columns tell that are left out, where they may be counts."""
        columns = {
            name: read_counts(texts, self.rules) for name, (_, texts) in self.table.unread.items()
        }
        return {name: counts for name, counts in columns.items() if counts is not None}

    def _require_no_sums(self) -> None:
        """Refuse to leave out columns that sum to counts with others, or are such sums."""
        unread = self._unread_counts()
        read = {
            name: [cell.count for cell in some]
            for name, some in (self._counts() if unread else ())
            if name not in unread
        }
        names = [*unread, *read]
        columns = dict(enumerate([*unread.values(), *read.values()]))
        some, others = set(range(len(unread))), set(range(len(unread), len(names)))
        for column_sum in list_sums(columns, columns, some) if others else ():
            if column_sum.places & others:
                name = names[min(column_sum.places & some)]
                parts = " and ".join(f"`{visible(names[at])}`" for at in column_sum.parts)
                option = self.table.unread[name][0]
                raise InputError(
                    f"{visible(self.table.file)}: the column `{visible(name)}` is declared by "
                    f"`--{option}`, and tells of counts: in each row, {parts} sum to "
                    f"`{visible(names[column_sum.whole])}`. Leave the declaration out, or the "
                    "column out of the publication"
                )

    def _list_possible_parts(self) -> list[str]:
        """List columns that are declared irrelevant, and may count some of the people.

        They are nowhere above the counts, and have sums where these have them.
        """
        names = {name for name, (option, _) in self.table.unread.items() if option == "irrelevant"}
        columns: list[str] = []
        for name, counts in self._unread_counts().items():
            for _, cells in self._counts() if name in names else ():
                people = [cell.count for cell in cells]
                if may_be_part(counts, people, [cell.labels for cell in cells]):
                    columns.append(name)
        return list(dict.fromkeys(columns))

    def _require_unread(self, name: str, option: str, texts: Sequence[str]) -> None:
        """Refuse to leave out a column from which hidden counts can be computed."""
        cells = [_without(cell, name) for cell in self.found.cells]
        if all(cell.count.kind == "exact" for cell in cells):
            return
        many = max(1, len(self.table.labels_across))
        for at in range(many):
            some = cells[at::many]
            counts = [cell.count.low if cell.count.kind == "exact" else None for cell in some]
            if len(some) != len(texts):
                continue
            if sign := self._find_sign(name, texts, counts, some):
                raise _refuted(self.table.file, name, option, sign)
        if option == "code" or not any(read_number(text.rstrip("% ")) for text in texts):
            return
        known, self.found.cells = self.found.cells, cells
        read = self._of_rows(name, texts)
        self.found.cells = known
        if read.is_used and read.of:
            raise _refuted(self.table.file, name, option, f"its numbers are shares {read.of}")
        if isinstance(read, _AskForOthers):
            raise _refuted(self.table.file, name, option, read.why[0].lower() + read.why[1:-1])


@dataclass(frozen=True)
class _AskForOthers(PercentRead):
    """Percentages of people of whom some have none of the labels."""

    ways: tuple[str, ...] = ()


def _without(cell: Cell, name: str) -> Cell:
    labels = {key: label for key, label in cell.labels.items() if key != name}
    return replace(cell, labels=labels, share=None)


def _refuted(file: str, name: str, option: str, sign: str) -> InputError:
    return InputError(
        f"{visible(file)}: the column `{visible(name)}` is declared by `--{option}`, and tells "
        f"hidden counts: {sign}. Leave the declaration out, or the column out of the publication"
    )
