"""The verdict of a game: its grade, what it assumes, what contradicts it, what is evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from narcissus import load_study, run
from narcissus.errors import InputError
from narcissus.guarantees.base import DECLARED
from narcissus.kinds.game.result import GAP
from narcissus.profiles.write_out import ROUNDING
from narcissus.report import Grid, page_of, render_html, render_text
from narcissus.report.about import numbers_of
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of
from narcissus.study.shipped import shipped_study
from narcissus.success import SafetyGivenKnowledge
from narcissus.success.statements import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    Threshold,
)

from .conftest import STATEMENT, case_of, estimate, exact, judged, played, proof, verdict_of


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
KNOWN = """
[world]
name = "tardos"
N = 400
d = 400
n = 40
[mechanism]
name = "{mechanism}"
[side-information]
name = "rows"
rows = {rows}
[success]
name = "member"
[[attack]]
name = "{attack}"
[statement]
name = "side-information"
epsilon = 3.0
delta = 0.1
[run]
trials = 400
"""
ASKS = "The definition, Kaplan et al. 2025, Definition 4.1, is about every side information. "


@pytest.mark.parametrize(
    ("rows", "mechanism", "attack", "status", "who", "ends"),
    [
        (1, "exact-average", "majority", "met", "every attacker who is told `rows` (rows = 1), ",
         "No other was looked at."),
        (39, "exact-average", "subtraction", "exceeded",
         "for an attacker who is told `rows` (rows = 39).", "This one breaks it."),
        (39, "exact-average", "majority", "inconclusive",
         "Attacks: majority. Each was told `rows` (rows = 39). ", "No other was looked at."),
    ],
)  # fmt: skip
def test_a_definition_for_every_side_information_says_which_was_told(
    tmp_path, rows, mechanism, attack, status, who, ends
):
    text = KNOWN.format(rows=rows, mechanism=mechanism, attack=attack)
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == status
    assert who in audit.verdict
    assert audit.verdict.endswith(ASKS + ends)


def test_the_lemma_for_every_side_information_says_so():
    audit = run(load_study(shipped_study("surprisal").path), rng=1)
    assert "against every attacker, whatever is told, for" in audit.verdict
    assert "No other was looked at" not in audit.verdict


def test_no_verdict_on_every_side_information_drops_the_quantifier():
    """Each way to end: exact or not, met or not, in a family or alone."""
    told = {"told": "`rows` (rows = 1)", "statement": SafetyGivenKnowledge(1.0, 0.1)}
    for case in (
        judged(exact(0.0), **told),
        judged(exact(0.0, enough=-1), between="unknown", **told),
        judged(exact(0.5), **told),
        judged(None, [proof(0.01, theorem="a lemma", id="kaplan-4.1")], **told),
    ):
        words = verdict_of(case)
        assert "`rows` (rows = 1)" in words or "unknown" in words
        assert ASKS in words


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
    assert case_of(audit).outcome == "contradicted"
    assert "Resilient" not in render_text(audit.record)
    with pytest.raises(SystemExit) as left:
        main(["audit", "s.toml", "--out", "out", "--seed", "1", "--allow-code"])
    assert left.value.code == 3
    assert "CONTRADICTED: An assumption" in capsys.readouterr().out


def test_a_refuted_promise_does_not_hide_that_the_statement_is_violated(tmp_path):
    text = PAIR.format(delta=0.1, more=PROMISE.format(when="auto"))
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "exceeded"
    assert "Violated, proved: the best attacker" in audit.verdict
    assert "as [privacy] says" in audit.record.contradictions[0]
    first = " ".join(render_text(audit.record).split()).partition("Not looked at")[0]
    assert "as [privacy] says" in first


def test_a_promise_that_nothing_refutes_is_an_assumption_of_the_verdict(tmp_path):
    text = PAIR.format(delta=0.95, more='[privacy]\nepsilon = 2.9\n[exact]\nwhen = "never"')
    text = text.replace("epsilon = 3.0", "epsilon = 2.9")
    own = "from narcissus.mechanisms import RandomizedResponse\n"
    own += "def mechanism(data, rng):\n"
    own += "    return RandomizedResponse(2.9).release(data[None], rng)[0]\n"
    text = text.replace('"randomized-response"\nepsilon = 2.9', '"mine:mechanism"')
    audit = run(study(tmp_path, text, own), rng=1)
    assert (audit.status, audit.record.grade) == ("met", "proved if")
    assert case_of(audit).outcome == "resilient, proved if"
    assert audit.record.assumptions == [
        "the mechanism is (2.9, 0)-differentially private, replace-one, as [privacy] says",
        *DECLARED,
    ]
    assert "proved if" in audit.verdict
    assert case_of(audit).bounds[0].limit.grade == "proved if"


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
    assert audit.status == "exceeded"  # its releases were seen to break the statement
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
    from narcissus.profiles.write_out import Best

    text = PAIR.format(delta=0.5, more="")
    monkeypatch.setattr(Best, "delta", property(lambda self: 0.1))
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "exceeded"
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
    assert "at most" in render_text(quiet.record).partition("gain beyond")[2]


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
    assert ("gain beyond" in render_text(audit.record)) == (attack == "return [0, 0, 0]")


def test_failed_attempts_and_bounds_of_one_are_no_evidence(tmp_path):
    """200 trials that neither break the statement nor limit the attacker below it."""
    text = BITS.format(delta=0.001).replace('"mine:Lying"', '"constant"')
    text = text.replace('"released-row"\nrow = "all"', '"fixed-guess"\nguess = [0, 0, 0]')
    text += '[exact]\nwhen = "never"\n[run]\ntrials = 200\n'
    audit = run(study(tmp_path, text), rng=1)
    assert audit.status == "inconclusive"
    loose = PAIR.format(delta=1.0, more="[privacy]\nepsilon = 0.0\ndelta = 1.0\n").replace(
        '"randomized-response"\nepsilon = 3.0', '"identity"'
    )
    found = run(study(tmp_path, loose + '[exact]\nwhen = "never"\n'), rng=1)
    assert case_of(found).bounds[0].value == 1


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
    assert case_of(audit).exact.largest == pytest.approx(0.8)
    assert case_of(audit).attackers[0].success.value > 0.7
    numbers = {label: value for label, value, *_ in numbers_of(audit.record)}
    assert numbers["Success of the attacker with the largest gap, epsilon 1.0"] == "0%"
    blocks = [block for part in page_of(audit.record).sections for block in part.blocks]
    rows = {row[0]: row[1] for block in blocks if isinstance(block, Grid) for row in block.rows}
    assert rows["Largest success of any attacker"] == "80.0%"
    assert rows["Success of the attacker with the largest gap"] == "0%"
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


def test_two_criteria_and_known_rows_are_proved_where_a_tail_decides(tmp_path):
    text = """
[world]
name = "tardos"
N = 1000
d = 5000
n = 10
[mechanism]
name = "exact-average"
[success]
name = "hamming"
gamma = 0.23
[looser]
name = "hamming"
gamma = 0.3148
[statement]
name = "two-criteria"
delta = 1e-6
"""
    audit = run(study(tmp_path, text), rng=1)
    assert case_of(audit).outcome == "resilient, proved"
    assert "from Kaplan et al. 2025, Lemma 3.7" in audit.verdict
    case = case_of(audit)
    lemma, criteria = case.bounds
    assert (lemma.limits, lemma.value) == ("success", 1.0)
    assert (criteria.limits, case.suffices(criteria)) == ("delta", True)
    rows = text.replace("gamma = 0.23", "gamma = 0.04").replace("two-criteria", "side-information")
    rows = rows.replace('[looser]\nname = "hamming"\ngamma = 0.3148',
                        '[side-information]\nname = "rows"\nrows = 6')  # fmt: skip
    audit = run(study(tmp_path, rows), rng=1)
    assert case_of(audit).outcome == "resilient, proved"
    assert "Lemma 3.5, with the tail computed for the rows not told" in audit.verdict


def test_a_small_population_is_written_out(tmp_path):
    text = """
[world]
name = "tardos"
N = 3
d = 2
n = 2
[mechanism]
name = "exact-average"
[success]
name = "member"
[statement]
name = "bayesian"
delta = 0.1
[[attack]]
name = "bayes"
[run]
trials = 2000
"""
    audit = run(study(tmp_path, text), rng=1)
    assert case_of(audit).exact.least == pytest.approx(7 / 72, abs=1e-12)
    assert case_of(audit).outcome == "resilient, proved"
    [best] = case_of(audit).attackers
    won, lost = best.success, best.fresh
    assert won.low <= 0.5 <= won.high  # exact: .5 and .4028
    assert lost.low <= 29 / 72 <= lost.high


def test_a_family_in_a_study_is_judged_member_by_member(tmp_path):
    each = run(load_study(shipped_study("neighbours-each").path), rng=1)
    assert each.status == "exceeded"
    assert case_of(each).exact.least == pytest.approx(1)
    assert case_of(each).exact.members == 1024
    assert "pair 1, [0, 0, 0, 0, 0, 0, 0, 0]" in each.verdict
    assert each.record.result.play.member.startswith("pair ")
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
    assert case_of(audit).holds
    assert audit.status == "exceeded"  # its releases were seen to break the statement
    assert "`Lying` releases as its channel says" in audit.verdict
    (said,) = audit.record.contradictions
    assert "the attackers break the statement" in said
    assert audit.record.grade == "sampled"


def brief(case):
    return case.outcome, case.status, case.grade, case.assumptions


def test_nothing_known_is_not_assessed():
    assert brief(judged()) == ("not assessed", "not assessed", "not assessed", ())


@pytest.mark.parametrize("given", [(), ("it is so",)])
def test_the_exact_answer_is_the_verdict_before_anything_else(given):
    grade = "proved if" if given else "proved"
    met = judged(exact(0.1, given), [proof(0.15)], played())
    assert brief(met) == (f"resilient, {grade}", "met", grade, given)
    said = "against every attacker, for this one world. The in numbers is 0.1, and 0.2 is allowed."
    assert said in verdict_of(met)
    beyond = judged(exact(0.3, given), (), played())
    assert brief(beyond) == (f"violates, {grade}", "exceeded", grade, given)
    assert "in numbers is 0.3, and 0.2" in verdict_of(beyond)
    # what is not known between rates, or more than is allowed, is not shown
    for enough in (-1, 0.21):
        between = judged(exact(0.1, given, enough=enough), between="unknown")
        assert brief(between) == ("no violation found", "inconclusive", "not assessed", given)
    assert judged(exact(0.1, enough=0.2)).status == "met"


def test_the_theorem_that_assumes_least_is_named_and_then_the_smallest():
    """One that is too large proves nothing."""
    weak = proof(0.01, ("it is so",), theorem="weak")
    bare, small = proof(0.2, theorem="bare"), proof(0.1, theorem="small")
    assert "from small." in verdict_of(judged(None, [weak, bare, small]))
    assert "from bare." in verdict_of(judged(None, [weak, bare]))
    found = judged(None, [weak])
    assert brief(found) == ("resilient, proved if", "met", "proved if", ("it is so",))
    assert brief(judged(None, [bare])) == ("resilient, proved", "met", "proved", ())
    told = proof(0.15, theorem="told", id="kaplan-4.8")
    assert "from told." in verdict_of(judged(None, [weak, small, told]))
    assert judged(None, [proof(0.21)]).status == "not assessed"
    assert judged(None, [proof(0.2 * (1 + ROUNDING / 2))]).status == "met"
    just = proof(0.2 + ROUNDING / 2, id="cohen-a.4")
    assert judged(None, [just]).status == "met"


def test_a_tail_proves_no_delta_below_it_however_small_both_are():
    """A bound of 5e-197 was called a proof of delta 1e-300, by the rounding of larger numbers."""
    tail = proof(4.7e-197, limits="success")
    for allowed in (0.0, 1e-300):
        found = judged(None, [tail], statement=Resilience(0.0, allowed))
        assert found.outcome == "not assessed"
    tiny = {"statement": Resilience(0.0, 1e-300)}
    assert judged(None, [proof(2.3e-308)], **tiny).outcome == "resilient, proved"
    assert judged(None, [proof(1e-300 * (1 + 1e-9))], **tiny).outcome == "not assessed"
    # a difference of numbers near one, of two epsilons that are equal but for rounding
    close = proof(1e-16, id="cohen-e.1")
    assert judged(None, [close], statement=Resilience(0.3, 0.0)).status == "met"


def test_what_was_only_played_is_sampled():
    guess = "the best fixed guess succeeds with chance at most 0.3, as [statement] says"
    quiet = judged(None, (), played(), best=0.3)
    assert brief(quiet) == ("no violation found", "inconclusive", "sampled", (guess,))
    assert "in 100 trials. Attacks: a." in verdict_of(quiet)
    several = judged(None, (), played(trials=2000), members=3)
    assert "2,000 trials of each of 3 distributions. Attacks: a." in verdict_of(several)
    loud = judged(None, (), played("violates", decided=40), best=0.3)
    assert brief(loud) == ("violates", "exceeded", "sampled", (guess,))
    words = verdict_of(loud)
    certain = "This is certain after 40 trials, with 95% confidence."
    assert words == f"Violates: {STATEMENT.words()}. {certain}"
    more = judged(None, (), played("violates", decided=40, member="pair 2", refuted=1.2))
    assert verdict_of(more).endswith(
        "confidence, for pair 2. Every epsilon up to 1.20 is refuted at this delta."
    )
    rows = judged(None, (), played("violates", decided=9, statement=NotMemorizing(3, 4, 0.1)))
    assert "at least 3 of 4 rows" in verdict_of(rows)
    assert "at most 0.1" in verdict_of(rows)


def test_the_gap_decides_what_was_played_and_where_there_is_none_the_success():
    alone = judged(None, (), played()).decision
    assert (alone.row.of, alone.row.name, alone.row.value) == ("success", "a", 0.9)
    assert alone.limit is None  # of a success nothing is accepted
    compared = judged(None, (), played(), gaps={"a": estimate(0.05, -0.1, 0.15)}).decision
    assert (compared.row.of, compared.row.name, compared.row.value) == (GAP, "a", 0.05)
    assert compared.limit == 0.2


def test_a_bound_is_written_no_smaller_than_it_is():
    words = verdict_of(judged(None, [proof(0.01234)]))
    assert "Delta is at most 0.0124, and 0.2 is allowed." in words


def findings(case):
    return list(case.claims())


def test_every_statement_is_compared_on_its_own_quantity():
    """Success of the best attacker, delta at the statement's epsilon; limits at the joint level."""
    held = judged(
        exact(0.1, ("E",)),
        [proof(0.15, ("D",)), proof(0.6, ("S",), "success", theorem="U")],
        played(attackers=(("a", 0.3), ("b", 0.4))),
        gaps={"a": estimate(0.0, -0.1, 0.1), "b": None},
    )
    told = {(f.quantity, f.source): f for f in findings(held)}
    success, delta = "success of the best attacker", "delta at epsilon 0.5"
    limits = {key: (f.low, f.high, f.kind, f.assumptions) for key, f in told.items()}
    assert limits == {
        (success, "the exact answer"): (0.7, 0.7, "proved", ("E",)),
        (delta, "the exact answer"): (0.1, 0.1, "proved", ("E",)),
        (delta, "T"): (None, 0.15, "proved", ("D",)),
        (success, "U"): (None, 0.6, "proved", ("S",)),
        (delta, "U"): (None, 0.6, "proved", ("S",)),
        (success, "the attack `a`"): (0.3, None, "sampled", ()),
        (success, "the attack `b`"): (0.4, None, "sampled", ()),
        (delta, "the attack `a`"): (-0.1, None, "sampled", ()),
    }
    # success and gap each fail with chance 5%
    assert all(f.confidence == pytest.approx(0.9) for f in told.values() if f.kind == "sampled")
    unsure = findings(judged(None, (), played(confidence=0.3)))
    assert [f.confidence for f in unsure] == [0.0]


def test_a_statement_without_an_own_baseline_has_no_delta_to_compare():
    held = judged(
        exact(0.1), [proof(0.15), proof(0.6, (), "success")], played(),
        gaps={"a": estimate(0.0, -0.1, 0.1)}, statement=Threshold(0.2, 0.1),
    )  # fmt: skip
    assert {f.quantity for f in findings(held)} == {"success of the best attacker"}
    assert len(findings(held)) == 3


def test_the_fixed_guess_that_the_study_names_is_compared_with_the_best_there_is():
    chosen = ("the best fixed guess succeeds with chance at most 0.3, as [statement] says",)
    statement = FixedBaseline(0.0, 0.2, 0.3)

    def limits(fixed=0.4, **known):
        found = findings(judged(exact(0.1, fixed=fixed), statement=statement, **known))
        what = "chance of the best fixed guess"
        return [(f.low, f.high, f.assumptions) for f in found if f.quantity == what]

    assert limits(best=0.3) == [(0.4, 0.4, ()), (None, 0.3, chosen)]
    assert limits() == [(0.4, 0.4, ())]  # the number is the world's own
    assert limits(fixed=None, best=0.3) == []
    case = judged(exact(0.1, fixed=0.4), statement=statement, best=0.3)
    assert case.status == "contradicted"
    assert chosen[0] in verdict_of(case)


def test_numbers_that_contradict_each_other_are_the_verdict():
    given = ("it is so",)
    held = {"run": played(), "gaps": {"a": estimate(0.5, 0.4, 0.6)}}
    found = judged(None, [proof(0.1, given)], **held)
    assert brief(found) == ("contradicted", "contradicted", "sampled", ())
    assert verdict_of(found).startswith("Refuted: that it is so.")
    [said] = found.contradictions
    assert "at least 40% by the attack `a`" in said
    bare = judged(None, [proof(0.1)], **held)
    assert "a false alarm or an error in this software" in verdict_of(bare)
    two = judged(None, [proof(0.1, given), proof(0.2, ("B", *given))], **held)
    assert verdict_of(two).startswith("Refuted: that it is so. Refuted: that B.")
    assert len(two.contradictions) == 2


def test_a_violation_that_is_proved_is_said_beside_a_contradiction():
    """Not one that assumes something; one that was played is the verdict itself."""
    clash = {"proofs": [proof(0.1, ("it is so",))], "gaps": {"a": estimate(0.5, 0.4, 0.6)}}
    proved = judged(exact(0.45), run=played(), **clash)
    assert proved.status == "contradicted"
    assert "Violated, proved: the best attacker" in verdict_of(proved)
    assert "iolate" not in verdict_of(judged(exact(0.45, ("E",)), run=played(), **clash))
    seen = judged(run=played("violates", decided=4), **clash)
    assert (seen.status, seen.grade, seen.decision.row.of) == ("exceeded", "sampled", GAP)
    assert "certain after 4 trials" in verdict_of(seen)
    assert "Refuted: that it is so." in verdict_of(seen)


@pytest.mark.parametrize("given", [(), ("it is so",)])
def test_attackers_that_break_what_is_called_proved_contradict_it(given):
    """Though no two limits cross: the bets are stronger than limits of rates."""
    broken = {"outcome": "violates", "attackers": (("a", 0.1),), "decided": 50}
    found = judged(exact(0.1, given), (), played(**broken))
    assert brief(found) == ("violates", "exceeded", "sampled", ())
    assert found.decision.row.role == "attack"
    [said] = found.contradictions
    assert "certain after 50 trials" in said
    assert "95% confidence (" in said
    assert ("Refuted: that it is so (" in said) == bool(given)
    assert ("chance at most 0.05" in said) != bool(given)
    words = verdict_of(found)
    assert ("Refuted: that it is so." if given else "Proved numbers and") in words
    assert words.startswith("Violates: success <= ")
    assert words.index("certain after 50 trials") < words.index("Refuted" if given else "Proved n")
    # also where it is proved for a part of a family alone
    part = judged(exact(0.1, given, enough=0.9), (), played(**broken))
    assert (part.status_alone, part.status) == ("inconclusive", "exceeded")
    assert len(part.contradictions) == 1
    [said] = judged(exact(0.1), (), played(**broken, member="pair 2")).contradictions
    assert "confidence, for pair 2 (" in said
    # where two limits cross as well, that says it
    crossed = judged(exact(0.1, given), (), played(**{**broken, "attackers": (("a", 0.8),)}))
    [said] = crossed.contradictions
    assert "break the statement" not in said
    for quiet in (played(attackers=(("a", 0.1),)), None):
        assert judged(exact(0.1, given), (), quiet).status == "met"
    assert judged(exact(0.3, given), (), played(**broken)).status == "exceeded"


KEPT = Path(__file__).parents[2] / "study" / "kept" / "game.json"


@pytest.fixture
def said(tmp_path):
    """Give the function that seals a record with a change, and tells why it is refused."""

    def read(change, criteria=1):
        data = read_record(KEPT).to_dict()
        change(data["result"])
        data["criteria"] *= criteria
        del data["digest"]
        data["digest"] = digest_of(data)
        (tmp_path / "record.json").write_text(json.dumps(data))
        try:
            read_record(tmp_path)
        except InputError as error:
            return str(error)
        return ""

    return read


def needed(**changes):
    return lambda result: result["exact"]["needed"].update(**changes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: None, ""),
        (needed(grade="sampled"), "does not follow"),
        (lambda d: d["bounds"][0]["limit"].update(grade="proved if"), "does not follow"),
        (lambda d: d["play"]["attackers"][0].update(failed=834), "more attempts"),
        (lambda d: d["play"].update(decides="b"), "no attacker, or several, are called 'b'"),
        (lambda d: d["play"].update(decided=834), "decided after 834 of 833 trials"),
        (lambda d: d["play"].update(trials=0), "greater than or equal to 1"),
        (needed(low=0.2), "is above its upper one"),
        (needed(low=0.0), "`low` is its value"),
        (needed(low=0.3, value=0.3, high=0.3), "and that of the rows"),
    ],
)
def test_a_forged_record_is_refused_for_what_it_shows(said, change, says):
    found = said(change)
    assert says in found
    assert bool(says) == bool(found)


def test_a_record_of_several_criteria_is_refused(said):
    assert "too many values" in said(lambda result: None, criteria=2)


@pytest.mark.parametrize("decided", [None, 50])
def test_limits_that_cross_refute_what_they_rest_on_alone(decided):
    """That attackers break the statement says nothing more: it may follow from the same."""
    proofs = [proof(0.05, ("A",)), proof(0.1, ("B",), limits="success")]
    case = judged(None, proofs, played(decided=decided))
    status = "exceeded" if decided else "contradicted"
    assert (case.status_alone, case.status, case.given) == ("met", status, ("A",))
    assert case.clashes
    assert (case.broken, case.wrong) == ("", ("B",))
    alone = judged(None, proofs[:1], played(decided=50))
    assert alone.clashes == ()
    assert alone.broken.startswith("Refuted: that A (the attackers break the statement")
    assert alone.wrong == ("A",)
