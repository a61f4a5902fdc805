"""Audits of a given file: the study, the numbers of the people scored, groups, words, page."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus import load_study
from narcissus.errors import InputError, LongWorkError, StudyError
from narcissus.evidence import clopper_pearson
from narcissus.evidence.intervals import TwoSamples
from narcissus.kinds.synthetic.copies import WRITTEN
from narcissus.kinds.synthetic.decisions import judged_of, verdict_of
from narcissus.kinds.synthetic.kind import KIND, Levels
from narcissus.kinds.synthetic.schema import ExcessThreshold
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.report.about import shown, uncovered_of
from narcissus.report.first_screen import NO_GROUP, NO_GROUPS
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of
from narcissus.synthetic import FileThreat, assess_file, read_files
from narcissus.synthetic.assessment import RISKS

EXAMPLES = Path(__file__).parents[2] / "examples"
KEPT = Path(__file__).parents[1] / "study" / "kept" / "synthetic.json"


def some(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 60, n)
    ill = np.where(rng.random(n) < 0.2 + (age > 40) * 0.4, "yes", "no")
    job = rng.choice(["clerk", "cook", "nurse"], n)
    return pd.DataFrame({"age": age, "job": job, "town": rng.integers(0, 6, n), "ill": ill})


FILES = {"real": some(160, 1), "control": some(150, 2), "fresh": some(140, 3)}


def play(synthetic="real", *, control=True, unknown=("ill",), **arguments):
    """Audit one of the files; `real` is the data itself."""
    return narcissus.audit_synthetic(
        FILES["real"],
        FILES[synthetic],
        control=FILES["control"] if control else None,
        unknown=list(unknown),
        rng=arguments.pop("rng", 1),
        **arguments,
    )


def risks_of(audit):
    return audit.record.result.risks


@pytest.mark.nightly
def test_copies_are_shown_in_the_example_and_nothing_in_the_other():
    copied = narcissus.run(load_study(EXAMPLES / "given_copied.toml"))
    assert (copied.status, copied.record.grade) == ("exceeded", "sampled")
    risks = {risk.name: risk for risk in risks_of(copied)}
    case = KIND.judged(copied.record)
    for name in ("singling out", "linkability"):
        assert verdict_of(case, risks[name]) == "exceeded"
    assert risks["singling out"].everybody.real.value > 0.1
    fresh = narcissus.run(load_study(EXAMPLES / "given_fresh.toml"))
    assert (fresh.status, fresh.record.grade) == ("not shown", "sampled")
    shares = [risk.everybody.excess.share for risk in risks_of(fresh)]
    assert all(share.low < 0 < share.high for share in shares)
    assert all(risk.everybody.excess.share.value < 0.05 for risk in risks_of(fresh))


def test_the_digest_of_a_file_is_that_of_its_cells(tmp_path):
    path = tmp_path / "fresh.csv"
    FILES["fresh"].to_csv(path, index=False)

    def digests(synthetic):
        data = {"real": FILES["real"], "synthetic": synthetic, "control": FILES["control"]}
        study = {"kind": "synthetic", "data": data, "threat": {"unknown": ["ill"]}}
        return narcissus.run(load_study(study), rng=1, folder=tmp_path).record.provenance.digests

    one = digests(FILES["fresh"])
    assert {"study", "real", "synthetic", "control"} == set(one)
    assert len({one["real"], one["synthetic"], one["control"]}) == 3
    assert digests(path)["synthetic"] == one["synthetic"]
    again = narcissus.audit_synthetic(
        FILES["real"], path, control=FILES["control"], unknown=["ill"], rng=1
    )
    from_memory = play("fresh").results
    left = [results["result"].pop("not_sought", []) for results in (from_memory, again.results)]
    assert [*map(list, left)] == [
        [WRITTEN],
        [],
    ]  # a data frame may be written with more than its cells
    assert again.results == from_memory


def test_a_policy_takes_the_place_of_a_threshold(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[threshold]\nat_most = 0.99\nreason = 'x'\n", encoding="utf-8")
    found = play(policy=policy, irrelevant=["order of rows"])
    assert found.status == "not shown"
    assert {one.at_most for one in found.record.criteria} == {0.99}
    assert "policy" in found.record.provenance.digests
    study = load_study({
        "kind": "synthetic", "threshold": {"at_most": 0.1}, "threat": {"unknown": ["ill"]},
        "data": {"real": FILES["real"], "synthetic": FILES["fresh"], "control": FILES["control"]},
    })  # fmt: skip
    with pytest.raises(InputError, match="keep one"):
        narcissus.run(study, policy=policy, rng=1)
    policy.write_text("[threshold]\nworst_group = 0.1\n", encoding="utf-8")
    with pytest.raises(InputError, match="name their columns"):
        play(policy=policy)


def test_columns_are_checked_before_any_work():
    data = {"real": FILES["real"], "synthetic": FILES["fresh"], "control": FILES["control"]}
    for study, said in (
        ({"threat": {"unknown": ["il"]}}, "`il`"),
        ({"groups": {"columns": ["jb"]}}, "`jb`"),
        ({"threat": {"unknown": ["ill"], "linked": [["age"], ["age"]]}}, "two disjoint sets"),
        ({"data": data | {"synthetic": FILES["fresh"].drop(columns="ill")}}, "`ill`"),
    ):
        whole = {"kind": "synthetic", "data": data, "threat": {"unknown": ["ill"]}, **study}
        with pytest.raises(InputError, match=said):
            load_study(whole)


def test_work_that_is_too_long_is_refused_before_it_starts():
    with pytest.raises(LongWorkError, match="310 people compared with 140 rows"):
        play("fresh", hours=1e-9)


def test_a_record_is_read_again_and_a_changed_one_refused(tmp_path):
    found = play(groups=["job"])
    path = found.save(tmp_path) / "record.json"
    assert read_record(path) == found.record
    assert found.status == "exceeded"
    changed = json.loads(path.read_text(encoding="utf-8")) | {"status": "not shown"}
    path.write_text(json.dumps(changed | {"digest": digest_of(changed)}), encoding="utf-8")
    with pytest.raises(InputError, match="'not shown', and that of the rows 'exceeded'"):
        read_record(path)


def test_a_column_of_almost_only_numbers_is_named():
    odd = {name: frame.assign(town=frame["town"].astype(str)) for name, frame in FILES.items()}
    for frame in odd.values():
        frame.loc[0, "town"] = "none"
    found = narcissus.audit_synthetic(
        odd["real"], odd["fresh"], control=odd["control"], unknown=["ill"], rng=1
    )
    assert "distances in the column town" in [r.quantity for r in found.record.not_assessed]


def test_statsmodels_tables_can_be_audited():
    pytest.importorskip("statsmodels", reason="the extra `examples` is not installed")
    frame = pd.DataFrame(load_study({
        "kind": "synthetic", "threat": {"unknown": ["affairs"]},
        "data": {"real": "statsmodels:fair", "synthetic": "statsmodels:fair",
                 "bins": {"affairs": {"above": 0}}},
    }).to_dict()["data"]["bins"])  # fmt: skip
    assert frame.loc["above", "affairs"] == 0


def test_each_risk_may_have_a_threshold_of_its_own():
    threshold = ExcessThreshold.model_validate({"at_most": 0.1, "singling_out": 0.0})
    assert [threshold.accepts(risk) for risk in RISKS] == [0.1, 0.0, 0.0, 0.1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"threat": {"unknown": []}}, "threat.unknown"),
        ({"threat": {"unkown": ["ill"]}}, "did you mean `unknown`"),
        ({"threshold": {"at_most": 1.0}}, "threshold.at_most"),
        ({"threshold": {"worst_group": 0.1}}, "needs `groups.columns`"),
        ({"threshold": {"at_most": 0.1}, "policy": "p.toml"}, "not both"),
        ({"threat": {"unknown": ["ill"], "linked": [["age"], []]}}, "linked"),
        ({"run": {"confidence": "0.9"}}, "run.confidence"),
    ],
)
def test_mistakes_are_named(change, said):
    study = {
        "kind": "synthetic",
        "data": {name: FILES[name] for name in ("real", "control")} | {"synthetic": FILES["fresh"]},
        "threat": {"unknown": ["ill"]},
    }
    with pytest.raises(StudyError, match=said):
        load_study(study | change)


def test_the_error_is_divided_among_what_decides():
    alone = Levels.of(0.95, 3, 4, groups_decide=False)
    assert alone.claims == 3
    assert alone.claim == pytest.approx(1 - 0.05 / 3)
    assert alone.group == pytest.approx(1 - 0.05 / 12)
    both = Levels.of(0.95, 3, 4, groups_decide=True)
    assert both.claims == 15
    assert both.claim == both.group == pytest.approx(1 - 0.05 / 15)
    assert Levels.of(0.9, 3, 0, groups_decide=False).group == pytest.approx(0.9, abs=0.07)


@pytest.fixture(scope="module")
def assessed():
    given = read_files(FILES["real"], FILES["real"], FILES["control"])
    return given, assess_file(given, FileThreat(("ill",)), entropy=1)


def judged(assessed, columns=(), **threshold):
    accepted = ExcessThreshold.model_validate(threshold)
    return KIND.conclude(KIND.measured(*assessed, accepted, confidence=0.95, columns=columns))


def test_numbers_are_those_of_the_people_scored(assessed):
    _, found = assessed
    case = judged(assessed)
    for risk, said in zip(found.risks, case.result.risks, strict=True):
        people = said.everybody
        limits, real = clopper_pearson(int(risk.real.sum()), risk.real.size), people.real
        assert (real.value, real.low, real.high) == (risk.real.mean(), limits.low, limits.high)
        counts = TwoSamples(
            int(risk.real.sum()), risk.real.size, int(risk.control.sum()), risk.control.size
        )
        joint = counts.excess(confidence=1 - 0.05 / 5)  # four risks, and copies
        assert (people.low, people.high) == (joint.low, joint.high)
        assert people.excess.p_value == counts.fisher
        assert verdict_of(case, said) == ("exceeded" if joint.low > 0 else "not shown")
    above = case.result.risks[0].guess.above
    gain = found.risks[0].real.mean() - found.risks[0].guessed_real.mean()
    assert above.value == pytest.approx(gain)
    assert above.low < gain < above.high


def verdicts(case):
    return [verdict_of(case, risk) for risk in case.result.risks]


def test_a_threshold_moves_the_verdict(assessed):
    assert {*verdicts(judged(assessed, at_most=0.9))} == {"not shown"}
    some = judged(assessed, at_most=0.9, linkability=0.0)
    assert verdicts(some) == ["not shown"] * 3 + ["exceeded"]
    assert some.status == "exceeded"


def test_groups_are_people_with_one_value(assessed):
    given, found = assessed
    case = judged(assessed, columns=["job"])
    jobs = given.table.codes[found.halves.scored, given.table.index("job")]
    for risk, said in zip(found.risks, case.result.risks, strict=True):
        groups = said.groups
        assert [g.group for g in groups] == ["job clerk", "job cook", "job nurse"]
        assert sum(g.real.counted[1] for g in groups) == risk.real.size
        for code, group in enumerate(groups):
            assert group.real.counted[0] == risk.real[jobs == code].sum()
            samples = TwoSamples(*group.real.counted, *group.control.counted)
            own = samples.excess(confidence=1 - 0.05 / 12)
            assert (group.low, group.high) == (own.low, own.high)


def test_a_group_beyond_what_is_accepted_decides(assessed):
    case = judged(assessed, columns=["job"], at_most=0.98, worst_group=0.0)
    beyond = [one for one in case.each if one.status == "exceeded"]
    assert {one.label.split()[0] for one in beyond} == {"job"}
    named = {one.criterion.name for one in beyond}
    assert all(one in judged_of(case, one.criterion.name)[1:] for one in beyond)
    assert named == {r.name for r in case.result.risks if verdict_of(case, r) == "exceeded"}
    assert case.result.claims == 17
    assert judged(assessed, columns=["job"], at_most=0.98).status == "not shown"
    assert judged(assessed, at_most=0.98, copies=0.5).status == "exceeded"


def test_a_group_that_the_control_has_nobody_of_has_no_excess():
    real = FILES["real"].copy()
    real.loc[np.arange(10), "job"] = "smith"
    given = read_files(real, FILES["fresh"], FILES["control"].iloc[:40])
    found = assess_file(given, FileThreat(("ill",)), entropy=1)
    accepted = ExcessThreshold.model_validate({"worst_group": 0.9})
    case = KIND.conclude(
        KIND.measured(given, found, accepted, confidence=0.95, columns=["job"], least=1)
    )
    assert case.result.can_tell
    (smith, *_) = [g for g in case.result.groups if g.group == "job smith"]
    assert (smith.control, smith.excess) == (None, None)
    assert {"job clerk"} == {one.label for one in case.each} & {"job clerk", "job smith"}


def test_a_control_of_other_people_leaves_no_verdict():
    other = FILES["control"].assign(town=5)
    given = read_files(FILES["real"], FILES["fresh"], other)
    case = judged((given, assess_file(given, FileThreat(("ill",)), entropy=1)))
    assert case.result.unlike.is_shown
    assert case.status == "contradicted"
    assert "town is 5 for" in " ".join(case.contradictions)
    assert all(risk.everybody.excess is None for risk in case.result.risks)
    # copies are counted without it
    given = read_files(FILES["real"], FILES["real"], other)
    case = judged((given, assess_file(given, FileThreat(("ill",)), entropy=1)))
    assert (case.status, case.grade, len(case.assumptions)) == ("exceeded", "approximate", 0)


def test_groups_of_few_of_the_data_or_of_the_control_are_merged():
    rng = np.random.default_rng(8)

    def file(*sizes):
        place = rng.permutation(np.repeat([*"abcde"], sizes))
        return pd.DataFrame({"place": place, "age": rng.integers(0, 3, len(place)),
                             "ill": rng.integers(0, 2, len(place))})  # fmt: skip

    def groups_of(least, *files):
        audit = narcissus.run(load_study({
            "kind": "synthetic",
            "data": dict(zip(["real", "synthetic", "control"], files, strict=True)),
            "threat": {"unknown": ["ill"]},
            "groups": {"columns": ["place"], "least_group": least},
            "run": {"seed": 1},
        }))  # fmt: skip
        return {g.value: g for g in risks_of(audit)[0].groups}, audit.record.result.merged

    files = file(80, 60, 40, 16, 4), file(60, 60, 30, 5, 5), file(90, 60, 8, 30, 4)
    fine, none = groups_of(1, *files)
    assert (len(fine), none.merged) == (5, {})
    found, merged = groups_of(10, *files)
    small = [label for label in "abcde" if label not in found]
    assert {"c", "e"} <= set(small)  # of c the control has few, of e both sides
    assert merged.merged == {"place": len(small)}
    few = found["smaller groups"]
    for side in ("real", "control"):
        parts = [getattr(fine[label], side).counted for label in small]
        assert getattr(few, side).counted == tuple(map(sum, zip(*parts, strict=True)))
        assert getattr(few, side).counted[1] >= 10
    assert found["a"].real == fine["a"].real


def test_exceeded_names_each_risk_with_both_shares():
    found = play()
    risk = risks_of(found)[-1]
    assert risk.name == "linkability"
    assert found.verdict.startswith("Exceeded: people in the data are hit more often")
    assert risk.everybody.real.value == 1
    shares = f"100% of people in the data, {100 * risk.everybody.control.value:.1f}%"
    assert f"Linkability: {shares} of the control. The excess is at least" in found.verdict
    assert "points, and none is accepted." in found.verdict


def test_not_shown_says_what_may_still_be():
    found = play("fresh", at_most=0.1)
    widest = max(risk.everybody.excess.share.high for risk in risks_of(found))
    assert found.verdict.startswith("Not shown")
    [said] = re.findall(r"may exceed the control by up to ([0-9.]+) points", found.verdict)
    assert 0 <= float(said) - 100 * widest < 0.1
    assert any(
        "one file never shows that a mechanism is safe" in t for t in uncovered_of(found.record)
    )
    assert found.record.assumptions


def test_without_a_control_copies_decide_and_the_guess_is_told():
    assert play(control=False).verdict.startswith("Exceeded: the file holds copies")
    found = play("fresh", control=False)
    assert (found.status, found.record.grade) == ("not shown", "approximate")
    assert "by a model that never saw the file" in found.verdict
    assert len(found.record.assumptions) == 2
    assert [one.name for one in found.record.criteria] == ["copies"]
    remark = found.record.not_assessed[0]
    assert "the file was made from" in remark.reason
    assert "set people aside" in remark.remedy


def test_a_control_of_other_people_is_named():
    found = narcissus.audit_synthetic(
        FILES["real"], FILES["fresh"], control=FILES["control"].assign(town=5),
        unknown=["ill"], rng=1,
    )  # fmt: skip
    assert found.status == "contradicted"
    assert "town is 5 for" in found.verdict
    assert "The control is of other people than the data" in str(found)
    frame = found.to_frame()
    assert list(frame.query("quantity == 'excess'")["name"]) == ["copies"]
    assert set(frame.query("quantity == 'risk'")["verdict"]) == {"contradicted"}


def linked(n, seed, *, shuffled=0.0):
    """Draw people whose columns hang together; shuffle columns among a share of them."""
    rng = np.random.default_rng([11, seed])
    kind = rng.integers(0, 4, n)
    found = pd.DataFrame({
        "age": np.round(30 + 10 * kind + 5 * rng.normal(size=n)), "town": 3 * kind % 7,
        "job": (kind + rng.integers(0, 2, n)) % 4, "ill": rng.random(n) < 0.1 + 0.25 * kind,
    })  # fmt: skip
    some = int(shuffled * n)
    for name in found:
        found.loc[: some - 1, name] = rng.permutation(found[name].to_numpy()[:some].copy())
    return found.astype({"ill": int})


def test_a_control_of_the_same_columns_and_another_joint_law_is_contradicted():
    """Each column alone has the same law; nothing was made from anybody."""
    real, fresh = linked(400, 1), linked(400, 2)
    how = {"unknown": ["ill"], "rng": 1}
    found = narcissus.audit_synthetic(real, fresh, control=linked(300, 3, shuffled=1.0), **how)
    assert found.status == "contradicted"
    assert "hang together in another way" in found.verdict
    assert list(found.to_frame().query("quantity == 'excess'")["name"]) == ["copies"]
    assert found.record.contradictions[0].startswith("The people of the control are of another")
    same = narcissus.audit_synthetic(real, fresh, control=linked(300, 3), **how)
    assert same.status == "not shown"


def test_copies_beyond_any_law_need_no_assumption_on_the_generator_and_others_say_so():
    """Without a control: half of the people copied, one in twenty, none."""
    rng = np.random.default_rng(2)
    real, made = (pd.DataFrame(rng.integers(0, 40, (800, 6)), columns=list("abcdef"))
                  for _ in range(2))  # fmt: skip

    def audited(many):
        mixed = pd.concat([real[:many], made[many:]])
        return narcissus.audit_synthetic(real, mixed, unknown=["f"], rng=1)

    half, some, none = audited(400), audited(40), audited(0)
    assert [half.status, some.status, none.status] == ["exceeded", "exceeded", "not shown"]
    assert len(half.record.assumptions) == 1
    assert any("plausible people" in text for text in some.record.assumptions)
    for found, is_open in ((half, False), (some, True)):
        assert ("favours such people" in found.verdict) == is_open
        assert ("favours such people may do the same, and only a control tells" in " ".join(
            str(found).split())) == is_open  # fmt: skip


def test_groups_that_decide_are_named():
    found = play(groups=["job"], threshold={"at_most": 0.95, "worst_group": 0.0})
    assert "exceeds what is accepted in job" in found.verdict


def test_absent_groups_and_tiny_files_are_said():
    real = FILES["real"].copy()
    real.loc[:30, "job"] = "smith"
    found = narcissus.audit_synthetic(
        real, FILES["fresh"], control=FILES["control"].iloc[:20], unknown=["ill"],
        groups=["job"], threshold={"at_most": 0.9}, rng=1,
    )  # fmt: skip
    said = " ".join(r.quantity for r in found.record.not_assessed)
    assert "the excess in job smith" in said
    assert "an excess of inference of ill" in said


@pytest.fixture(scope="module")
def audits():
    def numbers(n, seed):
        rng = np.random.default_rng(seed)
        columns = ("age", "job", "town", "ill")
        return pd.DataFrame({name: rng.integers(0, 7, n) for name in columns})

    real, control, fresh = numbers(150, 1), numbers(150, 2), numbers(150, 3)
    return {
        "copied": narcissus.audit_synthetic(
            real, real, control=control, unknown=["ill", "job"], groups=["town"], rng=1
        ),
        "fresh": narcissus.audit_synthetic(real, fresh, control=control, unknown=["ill"], rng=1),
        "alone": narcissus.audit_synthetic(real, numbers(150, 4), unknown=["ill"], rng=1),
        "more": narcissus.audit_synthetic(real, fresh, unknown=["ill"], rng=1),
    }


def test_there_is_a_picture_for_each_risk_with_its_table(audits):
    for audit in audits.values():
        blocks = (b for s in page_of(audit.record).sections for b in s.blocks)
        found = {b.name: b for b in blocks if isinstance(b, Figure)}
        names = ["inference", "singling_out", "singling_out_by_a_value", "linkability"]
        assert list(found) == names == list(audit.figures)
        rows = found["inference"].table.rows
        risks = [r for r in risks_of(audit) if r.risk == "inference"]
        assert [row[0] for row in rows] == [r.secret for r in risks]
        assert [row[2] for row in rows] == [r.everybody.real.value for r in risks]


def test_both_sides_are_drawn(audits):
    axes = audits["copied"].plot("linkability")
    risk = risks_of(audits["copied"])[-1]
    drawn = [x for line in axes.lines for x in line.get_xdata()]
    assert risk.everybody.real.value in drawn
    assert risk.everybody.control.value in drawn


def test_shares_are_graded_with_a_control_and_not_assessed_without(audits):
    graded = {}
    for name in ("copied", "alone"):
        layout, case = shown(audits[name].record)
        numbers = layout.numbers(case)
        graded[name] = {grade for label, *_, grade in numbers if "in the data" in label}
        assert graded[name], [label for label, *_ in numbers]
    assert graded == {"copied": {"sampled"}, "alone": {"not assessed"}}


def test_the_page_says_what_it_must(audits):
    text = " ".join(render_text(audits["fresh"].record).split())
    assert "NOT DECIDED: No attack is shown to exceed your threshold" in text
    assert "cannot show the opposite" in text
    assert "Would have been shown from" in text
    html = render_html(audits["copied"].record)
    assert "Groups" in html
    assert len(html.encode()) < 300 * 1024
    assert "there is no control" in render_text(audits["alone"].record)


def test_groups_with_a_control_are_sampled(audits):
    page = page_of(audits["copied"].record)
    (groups,) = [s for s in page.sections if s.title == "Groups"]
    [table] = [block for block in groups.blocks if hasattr(block, "grades")]
    assert set(table.grades) == {"sampled"}


def test_whoever_surely_loses_most_is_named_and_nobody_is_called_safe(audits):
    def first(name):
        return page_of(audits[name].record, internal=True).first

    groups = audits["copied"].record.result.groups
    assert max(group.low for group in groups) > 0.5
    assert first("copied").hardest == NO_GROUP  # each is copied
    assert first("fresh").hardest in (NO_GROUP, NO_GROUPS)
    assert "No copied people are shown" in first("alone").answer
    assert "By coincidence" in first("alone").sentences[0][0]
    assert first("alone").hardest.startswith("Only a comparison group")
    assert first("more").answer == (
        "8 people of the data appear in the file, where coincidence explains about 2, and surely "
        "no more than 24: a control would decide."
    )


def test_rows_are_the_numbers_of_the_frame():
    audit = narcissus.load_audit(KEPT)
    frame = audit.to_frame()
    everybody = frame[frame["group"] == ""].set_index(["quantity", "name"])
    for risk in risks_of(audit):
        row = everybody.loc["risk", risk.name]
        people = risk.everybody
        assert (row["value"], row["baseline"]) == (people.real.value, people.control.value)
        row = everybody.loc["excess", risk.name]
        assert (row["low"], row["high"]) == (people.low, people.high)
        assert row["confidence"] == pytest.approx(1 - 0.05 / audit.record.result.claims)
    guess = risks_of(audit)[0].guess
    assert everybody.loc["guess", "inference of ESR"]["value"] == guess.real.value
    assert everybody.loc["taught", "inference of ESR"]["value"] == guess.taught.value
    groups = frame[(frame["group"] != "") & (frame["quantity"] == "excess")]
    assert len(groups) == len(audit.record.result.groups)
    assert set(frame["grade"]) == {"counted", "sampled"}
    assert "synthetic: exceeded, sampled" in repr(audit)
    assert "of 100 people who are unique in the data and the control without 3, with 13" in repr(
        audit
    )


def test_the_command_takes_a_unit_that_the_file_lacks(narcissus, tmp_path, monkeypatch):
    """The unit is no column: neither proposed nor left out; people are counted, not rows."""
    monkeypatch.chdir(tmp_path)
    for at, (name, table) in enumerate(FILES.items()):
        table.assign(house=1000 * at + np.arange(len(table)) // 2).to_csv(
            f"{name}.csv", index=False
        )
    FILES["fresh"].to_csv("fresh.csv", index=False)
    words = ["--control", "control.csv", "--unknown", "ill", "--known", "age", "--unit", "house"]
    code, out, err = narcissus("synth", "real.csv", "fresh.csv", *words, "--out", "o", "--json")
    found = json.loads(out)["result"]
    assert code == 3, err
    assert found["files"]["real_people"] == found["measures"]["real"]["people"] == 80
    assert found["measures"]["real"]["rows"] == 160
    assert found["measures"]["synthetic"]["people"] == 140
    assert found["measures"]["real"]["known"] == ["age"]
