"""Sentences about one setting: what is claimed of whom, rounded to the safe side."""

import numpy as np
import pytest

from narcissus.bounds import each_success, exact_match_optimum, interpolation_tails, posterior
from narcissus.bounds.one_target import profile_multipliers
from narcissus.findings import Finding, contradictions
from narcissus.guarantees import PureDP
from narcissus.study.results.table import (
    CountBound,
    Excess,
    NoiseResult,
    SettingNumbers,
    ShareBound,
)
from narcissus.study.results.table_attacks import (
    ApproximateLimits,
    AttackResult,
    GroupAttack,
    GroupByChance,
    GroupResult,
    GuessResult,
    LimitedMean,
)
from narcissus.study.table.population import Members, proved
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.verdict import Judgement
from narcissus.study.table.words import (
    against,
    in_favour,
    most_vulnerable,
    odds,
    percent,
    points,
    threshold_text,
    verdict_words,
)

GIVEN = ("the prior is right",)
CLASH = contradictions([
    Finding("share", "a theorem", high=0.5, assumptions=GIVEN),
    Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95),
])  # fmt: skip


def share(most=0.7, whole=0.75, **more):
    told = {"theorem": "T", "guarantee": "g", "grade": "proved", "for_comparison": False,
            "assumptions": (), "takes_as_given": (), "name": "mean share"}  # fmt: skip
    return ShareBound(
        **{**told, **more}, limits="share", share_at_most=most, share_of_population=whole
    )


def count(most=7, whole=8, of=10):
    return CountBound(
        theorem="T", guarantee="g", grade="proved", for_comparison=False, assumptions=(),
        takes_as_given=(), name="domination", limits="count", confidence=0.95, at_most=most, of=of,
        at_most_of_population=whole,
    )  # fmt: skip


def attack(value=0.6, low=0.5, high=0.7, **more):
    told = {"baseline": 0.4, "gain": 0.2, "gain_low_joint": 0.1, "gain_high": 0.3,
            "baseline_exact": True, "approximate": None, "uses": "prior and release"}  # fmt: skip
    return AttackResult.model_construct(share=value, low=low, high=high, **{**told, **more})


def group(label, over_low):
    own = GroupAttack(share=0.8, low=0.1, high=0.9, baseline=0.3, over_guess=0.1,
                      over_guess_low=over_low, people=5)  # fmt: skip
    return GroupResult(by="sex", group=label, by_secret=False, share_of_people=0.25,
                       guess=LimitedMean(share=0.3, low=0.2, high=0.4), attacks={"a": own},
                       ceiling=None)  # fmt: skip


def numbers(**changes):
    told = {
        "guess": GuessResult(share=0.5, low=0.4, high=0.6, by_the_prior=None),
        "attacks": {"a": attack()}, "best": "a", "ceiling": None, "bounds": (share(), count()),
        "groups": (), "prior_is_exact": True, "people": 10, "label": "ε = 1",
    }  # fmt: skip
    return SettingNumbers.model_construct(**{**told, **changes})


def excess(role, low, high, group="", name=None):
    value = (high + (low if low is not None else high)) / 2
    return Excess(role=role, name=name or role, group=group, value=value, low=low, high=high,
                  kind="sampled", trials=None)  # fmt: skip


def test_limits_are_rounded_to_the_safe_side():
    best = attack(gain_low_joint=0.0129, gain_high=0.3001)
    assert "apart by 1.2 points to 30.1 points" in " ".join(
        against(numbers(attacks={"a": best}), [], [])
    )
    bounded = numbers(bounds=(share(most=0.70001), count()))
    assert "more than 70.1% of these people on average, 20.1 points above" in " ".join(
        in_favour(bounded, None, [], [], [])
    )
    ceiling = attack(0.6, 0.5999, 0.6001)
    said = verdict_words(numbers(ceiling=ceiling), None, judged("no threshold"))
    assert "limits 59.9% to 60.1%" in said


def test_numbers_in_words():
    assert percent(None) == "not known"
    assert points(0.1234) == "12.3 points"
    assert threshold_text(ThresholdSpec(share=0.5)) == "a mean share of at most 50.0%"
    both = ThresholdSpec(advantage=0.1, worst_group=0.2)
    assert threshold_text(both) == "a mean advantage of at most 10.0%, 20.0% in a group"
    assert threshold_text(ThresholdSpec(targets=3)) == "at most 3 targets recovered"


def test_the_odds_name_the_limit_of_all_people_rounded_up():
    assert "50 are guessed right" in odds(numbers(), [])
    assert "60 with it; no attacker gets above 75" in odds(numbers(), [])
    above = odds(numbers(bounds=(share(0.7, 0.7500001),)), [])
    assert "gets above 76" in above
    rounded = odds(numbers(bounds=(share(0.7, 0.75 + 1e-13),)), [])
    assert "gets above 75" in rounded
    assert "with it" not in odds(numbers(attacks={}, best=None), [])


def test_the_odds_claim_no_limit_that_is_not_there():
    """Without noise, where it is contradicted, where too few were played, if it is assumed."""
    free = odds(numbers(bounds=()), [])
    assert "nothing is proved to keep an attacker from all 100" in free
    assert "is contradicted" in odds(numbers(), CLASH)
    few = odds(numbers(bounds=(share(0.7, 0.9999),)), [])
    assert "nothing below 100 is shown" in few
    assert "gets above 99" in odds(numbers(bounds=(share(0.7, 0.99),)), [])
    assumed = odds(numbers(prior_is_exact=False), [])
    assert "; if the prior is right, no attacker" in assumed
    beaten = odds(numbers(attacks={"a": attack(0.76)}), [])
    assert "; within sampling limits, no attacker" in beaten
    guessed = GuessResult(share=0.8, low=0.4, high=0.9, by_the_prior=None)
    both = odds(numbers(guess=guessed, attacks={}, best=None, prior_is_exact=False), [])
    assert "; within sampling limits, if the prior is right, no attacker" in both


def judged(status="met", rests_on=(), **more):
    return Judgement(status, "sampled", tuple(rests_on), (), (), more.pop("trials", None), **more)


def test_a_verdict_says_what_limits_everybody_unless_it_is_contradicted():
    told = numbers(ceiling=attack(0.65, 0.6001, 0.6999), groups=(group("m", 0.05),))
    words = verdict_words(told, None, judged())
    assert "Even an attacker who is told everybody else's secrets recovers 65.0%" in words
    assert "limits 60.0% to 70.0%)" in words
    assert "Proved: with confidence 95%, no attacker gets more than 7 of these 10" in words
    assert "within sampling limits, at most 8)" in words
    assert "Hardest hit by sex: m, from 30.0% guessed to 80.0% recovered" in words
    assert "The threshold" not in words
    refuted = Judgement("contradicted", "sampled", (), (), tuple(CLASH), None)
    assert "Proved" not in verdict_words(told, None, refuted)
    assert "Even an" not in verdict_words(told, None, refuted)
    real = verdict_words(numbers(ceiling=attack(0.65), prior_is_exact=False), None, judged())
    assert "if the prior is right)" in real
    assert "Proved if the prior is right: with confidence" in real
    beaten = verdict_words(numbers(ceiling=attack(0.55)), None, judged())
    assert "An attacker who is told everybody else's secrets recovered by chance" in beaten


def test_a_count_is_claimed_where_one_is_proved():
    near = count().model_copy(update={"reached": 6})
    words = verdict_words(numbers(bounds=(share(), near)), None, judged())
    assert "at most 8); some mechanism with this guarantee reaches 6." in words
    program = count(5, None).model_copy(update={"name": "swap-program"})
    bounds = (share(), count(), program)  # of others like them the first one's limit is left
    words = verdict_words(numbers(bounds=bounds), None, judged())
    assert "no attacker gets more than 5 of these 10" in words
    assert "at most 8)" in words
    words = verdict_words(numbers(bounds=(share(), count(7, 10))), None, judged())
    assert "within sampling limits, no limit is shown)" in words
    everybody = verdict_words(numbers(bounds=(share(), count(10, 10))), None, judged())
    assert "Nothing below all 10 is proved with confidence 95%." in everybody
    for bounds in ((share(1.0), count()), (share(),), (count(),)):
        assert "with confidence" not in verdict_words(numbers(bounds=bounds), None, judged())


@pytest.mark.parametrize(
    ("judgement", "says"),
    [
        (judged(rests_on=[excess("bound", None, -0.1)]), "is met: a theorem keeps every attacker"),
        (
            judged(rests_on=[excess("bound", None, -0.1), excess("ceiling", -0.2, -0.1, "g")]),
            "is met by measurement: the ceiling stays below it",
        ),
        (
            judged("inconclusive", [excess("bound", None, -0.1)], held_back_by="ε = 0.1"),
            "would be met by itself: a theorem",
        ),
        (
            judged("exceeded", [excess("attack", 0.1, 0.2, name="mine")]),
            "is exceeded: the attack `mine` gets above it",
        ),
        (judged("contradicted"), "cannot be judged while"),
        (
            judged(
                "too few trials",
                [excess("attack", -0.1, 0.2, name="a"), excess("attack", -0.1, 0.2, "g", "a")],
                trials=1234,
            ),
            "limits of `a`, `a` (g) to tell. About 1,300 trials would.",
        ),
        (judged("too few trials", [excess("bound", None, 0.1)], trials=7), "About 7 trials would"),
        (judged("inconclusive"), "is neither proved nor refuted"),
    ],
)
def test_a_threshold_is_judged_in_words(judgement, says):
    words = verdict_words(numbers(), ThresholdSpec(share=0.6), judgement)
    assert f"The threshold (a mean share of at most 60.0%) {says}" in words or says in words
    assert ("Not claimed in the sweep: at ε = 0.1" in words) == (judgement.held_back_by is not None)


def test_only_what_is_proved_or_limited_below_speaks_for_a_release():
    threshold = ThresholdSpec(share=0.8)
    told = numbers(ceiling=attack(0.65, 0.6, 0.7001))
    lost = excess("attack", -0.5, -0.4)
    bound, ceiling = excess("bound", None, -0.1), excess("ceiling", -0.2, -0.1)
    assert in_favour(told, threshold, [lost], [], ()) == []
    [proved] = in_favour(told, threshold, [bound, lost], [], ())
    assert proved.startswith("Proved: no attacker recovers more than 70.0% of these people")
    assert "20.0 points above the best guess" in proved
    [sampled] = in_favour(told, threshold, [ceiling], [], GIVEN)
    assert "recovers 65.0%, at most 70.1% within limits, if the prior is right." in sampled
    assert len(in_favour(told, threshold, [bound, ceiling], [], ())) == 2
    assert in_favour(told, threshold, [bound, ceiling], CLASH, GIVEN) == []
    above = excess("bound", None, 0.1)
    assert in_favour(told, threshold, [above, excess("ceiling", -0.1, 0.1)], [], ()) == []
    in_a_group = excess("bound", None, -0.1, "g")
    [groups] = in_favour(told, threshold, [in_a_group, excess("ceiling", -0.3, -0.2, "h")], [], ())
    assert "in 2 groups the limits stay below the threshold, nearest in g." in groups
    # without a threshold what is proved is said by itself
    [free] = in_favour(told, None, [], [], GIVEN)
    assert free.startswith("Proved if: the prior is right: no attacker")
    assert in_favour(numbers(bounds=(share(1.0),)), None, [], [], ()) == []


def test_a_limit_on_a_count_is_spoken_for_by_the_count():
    threshold = ThresholdSpec(targets=8)
    bound = excess("bound", None, -0.1)
    [said] = in_favour(numbers(), threshold, [bound], [], GIVEN)
    assert said.startswith(
        "Proved if the prior is right: with confidence 95%, no attacker gets more"
    )
    assert "than 7 of these 10" in said
    assert said.endswith("limits, 8).")
    assert in_favour(numbers(), threshold, [excess("bound", None, 0.1)], [], ()) == []
    assert in_favour(numbers(bounds=(share(),)), threshold, [bound], [], ()) == []


def test_what_speaks_against_a_release():
    quiet = {"gain": 0.0, "gain_low_joint": -0.1, "gain_high": 0.005}
    told = numbers(attacks={"a": attack(**quiet)})
    assert against(told, [], []) == []
    assert "the release guarantees nothing" in against(numbers(bounds=()), [], [])[0]
    noise = NoiseResult(kind="gaussian", scale=1.0)
    assert "too little noise" in against(numbers(bounds=(share(1.0),), noise=noise), [], [])[0]
    assert "guarantee is too weak" in against(numbers(bounds=(share(1.0),), noise=None), [], [])[0]
    assert against(told, [], CLASH) == [str(CLASH[0])]
    beyond = excess("attack", 0.1, 0.3, "g", "mine")
    [said] = against(told, [beyond, excess("attack", -0.1, 0.3), excess("bound", None, 0.3)], [])
    assert "the attack `mine` is 20.0 points of g above what the threshold allows" in said
    assert "(at least 10.0 points)" in said
    blind = attack(gain=-0.01, gain_low_joint=-0.4, gain_high=0.3)
    assert against(numbers(attacks={"a": blind}), [], []) != []
    blind = blind.model_copy(update={"uses": "prior"})
    assert against(numbers(attacks={"a": blind}), [], []) == []
    [worst] = against(numbers(attacks=told.attacks, groups=(group("m", 0.05),)), [], [])
    assert "hardest hit by sex: m (25.0% of the people)" in worst


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, "Sampled: the attack `a` learns from the release: it recovers 60.0%, and the same "
             "attempts 40.0% of fresh people"),
        ({"baseline_exact": False}, "attack 40.0% if it is shown a release of other secrets"),
        (
            {"gain_low_joint": -0.1,
             "approximate": ApproximateLimits(low=0.45, high=0.7, method="t")},
            "Open: the attack `a` seems to learn from the release: it recovers 60.0%",
        ),
        (
            {"gain_low_joint": None,
             "approximate": ApproximateLimits(low=0.4, high=0.7, method="t")},
            "Open: whether the attack `a` learns from the release: it recovers 60.0%",
        ),
        ({"gain_low_joint": 0.0}, "Open: whether the attack `a` learns"),
    ],
)  # fmt: skip
def test_what_the_best_attack_gains_is_said_at_the_joint_level(more, says):
    [said] = against(numbers(attacks={"a": attack(**more)}), [], [])
    assert says in said
    low = more.get("gain_low_joint", 0.1)
    assert f"apart by {points(-1.0 if low is None else low)} to 30.0 points" in said


def test_the_hardest_hit_group_is_the_one_that_is_surely_hit_hardest():
    found = most_vulnerable(numbers(groups=(group("m", 0.05), group("f", 0.07), group("x", 0.0))))
    assert (found[0].group, found[1]) == ("f", "a")
    assert most_vulnerable(numbers(groups=(group("x", 0.0), group("y", -0.1)))) is None


def rare(over_guess_low, gain_low, share_=0.4):
    """Give a group that is told by the secrets: the best guess gets nobody of it."""
    chance = GroupByChance(share=share_, gain=gain_low + 0.1, gain_low=gain_low)
    own = GroupAttack(share=0.5, low=0.1, high=0.9, baseline=0.3, over_guess=0.5,
                      over_guess_low=over_guess_low, people=5, by_chance=chance)  # fmt: skip
    return GroupResult(by="illness", group="rare", by_secret=True, share_of_people=0.02,
                       guess=LimitedMean(share=0.0, low=0.0, high=0.1), attacks={"a": own},
                       ceiling=None)  # fmt: skip


def test_who_names_rare_values_anyway_hits_nobody_hard():
    """It gets as much of strangers: what the best guess never names is no measure of it."""
    groups = (group("m", 0.05), rare(0.3, -0.05))
    assert most_vulnerable(numbers(groups=groups))[0].group == "m"
    assert most_vulnerable(numbers(groups=groups[1:])) is None
    hit = numbers(groups=(group("m", 0.05), rare(0.3, 0.1)))
    assert most_vulnerable(hit)[0].group == "rare"
    said = verdict_words(hit, None, judged("no threshold"))
    assert "Hardest hit by illness: rare, from 40.0% hit by chance to 50.0% recovered." in said
    assert "; 40.0% are hit by chance without the release" in " ".join(against(hit, [], []))
    never = numbers(groups=(rare(0.3, 0.1, share_=0.0),))
    assert "from 0.0% guessed to" in verdict_words(never, None, judged("no threshold"))


STUDY = {"threat": {"unknown": ["ill"], "targets": 9}, "bounds": {"confidence": [0.9, 0.5]}}
MECHANISMS = {
    "approximate": {"epsilon": 1.5, "delta": 1e-3},
    "pure": {"noise": "laplace", "epsilon": 1.5},
    "mu": {"epsilon": None, "mu": 0.7},
    "no point": {"epsilon": None, "mu": 1e-6},
}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_sums_over_the_people_and_over_the_members_of_each_group(ready, kind):
    """By the closed forms of exact match, person by person."""
    experiment = ready(**STUDY, mechanism=MECHANISMS[kind])
    targets, setting = experiment.known(0), experiment.settings[0]
    rng = np.random.default_rng(1)
    members = Members(9, ((rng.integers(0, 3, 9), 4), (rng.integers(0, 2, 9), 2)))
    masks = members.masks()
    assert masks.sum(axis=1).tolist()[3] == 0 < masks.sum(axis=1)[[0, 1, 2, 4, 5]].min()
    found = proved(targets, members, setting, (0.4, 0.8))
    prior, guarantee = np.asarray(targets.prior), setting.guarantee
    guess, share = prior.max(axis=1), each_success(prior, guarantee)
    assert (guess < 1).all()
    moments = np.stack([share, share**2, guess, guess**2, share * guess], axis=1)
    assert found["bound"] == pytest.approx(moments.sum(axis=0))
    for group, members in enumerate(masks):
        assert found["group_bound"][group] == pytest.approx(moments[members].sum(axis=0))
    for place, epsilon in enumerate((0.4, 0.8)):
        o = exact_match_optimum(prior, epsilon)
        pure = isinstance(guarantee, PureDP)
        cost = np.zeros(9) if pure else profile_multipliers(prior, guarantee, epsilon)[3]
        assert (cost <= guarantee.profile(epsilon) * (1 - o) + 1e-12).all()
        part = cost / max(float(guarantee.profile(epsilon)), 1e-300)
        sums = [o.sum(), (o**2).sum(), part.sum(), (part**2).sum()]
        assert found[f"single/{place}"] == pytest.approx(sums)
        plain, tails = interpolation_tails(o, cost), found[f"tails/{place}"]
        assert (tails <= plain + 1e-15).all()
        assert pure or (tails >= found["reached"] - 1e-12).all()  # at its own epsilon alone
        if pure:
            assert tails == pytest.approx(plain)
        assert found[f"tails/{place}"][0] == pytest.approx(1)
        assert found[f"tails/{place}"][-1] == 0
    assert ("published" in found) == ("share_single" in found) == (kind != "no point")


@pytest.mark.parametrize("kind", ["approximate", "pure"])
def test_one_point_alone_for_comparison(ready, kind):
    """Everybody recovered: the product of the chances given the output, plus n delta."""
    experiment = ready(**STUDY, mechanism=MECHANISMS[kind])
    targets, setting = experiment.known(0), experiment.settings[0]
    found = proved(targets, Members(9, ((np.zeros(9, int), 1),)), setting, (0.4,))
    prior = np.asarray(targets.prior)
    assert found["share_single"] == pytest.approx(each_success(prior, setting.single).mean())
    pure = isinstance(setting.single, PureDP)
    delta = 0.0 if pure else setting.single.delta
    assert delta == (0.0 if kind == "pure" else 1e-3)
    chances = posterior(prior.max(axis=1), 1.5)
    assert found["published"].shape == (11,)
    assert found["published"][9] == pytest.approx(np.prod(chances) + 9 * delta)
    assert found["published"][0] == 1
    assert found["published"][10] == 0
