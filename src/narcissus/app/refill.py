"""A page whose form was refused, with what was typed into it: one bad field loses no other."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

_KEPT = ("hidden", "submit", "button", "file", "password")
"""Kinds of fields that nobody types into, or that may not be sent back."""


def refilled(page: str, typed: Mapping[str, Sequence[str]], step: str = "") -> str:
    """Return the page with the values that were sent, in the forms that are sent to a step.

    ``typed`` are the texts of each field by its name. A box without a text is not ticked. ``step``
    is the end of the address that took them, which is that of a form without an address.

    >>> refilled('<form method="post"><input name="age" value="3"></form>', {"age": ["x<"]})
    '<form method="post"><input name="age" value="x&lt;"></form>'
    """
    parser = _Refill(typed, step)
    parser.feed(page)
    parser.close()
    return "".join(parser.parts)


class _Refill(HTMLParser):
    """Copies a page piece by piece; in a form without an address, fields get their texts."""

    def __init__(self, typed: Mapping[str, Sequence[str]], step: str) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._typed = typed
        self._step = step
        self._is_inside = False
        self._select = ""
        self._is_text = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name = attributes.get("name") or ""
        if tag == "form":
            address = (attributes.get("action") or self._step).rpartition("/")[2]
            self._is_inside = attributes.get("method") == "post" and address == self._step
        raw = self.get_starttag_text() or ""
        if not self._is_inside:
            self.parts.append(raw)
        elif tag == "input":
            self.parts.append(_input(raw, attributes, self._typed))
        elif tag == "option" and self._select in self._typed:
            is_chosen = (attributes.get("value") or "") in self._typed[self._select]
            self.parts.append(_tag(tag, _marked(attributes, "selected", is_chosen)))
        else:
            self.parts.append(raw)
            if tag == "select":
                self._select = name
            if tag == "textarea" and name in self._typed:
                self.parts.append("\n" + html.escape("\n".join(self._typed[name])))
                self._is_text = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._is_text = False
        if tag == "select":
            self._select = ""
        if tag == "form":
            self._is_inside = False
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._copy(data)

    def handle_entityref(self, name: str) -> None:
        self._copy(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._copy(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.parts.append(f"<!{decl}>")

    def handle_comment(self, data: str) -> None:
        self.parts.append(f"<!--{data}-->")

    def _copy(self, text: str) -> None:
        if not self._is_text:
            self.parts.append(text)


def _input(raw: str, given: dict[str, str | None], typed: Mapping[str, Sequence[str]]) -> str:
    name, kind = given.get("name") or "", given.get("type") or "text"
    if not name or kind in _KEPT:
        return raw
    if kind in {"checkbox", "radio"}:
        is_ticked = (given.get("value") or "on") in typed.get(name, ())
        return _tag("input", _marked(given, "checked", is_ticked))
    if name not in typed:
        return raw
    return _tag("input", {**given, "value": typed[name][0]})


def _marked(given: dict[str, str | None], mark: str, is_marked: bool) -> dict[str, str | None]:
    plain = {name: value for name, value in given.items() if name != mark}
    return {**plain, mark: None} if is_marked else plain


def _tag(tag: str, given: Mapping[str, str | None]) -> str:
    words = [
        name if value is None else f'{name}="{html.escape(value)}"' for name, value in given.items()
    ]
    return f"<{' '.join([tag, *words])}>"
