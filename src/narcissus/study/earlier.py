"""Study files of version 0.1, and records of formats 1 (of that version) and 2, as they are today.

In such a study file a section named its part by ``kind``, a part of the user's own took its
arguments in ``options``, and a channel's mechanism and an extraction's relation could be texts.

Of a record only the dictionary is changed: it is then read and checked like any other. What one of
format 1 does not hold is null and of grade "not assessed"; nothing is computed anew but what
follows from the record itself. Format 1 grew in time: grades, findings and excesses came late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from narcissus.errors import InputError
from narcissus.study.kinds import study_kind
from narcissus.study.part_section import from_text, refused
from narcissus.study.record import SCHEMA, digest_of, study_digest

Written = dict[str, Any]


def _part(section: Any) -> Any:
    """Name a part by ``name``, with its options beside it."""
    if not isinstance(section, dict):
        return section
    now: Written = {**section}
    if "kind" in now and "name" not in now:
        # a record of 0.1 holds every key of the section, None for those of other kinds
        now = {key: value for key, value in now.items() if value is not None and key != "kind"}
        if section["kind"] is not None:
            now["name"] = section["kind"]
    options = now.get("options")
    own = ":" in str(now.get("name"))
    if isinstance(options, dict) and (not options or (own and not options.keys() & now.keys())):
        del now["options"]
        now |= options
    return now


def _table_attack(name: str, section: Any) -> Any:
    now = _part(section)
    if isinstance(now, dict) and ":" in name and "options" in now:
        return _part({"name": name, **now})
    if not isinstance(now, dict) or now.get("name", name) != "posterior" or "method" not in now:
        return now
    method = {"mean-field": "posterior", "gibbs": "gibbs"}.get(now["method"])
    if method is None:
        return now
    return {**{k: v for k, v in now.items() if k != "method"}, "name": method}


def table(study: Written) -> Written:
    now = {**study}
    for section in ("prior", "mechanism"):
        if section in now:
            now[section] = _part(now[section])
    attacks = now.get("attacks")
    if isinstance(attacks, dict):
        now["attacks"] = {name: _table_attack(name, one) for name, one in attacks.items()}
    return now


def game(study: Written) -> Written:
    """Return a game: its own parts have their options beside their names, at any depth."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            own = isinstance(value.get("options"), dict) and ":" in str(value.get("name"))
            value = _part(value) if own else value
            return {key: walk(inner) for key, inner in value.items()}
        return [walk(inner) for inner in value] if isinstance(value, list) else value

    return walk(study)


def channel(study: Written) -> Written:
    """Return a study of a channel: its mechanism is a section."""
    now = {**study}
    section = now.get("channel")
    if isinstance(section, dict) and isinstance(section.get("mechanism"), str):
        try:
            made = from_text(section["mechanism"])
        except InputError as error:
            raise refused(("channel", "mechanism"), str(error)) from error
        now["channel"] = {**section, "mechanism": made}
    return now


def extraction(study: Written) -> Written:
    """Return a study of an extraction: its relation is a section."""
    now = {**study}
    if isinstance(now.get("relation"), str):
        now["relation"] = {"name": now["relation"]}
    elif "relation" in now:
        now["relation"] = _part(now["relation"])
    return now


def translated(to: Callable[[Written], Written]) -> Callable[[Any], Any]:
    """Make a validator of a study's model that reads files of version 0.1 as well."""

    def read(study: Any) -> Any:
        return to(dict(study)) if isinstance(study, Mapping) else study

    return read


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
