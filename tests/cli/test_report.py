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
