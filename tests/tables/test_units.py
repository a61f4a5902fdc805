"""One row of each person or household: which, how many, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.errors import InputError
from narcissus.report import page_of
from narcissus.tables.read import read_one_of_each

ROWS = pd.DataFrame({
    "house": np.repeat(np.arange(300), 3), "age": np.arange(900) % 90, "sex": ["f", "m", "f"] * 300,
})  # fmt: skip


def records(table):
    return sorted(
        tuple(column[code] for column, code in zip(table.labels, row, strict=True))
        for row in table.codes
    )


@pytest.mark.parametrize("how", [{}, {"columns": ["age", "sex"]}, {"drop": ["house"]}])
def test_one_row_of_each_is_kept_in_any_order_of_the_rows(how):
    first = read_one_of_each(ROWS, "house", **how)
    again = read_one_of_each(ROWS.sample(frac=1, random_state=3), "house", **how)
    assert first.names == ("age", "sex")
    assert first.rows == 300
    assert records(first) == records(again)
    assert "300 of 900 rows" in first.remarks[-1]


def test_each_row_of_a_household_is_as_likely():
    table = read_one_of_each(ROWS.assign(which=["a", "b", "c"] * 300), "house")
    counts = np.bincount(table.codes[:, table.index("which")])
    assert counts.sum() == 300
    assert counts.min() > 60


def test_equal_numbers_name_one_household(tmp_path):
    (tmp_path / "t.csv").write_text("house,age\n1,30\n1.0,31\n02,40\n2,41\nx,50\n")
    assert read_one_of_each(tmp_path / "t.csv", "house").rows == 3


def test_rows_with_gaps_are_dropped_first():
    table = ROWS.assign(age=ROWS["age"].where(ROWS["house"] != 7))
    assert read_one_of_each(table, "house", missing="drop").rows == 299
    with pytest.raises(InputError, match="missing"):
        read_one_of_each(table, "house", missing="refuse")


@pytest.mark.parametrize(
    ("table", "unit", "said"),
    [
        (ROWS, "hose", "did you mean `house`"),
        (ROWS[["house"]], "house", "no column next to the unit"),
        (ROWS.assign(house=ROWS["house"].where(ROWS.index != 4)), "house", "row 5 has no `house`"),
        (narcissus.read_table(ROWS[["age", "sex"]]), "age", "read already"),
    ],
)
def test_what_cannot_be_used_is_refused(table, unit, said):
    with pytest.raises(InputError, match=said):
        read_one_of_each(table, unit)


def audit(tmp_path, **how):
    return narcissus.audit(
        ROWS, unknown=["sex"], k=1, epsilon=1, trials=2, rng=1, folder=tmp_path, **how
    )


def test_a_study_of_a_table_counts_households(tmp_path):
    record = audit(tmp_path, unit="house", people="all").record
    assert any("300 of 900 rows" in line for line in record.assessed)
    assert any("a release of all rows of a `house`" in one.quantity for one in record.not_assessed)
    assert record.study["data"]["unit"] == "house"
    plain = narcissus.audit(ROWS, drop=["house"], unknown=["sex"], k=1, epsilon=1, trials=2, rng=1)
    assert "unit" not in plain.record.study["data"]


def test_a_release_of_all_rows_is_not_read_beside_a_unit(tmp_path):
    (tmp_path / "r.csv").write_text("age,sex,count\n1,f,3\n")
    with pytest.raises(InputError, match="`unit` keeps one of each `house`"):
        audit(tmp_path, unit="house", release=str(tmp_path / "r.csv"))


def test_a_verdict_in_favour_says_that_one_row_of_each_is_released():
    """A household with five rows in the release loses more than the audit says."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame(rng.integers(0, 3, (900, 3)).astype(str), columns=["a", "b", "sex"])
    people["house"] = rng.permutation(np.repeat(np.arange(300), 3))
    study = {"unknown": ["sex"], "k": 1, "epsilon": 1, "trials": 40, "unit": "house"}
    found = narcissus.audit(people, **study, threshold={"advantage": 0.9}, rng=1)
    first = page_of(found.record).first
    assert first.status in ("met", "undeclared")
    assert "This holds if one row of each `house` is released, and no more." in first.answer
