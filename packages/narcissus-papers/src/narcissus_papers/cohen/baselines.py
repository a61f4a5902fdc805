"""Section 1.1 of Cohen et al. 2024: baselines of an attacker.

Section 2 of Cohen et al. 2024: membership inference and predicate singling out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from narcissus.game import Game
from narcissus.mechanisms import (
    Constant,
    ExactAverage,
    Identity,
    RandomizedResponse,
    through_channel,
)
from narcissus.profiles import cover, write_out, write_out_family
from narcissus.success.relations import Isolates, Member, Pinned, RandomRow
from narcissus.success.statements import SinglingOut, achievable
from narcissus.worlds import Bits, Family, Finite, MonaLisa, Records
from narcissus_papers.base import Given, Statements, Told
from narcissus_papers.cohen.cases import (
    EPSILONS,
    ROOM,
    Labelled,
    attackers,
    audit_of,
    channels,
    checked,
    partitions,
    profile_of,
    proved,
    rates_of,
)

CITIZENS = 12
"""Citizens of the first situation of section 1.1.1; the Mona Lisa is number 0."""


BASELINES = Statements("003", 0.5)


@BASELINES(
    "Definition 1.4",
    "Robust: no better than e^eps times the best fixed guess, and delta.",
    audit_of("fixed-baseline"),
)
def definition_1_4(_given: Given) -> Told:
    rows = []
    for n, rate in product((1, 2, 3), (0.5, 0.9, 1.0)):
        exact = write_out(Game(MonaLisa(n, 2, rate), Identity(), Member()))
        for epsilon in EPSILONS:
            lost, best = exact.robust(epsilon)
            # every mechanism releases less than the data themselves
            rows.append((lost, 1 - math.exp(epsilon) * best, exact.delta(epsilon)))
    hidden = write_out(Game(MonaLisa(3, 2, 0.9), Identity(), Member()))
    lost, best = hidden.robust(0.01)
    yield proved(
        "it is empty once the best fixed guess succeeds with e^-eps (1 - delta): then no "
        "mechanism breaks it, as releasing the data themselves shows "
        f"({len(rows)} worlds with a Mona Lisa and epsilons)",
        all(lost <= max(0.0, room) + ROOM for lost, room, _ in rows),
    )
    yield checked(
        "releasing three rows, each the Mona Lisa with rate .9, satisfies it at epsilon .01 "
        f"and delta 0: the best fixed guess has {best:.4f}; its least delta for Narcissus "
        f"resiliency is {hidden.delta(0.01):.4f}",
        lost == 0 and hidden.delta(0.01) > 0.15,
    )


def situations() -> tuple[Finite, Bits]:
    people = range(1, CITIZENS + 1)
    plain = [(a, b) for a in people for b in people]
    with_her = [(0, b) for b in people]
    chances = [0.5 / len(plain)] * len(plain) + [0.5 / len(with_her)] * len(with_her)
    return Finite(plain + with_her, chances), Bits(2)


@BASELINES(
    "Definition 1.5",
    "Robust at a threshold: attempts with a small baseline seldom succeed.",
    profile_of("threshold-dilemma"),
)
def definition_1_5(_given: Given) -> Told:
    photos, bits = situations()
    told, nothing = (
        write_out(Game(photos, mechanism, Member())) for mechanism in (Identity(), Constant())
    )
    below, above = [], []
    for labels in partitions(4):
        exact = write_out(Game(bits, Labelled(labels), Pinned(1)))
        below.append(max(exact.beyond(tau) for tau in (0.0, 0.25, 0.499)))
        above.append(min(exact.beyond(tau) for tau in (0.5, 0.75, 1.0)))
    yield checked(
        "first situation, the Mona Lisa in half of the data sets: with tau below 1/2 a release "
        f"of the data breaks it for every epsilon below 1 ({told.beyond(0.499):g}), a release "
        f"of nothing for none above a citizen's chance ({nothing.beyond(0.499):.3f})",
        abs(told.beyond(0.499) - 1) <= ROOM and nothing.beyond(0.499) < 0.2,
    )
    yield proved(
        "first situation, tau of 1/2 or more: naming the Mona Lisa breaks it for every "
        "mechanism and epsilon below 1/2",
        min(nothing.beyond(tau) for tau in (0.5, 0.9, 1.0)) >= 0.5 - ROOM,
    )
    yield proved(
        "second situation, one bit of a random vector: with tau below 1/2 every mechanism is "
        f"safe with epsilon 0 ({len(below)} mechanisms: all functions of two bits)",
        max(below) == 0,
    )
    yield proved(
        "second situation, tau of 1/2 or more: no mechanism is safe with epsilon below 1/2",
        min(above) >= 0.5 - ROOM,
    )


@BASELINES(
    "Definition 1.6",
    "Narcissus resiliency: no better than e^eps times one's own baseline.",
    profile_of("counting-query-every-rate"),
)
def definition_1_6(_given: Given) -> Told:
    apart: list[float] = []
    for rows, epsilon, rate in product(channels(6, 4, 3), EPSILONS, (0.1, 0.5)):
        data = np.array(list(product((0, 1), repeat=2)))
        chance = np.array([rate ** sum(s) * (1 - rate) ** (2 - sum(s)) for s in data.tolist()])
        holds = np.array([data[:, i] == b for i in (0, 1) for b in (0, 1)], dtype=np.float64)
        joint = chance[:, None] * rows
        found = (rates_of(a, joint, holds, chance) for a in attackers(3, 4))
        best = max(s - math.exp(epsilon) * b for s, b in found)
        world = Finite([[k] for k in range(4)], chance.tolist())
        game = Game(world, through_channel(rows.tolist()), _OneBit())
        apart.append(abs(best - write_out(game).delta(epsilon)))
    rates = (0.01, 0.1, 0.3, 0.5)
    family = write_out_family(
        Game(Family([Bits(3, r) for r in rates]), Labelled((0, 1, 1, 2, 1, 2, 2, 3)), Pinned(1))
    )
    worst = family.worst([0.0, 1.0])
    every = [
        cover(family.members[worst[0].member], 0.0, 1.0, e, tolerance=0.01) for e in (0.0, 1.0)
    ]
    alone = [max(one.delta(e) for one in family.members.values()) for e in (0.0, 1.0)]
    yield proved(
        "the least delta is the sum over releases of the largest gain of any attempt: "
        f"{len(apart)} games of two bits, every one of 125 attackers",
        max(apart) <= ROOM,
    )
    yield checked(
        "of a family, the worst distribution counts: the count of three bits with rates "
        f"{', '.join(map(str, rates))}: {worst[0].member} at epsilon 0, {worst[1].member} at 1",
        all(abs(one.best.delta - d) <= ROOM for one, d in zip(worst, alone, strict=True)),
    )
    yield proved(
        "of all rates from 0 to 1 together, those between that nobody looks at included: delta "
        f"at most {every[0].at_most:.4f} at epsilon 0 and {every[1].at_most:.4f} at 1; rates "
        f"{every[0].rate:.3f} and {every[1].rate:.3f} need {every[0].least:.4f} and "
        f"{every[1].least:.4f}",
        all(one.complete and one.at_most >= d - ROOM for one, d in zip(every, alone, strict=True)),
        section="2.2",
    )


class _OneBit:
    """A bit of a data set given as the number of two bits."""

    def holds(self, data: np.ndarray, attempt: np.ndarray, rng: object) -> np.ndarray:
        place, bit = np.asarray(attempt) // 2, np.asarray(attempt) % 2
        return (data[:, 0] >> (1 - place)) & 1 == bit

    def guesses(self, data: np.ndarray) -> np.ndarray:
        return np.arange(4)


@BASELINES(
    "Example 1.7",
    "The attacker must recover a citizen, not the Mona Lisa.",
    audit_of("mona-lisa-narcissus"),
)
def example_1_7(_given: Given) -> Told:
    only, all_of, limits = [], [], []
    for n, epsilon in product((1, 2, 3), (0.0, 0.1, 0.3)):
        world = MonaLisa(n, 2, 0.5)
        exact = write_out(Game(world, Identity(), Member()))
        block = next(iter(exact.blocks()))
        her = int(np.flatnonzero((np.asarray(exact.guesses) == 0).all(axis=1))[0])
        gains = block.success[her] - math.exp(epsilon) * block.baseline[her]
        p = float(exact.fixed[her])
        only.append(np.maximum(gains, 0).sum() - max(0.0, p * (1 - math.exp(epsilon) * p)))
        all_of.append(exact.delta(epsilon))
        limits.append(p * (1 - p))
    certain = 1 - 0.5**20
    yield proved(
        "who names nobody but the Mona Lisa gains p (1 - e^eps p) at most, or nothing, with p "
        f"the chance that she is there: {len(only)} worlds and epsilons, reached where the "
        "data are released; with 20 rows, each hers with rate 1/2, that is "
        f"{certain - certain**2:.1e}",
        max(map(abs, only)) <= ROOM and certain * (1 - certain) < 1e-6,
    )
    yield checked(
        "who recovers a citizen gains more: the best attacker of the released rows",
        all(a > b for a, b in zip(all_of[::3], limits[::3], strict=True)),
    )


@BASELINES("Example 1.8", "Pinning k of n bits must beat 2^-k.", profile_of("pinned-bits"))
def example_1_8(_given: Given) -> Told:
    fixed, apart = [], []
    for k, own in product((1, 2, 3, 4), (0.5, 1.0)):
        exact = write_out(Game(Bits(4), RandomizedResponse(own), Pinned(k)))
        fixed.append(np.abs(exact.fixed - 2.0**-k).max())
        block = next(iter(exact.blocks()))
        released = np.asarray(exact.channel.matrix.sum(axis=0)).ravel() / 16
        for epsilon in EPSILONS:
            beyond = np.maximum(
                block.success.max(axis=0) - math.exp(epsilon) * 2.0**-k * released, 0
            )
            apart.append(abs(exact.delta(epsilon) - beyond.sum()))
    yield proved(
        "every attempt at k bits has the baseline 2^-k, so an attacker must beat e^eps 2^-k: "
        "four bits, k from 1 to 4, all places and entries, two mechanisms",
        max(fixed) <= ROOM and max(apart) <= ROOM,
    )


LAWS = [(a / 8, b / 8, (8 - a - b) / 8) for a, b in product(range(1, 7), repeat=2) if a + b < 8]
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


PREDICATES = Statements("003", 0.5)


@PREDICATES(
    "Theorem 2.3",
    "Membership security is resilience at epsilon 0 for R_MI.",
    profile_of("membership-inference"),
    seconds=1.5,
)
@PREDICATES(
    "Definition 2.2",
    "The relation R_MI: a predicate holds for a random record.",
    profile_of("membership-inference"),
    seconds=1.5,
)
@PREDICATES(
    "Definition 2.1",
    "Membership inference: a record of the data cannot be told from another.",
    profile_of("membership-inference"),
    seconds=1.5,
)
def membership_inference(_given: Given) -> Told:
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
    yield proved(
        "the largest advantage in telling a record of the data from a fresh one is the least "
        f"delta of resilience at epsilon 0: {len(apart)} laws and functions of two records of "
        f"three values; the worst is {worst[1]:.4f} at {worst[2]}",
        max(a for a, *_ in apart) <= ROOM,
    )
    yield proved(
        "inverting the attacker turns the sign of the advantage: all 16 attackers of two bits "
        "with their count released, both signs",
        both_signs() <= ROOM,
    )
    yield checked(
        "over all laws in steps of 1/8, releasing both records tells most of membership at "
        f"{max(told)[1]}: advantage {max(told)[0]:.4f}",
        max(told)[0] >= max(d for d, _ in told),
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


@PREDICATES(
    "Definition 2.4",
    "Predicate singling out: a light predicate seldom isolates a record.",
    profile_of("singling-out-exact"),
)
def definition_2_4(_given: Given) -> Told:
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
    yield checked(
        "the least delta over all weights is what is computed: the sum of two records of two "
        f"values, {len(apart)} laws and epsilons, all predicates",
        max(apart) <= ROOM,
    )
    yield proved(
        "without the release, weight 1/n is best, at (1 - 1/n)^(n - 1) (n = 50)",
        abs(float(small.baseline(1.0)) - (49 / 50) ** 49) <= ROOM
        and float(small.baseline(1.0)) >= top - ROOM,
    )


@PREDICATES(
    "Definition 2.5",
    "Narcissus predicate singling out: no better than against fresh data.",
    audit_of("narcissus-singling-out"),
    seconds=1.5,
)
def definition_2_5(_given: Given) -> Told:
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
    yield checked(
        f"the least delta is what is computed: sums of two records, {len(apart)} cases",
        max(apart) <= ROOM,
    )
    yield proved(
        "it implies Definition 2.4, with the same epsilon and delta and every w_max (the "
        "question that the paper leaves open): of "
        f"{len(every)} mechanisms and laws (all functions of two records of two values, and of "
        "three values but for their order), none has a larger delta by 2.4",
        all(one.pso <= one.npso + ROOM for one in every),
    )
    yield proved(
        "Definition 2.4 does not imply it: releasing two bits as they are needs delta 0 by 2.4 "
        "for every law of a bit, and 1/4 by 2.5 for the fair one (epsilon 0)",
        max(one.pso for one in told) <= ROOM and abs(max(one.npso for one in told) - 0.25) <= ROOM,
    )
