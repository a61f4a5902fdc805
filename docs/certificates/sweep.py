"""Audits from scores: the sweep theorem against all mechanisms of two canaries."""

from __future__ import annotations

from itertools import permutations, product
from math import exp

import numpy as np
from checking import must
from scipy.optimize import linprog

DATA = list(product((0, 1), repeat=2))
RELEASES = list(product(permutations(range(2)), DATA))  # an order, and a guess for each canary
UPWARD = {
    "the first": {(1, 0), (1, 1)},
    "the second": {(0, 1), (1, 1)},
    "one of both": {(1, 0), (0, 1), (1, 1)},
    "both": {(1, 1)},
}


def right(release, x):
    """Which guesses are right, in the order of the release."""
    order, guess = release
    return tuple(int(x[i] == guess[i]) for i in order)


def most(event, epsilon, delta):
    """The largest chance of the event over all (epsilon, delta)-DP mechanisms, by a program."""
    size = len(RELEASES)
    near = [(a, b) for a in range(4) for b in range(4) if (a ^ b) in (1, 2)]  # one canary differs
    many, eye = 4 * size, np.eye(size)
    gain = np.zeros(many + len(near) * size)
    gain[:many] = [(right(z, x) in event) / 4 for x in DATA for z in RELEASES]
    rows, sums = np.zeros((len(near) * size, gain.size)), np.zeros((len(near), gain.size))
    for k, (a, b) in enumerate(near):
        here, own = slice(k * size, (k + 1) * size), many + k * size
        rows[here, a * size : (a + 1) * size] = eye
        rows[here, b * size : (b + 1) * size] = -exp(epsilon) * eye
        rows[here, own : own + size] = -eye
        sums[k, own : own + size] = 1
    one = np.hstack([np.kron(np.eye(4), np.ones(size)), np.zeros((4, gain.size - many))])
    limits = np.append(np.zeros(len(rows)), np.full(len(near), delta))
    return -linprog(-gain, np.vstack([rows, sums]), limits, one, np.ones(4)).fun


print("two canaries, epsilon, delta, right: theorem, all mechanisms")
for epsilon, delta in ((0.1, 0.05), (1.0, 0.01)):
    p = exp(epsilon) / (1 + exp(epsilon))
    for name, event in UPWARD.items():
        free = sum(p ** sum(s) * (1 - p) ** (2 - sum(s)) for s in event)
        bound, reached = free + 2 * delta / (1 + exp(epsilon)), most(event, epsilon, delta)
        must(reached <= bound + 1e-9, f"{name} at {epsilon}, {delta}")
        print(f"  {epsilon}, {delta}, {name}: {bound:.6f}   {reached:.6f}")
