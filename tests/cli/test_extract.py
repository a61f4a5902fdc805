"""``narcissus extract``, as its user calls it."""

import json
import shutil
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from narcissus.cli.main import cli
from narcissus.cli.playing import extract as command
from narcissus.cli.studies import record_schema
from narcissus.errors import NarcissusError
from narcissus.extraction import sandbox
from narcissus.extraction.sandbox import IsolationError
from narcissus.report.format import limits

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"


def copied(folder):
    for file in EXAMPLES.iterdir():
        shutil.copy(file, folder)
    change(folder, "runs = 20", "runs = 10")
    return folder


@pytest.fixture
def folder(tmp_path):
    return copied(tmp_path)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """What is printed of each study of the examples, and its folder."""

    @cache
    def of(name="copy.toml"):
        folder = copied(tmp_path_factory.mktemp("extract"))
        return folder, call(folder, "--json", name=name)

    return of


def call(folder, *arguments, name="copy.toml"):
    return CliRunner().invoke(
        command,
        [str(folder / name), "--out", str(folder / "out"), "--quiet", *arguments],
        standalone_mode=False,
    )


def fails(folder, *arguments, name="copy.toml"):
    done = call(folder, *arguments, name=name)
    assert isinstance(done.exception, NarcissusError), done
    assert not (folder / "out").exists()
    return str(done.exception)


def change(folder, old, new):
    text = (folder / "copy.toml").read_text()
    assert old in text
    (folder / "copy.toml").write_text(text.replace(old, new))


def test_json_has_the_keys_of_the_contract(done, rows_of):
    folder, played = done()
    assert played.return_value == 0, played.output
    record = json.loads(played.stdout)
    result, rows = record["result"], {row["name"]: row for row in rows_of(record)}
    assert {"program_bytes", "complexity", "verdict"} <= set(result)
    assert {"with the release", "an empty release", "on shadow data"} <= rows.keys()
    success = rows["with the release"]["quantity"]
    assert {"low", "high"} <= set(success)
    assert result["verdict"] == "extraction"
    assert rows["extraction program"]["quantity"]["value"] > 0.98
    assert result["isolation"]["method"] != "none"
    jsonschema.validate(record, record_schema("extraction"))
    assert (folder / "out" / "record.json").read_text() == played.stdout
    report = (folder / "out" / "report.html").read_bytes()
    assert len(report) < 300 * 1024
    low = limits(success["low"], success["high"])  # rounded outwards; the first screen has counts
    assert report.decode().count(low) == 1
    again = CliRunner().invoke(
        cli,
        ["report", str(folder / "out" / "record.json"), "--text", "--verbose"],
        standalone_mode=False,
    )
    assert "Attempts to break out" in again.stdout


def test_audit_plays_it_too(folder):
    """In words, and a threshold that it exceeds."""
    with (folder / "copy.toml").open("a") as file:
        file.write("\n[threshold]\nquality = 0.5\n")
    line = ["audit", str(folder / "copy.toml"), "--out", str(folder / "o"), "--quiet"]
    played = CliRunner().invoke(cli, line, standalone_mode=False)
    assert "With the release, it succeeds in 10 of 10." in played.stdout
    assert "The quality of the extraction is 0.99" in played.stdout
    assert "at most: a shorter program may need no" in played.stdout
    assert played.return_value == 1


def test_by_heart_is_no_extraction(done):
    result = json.loads(done("by_heart.toml")[1].stdout)["result"]
    assert result["program_bytes"] >= min(result["complexity"].values())
    assert result["verdict"] == "no extraction"


def test_three_runs_of_a_program_that_fails_are_too_few(folder, verdict_in):
    """0 of 3 has the upper limit 0.71: nothing is shown, least of all about other programs."""
    change(folder, "runs = 10", "runs = 3")
    (folder / "cut.py").write_text("print('nothing of the kind')")
    done = call(folder, "--json")
    record = json.loads(done.stdout)
    assert record["status"] == "too few trials"
    assert done.return_value == 3
    assert record["grade"] == "sampled"
    assert verdict_in(record).startswith("Not decided: There are too few runs")
    assert "4 runs would probably settle it" in verdict_in(record)
    assert "as short as this one" not in json.dumps(record)
    assert "this program without the release" not in record["result"]["complexity"]
    report = (folder / "out" / "report.html").read_text()
    assert "Evidence for the release" not in report


@pytest.mark.parametrize(
    ("name", "grade", "assumed"),
    [("copy.toml", "approximate", ["no program", "runs"]), ("by_heart.toml", "proved", [])],
)
def test_the_record_has_the_grade_of_the_verdict(done, name, grade, assumed):
    record = json.loads(done(name)[1].stdout)
    assert record["grade"] == record["result"]["verdict_grade"] == grade
    assert len(record["assumptions"]) == len(assumed)
    for words, start in zip(record["assumptions"], assumed, strict=True):
        assert words.startswith(start)


def test_same_seed_same_record(folder, done):
    again = call(folder, "--json", "--seed", "1", "--workers", "2").stdout
    assert again == done()[1].stdout


def test_bad_files(folder):
    change(folder, 'program = "cut.py"', 'program = "cutt.py"')
    assert "cutt.py" in fails(folder)
    change(folder, 'program = "cutt.py"', 'program = "cut.py"\nconfidense = 1')
    assert "did you mean `confidence`" in fails(folder)
    change(folder, "confidense = 1", "")
    (folder / "cut.py").write_text("print(")
    assert "not a Python program: line 1" in fails(folder)
    (folder / "cut.py").write_bytes(b"\xff")
    assert "not a Python program" in fails(folder)
    (folder / "cut.py").write_text("pass")
    assert "printed nothing" in str(call(folder).exception)


def test_a_machine_without_isolation(folder, monkeypatch, verdict_in):
    def refuse(method):
        raise IsolationError("not here")

    monkeypatch.setattr(sandbox, "_try_method", refuse)
    monkeypatch.setattr(sandbox, "_checked", sandbox._checked.__wrapped__)
    done = call(folder)
    assert done.return_value == 3
    assert "--no-isolation" in done.stderr
    told = call(folder, "--no-isolation", "--json")
    record = json.loads(told.stdout)
    assert record["result"]["isolation"]["method"] == "none"
    assert "ran without isolation" in verdict_in(record)


def test_reduced_isolation_is_labelled(folder, monkeypatch):
    """Where only Landlock works: in the terminal, the record, the report."""
    found = sandbox._try_method

    def only_landlock(method):
        if method != "Landlock":
            raise IsolationError("not here")
        return found(method)

    monkeypatch.setattr(sandbox, "_try_method", only_landlock)
    monkeypatch.setattr(sandbox, "_checked", sandbox._checked.__wrapped__)
    done = call(folder)
    assert "Isolation was reduced: the program could see what is on the machine." in " ".join(
        done.stdout.split()
    )
    record = json.loads((folder / "out" / "record.json").read_text())
    isolation = record["result"]["isolation"]
    assert isolation["method"] == "Landlock"
    assert any("sizes, times" in text for text in isolation["not_hidden"])
    assert "what the program saw besides" in str(record["not_assessed"])
    jsonschema.validate(record, record_schema("extraction"))
    assert "Reduced isolation" in (folder / "out" / "report.html").read_text()


def test_no_such_evidence(folder):
    assert "no such file" in fails(folder, name="nothing.toml")
