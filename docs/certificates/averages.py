"""004, Lemmas 3.5 and 4.8 for all attackers: every data set, and random side information."""

from itertools import product
from math import comb, prod

import numpy as np
from checking import must


def near(d, q, most):
    """Pr[Bin(d, q) <= most]."""
    return sum(comb(d, i) * q**i * (1 - q) ** (d - i) for i in range(most + 1))


def weight(rows):
    """The chance of n rows under uniform rates."""
    n = len(rows)
    ones = [sum(column) for column in zip(*rows, strict=True)]
    return prod(1 / ((n + 1) * comb(n, c)) for c in ones)


print("exact average, within k of d bits of the last row: best attacker, Pr[Bin(d, q_n) <= k]")
for n, d, k in ((2, 5, 0), (2, 5, 1), (3, 4, 0), (3, 4, 1), (4, 3, 0)):
    q = n / (4 * (n + 1)) if n % 2 == 0 else (n - 1) / (4 * n)
    every = list(product((0, 1), repeat=d))
    gains: dict[tuple, np.ndarray] = {}
    for rows in product(every, repeat=n):
        y = tuple(sum(column) for column in zip(*rows, strict=True))
        hit = [sum(a != b for a, b in zip(z, rows[-1], strict=True)) <= k for z in every]
        gains[y] = gains.get(y, 0) + weight(rows) * np.array(hit)
    best = sum(gain.max() for gain in gains.values())
    bound = near(d, q, k)
    must(best <= bound + 1e-12, "nobody comes nearer; any of n rows: at most n times as often")
    must(k > 0 or abs(best - bound) < 1e-12, "and for k = 0 it is reached")
    print(f"  n {n}, d {d}, k {k}: {best:.6f}   {bound:.6f}")

print("surprisal, two rows, noisy average by column: Pr[z = v, counted] for side information K")
d, outputs = 2, 3
every = list(product((0, 1), repeat=d))
rng = np.random.default_rng(5)


def columns(flip):
    """The law of one column's release given its count 0, 1, 2: near it, else any."""
    return [[1 - flip if y == c else flip / 2 for y in range(outputs)] for c in range(3)]


def bound(law, xi):
    """G^d: the mean over m = 0, 1 of sum_y max(a^xi f_(m+1), (1-a)^xi f_m), a = (m+1)/3."""
    total = 0.0
    for m in (0, 1):
        a = (m + 1) / 3
        total += sum(max(a**xi * law[m + 1][y], (1 - a) ** xi * law[m][y]) for y in range(outputs))
    return (total / 2) ** d


worst, cases = 0.0, 0
for flip, xi, knows in product((0.1, 0.5), (0.5, 1.0), ("nothing", "row", "random")):
    law = columns(flip)
    for _ in range(4 if knows == "random" else 1):
        told = {}
        for other, v in product(every, repeat=2):  # Pr[K | S]
            told[other, v] = {
                "nothing": lambda: np.ones(1),
                "row": lambda: np.eye(4)[every.index(other)],
                "random": lambda: rng.dirichlet(np.full(3, 0.3)),
            }[knows]()
        many = len(told[every[0], every[0]])
        success = 0.0
        for kind in range(many):
            gain = np.zeros((outputs**d, len(every)))
            for other in every:
                joint = [weight((other, v)) * told[other, v][kind] for v in every]
                alone = [weight((other, v)) for v in every]
                if sum(joint) == 0:
                    continue
                for i, v in enumerate(every):
                    if joint[i] / sum(joint) > (alone[i] / sum(alone)) ** xi + 1e-12:
                        continue  # the row is not counted: it is no surprise any more
                    counts = [a + b for a, b in zip(other, v, strict=True)]
                    release = [prod(law[c][y] for c, y in zip(counts, ys, strict=True))
                               for ys in product(range(outputs), repeat=d)]  # fmt: skip
                    gain[:, i] += joint[i] * np.array(release)
            success += gain.max(axis=1).sum()
        must(success <= bound(law, xi) + 1e-12, "no side information exceeds G^d")
        worst, cases = max(worst, success / bound(law, xi)), cases + 1
print(f"  {cases} cases: largest share of G^d {worst:.4f}")
must(worst > 0.5, "and it is not idle")
