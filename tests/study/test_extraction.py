"""Studies of extraction: what is refused before a program runs, and what the evidence comes to."""

import hashlib
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from narcissus import load_study
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction import sandbox
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.sandbox import Isolation
from narcissus.observer import SILENT
from narcissus.results import NotAssessed
from narcissus.study import extraction
from narcissus.study.kinds import RunOptions

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
        load_study({**STUDY, **changes})


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
    monkeypatch.setattr(extraction, "readable_paths", lambda: (str(folder),))
    refused({}, "every program may read")


def test_files_that_are_missing_are_named_by_what_they_are(folder):
    refused({"program": "progam.py"}, r"the program: .*progam\.py")
    refused({"reference": "none.txt"}, r"the reference: .*none\.txt")


FOUND = ExtractionEvidence(
    verdict="extraction",
    reasons=("it does", "nothing shorter was found"),
    success=clopper_pearson(20, 20, quantity="success"),
    success_without_release=clopper_pearson(0, 20, quantity="success"),
    stand_ins={"an empty release": clopper_pearson(0, 20, quantity="success")},
    success_on_shadow=clopper_pearson(0, 3, quantity="success"),
    shadow_rank=0.25,
    program_bytes=100,
    program_bytes_compressed=80,
    complexity={"lzma": 400},
    complexity_estimate=400,
    complexity_method="lzma",
    quality=0.75,
    extractable_bits=2400,
    margin_bytes=300,
    deterministic=True,
    endings={"finished": 20},
    isolation=Isolation("namespaces", ("seccomp",), checks=(("forks", "refused"),)),
    verdict_grade="approximate",
)
OPEN = {"verdict": "inconclusive", "verdict_grade": "sampled"}
NONE = {"verdict": "no extraction", "verdict_grade": "sampled"}


@pytest.fixture
def outcome(folder, monkeypatch):
    """Give the function that plays a study whose evidence is given, and gives what it comes to."""

    def play(threshold=None, options=None, **changes):
        found = replace(FOUND, **changes)
        monkeypatch.setattr(extraction, "assess_extraction", lambda *given, **more: found)
        monkeypatch.setattr(extraction, "check", lambda *given, **more: None)
        study = load_study({**STUDY, **({} if threshold is None else {"threshold": threshold})})
        given = RunOptions(1, SILENT) if options is None else options
        return extraction.KIND.play(study.settings, folder, given)

    return play


@pytest.mark.parametrize(
    ("changes", "threshold", "status"),
    [
        ({}, None, "no threshold"),
        ({}, 0.74, "exceeded"),
        ({}, 0.75, "met"),
        (NONE, 0.1, "met"),
        (OPEN, 0.1, "inconclusive"),
        ({**OPEN, "more": "10 runs"}, 0.1, "too few trials"),
        ({**OPEN, "more": "10 runs"}, None, "too few trials"),
    ],
)
def test_only_an_extraction_above_the_threshold_exceeds_it(outcome, changes, threshold, status):
    limit = None if threshold is None else {"quality": threshold}
    assert outcome(limit, **changes).status == status


def test_what_a_verdict_takes_as_given_goes_with_its_grade(outcome):
    found = outcome()
    assert (found.grade, len(found.assumptions)) == ("approximate", 2)
    assert found.assumptions[0].startswith("no program of at most 100 bytes prints an output")
    assert outcome(**NONE).assumptions == found.assumptions[1:]
    assert outcome(**{**NONE, "verdict_grade": "proved"}).assumptions == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Evidence of extraction: it does; nothing shorter was found. Complexity is"),
        (NONE, "No extraction by this program: it does"),
        ({**OPEN, "more": "10 runs"}, "10 runs instead of these would settle it"),
        ({"deterministic": False}, "Its output differs from run to run."),
        ({"isolation": Isolation("none", ())}, "The program ran WITHOUT isolation."),
        ({"isolation": Isolation("Landlock", (), not_hidden=("names of files",))},
         "Reduced isolation (Landlock alone): the program could not read or write other files, but "
         "could see names of files."),
    ],
)  # fmt: skip
def test_the_verdict_in_words(outcome, changes, words):
    assert words in outcome(**changes).verdict


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
    assert found.results.success_on_shadow is None
    reduced = outcome(isolation=Isolation("Landlock", (), not_hidden=("sizes",))).not_assessed
    assert [remark.quantity for remark in reduced] == ["what the program saw besides"]


def test_the_results_and_the_digests_are_those_of_the_evidence_and_the_files(outcome, folder):
    internal = folder / "internal.json"
    found = outcome(options=RunOptions(1, SILENT, internal=internal))
    results = found.results
    assert (results.quality, results.extractable_bits, results.margin_bytes) == (0.75, 2400, 300)
    assert (results.success.value, results.success.high) == (1, FOUND.success.high)
    assert results.isolation.checks[0].attempt == "forks"
    assert results.needed == pytest.approx(2 / 3)
    for name, file in (("data", "data.txt"), ("release", "release.txt"), ("program", "program.py")):
        digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        assert found.digests[name] == f"sha256:{digest}"
    assert json.loads(internal.read_text())["verdict"] == "extraction"


def test_the_number_of_runs_counts_every_program(folder, monkeypatch):
    """One, two stand-ins, the other releases and the rivals, each so many times."""
    (folder / "other.txt").write_text("another\n")
    asked = []
    monkeypatch.setattr(extraction, "check", lambda *given, **more: asked.append((given, more)))
    monkeypatch.setattr(extraction, "assess_extraction", lambda *given, **more: FOUND)
    study = load_study({**STUDY, "runs": 7, "other_releases": ["other.txt"] * 2,
                        "rivals": ["program.py"], "run": {"workers": 3}})  # fmt: skip
    extraction.KIND.play(study.settings, folder, RunOptions(1, SILENT))
    extraction.KIND.play(study.settings, folder, RunOptions(1, SILENT, workers=2))
    (given, more), (_, fewer) = asked
    assert given[3] == 7 * 6
    assert (more["workers"], fewer["workers"]) == (3, 2)
    assert given[2] == sandbox.Limits(60.0, 2048 * 2**20, 16 * 2**20, disk=256 * 2**20)
