"""Figure 7 of 001: guesses that may be off."""

from __future__ import annotations

import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg.figure_7 import DISTANCES, PIECES

ITEM = ITEMS["001/figure-7"]


@pytest.mark.states("Swanberg et al. 2025", "Figure 7")
def test_claims_follow_the_answers(answer, held):
    rising = {
        f"{source}/{distance}": answer(guess=g, likeliest=g, rap=g, short=g, mean=1.0)
        for source, distances in DISTANCES.items()
        for distance in distances
        for g in [0.3 + distance / 50]
    }
    assert rising.keys() == PIECES.keys()
    assert PIECES["acs/2"].keywords["within"] == 2.0
    rising["acs/1"] = answer(
        guess=0.32, likeliest=0.3, rap=0.4, short=0.81, published=0.82, mean=1.0
    )
    made = ITEM.make(Given(rising))
    assert made.verdict == "agrees"
    assert list(made.panels[1].lines[0].x) == list(DISTANCES["fire"])
    falling = {**rising, "fire/10": answer(guess=0.1)}
    assert not held(ITEM.make(Given(falling)), "the more is allowed")
    below = {**rising, "fire/10": answer(guess=0.5, rap=0.2)}
    made = ITEM.make(Given(below))
    assert held(made, "better than the prior")  # the one with small steps
    assert not held(made, "1,000 steps")
    assert "at 1 of 19 distances" in made.because
    below = {**rising, "fire/10": answer(guess=0.5, short=0.2)}
    assert not held(ITEM.make(Given(below)), "better than the prior")


@pytest.mark.states("Swanberg et al. 2025", "Figure 7")
def test_the_attack_is_compared_with_the_likeliest_value_and_not_with_what_covers_most(
    answer, held
):
    """An attack that names likely values beats that prior, though another guess covers more."""
    found = {key: answer(guess=0.9, likeliest=0.3, rap=0.5, short=0.5, mean=1.0) for key in PIECES}
    made = ITEM.make(Given(found))
    assert held(made, "better than the prior")
    assert held(made, "1,000 steps")
    assert f"at {len(PIECES)} (small steps)" in " ".join(made.notes)
    labels = [line.label for line in made.panels[0].lines]
    assert "likeliest value, without the release" in labels
    worse = {key: answer(guess=0.9, likeliest=0.8, rap=0.5, short=0.5) for key in PIECES}
    made = ITEM.make(Given(worse))
    assert not held(made, "better than the prior")
    assert not held(made, "1,000 steps")
