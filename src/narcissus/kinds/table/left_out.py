"""Values that no code of the table shows: whether they tell more than the prior allows.

`narcissus init` leaves columns out that it takes for identifiers, texts or copies of others, and
puts numbers into bins. An attacker may still know them as they stand, so they are examined: models
guess held-out rows from them and the known columns. What shows nothing is accounted for. What tells
more than the prior allows waits for a declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.features import Features, features_of
from narcissus.kinds.table.found import HeldOutGuess
from narcissus.kinds.table.held_out import FEWEST, FITTED, TESTED, RowGuesses, guessed, scored
from narcissus.kinds.table.lookup import best_set, lookup_chances
from narcissus.kinds.table.nearest import nearest_rows
from narcissus.kinds.table.population import HELD_OUT
from narcissus.kinds.table.row_order import OrderedRows, neighbour_attempt
from narcissus.kinds.table.trees import tree_chances
from narcissus.report.reach import of_100
from narcissus.rows import Unaccounted
from narcissus.tables.tally import RawColumn

MOST_FEATURES = 60  # that a forest sees: those that tell most by themselves
PAIRED = 200  # features of which every pair is looked up
SETS = 20_000  # sets of features that are compared
MOST_TRIED = 10  # columns that are left out in turn, where none tells alone

Codes = NDArray[np.integer]


def of_values(
    experiment: Experiment, left: Sequence[RawColumn], binned: Sequence[RawColumn]
) -> tuple[Unaccounted, ...]:
    """Return the columns whose values tell of the secret, or could not be examined.

    left, binned: Columns that are left out, and known columns in bins, as they stand in the file,
        of the rows that the table holds to examine.
    """
    if experiment.table.rows < FEWEST:
        why = (
            f"It was left out, and {experiment.table.rows} rows are too few to show what it tells."
        )
        return tuple(undeclared(column.name, why) for column in left)
    telling, guess = _telling(experiment, [*left, *binned])
    if guess is None:
        return ()
    names = {column.name for column in telling}
    reason = _reason("With what was left out", guess)
    found = [undeclared(column.name, reason) for column in left if column.name in names]
    exact = [column.name for column in binned if column.name in names]
    if exact:
        found.append(_in_bins(exact, _reason("With exact values of columns in bins", guess)))
    return tuple(found)


def undeclared(name: str, reason: str) -> Unaccounted:
    """Return a column that is left out and that no number speaks of."""
    return Unaccounted(
        subject=f"column `{name}`",
        reason=reason,
        declaration=f'`drop = ["{name}"]` in [data] if no attacker knows it',
    )


def _in_bins(names: Sequence[str], reason: str) -> Unaccounted:
    quoted = ", ".join(f'"{name}"' for name in names)
    return Unaccounted(
        subject=f"the exact value of {' and '.join(f'`{name}`' for name in names)}",
        reason=reason,
        declaration=f"`bins_only = [{quoted}]` in [threat] if no attacker knows more than the "
        "bins; else finer bins, or `unit` in [data] where rows share a household",
    )


def unread(left: Sequence[str], binned: Sequence[str]) -> tuple[Unaccounted, ...]:
    """Return columns whose values cannot be read: the rows of the table are not known."""
    why = "The table is given as counts of records, so the values of each row cannot be examined."
    exact = (_in_bins(binned, why),) if binned else ()
    return (*(undeclared(name, why) for name in left), *exact)


def of_order(ordered: OrderedRows) -> tuple[Unaccounted, ...]:
    """Return the order of the rows, where it tells of the secret."""
    experiment = ordered.experiment
    if experiment is None:
        return ()
    [guess] = scored(experiment, (neighbour_attempt(experiment, ordered.rows, number=3),))
    if not guess.refutes:
        return ()
    return (
        Unaccounted(
            subject="the order of the rows",
            reason=_reason("By the rows just before in the file", guess),
            declaration="`order_hidden = true` in [threat] if no attacker knows where a person "
            "stands in the file; else `unit` in [data] where neighbours belong together",
        ),
    )


def _telling(
    experiment: Experiment, columns: Sequence[RawColumn]
) -> tuple[Sequence[RawColumn], HeldOutGuess | None]:
    """Return the columns that tell of the secret, each alone or all together, and the best guess.

    Only what refutes the prior together is tried in parts, so that the error is spent once.
    """
    best = _best(_guesses(experiment, columns))
    if not best.refutes:
        return (), None
    if len(columns) == 1:
        return columns, best
    alone = [(column, _best(_guesses(experiment, [column]))) for column in columns]
    telling = [(column, guess) for column, guess in alone if guess.refutes]
    if telling:
        return [column for column, _ in telling], _best([guess for _, guess in telling])
    for column in columns[:MOST_TRIED]:  # leave out what is not needed to tell
        others = [other for other in columns if other is not column]
        if len(others) > 1 and (without := _best(_guesses(experiment, others))).refutes:
            columns, best = others, without
    return columns, best


def _best(guesses: Sequence[HeldOutGuess]) -> HeldOutGuess:
    return max(guesses, key=lambda one: one.share - one.at_most)


def _reason(how: str, guess: HeldOutGuess) -> str:
    return (
        f"{how}, {of_100(guess.share)} people are guessed right without the release, where the "
        f"prior allows {of_100(guess.at_most, 'up')}."
    )


def _guesses(experiment: Experiment, columns: Sequence[RawColumn]) -> tuple[HeldOutGuess, ...]:
    """Guess rows of the table from known columns and these, and compare with the prior."""
    table, known = experiment.table, list(experiment.queries.known)
    rng = child(experiment.entropy, HELD_OUT, 2)
    order = rng.permutation(len(columns[0].codes))[: FITTED + TESTED]
    held = table.examined
    assert held is not None  # else nothing was read
    rows = np.ascontiguousarray(held[order], dtype=np.int32)
    start = len(order) - min(TESTED, len(order) // 2)
    of_known = [rows[:, c].astype(np.int64) for c in known]
    each = [features_of(column, order) for column in columns]
    classes = _classes(experiment, rows[:start])
    flat = [feature for features in each for feature in features]
    told = sorted(range(len(flat)), key=lambda k: -_agreement(flat[k][:start], classes))
    strong = [flat[k] for k in told[:MOST_FEATURES]]
    paired = flat if len(flat) + len(known) <= PAIRED else _paired(each, of_known, classes, rng)
    seen = {
        "a random forest": [*strong, *of_known],
        "a lookup": [*paired, *of_known],
    }
    attempts: list[RowGuesses] = []
    for by, features in seen.items():
        x = np.column_stack(features)
        ordered = [True] * (len(features) - len(known)) + [table.ordered[c] for c in known]
        model = _model(by, x, ordered)
        guesses = guessed(experiment, model, rows[:start], x[:start], x[start:], rng)
        attempts.append(RowGuesses(by, rows[start:], guesses))
    values = np.column_stack([*(np.asarray(c.codes)[order] for c in columns), *of_known])
    asked, like = nearest_rows(values, start)
    named = rows[like][:, list(experiment.queries.unknown)]
    if not experiment.factored:
        named = experiment.success.guess_of(experiment.queries.joint(rows[like]))
    attempts.append(RowGuesses("the row most like it", rows[asked], named))
    return scored(experiment, tuple(attempts))


def _model(by: str, x: Codes, ordered: Sequence[bool]) -> Callable[..., Any]:
    sizes = [int(column.max()) + 1 for column in x.T]

    def by_trees(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
        return tree_chances(of, classes, asked, ordered, size=size, rng=random)

    def by_lookup(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
        return lookup_chances(of, classes, asked, sizes, size=size, rng=random, sets=SETS)

    return by_lookup if by == "a lookup" else by_trees


def _classes(experiment: Experiment, rows: Codes) -> Codes:
    """Return numbers for the secrets of rows, all unknown columns together."""
    secrets = rows[:, list(experiment.queries.unknown)]
    return np.ravel(np.unique(secrets, axis=0, return_inverse=True)[1])


def _agreement(feature: Codes, classes: Codes) -> float:
    """Return how often another row of the same value has the same class, in the mean."""
    size = int(classes.max()) + 1
    cells = np.bincount(feature * size + classes, minlength=(int(feature.max()) + 1) * size)
    counts = cells.reshape(-1, size)
    each = counts.sum(axis=1)
    right = (counts * (counts - 1)).sum(axis=1) / np.maximum(each - 1, 1)
    return float(right.sum() / len(classes))


def _paired(
    each: Sequence[Features], of_known: Features, classes: Codes, rng: np.random.Generator
) -> Features:
    """Return those features of each column that tell most together, alone or with known ones."""
    chosen: Features = []
    for features in each:
        x = np.column_stack([*features, *of_known])[: len(classes)]
        sizes = [int(column.max()) + 1 for column in x.T]
        best = best_set(x, classes, sizes, size=int(classes.max()) + 1, rng=rng)
        chosen += [features[place] for place in best if place < len(features)]
    return chosen[: PAIRED - len(of_known)] if len(of_known) < PAIRED else chosen
