"""What the attacks of a study recover from a release that was really made, about real people.

Nothing of it is sampled: these are counts of what is right about the people of the table. Beside
it stands what the same attacks recover of the same people from a decoy: a release of other
secrets, drawn from the prior, by the same mechanism.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.attacks.base import Answers
from narcissus.attacks.table import Targets
from narcissus.game.executor import Executor, in_order, soon
from narcissus.knowledge import FactoredTargets
from narcissus.observer import Observer
from narcissus.study.engines.holder import split_if_few
from narcissus.study.results.table_attacks import CountedAttack, OwnRelease
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.streams import OWN
from narcissus.success.table import Scores
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw


def attack_own_release(
    experiment: Experiment,
    release: Any,
    executor: Executor,
    *,
    path: str,
    digest: str,
    observer: Observer,
) -> OwnRelease:
    """Attack a release about all people of the table with every attack that anyone could run.

    Parameters
    ----------
    experiment
        The study, with one setting; its attacks have learned.
    release
        What was made.
    executor
        Who attacks it, where that takes long.
    path, digest
        Where it was, and the SHA-256 of the file.
    observer
        Hears that it is attacked.
    """
    observer.note(f"attacking {path}")
    table, entropy = experiment.table, experiment.entropy
    codes = table.codes
    world = RealRows(codes, table.rows)
    side: Any = experiment.side
    draw = Draw(codes[None])
    [targets] = side.reveal(world, draw, child(entropy, OWN, 0))
    secrets = targets.secrets(codes)
    other = side.fresh(world, draw, [targets], child(entropy, OWN, 1))
    mechanism = experiment.settings[0].mechanism
    [decoy] = mechanism.release(np.asarray(other), child(entropy, OWN, 2))
    success = targets.success
    guess = success.score(secrets, targets.best_guess)
    names = [n for n, one in experiment.attacks_at(0).items() if not one.informed]
    keys = [f"{place}/{name}" for name in names for place in (0, 1)]
    job = _Attacker(experiment, (release, decoy), targets, secrets)
    who = executor
    if isinstance(targets, Targets):
        who = split_if_few(executor, keys, targets.people, targets.queries.values)
    how = soon if who is executor else in_order  # what is split takes long enough
    hits = list(how(who, job, keys, observer))
    found = {
        name: CountedAttack(recovered=hits[2 * number], from_decoy=hits[2 * number + 1])
        for number, name in enumerate(names)
    }
    return OwnRelease(
        path=path,
        digest=digest,
        people=table.rows,
        guessed=_worth(guess),
        by_the_prior=expected(targets),
        attacks=found,
    )


@dataclass(frozen=True)
class _Attacker:
    """Lets an attack try on the release, or on the decoy, and counts what is right."""

    experiment: Experiment
    shown: tuple[Any, Any]
    """The release and the decoy."""
    targets: Targets | FactoredTargets
    secrets: NDArray[np.integer]

    def __call__(self, key: str) -> int | float:
        place, _, name = key.partition("/")
        rng = child(self.experiment.entropy, OWN, 3 + int(place), zlib.crc32(name.encode()))
        attack: Any = self.experiment.attacks_at(0)[name]
        said = attack.attempt([self.shown[int(place)]], [self.targets], rng)
        [attempt] = said.values if isinstance(said, Answers) else said
        return _worth(self.targets.success.score(self.secrets, attempt))


def _worth(scores: Scores) -> int | float:
    """Count what is right; where each column counts by itself, add up the shares."""
    return int(scores.sum()) if scores.dtype == np.bool_ else float(scores.sum())


def expected(targets: Targets | FactoredTargets) -> float:
    """Give how many the best guess without the release should get right, if the prior is right."""
    return float(targets.best_chance.sum())
