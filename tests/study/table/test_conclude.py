"""From trials to verdicts: every setting by its own trials, what is refuted at one at all."""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from narcissus.study.results.table import WORST, Excess, NoiseResult, SettingNumbers, SettingResult
from narcissus.study.results.table_attacks import GuessResult
from narcissus.study.table.bound_summary import mean_of_people
from narcissus.study.table.conclude import conclude, in_sequence, overall
from narcissus.study.table.held_out import held_out_guesses
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.summary import summarise
from narcissus.study.table.verdict import Judgement, excesses
from narcissus.study.table.words import verdict_words

STUDY = {
    "threat": {"unknown": ["ill"], "targets": 10},
    "mechanism": {"epsilon": [0.5, 4.0]},
    "run": {"trials": 30},
}
ROWS = {"threat": {**STUDY["threat"], "people": "rows"}}


@dataclass
class Declared:
    """A mechanism whose guarantee is somebody's word."""

    inner: Any
    assumes: tuple[str, ...]

    def __getattr__(self, name):
        return getattr(self.inner, name)


def with_word(setting):
    return replace(setting, mechanism=Declared(setting.mechanism, (f"{setting.label} is kept",)))


@pytest.fixture
def concluded(ready, made_up):
    """Give a function: conclude from made-up people at two settings; each may be changed."""

    def make(threshold=None, at=None, changes=(), declared=(), **study):
        experiment = ready(**{**STUDY, **study})
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
        return made, conclude(made[0].experiment, trials, threshold, at)

    return make


def test_every_setting_is_summarised_and_held_from_its_own_trials(concluded):
    threshold = ThresholdSpec(share=0.7, reason="r", origin="o")
    made, found = concluded(threshold)
    guessed = held_out_guesses(made[0].experiment)
    for number, (one, result) in enumerate(zip(made, found, strict=True)):
        numbers = summarise(made[0].experiment, number, one.trials, held_out=guessed)
        assert {k: getattr(result, k) for k in type(numbers).model_fields} == dict(numbers)
        expected = excesses(made[0].experiment, number, one.trials, threshold)
        assert result.excesses == tuple(expected)
        assert result.threshold.model_dump() == {
            "share": 0.7, "advantage": None, "targets": None, "worst_group": None,
            "decided_at": None, "reason": "r", "origin": "o",
        }  # fmt: skip
        assert result.status == "met"
        assert result.decides
        assert result.contradictions == ()
        assert result.findings
        assert "is met" in result.verdict
        assert result.evidence_for


def test_without_a_threshold_nothing_is_held_against_one(concluded):
    _, found = concluded()
    for result in found:
        assert (result.threshold, result.excesses, result.status) == (None, (), "no threshold")


def test_one_setting_decides_where_one_is_named(concluded):
    label = "ε = 4"
    _, found = concluded(ThresholdSpec(share=0.7), label)
    assert [(one.label == label, one.decides) for one in found] == [(False, False), (True, True)]
    assert {one.threshold.decided_at for one in found} == {label}


def test_a_claim_is_held_back_after_a_setting_with_more_noise_lost_it(concluded):
    """And nothing is then said in favour; the advantage is above what more noise allows."""

    def beyond(made):
        made.proved[:], made.share["ceiling"][:] = 1.0, 0.9

    _, found = concluded(ThresholdSpec(share=0.7), changes=[(0, beyond)])
    low, high = found
    assert low.status == "inconclusive"
    assert (high.status, high.held_back_by) == ("inconclusive", low.label)
    assert high.evidence_for == ()
    _, named = concluded(ThresholdSpec(share=0.7), "ε = 4", changes=[(0, beyond)])
    assert (named[1].status, named[1].held_back_by) == ("met", None)
    assert named[1].evidence_for


@pytest.mark.parametrize("where", [0, 1])
def test_what_is_refuted_at_one_setting_is_refuted_at_all(concluded, where):
    """The prior is assumed of the same people at every setting."""

    def wrong(made):
        made.guessed[:] = 1.0

    _, found = concluded(ThresholdSpec(share=0.7), changes=[(where, wrong)], **ROWS)
    for result in found:
        assert result.status == "contradicted"
        assert len(result.contradictions) == 1
        assert "the fitted prior is right about these real people" in result.contradictions[0]
        assert result.assumptions == ()
        assert result.evidence_for == ()
        assert any("Refuted" in one for one in result.evidence_against)
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
    assert "an error in this software" in found[1].contradictions[0]
    assert found[0].contradictions == ()


def test_the_joint_level_pays_for_attacks_and_settings(concluded):
    _, found = concluded()
    levels = {
        f.confidence
        for one in found
        for f in one.findings
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
            e.trials for e in result.excesses if e.name == "posterior"
        )
        assert result.grade == "sampled"


@pytest.mark.parametrize("word", [0, 1])
def test_a_setting_rests_on_its_own_declaration_alone(concluded, word):
    _, found = concluded(ThresholdSpec(share=0.7), declared=(word,))
    given, free = found[word], found[1 - word]
    said = (f"{given.label} is kept",)
    assert (given.status, free.status) == ("met", "met")
    assert (given.is_declared, given.assumptions) == (True, said)
    assert (free.is_declared, free.assumptions) == (False, ())
    assert {(b.grade, b.takes_as_given) for b in given.bounds} == {("proved if", said)}
    assert {(b.grade, b.takes_as_given) for b in free.bounds} == {("proved", ())}
    assert "what was declared holds" in given.odds
    assert "declared" not in free.odds


@pytest.mark.parametrize("more", [{}, ROWS], ids=["prior", "rows"])
def test_a_declaration_is_tested_by_what_the_release_adds(concluded, more):
    """Of people drawn from the prior; of real ones a gain is over a decoy, which may be wrong."""
    made, found = concluded(declared=(1,), **more)
    limits = [
        [one.high for one in result.findings if "gain" in one.quantity and one.high is not None]
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
    assert all("is kept" in one for one in broken.contradictions)
    assert other.status == ("met" if declared == (0,) else "contradicted")
    assert other.contradictions == (() if declared == (0,) else broken.contradictions)


def setting(label, scale, status):
    """Give what `overall` looks at of a setting; nothing checks the rest."""
    return SettingResult.model_construct(
        label=label,
        noise=NoiseResult(kind="gaussian", scale=scale),
        status=status,
        grade="sampled",
        assumptions=(),
        decides=True,
        strength=None,
        contradictions=("x",) if status == "contradicted" else (),
        verdict=f"{label} is {status}.",
        odds="odds.",
    )


def taken_in_order(settings, decided_at):
    """Judge settings that each have their status by themselves; give the statuses in the sweep."""
    judgements = [Judgement(one.status, "sampled", (), (), (), None) for one in settings]
    return in_sequence(settings, judgements, decided_at)


@pytest.mark.parametrize("others", WORST)
def test_every_level_must_meet_it_unless_one_is_named(others):
    settings = [setting("ε = 1", 9.0, "met"), setting("ε = 3", 3.0, others)]
    threshold = ThresholdSpec(share=0.5)
    whole = overall(settings, threshold, None)
    assert whole.status == (others if others != "no threshold" else "met")
    # what stands for the whole is what it is judged by
    assert f"is {whole.status}." in whole.verdict
    one = overall(settings, threshold, "ε = 1")
    # what is refuted at one level is assumed at all of them
    assert one.status == ("contradicted" if others == "contradicted" else "met")
    assert "ε = 1 decides" in one.verdict
    if others == "contradicted":
        assert "nothing is claimed there: what is refuted at ε = 3" in one.verdict
        assert "is met at" not in one.verdict
    assert overall(settings, threshold, "ε = 3").status == others


def test_met_is_claimed_in_order_most_noise_first():
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


def test_a_claim_that_is_held_back_is_not_worded_as_one():
    numbers = SettingNumbers.model_construct(
        guess=GuessResult(share=0.5, low=0.4, high=0.6, by_the_prior=None),
        attacks={},
        best=None,
        bounds=(),
        groups=(),
        ceiling=None,
        prior_is_exact=True,
        people=10,
    )
    excess = Excess(
        role="ceiling", name="ceiling", group="", value=-0.2, low=-0.3, high=-0.1,
        kind="sampled", trials=None,
    )  # fmt: skip
    judged = Judgement("met", "sampled", (excess,), (), (), None)
    threshold = ThresholdSpec(share=0.9)
    assert "is met by measurement" in verdict_words(numbers, threshold, judged)
    held = replace(judged, status="inconclusive", held_back_by="ε = 1")
    words = verdict_words(numbers, threshold, held)
    assert ") is met" not in words
    assert "would be met by itself" in words
    assert "Not claimed in the sweep: at ε = 1, with more protection" in words


def test_a_setting_that_was_named_beforehand_stands_by_itself():
    settings = [setting("ε = 3", 3.0, "met"), setting("ε = 1", 9.0, "inconclusive")]
    assert taken_in_order(settings, "ε = 3")[0].status == "met"


def test_false_claims_of_a_sweep_have_the_level_of_one():
    """Ten settings that are all truly beyond, each 'met' with chance .05: any claim at most .05."""
    rng = np.random.default_rng(1)
    repeats, false = 4000, 0
    for _ in range(repeats):
        met = rng.random(10) < 0.05
        settings = [
            setting(str(i), 10.0 - i, "met" if m else "inconclusive") for i, m in enumerate(met)
        ]
        false += any(one.status == "met" for one in taken_in_order(settings, None))
    # 1e-6 point of Binomial(4000, .05): without the order, a rate of .40 would be seen
    assert false <= 273


def test_the_exit_code_follows_the_named_level(study, narcissus):
    sweep = {"mechanism": {"epsilon": [0.5, "=inf"]}, "run": {"trials": 40}}
    path = study(**sweep, threshold={"share": 0.85, "at": 0.5})
    code, out, _ = narcissus("audit", path, "--json", "--quiet")
    assert (code, json.loads(out)["status"]) == (0, "met")
    assert [r["decides"] for r in json.loads(out)["results"]] == [True, False]
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
        _, out, _ = narcissus(
            "audit", study(bounds={"confidence": given}), "--json", "--quiet", "--restart"
        )
        result = json.loads(out)["results"]
        levels = {b["name"]: set() for b in result["bounds"] if "confidence" in b}
        for bound in result["bounds"]:
            if "confidence" in bound:
                levels[bound["name"]].add(bound["confidence"])
        assert levels == {"interpolation": {0.5, 0.99}, "published": {0.5, 0.99}}
        assert "with confidence 99%" in result["verdict"]
        assert result["confidence"] == 0.95  # sampled limits have a level of their own
        bounds.append(result["bounds"])
    assert bounds[0] == bounds[1]
