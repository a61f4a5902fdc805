"""The mark of an installation: nothing of others is replaced, and nothing of others is used."""

import json
import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from narcissus import load_audit, load_study, run
from narcissus._folders import opened_folder
from narcissus.errors import StoreError
from narcissus.study import marks
from narcissus.study.keyed import FILE as DIGEST_KEY
from narcissus.study.keyed import kept_key
from narcissus.study.record import digest_of
from narcissus.study.store import FILE as STORE

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links")

CHANNEL = "kind = 'channel'\n[channel]\nfile = 'c.csv'\n"


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch):
    """Leave the pictures out of reports: to draw them takes longer than to play."""
    monkeypatch.setattr("narcissus.report.html.svg_of", lambda figure, prefix: "<svg></svg>")


@pytest.fixture
def channel(tmp_path, monkeypatch):
    """A study whose results folder holds no trials."""
    monkeypatch.chdir(tmp_path)
    Path("c.csv").write_text("secret,a,b\nx,.8,.2\ny,.2,.8\n")
    Path("study.toml").write_text(CHANNEL)
    return Path("study.toml")


@pytest.fixture
def elsewhere(monkeypatch, tmp_path_factory):
    """Give a function that goes on as the installation of somebody else."""
    return lambda: monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("other")))


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def test_a_valid_record_of_the_same_study_by_others_stays(channel, narcissus, elsewhere):
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    assert narcissus("audit", channel, "--out", "out")[0] == 0  # its own is replaced
    elsewhere()
    before = contents("out")
    code, _, err = narcissus("audit", channel, "--out", "out")
    assert code == 2
    assert "this installation did not write" in err
    assert "record.json" in err
    assert "--restart" in err
    assert contents("out") == before
    code, _, err = narcissus("audit", channel, "--out", "out", "--restart")
    assert code == 0
    assert "--restart replaces in out: record.json" in err
    assert narcissus("audit", channel, "--out", "out")[0] == 0


def test_results_of_others_are_read_and_verified(channel, narcissus, elsewhere):
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    elsewhere()
    shutil.move("out", "moved")
    assert narcissus("verify", "moved", channel)[0] == 0
    assert narcissus("report", "moved", "--text")[0] == 0
    assert narcissus("report", "moved", "--out", "drawn.html")[0] == 0
    assert load_audit("moved").status == "no threshold"


def test_a_report_does_not_replace_that_of_others(channel, narcissus, elsewhere):
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    assert narcissus("report", "out")[0] == 0
    elsewhere()
    code, _, err = narcissus("report", "out")
    assert code == 2
    assert "out/report.html was not written by this installation" in err
    assert narcissus("report", "out", "--statement")[0] == 0  # no file of that name was there


@pytest.mark.parametrize("name", ["record.json", "report.html", "record.json.sig", "entropy.txt",
                                  DIGEST_KEY, "index.html"])  # fmt: skip
def test_a_file_that_was_changed_or_put_there_is_not_replaced(channel, narcissus, name):
    """Also where the marks of the folder came back with it."""
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    path = Path("out", name)
    content = path.read_text() if path.exists() else ""
    path.write_text(content[:-2] + "\n" if content else "theirs")
    path.chmod(0o600)
    before = contents("out")
    code, _, err = narcissus("audit", channel, "--out", "out")
    assert (code, name in err) == (2, True), err
    with pytest.raises(StoreError, match=name):
        run(load_study(channel), folder="out")
    assert contents("out") == before
    assert narcissus("audit", channel, "--out", "out", "--restart")[0] == 0


def test_a_record_that_was_changed_and_sealed_again_is_not_replaced(channel, narcissus):
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    record = json.loads(Path("out/record.json").read_text())
    record["title"] = "Another"
    record["digest"] = digest_of(record)
    Path("out/record.json").write_text(json.dumps(record))
    assert narcissus("audit", channel, "--out", "out")[0] == 2


def test_trials_of_others_do_not_count(study, narcissus, elsewhere):
    """Whoever wrote them could have chosen the numbers."""
    path = study(run={"trials": 2})
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    for name in [*marks.NAMES, marks.FILE]:
        Path("out", name).unlink(missing_ok=True)
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    elsewhere()
    for name in [*marks.NAMES, marks.FILE]:
        Path("out", name).unlink(missing_ok=True)
    before = Path("out", STORE).read_bytes()
    code, _, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert code == 2
    assert "holds no trial that this installation wrote" in err
    assert Path("out", STORE).read_bytes() == before
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0


def test_a_key_of_digests_that_others_know_is_not_taken(channel, narcissus, elsewhere):
    """With it they could test guesses of the data against the record."""
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    theirs = kept_key(Path("out"))
    elsewhere()
    assert narcissus("audit", channel, "--out", "out", "--restart")[0] == 0
    mine = kept_key(Path("out"))
    assert mine not in {theirs, None}
    assert narcissus("audit", channel, "--out", "out", "--restart")[0] == 0
    assert kept_key(Path("out")) == mine


def test_releases_that_others_kept_are_refused(study, narcissus, tmp_path):
    Path("out/releases").mkdir(parents=True)
    for more in ([], ["--restart"]):
        code, _, err = narcissus("audit", study(), "--out", "out", "--quiet", *more)
        assert code == 2
        assert "releases that this installation did not keep" in err
    marks.mark_folder(Path("out"))
    assert narcissus("audit", study(), "--out", "out", "--quiet")[0] == 0


def test_a_run_that_is_killed_between_mark_and_file_continues(channel, narcissus, monkeypatch):
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    with opened_folder(Path("out")) as place:
        marks._mark(place, "record.json", "what was never written")
    with Path("out", marks.FILE).open("a") as file:
        file.write("0123")  # half a line
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    assert narcissus("audit", channel, "--out", "out")[0] == 0


@posix
def test_the_key_is_for_its_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "deep" / "state"))
    before = os.umask(0)
    try:
        key = marks.installation_key()
    finally:
        os.umask(before)
    path = tmp_path / "deep" / "state" / "narcissus" / marks.KEY
    assert key == marks.installation_key() == bytes.fromhex(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not list(path.parent.glob(".*"))


@posix
@pytest.mark.parametrize(
    ("state", "home"),
    [("", ""), ("", "/nonexistent"), ("", "/dev/null"), ("relative", ""), ("/dev/null", "")],
)
def test_without_a_private_folder_results_are_not_recognised(
    channel, narcissus, monkeypatch, state, home
):
    """The study runs, the run says so, and nothing is made in the current folder."""
    monkeypatch.setenv("XDG_STATE_HOME", state)
    monkeypatch.setenv("HOME", home)
    code, _, err = narcissus("audit", channel, "--out", "out")
    assert code == 0, err
    assert "a later run will not recognise the results in out" in err
    code, _, err = narcissus("audit", channel, "--out", "out")
    assert code == 2
    assert "XDG_STATE_HOME" in err
    assert {path.name for path in Path().iterdir()} == {"c.csv", "study.toml", "out"}
    assert not Path("/nonexistent").exists()


@posix
@pytest.mark.parametrize("how", ["link", "second name", "pipe", "folder"])
def test_a_list_of_marks_that_is_no_file_is_never_written_to(channel, narcissus, how):
    Path("victim").write_text("precious")
    Path("out").mkdir()
    place = Path("out", marks.FILE)
    if how == "link":
        place.symlink_to("../victim")
    elif how == "second name":
        os.link("victim", place)
    elif how == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    code, _, err = narcissus("audit", channel, "--out", "out")
    assert code == (2 if how == "folder" else 0), err
    assert "Traceback" not in err
    assert Path("victim").read_text() == "precious"


def test_values_of_a_sweep_that_others_played_are_refused(
    tmp_path, monkeypatch, narcissus, elsewhere
):
    monkeypatch.chdir(tmp_path)
    words = [
        "scale",
        "counting-query",
        "--over",
        "statement.epsilon=1,2",
        "--trials",
        "20",
        "--out",
        "out",
    ]
    code, _, err = narcissus(*words)
    assert code in {0, 3}, err
    assert "were played earlier" in narcissus(*words)[2]
    elsewhere()
    code, _, err = narcissus(*words)
    assert code == 2
    assert "this installation did not write" in err


@posix
@pytest.mark.parametrize("name", [marks.FILE, *marks.NAMES])
@pytest.mark.parametrize("words", [(), ("--restart",)])
def test_what_no_file_can_replace_is_refused_before_the_first_trial(
    channel, narcissus, monkeypatch, name, words
):
    monkeypatch.setattr("narcissus.audits.play.play", pytest.fail)
    place = Path("results") / channel.stem
    place.mkdir(parents=True)
    (place / name).mkdir()
    code, _, err = narcissus("audit", channel, "--quiet", *words)
    assert code == 2
    assert str(place / name) in err
    assert "is a folder" in err
    assert "remove it, or choose another folder with --out" in err


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "/proc/kmsg", "pipe", "nothing", "folder", "file"])
def test_a_list_of_marks_that_leads_elsewhere_ends_no_run(channel, narcissus, target):
    place = Path("results") / channel.stem
    place.mkdir(parents=True)
    os.mkfifo("pipe")
    os.mkdir("folder")
    Path("file").write_text("x")
    where = target if target.startswith("/") else Path(target).resolve()
    (place / marks.FILE).symlink_to(where)
    assert narcissus("audit", channel, "--quiet")[0] in (0, 1, 3)
    assert not (place / marks.FILE).is_symlink()
    assert Path("file").read_text() == "x"


def shown_to_everybody():
    """Files that the table of who may see what, in the documentation, lets everybody see."""
    page = Path(__file__).parents[2] / "docs" / "operate" / "security.md"
    section = page.read_text().partition("## What may be shown")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("|")]
    return {
        name
        for what, who in rows
        if who.strip() == "yes"
        for name in re.findall(r"`([\w.]+\.\w+)`", what)
    }


def open_files(folder):
    """Files of a folder that other users of the machine may read."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    assert paths
    return {path.name for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077}


@pytest.fixture(params=[0, 0o022])
def mask(request):
    """A mask with which a file is everybody's to read."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@posix
@pytest.mark.usefixtures("mask")
@pytest.mark.one_in(2)
def test_others_of_the_machine_read_only_what_may_be_shown(study, narcissus):
    """A record holds the seed, with which guesses about people are tested."""
    assert "report.html" in shown_to_everybody()
    assert narcissus("audit", study(), "--out", "out", "--yes")[0] in {0, 1, 3}
    assert {"record.json", "trials.store"} <= contents("out").keys()
    assert narcissus("report", "out", "--statement")[0] == 0
    assert narcissus("report", "out", "--export", "acro")[0] == 0
    assert open_files("out") <= {*shown_to_everybody(), "statement.md"}
    assert open_files("out/acro") == set()
    assert narcissus("report", "out", "--internal", "--out", "out/other.html")[0] == 0
    assert narcissus("report", "out", "--internal")[0] == 0
    assert open_files("out") <= {"statement.md"}
    assert narcissus("report", "out", "--record", "shown.json")[0] == 0
    assert "shown.json" in open_files(".")


@posix
@pytest.mark.usefixtures("mask")
def test_an_old_record_is_closed_by_the_next_run(channel, narcissus):
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    Path("out/record.json").chmod(0o644)
    assert narcissus("audit", channel, "--out", "out")[0] == 0
    assert open_files("out") <= shown_to_everybody()
