"""Small studies of all kinds and all ways to end, beside the numbers that they had before.

``frames/NAME.toml`` is a study, ``frames/NAME.csv`` its frame; ``frames/statuses.csv`` holds the
status and grade of each. All is read through the public door. ``UPDATE_GOLDEN=1`` writes the files
anew.
"""

import csv
import io
import math
import os
from pathlib import Path
from typing import get_args

import pytest

import narcissus
from narcissus.extraction.sandbox import IsolationError
from narcissus.results import Status
from narcissus.study.kinds import KINDS

FOLDER = Path(__file__).parent / "frames"
STATUSES = FOLDER / "statuses.csv"
# Of the studies of the papers' package only where it is installed.
NAMES = sorted(
    path.stem
    for path in FOLDER.glob("*.toml")
    if "copyright" in KINDS or not path.stem.startswith("copyright-")
)
BY_DAY = {
    "channel-twice",
    "game-asks",
    "game-contradicted",
    "game-family",
    "images-mixture",
    "membership-void",
    "published-certain",
    "secrets-sweep",
    "synthetic-no-control",
    "table-few-trials",
}
# How far a number may be off: a count is the same, what is proved but for the sums of another
# processor, and what was played to nine digits.
CLOSE = {"counted": 0.0, "proved": 1e-12, "proved if": 1e-12}
OTHERWISE = 1e-9
BY_A_SOLVER, OF_A_SOLVER = "by linear programs", 1e-5
"""Any feasible dual solution proves a bound: which one a solver ends at is the processor's."""
NUMBERS = ("value", "low", "high", "baseline", "confidence", "trials")


def value_of(text):
    """Read a cell of a CSV file: a number that is exactly the one that was written, or a text."""
    try:
        return float(text or "nan")
    except ValueError:
        return text


def read(text):
    """Read rows from CSV, in an order by what they are about: that of the file is no number."""
    rows = [
        {column: value_of(cell) for column, cell in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
    return sorted(rows, key=about)


def about(row):
    cells = [row[column] for column in sorted(row) if column not in NUMBERS]
    return [f"{cell:.9g}" if isinstance(cell, float) else cell for cell in cells]


def is_same(old, new, close):
    if isinstance(old, str) or isinstance(new, str):
        return old == new
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) and math.isnan(new)
    return math.isclose(old, new, rel_tol=close)


def differences(kept, found):
    """Return the places at which two frames differ, in words; of the same numbers, none."""
    shapes = [
        (len(rows), sorted({column for row in rows for column in row})) for rows in (kept, found)
    ]
    if shapes[0] != shapes[1]:
        return [f"{shapes[0]}, now {shapes[1]}"]
    return [
        f"{column} of {old['quantity']} {old['name']}: {old[column]}, now {new[column]}"
        for old, new in zip(kept, found, strict=True)
        for column in old
        if not is_same(old[column], new[column], closeness(old, column))
    ]


def closeness(row, column):
    """Return how far a number of a row may be off, as a share of it."""
    if BY_A_SOLVER in str(row["name"]):
        return OF_A_SOLVER
    return CLOSE.get(row["grade"], OTHERWISE) if column in NUMBERS else OTHERWISE


def play(name, folder):
    """Play a study, and read what it left."""
    study = narcissus.load_study(FOLDER / f"{name}.toml", allow_code=True)
    try:
        narcissus.run(study, rng=1, workers=1).save(folder)
    except IsolationError as error:
        pytest.skip(f"this machine lacks it: {error}")
    return narcissus.load_audit(folder)


def statuses():
    """Return how each study ended: its status and grade."""
    with STATUSES.open(encoding="utf-8", newline="") as file:
        return {row["name"]: (row["status"], row["grade"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in BY_DAY else pytest.mark.nightly) for n in NAMES],
)
def test_every_number_is_the_one_that_was_kept(name, tmp_path):
    audit = play(name, tmp_path / "out")
    text = audit.to_frame().to_csv(index=False)
    ending = (audit.status, audit.record.grade)
    path = FOLDER / f"{name}.csv"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
        endings = {**statuses(), name: ending}
        lines = [",".join((n, *endings[n])) for n in sorted(endings)]
        STATUSES.write_text("\n".join(["name,status,grade", *lines, ""]), encoding="utf-8")
    assert differences(read(path.read_text(encoding="utf-8")), read(text)) == []
    assert statuses()[name] == ending


def test_the_studies_are_of_every_kind_and_end_in_every_way():
    kept = statuses()
    if "copyright" not in KINDS:
        kept = {name: end for name, end in kept.items() if not name.startswith("copyright-")}
    assert sorted(kept) == NAMES
    assert len(NAMES) >= 40
    assert {status for status, _ in kept.values()} == set(get_args(Status))
    studies = (narcissus.load_study(FOLDER / f"{n}.toml", allow_code=True) for n in NAMES)
    assert {study.kind for study in studies} == set(KINDS)
    assert set(NAMES) >= BY_DAY


def test_a_number_that_moves_is_named():
    kept = read((FOLDER / "game-asks.csv").read_text(encoding="utf-8"))
    for grade, step, moves in [("proved", 1e-12, 1), ("sampled", 1e-12, 0), ("sampled", 1e-6, 1)]:
        row = next(n for n, one in enumerate(kept) if one["grade"] == grade and one["value"] > 0)
        moved = [dict(one) for one in kept]
        moved[row]["value"] *= 1 + step
        assert len(differences(kept, moved)) == moves
    assert differences(kept, kept[1:])
    assert differences(kept, [{**row, "more": 1.0} for row in kept])
    assert differences(kept, [{**row, "value": math.nan} for row in kept])
