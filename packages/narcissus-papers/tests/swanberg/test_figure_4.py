"""Figure 4 of 001: every column of both tables, and what the text says of them."""

from __future__ import annotations

import pickle

import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg.figure_4 import EPSILON, PIECES

ITEM = ITEMS["001/figure-4"]


def test_each_column_of_both_tables_has_a_piece():
    assert len(PIECES) == 16 + 10
    assert {piece.keywords["epsilon"] for piece in PIECES.values()} == {EPSILON}
    assert PIECES["acs/SEX"].keywords["unknown"] == ("SEX",)
    assert pickle.loads(pickle.dumps(PIECES)).keys() == PIECES.keys()


@pytest.mark.states("Swanberg et al. 2025", "Figure 4")
def test_claims_follow_the_answers(answer, held):
    answers = {name: answer() for name in PIECES}
    made = ITEM.make(Given(answers))
    assert [len(panel.names) for panel in made.panels] == [16, 10]
    assert held(made, "matches or exceeds")
    assert held(made, "1,000 steps")
    assert held(made, "at least 80")
    assert held(made, "posterior is nowhere")
    assert [one.ours for one in made.printed] == [0.5, 0.5, 0.9]
    answers["acs/SEX"] = answer(guess=0.56, rap=0.3, short=0.6, published=0.84)
    answers["acs/AGEP"] = answer(published=0.7)
    answers["fire/City"] = answer(published=0.7)
    made = ITEM.make(Given(answers))
    assert held(made, "matches or exceeds")  # the one with small steps
    assert not held(made, "1,000 steps")
    assert held(made, "at least 80")  # AGEP may be below, and FIRE is not spoken of
    prior, attack, bound = made.printed
    assert (prior.word, attack.word, bound.word) == ("agrees", "differs", "agrees")
    answers["acs/MAR"] = answer(published=0.7)
    answers["acs/MIL"] = answer(posterior=0.2, short=0.2)
    made = ITEM.make(Given(answers))
    assert not held(made, "at least 80")
    assert not held(made, "posterior is nowhere")
    assert not held(made, "matches or exceeds")
    assert "MAR" in made.because
