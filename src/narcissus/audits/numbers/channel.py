"""The numbers of a channel.

``quantity`` is "measure" (its ``name`` is that of `narcissus.channels.measures`), "pair" (Bayes
security of ``name`` and ``other``), "delta" (the local DP profile at ``epsilon``) or, from samples,
"estimate" (with so many ``samples``). Besides the columns of every kind: ``other``, ``epsilon``,
``samples``, where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from narcissus.report.format import percent
from narcissus.study.record import Record

Row = dict[str, Any]


def rows(record: Record) -> Iterator[Row]:
    """Yield the measures, pairs and profile of a channel, or the estimates from samples."""
    results: Row = record.to_dict()["results"]
    proved = {"grade": "proved"}
    measures: Row = results.get("exact") or {}
    if measures and measures["epsilon_ldp"] is None:  # a record cannot hold infinity
        measures["epsilon_ldp"] = math.inf
    for name, value in measures.items():
        if isinstance(value, float):
            yield {"quantity": "measure", "name": name, "value": value, **proved}
    pairs = results.get("pairwise") or {"secrets": [], "values": []}
    for i, one in enumerate(pairs["secrets"]):
        for j, other in enumerate(pairs["secrets"][:i]):
            value = pairs["values"][i][j]
            yield {"quantity": "pair", "name": other, "other": one, "value": value, **proved}
    profile = results.get("profile") or {"epsilon": [], "delta": []}
    for epsilon, delta in zip(profile["epsilon"], profile["delta"], strict=True):
        yield {"quantity": "delta", "name": "delta", "value": delta, "epsilon": epsilon, **proved}
    found = results.get("estimated") or {"history": []}
    for look in found["history"]:
        for name in ("beta_star", "bayes_risk"):
            yield {
                "quantity": "estimate",
                "name": name,
                "value": look[name]["estimate"],
                "low": look[name]["low"],
                "high": look[name]["high"],
                "confidence": found["confidence"],
                "grade": "sampled",
                "samples": look["samples"],
            }


def headline(record: Record) -> list[str]:
    """Give what is guessed without and with the output, and Bayes security."""
    results: Row = record.to_dict()["results"]
    if (exact := results.get("exact")) is not None:
        risk, security = exact["bayes_risk"], exact["beta_star"]
    else:
        exact = results["estimated"]
        risk, security = (exact[name]["estimate"] for name in ("bayes_risk", "beta_star"))
    return [
        f"guessed {percent(1 - exact['guessing_error'])}",
        f"{percent(1 - risk)} with the output",
        f"Bayes security {security:.4g}",
    ]
