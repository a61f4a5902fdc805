"""The verdict of a game: its grade, what it assumes, what contradicts it, what is evidence."""

from __future__ import annotations

import json

import pytest

from narcissus import load_study, run
from narcissus.report import page_of, render_html, render_text
from narcissus.study.shipped import shipped_study


def study(folder, text, own=None):
    if own is not None:
        (folder / "mine.py").write_text(own, encoding="utf-8")
    (folder / "s.toml").write_text('kind = "game"\n' + text, encoding="utf-8")
    return load_study(folder / "s.toml", allow_code=True)


PAIR = """
[world]
name = "pairs"
pairs = [[[0, 0], [0, 1]]]
[mechanism]
name = "randomized-response"
epsilon = 3.0
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[statement]
name = "pairs"
epsilon = 0.5
delta = {delta}
{more}
"""
PROMISE = '[privacy]\nepsilon = 0.4\n[exact]\nwhen = "{when}"'


@pytest.mark.parametrize("when", ["auto", "never"])
def test_a_promise_that_is_not_kept_is_the_verdict_and_exits_3(tmp_path, when, monkeypatch, capsys):
    from narcissus.cli.main import main

    monkeypatch.chdir(tmp_path)
    text = PAIR.format(delta=0.95, more=PROMISE.format(when=when))
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "contradicted"
    said = "the mechanism is (0.4, 0)-differentially private, replace-one, as [privacy] says"
    assert audit.verdict.startswith(f"Refuted: that {said}.")
    assert said in audit.record.contradictions[0]
    assert audit.results["outcome"] == "contradicted"
    page = page_of(audit.record)
    assert list(page.verdict.evidence_for) == []
    assert "Resilient" not in render_text(audit.record)
    with pytest.raises(SystemExit) as left:
        main(["audit", "s.toml", "--out", "out", "--seed", "1", "--allow-code"])
    assert left.value.code == 3
    assert "ASSUMPTION IS REFUTED" in capsys.readouterr().out


def test_a_refuted_promise_does_not_hide_that_the_statement_is_violated(tmp_path):
    text = PAIR.format(delta=0.1, more=PROMISE.format(when="auto"))
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "contradicted"
    assert "Violated, proved: the best attacker" in audit.verdict


def test_a_promise_that_nothing_refutes_is_an_assumption_of_the_verdict(tmp_path):
    text = PAIR.format(delta=0.95, more='[privacy]\nepsilon = 2.9\n[exact]\nwhen = "never"')
    text = text.replace("epsilon = 3.0", "epsilon = 2.9")
    own = "from narcissus.mechanisms import RandomizedResponse\n"
    own += "def mechanism(data, rng):\n"
    own += "    return RandomizedResponse(2.9).release(data[None], rng)[0]\n"
    text = text.replace('"randomized-response"\nepsilon = 2.9', '"mine:mechanism"')
    audit = run(study(tmp_path, text, own), rng=1)
    assert (audit.status, audit.record.grade) == ("met", "proved if")
    assert audit.results["outcome"] == "resilient, proved if"
    assert audit.record.assumptions == [
        "the mechanism is (2.9, 0)-differentially private, replace-one, as [privacy] says"
    ]
    assert "proved if" in audit.verdict
    assert audit.results["proofs"][0]["grade"] == "proved if"


def test_a_promise_of_the_packages_own_mechanism_is_a_theorem(tmp_path):
    text = PAIR.format(delta=0.95, more='[exact]\nwhen = "never"')
    audit = run(study(tmp_path, text), rng=1)
    assert (audit.status, audit.record.grade) == ("met", "proved")
    assert audit.record.assumptions == []


LYING = """
from narcissus.mechanisms import Constant

class Lying:
    def release(self, data, rng):
        return data
    def channel(self, data):
        return Constant().channel(data)
"""
BITS = """
[world]
name = "bits"
n = 3
[mechanism]
name = "mine:Lying"
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[statement]
name = "narcissus"
epsilon = 0.5
delta = {delta}
"""


def test_a_channel_that_is_not_the_one_that_is_played_is_refuted(tmp_path):
    audit = run(study(tmp_path, BITS.format(delta=0.1), LYING), rng=1)
    assert audit.status == "contradicted"
    assert "the user's mechanism `Lying` releases as its channel says" in audit.verdict
    assert audit.record.grade == "sampled"


def test_an_exact_answer_for_parts_of_ones_own_is_proved_if_they_are_as_they_say(tmp_path):
    honest = LYING.replace("return Constant().channel(data)", "return Identity().channel(data)")
    honest = honest.replace("import Constant", "import Identity")
    audit = run(study(tmp_path, BITS.format(delta=0.9), honest), rng=1)
    assert (audit.status, audit.record.grade) == ("met", "proved if")
    assert "`Lying` releases as its channel says" in audit.record.assumptions[0]


def test_a_false_alarm_is_called_one_where_nothing_is_assumed(tmp_path, monkeypatch):
    """An error in the software, made on purpose: the exact answer is halved."""
    from narcissus.profiles.best import Best

    text = PAIR.format(delta=0.5, more="")
    monkeypatch.setattr(Best, "delta", property(lambda self: 0.1))
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "contradicted"
    assert "a false alarm or an error in this software" in audit.verdict
    assert audit.record.contradictions


def test_a_fixed_guess_better_than_the_study_says_refutes_the_study(tmp_path):
    text = BITS.format(delta=0.9).replace('"mine:Lying"', '"identity"')
    text = text.replace('"narcissus"', '"fixed-baseline"\nbest = 0.01')
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "contradicted"
    assert "the best fixed guess succeeds with chance at most 0.01" in audit.verdict


def test_grades_of_what_is_only_played(tmp_path):
    text = BITS.format(delta=0.1).replace('"mine:Lying"', '"identity"')
    text += '[exact]\nwhen = "never"\n'
    assert run(study(tmp_path, text), rng=1).record.grade == "sampled"
    quiet = run(study(tmp_path, text.replace("delta = 0.1", "delta = 0.99")), rng=1)
    assert (quiet.status, quiet.record.grade) == ("inconclusive", "sampled")
    (said,) = page_of(quiet.record).verdict.evidence_for
    assert "gains at most" in said
    assert "other attackers may gain more" in said


@pytest.mark.parametrize(
    "attack",
    ["return None", "raise ValueError('no')", "return [9, 9, 9]", "return [0, 0, 0]"],
)
def test_attackers_that_do_not_try_are_no_evidence(tmp_path, attack):
    """No attempt, an error now and then, attempts that fit nothing: what was not tried is not safe.

    Always naming zeros fits one data set in eight, and one fresh one in eight: that is limited.
    """
    text = BITS.format(delta=0.5).replace('"mine:Lying"', '"identity"')
    text = text.replace('"released-row"\nrow = "all"', '"mine:attack"')
    own = f"def attack(release, known, rng):\n    if rng.random() < 2:\n        {attack}\n"
    if "raise" in attack:
        own = own.replace("< 2", "< 0.5") + "    return [0, 0, 0]\n"
    audit = run(study(tmp_path, text + '[exact]\nwhen = "never"\n', own), rng=1)
    said = list(page_of(audit.record).verdict.evidence_for)
    assert bool(said) == (attack == "return [0, 0, 0]")


def test_failed_attempts_and_bounds_of_one_are_no_evidence(tmp_path):
    """200 trials that neither break the statement nor limit the attacker below it."""
    text = BITS.format(delta=0.001).replace('"mine:Lying"', '"constant"')
    text = text.replace('"released-row"\nrow = "all"', '"fixed-guess"\nguess = [0, 0, 0]')
    text += '[exact]\nwhen = "never"\n[run]\ntrials = 200\n'
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "inconclusive"
    assert list(page_of(audit.record).verdict.evidence_for) == []
    loose = PAIR.format(delta=1.0, more="[privacy]\nepsilon = 0.0\ndelta = 1.0\n").replace(
        '"randomized-response"\nepsilon = 3.0', '"identity"'
    )
    found = run(study(tmp_path, loose + '[exact]\nwhen = "never"\n'), rng=1)
    assert found.results["proofs"][0]["value"] == 1
    assert list(page_of(found.record).verdict.evidence_for) == []


def test_an_attack_far_above_its_baseline_is_evidence_against_what_allows_it(tmp_path):
    """delta 1 allows everything; that the data is read off the release is said all the same."""
    text = PAIR.format(delta=1.0, more="")
    verdict = page_of(run(study(tmp_path, text), rng=1).record).verdict
    assert verdict.status == "met"
    (against,) = verdict.evidence_against
    assert "released-row succeeds in" in against


def test_the_attacker_with_the_largest_gap_is_not_called_the_best_there_is(tmp_path):
    """Naming the likelier bit is right in 80 of 100 cases and gains nothing."""
    text = """
[world]
name = "bits"
n = 2
rate = 0.2
[mechanism]
name = "constant"
[success]
name = "pinned"
k = 1
[[attack]]
name = "fixed-guess"
guess = [[0], [0]]
[statement]
name = "narcissus"
epsilon = 1.0
delta = 0.1
"""
    audit = run(study(tmp_path, text), rng=1)
    assert audit.results["exact"]["best_success"] == pytest.approx(0.8)
    assert audit.results["attackers"][0]["success"]["value"] > 0.7
    numbers = {label: value for label, value, *_ in page_of(audit.record).verdict.numbers}
    assert numbers["Largest success of any attacker"] == "80.0%"
    assert numbers["Success of the attacker with the largest gap"] == "0%"
    assert not any("best attacker there is" in label for label in numbers)


def test_underflow_is_not_printed_as_zero(tmp_path):
    text = """
[world]
name = "tardos"
N = 1000
d = 40000
n = 100
[mechanism]
name = "exact-average"
[success]
name = "hamming"
gamma = 0.04
[[attack]]
name = "majority"
[statement]
name = "bayesian"
delta = 1e-6
[run]
trials = 3
"""
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "met"
    assert "at most 2.23e-306" in audit.verdict
    assert "at most 0" not in render_text(audit.record)


def test_a_family_in_a_study_is_judged_member_by_member(tmp_path):
    each = run(load_study(shipped_study("neighbours-each").path), rng=1)
    assert each.status == "exceeded"
    assert each.results["exact"]["least"] == pytest.approx(1)
    assert each.results["exact"]["members"] == 1024
    assert "pair 1, [0, 0, 0, 0, 0, 0, 0, 0]" in each.verdict
    assert each.results["member"].startswith("pair ")
    html = render_html(each.record)
    assert "each of the 1,024 distributions" in html
    drawn = run(load_study(shipped_study("neighbours-on-average").path), rng=1)
    assert drawn.status == "met"
    assert "on average over them" in drawn.verdict
    assert json.loads(drawn.record.to_json())["grade"] == "proved"


def test_a_family_is_played_where_it_cannot_be_written_out(tmp_path):
    text = """
[world]
name = "family"
parts = [
    { name = "bits", n = 40, rate = 0.5 },
    { name = "bits", n = 40, rate = 0.001 },
]
[mechanism]
name = "identity"
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[statement]
name = "narcissus"
epsilon = 1.0
delta = 0.5
"""
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "exceeded"
    assert "for Bits(n=40, rate=0.5)" in audit.verdict
    assert "of 2 distributions" in " ".join(render_text(audit.record).split())
    quiet = run(study(tmp_path, text.replace("delta = 0.5", "delta = 1.0")), rng=1)
    assert "trials of each of 2 distributions" in quiet.verdict
    two = run(study(tmp_path, text), rng=1, workers=2, folder=tmp_path / "out")
    assert two.record.to_json() == audit.record.to_json()


def test_a_broken_proof_is_seen_where_no_two_limits_cross(tmp_path):
    """Threshold baseline: 30% success at light attempts where the channel that lies allows 10%.

    The attacker succeeds less often than who always names the likeliest value, so that limits of
    success say nothing; the bets against the statement do.
    """
    text = """
[world]
name = "records"
n = 1
probabilities = [0.7, 0.1, 0.1, 0.1]
[mechanism]
name = "mine:Lying"
[success]
name = "prefix"
[[attack]]
name = "mine:attack"
[statement]
name = "threshold"
epsilon = 0.15
tau = 0.2
[run]
trials = 1000
fresh = 400
"""
    own = LYING + "\ndef attack(release):\n    return release if release[0] else None\n"
    audit = run(study(tmp_path, text, own), rng=1)
    assert audit.results["exact"]["holds"]
    assert audit.status == "contradicted"
    assert "`Lying` releases as its channel says" in audit.verdict
    (said,) = audit.record.contradictions
    assert "the attackers break the statement" in said
