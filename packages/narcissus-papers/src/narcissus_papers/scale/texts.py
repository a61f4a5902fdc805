"""The results of a sweep as data, as lines of text, and as a page with a plot."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from matplotlib.ticker import FuncFormatter

from narcissus._files import writing
from narcissus._outwards import upper
from narcissus._visible import csv_text, visible
from narcissus.findings import weakest
from narcissus.report.about import verdict_of as verdict_of_record
from narcissus.report.html import page_html
from narcissus.report.page import Facts, Figure, Grid, Items, Page, Section, Verdict
from narcissus.report.svg import BLUE, INK, PAPER, QUIET, RUST, svg_of
from narcissus.report.text import WIDTH
from narcissus.results import Grade
from narcissus.study.marks import write_results
from narcissus_papers.scale.fit import (
    ASSUMED,
    EVERYBODY,
    CurveWords,
    Exponent,
    Known,
    Quantity,
    SizeCurve,
    headline,
    named,
    places,
    sentence,
    told,
)
from narcissus_papers.scale.sweep import Scaled

COLUMNS = ("parameter", "value", "whose", "quantity", "limits", "number", "low", "high", "exact")
FILES = ("data.csv", "data.json", "picture.svg", "index.html")
"""What is written, next to the folder of the values."""


def verdict_of(scaled: Scaled) -> tuple[str, Grade, bool]:
    first = headline(scaled.curves)
    if first is None:
        return (
            "Nothing could be told: neither was an attacker played nor a game written out.",
            "not assessed",
            False,
        )
    description = told(first)
    words = [sentence(description, scaled.name)]
    if first.whose == EVERYBODY and len(first.points) < len(scaled.each):
        words.append(
            f"Every attacker is covered at {len(first.points)} of the {len(scaled.each)} values: "
            "the others were not written out."
        )
    bounds = [told(curve) for curve in scaled.curves if curve.quantity == "bound"]
    words += [f"{sentence(bound, scaled.name)[:-1]} ({bound.grade})." for bound in bounds]
    return " ".join([*words, _further(scaled)]).strip(), description.grade, description.is_told


def _further(scaled: Scaled) -> str:
    """Describe closed forms and bounds beyond the values that were played."""
    phrases: list[str] = []
    for curve in scaled.further:
        last = curve.points[-1]
        if last.size <= scaled.sweep.over.values[-1]:
            continue
        number = f"{last.value:.3g}" if curve.quantity != "bound" else upper(last.value, 3)
        phrases.append(f"at {scaled.name} = {last.size:g} {named(curve)} is {number}")
    return f"Beyond these values only formulas speak: {'; '.join(phrases)}." if phrases else ""


def rows_of(scaled: Scaled) -> list[tuple[Any, ...]]:
    """Return the data, the names of its columns first."""
    rows: list[tuple[Any, ...]] = [(*COLUMNS, "grade")]
    for curve in (*scaled.curves, *scaled.further):
        rows += [
            (
                scaled.name,
                p.size,
                curve.whose,
                curve.quantity,
                curve.limits,
                p.value,
                p.low,
                p.high,
                p.exact,
                curve.grade,
            )
            for p in curve.points
        ]
    return rows


def as_dict(scaled: Scaled) -> dict[str, Any]:
    """Return all of it, ready for JSON."""
    words, grade, is_told = verdict_of(scaled)
    return {
        "title": scaled.title,
        "parameter": scaled.name,
        "values": list(scaled.sweep.over.values),
        "with": {part.name: list(part.values) for part in scaled.sweep.together},
        "confidence": scaled.sweep.confidence,
        "verdict": words,
        "grade": grade,
        "told": is_told,
        "assumptions": list(ASSUMED),
        "curves": [_curve(part) for part in scaled.curves],
        "further": [_curve(part) for part in scaled.further],
        "failed": {
            f"{part.value:g}": part.failed or "; ".join(part.failures)
            for part in scaled.each
            if part.failed or part.failures
        },
        "records": {
            f"{part.value:g}": part.record.digest for part in scaled.each if part.record is not None
        },
    }


def _curve(curve: SizeCurve) -> dict[str, Any]:
    description = told(curve)
    return {
        "whose": curve.whose,
        "quantity": curve.quantity,
        "limits": curve.limits,
        "grade": curve.grade,
        "direction": curve.direction,
        "words": description.words,
        "exponents": [asdict(exponent) for exponent in curve.exponents],
        "points": [asdict(point) for point in curve.points],
    }


def page(scaled: Scaled) -> Page:
    words, grade, is_told = verdict_of(scaled)
    descriptions = [told(curve) for curve in scaled.curves]
    blocks = [picture(scaled.curves, scaled.further, scaled.name), _fits(descriptions)]
    sections = [
        Section("What was drawn", [Facts(_facts(scaled))]),
        Section("Against the parameter", blocks),
        Section("How to read the exponents", [Items("Method and assumptions", list(ASSUMED))]),
        Section("What is not covered", [Items("Not covered", _not_covered(scaled), "warning")]),
    ]
    return Page(
        title=f"{scaled.title}: against {scaled.name}",
        subtitle=scaled.about,
        verdict=Verdict(
            status="no threshold" if is_told else "not assessed", headline=words, rests_on=grade
        ),
        sections=sections,
    )


def _facts(scaled: Scaled) -> list[tuple[str, str]]:
    rows = [(scaled.name, ", ".join(f"{v:g}" for v in scaled.sweep.over.values))]
    rows += [
        (f"with {o.name}", ", ".join(f"{v:g}" for v in o.values)) for o in scaled.sweep.together
    ]
    trials = {point.found.trials for point in scaled.each if point.found is not None}
    rows.append(("Trials at each value", ", ".join(f"{n:,}" for n in sorted(trials))))
    rows.append(
        ("Limits", f"{100 * scaled.sweep.confidence:g}%, of all values and numbers together")
    )
    return rows


def _fits(said: list[CurveWords]) -> Grid:
    rows: list[list[Any]] = []
    grades: list[Grade] = []
    for words in said:
        for fit in words.curve.exponents:
            fits = "yes" if fit.fits else "no"
            rows.append(
                [
                    words.curve.whose,
                    words.curve.quantity,
                    fit.law.replace("x", "n"),
                    fit.value,
                    fit.low,
                    fit.high,
                    fits,
                    fit.off,
                    fit.sizes,
                ]
            )
            grades.append(weakest([words.curve.grade, "approximate"]))
    columns = ["of", "quantity", "law", "exponent", "low", "high", "fits", "off by", "values"]
    return Grid("Both laws, fitted to each curve", columns, rows, grades)


def _not_covered(scaled: Scaled) -> list[str]:
    failed = [
        f"{scaled.name} = {point.value:g}: {reason}"
        for point in scaled.each
        for reason in (*([point.failed] if point.failed else []), *point.failures)
    ]
    at_odds = [
        f"{scaled.name} = {point.value:g}: {verdict_of_record(point.record)}"
        for point in scaled.each
        if point.record is not None and point.record.status == "contradicted"
    ]
    return [
        f"values of {scaled.name} other than those drawn, above all larger ones",
        "attackers other than those played, where the game was not written out",
        *(
            ["attacks at rates or priors other than those that were played"]
            if scaled.of_rates
            else []
        ),
        *failed,
        *at_odds,
    ]


def text_of(scaled: Scaled) -> str:
    """Return the verdict and a line for each curve, for a terminal."""
    words, grade, _ = verdict_of(scaled)
    first = headline(scaled.curves)
    lines = [f"{grade.upper()}: {words}"]
    for curve in scaled.curves:
        if curve is not first and curve.quantity != "bound":
            statement = told(curve)
            lines.append(f"  {sentence(statement, scaled.name)} ({statement.grade})")
    for point in scaled.each:
        if point.failed:
            lines.append(f"  {scaled.name} = {point.value:g} could not be played: {point.failed}")
        elif point.record is not None and point.record.status == "contradicted":
            lines.append(f"  {scaled.name} = {point.value:g}: {verdict_of_record(point.record)}")
        lines += [f"  {scaled.name} = {point.value:g}: {statement}" for statement in point.failures]
    wrapper = textwrap.TextWrapper(
        WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapper.fill(visible(line)) for line in lines)


def write(scaled: Scaled, folder: Path | str, *, restart: bool = False) -> None:
    """Write the data, the picture and the page into a folder.

    restart: replace results that this installation did not write.
    """
    figure = picture(scaled.curves, scaled.further, scaled.name)
    texts = (
        csv_text(rows_of(scaled)),
        visible(json.dumps(as_dict(scaled), indent=1, ensure_ascii=False), keep="\n"),
        svg_of(figure, "scale"),
        page_html(page(scaled)),
    )
    with writing(Path(folder)):
        write_results(Path(folder), dict(zip(FILES, texts, strict=True)), restart=restart)


_LOOKS: dict[Quantity, dict[str, Any]] = {
    "success": {"marker": "o", "color": BLUE},
    "baseline": {"marker": "s", "color": QUIET, "markerfacecolor": PAPER},
    "gain": {"marker": "o", "color": BLUE},
    "bound": {"color": INK, "linewidth": 2.4},
    "closed form": {},
}
_DASHES = ("-", "--", ":", "-.")
_DECADE = 5.0
"""From this ratio of the largest to the least on, an axis is logarithmic."""


def picture(curves: Sequence[SizeCurve], further: Sequence[SizeCurve], parameter: str) -> Figure:
    """Draw the plot, with its numbers as a table."""
    rows = [
        [p.size, named(curve), p.value, p.low, p.high] for curve in curves for p in curve.points
    ]
    return Figure(
        title=f"Success, baseline and what is gained, against {parameter}",
        description=(
            "On the left filled circles are success, open squares the baseline, heavy lines bounds "
            "on success by theorems; on the right what is gained, with the law that fits it best "
            "as a thin line. Bars are limits that hold for all values at the same time; an arrow "
            "is an upper limit where the lower one is 0."
        ),
        draw=partial(_draw, curves=curves, further=further, parameter=parameter),
        table=Grid(
            "The numbers in the picture",
            [parameter, "of", "value", "low", "high"],
            rows,
            [curve.grade for curve in curves for _ in curve.points],
            folded=True,
        ),
        size=(9.6, 4.4),
        name="scale",
    )


def _draw(
    figure: MplFigure, *, curves: Sequence[SizeCurve], further: Sequence[SizeCurve], parameter: str
) -> None:
    left, right = figure.subplots(1, 2)
    whose = list(dict.fromkeys(c.whose for c in curves if c.quantity == "gain"))
    for axes, quantities in ((left, ("success", "baseline")), (right, ("gain",))):
        drawn = [c for c in curves if c.quantity in quantities]
        bounds = [
            c
            for c in (*curves, *further)
            if c.quantity in ("bound", "closed form") and (c.limits == "gain") == (axes is right)
        ]
        is_log = _scales(axes, [p for c in (*drawn, *bounds) for p in c.points])
        for curve in drawn:
            _draw_curve(
                axes, curve, _DASHES[whose.index(curve.whose) % len(_DASHES)], is_log=is_log
            )
        for curve in bounds:
            _formula(axes, curve, is_further=curve in further)
        axes.set_xlabel(parameter)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7)
    left.set_title("Success and baseline", loc="left")
    right.set_title("Gain: success less the baseline", loc="left")


def _scales(axes: Axes, points: Sequence[Known]) -> bool:
    """Choose the scales of both axes; return whether the vertical one is logarithmic."""
    sizes = sorted({p.size for p in points})
    steps = np.diff(sizes)
    if len(sizes) > 2 and sizes[0] > 0 and steps.max() > 2 * steps.min():
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [f"{s:g}" for s in sizes])
        axes.minorticks_off()
    values = [p.value for p in points if p.value > 0 and p.high > 0]
    is_log = bool(values) and max(values) > _DECADE * min(values)
    if is_log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.grid(visible=True)
    return is_log


def _draw_curve(axes: Axes, curve: SizeCurve, dash: str, *, is_log: bool) -> None:
    look = _LOOKS[curve.quantity]
    color = look["color"] if curve.whose == EVERYBODY or dash == "-" else RUST
    if curve.quantity == "baseline":
        color = QUIET
    shown = [p for p in curve.points if not is_log or p.low > 0]
    if shown:
        x, y = [p.size for p in shown], [p.value for p in shown]
        bars = [[p.value - p.low for p in shown], [p.high - p.value for p in shown]]
        style: dict[str, Any] = {
            **look,
            "color": color,
            "linestyle": dash,
            "markersize": 5,
            "linewidth": 1.2,
        }
        axes.errorbar(
            x, y, yerr=bars, label=f"{curve.quantity}, {curve.whose}", elinewidth=1, **style
        )
    for p in curve.points if is_log else ():
        if p.low <= 0 < p.high:  # an upper limit only
            axes.plot(p.size, p.high, marker="v", color=color, markersize=5)
    if curve.quantity == "gain":
        _law(axes, curve, color)


def _law(axes: Axes, curve: SizeCurve, color: str) -> None:
    """Draw the law that fits, over the sizes of its fit."""
    good = [fit for fit in curve.exponents if fit.fits]
    if curve.direction != "falls" or not good:
        return
    best = min(good, key=lambda fit: fit.off)
    over = [p for p in curve.points if p.low > 0]
    sizes = np.linspace(best.first, best.last, 100)
    axes.plot(sizes, _line(best, over, sizes.tolist()), color=color, linewidth=0.8, linestyle=":")


def _line(one: Exponent, points: Sequence[Known], sizes: Sequence[float]) -> list[float]:
    """Evaluate the least-squares line of a law at sizes."""
    at = places(one.law, [p.size for p in points])
    logs = np.log2([p.value for p in points])
    x = places(one.law, sizes)
    return (2 ** (logs.mean() - one.value * (x - at.mean()))).tolist()


def _formula(axes: Axes, curve: SizeCurve, *, is_further: bool) -> None:
    x, y = [p.size for p in curve.points], [p.value for p in curve.points]
    if curve.quantity == "closed form":
        look: dict[str, Any] = {"color": RUST, "linestyle": ":", "linewidth": 1.4}
        words = f"formula: {curve.whose}"
    else:
        look = {**_LOOKS["bound"], "linestyle": "--" if is_further else "-"}
        words = "bound, not played" if is_further else f"bound: {curve.whose}"
    axes.plot(x, y, label=words if len(words) <= 46 else f"{words[:45]}...", **look)
