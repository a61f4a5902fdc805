"""The test of the prior on rows of the table, and of columns that are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import HeldOutGuess, OtherPrior
from narcissus.kinds.table.held_out import held_out_attempts, scored
from narcissus.kinds.table.left_out import of_order, of_values, undeclared
from narcissus.kinds.table.other_priors import other_priors
from narcissus.kinds.table.schema import TableStudy
from narcissus.observer import SILENT, Observer
from narcissus.results import NotAssessed
from narcissus.rows import Unaccounted
from narcissus.study.plugins import GIVEN, load_attribute
from narcissus.tables.read import read_as_it_stands
from narcissus.tables.tally import RawColumn

WELL_TESTED = 200
"""Guessed rows below which a report says what they cannot show of the prior."""


@dataclass(frozen=True)
class PriorTest:
    """What guesses of held-out rows say about the prior, and which others they allow."""

    guesses: tuple[HeldOutGuess, ...] = ()
    others: tuple[OtherPrior, ...] = ()
    unaccounted: tuple[Unaccounted, ...] = ()
    examined: tuple[str, ...] = ()
    """Columns left out that tell nothing more of the secret."""

    @property
    def is_refuted(self) -> bool:
        return any(one.refutes for one in self.guesses)


def prior_test(experiment: Experiment, observer: Observer = SILENT) -> PriorTest:
    """Test the prior on rows of the table, and where it is refuted others in its place."""
    observer.start("testing the prior on rows of the table", 0)
    attempts = held_out_attempts(experiment)
    found = PriorTest(scored(experiment, attempts))
    if not found.is_refuted:
        return found
    observer.note("the prior is refuted by rows of the table: looking for another")
    return replace(found, others=other_priors(experiment, attempts, observer))


def tested_at(
    study: TableStudy, folder: Path, experiment: Experiment, observer: Observer
) -> PriorTest:
    """Test the prior, and examine what stands beside the table and waits for a declaration.

    That are columns left out, exact values of known columns in bins, and the order of the rows.
    """
    tested, data = prior_test(experiment, observer), study.data
    order = () if study.threat.order_hidden else of_order(experiment)
    known = [experiment.table.names[c] for c in experiment.queries.known]
    binned = [n for n in known if n in data.bins and n not in study.threat.bins_only]
    names = list(dict.fromkeys([*data.undeclared, *binned]))
    if not names:
        return replace(tested, unaccounted=order)
    if experiment.table.counts is not None:
        why = "It was left out, and the rows that are audited are not held one by one."
        left = tuple(undeclared(name, why) for name in data.undeclared)
        return replace(tested, unaccounted=(*left, *order))
    observer.start("examining columns that are left out or in bins", 0)
    columns = {column.name: column for column in _raw_columns(study, folder, names)}
    left, exact = ([columns[n] for n in some] for some in (data.undeclared, binned))
    found = of_values(experiment, left, exact)
    open_ = {one.subject for one in found}
    harmless = tuple(n for n in data.undeclared if f"column `{n}`" not in open_)
    return replace(tested, unaccounted=(*found, *order), examined=harmless)


def _raw_columns(study: TableStudy, folder: Path, names: Sequence[str]) -> list[RawColumn]:
    data = study.data
    how: dict[str, Any] = {
        "columns": data.columns,
        "drop": [*data.drop, *data.undeclared],
        "missing": data.missing,
        **({} if data.max_rows is None else {"max_rows": data.max_rows}),
    }
    return read_as_it_stands(source_of(study, folder), names, data.unit, **how)


def source_of(study: TableStudy, folder: Path) -> Any:
    """Return where the table is: a path, a packaged table's name, or an object that was given."""
    data = study.data
    source = data.table if data.table is not None else str(folder / str(data.path))
    return load_attribute(source, folder) if source.startswith(GIVEN) else source


def untested(tested: PriorTest, rows: int) -> Iterator[NotAssessed]:
    """Say what of the prior the rows of the table cannot test."""
    asked = "whether the prior is right about the people of the table"
    if not tested.guesses:
        yield NotAssessed(
            asked,
            f"a test guesses rows of the table from known columns, and {rows:,} rows are too few "
            "or no column is known: it is assumed",
            "take more rows, or let the attacker know a column",
        )
        return
    most = max(tested.guesses, key=lambda one: one.people)
    if most.people < WELL_TESTED:
        yield NotAssessed(
            asked,
            f"{most.people:,} rows test it: what others guess of them is limited to "
            f"{100 * most.at_most:.0f} of 100, where the prior guesses "
            f"{100 * most.prior_share:.0f}. A smaller shortfall is not seen: it is assumed",
            "take more rows",
        )
