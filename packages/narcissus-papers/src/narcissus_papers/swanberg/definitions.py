"""Definitions of Swanberg et al. 2025: each one's form here, checked on small cases."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from narcissus.bounds import PoissonBinomial, posterior
from narcissus.channels import KaryRandomizedResponse, local_dp_delta
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.mechanisms import GaussianNoise, MarginalQueries
from narcissus.success import ColumnsRight
from narcissus_papers.base import Given, Held, Quote, Reproduced, Statements

EXACT = 1e-12


_AUDIT = "narcissus audit STUDY"
DEFINITIONS = Statements("001", 0.3)


@DEFINITIONS(
    "Definition 2.1",
    "Approximate DP: no event grows by more than e^eps, and delta.",
    "narcissus bound --epsilon 1 --delta 1e-5 --prior .1",
)
def _approximate_dp(_given: Given) -> Reproduced:
    worst = 0.0
    for values, epsilon in product((2, 3, 5), (0.3, 1.0, 2.0)):
        matrix = KaryRandomizedResponse(values, epsilon).channel().matrix
        for at in (0.0, epsilon / 2, epsilon, 2 * epsilon):
            events = max(np.maximum(a - np.exp(at) * b, 0.0).sum() for a in matrix for b in matrix)
            worst = max(worst, abs(local_dp_delta(matrix, at) - events))
            worst = max(worst, events - float(PureDP(epsilon).profile(at)))
    return Reproduced(
        held=(
            Held(
                "the least delta of randomised response, over all events, is what is computed, and "
                "within the profile of its guarantee (9 mechanisms, 4 epsilons each)",
                worst <= EXACT, "checked",
            ),
        )
    )  # fmt: skip


@DEFINITIONS(
    "Definition 2.2",
    "One random variable stochastically dominates another.",
    "narcissus bound --epsilon 1 --targets 10 --prior .1 --at-least 5",
)
def _dominance(_given: Given) -> Reproduced:
    grid, least = (0.0, 0.2, 0.5, 0.9, 1.0), 1.0
    for chances in product(grid, repeat=3):
        lower = PoissonBinomial(np.array(chances))
        for i, raised in product(range(3), grid):
            higher = np.array(chances)
            higher[i] = max(higher[i], raised)
            upper = PoissonBinomial(higher)
            least = min(least, *(upper.tail(v) - lower.tail(v) for v in range(-1, 5)))
    return Reproduced(
        held=(
            Held(
                "a sum of independent Bernoullis is dominated by one with larger chances: every "
                "tail of 125 sums of three against 15 raised ones each",
                least >= -EXACT, "checked",
            ),
        )
    )  # fmt: skip


@DEFINITIONS("Definition 3.1", "A success metric is decomposable: a sum over the people.", _AUDIT)
def _decomposable(_given: Given) -> Reproduced:
    success = ColumnsRight((2, 3), at_least=1)
    pairs = list(product(product(range(2), range(3)), repeat=2))
    truth = np.array([3 * x[0] + x[1] for x, _ in pairs])
    guess = np.array([3 * z[0] + z[1] for _, z in pairs])
    by_hand = [any(a == b for a, b in zip(x, z, strict=True)) for x, z in pairs]
    alone = success.score(truth, guess)
    apart = (
        max(
            abs(int(success.score(truth[[i, j]], guess[[i, j]]).sum()) - by_hand[i] - by_hand[j])
            for i, j in product(range(len(pairs)), repeat=2)
        )
        + np.abs(alone.astype(int) - by_hand).max()
    )
    return Reproduced(
        held=(
            Held(
                "what counts is counted person by person: two people, six values, every world and "
                "every pair of guesses",
                apart == 0, "checked",
            ),
        )
    )  # fmt: skip


@DEFINITIONS(
    "Definition 4.1",
    "Narcissus resiliency, whose bound e^eps p + delta is the larger one.",
    "narcissus bound --epsilon 1 --delta 1e-5 --prior .1",
)
def _narcissus(_given: Given) -> Reproduced:
    priors = np.linspace(0.001, 0.999, 999)
    least = np.inf
    for epsilon in (0.01, 0.1, 1.0, 5.0, 20.0):
        least = min(least, float((np.exp(epsilon) * priors - posterior(priors, epsilon)).min()))
    return Reproduced(
        held=(
            Held(
                "e^eps p + delta is strictly above e^eps / (e^eps - 1 + 1/p) + delta for all "
                "0 < p < 1 and eps > 0: their ratio is 1 + p (e^eps - 1)",
                least > 0, "proved",
            ),
            Held(
                "section 4.2 prints the odds as e^eps / (e^eps + 1/p)",
                holds=False, shown="proved",
                because="section 4.2 leaves out the -1 of Theorem 3.2: at eps = 0 it would be "
                "below the prior",
                quote=Quote("", r"\frac{e^{\varepsilon}}{e^{\varepsilon}+1/p}", "section 4.2"),
            ),
        ),
        notes=("the definition itself: `narcissus reproduce 003 --statement 1.6`",),
    )  # fmt: skip


@DEFINITIONS("Definition A.1", "A k-way marginal query: shares of the people.", _AUDIT)
def _queries(_given: Given) -> Reproduced:
    sizes, rng = (2, 3, 2), np.random.default_rng(0)
    people = np.array([[rng.integers(s) for s in sizes] for _ in range(40)], dtype=np.int32)
    queries = MarginalQueries(sizes, (0, 1, 2), 2)
    counts = queries.counts(people)
    by_hand = [
        int((people[:, list(columns)] == cell).all(axis=1).sum())
        for columns in combinations(range(3), 2)
        for cell in product(*(range(sizes[c]) for c in columns))
    ]
    same = sorted(by_hand) == sorted(counts.tolist()) and len(by_hand) == queries.cells
    return Reproduced(
        held=(
            Held(
                "the cells of all 2-way tables of three columns are the counts by hand, 40 people",
                same, "checked",
            ),
        ),
        notes=("counts here, shares of |X| in the paper: the number of people is public",),
    )  # fmt: skip


@DEFINITIONS("Definition A.2", "The noisy k-way marginal mechanism.", _AUDIT)
def _noisy(_given: Given) -> Reproduced:
    sizes, k, mu = (2, 3, 2), 2, 0.7
    queries = MarginalQueries(sizes, (0, 1, 2), k)
    noise = GaussianNoise.for_mu(mu, queries.tables)
    people = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    each = [queries.counts(person[None]) for person in people]
    move = max(float(np.linalg.norm(a - b)) for a in each for b in each)
    found = noise.guarantee(queries.tables)
    assert isinstance(found, GaussianDP)
    return Reproduced(
        held=(
            Held(
                "the mechanism is mu-GDP with mu = sqrt(2 tables) / sigma, the largest move of all "
                "replaced people over sigma (12 kinds of people, 3 tables)",
                abs(move / noise.scale - found.mu) <= EXACT * 10 and abs(found.mu - mu) <= 1e-9,
                "checked",
            ),
        ),
        notes=("the paper writes 2 sigma^2 for the variance of a share; sigma is a cell's here",),
    )  # fmt: skip
