"""The page and files of results: pictures, data, and each printed number with ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from narcissus._files import put_result
from narcissus._visible import csv_text, visible
from narcissus.report.page import Block, Figure, Grid, Items, Page, Section, Text, Verdict
from narcissus.report.panels import draw, picture, size_of
from narcissus_papers.base import PAPERS, Item, Reproduced
from narcissus_papers.job import as_dict

Made = tuple[Item, Reproduced]

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
        subtitle="Figures, tables and statements: ours next to what is printed",
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
        size=size_of(made.panels),
        name=item.name.replace("/", "-"),
    )


def write_item(folder: Path, item: Item, made: Reproduced, *, anew: bool) -> None:
    """Write the data and the pictures; unless ``anew``, only what is missing.

    A folder that cannot be written raises InputError.
    """

    def missing(name: str) -> bool:
        return anew or not (folder / name).exists()

    if missing("data.csv"):
        put_result(folder / "data.csv", csv_text(made.rows))
    if missing("data.json"):
        said = json.dumps(as_dict(item, made), indent=1, ensure_ascii=False)
        put_result(folder / "data.json", visible(said, keep="\n"))
    forms: tuple[Literal["svg", "pdf"], ...] = ("svg", "pdf") if made.panels else ()
    for form in forms:
        if missing(f"picture.{form}"):
            put_result(folder / f"picture.{form}", picture(made.panels, form))


def remove_item(folder: Path) -> None:
    for name in ("data.csv", "data.json", "picture.svg", "picture.pdf"):
        (folder / name).unlink(missing_ok=True)


def write_page(path: Path, made: Sequence[Made]) -> None:
    from narcissus.report.html import page_html

    put_result(path, page_html(page(made)))
