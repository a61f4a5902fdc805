"""From trials to results: what was measured and what is proved at one setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import PeopleSums, clopper_pearson, each_confidence, mean_limits
from narcissus.results import Estimate
from narcissus.study.results.table import NoiseResult, SettingNumbers
from narcissus.study.results.table_attacks import AttackResult, GuessResult, HeldOutGuess
from narcissus.study.table.attack_summary import as_mean, attack_result, prior_test
from narcissus.study.table.bound_summary import bound_results
from narcissus.study.table.enclosure import LIKELIEST, Enclosure
from narcissus.study.table.excess import family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.group_summary import group_results
from narcissus.study.table.population import mean_of_people
from narcissus.study.table.settings import Setting

# A slope that is fitted to few trials takes more luck out than there is: with 3, 5 and 10 trials
# approximate limits at 95% missed in 21 to 27, 13 and 7 to 9 of 100 repeats.
ENOUGH_FOR_LUCK = 20

STRONGEST = 1e300
"""Stands for an infinite strength, which a record cannot hold."""

Trial = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]


def summarise(
    experiment: Experiment,
    number: int,
    trials: Sequence[Trial],
    *,
    held_out: tuple[HeldOutGuess, ...] | None = None,
) -> SettingNumbers:
    """Give the results of one setting, but for the verdict.

    Parameters
    ----------
    experiment
        What was played.
    number
        Which setting.
    trials
        All its trials, in order.
    held_out
        What others than the prior guess of rows of the table.
    """
    setting = experiment.settings[number]
    bounds = bound_results(experiment, number, trials)
    luck = _luck(experiment, trials)
    around = Enclosure.of(trials, experiment.targets)
    attacks: dict[str, AttackResult] = {}
    ceiling: AttackResult | None = None
    for name, attack, count in experiment.attacks:
        found = attack_result(
            experiment,
            name,
            attack,
            trials[:count],
            luck=luck[:count],
            bounds=bounds,
            around=around,
            number=number,
        )
        if attack.informed:
            ceiling = found
        else:
            attacks[name] = found
    return SettingNumbers(
        epsilon=_finite(setting.epsilon),
        label=setting.label,
        delta=setting.delta,
        mu=_finite(setting.mu),
        released=setting.title,
        strength=None if setting.strength is None else min(setting.strength, STRONGEST),
        noise=_noise(setting),
        marginals=experiment.queries.tables,
        cells=experiment.queries.cells,
        people=experiment.targets,
        trials=len(trials),
        confidence=experiment.claimed,
        precision=experiment.precision,
        prior_is_exact=experiment.prior_is_exact,
        everybody=experiment.everybody,
        is_declared=bool(setting.mechanism.assumes),
        share_of_columns=experiment.success.by_column,
        guess=_guess(experiment, trials, around).model_copy(update={"held_out": held_out}),
        attacks=attacks,
        ceiling=ceiling,
        best=_best(experiment, attacks, trials),
        bounds=bounds,
        groups=group_results(experiment, trials),
        merged=getattr(experiment.groups, "said", None),
    )


def _best(
    experiment: Experiment, attacks: Mapping[str, AttackResult], trials: Sequence[Trial]
) -> str | None:
    """Choose the attack with most evidence, not the luckiest of few trials.

    By limits of one kind, as if nothing were known of any: those that are printed are nearer for
    an attack of which it is known what it gets.
    """
    joint = each_confidence(experiment.confidence, family(experiment))
    found: dict[str, tuple[float, float]] = {}
    for name, attack in attacks.items():
        shares = np.clip([float(t[f"{name}/share"]) for t in trials[: attack.trials]], 0, 1)
        low = mean_limits(shares, confidence=joint, people=experiment.targets).low
        found[name] = (low or 0.0, attack.share)
    return max(found, key=found.__getitem__, default=None)


def _noise(setting: Setting) -> NoiseResult | None:
    noise = setting.mechanism.noise
    return None if noise is None else NoiseResult(kind=noise.kind, scale=noise.scale)


def _finite(value: float | None) -> float | None:
    """Give None for a level without noise, which JSON cannot hold."""
    return None if value is None or not np.isfinite(value) else value


def _luck(experiment: Experiment, trials: Sequence[Trial]) -> Floats:
    """Give what chance added to what is recovered in each trial, as far as it is known.

    The release moves the chance of the guess that ignores it, but not on average; whoever guesses
    from the release has much of the same luck. How much is fitted to the attacker who sees most.
    One amount is taken from all of them, so that none is moved above another.
    """
    none = np.zeros(len(trials))
    if not experiment.knows_chances:
        return none
    surprises = np.array([float(t["control"]) for t in trials])
    informed = [name for name, attack, _ in experiment.attacks if attack.informed]
    full = [name for name, _, count in experiment.attacks if count == len(trials)]
    names = informed or full
    spread = surprises - surprises.mean()
    if len(trials) < ENOUGH_FOR_LUCK or not names or not spread.any():
        return none
    shares = np.array([float(t[f"{names[0]}/share"]) for t in trials])
    slope = float(spread @ shares) / float(spread @ spread)
    return slope * surprises


def _guess(
    experiment: Experiment, trials: Sequence[Trial], around: Enclosure | None
) -> GuessResult:
    """Limit the share that the best guess without the release gets right.

    Each person's chance is known exactly from the prior. Where the prior may be wrong about the
    people, what the guess really got right of them stands beside it.
    """
    sums = np.array([t["guess"] for t in trials])
    level, n = experiment.confidence, experiment.targets
    if experiment.prior_is_exact:
        chance = mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=level)
        if around is not None and (people := around.envelope(LIKELIEST).people) is not None:
            low, high = people.lower((1 - level) / 2), people.upper((1 - level) / 2)
            chance = replace(chance, low=min(chance.value, low), high=max(chance.value, high))
        return GuessResult.model_validate(
            {
                "share": chance.value,
                "low": chance.low,
                "high": chance.high,
                "by_the_prior": None,
                **_of_factors(experiment, trials),
            }
        )
    real = np.array([float(t["guessed"]) for t in trials])
    said = np.clip(sums[:, 0] / n, 0, 1)
    right = [float(t["guessed_chance"]) for t in trials]
    moments = np.column_stack(
        [n * real, n * real, sums, right]
    )  # a hit is its own square, a part less
    return GuessResult(
        **dict(as_mean(_hits(experiment, real))),
        by_the_prior=prior_test(
            experiment,
            real,
            said,
            PeopleSums.of_moments(moments, n, less=1.0, allowed=0.0),
            sums=sums[0] if experiment.everybody else None,
        ),
        **_of_factors(experiment, trials),
    )


def _hits(experiment: Experiment, real: Floats) -> Estimate:
    """Limit the share that the guess gets right from its hits, which count person by person.

    Rows that are drawn without replacement are less spread than as many that are independent and
    alike (Hoeffding 1956, Theorem 4).
    """
    level, n = experiment.confidence, experiment.targets
    if experiment.everybody:  # the people played are the population
        value = float(real.mean())
        return Estimate(value, value, value, level, len(real), method="all people")
    if experiment.success.by_column:  # parts of people are not counted
        return mean_limits(real, confidence=level, people=n)
    return clopper_pearson(round(n * real.sum()), n * len(real), confidence=level)


def _of_factors(experiment: Experiment, trials: Sequence[Trial]) -> dict[str, Any]:
    """Say what else is known of the guess where no joint value is listed."""
    if not experiment.factored:
        return {}
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    each = np.mean([t["guess_columns"] for t in trials], axis=0).clip(0.0, 1.0).tolist()
    limit, unproved = np.mean([t["guess_limit"] for t in trials], axis=0).clip(0.0, 1.0)
    return {
        "is_best_found": bool(unproved > 0),
        "at_most": float(limit) if unproved > 0 else None,
        "each_column": dict(zip(names, each, strict=True)),
    }
