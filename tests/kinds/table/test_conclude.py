"""From trials to verdicts: every setting by its own trials, what is refuted at one at all."""

import json
from dataclasses import replace

import numpy as np
import pytest

from narcissus.findings import Finding, contradictions
from narcissus.judgement import WORST, StudyJudgement, in_sequence, judge
from narcissus.kinds.table.bound_summary import mean_of_people
from narcissus.kinds.table.excesses import excesses
from narcissus.kinds.table.found import Accepted, NoiseDetail, TableResult
from narcissus.kinds.table.held_out import held_out_attempts, scored
from narcissus.kinds.table.judgement import setting_cases
from narcissus.kinds.table.kind import KIND, measured
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.kinds.table.summary import summarise
from narcissus.kinds.table.words import glance
from narcissus.report.first_screen import paragraph
from narcissus.rows import Findings
from narcissus.study.reading import read_record

from .conftest import Declared, Verdict

CLASH = contradictions([
    Finding("share", "a theorem", high=0.5, assumptions=("it is so",)),
    Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95),
])  # fmt: skip


def said(case):
    return paragraph(case, glance(case))


def conclude(experiment, trials, threshold, at, held_out=()):
    criteria, found = measured(experiment, trials, threshold, at, held_out)
    result = TableResult(settings=tuple(found), decided_at=at)
    findings = Findings(criteria, tuple(result.rows()), result)
    return judge(findings, [*setting_cases(findings)], is_sweep=True).each


STUDY = {
    "threat": {"unknown": ["ill"], "targets": 10},
    "mechanism": {"epsilon": [0.5, 4.0]},
    "run": {"trials": 30},
}
ROWS = {"threat": {**STUDY["threat"], "people": "rows"}}


def with_word(setting):
    return replace(setting, mechanism=Declared(setting.mechanism, (f"{setting.label} is kept",)))


@pytest.fixture
def concluded(prepared, made_up):
    """Give a function: conclude from made-up people at two settings; each may be changed."""

    def make(threshold=None, at=None, changes=(), declared=(), held_out=(), **study):
        experiment = prepared(**{**STUDY, **study})
        settings = enumerate(experiment.settings)
        settings = tuple(with_word(one) if n in declared else one for n, one in settings)
        experiment = replace(experiment, settings=settings)
        made = [made_up(experiment, 30, seed=seed) for seed in (1, 2)]
        for number, one in enumerate(made):
            one.proved[:] = np.maximum(one.guess, 0.55 + 0.1 * number)
            # the prior says the same of guesses and decoys as they score, so it is not refuted
            one.guessed[:] = one.guess
            for name in one.decoy:
                one.decoy[name][:, 1] = one.decoy[name][:, 0]
        for number, change in changes:
            change(made[number])
        trials = {
            f"{t}/{number}": kept
            for number, one in enumerate(made)
            for t, kept in enumerate(one.trials)
        }
        return made, conclude(made[0].experiment, trials, threshold, at, held_out)

    return make


def test_every_setting_is_summarised_and_held_from_its_own_trials(concluded, prepared):
    threshold = ThresholdSpec(share=0.7, reason="r", origin="o")
    experiment = prepared(**STUDY)
    guessed = scored(experiment, held_out_attempts(experiment))
    assert guessed
    made, found = concluded(threshold, held_out=guessed)
    for number, (one, result) in enumerate(zip(made, found, strict=True)):
        told = {"held_out": guessed, "threshold": threshold}
        assert result.result == summarise(made[0].experiment, number, one.trials, **told)
        expected = excesses(made[0].experiment, number, one.trials, threshold)
        assert result.result.excesses == tuple(expected)
        assert result.threshold == Accepted(share=0.7)
        assert result.status == "met"
        assert result.decides
        assert result.contradictions == ()
        assert result.claims()


def test_without_a_threshold_nothing_is_held_against_one(concluded):
    _, found = concluded()
    for result in found:
        assert (result.threshold, result.result.excesses, result.status) == (
            None,
            (),
            "no threshold",
        )


def test_one_setting_decides_where_one_is_named(concluded):
    label = "ε = 4"
    _, found = concluded(ThresholdSpec(share=0.7), label)
    assert [(one.label == label, one.decides) for one in found] == [(False, False), (True, True)]
    assert {one.threshold.decided_at for one in found} == {label}


def test_a_claim_is_held_back_after_a_setting_with_more_noise_lost_it(concluded):
    """The advantage is above what more noise allows."""

    def beyond(made):
        made.proved[:], made.share["ceiling"][:] = 1.0, 0.9

    _, found = concluded(ThresholdSpec(share=0.7), changes=[(0, beyond)])
    low, high = found
    assert low.status == "inconclusive"
    assert (high.status, high.held_back_by) == ("inconclusive", low.label)
    _, named = concluded(ThresholdSpec(share=0.7), "ε = 4", changes=[(0, beyond)])
    assert (named[1].status, named[1].held_back_by) == ("met", None)


@pytest.mark.parametrize("where", [0, 1])
def test_what_is_refuted_at_one_setting_is_refuted_at_all(concluded, where):
    """The prior is assumed of the same people at every setting."""

    def wrong(made):
        made.guessed[:] = 1.0

    _, found = concluded(ThresholdSpec(share=0.7), changes=[(where, wrong)], **ROWS)
    for result in found:
        assert result.status == "contradicted"
        assert len(result.contradictions) == 1
        assert "the fitted prior is right about these real people" in str(result.contradictions[0])
        assert result.assumptions == ()
    _, fine = concluded(ThresholdSpec(share=0.7), **ROWS)
    for result in fine:
        assert result.status == "met"
        assert result.assumptions == ("the fitted prior is right about these real people",)


def test_an_error_at_one_setting_is_none_at_another(concluded):
    """Nothing is assumed, so nothing is refuted: an attack above a bound stays where it is."""

    def impossible(made):
        made.share["posterior"][:], made.share["prior"][:] = 0.95, 0.95
        made.share["ceiling"][:] = 0.95

    _, found = concluded(changes=[(1, impossible)])
    assert [one.status for one in found] == ["no threshold", "contradicted"]
    assert "an error in this software" in str(found[1].contradictions[0])
    assert found[0].contradictions == ()


def test_the_joint_level_pays_for_attacks_and_settings(concluded):
    _, found = concluded()
    levels = {
        f.confidence
        for one in found
        for f in one.claims()
        if f.source.startswith("the attack") and "of the group" not in f.quantity
    }
    assert list(levels) == pytest.approx([1 - 0.05 / 4])


def test_few_trials_say_how_many_would_do(concluded):
    def near(made):
        made.share["posterior"][:] = 0.72
        made.share["posterior"][::2] = 0.70
        made.share["ceiling"][:], made.proved[:] = 0.8, 1.0

    _, found = concluded(ThresholdSpec(share=0.7), changes=[(0, near), (1, near)])
    for result in found:
        assert result.status == "too few trials"
        assert result.trials_needed == max(
            e.trials for e in result.result.excesses if e.name == "posterior"
        )
        assert result.grade == "sampled"


@pytest.mark.parametrize("word", [0, 1])
def test_a_setting_rests_on_its_own_declaration_alone(concluded, word):
    _, found = concluded(ThresholdSpec(share=0.7), declared=(word,))
    given, free = found[word], found[1 - word]
    said = (f"{given.label} is kept",)
    assert (given.status, free.status) == ("met", "met")
    assert (given.result.is_declared, given.assumptions) == (True, said)
    assert (free.result.is_declared, free.assumptions) == (False, ())
    assert {(b.grade, b.takes_as_given) for b in given.result.bounds} == {("proved if", said)}
    assert {(b.grade, b.takes_as_given) for b in free.result.bounds} == {("proved", ())}
    assert (given.result.proved_if, free.result.proved_if) == ("what was declared holds", "")


@pytest.mark.parametrize("more", [{}, ROWS], ids=["prior", "rows"])
def test_a_declaration_is_tested_by_what_the_release_adds(concluded, more):
    """Of people drawn from the prior; of real ones a gain is over a decoy, which may be wrong."""
    made, found = concluded(declared=(1,), **more)
    limits = [
        [one.high for one in result.claims() if "gain" in one.quantity and one.high is not None]
        for result in found
    ]
    sums = np.array([t["gain_bound"] for t in made[1].trials])
    most = mean_of_people(made[0].experiment, sums[:, 0], sums[:, 1], confidence=0.95).high
    assert limits == [[], [] if more else [pytest.approx(most)]]


@pytest.mark.parametrize("declared", [(0,), (0, 1)])
def test_a_broken_word_counts_where_something_is_taken_as_given(concluded, declared):
    """What takes nothing as given is judged by itself; another declaration falls with it."""

    def impossible(made):
        made.share["posterior"][:], made.share["prior"][:] = 0.95, 0.95
        made.share["ceiling"][:] = 0.95

    _, (broken, other) = concluded(
        ThresholdSpec(share=0.7), "ε = 4", changes=[(0, impossible)], declared=declared
    )
    assert broken.contradictions
    assert all("is kept" in str(one) for one in broken.contradictions)
    assert other.status == ("met" if declared == (0,) else "contradicted")
    assert other.contradictions == (() if declared == (0,) else broken.contradictions)


@pytest.fixture
def setting(setting_of):
    """Give a function that makes up a setting with a status."""

    def make(label, scale, status, threshold=None, *, decides=True):
        clash = tuple(CLASH) if status == "contradicted" else ()
        verdict = Verdict(status, clash)
        noise = NoiseDetail(kind="gaussian", scale=scale)
        found = setting_of(label=label, noise=noise, threshold=threshold, verdict=verdict)
        return replace(found, is_named=decides)

    return make


def taken_in_order(settings, decided_at):
    """Judge settings that each have their status by themselves; give the statuses in the sweep."""
    return in_sequence([
        replace(one, is_named=decided_at in (None, one.label)) for one in settings
    ])  # fmt: skip


# what is undeclared is so of a study, and of no setting
@pytest.mark.parametrize("others", [one for one in WORST if one != "undeclared"])
def test_every_level_must_meet_it_unless_one_is_named(others, setting):
    def overall(decided_at=None):
        statuses = {"ε = 1": (9.0, "met"), "ε = 3": (3.0, others)}
        settings = (setting(label, *one, Accepted(share=0.5), decides=decided_at in (None, label))
                    for label, one in statuses.items())  # fmt: skip
        findings = Findings((), (), TableResult(settings=()))
        return StudyJudgement(findings, tuple(settings), is_sweep=True)

    whole = overall()
    assert whole.status == (others if others != "no threshold" else "met")
    # what stands for the whole is what it is judged by
    assert whole.worst.status == whole.status
    assert f"at {whole.worst.label}," in said(whole) or not whole.worst.result.attacks
    one = overall("ε = 1")
    # what is refuted at one level is assumed at all of them
    assert one.status == ("contradicted" if others == "contradicted" else "met")
    if others == "contradicted":
        assert said(one).startswith("Contradicted: An assumption of this report is refuted")
        assert "is kept" not in said(one)
    assert overall("ε = 3").status == others


def test_the_numbers_that_stand_for_a_sweep_are_those_its_status_is_from(setting):
    """What exceeds is never shown by the numbers of what does not."""

    def among(*found, decides=None):
        settings = [
            setting(str(n), scale, status, decides=decides in (None, n))
            for n, (status, scale) in enumerate(found)
        ]
        case = StudyJudgement(Findings((), (), None), tuple(settings), is_sweep=True)
        return case.worst.result.noise.scale

    met, more, over, worse, none = (
        ("met", 5.0), ("met", 9.0), ("exceeded", 2.0), ("exceeded", 1.0), ("exceeded", 0.0)
    )  # fmt: skip
    assert among(more, met) == 5  # of what is met the least noise
    assert among(more, over, worse, none, met) == 1  # the least that is noise at all
    assert among(more, none) == 0
    assert among(more, ("inconclusive", 4.0), ("too few trials", 3.0)) == 3
    assert among(more, over, met, decides=2) == 5
    assert among(("no threshold", 9.0), ("no threshold", 2.0), ("no threshold", 0.0)) == 2


def test_met_is_claimed_in_order_most_noise_first(setting):
    found = taken_in_order(
        [
            setting("ε = 3", 3.0, "met"),
            setting("ε = 1", 9.0, "too few trials"),
            setting("ε = 0.1", 90.0, "met"),
        ],
        None,
    )
    assert [one.status for one in found] == ["inconclusive", "too few trials", "met"]
    assert [one.held_back_by for one in found] == ["ε = 1", None, None]


def test_a_setting_that_was_named_beforehand_stands_by_itself(setting):
    settings = [setting("ε = 3", 3.0, "met"), setting("ε = 1", 9.0, "inconclusive")]
    assert taken_in_order(settings, "ε = 3")[0].status == "met"


def test_false_claims_of_a_sweep_have_the_level_of_one(setting):
    """Ten settings that are all truly beyond, each 'met' with chance .05: any claim at most .05."""
    rng = np.random.default_rng(1)
    repeats, false = 4000, 0
    own = {(n, met): setting(str(n), 10.0 - n, "met" if met else "inconclusive")
           for n in range(10) for met in (True, False)}  # fmt: skip
    for _ in range(repeats):
        met = rng.random(10) < 0.05
        settings = [own[n, bool(m)] for n, m in enumerate(met)]
        false += any(one.status == "met" for one in taken_in_order(settings, None))
    # 1e-6 point of Binomial(4000, .05): without the order, a rate of .40 would be seen
    assert false <= 273


def test_the_exit_code_follows_the_named_level(study, narcissus):
    sweep = {"mechanism": {"epsilon": [0.5, "=inf"]}, "run": {"trials": 40}}
    path = study(**sweep, threshold={"share": 0.85, "at": 0.5})
    code, out, _ = narcissus("audit", path, "--json", "--quiet")
    assert (code, json.loads(out)["status"]) == (0, "met")
    assert [one.get("decides", True) for one in json.loads(out)["criteria"]] == [True, False]
    assert [one.decides for one in KIND.judged(read_record("results/s")).each] == [True, False]
    code, out, _ = narcissus(
        "audit", study(**sweep, threshold={"share": 0.85}), "--json", "--quiet"
    )
    assert (code, json.loads(out)["status"]) == (1, "exceeded")
    code, _, err = narcissus("audit", study(**sweep, threshold={"share": 0.85, "at": 2}))
    assert code == 2
    assert "`threshold.at` is 2, which is no level of [mechanism]: 0.5, inf" in err


def test_the_highest_confidence_is_the_headline_whatever_the_order(study, narcissus):
    bounds = []
    for given in ([0.5, 0.99], [0.99, 0.5]):
        narcissus("audit", study(bounds={"confidence": given}), "--json", "--quiet", "--restart")
        [one] = KIND.judged(read_record("results/s")).each
        counts = [bound for bound in one.result.bounds if not bound.is_share]
        levels = {bound.name: set() for bound in counts}
        for bound in counts:
            levels[bound.name].add(bound.confidence)
        assert levels == {"interpolation": {0.5, 0.99}, "published": {0.5, 0.99}}
        assert one.result.count_bound.confidence == 0.99
        assert one.result.confidence == 0.95  # sampled limits have a level of their own
        bounds.append([row for row in one.result.rows() if row.role == "bound"])
    assert bounds[0] == bounds[1]
