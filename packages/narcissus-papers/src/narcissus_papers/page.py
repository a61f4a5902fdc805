"""The page and files of results: pictures, data, and each printed number with ours."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure

from narcissus._files import put
from narcissus._visible import csv_text, visible
from narcissus.report.page import Block, Figure, Grid, Items, Page, Section, Text, Verdict
from narcissus_papers.base import PAPERS, Item, Panel, Reproduced
from narcissus_papers.job import as_dict

Made = tuple[Item, Reproduced]

_STYLES: dict[str, dict[str, Any]] = {
    "line": {"linestyle": "-", "linewidth": 1.6},
    "dashed": {"linestyle": "--", "linewidth": 1.3},
    "dotted": {"linestyle": ":", "linewidth": 1.3},
    "points": {"linestyle": "none", "marker": "o", "markersize": 6},
}
_INSIDE = 8  # lines up to which their legend has room in the picture
_SHOWN = 12  # rows of a curve in the table below its picture; the files hold all


def page(made: Sequence[Made]) -> Page:
    words = {
        "agrees": "agreeing",
        "differs": "differing",
        "fitted": "fitted",
        "no number in print": "without a number in print",
        "failed": "failed",
    }
    count = {word: sum(one.verdict == key for _, one in made) for key, word in words.items()}
    said = ", ".join(f"{number} {word}" for word, number in count.items() if number)
    return Page(
        title="The papers, made again",
        subtitle="Figures, tables and statements: ours beside what is printed",
        verdict=Verdict(status=said, headline=f"{len(made)} made again: {said}."),
        sections=[_section(item, one) for item, one in made],
    )


def _section(item: Item, made: Reproduced) -> Section:
    blocks: list[Block] = [Text([f"{made.verdict.capitalize()}: {made.because}."])]
    if made.panels:
        blocks.append(figure(item, made))
    if made.table:
        blocks.append(Grid(item.title, [str(c) for c in made.table[0]], made.table[1:]))
    if made.printed:
        rows = [
            (
                one.what,
                "" if one.quote is None else one.quote.number,
                one.ours,
                ": ".join(filter(None, (one.word, one.reason))),
                "" if one.quote is None else f"{one.quote.words} ({one.quote.place})",
            )
            for one in made.printed
        ]
        columns = ["What", "Paper", "Ours", "Compared", "Where it is printed"]
        blocks.append(Grid("Printed, and ours", columns, rows))
    if made.held:
        held = [
            (
                one.what,
                "yes" if one.holds else f"no: {one.because}",
                one.shown,
                "" if one.quote is None else f"{one.quote.words} ({one.quote.place})",
            )
            for one in made.held
        ]
        blocks.append(Grid("Claims", ["Claim", "Held", "Shown", "In print"], held))
    if made.notes:
        blocks.append(Items("Readings", made.notes))
    words = f"{PAPERS[item.paper]}, {item.kind} {item.number}: {item.title}"
    return Section(words, blocks)


def figure(item: Item, made: Reproduced) -> Figure:
    names = [str(name) for name in made.rows[0]]
    step = max(1, (len(made.rows) - 1) // _SHOWN)
    return Figure(
        title=item.title,
        description="; ".join(
            f"{panel.title}: {len(panel.lines)} curves of {panel.y} against {panel.x}"
            for panel in made.panels
        ),
        draw=partial(draw, panels=made.panels),
        table=Grid(f"Some of {len(made.rows) - 1:,} points", names, made.rows[1::step]),
        size=(6.4 * len(made.panels), 4.6),
        name=item.name.replace("/", "-"),
    )


def draw(canvas: MplFigure, *, panels: Sequence[Panel]) -> None:
    """Draw panels side by side on an empty figure."""
    axes = canvas.subplots(1, len(panels), squeeze=False)[0]
    for one, panel in zip(axes, panels, strict=True):
        _panel(one, panel)


def _panel(axes: Axes, panel: Panel) -> None:
    for line in panel.lines:
        axes.plot(line.x, line.y, label=line.label, **_STYLES[line.style])
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.names:
        axes.set_xticks(range(len(panel.names)), panel.names, rotation=60, ha="right", fontsize=7)
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.grid(visible=True)
    if len(panel.lines) > _INSIDE:
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        axes.legend(fontsize=7)


def write_item(folder: Path, item: Item, made: Reproduced, *, anew: bool) -> None:
    """Write the data and the picture; unless ``anew``, only what is missing.

    A folder that cannot be written raises InputError.
    """

    def missing(name: str) -> bool:
        return anew or not (folder / name).exists()

    if missing("data.csv"):
        put(folder / "data.csv", csv_text(made.rows), folders=True)
    if missing("data.json"):
        said = json.dumps(as_dict(item, made), indent=1, ensure_ascii=False)
        put(folder / "data.json", visible(said, keep="\n"), folders=True)
    if made.panels and missing("picture.svg"):
        put(folder / "picture.svg", _svg(made), folders=True)


def remove_item(folder: Path) -> None:
    for name in ("data.csv", "data.json", "picture.svg"):
        (folder / name).unlink(missing_ok=True)


def write_page(path: Path, made: Sequence[Made]) -> None:
    from narcissus.report.html import page_html

    put(path, page_html(page(made)), folders=True)


def _svg(made: Reproduced) -> str:
    """Draw the panels as a deterministic SVG file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "narcissus"}):
        canvas = Figure(figsize=(6.4 * len(made.panels), 4.6), layout="constrained")
        draw(canvas, panels=made.panels)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
