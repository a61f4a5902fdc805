"""Make a table study ready: read, check, fit. Every refusal of bad input happens here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from narcissus.attacks.table import (
    Attack,
    Ceiling,
    GibbsSampling,
    MeanField,
    PriorGuess,
    RelaxedProjection,
)
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.mechanisms import (
    MarginalQueries,
)
from narcissus.priors import (
    RecordPrior,
    fit_bayesian_network,
    fit_empirical,
    fit_independent,
)
from narcissus.study.plugins import GIVEN, load_attribute, require_allowed
from narcissus.study.table import proofs
from narcissus.study.table.experiment import Experiment, raised_where
from narcissus.study.table.groups import Groups
from narcissus.study.table.schema import DEFAULT_TRIALS, AttackSpec, PriorSpec, TableStudy
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


def fit_prior(spec: PriorSpec, table: Table, folder: Path) -> RecordPrior:
    """Fit or load the prior."""
    given = spec.model_dump(exclude_none=True, exclude={"kind"})
    if spec.kind == "bayesian-network":
        return fit_bayesian_network(table, max_parents=given.pop("parents"), **given)
    if spec.kind == "independent":
        return fit_independent(table, **given)
    if spec.kind == "empirical":
        return fit_empirical(table, **given)
    if ":" not in spec.kind:
        raise InputError(
            "`prior.kind` must be bayesian-network, independent, empirical or your own as "
            f"'module:attribute', got {spec.kind!r}"
        )
    made = load_attribute(spec.kind, folder)
    try:
        prior: Any = made(table) if callable(made) else made
    except NarcissusError:
        raise
    except Exception as error:
        raise InputError(
            f"`prior.kind`: {spec.kind} failed on the table: {raised_where(error)}"
        ) from error
    if not isinstance(prior, RecordPrior):
        raise InputError(
            f"{spec.kind} must give a prior: names, sizes, sample, conditional, log_probability, "
            "describe (see docs/tables-and-priors.md)"
        )
    if tuple(prior.sizes) != table.sizes:
        raise InputError(
            f"{spec.kind} has columns of {tuple(prior.sizes)} values, the table of {table.sizes}"
        )
    return prior


def attack_of(name: str, spec: AttackSpec, folder: Path) -> Attack:
    """Build one attack."""
    kind = spec.kind or name
    given = {
        option: getattr(spec, option)
        for option in ("sweeps", "start", "steps", "starts", "rounding")
        if getattr(spec, option) is not None
    }
    if kind == "prior":
        return PriorGuess()
    if kind == "ceiling":
        return Ceiling()
    if kind == "rap":
        return RelaxedProjection(**given)
    if kind == "posterior":
        return GibbsSampling(**given) if spec.method == "gibbs" else MeanField(**given)
    made = load_attribute(kind, folder)
    try:
        attack: Any = made(**spec.options) if callable(made) else made
    except Exception as error:
        raise InputError(
            f"attack `{name}`: cannot make {kind} with options {spec.options}: "
            f"{raised_where(error)}"
        ) from error
    for member in ("guess", "title", "uses", "informed"):
        if not hasattr(attack, member):
            raise InputError(f"attack `{name}`: {kind} has no `{member}` (see docs/attacks.md)")
    if attack.informed:
        raise InputError(
            f"attack `{name}`: only the ceiling is told the other secrets: a better guess than "
            "its own does not exist, a worse one would be no attack; set `informed = False`"
        )
    return attack


def own_code(study: TableStudy) -> list[str]:
    """Give the names of the user's own attacks and prior, each ``module:attribute``."""
    kinds = [spec.kind or name for name, spec in study.attacks.items()] + [study.prior.kind]
    return [kind for kind in kinds if ":" in kind]


def prepare(study: TableStudy, folder: Path, entropy: int) -> Experiment:
    """Make a study ready: read, check, fit; every refusal of bad input happens here."""
    require_allowed(own_code(study))
    table = load_table(study, folder)
    if study.mechanism.k > table.columns:
        raise InputError(
            f"`mechanism.k` is {study.mechanism.k}, but the table has {table.columns} columns"
        )
    unknown = unknown_columns(study, table)
    success = success_of(study, table, unknown)
    queries = MarginalQueries(table.sizes, unknown, study.mechanism.k)
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
    settings = settings_of(study.mechanism, queries.tables)
    trials = study.run.trials or DEFAULT_TRIALS
    attacks = tuple(
        (
            name,
            attack_of(name, spec, folder),
            spec.trials or trials,
        )
        for name, spec in study.attacks.items()
    )
    prior = fit_prior(study.prior, table, folder)
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
    pilot = draft.targets_of(draft.people(0))
    levels = list(draft.levels)
    points = tuple(
        tuple(proofs.best_points(pilot, s.guarantee, levels)) if s.guarantee else ()
        for s in settings
    )
    return replace(draft, points=points)
