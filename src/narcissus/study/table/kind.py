"""The kind of study "table": audit of a release of something computed from a real table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._version import __version__
from narcissus.bounds.theorems import from_outside
from narcissus.errors import InputError
from narcissus.game.executor import Executor
from narcissus.mechanisms import Shelf
from narcissus.observer import Observer
from narcissus.study.engines import executor_of
from narcissus.study.given import digest_of_object
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.parts import own_parts
from narcissus.study.plugins import GIVEN, source_digests
from narcissus.study.results.table import TableResults
from narcissus.study.results.table_attacks import OwnRelease
from narcissus.study.table.assessed import NOT_COVERED, assessed, not_assessed, reading_lines, stuck
from narcissus.study.table.conclude import conclude
from narcissus.study.table.costly import FOLDER, is_costly, with_kept_releases
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.internal import write_internal
from narcissus.study.table.own_release import attack_own_release
from narcissus.study.table.playing import play_trials
from narcissus.study.table.precision import looks_of
from narcissus.study.table.prepare import prepare
from narcissus.study.table.published import read_published
from narcissus.study.table.schema import PolicyFile, TableStudy, ThresholdSpec
from narcissus.study.table.sent_back import ReleasesSentBack
from narcissus.study.table.sweep import overall
from narcissus.study.table.training import learners
from narcissus.study.toml import read_policy


class TableKind:
    """Audits of releases about the people of a table."""

    model: type[BaseModel] = TableStudy
    results: TypeAdapter[Any] = TypeAdapter(TableResults)

    def check(self, study: TableStudy, folder: Path, observer: Observer) -> None:
        """Read and fit everything once: what is wrong is said before any work."""
        experiment = prepare(study, folder, entropy=0, observer=observer)
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
        experiment = prepare(study, folder, options.entropy, options.observer)
        identity = identity_of(study, experiment, folder)
        if options.folder is not None:
            shelf = Shelf(options.folder / FOLDER)
            experiment = with_kept_releases(experiment, shelf, identity)
            if not executor.is_here and any(is_costly(s.mechanism) for s in experiment.settings):
                executor = ReleasesSentBack(executor, shelf)  # others do not have the folder
        plan = looks_of(experiment, study, options, executor, threshold)
        if plan is not None:
            experiment = plan.at(experiment, 0)
        for name, text in experiment.table.notes.items():
            options.observer.note(f"column `{name}`: {text}")
        for line in reading_lines(experiment.table):
            options.observer.note(line)
        digests["data"] = "sha256:" + experiment.table.digest.removeprefix("sha256:")
        again = options.internal is not None or study.release is not None
        experiment, trials = play_trials(experiment, plan, identity, options, executor, again=again)
        if options.internal is not None:
            options.internal.parent.mkdir(parents=True, exist_ok=True)
            write_internal(options.internal, experiment, executor, options.observer)
        decided_at = _decided_at(study, experiment, threshold)
        results = conclude(experiment, trials, threshold, decided_at)
        if study.release is not None:
            own = _own_release(study, experiment, folder, options, executor)
            digests["release"] = f"sha256:{own.digest}"
            digest = options.keyed(digests["release"]).removeprefix("sha256:")
            own = own.model_copy(update={"digest": digest})
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
            assessed=assessed(experiment),
            not_assessed=[*not_assessed(experiment), *stuck(results)],
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
    identity: dict[str, Any] = {
        name: settings[name]
        for name in ("data", "threat", "prior", "mechanism", "attacks", "bounds", "groups")
    }
    identity["groups"].pop("least_group", None)  # merged after the trials
    identity["table"] = experiment.table.digest
    identity["seed"] = str(experiment.entropy)
    identity["own code"] = source_digests(own_parts(study), folder)
    if learners(experiment):
        identity["training"] = study.run.training
    if own := _own_theorems():
        identity["own theorems"] = own
    identity["version"] = __version__
    return identity


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
    read, digests = read_policy(study, folder, policy, PolicyFile)
    found = study.threshold if read is None else read.threshold
    _check_threshold(study, found)
    return found, digests


def _check_threshold(study: TableStudy, threshold: ThresholdSpec | None) -> None:
    """Refuse a threshold that this study cannot be held to."""
    if threshold is None:
        return
    if threshold.targets is not None and study.threat.share_of_columns:
        raise InputError(
            "`threshold.targets` counts people, and with `share_of_columns` nobody is recovered or "
            "not: give `share`, `advantage` or `gain`, or `at_least` in [threat]"
        )
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


KIND = TableKind()
