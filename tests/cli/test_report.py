"""``narcissus report`` draws again what ``narcissus audit`` drew."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def played(toy, narcissus):
    _, write = toy
    narcissus("audit", write(), "--seed", 1, "--quiet")
    return Path("results/toy")


def test_same_bytes_from_file_and_folder(played, narcissus):
    drawn = (played / "report.html").read_bytes()
    for given in (played, played / "record.json"):
        assert narcissus("report", given, "--out", "again.html")[0] == 0
        assert Path("again.html").read_bytes() == drawn


def test_default_place_is_beside_the_record(played, narcissus):
    (played / "report.html").unlink()
    code, out, _ = narcissus("report", played)
    assert code == 0
    assert out == "Report: results/toy/report.html\n"
    assert (played / "report.html").exists()


def test_text_goes_to_standard_output_or_a_file(played, narcissus):
    code, out, _ = narcissus("report", played, "--text")
    assert code == 0
    assert "THRESHOLD MET" in out
    narcissus("report", played, "--text", "--out", "r.txt")
    assert Path("r.txt").read_text() == out


def test_bad_records_are_named(played, narcissus):
    path = played / "record.json"
    data = json.loads(path.read_text())
    data["verdict"] = "All is well."
    Path("changed.json").write_text(json.dumps(data))
    Path("other.json").write_text("{}")
    Path("broken.json").write_text("{")
    for name, says in [
        ("absent.json", "no such record"),
        ("changed.json", "was changed after it was written"),
        ("other.json", "is not a record"),
        ("broken.json", "is not a record: it is no JSON"),
        (".", "no such record"),
    ]:
        code, out, err = narcissus("report", name, "--out", "x.html")
        assert (code, out) == (2, "")
        assert says in err
        assert not Path("x.html").exists()


def test_out_must_be_writable(played, narcissus):
    code, _, err = narcissus("report", played, "--out", "absent/x.html")
    assert code == 2
    assert "--out" in err


@pytest.mark.parametrize("what", ["brief", "mapping"])
def test_one_page_in_place_of_the_whole_report(played, narcissus, what):
    code, out, _ = narcissus("report", played, f"--{what}")
    assert code == 0
    path = played / f"{what}.html"
    assert out == f"{what.capitalize()}: {path}\n"
    assert path.read_text().startswith("<!DOCTYPE html>")
    code, out, _ = narcissus("report", played, f"--{what}", "--text")
    assert code == 0
    assert {"brief": "Who decides", "mapping": "Five Safes"}[what] in out
    narcissus("report", played, f"--{what}", "--text", "--out", "x.txt")
    assert Path("x.txt").read_text() == out


def test_export_for_output_checkers(played, narcissus):
    code, out, _ = narcissus("report", played, "--export", "acro")
    assert (code, out) == (0, f"Outputs for ACRO: {played / 'acro'}\n")
    held = json.loads((played / "acro" / "results.json").read_text())
    assert list(held["results"]) == ["narcissus"]
    drawn = (played / "report.html").read_bytes()
    assert (played / "acro" / "report.html").read_bytes() == drawn
    narcissus("report", played, "--export", "acro", "--out", "new/outputs")
    assert json.loads(Path("new/outputs/results.json").read_text()) == held


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--brief --mapping", "--brief and --mapping do not go together"),
        ("--export acro --brief", "--brief and --export do not go together"),
        ("--export acro --text", "--export and --text do not go together"),
        ("--export sacro", "'sacro' is not 'acro'"),
        ("--brief --out .", "is a folder; name a file"),
        ("--export acro --out toy.toml", "cannot write toy.toml"),
    ],
)
def test_what_does_not_go_together_is_refused(played, narcissus, words, says):
    code, out, err = narcissus("report", played, *words.split())
    assert (code, out) == (2, "")
    assert says in err


TABLE = """
[data]
path = "{path}"
[threat]
unknown = ["ill"]
people = "all"
[mechanism]
k = 1
epsilon = 1.0
[attacks.prior]
[groups]
columns = ["name"]
[run]
trials = 1
workers = 1
seed = 97531
"""


@pytest.fixture
def of_people(tmp_path, monkeypatch, narcissus):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{'ab'[k % 5 == 0]},{k // 2 % 2}" for k in range(60))
    Path("people.csv").write_text(f"name,ill\n{rows}\n")
    Path("t.toml").write_text(TABLE.format(path=tmp_path / "people.csv"))
    assert narcissus("audit", "t.toml", "--out", "out", "--quiet")[0] == 0
    return Path("out")


def test_what_audit_leaves_for_showing_has_no_seed_digest_or_folder(of_people, narcissus, tmp_path):
    record = json.loads((of_people / "record.json").read_text())
    digest = record["provenance"]["digests"]["data"]
    assert digest.startswith("hmac-sha256:")
    page = (of_people / "report.html").read_text()
    brief = narcissus("report", of_people, "--brief", "--text")[1]
    mapping = narcissus("report", of_people, "--mapping", "--text")[1]
    text = narcissus("report", of_people, "--text")[1]
    assert text == narcissus("report", of_people, "--text", "--shareable")[1]
    for shown in (page, brief, mapping, text):
        assert digest not in shown
        assert "97531" not in shown
        assert str(tmp_path) not in shown
    internal = narcissus("report", of_people, "--text", "--internal")[1]
    assert internal.startswith("Internal, not to be shown: ")
    assert digest in internal
    assert "97531" in internal
    assert str(tmp_path) in internal
    for form in ("--brief", "--mapping"):
        assert narcissus("report", of_people, form, "--text", "--internal")[1].startswith(
            "Internal, not to be shown: "
        )


def test_a_record_for_showing_is_drawn_alike_and_is_not_verified(of_people, narcissus):
    code, out, _ = narcissus("report", of_people, "--record", "shown.json")
    assert (code, out) == (0, "Record: shown.json\n")
    shown, whole = (
        narcissus("report", path, "--text")[1].splitlines() for path in ("shown.json", of_people)
    )
    differ = [(a, b) for a, b in zip(shown, whole, strict=True) if a != b]
    assert len(differ) == 1  # the digest of the record
    assert "sha256:" in differ[0][0]
    code, _, err = narcissus("verify", "shown.json", "t.toml", "--quiet")
    assert code == 2
    assert "its seed is withheld" in err


@pytest.mark.parametrize("also", ["--internal", "--text", "--brief", "--out"])
def test_a_record_for_showing_takes_no_other_form(of_people, narcissus, also):
    value = ["x.html"] if also == "--out" else []
    code, _, err = narcissus("report", of_people, "--record", "shown.json", also, *value)
    assert code == 2
    assert "do not go together" in err
    assert not Path("shown.json").exists()
