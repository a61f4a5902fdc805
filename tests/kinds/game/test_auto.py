"""Studies of games without a number of trials: how they end, what they say, what is refused."""

import json
import math

import pytest

from narcissus import load_study, run
from narcissus.errors import InputError, StudyError
from narcissus.game.looks import counts
from narcissus.report.about import verdict_of
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of

GAP = (math.e / (1 + math.e)) ** 3 - 1 / 8
"""What naming the released row gains on average."""
STUDY = """kind = "game"
[world]
name = "bits"
n = 3
[mechanism]
name = "randomized-response"
epsilon = 1.0
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[exact]
when = "{when}"
[statement]
name = "narcissus"
epsilon = 0.0
delta = {delta}
[run]
trials = "auto"
seed = 3
{more}
"""


def made(tmp_path, name="s.toml", delta=0.4, more="", when="never"):
    path = tmp_path / name
    path.write_text(STUDY.format(delta=delta, more=more, when=when))
    return path


@pytest.mark.parametrize(
    ("delta", "when", "ended", "status", "said"),
    [
        (GAP + 0.3, "never", "below", "inconclusive", "gain no more than is allowed"),
        (GAP - 0.2, "never", "decided", "exceeded", "Violates"),
        (GAP + 0.3, "required", "decided", "met", "Resilient, proved"),
    ],
)
def test_a_study_says_how_it_ended(tmp_path, delta, when, ended, status, said):
    audit = run(load_study(made(tmp_path, delta=delta, when=when)))
    end = audit.record.result.play.end
    assert (end.ended, audit.status, said in audit.verdict) == (ended, status, True)
    trials = audit.record.result.play.trials
    assert trials <= counts()[end.look - 1]
    assert trials == 20 or when == "never"


def test_time_ends_a_game_and_verify_ends_it_there(tmp_path, narcissus):
    path, out = made(tmp_path, delta=GAP + 0.001), tmp_path / "out"
    code, _, err = narcissus("audit", path, "--out", out, "--budget", "0.001s")
    assert code == 3, err
    record = read_record(out / "record.json")
    assert record.result.play.end.ended == "budget"
    assert "would probably do" in verdict_of(record)
    assert "budget" not in record.study["run"]
    assert narcissus("verify", out, path, "--quiet")[0] == 0
    numbers = list[object]()  # and it goes on from there, as if it had never ended
    for place in (out, tmp_path / "new"):
        code, _, err = narcissus("audit", made(tmp_path, delta=GAP + 0.1), "--out", place)
        assert code == 3, err
        numbers.append(read_record(place / "record.json").rows)
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda play: play.update(trials=play["trials"] + 1), "do not end as"),
        (lambda play: play["end"].update(look=play["end"]["look"] + 1), "do not end as"),
        (lambda play: play["end"].update(look=10**9), "do not end as"),
        (lambda play: play["end"].update(ended="decided"), "nothing decides"),
        (lambda play: play.update(decided=5), "do not end as"),
        (
            lambda play: play["attackers"][-1]["gap"].update(high=0.99),
            "may gain more than is allowed",
        ),
    ],
)
def test_a_record_that_its_own_numbers_contradict_is_refused(tmp_path, change, says):
    audit = run(load_study(made(tmp_path, delta=GAP + 0.3)))
    path, forged = tmp_path / "record.json", json.loads(audit.record.to_json())
    path.write_text(json.dumps(forged))
    assert read_record(path).result.play.end.ended == "below"
    change(forged["result"]["play"])
    del forged["digest"]
    path.write_text(json.dumps({**forged, "digest": digest_of(forged)}))
    with pytest.raises(InputError, match=says):
        read_record(path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seed = 3", "stop = false", "leave out `stop`"),
        ('trials = "auto"', 'budget = "10m"', "`budget` ends a run"),
        ('trials = "auto"', 'trials = "autos"', "a whole number or 'auto'"),
        ("seed = 3", 'budget = "long"', "30s, 10m or 2h"),
        ("seed = 3", "budget = 0", "must be above 0"),
    ],
)
def test_an_end_that_cannot_be_is_refused(tmp_path, old, new, says):
    path = made(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(StudyError, match=says):
        load_study(path)
