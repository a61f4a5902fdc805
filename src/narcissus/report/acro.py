"""A record as an output folder of ACRO, for output checkers and the SACRO viewer.

The format is that of `acro.record.Records.finalise` (version below): ``results.json``, the files
that it lists, and a SHA-256 of each in ``checksums``.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from narcissus._files import read_bytes
from narcissus._folders import opened_folder
from narcissus._json import read_json
from narcissus._version import __version__
from narcissus._visible import visible
from narcissus.errors import InputError
from narcissus.report.about import numbers_of, uncovered_of, verdict_of
from narcissus.report.format import STATUS
from narcissus.report.html import render_html
from narcissus.report.statement import (
    criteria_of,
    no_stronger,
    statement_markdown,
    statement_of,
)
from narcissus.study.reading import LARGEST
from narcissus.study.record import Record
from narcissus.study.shareable import to_show

ACRO = "1.0.2"
"""The version whose format this is; ACRO itself loads no other, the viewer also earlier ones."""
NAME = "Narcissus"


def export_acro(record: Record, source: Path, folder: Path) -> None:
    """Write a record and its report as a folder that ACRO and the SACRO viewer take in.

    Nothing is ever passed: what exceeds its threshold fails, all else is for a person to review.

    record: as read from ``source``.
    source: the file, which goes into the folder byte by byte; when it was changed last is the time
        that ACRO shows, since a record holds none.
    folder: where to write; made if it is missing.
    Raises InputError: the folder holds outputs of another program.
    """
    _require_ours(folder)
    files = {
        "statement.txt": statement_markdown(statement_of(record)).encode(),
        "report.html": render_html(record).encode(),
        "record.json": read_bytes(source, largest=LARGEST),
    }
    when = datetime.fromtimestamp(source.stat().st_mtime).isoformat()
    results = {
        "version": ACRO,
        "tool": {
            "@type": "SoftwareApplication",
            "name": NAME,
            "version": __version__,
        },
        "results": {"narcissus": acro_output(record, list(files), when)},
    }
    shown = visible(json.dumps(results, indent=4, ensure_ascii=False), keep="\n")
    files["results.json"] = f"{shown}\n".encode()
    with (
        opened_folder(folder, make=True) as place,
        opened_folder(folder / "checksums", make=True) as sums,
    ):
        for name, data in files.items():
            place.write(name, data, private=True)
            digest = hashlib.sha256(data).hexdigest()
            sums.write(f"{name}.txt", digest, private=True)


def acro_output(record: Record, files: list[str], timestamp: str) -> dict[str, Any]:
    status = "fail" if record.status == "exceeded" else "review"
    words = STATUS[record.status][1].replace(";", ",")  # the viewer parts the summary at each
    numbers = [
        {"number": label, "value": value, "limits": notes, "grade": no_stronger(grade, record)}
        for label, value, notes, grade in numbers_of(to_show(record))
    ]
    columns = list(numbers[0]) if numbers else []
    return {
        "uid": "narcissus",
        "status": status,
        "type": "custom",
        "properties": {
            "method": f"{NAME} audit ({record.kind})",
            "narcissus_status": record.status,
            "grade": record.grade,
            "assumptions": record.assumptions,
            "contradictions": record.contradictions,
            "digest": record.digest,
            "not_assessed": [remark.model_dump() for remark in record.not_assessed],
            "not_covered": uncovered_of(record),
            "criteria": _criteria(record),
        },
        "files": [{"name": name, "sdc": {}} for name in files],
        "outcome": {key: {str(i): row[key] for i, row in enumerate(numbers)} for key in columns},
        "command": f"narcissus report --export acro ({record.title})",
        "summary": f"{status}; {words}; {record.grade}",
        "timestamp": timestamp,
        "comments": [
            verdict_of(record),
            *(f"Only if {text}." for text in record.assumptions),
            *record.contradictions,
            "A status of Narcissus is about one release and what was looked at; it passes nothing.",
        ],
        "exception": "",
        "fair": {},
    }


def _criteria(record: Record) -> list[dict[str, str]]:
    """Return each criterion of the statement with its answer and grade."""
    keys = ("criterion", "finding", "grade")
    rows = criteria_of(to_show(record)).rows
    return [dict(zip(keys, map(str, row), strict=True)) for row in rows]


def _require_ours(folder: Path) -> None:
    """Refuse to write over the outputs of another program: a researcher's own session."""
    path = folder / "results.json"
    if not path.exists():
        return
    try:
        outputs: Any = read_json(read_bytes(path, largest=LARGEST))
    except ValueError:
        outputs = None
    tool = cast("dict[str, Any]", outputs).get("tool") if isinstance(outputs, dict) else None
    if not isinstance(tool, dict) or cast("dict[str, Any]", tool).get("name") != NAME:
        raise InputError(
            f"{path} holds outputs that are not of Narcissus; choose another folder, and put both "
            "before the checker"
        )
