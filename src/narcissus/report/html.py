"""A page as one HTML file: no script, nothing from outside, the same bytes for the same record."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from narcissus._visible import WORD_JOINER, visible
from narcissus.report.envelope import page_of
from narcissus.report.format import GRADES, SIGNS, STATUS, cell, contradicted, grade_word
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Items, Page, Pictures, Text
from narcissus.report.svg import svg_of
from narcissus.report.words import TERMS, meaning_of, words_in
from narcissus.study.record import Record

EN_DASH = "\N{EN DASH}"
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
    environment.filters["in_words"] = grade_word
    return environment


def _cell(value: Cell, *, is_percent: bool = False) -> str:
    """Return a table's cell; a browser would break a line after the dash of a range."""
    return cell(value, is_percent=is_percent).replace(EN_DASH, EN_DASH + WORD_JOINER)


def _named(entry: str) -> str:
    """Name a word as pages write it: a grade by its word."""
    return next((grade_word(grade) for grade in GRADES if grade == entry), entry)


class _Blocks:
    """Draws blocks in order, and numbers what needs an id."""

    def __init__(self) -> None:
        self.figures = self.words = 0
        self.known: set[str] = set()
        self.told: dict[str, bool] = {}  # every word so far, and whether paper has its meaning

    def end_of_section(self) -> list[tuple[str, str]]:
        """Return words that are new, with what they mean, for paper; the next part asks anew."""
        new = [entry for entry, is_told in self.told.items() if not is_told]
        self.told = dict.fromkeys(self.told, True)
        self.known = set()
        return [(_named(entry), meaning_of(entry)) for entry in new]

    def text(self, text: str) -> Markup:
        """Return a text whose words can be asked what they mean, where they are."""
        parts, end = [Markup()], 0
        for start, stop, entry in () if text.startswith("narcissus ") else words_in(text):
            if entry not in self.known and not (entry in TERMS and entry in self.told):
                parts += [escape(text[end:start]), self.term(entry, text[start:stop])]
                end = stop
        return Markup().join([*parts, escape(text[end:])])

    def term(self, entry: str, shown: str, look: str = "") -> Markup:
        """Return a word that shows its meaning when it is pressed."""
        self.known.add(entry)
        self.words += 1
        self.told.setdefault(entry, False)
        context = {
            "entry": _named(entry),
            "shown": shown,
            "look": look,
            "meaning": meaning_of(entry),
        }
        return Markup(environment().get_template("term.html").render(n=self.words, **context))

    @staticmethod
    def has_pictures(page: Page) -> bool:
        """Return whether a page shows single images of the data."""
        return any(isinstance(block, Pictures) for part in page.sections for block in part.blocks)

    def html(self, block: Block, level: int = 3, *, is_folded: bool = False) -> Markup:
        """Draw one block; ``level`` is the rank of its heading, if it has one."""
        context: dict[str, Any] = {}
        known = self.known
        if is_folded or (isinstance(block, Grid) and block.folded):
            self.known = set()  # what is folded away nobody may have read
        if isinstance(block, Figure):
            self.figures += 1
            context["name"] = f"figure-{self.figures}"
            # our own drawing, with title and description escaped where it is made
            context["svg"] = Markup(svg_of(block, context["name"]))
        template = environment().get_template(_TEMPLATES[type(block)])
        drawn = Markup(
            template.render(block=block, level=level, is_folded=is_folded, blocks=self, **context)
        )
        self.known = known
        return drawn


def page_html(page: Page, *, digest: str = "") -> str:
    """Draw a page as one self-contained HTML document."""
    verdict = page.verdict
    sign, words = STATUS.get(verdict.status, ("?", verdict.status))
    # a colour must not lend an approximation, or an assumption, the look of a finding
    sure = verdict.rests_on in ("proved", "counted", "sampled") and not verdict.assumptions
    tone = words.lower().replace(" ", "-") + ("" if sure else " unsure")
    drawing = environment().get_template("page.html")
    text = drawing.render(
        page=page,
        verdict=verdict,
        is_silent=verdict.is_silent,
        sign=sign,
        status=words,
        tone=tone,
        blocks=_Blocks(),
        digest=digest,
    )
    if "<image " in text or "<img " in text:  # pixels inside the page; all text is escaped
        text = text.replace("default-src 'none';", "default-src 'none'; img-src data:;", 1)
    return visible(text, keep="\n\t" + WORD_JOINER)


def render_html(record: Record, *, internal: bool = False) -> str:
    """Draw a record as one HTML page without scripts and without references to anything outside.

    The same record gives the same bytes. internal: draw all that the steward may see, and say that
    it is not to be shown.
    """
    return page_html(page_of(record, internal=internal), digest=record.digest)
