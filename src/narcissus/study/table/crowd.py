"""The people of a trial, before anything is released: the same at every setting of a sweep.

What is known, proved and guessed of them does not depend on the release, so it is computed once;
where every release is about the whole table, once for all trials.

Groups of them are reported next to the average, which can hide them: by value of a column, by how
unusual a person's secret is given what is known of them, and by how often the release singles them
out: in how many of its tables nobody else shares what is known of them, so that their cell is
theirs alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.game.block import Deal
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP
from narcissus.knowledge import FactoredTargets
from narcissus.study.table import column_proofs, counts, factored_proofs, proofs
from narcissus.study.table.counts import packed
from narcissus.study.table.settings import Setting
from narcissus.tables import Table

Floats = NDArray[np.float64]

BLOCK = 1 << 16  # people whose membership in all groups is laid out at a time

# Probability of the true secret given the known columns: above each of these, else the last.
UNUSUAL = (
    (0.5, "expected: probability above 1/2"),
    (0.2, "likely: 1/5 to 1/2"),
    (0.05, "unlikely: 1/20 to 1/5"),
    (0.0, "rare: below 1/20"),
)
# Share of the tables in which the person is alone: at least each of these, else the last.
SINGLED = (
    (1 / 3, "alone in a third of the tables or more"),
    (1 / 10, "alone in a tenth to a third"),
    (1e-12, "alone in fewer than a tenth"),
    (0.0, "alone in none"),
)


@dataclass(frozen=True, eq=False)
class Members:
    """Membership of groups: each person is in one group of each partition."""

    people: int  # number of people
    # for each partition the group of each person, shape (people,), and its number of groups
    partitions: tuple[tuple[NDArray[np.integer], int], ...]

    def sums(self, values: Floats) -> Floats:
        total = 0.0
        for start in range(0, self.people, BLOCK):
            block = slice(start, start + BLOCK)
            total = total + self.masks(block).astype(np.float64) @ values[block]
        return np.asarray(total)

    def masks(self, block: slice = slice(None)) -> NDArray[np.bool_]:
        """Return the membership of some people in each group, shape (groups, people)."""
        parts = [own[block] == np.arange(count)[:, None] for own, count in self.partitions]
        nobody = np.zeros((0, len(range(*block.indices(self.people)))), dtype=bool)
        return np.concatenate([nobody, *parts])


@dataclass(frozen=True)
class Groups:
    """The groups of a study."""

    # one group for each value of these columns: (index, name, labels)
    columns: tuple[tuple[int, str, tuple[str, ...]], ...]
    unusual: bool
    singled_out: bool

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], unusual: bool, singled_out: bool) -> Groups:
        found = tuple((table.index(c), c, table.labels[table.index(c)]) for c in columns)
        return cls(found, unusual, singled_out)

    @property
    def names(self) -> list[tuple[str, str]]:
        names = [(name, label) for _, name, labels in self.columns for label in labels]
        if self.unusual:
            names += [("how unusual the secret is", label) for _, label in UNUSUAL]
        if self.singled_out:
            names += [("how often the release singles them out", label) for _, label in SINGLED]
        return names

    @property
    def asked(self) -> int:
        """Number of groups that the study names, all of whose limits hold at once."""
        return sum(self.counts)

    @property
    def counts(self) -> list[int]:
        counts = [len(labels) for _, _, labels in self.columns]
        return [*counts, *([len(UNUSUAL)] * self.unusual), *([len(SINGLED)] * self.singled_out)]

    def by_secret(self, unknown: Sequence[int]) -> NDArray[np.bool_]:
        """Return for every group whether an attacker cannot know who belongs to it.

        Bounds on people given their known columns, and the ceiling, do not hold for a group chosen
        by the secrets: always guessing its value gets all of it.
        """
        told = [index in unknown for index, _, labels in self.columns for _ in labels]
        told += [True] * len(UNUSUAL) if self.unusual else []
        told += [False] * len(SINGLED) if self.singled_out else []
        return np.array(told, dtype=bool)

    def parts(self, table: Table) -> Floats:
        """Return each group's share of a table's people; 0 of those that no column defines."""
        found = np.zeros(self.asked)
        start = 0
        for index, _, labels in self.columns:
            codes = table.records[:, index]
            counted = np.bincount(codes, weights=table.counts, minlength=len(labels))
            found[start : start + len(labels)] = counted / counted.sum()
            start += len(labels)
        return found

    @property
    def by_others(self) -> NDArray[np.bool_]:
        """Return for every group whether who else is drawn decides who belongs to it.

        Members of such a group are not drawn independently: a person who is alone in no table
        shares what is known of them with others who are not alone either.
        """
        labels = sum(len(labels) for _, _, labels in self.columns)
        labels += len(UNUSUAL) if self.unusual else 0
        return np.arange(self.asked) >= labels

    def members(
        self,
        people: NDArray[np.int32],
        targets: Targets | FactoredTargets,
        secrets: NDArray[np.integer],
    ) -> Members:
        """Return the members of each group, in the order of `names`.

        ``people`` are the full codes, secrets included: groups are for the report, the attacker
        does not see them.
        """
        parted = [(people[:, index].copy(), len(labels)) for index, _, labels in self.columns]
        n = people.shape[0]
        if self.unusual:
            chance = targets.secret_chance(secrets)
            parted.append((_bands(chance, [limit for limit, _ in UNUSUAL]), len(UNUSUAL)))
        if self.singled_out:
            parted.append((_bands(_alone(targets), [limit for limit, _ in SINGLED]), len(SINGLED)))
        return Members(n, tuple(parted))


def _bands(values: Floats, limits: list[float]) -> NDArray[np.int32]:
    """Split by descending lower limits: each value belongs to the first that it reaches."""
    return np.searchsorted(-np.array(limits), -values, side="left").astype(np.int32)


def _alone(targets: Targets | FactoredTargets) -> Floats:
    """Compute the share of tables in which nobody shares a person's known part, shape (n,).

    Of the tables with an unknown column; table by table, to save memory.
    """
    alone = np.zeros(targets.people)
    tables, columns = 0, targets.queries.columns(targets.codes)
    for pattern in targets.queries.patterns:
        tables += pattern.tables
        for part in pattern.parts(columns):
            if part.max(initial=0) < 16 * part.size:
                alone += np.bincount(part)[part] == 1
            else:  # far more cells than people
                _, inverse, counts = np.unique(part, return_inverse=True, return_counts=True)
                alone += counts[inverse] == 1
    return alone / tables


def proved(
    targets: Targets | FactoredTargets,
    members: Members,
    setting: Setting,
    points: tuple[float, ...],
) -> dict[str, NDArray[Any]]:
    """Compute the arrays kept of what is proved.

    ``setting`` has a guarantee; ``points`` are the epsilons of the profile for the domination
    bound, one for each confidence level.
    """
    assert setting.guarantee is not None
    theory: Any = factored_proofs if isinstance(targets, FactoredTargets) else proofs
    by_column = targets.success.by_column
    if by_column:
        theory = column_proofs
    # of a guess that can be made: what a bound leaves above it must not come out too small
    guess = targets.best_chance
    shares = theory.shares(targets, setting.guarantee)
    moments = np.stack([shares, shares**2, guess, guess**2, shares * guess], axis=1)
    gains = theory.gains(targets, setting.guarantee, shares)
    none = np.zeros_like(gains)  # a gain is relative to no guess
    gained = np.stack([gains, gains**2, none, none, none], axis=1)
    found: dict[str, NDArray[Any]] = {
        "bound": moments.sum(axis=0),
        "group_bound": members.sums(moments),
        "gain_bound": gained.sum(axis=0),
        "group_gain_bound": members.sums(gained),
    }
    if setting.single is not None:
        found["share_single"] = np.array(theory.shares(targets, setting.single).mean())
    if by_column:  # a mean says nothing of how many fall
        return found
    found |= _counts(targets, setting.guarantee, points, theory)
    for name, table in theory.other_tails(targets, setting.guarantee).items():
        found |= packed(f"tails/{name}", table)
    if isinstance(targets, FactoredTargets):
        of_columns = factored_proofs.columns_share(targets, setting.guarantee)
        if of_columns is not None:
            found["columns_bound"] = np.array(of_columns)
    if setting.single is not None:
        epsilon, delta = _point(setting.single)
        most = theory.best_chances(targets)
        table = proofs.output_tail_table(most, epsilon, targets.people * delta)
        found |= packed("published", table)
    return found


def _counts(
    targets: Targets | FactoredTargets, guarantee: Guarantee, points: tuple[float, ...], theory: Any
) -> dict[str, NDArray[Any]]:
    """Compute the bounds on the number recovered at once, and what some mechanism attains."""
    found: dict[str, NDArray[Any]] = {}
    for place, point in enumerate(points):
        delta = float(guarantee.profile(point))
        o, theta = theory.single_success(targets, point, delta)
        cost = theory.costs(targets, guarantee, point, theta)
        tails = counts.count_tails(targets, guarantee, point, o, cost)
        found |= packed(f"tails/{place}", tails)
        # in [0, 1], so that a mean over people is limited as nearly as that of o
        part = cost / delta if delta > 0 else np.zeros_like(cost)
        found[f"single/{place}"] = np.array([o.sum(), (o**2).sum(), part.sum(), (part**2).sum()])
    floor = counts.reached(targets, guarantee)
    if floor is not None:
        found["reached"] = floor
    even = counts.evenness(targets)
    if even is not None:
        found["evenness"] = even
    return found


def _point(single: Guarantee) -> tuple[float, float]:
    if isinstance(single, PureDP):
        return single.epsilon, 0.0
    assert isinstance(single, ApproximateDP)
    return single.epsilon, single.delta


Kept = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of a trial."""

    deal: Deal  # who they are, and what the attacker is told of them
    groups: Groups  # the groups of them that are reported
    # more people like them, in no release of theirs; None if nothing needs them
    others: Crowd | None = None
    _proved: dict[int, Kept] = field(default_factory=dict[int, Kept], init=False)

    @property
    def targets(self) -> Targets | FactoredTargets:
        [targets] = self.deal.known
        return targets

    @cached_property
    def secrets(self) -> NDArray[np.integer]:
        """Their joint values, shape (n,); of many unknown columns their codes, (n, columns)."""
        return self.targets.secrets(self.deal.draw.data[0])

    @cached_property
    def members(self) -> Members:
        return self.groups.members(self.deal.draw.data[0], self.targets, self.secrets)

    @cached_property
    def by_secret(self) -> NDArray[np.bool_]:
        """For each group, whether secrets define it, shape (groups,)."""
        return self.groups.by_secret(self.targets.queries.unknown)

    def proved(self, place: int, setting: Setting, points: tuple[float, ...]) -> Kept:
        if place not in self._proved:
            self._proved[place] = proved(self.targets, self.members, setting, points)
        return self._proved[place]
