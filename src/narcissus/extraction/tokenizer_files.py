"""The form in which a stranger's tokenizer leaves the sandbox: JSON of known parts.

Formats of tokenizers are many, and some are read by libraries in C++. They are read in the sandbox
alone, and come out as one ``tokenizer.json``. Here its parts are checked by their names, its
numbers by their size, and its patterns by their syntax. What is read afterwards was written by us.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from narcissus._files import parsing, read_bytes
from narcissus._json import read_json
from narcissus.errors import InputError

LONGEST_PATTERN = 2**14
"""Most characters of a pattern."""
MOST_GROWTH = 64
"""Times by which all replacements of a tokenizer together may lengthen a text."""
LONGEST_REPEAT = 1000
"""Most times that a pattern asks for something by a number."""
FEW_REPEATS = 10
MOST_CHOICES = 8
"""Choices of a pattern that may follow each other."""
LONGEST_WORD = 1000
"""Characters of a word that is cut into pieces: the time grows with their square."""
LARGEST_ID = 2**24
"""Every number of a token is below."""
MOST_TOKENS = 2**20
"""Tokens of a vocabulary, at most: the largest that are published have fewer."""
MOST_ADDED = 2**16
"""Tokens that are added to a vocabulary, at most: each costs a library as long as all before."""
MOST_MERGES = 2**21
"""Pairs that are merged, at most."""
_PARTS = {
    "normalizer": {
        *("Sequence", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Nmt"),
        *("Replace", "Prepend", "BertNormalizer", "Precompiled", "ByteLevel"),
    },
    "pre_tokenizer": {
        *("Sequence", "Split", "ByteLevel", "Metaspace", "Whitespace", "WhitespaceSplit"),
        *("BertPreTokenizer", "Punctuation", "Digits", "CharDelimiterSplit", "UnicodeScripts"),
        "FixedLength",
    },
    "post_processor": {
        *("Sequence", "TemplateProcessing", "ByteLevel", "BertProcessing", "RobertaProcessing"),
    },
    "decoder": {
        *("Sequence", "ByteLevel", "WordPiece", "Metaspace", "BPEDecoder", "CTC", "Fuse", "Strip"),
        *("Replace", "ByteFallback"),
    },
    "model": {"BPE", "WordPiece", "WordLevel", "Unigram"},
}
"""What each part of a tokenizer may be."""
_OTHERS = {"version", "truncation", "padding", "added_tokens"}
_ATOM = re.compile(
    r"""
    \\[sSdDwWhrntfvb]                      # classes and characters by a letter
    | \\[pP]\{\^?[A-Za-z0-9_ -]{1,40}\}    # properties of Unicode
    | \\u[0-9A-Fa-f]{4} | \\x[0-9A-Fa-f]{2} | \\x\{[0-9A-Fa-f]{1,6}\}
    | \\[^A-Za-z0-9]                       # itself
    | \[\^?\]?(?: \\[sSdDwWhrntfvbpPux] | \\[^A-Za-z0-9] | [^\]\[\\] )*\]
    | \((?![?*]) | \(\?(?: [:=!>] | <[=!] | [imsx-]{1,6}[:)] )
    | [^\\\[(]
    """,
    re.VERBOSE | re.DOTALL,
)
"""A piece of a pattern: no reference to a group, no recursion, no call of anything."""
_COUNTS = re.compile(r"\{(\d*)(?:,(\d*))?\}")


def require_table_sizes(path: Path) -> None:
    """Refuse a file of a tokenizer with more tokens than a library reads in minutes.

    Raises InputError: it has more than `MOST_TOKENS` tokens, `MOST_ADDED` added ones or
        `MOST_MERGES` merges, or numbers a token below 0 or from `LARGEST_ID` on.
    """
    if path.suffix == ".txt":
        lines = read_bytes(path).count(b"\n")
        _require_few(path, lines, MOST_MERGES if path.name == "merges.txt" else MOST_TOKENS)
    if path.suffix != ".json" or path.name == "special_tokens_map.json":
        return
    with parsing(path, "a table of a tokenizer"):
        content: Any = read_json(read_bytes(path))
    if not isinstance(content, dict):
        return
    table = cast("dict[str, Any]", content)
    if path.name in ("vocab.json", "added_tokens.json"):
        _require_few(path, len(table), MOST_TOKENS if path.name == "vocab.json" else MOST_ADDED)
        _require_ids(path, table.values())
        return
    _require_parts(path, table)
    added: Any = table.get("added_tokens")
    model: Any = table.get("model")
    if isinstance(added, list):
        tokens = cast("list[Any]", added)
        _require_few(path, len(tokens), MOST_ADDED, "added tokens")
        _require_ids(path, [token.get("id") for token in tokens if isinstance(token, dict)])
    if isinstance(model, dict):
        parts = cast("dict[str, Any]", model)
        for name, largest in (("vocab", MOST_TOKENS), ("merges", MOST_MERGES)):
            part = parts.get(name)
            if isinstance(part, dict | list):
                _require_few(path, len(cast("list[Any]", part)), largest, name)
            if isinstance(part, dict):
                _require_ids(path, cast("dict[str, Any]", part).values())


def _require_parts(path: Path, table: Mapping[str, Any]) -> None:
    others = sorted(table.keys() - _PARTS.keys() - _OTHERS)
    if path.name == "tokenizer.json" and others:
        raise InputError(
            f"{path} holds `{others[0][:80]}`, and no tokenizer has such a part: take it out, or "
            "save the tokenizer again, with `tokenizer.save_pretrained(folder)`"
        )


def _require_few(path: Path, size: int, largest: int, noun: str = "tokens") -> None:
    if size > largest:
        raise InputError(
            f"{path} has {size:,} {noun}, and at most {largest:,} are read: a library would take "
            "many minutes"
        )


def _require_ids(path: Path, ids: Iterable[Any]) -> None:
    for number in ids:
        if isinstance(number, int) and not 0 <= number < LARGEST_ID:
            raise InputError(
                f"{path} numbers a token {number:,}, and numbers of tokens are from 0 to "
                f"{LARGEST_ID - 1:,}"
            )


def checked_tokenizer(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a ``tokenizer.json`` that consists of known parts, as it is.

    where: the folder, for messages.
    Raises InputError: it has another part, a number of a token of `LARGEST_ID` or more, or a
        pattern that is more than characters, their classes, groups, repetitions and looks around;
        or it writes a text `MOST_GROWTH` times as long or longer.
    """
    if unknown := sorted(content.keys() - _PARTS.keys() - _OTHERS):
        raise _refused(where, f"has the part `{str(unknown[0])[:80]}`")
    for name, kinds in _PARTS.items():
        part = content.get(name)
        if name == "model" and not isinstance(part, dict):
            raise _refused(where, "has no model")
        _check(part, kinds, where)
    for token in cast("list[Any]", content.get("added_tokens") or []):
        _check(token, set(), where)
    for name in ("truncation", "padding"):
        _check(content.get(name), set(), where)
    word = content["model"].get("max_input_chars_per_word")
    if isinstance(word, int) and word > LONGEST_WORD:
        raise _refused(where, f"cuts words of more than {LONGEST_WORD:,} characters")
    if content["model"].get("dropout"):
        raise _refused(where, "leaves out merges randomly (`dropout`)")
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        if _growth(content.get(name)) > MOST_GROWTH:
            raise _refused(where, "replaces characters by texts that grow at each step")
    return dict(content)


def _check(value: Any, kinds: set[str], where: str) -> None:
    """Check a value and all inside; without ``kinds``, words may be anything."""
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        kind = entries.get("type")
        if kinds and isinstance(kind, str) and kind not in kinds:
            raise _refused(where, f"has a part of the kind `{kind[:80]}`")
        for key, inner in entries.items():
            if kinds and key == "Regex":
                _check_pattern(inner, where)
            _check(inner, set() if key in ("vocab", "special_tokens") else kinds, where)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            _check(inner, kinds, where)
    elif isinstance(value, int) and not -LARGEST_ID < value < LARGEST_ID:
        raise _refused(where, f"has the number {value:,}")


def _growth(part: Any) -> int:
    """Bound how many times as long a text is after all replacements within a part."""
    if isinstance(part, list):
        return math.prod(map(_growth, cast("list[Any]", part)))
    if not isinstance(part, dict):
        return 1
    entries = cast("dict[str, Any]", part)
    kind = entries.get("type")
    if kind == "ByteLevel":  # a character for each byte
        return 4
    if kind == "Replace":
        written, pattern = len(str(entries.get("content", ""))), entries.get("pattern")
        text = cast("dict[str, Any]", pattern).get("String") if isinstance(pattern, dict) else None
        # an expression may match between any two characters
        return max(1, math.ceil(written / len(text))) if text else 1 + written
    if kind in ("Prepend", "Metaspace"):
        return 1 + len(str(entries.get("prepend", entries.get("replacement", ""))))
    return math.prod(map(_growth, entries.values()))


def _check_pattern(pattern: Any, where: str) -> None:
    place, text = 0, pattern if isinstance(pattern, str) else ""
    atoms: list[str] = []
    while place < len(text) <= LONGEST_PATTERN and (match := _ATOM.match(text, place)):
        atoms.append(match[0])
        place = match.end()
    if not text or place < len(text):
        raise _refused(where, f"has the pattern {str(pattern)[:80]!r}")
    if _repeats_choices(atoms):
        raise _refused(
            where, f"has the pattern {str(pattern)[:80]!r}, which some texts make run for ever"
        )


def _repeats_choices(atoms: list[str]) -> bool:
    """Say whether a group is repeated that repeats or chooses itself, or something very often, or
    whether more than `MOST_CHOICES` choices are in a row.

    A text may then be read in more ways than can be tried.
    """
    if _most_choices(atoms) > MOST_CHOICES:
        return True
    choosing, choosing_inside, after_group, before = [False], False, False, ""
    for place, atom in enumerate(atoms):
        times = 0.0
        if atom in ("*", "+") and before not in ("*", "+", "?", "}"):
            times = math.inf
        elif atom == "{" and (counts := _COUNTS.match("".join(atoms[place : place + 16]))):
            last = counts[2] if counts[2] is not None else counts[1]
            times = float(last or math.inf)
        if times > 1:
            if (after_group and choosing_inside) or LONGEST_REPEAT < times < math.inf:
                return True
            choosing[-1] = choosing[-1] or not _is_fixed(atoms, place)
        if atom == "|" or (atom == "?" and before not in ("*", "+", "?", "}")):
            choosing[-1] = True
        after_group = atom == ")"
        if atom.startswith("("):
            choosing.append(False)
        elif after_group and len(choosing) > 1:
            choosing_inside = choosing.pop()
            choosing[-1] = choosing[-1] or choosing_inside
        before = atom
    return False


def _most_choices(atoms: list[str]) -> int:
    """Return the largest number of choices within one alternative: repetitions, options, groups."""
    rows, choices, before = [[0]], 0, ""
    for place, atom in enumerate(atoms):
        if atom.startswith("("):
            rows.append([0])
        elif atom == ")" and len(rows) > 1:
            inside = rows.pop()
            rows[-1][-1] += max(inside) + (len(inside) > 1)
        elif atom == "|":
            rows[-1].append(0)
        elif atom in ("*", "+", "?") and before not in ("*", "+", "?", "}"):
            rows[-1][-1] += 1
        elif atom == "{" and not _is_fixed(atoms, place):
            rows[-1][-1] += 1
        choices, before = max(choices, rows[-1][-1]), atom
    return choices


def _is_fixed(atoms: list[str], place: int) -> bool:
    """Say whether something is repeated a few times by one number, so that nothing is chosen."""
    counts = _COUNTS.match("".join(atoms[place : place + 16]))
    return counts is not None and counts[2] is None and float(counts[1] or math.inf) <= FEW_REPEATS


def _refused(where: str, why: str) -> InputError:
    return InputError(f"the tokenizer in {where} {why}, which is not read of others' models")
