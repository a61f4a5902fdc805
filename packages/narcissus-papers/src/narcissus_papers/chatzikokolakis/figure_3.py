"""Figure 3 of Chatzikokolakis et al. 2023: two channels said to reach Theorem 5, as printed.

Neither does in general. In the first the rows sum to one only where half of the outputs are on
each side; in the second the rows below the first two make it no epsilon-LDP channel at all.
"""

from __future__ import annotations

import math

import numpy as np

from narcissus import channels as ch
from narcissus.errors import InputError
from narcissus_papers.base import Given, Held, Item, Quote, Reproduced
from narcissus_papers.chatzikokolakis.cases import ROOM, Matrix

EPSILONS = (0.1, 1.0, 4.0)
CAPTION = Quote("", "Two examples of ... matrices ... which achieve minimum", "Figure 3")


def first(n: int, m: int, k: int, epsilon: float) -> Matrix:
    """Return the first matrix as printed: ``a``, ``b`` on ``k`` and ``m - k`` outputs, or ``c``."""
    e = math.exp(epsilon)
    a, b = e / (k * (1 + e)), 1 / ((m - k) * (1 + e))
    rows = np.full((n, m), 1 / m)
    rows[0], rows[1] = [a] * k + [b] * (m - k), [b] * k + [a] * (m - k)
    return rows


def second(n: int, m: int, epsilon: float) -> Matrix:
    """Return the second matrix as printed: below two rows of ``d``, ``e`` one output only."""
    d = math.exp(epsilon) / (1 + math.exp(epsilon))
    rows = np.zeros((n, m))
    rows[:, 0] = 1.0
    rows[0, :2], rows[1, :2] = (d, 1 - d), (1 - d, d)
    return rows


def mended(n: int, m: int, epsilon: float) -> Matrix:
    """Return the second matrix with its other rows half on each of the first two outputs."""
    rows = second(n, m, epsilon)
    rows[2:, :2] = 0.5
    return rows


def reaches(rows: Matrix, epsilon: float) -> bool:
    """Whether it is an epsilon-LDP channel whose beta* is ``2 / (1 + e^epsilon)``."""
    try:
        matrix = ch.channel(rows)
    except InputError:
        return False
    local = ch.local_dp_epsilon(matrix) <= epsilon + ROOM
    return local and abs(ch.beta_star(matrix).value - ch.from_local_dp(epsilon).value) <= ROOM


def _row(name: str, rows: Matrix, k: int | str, epsilon: float) -> tuple[str | float, ...]:
    n, m = rows.shape
    size: tuple[str | float, ...] = (name, n, m, k, epsilon)
    bound = ch.from_local_dp(epsilon).value
    try:
        matrix = ch.channel(rows)
    except InputError:
        sums = ", ".join(f"{s:.4g}" for s in sorted(set(rows.sum(axis=1).round(12))))
        return (*size, f"no channel: rows sum to {sums}", "", "", bound)
    local, worst = ch.local_dp_epsilon(matrix), ch.beta_star(matrix).value
    return (*size, "one", local if math.isfinite(local) else "none", worst, bound)


def make(_given: Given) -> Reproduced:
    """Compute what both matrices are, in several sizes.

    Source: Chatzikokolakis et al. 2023, Figure 3.
    """
    sizes = [(n, m, k) for n in (2, 3, 5) for m in (2, 4, 7) for k in range(1, m)]
    halves = [(n, m, k) for n, m, k in sizes if m == 2 * k]
    others = [(n, m, k) for n, m, k in sizes if m != 2 * k]
    epsilon = 1.0
    table = [
        ("matrix", "n", "m", "k", "epsilon", "rows sum to", "LDP epsilon", "beta*", "2/(1+e^eps)"),
        *(
            _row("first, as printed", first(n, m, k, epsilon), k, epsilon)
            for n, m, k in ((2, 4, 2), (5, 4, 2), (5, 7, 3))
        ),
        *(
            _row(f"second, {what}", make(n, 4, epsilon), "", epsilon)
            for what, make in (("as printed", second), ("other rows halved", mended))
            for n in (2, 5)
        ),
    ]

    def all_reach(found: list[Matrix], epsilon: float) -> bool:
        return all(reaches(rows, epsilon) for rows in found)

    shapes = [(n, m) for n in (2, 3, 5) for m in (2, 4, 7)]
    where = "at epsilon .1, 1 and 4, n up to 5, m up to 7"
    return Reproduced(
        table=tuple(table),
        held=(
            Held(
                f"the first matrix reaches Theorem 5 where m = 2k ({where})",
                all(all_reach([first(*size, e) for size in halves], e) for e in EPSILONS),
                "checked",
            ),
            Held(
                f"the first matrix reaches Theorem 5 for every k below m ({where})",
                all(all_reach([first(*size, e) for size in others], e) for e in EPSILONS),
                "checked",
                "its second row sums to k / ((m - k)(1 + e^eps)) + (m - k) e^eps / (k (1 + e^eps)),"
                " which is one only where m = 2k",
                CAPTION,
            ),
            Held(
                f"the second matrix reaches Theorem 5 for two secrets ({where})",
                all(all_reach([second(2, m, e) for _, m in shapes], e) for e in EPSILONS),
                "checked",
            ),
            Held(
                f"the second matrix reaches Theorem 5 for every n ({where})",
                all(all_reach([second(n, m, e) for n, m in shapes], e) for e in EPSILONS),
                "checked",
                "its rows from the third on give the second output never, the first two do: no "
                "epsilon-LDP, and beta* is 1 / (1 + e^eps), half of what is said",
                CAPTION,
            ),
            Held(
                "with the other rows halved between the first two outputs it does, for every n "
                f"and m, as Theorem 5 says that some channel does ({where})",
                all(all_reach([mended(n, m, e) for n, m in shapes], e) for e in EPSILONS),
                "checked",
            ),
        ),
    )


FIGURE_3 = Item(
    "002",
    "figure",
    "3",
    "Two channels that are to reach the least Bayes security of epsilon-LDP",
    1.0,
    make,
    command="narcissus channel channel.csv",
)
