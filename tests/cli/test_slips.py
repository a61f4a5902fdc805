"""A mistake of ours is internal (exit 4), and never called a fault of the user's file."""

import shutil
from pathlib import Path

import click
import numpy as np
import pytest

from narcissus import _files
from narcissus.cli.main import COMMANDS, cli
from narcissus.mechanisms import RandomizedResponse
from narcissus.study import store
from narcissus.study.kinds import KINDS, loaded
from narcissus.study.store import TrialStore

KEPT = Path(__file__).parents[1] / "study" / "kept"
TABLE = "age,zip,ill\n" + "".join(f"{20 + i % 9},{i % 4},{i % 2}\n" for i in range(60))
RECORD = "record.json"

# The words with which each command reads a file, and "" for those that read none.
READING = {
    "audit": "study.toml",
    "app": "",
    "init": "people.csv",
    "synth": "people.csv copy.csv --unknown ill",
    "risk": "",
    "measure": "people.csv --secret ill",
    "tables": "people.csv",
    "rules": "people.csv --by age --secret ill",
    "bound": "--profile curve.csv --prior 0.5",
    "protect": "--priors curve.csv --advantage 0.1 --at-most 300",
    "refute": "--scores people.csv",
    "membership": "people.csv",
    "canaries": "",
    "channel": "people.csv",
    "compose": "people.csv",
    "refine": "people.csv copy.csv",
    "design": "people.csv --most-loss 0.5",
    "estimate": "people.csv",
    "extract": "",
    "complexity": "people.csv",
    "privacy": "study.toml",
    "profile": "study.toml",
    "report": RECORD,
    "verify": f"{RECORD} study.toml",
}


def slip(*_, **__):
    """Fail as a line of the package does that divides by nothing."""
    exec("1 / 0", {"__name__": "narcissus.somewhere"})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("people.csv", "copy.csv", "curve.csv"):
        (tmp_path / name).write_text(TABLE)
    (tmp_path / "study.toml").write_text('kind = "game"\n')
    shutil.copy(KEPT / "game.json", tmp_path / RECORD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_command_is_listed():
    assert READING.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", [name for name, words in READING.items() if words])
def test_a_slip_in_a_reader_is_internal(folder, monkeypatch, narcissus, name):
    monkeypatch.setattr(_files, "file_size", slip)
    code, out, err = narcissus(name, *READING[name].split())
    assert code == 4, err
    assert "internal error: ZeroDivisionError" in err
    assert "please report it" in err
    assert "on Python 3." in err
    assert not out


def empty_maximum(*_, **__):
    """Fail as a line of the package does that takes the largest of nothing."""
    exec("max([])", {"__name__": "narcissus.somewhere"})


@pytest.mark.parametrize("form", ["", "--text", "--statement"])
@pytest.mark.parametrize("kind", [path.stem for path in sorted(KEPT.glob("*.json"))])
def test_a_slip_in_a_layout_is_internal(folder, monkeypatch, narcissus, kind, form):
    shutil.copy(KEPT / f"{kind}.json", folder / RECORD)
    layout = loaded(loaded(KINDS[kind]).layout)
    for method in ("page", "glance", "subject", "answers"):
        monkeypatch.setattr(type(layout), method, empty_maximum)
    code, out, err = narcissus("report", RECORD, *form.split())
    assert code == 4, err
    assert "internal error" in err
    assert "ValueError: max() " in err
    assert "please report it" in err
    assert not out


def options_that_take_one():
    """Yield each option of each command that does not take several values, by its names."""
    for command in COMMANDS:
        for option in cli.get_command(None, command).params:
            if isinstance(option, click.Option) and not option.multiple:
                for name in (*option.opts, *option.secondary_opts):
                    yield pytest.param(command, option, name, id=f"{command} {name}")


@pytest.mark.parametrize(("command", "option", "name"), [*options_that_take_one()])
def test_no_option_silently_takes_the_place_of_another(narcissus, command, option, name):
    once = [name] if option.is_flag else [name, *["1"] * option.nargs]
    other = [option.opts[0], *once[1:]]
    code, out, err = narcissus(command, *once, *other)
    assert code == 2
    assert "is given 2 times" in err
    assert name in err
    assert not out


def test_every_value_of_an_option_that_takes_several_is_used_or_refused(narcissus, folder):
    """Each of such options collects its values; two of one key are refused."""
    for option, values in (("--bins", ("age=5", "age=10")), ("--read-as", ("age=text",) * 2)):
        words = [word for value in values for word in (option, value)]
        for command in ("synth people.csv copy.csv", "measure people.csv"):
            code, _, err = narcissus(*command.split(), *words)
            assert code == 2
            assert "the column age is named twice" in err


def test_a_slip_in_a_part_of_ours_is_internal(folder, monkeypatch, narcissus):
    """Its options were checked before: they are not what fails."""

    def slip_later(self):
        exec("None.size", {"__name__": "narcissus.somewhere"})

    narcissus("init", "--example", "composition", "--out", "whole.toml")
    monkeypatch.setattr(RandomizedResponse, "__post_init__", slip_later)
    code, _, err = narcissus("audit", "whole.toml")
    assert code == 4, err
    assert "internal error: AttributeError" in err


def test_a_slip_in_reading_trials_is_no_forged_trial(tmp_path, monkeypatch):
    with TrialStore(tmp_path, {"a": 1}) as kept:
        kept.put("0/0", {"a": np.arange(3.0)})
        assert kept.get("0/0")["a"].tolist() == [0.0, 1.0, 2.0]
        monkeypatch.setattr(store, "unpack", slip)
        with pytest.raises(ZeroDivisionError):
            kept.get("0/0")
