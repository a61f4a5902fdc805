"""The swap bound: exact for equal priors, next to the published one-run bound."""

import numpy as np
from checking import best_mechanism, must
from scipy.stats import binom


def swap(n, r, p, kappa, factor, delta, v):
    """B + c (n delta/v) B (1 - B)/b: n targets, r guesses."""
    beta = factor * p / (1 + p * (factor - 1))
    tail, mass = binom.sf(v - 1, r, beta), binom.pmf(v, r, beta)
    c = (1 - kappa) / (1 - p)
    if c * n * delta / v * tail / mass > 1:
        return 1.0
    return tail + c * n * delta / v * tail * (1 - tail) / mass


two, three, cover = np.eye(2), np.eye(3), 1 - np.eye(3)
print("n, values, eps, delta, v: swap bound, all mechanisms")
for n, name, right, epsilon, delta, v in (
    (2, "2", two, 0.1, 0.01, 1),
    (3, "2", two, 0.1, 0.01, 2),
    (3, "2", two, 1.0, 0.001, 2),
    (2, "3", three, 1.0, 0.01, 2),
    (2, "2 of 3", cover, 0.1, 0.01, 1),
    (2, "2 of 3", cover, 2.0, 0.001, 2),
):
    k = right.shape[0]
    p, kappa = right[:, 0].sum() / k, 1 / k
    ours = swap(n, n, p, kappa, np.exp(epsilon), delta, v)
    program = best_mechanism([[1 / k] * k] * n, right, v, epsilon, delta)
    must(abs(ours - program) < 1e-7, "the bound is the optimum")
    print(f"  {n}, {name:6}, {epsilon:g}, {delta:g}, {v}: {ours:.6f}   {program:.6f}")


def one_run(m, r, v, factor, delta):
    """The published p-value: the tail and 2 m delta max_i Pr[v - i <= Bin < v]/i."""
    q = factor / (1 + factor)
    tail = binom.sf(v - 1, r, q)
    steps = [(binom.sf(v - i - 1, r, q) - tail) / i for i in range(1, v + 1)]
    return min(1.0, tail + 2 * m * delta * max(steps))


print("one-run audits (canaries, guesses, right, delta, eps): published p-value, swap bound")
for m, r, v, delta, epsilon in ((1000, 100, 75, 1e-4, 0.673), (1000, 1000, 780, 1e-5, 1.0)):
    factor = np.exp(epsilon)
    published, ours = one_run(m, r, v, factor, delta), swap(m, r, 0.5, 0.5, factor, delta, v)
    must(ours < published, "sharper above the mean")
    print(f"  {m}, {r}, {v}, {delta:g}, {epsilon:g}: {published:.5f}   {ours:.5f}")
