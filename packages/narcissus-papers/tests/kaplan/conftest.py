"""What a statement of the paper says, and which of its claims fail."""

from __future__ import annotations

import pytest

from narcissus_papers import ITEMS, Given


@pytest.fixture
def failing():
    """Give the beginnings of the claims that fail of an item, and that each says why."""

    def found(name):
        made = ITEMS[f"004/{name}"].make(Given())
        assert made.held
        return {one.what[:30]: one.because for one in made.held if not one.holds}

    return found
