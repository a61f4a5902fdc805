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

print("eps 1, n: closed form, program over all mechanisms, 002's 2/(1 + e^(n eps))")
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
    must(abs(program - closed(n, exp(1))) < 1e-9, "the closed form is the optimum")
    must(n == 1 or closed(n, exp(1)) > 2 / (1 + exp(n)), "above Corollary 1")
    print(f"  {n}: {closed(n, exp(1)):.6f}   {program:.6f}   {2 / (1 + exp(n)):.6f}")
