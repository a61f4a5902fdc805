"""Pages of the exact side, and their pictures: a channel, uses, a design, a refinement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from narcissus._arrays import Floats
from narcissus._outwards import lower, upper
from narcissus.channels import (
    AfterOutputs,
    Channel,
    ChannelSummary,
    ComposedSecurity,
    Design,
    Hyper,
    OneWay,
    SecurityBound,
    hyper,
    pairwise,
    prior_for,
)
from narcissus.channels.channel import AS_WRITTEN
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee
from narcissus.report.charts import HATCH, PLATE, short
from narcissus.report.exact_channel import headline, measures, pairs
from narcissus.report.format import number, percent
from narcissus.report.leakage.sheet import Asked, assessed, method, sheet, table
from narcissus.report.page import Block, Facts, Figure, Grid, Headline, Items, Page, Section, Text
from narcissus.report.svg import BLUE, FAINT, INK, ON_DARK, ON_LIGHT, PAPER, QUIET, RUST
from narcissus.results import GRADES, Bound, NotAssessed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


def _results(blocks: Sequence[Block | None], how: str) -> list[Section]:
    shown = [block for block in blocks if block is not None]
    return [Section("Results", shown), method(how)]


def channel_page(
    found: ChannelSummary, asked: Asked, prior: Any = None, loss: Mapping[str, Any] | None = None
) -> Page:
    """Show what a channel or a mechanism leaks.

    prior: As `analyse` was given it.
    loss: Of an attacker with own losses: keys risk, prior_risk, beta_l, at_least, family and
        theorem of ``narcissus channel --loss --json``.
    """
    if len(found.pair) != 2:
        raise InputError(
            "the channel has one secret only: there is nothing to show; leave out the page"
        )
    a, b = found.pair
    numbers = found.to_dict() | found.more()
    blocks: list[Block | None] = [measures(numbers), _of_loss(loss)]
    if (c := found.channel) is not None:
        weights = prior_for(c, prior)
        first, second = (c.row(c.secrets.index(name)) for name in (a, b))
        blocks.append(best_test(first, second, (a, b)))
        if len(c.secrets) <= MOST_SECRETS:
            blocks.append(hypers(hyper(c, weights), c.secrets, weights))
            blocks.append(pairs(c.secrets, pairwise(c).tolist(), (a, b)))
    verdict = assessed(
        f"The pair easiest to tell apart is {a!r} and {b!r}: with the output "
        f"{100 - 50 * found.beta_star:.1f} of 100 attempts are right, and 50 without it.",
        "proved",
        numbers=headline(numbers),
    )
    how = (
        "All numbers are computed from the channel; nothing is estimated. Bayes security is the "
        "least overlap of two rows (Chatzikokolakis et al. 2023, Theorems 1 and 2). Assumed: "
        f"{AS_WRITTEN}."
    )
    return sheet(
        verdict,
        _results(blocks, how),
        asked,
        title=f"What {found.name} leaks",
        subtitle=f"{found.secrets:,} secrets, {found.prior} prior, exact",
    )


def _of_loss(loss: Mapping[str, Any] | None) -> Grid | None:
    if loss is None:
        return None
    rows: list[tuple[str, float, str]] = [
        ("Expected loss with the output", loss["risk"], "of the best guess"),
        ("Expected loss without it", loss["prior_risk"], "of the best guess"),
        ("Their ratio", loss["beta_l"], "1: the output does not help"),
        ("The ratio is at least", loss["at_least"], f"whatever the prior; by {loss['theorem']}"),
    ]
    return table("An attacker with these losses", ("Measure", "Value", "Says"), rows)


def compose_page(found: ComposedSecurity, curve: Sequence[AfterOutputs], asked: Asked) -> Page:
    """Show what many outputs about one secret leak together, and how it comes to that."""
    low, high = found.beta_star, found.beta_star_at_most
    apart = percent(1 - low / 2, "up")
    value, between = f"{low:.4g}", f"Bayes security {low:.6g}, exactly"
    how = "The channel of all outputs was written out."
    if not found.exact:
        value = f"at least {lower(low, 4)}"
        between = f"Bayes security at least {lower(low, 7)}, at most {upper(high, 7)}"
        how = (
            f"By {found.theorem}. The limits hold whatever their distance, {found.gap:.1g} of the "
            "upper one."
        )
    numbers: list[Headline] = [
        ("Worst two secrets told apart, at most", apart, "50% by guessing", "proved"),
        ("Bayes security", value, between, "proved"),
        ("Capacity", f"{found.capacity:.4g}", "times likelier right, at most", "proved"),
    ]
    count = curve[-1].outputs
    verdict = assessed(
        f"With {count:,} outputs, of 100 attempts to tell the worst two secrets apart at most "
        f"{upper(100 - 50 * low, places=1)} are right, and 50 without any.",
        "proved",
        numbers=numbers,
    )
    how = f"Assumed: {'; '.join(found.assumptions)}. {how}"
    return sheet(
        verdict,
        _results([over_uses(curve)], how),
        asked,
        title="What many outputs leak together",
        subtitle=f"{count:,} outputs about one secret",
    )


def design_page(found: Design | None, curve: tuple[Any, Any], nothing: float, asked: Asked) -> Page:
    """Show a mechanism, or none, among the best ones at every loss.

    curve: From `narcissus.channels.trade_off`.
    nothing: From `narcissus.channels.loss_of_nothing`.
    """
    blocks: list[Block | None] = [trade_off(curve, found, nothing)]
    numbers: list[Headline] = []
    words = (
        f"Saying nothing about the secret costs {nothing:.4g}; what less loss costs in Bayes "
        "security is drawn below."
    )
    if found is not None:
        words = f"{found}.".replace("\n  no", "; no")
        apart = percent(1 - found.beta_star / 2)
        numbers = [
            ("Worst two secrets told apart", apart, "50% by guessing", "proved"),
            ("Bayes security", f"{found.beta_star:.4g}", "of this mechanism", "proved"),
            ("Expected loss", f"{found.loss:.4g}", f"saying nothing: {nothing:.4g}", "proved"),
        ]
        if found.leakage is not None:
            headline = (found.measured.capitalize(), f"{found.leakage:.4g}", "of this mechanism")
            numbers.append((*headline, "proved"))
        title = "The mechanism: what it says for each secret"
        blocks.append(rows_of(found.channel, title, ("secret", "answer"), "mechanism"))
    how = (
        "Linear programs over all mechanisms that say one of the answers (Narcissus theory "
        "6.5). Numbers of a mechanism are computed from it; what no mechanism exceeds is "
        "proved by the program's multipliers, whatever the solver's tolerance."
    )
    return sheet(
        assessed(words, "proved", numbers=numbers),
        _results(blocks, how),
        asked,
        title="The most secure mechanism at a given loss",
        subtitle="Bayes security against expected loss",
    )


def guarantee_page(
    found: SecurityBound, guarantee: Guarantee, reached: Bound | None, asked: Asked
) -> Page:
    """Show what a guarantee says about two neighbouring data sets.

    found: From `narcissus.channels.from_guarantee`.
    reached: For DP-SGD, what two data sets reach (`narcissus.channels.dp_sgd_reached`).
    """
    right = percent(1 - found.value / 2, "up")
    numbers: list[Headline] = [
        ("Bayes security", f"at least {lower(found.value, 4)}", "the guarantee", "proved"),
        ("Neighbours told apart", right, "at most; 50% by guessing", "proved"),
    ]
    assumptions, how = (
        list(found.assumptions),
        "whether any mechanism reaches the limit is not said.",
    )
    if found.tight:
        how = "some mechanism with this guarantee reaches the limit."
    if reached is not None:
        some = f"at most {upper(reached.value, 4)}"
        numbers.insert(1, ("Bayes security of DP-SGD", some, "two data sets reach it", "proved"))
        assumptions += reached.assumptions
        how += f" What two data sets reach: {reached.theorem}."
    alpha = np.unique(np.concatenate([np.linspace(0, 1, 201), np.geomspace(1e-6, 1, 61)]))
    title = f"No test of two neighbours is right more than {right} of the time at even odds"
    power = np.asarray(guarantee.power(alpha))
    drawn = best_tests(alpha, power, title, ("one data set", "its neighbour"))
    verdict = assessed(
        "At even odds, two neighbouring data sets are told apart at most "
        f"{upper(100 - 50 * found.value, places=1)} are right with the release.",
        "proved",
        numbers=numbers,
    )
    model = Section(
        "Threat model and assumptions",
        [
            Facts([("Guarantee", guarantee.describe())]),
            Items("Assumed (nothing here tests it)", assumptions),
        ],
    )
    how = f"By {found.theorem}. A guarantee limits Bayes security from below; {how}"
    return sheet(
        verdict,
        [model, *_results([drawn], how)],
        asked,
        title="How well neighbours can be told apart",
        subtitle=guarantee.describe(),
    )


@dataclass(frozen=True)
class Direction:
    """One direction of a comparison."""

    first: str  # Names of the channels
    second: str
    found: OneWay  # From `narcissus.channels.refines`, for these two in this order
    by: Channel | None = None  # The post-processing to draw; None to draw none

    @property
    def words(self) -> str:
        a, b = self.first, self.second
        if isinstance(self.found, NotAssessed):
            return f"Whether {b} is {a}, post-processed, was not decided."
        if not self.found.holds:
            return (
                f"{b} is not {a}, post-processed: with some aim an attacker gets "
                f"{float(self.found.second):.6g} with {b} and {float(self.found.first):.6g} with "
                f"{a}."
            )
        near = " but for the solver's tolerance" if self.found.grade == "approximate" else ""
        return f"{b} is {a}, post-processed{near}: nobody learns more from {b}, whatever the aim."


def refinement_page(directions: Sequence[Direction], secrets: Sequence[str], asked: Asked) -> Page:
    """Show whether one of two channels is the other, post-processed, with the witnesses.

    directions: One, or both.
    secrets: Of the channels, in their order.
    """
    graded_as = [direction.found.grade for direction in directions]
    weakest = GRADES[max(map(GRADES.index, graded_as))]
    sections = [
        Section(
            f"From {direction.first} to {direction.second}", _witness(direction, secrets, place)
        )
        for place, direction in enumerate(directions, 1)
    ]
    how = method(
        "A linear program looks for the post-processing; where there is none its multipliers are a "
        "gain that says so, under the uniform prior (Narcissus theory 6.6)."
    )
    first, second = directions[0].first, directions[0].second
    return sheet(
        assessed(" ".join(direction.words for direction in directions), weakest),
        [*sections, how],
        asked,
        title=f"Which tells more: {first} or {second}?",
        subtitle="Refinement: for every prior and every aim of an attacker",
        not_assessed=[
            direction.found for direction in directions if isinstance(direction.found, NotAssessed)
        ],
        not_covered=(),
    )


def _witness(one: Direction, secrets: Sequence[str], place: int) -> list[Block]:
    blocks: list[Block] = [Text([one.words])]
    if isinstance(one.found, NotAssessed):
        return blocks
    if one.found.holds and one.by is not None:
        title = f"How {one.first} is made into {one.second}"
        drawn = rows_of(one.by, title, ("output", "new output"), f"witness-{place}")
        return [*blocks, *([] if drawn is None else [drawn])]
    if one.found.gain is not None:
        rows = [[f"guess {i}", *map(float, row)] for i, row in enumerate(one.found.gain, 1)]
        title = "What each guess gains for each secret: an aim that tells the two apart"
        blocks.append(table(title, ("Guess", *secrets), rows, folded=len(rows) > 20))
    return blocks


MOST_SECRETS = 25  # Columns that can be told apart
MOST_BELIEFS = 12  # Posteriors that are drawn; the rest is said
WRITTEN = 8  # Columns up to which each cell says its number
DARK = 0.715  # From here on the cells of a heat map are read better in white than in black


def hypers(found: Hyper, secrets: Sequence[str], prior: Floats) -> Figure | None:
    """Draw what an attacker may come to believe; None for more secrets than can be told apart."""
    if len(secrets) > MOST_SECRETS:
        return None
    outer, inner = found.outer[:MOST_BELIEFS], found.inner[:MOST_BELIEFS]
    right = float(found.outer @ found.inner.max(axis=1))

    def draw(figure: MplFigure) -> None:
        above, below = figure.subplots(2, 1, height_ratios=(1, 6), sharex=True)
        heights = np.concatenate([[0.0], np.cumsum(outer)])
        _cells(above, prior[None, :], np.array([0.0, 1.0]))
        _cells(below, inner, heights)
        above.set_yticks([0.5], ["before"])
        middles, tall = (heights[1:] + heights[:-1]) / 2, outer >= 0.03
        below.set_yticks(middles[tall], [percent(w) for w in outer[tall]])
        below.set_ylabel("after the output, by how often")
        below.invert_yaxis()
        _columns(below, secrets)

    rows = [
        [float(weight), secrets[int(belief.argmax())], float(belief.max())]
        for weight, belief in zip(found.outer, found.inner, strict=True)
    ]
    left = len(found.outer) - len(outer)
    remark = f" {left} rarer ones are in the table only." if left else ""
    return Figure(
        f"The best guess is right {percent(right)} of the time with the output, "
        f"{percent(float(prior.max()))} without",
        "A row for each belief that an attacker may come to, as high as it is frequent, with the "
        f"chance of each secret in it; on top what is believed without the output.{remark}",
        draw,
        table(
            f"What is believed after the output: {number(len(rows))} cases",
            ("How often", "Best guess", "Right"),
            rows,
            percent=("How often", "Right"),
            folded=len(rows) > 10,
        ),
        name="beliefs",
    )


def _columns(axes: Axes, names: Sequence[str]) -> None:
    turn = 0 if len(names) <= WRITTEN else 90
    axes.set_xticks(np.arange(len(names)) + 0.5, [short(n, 14) for n in names], rotation=turn)


def _cells(axes: Axes, values: Floats, ends: Floats) -> None:
    """Draw a heat map, rows between their ends; write numbers into the cells that have room."""
    edges = np.arange(values.shape[1] + 1)
    axes.pcolormesh(edges, ends, values, vmin=0, vmax=1, cmap="Blues", edgecolors=PAPER)
    axes.tick_params(length=0)
    if values.shape[1] > WRITTEN:
        return
    whole = float(ends[-1] - ends[0])
    for i, row in enumerate(values):
        if (ends[i + 1] - ends[i]) / whole < 0.05:
            continue
        middle = (ends[i] + ends[i + 1]) / 2
        for j, value in enumerate(row):
            ink = ON_DARK if value > DARK else ON_LIGHT
            axes.text(j + 0.5, middle, percent(float(value)), color=ink, ha="center", va="center")


def best_test(first: Floats, second: Floats, names: tuple[str, str]) -> Figure:
    """Draw the ROC curve of the best test between two secrets of a channel."""
    order = np.argsort(-np.arctan2(second, first), kind="stable")
    alpha = np.concatenate([[0.0], np.cumsum(first[order])])
    power = np.concatenate([[0.0], np.cumsum(second[order])])
    right = percent((1 + float((power - alpha).max())) / 2)
    title = f"The best test of {names[0]} from {names[1]} is right {right} of the time at even odds"
    return best_tests(alpha, power, title, names)


def best_tests(alpha: Floats, power: Floats, title: str, names: tuple[str, str]) -> Figure:
    """Draw how often the best test says the second when it is the first, and when it is the second.

    The area above is hatched: no attacker is there.
    """
    alpha, power = np.clip(alpha, 0.0, 1.0), np.clip(power, 0.0, 1.0)
    best = int(np.argmax(power - alpha))
    at, top = float(alpha[best]), float(power[best])
    gap = top - at

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        axes.fill_between(
            alpha, power, 1.0, facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.2)
        axes.plot(alpha, power, color=INK, linewidth=2.2)
        axes.plot([at, at], [at, top], color=RUST, linewidth=1.6)
        axes.plot(at, top, marker="o", color=RUST)
        axes.annotate(
            f"advantage {percent(gap)}",
            (at, (at + top) / 2),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=RUST,
            bbox=PLATE,
        )
        axes.text(0.03, 0.96, "no attacker here", va="top", fontweight="bold", bbox=PLATE)
        axes.set(
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
            xlabel=f"says {short(names[1], 24)} though it is {short(names[0], 24)}",
            ylabel=f"says {short(names[1], 24)} when it is",
        )

    indices = np.unique(np.linspace(0, len(alpha) - 1, 101).round().astype(int))
    return Figure(
        title,
        f"The curve of the best tests. The one marked finds {percent(top)} and mistakes "
        f"{percent(at)}; their difference, {percent(gap)}, is one minus the Bayes security of the "
        "two.",
        draw,
        table(
            "The best test at each rate of mistakes",
            ("Mistaken for the second", "Second found"),
            [[float(alpha[i]), float(power[i])] for i in indices],
            percent=("Mistaken for the second", "Second found"),
            folded=True,
        ),
        size=(7.2, 4.8),
        name="test",
    )


def over_uses(found: Sequence[AfterOutputs]) -> Figure:
    """Draw how Bayes security falls with the outputs that are seen."""
    outputs = [step.outputs for step in found]
    low = np.array([step.security.beta_star for step in found])
    high = np.array([step.security.beta_star_at_most for step in found])
    tiny = low[-1] < 1e-3

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        floor = float(high[high > 0].min()) / 10 if tiny and (high > 0).any() else 0.0
        shown = np.where(low > 0, low, np.nan) if tiny else low
        axes.fill_between(outputs, np.maximum(low, floor), high, color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(outputs, shown, marker="o", color=BLUE, clip_on=False)
        axes.set(xscale="log", xlabel="outputs about one secret (log scale)")
        axes.set_xticks(outputs[:: max(1, len(outputs) // 6)])
        axes.xaxis.set_major_formatter(lambda x, _: number(x))
        axes.minorticks_off()
        if tiny:
            axes.set(yscale="log", ylabel="Bayes security (log scale)")
            axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0e}")
            axes.minorticks_off()
        else:
            axes.set(ylim=(0, 1.02), ylabel="Bayes security")
        axes.grid(axis="y")

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
        table(
            "Bayes security after so many outputs, between limits that hold",
            ("Outputs", "At least", "At most", "Worst two told apart, at most"),
            rows,
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
            0.03,
            0.96,
            "no mechanism here",
            va="top",
            fontweight="bold",
            bbox=PLATE,
            transform=axes.transAxes,
        )
        if made is not None:
            axes.plot(made.loss, made.beta_star, marker="o", color=RUST, clip_on=False)
            axes.annotate(
                "this mechanism",
                (made.loss, made.beta_star),
                xytext=(8, -10),
                textcoords="offset points",
                color=RUST,
                bbox=PLATE,
            )
        axes.grid(visible=True)
        axes.set(
            xlim=(0, None),
            ylim=(0, 1.02),
            xlabel="expected loss",
            ylabel="largest Bayes security",
        )

    return Figure(
        "What security costs: more of it for more loss, up to saying nothing",
        f"The largest Bayes security rises from {security[0]:.4g} at loss {loss[0]:.4g} to "
        f"{security[-1]:.4g} at {loss[-1]:.4g}.{dashed}",
        draw,
        table(
            "The largest Bayes security at each loss, within 1e-6",
            ("Expected loss", "Bayes security"),
            [[float(a), float(b)] for a, b in zip(loss, security, strict=True)],
            folded=True,
        ),
        name="trade-off",
    )


def rows_of(made: Channel, title: str, axes_names: tuple[str, str], name: str) -> Figure | None:
    """Draw a channel, a square for each entry; None for one that is too large to be read."""
    if max(made.shape) > MOST_SECRETS:
        return None
    values, (down, across) = made.dense, axes_names

    def draw(figure: MplFigure) -> None:
        axes = figure.subplots()
        _cells(axes, values, np.arange(len(values) + 1.0))
        _columns(axes, made.outputs)
        axes.set_yticks(np.arange(len(values)) + 0.5, [short(s, 18) for s in made.secrets])
        axes.invert_yaxis()
        axes.set(xlabel=across, ylabel=down)

    rows = [[s, *map(float, row)] for s, row in zip(made.secrets, values, strict=True)]
    return Figure(
        title,
        f"A row for each {down}, a column for each {across}; the darker, the likelier.",
        draw,
        Grid(
            f"Chance of each {across}",
            (down.capitalize(), *made.outputs),
            rows,
            percent=tuple(made.outputs),
            folded=len(rows) > 10,
        ),
        size=(6.4, min(7.0, 1.6 + 0.4 * len(values))),
        name=name,
    )
