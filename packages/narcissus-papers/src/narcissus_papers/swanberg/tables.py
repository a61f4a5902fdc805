"""The tables of Swanberg et al. 2025, section 6, and one attacked release of them.

The survey is the one that comes with this project: of New York and of people aged 17 to 89, where
the paper has the Californian one and, by its ten decades, people of all ages.

Figure 4 of Swanberg et al. 2025: one unknown column at epsilon 1, each of both tables.

Figure 5 of Swanberg et al. 2025: SCHL and ALS Unit over the privacy level.

Figure 6 of Swanberg et al. 2025: more and more unknown columns at epsilon 3. All of them must be
right; in the visit order of the network, and three columns always known. Once no joint values are
listed for their number, attacks and bounds go by factors of the prior.

Figure 7 of Swanberg et al. 2025: guesses that may be off by some values, at epsilon 1.

Source: Swanberg et al. 2025, section 6.2; Swanberg et al. 2025, Figure 4; Swanberg et al. 2025,
Figure 5; Swanberg et al. 2025, Figure 6; Swanberg et al. 2025, section 6.3; Swanberg et al. 2025,
Figure 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from narcissus.attacks.table.base import Joint, ReleaseByRelease, View
from narcissus.audits import audit
from narcissus.errors import InputError
from narcissus.kinds.table.judgement import JudgedSetting, of_table
from narcissus.kinds.table.kind import KIND
from narcissus.priors import BayesianNetwork, fit_bayesian_network
from narcissus.report.panels import Line, Panel
from narcissus.tables import Bins, Table, read_table
from narcissus.tables.read import MissingPolicy
from narcissus.tables.spelling import ReadAs
from narcissus_papers.base import (
    Given,
    Held,
    Item,
    Needed,
    Printed,
    Quote,
    Reproduced,
    Told,
    played,
    yields,
)

DELTA = 1e-5
COLUMNS_IN_A_TABLE = 3
PARENTS = 2
PEOPLE = 100
LEVELS = (0.05, 0.5, 0.95)
"""Confidence of what is proved of the count, as the paper's error bars."""
KNOWN = 3
"""Columns that are known at least (section 6.3)."""

SMALL = {"trials": 1, "people": 3, "rows": 200}
"""One release of a piece about few people."""

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


ATTACKS: Mapping[str, Mapping[str, Any] | ReleaseByRelease] = {
    "rap": {"name": "rap", "start": "prior"},
    "short": {"name": "rap", "start": "prior", "steps": 100, "rate": 0.01},
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
    drop: tuple[str, ...] = ()  # this and the others: see `narcissus.tables.read_table`
    bins: tuple[tuple[str, Bins], ...] = ()
    missing: MissingPolicy = "refuse"
    read_as: tuple[tuple[str, ReadAs], ...] = ()

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
        return _read(self.path(given), self)

    def network(self, given: Given) -> BayesianNetwork:
        return _fitted(self.path(given), self)

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
    bins=(("AGEP", Bins(width=10)),),
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
def _read(path: Path, of: Source) -> Table:
    how: dict[str, Any] = {"missing": of.missing, "read_as": dict(of.read_as)}
    table = read_table(str(path), drop=list(of.drop), bins=dict(of.bins), **how)
    assert isinstance(table, Table)
    return table


@lru_cache(maxsize=2)
def _fitted(path: Path, of: Source) -> BayesianNetwork:
    return fit_bayesian_network(_read(path, of), parents=PARENTS)


def attacked(  # noqa: PLR0913 (what a point of a figure is made of)
    given: Given,
    *,
    source: str | Source,
    unknown: Sequence[str],
    epsilon: float,
    trials: int,
    attacks: Sequence[str] = tuple(ATTACKS),
    within: float | None = None,
    people: int = PEOPLE,
    rows: int | None = None,
    k: int = COLUMNS_IN_A_TABLE,
    levels: Sequence[float] = LEVELS,
) -> dict[str, Any]:
    """Audit releases about people drawn from the network: a piece of a figure.

    ``source`` is "acs", "fire" or a table of one's own; columns other than ``unknown`` are known;
    ``epsilon`` is that of the Gaussian noise at delta 1e-5, infinite for exact counts; ``attacks``
    are keys of `ATTACKS`; a guess of a single column may be off by ``within``; ``people`` are in a
    release of all counts of ``k`` columns; ``levels`` are those of the bounds on the count. Of the
    table the first ``rows`` are read, or all. Without a distance the likeliest value is not played:
    it is the best guess.

    Returns
    -------
    dict
        ``guess``, and for each attack its mean share recovered with 95% limits (``share``, ``low``,
        ``high``); ``mean``: the bound on the mean share; ``published`` and ``ours``: for each
        of ``levels``, as text, the bound on the count, as a share of the people.
    """
    one = SOURCES[source] if isinstance(source, str) else source
    names = [
        name
        for name in attacks
        if (len(unknown) == 1 or name != "ceiling") and (within is not None or name != "likeliest")
    ]
    table = one.read(given)
    if rows is not None:
        table = replace(table, codes=table.codes[:rows])
    found = audit(
        table,
        unknown=list(unknown),
        targets=people,
        within={unknown[0]: within} if within else None,
        prior={"name": "bayesian-network", "parents": PARENTS},
        k=k,
        epsilon=epsilon,
        delta=None if epsilon == float("inf") else DELTA,
        attacks={name: ATTACKS[name] for name in names},
        bounds=list(levels),
        groups={"unusual": False, "singled_out": False},
        trials=trials,
        workers=1,
        rng=1,
    )
    [setting] = of_table(KIND.judged(found.record)).each
    every = dict(setting.result.attacks)
    if setting.result.ceiling is not None:
        every["ceiling"] = setting.result.ceiling
    limited = {"guess": setting.result.guess, **every}
    return {
        **{n: {"share": x.share, "low": x.low, "high": x.high} for n, x in limited.items()},
        "mean": min(bound.at_most for bound in setting.result.bounds if bound.is_share),
        "published": counts(setting, "swanberg-3.4", levels),
        "ours": counts(setting, "interpolation", levels),
    }


def counts(setting: JudgedSetting, theorem: str, levels: Sequence[float]) -> dict[str, float]:
    """Return a theorem's bounds on the count at each level, as shares; 1 without a bound.

    ``theorem`` is an id; of people played, who are drawn.
    """
    said = {
        f"{bound.confidence:g}": bound.at_most / bound.of
        for bound in setting.result.bounds
        if not bound.is_share and bound.id == theorem
    }
    return {f"{level:g}": said.get(f"{level:g}", 1.0) for level in levels}


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
        for level in answers[0][key]:
            values = [100 * one[key][level] for one in answers]
            drawn.append(Line(f"{label}, {100 * float(level):g}%", x, values, "dashed"))
    return tuple(drawn)


def never_above(answers: Mapping[str, Mapping[str, Any]]) -> bool:
    return all(
        one[name]["low"] <= one["mean"]
        for one in answers.values()
        for name in LABELS
        if name in one
    )


def kept_below(answers: Mapping[str, Mapping[str, Any]]) -> Held:
    return played("no attack is above what is proved of the mean share", never_above(answers))


EPSILON = 1.0
TRIALS = 16
TOP = f"{LEVELS[-1]:g}"

_SEX = "M-AI attack achieves ... 65% ... compared to the prior, which only achieves ... 56%"
ATTACK, PRIOR = (Quote(number, _SEX, "section 6.2") for number in ("65%", "56%"))
_EXCEEDS = Quote("", "either matches or exceeds the success of using the prior", "section 6.2")
BOUND = Quote("84%", "upper bound on the reconstruction success is ... 84%", "section 6.2")

PIECES = {
    f"{source}/{name}": partial(
        attacked, source=source, unknown=(name,), epsilon=EPSILON, trials=TRIALS
    )
    for source, names in COLUMNS.items()
    for name in names
}


def _below(answers: Mapping[str, Any], attack: str) -> list[str]:
    """List the columns in which an attack is shown to be below the prior."""
    return [name for name, one in answers.items() if one[attack]["high"] < one["guess"]["low"]]


def make(given: Given) -> Reproduced:
    """Draw both tables; compare the claims of section 6.2 with our numbers."""
    answers = given.answers
    sex = answers["acs/SEX"]
    low = {n for n in COLUMNS["acs"] if answers[f"acs/{n}"]["published"][TOP] < 0.8}
    ahead = all(one["posterior"]["high"] >= one["guess"]["share"] for one in answers.values())
    worse = _below(answers, "rap")
    panels = tuple(
        Panel(
            f"{SOURCES[source].title}, epsilon {EPSILON:g}",
            "unknown column",
            "of 100 people reconstructed",
            lines(range(len(names)), [answers[f"{source}/{n}"] for n in names], joined=False),
            names=names,
        )
        for source, names in COLUMNS.items()
    )
    return Reproduced(
        panels=panels,
        printed=(
            Printed("SEX, the prior alone", PRIOR, sex["guess"]["share"], OTHER),
            Printed(
                "SEX, the paper's attack (100 small steps)", ATTACK, sex["short"]["share"],
                "told all other secrets an attacker gets "
                f"{100 * sex['ceiling']['share']:.1f} on average under the noise that is stated, "
                "so 65 is no mean over releases, though single ones reach it; and other data",
            ),
            Printed("SEX, the bound at 95%", BOUND, sex["published"][TOP], OTHER),
        ),
        held=(
            played(
                "the published bound at 95% is at least 80 of 100 for all columns of ACS but "
                "AGEP and SCHL", low <= {"AGEP", "SCHL"},
                f"below 80 are {', '.join(sorted(low))}: {OTHER}",
                Quote("80", "can be reconstructed almost fully ... 80 / 100 ...", "section 6.2"),
            ),
            played(
                "the paper's attack matches or exceeds the prior in every column: with 100 steps "
                "of .01 it is nowhere shown to be below",
                not _below(answers, "short"), quote=_EXCEEDS,
            ),
            played(
                "the same with 1,000 steps of .1, by which it recovers all without noise",
                not worse,
                f"it is below the prior beyond limits in {len(worse)} of {len(answers)} columns: "
                "it fits the noise",
                _EXCEEDS,
            ),
            played("the posterior is nowhere shown to be below the prior", ahead),
            kept_below(answers),
        ),
        notes=(OTHER_DATA, BOUNDS, BELOW, f"Means of {TRIALS} releases of 100 people each."),
    )  # fmt: skip


FIGURE_4 = Item(
    "001", "figure", "4", "One unknown column at epsilon 1, every column", 200.0, make,
    pieces=PIECES, needs=(ACS.needed, FIRE.needed), small=SMALL,
)  # fmt: skip


EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, inf)
COLUMNS_5 = {"acs": "SCHL", "fire": "ALS Unit"}

PIECES_5 = {
    f"{source}/{epsilon:g}": partial(
        attacked, source=source, unknown=(name,), epsilon=epsilon, trials=TRIALS
    )
    for source, name in COLUMNS_5.items()
    for epsilon in EPSILONS
}


@yields
def make_5(given: Given) -> Told:
    """Draw both columns; without noise the paper's attack recovers all."""
    answers = given.answers
    rises, all_of = True, {}
    for source in COLUMNS_5:
        shares = [answers[f"{source}/{e:g}"]["posterior"] for e in EPSILONS]
        low, high = [s["low"] for s in shares], [s["high"] for s in shares]
        rises &= all(high[later] >= low[e] for e in range(len(low)) for later in range(e, len(low)))
        all_of[source] = answers[f"{source}/inf"]["rap"]["share"]
    missed = ", ".join(
        f"{100 * share:.1f} of 100 of {COLUMNS_5[source]}" for source, share in all_of.items()
    )
    names = [f"{e:g}" for e in EPSILONS]
    yield from (
        Panel(
            f"{SOURCES[source].title}, {name}",
            "epsilon",
            "of 100 people reconstructed",
            lines(range(len(names)), [answers[f"{source}/{n}"] for n in names]),
            names=names,
        )
        for source, name in COLUMNS_5.items()
    )
    yield played("the more epsilon, the more the posterior recovers, within limits", rises)
    yield played(
        "without noise the paper's attack recovers everybody",
        min(all_of.values()) >= 1.0 - 1e-9,
        f"{missed}: people who are alike in all known columns can change places without "
        "changing a count, so nothing tells them apart",
        Quote("", "completely reconstructs the target columns of all", "section 6.2"),
    )
    yield kept_below(answers)
    yield OTHER_DATA
    yield BOUNDS
    yield BELOW
    yield (
        f"Means of {TRIALS} releases of 100 people each; the paper's grid of epsilon is not "
        "printed, ours is .1 to 10 and no noise."
    )


FIGURE_5 = Item(
    "001", "figure", "5", "One unknown column over epsilon", 110.0, make_5,
    pieces=PIECES_5, needs=(ACS.needed, FIRE.needed), small=SMALL,
)  # fmt: skip


EPSILON_6 = 3.0
RELEASES = {3: 12, 4: 4, 13: 2}
"""Releases with up to so many unknown columns: with more of them each takes longer."""
SPLIT = (("prior", ("rap", "short")), ("posterior", ("posterior",)))
"""Attacks that are played in a separate piece: the people and releases are the same."""
MOST = {source: len(names) - KNOWN for source, names in COLUMNS.items()}


def first_columns(given: Given, *, source: str, columns: int, **asked: Any) -> dict[str, Any]:
    """Reconstruct the first columns in the visit order of the network: a piece.

    ``asked`` is what else `attacked` takes.
    """
    unknown = SOURCES[source].in_order(given)[:columns]
    return attacked(given, source=source, unknown=unknown, epsilon=EPSILON_6, **asked)


PIECES_6 = {
    f"{source}/{columns}/{name}": partial(
        first_columns,
        source=source,
        columns=columns,
        attacks=attacks,
        trials=next(trials for most, trials in RELEASES.items() if columns <= most),
    )
    for source, last in MOST.items()
    for columns in range(1, last + 1)
    for name, attacks in SPLIT
}


def joined(answers: Mapping[str, Any], source: str) -> dict[int, dict[str, Any]]:
    counts = sorted({int(key.split("/")[1]) for key in answers if key.startswith(f"{source}/")})
    return {
        count: {
            key: value
            for name, _ in SPLIT
            for key, value in answers[f"{source}/{count}/{name}"].items()
        }
        for count in counts
    }


def make_6(given: Given) -> Reproduced:
    """Draw both tables; compare the claims of section 6.3 with our numbers."""
    sources = {source: joined(given.answers, source) for source in MOST}
    every = {f"{s}/{d}": one for s, found in sources.items() for d, one in found.items()}
    ahead = [
        key
        for key, one in every.items()
        for name in ("rap", "short")
        if int(key.split("/")[1]) > 5 and one[name]["low"] > one["guess"]["high"]
    ]
    falls = all(
        found[min(found)]["guess"]["share"] >= one["guess"]["share"]
        for found in sources.values()
        for one in found.values()
    )
    fire = sources["fire"]
    first, third = (100 * fire[d]["published"][TOP] for d in (min(fire), min(3, max(fire))))
    return Reproduced(
        panels=tuple(
            Panel(
                f"{SOURCES[source].title}, epsilon {EPSILON_6:g}",
                "unknown columns",
                "of 100 people reconstructed, all columns right",
                lines(list(found), list(found.values())),
            )
            for source, found in sources.items()
        ),
        held=(
            played(
                "with more than five columns the paper's attack is not shown to beat the prior",
                not ahead, f"it does with {', '.join(ahead)}",
                Quote("5", "when reconstructing more than 5 columns", "section 6.3"),
            ),
            played("without the release several columns are never easier than one", falls),
            played(
                "the published bound at 95% for FIRE is roughly the same for three columns as "
                "for one (within 5 of 100)", abs(first - third) <= 5,
                f"{first:.0f} and {third:.0f}: {OTHER}",
                Quote("", "roughly the same when reconstructing 3 columns as 1", "section 6.3"),
            ),
            kept_below(every),
        ),
        notes=(
            OTHER_DATA,
            BOUNDS,
            BELOW,
            "RAP rounds every unknown column by itself: what ties their values is lost, so with "
            "many columns it is below the best joint value; the paper has both equal.",
            "The order is that of our network, a greedy one of two parents; the paper does not "
            "print its own. The columns that come last are known.",
            "Means of releases of 100 people each: "
            + ", ".join(f"{t} with up to {d} unknown columns" for d, t in RELEASES.items())
            + "; the last within some 3 of 100, and no attack's limits are narrow there.",
        ),
    )  # fmt: skip


FIGURE_6 = Item(
    "001", "figure", "6", "Several unknown columns at epsilon 3, up to 13 and 7", 900.0, make_6,
    pieces=PIECES_6, needs=(ACS.needed, FIRE.needed), small=SMALL,
)  # fmt: skip


TRIALS_7 = 10
COLUMNS_7 = {"acs": "AGEP", "fire": "Zipcode of Incident"}
DISTANCES = {"acs": (0, 1, 2, 3, 4, 5, 6, 7), "fire": (0, 1, 2, 3, 5, 7, 10, 13, 16, 20, 25)}

_AGEP = "we successfully reconstruct ... 81/100 ... which matches our upper bound of 82"
_BETTER = Quote("", "our attack consistently performs better than the prior", "section 6.4")
ATTACK_7, BOUND_7 = (Quote(number, _AGEP, "section 6.4") for number in ("81", "82"))

PIECES_7 = {
    f"{source}/{distance}": partial(
        attacked,
        source=source,
        unknown=(COLUMNS_7[source],),
        epsilon=EPSILON,
        trials=TRIALS_7,
        within=float(distance),
    )
    for source, distances in DISTANCES.items()
    for distance in distances
}


def make_7(given: Given) -> Reproduced:
    """Draw both columns over the distance."""
    answers = given.answers
    one = answers["acs/1"]
    rises = all(
        answers[f"{source}/{a}"]["guess"]["share"] <= answers[f"{source}/{b}"]["guess"]["share"]
        for source, distances in DISTANCES.items()
        for a, b in pairwise(distances)
    )

    def behind(attack: str, baseline: str) -> list[str]:
        return [k for k, found in answers.items() if found[attack]["high"] < found[baseline]["low"]]

    named = {name: behind(name, "likeliest") for name in ("short", "rap")}
    covering = {name: behind(name, "guess") for name in ("short", "rap")}
    return Reproduced(
        panels=tuple(
            Panel(
                f"{SOURCES[source].title}, {name}",
                "distance allowed, in values of the column",
                "of 100 people reconstructed",
                lines(distances, [answers[f"{source}/{d}"] for d in distances]),
            )
            for source, name in COLUMNS_7.items()
            for distances in [DISTANCES[source]]
        ),
        printed=(
            Printed(
                "AGEP within 1, the paper's attack (100 small steps)", ATTACK_7,
                100 * one["short"]["share"],
                f"told all other secrets an attacker gets {100 * one['ceiling']['share']:.1f} on "
                f"average, the best guess without the release {100 * one['guess']['share']:.1f}, "
                f"its likeliest value {100 * one['likeliest']['share']:.1f}: {OTHER}",
            ),
            Printed(
                "AGEP within 1, the bound at 5%", BOUND_7,
                100 * one["published"][f"{LEVELS[0]:g}"], OTHER,
            ),
        ),
        held=(
            played("the more is allowed, the more the prior gets", rises),
            played(
                "the paper's attack performs better than the prior at every distance: with 100 "
                "steps of .01 it is nowhere shown to be below the likeliest value",
                not named["short"], f"it is at {', '.join(named['short'])}", _BETTER,
            ),
            played(
                "the same with 1,000 steps of .1", not named["rap"],
                f"it is below the likeliest value beyond limits at {len(named['rap'])} of "
                f"{len(answers)} distances: it fits the noise",
                _BETTER,
            ),
            kept_below(answers),
        ),
        notes=(
            OTHER_DATA,
            "Distances are counted in values: decades of AGEP (eight, ten in the paper), codes "
            "of the zip code (28 here, 26 in the paper) in the order of our coding.",
            "Two guesses without the release: the likeliest value, which the paper's prior seems "
            "to be, and the value that covers most, which is better. RAP names the likeliest value "
            "of its fit, and is compared with the first. Below what covers most it is, beyond "
            f"limits, at {len(covering['short'])} (small steps) and {len(covering['rap'])} of "
            f"{len(answers)} distances.",
            BOUNDS,
            BELOW,
            f"Means of {TRIALS_7} releases of 100 people each.",
        ),
    )  # fmt: skip


FIGURE_7 = Item(
    "001", "figure", "7", "One unknown column within a distance, at epsilon 1", 190.0, make_7,
    pieces=PIECES_7, needs=(ACS.needed, FIRE.needed), small=SMALL,
)  # fmt: skip
