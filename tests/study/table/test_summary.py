"""One setting summarised: which trials count for whom, luck, the guess, the best attack."""

import numpy as np
import pytest

from narcissus.evidence import PeopleSums, clopper_pearson, population_mean_upper
from narcissus.study.table.bound_summary import bound_results
from narcissus.study.table.summary import (
    ENOUGH_FOR_LUCK,
    attack_result,
    group_results,
    prior_test,
    summarise,
)

STUDY = {
    "threat": {"unknown": ["ill"], "targets": 10},
    "mechanism": {"epsilon": [1.0, 4.0]},
    "attacks": {"posterior": {"trials": 30}, "prior": {}, "ceiling": {}},
    "run": {"trials": 40, "confidence": 0.9},
}
ROWS = {"threat": {**STUDY["threat"], "people": "rows"}}


def width(test):
    return test.off_high - test.off_low


def slope(x, y):
    return np.polyfit(x, y, 1)[0]


def test_every_part_is_about_its_own_trials(ready, made_up):
    made = made_up(ready(**STUDY), 40)
    found = summarise(made.experiment, 1, made.trials)
    experiment, setting = made.experiment, made.experiment.settings[1]
    assert (found.epsilon, found.delta, found.label) == (4.0, setting.delta, setting.label)
    assert found.mu == setting.mu
    noise = setting.mechanism.noise
    assert (found.noise.kind, found.noise.scale) == (noise.kind, noise.scale)
    assert (found.marginals, found.cells) == (experiment.queries.tables, experiment.queries.cells)
    assert (found.people, found.trials, found.confidence) == (10, 40, 0.9)
    assert found.prior_is_exact
    assert found.bounds == bound_results(experiment, 1, made.trials)
    assert found.groups == group_results(experiment, made.trials)
    luck = slope(made.control, made.share["ceiling"].mean(axis=1)) * made.control
    for name, attack, count in experiment.attacks:
        one = attack_result(
            experiment, name, attack, made.trials[:count], luck=luck[:count], bounds=found.bounds
        )
        summed = found.ceiling if attack.informed else found.attacks[name]
        for key in ("share", "low", "high", "low_joint", "baseline", "gain", "gain_low_joint"):
            assert getattr(summed, key) == pytest.approx(getattr(one, key), abs=1e-12)
        assert summed.approximate.high == pytest.approx(one.approximate.high)
        assert (summed.trials, summed.title) == (count, attack.title)
    assert list(found.attacks) == ["posterior", "prior"]


def without_luck(made):
    """Say how much luck was taken out of the estimate of `prior`; nothing else lowers it here."""
    made.proved[:] = 1.0
    found = summarise(made.experiment, 0, made.trials)
    return made.share["prior"].mean() - found.attacks["prior"].share


@pytest.mark.parametrize("attacks", [["prior", "ceiling"], ["posterior", "prior"], ["prior"]])
def test_luck_is_fitted_to_who_sees_most(ready, made_up, attacks):
    """The ceiling; else the first attack that takes part in every trial."""
    made = made_up(ready(**{**STUDY, "attacks": {k: STUDY["attacks"][k] for k in attacks}}), 40)
    made.control += 0.05
    who = "ceiling" if "ceiling" in attacks else "prior"
    for name in attacks:
        made.share[name] += 2 * (name == who) * made.control[:, None]
    expected = slope(made.control, made.share[who].mean(axis=1)) * made.control.mean()
    assert abs(expected) > 0.05
    assert without_luck(made) == pytest.approx(expected)


def test_luck_is_not_fitted_where_it_cannot_be(ready, made_up):
    few, enough = ENOUGH_FOR_LUCK - 1, ENOUGH_FOR_LUCK
    for trials, fitted in ((few, False), (enough, True)):
        made = made_up(ready(**STUDY), trials)
        made.control += 0.05
        assert (abs(without_luck(made)) > 1e-6) == fitted
    made = made_up(ready(**STUDY), 40)
    made.control[:] = 0.05
    assert without_luck(made) == pytest.approx(0, abs=1e-12)
    made = made_up(ready(**{**STUDY, **ROWS}), 40)
    made.control += 0.05
    assert without_luck(made) == pytest.approx(0, abs=1e-12)
    some = {"posterior": {"trials": 30}}
    made = made_up(ready(**{**STUDY, "attacks": some}), 40)
    made.control += 0.05
    made.proved[:] = 1.0
    found = summarise(made.experiment, 0, made.trials).attacks["posterior"]
    assert found.share == pytest.approx(made.share["posterior"][:30].mean())
    # one trial that differs from the mean is enough of a spread; the others may be at the mean
    made = made_up(ready(**STUDY), 40)
    made.control[:] = 0.05
    made.control[:2] = 0.01, 0.09
    assert without_luck(made) != pytest.approx(0, abs=1e-6)


def test_the_guess_is_known_from_the_prior_of_each_person(ready, made_up):
    made = made_up(ready(**STUDY), 40)
    guess = summarise(made.experiment, 0, made.trials).guess
    assert guess.share == pytest.approx(made.guess.mean())
    g = made.guess
    ends = [
        population_mean_upper(x.sum(axis=1), (x**2).sum(axis=1), 10, confidence=0.95).high
        for x in (1 - g, g)
    ]
    assert [guess.low, guess.high] == pytest.approx([1 - ends[0], ends[1]])
    assert guess.by_the_prior is None


def test_of_real_people_the_guess_is_what_it_got_right_beside_what_the_prior_says(ready, made_up):
    made = made_up(ready(**{**STUDY, **ROWS}), 40)
    found = summarise(made.experiment, 0, made.trials)
    real, said = made.guessed.mean(axis=1), made.guess.mean(axis=1)
    limits = clopper_pearson(int(made.guessed.sum()), 400, confidence=0.9)
    assert found.guess.share == pytest.approx(limits.value)
    assert [found.guess.low, found.guess.high] == pytest.approx([limits.low, limits.high])
    off = made.guessed - made.guess
    people = PeopleSums(off.sum(axis=1), (off**2).sum(axis=1), 10, -1.0, 1.0)
    expected = prior_test(made.experiment, real, said, people)
    assert width(expected) < 0.85 * width(prior_test(made.experiment, real, said))
    assert found.guess.by_the_prior.model_dump() == pytest.approx(expected.model_dump())
    assert not found.prior_is_exact
    made.guess[:] = 1 + 1e-12  # sums of chances are rounded
    sure = summarise(made.experiment, 0, made.trials).guess
    assert sure.by_the_prior.by_the_prior == 1


def test_the_best_attack_has_most_evidence_and_is_not_the_luckiest(ready, made_up):
    """Five lucky trials of one attack against forty of another; then by what was recovered."""
    made = made_up(ready(**{**STUDY, "attacks": {"posterior": {"trials": 5}, "prior": {}}}), 40)
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
    alone = made_up(ready(**{**STUDY, "attacks": {"ceiling": {}}}), 5)
    only = summarise(alone.experiment, 0, alone.trials)
    assert (only.best, only.attacks) == (None, {})
    assert only.ceiling is not None


def test_a_level_without_noise_has_no_number(ready, made_up):
    for mechanism in ({"epsilon": "=inf"}, {"epsilon": None, "mu": "=inf"}):
        made = made_up(ready(**{**STUDY, "mechanism": mechanism}), 2)
        found = summarise(made.experiment, 0, made.trials)
        assert (found.epsilon, found.mu, found.delta) == (None, None, None)
        assert found.noise.scale == 0
    made = made_up(ready(**{**STUDY, "mechanism": {"epsilon": None, "mu": 0.5}}), 2)
    found = summarise(made.experiment, 0, made.trials)
    assert found.mu == 0.5
    pure = made_up(ready(**{**STUDY, "mechanism": {"noise": "laplace", "epsilon": 0.5}}), 2)
    found = summarise(pure.experiment, 0, pure.trials)
    assert (found.epsilon, found.delta, found.mu) == (0.5, 0.0, None)
