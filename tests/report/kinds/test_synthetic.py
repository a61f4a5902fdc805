"""The report of a given file: one picture a risk, both sides, what cannot be said."""

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.report import Figure, page_of, render_html, render_text


def some(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.integers(0, 7, n) for name in ("age", "job", "town", "ill")})


@pytest.fixture(scope="module")
def audits():
    real, control, fresh = some(150, 1), some(150, 2), some(150, 3)
    return {
        "copied": narcissus.audit_synthetic(
            real, real, control=control, unknown=["ill", "job"], groups=["town"], rng=1
        ),
        "fresh": narcissus.audit_synthetic(real, fresh, control=control, unknown=["ill"], rng=1),
        "alone": narcissus.audit_synthetic(real, fresh, unknown=["ill"], rng=1),
    }


def figures(audit):
    blocks = (b for s in page_of(audit.record).sections for b in s.blocks)
    return {b.name: b for b in blocks if isinstance(b, Figure)}


def test_there_is_a_picture_for_each_risk_with_its_table(audits):
    for audit in audits.values():
        found = figures(audit)
        assert list(found) == ["inference", "singling_out", "linkability"] == list(audit.figures)
        rows = found["inference"].table.rows
        risks = [r for r in audit.record.results.risks if r.risk == "inference"]
        assert [row[0] for row in rows] == [r.secret for r in risks]
        assert [row[2] for row in rows] == [r.real.share for r in risks]


def test_both_sides_are_drawn(audits):
    axes = audits["copied"].plot("linkability")
    risk = audits["copied"].record.results.risks[-1]
    drawn = [x for line in axes.lines for x in line.get_xdata()]
    assert risk.real.share in drawn
    assert risk.control.share in drawn


def test_the_verdict_has_both_shares_and_no_evidence_for(audits):
    verdict = page_of(audits["copied"].record).verdict
    assert verdict.evidence_against
    assert not verdict.evidence_for
    assert all("control" in text for _, _, text, _ in verdict.numbers)
    alone = page_of(audits["alone"].record).verdict
    assert {grade for *_, grade in alone.numbers} == {"not assessed"}


def test_the_page_says_what_it_must(audits):
    text = " ".join(render_text(audits["fresh"].record).split())
    assert "NOT SHOWN TO EXCEED WHAT IS ACCEPTED" in text
    assert "never that they are not" in text
    assert "Would have been shown from" in text
    html = render_html(audits["copied"].record)
    assert "Groups" in html
    assert len(html.encode()) < 300 * 1024
    assert "there is no control" in render_text(audits["alone"].record)


def test_groups_without_a_control_are_not_assessed(audits):
    page = page_of(audits["copied"].record)
    (groups,) = [s for s in page.sections if s.title == "Groups"]
    [table] = [block for block in groups.blocks if hasattr(block, "grades")]
    assert set(table.grades) == {"sampled"}


def test_whoever_surely_loses_most_is_named_and_nobody_is_called_safe(audits):
    def worst(name):
        return page_of(audits[name].record).verdict.worst

    risks = audits["copied"].record.results.risks
    low = max(x.excess.low for r in risks for x in (r, *r.groups) if x.excess)
    named = next(r for r in risks if r.excess.low == low)
    words, grade = worst("copied")
    assert words.lower().startswith(f"all people in the data. {named.name}".lower())
    assert grade == "sampled"
    assert "does not show that nobody is" in worst("fresh")[0]
    assert worst("alone")[1] == "not assessed"
