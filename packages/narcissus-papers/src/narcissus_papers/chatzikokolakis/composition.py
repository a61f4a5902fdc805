"""Section IV of Chatzikokolakis et al. 2023, with appendix D: parallel and cascaded channels."""

from __future__ import annotations

import itertools

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import (
    Given,
    Printed,
    Quote,
    Reproduced,
    Statements,
    checked,
    claims,
)
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    Matrix,
    channels,
    pairs_of_channels,
    priors,
    proved,
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


def beta_star(rows: object) -> float:
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
def section_4a(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            f"channels in parallel give pairs of independent outputs: {len(right)} pairs",
            all(right),
        ),
        checked(
            "several outputs of one channel leak what their counts leak: beta* of three "
            f"outputs, {len(sums)} channels",
            all(sums),
        ),
    )


@COMPOSITION("Theorem 3", "In parallel, beta* is at least the product.", TWICE)
def theorem_3(_given: Given) -> Reproduced:
    room = [
        beta_star(ch.parallel(a, b)) - beta_star(a) * beta_star(b) for a, b in pairs_of_channels()
    ]
    both = ch.parallel(TIGHT, TIGHT)
    return claims(
        proved(
            f"beta* in parallel is at least the product: {len(room)} pairs of channels",
            min(room) >= -ROOM,
        ),
        checked(
            "it is the product for [[.4, .6], [0, 1]] with itself: .36 = .6 * .6",
            abs(beta_star(both) - 0.36) <= ROOM and abs(beta_star(TIGHT) - 0.6) <= ROOM,
        ),
    )


@COMPOSITION(
    "Proposition 1",
    "In parallel, another pair of secrets can be the worst.",
    f"{TWICE} --all-pairs",
)
def proposition_1(_given: Given) -> Reproduced:
    twice = ch.parallel(PRINTED, PRINTED)
    alone, composed = ch.tied_pairs(PRINTED), ch.tied_pairs(twice)
    moving = ch.parallel(MOVING, MOVING)
    return Reproduced(
        printed=(
            Printed("beta* of the printed matrix", PRINTED_ALONE, beta_star(PRINTED)),
            Printed("beta* of it in parallel with itself", PRINTED_TWICE, beta_star(twice)),
        ),
        held=(
            checked(
                "both numbers are exact",
                abs(beta_star(PRINTED) - 0.6) <= ROOM and abs(beta_star(twice) - 0.36) <= ROOM,
            ),
            checked(
                "s1 and s3 are worst alone, s2 and s4 in parallel, where s1 and s3 are not",
                ("s1", "s3") in alone and ("s2", "s4") in composed and ("s1", "s3") not in composed,
            ),
            checked(
                "the one worst pair of [[.9, .1, 0], [.5, .5, 0], [.51, .12, .37]] is s1 and s2 "
                "alone, s2 and s3 in parallel",
                ch.tied_pairs(MOVING) == [("s1", "s2")] and ch.tied_pairs(moving) == [("s2", "s3")],
            ),
        ),
        notes=(
            "The printed matrix has ties: s1 and s4 (as s2 and s4, s3 and s4) are worst both alone "
            "and in parallel, so it does not show that the pair must move. Our other matrix does.",
        ),
    )


@COMPOSITION("section IV-B", "What comes after does not lower the risk.", CASCADE)
def section_4b(_given: Given) -> Reproduced:
    room = [
        ch.bayes_risk(ch.cascade(a, b), prior) - ch.bayes_risk(a, prior)
        for a, b in chains()
        for prior in priors(len(a))
    ]
    return claims(
        proved(
            f"a channel after another does not lower the Bayes risk: {len(room)} cases",
            min(room) >= -ROOM,
        ),
    )


@COMPOSITION("Theorem 4", "In a cascade, beta* is at least the larger one.", CASCADE)
def theorem_4(_given: Given) -> Reproduced:
    room = [beta_star(ch.cascade(a, b)) - max(beta_star(a), beta_star(b)) for a, b in chains()]
    return claims(
        proved(
            "beta* of a cascade is at least that of each of its channels: "
            f"{len(room)} pairs of channels",
            min(room) >= -ROOM,
        ),
    )


@COMPOSITION("Equation 12", "A mixture is no farther from a point than another point.")
@COMPOSITION("Lemma 3", "A convex hull has the diameter of its set.", CASCADE)
def hulls(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "a point of a set and a mixture of its points are no farther apart than two of its "
            f"points (Equation 12): L1, L2 and L-infinity, rows of {NAMED}",
            max(to_one) <= ROOM,
        ),
        proved(
            "nor are two mixtures, so the convex hull has the diameter of the set (Lemma 3)",
            max(map(abs, whole)) <= ROOM,
        ),
    )


@COMPOSITION("Equation 14", "Least values multiply to at most the least product.")
def equation_14(_given: Given) -> Reproduced:
    right = [
        min(q) * min(r) <= min(a * b for a, b in zip(q, r, strict=True))
        for q in itertools.product(NUMBERS, repeat=2)
        for r in itertools.product(NUMBERS, repeat=2)
    ]
    return claims(
        proved(
            "the product of two least values is at most the least product, of numbers that are "
            f"not negative: {len(right)} pairs of pairs",
            all(right),
        ),
    )
