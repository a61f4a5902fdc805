"""The rooms that are measured are there, with the tests that must fail."""

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(HERE), *sys.path])
    where = importlib.util.spec_from_file_location("run_mutants", HERE / "run.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    return module


def test_every_room_has_modules_and_the_mirrors_of_these(run):
    for room in run.ROOMS:
        modules = run.files(room)
        assert modules
        assert all(path.suffix == ".py" for path in modules)
        places = run.tests(room)
        assert all((run.ROOT / place).exists() for place in places)
        assert {str(path.relative_to(run.ROOT)) for path in modules} <= set(places)
    assert "tests/kinds/table/test_judgement.py" in run.tests("verdicts")
    assert "tests/game" in run.tests("game")


@pytest.mark.parametrize("moved", ["kinds/table/moved_away.py", "no_such_room"])
def test_a_place_that_is_not_there_is_an_error(run, moved):
    run.ROOMS["game"] = [moved]
    with pytest.raises(SystemExit, match="is not there: mend ROOMS"):
        run.files("game")


def test_a_module_without_a_mirror_is_an_error(run):
    run.ROOMS["game"] = ["game/__init__.py"]
    with pytest.raises(SystemExit, match=r"tests/game/test___init__\.py is not there"):
        run.tests("game")
