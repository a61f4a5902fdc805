"""What is proved, against linear programs over all mechanisms; what is sampled, by coverage."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.optimize import linprog

from narcissus.attacks.table import Targets
from narcissus.bounds import (
    THEOREMS,
    PoissonBinomial,
    coin_tails,
    column_shares,
    each_success,
    exact_match_optimum,
    interpolation_tails,
    reached_tails,
    split_chances,
    swap_program,
    threat,
)
from narcissus.bounds.interpolation import target_multipliers
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP
from narcissus.kinds.table import proofs
from narcissus.kinds.table import proofs as counts
from narcissus.kinds.table.bound_summary import bounds_at
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.proofs import (
    at_most_if_fair,
    count_tails,
    evenness,
    mean_tails,
    packed,
    reached,
    unpacked,
)
from narcissus.kinds.table.summary import summarise
from narcissus.knowledge import FactoredColumns, FactoredTargets, OtherColumns
from narcissus.mechanisms import MarginalQueries
from narcissus.priors import BayesianNetwork
from narcissus.priors.factors import Factors
from narcissus.study import load_study
from narcissus.success import CodesRight, ColumnShare, ColumnsRight, exact_match
from narcissus.worlds import People


def bounds_of(*found):
    return bounds_at(*found)


ALARM = 1e-6


def best_of_all_mechanisms(prior, counts, epsilon, delta, gain):
    """Largest expected ``gain(number right)`` over every (epsilon, delta)-DP mechanism (4.5).

    Variables: the chance of each vector of guesses for each data set, and a slack for each
    ordered pair of neighbours and vector. ``counts`` has shape (values, guesses).
    """
    n, values = prior.shape
    sets = list(product(range(values), repeat=n))
    guesses = list(product(range(counts.shape[1]), repeat=n))
    z_count = len(guesses)
    size = len(sets) * z_count

    def at(x, z):
        return x * z_count + z

    pairs = [
        (a, b)
        for a, x in enumerate(sets)
        for b, y in enumerate(sets)
        if sum(i != j for i, j in zip(x, y, strict=True)) == 1
    ]
    slack = size
    total = size + len(pairs) * z_count
    rows, limits = [], []
    for number, (a, b) in enumerate(pairs):
        sums = np.zeros(total)
        for z in range(z_count):
            row = np.zeros(total)
            place = slack + number * z_count + z
            row[at(a, z)], row[at(b, z)], row[place] = 1, -math.exp(epsilon), -1
            rows.append(row)
            limits.append(0.0)
            sums[place] = 1
        rows.append(sums)
        limits.append(delta)
    equal = np.zeros((len(sets), total))
    cost = np.zeros(total)
    for a, x in enumerate(sets):
        equal[a, at(a, 0) : at(a, 0) + z_count] = 1
        weight = np.prod(prior[np.arange(n), x])
        for z, guess in enumerate(guesses):
            right = sum(counts[t, g] for t, g in zip(x, guess, strict=True))
            cost[at(a, z)] = -weight * gain(right)
    found = optimize.linprog(
        cost, A_ub=np.array(rows), b_ub=limits, A_eq=equal, b_eq=np.ones(len(sets)), bounds=(0, 1)
    )
    assert found.success
    return -found.fun


def tail_of(targets, guarantee, epsilon):
    """The interpolation theorem at one point of the profile."""
    delta = float(guarantee.profile(epsilon))
    o, theta = proofs.single_success(targets, epsilon, delta)
    return interpolation_tails(o, proofs.costs(targets, guarantee, epsilon, theta))


def targets_of(prior, success=None):
    values = prior.shape[1]
    queries = MarginalQueries((values, 2), (0,), 1)
    codes = np.zeros((len(prior), 2), dtype=np.int32)
    return Targets(queries, codes, prior, success or exact_match((values,)))


CRITERIA = {
    "exact": exact_match((3,)),
    "next to each other": ColumnsRight((4,), (0.5,)),
    "between": ColumnsRight((4,), (1.0,), None, ((0.0, 2.0, 3.0, 7.0),)),
    "one of two columns": ColumnsRight((2, 2), None, 1),
}


@pytest.mark.states("Narcissus theory", "4.4", "4.6")
@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2", "Corollary 3.4")
@pytest.mark.parametrize("limited", [False, True], ids=["programs", "no programs"])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.5, 0.0), (0.3, 0.02)])
@pytest.mark.one_in(4)
def test_bounds_against_every_mechanism(monkeypatch, criterion, epsilon, delta, limited):
    """No bound below the optimum; with programs and under pure DP the bounds are the optimum."""
    success = CRITERIA[criterion]
    proofs.program_matrix.cache_clear()
    if limited:
        monkeypatch.setattr(proofs, "PROGRAM_CELLS", 0)
    rng = np.random.default_rng(int(100 * epsilon))
    for _ in range(2):
        prior = rng.dirichlet(np.ones(np.prod(success.shape)), 2)
        targets = targets_of(prior, success)
        counts = targets.success.matrix().astype(int)
        counts = np.unique(counts, axis=1)
        guarantee = PureDP(epsilon) if delta == 0 else ApproximateDP(epsilon, delta)
        share = proofs.shares(targets, guarantee).mean()
        best = best_of_all_mechanisms(prior, counts, epsilon, delta, lambda r: r / 2)
        assert share >= best - 1e-7
        table = tail_of(targets, guarantee, epsilon)
        assert table[0] == 1
        assert table[-1] == 0
        assert (np.diff(table) <= 1e-12).all()
        published = proofs.output_tail_table(proofs.best_chances(targets), epsilon, 2 * delta)
        sharp = delta == 0 and (success.exact or not limited)
        for v in (1, 2):
            tail = best_of_all_mechanisms(prior, counts, epsilon, delta, lambda r, v=v: r >= v)
            assert table[v] >= tail - 1e-7
            assert published[v] >= tail - 1e-7
            if sharp:
                assert table[v] == pytest.approx(tail, abs=1e-6)
        if sharp:
            assert share == pytest.approx(best, abs=1e-6)
        elif not limited:
            assert share <= best + 0.02
    proofs.program_matrix.cache_clear()


def most_gained(prior, hits, epsilon, delta):
    """Solve for the mechanism and attempts with the largest gain over a fresh secret.

    One person; variables are the chances of each attempt for each secret, and what a pair of
    secrets exceeds in each attempt.
    """
    values, guesses = hits.shape
    pairs = [(x, y) for x in range(values) for y in range(values) if x != y]
    total = values * guesses + len(pairs) * guesses
    cost = np.zeros(total)
    cost[: values * guesses] = -(prior[:, None] * (hits - prior @ hits)).ravel()
    equal = np.zeros((values, total))
    rows, limits = [], []
    for x in range(values):
        equal[x, x * guesses : (x + 1) * guesses] = 1
    for number, (x, y) in enumerate(pairs):
        start = (values + number) * guesses
        for z in range(guesses):
            row = np.zeros(total)
            row[x * guesses + z], row[y * guesses + z], row[start + z] = 1, -np.exp(epsilon), -1
            rows.append(row)
            limits.append(0.0)
        row = np.zeros(total)
        row[start : start + guesses] = 1
        rows.append(row)
        limits.append(delta)
    found = optimize.linprog(
        cost, A_ub=np.array(rows), b_ub=limits, A_eq=equal, b_eq=np.ones(values), bounds=(0, 1)
    )
    assert found.success
    return -found.fun


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.0), (1.5, 0.0), (0.3, 0.02)])
def test_no_mechanism_gains_more_over_fresh_people(criterion, epsilon, delta):
    success = CRITERIA[criterion]
    guarantee = PureDP(epsilon) if delta == 0 else ApproximateDP(epsilon, delta)
    prior = np.random.default_rng(7).dirichlet(np.ones(np.prod(success.shape)), 3)
    targets = targets_of(prior, success)
    shares = proofs.shares(targets, guarantee)
    limits = proofs.gains(targets, guarantee, shares)
    assert (limits <= shares).all()
    hits = (success.matrix() > 0).astype(float)
    for person, limit in enumerate(limits):
        assert limit >= most_gained(prior[person], hits, epsilon, delta) - 1e-8


@pytest.mark.parametrize(("epsilon", "delta"), [(0.7, 0.0), (0.3, 0.05)])
def test_the_gain_that_is_proved_is_reached_for_two_even_values(epsilon, delta):
    guarantee = PureDP(epsilon) if delta == 0 else ApproximateDP(epsilon, delta)
    targets = targets_of(np.array([[0.5, 0.5]]))
    [limit] = proofs.gains(targets, guarantee, proofs.shares(targets, guarantee))
    assert limit == pytest.approx(most_gained(np.array([0.5, 0.5]), np.eye(2), epsilon, delta))


@pytest.mark.parametrize("guarantee", [PureDP(1.0), GaussianDP(0.5), ApproximateDP(1.0, 1e-4)])
def test_programs_are_never_above_the_simpler_bound(monkeypatch, guarantee):
    """However many programs are solved, for whomever: each step down in number raises the bound."""
    rng = np.random.default_rng(5)
    prior = rng.dirichlet(np.ones(6), 9)
    targets = targets_of(np.concatenate([prior, prior[:3], prior[:1]]), ColumnsRight((6,), (1,)))
    n = targets.people
    (point,) = proofs.best_points(targets, guarantee, [0.95])
    found = []
    for cells, more in ((4_000, 50_000), (48, 50_000), (48, 48), (0, 0)):
        proofs.program_matrix.cache_clear()
        monkeypatch.setattr(proofs, "PROGRAM_CELLS", cells)
        monkeypatch.setattr(proofs, "POINT_CELLS", more)
        delta = float(guarantee.profile(point))
        o, theta = proofs.single_success(targets, point, delta)
        assert ((theta >= 0) & (theta <= 1)).all()
        share = proofs.shares(targets, guarantee).mean()
        assert share <= 1
        found.append((share, o.sum() + delta * theta.sum()))
    proofs.program_matrix.cache_clear()
    shares, counts = np.array(found).T
    assert (np.diff(shares) >= -1e-9).all()
    assert (np.diff(counts) >= -1e-6).all()
    assert shares[0] < shares[-1] - 0.02
    assert counts[0] < counts[-1] - 0.02 * n


def test_the_theorem_is_named_as_it_was_used(monkeypatch):
    exact, near, huge = exact_match((4,)), ColumnsRight((6,), (1,)), ColumnsRight((90,), (3,))
    pure = PureDP(1.0)
    assert proofs.theorems_of(exact, 100, pure)[0] is THEOREMS["one-target-optimum"]
    assert proofs.theorems_of(exact, 100, pure)[1] is THEOREMS["domination"]
    assert proofs.theorems_of(exact, 100, GaussianDP(1.0))[1] is THEOREMS["interpolation"]
    tail = proofs.theorems_of(near, 100, pure)[1]
    assert (tail.id, tail.source) == ("domination", "Narcissus theory 4.4")
    assert tail.statement == "Narcissus theory 4.4 (domination, by linear programs)"
    assert "for 2083 of 10000 people" in proofs.theorems_of(near, 10_000, pure)[1].title
    assert proofs.theorems_of(huge, 1, pure)[1].title.endswith("from the best guess")
    assert proofs.published_theorem(pure).id == "swanberg-3.2"
    assert proofs.published_theorem(ApproximateDP(1.0, 1e-5)) is THEOREMS["swanberg-3.4"]
    # one of the user's own takes part where it says something, and is named
    own = replace(THEOREMS["one-target-optimum"], id="own", source="Somebody 2026", title="")
    monkeypatch.setitem(THEOREMS, "own", own)
    assert "or Somebody 2026 where it is less" in proofs.theorems_of(exact, 100, pure)[0].title
    assert proofs.theorems_of(huge, 1, pure)[0].title.endswith("from the best guess")


def test_tails_of_another_theorem_are_asked_and_made_to_fall(monkeypatch):
    asked = []

    def tails(priors, guarantee, success):
        asked.append((priors.shape, success))
        return np.array([2.0, 0.5, 0.75, 0.25, -1.0])

    own = replace(THEOREMS["domination"], id="own", tails=tails)
    targets = targets_of(np.full((3, 4), 0.25))
    assert proofs.other_tails(targets, PureDP(1.0)) == {}
    monkeypatch.setitem(THEOREMS, "own", own)
    table = proofs.other_tails(targets, PureDP(1.0))["own"]
    assert table.tolist() == [1.0, 0.5, 0.5, 0.25, 0.0]
    near = targets_of(np.full((3, 6), 1 / 6), ColumnsRight((6,), (1,)))
    proofs.other_tails(near, PureDP(1.0))
    huge = targets_of(np.full((3, 90), 1 / 90), ColumnsRight((90,), (3,)))
    assert proofs.other_tails(huge, PureDP(1.0)) == {}
    assert [shape for shape, _ in asked] == [(3, 4), (3, 6)]
    assert asked[0][1] is None
    assert asked[1][1].shape[0] == 6
    for wrong in (np.ones(3), np.full(5, np.nan)):
        monkeypatch.setitem(THEOREMS, "own", replace(own, tails=lambda *_, w=wrong: w))
        with pytest.raises(InputError, match=r"0 \.\. 4"):
            proofs.other_tails(targets, PureDP(1.0))


def test_a_few_people_stand_for_the_choice_of_the_point():
    """Any point is valid; the one of the first 256 people is near the best of all."""
    rng = np.random.default_rng(3)
    targets = targets_of(rng.dirichlet(np.ones(4), 1000))
    guarantee = GaussianDP(0.4)
    (chosen,) = proofs.best_points(targets, guarantee, [0.95])
    best = min(
        proofs.not_exceeded(tail_of(targets, guarantee, float(e)), 0.95)
        for e in guarantee.tangents(60)
    )
    got = proofs.not_exceeded(tail_of(targets, guarantee, chosen), 0.95)
    assert best <= got <= best + 10


def test_not_exceeded_is_the_least_count():
    tails = np.array([1.0, 0.9, 0.3, 0.05, 0.0])  # of 0..3 people, and of 4
    assert [proofs.not_exceeded(tails, c) for c in (0.05, 0.69, 0.94, 0.96)] == [0, 1, 2, 3]


BATCH = 5


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Give a function that plays many trials of a setting once and keeps them."""
    import random

    folder = tmp_path_factory.mktemp("coverage")
    chance = random.Random(5)
    lines = ["a,b,c,secret"]
    for _ in range(300):
        a, b = chance.randint(0, 2), chance.randint(0, 1)
        c = chance.randint(0, 3)
        lines.append(f"{a},{b},{c},{'yes' if chance.random() < 0.2 + 0.3 * b else 'no'}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    kept = {}

    def give(noise, success="", trials=300):
        key = (noise, success)
        if key not in kept:
            path = folder / "s.toml"
            path.write_text(
                f'[data]\npath = "t.csv"\n[threat]\ntargets = 12\n{success or UNKNOWN}\n'
                f"[mechanism]\nk = 2\n{noise}\n[attacks]\nprior = {{}}\nposterior = {{}}\n"
                f"ceiling = {{}}\n[bounds]\nconfidence = [0.95, 0.5]\n[run]\ntrials = {trials}\n"
            )
            experiment = prepare(load_study(path).settings, folder, entropy=20261121)
            kept[key] = experiment, [experiment.play(f"{t}/0") for t in range(trials)]
        return kept[key]

    return give


UNKNOWN = 'unknown = ["secret"]'
PURE = 'noise = "laplace"\nepsilon = 4'
GAUSSIAN = "epsilon = 3\ndelta = 1e-4"
TWO = 'unknown = ["c", "secret"]\nwithin = { c = 1 }\nat_least = 2'


@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    ("noise", "success"),
    [
        pytest.param(PURE, "", id="laplace-exact"),
        pytest.param(GAUSSIAN, TWO, id="gaussian-two columns, within 1"),
        pytest.param(GAUSSIAN, "", id="gaussian-exact", marks=pytest.mark.nightly),
        pytest.param(PURE, TWO, id="laplace-two columns, within 1", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.one_in(2)
def test_nobody_gets_more_than_is_proved(played, noise, success):
    """300 trials; each attack, and the ceiling's shares, against each bound, alarm 1e-6."""
    experiment, trials = played(noise, success)
    bounds = summarise(experiment, 0, trials).bounds
    for name in ("prior", "posterior", "ceiling"):
        hits = np.array([int(t[f"{name}/hits"]) for t in trials])
        for bound in bounds:
            if not bound.is_share and name != "ceiling":
                over = int((hits > bound.at_most).sum())
                allowed = stats.binom.ppf(1 - ALARM, len(trials), 1 - bound.confidence)
                assert over <= allowed, bound
            elif bound.is_share:
                shares = hits / experiment.targets
                error = -stats.norm.ppf(ALARM) * shares.std() / math.sqrt(len(trials))
                assert shares.mean() <= bound.at_most + error, bound
    name = "domination" if noise == PURE else "interpolation"
    assert {b.confidence for b in bounds if b.name == name} == {0.95, 0.5}


@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(PURE, id="laplace"),
        pytest.param(GAUSSIAN, id="gaussian", marks=pytest.mark.nightly),
    ],
)
def test_limits_of_the_summary_cover(played, noise):
    """60 studies of 5 trials each; the truth from all 300; 95% limits, alarm 1e-6 each."""
    experiment, trials = played(noise)
    whole = summarise(experiment, 0, trials)
    batches = [trials[a : a + BATCH] for a in range(0, len(trials), BATCH)]
    found = [summarise(experiment, 0, b) for b in batches]
    floor = stats.binom.ppf(ALARM, len(batches), 0.95)

    def covered(limits, truth):
        return sum(low <= truth <= high for low, high in map(limits, found))

    for name in ("prior", "posterior", "ceiling", "guess"):

        def of(one, name=name):
            return one.result.attacks[name] if name in one.result.attacks else getattr(one, name)

        truth = of(whole)
        assert covered(lambda one, of=of: (of(one).low, of(one).high), truth.share) >= floor, name
        if name != "guess":
            # a guess that ignores the release gains nothing, whatever the trials say
            gain = 0.0 if name == "prior" else truth.gain
            assert covered(lambda one, of=of: (of(one).gain_low, of(one).gain_high), gain) >= floor
            ends = ("baseline_low", "baseline_high")
            both = covered(lambda one, of=of: map(of(one).number, ends), truth.baseline)
            assert both >= floor
    # They are limits, not the whole range: with all trials they are narrow.
    posterior = whole.attacks["posterior"]
    assert posterior.high - posterior.low < 0.05
    # The guess without the release is what the prior attack recovers.
    assert whole.guess.share == pytest.approx(whole.attacks["prior"].baseline)
    assert abs(whole.attacks["prior"].gain) < 0.03


@pytest.mark.parametrize("guarantee", [PureDP(1.3), ApproximateDP(1.0, 1e-3), GaussianDP(0.8)])
@pytest.mark.parametrize("at_least", [None, 1])
def test_people_with_equal_priors_are_answered_once_and_alike(monkeypatch, guarantee, at_least):
    """To the last digit what is said of each alone, however few are asked about at a time."""
    rng = np.random.default_rng(8)
    prior = rng.dirichlet(np.ones(6), 12)[rng.integers(0, 12, 90)]
    success = ColumnsRight((2, 3), at_least=at_least)
    targets = Targets(
        MarginalQueries((2, 3, 2), (0, 1), 1), np.zeros((90, 3), np.int32), prior, success
    )
    monkeypatch.setattr("narcissus.knowledge.columns.ENTRIES", 30)
    monkeypatch.setattr(proofs, "GUESSES", 7)
    monkeypatch.setattr(proofs, "PROGRAM_CELLS", 3)  # no programs: their solver sees many at once
    proofs.program_matrix.cache_clear()
    delta = float(guarantee.profile(1.0))
    shares = proofs.shares(targets, guarantee)
    o, theta = proofs.single_success(targets, 1.0, delta)
    gains = proofs.gains(targets, guarantee, shares)
    chances = proofs.best_chances(targets)
    assert targets.alike.number == 12
    for i in range(90):
        one = Targets(targets.queries, targets.codes[:1], prior[i : i + 1], success)
        assert proofs.best_chances(one) == chances[i] == success.chances(one.prior).max()
        assert proofs.shares(one, guarantee) == shares[i]
        assert proofs.gains(one, guarantee, shares[i : i + 1]) == gains[i]
        assert [v[0] for v in proofs.single_success(one, 1.0, delta)] == [o[i], theta[i]]
    if at_least is None:
        np.testing.assert_array_equal(shares, each_success(prior, guarantee))
        np.testing.assert_array_equal(o, exact_match_optimum(prior, 1.0))
    proofs.program_matrix.cache_clear()


SHAPE = (2, 3)
QUERIES = MarginalQueries((2, *SHAPE), (1, 2), 2)
NEAR = ColumnShare(SHAPE, (0.0, 1.0))
CRITERIA_EACH_COLUMN = [ColumnShare(SHAPE), NEAR]


def people(success, count=6, seed=0):
    prior = np.random.default_rng(seed).dirichlet(np.full(6, 0.5), size=count)
    return Targets(QUERIES, np.zeros((count, 3), dtype=np.int32), prior, success)


def without_list(targets):
    with np.errstate(divide="ignore"):
        table = np.log(targets.prior).reshape(-1, *SHAPE)
    factors = Factors(SHAPE, ((0, 1),), (table,), np.arange(len(table)))
    return FactoredTargets(QUERIES, targets.codes, factors, CodesRight(targets.success))


def best_of_all(weights, epsilon, delta=0.0):
    """Maximise the sum of weights[x, z] P(z | x) over attempts P under (epsilon, delta)-DP.

    A guarantee holds for every set of attempts: for finitely many, the parts by which one law
    exceeds another sum to at most delta.
    """
    values, guesses = weights.shape
    pairs = [(x, y) for x in range(values) for y in range(values) if x != y]
    first = values * guesses
    width = first + len(pairs) * guesses
    rows, right = [], []
    for number, (x, y) in enumerate(pairs):
        own = first + number * guesses
        for z in range(guesses):
            row = np.zeros(width)
            row[x * guesses + z], row[y * guesses + z] = 1, -np.exp(epsilon)
            row[own + z] = -1
            rows.append(row)
            right.append(0)
        row = np.zeros(width)
        row[own : own + guesses] = 1
        rows.append(row)
        right.append(delta)
    sums = np.zeros((values, width))
    for x in range(values):
        sums[x, x * guesses : (x + 1) * guesses] = 1
    price = np.concatenate([-weights.ravel(), np.zeros(width - first)])
    found = linprog(price, np.array(rows), right, sums, np.ones(values), bounds=(0, None))
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("success", CRITERIA_EACH_COLUMN)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_attacker_of_any_release_gets_a_larger_share(success, delta):
    """The columns depend on each other, and the attacker uses both; linear programs."""
    targets = people(success)
    guarantee = ApproximateDP(0.7, delta) if delta else PureDP(0.7)
    shares = proofs.shares(targets, guarantee)
    best = [best_of_all(own[:, None] * success.matrix(), 0.7, delta) for own in targets.prior]
    assert (shares >= np.array(best) - 1e-9).all()
    assert np.mean(shares - best) < 0.02  # and it is not far from what somebody gets
    assert (shares >= targets.best_chance - 1e-12).all()


@pytest.mark.parametrize("success", CRITERIA_EACH_COLUMN)
def test_no_release_adds_more_to_what_the_same_attempts_score_on_fresh_people(success):
    targets = people(success)
    guarantee = PureDP(0.7)
    ones = np.ones(targets.people)
    gains = proofs.gains(targets, guarantee, ones)
    matrix = success.matrix()
    for own, limit in zip(targets.prior, gains, strict=True):
        best = best_of_all(own[:, None] * (matrix - own @ matrix), 0.7)
        assert 0 < best <= limit + 1e-9
    assert (proofs.gains(targets, guarantee, ones / 100) <= 0.01).all()


@pytest.mark.parametrize("success", CRITERIA_EACH_COLUMN)
def test_it_is_the_same_without_a_list_of_joint_values(success):
    targets, guarantee = people(success), PureDP(1.5)
    other = without_list(targets)
    listed = proofs.shares(targets, guarantee)
    assert proofs.shares(other, guarantee) == pytest.approx(listed, abs=1e-9)
    gained = proofs.gains(targets, guarantee, listed)
    assert proofs.gains(other, guarantee, listed) == pytest.approx(gained, abs=1e-9)


def theorem(success):
    return proofs.theorems_of(success, 6, PureDP(1.0))[0]


def test_without_a_distance_it_is_the_theorem_on_columns():
    targets = people(ColumnShare(SHAPE))
    table = targets.prior.reshape(-1, *SHAPE)
    expected = column_shares([table.sum(axis=2), table.sum(axis=1)], PureDP(1.0))
    assert proofs.shares(targets, PureDP(1.0)) == pytest.approx(expected, abs=1e-12)
    assert theorem(ColumnShare(SHAPE)).id == "column-shares"
    assert "linear programs" in theorem(NEAR).statement


SIZES, UNKNOWN_FACTORED, SHAPE_FACTORED = (3, 2, 4, 3), (1, 2, 3), (2, 4, 3)
CRITERIA_FACTORED = [
    ColumnsRight(SHAPE_FACTORED),
    ColumnsRight(SHAPE_FACTORED, at_least=1),
    ColumnsRight(SHAPE_FACTORED, at_least=2),
    ColumnsRight(SHAPE_FACTORED, (0.0, 1.0, 0.0)),
]
GUARANTEES = [PureDP(0.5), PureDP(3.0), GaussianDP(0.5), GaussianDP(2.0)]


def both(success):
    rng = np.random.default_rng(3)
    parents = ((), (0,), (0, 1), (2, 1))
    tables = [
        rng.dirichlet(np.ones(size), size=tuple(SIZES[p] for p in own))
        for own, size in zip(parents, SIZES, strict=True)
    ]
    prior = BayesianNetwork(tuple("abcd"), parents, tuple(np.asarray(t) for t in tables))
    queries, world = MarginalQueries(SIZES, UNKNOWN_FACTORED, 2), People(prior, 30)
    draw = world.draw(1, rng)
    [listed] = OtherColumns(prior, queries, success).reveal(world, draw, rng)
    [factored] = FactoredColumns(prior, queries, CodesRight(success)).reveal(world, draw, rng)
    return listed, factored


@pytest.mark.parametrize("success", CRITERIA_FACTORED)
def test_no_guess_is_likelier_than_the_limit_says(success):
    listed, factored = both(success)
    limit = proofs.best_chances(factored)
    assert (limit >= proofs.best_chances(listed) - 1e-12).all()
    if success.exact:
        assert limit == pytest.approx(proofs.best_chances(listed))
    # and it says something, where more than one column must be right
    assert limit.min() < 1 or success.needed == 1


def test_all_guesses_are_limited_far_below_markovs_inequality():
    """Nine of twelve columns in a chain, where one value is likeliest whatever came before."""
    columns, rng = 12, np.random.default_rng(1)
    success = ColumnsRight((2,) * columns, at_least=9)
    step = np.array([[0.8, 0.2], [0.6, 0.4]])
    tables = (np.array([0.6, 0.4]), *(step,) * (columns - 1))
    parents = ((), *((c,) for c in range(columns - 1)))
    prior = BayesianNetwork(tuple("abcdefghijkl"), parents, tables)
    queries = MarginalQueries((2,) * columns, tuple(range(columns)), 1)
    world = People(prior, 4)
    side = FactoredColumns(prior, queries, CodesRight(success))
    [targets] = side.reveal(world, world.draw(1, rng), rng)
    limit = proofs.best_chances(targets)
    values = np.array(list(product((0, 1), repeat=columns)))
    chances = np.exp(prior.log_probability(values))
    best = max((chances * ((values == guess).sum(axis=1) >= 9)).sum() for guess in values)
    assert limit.min() >= best - 1e-12
    assert limit.max() <= best + 0.02
    markov = sum(m[0].max() for m in targets.marginals) / 9
    assert limit.max() < markov - 0.1


def test_markovs_inequality_is_attained_where_columns_are_right_together():
    """Two coins that always agree: one right is as likely as two."""
    success = ColumnsRight((2, 2), at_least=2)
    tables = (np.array([0.5, 0.5]), np.eye(2))
    prior = BayesianNetwork(("a", "b"), ((), (0,)), tables)
    queries, rng = MarginalQueries((2, 2), (0, 1), 1), np.random.default_rng(0)
    world = People(prior, 4)
    side = FactoredColumns(prior, queries, CodesRight(success))
    [targets] = side.reveal(world, world.draw(1, rng), rng)
    assert targets.chance(np.zeros((4, 2), dtype=int)) == pytest.approx(0.5)
    assert proofs.best_chances(targets) == pytest.approx(0.5)


def test_secrets_that_differ_are_what_sums_of_squares_leave():
    listed, factored = both(ColumnsRight(SHAPE_FACTORED))
    assert proofs.differ(factored) == pytest.approx(1 - (listed.prior**2).sum(axis=1))


@pytest.mark.parametrize("success", CRITERIA_FACTORED)
@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.one_in(4)
def test_limits_are_never_below_those_of_the_listed_values(success, guarantee):
    """Mean share, gain and tails: the same theorems, from less."""
    listed, factored = both(success)
    shares, of_list = proofs.shares(factored, guarantee), proofs.shares(listed, guarantee)
    assert (shares >= of_list - 1e-9).all()
    if success.exact:  # all values are listed: nothing is lost
        assert shares == pytest.approx(of_list, abs=2e-6)
    gains = proofs.gains(factored, guarantee, np.ones(30))
    assert gains == pytest.approx(proofs.gains(listed, guarantee, np.ones(30)))
    [point] = proofs.best_points(factored, guarantee, [0.95])
    o, theta = proofs.single_success(factored, point, float(guarantee.profile(point)))
    costs = proofs.costs(factored, guarantee, point, theta)
    assert ((costs >= 0) & (costs <= 1)).all()
    table = interpolation_tails(o, costs)
    assert table[0] == 1.0
    assert (np.diff(table) <= 1e-12).all()
    assert proofs.other_tails(factored, guarantee) == {}


@pytest.mark.parametrize("success", CRITERIA_FACTORED)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_pair_of_the_domination_theorem_is_feasible(success, epsilon):
    """For every set of values that a guess covers, mu = o D must be reached by flows of Theta."""
    listed, factored = both(success)
    o, theta = proofs.single_success(factored, epsilon, 1e-5)
    if success.exact:  # there mu = (e^eps D - o)+ / (e^eps - 1) must not sum to more than o
        least = np.maximum(np.exp(epsilon) * listed.prior - o[:, None], 0) / np.expm1(epsilon)
        assert (least.sum(axis=1) <= o + 1e-9).all()
        assert theta == pytest.approx(1 - o)
        return
    matrix = np.array([
        [success.score(np.array([x]), np.array([z]))[0] for z in range(success.guesses)]
        for x in range(24)
    ])  # fmt: skip
    for i in range(5):
        prior = listed.prior[i]
        mu, flows = o[i] * prior, np.zeros((24, 24))
        for z in range(success.guesses):
            inside = matrix[:, z]
            lacking, left = (prior - mu)[inside].sum(), mu[~inside].sum()
            assert lacking <= np.exp(-epsilon) * left + 1e-12
            for x, y in product(np.flatnonzero(inside), np.flatnonzero(~inside)):
                flow = (prior - mu)[x] * mu[y] / left if left else 0.0
                flows[x, y] = max(flows[x, y], flow)
        assert flows.sum() <= theta[i] + 1e-12


def test_a_list_that_is_cut_gives_a_limit_that_is_valid_and_less_sharp(monkeypatch):
    listed, factored = both(ColumnsRight(SHAPE_FACTORED))
    exact = proofs.shares(listed, PureDP(3.0))
    monkeypatch.setattr(proofs, "MOST_LISTED", 3)
    cut = proofs.shares(factored, PureDP(3.0))
    assert (cut >= exact - 1e-9).all()
    assert cut.mean() > exact.mean() + 0.01
    assert (cut <= proofs.from_best_guess(listed.best_chance, PureDP(3.0)) + 1e-12).all()


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_share_of_columns_is_limited_by_each_columns_own_optimum(guarantee):
    from narcissus.bounds import optimum

    listed, factored = both(ColumnsRight(SHAPE_FACTORED, at_least=2))
    table = listed.prior.reshape(30, *SHAPE_FACTORED)
    each = [
        optimum(table.sum(axis=tuple(a for a in (1, 2, 3) if a != 1 + c)), guarantee)
        for c in range(3)
    ]
    found = proofs.columns_share(factored, guarantee)
    assert found == pytest.approx(np.mean(each))
    guess = np.mean([m.max(axis=1) for m in factored.marginals])
    assert guess < found < 1
    _, near = both(ColumnsRight(SHAPE_FACTORED, (0.0, 1.0, 0.0)))
    assert proofs.columns_share(near, guarantee) is None


STUDY = {
    "threat": {"unknown": ["ill"], "targets": 12},
    "mechanism": {"epsilon": None, "mu": 0.8},
    "bounds": {"confidence": [0.9, 0.7]},
    "run": {"trials": 10},
}


@pytest.fixture
def targets(ready):
    return ready(**STUDY).known(0)


def test_the_least_of_all_forms_person_by_person(targets):
    guarantee, epsilon = GaussianDP(0.8), 0.4
    rows, mu, o, c = target_multipliers(targets.prior, guarantee, epsilon)
    found = count_tails(targets, guarantee, epsilon, o, c)
    forms = [interpolation_tails(o, c)]
    for q in (0.25, 0.5, round(float(o.mean()), 2)):
        forms.append(coin_tails(o, c, *split_chances(rows, mu, q), q))
    assert found == pytest.approx(np.min(forms, axis=0), abs=1e-14)
    assert (found < forms[0] - 1e-4).any()
    assert (np.diff(found) <= 0).all()


def test_a_coin_needs_exact_match_few_people_and_something_that_leaks(targets, ready, monkeypatch):
    o, c = np.full(12, 0.6), np.full(12, 0.01)
    plain = interpolation_tails(o, c)
    none = count_tails(targets, PureDP(1.0), 1.0, o, np.zeros(12))
    assert none == pytest.approx(interpolation_tails(o, np.zeros(12)))
    threat_to_one = {**STUDY["threat"], "unknown": ["ill", "age"], "at_least": 1}
    near = ready(**{**STUDY, "threat": threat_to_one}).known(0)
    assert count_tails(near, GaussianDP(0.8), 0.4, o, c).tolist() == plain.tolist()
    assert reached(near, GaussianDP(0.8)) is None
    assert evenness(near) is None
    monkeypatch.setattr(counts, "COIN_PEOPLE", 11)
    assert count_tails(targets, GaussianDP(0.8), 0.4, o, c).tolist() == plain.tolist()


def test_what_some_mechanism_reaches(targets, monkeypatch):
    exactly = reached(targets, ApproximateDP(1.0, 0.01))
    assert exactly == pytest.approx(reached_tails(targets.prior, ApproximateDP(1.0, 0.01)))
    roughly, finely = reached(targets, GaussianDP(0.8)), reached_tails(
        targets.prior, GaussianDP(0.8)
    )  # fmt: skip
    assert (roughly <= finely + 1e-12).all()
    assert roughly == pytest.approx(finely, abs=0.02)
    told = reached_tails(targets.prior, ApproximateDP(0.0, 0.5))
    assert reached(targets, BayesSecurity(0.5)) == pytest.approx(told)
    monkeypatch.setattr(counts, "REACHED_PEOPLE", 11)
    assert reached(targets, GaussianDP(0.8)) is None


def test_evenness_is_of_the_worst_person(targets):
    prior = np.asarray(targets.prior)
    assert evenness(targets) == pytest.approx([prior.max(), (prior**2).sum(axis=1).min()])


def test_fair_people_have_the_number_of_the_swap_program():
    guarantee = GaussianDP.from_epsilon_delta(1.0, 1e-5)
    fair = np.array([0.5, 0.5])
    most = at_most_if_fair(fair, 30, guarantee, 0.95)
    danger = threat(prior=0.5, targets=30, inseparable=0.5)
    assert most is not None
    assert swap_program(danger, guarantee, int(most.value) + 1) <= 0.05
    assert swap_program(danger, guarantee, int(most.value)) > 0.05
    assert at_most_if_fair(np.array([0.6, 0.52]), 30, guarantee, 0.95) is None
    assert at_most_if_fair(fair, 30, PureDP(1.0), 0.95) is None
    assert at_most_if_fair(fair, 1000, guarantee, 0.95) is None


def test_limits_of_the_program_stand_beside_those_that_they_are_below(ready, made_up):
    made = made_up(ready(**STUDY), 10)
    ones = np.append(np.ones(13), 0.0)  # nothing else is proved
    trials = [{**t, "tails/0": ones, "tails/1": ones} for t in made.trials]
    found = bounds_of(made.experiment, 0, trials)
    assert "swap-program" not in [b.id for b in found]
    fair = [{**t, "evenness": np.array([0.5, 0.5])} for t in trials]
    found = [b for b in bounds_of(made.experiment, 0, fair) if "swap" in b.id]
    expected = [at_most_if_fair(np.array([0.5, 0.5]), 12, GaussianDP(0.8), x) for x in (0.9, 0.7)]
    assert [b.at_most for b in found] == [int(b.value) for b in expected if b is not None]
    assert [b.of_population for b in found] == [None, None]
    one = [*fair[1:], {**fair[0], "evenness": np.array([0.6, 0.5])}]  # one person is not
    assert not [b for b in bounds_of(made.experiment, 0, one) if "swap" in b.id]


def test_what_is_reached_is_kept_and_left_out_where_it_is_not_known(ready, made_up):
    made = made_up(ready(**STUDY), 10)
    found = bounds_of(made.experiment, 0, made.trials)
    assert found[0].reached is None
    low = made.tails[:, 0].mean(axis=0) / 2
    trials = [{**t, "reached": low} for t in made.trials]
    found = bounds_of(made.experiment, 0, trials)
    assert found[0].reached == int(np.argmax(low[1:] <= 0.1))
    assert found[0].reached <= found[0].at_most


def table_of(chances, spent):
    table = np.minimum(PoissonBinomial(chances).tails() + spent, 1.0)
    table[-1] = 0.0
    return table


def test_of_few_people_all_is_kept():
    table = table_of(np.full(20, 0.3), 0.01)
    kept = packed("tails/0", table)
    assert list(kept) == ["tails/0"]
    assert kept["tails/0"] is table
    np.testing.assert_array_equal(unpacked(kept, "tails/0", 20), table)


@pytest.mark.parametrize("chance", [0.0001, 0.3, 0.9999])
@pytest.mark.parametrize("spent", [0.0, 0.02, 0.7, 2.0])
def test_of_many_people_nothing_is_too_small(monkeypatch, chance, spent):
    """With 40 standard deviations kept, the rest is told to the last digit that counts."""
    n = 20_000
    monkeypatch.setattr(counts, "KEPT", 4000)
    table = table_of(np.full(n, chance), spent)
    kept = packed("published", table)
    assert kept["published"].shape == (4000,)
    whole = unpacked(kept, "published", n)
    assert whole.shape == table.shape
    assert (whole >= table).all()
    assert (np.diff(whole) <= 0).all()
    np.testing.assert_allclose(whole, table, rtol=0, atol=1e-100)


def test_means_are_over_whole_tables(monkeypatch):
    monkeypatch.setattr(counts, "KEPT", 700)
    tables = [table_of(np.full(3000, chance), 0.01) for chance in (0.2, 0.5, 0.6)]
    trials = [packed("tails/0", table) for table in tables]
    np.testing.assert_allclose(mean_tails(trials, "tails/0", 3000), np.mean(tables, axis=0))
    few = [{"tails/0": table} for table in tables]
    np.testing.assert_array_equal(mean_tails(few, "tails/0", 3000), np.mean(tables, axis=0))
