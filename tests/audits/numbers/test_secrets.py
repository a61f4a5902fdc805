"""The numbers of secrets in long form."""

import math

import pytest

import narcissus


@pytest.fixture(scope="module")
def audit():
    return narcissus.run(
        narcissus.load_study(
            {
                "kind": "secrets",
                "prior": {"name": "uniform", "n": 4},
                "mechanism": {"name": "ngram-dp-sgd", "epsilon": [8.0, math.inf], "steps": 3},
                "attacks": {"argmax": {}},
                "run": {"models": 300, "seed": 3},
            }
        )
    )


def test_rows_are_the_numbers_of_the_record(audit):
    frame = audit.to_frame()
    noisy, plain = audit.record.results.settings
    at = frame[frame["epsilon"] == 8.0].set_index("quantity")
    assert at.loc["guess", "value"] == 0.25
    assert at.loc["success", "value"] == noisy.attacks[0].success.value
    assert at.loc["success", "low"] == noisy.attacks[0].success.low
    assert at.loc["bound", "high"] == noisy.bound.value
    assert at.loc["refuted epsilon", "low"] == noisy.attacks[0].refuted_epsilon
    assert at["grade"].to_dict() == {
        "guess": "proved", "success": "sampled", "refuted epsilon": "sampled", "bound": "proved",
    }  # fmt: skip
    without = frame[frame["epsilon"] == math.inf]
    assert "bound" not in set(without["quantity"])
    assert plain.attacks[0].success.value in set(without["value"])


def test_the_headline_names_attack_guess_and_bound(audit):
    said = repr(audit)
    assert "secrets: no threshold, sampled" in said
    assert "argmax names" in said
    assert "25.0% guessed without" in said
