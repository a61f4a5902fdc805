"""Small tables of people, drawn from one population."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def people():
    """Give a function that draws people: columns that depend on one another."""

    def draw(n, seed):
        rng = np.random.default_rng(seed)
        age = rng.integers(18, 60, n)
        job = rng.choice(["clerk", "cook", "nurse", "none"], n)
        town = rng.integers(0, 6, n)
        ill = np.where(rng.random(n) < 0.2 + (age > 40) * 0.4, "yes", "no")
        return pd.DataFrame({"age": age, "job": job, "town": town, "ill": ill})

    return draw
