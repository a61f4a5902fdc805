"""From an empty folder to a report, as a user goes: forms, mistakes, two tabs, runs that end."""

import errno
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path

import pandas as pd
import pytest
from starlette.testclient import TestClient

from narcissus import load_audit
from narcissus._folders import opened_folder
from narcissus.app import jobs as at_work
from narcissus.app import pages, steps, work
from narcissus.app.folder import Report, parsed
from narcissus.app.jobs import JOB, LOG, Jobs
from narcissus.app.pages import Pages
from narcissus.errors import InputError
from narcissus.kinds.table.propose import draft, propose
from narcissus.report.about import verdict_of
from narcissus.study.load import load_study
from narcissus.study.marks import FILE as MARKS
from narcissus.study.marks import write_marked
from narcissus.study.sections import PRESET
from narcissus.study.shipped import FOLDER, shipped_studies
from narcissus.tables.parts import sketch_table

from .conftest import Visitor, fields_of

STEPS = ("table", "attacker", "release", "threshold", "run")


def run(people, **fields):
    """Estimate, start, and give the page after the run has ended."""
    people.get("/study/people/run")
    assert people.post("/study/people/plan").status_code == 200, people.error
    assert "This takes about" in people.last.text
    assert "GB of memory" in people.last.text
    assert people.post("/study/people/start", fields).status_code == 200, people.error
    people.until("finished", "failed")
    return people.get("/study/people/run")


def test_the_page_and_the_command_line_give_one_record(visitor, narcissus, monkeypatch):
    assert "people.csv" in visitor.get("/").text
    visitor.post("/new", table="people.csv")
    assert str(visitor.last.url).endswith("/study/people/table"), visitor.error
    first = draft(propose(sketch_table(visitor.root / "people.csv")), "people.csv")
    assert visitor.text() == first  # what `narcissus init` writes
    fields = visitor.fields("/study/people/table")
    visitor.post("/study/people/table", fields | {"use:household": "out", "next": "attacker"})
    assert str(visitor.last.url).endswith("/attacker"), visitor.error
    fields = visitor.fields("/study/people/attacker")
    visitor.post("/study/people/attacker", fields | {"targets": "20", "groups": ["work"]})
    fields = visitor.fields("/study/people/release")
    visitor.post("/study/people/release", fields | {"option:k": "1", "option:epsilon": "1, inf"})
    visitor.post("/study/people/threshold", advantage="10", at="1", reason="A trial.")
    assert "close at most 10% of the gap" in visitor.last.text
    visitor.post("/study/people/run", trials="3", seed="5")
    data = parsed(visitor.text(), "x")
    assert data["data"]["drop"] == ["household"]
    assert data["groups"] == {"columns": ["work"]}
    assert data["threat"] == {"unknown": ["income"], "targets": 20}
    assert data["mechanism"] == {
        "name": "marginals", "k": 1, "epsilon": [1, float("inf")], "delta": 1e-5
    }  # fmt: skip
    assert data["threshold"] == {"advantage": 0.1, "at": 1, "reason": "A trial."}
    assert data["run"] == {"trials": 3, "seed": 5}
    assert "Finished" in run(visitor).text
    place = visitor.pages.jobs.last("people")
    ours = load_audit(place).record
    page = visitor.get("/study/people/reports").text
    assert ours.digest in page
    assert ours.portable_digest in page
    report = visitor.get(f"/report/people/{place.name}")
    assert report.content == (place / "report.html").read_bytes()
    assert visitor.get(f"/record/people/{place.name}").json() == ours.to_dict()
    other = visitor.root / "by-hand"
    other.mkdir()
    # the record's digests of data are keyed by it; a run takes only one that is marked as ours
    for name in ("digest.key", MARKS):
        shutil.copy(place / name, other)
    monkeypatch.chdir(visitor.root)
    assert narcissus("audit", "people.toml", "--out", "by-hand", "--quiet")[0] == 0
    assert load_audit(other).record.digest == ours.digest
    for path in (place, place / JOB, place / LOG, visitor.root / "people.toml"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.nightly
def test_reports_stand_beside_earlier_ones_with_what_changed(people):
    run(people)
    people.post("/study/people/run", trials="2", seed="1")
    run(people)
    page = people.get("/study/people/reports").text
    assert "run.trials: 3 → 2" in page
    assert page.count("<article") == 2
    assert "run.seed" not in page
    (people.root / "another.toml").write_text(people.text())
    assert people.get("/study/another/reports").text.count("<article") == 2  # of the same table


DRAFTS = [one for one in shipped_studies() if one.kind in ("table", "synthetic")]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("source", ["draft", *(one.name for one in DRAFTS), "odd", "known"])
def test_a_form_that_is_saved_as_it_is_changes_nothing(visitor, source, step):
    text = draft(propose(sketch_table(visitor.root / "people.csv")), "people.csv")
    if source == "odd":
        text = (
            'title = "x"\n[data]\npath = "people.csv"\ncolumns = ["income", "age", "work"]\n'
            'read_as = { age = "numbers" }\n[data.bins]\n'
            'age = { edges = [30, 60.5], codes = ["N", -9] }\n'
            '[threat]\nunknown = ["work", "income"]\nat_least = 1\npeople = "rows"\nwithin = {}\n'
            '[mechanism]\nname = "rounding"\nbase = [3, 5]\nsets = [["age", "work"]]\n'
            '[threshold]\nshare = 0.07\nworst_group = 0.29\nreason = "because"\n[groups]\n'
            'unusual = false\n'
            'columns = ["age"]\n[bounds]\nconfidence = 0.9\n[run]\ntrials = 7\n'
        )  # fmt: skip
    elif source == "known":
        text = text.replace('unknown = ["income"]', 'known = ["age", "work"]')
        assert "\nknown = " in text
    elif source != "draft":
        shipped = next(one for one in DRAFTS if one.name == source)
        text = shipped.path.read_text(encoding="utf-8")
        for table in shipped.tables:
            shutil.copy(table, visitor.root)
    (visitor.root / "people.toml").write_text(text)
    load_study(visitor.root / "people.toml")
    fields = visitor.fields(f"/study/people/{step}")
    assert len(fields) > 2, visitor.error
    assert visitor.post(f"/study/people/{step}", fields).status_code == 200, visitor.error
    assert visitor.text() == text


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def scored(visitor):
    """A page over a folder with scores of 64 models, and a study of them."""
    shutil.copy(EXAMPLES / "membership" / "shadows.npz", visitor.root)
    assert visitor.post("/new", scores="shadows.npz").status_code == 200, visitor.error
    assert str(visitor.last.url).endswith("/study/shadows/table"), visitor.error
    return visitor


def test_scores_of_models_go_from_a_file_to_the_record_of_the_command_line(
    scored, narcissus, monkeypatch
):
    page = scored.last.text
    assert "64 models, 800 records" in page
    assert "400 are in no model" in page
    assert page.count("<rect") == 2 * work.BARS
    assert load_study(scored.root / "shadows.toml").settings.threat.attacks == ["lira", "score"]
    for step, more in [
        ("attacker", {"attacks": ["lira"], "fpr": "0.01, 0.1"}),
        ("release", {"epsilon": "8", "delta": "1e-5"}),
        ("threshold", {"tpr": "5", "at": "0.01", "epsilon": "2", "reason": "A trial."}),
        ("run", {"seed": "3"}),
    ]:
        fields = scored.fields(f"/study/shadows/{step}")
        before = scored.text("shadows")
        assert scored.post(f"/study/shadows/{step}", fields).status_code == 200, scored.error
        assert scored.text("shadows") == before  # as it was shown
        scored.post(f"/study/shadows/{step}", fields | more | {"base": scored.base})
        assert not scored.error
    data = parsed(scored.text("shadows"), "x")
    assert data["data"] == {"scores": "shadows.npz", "scale": "probability"}
    assert data["threat"] == {"attacks": ["lira"], "fpr": [0.01, 0.1]}
    assert data["guarantee"] == {"epsilon": 8, "delta": 1e-5}
    assert data["threshold"] == {"tpr": 0.05, "at": 0.01, "epsilon": 2, "reason": "A trial."}
    assert "at most 5 of 100 members" in scored.get("/study/shadows/threshold").text
    scored.get("/study/shadows/run")
    scored.post("/study/shadows/plan")
    assert "51,200 scores of models are read" in scored.last.text
    scored.post("/study/shadows/start")
    assert scored.until("finished", "failed", study="shadows").name == "finished"
    place = scored.pages.jobs.last("shadows")
    ours = load_audit(place).record
    page = scored.get("/study/shadows/reports").text
    assert ours.digest in page
    assert "Exceeded" in page
    (scored.root / "by-hand").mkdir()
    for name in ("digest.key", "narcissus.marks"):  # a key without its mark is a stranger's
        shutil.copy(place / name, scored.root / "by-hand")
    monkeypatch.chdir(scored.root)
    assert narcissus("audit", "shadows.toml", "--out", "by-hand", "--quiet")[0] == 1
    assert load_audit(scored.root / "by-hand").record.digest == ours.digest


@pytest.mark.parametrize(
    ("step", "fields", "error"),
    [
        ("table", {"scale": "logits"}, "no choice 'logits'"),
        ("table", {"points": "../x.csv"}, "outside"),
        ("attacker", {"attacks": []}, "choose at least one attack"),
        ("attacker", {"attacks": ["os:system"]}, "choose at least one attack"),
        ("attacker", {"targets": "0"}, "threat.targets"),
        ("attacker", {"folds": "many"}, "'many' is no number"),
        ("attacker", {"fpr": "0.1, 2"}, "threat.fpr"),
        ("attacker", {"fpr": "0.1, 0.1"}, "names one twice"),
        ("attacker", {"base_rate": "100"}, "threat.base_rate"),
        ("release", {"scores": "/etc/passwd"}, "outside"),
        ("release", {"scores": "none.npz"}, "there is no file none.npz"),
        ("release", {"scores": "people.csv"}, "lacks the column `model`"),
        ("release", {"members": "people.csv"}, "goes with a .npy file"),
        ("release", {"delta": "1e-5"}, "give `epsilon`"),
        ("release", {"epsilon": "1", "mu": "1"}, "give `epsilon`"),
        ("threshold", {"tpr": "101"}, "threshold.tpr"),
        ("threshold", {"at": "0.5"}, "give `tpr`, `epsilon` or both"),
    ],
)
def test_a_mistake_about_scores_is_told_and_nothing_is_written(scored, step, fields, error):
    before = scored.text("shadows")
    found = scored.fields(f"/study/shadows/{step}") | fields
    assert scored.post(f"/study/shadows/{step}", found).status_code == 422
    assert error in scored.error
    assert "form-title" in scored.last.text  # the form is there, to be mended
    assert scored.text("shadows") == before


ODD = """\
kind = "membership"
[data]
scores = "shadows.npz" # of ours
scale = "loss"
[threat]
attacks = ["score", "rmia"]
targets = 9
fpr = [0.1, 0.01]
base_rate = 0.29
[guarantee]
mu = 2.5
adjacency = "replace-one"
[threshold]
tpr = 0.07
origin = "us"
"""


@pytest.mark.parametrize("step", STEPS)
def test_odd_scores_that_are_saved_as_they_are_change_nothing(scored, step):
    (scored.root / "shadows.toml").write_text(ODD)
    fields = scored.fields(f"/study/shadows/{step}")
    assert len(fields) > 1, scored.error
    assert scored.post(f"/study/shadows/{step}", fields).status_code == 200, scored.error
    assert scored.text("shadows") == ODD


@pytest.mark.parametrize(("name", "content", "error"), [
    ("one.csv", "model,record,score,member\n0,a,1,1\n0,b,2,0\n", "narcissus refute"),
    ("canaries.csv", "score,member\n1,1\n2,0\n", "lacks the column `model`"),
    ("bad.npz", "PK", "bad.npz"), ("alone.npy", "x", "a .npy file of the same shape"),
    ("same.csv", "model,record,score,member\n" + "".join(
        f"{m},{r},0,{r % 2}\n" for m in range(2) for r in range(60)), "models 0 and 1 agree"),
])  # fmt: skip
def test_scores_that_cannot_be_read_are_told(visitor, name, content, error):
    (visitor.root / name).write_text(content)
    assert visitor.post("/new", scores=name).status_code == 400
    assert error in visitor.error
    assert not list(visitor.root.glob("*.toml"))


def test_a_study_of_a_synthetic_file_begins(visitor):
    """The day's part of the next test: the study is written, and every form is as the file."""
    visitor.post("/new", table="people.csv", synthetic="people.csv")
    assert str(visitor.last.url).endswith("/study/people/table"), visitor.error
    assert load_study(visitor.root / "people.toml").kind == "synthetic"


@pytest.mark.nightly
def test_a_synthetic_file_is_a_study_of_its_own(visitor):
    rows = (visitor.root / "people.csv").read_text().splitlines()
    for name, part in (("real", rows[1:800]), ("made", rows[800:1500]), ("control", rows[1500:])):
        (visitor.root / f"{name}.csv").write_text("\n".join([rows[0], *part]) + "\n")
    visitor.post("/new", table="real.csv", synthetic="made.csv", control="control.csv")
    assert str(visitor.last.url).endswith("/study/made/table"), visitor.error
    for step in STEPS:
        fields = visitor.fields(f"/study/made/{step}")
        before = visitor.text("made")
        assert visitor.post(f"/study/made/{step}", fields).status_code == 200, visitor.error
        assert visitor.text("made") == before
    fields = visitor.fields("/study/made/threshold")
    visitor.post("/study/made/threshold", fields | {"at_most": "2.5", "reason": "x"})
    visitor.post("/study/made/plan")
    visitor.post("/study/made/start")
    assert visitor.until("finished", "failed", study="made").name == "finished"
    assert parsed(visitor.text("made"), "")["threshold"] == {"at_most": 0.025, "reason": "x"}
    assert visitor.get("/study/made/reports").text.count("<article") == 1


@pytest.mark.parametrize(
    ("step", "fields", "error"),
    [
        ("table", {"use:income": "out"}, "`income` is what the attacker is after"),
        ("table", {"way:age": "width", "number:age": "ten"}, "'ten' is no number"),
        ("table", {"way:age": "width", "number:age": ""}, "write a number"),
        ("table", {"way:age": "width", "number:age": "-1"}, "line 4: `data.bins.age.width`"),
        ("table", {"way:age": "sideways"}, "no choice"),
        ("table", {"missing": "perhaps"}, "data.missing"),
        ("attacker", {"unknown": []}, "choose at least one column"),
        ("attacker", {"groups": ["income"]}, "`income` is secret"),
        ("attacker", {"targets": "0"}, "threat.targets"),
        ("attacker", {"targets": "1e999"}, "threat.targets"),
        ("release", {"mechanism": "command"}, "no choice"),
        ("release", {"mechanism": "os:system"}, "no choice"),
        ("release", {"option:epsilon": "-1"}, "mechanism.epsilon"),
        ("release", {"option:epsilon": "1\nx = 2"}, "mechanism.epsilon"),
        ("release", {"path": "../r.csv"}, "outside"),
        ("threshold", {"advantage": "a tenth"}, "'a tenth' is no number"),
        ("threshold", {"advantage": "110"}, "threshold.advantage"),
        ("threshold", {"worst_group": "5"}, "give at least one"),
        ("threshold", {"advantage": "NaN"}, "'NaN' is no number"),
        ("run", {"trials": "0"}, "run.trials"),
        ("run", {"seed": "-1"}, "run.seed"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(people, step, fields, error):
    before = people.text()
    found = people.fields(f"/study/people/{step}") | fields
    answer = people.post(f"/study/people/{step}", found)
    assert answer.status_code == 422
    assert error in people.error
    assert "Traceback" not in answer.text
    assert people.text() == before


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a = ", "not valid TOML"),
        ("", "the key `data` is missing"),
        ('kind = "game"\n', "another kind"),
        ("[data]\npath = '/etc/passwd'\n", "outside"),
        ("[data]\npath = '../x.csv'\n[threat]\nunknown = ['a']\n[mechanism]\nk = 1\n", "outside"),
        ("[data]\npath = 'people.csv'\n[threat]\nunknown = ['income']\n[mechanism]\n"
         "name = 'own:It'\n", "allow"),
        ("[data]\npath = 'people.csv'\n[threat]\nunknown = ['income']\n[mechanism]\n"
         "name = 'command'\ncommand = ['touch', 'sprung']\n", "allow"),
        ("[data]\npath = 'people.csv'\n[threat]\nunkown = ['income']\n[mechanism]\nk = 1\n",
         "line 4: unknown key `threat.unkown`"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_study_is_not_written_and_not_lost(people, text, error):
    before = people.text()
    (people.root / "own.py").write_text("open('sprung', 'w')\nIt = int\n")
    answer = people.post("/study/people/text", text=text, step="run")
    assert answer.status_code == 422
    assert error in people.error
    assert people.text() == before
    assert text.strip("\n").split("\n")[0][:20] in answer.text.replace("&#39;", "'").replace(
        "&#34;", '"'
    )
    # written by another program it is shown with the error, to be mended; no run begins
    (people.root / "people.toml").write_text(text)
    page = people.get("/study/people/run")
    assert error in people.error
    assert 'id="text"' in page.text
    assert people.post("/study/people/plan").status_code == 422
    assert people.post("/study/people/start").status_code == 422
    assert not (people.root / "sprung").exists()


def test_two_tabs_and_the_back_button_lose_nothing(people):
    first = people.fields("/study/people/threshold")
    second = people.fields("/study/people/run")
    people.post("/study/people/threshold", first | {"advantage": "5"})
    before = people.text()
    answer = people.post("/study/people/run", second | {"trials": "9"})
    assert answer.status_code == 409
    assert "changed elsewhere" in people.error
    answer = people.post("/study/people/text", base=second["base"], text="a = 1\n")
    assert answer.status_code == 409
    assert "a = 1" in answer.text
    assert people.text() == before
    assert people.post("/study/people/plan", second).status_code == 409
    assert people.post("/study/people/run", trials="9").status_code == 200  # the page as shown
    assert "trials = 9" in people.text()


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.csv", b"", "empty.csv"),
        ("binary.csv", bytes(range(256)) * 9, "binary"),
        ("people.parquet", b"PAR1 and no more", "people.parquet"),
        ("ragged.csv", b'a,b\n1\n"2,3,4\n', "ragged.csv"),
        ("same.csv", b"a,b\n1,1\n1,1\n1,1\n", "no column"),
        ("one.csv", b"a\n" + b"x" * 2**21, "one.csv"),
        ("packed.csv.gz", b"\x1f\x8b no", "packed.csv.gz"),
        ("none.csv", None, "none.csv"),
    ],
)
def test_a_wrong_file_is_told(visitor, name, content, error):
    if content is not None:
        (visitor.root / name).write_bytes(content)
    answer = visitor.post("/new", table=name)
    assert answer.status_code == 400
    assert error in visitor.error
    assert "Traceback" not in answer.text
    assert not list(visitor.root.glob("*.toml"))


def test_an_upload_arrives(visitor):
    root = visitor.keys.root
    answer = visitor.client.put(f"{root}/upload/n%C3%A9w%20one.csv", content=b"a,b\n1,2\n")
    assert answer.status_code == 201
    assert answer.json() == {"path": "uploads/néw one.csv"}
    again = visitor.client.put(f"{root}/upload/n%C3%A9w%20one.csv", content=b"x")
    assert again.status_code == 400
    assert "there already" in again.json()["error"]
    assert "uploads/néw one.csv" in visitor.get("/").text


def test_names_and_values_of_a_stranger_stay_texts(visitor):
    evil = '</script><img src=x onerror="alert(1)">'
    rows = "".join(f"{i % 3},{'ab'[i % 2]}<b>,{i % 5}\n" for i in range(60))
    quoted = evil.replace('"', '""')
    (visitor.root / "people.csv").write_text(f'"{quoted}","{{{{ 7 * 7777 }}}}",ill\n{rows}')
    visitor.post("/new", table="people.csv")
    for step in STEPS:
        page = visitor.get(f"/study/people/{step}").text
        assert evil not in page
        assert "<img" not in page
        assert "54439" not in page.split("study file")[0]
    assert "{{ 7 * 7777 }}" in visitor.get("/study/people/table").text


NAMES = [
    'x"]\n[mechanism]\nname = "command"', "threat.unknown", "a\'\'\'b", "{% include 'x' %}", "\\",
    "/day", "../x", "a\u2028b", "\u202eevil", "base", "öÄ ß", "a\tb", "x" * 300, "#x", "\x01ctl",
]  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_is_a_column(visitor, name):
    """It is never a key, a path, a field of the form or a piece of the study file."""
    quoted = name.replace('"', '""')
    rows = "".join(f"{i % 5},{'ab'[i % 2]},{i % 3}\n" for i in range(60))
    (visitor.root / "people.csv").write_text(f'age,"{quoted}",ill\n{rows}', encoding="utf-8")
    visitor.post("/new", table="people.csv")
    fields = visitor.fields("/study/people/attacker") | {"unknown": [name], "groups": []}
    visitor.post("/study/people/attacker", fields)
    assert visitor.error == ""
    fields = visitor.fields("/study/people/table")
    visitor.post("/study/people/table", fields | {f"way:{name}": "common", f"number:{name}": "1"})
    assert visitor.error == ""
    data = parsed(visitor.text(), "x")
    assert data["threat"]["unknown"] == [name]
    assert data["data"]["bins"][name] == {"common": 1}
    assert data["mechanism"]["name"] == "marginals"


def test_a_column_without_a_name_is_told_to_be_left_out(visitor):
    rows = "".join(f"{i % 5},{i},{i % 3}\n" for i in range(60))
    (visitor.root / "people.csv").write_text(f"age,,ill\n{rows}")
    visitor.post("/new", table="people.csv")
    assert "2 columns" in visitor.last.text
    assert "no name: an index that was written along" in visitor.last.text


def full(*_words, **_more):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "people.toml")


def shorten(people):
    """Leave 300 people in the table: what is tested of a run is not in its numbers."""
    table = people.root / "people.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:301]))


def test_a_full_disk_is_told_and_no_run_is_lost_from_sight(people, monkeypatch):
    shorten(people)
    people.post("/study/people/plan")
    children = people.pages.jobs._started
    with monkeypatch.context() as patched:
        patched.setattr(at_work.OpenedFolder, "write", full)
        answer = people.post("/study/people/start")
    assert answer.status_code == 422
    assert "No space left" in people.error
    assert [one.wait(60) for one in children.values()] == [
        -signal.SIGTERM
    ]  # nobody would find it again
    assert people.pages.jobs.running() is None
    monkeypatch.setattr("narcissus.app.folder.write_atomically", full)
    assert people.post("/study/people/run", trials="9").status_code == 422
    assert "No space left" in people.error
    assert people.post("/new", table="people.csv").status_code == 500
    assert "No space left" in people.error
    monkeypatch.setattr("narcissus._folders.os.link", full)
    answer = people.client.put(f"{people.keys.root}/upload/a.csv", content=b"a\n1\n")
    assert "No space left" in answer.json()["error"]
    assert list((people.root / "uploads").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize("link", ["results", "results/people"])
def test_no_run_begins_in_results_that_a_link_leads_elsewhere(people, link, tmp_path_factory):
    shorten(people)
    people.post("/study/people/plan")
    away = tmp_path_factory.mktemp("away")
    (people.root / link).parent.mkdir(exist_ok=True)
    (people.root / link).symlink_to(away)
    assert people.post("/study/people/start").status_code == 422
    assert "is reached by a link" in people.error
    assert list(away.iterdir()) == []
    assert people.pages.jobs._started == {}


def test_two_servers_of_a_folder_start_one_run(people, monkeypatch):
    """Both may find that nothing runs, before either has begun."""
    begun, jobs = [], [Jobs(people.root) for _ in range(2)]

    def begin(self, study, place, _digest):
        time.sleep(0.3)
        begun.append(self)
        (place / JOB).write_text("{}")

    with monkeypatch.context() as patched, ThreadPoolExecutor(2) as pool:
        patched.setattr(Jobs, "_begin", begin)
        patched.setattr(Jobs, "running", lambda _: ("people", None) if begun else None)
        tried = [pool.submit(one.start, "people", "0" * 64) for one in jobs]
        assert [type(one.exception()) for one in tried].count(InputError) == 1
    assert len(begun) == 1


def test_an_error_of_the_program_is_not_called_a_lack_of_memory(people):
    with pytest.raises(InputError, match="an error of this program: KeyError: 'nothing'"):
        at_work.worked(people.root, "nothing")


def test_an_address_that_leads_nowhere_is_told(people):
    for path, status in [
        ("/x", 404), ("/study/people/x", 404), ("/study/none/table", 400),
        ("/study/..%2fx/table", 404), ("/study/..%5cx/table", 400), ("/study/C:%5cx/table", 400),
        ("/static/x.js", 404), ("/static/base.html", 404), ("/report/people/none", 400),
        ("/report/..%2f..%2fetc/passwd", 400), ("/record/%00", 400), ("/study/%00/table", 400),
    ]:  # fmt: skip
        answer = people.get(path)
        assert answer.status_code == status, (path, answer.text)
        assert "Traceback" not in answer.text


LONG = ("trials = 3", "trials = 20000")


def begin(people):
    (people.root / "people.toml").write_text(people.text().replace(*LONG))
    people.get("/study/people/run")
    people.post("/study/people/plan")
    people.post("/study/people/start")
    end = time.monotonic() + 60
    while not people.pages.jobs.state(people.pages.jobs.last("people")).done:
        assert time.monotonic() < end
        time.sleep(0.05)
    return people.pages.jobs.last("people")


@pytest.mark.nightly
def test_a_run_is_stopped_and_goes_on(people):
    place = begin(people)
    page = people.get("/study/people/run").text
    assert "Running" in page
    assert "<progress" in page
    with people.client.stream("GET", people.keys.root + "/study/people/events") as stream:
        line = next(line for line in stream.iter_lines() if line.startswith("data: "))
        people.post("/study/people/stop")
    told = json.loads(line.removeprefix("data: "))
    assert told["state"] == "running"
    assert "of 40,000" in told["text"]
    state = people.until("stopped", "finished", "failed")
    assert state.name == "stopped"
    assert any("interrupted" in note for note in state.notes)
    assert (place / "trials.store").stat().st_size > 1000
    assert not (place / "record.json").exists()
    assert "Stopped" in people.get("/study/people/run").text
    people.post("/study/people/plan")
    assert "Go on" in people.last.text
    people.post("/study/people/start")
    begun = people.until("running", "failed")
    end = time.monotonic() + 60
    while not begun.done and time.monotonic() < end:
        begun = people.pages.jobs.state(place)
    assert begun.done > 0
    people.post("/study/people/stop")


@pytest.mark.nightly
def test_a_run_outlives_the_server_and_is_found_again(people):
    place = begin(people)
    later = Pages(people.root).jobs  # another server of the same folder
    assert later.running() == ("people", place)
    assert later.state(place).name == "running"
    with pytest.raises(at_work.InputError, match="is going on"):
        later.start("people", "0" * 64)
    pid = json.loads((place / JOB).read_text())["pid"]
    assert os.getsid(pid) == pid != os.getsid(0)  # no closed terminal ends it
    os.kill(pid, signal.SIGKILL)
    people.until("stopped")
    assert later.state(place).name == "stopped"
    assert later.running() is None


@pytest.mark.nightly
def test_a_run_that_fails_says_why(people):
    (people.root / "people.toml").write_text(people.text())
    people.post("/study/people/plan")
    (people.root / "people.csv").write_text("age,income\n1,2\n")
    people.post("/study/people/start")
    state = people.until("failed", "finished", "stopped")
    assert state.name == "failed"
    assert any(note.startswith("error:") for note in state.notes)
    assert "Failed" in people.get("/study/people/run").text or people.error


@pytest.mark.parametrize("job", [
    "", "{", "[]", '{"pid": 1, "of": "", "began": 0, "digest": ""}',
    '{"pid": "x", "of": "", "began": 0, "digest": ""}', "own",
])  # fmt: skip
def test_a_job_of_a_stranger_names_no_other_process(people, job, monkeypatch):
    """A folder may come from anybody: it makes nobody stop a process that is no run of it."""
    place = people.root / "results" / "people" / "abc"
    place.mkdir(parents=True)
    if job == "own":  # this process, with the time at which it was started
        job = json.dumps(
            {"pid": os.getpid(), "of": at_work._born(os.getpid()), "began": 0.0, "digest": ""}
        )
    (place / JOB).write_text(job)
    killed = []
    monkeypatch.setattr(at_work.os, "kill", lambda *words: killed.append(words))
    jobs = Jobs(people.root)
    assert jobs.state(place).name != "running"
    assert jobs.running() is None
    jobs.stop(place)
    assert killed == []


@pytest.fixture
def victim():
    """A process of this user, whose command line holds the name of a results folder."""
    words = [sys.executable, "-c", "import time; time.sleep(600)", "abc"]
    found = subprocess.Popen(words)
    yield found
    found.kill()
    found.wait(60)


@pytest.mark.skipif(at_work.fcntl is None, reason="locks of files")
@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.parametrize("is_locked", [False, True])
def test_only_a_marked_number_of_a_run_that_holds_its_lock_is_acted_on(
    people, victim, is_marked, is_locked
):
    acted_on(people, victim, is_marked, is_locked)


def acted_on(people, victim, is_marked, is_locked):
    """Whatever else a folder says of a run is somebody's word, and any process fits it."""
    place = people.root / "results" / "people" / "abc"
    place.mkdir(parents=True)
    began, born = time.time(), at_work._born(victim.pid)
    job = json.dumps({"pid": victim.pid, "of": born, "began": began, "digest": "a"})
    (place / JOB).write_text(job)
    (place / LOG).touch()
    if is_marked:
        with opened_folder(place) as opened:
            write_marked(opened, JOB, job)
    jobs = Jobs(people.root)
    with (place / LOG).open() as log:
        if is_locked:
            at_work.fcntl.flock(log, at_work.fcntl.LOCK_EX)
        assert (jobs.running() is not None) == is_locked
        with (
            pytest.raises(InputError, match="cannot tell which process")
            if (is_locked and not is_marked)
            else nullcontext()
        ):
            jobs.stop(place)
    if is_locked and is_marked:
        assert victim.wait(60) != 0
    else:
        time.sleep(0.2)
        assert victim.poll() is None
    return jobs


@pytest.mark.skipif(at_work.fcntl is None, reason="locks of files")
@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.parametrize("is_locked", [False, True])
@pytest.mark.one_in(2)
def test_no_number_of_a_run_stops_the_next(people, victim, is_marked, is_locked):
    jobs = acted_on(people, victim, is_marked, is_locked)
    shorten(people)
    people.get("/study/people/run")
    people.post("/study/people/plan")
    assert people.post("/study/people/start").status_code < 400, people.error
    assert jobs.running() is not None  # for another server, too
    people.post("/study/people/stop")


def test_a_run_that_ended_is_finished_whatever_the_clock_says(people):
    shorten(people)
    people.post("/study/people/plan")
    assert people.post("/study/people/start").status_code < 400
    jobs = people.pages.jobs
    place = jobs.last("people")
    assert [child.wait(120) for child in jobs._started.values()] in ([0], [1], [3])
    os.utime(place / "record.json", (1e9, 1e9))  # the clock went back while it was played
    assert jobs.state(place).name == "finished"
    job = json.loads((place / JOB).read_text())
    there = (place / "record.json").stat()
    job["before"] = [there.st_ino, there.st_mtime_ns]  # as if the record were of an earlier run
    (place / JOB).write_text(json.dumps(job))
    assert jobs.state(place).name != "finished"


def test_a_log_that_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / LOG)
    assert at_work._read(tmp_path / LOG) == []
    (tmp_path / LOG).unlink()
    (tmp_path / LOG).symlink_to("/etc/passwd")
    assert at_work._read(tmp_path / LOG) == []
    (tmp_path / LOG).unlink()
    (tmp_path / LOG).write_bytes(b"\xff\n[[[[\n{}\nerror: x\n" + b'{"note": 5}\n' + b"1\n")
    assert [one.get("note") for one in at_work._read(tmp_path / LOG)][-3:] == ["error: x", 5, "1"]


@pytest.mark.parametrize(
    "change",
    [
        {"began": 10**400}, {"began": 1e308}, {"began": -1}, {"began": True}, {"began": "1"},
        {"pid": 10**400}, {"pid": 1}, {"pid": True}, {"of": 5}, {"of": "5" * 3000},
        {"digest": None}, {"before": 5}, {"before": [10**400, "x"]}, {"before": {}},
    ],
)  # fmt: skip
@pytest.mark.one_in(2)
def test_no_file_of_a_run_stops_the_page(people, change):
    """Whoever sent the folder may have written them."""
    place = people.root / "results" / "people" / "0123"
    place.mkdir(parents=True)
    job = {"pid": 12, "of": "5", "began": 5.0, "digest": "a"}
    (place / JOB).write_text(json.dumps(job | change))
    big = "9" * 400
    lines = [
        f'{{"what": "a", "done": {big}, "total": 1, "time": 1}}',
        f'{{"what": "a", "done": 1, "total": 1, "time": {big}}}',
        '{"what": "a", "done": NaN, "total": Infinity, "time": -Infinity}',
        '{"what": "a", "done": 1.5, "total": true, "time": 1}',
        f'{{"note": {big}}}',
    ]
    (place / LOG).write_text("\n".join(lines))
    (place / "record.json").write_text("[" * 9999)
    for path in ("/", "/study/people/run", "/study/people/reports", "/study/people/table"):
        assert people.get(path).status_code == 200, path


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[]", "is not a record"),
        ("{}", "is not a record"),
        ("[" + "{}," * 2**19 + "{}]", "more than 65,536 values"),
        ('"' + "a" * 2**22 + '"', "bytes; at most"),
        ("[" * 2**15, "nested too deeply"),
    ],
)
def test_a_record_that_cannot_be_read_is_shown_as_that(people, content, why):
    place = people.root / "results" / "people" / "0123"
    place.mkdir(parents=True)
    (place / "record.json").write_text(content)
    answer = people.get("/study/people/reports")
    assert answer.status_code == 200
    assert "not readable" in answer.text
    assert why in answer.text


@pytest.mark.parametrize("name", ["a" * 5000, "%F0%9F%99%82" * 70, "a%00b", "%ED%A0%80"])
def test_no_name_of_a_study_stops_the_page(people, name):
    for step in ("table", "reports", "file", "events"):
        assert people.get(f"/study/{name}/{step}").status_code in (400, 404)
    for what in ("report", "record"):
        assert people.get(f"/{what}/{name}/{name}").status_code in (400, 404)


def test_work_that_does_not_end_is_ended(people, monkeypatch):
    monkeypatch.setattr(at_work, "PATIENCE", 0.01)
    monkeypatch.setattr(pages, "worked", at_work.worked)
    people.pages._looks.clear()
    assert people.get("/study/people/table").status_code == 200
    assert "has not ended" in people.error


def test_the_demonstration_opens_with_the_example_table(tmp_path):
    pages = Pages(tmp_path.resolve())
    assert pages.example() == "invented_people" == pages.example()
    assert (tmp_path / "invented_people.csv").read_bytes() == (
        FOLDER / "invented_people.csv"
    ).read_bytes()
    study = load_study(tmp_path / "invented_people.toml")
    assert study.settings.threshold.origin == PRESET


def test_the_demonstration_shows_what_guessing_alone_gets(tmp_path):
    visitor = Visitor(tmp_path.resolve())
    page = visitor.get(f"/study/{visitor.pages.example()}/threshold").text
    (shown,) = re.findall(r"most common value of (\w+), .*? right for (\d+) of 100", page)
    people = pd.read_csv(tmp_path / "invented_people.csv")
    assert shown[0] in people.columns
    study = load_study(tmp_path / "invented_people.toml")
    width = study.settings.data.bins.get(shown[0])
    if width is None:
        counts = people[shown[0]].value_counts()
        assert int(shown[1]) == round(100 * counts.iloc[0] / len(people))


def test_a_table_that_is_there_is_a_button_that_begins_a_study(visitor):
    page = visitor.get("/").text
    assert '<button class="second" name="table" value="people.csv">people.csv</button>' in page
    assert visitor.post("/new", {"table": "people.csv"}).status_code == 200
    assert (visitor.root / "people.toml").is_file()


def test_what_was_typed_survives_a_file_that_is_not_there(visitor):
    visitor.get("/")
    typed = {"table": "peple.csv", "synthetic": 'made <"up">.csv', "control": "others.csv"}
    assert visitor.post("/new", typed).status_code == 400
    assert "peple.csv" in visitor.error
    values = html.unescape(visitor.last.text)
    for text in typed.values():
        assert f'value="{text}"' in values


def test_each_sentence_of_a_report_is_printed_once(visitor, kept_audit):
    """Also of the newest report, which the whole verdict stood above."""
    kept = kept_audit("table").record
    headline = [f"Sentence {number}." for number in range(3)]
    report = Report("p", "2026-01-01 00:00", "+", "Met", headline, kept)
    template = visitor.pages._templates.get_template("reports.html")
    page = template.render(reports=[report, report], study="people", kind="table")
    for sentence in headline:
        assert page.count(sentence) == 2
    assert verdict_of(kept) not in html.unescape(page)


@pytest.mark.parametrize("leads", ["victim.csv", "folder", "none/victim.csv", "full.csv"])
@pytest.mark.parametrize("name", ["invented_people.csv", "invented_people.toml"])
def test_the_demonstration_writes_nothing_through_a_link(tmp_path, name, leads):
    """A folder that somebody sent may hold links under the names that the page takes."""
    outside, root = tmp_path / "outside", tmp_path / "opened"
    for folder in (outside, root, outside / "folder"):
        folder.mkdir()
    (outside / "full.csv").write_text("a,b\n1,2\n")
    before = {path: path.is_file() and path.read_bytes() for path in outside.rglob("*")}
    (root / name).symlink_to(outside / leads)
    with suppress(InputError):
        Pages(root).example()
    assert {path: path.is_file() and path.read_bytes() for path in outside.rglob("*")} == before
    assert (root / name).is_symlink()


@pytest.mark.parametrize(
    ("step", "wrong", "others"),
    [
        ("threshold", {"advantage": "a tenth"}, {"expected": "12", "reason": 'a < b, & "so"'}),
        ("run", {"trials": "many"}, {"seed": "77"}),
        ("attacker", {"targets": "ten"}, {}),
    ],
)
def test_a_mistake_in_one_field_keeps_all_that_was_typed(people, step, wrong, others):
    path = f"/study/people/{step}"
    fields = people.fields(path)
    others = {name: text for name, text in others.items() if name in fields}
    answer = people.post(path, fields | wrong | others)
    assert answer.status_code == 422
    kept = fields | {name: [text] for name, text in (wrong | others).items()}
    assert fields_of(answer.text) == kept
    right = dict.fromkeys(wrong, "9")
    assert (
        people.post(path, fields | others | right).status_code < 400
    )  # mended, nothing else typed


@pytest.mark.parametrize(
    ("language", "typed", "is_read"),
    [
        ("de-AT,de;q=0.9", "10,5", True),
        ("fr", "10,5", True),
        ("de-CH", "10,5", False),
        ("en-GB,en", "10,5", False),
        ("", "10,5", False),
        ("de", "10.5", True),
        ("en", "10.5", True),
    ],
)
def test_a_decimal_comma_is_read_where_the_language_has_it(people, language, typed, is_read):
    path = "/study/people/threshold"
    fields = people.fields(path) | {"advantage": typed}
    people.client.headers["accept-language"] = language
    answer = people.post(path, fields)
    assert (answer.status_code < 400) == is_read
    if is_read:
        assert "advantage = 0.105" in people.text()
    else:
        assert "write 10.5" in people.error
        assert fields_of(answer.text)["advantage"] == ["10,5"]


def test_several_numbers_are_parted_where_commas_are_decimal():
    form = steps.Form([("a", "0,5; 1; 2,25"), ("b", "1, 2"), ("c", "eins, zwei"), ("d", "10,5")])
    form.has_comma = True
    assert [form.numeric(name) for name in "abcd"] == ["0.5, 1, 2.25", "1, 2", "eins, zwei", "10.5"]
    form.has_comma = False
    assert form.numeric("d") == "10,5"


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no UTF-8")
@pytest.mark.parametrize(
    "name",
    [
        b"\xff.csv", b"\xff.toml", b"\xff/a.csv", b"a/\xff.csv", b"results/\xff/abc/job.json",
        b"results/\xff/abc/record.json", b"results/people/\xff/record.json", b"\xff",
    ],
)  # fmt: skip
def test_no_name_on_the_disk_stops_the_page(people, name):
    path = people.root / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    job = {"pid": 12, "of": "5", "began": 5.0, "digest": "a"}
    path.write_text(json.dumps(job) if path.suffix == ".json" else people.text())
    for at in ("/", "/study/people/table", "/study/people/run", "/study/people/reports"):
        answer = people.get(at)
        assert answer.status_code == 200, at
    home = people.get("/").text
    assert ("no UTF-8: \\udcff" in home) == name.startswith(b"\xff")
    assert people.get("/study/a%ff/table").status_code in (400, 404)


def test_a_mistake_of_the_program_is_a_sentence(people, monkeypatch):
    def fails(_):
        raise KeyError("secret")

    monkeypatch.setattr("narcissus.app.folder.Folder.tables", fails)
    client = TestClient(
        people.guarded, base_url=people.client.base_url, raise_server_exceptions=False
    )
    client.cookies = people.client.cookies
    answer = client.get(people.keys.root + "/")
    assert answer.status_code == 500
    assert "this could not be done: an error of this program (KeyError)" in answer.text
    assert "secret" not in answer.text
