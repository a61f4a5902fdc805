"""Section VI of Chatzikokolakis et al. 2023, with appendix G: three mechanisms in closed form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy import integrate, stats

from narcissus import channels as ch
from narcissus_papers.base import Given, Reproduced, Statements, checked, claims
from narcissus_papers.chatzikokolakis.cases import CHANNEL, ROOM, proved

APART = (0.1, 0.5, 1.0, 3.0)
SCALES = (0.5, 1.0, 2.0)
INTEGRATED = "distances .1, .5, 1, 3 and scales .5, 1, 2, by integration"


def overlap(density: Callable[[float], float], distance: float) -> float:
    """Integrate the smaller of two densities at a distance."""

    def smaller(x: float) -> float:
        return min(density(x), density(x - distance))

    middle, far = distance / 2, 80.0
    points = sorted((-far, 0.0, middle, distance, distance + far))
    parts = [integrate.quad(smaller, a, b, epsabs=1e-13) for a, b in itertools.pairwise(points)]
    return math.fsum(float(part[0]) for part in parts)


MECHANISMS = Statements("002", 0.2, CHANNEL)


@MECHANISMS(
    "Equation 7",
    "beta* of randomized response is n / (e^epsilon + n - 1).",
    "narcissus channel --mechanism randomized-response:values=10,epsilon=1",
)
def equation_7(_given: Given) -> Reproduced:
    right, alike = [], []
    for n, epsilon in itertools.product(range(2, 13), (0.1, 1.0, 4.0)):
        matrix = ch.KaryRandomizedResponse(n, epsilon).channel()
        exact = n / (math.exp(epsilon) + n - 1)
        pair = matrix.rows([0, n - 1])
        right.append(
            abs(ch.KaryRandomizedResponse(n, epsilon).beta_star - exact) <= ROOM
            and abs(ch.beta_star(matrix).value - exact) <= ROOM
            and abs(ch.bayes_risk(pair) - exact / 2) <= ROOM
        )
        alike.append(len(ch.tied_pairs(matrix)) == n * (n - 1) // 2)
    sizes = "2 to 12 values at epsilon .1, 1, 4"
    return Reproduced(
        held=(
            proved(
                "beta* of randomized response is n / (e^epsilon + n - 1), the Bayes risk of any "
                f"two values half of it: {sizes}",
                all(right),
            ),
            proved(f"all pairs of values are told apart equally well: {sizes}", all(alike)),
        ),
        notes=("n is the number of values of a record; see Figure 7 for the numbers printed.",),
    )


@MECHANISMS(
    "Lemma 4",
    "The distance of two Gaussians is Phi(a) - Phi(-a).",
    "narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6",
)
def gaussians(_given: Given) -> Reproduced:
    right: list[bool] = []
    for distance, sigma in itertools.product(APART, SCALES):
        half = distance / (2 * sigma)
        printed = float(stats.norm.cdf(half) - stats.norm.cdf(-half))
        exact = overlap(lambda x, s=sigma: float(stats.norm.pdf(x, scale=s)), distance)
        form = ch.Gaussian(distance, sigma).beta_star
        right.append(abs(1 - printed - exact) <= 1e-9 and abs(form - (1 - printed)) <= ROOM)
    return claims(
        proved(
            "the total variation distance of two Gaussians is Phi(a) - Phi(-a), a their "
            f"distance over two deviations: {INTEGRATED}",
            all(right),
        ),
    )


def ends(made: Callable[[float], ch.ClosedForm]) -> bool:
    """Whether the ends of a line are the easiest pair to distinguish, and give beta*."""
    values = [made(distance).beta_star for distance in APART]
    return bool((np.diff(values) < 0).all())


@MECHANISMS(
    "Proposition 4",
    "beta* of Gaussian noise is 1 - (Phi(a) - Phi(-a)).",
    "narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6",
)
def proposition_4(_given: Given) -> Reproduced:
    apart = [
        abs(
            ch.Gaussian(d, s, 5).beta_star
            - overlap(lambda x, s=s: float(stats.norm.pdf(x, scale=s)), d)
        )
        for d, s in itertools.product(APART, SCALES)
    ]
    free = [
        abs(ch.Gaussian(d, d * s).beta_star - ch.Gaussian(1.0, s).beta_star)
        for d, s in itertools.product(APART, SCALES)
    ]
    return claims(
        proved(
            "beta* of Gaussian noise is 1 - (Phi(a) - Phi(-a)), a the largest distance of two "
            f"secrets over two deviations: {INTEGRATED}",
            max(apart) <= 1e-9,
        ),
        proved(
            "secrets farther apart are told apart better, so that the ends of a line decide",
            ends(ch.Gaussian),
        ),
        proved("it does not depend on the sensitivity at a given epsilon", max(free) <= ROOM),
    )


@MECHANISMS(
    "Proposition 3",
    "beta* of Laplace noise is exp(-d / (2 scale)).",
    "narcissus channel --mechanism laplace:epsilon=0.1",
)
def proposition_3(_given: Given) -> Reproduced:
    apart, formed = [], []
    for distance, scale in itertools.product(APART, SCALES):
        found = ch.Laplace(distance, scale, 5).beta_star
        exact = overlap(lambda x, s=scale: math.exp(-abs(x) / s) / (2 * s), distance)
        apart.append(abs(found - exact))
        formed.append(abs(found - math.exp(-distance / (2 * scale))))
    half = [abs(ch.Laplace(2.0, 2.0 / e).beta_star - math.exp(-e / 2)) for e in (0.1, 1.0, 5.0)]
    return claims(
        proved(
            "beta* of Laplace noise is exp(-d / (2 scale)), d the largest distance of two "
            f"secrets: {INTEGRATED}",
            max(apart) <= 1e-9 and max(formed) <= ROOM,
        ),
        proved(
            "secrets farther apart are told apart better, so that the ends of a line decide",
            ends(ch.Laplace),
        ),
        checked(
            "at the scale of epsilon-DP it is exp(-epsilon / 2): epsilon .1, 1, 5",
            max(half) <= ROOM,
        ),
    )
