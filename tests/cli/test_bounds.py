"""The commands bound and protect: keys, numbers, words, and one clear error each."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, special

from narcissus.bounds import ThreatToPeople, reached_number
from narcissus.guarantees import GaussianDP, PureDP

ROOT = Path(__file__).resolve().parents[2]


def test_bound_on_one_target(answer):
    found = answer("bound --epsilon 1 --prior 0.1")
    assert found["success"] == pytest.approx(0.23196931668, abs=1e-11)
    assert found["advantage"] == pytest.approx((found["success"] - 0.1) / 0.9, rel=1e-12)
    assert "4.6" in found["theorem"]
    assert any("replace-one" in said for said in found["assumptions"])
    assert all(set(row) == {"name", "value", "valid"} for row in found["others"])
    assert "tail" not in found
    assert "at_most" not in found
    assert "optimum" not in found


def test_bound_on_many_targets(answer):
    line = "bound --epsilon 0.1 --delta 0.01 --prior 0.5 --inseparable 0.5 --targets 2"
    found = answer(line + " --at-least 1")
    assert found["tail"] == pytest.approx(0.781362, abs=6e-7)
    invalid = {row["name"]: row["value"] for row in found["others"] if not row["valid"]}
    assert invalid["Swanberg et al. 2025, Theorem 3.5"] == pytest.approx(0.778868, abs=6e-7)
    found = answer("bound --mu 0.5 --prior 0.5 --targets 100 --confidence 0.95")
    assert found["at_most"] == 80
    assert answer("bound --epsilon 1 --prior 0.5 --targets 10")["confidence"] == 0.95


def test_a_number_about_which_nothing_is_proved_has_no_theorem(answer, call):
    line = "bound --mu 5 --prior 0.9 --targets 3"
    found = answer(line)
    assert found["at_most"] == 3
    assert "4.6" in found["theorem"]  # about the success on one target, which is all that there is
    out = call(line)[1]
    assert "Nothing is proved about how many of 3 people are reconstructed" in out
    assert "at most 3 of 3" not in out


def test_bound_with_a_whole_prior(answer):
    found = answer("bound --epsilon 3 --values 0.7,0.2,0.1")
    assert found["optimum"] == pytest.approx(0.90944, abs=6e-6)
    assert found["success"] == found["optimum"]
    found = answer("bound --epsilon 1 --values 0.7,0.3 --targets 12 --at-least 9")
    assert found["tail"] == pytest.approx(0.589582, abs=6e-7)
    found = answer("bound --epsilon 1 --values 0.25,0.25,0.25,0.25 --within 1")
    assert found["prior"] == 0.75
    assert 0.75 < found["optimum"] < 0.9


@pytest.mark.parametrize(
    ("options", "success"),
    [
        ("--mu 1", 0.69146),
        ("--rho 0.5", None),
        ("--renyi 4:0.5", None),
        ("--bayes-security 0.9", 0.6),
        ("--epsilon 0 --delta 0.1", 0.6),
        ("--dp-sgd noise=1,rate=0.01,steps=10", None),
        ("--dp-sgd noise=1,rate=0.01,steps=10,interval=1e-4", None),
    ],
)
@pytest.mark.one_in(2)
def test_every_guarantee_has_an_option(answer, options, success):
    found = answer(f"bound {options} --prior 0.5")
    assert 0.5 < found["success"] < 1
    if success is not None and "mu" not in options:
        assert found["success"] == pytest.approx(success, abs=6e-6)
    if "mu" in options:
        coin = answer(f"bound {options} --prior 0.5 --inseparable 0.5")
        assert coin["success"] == pytest.approx(success, abs=6e-6)


def test_bound_on_bits(answer, call):
    found = answer("bound --epsilon 2 --bits 8")
    assert found["prior"] == 2**-8
    assert found["success"] == pytest.approx(math.exp(2) / (math.exp(2) - 1 + 256), rel=1e-12)
    assert found["confidence"] == 0.95
    assert found["leaked_bits"] == pytest.approx(math.log2(math.exp(2) * 19 + 1), rel=1e-12)
    # so many bits, and no fewer, leak with the probability left; a secret of so many bits, which
    # are no whole number of values, leaks a little less
    share = 2 ** -found["leaked_bits"]
    assert math.exp(2) * share / (1 + share * math.expm1(2)) == pytest.approx(0.05, rel=1e-9)
    back = answer(f"bound --epsilon 2 --bits {found['leaked_bits']!r}")
    assert 0.0495 < back["success"] < 0.05
    # half a bit is two values that are not equally likely: told apart more often
    half = answer("bound --epsilon 0 --delta 0.2 --bits 0.5")
    by_values = answer(f"bound --epsilon 0 --delta 0.2 --values {2**-0.5!r},{1 - 2**-0.5!r}")
    assert half["success"] == pytest.approx(by_values["success"], rel=1e-12)
    assert answer("bound --epsilon 2 --bits 8 --confidence 0.5")["leaked_bits"] < 4
    # a fair bit: the prior's own inseparability is known
    assert answer("bound --mu 1 --bits 1")["success"] == pytest.approx(0.69146, abs=6e-6)
    assert "leaked_bits" not in answer("bound --mu 1 --bits 1")
    code, out, _ = call("bound --epsilon 2 --bits 8")
    assert code == 0
    assert "at most 7.144 bits leak" in out


def test_bound_says_which_success_is_meant(answer, call):
    anyhow = answer("bound --mu 1 --prior 0.5")
    assert anyhow["criterion"] == "any"
    assert anyhow["success"] == pytest.approx(0.793139, abs=6e-7)
    assert any("--success exact proves 0.691463" in note for note in anyhow["notes"])
    assert any("--values" in note for note in anyhow["notes"])
    # whether a guess may be right about several values was left open, and so was the question
    assert anyhow.pop("membership")["criterion"] == "exact match"
    assert answer("bound --mu 1 --prior 0.5 --success any") == anyhow
    exact = answer("bound --mu 1 --prior 0.5 --success exact")
    assert exact["criterion"] == "exact match"
    assert exact["grade"] == "proved"
    assert exact["success"] == pytest.approx(0.691462, abs=6e-7)  # Phi(1/2)
    assert "optimum" not in exact
    assert any("0.5" in said and "must name it" in said for said in exact["assumptions"])
    assert not any("--success" in note for note in exact["notes"])
    given = answer("bound --mu 1 --values 0.5,0.5")
    assert given["criterion"] == "exact match"
    assert given["notes"] == []
    assert given["success"] == pytest.approx(exact["success"], rel=1e-9)
    near = answer("bound --mu 1 --values 0.25,0.25,0.25,0.25 --within 1")
    assert near["criterion"] == "near match"
    # under pure DP exact match of equally likely values proves no more
    assert not any("exact" in n for n in answer("bound --epsilon 1 --prior 0.1")["notes"])
    out = call("bound --mu 1 --prior 0.5")[1]
    assert "A guess may be right about several values" in out
    assert "Note: If a guess must name the very value" in out
    assert "names the very value" in call("bound --mu 1 --prior 0.5 --success exact")[1]


def test_the_first_example_of_the_readme_means_membership(answer):
    line = "bound --epsilon 1 --delta 1e-5 --prior 0.5 --secret membership --targets 100"
    assert "narcissus " + line in (ROOT / "README.md").read_text(encoding="utf-8")
    coin = "bound --epsilon 1 --delta 1e-5 --values 0.5,0.5 --targets 100"
    exact, values = answer(line), answer(coin)
    for key in ("success", "advantage", "at_most", "theorem"):
        assert exact[key] == values[key]


def test_a_curve_and_losses_from_files(answer, call, one_error, tmp_path):
    """Randomized response of epsilon 1 three times: by its epsilon, its curve and its losses."""
    keep = 1 / (1 + math.exp(-1))
    curve, losses = tmp_path / "curve.csv", tmp_path / "losses.json"
    curve.write_text(f"epsilon,delta\n0,{2 * keep - 1!r}\n1,0\n")
    losses.write_text(f'{{"loss": [1, -1], "probability": [{keep!r}, {1 - keep!r}]}}')
    pure = answer("bound --epsilon 1 --values 0.6,0.4")
    for option, path in (("--profile", curve), ("--pld", losses)):
        found = answer("bound --values 0.6,0.4", option, str(path))
        assert found["success"] == pytest.approx(pure["success"], rel=1e-9)
        assert found["notes"] == []
        assert "converted_from" not in found
        added = answer("bound --values 0.6,0.4 --adjacency add-remove", option, str(path))
        assert "(add-remove neighbours)" in added["converted_from"]
        assert added["converted_from"] in added["assumptions"][0]
        double = answer("bound --epsilon 2 --values 0.6,0.4")["success"]
        assert pure["success"] < added["success"] <= double + 1e-9
    curve.write_text("epsilon,delta\n0,0.5\n1,0.45\n2,0.01\n")
    out = call("bound --prior 0.1", "--profile", str(curve))[1]
    assert "Note: 1 of the 3 points of the curve, the first at epsilon 1, say less" in out
    curve.write_text("epsilon,delta\n0,0.1\n1,0.2\n")
    one_error(f"bound --prior 0.1 --profile {curve}", "row 2 (line 3), column `delta`")
    one_error(f"bound --prior 0.1 --epsilon 1 --profile {curve}", "--profile")
    one_error(f"bound --prior 0.1 --profile {tmp_path / 'none.csv'}", "--profile")


def test_what_is_known_of_added_records_is_converted_and_said_to_be(answer, call):
    line = "bound --epsilon 1 --delta 1e-5 --prior 0.5 --adjacency add-remove"
    found = answer(line)
    delta = 1e-5 * (1 + math.e)
    same = answer(f"bound --epsilon 2 --delta {delta!r} --prior 0.5")
    assert found["success"] == pytest.approx(same["success"], rel=1e-12)
    assert found["converted_from"] == (
        "approximate DP with epsilon 1 and delta 1e-05 (add-remove neighbours)"
    )
    assert "a replaced record being one removed and one added: from approx" in call(line)[1]
    assert "converted_from" not in same


@pytest.mark.states("Narcissus theory", "4.11")
def test_zipf_of_a_billion_values(answer, call):
    """Part of the reference values of the theory, by the command."""
    line = "bound --epsilon 3 --delta 1e-5 --zipf 1.1,1e9"
    found = answer(line)
    assert found["success"] == pytest.approx(0.1997231331, abs=6e-11)
    assert found["optimum"] == found["success"]
    assert found["criterion"] == "exact match"
    assert found["notes"] == []
    assert "Zipf's law with exponent 1.1 over 1,000,000,000 values" in call(line)[1]
    few = answer("bound --epsilon 3 --delta 1e-5 --zipf 1.1,10")
    assert few["success"] == pytest.approx(0.694906, abs=5e-7)
    many = answer("bound --epsilon 3 --zipf 1.1,1e9 --targets 100")
    tail = answer(
        f"bound --epsilon 3 --zipf 1.1,1e9 --targets 100 --at-least {many['at_most'] + 1}"
    )
    assert tail["tail"] <= 0.05
    assert "by rank" in many["theorem"]


def test_bound_in_words(call):
    code, out, _ = call("bound --epsilon 0.1 --delta 0.01 --prior 0.5 --targets 3 --at-least 1")
    assert code == 0
    assert "Without the release" in out
    assert "PROVED by" in out
    assert "NOT A BOUND" in out


def test_bound_draws_a_picture(call, tmp_path):
    for name, line in [
        ("a.svg", "bound --epsilon 1 --delta 1e-5 --prior 0.1"),
        ("b.svg", "bound --mu 1 --values 0.7,0.2,0.1 --targets 5 --at-least 4"),
        ("c.svg", "protect --prior 0.1 --advantage 0.05 --delta 1e-5"),
    ]:
        code, out, _ = call(line, "--plot", str(tmp_path / name))
        assert code == 0
        assert "Picture:" in out
        assert (tmp_path / name).read_text().startswith("<?xml")
    first = (tmp_path / "a.svg").read_text()
    call("bound --epsilon 1 --delta 1e-5 --prior 0.1", "--plot", str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text() == first
    code, _, err = call("bound --epsilon 1 --prior 0.1", "--plot", str(tmp_path / "no" / "a.svg"))
    assert code == 2
    assert "--plot" in err
    code, _, err = call("bound --epsilon 1 --prior 0.1", "--plot", str(tmp_path / "a.txt"))
    assert code == 2


def test_bound_for_all_priors_near_the_given_one(answer, call, tmp_path):
    found = answer("bound --mu 1 --values 0.5,0.3,0.2 --prior-factor 2 --targets 50")
    worst = answer("bound --mu 1 --values 0.75,0.15,0.1 --targets 50")
    for key in ("prior", "success", "advantage", "at_most", "reached"):
        assert found[key] == pytest.approx(worst[key], rel=1e-12)
    assert (found["grade"], worst["grade"]) == ("proved if", "proved")
    assert sum("between 1/2 and 2 times" in said for said in found["assumptions"]) == 1
    text = call("bound --mu 1 --prior 0.3 --prior-distance 0.1")[1]
    assert "with probability at most 0.4 " in text
    assert "PROVED IF the assumptions hold, by" in text
    (tmp_path / "priors.csv").write_text("a,b\n0.5,0.5\n0.8,0.2\n")
    line = f"bound --mu 1 --priors {tmp_path / 'priors.csv'}"
    many = answer(f"{line} --prior-distance 0.1")
    assert many["grade"] == "proved if"
    assert many["prior"] == pytest.approx((0.6 + 0.9) / 2)
    assert many["success"] > answer(line)["success"]


def test_bound_on_rates_and_the_bayes_security_that_rates_allow(answer, call):
    found = answer("bound --bayes-security 0.9 --fpr 0.01")
    assert found["value"] == pytest.approx(0.11, rel=1e-11)
    back = answer("bound --tpr 0.11 --fpr 0.01")
    assert back["value"] == pytest.approx(0.9, rel=1e-12)
    assert "is at most 0.9" in call("bound --tpr 0.11 --fpr 0.01")[1]
    assert answer("bound --mu 1 --fpr 0.01")["value"] == pytest.approx(0.0923623, rel=1e-5)


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("bound --prior 0.1", "--epsilon"),
        ("bound --epsilon 1", "--prior"),
        ("bound --epsilon -1 --prior 0.1", "--epsilon"),
        ("bound --epsilon nan --prior 0.1", "--epsilon"),
        ("bound --epsilon inf --prior 0.1", "--epsilon"),
        ("bound --epsilon 1 --prior 1.5", "--prior"),
        ("bound --epsilon 1 --prior nan", "--prior"),
        ("bound --epsilon 1 --delta 2 --prior 0.1", "--delta"),
        ("bound --epsilon 1 --values 0.5,0.2", "--values"),
        ("bound --epsilon 1 --values 0.5,0.5 --within -1", "--within"),
        ("bound --epsilon 1 --prior 0.5 --within 1", "--within"),
        ("bound --epsilon 1 --prior 0.5 --targets 3 --guesses 5", "--guesses"),
        ("bound --epsilon 1 --prior 0.5 --targets 0", "--targets"),
        ("bound --epsilon 1 --prior 0.5 --at-least 2", "--targets"),
        ("bound --epsilon 1 --prior 0.5 --targets 3 --at-least 4", "--at-least"),
        ("bound --epsilon 1 --prior 0.5 --confidence 0.9", "--targets"),
        ("bound --epsilon 1 --prior 0.5 --targets 3 --at-least 1 --confidence 0.9", "--at-least"),
        ("bound --epsilon 1 --prior 0.5 --targets 3 --confidence 1", "--confidence"),
        ("bound --epsilon 1 --prior 0.5 --targets 3 --inseparable 2", "--inseparable"),
        ("bound --epsilon 1 --values 0.5,0.5 --inseparable 0.5", "--inseparable"),
        ("bound --epsilon 1 --bits 3 --success exact", "--success"),
        ("bound --epsilon 1 --prior 0.5 --success exact --inseparable 0.5", "--inseparable"),
        ("bound --mu -1 --prior 0.5", "--mu"),
        ("bound --rho -1 --prior 0.5", "--rho"),
        ("bound --renyi 1:4 --prior 0.5", "--renyi"),
        ("bound --bayes-security 1.5 --prior 0.5", "--bayes-security"),
        ("bound --dp-sgd noise=1,rate=2,steps=3 --prior 0.5", "--dp-sgd rate"),
        ("bound --dp-sgd noise=0,rate=0.1,steps=3 --prior 0.5", "--dp-sgd noise"),
        ("bound --dp-sgd noise=1,rate=0.1,steps=3,interval=0 --prior 0.5", "--dp-sgd interval"),
        ("bound --epsilon 1 --bits -1", "--bits"),
        ("bound --epsilon 1 --bits nan", "--bits"),
        ("bound --epsilon 1 --bits 5000", "--bits"),
        ("bound --epsilon 1 --bits 5 --prior 0.5", "--bits"),
        ("bound --epsilon 1 --bits 5 --inseparable 0.5", "--bits"),
        ("bound --epsilon 1 --delta 1e-5 --bits 5 --confidence 0.9", "--confidence"),
        ("bound --epsilon 1 --bits 5 --confidence 1", "--confidence"),
        ("bound --epsilon 1 --zipf 1.1,1e9 --within 1", "--within"),
        ("bound --epsilon 1 --zipf 1.1,1e9 --prior-factor 2", "--zipf"),
        ("bound --epsilon 1 --prior 0.5 --prior-factor 0.9", "--prior-factor"),
        ("bound --epsilon 1 --prior 0.5 --prior-distance 2", "--prior-distance"),
        ("bound --epsilon 1 --prior 0.5 --prior-distance 0.1 --prior-factor 2", "--prior-factor"),
        ("bound --epsilon 1 --prior 0.5 --prior-factor 2 --inseparable 0.1", "--inseparable"),
        ("bound --fpr 0.1", "--fpr"),
        ("bound --tpr 0.1", "--fpr"),
        ("bound --tpr 0.1 --fpr 0.1 --mu 1", "without a guarantee"),
        ("bound --fpr 0.1 --mu 1 --prior 0.5", "--prior"),
        ("bound --fpr 1.1 --mu 1", "--fpr"),
        ("protect --values 0.5,0.5 --advantage 0.1 --success any", "--success"),
        ("protect --prior 0.1", "--advantage"),
        ("protect --advantage 0.1", "--priors"),
        ("protect --dp-sgd rate=0.1 --prior 0.1 --advantage 0.1", "lacks steps"),
        ("protect --dp-sgd noise=1,rate=0.1,steps=3 --prior 0.1 --advantage 0.1", "--dp-sgd"),
        (
            "protect --dp-sgd rate=0.1,steps=3 --prior 0.1 --advantage 0.1 --adjacency add-remove",
            "--adjacency",
        ),
        ("protect --prior 0.1 --advantage 0.1 --adjacency add", "--adjacency"),
        ("protect --prior 0.1 --advantage 2", "--advantage"),
        ("protect --prior 0.1 --advantage 0 --delta 1e-5", "--delta"),
        ("protect --prior 1 --advantage 0.1", "--prior"),
        ("protect --prior 0.1 --targets 5", "--at-most"),
        ("protect --prior 0.5 --targets 5 --at-most 0", "sees no release"),
        ("protect --prior 0.5 --targets 5 --at-most 0 --delta 1e-6", "sees no release"),
        ("protect --prior 0.5 --targets 5 --at-most 5", "--at-most"),
        ("protect --prior 0.1 --advantage 0.1 --confidence 0.9", "--confidence"),
        ("protect --fpr 0.05", "--tpr"),
        ("protect --tpr 0.05", "--fpr"),
        ("protect --tpr 0.05 --fpr 0.1", "must be above `--fpr`"),
        ("protect --precision 0.5 --recall 0.1", "--base-rate"),
        ("protect --tpr 0.05 --fpr 0.01 --prior 0.5", "`--prior` says nothing of `--tpr` and"),
        ("protect --tpr 0.05 --fpr 0.01 --success exact", "--success"),
        ("protect --values 0.7,0.3 --success-at-most 0.6", "--success-at-most"),
    ],
)
def test_bad_input_gives_one_error_that_names_the_option(one_error, line, option):
    one_error(line, option)


def test_what_some_mechanism_reaches_stands_beside_what_none_exceeds(answer, call):
    line = "bound --mu 0.3 --values 0.6,0.4 --targets 30"
    found = answer(line)
    assert found["reached"] == reached_number([0.6, 0.4], GaussianDP(0.3), 0.95, repeats=[30])
    assert found["reached"] <= found["at_most"] < 30
    said = f"at most {found['at_most']} of 30 people are reconstructed (proved); some mechanism"
    assert f"{said} with this guarantee reaches {found['reached']}." in call(line)[1]
    found = answer(line + " --at-least 22")
    assert 0 < found["reached"] < found["tail"]
    out = call("bound --mu 0.3 --prior 0.4 --success exact --targets 20 --at-least 12")[1]
    assert "with the worst prior that fits" in out
    assert "reached" not in answer("bound --mu 0.3 --prior 0.5 --targets 20")


def test_membership_holds_as_it_is_where_a_value_is_converted(answer, call):
    line = "bound --mu 1 --adjacency add-remove --prior 0.5"
    inside = answer(line + " --secret membership")
    assert inside["success"] == pytest.approx(0.691462, abs=6e-7)  # Phi(1/2)
    assert "converted_from" not in inside
    assert inside["notes"] == []
    value = answer(line + " --secret value --success exact")
    assert value["success"] == pytest.approx(0.841345, abs=6e-7)  # Phi(1)
    assert "mu 1 (add-remove" in value["converted_from"]
    # left open, both are answered, each as if it had been asked alone
    both = answer(line + " --success exact")
    assert both.pop("membership") == inside
    assert both == value
    said = call(line + " --success exact")[1]
    assert said.startswith("Asked: what value a person's record has (--secret value).\n")
    assert "\nAsked: whether a person's record is in the data (--secret membership).\n" in said
    first = call(line + " --secret membership")[1].splitlines()[0]
    assert first == "Asked: whether a person's record is in the data."


@pytest.mark.parametrize(
    "guarantee",
    [
        "--epsilon 0.7", "--epsilon 0.7 --delta 1e-3", "--mu 0.8", "--rho 0.3", "--renyi 8:0.5",
        "--bayes-security 0.9",
    ],
)  # fmt: skip
@pytest.mark.parametrize("known", ["--prior 0.6 --success exact", "--values 0.8,0.2 --targets 6"])
@pytest.mark.one_in(4)
def test_membership_is_never_easier_than_a_value(answer, guarantee, known):
    added = answer(f"bound {guarantee} --adjacency add-remove {known}")
    assert added["membership"]["success"] <= added["success"] + 1e-12
    assert added["membership"].get("at_most", 0) <= added.get("at_most", 0)
    replaced = answer(f"bound {guarantee} {known}")
    assert replaced["membership"]["success"] == pytest.approx(
        added["membership"]["success"], rel=1e-12
    )
    assert replaced["membership"]["question"].endswith("or another in its place")


def test_dp_sgd_is_accounted_for_what_is_asked(answer):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    line = "bound --dp-sgd noise=1.1,rate=0.01,steps=1000 --prior 0.5 --success exact"
    found = answer(line)
    assert found["advantage"] == pytest.approx(0.236487, abs=1e-6)
    assert found["membership"]["advantage"] == pytest.approx(0.140413, abs=1e-6)
    assert answer(line + " --secret membership")["advantage"] == found["membership"]["advantage"]
    assert "membership" not in answer(line + " --secret value")
    # where the prior is of many values, nothing is open
    few = "bound --dp-sgd noise=1.1,rate=0.01,steps=10,interval=1e-2 --prior 0.1"
    assert answer(few)["secret"] == "value"
    assert "membership" not in answer(few)


def test_files_are_read_for_what_is_asked(answer, tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("epsilon,delta_add,delta_remove\n0,0.2,0.2\n1,0.05,0.06\n2,0.01,0.02\n")
    found = answer("bound --values 0.5,0.5", "--profile", str(curve))
    assert found["membership"]["advantage"] == pytest.approx(0.2, abs=1e-8)
    assert found["advantage"] > 0.3
    people = tmp_path / "people.csv"
    people.write_text("0.5,0.5\n0.9,0.1\n")
    line = "bound --mu 1 --adjacency add-remove"
    found = answer(line, "--priors", str(people))
    assert found["membership"]["success"] < found["success"]
    people.write_text("0.5,0.4,0.1\n0.9,0.1,0\n")
    assert "membership" not in answer(line, "--priors", str(people))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--prior 0.1", "--prior 0.99"),
        ("--prior 1.5", "`--prior`"),
        ("--prior nan", "`--prior`"),
        ("--bits 3", "--bits"),
        ("--prior 0.5 --success any", "--success"),
        ("--prior 0.5 --inseparable 0.5", "--inseparable"),
    ],
)
def test_what_is_not_about_membership_is_refused(one_error, more, said):
    one_error(f"bound --mu 1 --secret membership {more}", said)


@pytest.mark.nightly
@pytest.mark.parametrize(("tpr", "fpr"), [(0.05, 0.01), (0.5, 0.4), (0.999, 0.9)])
@pytest.mark.parametrize("delta", [0.0, 0.005])
def test_rates_are_protected_by_the_largest_epsilon_of_a_linear_program(answer, tpr, fpr, delta):
    """Most true positives of any test whose answers are (epsilon, delta)-DP in both directions."""

    def most(epsilon):
        e = math.exp(epsilon)
        # t <= e f + d, 1 - f <= e (1 - t) + d, and the same of f and t
        rows = [[1, -e], [e, -1], [-e, 1], [-1, e]]
        ends = [delta, e - 1 + delta, delta, e - 1 + delta]
        found = optimize.linprog([-1, 0], rows, ends, bounds=[(0, 1), (0, fpr)])
        return -found.fun

    found = answer(f"protect --secret membership --tpr {tpr} --fpr {fpr} --delta {delta}")
    epsilon = found["epsilon"]
    assert most(epsilon) <= tpr + 1e-9 < most(epsilon * 1.001 + 1e-6) + 1e-9
    mu = found["mu"]
    assert special.ndtr(special.ndtri(fpr) + mu) == pytest.approx(tpr, rel=1e-5)


def test_protect_says_which_success_is_meant(answer, call):
    line = "protect --prior 0.5 --advantage 0.05 --delta 1e-5"
    anyhow, exact = answer(line), answer(line + " --success exact")
    assert (anyhow["criterion"], exact["criterion"]) == ("any", "exact match")
    assert exact["mu"] > 1.5 * anyhow["mu"]
    assert exact["mu"] == pytest.approx(
        answer("protect --values 0.5,0.5 --advantage 0.05 --delta 1e-5")["mu"], rel=1e-6
    )
    assert any("--success exact" in note for note in anyhow["notes"])
    assert "by_value" not in exact
    assert exact["grade"] == "proved"
    assert "Note: " in call(line)[1]


@pytest.mark.repeats(20, 100, "people")
def test_protect(answer, people):
    found = answer("protect --prior 0.1072326 --advantage 0.05 --delta 1e-5")
    assert found["epsilon"] == pytest.approx(0.399247, abs=1e-5)
    assert found["advantage"] <= 0.05 + 1e-12
    back = answer(f"bound --mu {found['mu']!r} --prior 0.1072326")
    assert back["advantage"] == pytest.approx(0.05, abs=1e-6)
    most = 7 * people // 10
    line = f"protect --prior 0.5 --delta 1e-6 --targets {people} --confidence 0.95"
    found = answer(f"{line} --at-most {most}")
    assert found["exceeded"] <= 0.05
    line = f"bound --epsilon {found['epsilon']!r} --delta 1e-6 --prior 0.5 --targets {people}"
    assert answer(line)["at_most"] == most
    found = answer("protect --values 0.7,0.2,0.1 --advantage 0.1")
    assert found["epsilon"] > found["by_value"]["most"]
    assert set(found["by_value"]) == {"least", "median", "most"}


def test_protect_zipf(answer):
    found = answer("protect --zipf 1.1,1e9 --advantage 0.05 --delta 1e-5")
    back = answer(f"bound --epsilon {found['epsilon']!r} --delta 1e-5 --zipf 1.1,1e9")
    assert back["advantage"] == pytest.approx(0.05, abs=1e-6)
    assert found["notes"] == []


def test_protect_finds_the_noise_of_dp_sgd(answer, call):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    line = "protect --dp-sgd rate=0.1,steps=20,interval=1e-2 --prior 0.1 --advantage 0.1"
    found = answer(line)
    assert "epsilon" not in found
    assert "mu" not in found
    assert found["advantage"] <= 0.1
    # what is printed, given to the other command, keeps the limit
    said = call(line + " --delta 1e-5")[1]
    noise = said.split("A noise multiplier of ")[1].split()[0]
    assert float(noise) == found["noise"]
    setting = f"noise={noise},rate=0.1,steps=20,interval=1e-2"
    back = answer(f"bound --dp-sgd {setting} --prior 0.1")
    assert back["advantage"] == found["advantage"] <= 0.1
    epsilon = answer(line + " --delta 1e-5")["epsilon"]
    assert f"(epsilon {epsilon:.3}"[:12] in said


def test_protect_for_added_records_says_so(answer, call):
    line = "protect --prior 0.1 --advantage 0.05 --delta 1e-5"
    whole, half = answer(line), answer(line + " --adjacency add-remove")
    assert "adjacency" not in whole
    assert half["adjacency"] == "add-remove"
    assert f"epsilon {half['epsilon']:g}" in half["converted_from"]
    assert half["epsilon"] < whole["epsilon"] / 2
    assert half["mu"] == pytest.approx(whole["mu"] / 2, rel=1e-6)
    assert "(add-remove neighbours)." in call(line + " --adjacency add-remove")[1]


@pytest.mark.nightly
def test_the_noise_of_dp_sgd_is_for_what_is_asked(answer, call):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    line = "protect --dp-sgd rate=0.1,steps=20,interval=1e-2 --prior 0.5 --advantage 0.1"
    found = answer(line + " --success exact")
    inside = answer(line + " --secret membership")
    assert found.pop("membership") == inside
    assert found == answer(line + " --success exact --secret value")
    assert 0.4 < inside["noise"] / found["noise"] < 0.6
    for secret, one in (("value", found), ("membership", inside)):
        setting = f"noise={one['noise']:g},rate=0.1,steps=20,interval=1e-2"
        back = answer(f"bound --dp-sgd {setting} --values 0.5,0.5 --secret {secret}")
        assert back["advantage"] == pytest.approx(one["advantage"], abs=1e-12)
        assert back["advantage"] <= 0.1
    assert call(line + " --secret membership")[1].startswith("Asked: whether a person's record is")


def test_epsilon_for_added_records_is_not_halved_for_membership(answer):
    line = "protect --prior 0.5 --advantage 0.1 --adjacency add-remove --secret membership"
    found = answer(line)
    assert found["epsilon"] == pytest.approx(0.200670695, abs=1e-8)  # tanh(epsilon / 2) = 0.1
    assert "converted_from" not in found
    assert found["adjacency"] == "add-remove"
    assert answer(line.replace("membership", "value") + " --success exact")[
        "epsilon"
    ] == pytest.approx(found["epsilon"] / 2)


def test_what_is_reached_is_said_with_its_theorem(answer, call):
    line = "protect --tpr 0.5 --fpr 0.1 --precision 0.9 --recall 0.2 --base-rate 0.5"
    found = answer(line)
    assert found["tpr"] == pytest.approx(0.5)
    assert found["grade"] == "proved"
    assert "Dong" in found["theorem"]
    assert "4.8" in found["theorem"]
    out = call(line)[1]
    assert "At that epsilon no test with a false positive rate of at most 0.1 has a true" in out
    assert "where the base rate is 0.5." in out
    # beside another limit, its theorem is the one that is said
    both = answer("protect --values 0.7,0.2,0.1 --advantage 0.1 --tpr 0.5 --fpr 0.1")
    assert "Dong" not in both["theorem"]
    assert "tpr" not in answer("protect --values 0.7,0.2,0.1 --advantage 0.1")


def test_protect_finds_what_keeps_error_rates(answer, call):
    line = "protect --tpr 0.05 --fpr 0.01"
    found = answer(line)
    assert found["tpr"] <= 0.05
    assert found["mu"] == pytest.approx(special.ndtri(0.05) - special.ndtri(0.01), rel=1e-6)
    assert found["epsilon"] == pytest.approx(1.609438, abs=1e-6)
    assert not {"prior", "success", "advantage"} & found.keys()
    assert {**found["membership"], "secret": 0, "question": 0} == {
        **{k: v for k, v in found.items() if k != "membership"}, "secret": 0, "question": 0,
    }  # fmt: skip
    said = call(line)[1]
    assert "has a true positive rate above 0.05." in said
    assert "right about one person" not in said
    added = answer(line + " --adjacency add-remove")
    assert added["membership"]["epsilon"] == pytest.approx(found["epsilon"])
    assert added["epsilon"] == pytest.approx(found["epsilon"] / 2)
    both = answer("protect --values 0.7,0.2,0.1 --success-at-most 0.71 --tpr 0.05 --fpr 0.01")
    assert both["success"] <= 0.71 + 1e-12
    assert both["epsilon"] < found["epsilon"]
    assert both["tpr"] < 0.05
    sure = answer("protect --secret membership --precision 0.2 --recall 0.1 --base-rate 0.01")
    assert sure["precision"] <= 0.2
    assert sure["secret"] == "membership"


# people with a prior each: the numbers are those of the library
ROWS = np.random.default_rng(3).dirichlet([3.0, 1.0, 1.0], size=30)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    rows = ROWS.copy()
    rows[:, 2] = 1 - rows[:, 0] - rows[:, 1]
    path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, r)) for r in rows.tolist()))
    return str(path)


@pytest.mark.parametrize(
    ("options", "guarantee"), [("--epsilon 1", PureDP(1)), ("--mu 1", GaussianDP(1))]
)
def test_bound_gives_the_mean_the_most_exposed_and_the_count(
    answer, call, file, options, guarantee
):
    people = ThreatToPeople(ROWS)
    found = answer(f"bound {options}", "--priors", file)
    assert found["people"] == 30
    assert found["grade"] == "proved"
    assert found["prior"] == pytest.approx(people.prior.mean(), rel=1e-12)
    assert found["success"] == pytest.approx(people.mean(guarantee).value, rel=1e-12)
    gained = people.advantage(guarantee)
    worst = found["most_exposed"]
    assert worst["row"] == int(gained.argmax()) + 1
    assert worst["advantage"] == pytest.approx(gained.max(), rel=1e-9)
    assert found["at_most"] == people.at_most(guarantee, 0.95).value
    assert "independent" in found["assumptions"][2]
    lines = call(f"bound {options}", "--priors", file)[1]
    most = people.reached_number(guarantee, 0.95)
    assert found["reached"] == most <= found["at_most"]
    many = f"at most {found['at_most']} of 30 people are reconstructed"
    assert f"With 95% confidence {many} (proved); " in lines
    assert f"some mechanism with this guarantee reaches {most}." in lines
    assert f"row {worst['row']}, from" in lines
    tail = answer(f"bound {options} --at-least 25", "--priors", file)
    assert tail["tail"] == pytest.approx(people.tail(guarantee, 25).value, rel=1e-9)
    assert tail["reached"] == pytest.approx(people.reached(guarantee, 25), rel=1e-9)
    assert tail["reached"] <= tail["tail"] * (1 + 1e-12)
    assert "at_most" not in tail
    assert (
        "That at least 25 of 30 people"
        in call(f"bound {options} --at-least 25", "--priors", file)[1]
    )


def test_where_nothing_is_proved_of_the_count_it_is_said(call, answer, file):
    assert (
        "Nothing is proved about how many of 30" in call("bound --epsilon 20", "--priors", file)[1]
    )
    assert "4.6" in answer("bound --epsilon 20", "--priors", file)["theorem"]


def test_protect_keeps_every_one(answer, call, file):
    found = answer("protect --advantage 0.05", "--priors", file)
    people = ThreatToPeople(ROWS)
    assert people.advantage(PureDP(found["epsilon"])).max() <= 0.05 + 1e-9
    assert people.advantage(PureDP(found["epsilon"] + 1e-4)).max() > 0.05
    assert found["most_exposed"]["advantage"] == pytest.approx(0.05, abs=1e-6)
    assert "on one person: row" in call("protect --advantage 0.05", "--priors", file)[1]
    count = answer("protect --at-most 27 --delta 1e-6", "--priors", file)
    assert count["exceeded"] <= 0.05
    assert count["people"] == 30


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("bound --epsilon 1 --targets 30 --priors {}", "--targets"),
        ("bound --epsilon 1 --guesses 3 --priors {}", "--guesses"),
        ("bound --epsilon 1 --within 1 --priors {}", "--within"),
        ("bound --epsilon 1 --success exact --priors {}", "--success"),
        ("bound --epsilon 1 --prior 0.5 --priors {}", "got --prior and --priors"),
        ("bound --epsilon 1 --plot a.svg --priors {}", "--plot"),
        ("bound --epsilon 1 --confidence 0.9 --at-least 3 --priors {}", "--at-least"),
        ("protect --advantage 0.1 --targets 30 --priors {}", "--targets"),
        ("protect --priors {}", "--advantage"),
    ],
)
def test_what_does_not_go_with_people_is_one_error(one_error, file, line, option):
    one_error(line.format(file), option)


@pytest.mark.parametrize("guarantee", ["--mu 0.5", "--epsilon 0.3 --delta 1e-3"])
@pytest.mark.one_in(2)
def test_the_same_people_are_limited_alike_by_every_option(answer, tmp_path, guarantee):
    rows = tmp_path / "rows.csv"
    rows.write_text("0.5,0.5\n" * 30, encoding="utf-8")
    keys = ("success", "at_most", "reached")
    first = answer(f"bound {guarantee} --targets 30 --values 0.5,0.5")
    ways = [
        answer(f"bound {guarantee}", "--priors", str(rows)),
        answer(f"bound {guarantee} --targets 30 --prior 0.5 --success exact"),
        answer(f"bound {guarantee} --targets 30 --bits 1"),
        answer(f"bound {guarantee} --targets 30 --values 0.5,0.5 --within 0"),
    ]
    for way in ways:
        assert {k: way[k] for k in keys} == pytest.approx({k: first[k] for k in keys}, rel=1e-9)
    tails = [
        answer(f"bound {guarantee} --at-least 20", *people)["tail"]
        for people in (["--values", "0.5,0.5", "--targets", "30"], ["--priors", str(rows)])
    ]
    assert tails[0] == pytest.approx(tails[1], rel=1e-9)


def test_the_risk_beside_an_epsilon(answer, narcissus, refused, tmp_path):
    found = answer("risk --epsilon 1 --prior 0.01")
    assert found["belief"]["value"] == pytest.approx(0.0267236, rel=1e-5)
    assert found["every_release"] is True
    assert found["odds_at_most"] == pytest.approx(np.e / 99)
    value = answer("risk --mu 0.5 --prior 0.01 --secret value --adjacency add-remove")
    assert value["tpr"]["value"] == pytest.approx(0.0923622, rel=1e-5)
    picture = tmp_path / "r.svg"
    code, text, _ = narcissus("risk", "--rho", "0.1", "--prior", "0.5", "--plot", str(picture))
    assert code == 0
    assert f"Picture: {picture}" in text
    assert picture.read_text().startswith("<svg")
    assert "must end in .svg" in refused("risk", "--mu", "1", "--prior", "0.5", "--plot", "a.png")
    assert "`--prior` must be" in refused("risk", "--mu", "1", "--prior", "1.5")
    assert "`--fpr` must be" in refused("risk", "--mu", "1", "--prior", "0.5", "--fpr", "2")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("divisor=sampled", "divide by a constant"),
        ("divisor=expected", "a record more or less changes the divisor"),
        ("sampling=sorted", "`--dp-sgd sampling`"),
        ("divisor=mean", "`--dp-sgd divisor`"),
    ],
)
def test_a_training_program_of_which_nothing_is_proved_is_refused(refused, how, said):
    setting = f"noise=1,rate=0.1,steps=3,interval=1e-2,{how}"
    words = f"bound --dp-sgd {setting} --prior 0.5 --secret membership"
    assert said in refused(*words.split())


def test_a_bound_and_the_noise_that_is_enough_name_the_program(answer):
    setting = "rate=0.5,steps=2,sampling=shuffled"
    found = answer(f"bound --dp-sgd noise=4,{setting} --prior 0.5 --secret membership")
    assert "in random order" in " ".join(found["assumptions"])
    noise = answer(f"protect --dp-sgd {setting} --prior 0.5 --advantage 0.1 --secret membership")
    poisson = answer(
        "protect --dp-sgd rate=0.5,steps=2,interval=1e-2 --prior 0.5 --advantage 0.1 "
        "--secret membership"
    )
    assert noise["noise"] > 2 * poisson["noise"]
