"""Studies of extraction: what is refused, what evidence comes to in numbers, words, on a page."""

import hashlib
import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

import narcissus
from narcissus.errors import InputError, LongWorkError, TooLargeError
from narcissus.extraction import sandbox
from narcissus.extraction.sandbox import Isolation, Limits, without_isolation
from narcissus.kinds.extraction import kind, program
from narcissus.kinds.extraction.kind import KIND
from narcissus.kinds.extraction.layout import LAYOUT
from narcissus.kinds.extraction.program import ProgramResult, require_room
from narcissus.observer import SILENT
from narcissus.report import Facts, Figure, Grid, Items, page_of
from narcissus.report.about import numbers_of
from narcissus.results import NotAssessed
from narcissus.study.kinds import RunOptions
from narcissus.study.reading import read_record

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "tests" / "study" / "records" / "last" / "extraction.json"
STUDY = {
    "kind": "extraction",
    "data": "data.txt",
    "release": "release.txt",
    "program": "program.py",
    "run": {"seed": 1},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with all that a study of extraction needs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("the data\n")
    (tmp_path / "release.txt").write_text("the release\n")
    (tmp_path / "program.py").write_text("print(1)\n")
    return tmp_path


def refused(changes, says):
    with pytest.raises(InputError, match=says):
        narcissus.load_study({**STUDY, **changes})


def test_pickles_are_refused(folder):
    (folder / "archive.bin").write_bytes(pickle.dumps({"a": 1}))
    refused({"release": "archive.bin"}, "is a pickle")
    np.save(folder / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    refused({"release": "a.npy"}, "pickle")
    refused({"other_releases": ["a.npy"]}, "pickle")


def test_releases_too_large_or_without_weights_are_refused(folder):
    (folder / "release.txt").write_bytes(b"x" * (2**20 + 1))
    refused({"limits": {"release": 1}}, "more than the limit")
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text("{}")
    refused({"release": "model"}, "has no weights")
    (folder / "model" / "pytorch_model.bin").write_bytes(b"x")
    refused({"release": "model"}, r"pytorch_model\.bin is not read")


@pytest.mark.parametrize("key", ["program", "rivals"])
def test_programs_that_do_not_parse_are_refused(folder, key):
    (folder / "wrong.py").write_text("print(")
    refused({key: "wrong.py" if key == "program" else ["wrong.py"]}, r"wrong\.py is not a Python")


def test_data_where_programs_may_read_are_refused(folder, monkeypatch):
    monkeypatch.setattr(kind, "readable_paths", lambda: (str(folder),))
    refused({}, "every program may read")


def test_files_that_are_missing_are_named_by_what_they_are(folder):
    refused({"program": "progam.py"}, r"the program: .*progam\.py")
    refused({"reference": "none.txt"}, r"the reference: .*none\.txt")


OPEN = {"verdict": "inconclusive", "verdict_grade": "sampled"}
NONE = {"verdict": "no extraction", "verdict_grade": "sampled"}


@pytest.fixture
def outcome(folder, monkeypatch, evidence):
    """Give the function that plays a study whose evidence is given, and gives what it comes to."""

    def play(threshold=None, options=None, **changes):
        found = replace(evidence, **changes)
        monkeypatch.setattr(kind, "assess_extraction", lambda *given, **more: found)
        monkeypatch.setattr(kind, "require_room", lambda *given, **more: None)
        limit = {} if threshold is None else {"threshold": {"quality": threshold}}
        study = narcissus.load_study({**STUDY, **limit})
        given = RunOptions(1, SILENT) if options is None else options
        return KIND.play(study.settings, folder, given)

    return play


@pytest.mark.parametrize(
    ("changes", "threshold", "status"),
    [
        ({}, None, "no threshold"),
        ({}, 0.74, "exceeded"),
        ({}, 0.75, "met"),
        (NONE, None, "no threshold"),
        (NONE, 0.1, "met"),
        (OPEN, 0.1, "inconclusive"),
        ({**OPEN, "more": "10 runs"}, 0.1, "too few trials"),
        ({**OPEN, "more": "10 runs"}, None, "too few trials"),
    ],
)
def test_only_an_extraction_above_the_threshold_exceeds_it(outcome, changes, threshold, status):
    found = outcome(threshold, **changes)
    assert (found.status, found.grade) == (status, changes.get("verdict_grade", "approximate"))


def test_what_a_verdict_takes_as_given_goes_with_its_grade(outcome):
    found = outcome()
    assert (found.grade, len(found.assumptions)) == ("approximate", 2)
    assert found.assumptions[0].startswith("no program of at most 100 bytes prints an output")
    assert outcome(**NONE).assumptions == found.assumptions[1:]
    assert outcome(**{**NONE, "verdict_grade": "proved"}).assumptions == ()
    assert "interpreter that they share" in outcome(served=True).assumptions[1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "No threshold: Evidence of extraction. Without the release, the program"),
        (NONE, "No extraction by this program."),
        ({**OPEN, "more": "10 runs"}, "too few runs: 10 runs would probably settle it"),
        ({"deterministic": False}, "The output of the program differs from run to run."),
        ({"isolation": Isolation("none", ())}, "The program ran without isolation"),
        ({"isolation": Isolation("Landlock", (), not_hidden=("names of files",))},
         "Isolation was reduced: the program could see what is on the machine."),
    ],
)  # fmt: skip
def test_the_verdict_in_words(outcome, changes, words):
    assert words in LAYOUT.verdict(KIND.judged(outcome(**changes).findings))


def test_what_was_not_assessed_is_told_with_its_reason(outcome):
    assert outcome().not_assessed == []
    missing = NotAssessed("shadows", "none was given", "give some")
    found = outcome(
        success_on_shadow=missing,
        not_assessed=(NotAssessed("a rival", "it failed"),),
        isolation=Isolation("none", ()),
    )
    assert [remark.quantity for remark in found.not_assessed] == [
        "a rival", "shadows", "what the program did besides",
    ]  # fmt: skip
    assert "on shadow data" not in [row.name for row in found.findings.rows]
    reduced = outcome(isolation=Isolation("Landlock", (), not_hidden=("sizes",))).not_assessed
    assert [remark.quantity for remark in reduced] == ["what the program saw besides"]


def test_rows_and_digests_are_those_of_the_evidence_and_the_files(outcome, folder, evidence):
    internal = folder / "internal.json"
    found = outcome(options=RunOptions(1, SILENT, internal=internal))
    result, rows = found.findings.result, {row.name: row for row in found.findings.rows}
    assert (result.quality, result.extractable_bits, result.shortest) == (0.75, 2400, 400)
    with_it = rows["with the release"]
    assert (with_it.value, with_it.quantity.high) == (1, evidence.success.high)
    assert with_it.baseline == rows["an empty release"].value == 0
    assert rows["lzma"].value == 400
    assert result.isolation.checks == (("forks", "refused"),)
    for name, file in (("data", "data.txt"), ("release", "release.txt"), ("program", "program.py")):
        digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        assert found.digests[name] == f"sha256:{digest}"
    assert json.loads(internal.read_text())["verdict"] == "extraction"


def test_the_number_of_runs_counts_every_program(folder, monkeypatch, evidence):
    """One, two stand-ins, the other releases and the rivals, each so many times."""
    (folder / "other.txt").write_text("another\n")
    asked = []
    monkeypatch.setattr(kind, "require_room", lambda *given, **more: asked.append((given, more)))
    monkeypatch.setattr(kind, "assess_extraction", lambda *given, **more: evidence)
    study = narcissus.load_study({**STUDY, "runs": 7, "other_releases": ["other.txt"] * 2,
                                  "rivals": ["program.py"], "run": {"workers": 3}})  # fmt: skip
    KIND.play(study.settings, folder, RunOptions(1, SILENT))
    KIND.play(study.settings, folder, RunOptions(1, SILENT, workers=2))
    (given, more), (_, fewer) = asked
    assert given[3] == 7 * 6
    assert (more["workers"], fewer["workers"]) == (3, 2)
    assert given[2] == sandbox.Limits(60.0, 2048 * 2**20, 16 * 2**20, disk=256 * 2**20)


@pytest.fixture
def checked(tmp_path):
    release = tmp_path / "release"
    release.write_bytes(b"x" * 100)

    def run(source=b"print(1)", runs=60, workers=2, hours=1.0, limits=None):
        options = RunOptions(1, SILENT, hours=hours)
        with without_isolation():
            limits = limits or Limits()
            require_room(source, release, limits, runs, workers=workers, options=options)

    return run


@pytest.mark.parametrize(
    "given",
    [
        {"workers": 10_000, "runs": 10_000},
        {"limits": Limits(memory=2**50)},
        {"limits": Limits(disk=2**50)},
        {"limits": Limits(output=2**45)},
    ],
)
def test_what_does_not_fit_is_refused_before_a_program_runs(checked, given):
    with pytest.raises(TooLargeError, match="GB of memory"):
        checked(b"open('ran', 'w')", **given)


def test_the_temporary_folder_counts(checked, monkeypatch):
    class Usage:
        free = 2**27

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage)
    with pytest.raises(TooLargeError, match="space in the temporary folder"):
        checked()


def test_a_program_is_timed_where_its_limit_would_be_too_long(checked, monkeypatch):
    checked()  # 60 runs of a minute, two at a time: half an hour at most
    with pytest.raises(LongWorkError, match=r"100,000 runs of \S+ s each, 2 at a time"):
        checked(b"import time; time.sleep(0.5)", runs=100_000, limits=Limits(3600.0, output=100))
    checked(b"print(1)", runs=100, limits=Limits(3600.0), hours=1.0)
    checked(runs=100_000, limits=Limits(1e8, output=100), hours=None)
    # one that does not end may take all its time
    monkeypatch.setattr(program, "PATIENCE", 1.0)
    with pytest.raises(LongWorkError, match=r"about 30 hours of work: 60 runs of 3.6e\+03 s each"):
        checked(b"while True: pass", limits=Limits(3600.0))


@pytest.fixture
def record_of():
    """Give the function that reads the kept record, with changes to its result."""

    def read(edit=lambda result: None):
        record = read_record(KEPT)
        said = record.result.model_dump(mode="json")
        edit(said)
        result = ProgramResult.model_validate_json(json.dumps(said))
        return record.model_copy(update={"result": result})

    return read


def test_a_verdict_within_the_margin_and_numbers_that_cannot_be_are_refused(record_of):
    good = record_of().result.model_dump()
    assert ProgramResult.model_validate(good).quality == pytest.approx(1 - 23 / 2532)
    for change, says in (
        ({"margin": 2510}, "within the margin"),
        ({"verdict": "maybe"}, "verdict"),
        ({"complexity": {}}, "complexity"),
        ({"stand_ins": {}}, "stand_ins"),
        ({"program_bytes": -1}, "program_bytes"),
    ):
        with pytest.raises(ValidationError, match=says):
            ProgramResult.model_validate({**good, **change})
    longer = ProgramResult.model_validate(
        {**good, "program_bytes": 2542, "verdict": "no extraction"}
    )
    assert longer.quality < 0 == longer.extractable_bits


def test_what_was_found_speaks_against_the_release(record_of):
    first = page_of(record_of()).first
    assert (first.answer, first.without, first.with_it) == ("Evidence of extraction.", 0, 20)
    numbers = numbers_of(record_of())
    assert {(value, grade) for _, value, _, grade in numbers} >= {
        ("0%", "sampled"),
        ("100%", "sampled"),
    }


def test_a_quality_is_an_upper_estimate_and_is_rounded_up(record_of):
    """1 - 23 / 2402 is .9904246: at most 0.991, and not 0.99."""
    numbers = numbers_of(record_of(lambda r: r["complexity"].update(brotli=2402)))
    assert numbers[-1][1] == "at most 0.991"
    assert numbers[-1][2] == "19,032 extractable bits"


def test_without_shadow_data_nothing_is_said_of_it(record_of, blocks):
    page = page_of(record_of(lambda r: r.update(on_shadow=None)))
    grid = blocks(page, Grid)[0]
    assert grid.rows[-1][1:] == [None, None, None]
    assert list(grid.grades) == ["sampled"] * 3 + ["not assessed"]


def test_programs_stand_shortest_first_beside_the_one_that_extracts(record_of, blocks):
    [picture] = blocks(page_of(record_of()), Figure)
    assert picture.title.endswith("has 2532 bytes by brotli")
    lengths = [row[1] for row in picture.table.rows]
    assert lengths == sorted(lengths)
    assert lengths[0] == 2532
    for _, length, quality in picture.table.rows:
        assert quality == pytest.approx(1 - 23 / length, abs=5e-5)


def test_walls_are_named_and_missing_ones_are_a_warning(record_of, blocks):
    page = page_of(record_of())
    assert "seccomp" in dict(blocks(page, Facts)[1].rows)["Isolation"]
    [checks] = [b for b in blocks(page, Grid) if b.caption.startswith("Attempts to break out")]
    assert checks.rows[0] == ["reads its release", "it can"]

    def landlock(results):
        hidden = {"not_hidden": ["names of files"], "missing": ["namespaces"]}
        results["isolation"].update(method="Landlock", **hidden)

    page = page_of(record_of(landlock))
    assert dict(blocks(page, Facts)[1].rows)["Not on this machine"] == "namespaces"
    warnings = [b for b in blocks(page, Items) if b.tone == "warning"]
    assert any(b.items == ("names of files",) and "Reduced" in b.title for b in warnings)

    page = page_of(record_of(lambda r: r["isolation"].update(method="none")))
    warnings = [b for b in blocks(page, Items) if b.tone == "warning"]
    assert any("could read anything" in b.items[0] for b in warnings)


def test_repr_has_the_figures_of_the_first_screen():
    assert repr(narcissus.load_audit(KEPT)).endswith("; of 20 runs without 0, with 20)")


@pytest.mark.parametrize(("size", "said"), [(32, "at least 64 MiB"), (2**41, r"at most \d+ MiB")])
def test_a_limit_that_is_refused_names_its_unit(tmp_path, size, said):
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "extraction"\n[limits]\nmemory = {size}\n')
    with pytest.raises(
        InputError, match=rf"`limits\.memory`: must be {said}, such as 2048 for 2 G"
    ):
        narcissus.load_study(path)
