"""What a statement says, and what it says where the package is wrong: some claim must fail then."""

from __future__ import annotations

import math

import pytest

from narcissus_papers import ITEMS, Given


@pytest.fixture
def failing():
    """Give the beginnings of the claims that fail; each must say why, or come of spoiled parts."""

    def found(number, paper="003"):
        made = ITEMS[f"{paper}/statement-{number.lower().replace(' ', '-')}"].make(Given())
        assert made.held
        assert not any(math.isnan(one.ours) for one in made.printed)
        return {one.what[:40]: one.because for one in made.held if not one.holds}

    return found


@pytest.fixture
def says(failing):
    """Hold a statement: it fails where the print is wrong, with a reason, and nowhere else."""

    def hold(number, *misprints, paper="003"):
        found = failing(number, paper)
        assert len(found) == len(misprints), (number, found)
        for beginning in misprints:
            assert any(what.startswith(beginning) for what in found), (number, found)
        assert all(found.values()), "a reason for each"

    return hold


_UNSPOILED: dict[str, set[str]] = {}


@pytest.fixture
def spoiled(failing):
    """Give the claims that fail only while something is wrong."""

    def found(monkeypatch, number, owner, name, wrong, paper="003"):
        if number not in _UNSPOILED:
            _UNSPOILED[number] = set(failing(number, paper))
        before = _UNSPOILED[number]
        right = getattr(owner, name)
        monkeypatch.setattr(owner, name, wrong(right))
        return set(failing(number, paper)) - before

    return found
