"""Rules of publishing side by side: what is derived from the same tables, and what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress as suppress_errors
from dataclasses import asdict, dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from narcissus._random import RandomSource, child, generator
from narcissus._validation import integer, one_of
from narcissus._visible import visible
from narcissus.counts.audit import CellLimits, limits_of, protected
from narcissus.counts.game import ReadingAttack, TablesGame, WantedSecret, play
from narcissus.counts.marks import CellKey, Meaning
from narcissus.counts.reading import Cell
from narcissus.counts.rules import (
    PLUS_MINUS_ONE,
    CrossedTables,
    PublishingRule,
    add_noise,
    as_they_are,
    perturb,
    round_to,
    suppress,
)
from narcissus.errors import InputError, TooLargeError
from narcissus.observer import SILENT, Observer

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = (3, 5, 7, 10)
EPSILONS = (0.5, 2.0, 8.0)
STEPS = 300  # of the game's search for all data sets: it samples beyond
MOVES = 4_000  # of chains: a fifth of a study's, and a tenth of a study's sweeps at least


@dataclass(frozen=True)
class RuleCompared:
    """What one rule comes to.

    Options
    -------
    name: of the rule.
    suppressed: number of cells that are not printed.
    error: mean difference of printed counts and true ones.
    small_derived: number of small cells whose count follows with certainty.
    small_undecided: number of those for which that was not decided in time.
    hidden_derived: number of suppressed cells whose count does; None for a rule that hides none.
    certain: number of people whose secret follows with certainty, for who knows the other columns.
    is_exact: whether all limits are reached; else more could follow.
    game: the best attack of the game; None: it was not played to its end, as time ran out, or the
        tables are too large.
    """

    name: str
    suppressed: int
    error: float
    small_derived: int
    small_undecided: int
    hidden_derived: int | None
    certain: int
    is_exact: bool
    game: ReadingAttack | None


@dataclass(frozen=True)
class RulesCompared:
    """All rules on the same tables of the same people.

    Options
    -------
    rules: in the order in which they were tried.
    cells: number of cells of the tables.
    small, limit: number of cells with 1 to ``limit`` - 1 people.
    people: in the data.
    guess: share of people who have the most frequent secret.
    secret: its column.
    tables: the dimensions of each table.
    trials: of the game, for each rule.
    left_out: rules for which the time was not enough.
    """

    rules: tuple[RuleCompared, ...]
    cells: int
    small: int
    limit: int
    people: int
    guess: float
    secret: str
    tables: tuple[tuple[str, ...], ...]
    trials: int
    left_out: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``narcissus rules --json`` prints."""
        shown = asdict(self)
        for rule, comparison in zip(shown["rules"], self.rules, strict=True):
            if (game := comparison.game) is not None:
                rule["game"] = {
                    "prior": game.name,
                    "these": game.these,
                    "how": dict(game.how),
                    **{
                        name: {"value": estimate.value, "low": estimate.low, "high": estimate.high}
                        for name, estimate in (
                            ("inside", game.inside),
                            ("baseline", game.outside),
                            ("gain", game.gain),
                        )
                    },
                }
        return shown


def usual_rules(
    layout: CrossedTables,
    key: CellKey | None = None,
    epsilons: Sequence[float] = EPSILONS,
    until: Callable[[], float] = lambda: np.inf,
) -> list[PublishingRule]:
    """Return the rules that are compared; ``key`` is tried next to a table of one more or less.

    until: the time at which choosing cells to suppress ends.
    """
    rules = [as_they_are(layout)]
    rules += [
        suppress(layout, level, secondary=is_secondary, until=until)
        for is_secondary in (False, True)
        for level in THRESHOLDS
    ]
    rules += [round_to(layout, base, by_chance=how) for how in (False, True) for base in (3, 5)]
    rules.append(perturb(layout, PLUS_MINUS_ONE))
    rules += [] if key is None else [perturb(layout, key, "cell key, of the given table")]
    return rules + [add_noise(layout, level) for level in epsilons]


def compare_rules(
    people: pd.DataFrame,
    secret: str,
    tables: Sequence[Sequence[str]],
    *,
    small: int = 3,
    key: CellKey | None = None,
    epsilons: Sequence[float] = EPSILONS,
    trials: int = 5,
    seconds: float = 120.0,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> RulesCompared:
    """Publish the same tables by several rules, and derive what follows from each.

    Each table is crossed with the secret, and has all margins. The attacker knows the columns of
    the tables, but for the secret.

    Options
    -------
    people: a row for each, labels as text.
    secret: the column that an attacker wants.
    tables: the other columns of each table.
    small: a count from 1 to ``small`` - 1 should not be derived; 2 or more.
    key: a table of the cell-key method that is tried, too.
    epsilons: levels of noise.
    trials: tables of the game for each rule, with some people left out; 0: it is not played.
    seconds: in all. First each rule's limits are derived, then games are played; each rule has an
        even part of the time that is left. Limits that are not shown to be reached by then hold;
        a rule of which cells were still to be chosen is left out, and so is a game's end.
    rng: of what rules do by chance, and of the game.

    Raises `InputError` for unknown columns, and `TooLargeError`.
    """
    many, floor = integer("trials", trials, low=0), integer("small", small, low=2)
    one_of("secret", secret, list(people.columns))
    known = list(dict.fromkeys(name for table in tables for name in table))
    if not known or secret in known:
        raise InputError("each table is of one column or more that is not the secret (`--by`)")
    if people[secret].nunique() < 2:
        raise InputError(f"everybody has the same `{visible(secret)}`: name another secret")
    entropy = int(generator(rng).integers(2**63))
    layout = CrossedTables.of(people, [[*table, secret] for table in tables])
    clock = _Clock(observer, seconds)
    rules = usual_rules(layout, key, epsilons, lambda: clock.until)
    counts = layout.count(people)
    is_small = (counts > 0) & (counts < floor)
    question = _Asked(people, secret, known, layout)
    audits, left_out = dict[int, RuleCompared](), list[str]()
    for number in clock.each("rules, limits", range(len(rules)), 0.6 if many else 1.0):
        rule, cells = rules[number], list[Cell]()
        if not number or monotonic() < clock.end:
            with suppress_errors(TooLargeError):
                cells = rule(people, child(entropy, number))
        if not cells:
            left_out.append(rule.name)
            continue
        hidden = np.array([cell.printed == "x" for cell in cells])
        limits = limits_of([*cells, *question.more], seconds=0.7 * (clock.until - monotonic()))
        derived = np.array([cell_limits.determined for cell_limits in limits[: len(cells)]])
        loose = np.array([not cell_limits.exact for cell_limits in limits[: len(cells)]]) & is_small
        loose[list(protected(cells, np.flatnonzero(loose).tolist(), 1, clock.until))] = 0
        errors = [
            abs(int(cell.printed) - n)
            for cell, n, is_hidden in zip(cells, counts.tolist(), hidden, strict=True)
            if not is_hidden
        ]
        audits[number] = RuleCompared(
            rule.name,
            int(hidden.sum()),
            float(np.mean(errors or [0.0])),
            int((derived & is_small).sum()),
            int(loose.sum()),
            int((derived & hidden).sum()) if rule.hides else None,
            question.certain(limits),
            all(cell_limits.exact for cell_limits in limits),
            None,
        )
    task = WantedSecret(secret, tuple(known))
    for number in clock.each("rules, games", list(audits) if many else [], 1.0):
        game = TablesGame(
            people, rules[number].to_read, task, steps=STEPS, moves=MOVES, deadline=clock.until
        )
        with suppress_errors(TooLargeError):
            best = play(game, trials=many, rng=np.random.default_rng([entropy, number])).best
            audits[number] = replace(audits[number], game=best)
    guess = float(people[secret].value_counts(normalize=True).iloc[0])
    return RulesCompared(
        tuple(audits.values()),
        len(counts),
        int(is_small.sum()),
        floor,
        len(people),
        guess,
        secret,
        layout.tables,
        many,
        tuple(left_out),
    )


class _Clock:
    """The time that is left, of which each piece of work has an even part."""

    def __init__(self, observer: Observer, seconds: float) -> None:
        self._observer, self._begin, self._seconds = observer, monotonic(), seconds
        self.end = self.until = self._begin

    def each(self, what: str, work: Sequence[int], share: float) -> Iterator[int]:
        """Yield work; `until` is the end of its time, `end` that of this share of all."""
        self.end = self._begin + share * self._seconds
        self._observer.start(f"{what} (--seconds {self._seconds:.0f} in all)", len(work))
        for at, number in enumerate(work):
            now = monotonic()
            self.until = now + max(0.0, self.end - now) / (len(work) - at)
            yield number
            self._observer.advance()
        self._observer.finish()


class _Asked:
    """Which secrets the people of a group may have, a group having the same known columns."""

    def __init__(
        self, people: pd.DataFrame, secret: str, known: Sequence[str], layout: CrossedTables
    ) -> None:
        self._sizes = people.groupby(list(known)).size()
        place = {frozenset(cell.items()): at for at, cell in enumerate(layout.cells)}
        self._at: list[list[int]] = []
        self.more: list[Cell] = []
        groups = [
            values if isinstance(values, tuple) else (values,) for values in self._sizes.index
        ]
        for group in groups:
            self._at.append([])
            for label in layout.labels[secret]:
                labels = {**dict(zip(known, group, strict=True)), secret: label}
                at = place.get(frozenset(labels.items()))
                if at is None:
                    at = len(layout.cells) + len(self.more)
                    self.more.append(Cell("asked", 0, "", "", labels, Meaning(0, None, "asked")))
                self._at[-1].append(at)

    def certain(self, limits: Sequence[CellLimits]) -> int:
        """Count the people whose group can have one secret alone."""
        sizes = self._sizes.tolist()
        return sum(
            size
            for size, cells in zip(sizes, self._at, strict=True)
            if sum(limits[at].high != 0 for at in cells) == 1
        )
