"""The tables of Swanberg et al. 2025, section 6, and one attacked release of them.

The survey is the one that comes with this project: of New York and of people aged 17 to 89, where
the paper has the Californian one and, by its ten decades, people of all ages.

Source: Swanberg et al. 2025, section 6.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from narcissus.attacks.table.base import Joint, ReleaseByRelease, View
from narcissus.audits import audit
from narcissus.errors import InputError
from narcissus.priors import BayesianNetwork, fit_bayesian_network
from narcissus.study.results.table import CountBound, SettingResult, ShareBound, TableResults
from narcissus.tables import Bins, Table, read_table
from narcissus_papers.base import Given, Held, Line, Needed, Quote

DELTA = 1e-5
COLUMNS_IN_A_TABLE = 3
PARENTS = 2
PEOPLE = 100
LEVELS = (0.05, 0.5, 0.95)
"""Confidence of what is proved of the count, as the paper's error bars."""
KNOWN = 3
"""Columns that are known at least (section 6.3)."""

BESIDE = Path(__file__).resolve().parents[5] / "examples" / "data"
"""Where the files are in a checkout of the project; a wheel does not hold them."""


@dataclass(frozen=True)
class LikeliestValue(ReleaseByRelease):
    """The likeliest value of each unknown column, whatever distance is allowed."""

    title = "the likeliest value without the release"
    uses = "prior"
    reads = (object,)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        values = [one.argmax(axis=1) for one in view.targets.marginals]
        return view.targets.success.join_guess(np.stack(values, axis=-1).astype(np.int32))


SHORT = {"name": "rap", "start": "prior", "steps": 100, "rate": 0.01}
ATTACKS: Mapping[str, Mapping[str, Any] | ReleaseByRelease] = {
    "rap": {"name": "rap", "start": "prior"},
    "short": SHORT,
    "posterior": {"name": "posterior"},
    "ceiling": {"name": "ceiling"},
    "likeliest": LikeliestValue(),
}
"""The paper's attack, the same with few small steps, ours, one who is told the others' secrets, and
where a distance is allowed who names the likeliest value: the best guess covers as many as it can.

The paper says neither how many steps it takes nor how long they are: the first takes 1,000 of .1.
"""
LABELS = {
    "rap": "RAP from the prior, 1,000 steps",
    "short": "RAP from the prior, 100 small steps",
    "posterior": "posterior",
    "ceiling": "ceiling (told all other secrets)",
    "likeliest": "likeliest value, without the release",
}

BESIDE_EACH_OTHER = 0.18
"""How far points of several attacks at the same place are drawn apart."""

OTHER_DATA = (
    "ACS is New York's of 2018, people aged 17 to 89 in eight decades (the paper: California's, "
    "ten decades), FIRE our coding of the same calls: shapes and orderings compare, third digits "
    "do not."
)
BOUNDS = (
    "The published bound is Corollary 3.4 with everybody's likeliest attempt, which holds for "
    "every attacker. The paper derives the limits of Figure 4 from Theorem 3.5, which does not "
    "hold as stated, and says that for skewed data it takes Corollary 3.4 with the attempts made "
    "(section 3.4). Ours is the interpolation theorem under the "
    "Gaussian mechanism's own guarantee."
)
BELOW = (
    "RAP does not decide by the prior: it descends the distance from noisy counts alone. With "
    "1,000 steps it fits their noise and ends below the prior at small epsilon; with 100 steps of "
    ".01 it stays near the prior where it starts, and does not reach the fit without noise. The "
    "paper does not print its steps."
)
OTHER = "other data (New York, ages 17 to 89), and few releases"
"""Why printed shares and counts differ."""


@dataclass(frozen=True)
class Source:
    """A table and how it is read."""

    title: str  # the paper's name for it
    needed: Needed
    drop: tuple[str, ...] = ()  # see `narcissus.tables.read_table`; so is ``bins``
    bins: Mapping[str, Bins] = field(default_factory=dict)

    def path(self, given: Given) -> Path:
        """Return the file in the user's data folder or next to a checkout, or raise InputError."""
        folders = [BESIDE] if given.data is None else [given.data, BESIDE]
        for folder in folders:
            if (folder / self.needed.name).exists():
                return folder / self.needed.name
        looked = " and ".join(map(str, folders))
        raise InputError(
            f"{self.needed.name} is not in {looked}: name a folder that holds it with --data "
            f"({self.needed.source})"
        )

    def read(self, given: Given) -> Table:
        return _read(self.path(given), self.drop, tuple(self.bins.items()))

    def network(self, given: Given) -> BayesianNetwork:
        return _fitted(self.path(given), self.drop, tuple(self.bins.items()))

    def in_order(self, given: Given) -> list[str]:
        """Return the columns that may be unknown, in the visit order of the network."""
        network = self.network(given)
        return [network.names[c] for c in network.order[:-KNOWN]]


ACS = Source(
    "ACS",
    Needed(
        "acs_employment_ny2018_20k.csv.gz",
        "f821c4f0977e4df971f4c7963c0de95714513981c857196cb0d43d39dc544606",
        "the folder examples/data of this project's repository",
    ),
    drop=("ESR",),
    bins={"AGEP": Bins(width=10)},
)
FIRE = Source(
    "FIRE",
    Needed(
        "fire_10col.csv.gz",
        "99241300fc1807c97dad16679f90e44ab35f5abed29b97de6b8875d3a5834ab1",
        "the folder examples/data of this project's repository",
    ),
)
SOURCES = {"acs": ACS, "fire": FIRE}

ACS_COLUMNS = (
    "MAR", "MIL", "ESP", "MIG", "DREM", "NATIVITY", "DIS", "DEAR", "DEYE", "SEX", "RAC1P", "RELP",
    "CIT", "ANC", "SCHL", "AGEP",
)  # fmt: skip
FIRE_COLUMNS = (
    "Call Type", "Call Final Disposition", "City", "Zipcode of Incident", "Battalion",
    "Station Area", "Priority", "ALS Unit", "Call Type Group", "Number of Alarms",
)  # fmt: skip
COLUMNS = {"acs": ACS_COLUMNS, "fire": FIRE_COLUMNS}


@lru_cache(maxsize=2)
def _read(path: Path, drop: tuple[str, ...], bins: tuple[tuple[str, Bins], ...]) -> Table:
    table = read_table(str(path), drop=list(drop), bins=dict(bins))
    assert isinstance(table, Table)
    return table


@lru_cache(maxsize=2)
def _fitted(
    path: Path, drop: tuple[str, ...], bins: tuple[tuple[str, Bins], ...]
) -> BayesianNetwork:
    return fit_bayesian_network(_read(path, drop, bins), parents=PARENTS)


def attacked(
    given: Given,
    *,
    source: str,
    unknown: Sequence[str],
    epsilon: float,
    trials: int,
    attacks: Sequence[str] = tuple(ATTACKS),
    within: float = 0.0,
    people: int = PEOPLE,
) -> dict[str, Any]:
    """Audit releases about people drawn from the network: a piece of a figure.

    ``source`` is "acs" or "fire"; columns other than ``unknown`` are known; ``epsilon`` is that of
    the Gaussian noise at delta 1e-5, infinite for exact counts; ``attacks`` are keys of `ATTACKS`;
    a guess of a single column may be off by ``within``; ``people`` are in a release.

    Returns
    -------
    dict
        ``guess``, and for each attack its mean share recovered with 95% limits (``share``, ``low``,
        ``high``); ``mean``: the bound on the mean share; ``published`` and ``ours``: for each
        of `LEVELS`, as text, the bound on the count, as a share of the people.
    """
    one = SOURCES[source]
    names = [
        name
        for name in attacks
        if (len(unknown) == 1 or name != "ceiling") and (within or name != "likeliest")
    ]
    found = audit(
        one.read(given),
        unknown=list(unknown),
        targets=people,
        within={unknown[0]: within} if within else None,
        prior={"name": "bayesian-network", "parents": PARENTS},
        k=COLUMNS_IN_A_TABLE,
        epsilon=epsilon,
        delta=None if epsilon == float("inf") else DELTA,
        attacks={name: ATTACKS[name] for name in names},
        bounds=list(LEVELS),
        groups={"unusual": False, "singled_out": False},
        trials=trials,
        workers=1,
        rng=1,
    )
    results = found.record.results
    assert isinstance(results, TableResults)
    [setting] = results.settings
    every = dict(setting.attacks)
    if setting.ceiling is not None:
        every["ceiling"] = setting.ceiling
    limited = {"guess": setting.guess, **every}
    return {
        **{n: {"share": x.share, "low": x.low, "high": x.high} for n, x in limited.items()},
        "mean": min(b.share_at_most for b in setting.bounds if isinstance(b, ShareBound)),
        "published": counts(setting, "swanberg-3.4"),
        "ours": counts(setting, "interpolation"),
    }


def counts(setting: SettingResult, theorem: str) -> dict[str, float]:
    """Return a theorem's bounds on the count at each level, as shares; 1 without a bound.

    ``theorem`` is an id; of people played, who are drawn.
    """
    said = {
        f"{bound.confidence:g}": bound.at_most / bound.of
        for bound in setting.bounds
        if isinstance(bound, CountBound) and bound.id == theorem
    }
    return {f"{level:g}": said.get(f"{level:g}", 1.0) for level in LEVELS}


def lines(
    x: Sequence[float], answers: Sequence[Mapping[str, Any]], *, joined: bool = True
) -> tuple[Line, ...]:
    """Draw answers of `attacked` over x, per 100 people: guess, attacks, and both bounds.

    ``joined`` is off where x has no order. An attack is drawn where it was played.
    """

    def curve(label: str, key: str, style: Any, beside: float = 0.0) -> Line:
        there = [
            (at, 100 * one[key]["share"]) for at, one in zip(x, answers, strict=True) if key in one
        ]
        return Line(label, [at + beside for at, _ in there], [value for _, value in there], style)

    drawn = [curve("prior", "guess", "dotted")]
    played = [name for name in LABELS if any(name in one for one in answers)]
    for place, name in enumerate(played):
        beside = 0.0 if joined else BESIDE_EACH_OTHER * (place - (len(played) - 1) / 2)
        drawn.append(curve(LABELS[name], name, "line" if joined else "points", beside))
    for key, label in (("published", "Corollary 3.4"), ("ours", "ours")):
        for level in LEVELS:
            values = [100 * one[key][f"{level:g}"] for one in answers]
            drawn.append(Line(f"{label}, {100 * level:g}%", x, values, "dashed"))
    return tuple(drawn)


def never_above(answers: Mapping[str, Mapping[str, Any]]) -> bool:
    return all(
        one[name]["low"] <= one["mean"]
        for one in answers.values()
        for name in LABELS
        if name in one
    )


def claim(what: str, holds: bool, because: str = "", quote: Quote | None = None) -> Held:
    return Held(what, holds, "played", "" if holds else because, quote)


def kept_below(answers: Mapping[str, Mapping[str, Any]]) -> Held:
    return claim("no attack is above what is proved of the mean share", never_above(answers))
