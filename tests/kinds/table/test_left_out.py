"""Columns that `init` leaves out are examined; what tells of the secret is asked for."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.table import kind, tested, trees
from narcissus.kinds.table.held_out import ERROR, GUESSERS, SURE
from narcissus.kinds.table.kind import prepare
from narcissus.observer import SILENT
from narcissus.report.about import verdict_of
from narcissus.study import load_study
from narcissus.study.reading import read_record
from narcissus.tables import read_table

ROWS = 800
ALL_TREES = trees.TREES
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


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Grow few trees: all that is said here is said as well by them."""
    monkeypatch.setattr(trees, "TREES", 6)


def examined(*, left_out=("case_id",), drop=(), unknown="diagnosis", bins_only=(), **more):
    """Return what the rows of people.csv say of a study that leaves columns out."""
    study = load_study({
        "data": {"path": "people.csv", "bins": {"age": {"width": 5}}, "drop": list(drop),
                 "left_out": dict.fromkeys(left_out, "a code"), **more},
        "threat": {"unknown": [unknown], "bins_only": list(bins_only)},
        "prior": {"name": "bayesian-network", "parents": 2},
        "mechanism": {"k": 2, "epsilon": 0.1},
        "attacks": {"prior": {}},
    }, folder=Path()).settings  # fmt: skip
    return tested.tested_at(study, Path(), prepare(study, Path(), 1, SILENT), SILENT)


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
def test_what_tells_nothing_more_is_accounted_for(people, make):
    people(case_id=make)
    found = examined()
    assert (found.is_refuted, found.unaccounted, found.examined) == (False, (), ("case_id",))


@pytest.mark.parametrize("make", [late_numbers, notes])
def test_what_tells_of_the_secret_is_open(people, make):
    people(plain_id=plain_number, case_id=make)
    [left] = examined(left_out=["plain_id", "case_id"]).unaccounted
    assert left.subject == "column `case_id`"
    assert examined(left_out=["plain_id"], drop=["case_id"]).unaccounted == ()


def test_what_refutes_the_prior_is_open_however_little_it_adds(people, monkeypatch):
    """Only where known columns refute it already is it no matter of what was left out."""
    monkeypatch.setattr("narcissus.kinds.table.left_out.is_better", lambda *_: False)
    people(plain_id=plain_number, case_id=notes)
    found = examined(left_out=["plain_id", "case_id"])
    assert not found.is_refuted
    assert [one.subject for one in found.unaccounted] == ["column `case_id`"]


def test_what_tells_of_the_secret_waits_for_one_declaration(people, narcissus):
    """Issue 45: what was left out in silence never counts in favour."""
    people(plain_id=plain_number, case_id=clinic_in_the_number)
    code, record = audited(narcissus)
    assert (code, record.status) == (3, "undeclared")
    assert list(record.study["data"]["left_out"]) == ["plain_id", "case_id"]
    [left] = record.result.unaccounted
    assert left.subject == "column `case_id`"
    assert '`drop = ["case_id"]` in [data]' in left.declaration
    assert "case_id" in verdict_of(record)
    code, record = audited(narcissus, declared=["case_id"])
    assert (code, record.status, record.result.examined) == (0, "met", ("plain_id",))
    _, out, _ = narcissus("report", "results/people/record.json", "--text")
    said = " ".join(out.split())
    assert (
        "Examined and left out: plain_id, exact values behind bins, the order of rows. We tried "
        "letters, digits" in said
    )
    assert "Another function of these values could tell more" in said


@pytest.mark.parametrize(("make", "is_open"), [(plain_number, False), (notes, True)])
def test_rows_that_are_left_out_are_left_out_here_too(people, make, is_open):
    """The values stand beside the rows that are kept, where rows with gaps are not."""
    people(case_id=make)
    frame = pd.read_csv("people.csv", dtype=str)
    frame.loc[::7, "town"] = None
    frame.to_csv("people.csv", index=False)
    assert bool(examined(missing="drop").unaccounted) == is_open


def number_of_patients(rng, ill, towns):
    """Three stays of a patient, in rows anywhere: the number tells nothing of an illness."""
    return rng.permutation(np.repeat(np.arange(10_000, 10_000 + ROWS // 3 + 1), 3)[:ROWS])


def test_rows_of_one_person_wait_for_a_declaration(people):
    """A bound for each row is none for a person who has several: nobody would be covered."""
    people(patient_id=number_of_patients)
    [gap] = examined(left_out=("patient_id",)).unaccounted
    assert gap.subject == "the rows of each `patient_id`"
    assert gap.declaration.startswith('`unit = "patient_id"` in [data]')
    assert not examined(left_out=(), drop=("patient_id",)).unaccounted
    assert not examined(left_out=(), unit="patient_id").unaccounted
    people(patient_id=lambda rng, ill, towns: rng.permutation(ROWS) + 10_000)
    assert not examined(left_out=("patient_id",)).unaccounted


def letter_inside(rng, ill, towns):
    return [
        f"{n:05}-{'XK'[ill[k]]}{n % 89:02}" for k, n in enumerate(rng.permutation(10**5)[:ROWS])
    ]


def remainder(rng, ill, towns):
    return 7 * rng.permutation(10**5)[:ROWS] + np.where(ill == 1, 3, 5)


def remainder_with_the_town(rng, ill, towns):
    """Return numbers that tell the secret together with what is known, and not alone."""
    return 5 * rng.permutation(10**5)[:ROWS] + (towns + 2 * ill) % 5


@pytest.mark.parametrize("make", [letter_inside, remainder, remainder_with_the_town])
def test_a_code_is_read_at_every_place(people, make):
    """A case number whose letter gives the diagnosis of 93 of 100 people was *met*."""
    people(case_id=make)
    assert [one.subject for one in examined().unaccounted] == ["column `case_id`"]


def test_two_columns_that_tell_together_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    phone, tax, faith = rng.permutation(10**6), rng.permutation(10**6), rng.integers(0, 3, ROWS)
    frame = pd.DataFrame({"phone": phone[:ROWS], "age": rng.integers(0, 90, ROWS)})
    frame["tax"] = 3 * (tax[:ROWS] // 3) + (faith - frame.phone) % 3
    frame["religion"] = faith
    frame.to_csv("people.csv", index=False)
    bins = {"age": {"width": 10}, "tax": {"width": 100_000}}
    found = examined(left_out=["phone"], unknown="religion", bins=bins)
    assert [one.subject for one in found.unaccounted] == [
        "column `phone`", "the exact value of `tax`"
    ]  # fmt: skip


def night_in_a_time(rng, ill, towns):
    """Return when people came: those who are ill by night."""
    minutes = 1440 * rng.integers(0, 700, ROWS) + 720 * ill + rng.integers(0, 720, ROWS)
    moments = pd.Timestamp("2021-01-01") + pd.to_timedelta(minutes, unit="min")
    return moments.strftime("%d.%m.%Y %H:%M")


def night_in_seconds(rng, ill, towns):
    days = 18_628 + rng.integers(0, 700, ROWS)
    return 86_400 * days + 43_200 * ill + rng.integers(0, 43_200, ROWS)


def sum_of_digits(rng, ill, towns):
    numbers = rng.permutation(10**6)[:ROWS]
    return [
        10 * n + (sum(map(int, str(n))) + sick) % 2 for n, sick in zip(numbers, ill, strict=True)
    ]


@pytest.mark.parametrize("make", [night_in_a_time, night_in_seconds, sum_of_digits])
def test_times_and_sums_of_digits_are_read(people, make):
    """A visit's date with its time told a secret of the night for everybody, and was *met*."""
    people(visit=make)
    [left] = examined(left_out=["visit"]).unaccounted
    assert left.subject == "column `visit`"


def test_columns_that_tell_are_asked_for_in_one_declaration(people):
    people(visit=night_in_a_time, case_id=clinic_in_the_number)
    [left] = examined(left_out=["visit", "case_id"]).unaccounted
    assert left.subject == "columns `visit` and `case_id`"
    assert left.declaration.startswith('`drop = ["visit", "case_id"]` in [data]')
    assert left.is_plural
    assert examined(left_out=(), drop=["visit", "case_id"]).unaccounted == ()


def test_a_total_behind_bins_is_examined(tmp_path, monkeypatch):
    """A total less its three items told the secret of everybody, and bins hid it: *met*."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(9)
    items = np.exp(rng.normal(6, 0.5, (3, ROWS))).round(2)
    alcohol = np.exp(rng.normal(3, 0.8, ROWS)).round(2)
    frame = pd.DataFrame({f"item{k}": item for k, item in enumerate(items)})
    frame["total"] = (items.sum(axis=0) + alcohol).round(2)
    frame["alcohol"] = np.searchsorted([10, 20, 40], alcohol)
    frame.to_csv("people.csv", index=False)
    bins = {name: {"quantiles": 4} for name in frame if name != "alcohol"}
    [left] = examined(left_out=(), unknown="alcohol", bins=bins).unaccounted
    assert left.subject == "the exact values of `item0`, `item1`, `item2` and `total`"


def households(path, *, seed=3):
    """Write people of whom those with one rent live together and have one religion."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 700)
    home = np.repeat(np.arange(700), sizes)
    rent, built, faith = (
        rng.integers(300, 3000, 700),
        rng.integers(1950, 2020, 700),
        rng.integers(0, 3, 700),
    )
    frame = pd.DataFrame({"rent": rent[home], "built": built[home], "religion": faith[home]})
    frame["age"] = rng.integers(0, 90, len(frame))
    frame.iloc[rng.permutation(len(frame))].to_csv(path, index=False)


BINS = {"rent": {"width": 500}, "built": {"width": 10}, "age": {"width": 10}}


def test_exact_values_behind_bins_are_examined(tmp_path, monkeypatch):
    """Households by rent and year tell 90 of 100 secrets, and bins of 500 hid it: *met*."""
    monkeypatch.chdir(tmp_path)
    households("people.csv")
    [left] = examined(left_out=(), unknown="religion", bins=BINS).unaccounted
    assert "`rent`" in left.subject
    assert "`age`" not in left.subject
    assert 'bins_only = ["rent"' in left.declaration
    hidden = ["rent", "built"]
    found = examined(left_out=(), unknown="religion", bins=BINS, bins_only=hidden)
    assert found.unaccounted == ()


def in_bins(narcissus, study, **threat):
    path = study(
        data={"path": "people.csv", "bins": BINS},
        threat={"unknown": ["religion"], "targets": 100, **threat},
        mechanism={"k": 2, "epsilon": 0.05},
        run={"trials": 5, "seed": 2},
        threshold={"share": 0.95},
    )
    code, _, err = narcissus("audit", path, "--quiet", "--restart")
    assert code in (0, 1, 3), err
    return code, read_record("results/s/record.json")


@pytest.mark.nightly
def test_exact_values_behind_bins_decide_the_verdict(study, narcissus, tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "TREES", ALL_TREES)
    monkeypatch.chdir(tmp_path)
    households("people.csv")
    code, record = in_bins(narcissus, study)
    assert (code, record.status) == (3, "undeclared")
    assert "`rent`" in record.result.unaccounted[0].subject
    code, record = in_bins(narcissus, study, bins_only=["rent", "built"])
    assert (code, record.status) == (0, "met")


def test_bins_that_hide_nothing_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    age = rng.integers(0, 90, ROWS)
    rent, built = rng.integers(300, 3000, ROWS), rng.integers(1950, 2020, ROWS)
    faith = (rng.random(ROWS) < 0.2 + 0.05 * (age // 10)).astype(int)
    frame = pd.DataFrame({"rent": rent, "built": built, "age": age, "religion": faith})
    frame.to_csv("people.csv", index=False)
    found = examined(left_out=(), unknown="religion", bins=BINS)
    assert (found.is_refuted, found.unaccounted) == (False, ())


def test_only_bins_that_are_made_are_declared(study, narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    households("people.csv")
    path = study(
        data={"path": "people.csv", "bins": BINS},
        threat={"unknown": ["religion"], "bins_only": ["rents"]},
        mechanism={"k": 2, "epsilon": 0.05},
    )
    code, _, err = narcissus("audit", path, "--quiet")
    assert code == 2
    assert "`rents` has no bins" in err


def right_prior(seed):
    """Return an experiment and its table's further columns, which tell no more than the prior."""
    rng = np.random.default_rng(seed)
    rows = 300
    age, rent = rng.integers(18, 98, rows), rng.lognormal(6.5, 0.5, rows).round().astype(int)
    ill = (rng.random(rows) < 0.15 + 0.1 * (age // 20)).astype(int)
    codes = [f"{k:05}-{chr(65 + k % 26)}" for k in rng.permutation(10**5)[:rows]]
    frame = pd.DataFrame({"code": codes, "age": age, "rent": rent, "ill": ill})
    frame.to_csv("people.csv", index=False)
    bins = {"age": {"width": 20}, "rent": {"quantiles": 5}}
    study = load_study(
        {
            "data": {"path": "people.csv", "bins": bins, "left_out": {"code": "a code"}},
            "threat": {"unknown": ["ill"]},
            "prior": {"name": "bayesian-network", "parents": 2},
            "mechanism": {"name": "marginals", "k": 2, "epsilon": [0.1]},
        },
        folder=Path(),
    ).settings
    experiment = prepare(study, Path(), seed, SILENT)
    return tested.tested_at(study, Path(), experiment, SILENT)


@pytest.mark.repeats(4, 15)
def test_a_right_prior_leaves_hardly_anything_open(tmp_path, monkeypatch, repeats):
    """All guessers together fail with chance .008: of 15 tables two or more do with .007."""
    monkeypatch.chdir(tmp_path)
    tests = [right_prior(seed) for seed in range(repeats)]
    assert sum(bool(test.unaccounted) or test.is_refuted for test in tests) < 2
    assert sum(test.examined == ("code",) for test in tests) >= repeats - 1


def test_the_guessers_share_one_error():
    """Six test the prior, five examine values, five the order; a right one is seldom refuted."""
    assert GUESSERS >= 6 + 5 + 5
    assert pytest.approx(ERROR) == GUESSERS * (1 - SURE)


# Tables that are counted, not held row by row


@pytest.fixture
def counted(monkeypatch):
    """Count every table, as those of more than two million rows are."""
    monkeypatch.setattr(kind, "read_table", partial(read_table, count_above=100))


@pytest.mark.parametrize(("make", "is_open"), [(plain_number, False), (notes, True)])
def test_a_large_table_is_examined_in_a_sample(people, counted, make, is_open):
    people(case_id=make)
    assert bool(examined().unaccounted) == is_open


def test_a_large_table_says_how_many_rows_were_examined(people, counted, monkeypatch):
    monkeypatch.setattr("narcissus.tables.counted.EXAMINED", 500)
    monkeypatch.setattr("narcissus.kinds.table.held_out.LOOKED_UP", 400)
    monkeypatch.setattr(tested, "LOOKED_UP", 400)
    people(case_id=plain_number)
    found = examined()
    said = " ".join(found.scope)
    assert "The prior, on 400 of 800 rows of the table, drawn at random" in said
    assert "What is left out or in bins, on 500 of 800 rows of the table, drawn at random" in said
    assert "The order of the rows, on the first 500 of 800" in said
    assert examined() == found


def test_a_large_table_has_its_bins_and_its_order_examined(tmp_path, monkeypatch, counted):
    monkeypatch.chdir(tmp_path)
    households("people.csv")
    [left] = examined(left_out=(), unknown="religion", bins=BINS).unaccounted
    assert "`rent`" in left.subject
    frame = pd.read_csv("people.csv").sort_values(["built", "rent"])
    frame["religion"] = np.repeat(np.arange(len(frame)), 7)[: len(frame)] % 3
    frame.to_csv("people.csv", index=False)
    found = examined(left_out=(), unknown="religion", bins=BINS)
    assert "the order of the rows" in [one.subject for one in found.unaccounted]
