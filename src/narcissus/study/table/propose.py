"""Propose a study of a table: what to leave out, what to bin, what is unknown, what is released.

Every proposal has its reason, which stands beside it in the file. Names and values tell what a
column may be, never what it is: whoever knows the data decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from narcissus.errors import InputError
from narcissus.study.table.propose_column import ColumnProposal, MissingLike, propose_column
from narcissus.tables import names as said
from narcissus.tables.sketch import TableSketch
from narcissus.tables.table import unknown_column

MOST_UNKNOWN = 3
"""Most columns that are proposed to be unknown at once."""
MOST_VALUES = 1_000
"""Most joint values of the columns that are proposed to be unknown."""
SURE = 0.8
"""Share of the most common value above which a column has hardly anything to reconstruct."""
MOST_CELLS = 200_000
"""Most cells of all tables that are released together: what a first audit plays in minutes."""
MOST_TABLES = 300
"""Most tables that are released together."""
LARGEST_K = 3
MOST_IN_A_GROUP = 10
"""Most values of a column whose values are looked at one by one."""
TARGETS = 100
EPSILON = (1.0, 3.0, 10.0)
ASKED = "as you asked"
"""The reason of what was not proposed."""


@dataclass(frozen=True)
class Proposal:
    """A study of a table.

    Attributes
    ----------
    sketch
        What it rests on.
    columns
        Those that are kept, with their bins, in the table's order.
    drop
        Those that are left out, by name, with the reason.
    unknown, unknown_reason
        What is to be reconstructed, and why.
    secret
        Further columns that look like secrets, which the attacker is taken to know.
    public
        Columns that look like what others know.
    groups
        Columns whose values are looked at one by one.
    k, tables, cells
        Columns of each table that is released, how many tables, and cells of all of them.
    epsilon, delta
        Privacy levels.
    """

    sketch: TableSketch
    columns: tuple[ColumnProposal, ...]
    drop: Mapping[str, str]
    unknown: tuple[str, ...]
    unknown_reason: str
    secret: tuple[str, ...]
    public: tuple[str, ...]
    groups: tuple[str, ...]
    k: int
    tables: int
    cells: int
    epsilon: tuple[float, ...]
    delta: float

    @property
    def has_missing(self) -> bool:
        """Whether cells of a kept column are empty, or may be where nobody looked."""
        return not self.sketch.is_whole or any(column.missing for column in self.columns)

    @property
    def missing_like(self) -> list[MissingLike]:
        """Values that look as if they said that there is none."""
        return [found for column in self.columns for found in column.missing_like]


def propose(
    sketch: TableSketch,
    *,
    unknown: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    epsilon: Sequence[float] = EPSILON,
) -> Proposal:
    """Propose a study that can be played as it is.

    Parameters
    ----------
    sketch
        Of the table.
    unknown
        Columns to be reconstructed; None proposes them.
    drop
        Columns that are to be left out besides those that are proposed, and those that were when
        the table was looked at.
    epsilon
        Privacy levels to compare.

    Raises
    ------
    InputError
        There is no such column, an unknown one cannot be used, or none is left.
    """
    drop = [*sketch.left_out, *drop]
    if unknown is not None and not unknown:
        raise InputError("no column is to be unknown: name one that the attacker is after")
    for name in (*(unknown or ()), *drop):
        if name not in (*sketch.names, *sketch.left_out):
            raise InputError(unknown_column(name, sketch.names))
    if both := [name for name in unknown or () if name in drop]:
        raise InputError(f"`{both[0]}` is to be unknown and to be left out: decide for one")
    left_out = (
        {"": "no name: an index that was written along, or name it"} if sketch.unnamed else {}
    )
    left_out |= dict.fromkeys(drop, ASKED)
    kept: list[ColumnProposal] = []
    for column in sketch.columns:
        if column.name in left_out:
            continue
        found = propose_column(column, wanted=column.name in (unknown or ()))
        if found.drop:
            left_out[column.name] = found.drop
        else:
            kept.append(found)
    _require_usable(sketch, kept, left_out, unknown or ())
    chosen, reason = _unknown(kept) if unknown is None else (tuple(unknown), ASKED)
    k, tables, cells = _size(kept, chosen)
    known = [column for column in kept if column.name not in chosen]
    rows = sketch.all_rows or sketch.rows
    return Proposal(
        sketch=sketch,
        columns=tuple(kept),
        drop=left_out,
        unknown=chosen,
        unknown_reason=reason,
        secret=tuple(c.name for c in known if said.says(c.name, said.SECRET)),
        public=tuple(c.name for c in known if said.says(c.name, said.PUBLIC)),
        groups=tuple(
            c.name for c in known if said.says(c.name, said.GROUPS) and c.labels <= MOST_IN_A_GROUP
        )[:2],
        k=k,
        tables=tables,
        cells=cells,
        epsilon=tuple(epsilon),
        delta=min(1e-5, float(f"1e-{len(str(rows))}")),
    )


def _require_usable(
    sketch: TableSketch,
    kept: Sequence[ColumnProposal],
    left_out: Mapping[str, str],
    unknown: Sequence[str],
) -> None:
    """Refuse where nothing is left, or an unknown column cannot be used."""
    for name in unknown:
        if name in left_out:
            raise InputError(f"`{name}` cannot be unknown: {left_out[name]}")
    if not kept:
        shown = [f"`{name}`: {why}" for name, why in list(left_out.items())[:3]]
        more = f"; and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        raise InputError(
            f"no column of {sketch.source or 'the data frame'} can be audited: {'; '.join(shown)}"
            f"{more}"
        )


def _unknown(kept: Sequence[ColumnProposal]) -> tuple[tuple[str, ...], str]:
    """Choose what the attacker is after, by what names say; give the reason."""
    for meaning, reason in (
        (said.SECRET, "the name says something that people keep to themselves"),
        (said.OUTCOME, "no name says a secret; this one says an outcome, which it often is"),
    ):
        found = [c for c in kept if said.says(c.name, meaning)]
        if found:
            return tuple(c.name for c in _few(found, kept)), reason
    private = [c for c in kept if not said.says(c.name, said.PUBLIC)] or list(kept)
    open_ = [c for c in private if c.guess <= SURE] or private
    few = [c for c in open_ if c.labels <= MOST_IN_A_GROUP] or open_
    return (few[-1].name,), (
        "no name says a secret: a column of few values, none of which most people have, is a "
        "stand-in, choose yourself"
    )


def _few(found: Sequence[ColumnProposal], kept: Sequence[ColumnProposal]) -> list[ColumnProposal]:
    """Take the first columns while their joint values are few, and something stays known."""
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
    """Choose the largest k at which tables and cells are few; give it, and how many these are."""
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
