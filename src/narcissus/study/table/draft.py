"""The file of a proposed study, with the reason of every proposal in a comment."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from narcissus.study.table.propose import TARGETS, Proposal

_WIDTH = 100
_SHOWN = 12  # names in a comment
_THRESHOLD = """\
# What do you accept? Without a threshold the audit shows numbers and judges nothing. For example:
#
# [threshold]
# advantage = 0.10 # no attacker may close more than a tenth of the gap to certainty
# at = 1           # the level that you plan; the others are shown beside it
# reason = "..."
"""


def draft(proposal: Proposal, path: str) -> str:
    """Return the text of a study file.

    ``path`` is that of the table relative to the file's folder; a packaged table's name as it is.
    """
    sections = [
        _head(proposal),
        _data(proposal, path),
        _threat(proposal),
        _release(proposal),
        _THRESHOLD,
        _groups(proposal),
        "[run]\ntrials = 100 # more make limits narrower; `precision` instead ends where they are\n"
        "seed = 1     # the same study and seed give the same numbers\n",
    ]
    return "\n".join(section for section in sections if section)


def named(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(map(_shown, listed[:_SHOWN])) + more


def _shown(name: str) -> str:
    """Quote a name so that it stays on its line, whatever it holds."""
    return f"`{name}`" if name.isprintable() and name else _toml(name)


def _toml(value: Any) -> str:
    """Write a value as TOML: text and numbers as in JSON, except the character DEL."""
    if isinstance(value, dict):
        pairs = [f"{_key(name)} = {_toml(one)}" for name, one in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, float):
        return (f"{value:g}" if float(f"{value:g}") == value else repr(value)).replace("e-0", "e-")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    is_plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_plain else _toml(name)


def _comment(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(text, _WIDTH - 2 - len(indent), break_on_hyphens=False)
    return "".join(f"{indent}# {line}\n" for line in lines)


def _head(proposal: Proposal) -> str:
    sketch = proposal.sketch
    rows = f"all {sketch.rows:,} rows"
    if not sketch.is_whole:
        there = "" if sketch.all_rows is None else f" of {sketch.all_rows:,}"
        rows = f"the first {sketch.rows:,} rows{there}, and not the rest"
    return _comment(
        f"A study that `narcissus init` proposed from names and values in {rows}. It can be played "
        "as it is; read every line first: names tell what a column may be, you know what it is."
    )


def _data(proposal: Proposal, path: str) -> str:
    key = "table" if path.startswith("statsmodels:") else "path"
    text = f"[data]\n{key} = {_toml(path)}\n"
    if proposal.drop:
        text += "drop = [\n"
        for name, reason in proposal.drop.items():
            text += f"{_comment(reason, '    ')}    {_toml(name)},\n"
        text += "]\n"
    if proposal.has_missing:
        text += _missing(proposal)
    for column, value, people in ((f.column, f.value, f.people) for f in proposal.missing_like):
        text += _comment(
            f"{_shown(column)}: {_toml(value)} ({people:,} people) looks like a code for a missing "
            "value. It stays a value of its own; empty those cells if it means none."
        )
    if binned := [column for column in proposal.columns if column.bins]:
        text += "\n[data.bins]\n"
        for column in binned:
            text += _comment(f"{column.reason}.")
            text += f"{_key(column.name)} = {_toml(column.bins)}\n"
    return text


def _missing(proposal: Proposal) -> str:
    found = [column for column in proposal.columns if column.missing]
    cells = ", ".join(f"{column.missing:,} in {_shown(column.name)}" for column in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more columns" if len(found) > _SHOWN else ""
    said = f"Empty cells: {cells}{more}" if found else "No cell that was looked at is empty"
    return (
        _comment(
            f'{said}. "category" makes them a value of their own, "drop" leaves those rows out, '
            '"refuse" ends with an error.'
        )
        + 'missing = "category"\n'
    )


def _threat(proposal: Proposal) -> str:
    unknown = proposal.unknown
    known = [column.name for column in proposal.columns if column.name not in unknown]
    text = "[threat]\n"
    text += _comment(f"What the attacker is after: {proposal.unknown_reason}.")
    text += f"unknown = {_toml(list(unknown))}\n"
    if known:
        text += _comment(
            f"All other columns the attacker is taken to know of everybody: {named(known)}. Who "
            "knows less recovers less, though the release may add more to it."
        )
    else:
        text += _comment("No other column is left: the attacker knows nothing else of anybody.")
    if proposal.public:
        text += _comment(f"Others may well know them, by their names: {named(proposal.public)}.")
    if proposal.secret:
        text += _comment(
            f"These look like secrets too: {named(proposal.secret)}. Add those to `unknown` that "
            "the attacker cannot know."
        )
    if len(unknown) > 1:
        text += _comment(
            "Of several unknown columns each counts by itself: a guess is worth the share that is "
            "right. `at_least = 1` instead counts whom at least one is right about."
        )
        text += "share_of_columns = true\n"
    text += f"targets = {TARGETS} # people whose tables are released together\n"
    return text


def _release(proposal: Proposal) -> str:
    text = _comment(
        "How the attacker knows the columns to go together: a Bayesian network fitted to the table."
    )
    text += '[prior]\nname = "bayesian-network"\nparents = 2\n\n'
    columns = "one column" if proposal.k == 1 else f"{proposal.k} columns"
    text += _comment(
        f"What is released: noisy counts of every table of {columns} that shows an unknown one, "
        f"{proposal.cells:,} cells in {proposal.tables:,} of them. Others: `narcissus schema parts "
        "table-mechanism`."
    )
    text += '[mechanism]\nname = "marginals"\n'
    text += f"k = {proposal.k}\n"
    text += _comment("Levels to compare; smaller protects more, inf is no noise.")
    text += f"epsilon = {_toml(list(proposal.epsilon))}\n"
    if any(map(math.isfinite, proposal.epsilon)):  # exact counts guarantee nothing
        text += f"delta = {_toml(proposal.delta)} # below one over the number of rows\n"
    return text


def _groups(proposal: Proposal) -> str:
    if not proposal.groups:
        return ""
    text = _comment("Whose numbers are shown beside the average: an average hides who is hurt.")
    return text + f"[groups]\ncolumns = {_toml(list(proposal.groups))}\n"


def summary(proposal: Proposal) -> list[str]:
    """Summarise the proposal for the command line, a line each."""
    binned: Sequence[str] = [column.name for column in proposal.columns if column.bins]
    lines = [f"unknown: {named(proposal.unknown)} ({proposal.unknown_reason})"]
    for what, names in (
        ("left out", list(proposal.drop)),
        ("binned", binned),
        ("looks secret too", proposal.secret),
        ("looks public", proposal.public),
    ):
        if names:
            lines.append(f"{what}: {named(names)}")
    columns = proposal.sketch.columns
    same = [one.name for one in columns if one.name in map(str, one.tally.values)]
    if 2 * len(same) > len(columns) > 1:
        lines.append(
            f"no header? {named(same)} are values of their columns as well: the first line must "
            "hold the columns' names, and not a person"
        )
    return lines
