"""The export for output checkers: what ACRO writes itself, and what it and its viewer read."""

import hashlib
import json
import os
from datetime import datetime

import pytest

from narcissus.errors import InputError
from narcissus.report import acro
from narcissus.report.about import uncovered_of
from narcissus.report.acro import ACRO, acro_output, export_acro
from narcissus.report.statement import criteria_of, statement_markdown, statement_of

# what acro.record.Records.finalise_json of this version writes for one output
KEYS = {
    "uid": str, "status": str, "type": str, "properties": dict, "files": list, "outcome": dict,
    "command": str, "summary": str, "timestamp": str, "comments": list, "exception": str,
    "fair": dict,
}  # fmt: skip


@pytest.fixture
def exported(every_record, tmp_path, monkeypatch):
    """Export a record, its report undrawn, and give the folder."""
    monkeypatch.setattr(acro, "render_html", lambda record: f"<!DOCTYPE html>{record.digest}")

    def export(name="table", **changes):
        record = every_record[name].model_copy(update=changes)
        source = tmp_path / "record.json"
        source.write_text(record.to_json(), encoding="utf-8")
        os.utime(source, (1e9, 1e9))
        export_acro(record, source, tmp_path / "outputs")
        return tmp_path / "outputs", record

    return export


def read(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_results_have_the_keys_and_types_that_acro_writes(every_record):
    for record in every_record.values():
        output = acro_output(record, ["a.txt"], "2026-01-01T00:00:00")
        assert {key: type(value) for key, value in output.items()} == KEYS
        assert output["files"] == [{"name": "a.txt", "sdc": {}}]
        assert all(isinstance(text, str) for text in output["comments"])
        columns = list(output["outcome"].values())
        assert all(column.keys() == columns[0].keys() for column in columns)
        json.dumps(output, allow_nan=False)


def test_the_folder_lists_statement_report_and_record_with_checksums(exported):
    folder, record = exported()
    results = read(folder)
    assert results["version"] == ACRO
    assert results["tool"]["name"] == "Narcissus"
    (output,) = results["results"].values()
    names = [file["name"] for file in output["files"]]
    assert names == ["statement.txt", "report.html", "record.json"]
    for name in [*names, "results.json"]:
        said = (folder / "checksums" / f"{name}.txt").read_text()
        assert said == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    stated = statement_markdown(statement_of(record))
    assert (folder / "statement.txt").read_text(encoding="utf-8") == stated
    assert (folder / "report.html").read_text(encoding="utf-8") == f"<!DOCTYPE html>{record.digest}"
    assert (folder / "record.json").read_text(encoding="utf-8") == record.to_json()
    assert output["timestamp"] == datetime.fromtimestamp(1e9).isoformat()
    assert {p.name for p in folder.iterdir()} == {*names, "results.json", "checksums"}


def test_the_viewer_takes_only_results_for_outputs(exported):
    """It reads every JSON file of a folder, and takes one with a version for ACRO's."""
    folder, _ = exported()
    assert "version" not in json.loads((folder / "record.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "status",
    [
        "met",
        "exceeded",
        "contradicted",
        "inconclusive",
        "not shown",
        "not assessed",
        "no threshold",
    ],
)
def test_nothing_is_ever_passed(every_record, status):
    for record in every_record.values():
        output = acro_output(record.model_copy(update={"status": status}), [], "")
        assert output["status"] == ("fail" if status == "exceeded" else "review")
        first, _words, grade = output["summary"].split("; ")  # the viewer takes it apart like this
        assert (first, grade) == (output["status"], record.grade)
        assert output["properties"]["narcissus_status"] == status


def test_what_it_rests_on_and_what_is_missing_goes_along(every_record):
    record = every_record["sweep"].model_copy(
        update={"assumptions": ["it rains"], "contradictions": ["1 is 2"]}
    )
    output = acro_output(record, [], "")
    assert "Only if it rains." in output["comments"]
    assert "1 is 2" in output["comments"]
    assert not {"proved", "proved if"} & set(output["outcome"]["grade"].values())
    held = output["properties"]
    assert held["digest"] == record.digest
    assert held["not_covered"] == uncovered_of(record)
    assert [one["quantity"] for one in held["not_assessed"]] == [
        remark.quantity for remark in record.not_assessed
    ]
    rows = [list(row) for row in criteria_of(record).rows]
    assert [list(answer.values()) for answer in held["criteria"]] == rows


def test_it_is_written_again_and_never_over_the_outputs_of_others(exported):
    folder, _ = exported()
    before = read(folder)
    exported()
    assert read(folder) == before
    for theirs in ('{"version": "1.0.2", "tool": {"name": "ACRO"}, "results": {}}', "[]", "{"):
        (folder / "results.json").write_text(theirs)
        with pytest.raises(InputError, match="choose another folder"):
            exported()
        assert (folder / "results.json").read_text() == theirs


@pytest.mark.parametrize("name", ["table", "game", "channel", "synthetic"])
def test_acro_itself_loads_it(exported, name):
    records = pytest.importorskip("acro.record", reason="ACRO is not installed")
    if records.__version__ != ACRO:
        pytest.skip(f"ACRO {records.__version__} loads no outputs of {ACRO}")
    folder, record = exported(name)
    loaded = records.load_records(str(folder)).get("narcissus")
    assert loaded.output_type == "custom"
    assert loaded.output == ["statement.txt", "report.html", "record.json"]
    assert loaded.properties["digest"] == record.digest
    assert list(loaded.outcome.columns) == ["number", "value", "limits", "grade"]
