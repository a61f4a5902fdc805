"""Extraction in a language where every complexity is known."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.profiles import WrittenOut
from narcissus_papers.cohen import complexity


@pytest.mark.states("Cohen et al. 2024", "Definition 1.10", "Definition 1.12", "Definition 1.13",
                    "Definition 3.1", "Lemma 3.2", "Definition D.1", "Definition D.2",
                    "Definition D.3", "Definition D.7", "Definition D.8", "Claim D.9")  # fmt: skip
def test_all_claims_hold_but_for_a_note(says):
    for item in complexity.COMPLEXITY:
        if item.number == "Definition D.3":
            says(item.number, "a set is as complex as its simplest")
        else:
            says(item.number)


def test_extractors_of_one_string_by_hand():
    """011010 given as it is: 110 copies it, 3 bits for 7, quality 4/7 and 4 bits of information."""
    enough = complexity.table("011010")[:, complexity.STRINGS.index("011010")] >= 2 / 3
    found = {p for p, right in zip(complexity.PROGRAMS, enough, strict=True) if right}
    assert found == {"0011010", "110", "1001101"}  # as it stands, copied, 01101 again and again
    assert complexity.complexity("011010", 0) - complexity.complexity("011010", 0, "011010") == 4


WRONG = [
    ("Definition 1.10", complexity, "outputs", lambda _f: lambda *_: {}),
    ("Definition 1.12", complexity, "shortest", lambda f: lambda *a: f(*a) + 1),
    ("Definition D.2", complexity, "complexity",
     lambda f: lambda x, r, given=None: f(x, r) + (given is not None)),
    ("Claim D.9", complexity, "complexity",
     lambda f: lambda x, r, given=None: f(x, r) if given is None else f(x, r, given) + 1),
    ("Definition 3.1", complexity, "complexity", lambda f: lambda *a: f(*a) + 2),
    ("Lemma 3.2", WrittenOut, "delta", lambda f: lambda *a: 0.9 * f(*a)),
]  # fmt: skip


@pytest.mark.parametrize(("number", "owner", "name", "wrong"), WRONG)
def test_a_claim_fails_where_something_is_wrong(spoiled, monkeypatch, number, owner, name, wrong):
    assert spoiled(monkeypatch, number, owner, name, wrong)


def test_sets_are_no_more_complex_than_members(spoiled, monkeypatch):
    def wrong(right):
        return lambda members, *a: right(members, *a) + len(list(members)) // 7

    assert spoiled(monkeypatch, "Definition D.3", complexity, "shortest", wrong)


def test_an_attempt_that_names_another_release_counts_for_that_one():
    """R_ext takes the pair as it is: the string itself, named as the release, is copied."""
    game, relation, _ = complexity.evidence_of("the string", 0.1, 0)
    named, copy = relation.releases.index("011010"), complexity.PROGRAMS.index("110")
    pair = np.array([named * len(complexity.PROGRAMS) + copy])
    for k, x in enumerate(complexity.STRINGS):
        holds = relation.holds(np.array([[k]]), pair, np.random.default_rng(0))
        assert bool(holds[0]) == (x == "011010")
    assert set(game.relation.guesses(None)) >= set(pair)
