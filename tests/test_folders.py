"""Folders that are opened without following links: unit tests, and a race against a swapper."""

import errno
import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from narcissus._files import put, write_atomically
from narcissus._folders import opened_folder, require_no_links
from narcissus.errors import InputError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and handles of POSIX")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A current folder, and beside it one that no test may write into."""
    (tmp_path / "here").mkdir()
    (tmp_path / "away" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    yield tmp_path / "here"
    assert [path.name for path in (tmp_path / "away").rglob("*")] == ["inner"]


@pytest.mark.parametrize("link", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("how", ["relative", "absolute", "below"])
@pytest.mark.parametrize("make", [True, False])
def test_no_part_of_a_folder_is_a_link(place, link, how, make):
    target = Path("a/b/c")
    folder = target if how == "relative" else place / target
    Path(link).parent.mkdir(parents=True, exist_ok=True)
    Path(link).symlink_to("../" * link.count("/") + "../away", target_is_directory=True)
    named = {"below": place} if how == "below" else {}
    with (
        pytest.raises(InputError, match="is reached by a link"),
        opened_folder(folder, make=make, **named),
    ):
        pytest.fail("it was opened")
    with pytest.raises(InputError, match="is reached by a link"):
        require_no_links(folder, "the folder", "--out", **named)


def test_links_above_what_a_person_named_are_followed(place, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    with opened_folder(tmp_path / "data" / "results", make=True) as opened:
        opened.write("x", "1")
    assert (tmp_path / "disk" / "results" / "x").read_text() == "1"
    (tmp_path / "disk" / "x").symlink_to(tmp_path / "away")
    with pytest.raises(InputError, match="link"), opened_folder(tmp_path / "data" / "x"):
        pytest.fail("it was opened")
    with (
        pytest.raises(InputError, match="link"),
        opened_folder(tmp_path / "data" / "x", below=tmp_path / "data"),
    ):
        pytest.fail("it was opened")


def test_what_is_above_is_reached_without_links(place):
    with opened_folder(Path("../beside/x"), make=True) as opened:
        opened.write("x", "1")
    assert (place.parent / "beside" / "x" / "x").read_text() == "1"


def test_names_in_an_opened_folder_follow_no_link(place):
    victim = place / "victim"
    victim.write_text("mine")
    with opened_folder(Path("results"), make=True) as opened:
        for name in ("record.json", f".record.json.{os.getpid()}.partial"):
            Path("results", name).symlink_to(victim)
        opened.write("record.json", "new", private=True)
        assert Path("results/record.json").read_text() == "new"
        assert stat.S_IMODE(opened.lstat("record.json").st_mode) == 0o600
        Path("results/link").symlink_to(victim)
        with pytest.raises(OSError, match=r"results/link"):
            opened.open("link", os.O_RDWR)
        assert opened.remove("link")
        assert not opened.remove("link")
        assert opened.lstat("link") is None
    assert victim.read_text() == "mine"
    assert [path.name for path in Path("results").iterdir()] == ["record.json"]


def test_what_is_written_leaves_the_other_name_of_a_hard_link(place):
    """No path tells where else a hard link is: its name is replaced, never filled."""
    Path("theirs").write_text("mine")
    Path("results").mkdir()
    for name in ("record.json", f".record.json.{os.getpid()}.partial"):
        os.link("theirs", f"results/{name}")
    with opened_folder(Path("results")) as opened:
        opened.write("record.json", "new")
    write_atomically(Path("results/record.json"), "newer")
    assert Path("theirs").read_text() == "mine"
    assert Path("theirs").stat().st_nlink == 1


def test_a_folder_that_is_a_file_or_missing_is_named(place):
    Path("file").write_text("")
    with pytest.raises(NotADirectoryError, match="file"), opened_folder(Path("file"), make=True):
        pass
    with pytest.raises(FileNotFoundError, match="none"), opened_folder(Path("none")):
        pass
    with pytest.raises(InputError, match="cannot write file: Not a directory"):
        put(Path("file/x.html"), "")


def test_a_swap_at_any_moment_writes_nothing_elsewhere(place):
    """Another process makes `results` a link and a folder in turns; each write is refused or in."""
    Path("results").mkdir()
    Path("link").symlink_to("../away/inner", target_is_directory=True)
    swapper = """
import ctypes, os
exchange = ctypes.CDLL(None, use_errno=True).renameat2
while exchange(-100, b"results", -100, b"link", 2) == 0:
    pass
os._exit(3)
"""
    if sys.platform != "linux":
        pytest.skip("names are exchanged on Linux")
    process = subprocess.Popen([sys.executable, "-c", swapper], cwd=place)
    time.sleep(0.3)
    refused = written = 0
    try:
        if process.poll() is not None:
            pytest.skip("this file system exchanges no names")
        for number in range(20_000):
            if min(refused, written) > 50:
                break
            try:
                with opened_folder(Path("results"), make=True) as opened:
                    opened.write("record.json", str(number))
                written += 1
            except (InputError, FileExistsError, NotADirectoryError):  # or swapped back meanwhile
                refused += 1
    finally:
        process.kill()
        process.wait()
    assert refused > 50
    assert written > 50


def _small(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("links", [True, False])
def test_a_disk_that_is_full_names_the_file_and_keeps_the_old_one(place, links):
    Path("results").mkdir()
    Path("results/report.html").write_text("old")
    code = f"""
from pathlib import Path
from narcissus._files import write_atomically
try:
    write_atomically(Path("results/report.html"), "x" * 10**6, links={links})
except OSError as error:
    print(error.errno, error.filename)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True,
        preexec_fn=lambda: _small(10**5),
    )  # fmt: skip
    assert done.stdout.split() == [str(errno.EFBIG), "results/report.html"]
    assert Path("results/report.html").read_text() == "old"
    assert len(list(Path("results").iterdir())) == 1


def test_a_file_that_a_person_named_may_be_reached_by_links(place, tmp_path):
    (tmp_path / "mine").mkdir()
    Path("link").symlink_to(tmp_path / "mine")
    write_atomically(Path("link/x"), "1")
    assert (tmp_path / "mine" / "x").read_text() == "1"
    with pytest.raises(InputError, match="link"):
        write_atomically(Path("link/x"), "2", links=False)
