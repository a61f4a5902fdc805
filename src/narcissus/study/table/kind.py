"""The kind of study "table": audit of a release of something computed from a real table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus.attacks.table import MeanField
from narcissus.bounds import THEOREMS, Theorem
from narcissus.bounds.theorems import from_outside
from narcissus.errors import InputError
from narcissus.game.executor import Executor
from narcissus.results import NotAssessed
from narcissus.study.engines import executor_of
from narcissus.study.given import digest_of_object
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.parts import own_parts
from narcissus.study.plugins import GIVEN, source_digests
from narcissus.study.pool import play_all
from narcissus.study.results.table import OwnRelease, TableResults
from narcissus.study.store import FILE, TrialStore
from narcissus.study.table import work
from narcissus.study.table.conclude import conclude
from narcissus.study.table.costly import refuse_fixed_seeds, with_kept_releases
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.internal import write_internal
from narcissus.study.table.own_release import attack_own_release
from narcissus.study.table.precision import with_trials
from narcissus.study.table.prepare import prepare
from narcissus.study.table.published import read_published
from narcissus.study.table.schema import PolicyFile, TableStudy, ThresholdSpec
from narcissus.study.table.sweep import overall
from narcissus.study.table.training import learners, trained
from narcissus.study.toml import read_document, validate

NOT_COVERED = [
    "Columns that the attacker is assumed not to know but might learn elsewhere: the threat model "
    "names what is known.",
    "Anything published besides this release: other tables, earlier or later releases of the same "
    "people.",
    "Attackers who know more about the joint distribution than the prior says, or whose secrets "
    "are not independent given the known columns (families, copies of a record).",
    "How the bins and the columns were chosen, if that choice looked at the data.",
    "The computer that makes the release: floating-point and timing side channels.",
]


class TableKind:
    """Audits of releases about the people of a table."""

    model: type[BaseModel] = TableStudy
    results: TypeAdapter[Any] = TypeAdapter(TableResults)

    def check(self, study: TableStudy, folder: Path) -> None:
        """Read and fit everything once: what is wrong is said before any work."""
        experiment = prepare(study, folder, entropy=0)
        if study.release is not None:
            read_published(study, experiment, folder / study.release.path)
        _threshold(study, folder, None)

    def play(self, study: TableStudy, folder: Path, options: RunOptions) -> Outcome:
        """Play all trials and draw conclusions."""
        with executor_of(options, study.run) as executor:
            return self._play(study, folder, options, executor)

    def _play(
        self, study: TableStudy, folder: Path, options: RunOptions, executor: Executor
    ) -> Outcome:
        threshold, digests = _threshold(study, folder, options.policy)
        options.observer.note("reading the table and fitting the prior")
        experiment = prepare(study, folder, options.entropy)
        identity = identity_of(study, experiment, folder)
        if executor.is_here:  # others do not have the folder
            experiment = with_kept_releases(experiment, options.folder, identity)
        experiment = with_trials(experiment, study, options)
        for name, text in experiment.table.notes.items():
            options.observer.note(f"column `{name}`: {text}")
        digests["data"] = "sha256:" + experiment.table.digest.removeprefix("sha256:")
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
            replayed = options.internal is not None or study.release is not None
            if replayed or store is None or len(store.keys()) < len(keys):
                refuse_fixed_seeds(experiment)
                experiment = trained(experiment, options.observer, executor)
            trials = play_all(
                _Player(experiment, from_outside()),
                keys,
                store=store,
                executor=executor,
                what="trials",
                observer=options.observer,
            )
            _require_alike(experiment, trials, store)
        finally:
            if store is not None:
                store.close()
        if options.internal is not None:
            options.internal.parent.mkdir(parents=True, exist_ok=True)
            write_internal(options.internal, experiment)
        decided_at = _decided_at(study, experiment, threshold)
        results = conclude(experiment, trials, threshold, decided_at)
        if study.release is not None:
            own = _own_release(study, experiment, folder, options, executor)
            digests["release"] = f"sha256:{own.digest}"
            results = [result.model_copy(update={"own_release": own}) for result in results]
        whole = overall(results, threshold, decided_at)
        return Outcome(
            title=study.title or f"{experiment.settings[0].title} of {_source(study)}",
            status=whole.status,
            verdict=whole.verdict,
            grade=whole.grade,
            assumptions=whole.assumptions,
            contradictions=whole.contradictions,
            results=TableResults(tuple(results) if study.mechanism.swept else results[0]),
            assessed=_assessed(experiment),
            not_assessed=_not_assessed(experiment),
            not_covered=NOT_COVERED,
            digests=digests,
        )


def _own_release(
    study: TableStudy,
    experiment: Experiment,
    folder: Path,
    options: RunOptions,
    executor: Executor,
) -> OwnRelease:
    """Attack the release that the study names."""
    assert study.release is not None
    path = study.release.path
    release, digest = read_published(study, experiment, folder / path)
    return attack_own_release(
        experiment, release, executor, path=path, digest=digest, observer=options.observer
    )


def _decided_at(
    study: TableStudy, experiment: Experiment, threshold: ThresholdSpec | None
) -> str | None:
    """Give the label of the setting that the threshold names, if it names one."""
    if threshold is None or threshold.at is None:
        return None
    return experiment.settings[study.mechanism.levels.index(threshold.at)].label


def _require_alike(
    experiment: Experiment, trials: Mapping[str, Mapping[str, Any]], store: TrialStore | None
) -> None:
    """Refuse finished trials that hold something else than this study's: others wrote them."""
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


def _source(study: TableStudy) -> str:
    if study.data.table is not None and study.data.table.startswith(GIVEN):
        return "a data frame"
    return study.data.table or Path(str(study.data.path)).name


def identity_of(study: TableStudy, experiment: Experiment, folder: Path) -> dict[str, object]:
    """Say what trials depend on: two studies with the same identity may share trials.

    The number of trials and workers, thresholds and titles are not part of it, so that a run can
    be extended.
    """
    settings = study.model_dump(mode="json")
    identity: dict[str, object] = {
        name: settings[name]
        for name in ("data", "threat", "prior", "mechanism", "attacks", "bounds", "groups")
    }
    identity["table"] = experiment.table.digest
    identity["seed"] = str(experiment.entropy)
    identity["own code"] = source_digests(own_parts(study), folder)
    if learners(experiment):
        identity["training"] = study.run.training
    if own := _own_theorems():
        identity["own theorems"] = own
    identity["version"] = metadata.version("narcissus")
    return identity


@dataclass(frozen=True)
class _Player:
    """Plays a trial where the theorems of this process may not be: in a worker process."""

    experiment: Experiment
    theorems: dict[str, Theorem]

    def __call__(self, key: str) -> dict[str, Any]:
        THEOREMS.update(self.theorems)
        return self.experiment.play(key)


def _own_theorems() -> dict[str, str]:
    """Give the digests of what was added to the registry of theorems, by id."""
    return {
        name: " ".join(
            digest_of_object(said) for said in (one.limit, one.each, one.tails) if said is not None
        )
        for name, one in from_outside().items()
    }


def _threshold(
    study: TableStudy, folder: Path, policy: Path | None
) -> tuple[ThresholdSpec | None, dict[str, str]]:
    """Give the threshold and, if it comes from a policy file, the file's digest."""
    if policy is None and study.policy is not None:
        policy = folder / study.policy
    if policy is None:
        _check_threshold(study, study.threshold)
        return study.threshold, {}
    document = read_document(policy)
    found = validate(PolicyFile, document).threshold
    if study.threshold is not None:
        raise InputError(
            f"the study has a [threshold] of its own, and the policy {policy} another: keep one"
        )
    _check_threshold(study, found)
    digest = hashlib.sha256(policy.read_bytes()).hexdigest()
    return found, {"policy": f"sha256:{digest}"}


def _check_threshold(study: TableStudy, threshold: ThresholdSpec | None) -> None:
    """Refuse a threshold that this study cannot be held to."""
    if threshold is None:
        return
    levels = study.mechanism.levels
    if threshold.at is not None and threshold.at not in levels:
        known = ", ".join(f"{level:g}" for level in levels)
        raise InputError(
            f"`threshold.at` is {threshold.at:g}, which is no level of [mechanism]: {known}"
        )
    if threshold.worst_group is not None:
        if threshold.gain is not None and study.threat.people != "prior":
            raise InputError(
                '`threshold.worst_group` beside `gain` needs people = "prior": what attempts '
                "score on fresh people of a group of real rows is not known"
            )
        known, unknown = study.threat.known, study.threat.unknown
        told = study.groups.singled_out or any(
            c not in unknown if unknown is not None else c in (known or [])
            for c in study.groups.columns
        )
        if not told:
            raise InputError(
                "`threshold.worst_group` needs a group whose members can be told beforehand: name "
                "a known column in `groups.columns`, or set `groups.singled_out`"
            )


def _assessed(experiment: Experiment) -> list[str]:
    unknown = [experiment.table.names[c] for c in experiment.queries.unknown]
    success = experiment.success.describe()
    items = [
        f"How much of {', '.join(unknown)} is recovered ({success}) by: "
        + ", ".join(name for name, _, _ in experiment.attacks),
        "What the same attempts recover on fresh people: the attackers' own baselines",
    ]
    if any(setting.guarantee is not None for setting in experiment.settings):
        items.append(
            "What no attacker can exceed, on average and with confidence, from the guarantee"
        )
    if experiment.groups.names:
        items.append("How groups of people fare")
    return items


def _not_assessed(experiment: Experiment) -> list[NotAssessed]:
    items = [
        NotAssessed(
            f"the order of the column `{name}`",
            text,
            "correct those cells, empty them and say what `missing` means, or drop the column",
        )
        for name, text in experiment.table.notes.items()
    ]
    bare = [f"'{s.label}'" for s in experiment.settings if s.guarantee is None]
    if bare:
        items.append(
            NotAssessed(
                f"what no attacker can exceed at {', '.join(bare)}",
                "the release guarantees nothing, and no theorem limits the attacker",
                "add noise, or take another mechanism with a guarantee",
            )
        )
    if not experiment.settings[0].mechanism.cellwise:
        items.append(
            NotAssessed(
                "the ceiling",
                "what an attacker could do who is told everybody else's secrets cannot be "
                "computed for this release: better attacks than those played may exist",
                "release counts whose cells are changed one by one",
            )
        )
    elif not any(attack.informed for _, attack, _ in experiment.attacks):
        items.append(
            NotAssessed("the ceiling", "the study does not ask for it", "add [attacks.ceiling]")
        )
    noises = [s.mechanism.noise for s in experiment.settings]
    laplace = any(noise is not None and noise.kind == "laplace" for noise in noises)
    if laplace and any(isinstance(a, MeanField) for _, a, _ in experiment.attacks):
        items.append(
            NotAssessed(
                "the exact mean-field posterior under Laplace noise",
                "the mean field uses Gaussian noise of the same variance; as an attack it is "
                "valid, but a better one may exist",
                "add a posterior attack with method = 'gibbs', which uses the exact density",
            )
        )
    if experiment.real_rows:
        items.append(
            NotAssessed(
                "how wrong the fitted prior is about the real people, beyond the averages tested",
                "targets are real rows: the ceiling and the bounds need the prior to be right "
                "about each of them; what attacks and decoys score needs nothing, and tests the "
                "prior on average",
                "compare with people = 'prior', where the prior is known exactly",
            )
        )
    return items


KIND = TableKind()
