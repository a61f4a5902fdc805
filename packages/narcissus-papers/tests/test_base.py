"""A verdict is what its printed numbers say."""

from __future__ import annotations

import pytest

from narcissus_papers import Held, Line, Panel, Printed, Quote, Reproduced

QUOTE = Quote("0.24", "but 0.24 for the most probable canary", "section 5.3")
NEAR = Printed("a", QUOTE, 0.2376)
FAR = Printed("b", QUOTE, 0.1556, "another s")
FITTED = Printed("c", QUOTE, 0.2376, fitted="s was chosen")
UNSAID = Printed("d", None, 0.2320)


def test_one_number_that_differs_decides():
    assert (NEAR.word, FAR.word) == ("agrees", "differs")
    assert Reproduced(printed=(NEAR,)).verdict == "agrees"
    both = Reproduced(printed=(NEAR, FAR))
    assert both.verdict == "differs"
    assert both.because == "another s"
    unexplained = Reproduced(printed=(Printed("c", QUOTE, 2.0),))
    assert unexplained.because == "c: not explained"


def test_nothing_printed_is_no_agreement():
    made = Reproduced(cannot="curves and no numbers")
    assert made.verdict == "no number in print"
    assert made.because == "curves and no numbers"
    assert UNSAID.word == "no number in print"
    assert Reproduced(printed=(UNSAID,)).verdict == "no number in print"
    assert Reproduced(printed=(UNSAID, NEAR)).verdict == "agrees"


def test_what_a_constant_was_chosen_for_is_fitted_and_does_not_agree():
    assert FITTED.word == "fitted"
    made = Reproduced(printed=(NEAR, FITTED))
    assert (made.verdict, made.because) == ("fitted", "s was chosen")
    assert Reproduced(printed=(FITTED, FAR)).verdict == "differs"
    far = Printed("c", QUOTE, 0.30, "too far", fitted="s was chosen", noise=0.05)
    assert (far.word, far.reason) == ("differs", "too far")
    assert Printed("c", QUOTE, 0.28, fitted="s was chosen", noise=0.05).word == "fitted"
    assert Printed("c", QUOTE, 0.28, noise=0.05).word == "differs"  # only what is fitted has noise


@pytest.mark.parametrize(
    ("number", "words", "value", "within"),
    [
        ("0.24", "but 0.24 for", 0.24, 0.005),
        ("2.37", "0.25 and 2.37, respectively", 2.37, 0.005),
        ("38.0%", "rate of 38.0% and", 0.38, 0.0005),
        ("65%", "achieves 65% success", 0.65, 0.005),
        ("81", "reconstruct 81/100 users", 81.0, 0.5),
        ("2,458,285", "comprises 2,458,285 records", 2458285.0, 0.5),
        ("0.525", "is roughly 0.525", 0.525, 0.001),
        ("1.0", "bounds of 1.0.", 1.0, 0.05),
    ],
)
def test_a_number_is_as_exact_as_it_is_printed(number, words, value, within):
    quote = Quote(number, words, "section 1")
    assert (quote.value, quote.within) == (pytest.approx(value), pytest.approx(within))
    edge = Printed("x", quote, value + 0.999 * within)
    assert edge.word == "agrees"
    assert Printed("x", quote, value + 1.001 * within).word == "differs"
    assert Printed("x", quote, float("nan")).word == "differs"


@pytest.mark.parametrize(
    ("number", "words", "place"),
    [
        ("0.232", "a bound for the prior .1", "Figure 1"),  # nobody printed it
        ("0.24", "a bound of 0.245", "section 5.3"),
        ("24", "a bound of 0.24", "section 5.3"),
        ("65", "achieves 65% success", "section 6.2"),
        ("2,458", "comprises 2,458,285 records", "Appendix H"),
        ("0.24", "but 0.24 for the most", ""),
        ("", "", "Figure 3"),
    ],
)
def test_a_number_that_no_words_hold_is_refused(number, words, place):
    with pytest.raises(ValueError, match="is not in"):
        Quote(number, words, place)


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
