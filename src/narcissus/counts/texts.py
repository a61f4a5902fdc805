"""Texts of published tables: labels, headers, lines beside the table, and names of files.

A text is understood by its form alone: a range, a year, a code, a label that sums show to be a
group of people, a line of neutral words. All others are listed together, and the user declares
once that they tell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from math import inf
from pathlib import PurePath

from narcissus._visible import visible
from narcissus.counts.alike import is_concept, is_place
from narcissus.counts.columns import is_code_name
from narcissus.counts.label_looks import LabelledCount, list_label_looks
from narcissus.counts.looks import PLAIN, ROW, Seen, list_looks
from narcissus.counts.marks import TOTALS, Meaning, Rules, label_of
from narcissus.counts.notes import (
    are_neutral_words,
    compares,
    find_unit,
    has_number_word,
    is_neutral,
    names_people,
    tells_quantity,
)
from narcissus.counts.ranges import read_range
from narcissus.counts.reading import COUNTS, Cell, TableRead
from narcissus.counts.spelling import (
    WrittenCell,
    are_aligned,
    list_flags,
    list_marks,
    list_numbers,
    list_paddings,
    list_spellings,
    list_tails,
)
from narcissus.counts.system import Structure
from narcissus.rows import Unaccounted

SHOWN = 4
"""Texts that a question names; the layout of each table lists all."""
Rows = Mapping[str | None, Meaning]
"""What is printed of the labels of a dimension; None: of all together."""
_PEOPLE = re.compile(
    r"[fmwd]|females?|males?|m[ae]n|wom[ae]n|boys?|girls?|m\u00e4nn(?:er|lich)|frauen|weiblich|divers"
    r"|hommes?|femmes?|hombres?|mujeres?|uomini|donne|maschi|femmine|yes|no|ja|nein|oui|non|s\u00ed"
    r"|persons?|people|personen|personnes|adults?|children|unknown|other",
    re.I,
)
"""Labels that name people, whatever the numbers are."""
_COUNT = re.compile(
    r"(?:number|no\.|count)(?: of)?(?: (?:people|persons|cases|residents|inhabitants|employees))?"
    r"|people|persons|population|cases|residents|inhabitants|employees|respondents|patients"
    r"|students|pupils|deaths|births|anzahl|personen|f\u00e4lle|einwohner|bev\u00f6lkerung|effectifs?"
    r"|nombre|personnes|population totale|n\u00famero|numero|casos|personas|aantal|antal|obs_value"
    r"|values?|wert|valeur|valor",
    re.I,
)
"""Headers of columns of counts."""
_HEADER = re.compile(r"[^\W\d_]+\d?(?:\\[^\W\d_]+)?")
_CONNECTING = re.compile(
    r"and|of|the|de|la|le|les|des|du|und|der|die|das|am|an|im|in|bei|upon|on|or|to|y|e|i|del|di|da|do"
    r"|van|von|zu|zur|sur|sous|au|aux|et|ou|with|nec|n\.e\.c|s"
)
_YEAR = re.compile(
    r"(?:19|20)\d\d(?:\s?[-/\u2013]\s?(?:(?:19|20)?\d\d))?|(?:19|20)\d\d[- ]?[QMHST]?[- ]?\d{1,2}"
    r"|[QHST][1-4](?: ?(?:19|20)\d\d)?|(?:19|20)\d\d-\d\d-\d\d",
    re.I,
)
_FEWER = re.compile(r"(?:<|under|below|unter|less than)\s*1$", re.I)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ROMAN = re.compile(r"\b(?:[IVXLC]{2,})\b")
_ADDED = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]|[:;=,/|](.*)|\s[-\u2013\u2014]\s(.*)", re.S)
"""What appears next to a name: in brackets, or behind a mark."""
_NOTED = re.compile(
    r"(\D*?)\s*[(\[]?(\d{1,2}|[\u00b9\u00b2\u00b3\u2070-\u2079]+|[a-z])[)\]]?$", re.I
)
_MARKER = re.compile(
    r"\W*(?:notes?|fn)?\s*(\d{1,2}|[a-z]|[\u00b9\u00b2\u00b3\u2070-\u2079]+)(?=[).\]:\s])", re.I
)
_SUPERSCRIPT = str.maketrans(
    "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079", "1230456789"
)
_FILE = re.compile(
    r"(?:(?<![^\W\d_])(?:table|tab|sheet|part|file|release|version)[ _.-]?\d{1,2}(?!\d))"
    r"|^[tvq]\d$"
    r"|^[a-z]$|^\d$",
    re.I,
)
"""Numbers of tables in names of files."""
_DATES = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_.]?\d\d){0,2}(?!\d)")


def list_texts(
    tables: Sequence[TableRead],
    cells: Sequence[Cell],
    structure: Structure,
    rules: Rules,
    declared: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    """Return the texts of each table that are not understood, with their places, by file.

    tables: as they were read, with the names of dimensions that hold over all.
    cells: of all tables, without totals.
    structure: which labels are parts of others.
    rules: how counts were made.
    declared: of a file, headers that the user names as those of counts.
    """
    people = _find_people(cells, structure)
    hides = any(cell.count.kind not in ("exact", "derived") for cell in cells)
    return {
        table.file: tuple(
            dict.fromkeys(
                (
                    *_list_of(table, people, structure, rules, declared.get(table.file, ())),
                    *(_list_writing(table, rules) if hides else ()),
                    *(_list_label_looks(table, structure, rules) if hides else ()),
                    *(_list_looks(table, structure, rules) if hides else ()),
                )
            )
        )
        for table in tables
    }


def ask_for_texts(found: Mapping[str, Sequence[str]]) -> Iterator[Unaccounted]:
    """Yield the one question of all texts that are not understood."""
    each = [(file, text) for file, texts in found.items() for text in texts]
    if not each:
        return
    shown = "; ".join(text for _, text in each[:SHOWN]) + "; and more" * (len(each) > SHOWN)
    files = list(dict.fromkeys(file for file, _ in each))
    where = visible(files[0]) + f" and {len(files) - 1} more" * (len(files) > 1)
    yield Unaccounted(
        subject=f"the wording of {where}",
        reason=f"Not understood: {shown}. Words may tell hidden counts, a measure or another rule.",
        declaration="`--texts-tell-nothing` once you have read them: labels name groups of people, "
        "and no text or look of a cell tells a count, another rule, or that a table is about some "
        "of the people alone (`--within` names these)",
    )


def list_unknown_columns(table: TableRead, texts: Sequence[str]) -> dict[str, str]:
    """Return columns of a wide table that are not understood, with their texts of `list_texts`."""
    if not table.across or table.second_across:
        return {}
    columns = [use.column for use in table.uses if use.role == "count"]
    named = {
        column: f"label `{visible(label)}` of `{visible(table.across)}`"
        for column, label in zip(columns, table.labels_across, strict=True)
    }
    return {column: text for column, text in named.items() if text in texts}


def _list_of(
    table: TableRead,
    people: Mapping[str, set[str]],
    structure: Structure,
    rules: Rules,
    declared: Sequence[str],
) -> Iterator[str]:
    markers = _find_markers(table.notes)
    yield from (
        f"label `{visible(text)}`" + f" of `{visible(name)}`" * bool(name)
        for name, text in _unknown_labels(table, people, structure, rules, markers)
    )
    yield from _list_headers(table, declared)
    yield from (
        f"cell `{visible(cell.printed)}` in line {cell.line}"
        for cell in table.cells
        if (mark := _find_mark(cell.printed)) and mark not in markers
    )
    headers = [table.header[at] for at in table.columns.dimensions] + [
        table.across,
        table.second_across,
    ]
    names = {word for name in headers for word in re.findall(r"[^\W\d_]+", name.casefold())}
    labels = {label for cell in table.cells for label in cell.labels.values()}
    yield from (
        f"line `{visible(note)}`"
        for note in table.notes
        if not is_neutral(note, rules, names, labels)
    )
    yield from (
        f"{kind} `{visible(text)}`"
        for kind, text in table.beside
        if not is_neutral(text, rules, names, labels)
        and not (kind.startswith("properties") and _is_author(text, labels))
    )
    if not _is_plain_file(table.file, names | {label.casefold() for label in labels}):
        yield f"the name of {visible(table.file)}"


def list_named(
    tables: Sequence[TableRead], cells: Sequence[Cell], structure: Structure, rules: Rules
) -> list[str]:
    """Return what a verdict assumes of labels that are plain names, in words.

    Below a header of places, they are taken to name those, though no printed total needs them.
    """
    people = _find_people(cells, structure)
    found: dict[str, None] = {}
    for table in tables:
        markers = _find_markers(table.notes)
        all_names = _unknown_labels(table, people, structure, rules, markers, names=True)
        few = {text for _, text in _unknown_labels(table, people, structure, rules, markers)}
        found |= {name: None for name, text in all_names if text not in few}
    return [f"each label of `{visible(name)}` names a group of people" for name in found]


def _unknown_labels(
    table: TableRead,
    people: Mapping[str, set[str]],
    structure: Structure,
    rules: Rules,
    markers: set[str],
    *,
    names: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield dimension and text of labels that are not understood.

    names: with plain names below a header of places.
    """
    variable = structure.variable
    for name, header, texts in _labels_of(table):
        if variable is not None and variable.is_named(name):
            continue
        odd = set(_find_telling(list(texts), header, markers))
        tree = structure.parents.get(name, {})
        coded = {part for part, whole in tree.items() if re.match(rf"{re.escape(whole)}\w", part)}
        known = people.get(name, set()) | coded | {tree[part] for part in coded}
        is_named = name == "" or any(second.column == name for second in table.columns.second_names)
        of_places = not names and is_place(name)
        for text, label in texts.items():
            is_total = rules.is_total(label)
            is_place_name = of_places and not any(map(str.isnumeric, text))
            is_confirmed = is_named or label in known or is_place_name
            is_sure = is_total or (_is_name(label) and is_confirmed)
            is_known = is_sure or _has_form(label)
            if text in odd or not is_known:
                yield name, text


def _list_writing(table: TableRead, rules: Rules) -> Iterator[str]:
    """Yield cells of counts and of labels that are written otherwise than others like them."""
    markers = _find_markers(table.notes)
    places = {name: at for at, name in enumerate(table.header)}
    columns: dict[str, list[WrittenCell]] = {}
    for cell in table.cells:
        raw = table.raws.get(cell.line, [])
        at = places.get(cell.column, len(raw))
        if at < len(raw):
            columns.setdefault(cell.column, []).append(
                WrittenCell(cell.line, cell.printed, raw[at], _as_written(cell, rules))
            )
    cells = [cell for some in columns.values() for cell in some]
    yield from list_marks(cells, rules)
    yield from list_numbers(cells, markers, has_decimals=rules.unit is not None)
    if not all(map(are_aligned, columns.values())):
        last = columns.pop(table.header[-1], [])  # behind it may be blanks
        yield from list_paddings(chain.from_iterable(columns.values()), table.delimiter)
        yield from list_paddings(last, table.delimiter)
    yield from list_tails(table.raws)
    seconds = {second.column for second in table.columns.second_names}
    flags = {use.column for use in table.columns.uses if use.role in ("flags", "empty")}
    for at, name in enumerate(table.header):
        if name in flags:
            raws = [(line, raw[at]) for line, raw in table.raws.items() if at < len(raw)]
            yield from list_flags(name, raws)
        if at in table.columns.dimensions or name in seconds:
            raws = [(line, raw[at]) for line, raw in table.raws.items() if at < len(raw)]
            raws = [one for one in raws if one[1].strip() or name not in table.filled]
            yield from list_spellings(name, raws, markers, rules)


def _list_label_looks(table: TableRead, structure: Structure, rules: Rules) -> Iterator[str]:
    """Yield in which way the looks of labels may tell hidden counts."""
    texts = dict(table.rows)
    dimensions = table.columns.dimensions
    columns = {at: (name, at) for at, name in dimensions.items()}
    of = {name: at for at, name in dimensions.items()}
    for second in table.columns.second_names:
        if not second.is_group and second.column in table.header and second.of in of:
            columns[table.header.index(second.column)] = second.of, of[second.of]
    for at, (name, main) in columns.items():
        kinds: dict[bool, list[LabelledCount]] = {}
        for cell, count in _list_counts(table, rules):
            cells, raw = texts[cell.line], table.raws.get(cell.line, [])
            label = label_of(cells[at])
            if at >= len(raw) or not label or rules.is_total(label_of(cells[main])):
                continue
            position = (cell.column, *(cells[other] for other in dimensions if other != main))
            written = raw[at].lstrip() if table.indented and at == 0 else raw[at]
            is_group = label in structure.parents.get(name, {}).values()
            kinds.setdefault(is_group, []).append(LabelledCount(label, written, position, count))
        for counts in kinds.values():
            yield from list_label_looks(table.header[at], counts, table.delimiter)
    for name in filter(None, (table.across, table.second_across)):
        across = [
            LabelledCount(
                label,
                label,
                (cell.line, frozenset({*cell.labels.items()} - {(name, label)})),
                count,
            )
            for cell, count in _list_counts(table, rules)
            if (label := cell.labels.get(name)) and name not in dimensions.values()
        ]
        yield from list_label_looks(name, across, table.delimiter)


def _list_counts(table: TableRead, rules: Rules) -> Iterator[tuple[Cell, int | None]]:
    """Yield cells with their exact counts, and hidden ones with None."""
    for cell in table.cells:
        count = _as_written(cell, rules)
        if count.kind in ("suppressed", "range"):
            yield cell, None
        elif count.low == count.high:
            yield cell, int(count.low)


def _as_written(cell: Cell, rules: Rules) -> Meaning:
    """Return what a cell means, where a mark of a single number is a mark all the same."""
    is_mark = rules.suppressed(cell.printed) is not None
    return replace(cell.count, kind="suppressed") if is_mark else cell.count


def _list_looks(table: TableRead, structure: Structure, rules: Rules) -> Iterator[str]:
    """Yield cells of an Excel file that look otherwise than others like them."""
    looks = table.looks.cells
    if not looks:
        return
    places = {name: at for at, name in enumerate(table.header)}
    groups = {name: {*tree.values()} for name, tree in structure.parents.items()}
    holds: dict[int, dict[int, str]] = {}
    for cell in table.cells:
        is_hidden = _as_written(cell, rules).kind in ("suppressed", "range")
        mark = f"mark {cell.printed}" if is_hidden else "number"
        holds.setdefault(cell.line, {})[places[cell.column]] = mark
    rows: list[Seen] = []
    for line, texts in table.rows:
        kind: list[str] = []
        for at, name in table.columns.dimensions.items():
            label = label_of(texts[at])
            is_group = label in groups.get(name, ())
            kind.append("total" if rules.is_total(label) else "group" if is_group else "")
            holds.setdefault(line, {}).setdefault(at, "label")
        own = looks.get(line, ())
        cells = {
            at: (what, own[place] if (place := table.places[at]) < len(own) else PLAIN)
            for at, what in holds[line].items()
        }
        whole = table.looks.rows.get(line, PLAIN)
        rows.append(Seen(line, tuple(kind), {**cells, ROW: ("row", whole)}))
    yield from list_looks(rows)
    hidden = [name for name, at in places.items() if table.places[at] in table.looks.hidden]
    yield from (f"column `{visible(name)}`, which is hidden" for name in hidden)


def _labels_of(table: TableRead) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield dimension, header and printed labels of each column, and of the columns across."""
    at_names = dict(table.columns.dimensions)
    seconds = {second.column: second for second in table.columns.second_names}
    for at, header in enumerate(table.header):
        if at in at_names or header in seconds:
            texts = dict.fromkeys(" ".join(cells[at].split()) for _, cells in table.rows)
            yield at_names.get(at, header), header, {t: label_of(t) for t in texts if t}
    if table.second_across:
        for name, labels in (
            (table.across, table.labels_across),
            (table.second_across, table.second_labels),
        ):
            yield name, name, {label: label for label in labels if label}
    elif table.labels_across and table.across:
        printed = dict(zip(table.header, table.printed_header, strict=True))
        counts = [printed[use.column] for use in table.uses if use.role in ("count", "magnitude")]
        yield table.across, table.across, dict(zip(counts, table.labels_across, strict=True))


def _list_headers(table: TableRead, declared: Sequence[str]) -> Iterator[str]:
    counts = {use.column for use in table.uses if use.role in ("count", "counts beside totals")}
    dimensions = {table.header[at] for at in table.columns.dimensions}
    for at, (name, printed) in enumerate(zip(table.header, table.printed_header, strict=True)):
        text = " ".join(printed.split())
        if name in counts and not table.labels_across:
            is_known = text.casefold() in COUNTS or _COUNT.fullmatch(text) is not None
            is_known |= name in declared
        else:
            many = len({cells[at] for _, cells in table.rows})
            is_known = name not in dimensions or _is_plain_header(text, many)
        if not is_known:
            yield f"header `{visible(text)}`"
    for name in filter(None, (table.across, table.second_across)):
        if not _is_plain_header(name):
            yield f"header `{visible(name)}`"


def _is_plain_header(text: str, many: int = 0) -> bool:
    """Return whether a header is one word, known, or of neutral words.

    Censuses print behind it how ``many`` labels it has, with the total or without.
    """
    text = re.sub(rf"\s*\((?:{many}|{many - 1})\)$", "", text)
    if text == "" or is_concept(text):
        return True
    if find_unit(text) or has_number_word(text) or compares(text):
        return False
    is_neutral_text = are_neutral_words(text) and re.search(r"[\d=<>%()]", text) is None
    return _HEADER.fullmatch(text) is not None or is_neutral_text


def _is_plain_file(file: str, known: Set[str]) -> bool:
    """Return whether the name of a file has words of the table, dates and numbers of tables."""
    stem = _FILE.sub(" ", _DATES.sub(" ", PurePath(file).stem))
    folded = {word.rstrip("s") for word in known}
    words = re.findall(r"[^\W\d_]+", stem.casefold())
    is_known = all(are_neutral_words(word) or word.rstrip("s") in folded for word in words)
    return (
        is_known
        and re.search(r"[^\W_a-z\u00df-\u024f.-]", "".join(stem.casefold().split())) is None
    )


def _is_author(text: str, labels: set[str]) -> bool:
    """Return whether a property is a name of somebody or of a program."""
    is_plain = re.search(r"\d", text) is None and not has_number_word(text)
    return is_plain and _is_name(text) and not set(re.findall(r"\w+", text)) & labels


def _is_name(label: str) -> bool:
    """Return whether a label is one word, or capitalised words and neutral ones between them."""
    words = re.findall(r"[^\W\d_]+", label)
    if re.search(r"[^\w\s.,;:'\u2019&/()\[\]+*\u2010-\u2014-]", label):
        return False
    if len(words) < 2:
        return "=" not in label and not compares(label)
    if compares(label) or names_people(label):
        return False
    return all(
        word[0].isupper() or _CONNECTING.fullmatch(word) or are_neutral_words(word)
        for word in words
    )


def _has_form(label: str) -> bool:
    """Return whether a label names people by its form: a sex, a range, a year."""
    return _PEOPLE.fullmatch(label) is not None or _is_span(label)


def _is_span(label: str) -> bool:
    plain = re.sub(r"\([^()\d]*\)", " ", label).strip()
    if _YEAR.fullmatch(plain):
        return True
    coded_range = read_range(plain)
    return (coded_range is not None and coded_range[1][0] < coded_range[1][1]) or _FEWER.match(
        plain
    ) is not None


def _find_telling(texts: Sequence[str], header: str, markers: set[str]) -> Iterator[str]:
    """Yield labels with a number that is no range, year, code or mark of a footnote."""
    counted: dict[str, str] = {}
    many = 0
    for text in texts:
        rest = _without_marker(text, markers)
        if rest.casefold() in TOTALS:
            continue
        many += 1
        if _is_span(rest):
            continue
        added = " ".join(chain.from_iterable(filter(None, m) for m in _ADDED.findall(rest)))
        is_word = has_number_word(_ROMAN.sub(" ", rest))
        if is_word or (added and tells_quantity(_NUMBER.sub(" ", added))):
            yield text
        elif re.search(r"\d|[%\u2030]", rest) or _ROMAN.search(rest):
            counted[text] = rest
    if is_code_name(header) and all("%" not in rest for rest in counted.values()):
        return
    if not _are_codes(list(counted.values()), many):
        yield from counted


def _are_codes(texts: Sequence[str], many: int) -> bool:
    """Return whether numbers tell labels apart, and no more: codes of one form, or serial ones."""
    numbers = [[*_NUMBER.findall(text), *_ROMAN.findall(text)] for text in texts]
    if len(texts) < 2 or any(len(codes) != 1 for codes in numbers):
        return False
    each = [codes[0] for codes in numbers]
    if len(set(each)) < len(each) or any("%" in text for text in texts):
        return False
    rests = {_ROMAN.sub("#", _NUMBER.sub("#", text)).casefold() for text in texts}
    if len(rests) == 1:
        return rests != {"#"} or len(texts) == many  # a number among names is none of them
    digits = [number for number in each if number.isdigit()]
    if len(digits) < len(each):
        return False
    is_even = len({len(number) for number in digits}) == 1
    if is_even and (len(digits[0]) > 4 or any(number[0] == "0" for number in digits)):
        return True
    values = list(map(int, digits))
    return len(texts) == many and values in (
        list(range(len(values))),
        list(range(1, len(values) + 1)),
    )


def _find_markers(notes: Sequence[str]) -> set[str]:
    """Return the marks of footnotes that a line begins with."""
    matches = filter(None, map(_MARKER.match, notes))
    return {match[1].translate(_SUPERSCRIPT).casefold() for match in matches} | {
        note.strip()[0] for note in notes if note.strip()[:1] in {*"*\u2020\u2021"}
    }


def _without_marker(text: str, markers: set[str]) -> str:
    match = _NOTED.fullmatch(text)
    if match is not None and match[2].translate(_SUPERSCRIPT).casefold() in markers:
        return match[1].strip()
    return text


def _find_mark(printed: str) -> str:
    """Return the mark of a footnote behind a printed number; empty: there is none."""
    match = re.fullmatch(
        r"[\d\s.,'\u2019\u00a0\u2009\u202f]*\d\s*[(\[](?:note )?(\d{1,2})[)\]]"
        r"|[\d\s.,]*\d([\u00b9\u00b2\u00b3\u2070-\u2079]+)",
        printed,
        re.I,
    )
    return "" if match is None else (match[1] or match[2]).translate(_SUPERSCRIPT)


def _find_people(cells: Sequence[Cell], structure: Structure) -> dict[str, set[str]]:
    """Return the labels of each dimension that sums show to be groups of people."""
    groups: dict[str, set[str]] = {}
    for name, rows in _sums(cells, structure):
        parents = structure.parents.get(name, {})
        wholes = {label: parents.get(label) for label in rows if label is not None}
        parts: dict[str | None, list[str]] = {}
        for label, whole in wholes.items():
            parts.setdefault(whole if whole in wholes else None, []).append(label)
        for whole, labels in parts.items():
            if whole in rows:
                known = groups.setdefault(name, set())
                known |= _confirmed(rows[whole], {label: rows[label] for label in labels})
                if whole is not None and known >= set(labels):
                    known.add(whole)
    return groups


def _sums(
    cells: Sequence[Cell], structure: Structure
) -> Iterator[tuple[str, dict[str | None, Meaning]]]:
    """Yield what is printed of the labels of a dimension next to the same other labels."""
    everybody = {
        frozenset(cell.labels.items()): cell.count
        for cell in cells
        if cell.file not in structure.within
    }
    rows: dict[tuple[str, str, frozenset[tuple[str, str]]], dict[str | None, Meaning]] = {}
    for cell in cells:
        for name, label in cell.labels.items():
            context = frozenset(item for item in cell.labels.items() if item[0] != name)
            rows.setdefault((cell.file, name, context), {})[label] = cell.count
    margins = {(cell.file, frozenset(cell.labels.items())): cell.count for cell in cells}
    for (file, name, context), printed in rows.items():
        margin = margins.get((file, context))
        if margin is None and file not in structure.within:
            margin = everybody.get(context)
        if margin is not None:
            printed[None] = margin
        yield name, printed


def _confirmed(whole: Meaning, parts: Mapping[str, Meaning]) -> set[str]:
    """Return labels with which all sum to the printed whole, and without which they do not."""
    low = sum(count.low for count in parts.values())
    high = sum(count.high or 0 for count in parts.values())
    endless = sum(count.high is None for count in parts.values())
    top = inf if whole.high is None else whole.high
    if low > top or (high < whole.low and not endless):
        return set()
    return {
        label
        for label, count in parts.items()
        if (high - (count.high or 0) < whole.low and endless == (count.high is None))
        or low - count.low > top
    }
