"""Sentences about one setting: what is claimed of whom, rounded to the safe side."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.table_nodes import excess_of

from narcissus.bounds import each_success, exact_match_optimum, interpolation_tails, posterior
from narcissus.bounds.one_target import profile_multipliers
from narcissus.findings import Finding, contradictions
from narcissus.guarantees import PureDP
from narcissus.judgement import StudyJudgement
from narcissus.kinds.table.found import Accepted
from narcissus.kinds.table.population import Members, proved
from narcissus.kinds.table.sections import describe_results
from narcissus.kinds.table.words import glance, most_vulnerable
from narcissus.report.first_screen import paragraph
from narcissus.report.page import Figure, Grid
from narcissus.rows import Findings

from .conftest import Verdict

GIVEN = ("the prior is right",)
CLASH = contradictions([
    Finding("share", "a theorem", high=0.5, assumptions=GIVEN),
    Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95),
])  # fmt: skip

NOTHING_OPEN = SimpleNamespace(
    other_priors=(),
    examined=(),
    behind_bins=(),
    order_examined=False,
    unit=None,
    unaccounted=(),
)
"""What a verdict in words reads of a result in which nothing is open."""


def group(label, over_low, over_high=0.9, **more):
    own = {"share": 0.8, "low": 0.1, "high": 0.9, "baseline": 0.3,
           "over_guess": max(0.1, over_low),
           "over_guess_low": over_low, "over_guess_high": over_high, "people": 5}  # fmt: skip
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
    return excess_of(role, name or role, of, group, value, low, high)


def test_limits_are_rounded_to_the_safe_side(numbers, attack, share, count):
    best = attack(gain_low_joint=0.0129, gain_low=0.0, gain_high=0.3001)
    setting = numbers(attacks={"a": best}, bounds=(share(most=0.70001), count()))
    grids = tables_of(setting)
    [attacks] = [grid for caption, grid in grids.items() if "the attacks" in caption]
    place = attacks.columns.index("More than its baseline, points")
    [row] = [row for row in attacks.rows if row[0] == "a"]
    assert row[place] == "+1.2 to +30.1"
    says = [row[3] for row in grids["Bounds for the same prior: what no attacker exceeds"].rows]
    assert "mean share of these people at most 70.1%" in says


def tables_of(setting):
    """Return the tables of results by their captions."""
    blocks = describe_results([setting], setting).blocks
    grids = [block.table if isinstance(block, Figure) else block for block in blocks]
    return {grid.caption: grid for grid in grids if isinstance(grid, Grid)}


def test_what_is_compared_with_a_threshold_is_a_row_each_with_limits_rounded_outwards(numbers):
    compared = excess("attack", 0.1, 0.3001, "g", "mine"), excess("bound", None, 0.3)
    setting = numbers(threshold=Accepted(share=0.6), excesses=list(compared))
    [grid] = [g for caption, g in tables_of(setting).items() if "threshold" in caption]
    assert [list(row)[-3:] for row in grid.rows] == [
        ["+20.0", "+10.0", "+30.1"],
        ["+30.0", "—", "+30.0"],
    ]
    assert [row[grid.columns.index("Of")] for row in grid.rows] == ["mine", "bound"]


def said_of(setting):
    """Return the verdict of one setting in words."""
    case = StudyJudgement(
        Findings(
            (),
            (),
            NOTHING_OPEN,
        ),
        (setting,),
    )
    return paragraph(case, glance(case))


def test_the_verdict_names_the_limit_of_all_people_rounded_up(numbers, share):
    said = said_of(numbers())
    assert "the best guess gets 50 of 100 people right" in said
    assert "the best attack gets 60 of 100 right. No attacker gets" in said
    assert "75 of 100 right on average. This is a theorem, if people are as the prior says" in said
    assert "more than 76 of" in said_of(numbers(bounds=(share(0.7, 0.7500001),)))
    assert "more than 75 of" in said_of(numbers(bounds=(share(0.7, 0.75 + 1e-13),)))
    assert "No attack was run." in said_of(numbers(attacks={}))


def test_the_verdict_claims_no_limit_that_is_not_there(numbers, share, attack):
    """Without noise, where it is contradicted, where too few were played, if it is assumed."""
    free = "might get all 100 people right: no lower limit is proved"
    for nothing in ({"bounds": ()}, {"clash": CLASH}, {"bounds": (share(0.7, 0.9999),)},
                    {"bounds": (share(0.8, 1.0, grade="not assessed"),)}):  # fmt: skip
        assert free in said_of(numbers(**nothing))
    assert "more than 99 of" in said_of(numbers(bounds=(share(0.7, 0.99),)))
    assumed = said_of(numbers(prior_is_exact=False))
    assert "If the prior is right, no attacker" in assumed
    beaten = said_of(numbers(attacks={"a": attack(0.76, high=0.8)}))
    assert "These trials came out higher by chance." in beaten
    guessed = {"share": 0.8, "low": 0.4, "high": 0.9, "by_the_prior": None}
    both = said_of(numbers(guess=guessed, attacks={}, prior_is_exact=False))
    assert "If the prior is right" in both
    assert "higher by chance" in both


def test_a_count_limits_where_no_share_does(numbers, count):
    said = said_of(numbers(bounds=(count(),)))
    assert "In 95 of 100 releases, no attacker gets more than 70 of 100 right." in said
    assert "all 100 people" in said_of(numbers(bounds=(count(10, 10),)))


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        (Verdict("met"), "Met: Your threshold, 60 of 100 right on average, is kept."),
        (Verdict("exceeded"), "Exceeded: Your threshold, 60 of 100 right on average, is exceeded."),
        (Verdict("contradicted"), "An assumption of this report is refuted"),
        (Verdict("too few trials", trials=1234), "are too few; about 1,300 would probably do."),
        (Verdict("too few trials", trials=7), "about 7 would probably do"),
        (Verdict("inconclusive"), "Not decided: No attack is shown to exceed your threshold"),
        (
            Verdict("inconclusive", held_back_by="ε = 0.1"),
            "is not decided: ε = 0.1 has more protection, and misses the threshold.",
        ),
    ],
)
def test_a_threshold_is_judged_in_words(verdict, says, numbers):
    said = said_of(numbers(threshold=Accepted(share=0.6), verdict=verdict))
    assert says in said
    assert ("is kept" in said) == (verdict.status == "met")


def test_the_hardest_hit_group_is_the_one_that_is_surely_hit_hardest(numbers):
    """Its gain is above what the others of its partition may gain; else no group is named."""
    others = group("m", 0.05, 0.2), group("x", 0.0, 0.3)
    found = most_vulnerable(numbers(groups=(*others, group("f", 0.31))))
    assert (found[0].group, found[1]) == ("f", "a")
    assert most_vulnerable(numbers(groups=(*others, group("f", 0.29)))) is None
    assert most_vulnerable(numbers(groups=(group("f", 0.31),))) is None  # above nobody
    of_another = group("y", 0.0, 0.9, by="age"), group("z", 0.0, 0.9, by="age")
    found = most_vulnerable(numbers(groups=(*others, group("f", 0.31), *of_another)))
    assert found[0].group == "f"
    assert most_vulnerable(numbers(groups=(group("x", 0.0), group("y", -0.1, -0.05)))) is None


def rare(over_guess_low, gain_low, share_=0.4):
    """Give a group that is told by the secrets: the best guess gets nobody of it."""
    own = {"share": 0.5, "low": 0.1, "high": 0.9, "baseline": 0.3, "over_guess": 0.5,
           "over_guess_low": over_guess_low, "over_guess_high": 0.6, "people": 5,
           "by_chance": {"share": share_, "gain": gain_low + 0.1,
                         "gain_low": gain_low}}  # fmt: skip
    return {"by": "illness", "group": "rare", "by_secret": True, "share_of_people": 0.02,
            "guess": {"share": 0.0, "low": 0.0, "high": 0.1}, "attacks": {"a": own},
            "ceiling": None}  # fmt: skip


def test_who_names_rare_values_anyway_hits_nobody_hard(numbers):
    """It gets as much of strangers: what the best guess never names is no measure of it."""
    common = group("common", 0.0, 0.05, by="illness")
    groups = (group("m", 0.05, 0.1), group("f", 0.0, 0.04), common, rare(0.3, -0.05))
    assert most_vulnerable(numbers(groups=groups))[0].group == "m"
    assert most_vulnerable(numbers(groups=groups[2:])) is None
    hit = numbers(groups=(*groups[:2], common, rare(0.3, 0.1)))
    assert most_vulnerable(hit)[0].group == "rare"
    case = StudyJudgement(
        Findings(
            (),
            (),
            NOTHING_OPEN,
        ),
        (hit,),
    )
    hardest = glance(case).hardest
    assert "“illness: rare”" in hardest
    assert "50 of 100 of them right, guessing 40 of 100" in hardest
    never = numbers(groups=(common, rare(0.3, 0.1, share_=0.0)))
    assert most_vulnerable(never)[0].guess.share == 0


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
