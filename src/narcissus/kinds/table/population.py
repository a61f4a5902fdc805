"""The settings of a sweep, and the people of a trial, the same at every setting.

What is known, proved and guessed of people does not depend on the release, so it is computed once;
where every release is about the whole table, once for all trials.

Groups are reported next to the average, which can hide them: by value of a column, by how unusual
a person's secret is given the known columns, and by the share of the released tables in which
nobody else shares the person's known values.

Trial ``t`` of setting ``s`` draws its people and the shape of its noise from ``t`` alone, so curves
over settings are smooth. Each attack has its own generator, whichever others take part.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._random import child
from narcissus.attacks.table import Targets
from narcissus.bounds.threat import Nearby
from narcissus.errors import InputError
from narcissus.game.block import Sources, TrialInputs, guarded
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP
from narcissus.kinds.table import proofs
from narcissus.kinds.table.found import distinct_labels
from narcissus.knowledge import FactoredTargets
from narcissus.mechanisms import Columns, Prepared, TableMechanism
from narcissus.tables import Table

Kept = dict[str, NDArray[Any]]

# first parts of the keys of generators
PEOPLE, NOISE, ATTACK, DECOY, PILOT, TRAIN, OWN, ALONE, HELD_OUT = range(9)

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


@dataclass(frozen=True)
class Setting:
    """One level of the sweep."""

    label: str  # for tables and figures
    title: str  # the release, in words
    strength: float | None  # grows with protection; None if nothing orders the settings
    mechanism: Prepared
    guarantee: Guarantee | None
    epsilon: float | None = None
    delta: float | None = None
    mu: float | None = None
    # the point (epsilon, delta) as a guarantee, for comparison
    single: PureDP | ApproximateDP | None = None


def settings_of(planned: Sequence[TableMechanism], columns: Columns) -> tuple[Setting, ...]:
    """Prepare each level of a sweep, all of which must release the same tables."""
    labels = distinct_labels([mechanism.label for mechanism in planned])
    pairs = zip(planned, labels, strict=True)
    settings = tuple(
        replace(_setting(mechanism, columns), label=label) for mechanism, label in pairs
    )
    for setting in settings[1:]:
        if setting.mechanism.queries != settings[0].mechanism.queries:
            raise InputError(
                f"at '{setting.label}' other tables are released than at '{settings[0].label}': "
                "audit them in separate studies"
            )
    return settings


def _setting(planned: TableMechanism, columns: Columns) -> Setting:
    mechanism = guarded("mechanism", planned, lambda: planned.prepare(columns))
    guarantee = mechanism.guarantee
    known = (planned.label, planned.title, planned.strength, mechanism, guarantee)
    if guarantee is None:
        return Setting(*known)
    if isinstance(guarantee, PureDP):
        return Setting(*known, guarantee.epsilon, 0.0, None, guarantee)
    epsilon, delta = planned.point(guarantee)
    single = None if epsilon is None else ApproximateDP(epsilon, delta)
    mu = guarantee.mu if isinstance(guarantee, GaussianDP) else None
    return Setting(*known, epsilon, delta, mu, single)


@dataclass(frozen=True)
class TrialStreams:
    """Generators by the numbers of trial and setting, and the attack's name."""

    entropy: int

    def __call__(self, number: int, place: int) -> Sources:
        return Sources(
            child(self.entropy, PEOPLE, number),
            child(self.entropy, NOISE, number),
            lambda _, name: child(self.entropy, ATTACK, number, place, zlib.crc32(name.encode())),
        )

    def training(self, number: int, place: int) -> Sources:
        return self._apart(TRAIN, number, place, attack=0)

    def decoy(self, number: int, place: int) -> Sources:
        return self._apart(DECOY, number, place, attack=number)

    def _apart(self, part: int, number: int, place: int, attack: int) -> Sources:
        return Sources(
            child(self.entropy, part, number),
            child(self.entropy, part, number, 0),
            lambda _, name: child(self.entropy, part, attack, 1, place, zlib.crc32(name.encode())),
        )

    def alone(self, number: int) -> np.random.Generator:
        """Return the generator of releases about single people."""
        return child(self.entropy, ALONE, number)

    def others(self, number: int) -> np.random.Generator:
        """Return the generator of the people whom these are about."""
        return child(self.entropy, ALONE, number, 0)


@dataclass(frozen=True, eq=False)
class Members:
    """Membership of groups: each person is in one group of each partition."""

    people: int
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
        parts = [codes[block] == np.arange(count)[:, None] for codes, count in self.partitions]
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
        group_columns = tuple((table.index(c), c, table.labels[table.index(c)]) for c in columns)
        return cls(group_columns, unusual, singled_out)

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
        """Number of groups that the study names, all of whose limits hold jointly."""
        return sum(self.counts)

    @property
    def counts(self) -> list[int]:
        counts = [len(labels) for _, _, labels in self.columns]
        return [*counts, *([len(UNUSUAL)] * self.unusual), *([len(SINGLED)] * self.singled_out)]

    def by_secret(self, unknown: Sequence[int]) -> NDArray[np.bool_]:
        """Return for every group whether an attacker cannot know who belongs to it.

        Bounds given known columns, and the ceiling, do not hold for it: naming its value gets all.
        """
        flags = [index in unknown for index, _, labels in self.columns for _ in labels]
        flags += [True] * len(UNUSUAL) if self.unusual else []
        flags += [False] * len(SINGLED) if self.singled_out else []
        return np.array(flags, dtype=bool)

    def parts(self, table: Table) -> Floats:
        """Return each group's share of a table's people; 0 of those that no column defines."""
        shares = np.zeros(self.asked)
        start = 0
        for index, _, labels in self.columns:
            codes = table.records[:, index]
            counted = np.bincount(codes, weights=table.counts, minlength=len(labels))
            shares[start : start + len(labels)] = counted / counted.sum()
            start += len(labels)
        return shares

    @property
    def by_others(self) -> NDArray[np.bool_]:
        """Return for every group whether who else is drawn decides who belongs to it.

        Its members are not independent: one who is alone in no table shares with others.
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
        """Return the members of each group, in the order of `names`, from full codes."""
        parted = [(people[:, index].copy(), len(labels)) for index, _, labels in self.columns]
        if self.unusual:
            parted.append((_bands(targets.secret_chance(secrets), UNUSUAL), len(UNUSUAL)))
        if self.singled_out:
            parted.append((_bands(_alone(targets), SINGLED), len(SINGLED)))
        return Members(people.shape[0], tuple(parted))


def _bands(values: Floats, bands: Sequence[tuple[float, str]]) -> NDArray[np.int32]:
    limits = np.array([limit for limit, _ in bands])
    return np.searchsorted(-limits, -values, side="left").astype(np.int32)


def _alone(targets: Targets | FactoredTargets) -> Floats:
    """Compute the share of tables in which nobody shares a person's known part, shape (n,)."""
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
    nearby: Nearby | None = None,
) -> Kept:
    """Compute what is proved, with one epsilon of the profile for each confidence level.

    nearby: how far the prior may be from the true one; then all of it is proved at the prior that
        is easiest to guess, which is the worst of all near ones (Narcissus theory 4.12).
    """
    assert setting.guarantee is not None
    # of a guess that can be made: what a bound leaves above it must not come out too small
    guess = targets.best_chance
    if nearby is not None:
        assert isinstance(targets, Targets)
        guess = np.array([nearby.least(p) for p in guess.tolist()])
        targets = replace(targets, prior=nearby.worst(targets.prior))
    shares = proofs.shares(targets, setting.guarantee)
    moments = np.stack([shares, shares**2, guess, guess**2, shares * guess], axis=1)
    gains = proofs.gains(targets, setting.guarantee, shares)
    if nearby is not None:  # two secrets of another near prior may differ more often
        gains = np.minimum(shares, float(setting.guarantee.profile(0.0)))
    none = np.zeros_like(gains)  # a gain is relative to no guess
    gained = np.stack([gains, gains**2, none, none, none], axis=1)
    bounds: Kept = {
        "bound": moments.sum(axis=0),
        "group_bound": members.sums(moments),
        "gain_bound": gained.sum(axis=0),
        "group_gain_bound": members.sums(gained),
    }
    if setting.single is not None:
        bounds["share_single"] = np.array(proofs.shares(targets, setting.single).mean())
    if targets.success.by_column:  # a mean says nothing of how many are reconstructed
        return bounds
    bounds |= _counts(targets, setting.guarantee, points)
    for name, table in proofs.other_tails(targets, setting.guarantee).items():
        bounds |= proofs.packed(f"tails/{name}", table)
    if isinstance(targets, FactoredTargets):
        of_columns = proofs.columns_share(targets, setting.guarantee)
        if of_columns is not None:
            bounds["columns_bound"] = np.array(of_columns)
    if setting.single is not None:
        chances, lost = proofs.best_chances(targets), targets.people * setting.single.delta
        table = proofs.output_tail_table(chances, setting.single.epsilon, lost)
        bounds |= proofs.packed("published", table)
    return bounds


def _counts(
    targets: Targets | FactoredTargets, guarantee: Guarantee, points: tuple[float, ...]
) -> Kept:
    bounds: Kept = {}
    for place, point in enumerate(points):
        delta = float(guarantee.profile(point))
        o, theta = proofs.single_success(targets, point, delta)
        cost = proofs.costs(targets, guarantee, point, theta)
        tails = proofs.count_tails(targets, guarantee, point, o, cost)
        bounds |= proofs.packed(f"tails/{place}", tails)
        # in [0, 1], so that a mean over people is limited as nearly as that of o
        part = cost / delta if delta > 0 else np.zeros_like(cost)
        bounds[f"single/{place}"] = np.array([o.sum(), (o**2).sum(), part.sum(), (part**2).sum()])
    floor, even = proofs.reached(targets, guarantee), proofs.evenness(targets)
    return bounds | {k: v for k, v in (("reached", floor), ("evenness", even)) if v is not None}


@dataclass(frozen=True, eq=False)
class TrialPopulation:
    """The people of a trial."""

    inputs: TrialInputs  # who they are, and what the attacker is told of them
    groups: Groups
    # more people like them, in no release of theirs; None if nothing needs them
    others: TrialPopulation | None = None
    _proved: dict[int, Kept] = field(default_factory=dict[int, Kept], init=False)

    @property
    def targets(self) -> Targets | FactoredTargets:
        [targets] = self.inputs.known
        return targets

    @cached_property
    def secrets(self) -> NDArray[np.integer]:
        """Their joint values, shape (n,); of many unknown columns their codes, (n, columns)."""
        return self.targets.secrets(self.inputs.draw.data[0])

    @cached_property
    def members(self) -> Members:
        return self.groups.members(self.inputs.draw.data[0], self.targets, self.secrets)

    @cached_property
    def by_secret(self) -> NDArray[np.bool_]:
        """For each group, whether secrets define it, shape (groups,)."""
        return self.groups.by_secret(self.targets.queries.unknown)

    def proved(
        self, place: int, setting: Setting, points: tuple[float, ...], nearby: Nearby | None
    ) -> Kept:
        if place not in self._proved:
            self._proved[place] = proved(self.targets, self.members, setting, points, nearby)
        return self._proved[place]
