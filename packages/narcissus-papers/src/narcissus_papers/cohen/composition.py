"""Appendix C of Cohen et al. 2024: composition of resilient mechanisms."""

from __future__ import annotations

from itertools import product

import numpy as np

from narcissus.game import Game
from narcissus.mechanisms import Parallel, XorHalf, through_channel
from narcissus.profiles import write_out
from narcissus.success.relations import OneOfPair, Prefix
from narcissus.worlds import Bits, Pairs
from narcissus_papers.base import Given, Reproduced, Statements, claims
from narcissus_papers.cohen.cases import (
    RELATIONS,
    ROOM,
    Matrix,
    channels,
    checked,
    profile_of,
    proved,
)

PAIR = Pairs([[[0], [1]]])


COMPOSITION = Statements("003", 0.5)


@COMPOSITION(
    "Example C.1",
    "Two releases that say nothing alone say all together.",
    profile_of("xor-halves-together"),
)
def example_c1(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "each half alone is (0, 0)-resilient: lambda from 1 to 4, every attacker",
            max(alone) <= ROOM,
        ),
        proved(
            "together the best attacker succeeds always, against 2^-lambda: delta(0) is "
            "1 - 2^-lambda",
            max(together) <= ROOM,
        ),
    )


def deltas(rows: list[Matrix], relation: object) -> tuple[list[float], float]:
    """Compute delta at epsilon 0 of each mechanism on a pair, and of their composition."""
    parts = [through_channel(one.tolist()) for one in rows]
    alone = [write_out(Game(PAIR, part, relation)).delta(0.0) for part in parts]
    return alone, write_out(Game(PAIR, Parallel(parts), relation)).delta(0.0)


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
def theorem_c2(_given: Given) -> Reproduced:
    several = [channels(40, outputs=3)[k : k + 3] for k in range(0, 36, 3)]
    above, paper, share = [], [], []
    for rows, relation in product(several, RELATIONS):
        alone, whole = deltas(rows, relation)
        above.append(whole - sum(alone))
        paper.append(whole - 2 * sum(alone))
        both = {1, 2} <= set(relation.types)
        times = 1.0 if both else 0.5 if {1, 2} & set(relation.types) else 0.0
        far = [np.abs(one[0] - one[1]).sum() / 2 for one in rows]
        share.append(max(abs(a - times * f) for a, f in zip(alone, far, strict=True)))
    chances = [(a / 8, b / 8) for a in range(9) for b in range(9)]
    computed = np.array([five(*one) for one in chances])
    printed = np.array([printed_five(*one) for one in chances])
    gaps = computed[:, :, 0] - computed[:, :, 1]
    half = np.array([(a - b) / 2 for a, b in chances])
    same = np.abs(computed - printed).max(axis=(0, 2)) <= ROOM
    return claims(
        proved(
            "three mechanisms together are resilient at epsilon 0 with twice the sum of their "
            f"deltas: all 14 relations on a pair, {len(several)} triples of channels",
            max(paper) <= ROOM,
        ),
        proved(
            "the sum itself suffices: for one relation and pair, delta is the same multiple (0, "
            "1/2 or 1) of the total variation of the parts and of the whole",
            max(above) <= ROOM and max(share) <= ROOM,
        ),
        proved(
            "q_j - q'_j is (p0 - p1) / 2 for j = 1, 3, 4, 5 and p0 - p1 for j = 2, on a grid of "
            "81 pairs (p0, p1)",
            np.abs(gaps - half[:, None] * np.array([1, 2, 1, 1, 1])).max() <= ROOM,
        ),
        checked(
            "q_j and q'_j are as printed for j = 1, 2, 3, 5",
            bool(same[[0, 1, 2, 4]].all()),
        ),
        checked(
            "q'_4 is as printed",
            bool(same[3]),
            "it is (1 - p0) / 2; as printed, (1 - p1) / 2, q_4 - q'_4 would be 0",
            words=r"q'_4 = \frac{1}{2}(1 - p_1) + \frac{1}{2} \cdot 0",
            place="proof of Theorem C.2",
        ),
        checked(
            "q_j - q'_j is (p0 - p1) / 2 for all five j, as printed",
            np.abs(gaps - half[:, None]).max() <= ROOM,
            "for j = 2 it is p0 - p1, twice as much, which the proof can do with",
            words=r"q_j - q'_j = \frac{1}{2}(p_0 - p_1) > \delta",
            place="proof of Theorem C.2",
        ),
        notes=(
            "The print says 'each M_i is (0, delta, F)-resilient' and 'q_j - q'_j > delta': "
            "delta_i is meant.",
        ),
    )
