"""The small language: outputs and complexities by hand."""

from __future__ import annotations

import pytest

from narcissus_papers.cohen import complexity


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
