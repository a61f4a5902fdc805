"""How a file writes equal values: what reading merges, as a separate column.

Reading takes "NA" and an empty cell for the same, as it does "12" and "12.0", or "Bonn" with and
without a blank behind it. Where two sources were joined, the spelling tells from which one a row
is, and so perhaps the secret.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from narcissus.tables.tally import RawColumn


def spelling_of(column: RawColumn, meanings: NDArray[np.integer]) -> RawColumn | None:
    """Return how a column is written, where a value is written in several ways; else None.

    column: As the file writes it. meanings: Codes of what is read in its rows, shape (rows,).

    Each cell becomes a text without blanks: its place among the spellings of its value, shortest
    first, and how it is written, with blanks and letters beyond ASCII shown by their numbers.
    """
    size = len(column.distinct)
    keys = np.asarray(meanings, dtype=np.int64) * size + column.codes
    pairs, rows = np.unique(keys, return_inverse=True)
    if len(pairs) == len(np.unique(meanings)):
        return None
    texts = [_visible(column.distinct[code]) for code in (pairs % size).tolist()]
    values = (pairs // size).tolist()
    spellings = [""] * len(pairs)
    places: Counter[int] = Counter()
    for at in sorted(range(len(pairs)), key=lambda at: (len(texts[at]), texts[at])):
        spellings[at] = f"{places[values[at]]}:{texts[at]}"
        places[values[at]] += 1
    return RawColumn(f"how `{column.name}` is written", spellings, np.ravel(rows))


def _visible(value: object) -> str:
    return str(value).encode("unicode_escape").decode("ascii").replace(" ", "\\x20")
