"""Numbers in other units where a file has a part of the people, or other people as well."""

import numpy as np
import pytest

from narcissus.synthetic.lines import line_of_a_part, places_of
from narcissus.synthetic.notation import ways_of_numbers


def heights(seed=1):
    return np.round(np.random.default_rng(seed).normal(170, 9, 600), 6)


def incomes(seed=1):
    return np.exp(np.random.default_rng(seed).normal(10, 0.7, 600))


UNITS = {
    "inches": (heights, lambda x: np.round(x / 2.54, 3)),
    "dollars": (incomes, lambda x: np.round(x * 0.92, 2)),
    "dollars, all digits": (incomes, lambda x: x * 0.92),
    "whole dollars": (incomes, lambda x: np.round(x * 0.92)),
    "fahrenheit": (heights, lambda x: np.round(x * 1.8 + 32, 2)),
    "moved": (heights, lambda x: np.round(x + 3.17, 3)),
}
PARTS = {
    "nine tenths": lambda x: np.random.default_rng(2).permutation(x)[:540],
    "half": lambda x: np.random.default_rng(2).permutation(x)[:300],
}


def way_of(known, own):
    (known, people), (own, times) = (np.unique(x, return_counts=True) for x in (known, own))
    return ways_of_numbers(known, own, times, people)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_data_in_other_units_is_theirs(unit, part):
    draw, change = UNITS[unit]
    (way,) = way_of(draw(), change(PARTS[part](draw())))
    assert "units" in way.words or "moved" in way.words
    assert np.isin(way.own, way.known).mean() > 0.95


@pytest.mark.parametrize("unit", ["dollars", "dollars, all digits", "moved"])
def test_the_largest_of_the_people_and_a_few_among_others_are_found(unit):
    draw, change = UNITS[unit]
    for some in (np.sort(draw())[:360], np.r_[draw()[:60], draw(seed=2)[60:]]):
        (way,) = way_of(draw(), change(some))
        assert np.isin(way.own, way.known).sum() >= 60


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seed", range(2, 7))
def test_other_people_in_other_units_are_on_no_line(unit, seed):
    draw, change = UNITS[unit]
    known, own = np.unique(draw()), np.unique(change(draw(seed)))
    assert line_of_a_part(known, own, places_of(own, 3)) is None
    assert not any("units" in way.words for way in way_of(draw(), change(draw(seed))))


RATES = {
    "a rate": lambda x: np.round(x * 0.93, 2),
    "a rate, the middle up": lambda x: np.floor(x * 0.93 * 100 + 0.5) / 100,
    "a rate of five digits": lambda x: np.round(x * 1.0847, 2),
    "a rate in the other direction": lambda x: np.round(x / 1.0752, 2),
    "a rate and a level": lambda x: np.round(x * 0.93 + 12.5, 2),
}


@pytest.mark.parametrize(
    ("rate", "many"),
    [(rate, 45) for rate in RATES if "level" not in rate] + [(r, 300) for r in RATES],
)
@pytest.mark.parametrize("seed", range(2))
def test_all_numbers_that_a_rate_carries_are_theirs(rate, many, seed):
    """A slope that is fitted misses a rate by its last digits, and rounds some to another side."""
    known, others = (np.round(incomes(s)[:300] / 10, 2) for s in (seed, seed + 10))
    own = RATES[rate](known[:many])
    (way,) = way_of(known, np.r_[own, RATES[rate](others[many:])])
    readings = [way.known, *(each for each in way.by_rule if each is not None)]
    place = np.searchsorted(np.unique(known), known[:many])
    written = way.own[np.searchsorted(np.unique(np.r_[own, RATES[rate](others[many:])]), own)]
    assert np.any([each[place] == written for each in readings], axis=0).all()
    assert np.mean(readings[0][place] == written) > 0.95


def test_numbers_too_coarse_to_tell_are_on_no_line():
    ages = np.arange(18.0, 90)
    assert line_of_a_part(ages, ages + 2, 0) is None


def test_so_many_digits_are_compared_as_numbers_keep():
    assert places_of(np.array([-25_000.0, 3]), 12) == 4
    assert places_of(np.array([0.0]), 12) == 12
    assert places_of(np.array([0.002]), 2) == 2
