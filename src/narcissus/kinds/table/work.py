"""Time and memory of an audit, estimated before it starts; mechanisms with costly releases.

One release of a mechanism of the user or of another package may take minutes, and may not be
repeatable. So each is kept in the results folder as it is made: an interrupted run pays for nothing
twice, and a release is timed before the run without being made again in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from narcissus._random import child
from narcissus._threads import one_thread
from narcissus.attacks.table import Ceiling, MeanField, TableAttack
from narcissus.attacks.table.posterior import PAIRWISE_LIMIT
from narcissus.errors import StoreError, TooLargeError
from narcissus.game.executor import Ended, Executor, Job
from narcissus.game.rules import is_own
from narcissus.kinds.table.experiment import Experiment, learners, trained
from narcissus.kinds.table.population import PILOT
from narcissus.mechanisms import KeptReleases, Prepared, ReleaseCache, TableQueries, require_varied
from narcissus.mechanisms.noise import Counts
from narcissus.mechanisms.table.kept import BROUGHT, SENT_BACK
from narcissus.observer import SILENT, Observer
from narcissus.study.kinds import RunOptions
from narcissus.study.work import WORTH_A_NOTE, agree, in_words, machine_memory, timed
from narcissus.success import ColumnsRight
from narcissus.worlds import People

# Options by which an attack's time grows in proportion, and how much of each is timed.
ROUNDS = {"sweeps": 40, "steps": 100, "starts": 1}
FEW = 1  # releases from which attacks learn before they are timed
# Most seconds that a trial is timed of very many people, or of somebody else's generator.
PATIENCE_WITH_LARGE = 300.0
SMALL = 2**28  # bytes of data up to which a trial of ours is a matter of seconds
BASE = 250_000_000  # bytes of a process before it holds anything of the study
NUMBERS = 300  # bytes of single numbers of a person: chances, limits, membership, keys, types


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
    with one_thread():  # as in the workers
        ready, total = _slightly_trained(experiment)
        key = keys[-1]
        bare = replace(ready, attacks=())
        seconds, trial_size = _timed(bare, key)
        total += _without_attacks(bare, key, attempts, seconds)
        for name, attack, trials in experiment.attacks:
            shorter, factor = (attack, 1.0) if name in learners(experiment) else _shortened(attack)
            alone, size = _timed(replace(ready, attacks=((name, shorter, experiment.trials),)), key)
            total += sum(t < trials for t in attempts) * max(0.0, alone - seconds) * factor
            trial_size = max(trial_size, size)
    return Work(len(attempts), total, trial_size * experiment.trials * len(experiment.settings))


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
    experiment: Experiment, keys: Sequence[str], executor: Executor, options: RunOptions
) -> None:
    """Refuse what does not fit into this machine, or takes longer than was agreed to."""
    processes = min(executor.workers, max(1, len(keys)))
    here = processes if executor.is_here else 1  # the trial that is timed
    each = BASE + memory(experiment)
    work = Work(len(keys), 0.0, 0)
    if each < machine_memory():
        options.observer.start("timing one trial", 0)
        work = _estimated(experiment, keys, options) or work
    needed = here * each + work.kept
    if needed > machine_memory():
        raise TooLargeError(
            f"this needs about {needed / 1e9:.1f} GB of memory ({here} processes of "
            f"{each / 1e9:.1f} GB and {work.kept / 1e9:.1f} GB of finished trials), and there are "
            f"{machine_memory() / 1e9:.1f} GB: take fewer workers, targets, trials or columns"
        )
    each_trial = work.seconds / max(1, work.trials)
    if each_trial > WORTH_A_NOTE:
        options.observer.note(
            f"one trial takes about {in_words(each_trial)}: a run that is interrupted loses those "
            "that have not ended, and plays them again"
        )
    agree(
        work.seconds / processes,
        f"{work.trials:,} trials of {each_trial:.3g} s each, in {processes} processes, with about "
        f"{needed / 1e9:.1f} GB of memory",
        hours=options.hours,
        observer=options.observer,
    )


def _estimated(experiment: Experiment, keys: Sequence[str], options: RunOptions) -> Work | None:
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
        options.observer.note("one release is made and timed first")
    elif large:
        options.observer.note(f"a trial of {experiment.targets:,} people is timed first")
    return timed(
        measure, "the first trial", patience, hours=options.hours, observer=options.observer
    )


def memory(experiment: Experiment) -> int:
    """Estimate the bytes that one process holds for a study."""
    attacks = [attack for _, attack, _ in experiment.attacks]
    releases = experiment.settings[0].mechanism.releases
    people = memory_bytes(
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
    pilot = trained(replace(experiment, training=few, settings=experiment.settings[-1:]), SILENT)
    ready = replace(experiment, trained=pilot.trained * len(experiment.settings))
    times = experiment.training / few * len(experiment.settings)
    return ready, (time.perf_counter() - begin) * times


def _timed(experiment: Experiment, key: str) -> tuple[float, int]:
    begin = time.perf_counter()
    trial = experiment.play(key)
    return time.perf_counter() - begin, sum(array.nbytes for array in trial.values())


def _shortened(attack: Any) -> tuple[Any, float]:
    """Return an attack with fewer rounds, and the factor by which the whole takes longer."""
    factor = 1.0
    if is_dataclass(attack) and type(attack).__module__.startswith("narcissus.attacks."):
        names = {field.name for field in fields(attack)}
        for option, timed in ROUNDS.items():
            rounds = getattr(attack, option, 0)
            if option in names and rounds > timed:
                attack = replace(attack, **{option: timed})  # pyright: ignore[reportArgumentType]
                factor *= rounds / timed
    return attack, factor


def memory_bytes(
    queries: TableQueries,
    success: ColumnsRight,
    people: int,
    attacks: Sequence[TableAttack],
    releases: type = Counts,
    *,
    factored: bool = False,
) -> int:
    """Estimate the bytes that the people of a trial take in a process."""
    if factored:
        chains = max((getattr(attack, "chains", 1) for attack in attacks), default=1)
        tables = sum(pattern.tables for pattern in queries.patterns)
        return (8 * people * tables + 16 * queries.cells) * chains + 40 * people * tables
    codes = 4 * people * len(queries.sizes)
    beliefs = 8 * people * success.guesses  # at least as many as values
    total = 3 * codes + NUMBERS * people + 2 * beliefs + 24 * queries.cells
    if any(attack.uses != "prior" for attack in attacks):
        total += 2 * beliefs
    # who reads noisy counts type by type holds nobody's cells
    by_types = MeanField | Ceiling if issubclass(releases, Counts) else ()
    if any(attack.uses != "prior" and not isinstance(attack, by_types) for attack in attacks):
        looked_up = queries.tables
        if people <= PAIRWISE_LIMIT:  # there every value's cell is looked up at once
            looked_up = sum(p.tables * p.size for p in queries.patterns)
        total += 2 * beliefs + 32 * people * looked_up
    return total


def require_memory(queries: TableQueries, success: ColumnsRight, people: int, needed: int) -> None:
    """Refuse people, values or tables that need more memory than the machine has, in bytes."""
    there = machine_memory()
    needed += BASE
    if needed > there:
        raise TooLargeError(
            f"{people:,} people with {success.guesses:,} joint values of the unknown columns, in "
            f"{queries.tables:,} tables, need about {needed / 1e9:.1f} GB, and there are "
            f"{there / 1e9:.1f} GB: take fewer targets, fewer unknown columns or coarser bins, or "
            "a smaller k"
        )


def is_costly(mechanism: Prepared) -> bool:
    """Whether parts of a mechanism are defined outside this package."""
    return mechanism.must_vary or bool(mechanism.assumes)


def with_kept_releases(
    experiment: Experiment, cache: ReleaseCache | None, identity: Mapping[str, object]
) -> Experiment:
    """Keep the releases of costly mechanisms in a cache, by what trials depend on."""
    if cache is None or not any(is_costly(s.mechanism) for s in experiment.settings):
        return experiment
    parts = {name: identity[name] for name in ("mechanism", "own code", "data", "table", "version")}
    settings = tuple(
        replace(
            setting,
            mechanism=KeptReleases(
                setting.mechanism,
                cache,
                json.dumps([setting.label, number, parts], sort_keys=True, default=str),
            ),
        )
        for number, setting in enumerate(experiment.settings)
    )
    return replace(experiment, settings=settings)


def refuse_fixed_seeds(experiment: Experiment) -> None:
    """Run each of the user's mechanisms twice on the same people; refuse equal rows."""
    people = People(experiment.prior, experiment.targets)
    [codes] = people.draw(1, child(experiment.entropy, PILOT, 0)).data
    for number, setting in enumerate(experiment.settings):
        require_varied(setting.mechanism, codes, child(experiment.entropy, PILOT, 1, number))


class ReleasesSentBack:
    """An executor whose workers receive kept releases, and send back those that they make."""

    is_here = False

    def __init__(self, executor: Executor, cache: ReleaseCache) -> None:
        self._executor, self._cache = executor, cache
        self._told = 0

    @property
    def workers(self) -> int:
        return self._executor.workers

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and yield each as it ends, after keeping its releases."""
        brought, left = self._cache.to_bring()
        if left:
            observer.note(
                f"{left} kept releases are not sent to the workers, which make them again: at most "
                f"{BROUGHT / 2**20:g} MiB are sent"
            )
        away = _Away(job, self._cache, brought)
        with closing(self._executor.play(away, keys, observer)) as ending:
            for key, (outcome, made, large) in ending:
                for name, content in made.items():
                    if Path(name).name != name:
                        raise StoreError(f"a worker sent a release back that is called {name!r}")
                    self._cache.put(name, content)
                if large > self._told:
                    self._told = large
                    observer.note(
                        f"a release of {large / 2**20:.3g} MiB was not kept: more than "
                        f"{SENT_BACK / 2**20:g} MiB are not sent back"
                    )
                yield key, outcome

    def close(self) -> None:
        self._executor.close()


@dataclass(frozen=True)
class _Away:
    """A job away from the folder; it returns the releases made along with the result of a key."""

    job: Job
    cache: ReleaseCache
    """The very one of the job's mechanisms: they are sent together."""
    brought: Mapping[str, bytes]

    def __call__(self, key: str) -> tuple[Any, dict[str, bytes], int]:
        self.cache.leave(self.brought)
        try:
            outcome = self.job(key)
        except BaseException:
            self.cache.handed_over()
            raise
        return outcome, *self.cache.handed_over()
