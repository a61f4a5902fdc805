"""What a channel leaks that is known exactly: numbers, table and heat map, wherever they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from narcissus.report.format import percent
from narcissus.report.page import Figure, Grid, Headline

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


def headline(exact: Mapping[str, Any]) -> list[Headline]:
    """Return the numbers of the verdict, of measures by their names."""
    without, with_it = 1 - exact["guessing_error"], 1 - exact["bayes_risk"]
    apart = percent(1 - exact["beta_star"] / 2)
    return [
        ("Guessed right without the output", percent(without), "exact", "proved"),
        ("Guessed right with it, by the best attacker", percent(with_it), "exact", "proved"),
        ("Worst two secrets told apart", apart, "50% by guessing", "proved"),
    ]


def measures(exact: Mapping[str, Any]) -> Grid:
    """Return all measures of a channel that is known, with what each says."""
    epsilon = exact["epsilon_ldp"]
    shown = {**exact, "epsilon_ldp": "infinite" if epsilon in (None, math.inf) else epsilon}
    says = (
        ("Bayes security", "beta_star", "1: nothing leaks; 0: two secrets told apart for sure"),
        ("Bayes risk", "bayes_risk", "how often the best attacker is wrong"),
        ("Guessing error", "guessing_error", "the same without the output"),
        ("beta", "beta", "their ratio"),
        ("Leakage", "leakage", "how many times likelier the right guess becomes"),
        ("Capacity", "capacity", "the most that can be, for any prior and non-negative gain"),
        ("Min-entropy leakage", "min_entropy_leakage", "bits"),
        ("Shannon leakage", "shannon_leakage", "bits"),
        ("Local DP epsilon", "epsilon_ldp", "ratio of any two rows, as a logarithm"),
        ("Implied Bayes risk", "implied_bayes_risk", f"at least; from {exact['implied_by']}"),
    )
    rows = [(name, shown.get(key), text) for name, key, text in says]
    return Grid(
        "Exact for this channel and prior",
        ("Measure", "Value", "Says"),
        rows,
        grades=["not assessed" if value is None else "proved" for _, value, _ in rows],
    )


def pairs(
    names: Sequence[str], values: Sequence[Sequence[float]], worst: tuple[str, str]
) -> Figure:
    """Draw the Bayes security of each two secrets, a matrix."""

    def draw(figure: MplFigure) -> None:
        axes, scale = figure.subplots(1, 2, width_ratios=(18, 1))
        axes.pcolormesh(values, vmin=0, vmax=1, cmap="Blues_r")
        # A colour bar of matplotlib's own is a bitmap; the page keeps to lines and shapes.
        steps = [[(i + 0.5) / 40] for i in range(40)]
        scale.pcolormesh([0, 1], [i / 40 for i in range(41)], steps, vmin=0, vmax=1, cmap="Blues_r")
        scale.set_xticks([])
        scale.yaxis.tick_right()
        scale.set_title("Bayes\nsecurity")
        ticks = [i + 0.5 for i in range(len(names))]
        axes.set_xticks(ticks, names, rotation=90)
        axes.set_yticks(ticks, names)
        axes.invert_yaxis()
        axes.set_aspect("equal")

    flat = [
        (names[i], names[j], values[i][j])
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    flat.sort(key=lambda r: r[2])
    return Figure(
        f"No two are easier to tell apart than {worst[0]} and {worst[1]}",
        "A square for each two secrets; the darker, the easier they are told apart. "
        f"The darkest is {flat[0][2]:.4g}, the lightest {flat[-1][2]:.4g}.",
        draw,
        Grid(
            "Bayes security of each two secrets, easiest first",
            ("Secret", "Other", "Bayes security"),
            flat,
            folded=len(flat) > 10,
        ),
        size=(6.0, 4.8),
        name="pairs",
    )
