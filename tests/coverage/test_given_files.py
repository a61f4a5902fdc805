"""False alarms about a given file that was made of other people, and what is found of copies."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import narcissus
from narcissus.synthetic import FileThreat, assess_file, read_files

PEOPLE, LEVEL = 80, 0.05


def people(rng, n):
    """Draw people with columns that depend on one another, and one of many values."""
    age = rng.integers(18, 70, n)
    job = (age // 15 + rng.integers(0, 3, n)) % 6
    ill = rng.random(n) < 0.1 + 0.1 * job
    town, street = rng.integers(0, 8, n), rng.integers(0, 40, n)
    return pd.DataFrame({"age": age, "job": job, "town": town, "street": street, "ill": ill})


def alarms(runs):
    """Count the verdicts "exceeded" of files made of other people, and each risk's p-values."""
    wrong, low = 0, Counter()
    for seed in range(runs):
        rng = np.random.default_rng([2014, seed])
        real, synthetic, control = (people(rng, PEOPLE) for _ in range(3))
        found = assess_file(
            read_files(real, synthetic, control), FileThreat(("ill",)), entropy=seed
        )
        counts = [risk.counts() for risk in found.risks]
        error = LEVEL / len(counts) / 2
        wrong += any(c.refuses(0.0, error=error) for c in counts)
        low.update(risk.risk for risk in found.risks if risk.counts().fisher <= LEVEL)
    return wrong, low


@pytest.mark.coverage_claim
@pytest.mark.repeats(40, 4000, "runs")
def test_false_alarms_of_files_made_of_other_people(runs):
    """At level .05 of all claims together, and of each risk's own test.

    The alarms are at most binomial(runs, .05), for each of the five counts; false alarm rate of
    this test 5e-6.
    """
    wrong, low = alarms(runs)
    allowed = stats.binom.isf(1e-6, runs, LEVEL)
    assert wrong <= allowed
    assert all(count <= allowed for count in low.values())


@pytest.mark.coverage_claim
@pytest.mark.parametrize("share", [0.15, 1.0])
@pytest.mark.one_in(2)
def test_copies_are_found(share):
    """Of 600 people and 600 others, in files with copies of some: each of four is found."""
    for seed in range(4):
        rng = np.random.default_rng([4, seed])
        real, control, synthetic = (people(rng, 600) for _ in range(3))
        copies = round(share * 600)
        mixed = pd.concat([real.iloc[:copies], synthetic.iloc[copies:]])
        found = narcissus.audit_synthetic(real, mixed, control=control, unknown=["ill"], rng=seed)
        assert found.status == "exceeded"


@pytest.mark.coverage_claim
def test_an_overfitted_generator_is_found():
    """Every record is kept, and one value in ten is drawn anew."""
    rng = np.random.default_rng(1)
    real, control = people(rng, 600), people(rng, 600)
    noisy = real.copy()
    for column in real:
        anew = rng.random(600) < 0.1
        noisy.loc[anew, column] = rng.permutation(real[column])[anew]
    found = narcissus.audit_synthetic(real, noisy, control=control, unknown=["ill"], rng=1)
    assert found.status == "exceeded"
