"""Whether the letter case of labels, or blanks and quotes around them, follow hidden counts.

A label that looks the same in all its rows is simply written so: ``UK`` next to ``Norway``. But
labels in capitals where a count is odd tell the hidden counts next to them, as a flag would.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb

from narcissus._visible import visible

CHANCE = 0.02
"""Most probable coincidence of a rule and the looks of labels that waits for a declaration."""
CHANCE_OF_PARITY = 0.07
"""The same of whether counts are odd, which is the rule that is tried first."""
MOST_RESIDUES = 12
"""Divisors that are tried: whether looks follow what these leave."""


@dataclass(frozen=True)
class LabelledCount:
    """A count, and the label of one dimension that it is next to.

    Options
    -------
    label: without blanks and quotes around it.
    raw: with them.
    position: what tells counts of the same label apart, such as the labels of other dimensions.
    count: what is printed; None: it is hidden.
    """

    label: str
    raw: str
    position: object
    count: int | None


def list_label_looks(name: str, counts: Sequence[LabelledCount], mark: str) -> Iterator[str]:
    """Yield in which way the looks of a dimension's labels may tell hidden counts.

    name: of the dimension.
    counts: those that are printed exactly, and those that are hidden.
    mark: what is between cells; a label that has it in itself is quoted.
    """
    raws = {each.label: each.raw for each in counts}
    positions: dict[object, dict[str, int | None]] = {}
    for each in counts:
        positions.setdefault(each.position, {})[each.label] = each.count
    hiding = [some for some in positions.values() if None in some.values()]
    features = {
        "letter case": {label: look for label in raws if (look := _case(label))},
        "blanks or quotes": _find_surroundings(raws, mark),
    }
    for feature, looks in features.items():
        groups = _split_by_look(looks)
        if any(
            _tell_hidden(group, looks, printed, len(hiding) * len(groups))
            for group in groups
            for printed in hiding
        ):
            yield f"{feature} of labels of `{visible(name)}`, which may follow hidden counts"


def _case(label: str) -> str:
    """Return the letter case of a label that begins with a letter; empty: of another one."""
    if not label[:1].isalpha() or label.lower() == label.upper():
        return ""
    if label.isupper() or label.islower():
        return "capitals" if label.isupper() else "small letters"
    return "mixed" if re.search(r"[^\W\d_A-Z][A-Z]", label) or label[0].islower() else "plain"


def _find_surroundings(raws: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return blanks and quotes around each label; none where they make all equally wide."""
    if len({len(raw) for raw in raws.values()}) == 1 < len({len(label) for label in raws}):
        return {}
    plain = {label: raw for label, raw in raws.items() if not set(label) & {mark, '"', "\n"}}
    return {label: raw.replace(label, "|", 1) for label, raw in plain.items()}


def _split_by_look(looks: Mapping[str, str]) -> list[frozenset[str]]:
    """Return the labels of each look; of two looks, those of the rarer one."""
    groups = [
        frozenset(label for label, other in looks.items() if other == look)
        for look, _ in Counter(looks.values()).most_common()
    ]
    return groups[1:] if len(groups) == 2 else groups if len(groups) > 2 else []


def _tell_hidden(
    group: frozenset[str], looks: Mapping[str, str], counts: Mapping[str, int | None], tries: int
) -> bool:
    """Return whether labels of one look may tell hidden counts of one position.

    tries: positions and looks that are tried.
    """
    hidden = {label for label, count in counts.items() if count is None and label in looks}
    if group < hidden:
        return True
    printed = {
        label: count for label, count in counts.items() if count is not None and label in looks
    }
    return _follow_counts(group & set(printed), printed, tries)


def _follow_counts(chosen: Collection[str], counts: Mapping[str, int], tries: int) -> bool:
    """Return whether chosen labels follow from remainders or from the size of counts.

    The probability is that of as many labels chosen at random.
    """
    orders = comb(len(counts), len(chosen))
    for divisor in range(2, MOST_RESIDUES + 1):
        sizes = Counter(count % divisor for count in counts.values())
        inside = Counter(counts[label] % divisor for label in chosen)
        chance = CHANCE_OF_PARITY if divisor == 2 else CHANCE
        if all(sizes[residue] == size for residue, size in inside.items()):
            ways = _count_subsets(list(sizes.values()), len(chosen))
            if ways * tries <= chance * orders:
                return True
    ordered = [label in chosen for label in sorted(counts, key=lambda label: counts[label])]
    changes = sum(a != b for a, b in pairwise(ordered))
    return changes == 1 and 2 * tries <= CHANCE * orders


def _count_subsets(sizes: Sequence[int], total: int) -> int:
    """Return how many subsets of sizes have a total."""
    ways = [1] + [0] * total
    for size in sizes:
        for reached in range(total, size - 1, -1):
            ways[reached] += ways[reached - size]
    return ways[total]
