"""`channel` with a guarantee: which direction is proved, and from which options."""

import json
import math

import pytest

from narcissus.cli.neighbours import NOTE


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (["--epsilon", 1], 2 / (1 + math.e)),
        (["--epsilon", 1, "--delta", 0.1], 1.8 / (1 + math.e)),
        (["--mu", 1], math.erfc(1 / math.sqrt(8))),
        (["--bayes-security", 0.3], 0.3),
        (["--epsilon", 0.5, "--adjacency", "add-remove"], 2 / (1 + math.e)),
    ],
)
def test_a_guarantee_is_a_lower_limit(narcissus, argv, value):
    code, out, _ = narcissus("channel", *argv, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["beta_star_at_least"] == pytest.approx(value)
    assert found["beta_star_at_most"] is None
    assert found["grade"] == "proved"
    assert found["tight"] == ("add-remove" not in argv)
    code, out, _ = narcissus("channel", *argv)
    assert "PROVED: beta* at least" in out
    assert NOTE in " ".join(out.split())


def test_files_of_accountants(narcissus, tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("epsilon,delta\n0,0.25\n1,0.01\n")
    found = json.loads(narcissus("channel", "--profile", curve, "--json")[1])
    assert found["beta_star_at_least"] == pytest.approx(0.75)
    losses = tmp_path / "losses.csv"
    losses.write_text("loss,probability\n1,0.731058578630005\n-1,0.268941421369995\n")
    found = json.loads(narcissus("channel", "--pld", losses, "--json")[1])
    assert found["beta_star_at_least"] == pytest.approx(2 / (1 + math.e))


def test_dp_sgd_has_both_sides(narcissus):
    pytest.importorskip("dp_accounting")
    spec = "noise=1,rate=1,steps=2,interval=0.001"
    found = json.loads(narcissus("channel", "--dp-sgd", spec, "--json")[1])
    truth = math.erfc(1)
    assert found["beta_star_at_least"] <= truth + 1e-9
    assert truth - 1e-9 <= found["beta_star_at_most"] <= truth * 1.01
    out = narcissus("channel", "--dp-sgd", spec)[1]
    assert "some two such data sets have beta* at most" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["c.csv", "--epsilon", 1], "`FILE` does not go with a guarantee"),
        (["--mu", 1, "--repeat", 3], "`--repeat` does not go with a guarantee"),
        (["--mu", 1, "--all"], "`--all` does not go with a guarantee"),
        (["--mu", 1, "--rho", 1], "exactly one guarantee"),
        (["--mu", -1], "`--mu`"),
        (["--delta", 0.1], "`--delta` goes with `--epsilon`"),
        (["--dp-sgd", "noise=1,rate=1"], "lacks steps"),
        (["--profile", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_guarantees(narcissus, argv, words):
    code, out, err = narcissus("channel", *argv)
    assert code == 2
    assert words in err
    assert out == ""


def test_neighbours_are_those_of_the_question(narcissus):
    def found(*more):
        return json.loads(narcissus("channel", "--mu", 1, *more, "--json")[1])

    both = found("--adjacency", "add-remove")
    value = found("--adjacency", "add-remove", "--secret", "value")
    inside = found("--adjacency", "add-remove", "--secret", "membership")
    assert both.pop("membership") == inside
    assert both == value
    assert inside["beta_star_at_least"] == pytest.approx(math.erfc(1 / math.sqrt(8)))
    assert value["beta_star_at_least"] == pytest.approx(math.erfc(2 / math.sqrt(8)))
    assert inside["tight"]
    assert not value["tight"]
    out = narcissus("channel", "--mu", 1)[1]
    assert out.startswith("Asked: what value a person's record has; or whether")
    code, _, err = narcissus("channel", "--mechanism", "laplace:epsilon=1", "--secret", "value")
    assert code == 2
    assert "--secret" in err


def test_dp_sgd_in_or_out(narcissus):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    setting = "noise=1.1,rate=0.01,steps=1000"
    found = json.loads(narcissus("channel", "--dp-sgd", setting, "--json")[1])
    inside = found["membership"]
    assert inside["beta_star_at_least"] == pytest.approx(1 - 0.140413, abs=2e-6)
    assert inside["beta_star_at_most"] is None
    assert inside["beta_star_at_least"] > found["beta_star_at_most"]
