"""Tables of totals with the contributions at hand: which cells are sensitive, which exposed.

A cell of contributions x1 >= x2 >= ... with total X is sensitive by the minimum frequency rule if
they are fewer than n, by (n, k) dominance if x1 + ... + xn > k/100 X, and by the p% rule if
X - x1 - x2 < p/100 x1. It is exposed if what the published tables leave to its total breaks the
same rule for somebody: the most that the tables allow exceeds X by less than the protection level
of the rule. Source: Hundepool et al., Handbook on Statistical Disclosure Control, 2nd edition 2024,
section 4.2, tables of sensitivity rules and of upper protection levels.

A contributor knows more than anybody else: its own part of every cell, and where it is alone in a
published or a finest cell, the whole. What it derives is computed by adding what it knows to the
tables (`audit_contributions`), so that two single contributors of a row are found, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from narcissus._validation import did_you_mean
from narcissus._visible import quoted, visible
from narcissus.counts.audit import CellLimits, TablesAudit, limits_of
from narcissus.counts.marks import Meaning, label_of, read_number
from narcissus.counts.reading import Cell, read_rows
from narcissus.counts.system import OTHER, Ints, Structure, dimensions_of, selection
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer

_DECIMAL_COMMA = re.compile(r"\d,\d{1,2}$|\d{4},\d|\.\d{3},|(\.\d{3}){2}$")
INSIDERS = 50
"""Contributors whose knowledge is added to the tables singly; that of others by groups."""
PROGRAMS = 250
"""Most times that the limits are derived with what contributors know."""


@dataclass(frozen=True, kw_only=True)
class SensitivityRules:
    """Which cells an office calls sensitive, and what it wants to be left of them.

    Options
    -------
    p: of the p% rule, in percent, above 0; None: the rule is not used.
    dominance: numbers n and percentages k, above 0 and below 100, of dominance rules.
    minimum: cells of fewer contributors are sensitive.
    protect: the limits of a sensitive cell must be at least so many percent of its total away from
        it, on both sides; None: as the rules demand it.
    """

    p: float | None = None
    dominance: Sequence[tuple[int, float]] = ()
    minimum: int | None = None
    protect: float | None = None

    def __post_init__(self) -> None:
        if self.p is None and not self.dominance and self.minimum is None:
            raise InputError(
                "contributions are judged by a rule: name `--p-percent`, `--dominance` or "
                "`--minimum`"
            )
        for n, k in self.dominance:
            if n < 1 or not 0 < k < 100:
                raise InputError(f"(n, k) dominance has n from 1 and k below 100, got {n}:{k:g}")
        for name, value in (("p-percent", self.p), ("protect", self.protect)):
            if value is not None and not 0 < value < np.inf:
                raise InputError(f"`--{name}` is a percentage above 0, got {value:g}")

    @property
    def near(self) -> float | None:
        """By how many percent the total of too few contributors must be left open, on both sides.

        The minimum rule by itself does not say it: `protect`, else `p`, else None.
        """
        return self.protect or self.p

    def levels(self, largest: Sequence[Fraction], total: Fraction) -> dict[str, Fraction]:
        """Return by which rules a cell is sensitive: how far above its total limits must be.

        largest: contributions in falling order.
        """
        rule_levels: dict[str, Fraction] = {}
        largest = [part for part in largest if part > 0]
        first, second, *_ = [*largest, Fraction(0), Fraction(0)]
        is_few = self.minimum is not None and 0 < len(largest) < self.minimum
        for n, k in self.dominance:
            level = Fraction(100) / _exact(k) * sum(largest[:n], Fraction(0)) - total
            if level > 0:
                rule_levels[f"({n}, {k:g}) dominance"] = level
        if self.p is not None:
            level = _exact(self.p) / 100 * first - (total - first - second)
            if level > 0:
                rule_levels[f"p% at {self.p:g}"] = level
        if is_few:  # no other rule says how near a total may be known
            near = Fraction(0) if rule_levels else _exact(self.near or 0) / 100 * total
            rule_levels = {f"fewer than {self.minimum}": near, **rule_levels}
        return rule_levels


def _exact(number: float) -> Fraction:
    return Fraction(str(number))


@dataclass(frozen=True)
class SensitiveCell:
    """A sensitive cell, and what the tables leave to its total and its largest contribution.

    Options
    -------
    limits: of the total.
    total: the true one.
    rules: by which it is sensitive.
    contributors: how many.
    level: how far above the total its upper limit must be.
    left: how far it is; None: nothing limits it.
    closest: by how many percent the best upper estimate of the largest contribution is above it;
        of the contributor who derives most; None: nobody derives one.
    insider: who derives it: "anybody", "the second largest" or "a contributor", by all it knows.
    is_exposed: whether a rule is broken for somebody.
    """

    limits: CellLimits
    total: Fraction
    rules: tuple[str, ...]
    contributors: int
    level: Fraction
    left: Fraction | None
    closest: float | None
    insider: str
    is_exposed: bool

    @property
    def is_few(self) -> bool:
        """Whether it is sensitive by too few contributors alone."""
        return all(rule.startswith("fewer than") for rule in self.rules)

    @property
    def nearest(self) -> float:
        """By how many percent of the total the nearer one of its limits is away."""
        below = self.total - self.limits.low * (self.limits.cell.unit or 1)
        left = below if self.left is None else min(below, self.left)
        return float(100 * left / self.total) if self.total else 100.0

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, the limits among them."""
        return {
            **self.limits.to_dict(),
            "total": float(self.total),
            "rules": list(self.rules),
            "contributors": self.contributors,
            "level": float(self.level),
            "left": None if self.left is None else float(self.left),
            "closest_percent": self.closest,
            "by": self.insider,
            "exposed": self.is_exposed,
        }


@dataclass(frozen=True)
class Contribution:
    """What one contributor adds to one of the finest cells."""

    leaves: Mapping[str, int]
    by: str
    amount: Fraction


def read_contributions(
    path: Path | str,
    magnitude: str,
    cells: Sequence[Cell],
    given: Structure,
    contributor: str | None = None,
) -> list[Contribution]:
    """Read contributions: a column for each dimension of the tables, and the magnitude.

    contributor: the column that names who contributes, so that several rows are one contributor,
        however its name is spelled in case and blanks; None: each row is another one.
    Raises `InputError` with the line for a label that no table shows, and a contribution that is
    negative, no number, or finer than the unit of the totals: what a contributor knows would be
    rounded, and look safer than it is.
    """
    dimensions = dimensions_of(cells, given)
    names = [*dimensions, magnitude, *([] if contributor is None else [contributor])]
    header, rows, *_ = read_rows(Path(path))
    for name in names:
        if header.count(name) != 1:
            raise InputError(
                f"{path} must have one column {visible(name)}{did_you_mean(name, header)}"
            )
    places = {
        name: {label: at for at, label in enumerate(dimension.leaves)}
        for name, dimension in dimensions.items()
    }
    contributions: list[Contribution] = []
    finer: list[tuple[int, str, Fraction]] = []
    at, unit = header.index(magnitude), cells[0].unit
    has_commas = any(_DECIMAL_COMMA.search(texts[at].strip()) for _, texts in rows)
    for line, texts in rows:
        values = dict(zip(header, texts, strict=True))
        leaves: dict[str, int] = {}
        for name, known in places.items():
            at = known.get(label_of(values[name]), known.get(OTHER))
            if at is None:
                hint = did_you_mean(values[name], known)
                raise InputError(
                    f"{path}: line {line}: no table shows {visible(name)} = "
                    f"{visible(values[name])}{hint}"
                )
            leaves[name] = at
        text = values[magnitude]
        amount = read_number(text.replace(".", "").replace(",", ".") if has_commas else text)
        if amount is None or amount < 0:
            raise InputError(
                f"{path}: line {line}: the contribution {quoted(text)} is no number from 0"
            )
        if unit is not None and (amount / unit).denominator != 1:
            finer.append((line, text, amount))
        # two spellings that differ in case or blanks are taken for one contributor
        spelled = " ".join(values[contributor].split()).casefold() if contributor else ""
        by = spelled or f"line {line}"
        contributions.append(Contribution(leaves, by, amount))
    if finer and unit is not None:
        line, text, _ = finer[0]
        decimals = max(
            next(n for n in range(41) if (x * 10**n).denominator == 1) for *_, x in finer
        )
        is_rounded = any(cell.count.kind == "rounded" for cell in cells)
        how = "" if is_rounded else f" --round {float(2 * unit):g}"
        raise InputError(
            f"{path}: line {line}, column {visible(magnitude)}: {visible(text)} has more decimals "
            f"than are declared of the tables: declare --decimals {decimals}{how}, or round the "
            "contributions in the file"
        )
    return contributions


def audit_contributions(
    audit: TablesAudit,
    given: Structure,
    contributions: Sequence[Contribution],
    rules: SensitivityRules,
    *,
    seconds: float = np.inf,
    observer: Observer = SILENT,
) -> tuple[tuple[SensitiveCell, ...], str]:
    """Derive which cells are sensitive, and which of them the tables expose to somebody.

    audit: of the tables, from `audit_tables`.
    seconds: for what contributors know.
    Returns the cells, those that are exposed first, and what was left out ("": nothing). Raises
    `InputError` where contributions do not sum to a printed total.
    """
    unit = audit.cells[0].cell.unit
    if unit is None:
        raise InputError("contributions are to totals: declare the magnitude of the tables")
    judged = _Judged(audit, given, contributions, rules, unit)
    left_out = judged.ask_insiders(monotonic() + seconds, observer)
    cells = sorted(judged.cells(), key=lambda one: (not one.is_exposed, one.limits.width))
    return tuple(cells), left_out or _ask_how_near(cells, rules)


def _ask_how_near(cells: Sequence[SensitiveCell], rules: SensitivityRules) -> str:
    """Return the question how near the total of too few contributors may be known, if it decides.

    It does not where such a total is known exactly, or no better than by its own size.
    """
    if rules.near is not None:
        return ""
    nearest = min(
        (cell.nearest for cell in cells if cell.is_few and not cell.is_exposed), default=100.0
    )
    if nearest >= 100:
        return ""
    return (
        f"A total of fewer than {rules.minimum} contributors is known within {nearest:.3g}%, and "
        "nothing says how near it may be known: declare it, such as --protect 10."
    )


class _Judged:
    """Sensitive cells with their contributions, and the best estimate of each largest one."""

    def __init__(
        self,
        audit: TablesAudit,
        given: Structure,
        contributions: Sequence[Contribution],
        rules: SensitivityRules,
        unit: Fraction,
    ) -> None:
        self.given, self.rules, self.unit = given, rules, unit
        self.published, self.limits = [row.cell for row in audit.cells], audit.cells
        self.dimensions = dimensions_of(self.published, given)
        self.finest: dict[tuple[int, ...], dict[str, Fraction]] = {}
        for row in contributions:
            parts = self.finest.setdefault(tuple(row.leaves.values()), {})
            if row.amount:  # whoever adds nothing does not contribute
                parts[row.by] = parts.get(row.by, Fraction(0)) + row.amount
        places = np.array(list(self.finest)).reshape(len(self.finest), len(self.dimensions))
        self.parts: dict[int, dict[str, Fraction]] = {}
        self.alone: dict[str, list[Cell]] = {}  # hidden cells, by who is their only contributor
        self.levels: dict[int, dict[str, Fraction]] = {}
        self.closest: dict[int, tuple[Fraction, str]] = {}
        self.exposed: set[int] = set()
        for at, row in enumerate(audit.cells):
            parts = self._parts(row.cell, places)
            total = sum(parts.values(), Fraction(0))
            low, high = row.cell.count.low * unit, row.cell.count.high
            if total < low or (high is not None and total > high * unit):
                raise InputError(
                    f"{row.cell}: the contributions to this cell sum to {float(total):g}; correct "
                    "one of them, or declare --round"
                )
            order = sorted(parts, key=parts.__getitem__, reverse=True)
            self.parts[at] = parts
            if len(order) == 1 and row.is_hidden:
                known = replace(row.cell, count=self._known(total, is_all=True))
                self.alone.setdefault(order[0], []).append(known)
            if levels := rules.levels([parts[by] for by in order], total):
                self.levels[at] = levels
                by = order[1] if len(order) > 1 else ""
                self._note(at, by, row, "the second largest" if by else "anybody")

    def _parts(self, cell: Cell, places: Ints) -> dict[str, Fraction]:
        chosen, is_in = selection(cell, self.dimensions, self.given), np.ones(len(places), bool)
        for column, name in enumerate(self.dimensions):
            if name in chosen:
                is_in &= np.isin(places[:, column], chosen[name])
        amounts: dict[str, Fraction] = {}
        for at in np.flatnonzero(is_in).tolist():
            for by, amount in self.finest[tuple(places[at].tolist())].items():
                amounts[by] = amounts.get(by, Fraction(0)) + amount
        return amounts

    def _derives(self, at: int, by: str, limits: CellLimits) -> tuple[Fraction | None, bool]:
        """Return by how many percent ``by`` overestimates the largest of the others, and whether a
        rule forbids it.

        Whoever dominates a cell alone learns nothing of itself. What narrower limits leave is no
        farther, and what they break stays broken.
        """
        parts, rules = self.parts[at], self.rules
        others = sorted(
            (part for contributor, part in parts.items() if contributor != by), reverse=True
        )
        if limits.high is None or not others:
            return None, False
        upper_limit, excess = limits.high * self.unit, None
        if others[0]:
            excess = 100 * (upper_limit - parts.get(by, Fraction(0)) - others[0]) / others[0]
        is_few = rules.minimum is not None and len(parts) < rules.minimum
        largest = sorted(parts.values(), reverse=True)
        is_near = excess is not None and excess < _exact(rules.p or 0)
        return excess, is_near or (limits.determined and (is_few or len(others) == 1)) or any(
            upper_limit < 100 / _exact(k) * sum(others[:1] if n == 1 else largest[:n])
            for n, k in rules.dominance
        )

    def _note(self, at: int, by: str, limits: CellLimits, name: str) -> None:
        """Keep what ``by`` derives of the others, if it is the best, and whether it is exposed."""
        excess, is_exposed = self._derives(at, by, limits)
        if excess is not None:
            self.closest[at] = min(
                self.closest.get(at, (excess, name)), (excess, name), key=lambda one: one[0]
            )
        if is_exposed:
            self.exposed.add(at)

    def _is_cleared(self, at: int, group: Sequence[str], limits: CellLimits) -> bool:
        """Check that a cell is not exposed to anybody who knows no more than the group together."""
        some = {by if by in self.parts[at] else "" for by in group}
        return limits.exact and not any(self._derives(at, by, limits)[1] for by in some)

    def ask_insiders(self, deadline: float, observer: Observer) -> str:
        """Add what contributors know, one after the other; return what was left out."""
        hidden = [at for at in self.levels if self.limits[at].is_hidden]
        size: dict[str, tuple[bool, bool, Fraction]] = {}
        for at in range(len(self.limits) if hidden else 0):
            for by, part in self.parts[at].items() if self.limits[at].is_hidden else ():
                each = by in self.alone, at in self.levels, part
                size[by] = max(size.get(by, each), each)
        order = sorted(size, key=size.__getitem__, reverse=True)
        # Each member of a group knows less than the group together, so its limits hold those of
        # the group, and nothing is exposed to it that is not to the group. A group that is not
        # cleared is halved, down to single contributors.
        waiting = [[by] for by in order[:INSIDERS]] + [order[INSIDERS:]] * (len(order) > INSIDERS)
        observer.start("What contributors derive", len(order))
        loose = {at for at in hidden if not self.limits[at].exact}
        for _ in range(PROGRAMS):
            if not waiting or monotonic() > deadline:
                break
            group = waiting.pop(0)
            cells = [*self.published, *self._known_to(group)]
            group_limits = limits_of(cells, self.given, seconds=deadline - monotonic())
            if len(group) == 1:
                for at in hidden:
                    self._note(at, group[0], group_limits[at], "a contributor")
                loose |= {at for at in hidden if not group_limits[at].exact}
            elif not all(
                at in self.exposed or self._is_cleared(at, group, group_limits[at]) for at in hidden
            ):
                waiting[:0] = [group[: len(group) // 2], group[len(group) // 2 :]]
                continue
            observer.advance(len(group))
        observer.finish()
        if waiting:
            left = sum(map(len, waiting))
            return f"{left:,} smaller contributors were left out: time or tries ran out."
        if loose := loose - self.exposed:
            return f"Limits of {len(loose):,} sensitive cells may be narrower than shown."
        return ""

    def _known(self, amount: Fraction, *, is_all: bool) -> Meaning:
        at = amount / self.unit
        return Meaning(floor(at), ceil(at) if is_all else None, "known")

    def _known_to(self, group: Sequence[str]) -> Iterator[Cell]:
        """Yield what contributors know: at least their parts, and the whole where one is alone."""
        for by in group:
            yield from self.alone.get(by, ())
        for place, parts in self.finest.items():
            labels = {
                axis.name: axis.leaves[k]
                for axis, k in zip(self.dimensions.values(), place, strict=True)
            }
            mine = [parts[by] for by in group if by in parts]
            if mine and OTHER not in labels.values():
                known = self._known(sum(mine, Fraction(0)), is_all=len(parts) == 1)
                yield Cell("known", 0, "", "", labels, known, unit=self.unit)

    def cells(self) -> Iterator[SensitiveCell]:
        """Judge all sensitive cells."""
        for at, levels in self.levels.items():
            limits, total = self.limits[at], sum(self.parts[at].values(), Fraction(0))
            is_few = all(rule.startswith("fewer than") for rule in levels)
            percent = (self.rules.near if is_few else self.rules.protect) or 0
            below = _exact(percent) / 100 * total
            level = max(*levels.values(), below)
            left = None if limits.high is None else limits.high * self.unit - total
            excess, by = self.closest.get(at, (None, ""))
            is_near = (left is not None and left < level) or total - limits.low * self.unit < below
            yield SensitiveCell(
                limits,
                total,
                tuple(levels),
                len(self.parts[at]),
                level,
                left,
                None if excess is None else float(excess),
                by,
                is_near or at in self.exposed or limits.determined,
            )
