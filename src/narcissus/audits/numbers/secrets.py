"""The numbers of a study of secrets in trained models.

``quantity`` is "success" (of an attack; ``baseline`` is that of the same guesses for fresh
secrets), "guess" (the best one without the model), "bound" (what no attacker exceeds, by ``name``)
or "refuted epsilon" (by an attack; what it is above is refuted). Besides the columns of every kind:
``prior``, ``epsilon`` (infinite without noise), ``trials``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from narcissus.audits.numbers.game import sampled
from narcissus.report.format import percent
from narcissus.study.results.secrets import SecretResult, SecretsResults

Row = dict[str, Any]


def rows(results: SecretsResults) -> Iterator[Row]:
    """Yield each setting: its guess, its attacks, its bound."""
    for one in results.settings:
        epsilon = one.training.epsilon
        at = {"prior": one.prior, "epsilon": math.inf if epsilon is None else epsilon}
        for row in _setting(one):
            yield {**row, **at}


def _setting(one: SecretResult) -> Iterator[Row]:
    yield {"quantity": "guess", "name": one.likeliest, "value": one.guess, "grade": "proved"}
    for attack in one.attacks:
        said = {"name": attack.name, "baseline": attack.baseline}
        yield {"quantity": "success", **said, **sampled(attack.success)}
        refuted = {"value": attack.refuted_epsilon, "low": attack.refuted_epsilon}
        level = {"confidence": attack.success.confidence, "grade": "sampled"}
        yield {"quantity": "refuted epsilon", "name": attack.name, **refuted, **level}
    if one.bound is not None:
        value = {"value": one.bound.value, "high": one.bound.value, "grade": "proved"}
        yield {"quantity": "bound", "name": one.bound.theorem, **value}


def headline(results: SecretsResults) -> list[str]:
    """Return the best attack of the setting that decides, the guess, and what is proved."""
    one = results.headline
    said = [
        f"{one.best.name} names {percent(one.best.success.value)} at {one.label}",
        f"{percent(one.guess)} guessed without",
    ]
    if one.bound is not None:
        said.append(f"at most {percent(one.bound.value, 'up')} proved")
    return said
