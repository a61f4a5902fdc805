"""What tables tell together that they do not tell apart: differencing, and the next release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from math import inf
from time import monotonic
from typing import Any

from narcissus.counts.audit import CellLimits, TablesAudit, audit_tables
from narcissus.counts.groups import SizeRule
from narcissus.counts.marks import Meaning
from narcissus.counts.reading import Cell
from narcissus.counts.system import Structure
from narcissus.errors import InputError


def audit_next(
    new: Sequence[Cell], earlier: Sequence[Cell], structure: Structure | None = None, **more: Any
) -> tuple[TablesAudit, tuple[tuple[CellLimits, CellLimits], ...]]:
    """Derive what a new publication tells together with earlier ones about the same people.

    Options
    -------
    new, earlier: cells of the tables, from `read_published`.
    structure, more: as in `audit_tables`; `seconds` of all together.

    Returns what follows from both, and the hidden cells of either side that are limited further
    than by their side alone: before and after. Raises `InputError` as `audit_tables` does, and
    where both sides have a table of one name.
    """
    declarations, deadline = structure or Structure(), monotonic() + more.pop("seconds", inf)
    sizes = more.pop("sizes", None)
    if twice := {cell.file for cell in new} & {cell.file for cell in earlier}:
        raise InputError(f"{min(twice)} is among the earlier tables too; rename one of them")
    together = audit_tables(
        [*earlier, *new], declarations, seconds=deadline - monotonic(), sizes=sizes, **more
    )
    alone: list[CellLimits] = []
    for side in (earlier, new):
        files = {cell.file for cell in side}
        names = {name for cell in side for name in cell.labels}
        side_declarations = replace(
            declarations,
            parents={k: v for k, v in declarations.parents.items() if k in names},
            others=tuple(name for name in declarations.others if name in names),
            within={k: v for k, v in declarations.within.items() if k in files},
        )
        shown = [*side, *_labels_of_parts(side, side_declarations)]
        audit = audit_tables(shown, side_declarations, seconds=deadline - monotonic(), **more)
        alone += audit.cells[: len(side)]
    return together, tuple(
        (cell, both)
        for cell, both in zip(alone, together.cells, strict=True)
        if both.is_hidden and (cell.low, cell.high) != (both.low, both.high)
    )


def _labels_of_parts(side: Sequence[Cell], given: Structure) -> Iterator[Cell]:
    """Yield a cell that tells nothing for each label of `Structure.within` that the side lacks."""
    labels: dict[str, set[str]] = {}
    for cell in side:
        for name, label in cell.labels.items():
            labels.setdefault(name, set()).add(label)
    nothing = Meaning(0, None, "asked")
    for file, parts in given.within.items():
        for part in parts:
            known = labels.get(part.dimension)
            for label in part.labels:
                if known is not None and label not in known:
                    known.add(label)
                    cell_labels = {part.dimension: label}
                    yield Cell(file, 0, "", "", cell_labels, nothing, unit=side[0].unit)


def small_groups(
    audit: TablesAudit, structure: Structure, rule: SizeRule, *, printed: bool = True
) -> list[CellLimits]:
    """List groups of people that the tables tell, and that the rule wants nobody to know.

    audit: of the tables, from `audit_tables` with the same rule.
    structure: what is declared of them.
    rule: which groups must not be known, and how nearly.
    printed: whether small counts that are printed as they are belong to them; hidden cells do not.
    """
    groups = list(audit.groups)
    if audit.groups_left:  # what limits of cells tell, where not all dimensions are crossed
        groups += _rests_of_rows(audit, rule)
        groups += differences(audit, structure, rule.below)
    if printed:
        groups += [
            cell for cell in audit.cells if not cell.is_hidden and 1 <= cell.low < rule.below
        ]
    return groups


def _rests_of_rows(audit: TablesAudit, rule: SizeRule) -> Iterator[CellLimits]:
    """Yield what sums leave for the labels that are not known, by limits of cells alone."""
    places: dict[tuple[str, frozenset[tuple[str, str]]], CellLimits] = {}
    rows: dict[tuple[str, frozenset[tuple[str, str]], str], list[CellLimits]] = {}
    for cell in audit.cells:
        labels = cell.cell.labels
        places[cell.cell.file, frozenset(labels.items())] = cell
        for name in labels:
            rest = frozenset((key, label) for key, label in labels.items() if key != name)
            rows.setdefault((cell.cell.file, rest, name), []).append(cell)
    for (file, rest, name), row in rows.items():
        total = places.get((file, rest))
        known = [cell for cell in row if cell.determined]
        if total is None or total.high is None or len(row) - len(known) == 1:
            continue  # one cell that is not known is itself looked at
        low = total.low - sum(cell.low for cell in known)
        high = total.high - sum(cell.low for cell in known)
        if rule.is_broken(low, high):
            others = [cell.cell.labels[name] for cell in row if not cell.determined]
            label = " or ".join(others) or "(other)"
            cell = replace(
                total.cell,
                labels={**dict(rest), name: label},
                printed="",
                count=Meaning(low, high, "difference"),
            )
            yield CellLimits(cell, low, high, low == high)


def differences(audit: TablesAudit, structure: Structure, below: int) -> list[CellLimits]:
    """List groups of fewer than ``below`` people that subtracting two tables shows.

    One table is about a part of the people of the other (`Structure.within`), and both have a cell
    with the same labels. Groups that may be empty are left out.
    """
    groups: list[CellLimits] = []
    by_file: dict[str, dict[frozenset[tuple[str, str]], CellLimits]] = {}
    for cell_limits in audit.cells:
        by_file.setdefault(cell_limits.cell.file, {})[
            frozenset(cell_limits.cell.labels.items())
        ] = cell_limits
    for large, small in permutations(by_file, 2):
        if not structure.within.get(small) or structure.within.get(large):
            continue
        for labels, cell_limits in by_file[large].items():
            part = by_file[small].get(labels)
            if part is None or part.high is None or cell_limits.high is None:
                continue
            low, high = cell_limits.low - part.high, cell_limits.high - part.low
            if low > 0 and high < below:
                cell = replace(
                    cell_limits.cell,
                    file=f"{large} without {small}",
                    printed="",
                    count=Meaning(low, high, "difference"),
                )
                groups.append(CellLimits(cell, low, high, low == high))
    return groups
