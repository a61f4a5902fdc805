"""Play of the trials of a table study: approved first, stored as they end, look by look if asked.

A study may ask for a precision instead of a number of trials. Limits that decide whether to play on
hold only if that is accounted for. So the looks are fixed before the first trial counts, and each
spends a part of the error: at look k every sampled limit, of whatever quantity, is computed for the
part ``w_k`` of the error, and these add up to one. Every printed limit belongs to one look, so the
chance that it fails is at most the sum, whatever the reason for which the run ended there (a union
bound; alpha spending with looks at fixed times). A pilot of separate releases, which count for
nothing else, places the first look. A study that asks for a decision (``trials = "auto"``) looks
first after a few trials, and spends ``1 / (k (k + 1))`` of the error at look k.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from narcissus._random import child
from narcissus.bounds import THEOREMS, Theorem
from narcissus.bounds.theorems import user_theorems
from narcissus.errors import InputError
from narcissus.evidence import each_confidence
from narcissus.game.block import Arrays
from narcissus.game.executor import Executor, soon
from narcissus.game.looks import MOST, LookPlan, schedule
from narcissus.kinds.engine import Done
from narcissus.kinds.table import work
from narcissus.kinds.table.envelope import Enclosure
from narcissus.kinds.table.estimates import (
    FEW,
    AttackScores,
    enclosure_of_group,
    expected_reach,
    group_scores,
    scores_of,
)
from narcissus.kinds.table.excesses import family
from narcissus.kinds.table.experiment import Experiment, Found, shown, trained
from narcissus.kinds.table.found import DecisionDetail, PrecisionDetail, SettingFound, known
from narcissus.kinds.table.population import PILOT
from narcissus.kinds.table.schema import TableStudy, ThresholdSpec
from narcissus.kinds.table.summary import summarise
from narcissus.observer import Observer
from narcissus.results import Status
from narcissus.study.engines.holder import split_if_few
from narcissus.study.kinds import RunOptions
from narcissus.study.pool import play_all
from narcissus.study.store import FILE, TrialStore

PILOT_TRIALS = 10
PATIENT_LOOKS = 4
"""Looks after which a verdict that no number of trials seems to decide ends the run."""


@dataclass(frozen=True)
class SentExperiment:
    """Plays the trials of an experiment by their keys, with theorems that others have added."""

    experiment: Experiment
    theorems: dict[str, Theorem]

    @classmethod
    def of(cls, experiment: Experiment) -> SentExperiment:
        return cls(experiment, user_theorems())

    def __call__(self, key: str) -> Found:
        for name in user_theorems():  # of what this worker played before
            if name not in self.theorems:
                del THEOREMS[name]
        THEOREMS.update(self.theorems)
        return self.experiment.play(key)


Ending = PrecisionDetail | DecisionDetail | str
"""How a run ended at a look; else what it still takes, in words."""


@dataclass(frozen=True, kw_only=True)
class TablePlan(LookPlan, ABC):
    """Looks at the settings of a table."""

    requested: Mapping[str, int] = field(default_factory=dict[str, int])
    """Done that the study asks of an attack, by name."""

    @abstractmethod
    def end(self, now: Experiment, trials: Done, look: int, seconds: float) -> Ending:
        """Return how the run ended at a look, from 1, to which playing took these seconds."""

    def at(self, experiment: Experiment, look: int) -> Experiment:
        planned, claimed = self.looks[look - 1], experiment.claimed
        return replace(
            experiment,
            trials=planned.trials,
            attacks=tuple(
                (name, attack, min(self.requested.get(name, planned.trials), planned.trials))
                for name, attack, _ in experiment.attacks
            ),
            confidence=1 - (1 - claimed) * planned.part,
            holds=claimed,
        )


@dataclass(frozen=True, kw_only=True)
class PrecisionPlan(TablePlan):
    """Looks at which a run ends when its limits are near enough, or at the last."""

    wanted: float  # half the distance between limits at which it ends, as a share
    threshold: ThresholdSpec | None = None

    def end(self, now: Experiment, trials: Done, look: int, seconds: float) -> Ending:
        seen, shown_trials = shown(now, trials)
        numbers = [
            summarise(seen, s, [shown_trials[f"{t}/{s}"] for t in range(now.trials)])
            for s in range(len(now.settings))
        ]
        width = max(half_width(summary, self.threshold) for summary in numbers)
        if self.ending(look, seconds, "near" if width <= self.wanted else ""):
            return PrecisionDetail(
                aimed=self.wanted, reached=width, look=look, most=self.looks[-1].trials
            )
        shortage = max(1, math.ceil(now.trials * ((width / self.wanted) ** 2 - 1)))
        return (
            f"half-width {100 * width:.2g} points, aimed {100 * self.wanted:g}, about {shortage:,} "
            "more trials"
        )


@dataclass(frozen=True, kw_only=True)
class DecisionPlan(TablePlan):
    """Looks at which a run ends when its verdict is decided, or its time is spent."""

    weigh: Callable[[Experiment, Done], tuple[Status, int | None]]
    """Returns the status that a record would have, and about how many trials would decide it."""

    def end(self, now: Experiment, trials: Done, look: int, seconds: float) -> Ending:
        status, needed = self.weigh(now, trials)
        reason = "decided" if status in ("met", "exceeded", "contradicted") else ""
        if status == "inconclusive" and look > PATIENT_LOOKS:
            reason = "beyond trials"
        ended: Any = self.ending(look, seconds, reason)
        if ended:
            return DecisionDetail(ended=ended, look=look, part=self.looks[look - 1].part)
        return "not decided" + (f", about {needed:,} would do" if needed else "")


def looks_of(
    experiment: Experiment,
    study: TableStudy,
    options: RunOptions,
    executor: Executor,
    weigh: Callable[[Experiment, Done], tuple[Status, int | None]],
) -> TablePlan | None:
    """Fix when the run may end, for a precision by a pilot; None if the study names the trials."""
    observer, threshold = options.observer, study.threshold
    attack_trials = {name: study.attacks[name].also["trials"] for name in study.attacks}
    named_trials = {name: n for name, n in attack_trials.items() if n is not None}
    if study.run.trials == "auto":
        if threshold is None:
            raise InputError(
                '`run.trials = "auto"` plays until the verdict on a threshold is decided, and '
                "there is none: add [threshold], or a number of trials, or `run.precision`"
            )
        return DecisionPlan(
            requested=named_trials, budget=study.run.budget, ended=options.looks, weigh=weigh
        )
    if study.run.precision is None:
        return None
    pilot = replace(  # of other people, noise and chance
        experiment,
        trials=PILOT_TRIALS,
        attacks=tuple((name, attack, PILOT_TRIALS) for name, attack, _ in experiment.attacks),
        entropy=int(child(experiment.entropy, PILOT).integers(2**63)),
    )
    pilot = trained(pilot, observer, executor)
    keys = pilot.keys()
    work.check(pilot, keys, executor, options)
    observer.note(f"a pilot of {PILOT_TRIALS} releases, to see how many the precision takes")
    wanted, trial_limit = study.run.precision / 100, study.run.most or MOST
    played = list(soon(executor, SentExperiment.of(pilot), keys, observer))
    settings = len(pilot.settings)
    first = max(
        _needed(pilot, played[number::settings], wanted, threshold) for number in range(settings)
    )
    if first > MOST and study.run.trials is None:
        raise InputError(
            f"`run.precision` of {study.run.precision:g} points takes about {first:,} trials; "
            f"the limit is {MOST:,}: ask for less precision, take more targets, or say in "
            "`run.trials` how many to play at most"
        )
    looks = schedule(min(first, trial_limit), trial_limit)
    message = f"about {first:,} trials for limits within {study.run.precision:g} points"
    observer.note(f"{message}; at most {looks[-1].trials:,} are played")
    return PrecisionPlan(looks=looks, requested=named_trials, wanted=wanted, threshold=threshold)


def play_looks(
    experiment: Experiment,
    plan: TablePlan,
    play: Callable[[Experiment], Done],
    observer: Observer,
) -> tuple[Experiment, Done]:
    """Play to each look in turn, until the plan ends the run."""
    for look in range(1, len(plan.looks) + 1):
        now, began = plan.at(experiment, look), time.monotonic()
        trials = play(now)
        observer.start("looking at the limits", 0)
        ending = plan.end(now, trials, look, time.monotonic() - began)
        if not isinstance(ending, str):
            return replace(now, precision=ending), trials
        more = plan.looks[look].trials - now.trials
        observer.note(
            f"after {now.trials:,} trials {ending}; {more:,} are played before the next look"
        )
    raise AssertionError("a plan has a look")


def half_width(numbers: SettingFound, threshold: ThresholdSpec | None = None) -> float:
    """Return half the widest distance between limits of the headline, and of what is limited.

    A threshold adds the best attack's gain, and each group that an attacker can tell with two
    members a trial. An attack in fewer trials than the rest does not hold up the run.
    """
    best, played = numbers.best_attack, numbers.trials
    answers = [numbers.guess, best, numbers.ceiling]
    widths = [
        (answer.high - answer.low) / 2
        for answer in answers
        if answer is not None and getattr(answer, "trials", played) == played
    ]
    whole = best is not None and best.trials == played
    if threshold is not None and threshold.gain is not None and best is not None and whole:
        widths.append((known(best.gain.high) - known(best.gain.low)) / 2)
    if threshold is not None and threshold.worst_group is not None:
        for group in numbers.groups:
            if group.by_secret or group.share_of_people * numbers.people < FEW:
                continue
            attack = group.attacks.get(numbers.best or "") if whole else None
            limits = [interval for interval in (attack, group.ceiling) if interval is not None]
            widths += [(interval.high - interval.low) / 2 for interval in limits]
    return max(widths)


def _needed(
    pilot: Experiment,
    trials: Sequence[Arrays],
    wanted: float,
    threshold: ThresholdSpec | None,
) -> int:
    means = list(_reaches(pilot, trials, threshold))

    def near(count: int) -> bool:
        return all(reach(count) <= wanted for reach in means)

    low, high = 0, 1
    while not near(high) and high <= MOST:
        low, high = high, 2 * high
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if near(middle) else (middle, high)
    return int(np.clip(high, 2, None))


def _reaches(
    pilot: Experiment, trials: Sequence[Arrays], threshold: ThresholdSpec | None
) -> Iterator[Callable[[int], float]]:
    around = Enclosure.of(trials, pilot.targets)
    error = (1 - pilot.claimed) / 2  # that of the first look

    def of(
        scores: AttackScores, level: float, *, of_gain: bool = False, part: float = 1.0
    ) -> Callable[[int], float]:
        def reach(count: int) -> float:  # ``part`` of the trials tell of it
            effective_trials = max(1, round(part * count))
            return expected_reach(scores, effective_trials, level, of_gain=of_gain)

        return reach

    for name, attack, _ in pilot.attacks:
        scores = scores_of(pilot, name, attack, trials, around)
        yield of(scores, 1 - error)
        if threshold is not None and threshold.gain is not None and not attack.informed:
            yield of(scores, 1 - error, of_gain=True)
    if threshold is None or threshold.worst_group is None:
        return
    by_secret = pilot.groups.by_secret(pilot.queries.unknown)
    joint = each_confidence(1 - error, family(pilot, len(by_secret)))
    for g in np.flatnonzero(~by_secret).tolist():
        members = float(np.mean([t["groups"][g] for t in trials]))
        ends = enclosure_of_group(pilot, trials, g)
        for name, attack, _ in pilot.attacks:
            member_scores = group_scores(pilot, name, attack, trials, g, ends)
            if (
                member_scores is not None
                and members >= FEW
                and member_scores.scores.shares.size > 1
            ):
                yield of(member_scores.scores, joint, part=float(member_scores.some.mean()))


def play_trials(
    experiment: Experiment,
    plan: TablePlan | None,
    identity: Mapping[str, object],
    options: RunOptions,
    executor: Executor,
    *,
    again: bool,
) -> tuple[Experiment, Done]:
    """Play what is not played yet; return the experiment as it was played, and all trials.

    ``again``: attacks learn even if all trials are there, since others will use them.
    """
    keys = experiment.keys()
    agreed = partial(work.check, experiment, executor=executor, options=options)
    is_new = options.folder is None or options.restart or not (options.folder / FILE).exists()
    if is_new:
        agreed(keys)  # before a folder is made for it
    store = None
    try:
        if options.folder is not None:
            store = TrialStore(
                options.folder, identity, restart=options.restart, observer=options.observer
            )
            if not is_new:
                stored_keys = store.keys()
                agreed([key for key in keys if key not in stored_keys])
        looking = plan is not None  # more may be played than at the first look
        if again or looking or store is None or len(store.keys()) < len(keys):
            work.refuse_fixed_seeds(experiment)
            experiment = trained(experiment, options.observer, executor)
        experiment, trials = _played(experiment, plan, store, executor, options, agreed)
        _require_alike(experiment, trials, store)
        return experiment, trials
    finally:
        if store is not None:
            store.close()


def _played(
    experiment: Experiment,
    plan: TablePlan | None,
    store: TrialStore | None,
    executor: Executor,
    options: RunOptions,
    agreed: Callable[[Sequence[str]], None],
) -> tuple[Experiment, Done]:
    trials = dict[str, Arrays]()

    def play(now: Experiment) -> Done:
        keys = [key for key in now.keys() if key not in trials]  # noqa: SIM118
        stored_keys = set[str]() if store is None else store.keys()
        if trials:  # the first trials were agreed to beforehand
            agreed([key for key in keys if key not in stored_keys])
        who = executor
        if not now.factored:
            todo = [key for key in keys if key not in stored_keys]
            who = split_if_few(executor, todo, now.targets, now.queries.values)
        trials.update(
            play_all(
                SentExperiment.of(now),
                keys,
                store=store,
                executor=who,
                what="trials",
                observer=options.observer,
            )
        )
        return trials

    if plan is None:
        return experiment, play(experiment)
    return play_looks(experiment, plan, play, options.observer)


def _require_alike(experiment: Experiment, trials: Done, store: TrialStore | None) -> None:
    """Refuse stored trials with other contents than this study's: others wrote them."""
    for number in range(len(experiment.settings)):
        setting_trials = [trials[f"{trial}/{number}"] for trial in range(experiment.trials)]
        shapes = {
            name: (a.shape, a.dtype.kind) for arrays in setting_trials for name, a in arrays.items()
        }
        for trial, arrays in enumerate(setting_trials):
            taking = {name for name, _, count in experiment.attacks if trial < count}
            left_out = {name for name, _, _ in experiment.attacks} - taking
            expected = {n for n in shapes if n.rpartition("/")[0] not in left_out}
            fits = all((a.shape, a.dtype.kind) == shapes[name] for name, a in arrays.items())
            if store is not None and (set(arrays) != expected or not fits):
                raise store.forged(f"trial {trial}/{number} holds {', '.join(sorted(arrays)[:5])}")
