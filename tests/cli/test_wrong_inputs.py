"""Fifty wrong inputs, each with its message: what is wrong, where, what was given, what to do.

The table is `wrong_inputs.txt`; UPDATE_GOLDEN=1 writes it. Read it aloud before it is committed.
"""

import os
import re
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("wrong_inputs.txt")
PEOPLE = "age,sex,ill\n" + "".join(
    f"{20 + 7 * i % 60},{'fm'[i % 2]},{'no' if i % 3 else 'yes'}\n" for i in range(60)
)
STUDY = """[data]
path = "people.csv"
bins.age = { width = 20 }
[threat]
unknown = ["ill"]
targets = 5
[mechanism]
k = 2
epsilon = 1.0
delta = 1e-5
[run]
trials = 2
seed = 1
"""
SYNTH = "synth people.csv made.csv --control control.csv --unknown ill"


def study(old, new):
    assert old in STUDY
    return {"study.toml": STUDY.replace(old, new)}


def people(row, number=3):
    lines = PEOPLE.splitlines()
    lines[number] = row
    return {"people.csv": "\n".join(lines) + "\n"}


AUDIT = "audit study.toml"
CASES = {
    # a study file
    "no study": ("audit missing.toml", {}),
    "not TOML": (AUDIT, study("[threat]", "[threat")),
    "unknown key": (AUDIT, study("targets = 5", "target = 5")),
    "unknown section": (AUDIT, study("[threat]", "[treat]")),
    "unknown kind": (AUDIT, {"study.toml": 'kind = "tabel"\n' + STUDY}),
    "text for a number": (AUDIT, study("epsilon = 1.0", 'epsilon = "one"')),
    "negative epsilon": (AUDIT, study("epsilon = 1.0", "epsilon = -1.0")),
    "delta of one": (AUDIT, study("delta = 1e-5", "delta = 1.0")),
    "delta of text": (AUDIT, study("delta = 1e-5", 'delta = "small"')),
    "no unknown column": (AUDIT, study('["ill"]', "[]")),
    "unknown column missing": (AUDIT, study('["ill"]', '["il"]')),
    "no targets": (AUDIT, study("targets = 5", "targets = 0")),
    "too many columns a table": (AUDIT, study("k = 2", "k = 9")),
    "no trials": (AUDIT, study("trials = 2", "trials = 0")),
    "fractions of trials": (AUDIT, study("trials = 2", "trials = 2.5")),
    "no data": (AUDIT, study('path = "people.csv"', "")),
    "data missing": (AUDIT, study("people.csv", "peple.csv")),
    "bins of width 0": (AUDIT, study("width = 20", "width = 0")),
    "bins of no column": (AUDIT, study("bins.age", "bins.aeg")),
    "unknown attack": (AUDIT, {"study.toml": STUDY + "[attacks]\nposteriour = {}\n"}),
    "unknown threshold": (AUDIT, {"study.toml": STUDY + "[threshold]\nshar = 0.5\n"}),
    "threshold of 2": (AUDIT, {"study.toml": STUDY + "[threshold]\nshare = 2.0\n"}),
    # a table
    "empty table": (AUDIT, {"people.csv": ""}),
    "a head alone": (AUDIT, {"people.csv": "age,sex,ill\n"}),
    "a short row": (AUDIT, people("27,m")),
    "a long row": (AUDIT, people("27,m,no,yes")),
    "an open quote": (AUDIT, people('27,"m,no')),
    "no number": (AUDIT, people("n/a,m,no")),
    "a missing value": (AUDIT, people(",m,no")),
    "two columns of a name": (AUDIT, {"people.csv": PEOPLE.replace("age,sex", "sex,sex")}),
    "bytes": (AUDIT, {"people.csv": b"age,sex,ill\n\xff\xfe\x00,m,no\n"}),
    # given files
    "no synthetic file": ("synth people.csv none.csv", {}),
    "other columns": (SYNTH, {"made.csv": "a,b,c\n1,2,3\n"}),
    "an empty synthetic file": (SYNTH, {"made.csv": "age,sex,ill\n"}),
    "no such column": (SYNTH.replace("ill", "sick"), {}),
    "excess above one": (f"{SYNTH} --at-most 7", {}),
    # options
    "no command": ("aduit study.toml", {}),
    "a table that is not there": ("poeple.csv", {}),
    "a study for a command": ("study.toml --sede 1", {}),
    "a table for a study": ("audit people.csv", {}),
    "no option": (f"{AUDIT} --worker 2", {}),
    "seed of text": (f"{AUDIT} --seed x", {}),
    "no workers": (f"{AUDIT} --workers 0", {}),
    "unknown engine": (f"{AUDIT} --engine proceses", {}),
    "bound without guarantee": ("bound --prior 0.1", {}),
    "prior above one": ("bound --epsilon 1 --prior 1.5", {}),
    "two guarantees": ("bound --epsilon 1 --mu 1 --prior 0.1", {}),
    "no report": ("report nowhere", {}),
    "a report of no record": ("report people.csv", {}),
    "two forms": ("report people.csv --statement x.md --json", {}),
    "more correct than guesses": ("refute --canaries 10 --guesses 5 --correct 6", {}),
    "channel that does not add up": ("channel c.csv", {"c.csv": "secret,x,y\na,0.5,0.4\nb,0,1\n"}),
    "channel below zero": ("channel c.csv", {"c.csv": "secret,x,y\na,-0.5,1.5\nb,0,1\n"}),
    "compared without a record": ("report people.csv people.csv", {}),
    "unknown example": ("init --example audit-a-tabel", {}),
    "a command of before": ("examples audit-a-table", {}),
    "a command of the papers": ("reproduce 001 --list", {}),
}


@pytest.fixture
def message(tmp_path, monkeypatch, narcissus):
    """Run a case in a folder of its own, and give its exit code and its message."""

    def run(name):
        words, files = CASES[name]
        monkeypatch.chdir(tmp_path)
        files = {"study.toml": STUDY, "people.csv": PEOPLE, "made.csv": PEOPLE,
                 "control.csv": PEOPLE} | files  # fmt: skip
        for path, text in files.items():
            raw = text if isinstance(text, bytes) else text.encode()
            (tmp_path / path).write_bytes(raw)
        code, out, err = narcissus(*words.split())
        assert "Traceback" not in err + out
        return code, err.replace(str(tmp_path), "FOLDER").strip()

    return run


def kept():
    found = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    return dict(re.findall(r"^## (.+?)\n.*?\n\n(.*?)\n(?=\n## |\Z)", found, re.S | re.M))


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_input_has_its_message_and_ends_with_2(name, message):
    code, err = message(name)
    assert code == 2, err
    if os.environ.get("UPDATE_GOLDEN"):
        said = kept() | {name: err}
        parts = [f"## {one}\n$ narcissus {CASES[one][0]}\n\n{said[one]}\n"
                 for one in CASES if one in said]  # fmt: skip
        TABLE.write_text("\n".join(parts), encoding="utf-8")
    assert err == kept()[name]


def test_there_are_fifty_and_each_is_short_and_says_what_was_given():
    found = kept()
    assert list(found) == list(CASES)
    assert len(CASES) >= 50
    for name, text in found.items():
        assert re.search(r"^(error: |Error: )\S", text, re.M), name
        assert len(text) < 900, name
