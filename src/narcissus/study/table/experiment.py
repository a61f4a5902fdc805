"""A table study made ready to play: the people, the settings of the sweep, the attacks.

An `Experiment` is all that a worker process needs. Its settings are the members of one family of
games, which differ in the mechanism alone and are played a trial at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from narcissus.attacks.table import TableAttack, Targets
from narcissus.attacks.table.factored import FactoredCeiling
from narcissus.game import Game
from narcissus.game.block import Deal, Round, Seat, play_block
from narcissus.knowledge import FactoredColumns, FactoredTargets, OtherColumns
from narcissus.mechanisms import TableQueries
from narcissus.priors import RecordPrior
from narcissus.priors.base import MAX_JOINT
from narcissus.study.results.table import PrecisionResult
from narcissus.study.table.crowd import Crowd
from narcissus.study.table.enclosure import people_alone
from narcissus.study.table.groups import Groups
from narcissus.study.table.round import Kept
from narcissus.study.table.settings import Setting
from narcissus.study.table.streams import TrialStreams
from narcissus.success import CodesRight, ColumnsRight
from narcissus.success.codes import EachPersonsCodes
from narcissus.success.table import EachPerson
from narcissus.tables import Table
from narcissus.worlds import People, RealRows


def is_factored(queries: TableQueries) -> bool:
    """Say whether the unknown columns have too many joint values for a list of them."""
    return queries.values > MAX_JOINT


@dataclass(frozen=True)
class Experiment:
    """Everything that is fixed before the first trial."""

    table: Table
    prior: RecordPrior
    success: ColumnsRight
    settings: tuple[Setting, ...]
    attacks: tuple[tuple[str, TableAttack, int], ...]
    """Name, attack, number of trials that it takes part in."""
    targets: int
    real_rows: bool
    everybody: bool
    """Whether each release is about all rows of the table: there are no others like them."""
    trials: int
    levels: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]
    """For each setting, the epsilon of the domination bound for each confidence level."""
    groups: Groups
    entropy: int
    least_group: int = 10
    """Fewest real people of whom numbers are shown."""
    confidence: float = 0.95
    """Level at which sampled limits are made."""
    holds: float | None = None
    """Level at which they hold, where a run may end at several looks; None: the same."""
    precision: PrecisionResult | None = None
    """What was reached, where a precision was asked for."""
    training: int = 0
    """Simulated releases at each setting, from which attacks learn."""
    trained: tuple[Mapping[str, TableAttack], ...] = ()
    """For each setting, the attacks that have learned, by name; empty before they have."""

    @property
    def queries(self) -> TableQueries:
        """The tables that are released, or that what is released is read as."""
        return self.settings[0].mechanism.queries

    @property
    def factored(self) -> bool:
        """Whether the unknown columns have so many joint values that none are listed."""
        return is_factored(self.queries)

    @property
    def side(self) -> OtherColumns | FactoredColumns:
        """What the attacker is told."""
        if self.factored:
            return FactoredColumns(self.prior, self.queries, CodesRight(self.success))
        return OtherColumns(self.prior, self.queries, self.success)

    @property
    def relation(self) -> EachPerson | EachPersonsCodes:
        """When an attempt counts."""
        if self.factored:
            return EachPersonsCodes(self.queries.unknown, CodesRight(self.success))
        return EachPerson(self.queries.unknown, self.success)

    def keys(self) -> list[str]:
        """Give the keys of all trials, the settings of one trial together."""
        return [f"{t}/{s}" for t in range(self.trials) for s in range(len(self.settings))]

    @property
    def claimed(self) -> float:
        """Level at which sampled limits hold."""
        return self.confidence if self.holds is None else self.holds

    @property
    def spent(self) -> float:
        """Part of the error that limits are made for."""
        return (1 - self.confidence) / (1 - self.claimed)

    @property
    def prior_is_exact(self) -> bool:
        """Whether the people are drawn from a prior of ours: then it is right about them."""
        return not self.real_rows and type(self.prior).__module__.startswith("narcissus.")

    @property
    def knows_chances(self) -> bool:
        """Whether the chance of each guess given all other secrets is known at every setting."""
        if self.factored:  # it would take their joint values
            return False
        return self.prior_is_exact and all(s.mechanism.cellwise for s in self.settings)

    @property
    def estimates_ceiling(self) -> bool:
        """Whether the ceiling is what sampling decides, so that nobody is shown to stay below."""
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
        """Give what bounds assume at a setting: that too, and that its guarantee is kept."""
        return (*self.takes_as_given, *self.settings[number].mechanism.assumes)

    @cached_property
    def seats(self) -> tuple[Seat, ...]:
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
            Seat(
                setting.label,
                Game(world, setting.mechanism, relation, side),
                self.attacks_at(number),
                first,
                strict=True,
            )
            for number, setting in enumerate(self.settings)
        )

    def attacks_at(self, number: int) -> dict[str, TableAttack]:
        """Give the attacks at a setting by name, trained where they have learned."""
        known = self.trained[number] if self.trained else {}
        return {name: known.get(name, attack) for name, attack, _ in self.attacks}

    def known(self, trial: int) -> Targets | FactoredTargets:
        """Give the people of a trial as the attacker knows them beforehand."""
        return self.crowd(trial).targets

    def crowd(self, trial: int) -> Crowd:
        """Give the people of a trial, who are the same at every setting; the last are kept."""
        if self.everybody:
            trial = 0  # nobody is drawn
        if trial not in self._crowds:
            self._crowds.clear()
            rng = TrialStreams(self.entropy)(trial, 0).world
            deal = Deal.of(self.seats[0].game, 1, rng)
            self._crowds[trial] = Crowd(deal, self.groups, self._others(trial))
        return self._crowds[trial]

    def _others(self, trial: int) -> Crowd | None:
        """Draw more people, who tell what no attack is beyond; no release is about all of them."""
        if not self.knows_chances:
            return None
        more = people_alone(self.targets, self.queries.values)
        game = replace(self.seats[0].game, world=People(self.prior, more))
        groups = replace(self.groups, singled_out=False)  # by whom they are not with
        return Crowd(Deal.of(game, 1, TrialStreams(self.entropy).others(trial)), groups)

    @cached_property
    def _crowds(self) -> dict[int, Crowd]:
        return {}

    def round(self, trial: int, number: int) -> Round:
        """Play one trial of one setting."""
        streams = TrialStreams(self.entropy)
        deal = self.crowd(trial).deal
        return play_block(self.seats[number], trial, number, size=1, streams=streams, deal=deal)

    def play(self, key: str) -> dict[str, NDArray[Any]]:
        """Play one trial, given by its key; give what is kept of it."""
        trial, number = (int(part) for part in key.split("/"))
        streams = TrialStreams(self.entropy)
        setting, points = self.settings[number], self.points[number] if self.points else ()
        exact = self.prior_is_exact
        kept = Kept(
            setting,
            points,
            self.crowd(trial),
            exact=exact,
            chances=self.knows_chances,
            streams=streams,
        )
        return kept(self.round(trial, number))
