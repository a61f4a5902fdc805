"""Dates as programs number them, and as weeks and days of a year."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.days import dates_of, week_of
from narcissus.synthetic.full_files import read_whole


def numbered(start, step="D"):
    return lambda days: (days - pd.Timestamp(start)) // pd.Timedelta(1, step)


WAYS = {
    "spreadsheet": numbered("1899-12-30"),
    "old spreadsheet": numbered("1904-01-01"),
    "SAS and Stata": numbered("1960-01-01"),
    "SAS seconds": numbered("1960-01-01", "s"),
    "Stata milliseconds": numbered("1960-01-01", "ms"),
    "SPSS": lambda days: numbered("1970-01-01", "s")(days) + 12_219_379_200,
    "R": numbered("1970-01-01"),
    "Unix": numbered("1970-01-01", "s"),
    "digits": lambda days: days.dt.strftime("%Y%m%d").astype(int),
    "week and day": lambda days: days.dt.strftime("%G-W%V-%u"),
    "day of a year": lambda days: days.dt.strftime("%Y-%j"),
}


def born(n=200, seed=1):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, n), unit="D")
    return pd.Series(days), rng.choice(list("abc"), n)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_in_data", [False, True])
@pytest.mark.one_in(2)
def test_dates_are_those_of_the_other_file_however_a_program_numbers_them(way, is_in_data):
    days, ward = born()
    plain = pd.DataFrame({"born": days.dt.strftime("%Y-%m-%d"), "ward": ward})
    other = plain.assign(born=WAYS[way](days))
    real, made = (other, plain[:140]) if is_in_data else (plain, other[:140])
    codes = read_whole(real, made).column("born").codes
    assert np.isin(codes[200:], codes[:200]).all()


def test_dates_may_be_cut_to_their_week():
    days, ward = born()
    real = pd.DataFrame({"born": days.dt.strftime("%Y-%m-%d"), "ward": ward})
    made = real.assign(born=days.dt.strftime("%G-W%V"))[:140]
    found = read_whole(real, made).column("born")
    assert found.written == ("the week alone",)
    codes = found.cover.at_level(1)[found.codes]
    assert np.isin(codes[200:], codes[:200]).all()
    assert week_of("none") == "none"
    assert read_whole(made, real).unread.keys() == {"born"}


def test_numbers_that_lie_at_no_dates_are_none():
    assert dates_of([1.5e9, 10**40, float("nan")], {"1990-01-01", "1999-12-31"}) is None
    assert dates_of(["a", None], {"1990-01-01"}) is None


def test_hours_of_days_are_kept():
    assert dates_of([43831.25, None], {"2020-01-01"}) == ["2020-01-01 06:00:00", None]
