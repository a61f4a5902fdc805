"""Audit a given synthetic file, without its generator, with plain arguments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from narcissus._random import RandomSource
from narcissus.audits.of_table import Names, with_names
from narcissus.audits.outcome import Audit
from narcissus.audits.play import run
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.study.load import load_study
from narcissus.tables import Bins, Table
from narcissus.tables.read import MissingPolicy, names_of
from narcissus.tables.sources import TableSource
from narcissus.tables.spelling import ReadAs

People: TypeAlias = "TableSource | Table"
"""Whatever `narcissus.read_table` reads."""


def audit_synthetic(
    real: People,
    synthetic: People,
    *,
    unknown: Names,
    control: People | None = None,
    known: Names | None = None,
    linked: tuple[Names, Names] | None = None,
    people: int | None = None,
    columns: Names | None = None,
    drop: Names | None = None,
    irrelevant: Names | None = None,
    unit: str | None = None,
    bins: Mapping[str, Bins | Mapping[str, Any]] | None = None,
    missing: MissingPolicy | None = None,
    read_as: Mapping[str, ReadAs] | None = None,
    groups: Names | None = None,
    at_most: float | None = None,
    threshold: Mapping[str, Any] | None = None,
    policy: Path | str | None = None,
    confidence: float | None = None,
    title: str | None = None,
    rng: RandomSource = None,
    observer: Observer = SILENT,
    hours: float | None = None,
) -> Audit:
    """Audit a given synthetic file: are people in it hit more often than people who are not?

    Copies of people, which are counted; inference, singling out and linkability (Article 29
    Working Party 2014, Opinion 05), each scored on people that the file was made from and on people
    of the control. The verdict is "exceeded" or "not shown", never "met"; without a control, copies
    alone decide, next to coincidence.

    real, synthetic: The people that the file was made from; the file.
    unknown: Columns to guess, one by one and together; all others are known.
    control: People of the same population, set aside at random, who are not in the data.
    known: Columns that an attacker plausibly knows, for the measures of disclosure control
        (`narcissus.disclosure`); proposed by their names if left out.
    linked, people: Two sets of columns to link (None tries random divisions of all columns); most
        people of each file that are tried.
    columns, drop, bins, missing, read_as: How all files are read, as for `narcissus.audit`; columns
        that not all files have are left out.
    irrelevant: Columns that say nothing about a person, as you declare: only names and numbers of
        people are sought in them. All others are examined for copies, those that are left out as
        well.
    unit: Column of ``real`` and ``control`` that names each row's person or household, where some
        have several rows; one row of each is tried.
    groups, at_most: Columns whose values make groups; the excess that is accepted, in [0, 1), 0 if
        left out.
    threshold, policy: Instead: ``{"inference": 0.05, "worst_group": 0.1, "reason": "..."}`` and the
        like; or a file with one.
    confidence, title, rng, observer, hours: Level of all claims together; a name for the report;
        the others as in `run`.

    InputError: The files or an argument cannot be used; the message says what to do.

    >>> import numpy as np, pandas as pd
    >>> draw = np.random.default_rng(1).integers
    >>> real, control, other = (pd.DataFrame(draw(0, 9, (300, 3))) for _ in range(3))
    >>> audit_synthetic(real, real, control=control, unknown=["2"], rng=1).status
    'exceeded'
    >>> audit_synthetic(real, other, control=control, unknown=["2"], rng=1).status
    'not shown'
    """
    data = {"real": real, "synthetic": synthetic, "control": control, "columns": columns}
    data |= {"drop": drop, "bins": bins, "missing": missing, "read_as": read_as, "unit": unit}
    data["irrelevant"] = irrelevant and names_of("irrelevant", irrelevant)
    study = {
        "kind": "synthetic",
        "title": title,
        "data": with_names(data),
        "threat": {
            "unknown": names_of("unknown", unknown),
            "known": None if known is None else names_of("known", known),
            "linked": linked and [names_of("linked", side) for side in linked],
            "people": people,
        },
        "threshold": _accepted(at_most, threshold),
        "policy": policy,
        "groups": {"columns": None if groups is None else names_of("groups", groups)},
        "run": {"confidence": confidence},
    }
    return run(load_study(study), rng=rng, observer=observer, hours=hours)


def _accepted(at_most: float | None, threshold: Mapping[str, Any] | None) -> object:
    """Return the threshold, from either way of saying it."""
    if at_most is None:
        return threshold
    if threshold is not None:
        raise InputError("give `at_most` or `threshold`, not both: put it into `threshold`")
    return {"at_most": at_most}
