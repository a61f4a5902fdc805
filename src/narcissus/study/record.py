"""The record: the product of a study, as data. The report is one view of it.

A record is a JSON object with the same envelope for every kind of study; what a kind found is
under ``results``. It holds aggregates only. The digest covers everything else in it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from narcissus._files import parsing, read_bytes
from narcissus.errors import InputError
from narcissus.results import Grade, NotAssessed

VERSION = 1
SCHEMA = "narcissus/record/1"
LARGEST = 2**28
"""Most bytes of a record that are read (256 MiB)."""

Status = Literal[
    "met",
    "exceeded",
    "contradicted",
    "too few trials",
    "inconclusive",
    "not assessed",
    "no threshold",
]


class Remark(BaseModel):
    """Something that was asked and not answered."""

    model_config = ConfigDict(extra="forbid")
    quantity: str
    reason: str
    remedy: str = ""


class Provenance(BaseModel):
    """What is needed to get the same numbers again."""

    model_config = ConfigDict(extra="forbid")
    narcissus: str
    python: str
    packages: dict[str, str]
    machine: str
    entropy: str = Field(description="The seed, a decimal integer of up to 128 bits.")
    digests: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 of the inputs: data, policy, release."
    )


class Record(BaseModel):
    """The envelope of every record."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    schema_: Literal["narcissus/record/1"] = Field(SCHEMA, alias="schema")
    kind: str
    title: str
    status: Status
    verdict: str = Field(description="The verdict in words, one short paragraph.")
    grade: Grade = Field(
        "not assessed", description="The weakest grade of what the status rests on."
    )
    assumptions: list[str] = Field(
        default=[], description="What the status takes as given besides the guarantee and the game."
    )
    contradictions: list[str] = Field(
        default=[], description="Pairs of statements in this record that cannot both hold."
    )
    study: dict[str, Any] = Field(description="The study as it was played, defaults filled in.")
    provenance: Provenance
    assessed: list[str]
    not_assessed: list[Remark]
    not_covered: list[str] = Field(description="What no number in this record speaks about.")
    results: dict[str, Any] | list[dict[str, Any]]
    digest: str = Field("", pattern=r"^(sha256:[0-9a-f]{64})?$")

    def to_json(self) -> str:
        """Give the record as JSON text, keys in a fixed order, numbers in full precision."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Give the record as plain values; infinities and NaN become None."""
        return finite(self.model_dump(by_alias=True))


def finite(value: Any) -> Any:
    """Give ``value`` with infinities and NaN, which JSON cannot hold, as None."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def digest_of(record: dict[str, Any]) -> str:
    """Give the SHA-256 of a record without its digest, from canonical JSON."""
    body = {k: v for k, v in record.items() if k != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def provenance(entropy: int, *, digests: dict[str, str] | None = None) -> Provenance:
    """Describe this run: versions and the entropy that repeats it."""
    packages = {name: metadata.version(name) for name in ("numpy", "scipy", "pandas")}
    return Provenance(
        narcissus=metadata.version("narcissus"),
        python=".".join(map(str, sys.version_info[:3])),
        packages=packages,
        machine=f"{platform.system()} {platform.machine()}",
        entropy=str(entropy),
        digests=digests or {},
    )


def make_record(
    *,
    kind: str,
    title: str,
    status: Status,
    verdict: str,
    grade: Grade = "not assessed",
    assumptions: Sequence[str] = (),
    contradictions: Sequence[str] = (),
    study: dict[str, Any],
    entropy: int,
    results: dict[str, Any] | list[dict[str, Any]],
    assessed: list[str],
    not_assessed: list[NotAssessed],
    not_covered: list[str],
    digests: dict[str, str] | None = None,
) -> Record:
    """Assemble a record and seal it with its digest."""
    record = Record(
        schema=SCHEMA,
        kind=kind,
        title=title,
        status=status,
        verdict=verdict,
        grade=grade,
        assumptions=list(assumptions),
        contradictions=list(contradictions),
        study=finite(study),
        provenance=provenance(entropy, digests=digests),
        assessed=assessed,
        not_assessed=[Remark(**asdict(n)) for n in not_assessed],
        not_covered=not_covered,
        results=finite(results),
        digest="",
    )
    return record.model_copy(update={"digest": digest_of(record.to_dict())})


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that it is either the old one or the new one, never half of one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.unlink(missing_ok=True)  # of a process that was killed; or a link to elsewhere
        with partial.open("x", encoding="utf-8") as file:
            file.write(text)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def read_record(path: Path | str) -> Record:
    """Read a record and check its schema, its results and its digest.

    The digest finds accidents. It is no signature: whoever can write a record can write another
    one with a digest that fits.

    Raises
    ------
    InputError
        The file is missing or too large, is no record, is one of a later version or of an unknown
        kind, holds results that its kind does not have, or was changed after it was written.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"no such record: {path}")
    text = read_bytes(path, largest=LARGEST)
    with parsing(path, "a record"):
        try:
            data = json.loads(text.decode("utf-8"), parse_constant=_no_number)
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise InputError(
                f"{path} is not a record: it is no JSON ({error}); "
                "`narcissus audit STUDY` writes one, as record.json in the results folder"
            ) from error
        record = _validated(path, data)
        if record.digest != digest_of(data):
            raise InputError(
                f"{path} was changed after it was written (its digest does not match); "
                "run the study again"
            )
        _check_results(path, record)
    return record


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")


def _validated(path: Path, data: Any) -> Record:
    """Check the envelope."""
    said = data.get("schema") if isinstance(data, dict) else None
    version = re.fullmatch(r"narcissus/record/([1-9]\d{0,8})", said) if _is_text(said) else None
    if version is not None and int(version[1]) > VERSION:
        raise InputError(
            f"{path} is a record of format {version[1]}, written by a later version of Narcissus; "
            f"this one reads up to {VERSION}: update it"
        )
    try:
        return Record.model_validate(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{path} is not a record ({SCHEMA}): {where}: {first['msg']}") from error


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str)


def _check_results(path: Path, record: Record) -> None:
    """Hold the results against the schema of their kind."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from narcissus.study.kinds import KINDS, study_kind

    if record.kind not in KINDS:
        raise InputError(
            f"{path} is a record of the unknown kind {record.kind!r}; this version knows "
            f"{', '.join(KINDS)}"
        )
    from narcissus.study.agreement import disagreement

    schema = study_kind(record.kind).results_schema
    found = Draft202012Validator(schema).iter_errors(record.results)
    if (error := best_match(found)) is not None:
        raise InputError(
            f"{path} holds results that no study of kind {record.kind!r} has: "
            f"{error.json_path}: {error.message[:200]}"
        )
    if why := disagreement(record):
        raise InputError(f"{path} does not agree with itself: {why}")
