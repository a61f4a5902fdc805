"""The numbers of an audit of a given synthetic file.

``quantity`` is "risk" (its share among people in the data; ``baseline`` is the share of the
control), "excess" (of the one over the other), "guess" (of a secret without the file) or "taught"
(what the file adds to that guess for people of the control). Besides the columns of every kind:
``group``, empty for everybody, ``attack`` and ``verdict``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.report.format import percent
from narcissus.study.results.synthetic import (
    CountedShare,
    RiskResult,
    SignedLimits,
    SyntheticResults,
)

Row = dict[str, Any]


def rows(results: SyntheticResults) -> Iterator[Row]:
    """Yield each risk with its excess, its guess and its groups."""
    for risk in results.risks:
        yield from _risk(risk, results)


def _risk(risk: RiskResult, results: SyntheticResults) -> Iterator[Row]:
    grade = "not assessed" if risk.verdict == "not assessed" else "sampled"
    own = {"name": risk.name, "group": "", "attack": risk.attack, "verdict": risk.verdict}
    one = {"confidence": results.confidence, "grade": "sampled"}
    yield {**own, "quantity": "risk", **_share(risk.real, risk.control), **one}
    at = {"confidence": results.claim_confidence, "grade": grade}
    if risk.excess is not None:
        yield {**own, "quantity": "excess", **_limits(risk.excess), **at}
    if (guess := risk.guess) is not None:
        yield {**own, "quantity": "guess", "attack": guess.by, **_share(guess.real, None), **one}
        if guess.taught is not None:
            yield {**own, "quantity": "taught", **_limits(guess.taught), **one}
    for group in risk.groups:
        there = {**own, "group": f"{group.by} {group.group}", "verdict": ""}
        yield {**there, "quantity": "risk", **_share(group.real, group.control), **one}
        if group.excess is not None:
            at = {"confidence": results.group_confidence, "grade": grade}
            yield {**there, "quantity": "excess", **_limits(group.excess), **at}


def _share(share: CountedShare, baseline: CountedShare | None) -> Row:
    beside = {} if baseline is None else {"baseline": baseline.share}
    return {"value": share.share, "low": share.low, "high": share.high, **beside}


def _limits(found: SignedLimits) -> Row:
    return {"value": found.value, "low": found.low, "high": found.high}


def headline(results: SyntheticResults) -> list[str]:
    """Return each risk on both sides."""
    return [
        f"{risk.name} {percent(risk.real.share)}"
        + ("" if risk.control is None else f" against {percent(risk.control.share)}")
        for risk in results.risks
    ]
