"""Files on disk and a study of them; each argument replaces a section's keys."""

import numpy as np
import pandas as pd
import pytest

import narcissus


def some(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 60, n)
    ill = np.where(rng.random(n) < 0.2 + (age > 40) * 0.4, "yes", "no")
    job = rng.choice(["clerk", "cook", "nurse"], n)
    return pd.DataFrame({"age": age, "job": job, "town": rng.integers(0, 6, n), "ill": ill})


@pytest.fixture(scope="session")
def files():
    """Give the people of each file; `copied` is the real data itself."""
    return {"real": some(160, 1), "control": some(150, 2), "fresh": some(140, 3)}


@pytest.fixture(scope="session")
def play(files):
    """Give a function that audits one of the files."""

    def run(synthetic="real", *, control=True, unknown=("ill",), **arguments):
        return narcissus.audit_synthetic(
            files["real"],
            files[synthetic],
            control=files["control"] if control else None,
            unknown=list(unknown),
            rng=arguments.pop("rng", 1),
            **arguments,
        )

    return run
