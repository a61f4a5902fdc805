"""Studies of the kind "game": the user's own parts, what cannot be assessed, the page."""

from __future__ import annotations

import dataclasses

import pytest

from narcissus import load_study, profile, run
from narcissus.errors import InputError, TooLargeError
from narcissus.report import page_of, render_html, render_text
from narcissus.study.shipped import shipped_study


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
    for name in ("counting-query-uncut", "singling-out", "eav-aes"):
        audit = run(fewer_trials(shipped_study(name), 200), rng=1)
        html, text = render_html(audit.record), render_text(audit.record)
        assert audit.verdict.split(":")[0] in html.replace("&lt;", "<")
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
        assert audit.results["outcome"] == "violates"
        assert audit.results["attackers"][0]["success"]["value"] == 1
        assert any("cannot be written out" in n.reason for n in audit.record.not_assessed)


def test_own_modules_of_one_name_do_not_collide(tmp_path):
    for number, folder in enumerate((tmp_path / "a", tmp_path / "b")):
        folder.mkdir()
        text = f"def attack(release):\n    return release if {number} else None\n"
        (folder / "mine.py").write_text(text, encoding="utf-8")
        study = SMALL.replace('"released-row"\nrow = "all"', '"mine:attack"')
        audit = run(load_study(write(folder, study), allow_code=True), rng=1)
        assert audit.results["attackers"][0]["success"]["value"] == number


def test_a_world_too_large_for_the_exact_answer_that_was_asked(tmp_path):
    large = SMALL.replace("n = 4", "n = 40")
    audit = run(load_study(write(tmp_path, large)), rng=1)
    assert audit.results["exact"] is None
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
    assert audit.results["outcome"] == "not assessed"
    assert audit.status == "not assessed"
    with pytest.raises(InputError, match=r"no \[\[attack\]\]"):
        load_study(write(tmp_path, text + '[exact]\nwhen = "never"\n'))


def test_an_attack_that_always_fails_is_not_assessed(tmp_path):
    (tmp_path / "mine.py").write_text("def attack(release):\n    raise OSError('no')\n")
    text = SMALL.replace('"released-row"\nrow = "all"', '"mine:attack"')
    text += '[exact]\nwhen = "never"\n'
    audit = run(load_study(write(tmp_path, text), allow_code=True), rng=1)
    assert audit.status == "not assessed"
    assert any("OSError: no" in remark.reason for remark in audit.record.not_assessed)
    assert "failed with an error on" in audit.verdict
    assert audit.results["attackers"][0]["failures"][0]["seed"] in audit.verdict
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
    assert audit.results["outcome"] == "resilient, proved"
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
    found = run(
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
    ).results["attackers"][0]
    assert found["success"]["value"] == 1
    assert 0.1 < found["baseline"]["value"] < 0.45


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
    with pytest.raises(InputError, match=r"the study runs code of its own: mine:.*--allow-code"):
        load_study(path)
    audit = run(load_study(path, allow_code=True), rng=1)
    assert audit.results["outcome"] == "violates"
    [attacker] = audit.results["attackers"]
    assert attacker["success"]["value"] == 1
    assert [one["trial"] for one in attacker["transcripts"]] == [0, 1, 2]
    for one in attacker["transcripts"]:
        assert one["questions"] == len(one["exchanges"]) == 2
        assert one["success"] == (one["baseline"] == 0)
    text = render_text(audit.record)
    assert "What was said in the first trials" in text
    assert attacker["transcripts"][0]["exchanges"][1]["answer"] in text
    assert "What was said in the first trials" in render_html(audit.record)


def test_what_was_said_of_a_world_of_ones_own_is_not_kept(tmp_path):
    """It may hold real people; nothing of them is in a record."""
    write(tmp_path, "def world(rng):\n    return rng.integers(0, 2, 1)\n", "mine.py")
    text = TALK.format(mechanism='name = "count-queries"\nquestions = 2', attack="ATTACK")
    text = text.replace('name = "pairs"\npairs = [[[0], [1]]]', 'name = "mine:world"')
    write(tmp_path, OWN_SCHEME + "\ndef ask(talk):\n    return talk.ask([1])\n", "others.py")
    path = write(tmp_path, text.replace("ATTACK", 'name = "others:ask"'))
    audit = run(load_study(path, allow_code=True), rng=1)
    [attacker] = audit.results["attackers"]
    assert attacker["success"]["value"] == 1
    assert "transcripts" not in attacker
    assert "What was said" not in render_text(audit.record)


def test_a_record_without_conversations_has_no_key_for_them(tmp_path):
    audit = run(load_study(write(tmp_path, SMALL)), rng=3)
    assert "transcripts" not in audit.results["attackers"][0]


def test_what_was_said_is_the_same_when_a_run_is_continued(tmp_path):
    study = load_study(shipped_study("sparse-vector").path)
    whole = run(study, rng=5)
    again = run(study, rng=5, folder=tmp_path / "kept")
    continued = run(study, rng=5, folder=tmp_path / "kept")
    assert whole.results == again.results == continued.results
    assert whole.results["attackers"][0]["transcripts"]


def test_a_promise_of_a_broken_mechanism_is_refuted(tmp_path):
    """Sparse vector that never ends, said to be (1, 0)-private: the exact answer says no."""
    text = shipped_study("sparse-vector-broken").path.read_text(encoding="utf-8")
    path = write(tmp_path, text + "\n[privacy]\nepsilon = 1.0\n")
    audit = run(load_study(path), rng=1)
    assert audit.results["outcome"] == "contradicted"
    assert "(1, 0)-differentially private, replace-one, as [privacy] says" in audit.verdict


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
