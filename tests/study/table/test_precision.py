"""A precision instead of a number of trials."""

import json

import pytest


def test_a_precision_chooses_the_trials_and_is_kept(study, narcissus):
    path = study(run={"trials": None, "precision": 8, "seed": 3}, threat={"targets": 40})
    code, out, err = narcissus("audit", path, "--json")
    assert code == 0, err
    result = json.loads(out)["results"]
    assert f"{result['trials']:,} trials for limits within 8 points" in err
    for found in [*result["attacks"].values(), result["ceiling"]]:
        assert found["share"] - found["low"] < 0.085
        assert found["high"] - found["share"] < 0.085
    _, again, _ = narcissus("audit", path, "--json", "--quiet", "--out", "again")
    assert json.loads(again)["digest"] == json.loads(out)["digest"]


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({"trials": 5, "precision": 1.0}, "give `trials` or `precision`, not both"),
        ({"trials": None, "precision": 0.001}, "ask for less precision"),
        ({"trials": None, "precision": 0.0}, "greater than 0"),
    ],
)
def test_a_precision_that_cannot_be_had_is_refused(study, narcissus, run, says):
    code, _, err = narcissus("audit", study(run=run), "--quiet")
    assert code == 2
    assert says in err
