"""The files of an item: its data, its picture, and one page for all."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

from narcissus._files import put
from narcissus._visible import csv_text, visible
from narcissus_papers.base import Item, Reproduced
from narcissus_papers.page import Made, draw, page
from narcissus_papers.texts import as_dict


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
