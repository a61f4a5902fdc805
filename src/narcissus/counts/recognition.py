"""Whether a file holds published counts, rather than a row for each person."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from math import prod
from pathlib import Path

from narcissus.counts.marks import Rules, label_of
from narcissus.counts.reading import is_count_name, read_rows
from narcissus.errors import InputError

LARGEST = 2**22
"""Bytes of a file above which nobody publishes counts in one."""
SHORTEST = 3
"""Letters of a label that is a total by its name alone: T may be an answer."""
BULK = "\\"
"""Stands in a header between dimensions of rows and the one of columns."""
ALL_OF = re.compile(r"(all|alle|tous les|toutes les|todos los|todas las) \w", re.IGNORECASE)
"""How the total of a dimension begins that is named after it: "All wards"."""
DENSE = 0.5
"""Share of all combinations of labels that are in a table of which one column is `count`."""


def holds_counts(path: Path) -> bool:
    """Return whether a file is a table of published counts, by its labels.

    No combination of its labels is twice; and one of them is a total, or a column is called
    count and most combinations are there. A file that is no table of text or sheet is none.
    """
    if os.path.getsize(path) > LARGEST:
        return False
    try:
        header, rows, *_ = read_rows(path)
    except (InputError, UnicodeError):
        return False
    rules = Rules()
    texts = [cells for _, cells in rows]
    labels = [
        at
        for at in range(len(header))
        if not all(rules.is_value(cells[at]) for cells in texts if cells[at])
    ]
    counts = [at for at, name in enumerate(header) if is_count_name(name)]
    if counts:  # and any other column may hold codes, but for those with decimals
        labels = [
            at
            for at in range(len(header))
            if at not in counts and (at in labels or not any("." in cells[at] for cells in texts))
        ]
    if not labels or len(labels) == len(header) or not _differ(texts, labels):
        return False
    if any(BULK in name for name in header):
        return True
    # a column that names each row says itself whether one of them is the total
    naming = [at for at in labels if _differ(texts, [at])] or labels
    named = {label_of(cells[at]) for cells in texts for at in naming}
    named |= {header[at] for at in range(len(header)) if at not in labels}
    if any(
        ALL_OF.match(name) or (len(name) >= SHORTEST and rules.is_total(name)) for name in named
    ):
        return True
    combinations = prod(len({cells[at] for cells in texts}) for at in labels)
    return bool(counts) and len(texts) >= DENSE * combinations


def _differ(rows: Sequence[Sequence[str]], columns: Sequence[int]) -> bool:
    """Return whether no two rows have the same cells in all of these columns."""
    return len({tuple(cells[at] for at in columns) for cells in rows}) == len(rows)
