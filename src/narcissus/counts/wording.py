"""Labels and headers that say more than a name: a measure, or a number beside the name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from narcissus._visible import visible
from narcissus.counts.columns import is_percent_name, option_of
from narcissus.counts.marks import Rules, label_of
from narcissus.counts.notes import ask_for_unit, find_unit
from narcissus.counts.reading import TableRead
from narcissus.rows import Unaccounted

_SHOWN = 3
_MEASURE = re.compile(
    r".*(?:%|\b(?:percent\w*|per cent|pct|prozent\w*|rates?|ratios?|\w*quoten?|\w*anteile?|shares?"
    r"|proportions?|index|indices|averages?|avg|mean|medians?|\w*durchschnitt\w*|mittelwerte?"
    r"|moyennes?|promedio|media|differen[cz]\w*|diff|changes?|\w*ver\u00e4nderung\w*|variation"
    r"|per (?:1[\d., ]*0+|capita|head|hundred|thousand|million|man|woman|person)|pro kopf"
    r"|je 1[\d., ]*0+|standard (?:deviation|error)|std|minimum|maximum|quantiles?|variance"
    r"|density|\w*dichte|taux|pourcentages?|porcentajes?|tasa|indices?|row %|col %)\b).*"
    r"|min|max|[\u0394\u2206].*",
    re.I | re.S,
)
"""Labels of numbers that are no counts."""
_UNITS = re.compile(
    r"units?|measures?|statistics?|stat|indicators?|einheit(en)?|messgr\u00f6\u00dfe|kennzahl(en)?|mesure"
    r"|unit[ _]?(of[ _]?)?measure|value type|metric",
    re.I,
)
"""Headers of dimensions whose labels say what the numbers are of."""
_UNIT_CODES = re.compile(r"pc\w*|pct|rt|ix|avg|i\d\d|p_\w+|rate|ths\w*|mio\w*|index", re.I)
_NO_PEOPLE = re.compile(
    r"(?:private )?households?|families|dwellings?|homes|(?:privat)?haushalte?|familien|wohnungen"
    r"|jobs|posts|enterprises?|companies|firms|unternehmen|betriebe|establishments?|vehicles|cars"
    r"|visits|events|m\u00e9nages|logements|familles|buildings?"
    r"|(?:un|not )?(?:weighted )?base|geb\u00e4ude",
    re.I,
)
"""Labels of counts that are of no people."""
_NAMED = re.compile(
    r"[\[(\]]\s*-?\d+\s*[,;]\s*(?:\d+|inf\w*)?\s*[)\]\[]"
    r"|\b(?:19|20)\d\d(?:\s*[-/\u2013]\s*\d{2,4})?\b"
    r"|\d+\s*(?:-|\u2013|\u2014|to|bis|and|und|a|\u00e0)\s*(?:<|under )?\d+"
    r"|(?:<=?|>=?|\u2264|\u2265|\bunder|\bbelow|\bover|\bfrom|\bab|\bunter|\b\u00fcber|\bup to"
    r"|\bbis|\baged?|\bage|\bmore than|\bless than|\bfewer than|\bat least|\bat most|\blevel|\bno\."
    r"|\bnr\.|\bnote)\s*\d+"
    r"|\d+\s*(?:\+|and (?:over|more|older|under)|or (?:over|more|older)|und (?:mehr|\u00e4lter)"
    r"|years?\b|yrs?\b|jahren?\b|ans\b|u\. ?m\.)",
    re.I,
)
"""Numbers that name a range, a year or an age."""
_ENCLOSED = r"[(\[{][^()\[\]{}]*\d[^()\[\]{}]*[)\]}]"
_PEOPLE = (
    r"(?:women|men|females?|males?|persons?|people|cases?|girls?|boys?|frauen|m\u00e4nner|personen"
    r"|f\u00e4lle|femmes|hommes|personnes|cas|mujeres|hombres)"
)
_CARRIED = re.compile(
    rf"{_ENCLOSED}|(?<=\S)\s*[:;=/|]\s*\d[\d.,]*\W*$|(?<=\S)\s+[-\u2013\u2014]\s*\d[\d.,]*\W*$"
    rf"|\b[nN]\s*[=:]\s*\d+|(?<=\S)\s+[nN]\s?\d+\b|\d[\d.,]*\s*(?:%|per ?cent|prozent)"
    rf"|(?<=\S)\s+\W*\d[\d.,]*\s+{_PEOPLE}\b",
    re.I,
)
"""A number in a label or a header that stands beside its name."""
_SIZE = re.compile(r"\b[nN]\s*[=:]|%|per ?cent|prozent", re.I)
_LEADING = re.compile(
    r"\d[\d.,]*\s+(?:[fmw]|females?|males?|women|men|girls?|boys?|frauen|m\u00e4nner|weiblich"
    r"|m\u00e4nnlich|femmes|hommes)",
    re.I,
)
"""A number before the name of a sex."""


def ask_for_wording(tables: Sequence[TableRead], rules: Rules) -> Iterator[Unaccounted]:
    """Yield a question for labels of measures, and for labels and headers that carry numbers.

    Parameters
    ----------
    tables: all that are read together.
    rules: which words are totals, and labels that are declared to stand for themselves.
    """
    is_hidden = any(cell.count.kind != "exact" for table in tables for cell in table.cells)
    for table in tables:
        for name, labels in _labels(table).items():
            yield from _ask_for_measures(table, name, labels, rules)
        for text in table.printed_header if rules.unit is None else ():
            if not is_percent_name(text) and (unit := find_unit(text)):
                yield ask_for_unit(f"header `{visible(text)}` of {visible(table.file)}", unit)
                break
        if is_hidden:
            yield from _ask_for_numbers(table, rules)


def _labels(table: TableRead) -> dict[str, list[str]]:
    """Return the labels of each dimension of a table."""
    second = {one.column for one in table.columns.second_names}
    found: dict[str, dict[str, None]] = {}
    for cell in table.cells:
        for name, label in cell.labels.items():
            if name not in second:
                found.setdefault(name, {})[label] = None
    return {name: list(labels) for name, labels in found.items()}


def _ask_for_measures(
    table: TableRead, name: str, labels: Sequence[str], rules: Rules
) -> Iterator[Unaccounted]:
    declared = {label.casefold() for label in rules.parts}
    is_unit = _UNITS.fullmatch(name.strip()) is not None
    odd = [label for label in labels if _MEASURE.fullmatch(label)]
    if is_unit:
        odd += [label for label in labels if _UNIT_CODES.fullmatch(label)]
        odd += labels if len(labels) > 1 else ()
    others = [label for label in labels if _NO_PEOPLE.fullmatch(label)]
    if rules.unit is None and 0 < len(others) < len(labels):
        odd += others
    odd = [label for label in dict.fromkeys(odd) if label.casefold() not in declared]
    if odd:
        shown = ", ".join(f"`{visible(label)}`" for label in odd[:_SHOWN])
        ways = " ".join(option_of("part", label) for label in odd)
        yield Unaccounted(
            subject=f"labels of `{visible(name)}` in {visible(table.file)}",
            reason=f"Numbers of {shown} may be a measure or a count of others, and no people.",
            declaration=visible(f"a copy of the table without these, or {ways} if they are people"),
        )


def _ask_for_numbers(table: TableRead, rules: Rules) -> Iterator[Unaccounted]:
    """Yield a question for each dimension whose labels carry numbers, and for headers."""
    explained = _explained(table.notes)
    asked = {question.subject for question in table.unaccounted}
    each: dict[str, list[str]] = {}
    for at, name in table.columns.dimensions.items():
        each[name] = list(dict.fromkeys(" ".join(cells[at].split()) for _, cells in table.rows))
    if table.labels_across:
        at = set(table.columns.dimensions)
        wide = [text for k, text in enumerate(table.printed_header) if k not in at]
        each[table.across or "columns"] = [text for text in wide if not is_percent_name(text)]
    for name, texts in each.items():
        shown = [text for text in texts if not rules.is_total(label_of(text))]
        found = {text: _carried(text, explained) for text in texts}
        codes = [_carried(text, set()) for text in shown]
        subject = f"labels of `{visible(name)}` in {visible(table.file)}"
        if subject in asked:
            continue
        if any(found.values()) and not _are_codes(codes):
            example = next(text for text, number in found.items() if number)
            yield Unaccounted(
                subject=subject,
                reason=f"Numbers in them, such as `{visible(example)}`, may tell hidden counts.",
                declaration="labels without these numbers, in a copy of the table",
            )
    for at, text in enumerate(table.printed_header):
        if (table.labels_across and at not in table.columns.dimensions) or is_percent_name(text):
            continue
        number = _carried(text, explained)
        if number and not _counts_labels(number, [cells[at] for _, cells in table.rows]):
            yield Unaccounted(
                subject=f"header `{visible(text)}` of {visible(table.file)}",
                reason="Its number may tell of hidden counts.",
                declaration="a header without this number, in a copy of the table",
            )


def _explained(notes: Sequence[str]) -> set[str]:
    """Return numbers by which notes begin, so that they are marks of footnotes."""
    found = (re.match(r"\W*(?:notes?|fn)?\s*(\d{1,2})(?:\W|$)", note, re.I) for note in notes)
    return {match[1] for match in found if match is not None}


def _carried(text: str, explained: set[str]) -> str:
    """Return the number that stands in a label beside its name; empty: there is none."""
    plain = re.sub(
        r"[(\[](?:note )?(\d{1,2})[)\]]",
        lambda one: " " if one[1] in explained else one[0],
        " ".join(text.split()),
        flags=re.I,
    )
    plain = (
        re.sub(r"\b[^\W\d]+[._-]?\d[\w.-]*", "CODE", plain) if not _SIZE.search(plain) else plain
    )
    found = _CARRIED.search(_NAMED.sub(" ", plain)) or _LEADING.fullmatch(plain)
    if found is None and (odd := re.search(r"(?<=\S)\s+[nN]\d+$", text)):
        found = odd
    if found is None or not re.search(r"\d", found[0]):
        return ""
    return ("%" * bool(_SIZE.search(found[0]))) + "".join(re.findall(r"\d+", found[0]))


def _are_codes(numbers: Sequence[str]) -> bool:
    """Return whether numbers are the codes of their labels: of one length, or serial."""
    if len(numbers) < 2 or not all(number.isdigit() for number in numbers):
        return False
    if len(set(numbers)) < len(numbers):
        return False
    is_even = len({len(number) for number in numbers}) == 1
    if is_even and (len(numbers[0]) > 4 or any(number[0] == "0" for number in numbers)):
        return True
    values = sorted(map(int, numbers))
    return values == list(range(values[0], values[0] + len(values))) and values[0] < 2


def _counts_labels(number: str, texts: Sequence[str]) -> bool:
    """Return whether a header's number is how many labels the column has, as censuses print it."""
    many = len(set(texts))
    return number.isdigit() and many - 1 <= int(number) <= many
