"""Definitions of 001: each claim holds but the one that the paper misprints."""

from __future__ import annotations

import pytest

from narcissus_papers import Given
from narcissus_papers.swanberg import definitions
from narcissus_papers.swanberg.definitions import DEFINITIONS

AGREE = [one for one in DEFINITIONS if one.number != "Definition 4.1"]


@pytest.mark.states("Swanberg et al. 2025", "Definition 2.1", "Definition 2.2", "Definition 3.1")
@pytest.mark.states("Swanberg et al. 2025", "Definition A.1", "Definition A.2")
@pytest.mark.parametrize("item", AGREE, ids=[one.number for one in AGREE])
def test_a_definition_is_what_it_says(item):
    made = item.make(Given())
    assert (made.verdict, made.shown) == ("agrees", "checked"), made.because


@pytest.mark.states("Swanberg et al. 2025", "Definition 4.1")
def test_the_comparison_holds_and_its_print_lacks_one():
    [one] = [one for one in DEFINITIONS if one.number == "Definition 4.1"]
    made = one.make(Given())
    assert [claim.holds for claim in made.held] == [True, False]
    assert "leaves out the -1" in made.because


def test_a_wrong_mechanism_is_seen(monkeypatch):
    """A profile that promises less, and noise that is too small, make the claims fail."""
    [noisy] = [one for one in DEFINITIONS if one.number == "Definition A.2"]
    right = definitions.GaussianNoise.guarantee
    monkeypatch.setattr(
        definitions.GaussianNoise, "guarantee", lambda self, tables: right(self, 2 * tables)
    )
    assert noisy.make(Given()).verdict == "differs"
