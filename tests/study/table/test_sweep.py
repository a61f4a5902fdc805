"""Sweeps: one declared setting decides, or all; measured claims are made in order."""

import json
from dataclasses import replace

import numpy as np
import pytest

from narcissus.study.results.table import WORST, Excess, NoiseResult, SettingNumbers, SettingResult
from narcissus.study.results.table_attacks import GuessResult
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.sweep import in_sequence, overall
from narcissus.study.table.verdict import Judgement
from narcissus.study.table.words import verdict_words


def setting(label, scale, status):
    """Give what `overall` looks at of a setting; nothing checks the rest."""
    return SettingResult.model_construct(
        label=label,
        noise=NoiseResult(kind="gaussian", scale=scale),
        status=status,
        grade="sampled",
        assumptions=(),
        decides=True,
        strength=None,
        contradictions=("x",) if status == "contradicted" else (),
        verdict=f"{label} is {status}.",
        odds="odds.",
    )


def taken_in_order(settings, decided_at):
    """Judge settings that each have their status by themselves; give the statuses in the sweep."""
    judgements = [Judgement(one.status, "sampled", (), (), (), None) for one in settings]
    return in_sequence(settings, judgements, decided_at)


@pytest.mark.parametrize("others", WORST)
def test_every_level_must_meet_it_unless_one_is_named(others):
    settings = [setting("ε = 1", 9.0, "met"), setting("ε = 3", 3.0, others)]
    threshold = ThresholdSpec(share=0.5)
    whole = overall(settings, threshold, None)
    assert whole.status == (others if others != "no threshold" else "met")
    # what stands for the whole is what it is judged by
    assert f"is {whole.status}." in whole.verdict
    one = overall(settings, threshold, "ε = 1")
    # what is refuted at one level is assumed at all of them
    assert one.status == ("contradicted" if others == "contradicted" else "met")
    assert "ε = 1 decides" in one.verdict
    if others == "contradicted":
        assert "nothing is claimed there: what is refuted at ε = 3" in one.verdict
        assert "is met at" not in one.verdict
    assert overall(settings, threshold, "ε = 3").status == others


def test_met_is_claimed_in_order_most_noise_first():
    found = taken_in_order(
        [
            setting("ε = 3", 3.0, "met"),
            setting("ε = 1", 9.0, "too few trials"),
            setting("ε = 0.1", 90.0, "met"),
        ],
        None,
    )
    assert [one.status for one in found] == ["inconclusive", "too few trials", "met"]
    assert [one.held_back_by for one in found] == ["ε = 1", None, None]


def test_a_claim_that_is_held_back_is_not_worded_as_one():
    numbers = SettingNumbers.model_construct(
        guess=GuessResult(share=0.5, low=0.4, high=0.6, by_the_prior=None),
        attacks={},
        best=None,
        bounds=(),
        groups=(),
        ceiling=None,
        prior_is_exact=True,
        people=10,
    )
    excess = Excess(
        role="ceiling", name="ceiling", group="", value=-0.2, low=-0.3, high=-0.1,
        kind="sampled", trials=None,
    )  # fmt: skip
    judged = Judgement("met", "sampled", (excess,), (), (), None)
    threshold = ThresholdSpec(share=0.9)
    assert "is met by measurement" in verdict_words(numbers, threshold, judged)
    held = replace(judged, status="inconclusive", held_back_by="ε = 1")
    words = verdict_words(numbers, threshold, held)
    assert ") is met" not in words
    assert "would be met by itself" in words
    assert "Not claimed in the sweep: at ε = 1, with more protection" in words


def test_a_setting_that_was_named_beforehand_stands_by_itself():
    settings = [setting("ε = 3", 3.0, "met"), setting("ε = 1", 9.0, "inconclusive")]
    assert taken_in_order(settings, "ε = 3")[0].status == "met"


def test_false_claims_of_a_sweep_have_the_level_of_one():
    """Ten settings that are all truly beyond, each 'met' with chance .05: any claim at most .05."""
    rng = np.random.default_rng(1)
    repeats, false = 4000, 0
    for _ in range(repeats):
        met = rng.random(10) < 0.05
        settings = [
            setting(str(i), 10.0 - i, "met" if m else "inconclusive") for i, m in enumerate(met)
        ]
        false += any(one.status == "met" for one in taken_in_order(settings, None))
    # 1e-6 point of Binomial(4000, .05): without the order, a rate of .40 would be seen
    assert false <= 273


def test_the_exit_code_follows_the_named_level(study, narcissus):
    sweep = {"mechanism": {"epsilon": [0.5, "=inf"]}, "run": {"trials": 40}}
    path = study(**sweep, threshold={"share": 0.85, "at": 0.5})
    code, out, _ = narcissus("audit", path, "--json", "--quiet")
    assert (code, json.loads(out)["status"]) == (0, "met")
    assert [r["decides"] for r in json.loads(out)["results"]] == [True, False]
    code, out, _ = narcissus(
        "audit", study(**sweep, threshold={"share": 0.85}), "--json", "--quiet"
    )
    assert (code, json.loads(out)["status"]) == (1, "exceeded")
    code, _, err = narcissus("audit", study(**sweep, threshold={"share": 0.85, "at": 2}))
    assert code == 2
    assert "`threshold.at` is 2, which is no level of [mechanism]: 0.5, inf" in err


def test_the_highest_confidence_is_the_headline_whatever_the_order(study, narcissus):
    bounds = []
    for given in ([0.5, 0.99], [0.99, 0.5]):
        _, out, _ = narcissus(
            "audit", study(bounds={"confidence": given}), "--json", "--quiet", "--restart"
        )
        result = json.loads(out)["results"]
        levels = {b["name"]: set() for b in result["bounds"] if "confidence" in b}
        for bound in result["bounds"]:
            if "confidence" in bound:
                levels[bound["name"]].add(bound["confidence"])
        assert levels == {"interpolation": {0.5, 0.99}, "published": {0.5, 0.99}}
        assert "with confidence 99%" in result["verdict"]
        assert result["confidence"] == 0.95  # sampled limits have a level of their own
        bounds.append(result["bounds"])
    assert bounds[0] == bounds[1]
