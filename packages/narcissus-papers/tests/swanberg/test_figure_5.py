"""Figure 5 of 001: over epsilon, and all of it without noise."""

from __future__ import annotations

import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg.figure_5 import EPSILONS, PIECES

ITEM = ITEMS["001/figure-5"]


@pytest.mark.states("Swanberg et al. 2025", "Figure 5")
def test_claims_follow_the_answers(answer, held):
    shares = [0.3 + 0.08 * place for place in range(len(EPSILONS))]
    rising = {
        f"{source}/{epsilon:g}": answer(posterior=share, rap=1.0 if epsilon > 99 else 0.4, mean=1.0)
        for source in ("acs", "fire")
        for epsilon, share in zip(EPSILONS, shares, strict=True)
    }
    assert rising.keys() == PIECES.keys()
    made = ITEM.make(Given(rising))
    assert made.verdict == "agrees"
    assert [panel.names[-1] for panel in made.panels] == ["inf", "inf"]
    falling = {**rising, "acs/10": answer(posterior=0.1, mean=1.0)}
    assert not held(ITEM.make(Given(falling)), "the more epsilon")
    short = {**rising, "fire/inf": answer(posterior=0.9, rap=0.97, mean=1.0)}
    made = ITEM.make(Given(short))
    assert not held(made, "recovers everybody")
    assert "97.0 of 100 of ALS Unit" in made.because


@pytest.mark.nightly
def test_made_again_at_length():
    made = ITEM.make(Given({name: piece(Given()) for name, piece in PIECES.items()}))
    assert all(one.holds for one in made.held if "recovers everybody" not in one.what)
    at = {line.label: line.y for line in made.panels[0].lines}
    for level in (5, 50, 95):
        pairs = zip(at[f"ours, {level}%"], at[f"Corollary 3.4, {level}%"], strict=True)
        assert all(own <= theirs for own, theirs in pairs)
