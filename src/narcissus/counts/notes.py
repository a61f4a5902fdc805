"""Titles above a table and notes below it: whether they tell a count, or how counts were hidden.

They are listed, and not read. A line that names a hidden label and a number is asked for, and so is
a line that says another rule than the one that is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from narcissus._visible import visible
from narcissus.counts.marks import Rules
from narcissus.rows import Unaccounted

if TYPE_CHECKING:
    from narcissus.counts.reading import Cell

Note = tuple[int, str]
"""A line beside a table, and its text."""
_FEWER = (
    r"<|\b(?:fewer|less|smaller) than|\bbelow|\bunder|\bunter|\bweniger als|\bkleiner als"
    r"|\bmoins de|\bmenos de"
)
_AT_MOST = r"<=|\u2264|\bup to|\bat most|\bno more than|\bbis zu|\bh\u00f6chstens"
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
_PERTURBED = re.compile(
    r"perturb|cell.?key|\bnoise\b|random(ly)? (adjust|change|alter)|record.?swap|verrausch", re.I
)


def without_thresholds(text: str) -> str:
    """Return a text without years, thresholds, and numbers of notes and tables."""
    return _NO_COUNT.sub("", text)


def ask_for_notes(
    file: str, cells: Sequence[Cell], notes: Sequence[Note], rules: Rules
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
    marks = {cell.printed for cell in hidden if cell.count.kind == "suppressed"}
    for line, note in notes:
        label = next(filter(lambda label: _tells(note, label), sorted(labels)), None)
        if label is not None:
            reason = f"It names `{visible(label)}`, whose count is hidden, and a number."
            yield _question(file, line, reason, "", "unless the note tells a count")
            continue
        for reason, option in _other_rules(note, marks, rules):
            yield _question(file, line, reason, option, "if the note is about something else")
            break


def _question(file: str, line: int, reason: str, option: str, condition: str) -> Unaccounted:
    ways = [f"`{option}`"] if option else []
    ways.append(f"a copy of the table without line {line}, {condition}")
    return Unaccounted(
        subject=f"note in line {line} of {visible(file)}",
        reason=reason,
        declaration=visible(", or ".join(ways)),
    )


def _tells(note: str, label: str) -> bool:
    """Return whether a note names a label and a number beside it."""
    parts = re.split(rf"(?<!\w){re.escape(label)}(?!\w)", without_thresholds(note))
    return len(parts) > 1 and re.search(r"\d", " ".join(parts)) is not None


def _threshold(note: str) -> int | None:
    """Return below how many people a note says that counts are hidden; None: it does not."""
    found = _THRESHOLD.search(note)
    if found is None:
        return None
    text = found["number"].casefold()
    number = _NUMBERS[text] if text in _NUMBERS else int(text)
    return number + (found["below"] is None)


def _other_rules(note: str, marks: set[str], rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield what a note says of the rule that is not declared, and the option that declares it."""
    yield from _rounding(note, rules)
    named = [mark for mark in sorted(marks) if mark and _explains(note, mark)]
    is_hiding = bool(_HIDING.search(note)) or bool(named)
    below = _threshold(note) if is_hiding and marks else None
    limits = {_limit(mark, rules) for mark in named or sorted(marks)}
    if below is not None and limits != {below} and (named or below not in limits):
        reason = f"It says that counts below {below} are hidden, which is not declared."
        yield reason, f"--below {below}"
    if named and rules.below is not None and limits != {None}:
        mark = named[0]
        if _UNKNOWN.search(note) or (_OTHERS.search(note) and below is None):
            yield f"It says that `{mark}` hides other counts than small ones.", f"--mark {mark}=any"
    if named and _NONE.search(note) and not _HIDING.search(note) and limits != {1}:
        yield f"It says that `{named[0]}` stands for nobody.", f"--mark {named[0]}=below:1"


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
