"""A results folder that came from somebody else: what lies in it must not lead elsewhere."""

import os
import sqlite3
from pathlib import Path

import pytest

from narcissus._files import write_atomically
from narcissus.study.store import FILE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes links and pipes")


@pytest.fixture
def victim(study):
    path = study()
    Path("victim").write_text("precious")
    Path("out").mkdir()
    yield path
    assert Path("victim").read_text() == "precious"


@pytest.mark.parametrize(
    "name", [".writable", "record.json.sig", "report.html", "entropy.txt", "record.json"]
)
def test_links_are_not_written_through(victim, narcissus, name):
    Path("out", name).symlink_to("../victim")
    code, _, err = narcissus("audit", victim, "--out", "out", "--quiet")
    assert code == (2 if name == "record.json" else 0), err
    code, _, err = narcissus("audit", victim, "--out", "out", "--quiet", "--restart")
    assert code == 0, err


@pytest.mark.parametrize("name", [FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}.model"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("../victim", path)])
def test_a_store_that_is_no_file_is_refused(victim, narcissus, name, make):
    make(Path("out", name))
    for more in ([], ["--restart"]):
        code, _, err = narcissus("audit", victim, "--out", "out", "--quiet", *more)
        assert code == 2
        assert "is a link, a folder or a pipe" in err


def test_a_partial_file_that_is_a_link_is_replaced(victim):
    Path(f"out/.record.json.{os.getpid()}.partial").symlink_to("../victim")
    write_atomically(Path("out/record.json"), "text")
    assert Path("out/record.json").read_text() == "text"
    assert os.listdir("out") == ["record.json"]


def test_nothing_half_written_stays(tmp_path):
    (tmp_path / "record.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "record.json", "text")
    assert os.listdir(tmp_path) == ["record.json"]


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE trials; CREATE VIEW trials AS WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS key, i AS crc, i AS payload FROM n",
        "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END",
    ],
)
def test_a_store_that_computes_or_acts_is_refused(victim, narcissus, sql):
    assert narcissus("audit", victim, "--out", "out", "--quiet")[0] == 0
    with sqlite3.connect(Path("out", FILE)) as db:
        db.executescript(sql)
    db.close()
    code, _, err = narcissus("audit", victim, "--out", "out", "--quiet")
    assert code == 2
    assert "holds more than tables" in err


def test_a_store_without_trials_is_for_whoever_comes(victim, study, narcissus):
    assert narcissus("audit", victim, "--out", "out", "--quiet")[0] == 0
    with sqlite3.connect(Path("out", FILE)) as db:
        db.execute("DELETE FROM trials")
    db.close()
    Path("out/record.json").unlink()
    other = study("other.toml", threat={"targets": 10})
    assert narcissus("audit", other, "--out", "out", "--quiet")[0] == 0
