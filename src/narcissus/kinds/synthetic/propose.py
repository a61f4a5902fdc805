"""What `narcissus synth` does not ask for: columns to leave out, bins, what is unknown."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from narcissus.errors import InputError
from narcissus.kinds.table.propose import Proposal, named, propose
from narcissus.observer import SILENT, Observer
from narcissus.synthetic.files import file_named, raw_columns
from narcissus.synthetic.full_files import paired_columns
from narcissus.tables.parts import column_names, sketch_table
from narcissus.tables.spelling import spelled

NAMES = (
    "write the names of columns alike in all files, or pair them under [data] of a study: "
    'same = {"name in the real file" = "name in the synthetic file"}'
)
PEOPLE = 2_000
"""Most people whom attacks are tried on where there is no control."""


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
                names[file] = [c for c in column_names(data[file]) if c != data.get("unit")]
    same = _renamed(data, names)
    if same:
        data["same"] = same
        named_in_data = {other: name for name, other in same.items()}
        names["synthetic"] = [named_in_data.get(c, c) for c in names["synthetic"]]
    drop: list[str] = [*(data["drop"] or ()), *(data.get("irrelevant") or ())]
    bins: dict[str, Any] = data["bins"] or {}
    wanted = [
        *(threat.get("known") or ()),
        *(settings["groups"]["columns"] or ()),
        *bins,
        *(data["read_as"] or ()),
    ]
    there, chosen = names["real"], data["columns"]
    absent = _absent(names, {*wanted, *drop, *(threat["unknown"] or ()), *(chosen or ())})
    unit = [name for name in (data.get("unit"),) if name is not None]  # no column
    with file_named("real"):
        without = [n for n in there if n in drop or (chosen is not None and n not in chosen)]
        without += unit
        sketch = sketch_table(data["real"], drop=without, observer=observer)
        if not set(sketch.names) - set(absent):
            raise InputError(f"no column of the real data was found in all other files; {NAMES}")
        lacking = [name for name in absent if name in sketch.names]
        shared = [name for name in sketch.names if name not in lacking]
        if len(shared) == 1:
            raise InputError(
                f"only `{shared[0]}` of the real data was found in all other files, and an "
                f"attacker must know a column to guess another; {NAMES}"
            )
        proposal = propose(
            sketch,
            unknown=threat["unknown"],
            drop=lacking,
            wanted=wanted,
            known=threat.get("known") or (),
        )
    left_out = {c: why for c, why in proposal.drop.items() if c not in without}
    left_out |= absent if chosen is None else {}
    data["left_out"] = left_out
    # what is unknown is binned, and numbers with gaps: a gap as a value has no distance
    binned = [c for c in proposal.columns if c.name in proposal.unknown or c.missing]
    data["bins"] = {c.name: _with_codes(c.name, c.bins, data) for c in binned if c.bins} | bins
    # where most people have a text of their own no two files share many
    varied_columns = [c for c in proposal.columns if 2 * c.values > sketch.rows - c.missing]
    texts = {c.name: "text" for c in varied_columns if c.kind in ("texts", "dates")}
    texts = {name: way for name, way in texts.items() if name not in data["bins"]}
    data["read_as"] = {**texts, **(data["read_as"] or {})}
    data["missing"] = data["missing"] or "category"
    threat["unknown"] = list(proposal.unknown)
    if data["control"] is None:  # copies decide, and these are looked for among everybody
        threat.setdefault("people", PEOPLE)
    is_chosen = settings["threat"]["unknown"] is None
    pairs = [f"`{name}` and `{other}` of the file" for name, other in same.items()]
    lines = [f"Taken for one column: {'; '.join(pairs)}"] if pairs else []
    lines += _lines(proposal, left_out, is_chosen)
    return {**settings, "data": data, "threat": threat}, lines


def _with_codes(name: str, bins: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Let texts that other files have among the numbers of a separate column stay values."""
    if "common" in bins:
        return bins
    codes = list(bins.get("codes", ()))
    for file in ("synthetic", "control"):
        if data[file] is not None:
            other = (data.get("same") or {}).get(name, name) if file == "synthetic" else name
            (column,), _ = raw_columns(file, data[file], [other], [""])
            values = [value for value in column.distinct if value is not None]
            texts = spelled(name, values, kind="numbers").codes
            codes += texts if 2 * len(texts) < len(values) else []
    return {**bins, "codes": list(dict.fromkeys(codes))} if codes else bins


def _renamed(data: Mapping[str, Any], names: Mapping[str, list[str]]) -> dict[str, str]:
    """Return which columns of the data the file has under another name, by spelling or values."""
    if data.get("same"):
        return dict(data["same"])
    aside = {*(data.get("drop") or ()), *(data.get("irrelevant") or ())}
    ours, theirs = ([c for c in names[file] if c] for file in ("real", "synthetic"))
    if not set(ours) - set(theirs) - aside or not set(theirs) - set(ours) - aside:
        return {}
    pairs = paired_columns(data["real"], data["synthetic"])
    shared = {c for c in ours if c in names.get("control", ours)}
    return {c: o for c, o in pairs.items() if c in shared and not {c, o} & aside}


def _absent(names: Mapping[str, list[str]], kept: Container[str]) -> dict[str, str]:
    """Return columns that not all files have, or that have no name, with the reason."""
    reasons: dict[str, str] = {}
    for name in dict.fromkeys(name for there in names.values() for name in there):
        lacking = [file for file, known in names.items() if name not in known]
        if name not in kept and (lacking or not name):
            lacks = f"not in the {' and the '.join(lacking)} file"
            reasons[name] = lacks if name else "no name, as an index that was written along"
    return reasons


def _lines(found: Proposal, left_out: Mapping[str, str], is_chosen: bool) -> Iterator[str]:
    if is_chosen:
        yield (
            f"Chosen to be guessed: {named(found.unknown)} ({found.unknown_reason}). "
            "Another: --unknown COLUMN"
        )
    for name, why in left_out.items():
        yield f"Left out: {named([name])}: {why}"
    for text in found.cautions:
        yield f"Caution: {text}."
