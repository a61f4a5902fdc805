"""Bayes security of whole databases of n records under epsilon-DP: the exact optimum."""

from fractions import Fraction
from itertools import pairwise, product
from math import exp

import numpy as np
from checking import must
from scipy.optimize import linprog


def closed(n, e):
    """e^(-n eps/2), n even; 2 e^(-(n-1) eps/2)/(1 + e^eps), n odd; e^(eps/2) may be irrational."""
    return e ** (-(n // 2)) if n % 2 == 0 else 2 * e ** (-((n - 1) // 2)) / (1 + e)


def chances(n: int, e: Fraction) -> list[Fraction]:
    """The chance of an event after j of n records are changed."""
    if n % 2 == 0:
        rise = [e ** (j - n // 2) / 2 for j in range(n // 2 + 1)]
        return rise + [1 - x for x in rise[-2::-1]]
    rise = [e ** (j - (n - 1) // 2) / (1 + e) for j in range((n + 1) // 2)]
    return rise + [1 - x for x in rise[::-1]]


for n, e in product(range(1, 8), (Fraction(2), Fraction(5))):
    f = chances(n, e)
    must(
        all(a <= e * b for g in (f, [1 - x for x in f]) for a, b in
            [*pairwise(g), *pairwise(g[::-1])]),
        "the mechanism that says an event with f(number of changed records) is epsilon-DP",
    )  # fmt: skip
    must(f[0] + 1 - f[-1] == closed(n, e), "and reaches the closed form")
print("n 1 to 7, e^eps 2 and 5: a mechanism reaches the closed form, in fractions")


def group_privacy(n, e):
    """Overlap by Dong, Roth and Su, Theorem 2.14: the trade-off function of e-DP, n times over."""

    def power(x):
        return min(e * x, 1 - (1 - x) / e)

    def overlap(x):
        first = x
        for _ in range(n):
            x = power(x)
        return first + 1 - x

    # Convex and piecewise linear: its corners are where some power is at the bend, 1/(1 + e).
    corners = [0.0]
    for back in range(n):
        x = 1 / (1 + e)
        for _ in range(back):
            x = x / e if x <= e / (1 + e) else 1 - (1 - x) * e
        corners.append(x)
    return min(map(overlap, corners))


print("eps 1, n: closed form, program over all mechanisms, Dong, Roth and Su's Theorem 2.14,")
print("  2/(1 + e^(n eps)), 002's Corollary 1 for two values and two equally likely databases")
for n in range(1, 8):
    rows, limits = [], []
    for i, j in [(k, k + 1) for k in range(n)] + [(k + 1, k) for k in range(n)]:
        row = np.zeros(n + 1)
        row[i], row[j] = 1, -exp(1)
        rows += [row, -row]  # of the event, and of its complement
        limits += [0, exp(1) - 1]
    aim = np.zeros(n + 1)
    aim[0], aim[-1] = 1, -1
    program = 1 + linprog(aim, A_ub=np.array(rows), b_ub=limits, bounds=(0, 1)).fun
    ours, theirs = closed(n, exp(1)), group_privacy(n, exp(1))
    must(abs(program - ours) < 1e-9, "the closed form is the optimum")
    must(abs(theirs - ours) < 1e-12, "the closed form is that of Theorem 2.14")
    naive, corollary = 2 / (1 + exp(n)), max(0, 2 - (2 * exp(1) / (1 + exp(1))) ** n)
    must(n == 1 or ours > max(naive, corollary), "above both others")
    print(f"  {n}: {ours:.6f}   {program:.6f}   {theirs:.6f}   {naive:.6f}   {corollary:.6f}")
