"""The best success about one target: closed form, program over all mechanisms, a mechanism."""

from fractions import Fraction
from math import exp

import numpy as np
from checking import best_mechanism, hockey_stick, must, optimum

F = Fraction


def reaching(prior: list[Fraction], e: Fraction, delta: Fraction) -> list[list[Fraction]]:
    """Tell the value with chance delta, else randomised response about the k likeliest values.

    A value that is not among them is answered like by chance; ``prior`` falls.
    """
    mass = [sum(prior[: k + 1]) for k in range(len(prior))]
    k = max(range(1, len(prior) + 1), key=lambda k: e * mass[k - 1] / (e + k - 1))
    rows = []
    for x in range(len(prior)):
        told = [F(x == z) for z in range(len(prior))]
        if x < k:
            answer = [(e if z == x else F(1)) / (e + k - 1) for z in range(k)]
        else:
            answer = [F(1, k)] * k
        answer += [F(0)] * (len(prior) - k)
        rows.append([delta * t + (1 - delta) * a for t, a in zip(told, answer, strict=True)])
    return rows


print("exact match, random priors: closed form against the program over all mechanisms")
rng, apart = np.random.default_rng(1), 0.0
for _ in range(40):
    prior = rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.8))
    epsilon, delta = float(rng.choice([0.1, 1.0, 3.0])), float(rng.choice([0.0, 0.01, 0.1]))
    program = best_mechanism([prior], np.eye(prior.size), 1, epsilon, delta)
    apart = max(apart, abs(program - optimum(prior, exp(epsilon), delta)))
must(apart < 1e-7, "the closed form is the optimum")
print("  40 priors of 2 to 5 values: largest difference below 1e-7")

prior, e, delta = [F(7, 20), F(6, 20), F(4, 20), F(3, 20)], F(3), F(1, 100)
rows = reaching(prior, e, delta)
must(all(sum(row) == 1 for row in rows), "a mechanism")
must(all(hockey_stick(p, q, e) <= delta for p in rows for q in rows), "(ln 3, .01)-DP")
success = sum(p * rows[x][x] for x, p in enumerate(prior))
must(success == optimum(prior, e, delta), "it reaches the closed form, in fractions")
print(f"  prior .35 .3 .2 .15, e^eps 3, delta .01: reached {success} = {float(success):.6f}")

print("prior, guarantee: optimum, odds times e^eps (Theorem 3.2, best guess)")
zipf = np.arange(1, 11) ** -1.1
for name, prior, epsilon, delta in (
    (".7 .2 .1", [0.7, 0.2, 0.1], 1, 0),
    (".7 .2 .1", [0.7, 0.2, 0.1], 3, 0),
    (".3 .25 .2 .15 .1", [0.3, 0.25, 0.2, 0.15, 0.1], 2, 0),
    ("Zipf(10), s = 1.1", zipf / zipf.sum(), 3, 1e-5),
):
    best, p = optimum(prior, exp(epsilon), delta), max(prior)
    odds = p * exp(epsilon) / (1 + p * (exp(epsilon) - 1)) + delta
    must(best < odds, "below the odds form")
    print(f"  {name:17} eps {epsilon}, delta {delta:g}: {best:.6f}   {odds:.6f}")
