"""Every world with every kind of side information, against Bayes' rule in rational numbers.

Written apart from the package: a world is a list of natures, each a law of data sets; a kind of
side information is a law of what is told, given nature and data set.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.attacks import OwnAttack
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, Hiding, KnownRows, Listed, Rates, Told
from narcissus.mechanisms import Constant, Identity
from narcissus.study.registry import ROOMS
from narcissus.success.relations import Member, Prefix
from narcissus.worlds import (
    Bits,
    Family,
    Finite,
    MonaLisa,
    Neighbours,
    Pairs,
    RandomNeighbours,
    Records,
    Superset,
    Tardos,
    Uniform,
)

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def tuples(values, length):
    return itertools.product(values, repeat=length)


def product_law(laws):
    """Give the law of independent records, each with a dict of chances."""
    law = defaultdict(Fraction)
    for records in itertools.product(*laws):
        chance = math.prod(law[record] for law, record in zip(laws, records, strict=True))
        law[records] += chance
    return dict(law)


def independent(laws):
    return [(Fraction(1), None, product_law(laws))]


def rows_of(d):
    return list(tuples((0, 1), d))


def mona_lisa(n, d, rate):
    citizen = (1 - rate) / 2**d
    law = {row: citizen + (rate if not any(row) else 0) for row in rows_of(d)}
    return independent([law] * n)


def superset(n, d, size, trivial):
    natures = []
    for rows in tuples(rows_of(d), size):
        law = defaultdict(Fraction)
        law[(0,) * d] += trivial
        for row in rows:
            law[row] += (1 - trivial) / size
        natures.append((Fraction(1, 2 ** (d * size)), rows, product_law([dict(law)] * n)))
    return natures


def tardos(total, d, n):
    natures = []
    for rows in tuples(rows_of(d), total):
        weight = Fraction(1)
        for column in zip(*rows, strict=True):
            ones = sum(column)  # the integral of p^ones (1 - p)^zeros
            weight *= Fraction(
                math.factorial(ones) * math.factorial(total - ones), math.factorial(total + 1)
            )
        law = defaultdict(Fraction)
        samples = list(itertools.permutations(range(total), n))
        for places in samples:
            law[tuple(rows[i] for i in places)] += Fraction(1, len(samples))
        natures.append((weight, rows, dict(law)))
    return natures


def finite(data, tables, weights):
    return [
        (weight, number, {tuple(s): p for s, p in zip(data, table, strict=True) if p})
        for number, (weight, table) in enumerate(zip(weights, tables, strict=True))
    ]


SETS = [[0, 1], [1, 1], [0, 0]]
TABLES = [[Fraction(1, 5), Fraction(3, 10), HALF], [Fraction(9, 10), Fraction(1, 10), Fraction(0)]]
PAIRS = Pairs([[[0, 1], [1, 1]], [[0, 0], [1, 0]]])

WORLDS = {
    "bits": (
        Bits(3, [0.25, 0.5, 0.75]),
        independent([{1: p, 0: 1 - p} for p in (QUARTER, HALF, 1 - QUARTER)]),
    ),
    "records": (
        Records(2, [0.5, 0.25, 0.25]),
        independent([{0: HALF, 1: QUARTER, 2: QUARTER}] * 2),
    ),
    "uniform": (Uniform(2, 2), independent([dict.fromkeys(rows_of(2), QUARTER)] * 2)),
    "mona-lisa": (MonaLisa(2, 2, 0.25), mona_lisa(2, 2, QUARTER)),
    "finite": (
        Finite(SETS, [[float(p) for p in table] for table in TABLES], [0.25, 0.75]),
        finite(SETS, TABLES, [QUARTER, 1 - QUARTER]),
    ),
    "superset": (Superset(2, 2, 2, 0.25), superset(2, 2, 2, QUARTER)),
    "tardos": (Tardos(3, 2, 2), tardos(3, 2, 2)),
    "pairs": (PAIRS, None),  # the fresh data set is the other one of the pair: no conditioning
    "neighbours": (Neighbours(2), None),
    "random-neighbours": (RandomNeighbours(2), None),
    "family": (Family([Neighbours(2)]), None),  # its members are worlds of this table
}
MORE = {"tardos, one column": (Tardos(4, 1, 2), tardos(4, 1, 2))}


def sure(value):
    return {value: Fraction(1)}


def first_row(nature, data):
    return sure(data[:1])


def listed_chances(nature, data):
    first = {(0, 1): Fraction(1), (1, 1): QUARTER, (0, 0): HALF}[tuple(data)]
    return {0: first, 1: 1 - first}


def own_nature(nature, data):
    return sure(nature)


def nothing(nature, data):
    return sure(None)


def two_candidates(nature, data):
    law = defaultdict(Fraction)
    for inside, other in itertools.product(data, nature):
        for pair in ((inside, other), (other, inside)):
            law[pair] += Fraction(1, 2 * len(data) * len(nature))
    return dict(law)


def hidden_list(size):
    def law_of(nature, data):
        law = defaultdict(Fraction)
        for others in tuples(rows_of(2), size - len(data)):
            orders = list(itertools.permutations(data + others))
            for order in orders:
                law[order] += Fraction(1, len(orders) * 4 ** len(others))
        return dict(law)

    return law_of


def last_of(data):
    return int(np.asarray(data[-1]).ravel()[0])


def noisy_last(nature, data):
    last = last_of(data)
    return {last: 1 - QUARTER, 1 - min(last, 1): QUARTER}


def of_nature(nature, data):
    """Whether the first record is nature's first row; where nature is a number, its sum with it."""
    if isinstance(nature, tuple):
        return sure(int(tuple(data[0]) == tuple(nature[0])))
    return sure(int(nature) + int(data[0]))


def told_noisy(data, rng):
    last = last_of(data)
    return last if rng.random() < 0.75 else 1 - min(last, 1)


def told_of_nature(data, rng, nature):
    if np.ndim(nature):
        return int((np.asarray(data[0]) == nature[0]).all())
    return int(nature) + int(data[0])


SIDES = {
    "rows": (KnownRows(1), first_row),
    "nature": (Hidden(), own_nature),
    "candidates": (Candidates(), two_candidates),
    "superset": (Hiding(3), hidden_list(3)),
    # Given the population the rates say nothing about the data, so nothing is what they tell.
    "rates": (Rates(), nothing),
    "listed": (Listed([[1, 0], [0.25, 0.75], [0.5, 0.5]]), listed_chances),
}
OWN = {
    "function": (Told(last_of), lambda nature, data: sure(last_of(data))),
    "coins": (Told(told_noisy), noisy_last),
    "of nature": (Told(told_of_nature), of_nature),
}
FIT = {
    "rows": {"bits", "records", "uniform", "mona-lisa", "tardos"},
    "nature": {"finite", "superset", "tardos"},
    "candidates": {"tardos"},
    "superset": {"uniform"},
    "rates": {"tardos"},
    "listed": {"finite"},
    "function": {name for name, (_, law) in WORLDS.items() if law is not None},
    "coins": {name for name, (_, law) in WORLDS.items() if law is not None},
    "of nature": {"finite", "superset", "tardos"},
}
CASES = [(world, side) for side in {**SIDES, **OWN} for world in WORLDS if world in FIT[side]] + [
    ("tardos, one column", side) for side in FIT if "tardos" in FIT[side]
]
TRIALS = 4000
ALARM = 1e-6 / (8 * len(CASES))  # 1e-6 for all counts together


def plain(told):
    """Give what was told as nested tuples, which can be compared and hashed."""
    if isinstance(told, np.ndarray | np.generic):
        told = told.tolist()
    return tuple(map(plain, told)) if isinstance(told, list | tuple) else told


def looked_at(told, count):
    """Give a number below ``count`` that depends on what was told, and on nothing else."""
    return zlib.crc32(repr(told).encode()) % count


def rates_of(natures, law_of, relation, attempt):
    """Give the exact success and baseline of an attacker, ``attempt(data, told)``."""
    success = baseline = Fraction(0)
    for weight, nature, law in natures:
        leads = {data: law_of(nature, data) for data in law}
        total = defaultdict(Fraction)
        for data, chance in law.items():
            for told, lead in leads[data].items():
                total[told] += chance * lead
        hits = defaultdict(Fraction)  # (what was told, attempt) -> chance of both and T fits
        for data, chance in law.items():
            for told, lead in leads[data].items():
                z = attempt(data, told)
                if relation(data, z):
                    success += weight * chance * lead
                if (told, z) not in hits:
                    hits[told, z] = sum(
                        law[other] * leads[other].get(told, 0)
                        for other in law
                        if relation(other, z)
                    )
                baseline += weight * chance * lead * hits[told, z] / total[told]
    return success, baseline


def check(scores, exact):
    one = scores.success, scores.baseline
    for hits, rate in zip(one, map(float, exact), strict=True):
        low = stats.binom.ppf(ALARM / 2, TRIALS, rate)
        high = stats.binom.isf(ALARM / 2, TRIALS, rate)
        assert low <= hits.sum() <= high, (hits.mean(), rate)


def test_every_registered_part_is_here():
    unlisted = {"pool", "secret"}  # records of the user's: no side information is told of them
    assert set(WORLDS) == set(ROOMS["world"].parts) - unlisted
    assert set(SIDES) == set(ROOMS["side-information"].parts)


@pytest.mark.parametrize(("world", "side"), CASES)
def test_constant_has_its_baseline_and_identity_the_enumerated_one(world, side):
    """Two relations, a mechanism that says nothing and one that says all."""
    there, natures = {**WORLDS, **MORE}[world]
    told, law_of = {**SIDES, **OWN}[side]
    every = sorted({data for _, _, law in natures for data in law})
    records = sorted({record for data in every for record in data})
    known = (lambda _: None) if side == "rates" else plain  # rates are no rational numbers
    relations = (
        (Member(), lambda data, z: z in data, records, lambda s: s[0]),
        (Prefix(), lambda data, z: data == z, every, lambda s: s),
    )
    for relation, holds, guesses, copied in relations:
        blind = OwnAttack(
            lambda y, k, *, guesses=guesses: np.asarray(guesses[looked_at(known(k), len(guesses))])
        )
        run = play(
            Game(there, Constant(), relation, side=told), blind, trials=TRIALS, stop=False, rng=3
        )
        exact = rates_of(natures, law_of, holds, lambda s, k, g=guesses: g[looked_at(k, len(g))])
        assert exact[0] == exact[1]  # nothing is released: this is a theorem
        check(run.attackers[0].scores, exact)
        thief = OwnAttack(lambda y, *, c=copied: np.asarray(c(plain(y))))
        run = play(
            Game(there, Identity(), relation, side=told), thief, trials=TRIALS, stop=False, rng=4
        )
        check(
            run.attackers[0].scores, rates_of(natures, law_of, holds, lambda s, k, c=copied: c(s))
        )


@pytest.mark.parametrize("side", SIDES)
def test_worlds_that_cannot_be_conditioned_on_are_refused(side):
    for name, (world, _) in WORLDS.items():
        if name not in FIT[side]:
            with pytest.raises(InputError, match="not defined for the world"):
                Game(world, Identity(), Member(), side=SIDES[side][0])


# --- Surprisal: h(z | K, the others) by adding up who could have led to it ---------------------


def surprisals(natures, law_of):
    """Give ``Pr[v = z | K, bag of the others]``, for all three, as a nested dict."""
    found = defaultdict(Counter)
    for weight, nature, law in natures:
        for data, chance in law.items():
            for told, lead in law_of(nature, data).items():
                for place in range(len(data)):
                    others = tuple(sorted(data[:place] + data[place + 1 :]))
                    found[told, others][data[place]] += weight * chance * lead
    return {
        key: {z: share / sum(shares.values()) for z, share in shares.items()}
        for key, shares in found.items()
    }


def all_but_one(nature, data):
    return sure(data[:-1])


@pytest.mark.parametrize(
    ("total", "d", "n"), [(3, 2, 2), (4, 1, 3), (3, 1, 3), (4, 2, 2), (2, 2, 1)]
)
@pytest.mark.parametrize("kind", ["rows", "all but one", "candidates", "nature", "none"])
def test_surprisal_is_bayes_rule_by_enumeration(kind, total, d, n):
    """Equal candidates, rows outside K, repeated rows: whatever a small world has to offer."""
    side, law_of = {
        "rows": (KnownRows(1), first_row),
        "all but one": (KnownRows(max(1, n - 1)), all_but_one if n > 1 else first_row),
        "candidates": (Candidates(), two_candidates),
        "nature": (Hidden(), own_nature),
        "none": (None, nothing),
    }[kind]
    world, natures = Tardos(total, d, n), tardos(total, d, n)
    chances = surprisals(natures, law_of)
    rng = np.random.default_rng(5)
    draw = world.draw(400, rng)
    known = [None] * 400 if side is None else side.reveal(world, draw, rng)
    seen = set()
    for index in range(n):
        places = np.full(400, index)
        bits = (
            world.surprisal(draw, places)
            if side is None
            else side.surprisal(world, draw, known, places)
        )
        for trial in range(400):
            data = plain(draw.data[trial])
            others = tuple(sorted(data[:index] + data[index + 1 :]))
            told = plain(known[trial]) if side is not None else None
            exact = chances[told, others][data[index]]
            assert bits[trial] == pytest.approx(-math.log2(exact), abs=1e-9)
            if kind == "candidates":
                seen.add((told[0] == told[1], data[index] in told))
    if kind == "candidates" and n > 1 and d > 1:
        assert seen == set(itertools.product((True, False), repeat=2))


def test_surprisal_of_the_rates_is_their_own():
    """Given the rates, all rows are independent: a sum over all values is one."""
    world, side, rng = Tardos(5, 3, 3), Rates(), np.random.default_rng(6)
    draw = world.draw(50, rng)
    known = side.reveal(world, draw, rng)
    total = np.zeros(50)
    for row in rows_of(3):
        draw.data[:, 0] = row
        total += np.exp2(-side.surprisal(world, draw, known, np.zeros(50, dtype=int)))
    assert total == pytest.approx(1)
