"""Values that no code of the table shows: whether they tell more than the prior allows.

`narcissus init` leaves columns out that it takes for identifiers, texts or copies of others, and
puts numbers into bins. An attacker may still know them as they are, so they are examined: models
guess held-out rows from them and the known columns. What shows nothing is accounted for. What tells
more than the prior allows waits for a declaration.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._random import child
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.features import Features, features_of, last_digits, numbers_of
from narcissus.kinds.table.found import HeldOutGuess
from narcissus.kinds.table.held_out import (
    FEWEST,
    FITTED,
    FOREST,
    LINEAR,
    TESTED,
    Model,
    RowGuesses,
    SeenT,
    fewest_rows,
    guessed,
    is_better,
    judged_groups,
    known_numbers,
    scored,
    within,
)
from narcissus.kinds.table.linear import linear_chances
from narcissus.kinds.table.lookup import agreement, best_set, lookup_chances
from narcissus.kinds.table.nearest import nearest_rows
from narcissus.kinds.table.parities import best_parities, different_bits, parity_of
from narcissus.kinds.table.population import HELD_OUT
from narcissus.kinds.table.relations import related_features
from narcissus.kinds.table.row_order import OrderAttempt, OrderedRows, classes_of, order_attempts
from narcissus.kinds.table.trees import tree_chances
from narcissus.report.reach import compared_of_100
from narcissus.rows import Unaccounted
from narcissus.tables.names import numbers_people
from narcissus.tables.tally import RawColumn

MOST_FEATURES = 60  # that a forest sees: those that tell most by themselves
LIKENESS = "the row most like it"
PAIRED = 200  # features of which every pair is looked up
SETS = 20_000  # sets of features that are compared
FEW = 12  # values of a known column, of which odd and even codes are told apart
NUMBERED = 0.9  # different numbers for each row below which people have several rows
MOST_TRIED = 10  # columns that are left out in turn, where none tells alone

Codes = NDArray[np.integer]
Draws = np.random.Generator


def of_values(
    experiment: Experiment,
    left: Sequence[RawColumn],
    binned: Sequence[RawColumn],
    secrets: Sequence[RawColumn] = (),
    written: Sequence[RawColumn] = (),
    *,
    is_refuted: bool = False,
) -> tuple[Unaccounted, ...]:
    """Return the columns whose values tell of the secret, or could not be examined.

    left, binned, secrets: Columns that are left out, and known and unknown columns in bins, as they
        appear in the file, of the rows that the table holds to examine.
    written: How the file writes equal values of known columns and of those left out, by `written`.
    is_refuted: Whether known columns refute the prior already: only then is what they tell by
        themselves no matter of these.
    """
    several = tuple(_of_several_rows(left))
    named = {
        column.name for column in left if any(f"`{column.name}`" in q.subject for q in several)
    }
    if experiment.table.rows < FEWEST:
        why = (
            f"It was left out, and {experiment.table.rows} rows are too few to show what it tells."
        )
        names = [column.name for column in left if column.name not in named]
        return (*several, *_undeclared(names, why))
    columns = [*left, *binned, *written]
    telling, guess = _telling(experiment, columns, secrets, is_refuted=is_refuted)
    if guess is None:
        return several
    names = {column.name for column in telling} - named
    dropped, exact, spelt = (
        [c.name for c in some if c.name in names] for some in (left, binned, written)
    )
    return (
        *several,
        *_undeclared(dropped, _reason("With what was left out", guess)),
        *_in_bins(exact, _reason("With exact values of columns in bins", guess)),
        *_as_written(spelt, _reason("With how the file writes equal values", guess)),
    )


def _as_written(names: Sequence[str], reason: str) -> tuple[Unaccounted, ...]:
    """Return columns whose spelling no number speaks of, with one declaration."""
    if not names:
        return ()
    *others, last = names
    left = Unaccounted(
        subject=f"{', '.join(others)} and {last}" if others else last,
        reason=reason,
        declaration="`spelling_hidden = true` in [threat] if no attacker knows how the file writes "
        "values; else write equal values alike, and others as different values",
    )
    return (left,)


def _of_several_rows(left: Sequence[RawColumn]) -> Iterator[Unaccounted]:
    """Yield columns that number people and give several rows the same number.

    The audit takes each row for a person, so that nobody is covered who has several.
    """
    for column in left:
        codes = column.codes[~column.gaps]
        people = len(np.unique(codes))
        if numbers_people(column.name) and 2 < people < NUMBERED * len(codes):
            yield Unaccounted(
                subject=f"the rows of each `{column.name}`",
                reason=f"It has {people:,} values in {len(codes):,} rows, so a person may have "
                "several, and the audit takes each row for another person.",
                declaration=f"`unit = {json.dumps(column.name, ensure_ascii=False)}` in [data], "
                f"without it in [data.left_out]; or `drop = {_quoted([column.name])}` in [data] if "
                "each row is another person",
            )


def _undeclared(names: Sequence[str], reason: str) -> tuple[Unaccounted, ...]:
    """Return columns that are left out and that no number speaks of, with one declaration."""
    if not names:
        return ()
    is_many = len(names) > 1
    left = Unaccounted(
        subject=f"{'columns' if is_many else 'column'} {_listed(names)}",
        reason=reason,
        declaration=f"`drop = {_quoted(names)}` in [data] if no attacker knows "
        f"{'them' if is_many else 'it'}",
    )
    return (left,)


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def _quoted(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _in_bins(names: Sequence[str], reason: str) -> tuple[Unaccounted, ...]:
    """Return known columns of whose exact values no number speaks, with one declaration."""
    if not names:
        return ()
    values = "value" if len(names) == 1 else "values"
    left = Unaccounted(
        subject=f"the exact {values} of {_listed(names)}",
        reason=reason,
        declaration=f"`bins_only = {_quoted(names)}` in [threat] if no attacker knows more than "
        "the bins; else finer bins, or `unit` in [data] where rows share a household",
    )
    return (left,)


def unread(left: Sequence[str], binned: Sequence[str]) -> tuple[Unaccounted, ...]:
    """Return columns whose values cannot be read: the rows of the table are not known."""
    why = "The table is given as counts of records, so the values of each row cannot be examined."
    return (*_undeclared(left, why), *_in_bins(binned, why))


def of_order(ordered: OrderedRows, *, is_refuted: bool = False) -> tuple[Unaccounted, ...]:
    """Return the order of the rows, where it tells of the secret or the file is sorted by it.

    is_refuted: Whether known columns refute the prior already: only then is what they tell by
        themselves no matter of the order.
    """
    guess = guess_by_order(ordered, is_refuted=is_refuted)
    if guess is None and not ordered.sorted_by:
        return ()
    reasons: list[str] = []
    declaration = (
        "`order_hidden = true` in [threat] if no attacker knows the place of a person in the file"
    )
    if ordered.sorted_by:
        reasons.append(
            f"The file is sorted by {_listed(ordered.sorted_by)}: an attacker who knows "
            "the place of a person in it learns the secret."
        )
    if guess is not None:
        reasons.append(_reason("By other rows of the file", guess))
        declaration += "; else `unit` in [data] where neighbours belong together"
    return (
        Unaccounted(
            subject="the order of the rows", reason=" ".join(reasons), declaration=declaration
        ),
    )


def guess_by_order(ordered: OrderedRows, *, is_refuted: bool = False) -> HeldOutGuess | None:
    """Return the best guess by other rows that the prior does not allow; None: there is none.

    is_refuted: As in `of_order`.
    """
    experiment = ordered.experiment
    if experiment is None:
        return None

    def adds(attempt: OrderAttempt, group: str) -> bool:
        both = attempt.guesses, attempt.without()
        return is_better(experiment, *(within(experiment, each, group) for each in both))

    telling = [
        guess
        for attempt in order_attempts(ordered, experiment)
        for guess in scored(experiment, (attempt.guesses,))
        if guess.refutes and (not is_refuted or adds(attempt, guess.group))
    ]
    return _best(telling) if telling else None


def _telling(
    experiment: Experiment,
    columns: Sequence[RawColumn],
    secrets: Sequence[RawColumn],
    *,
    is_refuted: bool,
) -> tuple[Sequence[RawColumn], HeldOutGuess | None]:
    """Return the columns that tell of the secret, each alone or all together, and the best guess.

    Only what refutes the prior together is tried in parts, so that the error is spent once. Parts
    are tried by the guesser who got most; they tell if that is half of it at least.
    """
    telling = [
        (guess, values)
        for values in _views(experiment, columns, secrets)
        for name in GUESSERS
        for guess in values.guesses(name, columns)
        if guess.refutes and (not is_refuted or values.adds(guess, columns))
    ]
    if not telling:
        return (), None
    best, values = max(telling, key=lambda pair: _beyond(pair[0]))

    def tells(some: Sequence[RawColumn]) -> HeldOutGuess | None:
        guesses = values.guesses(best.by, some)
        guess = next((guess for guess in guesses if guess.group == best.group), None)
        return guess if guess is not None and 2 * _beyond(guess) > _beyond(best) else None

    if len(columns) == 1:
        return columns, best
    alone = [(column, guess) for column in columns if (guess := tells([column])) is not None]
    if alone:
        return [column for column, _ in alone], _best([guess for _, guess in alone])
    for column in columns[:MOST_TRIED]:  # leave out what is not needed to tell
        others = [other for other in columns if other is not column]
        if len(others) > 1 and (without := tells(others)) is not None:
            columns, best = others, without
    return columns, best


def _views(
    experiment: Experiment, columns: Sequence[RawColumn], secrets: Sequence[RawColumn]
) -> Iterator[_ColumnValues]:
    """Yield the rows that are examined, and those of each group that a verdict speaks of."""
    rng = child(experiment.entropy, HELD_OUT, 2)
    order = rng.permutation(len(columns[0].codes))[: FITTED + TESTED]
    whole = _ColumnValues(experiment, columns, secrets, order)
    yield whole
    for group, members in judged_groups(experiment, whole.rows):
        if members.sum() // 2 >= fewest_rows(experiment):
            yield _ColumnValues(experiment, columns, secrets, order[members], group)


def _best(guesses: Sequence[HeldOutGuess]) -> HeldOutGuess:
    return max(guesses, key=_beyond)


def _beyond(guess: HeldOutGuess) -> float:
    return guess.share - guess.at_most


def _reason(how: str, guess: HeldOutGuess) -> str:
    share, limit = compared_of_100(guess.share, guess.at_most)
    return (
        f"{how}, {share} people{guess.of_group} are guessed right without the release, "
        f"where the prior allows {limit}."
    )


class _ColumnValues:
    """Rows of the table with the values of columns as they are, and guesses of the last ones."""

    def __init__(
        self,
        experiment: Experiment,
        columns: Sequence[RawColumn],
        secrets: Sequence[RawColumn],
        order: NDArray[np.int64],
        group: str = "",
    ) -> None:
        records = experiment.table.examined
        assert records is not None  # else nothing was read
        self.experiment, self.known = experiment, list(experiment.queries.known)
        self.order, self.group = order, group
        self.rows = np.ascontiguousarray(records[self.order], dtype=np.int32)
        self.start = len(self.order) - min(TESTED, len(self.order) // 2)
        self.classes = classes_of(experiment, self.rows[: self.start])
        self.of_known: Features = [self.rows[:, c].astype(np.int64) for c in self.known]
        self.features = {c.name: features_of(c, self.order) for c in columns}
        self.numbers = {c.name: numbers_of(c, self.order) for c in columns}
        self.digits = {c.name: last_digits(c, self.order) for c in columns}
        self.hidden = [numbers_of(c, self.order)[: self.start] for c in secrets]

    def guesses(self, by: str, columns: Sequence[RawColumn]) -> tuple[HeldOutGuess, ...]:
        """Guess from known columns and these, by the guesser of a name, and compare."""
        attempt = self._guesses(by, columns)
        if self.group and len(attempt.rows) < fewest_rows(self.experiment):
            return ()
        return scored(self.experiment, (attempt,))

    def adds(self, guess: HeldOutGuess, columns: Sequence[RawColumn]) -> bool:
        """Return whether a guesser is right more often than by the known columns alone.

        Whoever guesses chosen rows, chosen by these columns, is compared with the prior alone.
        """
        if guess.by == LIKENESS or not self.known:
            return True
        both = (self._guesses(guess.by, some) for some in (columns, ()))
        parts = (within(self.experiment, each, guess.group) for each in both)
        return is_better(self.experiment, *parts)

    def _guesses(self, by: str, columns: Sequence[RawColumn]) -> RowGuesses:
        rng = child(self.experiment.entropy, HELD_OUT, 2, 1 + list(GUESSERS).index(by))
        return replace(GUESSERS[by](self, by, columns, rng), group=self.group)

    def by_forest(self, by: str, columns: Sequence[RawColumn], rng: Draws) -> RowGuesses:
        table = self.experiment.table
        flat = [feature for column in columns for feature in self.features[column.name]]
        features = sorted(flat, key=lambda codes: -agreement(codes[: self.start], self.classes))
        x = np.column_stack([*features[:MOST_FEATURES], *self.of_known])
        ordered = [True] * (x.shape[1] - len(self.known)) + [table.ordered[c] for c in self.known]

        def by_trees(of: Codes, classes: Codes, asked: Codes, size: int, random: Draws) -> Floats:
            return tree_chances(of, classes, asked, ordered, size=size, rng=random)

        return self._fitted(by, by_trees, x, rng)

    def by_lookup(self, by: str, columns: Sequence[RawColumn], rng: Draws) -> RowGuesses:
        each = [self.features[column.name] for column in columns]
        flat = [feature for features in each for feature in features]
        if len(flat) + len(self.known) > PAIRED:
            flat = _paired(each, self.of_known, self.classes, rng)
        x = np.column_stack([*flat, *self.of_known])
        sizes = [int(column.max()) + 1 for column in x.T]

        def by_cells(of: Codes, classes: Codes, asked: Codes, size: int, random: Draws) -> Floats:
            return lookup_chances(of, classes, asked, sizes, size=size, rng=random, sets=SETS)

        return self._fitted(by, by_cells, x, rng)

    def by_sums(self, by: str, columns: Sequence[RawColumn], rng: Draws) -> RowGuesses:
        of_known = known_numbers(self.experiment, self.rows[:, self.known])
        x = np.column_stack([*(self.numbers[column.name] for column in columns), of_known])
        return self._fitted(by, _linear, x, rng, self.hidden)

    def by_relations(self, by: str, columns: Sequence[RawColumn], rng: Draws) -> RowGuesses:
        """Look up what tells most of parities of digits, and of relations between numbers."""
        known_values = known_numbers(self.experiment, self.rows[:, self.known])
        numbers = np.column_stack(
            [*(self.numbers[column.name] for column in columns), known_values]
        )
        digits = [self.digits[column.name] for column in columns]
        by_place = [
            feature for place in zip_longest(*digits) for feature in place if feature is not None
        ]
        two = [
            feature
            for c in columns
            for feature in self.features[c.name]
            if feature.max() - feature.min() == 1
        ]
        few = [feature for feature in self.of_known if feature.max() < FEW]
        bits = different_bits([*by_place, *few, *two])
        parities = best_parities(bits[: self.start], self.classes)
        features = [parity_of(bits, places) for places in parities]
        features += related_features(numbers, self.classes)
        x = np.column_stack([*features, *self.of_known, np.zeros(len(numbers), dtype=np.int64)])
        sizes = [int(column.max()) + 1 for column in x.T]

        def by_cells(of: Codes, classes: Codes, asked: Codes, size: int, random: Draws) -> Floats:
            return lookup_chances(of, classes, asked, sizes, size=size, rng=random)

        return self._fitted(by, by_cells, x, rng)

    def by_likeness(self, by: str, columns: Sequence[RawColumn], rng: Draws) -> RowGuesses:
        del rng
        values = [np.asarray(column.codes)[self.order] for column in columns]
        places, like = nearest_rows(np.column_stack([*values, *self.of_known]), self.start)
        queries, named = self.experiment.queries, self.rows[like]
        if self.experiment.factored:
            return RowGuesses(by, self.rows[places], named[:, list(queries.unknown)])
        guesses = self.experiment.success.guess_of(queries.joint(named))
        return RowGuesses(by, self.rows[places], guesses)

    def _fitted(
        self,
        by: str,
        model: Model[SeenT],
        x: NDArray[SeenT],
        rng: Draws,
        hidden: Sequence[NDArray[SeenT]] = (),
    ) -> RowGuesses:
        """Guess by a model that is fitted to the first rows, of which it sees ``hidden`` too."""
        before, after = x[: self.start], x[self.start :]
        before = np.column_stack([before, *hidden])
        fitted, rows = self.rows[: self.start], self.rows[self.start :]
        return RowGuesses(by, rows, guessed(self.experiment, model, fitted, before, after, rng))


GUESSERS: Mapping[str, Callable[[_ColumnValues, str, Sequence[RawColumn], Draws], RowGuesses]] = {
    FOREST: _ColumnValues.by_forest,
    "a lookup": _ColumnValues.by_lookup,
    LINEAR: _ColumnValues.by_sums,
    LIKENESS: _ColumnValues.by_likeness,
    "a lookup of relations between values": _ColumnValues.by_relations,
}
"""Who guesses rows of the table from values as they are."""


def _linear(of: Floats, classes: Codes, asked: Floats, size: int, rng: Draws) -> Floats:
    """Return chances by a linear model; the last columns of fitted rows are numbers of secrets."""
    known, exact = np.split(of, [asked.shape[1]], axis=1)
    numbers = np.concatenate([known, asked])
    return linear_chances(numbers, classes, size=size, rng=rng, exact=exact)


def _paired(
    each: Sequence[Features], of_known: Features, classes: Codes, rng: np.random.Generator
) -> Features:
    """Return features of which pairs are looked up.

    Those of each column that tell most together, alone or with known ones, come first; then those
    of fewest values, of which any two, of different columns too, may tell what neither does.
    """
    chosen: Features = []
    for features in each:
        x = np.column_stack([*features, *of_known])[: len(classes)]
        sizes = [int(column.max()) + 1 for column in x.T]
        best = best_set(x, classes, sizes, size=int(classes.max()) + 1, rng=rng)
        chosen += [features[place] for place in best if place < len(features)]
    few = sorted(
        (feature for features in each for feature in features),
        key=lambda feature: int(feature.max()),
    )
    room = max(0, PAIRED - len(of_known) - len(chosen))
    return [*chosen, *few[:room]]
