"""A table study made ready to play: the people, the settings of the sweep, the attacks.

An `Experiment` is all that a worker process needs. Trial ``t`` of setting ``s`` draws its people
and the shape of its noise from ``t`` alone, so that the settings of a sweep see the same people
and curves are smooth; attacks have generators of their own.
"""

from __future__ import annotations

import traceback
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.attacks.table import (
    Attack,
    Ceiling,
    Targets,
    View,
)
from narcissus.errors import InputError, NarcissusError
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP
from narcissus.mechanisms import (
    MarginalQueries,
    NoisyMarginals,
)
from narcissus.priors import (
    RecordPrior,
)
from narcissus.study.table import proofs
from narcissus.study.table.groups import Groups
from narcissus.study.table.settings import Setting
from narcissus.success import ColumnsRight
from narcissus.tables import Table

PEOPLE, NOISE, ATTACK = 0, 1, 2  # first parts of the keys of generators


@dataclass(frozen=True)
class Experiment:
    """Everything that is fixed before the first trial."""

    table: Table
    prior: RecordPrior
    queries: MarginalQueries
    success: ColumnsRight
    settings: tuple[Setting, ...]
    attacks: tuple[tuple[str, Attack, int], ...]
    """Name, attack, number of trials that it takes part in."""
    targets: int
    real_rows: bool
    trials: int
    levels: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]
    """For each setting, the epsilon of the domination bound for each confidence level."""
    groups: Groups
    entropy: int

    def keys(self) -> list[str]:
        """Give the keys of all trials, the settings of one trial together."""
        return [f"{t}/{s}" for t in range(self.trials) for s in range(len(self.settings))]

    def people(self, trial: int) -> NDArray[np.int32]:
        """Draw the people of a trial, shape (n, d): all columns, secrets included."""
        rng = child(self.entropy, PEOPLE, trial)
        if self.real_rows:
            rows = rng.choice(self.table.rows, size=self.targets, replace=False)
            return self.table.codes[rows]
        return self.prior.sample(self.targets, rng=rng)

    def targets_of(self, people: NDArray[np.int32]) -> Targets:
        """Give the people as the attacker knows them beforehand."""
        known = people.copy()
        known[:, list(self.queries.unknown)] = 0
        beliefs = np.asarray(self.prior.conditional(known, self.queries.unknown), dtype=float)
        _check_beliefs(beliefs, len(people), self.queries.values)
        return Targets(self.queries, known, beliefs, self.success)

    def play(self, key: str) -> dict[str, NDArray[Any]]:
        """Play one trial: draw, release, attack, score on the true people and on fresh ones."""
        trial, number = (int(part) for part in key.split("/"))
        setting = self.settings[number]
        people = self.people(trial)
        targets = self.targets_of(people)
        secrets = self.queries.joint(people)
        mechanism = NoisyMarginals(self.queries, setting.noise)
        release = mechanism.release(people, rng=child(self.entropy, NOISE, trial))
        for shared in (targets.codes, targets.prior, release):
            shared.setflags(write=False)  # one attack must not change what the next one sees
        masks = self.groups.masks(people, targets, secrets).astype(np.float64)
        chances = self.success.chances(targets.prior)
        guess = chances.max(axis=1)
        guessed = self.success.score(secrets, chances.argmax(axis=1))
        found: dict[str, NDArray[Any]] = {
            "groups": masks.sum(axis=1),
            "guess": np.array([guess.sum(), (guess**2).sum()]),
            "group_guessed": masks @ guessed,
        }
        for name, attack, trials in self.attacks:
            if trial >= trials:
                continue
            view = View(targets, setting.noise, release, secrets if attack.informed else None)
            rng = child(self.entropy, ATTACK, trial, number, zlib.crc32(name.encode()))
            if isinstance(attack, Ceiling) and not self.real_rows:
                # Its posterior is exact, so the expected success of its decisions is known: the
                # same mean as counting hits, with less chance in it.
                beliefs = attack.beliefs(view, rng=rng)
                attempt = self.success.decide(beliefs)
                hoped = self.success.chances(beliefs)[np.arange(self.targets), attempt]
                found[f"{name}/expected"] = np.array(hoped.mean())
            else:
                attempt = self._guess(name, attack, view, rng)
            hits = self.success.score(secrets, attempt)
            fresh = chances[np.arange(self.targets), attempt]
            found[f"{name}/hits"] = np.array(int(hits.sum()))
            found[f"{name}/fresh"] = np.array(fresh.mean())
            found[f"{name}/columns"] = self.success.columns_right(secrets, attempt).mean(axis=0)
            found[f"{name}/columns_fresh"] = self.success.column_chances(
                targets.prior, attempt
            ).mean(axis=0)
            found[f"{name}/group_hits"] = masks @ hits
            found[f"{name}/group_fresh"] = masks @ fresh
        if setting.guarantee is not None:
            found["share"] = np.array(proofs.mean_share(targets, setting.guarantee))
            for place, point in enumerate(self.points[number]):
                found[f"tails/{place}"] = proofs.tail_table(targets, setting.guarantee, point)
            if setting.single is not None:
                found["share_single"] = np.array(proofs.mean_share(targets, setting.single))
                epsilon, delta = _point(setting.single)
                found["published"] = proofs.output_tail_table(guess, epsilon, self.targets * delta)
        return found

    def _guess(
        self, name: str, attack: Attack, view: View, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Let an attack guess; refuse guesses of a user's attack that are no guesses."""
        try:
            attempt: NDArray[Any] = np.asarray(attack.guess(view, rng=rng))
        except NarcissusError:
            raise
        except Exception as error:
            if type(attack).__module__.startswith("narcissus."):
                raise  # ours: an internal error
            raise InputError(f"attack `{name}` failed: {raised_where(error)}") from error
        good = (
            attempt.shape == (self.targets,)
            and np.issubdtype(attempt.dtype, np.integer)
            and attempt.min() >= 0
            and attempt.max() < self.success.guesses
        )
        if not good:
            raise InputError(
                f"attack `{name}` must give {self.targets} guesses in "
                f"[0, {self.success.guesses}), as integers; got shape {attempt.shape}, "
                f"type {attempt.dtype} (`view.targets.success.guess_of` turns joint values of the "
                "unknown columns into guesses)"
            )
        return attempt.astype(np.int64)


def _point(single: Guarantee) -> tuple[float, float]:
    """Give (epsilon, delta) of a pure or approximate guarantee."""
    if isinstance(single, PureDP):
        return single.epsilon, 0.0
    assert isinstance(single, ApproximateDP)
    return single.epsilon, single.delta


def raised_where(error: Exception) -> str:
    """Say what a user's own code raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"


def _check_beliefs(beliefs: NDArray[np.float64], people: int, values: int) -> None:
    """Refuse conditional probabilities of a user's prior that are none."""
    if beliefs.shape != (people, values):
        raise InputError(
            f"the prior's `conditional` must give shape ({people}, {values}), got {beliefs.shape}"
        )
    sums = beliefs.sum(axis=1)
    if not (beliefs >= 0).all() or np.abs(sums - 1).max() > 1e-6:
        raise InputError(
            "the prior's `conditional` must give probabilities whose rows sum to 1, got sums "
            f"from {sums.min():.6g} to {sums.max():.6g}"
        )
