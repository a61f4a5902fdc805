"""A page as plain text, for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from narcissus._visible import WORD_JOINER, visible
from narcissus.report.envelope import OPEN, PROVENANCE, page_of
from narcissus.report.first_screen import COLUMNS, LIMIT, THRESHOLD, FirstScreen
from narcissus.report.format import NO_BREAK, SIGNS, STATUS, cell, contradicted, grade_word
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Page, Pictures, Text, Verdict
from narcissus.report.words import meaning_of, words_in
from narcissus.results import Grade
from narcissus.study.record import Record

WIDTH = 80
MOST_LINES = 20
"""Lines of a first screen with its empty ones; the paths of report and record come after it."""
MOST_DECIDING = 60
"""Lines below the first screen, unless all is asked for."""
_RESTS = "What the verdict rests on"
_TERM = 26  # width of the column of terms
_MARKS = {"plain": "- ", "for": "+ ", "against": "- ", "warning": "! "}


def _wrap(text: str, *, first: str = "", rest: str | None = None, width: int = WIDTH) -> list[str]:
    """Break a text into lines; a long word (a digest) is left whole."""
    return textwrap.wrap(
        visible(text, keep=WORD_JOINER),  # before: a line end would become a blank
        width,
        initial_indent=first,
        subsequent_indent=" " * len(first) if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def _grade(grade: Grade) -> str:
    return f"{SIGNS[grade]} {grade_word(grade)}"


def _facts(rows: Sequence[tuple[str, str]], term: int = _TERM) -> Iterator[str]:
    """Yield terms on the left and what they are on the right; a long term has its own line."""
    for name, text in rows:
        if any(len(word) > WIDTH - term for word in text.split()):  # a digest
            yield from _wrap(name)
            yield from _wrap(text, first="    ")
        elif len(name) >= term:
            yield from _wrap(name)
            yield from _wrap(text, first=" " * term)
        else:
            yield from _wrap(text, first=name.ljust(term), rest=" " * term)


def _items(title: str, items: Sequence[str], mark: str) -> Iterator[str]:
    yield from _wrap(f"{title}:")
    for item in items:
        yield from _wrap(item, first=f"  {mark}")


def _cells(table: Grid) -> tuple[list[str], list[list[str]]]:
    """Return the head and the body of a table as texts, the grades as a last column."""
    head = list(table.columns)
    shares = [name in table.percent for name in head]
    body = [
        [cell(value, is_percent=share) for value, share in zip(row, shares, strict=True)]
        for row in table.rows
    ]
    if table.grades:
        head.append("How sure")
        body = [[*row, _grade(g)] for row, g in zip(body, table.grades, strict=True)]
    return head, body


def _words(text: str) -> int:
    """Return the length of the longest word; a non-breaking space joins words."""
    return max((len(word) for word in text.split(" ")), default=0)


def _widths(head: Sequence[str], body: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Share out the room among the columns, taking from the widest; None if it is too little."""
    columns = list(zip(head, *body, strict=True))
    minima = [max(1, *map(_words, column)) for column in columns]
    widths = [
        max(low, *(len(text) for text in column[1:]))
        for low, column in zip(minima, columns, strict=True)
    ]
    if sum(minima) > room:
        return None
    while sum(widths) > room:
        loose = [i for i in range(len(widths)) if widths[i] > minima[i]]
        widths[max(loose, key=lambda i: widths[i])] -= 1
    # more than a few lines in a cell are read better as a list
    deepest = max(
        len(_wrap(text, width=width))
        for row in body
        for text, width in zip(row, widths, strict=True)
    )
    return widths if deepest <= 4 else None


def _row(
    texts: Sequence[str], widths: Sequence[int], gap: str, *, bottom: bool = False
) -> Iterator[str]:
    """Yield the lines of one row, its cells aligned at the top or at the bottom."""
    cells = [_wrap(text, width=width) for text, width in zip(texts, widths, strict=True)]
    deep = max(map(len, cells))
    blank = [[""] * (deep - len(lines)) for lines in cells]
    full = [b + c if bottom else c + b for b, c in zip(blank, cells, strict=True)]
    for line in zip(*full, strict=True):
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield ("  " + gap.join(padded)).rstrip()


def _table(table: Grid) -> Iterator[str]:
    """Yield a table in columns where it fits, else each row as a list of terms."""
    head, body = _cells(table)
    yield from _wrap(table.caption)
    if not body:
        yield "  (no rows)"
        return
    for gap in ("  ", " "):  # closer together before the table falls apart into lists
        widths = _widths(head, body, WIDTH - 2 - len(gap) * (len(head) - 1))
        if widths is not None:
            yield from _row(head, widths, gap, bottom=True)
            yield "  " + gap.join("-" * width for width in widths)
            for row in body:
                yield from _row(row, widths, gap)
            return
    term = min(max(len(name) for name in head) + 4, 34)
    for row in body:
        yield from _wrap(row[0], first="  ")
        rows = [(f"    {n}", text) for n, text in zip(head[1:], row[1:], strict=True)]
        yield from _facts(rows, term + 2)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        for place, paragraph in enumerate(block.paragraphs):
            if place:
                yield ""
            yield from _wrap(paragraph)
    elif isinstance(block, Facts):
        yield from _facts(block.rows)
    elif isinstance(block, Items):
        yield from _items(block.title, block.items, _MARKS[block.tone])
    elif isinstance(block, Figure):
        yield from _wrap(block.title)
        yield ""
        yield from _table(block.table)
    elif isinstance(block, Pictures):
        yield from _table(block.table)
    else:
        yield from _table(block)


def _verdict(verdict: Verdict) -> Iterator[str]:
    sign, words = STATUS.get(verdict.status, ("?", verdict.status))
    head = f"{sign} {words.upper()} {verdict.where}".rstrip()
    yield f"{head}  {_grade(verdict.rests_on)}"
    yield ""
    if verdict.contradictions:
        yield from _wrap(contradicted(verdict.contradictions))
    yield from _wrap(verdict.headline) if verdict.headline else ()
    if verdict.assumptions:
        yield ""
        yield from _items("This holds only if", verdict.assumptions, "- ")
    for text in verdict.cautions:
        yield from _wrap(f"! Caution: {text}")
    if verdict.numbers:
        yield from _numbers(verdict)


def _numbers(verdict: Verdict) -> Iterator[str]:
    yield ""
    values = max(len(value) for _, value, *_ in verdict.numbers)
    room = WIDTH - values - 20  # for the longest grade
    labels = 2 + min(room, max(len(label) for label, *_ in verdict.numbers))
    for label, value, limits, grade in verdict.numbers:
        *above, last = _wrap(label, first="  ", rest="    ", width=labels)
        yield from above
        yield f"{last.ljust(labels)}  {value.rjust(values)}  {_grade(grade)}"
        if limits:
            yield from _wrap(limits, first="      ")


def _finish(lines: Sequence[str]) -> str:
    """Join lines; spaces that held words together have done their work."""
    text = "\n".join(visible(line.rstrip(), keep=WORD_JOINER) for line in lines) + "\n"
    return text.replace(NO_BREAK, " ")


def _answer(first: FirstScreen) -> list[str]:
    sure = f" [{grade_word(first.grade)}]"
    return _wrap(f"{first.sign} {first.word.upper()}: {first.answer}{sure}", rest="  ")


def _first(first: FirstScreen) -> Iterator[str]:
    """Yield the first screen, at most 25 lines in all with title and paths."""
    yield from _wrap(first.subtitle)
    yield from _wrap(first.about) if first.about else ()
    yield ""
    yield from _answer(first)
    yield ""
    if first.with_it is not None or first.without is not None:
        yield from _squares(first)
        yield ""
    for text, grade in first.sentences:
        yield from _wrap(f"{text}{f' [{grade_word(grade)}]' if grade else ''}", rest="  ")
    yield from _wrap(first.hardest, rest="  ") if first.hardest else ()
    yield "This rests on:"
    for text in first.rests_on:
        yield from _wrap(text, first="- ", rest="  ")
    yield from _wrap(f"Not looked at: {first.not_looked_at}", rest="  ")


def _squares(first: FirstScreen) -> Iterator[str]:
    """Yield a sign for each square, a hundred in two lines, and a line where the limit is."""
    edges = ((first.allowed, THRESHOLD), (first.most, LIMIT))
    for start in range(0, first.total, COLUMNS):
        line = ""
        end = min(start + COLUMNS, first.total)
        for place in range(start, end):
            line += "".join(sign for at, sign in edges if at == place) or " " * (place % 10 == 0)
            line += first.squares[place]
        last = "".join(sign for at, sign in edges if at == end == first.total)
        yield f" {line}{last}"
    yield from _wrap(first.key, first="  ")


def first_text(page: Page) -> str:
    """Draw the top of a report for a terminal."""
    assert page.first is not None
    lines = [*_wrap(page.title), *_first(page.first)]
    return _finish(lines if len(lines) <= MOST_LINES else [line for line in lines if line])


def _deciding(page: Page) -> list[str]:
    """Return the verdict, what has no answer, and tables that fit; each list and text cut to fit.

    Lists are cut before texts, and tables are left out before either.
    """
    verdict = page.verdict
    blocks: list[Block] = [] if page.lead is None else [page.lead]
    blocks += [b for s in page.sections if s.title != PROVENANCE for b in s.blocks]
    open_ = next((b for b in blocks if isinstance(b, Items) and b.title == OPEN), None)
    tables = (b.table if isinstance(b, Figure) else b for b in blocks)
    lines: list[str] = []
    for limit, letters in ((99, 9_999), (6, 400), (3, 300), (2, 200), (1, 150)):
        cut = partial(_cut, most=limit, letters=letters)
        names = ("contradictions", "assumptions", "cautions")
        short = replace(verdict, **{name: cut(getattr(verdict, name)) for name in names})
        lines = ["", *_verdict(short)]
        if open_ is not None:
            lines += ["", *_block(replace(open_, items=cut(open_.items)))]
        if len(lines) <= MOST_DECIDING:
            break
    for table in tables:
        drawn = ["", *_table(table)] if isinstance(table, Grid) and table.rows else []
        if len(lines) + len(drawn) <= MOST_DECIDING:
            lines += drawn
    return lines[:MOST_DECIDING]


def _cut(texts: Sequence[str], *, most: int, letters: int) -> list[str]:
    """Return the first texts, each cut at a word; a last one says how many are left out."""
    lines = [textwrap.shorten(text, letters, placeholder=" …") for text in texts[:most]]
    return lines + ([f"and {len(texts) - most} more"] if len(texts) > most else [])


def short_text(page: Page) -> str:
    """Draw the first screen and below it, in at most 60 lines, what decides."""
    lines = ["", "", "What decides", "------------", *_deciding(page)]
    rest = "The HTML report has the rest; so has the text with `--verbose`."
    return first_text(page) + _finish([*lines, "", *_wrap(rest)])


def page_text(page: Page) -> str:
    lines = [page.title, "=" * min(len(page.title), WIDTH)]
    lines += _wrap(page.subtitle) if page.subtitle else []
    if page.first is not None:
        lines += _first(page.first)
        lines += ["", *_block(page.lead)] if page.lead is not None else []
        lines += ["", "", _RESTS, "-" * len(_RESTS)]
    lines += ["", *_verdict(page.verdict)]
    for section in page.sections:
        lines += ["", "", section.title, "-" * min(len(section.title), WIDTH)]
        for block in section.blocks:
            lines += ["", *_block(block)]
    if met := sorted({entry for line in lines for _, _, entry in words_in(line)}):
        lines += ["", "", "Words", "-----", ""]
        lines += _facts([(entry, meaning_of(entry)) for entry in met])
    return _finish(lines)


def render_text(record: Record, *, internal: bool = False, whole: bool = True) -> str:
    """Draw a record as text for a terminal: lines of at most 80 characters, figures as tables.

    internal: draw all that the steward may see, and say that it is not to be shown.
    whole: draw all that the HTML holds; else the first screen and what decides, in 85 lines.
    """
    page = page_of(record, internal=internal)
    return page_text(page) if whole else short_text(page)
