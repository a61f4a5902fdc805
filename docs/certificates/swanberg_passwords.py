"""001, sections 4.2, 5.1 and 5.3: a missing -1, and the numbers printed for passwords."""

from math import exp

import numpy as np
from checking import must

DELTA, ADVANTAGE, MANY = 1e-5, 0.05, 10**9


def likeliest(s: float) -> float:
    """The chance of the likeliest of 10^9 values under Zipf's law: a sum, then Euler-Maclaurin."""
    first = 10**6
    head = float(np.sum(np.arange(1, first, dtype=float)[::-1] ** -s))
    ends = (first**-s + MANY**-s) / 2
    integral = (first ** (1 - s) - MANY ** (1 - s)) / (s - 1)
    return 1 / (head + ends + integral + s * first ** (-s - 1) / 12)


def advantage(p: float, epsilon: float) -> float:
    """(posterior - prior) / (1 - prior) by Theorem 3.2 and delta."""
    return (1 / (1 + (1 / p - 1) * exp(-epsilon)) + DELTA - p) / (1 - p)


def protects(p: float) -> float:
    """The largest epsilon whose bound keeps the advantage at .05, by bisection."""
    low, high = 0.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if advantage(p, middle) <= ADVANTAGE else (low, middle)
    return low


print("prior           likeliest   advantage at eps 1   eps_protect")
for name, p in (
    ("uniform", 1 / MANY),
    ("Zipf, s = 1.1", likeliest(1.1)),
    ("Zipf, s = 1.2", likeliest(1.2)),
    ("names, fitted", 0.00545),
):
    print(f"{name:14} {p:10.3g}   {advantage(p, 1):18.6f}   {protects(p):11.6f}")
must(abs(protects(1 / MANY) - 17.8) < 0.05, "uniform: 17.8 as printed")
must(abs(protects(0.00545) - 2.37) < 0.005, "names: 2.37 as printed")
must(abs(advantage(likeliest(1.2), 1) - 0.24) < 0.005, "passwords: .24 with s = 1.2")
must(abs(protects(likeliest(1.2)) - 0.25) < 0.005, "passwords: .25 with s = 1.2")
must(abs(advantage(likeliest(1.1), 1) - 0.24) > 0.08, "not .24 with s = 1.1 as the text says")
must(abs(protects(likeliest(1.1)) - 0.25) > 0.14, "not .25 with s = 1.1 as the text says")
low, high = 0.1, 0.3
for _ in range(100):
    middle = (low + high) / 2
    low, high = (middle, high) if protects(middle) > 0.25 else (low, middle)
print(f"eps_protect = .25 needs a likeliest value of {low:.4f}")
p = 0.1
must(1 / (1 + 1 / p) < p < 1.0000001 / (1 - 1 + 1 / p), "e^eps/(e^eps + 1/p) is below the prior")
print(f"prior {p}, eps 0: as printed {1 / (1 + 1 / p):.4f}, with the -1 {1 / (1 / p):.4f}")
