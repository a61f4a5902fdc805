"""The record: the product of a study, as data. The report is one view of it.

A record is a JSON object with the same envelope for every kind of study. What was found is under
``result``, a tree that the kind types, and what was accepted under ``criteria``. It holds
aggregates only, unless a study asks for pictures. The digest covers everything else in it, to the
last digit of every number; the portable digest what is the same on every machine. The last digits
are not: libraries choose their routines by the processor and by how many threads there are, and
those add in another order.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import re
import sys
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from narcissus._version import __version__
from narcissus._visible import visible
from narcissus.results import Grade, Status
from narcissus.rows import StudyCriterion, StudyRow
from narcissus.study.keyed import is_secret

if TYPE_CHECKING:
    from narcissus.study.kinds import Outcome

SCHEMA = "narcissus/record/1"


class Remark(BaseModel):
    """Something that was asked and not answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    quantity: str
    reason: str
    remedy: str


_VERSION = (
    r"\d{1,8}(\.\d{1,8}){0,4}((a|b|rc)\d{1,8})?(\.post\d{1,8})?(\.dev\d{1,8})?(\+[a-z0-9.]{1,20})?"
)
_SYSTEMS = ("Linux", "Darwin", "Windows", "FreeBSD", "OpenBSD", "NetBSD")
_PROCESSORS = (
    *("x86_64", "AMD64", "aarch64", "arm64", "ARM64", "ppc64le", "s390x", "riscv64"),
    *("amd64", "i386", "i686", "armv7l"),
)
_Package = Literal["numpy", "scipy", "pandas"]
_PACKAGES: tuple[_Package, ...] = ("numpy", "scipy", "pandas")
_Version = Annotated[str, Field(pattern=f"^{_VERSION}$", description="As PEP 440 spells it.")]
_Digest = Annotated[str, Field(pattern=r"^((hmac-)?sha256:[0-9a-f]{64}|withheld)$")]


class Provenance(BaseModel):
    """What is needed to get the same numbers again.

    Nobody can compare versions and machine with anything, so that no free text is read there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    narcissus: _Version
    python: _Version
    packages: dict[_Package, _Version]
    machine: str = Field(
        pattern=rf"^({'|'.join(_SYSTEMS)}|other) ({'|'.join(_PROCESSORS)}|other)$",
        description="The system and the processor, such as Linux x86_64.",
    )
    entropy: str = Field(
        pattern=r"^\d{0,39}$",
        description="The seed, a decimal integer of up to 128 bits; empty: withheld.",
    )
    digests: dict[str, _Digest] = Field(
        description="SHA-256 of the study and a policy; of data, models, releases keyed by what "
        "the results folder keeps (`narcissus.study.keyed`), or withheld."
    )


class Record(BaseModel):
    """The envelope of every record."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    schema_: Literal["narcissus/record/1"] = Field(alias="schema")
    kind: str
    title: str
    status: Status
    grade: Grade = Field(description="The weakest grade of what the status rests on.")
    assumptions: list[str] = Field(
        description="What the status assumes besides the guarantee and the game."
    )
    contradictions: list[str] = Field(
        description="Pairs of statements in this record that cannot both hold."
    )
    study: dict[str, Any] = Field(description="The study as it was played, defaults filled in.")
    provenance: Provenance
    assessed: list[str]
    not_assessed: list[Remark]
    criteria: tuple[StudyCriterion, ...] = Field(description="What was accepted, and where.")
    result: Any = Field(description="What was found, in the model of its kind.")
    portable_digest: str = Field(
        "",
        pattern=r"^(sha256:[0-9a-f]{64})?$",
        description="Of what no processor changes, see `portable_digest_of`.",
    )
    digest: str = Field("", pattern=r"^(sha256:[0-9a-f]{64})?$")

    @property
    def rows(self) -> tuple[StudyRow, ...]:
        """What was found, a fact a row."""
        return tuple(self.result.rows())

    def to_json(self) -> str:
        """Return the record as JSON text, keys in a fixed order, numbers in full precision."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        return visible(text, keep="\n") + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values that JSON can hold."""
        return self.model_dump(mode="json", by_alias=True)


def finite(value: Any) -> Any:
    """Return ``value`` with infinities and NaN, which JSON cannot hold, as None."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def study_digest(kind: str, settings: dict[str, Any]) -> str:
    """Return the SHA-256 of a study: its kind and its settings, all defaults filled in."""
    text = json.dumps([kind, finite(settings)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(record: dict[str, Any]) -> str:
    """SHA-256 of a record without its digest, from canonical JSON."""
    return _sealed({k: v for k, v in record.items() if k != "digest"})


def portable_digest_of(record: dict[str, Any]) -> str:
    """SHA-256 of what is the same in a record on every machine, from canonical JSON.

    It covers the study, the seed, the plain digests, the version, and of all that was found the
    structure, names, texts, counts, statuses and grades. A number that is no whole one counts as "a
    number", in a text too: rounded to any digit, some would lie on the border of two. That such
    numbers agree within 1e-9 is what `narcissus verify` tells. Of a keyed digest it covers that
    there is one: the key is another in each folder.
    """
    made = record["provenance"]
    content = {
        key: _portable(value)
        for key, value in record.items()
        if key not in {"study", "provenance", "digest", "portable_digest"}
    }
    origin = {key: made[key] for key in ("narcissus", "entropy")}
    origin["digests"] = {k: _KEYED if is_secret(v) else v for k, v in made["digests"].items()}
    return _sealed({**content, "study": record["study"], "provenance": origin})


BROKEN_NUMBER = re.compile(r"\d[\d,]*\.\d+(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+")
"""A number in a text that is no whole one."""
_KEYED = "a keyed digest"


def _portable(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _portable(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_portable(v) for v in value]
    if is_secret(value):
        return _KEYED
    if isinstance(value, str):
        return BROKEN_NUMBER.sub("a number", value)
    return "a number" if isinstance(value, float) else value


def _sealed(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def provenance(entropy: int, *, digests: dict[str, str] | None = None) -> Provenance:
    """Describe this run: versions and the entropy that repeats it."""
    packages: dict[_Package, str] = {name: _spelled(metadata.version(name)) for name in _PACKAGES}
    system, processor = platform.system(), platform.machine()
    system = system if system in _SYSTEMS else "other"
    processor = processor if processor in _PROCESSORS else "other"
    return Provenance(
        narcissus=__version__,
        python=".".join(map(str, sys.version_info[:3])),
        packages=packages,
        machine=f"{system} {processor}",
        entropy=str(entropy),
        digests=digests or {},
    )


def _spelled(version: str) -> str:
    """Return a version without what PEP 440 does not know."""
    match = re.match(_VERSION, version)
    return match[0] if match else "0"


def make_record(
    outcome: Outcome, *, kind: str, study: dict[str, Any], entropy: int, digests: dict[str, str]
) -> Record:
    """Assemble a record and seal it with its digests."""
    findings = outcome.findings
    record = Record(
        schema=SCHEMA,
        kind=kind,
        title=outcome.title,
        status=outcome.status,
        grade=outcome.grade,
        assumptions=list(outcome.assumptions),
        contradictions=list(outcome.contradictions),
        study=finite(study),
        provenance=provenance(entropy, digests=digests),
        assessed=outcome.assessed,
        not_assessed=[Remark(**asdict(n)) for n in outcome.not_assessed],
        criteria=findings.criteria,
        result=findings.result,
        portable_digest="",
        digest="",
    )
    portable = portable_digest_of(record.to_dict())
    record = record.model_copy(update={"portable_digest": portable})
    return record.model_copy(update={"digest": digest_of(record.to_dict())})
