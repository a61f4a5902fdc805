"""Weak audits: columns that determine one another, few rows, a guess that is nearly sure.

Who knows a column that determines another needs no release for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.results import WEAK, NotAssessed
from narcissus.tables import Table
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

CERTAIN = 0.95
"""Share of the people who are guessed right above which an audit is weak."""
FEW_ROWS = 50
"""Rows below which hardly anything can be shown."""
ROWS = 20_000
"""Most rows that are looked at, the first ones."""
ALMOST_ALL = 0.995
"""Share of the people of whom one column must determine another."""
MOST_COLUMNS = 500
"""Columns above which none are compared."""
FEWEST = 20
"""Fewest people with a value that others have too from whom that is concluded."""


class Twins:
    """The first rows of a table, asked for columns that determine one another."""

    def __init__(self, head: Sequence[RawColumn]) -> None:
        wide = len(head) > MOST_COLUMNS
        self._columns = (
            {}
            if wide
            else {column.name: (column.gaps, column.codes, _ranks(column)) for column in head}
        )

    def tells(self, known: str, unknown: str) -> bool:
        """Whether a column determines another, of nearly all people with a value in both."""
        if known not in self._columns or unknown not in self._columns:
            return False
        (gaps, here, ranks), (others, target, orders) = (
            self._columns[name] for name in (known, unknown)
        )
        there = np.flatnonzero(~(gaps | others))[:ROWS]
        if len(there) < FEWEST:
            return False
        if ranks is not None and orders is not None:
            a, b = (np.unique(r[there], return_inverse=True)[1] for r in (ranks, orders))
            if min(a.max(), b.max()) >= FEWEST:
                in_step = abs(float(np.corrcoef(a, b)[0, 1]))
                if in_step > 1 - (1 - ALMOST_ALL) / 10:
                    return True
        mode_counts, total = _cells(here[there], target[there])
        shared, commonest = total >= 2, np.bincount(target[there]).max() / len(there)
        people = total[shared].sum()  # who have a value of the known column that others have
        return bool(
            people >= max(FEWEST, len(there) / 4)
            and commonest < 2 * ALMOST_ALL - 1
            and mode_counts[shared].sum() >= ALMOST_ALL * people
        )


def _ranks(column: RawColumn) -> NDArray[np.float64] | None:
    """Return each row's number; None for a column of texts."""
    numbers = [number_in(value) for value in column.distinct]
    if numbers.count(None) > (None in column.distinct):
        return None
    return np.array([np.nan if n is None else n for n in numbers], np.float64)[column.codes]


def _cells(
    known: NDArray[Any], secret: NDArray[Any], people: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return, by known value, how many people have its commonest secret, and how many have it."""
    size = int(secret.max()) + 1
    cells, place = np.unique(known.astype(np.int64) * size + secret, return_inverse=True)
    count = np.bincount(place, people)
    first = np.unique(cells // size, return_index=True)[1]
    return np.maximum.reduceat(count, first), np.add.reduceat(count, first)


PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 10: "tenth"}


def guessed(bins: Mapping[str, Any]) -> str:
    """Say how right a guess of a value in bins is, after a verb; "right" of a value as it is.

    >>> guessed({"quantiles": 5}), guessed({"width": 10000}), guessed({})
    ('to the right fifth', 'to the right 10,000', 'right')
    """
    ways = {
        "width": lambda width: f"to the right {width:,.12g}",
        "edges": lambda edges: f"to the right one of {len(edges) + 1} bins",
        "quantiles": lambda many: (
            f"to the right {PARTS[many]}" if many in PARTS else f"to the right one of {many} bins"
        ),
        "above": lambda cut: f"to the right side of {cut:,.12g}",
        "common": lambda many: (
            f"to the right one of its {many} commonest values and all others"
            if many > 1
            else "to the right one of its commonest value and all others"
        ),
    }
    given = (way(bins[name]) for name, way in ways.items() if bins.get(name) is not None)
    return next(given, "right")


def weak(
    rows: int,
    known: int,
    guess: Mapping[str, tuple[float, str]],
    bins: Mapping[str, Mapping[str, Any]] = {},
) -> Iterator[str]:
    """Describe why an audit would show little, a sentence each.

    known: number of columns that the attacker knows.
    guess: by unknown column, the share of the people who are guessed right without a release, and
        the known column that they are guessed from; empty for none.
    bins: of unknown columns, as in a study.
    """
    if rows < FEW_ROWS:
        yield f"{rows:,} rows are few: below {FEW_ROWS} limits are wide, and little can be shown"
    if known == 0:
        yield "no column is left that the attacker knows: only the frequencies are attacked"
    for name, (share, by) in guess.items():
        if share >= CERTAIN:
            source = f" from `{by}` alone" if by else ""
            how = guessed(bins.get(name, {}))
            left = "little is left to recover"
            left = left if how == "right" else "finer values are not asked about"
            yield (
                f"`{name}` is guessed {how} for {100 * share:.0f} of 100 people{source}, before "
                f"any release: {left}"
            )


def cautions(
    table: Table, unknown: Sequence[str], bins: Mapping[str, Mapping[str, Any]] = {}
) -> Iterator[NotAssessed]:
    """Yield why an audit of a table, for these unknown columns, would show little."""
    secrets = [table.index(name) for name in unknown]
    known = [j for j in range(table.columns) if j not in secrets]
    guess = {table.names[j]: _guessed(table, j, known) for j in secrets}
    for text in weak(table.rows, len(known), guess, bins):
        yield NotAssessed(
            WEAK, text, "take more people, another unknown column, or leave out what tells it"
        )


def _guessed(table: Table, secret: int, known: Sequence[int]) -> tuple[float, str]:
    """Return the largest share that is guessed right from one known column, and its name.

    The guess is the commonest value of all others with the same known value.
    """
    records, people = table.records, table.counts
    guesses = [(float(np.bincount(records[:, secret], people).max() / table.rows), "")]
    for j in known:
        mode_counts, total = _cells(records[:, j], records[:, secret], people)
        # without themselves people with the commonest value must not be outnumbered
        right = mode_counts[(total >= 2) & (mode_counts - 1 >= total - mode_counts)].sum()
        guesses.append((float(right / table.rows), table.names[j]))
    best = max(guesses, key=lambda guess: guess[0])
    return best if best[0] > guesses[0][0] + (1 - CERTAIN) / 2 else guesses[0]
