"""What is above what a threshold allows: trial by trial, group by group, count by count."""

from dataclasses import replace
from math import ceil
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from tests.table_nodes import excess_of

from narcissus.evidence import clopper_pearson, mean_limits, population_mean_upper, trials_for
from narcissus.evidence.population import PeopleSums
from narcissus.kinds.table import excesses as module
from narcissus.kinds.table.bound_summary import tail_of_population
from narcissus.kinds.table.estimates import AttackScores, Criterion, within
from narcissus.kinds.table.excesses import apart, excesses, family, trials_to_tell
from narcissus.kinds.table.kind import KIND
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.study.reading import read_record

from .conftest import compared


def settings_of(record="results/s"):
    """Judge the settings of a record, or of one that is kept."""
    found = record if not isinstance(record, str) else read_record(record)
    return KIND.judged(found).each


ALARM = 1e-6


def test_members_of_a_group_that_others_decide_are_not_independent():
    """Three people of a known column with two values; members are those alone in none.

    All three of one value, or two: their numbers are the same. Limits for independent members
    miss more often than they may, and the mean over a trial's members does not. 1,500 repeats,
    false alarm below 1e-6 each way.
    """
    rng = np.random.default_rng(0)
    repeats, trials = 1500, 100
    value = rng.random((repeats, trials, 3)) < 0.5
    ones = value.sum(axis=2)
    members = np.where(ones == 3, 3, np.where(ones == 0, 3, 2))
    x = np.where(ones >= 2, 1.0, 0.3)
    mean = 0.65
    separate = sum(
        population_mean_upper(c * v, c * v * v, c, confidence=0.975).high < mean
        for c, v in zip(members, x, strict=True)
    )
    together = sum(mean_limits(v).high < mean for v in x)
    assert separate > 69  # the 1e-6 point of Binomial(1500, .025)
    assert together <= 69


def test_the_bound_of_the_singled_out_treats_a_trial_as_one_value(study):
    from narcissus.kinds.table.kind import prepare
    from narcissus.study import load_study

    loaded = load_study(
        study(mechanism={"epsilon": 1.0}, groups={"columns": ["sex"]}, run={"trials": 12})
    )
    experiment = prepare(loaded.settings, loaded.folder, entropy=3)
    trials = [experiment.play(f"{t}/0") for t in range(12)]
    threshold = ThresholdSpec(share=0.9, worst_group=0.9)
    found = excesses(experiment, 0, trials, threshold)
    names = [": ".join(n) for n in experiment.groups.names]
    seen = 0
    for excess in found:
        if excess.role != "bound" or "singles" not in excess.group:
            continue
        g = names.index(excess.group)
        values = [t["group_bound"][g, 0] / t["groups"][g] for t in trials if t["groups"][g]]
        assert excess.value == pytest.approx(np.mean(values) - 0.9)
        assert excess.high == pytest.approx(
            mean_limits(values, people=experiment.targets).high - 0.9, abs=1e-9
        )
        seen += 1
    assert seen


@pytest.mark.parametrize("trials", [1, 2, 5, 40, 300])
def test_what_is_open_is_settled_by_more_trials_than_were_played(trials):
    """A value beyond, with limits on both sides, is never called 'not above'."""
    rng = np.random.default_rng(trials)
    for _ in range(50):
        values = rng.choice([-0.5, 0.5], size=trials, p=[0.45, 0.55])
        found = within(values, (-0.5, 0.5), 0.95, 1)
        more = trials_to_tell(found, values, 1.0, confidence=0.95, people=1)
        settled = found.low > 0 or found.high <= 0 or found.value == 0
        assert (more is None) == settled
        assert more is None or more >= 2 * trials


@pytest.mark.parametrize("trials", [3, 30])
def test_what_is_gained_is_what_is_recovered_less_the_baseline(study, narcissus, trials):
    """Luck is taken from both alike, and a bound is that of the people whom the attack met."""
    for seed in range(4):
        path = study(
            threat={"unknown": ["ill"], "targets": 2},
            mechanism={"epsilon": 0.5},
            attacks={"posterior": {"trials": 1}, "prior": {}, "ceiling": {}},
            run={"trials": trials, "seed": seed},
        )
        narcissus("audit", path, "--json", "--quiet", "--restart")
        [one] = settings_of()
        for found in [*one.result.attacks.values(), one.result.ceiling]:
            assert found.gain.value == pytest.approx(found.share - found.baseline)
        for row in one.result.rows():
            if row.role == "gain":
                assert row.quantity.low <= row.value <= row.quantity.high


SWEPT = {
    "threat": {"unknown": ["ill"], "targets": 12},
    "mechanism": {"epsilon": [0.5, 2.0]},
    "attacks": {"prior": {}, "posterior": {"trials": 20}, "ceiling": {}},
    "groups": {"columns": ["sex", "ill"], "unusual": False},
    "run": {"trials": 40, "confidence": 0.9},
}
JOINT = 1 - 0.1 / (2 * 2)  # two attacks without the ceiling, at two settings


def allowed(guess, share=None, advantage=None):
    """Give what a threshold allows to whom a guess gets right with this chance, by definition."""
    return share if advantage is None else 1 - (1 - advantage) * (1 - guess)


def extremes(share=None, advantage=None):
    """Give the least and the largest that a share can be above what is allowed."""
    return (-share, 1 - share) if advantage is None else (-1.0, 1 - advantage)


def held(values, threshold, confidence, people, alike=None):
    """Limit the mean of values; plan what is open by the value's own distance from 0.

    ``alike`` people are expected in the only trial there is.
    """
    low, high = extremes(**threshold)
    scaled = (np.asarray(values) - low) / (high - low)
    found = mean_limits(scaled, confidence=confidence, people=people)
    ends = [low + (high - low) * one for one in (found.low, found.high)]
    value = float(np.mean(values))
    if ends[0] > 0 or ends[1] <= 0:
        return value, *ends, None
    variance = scaled.var(ddof=1) if scaled.size > 1 else 0.25 / (alike or people)
    needed = trials_for(abs(value) / (high - low), variance, confidence=confidence)
    return value, *ends, max(needed, 2 * scaled.size)


def held_of_people(people, threshold):
    """Limit the mean of a number of each person; ``people`` has a list of them for each trial."""
    low, high = extremes(**threshold)
    scaled = [(np.asarray(one) - low) / (high - low) for one in people]
    counts = np.array([len(one) for one in scaled])
    sums, squares = ([(one**k).sum() for one in scaled] for k in (1, 2))
    upper = population_mean_upper(sums, squares, counts, confidence=0.95).high
    every = np.concatenate(people)
    value, limit = every.mean(), low + (high - low) * upper
    if not value < 0 < limit:
        return value, None, limit, None
    variance = np.concatenate(scaled).var()
    more = trials_for(-value / (high - low), variance, confidence=0.9)
    return value, None, limit, max(ceil(more / len(every) * len(counts)), 2 * len(counts))


def same(found, expected):
    assert found.value == pytest.approx(expected[0], abs=1e-12)
    assert [found.low, found.high] == pytest.approx(list(expected[1:3]), abs=1e-12)
    assert found.trials == expected[3]
    assert found.quantity.grade == "sampled"


@pytest.mark.parametrize("people", ["prior", "rows"])
@pytest.mark.parametrize(
    "threshold",
    [
        *({"share": t} for t in (0.3, 0.45, 0.455, 0.59, 0.601, 0.61, 0.75)),
        *({"advantage": t} for t in (0.0, 0.1, 0.21, 0.42, 0.43, 0.44, 0.6)),
    ],
    ids=str,
)
def test_means_are_held_against_what_is_allowed_trial_by_trial(
    prepared, made_up, people, threshold
):
    """From the numbers of each person; settled above, settled below, open on both sides."""
    made = made_up(prepared(**{**SWEPT, "threat": {**SWEPT["threat"], "people": people}}), 40)
    found = excesses(made.experiment, 1, made.trials, ThresholdSpec(**threshold))
    assert [(e.role, e.name) for e in found] == [
        ("attack", "prior"), ("attack", "posterior"), ("ceiling", "ceiling"),
        ("bound", "mean share"),
    ]  # fmt: skip
    chance = made.guess.mean(axis=1)
    real = chance if people == "prior" else made.guessed.mean(axis=1)
    for excess, (name, attack, count) in zip(found, made.experiment.attacks, strict=False):
        guess = chance if attack.informed else real
        values = made.share[name][:count].mean(axis=1) - allowed(guess[:count], **threshold)
        same(excess, held(values, threshold, 0.9 if attack.informed else JOINT, 12))
        assert excess.group == ""
    each = made.proved - allowed(made.guess, **threshold)
    same(found[-1], held_of_people(list(each), threshold))


def test_the_thresholds_above_leave_some_open_and_some_not(prepared, made_up):
    """Else the test above would say nothing about plans."""
    made = made_up(prepared(**SWEPT), 40)
    plans = {"attack": set(), "bound": set()}
    for share in (0.3, 0.45, 0.455, 0.59, 0.601, 0.61, 0.75):
        for excess in excesses(made.experiment, 1, made.trials, ThresholdSpec(share=share)):
            if excess.role in plans:
                plans[excess.role].add((excess.value > 0, excess.trials is None))
    assert plans["attack"] == {(True, True), (True, False), (False, True), (False, False)}
    assert plans["bound"] == {(True, True), (False, True), (False, False)}


def test_one_trial_plans_by_the_largest_spread_that_so_many_people_can_have(prepared, made_up):
    made = made_up(prepared(**{**SWEPT, "run": {"trials": 1}, "attacks": {"prior": {}}}), 1)
    [attack, _] = excesses(made.experiment, 0, made.trials, ThresholdSpec(share=0.5))
    value = made.share["prior"].mean() - 0.5
    same(attack, held([value], {"share": 0.5}, 1 - 0.05 / 2, 12))
    assert attack.trials == trials_for(abs(value), 0.25 / 12, confidence=1 - 0.05 / 2)


def test_without_noise_there_is_no_bound_to_hold(prepared, made_up):
    made = made_up(prepared(mechanism={"epsilon": "=inf"}, groups={"columns": ["sex"]}), 5)
    for threshold in ({"share": 0.5, "worst_group": 0.5}, {"targets": 5}):
        found = excesses(made.experiment, 0, made.trials, ThresholdSpec(**threshold))
        assert {e.role for e in found} == {"attack", "ceiling"} - (
            {"ceiling"} if "targets" in threshold else set()
        )


@pytest.mark.parametrize("limit", [0.45, 0.52, 0.6, 0.61, 0.8])
@pytest.mark.parametrize("kind", ["share", "advantage"])
def test_groups_are_held_against_the_limit_of_the_worst(prepared, made_up, kind, limit):
    """Trials without a member are left out; who is alone depends on the others, a trial is one."""
    made = made_up(prepared(**SWEPT), 40)
    groups = made.experiment.groups
    names = [": ".join(name) for name in groups.names]
    made.members[:, 1] = False
    made.members[:30, 2] = False
    made.members[5, 0] = False
    made.members[25:35, 4] = False
    made.members[:30, 5] = False  # none while `posterior` played
    threshold = {kind: limit}
    spec = ThresholdSpec(**{kind: 0.9}, worst_group=limit)
    found = [e for e in excesses(made.experiment, 1, made.trials, spec) if e.group]
    joint = 1 - 0.1 / (2 * 2 * len(names))
    for g, name in enumerate(names):
        own = {(e.role, e.name): e for e in found if e.group == name}
        if name.startswith("ill") or not made.members[:, g].any():
            assert not own
            continue
        members = [made.members[t, g] for t in range(40)]
        for attack_name, attack, count in made.experiment.attacks:
            some = [t for t in range(count) if members[t].any()]
            excess = own.pop(("ceiling" if attack.informed else "attack", attack_name), None)
            if not some:
                assert excess is None
                continue
            values = [
                made.share[attack_name][t, members[t]].mean()
                - allowed(made.guess[t, members[t]].mean(), **threshold)
                for t in some
            ]
            *limits, needed = held(values, threshold, 0.9 if attack.informed else joint, 12, 1)
            needed = None if needed is None else ceil(needed * count / len(some))
            same(excess, (*limits, needed))
        [bound] = own.values()
        assert (bound.role, bound.name) == ("bound", "mean share")
        each = [
            made.proved[t, members[t]] - allowed(made.guess[t, members[t]], **threshold)
            for t in range(40)
        ]
        if groups.by_others[g]:
            value, _, high, needed = held(
                [one.mean() for one in each if one.size], threshold, 0.9, 12, 1
            )
            some = sum(one.size > 0 for one in each)
            needed = None if needed is None else ceil(needed * 40 / some)
            same(bound, (value, None, high, needed))
        else:
            same(bound, held_of_people(each, threshold))
    assert {e.group.split(":")[0] for e in found} == {
        "sex", "how often the release singles them out"
    }  # fmt: skip


@pytest.mark.parametrize("limit", [0, 4, 5, 6, 8, 11, 12, 20])
def test_a_count_is_held_by_how_often_it_is_passed(prepared, made_up, limit):
    """More than ``limit`` in more than 1 - level of the releases; the ceiling says nothing here."""
    made = made_up(prepared(**SWEPT, bounds={"confidence": [0.5, 0.4]}), 40)
    made.tails[:, 0] = np.linspace(1, 0, 14) ** 2
    found = {
        e.name: e for e in excesses(made.experiment, 1, made.trials, ThresholdSpec(targets=limit))
    }
    assert set(found) == {"prior", "posterior", "interpolation"}
    for name, count in (("prior", 40), ("posterior", 20)):
        over = int((made.hits[name][:count].sum(axis=1) > limit).sum())
        limits = clopper_pearson(over, count, confidence=JOINT)
        value, low, high = over / count - 0.5, limits.low or 0.0, limits.high or 1.0
        needed = None
        if value > 0 >= low - 0.5:
            p = over / count
            needed = max(trials_for(value, p * (1 - p), confidence=JOINT), 2 * count)
        same(found[name], (value, low - 0.5, high - 0.5, needed))
    bound = found["interpolation"]
    over = min(limit + 1, 13)
    high = tail_of_population(made.experiment, 1, made.trials, 0)[over] - 0.5
    assert bound.role == "bound"
    assert bound.value == pytest.approx((1 - over / 13) ** 2 - 0.5)
    assert bound.high == pytest.approx(high)
    assert bound.low is None
    assert (bound.trials is not None) <= (bound.value <= 0 < bound.high)


@pytest.mark.parametrize("tail", [0.0, 0.125, 0.2])
def test_the_plan_of_a_count_is_the_first_doubling_that_would_keep_it(prepared, made_up, tail):
    """Where the people played are within what is accepted, up to its edge, and others may not."""
    experiment = prepared(**SWEPT, bounds={"confidence": 0.875})
    threshold, planned = ThresholdSpec(targets=7), set()
    for most in np.linspace(0.5, 0.55, 11):
        made = made_up(experiment, 40, high=most)
        made.tails[:, 0] = tail
        bound = excesses(made.experiment, 1, made.trials, threshold)[-1]
        would = {
            times: tail_of_population(made.experiment, 1, made.trials, 0, times=times)[8]
            for times in (1, *(2**k for k in range(1, 11)))
        }
        assert bound.high == pytest.approx(would[1] - 0.125)
        enough = [times for times, chance in would.items() if chance <= 0.125]
        if not enough or enough[0] == 1 or tail == 0.2:
            assert bound.trials is None
        else:
            assert bound.trials == enough[0] * 40
            planned.add(enough[0])
    assert (len(planned) > 1) == (tail < 0.2)


def test_lower_limits_are_chosen_from_attacks_settings_and_groups(prepared):
    experiment = prepared(**SWEPT)
    assert family(experiment) == 4
    assert family(experiment, 6) == 24
    assert family(experiment, 0) == 4
    ceiling = replace(experiment, attacks=experiment.attacks[-1:])
    assert family(ceiling) == 2


def test_few_trials_may_leave_a_gain_more_than_open(study, narcissus):
    """What is recovered less what fresh people score less what is allowed may be below -1."""
    path = study(
        groups={"columns": ["sex"]}, threshold={"gain": 0.4, "worst_group": 0.5}, run={"trials": 2}
    )
    code, _, _ = narcissus("audit", path, "--json", "--quiet")
    lows = [one.low for one in settings_of()[0].result.excesses if one.low is not None]
    assert code in (0, 3)
    assert -2 <= min(lows) < -1


def stub(*, exact=True, everybody=False, people=40):
    """Give what `apart` asks of an experiment."""
    return SimpleNamespace(
        prior_is_exact=exact, everybody=everybody, factored=False, targets=people
    )


def of_people(rng, shares, *, people=40, exact=True):
    """Give the trials of made-up people, each with a chance of the guess of their own."""
    chance = rng.beta(1, 2, size=(len(shares), people))
    hits = rng.random(chance.shape) < chance
    trials = [
        {"guess": np.array([g.sum(), (g**2).sum()]), "guessed": np.array(h.mean())}
        for g, h in zip(chance, hits, strict=True)
    ]
    guess = (chance if exact else hits).mean(axis=1)
    return trials, guess


ADVANTAGE, GAIN = Criterion("advantage", 0.1), Criterion("gain", 0.05)


@pytest.mark.parametrize("exact", [True, False], ids=["chances", "hits"])
@pytest.mark.parametrize("criterion", [ADVANTAGE, GAIN], ids=["advantage", "gain"])
@pytest.mark.parametrize("kind", ["rare nothing", "coin", "steady"])
def test_the_limit_by_people_is_above_the_truth_no_oftener_than_it_says(kind, criterion, exact):
    """300 repeats of 8 trials at a level of .9, so .05 on its side; a false alarm has 1e-6."""
    if criterion.name == "gain" and not exact:
        return  # there gains are over decoys, of which nothing is known but trials
    missed, repeats, trials = 0, 300, 8
    rng = np.random.default_rng(7)
    for _ in range(repeats):
        if kind == "steady":
            shares, mean = rng.normal(0.9, 0.01, trials).clip(0, 1), 0.9
        elif kind == "coin":
            shares, mean = rng.integers(0, 2, trials).astype(float), 0.5
        else:  # the hardest: what few trials seldom show
            shares, mean = 0.95 * (rng.random(trials) > 0.3), 0.95 * 0.7
        kept, guess = of_people(rng, shares, exact=exact)
        fresh = 0.6 * guess
        scores = AttackScores(shares, fresh, 40)
        low = apart(stub(exact=exact), scores, criterion, kept, 0.9)
        free = 1 / 3  # mean of the chances
        allowed = free + 0.1 * (1 - free) if criterion.name == "advantage" else 0.6 * free + 0.05
        missed += low > mean - allowed
    assert missed <= int(binom.isf(1e-6, repeats, 0.05))


def test_a_gap_in_every_trial_is_no_matter_of_too_few_trials():
    """Issue 26: 39% guessed, 97% recovered in each of 8 trials, and the limits were -19 and 70."""
    rng, shares = np.random.default_rng(1), np.full(8, 0.97)
    chance = rng.choice([0.3, 0.45], size=(8, 300))
    trials = [{"guess": np.array([g.sum(), (g**2).sum()])} for g in chance]
    scores = AttackScores(shares, chance.mean(axis=1), 300)
    guess = scores.fresh
    paired = scores.excess(ADVANTAGE, guess, 0.95)
    low = apart(stub(people=300), scores, ADVANTAGE, trials, 0.95)
    assert paired.low < 0 < low < 0.97 - guess.mean() - 0.1 * (1 - guess.mean())
    limits = (paired.value, paired.low, paired.high)
    found = excess_of("attack", "x", "advantage", "", *limits, trials=20, low_apart=low)
    threshold = ThresholdSpec(advantage=0.1, reason="r")
    assert compared(threshold, [found], [], ()).status == "exceeded"
    without = found.model_copy(update={"low_apart": None})
    assert compared(threshold, [without], [], ()).status == "too few trials"


def test_of_all_people_the_guess_is_a_number():
    rng, shares = np.random.default_rng(1), np.full(8, 0.97)
    chance = np.tile(rng.choice([0.3, 0.45], size=40), (8, 1))
    trials = [{"guess": np.array([g.sum(), (g**2).sum()])} for g in chance]
    scores = AttackScores(shares, chance.mean(axis=1), 40)
    drawn = apart(stub(), scores, ADVANTAGE, trials, 0.95)
    everybody = apart(stub(everybody=True), scores, ADVANTAGE, trials, 0.95)
    assert drawn < everybody


@pytest.mark.parametrize(
    ("criterion", "exact"), [(ADVANTAGE, True), (GAIN, True), (ADVANTAGE, False)]
)
def test_the_moments_of_people_are_those_of_their_numbers(criterion, exact, monkeypatch):
    """Of chances where the prior says them, else of hits."""
    seen = []

    def sums(*found):
        seen.append(found)
        return PeopleSums(*found)

    monkeypatch.setattr(module, "PeopleSums", sums)
    rng = np.random.default_rng(2)
    chance = rng.choice([0.3, 0.45], size=(8, 40))
    guess = chance if exact else (rng.random(chance.shape) < chance).astype(float)
    trials = [
        {"guess": np.array([g.sum(), (g**2).sum()]), "guessed": np.array(h.mean())}
        for g, h in zip(chance, guess, strict=True)
    ]
    scores = AttackScores(np.full(8, 0.97), guess.mean(axis=1), 40)
    apart(stub(exact=exact), scores, criterion, trials, 0.95)
    share = 0.9 if criterion.name == "advantage" else 1.0
    each = -share * guess - criterion.limit
    [(totals, squares, people, low, high)] = seen
    assert totals == pytest.approx(each.sum(axis=1))
    assert squares == pytest.approx((each**2).sum(axis=1))
    assert people == 40
    assert low <= each.min() <= each.max() <= high


@pytest.mark.parametrize("criterion", [Criterion("share", 0.5), GAIN])
def test_where_nothing_is_known_of_the_other_side_there_is_no_such_limit(criterion):
    rng, shares = np.random.default_rng(1), np.full(8, 0.97)
    trials, guess = of_people(rng, shares, exact=False)
    scores = AttackScores(shares, guess, 40)
    assert apart(stub(exact=False), scores, criterion, trials, 0.95) is None
