"""Verdicts: what they rest on, and that no record contradicts its own."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.table_nodes import excess_of

import narcissus
from narcissus.evidence import clopper_pearson
from narcissus.findings import Finding, contradictions
from narcissus.kinds.table.judgement import statements
from narcissus.kinds.table.kind import KIND
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.study.reading import read_record

from .conftest import compared


def settings_of(record="results/s"):
    """Judge the settings of a record, or of one that is kept."""
    found = record if not isinstance(record, str) else read_record(record)
    return KIND.judged(found).each


COPY = """
class Correlation:
    title, uses, informed = "says what the known column says", "prior", False
    def guess(self, view, *, rng):
        return view.targets.codes[:, 0].astype("int64")
"""


def correlated(rows=1500):
    """A secret that is a known column in 97% of the rows."""
    chance = random.Random(1)
    lines = ["k,a,secret"]
    for _ in range(rows):
        k = chance.choice("yn")
        s = k if chance.random() < 0.97 else {"y": "n", "n": "y"}[k]
        lines.append(f"{k},{chance.choice('abc')},{s}")
    Path("people.csv").write_text("\n".join(lines) + "\n")


ROWS = {
    "data": {"path": "people.csv"},
    "threat": {"unknown": ["secret"], "people": "rows", "targets": 50},
    "prior": {"name": "independent"},
    "mechanism": {"k": 2, "epsilon": 0.1},
    "run": {"trials": 30, "seed": 2},
}


@pytest.mark.parametrize("threshold", [{"share": 0.6}, {"advantage": 0.1}, {"targets": 45}, None])
@pytest.mark.parametrize("own", [True, False], ids=["with the attack", "without"])
def test_a_wrong_prior_is_the_verdict(study, narcissus, threshold, own):
    """Issue: 'met, proved: no attacker above 51%' beside an attack at 97%."""
    correlated()
    Path("mine.py").write_text(COPY)
    attacks = {"prior": {}, "posterior": {}, "ceiling": {}}
    if own:
        attacks["own"] = {"name": "mine:Correlation"}
    path = study(**ROWS, attacks=attacks, **({} if threshold is None else {"threshold": threshold}))
    code, out, _ = narcissus("audit", path, "--json", "--quiet", "--allow-code")
    record = json.loads(out)
    if threshold == {"targets": 45} and not own:
        # more than 45 of 50 are never recovered without the correlation: nothing contradicts it
        assert record["status"] in ("met", "contradicted")
        assert record["assumptions"] or record["contradictions"]
        return
    assert record["status"] in ("exceeded", "contradicted")
    assert code in (1, 3)
    assert "fitted prior is right about these real people" in record["contradictions"][0]
    code, text, _ = narcissus("report", "results/s/record.json", "--text")
    top = " ".join(text.split("What was assessed")[0].split())
    assert "Refuted: that the fitted prior is right" in top
    assert "■ proved" not in top
    assert "△ proved if" not in top
    if own and threshold is not None and "share" in threshold:
        assert record["status"] == "exceeded"


def test_a_prior_that_passes_is_still_an_assumption(study, narcissus):
    path = study(
        threat={"people": "rows", "targets": 40},
        mechanism={"epsilon": 0.2},
        threshold={"share": 0.9},
        run={"trials": 40},
    )
    code, out, _ = narcissus("audit", path, "--json", "--quiet")
    record = json.loads(out)
    assert (code, record["status"]) == (0, "met")
    assert record["assumptions"] == ["the fitted prior is right about these real people"]
    html = Path("results/s/report.html").read_text()
    assert 'class="verdict tone-met unsure"' in html
    assert "proved if" in html
    assert "no attacker here: proved" not in html


def test_too_few_trials_is_a_status_with_the_number_that_would_settle_it(
    study, narcissus, verdict_in
):
    path = study(mechanism={"epsilon": "=inf"}, threshold={"share": 0.9}, run={"trials": 5})
    code, out, _ = narcissus("audit", path, "--json", "--quiet")
    record = json.loads(out)
    assert (code, record["status"]) == (3, "too few trials")
    [one] = settings_of()
    needed = one.trials_needed
    assert needed > 5
    assert f"about {needed} would probably do" in verdict_in(record)
    more = study(
        mechanism={"epsilon": "=inf"}, threshold={"share": 0.9}, run={"trials": 2 * needed}
    )
    code, out, _ = narcissus("audit", more, "--json", "--quiet", "--out", "results/more")
    assert (code, json.loads(out)["status"]) == (1, "exceeded")


LEVELS = st.floats(-0.5, 0.5)


@st.composite
def some_excesses(draw):
    found = []
    for group in draw(st.sampled_from([[""], ["", "g"], ["", "g", "h"]])):
        for role in draw(st.sets(st.sampled_from(["attack", "ceiling", "bound"]), min_size=1)):
            low, value, high = sorted(draw(st.tuples(LEVELS, LEVELS, LEVELS)))
            trials = draw(st.none() | st.integers(1, 1000))
            low = None if role == "bound" else low
            found.append(excess_of(role, role, "share", group, value, low, high, trials=trials))
    return found


@settings(max_examples=400, deadline=None)
@given(some_excesses(), st.booleans(), st.booleans())
def test_a_status_never_goes_beyond_what_it_rests_on(held, contradicted, assumes):
    bound = Finding("share", "a theorem", high=0.5, assumptions=("it is so",) if assumes else ())
    attack = Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95)
    clashes = contradictions([bound, attack] if contradicted else [bound])
    given_ = ["it is so"] if assumes else []
    found = compared(ThresholdSpec(share=0.6), held, clashes, given_)
    beyond = any(e.role == "attack" and e.low > 0 for e in held)
    groups = {e.group for e in held}
    kept = {e.group for e in held if e.role != "attack" and e.high <= 0}
    assert (found.status == "exceeded") == beyond
    if contradicted:
        assert found.status in ("exceeded", "contradicted")
        assert found.contradictions
    else:
        assert (found.status == "met") == (not beyond and kept == groups)
    if found.status == "met":
        assert found.assumptions == tuple(given_)
        assert found.grade == "sampled"
    if found.status == "too few trials":
        assert found.trials_needed is not None
        assert not beyond
    else:
        assert found.trials_needed is None


def test_without_a_threshold_a_contradiction_is_still_the_status():
    bound = Finding("share", "a theorem", high=0.5, assumptions=("it is so",))
    attack = Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95)
    found = compared(None, [], contradictions([bound, attack]), ["it is so"])
    assert found.status == "contradicted"
    assert compared(None, [], [], []).status == "no threshold"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.one_in(3)
def test_no_record_contradicts_its_verdict(study, seed):
    """Random small studies: what the headline says is what the numbers of the record say."""
    chance = random.Random(seed)
    people = chance.choice(["prior", "rows"])
    limit = chance.choice([{"share": chance.uniform(0.3, 1)}, {"advantage": chance.random()}])
    if chance.random() < 0.5:
        limit["worst_group"] = chance.random()
    path = study(
        threat={"people": people, "targets": chance.choice([5, 20])},
        prior={"name": chance.choice(["independent", "bayesian-network"])},
        mechanism={"epsilon": chance.choice([0.1, 1.0, 5.0, [0.5, 20.0], [1.0, "=inf"]])},
        threshold=limit,
        groups={"columns": ["sex"]},
        run={"trials": chance.choice([2, 15, 40]), "seed": seed},
    )
    audit = narcissus.run(narcissus.load_study(path))
    assert audit.status != "contradicted" or people == "rows"
    for one in settings_of(audit.record):
        shown = [*one.result.attacks.values(), one.result.ceiling]
        proved = min(bound.at_most for bound in one.result.bounds if bound.is_share)
        if people == "prior":
            for found in shown:
                assert found.share <= proved + 1e-12
                assert found.share <= one.result.ceiling.share + 1e-12
                assert found.low <= found.share <= found.high
                low, high = found.quantity.approximate
                assert low <= found.share <= high
        held = one.result.excesses
        if one.status == "met":
            assert not any(e.role == "attack" and e.low > 0 for e in held)
            for group in {e.group for e in held}:
                limits = [e.high for e in held if e.group == group and e.role != "attack"]
                assert min(limits) <= 0
        if one.status == "exceeded":
            assert any(e.role == "attack" and e.low > 0 for e in held)
        if one.contradictions:
            assert one.status in ("exceeded", "contradicted")


def excess(role, value, low=None, high=None, trials=None, group="", name=None):
    return excess_of(role, name or role, "share", group, value, low, high, trials=trials)


BOUND = Finding("share", "a theorem", high=0.5, assumptions=("it is so",))
ABOVE = Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95)
CLASH = contradictions([BOUND, ABOVE])
SHARE = ThresholdSpec(share=0.6)
LOST = excess("attack", -0.1, -0.2, 0.1)
MET = excess("bound", -0.2, None, -0.1)
CEILING_BELOW = excess("ceiling", -0.1, -0.2, 0.0)


def test_the_attack_that_is_surely_furthest_beyond_is_what_it_rests_on():
    """By its lower limit, not by its value; an attack at the threshold is not beyond it."""
    wide = excess("attack", 0.4, 0.05, 0.6, name="wide")
    sure = excess("attack", 0.2, 0.1, 0.3, name="sure", group="g")
    at_it = excess("attack", 0.2, 0.0, 0.3, name="at it")
    for clash in ((), CLASH):
        found = compared(SHARE, [MET, wide, at_it, sure, CEILING_BELOW], clash, ["it is so"])
        assert (found.status, found.basis) == ("exceeded", (sure,))
        assert found.assumptions == ()  # an attack takes nothing as given
        assert found.grade == "sampled"
        assert found.clashes == tuple(clash)
    assert compared(SHARE, [at_it, MET], (), []).status == "met"


def test_a_threshold_is_met_by_a_bound_or_by_the_ceiling_for_everybody():
    found = compared(SHARE, [LOST, CEILING_BELOW, MET], (), ["it is so"])
    assert (found.status, found.basis) == ("met", (MET,))
    assert found.assumptions == ("it is so",)
    only = compared(SHARE, [LOST, CEILING_BELOW], (), [])
    assert (only.status, only.basis, only.trials_needed) == ("met", (CEILING_BELOW,), None)
    open_bound = excess("bound", -0.05, None, 0.01, trials=80)
    either = compared(SHARE, [LOST, open_bound, CEILING_BELOW], (), [])
    assert (either.status, either.basis) == ("met", (CEILING_BELOW,))
    # what no attack beats is no limit: nobody is kept by an attack that fails
    assert compared(SHARE, [excess("attack", -0.5, -0.6, -0.4)], (), []).status == "inconclusive"
    unlimited = excess("bound", -0.2, None, None)
    assert compared(SHARE, [unlimited], (), []).status == "inconclusive"


def test_every_group_must_be_kept():
    """By whatever keeps it; the nearest that more trials would settle counts where one is open."""
    kept = excess("bound", -0.2, None, -0.1, group="g")
    met = compared(SHARE, [MET, kept], (), [])
    assert (met.status, met.basis) == ("met", (MET, kept))
    bound = excess("bound", -0.1, None, 0.1, trials=500, group="g")
    ceiling = excess("ceiling", -0.1, -0.2, 0.1, trials=300, group="g")
    lost = excess("attack", -0.3, -0.4, 0.0, group="g")
    found = compared(SHARE, [MET, LOST, lost, bound, ceiling], (), ["it is so"])
    assert (found.status, found.basis) == ("too few trials", (ceiling,))
    assert found.trials_needed == 300
    assert found.assumptions == ("it is so",)
    # a group that nothing could ever keep leaves it open for good
    beyond = excess("ceiling", 0.1, -0.1, 0.2, trials=60, group="h")
    other = compared(SHARE, [MET, bound, beyond], (), [])
    assert (other.status, other.trials_needed) == ("inconclusive", None)
    assert other.basis == (MET, bound, beyond)
    touching = excess("bound", 0.0, None, 0.1, trials=40, group="g")
    assert compared(SHARE, [MET, touching], (), []).trials_needed == 40
    two = compared(SHARE, [excess("bound", -0.1, None, 0.1, trials=70), bound], (), [])
    assert (two.trials_needed, len(two.basis)) == (500, 2)


def test_an_attack_that_seems_beyond_is_open_before_what_nearly_keeps_it():
    seems = excess("attack", 0.1, -0.1, 0.2, trials=60)
    other = excess("attack", 0.05, -0.1, 0.2, trials=90, group="g")
    below = excess("attack", -0.05, -0.1, 0.2, trials=900)
    at_it = excess("attack", 0.0, -0.1, 0.2, trials=901)
    settled = excess("attack", 0.1, -0.1, 0.2)
    bound = excess("bound", -0.1, None, 0.1, trials=500)
    found = compared(SHARE, [bound, seems, other, below, at_it, settled], (), [])
    assert (found.status, found.basis) == ("too few trials", (seems, other))
    assert found.trials_needed == 90
    assert compared(SHARE, [bound, below, at_it, settled], (), []).basis == (bound,)


def test_what_is_contradicted_has_the_weaker_grade_and_takes_nothing_as_given():
    proofs = contradictions([BOUND, Finding("share", "another", low=0.9)])
    for clash, grade in ((CLASH, "sampled"), (proofs, "proved if"), ([*proofs, *CLASH], "sampled")):
        for threshold in (SHARE, None):
            found = compared(threshold, [LOST, MET], clash, ["it is so"])
            assert (found.status, found.grade) == ("contradicted", grade)
            assert found.assumptions == ()
            assert found.clashes == tuple(clash)
            assert found.basis == ()


def test_without_a_threshold_what_was_measured_is_sampled():
    found = compared(None, [], [], ["it is so"])
    assert (found.status, found.grade, found.basis) == ("no threshold", "sampled", ())
    assert found.assumptions == ("it is so",)
    assert (found.trials_needed, found.held_back_by) == (None, None)


def test_a_verdict_has_the_weakest_grade_of_what_it_rests_on():
    proved = excess_of("bound", "bound", "share", "", MET.value, MET.low, MET.high, kind="proved")
    group = excess_of("bound", "bound", "share", "g", -0.2, None, -0.1, kind="approximate")
    assert compared(SHARE, [proved], (), []).grade == "proved"
    assert compared(SHARE, [proved, group], (), []).grade == "approximate"
    assert compared(SHARE, [], (), []).grade == "not assessed"


GIVEN = ("the prior is right",)
TEST = {"by_the_prior": 0.4, "confidence": 0.99, "off": 0.05, "off_low": 0.02, "off_high": 0.1}
SAME = {"grade": "proved if", "takes_as_given": GIVEN}


@pytest.fixture
def share(share_bound):
    return lambda most=0.5, whole=0.6, theorem="T 1": share_bound(
        most, whole, **SAME, theorem=theorem
    )


@pytest.fixture
def count(count_bound):
    return lambda most=2, whole=3: count_bound(
        most, whole, 5, **SAME, theorem="T 2", confidence=0.9
    )


@pytest.fixture
def attack(attack_of):
    counts = {"targets": (1, 3, 4, 5), "trials": (4, 3, 2, 1)}
    return lambda low_joint=0.3, low=0.2, high=0.7, **more: attack_of(
        0.5, low, high, low_joint=low_joint, distribution=counts, **more
    )


@pytest.fixture
def states(setting_of):
    """Give a function from numbers to what they state, and its words that tell them apart."""

    def make(**changes):
        return statements(setting_of(**{"given": GIVEN, **changes}).result)

    return make


def told(found):
    """Give each finding without the words of its quantity beyond what tells it from others."""
    return {
        (one.quantity.replace(" at ε = 1", ""), one.source): (
            one.low, one.high, one.kind, one.assumptions, one.confidence
        )
        for one in found
    }  # fmt: skip


def test_nothing_measured_and_nothing_proved_states_nothing(states):
    assert states() == []


def test_the_mean_share_is_limited_from_both_sides(states, share, count, attack):
    """A bound of the people played is proved; of all people it is sampled, at the study's level."""
    found = states(
        bounds=(share(0.5, 0.6), share(0.7, None, "T 3"), count(whole=None)),
        ceiling=attack(low=0.35, high=0.55),
        attacks={"a": attack(low_joint=0.3), "b": attack(low_joint=0.25)},
    )
    quantity = "mean share recovered"
    assert told(found) == {
        (f"{quantity}, of the people played", "the bound T 1"): (None, 0.5, "proved", GIVEN, None),
        (quantity, "the bound T 1"): (None, 0.6, "sampled", GIVEN, 0.95),
        (quantity, "the ceiling"): (0.35, 0.55, "sampled", GIVEN, 0.95),
        (quantity, "the attack `a`"): (0.3, None, "sampled", (), 0.99),
        (quantity, "the attack `b`"): (0.25, None, "sampled", (), 0.99),
    }
    assert all("ε = 1" in one.quantity for one in found)


@pytest.mark.parametrize(("low", "refuted"), [(0.61, GIVEN), (0.59, None)])
def test_an_attack_above_what_is_proved_refutes_what_it_takes_as_given(
    low, refuted, states, share, attack
):
    found = states(bounds=(share(0.5, 0.6),), attacks={"a": attack(low_joint=low)})
    clashes = contradictions(found)
    assert [one.refuted for one in clashes] == ([refuted] if refuted else [])


@pytest.mark.parametrize(("low", "refuted"), [(0.21, GIVEN), (0.19, None)])
def test_a_release_that_adds_more_than_was_declared_refutes_the_word(
    low, refuted, states, share, attack
):
    """The share is no more than is proved: where most is guessed, only the gain tells."""
    attacks = {"a": attack(gain_low_joint=low), "b": attack(gain_low_joint=-0.1)}
    found = states(bounds=(share(0.5, 0.6),), attacks=attacks, gain=0.2)
    gains = {key: value for key, value in told(found).items() if "gain" in key[0]}
    quantity = "mean gain over fresh people"
    assert gains == {
        (quantity, "the total variation that was declared"): (None, 0.2, "sampled", GIVEN, 0.95),
        (quantity, "the attack `a`"): (low, None, "sampled", (), 0.99),
        (quantity, "the attack `b`"): (-0.1, None, "sampled", (), 0.99),
    }
    assert [one.refuted for one in contradictions(found)] == ([refuted] if refuted else [])


def test_what_guesses_score_without_the_release_tests_the_prior(states, attack):
    """By the prior it is .4; on the real people between .02 and .1 more."""
    decoy = {"share": 0.45, "low": 0.4, "high": 0.5, **TEST}
    guess = {"share": 0.4, "low": 0.3, "high": 0.5, "by_the_prior": TEST}
    found = states(attacks={"a": attack(decoy=decoy), "b": attack()}, guess=guess, joint=0.98)
    without = {key: value for key, value in told(found).items() if "without the release" in key[0]}
    for who in ("the attack `a`", "the best guess"):
        quantity = f"what {who} scores without the release"
        said = without.pop((quantity, "the prior"))
        assert said == (0.4, 0.4, "proved", GIVEN, None)
        low, high, *rest = without.pop((quantity, "the real people"))
        assert (low, high) == pytest.approx((0.42, 0.5))
        assert rest == ["sampled", (), 0.99]
    assert not without
    clashes = contradictions(found)
    assert len(clashes) == 2
    assert all(one.refuted == GIVEN for one in clashes)


def test_counts_are_compared_by_how_often_they_are_passed(states, count, attack):
    """More than 3 in 3 of 10 trials, where at most one in ten is proved."""
    found = states(bounds=(count(2, 3), count(2, None)), attacks={"a": attack()}, joint=0.98)
    quantity = "chance that more than 3 targets are reconstructed"
    limits = told(found)
    bound = limits[quantity, "the bound T 2"]
    assert bound == (None, pytest.approx(0.1), "sampled", GIVEN, 0.95)
    low = clopper_pearson(3, 10, confidence=0.98).low
    assert limits[quantity, "the attack `a`"] == (low, None, "sampled", (), 0.98)
    assert sum("targets are reconstructed" in one for one, _ in limits) == 2


def test_groups_are_held_against_the_ceiling_where_anybody_can_tell_their_members(states):
    member = {"share": 0.5, "low": 0.4, "high": 0.6, "baseline": 0.3, "over_guess": 0.1,
              "over_guess_low": 0.0, "people": 9}  # fmt: skip
    guess = {"share": 0.4, "low": 0.3, "high": 0.5}

    def group(label, by_secret, ceiling):
        return {"by": "sex", "group": label, "by_secret": by_secret, "attacks": {"a": member},
                "ceiling": ceiling, "share_of_people": 0.25, "guess": guess}  # fmt: skip

    above = member | {"share": 0.3, "low": 0.3, "high": 0.35}
    groups = (
        group("m", False, above), group("f", True, above), group("x", None, above),
        group("y", False, None),
    )  # fmt: skip
    found = states(groups=groups)
    quantity = "mean share recovered of the group sex: m"
    assert told(found) == {
        (quantity, "the ceiling"): (None, 0.35, "sampled", GIVEN, 0.95),
        (quantity, "the attack `a`"): (0.4, None, "sampled", (), 0.95),
    }
    assert len(contradictions(found)) == 1


ALARM = 1e-6


def test_an_attack_that_ignores_the_release_gains_nothing_in_any_group(study, narcissus):
    """The guess of a group of real people is what it scores there, not what the prior says."""
    lines = ["k,a,secret"] + ["y,b,y", "y,c,y", "y,b,y"] * 100 + ["n,b,n", "n,c,n"] * 100
    lines += ["y,b,n", "n,b,y"] * 4
    Path("people.csv").write_text("\n".join(lines) + "\n")
    path = study(
        threat={"unknown": ["secret"], "people": "rows", "targets": 40},
        prior={"name": "independent"},
        mechanism={"epsilon": 0.1},
        attacks={"prior": {}},
        groups={"columns": ["k"]},
        threshold={"advantage": 0.5, "worst_group": 0.5},
        run={"trials": 60},
    )
    narcissus("audit", path, "--json", "--quiet")
    [one] = settings_of()
    assert one.status != "exceeded"
    for group in one.result.groups:
        own = group.attacks["prior"]
        assert own.share == pytest.approx(group.guess.share)
        assert own.over_guess.value == pytest.approx(0.0, abs=1e-12)


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
