"""One block of trials, which every run plays: draw, tell, release, attack, score.

A trial draws ``Nature`` and ``S``, tells the attacker ``K``, releases ``y = M(S)``, takes the
attempt ``z = A(y, K)`` and scores ``R(S, z)``; then it draws fresh data sets ``T`` from the same
``Nature`` given ``K`` and scores the same ``z`` against them, or takes the exact chance of that:
the attacker's own baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.attacks.base import (
    Answers,
    Asks,
    BrokenMechanismError,
    Conversation,
    NeedsSideInformation,
    Transcript,
    one_by_one,
)
from narcissus.errors import InputError, NarcissusError, raised_where
from narcissus.game.rules import Game, is_own
from narcissus.knowledge.base import MoreKnowledge
from narcissus.mechanisms.base import Interactive, is_interactive
from narcissus.success.relations.base import Attempts, HasBaseline, ManyTargets, Weighted, take
from narcissus.success.statements import KeptSurprisal
from narcissus.worlds.base import Array, Batch, Draw, gather, is_derived, stacked

Result = TypeVar("Result")
Hits = NDArray[np.bool_]
Scores = NDArray[np.bool_ | np.float64]
Arrays = Mapping[str, NDArray[np.generic]]
"""What is kept of a block, as plain arrays, to be stored or sent."""


def guarded(what: str, part: Any, call: Callable[[], Result]) -> Result:
    """Call a method of a part of the game; an error becomes an `InputError` that names the part."""
    try:
        return call()
    except NarcissusError:
        raise
    except Exception as error:
        raise InputError(
            f"the {what} {type(part).__name__} raised {raised_where(error)}"
        ) from error


def ask(
    attack: Any,
    release: Batch,
    known: Batch,
    size: int,
    rng: np.random.Generator,
    *,
    strict: bool = False,
) -> Answers:
    """Request the attempts of a batch.

    An attack that raises is called again for one trial at a time, each with its seed, so that only
    trials at which it fails are lost; if ``strict``, its exception ends the run.
    """
    # drawn before the attack draws anything, and not at all where they are never used
    seeds = np.empty(0, np.int64) if strict else rng.integers(0, 2**63, size, dtype=np.int64)
    try:
        answer = attack.attempt(release, known, rng)
    except NarcissusError:
        raise
    except Exception:
        if strict:
            raise
        return _again(attack, release, known, seeds)
    if isinstance(answer, Answers):
        return answer
    if isinstance(answer, Attempts):
        return Answers(answer.values, answer.made, [])
    return Answers(answer, np.ones(size, dtype=bool), [])


def _again(attack: Any, release: Batch, known: Batch, seeds: NDArray[np.int64]) -> Answers:
    made = np.zeros(len(seeds), dtype=bool)

    def call(trial: int, rng: np.random.Generator) -> Any:
        only = np.array([trial])
        knowledge = None if known is None else gather(known, only)
        answer = attack.attempt(gather(release, only), knowledge, rng)
        wrapped = isinstance(answer, Attempts)
        made[trial] = bool(answer.made[0]) if wrapped else True
        return answer.values if wrapped else answer

    answers = one_by_one(seeds, call, (NarcissusError,))
    if any(callable(value) for value in answers.values):
        return Answers(JoinedPredicates(answers.values), made, answers.failures)
    values = [None if value is None else value[0] for value in answers.values]
    return Answers(values, made, answers.failures)


@dataclass(frozen=True)
class JoinedPredicates:
    """Predicates of single trials joined into one batch; a missing one holds nowhere."""

    parts: list[Any]
    exact = False

    def __call__(self, rows: Array) -> NDArray[np.float64]:
        outputs = np.zeros(rows.shape[:2])
        for trial, part in enumerate(self.parts):
            if part is not None:
                outputs[trial] = part(rows[trial : trial + 1])[0]
        return outputs

    def __len__(self) -> int:
        return len(self.parts)

    def take(self, index: Array) -> JoinedPredicates:
        return JoinedPredicates(take(self.parts, index))

    def weight(self, world: Any) -> NDArray[np.float64]:
        """Return the weights of the parts that know them; NaN for the others."""
        weights = np.full(len(self.parts), np.nan)
        for trial, part in enumerate(self.parts):
            known = part.weight(world) if isinstance(part, Weighted) else None
            if known is not None:
                weights[trial] = known[0]
        return weights


KEPT = 3  # conversations of a block that are recorded


def converse(
    mechanism: Interactive,
    draw: Draw,
    known: Batch,
    attack: Asks,
    rng: np.random.Generator,
    *,
    kept: int = KEPT,
) -> Answers:
    """Let the mechanism and the attacker exchange messages, one trial after the other.

    Mechanism and attacker have separate generators. The first ``kept`` conversations are recorded.
    """
    seeds = rng.integers(0, 2**63, draw.trials, dtype=np.int64)
    transcripts: list[Transcript] = []

    def call(trial: int, own: np.random.Generator) -> Any:
        theirs = own.spawn(1)[0]
        talk = mechanism.answers(draw.data[trial], own)
        conversation = Conversation(talk, getattr(mechanism, "questions", None))
        attempt: Any = None
        try:
            knowledge = None if known is None else known[trial]
            attempt = attack.converse(conversation, knowledge, theirs)
        finally:
            conversation.close()
            if trial < kept:
                transcripts.append(conversation.transcript(trial, attempt))
        return attempt

    answers = one_by_one(seeds, call, (ImportError, BrokenMechanismError))
    values, made = answers.values, [value for value in answers.values if value is not None]
    if made:  # attempts of one shape become an array, with another one for each not made
        values = stacked([made[0] if value is None else value for value in values])
    return replace(answers, values=values, transcripts=transcripts)


def score(relation: Any, data: Batch, attempts: Attempts, rng: np.random.Generator) -> Scores:
    """Score attempts, shape (trials,), or (trials, targets) where there are many targets.

    For many targets a relation may return each attempt's worth, in [0, 1].
    """
    if attempts.made.all():
        return _held(relation, data, attempts.values, rng)
    rows = np.flatnonzero(attempts.made)
    if not rows.size:
        return np.zeros(len(attempts.made), dtype=bool)
    hits = _held(relation, gather(data, rows), take(attempts.values, rows), rng)
    scores = np.zeros((len(attempts.made), *hits.shape[1:]), dtype=hits.dtype)
    scores[rows] = hits
    return scores


def _held(relation: Any, data: Batch, values: Any, rng: np.random.Generator) -> Scores:
    many = isinstance(relation, ManyTargets)
    targets = np.shape(data)[1:2] if many else ()
    try:
        if isinstance(values, list) and isinstance(data, np.ndarray):
            values = stacked(values)
        hits = np.asarray(relation.holds(data, values, rng))
    except InputError:
        raise
    except Exception as error:
        why = _other_shape(relation, data, values) or raised_where(error)
        raise InputError(
            f"the relation {type(relation).__name__} cannot score an attempt: {why}"
        ) from error
    in_part = many and hits.dtype == np.float64 and bool(((hits >= 0) & (hits <= 1)).all())
    if not (hits.dtype == np.bool_ or in_part) or hits.shape != (len(values), *targets):
        raise InputError(
            f"the relation {type(relation).__name__} must give one true or false for each trial, "
            f"got {hits.dtype} of shape {hits.shape} for {len(values)} trials"
        )
    return hits


def _other_shape(relation: Any, data: Batch, values: Any) -> str:
    """Say which shape attempts have, and which the relation takes; empty where that is unknown."""
    try:
        takes = np.shape(relation.guesses(data[:1]))[1:]
        made = np.shape(values)[1:]
    except Exception:
        return ""  # it has no guesses, or they are no arrays: its own message is the better one
    if takes == made:
        return ""
    return (
        f"it takes attempts of shape {takes}, and the attack made one of shape {made}; name "
        "another [success], or another [[attack]]"
    )


def exact_baseline(game: Game, known: Batch, attempts: Attempts) -> Floats | None:
    """Compute the exact chance of each attempt against a fresh data set, where it has a formula."""
    relation = game.looser or game.relation
    values = attempts.values
    if isinstance(relation, ManyTargets):
        return relation.chance(known, values)
    if game.side is not None or not isinstance(relation, HasBaseline) or is_derived(game.world):
        return None
    if isinstance(values, list) and not (values and callable(values[0])):
        return None
    chance = relation.baseline(game.world, values)
    return None if chance is None else np.where(attempts.made, chance, 0.0)


def surprising(
    game: Game, relation: Any, kept: KeptSurprisal, draw: Draw, known: Batch, attempts: Attempts
) -> Hits:
    """Check where some recovered row is still surprising given ``K`` and the other rows."""
    result = np.zeros(draw.trials, dtype=bool)
    made = np.flatnonzero(attempts.made)
    if not made.size:
        return result
    values = np.asarray(take(attempts.values, made))
    match = relation.matches(gather(draw.data, made), values)
    for place in range(match.shape[1]):
        rows = made[match[:, place] & ~result[made]]
        if not rows.size:
            continue
        some, index, heard = draw.take(rows), np.full(rows.size, place), gather(known, rows)
        if (listed := game.surprisals) is not None:
            surprisal, plain = listed.of(some.data, heard, place)
        else:
            surprisal = game.side.surprisal(game.world, some, heard, index)
            plain = game.world.surprisal(some, index)
        result[rows] = kept.enough(surprisal, plain)
    return result


def weight(game: Game, attempts: Attempts) -> Floats:
    """Return the weight of each attempt as a predicate; NaN where it has none."""
    values = attempts.values
    weights = values.weight(game.world) if isinstance(values, Weighted) else None
    return np.full(len(attempts.made), np.nan) if weights is None else weights


@dataclass(frozen=True)
class Sources:
    """The generators of one block."""

    world: np.random.Generator  # draws data, side information, fresh data, coins of relations
    release: np.random.Generator
    attack: Callable[[int, str], np.random.Generator]  # from an attack's place and name


Streams = Callable[[int, int], Sources]
"""From a block's number and its scenario's place to its generators, whoever plays it."""


@dataclass(frozen=True)
class AttackOutcome:
    """The attempts and scores of one attack in a block."""

    attempts: Answers
    success: Scores  # whether each holds, or its worth in [0, 1]; (trials,) or (trials, targets)
    baseline: Floats  # rate at which each holds for a fresh data set; same shape
    fresh: int  # fresh data sets behind ``baseline``; 0 where it is exact


@dataclass(frozen=True)
class Scenario:
    """One game of a family, with the attacks prepared for it."""

    name: str  # of the distribution, or of the level of noise; empty where there is one only
    game: Game
    attacks: Mapping[str, Any]
    # attacks that take part in the first blocks only, with the number of these
    first: Mapping[str, int] = field(default_factory=dict)
    strict: bool = False  # whether an attack that raises ends the run; else those trials fail

    def playing(self, number: int) -> dict[str, Any]:
        """Return the attacks that take part in a block."""
        return {
            name: attack
            for name, attack in self.attacks.items()
            if number < self.first.get(name, number + 1)
        }


@dataclass(frozen=True, eq=False)
class TrialInputs:
    """The data of a block, and the side information about them, before any release."""

    draw: Draw
    known: Batch

    @classmethod
    def of(cls, game: Game, size: int, rng: np.random.Generator) -> TrialInputs:
        draw = guarded("world", game.world, lambda: game.world.draw(size, rng))
        known = None if game.side is None else game.side.reveal(game.world, draw, rng)
        return cls(draw, known)


@dataclass(frozen=True)
class PlayedBlock:
    """A block that was played: data, side information, release, and each attack's outcome."""

    scenario: Scenario
    number: int
    place: int  # of its scenario
    draw: Draw
    known: Batch
    release: Batch
    outcomes: dict[str, AttackOutcome] = field(default_factory=dict)
    _added: dict[MoreKnowledge, Batch] = field(default_factory=dict, init=False)

    def told(self, more: MoreKnowledge) -> Batch:
        """Return the side information of an attacker who is told more than others; cached."""
        if more not in self._added:
            self._added[more] = more.add(self.draw, self.known)
        return self._added[more]

    def attempts(self, attacks: Mapping[str, Any], sources: Sources) -> dict[str, Answers]:
        game = self.scenario.game
        made: dict[str, Answers] = {}
        for place, (name, attack) in enumerate(attacks.items()):
            rng = sources.attack(place, name)
            knowledge = attack.knows if isinstance(attack, NeedsSideInformation) else None
            known = self.known if knowledge is None else self.told(knowledge)
            if is_interactive(game.mechanism):
                # what is said of data of the user's own world may name people: it is not kept
                limit = KEPT if self.number == 0 and not is_own(game.world) else 0
                asks = cast("Asks", attack)
                made[name] = converse(game.mechanism, self.draw, known, asks, rng, kept=limit)
                continue
            made[name] = ask(
                attack, self.release, known, self.draw.trials, rng, strict=self.scenario.strict
            )
        return made

    def again(self, data: Batch, sources: Sources) -> dict[str, Answers]:
        """Release other data, and run the attacks that know no more than the game tells."""
        attacks = {
            name: attack
            for name, attack in self.scenario.playing(self.number).items()
            if not isinstance(attack, NeedsSideInformation)
        }
        release = _released(self.scenario.game, data, sources)
        other = PlayedBlock(self.scenario, self.number, self.place, Draw(data), self.known, release)
        return other.attempts(attacks, sources)


Measure = Callable[[PlayedBlock], Arrays]
"""What is kept of a block: named arrays, worked out where the block is played."""


def play_block(
    scenario: Scenario,
    number: int,
    place: int,
    *,
    size: int,
    streams: Streams,
    fresh: int = 1,
    inputs: TrialInputs | None = None,
) -> PlayedBlock:
    """Play one block of ``size`` trials; the result depends on these arguments alone.

    Scenarios that share world, side information and the generator of the world, and whose relation
    tosses no coins, may share ``inputs``: then nothing is drawn.
    """
    game, sources = scenario.game, streams(number, place)
    world = sources.world
    trial_inputs = TrialInputs.of(game, size, world) if inputs is None else inputs
    known, released = trial_inputs.known, _released(game, trial_inputs.draw.data, sources)
    played = PlayedBlock(scenario, number, place, trial_inputs.draw, known, released)
    made = played.attempts(scenario.playing(number), sources)
    success: dict[str, Scores] = {}
    for name, attempts in made.items():
        hits = score(game.relation, trial_inputs.draw.data, attempts, world)
        if (surprisal := game.kept) is not None:
            counts = surprising(game, game.relation, surprisal, trial_inputs.draw, known, attempts)
            hits = np.logical_and(hits, counts)
        success[name] = hits
    exact = {name: exact_baseline(game, known, attempts) for name, attempts in made.items()}
    sampled = _against_fresh(
        played, {name: made[name] for name in made if exact[name] is None}, world, fresh
    )
    for name, attempts in made.items():
        chance = exact[name]
        baseline, count = (sampled[name], fresh) if chance is None else (chance, 0)
        played.outcomes[name] = AttackOutcome(attempts, success[name], baseline, count)
    return played


def _released(game: Game, data: Batch, sources: Sources) -> Batch:
    if is_interactive(game.mechanism):
        return None
    return guarded(
        "mechanism", game.mechanism, lambda: game.mechanism.release(data, sources.release)
    )


def _against_fresh(
    played: PlayedBlock, attempts: Mapping[str, Attempts], rng: np.random.Generator, fresh: int
) -> dict[str, Floats]:
    """Compute the share of fresh data sets for which each attempt holds."""
    game, draw = played.scenario.game, played.draw
    totals = {name: np.zeros(draw.trials) for name in attempts}
    relation, surprisal = game.looser or game.relation, game.kept and game.kept.of_fresh

    def others() -> Batch:
        if game.side is None:
            return game.world.fresh(draw, rng)
        return game.side.fresh(game.world, draw, played.known, rng)

    for _ in range(fresh if totals else 0):
        data = guarded("world", game.world, others)
        for name, made in attempts.items():
            hits = score(relation, data, made, rng)
            if surprisal is not None:
                other = Draw(data, draw.nature)
                counts = surprising(game, relation, surprisal, other, played.known, made)
                hits = np.logical_and(hits, counts)
            totals[name] += hits
    return {name: total / fresh for name, total in totals.items()}
