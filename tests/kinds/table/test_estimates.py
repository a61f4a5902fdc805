"""What no attack is beyond: held by every attack in every trial, and people agree on average."""

import os
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from narcissus.bounds.binomial import PoissonBinomial
from narcissus.evidence import (
    advantage_limits,
    difference_limits,
    enclosed_limits,
    mean_limits,
    narrowest_limits,
    studentised_limits,
)
from narcissus.kinds.table import estimates as module
from narcissus.kinds.table.envelope import (
    FALL,
    GAINED,
    LEAST,
    LEFT,
    LIKELIEST,
    MOST,
    RISE,
    UNLIKELIEST,
    Enclosure,
)
from narcissus.kinds.table.estimates import (
    AttackScores,
    Criterion,
    criteria,
    enclosure_of_group,
    expected_members,
    expected_reach,
    group_scores,
    guess_of_group,
    has_decoy,
    scores_of,
    within,
)
from narcissus.kinds.table.found import GUESS as BEST
from narcissus.kinds.table.kind import KIND
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.kinds.table.summary import prior_test
from narcissus.study.reading import read_record
from narcissus.success import exact_match

TRIALS = 150 if "NARCISSUS_NEW_CASES" in os.environ else 60
STUDY = {
    "threat": {"unknown": ["ill", "town"], "targets": 12},
    "attacks": {"prior": {}, "posterior": {}, "rap": {"steps": 15}, "ceiling": {}},
    "groups": {"columns": ["sex"], "unusual": False, "singled_out": False},
    "run": {"trials": TRIALS},
}


PLAYED = {}


@pytest.fixture
def played(ready):
    def play(epsilon, **changes):
        key = (epsilon, *changes)
        if key not in PLAYED:
            experiment = ready(**{**STUDY, "mechanism": {"epsilon": epsilon}, **changes})
            PLAYED[key] = experiment, [experiment.play(f"{t}/0") for t in range(TRIALS)]
        return PLAYED[key]

    return play


@pytest.mark.parametrize("epsilon", [6.0, 1.0, "=inf"])
@pytest.mark.one_in(3)
def test_every_attack_stays_within_and_people_alone_agree_on_average(played, epsilon):
    """Releases shared and of one's own: the means of all ends agree, z-tests at 1e-6 each."""
    experiment, trials = played(epsilon)
    around = Enclosure.of(trials, experiment.targets)
    ends = around.ends
    for name, _, _ in experiment.attacks:
        share, fresh = (np.array([float(t[f"{name}/{k}"]) for t in trials]) for k in SCORES)
        for low, value, high in (
            (ends[:, LEAST], share, ends[:, MOST]),
            (ends[:, UNLIKELIEST], fresh, ends[:, LIKELIEST]),
            (-ends[:, FALL], share - fresh, ends[:, RISE]),
        ):
            assert (low <= value + 1e-12).all()
            assert (value <= high + 1e-12).all()
    alone = around.alone[:, :, 0] / around.counts[:, None]
    gap = alone - ends
    assert (np.abs(gap.mean(axis=0)) <= 4.9 * gap.std(axis=0) / TRIALS**0.5 + 1e-9).all()


SCORES = ("share", "fresh")


def far(gaps):
    """Say whether a mean of numbers, one a trial, is off 0 by a z-test at 1e-6."""
    return np.abs(gaps.mean(axis=0)) > 4.9 * gaps.std(axis=0) / len(gaps) ** 0.5 + 1e-9


@pytest.mark.parametrize("epsilon", [6.0, 1.0])
@pytest.mark.one_in(2)
def test_so_do_members_of_a_group_and_each_column(played, epsilon):
    experiment, trials = played(epsilon)
    for g in range(len(experiment.groups.names)):
        around = Enclosure.of_group(trials, g)
        members = np.array([t["groups"][g] for t in trials])
        some = members > 0
        assert len(around.ends) == some.sum() > 50
        assert around.counts.sum() > 5 * members.sum()  # others, of whom there are more
        for name, _, _ in experiment.attacks:
            share = np.array([t[f"{name}/group_share"][g] for t in trials])[some] / members[some]
            assert (around.ends[:, LEAST] <= share + 1e-12).all()
            assert (share <= around.ends[:, MOST] + 1e-12).all()
        guess = np.array([t["group_guess"][g] for t in trials])[some] / members[some]
        assert around.guesses == pytest.approx(guess)
        # a ratio of sums: off by the mean of what is left of each trial's sum
        left = around.alone[some, :, 0] - around.counts[some, None] * around.ends.mean(axis=0)
        gaps = left / around.counts.mean() - (around.ends - around.ends.mean(axis=0))
        assert not far(gaps).any()
    for c in range(2):
        around = Enclosure.of_column(trials, c)
        for name, _, _ in experiment.attacks:
            right = np.array([t[f"{name}/columns"][c] for t in trials])
            assert (around.ends[:, LEAST] <= right + 1e-12).all()
            assert (right <= around.ends[:, MOST] + 1e-12).all()
        assert (around.ends[:, LEAST] < around.ends[:, MOST]).all()
        assert not far(around.alone[:, :, 0] / around.counts[:, None] - around.ends).any()


def test_groups_without_members_have_none(played):
    _, trials = played(6.0)
    bare = [{**t, "group_alone_people": np.zeros(len(t["groups"]))} for t in trials]
    assert Enclosure.of_group(bare, 0) is None


def test_the_ceiling_and_the_guess_are_always_at_their_ends(played):
    experiment, trials = played(6.0)
    around = Enclosure.of(trials, experiment.targets)
    share, fresh = (np.array([float(t[f"ceiling/{k}"]) for t in trials]) for k in SCORES)
    assert share == pytest.approx(around.ends[:, MOST])
    assert fresh == pytest.approx(around.ends[:, LEFT])
    assert share - fresh == pytest.approx(around.ends[:, GAINED])
    fresh = np.array([float(t["prior/fresh"]) for t in trials])
    assert fresh == pytest.approx(around.ends[:, LIKELIEST])


def test_an_envelope_is_the_end_less_what_is_allowed(played):
    experiment, trials = played(6.0)
    around = Enclosure.of(trials, experiment.targets)
    found = around.envelope(MOST, less=0.9, allowed=0.1)
    assert found.trials == pytest.approx(around.ends[:, MOST] - 0.9 * around.guesses - 0.1)
    x, g = around.alone[:, MOST, 0], around.alone[:, MOST, 2]
    assert found.people.totals == pytest.approx(x - 0.9 * g - 0.1 * around.counts)
    turned = around.envelope(FALL, sign=-1, allowed=0.2)
    assert turned.trials == pytest.approx(-around.ends[:, FALL] - 0.2)
    assert turned.people.mean == pytest.approx(turned.trials.mean(), abs=0.05)
    assert (turned.people.low, turned.people.high) == (-1.2, -0.2)


@pytest.mark.nightly
def test_where_chances_are_not_known_there_is_none(played):
    experiment, trials = played(1.0, threat={**STUDY["threat"], "people": "rows"})
    assert Enclosure.of(trials, experiment.targets) is None
    assert Enclosure.of_group(trials, 0) is None
    assert Enclosure.of_column(trials, 0) is None


TRIALS_LIMITS = 100
PEOPLE = {"threat": {"unknown": ["ill"], "targets": 100}, "run": {"trials": TRIALS_LIMITS}}
EVERY = ("share", "baseline", "gain", "advantage")


@pytest.fixture(scope="module")
def played_limits():
    """A study of 100 trials of 100 people, played once."""
    return {}


@pytest.fixture
def scores(ready, played_limits):
    """Give a function from an attack's name to what it scored."""
    if not played_limits:
        experiment = ready(**PEOPLE, mechanism={"epsilon": 2.0})
        played_limits["all"] = experiment, [experiment.play(f"{t}/0") for t in range(TRIALS_LIMITS)]
    experiment, trials = played_limits["all"]
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
    assert low > narrowest_limits(share.value, TRIALS_LIMITS)[0]


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
    assert expected_reach(own, TRIALS_LIMITS, 0.95) == pytest.approx(
        (found.high - found.low) / 2, rel=0.45
    )
    assert (
        expected_reach(own, 4 * TRIALS_LIMITS, 0.95)
        < expected_reach(own, TRIALS_LIMITS, 0.95) / 1.9
    )


def test_a_decoy_stands_for_fresh_people_where_the_prior_may_be_wrong(ready):
    experiment = ready(threat={"people": "rows"}, run={"trials": 3})
    trials = [experiment.play(f"{t}/0") for t in range(3)]
    for name, attack, _ in experiment.attacks:
        found = scores_of(experiment, name, attack, trials, None)
        key, place = (f"{name}/fresh", ()) if attack.informed else (f"{name}/decoy", 0)
        assert has_decoy(experiment, attack) != attack.informed
        assert found.fresh == pytest.approx([float(t[key][place]) for t in trials])


ATTACKS = {"prior": {}, "posterior": {}}
ALL = {"threat": {"people": "all", "targets": None}, "prior": {"name": "independent"}}


def audited(narcissus, path):
    _, out, err = narcissus("audit", path, "--json", "--quiet", "--restart")
    assert out, err
    [found] = KIND.judged(read_record("results/s")).each
    return found, err


@pytest.mark.parametrize("trials", [1, 4])
def test_what_is_counted_over_all_people_is_exact(study, narcissus, trials):
    """Issue 26: limits of 10.6% and 98.3% for a share of the whole population."""
    for mechanism in ({"k": 2, "epsilon": 1.0}, {"k": 2, "scale": 0}):
        other = {"epsilon": None, **mechanism}
        path = study(**ALL, mechanism=other, attacks=ATTACKS, run={"trials": trials})
        record, _ = audited(narcissus, path)
        prior, posterior = record.result.attacks["prior"], record.result.attacks["posterior"]
        assert prior.low == prior.share == prior.high
        assert prior.without.low == prior.baseline == prior.without.high
        assert prior.share == record.result.guess.share
        assert prior.gain.low == prior.gain.value == prior.gain.high == 0
        # the noise of other releases is another matter, and so are decoys
        exact = mechanism.get("scale") == 0
        assert (posterior.low == posterior.share == posterior.high) is exact
        assert posterior.without.low < posterior.without.high
        assert posterior.gain.low < posterior.gain.value < posterior.gain.high


def test_all_people_test_the_prior_by_what_chance_does_to_their_secrets(study, narcissus):
    """Not by how many releases were made of them, which says nothing of the people."""
    found = []
    for trials in (1, 8):
        path = study(**ALL, attacks=ATTACKS, run={"trials": trials})
        record, _ = audited(narcissus, path)
        test = record.result.prior_tests[BEST]
        found.append((test.off.value, test.by_the_prior, test.chance_off))
        assert record.result.prior_tests["prior"].chance_off == found[-1][-1]
        assert test.off.low == test.off.value == test.off.high
        assert abs(test.off.value) < found[-1][-1] < 0.15  # of 500 people
    assert found[0] == pytest.approx(found[1], abs=1e-12)


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
            assert mass[off].sum() <= 1 - found.off.confidence


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


PEOPLE_GROUP, SIDE = 40, 0.1
STUDY_GROUP = {
    "threat": {"unknown": ["ill"], "targets": PEOPLE_GROUP},
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
        n = int(self.rng.binomial(PEOPLE_GROUP, 0.5))
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
@pytest.mark.repeats(40, 3000)
def test_limits_of_a_group_cover(ready, repeats):
    """15 trials; each side of each limit may miss in .1 of the repeats: false alarms 1e-6 each."""
    experiment = replace(ready(**STUDY_GROUP), targets=70)  # expected, so that members count
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
def played_group(ready, kept):
    if not kept:
        experiment = ready(**STUDY_GROUP)
        kept["all"] = experiment, [experiment.play(f"{t}/0") for t in range(100)]
    return kept["all"]


def test_members_count_where_they_are_told_and_drawn_independently(played_group):
    experiment, trials = played_group
    for g, (by, _) in enumerate(experiment.groups.names):
        around = enclosure_of_group(experiment, trials, g)
        assert (around is not None) == (by == "sex")
        for name, attack, _ in experiment.attacks:
            own = group_scores(experiment, name, attack, trials, g, around)
            if own is None:
                continue
            found, over = own.scores.share(0.999), own.scores.above_guess(own.guess, 0.999)
            assert over.value == pytest.approx((own.scores.shares - own.guess).mean())
            plain = mean_limits(own.scores.shares, confidence=0.999, people=PEOPLE_GROUP)
            if by == "sex" and name != "posterior":
                assert width(found) < 0.4 * width(plain)
            elif by != "sex":
                assert (found.low, found.high) == (plain.low, plain.high)
            if by == "sex" and name == "prior":
                assert (min(over.value, 0), max(over.value, 0)) == (over.low, over.high)


def width(found):
    return found.high - found.low


def test_few_members_are_limited_by_trials(played_group, monkeypatch):
    """By what the table says of the group before the first trial; ends alone need more members."""
    experiment, trials = played_group
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


def test_who_met_no_member_scored_nothing(played_group):
    experiment, trials = played_group
    [(name, attack, _), *_] = experiment.attacks
    bare = [{**t, "groups": np.zeros_like(t["groups"])} for t in trials[:3]]
    assert group_scores(experiment, name, attack, bare, 0, None) is None
