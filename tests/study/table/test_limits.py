"""Limits of what an attack scores: by one method where chances are known, else as before."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from narcissus.bounds.binomial import PoissonBinomial
from narcissus.evidence import (
    advantage_limits,
    difference_limits,
    enclosed_limits,
    mean_limits,
    narrowest_limits,
    studentised_limits,
)
from narcissus.study.table.enclosure import FALL, LEAST, MOST, RISE, Enclosure
from narcissus.study.table.limits import (
    AttackScores,
    Criterion,
    criteria,
    expected_reach,
    has_decoy,
    scores_of,
    within,
)
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.summary import prior_test

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


ATTACKS = {"prior": {}, "posterior": {}}
ALL = {"threat": {"people": "all", "targets": None}, "prior": {"kind": "independent"}}


def audited(narcissus, path):
    _, out, err = narcissus("audit", path, "--json", "--quiet", "--restart")
    assert out, err
    return json.loads(out)["results"], err


@pytest.mark.parametrize("trials", [1, 4])
def test_what_is_counted_over_all_people_is_exact(study, narcissus, trials):
    """Issue 26: limits of 10.6% and 98.3% for a share of the whole population."""
    for mechanism in ({"k": 2, "epsilon": 1.0}, {"k": 2, "scale": 0}):
        other = {"epsilon": None, **mechanism}
        path = study(**ALL, mechanism=other, attacks=ATTACKS, run={"trials": trials})
        record, _ = audited(narcissus, path)
        prior, posterior = record["attacks"]["prior"], record["attacks"]["posterior"]
        for key in ("share", "baseline"):
            low, high = ("low", "high") if key == "share" else (f"{key}_low", f"{key}_high")
            assert prior[low] == prior[key] == prior[high]
        assert prior["share"] == record["guess"]["share"]
        assert prior["gain_low"] == prior["gain"] == prior["gain_high"] == 0
        # the noise of other releases is another matter, and so are decoys
        exact = mechanism.get("scale") == 0
        assert (posterior["low"] == posterior["share"] == posterior["high"]) is exact
        assert posterior["baseline_low"] < posterior["baseline_high"]
        assert posterior["gain_low"] < posterior["gain"] < posterior["gain_high"]


def test_all_people_test_the_prior_by_what_chance_does_to_their_secrets(study, narcissus):
    """Not by how many releases were made of them, which says nothing of the people."""
    found = []
    for trials in (1, 8):
        path = study(**ALL, attacks=ATTACKS, run={"trials": trials})
        record, _ = audited(narcissus, path)
        found.append(record["guess"]["by_the_prior"])
        assert record["attacks"]["prior"]["decoy"]["chance_off"] == found[-1]["chance_off"]
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    test = found[0]
    assert test["off_low"] == test["off"] == test["off_high"]
    assert abs(test["off"]) < test["chance_off"] < 0.15  # of 500 people


def test_how_far_chance_takes_all_people_holds_at_its_level():
    """Against the exact distribution: the chance to be off by more is at most the error."""
    rng = np.random.default_rng(0)
    for n in (3, 30, 300):
        for chance in (rng.random(n), rng.beta(9, 1, n), np.full(n, 0.99)):
            sums = np.array([chance.sum(), (chance**2).sum()])
            stub = SimpleNamespace(
                confidence=0.95, spent=1.0, targets=n, attacks=(), settings=(0,), everybody=True
            )
            one = np.array([chance.mean()])
            found = prior_test(stub, one, one, sums=sums)
            mass = -np.diff(PoissonBinomial(chance).tails())
            off = np.abs(np.arange(n + 1) - chance.sum()) / n > found.chance_off
            assert mass[off].sum() <= 1 - found.confidence


@pytest.mark.parametrize(
    ("mechanism", "fixed"),
    [
        ({"name": "rounding", "base": 5}, True),
        ({"name": "suppression", "threshold": 5}, True),
        ({"name": "random-rounding", "base": 5}, False),
        ({"name": "microdata"}, True),
        ({"name": "swapping", "rate": 0.1}, False),
        ({"name": "bootstrap"}, False),
    ],
)
def test_a_release_without_chance_is_the_same_twice(ready, mechanism, fixed):
    """Whatever is called fixed is so; up to the order of rows, which no attack of ours reads."""
    other = {"k": None, "epsilon": None, **mechanism}
    experiment = ready(mechanism=other, attacks={"prior": {}})
    prepared = experiment.settings[0].mechanism
    data = experiment.table.codes[None]
    one, two = (prepared.release(data, np.random.default_rng(s))[0] for s in (1, 2))
    same = [
        np.array(sorted(r.rows.tolist())) if hasattr(r, "rows") else r.cells for r in (one, two)
    ]
    assert prepared.fixed is fixed
    assert np.array_equal(*same, equal_nan=True) is fixed


GUESS, FRESH = np.array([0.2, 0.6]), np.array([0.1, 0.5])


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("share", [0.25, 0.25]), ("advantage", [0.4, 0.7]), ("gain", [0.35, 0.75])],
)
def test_what_is_allowed_and_between_which_ends_an_excess_lies(name, allowed):
    one = Criterion(name, 0.25)
    assert one.allowed(GUESS, FRESH) == pytest.approx(np.array(allowed))
    low, high = one.ends
    every = np.linspace(0, 1, 11)
    guess, fresh = (grid.ravel() for grid in np.meshgrid(every, every))
    for share in (0.0, 0.3, 1.0):
        excess = share - one.allowed(guess, fresh)
        assert excess.min() >= low - 1e-12
        assert excess.max() <= high + 1e-12
    reached = [share - one.allowed(guess, fresh) for share in (0.0, 1.0)]
    assert reached[0].min() == pytest.approx(low)
    assert reached[1].max() == pytest.approx(high)


def test_a_threshold_holds_several_limits_and_one_of_groups():
    both = ThresholdSpec(share=0.9, gain=0.05, targets=3)
    assert criteria(both) == [Criterion("share", 0.9), Criterion("gain", 0.05)]
    assert criteria(both, of_group=True) == []
    assert criteria(ThresholdSpec(targets=3)) == []
    group = ThresholdSpec(gain=0.05, worst_group=0.1)
    assert criteria(group, of_group=True) == [Criterion("gain", 0.1)]
    assert criteria(group)[0].moments == "gain_bound"
    for wrong in ({}, {"targets": 1, "worst_group": 0.1}):
        with pytest.raises(ValueError, match=r"give at least one|goes with one of"):
            ThresholdSpec(**wrong)
    with pytest.raises(ValueError, match="goes with one of"):
        ThresholdSpec(share=0.5, gain=0.1, worst_group=0.1)
