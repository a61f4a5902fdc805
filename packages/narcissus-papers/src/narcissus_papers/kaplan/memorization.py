"""Section 1 of Kaplan et al. 2025: other notions of memorization, and why knowledge matters."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np

from narcissus import Game, memorized_information, play, profile
from narcissus.attacks import SupersetMatching
from narcissus.knowledge import Hiding
from narcissus.mechanisms import Constant, Identity, Parity
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms.average import average_bits
from narcissus.profiles.closed_forms.hidden_nature import SmallSuperset, small_delta
from narcissus.profiles.closed_forms.parities import ParityRelease
from narcissus.profiles.proofs import parity_limit
from narcissus.success.relations import Member
from narcissus.worlds import MonaLisa, Uniform
from narcissus_papers.base import Given, Reproduced, Statements, checked, claims, played
from narcissus_papers.kaplan.cases import parities, proved

SMALL = ((1, 2), (1, 4), (2, 2), (2, 4), (3, 2))


def _entropy(n: int, d: int) -> float:
    """Count the parities of all data sets: of a release without coins this is I(S; h)."""
    rows = list(itertools.product((0, 1), repeat=d))
    told = Counter(
        tuple(tuple(a ^ b for a, b in zip(r[::2], r[1::2], strict=True)) for r in data)
        for data in itertools.product(rows, repeat=n)
    )
    whole = sum(told.values())
    return -sum(k / whole * math.log2(k / whole) for k in told.values())


MEMORIZATION = Statements("004", 0.5, prefix="narcissus ")


@MEMORIZATION(
    "Definition 1.1", "A release memorizes I(S; h | Nature) bits.", "examples parity-memorizes"
)
def definition_11(_given: Given) -> Reproduced:
    apart = [abs(memorized_information(Uniform(*s), Parity()) - _entropy(*s)) for s in SMALL]
    ends = [
        abs(memorized_information(Uniform(n, d), m()) - bits)
        for n, d in SMALL
        for m, bits in ((Constant, 0), (Identity, n * d))
    ]
    p = (np.polynomial.legendre.leggauss(400)[0] + 1) / 2
    half = np.polynomial.legendre.leggauss(400)[1] / 2
    laws = [math.comb(5, c) * p**c * (1 - p) ** (5 - c) for c in range(6)]
    bits = -sum(float(half @ (x * np.log2(x))) for x in laws)
    return claims(
        checked(
            "nothing is 0 bits, the data all their bits, the parities what counting finds: "
            f"{len(SMALL)} worlds of uniform rows",
            max(*apart, *ends) <= 1e-12,
        ),
        checked(
            "given uniform rates the average of 5 rows is the mean entropy of a binomial",
            abs(average_bits(5, 3) - 3 * bits) <= 1e-8,
        ),
    )


@MEMORIZATION(
    "Definition 1.2",
    "A release is (m, xi)-memorizing: members are called in, strangers seldom.",
    "examples membership-inference",
)
def definition_12(_given: Given) -> Reproduced:
    rows = list(itertools.product((0, 1), repeat=4))
    fits = total = 0
    for first, second, stranger in itertools.product(rows, repeat=3):
        told = parities((first, second))
        fits += parities((stranger,))[0] in told
        total += 1
    return claims(
        checked(
            "of the parities of 2 rows of 4 bits all members, and 7 of 16 strangers, are called "
            "in: (2, 7/16)-memorizing",
            Fraction(fits, total) == ParityRelease(2, 4).false_alarm == Fraction(7, 16),
        ),
    )


@MEMORIZATION(
    "Example 1.3",
    "Parities are memorized, membership is plain, and no row is found.",
    "examples parity-is-safe",
)
def example_13(_given: Given) -> Reproduced:
    exact, bits = [], []
    for n, d in SMALL:
        game = write_out(Game(Uniform(n, d), Parity(), Member()))
        release = ParityRelease(n, d)
        exact.append(game.light(np.zeros(game.count), 1.0) - float(release.best_success))
        bits.append(memorized_information(Uniform(n, d), Parity()) - release.memorized_bits)
    ones: dict[object, list[int]] = defaultdict(list)
    for data in itertools.product(itertools.product((0, 1), repeat=4), repeat=2):
        ones[tuple(parities((row,)) for row in data)].append(data[0][0])
    sizes = [ParityRelease(n, d) for n in (1, 2, 5, 20) for d in (2, 20, 50)]
    return claims(
        proved("it remembers n d / 2 bits", max(map(abs, bits)) <= 1e-12, "8.5"),
        proved(
            "every member fits its parities, a stranger with chance at most n 2^(-d/2)",
            all(one.false_alarm <= one.n * one.fit for one in sizes),
            "8.5",
        ),
        proved(
            "no attacker names a row with chance above n 2^(-d/2); the best chance, by the "
            f"largest load of the parities, is that of the exact profile of {len(SMALL)} worlds",
            max(map(abs, exact)) <= 1e-12
            and all(one.best_success <= one.n * one.fit for one in sizes),
            "8.5",
        ),
        checked(
            "given the parities of 2 rows of 4 bits each single bit is a fair coin",
            all(2 * sum(one) == len(one) for one in ones.values()),
        ),
        checked(
            "nobody guesses 60% of a row's bits: chance below 1e-12 for 10 rows of 4,000",
            parity_limit(10, 4000, 0.4) < 1e-12,
        ),
    )


@MEMORIZATION(
    "Example 1.4",
    "Who knows a list with the rows in it finds them by their parities.",
    "examples superset-of-sample",
    seconds=2.0,
)
def example_14(_given: Given) -> Reproduced:
    game = Game(Uniform(10, 60), Parity(), Member(), side=Hiding(1000))
    run = play(game, SupersetMatching(), trials=200, confidence=1 - 1e-6, stop=False, rng=4)
    low = run.attackers[0].success.low
    return claims(
        checked(
            "of n^10 rows in a list some stranger fits with chance at most n^11 2^(-d/2): below "
            "1e-9 for n = 10 and d = 160",
            10**10 * ParityRelease(10, 160).false_alarm < Fraction(1, 10**9),
        ),
        played(
            "who knows a list of 1,000 rows names one of the ten at least 85 times in 100",
            low is not None and low >= 0.85,
        ),
    )


@MEMORIZATION(
    "Example 1.5",
    "The list may be the distribution: then it is knowledge of Nature.",
    "examples superset-nature",
)
def example_15(_given: Given) -> Reproduced:
    hidden = [small_delta(SmallSuperset(4, d, 2), parities) for d in (2, 4, 6)]
    rows = list(itertools.product((0, 1), repeat=4))
    right = Fraction(0)
    lists = list(itertools.combinations(rows, 3))
    for chosen in lists:  # one row of three: how many have its parities
        loads = Counter(parities((row,)) for row in chosen)
        right += Fraction(len(loads), 3) / len(lists)
    return claims(
        checked(
            "whoever does not know the list gains less the more bits a row has: delta 0 is "
            f"{', '.join(f'{float(x):.4f}' for x in hidden)} for 2 rows of 4 and 2, 4, 6 bits",
            hidden[0] > hidden[1] > hidden[2] and hidden[2] < Fraction(1, 10),
        ),
        checked(
            "who knows a list of three rows of 4 bits names the one in the data with chance "
            f"{right}, and fresh data hold it with chance 1/3",
            right > Fraction(3, 4),
        ),
    )


@MEMORIZATION(
    "Example 1.6", "A trivial element is named without a release.", "examples trivial-element"
)
def example_16(_given: Given) -> Reproduced:
    game = Game(MonaLisa(3, 2, 0.5), Constant(), Member())
    written = write_out(game)
    best = written.light(np.zeros(written.count), 1.0)
    return claims(
        checked(
            "zeros are named without any release, with chance at least 1 - 2^-n",
            best >= 1 - 2**-3,
        ),
        checked(
            "the baseline counts that: releasing nothing is safe with epsilon and delta 0",
            float(profile(game, 0.0).delta[0]) <= 1e-15,
        ),
    )
