"""003, Examples D.4 to D.6 and footnote 8: how many bits agreeing needs, counted exactly."""

from fractions import Fraction
from math import log, log2

import numpy as np
from checking import must


def below(d: int, most: int) -> int:
    """How many strings of d bits have at most that many ones."""
    term = total = 1
    for i in range(most):
        term = term * (d - i) // (i + 1)
        total += term
    return total


def greedy_words(d: int, radius: int) -> int:
    """Cover all strings of d bits: always the ball with most that is not covered, the first one."""
    every = np.arange(1 << d, dtype=np.uint32)
    near = np.bitwise_count(every[:, None] ^ every[None]) <= radius
    left, words = np.ones(1 << d, dtype=bool), 0
    while left.any():
        left &= ~near[int((near @ left.astype(np.float32)).argmax())]
        words += 1
    return words


print("greedy covering codes, radius d/4, all strings covered: words, at least, at most")
for d in (4, 8):
    volume, words = below(d, d // 4), greedy_words(d, d // 4)
    least, most = 2**d / volume, 2**d / volume * (1 + log(volume))
    must(least <= words <= most, "a greedy code has between 2^d/V and (1 + ln V) 2^d/V words")
    print(f"  d {d}: {words:2}   {least:5.2f}   {most:5.2f}")

print("bits to agree in three quarters: printed d/2, a covering code, at least (999 of 1,000)")
for d in (100, 1_000, 10_000):
    volume = below(d, d // 4)
    bits = d - log2(volume)
    code = bits + log2(1 + log(volume))
    must(code < d / 2, "fewer than d/2")
    tuples = log2(1500 * d)  # m = d strings an attempt
    print(f"  d {d:6,}: {d // 2:5,}   {code:7,.1f}   {bits - tuples:7,.1f}")
rate = 1 + log2(1 / 4) / 4 + 0.75 * log2(0.75)
must(abs((10_000 - log2(below(10_000, 2_500))) / 10_000 - rate) < 1e-3, "grows by 1 - H(1/4)")
print(f"1 - H(1/4) = {rate:.4f}")

print("D.4, two random strings, one agrees in half of the bits or more: printed .75")
for d in (2, 3, 100, 101):
    one = Fraction(below(d, d // 2), 2**d)
    both = 1 - (1 - one) ** 2
    must((both == Fraction(3, 4)) == (d % 2 == 1), "3/4 exactly for odd d, more for even")
    print(f"  d {d:3}: {float(both):.4f}")

print("footnote 8, alpha .1, d 10: the chance of a distance of 1/2 - alpha = .4 at most")
length = 10**4
known = length // 10 + int(100 * log2(10))
chance = Fraction(below(length - known, length * 4 // 10), 2 ** (length - known))
must(chance < Fraction(1, 10**12), "it hardly ever comes so near")
print(f"  {known:,} of {length:,} bits known: chance {float(chance):.1e}")
print(f"  mean distance {(length - known) / 2 / length:.4f}; 1/2 - alpha/2 = .45")
