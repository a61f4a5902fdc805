"""A verdict is what its printed numbers say."""

from __future__ import annotations

from narcissus.reproduce import Held, Line, Panel, Printed, Reproduced

NEAR = Printed("a", 0.24, 0.2376, 0.005)
FAR = Printed("b", 0.24, 0.1556, 0.005, "another s")


def test_one_number_that_differs_decides():
    assert NEAR.agrees
    assert not FAR.agrees
    assert Reproduced(printed=(NEAR,)).verdict == "agrees"
    both = Reproduced(printed=(NEAR, FAR))
    assert both.verdict == "differs"
    assert both.because == "another s"
    unexplained = Reproduced(printed=(Printed("c", 1.0, 2.0, 0.1),))
    assert unexplained.because == "c: not explained"


def test_nothing_printed_cannot_be_compared():
    made = Reproduced(cannot="curves and no numbers")
    assert made.verdict == "cannot be compared"
    assert made.because == "curves and no numbers"


def test_the_data_are_the_points_of_all_curves():
    made = Reproduced(panels=(Panel("p", "x", "y", [Line("l", [1, 2], [3, 4])]),))
    assert made.rows == (("panel", "line", "x", "y"), ("p", "l", 1.0, 3.0), ("p", "l", 2.0, 4.0))
    table = (("name", "value"), ("a", 1.0))
    assert Reproduced(table=table).rows == table


def test_a_claim_is_shown_as_weakly_as_its_weakest_part():
    sure = Held("for all n", holds=True, shown="proved")
    sampled = Held("at n = 10", holds=True, shown="played")
    failed = Held("for all m", holds=False, shown="checked", because="fails at m = 3")
    assert Reproduced().shown is None
    made = Reproduced(held=(sure, sampled))
    assert (made.verdict, made.shown) == ("agrees", "played")
    assert made.because == "all 2 claims held (played)"
    assert Reproduced(held=(sure,)).shown == "proved"
    wrong = Reproduced(printed=(NEAR,), held=(sure, failed))
    assert (wrong.verdict, wrong.because) == ("differs", "fails at m = 3")
