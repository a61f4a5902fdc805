"""Audit a data frame with plain arguments: a table study without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from pydantic import BaseModel

from narcissus._pandas import is_frame
from narcissus._random import RandomSource
from narcissus._validation import did_you_mean
from narcissus.audits.outcome import Audit
from narcissus.audits.play import run
from narcissus.errors import InputError
from narcissus.game.executor import Executor
from narcissus.observer import SILENT, Observer
from narcissus.study.kinds import study_kind
from narcissus.study.load import load_study
from narcissus.study.part_section import listed
from narcissus.tables import Bins, Table
from narcissus.tables.formats import as_frame
from narcissus.tables.read import MissingPolicy, names_of
from narcissus.tables.sources import TableSource
from narcissus.tables.spelling import ReadAs

Names = Sequence[str | int] | str | int
"""Names of columns: a list, or one alone."""
Levels = float | Sequence[float]
"""A level of privacy or noise, or several: a sweep."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "data": ("columns", "drop", "left_out", "bins", "missing", "read_as", "unit", "max_rows"),
    "threat": (
        "unknown",
        "known",
        "targets",
        "people",
        "within",
        "at_least",
        "share_of_columns",
        "prior_factor",
        "prior_distance",
        "bins_only",
        "order_hidden",
        "spelling_hidden",
    ),
    "mechanism": ("k", "noise", "epsilon", "delta", "mu", "scale"),
    "run": ("trials", "precision", "budget", "quick", "training", "confidence", "workers"),
}
"""The arguments that are keys of a section of the study; any other is a section by itself."""

PARTS = {
    "prior": ("record-prior", False),
    "mechanism": ("table-mechanism", False),
    "attacks": ("table-attack", True),
}
"""The arguments that name parts: of which room, and whether there are several by name."""


class Arguments(TypedDict, total=False):
    """What `audit` takes by name, as a study file says it; None counts as left out.

    unknown, known: The columns to reconstruct, or those that the attacker knows; exactly one of the
        two.
    targets: People whose tables are released together.
    people: Where they come from: the "prior", real "rows" of the table, or "all" of them.
    within: By ordered unknown column, how far off still counts as right.
    at_least: How many unknown columns must be right; all if left out.
    share_of_columns: Score a guess by the share of its unknown columns that are right, instead.
    prior_factor, prior_distance: How far the prior may be from the true one, for what is proved:
        a factor of every probability, or the largest difference of an event's.
    bins_only: Known columns of which no attacker knows more than the bin.
    order_hidden: No attacker knows the place of a person in the table.
    spelling_hidden: No attacker knows how the file writes equal values, such as 12 or 12.0.
    columns, drop: Columns to use, and to leave out.
    left_out: Columns to leave out without a declaration, by name with the reason: each is examined.
    bins: How to bin columns of numbers: `Bins`, or ``{"width": 10}`` and the like.
    missing: What to do about missing values: "refuse", "drop", "category".
    read_as: How to read columns, by name, as for `narcissus.read_table`.
    unit: A column that names each row's person or household, where some have several rows; one row
        of each is kept, drawn at random.
    max_rows: Most rows of the table that are read, and a 20th of the cells.
    prior: A name ("bayesian-network", "independent", "empirical"), a dictionary of its section, or
        an own prior: a `RecordPrior`, or a function from the table to one.
    mechanism: What is released, instead of the following: a name ("bootstrap"), a dictionary of its
        section, an own `narcissus.mechanisms.TableMechanism`, or a function from a data frame to
        the data frame that is released.
    k: Columns in each released table.
    noise: "gaussian" or "laplace".
    epsilon, mu, scale: The privacy level, or the scale of the noise; exactly one of the three. A
        list is a sweep.
    delta: Of Gaussian noise.
    release: A file with a release that was made, or is about to be, of all people of ``data``.
    attacks: Names, or a dictionary from names to their sections, or to own attacks as objects.
    bounds: Levels of confidence of what is proved about one release.
    threshold: What is accepted: ``{"advantage": 0.1, "reason": "..."}``.
    policy: A file with a threshold, instead.
    groups: Columns whose values make groups, or a dictionary of the section.
    trials, precision: How many releases to play, or how close the limits should be; ``"auto"``
        trials end when the verdict is decided.
    budget: Time after which they end undecided: seconds, or ``"10m"``.
    quick: A rough first answer, with little work.
    training: Simulated releases from which attacks learn that do.
    confidence: Level of all estimated limits.
    workers: Worker processes; the numbers do not depend on it.
    title: A name for the report.
    """

    unknown: Names | None
    known: Names | None
    targets: int | None
    people: Literal["prior", "rows", "all"] | None
    within: Mapping[str, float] | None
    at_least: int | None
    share_of_columns: bool | None
    prior_factor: float | None
    prior_distance: float | None
    bins_only: Names | None
    order_hidden: bool | None
    spelling_hidden: bool | None
    columns: Names | None
    drop: Names | None
    left_out: Mapping[str, str] | None
    bins: Mapping[str, Bins | Mapping[str, Any]] | None
    missing: MissingPolicy | None
    read_as: Mapping[str, ReadAs] | None
    unit: str | None
    max_rows: int | None
    prior: object
    mechanism: object
    k: int | None
    noise: Literal["gaussian", "laplace"] | None
    epsilon: Levels | None
    delta: float | None
    mu: Levels | None
    scale: Levels | None
    release: Path | str | Mapping[str, Any] | None
    attacks: Sequence[str] | Mapping[str, Any] | None
    bounds: Levels | Mapping[str, Any] | None
    threshold: Mapping[str, Any] | None
    policy: Path | str | None
    groups: Names | Mapping[str, Any] | None
    trials: int | Literal["auto"] | None
    precision: float | None
    budget: float | str | None
    quick: bool | None
    training: int | None
    confidence: float | None
    workers: int | None
    title: str | None


def audit(
    data: TableSource | Table,
    *,
    rng: RandomSource = None,
    allow_code: bool = False,
    observer: Observer = SILENT,
    folder: Path | str | None = None,
    restart: bool = False,
    internal: Path | str | None = None,
    hours: float | None = None,
    engine: str | Executor | None = None,
    **arguments: Unpack[Arguments],
) -> Audit:
    """Audit a planned release of something computed from a table of people.

    The arguments are those of a study file (`narcissus init --schema table`), and give the same
    numbers as a file that says the same, with the same seed. What is left out is as in a file that
    leaves it out. Relative paths start in the current folder.

    data: The people: whatever `narcissus.read_table` reads.
    rng: The seed; None draws fresh entropy.
    allow_code: Whether ``module:attribute`` in an argument may run code; objects need no
        permission.
    observer, folder, restart, internal, hours, engine: As in `run`.
    **arguments: Those of `narcissus.audits.Arguments`: whom the attacker is after (``unknown`` or
        ``known``, ``targets``, ``people``, ``within``, ``at_least``, ``share_of_columns``,
        ``prior_factor``, ``prior_distance``), how the table is read (``columns``, ``drop``,
        ``left_out``, ``bins``, ``missing``, ``read_as``, ``max_rows``), what is released
        (``mechanism``; or of noisy marginals ``epsilon``, ``mu`` or ``scale``, with ``k``,
        ``noise``, ``delta``; ``release``), what is tried and asked (``prior``,
        ``attacks``, ``bounds``, ``groups``, ``threshold`` or ``policy``), how much (``trials`` or
        ``precision``, ``budget``, ``quick``, ``training``, ``confidence``, ``workers``), and a
        ``title``.

    InputError: An argument is wrong, or the table cannot be used; the message says what to do.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"job": ["cook", "clerk"] * 20, "ill": ["no", "no", "no", "yes"] * 10})
    >>> found = audit(
    ...     frame, unknown=["ill"], k=2, epsilon=1.0, targets=10, trials=2, workers=1, rng=1
    ... )
    >>> found.status
    'no threshold'
    """
    return run(
        load_study(_study(data, arguments), allow_code=allow_code, observer=observer),
        rng=rng,
        observer=observer,
        folder=folder,
        restart=restart,
        internal=internal,
        hours=hours,
        engine=engine,
    )


def _signature() -> Signature:
    """Return what a notebook shows of `audit` and completes: every argument by its name."""
    data, *parameters = list(signature(audit).parameters.values())[:-1]
    named = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=getattr(kind, "__forward_arg__", kind),
        )
        for name, kind in Arguments.__annotations__.items()
    ]
    return Signature([data, *named, *parameters], return_annotation="Audit")


audit.__signature__ = _signature()  # pyright: ignore[reportFunctionMemberAccess]


def _study(data: object, arguments: Arguments) -> dict[str, Any]:
    settings: dict[str, Any] = {name: None for name in Arguments.__annotations__} | {**arguments}
    for name in sorted(settings.keys() - Arguments.__annotations__.keys()):
        raise InputError(_no_argument(name))
    study: dict[str, Any] = {
        section: {key: settings.pop(key) for key in keys} for section, keys in SECTIONS.items()
    }
    for section in ("data", "threat"):
        study[section] = with_names(study[section])
    study["data"] |= _source(as_frame(data))
    if (mechanism := settings.pop("mechanism")) is not None:
        twice = [key for key, value in study["mechanism"].items() if value is not None]
        if twice:
            raise InputError(f"give `mechanism` or `{twice[0]}`, not both: put it into `mechanism`")
        study["mechanism"] = _one_mechanism(mechanism)
    if isinstance(settings["release"], Path | str):
        settings["release"] = {"path": str(settings["release"])}
    if isinstance(settings["prior"], str):
        settings["prior"] = {"name": settings["prior"]}
    if not isinstance(settings["attacks"], Mapping | None):
        settings["attacks"] = {name: {} for name in names_of("attacks", settings["attacks"])}
    if not isinstance(settings["bounds"], Mapping | None):
        settings["bounds"] = {"confidence": settings["bounds"]}
    if not isinstance(settings["groups"], Mapping | None):
        settings["groups"] = {"columns": names_of("groups", settings["groups"])}
    return study | settings


def _one_mechanism(mechanism: object) -> object:
    """Return the section [mechanism]; a list is no part of it."""
    if isinstance(mechanism, list | tuple):
        raise InputError(
            "`mechanism` is one mechanism, got a list: give a list of levels as an option of one, "
            'such as mechanism={"name": "rounding", "base": [5, 10]}, or audit each by itself'
        )
    return {"name": mechanism} if isinstance(mechanism, str) else mechanism


def with_names(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section with the names of columns as texts: lists of them, one alone, and keys."""
    lists = ("columns", "drop", "unknown", "known")
    return {
        key: names_of(key, value)
        if key in lists and value is not None
        else {str(name): way for name, way in value.items()}
        if key in ("bins", "read_as", "within", "left_out") and isinstance(value, Mapping)
        else value
        for key, value in section.items()
    }


def _source(data: object) -> dict[str, object]:
    """Return the key of the section [data] that says where the table is."""
    if is_frame(data) or isinstance(data, Table):
        return {"frame": data}
    if isinstance(data, Path) or (isinstance(data, str) and not data.startswith("statsmodels:")):
        return {"path": str(data)}
    if isinstance(data, str):
        return {"table": data}
    raise InputError(
        "`data` must be a data frame (of pandas, polars, pyarrow, DuckDB, or a dictionary of "
        "columns), a Table, a path or 'statsmodels:NAME', "
        f"got {type(data).__name__}"
    )


def _no_argument(name: str) -> str:
    """State that there is no such argument, and where its like belongs."""
    for section, field in study_kind("table").model.model_fields.items():
        if section in Arguments.__annotations__ and name in _keys(field.annotation):
            return f"`{name}` belongs to `{section}`: write {section}={{'{name}': ...}}"
    for argument, (room, is_listed) in PARTS.items():
        for part, _, options in listed(room):
            if name in (option.name for option in options):
                section = f"{{'name': '{part}', '{name}': ...}}"
                if is_listed:
                    section = f"{{'{part}': {{'{name}': ...}}}}"
                return f"`{name}` is an option of `{part}`: write {argument}={section}"
    if name == "seed":
        return "the seed is `rng`: write rng=..."
    known = signature(audit).parameters
    return f"narcissus.audit has no argument `{name}`{did_you_mean(name, known)}"


def _keys(section: Any) -> set[str]:
    """Return keys of a section of the study, by its type; of a dictionary of them, each one's."""
    if isinstance(section, type) and issubclass(section, BaseModel):
        return set(section.model_fields)
    return set[str]().union(*map(_keys, getattr(section, "__args__", ())))
