"""A made-up record of a table audit: five settings, five attacks, three unknown columns, groups.

The numbers are invented but consistent (prior <= posterior <= ceiling <= proved); what is tested
with them is the drawing, never the statistics.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from narcissus.study.kinds import KINDS, OF_PAPERS
from narcissus.study.reading import read_record
from narcissus.study.record import SCHEMA, Record, digest_of

from .table_findings import findings_of

SETTINGS = [(0.5, 0.545, 0.56), (1.0, 0.56, 0.585), (3.0, 0.615, 0.66), (10.0, 0.70, 0.80)]
PRIOR = 0.53
TITLES = {
    "prior": ("each secret's most likely value, without the release", "prior"),
    "posterior": ("the most likely value given the release, by mean field", "prior and release"),
    "gibbs": ("the most likely value given the release, by Gibbs sampling", "prior and release"),
    "rap": ("relaxed projection as published", "release"),
    "rap_from_prior": ("relaxed projection started from the prior", "prior and release"),
}
COLUMNS = {"affairs": 0.22, "religious": -0.04, "occupation": -0.18}


def answer(share, baseline, title, uses, *, people=100, trials=100):
    half = 0.012
    spread = math.sqrt(share * (1 - share) / people) * 1.1
    weights = {
        k: math.exp(-((k / people - share) ** 2) / (2 * spread**2)) for k in range(people + 1)
    }
    total = sum(weights.values())
    counts = {k: round(trials * w / total) for k, w in weights.items()}
    counts = {k: c for k, c in counts.items() if c}
    return {
        "share": share,
        "low": share - half,
        "high": share + half,
        "low_joint": share - half,
        "narrowest": {"low": share - half, "high": share + half},
        "median": None,
        "decoy": None,
        "gain": share - baseline,
        "gain_low": share - baseline - half,
        "gain_high": share - baseline + half,
        "gain_low_joint": share - baseline - half,
        "baseline": baseline,
        "baseline_low": baseline - half / 2,
        "baseline_high": baseline + half / 2,
        "baseline_exact": True,
        "advantage": share - baseline,
        "advantage_low": share - baseline - half,
        "advantage_high": share - baseline + half,
        "approximate": {"low": share - half / 3, "high": share + half / 3, "method": "Student's t"},
        "trials": sum(counts.values()),
        "method": "betting",
        "distribution": {"targets": list(counts), "trials": list(counts.values())},
        "columns": {
            name: {
                **limited(min(share + shift, 0.98), half),
                "baseline": baseline + shift,
            }
            for name, shift in COLUMNS.items()
        },
        "title": title,
        "uses": uses,
    }


def limited(share, half):
    return {"share": share, "low": share - half, "high": share + half}


def group(by, name, people, without, with_it, most):
    def brief(share):
        share = min(share, 0.96)
        return {
            **limited(share, 0.03),
            "baseline": without,
            "over_guess": share - without,
            "over_guess_low": share - without - 0.03,
            "over_guess_high": min(share + 0.03, 1.0) - (without - 0.03),
            "people": 100,
        }

    return {
        "by": by,
        "group": name,
        "by_secret": False,
        "share_of_people": people,
        "guess": limited(without, 0.03),
        "attacks": {"prior": brief(without), "posterior": brief(with_it)},
        "ceiling": brief(most),
    }


def setting(epsilon, posterior, ceiling, threshold=0.7):
    gain = posterior - PRIOR
    shares = {
        "prior": PRIOR,
        "posterior": posterior,
        "gibbs": posterior - 0.002,
        "rap": PRIOR - 0.035 + gain * 0.8,
        "rap_from_prior": PRIOR + gain * 0.7,
    }
    attacks = {
        name: answer(share, min(PRIOR, share) - 0.004, *TITLES[name])
        for name, share in shares.items()
    }
    bounds = []
    mu = None
    if epsilon is not None:
        mu = round(0.268 * epsilon, 3)
        proved = min(ceiling + 0.02 + 0.01 * epsilon, 0.999)
        bounds = [
            {
                "theorem": "Narcissus theory 4.4",
                "name": "domination",
                "grade": "proved",
                "assumptions": ["people are independent given the prior"],
                "guarantee": f"GDP mu={mu:g}",
                "confidence": 0.95,
                "at_most": min(round(100 * proved) + 9, 100),
                "of": 100,
                "at_most_of_population": min(round(100 * proved) + 10, 100),
                "takes_as_given": [],
                "limits": "count",
                "for_comparison": False,
            },
            {
                "theorem": "Narcissus theory 4.6",
                "name": "one-target optimum",
                "grade": "proved",
                "assumptions": ["people are independent given the prior"],
                "guarantee": f"GDP mu={mu:g}",
                "share_at_most": proved,
                "share_of_population": min(proved + 0.004, 1.0),
                "takes_as_given": [],
                "limits": "share",
                "for_comparison": False,
            },
            {
                "theorem": "Swanberg et al. 2025, Corollary 3.4",
                "name": "published",
                "grade": "proved",
                "assumptions": ["people are independent given the prior"],
                "guarantee": f"({epsilon:g}, 1e-05)-DP",
                "confidence": 0.95,
                "at_most": min(round(100 * proved) + 16, 100),
                "of": 100,
                "at_most_of_population": None,
                "takes_as_given": [],
                "limits": "count",
                "for_comparison": True,
            },
        ]
    return {
        "epsilon": epsilon,
        "label": "no noise" if epsilon is None else f"ε = {epsilon:g}",
        "delta": None if epsilon is None else 1e-5,
        "mu": mu,
        "noise": {"kind": "gaussian", "scale": 0.0 if epsilon is None else 54.1 / epsilon},
        "marginals": 105,
        "cells": 12345,
        "people": 100,
        "trials": 120,
        "guess": {**limited(PRIOR, 0.003), "by_the_prior": None},
        "confidence": 0.95,
        "prior_is_exact": True,
        "attacks": attacks,
        "ceiling": answer(
            ceiling, PRIOR, "told everybody else's secrets", "prior, release, secrets"
        ),
        "best": "posterior",
        "bounds": bounds,
        "groups": [
            group(
                "how unusual the secret is",
                "the rarest tenth",
                0.1,
                0.08,
                0.08 + gain,
                max(0.31, 0.1 + gain),
            ),
            group("how unusual the secret is", "the rest", 0.9, 0.58, 0.58 + gain, ceiling + 0.02),
            group("children", "none", 0.37, 0.61, 0.61 + gain * 0.9, ceiling + 0.05),
            group("children", "one or two", 0.41, 0.52, 0.52 + gain, ceiling),
            group("children", "three or more", 0.22, 0.41, 0.41 + gain * 1.3, ceiling - 0.05),
            group(
                "singled out by the release",
                "yes",
                0.06,
                0.49,
                0.49 + gain * 4,
                max(0.86, 0.49 + gain * 4),
            ),
            group("singled out by the release", "no", 0.94, 0.53, 0.53 + gain * 0.9, ceiling),
        ],
        "threshold": None
        if threshold is None
        else {
            "share": threshold,
            "advantage": None,
            "targets": None,
            "worst_group": None,
            "decided_at": "ε = 1",
            "reason": "Made up for a test.",
            "origin": "Nobody",
        },
    }


def made_up(settings=5, *, status="met", threshold=0.7, edit=lambda rs: rs, **changes) -> Record:
    """Make up a record; ``edit`` takes the list of its results, and gives or changes it."""
    rows = [*SETTINGS, (None, 0.92, 0.97)]
    results = [setting(*row, threshold=threshold) for row in rows[:settings]]
    if settings == 1:
        results = [setting(*SETTINGS[1], threshold=threshold)]
    results = edit(results) or results
    values = {
        "schema": SCHEMA,
        "kind": "table",
        "title": "Fair's survey of affairs: 3-way marginals",
        "status": status,
        "grade": "sampled",
        "assumptions": [],
        "contradictions": [],
        "study": {
            "title": "",
            "data": {
                "path": None,
                "table": "statsmodels:fair",
                "columns": None,
                "drop": [],
                "bins": {"age": {"width": None, "edges": [20.0, 30.0, 40.0]}},
                "missing": "refuse",
            },
            "threat": {
                "unknown": list(COLUMNS),
                "known": None,
                "targets": 100,
                "people": "prior",
                "within": {"religious": 1},
                "at_least": None,
            },
            "prior": {"name": "bayesian-network", "parents": 2, "smoothing": 1.0, "score": "bic"},
            "mechanism": {
                "name": "marginals",
                "k": 3,
                "noise": "gaussian",
                "epsilon": [0.5, 1.0, 3.0, 10.0, None],
                "delta": 1e-5,
                "mu": None,
                "scale": None,
            },
            "attacks": {name: {"trials": None} for name in TITLES},
            "bounds": {"confidence": 0.95},
            "threshold": threshold
            and {"share": threshold, "reason": "Made up for a test.", "origin": "Nobody"},
            "policy": None,
            "groups": {"columns": ["children"], "unusual": True, "singled_out": True},
            "run": {"trials": 100, "seed": 7, "workers": 2},
        },
        "provenance": {
            "narcissus": "0.1.0",
            "python": "3.11.2",
            "packages": {"numpy": "2.0.0", "scipy": "1.14.0", "pandas": "2.2.0"},
            "machine": "Linux x86_64",
            "entropy": "7",
            "digests": {"study": "sha256:" + "1" * 64, "data": "sha256:" + "2" * 64},
        },
        "assessed": [
            "Reconstruction of affairs, religious and occupation from noisy 3-way marginals.",
            "Attackers who know all other columns and the prior.",
        ],
        "not_assessed": [
            {
                "quantity": "A bound at no noise",
                "reason": "without noise there is no guarantee to start from",
                "remedy": "read the ceiling instead",
            }
        ],
        "digest": "",
        **changes,
    }
    found = findings_of(results)
    result = {"criteria": found.criteria, "result": found.result}
    record = Record.model_validate({**values, **result})
    return record.model_copy(update={"digest": digest_of(record.to_dict())})


@pytest.fixture
def table_record():
    """Give the function that makes up a record of a table's audit."""
    return made_up


@pytest.fixture(scope="session")
def every_record():
    """Give records of all kinds of study, by their name: those that tests of studies keep."""
    folder = Path(__file__).parents[1] / "study"
    places = ("records/last", "kept")
    files = [path for place in places for path in folder.glob(f"{place}/*.json")]
    files = [path for path in files if path.stem not in OF_PAPERS.keys() - KINDS.keys()]
    found = {}
    for path in sorted(files):
        found["another " * (path.stem in found) + path.stem] = read_record(path)
    return found


@pytest.fixture
def single():
    """Give the function that makes up a record of one setting, changed before it is typed."""

    def make(edit=lambda result: None, **changes):
        def change(results):
            edit(results[0])
            results[0].update(changes)

        return made_up(1, edit=change)

    return make


@pytest.fixture
def blocks():
    """Give the function that finds the blocks of a kind in a page."""
    return lambda page, kind: [block for block in page.blocks if isinstance(block, kind)]


GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden():
    """Give the function that compares with a file, word for word; UPDATE_GOLDEN=1 writes it."""

    def compare(name, text):
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
