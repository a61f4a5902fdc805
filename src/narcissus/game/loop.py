"""A game against a statement, block by block, until the statement falls or trials run out.

Trials are played in blocks (`narcissus.game.block`) whose size and random numbers depend on the
game and the seed alone, so that they may be played anywhere, and stored. Evidence is weighed in
order.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, child, entropy_of
from narcissus._validation import fraction, integer
from narcissus.attacks.base import Failure, Preparable, Transcript
from narcissus.errors import InputError
from narcissus.evidence import anytime_limits, clopper_pearson, mean_limits
from narcissus.evidence.betting import log_mean
from narcissus.game.block import (
    Arrays,
    Measure,
    PlayedBlock,
    Scenario,
    Sources,
    Streams,
    guarded,
    play_block,
    weight,
)
from narcissus.game.looks import LookPlan, PlannedLook, most_needed, rounded_trials
from narcissus.game.rules import Game, is_own
from narcissus.mechanisms.base import is_interactive
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate
from narcissus.success.relations.base import ManyTargets
from narcissus.success.statements import (
    Evidence,
    Resilience,
    Scores,
    Statement,
    largest_refuted,
    prepared,
)


@dataclass(frozen=True)
class Attacked:
    """The results of one attacker; the limits of all attackers and distributions hold jointly."""

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
    """A run of a game."""

    outcome: Literal["violates", "no violation found"]  # no run shows that a mechanism is resilient
    statement: Statement
    # a resilient mechanism is found to violate with chance at most 1 - this, whenever one looks
    confidence: float
    trials: int  # played
    decided: int | None  # trial at which the violation was certain; None if it never was
    capital: float  # log of the largest capital of the gambler against the statement
    # largest epsilon refuted at the statement's delta, by all attackers together, at the confidence
    # singly; for a violated statement at least its epsilon, since every smaller one falls with it
    refuted: float | None
    attackers: list[Attacked]
    entropy: int  # seed of the run
    remarks: list[str] = field(default_factory=list)
    # the distribution of a family that the numbers are about: the violated one, or the one with the
    # strongest evidence against it; empty where there is one only
    member: str = ""
    members: int = 1  # distributions judged; limits of rates hold for all of them at once
    decides: str = ""  # the attacker with the strongest evidence against the statement
    ended: str = ""  # why a run ended that plays until it is decided, see `Until`
    look: int = 0  # the look at which that was, from 1

    def __repr__(self) -> str:
        return f"Play({self.outcome!r}, trials={self.trials}, refuted={self.refuted})"

    def __str__(self) -> str:
        lines = [f"{self.outcome} ({self.statement.words()}; confidence {self.confidence:g})"]
        if self.member:
            lines.append(f"of {self.members} distributions, the numbers are those of {self.member}")
        for attacker in self.attackers:
            lines += [
                f"{attacker.name}: {attacker.success}",
                f"{attacker.name}: {attacker.baseline}",
            ]
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


def packed(played: PlayedBlock) -> Arrays:
    """Return the scores of the attacks, in their order, as plain arrays: what `play` keeps."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for place, outcome in enumerate(played.outcomes.values()):
        failures = json.dumps([astuple(failure) for failure in outcome.attempts.failures[:20]])
        arrays |= {
            f"{place}/success": outcome.success,
            f"{place}/baseline": outcome.baseline,
            f"{place}/fresh": np.array(outcome.fresh),
            f"{place}/weight": weight(played.scenario.game, outcome.attempts),
            f"{place}/made": outcome.attempts.made,
            f"{place}/failed": np.array(len(outcome.attempts.failures)),
            f"{place}/failures": np.frombuffer(failures.encode(), dtype=np.uint8),
        }
        if outcome.attempts.transcripts:
            text = json.dumps([astuple(transcript) for transcript in outcome.attempts.transcripts])
            arrays[f"{place}/transcripts"] = np.frombuffer(text.encode(), dtype=np.uint8)
    return arrays


def unpacked(arrays: Arrays, place: int) -> BlockScores:
    """Restore the block of one attacker."""
    fields: dict[str, Any] = {
        name: arrays[f"{place}/{name}"]
        for name in ("success", "baseline", "fresh", "weight", "made", "failed", "failures")
    }
    scores = Scores(
        fields["success"],
        fields["baseline"],
        int(fields["fresh"]),
        fields["weight"],
        fields["made"],
    )
    failures = [Failure(*entry) for entry in json.loads(fields["failures"].tobytes())]
    stored_text = arrays.get(f"{place}/transcripts")
    transcripts = [
        Transcript(trial, greeting, tuple((q, a) for q, a in exchanges), questions, attempt)
        for trial, greeting, exchanges, questions, attempt in json.loads(
            "[]" if stored_text is None else stored_text.tobytes()
        )
    ]
    return BlockScores(scores, int(fields["failed"]), failures, transcripts)


def summary(name: str, blocks: list[BlockScores], level: float, *, stopped: bool) -> Attacked:
    """Combine the blocks of one attacker; ``stopped`` requires limits that allow stopping."""
    scores = joined(blocks)
    # half of the error for each of the two rates
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
    transcripts = blocks[0].transcripts
    return Attacked(name, success, baseline, scores, failed, failures[:20], transcripts)


def joined(blocks: list[BlockScores]) -> Scores:
    """Return the scores of all trials, in order."""
    return Scores(
        np.concatenate([block.scores.success for block in blocks]),
        np.concatenate([block.scores.baseline for block in blocks]),
        blocks[0].scores.fresh,
        np.concatenate([block.scores.weight for block in blocks]),
        np.concatenate([_made(block.scores) for block in blocks]),
    )


def _made(scores: Scores) -> NDArray[np.bool_]:
    return np.ones(len(scores.success), dtype=bool) if scores.made is None else scores.made


def remarks(attackers: list[Attacked]) -> list[str]:
    lines: list[str] = []
    for attacker in attackers:
        if attacker.failed:
            first = attacker.failures[0]
            lines.append(
                f"the attack {attacker.name} failed on {attacker.failed} of "
                f"{attacker.success.trials} trials, which count as failures; first on trial "
                f"{first.trial} with seed {first.seed}: "
                f"{first.error}"
            )
    silent = [attacker.name for attacker in attackers if not attacker.attempts]
    if silent:
        lines.append(f"{', '.join(silent)} made no attempt in any trial")
    elif all(
        not attacker.scores.success.any() and not attacker.scores.baseline.any()
        for attacker in attackers
    ):
        lines.append(
            "the relation never held, for the data or for fresh data: make sure that "
            "some attempt can satisfy it"
        )
    return lines


def gap_limits(
    scores: Scores, epsilon: float, *, confidence: float, stopped: bool
) -> Estimate | None:
    """Estimate ``success - e^epsilon baseline`` of an attacker, from the scores of all its trials.

    ``stopped`` means that the number of trials may depend on the scores. None for an epsilon so
    large that limits on a scale of ``1 + e^epsilon`` are void.
    """
    factor = math.exp(min(epsilon, 700.0))
    if factor > 1e5:
        return None
    gain = scores.success - factor * scores.baseline
    scaled = np.clip((gain + factor) / (1 + factor), 0.0, 1.0)
    limits = (anytime_limits if stopped else mean_limits)(scaled, confidence=confidence)
    low, high = limits.ends
    return Estimate(
        float(gain.mean()),
        low * (1 + factor) - factor,
        high * (1 + factor) - factor,
        confidence,
        len(gain),
        quantity=f"success less e^{epsilon:g} times the own baseline",
        method=limits.method,
    )


_BLOCK_BYTES = 32_000_000
_FIRST_BLOCK, _LARGEST_BLOCK = 500, 10_000


def scenarios_of(game: Game, attacks: Mapping[str, Any] | Any) -> list[Scenario]:
    """Return each distribution of the world, with the attacks prepared for it."""
    named: dict[str, Any] = dict(attacks) if isinstance(attacks, Mapping) else {"attack": attacks}
    if not named:
        raise InputError("a game needs at least one attack to be played")
    scenarios = [
        Scenario(
            name,
            member,
            {
                title: attack.prepare(member) if isinstance(attack, Preparable) else attack
                for title, attack in named.items()
            },
        )
        for name, member in game.members().items()
    ]
    for scenario in scenarios:
        for title, attack in scenario.attacks.items():
            _fits(scenario.game.mechanism, title, attack)
    return scenarios


def _fits(mechanism: Any, title: str, attack: Any) -> None:
    """Refuse an attack that reads releases where the mechanism is interactive, and the contrary."""
    talks = is_interactive(mechanism)
    if not hasattr(attack, "converse" if talks else "attempt"):
        name, how = type(mechanism).__name__, type(attack).__name__
        raise InputError(
            f"the attack {title} reads a release, and the mechanism {name} is talked with: take an "
            f"attack that asks (`{how}` would need a method `converse(conversation, known, rng)`)"
            if talks
            else f"the attack {title} asks questions, and the mechanism {name} answers none: take "
            "a mechanism that is talked with, or an attack that reads releases"
        )


@dataclass(frozen=True)
class Planned:
    """A block to play; ``place`` is that of its scenario."""

    number: int
    size: int
    place: int
    several: bool  # scenarios

    @property
    def key(self) -> str:
        # The size stands in the key: a longer run may cut its last block elsewhere.
        return f"batch/{self.number}/{self.size}" + f"/{self.place}" * self.several


def plan(scenarios: Sequence[Scenario], trials: int) -> list[Planned]:
    """Share the trials among the scenarios, and take their blocks in turn."""
    shares = [max(1, (trials + place) // len(scenarios)) for place in range(len(scenarios))][::-1]
    blocks: list[Planned] = []
    for place, scenario in enumerate(scenarios):
        for number, size in enumerate(_sizes(scenario, shares[place])):
            blocks.append(Planned(number, size, place, len(scenarios) > 1))
    return sorted(blocks, key=lambda block: (block.number, block.place))


def plan_looks(
    scenarios: Sequence[Scenario], looks: Sequence[PlannedLook]
) -> Iterator[list[Planned]]:
    """Yield the blocks before each look; every scenario has played as many trials by then."""
    places = [
        (place, _largest(scenario), itertools.count()) for place, scenario in enumerate(scenarios)
    ]
    for done, count in itertools.pairwise([0, *(look.trials for look in looks)]):
        yield [
            Planned(next(number), min(limit, count - start), place, len(scenarios) > 1)
            for place, limit, number in places
            for start in range(done, count, limit)
        ]


def _sizes(scenario: Scenario, trials: int) -> Iterator[int]:
    """Yield block sizes; the first blocks are small, so that a plain violation is seen early."""
    block = _largest(scenario)
    done, now = 0, min(block, _FIRST_BLOCK)
    while done < trials:
        count = min(now, trials - done)
        yield count
        done += count
        now = min(block, now * 4)


def _largest(scenario: Scenario) -> int:
    """Return the block size such that a block's data are about 32 MB, on every machine."""
    game = scenario.game
    rng = np.random.default_rng(0)
    sample = guarded("world", game.world, lambda: game.world.draw(1, rng))
    entry = sample.data[0]
    size = entry.nbytes if isinstance(entry, np.ndarray | np.generic) else 1_000
    knowledge = None if game.side is None else game.side.reveal(game.world, sample, rng)
    # Both may be much larger than the data: a whole population.
    size += sum(part.nbytes for part in (sample.nature, knowledge) if isinstance(part, np.ndarray))
    block = max(1, min(_LARGEST_BLOCK, _BLOCK_BYTES // max(size, 1)))
    parts = [game.world, game.mechanism, game.relation, game.side, game.looser]
    if is_interactive(game.mechanism) or is_own([*parts, *scenario.attacks.values()]):
        # trials may take long, and an interrupted run loses the blocks in flight
        return min(block, _FIRST_BLOCK)
    return block


@dataclass(frozen=True)
class OneStream:
    """One generator for all of a block, and a separate one for each attack."""

    entropy: int
    alone: bool = True  # whether there is one scenario only; several have a seed each

    def __call__(self, number: int, place: int) -> Sources:
        entropy = self.entropy
        if not self.alone:
            entropy = int(child(entropy, 0, 0, place).integers(2**63))
        rng = child(entropy, 0, number)
        return Sources(rng, rng, lambda place, name: child(entropy, 1 + place, number))


@dataclass(frozen=True)
class BlockPlayer:
    """A player of blocks by key, ``batch/NUMBER/SIZE``, with ``/PLACE`` of several scenarios."""

    scenarios: Sequence[Scenario]
    streams: Streams
    fresh: int
    measure: Measure

    def __call__(self, key: str) -> Arrays:
        number, size, place, *_ = map(int, f"{key}/0".split("/")[1:])  # a missing place is 0
        scenario, streams = self.scenarios[place], self.streams
        return self.measure(
            play_block(scenario, number, place, size=size, streams=streams, fresh=self.fresh)
        )


class Tally:
    """Bets against the statement by all attacks of one scenario together."""

    def __init__(self, scenario: Scenario, claim: Statement, hurdle: float) -> None:
        self.scenario, self.claim, self.hurdle = scenario, claim, hurdle
        self.evidence = {name: Evidence(claim) for name in scenario.attacks}
        self.collected: dict[str, list[BlockScores]] = {name: [] for name in scenario.attacks}
        self.done = 0  # trials
        self.decided: int | None = None  # trial at which the capital reached the hurdle
        self.capital = -math.inf  # log of the largest
        self.decides = ""  # attack with the largest capital, at that trial or at the last one

    def add(self, size: int, arrays: Arrays) -> None:
        blocks = {name: unpacked(arrays, place) for place, name in enumerate(self.scenario.attacks)}
        paths = [self.evidence[name].update(block.scores) for name, block in blocks.items()]
        capital = log_mean(np.stack(paths))
        for name, block in blocks.items():
            self.collected[name].append(block.moved(self.done))
        self.capital = max(self.capital, float(capital.max()))
        if self.decided is None:
            last = len(capital) - 1
            if self.capital >= self.hurdle:
                last = int(np.argmax(capital >= self.hurdle))
                self.decided = self.done + last + 1
            # of attacks that say the same but for rounding, the first
            each = {name: round(float(p[last]), 6) for name, p in zip(blocks, paths, strict=True)}
            self.decides = max(each, key=lambda name: each[name])
        self.done += size


@dataclass(frozen=True, kw_only=True)
class Until(LookPlan):
    """When a run ends that has no fixed number of trials; its limits hold whenever that is.

    It ends at a look: refuted (``decided``), with each attacker's gain shown to be allowed
    (``below``), for want of time (``budget``), or at the last one (``most``).

    known: Whether the verdict is proved without play, so that the first look is the last.
    """

    known: bool = False

    def end(
        self, tallies: Sequence[Tally], level: float, look: int, seconds: float, observer: Observer
    ) -> str:
        """Return why the run ends at a look, from 1; empty where it goes on."""
        if self.known or any(tally.decided is not None for tally in tallies):
            return self.ending(look, seconds, "decided")
        claim = tallies[0].claim  # as far as limits go, each member of a family has the same
        share = (1 - level) / len(tallies[0].scenario.attacks) / len(tallies)
        gaps = [
            gap_limits(joined(blocks), claim.epsilon, confidence=1 - share, stopped=True)
            for tally in tallies
            if isinstance(claim, Resilience)
            for blocks in tally.collected.values()
        ]
        gains = [gap for gap in gaps if gap is not None]
        are_known = gains and len(gains) == len(gaps)
        is_below = are_known and max(g.ends[1] for g in gains) <= claim.delta
        if reason := self.ending(look, seconds, "below" if is_below else ""):
            return reason
        trials = most_needed(gains, claim.delta)
        remark = f", about {rounded_trials(trials):,} would do" if trials else ""
        observer.note(f"after {self.looks[look - 1].trials:,} trials not decided{remark}")
        return ""


Blocks = Generator[Arrays, None, None]
Through = Callable[[Callable[[str], Arrays], Sequence[str]], Blocks]


def in_turn(player: Callable[[str], Arrays], keys: Sequence[str]) -> Blocks:
    """Play one block after the other, in this process."""
    for key in keys:
        yield player(key)


def play(
    game: Game,
    attacks: Mapping[str, Any] | Any,
    statement: Statement | None = None,
    *,
    trials: int | Until = 10_000,
    fresh: int = 1,
    confidence: float = 0.95,
    stop: bool = True,
    rng: RandomSource = None,
    observer: Observer = SILENT,
    through: Through = in_turn,
) -> Play:
    """Play a game and weigh the evidence against a statement.

    game: Each member of a family is played and judged by itself, with attackers prepared for it;
        the level is shared among the members, and the result names one of them.
    attacks: One attacker, or several by name: their capital is averaged, which pays for trying
        several.
    statement: The statement to test; by default resilience at epsilon 0 and delta 0.
    trials: Most trials to play, shared evenly among the members of a family; or until when.
    fresh: Fresh data sets for each attempt, where the baseline has no formula.
    confidence: Level of "violates", and of all limits together.
    stop: End the run once the statement is refuted. The evidence is valid either way.
    rng: Seed; with it a run is repeated exactly.
    observer: Receives the progress.
    through: Plays blocks by their keys and yields them in the order of the keys: in worker
        processes, or out of a store. The numbers do not depend on it.
    """
    until = trials if isinstance(trials, Until) else None
    if not isinstance(trials, Until):
        integer("trials", trials, low=1)
    stop = stop or until is not None
    integer("fresh", fresh, low=1)
    level = fraction("confidence", confidence)
    if isinstance(game.relation, ManyTargets):
        raise InputError(
            f"a statement is about one score a trial, and {type(game.relation).__name__} scores "
            "every person by itself: audit the release with a table study"
        )
    entropy = entropy_of(rng)
    claim = statement or Resilience()
    scenarios = scenarios_of(game, attacks)
    # Paid for once for each member of a family: a member is named, so each is a claim.
    hurdle = math.log(len(scenarios)) - math.log(1 - level)
    tallies = [Tally(scenario, prepared(claim, scenario.game), hurdle) for scenario in scenarios]
    rounds = (
        plan_looks(scenarios, trials.looks)
        if isinstance(trials, Until)
        else [plan(scenarios, trials)]
    )
    player = BlockPlayer(scenarios, OneStream(entropy, len(scenarios) == 1), fresh, packed)
    end, look = "", 0
    for look, planned in enumerate(rounds, start=1):
        began = time.monotonic()
        observer.start("trials", sum(block.size for block in planned))
        with closing(through(player, [block.key for block in planned])) as results:
            for block, arrays in zip(planned, results, strict=True):
                tally = tallies[block.place]
                tally.add(block.size, arrays)
                observer.advance(block.size)
                if stop and tally.decided is not None:
                    break
        observer.finish()
        if until and (end := until.end(tallies, level, look, time.monotonic() - began, observer)):
            break
    outcome = _weighed(tallies, level, hurdle, claim, entropy, stop=stop)
    return replace(outcome, ended=end, look=look) if until else outcome


def _weighed(
    tallies: Sequence[Tally],
    level: float,
    hurdle: float,
    claim: Statement,
    entropy: int,
    *,
    stop: bool,
) -> Play:
    """Combine the trials of all members; the member with the strongest evidence decides."""
    worst = max(tallies, key=lambda tally: (tally.decided is not None, tally.capital))
    share = (1 - level) / len(worst.scenario.attacks) / len(tallies)
    attackers = [
        summary(name, blocks, 1 - share, stopped=stop) for name, blocks in worst.collected.items()
    ]
    refuted = None
    if isinstance(claim, Resilience):
        refuted = largest_refuted([attacker.scores for attacker in attackers], claim.delta, hurdle)
        if worst.decided is not None:
            # All trials together may say less than the first of them said: what was shown stays.
            refuted = max(claim.epsilon, refuted or 0.0)
    return Play(
        outcome="no violation found" if worst.decided is None else "violates",
        statement=worst.claim,
        confidence=level,
        trials=worst.done,
        decided=worst.decided,
        capital=worst.capital,
        refuted=refuted,
        attackers=attackers,
        entropy=entropy,
        remarks=remarks(attackers),
        decides=worst.decides,
        member=worst.scenario.name,
        members=len(tallies),
    )


def named_right(
    game: Game, attacks: dict[str, Any], *, trials: int, confidence: float, rng: RandomSource
) -> tuple[dict[str, Estimate], dict[str, float], tuple[str, ...]]:
    """Play a game of naming a `Secret` to its end, and limit each attacker's success separately.

    Returns, by attacker, its success and the exact mean chance of the same guesses against fresh
    secrets; then remarks.
    """
    played = play(game, attacks, trials=trials, stop=False, rng=rng)
    wins, baselines = {}, {}
    for attacker in played.attackers:
        # The limits of `play` hold for all its rates at once; these are for one question each.
        hits = round(attacker.success.value * attacker.success.trials)
        wins[attacker.name] = clopper_pearson(
            hits,
            attacker.success.trials,
            confidence=confidence,
            quantity=f"success of the {attacker.name}",
        )
        baselines[attacker.name] = attacker.baseline.value
    return wins, baselines, tuple(played.remarks)
