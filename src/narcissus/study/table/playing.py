"""Play the trials of a table study: approved first, stored as they end, look by look if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from narcissus.game.executor import Executor
from narcissus.study.engines.holder import split_if_few
from narcissus.study.kinds import RunOptions
from narcissus.study.pool import play_all
from narcissus.study.store import FILE, TrialStore
from narcissus.study.table import work
from narcissus.study.table.costly import refuse_fixed_seeds
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.precision import LookPlan, play_looks
from narcissus.study.table.sent import SentExperiment
from narcissus.study.table.training import trained


def play_trials(
    experiment: Experiment,
    plan: LookPlan | None,
    identity: Mapping[str, object],
    options: RunOptions,
    executor: Executor,
    *,
    again: bool,
) -> tuple[Experiment, Mapping[str, Any]]:
    """Play what is not played yet; return the experiment as it was played, and all trials.

    ``experiment`` is at its first look, if there are several; ``plan`` decides the end if the study
    asks for a precision. Stored trials are this study's if they have its ``identity``. With
    ``again`` attacks learn even if all trials are there, since others will use them.

    Raises
    ------
    TooLargeError, LongWorkError
        See `narcissus.study.table.work.check`.
    """
    keys = experiment.keys()
    agreed = partial(
        work.check,
        experiment,
        executor=executor,
        hours=options.hours,
        observer=options.observer,
    )
    is_new = options.folder is None or options.restart or not (options.folder / FILE).exists()
    if is_new:
        agreed(keys)  # before a folder is made for it
    store = None
    try:
        if options.folder is not None:
            store = TrialStore(
                options.folder,
                identity,
                restart=options.restart,
                observer=options.observer,
            )
            if not is_new:
                held = store.keys()
                agreed([key for key in keys if key not in held])
        looking = plan is not None  # more may be played than at the first look
        if again or looking or store is None or len(store.keys()) < len(keys):
            refuse_fixed_seeds(experiment)
            experiment = trained(experiment, options.observer, executor)
        experiment, trials = _played(experiment, plan, store, executor, options, agreed)
        _require_alike(experiment, trials, store)
        return experiment, trials
    finally:
        if store is not None:
            store.close()


def _played(
    experiment: Experiment,
    plan: LookPlan | None,
    store: TrialStore | None,
    executor: Executor,
    options: RunOptions,
    agreed: Callable[[Sequence[str]], None],
) -> tuple[Experiment, Mapping[str, Any]]:
    kept: dict[str, Any] = {}

    def play(now: Experiment) -> Mapping[str, Any]:
        keys = [key for key in now.keys() if key not in kept]  # noqa: SIM118
        held = set[str]() if store is None else store.keys()
        if kept:  # the first trials were agreed to beforehand
            agreed([key for key in keys if key not in held])
        who = executor
        if not now.factored:
            todo = [key for key in keys if key not in held]
            who = split_if_few(executor, todo, now.targets, now.queries.values)
        kept.update(
            play_all(
                SentExperiment.of(now),
                keys,
                store=store,
                executor=who,
                what="trials",
                observer=options.observer,
            )
        )
        return kept

    if plan is None:
        return experiment, play(experiment)
    return play_looks(experiment, plan, play, options.observer)


def _require_alike(
    experiment: Experiment, trials: Mapping[str, Mapping[str, Any]], store: TrialStore | None
) -> None:
    """Refuse stored trials with other contents than this study's: others wrote them."""
    for number in range(len(experiment.settings)):
        own = [trials[f"{trial}/{number}"] for trial in range(experiment.trials)]
        shapes = {name: (a.shape, a.dtype.kind) for one in own for name, a in one.items()}
        for trial, one in enumerate(own):
            taking = {name for name, _, most in experiment.attacks if trial < most}
            left_out = {name for name, _, _ in experiment.attacks} - taking
            expected = {n for n in shapes if n.rpartition("/")[0] not in left_out}
            fits = all((a.shape, a.dtype.kind) == shapes[name] for name, a in one.items())
            if store is not None and (set(one) != expected or not fits):
                raise store.forged(f"trial {trial}/{number} holds {', '.join(sorted(one)[:5])}")
