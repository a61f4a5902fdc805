"""Totals and groups among the labels of a dimension, recognized by sums.

A label whose numbers are the sum of all others is a total, whatever its name. A label whose numbers
are the sum of some others is a group of these. What sums show by coincidence alone with a chance of
less than one in `ODDS` is recognized; where hidden numbers leave it open, the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from math import comb, inf, log
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus._visible import visible
from narcissus.counts.columns import option_of
from narcissus.counts.marks import Meaning, Rules
from narcissus.counts.partitions import Ends, find_partition
from narcissus.counts.ranges import (
    CodedRange,
    cut_ranges,
    overlapping_ranges,
    read_range,
    read_ranges,
)
from narcissus.counts.reading import Cell
from narcissus.counts.system import Structure
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

ODDS = 1000.0
REFUTED_ODDS = 2.0
"""The same where the labels exceed the printed total, so that some are groups."""
MOST_LABELS = 60
"""Labels of a dimension among which any set is tried; of more, neighbours and codes alone."""
FEW_LABELS = 25
"""The same where no printed total shows that there are groups."""
MOST_CODES = 500
"""Labels of a dimension whose codes are compared."""
MOST_RUNS = 100
"""Labels of a dimension whose neighbours are tried."""
_CODE = re.compile(r"[A-Z]{1,3}[\dA-Z]{0,5}|\d{1,8}")
"""A code of a place or a class, such as DE, DE1 and DE11."""
Context = frozenset[tuple[str, str]]
_UNKNOWN: Ends = (0.0, inf)
_FREE = 1e9
FEWEST_WHOLE = 100
"""People of a label whose nearness to the sum of the others is no coincidence."""
FEW_OTHERS = 9
"""People with none of the labels whom a total may leave, as a group of few people."""
_WHOLE = re.compile(
    r"(.*\W)?(all|every|total|overall|population|persons|people|residents|inhabitants|employees"
    r"|gesamt\w*|alle|insgesamt|einwohner|bev\u00f6lkerung|personen|ensemble|tous|toutes|totales?"
    r"|todos|habitants)(\W.*)?",
    re.I,
)
_CATEGORY = re.compile(
    r"[fmwdxhv]|females?|males?|m[ae]n|wom[ae]n|boys?|girls?|yes|no|ja|nein|nee|nej|oui|non|s\u00ed|si"
    r"|m\u00e4nn(er|lich)|frauen|weiblich|divers|hommes?|femmes?|hombres?|mujeres?|uomini|donne"
    r"|maschi|femmine|other|others|unknown|not (stated|known)|unbekannt|sonstige|inconnu|autres?",
    re.I,
)
"""Words of single categories, which hold no others."""
_OF_WHICH = re.compile(
    r"(of (which|whom)|thereof|including|incl\.|davon|darunter|dont|de los cuales|di cui|waarvan"
    r"|heraf|h\u00e4rav|d\u00e4rav|herav|w tym|z toho|joista)\b.*"
    r"|[-\u2013\u2022\u00b7.>]+ ?[^\W\d].*",
    re.I,
)
"""How a label begins that is a part of the one before it."""
_DEEPER = r"([0-9A-Z.]+|\s*[-:/>\u2013].+)"
"""What a label's code or name has beyond that of its group."""


@dataclass(frozen=True)
class FoundLabels:
    """What labels of dimensions turned out to be.

    Options
    -------
    totals: by dimension, labels that stand for all people.
    parents: by dimension, the group of each label.
    questions: labels that may be totals or groups, as far as hidden numbers show.
    overlapping: dimensions of which some labels hold others, and it is open which.
    open_names: dimensions that questions are about.
    ranges: by dimension, labels that are ranges and overlap.
    coded: dimensions of which codes alone show some groups, where numbers are hidden.
    """

    totals: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    questions: tuple[Unaccounted, ...] = ()
    overlapping: frozenset[str] = frozenset()
    ranges: Mapping[str, Mapping[str, CodedRange]] = field(
        default_factory=dict[str, Mapping[str, CodedRange]]
    )
    open_names: frozenset[str] = frozenset()
    coded: frozenset[str] = frozenset()

    def joined(self, later: FoundLabels) -> FoundLabels:
        """Return these totals and groups with those that were found later, and its questions."""
        totals = {
            name: tuple(dict.fromkeys((*self.totals.get(name, ()), *later.totals.get(name, ()))))
            for name in {**self.totals, **later.totals}
        }
        parents = {**self.parents, **later.parents}
        return FoundLabels(
            totals,
            parents,
            later.questions,
            later.overlapping,
            later.ranges,
            later.open_names,
            self.coded | later.coded,
        )

    def without_overlaps(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return cells that print no sum over a dimension of which some labels hold others."""
        return [cell for cell in cells if self.overlapping <= set(cell.labels)]

    def without_totals(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return cells in which a label that is a total is a margin."""
        new_cells: list[Cell] = []
        for cell in cells:
            labels, share = self._without(cell.labels), cell.share
            if share is not None and len(self._without(share.whole)) < len(share.whole):
                share = replace(share, whole=self._without(share.whole))
            is_same = share is cell.share and len(labels) == len(cell.labels)
            new_cells.append(cell if is_same else replace(cell, labels=labels, share=share))
        return new_cells

    def _without(self, labels: Mapping[str, str]) -> dict[str, str]:
        return {k: v for k, v in labels.items() if v not in self.totals.get(k, ())}


def find_labels(
    cells: Sequence[Cell],
    structure: Structure,
    rules: Rules,
    flat: Sequence[str] = (),
    indented: Mapping[str, Mapping[str, str]] | None = None,
) -> FoundLabels:
    """Recognize totals and groups among labels, by the sums of all tables.

    ``indented``: by file, the label that each indented one is below.
    Dimensions of ``flat``, ranges of the variable, and declared groups and parts are left as they
    are. Groups that sums show are added to the declared ones.
    """
    totals: dict[str, set[str]] = {}
    parents: dict[str, dict[str, str]] = {}
    questions: dict[tuple[str, str], Unaccounted] = {}
    is_hidden = any(cell.count.kind != "exact" for cell in cells)
    overlapping: set[str] = set()
    coded: set[str] = set()
    tables = _tables(cells, structure)
    unshown = _named_elsewhere(cells, structure)
    ranges = _find_ranges(tables, structure, rules, flat)
    for (file, name), rows in tables.items():
        within = {part.dimension for part in structure.within.get(file, ())}
        declared = structure.parents.get(name, {})
        is_open = name in {*structure.others, *within, *unshown}
        inner = _inner_ranges(ranges.get(name, {}))
        search = _LabelSums(
            file,
            name,
            rows,
            rules,
            {**inner, **declared},
            wholes=set(declared.values()),
            is_open=is_open,
            indented=(indented or {}).get(file, {}),
        )
        search.require_parts(is_flat=name in flat)
        if name in flat:
            continue
        codes = search.code_tree()
        label = search.total()
        tree = {} if label else {**codes, **search.groups()}
        label = label or search.root(tree)
        if label is not None:
            totals.setdefault(name, set()).add(label)
            search.drop(label)
            tree = search.groups()
            codes = {part: whole for part, whole in codes.items() if label not in (part, whole)}
        if codes.items() - tree.items():
            coded.add(name)
        tree = {**codes, **tree}
        is_settled = {*search.labels} <= {*declared, *declared.values(), label}
        for part, whole in tree.items():
            parents.setdefault(name, {}).setdefault(part, whole)
        if name in ranges and overlapping_ranges(read_ranges([search.labels])):
            continue  # none of them is a part, and their sets tell what holds what
        if search.exceeds_margin(tree) and (question := search.ask_for_groups(tree)):
            overlapping.add(name)
            questions[name, question.subject] = question
            continue
        if label is None and not is_settled:
            near = [*search.rests(tree), *search.nearly_total(tree)]
            near += search.unread_overlaps() if name not in ranges else ()
            questions |= {(name, question.subject): question for question in near}
        if is_hidden and not is_settled:
            questions |= {(name, question.subject): question for question in search.questions(tree)}
    known = {(name, label) for name, labels in totals.items() for label in labels}
    parents = {
        name: tree
        for name, each in parents.items()
        if (tree := {k: v for k, v in each.items() if not {(name, k), (name, v)} & known})
    }
    left = [
        (name, q) for (name, _), q in questions.items() if not _is_settled(q, name, totals, parents)
    ]
    total_labels = {name: tuple(sorted(labels)) for name, labels in totals.items()}
    asked, open_names = tuple(q for _, q in left), frozenset(name for name, _ in left)
    return FoundLabels(
        total_labels, parents, asked, frozenset(overlapping), ranges, open_names, frozenset(coded)
    )


def _named_elsewhere(cells: Iterable[Cell], structure: Structure) -> set[str]:
    """Return dimensions of which a declared part of the people has a label that no table shows."""
    shown: dict[str, set[str]] = {}
    for cell in cells:
        for name, label in cell.labels.items():
            shown.setdefault(name, set()).add(label)
    return {
        part.dimension
        for parts in structure.within.values()
        for part in parts
        if not {*part.labels} <= shown.get(part.dimension, set())
    }


def _find_ranges(
    tables: Mapping[tuple[str, str], Mapping[Context, Mapping[str | None, Meaning]]],
    structure: Structure,
    rules: Rules,
    flat: Sequence[str],
) -> dict[str, Mapping[str, CodedRange]]:
    """Return the ranges of each dimension that overlap, if no number contradicts that they do."""
    each: dict[str, list[_LabelSums]] = {}
    for (file, name), rows in tables.items():
        if name not in flat and name not in structure.parents:
            open_to = {part.dimension for part in structure.within.get(file, ())}
            is_open = name in {*structure.others, *open_to}
            sums = _LabelSums(file, name, rows, rules, {}, is_open=is_open)
            each.setdefault(name, []).append(sums)
    parts = {label.casefold() for label in rules.parts}
    ranges: dict[str, Mapping[str, CodedRange]] = {}
    for name, searches in each.items():
        labels = [
            [label for label in sums.labels if label.casefold() not in parts] for sums in searches
        ]
        chosen = overlapping_ranges(read_ranges(labels))
        if chosen and all(sums.agrees_with(cut_ranges(chosen)) for sums in searches):
            ranges[name] = chosen
    return ranges


def ask_for_gaps(cells: Sequence[Cell], structure: Structure) -> Iterator[Unaccounted]:
    """Yield a question for each table whose ranges leave out numbers that another table's hold."""
    shown: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for name in cell.labels.keys() & structure.ranges.keys():
            labels = shown.setdefault((cell.file, name), [])
            if cell.labels[name] not in labels:
                labels.append(cell.labels[name])
    for (file, name), labels in shown.items():
        within = {part.dimension for part in structure.within.get(file, ())}
        if name in {*structure.others, *within}:
            continue
        pieces = cut_ranges(structure.ranges[name])
        left = [piece for piece, holders in pieces.items() if not {*holders} & {*labels}]
        if left:
            option = option_of("within", f"{file}:{name}={','.join(labels)}")
            yield Unaccounted(
                subject=f"ranges of `{visible(name)}` in {visible(file)}",
                reason=f"They leave out {', '.join(map(visible, left[:3]))}, which another table "
                "shows.",
                declaration=visible(
                    f"{option_of('others', name)} if such people are among its total, or {option} "
                    "if it is not about them"
                ),
            )


def _inner_ranges(ranges: Mapping[str, CodedRange]) -> dict[str, str]:
    """Return a range that holds each range that lies within another one."""
    piece_sets: dict[str, set[str]] = {}
    for piece, holders in cut_ranges(ranges).items():
        for label in holders:
            piece_sets.setdefault(label, set()).add(piece)
    return {
        label: whole
        for label, pieces in piece_sets.items()
        for whole, other_pieces in piece_sets.items()
        if pieces < other_pieces or (pieces == other_pieces and whole < label)
    }


def _is_settled(
    question: Unaccounted,
    name: str,
    totals: Mapping[str, set[str]],
    parents: Mapping[str, Mapping[str, str]],
) -> bool:
    """Return whether another table settles what a label is."""
    labels = totals.get(name, set()) | set(parents.get(name, {}).values())
    return any(question.subject.startswith(_subject(label, name)) for label in labels)


def _subject(label: str, name: str) -> str:
    return f"label `{visible(label)}` of `{visible(name)}`"


def _tables(
    cells: Sequence[Cell], structure: Structure
) -> dict[tuple[str, str], dict[Context, dict[str | None, Meaning]]]:
    """Return the numbers of each dimension's labels, by table and the other labels.

    None stands for the margin, which another table about all people may print.
    """
    variable = structure.variable
    everybody = {
        frozenset(cell.labels.items()): cell.count
        for cell in cells
        if cell.file not in structure.within
    }
    names: dict[str, set[str]] = {}
    for cell in cells:
        names.setdefault(cell.file, set()).update(cell.labels)
    tables: dict[tuple[str, str], dict[Context, dict[str | None, Meaning]]] = {}
    for cell in cells:
        for name in names[cell.file]:
            if variable is not None and variable.is_named(name):
                continue
            context = frozenset(item for item in cell.labels.items() if item[0] != name)
            rows = tables.setdefault((cell.file, name), {}).setdefault(context, {})
            rows[cell.labels.get(name)] = cell.count
    for (file, _), contexts in tables.items():
        for context, rows in contexts.items():
            if None not in rows and file not in structure.within and context in everybody:
                rows[None] = everybody[context]
    return tables


def _ends(count: Meaning | None) -> Ends:
    if count is None:
        return _UNKNOWN
    return float(count.low), inf if count.high is None else float(count.high)


def _wholes(label: str, parents: Mapping[str, str]) -> Iterator[str]:
    """Yield the groups that a label is a part of."""
    seen = {label}
    while (label := parents.get(label, label)) not in seen:
        seen.add(label)
        yield label


def _are_serial(code: str, longer: Sequence[str]) -> bool:
    """Return whether codes add as many signs to another one, all different and in order."""
    ends = [other.removeprefix(code) for other in longer]
    return len({*map(len, ends)}) == 1 and len(ends[0]) <= 2 and ends == sorted({*ends})


class _LabelSums:
    """The labels of one dimension in one table, and their sums."""

    def __init__(
        self,
        file: str,
        name: str,
        contexts: Mapping[Context, Mapping[str | None, Meaning]],
        rules: Rules,
        parents: Mapping[str, str],
        *,
        wholes: Set[str] = frozenset(),
        is_open: bool = False,
        indented: Mapping[str, str] | None = None,
    ) -> None:
        self.file, self.name = file, name
        self._wholes = wholes  # labels whose parts are declared
        self._is_open = is_open  # whether people have none of the labels
        declared = {label.casefold() for label in rules.parts}
        self._few = FEW_OTHERS if rules.below is None else rules.below - 1
        self._indented = indented or {}
        order = dict.fromkeys(label for rows in contexts.values() for label in rows)
        self.labels = [
            label
            for label in order
            if label is not None and not any(whole in order for whole in _wholes(label, parents))
        ]
        self._parts = {label for label in self.labels if label.casefold() in declared}
        self._rows = [
            {label: _ends(count) for label, count in rows.items()} for rows in contexts.values()
        ]

    def require_parts(self, *, is_flat: bool) -> None:
        """Refuse a declaration that labels are no sums of others where sums show that they are.

        Raises `InputError`, with the label and its parts.
        """
        parts, self._parts = self._parts, set[str]()
        if not is_flat and not parts:
            return
        label = self.total() if len(self.labels) > 2 else None
        tree = {} if label or self.exceeds_margin({}) else self.groups()
        self._parts = parts
        wholes = [label] if label else list(dict.fromkeys(tree.values()))
        wrong = [whole for whole in wholes if is_flat or whole in parts]
        if wrong:
            whole = wrong[0]
            members = [
                member
                for member in self.labels
                if tree.get(member, label) == whole and member != whole
            ]
            option = f"--flat {self.name}" if is_flat else f"--part {whole}"
            raise InputError(
                f"{visible(self.file)}: `{visible(option)}` is declared, and the numbers of "
                f"{visible(whole)} are the sums of {', '.join(map(visible, members[:6]))}: a "
                f"coincidence has a chance of less than 1 in {ODDS:,.0f}. Leave it out"
            )

    def exceeds_margin(self, groups: Mapping[str, str]) -> bool:
        """Return whether labels that are in no group have more people than a printed total."""
        tops = [label for label in self.labels if label not in groups]
        return any(
            self._sum(row, [label for label in tops if label in row])[0] > row[None][1]
            for row in self._rows
            if None in row
        )

    def ask_for_groups(self, groups: Mapping[str, str]) -> Unaccounted | None:
        """Ask which labels hold others, where all together exceed the total; None: none may."""
        tree = dict(groups)
        while self.exceeds_margin(tree):
            tops = [label for label in self.labels if label not in tree]
            ways = [(label, parts) for label in tops for parts in self._possible(label, tops)]
            if not ways:
                return None
            whole, parts = ways[0]
            tree |= dict.fromkeys(parts, whole)
        wholes = [whole for whole in dict.fromkeys(tree.values()) if whole not in groups.values()]
        ways = [self._tree_option(whole, [k for k in tree if tree[k] == whole]) for whole in wholes]
        return Unaccounted(
            subject=f"dimension `{visible(self.name)}` of {visible(self.file)}",
            reason="Its labels together exceed the printed total, so some hold others.",
            declaration=visible("what holds what, such as " + " and ".join(ways)),
        )

    def _possible(self, label: str, tops: Sequence[str]) -> Iterator[list[str]]:
        """Yield labels that may be the parts of a label, by names first, then by place."""
        if label in self._parts:
            return
        named = [parts for parts, _ in self._named(label) if set(parts) <= set(tops)]
        for parts in (*named, *self._runs(label, tops)):
            if self._weigh(label, parts) > -inf:
                yield parts
        for parts in self._inner(label):
            if set(parts) <= set(tops) and self._may_hold(label, parts):
                yield parts

    def _tree_option(self, whole: str, parts: Sequence[str]) -> str:
        """Return the option that declares the parts of a label, and others where they are fewer."""
        is_refuted = set(parts) <= set(self.labels) and self._weigh(whole, parts) == -inf
        if is_refuted and not self._is_printed_sum(whole, parts):
            parts = [*parts, f"other {whole}"]
        return option_of("hierarchy", f"{self.name}:{whole}={','.join(parts)}")

    def _is_printed_sum(self, whole: str, parts: Sequence[str]) -> bool:
        """Return whether a label is the sum of others in each row that hides none of them.

        Then marks, and no others, explain the rows that contradict it.
        """
        rows = [row for row in self._rows if {whole, *parts} <= {*row}]
        ends = [(row[whole], self._sum(row, parts)) for row in rows]
        printed = [(a, b) for a, b in ends if a[0] == a[1] > 0 and b[0] == b[1]]
        return bool(printed) and all(a == b for a, b in printed)

    def agrees_with(self, pieces: Mapping[str, Sequence[str]]) -> bool:
        """Return whether some people in pieces of ranges have the numbers of all labels."""
        others = [
            label for label in self.labels if not any(label in some for some in pieces.values())
        ]
        label_sets = [set(some) for some in pieces.values()] + [{label} for label in others]
        for row in self._rows:
            shown = [label for label in row if label is not None or not self._is_open]
            matrix = [
                [float(label is None or label in some) for some in label_sets] for label in shown
            ]
            ends = np.array([row[label] for label in shown]).reshape(-1, 2)
            limits = LinearConstraint(np.array(matrix), ends[:, 0], ends[:, 1])
            if shown and milp(np.zeros(len(label_sets)), constraints=limits).status == 2:
                return False
        return True

    def drop(self, label: str) -> None:
        """Take a label for the margin."""
        self.labels.remove(label)
        for row in self._rows:
            if label in row:
                row[None] = row.pop(label)

    def _sum(self, row: Mapping[str | None, Ends], labels: Iterable[str]) -> Ends:
        ends = [row.get(label, _UNKNOWN) for label in labels]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def _weigh(self, whole: str | None, parts: Sequence[str], *, has_others: bool = False) -> float:
        """Return the logarithm of the odds that a label is the sum of others by coincidence.

        Infinite below: a row contradicts it.
        """
        weight = 0.0
        for row in self._rows:
            if whole not in row:
                continue
            low, high = row[whole]
            smallest, largest = self._sum(row, parts)
            largest = inf if has_others else largest
            if low > largest or high < smallest:
                return -inf
            if high < inf and largest < inf and high > 0:
                width = (largest - smallest) + (high - low) + 1
                weight += max(0.0, log((high + 1) / width))
        return weight

    def _has_margin(self) -> bool:
        """Return whether a row prints the number of all labels together."""
        margins = [row[None] for row in self._rows if None in row and len(row) > 1]
        return any(low > 0 or high == 0 for low, high in margins)

    def _weigh_margin(self, labels: Sequence[str]) -> float:
        """Return the evidence that some labels together are the printed margin."""
        if not self._has_margin():
            return -inf
        return self._weigh(None, labels, has_others=self._is_open)

    def _is_margin_too(self, label: str) -> bool:
        """Return whether no row prints another number for the label than for the margin."""
        pairs = [(row[None], row[label]) for row in self._rows if None in row and label in row]
        return all(a[0] <= b[1] and b[0] <= a[1] for a, b in pairs)

    def _same_as_margin(self, label: str) -> float:
        """Return the evidence of rows that print the same number for a label and the margin."""
        pairs = [(row[None], row[label]) for row in self._rows if None in row and label in row]
        return sum(log(a[0] + 1) for a, b in pairs if a == b and a[0] == a[1])

    def _candidates(self) -> dict[str, float]:
        """Return labels that may be the sum of all others, with the evidence for it."""
        if len(self.labels) < 3:
            return {}
        weights: dict[str, float] = {}
        for label in self.labels:
            if label in self._parts or not self._is_margin_too(label):
                continue
            others = [other for other in self.labels if other != label]
            weight = self._weigh(label, others, has_others=self._is_open)
            weight += self._same_as_margin(label)
            is_printed = any(row[label][0] > 0 for row in self._rows if label in row)
            if weight > -inf and is_printed:
                weights[label] = weight
        return weights

    def total(self) -> str | None:
        """Return the label that is the sum of all others, if that is no coincidence."""
        weights = self._candidates()
        need = log(ODDS) + log(max(1, len(self.labels)))
        label = max(weights, key=weights.__getitem__, default=None)
        return label if label is not None and weights[label] >= need else None

    def root(self, tree: Mapping[str, str]) -> str | None:
        """Return the label that all others are parts of, directly or not."""
        roots = [label for label in self.labels if label not in tree]
        is_whole = len(roots) == 1 and len(tree) > 1 and not self._is_open
        return roots[0] if is_whole and self._is_margin_too(roots[0]) else None

    def groups(self) -> dict[str, str]:
        """Return the group of each label that is part of one.

        The surest group is taken first, and its parts are left out, until the labels that are left
        sum to the printed total.
        """
        tree: dict[str, str] = {}
        tops = list(self.labels)
        while len(tops) > 2:
            weight = self._weigh_margin(tops)
            if weight >= log(ODDS):
                break
            odds = ODDS if weight > -inf or not self._has_margin() else REFUTED_ODDS
            ways = [way for label in tops for way in self._ways(label, tops, odds)]
            if not ways:
                break
            _, whole, parts = max(ways, key=lambda way: way[0])
            tree |= dict.fromkeys(parts, whole)
            tops = [label for label in tops if label not in parts]
        return tree

    def _ways(
        self, label: str, tops: Sequence[str], odds: float
    ) -> Iterator[tuple[float, str, list[str]]]:
        """Yield sets of labels that sum to a label, with the evidence beyond what it needs."""
        if label in self._parts or label in self._wholes:
            return
        runs = log(odds) + 2 * log(len(tops))
        is_refuted = odds < ODDS
        ways = [
            (parts, 0.0 if is_refuted else low)
            for parts, low in self._named(label)
            if set(parts) <= set(tops)
        ]
        if len(tops) > 3:
            ways += [(parts, runs) for parts in self._runs(label, tops)]
        if 3 < len(tops) <= MOST_LABELS and (is_refuted or len(tops) <= FEW_LABELS):
            ways += self._any(label, tops, odds)
        for parts, need in ways:
            weight = self._weigh(label, parts)
            if weight >= need:
                yield weight - need, label, parts

    def _named(self, label: str) -> Iterator[tuple[list[str], float]]:
        """Yield labels whose codes begin with a label's, and the evidence that sums must give."""
        if len(parts := self._coded(label)) > 1:
            yield parts, log(10)

    def _coded(self, label: str) -> list[str]:
        """Return labels whose code begins with a label's code, without parts of these."""
        longer = [
            other
            for other in self.labels
            if other.startswith(label) and re.fullmatch(re.escape(label) + _DEEPER, other)
        ]
        if len(self.labels) > MOST_CODES:
            return []
        nearest = [
            other
            for other in longer
            if not any(other != between and other.startswith(between) for between in longer)
        ]
        is_coded = any(re.search(r"[\d\W]", other[len(label) :]) for other in nearest)
        return nearest if is_coded else []

    def code_tree(self) -> dict[str, str]:
        """Return the group of each label whose code begins with that of its group, and no others.

        All labels must be codes of one tree, below one label or the printed total, with two parts
        or more in each group. No row may contradict a group, but for marks, and the sums of one
        must be no coincidence.
        """
        if len(self.labels) < 4 or self._is_open or len(self.labels) > MOST_CODES:
            return {}
        groups = {label: parts for label in self.labels if (parts := self._coded(label))}
        tree = {part: label for label, parts in groups.items() for part in parts}
        roots = [label for label in self.labels if label not in tree]
        if not groups or not all(map(_CODE.fullmatch, self.labels)):
            return {}
        if len(roots) > 1 and self._weigh_margin(roots) < log(10):
            return {}
        if any(len(parts) < 2 or not _are_serial(label, parts) for label, parts in groups.items()):
            return {}
        weights = [
            0.0 if self._is_printed_sum(label, parts) else self._weigh(label, parts)
            for label, parts in groups.items()
        ]
        sums = [self._weigh(label, parts) for label, parts in groups.items()]
        sums += [self._weigh_margin(roots)]
        is_free = not {*groups} & {*self._parts, *self._wholes}
        return tree if is_free and min(weights) > -inf and max(sums) >= log(10) else {}

    def _runs(self, label: str, tops: Sequence[str]) -> Iterator[list[str]]:
        """Yield neighbours behind a label, and before it."""
        if len(tops) > MOST_RUNS:
            return
        at = tops.index(label)
        for end in range(at + 3, len(tops) + 1):
            yield list(tops[at + 1 : end])
        for begin in range(at - 2, -1, -1):
            yield list(tops[begin:at])

    def _ends_of(
        self, rows: Sequence[Mapping[str | None, Ends]], labels: Sequence[str]
    ) -> tuple[Any, Any]:
        """Return the least and the most of labels in rows, shape (rows, labels) each."""
        ends = [[row.get(label, _UNKNOWN) for label in labels] for row in rows]
        lows = np.array([[low for low, _ in row] for row in ends])
        return lows, np.array([[min(high, _FREE) for _, high in row] for row in ends])

    def _sets(
        self, label: str, others: Sequence[str], more: Sequence[LinearConstraint] = ()
    ) -> Any:
        """Solve for a set of others that sums to a label in all rows, within more constraints.

        Of several sets, one of few labels is taken whose numbers are printed.
        """
        rows = [row for row in self._rows if label in row]
        lows, highs = self._ends_of(rows, others)
        limits = [
            LinearConstraint(lows, -np.inf, np.array([row[label][1] for row in rows])),
            LinearConstraint(highs, np.array([row[label][0] for row in rows]), np.inf),
            LinearConstraint(np.ones((1, len(others))), 2, len(others)),
        ]
        return milp(
            1 + 0.5 * (highs >= _FREE).sum(axis=0),
            constraints=[*limits, *more],
            bounds=Bounds(0, 1),
            integrality=np.ones(len(others), np.int64),
            options={"time_limit": 5.0},
        )

    @cached_property
    def _loose(self) -> list[str]:
        """The labels that may be parts of others: no row with a total needs them for it."""
        needed: set[str] = set()
        for row in [] if self._is_open else self._rows:
            some = [label for label in self.labels if label in row]
            if None in row and len(some) == len(self.labels):
                room = self._sum(row, some)[1] - row[None][0]
                needed |= {label for label in some if row[label][1] > room}
        return [label for label in self.labels if label not in needed]

    def _is_category(self, label: str) -> bool:
        """Return whether a label is no group: a range, a word of categories, or one of years."""
        read = read_range(label)
        if read is None:
            return _CATEGORY.fullmatch(label) is not None
        return read[1][0] < read[1][1] or self._are_in_row

    @cached_property
    def _are_in_row(self) -> bool:
        """Whether all labels are numbers behind the same letters, and few are left out."""
        reads = [read_range(label) for label in self.labels]
        codes = {None if read is None else read[0] for read in reads}
        if len(codes) != 1 or None in codes:
            return False
        places = [read[1][0] for read in reads if read is not None]
        return max(places) - min(places) < 2 * len(places)

    def _may_be_sum(self, label: str, labels: Sequence[str] | None = None) -> bool:
        """Return whether no row contradicts that a label is the sum of some others.

        The labels that are left must reach a printed total, which a group makes harder.

        Parameters
        ----------
        label: the sum.
        labels: among which its parts are; None: all that a printed total does not need.
        """
        others = [other for other in labels or self._loose if other != label]
        if label in self._parts or label in self._wholes:
            return False
        if len(others) < 2 or self._is_category(label):
            return False
        return self._solve_parts(label, others).status != 2

    def _solve_parts(self, label: str, others: Sequence[str]) -> Any:
        """Solve for others that sum to a label and leave enough for the printed total."""
        constraints: list[LinearConstraint] = []
        if rows := [] if self._is_open else [row for row in self._rows if None in row]:
            _, highs = self._ends_of(rows, [label, *others])
            rest = [other for other in self.labels if other not in (label, *others)]
            room = highs.sum(axis=1) + self._ends_of(rows, rest)[1].reshape(len(rows), -1).sum(
                axis=1
            )
            room -= np.array([row[None][0] for row in rows])
            constraints = [LinearConstraint(highs[:, 1:], -np.inf, np.maximum(room, -1))]
            if self._has_margin():  # the total has a name already
                upper_limit = len(self.labels) - 2
                constraints.append(LinearConstraint(np.ones((1, len(others))), 0, upper_limit))
        return self._sets(label, others, constraints)

    def _any(
        self, label: str, tops: Sequence[str], odds: float
    ) -> Iterator[tuple[list[str], float]]:
        """Yield a set of others that sums to a label in all rows, and the evidence it needs."""
        others = [other for other in tops if other != label]
        printed = [row[label][1] for row in self._rows if label in row and row[label][1] < inf]
        if sum(log(count + 1) for count in printed) < log(odds):
            return
        solved = self._sets(label, others)
        if solved.x is not None:
            parts = [other for other, is_in in zip(others, solved.x > 0.5, strict=True) if is_in]
            yield parts, log(odds) + log(comb(len(others), len(parts))) + log(len(tops))

    def nearly_total(self, groups: Mapping[str, str]) -> Iterator[Unaccounted]:
        """Yield a label that may be the total, of more people or in all rows but a few.

        A total may hold people with none of the labels, and rows may have slips. A label asks if
        no row has fewer people than the others together, and its name says that it is of all, or
        a row leaves few people. It asks as well if it is the sum of the others in some rows.
        """
        tops = [label for label in self.labels if label not in groups]
        if len(tops) < 2 or self._has_margin():
            return
        for label in tops:
            if label in self._parts or not self._is_margin_too(label):
                continue
            if self._is_category(label):
                continue
            others = [other for other in tops if other != label]
            if self._is_whole_of(label, others) or self._is_sum_but_for_slips(label, others):
                total, part = option_of("total", label), option_of("part", label)
                others_too = (
                    f"with {option_of('others', self.name)} if there are people with none of the "
                    "labels"
                )
                is_likely = self._weigh_near(label, others) >= log(ODDS)
                is_likely |= _WHOLE.fullmatch(label) is not None
                ways = f"{total}, {others_too}, or {part}"
                yield Unaccounted(
                    subject=f"{_subject(label, self.name)} in {visible(self.file)}",
                    reason="Its numbers are near the sums of all others, so it may be the total.",
                    declaration=visible(ways if is_likely else f"{part}, or {total}, {others_too}"),
                )
                return

    def _is_whole_of(self, label: str, others: Sequence[str]) -> bool:
        """Return whether a label may be all others together, and people with none of them."""
        is_near = False
        is_larger = False
        for row in self._rows:
            if label not in row or not set(others) & set(row):
                continue
            low, high = row[label]
            smallest, largest = self._sum(row, [other for other in others if other in row])
            if high < smallest:
                return False
            is_larger |= low > 0
            is_near |= low >= FEWEST_WHOLE and low - largest <= FEW_OTHERS and smallest > 0
            is_near |= self._is_few(low - largest, high - smallest)
        return is_near or (is_larger and _WHOLE.fullmatch(label) is not None)

    def _weigh_near(self, label: str, others: Sequence[str]) -> float:
        """Return the logarithm of the odds that a label is so near to the others by coincidence.

        A row in which most people of the label are none of the others speaks against a total.
        """
        weight = -log(max(1, len(self.labels)))
        for row in self._rows:
            low, high = row.get(label, _UNKNOWN)
            smallest, largest = self._sum(row, [other for other in others if other in row])
            if low > 0 and max(high, largest) < inf and set(others) & set(row):
                width = (high - low) + (largest - smallest) + 1
                weight += log((high + 1) / (2 * max(0.0, low - largest) + width))
        return weight

    def _is_few(self, least: float, largest: float) -> bool:
        """Return whether the people of a rest are known, and few."""
        return 1 <= least == largest <= self._few

    def _is_sum_but_for_slips(self, label: str, others: Sequence[str]) -> bool:
        """Return whether rows that agree with a sum are no coincidence, whatever others say."""
        rows = [row for row in self._rows if label in row]
        weights: list[float] = []
        for row in rows:
            low, high = row[label]
            smallest, largest = self._sum(row, others)
            if low == high == smallest == largest:
                weights.append(log(high + 1))
        chances = log(comb(len(rows), len(weights))) + log(max(1, len(self.labels)))
        return sum(weights) - chances >= log(ODDS)

    def questions(self, groups: Mapping[str, str]) -> Iterator[Unaccounted]:
        """Yield labels that hidden numbers leave open: a total or a part, a group or a part."""
        settled = {*groups, *groups.values()}
        is_open = not self._has_margin() and self._has_hidden()
        if is_open and self._may_hold_more(groups):
            yield self._ask_for_total()
            return
        if self._weigh_margin(self.labels) >= log(ODDS):
            return
        for label in self.labels:
            if label in settled or label in self._parts:
                continue
            for parts, _ in self._named(label):
                if self._weigh(label, parts) > -inf and not set(parts) & self._parts:
                    words = ", ".join(map(visible, parts[:3]))
                    yield self._ask(label, f"the sum of {words}{' ...' * (len(parts) > 3)}", parts)
        if self._has_margin() and self._has_hidden():
            rest = self._without_parts(groups)
            if len(rest.labels) > 2 and (label := rest.possible_sum(groups)) is not None:
                yield rest.ask_for_sum(label)

    def _without_parts(self, groups: Mapping[str, str]) -> _LabelSums:
        """Return the labels that are parts of none, with their sums."""
        if not groups:
            return self
        rest = copy(self)
        rest.labels = [label for label in self.labels if label not in groups]
        rest._wholes = {*self._wholes, *groups.values()}
        rest.__dict__.pop("_loose", None)
        return rest

    def possible_sum(self, groups: Mapping[str, str]) -> str | None:
        """Return a label that may be the sum of some others; None: numbers exclude it for all.

        Of several, one is returned of which most is printed.

        Parameters
        ----------
        groups: of labels that are parts, which may hold others, too.
        """
        tried = self.labels[:MOST_LABELS]
        ways = [label for label in tried if self._may_be_sum(label)]
        ways += [
            part
            for part in groups
            if part not in groups.values()
            and self._may_be_sum(part, [k for k in self._loose if k not in _wholes(part, groups)])
        ]
        if not ways and len(self.labels) > len(tried) and len(self._loose) > 2:
            return self._loose[0]  # too many to be tried
        return max(ways, key=self._printed_weight, default=None)

    def _printed_weight(self, label: str) -> float:
        """Return the size of what is printed of a label, over all rows."""
        ends = [row[label] for row in self._rows if label in row]
        return sum(log(low + 1) for low, high in ends if low == high)

    def _may_hold_more(self, groups: Mapping[str, str]) -> bool:
        """Return whether a label without known parts may be the sum of labels in no group.

        Where a single label is in no group, it is the sum of all.
        """
        tops = [label for label in self.labels if label not in groups]
        wholes = set(groups.values())
        return len(tops) > 1 and any(
            self._may_be_sum(label, [top for top in tops if top not in _wholes(label, groups)])
            for label in self.labels
            if label not in wholes
        )

    def _partition(self) -> dict[str, str]:
        """Return a group for each label that is a part, if all labels may be groups and parts."""
        rows = [row for row in self._rows if row.get(None, _UNKNOWN)[1] < inf and len(row) > 1]
        labels = [label for label in self.labels if any(label in row for row in rows)]
        if not 6 <= len(labels) <= FEW_LABELS:
            return {}
        ends = [[row.get(label, _UNKNOWN) for label in labels] for row in rows]
        may_hold = [label not in self._parts for label in labels]
        tree = find_partition(ends, [row[None] for row in rows], may_hold)
        return {labels[part]: labels[whole] for part, whole in (tree or {}).items()}

    def rests(self, groups: Mapping[str, str]) -> Iterator[Unaccounted]:
        """Yield a label whose name says that it holds others, and people of none of them.

        It asks if a row tells how few these are, or hides a number of theirs.
        """
        for label in self.labels:
            if label in groups.values() or label in self._parts:
                continue
            for parts in self._inner(label):
                if set(parts) & self._parts or not self._matters(label, parts):
                    continue
                words = ", ".join(map(visible, parts[:3]))
                text = f"those of {words}{' ...' * (len(parts) > 3)} and of others"
                yield self._ask(label, text, parts)
                break

    def _inner(self, label: str) -> Iterator[list[str]]:
        """Yield labels that a label may hold, by names, codes, and indentation."""
        at = self.labels.index(label)
        behind = list(takewhile(_OF_WHICH.fullmatch, self.labels[at + 1 :]))
        if behind and not _OF_WHICH.fullmatch(label):
            yield behind
        if inside := [other for other in self.labels if self._indented.get(other) == label]:
            yield inside
        coded = self._coded(label)
        if len(coded) > 1 or (coded and not coded[0].isdigit()):
            yield coded
        spans = [other for other in self.labels if read_range(other)]
        is_word = not re.search(r"\d", label) and not _CATEGORY.fullmatch(label)
        if len(spans) > 1 and is_word:
            for size in range(1, len(spans) + 1):
                yield from (spans[k : k + size] for k in range(len(spans) - size + 1))

    def _may_hold(self, label: str, parts: Sequence[str]) -> bool:
        """Return whether no row contradicts that a label holds some others, and more people."""
        tops = {*self.labels} - {*parts}
        for row in self._rows:
            smallest, _ = self._sum(row, [part for part in parts if part in row])
            is_short = None in row and self._sum(row, tops)[1] < row[None][0]
            if row.get(label, _UNKNOWN)[1] < smallest or (is_short and not self._is_open):
                return False
        return True

    def _matters(self, label: str, parts: Sequence[str]) -> bool:
        """Return whether numbers of a label and some that it may hold are hidden, or tell few."""
        if not self._may_hold(label, parts):
            return False
        for row in self._rows:
            some = [part for part in parts if part in row]
            if label not in row or not some:
                continue
            (low, high), (smallest, largest) = row[label], self._sum(row, some)
            if low < high or smallest < largest or self._is_few(low - largest, high - smallest):
                return True
        return False

    def unread_overlaps(self) -> Iterator[Unaccounted]:
        """Yield a range that overlaps another one, though their numbers contradict it."""
        labels = [label for label in self.labels if label not in self._parts]
        overlapping = overlapping_ranges(read_ranges([labels]))
        if not overlapping:
            return
        for holders in cut_ranges(overlapping).values():
            if len(holders) > 1:
                text = f"about people whom `{visible(holders[0])}` counts, too"
                yield self._ask(holders[1], text, ["PART", "PART"])
                return

    def _has_hidden(self) -> bool:
        """Return whether a table has three labels or more, and hides a number of one."""
        labels = set(self.labels)
        ends = [end for row in self._rows for label, end in row.items() if label in labels]
        return len(self.labels) > 2 and any(low < high for low, high in ends)

    def ask_for_sum(self, label: str) -> Unaccounted:
        """Ask whether labels are groups of others, which no printed number excludes."""
        parts = self._parts_of(label) or [other for other in self._loose if other != label][:2]
        tree = self._partition() or dict.fromkeys(parts, label)
        ways = [
            self._tree_option(whole, [part for part in tree if tree[part] == whole])
            for whole in sorted(set(tree.values()))
        ]
        return Unaccounted(
            subject=f"dimension `{visible(self.name)}` of {visible(self.file)}",
            reason="Hidden numbers leave open whether some of its labels are groups of the others.",
            declaration=visible(
                f"{option_of('flat', self.name)}, or what holds what, such as {' and '.join(ways)}"
            ),
        )

    def _ask_for_total(self) -> Unaccounted:
        """Ask which label is the total, where no total of a dimension is printed."""
        weights = self._candidates()
        label = max(weights, key=weights.__getitem__, default=None)
        example = f", such as `{visible(label)}`" if label is not None else ""
        ways = [] if label is None else [option_of("total", label)]
        possible = (
            (candidate, parts)
            for candidate in self.labels
            for parts in self._possible(candidate, self.labels)
        )
        way = next(possible, None) or self._example()
        ways += [] if way is None else [self._tree_option(*way)]
        ways.append(option_of("flat", self.name))
        return Unaccounted(
            subject=f"dimension `{visible(self.name)}` of {visible(self.file)}",
            reason=f"No total is printed, unless one label is the sum of others{example}.",
            declaration=visible(", ".join(ways[:-1]) + " or " * (len(ways) > 1) + ways[-1]),
        )

    def _example(self) -> tuple[str, list[str]] | None:
        """Return a label and others that may be its parts; None: numbers exclude that."""
        label = self.possible_sum({})
        parts = [] if label is None else self._parts_of(label)
        return (label, parts) if label is not None and parts else None

    def _parts_of(self, label: str) -> list[str]:
        """Return some labels that may be the parts of a label; of too many none."""
        others = [other for other in self._loose if other != label]
        solved = self._solve_parts(label, others) if 1 < len(others) <= MOST_LABELS else None
        if solved is None or solved.x is None:
            return []
        return [other for other, share in zip(others, solved.x, strict=True) if share > 0.5]

    def _ask(self, label: str, what: str, parts: Sequence[str]) -> Unaccounted:
        return Unaccounted(
            subject=f"{_subject(label, self.name)} in {visible(self.file)}",
            reason=f"Its numbers may be {what}.",
            declaration=visible(f"{self._tree_option(label, parts)} or {option_of('part', label)}"),
        )
