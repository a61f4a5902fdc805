"""The measures of a file: how its reading, known columns, secrets and weights come together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narcissus._pandas import pd
from narcissus._validation import some_of
from narcissus.disclosure.classes import Codes, KeyClasses, Numbers, key_classes
from narcissus.disclosure.diversity import SecretMeasures, measure_secret
from narcissus.disclosure.uniques import (
    individual_risk,
    population_uniques,
    risk_of_people,
)
from narcissus.errors import InputError, refuse
from narcissus.rows import Count, Fact, Positive, Share
from narcissus.synthetic.assess import CLOSE, distances
from narcissus.tables import Table
from narcissus.tables.coding import MISSING_LABEL
from narcissus.tables.counted import Reading
from narcissus.tables.names import IDENTIFIES, PUBLIC, SECRET, numbers_people, says
from narcissus.tables.parts import column_names, open_source
from narcissus.tables.read import checked_bins, held, names_of
from narcissus.tables.sources import TableSource
from narcissus.tables.table import unknown_column

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
        for one in self.secrets:
            kind = "ordered" if one.is_ordered else "equal"
            near = "not assessed" if one.nearest is None else f"{one.nearest:.1%}"
            yield f"{one.secret}: distinct l", f"{one.distinct:,}"
            yield f"{one.secret}: entropy l", f"{one.entropy:.3g}"
            yield f"{one.secret}: recursive (2, l)", f"{one.recursive:,}"
            yield f"{one.secret}: t-closeness, {kind} distance", f"{one.closeness:.3g}"
            yield f"{one.secret}: people whose secret is told", of(one.told)
            yield f"{one.secret}: right by the nearest row", near
            yield f"{one.secret}: right by the commonest value", f"{one.commonest:.1%}"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, as for JSON."""
        return self.model_dump(mode="json")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each measure: what (``measure``), and its ``value`` as text."""
        return pd.DataFrame(list(self.lines()), columns=["measure", "value"])

    def __str__(self) -> str:
        lines = [f"{what:<45} {value}" for what, value in self.lines()]
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
        value of its own.

    InputError: The file or a column cannot be used; all problems are named at once.

    >>> people = {"age": [30, 30, 40], "sex": ["f", "f", "m"], "ill": [1, 0, 1]}
    >>> found = measure_disclosure(people, known=["age", "sex"], secrets=["ill"])
    >>> found.k, found.unique, found.secrets[0].distinct
    (1, 1, 1)
    """
    names = list(source.names) if isinstance(source, Table) else column_names(source)
    more = [name for name in (weights, unit) if name is not None]
    chosen, hidden = _columns([*filter(None, names)], known, secrets, more)
    if missing not in ("any", "value"):
        raise InputError(f"`missing` must be 'any' or 'value', got {missing!r}")
    if weights is not None and population is not None:
        raise InputError("give `weights` or `population`, not both")
    if isinstance(source, Table):
        table = source
    else:
        drop = [""] if "" in names else []
        opened = open_source(source, [*chosen, *hidden, *more], drop, MOST_ROWS)
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
        rows=table.rows, people=people, known=tuple(known), k=int(classes.people.min()),
        unique=unique, below_3=classes.count(classes.people < 3),
        below_5=classes.count(classes.people < 5),
        risk=float(risk.max()), expected=float(risk.sum()), population=population,
        population_unique=alike,
        secrets=tuple(
            measure_secret(classes, table.codes[:, j], name=table.names[j],
                           ordered=table.ordered[j], nearest=near)
            for j, near in zip(hidden, _nearest(table, columns, hidden, classes), strict=True)
        ),
    )  # fmt: skip


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
    return [float(one) for one in right.mean(axis=1)]


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
    given = [*chosen, *hidden, *more]
    wrong = [unknown_column(name, names) for name in given if name not in names]
    wrong += [f"`{n}` is named twice" for n in dict.fromkeys(given) if given.count(n) > 1]
    if secrets is None:
        hidden = [name for name in names if name not in given and says(name, SECRET)]
    if known is None:
        chosen = proposed_known([name for name in names if name not in (*given, *hidden)])
    if not chosen:
        wrong.append(
            "name the columns that an attacker knows (`known`, --known): no name says so; the "
            f"columns are {some_of(names)}"
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
