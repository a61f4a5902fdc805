"""Verdicts in words, and what stays open."""

import pytest

import narcissus
from narcissus.study.secrets.words import assessed, not_assessed, overall, refuted_words


@pytest.fixture(scope="module")
def results():
    study = {
        "kind": "secrets",
        "prior": {"name": "uniform", "n": 4},
        "mechanism": {"name": "ngram-dp-sgd", "epsilon": [0.1, 8.0, float("inf")], "steps": 3},
        "attacks": {"argmax": {}},
        "threshold": {"success": 0.4},
        "run": {"models": 400, "seed": 3},
    }
    return narcissus.run(narcissus.load_study(study)).record.results


def test_the_worst_setting_speaks(results):
    status, grade, words = overall(results)
    assert (status, grade) == ("exceeded", "sampled")
    assert "epsilon inf: argmax names at least" in words
    assert words.endswith("in 2 of 3 settings.")
    assert "40.0% is accepted" in words


def test_what_is_met_is_said_of_every_attacker(results):
    met = results.settings[0]
    assert (met.status, met.grade) == ("met", "proved")
    assert met.verdict.startswith("No attacker names more than 2")


def test_what_stays_open(results):
    [remark] = not_assessed(results)
    assert "epsilon inf" in remark.quantity
    assert "guarantees nothing" in remark.reason
    assert any("one-target" in s or "theory 4.6" in s for s in assessed(results))


def test_what_is_refuted(results):
    assert refuted_words(results.settings).startswith("argmax refutes every epsilon below")
    assert refuted_words(results.settings[:1]) == "No epsilon is refuted."
