"""The test of the prior on rows of the table, and of columns that are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import HeldOutGuess, OtherPrior
from narcissus.kinds.table.held_out import (
    FEWEST,
    FITTED,
    LOOKED_UP,
    TESTED,
    RowGuesses,
    drawn_rows,
    fewest_rows,
    held_out_attempts,
    judged_groups,
    scored,
)
from narcissus.kinds.table.left_out import of_order, of_values, unread
from narcissus.kinds.table.other_priors import other_priors
from narcissus.kinds.table.row_order import ordered_rows
from narcissus.kinds.table.schema import TableStudy
from narcissus.kinds.table.written import spelling_of
from narcissus.observer import SILENT, Observer
from narcissus.results import NotAssessed
from narcissus.rows import Unaccounted
from narcissus.study.plugins import GIVEN, load_attribute
from narcissus.tables import Table
from narcissus.tables.read import read_as_it_stands
from narcissus.tables.tally import RawColumn
from narcissus.tables.text import cleaned

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
    behind_bins: tuple[str, ...] = ()
    """Known columns in bins whose exact values tell nothing more of it."""
    order_examined: bool = False
    """Whether the order of the rows was examined and tells nothing more of it."""
    small_groups: int = 0
    """Groups that a verdict speaks of, with too few guessed rows to test the prior in them."""
    scope: tuple[str, ...] = ()
    """What was examined on some rows alone, and on how many, a sentence each."""

    @property
    def is_refuted(self) -> bool:
        return any(guess.refutes for guess in self.guesses)


def prior_test(experiment: Experiment, observer: Observer = SILENT) -> PriorTest:
    """Test the prior on rows of the table, and where it is refuted others in its place."""
    observer.start("testing the prior on rows of the table", 0)
    attempts = held_out_attempts(experiment)
    scope = _on_some("The prior", LOOKED_UP, experiment) if attempts else ()
    small_groups = _small_groups(experiment, attempts)
    test = PriorTest(scored(experiment, attempts), small_groups=small_groups, scope=scope)
    if not test.is_refuted:
        return test
    observer.note("the prior is refuted by rows of the table: looking for another")
    return replace(test, others=other_priors(experiment, attempts, observer))


def _small_groups(experiment: Experiment, attempts: tuple[RowGuesses, ...]) -> int:
    """Count the groups with people of whom too few rows are guessed to examine them."""
    if not attempts:
        return 0
    in_table, guessed = (
        [members.sum() for _, members in judged_groups(experiment, rows)]
        for rows in (drawn_rows(experiment), attempts[0].rows)
    )
    fewest = fewest_rows(experiment)
    return sum(people > 0 and rows < fewest for people, rows in zip(in_table, guessed, strict=True))


def _on_some(what: str, most: int, experiment: Experiment, how: str = "") -> tuple[str, ...]:
    """Say on how many rows something was examined; nothing where all were."""
    rows = experiment.table.rows
    if rows <= most:
        return ()
    drawn = how or f"{most:,} of {rows:,} rows of the table, drawn at random"
    return (f"{what}, on {drawn}",)


def tested_at(
    study: TableStudy, folder: Path, experiment: Experiment, observer: Observer
) -> PriorTest:
    """Test the prior, and examine what appears next to the table and waits for a declaration.

    That are columns left out, exact values of known columns in bins, and the order of the rows.
    """
    tested = prior_test(experiment, observer)
    if not study.threat.order_hidden:
        tested = _with_order(tested, experiment)
    return _with_values(tested, study, folder, experiment, observer)


def _with_order(tested: PriorTest, experiment: Experiment) -> PriorTest:
    ordered = ordered_rows(experiment)
    if ordered is None:
        return tested
    first = f"the first {len(ordered.rows):,} of {experiment.table.rows:,} rows of the table"
    scope = _on_some("The order of the rows", len(ordered.rows), experiment, first)
    gaps = of_order(ordered, is_refuted=tested.is_refuted)
    return replace(
        tested,
        unaccounted=(*tested.unaccounted, *gaps),
        order_examined=ordered.experiment is not None and not gaps,
        scope=(*tested.scope, *(() if ordered.experiment is None else scope)),
    )


def _with_values(
    tested: PriorTest, study: TableStudy, folder: Path, experiment: Experiment, observer: Observer
) -> PriorTest:
    table, data = experiment.table, study.data
    known = [table.names[c] for c in experiment.queries.known]
    known = [name for name in known if name not in study.threat.bins_only]
    binned = [name for name in known if name in data.bins]
    hidden = [n for n in (table.names[c] for c in experiment.queries.unknown) if n in data.bins]
    has_spelling = not (study.threat.spelling_hidden or isinstance(source_of(study, folder), Table))
    spelt = [*known, *data.undeclared] if has_spelling and table.rows >= FEWEST else []
    names = list(dict.fromkeys([*data.undeclared, *binned, *hidden, *spelt]))
    if table.examined is None or not names:
        left = unread(data.undeclared, binned)
        return replace(tested, unaccounted=(*left, *tested.unaccounted))
    raw_columns = _raw_columns(study, folder, names, table.places)
    columns = {column.name: cleaned(column) for column in raw_columns}
    meanings = {name: columns[name].codes for name in spelt}
    for name in {*spelt} - {*data.undeclared, *binned}:  # no exact values of these are examined
        meanings[name] = table.examined[:, table.index(name)]
    written = [
        spelling
        for column in raw_columns
        if column.name in meanings
        and (spelling := spelling_of(column, meanings[column.name])) is not None
    ]
    if not (data.undeclared or binned or written):
        return tested
    observer.start("examining columns that are left out or in bins", 0)
    gaps = of_values(
        experiment,
        *([columns[name] for name in names] for names in (data.undeclared, binned, hidden)),
        written=written,
        is_refuted=tested.is_refuted,
    )
    open_ = "".join(gap.subject for gap in gaps)
    subject = "What is left out or in bins"
    return replace(
        tested,
        unaccounted=(*gaps, *tested.unaccounted),
        examined=tuple(n for n in data.undeclared if f"`{n}`" not in open_),
        behind_bins=tuple(n for n in binned if f"`{n}`" not in open_),
        scope=(
            *tested.scope,
            *_on_some(subject, min(len(table.examined), FITTED + TESTED), experiment),
        ),
    )


def _raw_columns(
    study: TableStudy, folder: Path, names: Sequence[str], places: NDArray[np.int64] | None
) -> list[RawColumn]:
    data = study.data
    how: dict[str, Any] = {
        "columns": data.columns,
        "drop": [*data.drop, *data.undeclared],
        "missing": data.missing,
        **({} if data.max_rows is None else {"max_rows": data.max_rows}),
    }
    source = source_of(study, folder)
    return read_as_it_stands(source, names, data.unit, places, is_as_written=True, **how)


def source_of(study: TableStudy, folder: Path) -> Any:
    """Return where the table is: a path, a packaged table's name, or an object that was given."""
    data = study.data
    source = data.table if data.table is not None else str(folder / str(data.path))
    return load_attribute(source, folder) if source.startswith(GIVEN) else source


def untested(tested: PriorTest, rows: int) -> Iterator[NotAssessed]:
    """Say what of the prior the rows of the table cannot test."""
    question = "whether the prior is right about the people of the table"
    if not tested.guesses:
        yield NotAssessed(
            question,
            f"a test guesses rows of the table from known columns, and {rows:,} rows are too few "
            "or no column is known: it is assumed",
            "take more rows, or let the attacker know a column",
        )
        return
    if tested.small_groups:
        yield NotAssessed(
            "whether the prior is right about each group that the threshold is about",
            f"too few rows of {tested.small_groups:,} of these groups test it: it is assumed",
            "take more rows, or columns with fewer groups in [groups]",
        )
    largest_test = max(tested.guesses, key=lambda guess: guess.people)
    if largest_test.people < WELL_TESTED:
        yield NotAssessed(
            question,
            f"{largest_test.people:,} rows test it: what others guess of them is limited to "
            f"{100 * largest_test.at_most:.0f} of 100, where the prior guesses "
            f"{100 * largest_test.prior_share:.0f}. A smaller shortfall is not seen: it is assumed",
            "take more rows",
        )
