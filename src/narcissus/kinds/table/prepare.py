"""Preparation of a table study: read, check, fit. Every refusal of bad input happens here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from narcissus.attacks.table import OwnLearner, OwnTableAttack, TableAttack, factored_attack
from narcissus.attacks.table import ceiling as eliminated
from narcissus.attacks.table.ceiling import EliminatedCeiling
from narcissus.errors import InputError, TooLargeError
from narcissus.kinds.table import proofs
from narcissus.kinds.table.experiment import Experiment, is_factored
from narcissus.kinds.table.population import Groups, settings_of
from narcissus.kinds.table.schema import DEFAULT_TRIALS, TableStudy
from narcissus.kinds.table.schema import Attack as AttackSection
from narcissus.kinds.table.work import require_room, room
from narcissus.knowledge import FactoredTargets
from narcissus.mechanisms import Columns, Prepared, TableMechanism
from narcissus.observer import SILENT, Observer
from narcissus.priors import RecordPrior
from narcissus.study.parts import Part
from narcissus.study.plugins import GIVEN, load_attribute
from narcissus.success import ColumnShare, ColumnsRight
from narcissus.tables import Bins, CountedTable, Table, read_table

Attacks = tuple[tuple[str, TableAttack, int], ...]

CELLWISE = ("prior", "posterior", "ceiling")
ANY_RELEASE = ("prior", "posterior", "nearest", "stack")
"""Attacks where a study names none: with and without what everybody else's secrets would tell."""


def load_table(study: TableStudy, folder: Path, observer: Observer = SILENT) -> Table:
    data = study.data
    source = data.table if data.table is not None else str(folder / str(data.path))
    if source.startswith(GIVEN):
        source = load_attribute(source, folder)
    stamp = None
    if isinstance(source, str) and Path(source).exists():  # a table is kept until its file changes
        found = Path(source).stat()
        stamp = (source, found.st_ino, found.st_size, found.st_mtime_ns)
    if (held := data.held(stamp)) is not None:
        return held
    table = read_table(
        source,
        columns=data.columns,
        drop=data.drop,
        bins={n: Bins(**spec.model_dump(exclude_none=True)) for n, spec in data.bins.items()},
        missing=data.missing,
        read_as=data.read_as,
        observer=observer,
        **({} if data.max_rows is None else {"max_rows": data.max_rows}),
    )
    if isinstance(table, CountedTable):
        data.hold(stamp, table)
    return table


def unknown_columns(study: TableStudy, table: Table) -> tuple[int, ...]:
    """Return the indices of the columns that the attacker does not know."""
    threat = study.threat
    if threat.unknown is not None:
        unknown = [table.index(name) for name in threat.unknown]
        if len(set(unknown)) != len(unknown):
            raise InputError(f"`threat.unknown` names a column twice: {threat.unknown}")
    else:
        known = {table.index(name) for name in threat.known or []}
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


def fit_prior(part: Part, table: Table) -> RecordPrior:
    try:
        prior = part.build(table)
    except InputError as error:
        raise type(error)(f"`prior`: {error}") from error
    if not isinstance(prior, RecordPrior):
        raise InputError(
            f"{part.name} must give a prior: names, sizes, sample, conditional, log_probability, "
            "describe (see docs/tables-and-priors.md)"
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
                f"attack `{name}`: {part.name} has no `{member}` (see docs/attacks.md)"
            )
    if attack.informed:
        raise InputError(
            f"attack `{name}`: only the ceiling is told the other secrets: a better guess than "
            "its own does not exist, a worse one would be no attack; set `informed = False`"
        )
    learns = hasattr(attack, "train")
    return OwnLearner(name, attack) if learns else OwnTableAttack(name, attack)


def planned(part: Part) -> list[TableMechanism]:
    levels = part.each()
    for one in levels:
        if not isinstance(one, TableMechanism):
            raise InputError(
                f"the mechanism {part.name} is no mechanism of tables: make it a subclass of "
                "narcissus.mechanisms.TableMechanism, or give a function from a data frame to the "
                "data frame that is released (see docs/extending.md)"
            )
    return levels


def attacks_of(study: TableStudy, mechanism: Prepared, trials: int) -> Attacks:
    """Return the attacks of a study, all of which must read the release, with their trials."""
    if "attacks" not in study.model_fields_set:
        parts = usual_attacks(CELLWISE if mechanism.cellwise else ANY_RELEASE, mechanism)
    else:
        parts = study.attacks
    found = tuple(
        (name, attack_of(name, part), part.also["trials"] or trials) for name, part in parts.items()
    )
    for name, attack, _ in found:
        if not can_read(attack, mechanism):
            reads = " or ".join(kind.__name__ for kind in attack.reads)
            raise InputError(
                f"attack `{name}` reads {reads}, and what is released is "
                f"{mechanism.releases.__name__}: take others, such as "
                f"{', '.join(usual_attacks(ANY_RELEASE, mechanism))} (`narcissus schema parts "
                "table-attack` lists all)"
            )
        if attack.informed and not mechanism.cellwise:
            raise InputError(
                f"attack `{name}`: what an attacker could do who is told everybody else's secrets "
                "cannot be computed for this release, whose cells do not depend on their own "
                "counts alone: leave it out"
            )
    return found


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
    found: list[tuple[str, TableAttack, int]] = []
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
        found.append((name, other, trials))
    return tuple(found)


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
    table = load_table(study, folder, observer)
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
    trials = study.run.trials or DEFAULT_TRIALS
    attacks = attacks_of(study, mechanism, trials)
    factored = is_factored(mechanism.queries)
    if factored:
        attacks = without_joint(attacks, mechanism)
    queries, played = mechanism.queries, [attack for _, attack, _ in attacks]
    needed = room(queries, success, n, played, mechanism.releases, factored=factored)
    require_room(queries, success, n, needed)
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
        least_group=study.groups.least_group,
        confidence=study.run.confidence,
        training=study.run.training,
    )
    pilot = draft.known(0)
    if isinstance(pilot, FactoredTargets):
        draft = replace(draft, attacks=with_ceiling(attacks, pilot))
    if success.by_column:  # nothing is proved of how many fall
        return draft
    points = tuple(
        tuple(proofs.best_points(pilot, s.guarantee, draft.levels)) if s.guarantee else ()
        for s in settings
    )
    return replace(draft, points=points)
