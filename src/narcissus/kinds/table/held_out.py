"""Held-out guesses, which test the prior.

Others guess from the known columns of rows they were not fitted to. If the prior is right about the
rows of the table, and their secrets are independent given the known columns, then no guess about a
row made without its secret has a larger chance than the best guess. So the number of right guesses
is at most a sum of independent Bernoullis with these chances, and its tail is known exactly. That
also holds for guesses that rest on rows guessed before: each row's secret is independent of them.

Six guessers try. A forest of trees (`trees`) finds what many columns tell together, a lookup
(`lookup`) what up to five columns tell that show in none alone, naive Bayes (`additive`) what many
columns tell a little of each, and a linear model (`linear`) sums and products of numbers. Another
lookup sees relations of up to four numbers (`relations`): a band of a ratio or of a distance is no
sum, and a forest needs many rows for it. A row with equal known columns tests the prior for copies
of people. All are the package's own, so that no result depends on what else is installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from narcissus._arrays import Floats, first_largest
from narcissus._random import child
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.kinds.table.additive import additive_chances
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import EQUAL, HeldOutGuess
from narcissus.kinds.table.linear import linear_chances, one_of_each
from narcissus.kinds.table.lookup import lookup_chances
from narcissus.kinds.table.population import HELD_OUT
from narcissus.kinds.table.proofs import not_exceeded
from narcissus.kinds.table.relations import alike_columns, related_features
from narcissus.kinds.table.trees import tree_chances
from narcissus.knowledge import FactoredTargets
from narcissus.priors.base import row_keys
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw

Codes = NDArray[np.int64]
Guesses = NDArray[np.integer]
Rows = NDArray[np.int32]
Draws = np.random.Generator
SeenT = TypeVar("SeenT", bound=np.generic)
Model = Callable[[NDArray[SeenT], Codes, NDArray[SeenT], int, np.random.Generator], Floats]
"""Returns the chance of each class, for rows to be guessed, from fitted rows and their classes."""

FITTED, TESTED = 8_000, 4_000  # rows that a model is fitted to, and that are guessed, at most
TESTED_FACTORED = 2_000  # rows that are guessed where no joint value is listed
FEWEST = 20  # rows of a table with which that is tried
LOOKED_UP = 20_000  # rows that are drawn from the table, at most
CLASSES = 100  # secrets that a model tells apart, the most frequent ones
ENTRIES = 10_000_000  # chances of joint values that are held at once
ERROR = 0.008  # chance that a right prior is refuted at all: that is a headline
GUESSERS = 16  # that may try, at most, and that share the error
BEYOND = 0.05  # chance that equal guesses differ so much, below which one is better
SURE = 1 - ERROR / GUESSERS  # level of each limit
FITS = 2  # a guesser may be fitted to all rows, or to those of a group
WITHIN = "{}, fitted to the group"

FOREST, LOOKUP = "a random forest", "a lookup of up to five columns"
ADDITIVE, LINEAR = "naive Bayes", "a linear model"
RELATED = "a lookup of relations between numbers"


@dataclass(frozen=True)
class RowGuesses:
    """Rows of the table, and what somebody guesses of them without their secrets."""

    by: str
    rows: Rows
    guesses: Guesses
    group: str = ""
    """The group that all rows are of, where they were chosen so."""


def scored(experiment: Experiment, attempts: tuple[RowGuesses, ...]) -> tuple[HeldOutGuess, ...]:
    """Compare guesses of rows with what the prior of an experiment allows anybody.

    Where a verdict speaks of groups, guesses of all rows are compared within each group as well,
    and all rows have half of the error. Chances of secrets given known columns are independent
    within a group too, if known columns tell who belongs to it.
    """
    guesses: list[HeldOutGuess] = []
    for attempt in attempts:
        guesses.append(_scored(experiment, attempt))
        if not attempt.group:
            guesses += (
                _scored(experiment, part)
                for part in _parts(experiment, attempt)
                if len(part.rows) >= fewest_rows(experiment)
            )
    return tuple(guesses)


def _parts(experiment: Experiment, attempt: RowGuesses) -> Iterator[RowGuesses]:
    for group, members in judged_groups(experiment, attempt.rows):
        rows, guesses = attempt.rows[members], attempt.guesses[members]
        yield RowGuesses(attempt.by, rows, guesses, group)


def within(experiment: Experiment, attempt: RowGuesses, group: str) -> RowGuesses:
    """Return the guesses of an attempt about rows of a group; all of them for no name."""
    if group == attempt.group:
        return attempt
    return next(part for part in _parts(experiment, attempt) if part.group == group)


def fewest_rows(experiment: Experiment) -> int:
    """Return the number of guessed rows below which a group is not examined."""
    return max(FEWEST, experiment.least_group)


def level_of(experiment: Experiment, group: str = "") -> float:
    """Return the level of a limit for all rows, or for those of a group."""
    if not experiment.judges_groups:
        return SURE
    groups = np.count_nonzero(~experiment.groups.by_secret(experiment.queries.unknown))
    shares = 2 * FITS * groups if group and groups else 2
    return 1 - (1 - SURE) / shares


def judged_groups(experiment: Experiment, rows: Rows) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each group that a verdict speaks of, by name, and which of some rows it holds.

    Whom the release singles out is seen among as many rows as there are people in a release.
    """
    groups = replace(experiment.groups, unusual=False)
    by_secret = groups.by_secret(experiment.queries.unknown)
    if not experiment.judges_groups or by_secret.all():
        return
    people = experiment.targets if groups.singled_out else len(rows)
    masks: list[NDArray[np.bool_]] = []
    for start in range(0, len(rows), people):
        block = rows[start : start + people]
        targets = _targets(experiment, block)
        masks.append(groups.members(block, targets, targets.secrets(block)).masks())
    members = np.concatenate(masks, axis=1)
    for number, name in enumerate(groups.names):
        if not by_secret[number]:
            yield ": ".join(name), members[number]


def _targets(experiment: Experiment, rows: Rows) -> Any:
    side: Any = experiment.side
    [targets] = side.reveal(None, Draw(rows[None]), child(experiment.entropy, HELD_OUT, 1))
    return targets


def held_out_attempts(experiment: Experiment) -> tuple[RowGuesses, ...]:
    """Guess rows of the table; the guesses do not depend on the prior."""
    if experiment.table.rows < FEWEST or not experiment.queries.known:
        return ()
    rows = drawn_rows(experiment)
    attempts = list(_attempts(experiment, rows))
    for group, members in judged_groups(experiment, rows):
        if members.sum() - members.sum() // 4 >= fewest_rows(experiment):
            attempts += (
                replace(attempt, by=WITHIN.format(attempt.by), group=group)
                for attempt in _attempts(experiment, rows[members])
                if len(attempt.rows) >= fewest_rows(experiment)
            )
    return tuple(attempts)


def _attempts(experiment: Experiment, rows: Rows) -> Iterator[RowGuesses]:
    """Yield guesses of some of the rows from others."""
    queries = experiment.queries
    row_limit = TESTED_FACTORED if experiment.factored else min(TESTED, ENTRIES // queries.values)
    row_limit = max(1, row_limit)
    blocks = list(_blocks(len(rows), row_limit))
    tested = np.concatenate([rows[start:stop] for start, stop in blocks])
    models = {
        FOREST: _forest(experiment),
        LOOKUP: _lookup(experiment),
        ADDITIVE: _additive(experiment),
        LINEAR: _linear(experiment),
        **({RELATED: _related(experiment)} if _has_relations(experiment) else {}),
    }
    for number, (name, model) in enumerate(models.items()):
        rng = child(experiment.entropy, HELD_OUT, 0, number)
        guesses = [
            _from_known(
                experiment, model, rows[max(0, start - FITTED) : start], rows[start:stop], rng
            )
            for start, stop in blocks
        ]
        yield RowGuesses(name, tested, np.concatenate(guesses))
    keys = row_keys(rows, queries.known, queries.sizes)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    like = first[np.ravel(which)]
    again = np.flatnonzero(like != np.arange(len(rows)))[:row_limit]
    if again.size:
        yield RowGuesses(EQUAL, rows[again], _named(experiment, rows[like[again]]))


def drawn_rows(experiment: Experiment) -> Rows:
    """Draw rows of the table in a random order, the same for each prior."""
    table, rng = experiment.table, child(experiment.entropy, HELD_OUT)
    some = min(table.rows, LOOKED_UP)
    drawn = RealRows(table.in_order, some, table.counts).draw(1, rng).data[0]
    return drawn[rng.permutation(some)]


def _blocks(rows: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield which rows are guessed from those before them: all but a quarter, where these are few.

    A model is fitted anew for each block, so that of few rows many are guessed.
    """
    quarter = rows // 4
    if rows - quarter > most:
        yield rows - min(most, rows // 2), rows
        return
    yield from ((quarter, 2 * quarter), (2 * quarter, 3 * quarter), (3 * quarter, rows))


def _named(experiment: Experiment, rows: Rows) -> Guesses:
    if experiment.factored:
        return rows[:, list(experiment.queries.unknown)]
    return experiment.success.guess_of(experiment.queries.joint(rows))


def _forest(experiment: Experiment) -> Model[np.int32]:
    known = list(experiment.queries.known)
    ordered = [experiment.table.ordered[c] for c in known]

    def chances(fitted: Rows, classes: Codes, asked: Rows, size: int, rng: Draws) -> Floats:
        return tree_chances(fitted, classes, asked, ordered, size=size, rng=rng)

    return chances


def _lookup(experiment: Experiment) -> Model[np.int32]:
    known = list(experiment.queries.known)
    sizes = [experiment.queries.sizes[c] for c in known]

    def chances(fitted: Rows, classes: Codes, asked: Rows, size: int, rng: Draws) -> Floats:
        return lookup_chances(fitted, classes, asked, sizes, size=size, rng=rng, wide=True)

    return chances


def _additive(experiment: Experiment) -> Model[np.int32]:
    sizes = [experiment.queries.sizes[c] for c in experiment.queries.known]

    def chances(fitted: Rows, classes: Codes, asked: Rows, size: int, rng: Draws) -> Floats:
        del rng
        return additive_chances(fitted, classes, asked, sizes, size=size)

    return chances


def _linear(experiment: Experiment) -> Model[np.int32]:
    def chances(fitted: Rows, classes: Codes, asked: Rows, size: int, rng: Draws) -> Floats:
        numbers = known_numbers(experiment, np.concatenate([fitted, asked]))
        return linear_chances(numbers, classes, size=size, rng=rng)

    return chances


def _related(experiment: Experiment) -> Model[np.int32]:
    table, known = experiment.table, experiment.queries.known
    each = [(known.index(column), table.values[column]) for column in _ordered(experiment)]
    ordered = [(place, values) for place, values in each if values is not None]
    sizes = [experiment.queries.sizes[c] for c in known]
    answers = _answers(experiment)

    def chances(fitted: Rows, classes: Codes, asked: Rows, size: int, rng: Draws) -> Floats:
        seen = np.concatenate([fitted, asked])
        values_of_rows = [np.zeros(len(seen)), *(values[seen[:, at]] for at, values in ordered)]
        numbers = np.column_stack(values_of_rows)
        features = related_features(
            numbers,
            classes,
            [
                np.column_stack([values[seen[:, place]] for place, values in group])
                for group in answers
            ],
        )
        x = np.column_stack([*features, seen])
        column_sizes = [*(int(feature.max()) + 1 for feature in features), *sizes]
        return lookup_chances(
            x[: len(fitted)], classes, x[len(fitted) :], column_sizes, size=size, rng=rng
        )

    return chances


def _answers(experiment: Experiment) -> list[list[tuple[int, Floats]]]:
    """Group the known columns of one domain: the place of each, and a number for each label."""
    table, known = experiment.table, experiment.queries.known
    texts = sorted({label for c in known if table.values[c] is None for label in table.labels[c]})
    numbers = {label: float(number) for number, label in enumerate(texts)}
    groups: list[list[tuple[int, Floats]]] = []
    for is_number in (True, False):
        columns: list[tuple[int, Floats]] = []
        for place, column in enumerate(known):
            values = table.values[column]
            if values is not None and is_number:
                columns.append((place, values))
            elif values is None and not is_number:
                labels = table.labels[column]
                columns.append((place, np.array([numbers[label] for label in labels])))
        places = alike_columns([values for _, values in columns])
        groups += [[columns[at] for at in group] for group in places]
    return groups


def _has_relations(experiment: Experiment) -> bool:
    return len(_ordered(experiment)) > 1 or bool(_answers(experiment))


def _ordered(experiment: Experiment) -> list[int]:
    """List the known columns with a number behind each label."""
    return [c for c in experiment.queries.known if experiment.table.values[c] is not None]


def known_numbers(experiment: Experiment, seen: NDArray[np.integer]) -> Floats:
    """Return numbers for codes of the known columns, shape (rows, numbers).

    The number behind each label of a column that has an order; of another column, for each of its
    most common values whether a row has it.
    """
    known = experiment.queries.known
    numbers = [
        one_of_each(codes) if (values := experiment.table.values[column]) is None else values[codes]
        for column, codes in zip(known, seen.T, strict=True)
    ]
    return np.column_stack([np.zeros(len(seen)), *numbers])


def _from_known(
    experiment: Experiment,
    model: Model[np.int32],
    fitted: Rows,
    asked: Rows,
    rng: np.random.Generator,
) -> Guesses:
    known = list(experiment.queries.known)
    return guessed(experiment, model, fitted, fitted[:, known], asked[:, known], rng)


def guessed(
    experiment: Experiment,
    model: Model[SeenT],
    fitted: Rows,
    seen: NDArray[SeenT],
    asked: NDArray[SeenT],
    rng: np.random.Generator,
) -> Guesses:
    """Guess the unknown columns of rows, one by one where no joint values are listed.

    ``seen`` is what is seen of the ``fitted`` rows, and ``asked`` the same of those to be guessed.
    """
    queries = experiment.queries

    def chances(secrets: Guesses) -> tuple[Guesses, Floats]:
        values, counts = np.unique(secrets, return_counts=True)
        values = np.sort(values[np.argsort(-counts, kind="stable")][:CLASSES])
        mask = np.isin(secrets, values)
        classes = np.searchsorted(values, secrets[mask])
        return values, model(seen[mask], classes, asked, len(values), rng)

    if experiment.factored:
        picked: list[Guesses] = []
        for column in queries.unknown:
            values, beliefs = chances(fitted[:, column])
            picked.append(values[first_largest(beliefs)])
        return np.stack(picked, axis=1)
    values, some = chances(queries.joint(fitted))
    beliefs = np.zeros((len(asked), queries.values))
    beliefs[:, values] = some
    return experiment.success.decide(beliefs)


def best_chances(targets: Any) -> Floats:
    """Return the largest chance that any guess of each person has, by the prior, shape (n,)."""
    best = targets.best_limit if isinstance(targets, FactoredTargets) else targets.best_chance
    return np.clip(best, 0.0, 1.0)


def most_right(chances: Floats, *, by_column: bool, level: float = SURE) -> float:
    """Return the share of people that no guess gets beyond, with confidence ``level``.

    chances: Of the best guess of each person, in [0, 1], shape (n,).
    by_column: Whether a guess scores parts of a person, instead of being right or wrong.

    Exact for guesses that are right or wrong: a sum of independent Bernoullis.
    """
    people = len(chances)
    if by_column:  # parts of a person: Hoeffding 1963, Theorem 1
        return min(1.0, float(chances.mean()) + math.sqrt(-math.log(1 - level) / (2 * people)))
    return not_exceeded(PoissonBinomial(chances).tails(), level) / people


def is_better(experiment: Experiment, one: RowGuesses, other: RowGuesses) -> bool:
    """Return whether one guess of the same rows is right clearly more often (a sign test)."""
    rows = one.rows
    targets = _targets(experiment, rows)
    secrets = targets.secrets(rows)
    right, without = (targets.success.score(secrets, each.guesses) for each in (one, other))
    wins, losses = int((right > without).sum()), int((right < without).sum())
    return bool(binom.sf(wins - 1, wins + losses, 0.5) <= BEYOND)


def _scored(experiment: Experiment, attempts: RowGuesses) -> HeldOutGuess:
    rows = attempts.rows
    targets = _targets(experiment, rows)
    success, secrets, people = targets.success, targets.secrets(rows), len(rows)
    best = best_chances(targets)
    if (nearby := experiment.nearby) is not None:  # the prior is not taken as it is
        best = np.array([nearby.most(chance) for chance in best.tolist()])
    level = level_of(experiment, attempts.group)
    limit = most_right(best, by_column=success.by_column, level=level)
    return HeldOutGuess(
        by=attempts.by,
        group=attempts.group,
        people=people,
        share=float(success.score(secrets, attempts.guesses).mean()),
        prior_share=float(success.score(secrets, targets.best_guess).mean()),
        at_most=limit,
        confidence=level,
    )
