"""003, proofs of C.2 and E.1, and 000, Appendix A: what a line prints, and what it is."""

from fractions import Fraction
from itertools import product
from math import ceil, exp, log
from random import Random

import numpy as np
from checking import must
from scipy.stats import binom

HALF = Fraction(1, 2)


def holds(j: int, s: int, z: int) -> bool:
    """R_j of the proof of C.2, for S_0 or S_1 and z_1 or z_2 (both 0 or 1)."""
    return (
        s == 0 and z == 0,
        (s == 0 and z == 0) or (s == 1 and z == 1),
        not (s == 1 and z == 0),
        s == 1 and z == 1,
        not (s == 0 and z == 1),
    )[j - 1]


def chances(j: int, p0: Fraction, p1: Fraction) -> tuple[Fraction, Fraction]:
    """q_j and q'_j: the attacker says z_1 if the event happens."""
    q = q_other = Fraction(0)
    for b, z in product((0, 1), repeat=2):
        p = (p0, p1)[b]
        weight = HALF * (p if z == 0 else 1 - p)
        q += weight * holds(j, b, z)
        q_other += weight * holds(j, 1 - b, z)
    return q, q_other


print("C.2, p0 = 3/4, p1 = 1/4: q_j, q'_j, q_j - q'_j (printed: 1/4 for all j, q'_4 = 3/8)")
for p0, p1 in product([Fraction(a, 8) for a in range(9)], repeat=2):
    for j in range(1, 6):
        q, other = chances(j, p0, p1)
        must(q - other == (p0 - p1) * (1 if j == 2 else HALF), "the difference, and its double")
for j in range(1, 6):
    q, other = chances(j, Fraction(3, 4), Fraction(1, 4))
    print(f"  j {j}: {q}, {other}, {q - other}")
q, other = chances(4, Fraction(3, 4), Fraction(1, 4))
must(other == (1 - Fraction(3, 4)) / 2 != (1 - Fraction(1, 4)) / 2, "q'_4 is (1 - p0)/2")


def law(random: Random, outputs: int) -> list[Fraction]:
    """A random law in fractions."""
    parts = [random.randint(0, 9) for _ in range(outputs)]
    return [Fraction(p + (sum(parts) == 0), sum(parts) or outputs) for p in parts]


def best_gain(p: list[Fraction], q: list[Fraction], types: tuple[int, ...]) -> Fraction:
    """delta(0) over all attackers: an attempt holds for S_0 only (1) or for S_1 only (2)."""
    return sum(
        max([Fraction(0)] + [(a - b) / 2 if t == 1 else (b - a) / 2 for t in types])
        for a, b in zip(p, q, strict=True)
    )


random, worst = Random(1), Fraction(0)
for _ in range(60):
    parts = [(law(random, 3), law(random, 3)) for _ in range(3)]
    whole = [[a * b * c for a, b, c in product(*(part[s] for part in parts))] for s in (0, 1)]
    for types in ((1,), (2,), (1, 2)):
        alone = sum(best_gain(p, q, types) for p, q in parts)
        together = best_gain(whole[0], whole[1], types)
        must(together <= alone, "the sum of the deltas suffices at epsilon 0")
        worst = max(worst, together / alone if alone else Fraction(0))
print(f"60 random triples: delta of all three over the sum, largest {float(worst):.4f} (printed 2)")

print("E.1, last line of the proof: delta~ printed, and from the line before")
for epsilon in (0.1, 1.0, 3.0):
    printed, line = exp(-epsilon) / 4, 1 / (2 * (1 + exp(epsilon)))
    must(line > printed, "the line before gives more, so the theorem holds")
    print(f"  eps {epsilon}: {printed:.4f} delta   {line:.4f} delta")

print("000, Appendix A, eps 1, delta .01, n 2,100, no cut: delta(1) of the count, at every rate")
n, e = 2100, exp(1)
k = np.arange(n + 1)


def gain(p: float) -> float:
    """The exact delta(1) without a cut: a mean over the count."""
    share = k / n
    best = np.maximum(0, np.maximum(share - e * p, 1 - share - e * (1 - p)))
    return float(binom.pmf(k, n, p) @ best)


step = 1 / 800
grid = max(gain(step * (i + 0.5)) for i in range(400))
limit = grid + (1 + e) * step / 2
must(limit < 0.01, "resilient with delta .01 at every rate of [0, 1/2] without a cut")
most, rate = max((gain(p), p) for p in np.geomspace(1e-6, 1e-2, 201))
print(f"  at most {limit:.4f} at every rate; the worst found is {most:.2e}, at {rate:.1e}")
gamma = (6 * e * 0.99 - 2) / (0.99 * e - 1)
tau = (gamma**2 + 2 * gamma) * log(4 / 0.01) / n
few = ceil(4 * (gamma**2 + 2 * gamma) * log(1 / 0.01))
enough = ceil(4 * (gamma**2 + 2 * gamma) * log(4 / 0.01))
must(tau <= 1 / 4 and few < enough <= n, "tau <= 1/4 needs ln(4/delta)")
print(f"  cut printed: tau {tau:.4f}; tau <= 1/4 from n = {enough:,} on, printed condition {few:,}")
