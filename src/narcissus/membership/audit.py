"""What shadow models tell about membership: epsilon refuted, and rates with limits that hold.

Targets that are nobody's shadows are audited together: given the shadows, every coin of theirs is
fresh, the models trained on them together keep what one keeps about one coin, and so all canaries
of all targets are one audit. Where every model is a target in turn, one target's attack has used
the coins of the others. Each fold is then an audit of its own, and what half of them refute at half
the error is refuted, however they depend (`narcissus.evidence.intervals`). Counting the folds'
guesses together would not hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._outwards import lower
from narcissus._random import RandomSource, generator
from narcissus._validation import fraction, integer, one_of, probability
from narcissus.errors import InputError
from narcissus.evidence import Refutation, refute_prior_scores, refute_scores
from narcissus.evidence.intervals import confidence_of_each, p_value_of_half, refused_by_half
from narcissus.evidence.roc import RocBand, roc_band
from narcissus.membership.across import RateAcrossModels, rates_across_models
from narcissus.membership.attacks import ATTACKS, attack_scores
from narcissus.membership.coins import CoinDesign, coin_design
from narcissus.membership.shadows import ShadowScores
from narcissus.results import Approximate, Estimate, Grade, NotAssessed, Result, plain

FloatArray = NDArray[np.float64]

RATES = (0.001, 0.01, 0.1)
_FOLDS = (
    "each fold is an audit of its own, and half of them refute at half the error: valid however "
    "folds that share models depend on each other"
)
_HELD_OUT = "the targets are nobody's shadows: all their coins are fresh, and count together"
_TAKEN = (
    "limits over records take their scores to be independent given the models, which shared "
    "models do not make them: approximate"
)
_DRAWN = (
    "limits of the false-positive rate are about the population that the outsiders were drawn "
    "from independently; the true-positive rate of these targets on these records is known"
)


@dataclass(frozen=True, eq=False)
class Canaries:
    """What one fold's targets say: a canary for each target and record with a coin.

    Attributes
    ----------
    scores, members, priors
        Of the canaries, shape (canaries,) each.
    outside
        Scores of outsiders, each of one target, drawn at random, shape (outsiders,).
    targets, shadows
        The models.
    """

    scores: FloatArray
    members: NDArray[np.bool_]
    priors: FloatArray
    outside: FloatArray
    targets: tuple[int, ...]
    shadows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MembershipAudit(Result):
    """What an attack with shadow models shows.

    Attributes
    ----------
    attack
        Its name.
    models, records, outsiders
        How many there are; outsiders are records in no model by design.
    targets, folds
        How many models were attacked, and in how many folds.
    coins
        What is assumed of how records were put into models.
    epsilon, mu, p_value
        What is refuted at ``confidence``, as in `narcissus.evidence.Refutation`; the p-value is
        against ``claimed``.
    confidence, delta, claimed
        As asked; the limits of the rates have the same level, on their own.
    refutations
        Of each fold, at the level of one.
    at
        The false-positive rates that were asked for.
    roc
        Rates at every threshold, of all folds together.
    rates
        `RocBand.tpr_at` these.
    across
        Rates over further models, at thresholds that shadows chose; empty with several folds.
    assumptions
        What all this rests on.
    not_assessed
        What could not be.
    canaries
        What the first fold's targets say, which `refute_scores` takes.
    """

    attack: str
    models: int
    records: int
    outsiders: int
    targets: int
    folds: int
    coins: str
    epsilon: float
    mu: float
    p_value: float
    confidence: float
    delta: float
    claimed: float
    refutations: tuple[Refutation, ...]
    roc: RocBand
    at: tuple[float, ...]
    rates: tuple[Estimate | Approximate, ...]
    across: tuple[RateAcrossModels, ...]
    assumptions: tuple[str, ...]
    not_assessed: tuple[NotAssessed, ...]
    canaries: Canaries

    @property
    def grade(self) -> Grade:
        """That of the refutation, 'sampled'; rates have grades of their own."""
        return "sampled"

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as plain values, no curve and no canaries, each rate with its grade."""
        left_out = {"roc", "canaries"}
        names = [one.name for one in dataclasses.fields(self) if one.name not in left_out]
        found = {name: plain(getattr(self, name)) for name in names}
        for name, rates in (("rates", self.rates), ("across", self.across)):
            found[name] = [{"grade": one.grade, **one.to_dict()} for one in rates]
        return {"grade": self.grade, **found}

    def __str__(self) -> str:
        who = f"{self.attack} on {self.targets} of {self.models} models, {self.records} records"
        level = f"{100 * self.confidence:g}% confidence"
        if self.epsilon > 0:
            head = (
                f"REFUTED (sampled): {who}; with {level} the training is not "
                f"({lower(self.epsilon)}, {self.delta:g})-DP nor better"
            )
        else:
            head = (
                f"NOTHING REFUTED (sampled): {who}; {level} rules out no epsilon at delta "
                f"{self.delta:g}"
            )
        lines = [head, *(f"  assuming {said}" for said in self.assumptions)]
        return "\n".join([*lines, *map(str, self.rates), *map(str, self.not_assessed)])


def canaries_of(
    data: ShadowScores,
    targets: Sequence[int],
    design: CoinDesign,
    *,
    attack: str = "lira",
    rng: RandomSource = None,
) -> Canaries:
    """Attack some models with those that may be their shadows.

    Parameters
    ----------
    data
        Scores of all models.
    targets
        Numbers of the models that are attacked.
    design
        How the records were put into models.
    attack
        One of `ATTACKS`.
    rng
        Draws the target that scores each outsider.
    """
    shadows = design.shadows_of(targets)
    if not shadows and attack != "score":
        raise InputError("no model is left as a shadow; give more models, or fewer targets")
    found = attack_scores(attack, data.scores[list(targets)], data.of(shadows))
    chance = design.chances(data, shadows)
    open_ = (chance > 0) & (chance < 1)
    outside = found[:, data.outsiders]
    drawn = generator(rng).integers(len(targets), size=outside.shape[1])
    return Canaries(
        found[:, open_].ravel(),
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
    rng: RandomSource = None,
) -> MembershipAudit:
    """Attack models with shadow models, and say what this refutes and how often it is right.

    Parameters
    ----------
    data
        Scores of all models, in an order that says nothing about them.
    attack
        One of `ATTACKS`.
    targets
        With one fold: how many models, the last ones, are attacked and are nobody's shadows;
        default a quarter.
    folds
        1: held-out targets. More: every model is a target in one of so many folds and a shadow in
        the others; as many as models: the jackknife.
    rates
        False-positive rates at which the true-positive rate is limited.
    delta, confidence, claimed
        As in `narcissus.evidence.refute`.
    rng
        As in `narcissus.evidence.refute_scores`.

    Raises
    ------
    InputError
        Among others where the coins are not as the priors say.
    """
    one_of("attack", attack, ATTACKS)
    level, source = fraction("confidence", confidence), generator(rng)
    rates = [probability("fpr", rate) for rate in rates]
    design = coin_design(data)
    parts = _parts(data.models, design, targets, folds)
    each = confidence_of_each(level, len(parts))
    asked: dict[str, Any] = {"delta": delta, "confidence": each, "claimed": claimed}
    found = [canaries_of(data, part, design, attack=attack, rng=source) for part in parts]
    tests = tuple(_refuted(one, asked, source) for one in found)
    curve = _curve(found, level, attack)
    across: tuple[RateAcrossModels, ...] = ()
    if len(parts) == 1 and len(parts[0]) > 1:
        across = rates_across_models(
            data, parts[0], design, attack=attack, rates=rates, confidence=level
        )
    return MembershipAudit(
        attack=attack,
        models=data.models,
        records=int((~data.outsiders).sum()),
        outsiders=int(data.outsiders.sum()),
        targets=sum(map(len, parts)),
        folds=len(parts),
        coins=design.kind,
        epsilon=refused_by_half([one.epsilon for one in tests]),
        mu=refused_by_half([one.mu for one in tests]),
        p_value=p_value_of_half([one.p_value for one in tests]),
        confidence=level,
        delta=tests[0].delta,
        claimed=tests[0].claimed,
        refutations=tests,
        roc=curve,
        at=tuple(rates),
        rates=tuple(curve.tpr_at(rate) for rate in rates),
        across=across,
        assumptions=_assumed(design, tests, curve),
        not_assessed=() if across else (_missing(len(parts)),),
        canaries=found[0],
    )


def _parts(models: int, design: CoinDesign, targets: int | None, folds: int) -> list[list[int]]:
    """Give the targets of each fold; of opposites only one, in models of fixed number only one."""
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


def _refuted(found: Canaries, asked: dict[str, Any], source: np.random.Generator) -> Refutation:
    """Test one fold."""
    if (found.priors == 0.5).all():
        return refute_scores(found.scores, found.members, rng=source, **asked)
    return refute_prior_scores(found.scores, found.members, found.priors, rng=source, **asked)


def _curve(found: Sequence[Canaries], level: float, attack: str) -> RocBand:
    """Draw the curve of all folds.

    An outsider is like a record with a coin only to an attack that looks at no shadows: to others
    it is a record that no shadow holds.
    """
    scores = np.concatenate([one.scores for one in found])
    members = np.concatenate([one.members for one in found])
    if members.all() or not members.any():
        raise InputError("`members` must hold members and others of the targets")
    outside = found[0].outside
    if len(found) == 1 and outside.size and attack == "score":
        return roc_band(scores[members], outside, confidence=level, members_known=True)
    return roc_band(scores[members], scores[~members], confidence=level, taken_independent=True)


def _assumed(design: CoinDesign, tests: Sequence[Refutation], curve: RocBand) -> tuple[str, ...]:
    """Say what all rests on; the first assumption of a refutation is about coins, said better."""
    return (
        design.said,
        "models were trained independently of each other, and scored alike",
        _HELD_OUT if len(tests) == 1 else _FOLDS,
        *dict.fromkeys(said for one in tests for said in one.assumptions[1:]),
        _TAKEN if curve.taken_independent else _DRAWN,
    )


def _missing(folds: int) -> NotAssessed:
    return NotAssessed(
        "rates over further models",
        "every model was a shadow as well" if folds > 1 else "there was one target",
        "hold out some models as targets that are nobody's shadows",
    )
