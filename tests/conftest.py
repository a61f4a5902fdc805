"""Fixtures shared by all tests: the tables that come with the examples."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[1] / "examples" / "data"


@pytest.fixture(scope="session")
def example_data():
    """Give a function from a file's name to its path among the tables of the examples."""

    def find(name: str) -> Path:
        path = DATA / name
        assert path.is_file(), path
        return path

    return find


@pytest.fixture(scope="session")
def within():
    """Tell whether a count is plausible: two-sided binomial, false alarm rate 1e-6."""
    from scipy import stats

    def check(successes: int, trials: int, rate: float) -> bool:
        low, high = stats.binom.ppf(5e-7, trials, rate), stats.binom.isf(5e-7, trials, rate)
        return bool(low <= successes <= high)

    return check
