"""A small part of `make kernels` in every run of the tests; it fails where records differ."""

from __future__ import annotations

import copy
import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def run():
    where = importlib.util.spec_from_file_location("run_kernels", HERE / "run.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    return module


@pytest.fixture
def quick(run):
    return next(run.settings(quick=True))[1]


@pytest.mark.nightly
def test_a_game_is_the_same_on_an_older_processor(run, quick):
    """Another kernel of OpenBLAS, two threads, none of NumPy's dispatched instructions."""
    if not run.took_effect(quick):
        pytest.skip("this machine has no other kernel")
    study = run.STUDIES[0]
    assert run.compare(study, run.played(study, {}), run.played(study, quick))


def test_the_most_that_threads_tell_is_a_last_digit(run, quick):
    """The profile of which another best attacker was shown elsewhere."""
    command = ("-m", "narcissus", "profile", run.STUDIES[0])
    assert run.said(quick, *command) == run.said({}, *command)


def test_what_is_not_the_same_is_a_failure(run, monkeypatch, capsys):
    record = {"results": {"value": 0.5, "count": 3}, "portable_digest": "sha256:1"}
    turns = iter([record, record])
    monkeypatch.setattr(run, "played", lambda study, environment: next(turns))
    monkeypatch.setattr(run, "took_effect", lambda environment: True)
    monkeypatch.setattr(sys, "argv", ["run.py", "--quick"])
    assert run.main() == 0
    for key, value in (("value", 0.500001), ("count", 4)):
        other = copy.deepcopy(record)
        other["results"][key] = value
        turns = iter([record, other])
        assert run.main() == 1
        assert "FAILED" in capsys.readouterr().out
    turns = iter([record, record | {"portable_digest": "sha256:2"}])
    assert run.main() == 1


def test_instructions_that_are_still_taken_are_a_failure(run, monkeypatch):
    monkeypatch.setattr(run, "looked", lambda environment: ({"Haswell"}, ["X86_V4"]))
    told = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4"}
    with pytest.raises(run.DiffersError, match="X86_V4"):
        run.took_effect(told)
    told["NPY_DISABLE_CPU_FEATURES"] = ""
    assert run.took_effect(told)
    told["OPENBLAS_CORETYPE"] = "SkylakeX"
    assert not run.took_effect(told)


def test_what_is_played_is_there(run):
    """A test that was moved would end every setting with an error."""
    gone = [name for name in (*run.STUDIES, *run.TESTS) if not (run.ROOT / name).exists()]
    assert gone == []
