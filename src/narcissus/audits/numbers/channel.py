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
from narcissus.study.results.channel import ChannelResults, ExactChannel, Leakage

Row = dict[str, Any]


def rows(results: ChannelResults) -> Iterator[Row]:
    """Yield the measures, pairs and profile of a channel, or the estimates from samples."""
    if isinstance(results, ExactChannel):
        yield from ({**row, "grade": "proved"} for row in _exact(results))
    else:
        yield from _estimated(results.estimated)


def _exact(results: ExactChannel) -> Iterator[Row]:
    measures = results.exact.model_dump(exclude={"implied_by"})
    if measures["epsilon_ldp"] is None:  # a record cannot hold infinity
        measures["epsilon_ldp"] = math.inf
    for name, value in measures.items():
        if value is not None:
            yield {"quantity": "measure", "name": name, "value": value}
    if (pairs := results.pairwise) is not None:
        for i, one in enumerate(pairs.secrets):
            for j, other in enumerate(pairs.secrets[:i]):
                value = pairs.values[i][j]
                yield {"quantity": "pair", "name": other, "other": one, "value": value}
    if (profile := results.profile) is not None:
        for epsilon, delta in zip(profile.epsilon, profile.delta, strict=True):
            yield {"quantity": "delta", "name": "delta", "value": delta, "epsilon": epsilon}


def _estimated(found: Leakage) -> Iterator[Row]:
    if found.guessing_error is not None:  # of these samples: no limits
        said = {"value": found.guessing_error, "samples": found.samples}
        yield {"quantity": "estimate", "name": "guessing_error", "grade": "approximate", **said}
    for look in found.history:
        for name, value in (("beta_star", look.beta_star), ("bayes_risk", look.bayes_risk)):
            yield {
                "quantity": "estimate",
                "name": name,
                "value": value.estimate,
                "low": value.low,
                "high": value.high,
                "confidence": found.confidence,
                "grade": "sampled",
                "samples": look.samples,
            }


def headline(results: ChannelResults) -> list[str]:
    """Return what is guessed without and with the output, and Bayes security."""
    if isinstance(results, ExactChannel):
        found = results.exact
        risk, security = found.bayes_risk, found.beta_star
    else:
        found = results.estimated
        risk, security = found.bayes_risk.estimate, found.beta_star.estimate
    said = [f"{percent(1 - risk)} with the output", f"Bayes security {security:.4g}"]
    if found.guessing_error is not None:
        said = [f"guessed {percent(1 - found.guessing_error)} without", *said]
    return said
