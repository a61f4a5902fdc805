"""A page as one HTML file: no script, nothing from outside, the same bytes for the same record."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from narcissus.report.format import SIGNS, STATUS, cell, contradicted
from narcissus.report.kinds import page_of
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Items, Page, Pictures, Text
from narcissus.report.svg import svg_of
from narcissus.study.record import Record

EN_DASH, WORD_JOINER = "\N{EN DASH}", "\N{WORD JOINER}"
_TEMPLATES: dict[type[Block], str] = {
    Text: "text.html",
    Facts: "facts.html",
    Items: "items.html",
    Grid: "table.html",
    Figure: "figure.html",
    Pictures: "pictures.html",
}


@cache
def environment() -> Environment:
    """Load the templates once; everything that a template is given is escaped."""
    environment = Environment(
        loader=PackageLoader("narcissus.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = _cell
    environment.filters["contradicted"] = contradicted
    environment.filters["sign"] = SIGNS.__getitem__
    return environment


def _cell(value: Cell, *, is_percent: bool = False) -> str:
    """Give a table's cell; a browser would break a line after the dash of a range."""
    return cell(value, is_percent=is_percent).replace(EN_DASH, EN_DASH + WORD_JOINER)


class _Blocks:
    """Draws blocks in order, and numbers what needs an id."""

    def __init__(self) -> None:
        self.figures = 0

    @staticmethod
    def has_pictures(page: Page) -> bool:
        """Say whether a page shows single images of the data."""
        blocks = [block for section in page.sections for block in section.blocks]
        return any(
            isinstance(block, Pictures) or (isinstance(block, Figure) and block.of_single)
            for block in blocks
        )

    def html(self, block: Block, level: int = 3) -> Markup:
        """Draw one block; ``level`` is the rank of its heading, if it has one."""
        more: dict[str, Any] = {}
        if isinstance(block, Figure):
            self.figures += 1
            more["name"] = f"figure-{self.figures}"
            # our own drawing, with title and description escaped where it is made
            more["svg"] = Markup(svg_of(block, more["name"]))
        template = environment().get_template(_TEMPLATES[type(block)])
        return Markup(template.render(block=block, level=level, blocks=self, **more))


def page_html(page: Page, *, digest: str = "", template: str = "page.html") -> str:
    """Draw a page as one self-contained HTML document."""
    verdict = page.verdict
    sign, words = STATUS.get(verdict.status, ("?", verdict.status))
    # a colour must not lend an approximation, or an assumption, the look of a finding
    sure = verdict.rests_on in ("proved", "sampled") and not verdict.assumptions
    tone = verdict.status.replace(" ", "-") if sure else "uncoloured"
    drawing = environment().get_template(template)
    text = drawing.render(
        page=page,
        verdict=verdict,
        sign=sign,
        status=words,
        tone=tone,
        blocks=_Blocks(),
        digest=digest,
    )
    if "<image " in text or "<img " in text:  # pixels inside the page; all text is escaped
        text = text.replace("default-src 'none';", "default-src 'none'; img-src data:;", 1)
    return text


def render_html(record: Record) -> str:
    """Draw a record as one self-contained HTML page.

    Parameters
    ----------
    record
        From a run, or read from a file.

    Returns
    -------
    str
        A whole document without scripts and without references to anything outside it; the same
        bytes for the same record.
    """
    return page_html(page_of(record), digest=record.digest)
