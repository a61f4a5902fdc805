"""All items by name; a paper lists its items in its folder."""

from __future__ import annotations

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus_papers import chatzikokolakis, cohen, kaplan, swanberg
from narcissus_papers.base import PAPERS, Item, Kind

ITEMS: dict[str, Item] = {
    item.name: item
    for paper in (cohen, swanberg, chatzikokolakis, kaplan)
    for item in sorted(paper.ALL, key=lambda one: one.paper)
}
"""Items by their name, paper by paper."""


def chosen(paper: str | None, kind: Kind | None, number: str | None) -> list[Item]:
    """Return the items of a paper, of a kind, of a number; None is any.

    If there is none, raises InputError with the choices.
    """
    if paper is not None and paper not in PAPERS:
        names = ", ".join(f"{key} ({title})" for key, title in PAPERS.items())
        raise InputError(f"there is no paper {paper!r}; the papers are {names}")
    of_paper = [one for one in ITEMS.values() if paper in {None, one.paper}]
    of_kind = [one for one in of_paper if kind in {None, one.kind}]
    found = [one for one in of_kind if number is None or _is_called(one.number, number)]
    if not found:
        there = [f"{one.kind} {one.number}" for one in of_paper]
        asked = f"{kind} {number}" if kind else "anything"
        where = f"paper {paper}" if paper else "any paper"
        hint = did_you_mean(asked, there)
        listed = f": {', '.join(there)}" if there else " yet"
        raise InputError(f"{asked} of {where} cannot be made again{hint}; what can{listed}")
    return found


def _is_called(number: str, asked: str) -> bool:
    """Whether a number is the one asked for: 2 is 2a and 2b, 3.2 is Theorem 3.2."""
    whole, short = number.lower(), number.lower().rsplit(" ", 1)[-1]
    return asked.lower() in {whole, short, short.rstrip("abcdefgh")}
