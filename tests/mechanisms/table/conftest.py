"""Small tables of people."""

import numpy as np
import pytest

from narcissus.mechanisms import Columns


@pytest.fixture
def columns():
    return Columns(
        names=("age", "job", "ill"),
        labels=(("young", "old, or so", 'very "old"'), ("cook", "1", "", "é\nà"), ("no", "yes")),
        ordered=(True, False, False),
        unknown=(2,),
    )


@pytest.fixture
def people(columns):
    rng = np.random.default_rng(7)
    return np.stack([rng.integers(size, size=60) for size in columns.sizes], 1).astype(np.int32)
