"""Figure 6 of 001: up to 13 and 7 unknown columns, all but three."""

from __future__ import annotations

import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg import figure_6
from narcissus_papers.swanberg.figure_6 import PIECES, SPLIT, first_columns, joined
from narcissus_papers.swanberg.tables import ACS

ITEM = ITEMS["001/figure-6"]


@pytest.fixture
def answers(answer):
    """Give answers of all pieces in which the prior falls."""
    attacks = dict(SPLIT)
    found = {}
    for key in PIECES:
        _, columns, name = key.split("/")
        share = 0.5 / int(columns)
        one = answer(guess=share, rap=share, short=share, posterior=share)
        kept = {*attacks[name], "guess", "mean", "published", "ours"}
        found[key] = {k: v for k, v in one.items() if k in kept}
    return found


@pytest.mark.states("Swanberg et al. 2025", "Figure 6")
def test_claims_follow_the_answers(answers, answer, held):
    made = ITEM.make(Given(answers))
    assert made.verdict == "agrees"
    assert [len(panel.lines[0].x) for panel in made.panels] == [13, 7]
    few = {**answers, "acs/5/prior": answer(guess=0.1, rap=0.5)}
    assert held(ITEM.make(Given(few)), "more than five")
    many = {**answers, "acs/6/prior": answer(guess=0.1, rap=0.5)}
    made = ITEM.make(Given(many))
    assert not held(made, "more than five")
    assert "acs/6" in made.because
    many = {**answers, "fire/7/prior": answer(guess=0.05, rap=0.05, short=0.5)}
    assert not held(ITEM.make(Given(many)), "more than five")
    rising = {**answers, "fire/7/posterior": answer(guess=0.6)}
    assert not held(ITEM.make(Given(rising)), "never easier")
    other = {**answers, "fire/3/posterior": answer(guess=0.1, published=0.7)}
    assert not held(ITEM.make(Given(other)), "roughly the same")


def test_what_was_played_of_the_same_releases_is_put_together(answers):
    found = joined(answers, "fire")
    assert list(found) == [1, 2, 3, 4, 5, 6, 7]
    assert {"rap", "short", "posterior", "guess", "ours"} <= set(found[3])


def test_a_piece_takes_the_first_columns_in_order(monkeypatch):
    seen = {}
    monkeypatch.setattr(figure_6, "attacked", lambda given, **asked: seen.update(asked))
    first_columns(Given(), source="acs", columns=4, attacks=("rap",), trials=2)
    assert seen["unknown"] == ACS.in_order(Given())[:4]
    assert seen["epsilon"] == 3.0
    assert PIECES["fire/7/prior"].keywords["columns"] == 7


@pytest.mark.states("Swanberg et al. 2025", "section 6.3")
def test_thirteen_columns_are_played_without_a_list():
    """One release of few people."""
    found = figure_6.attacked(
        Given(),
        source="acs",
        unknown=ACS.in_order(Given()),
        epsilon=3.0,
        trials=1,
        people=4,
        attacks=("short",),
    )
    assert 0 < found["guess"]["share"] < 0.1
    assert found["ours"]["0.95"] <= found["published"]["0.95"]
    assert 0 <= found["short"]["share"] <= 1
    assert "ceiling" not in found
