"""What a worker of a cluster does with a job: unpacks it once, and only from who is like it."""

import pickle

import cloudpickle
import pytest
from threadpoolctl import threadpool_info

import narcissus
from narcissus.errors import NarcissusError
from narcissus.study.engines import task
from narcissus.study.engines._worker import opened
from narcissus.study.engines.task import Carried, play_key, processor, versions


class Counted:
    """Counts how often it is unpacked."""

    unpacked = 0

    def __call__(self, key):
        return key, max(info["num_threads"] for info in threadpool_info())

    def __reduce__(self):
        return counted, ()


def counted():
    Counted.unpacked += 1
    return Counted()


def test_a_job_is_unpacked_once_and_plays_in_one_thread():
    Counted.unpacked = 0
    carried = Carried(pickle.dumps(Counted()), versions())
    for key in ("a", "b"):
        packed, where = play_key(carried, key)
        assert opened(packed, "") == (key, 1)
        assert where == processor()
    assert Counted.unpacked == 1


def test_it_travels_on_as_bytes():
    carried = Carried(cloudpickle.dumps(int), versions())
    play_key(carried, "1")
    assert len(pickle.dumps(carried)) < 1000
    assert pickle.loads(pickle.dumps(carried)).play("12") == 12


def test_versions_name_what_numbers_depend_on():
    found = versions()
    assert found["narcissus"].startswith(f"{narcissus.__version__} (source ")
    assert set(found) == {"python", "narcissus", *task.PACKAGES}


@pytest.mark.parametrize("name", ["python", "narcissus", "numpy", "numba"])
def test_who_has_other_versions_plays_nothing(name):
    Counted.unpacked = 0
    carried = Carried(pickle.dumps(Counted()), versions() | {name: "0.1"})
    packed, _ = play_key(carried, "a")
    with pytest.raises(NarcissusError, match=f"{name} .* instead of 0.1: numbers could differ"):
        opened(packed, "")
    assert Counted.unpacked == 0


def test_another_source_is_another_version(tmp_path, monkeypatch):
    ours = versions()["narcissus"]
    (tmp_path / "a.py").write_text("1")
    monkeypatch.setattr(task, "__file__", str(tmp_path / "study" / "engines" / "task.py"))
    (tmp_path / "study" / "engines").mkdir(parents=True)
    theirs = versions.__wrapped__()["narcissus"]
    (tmp_path / "a.py").write_text("2")
    assert len({ours, theirs, versions.__wrapped__()["narcissus"]}) == 3
