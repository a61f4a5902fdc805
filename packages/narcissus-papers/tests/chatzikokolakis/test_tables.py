"""Tables I and II: every name exists, and what is said of three metrics holds."""

from __future__ import annotations

import re

import pytest

from narcissus import channels
from narcissus_papers import ITEMS, Given
from narcissus_papers.chatzikokolakis import tables


@pytest.mark.states("Chatzikokolakis et al. 2023", "Table I")
def test_every_symbol_is_something_here():
    made = ITEMS["002/table-i"].make(Given())
    assert made.verdict == "no number in print"
    named = [name for row in made.table[1:] for name in re.findall(r"`([\w.]+)`", str(row[2]))]
    assert len(named) >= 10
    for name in named:
        owner, _, inner = name.rpartition(".")
        if owner == "channels":
            assert hasattr(channels, inner)
        else:
            assert owner == "Channel"
            assert inner in channels.Channel.__annotations__ or hasattr(channels.Channel, inner)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Table II")
def test_metrics_are_what_the_table_says(failing):
    assert not failing("table-ii")
    assert len({len(row) for row in tables.METRICS}) == 1


@pytest.mark.parametrize(
    ("name", "how"), [("capacity", "up"), ("capacity", "down"), ("beta_star", "down")]
)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, name, how):
    spoil(name, how)
    assert failing("table-ii")
