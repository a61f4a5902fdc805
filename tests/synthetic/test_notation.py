"""How a file writes the numbers and dates of the data: rounded, cut, with fewer digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.synthetic.notation import _rounded, digits, ways_of_dates, ways_of_numbers


def numbers(n=300, seed=1):
    return np.exp(np.random.default_rng(seed).normal(9, 1.5, n))


def short(values, significant):
    return np.array([float(f"{value:.{significant}g}") for value in values])


def ways(known, own):
    known, own = np.unique(known), np.unique(own)
    return ways_of_numbers(known, own, np.ones(len(own), np.int64)), known, own


@given(st.integers(-(10**9), 10**9), st.integers(-4, 6))
def test_digits_are_those_of_the_shortest_decimal(whole, places):
    number = float(f"{whole}e{-places}")
    found, significant = (int(part[0]) for part in digits([number]))
    shown = str(abs(whole)).strip("0") if whole else ""
    assert significant == len(shown)
    assert not whole or float(f"{number:.{significant}g}") == number
    assert not whole or round(number, found) == number


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: np.round(x, 2), "rounded to 2 decimal places"),
        (lambda x: np.array([round(v, 1) for v in x]), "rounded to 1 decimal places"),
        (np.round, "rounded to whole numbers"),
        (lambda x: np.round(x, -2), "rounded to 100"),
        (lambda x: np.floor(x * 10) / 10, "cut to 1 decimal places"),
        (np.ceil, "cut to whole numbers"),
        (lambda x: short(x, 7), "rounded to 7 significant digits"),
        (lambda x: short(x, 3), "rounded to 3 significant digits"),
        (lambda x: x.astype(np.float32).astype(np.float64), "rounded to 32 bits"),
        (lambda x: np.array([float(str(v)) for v in x.astype(np.float32)]), "rounded to 32 bits"),
    ],
)
def test_every_rounded_number_is_one_of_the_data(change, words):
    known = numbers()
    (way,), known, _own = ways(known, change(known))
    assert way.words == words
    assert way.members.all()
    assert set(way.own) == set(way.known)


def test_numbers_of_as_many_digits_are_taken_as_they_are():
    assert ways(numbers(), numbers(seed=2))[0] == []
    whole = np.random.default_rng(1).integers(0, 9_000, 300) * 5.0
    assert ways(whole, whole[:200])[0] == []


@pytest.mark.parametrize("step", [500, 250, 25, 50, 5, 2, 0.5, 3, 0.25])
@pytest.mark.parametrize(("offset", "turn"), [(0, np.rint), (0, np.floor), (0, np.ceil),
                                              (0.5, np.floor)])  # fmt: skip
def test_any_step_is_found_from_the_values(step, offset, turn):
    rng = np.random.default_rng(7)
    people = np.round(rng.normal(40 * step, 8 * step, 3000), 3)
    known, times = np.unique(people, return_counts=True)
    made = (turn(people / step) + offset) * step
    own, rows = np.unique(made, return_counts=True)
    (way,) = ways_of_numbers(known, own, rows, times)
    place = dict(zip(known, way.known, strict=True))
    row_of = dict(zip(own, way.own, strict=True))
    assert np.mean([place[x] == row_of[y] for x, y in zip(people, made, strict=True)]) > 0.99
    assert "rounded" in way.words or turn is not np.rint


@pytest.mark.parametrize("step", [5, 10])
def test_a_step_is_found_where_the_data_have_every_multiple_of_it(step):
    people = np.random.default_rng(3).integers(0, 100, 5000).astype(float)
    known, times = np.unique(people, return_counts=True)
    own, rows = np.unique(np.floor(people / step) * step, return_counts=True)
    (way,) = ways_of_numbers(known, own, rows, times)
    assert way.words == ("cut to steps of 5" if step == 5 else "cut to 10")
    assert (np.array(way.known) == np.floor(known / step)).all()


LEVELS = {
    "1, 2, 5": [0, *(k * 10.0**n for n in range(6) for k in (1, 2, 5))],
    "hundreds": [0, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000],
    "doubled": [0, *(2.0**n for n in range(17))],
    "few": [0, 700, 3000, 9000, 11_000, 40_000],
}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("rule", ["nearest", "below", "above"])
@pytest.mark.parametrize("whole", [True, False])
def test_numbers_that_stand_for_ranges_of_any_width_are_found(levels, rule, whole):
    """The file is of other people: the rule is found from the law, and tells each of the data."""
    rng = np.random.default_rng(11)
    sides = [np.exp(rng.normal(7.5, 1.2, 800)) for _ in range(2)]
    ours, theirs = (np.rint(side) if whole else side for side in sides)
    ends = np.array(LEVELS[levels])

    def change(x):
        if rule == "nearest":
            return ends[np.abs(x[:, None] - ends).argmin(axis=1)]
        at = np.searchsorted(ends, x, "right") - 1 if rule == "below" else np.searchsorted(ends, x)
        return ends[np.minimum(at, len(ends) - 1)]

    (known, people), (own, times) = (
        np.unique(side, return_counts=True) for side in (ours, change(theirs))
    )
    (way,) = ways_of_numbers(known, own, times, people)
    readings = [each for each in (way.known, *way.by_rule) if each is not None]
    assert max(np.mean(np.array(each, float) == change(known)) for each in readings) > 0.99


@given(st.integers(0, 10**6))
def test_a_fresh_file_of_the_same_form_is_not_said_to_be_coarser(seed):
    rng = np.random.default_rng(seed)
    step = float(rng.choice([0.01, 0.5, 1, 5, 250]))
    sides = [np.rint(rng.normal(40, 12, 400)) * step for _ in range(2)]
    (known, people), (own, times) = (np.unique(side, return_counts=True) for side in sides)
    assert ways_of_numbers(known, own, times, people) == []


@pytest.mark.parametrize(("slope", "level", "places"), [
    (1, 3, 0), (1 / 2.54, 0, 1), (2.2046, 0, 1), (1.02, 1, 1), (0.001, 0, 3), (-1, 100, 0),
])  # fmt: skip
@pytest.mark.parametrize("digits", [0, 2])
def test_numbers_in_other_units_are_those_of_the_data(slope, level, places, digits):
    rng = np.random.default_rng(5)
    people = np.round(rng.normal(170, 9, 800), digits)
    known, times = np.unique(people, return_counts=True)
    made = np.round(slope * people + level, places)
    own, rows = np.unique(made, return_counts=True)
    (way,) = ways_of_numbers(known, own, rows, times)
    place = dict(zip(known, way.known, strict=True))
    row_of = dict(zip(own, way.own, strict=True))
    assert np.mean([place[x] == row_of[y] for x, y in zip(people, made, strict=True)]) > 0.9


def test_short_decimals_that_were_stored_in_32_bits_are_the_same():
    known = np.unique(np.round(numbers() / 1000, 5))
    own = known.astype(np.float32).astype(np.float64)
    (way,) = ways_of_numbers(known, own, np.ones(len(own), np.int64))
    assert way.words == "rounded to 32 bits"
    assert (way.known == way.own).all()


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_said_of_a_fresh_file_with_values_that_the_data_lack(seed):
    """Most weights have three digits in both files, and few of each are in the other."""
    rng = np.random.default_rng(seed)
    sides = [np.round(rng.gamma(40, 1.9, 800), 1) for _ in range(2)]
    (known, people), (own, times) = (np.unique(side, return_counts=True) for side in sides)
    assert ways_of_numbers(known, own, times, people) == []


def test_a_fresh_file_in_other_units_is_not_the_data():
    rng = np.random.default_rng(6)
    sides = [np.round(rng.normal(170, 9, 800), 2) for _ in range(2)]
    known, people = np.unique(sides[0], return_counts=True)
    own, times = np.unique(np.round(sides[1] / 2.54, 2), return_counts=True)
    assert not any("units" in way.words for way in ways_of_numbers(known, own, times, people))


def test_a_few_rounded_rows_among_others_are_seen():
    known, fresh = numbers(), numbers(seed=2)
    found, known, own = ways(known, np.concatenate([fresh[:280], np.round(known[:20], 2)]))
    (way,) = found
    assert way.words == "rounded to 2 decimal places"
    assert way.members.sum() == 20
    assert np.isin(own[way.members], np.round(known, 2)).all()


def test_halves_may_be_rounded_up_or_to_even():
    known = np.arange(0, 200) + 0.5
    for change in (np.rint, lambda x: np.floor(x + 0.5), lambda x: np.ceil(x - 0.5)):
        (way,), _, own = ways(np.append(known, 0.25), change(known))
        assert set(way.own) <= set(way.known)
        assert len(way.own) == len(own)


def test_dates_lose_their_time_day_or_month():
    known = [f"2020-{month:02}-15 10:30:00" for month in range(1, 13)]
    for length, words in ((10, "without the time"), (7, "without the day"), (4, "the year alone")):
        (way,) = ways_of_dates(known, sorted({value[:length] for value in known}))
        assert way.words == words
        assert set(way.own) == set(way.known)
    days = [value[:10] for value in known]
    assert ways_of_dates(days, ["2021-01-01", *days]) == []


@pytest.mark.parametrize("places", [4, 6])
def test_numbers_of_many_digits_are_rounded_to_the_digit(places):
    """Of incomes to six decimal places 11 of 20 were read by one rule, and none by another."""
    known = np.unique(numbers())
    own = np.unique(np.round(known, places))
    for way in list(_rounded(known, own, places))[:3]:
        assert np.isin(way.own, way.known).all()
    (way, *_), _, _ = ways(known, own)
    assert way.words == f"rounded to {places} decimal places"
    assert np.isin(way.own, way.known).all()


STORED = {
    "all digits": lambda x: x,
    "16 digits": lambda x: short(x, 16),
    "15 digits": lambda x: short(x, 15),
    "9 digits": lambda x: short(x, 9),
    "10 places": lambda x: np.array([float(f"{value:.10f}") for value in x]),
}
MEASURED = {
    "2 places": lambda g, n: np.round(g.normal(50, 12, n), 2),
    "1 place": lambda g, n: np.round(g.normal(50, 12, n), 1),
    "mostly whole": lambda g, n: np.where(
        g.random(n) < 0.2, np.round(g.normal(50, 12, n), 2), np.round(g.normal(50, 12, n))
    ),
    "small": lambda g, n: np.round(g.uniform(0, 0.1, n), 4),
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("measured", MEASURED)
@pytest.mark.parametrize("size", [20, 67, 500])
def test_numbers_of_32_bits_are_read_however_many_digits_are_written(stored, measured, size):
    """A spreadsheet writes 15 or 16 digits of them: 6 of 67 copied people were taken for none."""
    g = np.random.default_rng(size)
    known, fresh = (MEASURED[measured](g, size) for _ in "ab")
    copied = known[known % 1 != 0][: max(1, size // 10)]
    fresh[: len(copied)] = copied
    written, known, own = ways(known, STORED[stored](fresh.astype(np.float32).astype(np.float64)))
    standing = {v for way in written for v in way.known[np.isin(way.known, way.own[way.members])]}
    count = len(standing) if written else len(np.intersect1d(known, own))
    assert count == len(np.intersect1d(known, fresh))


def test_numbers_of_few_digits_are_not_taken_for_those_of_32_bits():
    g = np.random.default_rng(3)
    known, fresh = (np.round(g.uniform(0, 1, 300), 8) for _ in "ab")
    assert not ways(known, fresh)[0]
