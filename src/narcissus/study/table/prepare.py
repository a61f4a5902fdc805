"""Make a table study ready: read, check, fit. Every refusal of bad input happens here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from narcissus.attacks.table import OwnTableAttack, TableAttack
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import MarginalQueries, PlannedCounts
from narcissus.priors import RecordPrior
from narcissus.study.parts import Part
from narcissus.study.plugins import GIVEN, load_attribute
from narcissus.study.table import proofs
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.groups import Groups
from narcissus.study.table.schema import DEFAULT_TRIALS, TableStudy
from narcissus.study.table.settings import settings_of
from narcissus.study.table.work import falls
from narcissus.success import ColumnsRight
from narcissus.tables import Bins, Table, read_table

MAX_FALLS = 100_000_000  # people times tables; an attack holds about four arrays of that size
MAX_BELIEFS = 2_000_000_000 // 8 // 6  # entries; an attack holds about six arrays of that size


def load_table(study: TableStudy, folder: Path) -> Table:
    """Read the table of a study."""
    data = study.data
    source = data.table if data.table is not None else str(folder / str(data.path))
    if source.startswith(GIVEN):
        source = load_attribute(source, folder)
    bins = {name: Bins(**spec.model_dump(exclude_none=True)) for name, spec in data.bins.items()}
    return read_table(source, columns=data.columns, drop=data.drop, bins=bins, missing=data.missing)


def unknown_columns(study: TableStudy, table: Table) -> tuple[int, ...]:
    """Give the indices of the columns that the attacker does not know."""
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
    """Build the success criterion."""
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
    return ColumnsRight(shape, tuple(within), at_least, tuple(positions))


def fit_prior(part: Part, table: Table) -> RecordPrior:
    """Fit the prior, or make the user's own from the table."""
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
    """Build one attack, and see that it is one."""
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
    return OwnTableAttack(name, attack)


def planned(part: Part) -> list[PlannedCounts]:
    """Give what would be released at each level, and see that attacks can read it."""
    levels = part.each()
    for one in levels:
        if not isinstance(one, PlannedCounts):
            raise InputError(
                f"the mechanism {part.name} releases something else than noisy counts of "
                "marginals, and no attack on tables can read that yet: make it a subclass of "
                "narcissus.mechanisms.PlannedCounts (see docs/extending.md)"
            )
    return levels


def prepare(study: TableStudy, folder: Path, entropy: int) -> Experiment:
    """Make a study ready: read, check, fit; every refusal of bad input happens here."""
    table = load_table(study, folder)
    release = planned(study.mechanism)
    k = release[0].k
    if k > table.columns:
        raise InputError(f"`mechanism.k` is {k}, but the table has {table.columns} columns")
    unknown = unknown_columns(study, table)
    success = success_of(study, table, unknown)
    queries = MarginalQueries(table.sizes, unknown, k)
    n = study.threat.targets
    if n * success.guesses > MAX_BELIEFS:  # at least as many as values
        raise TooLargeError(
            f"{n:,} people with {success.guesses:,} joint values of the unknown columns need "
            f"{n * success.guesses * 48 / 1e9:.1f} GB: take fewer targets, fewer unknown columns "
            "or coarser bins"
        )
    if falls(queries, n) > MAX_FALLS:
        raise TooLargeError(
            f"{n:,} people in {queries.tables:,} tables need "
            f"{falls(queries, n) * 32 / 1e9:.1f} GB: take fewer "
            "targets, a smaller k or fewer columns"
        )
    rows = study.threat.people == "rows"
    if rows and n > table.rows:
        raise InputError(
            f"`threat.targets` is {n}, but the table has {table.rows} rows to draw from"
        )
    groups = Groups.of(table, study.groups.columns, study.groups.unusual, study.groups.singled_out)
    settings = settings_of(release, queries.tables)
    exact = all(setting.guarantee is None for setting in settings)
    if exact and study.mechanism.options.get("delta") is not None:
        raise InputError("`mechanism.delta`: exact counts guarantee nothing: leave it out")
    trials = study.run.trials or DEFAULT_TRIALS
    attacks = tuple(
        (
            name,
            attack_of(name, part),
            part.also["trials"] or trials,
        )
        for name, part in study.attacks.items()
    )
    prior = fit_prior(study.prior, table)
    draft = Experiment(
        table=table,
        prior=prior,
        queries=queries,
        success=success,
        settings=settings,
        attacks=attacks,
        targets=n,
        real_rows=rows,
        trials=trials,
        levels=tuple(study.bounds.levels),
        points=(),
        groups=groups,
        entropy=entropy,
        confidence=study.run.confidence,
    )
    pilot = draft.known(0)
    levels = list(draft.levels)
    points = tuple(
        tuple(proofs.best_points(pilot, s.guarantee, levels)) if s.guarantee else ()
        for s in settings
    )
    return replace(draft, points=points)
