"""Rates of an attack over unseen models: every target is one trial.

A trial absorbs any effect of a model on all its records at once. The thresholds are chosen on the
shadows alone, by attacking each with the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from narcissus.evidence import each_confidence, mean_limits
from narcissus.membership.attacks import attack_scores
from narcissus.membership.coins import CoinDesign
from narcissus.membership.shadows import ShadowScores
from narcissus.results import Estimate, Grade, Result


@dataclass(frozen=True)
class RateAcrossModels(Result):
    """Mean rates over models trained in the same way, at a threshold that shadows chose."""

    aimed: float  # largest false-positive rate of the threshold on the shadows
    threshold: float  # larger scores count as members
    # false_positives, true_positives: mean rates over further models on these records, given
    # the shadows
    false_positives: Estimate
    true_positives: Estimate

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"


def rates_across_models(
    data: ShadowScores,
    targets: Sequence[int],
    design: CoinDesign,
    *,
    attack: str = "lira",
    rates: Sequence[float] = (0.001, 0.01, 0.1),
    confidence: float = 0.95,
) -> tuple[RateAcrossModels, ...]:
    """Estimate an attack's mean rates over models, with one target a trial.

    Parameters
    ----------
    data
        Scores of all models.
    targets
        At least two models that are nobody's shadows; independent of each other.
    design
        How the records were put into models.
    attack
        One of `ATTACKS`.
    rates
        Target false-positive rates of the thresholds.
    confidence
        Level of all limits together.

    Notes
    -----
    Given the shadows the targets are independent and alike, so the limits hold whatever dependence
    there is among a model's records. The rate of a target without members, or without others,
    counts as 0.
    """
    shadows = design.shadows_of(targets)
    coined = ~data.outsiders
    tried: list[np.ndarray] = []
    for one in shadows:
        rest = [s for s in shadows if s not in (one, int(design.opposite[one]))]
        if rest:
            found = attack_scores(attack, data.scores[[one]], data.of(rest))[0]
            tried.append(found[coined & ~data.members[one]])
    chosen = np.sort(np.concatenate(tried)) if tried else np.zeros(0)
    scores = attack_scores(attack, data.scores[list(targets)], data.of(shadows))[:, coined]
    inside = data.members[list(targets)][:, coined]
    each = each_confidence(confidence, 2 * len(rates))
    answer: list[RateAcrossModels] = []
    for aimed in rates:
        place = int(np.floor(aimed * chosen.size))
        threshold = float(chosen[chosen.size - 1 - place]) if place < chosen.size else -np.inf
        called = scores > threshold
        limits = [
            mean_limits(
                (called & who).sum(axis=1) / np.maximum(who.sum(axis=1), 1),
                confidence=each,
                people=max(1, int(coined.sum()) // 2),
                quantity=f"mean {name}-positive rate over models",
            )
            for name, who in (("false", ~inside), ("true", inside))
        ]
        answer.append(RateAcrossModels(float(aimed), threshold, *limits))
    return tuple(answer)
