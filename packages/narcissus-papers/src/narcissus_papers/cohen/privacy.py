"""Appendices A and E of Cohen et al. 2024: differential privacy as resilience over pairs.

Appendix C of Cohen et al. 2024: composition of resilient mechanisms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from narcissus.channels import local_dp_delta
from narcissus.game import Game
from narcissus.mechanisms import (
    CountingQuery,
    Parallel,
    RandomizedResponse,
    XorHalf,
    through_channel,
)
from narcissus.profiles import profile, worst_event, write_out
from narcissus.success.relations import OneOfPair, Prefix
from narcissus.worlds import Bits, Finite, Neighbours, Pairs, RandomNeighbours
from narcissus_papers.base import Given, Statements, Told
from narcissus_papers.cohen.cases import (
    EPSILONS,
    RELATIONS,
    ROOM,
    Matrix,
    attackers,
    channels,
    checked,
    profile_of,
    proved,
)

PAIR, UNIFORM = Pairs([[[0], [1]]]), Finite([[0], [1]])
CASES = [(rows, epsilon) for rows in channels(12) for epsilon in EPSILONS]
NAMED = f"{len(CASES)} channels and epsilons"


def least_delta(rows: Matrix, epsilon: float) -> float:
    """Compute the least delta of privacy, over all events of both orders."""
    events = np.array(list(product((0.0, 1.0), repeat=rows.shape[1])))
    chance = events @ rows.T
    return float(max((chance - math.exp(epsilon) * chance[:, ::-1]).max(), 0.0))


def gain(world: object, rows: Matrix, relation: object, epsilon: float) -> float:
    game = Game(world, through_channel(rows.tolist()), relation)
    return float(write_out(game).deltas([epsilon])[0])


PRIVACY = Statements("003", 0.5)


@PRIVACY(
    "Definition A.1",
    "Differential privacy: no event grows by more than e^eps, and delta.",
    "narcissus channel channel.csv",
)
def definition_a1(_given: Given) -> Told:
    apart = [abs(least_delta(rows, e) - local_dp_delta(rows, e)) for rows, e in CASES]
    found = [abs(least_delta(rows, e) - worst_event(rows, e).delta) for rows, e in CASES]
    yield checked(
        f"the least delta over all 16 events of both orders is what is computed: {NAMED}",
        max(*apart, *found) <= ROOM,
    )


@PRIVACY(
    "Definition A.2",
    "Resilience over pairs: the fresh data set is the other one.",
    profile_of("dp-implies-narcissus"),
    seconds=2.0,
)
def definition_a2(_given: Given) -> Told:
    apart: list[float] = []
    for (rows, epsilon), relation in product(CASES[::3], RELATIONS):
        best = 0.0
        for attacker in attackers(rows.shape[1], len(relation.types)):
            here = other = 0.0
            for y, z in enumerate(attacker):
                if z >= 0:
                    bits = [relation.types[z] & 1, relation.types[z] >> 1]
                    here += sum(rows[b, y] / 2 * bits[b] for b in (0, 1))
                    other += sum(rows[b, y] / 2 * bits[1 - b] for b in (0, 1))
            best = max(best, here - math.exp(epsilon) * other)
        apart.append(abs(best - gain(PAIR, rows, relation, epsilon)))
    yield proved(
        "the exact profile is the most that any attacker gains: "
        f"{len(apart)} games on a pair, every one of up to 5^4 attackers",
        max(apart) <= ROOM,
    )


@PRIVACY(
    "Definition A.3",
    "The distribution that gives one pair for certain.",
    profile_of("neighbours-each"),
)
def definition_a3(_given: Given) -> Told:
    mechanism, relation = CountingQuery(0.0), Prefix()
    each = profile(Game(Neighbours(3), mechanism, relation), 0.0)
    drawn = profile(Game(RandomNeighbours(3), mechanism, relation), 0.0)
    alone = [
        profile(Game(world, mechanism, relation), 0.0).delta[0]
        for world in Neighbours(3).members.values()
    ]
    yield checked(
        "a family of constant distributions is as weak as its worst pair: the count of three "
        f"bits, {len(alone)} pairs, delta {each.delta[0]:g} at {each.member[0]}",
        each.delta[0] == max(alone) == 1.0,
    )
    yield checked(
        f"one distribution over the same pairs hides it: delta {drawn.delta[0]:g} on average",
        drawn.delta[0] <= each.delta[0] / 2 + ROOM,
    )


@PRIVACY(
    "Theorem A.4",
    "Differential privacy is resilience over neighbours for all relations.",
    profile_of("not-dp-breaks"),
)
def theorem_a4(_given: Given) -> Told:
    below, reached, half = [], [], []
    for rows, epsilon in CASES:
        found = worst_event(rows, epsilon)
        gains = [gain(PAIR, rows, relation, epsilon) for relation in RELATIONS]
        below.append(max(gains) - found.delta)
        reached.append(abs(max(gains) - found.over_pair))
        zero = found.pair[0]
        half.append(abs(gain(PAIR, rows, OneOfPair(1, zero=zero), epsilon) - found.delta / 2))
    family = [
        profile(Game(Neighbours(3), RandomizedResponse(1.0), relation), 1.0).delta[0]
        for relation in (Prefix(), OneOfPair(2))
    ]
    yield proved(
        "(1) private with delta: no attacker gains more than delta, for all 14 relations that "
        f"there can be on a pair: {NAMED}, and randomized response on all pairs of three bits",
        max(below) <= ROOM and max(family) <= ROOM,
    )
    yield proved(
        "(2) not private with delta: the relation of the proof, and the event that is found, "
        f"gain more than delta / 2: {NAMED}",
        max(half) <= ROOM,
    )
    yield proved(
        "the most that any relation gains is half the sum of the hockey sticks of both "
        "orders, between delta / 2 and delta",
        max(reached) <= ROOM,
    )
    yield "`narcissus privacy STUDY --out FILE` finds pair and event, and writes the study"


@PRIVACY(
    "Theorem E.1",
    "The same for the uniform choice of two neighbours, with a loss.",
    profile_of("uniform-pair"),
)
def theorem_e1(_given: Given) -> Told:
    below, reached, sharper, last = [], [], [], []
    for rows, epsilon in CASES:
        found = worst_event(rows, epsilon)
        below.append(max(gain(UNIFORM, rows, r, epsilon) for r in RELATIONS) - found.delta)
        weaker = found.uniform_epsilon
        gains = [gain(UNIFORM, rows, r, weaker) for r in RELATIONS]
        reached.append(abs(max(gains) - found.over_uniform_pair))
        one = gain(UNIFORM, rows, OneOfPair(1, zero=found.pair[0]), weaker)
        sharper.append(abs(one - found.delta / (2 * (1 + math.exp(epsilon)))))
        p, q = (rows[i, list(found.event)].sum() for i in found.pair)
        # the last two lines of the proof, with the least delta for which they speak
        before = (1 + math.exp(-epsilon)) / 4 * p - found.delta * math.exp(-epsilon) / 4
        after = math.exp(-weaker) * (p / 2 - found.delta * math.exp(-epsilon) / 4)
        last.append(max(abs(before - (p + q) / 4), abs(before - after)))
    yield proved(
        "(1) private with delta: no attacker gains more than delta of a uniform pair, for all "
        f"14 relations: {NAMED}",
        max(below) <= ROOM,
    )
    yield proved(
        "(2) not private: at ln(2 / (1 + e^-eps)) the relation of the proof gains delta / "
        f"(2 (1 + e^eps)) exactly, never less than the paper's delta e^-eps / 4: {NAMED}",
        max(sharper) <= ROOM
        and all(1 / (2 * (1 + math.exp(e))) >= math.exp(-e) / 4 - ROOM for e in EPSILONS),
    )
    yield proved(
        "the most that any relation gains there is the sum of the hockey sticks of both "
        "orders over 2 (1 + e^eps)",
        max(reached) <= ROOM,
    )
    yield checked(
        f"the last two lines of the proof are equal (as printed): {NAMED}",
        max(last) <= ROOM,
        "the last line takes e^-eps~ out of a term and leaves delta~ = delta e^-eps / 4 as it "
        "is: delta~ = delta / (2 (1 + e^eps)) is what the line before gives, which is larger, "
        "so the theorem holds as printed",
        words=r"\tilde{\delta} = \delta \cdot e^{-\varepsilon}/4",
        place="proof of Theorem E.1",
    )


PAIR_COMPOSITION = Pairs([[[0], [1]]])


COMPOSITION = Statements("003", 0.5)


@COMPOSITION(
    "Example C.1",
    "Two releases that say nothing alone say all together.",
    profile_of("xor-halves-together"),
)
def example_c1(_given: Given) -> Told:
    alone, together = [], []
    for size in (1, 2, 3, 4):
        world, relation = Bits(2 * size), Prefix(size)
        halves = [XorHalf("second"), XorHalf("xor")]
        alone += [write_out(Game(world, half, relation)).delta(0.0) for half in halves]
        both = write_out(Game(world, Parallel(halves), relation))
        success, baseline = both.rates(0.0)
        together.append(
            max(abs(success - 1), abs(baseline - 2.0**-size), abs(both.delta(0) - 1 + 2.0**-size))
        )
    yield proved(
        "each half alone is (0, 0)-resilient: lambda from 1 to 4, every attacker",
        max(alone) <= ROOM,
    )
    yield proved(
        "together the best attacker succeeds always, against 2^-lambda: delta(0) is 1 - 2^-lambda",
        max(together) <= ROOM,
    )


def deltas(
    rows: list[Matrix], relation: object, each: Sequence[float] = (0.0,) * 3, abstain: bool = True
) -> tuple[list[float], float]:
    """Compute delta of each mechanism on a pair, and of their composition at the sum.

    each: The mechanisms' epsilons.
    """
    parts = [through_channel(one.tolist()) for one in rows]
    alone = [
        write_out(Game(PAIR_COMPOSITION, part, relation), abstain=abstain).delta(epsilon)
        for part, epsilon in zip(parts, each, strict=True)
    ]
    together = Game(PAIR_COMPOSITION, Parallel(parts), relation)
    return alone, write_out(together, abstain=abstain).delta(math.fsum(each))


def five(p0: float, p1: float) -> list[tuple[float, float]]:
    """Compute ``q_j`` and ``q'_j`` of the proof, for the attacker who answers by event."""
    rows = np.array([[p0, 1 - p0], [p1, 1 - p1]])
    found: list[tuple[float, float]] = []
    for number in range(1, 6):
        relation, rng = OneOfPair(number), np.random.default_rng(0)
        here = other = 0.0
        for b, y in product((0, 1), repeat=2):  # the coin, and whether the event happens not
            sets = np.array([[b], [1 - b]])
            right = relation.holds(sets, np.array([y, y]), rng)
            here += rows[b, y] / 2 * right[0]
            other += rows[b, y] / 2 * right[1]
        found.append((here, other))
    return found


def printed_five(p0: float, p1: float) -> list[tuple[float, float]]:
    return [
        (p0 / 2, p1 / 2),
        (p0 / 2 + (1 - p1) / 2, p1 / 2 + (1 - p0) / 2),
        (1 - p1 / 2, 1 - p0 / 2),
        ((1 - p1) / 2, (1 - p1) / 2),
        (1 - (1 - p0) / 2, 1 - (1 - p1) / 2),
    ]


@COMPOSITION(
    "Theorem C.2",
    "For constant pairs and epsilon 0 the deltas add up, times two.",
    profile_of("composition"),
    seconds=1.0,
)
def theorem_c2(_given: Given) -> Told:
    several = [channels(40, outputs=3)[k : k + 3] for k in range(0, 36, 3)]
    above, paper, share, beyond = [], [], [], []
    shares = np.random.default_rng(41).exponential(0.5, (len(several), len(RELATIONS), 2, 3))
    for place, (rows, relation) in enumerate(product(several, RELATIONS)):
        alone, whole = deltas(rows, relation)
        above.append(whole - sum(alone))
        paper.append(whole - 2 * sum(alone))
        both = {1, 2} <= set(relation.types)
        times = 1.0 if both else 0.5 if {1, 2} & set(relation.types) else 0.0
        far = [np.abs(one[0] - one[1]).sum() / 2 for one in rows]
        share.append(max(abs(a - times * f) for a, f in zip(alone, far, strict=True)))
        for each, abstain in zip(shares.reshape(-1, 2, 3)[place], (True, False), strict=True):
            alone, whole = deltas(rows, relation, each.tolist(), abstain)
            beyond.append(whole - sum(max(0.0, one) for one in alone))
    chances = [(a / 8, b / 8) for a in range(9) for b in range(9)]
    computed = np.array([five(*one) for one in chances])
    printed = np.array([printed_five(*one) for one in chances])
    gaps = computed[:, :, 0] - computed[:, :, 1]
    half = np.array([(a - b) / 2 for a, b in chances])
    same = np.abs(computed - printed).max(axis=(0, 2)) <= ROOM
    yield proved(
        "three mechanisms together are resilient at epsilon 0 with twice the sum of their "
        f"deltas: all 14 relations on a pair, {len(several)} triples of channels",
        max(paper) <= ROOM,
    )
    yield proved(
        "the sum itself suffices: for one relation and pair, delta is the same multiple (0, "
        "1/2 or 1) of the total variation of the parts and of the whole",
        max(above) <= ROOM and max(share) <= ROOM,
    )
    yield proved(
        "beyond the print: at any epsilons, together they are resilient with the sum of the "
        "epsilons and the sum of the deltas, whether or not an attacker may make no attempt: "
        f"{len(beyond)} random cases",
        max(beyond) <= ROOM,
    )
    yield proved(
        "q_j - q'_j is (p0 - p1) / 2 for j = 1, 3, 4, 5 and p0 - p1 for j = 2, on a grid of "
        "81 pairs (p0, p1)",
        np.abs(gaps - half[:, None] * np.array([1, 2, 1, 1, 1])).max() <= ROOM,
    )
    yield checked("q_j and q'_j are as printed for j = 1, 2, 3, 5", bool(same[[0, 1, 2, 4]].all()))
    yield checked(
        "q'_4 is as printed",
        bool(same[3]),
        "it is (1 - p0) / 2; as printed, (1 - p1) / 2, q_4 - q'_4 would be 0",
        words=r"q'_4 = \frac{1}{2}(1 - p_1) + \frac{1}{2} \cdot 0",
        place="proof of Theorem C.2",
    )
    yield checked(
        "q_j - q'_j is (p0 - p1) / 2 for all five j, as printed",
        np.abs(gaps - half[:, None]).max() <= ROOM,
        "for j = 2 it is p0 - p1, twice as much, which the proof can do with",
        words=r"q_j - q'_j = \frac{1}{2}(p_0 - p_1) > \delta",
        place="proof of Theorem C.2",
    )
    yield (
        "The print says 'each M_i is (0, delta, F)-resilient' and 'q_j - q'_j > delta': "
        "delta_i is meant."
    )
