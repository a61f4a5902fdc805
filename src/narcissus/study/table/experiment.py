"""A table study made ready to play: the people, the settings of the sweep, the attacks.

An `Experiment` is all that a worker process needs. Trial ``t`` of setting ``s`` draws its people
and the shape of its noise from ``t`` alone, so that the settings of a sweep see the same people
and curves are smooth; attacks have generators of their own.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.attacks.table import (
    Attack,
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
from narcissus.study.plugins import raised_where
from narcissus.study.table import proofs
from narcissus.study.table.groups import Groups
from narcissus.study.table.round import Round
from narcissus.study.table.settings import Setting
from narcissus.success import ColumnsRight
from narcissus.tables import Table

PEOPLE, NOISE, ATTACK, DECOY, PILOT = 0, 1, 2, 3, 4  # first parts of the keys of generators


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
    confidence: float = 0.95
    """Level of the sampled limits."""

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

    @property
    def prior_is_exact(self) -> bool:
        """Whether the people are drawn from a prior of ours: then it is right about them."""
        return not self.real_rows and type(self.prior).__module__.startswith("narcissus.")

    @property
    def takes_as_given(self) -> tuple[str, ...]:
        """What baselines, ceiling and bounds assume besides the guarantee and the game."""
        if self.real_rows:
            return ("the fitted prior is right about these real people",)
        if not self.prior_is_exact:
            return ("the own prior's people follow the probabilities that it gives for them",)
        return ()

    def play(self, key: str) -> dict[str, NDArray[Any]]:
        """Play one trial: draw, release, attack, score on the true people and on fresh ones."""
        trial, number = (int(part) for part in key.split("/"))
        setting = self.settings[number]
        people = self.people(trial)
        targets = self.targets_of(people)
        release = self._release(setting, people, child(self.entropy, NOISE, trial))
        round_ = Round.of(self, targets, people, release, setting)
        found = round_.without_release()
        for name, attack, trials in self.attacks:
            if trial >= trials:
                continue
            rng = child(self.entropy, ATTACK, trial, number, zlib.crc32(name.encode()))
            attempt = self._attempt(name, attack, round_, rng)
            found |= round_.scores(name, attempt)
        if not self.prior_is_exact:
            found |= self._decoys(trial, number, round_)
        if setting.guarantee is not None:
            found |= self._proved(number, round_)
        return found

    def _release(
        self, setting: Setting, people: NDArray[np.int32], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Release the people's tables; no attack may change what the next one sees."""
        release = NoisyMarginals(self.queries, setting.noise).release(people, rng=rng)
        release.setflags(write=False)
        return release

    def _attempt(
        self, name: str, attack: Attack, round_: Round, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Let one attack guess."""
        if attack.informed and round_.exact is not None:
            return round_.exact.argmax(axis=1)  # its decision, from the posterior at hand
        secrets = round_.secrets if attack.informed else None
        view = View(round_.targets, round_.setting.noise, round_.release, secrets)
        return self._guess(name, attack, view, rng)

    def _decoys(self, trial: int, number: int, round_: Round) -> dict[str, NDArray[Any]]:
        """Show every attack a release of other secrets, and score it on the true ones.

        The decoy's secrets are drawn from the prior given the same known columns, so it tells
        nothing about the true ones: what an attack recovers here it owes to what it knows, and
        not to the release. If the prior is right, that is what the prior says of its attempts.
        """
        targets = round_.targets
        rng = child(self.entropy, DECOY, trial)
        edges = np.cumsum(targets.prior, axis=1)
        drawn = (rng.random(targets.people)[:, None] * edges[:, -1:] >= edges).sum(axis=1)
        drawn = np.minimum(drawn, self.queries.values - 1)
        people = targets.codes.copy()
        people[:, list(self.queries.unknown)] = self.queries.split(drawn)
        setting = self.settings[number]
        release = self._release(setting, people, child(self.entropy, DECOY, trial, 0))
        found: dict[str, NDArray[Any]] = {}
        for name, attack, trials in self.attacks:
            if trial >= trials or attack.informed:
                continue
            key = zlib.crc32(name.encode())
            view = View(targets, setting.noise, release)
            rng = child(self.entropy, DECOY, trial, 1, number, key)
            attempt = self._guess(name, attack, view, rng)
            hits = self.success.score(round_.secrets, attempt)
            found[f"{name}/decoy"] = np.array([hits.mean(), round_.chance_of(attempt).mean()])
        return found

    def _proved(self, number: int, round_: Round) -> dict[str, NDArray[Any]]:
        """Give what is proved about these people, as sums from which averages can be limited."""
        setting, targets = self.settings[number], round_.targets
        assert setting.guarantee is not None
        guess = proofs.best_chances(targets)
        shares = proofs.shares(targets, setting.guarantee)
        moments = np.stack([shares, shares**2, guess, guess**2, shares * guess], axis=1)
        found: dict[str, NDArray[Any]] = {
            "bound": moments.sum(axis=0),
            "group_bound": round_.masks @ moments,
        }
        for place, point in enumerate(self.points[number]):
            found[f"tails/{place}"] = proofs.tail_table(targets, setting.guarantee, point)
            delta = float(setting.guarantee.profile(point))
            o, theta = proofs.single_success(targets, point, delta)
            found[f"single/{place}"] = np.array(
                [o.sum(), (o**2).sum(), theta.sum(), (theta**2).sum()]
            )
        if setting.single is not None:
            found["share_single"] = np.array(proofs.shares(targets, setting.single).mean())
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
