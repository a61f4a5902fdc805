"""A tiny kind of study, "toy", for commands without any real work; and a small town's table."""

import csv
import json
import random
import signal
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, ConfigDict, Field

from narcissus.errors import InputError
from narcissus.kinds.layout import Layout
from narcissus.report import Page, Verdict
from narcissus.report.about import Subject
from narcissus.report.first_screen import NO_GROUPS, Glance
from narcissus.report.reach import Reach
from narcissus.results import NotAssessed
from narcissus.rows import Findings, Quantity, StudyCriterion, StudyResult, StudyRow
from narcissus.study.kinds import KINDS, Outcome

ANSWER = StudyCriterion(of="answer")
ANSWERED = StudyRow(role="measure", of="", quantity=Quantity(value=1.0, grade="proved"))


class Toy(BaseModel):
    model_config = ConfigDict(extra="forbid")
    status: str = "met"
    trials: int = Field(20, ge=1)


class ToyResult(StudyResult):
    answer: int

    def rows(self):
        yield ANSWERED


class ToyKind:
    model = Toy
    result = ToyResult
    layout = "narcissus_toy:layout"

    def __init__(self):
        self.options = []

    def judged(self, record):
        """Take a record at its word."""
        case = SimpleNamespace(
            status=record.status, grade=record.grade, assumptions=tuple(record.assumptions),
            contradictions=tuple(record.contradictions), findings=record, unaccounted=(),
            decision=None, decided_by=None,
        )  # fmt: skip
        case.alone = case
        return case

    def is_of_people(self, study):
        return False

    def sizes(self, case):
        return []

    def check(self, study, folder, observer):
        if study.trials == 13:
            raise InputError("`trials` must not be 13")

    def play(self, study, folder, options):
        self.options.append(options)
        options.observer.start("trials", study.trials)
        for _ in range(study.trials):
            options.observer.advance()
        options.observer.finish()
        if study.status == "interrupt":
            signal.raise_signal(signal.SIGINT)
        remarks = [NotAssessed("A proof", "there is none", "Ask again")]
        return Outcome(
            title="A toy",
            status=study.status,
            findings=Findings((ANSWER,), (ANSWERED,), ToyResult(answer=options.entropy % 1000)),
            assessed=["the toy"],
            not_assessed=remarks if study.status == "not assessed" else [],
        )


class ToyLayout(Layout):
    def assessed(self, case):
        return ["the toy"]

    def page(self, record, case):
        return Page(record.title, "", Verdict(record.status, ""))

    def numbers(self, case):
        return []

    def glance(self, case):
        said = Reach("The toy was played.")
        return Glance("toys", said, said, None, "Nothing is limited.", NO_GROUPS, "everything else")

    def subject(self, record, case):
        return Subject("A toy.")


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Register the kind, go to an empty folder, and give (kind, function that writes a study)."""
    module = types.ModuleType("narcissus_toy")
    module.kind, module.layout = ToyKind(), ToyLayout()
    monkeypatch.setitem(sys.modules, "narcissus_toy", module)
    monkeypatch.setitem(KINDS, "toy", "narcissus_toy:kind")
    monkeypatch.chdir(tmp_path)

    def write(name="toy.toml", **keys):
        lines = [f"{key} = {value!r}" for key, value in {"kind": "toy", **keys}.items()]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    return module.kind, write


@pytest.fixture
def refused(narcissus):
    """Run words that are refused, and give the error."""

    def run(*words, silent=True):
        code, out, err = narcissus(*words)
        assert code == 2
        assert not (silent and out)
        assert "Traceback" not in err
        return err

    return run


@pytest.fixture
def call(narcissus):
    """Run a line, and more arguments that may hold blanks."""
    return lambda line, *more: narcissus(*line.split(), *more)


@pytest.fixture
def answer(call):
    """Run a line with --json and give what it prints."""

    def run(line: str, *more: str) -> dict:
        code, out, err = call(line + " --json", *more)
        assert code == 0, err
        assert not err
        return json.loads(out)

    return run


@pytest.fixture
def one_error(call):
    """Run a line and see that it ends in one error, which names an option."""

    def check(line, option):
        code, out, err = call(line)
        assert code == 2
        assert not out
        assert option in err
        assert "Traceback" not in err
        assert len(err.strip().splitlines()) == 1

    return check


TOWN = """
title = "A small town"
[data]
path = "people.csv"
[threat]
unknown = ["smokes"]
targets = 20
[mechanism]
k = 2
epsilon = {epsilon}
[attacks]
prior = {{}}
posterior = {{}}
ceiling = {{}}
[groups]
columns = ["town"]
[run]
trials = 4
seed = 1
workers = 1
"""


@pytest.fixture
def town(tmp_path, monkeypatch):
    """Write a table of 200 people, and give a function that writes a study of it."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(7)
    with open("people.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["town", "age", "smokes"])
        for _ in range(200):
            age = chance.choice(["young", "middle", "old"])
            smokes = chance.random() < {"young": 0.2, "middle": 0.5, "old": 0.7}[age]
            out.writerow([chance.choice("AB"), age, "yes" if smokes else "no"])

    def write(epsilon="[1, inf]", more=""):
        Path("town.toml").write_text(TOWN.format(epsilon=epsilon) + more)
        return "town.toml"

    return write
