"""A record without what the steward alone should see: what pages that are shown are drawn from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from narcissus.study.keyed import WITHHELD, is_of_nobody
from narcissus.study.kinds import study_kind
from narcissus.study.record import Record, digest_of, portable_digest_of, study_digest

_NAMES = {"columns", "drop", "known", "linked", "read_as", "secret", "bins", "unknown", "within"}
"""Keys of a study that hold names of columns, which may begin like a folder."""
_FOLDERS = re.compile(r"^(?:[A-Za-z]:)?(?:~|\.\.)?[/\\].*[/\\]|^\.\.?[/\\].*[/\\]")


def shareable(record: Record) -> Record:
    """Leave out what lets others test guesses of the data, shows records, or names folders.

    Digests of data, the seed (with which a guess could be tried by playing the study again),
    pictures of training data, folders of the steward's machine. Numbers stay as they are. A record
    of which no number depends on real records stays whole.
    """
    if not depends_on_records(record):
        return record
    kind = study_kind(record.kind)
    made = record.provenance
    study = cast("dict[str, Any]", without_folders(record.study))
    if "seed" in (run := study.get("run") or {}):
        study["run"] = {**run, "seed": None}
    digests = {
        name: value if is_of_nobody(name) else WITHHELD for name, value in made.digests.items()
    }
    if "study" in digests and study != record.study:
        digests["study"] = f"sha256:{study_digest(record.kind, study)}"
    changed = record.model_copy(
        update={
            "study": study,
            "provenance": made.model_copy(update={"digests": digests, "entropy": ""}),
            "result": kind.to_show(record.result),
        }
    )
    if changed.portable_digest:
        portable = portable_digest_of(changed.to_dict())
        changed = changed.model_copy(update={"portable_digest": portable})
    return changed.model_copy(update={"digest": digest_of(changed.to_dict())})


def to_show(record: Record) -> Record:
    """Return what pages for showing are drawn from: `shareable`, with the digest of the record."""
    return shareable(record).model_copy(update={"digest": record.digest})


def depends_on_records(record: Record) -> bool:
    """Return whether numbers of a record depend on real people's records."""
    return study_kind(record.kind).is_of_people(record.study)


def without_folders(value: Any) -> Any:
    """Leave out where on a machine files are: absolute folders, and those above the study."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: inner if key in _NAMES else without_folders(inner) for key, inner in items}
    if isinstance(value, list | tuple):
        return [without_folders(inner) for inner in cast("list[Any]", value)]
    return _FOLDERS.sub("", value) if isinstance(value, str) else value
