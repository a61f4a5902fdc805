"""The game on published tables: whose secret does an attacker get from the tables with them in?

An attacker knows some columns of a person, and the published tables. They expect so many people
with each secret among those who have the same known columns (`narcissus.counts.posterior`), and
name the likeliest secret. The same attacker then names the secrets of people whom the tables leave
out: this is the baseline (Narcissus resiliency, Narcissus theory 1: an attacker held against
themselves). What people in the tables lose beyond it is the gain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, child, generator
from narcissus._validation import fraction, integer, one_of
from narcissus._visible import visible
from narcissus.counts.intervals import InfeasibleError
from narcissus.counts.marks import Meaning, Rules
from narcissus.counts.posterior import HOW, MOVES, PRIORS, STEPS, How, Prior, expected
from narcissus.counts.reading import Cell
from narcissus.counts.system import (
    OTHER,
    Dimension,
    Structure,
    build,
    dimensions_of,
    selection,
)  # fmt: skip
from narcissus.errors import InputError
from narcissus.evidence import difference_limits, each_confidence, mean_limits
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate

if TYPE_CHECKING:
    import pandas as pd

Publish = Callable[["pd.DataFrame", np.random.Generator], Sequence[Cell]]
"""Makes the published cells of a frame of people; what is random in it comes from the generator."""
CROSSED = 50_000
"""Most finest cells of all dimensions crossed, in the game."""
_NEAR = 1e-9
"""Chances that are this near are a tie: it is split, so no last digit decides."""


@dataclass(frozen=True)
class WantedSecret:
    """The column whose value the attacker names, and the columns whose values they know."""

    secret: str
    known: tuple[str, ...]

    def require(self, columns: Sequence[str]) -> None:
        """Refuse columns that people do not have, or that are both secret and known."""
        for name in (self.secret, *self.known):
            one_of("column", name, columns)
        if self.secret in self.known:
            raise InputError(f"`{visible(self.secret)}` is the secret, so it is not known")
        if len(set(self.known)) < len(self.known):
            raise InputError(f"a known column is named twice: {', '.join(self.known)}")


class PosteriorReader:
    """What an attacker reads from published cells: how likely each secret is for whom.

    ``size`` is the number of people in the tables, used where no table tells it, if it is known.
    """

    def __init__(
        self, cells: Sequence[Cell], structure: Structure, task: WantedSecret, size: int | None,
        *, steps: int = STEPS, moves: int = MOVES, deadline: float = np.inf,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.task = task
        if size is not None and all(cell.labels for cell in cells):
            cells = [*cells, Cell("(all)", 0, "", "", {}, Meaning(size, size, "exact"))]
        self._dimensions = dimensions_of(cells, structure)
        one_of("dimension of the tables", task.secret, self._dimensions)
        system = build(cells, self._dimensions, structure, crossed_at_most=CROSSED)
        if system.finest is None:
            raise InputError(
                f"the tables cross more than {CROSSED:,} cells, of which no attack of the game "
                "keeps track: take fewer tables or dimensions together"
            )
        try:
            found = expected(system, steps=steps, moves=moves, deadline=deadline, rng=rng)
        except InfeasibleError:
            raise InputError("the tables of the game contradict each other") from None
        self._found, self.how = found, found.how
        self._known = [name for name in task.known if name in self._dimensions]
        self._cells = system.finest
        self._chances = {
            prior: self._summed(means / system.sizes) for prior, means in self._found.means.items()
        }

    def _summed(self, each: Any) -> Any:
        """Sum what unknowns hold: an axis for each known dimension, and the secret's last."""
        finest, names = np.append(each, 0)[self._cells], list(self._dimensions)
        kept = [names.index(name) for name in (*self._known, self.task.secret)]
        return np.einsum(finest, list(range(len(names))), kept)

    def believed(self, prior: Prior) -> float:
        """Return the chance of being right about somebody in the tables, if the prior is true.

        Raises `InputError` where no table has a known column.
        """
        for name in self.task.known:
            one_of("dimension of the tables", name, self._dimensions)
        table = self._chances[prior]
        return float(table.max(axis=-1).sum() / max(table.sum(), _NEAR))

    def right(self, people: pd.DataFrame, prior: Prior) -> NDArray[np.float64]:
        """Return the chance that each person's secret is named, shape (people,); ties are split.

        Of people whose known columns nobody in the tables has, the likeliest secret of all is
        named; a secret that no table shows is never named.
        """
        table = self._chances[prior]
        everybody = table.reshape(-1, table.shape[-1]).sum(axis=0)
        places = [places_of(people[name], self._dimensions[name]) for name in self._known]
        is_shown = np.ones(len(people), bool)
        for place in places:
            is_shown &= place >= 0
        chances = table[tuple(places)] if places else np.broadcast_to(
            everybody, (len(people), len(everybody))
        )  # fmt: skip
        is_shown &= chances.sum(axis=-1) > _NEAR
        chances = np.where(is_shown[:, None], chances, everybody)
        best = chances >= chances.max(axis=-1, keepdims=True) * (1 - _NEAR)
        own = self._own(people)
        hit = best[np.arange(len(people)), own] & (own >= 0)
        return hit / best.sum(axis=-1)

    def _own(self, people: pd.DataFrame) -> NDArray[np.int64]:
        name = self.task.secret
        return places_of(people[name], self._dimensions[name], named=True)

    def certain(self, people: pd.DataFrame) -> NDArray[np.bool_]:
        """Check for each person whether no consistent data set leaves them another secret."""
        most = self._summed(self._found.most)
        places = [places_of(people[name], self._dimensions[name]) for name in self._known]
        own = self._own(people)
        is_shown = np.min([own, *places], axis=0) >= 0
        others = most[tuple(places)] if places else np.broadcast_to(most, (len(own), len(most)))
        left = others.sum(axis=-1) - others[np.arange(len(own)), own]
        return is_shown & (left == 0)


def places_of(column: Any, dimension: Dimension, *, named: bool = False) -> NDArray[np.int64]:
    """Return the leaf of each person; -1: no table shows it, or ``named``, by its name."""
    known = {leaf: at for at, leaf in enumerate(dimension.leaves)}
    others = -1 if named else known.get(OTHER, -1)
    return column.map(known).fillna(others).to_numpy(np.int64)


@dataclass(frozen=True)
class ReadingAttack:
    """What one attack reaches.

    Options
    -------
    name: the prior that the attacker holds: ``uniform`` or ``people``.
    these: share of all people whose secret is named from the tables with all of them.
    inside, outside: mean shares of people in the tables, and of those left out (the baseline).
    gain: what people in the tables lose beyond the baseline.
    how: number of tables of the game that were read so (`narcissus.counts.posterior.HOW`).
    """

    name: Prior
    these: float
    inside: Estimate
    outside: Estimate
    gain: Estimate
    how: Mapping[How, int]


@dataclass(frozen=True)
class TablesPlayed:
    """The game that was played.

    Options
    -------
    attacks: one for each prior; all their limits hold together.
    guess: share of the people who have the most frequent secret.
    ceiling: share of all people that no attacker with the same known columns exceeds.
    certain: share of all people whose secret the tables leave no doubt of; at least.
    people, left_out, trials: numbers of people in all, of those left out of each table, of tables.
    """

    attacks: tuple[ReadingAttack, ...]
    guess: float
    ceiling: float
    certain: float
    people: int
    left_out: int
    trials: int
    confidence: float

    @property
    def best(self) -> ReadingAttack:
        """The attack with the largest gain; the first of equals."""
        return max(self.attacks, key=lambda one: one.gain.value or 0.0)


@dataclass(frozen=True, eq=False)
class TablesGame:
    """The game's setting: the people, how tables are made of them, what is asked.

    Options
    -------
    people: a row for each person, labels as text.
    publish: makes the published cells of some of them, such as `AsPublished`.
    task: what is known, and what is wanted.
    structure: what the tables are about, as of `narcissus.counts.audit_tables`.
    left_out: share of the people who are left out of each table, one person or more.
    steps: of the search for all consistent data sets of a table.
    moves: of Markov chains, at most, where a table is sampled.
    deadline: after which `TooLargeError` is raised, by the clock `time.monotonic`.
    """

    people: pd.DataFrame
    publish: Publish
    task: WantedSecret
    structure: Structure = field(default_factory=Structure)
    left_out: float = 0.1
    steps: int = STEPS
    moves: int = MOVES
    deadline: float = np.inf

    def __post_init__(self) -> None:
        self.task.require(list(self.people.columns))
        fraction("left_out", self.left_out)
        if len(self.people) < 2:
            raise InputError("the game needs two people or more, to leave one out")

    @property
    def out(self) -> int:
        """Number of people who are left out."""
        many = len(self.people)
        return min(many - 1, max(1, round(self.left_out * many)))

    def read(self, people: pd.DataFrame, rng: np.random.Generator) -> PosteriorReader:
        """Publish tables of some people, and read them."""
        cells = self.publish(people, rng)
        return PosteriorReader(
            cells, self.structure, self.task, len(people), steps=self.steps, moves=self.moves,
            deadline=self.deadline, rng=rng,
        )  # fmt: skip

    def trial(self, entropy: int, number: int) -> tuple[Any, Any]:
        """Leave people out by chance; return shares and how tables were read, by attack.

        The shares have shape (attacks, 2): of people in the tables, of those left out.
        """
        rng = child(entropy, 1, number)
        order = rng.permutation(len(self.people))
        out, kept = self.people.iloc[order[: self.out]], self.people.iloc[order[self.out :]]
        reader = self.read(kept, rng)
        shares = [[reader.right(some, prior).mean() for some in (kept, out)] for prior in PRIORS]
        return np.array(shares), np.array([HOW.index(reader.how[prior]) for prior in PRIORS])

    def named(self, known: Sequence[str]) -> float:
        """Return the share that no attacker exceeds who tells people apart by known columns only.

        People with the same known columns get the same guess, or the same chances of guesses; the
        best one is right about their most frequent secret.
        """
        each = self.people.groupby([*known, self.task.secret], observed=True).size()
        best = each.groupby(level=list(known)).max().sum() if known else each.max()
        return int(best) / len(self.people)


def concluded(
    game: TablesGame, shares: Any, how: Any, whole: PosteriorReader, confidence: float
) -> TablesPlayed:  # fmt: skip
    """Limit what trials came to: ``shares`` (trials, attacks, 2), ``how`` (trials, attacks).

    All limits of all attacks hold together at the confidence (Bonferroni).
    """
    each = each_confidence(confidence, 3 * len(PRIORS))
    found: list[ReadingAttack] = []
    for at, prior in enumerate(PRIORS):
        inside, outside = shares[:, at, 0], shares[:, at, 1]
        kept = len(game.people) - game.out
        found.append(ReadingAttack(
            prior, float(whole.right(game.people, prior).mean()),
            mean_limits(inside, confidence=each, people=kept),
            mean_limits(outside, confidence=each, people=game.out),
            difference_limits(inside, outside, confidence=each, people=game.out),
            {HOW[k]: int((how[:, at] == k).sum()) for k in sorted(set(how[:, at].tolist()))},
        ))  # fmt: skip
    certain = float(whole.certain(game.people).mean())
    most, guess = game.named(game.task.known), game.named(())
    return TablesPlayed(tuple(found), guess, most, certain, len(game.people), game.out, len(shares),
                        confidence)  # fmt: skip


def play(
    game: TablesGame, *, trials: int = 200, confidence: float = 0.95, rng: RandomSource = None,
    observer: Observer = SILENT,
) -> TablesPlayed:  # fmt: skip
    """Play the game on published tables: attack people in the tables, and people left out of them.

    Each of so many trials leaves some people out by chance, publishes tables of the others by the
    same rule, and attacks both. Shares are means over who is left out, over the people on each
    side, and over what is random in the rule. Limits hold together at the confidence. They are
    about these people, and other choices of who is left out; they say nothing of other people.

    Raises `InputError` for unknown columns, and tables that contradict each other.
    """
    many = integer("trials", trials, low=1, high=10**6)
    level = fraction("confidence", confidence)
    entropy = int(generator(rng).integers(2**63))
    whole = game.read(game.people, child(entropy, 0))
    observer.start("tables of the game", many)
    found: list[tuple[Any, Any]] = []
    for number in range(many):
        found.append(game.trial(entropy, number))
        observer.advance()
    observer.finish()
    shares, how = map(np.array, zip(*found, strict=True))
    return concluded(game, shares, how, whole, level)


@dataclass(frozen=True, eq=False)
class AsPublished:
    """The rule that made published cells: makes them again of other people.

    Cells of fewer people than `Rules.below` (or the number of their mark) are suppressed, but in
    tables that print so few; cells with a mark that says nothing stay suppressed; and counts are
    rounded as declared. Statistics of a variable are left out.
    """

    cells: Sequence[Cell]
    structure: Structure
    rules: Rules

    @cached_property
    def _dimensions(self) -> dict[str, Dimension]:
        return dimensions_of(self.cells, self.structure)

    @cached_property
    def _has_zeros(self) -> bool:
        exact = (cell.count.high for cell in self.cells if cell.count.kind == "exact")
        return self.rules.no_zeros or 0 in exact

    @cached_property
    def _shows_few(self) -> set[str]:
        """Tables that print, as a number, a count that a mark should stand for."""
        return {cell.file for cell in self.cells if cell.count.kind == "exact"
                and cell.count.low in range(1, self.rules.below or 0)}  # fmt: skip

    @property
    def columns(self) -> list[str]:
        """Columns that people need."""
        return list(self._dimensions)

    def count(self, people: pd.DataFrame) -> list[int]:
        """Count the people of each cell."""
        places = [places_of(people[name], one) for name, one in self._dimensions.items()]
        if not places:
            return [len(people)] * len(self.cells)
        shape = [len(one.leaves) for one in self._dimensions.values()]
        rows, many = np.unique(np.ravel_multi_index(places, shape), return_counts=True)
        codes = dict(zip(self._dimensions, np.unravel_index(rows, shape), strict=True))
        found: list[int] = []
        for cell in self.cells:
            is_in = np.ones(len(rows), bool)
            for name, leaves in selection(cell, self._dimensions, self.structure).items():
                is_in &= np.isin(codes[name], leaves)
            found.append(int(many[is_in].sum()))
        return found

    def __call__(self, people: pd.DataFrame, rng: np.random.Generator) -> list[Cell]:
        return [
            replace(cell, count=self._printed(cell, count, rng), statistics={})
            for cell, count in zip(self.cells, self.count(people), strict=True)
        ]

    def _printed(self, cell: Cell, count: int, rng: np.random.Generator) -> Meaning:
        """Return what is printed of a count, where another one was printed in its place."""
        before, rules = cell.count, self.rules
        if before.kind == "rounded":
            beyond = count % rules.base
            up = 2 * beyond >= rules.base
            if rules.random:
                up = rng.random() * rules.base < beyond
            reach = rules.base - 1 if rules.random else rules.base // 2
            near = count - beyond + rules.base * int(up)
            return Meaning(max(0, near - reach), near + reach, "rounded")
        least = int(rules.no_zeros)
        if before.kind == "suppressed" and before.high is None:
            return Meaning(min(least, count), None, "suppressed")
        below = (before.high or 0) + 1
        if before.kind == "exact":
            below = None if cell.file in self._shows_few else rules.below
        if below is None or count >= below or (count == 0 and self._has_zeros):
            return Meaning(count, count, "exact")
        return Meaning(least, below - 1, "suppressed")

    def check(self, people: pd.DataFrame) -> None:
        """Check that the cells are about these people, and can be made again.

        Raises `InputError` for a cell whose number is another one, people with a label that no
        table shows, perturbed counts and ranges.
        """
        for name, dimension in self._dimensions.items():
            one_of("column of the people", name, list(people.columns))
            for row in np.flatnonzero(places_of(people[name], dimension) < 0).tolist():
                raise InputError(
                    f"person {row + 1} has {name} = {visible(people[name].iloc[row])}, which no "
                    f"table shows: name it alike, or declare that `{name}` has `others`"
                )
        for cell, count in zip(self.cells, self.count(people), strict=True):
            high = cell.count.high
            if cell.count.kind in ("perturbed", "range"):
                raise InputError(
                    f"{cell.place}: {cell.printed!r} was made by chance or by hand, so it cannot "
                    "be made again of other people: leave the table out of the game"
                )
            if count < cell.count.low or (high is not None and count > high):
                raise InputError(
                    f"{cell.place}: {cell.printed!r} is printed, and {count:,} of the people are "
                    "there: the tables are about other people, or were made in another way"
                )
