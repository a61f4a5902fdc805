"""The text of a proposed study: it is one, and says why."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import pytest

from narcissus.study import load_study
from narcissus.study.table.propose import draft, named, propose, summary
from narcissus.tables.parts import sketch_table

RNG = np.random.default_rng(3)
ROWS = 400
PEOPLE = {
    "": range(ROWS),
    "email": [f"p{i}@example.org" for i in range(ROWS)],
    "age": np.append(RNG.integers(18, 90, ROWS - 20), [999] * 20),
    "hours": [*RNG.integers(0, 80, ROWS - 1).astype(str), "N"],
    "sex": RNG.choice(["f", "m"], ROWS),
    "zip": 10_000 + RNG.geometric(0.03, ROWS),
    "job": RNG.choice(["a", "b", "?"], ROWS),
    "income": RNG.lognormal(10, 2, ROWS).round(),
    "diagnosis": RNG.choice(["flu", "none", None], ROWS),
}


def drafted(columns, path="people.csv", **more):
    return draft(propose(sketch_table(pd.DataFrame(columns)), **more), path)


def test_every_proposal_has_its_reason_and_the_study_is_one(tmp_path):
    pd.DataFrame(PEOPLE).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "s.toml").write_text(drafted(PEOPLE), encoding="utf-8")
    settings = load_study(tmp_path / "s.toml").settings
    assert settings.data.drop == ["", "email"]
    assert settings.data.missing == "category"
    assert set(settings.data.bins) == {"age", "hours", "zip", "income"}
    assert settings.data.bins["hours"].codes == ["N"]
    assert settings.threat.unknown == ["income", "diagnosis"]
    assert settings.threat.share_of_columns
    assert settings.threshold is None
    lines = (tmp_path / "s.toml").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        key = line.partition(" = ")[0].strip()
        if line.startswith("    ") or key in (*settings.data.bins, "missing", "unknown", "epsilon"):
            assert "#" in lines[number - 1] or "#" in line, line
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    for said in (
        "looks like an identifier by its name: 400 values",
        "no name: an index",
        "code for a missing value",
        "the 20 most common stay",
        '`job`: "?" (',
        "people) looks like a code",
        "Empty cells:",
        "each counts by itself",
    ):
        assert said in text.replace("\n# ", " "), said


def test_it_is_the_same_each_time():
    assert drafted(PEOPLE) == drafted(PEOPLE)


def test_a_name_stays_what_it_is_and_where_it_is():
    strange = 'q"x\n[run]\ntrials = 7 # \x7f'
    columns = {
        strange: RNG.integers(0, 90, ROWS),
        "é.b": RNG.choice(["u", "v"], ROWS),
        "c": [1] * 400,
    }
    text = drafted(columns, 'a "b"\\c.csv', unknown=["é.b"])
    found = tomllib.loads(text)
    assert found["data"]["path"] == 'a "b"\\c.csv'
    assert list(found["data"]["bins"]) == [strange]
    assert found["threat"]["unknown"] == ["é.b"]
    assert found["run"]["trials"] == 100


def test_a_packaged_table_and_levels():
    found = tomllib.loads(drafted(PEOPLE, "statsmodels:fair", epsilon=[0.5, float("inf")]))
    assert found["data"]["table"] == "statsmodels:fair"
    assert found["mechanism"]["epsilon"] == [0.5, float("inf")]


def test_what_was_not_looked_at_is_said(monkeypatch):
    monkeypatch.setattr("narcissus.tables.parts._CHUNK", 100)
    frame = pd.DataFrame({"a": ["x", "y"] * 200, "b": [1, 2] * 200})
    text = draft(propose(sketch_table(frame, rows=100)), "x.csv")
    assert "the first 100 rows of 400, and not the rest" in text.replace("\n# ", " ")
    assert 'missing = "category"' in text
    assert "No cell that was looked at is empty" in text


def test_one_column():
    text = drafted({"income": PEOPLE["income"]})
    assert "knows nothing else" in text
    assert tomllib.loads(text)["mechanism"]["k"] == 1


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "`a`"),
        ([""], '""'),
        (["a\nb"], '"a\\nb"'),
        ([str(i) for i in range(14)], "and 2 more"),
    ],
)
def test_names_in_comments(names, text):
    assert text in named(names)


def test_a_table_without_a_header_is_told():
    people = {"m": RNG.choice(["m", "f"], ROWS), "40": 20 + RNG.integers(0, 60, ROWS)}
    for more, told in (({}, True), ({"a": [1, 2] * 200, "b": [1, 2] * 200}, False)):
        frame = pd.DataFrame({**people, **more})
        lines = summary(propose(sketch_table(frame)))
        assert any(line.startswith("no header? `m`, `40` are values") for line in lines) == told


def test_the_summary():
    lines = summary(propose(sketch_table(pd.DataFrame(PEOPLE))))
    assert lines[0].startswith("unknown: `income`, `diagnosis`")
    assert 'left out: "", `email`' in lines
