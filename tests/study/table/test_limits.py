"""Limits of what an attack scores: by one method where chances are known, else as before."""

from dataclasses import replace

import numpy as np
import pytest

from narcissus.evidence import (
    advantage_limits,
    difference_limits,
    enclosed_limits,
    mean_limits,
    narrowest_limits,
    studentised_limits,
)
from narcissus.study.table.criteria import Criterion
from narcissus.study.table.enclosure import FALL, LEAST, MOST, RISE, Enclosure
from narcissus.study.table.limits import AttackScores, expected_reach, has_decoy, scores_of, within

TRIALS = 100
PEOPLE = {"threat": {"unknown": ["ill"], "targets": 100}, "run": {"trials": TRIALS}}
EVERY = ("share", "baseline", "gain", "advantage")


@pytest.fixture(scope="module")
def played():
    """A study of 100 trials of 100 people, played once."""
    return {}


@pytest.fixture
def scores(ready, played):
    """Give a function from an attack's name to what it scored."""
    if not played:
        experiment = ready(**PEOPLE, mechanism={"epsilon": 2.0})
        played["all"] = experiment, [experiment.play(f"{t}/0") for t in range(TRIALS)]
    experiment, trials = played["all"]
    around = Enclosure.of(trials, experiment.targets)
    attacks = {name: attack for name, attack, _ in experiment.attacks}
    return lambda name: scores_of(experiment, name, attacks[name], trials, around)


def ends(found):
    return pytest.approx((found.value, found.low, found.high), abs=1e-12)


def test_where_nothing_is_known_they_are_those_of_shares():
    rng = np.random.default_rng(1)
    won, fair = rng.uniform(0.5, 0.7, 30), rng.uniform(0.3, 0.5, 30)
    plain = AttackScores(won, fair, 50)
    expected = (
        mean_limits(won, confidence=0.9, people=50),
        mean_limits(fair, confidence=0.9, people=50),
        difference_limits(won, fair, confidence=0.9, people=50),
        advantage_limits(won, fair, confidence=0.9, people=50),
    )
    for name, right in zip(EVERY, expected, strict=True):
        found = getattr(plain, name)(0.9)
        assert (found.value, found.low, found.high) == ends(right)
    assert plain.narrowest(0.6, 0.9) == narrowest_limits(0.6, 30, confidence=0.9)
    criterion = Criterion("advantage", 0.1)
    found = plain.excess(criterion, fair, 0.9)
    right = within(won - criterion.allowed(fair, fair), (-1.0, 0.9), 0.9, 50)
    assert (found.value, found.low, found.high) == ends(right)
    assert plain.room(criterion, 0.1) == pytest.approx(1.9)


def test_an_attack_is_limited_between_the_worst_and_the_best_guesses(scores):
    own = scores("posterior")
    of = own.around.envelope
    share = enclosed_limits(own.shares, of(LEAST), of(MOST), confidence=0.95, people=100)
    gain = enclosed_limits(
        own.shares - own.fresh, of(FALL, sign=-1), of(RISE), confidence=0.95, people=100
    )
    for found, right in ((own.share(0.95), share), (own.gain(0.95), gain)):
        assert (found.low, found.high) == pytest.approx((right.low, right.high))
    several = replace(own, guesses=3)  # the least chance among several is next to nothing
    assert several.share(0.95).low < share.low


@pytest.mark.parametrize("name", ["prior", "ceiling"])
def test_where_it_is_known_what_an_attack_gets_only_people_decide(scores, name):
    """100 trials of 100 people: at most twice as far as Student's t, on either side together."""
    own = scores(name)
    for kind, values in (("share", own.shares), ("baseline", own.fresh)):
        found, rough = getattr(own, kind)(0.95), studentised_limits(values)
        assert found.low <= found.value <= found.high
        assert found.high - found.low < 2 * (rough.high - rough.low)
    low, high = own.narrowest(own.share(0.95).value, 0.95)
    assert own.share(0.95).low <= low <= high <= own.share(0.95).high
    if name == "prior":
        gain = own.gain(0.95)
        assert (min(gain.value, 0), max(gain.value, 0)) == (gain.low, gain.high)


def test_gains_are_at_most_three_times_as_far_as_students_and_shares_near_their_floor(scores):
    own = scores("posterior")
    plain = replace(own, around=None, always=None)
    gain, rough = own.gain(0.95), studentised_limits(own.shares - own.fresh)
    assert gain.high - gain.low < 3 * (rough.high - rough.low)
    assert gain.high - gain.low < 0.3 * (plain.gain(0.95).high - plain.gain(0.95).low)
    share = own.share(0.95)
    assert share.high - share.low < 0.9 * (plain.share(0.95).high - plain.share(0.95).low)
    low, high = own.narrowest(share.value, 0.95)
    assert share.low <= low <= share.value <= high <= share.high
    assert low > narrowest_limits(share.value, TRIALS)[0]


@pytest.mark.parametrize("kind", ["share", "advantage", "gain"])
@pytest.mark.parametrize("name", ["prior", "posterior", "ceiling"])
def test_an_excess_is_what_is_above_the_allowed(scores, kind, name):
    own, criterion = scores(name), Criterion(kind, 0.15)
    found = own.excess(criterion, own.around.guesses, 0.95)
    values = own.shares - criterion.allowed(own.around.guesses, own.fresh)
    assert found.value == pytest.approx(values.mean())
    assert criterion.ends[0] <= found.low <= found.value <= found.high <= criterion.ends[1]
    plain = replace(own, around=None, always=None).excess(criterion, own.around.guesses, 0.95)
    assert found.high - found.low < plain.high - plain.low
    assert abs(found.value) <= own.room(criterion, found.value) < 1.2


def test_the_advantage_is_the_gains_part_of_what_was_left(scores):
    own = scores("posterior")
    found = own.advantage(0.95)
    gain, base = own.gain(1 - 0.8 * 0.05), own.baseline(1 - 0.2 * 0.05)
    assert found.value == pytest.approx(gain.value / (1 - base.value))
    assert found.high == pytest.approx(gain.high / (1 - base.high))
    assert found.low == pytest.approx(gain.low / (1 - (base.low if gain.low > 0 else base.high)))


@pytest.mark.parametrize("name", ["prior", "posterior", "ceiling"])
def test_a_plan_foresees_how_near_limits_come(scores, name):
    own = scores(name)
    found = own.share(0.95)
    assert expected_reach(own, TRIALS, 0.95) == pytest.approx(
        (found.high - found.low) / 2, rel=0.45
    )
    assert expected_reach(own, 4 * TRIALS, 0.95) < expected_reach(own, TRIALS, 0.95) / 1.9


def test_a_decoy_stands_for_fresh_people_where_the_prior_may_be_wrong(ready):
    experiment = ready(threat={"people": "rows"}, run={"trials": 3})
    trials = [experiment.play(f"{t}/0") for t in range(3)]
    for name, attack, _ in experiment.attacks:
        found = scores_of(experiment, name, attack, trials, None)
        key, place = (f"{name}/fresh", ()) if attack.informed else (f"{name}/decoy", 0)
        assert has_decoy(experiment, attack) != attack.informed
        assert found.fresh == pytest.approx([float(t[key][place]) for t in trials])
