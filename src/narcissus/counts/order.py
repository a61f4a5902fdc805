"""Rows and columns in the order of their counts, which limits each hidden one by its neighbours.

Every printed sequence is tried: labels next to the same others, of totals and groups as well, parts
of one group, and all rows of a file. Sequences with labels in other orders are separate draws,
and their chances are multiplied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import factorial, prod

from narcissus._visible import visible
from narcissus.counts.columns import option_of
from narcissus.counts.ranges import read_range
from narcissus.counts.reading import Cell
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

RARE = 1 / 360
"""Chance of an order that is no coincidence: that of six numbers, up or down."""
ORDERS = ("count", "falling", "rising", "other")
"""Of counts, in the direction that printed numbers show or in a declared one; or another order."""
Place = tuple[str, int, str]
_Family = list[list[Cell]]
_PRINTED = ("exact", "derived", "rounded", "perturbed")


def ask_for_order(
    cells: Sequence[Cell],
    parents: Mapping[str, Mapping[str, str]],
    declared: Mapping[str, str],
) -> Iterator[Unaccounted]:
    """Yield a question for each table whose hidden cells are between numbers in order.

    Parameters
    ----------
    cells: of all tables, without totals, in the order of their files.
    parents: of a dimension, the group that each label is a part of.
    declared: of a file, one of `ORDERS`.
    """
    for file, some in _by_file(cells).items():
        if file not in declared and next(_families_by_count(some, parents), None):
            yield Unaccounted(
                subject=f"the order of {visible(file)}",
                reason="Its labels are in the order of their numbers, so that each hidden one "
                "lies between its neighbours.",
                declaration=visible(
                    f"{option_of('order', f'{file}=count')}, which limits them so, or "
                    f"{option_of('order', f'{file}=other')} if it is another order"
                ),
            )


def list_orders(
    cells: Sequence[Cell],
    parents: Mapping[str, Mapping[str, str]],
    declared: Mapping[str, str],
) -> Iterator[str]:
    """Yield the premise of each table whose numbers are in order, perhaps by coincidence.

    Three printed numbers or more of one kind are, all of them, and some are hidden among them.
    `ask_for_order` asks where that is no coincidence.
    """
    for file, some in _by_file(cells).items():
        if file in declared or next(_families_by_count(some, parents), None):
            continue
        if any(_tempts(family) for family, is_all in _families(some, parents) if is_all):
            yield f"the order of labels in {visible(file)} tells nothing of counts"


def find_order(
    cells: Sequence[Cell],
    parents: Mapping[str, Mapping[str, str]],
    declared: Mapping[str, str],
) -> tuple[tuple[Place, Place], ...]:
    """Return pairs of cells of which the first has as many people as the second, or more.

    Of files that are declared to be in the order of counts, wherever their numbers agree with it.
    Raises `InputError` where the numbers contradict it.
    """
    pairs: dict[tuple[Place, Place], None] = {}
    by_file = _by_file(cells)
    for file, order in ((file, order) for file, order in declared.items() if order != "other"):
        some, many = by_file.get(file, []), len(pairs)
        for family in _families_declared(file, order, some, parents):
            downs = _directions(family, order)
            for sequence in family:
                shown = [at for at, cell in enumerate(sequence) if cell.count.kind in _PRINTED]
                # equal numbers are in order up and down, which limits what stands between them
                ends = slice(shown[0], shown[-1] + 1) if shown else slice(0)
                part = sequence if len(downs) == 1 else sequence[ends]
                for (one, other), is_down in product(pairwise(part), downs):
                    first, second = (one, other) if is_down else (other, one)
                    pairs[place_of(first), place_of(second)] = None
        if len(pairs) == many:
            raise InputError(_no_effect(file, order))
    return tuple(pairs)


def _no_effect(file: str, order: str) -> str:
    """Word that a declared order limits no cell."""
    declared = f"`--order {visible(file)}={order}` is declared, and limits no cell"
    if order != "count":
        return f"{declared}: no two cells are in one sequence; leave it out"
    return (
        f"{declared}: too few different numbers are printed to show whether counts fall or rise. "
        f"Declare it: {visible(option_of('order', f'{file}=falling'))} or "
        f"{visible(option_of('order', f'{file}=rising'))}"
    )


def place_of(cell: Cell) -> Place:
    """Return file, line and column of a cell, which no other has."""
    return cell.file, cell.line, cell.column


def _by_file(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    each: dict[str, list[Cell]] = {}
    for cell in cells:
        each.setdefault(cell.file, []).append(cell)
    return each


def _families_by_count(
    cells: Sequence[Cell], parents: Mapping[str, Mapping[str, str]]
) -> Iterator[_Family]:
    """Yield sequences of a table that are in the order of their counts by no coincidence."""
    for family, _ in _families(cells, parents):
        if _hides(family) and _directions(family) and 2 * _chance(family) <= RARE:
            yield family


def _families_declared(
    file: str, order: str, cells: Sequence[Cell], parents: Mapping[str, Mapping[str, str]]
) -> list[_Family]:
    """Return sequences that a declared order limits: all of one kind agree with it.

    Single ones of a kind that is not in order are limited where that is no coincidence. Without a
    declared direction, two labels are in order always. Labels by name or range have an order
    already: these are limited if no others are.
    """
    all_of_kind = [family for family, is_all in _families(cells, parents) if is_all]
    several = [family for family in all_of_kind if max(map(len, family)) > 1]
    agreeing = [family for family in several if _directions(family, order)]
    rare = [f for f in _families_by_count(cells, parents) if _directions(f, order)]
    if not agreeing and not rare:
        raise InputError(
            f"`--order {visible(file)}={order}` is declared, and its printed numbers are in no "
            "order, or in the other one: leave it out"
        )
    fewest = 3 if order == "count" else 2
    longer = [family for family in agreeing if max(map(len, family)) >= fewest]
    chosen = rare + [family for family in longer if _hides(family)]
    return [family for family in chosen if not all(map(_is_explained, family))] or chosen


def _tempts(family: _Family) -> bool:
    """Return whether three numbers or more are in order, and one is hidden among them."""
    is_long = any(_count_printed(sequence) > 2 for sequence in family)
    return is_long and _hides(family) and bool(_directions(family))


def _hides(family: _Family) -> bool:
    return any(cell.count.kind not in _PRINTED for sequence in family for cell in sequence)


def _count_printed(sequence: Sequence[Cell]) -> int:
    return sum(cell.count.kind in _PRINTED for cell in sequence)


def _directions(family: _Family, order: str = "count") -> list[bool]:
    """Return in which directions all printed numbers are in a declared order: down, up, or both."""
    declared = {"falling": (True,), "rising": (False,)}.get(order, (True, False))
    return [down for down in declared if _is_sorted(family, down=down)]


def _families(
    cells: Sequence[Cell], parents: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[_Family, bool]]:
    """Yield sequences that one rule may have put in order: single ones, and those of one kind.

    Also say whether these are all sequences of a kind.

    Of one kind are sequences along a dimension next to any labels of the same others, or next to
    one label of one of them; those of groups, or those of parts of each group.
    """
    levels: dict[frozenset[str], list[Cell]] = {}
    for cell in cells:
        levels.setdefault(frozenset(cell.labels), []).append(cell)
    for names, some in levels.items():
        yield [some], len({cell.column for cell in some}) == 1  # a wide table has no one sequence
        for name in names:
            families: dict[tuple[object, bool], dict[object, list[Cell]]] = {}
            for cell in some:
                others = frozenset(item for item in cell.labels.items() if item[0] != name)
                whole = parents.get(name, {}).get(cell.labels[name])
                kinds = {frozenset[tuple[str, str]](), others, *(frozenset([i]) for i in others)}
                for fixed in kinds:
                    family = families.setdefault((fixed, whole is None), {})
                    family.setdefault((others, whole), []).append(cell)
            for (fixed, _), each in families.items():
                yield list(each.values()), not fixed
                yield from (([sequence], False) for sequence in each.values() if len(each) > 1)


def _is_sorted(family: _Family, *, down: bool) -> bool:
    each = [[c.count.low for c in some if c.count.kind in _PRINTED] for some in family]
    return all(a >= b if down else a <= b for counts in each for a, b in pairwise(counts))


def _chance(family: _Family) -> float:
    """Return the chance of numbers in order, down, where labels are in any order.

    Sequences that have their common labels in one order are one draw.
    """
    draws: list[tuple[dict[str, int], float]] = []
    for sequence in family:
        if len(sequence) < 2 or _is_explained(sequence):
            continue
        labels = [" / ".join(cell.labels[n] for n in sorted(cell.labels)) for cell in sequence]
        labels = _own_labels(sequence) or labels
        ranks = {label: at for at, label in enumerate(labels)}
        counts = Counter(c.count.low for c in sequence if c.count.kind in _PRINTED)
        chance = prod(map(factorial, counts.values())) / factorial(counts.total())
        same = next((at for at, (known, _) in enumerate(draws) if _agree(known, labels)), None)
        if same is None:
            draws.append((ranks, chance))
        else:
            draws[same] = (draws[same][0], min(draws[same][1], chance))
    return prod(chance for _, chance in draws)


def _own_labels(sequence: Sequence[Cell]) -> list[str]:
    """Return the labels of the only dimension in which cells differ; empty: they differ in more."""
    names = [name for name in sequence[0].labels if len({c.labels[name] for c in sequence}) > 1]
    return [cell.labels[names[0]] for cell in sequence] if len(names) == 1 else []


def _agree(ranks: Mapping[str, int], labels: Sequence[str]) -> bool:
    """Return whether labels are in an order that another sequence has, too."""
    common = [ranks[label] for label in labels if label in ranks]
    return len(common) > 1 and common == sorted(common)


def _is_explained(cells: Sequence[Cell]) -> bool:
    """Return whether labels are by name, by code or by range."""
    each = [list(dict.fromkeys(cell.labels[name] for cell in cells)) for name in cells[0].labels]
    return any(len(labels) > 2 and _are_in_order(labels) for labels in each)


def _are_in_order(labels: Sequence[str]) -> bool:
    """Return whether labels are by name, by code or by range, up or down."""
    reads = [read_range(label) for label in labels]
    lows = [read[1] for read in reads if read is not None]
    keys = [label.casefold() for label in labels]
    orders = [keys] + ([lows] if len(lows) == len(labels) else [])
    return any(list(some) in (sorted(some), sorted(some, reverse=True)) for some in orders)
