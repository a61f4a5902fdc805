"""The kind "membership": played from files, judged by rates and by what is refuted."""

import json

import numpy as np
import pytest

from narcissus import load_audit
from narcissus.guarantees import ApproximateDP
from narcissus.guarantees.base import DECLARED
from narcissus.membership import audit_membership, shadow_scores
from narcissus.report import render_text
from narcissus.study.reading import read_record

LOUD, QUIET = 4.0, 0.0


@pytest.fixture
def played(narcissus, tmp_path, monkeypatch):
    """Play a study of made-up shadow models, and return exit code and record."""
    monkeypatch.chdir(tmp_path)

    def play(text="", shift=LOUD, models=32, records=60, threat='attacks = ["lira"]', seed=0):
        rng = np.random.default_rng(seed)
        members = rng.random((models, records)) < 0.5
        scores = rng.normal(size=members.shape) + shift * members
        np.savez("scores.npz", scores=scores, members=members)
        (tmp_path / "study.toml").write_text(
            f'kind = "membership"\n[data]\nscores = "scores.npz"\n[threat]\n{threat}\n{text}\n'
            "[run]\nseed = 1\n"
        )
        code, out, err = narcissus(
            "audit", "study.toml", "--json", "--quiet", "--out", "out", "--restart"
        )
        return code, (json.loads(out) if out else err)

    return play


def test_what_is_refuted_is_what_the_audit_refutes(played, tmp_path, rows_of):
    code, record = played()
    assert (code, record["status"]) == (0, "no threshold")
    [refuted] = rows_of(record, "refuted epsilon")
    with np.load(tmp_path / "scores.npz") as given:
        data = shadow_scores(given["scores"], given["members"])
    confidence = refuted["quantity"]["confidence"]
    assert confidence == pytest.approx(1 - 0.05 / 3)
    found = [
        audit_membership(data, confidence=confidence, rng=seed).epsilon for seed in range(5)
    ]  # only which canaries are counted differs
    assert 0.5 * min(found) < refuted["quantity"]["value"] < 2 * max(found)
    assert len(rows_of(record, "members told")) == 3
    about = rows_of(record, "members told, about")
    assert [row["at"]["fpr"] for row in about] == [1e-5, 1e-4, 1e-3, 1e-2, 0.1]
    assert [row["quantity"]["value"] is None for row in about] == [True] * 4 + [False]
    assert "cannot be seen with" in about[0]["quantity"]["why"]
    (curve,) = [attack["curve"] for attack in record["result"]["attacks"]]
    assert curve["fpr"] == sorted(curve["fpr"])
    assert all(a <= b <= c for a, b, c in zip(curve["low"], curve["tpr"], curve["high"],
                                              strict=True))  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "shift", "status", "code"),
    [
        ("epsilon = 1", LOUD, "exceeded", 1),
        ("epsilon = 1", QUIET, "inconclusive", 3),
        ("tpr = 0.2", QUIET, "inconclusive", 3),
        ("tpr = 0.05\nepsilon = 1", LOUD, "exceeded", 1),
    ],
)
def test_it_is_exceeded_by_what_is_refuted_and_never_met_by_what_is_not(
    played, threshold, shift, status, code
):
    exit_code, record = played(f"[threshold]\n{threshold}", shift)
    assert (record["status"], exit_code) == (status, code)


def test_a_rate_over_many_models_is_exceeded(played, rows_of):
    """With 300 targets few false positives are shown; that decides, and no approximate limit."""
    threat = 'attacks = ["score"]\ntargets = 300\nfpr = [0.6]'
    code, record = played("[threshold]\ntpr = 0.7", models=400, records=40, threat=threat)
    over = next(row for row in rows_of(record, "members told") if "over models" in row["name"])
    assert (code, record["status"], record["grade"]) == (1, "exceeded", "sampled")
    assert over["quantity"]["low"] > 0.7
    assert over["quantity"]["low"] <= over["quantity"]["value"]


def test_what_is_declared_limits_everybody_unless_it_is_refuted(played, rows_of):
    kept = "[guarantee]\nepsilon = 0.5\ndelta = 0.001\n[threshold]\ntpr = 0.02\nat = 0.01"
    code, record = played(kept, QUIET)
    most = float(ApproximateDP(0.5, 0.001).power(0.01))
    assert [row["quantity"]["value"] for row in rows_of(record, "bound")][1] == pytest.approx(most)
    assert (code, record["status"], record["grade"]) == (0, "met", "proved if")
    assert record["assumptions"] == [
        "the training keeps approximate DP with epsilon 0.5 and delta 0.001 "
        "(add-remove neighbours)",
        *DECLARED,
    ]
    code, record = played(kept, LOUD)
    assert (code, record["status"]) == (3, "contradicted")
    assert "declared is epsilon 0.5 at delta 0.001; lira refutes" in record["contradictions"][0]
    _, record = played("[guarantee]\nmu = 0.1\n", LOUD)
    assert "declared is mu 0.1; lira refutes every mu below" in record["contradictions"][0]


def test_an_attack_in_folds_has_no_rates_that_decide(played, verdict_in):
    threat = 'attacks = ["lira"]\nfolds = 4'
    code, record = played("[threshold]\ntpr = 0.05", threat=threat)
    assert (code, record["status"]) == (3, "not assessed")
    assert "attack several held-out models" in verdict_in(record)
    assert "what is reached is not assessed: cannot be seen with" in verdict_in(record)
    assert "{" not in verdict_in(record)


def test_several_attacks_share_the_error(played, rows_of):
    _, record = played(
        "[threshold]\nepsilon = 1", threat='attacks = ["lira", "lira-fixed", "score"]'
    )
    levels = [row["quantity"]["confidence"] for row in rows_of(record, "refuted epsilon")]
    assert levels == pytest.approx([1 - 0.05 / 9] * 3)
    best = max(row["quantity"]["value"] for row in rows_of(record, "refuted epsilon"))
    [measured] = rows_of(record, "epsilon")
    assert measured["quantity"]["low"] == best


def test_report_frame_and_statement(played, narcissus, tmp_path):
    played("[guarantee]\nepsilon = 8\n[threshold]\nepsilon = 1")
    page = render_text(read_record(tmp_path / "out"))
    assert "The attack lira refutes every ε below" in page
    assert "What is refuted\n" in page
    frame = load_audit(tmp_path / "out").to_frame()
    assert set(frame["quantity"]) >= {"members told", "refuted epsilon", "bound", "guess"}
    assert narcissus("report", "out", "--statement")[0] == 0
    stated = (tmp_path / "out" / "statement.md").read_text(encoding="utf-8")
    assert "Membership told by shadow models" in stated


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[threshold]\ntpr = 0.1\nat = 0.2", "`threshold.at` is 0.2, which is none of"),
        ("[threshold]\nreason = 'r'", "give `tpr`, `epsilon` or both"),
        ("[guarantee]\ndelta = 0.1", "give `epsilon` (and `delta`) or `mu`"),
        ("policy = 'x.toml'\n[threshold]\ntpr = 0.1", "policy"),
    ],
)
def test_what_does_not_fit_is_refused(played, text, said):
    code, err = played(text)
    assert code == 2
    assert said in err


@pytest.mark.parametrize("threat", ['attacks = ["lira", "lira"]', "fpr = [0.1, 0.1]"])
def test_nothing_is_named_twice(played, threat):
    code, err = played(threat=threat)
    assert code == 2
    assert "names one twice" in err


@pytest.mark.coverage_claim
def test_models_that_tell_nothing_are_rarely_exceeded(played):
    """Level .95: of 30 nulls, 8 or more are exceeded with chance 1e-4 at most."""
    found = [
        played("[threshold]\nepsilon = 0", QUIET, models=12, records=40, seed=seed)[1]["status"]
        for seed in range(30)
    ]
    assert found.count("exceeded") < 8


@pytest.mark.coverage_claim
def test_rates_of_models_that_tell_nothing_are_rarely_exceeded(played):
    """The truth lies on the limit: exceeded with chance .025 at most, of 20 in 6 with 4e-6."""
    threat = 'attacks = ["score"]\ntargets = 60\nfpr = [0.6]'
    found = [
        played("[threshold]\ntpr = 0.6", QUIET, 80, 30, threat, seed)[1]["status"]
        for seed in range(20)
    ]
    assert found.count("exceeded") < 6


@pytest.mark.parametrize(
    ("points", "void"),
    [(lambda inside, g: g.normal(size=(60, 3)) + 4 * inside[24][:, None], True),
     (lambda inside, g: g.normal(size=(60, 3)), False)],
)  # fmt: skip
def test_members_of_another_source_void_the_study(
    played, tmp_path, narcissus, points, void, rows_of, verdict_in
):
    """The same scores refute what is declared; points that tell members apart void all of it."""
    rest = (
        "[guarantee]\nepsilon = 0.5\n[threshold]\nepsilon = 1\n[data]\nscores = 'scores.npz'\n"
        "points = 'points.npy'\n[threat]\nattacks = ['lira']\nbase_rate = 0.1\n[run]\nseed = 1"
    )
    played()
    with np.load("scores.npz") as given:
        np.save("points.npy", points(given["members"], np.random.default_rng(1)))
    (tmp_path / "void.toml").write_text(f'kind = "membership"\n{rest}\n')
    code, out, _ = narcissus("audit", "void.toml", "--json", "--quiet", "--out", "void")
    record = json.loads(out)
    [refuted] = rows_of(record, "refuted epsilon")
    assert refuted["quantity"]["value"] > 1
    assert len(rows_of(record, "precision")) == 5
    assert len(record["result"]["blind"]) == 1
    if not void:
        assert (code, record["status"]) == (1, "exceeded")  # what was seen comes first
        assert "declared is epsilon 0.5" in record["contradictions"][0]
        assert refuted["quantity"]["confidence"] == pytest.approx(1 - 0.05 / 4)
        return
    assert (code, record["status"], record["grade"]) == (3, "not assessed", "not assessed")
    assert verdict_in(record).startswith("Not assessed: The comparison is void: members differ")
    assert "A classifier that never saw the model" in verdict_in(record)
    assert record.get("contradictions", []) == []
    for row in rows_of(record):
        if row["role"] in ("attack", "refuted", "measure"):
            assert row["quantity"]["grade"] == "not assessed"
            assert "low" not in row["quantity"]
    text = render_text(read_record(tmp_path / "void"))
    assert text.index("The comparison is void") < text.index("What is refuted\n")
    assert "exceeded" not in text.partition("What was assessed")[0].lower()


@pytest.mark.parametrize("threshold", ["", "[threshold]\nepsilon = 1", "[threshold]\ntpr = 0.9"])
@pytest.mark.parametrize("guarantee", ["", "[guarantee]\nepsilon = 0.5"])
@pytest.mark.parametrize("differ", ["outsiders", "members", "both"])
def test_outsiders_of_another_source_void_rates_and_spare_what_is_refuted(
    tmp_path, narcissus, monkeypatch, differ, guarantee, threshold, rows_of, verdict_in
):
    """A refutation compares records with a coin: it is void where coins did not divide these."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    priors = np.r_[np.full(80, 0.5), np.zeros(80)]
    members = rng.random((8, 160)) < priors
    np.savez("scores.npz", scores=rng.normal(size=members.shape) + LOUD * members,
             members=members, priors=priors)  # fmt: skip
    apart = 4.0 * (priors == 0) if differ != "members" else np.zeros(160)
    if differ != "outsiders":
        apart += 8.0 * np.where(priors == 0, rng.binomial(2, 0.5, 160), members[6:].sum(axis=0))
    np.save("points.npy", rng.normal(size=(160, 3)) + apart[:, None])
    (tmp_path / "study.toml").write_text(
        "kind = 'membership'\n[data]\nscores = 'scores.npz'\npoints = 'points.npy'\n[threat]\n"
        f"attacks = ['score']\ntargets = 2\n[run]\nseed = 1\n{guarantee}\n{threshold}\n"
    )
    code, out, err = narcissus("audit", "study.toml", "--json", "--quiet", "--out", "out")
    assert code < 4, err
    record = json.loads(out)
    told = [one["compared"] for one in record["result"]["blind"] if one["p_value"] <= one["level"]]
    assert told == {
        "outsiders": ["records with a coin and outsiders"], "members": ["members and non-members"],
        "both": ["members and non-members", "records with a coin and outsiders"],
    }[differ]  # fmt: skip
    stands = differ == "outsiders"
    for row in rows_of(record):
        if row["role"] == "attack":
            assert row["quantity"]["grade"] == "not assessed"
        if row["role"] in ("refuted", "measure"):
            assert row["quantity"]["grade"] == ("sampled" if stands else "not assessed")
            assert row["quantity"]["value"] > 1.5
    status = "not assessed"
    if stands and (guarantee or "epsilon" in threshold):
        status = "exceeded" if "epsilon" in threshold else "contradicted"  # seen comes first
    assert (record["status"], code) == (status, 1 if status == "exceeded" else 3), err
    assert record["grade"] == ("not assessed" if status == "not assessed" else "sampled")
    assert bool(record.get("contradictions")) == bool(stands and guarantee)
    page = render_text(read_record(tmp_path / "out"))
    assert ("What is refuted stands" in verdict_in(record)) == stands
    assert ("rests on coins alone" in page) == stands
    assert ("The guarantee that was declared is refuted." in page) == (status == "contradicted")
    named = "score refutes every ε below" in verdict_in(record)
    assert named == stands
