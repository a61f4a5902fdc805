"""A table audit as a whole: every kind of study, users' own classes, policies."""

import csv
import json
import re
from pathlib import Path

import cloudpickle
import numpy as np
import pandas as pd
import pytest

import narcissus
import narcissus as library
import narcissus as package
from narcissus.attacks.table import ceiling as eliminated
from narcissus.attacks.table import factored as exact_columns
from narcissus.errors import InputError, NarcissusError
from narcissus.game import executor
from narcissus.game.executor import Serial
from narcissus.kinds.table import experiment as experiments
from narcissus.kinds.table.found import OwnRelease
from narcissus.kinds.table.kind import KIND, assessed, not_assessed, prepare
from narcissus.kinds.table.layout import NOT_COVERED
from narcissus.priors import best_guess
from narcissus.report import render_text
from narcissus.report.about import verdict_of
from narcissus.study.reading import read_record


def play(path, **options):
    return narcissus.run(narcissus.load_study(path, allow_code=True), **options)


def settings_of(record):
    """Judge the settings of a record, or of one that lies in a folder."""
    return KIND.judged(read_record(record) if isinstance(record, str) else record).each


def check_attack(found):
    assert 0 <= found.low <= found.share <= found.high <= 1
    assert 0 <= found.baseline <= 1
    counts = found.distribution
    assert counts is None or sum(counts.trials) == found.trials


def check_bounds(one):
    for bound in one.result.bounds:
        assert bound.grade in ("proved", "proved if", "not assessed")
        assert bound.theorem
        assert bound.is_share or 0 < bound.confidence < 1


VARIANTS = {
    "one level": {},
    "no attack but the ceiling": {"attacks": {"ceiling": {}}},
    "no ceiling": {"attacks": {"prior": {}, "posterior": {}}},
    "one trial of one person": {"run": {"trials": 1}, "threat": {"targets": 1}},
    "a sweep": {"mechanism": {"epsilon": [0.5, 3, "=inf"]}},
    "by mu": {"mechanism": {"epsilon": None, "mu": [0.001, 1, "=inf"]}},
    "by scale": {"mechanism": {"epsilon": None, "scale": [0, 2.5, 40]}},
    "laplace": {"mechanism": {"noise": "laplace", "epsilon": [1, 8]}},
    "laplace by scale": {"mechanism": {"noise": "laplace", "epsilon": None, "scale": 4}},
    "real rows": {"threat": {"people": "rows"}},
    "all columns unknown": {
        "threat": {"unknown": ["sex", "age", "job", "town", "ill"]}, "data": {"drop": ["income"]},
    },
    "known": {"threat": {"unknown": None, "known": ["sex", "age", "job", "town", "income"]}},
    "several, at least": {
        "threat": {"unknown": ["ill", "age", "town"], "within": {"age": 1}, "at_least": 2}
    },
    "share of columns, real rows": {
        "threat": {
            "unknown": ["ill", "age", "town"], "within": {"age": 1}, "share_of_columns": True,
            "people": "rows",
        },
        "mechanism": {"epsilon": [1, 8]}, "groups": {"columns": ["sex"]},
    },
    "within, in the column's own numbers": {
        "threat": {"unknown": ["income"], "within": {"income": 10}}
    },
    "gibbs, rap, groups": {
        "attacks": {
            "g": {"name": "gibbs", "sweeps": 16},
            "rap": {"steps": 10, "trials": 2}, "ceiling": {},
        },
        "groups": {"columns": ["sex"]},
    },
    "independent": {"prior": {"name": "independent"}},
    "empirical": {"prior": {"name": "empirical"}},
    "k is all columns": {"mechanism": {"k": 6}},
    "k is one": {"mechanism": {"k": 1}},
    "huge epsilon, tiny delta": {"mechanism": {"epsilon": [1e-3, 500], "delta": 1e-12}},
}  # fmt: skip


@pytest.mark.parametrize("case", VARIANTS, ids=list(VARIANTS))
@pytest.mark.one_in(3)
def test_every_kind_of_study_gives_a_valid_record(study, narcissus, fit, case):
    changes = {"run": {"trials": 3}, **VARIANTS[case]}
    path = study(**changes)
    code, out, err = narcissus("audit", path, "--json", "--quiet")
    assert (code, err) == (0, ""), err
    record = json.loads(out)
    _, schema, _ = narcissus("report", "--schema", "table")
    fit(record, json.loads(schema))
    level = next(
        changes.get("mechanism", {}).get(n) for n in ("scale", "mu", "epsilon")
        if n == "epsilon" or changes.get("mechanism", {}).get(n) is not None
    )  # fmt: skip
    found = settings_of("results/s")
    assert len(found) == (len(level) if isinstance(level, list) else 1)
    assert len(record["criteria"]) == len(found)
    asked = {"prior", "posterior", "ceiling"} if "attacks" not in changes else {*changes["attacks"]}
    for one in found:
        assert {*one.result.attacks} == asked - {"ceiling"}
        assert (one.result.ceiling is not None) == ("ceiling" in asked)
        for attack in [*one.result.attacks.values(), *filter(None, [one.result.ceiling])]:
            check_attack(attack)
        check_bounds(one)
        assert 0 <= one.result.guess.low <= one.result.guess.share <= one.result.guess.high
        if "prior" in one.result.attacks and case == "one trial of one person":
            # Without the release, the best guess is the prior attack's own baseline.
            assert one.result.guess.share == pytest.approx(one.result.attacks["prior"].baseline)
    if isinstance(level, list) and case != "by mu":
        noises = [one.result.noise.scale for one in found]
        assert len(set(noises)) == len(noises)
    code, _, err = narcissus("report", Path("results/s/record.json"), "--text")
    assert code == 0, err


def test_the_api_is_the_same_path(study):
    path = study()
    audit = play(path)
    assert settings_of(audit.record)[0].result.attacks["posterior"].share >= 0
    assert json.loads(audit.record.to_json())["digest"] == audit.record.digest
    assert audit.save("out") == Path("out")
    assert narcissus.load_audit("out/record.json").record.digest == audit.record.digest
    assert {"guess", "attack", "bound"} <= set(audit.to_frame()["quantity"])
    swept = play(study(mechanism={"epsilon": [1, 2]})).to_frame()
    assert set(swept["epsilon"]) == {1, 2}


def test_a_guess_between_the_values_is_made_scored_and_bounded(study):
    """Values 0 and 2, within 1: whoever says 1 is right, with and without the release."""
    path = study(
        threat={"unknown": ["ill"], "within": {"ill": 1}},
        attacks={"prior": {}, "posterior": {}, "rap": {"steps": 5}, "ceiling": {}},
    )
    Path("people.csv").write_text(
        Path("people.csv").read_text().replace("yes", "2").replace("no,", "0,")
    )
    [one] = settings_of(play(path, internal="guesses.csv").record)
    assert one.result.guess.share == pytest.approx(1, abs=1e-12)
    assert one.result.ceiling.share == pytest.approx(1, abs=1e-12)
    for name in ("prior", "posterior"):
        assert one.result.attacks[name].share == pytest.approx(1, abs=1e-12)
        assert one.result.attacks[name].baseline == pytest.approx(1, abs=1e-12)
    assert one.result.attacks["rap"].share < 1  # it says listed values only
    for bound in one.result.bounds:
        assert bound.at_most == (1 if bound.is_share else 15)
    with Path("guesses.csv").open() as file:
        said = {(r["attack"], r["true_ill"], r["guess_ill"]) for r in csv.DictReader(file)}
    assert {g for a, _, g in said if a != "rap"} == {"1 (between 0 and 2)"}
    assert {t for _, t, _ in said} == {g for a, _, g in said if a == "rap"} == {"0", "2"}


BAD_ATTACK = """
class Rarest:
    title, uses, informed = "the least likely value for everybody", "prior", False
    def guess(self, view, *, rng):
        return view.targets.prior.argmin(axis=1)
"""


def test_a_bad_attack_limits_nobody_else(study):
    """A bound must hold for every attacker: it cannot depend on which attacks were tried."""
    Path("mine.py").write_text(BAD_ATTACK)
    [alone], [with_all] = (
        settings_of(play(path).record)
        for path in (study(attacks={"rarest": {"name": "mine:Rarest"}}), study())
    )
    assert alone.result.bounds == with_all.result.bounds
    best = max(bound.at_most for bound in alone.result.bounds if not bound.is_share)
    tops = with_all.result.attacks["prior"].distribution.targets
    assert best >= np.median(tops)


OWN = '''
import numpy as np

class Own:
    """Answers what the options say."""
    uses, informed = "prior and release", False
    def __init__(self, answer="posterior", factor=1):
        self.title, self.answer = f"own ({answer})", answer
    def guess(self, view, *, rng):
        n = view.targets.people
        if self.answer == "posterior":
            assert not hasattr(view, "secrets")
            from narcissus.attacks.table import MeanField
            return MeanField().guess(view, rng=rng)
        return {
            "raise": lambda: 1 // 0,
            "none": lambda: None,
            "short": lambda: np.zeros(n - 1, dtype=int),
            "float": lambda: np.zeros(n),
            "big": lambda: np.full(n, 2),
            "negative": lambda: np.full(n, -1),
            "unsigned": lambda: np.ones(n, dtype=np.uint8),
            "list": lambda: [0] * n,
            "vandal": lambda: view.targets.prior.fill(0.5),
            "vandal2": lambda: view.release.fill(0.0),
        }[self.answer]()
'''
PRIOR = """
class Prior:
    def __init__(self, table):
        from narcissus.priors import fit_independent
        self.inner = fit_independent(table)
        self.names, self.sizes = self.inner.names, self.inner.sizes
    def sample(self, n, *, rng=None):
        return self.inner.sample(n, rng=rng)
    def conditional(self, codes, unknown):
        return self.inner.conditional(codes, unknown)
    def log_probability(self, codes):
        return self.inner.log_probability(codes)
    def describe(self):
        return "independent, by hand"
"""


def own(study, answer, **changes):
    Path("own.py").write_text(OWN)
    spec = {"name": "own:Own", "answer": answer}
    return study(attacks={"posterior": {}, "own": spec, "ceiling": {}}, **changes)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_attack_of_ones_own(study, workers):
    audit = play(own(study, "posterior"), workers=workers)
    attacks = settings_of(audit.record)[0].result.attacks
    assert attacks["own"].share == attacks["posterior"].share
    assert attacks["own"].title == "own (posterior)"


@pytest.mark.parametrize("answer", ["unsigned", "list"])
def test_integers_of_any_kind_are_guesses(study, answer):
    assert settings_of(play(own(study, answer)).record)[0].result.attacks["own"].trials == 6


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("raise", ["attack `own` failed: ZeroDivisionError", "own.py, line"]),
        ("none", ["attack `own` must give 15 guesses"]),
        ("short", ["attack `own`", "(14,)"]),
        ("float", ["attack `own`", "float64"]),
        ("big", ["attack `own`", "[0, 2)"]),
        ("negative", ["attack `own`", "[0, 2)"]),
        ("vandal", ["attack `own` failed", "read-only"]),
        ("vandal2", ["attack `own` failed", "read-only"]),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.one_in(3)
def test_an_attack_that_fails_is_named(study, narcissus, answer, says, workers):
    if workers == 2 and answer not in {"raise", "big"}:
        pytest.skip("one of each kind is enough in processes")
    code, out, err = narcissus(
        "audit", own(study, answer), "--allow-code", "--quiet", "--workers", workers
    )
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    for words in says:
        assert words in err
    assert not Path("results/s/record.json").exists()


def test_a_prior_of_ones_own(study):
    Path("own.py").write_text(PRIOR)
    mine, ours = (
        play(path).record.result.settings[0].attacks
        for path in (study(prior={"name": "own:Prior"}), study(prior={"name": "independent"}))
    )
    counts, expected = (
        {name: attack.distribution for name, attack in attacks.items()} for attacks in (mine, ours)
    )
    assert counts == expected
    assert None not in expected.values()


def test_policy_takes_the_place_of_a_threshold(study, narcissus):
    Path("policy.toml").write_text('[threshold]\nshare = 0.01\nreason = "r"\norigin = "o"\n')
    code, out, _ = narcissus("audit", study(), "--policy", "policy.toml", "--json", "--quiet")
    record = json.loads(out)
    assert code == 1
    assert record["status"] == "exceeded"
    assert record["provenance"]["digests"]["policy"].startswith("sha256:")
    same = play(study(policy="policy.toml"))
    assert same.status == "exceeded"
    assert same.record.provenance.digests["policy"] == record["provenance"]["digests"]["policy"]


@pytest.mark.parametrize(
    ("threshold", "code"),
    [({"share": 1.0}, 0), ({"targets": 15}, 0), ({"advantage": 1.0}, 0), ({"share": 0.05}, 1),
     ({"targets": 0}, 1)],
)  # fmt: skip
def test_thresholds_decide_the_exit_code(study, narcissus, threshold, code):
    path = study(threshold=threshold, run={"trials": 30})
    assert narcissus("audit", path, "--quiet")[0] == code


def test_errors_of_the_api_are_ours(study):
    with pytest.raises(InputError):
        narcissus.load_study("absent.toml")
    with pytest.raises(NarcissusError):
        narcissus.run(narcissus.load_study(study()), rng=-1)


SHARE = {"unknown": ["ill", "job", "age"], "share_of_columns": True, "targets": 12}


def test_shares_of_columns_are_scored_bounded_and_judged(study, monkeypatch):
    """With and without a list of joint values: the same people, guesses and bounds."""
    threshold = {"share": 0.9, "reason": "r", "origin": "o"}
    path = study(threat=SHARE, threshold=threshold, mechanism={"epsilon": [1, "=inf"]})
    settings = []
    for most in (100_000, 5):
        monkeypatch.setattr(experiments, "MAX_JOINT", most)
        record = play(path).record
        settings.append(settings_of(record))
        _check_shares(record, *settings[-1])
    (listed, _), (factored, _) = settings
    assert factored.result.guess.share == pytest.approx(listed.result.guess.share, abs=1e-9)
    assert factored.result.share_bound.at_most == pytest.approx(listed.result.share_bound.at_most)


def _check_shares(record, noisy, bare):
    assert noisy.result.share_of_columns
    columns = [one.share for one in noisy.result.attacks["prior"].columns.values()]
    assert len(columns) == 3
    [proved] = [one for one in noisy.result.bounds if one.counts]
    assert proved.id == "column-shares"
    assert noisy.result.guess.share < proved.at_most < 1
    assert not any(not one.is_share for s in (noisy, bare) for one in s.result.bounds)
    assert all(one.distribution is None for one in bare.result.attacks.values())
    assert bare.result.attacks["posterior"].share > noisy.result.attacks["posterior"].share + 0.1
    assert " of 100 answers right." in verdict_of(record)
    assert {"bound", "attack"} <= {one.role for one in noisy.result.excesses}
    reasons = {one.quantity for one in record.not_assessed}
    assert "how many of the targets are recovered in one release" in reasons
    assert not any("the best guess" in one for one in reasons)


def test_what_shares_of_columns_cannot_go_with_is_refused(study):
    with pytest.raises(InputError, match="`at_least` or `share_of_columns`, not both"):
        narcissus.load_study(study(threat=SHARE | {"at_least": 2}))
    counted = {"targets": 3, "reason": "r", "origin": "o"}
    with pytest.raises(InputError, match=r"`threshold.targets` counts people"):
        play(study(threat=SHARE, threshold=counted))


def test_a_share_of_one_column_is_that_column(study):
    found = [
        play(study(threat={"unknown": ["ill"]} | more)).record.rows
        for more in ({}, {"share_of_columns": True})
    ]
    assert found[0] == found[1]


def test_an_exact_ceiling_without_a_list_keeps_attackers_below_it(study, monkeypatch):
    """As with a list; where that is too much work an estimate is left, and limits nobody."""
    threat = {"unknown": ["ill", "job", "age"], "targets": 15}
    threshold = {"share": 0.99, "reason": "r", "origin": "o"}
    attacks = {"prior": {}, "ceiling": {}}
    path = study(threat=threat, threshold=threshold, attacks=attacks, run={"trials": 8})
    found = []
    for most, work in ((100_000, 10**6), (5, 10**6), (5, 10)):
        monkeypatch.setattr(experiments, "MAX_JOINT", most)
        monkeypatch.setattr(eliminated, "WORK", work)
        record = play(path).record
        [setting] = settings_of(record)
        assert any(one.quantity == "the exact ceiling" for one in record.not_assessed) == (
            work == 10
        )
        [excess] = [one for one in setting.result.excesses if one.role == "ceiling"]
        assert (excess.quantity.grade, excess.high is None) == (
            ("approximate", True) if work == 10 else ("sampled", False)
        )
        found.append(setting.result.ceiling)
    listed, exact, estimated = found
    assert not exact.is_estimated
    assert estimated.is_estimated
    assert exact.distribution == listed.distribution  # the same decisions on the same releases


@pytest.mark.parametrize("rounds", [0, 50])
def test_the_record_says_whether_the_best_guess_is_proved(study, monkeypatch, narcissus, rounds):
    monkeypatch.setattr(experiments, "MAX_JOINT", 5)
    monkeypatch.setattr(best_guess, "_ROUNDS", rounds)
    path = study(
        threat={"unknown": ["ill", "job", "age", "town"], "at_least": 2, "targets": 12},
        attacks={"prior": {}},
        run={"trials": 2},
    )
    audit = play(path)
    audit.save("found")
    record = audit.record
    [setting] = settings_of(record)
    reasons = [o.reason for o in record.not_assessed if o.quantity.startswith("the best guess")]
    text = " ".join(narcissus("report", "found/record.json", "--text", "--verbose")[1].split())
    assert ("the best guess that we found gets" in text) == (rounds == 0)
    assert ("the best guess gets" in text) == (rounds > 0)
    if rounds:
        assert not reasons
        assert not setting.result.guess.is_best_found
        assert setting.result.guess.at_most is None
    else:
        assert setting.result.guess.is_best_found
        assert setting.result.guess.share < setting.result.guess.at_most < 1
        assert "but none with a larger mean chance than" in reasons[0]
        assert reasons[0] in text


@pytest.fixture
def many(study, monkeypatch):
    """Give a function that plays exact counts of columns whose joint values are not listed."""
    monkeypatch.setattr(experiments, "MAX_JOINT", 5)

    path = study(
        threat={"unknown": ["ill", "job", "age"], "targets": 12},
        mechanism={"k": 3, "epsilon": "=inf"},
        run={"trials": 3},
    )
    return lambda: play(path).record


def test_exact_counts_of_many_columns_say_that_values_agreed_with_them(many):
    outcome = many()
    [setting] = settings_of(outcome)
    found = setting.result.attacks["posterior"]
    assert (found.search.stuck, found.search.residual) == (0, 0.0)
    assert setting.result.attacks["prior"].search is None
    assert found.share > setting.result.guess.share
    assert not any("stuck" in one.reason for one in outcome.not_assessed)
    assert not setting.result.guess.is_best_found
    assert set(setting.result.guess.columns) == {"ill", "job", "age"}


def test_a_search_that_sticks_is_not_assessed_with_its_residual(many, monkeypatch):
    found = exact_columns.reconstruct
    monkeypatch.setattr(
        exact_columns, "reconstruct", lambda steps, weights: (found(steps, weights)[0], 7.0)
    )
    outcome = many()
    [one] = [one for one in outcome.not_assessed if "stuck" in one.reason]
    assert one.quantity == "what exact counts determine at 'no noise', by the attack `posterior`"
    assert "stuck in 3 of 3 releases, at a residual of 7 people" in one.reason


def test_rap_is_played_where_no_joint_values_are_listed(study, monkeypatch):
    """At much noise it is below the guess, and says how that can be."""
    monkeypatch.setattr(experiments, "MAX_JOINT", 5)
    path = study(
        threat={"unknown": ["ill", "job", "age"], "targets": 12},
        mechanism={"epsilon": 0.1},
        attacks={"prior": {}, "rap": {"steps": 30}},
        run={"trials": 8},
    )
    [setting] = settings_of(play(path).record)
    rap = setting.result.attacks["rap"]
    assert set(rap.columns) == {"ill", "job", "age"}
    assert rap.share < rap.below.guess == pytest.approx(setting.result.guess.share)
    assert "rounded by itself" in rap.below.why
    assert setting.result.attacks["prior"].below is None


@pytest.mark.parametrize("listed", [100_000, 1])
def test_exact_counts_give_away_who_is_alone(study, narcissus, counts_of, monkeypatch, listed):
    """Ten people, each alone with what is known: counts by that and the secret tell all."""
    monkeypatch.setattr(experiments, "MAX_JOINT", listed)  # with and without a list of values
    secret = ["y", "n", "n", "y", "n", "n", "n", "y", "n", "n"]
    frame = pd.DataFrame({"a": [*"vwxyz"] * 2, "b": [*"uuuuukkkkk"], "secret": secret})
    frame.to_csv("people.csv", index=False)
    counts_of(frame, ["secret"], 3).to_csv("counts.csv", index=False)
    path = study(
        threat={"unknown": ["secret"], "targets": 5},
        prior={"name": "independent"},
        mechanism={"k": 3, "epsilon": None, "scale": 0},
        release={"path": "counts.csv"},
    )
    code, out, err = narcissus("audit", path, "--json", "--quiet")
    assert code == 0, err
    record = json.loads(out)
    own = record["result"]["own_release"]
    attacks = {one["name"]: one for one in own["attacks"]}
    assert (own["people"], own["guessed"]) == (10, 7)  # the best guess is "n" for everybody
    assert attacks["posterior"]["recovered"] == 10
    assert attacks["posterior"]["from_decoy"] < 10
    assert attacks["prior"] == {"name": "prior", "recovered": 7, "from_decoy": 7}
    assert "ceiling" not in attacks  # nobody could run it
    assert record["provenance"]["digests"]["release"] == own["digest"]
    assert own["digest"].startswith("hmac-sha256:")
    narcissus("report", str(Path("results/s/record.json")))


def test_the_report_tells_it(study, counts_of):
    import narcissus

    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10})
    counts_of(frame, ["b"], 2).to_csv("counts.csv", index=False)
    found = narcissus.audit(
        frame, unknown=["b"], k=2, scale=0.0, release="counts.csv", targets=5, trials=2,
        attacks=["prior", "posterior"], workers=1, rng=1,
    )  # fmt: skip
    from narcissus.report import page_of

    text = render_text(found.record)
    assert "The release itself" in text.replace("THE RELEASE ITSELF", "The release itself")
    assert page_of(found.record).title
    assert "counts.csv" in text


def test_shares_of_columns_are_added_up(study, counts_of):
    """Each is alone with what is known: of two unknown columns one right is worth a half."""
    import narcissus

    people = {"a": [*"vwxyz"] * 2, "b": [*"uuuuukkkkk"], "s": [*"ynnynnnynn"], "t": [*"ppqppqpppp"]}
    frame = pd.DataFrame(people)
    counts_of(frame, ["s", "t"], 3).to_csv("counts.csv", index=False)
    found = narcissus.audit(
        frame, unknown=["s", "t"], share_of_columns=True, k=3, scale=0.0, release="counts.csv",
        prior="independent", targets=5, trials=2, attacks=["prior", "posterior"], workers=1, rng=1,
    )  # fmt: skip
    own = found.record.result.own_release
    attacks = {one.name: one.recovered for one in own.attacks}
    assert own.guessed == (7 + 8) / 2  # "n" and "p" for everybody
    assert attacks["prior"] == own.guessed
    assert attacks["posterior"] > own.guessed
    assert "these are sums of such parts" in " ".join(render_text(found.record).split())


def test_more_than_everybody_is_no_record(study):
    good = dict(path="c", digest="d", people=3, guessed=2, by_the_prior=1.5, attacks=())
    assert OwnRelease(**good).people == 3
    with pytest.raises(ValueError, match="more are recovered"):
        OwnRelease(**{**good, "guessed": 4})


@pytest.mark.parametrize("listed", [100_000, 1])
def test_single_people_are_in_the_side_file_only(study, narcissus, monkeypatch, listed):
    """Rows are marked by a column that only known parts hold; no mark leaves but on request."""
    monkeypatch.setattr(experiments, "MAX_JOINT", listed)  # with and without a list of values
    rows = list(csv.reader(Path("people.csv").read_text().splitlines()))
    with Path("people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "mark"])
        writer.writerows([[*row, f"mark{i % 40}"] for i, row in enumerate(rows[1:])])
    code, out, err = narcissus("audit", study(), "--quiet", "--records", "inside.csv", "--json")
    assert code == 0, err
    for text in (out, Path("results/s/report.html").read_text()):
        assert "mark1" not in text
    longest = max(len(v) for v in lists(json.loads(out)))
    assert longest < 15  # nothing in the record is one number a person
    with Path("inside.csv").open() as file:
        inside = list(csv.DictReader(file))
    assert len(inside) == 6 * 15 * 3
    hits = [int(r["right"]) for r in inside if r["attack"] == "posterior"]
    record = json.loads(out)
    counts = record["result"]["settings"][0]["attacks"]["posterior"]["distribution"]
    assert sum(hits) == np.dot(counts["targets"], counts["trials"])
    for row in inside:
        assert (row["true_ill"] == row["guess_ill"]) == (row["right"] == "1")


class Sent(Serial):
    """Gets a job as bytes, and keeps the keys that it was asked for."""

    def __init__(self):
        self.keys = []

    def play(self, job, keys, observer=None):
        self.keys += keys
        yield from super().play(cloudpickle.loads(cloudpickle.dumps(job)), keys)


def test_who_plays_again_does_not_change_a_row(study, monkeypatch):
    made = package.load_study(study(run={"trials": 3}))
    package.run(made, engine="serial", internal=Path("one.csv"))
    monkeypatch.setattr(executor, "WORTH_SENDING", -1.0)
    others = Sent()
    package.run(made, engine=others, internal=Path("two.csv"))
    assert others.keys[-2:] == ["1/0", "2/0"]
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def lists(value):
    if isinstance(value, dict):
        for v in value.values():
            yield from lists(v)
    elif isinstance(value, list):
        yield [v for v in value if isinstance(v, int | float)]
        for v in value:
            yield from lists(v)


def prepared(path):
    loaded = library.load_study(path)
    return prepare(loaded.settings, Path(loaded.folder), 1)


def test_what_was_assessed_names_columns_and_people(study):
    [first, *_] = assessed(prepared(study()))
    assert "ill" in first


def test_real_rows_are_assessed_as_if_the_prior_were_right(study):
    drawn = [one.quantity for one in not_assessed(prepared(study()))]
    rows = [one.quantity for one in not_assessed(prepared(study(threat={"people": "rows"})))]
    assert set(drawn) != set(rows)


def test_nobody_is_told_that_all_is_covered():
    assert len(NOT_COVERED) >= 5
    assert all(text.endswith(".") for text in NOT_COVERED)


OWN_MECHANISM = """
from narcissus.mechanisms import TableMechanism
from narcissus.mechanisms.table.rows import PreparedRows

class Own(TableMechanism):
    label, title = "own", "of one's own"
    def __init__(self, *, fails: str):
        self.fails = fails
    def prepare(self, columns):
        if self.fails == "prepare":
            raise KeyError("lost")
        def make(codes, rng):
            raise KeyError("lost")
        return PreparedRows.of(columns, make, None)
"""


@pytest.mark.parametrize("fails", ["prepare", "release"])
def test_a_mechanism_that_fails_is_named(study, narcissus, fails):
    Path("own.py").write_text(OWN_MECHANISM)
    mechanism = {"name": "own:Own", "fails": fails, "k": None, "epsilon": None}
    path = study(mechanism=mechanism, attacks={"prior": {}})
    code, out, err = narcissus("audit", path, "--allow-code", "--quiet")
    assert (code, out) == (2, "")
    assert re.search(r"the mechanism \w+ raised KeyError: 'lost' \(own\.py, line \d+\)", err)
    assert "Traceback" not in err
