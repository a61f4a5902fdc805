"""``narcissus synth``: exit codes, options, the record that it leaves."""

import json
import re
from pathlib import Path

import pytest

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
    assert "THRESHOLD EXCEEDED" in out
    assert (tmp_path / "out" / "report.html").exists()
    code, out, _ = synth("fresh", "--unknown", "ESR", "--restart")
    assert code == 3
    assert "NOT SHOWN" in out
    code, out, _ = synth("real", "--unknown", "ESR", "--restart", control=False)
    assert code == 3
    assert "NOT ASSESSED" in out


def test_options_reach_the_study(synth):
    code, out, _ = synth(
        "real", "--unknown", "ESR,SEX", "--groups", "DIS", "--drop", "RELP", "--bins", "AGEP=10",
        "--missing", "category", "--at-most", "0.9", "--confidence", "0.9", "--json",
    )  # fmt: skip
    study = json.loads(out)["study"]
    assert code == 3
    assert study["threat"]["unknown"] == ["ESR", "SEX"]
    assert study["groups"]["columns"] == ["DIS"]
    assert (study["data"]["drop"], study["data"]["missing"]) == (["RELP"], "category")
    assert study["data"]["bins"]["AGEP"]["width"] == 10
    assert (study["threshold"]["at_most"], study["run"]["confidence"]) == (0.9, 0.9)


def test_a_policy_decides(synth, tmp_path):
    (tmp_path / "policy.toml").write_text("[threshold]\nat_most = 0.98\n", encoding="utf-8")
    assert synth("real", "--unknown", "ESR", "--policy", tmp_path / "policy.toml")[0] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--unknown", "ESRR"], "did you mean `ESR`"),
        (["--unknown", "ESR,,SEX"], "single commas"),
        (["--unknown", "ESR", "--bins", "AGEP"], "COLUMN=WIDTH"),
        (["--unknown", "ESR", "--bins", "AGEP=ten"], "COLUMN=WIDTH"),
        (["--unknown", "ESR", "--bins", "AGE=10"], "did you mean `AGEP`"),
        (["--unknown", "ESR", "--read-as", "AGEP"], "COLUMN=WAY"),
        (["--unknown", "ESR", "--read-as", "AGEP=words"], "data.read_as.AGEP"),
        (["--unknown", "ESR", "--read-as", "AGE=text"], "did you mean `AGEP`"),
        (["--unknown", "ESR", "--at-most", "2"], "threshold.at_most"),
        ([], "--unknown"),
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
    assert re.search(r"'(\d)\.0' is read as \1 \(MAR\)", said)


def test_a_folder_of_another_audit_is_not_overwritten(synth):
    assert synth("fresh", "--unknown", "ESR")[0] == 3
    code, _, err = synth("fresh", "--unknown", "SEX")
    assert code == 2
    assert "--restart" in err
