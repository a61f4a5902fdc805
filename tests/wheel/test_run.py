"""The trial of the wheel fails where something fails, and where nothing was tried."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def run(monkeypatch):
    where = importlib.util.spec_from_file_location("run_wheel", HERE / "run.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    monkeypatch.setattr(
        module, "build", lambda out, source=None: out / "narcissus-1-py3-none-any.whl"
    )
    return module


def tried(run, monkeypatch, capsys, there, *words, wrong=()):
    """Run it on a machine with these Pythons; the wheel does not work on the wrong ones."""

    def trial(wheel, papers, python, folder):
        run.agree("it works", python not in wrong)

    monkeypatch.setattr(run, "found", lambda version: version if version in there else None)
    monkeypatch.setattr(run, "try_wheel", trial)
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    return run.main(), capsys.readouterr().out


def test_a_python_that_is_not_there_is_skipped_and_told(run, monkeypatch, capsys):
    code, out = tried(run, monkeypatch, capsys, {"3.11", "3.13"})
    assert code == 0
    assert "Python 3.12: skipped, not on this machine" in out
    assert "Python 3.13 (3.13): works" in out


@pytest.mark.parametrize(
    ("there", "words", "wrong", "told"),
    [
        ((), (), (), "Python 3.11: skipped"),
        (("3.11",), ("--python", "3.12"), (), "Python 3.12: missing"),
        (("3.11", "3.12"), (), ("3.12",), "Python 3.12 (3.12): FAILED: not so: it works"),
    ],
)
def test_what_was_not_tried_or_does_not_work_is_a_failure(
    run, monkeypatch, capsys, there, words, wrong, told
):
    code, out = tried(run, monkeypatch, capsys, there, *words, wrong=wrong)
    assert code == 1
    assert told in out


def test_a_python_is_taken_by_what_it_says_of_itself(run, monkeypatch, tmp_path):
    """One of that name may start another, or, as those of pyenv do, nothing."""
    own = "{}.{}".format(*sys.version_info)
    dead = tmp_path / "dead"
    dead.write_text("#!/bin/sh\nexit 127\n")
    dead.chmod(0o755)
    monkeypatch.setattr(run, "candidates", lambda version: iter([str(dead), sys.executable]))
    assert run.found(own) == sys.executable
    assert run.found("3.99") is None


def test_a_command_that_fails_is_told_with_what_it_printed(run):
    with pytest.raises(run.FailedError, match="exit code 3\nwhy\n"):
        run.said(sys.executable, "-c", "import sys; print('why'); sys.exit(3)")


def test_nothing_of_this_python_is_passed_on(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "only_here.py").write_text("")
    with pytest.raises(run.FailedError, match="No module named 'only_here'"):
        run.said(sys.executable, "-c", "import only_here")
    subprocess.run([sys.executable, "-c", "import only_here"], check=True)


def test_each_declared_python_is_played(run):
    """What `pyproject.toml` names is what the wheel, the Makefile and CI try."""
    named = re.findall(r"Python :: (3\.\d+)\"", (run.ROOT / "pyproject.toml").read_text("utf-8"))
    assert len(named) >= 3
    assert set(named) <= set(run.PYTHONS)
    makefile = (run.ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^PYTHONS := (.*)$", makefile, re.M)[1].split() == list(run.PYTHONS)
    ci = (run.ROOT / ".ci" / "run").read_text("utf-8")
    assert " ".join(run.PYTHONS) in ci


@pytest.mark.parametrize(
    ("there", "words", "played"),
    [
        ({"3.11", "3.13"}, [], ["3.11", "3.13"]),
        ({"3.11", "3.13"}, ["--newest"], ["3.13"]),
        (set(), [], []),
    ],
)
def test_targets_are_made_on_each_python_that_is_there(
    run, monkeypatch, capsys, there, words, played
):
    monkeypatch.setitem(sys.modules, "run", run)
    where = importlib.util.spec_from_file_location(
        "pythons", Path(run.__file__).parent / "pythons.py"
    )
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    monkeypatch.setattr(module, "found", lambda version: version if version in there else None)
    orders = []

    def make(order, **_):
        orders.append(order)
        return subprocess.CompletedProcess(order, 0)

    monkeypatch.setattr(module.subprocess, "run", make)
    assert module.main([*words, "3.11", "3.12", "3.13", "--", "smoke"]) == int(not played)
    assert [order[3] for order in orders] == [f"VENV=build/pythons/{version}" for version in played]
    assert "Python 3.12: skipped, not on this machine" in capsys.readouterr().out
