"""Sentences about one setting: what is claimed of whom, rounded to the safe side."""

import numpy as np
import pytest

from narcissus.bounds import each_success, exact_match_optimum, interpolation_tails, posterior
from narcissus.bounds.one_target import profile_multipliers
from narcissus.findings import Finding, contradictions
from narcissus.guarantees import PureDP
from narcissus.kinds.table import words
from narcissus.kinds.table.found import Accepted, Excess, NoiseDetail
from narcissus.kinds.table.judgement import Judgement
from narcissus.kinds.table.population import Members, proved
from narcissus.kinds.table.words import most_vulnerable, percent, points, threshold_text

GIVEN = ("the prior is right",)
CLASH = contradictions([
    Finding("share", "a theorem", high=0.5, assumptions=GIVEN),
    Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95),
])  # fmt: skip


def group(label, over_low, **more):
    own = {"share": 0.8, "low": 0.1, "high": 0.9, "baseline": 0.3, "over_guess": 0.1,
           "over_guess_low": over_low, "people": 5}  # fmt: skip
    return {"by": "sex", "group": label, "by_secret": False, "share_of_people": 0.25,
            "guess": {"share": 0.3, "low": 0.2, "high": 0.4}, "attacks": {"a": own},
            "ceiling": None, **more}  # fmt: skip


@pytest.fixture
def attack(attack_of):
    return attack_of


@pytest.fixture
def share(share_bound):
    return share_bound


@pytest.fixture
def count(count_bound):
    return lambda most=7, whole=8, of=10, **more: count_bound(most, whole, of, **more)


@pytest.fixture
def numbers(setting_of, share_bound, count_bound, attack_of):
    def make(**changes):
        told = {"attacks": {"a": attack_of()}, "bounds": (share_bound(), count_bound())}
        return setting_of(**{**told, **changes})

    return make


def excess(role, low, high, group="", name=None, of="share"):
    value = (high + (low if low is not None else high)) / 2
    return Excess(role, name or role, of, group, value, low, high)


def test_limits_are_rounded_to_the_safe_side(numbers, attack, share, count):
    best = attack(gain_low_joint=0.0129, gain_low=0.0, gain_high=0.3001)
    assert "apart by 1.2 points to 30.1 points" in " ".join(
        words.against(numbers(attacks={"a": best}))
    )
    bounded = numbers(bounds=(share(most=0.70001), count()))
    assert "more than 70.1% of these people on average, 20.1 points above" in " ".join(
        words.in_favour(bounded)
    )
    said = words.verdict_words(numbers(ceiling=attack(0.6, 0.5999, 0.6001)))
    assert "limits 59.9% to 60.1%" in said


def test_numbers_in_words():
    assert percent(None) == "not known"
    assert points(0.1234) == "12.3 points"
    assert threshold_text(Accepted(share=0.5)) == "a mean share of at most 50.0%"
    both = Accepted(advantage=0.1, worst_group=0.2)
    assert threshold_text(both) == "a mean advantage of at most 10.0%, 20.0% in a group"
    assert threshold_text(Accepted(targets=3)) == "at most 3 targets recovered"


def test_the_odds_name_the_limit_of_all_people_rounded_up(numbers, share):
    assert "50 are guessed right" in words.odds(numbers())
    assert "60 with it; no attacker gets above 75" in words.odds(numbers())
    above = words.odds(numbers(bounds=(share(0.7, 0.7500001),)))
    assert "gets above 76" in above
    rounded = words.odds(numbers(bounds=(share(0.7, 0.75 + 1e-13),)))
    assert "gets above 75" in rounded
    assert "with it" not in words.odds(numbers(attacks={}))


def test_the_odds_claim_no_limit_that_is_not_there(numbers, share, attack):
    """Without noise, where it is contradicted, where too few were played, if it is assumed."""
    free = words.odds(numbers(bounds=()))
    assert "nothing is proved to keep an attacker from all 100" in free
    assert "is contradicted" in words.odds(numbers(clash=CLASH))
    few = words.odds(numbers(bounds=(share(0.7, 0.9999),)))
    assert "nothing below 100 is shown" in few
    assert "gets above 99" in words.odds(numbers(bounds=(share(0.7, 0.99),)))
    assumed = words.odds(numbers(prior_is_exact=False))
    assert "; if the prior is right, no attacker" in assumed
    beaten = words.odds(numbers(attacks={"a": attack(0.76, high=0.8)}))
    assert "; within sampling limits, no attacker" in beaten
    guessed = {"share": 0.8, "low": 0.4, "high": 0.9, "by_the_prior": None}
    both = words.odds(numbers(guess=guessed, attacks={}, prior_is_exact=False))
    assert "; within sampling limits, if the prior is right, no attacker" in both


def test_a_limit_of_everybody_under_noise_is_not_called_no_noise(numbers, share):
    weak, none = share(0.8, 1.0, guarantee="1-GDP"), share(0.8, 1.0, grade="not assessed")
    said = words.odds(numbers(attacks={}, bounds=(weak,)))
    assert "nothing is proved" not in said
    assert "nothing below 100" in said
    assert "nothing is proved" in words.odds(numbers(attacks={}, bounds=(none,)))


def judged(status="met", rests_on=(), **more):
    return Judgement(status, "sampled", tuple(rests_on), (), (), more.pop("trials", None), **more)


def test_a_verdict_says_what_limits_everybody_unless_it_is_contradicted(numbers, attack):
    told = {"ceiling": attack(0.65, 0.6001, 0.6999), "groups": (group("m", 0.05),)}
    said = words.verdict_words(numbers(**told, judgement=judged()))
    assert "Even an attacker who is told everybody else's secrets recovers 65.0%" in said
    assert "limits 60.0% to 70.0%)" in said
    assert "Proved: with confidence 95%, no attacker gets more than 7 of these 10" in said
    assert "within sampling limits, at most 8)" in said
    assert "Hardest hit by sex: m, from 30.0% guessed to 80.0% recovered" in said
    assert "The threshold" not in said
    refuted = words.verdict_words(numbers(**told, clash=CLASH))
    assert "Proved" not in refuted
    assert "Even an" not in refuted
    real = words.verdict_words(numbers(ceiling=attack(0.65), prior_is_exact=False))
    assert "if the prior is right)" in real
    assert "Proved if the prior is right: with confidence" in real
    beaten = words.verdict_words(numbers(ceiling=attack(0.55)))
    assert "An attacker who is told everybody else's secrets recovered by chance" in beaten


def test_a_count_is_claimed_where_one_is_proved(numbers, share, count):
    def said(*bounds):
        return words.verdict_words(numbers(bounds=bounds))

    assert "at most 8); some mechanism with this guarantee reaches 6." in said(
        share(), count(reached=6)
    )
    program = said(share(), count(), count(5, None, name="swap-program"))
    assert "no attacker gets more than 5 of these 10" in program
    assert "at most 8)" in program  # of others like them the first one's limit is left
    assert "within sampling limits, no limit is shown)" in said(share(), count(7, 10))
    everybody = said(share(), count(10, 10))
    assert "Nothing below all 10 is proved with confidence 95%." in everybody
    for bounds in ((share(1.0, 1.0), count()), (share(),), (count(),)):
        assert "with confidence" not in said(*bounds)


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
def test_a_threshold_is_judged_in_words(judgement, says, numbers):
    said = words.verdict_words(numbers(threshold=Accepted(share=0.6), judgement=judgement))
    assert f"The threshold (a mean share of at most 60.0%) {says}" in said or says in said
    assert ("Not claimed in the sweep: at ε = 0.1" in said) == (judgement.held_back_by is not None)


def test_only_what_is_proved_or_limited_below_speaks_for_a_release(numbers, attack, share):
    ceiling = attack(0.65, 0.6, 0.7001)

    def said(*excesses, threshold=Accepted(share=0.8), **more):
        told = {"ceiling": ceiling, "threshold": threshold, "excesses": excesses}
        return words.in_favour(numbers(**{**told, **more}))

    lost = excess("attack", -0.5, -0.4)
    bound, below = excess("bound", None, -0.1), excess("ceiling", -0.2, -0.1)
    assert said(lost) == []
    [proved] = said(bound, lost)
    assert proved.startswith("Proved: no attacker recovers more than 70.0% of these people")
    assert "20.0 points above the best guess" in proved
    [sampled] = said(below, given=GIVEN)
    assert "recovers 65.0%, at most 70.1% within limits, if the prior is right." in sampled
    assert len(said(bound, below)) == 2
    assert said(bound, below, clash=CLASH, given=GIVEN) == []
    assert said(bound, judgement=judged("inconclusive", held_back_by="ε = 0.1")) == []
    assert said(excess("bound", None, 0.1), excess("ceiling", -0.1, 0.1)) == []
    [groups] = said(excess("bound", None, -0.1, "g"), excess("ceiling", -0.3, -0.2, "h"))
    assert "in 2 groups the limits stay below the threshold, nearest in g." in groups
    # without a threshold what is proved is said by itself
    [free] = said(threshold=None, given=GIVEN)
    assert free.startswith("Proved if: the prior is right: no attacker")
    assert said(threshold=None, bounds=(share(1.0, 1.0),)) == []


def test_a_limit_on_a_count_is_spoken_for_by_the_count(numbers, share):
    def said(high, **more):
        bound = excess("bound", None, high, of="targets")
        return words.in_favour(numbers(threshold=Accepted(targets=8), excesses=[bound], **more))

    [proved] = said(-0.1, given=GIVEN)
    assert proved.startswith(
        "Proved if the prior is right: with confidence 95%, no attacker gets more"
    )
    assert "than 7 of these 10" in proved
    assert proved.endswith("limits, 8).")
    assert said(0.1) == []
    assert said(-0.1, bounds=(share(),)) == []


def test_what_speaks_against_a_release(numbers, attack, share):
    quiet = attack(gain=0.0, gain_low=-0.1, gain_low_joint=-0.1, gain_high=0.005)

    def said(**more):
        return words.against(numbers(**{"attacks": {"a": quiet}, **more}))

    assert said() == []
    assert "the release guarantees nothing" in said(bounds=())[0]
    noise, weak = NoiseDetail(kind="gaussian", scale=1.0), (share(1.0, 1.0),)
    assert "too little noise" in said(bounds=weak, noise=noise)[0]
    assert "guarantee is too weak" in said(bounds=weak)[0]
    assert said(clash=CLASH) == [str(CLASH[0])]
    beyond = excess("attack", 0.1, 0.3, "g", "mine")
    [one] = said(excesses=[beyond, excess("attack", -0.1, 0.3), excess("bound", None, 0.3)])
    assert "the attack `mine` is 20.0 points of g above what the threshold allows" in one
    assert "(at least 10.0 points)" in one
    blind = {"gain": -0.01, "gain_low": -0.4, "gain_low_joint": -0.4, "gain_high": 0.3}
    assert said(attacks={"a": attack(**blind)}) != []
    assert said(attacks={"a": attack(**blind, uses="prior")}) == []
    [worst] = said(groups=(group("m", 0.05),))
    assert "hardest hit by sex: m (25.0% of the people)" in worst


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, "Sampled: the attack `a` learns from the release: it recovers 60.0%, and the same "
             "attempts 40.0% of fresh people"),
        ({"baseline_exact": False}, "attack 40.0% if it is shown a release of other secrets"),
        (
            {"gain_low_joint": -0.1, "approximate": {"low": 0.45, "high": 0.7, "method": "t"}},
            "Open: the attack `a` seems to learn from the release: it recovers 60.0%",
        ),
        (
            {"gain_low_joint": None, "approximate": {"low": 0.4, "high": 0.7, "method": "t"}},
            "Open: whether the attack `a` learns from the release: it recovers 60.0%",
        ),
        ({"gain_low_joint": 0.0}, "Open: whether the attack `a` learns"),
    ],
)  # fmt: skip
def test_what_the_best_attack_gains_is_said_at_the_joint_level(more, says, numbers, attack):
    [said] = words.against(numbers(attacks={"a": attack(**more)}))
    assert says in said
    low = more.get("gain_low_joint", 0.1)
    assert f"apart by {points(-1.0 if low is None else low)} to 30.0 points" in said


def test_the_hardest_hit_group_is_the_one_that_is_surely_hit_hardest(numbers):
    found = most_vulnerable(numbers(groups=(group("m", 0.05), group("f", 0.07), group("x", 0.0))))
    assert (found[0].group, found[1]) == ("f", "a")
    assert most_vulnerable(numbers(groups=(group("x", 0.0), group("y", -0.1)))) is None


def rare(over_guess_low, gain_low, share_=0.4):
    """Give a group that is told by the secrets: the best guess gets nobody of it."""
    own = {"share": 0.5, "low": 0.1, "high": 0.9, "baseline": 0.3, "over_guess": 0.5,
           "over_guess_low": over_guess_low, "people": 5,
           "by_chance": {"share": share_, "gain": gain_low + 0.1,
                         "gain_low": gain_low}}  # fmt: skip
    return {"by": "illness", "group": "rare", "by_secret": True, "share_of_people": 0.02,
            "guess": {"share": 0.0, "low": 0.0, "high": 0.1}, "attacks": {"a": own},
            "ceiling": None}  # fmt: skip


def test_who_names_rare_values_anyway_hits_nobody_hard(numbers):
    """It gets as much of strangers: what the best guess never names is no measure of it."""
    groups = (group("m", 0.05), rare(0.3, -0.05))
    assert most_vulnerable(numbers(groups=groups))[0].group == "m"
    assert most_vulnerable(numbers(groups=groups[1:])) is None
    hit = numbers(groups=(group("m", 0.05), rare(0.3, 0.1)))
    assert most_vulnerable(hit)[0].group == "rare"
    said = words.verdict_words(hit)
    assert "Hardest hit by illness: rare, from 40.0% hit by chance to 50.0% recovered." in said
    assert "; 40.0% are hit by chance without the release" in " ".join(words.against(hit))
    never = numbers(groups=(rare(0.3, 0.1, share_=0.0),))
    assert "from 0.0% guessed to" in words.verdict_words(never)


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
