"""Audit a data frame with plain arguments: a table study without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Never

import pandas as pd
from pydantic import BaseModel

from narcissus._random import RandomSource
from narcissus._validation import did_you_mean
from narcissus.audits.outcome import Audit
from narcissus.audits.play import run
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.study.kinds import study_kind
from narcissus.study.load import load_study
from narcissus.tables import Bins, Table
from narcissus.tables.read import MissingPolicy

Levels = float | Sequence[float]
"""A level of privacy or noise, or several: a sweep."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "data": ("columns", "drop", "bins", "missing"),
    "threat": ("unknown", "known", "targets", "people", "within", "at_least"),
    "mechanism": ("k", "noise", "epsilon", "delta", "mu", "scale"),
    "run": ("trials", "precision", "confidence", "workers"),
}
"""The arguments that are keys of a section of the study; any other is a section by itself."""


def audit(
    data: pd.DataFrame | Table | Path | str,
    *,
    unknown: Sequence[str] | None = None,
    known: Sequence[str] | None = None,
    targets: int | None = None,
    people: Literal["prior", "rows"] | None = None,
    within: Mapping[str, float] | None = None,
    at_least: int | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    bins: Mapping[str, Bins | Mapping[str, Any]] | None = None,
    missing: MissingPolicy | None = None,
    prior: object = None,
    mechanism: object = None,
    k: int | None = None,
    noise: Literal["gaussian", "laplace"] | None = None,
    epsilon: Levels | None = None,
    delta: float | None = None,
    mu: Levels | None = None,
    scale: Levels | None = None,
    attacks: Sequence[str] | Mapping[str, Any] | None = None,
    bounds: Levels | Mapping[str, Any] | None = None,
    threshold: Mapping[str, Any] | None = None,
    policy: Path | str | None = None,
    groups: Sequence[str] | Mapping[str, Any] | None = None,
    trials: int | None = None,
    precision: float | None = None,
    confidence: float | None = None,
    workers: int | None = None,
    title: str | None = None,
    rng: RandomSource = None,
    allow_code: bool = False,
    observer: Observer = SILENT,
    folder: Path | str | None = None,
    restart: bool = False,
    internal: Path | str | None = None,
    hours: float | None = None,
    **misspelt: Never,
) -> Audit:
    """Audit a planned release of noisy marginals of a table of people.

    The arguments are those of a study file (`narcissus schema study table` describes each), and
    give the same numbers as a file that says the same, with the same seed. What is left out (None)
    is as in a file that leaves it out. Relative paths start in the current folder.

    Parameters
    ----------
    data
        The people: a data frame, a `Table`, a file (CSV or Parquet), or a packaged table such as
        ``"statsmodels:fair"``.
    unknown, known
        The columns to reconstruct, or those that the attacker knows; exactly one of the two.
    targets
        People whose tables are released together.
    people
        Where they come from: the "prior", or real "rows" of the table.
    within
        By ordered unknown column, how far off still counts as right.
    at_least
        How many unknown columns must be right; all if left out.
    columns, drop
        Columns to use, and to leave out.
    bins
        How to bin columns of numbers: `Bins`, or ``{"width": 10}`` and the like.
    missing
        What to do about missing values: "refuse", "drop", "category".
    prior
        A name ("bayesian-network", "independent", "empirical"), a dictionary of its section, or
        an own prior: a `RecordPrior`, or a function from the table to one.
    mechanism
        A dictionary of its section, instead of the following arguments.
    k
        Columns in each released table.
    noise
        "gaussian" or "laplace".
    epsilon, mu, scale
        The privacy level, or the scale of the noise; exactly one of the three. A list is a sweep.
    delta
        Of Gaussian noise.
    attacks
        Names, or a dictionary from names to their sections, or to own attacks as objects.
    bounds
        Levels of confidence of what is proved about one release.
    threshold
        What is accepted: ``{"advantage": 0.1, "reason": "..."}``.
    policy
        A file with a threshold, instead.
    groups
        Columns whose values make groups, or a dictionary of the section.
    trials, precision
        How many releases to play, or how close the limits should be.
    confidence
        Level of all sampled limits.
    workers
        Worker processes; the numbers do not depend on it.
    title
        A name for the report.
    rng
        The seed; None draws fresh entropy.
    allow_code
        Whether ``module:attribute`` in an argument may run code; objects need no permission.
    observer, folder, restart, internal, hours
        As in `run`.

    Raises
    ------
    InputError
        An argument is wrong, or the table cannot be used; the message says what to do.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"job": ["cook", "clerk"] * 20, "ill": ["no", "no", "no", "yes"] * 10})
    >>> found = audit(
    ...     frame, unknown=["ill"], k=2, epsilon=1.0, targets=10, trials=2, workers=1, rng=1
    ... )
    >>> found.status
    'no threshold'
    """
    given = dict(locals())
    if misspelt:
        raise InputError(_no_argument(next(iter(misspelt)), given))
    study: dict[str, Any] = {
        section: {key: given[key] for key in keys} for section, keys in SECTIONS.items()
    }
    study["data"] |= _source(data)
    if mechanism is not None:
        twice = [key for key in SECTIONS["mechanism"] if given[key] is not None]
        if twice:
            raise InputError(f"give `mechanism` or `{twice[0]}`, not both: put it into `mechanism`")
        study["mechanism"] = {"kind": mechanism} if isinstance(mechanism, str) else mechanism
    study |= {
        "title": title,
        "prior": {"kind": prior} if isinstance(prior, str) else prior,
        "attacks": attacks
        if attacks is None or isinstance(attacks, Mapping)
        else {name: {} for name in _listed("attacks", attacks)},
        "bounds": bounds
        if bounds is None or isinstance(bounds, Mapping)
        else {"confidence": bounds},
        "threshold": threshold,
        "policy": policy,
        "groups": groups
        if groups is None or isinstance(groups, Mapping)
        else {"columns": _listed("groups", groups)},
    }
    return run(
        load_study(study, allow_code=allow_code),
        rng=rng,
        observer=observer,
        folder=folder,
        restart=restart,
        internal=internal,
        hours=hours,
    )


def _source(data: object) -> dict[str, object]:
    """Give the key of the section [data] that says where the table is."""
    if isinstance(data, pd.DataFrame | Table):
        return {"frame": data}
    if isinstance(data, Path) or (isinstance(data, str) and not data.startswith("statsmodels:")):
        return {"path": str(data)}
    if isinstance(data, str):
        return {"table": data}
    raise InputError(
        "`data` must be a pandas data frame, a Table, a path or 'statsmodels:NAME', "
        f"got {type(data).__name__}"
    )


def _listed(argument: str, names: object) -> list[str]:
    """Give names as a list; a lone string is a mistake, not a list of letters."""
    if isinstance(names, str):
        raise InputError(f'`{argument}` must be a list: write ["{names}"]')
    if not isinstance(names, Sequence):
        raise InputError(f"`{argument}` must be a list or a dictionary, got {names!r}")
    return [str(name) for name in names]  # pyright: ignore[reportUnknownVariableType]  (any list)


def _no_argument(name: str, given: Mapping[str, object]) -> str:
    """Say that there is no such argument, and where its like belongs."""
    for section, field in study_kind("table").model.model_fields.items():
        if section in given and name in _keys(field.annotation):
            return f"`{name}` belongs to `{section}`: write {section}={{'{name}': ...}}"
    known = [argument for argument in given if argument != "misspelt"]
    return f"narcissus.audit has no argument `{name}`{did_you_mean(name, known)}"


def _keys(section: Any) -> set[str]:
    """Give the keys of a section of the study, by its type; of a dictionary of them, each one's."""
    if isinstance(section, type) and issubclass(section, BaseModel):
        return set(section.model_fields)
    return set[str]().union(*map(_keys, getattr(section, "__args__", ())))
