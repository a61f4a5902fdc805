"""Columns that were left out: whether they tell more of the secret than the prior allows.

`narcissus init` leaves columns out that it takes for identifiers, texts or copies of others. Nobody
has declared that an attacker does not know them, so they are examined: models guess held-out rows
from them and the known columns. What shows nothing is accounted for; what tells more than the prior
allows waits for a declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import HeldOutGuess
from narcissus.kinds.table.held_out import FEWEST, FITTED, TESTED, RowGuesses, guessed, scored
from narcissus.kinds.table.lookup import lookup_chances
from narcissus.kinds.table.population import HELD_OUT
from narcissus.kinds.table.trees import tree_chances
from narcissus.report.reach import of_100
from narcissus.rows import Unaccounted
from narcissus.tables.parts import LARGEST_TABLE, column_names, open_parts
from narcissus.tables.sources import TableSource
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

MOST_VALUES = 200  # of a column, the most common ones, that are told apart as they stand
GROUPS = 20  # of equal size, of a column of numbers
STARTS = (1, 2, 3)  # letters that a code may begin with
WORDS = 40  # of texts, the most common ones, that are looked for
SHORTEST_WORD = 3

Features = list[NDArray[np.int64]]


def unaccounted_columns(
    experiment: Experiment, source: TableSource, names: Sequence[str], *, is_whole: bool
) -> tuple[Unaccounted, ...]:
    """Return those columns left out that tell of the secret, or could not be examined.

    ``is_whole``: the rows of the table are those of the source, in its order.
    """
    if not names:
        return ()
    columns, table = _read(source, names), experiment.table
    if table.counts is not None or not is_whole:
        why = "It was left out, and the rows that are audited are not those of the file."
        return tuple(_undeclared(name, why) for name in names)
    if table.rows < FEWEST:
        why = f"It was left out, and {table.rows} rows are too few to show what it tells."
        return tuple(_undeclared(name, why) for name in names)
    if not any(one.refutes for one in _guesses(experiment, columns)):
        return ()
    telling = [column for column in columns if _tells(experiment, [column])]
    return tuple(
        _undeclared(column.name, _reason(experiment, [column] if telling else columns))
        for column in telling or columns
    )


def _read(source: TableSource, names: Sequence[str]) -> list[RawColumn]:
    """Read columns as they stand in the file, in the order of ``names``."""
    nameless = [""] if "" in column_names(source) else []
    parts = open_parts(source, list(names), nameless, LARGEST_TABLE)
    with closing(cast(Any, parts.read())) as read:
        part = next(cast("Iterator[list[RawColumn]]", read), [])
    return sorted(part, key=lambda column: list(names).index(column.name))


def _undeclared(name: str, reason: str) -> Unaccounted:
    return Unaccounted(
        subject=f"column `{name}`",
        reason=reason,
        declaration=f'`drop = ["{name}"]` in [data] if no attacker knows it',
    )


def _tells(experiment: Experiment, columns: Sequence[RawColumn]) -> bool:
    return any(one.refutes for one in _guesses(experiment, columns))


def _reason(experiment: Experiment, columns: Sequence[RawColumn]) -> str:
    best = max(_guesses(experiment, columns), key=lambda one: one.share - one.at_most)
    return (
        f"With what was left out, {of_100(best.share)} people are guessed right without the "
        f"release, where the prior allows {of_100(best.at_most, 'up')}."
    )


def _guesses(experiment: Experiment, columns: Sequence[RawColumn]) -> tuple[HeldOutGuess, ...]:
    """Guess rows of the table from known columns and these, and compare with the prior."""
    table, known = experiment.table, list(experiment.queries.known)
    rng = child(experiment.entropy, HELD_OUT, 2)
    order = rng.permutation(len(columns[0].codes))[: FITTED + TESTED]
    features = [feature for column in columns for feature in _features(column, order)]
    codes = np.ascontiguousarray(table.codes[order])
    x = np.column_stack([*features, *(codes[:, c] for c in known)]).astype(np.int64)
    ordered = [True] * len(features) + [table.ordered[c] for c in known]
    sizes = [int(column.max()) + 1 for column in x.T]
    start = len(order) - min(TESTED, len(order) // 2)

    def by_trees(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
        return tree_chances(of, classes, asked, ordered, size=size, rng=random)

    def by_lookup(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
        return lookup_chances(of, classes, asked, sizes, size=size, rng=random)

    attempts = [
        RowGuesses(
            by,
            codes[start:],
            guessed(experiment, model, codes[:start], x[:start], x[start:], rng),
        )
        for by, model in (("a random forest", by_trees), ("a lookup", by_lookup))
    ]
    return scored(experiment, tuple(attempts))


def _features(column: RawColumn, order: NDArray[np.intp]) -> Features:
    """Return what an attacker may read off a value: itself, its size, how it begins, its words."""
    texts = ["" if value is None else str(value).strip() for value in column.distinct]
    numbers = [None if value is None else number_in(value) for value in column.distinct]
    codes = np.asarray(column.codes)[order]
    found: list[NDArray[np.int64]] = [_common(codes, len(texts))]
    found += [_grouped([text[:many] for text in texts], codes) for many in STARTS]
    found.append(_grouped([text[-1:] for text in texts], codes))
    found.append(np.minimum(np.array([len(text) for text in texts])[codes], MOST_VALUES))
    if any(number is not None for number in numbers):
        sizes = np.array([np.nan if n is None else float(n) for n in numbers])[codes]
        cuts = np.unique(np.nanquantile(sizes, np.linspace(0, 1, GROUPS + 1)[1:-1]))
        found.append(np.searchsorted(cuts, np.nan_to_num(sizes, nan=-np.inf)) + 1)
    return [*found, *_words(texts, codes)]


def _common(codes: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Give the most common values numbers from 1, the commonest first; all others are 0."""
    counts = np.bincount(codes, minlength=size)
    order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    places = np.zeros(size, dtype=np.int64)
    places[order] = 1 + np.arange(len(order))
    places[counts < 2] = 0
    return places[codes]


def _grouped(parts: Sequence[str], codes: NDArray[np.integer]) -> NDArray[np.int64]:
    _, place = np.unique(np.array(parts, dtype=str), return_inverse=True)
    place = np.ravel(place)
    return _common(place[codes], int(place.max()) + 1)


def _words(texts: Sequence[str], codes: NDArray[np.integer]) -> Features:
    """Return which texts hold each of the most common words, where texts have several."""
    split = [set(text.casefold().split()) for text in texts]
    if np.mean([len(words) > 1 for words in split]) < 0.5:
        return []
    held: dict[str, list[int]] = {}
    for place, words in enumerate(split):
        for word in words:
            if len(word) >= SHORTEST_WORD:
                held.setdefault(word, []).append(place)
    chosen = sorted(held, key=lambda word: (-len(held[word]), word))[:WORDS]
    found: Features = []
    for word in chosen:
        has = np.zeros(len(texts), dtype=np.int64)
        has[held[word]] = 1
        found.append(has[codes])
    return found
