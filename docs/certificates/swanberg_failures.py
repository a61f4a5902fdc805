"""001, Theorems 3.3 and 3.5, and 2 m delta of one-run auditing: explicit mechanisms exceed them.

Everything is in fractions: a mechanism for a factor below e^epsilon, what the theorem says for a
factor above it.
"""

from fractions import Fraction
from itertools import product
from math import comb

from checking import hockey_stick, must, power_of_e

DELTA = Fraction(1, 100)


def mechanism(n: int, v: int, factor: Fraction, delta: Fraction, values: int = 2) -> list[Fraction]:
    """The chance of a release that names j of n targets rightly, one release each, j = 0 to n."""
    ways = [(values - 1) ** (n - j) for j in range(n + 1)]
    slope, at = [Fraction(1)], [Fraction(0)]  # u_j = slope_j t + at_j
    for j in range(1, n + 1):
        slope.append(factor * slope[-1])
        at.append(factor * at[-1] + (delta / (comb(n - 1, v - 1) * ways[v]) if j == v else 0))
    t = (1 - sum(comb(n, j) * ways[j] * at[j] for j in range(n + 1))) / sum(
        comb(n, j) * ways[j] * slope[j] for j in range(n + 1)
    )
    return [slope[j] * t + at[j] for j in range(n + 1)]


def is_private(
    n: int, u: list[Fraction], factor: Fraction, delta: Fraction, values: int = 2
) -> bool:
    """Look at every data set, neighbour and event: a release for each guess of all targets."""
    data = list(product(range(values), repeat=n))
    rows = {x: [u[sum(a == b for a, b in zip(x, z, strict=True))] for z in data] for x in data}
    return all(min(row) >= 0 and sum(row) == 1 for row in rows.values()) and all(
        hockey_stick(rows[x], rows[(*x[:i], other, *x[i + 1 :])], factor) <= delta
        for x in data
        for i in range(n)
        for other in range(values)
        if other != x[i]
    )


def is_private_in_short(
    n: int, u: list[Fraction], factor: Fraction, delta: Fraction, values: int = 2
) -> bool:
    """The same, counted by the number of right guesses among the other targets: any n."""
    ways = [comb(n - 1, j) * (values - 1) ** (n - 1 - j) for j in range(n)]  # j others are right
    down = sum(ways[j - 1] * max(0, u[j] - factor * u[j - 1]) for j in range(1, n + 1))
    up = sum(ways[j] * max(0, u[j] - factor * u[j + 1]) for j in range(n))
    return min(u) >= 0 and down + up <= delta


def said(
    n: int, v: int, factor: Fraction, delta: Fraction, times: int = 1, values: int = 2
) -> Fraction:
    """The tail and alpha n delta, values alike: also the most that any F of Theorem 3.3 gives."""
    a, b = factor.as_integer_ratio()
    b *= values - 1
    mass = [Fraction(comb(n, j) * a**j * b ** (n - j), (a + b) ** n) for j in range(n + 1)]
    tails = [sum(mass[k:]) for k in range(n + 1)]
    alpha = max((tails[max(v - j, 0)] - tails[v]) / j for j in range(1, n + 1))
    return tails[v] + alpha * times * n * delta


low, high = power_of_e(Fraction(1, 10))
print("fair bits, epsilon .1, delta .01: at least v of n named")
for n, v in ((2, 1), (3, 1)):
    u = mechanism(n, v, low, DELTA)
    reached = sum(comb(n, j) * u[j] for j in range(v, n + 1))
    theorem, one_run = said(n, v, high, DELTA), said(n, v, high, DELTA, 2)
    must(is_private(n, u, low, DELTA), "the mechanism is private, by every event")
    must(is_private_in_short(n, u, low, DELTA), "and by the count")
    must(reached > theorem, "it exceeds Theorems 3.3 and 3.5")
    must((reached > one_run) == (n == 3), "and one-run auditing's 2 m delta at n = 3")
    print(f"  n {n}, v {v}: u = ({', '.join(f'{float(x):.6f}' for x in u)})")
    print(
        f"    reached {float(reached):.6f}   3.3, 3.5: {float(theorem):.6f}"
        f"   2 m delta: {float(one_run):.6f}"
    )

print("three equal values, a guess covers two, epsilon .1, delta .01, one target")
wrong = (1 - 2 * DELTA) / (1 + 2 * low)
rows = [[wrong if z == x else (1 - wrong) / 2 for z in range(3)] for x in range(3)]
for x, y in product(range(3), repeat=2):
    must(hockey_stick(rows[x], rows[y], low) <= DELTA, "the mechanism is private")
beta = high * Fraction(2, 3) / (1 + (high - 1) * Fraction(2, 3))
must(1 - wrong > beta + (1 - beta) * DELTA, "it exceeds Theorem 3.5 with one target")
print(f"  reached {float(1 - wrong):.6f}   3.3, 3.5: {float(beta + (1 - beta) * DELTA):.6f}")

print("two targets, one shared guess, epsilon 0, delta 0: both right")
first, second = {"a": Fraction(85, 100), "b": Fraction(15, 100)}, {"b": Fraction(1, 2)}
mean = {z: first.get(z, 0) + second.get(z, Fraction(1, 2) * (z == "c")) for z in "abc"}
best = max("abc", key=lambda z: mean[z])
both = {z: first.get(z, 0) * second.get(z, 0) for z in "abc"}
must(best == "a" and both["a"] == 0 and both["b"] > 0, "the best guess on average says nothing")
print(f"  guess a: mean {float(mean['a']):.2f}, both {float(both['a']):.3f}")
print(f"  guess b: mean {float(mean['b']):.2f}, both {float(both['b']):.3f}")

print("fair bits, n 100, epsilon 1, delta 1e-5: at least v of n named")
low, high = power_of_e(Fraction(1))
for v in (55, 65, 73, 80):
    u = mechanism(100, v, low, Fraction(1, 10**5))
    must(is_private_in_short(100, u, low, Fraction(1, 10**5)), "the mechanism is private")
    reached = sum(comb(100, j) * u[j] for j in range(v, 101))
    theorem = said(100, v, high, Fraction(1, 10**5))
    must((reached > theorem) == (v < 70), "it exceeds the theorem below the mean, 73.1, alone")
    print(f"  v {v}: reached {float(reached):.8f}   3.3, 3.5: {float(theorem):.8f}")

print("equally likely values, epsilon .1, delta 1e-5: at least v of n named, above the mean")
low, high = power_of_e(Fraction(1, 10))
small = Fraction(1, 10**5)
must(is_private(2, mechanism(2, 1, low, small, 3), low, small, 3), "private, by every event")
for values, n, v in ((3, 2, 1), (4, 100, 35), (10, 100, 17), (100, 100, 4)):
    u = mechanism(n, v, low, small, values)
    must(is_private_in_short(n, u, low, small, values), "the mechanism is private")
    reached = sum(comb(n, j) * (values - 1) ** (n - j) * u[j] for j in range(v, n + 1))
    theorem = said(n, v, high, small, values=values)
    mean = n * high / (high + values - 1)
    must(reached > theorem and v > mean, "it exceeds the theorem above the mean")
    must(n == 2 or reached < Fraction(1, 20), "and at the 95% level")
    print(
        f"  {values} values, n {n}, mean {float(mean):.2f}, v {v}: reached {float(reached):.8f}"
        f"   3.3, 3.5: {float(theorem):.8f}"
    )
