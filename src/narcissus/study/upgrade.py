"""Records of formats 1 (version 0.1 of Narcissus) and 2 in the shape of today.

Only the dictionary is changed: it is then read and checked like any other. What a record of format
1 does not hold is null and of grade "not assessed"; nothing is computed anew but what follows from
the record itself. Format 1 grew in time: grades, findings and excesses came late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from narcissus.study.kinds import rows_kind
from narcissus.study.record import ROWS, SCHEMA, digest_of, study_digest

FORMAT_1, FORMAT_2 = "record of format 1", "record of format 2"
"""Among the digests of an upgraded record: the digest of the file that was read."""

Data = dict[str, Any]
NOT_HELD = {
    "quantity": "what records of format 1 do not hold",
    "reason": "the record was written by version 0.1, of which some records say neither the grade "
    "of the verdict nor the findings that it rests on; what is missing here was not recorded",
    "remedy": "play the study again",
}
PRIOR_IS_RIGHT = "the fitted prior is right about these real people"


def upgraded(data: Data) -> Data:
    """Return a record of format 1 in the shape of today, sealed anew.

    The digest of the file is kept among the digests of its provenance. Raises whatever a record
    of another shape makes a dictionary raise.
    """
    results = RESULTS.get(data["kind"], lambda found, _: found)(data["results"], data["study"])
    digests = {**data["provenance"]["digests"], FORMAT_1: data["digest"]}
    digests["study"] = f"sha256:{study_digest(data['kind'], data['study'])}"
    new = {
        "grade": "not assessed",
        "assumptions": [],
        "contradictions": [],
        **data,
        "schema": SCHEMA,
        "provenance": {**data["provenance"], "digests": digests},
        "not_assessed": [*data["not_assessed"], NOT_HELD],
        "results": results,
    }
    return {**new, "digest": digest_of(new)}


def with_rows(data: Data) -> Data:
    """Return a record of format 2 with rows in place of its results, where its kind has them.

    The digest of the file is kept as that of format 1 is; of a record that came from there the
    first one. Status, grade and words stay as they were made.
    """
    kind = rows_kind(data["kind"])
    if kind is None:
        return data
    found = kind.upgraded(data["results"], data["study"])
    digests = {**data["provenance"]["digests"]}
    if FORMAT_1 not in digests:
        digests[FORMAT_2] = data["digest"]
    kept = {k: v for k, v in data.items() if k not in ("results", "portable_digest")}
    new = {
        **kept,
        "schema": ROWS,
        "provenance": {**data["provenance"], "digests": digests},
        "criteria": [one.model_dump(mode="json") for one in found.criteria],
        "rows": [one.model_dump(mode="json") for one in found.rows],
        "detail": found.detail.model_dump(mode="json"),
    }
    return {**new, "digest": digest_of(new)}


def _table(results: Any, study: Data) -> Any:
    if isinstance(results, list):
        return [_setting(one, study) for one in results]
    return _setting(results, study)


def _setting(old: Data, study: Data) -> Data:
    exact = old.get("prior_is_exact", study["threat"]["people"] == "prior")
    given = [] if exact else [PRIOR_IS_RIGHT]
    ceiling = old.get("ceiling")
    threshold = old.get("threshold", study.get("threshold"))
    return {
        "grade": "not assessed",
        "assumptions": [],
        "contradictions": [],
        "excesses": [],
        "findings": [],
        "decides": True,
        "held_back_by": None,
        "trials_needed": None,
        **old,
        "prior_is_exact": exact,
        "guess": {"by_the_prior": None, **old["guess"]},
        "attacks": {name: _attack(one) for name, one in old["attacks"].items()},
        "ceiling": None if ceiling is None else _attack(ceiling),
        "bounds": [_bound(one, given) for one in old["bounds"]],
        "groups": [{"by_secret": None, "ceiling": None, **one} for one in old["groups"]],
        "threshold": None if threshold is None else _threshold(threshold, old),
    }


def _attack(old: Data) -> Data:
    missing = dict.fromkeys(("low_joint", "gain_low_joint", "approximate", "narrowest", "median"))
    return {**missing, "decoy": None, **old}


def _bound(old: Data, given: list[str]) -> Data:
    old = {"takes_as_given": given, "for_comparison": False, "name": "", **old}
    del old["proved"]
    is_share = "share_at_most" in old
    whole = {("share_of_population" if is_share else "at_most_of_population"): None}
    if old["guarantee"] in (None, "", "none"):
        grade = "not assessed"
    else:
        grade = "proved if" if old["takes_as_given"] else "proved"
    return {"limits": "share" if is_share else "count", "grade": grade, **whole, **old}


def _threshold(old: Data, setting: Data) -> Data:
    old = dict(old)
    at = old.pop("at", None)
    keys = ("share", "advantage", "targets", "worst_group")
    label = setting["label"] if at is not None and setting.get("decides") else None
    if at is not None and label is None:
        label = f"{at:g}"
    return {**dict.fromkeys(keys), "reason": "", "origin": "", **old, "decided_at": label}


def _channel(results: Data, study: Data) -> Data:
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


RESULTS: dict[str, Callable[[Any, Data], Any]] = {
    "channel": _channel,
    "table": _table,
}
