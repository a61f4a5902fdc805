"""A table study ready to play: the people, the settings of the sweep, the attacks.

An `Experiment` is all that a worker process needs. Its settings are the members of one family of
games, which differ in the mechanism alone and are played a trial at a time.

An attack that sees the release and nothing else can be scored by more than its hits. Given the
release and everybody else's secrets, the chance that a guess about a person counts is known
exactly. Its mean over trials is the share that the attack recovers, with less noise in it, and it
is never above the ceiling's, release by release. This needs the prior to be right about the
people, and a mechanism that changes each cell by itself; else hits are counted.

Attacks that learn do so from simulated releases about people drawn from the prior, also if the
people played are real rows: nothing that is scored is ever learned from.

Groups of few real people, whose numbers would be about each of them, are merged after the trials
(`narcissus.study.merging`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.attacks.table import TableAttack, Targets
from narcissus.attacks.table.base import Simulated, Trainable
from narcissus.attacks.table.ceiling import insider_chances, kept_beliefs
from narcissus.attacks.table.factored import FactoredCeiling, Searched
from narcissus.bounds.threat import Nearby
from narcissus.game import Game
from narcissus.game.block import (
    AttackOutcome,
    PlayedBlock,
    Scenario,
    TrialInputs,
    play_block,
    score,
)
from narcissus.game.executor import Executor, Serial, soon
from narcissus.kinds.table.envelope import Trial, attack_envelope, people_alone
from narcissus.kinds.table.found import DecisionDetail, PrecisionDetail
from narcissus.kinds.table.population import Groups, Setting, TrialPopulation, TrialStreams
from narcissus.knowledge import FactoredColumns, FactoredTargets, OtherColumns, OtherSecrets
from narcissus.mechanisms import TableQueries
from narcissus.mechanisms.noise import Counts
from narcissus.observer import Observer
from narcissus.priors import RecordPrior
from narcissus.priors.base import MAX_JOINT
from narcissus.study.merging import SMALLER, MergedGroups, Parts, merge, numbered, tells_of_fewer
from narcissus.success import CodesRight, ColumnsRight
from narcissus.success.table import EachPerson, EachPersonsCodes
from narcissus.tables import Table
from narcissus.worlds import People, RealRows

Found = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Truth:
    """The truth behind a release, and what is known of every guess about it."""

    population: TrialPopulation
    # Chance of each guess given the release and all other secrets, shape (n, guesses); None where
    # it is not known: the prior may be wrong about the people, the mechanism has none, or no joint
    # values are listed. Likewise of each joint value, (n, values), with several unknown columns.
    exact: Floats | None
    beliefs: Floats | None
    trusted: bool  # whether the guess is scored by its chance by the prior, and not by its hits

    @property
    def targets(self) -> Targets | FactoredTargets:
        return self.population.targets

    def without_release(self) -> Found:
        """Score the best guess without the release: its chance, and its hits."""
        attempt, guess = self.targets.best_guess, self.targets.best_chance
        hits = self.targets.success.score(self.population.secrets, attempt).astype(np.float64)
        scores: Found = {
            "groups": self.population.members.sums(np.ones(self.population.targets.people)),
            "guess": np.array([guess.sum(), (guess**2).sum()]),
            "guessed": np.array(hits.mean()),
            # Count hits where chances say nothing: in a group determined by the secrets, and
            # on people about whom the prior may be wrong.
            "group_guess": self._by_group(guess if self.trusted else hits, hits),
            "group_guess_squares": self._by_group(guess**2 if self.trusted else hits, hits),
        }
        if not self.trusted:
            scores["guessed_chance"] = np.array(hits @ guess)
        if isinstance(self.targets, FactoredTargets):
            each = enumerate(self.targets.marginals)
            sums = [self.targets.success.window_sums(m, c).max(axis=1).mean() for c, m in each]
            scores["guess_columns"] = np.array(sums)
            limit = self.targets.best_limit
            scores["guess_limit"] = np.array([limit.mean(), (limit > guess).mean()])
        if self.exact is not None:
            known = self.exact[np.arange(self.targets.people), attempt]
            # of mean 0: a release moves the chance of a guess that ignores it, but not on average
            scores["control"] = np.array((known - guess).mean())
        return scores

    def of_attack(self, name: str, outcome: AttackOutcome) -> Found:
        [attempt], [hits], [chance] = outcome.attempts.values, outcome.success, outcome.baseline
        hits = hits.astype(np.float64)
        share = hits
        if self.exact is not None:
            share = self.exact[np.arange(self.targets.people), attempt]
        columns, by_column = self.targets.column_chances(attempt), self.targets.success.by_column
        scores: Found = {}
        if isinstance(outcome.attempts, Searched):
            scores[f"{name}/residual"] = outcome.attempts.residual[0]
        return scores | {
            f"{name}/hits": np.array(hits.sum() if by_column else int(hits.sum())),
            f"{name}/share": np.array(share.mean()),
            f"{name}/fresh": np.array(chance.mean()),
            f"{name}/columns": self._columns(attempt, share),
            f"{name}/columns_fresh": columns.mean(axis=0),
            f"{name}/group_share": self._by_group(share, hits),
            f"{name}/group_fresh": self.population.members.sums(chance),
        }

    def _columns(self, attempt: NDArray[np.int64], share: Floats) -> Floats:
        success = self.targets.success
        if self.beliefs is not None and isinstance(success, ColumnsRight):
            return success.column_chances(self.beliefs, attempt).mean(axis=0)
        if self.exact is not None:  # of one column
            return share.mean(keepdims=True)
        return success.columns_right(self.population.secrets, attempt).mean(axis=0)

    def _by_group(self, share: Floats, hits: Floats) -> Floats:
        sums = self.population.members.sums
        return np.where(self.population.by_secret, sums(hits), sums(share))


def decoys(played: PlayedBlock, truth: Truth, streams: TrialStreams) -> Found:
    """Show every attack a release of other secrets, and score it on the true ones.

    They are drawn from the prior given the known columns, so that what is right is knowledge, not
    the release; if the prior is right it is the expected score of the attempts.
    """
    game, sources = played.scenario.game, streams.decoy(played.number, played.place)
    data = game.side.fresh(game.world, played.draw, played.known, sources.world)
    members = truth.population.members
    scores: Found = {"strangers": members.sums(np.ones(members.people))}
    for name, attempts in played.again(data, sources).items():
        hits = score(game.relation, played.draw.data, attempts, sources.world)
        chance = game.relation.chance(played.known, attempts.values)
        scores[f"{name}/decoy"] = np.array([hits.mean(), chance.mean()])
        scores[f"{name}/group_decoy"] = members.sums(hits[0].astype(np.float64))
    return scores


def strangers(played: PlayedBlock, groups: Groups, streams: TrialStreams) -> Found:
    """Score the same attempts on fresh people, in the groups that these belong to.

    Who names rare values gets as many rare secrets of strangers: the difference is due to the
    release, if the prior is right about the people.
    """
    game, sources = played.scenario.game, streams.decoy(played.number, played.place)
    data = game.side.fresh(game.world, played.draw, played.known, sources.world)
    [people], [targets] = data, played.known
    members = groups.members(people, targets, targets.secrets(people))
    scores: Found = {"strangers": members.sums(np.ones(members.people))}
    for name, outcome in played.outcomes.items():
        [hits] = score(game.relation, data, outcome.attempts, sources.world)
        scores[f"{name}/group_decoy"] = members.sums(hits.astype(np.float64))
    return scores


def is_factored(queries: TableQueries) -> bool:
    """Whether the unknown columns have too many joint values for a list of them."""
    return queries.values > MAX_JOINT


@dataclass(frozen=True)
class Experiment:
    """Everything that is fixed before the first trial."""

    table: Table
    prior: RecordPrior
    success: ColumnsRight
    settings: tuple[Setting, ...]
    attacks: tuple[tuple[str, TableAttack, int], ...]  # with the trials that each takes part in
    targets: int
    real_rows: bool
    everybody: bool  # each release is about all rows of the table: there are no others like them
    trials: int
    levels: tuple[float, ...]
    # for each setting, the epsilon of the domination bound for each confidence level
    points: tuple[tuple[float, ...], ...]
    groups: Groups
    entropy: int
    # how far the prior may be from the true one, for all that is proved; None: it is taken as it is
    nearby: Nearby | None = None
    least_group: int = 10  # fewest real people of whom numbers are shown
    judges_groups: bool = False  # whether a verdict speaks of each group, not of all alone
    confidence: float = 0.95  # level at which sampled limits are made
    # level at which they hold, where a run may end at several looks; None: the same
    holds: float | None = None
    # what was reached, where it was asked for
    precision: PrecisionDetail | DecisionDetail | None = None
    training: int = 0  # simulated releases at each setting, from which attacks learn
    # for each setting, the attacks that have learned, by name; empty before they have
    trained: tuple[Mapping[str, TableAttack], ...] = ()

    @property
    def queries(self) -> TableQueries:
        """The tables that are released, or as which the release is read."""
        return self.settings[0].mechanism.queries

    @property
    def factored(self) -> bool:
        return is_factored(self.queries)

    @property
    def side(self) -> OtherColumns | FactoredColumns:
        if self.factored:
            return FactoredColumns(self.prior, self.queries, CodesRight(self.success))
        return OtherColumns(self.prior, self.queries, self.success)

    @property
    def relation(self) -> EachPerson | EachPersonsCodes:
        if self.factored:
            return EachPersonsCodes(self.queries.unknown, CodesRight(self.success))
        return EachPerson(self.queries.unknown, self.success)

    def keys(self) -> list[str]:
        """Return the keys of all trials, the settings of one trial together."""
        return [f"{t}/{s}" for t in range(self.trials) for s in range(len(self.settings))]

    @property
    def claimed(self) -> float:
        """Level at which estimated limits hold."""
        return self.confidence if self.holds is None else self.holds

    @property
    def spent(self) -> float:
        """Part of the error for which limits are computed."""
        return (1 - self.confidence) / (1 - self.claimed)

    @property
    def prior_is_exact(self) -> bool:
        """Whether the people are drawn from a prior of ours, which is then right about them."""
        return not self.real_rows and type(self.prior).__module__.startswith("narcissus.")

    @property
    def knows_chances(self) -> bool:
        """Whether the chance of each guess given all other secrets is known at every setting."""
        if self.factored:  # it would take their joint values
            return False
        return self.prior_is_exact and all(s.mechanism.cellwise for s in self.settings)

    @property
    def estimates_ceiling(self) -> bool:
        """Whether the ceiling is found by sampling, so that it bounds no attack."""
        return any(isinstance(attack, FactoredCeiling) for _, attack, _ in self.attacks)

    @property
    def knows_guess(self) -> bool:
        """Whether the guess without the release is scored by its chance, and not by its hits."""
        return self.knows_chances or (self.prior_is_exact and self.factored)

    @property
    def takes_as_given(self) -> tuple[str, ...]:
        """What baselines and ceiling assume besides the game, at every setting."""
        if self.real_rows:
            return ("the fitted prior is right about these real people",)
        if not self.prior_is_exact:
            return ("the own prior's people follow the probabilities that it gives for them",)
        return ()

    def given_at(self, number: int) -> tuple[str, ...]:
        """Return what bounds assume at a setting: the same, and that its guarantee is kept."""
        return (*(self.near or self.takes_as_given), *self.settings[number].mechanism.assumes)

    @property
    def near(self) -> tuple[str, ...]:
        """What bounds assume of the prior, where it is not taken as it is."""
        if self.nearby is None:
            return ()
        return (f"{self.nearby.describe()}, for what the attacker knows of a person",)

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The game of each setting, with the attacks; one that raises ends the run."""
        everybody = self.targets == self.table.rows  # then nobody is drawn
        rows = self.table.records if everybody else self.table.in_order
        world = (
            RealRows(rows, self.targets, self.table.counts)
            if self.real_rows
            else People(self.prior, self.targets)
        )
        relation, side = self.relation, self.side
        first = {name: trials for name, _, trials in self.attacks}
        return tuple(
            Scenario(
                setting.label,
                Game(world, setting.mechanism, relation, side),
                self.attacks_at(number),
                first,
                strict=True,
            )
            for number, setting in enumerate(self.settings)
        )

    def attacks_at(self, number: int) -> dict[str, TableAttack]:
        """Return the attacks at a setting by name, trained if they learn."""
        known = self.trained[number] if self.trained else {}
        return {name: known.get(name, attack) for name, attack, _ in self.attacks}

    def known(self, trial: int) -> Targets | FactoredTargets:
        """Return the people of a trial as the attacker knows them beforehand."""
        return self.population(trial).targets

    def population(self, trial: int) -> TrialPopulation:
        """Return the people of a trial, the same at every setting; the last are cached."""
        trial = 0 if self.everybody else trial  # nobody is drawn
        if trial not in self._populations:
            self._populations.clear()
            rng = TrialStreams(self.entropy)(trial, 0).world
            inputs = TrialInputs.of(self.scenarios[0].game, 1, rng)
            self._populations[trial] = TrialPopulation(inputs, self.groups, self._others(trial))
        return self._populations[trial]

    def _others(self, trial: int) -> TrialPopulation | None:
        """Draw more people, to estimate the envelopes; no release is about all of them."""
        if not self.knows_chances:
            return None
        people = people_alone(self.targets, self.queries.values)
        game = replace(self.scenarios[0].game, world=People(self.prior, people))
        groups = replace(self.groups, singled_out=False)  # by whom they are not with
        inputs = TrialInputs.of(game, 1, TrialStreams(self.entropy).others(trial))
        return TrialPopulation(inputs, groups)

    @cached_property
    def _populations(self) -> dict[int, TrialPopulation]:
        return {}

    def round(self, trial: int, number: int) -> PlayedBlock:
        """Play one trial of one setting."""
        streams = TrialStreams(self.entropy)
        scenario, inputs = self.scenarios[number], self.population(trial).inputs
        return play_block(scenario, trial, number, size=1, streams=streams, inputs=inputs)

    def play(self, key: str) -> Found:
        """Play one trial, given by its key; return what is kept of it."""
        trial, number = map(int, key.split("/"))
        population, played = self.population(trial), self.round(trial, number)
        streams, setting = TrialStreams(self.entropy), self.settings[number]
        truth = self._truth(population, played)
        record = truth.without_release()
        [release] = played.release
        if truth.exact is not None and isinstance(release, Counts):
            rng = streams.alone(trial)
            record |= attack_envelope(population, truth.exact, truth.beliefs, release.noise, rng)
        for name, outcome in played.outcomes.items():
            record |= truth.of_attack(name, outcome)
        if not self.prior_is_exact:
            record |= decoys(played, truth, streams)
        elif population.by_secret.any():
            record |= strangers(played, population.groups, streams)
        if setting.guarantee is not None:
            points = self.points[number] if self.points else ()
            record |= population.proved(number, setting, points, self.nearby)
        return record

    def _truth(self, population: TrialPopulation, played: PlayedBlock) -> Truth:
        if not self.knows_chances:
            return Truth(population, None, None, self.knows_guess)
        [release], [insider] = played.release, played.told(OtherSecrets())
        several = len(population.targets.queries.unknown) > 1
        beliefs = kept_beliefs(release, insider) if several else None
        return Truth(population, insider_chances(release, insider), beliefs, trusted=True)


def trained(
    experiment: Experiment, observer: Observer, executor: Executor | None = None
) -> Experiment:
    """Train the attacks that learn, for each setting; `executor` None is this process."""
    learning = learners(experiment)
    if not learning:
        return experiment
    count = experiment.training * len(experiment.settings)
    observer.note(f"{count} simulated releases, from which {', '.join(learning)} learn")
    keys = [f"{r}/{s}" for s in range(len(experiment.settings)) for r in range(experiment.training)]
    releases = list(soon(executor or Serial(), _Releaser(experiment), keys, observer))
    attacks: list[dict[str, TableAttack]] = []
    for place in range(len(experiment.settings)):
        here = releases[place * experiment.training : (place + 1) * experiment.training]
        simulated = list(simulations(experiment, place, here))
        sources = TrialStreams(experiment.entropy).training(0, place)
        attacks.append({n: a.train(simulated, sources.attack(0, n)) for n, a in learning.items()})
    return replace(experiment, trained=tuple(attacks))


def learners(experiment: Experiment) -> dict[str, Trainable]:
    """Return the attacks that learn something from releases, by name."""
    kind = experiment.settings[0].mechanism.releases
    return {
        name: attack
        for name, attack, _ in experiment.attacks
        if isinstance(attack, Trainable) and any(issubclass(kind, k) for k in attack.learns_from)
    }


def simulations(
    experiment: Experiment, place: int, releases: Iterable[Any] | None = None
) -> Iterator[Simulated]:
    """Yield each simulated release of a setting with the prior knowledge of its people."""
    if releases is None:
        keys = (f"{number}/{place}" for number in range(experiment.training))
        releases = map(_Releaser(experiment), keys)
    world = People(experiment.prior, experiment.targets)
    side = experiment.side
    for number, release in enumerate(releases):
        sources = TrialStreams(experiment.entropy).training(number, place)
        draw = world.draw(1, sources.world)
        [targets] = cast("list[Any]", side.reveal(world, draw, sources.world))
        yield Simulated(targets, release, targets.secrets(np.asarray(draw.data[0])))


@dataclass(frozen=True)
class _Releaser:
    experiment: Experiment

    def __call__(self, key: str) -> Any:
        number, place = map(int, key.split("/"))
        sources = TrialStreams(self.experiment.entropy).training(number, place)
        world = People(self.experiment.prior, self.experiment.targets)
        codes = np.asarray(world.draw(1, sources.world).data)
        [release] = self.experiment.settings[place].mechanism.release(codes, sources.release)
        return release


@dataclass(frozen=True)
class ShownGroups(Groups):
    """The groups of a study, some of them merged, some left out."""

    parts_of: Parts  # for each group shown, the groups of the study that it merges
    said: MergedGroups  # its description in the record

    @property
    def names(self) -> list[tuple[str, str]]:
        names = super().names
        return [
            names[part[0]] if len(part) == 1 else (names[part[0]][0], SMALLER)
            for part in self.parts_of
        ]

    def by_secret(self, unknown: Sequence[int]) -> NDArray[np.bool_]:
        return super().by_secret(unknown)[self._first]

    def parts(self, table: Table) -> Floats:
        shares = super().parts(table)
        return np.array([shares[list(part)].sum() for part in self.parts_of])

    @property
    def by_others(self) -> NDArray[np.bool_]:
        return super().by_others[self._first]

    @property
    def _first(self) -> list[int]:
        return [part[0] for part in self.parts_of]


def shown(
    experiment: Experiment, trials: Mapping[str, Trial]
) -> tuple[Experiment, Mapping[str, Trial]]:
    """Merge groups of too few real people, in an experiment and in its trials.

    Of people drawn from the prior nothing is merged: their numbers depend on real people through
    the prior alone. The members of a group by how unusual the secret is, or by how often the
    release singles them out, change between trials of drawn rows: there the largest number of
    members in one trial counts.
    """
    groups, least_group = experiment.groups, experiment.least_group
    if not experiment.real_rows or not groups.names or isinstance(groups, ShownGroups):
        return experiment, trials
    group_sizes = [trials[f"{trial}/0"]["groups"] for trial in range(experiment.trials)]
    people = _played(experiment)
    known = _known_labels(experiment, people)
    merged: dict[str, int] = {}
    left_out: list[str] = []
    beside: list[NDArray[np.int64]] = []
    parts: list[tuple[int, ...]] = []
    end = 0
    for count, labels in zip(groups.counts, known, strict=True):
        start, end = end, end + count
        by = groups.names[start][0]
        sizes = np.max(group_sizes, axis=0)[start:end]
        if labels is not None:
            sizes = np.bincount(labels, minlength=count).astype(np.float64)
        partition = merge(sizes, least_group)
        shown_as = None if labels is None else numbered(partition, count)[labels]
        if not partition or tells_of_fewer(shown_as, beside, least_group):
            left_out.append(by)
            continue
        beside += [] if shown_as is None else [shown_as]
        if few := sum(len(part) for part in partition if len(part) > 1):
            merged[by] = few
        parts += [tuple(start + group for group in part) for part in partition]
    merged_groups = MergedGroups(
        least=least_group, merged=merged, left_out=tuple(left_out), people=len(people)
    )
    made = ShownGroups(
        groups.columns, groups.unusual, groups.singled_out, tuple(parts), merged_groups
    )
    merged_trials = {key: _merged(trial, made.parts_of) for key, trial in trials.items()}
    return replace(experiment, groups=made), merged_trials


def _known_labels(
    experiment: Experiment, people: NDArray[np.int32]
) -> list[NDArray[np.integer] | None]:
    if experiment.everybody:
        return [labels for labels, _ in experiment.population(0).members.partitions]
    columns: list[NDArray[np.integer] | None] = [
        people[:, column] for column, _, _ in experiment.groups.columns
    ]
    return [*columns, *[None] * (len(experiment.groups.counts) - len(columns))]


def _played(experiment: Experiment) -> NDArray[np.int32]:
    world = experiment.scenarios[0].game.world
    assert isinstance(world, RealRows)
    drawn = np.zeros(world.people, dtype=bool)
    for trial in range(1 if experiment.everybody else experiment.trials):
        drawn[world.numbers(TrialStreams(experiment.entropy)(trial, 0).world)] = True
    return world.rows(np.flatnonzero(drawn))


def _merged(trial: Trial, parts: Parts) -> Found:
    def is_by_group(name: str) -> bool:
        last = name.rpartition("/")[2]
        return last in {"groups", "strangers"} or last.startswith("group_")

    return {
        name: np.array([array[list(part)].sum(axis=0) for part in parts])
        if is_by_group(name)
        else array
        for name, array in trial.items()
    }
