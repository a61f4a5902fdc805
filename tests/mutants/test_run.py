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


def test_every_room_is_played_or_says_why_it_has_no_number(run):
    rooms = {
        path.name
        for path in (run.SOURCE / "narcissus").iterdir()
        if path.is_dir() and any(path.glob("*.py"))
    }
    assert rooms == {*run.PLAIN, *run.WITHOUT, "kinds"}
    kinds = {path.parent.name for path in (run.SOURCE / "narcissus" / "kinds").glob("*/kind.py")}
    played = {Path(place).parts[1] for room in run.ROOMS.values() for place in room if "/" in place}
    assert kinds <= played


def test_most_of_the_code_that_makes_numbers_is_played(run):
    played = {path for room in run.ROOMS for path in run.files(room)}
    every = [
        path
        for path in (run.SOURCE / "narcissus").glob("*/**/*.py")
        if path.relative_to(run.SOURCE / "narcissus").parts[0] not in run.WITHOUT
    ]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in every}
    assert sum(lines[path] for path in every if path in played) >= 0.75 * sum(lines.values())


def test_every_equivalent_mutant_is_one_that_can_be_made(run):
    names = set(run.equivalent())
    modules = {name.split("::")[0] for name in names}
    keys = {m.key for path in modules for m in run.mutants(run.ROOT / path, run.ROOT)}
    assert not names - keys
