"""Bayes security under (epsilon, delta): the tight bound, all mechanisms, a mechanism."""

from fractions import Fraction
from math import erf, erfc, exp, sqrt

import numpy as np
from checking import bayes_security, best_mechanism, hockey_stick, must

F = Fraction

print("secrets, e^eps, delta: 2(1 - delta)/(1 + e^eps), reached in fractions")
for n, e, delta in ((2, F(3), F(1, 100)), (5, F(2), F(1, 10)), (3, F(10), F(0))):
    rows = [[F(0)] * (n + 2) for _ in range(n)]
    for s in range(n):  # tell the secret with chance delta, else one of two outputs
        rows[s][2 + s] = delta
        high = e if s == 0 else F(1) if s == 1 else (e + 1) / 2
        rows[s][0], rows[s][1] = (1 - delta) * high / (e + 1), (1 - delta) * (1 - high / (e + 1))
    must(all(sum(row) == 1 for row in rows), "a channel")
    must(all(hockey_stick(p, q, e) <= delta for p in rows for q in rows), "(epsilon, delta)-LDP")
    bound = 2 * (1 - delta) / (1 + e)
    must(bayes_security(rows) == bound, "it reaches the bound")
    print(f"  {n}, {e}, {delta}: {bound} = {float(bound):.6f}")

print("two secrets: the least beta* of all (epsilon, delta)-LDP channels, by program")
for epsilon, delta in ((0.1, 0.01), (1.0, 0.05), (3.0, 0.001)):
    success = best_mechanism([[0.5, 0.5]], np.eye(2), 1, epsilon, delta)
    program, bound = 2 * (1 - success), 2 * (1 - delta) / (1 + exp(epsilon))
    must(abs(program - bound) < 1e-7, "the bound is the optimum")
    print(f"  eps {epsilon:g}, delta {delta:g}: {bound:.6f}   {program:.6f}")

print("Gaussian DP: beta* >= 1 - (Phi(mu/2) - Phi(-mu/2)) = erfc(mu / sqrt 8), reached by the pair")
for mu in (0.5, 1.0, 2.0):
    must(abs(1 - erf(mu / 2 / sqrt(2)) - erfc(mu / sqrt(8))) < 1e-15, "the same")
    grid = np.linspace(-12, 12 + mu, 400_001)
    low = np.exp(-np.maximum(grid**2, (grid - mu) ** 2) / 2) / np.sqrt(2 * np.pi)
    must(abs(np.trapezoid(low, grid) - erfc(mu / sqrt(8))) < 1e-7, "the overlap of two Gaussians")
    print(f"  mu {mu}: {erfc(mu / sqrt(8)):.6f}")
