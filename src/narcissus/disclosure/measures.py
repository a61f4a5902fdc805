"""The measures of a file: how its reading, known columns, secrets and weights come together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._pandas import pd
from narcissus.disclosure.classes import Codes, KeyClasses, Numbers, key_classes
from narcissus.disclosure.diversity import SecretMeasures, measure_secret
from narcissus.disclosure.uniques import (
    MOST_SPECIAL,
    individual_risk,
    population_uniques,
    risk_of_people,
    special_uniques,
)
from narcissus.errors import InputError
from narcissus.results import Grade, NotAssessed, Result
from narcissus.synthetic.assess import CLOSE, distances
from narcissus.tables import Table
from narcissus.tables.coding import MISSING_LABEL
from narcissus.tables.counted import Reading
from narcissus.tables.names import IDENTIFIES, PUBLIC, SECRET, numbers_people, says
from narcissus.tables.parts import column_names, open_source
from narcissus.tables.read import checked_bins, held, names_of
from narcissus.tables.sources import TableSource
from narcissus.tables.spelling import ReadAs, number_in
from narcissus.tables.table import unknown_column

GAPS = (MISSING_LABEL, "*")
"""Labels of values that are missing or suppressed."""
MOST_ROWS = 20_000_000
"""Most rows of a file that are measured."""
TRIED = 2_000  # people whose nearest row is looked for, at most
_DISTANCES = 400_000_000  # of people and rows
_SEARCHED = 50_000_000  # rows and subsets of columns that are searched for special uniques


@dataclass(frozen=True)
class FileMeasures(Result):
    """What disclosure control measures of a file, for what an attacker knows.

    rows, people: Number of rows, and of the people or units whose rows they are.
    known: Columns that the attacker knows.
    k: Fewest people with equal known values: the file is k-anonymous.
    unique, below_3, below_5: Number of people with known values that nobody else has, that fewer
        than 3, and fewer than 5 people have.
    special, score: Number of people whom a part of the known values makes unique, and the highest
        SUDA score; None where there are too many columns, or values that may be any.
    risk: Largest chance of a person to be identified.
    expected: Expected number of people who are identified; over ``people`` the global risk.
    population: Number of people in the population: given, or the sum of the weights; None where
        neither is known, and the file is taken for everybody.
    population_unique: Estimated number of the file's people who are unique in the population.
    secrets: Measures of each secret column.
    """

    rows: int
    people: int
    known: tuple[str, ...]
    k: int
    unique: int
    below_3: int
    below_5: int
    special: int | None
    score: int | None
    risk: float
    expected: float
    population: float | None
    population_unique: float | NotAssessed
    secrets: tuple[SecretMeasures, ...] = ()

    @property
    def grade(self) -> Grade:
        """Always 'approximate': counts are exact, risks are by a model."""
        return "approximate"

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each measure in words, and its value."""
        yield "people (of rows)", f"{self.people:,} ({self.rows:,})"
        yield "k-anonymity: k", f"{self.k:,}"
        for what, many in (
            ("people who are unique", self.unique),
            ("people in groups below 3", self.below_3),
            ("people in groups below 5", self.below_5),
        ):
            yield what, _of(many, self.people)
        if self.special is not None:
            yield "special uniques (highest SUDA score)", f"{self.special:,} ({self.score:,})"
        yield "largest individual risk", f"{self.risk:.3g}"
        yield "expected identifications (global risk)", _of(self.expected, self.people)
        if self.population is not None:
            yield "population", f"{self.population:,.0f}"
        found = self.population_unique
        words = f"not assessed: {found.reason}" if isinstance(found, NotAssessed) else None
        yield "unique in the population, about", words or _of(float(found), self.people)
        for one in self.secrets:
            kind = "ordered" if one.is_ordered else "equal"
            yield f"{one.secret}: distinct l", f"{one.distinct:,}"
            yield f"{one.secret}: entropy l", f"{one.entropy:.3g}"
            yield f"{one.secret}: recursive (2, l)", f"{one.recursive:,}"
            yield f"{one.secret}: t-closeness, {kind} distance", f"{one.closeness:.3g}"
            yield f"{one.secret}: people whose secret is told", _of(one.told, self.people)
            near = "not assessed" if one.nearest is None else f"{one.nearest:.1%}"
            yield f"{one.secret}: right by the nearest row", near
            yield f"{one.secret}: right by the commonest value", f"{one.commonest:.1%}"

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each measure: what (``measure``), and its ``value`` as text."""
        return pd.DataFrame(list(self.lines()), columns=["measure", "value"])

    def __str__(self) -> str:
        lines = list(self.lines())
        width = max(len(what) for what, _ in lines)
        return "\n".join(
            [f"known: {', '.join(self.known)}", *(f"{w:<{width}}  {value}" for w, value in lines)]
        )


def _of(many: float, people: int) -> str:
    said = f"{many:,}" if isinstance(many, int) else f"{many:,.3g}" if many < 1 else f"{many:,.0f}"
    return f"{said} ({many / people:.1%})"


def measure_disclosure(
    source: TableSource,
    *,
    known: Sequence[str] | None = None,
    secrets: Sequence[str] | None = None,
    weights: str | None = None,
    population: float | None = None,
    unit: str | None = None,
    missing: str = "any",
    bins: Any = None,
    read_as: dict[str, ReadAs] | None = None,
) -> FileMeasures:
    """Measure a file alone: k-anonymity, l-diversity, t-closeness, uniqueness and risk.

    source: Whatever `narcissus.read_table` reads.
    known: Columns that an attacker knows of a person (quasi-identifiers); None proposes those
        whose names say so.
    secrets: Columns that should stay secret; None proposes those whose names say so.
    weights: Column of sampling weights: how many people of the population a row stands for.
    population: Instead: the number of people in the population, at least those of the file.
    unit: Column that names each row's person or household, where some have several rows; those
        count as one person.
    missing: "any": a missing value or "*" stands for any value, as in sdcMicro; "value": it is a
        value of its own.
    bins, read_as: As for `narcissus.read_table`.

    InputError: The file or a column cannot be used; all problems are named at once.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 30, 40], "sex": ["f", "f", "m"], "ill": [1, 0, 1]})
    >>> found = measure_disclosure(people, known=["age", "sex"], secrets=["ill"])
    >>> found.k, found.unique, found.secrets[0].distinct
    (1, 1, 1)
    """
    names = column_names(source) if not isinstance(source, Table) else list(source.names)
    chosen, hidden = _columns(list(filter(None, names)), known, secrets, weights, unit)
    if missing not in ("any", "value"):
        raise InputError(f"`missing` must be 'any' or 'value', got {missing!r}")
    if weights is not None and population is not None:
        raise InputError("give `weights` or `population`, not both")
    others = [name for name in (weights, unit) if name is not None]
    wanted = [*chosen, *hidden, *others]
    if isinstance(source, Table):
        table = source.select(wanted)
    else:
        opened = open_source(source, wanted, [""] if "" in names else [], MOST_ROWS)
        reading = Reading(checked_bins(bins), "category", 2**31, [], read_as or {}, fewest=1)
        table = held(opened.name, opened.columns, reading, opened.remarks)
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

    >>> from narcissus import read_table
    >>> table = read_table({"age": [30, 30, 40], "ill": [1, 0, 1]})
    >>> measure_table(table, ["age"], units=np.array([0, 0, 1])).people
    2
    """
    codes = table.records
    columns = [table.index(name) for name in known]
    gaps = np.stack([np.isin(table.labels[j], GAPS)[codes[:, j]] for j in columns], axis=1)
    classes = key_classes(
        codes[:, columns], gaps if wildcards else None,
        units=units, times=table.counts if units is None else None, weights=weights,
    )  # fmt: skip
    people = classes.total
    if weights is not None:
        mean = np.bincount(classes.units, weights) / np.bincount(classes.units)
        population = float((mean * classes.times).sum() if classes.is_by_row else mean.sum())
    if population is not None and not people <= population < np.inf:
        whose = "`population` is" if weights is None else "the weights sum to"
        raise InputError(
            f"{whose} {population:,.6g}, and the file has {people:,} people: a weight is how many "
            "people of the population somebody stands for, not scaled to the file"
        )
    rarity = classes.population
    if weights is None and population is not None:
        rarity = classes.people * max(1.0, population / people)
    risk, many = risk_of_people(classes, individual_risk(classes.people, rarity))
    special = score = None
    whole = not (wildcards and gaps.any())  # a part of the known values with gaps is no such part
    if whole and len(columns) <= MOST_SPECIAL and len(codes) << len(columns) <= _SEARCHED:
        scores, fewest = special_uniques(codes[:, columns], units=units, times=table.counts)
        special = classes.count((fewest > 0) & (fewest < len(columns)))
        score = int(scores.max())
    hidden = [table.index(name) for name in secrets]
    nearest = _nearest(table, columns, hidden, classes)
    return FileMeasures(
        rows=round(float(classes.times.sum())),
        people=people,
        known=tuple(known),
        k=int(classes.people.min()),
        unique=classes.count(classes.below(2)),
        below_3=classes.count(classes.below(3)),
        below_5=classes.count(classes.below(5)),
        special=special,
        score=score,
        risk=float(risk.max()),
        expected=float((risk * many).sum()),
        population=population,
        population_unique=_unique_of(classes, population),
        secrets=tuple(
            measure_secret(
                classes, codes[:, j], name=table.names[j], ordered=table.ordered[j], nearest=near
            )
            for j, near in zip(hidden, nearest, strict=True)
        ),
    )  # fmt: skip


def _unique_of(classes: KeyClasses, population: float | None) -> float | NotAssessed:
    """Estimate how many of the unique people of the file are unique in the population."""
    if population is None:
        return NotAssessed(
            "people who are unique in the population",
            "the population is not known; if the file is everybody, they are those who are unique",
            "name a column of weights, or the number of people in the population",
        )
    each, first = np.unique(np.stack([classes.of_row, classes.units]), axis=1, return_index=True)
    sizes = np.bincount(each[0], classes.times[first]).astype(np.int64)
    found = population_uniques(sizes, max(population, float(sizes.sum())))
    if isinstance(found, NotAssessed):
        return found
    return found / max(1, int((sizes == 1).sum())) * classes.count(classes.below(2))


def _nearest(
    table: Table, known: Sequence[int], secrets: Sequence[int], classes: KeyClasses
) -> list[float | None]:
    """Return for each secret how often the nearest row of somebody else has it.

    Of at most `TRIED` people, spread over the rows in order of their values. Of several nearest
    rows one is drawn: what is returned is the mean over that draw.
    """
    rows = len(table.records)
    if table.counts is not None or classes.total < 2:
        return [None] * len(secrets)
    scaled = replace(table, values=tuple(map(_scaled, table.values)))
    tried = max(1, min(rows, TRIED, _DISTANCES // rows))
    order = np.lexsort((*table.codes.T[::-1], classes.of_row))
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
    weights: str | None,
    unit: str | None,
) -> tuple[list[str], list[str]]:
    """Return the known and the secret columns, proposed where not given; name all problems."""
    given = {"known": names_of("known", known or ()), "secrets": names_of("secrets", secrets or ())}
    given |= {"weights": [weights] if weights else [], "unit": [unit] if unit else []}
    wrong = [
        f"`{option}`: {unknown_column(name, names)}"
        for option, columns in given.items()
        for name in columns
        if name not in names
    ]
    uses = [(name, option) for option, columns in given.items() for name in columns]
    wrong += [
        f"`{name}` is named twice: in {', '.join(f'`{o}`' for n, o in uses if n == name)}"
        for name in dict.fromkeys(name for name, _ in uses)
        if [n for n, _ in uses].count(name) > 1
    ]
    taken = {name for name, _ in uses}
    chosen, hidden = given["known"], given["secrets"]
    if secrets is None:
        hidden = [name for name in names if name not in taken and says(name, SECRET)]
    if known is None:
        chosen = proposed_known([name for name in names if name not in {*taken, *hidden}])
    if not chosen:
        wrong.append(
            "name the columns that an attacker knows (`known`, --known): no name says so; the "
            f"columns are {', '.join(names)}"
        )
    if wrong:
        raise InputError("\n".join(wrong))
    return chosen, hidden


def proposed_known(names: Sequence[str]) -> list[str]:
    """Return the columns that neighbours, colleagues or registers know, by their names."""
    return [
        name
        for name in names
        if says(name, PUBLIC)
        and not (says(name, SECRET) or says(name, IDENTIFIES) or numbers_people(name))
    ]


def _weights(table: Table, name: str) -> Numbers:
    column = table.index(name)
    values, codes = table.values[column], table.records[:, column]
    if values is None or not (np.isfinite(values).all() and (values > 0).all()):
        bad = next((x for x in table.labels[column] if not _is_weight(x)), table.labels[column][0])
        raise InputError(f"`{name}`: weights must be numbers above 0 in every row, got {bad!r}")
    return values[codes]


def _is_weight(label: str) -> bool:
    number = number_in(label)
    return number is not None and 0 < number < np.inf


def _units(table: Table, name: str) -> Codes:
    column = table.index(name)
    codes = table.records[:, column]
    if MISSING_LABEL in table.labels[column]:
        row = int((codes == table.labels[column].index(MISSING_LABEL)).argmax()) + 1
        raise InputError(f"row {row:,} has no `{name}`; give each row one")
    return codes
