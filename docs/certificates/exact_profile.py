"""The resilience profile: the formula is the best of all attackers, every one enumerated."""

from fractions import Fraction
from itertools import product

from checking import must

F = Fraction


def profile(s, b, chance, e):
    """delta(eps) = sum_y max(0, max_z [s(y, z) - e^eps P(y) b(z)])."""
    return sum(
        max([F(0)] + [s[y][z] - e * chance[y] * b[z] for z in range(len(b))])
        for y in range(len(chance))
    )


def best_attacker(s, b, chance, e):
    """The same by trying every attacker: an attempt or none for each release."""
    return max(
        sum(s[y][z] - e * chance[y] * b[z] for y, z in enumerate(plan) if z is not None)
        for plan in product([None, *range(len(b))], repeat=len(chance))
    )


def world(data, chance_of, release, attempts, right):
    """s, b and P from a world that is written out; ``release`` gives a law over releases."""
    rows = {x: release(x) for x in data}
    many = len(next(iter(rows.values())))
    chance = [sum(chance_of(x) * rows[x][y] for x in data) for y in range(many)]
    b = [sum(chance_of(x) for x in data if right(x, z)) for z in attempts]
    s = [
        [sum(chance_of(x) * rows[x][y] for x in data if right(x, z)) for z in attempts]
        for y in range(many)
    ]
    return s, b, chance


def of_bits(rate):
    """The chance of a data set of independent bits."""
    return lambda x: rate ** sum(x) * (1 - rate) ** (len(x) - sum(x))


bits = list(product((0, 1), repeat=3))
named = list(product(range(3), (0, 1)))  # "record i is c"
noisy = [F(1, 4), F(1, 2), F(1, 4)]


def count(x):
    """The exact count."""
    return [F(sum(x) == y) for y in range(4)]


def noisy_count(x):
    """The count with noise -1, 0, 1, cut to 0 .. 3."""
    law = [F(0)] * 4
    for shift, p in zip((-1, 0, 1), noisy, strict=True):
        law[min(3, max(0, sum(x) + shift))] += p
    return law


for name, release, rate in (
    ("exact count, rate 1/3", count, F(1, 3)),
    ("noisy count, rate 1/3", noisy_count, F(1, 3)),
    ("exact count, rate 1/20", count, F(1, 20)),
):
    s, b, chance = world(bits, of_bits(rate), release, named, lambda x, z: x[z[0]] == z[1])
    for e in (F(1), F(2)):
        ours = profile(s, b, chance, e)
        must(ours == best_attacker(s, b, chance, e), "it is the best of all 2,401 attackers")
        print(f"three bits, {name}, e^eps {e}: delta = {ours} = {float(ours):.6f}")

for length in (1, 2, 3):
    pairs = list(product(range(2**length), repeat=2))
    even = F(1, len(pairs))
    half = world(
        pairs, lambda x: even, lambda x: [F(x[0] ^ x[1] == y) for y in range(2**length)],
        range(2**length), lambda x, z: x[0] == z,
    )  # fmt: skip
    whole = world(
        pairs, lambda x: even,
        lambda x: [F((x[0] ^ x[1], x[1]) == y) for y in product(range(2**length), repeat=2)],
        range(2**length), lambda x, z: x[0] == z,
    )  # fmt: skip
    must(profile(*half, F(1)) == 0, "a half says nothing")
    must(profile(*whole, F(1)) == 1 - F(1, 2**length), "both halves say all")
print("003, Example C.1, xor of 1, 2, 3 bits: a half delta(0) = 0, both 1/2, 3/4, 7/8")
