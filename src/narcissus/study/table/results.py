"""JSON Schema of what a table audit leaves under ``results`` in the record."""

from __future__ import annotations

from typing import Any, get_args

from narcissus.results import GRADES
from narcissus.study.record import Status

_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_SIGNED = {"type": ["number", "null"], "minimum": -1, "maximum": 1}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


_LIMITED = {"share": _SHARE, "low": _SHARE, "high": _SHARE, "baseline": _SHARE}
_LIMITS = {"low": _SHARE, "high": _SHARE}
_GRADE = {"enum": list(GRADES)}
_TEXTS = {"type": "array", "items": {"type": "string"}}
# what guesses without the release score on real people, held against what the prior says
_TEST = {
    "by_the_prior": _SHARE,
    "confidence": _SHARE,
    "off": _SIGNED,
    "off_low": _SIGNED,
    "off_high": _SIGNED,
}
_ATTACK = _object(
    {
        **_LIMITED,
        "low_joint": _SHARE,
        "approximate": {
            "type": ["object", "null"],
            "properties": {**_LIMITS, "method": {"type": "string"}},
            "required": ["low", "high", "method"],
        },
        "narrowest": _object(_LIMITS, ["low", "high"]),
        "median": _object({"share": _SHARE, **_LIMITS}, ["share", "low", "high"]),
        "decoy": _object({**_LIMITED, **_TEST}, ["share", *_TEST]),
        "baseline_low": _SHARE,
        "baseline_high": _SHARE,
        "baseline_exact": {"type": "boolean"},
        "gain": _SIGNED,
        "gain_low": _SIGNED,
        "gain_high": _SIGNED,
        "gain_low_joint": _SIGNED,
        "advantage": _SIGNED,
        "advantage_low": _SIGNED,
        "advantage_high": _SIGNED,
        "trials": {"type": "integer", "minimum": 1},
        "method": {"type": "string"},
        "distribution": _object(
            {
                "targets": {"type": "array", "items": {"type": "integer"}},
                "trials": {"type": "array", "items": {"type": "integer"}},
            },
            ["targets", "trials"],
        ),
        "columns": {
            "type": "object",
            "additionalProperties": _object(_LIMITED, ["share", "low", "high", "baseline"]),
        },
        "title": {"type": "string"},
        "uses": {"type": "string"},
    },
    ["share", "low", "high", "baseline", "trials", "distribution", "columns"],
)
_BOUND = {
    **_object(
        {
            "theorem": {"type": "string"},
            "name": {"type": "string"},
            "proved": {"const": True},
            "for_comparison": {"type": "boolean"},
            "assumptions": _TEXTS,
            "takes_as_given": _TEXTS,
            "guarantee": {"type": "string"},
            "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "at_most": {"type": "integer", "minimum": 0},
            "of": {"type": "integer", "minimum": 1},
            "share_at_most": _SHARE,
            "at_most_of_population": {"type": "integer", "minimum": 0},
            "share_of_population": _SHARE,
        },
        ["theorem", "proved", "assumptions", "guarantee"],
    ),
    "oneOf": [{"required": ["at_most", "confidence"]}, {"required": ["share_at_most"]}],
}
_GROUP = _object(
    {
        "by": {"type": "string"},
        "group": {"type": "string"},
        "by_secret": {"type": "boolean"},
        "share_of_people": _SHARE,
        "guess": _object(_LIMITED, ["share", "low", "high"]),
        "attacks": {
            "type": "object",
            "additionalProperties": _object(_LIMITED, ["share", "low", "high", "baseline"]),
        },
        "ceiling": _object(_LIMITED, ["share", "low", "high"]),
    },
    ["by", "group", "share_of_people", "attacks"],
)
_FINDING = _object(
    {
        "quantity": {"type": "string"},
        "source": {"type": "string"},
        "low": {"type": ["number", "null"]},
        "high": {"type": ["number", "null"]},
        "kind": _GRADE,
        "grade": _GRADE,
        "assumptions": _TEXTS,
        "confidence": {"type": ["number", "null"]},
    },
    ["quantity", "source", "low", "high", "grade", "assumptions"],
)
_EXCESS = _object(
    {
        "role": {"enum": ["attack", "ceiling", "bound"]},
        "name": {"type": "string"},
        "group": {"type": "string"},
        "value": {"type": "number"},
        "low": {"type": ["number", "null"]},
        "high": {"type": ["number", "null"]},
        "kind": _GRADE,
        "trials": {"type": ["integer", "null"]},
    },
    ["role", "name", "group", "value", "low", "high", "kind"],
)
_SETTING = _object(
    {
        "epsilon": {"type": ["number", "null"]},
        "label": {"type": "string"},
        "delta": {"type": ["number", "null"]},
        "mu": {"type": ["number", "null"]},
        "noise": _object({"kind": {"type": "string"}, "scale": {"type": "number"}}, ["kind"]),
        "marginals": {"type": "integer"},
        "cells": {"type": "integer"},
        "people": {"type": "integer"},
        "trials": {"type": "integer"},
        "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "prior_is_exact": {"type": "boolean"},
        "guess": _object(
            {**_LIMITED, "by_the_prior": _object(_TEST, list(_TEST))}, ["share", "low", "high"]
        ),
        "attacks": {"type": "object", "additionalProperties": _ATTACK},
        "ceiling": _ATTACK,
        "best": {"type": ["string", "null"]},
        "bounds": {"type": "array", "items": _BOUND},
        "groups": {"type": "array", "items": _GROUP},
        "threshold": {"type": ["object", "null"]},
        "excesses": {"type": "array", "items": _EXCESS},
        "findings": {"type": "array", "items": _FINDING},
        "decides": {"type": "boolean"},
        "status": {"enum": list(get_args(Status))},
        "grade": _GRADE,
        "assumptions": _TEXTS,
        "contradictions": _TEXTS,
        "trials_needed": {"type": ["integer", "null"]},
        "verdict": {"type": "string"},
        "odds": {"type": "string"},
        "evidence_for": _TEXTS,
        "evidence_against": _TEXTS,
    },
    ["epsilon", "label", "attacks", "bounds", "groups", "verdict", "status"],
)

RESULTS_SCHEMA: dict[str, Any] = {
    "oneOf": [_SETTING, {"type": "array", "minItems": 1, "items": _SETTING}]
}
