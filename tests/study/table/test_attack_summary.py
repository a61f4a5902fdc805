"""What an attack recovered: limits at their levels, held below what is proved, beside itself."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import (
    advantage_limits,
    difference_limits,
    mean_limits,
    median_limits,
    narrowest_limits,
)
from narcissus.study.results.table import CountBound, ShareBound
from narcissus.study.table.summary import attack_result, limited, prior_test

STUDY = {
    "threat": {"unknown": ["ill", "town"], "targets": 10},
    "mechanism": {"epsilon": [1.0, 4.0]},
    "attacks": {"prior": {}, "posterior": {"trials": 30}, "ceiling": {}},
    "run": {"trials": 40, "confidence": 0.9},
}
JOINT = 1 - 0.1 / (2 * 2)  # two attacks without the ceiling, at two settings


def bound(share):
    return ShareBound(
        limits="share", theorem="t", name="mean share", guarantee="g", grade="proved",
        for_comparison=False, assumptions=(), takes_as_given=(), share_at_most=0.1,
        share_of_population=share,
    )  # fmt: skip


COUNT = CountBound(
    limits="count", theorem="t", name="domination", guarantee="g", grade="proved",
    for_comparison=False, assumptions=(), takes_as_given=(), confidence=0.9, at_most=1, of=10,
    at_most_of_population=0,
)  # fmt: skip


@pytest.fixture
def summed(ready, made_up):
    """Give a function from a study to its made-up people and the summary of one attack."""

    def make(name="prior", *, bounds=(), luck=None, trials=40, change=lambda made: None, **study):
        made = made_up(ready(**{**STUDY, **study}), trials)
        change(made)
        [(_, attack, count)] = [one for one in made.experiment.attacks if one[0] == name]
        none = np.zeros(trials)
        return made, attack_result(
            made.experiment,
            name,
            attack,
            made.trials[:count],
            luck=(none if luck is None else luck)[:count],
            bounds=bounds,
        )

    return make


def ends(found):
    return pytest.approx([found.value, found.low, found.high], abs=1e-12)


ROWS = {"threat": {**STUDY["threat"], "people": "rows"}}


@pytest.mark.parametrize("name", ["prior", "posterior", "ceiling"])
@pytest.mark.parametrize("more", [{}, ROWS], ids=["prior", "rows"])
def test_what_was_recovered_is_limited_at_its_level(summed, name, more):
    made, found = summed(name, change=lambda m: m.proved.fill(1.0), **more)
    count = 30 if name == "posterior" else 40
    shares = made.share[name][:count].mean(axis=1)
    assert [found.share, found.low, found.high] == ends(
        mean_limits(shares, confidence=0.9, people=10)
    )
    joint = mean_limits(shares, confidence=JOINT, people=10)
    assert found.low_joint == pytest.approx(joint.low)
    assert found.low_joint < found.low
    hits = made.hits[name][:count].sum(axis=1)
    assert found.trials == count
    assert found.distribution.targets == tuple(sorted(set(hits.tolist())))
    assert found.distribution.trials == tuple(
        int((hits == h).sum()) for h in found.distribution.targets
    )
    assert [found.median.share, found.median.low, found.median.high] == ends(
        median_limits(hits / 10, confidence=0.9)
    )
    assert ("on hits" in found.method) == bool(more)
    for place, column in enumerate(("ill", "town")):
        own = found.columns[column]
        values = made.columns[name][:count, 0, place]
        assert [own.share, own.low, own.high] == ends(
            mean_limits(values, confidence=0.9, people=10)
        )
        assert own.baseline == pytest.approx(made.columns[name][:count, 1, place].mean())
    narrow = narrowest_limits(float(shares.mean()), count, confidence=0.9)
    assert [found.narrowest.low, found.narrowest.high] == pytest.approx(list(narrow))
    # a studentised interval with some skewness taken out is near Student's
    half = stats.t.ppf(0.95, count - 1) * shares.std(ddof=1) / count**0.5
    assert found.approximate.high - found.approximate.low == pytest.approx(2 * half, rel=0.1)


@pytest.mark.parametrize("name", ["prior", "posterior", "ceiling"])
@pytest.mark.parametrize("more", [{}, ROWS], ids=["prior", "rows"])
def test_the_baseline_is_fresh_people_or_a_decoy(summed, name, more):
    """A decoy only where the prior may be wrong; and none for who is told the other secrets."""
    made, found = summed(name, change=lambda m: m.proved.fill(1.0), **more)
    count = 30 if name == "posterior" else 40
    shares = made.share[name][:count].mean(axis=1)
    on_decoy = bool(more) and name != "ceiling"
    fresh = made.decoy[name][:count, 0] if on_decoy else made.fresh[name][:count].mean(axis=1)
    base = mean_limits(fresh, confidence=0.9, people=10)
    assert [found.baseline, found.baseline_low, found.baseline_high] == ends(base)
    assert found.baseline_exact != on_decoy
    assert (found.decoy is not None) == on_decoy
    gain = difference_limits(shares, fresh, confidence=0.9, people=10)
    assert [found.gain, found.gain_low, found.gain_high] == ends(gain)
    joint = difference_limits(shares, fresh, confidence=JOINT, people=10)
    assert found.gain_low_joint == pytest.approx(joint.low)
    advantage = advantage_limits(shares, fresh, confidence=0.9, people=10)
    assert [found.advantage, found.advantage_low, found.advantage_high] == ends(advantage)
    if on_decoy:
        assert [found.decoy.share, found.decoy.low, found.decoy.high] == ends(base)
        said = made.decoy[name][:count, 1]
        assert dict(found.decoy).items() >= dict(prior_test(made.experiment, fresh, said)).items()


@pytest.mark.parametrize("confidence", [0.9, 0.995])
def test_a_prior_is_tested_by_every_attack_and_the_guess_at_99_percent_or_more(ready, confidence):
    experiment = ready(**{**STUDY, "run": {"trials": 40, "confidence": confidence}})
    real, said = np.linspace(0.3, 0.7, 40), np.linspace(0.5, 0.4, 40)
    found = prior_test(experiment, real, said)
    level = 1 - (1 - max(confidence, 0.99)) / 5  # four lower limits, and the guess
    assert found.confidence == pytest.approx(level)
    off = difference_limits(real, said, confidence=level, people=10)
    assert [found.off, found.off_low, found.off_high] == ends(off)
    assert found.by_the_prior == pytest.approx(0.45)


def test_rounding_leaves_no_share_outside_of_0_and_1():
    found = limited(np.array([-1e-17, 1 + 1e-15, 0.25]), 0.95, people=3)
    assert found.share == pytest.approx(1.25 / 3)
    exact = mean_limits([0.0, 1.0, 0.25], confidence=0.95, people=3)
    assert (found.low, found.high) == (exact.low, exact.high)


def test_shares_and_decoys_that_are_off_by_rounding_are_taken_for_0_and_1(summed):
    def off(made):
        for name, value in (("prior", 1 + 1e-12), ("posterior", -1e-12)):
            made.share[name][:], made.fresh[name][:], made.decoy[name][:] = value, 1 - value, value
        made.proved[:] = 1.0

    for more in ({}, ROWS):
        assert summed("prior", change=off, **more)[1].share == 1
        assert summed("posterior", change=off, **more)[1].share == 0


def test_luck_is_taken_out_of_the_estimate_and_of_no_limit_that_holds(summed):
    luck = np.linspace(-0.02, 0.06, 40)
    made, plain = summed(change=lambda m: m.proved.fill(1.0))
    _, found = summed(change=lambda m: m.proved.fill(1.0), luck=luck)
    shares = made.share["prior"].mean(axis=1)
    assert found.share == pytest.approx(shares.mean() - 0.02)
    assert (found.low, found.high, found.low_joint) == (plain.low, plain.high, plain.low_joint)
    left = shares - luck
    half = stats.t.ppf(0.95, 39) * left.std(ddof=1) / 40**0.5
    assert found.approximate.high - found.approximate.low == pytest.approx(2 * half, rel=0.1)
    assert found.approximate.low < found.share < found.approximate.high
    assert found.gain == pytest.approx(found.share - found.baseline)


def test_one_trial_has_no_approximate_limits_and_two_have(summed):
    assert summed(trials=1)[1].approximate is None
    assert summed(trials=2)[1].approximate is not None


def test_approximate_limits_stay_shares(summed):
    def wide(made):
        made.share["prior"][:] = 0.98
        made.share["prior"][0] = 0.6
        made.share["posterior"][:] = 0.02
        made.share["posterior"][0] = 0.4
        made.proved[:] = 1.0

    for name in ("prior", "posterior"):
        found = summed(name, change=wide, trials=3)[1].approximate
        assert 0 <= found.low < found.high <= 1
    assert summed("prior", change=wide, trials=3)[1].approximate.high == 1
    assert summed("posterior", change=wide, trials=3)[1].approximate.low == 0


class TestHeldBelowWhatIsProved:
    """The shares lie around 0.45; the people's own bound is what is proved of them."""

    def test_an_estimate_above_what_is_proved_of_its_people_is_luck(self, summed):
        made, found = summed("posterior", change=lambda m: m.proved.fill(0.4))
        assert made.share["posterior"][:30].mean() > 0.44
        assert found.share == pytest.approx(0.4)
        assert found.low <= found.share <= found.high
        assert found.approximate.low <= found.share <= found.approximate.high
        assert found.gain == pytest.approx(0.4 - found.baseline)
        assert found.advantage == pytest.approx((0.4 - found.baseline) / (1 - found.baseline))
        assert found.gain_low <= found.gain <= found.gain_high
        assert found.advantage_low <= found.advantage <= found.advantage_high
        assert found.gain_low_joint <= found.gain

    def test_only_the_trials_of_the_attack_count(self, summed):
        def late(made):
            made.proved[:30], made.proved[30:] = 0.42, 0.0

        assert summed("posterior", change=late)[1].share == pytest.approx(0.42)

    def test_real_people_are_not_held_by_what_a_prior_says(self, summed):
        made, found = summed(change=lambda m: m.proved.fill(0.4), bounds=[bound(0.4)], **ROWS)
        assert found.share == pytest.approx(made.share["prior"].mean())
        assert found.high > 0.46

    def test_no_upper_limit_ends_at_a_limit_that_sampling_may_miss(self, summed):
        plain = summed(change=lambda m: m.proved.fill(1.0))[1]
        most = (plain.share + plain.high) / 2
        for bounds in ([bound(most), COUNT, bound(None)], [COUNT, bound(None)], [bound(1.0)], []):
            assert summed(change=lambda m: m.proved.fill(1.0), bounds=bounds)[1] == plain

    def test_lower_limits_above_are_kept_there_unless_they_refute_it(self, summed):
        plain = summed(change=lambda m: m.proved.fill(1.0))[1]
        most = (plain.low_joint + plain.low) / 2
        found = summed(change=lambda m: m.proved.fill(1.0), bounds=[bound(0.9), bound(most)])[1]
        assert found.low == pytest.approx(most)
        assert (found.low_joint, found.high) == (plain.low_joint, plain.high)
        below = plain.low_joint - 0.01
        refuted = summed(change=lambda m: m.proved.fill(below), bounds=[bound(below)])[1]
        assert refuted == plain

    def test_what_was_declared_moves_no_number_that_might_refute_it(self, summed):
        plain = summed(change=lambda m: m.proved.fill(1.0))[1]
        said = {"takes_as_given": ("the program keeps what was declared of it",)}
        declared = bound(0.41).model_copy(update={"grade": "proved if", **said})
        assert plain.low_joint < 0.41 < plain.low
        assert summed(change=lambda m: m.proved.fill(0.41), bounds=[declared])[1] == plain

    def test_a_share_at_what_is_proved_is_covered_at_its_level(self, ready, made_up):
        """The worst case: the attack gets all that is proved, whose own limit misses as often as
        it may. Every course of five trials is summed up, so that no chance is left: neither side
        misses more often than it may. An upper limit cut at the proof's would: the last line.
        """
        study = {**STUDY, "attacks": {"prior": {}}, "run": {"trials": 5, "confidence": 0.5}}
        made = made_up(ready(**study), 5)
        made.proved.fill(1.0)
        [(name, attack, _)] = made.experiment.attacks
        side, none = 0.25, np.zeros(5)
        truth = mean_limits(none, confidence=0.5, people=10).high + 1e-9  # five failures miss it
        misses = np.zeros(3)
        for values in product((0, 1), repeat=5):
            chance = truth ** sum(values) * (1 - truth) ** (5 - sum(values))
            trials = zip(made.trials, values, strict=True)
            played = [{**t, "prior/share": np.array(float(v))} for t, v in trials]
            for above, part in ((truth - 0.01, side), (truth + 0.01, 1 - side)):
                found = attack_result(
                    made.experiment, name, attack, played, luck=none, bounds=[bound(above)]
                )
                cut = min(found.high, above)
                missed = [found.low > truth, found.high < truth, cut < truth]
                misses += chance * part * np.array(missed)
        assert misses[:2].max() <= side
        assert misses[2] > 1.5 * side

    def test_what_leaves_nothing_to_gain_is_no_advantage(self, summed):
        def sure(made):
            made.fresh["prior"][:] = 1.0
            made.proved[:] = 1.0

        found = summed(change=sure)[1]
        assert found.gain == pytest.approx(found.share - 1)
        assert found.advantage == 0

    def test_an_advantage_is_no_less_than_minus_one(self, summed):
        def worse(made):
            made.share["prior"][:] = 0.1
            made.fresh["prior"][:] = 0.9
            made.proved[:] = 1.0

        found = summed(change=worse)[1]
        assert found.advantage == -1
        assert found.gain == pytest.approx(-0.8)

    def test_without_a_guarantee_nothing_is_proved_of_anybody(self, ready, made_up):
        made = made_up(ready(**STUDY), 5)
        bare = [{k: v for k, v in t.items() if k != "bound"} for t in made.trials]
        [(name, attack, _)] = made.experiment.attacks[:1]
        found = attack_result(made.experiment, name, attack, bare, luck=np.zeros(5), bounds=())
        assert found.share == pytest.approx(made.share[name].mean())


@pytest.mark.states("Swanberg et al. 2025", "section 6.1")
@pytest.mark.parametrize("real", [False, True])
def test_an_attack_below_the_guess_of_its_own_trials_says_why(summed, real):
    """Of as many trials as it took part in: others had other people."""

    def change(made):
        made.share["rap"][:] = 0.4
        made.guess[:20], made.guess[20:] = 0.5, 0.3
        made.guessed[:20], made.guessed[20:] = 0.6, 0.1

    changes = {"attacks": {"prior": {}, "rap": {"trials": 20}}, "bounds": {"confidence": [0.5]}}
    if real:
        changes["threat"] = {**STUDY["threat"], "people": "rows"}
    _, found = summed("rap", change=change, **changes)
    assert found.below.guess == pytest.approx(0.6 if real else 0.5)
    assert "never looks at the prior" in found.below.why
    _, found = summed("prior", change=lambda made: made.guess.fill(0.99), **changes)
    assert found.below is None  # it decides by the prior: that would be luck
    _, found = summed("rap", change=lambda made: made.guess.fill(0.2), **changes)
    assert found.below is None


def test_one_columns_share_is_that_of_the_whole_also_where_a_bound_cuts_it(summed):
    alone = {"threat": {"unknown": ["ill"], "targets": 10}}
    for proved in (1.0, 0.4):
        _, found = summed(change=lambda m, most=proved: m.proved.fill(most), **alone)
        [own] = found.columns.values()
        assert (own.share, own.low, own.high) == (found.share, found.low, found.high)
        assert found.share <= proved
