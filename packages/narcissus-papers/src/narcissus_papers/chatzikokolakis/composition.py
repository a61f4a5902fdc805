"""Section IV of Chatzikokolakis et al. 2023, with appendix D: parallel and cascaded channels.

Section V-E of Chatzikokolakis et al. 2023, with appendix F: multiplicative leakage.

Section VII of Chatzikokolakis et al. 2023: computing, bounding and estimating beta*.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import (
    Given,
    Printed,
    Quote,
    Statements,
    Told,
    checked,
    played,
)
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    WITH_PRIOR,
    Matrix,
    channels,
    pairs_of_channels,
    priors,
    proved,
    systems,
)

PRINTED = [[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.5, 0.5, 0.0], [0.5, 0.1, 0.4]]
_PROOF = "Proposition 1, proof"
PRINTED_ALONE = Quote("0.6", "= 0.6 is obtained for secrets", _PROOF)
PRINTED_TWICE = Quote("0.36", "= 0.36 is achieved for secrets", _PROOF)
MOVING = [[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.51, 0.12, 0.37]]
TIGHT = [[0.4, 0.6], [0.0, 1.0]]
NUMBERS = (0.0, 0.25, 0.5, 1.0, 3.0)

TWICE = f"{CHANNEL} --repeat 2"
CASCADE = (
    'python -c "from narcissus import channels as ch; print(ch.beta_star(ch.cascade('
    "ch.read_channel('channel.csv'), ch.read_channel('second.csv'))))\""
)


def beta_star(rows: Any) -> float:
    return ch.beta_star(rows).value


def chains() -> list[tuple[Matrix, Matrix]]:
    found = [
        (first, second)
        for first in channels(20)
        for second in channels(8, secrets=first.shape[1])[:3]
        if first.shape[1] > 1
    ]
    return found


def mixtures(rows: Matrix) -> Matrix:
    return np.random.default_rng(3).dirichlet(np.full(len(rows), 0.5), 12) @ rows


def diameter(rows: Matrix, order: float) -> float:
    return max(float(np.linalg.norm(a - b, order)) for a in rows for b in rows)


COMPOSITION = Statements("002", 0.2, CHANNEL)


@COMPOSITION("section IV-A", "Channels in parallel give independent outputs.", TWICE)
def section_4a(_given: Given) -> Told:
    right = [
        np.allclose(
            ch.parallel(a, b).dense.reshape(len(a), a.shape[1], -1),
            a[:, :, None] * b[:, None, :],
            rtol=0,
            atol=ROOM,
        )
        for a, b in pairs_of_channels()
    ]
    sums = [
        abs(beta_star(ch.repeat(rows, 3)) - beta_star(ch.parallel(rows, rows, rows))) <= 1e-10
        for rows in channels(12)
    ]
    yield checked(
        f"channels in parallel give pairs of independent outputs: {len(right)} pairs", all(right)
    )
    yield checked(
        "several outputs of one channel leak what their counts leak: beta* of three "
        f"outputs, {len(sums)} channels",
        all(sums),
    )


@COMPOSITION("Theorem 3", "In parallel, beta* is at least the product.", TWICE)
def theorem_3(_given: Given) -> Told:
    room = [
        beta_star(ch.parallel(a, b)) - beta_star(a) * beta_star(b) for a, b in pairs_of_channels()
    ]
    both = ch.parallel(TIGHT, TIGHT)
    yield proved(
        f"beta* in parallel is at least the product: {len(room)} pairs of channels",
        min(room) >= -ROOM,
    )
    yield checked(
        "it is the product for [[.4, .6], [0, 1]] with itself: .36 = .6 * .6",
        abs(beta_star(both) - 0.36) <= ROOM and abs(beta_star(TIGHT) - 0.6) <= ROOM,
    )


@COMPOSITION(
    "Proposition 1",
    "In parallel, another pair of secrets can be the worst.",
    f"{TWICE} --all-pairs",
)
def proposition_1(_given: Given) -> Told:
    twice = ch.parallel(PRINTED, PRINTED)
    alone, composed = ch.tied_pairs(PRINTED), ch.tied_pairs(twice)
    moving = ch.parallel(MOVING, MOVING)
    yield Printed("beta* of the printed matrix", PRINTED_ALONE, beta_star(PRINTED))
    yield Printed("beta* of it in parallel with itself", PRINTED_TWICE, beta_star(twice))
    yield checked(
        "both numbers are exact",
        abs(beta_star(PRINTED) - 0.6) <= ROOM and abs(beta_star(twice) - 0.36) <= ROOM,
    )
    yield checked(
        "s1 and s3 are worst alone, s2 and s4 in parallel, where s1 and s3 are not",
        ("s1", "s3") in alone and ("s2", "s4") in composed and ("s1", "s3") not in composed,
    )
    yield checked(
        "the one worst pair of [[.9, .1, 0], [.5, .5, 0], [.51, .12, .37]] is s1 and s2 "
        "alone, s2 and s3 in parallel",
        ch.tied_pairs(MOVING) == [("s1", "s2")] and ch.tied_pairs(moving) == [("s2", "s3")],
    )
    yield (
        "The printed matrix has ties: s1 and s4 (as s2 and s4, s3 and s4) are worst both alone "
        "and in parallel, so it does not show that the pair must move. Our other matrix does."
    )


@COMPOSITION("section IV-B", "What comes after does not lower the risk.", CASCADE)
def section_4b(_given: Given) -> Told:
    room = [
        ch.bayes_risk(ch.cascade(a, b), prior) - ch.bayes_risk(a, prior)
        for a, b in chains()
        for prior in priors(len(a))
    ]
    yield proved(
        f"a channel after another does not lower the Bayes risk: {len(room)} cases",
        min(room) >= -ROOM,
    )


@COMPOSITION("Theorem 4", "In a cascade, beta* is at least the larger one.", CASCADE)
def theorem_4(_given: Given) -> Told:
    room = [beta_star(ch.cascade(a, b)) - max(beta_star(a), beta_star(b)) for a, b in chains()]
    yield proved(
        "beta* of a cascade is at least that of each of its channels: "
        f"{len(room)} pairs of channels",
        min(room) >= -ROOM,
    )


@COMPOSITION("Equation 12", "A mixture is no farther from a point than another point.")
@COMPOSITION("Lemma 3", "A convex hull has the diameter of its set.", CASCADE)
def hulls(_given: Given) -> Told:
    orders = (1.0, 2.0, np.inf)
    whole = [
        diameter(np.vstack([rows, mixtures(rows)]), order) - diameter(rows, order)
        for rows in channels()
        for order in orders
    ]
    to_one = [
        max(float(np.linalg.norm(a - b, order)) for a in rows for b in mixtures(rows))
        - diameter(rows, order)
        for rows in channels()
        for order in orders
    ]
    yield proved(
        "a point of a set and a mixture of its points are no farther apart than two of its "
        f"points (Equation 12): L1, L2 and L-infinity, rows of {NAMED}",
        max(to_one) <= ROOM,
    )
    yield proved(
        "nor are two mixtures, so the convex hull has the diameter of the set (Lemma 3)",
        max(map(abs, whole)) <= ROOM,
    )


@COMPOSITION("Equation 14", "Least values multiply to at most the least product.")
def equation_14(_given: Given) -> Told:
    right = [
        min(q) * min(r) <= min(a * b for a, b in zip(q, r, strict=True))
        for q in itertools.product(NUMBERS, repeat=2)
        for r in itertools.product(NUMBERS, repeat=2)
    ]
    yield proved(
        "the product of two least values is at most the least product, of numbers that are "
        f"not negative: {len(right)} pairs of pairs",
        all(right),
    )


RULED_OUT = np.eye(3)
"""Losses of an attacker who rules one secret out: 1 where that is the secret."""
ONE_OUT = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
"""Each output rules one secret out."""


def by_outputs(rows: Matrix, prior: Matrix) -> tuple[float, float]:
    """Compute vulnerability and error of guessing, averaged over what each output leaves."""
    joint = rows * prior[:, None]
    mass = joint.sum(axis=0)
    left = [(m, column / m) for m, column in zip(mass, joint.T, strict=True) if m > 0]
    return sum(m * c.max() for m, c in left), sum(m * ch.guessing_error(c) for m, c in left)


LEAKAGE = Statements("002", 0.2, CHANNEL)


@LEAKAGE(
    "section V-E",
    "Capacity and beta* limit the risk for every prior.",
    f"{WITH_PRIOR} --json --all",
)
def section_5e(_given: Given) -> Told:
    same, additive, implied, most = [], [], [], []
    for rows, prior in systems():
        vulnerability, error = by_outputs(rows, prior)
        risk = ch.bayes_risk(rows, prior)
        same.append(abs(error - risk) <= ROOM and abs(vulnerability - (1 - risk)) <= ROOM)
        gain = ch.bayes_vulnerability(rows, prior) - prior.max()
        additive.append(abs(gain - (ch.guessing_error(prior) - risk)) <= ROOM)
        found = ch.implied_bayes_risk(ch.beta_star(rows).value, ch.capacity(rows), prior)
        implied.append(max(found.by_bayes_security, found.by_capacity) <= risk + ROOM)
        most.append(ch.multiplicative_leakage(rows, prior) <= ch.capacity(rows) + ROOM)
    uniform = [abs(ch.capacity(r) - ch.multiplicative_leakage(r)) <= 1e-11 for r in channels()]
    yield proved(
        "posterior vulnerability and risk are averages of the prior ones over the outputs "
        f"({len(same)} priors)",
        all(same),
    )
    yield proved("additive leakage is the guessing error less the risk", all(additive))
    yield proved(
        "the leakage is largest at the uniform prior: the capacity, sum_o max_s C_so",
        all(most) and all(uniform),
    )
    yield from _composed()
    yield proved(
        "the risk is at least beta* G and at least 1 - capacity V, for every prior", all(implied)
    )
    yield from _deterministic()
    yield from _guesses()


def _composed() -> Told:
    beside = [
        ch.capacity(ch.parallel(a, b)) <= ch.capacity(a) * ch.capacity(b) + ROOM
        for a, b in pairs_of_channels()
    ]
    after = [
        ch.capacity(ch.cascade(a, b)) <= min(ch.capacity(a), ch.capacity(b)) + ROOM
        for a, b in chains()
    ]
    yield proved(f"capacities multiply at most, in parallel: {len(beside)} pairs", all(beside))
    yield proved(f"a cascade has at most the smaller capacity: {len(after)} pairs", all(after))


def _deterministic() -> Told:
    rng = np.random.default_rng(4)
    right: list[bool] = []
    for _ in range(30):
        n, m = (int(k) for k in rng.integers(2, 6, 2))
        told = rng.integers(0, m, n)
        right.append(ch.beta_star(np.eye(m)[told]).value == (1.0 if np.ptp(told) == 0 else 0.0))
    yield proved(
        "beta* of a deterministic program is 0, and 1 if its output never depends on the "
        "secret: 30 programs",
        all(right),
    )


def _guesses() -> Told:
    """Check the miracle theorem, and show that there is none for losses."""
    rng = np.random.default_rng(5)
    right = [
        ch.g_leakage(rows, gain, prior) <= ch.miracle_bound(rows).value * (1 + ROOM)
        for rows, prior in systems()
        for gain in (rng.random((4, len(rows))), rng.random((2, len(rows))) ** 8)
    ]
    ratio, worst = ch.l_beta(ONE_OUT, RULED_OUT), ch.beta_star(ONE_OUT).value
    yield proved(
        "no gain that is not negative makes the leakage larger than the capacity (the miracle "
        f"theorem): {len(right)} gains and priors on {NAMED}",
        all(right),
    )
    yield checked(
        "nothing like it holds for losses in [0, 1]: where each of three outputs rules one "
        f"secret out, ruling one out has beta_l 0, and beta* is {worst:g}",
        ratio <= ROOM < worst,
    )


@LEAKAGE(
    "Appendix F",
    "Guessing the secret is one gain and one loss of many.",
    f"{WITH_PRIOR} --json --all",
)
def appendix_f(_given: Given) -> Told:
    gain, loss = [], []
    for rows, prior in systems():
        one = np.eye(len(rows))
        gain.append(abs(ch.g_leakage(rows, one, prior) - ch.multiplicative_leakage(rows, prior)))
        loss.append(abs(ch.l_beta(rows, 1 - one, prior) - ch.beta(rows, prior)))
    yield proved(
        f"with a gain of 1 for the secret the g-leakage is the leakage: {len(gain)} priors",
        max(gain) <= 1e-11,
    )
    yield proved(
        f"with a loss of 1 for any other beta_l is beta: {len(loss)} priors", max(loss) <= 1e-10
    )


SIZES = (1_000, 10_000, 100_000)
QUICK = (
    'python -c "from narcissus import channels as ch; '
    "print(ch.quick_bounds(ch.read_channel('channel.csv')))\""
)
ESTIMATE = "narcissus estimate samples.csv --secret secret"
OUTSIDE = [[0.9, 0.1, 0.0, 0.0], [0.8, 0.2, 0.0, 0.0]]


def references(rows: Matrix) -> list[Matrix]:
    """Return distributions over the outputs: the mean row, one row, mixtures of rows."""
    rng = np.random.default_rng(6)
    mixed = rng.dirichlet(np.ones(len(rows)), 2) @ rows
    return [rows.mean(axis=0), rows[0], *(one / one.sum() for one in mixed)]


COMPUTING = Statements("002", 0.2, CHANNEL)


@COMPUTING("Proposition 5", "One reference row limits beta* in linear time.", QUICK)
def proposition_5(_given: Given) -> Told:
    low, high, ours = [], [], []
    rng = np.random.default_rng(5)
    for rows in channels():
        worst = ch.beta_star(rows).value
        for point in [*references(rows), *rng.dirichlet(np.ones(rows.shape[1]), 2)]:
            d = float(np.abs(rows - point).sum(axis=1).max())
            found = ch.quick_bounds(rows, point)
            low.append(1 - d <= worst + ROOM and 1 - d <= found.low + ROOM <= worst + 2 * ROOM)
            ours.append(found.high is None or abs(found.high - (1 - d / 2)) <= ROOM)
        for point in references(rows):
            d = float(np.abs(rows - point).sum(axis=1).max())
            high.append(worst <= 1 - d / 2 + ROOM)
    far = 1 - np.abs(np.array(OUTSIDE) - 0.25).sum(axis=1).max() / 2
    yield proved(
        "beta* is at least 1 - d, d the largest L1 distance of a row to any distribution: "
        f"{len(low)} of them on {NAMED}",
        all(low),
    )
    yield proved(
        f"beta* is at most 1 - d / 2 if that is a mixture of the rows: {len(high)} of them",
        all(high) and all(ours),
    )
    yield checked(
        "elsewhere that fails: for [[.9, .1, 0, 0], [.8, .2, 0, 0]] and the uniform "
        f"distribution it would be {far:g}, beta* is .9, and no upper limit is given",
        far < ch.beta_star(OUTSIDE).value and ch.quick_bounds(OUTSIDE, "uniform").high is None,
    )


@COMPUTING("section VII-A", "Secrets known to hold the worst pair are enough.")
def section_7a(_given: Given) -> Told:
    same = []
    for rows in channels():
        worst = ch.beta_star(rows)
        some = sorted({*worst.indices, 0})
        same.append(abs(ch.beta_star(rows[some]).value - worst.value) <= ROOM)
    yield proved(
        f"secrets among which the worst pair is known to be are enough: {NAMED}", all(same)
    )


@COMPUTING("section VII-B", "beta* in time linear in the number of secrets.")
def section_7b(_given: Given) -> Told:
    same, distance = [], []
    for rows in channels():
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=rows.shape[1])))
        image = rows @ signs.T
        widest = float(np.ptp(image, axis=0).max())
        same.append(abs(1 - widest / 2 - ch.beta_star(rows).value) <= ROOM)
        distance += [
            abs(np.abs(x - y).max() - np.abs(a - b).sum()) <= ROOM
            for (a, x), (b, y) in itertools.combinations(zip(rows, image, strict=True), 2)
        ]
    yield proved(
        "signed sums of the outputs, one for each of 2^m choices of signs, turn the L1 "
        f"distance into the largest difference: {len(distance)} pairs of rows",
        all(distance),
    )
    yield proved(
        f"so beta* is one minus half of the widest of their ranges over the secrets: {NAMED}",
        all(same),
    )


@COMPUTING("section VII-C", "The Euclidean diameter limits beta*.", QUICK)
def section_7c(_given: Given) -> Told:
    norms, limits = [], []
    for rows in channels():
        for a, b in itertools.combinations(rows, 2):
            one, two = np.abs(a - b).sum(), float(np.linalg.norm(a - b))
            norms.append(two <= one + ROOM and one <= np.sqrt(len(a)) * two + ROOM)
        found, worst = ch.l2_bounds(rows), ch.beta_star(rows).value
        assert found.high is not None
        limits.append(found.low <= worst + ROOM <= found.high + 2 * ROOM)
    yield proved(
        "the L1 norm lies between the Euclidean one and sqrt(m) times that: "
        f"{len(norms)} differences of rows",
        all(norms),
    )
    yield proved(f"so the Euclidean diameter limits beta* from both sides: {NAMED}", all(limits))


def estimates() -> list[tuple[float, float, float]]:
    response = ch.KaryRandomizedResponse(4, 1.5)
    rng = np.random.default_rng(1)
    found: list[tuple[float, float, float]] = []
    for size in SIZES:
        secret = rng.integers(4, size=size)
        told = rng.random(size) < 1 - response.beta_star
        output = np.where(told, secret, rng.integers(4, size=size))
        made = ch.estimate(
            secret, output, estimators=["frequentist"], confidence=1 - 1e-6, rng=rng
        ).beta_star
        assert made.low is not None
        assert made.high is not None
        found.append((made.value, made.low, made.high))
    return found


@COMPUTING("section VII-D", "beta* from samples, and pairs that need none.", ESTIMATE)
def section_7d(_given: Given) -> Told:
    right: list[bool] = []
    for rows in channels():
        table = ch.pairwise(rows)
        for a, b, c in itertools.permutations(range(len(rows)), 3):
            low, high = table[a, c] + table[b, c] - 1, 1 - abs(table[a, c] - table[b, c])
            right.append(low - ROOM <= table[a, b] <= high + ROOM)
    exact = ch.KaryRandomizedResponse(4, 1.5).beta_star
    found = estimates()
    widths = [high - low for _, low, high in found]
    off = [abs(value - exact) for value, *_ in found]
    yield proved(
        "two pairs with a secret in common limit the third from both sides: "
        f"{len(right)} triples of secrets on {NAMED}",
        all(right),
    )
    yield played(
        "estimates come near from samples alone: of randomized response on 4 values, "
        f"{SIZES[0]:,} to {SIZES[-1]:,} samples are off by {off[0]:.3f}, {off[1]:.3f}, "
        f"{off[2]:.3f}, and limits hold the truth and narrow",
        off[-1] < min(0.02, off[0])
        and widths == sorted(widths, reverse=True)
        and all(low <= exact <= high for _, low, high in found),
    )
