"""Pictures of what a channel leaks: beliefs, the best test of two secrets, uses, trade-offs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from narcissus.channels import Channel, Design, Hyper
from narcissus.channels.over_uses import AfterOutputs
from narcissus.report.charts import HATCH, PLATE, short
from narcissus.report.format import number, percent
from narcissus.report.leakage.sheet import graded
from narcissus.report.page import Figure, Grid
from narcissus.report.svg import BLUE, FAINT, INK, ON_DARK, ON_LIGHT, PAPER, QUIET, RUST

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure

Floats = NDArray[np.float64]

MOST_SECRETS = 25
"""Columns that can be told apart."""
MOST_BELIEFS = 12
"""Posteriors that are drawn; the rest is said."""
WRITTEN = 8
DARK = 0.715  # from here on the cells of a heat map are read better in white than in black
"""Columns up to which each cell says its number."""


def hypers(found: Hyper, secrets: Sequence[str], prior: Floats) -> Figure | None:
    """Draw what an attacker may come to believe; None for more secrets than can be told apart."""
    if len(secrets) > MOST_SECRETS:
        return None
    outer, inner = found.outer[:MOST_BELIEFS], found.inner[:MOST_BELIEFS]
    right = float(found.outer @ found.inner.max(axis=1))

    def draw(figure: MplFigure) -> None:
        above, below = figure.subplots(2, 1, height_ratios=(1, 6), sharex=True)
        edges = np.arange(len(secrets) + 1)
        heights = np.concatenate([[0.0], np.cumsum(outer)])
        for axes, values, ends in (
            (above, prior[None, :], np.array([0.0, 1.0])),
            (below, inner, heights),
        ):
            axes.pcolormesh(edges, ends, values, vmin=0, vmax=1, cmap="Blues", edgecolors=PAPER)
            _write(axes, values, ends)
            axes.tick_params(length=0)
        above.set_yticks([0.5], ["before"])
        middles = (heights[1:] + heights[:-1]) / 2
        tall = outer >= 0.03
        below.set_yticks(middles[tall], [percent(w) for w in outer[tall]])
        below.set_ylabel("after the output, by how often")
        below.invert_yaxis()
        below.set_xticks(edges[:-1] + 0.5, [short(s, 14) for s in secrets], rotation=_turn(secrets))

    rows = [
        [float(weight), secrets[int(belief.argmax())], float(belief.max())]
        for weight, belief in zip(found.outer, found.inner, strict=True)
    ]
    left = len(found.outer) - len(outer)
    more = f" {left} rarer ones are in the table only." if left else ""
    return Figure(
        f"The best guess is right {percent(right)} of the time with the output, "
        f"{percent(float(prior.max()))} without",
        "A row for each belief that an attacker may come to, as high as it is frequent, with the "
        f"chance of each secret in it; on top what is believed without the output.{more}",
        draw,
        Grid(
            f"What is believed after the output: {number(len(rows))} cases",
            ("How often", "Best guess", "Right"),
            rows,
            grades=graded("proved", rows),
            percent=("How often", "Right"),
            folded=len(rows) > 10,
        ),
        name="beliefs",
    )


def _turn(names: Sequence[str]) -> int:
    return 0 if len(names) <= WRITTEN else 90


def _write(axes: Axes, values: Floats, ends: Floats) -> None:
    """Write numbers into the cells that have room."""
    if values.shape[1] > WRITTEN:
        return
    whole = float(ends[-1] - ends[0])
    for i, row in enumerate(values):
        if (ends[i + 1] - ends[i]) / whole < 0.05:
            continue
        for j, value in enumerate(row):
            colour = ON_DARK if value > DARK else ON_LIGHT
            middle = (ends[i] + ends[i + 1]) / 2
            axes.text(
                j + 0.5, middle, percent(float(value)), color=colour, ha="center", va="center"
            )


def best_test(first: Floats, second: Floats, names: tuple[str, str]) -> Figure:
    """Draw the ROC curve of the best test between two secrets of a channel."""
    order = np.argsort(-np.arctan2(second, first), kind="stable")
    alpha = np.concatenate([[0.0], np.cumsum(first[order])])
    power = np.concatenate([[0.0], np.cumsum(second[order])])
    right = percent((1 + float((power - alpha).max())) / 2)
    told = f"The best test of {names[0]} from {names[1]} is right {right} of the time at even odds"
    return best_tests(alpha, power, told, names)


def best_tests(alpha: Floats, power: Floats, title: str, names: tuple[str, str]) -> Figure:
    """Draw how often the best test says the second when it is the first, and when it is the second.

    The area above is hatched: no attacker is there.
    """
    alpha, power = np.clip(alpha, 0.0, 1.0), np.clip(power, 0.0, 1.0)
    best = int(np.argmax(power - alpha))
    gap = float(power[best] - alpha[best])

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        axes.fill_between(
            alpha, power, 1.0, facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.2)
        axes.plot(alpha, power, color=INK, linewidth=2.2)
        at = float(alpha[best])
        axes.plot([at, at], [at, float(power[best])], color=RUST, linewidth=1.6)
        axes.plot(at, float(power[best]), marker="o", color=RUST)
        axes.annotate(
            f"advantage {percent(gap)}",
            (at, (at + float(power[best])) / 2),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=RUST,
            bbox=PLATE,
        )
        axes.text(0.03, 0.96, "no attacker here", va="top", fontweight="bold", bbox=PLATE)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel(f"says {short(names[1], 24)} though it is {short(names[0], 24)}")
        axes.set_ylabel(f"says {short(names[1], 24)} when it is")

    kept = np.unique(np.linspace(0, len(alpha) - 1, 101).round().astype(int))
    rows = [[float(alpha[i]), float(power[i])] for i in kept]
    return Figure(
        title,
        f"The curve of the best tests. The one marked finds {percent(float(power[best]))} and "
        f"mistakes {percent(float(alpha[best]))}; their difference, {percent(gap)}, is one minus "
        "the Bayes security of the two.",
        draw,
        Grid(
            "The best test at each rate of mistakes",
            ("Mistaken for the second", "Second found"),
            rows,
            grades=graded("proved", rows),
            percent=("Mistaken for the second", "Second found"),
            folded=True,
        ),
        size=(7.2, 4.8),
        name="test",
    )


def over_uses(found: Sequence[AfterOutputs]) -> Figure:
    """Draw how Bayes security falls with the outputs that are seen."""
    outputs = [one.outputs for one in found]
    low = np.array([one.security.beta_star for one in found])
    high = np.array([one.security.beta_star_at_most for one in found])
    tiny = low[-1] < 1e-3

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        floor = float(high[high > 0].min()) / 10 if tiny and (high > 0).any() else 0.0
        shown = np.where(low > 0, low, np.nan) if tiny else low
        axes.fill_between(outputs, np.maximum(low, floor), high, color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(outputs, shown, marker="o", color=BLUE, clip_on=False)
        axes.set_xscale("log")
        axes.set_xticks(outputs[:: max(1, len(outputs) // 6)])
        axes.xaxis.set_major_formatter(lambda x, _: number(x))
        axes.minorticks_off()
        if tiny:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0e}")
            axes.minorticks_off()
        else:
            axes.set_ylim(0, 1.02)
        axes.grid(axis="y")
        axes.set_xlabel("outputs about one secret (log scale)")
        axes.set_ylabel("Bayes security" + (" (log scale)" if tiny else ""))

    rows = [
        [o, float(a), float(b), percent(1 - float(a) / 2, "up")]
        for o, a, b in zip(outputs, low, high, strict=True)
    ]
    return Figure(
        f"After {number(outputs[-1])} outputs the worst two secrets are told apart at most "
        f"{percent(1 - float(low[-1]) / 2, 'up')} of the time",
        f"Bayes security falls from {low[0]:.4g} after {number(outputs[0])} to at least "
        f"{low[-1]:.4g} after {number(outputs[-1])}; 1 tells nothing, 0 tells all.",
        draw,
        Grid(
            "Bayes security after so many outputs, between limits that hold",
            ("Outputs", "At least", "At most", "Worst two told apart, at most"),
            rows,
            grades=graded("proved", rows),
        ),
        name="uses",
    )


def trade_off(curve: tuple[Floats, Floats], made: Design | None, nothing: float) -> Figure:
    """Draw the largest Bayes security at each expected loss; nothing is that of saying nothing."""
    loss, security = curve
    free = float(loss[0]) <= 1e-9 * nothing  # every secret has an answer without loss
    dashed = " Dashed: the secret itself or, by chance, one fixed answer." if free else ""

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        out = np.concatenate([[0.0, loss[0]], loss])
        below = np.concatenate([[0.0, 0.0], security])
        axes.fill_between(
            out, below, 1.02, facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0
        )
        axes.plot(loss, security, color=INK, linewidth=2.2)
        if free:
            axes.plot([0, nothing], [0, 1], color=QUIET, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.text(
            0.03, 0.96, "no mechanism here", va="top", fontweight="bold", bbox=PLATE,
            transform=axes.transAxes,
        )  # fmt: skip
        if made is not None:
            axes.plot(made.loss, made.beta_star, marker="o", color=RUST, clip_on=False)
            axes.annotate(
                "this mechanism", (made.loss, made.beta_star), xytext=(8, -10),
                textcoords="offset points", color=RUST, bbox=PLATE,
            )  # fmt: skip
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.02)
        axes.grid(visible=True)
        axes.set_xlabel("expected loss")
        axes.set_ylabel("largest Bayes security")

    rows = [[float(a), float(b)] for a, b in zip(loss, security, strict=True)]
    return Figure(
        "What security costs: more of it for more loss, up to saying nothing",
        f"The largest Bayes security rises from {security[0]:.4g} at loss {loss[0]:.4g} to "
        f"{security[-1]:.4g} at {loss[-1]:.4g}.{dashed}",
        draw,
        Grid(
            "The largest Bayes security at each loss, within 1e-6",
            ("Expected loss", "Bayes security"),
            rows,
            grades=graded("proved", rows),
            folded=True,
        ),
        name="trade-off",
    )


def rows_of(made: Channel, title: str, axes_names: tuple[str, str], name: str) -> Figure | None:
    """Draw a channel, a square for each entry; None for one that is too large to be read."""
    if max(made.shape) > MOST_SECRETS:
        return None
    values = made.dense

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        axes.pcolormesh(values, vmin=0, vmax=1, cmap="Blues", edgecolors=PAPER)
        _write(axes, values, np.arange(len(values) + 1.0))
        turn = _turn(made.outputs)
        ticks = np.arange(values.shape[1]) + 0.5
        axes.set_xticks(ticks, [short(o, 14) for o in made.outputs], rotation=turn)
        axes.set_yticks(np.arange(len(values)) + 0.5, [short(s, 18) for s in made.secrets])
        axes.invert_yaxis()
        axes.tick_params(length=0)
        axes.set_ylabel(axes_names[0])
        axes.set_xlabel(axes_names[1])

    table = [[s, *map(float, row)] for s, row in zip(made.secrets, values, strict=True)]
    return Figure(
        title,
        f"A row for each {axes_names[0]}, a column for each {axes_names[1]}; the darker, the "
        "likelier.",
        draw,
        Grid(
            f"Chance of each {axes_names[1]}",
            (axes_names[0].capitalize(), *made.outputs),
            table,
            percent=tuple(made.outputs),
            folded=len(table) > 10,
        ),
        size=(6.4, min(7.0, 1.6 + 0.4 * len(values))),
        name=name,
    )
