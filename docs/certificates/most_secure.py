"""The largest beta* at a given loss: min(1, D/L0), by program, and where equality fails."""

from itertools import combinations

import numpy as np
from checking import bayes_security, must
from scipy.optimize import linprog


def most_secure(prior, loss, most):
    """max t: u_abo <= C_ao, u_abo <= C_bo, sum_o u_abo >= t, expected loss <= most."""
    n, outputs = loss.shape
    pairs = list(combinations(range(n), 2))
    size = n * outputs
    many = size + len(pairs) * outputs + 1
    rows, limits = [], []
    for k, (a, b) in enumerate(pairs):
        for o in range(outputs):
            for s in (a, b):
                row = np.zeros(many)
                row[size + k * outputs + o], row[s * outputs + o] = 1, -1
                rows.append(row)
                limits.append(0)
        row = np.zeros(many)
        row[size + k * outputs : size + (k + 1) * outputs], row[-1] = -1, 1
        rows.append(row)
        limits.append(0)
    row = np.zeros(many)
    row[:size] = (np.array(prior)[:, None] * loss).ravel()
    rows.append(row)
    limits.append(most)
    one = np.zeros((n, many))
    for s in range(n):
        one[s, s * outputs : (s + 1) * outputs] = 1
    aim = np.zeros(many)
    aim[-1] = -1
    found = linprog(aim, A_ub=np.array(rows), b_ub=limits, A_eq=one, b_eq=np.ones(n))
    return -found.fun, found.x[:size].reshape(n, outputs)


def line(n):
    """|i - j|."""
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)


prior = np.array([0.4, 0.3, 0.2, 0.1])
odd = np.array([[0.0, 1, 0], [0, 0, 3], [1, 0, 0]])
print("loss, prior, D/L0: largest beta*, D/L0")
for name, loss, p in (
    ("0-1", 1 - np.eye(4), prior),
    ("|i - j|", line(4), prior),
    ("|i - j|", line(4), np.full(4, 0.25)),
    ("[[0,1,0],[0,0,3],[1,0,0]]", odd, np.full(3, 1 / 3)),
):
    least = (p @ loss).min()
    share = 0.5
    best, channel = most_secure(p, loss, share * least)
    must(abs(bayes_security(channel.tolist()) - best) < 1e-7, "the program's value is beta*")
    must(best >= share - 1e-9, "at least min(1, D/L0)")
    must((abs(best - share) < 1e-7) == (loss is not odd), "equality for these, not for the last")
    print(f"  {name}, {' '.join(f'{x:.3g}' for x in p)}, {share}: {best:.6f}   {share}")
