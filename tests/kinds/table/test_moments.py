"""Dates with times in many spellings, and numbers that count time."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from narcissus.kinds.table.moments import clock_features, clocks_of_numbers, moments_of

START = datetime(2021, 1, 4)
MOMENTS = [
    START + timedelta(minutes=int(m)) for m in np.random.default_rng(1).integers(0, 10**6, 900)
]
SPELLINGS = (
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%y %H:%M", "%m/%d/%Y %I:%M %p",
    "%d %b %Y %H:%M", "%B %d, %Y %H:%M", "%Y%m%d %H%M", "%Y%m%d%H%M%S",
)  # fmt: skip


def is_a_feature(features, secret):
    """Whether a feature has one value for each of the secret's, and no more."""
    return any(
        len({*zip(one.tolist(), secret, strict=True)}) == len({*one.tolist()}) == len({*secret})
        for one in features
    )


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_date_is_read_as_it_is_written(spelling):
    days = moments_of([moment.strftime(spelling) for moment in MOMENTS])
    want = [m.toordinal() + (m.hour * 60 + m.minute) / 1440 for m in MOMENTS]
    assert days == pytest.approx(want, abs=1e-6)
    features = list(clock_features(days))
    for part in ("%H", "%M", "%w", "%m", "%d"):
        assert is_a_feature(features, [m.strftime(part) for m in MOMENTS])


UNITS = {
    "seconds": lambda m: (m - datetime(1970, 1, 1)).total_seconds(),
    "milliseconds": lambda m: 1000 * (m - datetime(1970, 1, 1)).total_seconds() + 7,
    "days of a spreadsheet": lambda m: (m - datetime(1899, 12, 30)) / timedelta(days=1),
    "minutes since the start": lambda m: (m - START) / timedelta(minutes=1),
}


@pytest.mark.parametrize("count", UNITS.values(), ids=UNITS)
def test_numbers_that_count_time_tell_the_hour_and_the_weekday(count):
    features = list(clocks_of_numbers(np.array([count(moment) for moment in MOMENTS])))
    assert is_a_feature(features, [m.hour for m in MOMENTS])
    assert is_a_feature(features, [m.weekday() for m in MOMENTS])


def test_the_month_of_a_number_is_read_where_its_origin_is_known():
    numbers = np.array([UNITS["seconds"](moment) for moment in MOMENTS])
    assert is_a_feature(clocks_of_numbers(numbers), [m.month for m in MOMENTS])


@pytest.mark.parametrize("texts", [[], ["a", "b"], ["99-99-99", "1"], ["12-34"], ["KA-00-00-00"]])
def test_what_is_no_date_has_no_days(texts):
    assert np.isnan(moments_of(texts)).all()


def test_a_missing_time_is_a_value_of_its_own():
    days = moments_of(["2020-01-01 10:00", "2020-05-01 22:00", ""])
    assert all(feature[2] == 0 for feature in clock_features(days))
