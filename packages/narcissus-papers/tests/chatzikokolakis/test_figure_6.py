"""Figure 6 and the numbers of section VI: all agree to the digits printed."""

from __future__ import annotations

import pytest

from narcissus_papers import ITEMS, Given


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 6", "section VI")
@pytest.mark.parametrize(("part", "printed"), [("a", 4), ("b", 2), ("c", 3)])
def test_printed_numbers_agree(part, printed):
    made = ITEMS[f"002/figure-6{part}"].make(Given())
    assert made.verdict == "agrees"
    assert len(made.printed) == printed


@pytest.mark.parametrize(
    ("part", "kind"), [("a", "KaryRandomizedResponse"), ("b", "Laplace"), ("c", "Gaussian")]
)
def test_a_number_differs_where_the_package_is_wrong(failing, spoil, part, kind):
    spoil(f"{kind}.beta_star", "flip")
    # each printed number, and that the curves fall
    assert len(failing(f"figure-6{part}")) >= 3
