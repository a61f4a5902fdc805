"""The steps of a study of the kind "membership": scores of models instead of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narcissus.app import steps
from narcissus.app.text import get
from narcissus.errors import InputError
from narcissus.kinds.membership.schema import ShadowsSpec

STEPS = steps.STEPS | {"table": "The scores"}
OWN = ("table", "attacker", "release")  # steps that have another form than for a table
SCALES = {
    "score": "any score, larger for members",
    "probability": "the probability that the model gives the record's own label",
    "logit": "the logit of that probability",
    "loss": "the loss, smaller for members",
}
ATTACKS = {
    "lira": "compares with shadow models with the record, and without it (LiRA)",
    "lira-offline": "LiRA with shadow models without the record alone",
    "lira-fixed": "LiRA with one variance for all records: for few shadow models",
    "lira-offline-fixed": "both of these",
    "rmia": "compares each record with the others (RMIA)",
    "rmia-offline": "RMIA with shadow models without the record alone",
    "score": "the score itself: looks at no shadow model",
}
_DEFAULTS = ShadowsSpec()
_COUNTS = {"targets": "Models that are attacked", "folds": "Folds"}


def shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the forms of these steps show."""
    threat = _DEFAULTS.model_dump() | data.get("threat", {})
    return {"scales": SCALES, "attacks": ATTACKS, "threat": threat, "counts": _COUNTS}


def of_scores(form: steps.Form, data: Mapping[str, Any], _look: Any) -> steps.Values:
    """Read the form of the scores: what they are, and the records themselves."""
    return {
        ("data", "scale"): form.among("scale", SCALES),
        ("data", "points"): form.one("points") or None,
    }


def of_attacks(form: steps.Form, data: Mapping[str, Any], _look: Any) -> steps.Values:
    """Read the form of the attacker: attacks, models that they are tried on, and rates."""
    before = get(data, "threat", "attacks")
    attacks = [attack for attack in ATTACKS if attack in form.all("attacks")]
    if not attacks:
        raise InputError("choose at least one attack")
    if sorted(before or _DEFAULTS.attacks) == sorted(attacks):
        attacks = before  # in the order of the file
    values: steps.Values = {("threat", "attacks"): attacks}
    for name, label in (*_COUNTS.items(), ("base_rate", "Members of 100")):
        read = steps.share if name == "base_rate" else steps.number
        values["threat", name] = read(text, label) if (text := form.numeric(name)) else None
    values["threat", "fpr"] = steps.numbers(form.numeric("fpr"), "False-positive rates")
    return values


def of_training(form: steps.Form, data: Mapping[str, Any], _look: Any) -> steps.Values:
    """Read the form of the release: the file, and what the training is declared to keep."""
    values: steps.Values = {
        ("data", name): form.one(name) or None for name in ("scores", "members")
    }
    declared = {name: form.numeric(name) for name in ("epsilon", "delta", "mu")}
    if not any(declared.values()):
        return values | {("guarantee",): None}
    for name, text in declared.items():
        values["guarantee", name] = steps.number(text, name) if text else None
    return values


READ = steps.READ | {"table": of_scores, "attacker": of_attacks, "release": of_training}
