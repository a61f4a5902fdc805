"""A release that was already made, or is about to be: attacked as it stands, about real people.

The file holds rows, or counts: a line for each cell, with the values of the columns of its table,
nothing in the other columns, and the count in the column ``count`` (empty where it is withheld).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._files import file_size
from narcissus._random import child
from narcissus._visible import cell
from narcissus.attacks.base import Answers
from narcissus.attacks.table import Targets
from narcissus.errors import InputError
from narcissus.game.executor import Executor, in_order, soon
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import CountedAttack, OwnRelease
from narcissus.kinds.table.population import OWN
from narcissus.kinds.table.schema import TableStudy
from narcissus.knowledge import FactoredTargets
from narcissus.mechanisms import Counts, Microdata, ProtectedCounts, TableQueries
from narcissus.mechanisms.table.base import CellRule
from narcissus.mechanisms.table.protected import RoundedTo
from narcissus.observer import Observer
from narcissus.study.engines.holder import split_if_few
from narcissus.success.table import Scores
from narcissus.tables import Table
from narcissus.tables.coding import MISSING_LABEL, codes_by_labels
from narcissus.tables.counted import complete
from narcissus.tables.parts import open_source
from narcissus.tables.spelling import examples
from narcissus.tables.tally import RawColumn
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw

COUNT = "count"  # the column of a file of counts that holds them
_MORE_OTHERS = 0.5  # by so much more of a release than of the data, rare values are other spellings


def read_published(study: TableStudy, experiment: Experiment, path: Path) -> tuple[Any, str]:
    """Read a release in the form of the study's mechanism, and the SHA-256 of its file."""
    mechanism = experiment.settings[0].mechanism
    if study.data.unit is not None:
        raise InputError(
            f"`release` is about all rows, and `unit` keeps one of each `{study.data.unit}`: leave "
            "one of them out, or give a release and a table of one row each"
        )
    if len(experiment.settings) > 1:
        raise InputError(
            "`release` is one release: give [mechanism] the one level that it was made with"
        )
    file_size(path)  # of a regular file, and not too large to be read
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if mechanism.releases is Microdata:
        return _rows(study, experiment.table, path), digest
    if mechanism.releases is Counts:
        cells = _cells(experiment, path)
        if np.isnan(cells).any():
            raise InputError(f"{path.name} withholds counts, and the mechanism withholds none")
        assert mechanism.noise is not None
        if mechanism.noise.scale == 0:
            _require_possible(experiment, RoundedTo(1), cells, path)
        return Counts(experiment.queries, mechanism.noise, cells), digest
    if mechanism.releases is ProtectedCounts:
        rule: CellRule = mechanism.rule  # pyright: ignore  (of those that release such counts)
        cells = _cells(experiment, path)
        _require_possible(experiment, rule, cells, path)
        return ProtectedCounts(experiment.queries, rule, cells, mechanism.cellwise), digest
    raise InputError(
        "`release`: nobody can say how a file of the user's own mechanism is to be read; a "
        "release of rows or of counts can be"
    )


def _rows(study: TableStudy, table: Table, path: Path) -> Microdata:
    raw = open_source(str(path), list(table.names), (), 200_000_000).columns
    if study.data.missing == "drop":
        raw = complete(raw)
    columns = [_codes(raw[c], table, c, path, missing=True) for c in range(table.columns)]
    rows = np.stack(columns, axis=1)
    if len(rows) == 0:
        raise InputError(f"every row of {path.name} has a missing value")
    rows.setflags(write=False)
    return Microdata(rows)


def _cells(experiment: Experiment, path: Path) -> Floats:
    table, queries = experiment.table, experiment.queries
    if queries.coarse:
        raise InputError("`release`: files of tables with coarser columns cannot be read")
    raw = open_source(str(path), None, (), 100 * queries.cells + 1).columns
    by_name = {column.name: column for column in raw}
    if COUNT not in by_name:
        raise InputError(
            f"{path.name} has no column `{COUNT}`: it must hold one line for each cell"
        )
    if strange := [name for name in by_name if name not in (*table.names, COUNT)]:
        raise InputError(f"{path.name} has columns that were not in the data: {', '.join(strange)}")
    counts = _numbers(by_name[COUNT], path)
    arrays = [_codes(by_name.get(n), table, c, path) for c, n in enumerate(table.names)]
    codes = np.stack([np.broadcast_to(array, counts.shape) for array in arrays], axis=1)
    cells, seen = np.full(queries.cells, np.nan), np.zeros(queries.cells, dtype=bool)
    mask = codes >= 0
    unread: NDArray[np.bool_] = np.asarray(mask[:, list(queries.unknown)].any(axis=1))
    lines = _lines_by_columns(mask)
    for columns, first, places in _tables(queries):
        here = lines.get(columns.tobytes())
        if here is None:
            names = ", ".join(n for n, used in zip(table.names, columns, strict=True) if used)
            raise InputError(f"{path.name} has no table of {names}")
        at = first + codes[here].clip(0) @ places
        if not unread[here].all():
            raise InputError("`release`: a table that `sets` lists twice cannot be read twice")
        if np.unique(at).size < at.size:
            raise InputError(f"{path.name} has a cell twice: write one line for each")
        cells[at], seen[at], unread[here] = counts[here], True, False
    if not seen.all():
        raise InputError(
            f"{path.name} lacks {np.count_nonzero(~seen):,} of {queries.cells:,} cells: write "
            "those that are 0 as well, and withheld ones with an empty count"
        )
    if unread.any():
        raise InputError(
            f"{path.name} has {np.count_nonzero(unread):,} cells of other tables with unknown "
            "columns: [mechanism] must say all that was released"
        )
    cells.setflags(write=False)
    return cells


def _lines_by_columns(given: NDArray[np.bool_]) -> dict[bytes, NDArray[np.intp]]:
    kinds, kind_of = np.unique(given, axis=0, return_inverse=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(kind_of.ravel()))[:-1]
    return {kind.tobytes(): rows for kind, rows in zip(kinds, np.split(order, ends), strict=True)}


def _require_possible(experiment: Experiment, rule: CellRule, cells: Floats, path: Path) -> None:
    """Refuse cells that the rule cannot have made of the people: attacks would learn nothing."""
    counts = experiment.queries.counts(experiment.table.codes).astype(np.float64)
    wrong = np.flatnonzero(np.isneginf(rule.log_likelihood(cells, counts)))
    if wrong.size:
        text = "withheld" if np.isnan(cells[wrong[0]]) else f"{cells[wrong[0]]:g}"
        raise InputError(
            f"{path.name} has {wrong.size:,} cells that cannot come from the people of [data], "
            f"{rule.title}: one is {text} where the count is {counts[wrong[0]]:g}. Say in "
            "[mechanism] how it was made, and in [data] of whom"
        )


def _tables(queries: TableQueries) -> Iterator[tuple[NDArray[np.bool_], int, NDArray[np.int64]]]:
    for pattern in queries.patterns:
        steps = np.cumprod([1, *pattern.shape[:0:-1]])[::-1]
        for table in range(pattern.tables):
            columns = np.zeros(len(queries.sizes), dtype=bool)
            places = np.zeros(len(queries.sizes), dtype=np.int64)
            unknowns = [queries.unknown[c] for c in pattern.columns]
            columns[unknowns] = columns[pattern.knowns[table]] = True
            places[unknowns] = steps
            places[pattern.knowns[table]] = pattern.strides[table]
            yield (columns, int(pattern.offsets[table]), places)


def _codes(
    column: RawColumn | None, table: Table, place: int, path: Path, *, missing: bool = False
) -> NDArray[np.int32]:
    """Return a column as codes; an empty cell is the missing value, or -1 without one."""
    if column is None:
        return np.array([-1], dtype=np.int32)
    name, labels = table.names[place], table.labels[place]
    reading = table.readings.get(name)
    there = [value for value in column.distinct if value is not None]
    codes = codes_by_labels(name, there, labels, reading.settled if reading else None)
    empty = labels.index(MISSING_LABEL) if missing and MISSING_LABEL in labels else -1
    if (other := _other(labels)) is not None:
        codes = np.where(codes < 0, np.int32(other), codes)
    strange = [str(value) for value, code in zip(there, codes, strict=True) if code < 0]
    if missing and empty < 0 and column.gaps.any():
        strange.append("nothing")
    if strange:
        raise InputError(
            f"column `{name}` of {path.name} has values that were not in the data: "
            f"{examples(strange, 5)}"
        )
    by_value = dict(zip(there, codes.tolist(), strict=True))
    at = [empty if value is None else by_value[value] for value in column.distinct]
    row_codes = np.array(at, dtype=np.int32)[column.codes]
    if other is not None:
        shares = (np.mean(row_codes == other), np.mean(table.codes[:, place] == other))
        if shares[0] > shares[1] + _MORE_OTHERS:
            raise InputError(
                f"column `{name}`: {shares[0]:.0%} of the rows of {path.name} have none of the "
                f"values that are common in the data, where {shares[1]:.0%} are, such as "
                f"{examples(there)} next to {examples(labels)}: write them alike, or drop the "
                "column"
            )
    return row_codes


def _other(labels: Sequence[str]) -> int | None:
    places = [place for place, label in enumerate(labels) if label.strip("()") == "other"]
    return max(places, key=lambda place: len(labels[place])) if places else None


def _numbers(column: RawColumn, path: Path) -> Floats:
    numbers = np.full(len(column.distinct), np.nan)
    for place, value in enumerate(column.distinct):
        try:
            numbers[place] = np.nan if value is None else float(value)
        except ValueError:
            raise InputError(f"{path.name} has a count that is no number: {cell(value)}") from None
    if np.isinf(numbers).any():
        raise InputError(f"{path.name} has a count that is infinite")
    return numbers[column.codes]


def attack_own_release(
    experiment: Experiment,
    release: Any,
    executor: Executor,
    *,
    path: str,
    digest: str,
    observer: Observer,
) -> OwnRelease:
    """Attack a release about all people of the table with every attack that anyone could run.

    What is right is counted, next to a decoy: the same attacks on a release of other secrets, drawn
    from the prior, by the same mechanism. ``digest`` is the SHA-256 of the file at ``path``.
    """
    observer.note(f"attacking {path}")
    table, entropy = experiment.table, experiment.entropy
    codes = table.codes
    world = RealRows(codes, table.rows)
    side: Any = experiment.side
    draw = Draw(codes[None])
    [targets] = side.reveal(world, draw, child(entropy, OWN, 0))
    secrets = targets.secrets(codes)
    other = side.fresh(world, draw, [targets], child(entropy, OWN, 1))
    mechanism = experiment.settings[0].mechanism
    [decoy] = mechanism.release(np.asarray(other), child(entropy, OWN, 2))
    success = targets.success
    guess = success.score(secrets, targets.best_guess)
    names = [n for n, attack in experiment.attacks_at(0).items() if not attack.informed]
    keys = [f"{place}/{name}" for name in names for place in (0, 1)]
    job = _Attacker(experiment, (release, decoy), targets, secrets)
    who = executor
    if isinstance(targets, Targets):
        who = split_if_few(executor, keys, targets.people, targets.queries.values)
    how = soon if who is executor else in_order  # what is split takes long enough
    hits = list(how(who, job, keys, observer))
    attacks = tuple(
        CountedAttack(name=name, recovered=hits[2 * number], from_decoy=hits[2 * number + 1])
        for number, name in enumerate(names)
    )
    return OwnRelease(
        path=path,
        digest=digest,
        people=table.rows,
        guessed=_worth(guess),
        by_the_prior=float(targets.best_chance.sum()),  # expected, if the prior is right
        attacks=attacks,
    )


@dataclass(frozen=True)
class _Attacker:
    experiment: Experiment
    shown: tuple[Any, Any]
    """The release and the decoy."""
    targets: Targets | FactoredTargets
    secrets: NDArray[np.integer]

    def __call__(self, key: str) -> int | float:
        place, _, name = key.partition("/")
        rng = child(self.experiment.entropy, OWN, 3 + int(place), zlib.crc32(name.encode()))
        attack: Any = self.experiment.attacks_at(0)[name]
        answers = attack.attempt([self.shown[int(place)]], [self.targets], rng)
        [attempt] = answers.values if isinstance(answers, Answers) else answers
        return _worth(self.targets.success.score(self.secrets, attempt))


def _worth(scores: Scores) -> int | float:
    return int(scores.sum()) if scores.dtype == np.bool_ else float(scores.sum())
