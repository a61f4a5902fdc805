"""The tally: when the capital against a statement has reached its hurdle, and by how much."""

import math

import numpy as np
import pytest

from narcissus import Game
from narcissus.attacks import ReleasedRow
from narcissus.evidence.betting import log_mean
from narcissus.game.block import Seat
from narcissus.game.loop import Tally
from narcissus.mechanisms import Identity
from narcissus.success import Resilience
from narcissus.success.relations import Prefix
from narcissus.success.statements import Evidence, Scores
from narcissus.worlds import Bits

SEAT = Seat("", Game(Bits(5), Identity(), Prefix()), {"a": ReleasedRow(), "b": ReleasedRow()})
GOOD, BAD = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)


def kept(*wins):
    arrays = {}
    for place, success in enumerate(wins):
        parts = {
            "success": success,
            "baseline": np.zeros(len(success)),
            "fresh": np.array(1),
            "weight": np.full(len(success), np.nan),
            "made": np.ones(len(success), dtype=bool),
            "failed": np.array(0),
            "failures": np.frombuffer(b"[]", dtype=np.uint8),
        }
        arrays |= {f"{place}/{name}": array for name, array in parts.items()}
    return arrays


def test_all_attacks_bet_together_and_the_first_crossing_counts():
    claim, hurdle = Resilience(0.0, 0.5), math.log(20)
    tally = Tally(SEAT, claim, hurdle)
    tally.add(40, kept(BAD, BAD))
    assert tally.decided is None
    tally.add(40, kept(GOOD, BAD))
    tally.add(40, kept(GOOD, BAD))
    paths = []
    for wins in ([BAD, GOOD, GOOD], [BAD, BAD, BAD]):
        s = np.concatenate(wins)
        scores = Scores(s, np.zeros(120), 1, np.full(120, np.nan))
        paths.append(Evidence(claim).update(scores))
    capital = log_mean(np.stack(paths))
    assert tally.capital == pytest.approx(capital.max(), abs=1e-9)
    assert tally.done == 120
    assert tally.decided == int(np.argmax(capital >= hurdle)) + 1
    assert 40 < tally.decided < 120
    assert [len(blocks) for blocks in tally.collected.values()] == [3, 3]


def test_failures_are_counted_from_the_start_of_the_run():
    tally = Tally(SEAT, Resilience(0.0, 0.5), math.log(20))
    told = np.frombuffer(b'[[3, 17, "ValueError: no"]]', dtype=np.uint8)
    for _ in range(2):
        tally.add(40, {**kept(BAD, BAD), "1/failed": np.array(1), "1/failures": told})
    trials = [failure.trial for block in tally.collected["b"] for failure in block.failures]
    assert trials == [3, 43]


def test_the_hurdle_is_reached_where_it_is_touched():
    claim = Resilience(0.0, 0.5)
    free = Tally(SEAT, claim, math.inf)
    free.add(40, kept(GOOD, GOOD))
    assert free.decided is None
    touched = Tally(SEAT, claim, free.capital)
    touched.add(40, kept(GOOD, GOOD))
    assert touched.decided == 40
    touched.add(40, kept(GOOD, GOOD))
    assert touched.decided == 40  # the first time counts
    assert touched.capital > free.capital


def test_capital_that_was_lost_again_was_there():
    tally = Tally(SEAT, Resilience(0.0, 0.5), math.log(20))
    tally.add(40, kept(GOOD, GOOD))
    most = tally.capital
    for _ in range(5):
        tally.add(40, kept(BAD, BAD))
    assert tally.capital == most


@pytest.mark.parametrize(("wins", "named"), [((GOOD, BAD), "a"), ((BAD, GOOD), "b")])
def test_who_decides_is_who_has_the_largest_capital_when_it_falls(wins, named):
    tally = Tally(SEAT, Resilience(0.0, 0.5), math.log(20))
    tally.add(40, kept(*wins))
    assert tally.decided is not None
    assert tally.decides == named
    tally.add(40, kept(*wins[::-1]))
    assert tally.decides == named  # what comes later decides nothing


def test_of_two_who_say_the_same_the_first_decides():
    tally = Tally(SEAT, Resilience(0.0, 0.5), math.log(20))
    tally.add(40, kept(BAD, BAD))
    assert (tally.decided, tally.decides) == (None, "a")
