"""Studies of a given file: the shipped examples, policies, digests, what is refused."""

import json
from pathlib import Path

import pandas as pd
import pytest

import narcissus
from narcissus.errors import InputError, LongWorkError
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_copies_are_shown_in_the_example_and_nothing_in_the_other():
    copied = narcissus.run(narcissus.load_study(EXAMPLES / "given_copied.toml"))
    assert (copied.status, copied.record.grade) == ("exceeded", "sampled")
    risks = {risk.risk: risk for risk in copied.record.results.risks}
    assert risks["singling out"].verdict == risks["linkability"].verdict == "exceeded"
    assert risks["singling out"].real.share > 0.1
    fresh = narcissus.run(narcissus.load_study(EXAMPLES / "given_fresh.toml"))
    assert (fresh.status, fresh.record.grade) == ("not shown", "sampled")
    assert all(risk.excess.low < 0 < risk.excess.high for risk in fresh.record.results.risks)
    assert all(risk.excess.value < 0.05 for risk in fresh.record.results.risks)


def test_the_digest_of_a_file_is_that_of_its_cells(play, files, tmp_path):
    path = tmp_path / "fresh.csv"
    files["fresh"].to_csv(path, index=False)

    def digests(synthetic):
        data = {"real": files["real"], "synthetic": synthetic, "control": files["control"]}
        study = {"kind": "synthetic", "data": data, "threat": {"unknown": ["ill"]}}
        loaded = narcissus.load_study(study)
        return narcissus.run(loaded, rng=1, folder=tmp_path).record.provenance.digests

    one = digests(files["fresh"])
    assert {"study", "real", "synthetic", "control"} == set(one)
    assert len({one["real"], one["synthetic"], one["control"]}) == 3
    assert digests(path)["synthetic"] == one["synthetic"]
    again = narcissus.audit_synthetic(
        files["real"], path, control=files["control"], unknown=["ill"], rng=1
    )
    assert again.results == play("fresh").results


def test_a_policy_takes_the_place_of_a_threshold(play, files, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[threshold]\nat_most = 0.99\nreason = 'x'\n", encoding="utf-8")
    found = play(policy=policy)
    assert found.status == "not shown"
    assert {risk.at_most for risk in found.record.results.risks} == {0.99}
    assert "policy" in found.record.provenance.digests
    study = narcissus.load_study({
        "kind": "synthetic", "threshold": {"at_most": 0.1}, "threat": {"unknown": ["ill"]},
        "data": {"real": files["real"], "synthetic": files["fresh"], "control": files["control"]},
    })  # fmt: skip
    with pytest.raises(InputError, match="keep one"):
        narcissus.run(study, policy=policy, rng=1)
    policy.write_text("[threshold]\nworst_group = 0.1\n", encoding="utf-8")
    with pytest.raises(InputError, match="name their columns"):
        play(policy=policy)


def test_columns_are_checked_before_any_work(files):
    data = {"real": files["real"], "synthetic": files["fresh"], "control": files["control"]}
    for study, said in (
        ({"threat": {"unknown": ["il"]}}, "`il`"),
        ({"groups": {"columns": ["jb"]}}, "`jb`"),
        ({"threat": {"unknown": ["ill"], "linked": [["age"], ["age"]]}}, "share none"),
        ({"data": data | {"synthetic": files["fresh"].drop(columns="job")}}, "lacks `job`"),
    ):
        whole = {"kind": "synthetic", "data": data, "threat": {"unknown": ["ill"]}, **study}
        with pytest.raises(InputError, match=said):
            narcissus.load_study(whole)


def test_work_that_is_too_long_is_refused_before_it_starts(play):
    with pytest.raises(LongWorkError, match="310 people held against 140 rows"):
        play("fresh", hours=1e-9)


def test_a_record_is_read_again_and_a_changed_one_refused(play, tmp_path):
    found = play(groups=["job"])
    path = found.save(tmp_path) / "record.json"
    assert read_record(path) == found.record
    assert found.status == "exceeded"
    changed = json.loads(path.read_text(encoding="utf-8")) | {"status": "not shown"}
    path.write_text(json.dumps(changed | {"digest": digest_of(changed)}), encoding="utf-8")
    with pytest.raises(InputError, match="'not shown', and that of the results 'exceeded'"):
        read_record(path)


def test_a_column_of_almost_only_numbers_is_named(files):
    odd = {name: frame.assign(town=frame["town"].astype(str)) for name, frame in files.items()}
    for frame in odd.values():
        frame.loc[0, "town"] = "none"
    found = narcissus.audit_synthetic(
        odd["real"], odd["fresh"], control=odd["control"], unknown=["ill"], rng=1
    )
    assert "distances in the column town" in [r.quantity for r in found.record.not_assessed]


def test_statsmodels_tables_can_be_audited():
    pytest.importorskip("statsmodels", reason="the extra `examples` is not installed")
    frame = pd.DataFrame(narcissus.load_study({
        "kind": "synthetic", "threat": {"unknown": ["affairs"]},
        "data": {"real": "statsmodels:fair", "synthetic": "statsmodels:fair",
                 "bins": {"affairs": {"above": 0}}},
    }).to_dict()["data"]["bins"])  # fmt: skip
    assert frame.loc["above", "affairs"] == 0
