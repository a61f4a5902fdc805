"""JSON Schema of what a table audit leaves under ``results`` in the record."""

from __future__ import annotations

from typing import Any

_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_SIGNED = {"type": ["number", "null"], "minimum": -1, "maximum": 1}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


_LIMITED = {"share": _SHARE, "low": _SHARE, "high": _SHARE, "baseline": _SHARE}
_ATTACK = _object(
    {
        **_LIMITED,
        "low_joint": _SHARE,
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
            "assumptions": {"type": "array", "items": {"type": "string"}},
            "guarantee": {"type": "string"},
            "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "at_most": {"type": "integer", "minimum": 0},
            "of": {"type": "integer", "minimum": 1},
            "share_at_most": _SHARE,
        },
        ["theorem", "proved", "assumptions", "guarantee"],
    ),
    "oneOf": [{"required": ["at_most", "confidence"]}, {"required": ["share_at_most"]}],
}
_GROUP = _object(
    {
        "by": {"type": "string"},
        "group": {"type": "string"},
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
        "confidence": {"type": "number"},
        "guess": _object(_LIMITED, ["share", "low", "high"]),
        "attacks": {"type": "object", "additionalProperties": _ATTACK},
        "ceiling": _ATTACK,
        "best": {"type": ["string", "null"]},
        "bounds": {"type": "array", "items": _BOUND},
        "groups": {"type": "array", "items": _GROUP},
        "threshold": {"type": ["object", "null"]},
        "status": {"type": "string"},
        "verdict": {"type": "string"},
        "odds": {"type": "string"},
        "evidence_for": {"type": "array", "items": {"type": "string"}},
        "evidence_against": {"type": "array", "items": {"type": "string"}},
    },
    ["epsilon", "label", "attacks", "bounds", "groups", "verdict", "status"],
)

RESULTS_SCHEMA: dict[str, Any] = {
    "oneOf": [_SETTING, {"type": "array", "minItems": 1, "items": _SETTING}]
}
