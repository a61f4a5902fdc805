"""Fixtures shared by all tests: the development tables, skipped with the reason where absent."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def shared_data():
    """Give a function from a file's name to its path among the development tables."""

    def find(name: str) -> Path:
        path = SHARED / "data" / name
        if not path.exists():
            pytest.skip(f"development table {name} is not beside this checkout")
        return path

    return find
