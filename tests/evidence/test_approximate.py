"""Approximate limits: against SciPy's t and regression, graded approximate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import studentised_limits
from narcissus.results import Approximate


def test_without_a_control_it_is_students_t():
    values = np.random.default_rng(1).random(9)
    found = studentised_limits(values, confidence=0.9)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert isinstance(found, Approximate)
    assert found.grade == "approximate"
    assert (found.low, found.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_with_a_control_it_is_the_intercept_of_the_regression():
    rng = np.random.default_rng(2)
    luck = rng.normal(0.1, 0.3, 12)
    values = 0.4 + 0.7 * luck + rng.normal(0, 0.05, 12)
    found = studentised_limits(values, luck)
    theirs = stats.linregress(luck, values)
    reach = stats.t.isf(0.025, 10) * theirs.intercept_stderr
    assert found.value == pytest.approx(theirs.intercept)
    assert found.high - found.value == pytest.approx(reach)
    assert found.value - found.low == pytest.approx(reach)
    plain = studentised_limits(values)
    assert found.high - found.low < 0.5 * (plain.high - plain.low)


@pytest.mark.parametrize("alike", [0.0, 0.1, 1 / 3])
def test_a_control_that_does_not_vary_changes_nothing(alike):
    values = [0.1, 0.4, 0.2, 0.6]
    assert studentised_limits(values, np.full(4, alike)) == studentised_limits(values)


def test_bad_input_is_refused():
    for few in ([], [0.5]):
        with pytest.raises(InputError, match="at least 2"):
            studentised_limits(few)
    with pytest.raises(InputError, match="at least 3"):
        studentised_limits([0.5, 0.6], [0.1, 0.2])
    with pytest.raises(InputError, match="same trials"):
        studentised_limits([0.5, 0.6, 0.7], [0.1, 0.2, 0.3, 0.4])
    with pytest.raises(InputError, match="values"):
        studentised_limits([0.5, np.nan])
