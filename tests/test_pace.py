"""The time that is left is told within a factor of two, on clocks that are simulated."""

import pytest

from narcissus._pace import Pace


def moments(start, steps):
    """Return when each step is finished: ``start`` seconds late, then so many seconds each."""
    now, found = start, []
    for seconds in steps:
        now += seconds
        found.append(now)
    return found


def steady(seconds, count=100):
    return [seconds] * count


CLOCKS = {
    "workers start for a minute": moments(60, steady(1)),
    "a model loads for ten minutes": moments(600, steady(1)),
    "at once": moments(0, steady(1)),
    "two at a time": moments(20, [0, 2] * 50),
    "the first takes long": moments(0, [100, *steady(0.5, 99)]),
    "slower and slower": moments(5, [1 + k / 100 for k in range(100)]),
    "faster and faster": moments(5, [2 - k / 100 for k in range(100)]),
    "uneven": moments(5, [1.5, 0.5] * 50),
}


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("tenth", range(1, 10))
def test_it_is_within_a_factor_of_two_at_each_tenth(clock, tenth):
    """Issue 45: at a tenth of the way ten minutes were told where 1:40 was left."""
    ends = CLOCKS[clock]
    pace = Pace(100)
    for now in ends[: 10 * tenth]:
        pace.advance(1, now)
    told, true = pace.left(ends[10 * tenth - 1]), ends[-1] - ends[10 * tenth - 1]
    assert true / 2 <= told <= 2 * true


def test_nothing_is_told_of_what_came_in_once():
    pace = Pace(100)
    assert pace.left(5.0) is None
    pace.advance(10, 60.0)
    assert pace.left(61.0) is None


def test_what_was_done_earlier_has_no_pace():
    pace = Pace(100, 90)
    for second in range(1, 6):
        pace.advance(1, 100.0 + second)
    assert pace.left(105.0) == pytest.approx(5)


def test_while_nothing_comes_in_the_time_goes_on():
    pace = Pace(4)
    pace.advance(1, 10.0)
    pace.advance(1, 20.0)
    assert pace.left(25.0) == pytest.approx(15)
    assert pace.left(90.0) == 0


def test_many_steps_keep_few_moments():
    pace = Pace(10**5)
    for step in range(10**5):
        pace.advance(1, step * 1e-4)
    assert len(pace._moments) < 500
