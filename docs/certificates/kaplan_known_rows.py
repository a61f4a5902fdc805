"""004, Observation 4.2: the baseline of who knows all rows but one, in every population."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import comb, prod

from checking import must


def weight(people: tuple[tuple[int, ...], ...]) -> Fraction:
    """The chance of a population under Tardos's prior: a uniform rate for every column."""
    size = len(people)
    ones = [sum(column) for column in zip(*people, strict=True)]
    return prod(Fraction(1, (size + 1) * comb(size, c)) for c in ones)


def baseline(people: tuple[tuple[int, ...], ...], n: int) -> Fraction:
    """Pr[z in T], z the last row of S, T drawn afresh given the first n - 1 rows of S."""
    known: dict[tuple, Counter] = {}
    for chosen in permutations(people, n):
        known.setdefault(chosen[:-1], Counter())[chosen[-1]] += 1
    found = total = 0
    for rows, last in known.items():
        count = sum(last.values())
        total += count
        found += sum(
            Fraction(times * (count if z in rows else times), count) for z, times in last.items()
        )
    return Fraction(found, total)


print("N, n, d: baseline, exactly; 1/(N - n + 1); 1/N as printed; two rows equal (2/3)^d")
for size, n, d in ((2, 2, 2), (3, 2, 1), (3, 2, 3), (4, 2, 2), (4, 3, 2)):
    worlds = [(p, weight(p)) for p in product(list(product((0, 1), repeat=d)), repeat=size)]
    must(sum(w for _, w in worlds) == 1, "the weights are a law")
    mean = Fraction(0)
    for people, w in worlds:
        b = baseline(people, n)
        must(b >= Fraction(1, size - n + 1), "at least 1/(N - n + 1) in every population")
        mean += w * b
    print(
        f"  {size}, {n}, {d}: {float(mean):.6f}   {1 / (size - n + 1):.6f}   {1 / size:.6f}"
        f"   {(2 / 3) ** d:.6f}"
    )
equal = Fraction(2, 3) ** 400
must(Fraction(1, 20) + 2 * equal < Fraction(1, 19), "the printed bound is below the truth")
print(f"N 20, n 2, d 400: at least {1 / 19:.6f}; printed, with all collisions, {1 / 20:.6f}")
