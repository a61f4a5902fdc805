"""Numbers in fractions agree with those in floats, and are printed as fractions."""

from __future__ import annotations

import json
from fractions import Fraction as F

import pytest

from narcissus import channels as ch

ROWS = [["0.9", "0.1", "0"], ["0.8", "0.2", "0"], ["0.5", "0.5", "0"], ["0.5", "0.1", "0.4"]]


def test_it_is_what_floats_round():
    found, near = ch.exact_summary(ROWS), ch.analyse([[float(x) for x in row] for row in ROWS])
    told = near.to_dict()
    for key in "beta_star", "bayes_risk", "guessing_error", "beta", "capacity", "leakage":
        assert float(getattr(found, key)) == pytest.approx(told[key], rel=1e-14)
    assert (found.beta_star, found.pair) == (F(3, 5), ("s1", "s3"))  # the first of four
    assert json.loads(json.dumps(found.to_dict()))["beta_star"] == "3/5"
    assert "3/5 (0.6)" in str(found)


def test_a_prior_and_one_secret():
    assert ch.exact_summary(ROWS, ["1/2", "1/2", 0, 0]).guessing_error == F(1, 2)
    alone = ch.exact_summary([["1/3", "2/3"]])
    assert (alone.beta_star, alone.pair, alone.beta) == (1, (), None)
    assert "at the secrets" not in str(alone)
