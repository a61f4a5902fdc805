"""Figure 1 of Swanberg et al. 2025: bounds on one record against the prior, eps 1, 2, 4."""

from __future__ import annotations

import numpy as np

from narcissus.bounds import threat
from narcissus.bounds.published import BALLE, HAYES, THEOREM_3_2, THEOREM_3_5
from narcissus.bounds.theorem import Question, Theorem
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP
from narcissus.reproduce.base import Given, Item, Line, Panel, Reproduced

EPSILONS = (1.0, 2.0, 4.0)
DELTA = 1e-5
PRIORS = np.round(np.linspace(0.0, 1.0, 101), 2)


def _curve(theorem: Theorem, guarantee: Guarantee, label: str, style: str) -> Line:
    """Draw a theorem against the prior of an attempt, one target and one guess."""
    values = [
        min(1.0, theorem.limit(Question(threat(prior=float(p)), guarantee))) for p in PRIORS[1:-1]
    ]
    return Line(label, PRIORS.tolist(), [0.0, *values, 1.0], style)  # pyright: ignore[reportArgumentType]


def make(_given: Given) -> Reproduced:
    """Draw pure DP in one panel, approximate DP in the other."""
    pure, approximate = [], []
    for epsilon in EPSILONS:
        name = f"epsilon {epsilon:g}"
        guarantee = PureDP(epsilon)
        pure.append(_curve(THEOREM_3_2, guarantee, f"Theorem 3.2, {name}", "line"))
        pure.append(_curve(BALLE, guarantee, f"ReRo, {name}", "dashed"))
        pair = ApproximateDP(epsilon, DELTA)
        approximate.append(_curve(THEOREM_3_5, pair, f"Theorem 3.5, {name}", "line"))
        approximate.append(_curve(HAYES, pair, f"MMC, {name}", "dashed"))
    base = Line("without the release", [0.0, 1.0], [0.0, 1.0], "dotted")
    return Reproduced(
        panels=(
            Panel("epsilon-DP", "prior", "success", (*pure, base)),
            Panel(f"(epsilon, {DELTA:g})-DP", "prior", "success", (*approximate, base)),
        ),
        cannot="the paper prints curves and no numbers",
        notes=(
            "MMC is the bound through the trade-off function, drawn at every prior; the paper "
            "draws it at the priors 1/k of uniform secrets.",
        ),
    )


FIGURE_1 = Item(
    "001", "figure", "1", "Bounds on one record against the prior, beside earlier ones", 1.0, make
)
