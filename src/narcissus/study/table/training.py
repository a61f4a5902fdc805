"""Training of attacks on simulated releases before anything is played.

The people of a simulated release are drawn from the prior, which the attacker is assumed to know,
also if the people played are real rows: nothing that is scored is ever learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from narcissus.attacks.table import TableAttack
from narcissus.attacks.table.base import Simulated, Trainable
from narcissus.game.executor import Executor, Serial, soon
from narcissus.observer import Observer
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.streams import TrialStreams
from narcissus.worlds import People


def trained(
    experiment: Experiment, observer: Observer, executor: Executor | None = None
) -> Experiment:
    """Train the attacks that learn, for each setting; others stay as they are.

    ``executor`` makes the simulated releases if that takes long; None is this process.
    """
    learning = learners(experiment)
    if not learning:
        return experiment
    count = experiment.training * len(experiment.settings)
    observer.note(f"{count} simulated releases, from which {', '.join(learning)} learn")
    keys = [f"{r}/{s}" for s in range(len(experiment.settings)) for r in range(experiment.training)]
    releases = list(soon(executor or Serial(), _Releaser(experiment), keys, observer))
    found: list[dict[str, TableAttack]] = []
    for place in range(len(experiment.settings)):
        here = releases[place * experiment.training : (place + 1) * experiment.training]
        simulated = list(simulations(experiment, place, here))
        sources = TrialStreams(experiment.entropy).training(0, place)
        found.append({n: a.train(simulated, sources.attack(0, n)) for n, a in learning.items()})
    return replace(experiment, trained=tuple(found))


def learners(experiment: Experiment) -> dict[str, Trainable]:
    """Return the attacks that learn something from releases, by name."""
    kind = experiment.settings[0].mechanism.releases
    return {
        name: attack
        for name, attack, _ in experiment.attacks
        if isinstance(attack, Trainable) and any(issubclass(kind, k) for k in attack.learns_from)
    }


def simulations(
    experiment: Experiment, place: int, releases: Iterable[Any] | None = None
) -> Iterator[Simulated]:
    """Yield each simulated release of a setting with the prior knowledge of its people.

    ``releases`` are those that others made; None makes them here.
    """
    if releases is None:
        keys = (f"{number}/{place}" for number in range(experiment.training))
        releases = map(_Releaser(experiment), keys)
    world = People(experiment.prior, experiment.targets)
    side = experiment.side
    for number, release in enumerate(releases):
        sources = TrialStreams(experiment.entropy).training(number, place)
        draw = world.draw(1, sources.world)
        [targets] = cast("list[Any]", side.reveal(world, draw, sources.world))
        yield Simulated(targets, release, targets.secrets(np.asarray(draw.data[0])))


@dataclass(frozen=True)
class _Releaser:
    experiment: Experiment

    def __call__(self, key: str) -> Any:
        number, place = map(int, key.split("/"))
        sources = TrialStreams(self.experiment.entropy).training(number, place)
        world = People(self.experiment.prior, self.experiment.targets)
        codes = np.asarray(world.draw(1, sources.world).data)
        [release] = self.experiment.settings[place].mechanism.release(codes, sources.release)
        return release
