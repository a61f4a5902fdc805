"""Limits of groups: by members where these are independent, by trials elsewhere, and they cover."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import mean_limits
from narcissus.study.table import limits as module
from narcissus.study.table.enclosure import LEAST, LIKELIEST, MOST
from narcissus.study.table.limits import (
    enclosure_of_group,
    expected_members,
    group_scores,
    guess_of_group,
)
from narcissus.success import exact_match

PEOPLE, SIDE = 40, 0.1
STUDY = {
    "threat": {"unknown": ["ill"], "targets": PEOPLE},
    "mechanism": {"epsilon": 2.0},
    "attacks": {"prior": {}, "posterior": {}, "ceiling": {}},
    "groups": {"columns": ["sex", "ill"], "unusual": False, "singled_out": True},
    "run": {"trials": 100},
}


@dataclass
class Law:
    """People whose chances are known on average, in a group that half of them belong to.

    Each has a guess ``g`` uniform in [.2, .6], by its release a chance between ``g / 2`` and
    ``(1 + g) / 2``, times what is common to all of its release: luck that people share.
    """

    rng: np.random.Generator
    rare: float

    def trial(self):
        """What a trial keeps of the first group; an attack is rarely at its lower end."""
        n = int(self.rng.binomial(PEOPLE, 0.5))
        g = self.rng.uniform(0.2, 0.6, n)
        luck = self.rng.choice([0.5, 1.5])  # in a release that they share
        low, high = luck * g / 2, luck * (1 + g) / 4 + (1 + g) / 4
        place = float(self.rng.random() >= self.rare)
        own = self.rng.choice([0.5, 1.5], n)  # each in a release of their own
        alone = np.zeros((8, n))
        alone[LEAST], alone[MOST] = own * g / 2, own * (1 + g) / 4 + (1 + g) / 4
        alone[LIKELIEST] = g
        ends = np.zeros((8, n))
        ends[LEAST], ends[MOST], ends[LIKELIEST] = low, high, g
        moments = alone, alone**2, 0 * alone + g, 0 * alone + g**2, alone * g
        found = {
            "groups": n,
            "group_ends": ends.sum(axis=1),
            "group_alone": np.stack([v.sum(axis=1) for v in moments], axis=1),
            "group_alone_people": float(n),
            "group_guess": g.sum(),
            "group_guess_squares": (g**2).sum(),
            "posterior/group_share": (low + place * (high - low)).sum(),
            "ceiling/group_share": high.sum(),
        }
        for name in ("posterior", "ceiling"):
            found[f"{name}/group_fresh"] = g.sum()
        return {key: [value] for key, value in found.items()}

    @property
    def truth(self):
        """Mean share of the attack, of the ceiling, and the guess, of a member."""
        least, most, guess = 0.2, 0.7, 0.4
        mean = least + (1 - self.rare) * (most - least)
        return {"posterior": mean, "ceiling": most, "guess": guess}


@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    "repeats", [100, pytest.param(3000, marks=pytest.mark.nightly)], ids=["few", "many"]
)
def test_limits_of_a_group_cover(ready, repeats):
    """15 trials; each side of each limit may miss in .1 of the repeats: false alarms 1e-6 each."""
    experiment = replace(ready(**STUDY), targets=70)  # expected, so that members count
    law = Law(np.random.default_rng(20261122), 1 / 15)
    attacks = {name: attack for name, attack, _ in experiment.attacks}
    misses: dict[str, int] = {}
    for _ in range(repeats):
        trials = [law.trial() for _ in range(15)]
        around = enclosure_of_group(experiment, trials, 0)
        assert around is not None
        found = {"guess": guess_of_group(experiment, trials, 0, around, 1 - 2 * SIDE)}
        for name in ("posterior", "ceiling"):
            own = group_scores(experiment, name, attacks[name], trials, 0, around)
            assert own.scores.around is around
            found[name] = own.scores.share(1 - 2 * SIDE)
            found[f"{name} over"] = own.scores.above_guess(own.guess, 1 - 2 * SIDE)
        for name, one in found.items():
            truth = law.truth[name.split()[0]] - (0.4 if name.endswith("over") else 0.0)
            assert one.low <= one.value <= one.high
            for side, missed in (("low", one.low > truth), ("high", one.high < truth)):
                misses[f"{name} {side}"] = misses.get(f"{name} {side}", 0) + missed
    assert len(misses) == 10
    assert max(misses.values()) <= stats.binom.isf(1e-6, repeats, SIDE), misses


def test_limits_that_ignore_what_a_release_shares_would_be_caught():
    """The ceiling's chances in shared releases, taken for independent: nearly always missed."""
    law = Law(np.random.default_rng(4), 0.0)
    misses = 0
    for _ in range(100):
        trials = [law.trial() for _ in range(15)]
        n = sum(t["groups"][0] for t in trials)
        mean = sum(t["ceiling/group_share"][0] for t in trials) / n
        misses += abs(mean - 0.7) > stats.norm.isf(SIDE) * 0.25 / n**0.5
    assert misses > stats.binom.isf(1e-6, 100, 2 * SIDE)


@pytest.fixture(scope="module")
def kept():
    return {}


@pytest.fixture
def played(ready, kept):
    if not kept:
        experiment = ready(**STUDY)
        kept["all"] = experiment, [experiment.play(f"{t}/0") for t in range(100)]
    return kept["all"]


def test_members_count_where_they_are_told_and_drawn_independently(played):
    experiment, trials = played
    for g, (by, _) in enumerate(experiment.groups.names):
        around = enclosure_of_group(experiment, trials, g)
        assert (around is not None) == (by == "sex")
        for name, attack, _ in experiment.attacks:
            own = group_scores(experiment, name, attack, trials, g, around)
            if own is None:
                continue
            found, over = own.scores.share(0.999), own.scores.above_guess(own.guess, 0.999)
            assert over.value == pytest.approx((own.scores.shares - own.guess).mean())
            plain = mean_limits(own.scores.shares, confidence=0.999, people=PEOPLE)
            if by == "sex" and name != "posterior":
                assert width(found) < 0.4 * width(plain)
            elif by != "sex":
                assert (found.low, found.high) == (plain.low, plain.high)
            if by == "sex" and name == "prior":
                assert (min(over.value, 0), max(over.value, 0)) == (over.low, over.high)


def width(found):
    return found.high - found.low


def test_few_members_are_limited_by_trials(played, monkeypatch):
    """By what the table says of the group before the first trial; ends alone need more members."""
    experiment, trials = played
    counted = (experiment.table.records[:, experiment.table.index("sex")] == 0).mean()
    assert expected_members(experiment, 0) == pytest.approx(500 * counted)
    of_others = [by.startswith("how often") for by, _ in experiment.groups.names].index(True)
    assert expected_members(experiment, of_others) == 0
    members = [0.0]
    monkeypatch.setattr(module, "expected_members", lambda *_: members[0])
    for guesses, enough in ((2, 10), (3, 30)):
        sized = replace(experiment, success=exact_match((guesses,)))
        for members[0], few in ((enough - 1, True), (enough, False)):
            around = enclosure_of_group(sized, trials, 0)
            for name, attack, _ in sized.attacks:
                own = group_scores(sized, name, attack, trials, 0, around)
                assert (own.scores.around is None) == (few and name == "posterior")
    members[0] = 1.9
    assert enclosure_of_group(experiment, trials, 0) is None


def test_who_met_no_member_scored_nothing(played):
    experiment, trials = played
    [(name, attack, _), *_] = experiment.attacks
    bare = [{**t, "groups": np.zeros_like(t["groups"])} for t in trials[:3]]
    assert group_scores(experiment, name, attack, bare, 0, None) is None
