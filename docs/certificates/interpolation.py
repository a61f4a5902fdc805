"""The count bound by interpolation: its lemma in fractions, all mechanisms, and counts."""

from fractions import Fraction
from functools import cache
from math import exp

import numpy as np
from checking import best_mechanism, must, optimum
from scipy.stats import binom


@cache
def visits(down: int, up: int, at: int) -> Fraction:
    """The mean number of visits to level 0 from level ``at`` on, steps left in random order."""
    here, left = Fraction(at == 0), down + up
    if not left:
        return here
    ahead = Fraction(0)
    if down:
        ahead += Fraction(down, left) * visits(down - 1, up, at - 1)
    if up:
        ahead += Fraction(up, left) * visits(down, up - 1, at + 1)
    return here + ahead


tight = 0
for k in range(11):
    for l in range(11):  # noqa: E741
        share = visits(k, l, 0) / (k + l + 1)
        must(share <= Fraction(1, 1 + abs(k - l)), "the share of time at the level")
        tight += share == Fraction(1, 1 + abs(k - l))
print(f"share of time at the level <= 1/(1 + |k - l|): 121 pairs of steps, equal in {tight}")


def law(chances):
    """The law of a sum of Bernoullis."""
    found = np.ones(1)
    for p in chances:
        found = np.convolve(found, [1 - p, p])
    return found


def bound(chances, costs, v):
    """tail + sum_i c_i E[1 / (1 + |R_-i - (v - 1)|)]."""
    near = 1 / (1 + np.abs(np.arange(len(chances)) - (v - 1)))
    apart = sorted(set(zip(chances, costs, strict=True)))  # targets that are alike count together
    extra = 0.0
    for o, cost in apart:
        others = list(chances)
        others.remove(o)
        many = list(zip(chances, costs, strict=True)).count((o, cost))
        extra += many * cost * float(law(others) @ near)
    return law(chances)[v:].sum() + extra


rng, above = np.random.default_rng(3), -1.0
for case in range(14):
    n = 2 + case % 2
    values = 2 if n == 3 else int(rng.integers(2, 4))
    priors = rng.dirichlet(np.full(values, 0.8), n)
    v, epsilon = int(rng.integers(1, n + 1)), float(rng.choice([0.1, 1.0, 2.0]))
    delta = float(rng.choice([0.001, 0.01, 0.1]))
    chances = [optimum(prior, exp(epsilon)) for prior in priors]
    costs = [delta * (1 - o) for o in chances]
    program = best_mechanism(priors, np.eye(values), v, epsilon, delta)
    above = max(above, program - bound(chances, costs, v))
must(above < 1e-7, "no mechanism exceeds it")
print("14 random worlds, 2 and 3 targets, delta .001 to .1: no mechanism exceeds it")

print("two targets, prior .7 .3, eps 1, delta .01: bound, all mechanisms")
o = optimum([0.7, 0.3], exp(1))
for v in (1, 2):
    ours = bound([o] * 2, [0.01 * (1 - o)] * 2, v)
    program = best_mechanism([[0.7, 0.3]] * 2, np.eye(2), v, 1.0, 0.01)
    must(abs(ours - program) < 1e-7, "here it is the optimum")
    print(f"  v {v}: {ours:.6f}   {program:.6f}")

print("100 targets, prior .7 .3: at most so many with 95% confidence")
print("  eps, delta: reached by a mechanism, interpolation, domination, Corollary 3.4")
for epsilon, delta in ((1.0, 1e-5), (1.0, 1e-3), (3.0, 1e-3)):
    e = exp(epsilon)
    o = optimum([0.7, 0.3], e)
    cost = delta * (1 - o)
    beta = 0.7 * e / (1 + 0.7 * (e - 1))
    tails = {
        "reached": lambda v: delta + (1 - delta) * binom.sf(v - 1, 100, o),
        "interpolation": lambda v: bound([o] * 100, [cost] * 100, v),
        "domination": lambda v: binom.sf(v - 1, 100, o) + 100 * cost,
        "3.4": lambda v: binom.sf(v - 1, 100, beta) + 100 * delta,
    }
    at_most = [next((v - 1 for v in range(1, 101) if t(v) <= 0.05), 100) for t in tails.values()]
    must(at_most == sorted(at_most), "each form is below the next")
    print(f"  {epsilon:g}, {delta:g}: {', '.join(map(str, at_most))}")
