"""Extraction in a language where every complexity is known."""

from __future__ import annotations

import contextlib
import math
from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction import read_program, shortest_program
from narcissus.game import Game
from narcissus.mechanisms import Identity
from narcissus.profiles import WrittenOut
from narcissus_papers.cohen import complexity


@pytest.mark.states("Cohen et al. 2024", "Definition 1.10", "Definition 1.12", "Definition 1.13",
                    "Definition 3.1", "Lemma 3.2", "Definition D.1", "Definition D.2",
                    "Definition D.3", "Definition D.7", "Definition D.8", "Claim D.9")  # fmt: skip
def test_all_claims_hold_but_for_a_note(says):
    examples = [item.number for item in complexity.COMPLEXITY].index("Example D.4")
    for item in complexity.COMPLEXITY[:examples]:
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


@pytest.mark.states("Cohen et al. 2024", "Definition 3.1", "Lemma 3.2")
@pytest.mark.parametrize(("quality", "strings"), [(0.0, 64), (0.1, 62), (0.2, 0)])
def test_evidence_in_the_richer_language(quality, strings):
    """Of all programs of at most 13 bits, one holds where the shortest does: K is 16 at most."""
    _, relation, _ = complexity.evidence_of("the string", quality, 0, richer=True)
    held = relation.holds_for.reshape(64, 64, 64)
    assert sum(held[y, y, y] for y in range(64)) == strings
    texts, programs = [bytes(map(int, x)) for x in complexity.STRINGS], []
    for code in ("".join(bits) for size in range(10) for bits in product("01", repeat=size)):
        with contextlib.suppress(InputError):
            programs.append(read_program(code + "1111", symbol_bits=1))
    for y, program in product(range(0, 64, 9), programs):
        if (output := program.run(texts[y])) in texts:
            alone = len(shortest_program(output, symbol_bits=1).code)
            k = texts.index(output)
            assert (len(program.code) <= (1 - quality) * alone) <= held[y, k, k]


def test_programs_print_what_they_say():
    assert complexity.outputs("0101") == {"101": 1.0}
    assert complexity.outputs("100") == {"000000": 1.0}
    assert complexity.outputs("10011") == {"011011": 1.0}
    assert complexity.outputs("11001", "10") == {"1001": 1.0}
    assert complexity.outputs("111010110") == {"101100": 0.5, "101101": 0.5}
    assert complexity.outputs("10") == complexity.outputs("1111") == {}
    for program in complexity.PROGRAMS:
        assert sum(complexity.outputs(program, "01").values()) in {0.0, 1.0}


def test_the_table_holds_the_outputs():
    rows = complexity.table("011")
    for program, row in zip(complexity.PROGRAMS, rows, strict=True):
        by_hand = complexity.outputs(program, "011")
        assert row.tolist() == [by_hand.get(x, 0.0) for x in complexity.STRINGS]


@pytest.mark.states("Cohen et al. 2024", "Definition 1.12", "Definition D.1", "Definition D.2",
                    "Definition D.3")  # fmt: skip
def test_complexities_by_hand():
    assert complexity.shortest(["000000"]) == 3  # 100
    assert complexity.shortest(["011010"]) == 7  # as it stands
    assert complexity.shortest(["011010"], "0110") == 5  # 110, then 10
    assert complexity.shortest(complexity.STRINGS) == 3  # 100 again
    # coins hit 60 of 64, none of which has a program of four bits
    hard = [x for x in complexity.STRINGS if complexity.shortest([x]) >= 5]
    assert (len(hard), complexity.shortest(hard)) == (60, 4)
    # five in eight are not two in three
    assert complexity.shortest(hard[:40]) > 4


def test_a_ball_is_counted():
    assert [len(complexity.ball("010101", r)) for r in range(4)] == [1, 7, 22, 42]


@pytest.mark.states("Cohen et al. 2024", "Example D.4", "Example D.5", "Example D.6",
                    "Definition D.10", "Lemma D.11", "Algorithm D.12", "section D.4.2",
                    "footnote 8")  # fmt: skip
def test_all_claims_hold_but_for_misprints(says):
    says("Example D.4", "the chance is 3/4 for every d")
    for number in ("Example D.5", "Example D.6"):
        says(number, "it is (1 - o(1)) d/2, as printed")
    says("Definition D.10", "compared with d + l(d) uniform bits")
    says("Lemma D.11")
    says("section D.4.2")
    says("footnote 8", "the string of the footnote")


@pytest.mark.parametrize(("d", "share"), [(1, 0.5), (6, 0.5), (8, 0.25), (9, 0.25)])
def test_balls_are_counted(d, share):
    hits = sum(sum(x) <= share * d for x in product((0, 1), repeat=d))
    assert complexity.near(d, share) == pytest.approx(hits / 2**d)
    assert complexity.ball_bits(d, share) == pytest.approx(math.log2(hits))


def test_limits_hold_for_a_small_length_by_counting():
    """A covering of 8 bits by balls of radius 2 has 2^8 / 37 words at least."""
    low, high = complexity.sizes(8)
    assert 2**high >= 2**8 / 37
    assert low < high
    # one more in ten attempts at a string costs what ten times the output costs
    assert complexity.sizes(8, 10) == pytest.approx((low - math.log2(10), high))
    assert complexity.sizes(8, 1, 10) == pytest.approx((low - math.log2(10), high))


def again(right):
    """Give random data where a seed was asked for."""
    return lambda **given: right(**{**given, "pseudo_random": True})


WRONG_GUESSING = [
    ("Example D.4", "near", lambda f: lambda *a: 0.99 * f(*a)),
    ("Example D.5", "near", lambda f: lambda *a: 0.99 * f(*a)),
    ("Example D.6", "ball_bits", lambda f: lambda *a: 0.9 * f(*a)),
    ("Example D.5", "WRITTEN", lambda _v: (100, 200)),
    ("Lemma D.11", "self_extracting", lambda _f: lambda data, method: data),
    ("Lemma D.11", "prg_example", lambda f: lambda **g: f(**{**g, "length": 256})),
    (
        "Definition D.10",
        "write_out",
        lambda f: lambda game: f(Game(game.world, Identity(), game.relation)),
    ),
    ("footnote 8", "approximate_prg_example", lambda f: lambda **g: f(**{**g, "advantage": 0.08})),
]


@pytest.mark.parametrize(("number", "name", "wrong"), WRONG_GUESSING)
def test_a_claim_fails_where_something_is_wrong_of_guessing(
    spoiled, monkeypatch, number, name, wrong
):
    assert spoiled(monkeypatch, number, complexity, name, wrong)
