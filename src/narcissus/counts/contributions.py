"""Tables of totals with the contributions at hand: which cells are sensitive, which exposed.

A cell of contributions x1 >= x2 >= ... with total X is sensitive by the minimum frequency rule if
they are fewer than n, by (n, k) dominance if x1 + ... + xn > k/100 X, and by the p% rule if
X - x1 - x2 < p/100 x1. It is exposed if what the published tables leave to its total breaks the
same rule for somebody: the most that the tables allow exceeds X by less than the protection level
of the rule. Source: Hundepool et al., Handbook on Statistical Disclosure Control, 2nd edition 2024,
section 4.2, tables of sensitivity rules and of upper protection levels.

A contributor knows more than anybody else: its own part of every cell, and where it is alone, the
whole. What it derives for the largest other contribution is computed by adding what it knows to
the tables (`audit_contributions`), so that two single contributors of a row are found, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from narcissus._validation import did_you_mean
from narcissus._visible import visible
from narcissus.counts.audit import CellLimits, TablesAudit, audit_tables
from narcissus.counts.marks import Meaning, label_of, read_number
from narcissus.counts.reading import Cell, read_rows
from narcissus.counts.system import OTHER, Structure, dimensions_of, selection
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer

INSIDERS = 50
"""Most contributors whose knowledge is added to the tables, one after the other."""


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

    def levels(self, largest: Sequence[Fraction], total: Fraction) -> dict[str, Fraction]:
        """Return by which rules a cell is sensitive: how far above its total limits must be.

        largest: contributions in falling order.
        """
        found: dict[str, Fraction] = {}
        first, second, *_ = [*largest, Fraction(0), Fraction(0)]
        if self.minimum is not None and 0 < len(largest) < self.minimum:
            found[f"fewer than {self.minimum}"] = Fraction(0)
        for n, k in self.dominance:
            level = Fraction(100) / _exact(k) * sum(largest[:n], Fraction(0)) - total
            if level > 0:
                found[f"({n}, {k:g}) dominance"] = level
        if self.p is not None:
            level = _exact(self.p) / 100 * first - (total - first - second)
            if level > 0:
                found[f"p% at {self.p:g}"] = level
        return found


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

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, the limits among them."""
        return {
            **self.limits.to_dict(), "total": float(self.total), "rules": list(self.rules),
            "contributors": self.contributors, "level": float(self.level),
            "left": None if self.left is None else float(self.left),
            "closest_percent": self.closest, "by": self.insider, "exposed": self.is_exposed,
        }  # fmt: skip


@dataclass(frozen=True)
class Contribution:
    """What one contributor adds to one of the finest cells."""

    leaves: Mapping[str, int]
    by: str
    amount: Fraction


def read_contributions(
    path: Path | str, magnitude: str, cells: Sequence[Cell], given: Structure,
    contributor: str | None = None,
) -> list[Contribution]:  # fmt: skip
    """Read contributions: a column for each dimension of the tables, and the magnitude.

    contributor: the column that names who contributes, so that several rows are one contributor;
        None: each row is another one.
    Raises `InputError` with the line for a label that no table shows, and a contribution that is
    negative or no number.
    """
    dimensions = dimensions_of(cells, given)
    names = [*dimensions, magnitude, *([] if contributor is None else [contributor])]
    header, rows, _ = read_rows(Path(path))
    for name in names:
        if header.count(name) != 1:
            raise InputError(
                f"{path} must have one column {visible(name)}{did_you_mean(name, header)}"
            )
    places = {
        name: {label: at for at, label in enumerate(one.leaves)} for name, one in dimensions.items()
    }
    found: list[Contribution] = []
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
        amount = read_number(values[magnitude])
        if amount is None or amount < 0:
            raise InputError(
                f"{path}: line {line}: the contribution {visible(values[magnitude])!r} is no "
                "number from 0"
            )
        found.append(
            Contribution(leaves, values[contributor] if contributor else str(line), amount)
        )
    return found


def audit_contributions(
    audit: TablesAudit, given: Structure, contributions: Sequence[Contribution],
    rules: SensitivityRules, *, seconds: float = np.inf, observer: Observer = SILENT,
) -> tuple[tuple[SensitiveCell, ...], str]:  # fmt: skip
    """Derive which cells are sensitive, and which of them the tables expose to somebody.

    audit: of the tables, from `audit_tables`.
    seconds: for what contributors know.
    Returns the cells, those that are exposed first, and what was left out ("": nothing). Raises
    `InputError` where contributions do not sum to a printed total.
    """
    judged = _Judged(audit, given, contributions, rules)
    left_out = judged.ask_insiders(monotonic() + seconds, observer)
    cells = sorted(judged.cells(), key=lambda one: (not one.is_exposed, one.limits.width))
    return tuple(cells), left_out


class _Judged:
    """Cells with their contributions, and the best upper estimate of each largest one so far."""

    def __init__(
        self, audit: TablesAudit, given: Structure, contributions: Sequence[Contribution],
        rules: SensitivityRules,
    ) -> None:  # fmt: skip
        self.given, self.rules, self.contributions = given, rules, contributions
        self.published = [one.cell for one in audit.cells]
        self.dimensions = dimensions_of(self.published, given)
        unit = self.published[0].unit
        assert unit is not None
        self.unit = unit
        self.parts: dict[int, dict[str, Fraction]] = {}
        self.levels: dict[int, dict[str, Fraction]] = {}
        self.limits = dict(enumerate(audit.cells))
        for at, one in self.limits.items():
            parts = self._parts(one.cell)
            total = sum(parts.values(), Fraction(0))
            low, high = one.cell.count.low * unit, one.cell.count.high
            if total < low or (high is not None and total > high * unit):
                raise InputError(
                    f"{one.cell}: the contributions to this cell sum to {float(total):g}; correct "
                    "one of them, or declare --round"
                )
            largest = sorted(parts.values(), reverse=True)
            if levels := rules.levels(largest, total):
                self.parts[at], self.levels[at] = parts, levels
        self.closest = {at: self._by_anybody(at) for at in self.levels}

    def _parts(self, cell: Cell) -> dict[str, Fraction]:
        chosen = {name: set(leaves.tolist()) for name, leaves in
                  selection(cell, self.dimensions, self.given).items()}  # fmt: skip
        found: dict[str, Fraction] = {}
        for one in self.contributions:
            if all(one.leaves[name] in some for name, some in chosen.items()):
                found[one.by] = found.get(one.by, Fraction(0)) + one.amount
        return found

    def _by_anybody(self, at: int) -> tuple[Fraction | None, str, bool]:
        """Return the excess of the best estimate over the largest, whose it is, if it is exact."""
        high = self.limits[at].high
        first, second, *_ = [*sorted(self.parts[at].values(), reverse=True), Fraction(0)]
        if high is None:
            return None, "", False
        by = "the second largest" if second else "anybody"
        is_exact = self.limits[at].determined and len(self.parts[at]) <= 2
        return high * self.unit - second - first, by, is_exact

    def ask_insiders(self, deadline: float, observer: Observer) -> str:
        """Add what contributors know, one after the other; return what was left out."""
        hidden = [at for at in self.levels if self.limits[at].is_hidden]
        asked = dict.fromkeys(by for at in hidden for by in self.parts[at])
        size = {by: max(self.parts[at].get(by, Fraction(0)) for at in hidden) for by in asked}
        order = sorted(asked, key=size.__getitem__, reverse=True)
        observer.start("What contributors derive", len(order[:INSIDERS]))
        for number, by in enumerate(order):
            if number == INSIDERS or monotonic() > deadline:
                return f"What {len(order) - number:,} smaller contributors derive was left out."
            more = self._known_to(by)
            found = audit_tables(
                [*self.published, *more], self.given, seconds=max(1.0, deadline - monotonic())
            )
            for at in hidden:
                if set(self.parts[at]) - {by}:
                    self._note(at, by, found.cells[at])
            observer.advance()
        observer.finish()
        return ""

    def _note(self, at: int, by: str, limits: CellLimits) -> None:
        if limits.high is None:
            return
        others = {one: part for one, part in self.parts[at].items() if one != by}
        largest = max(others.values())
        excess = limits.high * self.unit - self.parts[at].get(by, Fraction(0)) - largest
        # in relation to the contribution that is estimated, of that of the largest
        first = max(self.parts[at].values())
        scaled = excess * first / largest if largest else None
        best, name, is_exact = self.closest[at]
        exact = limits.determined and len(others) == 1
        if scaled is not None and (best is None or scaled < best):
            best, name = scaled, "a contributor"
        self.closest[at] = best, name, is_exact or exact

    def _known_to(self, by: str) -> list[Cell]:
        own: dict[tuple[int, ...], Fraction] = {}
        others = {tuple(one.leaves.values()) for one in self.contributions if one.by != by}
        for one in self.contributions:
            if one.by == by:
                key = tuple(one.leaves.values())
                own[key] = own.get(key, Fraction(0)) + one.amount
        found: list[Cell] = []
        for key, amount in own.items():
            labels = {d.name: d.leaves[k] for d, k in zip(self.dimensions.values(), key,
                      strict=True)}  # fmt: skip
            if OTHER in labels.values():
                continue
            low, high = floor(amount / self.unit), ceil(amount / self.unit)
            known = Meaning(low, None if key in others else high, "known")
            found.append(Cell("known", 0, "", "", labels, known, unit=self.unit))
        return found

    def cells(self) -> list[SensitiveCell]:
        """Judge all sensitive cells."""
        found: list[SensitiveCell] = []
        for at, levels in self.levels.items():
            limits, parts = self.limits[at], self.parts[at]
            total, first = sum(parts.values(), Fraction(0)), max(parts.values())
            level, below = max(levels.values()), Fraction(0)
            if self.rules.protect is not None:
                below = _exact(self.rules.protect) / 100 * total
                level = max(level, below)
            left = None if limits.high is None else limits.high * self.unit - total
            excess, by, is_exact = self.closest[at]
            p_rule = None if self.rules.p is None else _exact(self.rules.p) / 100 * first
            is_close = p_rule is not None and excess is not None and excess < p_rule
            exposed = (
                (left is not None and left < level)
                or total - limits.low * self.unit < below
                or is_close
                or is_exact
                or limits.determined
            )
            closest = None if excess is None or not first else float(100 * excess / first)
            found.append(SensitiveCell(
                limits, total, tuple(levels), len(parts), level, left, closest, by, exposed,
            ))  # fmt: skip
        return found
