"""Grades, their weakest, and contradictions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.findings import Finding, contradictions, weakest
from narcissus.results import GRADES

LIMITS = st.none() | st.floats(0, 1)


def test_weakest_is_the_last_of_the_order() -> None:
    assert weakest(GRADES) == "not assessed"
    assert weakest(["proved"]) == "proved"
    assert weakest(["proved if", "proved"]) == "proved if"
    assert weakest(["sampled", "proved if"]) == "sampled"
    assert weakest(["approximate", "sampled"]) == "approximate"
    assert weakest([]) == "not assessed"


def test_unknown_grades_are_refused() -> None:
    with pytest.raises(InputError, match="no such grade"):
        weakest(["certain"])  # pyright: ignore[reportArgumentType]


def test_a_theorem_with_an_assumption_is_proved_if() -> None:
    assert Finding("x", "a theorem", high=0.5).grade == "proved"
    assert Finding("x", "a theorem", high=0.5, assumptions=("a",)).grade == "proved if"
    assert Finding("x", "a run", low=0.5, kind="sampled", assumptions=("a",)).grade == "sampled"


@given(st.lists(st.tuples(LIMITS, LIMITS, st.sampled_from(["a", "b"])), max_size=6))
def test_contradictions_are_exactly_the_pairs_that_cannot_hold(
    given_limits: list[tuple[float | None, float | None, str]],
) -> None:
    findings = [
        Finding(q, f"s{i}", low=low, high=high) for i, (low, high, q) in enumerate(given_limits)
    ]
    pairs = {(c.above.source, c.below.source) for c in contradictions(findings)}
    for one in findings:
        for other in findings:
            if one is other or one.quantity != other.quantity:
                continue
            clash = one.low is not None and other.high is not None and one.low > other.high + 1e-9
            assert clash == ((one.source, other.source) in pairs)


def test_a_contradiction_names_what_it_refutes() -> None:
    bound = Finding("share", "a theorem", high=0.5, assumptions=("the prior is right",))
    attack = Finding("share", "the attack `copy`", low=0.9, kind="sampled", confidence=0.95)
    (found,) = contradictions([attack, bound])
    assert found.refuted == ("the prior is right",)
    assert found.grade == "sampled"
    assert str(found) == (
        "Refuted: that the prior is right (share: at least 90% by the attack `copy`, but at most "
        "50% by a theorem)."
    )
    bare = Finding("share", "a theorem", high=0.5)
    (found,) = contradictions([attack, bare])
    assert "false alarm (chance at most 0.05) or an error" in str(found)
