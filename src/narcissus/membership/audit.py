"""Evidence of membership from shadow models: refuted epsilon, and rates with valid limits.

Targets that are nobody's shadows are audited together. Given the shadows, every coin of theirs is
fresh, and models trained on them jointly guarantee what one guarantees for one coin. So all
canaries of all targets are one audit. If every model is a target in turn, one target's attack has
used the coins of the others. Each fold is then a separate audit, and a level that half of them
refute at half the error is refuted, however they depend (`narcissus.evidence.intervals`). Counting
the folds' guesses together would not be valid.

Rates of an attack over unseen models: every target is one trial.

A trial absorbs any effect of a model on all its records at the same time. The thresholds are
chosen on the shadows alone, by attacking each with the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._outwards import lower
from narcissus._random import RandomSource, generator
from narcissus._validation import fraction, integer, one_of, probability
from narcissus.errors import InputError
from narcissus.evidence import (
    Refutation,
    each_confidence,
    mean_limits,
    refute_prior_scores,
    refute_scores,
)
from narcissus.evidence.intervals import confidence_of_each, p_value_of_half, refused_by_half
from narcissus.evidence.roc import RocBand, roc_band
from narcissus.membership.attacks import ATTACKS, attack_scores
from narcissus.membership.blind import BlindBaseline, blind_baselines
from narcissus.membership.reported import void_text
from narcissus.membership.shadows import CoinDesign, ShadowScores, coin_design
from narcissus.results import Approximate, Estimate, Grade, NotAssessed, Result, plain

RATES = (0.001, 0.01, 0.1)
_FOLDS = (
    "each fold is a separate audit, and half of them refute at half the error: valid however "
    "folds that share models depend on each other"
)
_HELD_OUT = "the targets are nobody's shadows: all their coins are fresh, and count together"
TAKEN_INDEPENDENT = (
    "limits over records take their scores to be independent given the models, which shared "
    "models do not make them: approximate"
)
_DRAWN = (
    "limits of the false-positive rate are about the population that the outsiders were drawn "
    "from independently; the true-positive rate of these targets on these records is known"
)


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

    targets: at least two models that are nobody's shadows; independent of each other.

    Given the shadows the targets are independent and alike, so the limits hold whatever dependence
    there is among a model's records. The rate of a target without members, or without others,
    counts as 0.
    """
    shadows = design.shadows_of(targets)
    coined = ~data.outsiders
    tried: list[np.ndarray] = []
    for shadow in shadows:
        rest = [s for s in shadows if s not in (shadow, int(design.opposite[shadow]))]
        if rest:
            model_scores = attack_scores(attack, data.scores[[shadow]], data.of(rest))[0]
            tried.append(model_scores[coined & ~data.members[shadow]])
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


@dataclass(frozen=True, eq=False)
class Canaries:
    """Scores of one fold's targets: a canary for each target and record with a coin."""

    scores: Floats  # of the canaries, like members and priors of shape (canaries,)
    members: NDArray[np.bool_]
    priors: Floats
    outside: Floats  # scores of outsiders, each of one random target, shape (outsiders,)
    targets: tuple[int, ...]  # the models under attack
    shadows: tuple[int, ...]  # the models that the attack uses


@dataclass(frozen=True, eq=False)
class MembershipAudit(Result):
    """Results of an attack with shadow models."""

    attack: str  # its name
    # models, records, outsiders: their numbers; outsiders are records in no model by design
    models: int
    records: int
    outsiders: int
    targets: int  # targets, folds: number of attacked models, and of folds
    folds: int
    coins: str  # assumption about how records were put into models
    # epsilon, mu, p_value: refuted at ``confidence``, as in `narcissus.evidence.Refutation`;
    # the p-value is against ``claimed``
    epsilon: float
    mu: float
    p_value: float
    # confidence, delta, claimed: as requested; the limits of the rates have the same level,
    # each by itself
    confidence: float
    delta: float
    claimed: float
    refutations: tuple[Refutation, ...]  # of each fold, at the level of one
    roc: RocBand  # rates at every threshold, of all folds together
    at: tuple[float, ...]  # the requested false-positive rates
    rates: tuple[Estimate | Approximate, ...]  # `RocBand.tpr_at` these
    # rates over further models, at thresholds that shadows chose; empty with several folds
    across: tuple[RateAcrossModels, ...]
    assumptions: tuple[str, ...]  # assumptions of all results
    not_assessed: tuple[NotAssessed, ...]  # what could not be assessed
    canaries: Canaries  # canaries of the first fold's targets, as `refute_scores` takes them
    blind: tuple[BlindBaseline, ...] = ()  # of the points, where there are some
    base_rate: float | None = None  # share of members among those asked about, of precisions

    @property
    def grade(self) -> Grade:
        """Grade of the refutation, 'sampled'; rates have separate grades.

        'not assessed' where a classifier that never saw the model tells members from others, unless
        these others are outsiders: then rates are void alone, see `blind`.
        """
        return (
            "sampled"
            if all(baseline.spares_refutation for baseline in self.blind)
            else "not assessed"
        )

    @property
    def void(self) -> str:
        """What points alone tell, so that rates are void; empty where they tell nothing."""
        return void_text(self.blind)

    @property
    def precisions(self) -> tuple[Estimate | Approximate, ...]:
        """`RocBand.precision_at` each of the requested rates; empty without a base rate."""
        base = self.base_rate
        return () if base is None else tuple(self.roc.precision_at(at, base) for at in self.at)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, each rate with its grade; no curve, no canaries."""
        left_out = {"roc", "canaries", "blind"}
        names = [part.name for part in dataclasses.fields(self) if part.name not in left_out]
        fields = {name: plain(getattr(self, name)) for name in names}
        groups = ("rates", self.rates), ("across", self.across), ("precisions", self.precisions)
        for name, rates in groups:
            fields[name] = [
                {"grade": "not assessed" if self.void else part.grade, **part.to_dict()}
                for part in rates
            ]
        unseen = {f"{at:g}": self.roc.unseen(at) for at in self.at if not self.roc.sees(at)}
        area = {"grade": "not assessed" if self.void else self.roc.grade, **plain(self.roc.auc)}
        blind = [{**part.model_dump(), "void": part.told} for part in self.blind]
        return {"grade": self.grade, **fields, "unseen": unseen, "auc": area, "blind": blind}

    def __str__(self) -> str:
        who = f"{self.attack} on {self.targets} of {self.models} models, {self.records} records"
        level = f"{100 * self.confidence:g}% confidence"
        if self.grade == "not assessed":
            head = ""
        elif self.epsilon > 0:
            head = (
                f"REFUTED (estimated): {who}; with {level} the training is not "
                f"({lower(self.epsilon)}, {self.delta:g})-DP nor better"
            )
        else:
            head = (
                f"NOTHING REFUTED (estimated): {who}; {level} rules out no epsilon at delta "
                f"{self.delta:g}"
            )
        lines = [
            *filter(None, [self.void, head]),
            *(f"  assuming {assumption}" for assumption in self.assumptions),
        ]
        return "\n".join([*lines, *map(str, self.rates), *map(str, self.not_assessed)])


def canaries_of(
    data: ShadowScores,
    targets: Sequence[int],
    design: CoinDesign,
    *,
    attack: str = "lira",
    rng: RandomSource = None,
) -> Canaries:
    """Attack some models with those that may be their shadows; ``targets`` are numbers of models.

    ``rng`` draws the target that scores each outsider.
    """
    shadows = design.shadows_of(targets)
    if not shadows and attack != "score":
        raise InputError("no model is left as a shadow; give more models, or fewer targets")
    scores = attack_scores(attack, data.scores[list(targets)], data.of(shadows))
    chance = design.chances(data, shadows)
    open_ = (chance > 0) & (chance < 1)
    outside = scores[:, data.outsiders]
    drawn = generator(rng).integers(len(targets), size=outside.shape[1])
    return Canaries(
        scores[:, open_].ravel(),
        data.members[list(targets)][:, open_].ravel(),
        np.tile(chance[open_], len(targets)),
        outside[drawn, np.arange(outside.shape[1])],
        tuple(targets),
        tuple(shadows),
    )


def audit_membership(
    data: ShadowScores,
    *,
    attack: str = "lira",
    targets: int | None = None,
    folds: int = 1,
    rates: Sequence[float] = RATES,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    points: Any = None,
    rng: RandomSource = None,
) -> MembershipAudit:
    """Attack models with shadow models; report the refuted epsilon and the attack's rates.

    data: scores of all models, in an order independent of them.
    targets: with one fold: number of models, the last ones, that are attacked and are nobody's
        shadows; default a quarter.
    folds: 1: held-out targets. More: every model is a target in one of the folds and a shadow in
        the others; as many as models: the jackknife.
    rates: false-positive rates at which the true-positive rate is bounded.
    delta, confidence, claimed: as in `narcissus.evidence.refute`.
    points: the records themselves, as `blind_baselines` takes them.
    """
    one_of("attack", attack, ATTACKS)
    level, source = fraction("confidence", confidence), generator(rng)
    rates = [probability("fpr", rate) for rate in rates]
    design = coin_design(data)
    parts = _parts(data.models, design, targets, folds)
    each = confidence_of_each(level, len(parts))
    options: dict[str, Any] = {"delta": delta, "confidence": each, "claimed": claimed}
    canaries = [canaries_of(data, part, design, attack=attack, rng=source) for part in parts]
    tests = tuple(
        refute_scores(fold.scores, fold.members, coins=True, **options)
        if (fold.priors == 0.5).all()
        else refute_prior_scores(fold.scores, fold.members, fold.priors, **options)
        for fold in canaries
    )
    curve = _curve(canaries, level, attack)
    missing = NotAssessed(
        "rates over further models",
        "every model was a shadow as well" if len(parts) > 1 else "there was one target",
        "hold out some models as targets that are nobody's shadows",
    )
    across: tuple[RateAcrossModels, ...] = ()
    if len(parts) == 1 and len(parts[0]) > 1:
        across = rates_across_models(
            data, parts[0], design, attack=attack, rates=rates, confidence=level
        )
    blind: tuple[BlindBaseline, ...] = ()
    if points is not None:
        outside, tested = attack == "score" and len(parts) == 1, parts[0]
        blind = blind_baselines(
            data, points, tested, level=1 - level, outsiders=outside, rng=source
        )
    return MembershipAudit(
        attack=attack,
        models=data.models,
        records=int((~data.outsiders).sum()),
        outsiders=int(data.outsiders.sum()),
        targets=sum(map(len, parts)),
        folds=len(parts),
        coins=design.kind,
        epsilon=refused_by_half([fold.epsilon for fold in tests]),
        mu=refused_by_half([fold.mu for fold in tests]),
        p_value=p_value_of_half([fold.p_value for fold in tests]),
        confidence=level,
        delta=tests[0].delta,
        claimed=tests[0].claimed,
        refutations=tests,
        roc=curve,
        at=tuple(rates),
        rates=tuple(curve.tpr_at(rate) for rate in rates),
        across=across,
        assumptions=_assumed(design, tests, curve),
        not_assessed=() if across else (missing,),
        canaries=canaries[0],
        blind=blind,
    )


def _parts(models: int, design: CoinDesign, targets: int | None, folds: int) -> list[list[int]]:
    """Return the targets of each fold; only one of opposites, and one in designs
    of fixed number.
    """
    count = integer("folds", folds, low=1, high=models)
    whole = list(range(models))
    if (design.opposite >= 0).any():
        whole = [m for m in whole if m > design.opposite[m]]
    if count == 1:
        some = max(1, len(whole) // 4) if targets is None else integer("targets", targets, low=1)
        if some >= max(2, len(whole)):
            raise InputError(
                f"`targets` must leave models as shadows: at most {len(whole) - 1}, got {some}"
            )
        if design.kind == "fixed number" and targets not in (None, 1):
            raise InputError(
                "`targets` must be 1 where every record is in the same number of models: the "
                "coins of two targets tell of each other; use `folds`"
            )
        return [whole[-1:] if design.kind == "fixed number" else whole[-some:]]
    if targets is not None:
        raise InputError("`targets` goes with one fold; with `folds` every model is a target")
    if count > len(whole):
        raise InputError(f"`folds` must be at most {len(whole)}, got {count}")
    parts = [whole[k::count] for k in range(count)]
    return [part[:1] for part in parts] if design.kind == "fixed number" else parts


def _curve(found: Sequence[Canaries], level: float, attack: str) -> RocBand:
    """Compute the ROC band of all folds.

    Outsiders resemble records with a coin only for attacks that ignore shadows: other attacks see a
    record that no shadow holds.
    """
    scores = np.concatenate([fold.scores for fold in found])
    members = np.concatenate([fold.members for fold in found])
    if members.all() or not members.any():
        raise InputError("`members` must hold members and others of the targets")
    outside = found[0].outside
    if len(found) == 1 and outside.size and attack == "score":
        return roc_band(scores[members], outside, confidence=level, members_known=True)
    return roc_band(scores[members], scores[~members], confidence=level, taken_independent=True)


def _assumed(design: CoinDesign, tests: Sequence[Refutation], curve: RocBand) -> tuple[str, ...]:
    """Return the assumptions; a more precise one replaces the refutation's first, about coins."""
    return (
        design.said,
        "models were trained independently of each other, and scored alike",
        _HELD_OUT if len(tests) == 1 else _FOLDS,
        *dict.fromkeys(assumption for test in tests for assumption in test.assumptions[1:]),
        TAKEN_INDEPENDENT if curve.taken_independent else _DRAWN,
    )
