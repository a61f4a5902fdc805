"""Make items again and write them: a folder each, and one page for all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from narcissus._files import write_atomically
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.reproduce.base import Given, Item, Reproduced
from narcissus.reproduce.page import Made, draw, page


def reproduce(
    items: Sequence[Item],
    out: Path | None = None,
    *,
    data: Path | None = None,
    observer: Observer = SILENT,
) -> list[Made]:
    """Make items again, one after the other.

    Parameters
    ----------
    items
        See `narcissus.reproduce.chosen`.
    out
        A folder that gets, for each item as soon as it is made, ``PAPER/KIND-NUMBER/`` with
        ``data.csv``, ``data.json`` (numbers, printed values, verdict) and ``picture.svg``, and at
        the end ``index.html`` with all of them. None writes nothing.
    data
        A folder with the files that items need and the project does not hold (`Item.needs`).
    observer
        Hears of each.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    made: list[Made] = []
    observer.start("items", len(items))
    for item in items:
        answers = {name: piece(Given(data=data)) for name, piece in item.pieces.items()}
        one = item.make(Given(answers, data))
        made.append((item, one))
        if out is not None:
            _write(out / item.name, item, one)
        observer.advance()
    observer.finish()
    if out is not None:
        from narcissus.report.html import page_html

        _put(out / "index.html", page_html(page(made)))
    return made


def as_dict(item: Item, made: Reproduced) -> dict[str, Any]:
    """Give all that came out of an item, ready for JSON."""
    return {
        "paper": item.paper,
        "kind": item.kind,
        "number": item.number,
        "title": item.title,
        "verdict": made.verdict,
        "because": made.because,
        "shown": made.shown,
        "printed": [{**asdict(one), "agrees": one.agrees} for one in made.printed],
        "held": [asdict(one) for one in made.held],
        "notes": list(made.notes),
        "data": [list(row) for row in made.rows],
    }


def _write(folder: Path, item: Item, made: Reproduced) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(made.rows)
    _put(folder / "data.csv", text.getvalue())
    _put(folder / "data.json", json.dumps(as_dict(item, made), indent=1, ensure_ascii=False))
    if made.panels:
        _put(folder / "picture.svg", _svg(made))


def _svg(made: Reproduced) -> str:
    """Draw the panels as a file of their own, the same each time."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "narcissus"}):
        canvas = Figure(figsize=(6.4 * len(made.panels), 4.6), layout="constrained")
        draw(canvas, panels=made.panels)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _put(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
