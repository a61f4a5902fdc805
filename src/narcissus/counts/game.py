"""The game on published tables: whose secret does an attacker get from the tables with them in?

An attacker knows some columns of a person, and the published tables. They expect so many people
with each secret among those who have the same known columns (`narcissus.counts.posterior`), and
name the likeliest secret. The same attacker then names the secrets of people whom the tables leave
out: this is the baseline (Narcissus resiliency, Narcissus theory 1: an attacker compared with
themselves). What people in the tables lose beyond it is the gain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, child, generator
from narcissus._validation import fraction, integer, one_of
from narcissus._visible import visible
from narcissus.counts.intervals import InfeasibleError
from narcissus.counts.marks import Meaning
from narcissus.counts.people import MOST_PEOPLE as MOST
from narcissus.counts.people import search_people
from narcissus.counts.posterior import (
    HOW,
    MOVES,
    PRIORS,
    STEPS,
    How,
    Prior,
    expected,
    expected_values,
    weighed_once,
)
from narcissus.counts.reading import Cell
from narcissus.counts.remade import values_of
from narcissus.counts.system import Dimension, Ints, Structure, build, dimensions_of, places_of
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
_ROWS = 100_000  # cells by combinations of labels, where statistics are read
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
    ``values``: whether people are asked about by their whole numbers of the variable. Only then
    are its means, medians and totals used, where all data sets are found.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        structure: Structure,
        task: WantedSecret,
        size: int | None,
        *,
        steps: int = STEPS,
        moves: int = MOVES,
        deadline: float = np.inf,
        rng: np.random.Generator,
        values: bool = False,
    ) -> None:
        self.task, self._variable = task, structure.variable if values else None
        if size is not None and all(cell.labels for cell in cells):
            cells = [*cells, Cell("(all)", 0, "", "", {}, Meaning(size, size, "exact"))]
        self._dimensions = dimensions_of(cells, structure)
        if self._variable is None or not self._variable.is_named(task.secret):
            one_of("dimension of the tables", task.secret, self._dimensions)
        cells = weighed_once(cells, self._dimensions, structure)
        is_used = not any(cell.statistics for cell in cells)
        try:
            reading = None
            if values and not is_used and max(size or 0, *(c.count.low for c in cells)) <= MOST:
                reading = self._by_statistics(cells, structure, steps, deadline)
            is_used = is_used or reading is not None
            means, upper_limits, how = reading or self._by_counts(
                cells, structure, rng, steps=steps, moves=moves, deadline=deadline
            )
        except InfeasibleError:
            raise InputError("the tables of the game contradict each other") from None
        self.how: Mapping[Prior, How] = how if is_used else dict.fromkeys(how, "counts alone")
        self._known = [name for name in task.known if name in self._dimensions]
        # how many values each leaf of the secret holds, of which one is named
        self._widths = np.ones(upper_limits.shape[list(self._dimensions).index(task.secret)])
        if self._variable is not None and self._variable.is_named(task.secret):
            spans = map(self._variable.span, self._dimensions[task.secret].leaves)
            self._widths = np.array(
                [b - a + 1.0 for a, b in (answer or (0, 0) for answer in spans)]
            )
        self._most = self._summed(upper_limits)
        self._chances = {
            prior: self._summed(answer) / self._widths for prior, answer in means.items()
        }
        # means over data sets that are consistent: where one is not 0, one of these has people
        self._seen = [self._chances[k] for k, answer in self.how.items() if answer in HOW[:2]]

    def _is_variable(self, name: str) -> bool:
        return self._variable is not None and self._variable.is_named(name)

    def _by_statistics(
        self, cells: Sequence[Cell], given: Structure, steps: int, deadline: float
    ) -> Any:
        """Read all data sets with values; None where they were not all found."""
        if (
            prod(len(component.leaves) for component in self._dimensions.values()) * len(cells)
            > _ROWS
        ):
            return None
        search = search_people(
            cells, self._dimensions, given, limit=max(1, steps), steps=steps, deadline=deadline
        )
        read = expected_values(search) if search.all_found else None
        if read is None:
            return None
        names = (self.task.secret, *self.task.known, search.variable)
        column = next(filter(self._is_variable, names))
        leaves = {
            k: component for k, component in self._dimensions.items() if not self._is_variable(k)
        }
        shape = [*(len(component.leaves) for component in leaves.values()), len(read.values)]
        self._dimensions = leaves | {column: Dimension(column, tuple(map(str, read.values)), {})}
        means = {prior: component.reshape(shape) for prior, component in read.means.items()}
        return means, read.most.reshape(shape), read.how

    def _by_counts(
        self, cells: Sequence[Cell], given: Structure, rng: np.random.Generator, **most: Any
    ) -> Any:
        """Read the counts alone."""
        system = build(cells, self._dimensions, given, crossed_at_most=CROSSED)
        if system.finest is None:
            raise InputError(
                f"the tables cross more than {CROSSED:,} cells, of which no attack of the game "
                "keeps track: take fewer tables or dimensions together"
            )
        meanings = [cell.count for cell in cells]
        expectation = expected(system, rng=rng, told=meanings, **most)
        shape, secret, variable = system.finest.shape, self.task.secret, self._variable
        if variable is not None and variable.is_named(secret) and secret not in self._dimensions:
            leaf = f"{variable.low}-{variable.high}"
            self._dimensions = {**self._dimensions, secret: Dimension(secret, (leaf,), {})}
            shape = (*shape, 1)

        def finest(each: Any) -> Any:
            return np.append(each, 0)[system.finest].reshape(shape)

        means = {prior: finest(mean / system.sizes) for prior, mean in expectation.means.items()}
        return means, finest(expectation.most), expectation.how

    def _summed(self, finest: Any) -> Any:
        """Sum over dimensions: an axis for each known one is left, and the secret's last."""
        names = list(self._dimensions)
        axes = [names.index(name) for name in (*self._known, self.task.secret)]
        return np.einsum(finest, list(range(len(names))), axes)

    def believed(self, prior: Prior) -> float:
        """Return the chance of being right about somebody in the tables, if the prior is true.

        Raises `InputError` where no table has a known column.
        """
        for name in self.task.known:
            if not self._is_variable(name):
                one_of("dimension of the tables", name, self._dimensions)
        table = self._chances[prior]
        return float(table.max(axis=-1).sum() / max((table * self._widths).sum(), _NEAR))

    def right(self, people: pd.DataFrame, prior: Prior) -> NDArray[np.float64]:
        """Return the chance that each person's secret is named, shape (people,); ties are split.

        Of people whose known columns nobody in the tables has, the likeliest secret of all is
        named; a secret that no table shows is never named.
        """
        table = self._chances[prior]
        everybody = table.reshape(-1, table.shape[-1]).sum(axis=0)
        places = self._places(people)
        is_shown = np.ones(len(people), bool)
        for place in places:
            is_shown &= place >= 0
        chances = np.broadcast_to(table[tuple(places)], (len(people), len(everybody)))
        is_shown &= chances.sum(axis=-1) > _NEAR
        chances = np.where(is_shown[:, None], chances, everybody)
        best = chances >= chances.max(axis=-1, keepdims=True) * (1 - _NEAR)
        secrets = self._own(people)
        hit = best[np.arange(len(people)), secrets] & (secrets >= 0)
        return hit / (best * self._widths).sum(axis=-1)

    def _places(self, people: pd.DataFrame) -> list[Ints]:
        return [
            places_of(people[name], self._dimensions[name], variable=self._variable)
            for name in self._known
        ]

    def _own(self, people: pd.DataFrame) -> Ints:
        name, variable = self.task.secret, self._variable
        return places_of(people[name], self._dimensions[name], named=True, variable=variable)

    def certain(self, people: pd.DataFrame) -> tuple[float, float | None]:
        """Return the share of people whom no consistent data set leaves another secret: limits.

        At least, by proved limits. At most, by data sets that were seen; None: none was.
        """
        places, secrets = self._places(people), self._own(people)
        can_be = (np.min([secrets, *places], axis=0) >= 0) & (self._widths[secrets] == 1)

        def has_no_others(table: Any) -> Any:
            others = np.array(
                np.broadcast_to(table[tuple(places)], (len(secrets), table.shape[-1]))
            )
            others[np.arange(len(secrets)), secrets] = 0
            return (others == 0).all(axis=-1)

        lower_limit = float((can_be & has_no_others(self._most)).mean())
        if not self._seen:
            return lower_limit, None
        return lower_limit, float(np.all([can_be, *map(has_no_others, self._seen)], axis=0).mean())


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
    read: how the tables with all people were.
    """

    name: Prior
    these: float
    inside: Estimate
    outside: Estimate
    gain: Estimate
    how: Mapping[How, int]
    read: How


@dataclass(frozen=True)
class TablesPlayed:
    """The game that was played.

    Options
    -------
    attacks: one for each prior; all their limits hold together.
    guess: share of the people who have the most frequent secret.
    ceiling: share of all people that no attacker with the same known columns exceeds.
    certain: share of all people whose secret the tables leave no doubt of: at least, at most
        (None: not known).
    people, left_out, trials: numbers of people in all, of those left out of each table, of tables.
    """

    attacks: tuple[ReadingAttack, ...]
    guess: float
    ceiling: float
    certain: tuple[float, float | None]
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

    @cached_property
    def has_values(self) -> bool:
        """Whether each of the people has a whole number of the variable."""
        return values_of(self.people, self.structure.variable) is not None

    def read(self, people: pd.DataFrame, rng: np.random.Generator) -> PosteriorReader:
        """Publish tables of some people, and read them."""
        cells = self.publish(people, rng)
        return PosteriorReader(
            cells,
            self.structure,
            self.task,
            len(people),
            steps=self.steps,
            moves=self.moves,
            deadline=self.deadline,
            rng=rng,
            values=self.has_values,
        )

    def trial(self, entropy: int, number: int) -> tuple[Any, Any]:
        """Leave people out randomly; return shares and how tables were read, by attack.

        The shares have shape (attacks, 2): of people in the tables, of those left out.
        """
        rng = child(entropy, 1, number)
        order = rng.permutation(len(self.people))
        out, members = self.people.iloc[order[: self.out]], self.people.iloc[order[self.out :]]
        reader = self.read(members, rng)
        shares = [[reader.right(some, prior).mean() for some in (members, out)] for prior in PRIORS]
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
) -> TablesPlayed:
    """Limit what trials came to: ``shares`` (trials, attacks, 2), ``how`` (trials, attacks).

    All limits of all attacks hold together at the confidence (Bonferroni).
    """
    each = each_confidence(confidence, 3 * len(PRIORS))
    attacks: list[ReadingAttack] = []
    for at, prior in enumerate(PRIORS):
        inside, outside = shares[:, at, 0], shares[:, at, 1]
        member_count = len(game.people) - game.out
        attacks.append(
            ReadingAttack(
                prior,
                float(whole.right(game.people, prior).mean()),
                mean_limits(inside, confidence=each, people=member_count),
                mean_limits(outside, confidence=each, people=game.out),
                difference_limits(inside, outside, confidence=each, people=game.out),
                {HOW[k]: int((how[:, at] == k).sum()) for k in sorted(set(how[:, at].tolist()))},
                whole.how[prior],
            )
        )
    limit, guess = game.named(game.task.known), game.named(())
    return TablesPlayed(
        tuple(attacks),
        guess,
        limit,
        whole.certain(game.people),
        len(game.people),
        game.out,
        len(shares),
        confidence,
    )


def play(
    game: TablesGame,
    *,
    trials: int = 200,
    confidence: float = 0.95,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> TablesPlayed:
    """Play the game on published tables: attack people in the tables, and people left out of them.

    Each of so many trials leaves some people out randomly, publishes tables of the others by the
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
    outcomes: list[tuple[Any, Any]] = []
    for number in range(many):
        outcomes.append(game.trial(entropy, number))
        observer.advance()
    observer.finish()
    shares, how = map(np.array, zip(*outcomes, strict=True))
    return concluded(game, shares, how, whole, level)
