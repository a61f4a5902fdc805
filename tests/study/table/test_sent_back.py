"""Releases that workers elsewhere made are kept by who asked, and not made again."""

from pathlib import Path

import cloudpickle
import pytest

import narcissus as package
from narcissus.errors import StoreError
from narcissus.game.executor import Serial
from narcissus.mechanisms import Shelf
from narcissus.mechanisms.table import kept as module
from narcissus.study.table.kind import ReleasesSentBack

OWN = """
def varied(frame, rng):
    with open("asked", "a") as file:
        file.write("x")
    return frame.sample(frac=1.0, replace=True, random_state=rng)
"""


class Elsewhere(Serial):
    """Gets a job as bytes, and has not our folder."""

    is_here = False

    def play(self, job, keys, observer=None):
        yield from super().play(cloudpickle.loads(cloudpickle.dumps(job)), keys)


@pytest.fixture
def costly(study):
    path = study(
        mechanism={"name": "own:varied", "k": None, "epsilon": None},
        attacks={"prior": {}},
        run={"trials": 3},
    )
    Path("own.py").write_text(OWN)
    return package.load_study(path, allow_code=True)


def asked():
    path = Path("asked")
    count = len(path.read_text()) if path.exists() else 0
    path.unlink(missing_ok=True)
    return count


def kept(folder):
    return {path.name: path.read_bytes() for path in Path(folder, "releases").iterdir()}


def test_they_are_kept_and_found_as_those_that_were_made_here(costly, hears):
    here = package.run(costly, folder="here", engine="serial")
    count = asked()
    there = package.run(costly, folder="there", engine=Elsewhere(), observer=hears)
    assert asked() == count
    assert there.record.portable_digest == here.record.portable_digest
    assert there.record.results == here.record.results
    assert kept("there") == kept("here")
    assert len(kept("here")) == 5
    package.run(costly, folder="there", engine=Elsewhere(), restart=True)
    fixed = count - len(kept("here"))  # only who looks for a fixed seed asks again
    assert asked() == fixed
    assert not any("not kept" in note for note in hears.notes)


def test_a_large_one_is_said_to_be_not_kept(costly, hears, monkeypatch):
    monkeypatch.setattr(module, "SENT_BACK", 10)
    package.run(costly, folder="there", engine=Elsewhere(), observer=hears)
    assert len(kept("there")) == 3  # of the trial that was timed, here
    [note] = [note for note in hears.notes if "not kept" in note]
    assert "more than 16 MiB are not sent back" in note


def test_a_worker_does_not_say_where_files_go(tmp_path):
    shelf = Shelf(tmp_path / "kept")

    def job(key):
        shelf.put(key, b"x")

    others = ReleasesSentBack(Elsewhere(), shelf)
    assert (others.workers, others.is_here) == (1, False)
    assert dict(others.play(job, ["a.npz"])) == {"a.npz": None}
    assert (tmp_path / "kept" / "a.npz").read_bytes() == b"x"
    with pytest.raises(StoreError, match=r"is called '\.\./b\.npz'"):
        list(others.play(job, ["../b.npz"]))
    assert not (tmp_path / "b.npz").exists()
