"""What a verdict says, and what it says cannot be concluded."""

import re

import narcissus


def test_exceeded_names_each_risk_with_both_shares(play):
    found = play()
    risk = next(r for r in found.record.results.risks if r.risk == "linkability")
    assert found.verdict.startswith("Exceeded: people in the data are hit more often")
    shares = f"{100 * risk.real.share:.1f}% against {100 * risk.control.share:.1f}%"
    assert f"Linkability: {shares}, an excess of at least" in found.verdict
    assert "where none is accepted" in found.verdict


def test_not_shown_says_what_may_still_be(play):
    found = play("fresh", at_most=0.1)
    widest = max(r.excess.high for r in found.record.results.risks)
    assert found.verdict.startswith("Not shown")
    [said] = re.findall(r"may still exceed the control by ([0-9.]+) points", found.verdict)
    assert 0 <= float(said) - 100 * widest < 0.1
    assert any("One that reveals everybody with chance q" in t for t in found.record.not_covered)
    assert found.record.assumptions


def test_without_a_control_the_guess_is_told_and_nothing_concluded(play):
    found = play(control=False)
    assert (found.status, found.record.grade) == ("not assessed", "not assessed")
    assert "without people who are not in the data" in found.verdict
    assert found.record.assumptions == []
    remark = found.record.not_assessed[0]
    assert "cannot stand in for one" in remark.reason
    assert "set people aside" in remark.remedy


def test_a_control_of_other_people_is_named(files):
    found = narcissus.audit_synthetic(
        files["real"], files["fresh"], control=files["control"].assign(town=5),
        unknown=["ill"], rng=1,
    )  # fmt: skip
    assert found.status == "not assessed"
    assert "town is 5 for" in found.verdict


def test_groups_that_decide_are_named(play):
    found = play(groups=["job"], threshold={"at_most": 0.95, "worst_group": 0.0})
    assert "beyond what is accepted in job" in found.verdict


def test_absent_groups_and_tiny_files_are_said(files):
    real = files["real"].copy()
    real.loc[:30, "job"] = "smith"
    found = narcissus.audit_synthetic(
        real, files["fresh"], control=files["control"].iloc[:20], unknown=["ill"],
        groups=["job"], threshold={"at_most": 0.9}, rng=1,
    )  # fmt: skip
    said = " ".join(r.quantity for r in found.record.not_assessed)
    assert "the excess in job smith" in said
    assert "an excess of inference of ill" in said
