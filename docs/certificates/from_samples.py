"""Limits from samples: how often they miss, every sample enumerated."""

from itertools import product
from math import factorial, prod

import numpy as np
from checking import must
from scipy.stats import beta, binom

ALPHA = 0.05


def low(k, n, alpha=ALPHA):
    """Clopper-Pearson's lower limit."""
    return 0.0 if k == 0 else beta.ppf(alpha, k, n - k + 1)


def tables(cells, total):
    """All ways to put so many samples into cells."""
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in tables(cells - 1, total - first):
            yield (first, *rest)


def chance(table, p):
    """The chance of a table of counts."""
    ways = factorial(sum(table)) // prod(factorial(c) for c in table)
    return ways * prod(q**c for q, c in zip(p, table, strict=True))


print("lower limit of the Bayes risk, labels drawn: CP_low(resubstitution errors), N = 16")
limits, worst = [low(k, 16) for k in range(17)], 0.0
for a, b, prior in product((0.02, 0.2, 0.4), (0.02, 0.3), (0.5, 0.2)):
    cells = np.array([prior * (1 - a), prior * a, (1 - prior) * b, (1 - prior) * (1 - b)])
    risk = 1 - max(cells[0], cells[2]) - max(cells[1], cells[3])
    missed = sum(
        chance(t, cells)
        for t in tables(4, 16)
        if limits[16 - max(t[0], t[2]) - max(t[1], t[3])] > risk + 1e-12
    )
    worst = max(worst, missed)
must(worst <= ALPHA, "it misses at most alpha")
print(f"  12 channels and priors, all samples: misses at most {worst:.4f} (allowed .05)")

print("the same with 1 and 5 samples of the secrets, C = [[.949, .051], [0, 1]]")
missed = missed_mended = 0.0
risk = 0.051 / 6  # the data's own prior, 1/6 and 5/6
for x in range(2):
    errors = 6 - max(1 - x, 0) - max(x, 5)
    p = binom.pmf(x, 1, 0.051)
    missed += p * (low(errors, 6) > risk)
    missed_mended += p * ((ALPHA / 6 if errors == 1 else low(errors, 6)) > risk)
must(missed > ALPHA >= missed_mended, "plain Clopper-Pearson fails, alpha/N at one error holds")
print(f"  plain Clopper-Pearson misses {missed:.4f}, with alpha/N at one error {missed_mended:.4f}")

print("lower limit of beta* from the errors k of the best event: 2 CP_low(k, 2m)")


def joint(k, m, alpha=ALPHA):
    """2 CP_low(k, 2m) for two errors or more, alpha/m at one, 0 at none."""
    return 0.0 if k == 0 else alpha / m if k == 1 else 2 * low(k, 2 * m, alpha)


m, worst = 12, 0.0
limits = [joint(k, m) for k in range(2 * m + 1)]
channels = [(0.25, 0.75), (0.1, 0.6), (0.5, 0.5), (0.02, 0.9), (0.3, 0.8, 0.5), (0.0, 0.1, 0.5)]
for rows in channels:
    truth = min(1 - abs(a - b) for a in rows for b in rows)
    missed = 0.0
    for counts in product(range(m + 1), repeat=len(rows)):
        overlap = min(
            min(x, y) + min(m - x, m - y) for i, x in enumerate(counts) for y in counts[:i]
        )
        p = prod(binom.pmf(c, m, q) for c, q in zip(counts, rows, strict=True))
        missed += p * (limits[overlap] > truth + 1e-12)
    worst = max(worst, missed)
must(worst <= ALPHA, "it misses at most alpha")
print(f"  6 channels of 2 and 3 secrets, 12 samples each: misses at most {worst:.4f} (allowed .05)")
print("  k = 3, 6, 12 of 2 x 50 samples: this limit; with a union over 45 pairs of 10 secrets")
for k in (3, 6, 12):
    must(joint(k, 50) > 2 * low(k, 100, ALPHA / 90), "the union is lower")
    print(f"  {k:2}: {joint(k, 50):.4f}   {2 * low(k, 100, ALPHA / 90):.4f}")

print("the smallest of estimates at several training sizes is no limit: symmetric channel, .25")
rng, below = np.random.default_rng(4), 0
for _ in range(400):
    secret = rng.integers(0, 2, 400)
    output = secret ^ (rng.random(400) < 0.25)
    seen = np.zeros((2, 2))
    smallest, tests = 1.0, slice(200, 400)
    for t in range(200):
        seen[output[t], secret[t]] += 1
        if t >= 9:
            guess = seen.argmax(axis=1)[output[tests]]
            smallest = min(smallest, float((guess != secret[tests]).mean()))
    below += smallest < 0.25
must(below > 100, "the smallest is below the true risk far more often than a limit may be")
print(f"  below the true risk in {below / 400:.2f} of 400 runs of 200 + 200 samples")
