"""What the attacks of a study recover from a release that was really made, about real people.

Nothing of it is sampled: these are counts of what is right about the people of the table. Beside
it stands what the same attacks recover of the same people from a decoy: a release of other
secrets, drawn from the prior, by the same mechanism.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from narcissus._random import child
from narcissus.attacks.base import Answers
from narcissus.attacks.table import Targets
from narcissus.knowledge import FactoredTargets
from narcissus.observer import Observer
from narcissus.study.results.table import CountedAttack, OwnRelease
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.streams import OWN
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw


def attack_own_release(
    experiment: Experiment, release: Any, *, path: str, digest: str, observer: Observer
) -> OwnRelease:
    """Attack a release about all people of the table with every attack that anyone could run.

    Parameters
    ----------
    experiment
        The study, with one setting; its attacks have learned.
    release
        What was made.
    path, digest
        Where it was, and the SHA-256 of the file.
    observer
        Hears that it is attacked.
    """
    observer.note(f"attacking {path}")
    table, entropy = experiment.table, experiment.entropy
    world = RealRows(table.codes, table.rows)
    side: Any = experiment.side
    draw = Draw(table.codes[None])
    [targets] = side.reveal(world, draw, child(entropy, OWN, 0))
    secrets = targets.secrets(table.codes)
    other = side.fresh(world, draw, [targets], child(entropy, OWN, 1))
    mechanism = experiment.settings[0].mechanism
    [decoy] = mechanism.release(np.asarray(other), child(entropy, OWN, 2))
    success = targets.success
    guess = success.score(secrets, targets.best_guess)
    found: dict[str, CountedAttack] = {}
    for name, attack in experiment.attacks_at(0).items():
        if attack.informed:
            continue
        key = zlib.crc32(name.encode())

        def hits(shown: Any, place: int, attack: Any = attack, key: int = key) -> int:
            rng = child(entropy, OWN, 3 + place, key)
            said = attack.attempt([shown], [targets], rng)
            [attempt] = said.values if isinstance(said, Answers) else said
            return int(success.score(secrets, attempt).sum())

        found[name] = CountedAttack(recovered=hits(release, 0), from_decoy=hits(decoy, 1))
    return OwnRelease(
        path=path,
        digest=digest,
        people=table.rows,
        guessed=int(guess.sum()),
        by_the_prior=expected(targets),
        attacks=found,
    )


def expected(targets: Targets | FactoredTargets) -> float:
    """Give how many the best guess without the release should get right, if the prior is right."""
    return float(targets.best_chance.sum())
