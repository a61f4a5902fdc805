"""The commands audit and synth: exit codes, what they print, leave and refuse."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus._folders import opened_folder
from narcissus.audits.outcome import Audit
from narcissus.cli.playing import bins_of
from narcissus.report.format import STATUS
from narcissus.study.marks import write_marked
from narcissus.study.record import digest_of
from narcissus.tables import Bins


@pytest.mark.parametrize(
    ("status", "code"),
    [("met", 0), ("no threshold", 0), ("exceeded", 1), ("inconclusive", 3), ("not assessed", 3)],
)
def test_exit_code_follows_the_status(toy, narcissus, status, code):
    _, write = toy
    left, out, _ = narcissus("audit", write(status=status))
    assert left == code
    assert f"{STATUS[status][0]} {STATUS[status][1].upper()}: " in out
    assert "The toy says" not in out
    assert (Path("results/toy") / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_json_prints_the_record_and_nothing_else(toy, narcissus):
    _, write = toy
    code, out, err = narcissus("audit", write(), "--seed", 5, "--out", "there", "--json", "--quiet")
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert record["result"] == {"answer": 5}
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
def test_a_wrong_study_is_refused_and_leaves_nothing(toy, refused, keys, says):
    kind, write = toy
    assert says in refused("audit", write(**keys))
    assert not Path("results").exists()
    assert not kind.options


def test_missing_study_names_the_nearest(toy, refused):
    _, write = toy
    write()
    err = refused("audit", "tyo.toml")
    assert "no such file" in err
    assert "`toy.toml`" in err


@pytest.mark.parametrize(
    "option", [("--workers", 0), ("--seed", -1), ("--policy", "absent.toml"), ("--out", "toy.toml")]
)
def test_a_wrong_option_is_named(toy, refused, option):
    kind, write = toy
    assert option[0] in refused("audit", write(), *option)
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


@pytest.mark.parametrize(
    ("name", "text"),
    [("record.json", '{"schema": '), ("record.json", "{}"), ("report.html", "<p>a thesis</p>")],
)
def test_what_this_program_did_not_leave_is_not_replaced(toy, narcissus, name, text):
    _, write = toy
    Path("results/toy").mkdir(parents=True)
    Path("results/toy", name).write_text(text)
    code, _, err = narcissus("audit", write())
    assert (code, Path("results/toy", name).read_text()) == (2, text)
    assert "--restart" in err
    assert narcissus("audit", write(), "--restart")[0] == 0
    json.loads(Path("results/toy/record.json").read_text())


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="links")
@pytest.mark.parametrize("link", ["results", "results/toy"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_folder_of_results_that_is_a_link_is_refused(toy, narcissus, tmp_path, link, restart):
    """A folder that somebody sent may hold one, to a record that is not theirs."""
    _, write = toy
    study = write()
    elsewhere = tmp_path / "elsewhere" / ("toy" if link == "results" else "")
    elsewhere.mkdir(parents=True)
    for name in ("record.json", "report.html", "record.json.sig", "trials.store"):
        (elsewhere / name).write_text("mine")
    Path(link).parent.mkdir(exist_ok=True)
    Path(link).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    code, _, err = narcissus("audit", study, *["--restart"] * restart)
    assert code == 2
    assert "is reached by a link" in err
    assert {path.read_text() for path in elsewhere.iterdir()} == {"mine"}


@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize("link", ["results", "results/toy"])
@pytest.mark.parametrize("when", ["while it is played", "before it is signed"])
def test_a_folder_that_becomes_a_link_meanwhile_is_not_written(
    toy, narcissus, tmp_path, monkeypatch, link, when
):
    """Who shares the folder may swap it after the check: each write looks again."""
    kind, write = toy
    elsewhere = tmp_path / "elsewhere"
    inner = elsewhere / "toy" if link == "results" else elsewhere
    inner.mkdir(parents=True)
    names = ("record.json", "report.html", "record.json.sig", "trials.store", "entropy.txt")
    for name in names:
        (inner / name).write_text("mine")

    def swap():
        Path(link).rename("before")
        Path(link).symlink_to(elsewhere, target_is_directory=True)

    def then(function):
        def swapped(*arguments, **named):
            found = function(*arguments, **named)
            swap()
            return found

        return swapped

    if when == "while it is played":
        monkeypatch.setattr(kind, "play", then(kind.play))
    else:
        monkeypatch.setattr(Audit, "save", then(Audit.save))
    code, _, err = narcissus("audit", write())
    assert code == 2
    assert "is reached by a link" in err
    assert {name: (inner / name).read_text() for name in names} == dict.fromkeys(names, "mine")
    assert len(list(inner.iterdir())) == len(names)


def test_restart_names_what_it_replaces(toy, narcissus):
    _, write = toy
    Path("results/toy").mkdir(parents=True)
    for name in ("record.json", "record.json.sig", "thesis.txt"):
        Path("results/toy", name).write_text("theirs")
    code, _, err = narcissus("audit", write(), "--restart")
    assert code == 0
    assert "--restart replaces in results/toy: record.json, record.json.sig" in err
    assert Path("results/toy/thesis.txt").read_text() == "theirs"
    assert "--restart replaces" not in narcissus("audit", write(), "--restart", "--out", "new")[2]


def test_a_signature_that_is_removed_is_named(toy, narcissus):
    """A new record has no old signature beside it; whose it was cannot be told, so it is said."""
    _, write = toy
    study = write()
    assert narcissus("audit", study)[0] == 0
    with opened_folder(Path("results/toy")) as place:
        write_marked(place, "record.json.sig", "of before")
    code, _, err = narcissus("audit", study)
    assert code == 0
    assert "removed results/toy/record.json.sig" in err
    assert not Path("results/toy/record.json.sig").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator can write anywhere")
def test_unwritable_folder_is_refused(toy, narcissus):
    _, write = toy
    Path("locked").mkdir(mode=0o500)
    code, _, err = narcissus("audit", write(), "--out", "locked/out")
    assert code == 2
    assert "--out" in err


def test_a_folder_that_cannot_be_made_is_refused(toy, refused):
    kind, write = toy
    study = write()
    assert "cannot be written to" in refused("audit", study, "--out", "toy.toml/out")
    assert not kind.options


def test_audit_plays_games(narcissus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    narcissus("init", "--example", "mona-lisa-narcissus")
    code, out, _ = narcissus("audit", "mona-lisa-narcissus.toml", "--seed", 1, "--quiet")
    assert code == 1  # the threshold is exceeded: the statement is violated
    assert "EXCEEDED: " in out
    assert (tmp_path / "results" / "mona-lisa-narcissus" / "report.html").exists()
    narcissus("init", "--example", "counting-query")
    code, out, _ = narcissus("audit", "counting-query.toml", "--seed", 1, "--quiet", "--json")
    assert code == 0
    assert json.loads(out)["grade"] == "proved"


@pytest.mark.parametrize("epsilon", ["[1, inf]", "2"])
def test_record_fits_its_schema_and_is_drawn(town, narcissus, fit, epsilon):
    code, out, err = narcissus("audit", town(epsilon), "--json")
    assert code == 0, err
    record = json.loads(out)
    for kind in ((), ("table",)):
        schema = json.loads(narcissus("report", "--schema", *kind)[1])
        fit(record, schema)
    assert len(record["result"]["settings"]) == (1 if epsilon == "2" else 2)
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
    assert "Small towns." in narcissus("report", "results/town", "--text", "--verbose")[1]


def test_single_records_go_to_the_internal_file_only(town, narcissus):
    narcissus("audit", town(), "--records", "internal.json", "--quiet")
    assert Path("internal.json").exists()
    assert {p.name for p in Path("results/town").iterdir()} == {
        "digest.key", "narcissus.marks", "record.json", "report.html", "trials.store",
    }  # fmt: skip


def test_a_finished_run_can_be_extended(town, narcissus):
    path = Path(town())
    narcissus("audit", path, "--quiet")
    path.write_text(path.read_text().replace("trials = 4", "trials = 6"))
    code, _, err = narcissus("audit", path)
    assert code == 0
    assert "8 done earlier" in err


DATA = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture
def synth(narcissus, tmp_path):
    """Audit a file of the examples, of few people to be quick."""
    for name in ("real", "control", "copied", "fresh"):
        lines = (DATA / f"given_{name}.csv").read_text(encoding="utf-8").splitlines()
        (tmp_path / f"{name}.csv").write_text("\n".join(lines[:301]) + "\n", encoding="utf-8")

    def run(synthetic, *more, control=True):
        files = [tmp_path / "real.csv", tmp_path / f"{synthetic}.csv"]
        aside = ["--control", tmp_path / "control.csv"] if control else []
        words = map(str, ["synth", *files, *aside, *more])
        return narcissus(*words, "--out", str(tmp_path / "out"), "--seed", "1", "--quiet")

    return run


def test_exit_codes_follow_the_verdict(synth, tmp_path):
    code, out, _ = synth("real", "--unknown", "ESR")
    assert code == 1
    assert "EXCEEDED: The file is the data itself." in out
    assert (tmp_path / "out" / "report.html").exists()
    code, out, _ = synth("fresh", "--unknown", "ESR", "--restart")
    assert code == 3
    assert "NOT DECIDED: No attack is shown to exceed" in " ".join(out.split())
    code, out, _ = synth("real", "--unknown", "ESR", "--restart", control=False)
    assert code == 1
    assert "The file is the data itself" in " ".join(out.split())
    code, out, _ = synth("fresh", "--unknown", "ESR", "--restart", control=False)
    assert code == 3
    assert "NOT DECIDED: No copied people are shown" in " ".join(out.split())


def test_several_files_are_compared_on_one_page_by_risk(synth, tmp_path):
    files = [tmp_path / f"{name}.csv" for name in ("copied", "real")]
    code, out, _ = synth("fresh", *files, "--unknown", "ESR", control=False)
    assert code == 1
    lines = [line.split()[:2] for line in out.splitlines() if line.startswith("  ")]
    assert [first for first, *_ in lines if first in ("real", "copied", "fresh")] == [
        "real", "copied", "fresh",
    ]  # fmt: skip
    frame = pd.read_csv(tmp_path / "out" / "data.csv")
    assert list(dict.fromkeys(frame["file"])) == ["real", "copied", "fresh"]
    assert (tmp_path / "out" / "copied" / "record.json").exists()
    assert "<table" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    code, _, err = synth("fresh", tmp_path / "fresh.csv", "--unknown", "ESR")
    assert code == 2
    assert "two files are called fresh" in err


def test_options_reach_the_study(synth):
    code, out, _ = synth(
        "real", "--unknown", "ESR,SEX", "--groups", "DIS", "--drop", "RELP", "--bins", "AGEP=10",
        "--missing", "category", "--at-most", "0.9", "--copies", "0.999", "--confidence", "0.9",
        "--json",
    )  # fmt: skip
    study = json.loads(out)["study"]
    assert code == 3
    assert study["threshold"]["copies"] == 0.999
    assert study["threat"]["unknown"] == ["ESR", "SEX"]
    assert study["groups"]["columns"] == ["DIS"]
    assert (study["data"]["drop"], study["data"]["missing"]) == (["RELP"], "category")
    assert study["data"]["bins"]["AGEP"]["width"] == 10
    assert (study["threshold"]["at_most"], study["run"]["confidence"]) == (0.9, 0.9)


@pytest.mark.parametrize(
    ("said", "way", "value"),
    [
        ("AGEP=.5", "width", 0.5),
        ("AGEP=edges=18,65", "edges", [18, 65]),
        ("AGEP=quantiles=5", "quantiles", 5),
        ("AGEP=above=-1e2", "above", -100),
        ("RELP=common=20", "common", 20),
    ],
)
def test_every_way_to_bin_is_an_option(said, way, value):
    [(name, found)] = bins_of(None, None, (said,)).items()
    assert (name, found) == (said.partition("=")[0], {way: value})
    assert Bins(**found)


def test_a_policy_decides(synth, tmp_path):
    text = "[threshold]\nat_most = 0.98\ncopies = 0.999\n"
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    assert synth("real", "--unknown", "ESR", "--policy", tmp_path / "policy.toml")[0] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--unknown", "ESRR"], "did you mean `ESR`"),
        (["--unknown", "ESR,,SEX"], "single commas"),
        (["--unknown", "ESR", "--bins", "AGEP"], "COLUMN=WIDTH"),
        (["--unknown", "ESR", "--bins", "AGEP=ten"], "COLUMN=WIDTH"),
        (["--unknown", "ESR", "--bins", "AGEP=common=2.5"], "did you mean `AGEP`"),
        (["--unknown", "ESR", "--bins", "AGE=10"], "did you mean `AGEP`"),
        (["--unknown", "ESR", "--read-as", "AGEP"], "COLUMN=WAY"),
        (["--unknown", "ESR", "--read-as", "AGEP=words"], "data.read_as.AGEP"),
        (["--unknown", "ESR", "--read-as", "AGE=text"], "did you mean `AGEP`"),
        (["--unknown", "ESR", "--at-most", "2"], "threshold.at_most"),
        (["--unknown", ""], "single commas"),
    ],
)
def test_mistakes_exit_with_2(synth, words, said):
    code, out, err = synth("fresh", *words)
    assert (code, out) == (2, "")
    assert said in err


def test_values_that_hardly_overlap_stop_the_run_until_it_is_said_how_to_read_them(synth, tmp_path):
    path = tmp_path / "fresh.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    place = head.split(",").index("SEX")
    cells = [row.split(",") for row in rows]
    lines = [",".join([*c[:place], "mf"[int(c[place]) - 1], *c[place + 1 :]]) for c in cells]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    code, out, err = synth("fresh", "--unknown", "ESR")
    assert (code, out) == (2, "")
    assert "'1', '2' in the real file" in err
    assert "'m'" in err
    assert "'f'" in err
    assert "--read-as SEX=text" in err
    assert "--drop SEX" in err
    assert synth("fresh", "--unknown", "ESR", "--read-as", "SEX=text")[0] == 3
    code, out, _ = synth("fresh", "--unknown", "ESR", "--drop", "SEX", "--restart", "--json")
    assert code == 3
    assert any(one.startswith("Columns read as numbers: ") for one in json.loads(out)["assessed"])


def test_what_was_read_as_what_is_told_in_the_record(synth, tmp_path):
    path = tmp_path / "fresh.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",", ".0,"), encoding="utf-8")
    head, rest = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(head.replace(".0,", ",") + "\n" + rest, encoding="utf-8")
    code, out, _ = synth("fresh", "--unknown", "ESR", "--json")
    assert code == 3
    [said] = [one for one in json.loads(out)["assessed"] if "In the synthetic file" in one]
    assert re.search(r"'([\d#])\.0' is read as \1 \(MAR\)", said)


def test_a_folder_of_another_audit_is_not_overwritten(synth):
    assert synth("fresh", "--unknown", "ESR")[0] == 3
    code, _, err = synth("fresh", "--unknown", "SEX")
    assert code == 2
    assert "--restart" in err


def some(seed, n=120):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "": np.arange(n), "caseid": rng.permutation(9 * n)[:n], "age": rng.integers(18, 90, n),
        "sex": rng.choice(["f", "m"], n), "town": [f"t{k}" for k in rng.integers(0, 9**6, n)],
        "wage": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(8, 1, n).round(2)),
        "note": ["x"] * n, "job": rng.choice(list("abcd"), n), f"own{seed}": 1,
    }).assign(lwage=lambda frame: np.log(frame["wage"]))  # fmt: skip


def test_synth_needs_no_more_than_its_files(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("real", "synthetic", "control")):
        some(seed).to_csv(f"{name}.csv", index=False)
    words = ["synth", "real.csv", "synthetic.csv", "--control", "control.csv", "--seed", 1]
    code, out, err = narcissus(*words, "--json")
    assert code == 3
    assert "Chosen to be guessed: `wage`" in err
    record = json.loads(out)
    data = record["study"]["data"]
    assert record["study"]["threat"]["unknown"] == ["wage"]
    reasons = {"caseid": "identifier", "town": "another text", "note": "one value only",
               "lwage": "determines `wage`", "own0": "not in the synthetic and the control file",
               "own1": "not in the real and the control file", "": "no name"}  # fmt: skip
    for name, why in reasons.items():
        assert why in data["left_out"].pop(name), name
        assert f"Left out: {f'`{name}`' if name else chr(34) * 2}: " in err
    assert not {k for k in data["left_out"] if not k.startswith("own")}
    assert (data["missing"], list(data["bins"])) == ("category", ["wage"])
    [told] = [one for one in record["not_assessed"] if "left out" in one["quantity"]]
    assert "caseid (looked at for copies alone, looks like an identifier" in told["reason"]
    text = narcissus(*words, "--restart")[1]
    assert "the columns " in text.partition("Not looked at: ")[2]
    code, out, err = narcissus(*words, "--restart", "--json", "--unknown", "job", "--drop", "",
                               "--bins", "wage=1000", "--missing", "drop")  # fmt: skip
    data = json.loads(out)["study"]["data"]
    assert (data["drop"], data["missing"]) == ([""], "drop")
    assert data["bins"]["wage"]["width"] == 1000
    assert "Chosen" not in err


def test_all_problems_are_told_at_once(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one, other = (some(seed)[["sex", "job", "age"]] for seed in (1, 2))
    other = other.assign(sex=other["sex"].map({"f": "1", "m": "2"}), job=other["job"] * 3)
    one.to_csv("real.csv", index=False)
    other.to_csv("synthetic.csv", index=False)
    code, out, err = narcissus("synth", "real.csv", "synthetic.csv", "--unknown", "age")
    assert code == 3
    assert "Columns `job`, `sex` are not accounted for" in " ".join(out.split())
    assert "write these columns in the words of the data" in " ".join(out.split())
    table = some(1).drop(columns="")
    table.to_csv("t.csv", index=False)
    (tmp_path / "t.toml").write_text(
        '[data]\npath = "t.csv"\n[threat]\nunknown = ["sex"]\ntargets = 5\n'
        "[mechanism]\nepsilon = 1\n"
    )
    _, _, err = narcissus("audit", "t.toml")
    for said in ("missing values", "`town` has another text", "`note` has one value only"):
        assert said in err
