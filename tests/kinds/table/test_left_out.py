"""Columns that `init` leaves out are examined; what tells of the secret is asked for."""

import json

import numpy as np
import pandas as pd
import pytest

from narcissus.study.reading import read_record

ROWS = 1500
WORDS = ["seen", "today", "again", "later", "with", "family", "alone", "walking", "slowly", "well"]


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Give a function that writes a table with another column, and what is in it."""
    monkeypatch.chdir(tmp_path)

    def write(**more):
        rng = np.random.default_rng(7)
        ages, towns = rng.integers(20, 80, ROWS), rng.integers(0, 5, ROWS)
        ill = (rng.random(ROWS) < 0.1 + 0.4 * (ages > 55)).astype(int)
        made = {name: make(rng, ill, towns) for name, make in more.items()}
        frame = pd.DataFrame({**made, "age": ages, "town": towns, "diagnosis": ill})
        frame.to_csv("people.csv", index=False)

    return write


def audited(narcissus, *, declared=()):
    code, _, err = narcissus("init", "people.csv", "--epsilon", "0.1", "--yes", "--force")
    assert code == 0, err
    with open("people.toml") as file:
        text = file.read().replace("trials = 100", "trials = 10")
    if declared:
        text = text.replace("[data]\n", f"[data]\ndrop = {json.dumps(list(declared))}\n")
    with open("people.toml", "w") as file:
        file.write(f"{text}\n[threshold]\nadvantage = 0.4\n")
    code, _, err = narcissus("audit", "people.toml", "--quiet", "--restart")
    assert code in (0, 1, 3), err
    return code, read_record("results/people/record.json")


def plain_number(rng, ill, towns):
    return rng.permutation(10**6)[:ROWS]


def ward_in_the_number(rng, ill, towns):
    """Return numbers that begin with what is known: the town."""
    return [f"{towns[k]}{n:06}" for k, n in enumerate(rng.permutation(10**6)[:ROWS])]


def clinic_in_the_number(rng, ill, towns):
    return [f"{'KA'[ill[k]]}{n:06}" for k, n in enumerate(rng.permutation(10**6)[:ROWS])]


def late_numbers(rng, ill, towns):
    """Return numbers that are larger for those who are ill: they came later."""
    return rng.permutation(10**6)[:ROWS] // 2 + 500_000 * ill


def notes(rng, ill, towns):
    return [
        f"{' '.join(rng.choice(WORDS, 7))} {'insulin' if sick and rng.random() < 0.9 else 'rest'}"
        for sick in ill
    ]


def harmless_notes(rng, ill, towns):
    return [" ".join(rng.choice(WORDS, 9)) for _ in ill]


@pytest.mark.parametrize("make", [plain_number, ward_in_the_number, harmless_notes])
def test_what_tells_nothing_more_is_accounted_for(people, narcissus, make):
    people(case_id=make)
    code, record = audited(narcissus)
    assert (code, record.status) == (0, "met")
    assert list(record.study["data"]["left_out"]) == ["case_id"]


@pytest.mark.parametrize("make", [clinic_in_the_number, late_numbers, notes])
def test_what_tells_of_the_secret_waits_for_one_declaration(people, narcissus, make):
    """Issue 45: what was left out in silence never counts in favour."""
    people(plain_id=plain_number, case_id=make)
    code, record = audited(narcissus)
    assert (code, record.status) == (3, "undeclared")
    [left] = record.detail.unaccounted
    assert left.subject == "column `case_id`"
    assert '`drop = ["case_id"]` in [data]' in left.declaration
    assert "case_id" in record.verdict
    code, record = audited(narcissus, declared=["case_id"])
    assert (code, record.status) == (0, "met")


def test_rows_that_are_not_those_of_the_file_are_not_examined(people, narcissus):
    people(case_id=plain_number)
    code, _, _ = narcissus("init", "people.csv", "--epsilon", "0.1", "--yes")
    assert code == 0
    with open("people.toml") as file:
        text = file.read().replace("[data]\n", '[data]\nmissing = "drop"\n')
    with open("people.toml", "w") as file:
        file.write(f"{text}\n[threshold]\nadvantage = 0.4\n")
    code, _, _ = narcissus("audit", "people.toml", "--quiet")
    record = read_record("results/people/record.json")
    assert (code, record.status) == (3, "undeclared")
    assert "not those of the file" in record.detail.unaccounted[0].reason
