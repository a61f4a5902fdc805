"""The numbers of a game.

``quantity`` is "success" (of an attack; or "any attacker", exactly, at its ``epsilon``), "gap"
(success less e^epsilon times the baseline), "delta" (the exact profile: the least delta at each
``epsilon``; ``high`` where it is lost to rounding), "bound" (what a lemma proves, by ``name``),
"isolated" (with predicates of at most ``weight``) or "memorized bits". Besides the columns of every
kind: ``epsilon``, ``weight``, ``trials``, where there are any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.report.format import percent
from narcissus.study.record import Record

Row = dict[str, Any]


def rows(record: Record) -> Iterator[Row]:
    """Yield the attackers, then what is exact or proved."""
    results: Row = record.to_dict()["results"]
    at = {"epsilon": results["statement"].get("epsilon")}
    for one in results["attackers"]:
        success = _estimate(one["success"]) | {"baseline": one["baseline"]["value"]}
        yield {"quantity": "success", "name": one["name"], **success}
        if one["gap"] is not None:
            yield {"quantity": "gap", "name": one["name"], **_estimate(one["gap"]), **at}
    if (exact := results["exact"]) is not None:
        grade = "proved if" if exact["assumptions"] else "proved"
        top = exact["best_attacker"]
        yield {
            "quantity": "success",
            "name": "any attacker",
            "value": top["success"],
            "baseline": top["baseline"],
            "grade": grade,
            "epsilon": top["at_epsilon"],
        }
        for epsilon, delta in zip(exact["epsilon"], exact["delta"], strict=True):
            yield {
                "quantity": "delta",
                "name": "any attacker",
                "value": delta,
                "high": delta or exact["rounding"],
                "grade": grade,
                "epsilon": epsilon,
            }
    for bound in results["proofs"]:
        yield {
            "quantity": "bound",
            "name": bound["theorem"],
            "value": bound["value"],
            "grade": bound["grade"],
        }
    for point in results["curve"]:
        yield {
            "quantity": "isolated",
            "name": "attack",
            "value": point["success"],
            "baseline": point["baseline"],
            "grade": "sampled",
            "weight": point["w"],
        }
    if results["memorized_bits"] is not None:
        yield {
            "quantity": "memorized bits",
            "name": "release",
            "value": results["memorized_bits"],
            "grade": "proved",
        }


def _estimate(found: Row) -> Row:
    kept = ("value", "low", "high", "confidence", "trials", "grade")
    return {key: found[key] for key in kept}


def headline(record: Record) -> list[str]:
    """Give the outcome, the best attack beside its baseline, and what is exact or proved."""
    results: Row = record.to_dict()["results"]
    said = [str(results["outcome"])]
    if results["attackers"]:
        best = max(
            results["attackers"], key=lambda one: one["success"]["value"] - one["baseline"]["value"]
        )
        won, lost = percent(best["success"]["value"]), percent(best["baseline"]["value"])
        said.append(f"{best['name']} succeeds in {won}, against fresh data in {lost}")
    if results["exact"] is not None:
        said.append(results["exact"]["words"])
    said += [f"{bound['quantity']} {bound['at_most']}" for bound in results["proofs"][:1]]
    return said
