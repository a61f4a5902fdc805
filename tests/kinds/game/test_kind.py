"""Studies of the kind "game": the user's own parts, what cannot be assessed, the page."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus import Game, load_study, play, profile, run
from narcissus.attacks import OwnAttack, ReleasedRow
from narcissus.attacks.base import Failure
from narcissus.errors import InputError, LongWorkError, NarcissusError, StoreError, TooLargeError
from narcissus.kinds.game import kind
from narcissus.kinds.game.numbers import curve_of, exactly, has_epsilon
from narcissus.kinds.game.schema import Exact, GameRun, Privacy
from narcissus.kinds.game.words import exact_words
from narcissus.mechanisms import Constant, Identity, RandomizedResponse
from narcissus.profiles import write_out_family
from narcissus.report import page_of, render_html, render_text
from narcissus.results import Estimate
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.shipped import shipped_study
from narcissus.study.signatures import options_of
from narcissus.success import FixedBaseline, NotMemorizing, Resilience, SinglingOut, Threshold
from narcissus.success.relations import Isolates, Own, Prefix, RandomRow
from narcissus.worlds import Bits, Family, Records

from .conftest import case_of, judged, proof


def write(tmp_path, text, name="study.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


SMALL = """
kind = "game"
[world]
name = "bits"
n = 4
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
delta = 0.1
"""


def fewer_trials(shipped, trials):
    study = load_study(shipped.path)
    how = study.settings.run.model_copy(update={"trials": trials})
    return dataclasses.replace(study, settings=study.settings.model_copy(update={"run": how}))


def test_reports_are_drawn():
    for name, answer in (
        (
            "counting-query-uncut",
            "✕ EXCEEDED: The narcissus statement, a delta of 0.001, is violated: the least delta "
            "at epsilon 1 is 0.00102. [proved]",
        ),
        (
            "singling-out",
            "✕ EXCEEDED: The singling-out statement is violated: bucket-hashing succeeds 46 of 100 "
            "times. [estimated]",
        ),
        (
            "eav-aes",
            "~ NOT DECIDED: No attack is shown to exceed the encryption statement, a delta of 0.1, "
            "but one may exist: key-search gains 0. [estimated]",
        ),
    ):
        audit = run(fewer_trials(shipped_study(name), 200), rng=1)
        html, text = render_html(audit.record), render_text(audit.record)
        assert answer in " ".join(text.split())
        assert "own baseline" in text
        assert "<svg" in html or name == "eav-aes"


def test_the_same_seed_gives_the_same_results(tmp_path):
    study = load_study(write(tmp_path, SMALL))
    assert run(study, rng=3).results == run(study, rng=3).results
    assert study.digest == load_study(write(tmp_path, SMALL + "\n# a comment\n", "b.toml")).digest


OWN = """
import numpy as np

class World:
    def __init__(self, n=3):
        self.n = n
    def draw(self, trials, rng):
        from narcissus.worlds import Draw
        return Draw(rng.integers(0, 2, (trials, self.n)))
    def fresh(self, draw, rng):
        return self.draw(draw.trials, rng).data

def world(rng):
    return rng.integers(0, 2, 4)

def mechanism(data, rng):
    return data[::-1]

def attack(release, known, rng):
    return release[::-1]

def relation(data, attempt):
    return bool((data == attempt).all())

def told(data):
    return int(data[0])

wanted = [list(map(int, f"{i:04b}")) for i in range(16)]
broken = 1 / 0 if False else 3
"""
MINE = """
kind = "game"
[world]
name = "{world}"
[mechanism]
name = "mine:mechanism"
[side-information]
name = "mine:told"
[success]
name = "mine:relation"
[[attack]]
name = "mine:attack"
[statement]
name = "narcissus"
epsilon = 1.0
[run]
trials = 300
"""


def test_a_study_of_ones_own_parts(tmp_path):
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    for world in ("mine:world", "mine:World"):
        study = load_study(write(tmp_path, MINE.format(world=world)), allow_code=True)
        audit = run(study, rng=1)
        assert case_of(audit).outcome == "violates"
        assert case_of(audit).attackers[0].success.value == 1
        assert any("cannot be written out" in n.reason for n in audit.record.not_assessed)


def test_own_modules_of_one_name_do_not_collide(tmp_path):
    for number, folder in enumerate((tmp_path / "a", tmp_path / "b")):
        folder.mkdir()
        text = f"def attack(release):\n    return release if {number} else None\n"
        (folder / "mine.py").write_text(text, encoding="utf-8")
        study = SMALL.replace('"released-row"\nrow = "all"', '"mine:attack"')
        audit = run(load_study(write(folder, study), allow_code=True), rng=1)
        assert case_of(audit).attackers[0].success.value == number


def test_a_world_too_large_for_the_exact_answer_that_was_asked(tmp_path):
    large = SMALL.replace("n = 4", "n = 40")
    audit = run(load_study(write(tmp_path, large)), rng=1)
    assert case_of(audit).exact is None
    assert any("1,099,511,627,776" in n.reason for n in audit.record.not_assessed)
    asked = load_study(write(tmp_path, large + '[exact]\nwhen = "required"\n'))
    with pytest.raises(TooLargeError, match="1,099,511,627,776 data sets"):
        run(asked, rng=1)
    with pytest.raises(TooLargeError, match="1,099,511,627,776 data sets"):
        profile(asked)


def test_nothing_to_go_by_is_not_assessed(tmp_path):
    large = SMALL.replace("n = 4", "n = 40").replace(
        '[[attack]]\nname = "released-row"', "[looser]"
    )
    text = large.replace('[looser]\nrow = "all"\n', "")
    audit = run(load_study(write(tmp_path, text)), rng=1)
    assert case_of(audit).outcome == "not assessed"
    assert audit.status == "not assessed"
    with pytest.raises(InputError, match=r"needs an \[\[attack\]\]"):
        load_study(write(tmp_path, text + '[exact]\nwhen = "never"\n'))


def test_an_attack_that_always_fails_is_not_assessed(tmp_path):
    (tmp_path / "mine.py").write_text("def attack(release):\n    raise OSError('no')\n")
    text = SMALL.replace('"released-row"\nrow = "all"', '"mine:attack"')
    text += '[exact]\nwhen = "never"\n'
    audit = run(load_study(write(tmp_path, text), allow_code=True), rng=1)
    assert audit.status == "not assessed"
    assert any("OSError: no" in remark.reason for remark in audit.record.not_assessed)
    assert "failed with an error on" in audit.verdict
    assert case_of(audit).attackers[0].failures[0].seed in audit.verdict
    page_of(audit.record)


def test_options_for_tables_are_refused(tmp_path):
    study = load_study(write(tmp_path, SMALL))
    with pytest.raises(InputError, match="--policy"):
        run(study, rng=1, policy=tmp_path / "policy.toml")
    with pytest.raises(InputError, match="--records"):
        run(study, rng=1, internal=tmp_path / "records.csv")


def test_a_promise_of_privacy_proves_resilience(tmp_path):
    text = """
kind = "game"
[world]
name = "neighbours"
n = 2
[mechanism]
name = "randomized-response"
epsilon = 1.0
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[privacy]
epsilon = 1.0
[exact]
when = "never"
[statement]
name = "pairs"
epsilon = 1.0
"""
    audit = run(load_study(write(tmp_path, text)), rng=1)
    assert case_of(audit).outcome == "resilient, proved"
    assert "A.4" in audit.verdict
    assert "differentially private" in render_html(audit.record)


def test_profile_takes_a_study():
    study = load_study(shipped_study("xor-halves-together").path)
    assert profile(study, 0.0).delta[0] == pytest.approx(1 - 2**-4)
    assert 'kind="game"' not in repr(study)


@pytest.mark.parametrize(
    ("relation", "records"),
    [
        ({"name": "exact"}, ["abcdefgh", "ijklmnop", "qrstuvwx", "yzABCDEF"]),
        ({"name": "strings", "k": 1}, ["abcdefgh", "ijklmnop", "qrstuvwx", "yzABCDEF"]),
        (
            {"name": "hamming-ball", "share": 0.1},
            ["000101110011", "110100011101", "011100010110", "101011100100"],
        ),
    ],
)
def test_what_a_program_prints_is_scored_in_a_game_too(relation, records):
    """A model of one line prints that line, which is in a fresh data set once in four."""
    attack = {"name": "ranking", "samples": 5, "length": 12, "top": 1}
    audit = run(
        load_study(
            {
                "kind": "game",
                "world": {"name": "pool", "records": records, "size": 1},
                "mechanism": {"name": "trained-ngram", "order": 13},
                "success": relation,
                "attack": [attack],
                "statement": {"name": "narcissus"},
                "run": {"trials": 60, "stop": False},
            }
        ),
        rng=1,
    )
    [found] = case_of(audit).attackers
    assert found.success.value == 1
    assert 0.1 < found.fresh.value < 0.45


OWN_SCHEME = """
from narcissus.errors import InputError

class Scheme:
    def __init__(self, step: int = 1):
        self.step = step
    def keys(self, rng):
        return int(rng.integers(1, 1000)), None
    def encrypt(self, key, message, rng):
        return message + self.step * key

def protocol(data, rng):
    key = int(rng.integers(1, 1000))
    question = yield "ready"
    while True:
        if len(question) != 2:
            raise InputError("two messages")
        question = yield question[data[0]] + key

def attacker(conversation, known, rng):
    assert conversation.greeting == "ready"
    key = conversation.ask((0, 0))
    return conversation.ask((10, 20)) - key > 10
"""

TALK = """
kind = "game"
[world]
name = "pairs"
pairs = [[[0], [1]]]
[mechanism]
{mechanism}
[success]
name = "first-bit"
[[attack]]
{attack}
[statement]
name = "encryption"
epsilon = 0.0
delta = 0.1
[run]
trials = 200
"""


@pytest.mark.parametrize(
    ("mechanism", "attack"),
    [
        (
            'name = "chosen-plaintext"\nencryptions = 1\n'
            'scheme = { name = "mine:Scheme", step = 7 }',
            'name = "re-encryption"\nmessages = [3, 5]',
        ),
        ('name = "mine:protocol"', 'name = "mine:attacker"'),
    ],
)
def test_an_encryption_scheme_of_ones_own_is_asked(tmp_path, mechanism, attack):
    """As a class, or as a function that yields its answers; with what was said in the record."""
    write(tmp_path, OWN_SCHEME, "mine.py")
    path = write(tmp_path, TALK.format(mechanism=mechanism, attack=attack))
    with pytest.raises(InputError, match=r"the study runs its own code: mine:.*--allow-code"):
        load_study(path)
    audit = run(load_study(path, allow_code=True), rng=1)
    assert case_of(audit).outcome == "violates"
    [attacker] = case_of(audit).attackers
    assert attacker.success.value == 1
    assert [one.trial for one in attacker.transcripts] == [0, 1, 2]
    for one in attacker.transcripts:
        assert one.questions == len(one.exchanges) == 2
        assert one.success == (one.baseline == 0)
    text = render_text(audit.record)
    assert "What was said in the first trials" in text
    assert attacker.transcripts[0].exchanges[1][1] in text
    assert "What was said in the first trials" in render_html(audit.record)


def test_what_was_said_of_a_world_of_ones_own_is_not_kept(tmp_path):
    """It may hold real people; nothing of them is in a record."""
    write(tmp_path, "def world(rng):\n    return rng.integers(0, 2, 1)\n", "mine.py")
    text = TALK.format(mechanism='name = "count-queries"\nquestions = 2', attack="ATTACK")
    text = text.replace('name = "pairs"\npairs = [[[0], [1]]]', 'name = "mine:world"')
    write(tmp_path, OWN_SCHEME + "\ndef ask(talk):\n    return talk.ask([1])\n", "others.py")
    path = write(tmp_path, text.replace("ATTACK", 'name = "others:ask"'))
    audit = run(load_study(path, allow_code=True), rng=1)
    [attacker] = case_of(audit).attackers
    assert attacker.success.value == 1
    assert not attacker.transcripts
    assert "What was said" not in render_text(audit.record)


def test_a_record_without_conversations_has_no_key_for_them(tmp_path):
    audit = run(load_study(write(tmp_path, SMALL)), rng=3)
    assert "transcripts" not in audit.results["result"]["play"]["attackers"][0]


def test_what_was_said_is_the_same_when_a_run_is_continued(tmp_path):
    study = load_study(shipped_study("sparse-vector").path)
    whole = run(study, rng=5)
    again = run(study, rng=5, folder=tmp_path / "kept")
    continued = run(study, rng=5, folder=tmp_path / "kept")
    assert whole.results == again.results == continued.results
    assert case_of(whole).attackers[0].transcripts


def test_a_promise_of_a_broken_mechanism_is_refuted(tmp_path):
    """Sparse vector that never ends, said to be (1, 0)-private: the exact answer says no."""
    text = shipped_study("sparse-vector-broken").path.read_text(encoding="utf-8")
    path = write(tmp_path, text + "\n[privacy]\nepsilon = 1.0\n")
    audit = run(load_study(path), rng=1)
    case, promise = case_of(audit), "(1, 0)-differentially private, replace-one, as [privacy] says"
    assert (case.outcome, audit.status) == ("violates", "exceeded")  # it is seen, and proved
    assert audit.verdict.startswith(f"Refuted: that the mechanism is {promise}.")
    assert "Violated, proved: the best attacker does better than allowed." in audit.verdict
    assert all(promise in text for text in audit.record.contradictions)
    assert any("by the exact answer, but" in text for text in audit.record.contradictions)


@pytest.mark.parametrize(
    ("mechanism", "attack", "said"),
    [
        ('name = "public-key"', 'name = "fixed-guess"\nguess = 0', "fixed-guess reads a release"),
        ('name = "identity"', 'name = "ask-each"', "needs a world with a number of bits"),
        ('name = "sparse-vector"\nepsilon = 1', 'name = "ask-each"', "needs a world with a number"),
    ],
)
def test_attacks_that_do_not_fit_the_mechanism_are_refused(tmp_path, mechanism, attack, said):
    path = write(tmp_path, TALK.format(mechanism=mechanism, attack=attack))
    with pytest.raises(InputError, match=said):
        run(load_study(path), rng=1)


STATEMENT = Resilience(0.5, 0.2)


def test_every_attacker_of_the_run_stands_in_it_with_what_failed():
    def failing(release, known, rng):
        if release[0]:
            raise ValueError("a one")
        return None if release[1] else release

    game = Game(Bits(3), Identity(), Prefix())
    attacks = {"all": ReleasedRow("all"), "some": OwnAttack(failing)}
    run = play(game, attacks, STATEMENT, trials=60, rng=1)
    case = judged(None, (), run, gaps={"all": Estimate(0.5, 0.1, 0.9, 0.9, 60)})
    assert (case.trials, case.decided) == (run.trials, run.decided)
    assert case.refuted == run.refuted
    assert case.play.remarks == tuple(run.remarks)
    for one, told in zip(run.attackers, case.attackers, strict=True):
        assert (told.name, told.failed) == (one.name, one.failed)
        assert told.attempts == one.attempts
        for row, found in ((told.success, one.success), (told.fresh, one.baseline)):
            assert (row.value, row.low, row.high) == (
                found.value, found.low, found.high,
            )  # fmt: skip
        back = [Failure(f.trial, int(f.seed), f.error) for f in told.failures]
        assert back == one.failures
    every, some = case.attackers
    gap = every.gap
    assert (gap.value, gap.low, gap.high) == (0.5, 0.1, 0.9)
    assert case.findings.select(of="gap")[0].at == {"epsilon": 0.5}
    assert some.gap is None
    assert every.baseline_exact_per_attempt
    assert some.failed > 0


def test_proofs_say_whether_they_suffice():
    case = judged(None, [proof(0.15, ("it is so",), theorem="T 1"), proof(0.25, (), "success")])
    one, other = case.bounds
    assert (one.theorem, one.limits, one.value) == ("T 1", "delta", 0.15)
    assert (one.limit.grade, one.limit.takes_as_given) == ("proved if", ("it is so",))
    assert (other.limits, other.what) == ("success", "delta")
    assert [case.suffices(row) for row in case.bounds] == [True, False]


def test_the_curve_has_the_best_attacker_at_each_weight():
    """Two attackers: one isolates with weight 1/4 always, the other with 1/2 in half the trials."""
    world = Records(2, [0.25] * 4)
    statement = SinglingOut(2, 0.5).prepare(Game(world, Identity(), Isolates()))

    def light(release):
        return lambda row: row == release[0]

    run = play(Game(world, Identity(), Isolates()), {"a": OwnAttack(light), "b": OwnAttack(light)},
               statement, trials=40, stop=False, rng=1)  # fmt: skip
    a, b = (one.scores for one in run.attackers)
    for scores, success, weight in (
        (a, np.arange(40) < 10, np.full(40, 0.25 * (1 + 1e-13))),
        (b, np.arange(40) < 20, np.where(np.arange(40) < 35, 0.5, np.nan)),
    ):
        scores.success[:], scores.weight[:] = success, weight
    points = curve_of(statement, run.attackers)
    assert [point.weight for point in points] == [0.25, 0.5]
    assert [point.success for point in points] == [10 / 40, 20 / 40]
    assert [point.baseline for point in points] == pytest.approx([2 * 0.25 * 0.75, 0.5])


COIN = Game(Bits(1), Identity(), Prefix())
UNEVEN = Game(Records(1, [0.7, 0.2, 0.1]), Identity(), Prefix())


def answer(game, statement, epsilons=(0.0,)):
    """Judge the exact answer alone; None where the statement has none."""
    exact = exactly(write_out_family(game), statement, epsilons)
    return judged(exact, statement=statement) if exact else None


def epsilons(found):
    return tuple(point.epsilon for point in found.exact.profile)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_naming_a_coin_gains_what_its_own_baseline_leaves(epsilon):
    """Success 1 and baseline 1/2, or no attempt at all."""
    least = max(0.0, 1 - math.exp(epsilon) / 2)
    found = answer(COIN, Resilience(epsilon, 0.2), (1.0, 0.0, 1.0))
    assert epsilons(found) == tuple(sorted({0.0, 1.0, epsilon}))
    expected = [max(0.0, 1 - math.exp(e) / 2) for e in epsilons(found)]
    assert [point.delta for point in found.exact.profile] == pytest.approx(expected)
    assert (found.exact.least, found.limit) == (pytest.approx(least), 0.2)
    assert found.holds == (least <= 0.2)
    best = found.exact
    assert best.epsilon == epsilon
    assert (best.success, best.baseline) == ((1, 0.5) if least else (0, 0))
    assert best.largest == 1
    assert best.members == 1
    assert (best.member, best.gap_member) == ("", "")
    assert (best.needed.grade, found.given) == ("proved", ())
    sizes = [best.data_sets, best.releases, best.guesses]
    assert sizes == [2, 2, 2]
    assert best.fixed is None


def test_the_edge_of_a_statement_holds():
    assert answer(COIN, Resilience(0.0, 0.5)).holds
    assert not answer(COIN, Resilience(0.0, 0.499999)).holds


def test_a_fixed_baseline_is_that_of_the_likeliest_value():
    """Everything is known: 1 less e^epsilon times .7."""
    for epsilon in (0.0, 0.2):
        found = answer(UNEVEN, FixedBaseline(epsilon, 0.1))
        assert found.exact.least == pytest.approx(1 - 0.7 * math.exp(epsilon))
        assert found.exact.fixed == pytest.approx(0.7)
        assert epsilon in epsilons(found)
    nothing = answer(Game(UNEVEN.world, Constant(), Prefix()), FixedBaseline(0.0, 0.0))
    assert nothing.exact.least == pytest.approx(0, abs=1e-12)
    assert nothing.holds


@pytest.mark.parametrize(("tau", "least"), [(0.05, 0.0), (0.1, 0.1), (0.2, 0.3), (0.7, 1.0)])
def test_a_threshold_counts_the_values_that_are_rare_enough(tau, least):
    found = answer(UNEVEN, Threshold(0.25, tau), (0.5,))
    assert (found.exact.least, found.limit) == (pytest.approx(least), 0.25)
    assert found.holds == (least <= 0.25)
    # its epsilon is no factor on a baseline: the profile is at the points that were asked
    assert epsilons(found) == (0.5,)
    assert found.exact.epsilon == 0.5


def test_what_a_statement_takes_as_a_factor():
    assert all(map(has_epsilon, (Resilience(), FixedBaseline(), SinglingOut(2, 0.5))))
    assert not any(map(has_epsilon, (Threshold(0, 0), NotMemorizing(1, 2, 0.1))))


def test_singling_out_takes_the_weight_at_which_most_is_gained():
    """Two records of two values, seen: one is singled out where they differ, at 1/2; and 1/2
    is what a predicate of weight 1/2 does anyway."""
    game = Game(Records(2, [0.5, 0.5]), Identity(), Isolates())
    found = answer(game, SinglingOut(2, 1.0))
    assert found.exact.least == pytest.approx(0.5 - 2 * 0.5 * 0.5, abs=1e-12)
    three = Game(Records(2, [0.25] * 4), Identity(), Isolates())
    # with quarters: differing 3/4 of the time, where a predicate of weight 1/4 isolates with 3/8
    assert answer(three, SinglingOut(2, 0.25)).exact.least == pytest.approx(3 / 4 - 3 / 8)
    assert answer(three, SinglingOut(2, 0.2)).exact.least == 0


def test_statements_without_an_exact_form_have_none():
    assert answer(COIN, NotMemorizing(1, 1, 0.1)) is None
    rows = Game(Records(2, [0.5, 0.5]), Identity(), RandomRow())
    for statement in (FixedBaseline(), Threshold(0.1, 0.1)):
        assert answer(rows, statement) is None
    assert answer(rows, Resilience()) is not None
    assert answer(COIN, SinglingOut(1, 0.5)) is None


@pytest.mark.parametrize(
    ("statement", "worst"),
    [
        (Resilience(0.0, 0.1), "Bits(n=1, rate=0.5)"),
        (FixedBaseline(0.0, 0.1), "Bits(n=1, rate=0.5)"),
        (Threshold(0.3, 0.2), "Bits(n=1, rate=0.1)"),
    ],
)
def test_a_family_needs_what_its_worst_member_needs(statement, worst):
    worlds = [Bits(1, 0.1), Bits(1, 0.5), Bits(1, 0.4)]
    each = [answer(Game(world, Identity(), Prefix()), statement) for world in worlds]
    found = answer(Game(Family(worlds), Identity(), Prefix()), statement)
    assert found.exact.members == 3
    assert found.exact.member == worst
    assert found.exact.least == max(one.exact.least for one in each)
    assert worst in exact_words(found, found.exact)
    assert found.exact.gap_member in {repr(world) for world in worlds}
    assert found.holds == all(one.holds for one in each)


def test_parts_of_ones_own_are_assumed_to_be_as_they_say():
    own = Game(Bits(1), Identity(), Own(lambda s, z: s[0] == z, [0, 1]))
    found = answer(own, Resilience(0.0, 0.5))
    assert (found.grade, found.holds) == ("proved if", True)
    assert "lists every attempt worth making" in found.given[0]


def test_randomized_response_by_all_guesses():
    """Two bits, each kept with chance p: the best guess names the release."""
    p = 1 / (1 + math.exp(-1.0))
    found = answer(Game(Bits(2), RandomizedResponse(1.0), Prefix()), Resilience(0.25, 0.1))
    gain = [p**2, p * (1 - p), p * (1 - p), (1 - p) ** 2] - np.exp(0.25) / 4
    assert found.exact.least == pytest.approx(gain.clip(0).max())


def allowed(path):
    return narcissus.load_study(path, allow_code=True)


MINE_IDENTITY = """
import time
import numpy as np

def world(rng):
    return rng.integers(0, 2, 4)

def attack(release, known, rng):
    if {pause}:
        time.sleep({pause})
        with open("played", "a") as file:
            file.write(".")
    if rng.random() < 0.01:
        raise ValueError("bad luck")
    return release if rng.random() < {right} else 1 - release
"""

STUDY_IDENTITY = """
kind = "game"
[world]
name = "mine:world"
[mechanism]
name = "identity"
[success]
name = "prefix"
[[attack]]
name = "mine:attack"
[statement]
name = "narcissus"
epsilon = 0.0
delta = {delta}
[run]
trials = {trials}
seed = 5
stop = {stop}
"""


@pytest.fixture
def game(tmp_path, monkeypatch):
    """Give a function that writes a game of one's own parts into a folder."""
    monkeypatch.chdir(tmp_path)

    def write(folder=".", *, pause=0.0, right=0.5, delta=0.1, trials=3200, stop="true"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "mine.py").write_text(MINE_IDENTITY.format(pause=pause, right=right))
        path = place / "s.toml"
        path.write_text(STUDY_IDENTITY.format(delta=delta, trials=trials, stop=stop))
        return path

    return write


def digest(folder="out"):
    return json.loads((Path(folder) / "record.json").read_text())["digest"]


def command(path, *options):
    return [
        sys.executable,
        "-m",
        "narcissus",
        "audit",
        str(path),
        "--allow-code",
        *map(str, options),
    ]


@pytest.mark.parametrize("delta", [0.1, 0.44], ids=["at once", "late"])
def test_workers_do_not_change_a_digit_nor_the_decision(game, delta):
    """Batches are looked at in order: the run stops at the same trial."""
    study = allowed(game(delta=delta, right=0.55))
    plain = run(study)
    assert case_of(plain).outcome == "violates"
    assert case_of(plain).attackers[0].failed > 0
    # "late" must pass some batches, and end before the last one.
    assert plain.record.result.play.trials < 3200
    assert delta == 0.1 or plain.record.result.play.trials > 500
    two = run(study, workers=2, folder="two")
    assert two.record.to_json() == plain.record.to_json()
    # Once more, all out of the store.
    assert run(study, folder="two").record.digest == plain.record.digest


@pytest.mark.skipif(os.name != "posix", reason="sends signals to groups")
@pytest.mark.parametrize(
    ("how", "workers"),
    [pytest.param(signal.SIGKILL, 2, marks=pytest.mark.nightly), (signal.SIGINT, 1)],
)
@pytest.mark.nightly
def test_killed_and_continued(game, how, workers):
    """kill -9 and Ctrl-C in the middle: the rest is played, and nothing changes."""
    path = game(pause=0.001, delta=0.9, trials=2400)
    options = ["--out", "out", "--workers", workers]
    process = subprocess.Popen(
        command(path, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    played = Path("played")
    deadline = time.monotonic() + 60
    # Five batches of 500, after 611 trials that were timed; so many, and at least one batch is
    # stored and one is not.
    while time.monotonic() < deadline and not (played.exists() and played.stat().st_size > 1911):
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    if how == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert not Path("out/record.json").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; continue with: narcissus audit" in err
        assert "Traceback" not in err
    again = subprocess.run(
        command(path, *options), check=False, capture_output=True, text=True, timeout=120
    )
    assert again.returncode == 3, again.stderr
    kept, _, rest = again.stderr.split("continuing: ")[1].partition(" of ")
    assert 1 <= int(kept) < int(rest.split()[0])
    assert digest() == run(allowed(path)).record.digest


def test_more_trials_keep_the_finished_ones(game):
    heard = []

    class Hears:
        def start(self, what, total, done=0): ...
        def advance(self, steps=1): ...
        def finish(self): ...
        def note(self, message):
            heard.append(message)

    run(allowed(game(delta=0.9, trials=1200)), folder="out")
    longer = allowed(game(delta=0.8, trials=1600))
    again = run(longer, folder="out", observer=Hears())
    # 500 + 500 + 200 became 500 + 500 + 500 + 100: the statement is no part of a trial.
    assert heard == ["continuing: 2 of 4 batches were already played"]
    assert again.record.digest == run(longer).record.digest


def test_another_game_or_changed_code_is_refused(game):
    path = game(delta=0.9, trials=500)
    first = run(allowed(path), folder="out").record.digest
    other = allowed(game("other", right=0.6, delta=0.9, trials=500))
    with pytest.raises(StoreError, match=r"another study \(different: own code\).*--restart"):
        run(other, folder="out")
    with pytest.raises(StoreError, match="different: seed"):
        run(allowed(path), folder="out", rng=6)
    text = path.read_text()
    path.write_text(text.replace('"prefix"', '"pinned"\nk = 1'))
    with pytest.raises(StoreError, match="different: success"):
        run(allowed(path), folder="out")
    path.write_text(text)
    assert run(allowed(path), folder="out").record.digest == first
    assert run(other, folder="out", restart=True).record.digest == run(other).record.digest


def test_objects_of_shipped_classes_count_with_the_file_that_makes_them(game, tmp_path):
    """Their class is in the package; what they were made with is in the user's file."""
    from narcissus.kinds.game.kind import identity_of

    found = []
    for number, size in enumerate((4, 5)):
        path = game(str(number))
        with (path.parent / "mine.py").open("a") as file:
            file.write(f"\nfrom narcissus.worlds import Bits\nbits = Bits({size})\n")
        path.write_text(path.read_text().replace("mine:world", "mine:bits"))
        study = allowed(path)
        with study.code.in_use():
            found.append(identity_of(study.settings, study.folder, 0)["own code"]["mine"])
    assert len(set(found)) == 2


SEEDED = {"trials": 150, "seed": 1}
BITS = {
    "world": {"name": "bits", "n": 4, "rate": 0.1},
    "mechanism": {"name": "identity"},
    "success": {"name": "prefix"},
    "attack": [{"name": "released-row", "row": "all"}],
    "statement": {"name": "narcissus", "epsilon": 0.5},
    "run": SEEDED,
}
PAIRS = BITS | {
    "world": {"name": "neighbours", "n": 2},
    "success": {"name": "prefix", "length": 2},
    "mechanism": {"name": "randomized-response", "epsilon": 3.0},
    "statement": {"name": "pairs", "epsilon": 0.2},
}
MEMBERS = BITS | {
    "world": {"name": "uniform", "n": 2, "d": 4},
    "mechanism": {"name": "parity"},
    "success": {"name": "random-row"},
    "attack": [{"name": "parity-membership"}],
    "statement": {"name": "memorizing", "m": 1, "xi": 0.1},
}
RECORDS = BITS | {
    "world": {"name": "records", "n": 3, "probabilities": [0.25] * 4},
    "mechanism": {"name": "exact-average"},
    "success": {"name": "isolates"},
    "attack": [{"name": "bayes"}],
    "statement": {"name": "singling-out", "w_max": 0.6},
}
TOLD = BITS | {
    "world": {"name": "tardos", "N": 12, "d": 12, "n": 4},
    "success": {"name": "hamming", "gamma": 0.25},
    "attack": [{"name": "released-row"}],
    "side-information": {"name": "rates"},
    "statement": {"name": "surprisal", "share": 0.9},
}
FINITE = BITS | {"world": {"name": "finite", "data": [[0, 0], [0, 1], [1, 1]]}}
UNPLAYED = {k: v for k, v in BITS.items() if k not in ("attack", "run")}
GAMES = {
    "bits": BITS,
    "pairs": PAIRS,
    "members": MEMBERS,
    "records": RECORDS,
    "told": TOLD,
    "finite": FINITE,
    "never": BITS | {"exact": {"when": "never"}},
    "unplayed": UNPLAYED,
    "fixed": BITS | {"statement": {"name": "fixed-baseline", "epsilon": 0.5}},
    "threshold": BITS | {"statement": {"name": "threshold", "epsilon": 0.05, "tau": 0.5}},
}
OTHER = {
    "exact": {"when": "never", "limit": 1, "epsilons": [0.33], "abstain": False, "memorized": True},
    "privacy": {"epsilon": 0.4, "delta": 0.01},
    "run": {"trials": 37, "fresh": 3, "confidence": 0.8, "seed": 7, "stop": False},
    "statement": {
        "epsilon": 0.07,
        "delta": 0.01,
        "share": 0.3,
        "best": 0.95,
        "tau": 0.05,
        "w_max": 0.3,
        "points": 1,
        "m": 2,
        "xi": 0.2,
        "bits": 9.0,
        "fresh_share": 0.3,
    },
}


def statement_options(name):
    return options_of(loaded(ROOMS["statement"].parts[name]))


CASES = [
    (base, section, key)
    for base, study in GAMES.items()
    for section, keys in OTHER.items()
    for key in keys
    if (base, key) != ("never", "when")
    and (section != "statement" or key in statement_options(study["statement"]["name"]))
]


REFUSED = [
    ("never", "exact", "limit", "`exact.limit` is for games that are written out"),
    ("never", "exact", "epsilons", "`exact.epsilons` is for games that are written out"),
    ("never", "exact", "abstain", "`exact.abstain` is for games that are written out"),
    ("never", "exact", "memorized", "`exact.memorized` is for games that are written out"),
    ("members", "exact", "when", "`exact.when` is not used with the statement `memorizing`"),
    ("told", "exact", "epsilons", "`exact.epsilons` is not used: "),
    ("bits", "privacy", "epsilon", "are about data sets that differ in one record"),
    ("threshold", "privacy", "epsilon", "no theorem takes it to the statement `threshold`"),
    ("bits", "run", "fresh", "`run.fresh` is not used: "),
    ("pairs", "run", "fresh", "`run.fresh` is not used: "),
    ("unplayed", "run", "trials", "`run.trials` is for attacks, and the study has no [[attack]]"),
]


@pytest.mark.parametrize(("base", "section", "key", "said"), REFUSED)
def test_what_is_not_used_is_refused_with_the_reason(keys, base, section, key, said):
    with pytest.raises(NarcissusError) as refused:
        keys.outcome(GAMES[base], section, key, OTHER[section][key])
    assert said in str(refused.value)
    assert "leave" in str(refused.value)


@pytest.mark.parametrize("base", ["finite", "told"])
def test_fresh_data_sets_are_drawn_where_no_formula_is_known(keys, base):
    assert keys.outcome(GAMES[base], "run", "fresh", 3) != keys.outcome(GAMES[base])


def test_every_key_of_these_sections_is_tried():
    for section, model in (("exact", Exact), ("privacy", Privacy), ("run", GameRun)):
        keys = {key for key, field in model.model_fields.items() if not field.exclude}
        assert set(OTHER[section]) == keys
    options = {key for name in ROOMS["statement"].parts for key in statement_options(name)}
    assert set(OTHER["statement"]) == options


@pytest.mark.parametrize(("base", "section", "key"), CASES)
@pytest.mark.one_in(5)
def test_no_key_of_a_game_is_ignored(keys, base, section, key):
    assert keys.is_used_or_refused(GAMES[base], section, key, OTHER[section][key])


GAME = """
kind = "game"
[world]
name = "bits"
n = 4
[mechanism]
name = "identity"
[[attack]]
name = "{attack}"
{options}
[success]
name = "prefix"
[statement]
name = "narcissus"
epsilon = 9.0
[exact]
when = "never"
[run]
trials = {trials}
seed = 1
"""
OWN_WORK = """
import time
from narcissus.success.relations.base import Attempts
class Mine:
    def attempt(self, release, known, rng):
        {does}
        return release
"""


@pytest.fixture
def game_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(trials=2000, attack="released-row", options='row = "all"', does="pass"):
        Path("mine.py").write_text(OWN_WORK.format(does=does))
        Path("g.toml").write_text(GAME.format(trials=trials, attack=attack, options=options))
        return narcissus.load_study("g.toml", allow_code=True)

    return write


def test_what_takes_long_is_refused_and_started_with_yes(
    game_work,
):
    loaded = game_work()
    with pytest.raises(LongWorkError, match=r"at most 2,000 trials of .* s each, in 1 processes"):
        narcissus.run(loaded, hours=0.0, folder="out")
    assert narcissus.run(loaded, hours=None, folder="out").record.result.play.trials > 0
    # all is in the store: nothing is left to be agreed to
    assert narcissus.run(loaded, hours=0.0, folder="out").record.result.play.trials > 0


def test_an_agreement_changes_no_number(game_work):
    loaded = game_work()
    assert (
        narcissus.run(loaded, hours=1.0).record.digest
        == narcissus.run(loaded, hours=None).record.digest
    )


def test_a_refused_game_leaves_the_folder_to_another_one(game_work):
    with pytest.raises(LongWorkError):
        narcissus.run(game_work(), rng=2, hours=0.0, folder="out")
    narcissus.run(game_work(), rng=3, hours=None, folder="out")


@pytest.mark.nightly
def test_a_trial_of_own_code_that_does_not_end_is_not_waited_for(game_work, monkeypatch):
    monkeypatch.setattr("narcissus.study.work.PATIENCE", 12.0)
    loaded = game_work(attack="mine:Mine", options="", does="time.sleep(3600)")
    begun = time.monotonic()
    with pytest.raises(LongWorkError, match="the first trial has not ended after 12 seconds"):
        narcissus.run(loaded, hours=1.0)
    assert time.monotonic() - begun < 60


def test_own_code_is_timed_by_what_a_trial_takes(game_work):
    loaded = game_work(trials=10**6, attack="mine:Mine", options="", does="time.sleep(0.05)")
    with pytest.raises(LongWorkError) as refused:
        narcissus.run(loaded, hours=0.01)
    found = re.search(r"1,000,000 trials of (\S+) s each", str(refused.value))
    assert 0.05 / 500 < float(found[1]) < 0.2 / 500  # it is asked for a block at once


def test_blocks_grow_until_time_shows():
    """With a player that takes 0.1 s and 1 ms a trial."""
    played = []

    def player(key):
        played.append(key)
        time.sleep(0.1 + 0.001 * int(key.split("/")[2]))
        return {}

    assert 0.001 < kind.time_of_trial(player, "batch/3/500/1") < 0.0025
    assert played == ["batch/3/1/1", "batch/3/10/1", "batch/3/100/1", "batch/3/500/1"]


def test_what_is_paid_once_a_block_is_not_paid_by_each_trial(monkeypatch):
    """Nor is what the very first call pays; a trial that is long by itself is believed."""
    monkeypatch.setattr(kind, "ENOUGH", 0.03)
    monkeypatch.setattr(kind, "LONG", 0.1)
    asked = []

    def player(key):
        count = int(key.split("/")[2])
        asked.append(count)
        time.sleep(0.04 + 0.001 * count)

    assert 0.004 < kind.time_of_trial(player, "batch/3/500/1") < 0.008
    assert asked == [1, 10]
    asked.clear()
    slow = kind.time_of_trial(lambda key: (asked.append(key), time.sleep(0.12)), "batch/3/500/1")
    assert slow >= 0.12
    assert len(asked) == 1
