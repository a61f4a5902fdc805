"""How many trials a study plays that asks for a precision instead of a number.

The number must be fixed before the first trial is seen, or limits would not hold. So a pilot of
releases of its own, which count for nothing else, says how much shares vary.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import trials_for
from narcissus.observer import Observer
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.schema import TableStudy
from narcissus.study.table.streams import PILOT

PILOT_TRIALS = 10
MOST = 1_000_000


def with_trials(experiment: Experiment, study: TableStudy, observer: Observer) -> Experiment:
    """Give the experiment with as many trials as the study's precision takes.

    Raises
    ------
    InputError
        More than a million trials would be needed.
    """
    if study.run.precision is None:
        return experiment
    observer.note(f"a pilot of {PILOT_TRIALS} releases, to see how many the precision takes")
    wanted = study.run.precision / 100
    needed = max(_needed(experiment, number, wanted) for number in range(len(experiment.settings)))
    if needed > MOST:
        raise InputError(
            f"`run.precision` of {study.run.precision:g} points takes about {needed:,} trials; "
            f"the limit is {MOST:,}: ask for less precision, or take more targets"
        )
    observer.note(f"{needed:,} trials for limits within {study.run.precision:g} points")
    attacks = tuple(
        (name, attack, min(study.attacks[name].trials or needed, needed))
        for name, attack, _ in experiment.attacks
    )
    return replace(experiment, trials=needed, attacks=attacks)


def _needed(experiment: Experiment, number: int, wanted: float) -> int:
    """Plan for the attack, or ceiling, whose share varies most at one setting."""
    entropy = int(child(experiment.entropy, PILOT).integers(2**63))
    attacks = tuple((name, attack, PILOT_TRIALS) for name, attack, _ in experiment.attacks)
    pilot = replace(experiment, entropy=entropy, attacks=attacks)
    played = [pilot.play(f"{t}/{number}") for t in range(PILOT_TRIALS)]
    found = 1
    for name, _, _ in attacks:
        shares = np.array([float(t[f"{name}/share"]) for t in played])
        mean = float(shares.mean())
        # ten releases may show less spread than there is: an upper part of what they show
        variance = 2 * float(shares.var(ddof=1))
        for room in (mean, 1 - mean):
            found = max(
                found,
                trials_for(
                    wanted,
                    variance,
                    room=max(room, 1e-9),
                    confidence=experiment.confidence,
                ),
            )
    return found
