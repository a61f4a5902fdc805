"""Section 2 of Cohen et al. 2024: membership inference and predicate singling out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from narcissus.game import Game
from narcissus.mechanisms import ExactAverage
from narcissus.profiles import write_out
from narcissus.success.relations import Isolates, RandomRow
from narcissus.success.statements import SinglingOut, achievable
from narcissus.worlds import Records
from narcissus_papers.base import Given, Item, Reproduced, claims
from narcissus_papers.cohen.cases import (
    ROOM,
    Labelled,
    audit_of,
    checked,
    item,
    partitions,
    profile_of,
    proved,
    rates_of,
)

LAWS = [
    (a / 8, b / 8, (8 - a - b) / 8) for a, b in product(range(1, 7), repeat=2) if a + b < 8
]  # fmt: skip
"""Laws of a record of three values, in steps of one eighth."""

TWO = [(a / 20, 1 - a / 20) for a in range(1, 20)]
"""Laws of a record of two values, in steps of one twentieth."""


def membership(law: tuple[float, ...], labels: tuple[int, ...]) -> float:
    """Compute the largest advantage of membership inference in two records, from its definition.

    The total variation distance of (release, a fresh record) and (release, a record of the data).
    """
    values = len(law)
    fresh, inside = np.zeros((2, max(labels) + 1, values))
    for data, label in zip(product(range(values), repeat=2), labels, strict=True):
        chance = math.prod(law[x] for x in data)
        fresh[label] += chance * np.array(law)
        for x in data:
            inside[label, x] += chance / 2
    return float(np.abs(fresh - inside).sum() / 2)


def sorts() -> list[tuple[int, ...]]:
    """Return functions of two records of three values: all of the unordered data set."""
    pairs = [tuple(sorted(data)) for data in product(range(3), repeat=2)]
    kinds = sorted(set(pairs))
    return [tuple(labels[kinds.index(p)] for p in pairs) for labels in partitions(len(kinds))]


def membership_inference(_given: Given) -> Reproduced:
    """Compare membership inference with resilience at epsilon 0.

    Source: Cohen et al. 2024, Definitions 2.1 and 2.2, Theorem 2.3.
    """
    apart: list[tuple[float, float, tuple[float, ...]]] = []
    for law, labels in product(LAWS[::3], sorts()[::20]):
        game = Game(Records(2, law), Labelled(labels, 3), RandomRow())
        found = membership(law, labels)
        apart.append((abs(write_out(game).delta(0.0) - found), found, law))
    worst = max(apart, key=lambda one: one[1])
    told = [
        (write_out(Game(Records(2, law), Labelled(tuple(range(9)), 3), RandomRow())).delta(0), law)
        for law in LAWS
    ]
    return claims(
        proved(
            "the largest advantage in telling a record of the data from a fresh one is the least "
            f"delta of resilience at epsilon 0: {len(apart)} laws and functions of two records of "
            f"three values; the worst is {worst[1]:.4f} at {worst[2]}",
            max(a for a, *_ in apart) <= ROOM,
        ),
        proved(
            "inverting the attacker turns the sign of the advantage: all 16 attackers of two bits "
            "with their count released, both signs",
            both_signs() <= ROOM,
        ),
        checked(
            "over all laws in steps of 1/8, releasing both records tells most of membership at "
            f"{max(told)[1]}: advantage {max(told)[0]:.4f}",
            max(told)[0] >= max(d for d, _ in told),
        ),
    )


def both_signs() -> float:
    """Compute how far attackers with predicates and their inverses are from opposite advantages."""
    joint = np.array([[0.25, 0, 0], [0, 0.25, 0], [0, 0.25, 0], [0, 0, 0.25]])
    ones = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).mean(axis=1)
    # attempts: the predicates on a bit, never, is 0, is 1, always
    holds = np.array([0 * ones, 1 - ones, ones, 1 + 0 * ones])
    inverse = {0: 3, 1: 2, 2: 1, 3: 0}
    worst = 0.0
    for attacker in product(range(4), repeat=3):
        success, baseline = rates_of(attacker, joint, holds, np.full(4, 0.25))
        turned = tuple(inverse[z] for z in attacker)
        opposite, base = rates_of(turned, joint, holds, np.full(4, 0.25))
        worst = max(worst, abs(success - baseline + opposite - base))
    return worst


@dataclass(frozen=True)
class SingledOut:
    """Success of the best singling-out attackers of one mechanism and law, at one epsilon.

    ``pso`` is the least delta of Definition 2.4 for this law, with every weight allowed; ``npso``
    that of Definition 2.5.
    """

    pso: float
    npso: float


def singled_out(
    n: int, law: tuple[float, ...], labels: tuple[int, ...], epsilon: float
) -> SingledOut:
    """Compute both definitions from their words.

    ``law`` is that of a record; ``labels`` the release of each data set, in the order of all
    tuples.
    """
    values = len(law)
    data = list(product(range(values), repeat=n))
    chance = np.array([math.prod(law[x] for x in s) for s in data])
    predicates = list(product((0, 1), repeat=values))
    holds = np.array([[sum(p[x] for x in s) == 1 for s in data] for p in predicates], dtype=float)
    weight = np.array([sum(w for w, here in zip(law, p, strict=True) if here) for p in predicates])
    joint = np.zeros((len(data), max(labels) + 1))
    joint[np.arange(len(data)), labels] = chance
    success, released = holds @ joint, joint.sum(axis=0)
    alone = n * weight * (1 - weight) ** (n - 1)
    factor = math.exp(epsilon)
    gains = success - factor * alone[:, None] * released
    pso = 0.0
    for w in np.unique(weight):
        light = weight <= w + ROOM
        pso = max(pso, success[light].max(axis=0).sum() - factor * alone[light].max())
    return SingledOut(float(pso), float(np.maximum(gains.max(axis=0), 0).sum()))


def all_small(epsilon: float) -> list[SingledOut]:
    two = [singled_out(2, law, labels, epsilon) for law in TWO for labels in partitions(4)]
    three = [singled_out(2, law, labels, epsilon) for law in LAWS[::4] for labels in sorts()]
    return two + three


def definition_2_4(_given: Given) -> Reproduced:
    """Compare the curve in w with its definition. Source: Cohen et al. 2024, Definition 2.4."""
    apart: list[float] = []
    for law, epsilon in product(TWO[::3], (0.0, 0.5)):
        world = Records(2, law)
        exact = write_out(Game(world, ExactAverage(), Isolates()))
        said = SinglingOut(2, 1.0, epsilon, possible=achievable(world.law))
        weights = exact.guesses.weight(world)
        own = max(
            exact.light(weights, w) - math.exp(epsilon) * base
            for w, base in zip(said.weights, said.baseline(said.weights), strict=True)
        )
        apart.append(abs(max(own, 0.0) - singled_out(2, law, (0, 1, 1, 2), epsilon).pso))
    small = SinglingOut(50, 1.0)
    weights = np.linspace(0.001, 1, 1000)
    top = max(50 * w * (1 - w) ** 49 for w in weights)
    return claims(
        checked(
            "the least delta over all weights is what is computed: the sum of two records of two "
            f"values, {len(apart)} laws and epsilons, all predicates",
            max(apart) <= ROOM,
        ),
        proved(
            "without the release, weight 1/n is best, at (1 - 1/n)^(n - 1) (n = 50)",
            abs(float(small.baseline(1.0)) - (49 / 50) ** 49) <= ROOM
            and float(small.baseline(1.0)) >= top - ROOM,
        ),
    )


def definition_2_5(_given: Given) -> Reproduced:
    """Decide which of both definitions is stronger. Source: Cohen et al. 2024, Definition 2.5."""
    apart = [
        abs(
            write_out(Game(Records(2, law), ExactAverage(), Isolates())).delta(epsilon)
            - singled_out(2, law, (0, 1, 1, 2), epsilon).npso
        )
        for law, epsilon in product(TWO[::3], (0.0, 0.5))
    ]
    found = {epsilon: all_small(epsilon) for epsilon in (0.0, 0.5)}
    every = [one for several in found.values() for one in several]
    told = [singled_out(2, law, (0, 1, 2, 3), 0.0) for law in TWO]
    return claims(
        checked(
            f"the least delta is what is computed: sums of two records, {len(apart)} cases",
            max(apart) <= ROOM,
        ),
        proved(
            "it implies Definition 2.4, with the same epsilon and delta and every w_max (the "
            "question that the paper leaves open): of "
            f"{len(every)} mechanisms and laws (all functions of two records of two values, and of "
            "three values but for their order), none has a larger delta by 2.4",
            all(one.pso <= one.npso + ROOM for one in every),
        ),
        proved(
            "Definition 2.4 does not imply it: releasing two bits as they are needs delta 0 by 2.4 "
            "for every law of a bit, and 1/4 by 2.5 for the fair one (epsilon 0)",
            max(one.pso for one in told) <= ROOM
            and abs(max(one.npso for one in told) - 0.25) <= ROOM,
        ),
    )


PREDICATES: tuple[Item, ...] = (
    item(
        "Definition 2.1", "Membership inference: a record of the data cannot be told from another.",
        membership_inference, profile_of("membership-inference"), seconds=1.5,
    ),
    item(
        "Definition 2.2", "The relation R_MI: a predicate holds for a random record.",
        membership_inference, profile_of("membership-inference"), seconds=1.5,
    ),
    item(
        "Theorem 2.3", "Membership security is resilience at epsilon 0 for R_MI.",
        membership_inference, profile_of("membership-inference"), seconds=1.5,
    ),
    item(
        "Definition 2.4", "Predicate singling out: a light predicate seldom isolates a record.",
        definition_2_4, profile_of("singling-out-exact"),
    ),
    item(
        "Definition 2.5", "Narcissus predicate singling out: no better than against fresh data.",
        definition_2_5, audit_of("narcissus-singling-out"), seconds=1.5,
    ),
)  # fmt: skip
"""The statements of this section."""
