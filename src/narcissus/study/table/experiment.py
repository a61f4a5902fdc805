"""A table study made ready to play: the people, the settings of the sweep, the attacks.

An `Experiment` is all that a worker process needs. Trial ``t`` of setting ``s`` draws its people
and the shape of its noise from ``t`` alone, so that the settings of a sweep see the same people
and curves are smooth; attacks have generators of their own.
"""

from __future__ import annotations

import math
import traceback
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus._random import child
from narcissus.attacks.table import (
    Attack,
    Ceiling,
    GibbsSampling,
    MeanField,
    PriorGuess,
    RelaxedProjection,
    Targets,
    View,
)
from narcissus.attacks.table.likelihood import PAIRWISE_LIMIT
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP
from narcissus.mechanisms import (
    GaussianNoise,
    LaplaceNoise,
    MarginalQueries,
    Noise,
    NoisyMarginals,
    NoNoise,
)
from narcissus.priors import (
    RecordPrior,
    fit_bayesian_network,
    fit_empirical,
    fit_independent,
)
from narcissus.study.plugins import load_attribute
from narcissus.study.table import proofs
from narcissus.study.table.groups import Groups
from narcissus.study.table.schema import AttackSpec, MechanismSpec, PriorSpec, TableStudy
from narcissus.success import ColumnsRight
from narcissus.tables import Bins, Table, read_table

DEFAULT_DELTA = 1e-5
PEOPLE, NOISE, ATTACK = 0, 1, 2  # first parts of the keys of generators
MAX_FALLS = 100_000_000  # people times tables; an attack holds about four arrays of that size
MAX_BELIEFS = 2_000_000_000 // 8 // 6  # entries; an attack holds about six arrays of that size


@dataclass(frozen=True)
class Setting:
    """One level of the sweep.

    Attributes
    ----------
    label
        For tables and figures.
    noise
        What is added to the counts.
    guarantee
        What the release guarantees; None without noise.
    epsilon, delta, mu
        The same as numbers, where they exist.
    single
        The single point (epsilon, delta) as a guarantee, for comparison; None if there is none.
    """

    label: str
    noise: Noise
    guarantee: Guarantee | None
    epsilon: float | None
    delta: float | None
    mu: float | None
    single: Guarantee | None


@dataclass(frozen=True)
class Experiment:
    """Everything that is fixed before the first trial."""

    table: Table
    prior: RecordPrior
    queries: MarginalQueries
    success: ColumnsRight
    settings: tuple[Setting, ...]
    attacks: tuple[tuple[str, Attack, int], ...]
    """Name, attack, number of trials that it takes part in."""
    targets: int
    real_rows: bool
    trials: int
    levels: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]
    """For each setting, the epsilon of the domination bound for each confidence level."""
    groups: Groups
    entropy: int

    def keys(self) -> list[str]:
        """Give the keys of all trials, the settings of one trial together."""
        return [f"{t}/{s}" for t in range(self.trials) for s in range(len(self.settings))]

    def people(self, trial: int) -> NDArray[np.int32]:
        """Draw the people of a trial, shape (n, d): all columns, secrets included."""
        rng = child(self.entropy, PEOPLE, trial)
        if self.real_rows:
            rows = rng.choice(self.table.rows, size=self.targets, replace=False)
            return self.table.codes[rows]
        return self.prior.sample(self.targets, rng=rng)

    def targets_of(self, people: NDArray[np.int32]) -> Targets:
        """Give the people as the attacker knows them beforehand."""
        known = people.copy()
        known[:, list(self.queries.unknown)] = 0
        beliefs = np.asarray(self.prior.conditional(known, self.queries.unknown), dtype=float)
        _check_beliefs(beliefs, len(people), self.queries.values)
        return Targets(self.queries, known, beliefs, self.success)

    def play(self, key: str) -> dict[str, NDArray[Any]]:
        """Play one trial: draw, release, attack, score on the true people and on fresh ones."""
        trial, number = (int(part) for part in key.split("/"))
        setting = self.settings[number]
        people = self.people(trial)
        targets = self.targets_of(people)
        secrets = self.queries.joint(people)
        mechanism = NoisyMarginals(self.queries, setting.noise)
        release = mechanism.release(people, rng=child(self.entropy, NOISE, trial))
        for shared in (targets.codes, targets.prior, release):
            shared.setflags(write=False)  # one attack must not change what the next one sees
        masks = self.groups.masks(people, targets, secrets).astype(np.float64)
        chances = self.success.chances(targets.prior)
        guess = chances.max(axis=1)
        guessed = self.success.score(secrets, chances.argmax(axis=1))
        found: dict[str, NDArray[Any]] = {
            "groups": masks.sum(axis=1),
            "guess": np.array([guess.sum(), (guess**2).sum()]),
            "group_guessed": masks @ guessed,
        }
        for name, attack, trials in self.attacks:
            if trial >= trials:
                continue
            view = View(targets, setting.noise, release, secrets if attack.informed else None)
            rng = child(self.entropy, ATTACK, trial, number, zlib.crc32(name.encode()))
            if isinstance(attack, Ceiling) and not self.real_rows:
                # Its posterior is exact, so the expected success of its decisions is known: the
                # same mean as counting hits, with less chance in it.
                beliefs = attack.beliefs(view, rng=rng)
                attempt = self.success.decide(beliefs)
                hoped = self.success.chances(beliefs)[np.arange(self.targets), attempt]
                found[f"{name}/expected"] = np.array(hoped.mean())
            else:
                attempt = self._guess(name, attack, view, rng)
            hits = self.success.score(secrets, attempt)
            fresh = chances[np.arange(self.targets), attempt]
            found[f"{name}/hits"] = np.array(int(hits.sum()))
            found[f"{name}/fresh"] = np.array(fresh.mean())
            found[f"{name}/columns"] = self.success.columns_right(secrets, attempt).mean(axis=0)
            found[f"{name}/columns_fresh"] = self.success.column_chances(
                targets.prior, attempt
            ).mean(axis=0)
            found[f"{name}/group_hits"] = masks @ hits
            found[f"{name}/group_fresh"] = masks @ fresh
        if setting.guarantee is not None:
            found["share"] = np.array(proofs.mean_share(targets, setting.guarantee))
            for place, point in enumerate(self.points[number]):
                found[f"tails/{place}"] = proofs.tail_table(targets, setting.guarantee, point)
            if setting.single is not None:
                found["share_single"] = np.array(proofs.mean_share(targets, setting.single))
                epsilon, delta = _point(setting.single)
                found["published"] = proofs.output_tail_table(guess, epsilon, self.targets * delta)
        return found

    def _guess(
        self, name: str, attack: Attack, view: View, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Let an attack guess; refuse guesses of a user's attack that are no guesses."""
        try:
            attempt: NDArray[Any] = np.asarray(attack.guess(view, rng=rng))
        except NarcissusError:
            raise
        except Exception as error:
            if type(attack).__module__.startswith("narcissus."):
                raise  # ours: an internal error
            raise InputError(f"attack `{name}` failed: {_where(error)}") from error
        good = (
            attempt.shape == (self.targets,)
            and np.issubdtype(attempt.dtype, np.integer)
            and attempt.min() >= 0
            and attempt.max() < self.queries.values
        )
        if not good:
            raise InputError(
                f"attack `{name}` must give {self.targets} joint values in "
                f"[0, {self.queries.values}), as integers; got shape {attempt.shape}, "
                f"type {attempt.dtype}"
            )
        return attempt.astype(np.int64)


def _point(single: Guarantee) -> tuple[float, float]:
    """Give (epsilon, delta) of a pure or approximate guarantee."""
    if isinstance(single, PureDP):
        return single.epsilon, 0.0
    assert isinstance(single, ApproximateDP)
    return single.epsilon, single.delta


def load_table(study: TableStudy, folder: Path) -> Table:
    """Read the table of a study."""
    data = study.data
    source = data.table if data.table is not None else str(folder / str(data.path))
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
    if spec.kind == "bayesian-network":
        return fit_bayesian_network(
            table, max_parents=spec.parents, smoothing=spec.smoothing, score=spec.score
        )
    if spec.kind == "independent":
        return fit_independent(table)
    if spec.kind == "empirical":
        return fit_empirical(table, smoothing=0.01)
    if ":" not in spec.kind:
        raise InputError(
            "`prior.kind` must be bayesian-network, independent, empirical or your own as "
            f"'module:attribute', got {spec.kind!r}"
        )
    made = load_attribute(spec.kind, folder)
    try:
        prior = made(table)
    except NarcissusError:
        raise
    except Exception as error:
        raise InputError(
            f"`prior.kind`: {spec.kind} failed on the table: {_where(error)}"
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


def _where(error: Exception) -> str:
    """Say what a user's own code raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"


def _check_beliefs(beliefs: NDArray[np.float64], people: int, values: int) -> None:
    """Refuse conditional probabilities of a user's prior that are none."""
    if beliefs.shape != (people, values):
        raise InputError(
            f"the prior's `conditional` must give shape ({people}, {values}), got {beliefs.shape}"
        )
    sums = beliefs.sum(axis=1)
    if not (beliefs >= 0).all() or np.abs(sums - 1).max() > 1e-6:
        raise InputError(
            "the prior's `conditional` must give probabilities whose rows sum to 1, got sums "
            f"from {sums.min():.6g} to {sums.max():.6g}"
        )


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
        attack = made(**spec.options)
    except Exception as error:
        raise InputError(
            f"attack `{name}`: cannot make {kind} with options {spec.options}: {_where(error)}"
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


def settings_of(spec: MechanismSpec, tables: int) -> tuple[Setting, ...]:
    """Build the settings of the sweep for a release of so many tables."""
    by = next(n for n in ("epsilon", "mu", "scale") if getattr(spec, n) is not None)
    return tuple(_setting(spec, by, level, tables) for level in spec.levels)


def _setting(spec: MechanismSpec, by: str, level: float, tables: int) -> Setting:
    if math.isinf(level) or (by == "scale" and level == 0):
        return Setting("no noise", NoNoise(), None, None, None, None, None)
    symbol = {"epsilon": "ε", "mu": "μ", "scale": "scale"}[by]
    label = f"{symbol} = {level:g}"
    if spec.noise == "laplace":
        noise = LaplaceNoise(level) if by == "scale" else LaplaceNoise.for_epsilon(level, tables)
        pure = noise.guarantee(tables)
        return Setting(label, noise, pure, pure.epsilon, 0.0, None, pure)
    delta = DEFAULT_DELTA if spec.delta is None else spec.delta
    if by == "epsilon":
        gaussian = GaussianNoise.for_epsilon(level, delta, tables)
    elif by == "mu":
        gaussian = GaussianNoise.for_mu(level, tables)
    else:
        gaussian = GaussianNoise(level)
    guarantee = gaussian.guarantee(tables)
    epsilon = level if by == "epsilon" else _epsilon_at(guarantee, delta)
    single = None if epsilon is None else ApproximateDP(epsilon, delta)
    return Setting(label, gaussian, guarantee, epsilon, delta, guarantee.mu, single)


def _epsilon_at(guarantee: GaussianDP, delta: float) -> float | None:
    """Give the epsilon at which the profile reaches ``delta``; None where it never does."""
    if not 0 < delta < float(guarantee.profile(0.0)):
        return None
    high = 1.0
    while float(guarantee.profile(high)) > delta:
        high *= 2
    return float(optimize.brentq(lambda e: float(guarantee.profile(e)) - delta, 0.0, high))


def prepare(study: TableStudy, folder: Path, entropy: int) -> Experiment:
    """Make a study ready: read, check, fit; every refusal of bad input happens here."""
    table = load_table(study, folder)
    if study.mechanism.k > table.columns:
        raise InputError(
            f"`mechanism.k` is {study.mechanism.k}, but the table has {table.columns} columns"
        )
    unknown = unknown_columns(study, table)
    success = success_of(study, table, unknown)
    queries = MarginalQueries(table.sizes, unknown, study.mechanism.k)
    n = study.threat.targets
    if n * queries.values > MAX_BELIEFS:
        raise TooLargeError(
            f"{n:,} people with {queries.values:,} joint values of the unknown columns need "
            f"{n * queries.values * 48 / 1e9:.1f} GB: take fewer targets, fewer unknown columns "
            "or coarser bins"
        )
    falls = n * queries.tables
    if n <= PAIRWISE_LIMIT:  # there every value's cell is looked up at once
        falls = n * sum(p.tables * p.size for p in queries.patterns)
    if falls > MAX_FALLS:
        raise TooLargeError(
            f"{n:,} people in {queries.tables:,} tables need {falls * 32 / 1e9:.1f} GB: take fewer "
            "targets, a smaller k or fewer columns"
        )
    rows = study.threat.people == "rows"
    if rows and n > table.rows:
        raise InputError(
            f"`threat.targets` is {n}, but the table has {table.rows} rows to draw from"
        )
    groups = Groups.of(table, study.groups.columns, study.groups.unusual, study.groups.singled_out)
    settings = settings_of(study.mechanism, queries.tables)
    attacks = tuple(
        (
            name,
            attack_of(name, spec, folder),
            min(spec.trials or study.run.trials, study.run.trials),
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
        trials=study.run.trials,
        levels=tuple(study.bounds.levels),
        points=(),
        groups=groups,
        entropy=entropy,
    )
    pilot = draft.targets_of(draft.people(0))
    levels = list(draft.levels)
    points = tuple(
        tuple(proofs.best_points(pilot, s.guarantee, levels)) if s.guarantee else ()
        for s in settings
    )
    return replace(draft, points=points)
