"""Exact chances by enumeration of a small world."""

import numpy as np
import pytest


@pytest.fixture
def enumerated():
    """Give a function: the chance that each attempt holds for a data set, from all of them."""

    def chances(relation, world, attempts):
        written, rng = world.enumerate(), np.random.default_rng(0)
        law = written.weight @ written.sample
        count = len(written.data)
        return [
            float(law @ relation.holds(written.data, np.repeat(attempts[[i]], count, axis=0), rng))
            for i in range(len(attempts))
        ]

    return chances
