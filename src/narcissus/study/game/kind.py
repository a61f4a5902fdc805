"""The kind of study "game": prove what can be proved, play the rest, draw one verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, TypeAdapter
from threadpoolctl import threadpool_limits

from narcissus._outwards import upper
from narcissus._random import child
from narcissus._version import __version__
from narcissus.attacks.base import Transcript
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Attacked, Game, Play, play
from narcissus.game.block import Arrays
from narcissus.game.executor import Executor
from narcissus.game.loop import Blocks, Through, gap_limits
from narcissus.game.rules import is_own
from narcissus.observer import Observer
from narcissus.profiles import (
    WORK,
    WrittenFamily,
    WrittenOut,
    memorized_information,
    write_out_family,
)
from narcissus.profiles.proofs import from_comparison, from_lemmas, from_privacy
from narcissus.profiles.write_out import ROUNDING, number
from narcissus.results import Estimate, NotAssessed
from narcissus.study.engines import executor_of
from narcissus.study.game.covered import covered
from narcissus.study.game.schema import GameStudy, RatesFamily, Setup, asked_of_rows
from narcissus.study.game.verdict import Ground, Judged, Proof, grade_of, judge
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.parts import own_parts
from narcissus.study.plugins import source_digests
from narcissus.study.pool import play_in_order
from narcissus.study.results.base import SampledShare
from narcissus.study.results.game import (
    AttackerResult,
    BestAttacker,
    CoverResult,
    CurvePoint,
    ExactGame,
    ExchangeResult,
    FailedAttempt,
    GameResults,
    Gap,
    ProofResult,
    StatementResult,
    TranscriptResult,
)
from narcissus.study.store import TrialStore
from narcissus.study.work import agree, timed
from narcissus.success import KeptSurprisal
from narcissus.success.relations import RandomRow
from narcissus.success.statements import (
    SAME,
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Threshold,
    prepared,
)
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
        held = store.keys() if store is not None else set[str]()
        left = [key for key in keys if key not in held]
        if left and options.hours is not None:
            is_ours = not is_own([setup.game, *setup.attacks.values()])
            check(player, left, executor, options, is_ours=is_ours)
        yield from through(player, keys)

    return play


def check(
    player: Player, keys: Sequence[str], executor: Executor, options: RunOptions, *, is_ours: bool
) -> None:
    """Refuse blocks that take longer than was agreed to, or whose first trial does not end."""
    measure = partial(time_of_trial, player, keys[0])
    seconds = (
        measure()
        if is_ours
        else timed(measure, "the first trial", hours=options.hours, observer=options.observer)
    ) or 0.0
    trials = sum(int(key.split("/")[2]) for key in keys)
    processes = min(executor.workers, len(keys))
    agree(
        trials * seconds / processes,
        f"at most {trials:,} trials of {seconds:.3g} s each, in {processes} processes",
        hours=options.hours,
        observer=options.observer,
    )


def time_of_trial(player: Player, key: str) -> float:
    """Play ever larger blocks until the time of a trial shows; return it in seconds.

    Larger blocks take less time per trial; what is played here counts for nothing.
    """
    batch, number, size, *seat = key.split("/")
    count = 1
    with threadpool_limits(1):  # as where it counts
        while True:
            begin = time.perf_counter()
            player("/".join([batch, number, str(count), *seat]))
            seconds = time.perf_counter() - begin
            if count >= int(size) or (seconds >= ENOUGH and (count > 1 or seconds >= LONG)):
                return seconds / count
            count = min(10 * count, int(size))


def identity_of(study: GameStudy, folder: Path, entropy: int) -> dict[str, object]:
    """Return everything on which trials depend: studies with equal identity may share trials.

    The number of trials, the confidence, the stopping and the statement are left out, so that a run
    can be extended; except what the statement asks of surprisal, by which a trial is scored.
    """
    asked = asked_of_rows(study.statement)
    settings = study.model_dump(mode="json")
    parts = ("world", "mechanism", "attack", "success", "looser", "side_information")
    return {
        **{part: settings[part] for part in parts},
        **({"family": settings["family"]} if study.family else {}),
        "fresh": study.run.fresh,
        "surprisal": asdict(asked) if isinstance(asked, KeptSurprisal) else asked,
        "seed": str(entropy),
        "own code": source_digests(own_parts(study), folder),
        "version": __version__,
    }


def has_epsilon(statement: Any) -> bool:
    return isinstance(statement, Resilience | FixedBaseline | SinglingOut)


def exactly(
    written: WrittenFamily,
    statement: Any,
    epsilons: Sequence[float],
    cover: CoverResult | None = None,
) -> ExactGame | None:
    """Evaluate a statement exactly; None if it has no exact form in this game.

    ``cover`` is what is known between the members of a family of rates.
    """
    points: list[float] = sorted(set(epsilons))
    at = points[0]
    if has_epsilon(statement):
        at = float(statement.epsilon)
        points = sorted({*points, at})
    # One pass through the guesses for all: where the baseline counts for nothing, too.
    worst = {one.best.epsilon: one for one in written.worst([*points, -math.inf])}
    if isinstance(statement, Resilience):
        what = f"least delta at epsilon {statement.epsilon:g}"
        found = worst[at].member, worst[at].best.delta, statement.delta, what, None
    else:
        found = _other(written, statement)
    if found is None:
        return None
    member, least, limit, what, fixed = found
    success, baseline = worst[at].best.rates
    several = len(written.members) > 1
    given = written.assumptions
    words = f"{what}: {number(least)}, allowed {limit:g}"
    among = "" if cover is None else ", of the rates looked at"
    return ExactGame(
        grade="proved if" if given else "proved",
        epsilon=tuple(points),
        delta=tuple(worst[point].best.delta for point in points),
        best_attacker=BestAttacker(
            at_epsilon=at,
            success=success,
            baseline=baseline,
            member=worst[at].member if several else None,
        ),
        best_success=worst[-math.inf].best.rates[0],
        **written.sizes(),
        members=len(written.members),
        member=member if several else None,
        rounding=ROUNDING,
        least=least if math.isfinite(least) else None,
        limit=limit,
        best_fixed_guess=fixed,
        holds=least <= limit + ROUNDING,
        words=f"{words}; the most needed at {member}{among}" if several else words,
        assumptions=given,
        cover=cover,
    )


# the worst member, what is needed, what is allowed, what both are, the best fixed guess
_Found = tuple[str, float, float, str, float | None]


def _other(written: WrittenFamily, statement: Any) -> _Found | None:
    """Evaluate a statement other than resilience for each member; None if one has no answer."""
    every: list[_Found] = []
    for name, exact in written.members.items():
        found = _least(exact, prepared(statement, exact.game))
        if found is None:
            return None
        every.append((name, *found))
    return max(every, key=lambda one: one[1] - one[2])


def _least(exact: WrittenOut, statement: Any) -> tuple[float, float, str, float | None] | None:
    if isinstance(statement, Threshold) and not exact.additive:
        what = f"least epsilon for tau {statement.tau:g}"
        return exact.beyond(statement.tau), statement.epsilon, what, None
    if isinstance(statement, FixedBaseline) and not exact.additive:
        least, fixed = exact.robust(statement.epsilon)
        return least, statement.delta, f"least delta at epsilon {statement.epsilon:g}", fixed
    if isinstance(statement, SinglingOut) and hasattr(exact.guesses, "weight"):
        least = _singled_out(exact, statement)
        what = f"least delta at epsilon {statement.epsilon:g}"
        return None if least is None else (least, statement.delta, what, None)
    return None


def _singled_out(exact: WrittenOut, statement: SinglingOut) -> float | None:
    """Return the least delta over all weights: both sides change only at weights of predicates."""
    weights = exact.guesses.weight(exact.game.world)
    if weights is None or statement.possible is None:
        return None
    every = replace(statement, points=len(statement.possible))
    factor = math.exp(statement.epsilon)
    gains = [exact.light(weights, float(w)) - factor * every.baseline(w) for w in every.weights]
    return max(0.0, float(np.max(gains)))


def answer(
    study: GameStudy,
    ground: Ground,
    judged: Judged,
    *,
    played: Play | None,
    members: int,
    memorized: float | None,
) -> GameResults:
    """Assemble the results for one statement, from the whole run."""
    statement = ground.statement
    return GameResults(
        outcome=judged.outcome,
        expected=study.expected,
        about=study.about,
        source=study.source,
        statement=StatementResult(
            name=study.statement.name,
            words=statement.words(),
            definition=statement.definition,
            scope=ground.scope,
            epsilon=study.statement.options.get("epsilon"),
            delta=study.statement.options.get("delta"),
        ),
        confidence=study.run.confidence,
        trials=0 if played is None else played.trials,
        decided=None if played is None else played.decided,
        member=None if played is None else played.member or None,
        members=members,
        largest_epsilon_refuted=None if played is None else played.refuted,
        attackers=()
        if played is None
        else tuple(_attacker(one, ground.gaps) for one in played.attackers),
        exact=ground.exact,
        proofs=tuple(_proof(proof, statement) for proof in ground.proofs),
        curve=() if played is None else tuple(_curve(played.statement, played.attackers)),
        memorized_bits=memorized,
        remarks=() if played is None else tuple(played.remarks),
        decides=None if played is None else played.decides,
    )


def _attacker(one: Attacked, gaps: Mapping[str, Estimate | None]) -> AttackerResult:
    gap = gaps.get(one.name)
    return AttackerResult(
        name=one.name,
        success=SampledShare.of(one.success),
        baseline=SampledShare.of(one.baseline),
        gap=None if gap is None else Gap.of(gap),
        baseline_exact_per_attempt=one.scores.fresh == 0,
        attempts=one.attempts,
        failed=one.failed,
        failures=tuple(
            FailedAttempt(trial=f.trial, seed=str(f.seed), error=f.error) for f in one.failures
        ),
        transcripts=tuple(_transcript(said, one) for said in one.transcripts) or None,
    )


def _transcript(said: Transcript, one: Attacked) -> TranscriptResult:
    return TranscriptResult(
        trial=said.trial,
        greeting=said.greeting,
        exchanges=tuple(ExchangeResult(question=q, answer=a) for q, a in said.exchanges),
        questions=said.questions,
        attempt=said.attempt,
        success=bool(one.scores.success[said.trial]),
        baseline=float(one.scores.baseline[said.trial]),
    )


def _proof(proof: Proof, statement: Any) -> ProofResult:
    bound = proof.bound
    return ProofResult(
        id=bound.id,
        theorem=bound.theorem,
        limits=proof.limits,
        quantity=bound.quantity,
        value=bound.value,
        at_most=f"at most {upper(bound.value, 3)}",
        assumptions=bound.assumptions,
        grade=grade_of(bound.assumptions),
        sufficient=proof.suffices(statement),
    )


def _curve(statement: Any, attackers: Sequence[Attacked]) -> list[CurvePoint]:
    """Return, for each weight, how often predicates that light isolate, and the best baseline."""
    if not isinstance(statement, SinglingOut):
        return []
    rows: list[CurvePoint] = []
    for w in statement.weights[statement.weights > 0]:  # nothing of weight 0 isolates
        light = w * (1 + SAME)  # what has no weight, NaN, is not light
        shares = [
            float((one.scores.success & (one.scores.weight <= light)).mean()) for one in attackers
        ]
        baseline = float(statement.baseline(float(w)))
        rows.append(CurvePoint(w=float(w), success=max(shares), baseline=baseline))
    return rows


def refuse_unused(study: GameStudy, setup: Setup) -> None:
    """Refuse options of [exact], [privacy] and [run] that the file alone shows to be unused."""
    for refusals in (_exact_refusals, _privacy_refusals, _run_refusals):
        for refusal in refusals(study, setup):
            raise InputError(refusal)


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


def refuse_unwritten(study: GameStudy, reason: InputError) -> None:
    """Refuse options of the exact profile in a game that cannot be written out at any size."""
    for name in _given(study.exact, *PROFILE):
        if not (name == "limit" and study.exact.memorized):
            raise InputError(f"`exact.{name}` is not used: {reason}: leave it out") from reason


def _asks_for_fresh(game: Game, setup: Setup) -> bool:
    relation = game.looser or game.relation
    if isinstance(game.world, Pairs | RandomNeighbours) and game.side is None:
        inner = getattr(relation, "relation", relation)
        if not (is_own(relation) or isinstance(inner, RandomRow)):
            return False
    tried = play(game, setup.attacks, setup.statement, trials=1, stop=False, rng=0)
    return any(one.scores.fresh > 0 for one in tried.attackers)


def _given(section: BaseModel, *names: str) -> list[str]:
    """Return the keys that the file has, in the order of the schema."""
    return [name for name in names if name in section.model_fields_set]


def _exact_refusals(study: GameStudy, setup: Setup) -> Iterator[str]:
    exact = study.exact
    if isinstance(setup.statement, NotMemorizing):
        counted = exact.memorized  # which has the same limit
        for name in _given(exact, "when", "epsilons", "abstain", *(() if counted else ("limit",))):
            yield (
                f"`exact.{name}` is not used with the statement `memorizing`, which has no exact "
                "form: leave it out; of [exact] it takes `memorized`"
            )
    elif exact.when == "never":
        for name in _given(exact, *PROFILE, "memorized"):
            yield (
                f'`exact.{name}` is not used with `exact.when = "never"`, by which nothing is '
                f"written out: leave out `{name}`, or `when`"
            )


def _privacy_refusals(study: GameStudy, setup: Setup) -> Iterator[str]:
    if study.privacy is None:
        return
    unused = "[privacy] is not used: "
    if not isinstance(setup.statement, Resilience):
        yield (
            f"{unused}no theorem takes it to the statement `{study.statement.name}`, only to those "
            "with the attacker's own baseline: leave it out, or state `pairs`"
        )
    else:
        promise = (study.privacy.epsilon, study.privacy.delta)
        if from_privacy(setup.game, setup.statement.epsilon, promise) is None:
            yield (
                f"{unused}the theorems that take it are about data sets that differ in one record "
                "(Cohen et al. 2024, A.4 and E.1), with nothing told to the attacker and one "
                "relation: leave it out, or take a world such as `neighbours`"
            )


def _run_refusals(study: GameStudy, setup: Setup) -> Iterator[str]:
    if setup.attacks:
        return
    for name in _given(study.run, *type(study.run).model_fields):
        yield (
            f"`run.{name}` is not used: the study has no [[attack]], so nothing is played: leave "
            "it out, or add an attack"
        )


class GameKind:
    """Studies of the kind "game"."""

    model: type[BaseModel] = GameStudy
    results: TypeAdapter[Any] = TypeAdapter(GameResults)

    def check(self, study: GameStudy, folder: Path, observer: Observer) -> None:
        """Refuse blocks that take longer than was agreed to, or whose first trial does not end."""
        setup = study.build()
        if not setup.attacks and study.exact.when == "never":
            raise InputError(
                "the study has no [[attack]] and `exact.when` is never: nothing could be found"
            )
        refuse_unused(study, setup)

    def play(self, study: GameStudy, folder: Path, options: RunOptions) -> Outcome:
        """Prove, play and judge."""
        if options.policy is not None:
            raise InputError(
                "`--policy` is for audits of tables: the threshold of a game is its [statement]"
            )
        if options.internal is not None:
            raise InputError("`--records` is for audits of tables: a game has no records to name")
        with ExitStack() as stack:
            store = None
            if options.folder is not None:
                store = stack.enter_context(
                    TrialStore(
                        options.folder,
                        identity_of(study, folder, options.entropy),
                        restart=options.restart,
                        observer=options.observer,
                    )
                )
            # Most games take seconds, less than it takes to start processes.
            executor = stack.enter_context(executor_of(options, study.run, workers=1))
            return _outcome(study, folder, options, store, executor)


def _outcome(
    study: GameStudy,
    folder: Path,
    options: RunOptions,
    store: TrialStore | None,
    executor: Executor,
) -> Outcome:
    setup = study.build()
    refuse_fresh(study, setup)
    unanswered: list[NotAssessed] = []
    written = _written(study, setup, unanswered)
    statement = _completed(setup, written)
    exact, between = None, ""
    if written is not None:
        written, cover, between = covered(study, written, setup.statement, options)
        exact = exactly(written, setup.statement, study.exact.epsilons, cover)
    proofs = _proofs(study, setup, statement)
    played = _played(study, setup, statement, options, store, executor)
    unanswered += _gaps_in(statement, exact, played)
    memorized = _memorized(study, setup, unanswered)
    useful = None if played is None or all(map(_useless, played.attackers)) else played
    gaps = {} if played is None else _gaps(study, statement, played)
    members = setup.game.members()
    scope = _scope(study, setup)
    told = _told(study, statement)
    best = study.statement.options.get("best")  # the statement's own assumption
    chosen = (
        ()
        if best is None
        else (f"the best fixed guess succeeds with chance at most {best:g}, as [statement] says",)
    )
    ground = Ground(statement, scope, exact, proofs, useful, gaps, chosen, between, told)
    judged = judge(ground)
    if judged.outcome == "not assessed":
        unanswered.append(
            NotAssessed(
                "the statement",
                "the game was not written out, no lemma applies, and no attacker could be played",
                "add an [[attack]] that works, or make the world smaller",
            )
        )
    return Outcome(
        title=study.title,
        status=judged.status,
        verdict=judged.words + _failures(played),
        grade=judged.grade,
        assumptions=judged.assumptions,
        contradictions=judged.contradictions,
        results=answer(
            study, ground, judged, played=played, members=len(members), memorized=memorized
        ),
        assessed=list(_assessed(exact, proofs, played)),
        not_assessed=unanswered,
        not_covered=[
            "attackers who know more than the study says",
            f"distributions other than the study's ({scope}), also where a definition asks for all",
            "side channels: running time, access patterns, errors",
            *([] if exact or proofs else ["attackers other than the ones that were played"]),
        ],
    )


KIND = GameKind()


def _scope(study: GameStudy, setup: Setup) -> str:
    if isinstance(study.family, RatesFamily):
        return f"every rate from {study.family.low:g} to {study.family.high:g}"
    members = len(setup.game.members())
    if members > 1:
        return f"each of the {members:,} distributions of the family"
    return getattr(setup.game.world, "scope", "this one world")


def _told(study: GameStudy, statement: Any) -> str:
    """Name the side information, if the definition quantifies over all of it."""
    part = study.side_information
    if part is None or not statement.whatever_is_told:
        return ""
    options = ", ".join(f"{key} = {value}" for key, value in part.options.items())
    return f"`{part.name}` ({options})" if options else f"`{part.name}`"


def _written(study: GameStudy, setup: Setup, unanswered: list[NotAssessed]) -> WrittenFamily | None:
    if study.exact.when == "never":
        return None
    try:
        # Where it was not asked for, an exact answer may take seconds, not minutes.
        work = WORK if study.exact.when == "required" else WORK // 20
        return write_out_family(
            setup.game, limit=study.exact.limit, work=work, abstain=study.exact.abstain
        )
    except (TooLargeError, InputError) as error:
        if study.exact.when == "required":
            raise
        if not isinstance(error, TooLargeError):
            refuse_unwritten(study, error)
        unanswered.append(
            NotAssessed(
                "the exact profile, against every attacker",
                str(error),
                "make the world smaller, or rely on the attackers that were played",
            )
        )
        return None


def _completed(setup: Setup, written: WrittenFamily | None) -> Any:
    """Fill in what the statement takes from the world; each member of a family has its own."""
    games = list(setup.game.members().values())
    if len(games) > 1:
        return setup.statement
    statement = prepared(setup.statement, games[0])
    if isinstance(statement, FixedBaseline) and statement.best is None and written is not None:
        exact = next(iter(written.members.values()))
        return replace(statement, best=min(1.0, float(exact.fixed.max(initial=0.0))))
    return statement


def _gaps(study: GameStudy, statement: Any, played: Play) -> dict[str, Estimate | None]:
    if not isinstance(statement, Resilience):
        return {}
    share = (1 - played.confidence) / len(played.attackers) / played.members
    return {
        one.name: gap_limits(
            one.scores, statement.epsilon, confidence=1 - share, stopped=study.run.stop
        )
        for one in played.attackers
    }


def _gaps_in(statement: Any, exact: ExactGame | None, played: Play | None) -> Iterator[NotAssessed]:
    """List what was asked and has no answer."""
    tested = statement if played is None else played.statement
    if isinstance(tested, FixedBaseline) and tested.best is None and exact is None:
        yield NotAssessed(
            "best fixed guess",
            "it has no formula for this world and relation, so 1 was taken for it, and nothing can "
            "violate the statement",
            "give its chance, or an upper limit of it, as `best` in [statement]",
        )
    if isinstance(tested, SinglingOut) and tested.possible is None:
        yield NotAssessed(
            "the weights that predicates can have",
            "the world has too many values of a record to list, or no law of one record; every "
            "weight was taken to be possible, which allows the mechanism a little more",
            "make the world smaller",
        )
    for one in [] if played is None else played.attackers:
        if _useless(one):
            why = f"it failed on every trial: {one.failures[0].error}"
            yield NotAssessed(f"the attack {one.name}", why, "mend it, and play again")


def _proofs(study: GameStudy, setup: Setup, statement: Any) -> list[Proof]:
    if not isinstance(statement, Resilience | FixedBaseline):
        return []
    if isinstance(study.family, RatesFamily):
        return []  # a theorem about each point says nothing of the rates between
    found = from_lemmas(setup.game)
    proofs = [] if found is None else [Proof(found, "success")]
    if isinstance(statement, Resilience):
        compared = from_comparison(setup.game)
        proofs += [] if compared is None else [Proof(compared, "delta")]
        promise = None if study.privacy is None else (study.privacy.epsilon, study.privacy.delta)
        for known in dict.fromkeys((None, promise)):
            bound = from_privacy(setup.game, statement.epsilon, known)
            proofs += [] if bound is None else [Proof(bound, "delta", rounded=True)]
    return proofs


def _played(
    study: GameStudy,
    setup: Setup,
    statement: Any,
    options: RunOptions,
    store: TrialStore | None,
    executor: Executor,
) -> Play | None:
    if not setup.attacks:
        return None
    run = study.run
    return play(
        setup.game,
        setup.attacks,
        statement,
        trials=run.trials,
        fresh=run.fresh,
        confidence=run.confidence,
        stop=run.stop,
        rng=int(child(options.entropy, 0).integers(2**63)),
        observer=options.observer,
        through=agreed(
            partial(play_in_order, store=store, executor=executor, observer=options.observer),
            setup,
            store,
            executor,
            options,
        ),
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


def _failures(played: Play | None) -> str:
    """Name the attackers that raised: a reader must not take their failures for safety."""
    if played is None:
        return ""
    return "".join(
        f" The attack {one.name} failed with an error on {one.failed} of {played.trials} trials "
        f"(first: trial {one.failures[0].trial}, seed {one.failures[0].seed}: "
        f"{one.failures[0].error}); they count as unsuccessful."
        for one in played.attackers
        if one.failed
    )


def _useless(one: Attacked) -> bool:
    return one.failed == one.success.trials


def _assessed(exact: ExactGame | None, proofs: list[Proof], played: Play | None) -> Iterator[str]:
    if exact is not None:
        yield (
            f"every attacker, exactly: {exact.data_sets:,} data sets, "
            f"{exact.releases:,} releases, {exact.guesses:,} guesses"
        )
    yield from (f"every attacker, by {proof.bound.theorem}" for proof in proofs)
    if played is not None:
        yield from (
            f"the attacker {one.name}, by {played.trials:,} trials" for one in played.attackers
        )
