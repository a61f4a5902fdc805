"""Section 4 of Kaplan et al. 2025 from Definition 4.6 on: noise, and all side information.

Section 4 of Kaplan et al. 2025, up to Remark 4.5: the attacker's side information.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from narcissus import Game, play
from narcissus.attacks import Subtraction, TwoCandidates
from narcissus.channels import KaryRandomizedResponse, local_dp_delta
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, KnownRows
from narcissus.mechanisms import ExactAverage, NoisyAverage
from narcissus.profiles.closed_forms.average import (
    Column,
    least_surprisal,
    limit_given_rows,
    log2_delta,
    log2_few_lukewarm,
)
from narcissus.profiles.closed_forms.candidates import bayes_success, candidates_success
from narcissus.profiles.closed_forms.hidden_nature import SmallTardos, data_sets
from narcissus.success import KeptSurprisal
from narcissus.success.relations import Hamming, Member, Prefix
from narcissus.worlds import Draw, Tardos
from narcissus_papers.base import Given, Quote, Statements, Told, checked, played
from narcissus_papers.kaplan.cases import proved

Floats = NDArray[np.float64]

CUTS = (0.25, 0.5, 0.75, 1.25, 1.5, 1.75)
"""Where the noisy sum of two rows is cut into seven outputs, which can only hide."""


def _outputs(epsilon: float) -> Floats:
    """Return the chance of each output for a sum of 0, 1 and 2, shape (3, 7)."""
    x = np.asarray(CUTS)[None] - np.arange(3)[:, None]
    below = np.where(x < 0, np.exp(epsilon * x) / 2, 1 - np.exp(-epsilon * x) / 2)
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def counted_chance(d: int, epsilon: float, share: float, told: Floats, near: int = 0) -> float:
    """Compute the best chance to come near the last of two rows where it counts, by enumeration.

    For ``d`` attributes, few; ``epsilon`` of the noise and ``share`` of the surprisal that is kept.
    ``told`` is the chance of each side information given the rows, shape (2^d, 2^d, k): the other
    row, then the last. The attempt may differ in ``near`` places.
    """
    rows = np.array(list(itertools.product((0, 1), repeat=d)))
    both = rows[:, None] + rows[None]
    joint = np.prod(np.array([1 / 3, 1 / 6, 1 / 3])[both], axis=2)  # rates uniform, both orders
    plain = joint / joint.sum(axis=1, keepdims=True)
    with_told = joint[:, :, None] * told
    seen = with_told.sum(axis=1, keepdims=True)
    given = np.divide(with_told, seen, out=np.zeros_like(with_told), where=seen > 0)
    counts = with_told * (given <= plain[:, :, None] ** share * (1 + 1e-12))
    columns = _outputs(epsilon)[both]  # shape (other, last, d, output)
    release = np.ones((*joint.shape, 1))
    for j in range(d):
        release = (release[:, :, :, None] * columns[:, :, j, None, :]).reshape(*joint.shape, -1)
    distance = (rows[:, None] != rows[None]).sum(axis=2)
    close = (distance <= near).astype(float)
    # the attacker may know the other row as well, which only helps
    value = np.einsum("zv,ovk,ovy->okyz", close, counts, release)
    return float(value.max(axis=3).sum())


def _up(logarithm: float) -> float:
    return math.ceil(10 * logarithm) / 10


def _told(rng: np.random.Generator, d: int) -> Floats:
    """Draw random side information of four values, some of which reveal more."""
    weights = rng.random((2**d, 2**d, 4)) ** rng.choice([0.2, 1.0, 4.0])
    return weights / weights.sum(axis=2, keepdims=True)


SURPRISAL = Statements("004", 0.5, prefix="narcissus ")


@SURPRISAL(
    "Definition 4.6",
    "Differential privacy: no event grows by more than e^eps, and delta.",
    "init --example dp-implies-narcissus",
)
def definition_46(_given: Given) -> Told:
    matrix = KaryRandomizedResponse(3, 1.0).channel().dense
    events = itertools.product((0, 1), repeat=3)
    chosen = [np.array(one) for one in events]
    worst = [
        max(float((a - math.exp(e) * b) @ f) for a in matrix for b in matrix for f in chosen)
        for e in (0.0, 0.5, 1.0)
    ]
    found = [local_dp_delta(matrix, e) for e in (0.0, 0.5, 1.0)]
    yield checked(
        "the least delta over all events of randomised response is what is computed, 0 at its "
        "epsilon",
        float(np.abs(np.array(worst) - found).max()) <= 1e-12 and found[2] <= 1e-12,
    )


@SURPRISAL(
    "Theorem 4.7",
    "Averages with Laplace noise 1 / (epsilon n) are (epsilon d, 0)-private.",
    "init --example two-candidates",
)
def theorem_47(_given: Given) -> Told:
    rng = np.random.default_rng(47)
    n, d, noise = 5, 4, 0.3
    ratios = []
    for _ in range(200):
        data = rng.random((n, d))
        other = data.copy()
        other[0] = rng.random(d)
        y = rng.normal(0.5, 1, d)
        apart = np.abs(y - other.mean(0)).sum() - np.abs(y - data.mean(0)).sum()
        ratios.append(noise * n * apart)
    zeros, ones = np.zeros((n, d)), np.zeros((n, d))
    ones[0] = 1
    reached = noise * n * float(ones.mean(0).sum())
    promised = NoisyAverage(noise).privacy(zeros[None])
    yield proved(
        "one row moves each average by at most 1 / n, so densities change by at most "
        "e^(epsilon d): 200 pairs, and rows of zeros and ones reach it",
        max(ratios) <= noise * d and abs(reached - noise * d) <= 1e-12,
        "8.1",
    )
    yield checked("the mechanism promises that", promised == (noise * d, 0.0))


@SURPRISAL(
    "Lemma 4.8",
    "The noisy average is safe in the sense of surprisal, whatever the attacker knows.",
    "init --example surprisal",
)
def lemma_48(_given: Given) -> Told:
    rng = np.random.default_rng(48)
    ratios = []
    for d, noise, share in itertools.product((1, 2, 3), (0.2, 1.0), (0.3, 0.7, 1.0)):
        limit = Column(2, noise).reach(share) ** d
        kinds = (np.ones((2**d, 2**d, 1)), *(_told(rng, d) for _ in range(6)))
        ratios += [counted_chance(d, noise, share, told) / limit for told in kinds]
    sizes = (
        (20, 5000, 0.1, 0.5),
        (20, 200, 0.1, 0.5),
        (100, 1000, 0.1, 0.5),
        (100, 1000, 0.01, 0.05),
    )
    found = [log2_delta(*s) for s in sizes]
    grows = [log2_delta(20, d, 0.1, 0.5) for d in (500, 1000, 2000, 4000)]
    slopes = np.diff(grows) / np.array([500, 1000, 2000])
    yield proved(
        "delta is at most n G^d at epsilon 0, for every attacker and all side information: "
        f"without the n it is never exceeded by {len(ratios)} kinds of it on two rows, of "
        f"which the nearest comes to {max(ratios):.4f} of it",
        max(ratios) <= 1 + 1e-12 and max(ratios) > 0.95,
        "8.1",
    )
    yield proved(
        "that is at most 2 to the "
        + ", ".join(f"{_up(x):.1f}" for x in found)
        + " at (n, d, noise, xi) = "
        + ", ".join(map(str, sizes)),
        all(a < -15 for a in found),
        "8.1",
    )
    yield proved(
        "delta falls exponentially in d (n = 20, noise .1, xi 1/2; d = 500 to 4,000)",
        float(np.ptp(slopes)) <= 1e-9 and float(slopes.max()) < -0.2,
        "8.1",
    )
    yield checked(
        "the epsilon of the noise must be small enough: at 20 the bound says nothing",
        log2_delta(20, 5000, 20.0, 0.5) == 0.0,
    )


@SURPRISAL(
    "Claim 4.9", "With d / 5 lukewarm columns every row is surprising.", "init --example surprisal"
)
def claim_49(_given: Given) -> Told:
    fine, reached = True, True
    for n, d in ((4, 2), (5, 2), (6, 1)):
        world = Tardos(n, d, n)
        least: dict[int, float] = {}
        for ones in itertools.product(range(n), repeat=d):
            others = (np.arange(n - 1)[:, None] < np.array(ones)).astype(np.uint8)
            lukewarm = sum(n <= 4 * m <= 3 * n for m in ones)
            for z in itertools.product((0, 1), repeat=d):
                data = np.vstack([others, np.array([z], dtype=np.uint8)])[None]
                bits = float(world.surprisal(Draw(data), np.array([n - 1]))[0])
                least[lukewarm] = min(bits, least.get(lukewarm, math.inf))
        for lukewarm, bits in least.items():
            limit = least_surprisal(n, d, lukewarm)
            fine = fine and bits >= limit - 1e-12
            reached = reached and abs(bits - limit) <= 1e-12
    few = [log2_few_lukewarm(n, d, d // 5) for n, d in ((20, 200), (20, 5000), (100, 1000))]
    yield proved(
        "with l lukewarm columns every row has at least l log2((n+1) / (floor(3n/4)+1)) + "
        "(d-l) log2((n+1)/n) bits of surprisal, and some have that: all others and rows of "
        "three small worlds",
        fine and reached,
        "8.1",
    )
    yield proved(
        "fewer than d / 5 lukewarm columns have chance at most 2 to the "
        + ", ".join(f"{_up(x):.1f}" for x in few)
        + " at (n, d) = (20, 200), (20, 5,000), (100, 1,000)",
        all(x < -80 for x in few),
        "8.1",
    )


@SURPRISAL(
    "Definition 4.10", "Targeted relations: about one row.", "init --example surprisal-targeted"
)
def definition_410(_given: Given) -> Told:
    world, side = Tardos(6, 3, 3), Candidates()
    for relation in (Member(), Hamming(0.3)):
        Game(world, NoisyAverage(0.1), relation, side=side, surprisal=0.5)
    try:
        Game(world, NoisyAverage(0.1), Prefix(), side=side, surprisal=0.5)
        refused = False
    except InputError:
        refused = True
    rng = np.random.default_rng(410)
    data = world.draw(50, rng).data
    z = data[:, 0].copy()
    z[:, 0] ^= 1
    some = Hamming(0.34)
    yield checked(
        "a targeted relation holds of a data set where it holds of some row; relations about "
        "more than one row are refused where surprisal decides",
        bool((some.holds(data, z, rng) == some.matches(data, z).any(axis=1)).all()) and refused,
    )


@SURPRISAL(
    "Definition 4.11",
    "Safety in the sense of surprisal for targeted relations.",
    "init --example surprisal-rates",
)
def definition_411(_given: Given) -> Told:
    rng = np.random.default_rng(411)
    ratios = []
    for d, noise, share in itertools.product((2, 3), (0.2, 1.0), (0.5, 1.0)):
        larger, smaller = Column(2, noise).parts(share)
        limit = larger**d + d * smaller * larger ** (d - 1)
        kinds = (np.ones((2**d, 2**d, 1)), *(_told(rng, d) for _ in range(5)))
        ratios += [counted_chance(d, noise, share, told, near=1) / limit for told in kinds]
    sizes = ((20, 5000, 0.1, 0.5, 200), (20, 5000, 0.1, 1.0, 1000), (20, 5000, 1.0, 1.0, 500))
    found = [log2_delta(n, d, e, xi, places=k) for n, d, e, xi, k in sizes]
    yield proved(
        "who may differ in k places has delta at most n sum_(i <= k) C(d, i) (H-G)^i G^(d-i), "
        "or a split of it: "
        f"{len(ratios)} kinds of side information, none above (largest "
        f"{max(ratios):.4f})",
        max(ratios) <= 1 + 1e-12 and max(ratios) > 0.95,
        "8.1",
    )
    yield proved(
        "that is at most 2 to the "
        + ", ".join(f"{_up(x):.1f}" for x in found)
        + " at (n, d, noise, xi, k) = "
        + ", ".join(map(str, sizes)),
        all(x < -50 for x in found),
        "8.1",
    )


SIDE_INFORMATION = Statements("004", 0.5, prefix="narcissus ")


@SIDE_INFORMATION(
    "Definition 4.1",
    "Extraction-safety with every side information: fresh data fit what is known.",
    "init --example worst-told && narcissus profile worst-told.toml --worst-told 2 --sees bag",
)
def definition_41(_given: Given) -> Told:
    known = [limit_given_rows(40, 400, 0.04, r) for r in (0, 20, 30, 39)]
    game = Game(Tardos(400, 400, 40), ExactAverage(), Hamming(0.04), side=KnownRows(30))
    draw = game.world.draw(20, np.random.default_rng(41))
    fresh = KnownRows(30).fresh(game.world, draw, draw.data[:, :30], np.random.default_rng(1))
    yield checked(
        "fresh data given known rows have those rows, and others of the same population",
        bool((fresh[:, :30] == draw.data[:, :30]).all())
        and not bool((fresh[:, 30:] == draw.data[:, 30:]).all()),
    )
    yield proved(
        "who knows 30 of 40 rows comes within 4% of 400 bits of another with chance below "
        "1e-10, and who knows 39 with chance 1",
        known[0] < known[2] < 1e-10 and known[3] == 1,
        "8.2",
    )


def _baseline(population: int, d: int, n: int) -> Fraction:
    """Compute the chance that fresh data with the same first rows hold the last row, n = 2.

    Given the known row the fresh one is the same person with chance ``1 / (N - 1)``; else both
    rows and it are three of the same rates, equal to the last one by chance.
    """
    assert n == 2
    same = Fraction(1, population - 1)
    equal = 2 * Fraction(2, 3) ** d - Fraction(1, 2) ** d
    return same + (1 - same) * equal


@SIDE_INFORMATION(
    "Observation 4.2",
    "The exact average is not safe from who knows all rows but one.",
    "init --example known-rows",
)
def observation_42(_given: Given) -> Told:
    listed = True
    for d, people in ((1, 3), (2, 3), (1, 4), (2, 4)):
        world, total = SmallTardos(people, d, people), Fraction(0)
        for rows in data_sets(world):  # the whole population; all its orders are alike
            orders = list(itertools.permutations(rows))
            hit = sum(o[1] in (o[0], o[fresh]) for o in orders for fresh in range(1, people))
            total += world.chance(rows) * Fraction(hit, len(orders) * (people - 1))
        listed = listed and total == _baseline(people, d, 2)
    run = play(
        Game(Tardos(20, 100, 10), ExactAverage(), Member(), side=KnownRows(9)),
        Subtraction(), trials=300, confidence=1 - 1e-6, stop=False, rng=42,
    )  # fmt: skip
    low = run.attackers[0].success.low
    limit = float(_baseline(20, 400, 2))
    printed = 1 / 20 + 2 * (2 / 3) ** 400
    yield played(
        "who knows all rows but one subtracts them from the average and has the last one",
        low is not None and low > 0.9,
    )
    yield checked(
        "fresh data hold that row with chance 1 / (N - n + 1), and by collisions of chance at "
        "most n (2/3)^d: all populations of 3 and 4 rows of 1 and 2 bits, n = 2",
        listed and limit <= 1 / 19 + 2 * (2 / 3) ** 400,
    )
    yield checked(
        "as printed, that chance is at most 1 / N and collisions (N = 20, n = 2, d = 400)",
        limit <= printed,
        "of the N people n - 1 are known, so the fresh row is the same person with chance "
        f"1 / (N - n + 1): {limit:.6f} where the print has {printed:.6f}; insecurity remains",
        Quote("", r"\frac{1}{N}", "proof of Observation 4.2"),
    )


@SIDE_INFORMATION(
    "section 4.2",
    "Of two candidates the noisy average gives the right one away.",
    "init --example two-candidates",
    seconds=1.0,
)
def section_42(_given: Given) -> Told:
    sizes = ((20, 5000), (100, 1000))
    rates = [
        (
            candidates_success(*s, 0.1),
            candidates_success(*s, 0.1, "centred"),
            bayes_success(*s, 0.1),
        )
        for s in sizes
    ]
    n, d, population = 10, 1500, 400
    exact = candidates_success(n, d, 0.2)
    game = Game(Tardos(population, d, n), NoisyAverage(0.2), Member(), side=Candidates())
    run = play(game, TwoCandidates(), trials=400, confidence=1 - 1e-6, stop=False, rng=4)
    won = run.attackers[0].success
    whole = (1 - n / population) * exact + n / population
    later = [candidates_success(20, d, 0.1) for d in (500, 5000, 50_000)]
    yield checked(
        "the larger inner product names the row of the data with chance tending to 1: "
        f"{', '.join(f'{x:.4f}' for x in later)} at d = 500, 5,000, 50,000 (n = 20, .1)",
        all(a < b for a, b in itertools.pairwise(later)) and later[-1] > 0.999,
    )
    yield checked(
        "centring both wins more often, Bayes' rule most: "
        + "; ".join(", ".join(f"{x:.4f}" for x in one) for one in rates)
        + " at (n, d) = (20, 5,000), (100, 1,000)",
        all(0.5 < a < b < c for a, b, c in rates),
    )
    yield played(
        "the attacker of footnote 3 wins as often as that, 400 times",
        won.low is not None and won.high is not None and won.low <= whole <= won.high,
    )


@SIDE_INFORMATION(
    "Definition 4.3", "Surprisal: minus the logarithm of a chance.", "init --example surprisal"
)
def definition_43(_given: Given) -> Told:
    apart = 0.0
    for n, d in ((2, 2), (3, 2), (4, 1)):
        law, world = SmallTardos(n, d, n), Tardos(n, d, n)
        fewer = SmallTardos(n - 1, d, n - 1)
        for others in data_sets(fewer):
            for z in itertools.product((0, 1), repeat=d):
                rows = (*others, z)
                # in order: the chance of all rows over that of the others
                both = law.chance(rows) / len(set(itertools.permutations(rows)))
                alone = fewer.chance(others) / len(set(itertools.permutations(others)))
                data = np.array([rows], dtype=np.uint8)
                found = world.surprisal(Draw(data), np.array([n - 1]))[0]
                apart = max(apart, abs(found + math.log2(both / alone)))
    yield checked(
        "the surprisal of a row given the others is minus the logarithm of its chance: all "
        "rows and others of three small worlds",
        apart <= 1e-12,
    )


@SIDE_INFORMATION(
    "Definition 4.4",
    "Safety where only rows count that keep a share of their surprisal.",
    "init --example surprisal",
)
def definition_44(_given: Given) -> Told:
    world, rng = Tardos(5000, 300, 12), np.random.default_rng(44)
    draw = world.draw(40, rng)
    last = np.full(40, 11)
    plain = world.surprisal(draw, last)
    rows = KnownRows(11).surprisal(world, draw, draw.data[:, :11], last)
    told = Candidates().reveal(world, draw, rng)
    first = (draw.data[:, :, None] == told[:, None]).all(axis=3).any(axis=2).argmax(axis=1)
    left = Candidates().surprisal(world, draw, told, first)
    yield checked(
        "who knows the other rows is as surprised by the last one as before: it counts",
        float(np.abs(rows - plain).max()) <= 1e-6,
    )
    yield checked(
        "of a row that is one of two candidates one bit is left, of 200 and more: it does "
        "not count at a share of one half",
        float(left.max()) < 3 and float(plain.min()) > 150,
    )


@SIDE_INFORMATION(
    "Remark 4.5",
    "Other conditions do as well: on both sides, or other comparisons.",
    "init --example surprisal-rates",
)
def remark_45(_given: Given) -> Told:
    n, d, noise = 20, 5000, 0.1
    threshold = log2_delta(n, d, noise, 0.0, bits=1000)
    world, side = Tardos(40, 60, 4), Candidates()
    asked = (KeptSurprisal(0.0), KeptSurprisal(0.0, bits=5), KeptSurprisal(0.0, fresh_share=0.5))
    plain, few, both = (
        play(
            Game(world, NoisyAverage(2.0), Member(), side=side, surprisal=one),
            TwoCandidates(),
            trials=100,
            stop=False,
            rng=45,
        )
        .attackers[0]
        .scores
        for one in asked
    )
    yield proved(
        "a condition on the baseline too changes nothing of Lemma 4.8, whose bound is on the "
        f"left side alone: 2^{math.ceil(log2_delta(n, d, noise, 0.5))} at (20, 5,000, .1, 1/2)",
        log2_delta(n, d, noise, 0.5) < -1000,
        "8.1",
    )
    yield proved(
        "where a row counts that keeps 1,000 bits, whatever it had, delta is at most "
        f"2^{math.ceil(threshold)} there: n 2^-1000 (2 - e^(-epsilon / 2))^d",
        threshold < -600,
        "8.1",
    )
    yield played(
        "of one of two candidates less than 5 bits are left: where 5 are asked for, nothing "
        "counts, and where a share is asked for on both sides, nothing is in the baseline",
        bool(plain.success.mean() > 0.6 and plain.baseline.mean() > 0.4)
        and not few.success.any()
        and not both.baseline.any(),
    )
    yield "Conditions on a data set drawn apart from the same Nature are not computed here."
