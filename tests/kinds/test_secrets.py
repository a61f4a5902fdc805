"""Studies of secrets: the file, the settings, the numbers against their sources, the words."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

import narcissus
from narcissus.bounds import optimum
from narcissus.errors import InputError, LongWorkError, StudyError
from narcissus.evidence import clopper_pearson
from narcissus.evidence.refutation import refuted_by_runs
from narcissus.game.loop import BlockScores
from narcissus.guarantees import GaussianDP
from narcissus.kinds.secrets.blocks import find_setting
from narcissus.kinds.secrets.kind import (
    KIND,
    AttackedSetting,
    SecretsResult,
    SecretsStudy,
    SecretThreshold,
    Training,
    settings_of,
)
from narcissus.kinds.secrets.layout import LAYOUT, describe_refuted
from narcissus.observer import SILENT
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.report.format import percent
from narcissus.study.kinds import RunOptions
from narcissus.study.reading import read_record
from narcissus.success.statements import Scores

EXAMPLE = Path(__file__).parents[2] / "examples" / "secrets.toml"
STUDY = {
    "kind": "secrets",
    "prior": {"name": "zipf", "n": 4},
    "mechanism": {"name": "ngram-dp-sgd", "epsilon": [1.0, 8.0], "steps": 4},
    "attacks": {"argmax": {}, "posterior": {"shadow_models": 400}},
    "run": {"models": 600, "seed": 1},
}


def study(**sections):
    """A small study; arguments replace its sections or keys."""
    found = copy.deepcopy(STUDY)
    for name, value in sections.items():
        if isinstance(value, dict) and isinstance(found.get(name), dict):
            # another part has options of its own
            found[name] = value if "name" in value else found[name] | value
        else:
            found[name] = value
    return {name: value for name, value in found.items() if value is not None}


def play(options=None, **sections):
    return narcissus.run(narcissus.load_study(study(**sections)), **(options or {}))


def case_of(audit):
    return KIND.judged(audit.record)


def blocks(hits, models=600, *, failed=0):
    won = np.arange(models) < hits
    scores = Scores(won, np.full(models, 0.25), 0, np.zeros(models), np.ones(models, dtype=bool))
    return [BlockScores(scores, failed, [])]


@pytest.fixture(scope="module")
def judged():
    """Give what follows where each attack named so many, at epsilon 1 and at 8."""
    made = narcissus.load_study(study()).settings

    def judge(first, second, threshold=None):
        asked = made.model_copy(update={"threshold": threshold})
        work = KIND.prepare(asked, Path(), RunOptions(0, SILENT))
        scored = [
            {name: blocks(hits) for name, hits in zip(("argmax", "posterior"), one, strict=True)}
            for one in (first, second)
        ]
        return KIND.conclude(KIND.measured(work, scored))

    return judge


@pytest.fixture(scope="module")
def audit():
    return play(
        prior=[{"name": "uniform", "n": 4}, {"name": "zipf", "n": 4}],
        mechanism={"epsilon": [1.0, 8.0, math.inf], "steps": 3},
        attacks={"argmax": {}, "ranking": {}},
        threshold={"advantage": 0.2},
        run={"models": 300, "seed": 3},
    )


def test_one_prior_is_a_list_of_one():
    assert [part.name for part in narcissus.load_study(study()).settings.prior] == ["zipf"]
    two = narcissus.load_study(study(prior=[{"name": "pii"}, {"name": "uniform"}])).settings
    words = ["PII-like over 10, assumed", "uniform over 10"]
    assert [prior.words for prior in two.priors()] == words
    attacks = narcissus.load_study(study(attacks=None)).settings.attacks
    assert attacks.keys() == {"argmax", "posterior", "ranking"}


def test_the_schema_tells_of_both_forms():
    prior = SecretsStudy.model_json_schema()["properties"]["prior"]
    [several] = [form for form in prior["anyOf"] if form.get("type") == "array"]
    one = [form["title"] for form in prior["anyOf"] if form.get("type") == "object"]
    assert one == [form["title"] for form in several["items"]["anyOf"]]
    assert one == ["language-model", "listed", "names", "pii", "uniform", "zipf"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prior": {"name": "zipff"}}, "did you mean `zipf`"),
        ({"prior": {"name": "zipf", "k": 3}}, "options s, n"),
        ({"prior": []}, "prior"),
        ({"prior": {"name": "listed", "chances": [0.5, 0.4]}}, "sum to 1"),
        ({"prior": {"name": "names", "file": "none.txt"}}, "no such file"),
        ({"prior": {"name": "language-model", "model": "gpt", "candidates": "x"}}, "no such file"),
        ({"mechanism": {"steps": 0}}, "steps"),
        ({"mechanism": {"epsilon": [1.0, 1.0]}}, "different levels"),
        ({"mechanism": {"start": "warm"}}, "start"),
        ({"attacks": {}}, "at least one attack"),
        ({"attacks": {"argmin": {}}}, "did you mean `argmax`"),
        ({"threshold": {"reason": "x"}}, "`success`, `advantage` or both"),
        ({"threshold": {"success": 0.5}, "policy": "p.toml"}, "not both"),
        ({"threshold": {"success": 0.5, "at": 3.0}}, r"no epsilon of \[mechanism\]: 1, 8"),
        ({"run": {"models": 5}}, "run.models"),
    ],
)
def test_what_is_refused(changes, said):
    whole = {key: changes[key] for key in ("attacks", "prior") if key in changes}
    with pytest.raises((StudyError, InputError), match=said):
        narcissus.load_study(study(**changes) | whole)


def test_both_limits_must_be_kept():
    assert SecretThreshold(advantage=0.1).most(0.5) == pytest.approx(0.55)
    assert SecretThreshold(success=0.3).most(0.1) == 0.3
    assert SecretThreshold(success=0.3, advantage=0.5).most(0.1) == 0.3
    assert SecretThreshold(success=0.9, advantage=0.5).most(0.1) == pytest.approx(0.55)


def test_every_prior_meets_every_epsilon():
    priors = [{"name": "zipf", "n": 4}, {"name": "pii"}]
    made = narcissus.load_study(study(prior=priors)).settings
    found = settings_of(made)
    assert [one.label for one in found] == [
        "Zipf over 4, s = 1.1, epsilon 1", "Zipf over 4, s = 1.1, epsilon 8",
        "PII-like over 10, assumed, epsilon 1", "PII-like over 10, assumed, epsilon 8",
    ]  # fmt: skip
    assert [one.asked.epsilon for one in found] == [1.0, 8.0, 1.0, 8.0]
    assert [one.trained.values for one in found] == [4, 4, 10, 10]
    scenario = found[2].scenario(made)
    assert (scenario.name, list(scenario.attacks)) == (found[2].label, ["argmax", "posterior"])
    assert scenario.attacks["posterior"].likelihood is not None  # prepared
    assert scenario.game.world.chances.tolist() == list(found[2].prior.chances)


def test_no_prior_twice():
    priors = [{"name": "zipf", "n": 4}, {"name": "zipf", "n": 4, "s": 1.1}]
    with pytest.raises(InputError, match="twice"):
        settings_of(narcissus.load_study(study(prior=priors)).settings)


def test_limits_hold_for_all_attacks_and_settings_at_once(judged):
    case = judged((250, 260), (350, 310))
    assert len(case.findings.select(role="attack")) == 4
    assert case.result.models == 600
    argmax, limits = case.each[1].attacks[0], clopper_pearson(350, 600, confidence=1 - 0.05 / 4)
    assert argmax.quantity.confidence == pytest.approx(1 - 0.05 / 4)
    assert (argmax.quantity.low, argmax.quantity.high) == (limits.low, limits.high)
    assert argmax.baseline == pytest.approx(0.25)
    prior = np.arange(1, 5.0) ** -1.1
    refuted = refuted_by_runs(prior / prior.sum(), 600, 350, delta=1e-5, confidence=1 - 0.05 / 8)
    assert refuted[0] > 0
    row = next(row for row in case.each[1].rows if row.role == "refuted")
    assert (row.value, row.about.refuted_mu) == refuted


def test_the_bound_is_that_of_the_mu_that_holds(judged):
    case = judged((250, 260), (300, 310))
    one, training = case.each[0], case.result.settings[0].training
    prior = np.arange(1, 5.0) ** -1.1
    assert training.mu == pytest.approx(training.accounted_mu / np.sqrt(2))
    assert training.kept_epsilon < training.epsilon
    assert float(GaussianDP(training.mu).profile(training.kept_epsilon)) == pytest.approx(1e-5)
    assert one.bound.value == optimum(prior / prior.sum(), GaussianDP(training.mu))[0]
    assert one.bound.quantity.id == "one-target-optimum"
    assert one.guess == pytest.approx(1 / prior.sum())


def test_verdicts_follow_from_the_worse_end(judged):
    free = judged((250, 260), (300, 310))
    first, second = (one.bound.value for one in free.each)
    assert {one.status for one in free.each} == {"no threshold"}
    met = judged((250, 260), (300, 310), SecretThreshold(success=min(1.0, second + 1e-6)))
    assert [(one.status, one.grade) for one in met.each] == [("met", "proved")] * 2
    some = judged((250, 260), (300, 400), SecretThreshold(success=(first + second) / 2))
    assert some.each[0].status == "met"
    assert some.each[1].status in ("too few trials", "exceeded")
    low = judged((250, 260), (250, 260), SecretThreshold(success=0.5))
    assert low.each[1].status == "inconclusive"
    near = judged((250, 260), (250, 305), SecretThreshold(success=0.5))
    assert near.each[1].status == "too few trials"
    at = judged((250, 260), (250, 260), SecretThreshold(success=0.5, at=1.0))
    assert at.deciding == at.each[:1]
    assert at.worst is at.each[0]


def test_an_attack_beyond_the_bound_is_a_contradiction(judged):
    case = judged((590, 260), (300, 310))
    one = case.each[0]
    assert one.status == "contradicted"
    assert "attack `argmax`" in one.contradictions[0]
    assert one.contradictions[0] in LAYOUT.verdict(case)
    beyond = judged((590, 260), (300, 310), SecretThreshold(success=0.9))
    assert beyond.each[0].status == "exceeded"


@pytest.mark.repeats(70, 25, "step")
def test_what_is_refuted_beyond_the_training_contradicts_it(judged, step):
    """A refuted epsilon is from the same right guesses as the limit that crosses the bound."""
    beyond, counts = 0, range(250, 600, step)
    for hits in counts:
        case = judged((hits, 260), (300, 310))
        one, training = case.each[0], case.result.settings[0].training
        refuted = max(row.value for row in one.rows if row.role == "refuted")
        assert bool(one.contradictions) >= (refuted > training.kept_epsilon)
        beyond += refuted > training.kept_epsilon
    assert 0 < beyond < len(counts)


def test_failures_are_counted():
    made = narcissus.load_study(study(mechanism={"epsilon": 1.0})).settings
    work = KIND.prepare(made, Path(), RunOptions(0, SILENT))
    case = KIND.conclude(
        KIND.measured(work, [{"argmax": blocks(10, failed=3), "posterior": blocks(20)}])
    )
    assert [row.about.failed for row in case.each[0].attacks] == [3, 0]
    [remark] = LAYOUT.not_assessed(case)
    assert "failed on 3 of 600 models" in remark.reason


def test_noise_comes_with_a_guarantee():
    whole = case_of(play(run={"models": 20})).result.settings[0].training.model_dump()
    for change in ({"mu": None}, {"noise": 0.0}, {"epsilon": None}):
        with pytest.raises(ValidationError, match="a guarantee and noise go together"):
            Training(**{**whole, **change})


def test_settings_that_cannot_be_are_refused(judged):
    result = judged((250, 260), (300, 310)).result
    first, second = result.settings
    with pytest.raises(ValidationError, match="a bound and noise go together"):
        AttackedSetting.taken(first, bound=None)
    fewer = first.model_copy(update={"attacks": first.attacks[:1]})
    with pytest.raises(ValidationError, match="different attacks"):
        SecretsResult.taken(result, settings=(fewer, second))
    failed = tuple(one.model_copy(update={"failed": 601}) for one in first.attacks)
    failing = first.model_copy(update={"attacks": failed})
    with pytest.raises(ValidationError, match="fails on more models"):
        SecretsResult.taken(result, settings=(failing, second))


def test_the_example_says_what_its_source_found():
    """With fewer models: uneven secrets are named more often, and gain less."""
    made = narcissus.load_study(EXAMPLE).settings
    assert [prior.guess for prior in made.priors()] == pytest.approx([0.1, 0.3731, 0.525], 1e-3)
    case = case_of(play(
        prior=[{"name": "uniform"}, {"name": "pii"}], run={"models": 1500}, attacks=None,
        mechanism={"epsilon": 10.0, "steps": 20},
    ))  # fmt: skip
    uniform, pii = case.each
    for one in case.each:
        own = find_setting(one)
        argmax, posterior, ranking = one.attacks
        assert one.guess < posterior.quantity.high
        assert argmax.quantity.low < one.bound.value
        assert ranking.value <= posterior.value + 0.03
        refuted = max(row.value for row in one.rows if row.role == "refuted")
        assert 0 < refuted < own.training.kept_epsilon < 10
        # the same guesses against fresh secrets are no better than the best guess without
        assert posterior.baseline <= one.guess + 1e-9
    assert uniform.best.value < pii.best.value
    assert uniform.best.value - uniform.guess > pii.best.value - pii.guess


def test_numbers_do_not_depend_on_who_plays_or_on_a_stop(tmp_path):
    plain = play()
    kept = play({"folder": tmp_path / "kept"})
    again = play({"folder": tmp_path / "kept"})  # out of the store
    more = play({"folder": tmp_path / "kept"}, run={"models": 700})
    assert plain.results == kept.results == again.results
    assert more.record.result.models == 700
    assert play({"engine": "serial"}).results == plain.results
    assert play(run={"seed": 2}).results != plain.results


def test_the_record_is_read_as_it_was_written(tmp_path):
    audit = play(mechanism={"epsilon": [1.0, math.inf]}, threshold={"advantage": 0.9})
    audit.save(tmp_path)
    assert read_record(tmp_path / "record.json") == audit.record
    assert audit.record.result.settings[1].training.epsilon is None


def test_the_kept_record_is_played_again_digit_by_digit():
    record = read_record(Path(__file__).parents[1] / "study/kept/secrets.json")
    sections = {k: v for k, v in record.study.items() if v is not None}
    sections["mechanism"] = {k: v for k, v in sections["mechanism"].items() if v is not None}
    sections["run"] = {k: v for k, v in sections["run"].items() if v is not None}
    sections["threshold"] = {"success": sections["threshold"]["success"]}
    again = narcissus.run(narcissus.load_study({"kind": "secrets", **sections})).record
    assert again.criteria == record.criteria
    for old, new in zip(record.rows, again.rows, strict=True):
        assert new.value == pytest.approx(old.value, rel=1e-9)
    assert (again.status, again.grade) == (record.status, record.grade)


def test_a_policy_takes_the_place_of_a_threshold(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[threshold]\nsuccess = 0.2\nreason = 'x'\n", encoding="utf-8")
    found = play({"policy": policy})
    assert found.status == "exceeded"  # the guess itself is above it
    assert "policy" in found.record.provenance.digests
    assert {one.at_most for one in found.record.criteria} == {0.2}
    with pytest.raises(InputError, match="keep one"):
        play({"policy": policy}, threshold={"success": 0.5})


def test_long_work_is_asked_about():
    with pytest.raises(LongWorkError, match="10,000,000 models for each of 2 settings"):
        play({"hours": 1e-3}, run={"models": 10**7})


def test_there_are_no_records_to_name(tmp_path):
    with pytest.raises(InputError, match="no records"):
        play({"internal": tmp_path / "records.csv"})


class Stubborn:
    """Names the second value, whatever it is given."""

    def attempt(self, release, known, rng):
        return release.argmax(axis=1) * 0 + 1


def test_a_fine_tuned_network():
    """Noise is made for two norms, and no less is kept: the bound is that of epsilon itself."""
    mechanism = {"name": "fine-tune", "epsilon": 9.0, "steps": 6, "learning_rate": 0.2}
    case = case_of(play(mechanism=mechanism, prior={"name": "uniform", "n": 3}))
    [one] = case.each
    own = find_setting(one)
    assert own.training.mu == pytest.approx(own.training.accounted_mu)
    assert own.training.kept_epsilon == pytest.approx(9.0, rel=1e-6)
    assert own.training.start == "network"
    posterior = one.attacks[1]
    assert one.guess < posterior.quantity.low < one.bound.value
    assert 0 < next(r.value for r in one.rows if r.role == "refuted") < 9.0


def test_an_attack_of_your_own():
    one = case_of(play(attacks={"mine": Stubborn()})).each[0]
    mine = next(row for row in one.attacks if row.name == "mine")
    second = 2**-1.1 / sum(k**-1.1 for k in range(1, 5))
    assert mine.baseline == pytest.approx(second)
    assert mine.quantity.low < second < mine.quantity.high


def test_the_worst_setting_speaks():
    found = play(
        prior={"name": "uniform", "n": 4}, mechanism={"epsilon": [0.1, 8.0, math.inf], "steps": 3},
        attacks={"argmax": {}}, threshold={"success": 0.4}, run={"models": 400, "seed": 3},
    )  # fmt: skip
    case = case_of(found)
    assert (found.status, found.record.grade) == ("exceeded", "sampled")
    assert "40 of 100 secrets, is exceeded at uniform over 4, epsilon 8 and uni" in found.verdict
    assert "With the model, the attack argmax names " in found.verdict
    assert (case.each[0].status, case.each[0].grade) == ("met", "proved")
    labels = [label for label, *_ in LAYOUT.numbers(case)]
    assert labels[:2] == ["Guessed without the model", "Named with it, by argmax"]
    [remark] = LAYOUT.not_assessed(case)
    assert "epsilon inf" in remark.quantity
    assert "needs noise for a guarantee" in remark.reason
    assert any("theory 4.6" in text for text in LAYOUT.assessed(case))
    assert describe_refuted(case.result.settings).startswith("argmax refutes every epsilon below")
    assert describe_refuted(case.result.settings[:1]) == "No epsilon is refuted."


def figures(audit):
    return {b.name: b for b in page_of(audit.record).blocks if isinstance(b, Figure)}


def test_there_is_a_picture_for_each_prior(audit):
    found = figures(audit)
    assert set(found) == {"secrets_uniform_over_4", "secrets_zipf_over_4_s_1_1"}
    rows, each = found["secrets_uniform_over_4"].table.rows, case_of(audit).each[:3]
    assert [row[1] for row in rows] == [0.25] * 3
    assert [row[3] for row in rows] == [one.best.value for one in each]
    assert [row[-1] for row in rows] == [one.status for one in each]
    shown = float(rows[1][5].rstrip("%")) / 100  # rounded outwards
    assert each[1].bound.value <= shown < each[1].bound.value + 0.0011


def test_success_guess_and_bound_are_drawn(audit):
    axes = audit.plot("secrets_uniform_over_4")
    drawn = {round(float(y), 9) for line in axes.lines for y in line.get_ydata()}
    for one in case_of(audit).each[:3]:
        wanted = [one.guess, *(row.value for row in one.attacks)]
        wanted += [] if one.bound is None else [one.bound.value]
        assert {round(value, 9) for value in wanted} <= drawn


def test_the_text_has_the_numbers_with_their_grades(audit):
    text, worst = " ".join(render_text(audit.record).split()), case_of(audit).worst
    assert percent(worst.best.value) in text
    assert "Guessed without a model 0: 25.0% right" in text
    assert "argmax refutes every epsilon below" in text or "ranking refutes" in text
    assert "Any attacker might name all 100: only noise in training sets a limit." in text
    assert "<script" not in render_html(audit.record)
    # without noise all is named, of both priors: which setting is worst is not sure
    assert "no setting, of those tried, at clearly higher risk" in " ".join(
        page_of(audit.record).first.hardest.split()
    )


def test_rows_are_the_numbers_of_the_frame(audit):
    frame, one = audit.to_frame(), case_of(audit).each[1]
    at = frame[(frame["epsilon"] == 8.0) & (frame["prior"] == "uniform over 4")]
    first = at.drop_duplicates("quantity").set_index("quantity")
    assert first.loc["guess", "value"] == 0.25
    assert first.loc["success", "value"] == one.attacks[0].value
    assert first.loc["success", "low"] == one.attacks[0].quantity.low
    assert first.loc["bound", "high"] == one.bound.value
    assert first["grade"].to_dict() == {
        "guess": "proved", "success": "sampled", "refuted epsilon": "sampled", "bound": "proved",
    }  # fmt: skip
    assert "bound" not in set(frame[frame["epsilon"] == math.inf]["quantity"])
    assert "secrets: exceeded, sampled" in repr(audit)
    assert "of 100 secrets without 25" in repr(play(prior={"name": "uniform", "n": 4}))


def test_a_record_is_verified(tmp_path, narcissus):
    """Its result has settings as that of a table has, which end no run."""
    path = tmp_path / "s.toml"
    path.write_text(
        'kind = "secrets"\n[[prior]]\nname = "uniform"\nn = 10\n[mechanism]\n'
        'name = "ngram-dp-sgd"\nepsilon = [0.5]\ndelta = 1e-5\nsteps = 20\nstart = "prior"\n'
        "[run]\nmodels = 20\nseed = 1\n"
    )
    assert narcissus("audit", path, "--out", tmp_path / "out", "--quiet")[0] in (0, 3)
    code, out, err = narcissus("verify", tmp_path / "out", path, "--quiet")
    assert code == 0, (out, err)
