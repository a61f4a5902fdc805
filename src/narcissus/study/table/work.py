"""Time and memory of an audit, estimated before it starts."""

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
    """The work still to be done."""

    trials: int  # still to be played, over all settings
    seconds: float  # time of all of them in one process
    kept: int  # bytes of all trials of the study together, which are summarised at the end


def estimate(experiment: Experiment, keys: Sequence[str]) -> Work:
    """Time one trial, attack by attack, and extrapolate.

    It is the last to be played: what an interrupted run has kept of others is no measure. What is
    computed once for all settings of a trial, or once for everybody, is timed separately.

    If an attack has many sweeps, steps or starts, a few are timed: so a study that would never end
    is refused before its first trial has ended.
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
    """Estimate the time of trials without the attacks, from the first one played, at ``key``."""
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
    """Refuse what does not fit into this machine, or takes longer than was agreed to.

    ``hours`` is the longest time agreed to; None is any. The observer is told the time if it is
    more than a minute. Raises TooLargeError for memory, LongWorkError for time.
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
    """Estimate small work of ours in this process, and the rest where it can be ended."""
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
    """Estimate the bytes that one process holds for a study."""
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
    if not learners(experiment):
        return experiment, 0.0
    begin = time.perf_counter()
    few = min(experiment.training, FEW)
    one = trained(replace(experiment, training=few, settings=experiment.settings[-1:]), SILENT)
    ready = replace(experiment, trained=one.trained * len(experiment.settings))
    times = experiment.training / few * len(experiment.settings)
    return ready, (time.perf_counter() - begin) * times


def _timed(experiment: Experiment, key: str) -> tuple[float, int]:
    begin = time.perf_counter()
    found = experiment.play(key)
    return time.perf_counter() - begin, sum(array.nbytes for array in found.values())


def _shortened(attack: Any) -> tuple[Any, float]:
    """Return an attack with fewer rounds, and the factor by which the whole takes longer."""
    factor = 1.0
    if is_dataclass(attack) and type(attack).__module__.startswith("narcissus.attacks."):
        names = {field.name for field in fields(attack)}
        for option, timed in ROUNDS.items():
            given = getattr(attack, option, 0)
            if option in names and given > timed:
                attack = replace(attack, **{option: timed})  # pyright: ignore[reportArgumentType]
                factor *= given / timed
    return attack, factor
