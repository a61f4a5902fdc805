"""What `narcissus synth` does not ask for: columns to leave out, bins, what is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from narcissus.errors import InputError
from narcissus.kinds.table.propose import Proposal, named, propose
from narcissus.observer import SILENT, Observer
from narcissus.synthetic.files import file_named
from narcissus.tables.parts import column_names, sketch_table

_NO_NAME = "no name, as an index that was written along"


def completed(
    settings: Mapping[str, Any], observer: Observer = SILENT
) -> tuple[dict[str, Any], list[str]]:
    """Complete the settings of a study of given files by what their columns suggest.

    Return them, and lines that say what was chosen. What is given stays as it is. A column that
    cannot be used, or that not all files have, is left out with its reason, unless it is named.
    """
    data, threat = dict(settings["data"]), dict(settings["threat"])
    names: dict[str, list[str]] = {}
    for file in ("real", "synthetic", "control"):
        if data[file] is not None:
            with file_named(file):
                names[file] = column_names(data[file])
    bins, drop = dict(data["bins"] or {}), list(data["drop"] or ())
    wanted = [*(settings["groups"]["columns"] or ()), *bins, *(data["read_as"] or ())]
    named_ones = {*wanted, *(threat["unknown"] or ())}
    there = names["real"]
    absent = _absent(names, named_ones, drop)
    without = [name for name in drop if name in there]
    with file_named("real"):
        sketch = sketch_table(data["real"], drop=without, observer=observer)
        if not set(sketch.names) - set(absent):
            raise InputError("no column has a name that all other files have as well")
        found = propose(
            sketch, unknown=threat["unknown"], drop=[c for c in absent if c in there], wanted=wanted
        )
    left_out = {c: why for c, why in found.drop.items() if c not in drop} | absent
    data["left_out"] = left_out
    data["bins"] = {**_bins(found), **bins}
    data["read_as"] = {**_own_texts(found), **(data["read_as"] or {})}
    data["missing"] = data["missing"] or "category"
    threat["unknown"] = list(found.unknown)
    is_chosen = settings["threat"]["unknown"] is None
    return {**settings, "data": data, "threat": threat}, list(_lines(found, left_out, is_chosen))


def _absent(names: Mapping[str, list[str]], wanted: set[str], drop: list[str]) -> dict[str, str]:
    """Return columns that not all files have, or that have no name, with the reason."""
    found: dict[str, str] = {}
    for there in names.values():
        for name in there:
            if name in wanted or name in drop:
                continue
            lacking = [file for file, known in names.items() if name not in known]
            if lacking and name:
                found[name] = f"the {' and the '.join(lacking)} file does not have it"
            elif not name:
                found[name] = _NO_NAME
    return found


def _bins(found: Proposal) -> dict[str, Any]:
    """Bin what is unknown, and numbers with gaps: as a value of its own a gap has no distance."""
    return {
        column.name: column.bins
        for column in found.columns
        if column.bins
        and (column.name in found.unknown or (column.missing and "common" not in column.bins))
    }


def _own_texts(found: Proposal) -> dict[str, str]:
    """Return columns in which most people have a text of their own: no two files share many."""
    people = found.sketch.rows
    return {
        column.name: "text"
        for column in found.columns
        if column.kind in ("texts", "dates")
        and column.name not in found.unknown
        and 2 * column.values > people - column.missing
    }


def _lines(found: Proposal, left_out: Mapping[str, str], is_chosen: bool) -> Iterator[str]:
    if is_chosen:
        yield (
            f"Chosen to be guessed: {named(found.unknown)} ({found.unknown_reason}). "
            "Another: --unknown COLUMN"
        )
    for name, why in left_out.items():
        yield f"Left out: {named([name])}: {why}"
    for text in found.cautions:
        yield f"Caution: {text}"
