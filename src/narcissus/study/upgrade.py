"""Records of formats 1 (version 0.1 of Narcissus) and 2 in the shape of today.

Only the dictionary is changed: it is then read and checked like any other. What a record of format
1 does not hold is null and of grade "not assessed"; nothing is computed anew but what follows from
the record itself. Format 1 grew in time: grades, findings and excesses came late.
"""

from __future__ import annotations

from typing import Any

from narcissus.study.kinds import study_kind
from narcissus.study.record import SCHEMA, digest_of, study_digest

FORMAT_1, FORMAT_2 = "record of format 1", "record of format 2"
"""Among the digests of an upgraded record: the digest of the file that was read."""

Data = dict[str, Any]
NOT_HELD = {
    "quantity": "what records of format 1 do not hold",
    "reason": "the record was written by version 0.1, of which some records say neither the grade "
    "of the verdict nor the findings that it rests on; what is missing here was not recorded",
    "remedy": "play the study again",
}


def upgraded(data: Data) -> Data:
    """Return a record of format 1 in the shape of today, sealed anew.

    The digest of the file is kept among the digests of its provenance. Raises whatever a record
    of another shape makes a dictionary raise.
    """
    results = data["results"]
    if data["kind"] == "channel":
        results = _channel(results)
    digests = {**data["provenance"]["digests"], FORMAT_1: data["digest"]}
    digests["study"] = f"sha256:{study_digest(data['kind'], data['study'])}"
    new = {
        "grade": "not assessed",
        "assumptions": [],
        "contradictions": [],
        **data,
        "schema": "narcissus/record/2",
        "provenance": {**data["provenance"], "digests": digests},
        "not_assessed": [*data["not_assessed"], NOT_HELD],
        "results": results,
    }
    return {**new, "digest": digest_of(new)}


def with_rows(data: Data) -> Data:
    """Return a record of format 2 with rows in place of its results.

    The digest of the file is kept as that of format 1 is; of a record that came from there the
    first one. Status, grade and words stay as they were made.
    """
    found = study_kind(data["kind"]).upgraded(data["results"], data["study"])
    digests = {**data["provenance"]["digests"]}
    if FORMAT_1 not in digests:
        digests[FORMAT_2] = data["digest"]
    kept = {k: v for k, v in data.items() if k not in ("results", "portable_digest")}
    new = {
        **kept,
        "schema": SCHEMA,
        "provenance": {**data["provenance"], "digests": digests},
        "criteria": [one.model_dump(mode="json") for one in found.criteria],
        "rows": [one.model_dump(mode="json") for one in found.rows],
        "detail": found.detail.model_dump(mode="json"),
    }
    return {**new, "digest": digest_of(new)}


def _channel(results: Data) -> Data:
    if results["source"] == "samples":
        old = results["estimated"]
        found = {"guessing_error": None, **_limits_of(old)}
        found["history"] = [_limits_of(look) for look in old["history"]]
        for key in ("pair", "secrets"):
            found.pop(key, None)
        return {**results, "estimated": found}
    exact = {key: value for key, value in results["exact"].items() if key != "secrets"}
    return {"pairwise": None, "profile": None, **results, "exact": exact}


def _limits_of(old: Data) -> Data:
    return old | {key: {"why": "", **old[key]} for key in ("beta_star", "bayes_risk")}
