"""Published tables, made again of other people by the rule that made them.

What is printed of a cell follows from what was printed there before: a mark below the threshold, a
range, a multiple of the base, a number perturbed by a key, and statistics next to counts that are
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from narcissus._validation import one_of
from narcissus._visible import quoted, visible
from narcissus.counts.marks import Meaning, Rules, read_number
from narcissus.counts.people import MOST_PEOPLE, agrees
from narcissus.counts.reading import Cell, CellShare, Statistic, Variable
from narcissus.counts.system import Dimension, Ints, Structure, dimensions_of, places_of, selection
from narcissus.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def values_of(people: pd.DataFrame, variable: Variable | None) -> Ints | None:
    """Return each person's whole number of the variable; None: not all people have one."""
    name = next(filter(variable.is_named, people.columns), None) if variable else None
    if variable is None or name is None:
        return None
    known = {label: variable.value(str(label)) for label in people[name].unique()}
    return None if None in known.values() else people[name].map(known).to_numpy(np.int64)


@dataclass(frozen=True, eq=False)
class AsPublished:
    """The rule that made published cells: makes them again of other people.

    Cells of fewer people than `Rules.below` (or the number of their mark) are suppressed, but in
    tables that print so few; cells with a mark that says nothing stay suppressed. A count is
    printed as a range that its table prints, is rounded as declared, or is perturbed by fresh keys:
    each person has one, and their sum is the key of a cell. Means, medians and totals are rounded
    to as many decimals, and hidden where the count is, but in tables that show them there. So are
    percentages and rates.
    """

    cells: Sequence[Cell]
    structure: Structure
    rules: Rules

    @cached_property
    def _dimensions(self) -> dict[str, Dimension]:
        return dimensions_of(self.cells, self.structure)

    @cached_property
    def _has_zeros(self) -> bool:
        shown = (cell for cell in self.cells if cell.count.kind in ("exact", "perturbed"))
        return self.rules.no_zeros or any(read_number(cell.printed) == 0 for cell in shown)

    @cached_property
    def _tables(self) -> dict[str, _PrintedTable]:
        files: dict[str, list[Cell]] = {}
        for cell in self.cells:
            files.setdefault(cell.file, []).append(cell)
        return {file: _PrintedTable(cells, self.rules) for file, cells in files.items()}

    @property
    def columns(self) -> list[str]:
        """Columns that people need."""
        return list(self._dimensions)

    @property
    def variable(self) -> Variable | None:
        """What published statistics are about; people need its column for them to be made again."""
        return self.structure.variable if any(cell.statistics for cell in self.cells) else None

    def _inside(
        self, people: pd.DataFrame, cells: Sequence[Cell] | None = None
    ) -> tuple[Ints, int, Iterator[Any]]:
        """Return each person's combination of labels, their number, and those of each cell."""
        each = self._dimensions
        places = [
            places_of(people[name], dimension, variable=self.structure.variable)
            for name, dimension in each.items()
        ]
        shape = [len(dimension.leaves) for dimension in each.values()]
        codes = np.ravel_multi_index(places, shape) if each else np.zeros(len(people), np.int64)
        rows, groups = np.unique(codes, return_inverse=True)
        leaf = dict(zip(each, np.unravel_index(rows, shape) if each else (), strict=True))

        def inside() -> Iterator[Any]:
            for cell in self.cells if cells is None else cells:
                is_in = np.ones(len(rows), bool)
                for name, leaves in selection(cell, each, self.structure).items():
                    is_in &= np.isin(leaf[name], leaves)
                yield is_in

        return groups, len(rows), inside()

    def __call__(self, people: pd.DataFrame, rng: np.random.Generator) -> list[Cell]:
        groups, many, inside = self._inside(people)
        sizes, values = np.bincount(groups, minlength=many), None
        if len(people) <= MOST_PEOPLE:
            values = values_of(people, self.variable)
        keys = np.zeros(many, np.int64)
        if self.rules.key is not None:
            np.add.at(keys, groups, rng.integers(2**32, size=len(groups)))
        cells: list[Cell] = []
        for cell, is_in in zip(self.cells, inside, strict=True):
            key = int(keys[is_in].sum()) % 2**32 / 2**32
            count = self._printed(cell, int(sizes[is_in].sum()), key, rng)
            statistics = cell.statistics  # of other people: a sign that there are some
            if values is not None:
                table = self._tables[cell.file]
                statistics = table.statistics(cell, count, np.sort(values[is_in[groups]]).tolist())
            cells.append(replace(cell, count=count, statistics=statistics))
        return self._with_shares(cells, people)

    @cached_property
    def _wholes(self) -> list[Cell | None]:
        """What each cell's percentage is a share of, where its table prints one there."""
        wholes: list[Cell | None] = []
        for cell in self.cells:
            share = self._tables[cell.file].share_of(cell)
            whole = None if share is None else replace(cell, labels=share.whole, share=share)
            wholes.append(whole)
        return wholes

    def _with_shares(self, made: list[Cell], people: pd.DataFrame) -> list[Cell]:
        """Return cells with percentages of other people, where cells were printed with them."""
        if not any(self._wholes):
            return made
        parts = self._counts(self.cells, people)
        wholes = self._counts(
            [whole or cell for whole, cell in zip(self._wholes, self.cells, strict=True)], people
        )
        cells: list[Cell] = []
        for cell, whole, part, count in zip(made, self._wholes, parts, wholes, strict=True):
            share = None if whole is None else whole.share
            number = Fraction(count) if share is None or share.number is None else share.number
            is_hidden = cell.count.kind == "suppressed"
            if (
                share is None
                or not number
                or (is_hidden and not self._tables[cell.file].shows_hidden_shares)
            ):
                cells.append(replace(cell, share=None))
                continue
            unit = 2 * share.half
            value = floor(part / number / unit + Fraction(1, 2)) * unit
            cells.append(replace(cell, share=replace(share, value=value)))
        return cells

    def _counts(self, cells: Sequence[Cell], people: pd.DataFrame) -> list[int]:
        """Count the people of cells."""
        groups, many, inside = self._inside(people, cells)
        sizes = np.bincount(groups, minlength=many)
        return [int(sizes[is_in].sum()) for is_in in inside]

    def _printed(self, cell: Cell, count: int, key: float, rng: np.random.Generator) -> Meaning:
        """Return what is printed of a count, where another one was printed in its place."""
        before, rules, table = cell.count, self.rules, self._tables[cell.file]
        lower_limit = int(rules.no_zeros)
        if before.kind == "suppressed" and before.high is None:
            return Meaning(min(lower_limit, count), None, "suppressed")
        is_printed = before.kind == "rounded" and not table.hides
        below = None if is_printed or table.shows_few else table.below
        if before.kind == "suppressed":
            below = (before.high or 0) + 1
        high = count if before.high is None else before.high
        if before.kind == "range" and before.low <= count <= high:
            return before
        if below is not None and count < below and not (count == 0 and self._has_zeros):
            return Meaning(lower_limit, below - 1, "suppressed")
        if (span := table.span(count)) is not None:
            return span
        if rules.key is not None:
            count = int(rules.key.perturbed(np.array([count]), np.array([key]))[0])
        beyond = count % rules.base
        up = 2 * beyond >= rules.base > 1
        if rules.random:
            up = rng.random() * rules.base < beyond
        meaning = rules.behind(count - beyond + rules.base * int(up), cell.place)
        return meaning if below is None else meaning.without(below)

    def check(self, people: pd.DataFrame) -> None:
        """Check that the cells are about these people.

        Raises `InputError` for a cell whose number or statistic is another one, and people with a
        label that no table shows.
        """
        for name, dimension in self._dimensions.items():
            one_of("column of the people", name, list(people.columns))
            places = places_of(people[name], dimension, variable=self.structure.variable)
            for row in np.flatnonzero(places < 0).tolist():
                raise InputError(
                    f"person {row + 1} has {name} = {visible(people[name].iloc[row])}, which no "
                    f"table shows: name it alike, or declare that `{name}` has `others`"
                )
        (groups, many, inside), values = self._inside(people), values_of(people, self.variable)
        sizes = np.bincount(groups, minlength=many)
        for cell, is_in in zip(self.cells, inside, strict=True):
            count, meaning = int(sizes[is_in].sum()), cell.count
            is_so = meaning.low <= count and (meaning.high is None or count <= meaning.high)
            if not is_so or (meaning.chance is not None and not meaning.chance(count)):
                raise InputError(
                    f"{cell.place}: {quoted(cell.printed)} is printed, and {count:,} of the people "
                    "are there: the tables are about other people, or were made in another way"
                )
            if cell.share is not None:
                self._require_share(cell, cell.share, count, people)
            some = [] if values is None else np.sort(values[is_in[groups]]).tolist()
            for name, printed in cell.statistics.items() if values is not None else ():
                if not agrees(name, printed, some):
                    raise InputError(
                        f"{cell.place}: the {name} {float(printed.value):g} is printed, which is "
                        "not that of these people: the tables are about other people, or were "
                        "rounded in another way (`decimals`)"
                    )

    def _require_share(
        self, cell: Cell, share: CellShare, count: int, people: pd.DataFrame
    ) -> None:
        """Refuse a percentage that is not that of the people."""
        number = share.number
        if number is None:
            number = Fraction(self._counts([replace(cell, labels=share.whole)], people)[0])
        low, high = share.ends
        if not low * number <= count <= high * number:
            raise InputError(
                f"{cell.place}: the percentage of this row is not that of the {count:,} people "
                f"who are there, of {number}: the tables are about other people, or it is of others"
            )


class _PrintedTable:
    """How one table prints counts and statistics."""

    def __init__(self, cells: Sequence[Cell], rules: Rules) -> None:
        figures = [cell.count for cell in cells]
        marks = [
            figure.high + 1
            for figure in figures
            if figure.kind == "suppressed" and figure.high is not None
        ]
        self.below = max(marks, default=None) if rules.below is None else rules.below
        self.hides = bool(marks)
        numbers = [figure for figure in figures if figure.kind in ("exact", "perturbed")]
        # a count that a mark should stand for is printed as a number
        self.shows_few = any(
            figure.low >= 1 and (figure.high or 0) < (self.below or 0)
            for figure in figures
            if figure.kind in ("exact", "perturbed", "rounded")
        )
        spans = {(figure.low, figure.high): figure for figure in figures if figure.kind == "range"}
        self._spans = [
            figure
            for _, figure in sorted(spans.items())
            if not any(figure.low <= n.low and (n.high or 0) <= (figure.high or 0) for n in numbers)
        ]
        shares = [(cell, cell.share) for cell in cells if cell.share is not None]
        self.shows_hidden_shares = any(cell.count.kind == "suppressed" for cell, _ in shares)
        self._shares = {
            frozenset(cell.labels) - frozenset(share.whole): share for cell, share in shares
        }
        self._statistics: dict[str, int] = {}
        self._shows_hidden = False
        for cell in cells:
            self._statistics |= {name: figure.places for name, figure in cell.statistics.items()}
            self._shows_hidden |= bool(cell.statistics) and cell.count.kind == "suppressed"

    def share_of(self, cell: Cell) -> CellShare | None:
        """Return the printed share of a cell, or what one that was hidden would be of."""
        if cell.share is not None or cell.count.kind != "suppressed" or self.shows_hidden_shares:
            return cell.share
        for margin, share in self._shares.items():
            if share.number is None and margin <= set(cell.labels):
                whole = {k: v for k, v in cell.labels.items() if k not in margin}
                return replace(share, whole=whole)
        return None

    def span(self, count: int) -> Meaning | None:
        """Return the range that the table prints of a count; None: it prints a number."""
        return next(
            (interval for interval in self._spans if interval.low <= count <= (interval.high or 0)),
            None,
        )

    def statistics(self, cell: Cell, told: Meaning, values: Sequence[int]) -> dict[str, Statistic]:
        """Return statistics of values in order, where those of a cell were printed before."""
        is_hidden, names = told.kind == "suppressed", list(cell.statistics)
        if not values or (is_hidden and not self._shows_hidden):
            return {}
        if cell.count.kind == "suppressed" and not is_hidden:
            names = list(self._statistics)
        return {name: _statistic(name, values, self._statistics[name]) for name in names}


def _statistic(name: str, values: Sequence[int], places: int) -> Statistic:
    """Return a mean, median or total, rounded half up."""
    many, total = len(values), Fraction(sum(values))
    exact = total if name == "total" else total / many
    if name == "median":
        exact = Fraction(values[(many - 1) // 2] + values[many // 2], 2)
    return Statistic(Fraction(floor(exact * 10**places + Fraction(1, 2)), 10**places), places)
