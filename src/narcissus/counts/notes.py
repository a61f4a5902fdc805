"""Titles above a table and notes below it: whether they tell a count, or how counts were hidden.

They are listed, and not read. A line that names a hidden label and a number is asked for, and so is
a line that says another rule than the one that is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from narcissus._visible import visible
from narcissus.counts.codes import find_count_signs
from narcissus.counts.marks import Meaning, Rules
from narcissus.rows import Unaccounted


class LabelledCell(Protocol):
    """What is read of a cell here: whom it is about, and what it prints."""

    @property
    def printed(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def count(self) -> Meaning: ...


Note = tuple[int, str]
"""A line beside a table, and its text."""
_FEWER = (
    r"<|\b(?:fewer|less|smaller) than|\bbelow|\bunder|\bunter|\bweniger als|\bkleiner als"
    r"|\bmoins de|\bmenos de"
)
_AT_MOST = r"<=|\u2264|\bup to|\bat most|\bno more than|\bbis zu|\bh\u00f6chstens"
_WORD = re.compile(
    r"(?<!\bno )(?<!more than )(?<!each )(?<!any )\bone\b(?! (?:or more|another|and the same))"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|single|both|pair"
    r"|zwei|drei|vier|f\u00fcnf|sechs|sieben|acht|neun|zehn|elf|zw\u00f6lf|einzige\w*|ein fall"
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|un cas|dos|tres|cuatro|cinco|seis|siete|ocho"
    r"|nueve|diez|un caso|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|twee|drie|vijf|zes|zeven"
    r"|negen|tien|tv\u00e5|fyra|fem|sju|\u00e5tta|nio|tio|dwa|trzy|cztery|pi\u0119\u0107)\b|(?-i:\b[IVX]{2,}\b)",
    re.I,
)
"""Numbers in words of several languages, and in Roman numerals."""
_NO_PEOPLE = re.compile(
    r"\b(?:\d+|one|two|three|four|five)\s+(?:tables?|(?:work)?sheets?|columns?|rows?|decimals?"
    r"|digits?|pages?|notes?|parts?|places?|categories|groups?|regions?|times?)\b"
    r"|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{4}[/-]\d{2,4}\b|https?:\S+|www\.\S+"
    r"|\b\d{1,2}\.? ?(?:jan|feb|m[a\u00e4]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])\w*"
    r"|\b(?:aged?|ages|alter|article|art\.|section|law|act|no\.|nr\.|phone|tel\.?|level|nuts|iso"
    r"|isco|icd|chapter|form|wave|round|quarter|week|month|step|method)[\s-]*\d[\d.\s/-]*"
    r"|\b\d+\s*(?:%|percent|per cent|prozent|years?|jahren?|ans|months?|days?|hours?|km|euros?"
    r"|eur|usd|\u20ac)|\bper [\d,. ]+|\b(?:base|basis|multiples? of|nearest|auf|to)\s+\d+"
    r"|[\w.]*[^\W\d]\d[\w.]*|\d+(?:st|nd|rd|th)\b|\b\d{1,2}(?:-|\u2013| to | bis )\d{1,2}\b",
    re.I,
)
"""Numbers that are no counts of people: dates, ages, sections, units, codes, rounding bases."""
_NUMBER = r"(?:\d{1,9}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b"
_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
_NUMBERS = {word: at for at, word in enumerate(_WORDS, 1)} | {"twelve": 12, "twenty": 20}
_THRESHOLD = re.compile(
    rf"(?:(?P<below>{_FEWER})|{_AT_MOST}|\b[01]\s*(?:-|\u2013|to|and|bis))\s*(?P<number>{_NUMBER})"
    r"(?!\s*(%|percent|prozent|years?|jahren?))",
    re.I,
)
_NO_COUNT = re.compile(
    r"\b(19|20)\d\d\b|\b(table|tabelle|tab\.|tableau|figure|sheet|page|seite|version)\s*[\d.]+"
    rf"|({_AT_MOST}|{_FEWER})\s*\d+|^\W*\d{{1,2}}\s*[).\]]",
    re.I,
)
"""Numbers of notes that are no counts: years, thresholds, and those of tables and notes."""
_CARRIED = re.compile(r"(?:[(\[{:;=/|]|\bn ?=|[-\u2013] ) ?(\d{1,9})\W*$", re.I)
"""A number at the end of a label that is no part of its name."""
_HIDING = re.compile(
    r"suppress|hidden|hide|withheld|withhold|confiden|disclos|not (shown|published|displayed)"
    r"|secre|geheim|unterdr\u00fcckt|nicht (gezeigt|ausgewiesen)|masked|redact|censored|small",
    re.I,
)
_OTHERS = re.compile(
    r"secondar|complementary|consequential|(protect|derive|deduc|recalcul|calculat)\w*"
    r"|other (cells|values|counts|figures)",
    re.I,
)
"""Words of cells that are hidden because of others."""
_UNKNOWN = re.compile(
    r"not (available|applicable|known|collected)|unknown|missing|n/?a\b|keine angabe|unbekannt",
    re.I,
)
_NONE = re.compile(
    r"\b(nil|zero|none|no (people|persons|cases|data)|null|nichts vorhanden)\b", re.I
)
_ROUNDED = re.compile(
    r"(?P<random>random\w*\s+)?\b(?:rounded|rounding|gerundet|arrondi\w*)\b[^.;]*?"
    r"(?:\bto|\bauf|\bbase|\bof|\b\u00e0)\s[^\d.;]*?(?P<base>\d{1,6})",
    re.I,
)
_QUANTITY = re.compile(
    r"\b(?:no|none|nobody|neither|all|every\w*|only|solely|exclusively|mostly|half|halves|thirds?"
    r"|quarters?|dozens?|couple|several|a few|few|equal\w*|(?:the )?same|as many|more|fewer|less"
    r"|most|majority|minority|double|twice|triple|kein\w*|alle\w*|nur|ausschlie\u00dflich|h\u00e4lfte\w*"
    r"|drittel\w*|viertel\w*|gleich\w*|mehr|weniger|mehrheit|dutzend|doppelt\w*|tou(?:s|te|tes|t)"
    r"|aucune?s?|moiti\u00e9|tiers|quart|douzaine|plus de|moins de|seule?s?|uniquement|ningun\w*"
    r"|mitad|tercio|todos|todas|geen|helft|nessun\w*|met\u00e0)\b|[<>\u2264\u2265=]",
    re.I,
)
"""Words and signs of quantities that are no numbers."""
_HIDDEN_WORD = r"(?:suppress|hidden|hide|mask|withh|confiden|secret|unterdr|geheim|ersetz)"
_NEVER = "|".join(("never", "not", "nicht", "nie", "isn't", "ungleich"))
_NOT_ZERO = re.compile(
    "|".join((
        rf"\b(?:{_NEVER})\s+(?:be\s+|equal to\s+)?(?:zero|empty|null|0\b)",
        r"non-?zero",
        r"\bno zeros?",
        r"\bexclud\w+ (?:zeros?|0\b)|\bzeros? excluded",
        r"\b(?:other|greater|more|larger|higher|above) than (?:zero|none|0\b)",
        r"\babove (?:zero|0\b)|> ?0\b|\bexcept (?:for )?zeros?|\bohne null",
        r"(?:gr\u00f6\u00dfer|mehr) als (?:null|0\b)",
        r"\bat least (?:one|1)\b|\bmindestens (?:ein\w*|1)\b",
        rf"\b(?:zeros?|nulls?|nullen|nullwerte)\b[^.;]*\b(?:{_NEVER})\b[^.;]*{_HIDDEN_WORD}",
        r"\bzeros? (?:counts? |values? |cells? )?(?:are|is|were) (?:always )?"
        r"(?:shown|published|printed|displayed)",
        r"\bnullen (?:werden|sind) (?:gezeigt|ausgewiesen|ver\u00f6ffentlicht)",
        r"\b(?:empty|blank) (?:cells? )?(?:is|are|means?|stands? for) (?:zeros?|0\b)",
        r"\bzeros? (?:is|are) (?:left )?(?:empty|blank)",
        r"\bpositive (?:counts?|numbers?|values?)",
    )),
    re.I,
)  # fmt: skip
"""What says that a hidden count is not zero."""
_SPAN = re.compile(
    rf"(?<![\d.,])(?P<low>{_NUMBER})\s*(?:-|\u2013|\u2014|to|and|or|bis|und|oder|\u00e0)\s*"
    rf"(?P<high>{_NUMBER})"
    r"(?!\s*(?:%|percent|prozent|years?|jahren?))",
    re.I,
)
_UNIT = re.compile(
    r"\bin (?:thousands?|millions?|hundreds?|tausend|millionen|hundert|milliers|miles|thsd\.?"
    r"|tsd\.?|mio\.?|mill\.?|1[ ,.]?000s?)\b|\(\s*'?0{3}s?\s*\)|'000s?\b"
    r"|\bunits? ?[:=] ?(?:thousand|million)"
    r"|\((?:thousands?|millions?|tausend|tsd\.?|mio\.?|1[ ,.]?000)\)"
    r"|\bx ?1[ ,.]?000\b|\b(?:thousands?|millions?) (?:of )?(?:persons|people|inhabitants)",
    re.I,
)
"""Words by which numbers are of hundreds, thousands or millions."""
_PERTURBED = re.compile(
    r"perturb|cell.?key|\bnoise\b|random(ly)? (adjust|change|alter)|record.?swap|verrausch", re.I
)


def without_thresholds(text: str) -> str:
    """Return a text without years, thresholds, and numbers of notes and tables."""
    return _NO_COUNT.sub("", text)


def ask_for_notes(
    file: str, cells: Sequence[LabelledCell], notes: Sequence[Note], rules: Rules
) -> Iterator[Unaccounted]:
    """Yield a question for each line that may tell a hidden count, or says another rule.

    Parameters
    ----------
    file: the table's name.
    cells: of the table.
    notes: lines above it and below it.
    rules: how its counts are declared to be printed.
    """
    hidden = [cell for cell in cells if cell.count.kind not in ("exact", "derived")]
    labels = {label for cell in hidden for label in cell.labels.values()}
    declared = {str(number) for number in (rules.below, rules.base) if (number or 1) > 1}
    marks = {cell.printed for cell in hidden if cell.count.kind == "suppressed"}
    for line, note in notes:
        label = next(filter(lambda label: _tells(note, label), sorted(labels)), None)
        if label is not None:
            reason = f"It names `{visible(label)}`, whose count is hidden, and a number."
            yield _question(file, line, reason, "", "unless the note tells a count")
            continue
        label = next(filter(lambda label: _compares(note, label), sorted(labels)), None)
        if label is not None:
            reason = f"It names `{visible(label)}`, whose count is hidden, and a quantity."
            yield _question(file, line, reason, "", "unless the note tells a count")
            continue
        if rules.unit is None and (unit := find_unit(note)):
            yield ask_for_unit(f"note in line {line} of {visible(file)}", unit)
            continue
        other = next(_other_rules(note, marks, rules), None)
        if other is not None:
            yield _question(file, line, *other, "if the note is about something else")
        elif hidden and (number := _people_of(note, declared)):
            reason = f"It has the number `{visible(number)}`, which may tell of a hidden count."
            yield _question(file, line, reason, "", "unless the note tells a count")


def tells_quantity(text: str) -> bool:
    """Return whether a text has a number that may be of people, or a quantity in words."""
    return bool(_people_of(text, set())) or _QUANTITY.search(text) is not None


def find_unit(text: str) -> str:
    """Return words that say that numbers are of thousands or the like; empty: there are none."""
    found = _UNIT.search(text)
    return "" if found is None else found[0]


def ask_for_unit(subject: str, unit: str) -> Unaccounted:
    """Return the question of numbers that are printed in thousands or the like."""
    return Unaccounted(
        subject=subject,
        reason=f"By `{visible(unit)}`, numbers may not be those of single people.",
        declaration="`--round 1000` and numbers in full, or a copy of the table without them",
    )


def _question(file: str, line: int, reason: str, option: str, condition: str) -> Unaccounted:
    ways = [f"`{option}`" if option.startswith("--") else option] if option else []
    ways.append(f"a copy of the table without line {line}, {condition}")
    return Unaccounted(
        subject=f"note in line {line} of {visible(file)}",
        reason=reason,
        declaration=visible(", or ".join(ways)),
    )


def _tells(note: str, label: str) -> bool:
    """Return whether a note names a label and a number beside it."""
    text = without_thresholds(note)
    parts = re.split(rf"(?<!\w){re.escape(label)}(?!\w)", text, flags=re.I * (len(label) > 1))
    rest = " ".join(parts)
    return len(parts) > 1 and bool(re.search(r"\d", rest) or _WORD.search(rest))


def _compares(note: str, label: str) -> bool:
    """Return whether a note names a label, and a quantity in words beside it."""
    text = without_thresholds(note)
    parts = re.split(rf"(?<!\w){re.escape(label)}(?!\w)", text, flags=re.I * (len(label) > 1))
    return len(parts) > 1 and _QUANTITY.search(" ".join(parts)) is not None


def _people_of(note: str, declared: set[str]) -> str:
    """Return a number of a note that may be of people, in digits or words; empty: there is none."""
    text = _ROUNDED.sub(" ", _THRESHOLD.sub(" ", _NO_PEOPLE.sub(" ", note)))
    text = without_thresholds(text)
    found = [*re.findall(r"\d{1,9}", text), *(match[0] for match in _WORD.finditer(text))]
    return next((number for number in found if number not in declared), "")


def ask_for_labels(
    file: str, name: str, texts: Sequence[str], cells: Sequence[LabelledCell]
) -> Iterator[Unaccounted]:
    """Yield a question if labels carry the counts of their rows, as in `Alba (3)`.

    Parameters
    ----------
    file, name: of the table, and of the column of labels.
    texts: labels as they are printed, by row.
    cells: one of each row.
    """
    if all(cell.count.kind in ("exact", "derived") for cell in cells):
        return
    found = [_CARRIED.search(text) for text in texts]
    numbers = ["" if match is None else match[1] for match in found]
    counts = [cell.count.low if cell.count.kind == "exact" else None for cell in cells]
    pairs = [(n, count) for n, count in zip(numbers, counts, strict=True) if count is not None]
    is_count = len(pairs) > 1 and all(n and int(n) == count for n, count in pairs)
    if is_count or (any(numbers) and find_count_signs(numbers, counts)):
        yield Unaccounted(
            subject=f"labels of `{visible(name)}` in {visible(file)}",
            reason="Numbers in them follow the printed counts, and may tell hidden ones.",
            declaration="labels without these numbers, in a copy of the table",
        )


def _threshold(note: str) -> int | None:
    """Return below how many people a note says that counts are hidden; None: it does not."""
    found = _THRESHOLD.search(note)
    if found is None:
        return None
    text = found["number"].casefold()
    return _as_number(text) + (found["below"] is None)


def _other_rules(note: str, marks: set[str], rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield what a note says of the rule that is not declared, and the option that declares it."""
    yield from _rounding(note, rules)
    named = [mark for mark in sorted(marks) if mark and _explains(note, mark)]
    is_hiding = bool(_HIDING.search(note)) or bool(named)
    below = _threshold(note) if is_hiding and marks else None
    about = _beside_threshold(note, named) or named
    limits = {_limit(mark, rules) for mark in about or sorted(marks)}
    is_printed = [mark for mark in sorted(marks) if mark and _names(note, mark)]
    about_zero = is_hiding or bool(is_printed) or bool(re.search(r"\bzeros?|\bnull", note, re.I))
    excludes = about_zero and _excludes_zero(note)
    is_open = excludes and any(_least(mark, rules) == 0 for mark in about or sorted(marks))
    more = " --no-zeros" * is_open
    if below is not None and limits != {below} and (about or below not in limits):
        reason = f"It says that counts below {below} are hidden, which is not declared."
        yield reason, f"--below {below}{more}"
    span = _SPAN.search(note) if is_printed and not _is_of_ages(note) else None
    if span is not None and 1 < _as_number(span["low"]) < _as_number(span["high"]):
        reason = f"It says that `{is_printed[0]}` is from {span['low']} to {span['high']}."
        yield reason, f"{span['low']}-{span['high']} in the cells themselves"
    if is_open:
        yield (
            "It says that hidden counts are one or more, which waits for a declaration.",
            "--no-zeros",
        )
    if named and rules.below is not None and limits != {None}:
        mark = named[0]
        if _UNKNOWN.search(note) or (_OTHERS.search(note) and below is None):
            yield f"It says that `{mark}` hides other counts than small ones.", f"--mark {mark}=any"
    is_none = _NONE.search(note) and not _HIDING.search(note) and not excludes
    if named and is_none and limits != {1}:
        yield f"It says that `{named[0]}` stands for nobody.", f"--mark {named[0]}=below:1"


def _beside_threshold(note: str, named: Sequence[str]) -> list[str]:
    """Return marks that are explained in the clause of a note's threshold."""
    clauses = re.split(r"[.;](?:\s|$)", note)
    clause = next(filter(_THRESHOLD.search, clauses), "")
    return [mark for mark in named if _explains(clause.strip(), mark)]


def _names(note: str, mark: str) -> bool:
    """Return whether a note has a mark as a word."""
    return re.search(rf"(?<!\w){re.escape(mark)}(?!\w)", note) is not None


def _is_of_ages(note: str) -> bool:
    return re.search(r"\b(aged?|ages|years?|alter|jahren?|ans)\b", note, re.I) is not None


def _as_number(text: str) -> int:
    return _NUMBERS[text.casefold()] if text.casefold() in _NUMBERS else int(text)


def _excludes_zero(note: str) -> bool:
    """Return whether a note says that hidden counts are one or more."""
    spans = [] if _is_of_ages(note) else list(_SPAN.finditer(note))
    return _NOT_ZERO.search(note) is not None or any(_as_number(s["low"]) == 1 for s in spans)


def _least(mark: str, rules: Rules) -> int:
    """Return how many people a mark stands for at least."""
    return rules.count(mark, "a note").low


def _limit(mark: str, rules: Rules) -> int | None:
    """Return below how many people a mark is declared to be; None: any number."""
    meaning = rules.count(mark, "a note")
    return None if meaning.high is None else meaning.high + 1


def _explains(note: str, mark: str) -> bool:
    """Return whether a note begins with a mark, or quotes it, and says what it means."""
    sign = re.escape(mark)
    return re.match(rf"\W{{0,2}}{sign}\W?\s*(=|:|-|\u2013|\s)\s*\S", note, re.I) is not None or (
        re.search(rf"[\"'`\u201c\u2018(\[]{sign}[\"'`\u201d\u2019)\]]", note, re.I) is not None
    )


def _rounding(note: str, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield that a note says numbers to be rounded or perturbed, where that is not declared."""
    found = _ROUNDED.search(note)
    if rules.key is not None or re.search(r"percent|prozent|%|rates?\b|share", note, re.I):
        return
    if found is not None and rules.unit is None and int(found["base"]) not in (0, 1, rules.base):
        base = f"{'random:' if found['random'] else ''}{found['base']}"
        yield f"It says that numbers are rounded to {found['base']}.", f"--round {base}"
    elif _PERTURBED.search(note) and rules.base == 1:
        yield "It says that numbers are changed randomly.", "--cell-key FILE"
