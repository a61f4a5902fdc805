"""Section VII of Chatzikokolakis et al. 2023: computing, bounding and estimating beta*."""

from __future__ import annotations

import itertools

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Reproduced, Statements, checked, claims
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    Matrix,
    channels,
    proved,
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
def proposition_5(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "beta* is at least 1 - d, d the largest L1 distance of a row to any distribution: "
            f"{len(low)} of them on {NAMED}",
            all(low),
        ),
        proved(
            f"beta* is at most 1 - d / 2 if that is a mixture of the rows: {len(high)} of them",
            all(high) and all(ours),
        ),
        checked(
            "elsewhere that fails: for [[.9, .1, 0, 0], [.8, .2, 0, 0]] and the uniform "
            f"distribution it would be {far:g}, beta* is .9, and no upper limit is given",
            far < ch.beta_star(OUTSIDE).value and ch.quick_bounds(OUTSIDE, "uniform").high is None,
        ),
    )


@COMPUTING("section VII-A", "Secrets known to hold the worst pair are enough.")
def section_7a(_given: Given) -> Reproduced:
    same = []
    for rows in channels():
        worst = ch.beta_star(rows)
        some = sorted({*worst.indices, 0})
        same.append(abs(ch.beta_star(rows[some]).value - worst.value) <= ROOM)
    return claims(
        proved(f"secrets among which the worst pair is known to be are enough: {NAMED}", all(same)),
    )


@COMPUTING("section VII-B", "beta* in time linear in the number of secrets.")
def section_7b(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "signed sums of the outputs, one for each of 2^m choices of signs, turn the L1 "
            f"distance into the largest difference: {len(distance)} pairs of rows",
            all(distance),
        ),
        proved(
            f"so beta* is one minus half of the widest of their ranges over the secrets: {NAMED}",
            all(same),
        ),
    )


@COMPUTING("section VII-C", "The Euclidean diameter limits beta*.", QUICK)
def section_7c(_given: Given) -> Reproduced:
    norms, limits = [], []
    for rows in channels():
        for a, b in itertools.combinations(rows, 2):
            one, two = np.abs(a - b).sum(), float(np.linalg.norm(a - b))
            norms.append(two <= one + ROOM and one <= np.sqrt(len(a)) * two + ROOM)
        found, worst = ch.l2_bounds(rows), ch.beta_star(rows).value
        assert found.high is not None
        limits.append(found.low <= worst + ROOM <= found.high + 2 * ROOM)
    return claims(
        proved(
            "the L1 norm lies between the Euclidean one and sqrt(m) times that: "
            f"{len(norms)} differences of rows",
            all(norms),
        ),
        proved(f"so the Euclidean diameter limits beta* from both sides: {NAMED}", all(limits)),
    )


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
def section_7d(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "two pairs with a secret in common limit the third from both sides: "
            f"{len(right)} triples of secrets on {NAMED}",
            all(right),
        ),
        Held(
            "estimates come near from samples alone: of randomized response on 4 values, "
            f"{SIZES[0]:,} to {SIZES[-1]:,} samples are off by {off[0]:.3f}, {off[1]:.3f}, "
            f"{off[2]:.3f}, and limits hold the truth and narrow",
            off[-1] < min(0.02, off[0])
            and widths == sorted(widths, reverse=True)
            and all(low <= exact <= high for _, low, high in found),
            "played",
        ),
    )
