"""The sweep theorem against all mechanisms of small worlds, by linear programs; its numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy import optimize, sparse, special, stats

from narcissus.bounds import posterior, swap_tail
from narcissus.evidence import refute_scores
from narcissus.evidence.scores import _two_sided
from narcissus.evidence.sweep import Ordered, SweepTest, few_ends, many_ends
from narcissus.guarantees import GaussianDP

SLACK = 2e-7  # the solver's tolerance
TWO, THREE = 2, 3


def orders(m: int) -> list:
    """Every order with a guess for each canary, as a function from truths to right and wrong."""
    return [
        lambda x, o=order, g=guess: tuple(int(x[i] == b) for i, b in zip(o, g, strict=True))
        for order in permutations(range(m))
        for guess in product((0, 1), repeat=m)
    ]


def adaptive_orders() -> list:
    """The first of two canaries, and for each of its truths the guess of the other."""
    return [
        lambda x, i=i, b=b, g=g: (int(x[i] == b), int(x[1 - i] == g[x[i]]))
        for i, b in product((0, 1), repeat=2)
        for g in product((0, 1), repeat=2)
    ]


def most(m: int, told: list, points, happens, prior=0.5) -> float:
    """The largest chance of an event over all mechanisms with these points of a profile.

    ``told`` are the releases, each a function from truths to right and wrong in order; ``happens``
    says of a release and such a sequence whether the event happens.
    """
    worlds, size = list(product((0, 1), repeat=m)), len(told)
    chances = np.broadcast_to(prior, m)
    weight = [np.prod([p if b else 1 - p for p, b in zip(chances, x, strict=True)]) for x in worlds]
    near = [(a, b) for a, x in enumerate(worlds) for b, y in enumerate(worlds)
            if sum(s != t for s, t in zip(x, y, strict=True)) == 1]  # fmt: skip
    k, rows, limits, at = len(worlds) * size, [], [], 0
    gain = [w * happens(z, z(x)) for x, w in zip(worlds, weight, strict=True) for z in told]
    eye, n = sparse.identity(size, format="csr"), len(near) * len(points)
    for epsilon, delta in points:
        for a, b in near:
            parts = sparse.lil_matrix((1, len(worlds))), sparse.lil_matrix((1, n))
            parts[0][0, a], parts[0][0, b], parts[1][0, at] = 1.0, -np.exp(epsilon), -1.0
            rows.append(sparse.hstack([sparse.kron(part, eye) for part in parts]))
            limits += [0.0] * size
            at += 1
    total = sparse.hstack([
        sparse.csr_matrix((n, k)), sparse.kron(sparse.identity(n), np.ones((1, size)))
    ])  # fmt: skip
    bounds = [delta for _, delta in points for _ in near]
    one = sparse.hstack([
        sparse.kron(sparse.identity(len(worlds)), np.ones((1, size))),
        sparse.csr_matrix((len(worlds), n * size)),
    ])  # fmt: skip
    found = optimize.linprog(
        -np.append(gain, np.zeros(n * size)),
        sparse.vstack([*rows, total]).tocsr(),
        np.append(limits, bounds),
        one.tocsr(),
        np.ones(len(worlds)),
        method="highs",
    )
    return -float(found.fun)


def upward(m: int) -> list[frozenset]:
    """All events that no further right guess undoes, but the impossible and the certain one."""
    cube = list(product((0, 1), repeat=m))
    events = {
        frozenset(y for y in cube if any(all(a >= b for a, b in zip(y, x, strict=True)) for x in s))
        for bits in product((0, 1), repeat=len(cube))
        if (s := [x for x, bit in zip(cube, bits, strict=True) if bit])
    }
    return sorted((e for e in events if len(e) < len(cube)), key=sorted)


def product_chance(event, chances) -> float:
    return sum(np.prod([p if b else 1 - p for p, b in zip(chances, x, strict=True)]) for x in event)


def pivotal(event, m: int, i: int, p: float) -> float:
    """The chance that the others leave the event to coordinate ``i``."""
    found = 0.0
    for x in product((0, 1), repeat=m):
        with_it, without = (tuple(b if j == i else v for j, v in enumerate(x)) for b in (1, 0))
        if x[i] and with_it in event and without not in event:
            found += product_chance([x], [p] * m) / p
    return found


CASES = [pytest.param(TWO, 3, id="two"), pytest.param(THREE, 2, marks=pytest.mark.nightly, id="3")]


@pytest.mark.states("Narcissus theory", "5.1")
@pytest.mark.parametrize(("m", "times"), CASES)
def test_no_mechanism_exceeds_the_sweep_theorem_and_two_false_ones_are_exceeded(m, times):
    rng = np.random.default_rng(0)
    used, false = [], {"pivotal": 0, "fixed order": 0}
    for event in upward(m):
        for _ in range(times):
            epsilon, delta = float(rng.uniform(0, 2)), float(rng.choice([0.01, 0.05]))
            p = float(special.expit(epsilon))
            reached = most(m, orders(m), [(epsilon, delta)], lambda _, s, e=event: s in e)
            free, cost = product_chance(event, [p] * m), m * delta * (1 - p)
            assert reached <= min(1.0, free + cost) + SLACK
            used.append((reached - free) / min(cost, 1 - free))
            at = [pivotal(event, m, i, p) for i in range(m)]
            false["pivotal"] += reached > free + cost * max(at) + 1e-5
            false["fixed order"] += reached > free + delta * (1 - p) * sum(at) + 1e-5
    assert max(used) > 0.95
    assert all(count > 0 for count in false.values()), false


@pytest.mark.states("Narcissus theory", "5.1")
def test_orders_that_adapt_to_earlier_truths_do_not_exceed_it_either():
    for event in upward(2):
        for epsilon, delta in ((0.1, 0.05), (1.0, 0.01), (0.0, 0.1)):
            reached = most(2, adaptive_orders(), [(epsilon, delta)], lambda _, s, e=event: s in e)
            p = float(special.expit(epsilon))
            assert reached <= product_chance(event, [p] * 2) + 2 * delta * (1 - p) + SLACK


ENDS = [[2], [1, 2], pytest.param([3], marks=pytest.mark.nightly),
        pytest.param([1, 3], marks=pytest.mark.nightly),
        pytest.param([2, 3], marks=pytest.mark.nightly)]  # fmt: skip


def reaches(ends, least):
    return lambda _, s: any(sum(s[:k]) >= c for k, c in zip(ends, least, strict=True))


@pytest.mark.states("Narcissus theory", "5.1")
@pytest.mark.parametrize("ends", ENDS)
def test_no_mechanism_exceeds_the_bound_by_blocks(ends):
    m, used = ends[-1], []
    for least in product(*[range(1, k + 2) for k in ends]):
        run = Ordered(np.zeros(m, bool), 0.5, np.array(ends))
        for epsilon, delta in ((0.1, 0.05), (1.0, 0.01)):
            reached = most(m, orders(m), [(epsilon, delta)], reaches(ends, least))
            free, c = run.crossing(epsilon, np.array(least)), np.array(least)
            cost = m * delta * run.largest_lambda(epsilon, c)
            assert reached <= free + cost + SLACK
            used.append((reached - free) / cost if cost > 1e-9 else 0.0)
    assert max(used) > 0.8


@pytest.mark.states("Narcissus theory", "5.1")
@pytest.mark.parametrize("mu", [0.5, 1.5])
def test_no_mechanism_exceeds_any_point_of_a_whole_profile(mu):
    points = np.array([0.0, 0.3, 0.8, 1.6, 3.0])
    deltas = GaussianDP(mu).profile(points)
    for least in ([1, 2], [2, 2], [3, 1]):
        run = Ordered(np.zeros(2, bool), 0.5, np.array([1, 2]))
        reached = most(2, orders(2), list(zip(points, deltas, strict=True)), reaches([1, 2], least))
        for epsilon, delta in zip(points, deltas, strict=True):
            c = np.array(least)
            free, cost = run.crossing(epsilon, c), 2 * delta * run.largest_lambda(epsilon, c)
            assert reached <= free + cost + SLACK


@pytest.mark.states("Narcissus theory", "5.1")
@pytest.mark.repeats(12, 150)
def test_unequal_coins_and_events_that_follow_the_release(repeats):
    rng, reached = np.random.default_rng(3), 0.0
    made = {
        release: (order, guess)
        for order in permutations(range(2))
        for guess in product((0, 1), repeat=2)
        for release in [
            lambda x, o=order, g=guess: tuple(int(x[i] == b) for i, b in zip(o, g, strict=True))
        ]
    }
    for _ in range(repeats):
        prior, epsilon = rng.uniform(0.05, 0.95, 2), float(rng.uniform(0, 1.5))
        delta, alpha = float(rng.choice([0.0, 0.02])), float(rng.uniform(0.2, 0.8))
        chosen = {}  # of each release the largest event within the level
        for release, (order, guess) in made.items():
            sides = [prior[i] if b else 1 - prior[i] for i, b in zip(order, guess, strict=True)]
            events = [(product_chance(e, posterior(sides, epsilon)), e) for e in upward(2)]
            chosen[release] = max([(0.0, frozenset()), *(x for x in events if x[0] <= alpha)],
                                  key=lambda x: x[0])[1]  # fmt: skip
        sides = np.stack([prior, 1 - prior])
        cost = delta * float((np.prod(sides, axis=0) / (1 + sides * np.expm1(epsilon))).sum())
        found = most(2, list(made), [(epsilon, delta)], lambda z, s, c=chosen: s in c[z], prior)
        assert found <= alpha + cost + SLACK
        reached = max(reached, found / (alpha + cost))
    assert reached > 0.85


def exact_lambda(sizes, least, odds: Fraction) -> tuple[Fraction, Fraction]:
    """The largest solution of the recursion over all blocks and states, in rationals.

    The second number takes each step of h within a block at its own largest solution: the bound
    does so, and takes those outside of it besides.
    """
    p, later, end = odds / (1 + odds), {}, sum(sizes)
    best, stepwise = Fraction(0), Fraction(0)
    for b in range(len(sizes) - 1, -1, -1):
        size, before = sizes[b], end - sizes[b]
        mass = [special.comb(size, n, exact=True) * p**n * (1 - p) ** (size - n)
                for n in range(size + 1)]  # fmt: skip
        now = {}
        for a in range(before + 1):
            if b and a >= least[b - 1]:
                now[a] = Fraction(1)
                continue
            h = [Fraction(a + n >= least[b]) or later.get(a + n, Fraction(0))
                 for n in range(size + 1)]  # fmt: skip
            now[a], last = sum(x * y for x, y in zip(mass, h, strict=True)), Fraction(0)
            if b or a == 0:
                for n in range(size):
                    last = (n * last - h[n] + now[a]) / (odds * (size - n))
                    best = max(best, last)
                stepwise = max(stepwise, sum(
                    (h[v] - h[v - 1]) * sum(mass[v:]) * sum(mass[:v]) / (v * mass[v])
                    for v in range(1, size + 1)
                ))  # fmt: skip
        later, end = now, before
    return best, stepwise


@pytest.mark.parametrize(
    ("sizes", "least"),
    [
        *(([6], [5]), ([3, 5], [3, 6]), ([4, 4, 8], [4, 7, 11]), ([2, 3], [3, 3])),
        *(([5, 5], [2, 9]), ([5, 5, 4], [4, 9, 10])),
    ],
)
@pytest.mark.parametrize("odds", [Fraction(1), Fraction(2), Fraction(1, 3)])
def test_lambda_is_at_least_the_recursions_and_near_it(sizes, least, odds):
    ends = np.cumsum(sizes)
    run = Ordered(np.zeros(ends[-1], bool), 0.5, ends)
    found = run.largest_lambda(float(np.log(float(odds))), np.array(least))
    exact, stepwise = map(float, exact_lambda(sizes, least, odds))
    assert exact <= stepwise
    assert stepwise * (1 - 1e-9) <= found <= 1.6 * exact


def test_one_block_is_the_swap_bound():
    run = Ordered(np.zeros(40, bool), 0.5, np.array([40]))
    for v, epsilon in ((25, 0.3), (33, 1.0), (39, 0.0)):
        found = run.crossing(epsilon, np.array([v]))
        found += 40 * 1e-3 * run.largest_lambda(epsilon, np.array([v]))
        closed = swap_tail(40, 0.5, epsilon, 1e-3, v, inseparable=0.5)
        assert found == pytest.approx(float(closed), rel=1e-6)


@pytest.mark.parametrize("chances", [0.5, 0.25, "unequal"])
def test_crossings_and_tails_are_those_of_enumeration(chances):
    rng = np.random.default_rng(1)
    each = rng.uniform(0.1, 0.9, 9) if chances == "unequal" else np.full(9, chances)
    run = Ordered(np.ones(9, bool), each if chances == "unequal" else chances, np.array([2, 5, 9]))
    for epsilon, least in ((0.0, [2, 4, 7]), (1.0, [3, 5, 9]), (0.5, [1, 5, 9])):
        p = posterior(each, epsilon)
        cube = list(product((0, 1), repeat=9))
        hit = reaches([2, 5, 9], least)
        crossed = product_chance([x for x in cube if hit(None, x)], p)
        assert run.crossing(epsilon, np.array(least)) == pytest.approx(crossed, abs=1e-11)
        for k, c, tail in zip([2, 5, 9], least, run.tails(epsilon, np.array(least)), strict=True):
            assert tail == pytest.approx(
                product_chance([x for x in cube if sum(x[:k]) >= c], p), abs=1e-12
            )
        level = 0.07
        at = run.least(epsilon, level)
        assert (run.tails(epsilon, at) <= level).all()
        assert (run.tails(epsilon, at - 1) > level).all()


def test_a_million_guesses_cross_as_often_as_by_simulation_of_normal_walks():
    ends = many_ends(10**6, 125_000, 2.0)
    assert ends.tolist() == [125_000, 250_000, 500_000, 10**6]
    run = Ordered(np.zeros(10**6, bool), 0.5, ends)
    c = (ends / 2 + stats.norm.isf(0.02) * np.sqrt(ends / 4)).astype(int)
    steps = np.random.default_rng(0).normal(size=(400_000, 4)) * np.sqrt(run.sizes / 4)
    walks = (steps.cumsum(axis=1) >= c - ends / 2 - 0.5).any(axis=1).mean()
    assert run.crossing(0.0, c) == pytest.approx(walks, abs=5 * np.sqrt(0.05 / 400_000))


@pytest.mark.parametrize("m", [6, 7, 50, 10**4])
def test_numbers_of_guesses_depend_on_the_number_of_canaries_alone(m):
    for ends in (many_ends(m), many_ends(m, 30, 2.0), few_ends(m)):
        assert ends[-1] == m
        assert (np.diff(ends) > 0).all()
        assert ends[0] >= 1
    assert many_ends(10**6).size < 40


@pytest.mark.states("Narcissus theory", "5.2")
@pytest.mark.parametrize("chance", [0.5, 0.2])
def test_the_level_holds_for_every_sequence_of_guesses_and_every_claim_at_once(chance):
    """Eight guesses, each right with the chance that epsilon 1 allows: all sequences, weighed."""
    truth, alpha, ends, wrong = 1.0, 0.3, np.array([2, 5, 8]), 0.0
    p = float(posterior(chance, truth))
    for right in product((0, 1), repeat=8):
        run = Ordered(np.array(right, bool), chance, ends)
        found = SweepTest.of((run,), alpha)
        assert all((run.found >= c).any() for run, c in zip(found.runs, found.least, strict=True))
        epsilon = found.largest_epsilon(0.0, alpha)
        wrong += product_chance([right], [p] * 8) * (epsilon > truth)
    assert 0.1 * alpha < wrong <= alpha


def test_delta_counts_all_canaries_where_few_are_guessed():
    """The release may choose whom to guess: those left out cost as much as the others."""
    right, ends = np.ones(100, bool), np.array([40, 100])
    few, many = (
        SweepTest.of((Ordered(np.append(right, np.zeros(more, bool)), 0.5, ends),), 0.05)
        for more in (0, 900)
    )
    assert many.epsilon == few.epsilon
    assert many.spent(1.0) == pytest.approx(10 * few.spent(1.0))


def plainly(ends, counts, level: float, epsilon: float):
    """Of one run: the least counts at S, and the chance and Lambda of the event at an epsilon."""
    sizes, p = np.diff(ends, prepend=0), special.expit(epsilon)
    laws = [stats.binom.pmf(np.arange(b + 1), b, p) for b in sizes]
    left = np.ones(1)
    for law, c in zip(laws, counts, strict=True):
        left = np.convolve(left, law)[: max(0, c)]
    happens, dearest = (np.arange(ends[-1] + 1) >= counts[-1]) * 1.0, 0.0
    for b, (size, law) in reversed(list(enumerate(zip(sizes, laws, strict=True)))):
        tail, v = stats.binom.sf(np.arange(size), size, p), np.arange(1, size + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = np.nan_to_num(tail * (1 - tail) / (v * law[1:]), posinf=0.0)
        before = range(min(ends[b - 1], counts[b - 1] - 1) + 1) if b else range(1)
        steps = [(np.diff(happens[a : a + size + 1]) * sigma).sum() for a in before]
        dearest = max([dearest, *steps])
        if b:
            happens = np.correlate(happens, law, "valid")
            happens[counts[b - 1] :] = 1.0
    return 1 - left.sum() + 1e-12 + 1e-14 * ends[-1], dearest


def searched(orders, delta: float, alpha: float) -> tuple[float, bool]:
    """The epsilon refuted, from plain binomials, and whether rounding decided about it."""
    m = orders[0].size
    first = max(8, round(8 * m * delta / alpha))
    runs = []
    for i, right in enumerate(orders):
        start = first if i == 0 or first == 8 else 4 * first
        ends = many_ends(right.size, start, 2.0 if first > 8 else 2**0.5)
        runs.append((ends, np.cumsum(right)[ends - 1], alpha / (8 if i else 1)))

    def over(e: float, ends, found, level) -> float:
        return stats.binom.sf(found - 1, ends, special.expit(e)).min() - level

    top = max(
        optimize.brentq(over, -29, 60, args=run, xtol=1e-12) if over(-29, *run) < 0 else -30
        for run in runs
    )
    top -= 1e-9 * max(1.0, abs(top))  # where a single tail is the whole chance, S is the answer
    if top <= 0:
        return 0.0, False
    counts = []
    for ends, _, level in runs:
        tails = [stats.binom.sf(np.arange(k + 2) - 1, k, special.expit(top)) for k in ends]
        counts.append(np.array([(one <= level * (1 + 1e-8)).argmax() for one in tails]))

    def p_value(e: float) -> float:
        each = [plainly(run[0], c, run[2], e) for run, c in zip(runs, counts, strict=True)]
        lost = m / (1 + np.exp(e))
        if first > 8:
            lost = min(lost, m * sum(dear for _, dear in each))
        return sum(chance for chance, _ in each) + delta * lost

    low = top
    while p_value(low) > alpha:
        if low == 0:
            return 0.0, False
        low = max(0.0, low - 0.25)
    at, end = 0, 1024
    while end - at > 1:
        middle = (at + end) // 2
        at, end = (middle, end) if p_value(low + middle / 4096) <= alpha else (at, middle)
    found = low + at / 4096
    return found, p_value(found) > alpha * (1 - 1e-7)


@pytest.mark.repeats(20, 500)
def test_the_quick_search_is_the_plain_one(repeats):
    """Windows, tables, guesses, and what is skipped, change no digit that is shown."""
    found = []
    for seed in range(repeats):
        rng = np.random.default_rng([17, seed])
        m, mu = int(rng.integers(12, 150)), float(rng.choice([0.5, 1.5, 3.0, 6.0]))
        delta = float(rng.choice([0.0, 1e-9, 1e-5, 1e-3, 0.01]))
        level, inside = float(rng.choice([0.8, 0.95, 0.999])), rng.random(m) < 0.5
        score = np.round(rng.normal(size=m) + mu * inside, int(rng.choice([0, 9])))
        orders = [right for right, _ in _two_sided(score, inside, 0.5)]
        one = refute_scores(score, inside, delta=delta, confidence=level, coins=True)
        plain, is_close = searched(orders, delta, 1 - level)
        less = 1 / 4000 if is_close else 1e-6
        if 8 * m * delta > 8.5 * (1 - level):
            less = plain + 1  # blocks pay, and steps out of a block's reach count as well
        assert plain - less < one.epsilon < plain + 1e-6, seed
        found.append(one.epsilon)
    assert np.count_nonzero(found) > repeats / 3
    assert len(set(found)) > repeats / 3


@pytest.mark.repeats(40, 400)
def test_scores_are_sorted_against_the_attack(repeats):
    """High and low in turn up to the middle, among equal scores the wrong guesses first."""
    rng = np.random.default_rng(19)
    for _ in range(repeats):
        m = int(rng.integers(6, 40))
        score, inside = rng.integers(0, rng.integers(1, 2 * m), m) * 1.0, rng.random(m) < 0.5
        score[rng.random(m) < 0.1] = -np.inf
        pairs = sorted(zip(-score, inside, strict=True))
        cuts = [i for i in range(m + 1) if i in (0, m) or pairs[i][0] != pairs[i - 1][0]]
        cut = min(cuts, key=lambda i: abs(i - m / 2))
        high = [bool(one) for _, one in pairs[:cut]]
        low = [right for _, right in sorted((-s, not i) for s, i in pairs[cut:])]
        turns = sorted([*enumerate(high), *((i + 0.5, x) for i, x in enumerate(low))])
        wanted = [[x for _, x in turns], *filter(None, [high, low])]
        assert [right.tolist() for right, _ in _two_sided(score, inside, 0.5)] == wanted
        coins = rng.random(m)
        assert [right.tolist() for right, _ in _two_sided(score, inside, coins)] == wanted
