"""Limits on error rates for `protect`: options, JSON keys, sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from narcissus._outwards import upper
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Limit
    from narcissus.guarantees import Guarantee

_HELP = {
    "tpr": ("X", "Largest true positive rate at --fpr."),
    "fpr": ("Y", "With --tpr: false positive rate."),
    "precision": ("X", "Largest precision at --recall."),
    "recall": ("R", "With --precision: share of members that is found, or more."),
    "base-rate": ("B", "With --precision: share of members among those asked about."),
}
NAMES = tuple(name.replace("-", "_") for name in _HELP)


def rates(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, (metavar, text) in reversed(_HELP.items()):
        command = click.option(f"--{name}", type=float, metavar=metavar, help=text)(command)
    return command


def alone(given: Mapping[str, object]) -> None:
    """Refuse options that limits on error rates alone do not depend on."""
    for option, value in given.items():
        if value is not None:
            raise InputError(
                f"`{option}` says nothing of `--tpr` and `--precision`; drop it, or limit "
                "`--advantage`, `--success-at-most` or `--at-most` as well"
            )


def reached(limit: Limit, guarantee: Guarantee) -> dict[str, Any]:
    """Return upper bounds on the error rates that are limited."""
    from narcissus import bounds

    found: dict[str, Any] = {}
    said = []
    if limit.tpr is not None and limit.fpr is not None:
        said.append(bounds.true_positive_rate(guarantee, limit.fpr))
        found |= {"tpr": said[-1].value, "fpr": limit.fpr}
    if limit.precision is not None and limit.recall is not None and limit.base_rate is not None:
        said.append(bounds.precision(guarantee, limit.recall, limit.base_rate))
        found |= {"precision": said[-1].value, "recall": limit.recall}
        found |= {"base_rate": limit.base_rate}
    if said and not limit.of_threat:
        found |= {"grade": said[0].grade, "theorem": " and ".join(one.theorem for one in said)}
        found |= {"assumptions": list(said[0].assumptions)}
    return found


def text(payload: Mapping[str, Any], then: str) -> list[str]:
    lines: list[str] = []
    if "tpr" in payload:
        lines.append(
            f"{then} no test with a false positive rate of at most {payload['fpr']:g} has a true "
            f"positive rate above {upper(payload['tpr'])}."
        )
    if "precision" in payload:
        lines.append(
            f"{then} no test with a recall of at least {payload['recall']:g} has a precision above "
            f"{upper(payload['precision'])}, where the base rate is {payload['base_rate']:g}."
        )
    return lines
