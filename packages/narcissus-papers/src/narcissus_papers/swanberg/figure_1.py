"""Figure 1 of Swanberg et al. 2025: bounds on one record against the prior, eps 1, 2, 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from narcissus.bounds import posterior, threat
from narcissus.bounds.published import BALLE, THEOREM_3_2, THEOREM_3_5
from narcissus.bounds.theorem import Question, Theorem
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP
from narcissus_papers.base import Given, Held, Item, Line, Panel, Reproduced

EPSILONS = (1.0, 2.0, 4.0)
DELTA = 1e-5
PRIORS = np.round(np.linspace(0.0, 1.0, 101), 2)
SIZES = (2, 3, 4, 5, 10, 20, 50, 100)
"""Numbers of equally likely values: MMC is about these, not about every prior."""
ROOM = 1e-9


def mmc(values: int, guarantee: Guarantee) -> float:
    """Compute the bound of Mahloujifar et al. 2024 (MMC) on naming one of equally likely values.

    It is the largest ``a`` with ``a + (values - 1) g(a) <= 1``, ``g`` the least false positive rate
    at the power ``a``: their recursion for one canary. At least two ``values``; the guarantee is
    for a replaced record; the bound is at least one over ``values``.
    """
    low, high = 1 / values, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        within = middle + (values - 1) * float(guarantee.least_alpha(middle)) <= 1
        low, high = (middle, high) if within else (low, middle)
    return low


def _curve(theorem: Theorem, guarantee: Guarantee, label: str, style: str) -> Line:
    values = [
        min(1.0, theorem.limit(Question(threat(prior=float(p)), guarantee))) for p in PRIORS[1:-1]
    ]
    return Line(label, PRIORS.tolist(), [0.0, *values, 1.0], style)  # pyright: ignore[reportArgumentType]


def make(_given: Given) -> Reproduced:
    """Draw pure DP in one panel, approximate DP in the other."""
    base = Line("without the release", [0.0, 1.0], [0.0, 1.0], "dotted")
    pure, approximate = [base], [base]
    points: dict[Guarantee, list[float]] = {}
    for epsilon in EPSILONS:
        name = f"epsilon {epsilon:g}"
        pair = ApproximateDP(epsilon, DELTA)
        points |= {g: [mmc(k, g) for k in SIZES] for g in (PureDP(epsilon), pair)}
        pure.append(_curve(THEOREM_3_2, PureDP(epsilon), f"Theorem 3.2, {name}", "line"))
        pure.append(_curve(BALLE, PureDP(epsilon), f"ReRo, {name}", "dashed"))
        pure.append(_points(points[PureDP(epsilon)], name))
        approximate.append(_curve(THEOREM_3_5, pair, f"Theorem 3.5, {name}", "line"))
        approximate.append(_points(points[pair], name))
    return Reproduced(
        panels=(
            Panel("epsilon-DP", "prior", "success", pure),
            Panel(f"(epsilon, {DELTA:g})-DP", "prior", "success", approximate),
        ),
        held=_held(pure, points),
        cannot="the paper prints curves and no numbers",
        notes=(
            f"No number of this figure is in print. Ours at the prior .1: {_at_a_tenth()}.",
            "MMC (Mahloujifar et al. 2024, for one canary) is about equally likely values: points "
            "at the priors 1/k, as in the paper.",
        ),
    )


def _at_a_tenth() -> str:
    return "; ".join(
        f"epsilon {e:g}: Theorem 3.2 {float(posterior(0.1, e)):.4f}, MMC for ten values "
        f"{mmc(10, PureDP(e)):.4f}"
        for e in EPSILONS
    )


def _points(values: Sequence[float], name: str) -> Line:
    return Line(f"MMC, {name}", [1 / k for k in SIZES], values, "points")


def _held(pure: Sequence[Line], points: Mapping[Guarantee, Sequence[float]]) -> tuple[Held, ...]:
    """Check what section 4.4 claims of the curves."""
    lines = {line.label: np.array(line.y) for line in pure}
    below = all(
        (lines[f"Theorem 3.2, epsilon {e:g}"] <= lines[f"ReRo, epsilon {e:g}"] + ROOM).all()
        for e in EPSILONS
    )
    apart = max(
        abs(limit - float(theorem.limit(Question(threat(prior=1 / k), guarantee))))
        for guarantee, limits in points.items()
        for theorem in [THEOREM_3_2 if isinstance(guarantee, PureDP) else THEOREM_3_5]
        for k, limit in zip(SIZES, limits, strict=True)
    )
    return (
        Held("Theorem 3.2 is nowhere above ReRo (section 4.4)", below, "checked"),
        Held(
            "for equally likely values both theorems are MMC's limit, within delta (section 4.4)",
            apart <= DELTA + ROOM,
            "checked",
        ),
    )


FIGURE_1 = Item(
    "001", "figure", "1", "Bounds on one record against the prior, beside earlier ones", 1.0, make
)
