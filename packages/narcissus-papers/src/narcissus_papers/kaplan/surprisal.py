"""Section 4 of Kaplan et al. 2025 from Definition 4.6 on: noise, and all side information."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from narcissus import Game
from narcissus.channels import KaryRandomizedResponse, local_dp_delta
from narcissus.errors import InputError
from narcissus.knowledge import Candidates
from narcissus.mechanisms import NoisyAverage
from narcissus.profiles.closed_forms.average import (
    Column,
    least_surprisal,
    log2_delta,
    log2_few_lukewarm,
)
from narcissus.success.relations import Hamming, Member, Prefix
from narcissus.worlds import Draw, Tardos
from narcissus_papers.base import Given, Reproduced, Statements, checked, claims
from narcissus_papers.kaplan.cases import proved

Floats = NDArray[np.float64]

CUTS = (0.25, 0.5, 0.75, 1.25, 1.5, 1.75)
"""Where the noisy sum of two rows is cut into seven outputs, which can only hide."""


def _outputs(epsilon: float) -> Floats:
    """Return the chance of each output for a sum of 0, 1 and 2, shape (3, 7)."""
    x = np.asarray(CUTS)[None] - np.arange(3)[:, None]
    below = np.where(x < 0, np.exp(epsilon * x) / 2, 1 - np.exp(-epsilon * x) / 2)
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def counted_chance(d: int, epsilon: float, share: float, told: Floats, near: int = 0) -> float:
    """Compute the best chance to come near the last of two rows where it counts, by enumeration.

    For ``d`` attributes, few; ``epsilon`` of the noise and ``share`` of the surprisal that is kept.
    ``told`` is the chance of each side information given the rows, shape (2^d, 2^d, k): the other
    row, then the last. The attempt may differ in ``near`` places.
    """
    rows = np.array(list(itertools.product((0, 1), repeat=d)))
    both = rows[:, None] + rows[None]
    joint = np.prod(np.array([1 / 3, 1 / 6, 1 / 3])[both], axis=2)  # rates uniform, both orders
    plain = joint / joint.sum(axis=1, keepdims=True)
    with_told = joint[:, :, None] * told
    seen = with_told.sum(axis=1, keepdims=True)
    given = np.divide(with_told, seen, out=np.zeros_like(with_told), where=seen > 0)
    counts = with_told * (given <= plain[:, :, None] ** share * (1 + 1e-12))
    columns = _outputs(epsilon)[both]  # shape (other, last, d, output)
    release = np.ones((*joint.shape, 1))
    for j in range(d):
        release = (release[:, :, :, None] * columns[:, :, j, None, :]).reshape(*joint.shape, -1)
    distance = (rows[:, None] != rows[None]).sum(axis=2)
    close = (distance <= near).astype(float)
    # the attacker may know the other row as well, which only helps
    value = np.einsum("zv,ovk,ovy->okyz", close, counts, release)
    return float(value.max(axis=3).sum())


def _up(logarithm: float) -> float:
    return math.ceil(10 * logarithm) / 10


def _told(rng: np.random.Generator, d: int) -> Floats:
    """Draw random side information of four values, some of which reveal more."""
    weights = rng.random((2**d, 2**d, 4)) ** rng.choice([0.2, 1.0, 4.0])
    return weights / weights.sum(axis=2, keepdims=True)


SURPRISAL = Statements("004", 0.5, prefix="narcissus ")


@SURPRISAL(
    "Definition 4.6",
    "Differential privacy: no event grows by more than e^eps, and delta.",
    "examples dp-implies-narcissus",
)
def definition_46(_given: Given) -> Reproduced:
    matrix = KaryRandomizedResponse(3, 1.0).channel().dense
    events = itertools.product((0, 1), repeat=3)
    chosen = [np.array(one) for one in events]
    worst = [
        max(float((a - math.exp(e) * b) @ f) for a in matrix for b in matrix for f in chosen)
        for e in (0.0, 0.5, 1.0)
    ]
    found = [local_dp_delta(matrix, e) for e in (0.0, 0.5, 1.0)]
    return claims(
        checked(
            "the least delta over all events of randomised response is what is computed, 0 at its "
            "epsilon",
            float(np.abs(np.array(worst) - found).max()) <= 1e-12 and found[2] <= 1e-12,
        ),
    )


@SURPRISAL(
    "Theorem 4.7",
    "Averages with Laplace noise 1 / (epsilon n) are (epsilon d, 0)-private.",
    "examples two-candidates",
)
def theorem_47(_given: Given) -> Reproduced:
    rng = np.random.default_rng(47)
    n, d, noise = 5, 4, 0.3
    ratios = []
    for _ in range(200):
        data = rng.random((n, d))
        other = data.copy()
        other[0] = rng.random(d)
        y = rng.normal(0.5, 1, d)
        apart = np.abs(y - other.mean(0)).sum() - np.abs(y - data.mean(0)).sum()
        ratios.append(noise * n * apart)
    zeros, ones = np.zeros((n, d)), np.zeros((n, d))
    ones[0] = 1
    reached = noise * n * float(ones.mean(0).sum())
    promised = NoisyAverage(noise).privacy(zeros[None])
    return claims(
        proved(
            "one row moves each average by at most 1 / n, so densities change by at most "
            "e^(epsilon d): 200 pairs, and rows of zeros and ones reach it",
            max(ratios) <= noise * d and abs(reached - noise * d) <= 1e-12,
            "8.1",
        ),
        checked("the mechanism promises that", promised == (noise * d, 0.0)),
    )


@SURPRISAL(
    "Lemma 4.8",
    "The noisy average is safe in the sense of surprisal, whatever the attacker knows.",
    "examples surprisal",
)
def lemma_48(_given: Given) -> Reproduced:
    rng = np.random.default_rng(48)
    ratios = []
    for d, noise, share in itertools.product((1, 2, 3), (0.2, 1.0), (0.3, 0.7, 1.0)):
        limit = Column(2, noise).reach(share) ** d
        kinds = (np.ones((2**d, 2**d, 1)), *(_told(rng, d) for _ in range(6)))
        ratios += [counted_chance(d, noise, share, told) / limit for told in kinds]
    sizes = (
        (20, 5000, 0.1, 0.5),
        (20, 200, 0.1, 0.5),
        (100, 1000, 0.1, 0.5),
        (100, 1000, 0.01, 0.05),
    )
    found = [log2_delta(*s) for s in sizes]
    grows = [log2_delta(20, d, 0.1, 0.5) for d in (500, 1000, 2000, 4000)]
    slopes = np.diff(grows) / np.array([500, 1000, 2000])
    return claims(
        proved(
            "delta is at most n G^d at epsilon 0, for every attacker and all side information: "
            f"without the n it is never exceeded by {len(ratios)} kinds of it on two rows, of "
            f"which the nearest comes to {max(ratios):.4f} of it",
            max(ratios) <= 1 + 1e-12 and max(ratios) > 0.95,
            "8.1",
        ),
        proved(
            "that is at most 2 to the " + ", ".join(f"{_up(x):.1f}" for x in found)
            + " at (n, d, noise, xi) = "
            + ", ".join(map(str, sizes)),
            all(a < -15 for a in found),
            "8.1",
        ),
        proved(
            "delta falls exponentially in d (n = 20, noise .1, xi 1/2; d = 500 to 4,000)",
            float(np.ptp(slopes)) <= 1e-9 and float(slopes.max()) < -0.2,
            "8.1",
        ),
        checked(
            "the epsilon of the noise must be small enough: at 20 the bound says nothing",
            log2_delta(20, 5000, 20.0, 0.5) == 0.0,
        ),
    )  # fmt: skip


@SURPRISAL(
    "Claim 4.9", "With d / 5 lukewarm columns every row is surprising.", "examples surprisal"
)
def claim_49(_given: Given) -> Reproduced:
    fine, reached = True, True
    for n, d in ((4, 2), (5, 2), (6, 1)):
        world = Tardos(n, d, n)
        least: dict[int, float] = {}
        for ones in itertools.product(range(n), repeat=d):
            others = (np.arange(n - 1)[:, None] < np.array(ones)).astype(np.uint8)
            lukewarm = sum(n <= 4 * m <= 3 * n for m in ones)
            for z in itertools.product((0, 1), repeat=d):
                data = np.vstack([others, np.array([z], dtype=np.uint8)])[None]
                bits = float(world.surprisal(Draw(data), np.array([n - 1]))[0])
                least[lukewarm] = min(bits, least.get(lukewarm, math.inf))
        for lukewarm, bits in least.items():
            limit = least_surprisal(n, d, lukewarm)
            fine = fine and bits >= limit - 1e-12
            reached = reached and abs(bits - limit) <= 1e-12
    few = [log2_few_lukewarm(n, d, d // 5) for n, d in ((20, 200), (20, 5000), (100, 1000))]
    return claims(
        proved(
            "with l lukewarm columns every row has at least l log2((n+1) / (floor(3n/4)+1)) + "
            "(d-l) log2((n+1)/n) bits of surprisal, and some have that: all others and rows of "
            "three small worlds",
            fine and reached,
            "8.1",
        ),
        proved(
            "fewer than d / 5 lukewarm columns have chance at most 2 to the "
            + ", ".join(f"{_up(x):.1f}" for x in few)
            + " at (n, d) = (20, 200), (20, 5,000), (100, 1,000)",
            all(x < -80 for x in few),
            "8.1",
        ),
    )


@SURPRISAL("Definition 4.10", "Targeted relations: about one row.", "examples surprisal-targeted")
def definition_410(_given: Given) -> Reproduced:
    world, side = Tardos(6, 3, 3), Candidates()
    for relation in (Member(), Hamming(0.3)):
        Game(world, NoisyAverage(0.1), relation, side=side, surprisal=0.5)
    try:
        Game(world, NoisyAverage(0.1), Prefix(), side=side, surprisal=0.5)
        refused = False
    except InputError:
        refused = True
    rng = np.random.default_rng(410)
    data = world.draw(50, rng).data
    z = data[:, 0].copy()
    z[:, 0] ^= 1
    some = Hamming(0.34)
    return claims(
        checked(
            "a targeted relation holds of a data set where it holds of some row; relations about "
            "more than one row are refused where surprisal decides",
            bool((some.holds(data, z, rng) == some.matches(data, z).any(axis=1)).all()) and refused,
        ),
    )


@SURPRISAL(
    "Definition 4.11",
    "Safety in the sense of surprisal for targeted relations.",
    "examples surprisal-rates",
)
def definition_411(_given: Given) -> Reproduced:
    rng = np.random.default_rng(411)
    ratios = []
    for d, noise, share in itertools.product((2, 3), (0.2, 1.0), (0.5, 1.0)):
        larger, smaller = Column(2, noise).parts(share)
        limit = larger**d + d * smaller * larger ** (d - 1)
        kinds = (np.ones((2**d, 2**d, 1)), *(_told(rng, d) for _ in range(5)))
        ratios += [counted_chance(d, noise, share, told, near=1) / limit for told in kinds]
    sizes = ((20, 5000, 0.1, 0.5, 200), (20, 5000, 0.1, 1.0, 1000), (20, 5000, 1.0, 1.0, 500))
    found = [log2_delta(n, d, e, xi, places=k) for n, d, e, xi, k in sizes]
    return claims(
        proved(
            "who may differ in k places has delta at most n sum_(i <= k) C(d, i) (H-G)^i G^(d-i), "
            "or a split of it: "
            f"{len(ratios)} kinds of side information, none above (largest "
            f"{max(ratios):.4f})",
            max(ratios) <= 1 + 1e-12 and max(ratios) > 0.95,
            "8.1",
        ),
        proved(
            "that is at most 2 to the " + ", ".join(f"{_up(x):.1f}" for x in found)
            + " at (n, d, noise, xi, k) = " + ", ".join(map(str, sizes)),
            all(x < -50 for x in found),
            "8.1",
        ),
    )  # fmt: skip
