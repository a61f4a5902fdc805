"""Measures in fractions are what counting gives, and what floats round."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import TooLargeError

from .conftest import refused

THIRDS = [["1/3", "2/3"], ["1/2", "1/2"], ["1", "0"]]


@pytest.fixture(autouse=True)
def _values(monkeypatch):
    """Let messages quote cells, so that a test can see which."""
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")


def random_rows(rng, n, m, most=9):
    counts = rng.integers(0, most, (n, m)) + np.eye(n, m, dtype=int)
    return [[F(int(v), int(row.sum())) for v in row] for row in counts]


def test_values_by_hand():
    c = ch.rational_channel(THIRDS, secrets=["x", "y", "z"])
    assert c.beta_star() == (F(1, 3), ("x", "z"))
    assert c.bayes_vulnerability() == F(5, 9)
    assert c.bayes_risk(["1/2", "1/2", 0]) == F(5, 12)
    assert c.capacity() == F(5, 3)
    assert c.g_vulnerability(np.eye(3, dtype=int)) == F(5, 9)
    assert c.g_leakage(
        [[1, 0, 0], [0, "1/2", 0], [0, 0, 2]], {"x": "1/4", "y": "1/4", "z": ".5"}
    ) == (F(1) + F(1, 6))


@pytest.mark.parametrize("seed", range(6))
def test_floats_round_the_fractions(seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 5, 4)
    exact, near = ch.rational_channel(rows), ch.channel(rows)
    prior = [F(int(v), 20) for v in (2, 4, 6, 7, 1)]
    gain = [[F(int(v), 7) for v in row] for row in rng.integers(0, 8, (3, 5))]
    floats = np.array(gain, dtype=float)
    weights = np.array(prior, dtype=float)
    assert float(exact.beta_star()[0]) == pytest.approx(ch.beta_star(near).value, abs=1e-15)
    for ours, theirs in (
        (exact.bayes_risk(prior), ch.bayes_risk(near, weights)),
        (exact.capacity(), ch.capacity(near)),
        (exact.g_vulnerability(gain, prior), ch.g_vulnerability(near, floats, weights)),
        (exact.g_leakage(gain, prior), ch.g_leakage(near, floats, weights)),
    ):
        assert float(ours) == pytest.approx(theirs, rel=1e-14)
    assert np.array_equal(exact.channel().dense, near.dense)


@pytest.mark.parametrize("seed", range(3))
def test_qif_says_the_same_in_fractions(seed, qif):
    rows = random_rows(np.random.default_rng(seed), 4, 3)
    exact, theirs = ch.rational_channel(rows), np.array(rows, dtype=object)
    prior = [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]
    vulnerability = qif.measure.bayes_vuln
    assert exact.bayes_vulnerability(prior) == vulnerability.posterior(
        np.array(prior, dtype=object), theirs
    )
    assert exact.capacity() == vulnerability.mult_capacity(theirs)


def test_numbers_are_what_they_say():
    for given in ([["0.1", "0.9"]], [[Decimal("0.1"), Decimal("0.9")]], [[F(1, 10), F(9, 10)]]):
        assert ch.rational_channel(given).rows == ((F(1, 10), F(9, 10)),)
    assert ch.rational_channel(np.array([[0.25, 0.75]], dtype=np.float32)).rows[0][0] == F(1, 4)
    assert ch.rational_channel(np.eye(2, dtype=np.int8)).capacity() == 2
    assert ch.rational_channel(ch.channel(np.eye(2), secrets="ab")).secrets == ("a", "b")
    assert ch.rational_channel([[1]]).beta_star() == (1, ())


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.1, 0.9]], "exactly 1; write fractions as texts"),
        ([["1/3", "1/3"]], "sums to 2/3 and not to exactly 1"),
        ([["1/0", "1"]], "'1/0' is no fraction"),
        ([["x", "1"]], "'x' is no fraction"),
        ([["1e-999999999", "1"]], "'1e-999999999' is no fraction"),
        ([["inf", "1"]], "'inf' is no fraction"),
        ([[float("nan"), 1]], "nan is no fraction"),
        ([["-1/3", "4/3"]], "entry -1/3, below 0"),
        ([["1"], ["1/2", "1/2"]], "all as long"),
        ([], "a row per secret"),
    ],
)
def test_what_is_no_channel_of_fractions_is_refused(matrix, says):
    refused(says, ch.rational_channel, matrix)


def test_priors_gains_and_sizes_are_checked(monkeypatch):
    c = ch.rational_channel(THIRDS)
    refused("sum to exactly 1, got 3 that sum to 1/2", c.bayes_risk, ["1/4", "1/4", 0])
    refused("must name the secrets s1, s2, s3", c.bayes_risk, {"x": 1})
    refused("column per secret", c.g_vulnerability, [[1, 2]])
    refused("above 0", c.g_leakage, [[0, 0, -1]])
    monkeypatch.setattr(sys.modules["narcissus.channels.channel"], "MOST_STEPS", 5)
    refused("6 fractions", c.beta_star, error=TooLargeError)


def test_files_in_fractions(tmp_path):
    (tmp_path / "c.csv").write_text("secret,a,b\nx,1/3,2/3\ny,0.1,0.9\n")
    exact = ch.read_rational(tmp_path / "c.csv")
    assert exact.rows == ((F(1, 3), F(2, 3)), (F(1, 10), F(9, 10)))
    assert (exact.secrets, exact.outputs) == (("x", "y"), ("a", "b"))
    assert ch.read_channel(tmp_path / "c.csv").dense[0, 0] == 1 / 3
    (tmp_path / "p.csv").write_text("x,1/3\ny,2/3\n")
    assert ch.read_rational_prior(tmp_path / "p.csv") == {"x": F(1, 3), "y": F(2, 3)}
    assert ch.read_prior(tmp_path / "p.csv") == {"x": 1 / 3, "y": 2 / 3}
    np.save(tmp_path / "c.npy", [[0.25, 0.75]])
    assert ch.read_rational(tmp_path / "c.npy").rows == ((F(1, 4), F(3, 4)),)
    for text, says in (("x,1/0,1\n", "'1/0' is no fraction"), ("x,1/3,1/3\n", "sums to 2/3")):
        (tmp_path / "b.csv").write_text("secret,a,b\n" + text)
        refused(rf"b\.csv: .*{says}", ch.read_rational, tmp_path / "b.csv")
    (tmp_path / "p.csv").write_text("x,1/3\ny,oh\n")
    refused(r"p\.csv: 'oh' is no fraction", ch.read_rational_prior, tmp_path / "p.csv")


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
