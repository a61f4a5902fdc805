"""The results of a sweep as data, as lines of text and as one page."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any

from narcissus._files import put
from narcissus._outwards import upper
from narcissus._visible import csv_text, visible
from narcissus.findings import weakest
from narcissus.report.html import page_html
from narcissus.report.page import Facts, Grid, Items, Page, Section, Verdict
from narcissus.report.svg import svg_of
from narcissus.report.text import WIDTH
from narcissus.results import Grade
from narcissus.scale.fit import EVERYBODY, SizeCurve
from narcissus.scale.picture import picture
from narcissus.scale.sweep import Scaled
from narcissus.scale.verdict import ASSUMED, CurveWords, headline, named, sentence, told

COLUMNS = ("parameter", "value", "whose", "quantity", "limits", "number", "low", "high", "exact")
FILES = ("data.csv", "data.json", "picture.svg", "index.html")
"""What is written, beside the folder of the values."""


def verdict_of(scaled: Scaled) -> tuple[str, Grade, bool]:
    first = headline(scaled.curves)
    if first is None:
        return (
            "Nothing could be told: no attacker was played, and no game written out.",
            "not assessed",
            False,
        )
    said = told(first)
    words = [sentence(said, scaled.name)]
    if first.whose == EVERYBODY and len(first.points) < len(scaled.each):
        words.append(
            f"Every attacker is covered at {len(first.points)} of the {len(scaled.each)} values: "
            "the others were not written out."
        )
    bounds = [told(curve) for curve in scaled.curves if curve.quantity == "bound"]
    words += [f"{sentence(one, scaled.name)[:-1]} ({one.grade})." for one in bounds]
    return " ".join([*words, _further(scaled)]).strip(), said.grade, said.is_told


def _further(scaled: Scaled) -> str:
    """Describe closed forms and bounds beyond the values that were played."""
    said: list[str] = []
    for curve in scaled.further:
        last = curve.points[-1]
        if last.size <= scaled.sweep.over.values[-1]:
            continue
        number = f"{last.value:.3g}" if curve.quantity != "bound" else upper(last.value, 3)
        said.append(f"at {scaled.name} = {last.size:g} {named(curve)} is {number}")
    return f"Beyond these values only formulas speak: {'; '.join(said)}." if said else ""


def rows_of(scaled: Scaled) -> list[tuple[Any, ...]]:
    """Return the data, the names of its columns first."""
    rows: list[tuple[Any, ...]] = [(*COLUMNS, "grade")]
    for curve in (*scaled.curves, *scaled.further):
        rows += [
            (
                scaled.name, p.size, curve.whose, curve.quantity, curve.limits,
                p.value, p.low, p.high, p.exact, curve.grade,
            )
            for p in curve.points
        ]  # fmt: skip
    return rows


def as_dict(scaled: Scaled) -> dict[str, Any]:
    """Return all of it, ready for JSON."""
    words, grade, is_told = verdict_of(scaled)
    return {
        "title": scaled.title,
        "parameter": scaled.name,
        "values": list(scaled.sweep.over.values),
        "with": {one.name: list(one.values) for one in scaled.sweep.together},
        "confidence": scaled.sweep.confidence,
        "verdict": words,
        "grade": grade,
        "told": is_told,
        "assumptions": list(ASSUMED),
        "curves": [_curve(one) for one in scaled.curves],
        "further": [_curve(one) for one in scaled.further],
        "failed": {
            f"{one.value:g}": one.failed or "; ".join(one.failures)
            for one in scaled.each
            if one.failed or one.failures
        },
        "records": {
            f"{one.value:g}": one.record.digest for one in scaled.each if one.record is not None
        },
    }


def _curve(curve: SizeCurve) -> dict[str, Any]:
    said = told(curve)
    return {
        "whose": curve.whose,
        "quantity": curve.quantity,
        "limits": curve.limits,
        "grade": curve.grade,
        "direction": curve.direction,
        "words": said.words,
        "exponents": [asdict(one) for one in curve.exponents],
        "points": [asdict(point) for point in curve.points],
    }


def page(scaled: Scaled) -> Page:
    words, grade, is_told = verdict_of(scaled)
    said = [told(curve) for curve in scaled.curves]
    blocks = [picture(scaled.curves, scaled.further, scaled.name), _fits(said)]
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
    trials = {one.results.trials for one in scaled.each if one.results is not None}
    rows.append(("Trials at each value", ", ".join(f"{n:,}" for n in sorted(trials))))
    rows.append(
        ("Limits", f"{100 * scaled.sweep.confidence:g}%, of all values and numbers together")
    )
    return rows


def _fits(said: list[CurveWords]) -> Grid:
    rows: list[list[Any]] = []
    grades: list[Grade] = []
    for one in said:
        for fit in one.curve.exponents:
            fits = "yes" if fit.fits else "no"
            rows.append([
                one.curve.whose, one.curve.quantity, fit.law.replace("x", "n"), fit.value, fit.low,
                fit.high, fits, fit.off, fit.sizes,
            ])  # fmt: skip
            grades.append(weakest([one.curve.grade, "approximate"]))
    columns = ["of", "quantity", "law", "exponent", "low", "high", "fits", "off by", "values"]
    return Grid("Both laws, fitted to each curve", columns, rows, grades)


def _not_covered(scaled: Scaled) -> list[str]:
    failed = [
        f"{scaled.name} = {one.value:g}: {said}"
        for one in scaled.each
        for said in (*([one.failed] if one.failed else []), *one.failures)
    ]
    at_odds = [
        f"{scaled.name} = {one.value:g}: {one.record.verdict}"
        for one in scaled.each
        if one.record is not None and one.record.status == "contradicted"
    ]
    return [
        f"values of {scaled.name} other than those drawn, above all larger ones",
        "attackers other than those played, where the game was not written out",
        *(["attacks at rates between those that were played"] if scaled.of_rates else []),
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
            said = told(curve)
            lines.append(f"  {sentence(said, scaled.name)} ({said.grade})")
    for one in scaled.each:
        if one.failed:
            lines.append(f"  {scaled.name} = {one.value:g} could not be played: {one.failed}")
        elif one.record is not None and one.record.status == "contradicted":
            lines.append(f"  {scaled.name} = {one.value:g}: {one.record.verdict}")
        lines += [f"  {scaled.name} = {one.value:g}: {said}" for said in one.failures]
    return "\n".join(_wrapped(line) for line in lines)


def _wrapped(line: str) -> str:
    return textwrap.fill(
        visible(line),
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def write(scaled: Scaled, folder: Path | str) -> None:
    """Write the data, the picture and the page.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    figure = picture(scaled.curves, scaled.further, scaled.name)
    texts = (
        csv_text(rows_of(scaled)),
        visible(json.dumps(as_dict(scaled), indent=1, ensure_ascii=False), keep="\n"),
        svg_of(figure, "scale"),
        page_html(page(scaled)),
    )
    for name, text in zip(FILES, texts, strict=True):
        put(Path(folder) / name, text, folders=True)
