"""Attacks learn from simulated releases before anything is played.

The people of a simulated release are drawn from the prior, which the attacker is assumed to know,
also where the people played are real rows: nothing that is scored is ever learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from narcissus.attacks.table import TableAttack
from narcissus.attacks.table.training import Simulated, Trainable
from narcissus.knowledge import OtherColumns
from narcissus.observer import Observer
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.streams import TrialStreams
from narcissus.worlds import People


def trained(experiment: Experiment, observer: Observer) -> Experiment:
    """Let the attacks that learn do so, for each setting; others stay as they are.

    Parameters
    ----------
    experiment
        The study, ready to be played.
    observer
        Hears that simulated releases are made.
    """
    learning = learners(experiment)
    if not learning:
        return experiment
    count = experiment.training * len(experiment.settings)
    observer.note(f"{count} simulated releases, from which {', '.join(learning)} learn")
    found: list[dict[str, TableAttack]] = []
    for place in range(len(experiment.settings)):
        simulated = list(simulations(experiment, place))
        sources = TrialStreams(experiment.entropy).training(0, place)
        found.append({n: a.train(simulated, sources.attack(0, n)) for n, a in learning.items()})
    return replace(experiment, trained=tuple(found))


def learners(experiment: Experiment) -> dict[str, Trainable]:
    """Give the attacks that learn something from what is released, by name."""
    kind = experiment.settings[0].mechanism.releases
    return {
        name: attack
        for name, attack, _ in experiment.attacks
        if isinstance(attack, Trainable) and any(issubclass(kind, k) for k in attack.learns_from)
    }


def simulations(experiment: Experiment, place: int) -> Iterator[Simulated]:
    """Make the simulated releases of a setting."""
    world = People(experiment.prior, experiment.targets)
    side = OtherColumns(experiment.prior, experiment.queries, experiment.success)
    mechanism = experiment.settings[place].mechanism
    for number in range(experiment.training):
        sources = TrialStreams(experiment.entropy).training(number, place)
        draw = world.draw(1, sources.world)
        [targets] = side.reveal(world, draw, sources.world)
        [release] = mechanism.release(np.asarray(draw.data), sources.release)
        yield Simulated(targets, release, experiment.queries.joint(draw.data[0]))
