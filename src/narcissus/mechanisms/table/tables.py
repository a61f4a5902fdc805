"""A chosen list of tables with noise on each cell."""

from __future__ import annotations

from dataclasses import dataclass, field

from narcissus.errors import InputError
from narcissus.mechanisms.queries import ChosenQueries
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.layout import Coarser, Sets, chosen
from narcissus.mechanisms.table.planned import NoiseLevel


@dataclass(frozen=True)
class Tables(NoiseLevel):
    """A chosen list of tables, with noise on each cell.

    Totals are narrow tables beside wide ones. A table that is listed twice is released twice, with
    noise of its own: several releases of the same people. The level of noise is that of all listed
    tables together, those of known columns alone included. Give exactly one of ``epsilon``, ``mu``
    and ``scale``; a list of them is a sweep.

    Parameters
    ----------
    sets
        Columns of each table, such as `[["age", "sex"], ["sex"]]`.
    coarser
        Coarser versions of columns, which tables can name: `{region = {of = "canton", groups =
        {west = ["GE", "VD"], east = ["SG"]}}}`.
    """

    sets: Sets
    coarser: Coarser = field(default_factory=dict[str, dict[str, object]])

    def __post_init__(self) -> None:
        """Refuse an empty list, and what does not say one level."""
        if not self.sets:
            raise InputError("`sets` must list at least one table")
        super().__post_init__()

    @property
    def title(self) -> str:
        """That they are noisy."""
        return "Noisy tables"

    def queries_of(self, columns: Columns) -> ChosenQueries:
        """Lay out the tables that have an unknown column."""
        return chosen(columns, self.sets, self.coarser)
