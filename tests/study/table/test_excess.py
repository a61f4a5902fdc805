"""Excesses: what they are compared with, whom they hold for, and how many trials settle them."""

import json
from pathlib import Path

import numpy as np
import pytest

from narcissus.evidence import mean_limits, population_mean_upper
from narcissus.study.results.table import SettingNumbers, ShareBound
from narcissus.study.results.table_attacks import GuessResult
from narcissus.study.table.excess import _limits
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.words import odds

ALARM = 1e-6


def test_an_attack_that_ignores_the_release_gains_nothing_in_any_group(study, narcissus):
    """The guess of a group of real people is what it scores there, not what the prior says."""
    lines = ["k,a,secret"] + ["y,b,y", "y,c,y", "y,b,y"] * 100 + ["n,b,n", "n,c,n"] * 100
    lines += ["y,b,n", "n,b,y"] * 4
    Path("people.csv").write_text("\n".join(lines) + "\n")
    path = study(
        threat={"unknown": ["secret"], "people": "rows", "targets": 40},
        prior={"kind": "independent"},
        mechanism={"epsilon": 0.1},
        attacks={"prior": {}},
        groups={"columns": ["k"]},
        threshold={"advantage": 0.5, "worst_group": 0.5},
        run={"trials": 60},
    )
    _, out, _ = narcissus("audit", path, "--json", "--quiet")
    record = json.loads(out)
    assert "hardest hit" not in " ".join(record["results"]["evidence_against"]).lower()
    assert record["status"] != "exceeded"
    for group in record["results"]["groups"]:
        own = group["attacks"]["prior"]
        assert own["share"] == pytest.approx(group["guess"]["share"])
        assert own["over_guess"] == pytest.approx(0.0, abs=1e-12)


def test_members_of_a_group_that_others_decide_are_not_independent():
    """Three people of a known column with two values; members are those alone in none.

    All three of one value, or two: their numbers are the same. Limits for independent members
    miss more often than they may, and the mean over a trial's members does not. 1,500 repeats,
    false alarm below 1e-6 each way.
    """
    rng = np.random.default_rng(0)
    repeats, trials = 1500, 100
    value = rng.random((repeats, trials, 3)) < 0.5
    ones = value.sum(axis=2)
    members = np.where(ones == 3, 3, np.where(ones == 0, 3, 2))
    x = np.where(ones >= 2, 1.0, 0.3)
    mean = 0.65
    separate = sum(
        population_mean_upper(c * v, c * v * v, c, confidence=0.975).high < mean
        for c, v in zip(members, x, strict=True)
    )
    together = sum(mean_limits(v).high < mean for v in x)
    assert separate > 69  # the 1e-6 point of Binomial(1500, .025)
    assert together <= 69


def test_the_bound_of_the_singled_out_treats_a_trial_as_one_value(study):
    from narcissus.study import load_study
    from narcissus.study.table.excess import excesses
    from narcissus.study.table.prepare import prepare

    loaded = load_study(
        study(mechanism={"epsilon": 1.0}, groups={"columns": ["sex"]}, run={"trials": 12})
    )
    experiment = prepare(loaded.settings, loaded.folder, entropy=3)
    trials = [experiment.play(f"{t}/0") for t in range(12)]
    threshold = ThresholdSpec(share=0.9, worst_group=0.9)
    found = excesses(experiment, 0, trials, threshold)
    names = [": ".join(n) for n in experiment.groups.names]
    seen = 0
    for excess in found:
        if excess.role != "bound" or "singles" not in excess.group:
            continue
        g = names.index(excess.group)
        values = [t["group_bound"][g, 0] / t["groups"][g] for t in trials if t["groups"][g]]
        assert excess.value == pytest.approx(np.mean(values) - 0.9)
        assert excess.high == pytest.approx(mean_limits(values).high - 0.9, abs=1e-9)
        seen += 1
    assert seen


@pytest.mark.parametrize("trials", [1, 2, 5, 40, 300])
def test_what_is_open_is_settled_by_more_trials_than_were_played(trials):
    """A value beyond, with limits on both sides, is never called 'not above'."""
    rng = np.random.default_rng(trials)
    for _ in range(50):
        values = rng.choice([-0.5, 0.5], size=trials, p=[0.45, 0.55])
        found, needed = _limits(values, -0.5, 0.5, confidence=0.95, people=1)
        settled = found.low > 0 or found.high <= 0 or found.value == 0
        assert (needed is None) == settled
        assert needed is None or needed >= 2 * trials


def test_a_limit_of_everybody_under_noise_is_not_called_no_noise():
    def said(guarantee, grade):
        bound = ShareBound(
            limits="share", theorem="t", name="", guarantee=guarantee, grade=grade,
            for_comparison=False, assumptions=(), takes_as_given=(), share_at_most=0.8,
            share_of_population=1.0,
        )  # fmt: skip
        guess = GuessResult(share=0.5, low=0.5, high=0.5, by_the_prior=None)
        return odds(
            SettingNumbers.model_construct(
                guess=guess, attacks={}, best=None, prior_is_exact=True, bounds=(bound,)
            ),
            [],
        )

    assert "nothing is proved" not in said("1-GDP", "proved")
    assert "nothing below 100" in said("1-GDP", "proved")
    assert "nothing is proved" in said("none", "not assessed")


def test_a_number_about_the_people_played_alone_limits_nobody_else():
    """What follows from one (epsilon, delta) has no limit for all people: it is no population's."""
    same = {"limits": "share", "theorem": "t", "guarantee": "g", "grade": "proved"}
    same |= {"assumptions": (), "takes_as_given": ()}
    strongest = ShareBound(
        **same, name="mean share", for_comparison=False, share_at_most=0.7, share_of_population=0.75
    )
    single = ShareBound(
        **same, name="single", for_comparison=True, share_at_most=0.71, share_of_population=None
    )
    numbers = SettingNumbers.model_construct(bounds=(strongest, single))
    assert numbers.population_share == 0.75
    assert numbers.share_bound is strongest


def test_a_worst_group_needs_a_group_that_is_told_by_known_columns(study, narcissus):
    """Also where the study names what is known, and not what is unknown."""
    everything = ["sex", "age", "job", "town", "income"]
    path = study(
        threat={"unknown": None, "known": everything},
        groups={"columns": ["ill"], "singled_out": False},
        threshold={"share": 0.9, "worst_group": 0.9},
    )
    code, _, err = narcissus("audit", path)
    assert code == 2
    assert "`threshold.worst_group` needs a group" in err


def test_pictures_claim_no_proof_under_an_assumption(study, narcissus):
    path = study(threat={"people": "rows"}, mechanism={"epsilon": "=[0.2, 1.0]"})
    narcissus("audit", path, "--json", "--quiet")
    page = Path("results/s/report.html").read_text()
    assert "is proved" not in page
    assert "where it is proved" not in page
    assert "draws the people from the prior" not in page


@pytest.mark.parametrize("trials", [3, 30])
def test_what_is_gained_is_what_is_recovered_less_the_baseline(study, narcissus, trials):
    """Luck is taken from both alike, and a bound is that of the people whom the attack met."""
    for seed in range(4):
        path = study(
            threat={"unknown": ["ill"], "targets": 2},
            mechanism={"epsilon": 0.5},
            attacks={"posterior": {"trials": 1}, "prior": {}, "ceiling": {}},
            run={"trials": trials, "seed": seed},
        )
        _, out, _ = narcissus("audit", path, "--json", "--quiet", "--restart")
        result = json.loads(out)["results"]
        for found in [*result["attacks"].values(), result["ceiling"]]:
            assert found["gain"] == pytest.approx(found["share"] - found["baseline"])
            assert found["gain_low"] <= found["gain"] <= found["gain_high"]
            assert found["advantage_low"] <= found["advantage"] <= found["advantage_high"]
