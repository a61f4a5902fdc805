"""What the certificates share: exact powers of e, a program over all mechanisms, how they fail."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def must(holds: bool, claim: str) -> None:
    """Exit with 1, and say which claim, if it does not hold."""
    if not holds:
        print(f"does not hold: {claim}", file=sys.stderr)
        raise SystemExit(1)


def power_of_e(x: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose e^x, 0 <= x <= 1, between two fractions: the series and its rest, 15 places."""
    term, below = Fraction(1), Fraction(0)
    for k in range(24):
        below += term
        term *= x / (k + 1)
    unit = 10**15
    return Fraction(below * unit // 1, unit), Fraction((below + 2 * term) * unit // 1 + 1, unit)


def hockey_stick(p, q, factor):
    """The most that an event's chance under p exceeds factor times that under q."""
    return sum(max(0, a - factor * b) for a, b in zip(p, q, strict=True))


def best_mechanism(priors, right, v, epsilon, delta):
    """The largest chance of v successes over all (epsilon, delta)-DP mechanisms and attackers.

    ``priors`` has one row a target, ``right[x][z]`` says whether the guess ``z`` is right about
    the value ``x``. One release for each joint guess suffices; ``P_x(z)`` is its chance given the
    data ``x``. Neighbours differ in one target, and the positive parts of ``P_x(z) - e^epsilon
    P_x'(z)`` sum to at most delta.
    """
    n, right = len(priors), np.asarray(right)
    values, guesses = right.shape
    data = list(product(range(values), repeat=n))
    tries = list(product(range(guesses), repeat=n))
    place = {x: i for i, x in enumerate(data)}
    size = len(tries)
    gain = np.zeros((len(data), size))
    for i, x in enumerate(data):
        weight = prod(priors[j][x[j]] for j in range(n))
        for k, z in enumerate(tries):
            gain[i, k] = weight * (sum(right[x[j], z[j]] for j in range(n)) >= v)
    pairs = [
        (place[x], place[(*x[:j], y, *x[j + 1 :])])
        for x in data
        for j in range(n)
        for y in range(values)
        if y != x[j]
    ]
    every = np.arange(size)
    first = np.concatenate([i * size + every for i, _ in pairs])
    second = np.concatenate([j * size + every for _, j in pairs])
    many, count = len(pairs) * size, len(data) * size
    rows = np.arange(many)
    entries = [(np.ones(many), first), (np.full(many, -np.exp(epsilon)), second)]
    slack = [(np.full(many, -1.0), count + rows)]
    a = sparse.csr_array(
        (
            np.concatenate([e for e, _ in entries + slack]),
            (np.tile(rows, 3), np.concatenate([c for _, c in entries + slack])),
        ),
        shape=(many, count + many),
    )
    spent = sparse.csr_array(
        (np.ones(many), (np.repeat(np.arange(len(pairs)), size), count + rows)),
        shape=(len(pairs), count + many),
    )
    one = sparse.csr_array(
        (np.ones(count), (np.repeat(np.arange(len(data)), size), np.arange(count))),
        shape=(len(data), count + many),
    )
    found = linprog(
        np.concatenate([-gain.ravel(), np.zeros(many)]),
        A_ub=sparse.vstack([a, spent]),
        b_ub=np.concatenate([np.zeros(many), np.full(len(pairs), delta)]),
        A_eq=one,
        b_eq=np.ones(len(data)),
    )
    return -found.fun


def tail_of_bernoullis(chances, v):
    """Pr[sum >= v] of independent Bernoullis, term by term."""
    law = [1]
    for p in chances:
        law = [
            (law[j] * (1 - p) if j < len(law) else 0) + (law[j - 1] * p if j else 0)
            for j in range(len(law) + 1)
        ]
    return sum(law[max(v, 0) :])


def optimum(prior, factor, delta=0):
    """The best success about one target: delta + (1 - delta) max_k factor S_k/(factor + k - 1)."""
    mass, best = 0, 0
    for k, p in enumerate(sorted(prior, reverse=True), 1):
        mass += p
        best = max(best, factor * mass / (factor + k - 1))
    return delta + (1 - delta) * best


def overlap(p, q):
    """The overlap of two laws: one minus their total variation distance."""
    return sum(min(a, b) for a, b in zip(p, q, strict=True))


def bayes_security(channel):
    """beta*: the least overlap of two rows."""
    return min(overlap(p, q) for p, q in combinations(channel, 2))
