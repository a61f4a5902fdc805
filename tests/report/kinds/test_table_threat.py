"""A table's study in words, section by section."""

import pytest

from narcissus.kinds.table import KIND
from narcissus.kinds.table.threat import are_real, threat_facts
from narcissus.report import Facts, page_of


def settings_of(record):
    return KIND.judged(record).settings


def test_study_in_words(table_record, blocks):
    facts = dict(blocks(page_of(table_record(5)), Facts)[0].rows)
    assert facts["Unknown to the attacker"] == "affairs, religious, occupation"
    assert facts["A target counts as recovered when"] == (
        "every unknown column is right (religious up to 1 off)"
    )
    assert facts["Privacy level (epsilon)"] == "0.5, 1, 3, 10, no noise"
    assert facts["Threshold"] == "a mean share of at most 70.0%"
    assert facts["Its reason"] == "Made up for a test."


def test_a_policy_s_threshold_is_shown(single, blocks):
    limit = {"targets": 70, "reason": "Small towns.", "origin": "The board"}
    limit |= dict.fromkeys(["share", "advantage", "worst_group", "decided_at"])
    record = single(threshold=limit)
    record.study["threshold"], record.study["policy"] = None, "policy.toml"
    facts = dict(blocks(page_of(record), Facts)[0].rows)
    assert facts["Threshold"] == "at most 70 targets in one release"
    assert facts["Its reason"] == "Small towns."
    assert facts["Who set it"] == "The board"
    assert facts["Policy"] == "policy.toml"


def facts(record):
    return dict(threat_facts(record, settings_of(record)[0]))


@pytest.mark.parametrize(
    ("section", "changes", "term", "words"),
    [
        ("data", {"path": "python:data"}, "Table", "a data frame, given from Python"),
        ("data", {"table": "x.csv"}, "Table", "x.csv"),
        ("data", {"missing": "category"}, "Missing values", "a value of their own"),
        ("data", {"columns": ["a", "b"]}, "Columns", "a, b"),
        ("data", {"drop": ["a"]}, "Columns left out", "a"),
        ("threat", {"unknown": None, "known": ["a"]}, "Known to the attacker", "a"),
        ("threat", {"unknown": None, "known": ["a"]}, "Unknown to the attacker",
         "all other columns"),
        ("threat", {"people": "rows"}, "Where they come from", "real rows of the table"),
        ("threat", {"within": None, "at_least": 2}, "A target counts as recovered when",
         "at least 2 of the unknown columns are right"),
        ("prior", {"kind": None, "name": "empirical"}, "What the attacker knows beforehand",
         "the table's own rows"),
        ("prior", {"kind": None, "name": "mine:Prior"}, "What the attacker knows beforehand",
         "mine:Prior (the user's own)"),
        ("mechanism", {"epsilon": None, "mu": 0.5}, "Privacy level (mu)", "0.5"),
        ("mechanism", {"epsilon": None, "scale": [0, 12.5]}, "Noise scale", "no noise, 12.5"),
        ("mechanism", {}, "delta", "1e-05"),
        ("mechanism", {"k": None, "sets": [["a", "b"], ["b"]]}, "What is released",
         "tables of counts: a, b; b"),
        ("mechanism", {"noise": "laplace"}, "What is released",
         "all 3-way tables of counts that touch an unknown column, Laplace noise on each cell"),
    ],
)  # fmt: skip
def test_what_a_section_says(table_record, section, changes, term, words):
    record = table_record(1)
    record.study[section].update(changes)
    assert facts(record)[term] == words


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"width": 5, "edges": None}, "bins of width 5"),
        ({"edges": [20.0, 30.5]}, "a new bin from 20, 30.5"),
        ({"quantiles": 4}, "4 bins of equal share"),
        ({"above": 90}, "above 90"),
        ({"width": None}, "as they are"),
    ],
)
def test_bins_in_words(table_record, spec, words):
    record = table_record(1)
    record.study["data"]["bins"] = {"age": spec}
    assert facts(record)["Columns in bins"] == f"age: {words}"


def test_sections_that_are_missing_are_left_out(table_record):
    record = table_record(1, threshold=None)
    for section in ("data", "threat", "prior", "mechanism", "policy"):
        record.study.pop(section)
    assert facts(record) == {"A target counts as recovered when": "every unknown column is right"}
    assert not are_real(record)
