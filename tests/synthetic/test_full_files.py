"""The published files whole: every column, under whatever name, to the last digit."""

from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.full_files import plain_words, read_whole
from narcissus.synthetic.traces import traces_of


def people(n=60, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "number": np.arange(1, n + 1),
        "case": rng.choice(90_000_000, n, replace=False) + 10_000_000,
        "note": [f"seen by {a} on {b}" for a, b in rng.integers(0, 10**6, (n, 2))],
        "income": np.exp(rng.normal(10, 1, n)),
        "region": rng.choice(["North", "South"], n),
    })  # fmt: skip


def column(files, name):
    return files.columns[files.names.index(name)]


def test_columns_that_name_people_are_known_by_their_values():
    found = read_whole(people(), people(seed=2))
    names = {c.name for c in found.columns if c.names_people}
    assert names == {"number", "case", "note"}
    assert {c.name for c in found.columns if c.is_dense} == {"number"}
    assert {c.name for c in found.columns if c.counts} == {"number"}


def test_no_column_is_left_out_or_binned():
    found = read_whole(people(), people())
    assert found.names == ("case", "income", "note", "number", "region")
    assert len(np.unique(column(found, "income").codes)) == 60
    assert read_whole(people(), people(), irrelevant=["note"]).names == (
        *("case", "income"),
        *("number", "region"),
    )


@pytest.mark.parametrize("name", ["Income ", "INCOME", "in_come", "earned"])
def test_a_column_under_another_name_is_found_by_spelling_or_values(name):
    found = read_whole(people(), people().rename(columns={"income": name}))
    assert "income" in found.names
    assert found.strange == ()


def test_a_column_of_the_file_alone_is_told_unless_it_says_nothing():
    made = people(seed=2).assign(
        weight=np.linspace(1, 2, 60), version="v1", position=np.arange(100, 160)
    )
    assert read_whole(people(), made).strange == ("weight",)
    assert read_whole(people(), made, irrelevant=["weight"]).strange == ()


def test_texts_are_one_in_any_case_and_with_any_blanks():
    made = people().assign(region=lambda f: " " + f["region"].str.upper() + "  ")
    codes = column(read_whole(people(), made), "region").codes
    assert sorted(codes[:60]) == sorted(codes[60:])
    assert len(np.unique(codes)) == 2


def test_dates_of_other_forms_are_one():
    days = pd.date_range("2020-01-03", periods=60, freq="D").to_series()
    real = people().assign(day=days.dt.strftime("%Y-%m-%d").to_numpy())
    for form in ("%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d"):
        codes = column(read_whole(real, real.assign(day=days.dt.strftime(form).to_numpy())), "day")
        assert sorted(codes.codes[:60]) == sorted(codes.codes[60:]), form


def test_rounding_is_told_once_for_all_columns():
    real = people().assign(height=lambda f: f["income"] / 7)
    found = read_whole(real, real.round(2))
    assert plain_words(found.columns) == ["`height`, `income` rounded to 2 decimal places"]
    assert set(found.covers) == {found.names.index("height"), found.names.index("income")}


def test_order_of_rows_and_columns_does_not_matter():
    real, made = people(), people(seed=2).round(1)
    one = read_whole(real, made)
    other = read_whole(real.sample(frac=1, random_state=1), made[made.columns[::-1]])
    for ours, theirs in zip(one.columns, other.columns, strict=True):
        assert (ours.codes == theirs.codes).all()


def groups(seed, **more):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, 100), unit="D")
    return pd.DataFrame({
        "height": np.round(rng.normal(170, 9, 100)), "sex": rng.choice(["male", "female"], 100),
        "at": days.strftime("%Y-%m-%d"),
    }).assign(**more)  # fmt: skip


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("height", "few numbers of the file lie among the data's"),
        ("sex", "none of the data's values: it may write other words"),
        ("at", "the data have dates, and the file has others or none"),
    ],
)
def test_a_column_written_so_that_nothing_agrees_is_told(column, reason):
    """Copies would not be found with it, and are by all other columns."""
    changes = {
        "height": lambda f: np.round(f["height"] / 2.54),
        "sex": lambda f: f["sex"].str[0],
        "at": lambda f: ["day " + text[-2:] for text in f["at"]],
    }
    made = groups(2, **{column: changes[column]})
    found = read_whole(groups(1), made)
    assert list(found.unread) == [column]
    assert reason in found.unread[column]
    assert column not in found.names
    assert read_whole(groups(1), groups(2)).unread == {}


def test_columns_that_name_people_need_nothing_in_common():
    made = people(seed=2).assign(number=np.arange(1001, 1061))
    made["note"] = "not " + made["note"]
    assert read_whole(people(), made).unread == {}


@pytest.mark.parametrize("column", ["height", "sex", "at"])
def test_a_column_without_any_value_in_the_data_agrees_with_none_in_the_file(column):
    found = read_whole(groups(1, **{column: None}), groups(2))
    assert found.unread == {}
    codes = found.column(column).codes
    assert len(set(codes[:100])) == 1
    assert len(set(codes[100:])) == groups(2)[column].nunique()
    assert not set(codes[:100]) & set(codes[100:])


def test_one_value_alone_needs_nothing_in_common():
    real, made = groups(1, year=2020), groups(2, year=2021)
    assert read_whole(real, made).unread == {}


def born(n, seed, form="%Y-%m-%d"):
    rng = np.random.default_rng(seed)
    days = rng.choice(9_000, n, replace=False)
    dates = pd.Timestamp("1960-01-01") + pd.to_timedelta(days, unit="D")
    return pd.DataFrame({"born": dates.strftime(form), "sex": rng.choice(["f", "m"], n)})


def test_dates_are_no_running_numbers():
    """Birthdays lie as close as case numbers do, and two people of one day are two people."""
    found = column(read_whole(born(300, 1), born(300, 2)), "born")
    assert not found.is_dense
    assert not found.names_people


@pytest.mark.parametrize("form", ["%Y", "%G-W%V", "%Y-%m", "born %Y"])
def test_dates_that_a_file_writes_coarsely_are_no_running_numbers(form):
    """Days one after the other number the rows of the data alone."""
    days = pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d")
    real = born(300, 1).assign(born=days)
    for made in (born(300, 2, form), real.assign(born=pd.to_datetime(days).strftime(form))):
        found = read_whole(real, made)
        assert all(c.numbers is not None for c in found.columns if c.is_dense)
        assert traces_of(found, ["sex"], [], entropy=1).each


def test_names_of_columns_are_one_with_letters_of_one_character_or_of_two():
    real, made = (people(seed=seed).rename(columns={"region": "Größe"}) for seed in (1, 2))
    assert "Größe" in read_whole(real, made.rename(columns=lambda n: normalize("NFD", n))).names


def test_other_units_of_a_part_of_the_rows_are_not_said_of_all():
    real, made = people(300), people(300, seed=2)
    part = made.assign(income=made["income"].round(2))
    part.loc[:99, "income"] = (real.loc[:99, "income"] / 1_000).round(5)
    (line,) = plain_words(read_whole(real.round(2), part).columns)
    assert line.endswith("in 100 of 300 rows")
    assert "other units" in line
