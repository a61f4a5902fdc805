"""Records, read and checked: the envelope, the results by their kind, that both agree."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from narcissus._files import BadContentError, parsing, read_bytes
from narcissus._json import read_json
from narcissus.errors import InputError, NotDrawnError, raised_where
from narcissus.judgement import StudyJudgement
from narcissus.study.kinds import (
    KINDS,
    OF_PAPERS,
    StudyKind,
    known_kinds,
    require_installed,
    study_kind,
)
from narcissus.study.record import SCHEMA, Record, digest_of, study_digest
from narcissus.study.registry import loaded

_NOT_OF_A_KIND = (
    *(LookupError, ValueError, TypeError, AttributeError),
    *(StopIteration, AssertionError, ArithmeticError),
)
"""What rows of another kind, and rows that are missing, come to."""
_OTHER_ROWS = "its rows are not those of its kind"


def disagreement(record: Record) -> str:
    """Describe where a record's status, judgement and results do not agree; '' where they do.

    The rules are those that hold whatever a kind of study weighs: a threshold that is met or
    exceeded is so by some setting of the results, and what contradicts itself is not met.
    """
    if why := _contradicted(record):
        return why
    digest = record.provenance.digests.get("study")
    if digest != f"sha256:{study_digest(record.kind, record.study)}":
        return "the study is another one than that of the digest in its provenance"
    return _of_rows(record, study_kind(record.kind))


def _of_rows(record: Record, kind: StudyKind) -> str:
    """Judge the rows anew; words may have become better, so that they are not compared."""
    if not any(criterion.decides for criterion in record.criteria):
        return "no criterion decides"
    try:
        case = kind.judged(record)
    except _NOT_OF_A_KIND:
        return _OTHER_ROWS
    try:
        pairs = {
            "status": (record.status, case.status),
            "grade": (record.grade, case.grade),
            "assumptions": (tuple(record.assumptions), case.assumptions),
            "contradictions": (tuple(record.contradictions), case.contradictions),
        }
    except (LookupError, TypeError, AttributeError):
        return _OTHER_ROWS
    criteria = [
        [criterion.model_dump() for criterion in every]
        for every in (case.findings.criteria, record.criteria)
    ]
    if not _is_close(*criteria):
        return "some of its criteria do not follow from its numbers"
    for name, (claim, judgement) in pairs.items():
        if claim != judgement:
            are = ("are", "those") if isinstance(claim, tuple) else ("is", "that")
            return f"the {name} {are[0]} {claim!r}, and {are[1]} of the rows {judgement!r}"
    _show(record, kind, case)
    return _left_out(record, loaded(kind.layout), case)


def _left_out(record: Record, layout: Any, case: StudyJudgement) -> str:
    """Name a text that the rows or the study give, and that the record lacks."""
    if not record.title.startswith(title := str(record.study.get("title") or "")):
        return f"the title is {record.title!r}, and that of the study {title!r}"
    for line in layout.assessed(case):
        if line not in record.assessed:
            return f"it does not say that this was assessed: {line}"
    remarks = [(remark.quantity, remark.reason, remark.remedy) for remark in record.not_assessed]
    for gap in layout.not_assessed(case):
        if (gap.quantity, gap.reason, gap.remedy) not in remarks:
            return f"it does not say that this was not assessed: {gap.quantity}"
    return ""


def _is_close(one: Any, other: Any) -> bool:
    """Compare values of a record; the last digits of numbers depend on the processor."""
    if isinstance(one, float) or isinstance(other, float):
        if not all(isinstance(value, int | float) for value in (one, other)):
            return False
        return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        first, second = cast(Mapping[str, Any], one), cast(Mapping[str, Any], other)
        return first.keys() == second.keys() and all(
            _is_close(value, second[key]) for key, value in first.items()
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        some, others = cast(Sequence[Any], one), cast(Sequence[Any], other)
        return len(some) == len(others) and all(map(_is_close, some, others))
    return type(one) is type(other) and one == other


def _show(record: Record, kind: StudyKind, case: StudyJudgement) -> None:
    """Draw the record once: rows, places and facts that a kind's words need must be there."""
    layout: Any = loaded(kind.layout)
    try:
        loaded("narcissus.report.text:page_text")(layout.page(record, case))
        loaded("narcissus.report.first_screen:first_screen")(record, case, layout.glance(case))
        layout.subject(record, case)
        layout.figures(record, case)
    except _NOT_OF_A_KIND as error:
        raise NotDrawnError(
            f"{_OTHER_ROWS}, or its words are wrong: {raised_where(error)}; if this package wrote "
            "the record, that is a mistake in it: please report it with this line"
        ) from error


def _contradicted(record: Record) -> str:
    status = record.status
    # what an attack was seen to do needs nothing that a contradiction can refute
    if record.contradictions and status not in ("contradicted", "exceeded"):
        return f"the status is {status!r}, and statements of the record contradict each other"
    if status == "contradicted" and not record.contradictions:
        return "the status is 'contradicted', and no contradiction is named"
    return ""


LARGEST = 2**25
"""Most bytes of a record that are read (32 MiB)."""
MOST_NUMBER = 1e300
"""Largest number of a record: what is computed of it stays a number. Infinity is a word."""
BYTES_A_VALUE = 64
"""How many of the bytes that are allowed stand for one value that is: half a million in all.

A value takes up to 1.5 KiB of memory while a record is checked, whatever it takes in the file.
"""


def read_record(path: Path | str, *, largest: int = LARGEST) -> Record:
    """Read a record, the file or the folder it is in; check its schema, results and digest.

    The digest finds accidents. It is no signature: whoever can write a record can write another
    one with a digest that fits. A record of another format is refused.

    largest: Most bytes; with `BYTES_A_VALUE`, it limits the memory that reading takes.

    InputError: The file is missing or too large, is no record, is one of another format or of an
        unknown kind, holds results that its kind does not have, or was changed after it was
        written.
    """
    path = Path(path)
    path = path / "record.json" if path.is_dir() else path
    if not path.exists():
        raise InputError(
            f"no such record: {path}; name a record.json, or the results folder that it is in"
        )
    text, limit = read_bytes(path, largest=largest), largest // BYTES_A_VALUE
    with parsing(path, "a record"):
        try:
            data = read_json(text.decode("utf-8"), parse_constant=_no_number, most=limit)
        except BadContentError:
            raise
        except ValueError as error:
            raise InputError(
                f"{path} is not a record: it is no JSON ({error}); "
                "`narcissus audit STUDY` writes one, as record.json in the results folder"
            ) from error
        _require_format(path, data)
        if place := _out_of_range(data):
            raise InputError(
                f"{path} is not a record ({SCHEMA}): {place}: a number of at most 10^300 in size "
                "is needed"
            )
        if data.get("digest") != digest_of(data):
            raise InputError(
                f"{path} was changed after it was written (its digest does not match); "
                "run the study again"
            )
        _require_kind(path, data)
        return _agreeing(path, _validated(path, data))


def _out_of_range(data: Any) -> str:
    """Return the place of a number that is too large to compute with; '' where there is none."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value).items()
            waiting += [(f"{place}.{key}", inner) for key, inner in entries]
        elif isinstance(value, list):
            items = enumerate(cast("list[Any]", value))
            waiting += [(f"{place}[{at}]", inner) for at, inner in items]
        elif isinstance(value, int | float) and not -MOST_NUMBER <= value <= MOST_NUMBER:
            return place[:200] or "."
    return ""


def _require_kind(path: Path, data: Any) -> None:
    kind = cast("dict[str, Any]", data).get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str):
        raise InputError(f"{path} is not a record ({SCHEMA}): .kind: a text is needed")
    if kind not in KINDS | OF_PAPERS:
        raise InputError(
            f"{path} is a record of the unknown kind {kind!r}; this version knows {known_kinds()}"
        )
    try:
        require_installed(kind)
    except InputError as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _no_number(name: str) -> float:
    raise BadContentError(f"{name} is no number in JSON")


def _require_format(path: Path, data: Any) -> None:
    """Refuse what is no JSON object of this format, the only one there is."""
    schema = cast("dict[str, Any]", data).get("schema") if isinstance(data, dict) else None
    if schema == SCHEMA:
        return
    if isinstance(schema, str) and re.fullmatch(r"narcissus/record/[0-9]{1,9}", schema):
        raise InputError(
            f"{path} is a record of the format {schema}, and this version reads {SCHEMA} alone: "
            "run the study again"
        )
    raise InputError(f"{path} is not a record ({SCHEMA}): .schema: {SCHEMA!r} is needed")


def _validated(path: Path, data: Any) -> Record:
    """Check the envelope, then what is typed by the kind."""
    try:
        # from text: in JSON, other than in Python, a list may stand for a tuple
        record = Record.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise InputError(f"{path} is not a record ({SCHEMA}): {_first(error, data)}") from error
    except OverflowError as error:
        raise InputError(f"{path} is not a record ({SCHEMA}): {error}") from error
    try:
        typed = study_kind(record.kind).result
        read = typed.model_validate_json(json.dumps(record.result), strict=True)
    except ValidationError as error:
        raise InputError(
            f"{path} holds a result that no study of kind {record.kind!r} has: result"
            f"{_first(error, record.result)}"
        ) from error
    return record.model_copy(update={"result": read})


def _first(error: ValidationError, data: Any) -> str:
    """Describe the first mistake and its place, without the names of alternatives of a model."""
    first = error.errors(include_url=False)[0]
    place, last = "", len(first["loc"]) - 1
    for depth, part in enumerate(first["loc"]):
        if isinstance(part, int):
            data = data[part] if isinstance(data, list) and part < len(cast("Any", data)) else None
            place += f"[{part}]"
        elif isinstance(data, dict) and part in data:
            data = cast("dict[str, Any]", data)[part]
            place += f".{part}"
        elif depth == last and first["type"] == "missing":
            place += f".{part}"
    return f"{place}: {first['msg']}"[:300]


def _agreeing(path: Path, record: Record) -> Record:
    try:
        why = disagreement(record)
    except NotDrawnError as error:
        raise NotDrawnError(f"{path} does not agree with itself: {error}") from error
    except (ValueError, OverflowError) as error:  # what a kind's own reader of rows says
        why = " ".join(str(error).split())[:300]
    if why:
        raise InputError(f"{path} does not agree with itself: {why}")
    return record
