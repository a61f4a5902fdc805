"""Groups of rows that appear in the file whole: households, classes, addresses.

A person of a household may be one of many with that age, sex and schooling, and be in the file by
coincidence. The people of one household together hardly are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from narcissus.synthetic.changes import CHANGED_ERROR, ChangedPeople, most_people
from narcissus.synthetic.column_sets import most_meeting
from narcissus.synthetic.copies import Views, copies_on
from narcissus.synthetic.full_files import PeopleTogether

GROUPED = "all rows of a group together"


def look_grouped(ways: Sequence[PeopleTogether], rng: np.random.Generator) -> ChangedPeople | None:
    """Return the groups whose rows all are in a group of the file, where these are too many.

    Groups that are like one another limit coincidences, as people do for rows: groups of another
    law are met no more often than cells of two groups, or of rows of the file alone, explain.
    """
    error = CHANGED_ERROR / (2 * max(1, len(ways)))
    counts: list[ChangedPeople] = []
    for way in ways:
        views = Views(way.files, rng)
        sides = way.files.rows("real"), way.files.rows("control")
        copies = copies_on(views, sides[0], range(len(views.fine)))
        if copies.standing > most_meeting(views, sides[0], error):
            counts.append(ChangedPeople.of(way.by, way.files.names, copies, views, sides))
    return most_people(counts)
