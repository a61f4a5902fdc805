"""``narcissus audit``: exit codes, what it prints and leaves, and what it refuses before work."""

import json
import os
from pathlib import Path

import pytest

from narcissus.study.record import digest_of


@pytest.mark.parametrize(
    ("status", "code"),
    [("met", 0), ("no threshold", 0), ("exceeded", 1), ("inconclusive", 3), ("not assessed", 3)],
)
def test_exit_code_follows_the_status(toy, narcissus, status, code):
    _, write = toy
    left, out, _ = narcissus("audit", write(status=status))
    assert left == code
    assert f"The toy says: {status}." in out
    assert (Path("results/toy") / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_json_prints_the_record_and_nothing_else(toy, narcissus):
    _, write = toy
    code, out, err = narcissus("audit", write(), "--seed", 5, "--out", "there", "--json", "--quiet")
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert record["results"] == {"answer": 5}
    assert record["provenance"]["entropy"] == "5"
    assert record["digest"] == digest_of(record)
    assert Path("there/record.json").read_text() == out


def test_options_reach_the_kind(toy, narcissus):
    kind, write = toy
    Path("policy.toml").write_text("")
    narcissus(
        "audit", write(), "--workers", 3, "--restart", "--policy", "policy.toml",
        "--records", "internal.json",
    )  # fmt: skip
    options = kind.options[-1]
    assert options.workers == 3
    assert options.restart
    assert options.policy == Path("policy.toml")
    assert options.internal == Path("internal.json")
    assert options.folder == Path("results/toy")


def test_progress_goes_to_standard_error_a_line_each_tenth(toy, narcissus):
    _, write = toy
    _, out, err = narcissus("audit", write(trials=200))
    lines = err.splitlines()
    assert lines[0] == "trials: 200 steps"
    assert len(lines) == 11
    assert "100 of 200 (50%)" in err
    assert "steps" not in out


def test_interrupt_says_how_to_continue(toy, narcissus):
    _, write = toy
    study = write("my study.toml", status="interrupt")
    code, out, err = narcissus("audit", study, "--quiet", "--seed", 0, "--restart")
    assert code == 130
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("interrupted; continue with: narcissus audit '")
    assert err.endswith("--out 'results/my study' --seed 0 --quiet\n")
    assert not Path("results/my study/record.json").exists()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"trails": 3}, "unknown key `trails`; did you mean `trials`?"),
        ({"trials": 0}, "`trials`"),
        ({"trials": 13}, "`trials` must not be 13"),
        ({"kind": "toi"}, "`kind` must be one of"),
    ],
)
def test_a_wrong_study_is_refused_and_leaves_nothing(toy, narcissus, keys, says):
    kind, write = toy
    code, out, err = narcissus("audit", write(**keys))
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err
    assert not Path("results").exists()
    assert not kind.options


def test_missing_study_names_the_nearest(toy, narcissus):
    _, write = toy
    write()
    code, _, err = narcissus("audit", "tyo.toml")
    assert code == 2
    assert "no such file" in err
    assert "`toy.toml`" in err


@pytest.mark.parametrize(
    "option", [("--workers", 0), ("--seed", -1), ("--policy", "absent.toml"), ("--out", "toy.toml")]
)
def test_a_wrong_option_is_named(toy, narcissus, option):
    kind, write = toy
    code, _, err = narcissus("audit", write(), *option)
    assert code == 2
    assert option[0] in err
    assert not kind.options


def test_folder_of_another_study_is_refused_unless_restarted(toy, narcissus):
    _, write = toy
    assert narcissus("audit", write(), "--out", "out")[0] == 0
    kept = Path("out/record.json").read_text()
    code, _, err = narcissus("audit", write(trials=5), "--out", "out")
    assert code == 2
    assert "belongs to another study" in err
    assert "--restart" in err
    assert Path("out/record.json").read_text() == kept
    assert narcissus("audit", write(trials=5), "--out", "out", "--restart")[0] == 0
    assert Path("out/record.json").read_text() != kept


def test_the_same_study_may_be_played_again(toy, narcissus):
    _, write = toy
    study = write()
    first = narcissus("audit", study, "--seed", 1, "--json", "--quiet")
    assert narcissus("audit", study, "--seed", 1, "--json", "--quiet") == first


def test_a_study_without_a_seed_continues_with_the_one_that_it_drew(toy, narcissus):
    kind, write = toy
    study = write(status="interrupt")
    assert narcissus("audit", study, "--quiet")[0] == 130
    assert narcissus("audit", study, "--quiet")[0] == 130
    narcissus("audit", study, "--quiet", "--restart")
    first, again, anew = (options.entropy for options in kind.options)
    assert first == again != anew


def test_a_damaged_record_is_replaced(toy, narcissus):
    _, write = toy
    Path("results/toy").mkdir(parents=True)
    Path("results/toy/record.json").write_text('{"schema": ')
    assert narcissus("audit", write())[0] == 0
    json.loads(Path("results/toy/record.json").read_text())


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator can write anywhere")
def test_unwritable_folder_is_refused(toy, narcissus):
    _, write = toy
    Path("locked").mkdir(mode=0o500)
    code, _, err = narcissus("audit", write(), "--out", "locked/out")
    assert code == 2
    assert "--out" in err


def test_a_folder_that_cannot_be_made_is_refused(toy, narcissus):
    kind, write = toy
    study = write()
    code, _, err = narcissus("audit", study, "--out", "toy.toml/out")
    assert code == 2
    assert "cannot be written to" in err
    assert not kind.options


def test_audit_plays_games(narcissus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    narcissus("examples", "mona-lisa-narcissus")
    code, out, _ = narcissus("audit", "mona-lisa-narcissus.toml", "--seed", 1, "--quiet")
    assert code == 1  # the threshold is exceeded: the statement is violated
    assert "Violates" in out
    assert (tmp_path / "results" / "mona-lisa-narcissus" / "report.html").exists()
    narcissus("examples", "counting-query")
    code, out, _ = narcissus("audit", "counting-query.toml", "--seed", 1, "--quiet", "--json")
    assert code == 0
    assert json.loads(out)["results"]["outcome"] == "resilient, proved"


@pytest.mark.parametrize("epsilon", ["[1, inf]", "2"])
def test_record_fits_its_schema_and_is_drawn(town, narcissus, fit, epsilon):
    code, out, err = narcissus("audit", town(epsilon), "--json")
    assert code == 0, err
    record = json.loads(out)
    for kind in ((), ("table",)):
        schema = json.loads(narcissus("schema", "record", *kind)[1])
        fit(record, schema)
    assert isinstance(record["results"], list) == (epsilon != "2")
    drawn = Path("results/town/report.html").read_text()
    narcissus("report", "results/town", "--out", "again.html")
    assert Path("again.html").read_text() == drawn
    assert "A small town" in drawn


def test_a_policy_decides_and_its_hash_and_reason_stand_in_the_record(town, narcissus):
    Path("policy.toml").write_text(
        '[threshold]\nshare = 0.05\nreason = "Small towns."\norigin = "The board"\n'
    )
    code, out, err = narcissus("audit", town(), "--policy", "policy.toml", "--json", "--quiet")
    assert (code, err) == (1, "")
    record = json.loads(out)
    assert record["provenance"]["digests"]["policy"].startswith("sha256:")
    assert "Small towns." in narcissus("report", "results/town", "--text")[1]


def test_single_records_go_to_the_internal_file_only(town, narcissus):
    narcissus("audit", town(), "--records", "internal.json", "--quiet")
    assert Path("internal.json").exists()
    assert {p.name for p in Path("results/town").iterdir()} == {
        "digest.key", "record.json", "report.html", "trials.store",
    }  # fmt: skip


def test_a_finished_run_can_be_extended(town, narcissus):
    path = Path(town())
    narcissus("audit", path, "--quiet")
    path.write_text(path.read_text().replace("trials = 4", "trials = 6"))
    code, _, err = narcissus("audit", path)
    assert code == 0
    assert "8 done earlier" in err
