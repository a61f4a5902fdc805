"""Section 4 of Kaplan et al. 2025, up to Remark 4.5: the attacker's side information."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from narcissus import Game, play
from narcissus.attacks import Subtraction, TwoCandidates
from narcissus.knowledge import Candidates, KnownRows
from narcissus.mechanisms import ExactAverage, NoisyAverage
from narcissus.profiles.closed_forms.average import limit_given_rows, log2_delta
from narcissus.profiles.closed_forms.candidates import bayes_success, candidates_success
from narcissus.profiles.closed_forms.hidden_nature import SmallTardos, data_sets
from narcissus.success import KeptSurprisal
from narcissus.success.relations import Hamming, Member
from narcissus.worlds import Draw, Tardos
from narcissus_papers.base import (
    Given,
    Quote,
    Reproduced,
    Statements,
    checked,
    claims,
    played,
)
from narcissus_papers.kaplan.cases import proved

SIDE_INFORMATION = Statements("004", 0.5, prefix="narcissus ")


@SIDE_INFORMATION(
    "Definition 4.1",
    "Extraction-safety with every side information: fresh data fit what is known.",
    "examples known-rows",
)
def definition_41(_given: Given) -> Reproduced:
    known = [limit_given_rows(40, 400, 0.04, r) for r in (0, 20, 30, 39)]
    game = Game(Tardos(400, 400, 40), ExactAverage(), Hamming(0.04), side=KnownRows(30))
    draw = game.world.draw(20, np.random.default_rng(41))
    fresh = KnownRows(30).fresh(game.world, draw, draw.data[:, :30], np.random.default_rng(1))
    return claims(
        checked(
            "fresh data given known rows have those rows, and others of the same population",
            bool((fresh[:, :30] == draw.data[:, :30]).all())
            and not bool((fresh[:, 30:] == draw.data[:, 30:]).all()),
        ),
        proved(
            "who knows 30 of 40 rows comes within 4% of 400 bits of another with chance below "
            "1e-10, and who knows 39 with chance 1",
            known[0] < known[2] < 1e-10 and known[3] == 1,
            "8.2",
        ),
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
    "examples known-rows",
)
def observation_42(_given: Given) -> Reproduced:
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
    return claims(
        played(
            "who knows all rows but one subtracts them from the average and has the last one",
            low is not None and low > 0.9,
        ),
        checked(
            "fresh data hold that row with chance 1 / (N - n + 1), and by collisions of chance at "
            "most n (2/3)^d: all populations of 3 and 4 rows of 1 and 2 bits, n = 2",
            listed and limit <= 1 / 19 + 2 * (2 / 3) ** 400,
        ),
        checked(
            "as printed, that chance is at most 1 / N and collisions (N = 20, n = 2, d = 400)",
            limit <= printed,
            "of the N people n - 1 are known, so the fresh row is the same person with chance "
            f"1 / (N - n + 1): {limit:.6f} where the print has {printed:.6f}; insecurity stands",
            Quote("", r"\frac{1}{N}", "proof of Observation 4.2"),
        ),
    )


@SIDE_INFORMATION(
    "section 4.2",
    "Of two candidates the noisy average gives the right one away.",
    "examples two-candidates",
    seconds=1.0,
)
def section_42(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            "the larger inner product names the row of the data with chance tending to 1: "
            f"{', '.join(f'{x:.4f}' for x in later)} at d = 500, 5,000, 50,000 (n = 20, .1)",
            all(a < b for a, b in itertools.pairwise(later)) and later[-1] > 0.999,
        ),
        checked(
            "centring both wins more often, Bayes' rule most: "
            + "; ".join(", ".join(f"{x:.4f}" for x in one) for one in rates)
            + " at (n, d) = (20, 5,000), (100, 1,000)",
            all(0.5 < a < b < c for a, b, c in rates),
        ),
        played(
            "the attacker of footnote 3 wins as often as that, 400 times",
            won.low is not None and won.high is not None and won.low <= whole <= won.high,
        ),
    )


@SIDE_INFORMATION(
    "Definition 4.3", "Surprisal: minus the logarithm of a chance.", "examples surprisal"
)
def definition_43(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            "the surprisal of a row given the others is minus the logarithm of its chance: all "
            "rows and others of three small worlds",
            apart <= 1e-12,
        ),
    )


@SIDE_INFORMATION(
    "Definition 4.4",
    "Safety where only rows count that keep a share of their surprisal.",
    "examples surprisal",
)
def definition_44(_given: Given) -> Reproduced:
    world, rng = Tardos(5000, 300, 12), np.random.default_rng(44)
    draw = world.draw(40, rng)
    last = np.full(40, 11)
    plain = world.surprisal(draw, last)
    rows = KnownRows(11).surprisal(world, draw, draw.data[:, :11], last)
    told = Candidates().reveal(world, draw, rng)
    first = (draw.data[:, :, None] == told[:, None]).all(axis=3).any(axis=2).argmax(axis=1)
    left = Candidates().surprisal(world, draw, told, first)
    return claims(
        checked(
            "who knows the other rows is as surprised by the last one as before: it counts",
            float(np.abs(rows - plain).max()) <= 1e-6,
        ),
        checked(
            "of a row that is one of two candidates one bit is left, of 200 and more: it does "
            "not count at a share of one half",
            float(left.max()) < 3 and float(plain.min()) > 150,
        ),
    )


@SIDE_INFORMATION(
    "Remark 4.5",
    "Other conditions do as well: on both sides, or other comparisons.",
    "examples surprisal-rates",
)
def remark_45(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "a condition on the baseline too changes nothing of Lemma 4.8, whose bound is on the "
            f"left side alone: 2^{math.ceil(log2_delta(n, d, noise, 0.5))} at (20, 5,000, .1, 1/2)",
            log2_delta(n, d, noise, 0.5) < -1000,
            "8.1",
        ),
        proved(
            "where a row counts that keeps 1,000 bits, whatever it had, delta is at most "
            f"2^{math.ceil(threshold)} there: n 2^-1000 (2 - e^(-epsilon / 2))^d",
            threshold < -600,
            "8.1",
        ),
        played(
            "of one of two candidates less than 5 bits are left: where 5 are asked for, nothing "
            "counts, and where a share is asked for on both sides, nothing is in the baseline",
            plain.success.mean() > 0.6
            and plain.baseline.mean() > 0.4
            and not few.success.any()
            and not both.baseline.any(),
        ),
        notes=("Conditions on a data set drawn apart from the same Nature are not computed here.",),
    )  # fmt: skip
