"""Make the table of the shipped study `audit-a-table`: 2,000 people who do not exist.

Every chance below is made up, no survey stands behind it: the columns depend on each other about
as in a survey, so that there is something to guess and something to recover.

    python examples/data/invented_people.py
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src" / "narcissus" / "study" / "examples" / "invented_people.csv"
PEOPLE = 2000

REGIONS = {"coast": 0.3, "hills": 0.15, "lakes": 0.1, "plain": 0.25, "town": 0.2}
HOMES = {
    "young": {"alone": 0.3, "couple": 0.2, "family": 0.2, "shared": 0.3},
    "middle": {"alone": 0.2, "couple": 0.2, "family": 0.55, "shared": 0.05},
    "old": {"alone": 0.4, "couple": 0.5, "family": 0.08, "shared": 0.02},
}
SCHOOLS = {
    "town": {"basic": 0.15, "middle": 0.4, "high": 0.45},
    "": {"basic": 0.3, "middle": 0.5, "high": 0.2},
}
WORK = {
    ("young", False): {"full": 0.4, "part": 0.2, "none": 0.12, "student": 0.28},
    ("young", True): {"full": 0.55, "part": 0.15, "none": 0.05, "student": 0.25},
    ("middle", False): {"full": 0.62, "part": 0.2, "none": 0.18},
    ("middle", True): {"full": 0.8, "part": 0.14, "none": 0.06},
    ("old", False): {"full": 0.08, "part": 0.07, "none": 0.85},
    ("old", True): {"full": 0.15, "part": 0.1, "none": 0.75},
}
INCOMES = {
    ("full", True): {"low": 0.05, "middle": 0.4, "high": 0.55},
    ("full", False): {"low": 0.15, "middle": 0.7, "high": 0.15},
    ("", True): {"low": 0.45, "middle": 0.4, "high": 0.15},
    ("", False): {"low": 0.75, "middle": 0.22, "high": 0.03},
}


def drawn(chances: Mapping[str, float], rng: np.random.Generator) -> str:
    """Draw one value, by a double: those of a seed are the same in every version of NumPy."""
    place = int(np.searchsorted(np.cumsum(list(chances.values())), rng.random(), side="right"))
    return list(chances)[min(place, len(chances) - 1)]


def person(rng: np.random.Generator) -> list[str | int]:
    """Invent one person."""
    age = 18 + int(72 * rng.random() ** 1.3)
    stage = "young" if age < 30 else "middle" if age < 66 else "old"
    region = drawn(REGIONS, rng)
    school = drawn(SCHOOLS.get(region, SCHOOLS[""]), rng)
    is_high = school == "high"
    work = drawn(WORK[stage, is_high], rng)
    income = drawn(INCOMES["full" if work == "full" else "", is_high], rng)
    return [age, region, drawn(HOMES[stage], rng), school, work, income]


def table() -> str:
    """Give the table as CSV."""
    rng = np.random.default_rng(1)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["age", "region", "household", "education", "work", "income"])
    rows.writerows(person(rng) for _ in range(PEOPLE))
    return text.getvalue()


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
