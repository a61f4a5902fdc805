"""One setting summarised: which trials count for whom, luck, the guess, the best attack."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from tests.table_nodes import bound_of

from narcissus.evidence import (
    PeopleSums,
    advantage_limits,
    clopper_pearson,
    difference_limits,
    mean_limits,
    median_limits,
    narrowest_limits,
    population_mean_upper,
)
from narcissus.kinds.table.bound_summary import bounds_at, mean_of_people
from narcissus.kinds.table.found import GUESS
from narcissus.kinds.table.summary import (
    ENOUGH_FOR_LUCK,
    STRONGEST,
    _guess_of,
    attack_result,
    group_results,
    prior_test,
    summarise,
)

from .conftest import Declared

HALF = clopper_pearson(5, 10, confidence=0.9)
STUDY = {
    "threat": {"unknown": ["ill"], "targets": 10},
    "mechanism": {"epsilon": [1.0, 4.0]},
    "attacks": {"posterior": {"trials": 30}, "prior": {}, "ceiling": {}},
    "run": {"trials": 40, "confidence": 0.9},
}
ROWS = {"threat": {**STUDY["threat"], "people": "rows"}}


def width(test):
    return test.off.high - test.off.low


def slope(x, y):
    return np.polyfit(x, y, 1)[0]


def test_every_part_is_about_its_own_trials(prepared, made_up):
    made = made_up(prepared(**STUDY), 40)
    found = summarise(made.experiment, 1, made.trials)
    experiment, setting = made.experiment, made.experiment.settings[1]
    assert (found.epsilon, found.delta, found.label) == (
        4.0,
        setting.delta,
        setting.label,
    )
    assert found.mu == setting.mu
    noise = setting.mechanism.noise
    assert (found.noise.kind, found.noise.scale) == (noise.kind, noise.scale)
    assert (found.marginals, found.cells) == (
        experiment.queries.tables,
        experiment.queries.cells,
    )
    assert (found.people, found.trials, found.confidence) == (10, 40, 0.9)
    assert found.prior_is_exact
    assert found.bounds == tuple(bounds_at(experiment, 1, made.trials))
    assert found.groups == tuple(group_results(experiment, made.trials)) != ()
    control_variate = slope(made.control, made.share["ceiling"].mean(axis=1)) * made.control
    for name, attack, count in experiment.attacks:
        one = attack_result(
            experiment,
            name,
            attack,
            made.trials[:count],
            control_variate=control_variate[:count],
            bounds=found.bounds,
        )
        summed = found.ceiling if attack.informed else found.attacks[name]
        for key in ("share", "low", "high", "low_joint", "baseline", "gain_low_joint"):
            assert getattr(summed, key) == pytest.approx(getattr(one, key), abs=1e-12)
        assert summed.gain.value == pytest.approx(one.gain.value, abs=1e-12)
        assert summed.quantity.approximate == pytest.approx(one.quantity.approximate)
        assert (summed.trials, summed.title) == (count, attack.title)
    assert list(found.attacks) == ["posterior", "prior"]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("reveals", [True, False])
def test_what_a_declared_release_may_add_is_a_row(prepared, made_up, exact, reveals):
    """Where the prior is exact and a theorem says it; it is limited by the level of the study."""
    made = made_up(prepared(**(STUDY if exact else {**STUDY, **ROWS})), 40)
    settings = tuple(
        replace(one, mechanism=Declared(one.mechanism, ("it is kept",)))
        for one in made.experiment.settings
    )
    trials = made.trials
    if not reveals:
        trials = [{k: v for k, v in t.items() if k != "gain_bound"} for t in trials]
    found = summarise(replace(made.experiment, settings=settings), 0, trials)
    rows = [row for row in found.rows() if row.of == "gain declared"]
    assert (found.declared, found.is_declared) == (("it is kept",), True)
    if not (exact and reveals):
        assert rows == []
        return
    sums = np.array([t["gain_bound"] for t in trials])
    most = mean_of_people(made.experiment, sums[:, 0], sums[:, 1], confidence=0.9).high
    [(role, at, value, level)] = [
        (row.role, row.at, row.value, row.quantity.confidence) for row in rows
    ]
    assert (role, at, level) == ("bound", {"setting": found.label}, 0.9)
    assert value == pytest.approx(most)


@pytest.mark.parametrize(("strength", "said"), [(2.5, 2.5), (np.inf, STRONGEST), (None, None)])
def test_a_record_holds_every_strength(prepared, made_up, strength, said):
    made = made_up(prepared(**STUDY), 3)
    settings = tuple(replace(one, strength=strength) for one in made.experiment.settings)
    found = summarise(replace(made.experiment, settings=settings), 0, made.trials)
    assert found.strength == said


def test_a_guess_of_columns_is_the_best_found_only_where_something_is_left_unproved():
    """What an exact search leaves is nothing; else the limit stands beside the guess."""
    for left, best in ((0.0, False), (0.25, True)):
        trials = [
            {"guess_columns": np.array([0.2, 0.4]), "guess_limit": np.array([0.6, left])},
            {"guess_columns": np.array([0.4, 0.6]), "guess_limit": np.array([0.8, left])},
        ]
        experiment = SimpleNamespace(
            factored=True, claimed=0.9, table=SimpleNamespace(names=("a", "b", "c")),
            queries=SimpleNamespace(unknown=(2, 0)),
        )  # fmt: skip
        found = _guess_of(experiment, trials, HALF, None)
        assert found.is_best_found is best
        assert found.at_most == (pytest.approx(0.7) if best else None)
        assert found.columns == {"c": pytest.approx(0.3), "a": pytest.approx(0.5)}
    plain = _guess_of(SimpleNamespace(factored=False, claimed=0.9), trials, HALF, None)
    assert (plain.is_best_found, plain.at_most, plain.columns) == (False, None, {})


def without_luck(made):
    """Return the luck that was taken out of the estimate of `prior`; nothing else lowers it."""
    made.proved[:] = 1.0
    found = summarise(made.experiment, 0, made.trials)
    return made.share["prior"].mean() - found.attacks["prior"].share


@pytest.mark.parametrize("attacks", [["prior", "ceiling"], ["posterior", "prior"], ["prior"]])
def test_luck_is_fitted_to_who_sees_most(prepared, made_up, attacks):
    """The ceiling; else the first attack that takes part in every trial."""
    made = made_up(prepared(**{**STUDY, "attacks": {k: STUDY["attacks"][k] for k in attacks}}), 40)
    made.control += 0.05
    who = "ceiling" if "ceiling" in attacks else "prior"
    for name in attacks:
        made.share[name] += 2 * (name == who) * made.control[:, None]
    expected = slope(made.control, made.share[who].mean(axis=1)) * made.control.mean()
    assert abs(expected) > 0.05
    assert without_luck(made) == pytest.approx(expected)


def test_luck_is_not_fitted_where_it_cannot_be(prepared, made_up):
    few, enough = ENOUGH_FOR_LUCK - 1, ENOUGH_FOR_LUCK
    for trials, fitted in ((few, False), (enough, True)):
        made = made_up(prepared(**STUDY), trials)
        made.control += 0.05
        assert (abs(without_luck(made)) > 1e-6) == fitted
    made = made_up(prepared(**STUDY), 40)
    made.control[:] = 0.05
    assert without_luck(made) == pytest.approx(0, abs=1e-12)
    made = made_up(prepared(**{**STUDY, **ROWS}), 40)
    made.control += 0.05
    assert without_luck(made) == pytest.approx(0, abs=1e-12)
    some = {"posterior": {"trials": 30}}
    made = made_up(prepared(**{**STUDY, "attacks": some}), 40)
    made.control += 0.05
    made.proved[:] = 1.0
    found = summarise(made.experiment, 0, made.trials).attacks["posterior"]
    assert found.share == pytest.approx(made.share["posterior"][:30].mean())
    # one trial that differs from the mean is enough of a spread; the others may be at the mean
    made = made_up(prepared(**STUDY), 40)
    made.control[:] = 0.05
    made.control[:2] = 0.01, 0.09
    assert without_luck(made) != pytest.approx(0, abs=1e-6)


def test_the_guess_is_known_from_the_prior_of_each_person(prepared, made_up):
    made = made_up(prepared(**STUDY), 40)
    guess = summarise(made.experiment, 0, made.trials).guess
    assert guess.share == pytest.approx(made.guess.mean())
    g = made.guess
    ends = [
        population_mean_upper(x.sum(axis=1), (x**2).sum(axis=1), 10, confidence=0.95).high
        for x in (1 - g, g)
    ]
    assert [guess.low, guess.high] == pytest.approx([1 - ends[0], ends[1]])
    assert not summarise(made.experiment, 0, made.trials).prior_tests


def test_of_real_people_the_guess_is_what_it_got_right_beside_what_the_prior_says(
    prepared, made_up
):
    made = made_up(prepared(**{**STUDY, **ROWS}), 40)
    found = summarise(made.experiment, 0, made.trials)
    real, said = made.guessed.mean(axis=1), made.guess.mean(axis=1)
    limits = clopper_pearson(int(made.guessed.sum()), 400, confidence=0.9)
    assert found.guess.share == pytest.approx(limits.value)
    assert [found.guess.low, found.guess.high] == pytest.approx([limits.low, limits.high])
    off = made.guessed - made.guess
    people = PeopleSums(off.sum(axis=1), (off**2).sum(axis=1), 10, -1.0, 1.0)
    expected = prior_test(made.experiment, real, said, people)
    assert width(expected) < 0.85 * width(prior_test(made.experiment, real, said))
    test = found.prior_tests[GUESS]
    for end in ("value", "low", "high"):  # sums differ in the last digit by their order
        assert getattr(test.off, end) == pytest.approx(getattr(expected.off, end), rel=1e-12)
    assert (test.by_the_prior, test.off.confidence) == (
        expected.by_the_prior, expected.off.confidence,
    )  # fmt: skip
    assert not found.prior_is_exact
    made.guess[:] = 1 + 1e-12  # sums of chances are rounded
    sure = summarise(made.experiment, 0, made.trials).prior_tests[GUESS]
    assert sure.by_the_prior == 1


def test_the_best_attack_has_most_evidence_and_is_not_the_luckiest(prepared, made_up):
    """Five lucky trials of one attack against forty of another; then by what was recovered."""
    made = made_up(prepared(**{**STUDY, "attacks": {"posterior": {"trials": 5}, "prior": {}}}), 40)
    made.proved[:] = 1.0
    made.share["posterior"][:], made.share["prior"][:] = 0.6, 0.5
    found = summarise(made.experiment, 0, made.trials)
    assert found.attacks["posterior"].share > found.attacks["prior"].share
    assert found.best == "prior"
    made.share["posterior"][:], made.share["prior"][:] = 0.0, 0.0
    made.share["posterior"][0] = 1e-3
    found = summarise(made.experiment, 0, made.trials)
    assert found.attacks["prior"].low_joint == found.attacks["posterior"].low_joint == 0
    assert found.best == "posterior"
    alone = made_up(prepared(**{**STUDY, "attacks": {"ceiling": {}}}), 5)
    only = summarise(alone.experiment, 0, alone.trials)
    assert (only.best, only.attacks) == (None, {})
    assert only.ceiling is not None


def test_a_level_without_noise_has_no_number(prepared, made_up):
    for mechanism in ({"epsilon": "=inf"}, {"epsilon": None, "mu": "=inf"}):
        made = made_up(prepared(**{**STUDY, "mechanism": mechanism}), 2)
        found = summarise(made.experiment, 0, made.trials)
        assert (found.epsilon, found.mu, found.delta) == (None, None, None)
        assert found.noise.scale == 0
    made = made_up(prepared(**{**STUDY, "mechanism": {"epsilon": None, "mu": 0.5}}), 2)
    found = summarise(made.experiment, 0, made.trials)
    assert found.mu == 0.5
    pure = made_up(prepared(**{**STUDY, "mechanism": {"noise": "laplace", "epsilon": 0.5}}), 2)
    found = summarise(pure.experiment, 0, pure.trials)
    assert (found.epsilon, found.delta, found.mu) == (0.5, 0.0, None)


STUDY_ATTACK = {
    "threat": {"unknown": ["ill", "town"], "targets": 10},
    "mechanism": {"epsilon": [1.0, 4.0]},
    "attacks": {"prior": {}, "posterior": {"trials": 30}, "ceiling": {}},
    "run": {"trials": 40, "confidence": 0.9},
}
JOINT = 1 - 0.1 / (2 * 2)  # two attacks without the ceiling, at two settings


GIVEN = {
    "theorem": "t", "guarantee": "g", "grade": "proved", "for_comparison": False,
    "assumptions": (), "takes_as_given": (),
}  # fmt: skip


def bound(share, **more):
    told = {"limits": "share", "name": "mean share", "share_at_most": 0.1}
    return bound_of(GIVEN | told | {"share_of_population": share} | more)


COUNT = bound_of(GIVEN | {
    "limits": "count", "name": "domination", "confidence": 0.9, "at_most": 1, "of": 10,
    "at_most_of_population": 0,
})  # fmt: skip


@pytest.fixture
def summed(prepared, made_up):
    """Give a function from a study to its made-up people and the summary of one attack."""

    def make(
        name="prior",
        *,
        bounds=(),
        control_variate=None,
        trials=40,
        change=lambda made: None,
        **study,
    ):
        made = made_up(prepared(**{**STUDY_ATTACK, **study}), trials)
        change(made)
        [(_, attack, count)] = [one for one in made.experiment.attacks if one[0] == name]
        none = np.zeros(trials)
        return made, attack_result(
            made.experiment,
            name,
            attack,
            made.trials[:count],
            control_variate=(none if control_variate is None else control_variate)[:count],
            bounds=bounds,
        )

    return make


def ends(found):
    return pytest.approx([found.value, found.low, found.high], abs=1e-12)


ROWS_ATTACK = {"threat": {**STUDY_ATTACK["threat"], "people": "rows"}}


@pytest.mark.parametrize("name", ["prior", "posterior", "ceiling"])
@pytest.mark.parametrize("more", [{}, ROWS_ATTACK], ids=["prior", "rows"])
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
    assert [found.median.value, found.median.low, found.median.high] == ends(
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
    assert found.narrowest == pytest.approx(narrow)
    # a studentised interval with some skewness taken out is near Student's
    half = stats.t.ppf(0.95, count - 1) * shares.std(ddof=1) / count**0.5
    low, high = found.quantity.approximate
    assert high - low == pytest.approx(2 * half, rel=0.1)


@pytest.mark.parametrize("name", ["prior", "posterior", "ceiling"])
@pytest.mark.parametrize("more", [{}, ROWS_ATTACK], ids=["prior", "rows"])
def test_the_baseline_is_fresh_people_or_a_decoy(summed, name, more):
    """A decoy only where the prior may be wrong; and none for who is told the other secrets."""
    made, found = summed(name, change=lambda m: m.proved.fill(1.0), **more)
    count = 30 if name == "posterior" else 40
    shares = made.share[name][:count].mean(axis=1)
    on_decoy = bool(more) and name != "ceiling"
    fresh = made.decoy[name][:count, 0] if on_decoy else made.fresh[name][:count].mean(axis=1)
    base = mean_limits(fresh, confidence=0.9, people=10)
    assert [found.baseline, found.without.low, found.without.high] == ends(base)
    assert found.baseline_exact != on_decoy
    assert (found.decoy is not None) == on_decoy
    gain = difference_limits(shares, fresh, confidence=0.9, people=10)
    assert [found.gain.value, found.gain.low, found.gain.high] == ends(gain)
    joint = difference_limits(shares, fresh, confidence=JOINT, people=10)
    assert found.gain_low_joint == pytest.approx(joint.low)
    advantage = advantage_limits(shares, fresh, confidence=0.9, people=10)
    assert [found.advantage.value, found.advantage.low, found.advantage.high] == ends(advantage)
    if on_decoy:
        assert [found.decoy.share, found.decoy.low, found.decoy.high] == ends(base)
        said = made.decoy[name][:count, 1]
        assert found.decoy.test == prior_test(made.experiment, fresh, said)


@pytest.mark.parametrize("confidence", [0.9, 0.995])
def test_a_prior_is_tested_by_every_attack_and_the_guess_at_99_percent_or_more(
    prepared, confidence
):
    experiment = prepared(**{**STUDY_ATTACK, "run": {"trials": 40, "confidence": confidence}})
    real, said = np.linspace(0.3, 0.7, 40), np.linspace(0.5, 0.4, 40)
    found = prior_test(experiment, real, said)
    level = 1 - (1 - max(confidence, 0.99)) / 5  # four lower limits, and the guess
    assert found.off.confidence == pytest.approx(level)
    off = difference_limits(real, said, confidence=level, people=10)
    assert [found.off.value, found.off.low, found.off.high] == ends(off)
    assert found.by_the_prior == pytest.approx(0.45)


def test_shares_and_decoys_that_are_off_by_rounding_are_taken_for_0_and_1(summed):
    def off(made):
        for name, value in (("prior", 1 + 1e-12), ("posterior", -1e-12)):
            made.share[name][:], made.fresh[name][:], made.decoy[name][:] = value, 1 - value, value
        made.proved[:] = 1.0

    for more in ({}, ROWS_ATTACK):
        assert summed("prior", change=off, **more)[1].share == 1
        assert summed("posterior", change=off, **more)[1].share == 0


def test_luck_is_taken_out_of_the_estimate_and_of_no_limit_that_holds(summed):
    control_variate = np.linspace(-0.02, 0.06, 40)
    made, plain = summed(change=lambda m: m.proved.fill(1.0))
    _, found = summed(change=lambda m: m.proved.fill(1.0), control_variate=control_variate)
    shares = made.share["prior"].mean(axis=1)
    assert found.share == pytest.approx(shares.mean() - 0.02)
    assert (found.low, found.high, found.low_joint) == (plain.low, plain.high, plain.low_joint)
    left = shares - control_variate
    half = stats.t.ppf(0.95, 39) * left.std(ddof=1) / 40**0.5
    low, high = found.quantity.approximate
    assert high - low == pytest.approx(2 * half, rel=0.1)
    assert found.quantity.approximate[0] < found.share < found.quantity.approximate[1]
    assert found.gain.value == pytest.approx(found.share - found.baseline)


def test_one_trial_has_no_approximate_limits_and_two_have(summed):
    assert summed(trials=1)[1].quantity.approximate is None
    assert summed(trials=2)[1].quantity.approximate is not None


def test_approximate_limits_stay_shares(summed):
    def wide(made):
        made.share["prior"][:] = 0.98
        made.share["prior"][0] = 0.6
        made.share["posterior"][:] = 0.02
        made.share["posterior"][0] = 0.4
        made.proved[:] = 1.0

    for name in ("prior", "posterior"):
        found = summed(name, change=wide, trials=3)[1].quantity.approximate
        assert 0 <= found[0] < found[1] <= 1
    assert summed("prior", change=wide, trials=3)[1].quantity.approximate[1] == 1
    assert summed("posterior", change=wide, trials=3)[1].quantity.approximate[0] == 0


class TestHeldBelowWhatIsProved:
    """The shares lie around 0.45; the people's own bound is what is proved of them."""

    def test_an_estimate_above_what_is_proved_of_its_people_is_luck(self, summed):
        made, found = summed("posterior", change=lambda m: m.proved.fill(0.4))
        assert made.share["posterior"][:30].mean() > 0.44
        assert found.share == pytest.approx(0.4)
        assert found.low <= found.share <= found.high
        assert found.quantity.approximate[0] <= found.share <= found.quantity.approximate[1]
        assert found.gain.value == pytest.approx(0.4 - found.baseline)
        assert found.advantage.value == pytest.approx((0.4 - found.baseline) / (1 - found.baseline))
        assert found.gain.low <= found.gain.value <= found.gain.high
        assert found.advantage.low <= found.advantage.value <= found.advantage.high
        assert found.gain_low_joint <= found.gain.value

    def test_only_the_trials_of_the_attack_count(self, summed):
        def late(made):
            made.proved[:30], made.proved[30:] = 0.42, 0.0

        assert summed("posterior", change=late)[1].share == pytest.approx(0.42)

    def test_real_people_are_not_held_by_what_a_prior_says(self, summed):
        made, found = summed(
            change=lambda m: m.proved.fill(0.4), bounds=[bound(0.4)], **ROWS_ATTACK
        )
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
        declared = bound(0.41, grade="proved if", **said)
        assert plain.low_joint < 0.41 < plain.low
        assert summed(change=lambda m: m.proved.fill(0.41), bounds=[declared])[1] == plain

    def test_a_share_at_what_is_proved_is_covered_at_its_level(self, prepared, made_up):
        """The worst case: the attack gets all that is proved, whose own limit misses as often as
        it may. Every course of five trials is summed up, so that no chance is left: neither side
        misses more often than it may. An upper limit cut at the proof's would: the last line.
        """
        study = {**STUDY_ATTACK, "attacks": {"prior": {}}, "run": {"trials": 5, "confidence": 0.5}}
        made = made_up(prepared(**study), 5)
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
                    made.experiment,
                    name,
                    attack,
                    played,
                    control_variate=none,
                    bounds=[bound(above)],
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
        assert found.gain.value == pytest.approx(found.share - 1)
        assert found.advantage.value == 0

    def test_an_advantage_is_no_less_than_minus_one(self, summed):
        def worse(made):
            made.share["prior"][:] = 0.1
            made.fresh["prior"][:] = 0.9
            made.proved[:] = 1.0

        found = summed(change=worse)[1]
        assert found.advantage.value == -1
        assert found.gain.value == pytest.approx(-0.8)

    def test_without_a_guarantee_nothing_is_proved_of_anybody(self, prepared, made_up):
        made = made_up(prepared(**STUDY_ATTACK), 5)
        bare = [{k: v for k, v in t.items() if k != "bound"} for t in made.trials]
        [(name, attack, _)] = made.experiment.attacks[:1]
        found = attack_result(
            made.experiment, name, attack, bare, control_variate=np.zeros(5), bounds=()
        )
        assert found.share == pytest.approx(made.share[name].mean())


@pytest.mark.states("Swanberg et al. 2025", "section 6.1")
@pytest.mark.parametrize("real", [False, True])
def test_an_attack_below_the_guess_of_its_own_trials_says_why(summed, real):
    """Of as many trials as it took part in: others had other people."""

    def change(made):
        made.share["rap"][:] = 0.4
        made.guess[:20], made.guess[20:] = 0.5, 0.3
        made.guessed[:20], made.guessed[20:] = 0.6, 0.1

    changes = {"attacks": {"prior": {}, "rap": {"trials": 20}}}
    if real:
        changes["threat"] = {**STUDY_ATTACK["threat"], "people": "rows"}
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


STUDY_GROUP = {
    "threat": {"unknown": ["ill"], "targets": 10},
    "mechanism": {"epsilon": [1.0, 4.0]},
    "attacks": {"prior": {}, "posterior": {"trials": 25}, "ceiling": {}},
    "groups": {"columns": ["sex", "ill"], "unusual": False},
    "run": {"trials": 40, "confidence": 0.9},
}


def test_every_group_from_its_members_trial_by_trial(prepared, made_up):
    """Trials without a member are left out; limits hold for all groups, attacks and settings."""
    made = made_up(prepared(**STUDY_GROUP), 40)
    groups = made.experiment.groups.names
    made.members[3, 0] = False
    made.members[:, 1] = False
    made.members[:30, 2] = False
    joint = 1 - 0.1 / (2 * 2 * len(groups))
    found = {(one.by, one.group): one for one in [*group_results(made.experiment, made.trials)]}
    assert set(found) == {name for g, name in enumerate(groups) if g != 1}
    for g, name in enumerate(groups):
        if g == 1:
            continue
        own, members = found[name], made.members[:, g]
        assert own.by_secret == (name[0] == "ill")
        assert own.share_of_people == pytest.approx(members.mean())
        some = members.any(axis=1)

        def means(values, count, members=members, some=some):
            return np.array([v[m].mean() for v, m, s in zip(values[:count], members, some) if s])

        guessed = made.guessed if own.by_secret else made.guess
        assert own.guess.share == pytest.approx(means(guessed, 40).mean())
        among = [one[m] for one, m in zip(guessed, members, strict=True)]
        if own.by_secret:  # hits, one by one
            right = clopper_pearson(int(sum(map(sum, among))), members.sum(), confidence=joint)
            limits = [right.low, right.high]
        else:  # trial by trial: nobody is in a release of their own
            trialwise = mean_limits(means(guessed, 40), confidence=joint, people=10)
            limits = [trialwise.low, trialwise.high]
        limits = [min(limits[0], own.guess.share), max(limits[1], own.guess.share)]
        assert [own.guess.low, own.guess.high] == pytest.approx(limits)
        attacks = {**own.attacks, **({"ceiling": own.ceiling} if own.ceiling else {})}
        assert own.ceiling is not None
        assert "ceiling" not in own.attacks
        assert set(attacks) == {"prior", "ceiling"} | ({"posterior"} if g != 2 else set())
        for attack, one in attacks.items():
            count = 25 if attack == "posterior" else 40
            shares = means(made.share[attack], count)
            limits = mean_limits(shares, confidence=joint, people=10)
            assert one.share == pytest.approx(limits.value)
            assert [one.low, one.high] == pytest.approx([limits.low, limits.high])
            over = difference_limits(shares, means(guessed, count), confidence=joint, people=10)
            assert [one.over_guess.value, one.over_guess.low] == pytest.approx(
                [over.value, over.low]
            )
            assert one.baseline == pytest.approx(means(made.fresh[attack], count).mean())
            assert one.people == members[:count].sum()


def test_a_study_without_a_ceiling_has_none_of_any_group(prepared, made_up):
    made = made_up(prepared(**{**STUDY_GROUP, "attacks": {"prior": {}}}), 4)
    assert all(one.ceiling is None for one in group_results(made.experiment, made.trials))


def test_rounding_leaves_no_share_of_a_group_outside_of_0_and_1(prepared, made_up):
    made = made_up(prepared(**STUDY_GROUP), 4)
    made.share["prior"][:], made.guess[:], made.guessed[:] = 1 + 1e-12, -1e-12, 0
    made.share["posterior"][:] = -1e-12
    for one in [*group_results(made.experiment, made.trials)]:
        assert one.attacks["prior"].share == 1
        assert one.attacks["prior"].over_guess.value == 1
        assert one.attacks["posterior"].share == 0
        assert one.guess.share == 0


def test_of_a_group_told_by_its_secrets_an_attack_is_held_against_itself(prepared, made_up):
    """Trials without members, true or fresh, are left out; other groups have the best guess."""
    made = made_up(prepared(**STUDY_GROUP), 40)
    trials, rng = made.trials, np.random.default_rng(5)
    for t, trial in enumerate(trials):
        trial["strangers"] = rng.integers(1, 5, len(trial["groups"]))
        trial["strangers"][-1] *= t % 4 > 0
        for name in ("prior", "posterior", "ceiling"):
            if f"{name}/group_share" in trial:
                trial[f"{name}/group_decoy"] = trial["strangers"] * rng.random()
    found = [*group_results(made.experiment, trials)]
    told = [one for one in found if one.by_secret]
    assert [one.group for one in told]
    for one in found:
        g = made.experiment.groups.names.index((one.by, one.group))
        for name, own in one.attacks.items():
            assert (own.by_chance is None) == (not one.by_secret)
            if own.by_chance is None:
                continue
            some = [
                t for t in trials[: 25 if name == "posterior" else 40]
                if t["groups"][g] > 0 and t["strangers"][g] > 0
            ]  # fmt: skip
            real = [t[f"{name}/group_share"][g] / t["groups"][g] for t in some]
            fresh = [t[f"{name}/group_decoy"][g] / t["strangers"][g] for t in some]
            joint = 1 - 0.1 / (2 * 2 * len(made.experiment.groups.names))
            over = difference_limits(np.clip(real, 0, 1), fresh, confidence=joint, people=10)
            assert own.by_chance.share == pytest.approx(np.mean(fresh))
            assert own.by_chance.gain == pytest.approx(over.value)
            assert own.by_chance.gain_low == pytest.approx(over.low)
