"""The kind of study "game": prove what can be proved, play the rest, draw one verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from narcissus._random import child
from narcissus._threads import one_thread
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Attacked, Game, Play, play
from narcissus.game.block import Arrays
from narcissus.game.executor import Executor
from narcissus.game.loop import Blocks, Through, Until, gap_limits
from narcissus.game.rules import is_own
from narcissus.kinds.engine import Done, Kind, PreparedWork
from narcissus.kinds.game.covered import covered
from narcissus.kinds.game.judgement import JudgedGame, game_of
from narcissus.kinds.game.numbers import (
    bound_of,
    bound_of_class,
    criterion_of,
    curve_of,
    exactly,
    fixed_guess,
    proved,
)
from narcissus.kinds.game.result import (
    FailedAttempt,
    GameAttacker,
    GameBound,
    GameResult,
    GameStatement,
    Limits,
    PlayedGame,
    PlayEnd,
    RateCover,
    TrialConversation,
)
from narcissus.kinds.game.schema import (
    Assume,
    GameStudy,
    NearFamily,
    RatesFamily,
    Setup,
    asked_of_rows,
)
from narcissus.knowledge import OwnSideInformation
from narcissus.profiles import WORK, Cover, WrittenFamily, memorized_information, write_out_family
from narcissus.profiles.proofs import from_advantage, from_comparison, from_lemmas, from_privacy
from narcissus.results import Bound, Estimate, NotAssessed
from narcissus.rows import Findings, Quantity
from narcissus.study.kinds import RunOptions
from narcissus.study.parts import own_parts
from narcissus.study.plugins import source_digests
from narcissus.study.pool import play_in_order
from narcissus.study.store import TrialStore
from narcissus.study.work import agree, timed
from narcissus.success import KeptSurprisal
from narcissus.success.relations import RandomRow
from narcissus.success.statements import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Statement,
)
from narcissus.success.statements import prepared as completed
from narcissus.worlds.finite import Pairs, RandomNeighbours

Player = Callable[[str], Arrays]

PROFILE = ("limit", "epsilons", "abstain")  # keys of [exact] about the profile
ENOUGH = 0.3  # seconds of play from which the rest is reckoned
LONG = 1.0  # seconds of one trial that is taken at its word: others may have paid for a whole block


def agreed(
    through: Through,
    setup: Setup,
    store: TrialStore | None,
    executor: Executor,
    options: RunOptions,
) -> Through:
    """Play blocks through ``through``, once the time of those not in the store was agreed to."""

    def play(player: Player, keys: Sequence[str]) -> Blocks:
        stored_keys = store.keys() if store is not None else set[str]()
        left = [key for key in keys if key not in stored_keys]
        if left and options.hours is not None:
            how: dict[str, Any] = {"hours": options.hours, "observer": options.observer}
            measure = partial(time_of_trial, player, left[0])
            # one of the user's own may never end
            has_user_code = is_own([setup.game, *setup.attacks.values()])
            seconds = (
                timed(measure, "the first trial", **how) if has_user_code else measure()
            ) or 0.0
            trials = sum(int(key.split("/")[2]) for key in left)
            processes = min(executor.workers, len(left))
            work = f"at most {trials:,} trials of {seconds:.3g} s each, in {processes} processes"
            agree(trials * seconds / processes, work, **how)
        yield from through(player, keys)

    return play


def time_of_trial(player: Player, key: str) -> float:
    """Play ever larger blocks until the time of a trial shows; return it in seconds.

    Larger blocks take less time per trial; what is played here counts for nothing.
    """
    batch, number, size, *scenario = key.split("/")
    count = 1
    with one_thread():  # as where it counts
        while True:
            begin = time.perf_counter()
            player("/".join([batch, number, str(count), *scenario]))
            seconds = time.perf_counter() - begin
            if count >= int(size) or (seconds >= ENOUGH and (count > 1 or seconds >= LONG)):
                return seconds / count
            count = min(10 * count, int(size))


def identity_of(study: GameStudy, folder: Path, entropy: int) -> dict[str, object]:
    """Return everything on which trials depend: studies with equal identity may share trials.

    The number of trials, the confidence, the stopping and the statement are left out, so that a run
    can be extended; except what the statement asks of surprisal, by which a trial is scored.
    """
    surprisal = asked_of_rows(study.statement)
    settings = study.model_dump(mode="json")
    parts = ("world", "mechanism", "attack", "success", "looser", "side_information")
    return {
        **{part: settings[part] for part in parts},
        **({"family": settings["family"]} if study.family else {}),
        "fresh": study.run.fresh,
        "surprisal": asdict(surprisal) if isinstance(surprisal, KeptSurprisal) else surprisal,
        "seed": str(entropy),
        "own code": source_digests(own_parts(study), folder),
    }


def refuse_unused(study: GameStudy, setup: Setup) -> None:
    """Refuse options and sections that the file alone shows to be unused, or not to fit."""
    for refusal in (*_unfit(study, setup), *_unused(study, setup)):
        raise InputError(refusal)


def _unused(study: GameStudy, setup: Setup) -> Iterator[str]:
    exact, statement = study.exact, setup.statement
    if isinstance(statement, NotMemorizing):
        limit = () if exact.memorized else ("limit",)  # counting what is memorized has the same
        for name in _given(exact, "when", "epsilons", "abstain", *limit):
            yield (
                f"`exact.{name}` is not used with the statement `memorizing`, which is only "
                "sampled: leave it out; of [exact] it takes `memorized`"
            )
    elif exact.when == "never":
        for name in _given(exact, *PROFILE, "memorized"):
            yield (
                f"`exact.{name}` is for games that are written out, and `exact.when` is "
                f'"never": leave out `{name}`, or `when`'
            )
    if study.privacy is not None and not isinstance(statement, Resilience):
        yield (
            f"[privacy] is not used: no theorem takes it to the statement `{study.statement.name}`"
            ", only to those with the attacker's own baseline: leave it out, or state `pairs`"
        )
    elif study.privacy is not None:
        promise = (study.privacy.epsilon, study.privacy.delta)
        if from_privacy(setup.game, statement.epsilon, promise) is None:
            yield (
                "[privacy] is not used: the theorems that take it are about data sets that differ "
                "in one record (Cohen et al. 2024, A.4 and E.1), with nothing told to the attacker "
                "and one relation: leave it out, or take a world such as `neighbours`"
            )
    for name in () if setup.attacks else _given(study.run, *type(study.run).model_fields):
        yield (
            f"`run.{name}` is for attacks, and the study has no [[attack]]: leave it out, or add "
            "one"
        )


def _unfit(study: GameStudy, setup: Setup) -> Iterator[str]:
    """Yield why [assume], or a family of near priors, does not fit the study."""
    if isinstance(study.family, NearFamily) and study.exact.when == "never":
        yield (
            '`exact.when = "never"`: near priors are looked at in games that are written out: '
            "leave out `when`, or [family]"
        )
    if study.assume is None:
        return
    if _advantage(study.assume, setup) is None:
        yield (
            "[assume] is not used: it takes a statement with one relation, and the attacker's own "
            "baseline or the best fixed guess. Surprisal, and side information with a fixed "
            "guess, are not covered: leave it out"
        )
    for name in study.assume.outside:
        if name not in setup.attacks:
            known = ", ".join(f"`{attack}`" for attack in setup.attacks) or "none"
            yield f"`assume.outside` names `{name}`, and the attacks of the study are {known}"


def refuse_fresh(study: GameStudy, setup: Setup) -> None:
    """Refuse `run.fresh` if no attack on any distribution is scored on fresh data sets.

    One trial of each attack shows whether every baseline has a formula.
    """
    if "fresh" not in study.run.model_fields_set or not setup.attacks:
        return
    if not any(_asks_for_fresh(game, setup) for game in setup.game.members().values()):
        raise InputError(
            "`run.fresh` is not used: in this world the baseline of every attack has a formula, "
            "or the one fresh data set is the other of the pair: leave it out"
        )


def _asks_for_fresh(game: Game, setup: Setup) -> bool:
    relation = game.looser or game.relation
    if isinstance(game.world, Pairs | RandomNeighbours) and game.side is None:
        inner = getattr(relation, "relation", relation)
        if not (is_own(relation) or isinstance(inner, RandomRow)):
            return False
    tried = play(game, setup.attacks, setup.statement, trials=1, stop=False, rng=0)
    return any(attacker.scores.fresh > 0 for attacker in tried.attackers)


def _given(section: BaseModel, *names: str) -> list[str]:
    """Return the keys that the file has, in the order of the schema."""
    return [name for name in names if name in section.model_fields_set]


@dataclass(frozen=True, eq=False)
class GameWork(PreparedWork[GameStudy]):
    """A game, its attackers and the statement, and what is told of them."""

    setup: Setup = field(kw_only=True)

    @property
    def scope(self) -> str:
        """What the statement speaks of."""
        family = self.study.family
        if isinstance(family, RatesFamily | NearFamily):
            return family.scope
        members = len(self.setup.game.members())
        if members > 1:
            return f"each of the {members:,} distributions of the family"
        return getattr(self.setup.game.world, "scope", "this one world")

    @property
    def told(self) -> str:
        """The side information, if the definition quantifies over all of it."""
        part = self.study.side_information
        if part is None or not self.setup.statement.whatever_is_told:
            return ""
        options = ", ".join(f"{key} = {value}" for key, value in part.options.items())
        return f"`{part.name}` ({options})" if options else f"`{part.name}`"


class GameKind(Kind[GameStudy, GameWork]):
    """The kind "game"."""

    model = GameStudy
    result = GameResult
    layout = "narcissus.kinds.game.layout:LAYOUT"
    no_policy = "`--policy` is for audits of tables: the threshold of a game is its [statement]"
    no_records = "`--records` is for audits of tables: a game has no records to name"

    def prepare(self, study: GameStudy, folder: Path, options: RunOptions) -> GameWork:
        setup = study.build()
        if not setup.attacks and study.exact.when == "never":
            raise InputError('the study needs an [[attack]], or another `exact.when` than "never"')
        refuse_unused(study, setup)
        return GameWork(study, folder, options.entropy, setup=setup)

    def measure(self, work: GameWork, done: Done, options: RunOptions) -> Findings:
        refuse_fresh(work.study, work.setup)
        identity = identity_of(work.study, work.folder, work.entropy)
        # Most games take seconds, less than it takes to start processes.
        with self.playing(options, work.study.run, identity, workers=1) as (store, executor):
            return self._found(work, options, store, executor)

    def _found(
        self, work: GameWork, options: RunOptions, store: TrialStore | None, executor: Executor
    ) -> Findings:
        study, setup, left = work.study, work.setup, work.not_assessed
        family = _written(study, setup, left)
        statement = _completed(setup, family)
        exact, cover, between = None, None, ""
        near = work.scope if isinstance(study.family, NearFamily) else ""
        if family is not None:
            family, cover, between = covered(study, family, setup.statement, options)
            exact = exactly(family, setup.statement, study.exact.epsilons, cover, between)
        parameters = study.statement.options
        computed_guess = None if study.assume is None else getattr(statement, "best", None)
        result = GameResult(
            statement=GameStatement(
                name=study.statement.name,
                words=(setup.statement if near else statement).words(),
                definition=statement.definition,
                scope=work.scope,
                epsilon=parameters.get("epsilon"),
                delta=parameters.get("delta"),
            ),
            confidence=study.run.confidence,
            members=len(setup.game.members()),
            exact=exact,
            bounds=tuple(_bounds(study, setup, statement)),
            fixed_guess=fixed_guess(parameters.get("best"), computed_guess),
            cover=RateCover.taken(cover) if isinstance(cover, Cover) else None,
            near=near,
            between=between,
            told=work.told,
            outside=() if study.assume is None else tuple(study.assume.outside),
        )

        def found(play: PlayedGame | None = None, memorized: Quantity | None = None) -> Findings:
            played = result.model_copy(update={"play": play, "memorized": memorized})
            return self.found((criterion_of(statement),), played)

        known = False
        if study.run.trials == "auto":
            known = game_of(self.conclude(found())).is_proved
        played = _played(work, statement, options, store, executor, known=known)
        left += _gaps_in(statement, exact is not None, played)
        bits = _memorized(study, setup, left)
        findings = found(
            None if played is None else played_game(statement, played, stopped=study.run.stop),
            None if bits is None else proved(bits, ()),
        )
        if self.conclude(findings).status == "not assessed":
            why = "the game is too large to write out, and neither a lemma nor an attacker applies"
            remedy = "add an [[attack]] that works, or make the world smaller"
            left.append(NotAssessed("the statement", why, remedy))
        return findings

    def cases(self, findings: Findings) -> list[JudgedGame]:
        return [JudgedGame(findings=findings)]


KIND = GameKind()


def played_game(statement: Statement, played: Play, *, stopped: bool) -> PlayedGame:
    """Return what attackers did, with the gap of each where the statement is about that.

    stopped: whether the run ended as soon as the statement was refuted.
    """
    confidence = 1 - (1 - played.confidence) / len(played.attackers) / played.members
    gaps: list[Estimate | None] = [None for _ in played.attackers]
    if isinstance(statement, Resilience):
        how = partial(gap_limits, confidence=confidence, stopped=stopped)
        gaps = [how(attacker.scores, statement.epsilon) for attacker in played.attackers]
    refuted, tested = played.refuted, played.statement
    return PlayedGame.taken(
        played,
        end=PlayEnd.taken(played) if played.ended else None,
        attackers=tuple(map(_attacker, played.attackers, gaps)),
        refuted=None
        if refuted is None
        else Quantity(value=refuted, low=refuted, grade="sampled", confidence=played.confidence),
        curve=curve_of(tested, played.attackers),
        remarks=tuple(played.remarks),
        breaks=f"Memorizes at least {tested.m} of {tested.n} rows, at a false alarm rate of at "
        f"most {tested.xi:g}"
        if isinstance(tested, NotMemorizing)
        else f"Violates: {tested.words()}",
    )


def _attacker(attacked: Attacked, gap: Estimate | None) -> GameAttacker:
    scores = attacked.scores
    return GameAttacker.taken(
        attacked,
        success=Quantity.of(attacked.success),
        fresh=Quantity.of(attacked.baseline),
        gap=None if gap is None else Quantity.of(gap),
        baseline_exact_per_attempt=scores.fresh == 0,
        failures=tuple(FailedAttempt.taken(f, seed=str(f.seed)) for f in attacked.failures),
        transcripts=tuple(
            TrialConversation.taken(
                transcript,
                success=bool(scores.success[transcript.trial]),
                baseline=float(scores.baseline[transcript.trial]),
            )
            for transcript in attacked.transcripts
        ),
    )


def _written(study: GameStudy, setup: Setup, unanswered: list[NotAssessed]) -> WrittenFamily | None:
    exact = study.exact
    if exact.when == "never":
        return None
    required = exact.when == "required" or isinstance(study.family, NearFamily)
    try:
        # Where it was not asked for, an exact answer may take seconds, not minutes.
        work = WORK if required else WORK // 20
        return write_out_family(setup.game, limit=exact.limit, work=work, abstain=exact.abstain)
    except (TooLargeError, InputError) as error:
        if isinstance(study.family, NearFamily):
            why = str(error).removesuffix("; play the game instead")
            message = f'[family] kind = "near" needs a game that is written out: {why}'
            raise type(error)(message) from error
        if required:
            raise
        unused = [] if isinstance(error, TooLargeError) else _given(exact, *PROFILE)
        for name in unused:  # it cannot be written out at any size
            if not (name == "limit" and exact.memorized):
                message = f"`exact.{name}` is not used: {error}: leave it out"
                raise InputError(message) from error
        remedy = "make the world smaller, or rely on the attackers that were played"
        subject = "the exact profile" + ", against every attacker" * (study.assume is None)
        unanswered.append(NotAssessed(subject, str(error), remedy))
        return None


def _completed(setup: Setup, written: WrittenFamily | None) -> Statement:
    """Fill in what the statement takes from the world; each member of a family has its own."""
    games = list(setup.game.members().values())
    if len(games) > 1:
        return setup.statement
    statement = completed(setup.statement, games[0])
    if isinstance(statement, FixedBaseline) and statement.best is None and written is not None:
        exact = next(iter(written.members.values()))
        return replace(statement, best=min(1.0, float(exact.fixed.max(initial=0.0))))
    return statement


def _gaps_in(statement: Statement, is_exact: bool, played: Play | None) -> Iterator[NotAssessed]:
    """List what was asked and has no answer."""
    tested = statement if played is None else played.statement
    if isinstance(tested, FixedBaseline) and tested.best is None and not is_exact:
        yield NotAssessed(
            "best fixed guess",
            "it has no formula for this world and relation, so 1 was taken for it, and the "
            "statement holds whatever happens",
            "give its chance, or an upper limit of it, as `best` in [statement]",
        )
    if isinstance(tested, SinglingOut) and tested.possible is None:
        yield NotAssessed(
            "the weights that predicates can have",
            "the world has too many values of a record to list, or no law of one record; every "
            "weight was taken to be possible, which allows the mechanism a little more",
            "make the world smaller",
        )
    for attacker in [] if played is None else played.attackers:
        if attacker.failed == attacker.success.trials:
            why = f"it failed on every trial: {attacker.failures[0].error}"
            yield NotAssessed(f"the attack {attacker.name}", why, "mend it, and play again")


def _bounds(study: GameStudy, setup: Setup, statement: Statement) -> Iterator[GameBound]:
    if not isinstance(statement, Resilience | FixedBaseline):
        return
    if study.assume is not None and (limit := _advantage(study.assume, setup)) is not None:
        has_user_draws = is_own(setup.game.side) and not isinstance(
            setup.game.side, OwnSideInformation
        )
        has_user_draws = has_user_draws or any(
            is_own(game.world) for game in setup.game.members().values()
        )
        yield bound_of_class(limit, study.assume, own=has_user_draws)  # for every distribution
    if isinstance(study.family, RatesFamily):
        return  # a theorem about each point says nothing of the rates between
    bounds = list[tuple[Bound | None, Limits]]()
    if not isinstance(study.family, NearFamily):  # lemmas are about the given prior
        bounds.append((from_lemmas(setup.game), "success"))
        if isinstance(statement, Resilience):
            bounds.append((from_comparison(setup.game), "delta"))
    if isinstance(statement, Resilience):  # the theorems on privacy hold for every prior
        promise = None if study.privacy is None else (study.privacy.epsilon, study.privacy.delta)
        for known in dict.fromkeys((None, promise)):
            bounds.append((from_privacy(setup.game, statement.epsilon, known), "delta"))
    yield from (bound_of(bound, limits) for bound, limits in bounds if bound is not None)


def _advantage(assume: Assume, setup: Setup) -> float | None:
    """Return the delta for the class of [assume]; None where nothing is known of the game."""
    fixed = isinstance(setup.statement, FixedBaseline)
    if not isinstance(setup.statement, Resilience | FixedBaseline):
        return None
    how = {"fixed": fixed, "ideal": assume.ideal}
    return from_advantage(setup.game, assume.advantage, assume.uses, **how)


def _played(
    work: GameWork,
    statement: Statement,
    options: RunOptions,
    store: TrialStore | None,
    executor: Executor,
    *,
    known: bool,
) -> Play | None:
    setup, run, observer = work.setup, work.study.run, options.observer
    if not setup.attacks:
        return None
    until = Until(budget=run.budget, ended=options.looks, known=known)
    through = partial(play_in_order, store=store, executor=executor, observer=observer)
    return play(
        setup.game,
        setup.attacks,
        statement,
        trials=until if run.trials == "auto" else run.trials,
        fresh=run.fresh,
        confidence=run.confidence,
        stop=run.stop,
        rng=int(child(options.entropy, 0).integers(2**63)),
        observer=observer,
        through=agreed(through, setup, store, executor, options),
    )


def _memorized(study: GameStudy, setup: Setup, unanswered: list[NotAssessed]) -> float | None:
    if not study.exact.memorized:
        return None
    world, mechanism = setup.game.world, setup.game.mechanism
    if not hasattr(world, "enumerate") or not hasattr(mechanism, "channel"):
        reason = "the world or the mechanism cannot be written out"
    else:
        try:
            return memorized_information(world, mechanism, limit=study.exact.limit)
        except (TooLargeError, InputError) as error:
            reason = str(error)
    unanswered.append(NotAssessed("memorized information", reason, "make the world smaller"))
    return None
