"""Cells that say one thing and are written otherwise, which carries a bit each.

``x`` and ``X``, ``x`` with and without a blank that nobody sees, ``14`` and ``14.0``: a table that
hides numbers may tell them by such a difference. What is alike must be written alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from narcissus._visible import visible
from narcissus.counts.marks import Meaning, Rules, label_of

_SHOWN = 4
_CORE = re.compile(r"[-\u2212]?\d(?:[\d.,'\u2019\s]*\d)?")
_PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(?:[.,]([0-9]+))?")
_GROUPED = re.compile(r"-?[1-9][0-9]{0,2}((?:[\s.,'\u2019])[0-9]{3})+(?:[.,]([0-9]+))?")
_NOTE = re.compile(
    r"[(\[](?:note )?(\d{1,2}|[a-z])[)\]]|([\u00b9\u00b2\u00b3\u2070-\u2079*\u2020\u2021]+|[a-z])",
    re.I,
)
_SUPERSCRIPT = str.maketrans(
    "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079", "1230456789"
)


@dataclass(frozen=True)
class WrittenCell:
    """A printed number or mark, and how its file writes it.

    Options
    -------
    line: of the file.
    printed: without blanks and quotes around it.
    raw: with them.
    count: what it tells.
    """

    line: int
    printed: str
    raw: str
    count: Meaning

    @property
    def is_hidden(self) -> bool:
        return self.count.kind not in ("exact", "derived", "rounded", "perturbed")


def split_raw(record: str, mark: str) -> list[str]:
    """Return the cells of a line of delimited text with their quotes and blanks."""
    found = [""]
    is_quoted = False
    for letter in record:
        if letter == '"':
            is_quoted = not is_quoted and (is_quoted or not found[-1].strip() or '"' in found[-1])
        if letter == mark and not is_quoted:
            found.append("")
        else:
            found[-1] += letter
    return found


def list_marks(cells: Iterable[WrittenCell], rules: Rules) -> Iterator[str]:
    """Yield marks that stand for the same and differ, unless the user declares what each is."""
    alike: dict[Hashable, dict[str, list[int]]] = {}
    for cell in cells:
        if cell.is_hidden and cell.printed not in rules.marks:
            key = (cell.count.low, cell.count.high, cell.count.kind)
            alike.setdefault(key, {}).setdefault(cell.printed, []).append(cell.line)
    for marks in alike.values():
        if len(marks) > 1:
            usual = max(marks, key=lambda mark: len(marks[mark]))
            others = {mark: lines for mark, lines in marks.items() if mark != usual}
            shown = [f"mark `{visible(m)}` in {_lines(lines)}" for m, lines in others.items()]
            yield f"{', '.join(shown)} next to `{visible(usual)}`"


def list_numbers(
    cells: Iterable[WrittenCell], markers: Set[str], *, has_decimals: bool
) -> Iterator[str]:
    """Yield numbers that are written otherwise than the others.

    markers: of footnotes that a line explains.
    has_decimals: whether numbers are totals, whose decimals differ by themselves.
    """
    cores: dict[str, list[int]] = {}
    for cell in cells:
        if cell.is_hidden:
            continue
        found = _CORE.match(cell.printed)
        core = "" if found is None else found[0]
        behind = cell.printed[len(core) :].strip()
        note = _NOTE.fullmatch(behind)
        marker = (note[1] or note[2]).translate(_SUPERSCRIPT).casefold() if note else ""
        if behind and marker not in markers:
            yield f"number `{visible(cell.printed)}` in line {cell.line}"
        cores.setdefault(core, []).append(cell.line)
    styles: dict[_Style, list[str]] = {}
    for core in cores:
        styles.setdefault(_style(core, has_decimals=has_decimals), []).append(core)
    grouped = [core for style, some in styles.items() if style.between for core in some]
    # 1204 beside 12 040: four digits stand together
    is_loose = all(len(re.sub(r"\D", "", core)) > 4 for core in grouped)
    usual = max(styles, key=lambda style: len(styles[style]), default=_Style("", "", ""))
    marks = {style.between for style in styles if style.between}
    for style, some in styles.items():
        is_odd = style.form == "odd" or style.decimals != usual.decimals
        is_odd |= bool(style.between) and len(marks) > 1
        is_odd |= bool(grouped) and style.form == "long"
        is_odd |= bool(grouped) and style.form == "short" and not is_loose
        if is_odd:
            lines = sorted(line for core in some for line in cores[core])
            yield f"numbers such as `{visible(some[0])}` in {_lines(lines)}"


@dataclass(frozen=True)
class _Style:
    """How a number is written: its form, what is between thousands, and how many decimals."""

    form: str
    between: str
    decimals: str


def _style(core: str, *, has_decimals: bool) -> _Style:
    grouped, plain = _GROUPED.fullmatch(core), _PLAIN.fullmatch(core)
    if plain is not None and (grouped is None or has_decimals):
        long, end = len(plain[1]) - 3, plain[2] or ""
        form = "small" if long < 1 else "short" if long == 1 else "long"
        return _Style(form, "", "" if has_decimals and not end.endswith("0") else str(len(end)))
    if grouped is not None:
        between = "".join(sorted(set(re.sub(r"[0-9-]", "", core[: grouped.end(1)]))))
        end = grouped[2] or ""
        is_free = has_decimals and not end.endswith("0")
        return _Style("grouped", between, "" if is_free else str(len(end)))
    return _Style("odd", "", "0")


def list_paddings(cells: Iterable[WrittenCell], mark: str) -> Iterator[str]:
    """Yield cells that have other blanks or quotes around them than those like them.

    mark: what is between cells; one that has it in itself is quoted.
    """
    each: dict[Hashable, dict[tuple[str, str], list[int]]] = {}
    for cell in cells:
        behind = _CORE.sub("", cell.printed, count=1) != ""
        key = (
            cell.is_hidden,
            cell.printed == "",
            behind,
            bool(set(cell.printed) & {mark, '"', "\n"}),
        )
        each.setdefault(key, {}).setdefault(_around(cell), []).append(cell.line)
    for some in each.values():
        usual = max(some, key=lambda around: len(some[around]))
        lines = sorted(line for around, lines in some.items() if around != usual for line in lines)
        if lines:
            yield f"blanks or quotes around cells in {_lines(lines)}"


def _around(cell: WrittenCell) -> tuple[str, str]:
    if not cell.printed:
        return cell.raw, ""
    before, _, behind = cell.raw.partition(cell.printed)
    return before, behind


def are_aligned(cells: Sequence[WrittenCell]) -> bool:
    """Return whether blanks make all cells of a column equally wide."""
    return len({len(cell.raw) for cell in cells}) == 1


def list_spellings(
    name: str, raws: Sequence[tuple[int, str]], markers: Set[str], rules: Rules
) -> Iterator[str]:
    """Yield labels of a column that are written in several ways, but for explained footnotes."""
    each: dict[str, dict[str, list[int]]] = {}
    for line, raw in raws:
        label = label_of(raw.strip().strip('"').strip())
        note = _NOTE.fullmatch(raw.strip().removeprefix(label).strip())
        marker = (note[1] or note[2]).translate(_SUPERSCRIPT).casefold() if note else ""
        text = label if marker and marker in markers else raw
        is_word = rules.is_total(label) and label not in rules.totals
        each.setdefault("" if is_word else label, {}).setdefault(text, []).append(line)
    for some in each.values():
        if len(some) > 1:
            usual = max(some, key=lambda text: len(some[text]))
            lines = sorted(line for text in some if text != usual for line in some[text])
            other = next(text for text in some if text != usual)
            yield (
                f"label `{visible(other.strip())}` of `{visible(name)}`, written in several ways "
                f"in {_lines(lines)}"
            )


def list_flags(name: str, raws: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield flags of a column that are written in several ways: in capitals, with blanks."""
    each: dict[str, dict[str, list[int]]] = {}
    for line, raw in raws:
        flag = raw.strip().strip('"').strip().casefold().strip("[]()")
        each.setdefault(flag, {}).setdefault(raw, []).append(line)
    for some in each.values():
        usual = max(some, key=lambda text: len(some[text]))
        if lines := sorted(line for text in some if text != usual for line in some[text]):
            yield f"flags of `{visible(name)}`, written in several ways in {_lines(lines)}"


def list_tails(raws: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield lines that have more empty cells behind their last one than most have."""
    counts = Counter(map(len, raws.values()))
    usual = max(counts, key=counts.__getitem__, default=0)
    if lines := sorted(line for line, cells in raws.items() if len(cells) != usual):
        yield f"cells behind the last column in {_lines(lines)}"


def _lines(lines: Sequence[int]) -> str:
    each = list(dict.fromkeys(lines))
    more = f" and {len(each) - _SHOWN:,} more" * (len(each) > _SHOWN)
    return f"line{'s' * (len(each) > 1)} {', '.join(map(str, each[:_SHOWN]))}{more}"
