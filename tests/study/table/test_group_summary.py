"""Groups: whom a share is about, what it is compared with, at which level limits hold."""

import numpy as np
import pytest

from narcissus.evidence import clopper_pearson, difference_limits, mean_limits
from narcissus.study.table.summary import group_results

STUDY = {
    "threat": {"unknown": ["ill"], "targets": 10},
    "mechanism": {"epsilon": [1.0, 4.0]},
    "attacks": {"prior": {}, "posterior": {"trials": 25}, "ceiling": {}},
    "groups": {"columns": ["sex", "ill"], "unusual": False},
    "run": {"trials": 40, "confidence": 0.9},
}


def test_every_group_from_its_members_trial_by_trial(ready, made_up):
    """Trials without a member are left out; limits hold for all groups, attacks and settings."""
    made = made_up(ready(**STUDY), 40)
    groups = made.experiment.groups.names
    made.members[3, 0] = False
    made.members[:, 1] = False
    made.members[:30, 2] = False
    joint = 1 - 0.1 / (2 * 2 * len(groups))
    found = {(one.by, one.group): one for one in group_results(made.experiment, made.trials)}
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
            assert [one.over_guess, one.over_guess_low] == pytest.approx([over.value, over.low])
            assert one.baseline == pytest.approx(means(made.fresh[attack], count).mean())
            assert one.people == members[:count].sum()


def test_a_study_without_a_ceiling_has_none_of_any_group(ready, made_up):
    made = made_up(ready(**{**STUDY, "attacks": {"prior": {}}}), 4)
    assert all(one.ceiling is None for one in group_results(made.experiment, made.trials))


def test_rounding_leaves_no_share_of_a_group_outside_of_0_and_1(ready, made_up):
    made = made_up(ready(**STUDY), 4)
    made.share["prior"][:], made.guess[:], made.guessed[:] = 1 + 1e-12, -1e-12, 0
    made.share["posterior"][:] = -1e-12
    for one in group_results(made.experiment, made.trials):
        assert one.attacks["prior"].share == 1
        assert one.attacks["prior"].over_guess == 1
        assert one.attacks["posterior"].share == 0
        assert one.guess.share == 0


def test_of_a_group_told_by_its_secrets_an_attack_is_held_against_itself(ready, made_up):
    """Trials without members, true or fresh, are left out; other groups have the best guess."""
    made = made_up(ready(**STUDY), 40)
    trials, rng = made.trials, np.random.default_rng(5)
    for t, trial in enumerate(trials):
        trial["strangers"] = rng.integers(1, 5, len(trial["groups"]))
        trial["strangers"][-1] *= t % 4 > 0
        for name in ("prior", "posterior", "ceiling"):
            if f"{name}/group_share" in trial:
                trial[f"{name}/group_decoy"] = trial["strangers"] * rng.random()
    found = group_results(made.experiment, trials)
    told = [one for one in found if one.by_secret]
    assert [one.group for one in told]
    for one in found:
        g = made.experiment.groups.names.index((one.by, one.group))
        for name, own in one.attacks.items():
            assert (own.by_chance is None) == (not one.by_secret)
            if own.by_chance is None:
                assert own.sure_gain == own.over_guess_low
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
            assert own.sure_gain == min(own.over_guess_low, own.by_chance.gain_low)
