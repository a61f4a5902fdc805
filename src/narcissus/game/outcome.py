"""The results of a run of a game: scores, limits of rates and of the gain, remarks."""

from __future__ import annotations

import json
import math
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.base import Failure, Transcript
from narcissus.evidence import anytime_limits, clopper_pearson, mean_limits
from narcissus.game.block import Arrays, Round
from narcissus.game.scoring import weight
from narcissus.results import Estimate
from narcissus.success.statements import Scores


@dataclass(frozen=True)
class Attacked:
    """The results of one attacker.

    Each limit of ``success`` and ``baseline`` is at half of what the confidence leaves, shared
    among the attackers and, for a family, among the distributions: all of these limits hold at
    once.
    """

    name: str
    success: Estimate
    baseline: Estimate  # success of the same attempts against fresh data
    scores: Scores  # of every trial
    failed: int  # how often the attacker raised an error
    failures: list[Failure]  # the first of those
    # of the first conversations; empty for a mechanism without any
    transcripts: list[Transcript] = field(default_factory=list[Transcript])

    @property
    def attempts(self) -> int:
        """Number of trials in which an attempt was made."""
        return int(_made(self.scores).sum())


@dataclass(frozen=True)
class Play:
    """A run of a game.

    Attributes
    ----------
    outcome
        "violates", or "no violation found": no run shows that a mechanism is resilient.
    statement
        The statement tested.
    confidence
        Of "violates": a resilient mechanism is called that with chance at most
        ``1 - confidence``, however often one looks.
    trials
        Trials played.
    decided
        Trial at which the violation was certain; None if it never was.
    capital
        Log of the largest capital of the gambler against the statement.
    refuted
        Largest epsilon refuted at the statement's delta, by all attackers together; None if none
        is, or the statement has no such epsilon. For a violated statement at least its epsilon,
        since with it every smaller one falls. Holds at the confidence singly, not jointly with the
        outcome.
    attackers
        One entry for each attacker.
    entropy
        The seed of the run.
    remarks
        Remarks for a reader.
    member
        The distribution of a family that the numbers are about: the violated one, or the one with
        the strongest evidence against it; empty where there is one distribution only.
    members
        Number of distributions judged. The limits of rates hold for all of them at once, so
        they hold for the one that is named.
    decides
        The attacker with the strongest evidence against the statement: the one that decides
        where it is violated.
    """

    outcome: Literal["violates", "no violation found"]
    statement: Any
    confidence: float
    trials: int
    decided: int | None
    capital: float
    refuted: float | None
    attackers: list[Attacked]
    entropy: int
    remarks: list[str] = field(default_factory=list)
    member: str = ""
    members: int = 1
    decides: str = ""

    def __repr__(self) -> str:
        return f"Play({self.outcome!r}, trials={self.trials}, refuted={self.refuted})"

    def __str__(self) -> str:
        lines = [f"{self.outcome} ({self.statement.words()}; confidence {self.confidence:g})"]
        if self.member:
            lines.append(f"of {self.members} distributions, the numbers are those of {self.member}")
        for one in self.attackers:
            lines += [f"{one.name}: {one.success}", f"{one.name}: {one.baseline}"]
        return "\n".join([*lines, *self.remarks])


@dataclass(frozen=True)
class BlockScores:
    """The scores of one block of trials, for one attacker."""

    scores: Scores
    failed: int
    failures: list[Failure]
    transcripts: list[Transcript] = field(default_factory=list[Transcript])

    def moved(self, start: int) -> BlockScores:
        """Renumber the trials of failures from the start of the run."""
        moved = [Failure(f.trial + start, f.seed, f.error) for f in self.failures]
        return replace(self, failures=moved)


def packed(played: Round) -> Arrays:
    """Return the scores of the attacks, in their order, as plain arrays: what `play` keeps."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for place, turn in enumerate(played.turns.values()):
        failures = json.dumps([astuple(failure) for failure in turn.attempts.failures[:20]])
        arrays |= {
            f"{place}/success": turn.success,
            f"{place}/baseline": turn.baseline,
            f"{place}/fresh": np.array(turn.fresh),
            f"{place}/weight": weight(played.seat.game, turn.attempts),
            f"{place}/made": turn.attempts.made,
            f"{place}/failed": np.array(len(turn.attempts.failures)),
            f"{place}/failures": np.frombuffer(failures.encode(), dtype=np.uint8),
        }
        if turn.attempts.transcripts:
            said = json.dumps([astuple(one) for one in turn.attempts.transcripts])
            arrays[f"{place}/transcripts"] = np.frombuffer(said.encode(), dtype=np.uint8)
    return arrays


def unpacked(arrays: Arrays, place: int) -> BlockScores:
    """Restore the block of one attacker."""
    got: dict[str, Any] = {
        name: arrays[f"{place}/{name}"]
        for name in ("success", "baseline", "fresh", "weight", "made", "failed", "failures")
    }
    scores = Scores(got["success"], got["baseline"], int(got["fresh"]), got["weight"], got["made"])
    failures = [Failure(*entry) for entry in json.loads(got["failures"].tobytes())]
    said = arrays.get(f"{place}/transcripts")
    return BlockScores(scores, int(got["failed"]), failures, [] if said is None else _heard(said))


def _heard(said: NDArray[Any]) -> list[Transcript]:
    """Restore packed transcripts."""
    return [
        Transcript(trial, greeting, tuple((q, a) for q, a in exchanges), questions, attempt)
        for trial, greeting, exchanges, questions, attempt in json.loads(said.tobytes())
    ]


def summary(name: str, blocks: list[BlockScores], level: float, *, stopped: bool) -> Attacked:
    """Combine the blocks of one attacker; ``stopped`` requires limits that allow stopping."""
    scores = Scores(
        np.concatenate([block.scores.success for block in blocks]),
        np.concatenate([block.scores.baseline for block in blocks]),
        blocks[0].scores.fresh,
        np.concatenate([block.scores.weight for block in blocks]),
        np.concatenate([_made(block.scores) for block in blocks]),
    )
    # Half of the error for each of the two rates.
    half = 1 - (1 - level) / 2
    won, lost = "success of the attempt", "success of the same attempt against fresh data"
    if stopped:  # the number of trials may depend on what was seen
        success = anytime_limits(scores.success.astype(np.float64), confidence=half, quantity=won)
        baseline = anytime_limits(scores.baseline, confidence=half, quantity=lost)
    else:
        count = len(scores.success)
        success = clopper_pearson(int(scores.success.sum()), count, confidence=half, quantity=won)
        baseline = (
            clopper_pearson(
                round(float(scores.baseline.sum())), count, confidence=half, quantity=lost
            )
            if scores.fresh == 1
            else mean_limits(scores.baseline, confidence=half, quantity=lost)
        )
    failures = [failure for block in blocks for failure in block.failures]
    failed = sum(block.failed for block in blocks)
    said = blocks[0].transcripts
    return Attacked(name, success, baseline, scores, failed, failures[:20], said)


def _made(scores: Scores) -> NDArray[np.bool_]:
    return np.ones(len(scores.success), dtype=bool) if scores.made is None else scores.made


def remarks(attackers: list[Attacked]) -> list[str]:
    said: list[str] = []
    for one in attackers:
        if one.failed:
            first = one.failures[0]
            said.append(
                f"the attack {one.name} failed on {one.failed} of {one.success.trials} trials, "
                f"which count as failures; first on trial {first.trial} with seed {first.seed}: "
                f"{first.error}"
            )
    silent = [one.name for one in attackers if not one.attempts]
    if silent:
        said.append(f"{', '.join(silent)} made no attempt in any trial")
    elif all(not one.scores.success.any() and not one.scores.baseline.any() for one in attackers):
        said.append(
            "the relation never held, neither for the data nor for fresh data: make sure that "
            "some attempt can satisfy it"
        )
    return said


_LARGEST = 1e5


def gap_limits(
    scores: Scores, epsilon: float, *, confidence: float, stopped: bool
) -> Estimate | None:
    """Estimate ``success - e^epsilon baseline`` of an attacker, from the scores of all its trials.

    Both limits hold together at the level ``confidence``; ``stopped`` means that the number of
    trials may depend on the scores. None for an epsilon so large that limits on a scale of ``1 +
    e^epsilon`` are void.
    """
    factor = math.exp(min(epsilon, 700.0))
    if factor > _LARGEST:
        return None
    gain = scores.success - factor * scores.baseline
    scaled = np.clip((gain + factor) / (1 + factor), 0.0, 1.0)
    limits = (anytime_limits if stopped else mean_limits)(scaled, confidence=confidence)
    assert limits.low is not None
    assert limits.high is not None
    return Estimate(
        float(gain.mean()),
        limits.low * (1 + factor) - factor,
        limits.high * (1 + factor) - factor,
        confidence,
        len(gain),
        quantity=f"success less e^{epsilon:g} times the own baseline",
        method=limits.method,
    )
