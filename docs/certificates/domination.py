"""The domination theorem: against all mechanisms, and reached under pure DP."""

from math import exp

import numpy as np
from checking import best_mechanism, must, optimum, tail_of_bernoullis


def flows_exist(prior, mu, sets, factor):
    """With all flows open (4.4 at one point): D(S) - mu(S) <= mu(not S) / factor."""
    return all(
        sum(prior[x] - mu[x] for x in s) <= (sum(mu) - sum(mu[x] for x in s)) / factor + 1e-12
        for s in sets
    )


def multipliers(prior, factor):
    """Exact match: mu_x = max(0, (D(x) - o/factor)/(1 - 1/factor))."""
    o = optimum(prior, factor)
    return [max(0.0, (p - o / factor) / (1 - 1 / factor)) for p in prior], o


rng = np.random.default_rng(2)
above, reached = -1.0, 0
for case in range(36):
    n = 1 + case % 3
    values = 2 if n == 3 else int(rng.integers(2, 4))
    priors = rng.dirichlet(np.full(values, 0.8), n)
    v, epsilon = int(rng.integers(1, n + 1)), float(rng.choice([0.1, 1.0, 3.0]))
    delta = float(rng.choice([0.0, 0.01, 0.1])) if case % 2 else 0.0
    factor, chances = exp(epsilon), []
    for prior in priors:
        mu, o = multipliers(prior, factor)
        must(abs(sum(mu) - o) < 1e-12, "mu sums to o")
        must(flows_exist(prior, mu, [[x] for x in range(values)], factor), "feasible")
        chances.append(o)
    bound = tail_of_bernoullis(chances, v) + delta * sum(1 - o for o in chances)
    program = best_mechanism(priors, np.eye(values), v, epsilon, delta)
    above = max(above, program - bound)
    if delta == 0:
        must(abs(program - bound) < 1e-6, "under pure DP it is the optimum")
        reached += 1
must(above < 1e-7, "no mechanism exceeds it")
print(f"36 random worlds, 1 to 3 targets: no mechanism exceeds it, {reached} (pure DP) reach it")

print("targets, prior, eps, v: domination, Theorem 3.2 with the best guess")
for prior, n, v in (((0.7, 0.3), 12, 9), ((0.7, 0.3), 12, 12), ((0.9, 0.1), 12, 11)):
    e = exp(1)
    o, p = optimum(prior, e), prior[0]
    ours = tail_of_bernoullis([o] * n, v)
    odds = tail_of_bernoullis([e * p / (1 + p * (e - 1))] * n, v)
    must(ours < odds, "below the odds form")
    print(f"  {n}, {prior[0]} {prior[1]}, 1, {v:2}: {ours:.6f}   {odds:.6f}")
