"""002: Appendix H, Figure 3, Proposition 1, Fact 1, section V-B, equation 21, in fractions."""

from fractions import Fraction
from itertools import combinations, product
from math import exp

from checking import bayes_security, must, overlap

F = Fraction
E = F(3)  # e^epsilon


def randomised_response(n: int, e):
    """The channel of equation 7: the secret with e/(e + n - 1), each other with 1/(e + n - 1)."""
    one = 1 / (e + n - 1)
    return [[e * one if s == o else one for o in range(n)] for s in range(n)]


print("Appendix H, randomised response: printed; n = 2,458,285 records; n = 400 values")
for epsilon, printed in ((3.3, 0.99999), (4.8, 0.99995)):
    e = exp(epsilon)
    rows = randomised_response(400, e)[:2]  # all pairs are alike
    values, records = overlap(*rows), 2_458_285 / (e + 2_458_284)
    must(abs(records - printed) < 6e-6 and printed - values > 0.06, "records taken for values")
    print(f"  eps {epsilon}: {printed:.5f}   {records:.5f}   {values:.5f}")
must(bayes_security(randomised_response(5, E)) == 5 / (E + 4), "equation 7 itself")

print("Figure 3 at e^eps = 3, bound 2/(1 + e^eps) = 1/2")
for n, m, k in ((3, 4, 2), (5, 7, 3)):
    a, b = E / (k * (1 + E)), 1 / ((m - k) * (1 + E))
    first = [[a] * k + [b] * (m - k), [b] * k + [a] * (m - k)] + [[F(1, m)] * m] * (n - 2)
    sums = [sum(row) for row in first]
    must((sums[1] == 1) == (m == 2 * k), "its second row sums to one only where m = 2k")
    said = f"beta* {bayes_security(first)}" if m == 2 * k else "no channel"
    print(f"  first, m {m}, k {k}: second row sums to {sums[1]}: {said}")
d, e = E / (1 + E), 1 / (1 + E)
second = [[d, e, F(0)], [e, d, F(0)], [F(1), F(0), F(0)]]
must(bayes_security(second) == 1 / (1 + E), "half of what is said")
must(second[0][1] > 0 == second[2][1], "no epsilon-LDP: an output that one secret never gives")
print(f"  second, n 3: beta* {bayes_security(second)}, and not epsilon-LDP for any epsilon")
mended = [second[0], second[1], [F(1, 2), F(1, 2), F(0)]]
must(bayes_security(mended) == 2 / (1 + E), "other rows halved: reached")
must(
    all(p[o] <= E * q[o] for p, q in product(mended, repeat=2) for o in range(3)),
    "and epsilon-LDP",
)
print(f"  second, other rows (1/2, 1/2, 0): beta* {bayes_security(mended)}, epsilon-LDP")


def in_parallel(p, q):
    """Both outputs of two uses."""
    return [a * b for a, b in product(p, q)]


print("Proposition 1: pairs that reach beta*, alone and twice")
T = F(1, 10)
printed = [[9 * T, T, 0], [8 * T, 2 * T, 0], [5 * T, 5 * T, 0], [5 * T, T, 4 * T]]
H = F(1, 100)
ours = [[90 * H, 10 * H, 0], [50 * H, 50 * H, 0], [51 * H, 12 * H, 37 * H]]
for name, rows in (("printed", printed), ("ours", ours)):
    twice = [in_parallel(row, row) for row in rows]
    for how, channel in (("alone", rows), ("twice", twice)):
        least = bayes_security(channel)
        ties = [
            f"({i + 1},{j + 1})"
            for i, j in combinations(range(len(rows)), 2)
            if overlap(channel[i], channel[j]) == least
        ]
        print(f"  {name}, {how}: {float(least):.4f} at {', '.join(ties)}")
        must(
            name == "printed" or ties == [{"alone": "(1,2)", "twice": "(2,3)"}[how]],
            "the only pair moves",
        )
must(bayes_security([in_parallel(r, r) for r in printed]) == F(9, 25), "9/25")

fact = [[F(0), F(0), F(1)], [F(1, 2), F(1, 2), F(0)], [F(2, 5), F(3, 5), F(0)]]
second_largest = [sorted(column)[-2] for column in zip(*fact, strict=True)]
leads = [max(range(3), key=lambda i: column[i]) for column in zip(*fact, strict=True)]
q_1 = sum(second_largest[o] for o in range(3) if leads[o] == 0)
must(q_1 == 0 < fact[2][0], "Fact 1 fails as it is numbered")
sums = [sum(x for x, lead in zip(fact[2], leads, strict=True) if lead == i) for i in (0, 1)]
seconds = [
    sum(x for x, lead in zip(second_largest, leads, strict=True) if lead == i) for i in (0, 1)
]
must(all(a >= b for a, b in zip(seconds, sums, strict=True)), "it holds by the columns of a row")
print(f"Fact 1 on [[0,0,1],[.5,.5,0],[.4,.6,0]]: q_1 = {q_1}, r_1 = {fact[2][0]}")


def beta(prior, channel):
    """The Bayes risk over the guessing error."""
    risk = 1 - sum(
        max(p * row[o] for p, row in zip(prior, channel, strict=True))
        for o in range(len(channel[0]))
    )
    return risk / (1 - max(prior))


tells = [[1, 0], [0, 1], [F(1, 2), F(1, 2)]]
found = beta([F(1, 2), F(1, 2), 0], tells)
must(found == 0, "beta is 0 though every output fits two secrets")
print(f"V-B on [[1,0],[0,1],[.5,.5]], prior (.5, .5, 0): beta = {found}")
near = [beta([1 - F(1, 10**k), F(1, 10**k)], [[1, 0], [0, 1]]) for k in (1, 3, 9)]
must(near == [0, 0, 0], "footnote 3: the limit is 0 for the identity, not 1")
print("footnote 3, identity, prior (1 - t, t), t = .1, .001, 1e-9: beta = 0, 0, 0")
print(f"equation 21 at e^eps = 3: printed 1/(e^eps - 1) = {1 / (E - 1)}, risk {1 / (E + 1)}")
must(min(d, e) == 1 / (E + 1), "the risk of two secrets alike")
