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
from narcissus.game.executor import Serial
from narcissus.study.kinds import RunOptions
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.schema import TableStudy
from narcissus.study.table.streams import PILOT
from narcissus.study.table.training import trained
from narcissus.study.table.work import check

PILOT_TRIALS = 10
MOST = 1_000_000


def with_trials(experiment: Experiment, study: TableStudy, options: RunOptions) -> Experiment:
    """Give the experiment with as many trials as the study's precision takes.

    Raises
    ------
    InputError
        More than a million trials would be needed.
    LongWorkError
        The pilot alone takes longer than was agreed to.
    """
    if study.run.precision is None:
        return experiment
    observer = options.observer
    pilot = trained(_pilot(experiment), options.observer)
    check(pilot, pilot.keys(), executor=Serial(), hours=options.hours, observer=observer)
    observer.note(f"a pilot of {PILOT_TRIALS} releases, to see how many the precision takes")
    wanted = study.run.precision / 100
    needed = max(_needed(pilot, number, wanted) for number in range(len(pilot.settings)))
    if needed > MOST:
        raise InputError(
            f"`run.precision` of {study.run.precision:g} points takes about {needed:,} trials; "
            f"the limit is {MOST:,}: ask for less precision, or take more targets"
        )
    observer.note(f"{needed:,} trials for limits within {study.run.precision:g} points")
    attacks = tuple(
        (name, attack, min(_asked(study, name) or needed, needed))
        for name, attack, _ in experiment.attacks
    )
    return replace(experiment, trials=needed, attacks=attacks)


def _asked(study: TableStudy, name: str) -> int | None:
    """Give the trials that the study asks of an attack, if it names it."""
    return study.attacks[name].also["trials"] if name in study.attacks else None


def _pilot(experiment: Experiment) -> Experiment:
    """Give the experiment with few trials, of other people, noise and chance."""
    return replace(
        experiment,
        trials=PILOT_TRIALS,
        attacks=tuple((name, attack, PILOT_TRIALS) for name, attack, _ in experiment.attacks),
        entropy=int(child(experiment.entropy, PILOT).integers(2**63)),
    )


def _needed(pilot: Experiment, number: int, wanted: float) -> int:
    """Plan for the attack, or ceiling, whose share varies most at one setting."""
    played = [pilot.play(f"{t}/{number}") for t in range(PILOT_TRIALS)]
    found = 1
    for name, _, _ in pilot.attacks:
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
                    confidence=pilot.confidence,
                ),
            )
    return found
