"""The measures of a file: how its reading, known columns, secrets and weights come together.

How far those with equal known values share a secret (l-diversity, t-closeness), and the chance that
a person is found (individual risk, uniques of the population).

A missing value stands for any value of its column, as in sdcMicro (Templ, Kowarik and Meindl 2015);
one departure: a row in which no known value is left hides nobody else. People are units: rows of
one person or household count once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import Field

from narcissus._pandas import pd
from narcissus._validation import repeated, some_of
from narcissus._visible import heading
from narcissus.errors import InputError, TooLargeError, refuse
from narcissus.rows import Count, Fact, Positive, Share
from narcissus.synthetic.assessment import CLOSE, distances
from narcissus.synthetic.files import keys_of
from narcissus.tables import Table
from narcissus.tables.coding import MISSING_LABEL
from narcissus.tables.counted import Reading
from narcissus.tables.names import IDENTIFIES, PUBLIC, SECRET, numbers_people, says
from narcissus.tables.parts import column_names, open_source
from narcissus.tables.read import checked_bins, held, names_of
from narcissus.tables.sources import TableSource
from narcissus.tables.table import unknown_column

Codes = NDArray[np.integer]
Numbers = NDArray[np.float64]
MOST_PAIRS = 30_000_000
"""Most pairs of known values that may be equal, because one of them has gaps."""


@dataclass(frozen=True, eq=False)
class KeyClasses:
    """The distinct known values ("keys") of a file, and who may have each.

    of_row, units: Key, and person or household, of each row, both from 0, shape (rows,).
    matches: Which keys may be equal, a sparse matrix of 0 and 1, shape (keys, keys).
    people: Number of units that may have each key (f_k), shape (keys,).
    population: Their estimated number in the population (F_k), likewise: the sum of the weights,
        a unit once with the mean of its rows; ``people`` without weights.
    """

    of_row: Codes
    units: Codes
    matches: scipy.sparse.csr_array
    people: Numbers
    population: Numbers

    def count(self, keys: NDArray[np.bool_]) -> int:
        """Count the people who have a row with one of the ``keys``, shape (keys,)."""
        return len(np.unique(self.units[keys[self.of_row]]))


def key_classes(
    codes: Codes,
    missing: NDArray[np.bool_] | None = None,
    *,
    units: Codes | None = None,
    weights: Numbers | None = None,
) -> KeyClasses:
    """Group the rows of a file by what an attacker knows of them.

    codes: Known values, shape (rows, columns).
    missing: Where a value is missing and may be any, same shape; None: nowhere.
    units: Number of the person or household of each row, shape (rows,); None: each its own.
    weights: Number of people of the population that a row stands for, shape (rows,), above 0.

    TooLargeError: Missing values make more than `MOST_PAIRS` pairs of keys equal.

    >>> found = key_classes(np.array([[0, 1], [0, 1], [2, 1]]))
    >>> found.people.tolist(), found.count(found.people < 2)
    ([2.0, 1.0], 1)
    """
    known = codes.astype(np.int64)
    if missing is not None:
        known[missing] = -1
    rows, of_row = len(known), keys_of(known + 1)
    matches = _matches(known[np.unique(of_row, return_index=True)[1]])
    owner = np.arange(rows) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    each, heavy = np.ones(rows), np.ones(rows) if weights is None else weights
    shape = matches.shape[0], int(owner.max()) + 1
    if shape[1] == rows:
        people, total = (matches @ np.bincount(of_row, v, shape[0]) for v in (each, heavy))
        return KeyClasses(of_row, owner, matches, people, total)
    there, sums = (
        matches @ scipy.sparse.csr_array((v, (of_row, owner)), shape) for v in (each, heavy)
    )
    there.sort_indices()
    sums.sort_indices()
    at = np.repeat(np.arange(shape[0]), np.diff(there.indptr))
    people, total = (np.bincount(at, v).astype(np.float64) for v in (None, sums.data / there.data))
    return KeyClasses(of_row, owner, matches, people, total)


def _matches(keys: Codes) -> scipy.sparse.csr_array:
    """Find the keys that may be equal, by the columns that each pair of patterns has in common."""
    size, kind_of = len(keys), keys_of(keys >= 0)
    kinds = (keys >= 0)[np.unique(kind_of, return_index=True)[1]]
    members = [np.flatnonzero(kind_of == kind) for kind in range(len(kinds))]
    ours, theirs, pair_count = list[Codes](), list[Codes](), len(kinds) * size // 10
    for kind, other in np.ndindex(len(kinds), len(kinds)):
        if pair_count > MOST_PAIRS:
            raise TooLargeError(
                "too many known values may be equal, since values are missing: take fewer known "
                "columns, or missing values as a separate value (--missing value)"
            )
        here, there = members[kind], members[other]
        if kind != other and not kinds[other].any():
            continue  # a row of which nothing is known hides nobody
        common = np.flatnonzero(kinds[kind] & kinds[other])
        a, b = np.split(keys_of(keys[np.concatenate([here, there])][:, common]), [len(here)])
        order = np.argsort(b, kind="stable")
        first, last = (np.searchsorted(b[order], a, side=side) for side in ("left", "right"))
        many = last - first
        pair_count += int(many.sum())
        starts = np.repeat(first - np.cumsum(many) + many, many)
        ours.append(np.repeat(here, many))
        theirs.append(there[order[starts + np.arange(len(starts))]])
    at = np.concatenate(ours), np.concatenate(theirs)
    return scipy.sparse.csr_array((np.ones(len(at[0])), at), (size, size))


GAPS = (MISSING_LABEL, "*")
"""Labels of values that are missing or suppressed."""
MOST_ROWS = 20_000_000
"""Most rows of a file that are measured."""
TRIED = 2_000  # people whose nearest row is looked for, at most
_DISTANCES = 400_000_000  # of people and rows


class FileMeasures(Fact):
    """What disclosure control measures of a file, for an attacker who knows some columns."""

    rows: Positive
    people: Positive = Field(description="Persons or households, whose rows count once.")
    known: tuple[str, ...] = Field(description="Columns that the attacker knows.")
    k: Positive = Field(description="Fewest people with equal known values.")
    unique: Count = Field(description="People whose known values nobody else has.")
    below_3: Count = Field(description="... that fewer than 3 have.")
    below_5: Count = Field(description="... that fewer than 5 have.")
    risk: Share = Field(description="Largest chance of a person to be identified.")
    expected: float = Field(ge=0, description="Expected number of people identified.")
    population: float | None = Field(description="Its people; null: the file is everybody.")
    population_unique: float | None = Field(
        description="Of the unique people, about how many are so in it; null: not assessed."
    )
    secrets: tuple[SecretMeasures, ...]

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each measure in words, and its value as text."""

        def of(people: float | None) -> str:
            few = "not assessed" if people is None else f"{people:,.{3 * (0 < people < 1)}f}"
            if people is None:
                return few
            share = 100 * people / self.people  # an exact 0 alone is written as 0
            return f"{few} ({share:{'.2g' if 0 < share < 0.1 else '.1f'}}%)"

        yield "people (of rows)", f"{self.people:,} ({self.rows:,})"
        yield "k-anonymity: k", f"{self.k:,}"
        yield "people who are unique", of(self.unique)
        yield "people in groups below 3", of(self.below_3)
        yield "people in groups below 5", of(self.below_5)
        yield "population", "this file" if self.population is None else f"{self.population:,.0f}"
        yield "largest individual risk", f"{self.risk:.3g}"
        yield "expected identifications (global risk)", of(self.expected)
        yield "unique in the population, about", of(self.population_unique)
        for measures in self.secrets:
            kind = "ordered" if measures.is_ordered else "equal"
            near = "not assessed" if measures.nearest is None else f"{measures.nearest:.1%}"
            yield f"{measures.secret}: distinct l", f"{measures.distinct:,}"
            yield f"{measures.secret}: entropy l", f"{measures.entropy:.3g}"
            yield f"{measures.secret}: recursive (2, l)", f"{measures.recursive:,}"
            yield f"{measures.secret}: t-closeness, {kind} distance", f"{measures.closeness:.3g}"
            yield f"{measures.secret}: people whose secret is told", of(measures.told)
            yield f"{measures.secret}: right by the nearest row", near
            yield f"{measures.secret}: right by the commonest value", f"{measures.commonest:.1%}"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, as for JSON."""
        return self.model_dump(mode="json")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each measure: what (``measure``), and its ``value`` as text."""
        return pd.DataFrame(list(self.lines()), columns=["measure", "value"])

    def __str__(self) -> str:
        lines = [f"{label:<45} {value}" for label, value in self.lines()]
        return "\n".join([f"known: {', '.join(self.known)}", *lines])


def measure_disclosure(
    source: TableSource,
    *,
    known: Sequence[str] | None = None,
    secrets: Sequence[str] | None = None,
    weights: str | None = None,
    population: float | None = None,
    unit: str | None = None,
    missing: str = "any",
    **reading: Any,
) -> FileMeasures:
    """Measure a file alone: k-anonymity, l-diversity, t-closeness, uniqueness and risk.

    source: Whatever `narcissus.read_table` reads; ``bins`` and ``read_as`` are as there.
    known: Columns that an attacker knows of a person (quasi-identifiers); None proposes those
        whose names say so.
    secrets: Columns that should stay secret; None proposes those whose names say so.
    weights: Column of sampling weights: how many people of the population a row stands for.
    population: Instead: the number of people (units) in the population, at least those here.
    unit: Column that names each row's person or household, whose rows count once.
    missing: "any": a missing value or "*" stands for any value, as in sdcMicro; "value": it is a
        separate value.

    InputError: The file or a column cannot be used; all problems are named together.

    >>> people = {"age": [30, 30, 40], "sex": ["f", "f", "m"], "ill": [1, 0, 1]}
    >>> found = measure_disclosure(people, known=["age", "sex"], secrets=["ill"])
    >>> found.k, found.unique, found.secrets[0].distinct
    (1, 1, 1)
    """
    names = list(source.names) if isinstance(source, Table) else column_names(source)
    other_columns = [name for name in (weights, unit) if name is not None]
    chosen, hidden = _columns([*filter(None, names)], known, secrets, other_columns)
    if missing not in ("any", "value"):
        raise InputError(f"`missing` must be 'any' or 'value', got {missing!r}")
    if weights is not None and population is not None:
        raise InputError("give `weights` or `population`, not both")
    if isinstance(source, Table):
        table = source
    else:
        drop = [""] if "" in names else []
        opened = open_source(source, [*chosen, *hidden, *other_columns], drop, MOST_ROWS)
        bins, ways = checked_bins(reading.get("bins")), reading.get("read_as") or {}
        how = Reading(bins, "category", 2**31, [], ways, fewest=1)
        table = held(opened.name, opened.columns, how)
    return measure_table(
        table,
        chosen,
        hidden,
        weights=None if weights is None else _weights(table, weights),
        population=population,
        units=None if unit is None else _units(table, unit),
        wildcards=missing == "any",
    )


def measure_table(
    table: Table,
    known: Sequence[str],
    secrets: Sequence[str] = (),
    *,
    weights: Numbers | None = None,
    population: float | None = None,
    units: Codes | None = None,
    wildcards: bool = True,
) -> FileMeasures:
    """Measure a table that was read; options as of `measure_disclosure`.

    weights, units: Of each row, shape (rows,).
    wildcards: Whether missing values stand for any value.
    """
    columns, hidden = ([table.index(name) for name in names] for names in (known, secrets))
    codes = table.codes[:, columns]
    gaps = [np.isin(table.labels[j], GAPS)[table.codes[:, j]] for j in columns if wildcards]
    missing = np.stack(gaps, axis=1) if gaps else None
    classes = key_classes(codes, missing, units=units, weights=weights)
    people = int(classes.units.max()) + 1
    if weights is not None:
        mean = np.bincount(classes.units, weights) / np.bincount(classes.units)
        population = float(mean.sum())
    if population is not None and not people <= population < np.inf:
        whose = "`population` is" if weights is None else "the weights sum to"
        raise InputError(
            f"{whose} {population:,.6g}, and the file has {people:,} people: a weight is how many "
            "people of the population somebody stands for, not scaled to the file"
        )
    rarity = classes.population
    if weights is None and population is not None:
        rarity = classes.people * (population / people)
    risk = risk_of_people(classes, individual_risk(classes.people, rarity))
    unique, alike = classes.count(classes.people < 2), None
    if population is not None:  # of people alone with their values, gaps being values of their own
        sizes = np.bincount(np.unique(np.stack([classes.of_row, classes.units]), axis=1)[0])
        alike = population_uniques(sizes, max(population, float(sizes.sum())))
        alike = None if alike is None else unique * alike / max(1, int((sizes == 1).sum()))
    return FileMeasures(
        rows=table.rows,
        people=people,
        known=tuple(known),
        k=int(classes.people.min()),
        unique=unique,
        below_3=classes.count(classes.people < 3),
        below_5=classes.count(classes.people < 5),
        risk=float(risk.max()),
        expected=float(risk.sum()),
        population=population,
        population_unique=alike,
        secrets=tuple(
            measure_secret(
                classes,
                table.codes[:, j],
                name=table.names[j],
                ordered=table.ordered[j],
                nearest=near,
            )
            for j, near in zip(hidden, _nearest(table, columns, hidden, classes), strict=True)
        ),
    )


def _nearest(
    table: Table, known: Sequence[int], secrets: Sequence[int], classes: KeyClasses
) -> list[float | None]:
    """Return for each secret how often the nearest row of somebody else has it.

    Of at most `TRIED` people, spread over the rows in order of their values. Of several nearest
    rows one is drawn: what is returned is the mean over that draw.
    """
    rows = table.rows
    if not classes.units.any():
        return [None] * len(secrets)
    scaled = replace(table, values=tuple(map(_scaled, table.values)))
    order = np.lexsort((*table.codes.T[::-1], classes.of_row))
    tried = max(1, min(rows, TRIED, _DISTANCES // rows))
    people = order[np.linspace(0, rows - 1, tried).astype(np.int64)]
    right = np.zeros((len(secrets), tried))
    for part, apart in distances(scaled, people, np.arange(rows), known):
        apart[classes.units[people[part]][:, None] == classes.units] = np.inf
        near = apart <= apart.min(axis=1, keepdims=True) + CLOSE
        for at, j in enumerate(secrets):
            same = table.codes[people[part], j][:, None] == table.codes[:, j]
            right[at, part] = (near & same).sum(axis=1) / near.sum(axis=1)
    return [float(share) for share in right.mean(axis=1)]


def _scaled(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    if values is None or len(values) < 2:
        return values
    return (values - values[0]) / (values[-1] - values[0])


def _columns(
    names: Sequence[str],
    known: Sequence[str] | None,
    secrets: Sequence[str] | None,
    more: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Return the known and the secret columns, proposed where not given; name all problems."""
    chosen, hidden = names_of("known", known or ()), names_of("secrets", secrets or ())
    mentions = [*chosen, *hidden, *more]
    wrong = [unknown_column(name, names) for name in mentions if name not in names]
    wrong += [f"`{name}` is named twice" for name in repeated(mentions)]
    if secrets is None:
        hidden = [name for name in names if name not in mentions and says(name, SECRET)]
    if known is None:
        chosen = proposed_known([name for name in names if name not in (*mentions, *hidden)])
    if not chosen:
        wrong.append(
            "name the columns that an attacker knows (`known`, --known): no name says so; the "
            f"columns are {some_of(map(heading, map(str, names)))}"
        )
    refuse([InputError(text) for text in wrong])
    return chosen, hidden


def proposed_known(names: Sequence[str]) -> list[str]:
    """Return the columns that neighbours, colleagues or registers know, by their names."""
    others = [n for n in names if says(n, SECRET) or says(n, IDENTIFIES) or numbers_people(n)]
    return [name for name in names if says(name, PUBLIC) and name not in others]


def _weights(table: Table, name: str) -> Numbers:
    values, codes = table.values[table.index(name)], table.codes[:, table.index(name)]
    if values is None or not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"`{name}`: weights must be numbers above 0 in every row")
    return values[codes]


def _units(table: Table, name: str) -> Codes:
    labels, codes = table.labels[table.index(name)], table.codes[:, table.index(name)]
    if MISSING_LABEL in labels:
        row = int((codes == labels.index(MISSING_LABEL)).argmax()) + 1
        raise InputError(f"row {row:,} has no `{name}`; give each row one")
    return codes


class SecretMeasures(Fact):
    """What known values tell of one secret, of the worst group with equal known values."""

    secret: str = Field(description="Its column.")
    distinct: Positive = Field(description="Fewest different secrets: distinct l-diversity.")
    entropy: float = Field(ge=0, description="Entropy l-diversity, exp of the least entropy.")
    recursive: Positive = Field(description="Recursive (2, l)-diversity.")
    closeness: float = Field(ge=0, description="t-closeness: distance from everybody's secrets.")
    is_ordered: bool = Field(description="Whether by the ordered distance, else the equal one.")
    told: Count = Field(description="People whose known values leave one secret only.")
    nearest: Share | None = Field(description="Right by the nearest row of somebody else.")
    commonest: Share = Field(description="Right by the commonest secret.")


def measure_secret(
    classes: KeyClasses,
    secret: Codes,
    *,
    name: str = "secret",
    ordered: bool = False,
    nearest: float | None = None,
) -> SecretMeasures:
    """Measure a secret within the classes of equal known values.

    secret: Codes of the secret, in its order, shape (rows,); missing values are a value.

    Source: Machanavajjhala et al. 2007 (l-diversity); Li et al. 2007, section 4 (its distances).

    >>> from narcissus.disclosure import key_classes
    >>> classes = key_classes(np.array([[0], [0], [1], [1]]))
    >>> measure_secret(classes, np.array([0, 1, 1, 1])).distinct
    1
    """
    values = np.unique(secret, return_inverse=True)[1].ravel()
    # rows of one person with the same known values and secret are one
    key, _, value = np.unique(np.stack([classes.of_row, classes.units, values]), axis=1)
    shape = len(classes.people), int(values.max()) + 1
    counts = classes.matches @ scipy.sparse.csr_array((np.ones(len(key)), (key, value)), shape)
    counts.sort_indices()
    whole = np.bincount(value) / len(value)
    at = np.repeat(np.arange(shape[0]), np.diff(counts.indptr))
    share = counts.data / np.bincount(at, counts.data)[at]
    distance = _ordered if ordered else _equal
    return SecretMeasures(
        secret=name,
        distinct=int(np.bincount(at).min()),
        entropy=float(np.exp(-np.bincount(at, share * np.log(share)).max())),
        recursive=int(_recursive(at, counts.data, counts.indptr[:-1]).min()),
        closeness=float(distance(at, share, counts.indices.astype(np.int64), whole).max()),
        is_ordered=ordered,
        told=classes.count(np.bincount(at) == 1),
        nearest=nearest,
        commonest=float(whole.max()),
    )


def _recursive(at: Codes, counts: Numbers, first: Codes) -> Codes:
    """Return the largest l of each class with r_1 < 2 (r_l + ... + r_m), at least 1."""
    falling = counts[np.lexsort((-counts, at))]
    before = np.cumsum(falling) - falling
    tail = np.add.reduceat(falling, first)[at] - (before - before[first][at])
    is_kept = falling[first][at] < 2 * tail
    is_kept[first] = True
    return np.add.reduceat(is_kept.astype(np.int64), first)


def _equal(at: Codes, share: Numbers, values: Codes, whole: Numbers) -> Numbers:
    return np.bincount(at, np.maximum(share - whole[values], 0.0)).astype(np.float64)


def _ordered(at: Codes, share: Numbers, values: Codes, whole: Numbers) -> Numbers:
    """Return the mean difference of cumulated shares, over all values but one.

    A class's cumulated share is constant between its values, and everybody's rises: so sums of
    their differences come from sums of the latter, split where they cross.
    """
    first = np.flatnonzero(np.diff(at, prepend=-1))
    reached = np.cumsum(share) - np.arange(len(first))[at]  # shares of a class sum to 1
    everybody = np.minimum(np.cumsum(whole), 1.0)
    sums = np.concatenate([[0.0], np.cumsum(everybody)])
    end = np.append(values[1:], len(whole))
    end[np.append(first[1:], len(at)) - 1] = len(whole)
    middle = np.clip(np.searchsorted(everybody, reached), values, end)
    apart = reached * (2 * middle - values - end) + sums[values] + sums[end] - 2 * sums[middle]
    differences = (np.bincount(at, apart) + sums[values[first]]) / max(1, len(whole) - 1)
    return np.maximum(differences, 0.0)


LEAST_SHARE = 0.1
"""Least share of the population in a file from which its uniques are estimated."""
FEWEST_UNIQUES = 50
"""Fewest unique people of a file from which that is estimated."""
_SMALL = 5  # people of a class up to which classes are fitted: larger ones tell nothing of uniques


def individual_risk(people: Numbers, population: Numbers) -> Numbers:
    """Return the chance of each person to be identified from the known values, in [0, 1].

    The mean of 1 / F_k, where the number F_k of people in the population with these values is
    negative binomial given the number f_k in the file (Franconi and Polettini 2004; for f_k above
    2 the approximation by sdcMicro, Templ, Kowarik and Meindl 2015). Equal to 1 / f_k where the
    file is everybody.

    people, population: f_k and the estimated F_k of each person, both above 0.

    >>> individual_risk(np.array([2.0, 1.0]), np.array([110.0, 17.0])).round(8).tolist()
    [0.01714426, 0.17707583]
    """
    f, is_part = np.asarray(people, np.float64), people < population
    p = np.where(is_part, f / population, 0.5)
    odds, log = p / (1 - p), np.log(1 / p)
    risk = np.where(f == 1, odds * log, np.where(f == 2, odds - odds**2 * log, p / (f - 1 + p)))
    return np.where(is_part, np.clip(risk, 0.0, 1.0), 1 / f)


def risk_of_people(classes: KeyClasses, risk: Numbers) -> Numbers:
    """Return the risk of each unit that one of its rows is identified, shape (units,).

    risk: Of each key, shape (keys,). Different rows of a household count as independent.
    """
    unit, key = np.unique(np.stack([classes.units, classes.of_row]), axis=1)
    with np.errstate(divide="ignore"):
        return -np.expm1(np.bincount(unit, np.log1p(-risk[key])))


def population_uniques(sizes: Codes, population: float) -> float | None:
    """Estimate how many people of a random sample are unique in the population.

    The chances of known values are taken as from a gamma distribution that may be improper at 0,
    fitted to the sample's classes of up to 5 people (the extended negative binomial, Engen 1974,
    zero-truncated; it holds Pitman's, Fisher's and the Poisson-gamma models). On simulated and
    real tables it is mostly within a factor of 2 of the truth; it is approximate.

    sizes: Number of people of each class in the sample, shape (classes,).
    population: Number of people in the population, at least those of the sample.

    Returns
    -------
    The estimate; None where the sample is less than `LEAST_SHARE` of the population, or has fewer
    than `FEWEST_UNIQUES` unique people, or no others.

    >>> round(population_uniques(np.array([1] * 100 + [2] * 40), 200), 1)
    94.3
    """
    counts = np.bincount(sizes[sizes <= _SMALL], minlength=_SMALL + 1)[1:]
    share = float(sizes.sum()) / population
    if share >= 1:
        return float(counts[0])
    if share < LEAST_SHARE or not FEWEST_UNIQUES <= counts[0] < len(sizes):
        return None
    power = np.geomspace(2.0**-10, 2.0**10, 401)[:, None, None]  # above -1, by 1
    left = scipy.special.expit(np.linspace(-9, 9, 361))[:, None]
    s = np.arange(1, _SMALL + 1)
    terms = scipy.special.gammaln(s + power - 1) - scipy.special.gammaln(s + 1)
    terms = terms + (s - 1) * np.log(left)
    fits = ((terms - scipy.special.logsumexp(terms, axis=-1, keepdims=True)) * counts).sum(axis=-1)
    best = np.unravel_index(int(fits.argmax()), fits.shape)
    scale = 1 / float(left[best[1], 0])
    return float(counts[0] * (scale / (scale - 1 + 1 / share)) ** float(power[best[0], 0, 0]))
