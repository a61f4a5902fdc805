"""What is proved, against linear programs over all mechanisms; what is sampled, by coverage."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.attacks.table import Targets
from narcissus.bounds import (
    THEOREMS,
    each_success,
    exact_match_optimum,
    interpolation_tails,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.mechanisms import MarginalQueries
from narcissus.study import load_study
from narcissus.study.table import proofs
from narcissus.study.table.prepare import prepare
from narcissus.study.table.summary import summarise
from narcissus.success import ColumnsRight, exact_match

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
    assert proofs.share_theorem(exact, 100, pure) is THEOREMS["one-target-optimum"]
    assert proofs.tail_theorem(exact, 100, pure) is THEOREMS["domination"]
    assert proofs.tail_theorem(exact, 100, GaussianDP(1.0)) is THEOREMS["interpolation"]
    tail = proofs.tail_theorem(near, 100, pure)
    assert (tail.id, tail.source) == ("domination", "Narcissus theory 4.4")
    assert tail.statement == "Narcissus theory 4.4 (domination, by linear programs)"
    assert "for 2083 of 10000 people" in proofs.tail_theorem(near, 10_000, pure).title
    assert proofs.tail_theorem(huge, 1, pure).title.endswith("from the best guess")
    assert proofs.published_theorem(pure).id == "swanberg-3.2"
    assert proofs.published_theorem(ApproximateDP(1.0, 1e-5)) is THEOREMS["swanberg-3.4"]
    # one of the user's own takes part where it says something, and is named
    own = replace(THEOREMS["one-target-optimum"], id="own", source="Somebody 2026", title="")
    monkeypatch.setitem(THEOREMS, "own", own)
    assert "or Somebody 2026 where it is less" in proofs.share_theorem(exact, 100, pure).title
    assert proofs.share_theorem(huge, 1, pure).title.endswith("from the best guess")


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
def test_nobody_gets_more_than_is_proved(played, noise, success):
    """300 trials; each attack, and the ceiling's shares, against each bound, alarm 1e-6."""
    experiment, trials = played(noise, success)
    result = summarise(experiment, 0, trials).model_dump()
    bounds = result["bounds"]
    for name in ("prior", "posterior", "ceiling"):
        hits = np.array([int(t[f"{name}/hits"]) for t in trials])
        for bound in bounds:
            if "at_most" in bound and name != "ceiling":
                over = int((hits > bound["at_most"]).sum())
                allowed = stats.binom.ppf(1 - ALARM, len(trials), 1 - bound["confidence"])
                assert over <= allowed, bound
            elif "share_at_most" in bound:
                shares = hits / experiment.targets
                error = -stats.norm.ppf(ALARM) * shares.std() / math.sqrt(len(trials))
                assert shares.mean() <= bound["share_at_most"] + error, bound
    name = "domination" if noise == PURE else "interpolation"
    assert {b["confidence"] for b in bounds if b["name"] == name} == {0.95, 0.5}


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
    whole = summarise(experiment, 0, trials).model_dump()
    batches = [trials[a : a + BATCH] for a in range(0, len(trials), BATCH)]
    found = [summarise(experiment, 0, b).model_dump() for b in batches]
    floor = stats.binom.ppf(ALARM, len(batches), 0.95)

    def covered(path, truth, low="low", high="high"):
        hits = 0
        for result in found:
            limits = result
            for key in path:
                limits = limits[key]
            hits += limits[low] <= truth <= limits[high]
        return hits

    for path in (["attacks", "prior"], ["attacks", "posterior"], ["ceiling"], ["guess"]):
        truth = whole
        for key in path:
            truth = truth[key]
        assert covered(path, truth["share"]) >= floor, path
        if "gain" in truth:
            # a guess that ignores the release gains nothing, whatever the trials say
            gain = 0.0 if path[-1] == "prior" else truth["gain"]
            assert covered(path, gain, "gain_low", "gain_high") >= floor
            assert covered(path, truth["baseline"], "baseline_low", "baseline_high") >= floor
    # They are limits, not the whole range: with all trials they are narrow.
    posterior = whole["attacks"]["posterior"]
    assert posterior["high"] - posterior["low"] < 0.05
    # The guess without the release is what the prior attack recovers.
    assert whole["guess"]["share"] == pytest.approx(whole["attacks"]["prior"]["baseline"])
    assert abs(whole["attacks"]["prior"]["gain"]) < 0.03


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
