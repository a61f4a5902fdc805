"""All bounds for one threat: the table and the picture."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import THEOREMS, best, compare, threat
from narcissus.guarantees import ApproximateDP, GaussianDP


def test_the_picture_against_the_prior_means_the_same_success():
    guarantee = GaussianDP(1.0)
    for exact, tight in [(True, 0.6915), (False, 0.7931)]:
        found = compare(threat(prior=0.5, exact_match=exact), guarantee)
        assert found.best.value == pytest.approx(tight, abs=1e-4)
        grid, lines = found._against_prior()
        assert best(lines[int(np.abs(grid - 0.5).argmin())]).value == pytest.approx(tight, abs=1e-2)


def test_the_table_puts_the_tightest_first_and_what_does_not_hold_last():
    found = compare(threat(prior=0.5, targets=3), ApproximateDP(0.1, 0.01), 1)
    frame = found.to_frame()
    good = frame[frame["valid"]]
    assert good["value"].is_monotonic_increasing
    assert good["bound"].iloc[0] == found.best.theorem
    assert not frame["valid"].iloc[len(good) :].any()
    assert str(found).count("not a bound") == len(frame) - len(good) == 3


def test_lines_differ_by_theorem_and_are_dashed_where_it_does_not_hold():
    axes = compare(threat(prior=0.5, targets=3), ApproximateDP(0.1, 0.01), 1).plot()
    lines = {line.get_label(): line for line in axes.get_lines()}
    invalid = THEOREMS["swanberg-3.5"].statement + " (not a bound)"
    assert lines[invalid].get_linestyle() == "--"
    assert lines[THEOREMS["swap"].statement].get_linestyle() == "-"
    named = [line for label, line in lines.items() if not label.startswith("_")]
    assert len({line.get_color() for line in named}) == len(named)
