"""Verdicts: what they rest on, and that no record contradicts its own."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import narcissus
from narcissus.findings import Finding, contradictions
from narcissus.study.results.table import Excess
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.verdict import judge

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
    "prior": {"kind": "independent"},
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
        attacks["own"] = {"kind": "mine:Correlation"}
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
    top = " ".join(text.split("Evidence for the release")[0].split())
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
    assert 'class="verdict tone-uncoloured"' in html
    assert "proved if" in html
    assert "no attacker here: proved" not in html


def test_too_few_trials_is_a_status_with_the_number_that_would_settle_it(study, narcissus):
    path = study(mechanism={"epsilon": "=inf"}, threshold={"share": 0.9}, run={"trials": 5})
    code, out, _ = narcissus("audit", path, "--json", "--quiet")
    record = json.loads(out)
    assert (code, record["status"]) == (3, "too few trials")
    needed = record["results"]["trials_needed"]
    assert needed > 5
    assert "trials would" in record["verdict"]
    assert record["results"]["evidence_for"] == []
    more = study(
        mechanism={"epsilon": "=inf"}, threshold={"share": 0.9}, run={"trials": 2 * needed}
    )
    code, out, _ = narcissus("audit", more, "--json", "--quiet", "--out", "results/more")
    assert (code, json.loads(out)["status"]) == (1, "exceeded")


def test_an_attack_that_fails_is_no_evidence_for_the_release(study, narcissus):
    for trials in (2, 8):
        path = study(mechanism={"epsilon": 3}, threshold={"share": 0.05}, run={"trials": trials})
        _, out, _ = narcissus("audit", path, "--json", "--quiet", "--restart")
        for item in json.loads(out)["results"]["evidence_for"]:
            assert not item.startswith("No attack")
            assert "gain" not in item


LEVELS = st.floats(-0.5, 0.5)


@st.composite
def some_excesses(draw):
    found = []
    for group in draw(st.sampled_from([[""], ["", "g"], ["", "g", "h"]])):
        for role in draw(st.sets(st.sampled_from(["attack", "ceiling", "bound"]), min_size=1)):
            low, value, high = sorted(draw(st.tuples(LEVELS, LEVELS, LEVELS)))
            trials = draw(st.none() | st.integers(1, 1000))
            low = None if role == "bound" else low
            found.append(
                Excess(
                    role=role, name=role, group=group, value=value, low=low, high=high,
                    kind="sampled", trials=trials,
                )
            )  # fmt: skip
    return found


@settings(max_examples=400, deadline=None)
@given(some_excesses(), st.booleans(), st.booleans())
def test_a_status_never_goes_beyond_what_it_rests_on(held, contradicted, assumes):
    bound = Finding("share", "a theorem", high=0.5, assumptions=("it is so",) if assumes else ())
    attack = Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95)
    clashes = contradictions([bound, attack] if contradicted else [bound])
    given_ = ["it is so"] if assumes else []
    found = judge(ThresholdSpec(share=0.6), held, clashes, given_)
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
        assert found.takes_as_given == tuple(given_)
        assert found.grade == "sampled"
    if found.status == "too few trials":
        assert found.trials_needed is not None
        assert not beyond
    else:
        assert found.trials_needed is None


def test_without_a_threshold_a_contradiction_is_still_the_status():
    bound = Finding("share", "a theorem", high=0.5, assumptions=("it is so",))
    attack = Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95)
    found = judge(None, [], contradictions([bound, attack]), ["it is so"])
    assert found.status == "contradicted"
    assert judge(None, [], [], []).status == "no threshold"


@pytest.mark.parametrize("seed", range(12))
def test_no_record_contradicts_its_verdict(study, seed):
    """Random small studies: what the headline says is what the numbers of the record say."""
    chance = random.Random(seed)
    people = chance.choice(["prior", "rows"])
    limit = chance.choice([{"share": chance.uniform(0.3, 1)}, {"advantage": chance.random()}])
    if chance.random() < 0.5:
        limit["worst_group"] = chance.random()
    path = study(
        threat={"people": people, "targets": chance.choice([5, 20])},
        prior={"kind": chance.choice(["independent", "bayesian-network"])},
        mechanism={"epsilon": chance.choice([0.1, 1.0, 5.0, [0.5, 20.0], [1.0, "=inf"]])},
        threshold=limit,
        groups={"columns": ["sex"]},
        run={"trials": chance.choice([2, 15, 40]), "seed": seed},
    )
    audit = narcissus.run(narcissus.load_study(path))
    results = audit.results if isinstance(audit.results, list) else [audit.results]
    assert audit.status != "contradicted" or people == "rows"
    for result in results:
        proved = min(b["share_at_most"] for b in result["bounds"] if "share_at_most" in b)
        shown = [*result["attacks"].values(), result["ceiling"]]
        if people == "prior":
            for found in shown:
                assert found["share"] <= proved + 1e-12
                assert found["share"] <= result["ceiling"]["share"] + 1e-12
                assert found["low"] <= found["share"] <= found["high"]
                assert found["approximate"]["low"] <= found["share"] <= found["approximate"]["high"]
        held = result["excesses"]
        if result["status"] == "met":
            assert not any(e["role"] == "attack" and e["low"] > 0 for e in held)
            for group in {e["group"] for e in held}:
                limits = [e["high"] for e in held if e["group"] == group and e["role"] != "attack"]
                assert min(limits) <= 0
        if result["status"] == "exceeded":
            assert any(e["role"] == "attack" and e["low"] > 0 for e in held)
        if result["contradictions"]:
            assert result["status"] in ("exceeded", "contradicted")
        best = result["attacks"][result["best"]]
        if best["share"] - result["guess"]["share"] > 0.05:
            assert result["evidence_against"]


def excess(role, value, low=None, high=None, trials=None, group="", name=None):
    return Excess(
        role=role, name=name or role, group=group, value=value, low=low, high=high,
        kind="sampled", trials=trials,
    )  # fmt: skip


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
        found = judge(SHARE, [MET, wide, at_it, sure, CEILING_BELOW], clash, ["it is so"])
        assert (found.status, found.rests_on) == ("exceeded", (sure,))
        assert found.takes_as_given == ()  # an attack takes nothing as given
        assert found.grade == "sampled"
        assert found.contradictions == tuple(clash)
    assert judge(SHARE, [at_it, MET], (), []).status == "met"


def test_a_threshold_is_met_by_a_bound_or_by_the_ceiling_for_everybody():
    found = judge(SHARE, [LOST, CEILING_BELOW, MET], (), ["it is so"])
    assert (found.status, found.rests_on) == ("met", (MET,))
    assert found.takes_as_given == ("it is so",)
    only = judge(SHARE, [LOST, CEILING_BELOW], (), [])
    assert (only.status, only.rests_on, only.trials_needed) == ("met", (CEILING_BELOW,), None)
    open_bound = excess("bound", -0.05, None, 0.01, trials=80)
    either = judge(SHARE, [LOST, open_bound, CEILING_BELOW], (), [])
    assert (either.status, either.rests_on) == ("met", (CEILING_BELOW,))
    # what no attack beats is no limit: nobody is kept by an attack that fails
    assert judge(SHARE, [excess("attack", -0.5, -0.6, -0.4)], (), []).status == "inconclusive"
    unlimited = excess("bound", -0.2, None, None)
    assert judge(SHARE, [unlimited], (), []).status == "inconclusive"


def test_every_group_must_be_kept():
    """By whatever keeps it; the nearest that more trials would settle counts where one is open."""
    kept = excess("bound", -0.2, None, -0.1, group="g")
    met = judge(SHARE, [MET, kept], (), [])
    assert (met.status, met.rests_on) == ("met", (MET, kept))
    bound = excess("bound", -0.1, None, 0.1, trials=500, group="g")
    ceiling = excess("ceiling", -0.1, -0.2, 0.1, trials=300, group="g")
    lost = excess("attack", -0.3, -0.4, 0.0, group="g")
    found = judge(SHARE, [MET, LOST, lost, bound, ceiling], (), ["it is so"])
    assert (found.status, found.rests_on) == ("too few trials", (ceiling,))
    assert found.trials_needed == 300
    assert found.takes_as_given == ("it is so",)
    # a group that nothing could ever keep leaves it open for good
    beyond = excess("ceiling", 0.1, -0.1, 0.2, trials=60, group="h")
    other = judge(SHARE, [MET, bound, beyond], (), [])
    assert (other.status, other.trials_needed) == ("inconclusive", None)
    assert other.rests_on == (MET, bound, beyond)
    touching = excess("bound", 0.0, None, 0.1, trials=40, group="g")
    assert judge(SHARE, [MET, touching], (), []).trials_needed == 40
    two = judge(SHARE, [excess("bound", -0.1, None, 0.1, trials=70), bound], (), [])
    assert (two.trials_needed, len(two.rests_on)) == (500, 2)


def test_an_attack_that_seems_beyond_is_open_before_what_nearly_keeps_it():
    seems = excess("attack", 0.1, -0.1, 0.2, trials=60)
    other = excess("attack", 0.05, -0.1, 0.2, trials=90, group="g")
    below = excess("attack", -0.05, -0.1, 0.2, trials=900)
    at_it = excess("attack", 0.0, -0.1, 0.2, trials=901)
    settled = excess("attack", 0.1, -0.1, 0.2)
    bound = excess("bound", -0.1, None, 0.1, trials=500)
    found = judge(SHARE, [bound, seems, other, below, at_it, settled], (), [])
    assert (found.status, found.rests_on) == ("too few trials", (seems, other))
    assert found.trials_needed == 90
    assert judge(SHARE, [bound, below, at_it, settled], (), []).rests_on == (bound,)


def test_what_is_contradicted_has_the_weaker_grade_and_takes_nothing_as_given():
    proofs = contradictions([BOUND, Finding("share", "another", low=0.9)])
    for clash, grade in ((CLASH, "sampled"), (proofs, "proved if"), ([*proofs, *CLASH], "sampled")):
        for threshold in (SHARE, None):
            found = judge(threshold, [LOST, MET], clash, ["it is so"])
            assert (found.status, found.grade) == ("contradicted", grade)
            assert found.takes_as_given == ()
            assert found.contradictions == tuple(clash)
            assert found.rests_on == ()


def test_without_a_threshold_what_was_measured_is_sampled():
    found = judge(None, [], [], ["it is so"])
    assert (found.status, found.grade, found.rests_on) == ("no threshold", "sampled", ())
    assert found.takes_as_given == ("it is so",)
    assert (found.trials_needed, found.held_back_by) == (None, None)


def test_a_verdict_has_the_weakest_grade_of_what_it_rests_on():
    proved = MET.model_copy(update={"kind": "proved"})
    group = excess("bound", -0.2, None, -0.1, group="g").model_copy(update={"kind": "approximate"})
    assert judge(SHARE, [proved], (), []).grade == "proved"
    assert judge(SHARE, [proved, group], (), []).grade == "approximate"
    assert judge(SHARE, [], (), []).grade == "not assessed"
