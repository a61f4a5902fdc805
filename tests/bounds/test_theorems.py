"""Every theorem of the registry against the best of all mechanisms in small worlds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.bounds import (
    THEOREMS,
    ListedPriors,
    Needs,
    Question,
    Theorem,
    advantage,
    best,
    bounds_on,
    each_success,
    exact_optimum,
    threat,
    threat_of_columns,
    threat_of_likeliest,
    threat_of_ranked,
)
from narcissus.bounds.exact import _attempts, _solve
from narcissus.bounds.theorems import of_tails, user_theorems
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    Guarantee,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from narcissus.results import NotAssessed

from .conftest import cover, draw_guarantee

ROUNDING = 1e-9
SLACK = 1e-6  # the solver's tolerance
SEEDS = 16
Member = tuple[Question, float]


def excess(channel: np.ndarray, neighbours: list[tuple[int, int]], guarantee: Guarantee) -> float:
    """By how much the best test between two neighbours exceeds what the guarantee allows.

    The tests of Neyman and Pearson are the corners of a concave line; the trade-off function's
    power is concave, so that no other test exceeds it where the corners do not.
    """
    if not neighbours:
        return -1.0
    of_x, of_y = channel[[x for x, _ in neighbours]], channel[[y for _, y in neighbours]]
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-(of_x / of_y), axis=1, kind="stable")
    alpha = np.minimum(np.cumsum(np.take_along_axis(of_y, order, axis=1), axis=1), 1.0)
    power = np.cumsum(np.take_along_axis(of_x, order, axis=1), axis=1)
    return float((power - guarantee.power(alpha)).max())


def chords(guarantee: GaussianDP, count: int) -> ProfileCurve:
    """The profile of a polygon inscribed in the Gaussian curve, symmetric, with an odd ``count``.

    The points are (Phi(-t - mu/2), Phi(-t + mu/2)) and the two ends; the chords steeper than 1 and
    the one of slope 1 say all, as the others are theirs with the neighbours exchanged.
    """
    t = np.linspace(-3.5, 3.5, count + 1)[count // 2 :]
    half = guarantee.mu / 2
    alpha = np.append(stats.norm.sf(t + half), 0.0)
    power = np.append(stats.norm.sf(t - half), 0.0)
    slope = np.diff(power) / np.diff(alpha)
    points = np.maximum(np.log(slope), 0.0)
    return ProfileCurve(
        tuple(points.tolist()), tuple(np.maximum(power[1:] - slope * alpha[1:], 0.0).tolist())
    )


def mechanism_success(rows, guarantee, v: int, success, made: int, inside) -> float:
    """What one explicit mechanism with the guarantee, and one attacker, reach.

    ``inside`` is what the program imposes at its tangents; at least as strong as ``guarantee``.
    """
    n, width = len(rows), success.shape[1]
    worlds = list(product(*[range(row.size) for row in rows]))
    vectors = _attempts(n, width, made, shared=False)
    points = np.append(inside.tangents(), 0.0)
    found = exact_optimum(rows, inside, v, success, guesses=made, epsilons=points)
    size = len(worlds) * len(vectors)
    channel = np.clip(found.x[:size].reshape(len(worlds), -1), 0, None)
    channel /= channel.sum(axis=1, keepdims=True)
    weight = np.array([np.prod([r[x] for r, x in zip(rows, w, strict=True)]) for w in worlds])
    abstaining = np.column_stack([success, np.zeros(len(success))])
    hits = np.array(
        [
            [sum(abstaining[x, z] for x, z in zip(w, a, strict=True)) for a in vectors]
            for w in worlds
        ]
    )
    gain = weight[:, None] * (hits >= v)
    noise = np.full_like(channel, 1 / channel.shape[1])
    neighbours = [
        (i, j)
        for i, x in enumerate(worlds)
        for j, y in enumerate(worlds)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
    low, high = -8.0, 0.0  # log10 of the share of noise
    for _ in range(20):
        middle = 1 - 10 ** ((low + high) / 2)
        mixed = middle * channel + (1 - middle) * noise
        if excess(mixed, neighbours, guarantee) <= 1e-12:
            high = np.log10(1 - middle)
        else:
            low = np.log10(1 - middle)
    share = 1 - 10**high
    return float((gain * (share * channel + (1 - share) * noise)).sum())


def world(rng: np.random.Generator) -> tuple[int, np.ndarray, np.ndarray]:
    """One to three targets with one prior, and exact match or guesses that cover several values."""
    n = int(rng.choice([1, 1, 2, 2, 3]))
    values = int(rng.integers(2, 5 if n == 1 else 4 if n == 2 else 3))
    prior = rng.dirichlet(np.full(values, rng.choice([0.5, 1.0, 5.0, 20.0])))
    if rng.random() < 0.3:
        prior = np.full(values, 1 / values)
    return n, prior, cover(rng, values)


@dataclass(frozen=True)
class ByRank:
    """A prior of few values as one that is known by ranks alone."""

    masses: tuple[float, ...]

    @property
    def n(self):
        return len(self.masses)

    def probability(self, rank):
        return self.masses[rank - 1]

    def head(self, k):
        return min(1.0, sum(self.masses[:k]))

    def collision(self):
        return min(1.0, sum(mass**2 for mass in self.masses))

    def describe(self):
        return "some law"


def threats(prior, success, n: int, made: int):
    """Every way of describing one world, from all that is known to the best guess alone."""
    whole = threat(values=prior, success=success, targets=n, guesses=made)
    p = whole.prior
    yield whole
    yield threat(prior=p, targets=n, guesses=made)
    yield threat(prior=p, targets=n, guesses=made, inseparable=whole.inseparable)
    if whole.exact_match:
        yield threat(prior=p, targets=n, guesses=made, exact_match=True)
    if whole.exact_match:
        by_rank = threat_of_ranked(ByRank(tuple(np.sort(prior)[::-1].tolist())), targets=n)
        yield replace(by_rank, values=None, guesses=made)
    if whole.exact_match and made == n:
        ordered = np.sort(prior)[::-1]
        for k in range(1, ordered.size):
            # the limit of what is not listed may be anything up to the last that is
            for limit in {ordered[k], (ordered[k - 1] + ordered[k]) / 2} - {0.0}:
                yield threat_of_likeliest(ListedPriors([ordered[:k]], [limit]), targets=n)


def questions(prior, success, guarantee, n: int, made: int, v: int, reached: float) -> list[Member]:
    """The members of one world: every way of describing it, as a tail and for one target."""
    found = []
    for danger in threats(prior, success, n, made):
        found.append((Question(danger, guarantee, v), reached))
        if n == 1:
            found.append((Question(danger, guarantee), reached))
    return found


@cache
def by_programs(seed: int) -> list[Member]:
    """120 random worlds under pure and approximate DP, against the exact optimum."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(120):
        n, prior, success = world(rng)
        guarantee = draw_guarantee(rng)
        v = int(rng.integers(1, n + 1))
        made = int(rng.integers(v, n + 1))
        reached = exact_optimum([prior] * n, guarantee, v, success, guesses=made).value
        found += questions(prior, success, guarantee, n, made, v, reached - SLACK)
    return found


@cache
def chosen() -> list[Member]:
    """Worlds that the random ones may miss: fair bits, two of three, Bayes security."""
    found = []
    kinds = [ApproximateDP(e, d) for e in (0.1, 0.5) for d in (0.01, 0.1)]
    for guarantee in [PureDP(0.1), PureDP(0.2), PureDP(1.0), *kinds]:
        for n, v in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2)]:
            coin = np.full(2, 0.5)
            reached = exact_optimum([coin] * n, guarantee, v).value
            found += questions(coin, np.eye(2), guarantee, n, n, v, reached - SLACK)
    halves = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    for success in (np.eye(3), 1 - np.eye(3), np.eye(4), np.hstack([halves, 1 - halves])):
        even, guessed = np.full(len(success), 1 / len(success)), np.unique(success, axis=1)
        for guarantee in (PureDP(0.2), *kinds, BayesSecurity(0.7), BayesSecurity(0.95)):
            reached = exact_optimum(even, guarantee, 1, guessed).value
            found += questions(even, guessed, guarantee, 1, 1, 1, reached - SLACK)
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, prior, success = world(rng)
        guarantee, v = BayesSecurity(float(rng.uniform(0.5, 1))), int(rng.integers(1, n + 1))
        reached = exact_optimum([prior] * n, guarantee, v, success).value
        found += questions(prior, success, guarantee, n, n, v, reached - SLACK)
    return found


@cache
def by_mechanisms(worlds: int) -> list[Member]:
    """Worlds under Gaussian DP, against explicit mechanisms."""
    found = []
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        n, prior, success = world(rng)
        guarantee = GaussianDP(float(rng.choice([0.2, 0.5, 1.0, 2.0, 3.0])))
        made = int(rng.integers(1, n + 1)) if rng.random() < 0.3 else n
        v = int(rng.integers(1, made + 1))
        inside = chords(guarantee, 41 if n == 1 else 17)
        reached = mechanism_success([prior] * n, guarantee, v, success, made, inside)
        found += questions(prior, success, guarantee, n, made, v, reached - ROUNDING)
    return found


@cache
def by_randomized_response() -> list[Member]:
    """Equally likely values under Renyi DP."""
    found = []
    for values, alpha, gamma in product((2, 20, 200), (1.5, 2.0, 8.0), (0.1, 0.5)):

        def over(right: float, k=values, a=alpha, g=gamma) -> float:
            wrong = (1 - right) / (k - 1)
            total = right**a * wrong ** (1 - a) + wrong**a * right ** (1 - a) + (k - 2) * wrong
            return np.log(total) / (a - 1) - g

        reached = optimize.brentq(over, 1 / values, 1 - 1e-12)
        danger = threat(prior=1 / values, exact_match=True)
        found.append((Question(danger, RenyiDP(alpha, gamma)), reached - ROUNDING))
        found.append((Question(danger, RenyiDP(alpha, gamma), 1), reached - ROUNDING))
    return found


@cache
def of_columns(worlds: int) -> list[Member]:
    """Two or three columns of one target that depend on one another, against the exact optimum."""
    found = []
    rng = np.random.default_rng(6)
    for _ in range(worlds):
        shape = tuple(int(s) for s in rng.integers(2, 4, 2)) if rng.random() < 0.7 else (2, 2, 2)
        joint = rng.dirichlet(np.full(np.prod(shape), rng.choice([0.2, 1.0]))).reshape(shape)
        values = np.array(list(np.ndindex(shape)))
        share = (values[:, None] == values[None]).mean(axis=2)
        guarantee = draw_guarantee(rng)
        points = guarantee.tangents()
        gain = joint.reshape(-1, 1) * share
        worlds = [(x,) for x in range(len(values))]
        reached = _solve(worlds, gain, points, guarantee.profile(points)).value
        axes = range(len(shape))
        columns = [joint.sum(axis=tuple(a for a in axes if a != c)) for c in axes]
        found.append((Question(threat_of_columns(columns), guarantee), reached - SLACK))
    return found


def members(repeats: int) -> list[Member]:
    """All that a theorem of the registry is held against."""
    programs = [member for seed in range(repeats) for member in by_programs(seed)]
    more = by_mechanisms(20 * repeats) + of_columns(15 * repeats)
    return programs + chosen() + more + by_randomized_response()


def violated(theorem: Theorem, among: list[Member]) -> list[Member]:
    """The members that a theorem that says it holds is below."""
    asked = [(q, reached) for q, reached in among if theorem.lacks(q) is None]
    return [m for m in asked if theorem.valid(m[0]) and theorem.value(m[0]) < m[1]]


def kept(theorem: Theorem) -> Theorem:
    """The theorem, which works out its limit of a question once."""
    limits: dict[int, float] = {}

    def limit(q: Question) -> float:
        if id(q) not in limits:  # the members outlive it
            limits[id(q)] = theorem.limit(q)
        return limits[id(q)]

    return replace(theorem, limit=limit)


def lowered(theorem: Theorem) -> Theorem:
    """The theorem with its limit 15% too low, yet never below the attacker without a release."""

    def limit(q: Question) -> float:
        blind = float(stats.binom.sf(q.v - 1, q.r, q.p))
        return max(0.85 * theorem.limit(q), blind + 0.01)

    return replace(theorem, limit=limit)


@pytest.mark.states("Narcissus theory", "4.3", "4.4", "4.5", "4.6", "4.7")
@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2", "Corollary 3.4")
@pytest.mark.parametrize("name", [t.id for t in THEOREMS.values() if t.holds is not None])
@pytest.mark.repeats(1, 4)
def test_a_theorem_that_says_it_holds_does_in_all_small_worlds(name, repeats):
    theorem, among = kept(THEOREMS[name]), members(repeats)
    held = [q for q, _ in among if theorem.lacks(q) is None and theorem.valid(q)]
    assert len(held) >= 15
    assert violated(theorem, among) == []
    # that says something: lowered, it would have been found
    assert len(violated(lowered(theorem), among)) >= 2


@pytest.mark.states("Narcissus theory", "4.2", "4.7")
@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.3", "Theorem 3.5")
@pytest.mark.states("Steinke, Nasr and Jagielski 2023", "Theorem 5.2")
@pytest.mark.states("Steinke et al. 2023", "Theorem 5.2")
@pytest.mark.parametrize("name", [t.id for t in THEOREMS.values() if t.holds != Needs()])
@pytest.mark.repeats(1, 4)
def test_a_theorem_that_says_it_does_not_hold_has_a_counterexample(name, repeats):
    theorem, among = kept(THEOREMS[name]), members(repeats)
    assert theorem.why
    asked = [q for q, _ in among if theorem.lacks(q) is None]
    assert any(not theorem.valid(q) for q in asked)
    found = violated(replace(theorem, holds=Needs()), among)
    assert any(theorem.value(q) < reached - 1e-4 for q, reached in found)
    # each of them is one that it admits
    assert all(not theorem.valid(q) for q, _ in found)


@pytest.mark.states("Narcissus theory", "4.3", "4.4", "4.5")
@pytest.mark.parametrize(
    "seed", [4, *(pytest.param(s, marks=pytest.mark.nightly) for s in range(5, SEEDS))]
)
def test_no_valid_bound_is_below_the_optimum(seed):
    among = by_programs(seed)
    for theorem in THEOREMS.values():
        assert violated(theorem, among) == []


@pytest.mark.states("Narcissus theory", "4.6")
def test_the_limits_of_many_people_at_once_hold_too():
    alone = [m for m in members(1) if m[0].at_least is None]
    asked = [m for m in alone if m[0].threat.known and m[0].threat.values]
    assert len(asked) > 90
    for q, reached in asked:
        (limit,) = each_success([q.threat.values], q.guarantee, q.threat.success)
        assert limit >= reached


@pytest.mark.states("Narcissus theory", "4")
def test_best_takes_the_least_that_holds():
    bounds = bounds_on(threat(prior=0.5, targets=3), ApproximateDP(0.1, 0.01), 1)
    chosen = best(bounds)
    assert chosen.valid
    assert chosen.value == min(bound.value for bound in bounds if bound.valid)
    assert min(bound.value for bound in bounds) < chosen.value
    with pytest.raises(InputError, match="valid"):
        best(bound for bound in bounds if not bound.valid)


def test_every_theorem_is_answered_or_says_what_it_lacks():
    danger = threat(prior=0.3, targets=4)
    bounds = {b.id: b for b in bounds_on(danger, GaussianDP(1.0), 2)}
    assert set(bounds) == {"swap", "swap-program"}
    for theorem in THEOREMS.values():
        assert THEOREMS[theorem.id] is theorem
        assert theorem.says.endswith(".")
        assert bool(theorem.why) == (theorem.holds != Needs())
        found = theorem.bound(danger, GaussianDP(1.0), 2)
        if isinstance(found, NotAssessed):
            assert theorem.statement in found.reason
            assert theorem.id not in bounds
        else:
            assert bounds[theorem.id] == found
    assert len({t.statement for t in THEOREMS.values()}) == len(THEOREMS)


def test_a_theorem_of_ones_own_takes_part_in_the_choice(monkeypatch):
    own = Theorem(
        id="own",
        source="Somebody 2026, Theorem 1",
        says="Half of what can be guessed.",
        about=("success",),
        limit=lambda q: q.p / 2,
        each=lambda priors, guarantee, success: np.full(len(np.atleast_2d(priors)), 0.25),
    )
    people = [[0.7, 0.3], [0.5, 0.5]]
    before = each_success(people, PureDP(1.0))
    assert user_theorems() == {}
    monkeypatch.setitem(THEOREMS, "own", own)
    assert user_theorems() == {"own": own}
    assert of_tails(PureDP(1.0)) == []
    monkeypatch.setitem(THEOREMS, "tails", replace(own, id="tails", tails=own.each))
    assert [theorem.id for theorem in of_tails(PureDP(1.0))] == ["tails"]
    monkeypatch.delitem(THEOREMS, "tails")
    chosen = best(bounds_on(threat(prior=0.3), PureDP(1.0)))
    # never below what is reached without the release
    assert (chosen.id, chosen.value, chosen.theorem) == ("own", 0.3, own.source)
    assert (each_success(people, PureDP(1.0)) == 0.25).all()
    assert (before > 0.25).all()


def test_rounding_is_no_advantage():
    assert advantage(0.1 + 0.2, 0.3) == 0.0
    assert advantage(1.0, 1.0) == 0.0
    assert advantage(0.75, 0.5) == 0.5
    assert advantage(0.2, 0.5) == 0.0
    assert advantage(0.3 + 1e-14, 0.3) == pytest.approx(1e-14 / 0.7, rel=0.05)
    assert advantage(1.0, 0.25) == 1.0
    for wrong in ((1.5, 0.5), (0.5, -0.1)):
        with pytest.raises(InputError):
            advantage(*wrong)


KINDS = [
    *(PureDP(0.5), ApproximateDP(0.5, 0.01), GaussianDP(1.0), RenyiDP(2.0, 0.5)),
    *(ZeroConcentratedDP(0.1), BayesSecurity(0.9), ProfileCurve((0.5, 1.0), (0.1, 0.01))),
]


@pytest.mark.parametrize("guarantee", KINDS)
@pytest.mark.one_in(3)
def test_every_question_is_answered_by_each_theorem_or_refused_by_it(guarantee):
    dangers = [
        threat(prior=0.5, targets=3, inseparable=0.5),
        threat(prior=0.2, exact_match=True, targets=3),
        threat(values=[0.5, 0.3, 0.2], within=1, targets=3, guesses=2),
    ]
    for danger in dangers:
        for count in (None, 1, 2):
            answered = {b.id for b in bounds_on(danger, guarantee, count)}
            lacking = {
                t.id
                for t in THEOREMS.values()
                if t.lacks(Question(danger, guarantee, count)) is not None
            }
            assert answered == set(THEOREMS) - lacking
            # something is proved about one target by what needs no program, and about many
            cheap = bounds_on(danger, guarantee, count, expensive=False)
            assert any(b.valid and THEOREMS[b.id].own for b in cheap)


def test_which_theorems_are_dear_and_which_audits_test_by():
    expensive = {t.id for t in THEOREMS.values() if t.expensive}
    assert expensive == {"swap-program", "f-dp-one-run", "one-target-optimum-program"}
    assert {t.id for t in THEOREMS.values() if t.also} == {"humphries", "yeom", "chatzikokolakis-1"}
    even = threat(values=[0.5, 0.5], targets=3)
    every = {b.id for b in bounds_on(even, GaussianDP(1.0), 2)}
    cheap = {b.id for b in bounds_on(even, GaussianDP(1.0), 2, expensive=False)}
    assert every - cheap == {"swap-program", "f-dp-one-run"}
    audits = [t for t in THEOREMS.values() if t.audits]
    assert {t.id for t in audits} == {"swap", "swap-program", "one-run", "f-dp-one-run"}
    coins = threat(values=[0.5, 0.5], targets=8, guesses=6)
    for theorem in audits:  # whose tails must rise with the guarantee
        weaker = [ApproximateDP(e, 0.01) for e in (0.0, 0.2, 1.0)]
        if theorem.needs.several_points:
            weaker = [GaussianDP(mu) for mu in (0.1, 0.4, 1.0)]
        for v in (2, 4, 6):
            tails = [theorem.value(Question(coins, guarantee, v)) for guarantee in weaker]
            assert tails == sorted(tails)


WEAKER = {
    "epsilon": lambda x: ApproximateDP(x, 1e-3),
    "pure": PureDP,
    "one point of a curve": lambda x: ProfileCurve((x,), (1e-3,)),
    "delta": lambda x: ApproximateDP(0.1, min(x, 1.0) / 3),
    "mu": GaussianDP,
    "rho": ZeroConcentratedDP,
    "gamma": lambda x: RenyiDP(2.0, x),
    "beta": lambda x: BayesSecurity(1 - min(x, 1.0)),
}


"""A guarantee by its parameter: what it promises is also promised at every smaller one."""


@pytest.mark.parametrize("name", WEAKER)
@pytest.mark.repeats(2, 5)
def test_what_holds_at_a_larger_parameter_holds_at_a_smaller_one(name, repeats):
    threats = (
        threat(prior=0.3, targets=8),
        threat(values=[0.25] * 4, targets=15),
        threat(values=[0.5, 0.2, 0.15, 0.1, 0.05], targets=9),
        threat(values=[0.34, 0.33, 0.33], targets=12),
        threat(values=[0.4, 0.3, 0.2, 0.1], within=1, targets=4),
    )
    above: list[str] = []
    for danger in threats[-repeats:]:
        for at_least in (None, 1, danger.targets // 2, danger.targets)[-repeats:]:
            least: dict[str, float] = {}
            for x in (2.0, 0.1, 0.013, 1e-12, 0.0)[:: 5 // repeats]:
                expensive = name not in ("rho", "gamma", "mu")
                for bound in bounds_on(danger, WEAKER[name](x), at_least, expensive=expensive):
                    # Programs are solved to 1e-7; a coin is searched for among a few.
                    room = {"interpolation": 1e-3}.get(bound.id, 1e-6)
                    if bound.valid and bound.value > least.get(bound.id, 1.0) * (1 + room):
                        above.append(
                            f"{bound.id} at {x}, {danger.prior}, {at_least}: {bound.value}"
                        )
                    least[bound.id] = min(bound.value, least.get(bound.id, 1.0))
    assert not above, "\n".join(above)
