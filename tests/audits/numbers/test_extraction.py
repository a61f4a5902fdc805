"""The frame and the headline of evidence of extraction."""

from pathlib import Path

import pytest

import narcissus
from narcissus.extraction.sandbox import without_isolation

COPY = Path(__file__).resolve().parents[3] / "examples" / "extraction" / "copy.toml"


@pytest.fixture(scope="module")
def audit():
    with without_isolation():  # what is tested here is what becomes of the numbers
        return narcissus.run(narcissus.load_study(COPY), rng=1)


def test_the_frame_holds_success_and_lengths(audit):
    frame, results = audit.to_frame(), audit.results
    success = frame[frame["quantity"] == "success"].set_index("name")
    with_it = success.loc["with the release"]
    assert with_it["value"] == results["success"]["value"]
    assert with_it["low"] == results["success"]["low"]
    assert with_it["baseline"] == results["success_without_release"]["value"]
    assert set(results["stand_ins"]) <= set(success.index)
    assert set(success["grade"]) == {"sampled"}
    sizes = frame[frame["quantity"] == "program bytes"].set_index("name")
    assert sizes.loc[list(results["complexity"]), "value"].to_dict() == results["complexity"]
    assert set(sizes.loc[list(results["complexity"]), "grade"]) == {"approximate"}
    assert sizes.loc["extraction program", "value"] == results["program_bytes"]


def test_the_headline_names_the_quality_as_approximate(audit):
    results = audit.results
    assert repr(audit).startswith(f"Audit(extraction: {audit.status}, {audit.record.grade}; ")
    assert f"quality at most {results['quality']:.3g} (approximate)" in repr(audit)
