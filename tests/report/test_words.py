"""Words that need a definition: which are found in a text, and what is said of them."""

import re

import pytest

from narcissus.report.format import GRADES
from narcissus.report.words import MEANINGS, meaning_of, words_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ceiling, for any attacker", {"Ceiling": "ceiling"}),
        ("the attackers' own baselines", {"baselines": "baseline"}),
        ("95% limits; what limits it", {"limits": "limits"}),
        ("at ε = 1, 2 points", {"ε": "epsilon", "points": "points"}),
        ("side channels, points of a curve, non-negative gain, e^epsilon, DP-SGD, `posterior`", {}),
        ("channels and canaries", {"channels": "channel", "canaries": "canary"}),
        ("unmarginals", {}),
    ],
)
def test_words_are_found_where_they_mean_what_is_said(text, found):
    assert {text[a:b]: entry for a, b, entry in words_in(text)} == found


def test_every_entry_is_found_under_its_own_name_and_has_one_meaning():
    for entry in MEANINGS:
        text = f"1 {entry}" if entry == "points" else f"its {entry}"
        assert [found for *_, found in words_in(text)] == [entry]
        assert meaning_of(entry) == MEANINGS[entry]
    assert not set(MEANINGS) & set(GRADES)
    assert meaning_of("sampled") == GRADES["sampled"]


def test_no_meaning_is_a_sentence_or_explains_a_word_by_itself():
    for entry, meaning in MEANINGS.items():
        assert not meaning.endswith(".")
        assert not re.match(rf"(the |an? )?{re.escape(entry)}\b", meaning, re.IGNORECASE)
