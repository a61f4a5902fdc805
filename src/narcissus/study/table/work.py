"""How long an audit will take and what it will hold in memory, told before it starts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from narcissus.errors import TooLargeError
from narcissus.game.executor import Executor
from narcissus.game.rules import is_own
from narcissus.observer import SILENT, Observer
from narcissus.study.table.costly import is_costly
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.room import BASE, room
from narcissus.study.table.training import learners, trained
from narcissus.study.work import WORTH_A_NOTE, agree, in_words, machine_memory, timed

ROUNDS = {"sweeps": 40, "steps": 100, "starts": 1}
"""Options by which an attack's time grows in proportion, and how much of each is timed."""

FEW = 1
"""Releases from which attacks learn before they are timed."""

PATIENCE_WITH_LARGE = 300.0
"""Most seconds that a trial is timed of very many people, or of somebody else's generator."""

SMALL = 2**28
"""Bytes of data up to which a trial of ours is a matter of seconds."""


@dataclass(frozen=True)
class Work:
    """What is still to be done.

    Attributes
    ----------
    trials
        Trials still to be played, over all settings.
    seconds
        Time of all of them in one process.
    kept
        Bytes of all trials of the study together, which are summarised at the end.
    """

    trials: int
    seconds: float
    kept: int


def estimate(experiment: Experiment, keys: Sequence[str]) -> Work:
    """Time one trial, attack by attack, and reckon with it.

    It is the last that is to be played: what an interrupted run has kept of others is no measure.
    What is worked out once for all settings of a trial, or once for everybody, is timed apart.

    Of an attack whose sweeps, steps or starts are many, a few are timed: a study that would never
    end is told by that before its first trial has ended.
    """
    attempts = [int(key.split("/")[0]) for key in keys]
    if not attempts:
        return Work(0, 0.0, 0)
    with threadpool_limits(1):  # as in the workers
        ready, total = _slightly_trained(experiment)
        key = keys[-1]
        bare = replace(ready, attacks=())
        seconds, kept = _timed(bare, key)
        total += _without_attacks(bare, key, attempts, seconds)
        for name, attack, trials in experiment.attacks:
            shorter, factor = (attack, 1.0) if name in learners(experiment) else _shortened(attack)
            alone, size = _timed(replace(ready, attacks=((name, shorter, experiment.trials),)), key)
            total += sum(t < trials for t in attempts) * max(0.0, alone - seconds) * factor
            kept = max(kept, size)
    return Work(len(attempts), total, kept * experiment.trials * len(experiment.settings))


def _without_attacks(bare: Experiment, key: str, attempts: Sequence[int], seconds: float) -> float:
    """Reckon what trials take besides the attacks, from the first that was played, at ``key``."""
    trial, setting = map(int, key.split("/"))
    settings, count = len(bare.settings), len(attempts)
    if bare.everybody:
        first, other = min(settings, count), key
    else:
        first, other = len(set(attempts)), f"{trial}/{(setting + 1) % settings}"
    if first == count:
        return count * seconds
    again, _ = _timed(bare, other)
    return first * seconds + (count - first) * again


def check(
    experiment: Experiment,
    keys: Sequence[str],
    *,
    executor: Executor,
    hours: float | None,
    observer: Observer,
) -> None:
    """Refuse what cannot fit into this machine, or takes longer than was agreed to.

    Parameters
    ----------
    experiment
        The study, ready to be played.
    keys
        The trials still to be played.
    executor
        Who plays.
    hours
        Longest time that was agreed to; None is any.
    observer
        Hears how long it will take, where that is more than a minute.

    Raises
    ------
    TooLargeError
        It needs more memory than the machine has.
    LongWorkError
        It takes longer than ``hours``.
    """
    processes = min(executor.workers, max(1, len(keys)))
    here = processes if executor.is_here else 1  # the trial that is timed
    each = BASE + memory(experiment)
    work = Work(len(keys), 0.0, 0)
    if each < machine_memory():
        work = _estimated(experiment, keys, hours=hours, observer=observer) or work
    needed = here * each + work.kept
    if needed > machine_memory():
        raise TooLargeError(
            f"this needs about {needed / 1e9:.1f} GB of memory ({here} processes of "
            f"{each / 1e9:.1f} GB and {work.kept / 1e9:.1f} GB of finished trials), and there are "
            f"{machine_memory() / 1e9:.1f} GB: take fewer workers, targets, trials or columns"
        )
    each_trial = work.seconds / max(1, work.trials)
    if each_trial > WORTH_A_NOTE:
        observer.note(
            f"one trial takes about {in_words(each_trial)}: a run that is interrupted loses those "
            "that have not ended, and plays them again"
        )
    agree(
        work.seconds / processes,
        f"{work.trials:,} trials of {each_trial:.3g} s each, in {processes} processes",
        hours=hours,
        observer=observer,
    )


def _estimated(
    experiment: Experiment, keys: Sequence[str], *, hours: float | None, observer: Observer
) -> Work | None:
    """Estimate here what is small and ours, and anything else where it can be ended."""
    parts = [
        experiment.prior,
        *(attack for _, attack, _ in experiment.attacks),
        *(setting.mechanism for setting in experiment.settings),
    ]
    if memory(experiment) < SMALL and not is_own(parts):
        return estimate(experiment, keys)
    measure = partial(estimate, experiment, keys)
    costly = any(is_costly(setting.mechanism) for setting in experiment.settings)
    large = memory(experiment) >= SMALL
    patience = PATIENCE_WITH_LARGE if costly or large else None
    if costly:
        observer.note("one release is made and timed first")
    elif large:
        observer.note(f"a trial of {experiment.targets:,} people is timed first")
    return timed(measure, "the first trial", patience, hours=hours, observer=observer)


def memory(experiment: Experiment) -> int:
    """Give the bytes that one process holds for a study, about."""
    attacks = [attack for _, attack, _ in experiment.attacks]
    releases = experiment.settings[0].mechanism.releases
    people = room(
        experiment.queries,
        experiment.success,
        experiment.targets,
        attacks,
        releases,
        factored=experiment.factored,
    )
    table = experiment.table
    counts = 0 if table.counts is None else table.counts.nbytes
    return 2 * (table.records.nbytes + counts) + people


def _slightly_trained(experiment: Experiment) -> tuple[Experiment, float]:
    """Let attacks learn from a few releases of one setting; give the time of all learning."""
    if not learners(experiment):
        return experiment, 0.0
    begin = time.perf_counter()
    few = min(experiment.training, FEW)
    one = trained(replace(experiment, training=few, settings=experiment.settings[-1:]), SILENT)
    ready = replace(experiment, trained=one.trained * len(experiment.settings))
    times = experiment.training / few * len(experiment.settings)
    return ready, (time.perf_counter() - begin) * times


def _timed(experiment: Experiment, key: str) -> tuple[float, int]:
    """Play a trial; give its time in seconds and the bytes of what it found."""
    begin = time.perf_counter()
    found = experiment.play(key)
    return time.perf_counter() - begin, sum(array.nbytes for array in found.values())


def _shortened(attack: Any) -> tuple[Any, float]:
    """Give an attack with fewer rounds, and how many times longer the whole takes."""
    factor = 1.0
    if is_dataclass(attack) and type(attack).__module__.startswith("narcissus.attacks."):
        names = {field.name for field in fields(attack)}
        for option, timed in ROUNDS.items():
            given = getattr(attack, option, 0)
            if option in names and given > timed:
                attack = replace(attack, **{option: timed})  # pyright: ignore[reportArgumentType]
                factor *= given / timed
    return attack, factor
