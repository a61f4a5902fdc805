"""The numbers of a study of a classifier.

``quantity`` is "recovered" (share of training images; ``baseline`` is that of fresh ones), "fresh",
"gain", "named" (by the informed attacker, of all left out; ``baseline`` is chance) or
"from shadows" (mean share over networks trained without the images). Besides the columns of every
kind: ``trials``, ``chance`` (a p-value).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.report.format import percent
from narcissus.study.results.classifier import ClassifierResults, ImageAttack

Row = dict[str, Any]


def rows(results: ClassifierResults) -> Iterator[Row]:
    """Yield the attacks."""
    for attack in results.attacks:
        for row in _attack(attack, results.fresh):
            yield {**row, "name": attack.name}


def _attack(one: ImageAttack, fresh: int) -> Iterator[Row]:
    counted = {"trials": one.images, "grade": "proved"}
    baseline, chance = one.fresh.value, one.chance if one.named is None else None
    yield {
        "quantity": "recovered",
        "value": one.share,
        "baseline": baseline,
        "chance": chance,
        **counted,
    }
    yield {"quantity": "fresh", **one.fresh.as_row()}
    gain = {"value": one.gain.value, "low": one.gain.low, "high": one.gain.high}
    yield {"quantity": "gain", **gain, "grade": one.gain.grade}
    if one.named is not None:
        named = {"value": one.named / one.images, "baseline": 1 / (fresh + 1)}
        yield {"quantity": "named", **named, "chance": one.chance, **counted}
    if one.shadows:
        mean = sum(one.shadows) / len(one.shadows) / one.images
        yield {
            "quantity": "from shadows",
            "value": mean,
            "chance": one.shadow_chance,
            "trials": len(one.shadows),
            "grade": "sampled",
        }


def headline(results: ClassifierResults) -> list[str]:
    """Return the best attack and its baseline."""
    best = results.best
    return [
        f"{best.name} gets {best.recovered:,} of {best.images:,} training images",
        f"{percent(best.fresh.value)} of fresh ones",
    ]
