"""Figure 8 of Chatzikokolakis et al. 2023: quick lower limits of beta*, on randomized response."""

from __future__ import annotations

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Item, Line, Panel, Reproduced

VALUES = 10
EPSILONS = np.linspace(0.0, 5.0, 51)
EPSILON = 0.5
SIZES = tuple(range(2, 21)) + tuple(range(25, 101, 5))
NAMES = ("beta*", "mean row", "any row", "Euclidean diameter")


def limits(values: int, epsilon: float) -> tuple[float, float, float, float]:
    """Compute beta* and its lower limits from the mean row, from any row, from the L2 diameter.

    Those of Proposition 5 are ``1 - d``; `quick_bounds` gives ``1 - d / 2`` as its upper limit, and
    as its lower one the better of ``1 - d`` and the column minima, which the paper does not have.
    """
    matrix = ch.KaryRandomizedResponse(values, epsilon).channel()
    from_rows: list[float] = []
    for reference in ("centroid", matrix.row(0)):
        high = ch.quick_bounds(matrix, reference).high
        assert high is not None
        from_rows.append(max(0.0, 2 * high - 1))
    exact = ch.beta_star(matrix).value
    return exact, from_rows[0], from_rows[1], ch.l2_bounds(matrix).low


def make(_given: Given) -> Reproduced:
    """Draw the limits against epsilon and against the number of values.

    Source: Chatzikokolakis et al. 2023, Figure 8.
    """
    left = np.array([limits(VALUES, float(e)) for e in EPSILONS])
    right = np.array([limits(n, EPSILON) for n in SIZES])
    minima = [
        ch.quick_bounds(ch.KaryRandomizedResponse(VALUES, float(e)).channel()).low for e in EPSILONS
    ]
    room = 1e-6  # the Euclidean limit leaves as much for rounding
    ahead = right[:, 1] >= right[:, 2:].max(axis=1) - room
    behind = [n for n, best in zip(SIZES, ahead, strict=True) if not best]
    return Reproduced(
        panels=(
            Panel(
                f"{VALUES} values",
                "epsilon",
                "Bayes security",
                [
                    *_lines(EPSILONS.tolist(), left),
                    Line("column minima (not in the paper)", EPSILONS.tolist(), minima, "points"),
                ],
            ),
            Panel(f"epsilon {EPSILON:g}", "values", "Bayes security", _lines(list(SIZES), right)),
        ),
        held=(
            Held(
                "all three limits lie below beta*, at every point of both pictures",
                bool((left[:, 1:] <= left[:, :1] + 1e-12).all())
                and bool((right[:, 1:] <= right[:, :1] + 1e-12).all()),
                "checked",
            ),
            Held(
                "the mean row gives the best of them, left (10 values)",
                bool((left[:, 1] >= left[:, 2:].max(axis=1) - room).all()),
                "checked",
            ),
            Held(
                "the mean row gives the best of them, right (from 6 values on)",
                bool(ahead[np.array(SIZES) >= 6].all()),
                "checked",
            ),
        ),
        notes=(
            "The text calls the mean row the most accurate; from how many values on the right "
            "picture is drawn it does not say. Ours begins at 2: with "
            f"{', '.join(map(str, behind))} values the Euclidean diameter gives more, as its "
            "factor sqrt(n / 2) is below 2 (n - 1) / n there.",
            "The column minima, sum_o min_s C_so, are exact for randomized response: dots on the "
            "curve of beta*.",
        ),
    )


def _lines(x: list[float] | list[int], values: np.ndarray) -> list[Line]:
    styles = ("line", "dashed", "dotted", "dotted")
    return [
        Line(name, x, values[:, i].tolist(), style)
        for i, (name, style) in enumerate(zip(NAMES, styles, strict=True))
    ]


FIGURE_8 = Item(
    "002",
    "figure",
    "8",
    "Quick lower limits of Bayes security, on randomized response",
    1.0,
    make,
    command="narcissus channel --mechanism randomized-response:values=10,epsilon=0.5",
)
