"""A small data frame, and audits of it that are played once."""

import random

import pandas as pd
import pytest

import narcissus


def people(rows=400, seed=1):
    """Rows with dependent columns: what is known says something about what is not."""
    chance = random.Random(seed)
    found = []
    for _ in range(rows):
        age = chance.randint(1, 5)
        job = chance.choice(["clerk", "cook", "none"] if age < 4 else ["none", "clerk"])
        ill = "yes" if chance.random() < 0.15 * age else "no"
        income = chance.randint(0, 3) * 10 + (20 if job == "clerk" else 0)
        found.append((age, job, ill, income))
    return pd.DataFrame(found, columns=["age", "job", "ill", "income"])


QUICK = {"unknown": ["ill"], "k": 2, "targets": 12, "trials": 4, "workers": 1, "rng": 3}


@pytest.fixture(scope="session")
def frame():
    return people()


@pytest.fixture(scope="session")
def quick(frame):
    """Give a function that audits the frame; each argument replaces or joins the quick ones."""
    return lambda data=frame, **more: narcissus.audit(data, **{"epsilon": 2.0, **QUICK, **more})


@pytest.fixture(scope="session")
def sweep(frame):
    """A sweep with a threshold, groups and two unknown columns."""
    return narcissus.audit(
        frame,
        **QUICK | {"unknown": ["ill", "age"]},
        epsilon=[1, float("inf")],
        groups=["job"],
        threshold={"advantage": 0.2, "at": 1},
    )
