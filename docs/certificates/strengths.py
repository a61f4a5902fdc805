"""Laws of public strengths against all mechanisms, for fair bits under Gaussian DP."""

from __future__ import annotations

import numpy as np
from checking import must
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.special import comb, expit, ndtr
from scipy.stats import binom

ENDS = 9.0


def profile(e, mu):
    """The profile of Gaussian DP."""
    return ndtr(mu / 2 - e / mu) - np.exp(e) * ndtr(-mu / 2 - e / mu)


def all_mechanisms(n, v, mu, points=30):
    """The best of all mechanisms for n fair bits, by a program at some points of the profile.

    Averaged over data and order of the people, a release that agrees with the data in j places
    has the chance u_j. Neighbours differ in one place, which agrees with one or the other.
    """
    where = np.linspace(0, ENDS, points)
    size = n + 1 + 2 * n * points
    u, rows, sums = np.eye(size)[: n + 1], [], []
    for k, e in enumerate(where):
        slack = np.eye(size)[n + 1 + 2 * n * k : n + 1 + 2 * n * (k + 1)]
        for j in range(n):
            rows += [u[j + 1] - np.exp(e) * u[j] - slack[2 * j]]
            rows += [u[j] - np.exp(e) * u[j + 1] - slack[2 * j + 1]]
        sums += [sum(comb(n - 1, j) * (slack[2 * j] + slack[2 * j + 1]) for j in range(n))]
    ways = comb(n, np.arange(n + 1)) @ u
    gain = sum(comb(n, j) * u[j] for j in range(v, n + 1))
    limits = np.append(np.zeros(len(rows)), profile(where, mu))
    found = linprog(-gain, np.array(rows + sums), limits, ways[None], [1.0])
    return -found.fun


def strengths(n, v, mu):
    """What the law of |Lambda| reaches, and what the best law of strengths does."""
    law, where = np.linspace(0, ENDS, 181), np.linspace(0, ENDS, 721)
    tails = binom.sf(v - 1, n, expit(law))
    middle = np.diff(ndtr(law / mu - mu / 2) - ndtr(-law / mu - mu / 2))

    def sticks(e):
        return -np.expm1(np.minimum(e[:, None] - law, 0)) * expit(law)

    rows = np.vstack([sticks(where), np.ones(law.size)])
    found = linprog(-tails, rows, np.append(profile(where, mu), 1.0))
    fine = np.linspace(0, ENDS, 40_001)
    weights = found.x / max(1, np.max(sticks(fine) @ found.x / profile(fine, mu)))
    rest = 1 - weights.sum()  # strength 0
    own = middle @ tails[:-1]
    return own, max(own, weights @ tails + rest * tails[0])


print("fair bits, mu 1: |Lambda|, the best law of strengths, all mechanisms")
for n, v in ((4, 3), (8, 6), (12, 9), (16, 12)):
    one, best = strengths(n, v, 1.0)
    most = all_mechanisms(n, v, 1.0)
    must(best <= most + 1e-7, f"no mechanism reaches that at n = {n}")
    print(f"  n {n}, v {v}: {one:.4f}   {best:.4f}   {most:.4f}")
print("share of very many, 95%: the success on one bit at delta / .05")
for epsilon in (3, 1):
    mu = brentq(lambda m, e=epsilon: profile(e, m) - 1e-5, 0.05, 5)
    found = minimize_scalar(
        lambda t, mu=mu: (profile(np.log(t), mu) / 0.05 + t) / (1 + t),
        bounds=(1, 40),
        method="bounded",
    )
    print(f"  epsilon {epsilon} at 1e-5, mu {mu:.4f}: {found.fun:.5f}")
