"""What an Excel file holds next to the cells of its sheets, by a list of what is understood.

A part of the package, or an element of a sheet, that is not on the list is named: it may hold
anything. Texts of parts that are understood, as a title, a footer or the rule of a cell, are
returned, and whoever reads the file knows what they may not tell.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import islice
from pathlib import Path

from narcissus._archives import opened_archive
from narcissus._files import parsing

MOST_BYTES = 2**28
"""Most bytes of a part that are looked at."""
MOST_TEXTS = 100_000
_PLAIN = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core|custom)\.xml|docMetadata/LabelInfo\.xml"
    r"|xl/(workbook|sharedStrings|styles|calcChain)\.xml|xl/_rels/workbook\.xml\.rels"
    r"|xl/theme/theme\d*\.xml|xl/worksheets/(_rels/)?sheet\d*\.xml(\.rels)?"
    r"|xl/(tables/table|printerSettings/printerSettings)\d*\.(xml|bin)",
    re.IGNORECASE,
)
_CALLED = {
    "xl/(threadedC|c)omments": "comments",
    "xl/drawings/vmlDrawing": "comments",
    "xl/persons/": "comments",
    "xl/pivot": "pivot data",
    "xl/(embeddings|media)/": "embedded files",
    "xl/externalLinks/": "values of other files",
    "xl/(drawings|charts|chartsheets|ink|diagrams|slicers?)": "drawings, charts or text boxes",
    "customXml/": "custom XML",
    "xl/(vba|macrosheets|dialogsheets|activeX|ctrlProps)": "macros and controls",
    "xl/(connections|queryTables|model)": "data connections",
}
"""Parts that are not understood, and what they hold."""
_ELEMENTS = re.compile(
    "worksheet|sheetPr|tabColor|outlinePr|pageSetUpPr|dimension|sheetViews?|pane|selection"
    "|sheetFormatPr|cols?|sheetData|mergeCells?|autoFilter|filterColumn|filters?|customFilters?"
    "|dynamicFilter|top10|dateGroupItem|sortState|sortCondition|printOptions|pageMargins|pageSetup"
    "|headerFooter|(odd|even|first)(Header|Footer)|(row|col)Breaks|brk|sheetProtection|sheetCalcPr"
    "|hyperlinks?|dataValidations?|formula[12]?|tableParts?|phoneticPr|ignoredErrors?"
    "|legacyDrawing|drawing|picture|conditionalFormatting|cfRule|colorScale|cfvo|color|dataBar"
    "|iconSet"
)
"""Elements of a sheet that are understood, but for its cells; some point at parts."""
_WORDS = re.compile(
    r"<(?:odd|even|first)(?:Header|Footer)>([^<]*)<"
    r"|\b(?:prompt|promptTitle|error|errorTitle|tooltip|display|location|val)=\"([^\"]*)\""
    r"|<formula\d?>([^<]*)<|<f\b[^<>]*>([^<]*)<"
)
NAMES_INSIDE = "names of sheets, styles, fonts or tables"
_NAMED = re.compile(
    r'\b(?:name|displayName|codeName|typeface|formatCode)="([^"]*)"|<name val="([^"]*)"'
)
_WITH_NAMES = r"xl/(workbook\.xml|styles\.xml|theme/|tables/|worksheets/sheet)"
_BY_PEOPLE = "Company|Manager|HyperlinkBase"  # properties that no program counts
_REFERENCE = re.compile(r"('[^']*'|\b\w+)!|\$?[A-Z]{1,3}\$?\d+")
_LONGEST_CODE = 255
"""Most letters of a number format, as in Excel."""
_LITERAL = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Contents:
    """What a package holds next to cells."""

    strange: tuple[str, ...]  # what is not understood, a noun for each
    texts: tuple[tuple[str, str], ...]  # texts of what is, each with a noun


def list_contents(path: Path, *, with_names: bool = False) -> Contents:
    """List what an Excel file holds next to the cells of its sheets.

    with_names: Whether names of sheets, styles, fonts and tables are among the texts.

    InputError: It is not a readable Excel file.
    """
    strange: list[str] = []
    texts: list[tuple[str, str]] = []
    with (
        parsing(path, "a readable Excel file"),
        opened_archive(path, same=str.lower, noun="part") as archive,
    ):
        used: set[int] = set()
        for member in archive.infolist():
            name = member.filename
            if name.endswith("/"):
                continue
            if not _PLAIN.fullmatch(name):
                strange.append(_called(name))
                continue
            text = _text(archive, name)
            if len(text) >= MOST_BYTES:
                strange.append(f"the rest of `{name}`")
            strange += _strange_in(name, text)
            texts += islice(_texts_in(name, text), MOST_TEXTS)
            if with_names and re.match(_WITH_NAMES, name, re.IGNORECASE):
                texts += islice(_names_in(text), MOST_TEXTS)
            if "/worksheets/sheet" in name.lower():
                used |= {int(n) for n in re.findall(r'\bt="s"[^<>]*><v>(\d+)<', text)}
        if unused := _unused(archive, used):
            texts.append(("texts of no cell", " ; ".join(unused)))
    return Contents(tuple(dict.fromkeys(strange)), tuple(texts))


def _called(name: str) -> str:
    named = (title for form, title in _CALLED.items() if re.match(form, name, re.IGNORECASE))
    return next(named, f"`{name}`")


def _text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as stream:
        return stream.read(MOST_BYTES).decode("utf-8", "replace")


def _strange_in(name: str, text: str) -> Iterator[str]:
    """Yield what a part holds that is not understood."""
    at = name.lower()
    if at.startswith("xl/worksheets/") and at.endswith(".xml"):
        beside = _without_cells(text)
        there = {tag.split(":")[-1] for tag in re.findall(r"<([A-Za-z]\w*(?::\w+)?)", beside)}
        for element in sorted(there):
            if not _ELEMENTS.fullmatch(element):
                yield f"`{element}` of a sheet"
    elif at.endswith(".rels"):
        for link in re.findall(r"<Relationship\b[^<>]*>", text):
            if 'TargetMode="External"' in link and "/hyperlink" not in link:
                yield "links to other files"
    elif at == "xl/styles.xml":
        codes = re.findall(r'\bformatCode="([^"]*)"', text)
        if any(_prints_words(unescape(code)) for code in codes):
            yield "number formats that print other texts"
    elif at == "xl/sharedstrings.xml" and "<rPh" in text:
        yield "readings of texts"


def _without_cells(text: str) -> str:
    pieces, last = list[str](), 0
    for begin, end in _spans(text, r"<sheetData\b", "</sheetData>"):
        pieces.append(text[last:begin])
        last = end
    return "".join([*pieces, text[last:]])


def _spans(text: str, begins: str, ends: str) -> Iterator[tuple[int, int]]:
    """Yield where pieces of a text begin and end, in time that grows as the text does."""
    last = 0
    for match in re.finditer(begins, text):
        if match.start() < last:
            continue
        end = text.find(ends, match.end())
        if end < 0:
            return
        last = end + len(ends)
        yield match.start(), last


def _prints_words(code: str) -> bool:
    """Check whether a number format prints words in place of a number, or may for its length."""
    if len(code) > _LONGEST_CODE:
        return True
    plain = re.sub(r"\[[^\]]*\]|\\.|_.|\*.", "", code)
    for part in re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', plain):
        words = "".join(_LITERAL.findall(part))
        left = _LITERAL.sub("", part)
        if re.search(r"\w", words) and not re.search(r"[0#?@ymdhsGe]", left):
            return True
    return False


def _texts_in(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield texts of a part that is understood, each with what it is."""
    at = name.lower()
    for begin, end in _spans(text, "<!--", "-->"):
        yield "comments in XML", text[begin + 4 : end - 3]
    if at.startswith("docprops/"):
        tags = _BY_PEOPLE if at.endswith("/app.xml") else r"(?!dcterms:|cp:(?:last|rev|ver))[\w:]+"
        for content in re.findall(rf"<(?:{tags})\b[^<>]*>([^<]+)<", text):
            yield "properties of the document", unescape(content)
    elif at == "xl/workbook.xml":
        for attributes, content in re.findall(r"<definedName\b([^<>]*)>([^<]*)<", text):
            called = re.search(r'\bname="([^"]*)"', attributes)
            if called and not called[1].startswith("_xlnm."):
                yield "names of cells", f"{called[1]} {_REFERENCE.sub(' ', unescape(content))}"
    elif at.startswith("xl/worksheets/"):
        yield from _texts_of_sheet(text)
    elif at.startswith("xl/tables/"):
        for content in re.findall(r"<\w+Formula\b[^<>]*>([^<]*)<", text):
            yield "formulas", _REFERENCE.sub(" ", unescape(content))


def _names_in(text: str) -> Iterator[tuple[str, str]]:
    for groups in dict.fromkeys(_NAMED.findall(re.sub(r"<tableColumn\b[^<>]*>", "", text))):
        name = unescape("".join(groups))
        yield NAMES_INSIDE, f"{name} {re.sub(r'[_-]+|(?<=[A-Za-z])(?=[0-9])', ' ', name)}"


def _texts_of_sheet(text: str) -> Iterator[tuple[str, str]]:
    """Yield texts of a sheet next to its cells, and what its links point at."""
    for relationship in re.findall(r"<Relationship\b[^<>]*>", text):
        target = re.search(r'\bTarget="([^"]*)"', relationship)
        if target and 'TargetMode="External"' in relationship:
            yield "rules, prompts and links of cells", unescape(target[1])
    for header, attribute, rule, formula in _WORDS.findall(text):
        if header:
            plain = re.sub(r'&"[^"]*"|&K[0-9A-F]{6}|&\d+|&[A-Z]', " ", unescape(header))
            yield "headers or footers of pages", plain
        elif attribute or rule:
            yield "rules, prompts and links of cells", unescape(attribute or rule)
        elif formula:
            yield "formulas", _REFERENCE.sub(" ", unescape(formula))


def _items(text: str) -> Iterator[str]:
    """Yield what the shared texts of a file hold, in their order."""
    last = 0
    for match in re.finditer(r"<si\b[^<>]*>", text):
        if match.start() < last:
            continue
        end = match.end() if match[0].endswith("/>") else text.find("</si>", match.end())
        if end < 0:
            return
        yield text[match.end() : end]
        last = end


def _unused(archive: zipfile.ZipFile, used: set[int]) -> list[str]:
    """Return the shared texts that no cell of a sheet has."""
    names = [n for n in archive.namelist() if n.lower() == "xl/sharedstrings.xml"]
    if not names:
        return []
    items = _items(_text(archive, names[0]))
    left = (item for number, item in enumerate(items) if number not in used)
    return [unescape(re.sub(r"<[^<>]*>", "", item)) for item in left]
