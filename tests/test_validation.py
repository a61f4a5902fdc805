"""Arguments are refused where they enter, with their name, their range and what was given."""

import math

import numpy as np
import pytest

from narcissus import _validation as check
from narcissus.errors import InputError


@pytest.mark.parametrize("value", [True, np.bool_(0), "1", None, math.nan, [1, 2], 10**400, 1j])
def test_what_is_no_number(value):
    with pytest.raises(InputError, match="`x` must be"):
        check.real("x", value)


@pytest.mark.parametrize(
    ("ends", "inside", "outside", "said"),
    [
        ({}, [0, 1, 0.5], [-1e-9, 1.1], r"\[0, 1\]"),
        ({"open_low": True}, [1e-9, 1], [0, -1, 2], r"\(0, 1\]"),
        ({"open_high": True}, [0, 0.999], [1, 2, -1], r"\[0, 1\)"),
        ({"open_low": True, "open_high": True}, [0.5], [0, 1], r"\(0, 1\)"),
    ],
)
def test_each_end_of_an_interval(ends, inside, outside, said):
    assert [check.between("x", value, 0, 1, **ends) for value in inside] == inside
    for value in outside:
        with pytest.raises(InputError, match=f"`x` must be in {said}, got"):
            check.between("x", value, 0, 1, **ends)


def test_probability_positive_and_non_negative():
    assert check.probability("p", 1) == 1
    assert check.positive("x", 1e-300) == 1e-300
    assert check.positive("x", math.inf, allow_infinite=True) == math.inf
    assert check.non_negative("x", 0) == 0
    assert check.non_negative("x", math.inf, allow_infinite=True) == math.inf
    for refuse, value, said in [
        (check.probability, 1.01, r"in \[0, 1\]"),
        (check.positive, 0, "above 0 and finite"),
        (check.positive, math.inf, "above 0 and finite"),
        (check.non_negative, -1e-300, "at least 0 and finite"),
        (check.non_negative, math.inf, "at least 0 and finite"),
    ]:
        with pytest.raises(InputError, match=f"`x` must be {said}"):
            refuse("x", value)


def test_whole_numbers():
    assert check.integer("n", 3.0) == 3
    assert type(check.integer("n", np.float64(3))) is int
    assert check.integer("n", 2**70) == 2**70
    assert check.integer("n", 2, low=2, high=2) == 2
    for value, limits, said in [
        (2.5, {}, "a whole number"),
        (math.inf, {}, "a whole number"),
        (1, {"low": 2}, "at least 2"),
        (3, {"high": 2}, "at most 2"),
        (0, {"low": 1, "high": 2}, "at least 1 and at most 2"),
    ]:
        with pytest.raises(InputError, match=f"`n` must be {said}, got"):
            check.integer("n", value, **limits)


def test_vectors_of_probabilities():
    assert check.probabilities("p", [[0, 1], [0.5, 0.5]]).shape == (2, 2)
    assert check.probabilities("p", 0.5).shape == ()
    with pytest.raises(InputError, match="at position 1, 0"):
        check.probabilities("p", [[0, 1], [1.5, 0.5]])
    with pytest.raises(InputError, match="probabilities in"):
        check.probabilities("p", [math.nan])
    with pytest.raises(InputError, match="must be numbers"):
        check.probabilities("p", ["a"])
    for values in ([], [[0.5]], 0.5):
        with pytest.raises(InputError, match="non-empty vector"):
            check.unit_vector("p", values)


def test_distributions_are_not_normalised():
    assert check.distribution("p", [0.5, 0.5 + 0.9e-9]).sum() > 1
    for values in ([0.5, 0.5 + 2e-9], [0.5, 0.5 - 2e-9], [0.2, 0.2]):
        with pytest.raises(InputError, match="must sum to 1 within 1e-09"):
            check.distribution("p", values)
    assert check.distribution("p", [0.5, 0.4], tolerance=0.2).sum() == pytest.approx(0.9)


def test_the_nearest_word():
    assert check.one_of("name", "laplace", ["laplace", "gaussian"]) == "laplace"
    with pytest.raises(InputError, match=r"one of laplace, gaussian; got 'gausian'; did you mean"):
        check.one_of("name", "gausian", ["laplace", "gaussian"])
    assert check.did_you_mean("zzz", ["laplace"]) == ""
    assert check.did_you_mean("lap", ["laplace", "gaussian"]) == "; did you mean `laplace`?"
    assert check.did_you_mean("agep", ["page", "AGEP"]) == "; did you mean `AGEP`?"


@pytest.mark.parametrize(
    ("function", "most", "takes"),
    [
        (lambda: 0, 3, 1),
        (lambda a, b: a, 3, 2),
        (lambda a, b=1: a, 3, 2),
        (lambda *a: a, 3, 3),
        (lambda a, b, c, d: a, 3, 3),
    ],
)
def test_how_many_arguments_a_function_takes(function, most, takes):
    assert check.arity(function, most) == takes


def test_fractions_and_vectors_of_the_same_trials():
    assert check.fraction("x", 1e-300) == 1e-300
    for value in (0, 1, -0.1, 1.1):
        with pytest.raises(InputError, match=r"`x` must be in \(0, 1\)"):
            check.fraction("x", value)
    check.same_trials(shares=np.zeros(3), others=np.ones(3))
    with pytest.raises(InputError, match=r"`shares` and `others` .* got 3 and 4 values"):
        check.same_trials(shares=np.zeros(3), others=np.ones(4))


def test_a_hint_never_names_the_word_itself_and_long_lists_are_cut():
    assert check.did_you_mean("sick", ["sick", "age"]) == ""
    assert check.did_you_mean("Sick", ["sick", "age"]) == "; did you mean `sick`?"
    assert check.some_of(["a", "b"]) == "a, b"
    assert check.some_of((f"c{i}" for i in range(20_000)), 2) == "c0, c1 and 19,998 more"


def test_names_that_come_again_are_listed_once_in_one_pass():
    assert check.repeated(["b", "a", "b", "a", "b", "c"]) == ["b", "a"]
    assert check.repeated([*range(200_000), 7]) == [7]
