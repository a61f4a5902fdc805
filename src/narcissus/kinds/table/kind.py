"""The kind of study "table": read, check, fit, play; every refusal of bad input happens here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from narcissus._files import write_atomically
from narcissus._unchanged import unchanged_files
from narcissus._version import __version__
from narcissus._visible import csv_text
from narcissus.attacks.table import (
    MeanField,
    OwnLearner,
    OwnTableAttack,
    TableAttack,
    factored_attack,
)
from narcissus.attacks.table import ceiling as eliminated
from narcissus.attacks.table.ceiling import EliminatedCeiling, decides
from narcissus.bounds.theorems import user_theorems
from narcissus.bounds.threat import Nearby
from narcissus.errors import InputError, TooLargeError
from narcissus.game.executor import Executor, soon
from narcissus.kinds.engine import Done, Kind, PreparedWork
from narcissus.kinds.table import proofs
from narcissus.kinds.table.experiment import Experiment, is_factored, learners, shown
from narcissus.kinds.table.found import (
    LIMITS,
    Accepted,
    HeldOutGuess,
    OwnRelease,
    SettingFound,
    TableResult,
)
from narcissus.kinds.table.judgement import JudgedSetting, of_table, setting_cases
from narcissus.kinds.table.playing import looks_of, play_trials
from narcissus.kinds.table.population import Groups, settings_of
from narcissus.kinds.table.published import attack_own_release, read_published
from narcissus.kinds.table.schema import (
    DEFAULT_TRIALS,
    BinsSpec,
    PolicyFile,
    TableStudy,
    ThresholdSpec,
    quicker,
)
from narcissus.kinds.table.schema import Attack as AttackSection
from narcissus.kinds.table.summary import summarise
from narcissus.kinds.table.tested import PriorTest, source_of, tested_at, untested
from narcissus.kinds.table.twins import cautions
from narcissus.kinds.table.work import (
    ReleasesSentBack,
    is_costly,
    memory_bytes,
    require_memory,
    with_kept_releases,
)
from narcissus.knowledge import FactoredTargets
from narcissus.mechanisms import Columns, Prepared, ReleaseCache, TableMechanism
from narcissus.observer import SILENT, Observer
from narcissus.priors import RecordPrior
from narcissus.results import NotAssessed, Status
from narcissus.rows import Findings, StudyCriterion
from narcissus.study.engines import executor_of
from narcissus.study.given import digest_of_object
from narcissus.study.keyed import WITHHELD
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.marks import RELEASES, mark_folder
from narcissus.study.parts import Part, own_parts
from narcissus.study.plugins import source_digests
from narcissus.study.shareable import without_folders
from narcissus.success import ColumnShare, ColumnsRight
from narcissus.tables import Bins, CountedTable, Table, read_table
from narcissus.tables.read import read_one_of_each
from narcissus.tables.spelling import described, respellings

Attacks = tuple[tuple[str, TableAttack, int], ...]

CELLWISE = ("prior", "posterior", "ceiling")
ANY_RELEASE = ("prior", "posterior", "nearest", "stack")
"""Attacks where a study names none: with and without what everybody else's secrets would tell."""


def load_table(study: TableStudy, folder: Path, observer: Observer = SILENT) -> Table:
    data = study.data
    source = source_of(study, folder)
    stamp = None
    if isinstance(source, str) and Path(source).exists():  # a table is kept until its file changes
        file_stat = Path(source).stat()
        stamp = (source, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns)
    if (cached_table := data.held(stamp)) is not None:
        return cached_table
    how: dict[str, Any] = {
        "columns": data.columns,
        "drop": [*data.drop, *data.undeclared],
        "bins": {n: Bins(**spec.model_dump(exclude_none=True)) for n, spec in data.bins.items()},
        "missing": data.missing,
        "read_as": data.read_as,
        **({} if data.max_rows is None else {"max_rows": data.max_rows}),
    }
    if data.unit is not None:
        return read_one_of_each(source, data.unit, **how)
    table = read_table(source, **how, observer=observer)
    if isinstance(table, CountedTable):
        data.hold(stamp, table)
    return table


def _columns(table: Table, key: str, names: Sequence[str]) -> list[int]:
    try:
        return [table.index(name) for name in names]
    except InputError as error:
        raise InputError(f"`{key}`: {error}") from error


def unknown_columns(study: TableStudy, table: Table) -> tuple[int, ...]:
    """Return the indices of the columns that the attacker does not know."""
    threat = study.threat
    if threat.unknown is not None:
        unknown = _columns(table, "threat.unknown", threat.unknown)
        if len(set(unknown)) != len(unknown):
            raise InputError(f"`threat.unknown` names a column twice: {threat.unknown}")
    else:
        known = set(_columns(table, "threat.known", threat.known or []))
        unknown = [c for c in range(table.columns) if c not in known]
        if not unknown:
            raise InputError("`threat.known` names every column: there is nothing to reconstruct")
    return tuple(unknown)


def success_of(study: TableStudy, table: Table, unknown: tuple[int, ...]) -> ColumnsRight:
    shape = tuple(table.sizes[c] for c in unknown)
    names = [table.names[c] for c in unknown]
    within = [0.0] * len(unknown)
    positions: list[tuple[float, ...] | None] = [None] * len(unknown)
    for name, distance in study.threat.within.items():
        column = table.index(name)
        if column not in unknown:
            raise InputError(f"`threat.within` names `{name}`, which is not an unknown column")
        if not table.ordered[column]:
            raise InputError(f"`threat.within` names `{name}`, whose values have no order")
        within[names.index(name)] = distance
        numbers = table.values[column]
        positions[names.index(name)] = None if numbers is None else tuple(map(float, numbers))
    at_least = study.threat.at_least
    if at_least is not None and at_least > len(unknown):
        raise InputError(
            f"`threat.at_least` is {at_least}, but only {len(unknown)} columns are unknown"
        )
    if study.threat.share_of_columns and len(unknown) > 1:
        return ColumnShare(shape, tuple(within), None, tuple(positions))
    return ColumnsRight(shape, tuple(within), at_least, tuple(positions))


def nearby_of(study: TableStudy, success: ColumnsRight, *, factored: bool) -> Nearby | None:
    """Return how far the prior may be from the true one; None: it is taken as it is.

    InputError: what is proved for one prior is not known to hold for those near it.
    """
    nearby, name = study.threat.nearby, "prior_factor"
    if nearby is None:
        return None
    if nearby.factor is None:
        name = "prior_distance"
    if not success.exact or factored:
        raise InputError(
            f"`threat.{name}` needs a guess of all unknown columns that is right or wrong, and "
            "few enough values to list: leave out `within`, `at_least` and `share_of_columns`, or "
            "make fewer columns unknown"
        )
    return nearby


def fit_prior(part: Part, table: Table) -> RecordPrior:
    try:
        prior = part.build(table)
    except InputError as error:
        raise type(error)(f"`prior`: {error}") from error
    if not isinstance(prior, RecordPrior):
        raise InputError(
            f"{part.name} must give a prior: names, sizes, sample, conditional, log_probability, "
            "describe (see docs/guides/tables/priors.md)"
        )
    if tuple(prior.sizes) != table.sizes:
        raise InputError(
            f"{part.name} has columns of {tuple(prior.sizes)} values, the table of {table.sizes}"
        )
    return prior


def attack_of(name: str, part: Part) -> TableAttack:
    attack = part.build()
    if ":" not in part.name and isinstance(attack, TableAttack):
        return attack
    for member in ("guess", "title", "uses", "informed"):
        if not hasattr(attack, member):
            raise InputError(
                f"attack `{name}`: {part.name} has no `{member}` "
                "(see docs/guides/tables/attacks.md)"
            )
    if attack.informed:
        raise InputError(
            f"attack `{name}`: only the ceiling is told the other secrets, and it already "
            "guesses best; set `informed = False`"
        )
    learns = hasattr(attack, "train")
    return OwnLearner(name, attack) if learns else OwnTableAttack(name, attack)


def planned(part: Part) -> list[TableMechanism]:
    levels = part.each()
    for level in levels:
        if not isinstance(level, TableMechanism):
            raise InputError(
                f"the mechanism {part.name} is no mechanism of tables: make it a subclass of "
                "narcissus.mechanisms.TableMechanism, or give a function from a data frame to the "
                "data frame that is released (see docs/develop/extending.md)"
            )
    return levels


def attacks_of(study: TableStudy, mechanism: Prepared, trials: int) -> Attacks:
    """Return the attacks of a study, all of which must read the release, with their trials."""
    if "attacks" not in study.model_fields_set:
        parts = usual_attacks(CELLWISE if mechanism.cellwise else ANY_RELEASE, mechanism)
    else:
        parts = study.attacks
    attacks = tuple(
        (name, attack_of(name, part), part.also["trials"] or trials) for name, part in parts.items()
    )
    for name, attack, _ in attacks:
        if not can_read(attack, mechanism):
            reads = " or ".join(kind.__name__ for kind in attack.reads)
            raise InputError(
                f"attack `{name}` reads {reads}, and what is released is "
                f"{mechanism.releases.__name__}: take others, such as "
                f"{', '.join(usual_attacks(ANY_RELEASE, mechanism))} (`narcissus init --parts "
                "table-attack` lists all)"
            )
        if attack.informed and not mechanism.cellwise:
            raise InputError(
                f"attack `{name}`: the ceiling cannot be computed for this release, whose cells "
                "depend on more than their own counts: leave it out"
            )
    return attacks


def usual_attacks(names: Sequence[str], mechanism: Prepared) -> dict[str, Part]:
    """Return the attacks by these names that can read the release, as a study names them."""
    section = TypeAdapter[Part](AttackSection)
    parts = {name: section.validate_python({"name": name}) for name in names}
    return {n: part for n, part in parts.items() if can_read(attack_of(n, part), mechanism)}


def can_read(attack: TableAttack, mechanism: Prepared) -> bool:
    return any(issubclass(mechanism.releases, kind) for kind in attack.reads)


def without_joint(attacks: Attacks, mechanism: Prepared) -> Attacks:
    """Return the same attacks for so many unknown columns that no joint value is listed."""
    queries = mechanism.queries
    many = f"{len(queries.unknown)} unknown columns with {queries.values:,} joint values"
    replacements: list[tuple[str, TableAttack, int]] = []
    for name, attack, trials in attacks:
        other = factored_attack(attack)
        if other is None:
            raise InputError(
                f"attack `{name}` lists joint values, and there are too many of {many}: take "
                "prior, posterior, gibbs, rap, ceiling or an own attack, or fewer or coarser "
                "unknown columns"
            )
        if not can_read(other, mechanism):
            raise InputError(
                f"attack `{name}` reads noisy counts where there are {many}, and what is released "
                f"is {mechanism.releases.__name__}: take fewer or coarser unknown columns"
            )
        replacements.append((name, other, trials))
    return tuple(replacements)


def with_ceiling(attacks: Attacks, pilot: FactoredTargets) -> Attacks:
    """Replace the sampled ceiling by the exact one, if elimination computes it."""
    if not eliminated.decides(pilot.success.columns):
        return attacks
    try:
        narrow = eliminated.work(pilot) <= eliminated.WORK
    except TooLargeError:
        narrow = False
    return tuple(
        (name, EliminatedCeiling() if narrow and attack.informed else attack, trials)
        for name, attack, trials in attacks
    )


def people_of(study: TableStudy, table: Table) -> int:
    threat = study.threat
    if threat.people == "all":
        if "targets" in threat.model_fields_set:
            raise InputError(
                '`threat.targets` is the whole table with people = "all": leave it out'
            )
        return table.rows
    if threat.people == "rows" and threat.targets > table.rows:
        raise InputError(
            f"`threat.targets` is {threat.targets}, but the table has {table.rows} rows to draw "
            "from"
        )
    return threat.targets


def prepare(
    study: TableStudy, folder: Path | str, entropy: int, observer: Observer = SILENT
) -> Experiment:
    """Make a study ready: read, check, fit; every refusal of bad input happens here."""
    folder = Path(folder)
    observer.start("reading the table", 0)
    table = load_table(study, folder, observer)
    observer.start("fitting the prior", 0)
    release = planned(study.mechanism)
    unknown = unknown_columns(study, table)
    success = success_of(study, table, unknown)
    n = people_of(study, table)
    columns = Columns(table.names, table.labels, table.ordered, unknown)
    settings = settings_of(release, columns)
    mechanism = settings[0].mechanism
    exact = all(setting.guarantee is None for setting in settings)
    if exact and study.mechanism.options.get("delta") is not None:
        raise InputError("`mechanism.delta`: exact counts guarantee nothing: leave it out")
    trials = study.run.most or DEFAULT_TRIALS
    attacks = attacks_of(study, mechanism, trials)
    factored = is_factored(mechanism.queries)
    if factored:
        attacks = without_joint(attacks, mechanism)
    queries, played = mechanism.queries, [attack for _, attack, _ in attacks]
    needed = memory_bytes(queries, success, n, played, mechanism.releases, factored=factored)
    require_memory(queries, success, n, needed)
    draft = Experiment(
        table=table,
        prior=fit_prior(study.prior, table),
        success=success,
        settings=settings,
        attacks=attacks,
        targets=n,
        real_rows=study.threat.people != "prior",
        everybody=study.threat.people == "all",
        trials=trials,
        levels=tuple(study.bounds.levels),
        points=(),
        groups=Groups.of(
            table, study.groups.columns, study.groups.unusual, study.groups.singled_out
        ),
        entropy=entropy,
        nearby=nearby_of(study, success, factored=factored),
        least_group=study.groups.least_group,
        judges_groups=_judges_groups(study),
        confidence=study.run.confidence,
        training=study.run.training,
    )
    pilot = draft.known(0)
    if isinstance(pilot, FactoredTargets):
        draft = replace(draft, attacks=with_ceiling(attacks, pilot))
    if success.by_column:  # nothing is proved of how many are reconstructed
        return draft
    observer.start("proving what no attacker exceeds", 0)
    points = tuple(
        tuple(proofs.best_points(pilot, s.guarantee, draft.levels)) if s.guarantee else ()
        for s in settings
    )
    return replace(draft, points=points)


def _judges_groups(study: TableStudy) -> bool:
    """Return whether a verdict speaks of each group of a study, not of all people alone."""
    threshold = study.threshold
    return threshold is not None and (
        threshold.worst_group is not None or bool(study.groups.columns)
    )


MAX_ROWS = 200_000


def write_internal(
    path: Path, experiment: Experiment, executor: Executor, observer: Observer
) -> None:
    """Write a CSV with a row for each person, setting and attack of the first trials."""
    settings = len(experiment.settings)
    per_trial = experiment.targets * settings * len(experiment.attacks)
    count = max(1, min(experiment.trials, MAX_ROWS // max(1, per_trial)))
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    head = ["trial", "person", "setting", "attack", "prior_of_secret", "prior_of_guess", "right"]
    head += [f"{prefix}_{name}" for prefix in ("true", "guess") for name in names]
    keys = experiment.keys()[: count * settings]
    rows = chain.from_iterable(soon(executor, partial(_rows, experiment), keys, observer))
    write_atomically(path, csv_text(chain([head], rows)), private=True)


def _rows(experiment: Experiment, key: str) -> list[list[Any]]:
    played = experiment.round(*map(int, key.split("/")))
    [targets], [people] = played.known, played.draw.data
    secrets, rows = targets.secrets(people), list[list[Any]]()
    true, chances = people[:, list(experiment.queries.unknown)], targets.secret_chance(secrets)
    for name, outcome in played.outcomes.items():
        [attempt], [hits], [chance] = outcome.attempts.values, outcome.success, outcome.baseline
        guesses = targets.success.split_guess(attempt)
        for i in range(experiment.targets):
            row = [played.number, i, played.scenario.name, name]
            right = float(hits[i]) if targets.success.by_column else int(hits[i])
            row += [chances[i], chance[i], right]
            for codes in (true[i], guesses[i]):
                row += [said_label(experiment, c, int(v)) for c, v in enumerate(codes)]
            rows.append(row)
    return rows


def said_label(experiment: Experiment, column: int, guess: int) -> str:
    """Name a guess of an unknown column: a label, or the two that it lies between."""
    labels = experiment.table.labels[experiment.queries.unknown[column]]
    if guess < len(labels):
        return labels[guess]
    numbers = experiment.success.windows[column].numbers
    after = int(np.searchsorted(numbers[: len(labels)], numbers[guess]))
    return f"{numbers[guess]:g} (between {labels[after - 1]} and {labels[after]})"


def assessed(experiment: Experiment) -> list[str]:
    """Describe which attacks were played against whom, a sentence each."""
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
    table = experiment.table
    if table.counts is not None:
        items.append(
            f"All {table.rows:,} rows of the table, counted as they were read: "
            f"{len(table.counts):,} distinct records of {table.columns} columns"
        )
    return [*items, *reading_lines(table)]


def reading_lines(table: Table) -> list[str]:
    """Report how values were read, if a file writes them otherwise or a column is not plain."""
    spellings = respellings(table.readings)
    kinds = {reading.kind for reading in table.readings.values()}
    if not spellings and kinds <= {"numbers", "texts"}:
        return [*table.remarks]
    lines = [*table.remarks, f"Columns read as {described(table.readings)}"]
    return [*lines, f"In the table {spellings}"] if spellings else lines


def not_assessed(
    experiment: Experiment, bins: Mapping[str, BinsSpec] = {}
) -> Iterator[NotAssessed]:
    """List what was not, or only roughly, assessed, and why, where the study decides it.

    bins: Of columns, by name: of a guess of these it is the bin that is right.
    """
    table = experiment.table
    each = {name: spec.model_dump() for name, spec in bins.items()}
    yield from cautions(table, [table.names[j] for j in experiment.queries.unknown], each)
    for name, text in experiment.table.notes.items():
        yield NotAssessed(
            f"the order of the column `{name}`",
            text,
            "correct those cells, empty them and say what `missing` means, or drop the column",
        )
    if bare := [f"'{s.label}'" for s in experiment.settings if s.guarantee is None]:
        yield NotAssessed(
            f"a bound on every attacker at {', '.join(bare)}",
            "a theorem needs a guarantee, and the release has none",
            "add noise, or take another mechanism with a guarantee",
        )
    if not experiment.settings[0].mechanism.cellwise:
        yield NotAssessed(
            "the ceiling",
            "what an attacker could do who is told everybody else's secrets cannot be computed for "
            "this release: better attacks than those played may exist",
            "release counts whose cells are changed one by one",
        )
    elif not any(attack.informed for _, attack, _ in experiment.attacks):
        yield NotAssessed("the ceiling", "the study does not ask for it", "add [attacks.ceiling]")
    if experiment.success.by_column:
        yield NotAssessed(
            "how many of the targets are recovered in one release",
            "each unknown column counts by itself, and what is proved is a mean. A release may "
            "tell all columns of one person and few of another, and the theorems on counts are not "
            "proved for shares",
            "set `at_least` in [threat] instead of `share_of_columns`",
        )
    if experiment.estimates_ceiling:
        queries = experiment.queries
        why = "the tables and the prior tie too many of them together to eliminate one by one"
        if not decides(experiment.success):
            why = "elimination decides where all must be exactly right or each counts by itself"
        yield NotAssessed(
            "the exact ceiling",
            f"the {len(queries.unknown)} unknown columns have {queries.values:,} joint values: the "
            f"posterior of an attacker who is told everybody else's secrets is sampled ({why}), "
            "and a better decision from it may exist, so no verdict rests on it",
            "take fewer unknown columns, or coarser ones, below 100,000 joint values",
        )
    noises = [s.mechanism.noise for s in experiment.settings]
    laplace = any(noise is not None and noise.kind == "laplace" for noise in noises)
    if laplace and any(isinstance(a, MeanField) for _, a, _ in experiment.attacks):
        yield NotAssessed(
            "the exact mean-field posterior under Laplace noise",
            "the mean field reads each cell as if its noise were normal, matched to where the "
            "count is believed to be; as an attack it is valid, but a better one may exist",
            "add a posterior attack with method = 'gibbs', which uses the exact density",
        )
    if experiment.real_rows:
        yield NotAssessed(
            "how wrong the fitted prior is about the real people, beyond the averages tested",
            "targets are real rows: the ceiling and the bounds need the prior to be right about "
            "each of them; what attacks and decoys score needs nothing, and tests the prior on "
            "average",
            "compare with people = 'prior', where the prior is known exactly",
        )


def _repeated(study: TableStudy) -> Iterator[NotAssessed]:
    """Caution that a guarantee for a row is less for a person with several rows."""
    if (unit := study.data.unit) is not None:
        yield NotAssessed(
            f"a release of all rows of a `{unit}`",
            "one row of each was audited; a person with m rows in a release loses up to m times "
            "the epsilon of a row",
            f"release one row of each `{unit}`, or divide epsilon by the most rows that one has",
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TableWork(PreparedWork[TableStudy]):
    """An audit that was played: its trials by ``"trial/setting"``, and what a threshold allows."""

    experiment: Experiment
    own_release: OwnRelease | None
    prior_test: PriorTest


class TableKind(Kind[TableStudy, TableWork]):
    model = TableStudy
    result = TableResult
    layout = "narcissus.kinds.table.layout:LAYOUT"
    is_sweep = True
    policy = PolicyFile
    no_records = ""

    def check(self, study: TableStudy, folder: Path, observer: Observer) -> None:
        """Read and fit everything once, so that errors show before any work."""
        experiment = prepare(study, folder, entropy=0, observer=observer)
        if study.release is not None:
            read_published(study, experiment, folder / study.release.path)
        _check_threshold(self.held_to(study, folder, RunOptions(0, observer))[0])

    def play(self, study: TableStudy, folder: Path, options: RunOptions) -> Outcome:
        if study.run.budget is not None and options.hours is not None:  # so long is agreed to
            options = replace(options, hours=max(options.hours, study.run.budget / 3600))
        with executor_of(options, study.run) as executor:
            return self._play(study, folder, options, executor)

    def _play(
        self, study: TableStudy, folder: Path, options: RunOptions, executor: Executor
    ) -> Outcome:
        study, digests = self.held_to(study, folder, options)
        _check_threshold(study)
        rough: list[NotAssessed] = []
        if study.run.quick:
            study, cut = quicker(study)
            rough.append(cut)
        options.observer.note("reading the table and fitting the prior")
        with unchanged_files():
            experiment = prepare(study, folder, options.entropy, options.observer)
        identity = identity_of(study, experiment, folder)
        if options.folder is not None:
            cache = ReleaseCache(
                options.folder / RELEASES, begin=partial(mark_folder, options.folder)
            )
            experiment = with_kept_releases(experiment, cache, identity)
            if not executor.is_here and any(is_costly(s.mechanism) for s in experiment.settings):
                executor = ReleasesSentBack(executor, cache)  # others do not have the folder

        def look(now: Experiment, trials: Done) -> tuple[Status, int | None]:
            found = self._findings(now, trials, study, None, tested)
            case = of_table(self.conclude(found))
            return case.status, case.worst.trials_needed

        tested = tested_at(study, folder, experiment, options.observer)
        plan = looks_of(experiment, study, options, executor, look)
        if plan is not None:
            experiment = plan.at(experiment, 1)
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
        own_release = None
        if study.release is not None:
            path = study.release.path
            with unchanged_files():
                release, digest = read_published(study, experiment, folder / path)
            digests["release"] = f"sha256:{digest}"
            digest = options.keyed(digests["release"]).removeprefix("sha256:")
            own_release = attack_own_release(
                experiment, release, executor, path=path, digest=digest, observer=options.observer
            )
        work = TableWork(
            study=study,
            folder=folder,
            entropy=options.entropy,
            digests=digests,
            assessed=[*assessed(experiment), *tested.scope],
            experiment=experiment,
            own_release=own_release,
            prior_test=tested,
        )
        options.observer.start("drawing conclusions", 0)
        outcome = self.outcome(work, self.measure(work, trials, options))
        left = [*rough, *_repeated(study), *not_assessed(experiment, study.data.bins)]
        left += untested(tested, experiment.table.rows)
        return replace(outcome, not_assessed=[*left, *outcome.not_assessed])

    def measure(self, work: TableWork, done: Done, options: RunOptions) -> Findings:
        return self._findings(work.experiment, done, work.study, work.own_release, work.prior_test)

    def _findings(
        self,
        experiment: Experiment,
        done: Done,
        study: TableStudy,
        own_release: OwnRelease | None,
        tested: PriorTest,
    ) -> Findings:
        threshold = study.threshold
        decided_at = None  # the label of the setting that the threshold names, if any
        if threshold is not None and threshold.at is not None:
            levels = study.mechanism.levels
            decided_at = experiment.settings[levels.index(threshold.at)].label
        criteria, settings = measured(experiment, done, threshold, decided_at, tested.guesses)
        result = TableResult(
            settings=tuple(settings),
            other_priors=tested.others,
            unaccounted=tested.unaccounted,
            examined=tested.examined,
            behind_bins=tested.behind_bins,
            order_examined=tested.order_examined,
            decided_at=decided_at,
            reason="" if threshold is None else threshold.reason,
            origin="" if threshold is None else threshold.origin,
            own_release=own_release,
            unit=study.data.unit,
        )
        return self.found(criteria, result)

    def cases(self, findings: Findings) -> list[JudgedSetting]:
        return list(setting_cases(findings))

    def is_of_people(self, study: Mapping[str, object]) -> bool:
        return True

    def to_show(self, result: TableResult) -> TableResult:
        """Leave out what is about the file that was released."""
        own_release = result.own_release
        if own_release is None:
            return result
        shown = {"digest": WITHHELD, "path": without_folders(own_release.path)}
        return result.model_copy(update={"own_release": own_release.model_copy(update=shown)})


def criteria_at(label: str, accepted: Accepted | None) -> list[StudyCriterion]:
    """Return what a setting is held to; without a threshold it is only looked at."""
    if accepted is None:
        return [StudyCriterion(of="share", label=label, at={"setting": label})]
    return list(accepted.criteria(label))


def measured(
    experiment: Experiment,
    trials: Done,
    threshold: ThresholdSpec | None,
    decided_at: str | None,
    held_out: Sequence[HeldOutGuess] = (),
) -> tuple[tuple[StudyCriterion, ...], list[SettingFound]]:
    """Summarise every setting of trials by ``"trial/setting"`` and compare with the threshold."""
    experiment, trials = shown(experiment, trials)
    accepted = None
    if threshold is not None:
        limits = threshold.model_dump(include={*LIMITS, "worst_group", "reason", "origin"})
        accepted = Accepted(**limits, decided_at=decided_at)
    criteria: list[StudyCriterion] = []
    summaries: list[SettingFound] = []
    for number, setting in enumerate(experiment.settings):
        sample = [trials[f"{t}/{number}"] for t in range(experiment.trials)]
        summaries.append(
            summarise(experiment, number, sample, held_out=held_out, threshold=threshold)
        )
        criteria += criteria_at(setting.label, accepted)
    return tuple(criteria), summaries


def identity_of(study: TableStudy, experiment: Experiment, folder: Path) -> dict[str, object]:
    """Return all on which trials depend: not their number, nor workers and thresholds."""
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
    if theorems := user_theorems():
        identity["own theorems"] = {
            name: " ".join(
                digest_of_object(function)
                for function in (theorem.limit, theorem.each, theorem.tails)
                if function is not None
            )
            for name, theorem in theorems.items()
        }
    identity["version"] = __version__
    return identity


def _check_threshold(study: TableStudy) -> None:
    if (threshold := study.threshold) is None:
        return
    if threshold.targets is not None and study.threat.share_of_columns:
        raise InputError(
            "`threshold.targets` counts people, and `share_of_columns` counts columns: "
            "give `share`, `advantage` or `gain`, or `at_least` in [threat]"
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
                '`threshold.worst_group` with `gain` needs people = "prior": what attempts '
                "score on fresh people of a group of real rows is not known"
            )
        known, unknown = study.threat.known, study.threat.unknown
        has_known_group = study.groups.singled_out or any(
            c not in unknown if unknown is not None else c in (known or [])
            for c in study.groups.columns
        )
        if not has_known_group:
            raise InputError(
                "`threshold.worst_group` needs a group whose members can be told beforehand: name "
                "a known column in `groups.columns`, or set `groups.singled_out`"
            )


KIND = TableKind()
